/**
 * The search of a node among others for due rows in any shop: those of nodes that died, and those that others have
 * added.
 *
 * Owns: when it searches. Does not own: which rows are due (the engine's `dueRows`), what is done about them.
 */
import { isNotFound } from "../store/engine-rules.ts";
import type { Clock } from "../base/time/clock.ts";
import type { Engine, Log } from "../store/store.ts";

interface DueSearchOptions {
  readonly engine: Pick<Engine, "shopsWithDueRows">;
  readonly clock: Clock;
  readonly log: Log;
  /** On average. */
  readonly pollMs: number;
  /** From 0 to below 1. */
  readonly random: () => number;
  readonly stopping: AbortSignal;
  /** Name of the rows in the log. */
  readonly what: string;
  /** Called with the shops that have such rows. */
  readonly found: (shopIds: readonly string[]) => void | Promise<void>;
}

export class DueSearch {
  readonly #options: DueSearchOptions;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: DueSearchOptions) {
    this.#options = options;
    options.stopping.addEventListener("abort", () => {
      if (this.#timer !== null) clearTimeout(this.#timer);
    });
  }

  /** Searches once, and from then on again and again. Resolves after the first search. */
  async start(): Promise<void> {
    const { engine, clock, log, pollMs, random, stopping, what, found } = this.#options;
    try {
      await found(await engine.shopsWithDueRows(clock.now()));
    } catch (error) {
      if (!stopping.aborted && !isNotFound(error))
        log.warn({ err: error }, `the search for ${what} failed; it is tried again`);
    }
    if (stopping.aborted) return;
    // Nodes search at different times, so that the database does not get all of them at once.
    this.#timer = setTimeout(() => void this.start(), pollMs * (0.5 + random()));
    this.#timer.unref();
  }
}
