/**
 * Drafts from a forecast: what to order of which supplier, at the suggested quantities or those that a person has set
 * (C68). Pure.
 *
 * Does not own: the suggestion for one variant (forecast.ts), how an order is made (core/order/edit.ts), which drafts
 * there are.
 */
import type { Day } from "../../base/time/calendar.ts";
import type { Suggestion, SupplierOffer } from "./forecast.ts";
import { type Money, type Quantity, subtractQuantity, quantityText } from "../money/money.ts";

/**
 * Why a variant is on no draft.
 *
 * - `on-draft`: a Draft order has it already; it is named and nothing is added to it.
 * - `no-supplier`: no supplier of the view offers it.
 * - `left-out`: the caller has set its quantity to 0.
 * - `not-in-view`: the caller has set a quantity for it, and the view does not have it.
 */
type SkipReason = "on-draft" | "no-supplier" | "left-out" | "not-in-view";

/** A Draft order. */
export interface DraftOrder {
  readonly purchaseOrderId: string;
  readonly poNumber: string;
}

/** Names of a variant; null: there are none, or the catalogue does not have it. */
interface VariantNames {
  readonly sku: string | null;
  readonly productName: string | null;
}

/** A variant that is on no draft. */
export interface Skipped extends VariantNames {
  readonly variantId: string;
  readonly reason: SkipReason;
  /** With `on-draft`: the Draft order that has it. */
  readonly draft: DraftOrder | null;
}

/** One line to be ordered, on the supplier's terms. */
export interface PlannedLine {
  readonly variantId: string;
  readonly sku: string | null;
  readonly productName: string;
  readonly quantity: Quantity;
  /** Null: neither the supplier nor the catalogue has one. */
  readonly unitCost: Money | null;
  readonly currencyCode: string;
  /** Why this much is ordered, as a sentence. */
  readonly reason: string;
  readonly arrivalDay: Day;
  readonly stockoutDay: Day | null;
  /** True if the stock on hand is gone before the goods arrive. */
  readonly late: boolean;
}

/** One order to be made. */
export interface PlannedDraft {
  readonly supplierId: string;
  readonly supplierName: string;
  /** The day on which the last of its lines arrives. */
  readonly arrivalDay: Day;
  readonly lines: readonly PlannedLine[];
}

/** Lines to order, and lines left out. */
interface ReorderPlan {
  /** By supplier name, then id. */
  readonly drafts: readonly PlannedDraft[];
  readonly skipped: readonly Skipped[];
}

/** The facts that a plan is made from. */
export interface ReorderFacts {
  /** The view's variants that need a reorder, and those of the view that the caller has set a quantity for. */
  readonly suggestions: readonly Suggestion[];
  /** For each variant on a Draft order, that order. */
  readonly onDraft: ReadonlyMap<string, DraftOrder>;
  /** Quantities that the caller has set, by variant. The others are as suggested. */
  readonly quantities: ReadonlyMap<string, Quantity>;
  /** Variants of the catalogue that are not in the view, of those that the caller has set a quantity for. */
  readonly outside: ReadonlyMap<string, VariantNames>;
}

function reasonFor(suggestion: Suggestion, quantity: Quantity): string {
  const { facts, covering, reorderPoint, needsReorder, suggestedOrderQuantity } = suggestion;
  const later = subtractQuantity(facts.incoming, covering);
  const tooLate = later === 0 ? "" : ` (${quantityText(later)} more come too late)`;
  const coming = facts.incoming === 0 ? "" : ` + ${quantityText(covering)} incoming${tooLate}`;
  const stock = `${quantityText(facts.onHand)} on hand${coming}`;
  const point = `reorder point ${quantityText(reorderPoint)}`;
  if (!needsReorder) return `Asked for; ${stock}, ${point}.`;
  const edited = quantity === suggestedOrderQuantity ? "" : ` Suggested ${quantityText(suggestedOrderQuantity)}.`;
  return `${stock}, at or below the ${point}.${edited}`;
}

/** The line of a variant that a supplier offers. */
function lineFor(suggestion: Suggestion, offer: SupplierOffer, arrivalDay: Day, quantity: Quantity): PlannedLine {
  const { facts, unit, stockoutDay } = suggestion;
  return {
    variantId: facts.variantId,
    sku: facts.sku,
    productName: facts.productName,
    quantity,
    unitCost: unit?.cost ?? null,
    currencyCode: unit?.currencyCode ?? offer.currencyCode,
    reason: reasonFor(suggestion, quantity),
    arrivalDay,
    stockoutDay,
    late: stockoutDay !== null && arrivalDay > stockoutDay,
  };
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/**
 * Plans one draft for each supplier. A variant on a Draft order is not ordered again, whatever quantity is set for it.
 *
 * Source: C68.
 */
export function planReorder({ suggestions, onDraft, quantities, outside }: ReorderFacts): ReorderPlan {
  const skipped: Skipped[] = [];
  const lines = new Map<string, { readonly offer: SupplierOffer; readonly lines: PlannedLine[] }>();
  for (const suggestion of suggestions) {
    const { facts, offer, arrivalDay } = suggestion;
    const { variantId, sku, productName } = facts;
    const skip = (reason: SkipReason, draft: DraftOrder | null = null): void => {
      skipped.push({ variantId, sku, productName, reason, draft });
    };
    const quantity = quantities.get(variantId) ?? suggestion.suggestedOrderQuantity;
    const draftOrder = onDraft.get(variantId);
    if (quantity === 0) skip("left-out");
    else if (draftOrder !== undefined) skip("on-draft", draftOrder);
    else if (offer === null || arrivalDay === null) skip("no-supplier");
    else {
      const draft = lines.get(offer.supplierId) ?? { offer, lines: [] };
      draft.lines.push(lineFor(suggestion, offer, arrivalDay, quantity));
      lines.set(offer.supplierId, draft);
    }
  }
  const known = new Set(suggestions.map(({ facts }) => facts.variantId));
  for (const variantId of quantities.keys())
    if (!known.has(variantId)) {
      const { sku = null, productName = null } = outside.get(variantId) ?? {};
      skipped.push({ variantId, sku, productName, reason: "not-in-view", draft: null });
    }
  const drafts = [...lines.values()].map(({ offer, lines: planned }) => ({
    supplierId: offer.supplierId,
    supplierName: offer.supplierName,
    arrivalDay: Math.max(...planned.map((line) => line.arrivalDay)),
    lines: planned,
  }));
  return {
    drafts: drafts.sort((a, b) => compare(a.supplierName, b.supplierName) || compare(a.supplierId, b.supplierId)),
    skipped,
  };
}
