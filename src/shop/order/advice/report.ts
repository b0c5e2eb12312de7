/**
 * Orders as reports and figures sum them (core/order/advice/report.ts, core/order/advice/purchase-figures.ts).
 *
 * Owns: the SQL. The cost grows with the orders that match, of which there are at most as many as asked for.
 */
import { type Day, dayIn, dayMs, dayStart, weekOf, weekStart } from "../../../base/time/calendar.ts";
import { type FigureOrders, figureWeeks } from "../../../core/order/advice/purchase-figures.ts";
import type { ReportedOrder } from "../../../core/order/advice/report.ts";
import { type Fields, storedHeaderFields } from "../../../core/order/purchase-order-fields.ts";
import type { Status } from "../../../core/order/purchase-order.ts";
import { openStatuses } from "../../../core/order/status.ts";
import type { Row } from "../../../store/change.ts";
import { selectIn } from "../../../store/in-lists.ts";
import type { Tx } from "../../../store/store.ts";
import { columnList, recordReader } from "../../columns.ts";
import { isOneOf, orderIdsOf, type OrdersWanted } from "../../order-list/order-search.ts";
import { lineReader } from "../order-lines.ts";
import { receiptsSince } from "../purchase-order-history.ts";
import { placedStatuses } from "./supplier-figures.ts";

interface ReportFilters {
  readonly statuses: readonly Status[];
  /** Null: no bound. */
  readonly createdFromMs: number | null;
  readonly createdBeforeMs: number | null;
}

const headerFields = {
  status: storedHeaderFields.status,
  supplierId: storedHeaderFields.supplierId,
  locationId: storedHeaderFields.locationId,
  createdAtMs: storedHeaderFields.createdAtMs,
  currencyCode: storedHeaderFields.currencyCode,
  fxRateOverride: storedHeaderFields.fxRateOverride,
  fxRates: storedHeaderFields.fxRates,
  totalValue: storedHeaderFields.totalValue,
  grandTotal: storedHeaderFields.grandTotal,
  settledAmount: storedHeaderFields.settledAmount,
  unpricedLineItemIds: storedHeaderFields.unpricedLineItemIds,
  nextExpectedDate: storedHeaderFields.nextExpectedDate,
} as const satisfies Fields;

const linesOf = lineReader([
  "poLineItemId",
  "unitCost",
  "unitCostCurrencyCode",
  "quantityOrdered",
  "quantityConfirmed",
  "quantityReceived",
  "quantityRejected",
  "quantityCancelled",
]);

const headerFrom = recordReader<Omit<ReportedOrder, "lineItems">>(headerFields);

/** The orders that match; null if there are more than `ordersMax`. */
export async function loadReportedOrders(
  tx: Tx,
  shopId: string,
  { statuses, ...created }: ReportFilters,
  ordersMax: number,
): Promise<readonly ReportedOrder[] | null> {
  const wanted = { columns: { status: isOneOf(statuses) }, articles: [], ...created };
  const ids = await orderIdsOf(tx, shopId, async () => wanted, ordersMax + 1);
  return ids.length > ordersMax ? null : [...(await reportedOrders(tx, shopId, ids)).values()];
}

/** Orders with these ids and their lines, by id. */
async function reportedOrders(
  tx: Tx,
  shopId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, ReportedOrder>> {
  const [headers, lines] = await Promise.all([
    selectIn<Row>(
      tx,
      `select purchase_order_id, ${columnList(headerFields)} from purchase_order where shop_id = ? and purchase_order_id in (?)`,
      [shopId],
      ids,
    ),
    linesOf(tx, shopId, ids),
  ]);
  return new Map(
    headers.map((row) => {
      const orderId = String(row["purchase_order_id"]);
      return [orderId, { ...headerFrom(row), lineItems: lines.get(orderId) ?? [] }];
    }),
  );
}

/** Orders of a kind from which figures are made: the newest ones. */
const figureOrdersMax = 10_000;

/** Days back from now in which an order was placed lately. */
export const placedDays = 90;

/** The orders from which the figures of a shop's purchasing are made. */
export async function loadFigureOrders(
  tx: Tx,
  shopId: string,
  { timezone, today }: { readonly timezone: string; readonly today: Day },
  ordersMax = figureOrdersMax,
): Promise<FigureOrders> {
  // A day in a zone begins within a day of that of UTC.
  const sinceMs = (weekStart(weekOf(today) - figureWeeks + 1) - 1) * dayMs;
  const idsOf = (wanted: OrdersWanted) => orderIdsOf(tx, shopId, async () => wanted, ordersMax);
  const [openIds, changedIds, placedIds] = await Promise.all([
    idsOf({ columns: { status: isOneOf(openStatuses) }, articles: [] }),
    // What was received on an order has changed it.
    idsOf({ columns: {}, articles: [], updated: (atMs) => atMs >= sinceMs }),
    idsOf({
      columns: { status: isOneOf(placedStatuses) },
      articles: [],
      createdFromMs: dayStart(timezone, today - placedDays + 1),
    }),
  ]);
  const receipts = await receiptsSince(tx, shopId, changedIds, sinceMs);
  const orders = await reportedOrders(tx, shopId, [...new Set([...openIds, ...receipts.keys(), ...placedIds])]);
  const ordersOf = (ids: readonly string[]): readonly ReportedOrder[] => ids.flatMap((id) => orders.get(id) ?? []);
  return {
    open: ordersOf(openIds),
    received: [...receipts].flatMap(([id, of]) => {
      const order = orders.get(id);
      const received = of.map(({ receivedAtMs, lines }) => ({ day: dayIn(timezone, receivedAtMs), lines }));
      return order === undefined ? [] : [{ order, receipts: received }];
    }),
    placed: ordersOf(placedIds),
  };
}
