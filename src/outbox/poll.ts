/**
 * The search of a node among others for due work of all shops: what nodes that died have left, and what a command has added.
 *
 * Owns: when it searches. Does not own: which rows are due (the engine's `dueRows`), what is done about them (shop-loop.ts; `recover`).
 */
import { isNotFound } from "../store/engine-rules.ts";
import type { Clock, Engine, Log } from "../store/store.ts";

interface PollOptions {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly log: Log;
  readonly pollMs: number;
  /** From 0 to below 1. */
  readonly random: () => number;
  readonly stopping: AbortSignal;
  readonly aborting: AbortSignal;
  /** Starts the shop's due effects. */
  readonly check: (shopId: string) => void;
  /** Finishes other work that a node which died has left in the shop. */
  readonly recover: (shopId: string, signal: AbortSignal) => Promise<void>;
}

export class Poll {
  readonly #options: PollOptions;
  #timer: NodeJS.Timeout | null = null;
  #recovering: Promise<void> | null = null;

  constructor(options: PollOptions) {
    this.#options = options;
    options.stopping.addEventListener("abort", () => {
      if (this.#timer !== null) clearTimeout(this.#timer);
    });
  }

  /** Searches once, and from then on again and again. Resolves after the first search. */
  async start(): Promise<void> {
    const { engine, clock, log, pollMs, random, stopping, check } = this.#options;
    try {
      const shopIds = await engine.shopsWithDueRows(clock.now());
      for (const shopId of shopIds) check(shopId);
      this.#recovering ??= this.#recover(shopIds).finally(() => (this.#recovering = null));
    } catch (error) {
      if (!stopping.aborted) log.warn({ err: error }, "the search for due work failed; it is tried again");
    }
    if (stopping.aborted) return;
    // Nodes search at different times, so that the database does not get all of them at once.
    this.#timer = setTimeout(() => void this.start(), pollMs * (0.5 + random()));
    this.#timer.unref();
  }

  /** Resolves when no recovery runs. */
  async untilRecovered(): Promise<void> {
    await this.#recovering;
  }

  async #recover(shopIds: readonly string[]): Promise<void> {
    const { log, stopping, aborting, recover } = this.#options;
    for (const shopId of shopIds) {
      if (stopping.aborted) return;
      try {
        await recover(shopId, aborting);
      } catch (error) {
        if (isNotFound(error)) continue;
        log.error({ shopId, err: error }, "work that another node has left could not be finished; it is tried again");
      }
    }
  }
}
