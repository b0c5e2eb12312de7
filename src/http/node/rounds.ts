/**
 * When requests start: in the order of their arrival, and for at most `roundMs` before the event loop goes on to what else is due.
 *
 * Without it, all requests that have arrived on any connection would run before anything is answered: their answers would pile up in
 * memory, and commits, timers and refusals would wait for all of them.
 */
import { roundMs } from "../../core/limits.ts";

export class Rounds {
  /** Each with the time of its arrival. */
  readonly #waiting = new Map<() => void, number>();
  /** Null until something has started in this round. */
  #endsAtMs: number | null = null;
  #isShort = false;

  get waiting(): number {
    return this.#waiting.size;
  }

  oldestWaitMs(nowMs: number): number {
    for (const sinceMs of this.#waiting.values()) return nowMs - sinceMs;
    return 0;
  }

  /**
   * Ends this round when one request has started in it, because a connection has arrived. The event loop accepts one connection each time
   * that it goes on, so with full rounds a burst of connections would wait in the system's queue for up to a minute.
   */
  shorten(): void {
    this.#isShort = true;
    if (this.#endsAtMs !== null) this.#endsAtMs = 0;
  }

  /** Starts the request in this round if there is time left and nothing waits, else in a later one. */
  run(start: () => void): void {
    if (this.#waiting.size === 0 && this.#hasTime()) start();
    else this.#waiting.set(start, performance.now());
  }

  /** A request that has not started will not start. */
  forget(start: () => void): void {
    this.#waiting.delete(start);
  }

  #hasTime(): boolean {
    if (this.#endsAtMs !== null) return performance.now() < this.#endsAtMs;
    this.#endsAtMs = this.#isShort ? 0 : performance.now() + roundMs;
    this.#isShort = false;
    setImmediate(() => {
      this.#endsAtMs = null;
      this.#startWaiting();
    });
    return true;
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
