/** Copies of rows that a shop has, by one statement for each table: how the benchmarks make large shops quickly. */
import { beginFilling, fillSegments } from "../src/shop/order-list/sealing.ts";
import type { Engine, Tx } from "../src/store/store.ts";

/** Adds copies of the rows of a table, `times` of each. Columns named in `changed` get their expression of `t` and `n.i`. */
export async function copyRows(
  tx: Tx,
  table: string,
  times: number,
  where: string,
  changed: Readonly<Record<string, string>>,
): Promise<void> {
  const [row] = await tx.all<Record<string, unknown>>(`select * from ${table} limit 1`);
  const columns = Object.keys(row ?? {});
  await tx.batch([
    {
      sql: `insert into ${table} (${columns.join(", ")})
            with recursive n(i) as (select 1 union all select i + 1 from n where i < ${times})
            select ${columns.map((column) => changed[column] ?? `t.${column}`).join(", ")} from ${table} t cross join n where ${where}`,
      params: [],
    },
  ]);
}

/**
 * Adds copies of the shop's orders whose id begins with `o`, `times` of each, a step older than the one before. Their totals are filled by
 * the migration that made them.
 */
export async function copyOrders(engine: Engine, shopId: string, times: number, stepMs: number): Promise<void> {
  const id = "t.purchase_order_id || '.' || cast(n.i as text)";
  const ordinary = `t.shop_id = '${shopId}' and substr(t.purchase_order_id, 1, 1) = 'o'`;
  await engine.write(shopId, async (tx) => {
    await copyRows(tx, "purchase_order", times, ordinary, {
      purchase_order_id: id,
      po_number: "t.po_number || '.' || cast(n.i as text)",
      created_at: `t.created_at - n.i * cast(${stepMs} as bigint)`,
    });
    await copyRows(tx, "purchase_order_line", times, ordinary, { purchase_order_id: id });
    await tx.batch([beginFilling(shopId)]);
  });
  while (await engine.write(shopId, (tx) => fillSegments(tx, shopId)));
}
