/**
 * What the storefront has to do with an order: the inventory guard's verdict, what to push, what a cost becomes, which products
 * carry the on-order tag. Pure: facts from outside come as arguments, and what is planned here is done by the shop's outbox or
 * by the operation that asked.
 */
import { unchanged } from "./decision.ts";
import type { Effect } from "./effect.ts";
import { Fault, type GuardDetail } from "./fault.ts";
import { isCustom } from "./lines.ts";
import {
  asMoney,
  asQuantity,
  divideHalfUp,
  type FxRate,
  type Money,
  moneyDecimalsMax,
  type Quantity,
  quantityToNumber,
  unitCostMax,
  unitRate,
  zeroQuantity,
} from "./money.ts";
import type {
  Decision,
  FieldChange,
  LineItem,
  PurchaseOrder,
  ShopFacts,
  StorefrontSyncState,
} from "./purchase-order.ts";

// The inventory guard (C44).

/** How a variant stands at the storefront. `unsyncable`: there, but its stock cannot be set (a bundle, an untracked item). */
export type VariantStanding = "active" | "inactive" | "deleted" | "unsyncable";

/** What a caller wants done with a line whose variant is not active. `itemId` is the line's id. */
export interface Resolution {
  readonly itemId: string;
  readonly action: "activate" | "skip";
}

export interface GuardVerdict {
  /** Lines in the way that no resolution takes away. While there is one, nothing may be changed. */
  readonly issues: readonly GuardDetail[];
  /** Inactive variants that the caller wants active. */
  readonly activateVariantIds: readonly string[];
  /** Lines that the caller wants recorded without the storefront. */
  readonly skippedLineItemIds: ReadonlySet<string>;
}

const allowedActions = {
  inactive: ["activate", "skip"],
  deleted: ["skip"],
  unsyncable: ["skip"],
} as const satisfies Record<GuardDetail["issue"], GuardDetail["allowedActions"]>;

/**
 * Judges the lines of a call by how their variants stand. Custom lines are exempt; resolutions of lines without an issue are
 * ignored; activating a variant takes the issue away from every line of it; a deleted or unsyncable one can only be skipped.
 *
 * @param standings how each catalogue variant of the lines stands; one that is missing counts as deleted.
 * Source: spec "Rules attached to the endpoints" 5; C44.
 */
export function guardVerdict(
  lineItems: readonly Pick<LineItem, "poLineItemId" | "variantId">[],
  standings: ReadonlyMap<string, VariantStanding>,
  resolutions: readonly Resolution[],
): GuardVerdict {
  const actions = new Map(resolutions.map((resolution) => [resolution.itemId, resolution.action]));
  const inTheWay = lineItems.flatMap((line) => {
    const standing = standings.get(line.variantId) ?? "deleted";
    return isCustom(line) || standing === "active" ? [] : [{ line, issue: standing }];
  });
  const skipped = inTheWay.filter(({ line }) => actions.get(line.poLineItemId) === "skip");
  const activate = new Set(
    inTheWay
      .filter(({ line, issue }) => issue === "inactive" && actions.get(line.poLineItemId) === "activate")
      .map(({ line }) => line.variantId),
  );
  return {
    issues: inTheWay
      .filter((entry) => !skipped.includes(entry) && !activate.has(entry.line.variantId))
      .map(({ line, issue }) => ({
        itemId: line.poLineItemId,
        variantId: line.variantId,
        issue,
        allowedActions: allowedActions[issue],
      })),
    activateVariantIds: [...activate],
    skippedLineItemIds: new Set(skipped.map(({ line }) => line.poLineItemId)),
  };
}

/**
 * The decision with the storefront left alone for these variants: the order's quantities are recorded all the same, and what
 * was left out follows with a later call (C44 "skip").
 */
export function leavingAlone(decision: Decision, variantIds: ReadonlySet<string>): Decision {
  if (variantIds.size === 0) return decision;
  const skippedLines = new Set(
    decision.next.lineItems.filter((line) => variantIds.has(line.variantId)).map((line) => line.poLineItemId),
  );
  const effects = decision.effects.flatMap((effect): Effect[] => {
    switch (effect.kind) {
      case "push-stock": {
        const poLineItemIds = effect.poLineItemIds.filter((id) => !skippedLines.has(id));
        return poLineItemIds.length === 0 ? [] : [{ ...effect, poLineItemIds }];
      }
      case "mirror-incoming":
      case "sync-tags": {
        const kept = effect.variantIds.filter((id) => !variantIds.has(id));
        return kept.length === 0 ? [] : [{ ...effect, variantIds: kept }];
      }
      case "settle-costs":
        return [effect];
    }
  });
  return { ...decision, effects };
}

// Stock pushes (C40, C43).

/** One change of one variant's stock, and how much of it each line brings. */
export interface PushItem {
  readonly variantId: string;
  readonly locationId: string;
  /** Σ of its lines; may be negative, never 0. */
  readonly delta: Quantity;
  readonly lines: readonly { readonly poLineItemId: string; readonly delta: Quantity }[];
}

/** A push that was started under a reference and has no known outcome. It always keeps its items. */
export interface OpenPush {
  readonly reference: string;
  readonly items: readonly PushItem[];
}

export type PushStep =
  /** First find out about this one: send the same items under the same reference again. Then plan anew. */
  | { readonly kind: "resend"; readonly push: OpenPush }
  /** Persist these under a new reference, then send them. */
  | { readonly kind: "send"; readonly items: readonly PushItem[] }
  | { readonly kind: "nothing" };

/** Whether the storefront is to be told of this line: a catalogue line whose received quantity it does not have. */
export const needsSync = (line: LineItem): boolean => !isCustom(line) && line.quantityReceived !== line.quantitySynced;

/**
 * The next step of bringing the storefront's stock to what was received. An order has one push in flight at a time: an open one
 * is finished first, under its old reference, so that what may have landed cannot land twice. A new one carries received − synced
 * of the lines, one item a variant.
 *
 * @param poLineItemIds the lines wanted; lines that are gone, custom or in step are left out.
 * Source: C40, C43.
 */
export function pushPlan(
  order: Pick<PurchaseOrder, "locationId" | "lineItems">,
  poLineItemIds: readonly string[],
  openPushes: readonly OpenPush[],
): PushStep {
  const [open] = openPushes;
  if (open !== undefined) return { kind: "resend", push: open };
  const { locationId } = order;
  if (locationId === null) return { kind: "nothing" };
  const wanted = new Set(poLineItemIds);
  const due = order.lineItems.filter((line) => wanted.has(line.poLineItemId) && needsSync(line));
  const items = [...Map.groupBy(due, (line) => line.variantId)].flatMap(([variantId, lineItems]) =>
    itemsOf(variantId, locationId, lineItems),
  );
  return items.length === 0 ? { kind: "nothing" } : { kind: "send", items };
}

/** One item, unless the lines cancel each other out: then one a line, since a change of 0 proves nothing. */
function itemsOf(variantId: string, locationId: string, lineItems: readonly LineItem[]): readonly PushItem[] {
  const lines = lineItems.map((line) => ({
    poLineItemId: line.poLineItemId,
    delta: asQuantity(line.quantityReceived - line.quantitySynced),
  }));
  const delta = asQuantity(lines.reduce((sum, line) => sum + line.delta, 0));
  return delta === 0
    ? lines.map((line) => ({ variantId, locationId, delta: line.delta, lines: [line] }))
    : [{ variantId, locationId, delta, lines }];
}

/**
 * How far the storefront has an order's received goods. `inFlight`: a push has no known outcome yet. `failed`: the latest attempt
 * failed or was given up, and no reset has cleared it.
 */
export function storefrontSyncState(
  lineItems: readonly LineItem[],
  attempts: { readonly inFlight: boolean; readonly failed: boolean },
): StorefrontSyncState {
  if (attempts.inFlight) return "in-flight";
  const catalogue = lineItems.filter((line) => !isCustom(line));
  const someSynced = catalogue.some((line) => line.quantitySynced > 0);
  if (!catalogue.some(needsSync)) return someSynced ? "synced" : "never-synced";
  if (someSynced) return "partial";
  return attempts.failed ? "failed" : "never-synced";
}

/** What an attempt to push stock brought for an order. */
export interface PushNews {
  /** Items that the storefront has taken, each told of once. */
  readonly landed: readonly PushItem[];
  /** What did not go through, in words; null when nothing failed. */
  readonly problem: string | null;
  /** Whether a push of the order, this one or another, has no known outcome yet. */
  readonly inFlight: boolean;
}

/**
 * The order once news of a push is in: what landed is synced, and the log tells of it. Nothing changes when there is nothing new.
 *
 * Source: C40; P5.
 */
export function pushRecorded(order: PurchaseOrder, news: PushNews, nowMs: number): Decision {
  const synced = new Map<string, number>();
  for (const line of news.landed.flatMap((item) => item.lines))
    synced.set(line.poLineItemId, (synced.get(line.poLineItemId) ?? 0) + line.delta);
  const changes: FieldChange[] = [];
  const lineItems = order.lineItems.map((line) => {
    const delta = synced.get(line.poLineItemId) ?? 0;
    if (delta === 0) return line;
    const quantitySynced = asQuantity(line.quantitySynced + delta);
    changes.push({
      field: "quantitySynced",
      poLineItemId: line.poLineItemId,
      before: quantityToNumber(line.quantitySynced),
      after: quantityToNumber(quantitySynced),
    });
    return { ...line, quantitySynced, updatedAtMs: nowMs };
  });
  const state = storefrontSyncState(lineItems, { inFlight: news.inFlight, failed: news.problem !== null });
  const told = [
    ...(changes.length === 0 ? [] : [`The storefront took the stock of ${changes.length} line(s).`]),
    ...(news.problem === null ? [] : [`Stock was not pushed to the storefront: ${news.problem}`]),
  ];
  if (told.length === 0 && state === order.storefrontSyncState) return unchanged(order);
  return {
    next: { ...order, lineItems, storefrontSyncState: state, version: order.version + 1, updatedAtMs: nowMs },
    log: told.length === 0 ? [] : [{ action: "storefront-sync", message: told.join(" "), changes }],
    receipts: [],
    effects: [],
  };
}

// Costs (C45).

export type FxSource = "override" | "shop-rate" | "same-currency";

/** One row of the cost-sync history before its outcome is known. `poLineItemId` is the variant's first line. */
export interface CostProposal {
  readonly variantId: string;
  readonly poLineItemId: string;
  readonly previousUnitCost: Money | null;
  /** In the shop's currency, `currencyCode`. */
  readonly proposedUnitCost: Money;
  readonly currencyCode: string;
  /** As on the order, weighted by received quantity; the first line's when lines of the variant differ in currency. */
  readonly sourceUnitCost: Money;
  readonly sourceCurrencyCode: string;
  readonly fxRate: FxRate;
  readonly fxSource: FxSource;
}

/** What the shop knows of a variant before an order's costs come in. */
export interface CostFacts {
  readonly unitCost: Money | null;
  /** Over all locations, this order's synced receipts included. */
  readonly onHand: Quantity;
}

const rateScale = BigInt(unitRate);

/**
 * The unit costs that an order's received catalogue lines give: one proposal a variant, converted to the shop's currency, weighted
 * by received quantity and rounded once, half-up to 4 decimals. `moving-average` weighs them with the stock that was there before
 * this order's receipts. `disabled` proposes nothing and needs no rate.
 *
 * @param facts by variant id; a variant that is missing has no cost and no stock.
 * @throws Fault INVALID_INPUT naming `fxRateOverride` when a line's currency cannot be converted.
 * Source: spec "Rules attached to the endpoints" 3; C45.
 */
export function costPlan(
  order: Pick<PurchaseOrder, "currencyCode" | "fxRateOverride" | "lineItems">,
  shop: ShopFacts,
  facts: ReadonlyMap<string, CostFacts>,
): readonly CostProposal[] {
  if (shop.costSyncMode === "disabled") return [];
  const received = order.lineItems.filter((line) => !isCustom(line) && line.quantityReceived > 0);
  const proposals: CostProposal[] = [];
  for (const [variantId, lineItems] of Map.groupBy(received, (line) => line.variantId)) {
    const [first] = lineItems;
    if (first === undefined) continue;
    const known = facts.get(variantId) ?? { unitCost: null, onHand: zeroQuantity };
    let quantity = 0n;
    let value = 0n;
    let sourceValue = 0n;
    let synced = 0n;
    for (const line of lineItems) {
      const { rate } = rateToShopCurrency(line.unitCostCurrencyCode, order, shop);
      quantity += BigInt(line.quantityReceived);
      value += BigInt(line.quantityReceived) * BigInt(line.unitCost) * BigInt(rate);
      sourceValue += BigInt(line.quantityReceived) * BigInt(line.unitCost);
      synced += BigInt(line.quantitySynced);
    }
    if (shop.costSyncMode === "moving-average" && known.unitCost !== null) {
      const stockBefore = BigInt(known.onHand) - synced;
      if (stockBefore > 0n) {
        value += stockBefore * BigInt(known.unitCost) * rateScale;
        quantity += stockBefore;
      }
    }
    const receivedQuantity = BigInt(lineItems.reduce((sum, line) => sum + line.quantityReceived, 0));
    const oneCurrency = lineItems.every((line) => line.unitCostCurrencyCode === first.unitCostCurrencyCode);
    const { rate, source } = rateToShopCurrency(first.unitCostCurrencyCode, order, shop);
    proposals.push({
      variantId,
      poLineItemId: first.poLineItemId,
      previousUnitCost: known.unitCost,
      proposedUnitCost: costWithin(divideHalfUp(value, quantity * rateScale), first, order, shop),
      currencyCode: shop.currencyCode,
      sourceUnitCost: oneCurrency ? asMoney(Number(divideHalfUp(sourceValue, receivedQuantity))) : first.unitCost,
      sourceCurrencyCode: first.unitCostCurrencyCode,
      fxRate: rate,
      fxSource: source,
    });
  }
  return proposals;
}

function rateToShopCurrency(
  lineCurrency: string,
  order: Pick<PurchaseOrder, "currencyCode" | "fxRateOverride">,
  shop: ShopFacts,
): { readonly rate: FxRate; readonly source: FxSource } {
  if (lineCurrency === shop.currencyCode) return { rate: unitRate, source: "same-currency" };
  if (order.fxRateOverride !== null && lineCurrency === order.currencyCode)
    return { rate: order.fxRateOverride, source: "override" };
  const rate = shop.fxRates[lineCurrency];
  if (rate !== undefined) return { rate, source: "shop-rate" };
  const message = `No exchange rate from ${lineCurrency} to ${shop.currencyCode}, the shop's currency.`;
  if (lineCurrency === order.currencyCode)
    throw new Fault("INVALID_INPUT", `${message} Set fxRateOverride on the order.`, {
      action: "Set fxRateOverride with PATCH /purchase-orders/{id}, then repeat the call.",
    });
  throw new Fault(
    "INVALID_INPUT",
    `${message} fxRateOverride covers lines in the order's currency (${order.currencyCode}) only.`,
    {
      action: `Give the shop a rate for ${lineCurrency}, or change unitCostCurrencyCode of these lines and set fxRateOverride; then repeat the call.`,
    },
  );
}

function costWithin(
  cost: bigint,
  line: LineItem,
  order: Pick<PurchaseOrder, "currencyCode" | "fxRateOverride">,
  shop: ShopFacts,
): Money {
  if (cost <= BigInt(unitCostMax) * 10n ** BigInt(moneyDecimalsMax)) return asMoney(Number(cost));
  throw new Fault(
    "INVALID_INPUT",
    `Line ${line.poLineItemId} would cost more than ${unitCostMax} ${shop.currencyCode} a unit at the rate from ${line.unitCostCurrencyCode}.`,
    { action: `Correct fxRateOverride (${order.currencyCode} → ${shop.currencyCode}) or the line's unitCost.` },
  );
}

// The on-order tag (C42).

/** A variant's product and what is on order of the variant, over all locations. */
export interface OnOrder {
  readonly variantId: string;
  /** Null for a variant that the shop's catalogue does not hold; it is then a product of its own. */
  readonly productId: string | null;
  readonly incoming: Quantity;
}

/**
 * Which products carry the tag: those with something incoming of any of their variants. One change a product, by its first variant.
 *
 * @param variants every variant of the products in question.
 */
export function tagPlan(
  variants: readonly OnOrder[],
): readonly { readonly variantId: string; readonly present: boolean }[] {
  const products = Map.groupBy(variants, (variant) =>
    variant.productId === null ? `variant ${variant.variantId}` : `product ${variant.productId}`,
  );
  return [...products.values()].flatMap((siblings) => {
    const [first] = siblings;
    return first === undefined
      ? []
      : [{ variantId: first.variantId, present: siblings.some((variant) => variant.incoming > 0) }];
  });
}
