/**
 * The attachments of an order in SQL: payments, documents, shipments and credits, and the supplier's credits (contract
 * §9).
 *
 * Owns: storing and reading them. Does not own: what follows from them (core/order/attachments.ts). They come in by
 * import, but for shipments that a supplier's answer adds and documents that were sent to a supplier.
 */
import type {
  AppliedCredit,
  Attachments,
  OrderDocument,
  Payment,
  Shipment,
  SupplierCredit,
} from "../../core/order/attachments.ts";
import { type Change, insert } from "../../store/change.ts";
import { selectIn } from "../../store/in-lists.ts";
import type { Statement, Tx } from "../../store/store.ts";
import { tables } from "../tables.ts";
import { type OrderList, rowsOfOrders } from "./purchase-order-tables.ts";

const attachmentKinds = ["payment", "document", "shipment", "credit"] as const;

/** Before every other date. */
const earliestDate = "0000-01-01";

/** When a payment is due that has not been made; null when there is nothing to pay on a date. */
function dueDateOf({ status, dueDate }: Payment): string | null {
  if (status === "Overdue") return dueDate ?? earliestDate;
  return status === "Scheduled" ? dueDate : null;
}

/** Adds a shipment to the attachments that the order has. */
export const shipmentStatement = (shopId: string, purchaseOrderId: string, shipment: Shipment): Statement => ({
  sql: `insert into purchase_order_attachment (shop_id, purchase_order_id, kind, attachment_id, position, doc, due_date)
        select ?, ?, 'shipment', ?, coalesce(max(position), -1) + 1, ?, null from purchase_order_attachment
        where shop_id = ? and purchase_order_id = ?`,
  params: [shopId, purchaseOrderId, shipment.shipmentId, JSON.stringify(shipment), shopId, purchaseOrderId],
});

/** Adds a document to the attachments that the order has, unless it has the document already. */
export const sentDocumentStatement = (shopId: string, purchaseOrderId: string, document: OrderDocument): Statement => ({
  sql: `insert into purchase_order_attachment (shop_id, purchase_order_id, kind, attachment_id, position, doc, due_date)
        select ?, ?, 'document', ?, coalesce(max(position), -1) + 1, ?, null from purchase_order_attachment
        where shop_id = ? and purchase_order_id = ?
        on conflict do nothing`,
  params: [shopId, purchaseOrderId, document.documentId, JSON.stringify(document), shopId, purchaseOrderId],
});

/** Adds the attachments of an order that has none. */
export function attachmentStatements(
  shopId: string,
  purchaseOrderId: string,
  { payments, documents, shipments, credits }: Attachments,
): readonly Change[] {
  const entries: readonly (readonly [(typeof attachmentKinds)[number], string, object, string | null])[] = [
    ...payments.map((payment) => ["payment", payment.paymentId, payment, dueDateOf(payment)] as const),
    ...documents.map((document) => ["document", document.documentId, document, null] as const),
    ...shipments.map((shipment) => ["shipment", shipment.shipmentId, shipment, null] as const),
    ...credits.map((credit) => ["credit", credit.creditId, credit, null] as const),
  ];
  return entries.map(([kind, attachmentId, attachment, dueDate], position) =>
    insert(tables.purchase_order_attachment, shopId, {
      purchase_order_id: purchaseOrderId,
      kind,
      attachment_id: attachmentId,
      position,
      doc: JSON.stringify(attachment),
      due_date: dueDate,
    }),
  );
}

interface AttachmentRow {
  readonly kind: (typeof attachmentKinds)[number];
  readonly doc: string;
}

/** The rows that `loadAttachments` reads. */
export const selectAttachments =
  "select kind, doc from purchase_order_attachment where shop_id = ? and purchase_order_id = ? order by position";

/** The attachments of the order, each kind as it was imported. */
export async function loadAttachments(tx: Tx, shopId: string, purchaseOrderId: string): Promise<Attachments> {
  const rows = await tx.all<AttachmentRow>(selectAttachments, [shopId, purchaseOrderId]);
  return attachmentsFrom(rows);
}

/** The attachments of these orders that are of one kind, by order, each as it was imported. */
export async function attachmentsOfKind<Attachment>(
  tx: Tx,
  shopId: string,
  kind: "shipment" | "document",
  orderIds: readonly string[],
): Promise<ReadonlyMap<string, readonly Attachment[]>> {
  const rows = await selectIn<{ readonly purchase_order_id: string; readonly doc: string }>(
    tx,
    `select purchase_order_id, doc from purchase_order_attachment
     where shop_id = ? and kind = '${kind}' and purchase_order_id in (?) order by purchase_order_id, position`,
    [shopId],
    orderIds,
  );
  const ofOrders = Map.groupBy(rows, (row) => row.purchase_order_id);
  // Stored text is trusted: the import wrote it.
  return new Map([...ofOrders].map(([orderId, of]) => [orderId, of.map(({ doc }): Attachment => JSON.parse(doc))]));
}

const selectAttachmentsOfOrders = `
select purchase_order_id, kind, doc from purchase_order_attachment
where shop_id = ? and purchase_order_id in (?) order by position`;

/** The same of several orders, by order. */
export async function attachmentsOfOrders(
  tx: Tx,
  orders: OrderList,
): Promise<(purchaseOrderId: string) => Attachments> {
  const rows = await rowsOfOrders<AttachmentRow>(tx, selectAttachmentsOfOrders, orders);
  return (purchaseOrderId) => attachmentsFrom(rows.get(purchaseOrderId) ?? []);
}

function attachmentsFrom(rows: readonly AttachmentRow[]): Attachments {
  const payments: Payment[] = [];
  const documents: OrderDocument[] = [];
  const shipments: Shipment[] = [];
  const credits: AppliedCredit[] = [];
  for (const { kind, doc } of rows) {
    switch (kind) {
      case "payment":
        payments.push(JSON.parse(doc));
        break;
      case "document":
        documents.push(JSON.parse(doc));
        break;
      case "shipment":
        shipments.push(JSON.parse(doc));
        break;
      case "credit":
        credits.push(JSON.parse(doc));
        break;
    }
  }
  return { payments, documents, shipments, credits };
}

/** The supplier's credits by id, used ones included. */
export async function loadSupplierCredits(
  tx: Tx,
  shopId: string,
  supplierId: string,
): Promise<readonly SupplierCredit[]> {
  const rows = await tx.all<{ doc: string }>(
    "select doc from supplier_credit where shop_id = ? and supplier_id = ? order by credit_id",
    [shopId, supplierId],
  );
  return rows.map(({ doc }): SupplierCredit => JSON.parse(doc));
}
