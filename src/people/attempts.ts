/**
 * Failed sign-ins of each address (C49).
 *
 * Owns: their counts, in memory. Whoever has failed too often is refused before anything is looked up, with a right secret too, so that
 * guessing is slow. The address is the connection's: what a header says of it counts nothing. Each node counts for itself.
 */
import { Fault } from "../core/fault.ts";
import { guessersMax, signInFailureMs, signInFailuresMax } from "../core/limits.ts";
import { RecentMap } from "../core/recent-map.ts";
import type { Clock } from "../store/store.ts";

export class Attempts {
  readonly #clock: Clock;
  /** Until when the failures of an address count, one after the other. */
  readonly #busyUntilMs = new RecentMap<number>(guessersMax);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @throws Fault RATE_LIMITED when the address has failed too often. */
  admit(address: string): void {
    const nowMs = this.#clock.now();
    const aheadMs = (this.#busyUntilMs.get(address) ?? nowMs) - nowMs;
    const waitMs = aheadMs - (signInFailuresMax - 1) * signInFailureMs;
    if (waitMs > 0)
      throw new Fault("RATE_LIMITED", "Too many sign-ins from this address have failed.", {
        retryAfterMs: Math.min(waitMs, signInFailureMs),
        action: "Wait as long as Retry-After says, then try again.",
      });
  }

  /** Counts a failure of the address. */
  failed(address: string): void {
    const nowMs = this.#clock.now();
    const untilMs = Math.max(nowMs, this.#busyUntilMs.get(address) ?? nowMs) + signInFailureMs;
    this.#busyUntilMs.set(address, untilMs);
  }
}
