/**
 * What stands in an order's document: the order as its supplier gets it, with the parties and the shop's letterhead, as plain data.
 *
 * Owns: what is read, and which fields a supplier sees. Does not own: how it looks (pdf.ts, csv.ts). What is the shop's own (`note`, tags,
 * payments, quantities received) never gets in.
 */
import { createHash } from "node:crypto";
import { Fault } from "../core/fault.ts";
import { lineTotal } from "../core/lines.ts";
import { moneyToNumber, quantityToNumber } from "../core/money.ts";
import type { Address, Header, LineItem, Status } from "../core/purchase-order.ts";
import { loadShop } from "../shop/accounts.ts";
import { locationTable, supplierTable } from "../shop/catalogue.ts";
import { loadHeader, loadOrder } from "../shop/purchase-orders.ts";
import { recordsByKey } from "../shop/record-table.ts";
import type { Tx } from "../store/store.ts";

/** Raised by every change of how a document looks: it is then drawn anew. */
const templateVersion = 1;

/** A party of the order. */
interface Party {
  readonly name: string;
  readonly address: Address | null;
  readonly email: string | null;
}

/** A line as the supplier sees it. Figures are the API's own. */
interface ContentLine {
  readonly poLineItemId: string;
  readonly productName: string | null;
  readonly variantName: string | null;
  readonly sku: string | null;
  readonly barcode: string | null;
  readonly supplierSku: string | null;
  readonly supplierProductName: string | null;
  readonly quantityOrdered: number;
  readonly quantityCancelled: number;
  readonly packSize: number | null;
  readonly unitCost: number;
  readonly currencyCode: string;
  readonly lineTotal: number;
  readonly expectedDeliveryDate: string | null;
  /** No rate is known for its currency, so it is not in the totals (C35). */
  readonly isUnpriced: boolean;
}

/** Everything of a document but its lines. */
interface Frame {
  readonly purchaseOrderId: string;
  readonly poNumber: string;
  readonly orderVersion: number;
  readonly status: Status;
  readonly updatedAtMs: number;
  readonly createdAtMs: number;
  readonly orderDate: string | null;
  readonly expectedDeliveryDate: string | null;
  readonly supplierReference: string | null;
  readonly paymentTerms: string | null;
  readonly incoterm: string | null;
  readonly noteToSupplier: string | null;
  readonly currencyCode: string;
  readonly totalValue: number;
  readonly shippingCost: number | null;
  readonly discountAmount: number | null;
  readonly taxAmount: number | null;
  readonly grandTotal: number;
  readonly buyer: Party;
  readonly supplier: Party | null;
  readonly billingAddress: Address | null;
  /** Where the goods go: the order's own address, else that of its location. */
  readonly deliverTo: { readonly name: string | null; readonly address: Address | null } | null;
}

export interface DocumentContent extends Frame {
  readonly lines: readonly ContentLine[];
}

const amount = (value: Parameters<typeof moneyToNumber>[0] | null): number | null =>
  value === null ? null : moneyToNumber(value);

/** The order's document without its lines. @throws Fault NOT_FOUND when there is no such shop or order. */
async function loadFrame(tx: Tx, shopId: string, purchaseOrderId: string): Promise<Frame & { header: Header }> {
  const [shop, header] = await Promise.all([loadShop(tx, shopId), loadHeader(tx, shopId, purchaseOrderId)]);
  if (shop === null) throw new Fault("NOT_FOUND", `There is no shop ${shopId}.`);
  if (header === null)
    throw new Fault("NOT_FOUND", `There is no purchase order ${purchaseOrderId}.`, {
      action: "List orders with GET /api/v1/purchase-orders.",
    });
  const [[supplier], [location]] = await Promise.all([
    header.supplierId === null ? [] : recordsByKey(tx, supplierTable, shopId, [[header.supplierId]]),
    header.locationId === null ? [] : recordsByKey(tx, locationTable, shopId, [[header.locationId]]),
  ]);
  const deliverTo = { name: location?.name ?? null, address: header.shippingAddress ?? location?.address ?? null };
  return {
    header,
    purchaseOrderId,
    poNumber: header.poNumber,
    orderVersion: header.version,
    status: header.status,
    updatedAtMs: header.updatedAtMs,
    createdAtMs: header.createdAtMs,
    orderDate: header.orderDate,
    expectedDeliveryDate: header.expectedDeliveryDate,
    supplierReference: header.supplierReference,
    paymentTerms: header.paymentTerms,
    incoterm: header.incoterm,
    noteToSupplier: header.noteToSupplier,
    currencyCode: header.currencyCode,
    totalValue: moneyToNumber(header.totalValue),
    shippingCost: amount(header.shippingCost),
    discountAmount: amount(header.discountAmount),
    taxAmount: amount(header.taxAmount),
    grandTotal: moneyToNumber(header.grandTotal),
    buyer: { name: shop.name, address: null, email: null },
    supplier: supplier === undefined ? null : { name: supplier.name, address: supplier.address, email: supplier.email },
    billingAddress: header.billingAddress,
    deliverTo: deliverTo.name === null && deliverTo.address === null ? null : deliverTo,
  };
}

function lineOf(line: LineItem, header: Header): ContentLine {
  return {
    poLineItemId: line.poLineItemId,
    productName: line.productName,
    variantName: line.variantName,
    sku: line.sku,
    barcode: line.supplierBarcode ?? line.barcode,
    supplierSku: line.supplierSku,
    supplierProductName: line.supplierProductName,
    quantityOrdered: quantityToNumber(line.quantityOrdered),
    quantityCancelled: quantityToNumber(line.quantityCancelled),
    packSize: line.packSize === null ? null : quantityToNumber(line.packSize),
    unitCost: moneyToNumber(line.unitCost),
    currencyCode: line.unitCostCurrencyCode,
    lineTotal: moneyToNumber(lineTotal(line)),
    expectedDeliveryDate: line.expectedDeliveryDate,
    isUnpriced: header.unpricedLineItemIds.includes(line.poLineItemId),
  };
}

/** Everything that stands in the order's document. @throws Fault NOT_FOUND when there is no such shop or order. */
export async function loadContent(tx: Tx, shopId: string, purchaseOrderId: string): Promise<DocumentContent> {
  const { header, ...frame } = await loadFrame(tx, shopId, purchaseOrderId);
  const order = await loadOrder(tx, shopId, purchaseOrderId);
  return { ...frame, lines: (order?.lineItems ?? []).map((line) => lineOf(line, header)) };
}

/** Names the bytes of a document: equal for the same order at the same version under the same letterhead. */
export function documentTag({ lines: _lines, ...frame }: DocumentContent, kind: string): string {
  return createHash("sha256")
    .update(JSON.stringify([templateVersion, kind, frame]))
    .digest("hex")
    .slice(0, 32);
}
