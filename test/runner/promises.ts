/**
 * Keeps the test runner from following every promise. It follows them to know the test of what runs, which took a quarter of the processor's time of a file
 * that runs the service in its own process. `test/run.ts` loads this before each test file; loaded later it has no effect.
 *
 * An error that nobody catches still fails its file, as one whose test is not known. A test that is declared after an `await` belongs to no suite, unless
 * promises are followed there.
 */
import asyncHooks, { type AsyncHook } from "node:async_hooks";

const { createHook } = asyncHooks;
const switched: { readonly all: AsyncHook; readonly withoutPromises: AsyncHook }[] = [];
let isFollowing = false;

/** Lets the runner follow promises from now on, or no longer. */
export function followPromises(isOn: boolean): void {
  isFollowing = isOn;
  for (const { all, withoutPromises } of switched) {
    // In this order: promises are no longer followed when the last hook is disabled, not when that of promises is.
    (isOn ? withoutPromises : all).disable();
    (isOn ? all : withoutPromises).enable();
  }
}

asyncHooks.createHook = (callbacks) => {
  const made = { all: createHook(callbacks), withoutPromises: createHook({ ...callbacks, trackPromises: false }) };
  return {
    enable() {
      switched.push(made);
      (isFollowing ? made.all : made.withoutPromises).enable();
      return this;
    },
    disable() {
      switched.splice(switched.indexOf(made), 1);
      made.all.disable();
      made.withoutPromises.disable();
      return this;
    },
  };
};
