/** Orders by their numbers. */
import { selectIn } from "../../store/in-lists.ts";
import type { Tx } from "../../store/store.ts";

/** Ids of the orders that have these numbers, by number. A number that is an order's id is not among them. */
export async function loadIdsByNumber(
  tx: Tx,
  shopId: string,
  numbers: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const select = "select purchase_order_id, po_number from purchase_order where shop_id = ? and";
  const [sameIds, numbered] = await Promise.all(
    [`${select} purchase_order_id in (?)`, `${select} po_number in (?)`].map((sql) =>
      selectIn<{ readonly purchase_order_id: string; readonly po_number: string }>(tx, sql, [shopId], numbers),
    ),
  );
  const ids = new Set(sameIds?.map((row) => row.purchase_order_id));
  return new Map(
    numbered?.filter((row) => !ids.has(row.po_number)).map((row) => [row.po_number, row.purchase_order_id]),
  );
}
