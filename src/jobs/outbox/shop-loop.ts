/**
 * Which lanes of which shops run, and when a shop's outbox is read next (O3).
 *
 * Owns: reading what is due, the bounds of lanes at a time, timers. Does not own: what a lane does (lane.ts), the
 * search over all shops (poll.ts).
 *
 * A shop has an entry here while something of it runs or is due; idle shops cost nothing.
 */
import type { DueLanes } from "../../shop/storefront/effects.ts";
import { isNotFound } from "../../store/engine-rules.ts";
import type { Clock } from "../../base/time/clock.ts";
import type { Log } from "../../store/store.ts";
import { type OutboxLimits, otherNodeCheckMs, storePauseMs } from "./limits.ts";

interface ShopLoopsOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: Pick<OutboxLimits, "lanesPerShopMax" | "lanesMax" | "lanesWantedMax">;
  /** This is the only process on the store: every shop is this one's. */
  readonly alone: boolean;
  /** Nothing more begins. */
  readonly stopping: AbortSignal;
  /** Reads which lanes are due. */
  readonly findDue: (shopId: string, running: readonly string[]) => Promise<DueLanes>;
  /**
   * Runs a lane; never rejects.
   *
   * @returns whether the lane may have left something that is due.
   */
  readonly runLane: (shopId: string, lane: string, listener: ClaimListener) => Promise<boolean>;
}

/** Who is told how far the claim of a lane is. */
export interface ClaimListener {
  /** The lane looks for what is due: it may miss what is stored from now on. */
  claiming(): void;
  /** It has claimed effects. */
  claimed(): void;
}

/** The run of one lane in this process. */
interface RunningLane {
  readonly ended: Promise<void>;
  /** It may miss effects that are stored from now on. */
  isClaiming: boolean;
}

interface ShopLoop {
  readonly running: Map<string, RunningLane>;
  /**
   * Lanes with effects that are due, which wait for the end of their run or until fewer run. The one that came first is
   * first.
   */
  readonly wanted: Set<string>;
  /** Effects were added or claimed by this process, so it checks the shop itself, without waiting for a poll. */
  isOurs: boolean;
  /** The outbox is being read; `checkAgain`: it is read once more after that. */
  checking: boolean;
  checkAgain: boolean;
  /** More lanes were due than are kept: when all of these have begun, the outbox is read again. */
  leftOut: boolean;
  timer: NodeJS.Timeout | null;
  /** When the timer ends; of no meaning without one. */
  checkAtMs: number;
  /** When its oldest effect was added that was not settled at the latest reading. */
  oldestAtMs: number | null;
}

/** After lanes that have left nothing, the shop is looked at once more, in case a step has asked for further work. */
const laterPollMs = 1_000;

export class ShopLoops {
  readonly #options: ShopLoopsOptions;
  readonly #loops = new Map<string, ShopLoop>();
  /** Shops that wait for a lane to become free, in the order in which they came. */
  readonly #waiting = new Set<string>();
  #lanesRunning = 0;

  constructor(options: ShopLoopsOptions) {
    this.#options = options;
    options.stopping.addEventListener("abort", () => {
      for (const { timer } of this.#loops.values()) if (timer !== null) clearTimeout(timer);
    });
  }

  /** Lanes that run now, of all shops. */
  get running(): readonly Promise<void>[] {
    return [...this.#loops.values()].flatMap((loop) => [...loop.running.values()].map(({ ended }) => ended));
  }

  /**
   * Number of shops with effects that are not settled, as of their latest readings, and the time at which the oldest
   * was added.
   */
  get pending(): { readonly shops: number; readonly oldestAtMs: number | null } {
    let shops = 0;
    let oldestAtMs = Number.POSITIVE_INFINITY;
    for (const loop of this.#loops.values()) {
      if (loop.oldestAtMs === null) continue;
      shops += 1;
      oldestAtMs = Math.min(oldestAtMs, loop.oldestAtMs);
    }
    return { shops, oldestAtMs: shops === 0 ? null : oldestAtMs };
  }

  /** Returns true if a lane of the shop runs here. */
  runs(shopId: string): boolean {
    return (this.#loops.get(shopId)?.running.size ?? 0) > 0;
  }

  /** Reads what is due in the shop and starts it, as far as the bounds allow. */
  check(shopId: string): void {
    const { stopping } = this.#options;
    if (stopping.aborted) return;
    const loop = this.#loopOf(shopId);
    if (loop.checking) {
      loop.checkAgain = true;
      return;
    }
    loop.checking = true;
    void this.#startDue(shopId, loop).finally(() => {
      loop.checking = false;
      const again = loop.checkAgain;
      loop.checkAgain = false;
      if (again) this.check(shopId);
      else this.#forgetIfIdle(shopId, loop);
    });
  }

  /**
   * Starts lanes to which this process has just added effects, as far as the bounds allow. Nothing is read for that.
   * Null: which lanes they are is looked up.
   */
  start(shopId: string, lanes: readonly string[] | null): void {
    const { clock, stopping } = this.#options;
    if (stopping.aborted) return;
    const loop = this.#loopOf(shopId);
    loop.isOurs = true;
    if (lanes === null) {
      this.check(shopId);
      return;
    }
    loop.oldestAtMs ??= clock.now();
    this.#startLanes(shopId, loop, lanes);
  }

  #loopOf(shopId: string): ShopLoop {
    const loop = this.#loops.get(shopId) ?? {
      running: new Map(),
      wanted: new Set(),
      isOurs: this.#options.alone,
      checking: false,
      checkAgain: false,
      leftOut: false,
      timer: null,
      checkAtMs: 0,
      oldestAtMs: null,
    };
    this.#loops.set(shopId, loop);
    return loop;
  }

  async #startDue(shopId: string, loop: ShopLoop): Promise<void> {
    const { clock, log, stopping } = this.#options;
    if (loop.timer !== null) clearTimeout(loop.timer);
    loop.timer = null;
    let due: DueLanes;
    try {
      due = await this.#options.findDue(shopId, [...loop.running.keys()]);
    } catch (error) {
      if (isNotFound(error) || stopping.aborted) return;
      log.warn({ shopId, err: error }, "the outbox could not be read; it is tried again");
      this.#checkLater(shopId, loop, storePauseMs);
      return;
    }
    if (stopping.aborted) return;
    loop.leftOut = due.leavesOut;
    loop.oldestAtMs = due.oldestAtMs;
    this.#startLanes(shopId, loop, due.lanes);
    const nextInMs = due.nextDueAtMs === null ? Number.POSITIVE_INFINITY : Math.max(1, due.nextDueAtMs - clock.now());
    const againInMs = loop.running.size > 0 ? Math.min(laterPollMs, nextInMs) : nextInMs;
    const checkInMs = due.isHeldUp ? Math.min(otherNodeCheckMs, againInMs) : againInMs;
    if (Number.isFinite(checkInMs)) this.#checkLater(shopId, loop, checkInMs);
  }

  /**
   * Starts lanes with effects that are due, as far as the bounds allow; the others are kept until they can begin. One
   * that runs and has not looked for its effects yet will find them.
   */
  #startLanes(shopId: string, loop: ShopLoop, lanes: readonly string[]): void {
    for (const lane of lanes) {
      if (loop.running.get(lane)?.isClaiming === false || this.#begin(shopId, loop, lane)) continue;
      if (loop.wanted.size < this.#options.limits.lanesWantedMax) loop.wanted.add(lane);
      else loop.leftOut ||= !loop.wanted.has(lane);
    }
  }

  #startWanted(shopId: string, loop: ShopLoop): void {
    for (const lane of loop.wanted) if (this.#begin(shopId, loop, lane)) loop.wanted.delete(lane);
  }

  /** @returns whether the lane has begun: not if it runs already, or too many do. */
  #begin(shopId: string, loop: ShopLoop, lane: string): boolean {
    const { limits, stopping } = this.#options;
    if (stopping.aborted || loop.running.has(lane) || loop.running.size >= limits.lanesPerShopMax) return false;
    if (this.#lanesRunning >= limits.lanesMax) {
      this.#waiting.add(shopId);
      return false;
    }
    this.#lanesRunning += 1;
    const ended = Promise.withResolvers<void>();
    const running: RunningLane = { ended: ended.promise, isClaiming: false };
    loop.running.set(lane, running);
    void this.#runLane(shopId, loop, lane, running).finally(ended.resolve);
    return true;
  }

  #checkLater(shopId: string, loop: ShopLoop, afterMs: number): void {
    // Another node's shop is left alone until a poll finds its work unclaimed.
    if (this.#options.stopping.aborted || !loop.isOurs) return;
    if (loop.timer !== null) clearTimeout(loop.timer);
    loop.checkAtMs = this.#options.clock.now() + afterMs;
    loop.timer = setTimeout(() => {
      loop.timer = null;
      this.check(shopId);
    }, afterMs);
    loop.timer.unref();
  }

  async #runLane(shopId: string, loop: ShopLoop, lane: string, running: RunningLane): Promise<void> {
    let mayBeDue = true;
    try {
      mayBeDue = await this.#options.runLane(shopId, lane, {
        claiming: () => {
          running.isClaiming = true;
        },
        claimed: () => {
          loop.isOurs = true;
        },
      });
    } finally {
      loop.running.delete(lane);
      this.#lanesRunning -= 1;
      // Shops that have waited come first.
      const [next] = this.#waiting;
      if (next !== undefined) {
        this.#waiting.delete(next);
        this.#startWanted(next, this.#loopOf(next));
      }
      this.#startWanted(shopId, loop);
      if (mayBeDue || (loop.leftOut && loop.wanted.size === 0)) this.check(shopId);
      else if (loop.timer === null) {
        if (loop.running.size + loop.wanted.size === 0) loop.oldestAtMs = null;
        this.#checkLater(shopId, loop, laterPollMs);
      } else if (loop.running.size === 0 && loop.checkAtMs > this.#options.clock.now() + laterPollMs) {
        // It may wait for the end of a lease that this lane has just given up.
        this.#checkLater(shopId, loop, laterPollMs);
      }
    }
  }

  #forgetIfIdle(shopId: string, loop: ShopLoop): void {
    if (loop.running.size > 0 || loop.wanted.size > 0 || loop.timer !== null || loop.checking) return;
    if (this.#loops.get(shopId) === loop) this.#loops.delete(shopId);
  }
}
