/**
 * Figures of suppliers from their orders: what is open, what is late, when the last one was, whether they deliver on
 * time, and their documents.
 *
 * Owns: the SQL. The cost grows with the open orders of the suppliers and with a fixed number of others, not with all
 * orders of the shop.
 */
import { type Day, dateOf, dayFrom, dayIn } from "../../../base/time/calendar.ts";
import { type OrderDocument, receiptSchedule } from "../../../core/order/attachments.ts";
import { asMoney, asQuantity, type Money, zeroMoney } from "../../../core/money/money.ts";
import { type Header, type Status, statuses } from "../../../core/order/purchase-order.ts";
import { openStatuses } from "../../../core/order/status.ts";
import { expectedDateOf } from "../../../core/supplier/reminders.ts";
import { selectIn } from "../../../store/in-lists.ts";
import type { Tx } from "../../../store/store.ts";
import { loadExpectedOrders } from "../../forecast/forecast-facts.ts";
import { isOneOf, newestBy, orderIdsOf } from "../../order-list/order-search.ts";
import { attachmentsOfKind } from "../purchase-order-attachments.ts";
import { loadHeaders } from "../purchase-orders.ts";

/** Statuses of orders that were placed with the supplier. */
export const placedStatuses = statuses.filter((status) => status !== "Draft" && status !== "Cancelled");

/** The shop as these figures know it. */
interface Context {
  readonly timezone: string;
  readonly today: Day;
}

/** The day of an order: its own, else that on which it was sent, else made. */
export const orderedOn = (
  { orderDate, sentDate, createdAtMs }: Pick<Header, "orderDate" | "sentDate" | "createdAtMs">,
  timezone: string,
): string => orderDate ?? sentDate ?? dateOf(dayIn(timezone, createdAtMs));

/** Figures of one supplier. */
interface SupplierFigures {
  readonly supplierId: string;
  readonly openOrders: number;
  /** Sums of the open orders' values, one for each of their currencies. */
  readonly openValue: readonly { readonly currencyCode: string; readonly amount: Money }[];
  readonly lateOrders: number;
  /** Null: nothing was ever ordered. */
  readonly lastOrder: {
    readonly purchaseOrderId: string;
    readonly poNumber: string;
    readonly orderedOn: string;
  } | null;
}

interface OpenRow {
  readonly supplier_id: string;
  readonly status: Status;
  readonly currency_code: string;
  readonly total_value: number;
  readonly quantity_pending: number;
  readonly next_expected_date: string | null;
}

const selectOpen = `
select supplier_id, status, currency_code, total_value, quantity_pending, next_expected_date
from purchase_order where shop_id = ? and purchase_order_id in (?)`;

function openFigures(rows: readonly OpenRow[], today: string) {
  const sums = new Map<string, Money>();
  for (const { currency_code: code, total_value: value } of rows)
    sums.set(code, asMoney((sums.get(code) ?? zeroMoney) + value));
  const isLate = (row: OpenRow): boolean => {
    const facts = { status: row.status, nextExpectedDate: row.next_expected_date };
    return (expectedDateOf({ ...facts, quantityPending: asQuantity(row.quantity_pending) }) ?? today) < today;
  };
  return {
    openOrders: rows.length,
    openValue: [...sums]
      .map(([currencyCode, amount]) => ({ currencyCode, amount }))
      .sort((a, b) => (a.currencyCode < b.currencyCode ? -1 : 1)),
    lateOrders: rows.filter(isLate).length,
  };
}

/** Figures of these suppliers, in this order. */
export async function loadSupplierFigures(
  tx: Tx,
  shopId: string,
  supplierIds: readonly string[],
  { timezone, today }: Context,
): Promise<readonly SupplierFigures[]> {
  const [openIds, newest] = await Promise.all([
    orderIdsOf(tx, shopId, async () => ({
      columns: { supplierId: isOneOf(supplierIds), status: isOneOf(openStatuses) },
      articles: [],
    })),
    newestBy(tx, shopId, "supplierId", supplierIds, { status: isOneOf(placedStatuses) }),
  ]);
  const [open, last] = await Promise.all([
    selectIn<OpenRow>(tx, selectOpen, [shopId], openIds),
    loadHeaders(tx, shopId, [...newest.values()]),
  ]);
  const openOf = Map.groupBy(open, (row) => row.supplier_id);
  const lastOf = new Map(last.map((order) => [order.supplierId, order]));
  return supplierIds.map((supplierId) => {
    const order = lastOf.get(supplierId);
    return {
      supplierId,
      ...openFigures(openOf.get(supplierId) ?? [], dateOf(today)),
      lastOrder:
        order === undefined
          ? null
          : {
              purchaseOrderId: order.purchaseOrderId,
              poNumber: order.poNumber,
              orderedOn: orderedOn(order, timezone),
            },
    };
  });
}

/** Orders that were received last, of which it is looked whether they came on time. */
export const lastDeliveries = 50;

/** Deliveries of a supplier. Orders of which nothing said when they were expected are not counted. */
interface Deliveries {
  readonly counted: number;
  readonly onTime: number;
  /** Whole days that the late ones were late, on average; null: none was. */
  readonly daysLate: number | null;
}

/** Looks whether the orders that were received last came by the latest day on which their goods were expected. */
export async function loadDeliveries(
  tx: Tx,
  shopId: string,
  supplierId: string,
  { timezone, today }: Context,
): Promise<Deliveries> {
  const ids = await orderIdsOf(
    tx,
    shopId,
    async () => ({
      columns: { supplierId: isOneOf([supplierId]), status: isOneOf(["Received", "Completed"]) },
      articles: [],
    }),
    lastDeliveries,
  );
  const [headers, expected] = await Promise.all([loadHeaders(tx, shopId, ids), loadExpectedOrders(tx, shopId, ids)]);
  const late: number[] = [];
  let counted = 0;
  for (const { purchaseOrderId, receivedAtMs } of headers) {
    const of = expected.get(purchaseOrderId);
    if (of === undefined || receivedAtMs === null) continue;
    const dates = receiptSchedule(of.order, of.shipments, dateOf(today)).flatMap(({ expectedDate, quantityReceived }) =>
      expectedDate === null || quantityReceived === 0 ? [] : expectedDate,
    );
    const latest = dates.sort().at(-1);
    if (latest === undefined) continue;
    counted += 1;
    const days = dayIn(timezone, receivedAtMs) - dayFrom(latest);
    if (days > 0) late.push(days);
  }
  const sum = late.reduce((total, days) => total + days, 0);
  return {
    counted,
    onTime: counted - late.length,
    daysLate: late.length === 0 ? null : Math.round(sum / late.length),
  };
}

/** Orders of which documents are looked for, and documents that are found at most. */
export const documentOrders = 200;
export const documentsShown = 50;

/** A document with the order that it belongs to. */
interface SupplierDocument extends OrderDocument {
  readonly purchaseOrderId: string;
  readonly poNumber: string;
}

/** Documents of a supplier's newest orders, newest order first. */
export async function loadSupplierDocuments(
  tx: Tx,
  shopId: string,
  supplierId: string,
): Promise<readonly SupplierDocument[]> {
  const ids = await orderIdsOf(
    tx,
    shopId,
    async () => ({ columns: { supplierId: isOneOf([supplierId]) }, articles: [] }),
    documentOrders,
  );
  const documentsOf = await attachmentsOfKind<OrderDocument>(tx, shopId, "document", ids);
  const headers = await loadHeaders(
    tx,
    shopId,
    ids.filter((id) => documentsOf.has(id)),
  );
  return headers
    .flatMap(({ purchaseOrderId, poNumber }) =>
      (documentsOf.get(purchaseOrderId) ?? []).map((document) => ({ purchaseOrderId, poNumber, ...document })),
    )
    .slice(0, documentsShown);
}
