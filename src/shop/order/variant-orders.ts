/** Lines of orders with a variant, newest order first: who was asked for how many, at what price. */
import { storedLineFields } from "../../core/order/purchase-order-fields.ts";
import type { Header, LineItem } from "../../core/order/purchase-order.ts";
import { selectIn } from "../../store/in-lists.ts";
import type { Row } from "../../store/change.ts";
import type { Tx } from "../../store/store.ts";
import { columnList, recordReader } from "../columns.ts";
import { anyOrder, listOrders, type OrderPosition } from "../order-list/purchase-order-list.ts";
import { placedStatuses } from "./supplier-figures.ts";

const shownFields = {
  poLineItemId: storedLineFields.poLineItemId,
  quantityOrdered: storedLineFields.quantityOrdered,
  quantityReceived: storedLineFields.quantityReceived,
  unitCost: storedLineFields.unitCost,
  unitCostCurrencyCode: storedLineFields.unitCostCurrencyCode,
} as const;

const lineFrom = recordReader<Pick<LineItem, keyof typeof shownFields>>(shownFields);

const selectLines = `
select purchase_order_id, ${columnList(shownFields)} from purchase_order_line
where shop_id = ? and variant_id = ? and purchase_order_id in (?) order by purchase_order_id, position`;

/** A line with its order. */
interface VariantOrder extends Pick<LineItem, keyof typeof shownFields> {
  readonly order: Header;
}

interface VariantOrdersPage {
  readonly lines: readonly VariantOrder[];
  /** Orders over all pages. */
  readonly totalCount: number;
  readonly end: OrderPosition | null;
}

interface VariantOrdersWanted {
  readonly variantId: string;
  /** Null: of all suppliers. */
  readonly supplierId: string | null;
  /** True: orders that were placed, without drafts and cancelled ones. */
  readonly arePlaced: boolean;
}

/** A page of the orders with the variant; one of several lines with it stands there with each. */
export async function pageOfVariantOrders(
  tx: Tx,
  shopId: string,
  { variantId, supplierId, arePlaced }: VariantOrdersWanted,
  after: OrderPosition | null,
  limit: number,
): Promise<VariantOrdersPage> {
  const filters = { ...anyOrder, variantId, supplierId, statuses: arePlaced ? placedStatuses : null };
  const { orders, totalCount, end } = await listOrders(tx, shopId, filters, after, limit);
  const ids = orders.map(({ purchaseOrderId }) => purchaseOrderId);
  const rows = await selectIn<Row>(tx, selectLines, [shopId, variantId], ids);
  const linesOf = Map.groupBy(rows, (row) => row["purchase_order_id"]);
  const lines = orders.flatMap((order) =>
    (linesOf.get(order.purchaseOrderId) ?? []).map((row) => ({ ...lineFrom(row), order })),
  );
  return { lines, totalCount, end };
}
