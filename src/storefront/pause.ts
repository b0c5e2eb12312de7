/** A wait before a call of a platform that limits how often it is asked. */
import { sleep } from "../base/time/waiting.ts";
import { StorefrontError } from "./storefront.ts";

/** The shortest pause after a call that was throttled, however soon the platform takes calls again. */
export const throttledPauseMsMin = 200;

/** A pause that is longer is not waited for here: the call fails, and says when it may be repeated. */
export const throttledPauseMsMax = 5_000;

/** Times that a throttled call is sent. Each time it waits first, so more than two are rare. */
const throttledSendsMax = 5;

/** Returns the wait of all calls of the platform after one that failed, which is then sent again; null: it is not. */
export function pauseAfter(error: unknown, sends: number): number | null {
  if (!(error instanceof StorefrontError) || error.kind !== "throttled" || sends >= throttledSendsMax) return null;
  const pauseMs = Math.max(throttledPauseMsMin, error.retryAfterMs ?? 0);
  return pauseMs > throttledPauseMsMax ? null : pauseMs;
}

/** Sends a call, again while the platform takes no more, as long as somebody waits. @throws StorefrontError */
export async function sendPausing<T>(
  platform: string,
  signal: AbortSignal | undefined,
  send: () => Promise<T>,
): Promise<T> {
  for (let sends = 1; ; sends += 1)
    try {
      return await send();
    } catch (error) {
      const pauseMs = pauseAfter(error, sends);
      if (pauseMs === null) throw error;
      await pauseFor(pauseMs, signal, platform);
    }
}

/** Time limit of the check of a store that is to be connected, with its pauses. */
export const checkMsMax = 20_000;

/** The caller has given up before there was room for the call. */
export const noRoomInTime = (platform: string): StorefrontError =>
  new StorefrontError("timeout", `${platform}'s rate limit did not leave room for the call in time`, { landed: "no" });

/**
 * Waits so long, or until nobody waits any more.
 *
 * @param platform  its name, for the error's text.
 * @throws StorefrontError when the caller has given up.
 */
export async function pauseFor(ms: number, signal: AbortSignal | undefined, platform: string): Promise<void> {
  await sleep(ms, signal);
  if (signal?.aborted === true) throw noRoomInTime(platform);
}
