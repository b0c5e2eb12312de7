/**
 * Drafts from a forecast: what to order of which supplier, at the suggested quantities or those that a person has set
 * (C68). Pure.
 *
 * Does not own: the suggestion for one variant (forecast.ts), how an order is made (edit.ts), which drafts there are.
 */
import type { Day } from "../../base/time/calendar.ts";
import type { Suggestion, SupplierOffer } from "./forecast.ts";
import { type Money, type Quantity, quantityToNumber, subtractQuantity, zeroMoney } from "../money/money.ts";

/**
 * Why a variant is on no draft.
 *
 * - `on-draft`: a Draft order has it already; it is named and nothing is added to it.
 * - `no-supplier`: no supplier of the view offers it.
 * - `left-out`: the caller has set its quantity to 0.
 * - `not-in-view`: the caller has set a quantity for it, and the view does not have it.
 */
type SkipReason = "on-draft" | "no-supplier" | "left-out" | "not-in-view";

/** A variant that is on no draft. */
export interface Skipped {
  readonly variantId: string;
  readonly reason: SkipReason;
  /** With `on-draft`: the Draft order that has it. */
  readonly purchaseOrderId: string | null;
}

/** One line to be ordered, on the supplier's terms. */
export interface PlannedLine {
  readonly variantId: string;
  readonly sku: string | null;
  readonly productName: string;
  readonly quantity: Quantity;
  readonly unitCost: Money;
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
  readonly onDraft: ReadonlyMap<string, string>;
  /** Quantities that the caller has set, by variant. The others are as suggested. */
  readonly quantities: ReadonlyMap<string, Quantity>;
}

const shown = (quantity: Quantity): string => String(quantityToNumber(quantity));

function reasonFor(suggestion: Suggestion, quantity: Quantity): string {
  const { facts, covering, reorderPoint, needsReorder, suggestedOrderQuantity } = suggestion;
  const later = subtractQuantity(facts.incoming, covering);
  const tooLate = later === 0 ? "" : ` (${shown(later)} more come too late)`;
  const stock = `${shown(facts.onHand)} on hand + ${shown(covering)} incoming${tooLate}`;
  const point = `reorder point ${shown(reorderPoint)}`;
  if (!needsReorder) return `Asked for; ${stock}, ${point}.`;
  const edited = quantity === suggestedOrderQuantity ? "" : ` Suggested ${shown(suggestedOrderQuantity)}.`;
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
    unitCost: unit?.cost ?? zeroMoney,
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
export function planReorder({ suggestions, onDraft, quantities }: ReorderFacts): ReorderPlan {
  const skipped: Skipped[] = [];
  const lines = new Map<string, { readonly offer: SupplierOffer; readonly lines: PlannedLine[] }>();
  for (const suggestion of suggestions) {
    const { facts, offer, arrivalDay } = suggestion;
    const { variantId } = facts;
    const skip = (reason: SkipReason, purchaseOrderId: string | null = null): void => {
      skipped.push({ variantId, reason, purchaseOrderId });
    };
    const quantity = quantities.get(variantId) ?? suggestion.suggestedOrderQuantity;
    const draftId = onDraft.get(variantId);
    if (quantity === 0) skip("left-out");
    else if (draftId !== undefined) skip("on-draft", draftId);
    else if (offer === null || arrivalDay === null) skip("no-supplier");
    else {
      const draft = lines.get(offer.supplierId) ?? { offer, lines: [] };
      draft.lines.push(lineFor(suggestion, offer, arrivalDay, quantity));
      lines.set(offer.supplierId, draft);
    }
  }
  const known = new Set(suggestions.map(({ facts }) => facts.variantId));
  for (const variantId of quantities.keys())
    if (!known.has(variantId)) skipped.push({ variantId, reason: "not-in-view", purchaseOrderId: null });
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
