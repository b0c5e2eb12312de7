/**
 * The search of a node among others for due rows in any shop: those of nodes that died, and those that others have
 * added. One search serves all kinds of work.
 *
 * Owns: when it searches, and which kind hears of which shops. Does not own: which rows are due (the engine's
 * `dueRows`), what is done about them.
 */
import { isNotFound } from "../store/engine-rules.ts";
import type { Clock } from "../base/time/clock.ts";
import type { DueShop, Engine, Log } from "../store/store.ts";

/** Interval at which all shops are searched, on average: each wait is up to half shorter or longer, at random. */
export const dueSearchMs = 1_000;

interface DueSearchOptions {
  readonly engine: Pick<Engine, "shopsWithDueRows">;
  readonly clock: Clock;
  readonly log: Log;
  /** From 0 to below 1. */
  readonly random: () => number;
  /** Default: `dueSearchMs`. */
  readonly everyMs?: number;
}

/** A kind of work that hears of shops. */
interface Listener {
  /** Name of the work in the log, in the plural. */
  readonly what: string;
  /** The table of its rows. */
  readonly table: string;
  readonly found: (shopIds: readonly string[]) => Promise<void>;
  readonly stopping: AbortSignal;
}

export class DueSearch {
  readonly #options: DueSearchOptions;
  readonly #listeners = new Set<Listener>();
  /** Listeners that have not dealt yet with what they heard. */
  readonly #busy = new Set<Listener>();
  #timer: NodeJS.Timeout | null = null;

  constructor(options: DueSearchOptions) {
    this.#options = options;
  }

  /** Searches for this kind once, and from then on again and again until it stops. Resolves after the first search. */
  async begin(listener: Listener): Promise<void> {
    const { stopping } = listener;
    if (stopping.aborted) return;
    stopping.addEventListener("abort", () => this.#leave(listener));
    this.#listeners.add(listener);
    await this.#tell(listener, await this.#find());
    this.#plan();
  }

  #leave(listener: Listener): void {
    this.#listeners.delete(listener);
    if (this.#listeners.size > 0 || this.#timer === null) return;
    clearTimeout(this.#timer);
    this.#timer = null;
  }

  /** Nodes search at different times, so that the database does not get all of them at once. */
  #plan(): void {
    const { random, everyMs = dueSearchMs } = this.#options;
    if (this.#timer !== null || this.#listeners.size === 0) return;
    this.#timer = setTimeout(() => void this.#again(), everyMs * (0.5 + random()));
    this.#timer.unref();
  }

  async #again(): Promise<void> {
    const due = await this.#find();
    for (const each of this.#listeners) if (!this.#busy.has(each)) void this.#tell(each, due);
    this.#timer = null;
    this.#plan();
  }

  /** Never rejects: what is not found now is found by the next search. */
  async #find(): Promise<readonly DueShop[]> {
    const { engine, clock, log } = this.#options;
    try {
      return await engine.shopsWithDueRows(clock.now());
    } catch (error) {
      if (this.#listeners.size > 0) log.warn({ err: error }, "the search for due work failed; it is tried again");
      return [];
    }
  }

  /** Never rejects. */
  async #tell(listener: Listener, due: readonly DueShop[]): Promise<void> {
    const { what, table, found, stopping } = listener;
    this.#busy.add(listener);
    try {
      await found(due.flatMap((each) => (each.table === null || each.table === table ? [each.shopId] : [])));
    } catch (error) {
      if (!stopping.aborted && !isNotFound(error))
        this.#options.log.warn({ err: error }, `the search for ${what} failed; it is tried again`);
    } finally {
      this.#busy.delete(listener);
    }
  }
}
