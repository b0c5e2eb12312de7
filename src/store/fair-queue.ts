/**
 * The queue of work that shops share a few workers for: each shop waits in a line of its own, and the lines take turns.
 *
 * Owns: the order between shops, the limits on what one shop runs and has waiting. Does not own: the work, or what runs it.
 *
 * Invariants:
 * - Q3. Shops take turns: after a shop's work has begun, every other shop with waiting work comes first.
 * - Q4. Of one shop at most `runningPerShopMax` run and `waitingPerShopMax` wait, none longer than `waitMsMax`. Refused work was never
 *       run. Setting the time of day refuses none.
 */
import { Fault } from "../core/fault.ts";

export interface FairLimits {
  /** Work that runs at the same time, of all shops. */
  readonly runningMax: number;
  readonly runningPerShopMax: number;
  readonly waitingPerShopMax: number;
  readonly waitMsMax: number;
}

/** The shortest wait that a refusal names. */
const waitAskedMsMin = 1_000;

/** How much the latest run counts in the average duration. */
const latestShare = 0.3;

interface Waiting {
  readonly acceptedAtMs: number;
  start(): void;
  refuse(fault: Fault): void;
}

interface Line {
  readonly waiting: Waiting[];
  running: number;
  /** When the shop had its latest turn, in turns of all shops. */
  latestTurn: number;
}

export class FairQueue {
  readonly #limits: FairLimits;
  readonly #elapsedMs: () => number;
  readonly #things: string;
  /** Shops with work. */
  readonly #lines = new Map<string, Line>();
  #running = 0;
  #turns = 0;
  /** The average duration of all runs, the latest ones counting most. */
  #averageMs = 0;
  #expiry: ReturnType<typeof setTimeout> | null = null;

  /**
   * @param things     what waits, for the messages of refusals.
   * @param elapsedMs  milliseconds that go on evenly, whatever the time of day is set to.
   */
  constructor(limits: FairLimits, things = "broad reads", elapsedMs = () => performance.now()) {
    this.#limits = limits;
    this.#elapsedMs = elapsedMs;
    this.#things = things;
  }

  /** Work that waits, of all shops. */
  get waiting(): number {
    return [...this.#lines.values()].reduce((sum, line) => sum + line.waiting.length, 0);
  }

  /**
   * Runs `work` when it is the shop's turn and passes its result on.
   *
   * @throws Fault DO_OVERLOADED when too much of the shop waits, or its turn did not come in time.
   */
  async run<T>(shopId: string, work: () => Promise<T>): Promise<T> {
    const line = this.#lines.get(shopId) ?? { waiting: [], running: 0, latestTurn: 0 };
    this.#lines.set(shopId, line);
    if (line.waiting.length >= this.#limits.waitingPerShopMax)
      throw this.#overloaded(line, `has too many ${this.#things} waiting`);
    await new Promise<void>((resolve, reject) => {
      line.waiting.push({ acceptedAtMs: this.#elapsedMs(), start: resolve, refuse: reject });
      this.#startNext();
      this.#armExpiry();
    });
    const startedAtMs = this.#elapsedMs();
    try {
      return await work();
    } finally {
      const durationMs = this.#elapsedMs() - startedAtMs;
      this.#averageMs += (this.#averageMs === 0 ? 1 : latestShare) * (durationMs - this.#averageMs);
      line.running -= 1;
      this.#running -= 1;
      if (line.running === 0 && line.waiting.length === 0) this.#lines.delete(shopId);
      this.#startNext();
    }
  }

  #startNext(): void {
    while (this.#running < this.#limits.runningMax) {
      const line = this.#nextLine();
      const next = line?.waiting.shift();
      if (line === null || next === undefined) return;
      this.#turns += 1;
      line.latestTurn = this.#turns;
      line.running += 1;
      this.#running += 1;
      next.start();
    }
  }

  /** The line whose turn is the longest ago; null when none may begin anything. */
  #nextLine(): Line | null {
    let found: Line | null = null;
    for (const line of this.#lines.values())
      if (
        line.waiting.length > 0 &&
        line.running < this.#limits.runningPerShopMax &&
        (found === null || line.latestTurn < found.latestTurn)
      )
        found = line;
    return found;
  }

  /** One timer while work waits, set for the moment at which the oldest expires. */
  #armExpiry(): void {
    if (this.#expiry !== null) return;
    const oldestMs = Math.min(...[...this.#lines.values()].flatMap((line) => line.waiting[0]?.acceptedAtMs ?? []));
    if (!Number.isFinite(oldestMs)) return;
    this.#expiry = setTimeout(
      () => {
        this.#expiry = null;
        this.#refuseExpired();
        this.#armExpiry();
      },
      Math.max(1, oldestMs + this.#limits.waitMsMax - this.#elapsedMs()),
    );
    this.#expiry.unref();
  }

  #refuseExpired(): void {
    const latestAcceptedMs = this.#elapsedMs() - this.#limits.waitMsMax;
    for (const line of this.#lines.values())
      while ((line.waiting[0]?.acceptedAtMs ?? Number.POSITIVE_INFINITY) <= latestAcceptedMs)
        line.waiting.shift()?.refuse(this.#overloaded(line, `did not get to its ${this.#things} in time`));
  }

  /** The refusal names the time that what waits is likely to take. */
  #overloaded(line: Line, what: string): Fault {
    const waitMs = (line.waiting.length * this.#averageMs) / this.#limits.runningPerShopMax;
    return new Fault("DO_OVERLOADED", `This shop ${what}; nothing was done.`, {
      action: "Wait, then send the same request again; send fewer requests in parallel, or narrow the filters.",
      retryAfterMs: Math.min(Math.ceil(Math.max(waitMs, waitAskedMsMin)), this.#limits.waitMsMax),
    });
  }
}
