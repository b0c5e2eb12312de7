/**
 * Sharing of the event loop: a shop that has held it for long gives way to the others before its next step.
 *
 * A step is work that runs while the loop does not go on: a group of writes, a read's statements, a body made into
 * values. Who runs a step reports how long it took (`held`) and asks before the next one (`waitForShare`).
 *
 * Owns: what each shop owes, and which waiting step begins next. Does not own: the steps, and limits on what waits
 * (queue.ts).
 *
 * Invariants:
 * - Q5. A shop owes the time for which it has held the loop, less the time that has passed since. One that owes more
 *       than `loopFreeMs` begins no step while a request of a shop that owes less is under way. Its debt has a limit,
 *       so no step waits for longer than `loopDebtMsMax`, and nothing is refused.
 * - Q6. When steps have held the loop for `loopFreeMs`, the next begins after the loop has gone on. That holds also
 *       when many shops that owe nothing want one each. Those of shops that owe little begin in the order in which they
 *       were asked for, then one of the shop that owes least.
 * - Q7. Groups of writes that give way to reads (`waitAfterReads`) begin one after another. Each begins when the loop
 *       has gone on twice since the one before: it has taken in new requests, and has done their work. So a read that
 *       takes no more than that waits for one group.
 */

/** Time of the event loop that a shop may owe the others before it gives way to their requests. */
export const loopFreeMs = 10;

/** The most that a shop owes the others: the longest that its next step waits. */
export const loopDebtMsMax = 250;

/** For so long after its arrival a request counts as one beside which a shop's writes run. */
export const besideMs = 1_000;

/** Who asks for something beside a shop's own writes. */
export type Beside = "reads" | "other shops" | "nobody";

interface Share {
  /** As of `atMs`; time pays it back. */
  debtMs: number;
  atMs: number;
  /** Requests that are under way. */
  requests: number;
  /** Steps that wait, in the order in which they were asked for. */
  readonly waiting: (() => void)[];
}

/** Time and rounds, so that a test can drive them. */
interface LoopTime {
  now(): number;
  /** Calls back when the event loop goes on; the second time in a row, it has taken in what has arrived. */
  nextRound(callback: () => void): void;
  after(ms: number, callback: () => void): void;
}

/** Late steps that are begun in a round if there is time. */
const lateStepsMax = 64;

const loopTime: LoopTime = {
  now: () => performance.now(),
  nextRound: (callback) => void setImmediate(callback),
  after: (ms, callback) => void setTimeout(callback, ms),
};

export class LoopShare {
  readonly #time: LoopTime;
  /** Shops that owe something, have requests under way or wait. */
  readonly #shares = new Map<string, Share>();
  /** Requests that belong to no shop, such as health checks. */
  #nobodysRequests = 0;
  /** When the latest request came, or this began. */
  #arrivedAtMs: number;
  /** When the latest request that reads came, of any shop or of nobody. */
  #readAtMs = -Infinity;
  /**
   * The shop whose request came last, and when the latest one came that was not of the same shop as the one before it.
   */
  #latest: { readonly shopId: string | null; readonly sinceMs: number } = { shopId: null, sinceMs: -Infinity };
  /** Steps of shops that owe. */
  #waiting = 0;
  /** Steps of shops that owe little, which wait for the next round. */
  readonly #late: (() => void)[] = [];
  /** Groups of writes that wait for the reads that came during the one before. */
  readonly #groups: (() => void)[] = [];
  /** One of them is about to begin, or the loop has not gone on twice since one did. */
  #groupsWait = false;
  #waitedTotal = 0;
  /** Time for which steps have held the loop in this round. */
  #heldMs = 0;
  #roundDue = false;
  #releaseDue = false;
  /** When the waiting shop that owes least will owe no more than `loopFreeMs`; null when no timer is set. */
  #timerAtMs: number | null = null;

  constructor(time: LoopTime = loopTime) {
    this.#time = time;
    this.#arrivedAtMs = time.now();
  }

  /** For how long no request has come. */
  get quietMs(): number {
    return this.#time.now() - this.#arrivedAtMs;
  }

  /** Who has asked for something of late (`besideMs`) other than a change of this shop. */
  besideWritesOf(shopId: string): Beside {
    const sinceMs = this.#time.now() - besideMs;
    if (this.#readAtMs > sinceMs) return "reads";
    return this.#latest.shopId === shopId && this.#latest.sinceMs <= sinceMs ? "nobody" : "other shops";
  }

  /** The time that steps are measured in. */
  now(): number {
    return this.#time.now();
  }

  /** Steps that have waited. */
  get waitedTotal(): number {
    return this.#waitedTotal;
  }

  /**
   * A request is under way until the returned function is called.
   *
   * @param shopId  null for one that belongs to no shop.
   * @param reads   it changes nothing.
   */
  admit(shopId: string | null, reads = true): () => void {
    this.#arrivedAtMs = this.#time.now();
    if (reads) this.#readAtMs = this.#arrivedAtMs;
    if (shopId !== this.#latest.shopId) this.#latest = { shopId, sinceMs: this.#arrivedAtMs };
    if (shopId === null) this.#nobodysRequests += 1;
    else this.#share(shopId).requests += 1;
    return () => {
      if (shopId === null) this.#nobodysRequests -= 1;
      else {
        const share = this.#share(shopId);
        share.requests -= 1;
        this.#forgetIdle(shopId, share);
      }
      this.#releaseSoon();
    };
  }

  /** Null: the shop's next step may begin at once. Otherwise resolves when it may. */
  waitForShare(shopId: string): Promise<void> | null {
    const share = this.#shares.get(shopId);
    const isFull = this.#heldMs >= loopFreeMs;
    if (share === undefined || this.#debtOf(share) <= loopFreeMs) {
      if (!isFull && this.#late.length === 0) return null;
      return new Promise((resolve) => {
        this.#late.push(resolve);
        this.#roundSoon();
      });
    }
    if (this.#waiting === 0 && !isFull && this.#mayBegin(share)) return null;
    this.#waiting += 1;
    this.#waitedTotal += 1;
    return new Promise((resolve) => {
      share.waiting.push(resolve);
      this.#releaseSoon();
      this.#releaseAfter(this.#debtOf(share) - loopFreeMs);
    });
  }

  /** The same for a group of writes that gives way to reads (Q7). */
  async waitAfterReads(shopId: string): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#groups.push(resolve);
      if (this.#groupsWait) return;
      this.#groupsWait = true;
      this.#time.nextRound(() => this.#beginGroup());
    });
    await this.waitForShare(shopId);
  }

  #beginGroup(): void {
    const begin = this.#groups.shift();
    this.#groupsWait = begin !== undefined;
    if (begin === undefined) return;
    begin();
    this.#time.nextRound(() => this.#time.nextRound(() => this.#beginGroup()));
  }

  /** A step of the shop has taken so long. */
  held(shopId: string, ms: number): void {
    const share = this.#share(shopId);
    const nowMs = this.#time.now();
    // The time of the step itself pays nothing back.
    const passedMs = Math.max(0, nowMs - share.atMs - ms);
    share.debtMs = Math.min(Math.max(0, share.debtMs - passedMs) + ms, loopDebtMsMax);
    share.atMs = nowMs;
    this.#heldMs += ms;
    this.#roundSoon();
  }

  /** Runs a step that waits for nothing, and counts its time. */
  run<T>(shopId: string, step: () => T): T {
    const startedAtMs = this.#time.now();
    try {
      return step();
    } finally {
      this.held(shopId, this.#time.now() - startedAtMs);
    }
  }

  /**
   * The same for a step whose promise settles within the round of the loop, or that gives way in between.
   *
   * @param step is given what ends a part of it. That returns null when the next may begin at once; else it resolves
   *             when that may.
   */
  async holding<T>(shopId: string, step: (giveWay: () => Promise<void> | null) => Promise<T>): Promise<T> {
    let startedAtMs = this.#time.now();
    const endPart = (): void => {
      this.held(shopId, this.#time.now() - startedAtMs);
      startedAtMs = this.#time.now();
    };
    const beginNext = async (turn: Promise<void>): Promise<void> => {
      await turn;
      startedAtMs = this.#time.now();
    };
    const giveWay = (): Promise<void> | null => {
      endPart();
      const turn = this.waitForShare(shopId);
      return turn === null ? null : beginNext(turn);
    };
    try {
      return await step(giveWay);
    } finally {
      endPart();
    }
  }

  #share(shopId: string): Share {
    const found = this.#shares.get(shopId);
    if (found !== undefined) return found;
    const share: Share = { debtMs: 0, atMs: this.#time.now(), requests: 0, waiting: [] };
    this.#shares.set(shopId, share);
    return share;
  }

  #forgetIdle(shopId: string, share: Share): void {
    if (share.requests === 0 && share.waiting.length === 0 && this.#debtOf(share) <= loopFreeMs)
      this.#shares.delete(shopId);
  }

  #debtOf({ debtMs, atMs }: Share): number {
    return Math.max(0, debtMs - Math.max(0, this.#time.now() - atMs));
  }

  /** No request of a shop that owes less is under way, or the shop's own debt is paid (Q5). */
  #mayBegin(share: Share): boolean {
    const debtMs = this.#debtOf(share);
    if (debtMs <= loopFreeMs) return true;
    if (this.#nobodysRequests > 0) return false;
    for (const other of this.#shares.values())
      if (other !== share && other.requests > 0 && this.#debtOf(other) < debtMs) return false;
    return true;
  }

  /** Begins a new count of what holds the loop, and after that the steps that wait for it. */
  #roundSoon(): void {
    if (this.#roundDue) return;
    this.#roundDue = true;
    this.#time.nextRound(() => {
      this.#roundDue = false;
      const isQuiet = this.#heldMs < loopFreeMs && this.#late.length === 0;
      this.#heldMs = 0;
      // Each in a callback of its own: while a read of a shop is half done, a group of its writes must not begin.
      for (let index = 0; index < Math.min(this.#late.length, lateStepsMax); index += 1)
        this.#time.nextRound(() => this.#beginLate(index === 0));
      if (isQuiet && this.#releaseDue) {
        this.#releaseDue = false;
        this.#release();
      }
      if (this.#late.length > 0 || this.#releaseDue) this.#roundSoon();
    });
  }

  /** The first begins in any case, so that work that never waits for its turn stops nobody. */
  #beginLate(isFirst: boolean): void {
    if (isFirst || this.#heldMs < loopFreeMs) this.#late.shift()?.();
  }

  #releaseSoon(): void {
    if (this.#waiting === 0) return;
    this.#releaseDue = true;
    this.#roundSoon();
  }

  /** Lets the step begin whose shop owes least, if it may (Q6). */
  #release(): void {
    let next: { readonly shopId: string; readonly share: Share; readonly debtMs: number } | null = null;
    for (const [shopId, share] of this.#shares) {
      const debtMs = this.#debtOf(share);
      if (share.waiting.length > 0 && (next === null || debtMs < next.debtMs)) next = { shopId, share, debtMs };
      // What nobody asks for any more is dropped here too.
      else this.#forgetIdle(shopId, share);
    }
    if (next === null) return;
    const { share, debtMs } = next;
    if (!this.#mayBegin(share)) {
      this.#releaseAfter(debtMs - loopFreeMs);
      return;
    }
    this.#waiting -= 1;
    share.waiting.shift()?.();
    this.#releaseSoon();
  }

  /**
   * The next step of each shop that has paid its debt waits with those of shops that owe little, whatever goes on in
   * the loop.
   */
  #promotePaid(): void {
    for (const share of this.#shares.values()) {
      const [step] = share.waiting;
      if (step === undefined) continue;
      const debtMs = this.#debtOf(share);
      if (debtMs <= loopFreeMs) {
        share.waiting.shift();
        this.#waiting -= 1;
        this.#late.push(step);
        this.#roundSoon();
      }
      if (share.waiting.length > 0) this.#releaseAfter(Math.max(debtMs - loopFreeMs, 1));
    }
  }

  #releaseAfter(ms: number): void {
    // Time has passed since the caller has reckoned.
    const waitMs = Math.max(0, Math.ceil(ms));
    const atMs = this.#time.now() + waitMs;
    if (this.#timerAtMs !== null && this.#timerAtMs <= atMs) return;
    this.#timerAtMs = atMs;
    this.#time.after(waitMs, () => {
      if (this.#timerAtMs === atMs) this.#timerAtMs = null;
      this.#promotePaid();
      this.#releaseSoon();
    });
  }
}
