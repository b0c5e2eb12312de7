/**
 * The cost sync of a completion: what unit costs an order's received goods give, and which of them are still to be written (spec
 * "Rules attached to the endpoints" 3; C45).
 *
 * Owns: the arithmetic, and what a further attempt of the same completion has left to do. Does not own: the rows of the history
 * (shop/cost-sync.ts), the steps of the sync and the calls (operations/purchase-orders/cost-sync.ts).
 */
import { Fault } from "./fault.ts";
import { mention } from "./guidance.ts";
import { isCustom } from "./lines.ts";
import {
  asMoney,
  divideHalfUp,
  type FxRate,
  type Money,
  moneyDecimalsMax,
  type Quantity,
  unitCostMax,
  unitRate,
  zeroQuantity,
} from "./money.ts";
import type { LineItem, PurchaseOrder, ShopFacts } from "./purchase-order.ts";

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
