/**
 * The queue of work that shops share a few workers for: each shop waits in a line of its own, and the lines take turns.
 *
 * Owns: the order between shops, the limits on what one shop runs and has waiting. Does not own: the work, or what runs
 * it.
 *
 * Invariants:
 * - Q3. Shops take turns: after a shop's work has begun, every other shop with waiting work comes first, also when the
 *       shop had nothing waiting meanwhile.
 * - Q4. Of one shop at most `runningPerShopMax` run and `waitingPerShopMax` wait, none longer than `waitMsMax`. Refused
 *       work was never run, nor work that nobody wants any more when its turn comes. Setting the time of day refuses
 *       none.
 */
import { Fault } from "../base/fault.ts";
import { RecentMap } from "../base/recent-map.ts";

export interface FairLimits {
  /** Work that runs at the same time, of all shops. */
  readonly runningMax: number;
  readonly runningPerShopMax: number;
  readonly waitingPerShopMax: number;
  /** Infinite: work waits for any time. */
  readonly waitMsMax: number;
}

/** Shops whose latest turn is remembered while they have no work. */
export const startsRememberedMax = 10_000;

/** The shortest wait that a refusal names. */
const suggestedWaitMsMin = 1_000;

/** Weight of the latest run in the average duration. */
const latestShare = 0.3;

interface Waiting {
  readonly acceptedAtMs: number;
  start(): void;
  refuse(reason: unknown): void;
}

interface Line {
  readonly waiting: Waiting[];
  running: number;
}

export class FairQueue {
  readonly #limits: FairLimits;
  readonly #elapsedMs: () => number;
  readonly #things: string;
  /** Shops with work. */
  readonly #lines = new Map<string, Line>();
  /**
   * When each shop had its latest turn, in turns of all shops. A shop that is not in it comes before those that are.
   */
  readonly #latestStarts = new RecentMap<number>(startsRememberedMax);
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
   * @param unwanted  aborted when nobody wants the result any more: work that waits gives up its place. Work that runs
   *                  goes on. Null: it stays wanted.
   * @throws Fault DO_OVERLOADED when too much of the shop waits, or its turn did not come in time.
   * @throws the reason of `unwanted` when it was aborted before the work has begun.
   */
  async run<T>(shopId: string, work: () => Promise<T>, unwanted: AbortSignal | null = null): Promise<T> {
    unwanted?.throwIfAborted();
    const line = this.#lines.get(shopId) ?? { waiting: [], running: 0 };
    this.#lines.set(shopId, line);
    if (line.waiting.length >= this.#limits.waitingPerShopMax)
      throw this.#overloaded(line, `has too many ${this.#things} waiting`);
    await this.#turn(shopId, line, unwanted);
    const startedAtMs = this.#elapsedMs();
    try {
      return await work();
    } finally {
      const durationMs = this.#elapsedMs() - startedAtMs;
      this.#averageMs += (this.#averageMs === 0 ? 1 : latestShare) * (durationMs - this.#averageMs);
      line.running -= 1;
      this.#running -= 1;
      this.#dropIdle(shopId, line);
      this.#startNext();
    }
  }

  /** Resolves when the shop's next work may begin. */
  #turn(shopId: string, line: Line, unwanted: AbortSignal | null): Promise<void> {
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        line.waiting.splice(line.waiting.indexOf(waiting), 1);
        this.#dropIdle(shopId, line);
        reject(unwanted?.reason);
      };
      const waiting: Waiting = {
        acceptedAtMs: this.#elapsedMs(),
        start() {
          unwanted?.removeEventListener("abort", giveUp);
          resolve();
        },
        refuse(fault) {
          unwanted?.removeEventListener("abort", giveUp);
          reject(fault);
        },
      };
      unwanted?.addEventListener("abort", giveUp, { once: true });
      line.waiting.push(waiting);
      this.#startNext();
      this.#armExpiry();
    });
  }

  #dropIdle(shopId: string, line: Line): void {
    if (line.running === 0 && line.waiting.length === 0) this.#lines.delete(shopId);
  }

  #startNext(): void {
    while (this.#running < this.#limits.runningMax) {
      const shopId = this.#nextShop();
      const line = shopId === null ? undefined : this.#lines.get(shopId);
      const next = line?.waiting.shift();
      if (shopId === null || line === undefined || next === undefined) return;
      this.#turns += 1;
      this.#latestStarts.set(shopId, this.#turns);
      line.running += 1;
      this.#running += 1;
      next.start();
    }
  }

  /** The shop whose turn is the longest ago; null when none may begin anything. */
  #nextShop(): string | null {
    let found: { readonly shopId: string; readonly latestStart: number } | null = null;
    for (const [shopId, line] of this.#lines) {
      if (line.waiting.length === 0 || line.running >= this.#limits.runningPerShopMax) continue;
      const latestStart = this.#latestStarts.get(shopId) ?? 0;
      if (found === null || latestStart < found.latestStart) found = { shopId, latestStart };
    }
    return found?.shopId ?? null;
  }

  /** One timer while work waits, set for the moment at which the oldest expires. */
  #armExpiry(): void {
    if (this.#expiry !== null) return;
    const oldestMs = Math.min(...[...this.#lines.values()].flatMap((line) => line.waiting[0]?.acceptedAtMs ?? []));
    const expiresAtMs = oldestMs + this.#limits.waitMsMax;
    // Nothing waits, or it may wait for any time. A timer of infinite length would end at once.
    if (!Number.isFinite(expiresAtMs)) return;
    this.#expiry = setTimeout(
      () => {
        this.#expiry = null;
        this.#refuseExpired();
        this.#armExpiry();
      },
      Math.max(1, expiresAtMs - this.#elapsedMs()),
    );
    this.#expiry.unref();
  }

  #refuseExpired(): void {
    const latestAcceptedMs = this.#elapsedMs() - this.#limits.waitMsMax;
    for (const [shopId, line] of this.#lines) {
      while ((line.waiting[0]?.acceptedAtMs ?? Number.POSITIVE_INFINITY) <= latestAcceptedMs)
        line.waiting.shift()?.refuse(this.#overloaded(line, `did not get to its ${this.#things} in time`));
      this.#dropIdle(shopId, line);
    }
  }

  /** The refusal names the time that what waits is likely to take. */
  #overloaded(line: Line, what: string): Fault {
    const waitMs = (line.waiting.length * this.#averageMs) / this.#limits.runningPerShopMax;
    return new Fault("DO_OVERLOADED", `This shop ${what}; nothing was done.`, {
      action: "Wait, then send the same request again; send fewer requests in parallel, or narrow the filters.",
      retryAfterMs: Math.min(Math.ceil(Math.max(waitMs, suggestedWaitMsMin)), this.#limits.waitMsMax),
    });
  }
}
