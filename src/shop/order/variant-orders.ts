/** Lines of orders with a variant, newest order first: who was asked for how many, at what price. */
import type { Header, LineItem } from "../../core/order/purchase-order.ts";
import type { Tx } from "../../store/store.ts";
import { anyOrder, listOrders, type OrderPosition } from "../order-list/purchase-order-list.ts";
import { lineReader } from "./order-lines.ts";
import { placedStatuses } from "./advice/supplier-figures.ts";

const shownFields = [
  "poLineItemId",
  "quantityOrdered",
  "quantityReceived",
  "unitCost",
  "unitCostCurrencyCode",
] as const satisfies readonly (keyof LineItem)[];

const linesOf = lineReader(["variantId", ...shownFields]);

/** A line with its order. */
interface VariantOrder extends Pick<LineItem, (typeof shownFields)[number]> {
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
  const linesByOrder = await linesOf(
    tx,
    shopId,
    orders.map(({ purchaseOrderId }) => purchaseOrderId),
  );
  const lines = orders.flatMap((order) =>
    (linesByOrder.get(order.purchaseOrderId) ?? []).flatMap(({ variantId: of, ...line }) =>
      of === variantId ? { ...line, order } : [],
    ),
  );
  return { lines, totalCount, end };
}
