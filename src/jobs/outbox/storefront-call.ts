/**
 * One call of the storefront by a lane: within its time limit, and with every failure as a `StorefrontError` (O2).
 */
import type { SpanParent } from "../../base/spans.ts";
import type { ConnectedShop } from "../../core/storefront/storefront-config.ts";
import type { Clock } from "../../base/time/clock.ts";
import { inTime } from "../../base/time/waiting.ts";
import type { Log } from "../../store/store.ts";
import { type Storefront, StorefrontError, type StorefrontOf } from "../../storefront/storefront.ts";
import type { CallStep, Work } from "./step.ts";

interface StorefrontCallOptions {
  readonly storefrontOf: StorefrontOf;
  readonly clock: Clock;
  readonly log: Log;
  readonly timeLimitMs: number;
  /**
   * The lease holds until then, unless it is renewed meanwhile. No call begins later: another runner's newer figures
   * would be overwritten.
   */
  readonly beginByMs: () => number;
  /** The step that the call belongs to, for a tracer. */
  readonly parent: SpanParent | null;
  /** Ends calls that are under way, and prevents further ones: the lease is lost, or the service stops. */
  readonly aborting: AbortSignal;
}

/**
 * Makes the step's call at the storefront on which the shop was when the step was decided, and returns the change that
 * records its result. A call that exceeds the time limit may have taken effect.
 *
 * Never rejects: a failure is passed to the step.
 */
export async function callStorefront(
  options: StorefrontCallOptions,
  shop: ConnectedShop,
  step: CallStep,
): Promise<Work> {
  const { shopId } = shop;
  const { storefrontOf, clock, log, timeLimitMs, beginByMs, parent, aborting } = options;
  if (aborting.aborted)
    return step.failed(new StorefrontError("timeout", "the service is stopping, or was held up", { landed: "no" }));
  let storefront: Storefront;
  try {
    storefront = await storefrontOf(shop, parent);
  } catch (error) {
    return step.failed(storefrontErrorOf(log, shopId, error, "no"));
  }
  if (aborting.aborted || clock.now() >= beginByMs())
    return step.failed(new StorefrontError("timeout", "the service was too slow to make the call", { landed: "no" }));
  try {
    return await inTime(
      timeLimitMs,
      (signal) => step.call(storefront, signal),
      () => new StorefrontError("timeout", "the storefront did not answer in time", { landed: "maybe" }),
      aborting,
    );
  } catch (error) {
    return step.failed(storefrontErrorOf(log, shopId, error, "maybe"));
  }
}

/**
 * A storefront that throws anything but a `StorefrontError` has a bug. That is logged, and the effect is treated as any
 * failed one.
 */
function storefrontErrorOf(log: Log, shopId: string, error: unknown, landed: "no" | "maybe"): StorefrontError {
  if (error instanceof StorefrontError) return error;
  log.error({ shopId, err: error }, "the storefront threw an unexpected error");
  return new StorefrontError("error", "the storefront failed", { landed, cause: error });
}
