/**
 * Rounds in which requests, and pieces of documents and files, start in the order of their arrival. After a round the
 * event loop goes on to what else is due.
 *
 * Without it, all requests that have arrived on any connection would run before anything is answered. Their answers
 * would pile up in memory, and commits, timers and refusals would wait for all of them.
 */

/** Time of a round, after which the event loop goes on to what else is due: sockets, timers, commits. */
export const roundMs = 10;

/** Times that connections are accepted between two such rounds: each time one of each listening socket. */
export const acceptsPerRoundMax = 32;

/**
 * Rounds of pieces of documents or files: a fifth of the time that requests have, since one request asks for several.
 */
export const pieceRounds = (): Rounds => new Rounds(roundMs / 5);

export class Rounds {
  /** Each with the time of its arrival. */
  readonly #waiting = new Map<() => void, number>();
  /** Null until something has started in this round; 0 while it is over and connections are accepted. */
  #endsAtMs: number | null = null;
  #hasAccepted = false;
  readonly #roundMs: number;

  constructor(ms = roundMs) {
    this.#roundMs = ms;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  oldestWaitMs(nowMs: number): number {
    for (const sinceMs of this.#waiting.values()) return nowMs - sinceMs;
    return 0;
  }

  /** A connection has been accepted: others may wait behind it. */
  accepted(): void {
    this.#hasAccepted = true;
  }

  /** Starts the request in this round if there is time left and nothing waits, else in a later one. */
  run(start: () => void): void {
    if (this.#waiting.size === 0 && this.#hasTime()) start();
    else this.#waiting.set(start, performance.now());
  }

  /** Resolves when it is this one's turn. */
  turn(): Promise<void> {
    return new Promise((resolve) => this.run(resolve));
  }

  /** A request that has not started will not start. */
  forget(start: () => void): void {
    this.#waiting.delete(start);
  }

  #hasTime(): boolean {
    if (this.#endsAtMs !== null) return performance.now() < this.#endsAtMs;
    this.#endsAtMs = performance.now() + this.#roundMs;
    setImmediate(() => this.#next(acceptsPerRoundMax));
    return true;
  }

  /**
   * Begins the next round when no connection is left to accept, or some have been accepted. Node accepts one connection
   * of a socket each time that the event loop goes on. Once for each round would leave a burst of connections in the
   * system's queue for seconds.
   */
  #next(accepts: number): void {
    if (this.#hasAccepted && accepts > 0) {
      this.#hasAccepted = false;
      this.#endsAtMs = 0;
      setImmediate(() => this.#next(accepts - 1));
      return;
    }
    this.#endsAtMs = null;
    this.#startWaiting();
  }

  #startWaiting(): void {
    const [start] = this.#waiting.keys();
    if (start === undefined || !this.#hasTime()) return;
    this.#waiting.delete(start);
    start();
    // What the request did without waiting for anything outside is over when the microtasks are.
    queueMicrotask(() => process.nextTick(() => this.#startWaiting()));
  }
}
