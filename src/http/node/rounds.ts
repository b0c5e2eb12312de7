/**
 * When requests start: in the order of their arrival, and for at most `roundMs` before the event loop goes on to what else is due.
 *
 * Without it, all requests that have arrived on any connection would run before anything is answered: their answers would pile up in
 * memory, and commits, timers and refusals would wait for all of them.
 */
import { roundMs } from "../../core/limits.ts";

export class Rounds {
  readonly #waiting = new Set<() => void>();
  /** Null until something has started in this round. */
  #endsAtMs: number | null = null;

  /** Starts the request in this round if there is time left and nothing waits, else in a later one. */
  run(start: () => void): void {
    if (this.#waiting.size === 0 && this.#hasTime()) start();
    else this.#waiting.add(start);
  }

  /** A request that has not started will not start. */
  forget(start: () => void): void {
    this.#waiting.delete(start);
  }

  #hasTime(): boolean {
    if (this.#endsAtMs !== null) return performance.now() < this.#endsAtMs;
    this.#endsAtMs = performance.now() + roundMs;
    setImmediate(() => {
      this.#endsAtMs = null;
      this.#startWaiting();
    });
    return true;
  }

  #startWaiting(): void {
    const [start] = this.#waiting;
    if (start === undefined || !this.#hasTime()) return;
    this.#waiting.delete(start);
    start();
    // What the request did without waiting for anything outside is over when the microtasks are.
    queueMicrotask(() => process.nextTick(() => this.#startWaiting()));
  }
}
