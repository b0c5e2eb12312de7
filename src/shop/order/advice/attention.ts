/**
 * Facts about a shop's orders by which those that need attention are found: one row an order, without its lines.
 *
 * Owns: the SQL. Does not own: which order needs attention and why (core/order/advice/attention.ts).
 *
 * The cost grows with the orders that are on their way, not with those that are over. Of these, only the ones with a
 * payment due and those whose sync failed are read.
 */
import type { Payment } from "../../../core/order/attachments.ts";
import type { AttentionFacts } from "../../../core/order/advice/attention.ts";
import { type Day, dateOf } from "../../../base/time/calendar.ts";
import { type Quantity, asQuantity } from "../../../core/money/money.ts";
import {
  type PaidStatus,
  type Status,
  type StorefrontSyncState,
  customVariantPrefix,
  statuses,
} from "../../../core/order/purchase-order.ts";
import { isClosed } from "../../../core/order/status.ts";
import { selectIn } from "../../../store/in-lists.ts";
import type { Tx } from "../../../store/store.ts";
import { type OrdersWanted, isOneOf, orderIdsOf } from "../../order-list/order-search.ts";

/** Null: not filtered by it. */
interface AttentionFilters {
  readonly supplierId: string | null;
  readonly locationId: string | null;
}

/** A payment that may be due. */
type OpenPayment = Pick<Payment, "status" | "dueDate" | "amount" | "currencyCode">;

/** An order that may need attention, with what an answer shows of it. */
export interface AttentionOrder extends AttentionFacts {
  readonly poNumber: string;
  readonly supplierName: string | null;
  readonly quantityOrdered: Quantity;
  readonly quantityReceived: Quantity;
  readonly payments: readonly OpenPayment[];
}

interface OrderRow {
  readonly purchase_order_id: string;
  readonly po_number: string;
  readonly supplier_id: string | null;
  readonly supplier_name: string | null;
  readonly location_id: string | null;
  readonly status: Status;
  readonly previous_status: Status;
  readonly storefront_sync_state: StorefrontSyncState;
  readonly paid_status: PaidStatus;
  readonly created_at: number;
  readonly updated_at: number;
  readonly sent_at: number | null;
  readonly received_at: number | null;
  readonly quantity_ordered: number;
  readonly quantity_received: number;
  readonly quantity_confirmed: number;
  readonly quantity_pending: number;
  readonly next_expected_date: string | null;
  readonly unsynced: number;
}

/** Orders that are on their way: sent, and neither completed nor cancelled. */
const statusesInAttention = statuses.filter((status) => status !== "Draft" && !isClosed({ status }));

const selectOrders = `
select o.purchase_order_id, o.po_number, o.supplier_id, o.location_id, o.status, o.previous_status, o.storefront_sync_state, o.paid_status, o.created_at,
  o.updated_at, o.sent_at, o.received_at, o.quantity_ordered, o.quantity_received, o.quantity_confirmed,
  o.quantity_pending, o.next_expected_date, s.name as supplier_name,
  (select count(*) from purchase_order_line l
    where l.shop_id = o.shop_id and l.purchase_order_id = o.purchase_order_id
      and l.quantity_received <> l.quantity_synced and substr(l.variant_id, 1, 5) <> '${customVariantPrefix}') as unsynced
from purchase_order o left join supplier s on s.shop_id = o.shop_id and s.supplier_id = o.supplier_id
where o.shop_id = ? and o.deleted_at is null and o.purchase_order_id in (?)`;

const orderFrom = (row: OrderRow, payments: readonly OpenPayment[]): AttentionOrder => ({
  purchaseOrderId: row.purchase_order_id,
  poNumber: row.po_number,
  supplierName: row.supplier_name,
  status: row.status,
  previousStatus: row.previous_status,
  storefrontSyncState: row.storefront_sync_state,
  createdAtMs: row.created_at,
  updatedAtMs: row.updated_at,
  sentAtMs: row.sent_at,
  receivedAtMs: row.received_at,
  quantityOrdered: asQuantity(row.quantity_ordered),
  quantityReceived: asQuantity(row.quantity_received),
  quantityConfirmed: asQuantity(row.quantity_confirmed),
  quantityPending: asQuantity(row.quantity_pending),
  nextExpectedDate: row.next_expected_date,
  unsyncedLines: row.unsynced,
  payments: row.paid_status === "Paid" || row.paid_status === "Overpaid" ? [] : payments,
});

interface PaymentRow {
  readonly purchase_order_id: string;
  readonly doc: string;
}

function paymentFrom({ doc }: PaymentRow): OpenPayment {
  const payment: OpenPayment = JSON.parse(doc);
  return payment;
}

/** Payments that are due by today, of all orders. */
const duePayments = (tx: Tx, shopId: string, today: Day): Promise<readonly PaymentRow[]> =>
  tx.all<PaymentRow>(
    `select purchase_order_id, doc from purchase_order_attachment
     where shop_id = ? and due_date is not null and due_date <= ?`,
    [shopId, dateOf(today)],
  );

/** Payments of these orders of which an earlier version kept no date. */
const undatedPayments = (tx: Tx, shopId: string, orderIds: readonly string[]): Promise<readonly PaymentRow[]> =>
  selectIn<PaymentRow>(
    tx,
    `select purchase_order_id, doc from purchase_order_attachment
     where shop_id = ? and kind = 'payment' and due_date is null and purchase_order_id in (?)`,
    [shopId],
    orderIds,
  );

/**
 * The orders that may need attention: those on their way, and any other but a cancelled one with a payment due or a
 * failed sync.
 */
export async function attentionOrders(
  tx: Tx,
  shopId: string,
  { supplierId, locationId }: AttentionFilters,
  today: Day,
): Promise<readonly AttentionOrder[]> {
  const places = {
    ...(supplierId === null ? {} : { supplierId: isOneOf([supplierId]) }),
    ...(locationId === null ? {} : { locationId: isOneOf([locationId]) }),
  };
  const idsOf = (columns: OrdersWanted["columns"]): Promise<readonly string[]> =>
    orderIdsOf(tx, shopId, async () => ({ columns: { ...places, ...columns }, articles: [] }));
  const [due, onTheWay, unsynced] = await Promise.all([
    duePayments(tx, shopId, today),
    idsOf({ status: isOneOf(statusesInAttention) }),
    idsOf({ status: isOneOf(["Completed"]), storefrontSyncState: isOneOf(["failed"]) }),
  ]);
  const [rows, undated] = await Promise.all([
    selectIn<OrderRow>(
      tx,
      selectOrders,
      [shopId],
      [...onTheWay, ...unsynced, ...due.map((row) => row.purchase_order_id)],
    ),
    undatedPayments(tx, shopId, onTheWay),
  ]);
  const payments = Map.groupBy([...due, ...undated], (row) => row.purchase_order_id);
  return rows
    .filter(
      (row) =>
        row.status !== "Cancelled" &&
        (supplierId === null || row.supplier_id === supplierId) &&
        (locationId === null || row.location_id === locationId),
    )
    .map((row) => orderFrom(row, (payments.get(row.purchase_order_id) ?? []).map(paymentFrom)));
}
