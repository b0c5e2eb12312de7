/**
 * The port to the storefront platform (C47). No other code knows which platform a shop is on.
 *
 * Owns: the calls, one result per item, errors that say whether a write may have landed. Does not own: what to push and
 * when (core/storefront/stock-push.ts, core/storefront/cost-sync.ts, jobs/outbox/runner.ts), nor references (the caller
 * stores them before the call).
 *
 * Invariants:
 * - F1. On-hand is changed by deltas only, each call under a reference; repeating the reference changes nothing and
 *       returns the first call's results.
 * - F2. One result per item, in the order of the items; a bad item never fails the others.
 * - F3. A call that throws says whether it may have landed (`landed`). Unless it says `no`, the caller repeats it under
 *       the same reference.
 * - F4. Custom lines (`CSTM-…`) never reach a storefront. Costs arrive in the shop's currency.
 */
import type { Money, Quantity } from "../core/money/money.ts";
import { onOneLine } from "../base/text/plain-text.ts";
import type { SpanParent } from "../base/spans.ts";
import type { ConnectedShop } from "../core/storefront/storefront-config.ts";
import type { StorefrontPull } from "./pull.ts";

/** A variant's state at the platform. `unsyncable`: the platform keeps no stock of it. */
export type VariantState = "active" | "inactive" | "deleted" | "unsyncable";

/** A variant of a shop that keeps its stock itself. */
export interface OwnVariant {
  readonly variantId: string;
  readonly productId: string;
  readonly status: VariantState;
  readonly unitCost: Money | null;
}

/** A change of on-hand by `delta`, which may be negative. */
export interface OnHandChange {
  readonly variantId: string;
  readonly locationId: string;
  readonly delta: Quantity;
}

/** The changes as text, by which a repeated call under a reference is told from another one. */
export const itemsText = (changes: readonly OnHandChange[]): string =>
  JSON.stringify(changes.map(({ variantId, locationId, delta }) => [variantId, locationId, delta]));

/**
 * Outcome of one item of a write. `unchanged`: it was so already. `rejected`: repeating it changes nothing until its
 * cause is removed. `unknown`: it may or may not have landed; repeat it under the same reference.
 */
export type ItemResult =
  | { readonly outcome: "applied" }
  | { readonly outcome: "unchanged" }
  | { readonly outcome: "rejected"; readonly reason: string; readonly message: string }
  | { readonly outcome: "unknown"; readonly message: string };

/** An item that the storefront does not take. */
export type Rejected = Extract<ItemResult, { readonly outcome: "rejected" }>;

/** The result of an item whose variant the storefront does not have. */
export const notThere = (variantId: string): Rejected => ({
  outcome: "rejected",
  reason: "deleted",
  message: `variant ${variantId} is not at the storefront`,
});

/** The result of an item that an answer leaves out. */
export const notAnswered: ItemResult = {
  outcome: "unknown",
  message: "the storefront did not answer for this variant",
};

/**
 * Capabilities of a platform. What it cannot, its adapter answers item by item; nobody asks for the platform's name.
 */
export interface StorefrontCapabilities {
  /**
   * Way in which the platform changes on-hand stock. `delta`: it adds, so a sale between two calls is kept. `absolute`:
   * it sets, so the adapter has to notice what changed since it read.
   */
  readonly stockWrite: "delta" | "absolute";
  /** The platform counts whole pieces: a fractional quantity is rejected. */
  readonly wholeQuantitiesOnly: boolean;
  /** The platform has a place for incoming quantities; without one, `setIncoming` answers `unchanged`. */
  readonly incoming: boolean;
  /** Extent of an activation: the variant alone, or every variant of its product. */
  readonly activates: "variant" | "product";
}

/** Options of a read. */
export interface ReadContext {
  /** Aborted when the caller stops waiting: the platform is asked nothing more. */
  readonly signal?: AbortSignal;
}

/** Facts that make a write repeatable and traceable. */
export interface WriteContext {
  /** Stored by the caller before the call. The same reference always comes with the same items. */
  readonly reference: string;
  /** Owner of the change, for the platform's own history (`openpo://shops/demo/purchase-orders/po_…`). */
  readonly documentUri: string;
  /** The trace of the request that asked for it, for a platform that takes part in traces (header `traceparent`). */
  readonly traceparent?: string | null;
  /** Aborted when the caller stops waiting: a write that has not been made by then is not made afterwards. */
  readonly signal?: AbortSignal;
}

/** A call that failed as a whole. `auth`: the platform refuses the credentials, so repeating does not help. */
export class StorefrontError extends Error {
  override readonly name = "StorefrontError";
  readonly kind: "error" | "throttled" | "timeout" | "auth";
  /** Tells if a write may have taken effect although the call failed (F3). */
  readonly landed: "no" | "maybe";
  /** Wait that the platform asks for; null when it states none. */
  readonly retryAfterMs: number | null;

  constructor(
    kind: StorefrontError["kind"],
    message: string,
    options: { landed: "no" | "maybe"; retryAfterMs?: number; cause?: unknown },
  ) {
    // A platform's own words may be in it.
    super(onOneLine(message), options.cause === undefined ? undefined : { cause: options.cause });
    this.kind = kind;
    this.landed = options.landed;
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}

/**
 * The storefront of one shop. Every method rejects with `StorefrontError` only. Results come in the order of the inputs
 * (F2).
 */
export interface Storefront {
  readonly capabilities: StorefrontCapabilities;
  /** Absent: there is nothing to pull. */
  readonly pull?: StorefrontPull;
  /** Present where the shop keeps products and stock itself (C84). */
  readonly ownStock?: {
    /** Adds these variants, or replaces what is known of them. Levels and tags stay. */
    putVariants(variants: readonly OwnVariant[]): Promise<void>;
  };
  /** Reads the state of each variant; an id that the platform does not know is `deleted`. */
  checkVariants(variantIds: readonly string[], context?: ReadContext): Promise<VariantState[]>;
  /** Makes inactive variants active; rejects deleted and unsyncable ones. Repeating changes nothing. */
  activateVariants(variantIds: readonly string[], context?: ReadContext): Promise<ItemResult[]>;
  /** Changes on-hand by the deltas, once per reference (F1). */
  changeOnHand(changes: readonly OnHandChange[], context: WriteContext): Promise<ItemResult[]>;
  /**
   * Reads, item by item, whether the change under this reference is visible at the platform, and what is on hand there.
   */
  readOnHand(
    changes: readonly OnHandChange[],
    context: WriteContext,
  ): Promise<{ readonly verified: boolean; readonly onHand: Quantity | null }[]>;
  /** Sets the incoming figure of each variant at the location. Repeating changes nothing. */
  setIncoming(
    levels: readonly { readonly variantId: string; readonly locationId: string; readonly incoming: Quantity }[],
    context: WriteContext,
  ): Promise<ItemResult[]>;
  /** Sets unit costs, in the shop's currency. Repeating changes nothing. */
  writeCosts(
    costs: readonly { readonly variantId: string; readonly unitCost: Money }[],
    context: WriteContext,
  ): Promise<ItemResult[]>;
  /** Reads unit costs, in the shop's currency; null for a variant without a cost and for one that is not there. */
  readCosts(variantIds: readonly string[], context?: ReadContext): Promise<(Money | null)[]>;
  /** Adds or removes the tag of each variant's product; other tags stay. Repeating changes nothing. */
  setTags(
    changes: readonly { readonly variantId: string; readonly tag: string; readonly present: boolean }[],
    context: WriteContext,
  ): Promise<ItemResult[]>;
}

/**
 * Opens a shop's storefront, by the shop's storefront kind and configuration. Opening asks the platform nothing and
 * never fails: a storefront that cannot be opened refuses every call and says why.
 *
 * @param parent the step that its calls belong to, for a tracer.
 */
export type StorefrontOf = (shop: ConnectedShop, parent?: SpanParent | null) => Promise<Storefront>;

/** A storefront that cannot be opened: every call fails, without effect and saying why. */
export function unusableStorefront(why: string): Storefront {
  const refuse = (): Promise<never> => Promise.reject(new StorefrontError("auth", why, { landed: "no" }));
  return {
    capabilities: { stockWrite: "delta", wholeQuantitiesOnly: false, incoming: true, activates: "variant" },
    checkVariants: refuse,
    activateVariants: refuse,
    changeOnHand: refuse,
    readOnHand: refuse,
    setIncoming: refuse,
    writeCosts: refuse,
    readCosts: refuse,
    setTags: refuse,
  };
}
