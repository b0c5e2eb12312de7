/**
 * The cost sync of a completion: what unit costs an order's received goods give, and which of them are still to be written (spec
 * "Rules attached to the endpoints" 3; C45).
 *
 * Owns: the arithmetic, and what a further attempt of the same completion has left to do. Does not own: the rows of the history
 * (shop/storefront/cost-sync.ts), the steps of the sync and the calls (operations/purchase-orders/goods/cost-sync.ts).
 */
import { Fault } from "../../base/fault.ts";
import type { VariantStanding } from "../goods/guard.ts";
import { mention } from "../order/guidance.ts";
import { isCustom } from "../order/lines.ts";
import {
  asMoney,
  divideHalfUp,
  type FxRate,
  type Money,
  moneyDecimalsMax,
  moneyToNumber,
  type Quantity,
  unitCostMax,
  unitRate,
  zeroQuantity,
} from "../money/money.ts";
import { type OrderCurrency, ratesAfter } from "../order/order-rates.ts";
import type { LineItem, PurchaseOrder, ShopFacts } from "../order/purchase-order.ts";

/** Where an exchange rate comes from: the order, the shop, or none is needed. */
type FxSource = "override" | "shop-rate" | "same-currency";

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

/** How a row of the history stands. A `proposed` or `failed` one may have been written to the storefront all the same. */
export type CostOutcome = "proposed" | "applied" | "skipped" | "failed";

/** A row that an earlier attempt of the same completion has left. */
export interface CostRow extends Pick<
  CostProposal,
  "variantId" | "previousUnitCost" | "proposedUnitCost" | "sourceUnitCost" | "sourceCurrencyCode"
> {
  readonly costSyncId: string;
  readonly outcome: CostOutcome;
  readonly attempt: number;
}

/** What becomes of a row, and why; applied ones have a reason only if another cost has taken their place. */
export interface SettledCost {
  readonly outcome: CostOutcome;
  readonly reason: string | null;
}

/** A cost that this service has written to the storefront in the place of another one. */
export interface ReplacingCost {
  /** The number of its order; null: it is the same order's. */
  readonly orderName: string | null;
  /** The storefront shows it, though its write began before the other one was taken. Both were on their way at the same time. */
  readonly isBeside: boolean;
}

/** What the shop knows of a variant before an order's costs come in. */
export interface CostFacts {
  readonly unitCost: Money | null;
  /** Over all locations, this order's synced receipts included. */
  readonly onHand: Quantity;
}

/**
 * The completion that rows belong to: the instant of the completion before it, 0 for the first. So a reopened order starts afresh.
 */
export const completionOf = (order: Pick<PurchaseOrder, "completedAtMs">): number => order.completedAtMs ?? 0;

const receivedLines = (order: Pick<PurchaseOrder, "lineItems">): readonly LineItem[] =>
  order.lineItems.filter((line) => line.quantityReceived > 0);

/** Received lines without a catalogue variant: the storefront has no cost of them. */
export const skippedCustomLines = (order: Pick<PurchaseOrder, "lineItems">): readonly LineItem[] =>
  receivedLines(order).filter(isCustom);

/** Everything of the order that its costs are taken from, as a text. Two orders with the same text have the same costs. */
export const costSource = (order: PurchaseOrder): string =>
  JSON.stringify([
    order.currencyCode,
    order.fxRateOverride,
    order.fxRates,
    order.supplierId,
    receivedLines(order).map((line) => [
      line.poLineItemId,
      line.quantityReceived,
      line.unitCost,
      line.unitCostCurrencyCode,
    ]),
  ]);

/** An order of which costs are taken. */
type CostedOrder = Pick<
  PurchaseOrder,
  "status" | "currencyCode" | "fxRateOverride" | "fxRates" | "lineItems" | "attached"
>;

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
  uncompleted: CostedOrder,
  shop: ShopFacts,
  facts: ReadonlyMap<string, CostFacts>,
): readonly CostProposal[] {
  if (shop.costSyncMode === "disabled") return [];
  // The rates that it will have once it is completed (C35).
  const order = { ...uncompleted, fxRates: ratesAfter(uncompleted, uncompleted, shop) };
  const received = receivedLines(order).filter((line) => !isCustom(line));
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
  order: OrderCurrency,
  shop: ShopFacts,
): { readonly rate: FxRate; readonly source: FxSource } {
  if (lineCurrency === shop.currencyCode) return { rate: unitRate, source: "same-currency" };
  if (order.fxRateOverride !== null && lineCurrency === order.currencyCode)
    return { rate: order.fxRateOverride, source: "override" };
  const rate = order.fxRates[lineCurrency];
  if (rate !== undefined) return { rate, source: "shop-rate" };
  const message = `No exchange rate from ${lineCurrency} to ${shop.currencyCode}, the shop's currency.`;
  if (lineCurrency === order.currencyCode)
    throw new Fault("INVALID_INPUT", `${message} Set fxRateOverride on the order.`, {
      action: `Set fxRateOverride with ${mention("purchase_order_update")}, then repeat the call.`,
    });
  throw new Fault(
    "INVALID_INPUT",
    `${message} fxRateOverride covers lines in the order's currency (${order.currencyCode}) only.`,
    {
      action: `Give the shop a rate for ${lineCurrency}, or change unitCostCurrencyCode of these lines and set fxRateOverride; then repeat the call.`,
    },
  );
}

function costWithin(cost: bigint, line: LineItem, order: OrderCurrency, shop: ShopFacts): Money {
  if (cost <= BigInt(unitCostMax) * 10n ** BigInt(moneyDecimalsMax)) return asMoney(Number(cost));
  throw new Fault(
    "INVALID_INPUT",
    `Line ${line.poLineItemId} would cost more than ${unitCostMax} ${shop.currencyCode} a unit at the rate from ${line.unitCostCurrencyCode}.`,
    { action: `Correct fxRateOverride (${order.currencyCode} → ${shop.currencyCode}) or the line's unitCost.` },
  );
}

/** What an attempt of a completion has left to do. */
export interface DueCosts {
  readonly proposals: readonly CostProposal[];
  /** Variants whose cost an earlier attempt has brought through, and that are not due again. */
  readonly appliedVariantIds: ReadonlySet<string>;
}

/**
 * The costs that no earlier attempt of this completion has brought through. They are made from the costs before the first attempt:
 * so what was applied is found again, and is due again only if the order has changed since.
 *
 * @param rows  what earlier attempts of this completion have left, oldest first.
 * @param facts by variant id, as the shop has them now.
 * @throws Fault INVALID_INPUT naming `fxRateOverride` when a line's currency cannot be converted.
 * Source: spec "Rules attached to the endpoints" 3; C45.
 */
export function dueCosts(
  order: CostedOrder,
  shop: ShopFacts,
  rows: readonly CostRow[],
  facts: ReadonlyMap<string, CostFacts>,
): DueCosts {
  const applied = Map.groupBy(
    rows.filter((row) => row.outcome === "applied"),
    (row) => row.variantId,
  );
  const factsBefore = new Map(
    [...facts].map(([variantId, known]) => {
      const [first] = applied.get(variantId) ?? [];
      return [variantId, first === undefined ? known : { ...known, unitCost: first.previousUnitCost }];
    }),
  );
  const proposals = costPlan(order, shop, factsBefore)
    .filter((proposal) => !isSameCost(proposal, applied.get(proposal.variantId)?.at(-1)))
    .map((proposal) => ({ ...proposal, previousUnitCost: facts.get(proposal.variantId)?.unitCost ?? null }));
  const due = new Set(proposals.map((proposal) => proposal.variantId));
  return { proposals, appliedVariantIds: new Set([...applied.keys()].filter((variantId) => !due.has(variantId))) };
}

const isSameCost = (proposal: CostProposal, row: CostRow | undefined): boolean =>
  row?.proposedUnitCost === proposal.proposedUnitCost &&
  row.sourceUnitCost === proposal.sourceUnitCost &&
  row.sourceCurrencyCode === proposal.sourceCurrencyCode;

/** A cost that is not written, and why. */
interface SkippedCost<Proposal extends CostProposal> {
  readonly proposal: Proposal;
  readonly reason: string;
  /** Whether an earlier attempt has a `skipped` row of the variant already. */
  readonly isRecorded: boolean;
}

/** What one attempt of a completion does. */
interface CostAttempt<Proposal extends CostProposal> {
  /** Counts from 1. */
  readonly attempt: number;
  readonly writes: readonly Proposal[];
  readonly skipped: readonly SkippedCost<Proposal>[];
}

/**
 * Divides what is due into costs to write and costs that cannot be written, or that the caller has skipped.
 *
 * @param standings how the variants stand at the storefront. One that is missing came in since they were looked up and is taken for
 *                  active: the storefront refuses it if it is not.
 * @param skippedVariantIds variants that the caller wants recorded without the storefront (C44 "skip").
 * Source: C45.
 */
export function costAttempt<Proposal extends CostProposal>(
  due: readonly Proposal[],
  rows: readonly CostRow[],
  standings: ReadonlyMap<string, VariantStanding>,
  skippedVariantIds: ReadonlySet<string>,
): CostAttempt<Proposal> {
  const recorded = new Set(rows.filter((row) => row.outcome === "skipped").map((row) => row.variantId));
  const reasonOf = ({ variantId }: CostProposal): string | null => {
    if (skippedVariantIds.has(variantId)) return `variant ${variantId} was skipped by the caller`;
    const standing = standings.get(variantId);
    return standing === "deleted" || standing === "unsyncable"
      ? `variant ${variantId} is ${standing} on the storefront`
      : null;
  };
  return {
    attempt: 1 + Math.max(0, ...rows.map((row) => row.attempt)),
    writes: due.filter((proposal) => reasonOf(proposal) === null),
    skipped: due.flatMap((proposal) => {
      const reason = reasonOf(proposal);
      return reason === null ? [] : [{ proposal, reason, isRecorded: recorded.has(proposal.variantId) }];
    }),
  };
}

/**
 * What becomes of a row that is read back.
 *
 * @param shown      what the storefront shows.
 * @param isAccepted whether the storefront has said that it took the row's cost.
 * @param replacing  what has taken its place; null: nothing that this service has written.
 * @returns null while the storefront may still show the cost.
 * Source: C45; D346.
 */
export function readBackCost(
  { unitCost, isAccepted }: { readonly unitCost: Money; readonly isAccepted: boolean },
  shown: Money | null,
  replacing: ReplacingCost | null,
): SettledCost | null {
  if (shown === unitCost) return { outcome: "applied", reason: null };
  if (replacing === null) return null;
  const replaced = `replaced since by ${replacing.orderName ?? "another cost of this order"}`;
  return isAccepted
    ? { outcome: "applied", reason: replaced }
    : { outcome: "failed", reason: `${replaced}; whether it was written before is not known` };
}

/** Why a row has failed that was read back often enough. */
export const unreadCost = (shown: Money | null): SettledCost => ({
  outcome: "failed",
  reason: shown === null ? "the storefront shows no unit cost" : `the storefront shows ${moneyToNumber(shown)}`,
});
