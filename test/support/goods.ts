/** Orders, lines and shops for tests of the rules: complete values with realistic defaults. A test sets only the members it is about. */
import assert from "node:assert/strict";
import { Fault } from "../../src/base/fault.ts";
import type { GoodsContext } from "../../src/core/goods/goods.ts";
import type { Payment } from "../../src/core/order/attachments.ts";
import type { NewLine } from "../../src/core/order/edit.ts";
import { noTotals } from "../../src/core/order/totals.ts";
import {
  type FxRate,
  fxRateFrom,
  type Money,
  moneyFrom,
  type Quantity,
  quantityFrom,
} from "../../src/core/money/money.ts";
import {
  editableHeaderFields,
  headerKeptFields,
  storedLineFields,
  valuesFrom,
} from "../../src/core/order/purchase-order-fields.ts";
import type { LineItem, OrderWithLines, PurchaseOrder, ShopFacts } from "../../src/core/order/purchase-order.ts";
import type { ImportedOrder } from "../../src/shop/order/purchase-orders.ts";

export function quantity(units: number): Quantity {
  const value = quantityFrom(units);
  assert.ok(value !== null, `${units} is not a quantity`);
  return value;
}

export function money(amount: number): Money {
  const value = moneyFrom(amount);
  assert.ok(value !== null, `${amount} is not an amount`);
  return value;
}

export function fxRate(rate: number): FxRate {
  const value = fxRateFrom(rate);
  assert.ok(value !== null, `${rate} is not a rate`);
  return value;
}

/** A line that is asked for, of a variant alone; `facts` replace members. */
export const newLine = (poLineItemId: string, facts: Partial<NewLine> = {}): NewLine => ({
  poLineItemId,
  variantId: `variant of ${poLineItemId}`,
  isCustom: false,
  quantityOrdered: quantity(2),
  unitCost: money(3),
  unitCostCurrencyCode: null,
  productName: null,
  variantName: null,
  sku: null,
  barcode: null,
  supplierSku: null,
  supplierBarcode: null,
  supplierProductName: null,
  supplierProductUrl: null,
  moq: null,
  packSize: null,
  leadTimeDays: null,
  expectedDeliveryDate: null,
  note: null,
  ...facts,
});

/** Quantities and the cost of a line, in units. */
export interface LineFigures {
  readonly ordered?: number;
  readonly confirmed?: number;
  readonly received?: number;
  readonly rejected?: number;
  readonly cancelled?: number;
  readonly synced?: number;
  readonly unitCost?: number;
  readonly currency?: string;
  readonly variantId?: string;
}

export function line(poLineItemId: string, figures: LineFigures = {}): LineItem {
  return valuesFrom(storedLineFields, {
    poLineItemId,
    variantId: figures.variantId ?? `variant of ${poLineItemId}`,
    quantityOrdered: quantity(figures.ordered ?? 10),
    quantityConfirmed: quantity(figures.confirmed ?? 0),
    quantityReceived: quantity(figures.received ?? 0),
    quantityRejected: quantity(figures.rejected ?? 0),
    quantityCancelled: quantity(figures.cancelled ?? 0),
    quantitySynced: quantity(figures.synced ?? 0),
    unitCost: money(figures.unitCost ?? 1),
    unitCostCurrencyCode: figures.currency ?? "USD",
    createdAtMs: 0,
    updatedAtMs: 0,
  });
}

export function order(
  status: PurchaseOrder["status"],
  lineItems: readonly LineItem[],
  facts: Partial<PurchaseOrder> = {},
): PurchaseOrder {
  return {
    ...valuesFrom(editableHeaderFields, { supplierId: "supplier", locationId: "warehouse", currencyCode: "USD" }),
    purchaseOrderId: "po_1",
    poNumber: "PO-1001",
    status,
    previousStatus: "Draft",
    supplierName: null,
    supplierLeadTimeNow: null,
    locationName: null,
    ...valuesFrom(headerKeptFields, {}),
    ...noTotals,
    itemCount: lineItems.length,
    attached: { payments: [], credits: [], shipments: [], documents: [] },
    storefrontSyncState: "never-synced",
    createdBy: null,
    createdAtMs: 0,
    updatedAtMs: 0,
    sentAtMs: null,
    confirmedAtMs: null,
    receivedAtMs: null,
    completedAtMs: null,
    cancelledAtMs: null,
    version: 1,
    lineItems,
    ...facts,
  };
}

/** An order from outside that has nothing beside its lines. */
export const importedOrder = (facts: OrderWithLines): ImportedOrder => ({
  order: facts,
  attachments: { payments: [], documents: [], shipments: [], credits: [] },
  history: { log: [], receipts: [], costSyncHistory: [] },
  deletedAtMs: null,
});

export const shop = (facts: Partial<ShopFacts> = {}): ShopFacts => ({
  currencyCode: "USD",
  fxRates: {},
  timezone: "UTC",
  autoSyncOnReceiving: true,
  costSyncMode: "unit-cost",
  onOrderTag: null,
  ...facts,
});

export const context = (facts: Partial<GoodsContext> = {}): GoodsContext => ({
  shop: shop(),
  nowMs: 1_000,
  skippedVariantIds: new Set(),
  ...facts,
});

/** Asserts that `work` throws a fault with this code, and returns the fault. */
export function refusal(work: () => unknown, code: Fault["code"] = "INVALID_INPUT"): Fault {
  try {
    work();
  } catch (error) {
    assert.ok(error instanceof Fault, String(error));
    assert.equal(error.code, code, error.message);
    return error;
  }
  return assert.fail("It was not refused.");
}

/** A payment in USD that was made. */
export const payment = (amount: number, facts: Partial<Payment> = {}): Payment => ({
  paymentId: "p",
  paymentName: null,
  paymentType: "other",
  status: "Paid",
  amount: money(amount),
  currencyCode: "USD",
  dueDate: null,
  paidAtMs: null,
  paymentMethod: null,
  reference: null,
  note: null,
  createdAtMs: 0,
  createdBy: null,
  ...facts,
});
