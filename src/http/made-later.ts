/**
 * Values that take long to make and that the start does not need. They are made step by step when the service runs, or
 * at once for the first reader.
 */
import { sleep } from "../base/time/waiting.ts";

/** Makes the value at once. */
export function madeNow<T>(steps: Generator<void, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

export class MadeLater<T> {
  readonly #steps: () => Generator<void, T>;
  #made: { readonly value: T } | null = null;

  /** @param steps  each holds the event loop for a few milliseconds at most. */
  constructor(steps: () => Generator<void, T>) {
    this.#steps = steps;
  }

  get value(): T {
    this.#made ??= { value: madeNow(this.#steps()) };
    return this.#made.value;
  }

  /** Makes it, and lets the event loop go on after each step. */
  async prepare(): Promise<void> {
    const steps = this.#steps();
    while (this.#made === null) {
      const step = steps.next();
      if (step.done === true) this.#made = { value: step.value };
      else await sleep(0);
    }
  }
}
