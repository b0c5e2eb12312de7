/** A wait before a call of a platform that limits how often it is asked. */
import { StorefrontError } from "./storefront.ts";

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
  if (signal?.aborted === true) throw noRoomInTime(platform);
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    const stop = (): void => {
      clearTimeout(timer);
      reject(noRoomInTime(platform));
    };
    signal?.addEventListener("abort", stop, { once: true });
  });
}
