/**
 * Import and export records of purchase orders (contract §8): the order with its lines as the API shows it, its
 * attachments and its history.
 *
 * Owns: what a record looks like, from JSON to stored values and back, so that import(export(x)) = x. Does not own:
 * completing and checking the order (core/order/adopt.ts), how records of a file reach their tables (staging.ts,
 * import-chunks.ts).
 */
import { z } from "zod";
import type { Actor } from "../../core/access/actor.ts";
import { type AdoptFacts, adoptOrder, type OutsideOrder } from "../../core/order/adopt.ts";
import type { Attachments } from "../../core/order/attachments.ts";
import { accountedQuantity, baseQuantity } from "../../core/order/lines.ts";
import { packed, storedHeaderFields, storedLineFields, unpacked } from "../../core/order/purchase-order-fields.ts";
import {
  type OrderWithLines,
  linesPerOrderMax,
  statuses,
  storefrontSyncStates,
} from "../../core/order/purchase-order.ts";
import {
  codeText,
  address,
  currencyCode,
  day,
  id,
  instant,
  leadTimeDays,
  noRepeats,
  positiveQuantity,
  productNameMax,
  quantity,
  text,
  unitCost,
} from "../../operations/fields.ts";
import {
  appliedCreditJson,
  documentJson,
  logEntryJson,
  paymentJson,
  receiptJson,
  shipmentJson,
} from "../../operations/purchase-orders/attachments.ts";
import {
  fxRate,
  headerInput,
  headerJson,
  headerUpdateInput,
  keptJson,
  lineFieldInput,
  lineJson,
  supplierInput,
} from "../../operations/purchase-orders/json.ts";
import { replacedChanges } from "../../core/order/replaced.ts";
import type { LogEntry, OrderHistory } from "../../shop/order/purchase-order-history.ts";
import type { ImportedOrder, ImportStamp, ReplacedOrder } from "../../shop/order/purchase-orders.ts";
import type { Ids } from "../../base/time/clock.ts";
import {
  costSyncInput,
  costSyncRecord,
  creditInput,
  documentInput,
  importedEntries,
  logInput,
  paymentInput,
  receiptInput,
  shipmentInput,
  replacedByImport,
} from "./attachments.ts";
import { attachmentsMax, derived, historyMax, instantMs, optional, shortText } from "../record-type.ts";

const lineInput = z.strictObject({
  poLineItemId: id.optional(),
  variantId: id,
  quantityOrdered: positiveQuantity,
  quantityConfirmed: quantity.optional(),
  quantityReceived: quantity.optional(),
  quantityRejected: quantity.optional(),
  quantityCancelled: quantity.optional(),
  /** When it is left out, the imported inventory levels are taken to include what was received. */
  quantitySynced: quantity.optional(),
  /** Lifts P2 for this line, as in /receive. */
  allowOverReceipt: z.boolean().default(false),
  unitCost: unitCost.optional(),
  unitCostCurrencyCode: currencyCode.nullable().optional(),
  productName: text(productNameMax).nullable().optional(),
  variantName: optional(text(productNameMax)),
  sku: optional(codeText),
  barcode: optional(codeText),
  ...supplierInput,
  ...lineFieldInput,
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
  ...headerUpdateInput,
  /** Values that the order keeps of its day. Left out: what holds now. */
  fxRates: z.record(currencyCode, fxRate).optional(),
  supplierLeadTimeDays: leadTimeDays.nullable().optional(),
  sentDate: day.nullable().optional(),
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
    .max(attachmentsMax)
    .check(noRepeats((payment) => payment.paymentId, "paymentId"))
    .default([]),
  documents: z
    .array(documentInput)
    .max(attachmentsMax)
    .check(noRepeats((document) => document.documentId, "documentId"))
    .default([]),
  shipments: z
    .array(shipmentInput)
    .max(attachmentsMax)
    .check(noRepeats((shipment) => shipment.shipmentId, "shipmentId"))
    .default([]),
  credits: z
    .array(creditInput)
    .max(attachmentsMax)
    .check(noRepeats((credit) => credit.creditId, "creditId"))
    .default([]),
  addresses: z.strictObject({ billingAddress: optional(address), shippingAddress: optional(address) }).optional(),
  log: z
    .array(logInput)
    .max(historyMax)
    .check(noRepeats((entry) => entry.logId, "logId"))
    .optional(),
  receipts: z
    .array(receiptInput)
    .max(historyMax)
    .check(noRepeats((receipt) => receipt.receiptId, "receiptId"))
    .default([]),
  costSyncHistory: z
    .array(costSyncInput)
    .max(historyMax)
    .check(noRepeats((row) => row.costSyncId, "costSyncId"))
    .default([]),
  supplierName: derived,
  locationName: derived,
  itemCount: derived,
  totalValue: derived,
  grandTotal: derived,
  quantityOrdered: derived,
  quantityConfirmed: derived,
  quantityReceived: derived,
  quantityPending: derived,
  nextExpectedDate: derived,
  unpricedLineItemIds: derived,
  paidStatus: derived,
  shipment: derived,
});

export type OrderInput = z.output<typeof purchaseOrderInput>;

/** Facts that the shop knows in addition to the record, and the call that imports it. */
export interface OrderFacts extends AdoptFacts {
  readonly requestId: string;
  readonly ids: Ids;
  /** The person of the shop who imports; null: the operator, whose records are taken as they are. */
  readonly by: Actor | null;
}

/** The record's order for core: every line has an id, and instants have core's names. */
function outsideOrder(input: OrderInput, poNumber: string, attachments: Attachments, ids: Ids): OutsideOrder {
  return {
    ...input,
    billingAddress: input.billingAddress ?? input.addresses?.billingAddress,
    shippingAddress: input.shippingAddress ?? input.addresses?.shippingAddress,
    poNumber,
    createdAtMs: input.createdAt,
    updatedAtMs: input.updatedAt,
    sentAtMs: input.sentAt,
    confirmedAtMs: input.confirmedAt,
    receivedAtMs: input.receivedAt,
    completedAtMs: input.completedAt,
    cancelledAtMs: input.cancelledAt,
    lineItems: input.lineItems.map((line) => ({
      ...line,
      poLineItemId: line.poLineItemId ?? ids.next("pol"),
      createdAtMs: line.createdAt,
      updatedAtMs: line.updatedAt,
    })),
    attachments,
  };
}

/**
 * The order that a record describes, completed and checked, with its attachments and history.
 *
 * @param poNumber the record's own, or a placeholder until the order gets one.
 * @throws Fault INVALID_INPUT  the order breaks a rule (`adoptOrder`).
 */
export function orderFrom(input: OrderInput, poNumber: string, facts: OrderFacts): ImportedOrder {
  const { payments, documents, shipments, credits } = input;
  const attachments: Attachments = { payments, documents, shipments, credits };
  const order = adoptOrder(outsideOrder(input, poNumber, attachments, facts.ids), facts);
  const { by } = facts;
  const logEntries = by === null ? input.log : importedEntries(input.log ?? []);
  const history: OrderHistory = {
    log: by === null && logEntries !== undefined ? logEntries : [...(logEntries ?? []), importedEntry(order, facts)],
    receipts: input.receipts,
    costSyncHistory: input.costSyncHistory,
  };
  return {
    order,
    attachments,
    history,
    deletedAtMs: input.deletedAt,
    ...(by === null ? {} : { by: { actor: by, requestId: facts.requestId } }),
  };
}

// On its way through an import.

/**
 * An order as it is staged: its values without their names, which make up most of its text. An order that an earlier
 * version staged is an `ImportedOrder`.
 */
type StagedOrder = readonly [
  header: ReturnType<typeof packed>,
  states: Pick<OrderWithLines, "status" | "previousStatus" | "storefrontSyncState">,
  lines: readonly ReturnType<typeof packed>[],
  more: Omit<ImportedOrder, "order">,
];

/** The order as text, for `stagedOrderFrom`. */
export function stagedOrderText({ order, ...more }: ImportedOrder): string {
  const { status, previousStatus, storefrontSyncState } = order;
  const staged: StagedOrder = [
    packed(storedHeaderFields, order),
    { status, previousStatus, storefrontSyncState },
    order.lineItems.map((line) => packed(storedLineFields, line)),
    more,
  ];
  return JSON.stringify(staged);
}

/** From the text of `stagedOrderText`, which is trusted. */
export function stagedOrderFrom(text: string): ImportedOrder {
  const staged: StagedOrder | ImportedOrder = JSON.parse(text);
  if (!isStaged(staged)) return staged;
  const [header, states, lines, more] = staged;
  const order: OrderWithLines = {
    ...unpacked(storedHeaderFields, header),
    ...states,
    supplierName: null,
    supplierLeadTimeNow: null,
    locationName: null,
    lineItems: lines.map((line) => unpacked(storedLineFields, line)),
  };
  return { ...more, order };
}

const isStaged = (staged: StagedOrder | ImportedOrder): staged is StagedOrder => Array.isArray(staged);

/** The log entry of an order whose record has no log. */
const importedEntry = ({ status }: OrderWithLines, { ids, nowMs, requestId, by }: OrderFacts): LogEntry => ({
  logId: ids.next("log"),
  occurredAtMs: nowMs,
  action: "import",
  message: `Imported as ${status}.`,
  actor: by ?? { type: "system", id: null, name: null },
  operation: "shop_import",
  requestId,
  changes: [],
});

const attachmentsJson = ({ payments, documents, shipments, credits }: Attachments) => ({
  payments: payments.map(paymentJson),
  documents: documents.map(documentJson),
  shipments: shipments.map(shipmentJson),
  credits: credits.map(appliedCreditJson),
});

/** The log entry of an order that a person's record replaces; its own log stays (§8). Null: nothing differs. */
export function replacedEntry(
  stamp: ImportStamp,
  before: ReplacedOrder | null,
  { order, attachments }: ImportedOrder,
  context: { readonly ids: Ids; readonly nowMs: number },
): LogEntry | null {
  const old = new Map<string, unknown>(before === null ? [] : Object.entries(attachmentsJson(before.attachments)));
  const attached = Object.entries(attachmentsJson(attachments)).flatMap(([field, after]) =>
    JSON.stringify(old.get(field)) === JSON.stringify(after)
      ? []
      : { field, poLineItemId: null, before: old.get(field) ?? null, after },
  );
  const changes = before === null ? [] : [...replacedChanges(before.order, order), ...attached];
  if (before !== null && changes.length === 0) return null;
  const entry = replacedByImport(stamp, changes, context);
  return before === null ? { ...entry, message: `Imported as ${order.status}; it had been deleted.` } : entry;
}

/** The record of an order: header and lines as the API shows them, its attachments and history. */
export function orderJson({ order, attachments, history, deletedAtMs }: ImportedOrder) {
  return {
    type: "purchaseOrder",
    ...headerJson(order),
    ...keptJson(order),
    ...(deletedAtMs === null ? {} : { deletedAt: instant(deletedAtMs) }),
    lineItems: order.lineItems.map((line) => ({
      ...lineJson(line),
      ...(accountedQuantity(line) > baseQuantity(line) ? { allowOverReceipt: true } : {}),
    })),
    ...attachmentsJson(attachments),
    log: history.log.map(logEntryJson),
    receipts: history.receipts.map(receiptJson),
    costSyncHistory: history.costSyncHistory.map(costSyncRecord),
  };
}
