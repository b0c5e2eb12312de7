/**
 * The queue of writes that wait for a shop's turn (S1, S6). It is the same for every engine and stands in front of it.
 * A busy shop waits in its own queue and not in resources that shops share.
 *
 * Owns: the order of acceptance, the limits on length and age, one turn at a time. Does not own: transactions, what a
 * write does.
 *
 * Invariants:
 * - Q1. Writes get their turn in the order in which they were added, in groups of at most `groupLengthMax`. A turn
 *       starts when the one before it has ended. It may leave writes at the end of its group to the next, so that it
 *       does not hold the event loop.
 * - Q2. At most `lengthMax` writes wait, none longer than `waitMsMax`. A refused write was never run. Setting the time
 *   of day refuses none.
 */
import { Fault } from "../base/fault.ts";
import type { Tx } from "./store.ts";

export interface QueueLimits {
  /** Writes that may wait in one shop's queue, the running group not counted. */
  readonly lengthMax: number;
  readonly waitMsMax: number;
}

export const defaultQueueLimits: QueueLimits = { lengthMax: 1_000, waitMsMax: 10_000 };

/** The shortest wait that a refusal names. */
const suggestedWaitMsMin = 100;

/** Writes that wait in all queues that share it. */
export interface QueueDepth {
  waiting: number;
}

/** A write that can be refused before it runs. */
interface QueuedWrite {
  refuse(fault: Fault): void;
}

/** An engine's write in the queue. */
export interface PendingWrite extends QueuedWrite {
  readonly durable: boolean;
  /** Runs the work; never rejects. `keep`: it succeeded. `settle` resolves or rejects the caller's promise. */
  run(tx: Tx): Promise<{ readonly keep: boolean; readonly settle: () => void }>;
  refuse(error: unknown): void;
}

interface ShopQueueOptions<Write extends QueuedWrite> {
  readonly limits: QueueLimits;
  readonly groupLengthMax: number;
  /** Milliseconds that go on evenly, whatever the time of day is set to. Default: those of the process. */
  readonly elapsedMs?: () => number;
  /**
   * Runs one group and settles when the next may start. Never rejects: each write gets its own error.
   *
   * @returns how many writes it has left, at the end of the group. They stay first in the queue.
   */
  readonly turn: (group: readonly Write[]) => Promise<number>;
  /** Counts the queue's waiting writes among those of others. */
  readonly depth?: QueueDepth | undefined;
  /**
   * Null: the next turn may begin at once. Otherwise resolves when it may (Q5). Default: always at once.
   *
   * @param waitedMs  how long the oldest write has waited.
   */
  readonly gate?: (waitedMs: number) => Promise<void> | null;
}

export class ShopQueue<Write extends QueuedWrite> {
  readonly #options: ShopQueueOptions<Write>;
  readonly #depth: QueueDepth;
  readonly #elapsedMs: () => number;
  #waiting: { readonly write: Write; readonly acceptedAtMs: number }[] = [];
  #running = false;
  #expiry: ReturnType<typeof setTimeout> | null = null;
  /** Time for which the last write of the latest group had waited. */
  #lastWaitMs = 0;
  #idleWaiters: (() => void)[] = [];

  constructor(options: ShopQueueOptions<Write>) {
    this.#options = options;
    this.#depth = options.depth ?? { waiting: 0 };
    this.#elapsedMs = options.elapsedMs ?? (() => performance.now());
  }

  /** Nothing waits and nothing runs. */
  get idle(): boolean {
    return !this.#running && this.#waiting.length === 0;
  }

  /** Checks that there is room for a write. @throws Fault DO_OVERLOADED when `lengthMax` writes wait. */
  admit(): void {
    if (this.#waiting.length >= this.#options.limits.lengthMax) throw this.#overloaded("has too many changes waiting");
  }

  /**
   * Puts a write at the end of the queue. If no turn runs, one starts at the end of this round of the event loop, with
   * every write that waits by then. So writes that come together are committed together.
   *
   * @throws Fault DO_OVERLOADED when `lengthMax` writes wait.
   */
  add(write: Write): void {
    this.admit();
    this.#waiting.push({ write, acceptedAtMs: this.#elapsedMs() });
    this.#depth.waiting += 1;
    if (this.#running) return;
    this.#running = true;
    setImmediate(() => void this.#run());
  }

  /** Refuses everything that waits. */
  refuseAll(fault: Fault): void {
    for (const { write } of this.#take(this.#waiting.length)) write.refuse(fault);
  }

  /** Resolves when nothing waits and nothing runs. */
  async untilIdle(): Promise<void> {
    if (this.idle) return;
    await new Promise<void>((resolve) => {
      this.#idleWaiters.push(resolve);
    });
  }

  /** Removes the first of those that wait, as many as there are up to `count`. */
  #take(count: number): readonly { readonly write: Write; readonly acceptedAtMs: number }[] {
    const taken = this.#waiting.splice(0, count);
    this.#depth.waiting -= taken.length;
    return taken;
  }

  async #run(): Promise<void> {
    const waitedMs = this.#oldestWaitMs;
    // A shop gives way to no other then, so that giving way makes no write expire.
    const isHurried = waitedMs > this.#options.limits.waitMsMax / 2;
    const gate = isHurried ? null : (this.#options.gate?.(waitedMs) ?? null);
    if (gate !== null) {
      this.#armExpiry();
      await gate;
    }
    this.#refuseExpired();
    const group = this.#take(this.#options.groupLengthMax);
    if (group.length > 0) {
      const last = group[group.length - 1];
      if (last !== undefined) this.#lastWaitMs = this.#elapsedMs() - last.acceptedAtMs;
      // The writes that still wait must be refused in time even if this turn takes long.
      this.#armExpiry();
      const left = await this.#options.turn(group.map((entry) => entry.write));
      if (left > 0) {
        this.#waiting.unshift(...group.slice(-left));
        this.#depth.waiting += left;
      }
    }
    if (this.#waiting.length > 0) {
      setImmediate(() => void this.#run());
      return;
    }
    this.#running = false;
    for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }

  /** Time for which the oldest waiting write has waited; 0 when none waits. */
  get #oldestWaitMs(): number {
    const [oldest] = this.#waiting;
    return oldest === undefined ? 0 : this.#elapsedMs() - oldest.acceptedAtMs;
  }

  /** One timer per busy shop, not one per write: it is set for the moment at which the oldest write expires. */
  #armExpiry(): void {
    if (this.#expiry !== null) return;
    const oldest = this.#waiting[0];
    const { limits } = this.#options;
    const dueMs = oldest === undefined ? limits.waitMsMax : oldest.acceptedAtMs + limits.waitMsMax - this.#elapsedMs();
    this.#expiry = setTimeout(
      () => {
        this.#expiry = null;
        this.#refuseExpired();
        if (this.#running) this.#armExpiry();
      },
      Math.max(1, dueMs),
    );
    this.#expiry.unref();
  }

  #refuseExpired(): void {
    const latestAcceptedMs = this.#elapsedMs() - this.#options.limits.waitMsMax;
    const firstInTime = this.#waiting.findIndex((entry) => entry.acceptedAtMs > latestAcceptedMs);
    const refused = this.#take(firstInTime === -1 ? this.#waiting.length : firstInTime);
    for (const { write } of refused) write.refuse(this.#overloaded("did not get to this change in time"));
  }

  /** The refusal names the wait of the latest group or of the oldest waiting write, whichever is longer. */
  #overloaded(what: string): Fault {
    const { limits } = this.#options;
    const waitMs = Math.max(this.#lastWaitMs, this.#oldestWaitMs, suggestedWaitMsMin);
    return new Fault("DO_OVERLOADED", `This shop ${what}; nothing was changed.`, {
      action: "Wait, then send the same request again; send fewer requests in parallel.",
      retryAfterMs: Math.min(Math.ceil(waitMs), limits.waitMsMax),
    });
  }
}
