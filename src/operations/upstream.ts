/**
 * Calls of the storefront that an operation makes itself, in the caller's time: none is waited for without end.
 */
import { StorefrontError } from "../storefront/storefront.ts";

/** How long one call of the storefront is waited for. */
const storefrontCallLimitMs = 10_000;

/**
 * Makes one call. `signal` is aborted when it is not waited for any more; a write passes it on, so that it is not made too late.
 *
 * @throws StorefrontError `timeout` at the limit; what was asked may have happened all the same.
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
