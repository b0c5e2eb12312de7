/**
 * Waiting for time to pass, and for work no longer than that. By the global timers, which the simulator replaces; those
 * of `node:timers/promises` it does not see.
 */

/** Resolves after so many milliseconds, or when the signal is aborted. */
export const sleep = (ms: number, signal: AbortSignal | null | undefined = null): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener("abort", end);
    if (signal?.aborted === true) end();
  });

/** Waits until the promise is settled or so much time has passed. @throws what the promise rejects with. */
export async function withinMs(promise: Promise<unknown>, ms: number): Promise<void> {
  const over = new AbortController();
  await Promise.race([promise, sleep(ms, over.signal)]).finally(() => over.abort());
}

/**
 * Waits for the promise unless the signal is aborted first.
 *
 * @param late  makes what is thrown then. The promise's own failure is nobody's by then.
 */
export async function unless<T>(signal: AbortSignal, promise: Promise<T>, late: () => Error): Promise<T> {
  const ended = Promise.withResolvers<never>();
  const end = (): void => ended.reject(late());
  signal.addEventListener("abort", end);
  if (signal.aborted) end();
  try {
    return await Promise.race([promise, ended.promise]);
  } finally {
    signal.removeEventListener("abort", end);
    promise.catch(() => {});
    ended.promise.catch(() => {});
  }
}

/**
 * Does work that has a time limit. Its signal is aborted at the limit, and as soon as `aborting` is. Work that writes
 * passes it on, so that it does not write later.
 *
 * @param late  makes what is thrown then; the work may have taken effect.
 */
export async function inTime<T>(
  ms: number,
  work: (signal: AbortSignal) => Promise<T>,
  late: () => Error,
  aborting: AbortSignal | null = null,
): Promise<T> {
  // Not `AbortSignal.any`: Node keeps such a signal, with everything that listens to it, for as long as one of its
  // sources lives (D381).
  const ending = new AbortController();
  const end = (): void => ending.abort();
  const timer = setTimeout(end, ms);
  aborting?.addEventListener("abort", end, { once: true });
  if (aborting?.aborted === true) end();
  try {
    return await unless(ending.signal, work(ending.signal), late);
  } finally {
    clearTimeout(timer);
    aborting?.removeEventListener("abort", end);
  }
}

/** A signal of this time limit, and of the other signal if there is one. */
export const limitedTo = (ms: number, signal: AbortSignal | undefined): AbortSignal =>
  signal === undefined ? AbortSignal.timeout(ms) : AbortSignal.any([AbortSignal.timeout(ms), signal]);
