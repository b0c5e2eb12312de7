/**
 * Content of an order's document: the order as its supplier gets it, with the parties and the shop's letterhead, as
 * plain data.
 *
 * Owns: what is read, and which fields a supplier sees. Does not own: how it looks (pdf.ts, csv.ts). What is the shop's
 * own (`note`, tags, payments, quantities received) never gets in.
 */
import { createHash } from "node:crypto";
import { dateOf, dayIn } from "../base/time/calendar.ts";
import { Fault } from "../base/fault.ts";
import type { DocumentSettings } from "../core/supplier/document-settings.ts";
import { lineTotal } from "../core/order/lines.ts";
import { moneyToNumber, quantityToNumber, subtractQuantity } from "../core/money/money.ts";
import type { Address, Header, LineItem, Status } from "../core/order/purchase-order.ts";
import { loadShop } from "../shop/access/accounts.ts";
import { locationTable, supplierTable } from "../shop/catalogue/catalogue.ts";
import { loadDocumentSettings } from "../shop/supplier/document-settings.ts";
import { mailedBefore } from "../shop/supplier/mails.ts";
import { loadParties } from "../shop/order/order-parties.ts";
import { loadHeader, pageOfLines } from "../shop/order/purchase-orders.ts";
import { recordsByKey } from "../shop/record-table.ts";
import type { Engine, Tx } from "../store/store.ts";

/** Raised by every change of how a document looks: it is then drawn anew. */
const templateVersion = 5;

/** A line as the supplier sees it. Figures are the API's own. */
export interface ContentLine {
  readonly poLineItemId: string;
  readonly productName: string | null;
  readonly variantName: string | null;
  readonly sku: string | null;
  readonly barcode: string | null;
  readonly supplierSku: string | null;
  readonly supplierProductName: string | null;
  readonly quantityOrdered: number;
  readonly quantityCancelled: number;
  /** Ordered quantity without cancelled goods: `lineTotal` is that of it. */
  readonly quantity: number;
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
  readonly createdAtMs: number;
  /** The day on the paper: `orderDate`, else the day on which it was sent, else that of the drawing. */
  readonly orderDate: string;
  /** The version that was mailed before this one, and the day of that; null: none was. */
  readonly replaces: { readonly version: number; readonly day: string } | null;
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
  readonly buyerName: string;
  readonly supplier: { readonly name: string; readonly address: Address | null; readonly email: string | null } | null;
  readonly billingAddress: Address | null;
  /** Where the goods go: the order's own address, else that of its location. */
  readonly deliverTo: { readonly name: string | null; readonly address: Address | null };
  readonly settings: DocumentSettings;
}

export interface DocumentContent extends Frame {
  readonly lineItems: readonly ContentLine[];
}

const amount = (value: Parameters<typeof moneyToNumber>[0] | null): number | null =>
  value === null ? null : moneyToNumber(value);

/** Changes in a document by a move that is about to be made. */
export interface NextVersion {
  readonly status: Status;
  /** The one after that of the stored order. */
  readonly version: number;
}

/** As what a document shows its order. */
interface ShownAs {
  readonly nowMs: number;
  /** As the move will leave it; null: as it is. */
  readonly next: NextVersion | null;
}

/**
 * The order's document without its lines.
 *
 * @throws Fault NOT_FOUND      there is no such shop or order.
 * @throws Fault DO_OVERLOADED  it is of another version than the one that is moved.
 */
export async function loadFrame(
  tx: Tx,
  shopId: string,
  purchaseOrderId: string,
  { nowMs, next }: ShownAs,
): Promise<Frame & { header: Header }> {
  const [shop, header, { documentType: _type, ...settings }] = await Promise.all([
    loadShop(tx, shopId),
    loadHeader(tx, shopId, purchaseOrderId),
    loadDocumentSettings(tx, shopId),
  ]);
  if (shop === null) throw new Fault("NOT_FOUND", `There is no shop ${shopId}.`);
  if (header === null) throw unknownOrder(purchaseOrderId);
  if (next !== null && header.version !== next.version - 1) throw changedMeanwhile();
  const { status, version } = next ?? header;
  const dayOf = (atMs: number): string => dateOf(dayIn(shop.timezone, atMs));
  // What is sent anew is sent on the day of that.
  const sentAtMs = status === "Draft" || next !== null ? null : header.sentAtMs;
  const [kept, mailed, [knownSupplier], [knownLocation]] = await Promise.all([
    loadParties(tx, shopId, header),
    mailedBefore(tx, shopId, purchaseOrderId, version),
    header.supplierId === null ? [] : recordsByKey(tx, supplierTable, shopId, [[header.supplierId]]),
    header.locationId === null ? [] : recordsByKey(tx, locationTable, shopId, [[header.locationId]]),
  ]);
  const supplier = kept.supplier ?? knownSupplier;
  const location = kept.location ?? knownLocation;
  return {
    header,
    purchaseOrderId,
    poNumber: header.poNumber,
    orderVersion: version,
    status,
    createdAtMs: header.createdAtMs,
    orderDate: header.orderDate ?? dayOf(sentAtMs ?? nowMs),
    replaces: mailed === null ? null : { version: mailed.orderVersion, day: dayOf(mailed.createdAtMs) },
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
    buyerName: kept.shopName ?? shop.name,
    supplier: supplier === undefined ? null : { name: supplier.name, address: supplier.address, email: supplier.email },
    billingAddress: header.billingAddress,
    deliverTo: { name: location?.name ?? null, address: header.shippingAddress ?? location?.address ?? null },
    settings,
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
    quantity: quantityToNumber(subtractQuantity(line.quantityOrdered, line.quantityCancelled)),
    packSize: line.packSize === null ? null : quantityToNumber(line.packSize),
    unitCost: moneyToNumber(line.unitCost),
    currencyCode: line.unitCostCurrencyCode,
    lineTotal: moneyToNumber(lineTotal(line)),
    expectedDeliveryDate: line.expectedDeliveryDate,
    isUnpriced: header.unpricedLineItemIds.includes(line.poLineItemId),
  };
}

/** Everything that stands in the order's document. @throws Fault as `loadFrame`. */
export async function loadContent(
  tx: Tx,
  shopId: string,
  purchaseOrderId: string,
  shown: ShownAs,
): Promise<DocumentContent> {
  const { header, ...frame } = await loadFrame(tx, shopId, purchaseOrderId, shown);
  const page = await pageOfLines(tx, shopId, purchaseOrderId, null, null);
  if (page === null) throw unknownOrder(purchaseOrderId);
  return { ...frame, lineItems: page.lineItems.map((line) => lineOf(line, header)) };
}

/** Lines that are read at a time: more would hold the event loop for too long. */
const linesAtOnce = 200;

/** Times that an order is read when it changes while it is read. */
const readingsMax = 5;

interface ContentRead {
  readonly frame: Frame;
  readonly lines: readonly ContentLine[];
  /** Null for the last part. */
  readonly end: number | null;
}

const readOnce = (
  engine: Pick<Engine, "read">,
  shopId: string,
  purchaseOrderId: string,
  shown: ShownAs,
  after: number | null,
): Promise<ContentRead> =>
  engine.read(shopId, async (tx) => {
    const { header, ...frame } = await loadFrame(tx, shopId, purchaseOrderId, shown);
    const page = await pageOfLines(tx, shopId, purchaseOrderId, after, linesAtOnce);
    if (page === null) throw unknownOrder(purchaseOrderId);
    return { frame, end: page.end, lines: page.lineItems.map((line) => lineOf(line, header)) };
  });

/**
 * The same, but of an order with many lines a part at a time, with the event loop free in between.
 *
 * @throws Fault NOT_FOUND when there is no such shop or order, DO_OVERLOADED when the order changes all the time.
 */
export async function readContent(
  engine: Pick<Engine, "read">,
  shopId: string,
  purchaseOrderId: string,
  shown: ShownAs,
): Promise<DocumentContent> {
  for (let reading = 0; reading < readingsMax; reading += 1) {
    let part = await readOnce(engine, shopId, purchaseOrderId, shown, null);
    const lines = [...part.lines];
    const { orderVersion } = part.frame;
    while (part.end !== null && part.frame.orderVersion === orderVersion) {
      part = await readOnce(engine, shopId, purchaseOrderId, shown, part.end);
      lines.push(...part.lines);
    }
    if (part.frame.orderVersion === orderVersion) return { ...part.frame, lineItems: lines };
  }
  throw changedMeanwhile();
}

const unknownOrder = (purchaseOrderId: string): Fault =>
  new Fault("NOT_FOUND", `There is no purchase order ${purchaseOrderId}.`, {
    action: "List orders with GET /api/v1/purchase-orders.",
  });

const changedMeanwhile = (): Fault =>
  new Fault("DO_OVERLOADED", "The order changes while its document is made; nothing was done.", {
    action: "Send the same request again when the order has come to rest.",
    retryAfterMs: 1_000,
  });

/** Names the bytes of a document: equal for the same order at the same version under the same letterhead. */
export const documentTag = (frame: Frame, kind: string): string =>
  createHash("sha256")
    .update(JSON.stringify([templateVersion, kind, frameContent(frame)]))
    .digest("hex")
    .slice(0, 32);

/** The frame without lines that may stand beside it: the version tells of them. */
function frameContent(frame: Frame & { readonly lineItems?: unknown }): object {
  const { lineItems: _lines, ...rest } = frame;
  return rest;
}

/** The article in the supplier's words, else in the shop's. */
export const descriptionOf = (line: ContentLine): string =>
  [line.supplierProductName ?? line.productName ?? line.poLineItemId, line.variantName]
    .filter((part) => part !== null && part !== "")
    .join(" – ");

/** A document without an order: whatever is wrong with the settings shows when it is drawn. */
export const exampleContent = (settings: DocumentSettings): DocumentContent => ({
  purchaseOrderId: "",
  poNumber: "PO-1001",
  orderVersion: 1,
  status: "Draft",
  createdAtMs: 0,
  orderDate: "2026-01-31",
  replaces: null,
  expectedDeliveryDate: null,
  supplierReference: null,
  paymentTerms: null,
  incoterm: null,
  noteToSupplier: null,
  currencyCode: "EUR",
  totalValue: 0,
  shippingCost: null,
  discountAmount: null,
  taxAmount: null,
  grandTotal: 0,
  buyerName: "",
  supplier: null,
  billingAddress: null,
  deliverTo: { name: null, address: null },
  settings,
  lineItems: [],
});
