/**
 * Pacing of a store's calls. Shopify gives each app and store a bucket of points that fills again, and every answer has
 * its level. All calls of a store take their points from one `Pacing`, in the order in which they ask.
 *
 * Owns: the wait before a call, by its points and after a call that was throttled. Does not own: the call, and what it
 * costs (client.ts).
 */
import type { Clock } from "../../base/time/clock.ts";
import { noRoomInTime, pauseFor, throttledPauseMsMax } from "../pause.ts";

/** State of the bucket in an answer, in points. */
export interface ThrottleStatus {
  readonly maximumAvailable: number;
  readonly currentlyAvailable: number;
  /** Points a second. */
  readonly restoreRate: number;
}

export class Pacing {
  readonly #clock: Clock;
  #status: ThrottleStatus | null = null;
  #atMs = 0;
  /** Points of calls that are under way: their answers have not said what they took. */
  #underWay = 0;
  #restsUntilMs = 0;
  #last: Promise<void> = Promise.resolve();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Latest state that an answer had; null before the first. */
  get status(): ThrottleStatus | null {
    return this.#status;
  }

  /** No call begins for so long: the store takes none. */
  rest(ms: number): void {
    this.#restsUntilMs = Math.max(this.#restsUntilMs, this.#clock.now() + ms);
  }

  /**
   * Waits for the turn and for as many points.
   *
   * @returns what gives the points back when the call is over, with what its answer said of the bucket.
   * @throws StorefrontError when the caller gives up before.
   */
  async take(points: number, signal: AbortSignal | undefined): Promise<(status: ThrottleStatus | null) => void> {
    const before = this.#last;
    const turn = Promise.withResolvers<void>();
    this.#last = turn.promise;
    try {
      await before;
      for (;;) {
        const waitMs = Math.max(this.#restMs(), this.#waitMs(points));
        if (signal?.aborted === true) throw noRoomInTime("Shopify");
        if (waitMs <= 0) break;
        await pauseFor(waitMs, signal, "Shopify");
      }
      this.#underWay += points;
    } finally {
      turn.resolve();
    }
    return (status) => {
      this.#underWay -= points;
      if (status === null) return;
      this.#status = status;
      this.#atMs = this.#clock.now();
    };
  }

  /** Rest of the pause; one that is longer than any is from before the clock was set back. */
  #restMs(): number {
    return Math.min(this.#restsUntilMs - this.#clock.now(), throttledPauseMsMax);
  }

  /** Returns the time until the bucket holds as many points. */
  #waitMs(points: number): number {
    if (this.#status === null) return 0;
    const { maximumAvailable, currentlyAvailable, restoreRate } = this.#status;
    const elapsedMs = Math.max(0, this.#clock.now() - this.#atMs);
    const holds = Math.min(maximumAvailable, currentlyAvailable + (elapsedMs / 1_000) * restoreRate) - this.#underWay;
    // A call that costs more than a full bucket is tried with a full one.
    const missing = Math.min(points, maximumAvailable) - holds;
    return missing <= 0 ? 0 : Math.ceil((missing / Math.max(restoreRate, 1)) * 1_000);
  }
}
