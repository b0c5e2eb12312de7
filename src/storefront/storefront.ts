/**
 * The port to the storefront platform (C47). No other code knows which platform stands behind it.
 *
 * Owns: the calls, one result per item, the error classes that say whether a write may have landed. Does not own: what to
 * push and when (core/storefront-plan.ts, outbox/runner.ts), nor persistence of references (the caller persists them first).
 *
 * Invariants:
 * - F1. On-hand is changed by deltas only, each call under a reference; the same reference again changes nothing and gives the
 *       first call's results again.
 * - F2. One result per item, in the order of the items; one bad item never fails its neighbours.
 * - F3. A call that throws says whether it may have landed (`landed`). Everything but `no` is repeated under the same reference.
 * - F4. Custom lines (`CSTM-…`) never reach a storefront. Costs arrive in the shop's currency.
 */
import type { Money, Quantity } from "../core/money.ts";

export type VariantState = "active" | "inactive" | "deleted" | "unsyncable";

export interface OnHandChange {
  readonly variantId: string;
  readonly locationId: string;
  readonly delta: Quantity;
}

export interface OnHandLevel {
  readonly variantId: string;
  readonly locationId: string;
  readonly onHand: Quantity;
}

/** `unknown`: this item may or may not have landed; ask again under the same reference. */
export type ItemResult =
  | { readonly outcome: "applied" }
  | { readonly outcome: "unchanged" }
  | { readonly outcome: "rejected"; readonly reason: string; readonly message: string }
  | { readonly outcome: "unknown"; readonly message: string };

/** Every write carries what makes it repeatable and traceable. */
export interface WriteContext {
  /** Persisted by the caller before the call. The same reference always comes with the same items. */
  readonly reference: string;
  /** What the change belongs to, for the platform's own history (`openpo://shops/demo/purchase-orders/po_…`). */
  readonly documentUri: string;
  /** Aborted when the caller waits no longer: a write that has not been made by then is not made any more. */
  readonly signal?: AbortSignal;
}

export class StorefrontError extends Error {
  override readonly name = "StorefrontError";
  readonly kind: "error" | "throttled" | "timeout" | "auth";
  /** Whether a write may have taken effect all the same. */
  readonly landed: "no" | "maybe";
  readonly retryAfterMs: number | null;

  constructor(
    kind: StorefrontError["kind"],
    message: string,
    options: { landed: "no" | "maybe"; retryAfterMs?: number; cause?: unknown },
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.kind = kind;
    this.landed = options.landed;
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}

/** The storefront of one shop. Every method rejects with `StorefrontError` only. Results stand in the order of the inputs. */
export interface Storefront {
  /** How each variant stands; an id the platform does not know is `deleted`. */
  checkVariants(variantIds: readonly string[]): Promise<VariantState[]>;
  /** Makes inactive variants active; `rejected` for deleted and unsyncable ones. */
  activateVariants(variantIds: readonly string[]): Promise<ItemResult[]>;
  changeOnHand(changes: readonly OnHandChange[], context: WriteContext): Promise<ItemResult[]>;
  /** What of this reference is readable at the storefront by now, item by item: the proof that a change landed. */
  readOnHand(
    changes: readonly OnHandChange[],
    context: WriteContext,
  ): Promise<{ readonly verified: boolean; readonly onHand: Quantity | null }[]>;
  /** Sets the incoming figure of each variant at the location. Naturally repeatable. */
  setIncoming(
    levels: readonly { readonly variantId: string; readonly locationId: string; readonly incoming: Quantity }[],
    context: WriteContext,
  ): Promise<ItemResult[]>;
  /** Sets unit costs, in the shop's currency. Naturally repeatable. */
  writeCosts(
    costs: readonly { readonly variantId: string; readonly unitCost: Money }[],
    context: WriteContext,
  ): Promise<ItemResult[]>;
  /** @returns null for a variant without a cost or that is not there. */
  readCosts(variantIds: readonly string[]): Promise<(Money | null)[]>;
  /** Adds or removes the tag of each variant's product; other tags are left alone. Naturally repeatable. */
  setTags(
    changes: readonly { readonly variantId: string; readonly tag: string; readonly present: boolean }[],
    context: WriteContext,
  ): Promise<ItemResult[]>;
}

/** Finds a shop's storefront by its kind and configuration. */
export type StorefrontOf = (shopId: string) => Promise<Storefront>;
