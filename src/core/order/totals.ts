/**
 * Values that follow from an order's lines, amounts and attachments (contract §9 "Header"; C13, C35). Pure; figures are
 * exact.
 *
 * Does not own: the rates (order-rates.ts), one line's arithmetic (lines.ts), shipments and payments (attachments.ts).
 */
import { type ExpectedOrder, nextExpectedDate, settledAmount } from "./attachments.ts";
import { Fault } from "../../base/fault.ts";
import { owedQuantity, pendingQuantity, wantedQuantity } from "./lines.ts";
import {
  asMoney,
  asQuantity,
  exactValue,
  exactValueScale,
  exceedsTotalValueMax,
  type FxRate,
  type Money,
  moneyDecimalsMax,
  type Quantity,
  roundToMinorUnit,
  totalValueMax,
  unitRate,
  zeroMoney,
  zeroQuantity,
} from "../money/money.ts";
import { isSameFor, type OrderCurrency, rateToOrderCurrency } from "./order-rates.ts";
import type { Header, LineItem, PurchaseOrder } from "./purchase-order.ts";
import { isClosed } from "./status.ts";

type MoneyTotals = Pick<Header, "totalValue" | "unpricedLineItemIds" | "grandTotal" | "settledAmount">;

type QuantityTotals = Pick<Header, "quantityOrdered" | "quantityConfirmed" | "quantityReceived" | "quantityPending">;

/** The header fields that follow from the lines, from other header fields and from what is attached. */
export type OrderTotals = MoneyTotals & QuantityTotals & Pick<Header, "itemCount" | "nextExpectedDate">;

/** Fields from which the totals follow. */
type Totalled = ExpectedOrder & OrderCurrency & Charges & Pick<PurchaseOrder, "lineItems" | "attached">;

/** The amounts of a header, beside those of its lines. */
type Charges = Pick<Header, "shippingCost" | "taxAmount" | "discountAmount">;

/**
 * Works out the header fields that follow from others: values, what is settled, the sums of quantities and the next
 * expected day.
 *
 * @throws Fault INVALID_INPUT when a total passes `totalValueMax`.
 * Source: contract §9 "Header"; C13, C35.
 */
export const orderTotals = (order: Totalled, shopCurrency: string): OrderTotals => ({
  itemCount: order.lineItems.length,
  ...moneyTotals(order, shopCurrency),
  ...quantityTotals(order.lineItems),
  nextExpectedDate: nextExpectedDate(order, order.attached.shipments),
});

/**
 * The totals after a change. Where nothing changed that amounts are made from they stay as they were, also if they were
 * made by the rules of an earlier version.
 */
export function totalsAfter(before: PurchaseOrder | null, next: Totalled, shopCurrency: string): OrderTotals {
  if (before === null || !isSameMoney(before, next, shopCurrency)) return orderTotals(next, shopCurrency);
  const { totalValue, unpricedLineItemIds, grandTotal, settledAmount } = before;
  return {
    itemCount: next.lineItems.length,
    totalValue,
    unpricedLineItemIds,
    grandTotal,
    settledAmount,
    ...quantityTotals(next.lineItems),
    nextExpectedDate: nextExpectedDate(next, next.attached.shipments),
  };
}

const isSameMoney = (before: PurchaseOrder, next: Totalled, shopCurrency: string): boolean =>
  before.lineItems === next.lineItems &&
  before.attached === next.attached &&
  isClosed(before) === isClosed(next) &&
  before.currencyCode === next.currencyCode &&
  before.fxRateOverride === next.fxRateOverride &&
  isSameFor(next, shopCurrency, before.fxRates, next.fxRates) &&
  before.shippingCost === next.shippingCost &&
  before.taxAmount === next.taxAmount &&
  before.discountAmount === next.discountAmount;

/** The totals of an order without lines and amounts, for one whose totals are still to be worked out. */
export const noTotals: OrderTotals = {
  itemCount: 0,
  totalValue: zeroMoney,
  unpricedLineItemIds: [],
  grandTotal: zeroMoney,
  settledAmount: zeroMoney,
  quantityOrdered: zeroQuantity,
  quantityConfirmed: zeroQuantity,
  quantityReceived: zeroQuantity,
  quantityPending: zeroQuantity,
  nextExpectedDate: null,
};

/** Sums over the lines. The largest order's are within 2^53: `linesPerOrderMax` × `quantityMax`. */
function quantityTotals(lineItems: readonly LineItem[]): QuantityTotals {
  let [ordered, confirmed, received, pending] = [0, 0, 0, 0];
  for (const line of lineItems) {
    ordered += line.quantityOrdered;
    confirmed += line.quantityConfirmed;
    received += line.quantityReceived;
    pending += pendingQuantity(line);
  }
  return {
    quantityOrdered: asQuantity(ordered),
    quantityConfirmed: asQuantity(confirmed),
    quantityReceived: asQuantity(received),
    quantityPending: asQuantity(pending),
  };
}

function moneyTotals(order: Totalled, shopCurrency: string): MoneyTotals {
  const { currencyCode, lineItems } = order;
  const isOver = isClosed(order);
  const wanted = new ExactSum(order, shopCurrency);
  const owed = new ExactSum(order, shopCurrency);
  const unpricedLineItemIds: string[] = [];
  for (const line of lineItems) {
    if (!wanted.add(wantedQuantity(line), line)) unpricedLineItemIds.push(line.poLineItemId);
    owed.add(owedQuantity(line, isOver), line);
  }
  const within = (total: bigint): Money => {
    if (total <= BigInt(totalValueMax) * 10n ** BigInt(moneyDecimalsMax)) return asMoney(Number(total));
    throw new Fault("INVALID_INPUT", `The order's total would pass ${totalValueMax} ${currencyCode}.`, {
      action: "Lower quantities or unit costs, or split the order.",
    });
  };
  const settled = settledAmount(order.attached, order, shopCurrency);
  if (exceedsTotalValueMax(settled))
    throw new Fault("INVALID_INPUT", `What was paid would be worth more than ${totalValueMax} ${currencyCode}.`, {
      action: "Correct fxRateOverride.",
    });
  const grandTotal = owed.rounded(chargesOf(order));
  return {
    totalValue: within(wanted.rounded(0n)),
    unpricedLineItemIds,
    grandTotal: grandTotal < 0n ? zeroMoney : within(grandTotal),
    settledAmount: settled,
  };
}

/** Returns the sum added to the goods: shipping and tax, less the discount. */
const chargesOf = ({ shippingCost, taxAmount, discountAmount }: Charges): bigint =>
  BigInt((shippingCost ?? 0) + (taxAmount ?? 0) - (discountAmount ?? 0));

/** Returns the excess of the discount over the amount that it is taken off; 0 without one (C16, C35). */
export function discountExcess(order: Totalled, shopCurrency: string): Money {
  const owed = new ExactSum(order, shopCurrency);
  for (const line of order.lineItems) owed.add(owedQuantity(line, isClosed(order)), line);
  const total = owed.rounded(chargesOf(order));
  return asMoney(total < 0n ? Number(-total) : 0);
}

/** Lines of an order and the currency in which they are summed. */
export type LinesInCurrency = OrderCurrency & {
  readonly lineItems: readonly Pick<LineItem, QuantityField | "unitCost" | "unitCostCurrencyCode">[];
};

/** Quantities of a line that a sum is made of. */
type QuantityField =
  | "quantityOrdered"
  | "quantityConfirmed"
  | "quantityReceived"
  | "quantityRejected"
  | "quantityCancelled";

/** Returns what these quantities of the lines cost in the order's currency. What no rate converts is left out. */
export function valueOfLines<Line extends LinesInCurrency["lineItems"][number]>(
  order: Omit<LinesInCurrency, "lineItems"> & { readonly lineItems: readonly Line[] },
  shopCurrency: string,
  quantityOf: (line: Line) => Quantity,
): Money {
  const sum = new ExactSum(order, shopCurrency);
  for (const line of order.lineItems) sum.add(quantityOf(line), line);
  return asMoney(Number(sum.rounded(0n)));
}

/** A sum over lines in the order's currency, exact until it is rounded once. */
class ExactSum {
  readonly #order: OrderCurrency;
  readonly #shopCurrency: string;
  /** One exact sum for each currency of lines, with the denominator of its rate. */
  readonly #sums = new Map<string, { readonly numerator: FxRate; readonly denominator: bigint; sum: bigint } | null>();

  constructor(order: OrderCurrency, shopCurrency: string) {
    this.#order = order;
    this.#shopCurrency = shopCurrency;
  }

  /** Adds quantity × unit cost of a line. @returns false when no rate converts it. */
  add(quantity: Quantity, line: Pick<LineItem, "unitCost" | "unitCostCurrencyCode">): boolean {
    const entry = this.#entryOf(line.unitCostCurrencyCode);
    if (entry === null) return false;
    entry.sum += exactValue(quantity, line.unitCost, entry.numerator);
    return true;
  }

  #entryOf(currency: string) {
    let entry = this.#sums.get(currency);
    if (entry === undefined) {
      const rate = rateToOrderCurrency(currency, this.#order, this.#shopCurrency);
      entry = rate === null ? null : { numerator: rate.numerator, denominator: BigInt(rate.denominator), sum: 0n };
      this.#sums.set(currency, entry);
    }
    return entry;
  }

  /** The sum and these ten-thousandths, rounded to the currency's minor unit. */
  rounded(more: bigint): bigint {
    let numerator = more * exactValueScale;
    let denominator = BigInt(unitRate);
    for (const entry of this.#sums.values()) {
      if (entry === null) continue;
      numerator = numerator * entry.denominator + entry.sum * denominator;
      denominator *= entry.denominator;
    }
    // exactValue carries the rate's scale in the numerator; the denominator's rate carries it too, so only the
    // quantity's is left.
    return roundToMinorUnit(numerator * BigInt(unitRate), denominator * exactValueScale, this.#order.currencyCode);
  }
}
