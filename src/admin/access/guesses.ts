/**
 * Wrong admin tokens of each address: every further one is answered later. The right one never waits, so that nobody
 * can lock the operator out. Counted in memory, by each node for itself.
 */
import { guessersMax } from "../../http/attempts.ts";
import { doubledMs } from "../../base/time/backoff.ts";
import { RecentMap } from "../../base/recent-map.ts";

/** Wrong admin tokens from one address that are answered at once. */
export const guessesAtOnceMax = 5;

/** The longest that the answer to a wrong admin token waits. */
export const guessWaitMsMax = 2_000;

export class Guesses {
  readonly #counts = new RecentMap<number>(guessersMax);

  /** Counts a wrong token of the address. @returns how many it has sent, and how long the answer waits. */
  wrong(address: string): { readonly guess: number; readonly waitMs: number } {
    const guess = (this.#counts.get(address) ?? 0) + 1;
    this.#counts.set(address, guess);
    const waitMs = guess > guessesAtOnceMax ? doubledMs(guess - guessesAtOnceMax, 20, guessWaitMsMax) : 0;
    return { guess, waitMs };
  }

  /** The address has sent the right token: what it sent before counts no more. */
  right(address: string): void {
    this.#counts.delete(address);
  }
}
