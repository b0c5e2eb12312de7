/**
 * The time limit of storefront calls that an operation makes itself, while its caller waits.
 */
import { StorefrontError } from "../../storefront/storefront.ts";

/** Time limit of one call of the storefront. */
export const storefrontCallLimitMs = 10_000;

/**
 * Makes one call. `signal` is aborted at the limit; a call that writes passes it on, so that it does not write later.
 *
 * @throws StorefrontError `timeout` at the limit; the call may have taken effect.
 */
export async function withinLimit<T>(
  ask: (signal: AbortSignal) => Promise<T>,
  limitMs: number = storefrontCallLimitMs,
): Promise<T> {
  const givenUp = new AbortController();
  const limit = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    givenUp.abort();
    limit.reject(new StorefrontError("timeout", "the storefront did not answer in time", { landed: "maybe" }));
  }, limitMs);
  try {
    return await Promise.race([ask(givenUp.signal), limit.promise]);
  } finally {
    clearTimeout(timer);
  }
}
