/**
 * Admission of requests: each may wait for its start, or is refused at once because those before it have waited for too
 * long.
 *
 * Owns: when a refused client is asked to retry. Does not own: what waits (base/time/rounds.ts), and the answer
 * (connections.ts).
 *
 * Invariants:
 * - H13. A request is refused only if another one has waited for its start for more than `startWaitMsMax`, and at least
 *        `startsWaitingMin` wait. So a shop on an otherwise idle process is never refused what its default rate limit
 *        lets it ask at once.
 * - H14. Clients that are refused are asked to retry one after another, at the rate at which requests start, and not
 *   all at the same time.
 */

/** A request is refused when another one has waited for its start for longer than this. */
export const startWaitMsMax = 1_000;

/**
 * Fewer requests than this may wait for their start for any time: twice what a shop may ask at once with its default
 * rate limit.
 */
export const startsWaitingMin = 240;

/** The least that a client is asked to wait when the process is overloaded. */
export const retryAfterMsMin = 1_000;

/** The most that a client is asked to wait when the process is overloaded. */
export const retryAfterMsMax = 30_000;

/** The requests that have arrived and not started. */
interface StartQueue {
  readonly waiting: number;
  readonly oldestWaitMs: number;
}

export interface AdmissionLimits {
  readonly startWaitMsMax: number;
  readonly startsWaitingMin: number;
}

const defaultAdmissionLimits: AdmissionLimits = { startWaitMsMax, startsWaitingMin };

/** For how long starts are counted before their rate is taken from it. */
const windowMs = 500;

const isOverloaded = ({ waiting, oldestWaitMs }: StartQueue, limits: AdmissionLimits): boolean =>
  oldestWaitMs > limits.startWaitMsMax && waiting >= limits.startsWaitingMin;

/** Times at which refused clients are asked to retry (`Retry-After`), so many in a second. */
export class RetryTimes {
  /** When the last one of them has had its turn. */
  #untilMs = 0;

  /** @returns whole milliseconds from now; at least `aheadMs`, and within the named limits. */
  next(nowMs: number, perSecond: number, aheadMs = 0): number {
    const earliestMs = nowMs + Math.max(aheadMs, retryAfterMsMin);
    const startMs = Math.min(Math.max(this.#untilMs, earliestMs), nowMs + retryAfterMsMax);
    this.#untilMs = startMs + 1_000 / perSecond;
    return Math.ceil(startMs - nowMs);
  }
}

export class Admission {
  readonly #limits: AdmissionLimits;
  readonly #retryTimes = new RetryTimes();
  #windowFromMs = 0;
  #starts = 0;
  /** Of the last window that has ended. */
  #startsPerSecond = 1;
  #refusedTotal = 0;

  constructor(limits: AdmissionLimits = defaultAdmissionLimits) {
    this.#limits = limits;
  }

  /** Requests that were refused. */
  get refusedTotal(): number {
    return this.#refusedTotal;
  }

  /** A request starts. */
  started(nowMs: number): void {
    const passedMs = nowMs - this.#windowFromMs;
    if (passedMs >= windowMs) {
      this.#startsPerSecond = Math.max(1, (this.#starts * 1_000) / passedMs);
      this.#windowFromMs = nowMs;
      this.#starts = 0;
    }
    this.#starts += 1;
  }

  /** Null: the request may wait. Otherwise it is refused, and may be retried after so many milliseconds. */
  refuses(queue: StartQueue, nowMs: number): number | null {
    if (!isOverloaded(queue, this.#limits)) return null;
    this.#refusedTotal += 1;
    const aheadMs = (queue.waiting * 1_000) / this.#startsPerSecond;
    return this.#retryTimes.next(nowMs, this.#startsPerSecond, aheadMs);
  }
}
