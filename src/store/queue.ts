/**
 * The writes that wait for a shop's turn (S1, S6). The same for every engine: it stands before the adapter, so a hot shop waits
 * in its own line and not in what the shops share.
 *
 * Owns: the order of acceptance, the bounds in length and age, one turn at a time. Does not own: transactions, or what a write does.
 *
 * Invariants:
 * - Q1. Writes get their turn in the order in which they were added, in groups of at most `groupLengthMax`; the next turn starts
 *       when the one before has ended.
 * - Q2. At most `lengthMax` writes wait, none longer than `waitMsMax`. A refused one was never run.
 */
import { Fault } from "../core/fault.ts";
import type { Clock } from "./store.ts";

export interface QueueLimits {
  /** Writes that may wait in one shop's queue, the running group not counted. */
  readonly lengthMax: number;
  readonly waitMsMax: number;
}

export const defaultQueueLimits: QueueLimits = { lengthMax: 1_000, waitMsMax: 10_000 };

/** Nothing shorter is worth telling a caller. */
const retryAfterMsMin = 100;

/** A write that can be told that it will not be run. */
export interface QueuedWrite {
  refuse(fault: Fault): void;
}

export interface ShopQueueOptions<Write extends QueuedWrite> {
  readonly limits: QueueLimits;
  readonly groupLengthMax: number;
  readonly clock: Clock;
  /** Runs one group; settles when the next may start. Never rejects: what goes wrong is told to the writes. */
  readonly turn: (group: readonly Write[]) => Promise<void>;
}

export class ShopQueue<Write extends QueuedWrite> {
  readonly #options: ShopQueueOptions<Write>;
  #waiting: { readonly write: Write; readonly acceptedAtMs: number }[] = [];
  #running = false;
  #expiry: ReturnType<typeof setTimeout> | null = null;
  /** How long the write whose turn came last had waited. */
  #lastWaitMs = 0;
  #idleWaiters: (() => void)[] = [];

  constructor(options: ShopQueueOptions<Write>) {
    this.#options = options;
  }

  /** Nothing waits and nothing runs. */
  get idle(): boolean {
    return !this.#running && this.#waiting.length === 0;
  }

  /** @throws Fault DO_OVERLOADED when as many writes wait as may. */
  admit(): void {
    if (this.#waiting.length >= this.#options.limits.lengthMax) throw this.#overloaded("has too many changes waiting");
  }

  /**
   * Puts a write at the end of the line. Its turn comes with whatever else is waiting by the end of this round of the event
   * loop: changes that arrive together are committed together.
   *
   * @throws Fault DO_OVERLOADED when as many writes wait as may.
   */
  add(write: Write): void {
    this.admit();
    this.#waiting.push({ write, acceptedAtMs: this.#options.clock.now() });
    if (this.#running) return;
    this.#running = true;
    setImmediate(() => void this.#run());
  }

  /** Refuses everything that waits. */
  refuseAll(fault: Fault): void {
    for (const { write } of this.#waiting.splice(0)) write.refuse(fault);
  }

  /** Resolves when nothing waits and nothing runs. */
  async untilIdle(): Promise<void> {
    if (this.idle) return;
    await new Promise<void>((resolve) => {
      this.#idleWaiters.push(resolve);
    });
  }

  async #run(): Promise<void> {
    this.#refuseLate();
    const group = this.#waiting.splice(0, this.#options.groupLengthMax);
    if (group.length > 0) {
      const latest = group[group.length - 1];
      if (latest !== undefined) this.#lastWaitMs = Math.max(0, this.#options.clock.now() - latest.acceptedAtMs);
      // What is left must not wait for ever behind a turn that takes long.
      this.#armExpiry();
      await this.#options.turn(group.map((entry) => entry.write));
    }
    if (this.#waiting.length > 0) {
      setImmediate(() => void this.#run());
      return;
    }
    this.#running = false;
    for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }

  /** One timer a busy shop, not one a write: it looks at the head of the line and comes back when that will be late. */
  #armExpiry(): void {
    if (this.#expiry !== null) return;
    const head = this.#waiting[0];
    const { clock, limits } = this.#options;
    const dueMs = head === undefined ? limits.waitMsMax : head.acceptedAtMs + limits.waitMsMax - clock.now();
    this.#expiry = setTimeout(
      () => {
        this.#expiry = null;
        this.#refuseLate();
        if (this.#running) this.#armExpiry();
      },
      Math.max(1, dueMs),
    );
    this.#expiry.unref();
  }

  #refuseLate(): void {
    const latestAcceptedMs = this.#options.clock.now() - this.#options.limits.waitMsMax;
    const firstInTime = this.#waiting.findIndex((entry) => entry.acceptedAtMs > latestAcceptedMs);
    const refused = this.#waiting.splice(0, firstInTime === -1 ? this.#waiting.length : firstInTime);
    for (const { write } of refused) write.refuse(this.#overloaded("did not get to this change in time"));
  }

  /** As long as the latest turn had to be waited for, or as the head of the line is waiting now, whichever is more. */
  #overloaded(what: string): Fault {
    const { clock, limits } = this.#options;
    const headWaitMs = clock.now() - (this.#waiting[0]?.acceptedAtMs ?? clock.now());
    const waitMs = Math.max(this.#lastWaitMs, headWaitMs, retryAfterMsMin);
    return new Fault("DO_OVERLOADED", `This shop ${what}; nothing was changed.`, {
      action: "Wait, then send the same request again; send fewer requests in parallel.",
      retryAfterMs: Math.min(Math.ceil(waitMs), limits.waitMsMax),
    });
  }
}
