/**
 * Orders as reports sum them (core/order/advice/report.ts).
 *
 * Owns: the SQL. The cost grows with the orders that match, of which there are at most as many as asked for.
 */
import type { ReportedOrder } from "../../core/order/advice/report.ts";
import { type Fields, storedHeaderFields, storedLineFields } from "../../core/order/purchase-order-fields.ts";
import type { Status } from "../../core/order/purchase-order.ts";
import type { Row } from "../../store/change.ts";
import { selectIn } from "../../store/in-lists.ts";
import type { Tx } from "../../store/store.ts";
import { columnList, recordReader } from "../columns.ts";
import { isOneOf, orderIdsOf } from "../order-list/order-search.ts";

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
} as const satisfies Fields;

const lineFields = {
  unitCost: storedLineFields.unitCost,
  unitCostCurrencyCode: storedLineFields.unitCostCurrencyCode,
  quantityOrdered: storedLineFields.quantityOrdered,
  quantityConfirmed: storedLineFields.quantityConfirmed,
  quantityReceived: storedLineFields.quantityReceived,
  quantityRejected: storedLineFields.quantityRejected,
  quantityCancelled: storedLineFields.quantityCancelled,
} as const satisfies Fields;

const headerFrom = recordReader<Omit<ReportedOrder, "lineItems">>(headerFields);
const lineFrom = recordReader<ReportedOrder["lineItems"][number]>(lineFields);

/** The orders that match; null if there are more than `ordersMax`. */
export async function loadReportedOrders(
  tx: Tx,
  shopId: string,
  { statuses, ...created }: ReportFilters,
  ordersMax: number,
): Promise<readonly ReportedOrder[] | null> {
  const wanted = { columns: { status: isOneOf(statuses) }, articles: [], ...created };
  const ids = await orderIdsOf(tx, shopId, async () => wanted, ordersMax + 1);
  if (ids.length > ordersMax) return null;
  const [headers, lines] = await Promise.all([
    selectIn<Row>(
      tx,
      `select purchase_order_id, ${columnList(headerFields)} from purchase_order where shop_id = ? and purchase_order_id in (?)`,
      [shopId],
      ids,
    ),
    selectIn<Row>(
      tx,
      `select purchase_order_id, ${columnList(lineFields)} from purchase_order_line where shop_id = ? and purchase_order_id in (?)`,
      [shopId],
      ids,
    ),
  ]);
  const linesOf = Map.groupBy(lines, (row) => row["purchase_order_id"]);
  return headers.map((row) => ({
    ...headerFrom(row),
    lineItems: (linesOf.get(row["purchase_order_id"]) ?? []).map(lineFrom),
  }));
}
