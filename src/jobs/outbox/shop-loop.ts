/**
 * Which lanes of which shops run (O3).
 *
 * Owns: reading what is due, the bounds of lanes at a time. Does not own: what a lane does (lane.ts), when a shop's
 * outbox is read (../runner.ts).
 *
 * A shop has an entry here while something of it runs or is due; idle shops cost nothing.
 */
import { dueEffects, type DueLanes } from "../../shop/storefront/effects.ts";
import { isNotFound } from "../../store/engine-rules.ts";
import type { Statement } from "../../store/store.ts";
import { JobRunner, type JobsOptions } from "../runner.ts";
import { type OutboxLimits, otherNodeCheckMs } from "./limits.ts";

interface ShopLoopsOptions extends JobsOptions {
  readonly limits: Pick<OutboxLimits, "lanesPerShopMax" | "lanesMax" | "lanesWantedMax">;
  /** Gives back the shop's effects that earlier processes have claimed. */
  readonly release: (shopId: string) => Statement;
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
  /** More lanes were due than are kept: when all of these have begun, the outbox is read again. */
  leftOut: boolean;
  /** When its oldest effect was added that was not settled at the latest reading. */
  oldestAtMs: number | null;
}

/** After lanes that have left nothing, the shop is looked at once more, in case a step has asked for further work. */
const laterPollMs = 1_000;

export class ShopLoops {
  readonly #options: ShopLoopsOptions;
  readonly #runner: JobRunner;
  readonly #loops = new Map<string, ShopLoop>();
  /** Shops that wait for a lane to become free, in the order in which they came. */
  readonly #waiting = new Set<string>();
  #lanesRunning = 0;

  constructor(options: ShopLoopsOptions) {
    this.#options = options;
    this.#runner = new JobRunner(options, {
      what: "follow-on work",
      runningMax: options.limits.lanesMax,
      table: dueEffects.table,
      release: options.release,
      run: (shopId) => this.#startDue(shopId),
    });
  }

  /** Aborted when nothing more begins. */
  get stopping(): AbortSignal {
    return this.#runner.stopping;
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
    this.#runner.wake(shopId);
  }

  /** Goes on with what earlier processes have left. Among other nodes, goes on searching for what they leave. */
  async begin(): Promise<void> {
    await this.#runner.start();
  }

  /** Begins nothing more, and waits for what is being read. */
  async stop(): Promise<void> {
    await this.#runner.close();
  }

  /**
   * Starts lanes to which this process has just added effects, as far as the bounds allow. Nothing is read for that.
   * Null: which lanes they are is looked up.
   */
  start(shopId: string, lanes: readonly string[] | null): void {
    if (this.stopping.aborted) return;
    const loop = this.#loopOf(shopId);
    loop.isOurs = true;
    if (lanes === null) {
      this.check(shopId);
      return;
    }
    loop.oldestAtMs ??= this.#options.clock.now();
    this.#startLanes(shopId, loop, lanes);
  }

  #loopOf(shopId: string): ShopLoop {
    const loop = this.#loops.get(shopId) ?? {
      running: new Map(),
      wanted: new Set(),
      isOurs: this.#options.search === null,
      leftOut: false,
      oldestAtMs: null,
    };
    this.#loops.set(shopId, loop);
    return loop;
  }

  /** @returns when the outbox is read again; null: not before something is added to it. */
  async #startDue(shopId: string): Promise<number | null> {
    const { clock, findDue } = this.#options;
    const loop = this.#loopOf(shopId);
    const due = await findDue(shopId, [...loop.running.keys()]).catch((error: unknown): null => {
      if (!isNotFound(error) && !this.stopping.aborted) throw error;
      return null;
    });
    if (due === null || this.stopping.aborted) return this.#forgetIfIdle(shopId, loop);
    loop.leftOut = due.leavesOut;
    loop.oldestAtMs = due.oldestAtMs;
    this.#startLanes(shopId, loop, due.lanes);
    const nextInMs = due.nextDueAtMs === null ? Number.POSITIVE_INFINITY : Math.max(1, due.nextDueAtMs - clock.now());
    const againInMs = loop.running.size > 0 ? Math.min(laterPollMs, nextInMs) : nextInMs;
    const checkInMs = due.isHeldUp ? Math.min(otherNodeCheckMs, againInMs) : againInMs;
    // Another node's shop is left alone until a search finds its work unclaimed.
    return Number.isFinite(checkInMs) && loop.isOurs ? clock.now() + checkInMs : this.#forgetIfIdle(shopId, loop);
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
    const { limits } = this.#options;
    if (this.stopping.aborted || loop.running.has(lane) || loop.running.size >= limits.lanesPerShopMax) return false;
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
      else {
        if (loop.running.size + loop.wanted.size === 0 && !this.#runner.remembers(shopId)) loop.oldestAtMs = null;
        // What is remembered may be the end of a lease that this lane has just given up.
        const dueAtMs = this.#options.clock.now() + laterPollMs;
        if (loop.isOurs) this.#runner.note({ shopId, dueAtMs });
        else this.#forgetIfIdle(shopId, loop);
      }
    }
  }

  #forgetIfIdle(shopId: string, loop: ShopLoop): null {
    if (loop.running.size + loop.wanted.size === 0 && this.#loops.get(shopId) === loop) this.#loops.delete(shopId);
    return null;
  }
}
