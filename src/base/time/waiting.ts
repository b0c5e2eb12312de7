/**
 * Waiting for time to pass, and for a promise no longer than that. By the global timers, which the simulator replaces;
 * those of `node:timers/promises` it does not see.
 */

/** Resolves after so many milliseconds, or when the signal is aborted. */
export const sleep = (ms: number, signal: AbortSignal | null = null): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener("abort", end);
  });

/** Waits until the promise is settled or so much time has passed. @throws what the promise rejects with. */
export async function withinMs(promise: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([promise, limit]);
  clearTimeout(timer);
}
