/**
 * Import and export records (contract §8): one JSON object a line, `type` first.
 *
 * Owns: what each type of record looks like, from JSON to stored values and back, so that import(export(x)) = x. Does not own:
 * lines, chunks and transactions (import.ts, export.ts) or SQL (shop/records.ts, shop/rows.ts).
 *
 * A record has the fields that the API returns for it. Nullable fields may be left out; fields that follow from others (`totalValue`,
 * `quantityPending`, `supplierName`, …) may be there and are computed anew. Unknown fields are refused.
 */
import { z } from "zod";
import {
  type AppliedCredit,
  type Attachments,
  documentTypes,
  type OrderDocument,
  type Payment,
  paymentStatuses,
  paymentTypes,
  settledAmount,
  type Shipment,
  shipmentStatuses,
  type SupplierCredit,
} from "../core/attachment.ts";
import { invalidField } from "../core/fault.ts";
import { isHeld } from "../core/lifecycle.ts";
import { accountedQuantity, baseQuantity, isCustom, lineTotal, orderTotals } from "../core/lines.ts";
import {
  moneyDecimalsMax,
  moneyToNumber,
  type Quantity,
  quantityFrom,
  quantityMax,
  quantityToNumber,
  totalValueMax,
  zeroMoney,
  zeroQuantity,
} from "../core/money.ts";
import {
  type LineItem,
  linesPerOrderMax,
  type PurchaseOrder,
  type ShopFacts,
  type Status,
  statuses,
  storefrontSyncStates,
} from "../core/purchase-order.ts";
import { storefrontSyncState } from "../core/storefront-plan.ts";
import { forecastViewInput, forecastViewJson } from "../operations/forecast-views.ts";
import { checkInput } from "../operations/input.ts";
import {
  appliedCreditJson,
  costSyncJson,
  documentJson,
  logEntryJson,
  paymentJson,
  receiptJson,
  shipmentJson,
} from "../operations/purchase-order-reads.ts";
import {
  addressJson,
  address,
  amount,
  currencyCode,
  day,
  fxRate,
  headerInput,
  headerJson,
  id,
  instant,
  leadTimeDays,
  lineJson,
  moneyOrNull,
  noRepeats,
  noteMax,
  positiveQuantity,
  productNameMax,
  quantity,
  quantityOrNull,
  shortTextMax,
  supplierInput,
  supplierVariantDetailsMax,
  text,
  unitCost,
  urlMax,
} from "../operations/wire.ts";
import {
  type ForecastView,
  forecastViewStatements,
  listForecastViews,
  markSeriesStatement,
  type ViewPosition,
} from "../shop/forecast-rows.ts";
import {
  type CostSyncEntry,
  type InventoryLevel,
  inventoryLevelTable,
  type Location,
  locationTable,
  type LogEntry,
  type OrderHistory,
  pageOf,
  type Receipt,
  recordsByKey,
  type RecordTable,
  replaceStatement,
  type Sale,
  saleTable,
  type Supplier,
  supplierCreditTable,
  supplierTable,
  type SupplierVariant,
  supplierVariantTable,
  type Variant,
  variantStatuses,
  variantTable,
} from "../shop/records.ts";
import type { VariantSnapshot } from "../shop/rows.ts";
import type { Shop } from "../shop/account.ts";
import type { Ids, Statement, Tx } from "../shop/shop.ts";

/** Null when left out. */
export const optional = <T extends z.ZodType>(schema: T) => schema.nullable().default(null);
/** A figure that follows from others: whatever it says, it is computed anew. */
export const derived = z.unknown().optional();
/** An RFC 3339 instant, as milliseconds. */
export const instantMs = z.iso.datetime({ offset: true }).transform((value) => Date.parse(value));
export const shortText = text(shortTextMax);
/** A level can be below 0: a storefront may sell what it does not have. */
export const signedQuantity = z
  .number()
  .min(-quantityMax)
  .max(quantityMax)
  .transform((value, context): Quantity => {
    const parsed = quantityFrom(value);
    if (parsed !== null) return parsed;
    context.addIssue({ code: "custom", message: "must have at most 3 decimals" });
    return z.NEVER;
  });
/** Text that the program wrote itself, which may be longer than what a caller may send. */
const ownText = z.string();

// Reference data.

const locationInput = z
  .strictObject({ type: z.literal("location"), locationId: id, name: shortText, address: optional(address) })
  .transform(({ type: _type, ...location }): Location => location);

const locationJson = (location: Location) => ({
  type: "location",
  locationId: location.locationId,
  name: location.name,
  address: addressJson(location.address),
});

const supplierRecordInput = z
  .strictObject({
    type: z.literal("supplier"),
    supplierId: id,
    name: shortText,
    email: optional(shortText),
    currencyCode: optional(currencyCode),
    leadTimeDays: optional(leadTimeDays),
    address: optional(address),
  })
  .transform(({ type: _type, ...supplier }): Supplier => supplier);

const supplierJson = (supplier: Supplier) => ({
  type: "supplier",
  supplierId: supplier.supplierId,
  name: supplier.name,
  email: supplier.email,
  currencyCode: supplier.currencyCode,
  leadTimeDays: supplier.leadTimeDays,
  address: addressJson(supplier.address),
});

const variantInput = z
  .strictObject({
    type: z.literal("variant"),
    variantId: id,
    productId: id,
    productName: text(productNameMax),
    variantName: optional(text(productNameMax)),
    sku: optional(shortText),
    barcode: optional(shortText),
    unitCost: optional(unitCost),
    price: optional(unitCost),
    status: z.enum(variantStatuses).default("active"),
  })
  .transform(({ type: _type, ...variant }): Variant => variant);

const variantJson = (variant: Variant) => ({
  type: "variant",
  variantId: variant.variantId,
  productId: variant.productId,
  productName: variant.productName,
  variantName: variant.variantName,
  sku: variant.sku,
  barcode: variant.barcode,
  unitCost: moneyOrNull(variant.unitCost),
  price: moneyOrNull(variant.price),
  status: variant.status,
});

const supplierVariantInput = z
  .strictObject({
    type: z.literal("supplierVariant"),
    supplierId: id,
    variantId: id,
    unitCost: optional(unitCost),
    unitCostCurrencyCode: optional(currencyCode),
    ...supplierInput,
    supplierVariantDetails: optional(z.unknown()).transform((details, context): string | null => {
      const json = details === null ? null : JSON.stringify(details);
      if (json === null || json.length <= supplierVariantDetailsMax) return json;
      context.addIssue({ code: "custom", message: `must be at most ${supplierVariantDetailsMax} characters of JSON` });
      return z.NEVER;
    }),
  })
  .transform((entry): SupplierVariant => ({
    supplierId: entry.supplierId,
    variantId: entry.variantId,
    unitCost: entry.unitCost,
    unitCostCurrencyCode: entry.unitCostCurrencyCode,
    supplierSku: entry.supplierSku ?? null,
    supplierBarcode: entry.supplierBarcode ?? null,
    supplierProductName: entry.supplierProductName ?? null,
    supplierProductUrl: entry.supplierProductUrl ?? null,
    supplierVariantDetails: entry.supplierVariantDetails,
    moq: entry.moq ?? null,
    packSize: entry.packSize ?? null,
    leadTimeDays: entry.leadTimeDays ?? null,
  }));

function detailsFrom(json: string | null): unknown {
  const details: unknown = json === null ? null : JSON.parse(json);
  return details;
}

const supplierVariantJson = (entry: SupplierVariant) => ({
  type: "supplierVariant",
  supplierId: entry.supplierId,
  variantId: entry.variantId,
  unitCost: moneyOrNull(entry.unitCost),
  unitCostCurrencyCode: entry.unitCostCurrencyCode,
  supplierSku: entry.supplierSku,
  supplierBarcode: entry.supplierBarcode,
  supplierProductName: entry.supplierProductName,
  supplierProductUrl: entry.supplierProductUrl,
  supplierVariantDetails: detailsFrom(entry.supplierVariantDetails),
  moq: quantityOrNull(entry.moq),
  packSize: quantityOrNull(entry.packSize),
  leadTimeDays: entry.leadTimeDays,
});

const inventoryLevelInput = z
  .strictObject({ type: z.literal("inventoryLevel"), variantId: id, locationId: id, onHand: signedQuantity })
  .transform(({ type: _type, ...level }): InventoryLevel => level);

const inventoryLevelJson = (level: InventoryLevel) => ({
  type: "inventoryLevel",
  variantId: level.variantId,
  locationId: level.locationId,
  onHand: quantityToNumber(level.onHand),
});

const saleInput = z
  .strictObject({
    type: z.literal("sale"),
    variantId: id,
    locationId: optional(id),
    date: day,
    quantity,
  })
  .transform(({ type: _type, ...sale }): Sale => sale);

const saleJson = (sale: Sale) => ({
  type: "sale",
  variantId: sale.variantId,
  locationId: sale.locationId,
  date: sale.date,
  quantity: quantityToNumber(sale.quantity),
});

const supplierCreditInput = z
  .strictObject({
    type: z.literal("supplierCredit"),
    creditId: id,
    creditNumber: optional(shortText),
    supplierId: id,
    creditDate: optional(day),
    amount,
    balance: amount.optional(),
    currencyCode,
    reason: optional(text(noteMax)),
  })
  .check((context) => {
    const { amount, balance } = context.value;
    if (balance !== undefined && balance > amount)
      context.issues.push({ code: "custom", input: balance, path: ["balance"], message: "must not be above amount" });
  })
  .transform(({ type: _type, balance, ...credit }): SupplierCredit => ({
    ...credit,
    balance: balance ?? credit.amount,
  }));

const supplierCreditJson = (credit: SupplierCredit) => ({
  type: "supplierCredit",
  creditId: credit.creditId,
  creditNumber: credit.creditNumber,
  supplierId: credit.supplierId,
  creditDate: credit.creditDate,
  amount: moneyToNumber(credit.amount),
  balance: moneyToNumber(credit.balance),
  currencyCode: credit.currencyCode,
  reason: credit.reason,
});

/** What there is at hand when a record is brought into its tables. */
export interface Bringing {
  readonly tx: Tx;
  readonly shop: Shop;
  readonly nowMs: number;
  readonly ids: Ids;
}

/** One type of reference record, between its file form, its stored form (JSON text of the value in core's units) and its table. */
export interface ReferenceType {
  /**
   * `weight` is how many rows the record makes, 1 when it is left out.
   *
   * @throws Fault INVALID_INPUT naming the fields.
   */
  parse(record: unknown): { readonly recordId: string; readonly stored: string; readonly weight?: number };
  /** Stores the record, replacing the one with its key, and keeps up what follows from it. */
  statements(shopId: string, stored: string, bringing: Bringing): readonly Statement[] | Promise<readonly Statement[]>;
  /** Records as the lines of a file, in the order of their keys, from behind `after` (a `next` of an earlier page) on. */
  page(
    tx: Tx,
    shopId: string,
    after: string | null,
    limit: number,
  ): Promise<{ readonly lines: readonly string[]; readonly next: string | null }>;
}

/** One whose records can be looked up by the values of its table's key. */
export interface KeyedType extends ReferenceType {
  /** The records that are there, in their file form, by `recordId`. */
  find(tx: Tx, shopId: string, keys: readonly (readonly string[])[]): Promise<ReadonlyMap<string, object>>;
}

/** The `recordId` of a key. */
export const recordIdOf = (key: readonly unknown[]): string => key.join(" ");

export function referenceType<Stored, Row>(
  input: z.ZodType<Stored>,
  json: (record: Stored) => object,
  table: RecordTable<Stored, Row>,
  follows: (shopId: string, record: Stored) => readonly Statement[] = () => [],
): KeyedType {
  const keyOf = (record: Stored): string => recordIdOf(table.key.map((column) => table.columns[column](record)));
  // Trusts text that `parse` wrote.
  const recordFrom = (stored: string): Stored => {
    const record: Stored = JSON.parse(stored);
    return record;
  };
  return {
    parse(record) {
      const parsed = checkInput(input, record);
      return { recordId: keyOf(parsed), stored: JSON.stringify(parsed) };
    },
    statements(shopId, stored) {
      const record = recordFrom(stored);
      return [replaceStatement(table, shopId, record), ...follows(shopId, record)];
    },
    async page(tx, shopId, after, limit) {
      const records = await pageOf(tx, table, shopId, after === null ? null : recordFrom(after), limit);
      const last = records.length < limit ? undefined : records.at(-1);
      return {
        lines: records.map((record) => JSON.stringify(json(record))),
        next: last === undefined ? null : JSON.stringify(last),
      };
    },
    async find(tx, shopId, keys) {
      const records = await recordsByKey(tx, table, shopId, keys);
      return new Map(records.map((record) => [keyOf(record), json(record)]));
    },
  };
}

/** Forecast views: their filters are rows of their own. Both forms of text are those that `parse` and `page` wrote. */
const forecastViewType: ReferenceType = {
  parse(record) {
    const view = checkInput(forecastViewInput, record);
    return { recordId: view.viewId, stored: JSON.stringify(view) };
  },
  statements(shopId, stored) {
    const view: ForecastView = JSON.parse(stored);
    return forecastViewStatements(shopId, view);
  },
  async page(tx, shopId, after, limit) {
    const position: ViewPosition | null = after === null ? null : JSON.parse(after);
    const { views, end } = await listForecastViews(tx, shopId, true, position, limit);
    return {
      lines: views.map((view) => JSON.stringify(forecastViewJson(view))),
      next: end === null ? null : JSON.stringify(end),
    };
  },
};

/** In the order in which an export holds them: what others rely on comes first. */
export const referenceTypes = {
  location: referenceType(locationInput, locationJson, locationTable),
  supplier: referenceType(supplierRecordInput, supplierJson, supplierTable),
  variant: referenceType(variantInput, variantJson, variantTable),
  supplierVariant: referenceType(supplierVariantInput, supplierVariantJson, supplierVariantTable),
  inventoryLevel: referenceType(inventoryLevelInput, inventoryLevelJson, inventoryLevelTable),
  sale: referenceType(saleInput, saleJson, saleTable, (shopId, sale) => [markSeriesStatement(shopId, sale)]),
  supplierCredit: referenceType(supplierCreditInput, supplierCreditJson, supplierCreditTable),
  forecastView: forecastViewType,
} as const satisfies Readonly<Record<string, ReferenceType>>;

// Orders.

const paymentInput = z
  .strictObject({
    paymentId: id,
    paymentName: optional(shortText),
    paymentType: z.enum(paymentTypes).default("other"),
    status: z.enum(paymentStatuses),
    amount,
    currencyCode,
    dueDate: optional(day),
    paidAt: optional(instantMs),
    paymentMethod: optional(shortText),
    reference: optional(shortText),
    note: optional(text(noteMax)),
    createdAt: instantMs,
    createdBy: optional(shortText),
  })
  .transform(({ paidAt, createdAt, ...payment }): Payment => ({
    ...payment,
    paidAtMs: paidAt,
    createdAtMs: createdAt,
  }));

export const documentInput = z
  .strictObject({
    documentId: id,
    fileName: shortText,
    contentType: optional(shortText),
    fileSizeBytes: optional(z.int().min(0)),
    documentType: z.enum(documentTypes).default("other"),
    version: z.int().min(1).default(1),
    uploadedAt: instantMs,
    uploadedBy: optional(shortText),
  })
  .transform(({ uploadedAt, ...document }): OrderDocument => ({ ...document, uploadedAtMs: uploadedAt }));

const allocationInput = z.strictObject({
  poLineItemId: id,
  variantId: id,
  quantityAllocated: quantity,
  quantityReceived: quantity.default(zeroQuantity),
  quantityRejected: quantity.default(zeroQuantity),
});

export const shipmentInput = z
  .strictObject({
    shipmentId: id,
    shipmentNumber: optional(shortText),
    status: z.enum(shipmentStatuses),
    carrier: optional(shortText),
    shippingMethod: optional(shortText),
    trackingNumber: optional(shortText),
    trackingUrl: optional(text(urlMax)),
    shippedDate: optional(day),
    expectedArrivalDate: optional(day),
    receivedDate: optional(day),
    shippingCost: optional(amount),
    currencyCode: optional(currencyCode),
    note: optional(text(noteMax)),
    lineAllocations: z
      .array(allocationInput)
      .max(linesPerOrderMax)
      .check(noRepeats((allocation) => allocation.poLineItemId, "poLineItemId"))
      .default([]),
  })
  .transform((shipment): Shipment => shipment);

const creditInput = z
  .strictObject({
    creditId: id,
    creditNumber: optional(shortText),
    amountApplied: amount,
    currencyCode,
    appliedAt: instantMs,
  })
  .transform(({ appliedAt, ...credit }): AppliedCredit => ({ ...credit, appliedAtMs: appliedAt }));

export const logInput = z
  .strictObject({
    logId: id,
    occurredAt: instantMs,
    action: shortText,
    message: ownText,
    actor: z.strictObject({
      type: z.enum(["api-key", "agent", "user", "system"]),
      id: optional(ownText),
      name: optional(ownText),
    }),
    operation: optional(ownText),
    requestId: optional(ownText),
    changes: z
      .array(
        z
          .strictObject({ field: ownText, poLineItemId: optional(id), before: z.unknown(), after: z.unknown() })
          .transform(({ field, poLineItemId, before, after }) => ({
            field,
            poLineItemId,
            before: before ?? null,
            after: after ?? null,
          })),
      )
      .default([]),
  })
  .transform(({ occurredAt, ...entry }): LogEntry => ({ ...entry, occurredAtMs: occurredAt }));

const receiptInput = z
  .strictObject({
    receiptId: id,
    receivedAt: instantMs,
    recordedBy: optional(ownText),
    source: z.enum(["receive", "unreceive", "quick-complete"]),
    reason: optional(ownText),
    requestId: optional(ownText),
    lines: z.array(
      z.strictObject({
        poLineItemId: id,
        variantId: id,
        quantityDelta: signedQuantity,
        quantityReceivedAfter: quantity,
      }),
    ),
  })
  .transform(({ receivedAt, ...receipt }): Receipt => ({ ...receipt, receivedAtMs: receivedAt }));

const costSyncInput = z
  .strictObject({
    costSyncId: id,
    variantId: id,
    poLineItemId: id,
    previousUnitCost: optional(unitCost),
    proposedUnitCost: unitCost,
    currencyCode,
    sourceUnitCost: unitCost,
    sourceCurrencyCode: currencyCode,
    fxRate,
    fxSource: z.enum(["override", "shop-rate", "same-currency"]),
    outcome: z.enum(["proposed", "applied", "skipped", "failed"]),
    reason: optional(ownText),
    attempt: z.int().min(1).default(1),
    completion: z.int().min(0).default(1),
    proposedAt: instantMs,
    resolvedAt: optional(instantMs),
  })
  .transform(({ proposedAt, resolvedAt, ...row }): CostSyncEntry => ({
    ...row,
    proposedAtMs: proposedAt,
    resolvedAtMs: resolvedAt,
  }));

/** The row as it is read, and which completion it belongs to. */
const costSyncRecord = (row: CostSyncEntry) => ({ ...costSyncJson(row), completion: row.completion });

const lineInput = z.strictObject({
  poLineItemId: id.optional(),
  variantId: id,
  quantityOrdered: positiveQuantity,
  quantityConfirmed: quantity.default(zeroQuantity),
  quantityReceived: quantity.default(zeroQuantity),
  quantityRejected: quantity.default(zeroQuantity),
  quantityCancelled: quantity.default(zeroQuantity),
  /** Left out: what was received is taken to be in the levels that come in beside the orders. */
  quantitySynced: quantity.optional(),
  /** Lifts P2 for this line, as in /receive. */
  allowOverReceipt: z.boolean().default(false),
  unitCost: unitCost.default(zeroMoney),
  unitCostCurrencyCode: currencyCode.nullable().optional(),
  productName: text(productNameMax).nullable().optional(),
  variantName: optional(text(productNameMax)),
  sku: optional(shortText),
  barcode: optional(shortText),
  ...supplierInput,
  expectedDeliveryDate: optional(day),
  note: optional(text(noteMax)),
  createdAt: instantMs.optional(),
  updatedAt: instantMs.optional(),
  isCustom: derived,
  lineItemStatus: derived,
  quantityPending: derived,
  lineTotal: derived,
});

export const purchaseOrderInput = z.strictObject({
  type: z.literal("purchaseOrder"),
  purchaseOrderId: id,
  poNumber: shortText.optional(),
  status: z.enum(statuses).default("Draft"),
  previousStatus: z.enum(statuses).optional(),
  ...headerInput,
  fxRateOverride: optional(fxRate),
  storefrontSyncState: z.enum(storefrontSyncStates).optional(),
  createdBy: optional(shortText),
  createdAt: instantMs.optional(),
  updatedAt: instantMs.optional(),
  sentAt: optional(instantMs),
  confirmedAt: optional(instantMs),
  receivedAt: optional(instantMs),
  completedAt: optional(instantMs),
  cancelledAt: optional(instantMs),
  /** Of an order that was soft-deleted (C33). */
  deletedAt: optional(instantMs),
  version: z.int().min(1).default(1),
  lineItems: z.array(lineInput).max(linesPerOrderMax).default([]),
  payments: z
    .array(paymentInput)
    .check(noRepeats((payment) => payment.paymentId, "paymentId"))
    .default([]),
  documents: z
    .array(documentInput)
    .check(noRepeats((document) => document.documentId, "documentId"))
    .default([]),
  shipments: z
    .array(shipmentInput)
    .check(noRepeats((shipment) => shipment.shipmentId, "shipmentId"))
    .default([]),
  credits: z
    .array(creditInput)
    .check(noRepeats((credit) => credit.creditId, "creditId"))
    .default([]),
  addresses: z.strictObject({ billingAddress: optional(address), shippingAddress: optional(address) }).optional(),
  log: z
    .array(logInput)
    .check(noRepeats((entry) => entry.logId, "logId"))
    .optional(),
  receipts: z
    .array(receiptInput)
    .check(noRepeats((receipt) => receipt.receiptId, "receiptId"))
    .default([]),
  costSyncHistory: z
    .array(costSyncInput)
    .check(noRepeats((row) => row.costSyncId, "costSyncId"))
    .default([]),
  supplierName: derived,
  locationName: derived,
  itemCount: derived,
  totalValue: derived,
  unpricedLineItemIds: derived,
  paidStatus: derived,
  shipment: derived,
});
export type OrderInput = z.output<typeof purchaseOrderInput>;
type LineInput = z.output<typeof lineInput>;

/** An order as it is stored, with all that hangs on it. */
export interface OrderRecord {
  readonly order: PurchaseOrder;
  readonly attachments: Attachments;
  readonly history: OrderHistory;
  readonly deletedAtMs: number | null;
}

/** What the shop knows beside the record. */
export interface OrderFacts {
  readonly shop: ShopFacts;
  /** The supplier's currency; null when the supplier or its currency is unknown. */
  readonly supplierCurrencyCode: string | null;
  /** Catalogue names for lines that do not bring their own (D2). */
  readonly variants: ReadonlyMap<string, VariantSnapshot>;
  readonly requestId: string;
  readonly nowMs: number;
  readonly ids: Ids;
}

/** Where an order usually comes from when a record does not say. A held status does not tell. */
const usualPrevious: Readonly<Record<Status, Status | null>> = {
  Draft: "Draft",
  Sent: "Draft",
  "Partially Confirmed": "Sent",
  Confirmed: "Sent",
  "In Progress": "Confirmed",
  "Partially Received": "In Progress",
  Received: "In Progress",
  Completed: "Received",
  Cancelled: null,
  "On Hold": null,
  Disputed: null,
};

function previousStatusOf(input: OrderInput): Status {
  const previous = input.previousStatus ?? usualPrevious[input.status];
  if (previous === null)
    throw invalidField("/previousStatus", `is needed for an order that is ${input.status}: it is the only way back`);
  if (isHeld(input) && isHeld({ status: previous }))
    throw invalidField("/previousStatus", `cannot be ${previous} for an order that is ${input.status}`);
  return previous;
}

/** P1, P2, P3 on a line that comes from outside. */
function refuseImpossibleQuantities(line: LineItem, at: string, input: LineInput, receipts: readonly Receipt[]): void {
  if (line.quantityConfirmed > line.quantityOrdered)
    throw invalidField(`${at}/quantityConfirmed`, "must not be above quantityOrdered");
  if (!input.allowOverReceipt && accountedQuantity(line) > baseQuantity(line))
    throw invalidField(
      `${at}/quantityReceived`,
      "received, rejected and cancelled together must not be above what is confirmed (ordered, if nothing is); " +
        "`allowOverReceipt: true` on the line lifts this",
    );
  if (line.quantitySynced <= line.quantityReceived) return;
  const takenBack = receipts.some(
    ({ source, lines }) => source === "unreceive" && lines.some((taken) => taken.poLineItemId === line.poLineItemId),
  );
  if (!takenBack) throw invalidField(`${at}/quantitySynced`, "must not be above quantityReceived");
}

function lineFrom(
  input: LineInput,
  index: number,
  order: Pick<OrderInput, "receipts"> & { readonly currencyCode: string; readonly createdAtMs: number },
  facts: OrderFacts,
): LineItem {
  const custom = isCustom(input);
  if (custom && (input.productName ?? null) === null)
    throw invalidField(`/lineItems/${index}/productName`, "is needed on a custom line");
  const snapshot = input.productName === undefined ? facts.variants.get(input.variantId) : undefined;
  const createdAtMs = input.createdAt ?? order.createdAtMs;
  const line: LineItem = {
    poLineItemId: input.poLineItemId ?? facts.ids.next("pol"),
    variantId: input.variantId,
    quantityOrdered: input.quantityOrdered,
    quantityConfirmed: input.quantityConfirmed,
    quantityReceived: input.quantityReceived,
    quantityRejected: input.quantityRejected,
    quantityCancelled: input.quantityCancelled,
    quantitySynced: input.quantitySynced ?? (custom ? zeroQuantity : input.quantityReceived),
    unitCost: input.unitCost,
    unitCostCurrencyCode: input.unitCostCurrencyCode ?? order.currencyCode,
    productName: input.productName ?? snapshot?.productName ?? null,
    variantName: input.variantName ?? snapshot?.variantName ?? null,
    sku: input.sku ?? snapshot?.sku ?? null,
    barcode: input.barcode ?? snapshot?.barcode ?? null,
    supplierSku: input.supplierSku ?? null,
    supplierBarcode: input.supplierBarcode ?? null,
    supplierProductName: input.supplierProductName ?? null,
    supplierProductUrl: input.supplierProductUrl ?? null,
    moq: input.moq ?? null,
    packSize: input.packSize ?? null,
    leadTimeDays: input.leadTimeDays ?? null,
    expectedDeliveryDate: input.expectedDeliveryDate,
    note: input.note,
    createdAtMs,
    updatedAtMs: input.updatedAt ?? createdAtMs,
  };
  if (lineTotal(line) > totalValueMax * 10 ** moneyDecimalsMax)
    throw invalidField(`/lineItems/${index}`, `is worth more than ${totalValueMax}`);
  refuseImpossibleQuantities(line, `/lineItems/${index}`, input, order.receipts);
  return line;
}

/**
 * The order that a record describes, whole and checked. Totals, payment and sync state are computed; names, currency, ids, instants
 * and history that the record leaves out are filled in.
 *
 * @param poNumber the record's own, or a stand-in until one is given.
 * @throws Fault INVALID_INPUT  the record breaks P1, P2 or P3, needs a previous status or a location, or a line or the order is worth
 *                              too much.
 * Source: contract §8; C22, C29, C30, C35, D2.
 */
export function orderFrom(input: OrderInput, poNumber: string, facts: OrderFacts): OrderRecord {
  const createdAtMs = input.createdAt ?? facts.nowMs;
  const orderCurrency = input.currencyCode ?? facts.supplierCurrencyCode ?? facts.shop.currencyCode;
  const locationId = input.locationId ?? null;
  if (locationId === null && input.status !== "Draft")
    throw invalidField("/locationId", `is needed for an order that is ${input.status}`);
  const lineItems = input.lineItems.map((line, index) =>
    lineFrom(line, index, { receipts: input.receipts, currencyCode: orderCurrency, createdAtMs }, facts),
  );
  const lineIds = new Set<string>();
  for (const [index, line] of lineItems.entries()) {
    if (lineIds.has(line.poLineItemId))
      throw invalidField(`/lineItems/${index}/poLineItemId`, `${line.poLineItemId} is given twice`);
    lineIds.add(line.poLineItemId);
  }
  const attachments: Attachments = {
    payments: input.payments,
    documents: input.documents,
    shipments: input.shipments,
    credits: input.credits,
  };
  const currency = { currencyCode: orderCurrency, fxRateOverride: input.fxRateOverride };
  const order: PurchaseOrder = {
    purchaseOrderId: input.purchaseOrderId,
    poNumber,
    poName: input.poName ?? null,
    status: input.status,
    previousStatus: previousStatusOf(input),
    supplierId: input.supplierId ?? null,
    supplierName: null,
    locationId,
    locationName: null,
    ...currency,
    orderDate: input.orderDate ?? null,
    expectedDeliveryDate: input.expectedDeliveryDate ?? null,
    supplierReference: input.supplierReference ?? null,
    paymentTerms: input.paymentTerms ?? null,
    incoterm: input.incoterm ?? null,
    shippingCost: input.shippingCost ?? null,
    discountAmount: input.discountAmount ?? null,
    taxAmount: input.taxAmount ?? null,
    tags: input.tags ?? [],
    note: input.note ?? null,
    noteToSupplier: input.noteToSupplier ?? null,
    billingAddress: input.billingAddress ?? input.addresses?.billingAddress ?? null,
    shippingAddress: input.shippingAddress ?? input.addresses?.shippingAddress ?? null,
    ...orderTotals(currency, lineItems, facts.shop),
    settledAmount: settledAmount(attachments, currency, facts.shop),
    storefrontSyncState: storefrontSyncState(lineItems, {
      inFlight: false,
      failed: input.storefrontSyncState === "failed",
    }),
    createdBy: input.createdBy,
    createdAtMs,
    updatedAtMs: input.updatedAt ?? createdAtMs,
    sentAtMs: input.sentAt,
    confirmedAtMs: input.confirmedAt,
    receivedAtMs: input.receivedAt,
    completedAtMs: input.completedAt,
    cancelledAtMs: input.cancelledAt,
    version: input.version,
    lineItems,
  };
  const history: OrderHistory = {
    log: input.log ?? [importedEntry(order, facts)],
    receipts: input.receipts,
    costSyncHistory: input.costSyncHistory,
  };
  return { order, attachments, history, deletedAtMs: input.deletedAt };
}

/** What the log of an order says that came without one. */
const importedEntry = ({ status }: PurchaseOrder, { ids, nowMs, requestId }: OrderFacts): LogEntry => ({
  logId: ids.next("log"),
  occurredAtMs: nowMs,
  action: "import",
  message: `Imported as ${status}.`,
  actor: { type: "system", id: null, name: null },
  operation: "shop_import",
  requestId,
  changes: [],
});

/** The record of an order: header and lines as the API returns them, and all that hangs on it. */
export function orderJson({ order, attachments, history, deletedAtMs }: OrderRecord) {
  return {
    type: "purchaseOrder",
    ...headerJson(order),
    ...(deletedAtMs === null ? {} : { deletedAt: instant(deletedAtMs) }),
    lineItems: order.lineItems.map((line) => ({
      ...lineJson(line),
      ...(accountedQuantity(line) > baseQuantity(line) ? { allowOverReceipt: true } : {}),
    })),
    payments: attachments.payments.map(paymentJson),
    documents: attachments.documents.map(documentJson),
    shipments: attachments.shipments.map(shipmentJson),
    credits: attachments.credits.map(appliedCreditJson),
    log: history.log.map(logEntryJson),
    receipts: history.receipts.map(receiptJson),
    costSyncHistory: history.costSyncHistory.map(costSyncRecord),
  };
}
