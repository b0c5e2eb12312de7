/**
 * The search of a node among others for due work of all shops, and the recovery of what nodes that died have left.
 *
 * Does not own: when it searches (store/due-search.ts), what is done about due effects (shop-loop.ts), and how other
 * work is finished (`recover`).
 */
import { DueSearch } from "../../store/due-search.ts";
import { isNotFound } from "../../store/engine-rules.ts";
import type { Clock } from "../../base/time/clock.ts";
import type { Engine, Log } from "../../store/store.ts";

const recoveriesAtOnce = 4;

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
  readonly #search: DueSearch;
  #recovering: Promise<void> | null = null;

  constructor(options: PollOptions) {
    this.#options = options;
    this.#search = new DueSearch({
      ...options,
      what: "due work",
      found: (shopIds) => {
        for (const shopId of shopIds) options.check(shopId);
        this.#recovering ??= this.#recover(shopIds).finally(() => (this.#recovering = null));
      },
    });
  }

  /** Searches once, and from then on again and again. Resolves after the first search. */
  start(): Promise<void> {
    return this.#search.start();
  }

  /** Resolves when no recovery runs. */
  async untilRecovered(): Promise<void> {
    await this.#recovering;
  }

  /** Some shops at once, so that a long import of one does not keep the others waiting (C38). */
  async #recover(shopIds: readonly string[]): Promise<void> {
    const { log, stopping, aborting, recover } = this.#options;
    const left = shopIds.values();
    const recoverNext = async (): Promise<void> => {
      for (const shopId of left) {
        if (stopping.aborted) return;
        try {
          await recover(shopId, aborting);
        } catch (error) {
          if (isNotFound(error)) continue;
          log.error({ shopId, err: error }, "work that another node has left could not be finished; it is tried again");
        }
      }
    };
    await Promise.all(Array.from({ length: recoveriesAtOnce }, recoverNext));
  }
}
