/**
 * The time limit of storefront calls that an operation makes itself, while its caller waits.
 */
import { inTime } from "../../base/time/waiting.ts";
import { StorefrontError } from "../../storefront/storefront.ts";

/** Time limit of one call of the storefront. */
export const storefrontCallLimitMs = 10_000;

/**
 * Makes one call. `signal` is aborted at the limit; a call that writes passes it on, so that it does not write later.
 *
 * @throws StorefrontError `timeout` at the limit; the call may have taken effect.
 */
export const withinLimit = <T>(
  ask: (signal: AbortSignal) => Promise<T>,
  limitMs: number = storefrontCallLimitMs,
): Promise<T> =>
  inTime(
    limitMs,
    ask,
    () => new StorefrontError("timeout", "the storefront did not answer in time", { landed: "maybe" }),
  );
