/**
 * Watches over `work` that must await nothing but its `Tx` (S5).
 *
 * A `Tx` of this engine answers within the same round of the event loop, unless it gives way (`excuse`). Work that has
 * not settled when the loop goes on has awaited something else. It fails as a bug, so that it does not hold up its
 * shop.
 */

/** Outcome of a piece of work. */
type Outcome<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: unknown };

export class WorkWatch {
  readonly #onStuck: () => Error;
  readonly #onRound: () => void;
  /** Work under way: for each, what makes it fail as stuck. */
  readonly #running = new Set<() => void>();
  #checkDue = false;
  /** Work under way has given way. */
  #isExcused = false;

  /**
   * @param onStuck makes the error that stuck work fails with.
   * @param onRound called when the event loop goes on after work was begun.
   */
  constructor(onStuck: () => Error, onRound: () => void) {
    this.#onStuck = onStuck;
    this.#onRound = onRound;
  }

  get idle(): boolean {
    return this.#running.size === 0;
  }

  /** Runs the work, and gives it up as stuck when it awaits more than its `Tx`. Never rejects. */
  run<T>(work: () => Promise<T>): Promise<Outcome<T>> {
    return new Promise((resolve) => {
      const settle = (outcome: Outcome<T>): void => {
        this.#running.delete(stuck);
        resolve(outcome);
      };
      const stuck = (): void => settle({ ok: false, error: this.#onStuck() });
      this.#running.add(stuck);
      this.#scheduleCheck();
      try {
        work().then(
          (value) => settle({ ok: true, value }),
          (error: unknown) => settle({ ok: false, error }),
        );
      } catch (error) {
        settle({ ok: false, error });
      }
    });
  }

  /** Waits; meanwhile nothing fails. */
  async excuse(until: Promise<void>): Promise<void> {
    this.#isExcused = true;
    try {
      await until;
    } finally {
      this.#isExcused = false;
      this.#scheduleCheck();
    }
  }

  /** Fails everything that has not settled. */
  failStuck(): void {
    if (this.#isExcused) return;
    for (const stuck of this.#running) stuck();
  }

  #scheduleCheck(): void {
    if (this.#checkDue) return;
    this.#checkDue = true;
    setImmediate(() => {
      this.#checkDue = false;
      this.#onRound();
      this.failStuck();
    });
  }
}
