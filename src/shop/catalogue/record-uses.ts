/**
 * Uses of suppliers, variants and locations: one that is used is archived, not deleted (C85). With one that is deleted
 * goes what belongs to it alone.
 */
import { type Change, remove } from "../../store/change.ts";
import type { Tx } from "../../store/store.ts";
import { tables } from "../tables.ts";
import { type OrdersWanted, articlesWith, isOneOf, orderIdsOf } from "../order-list/order-search.ts";
import type { RecordKind } from "./record-log.ts";

/** Orders that name a record. */
const ordersOf: Readonly<Record<RecordKind, (tx: Tx, shopId: string, id: string) => Promise<OrdersWanted>>> = {
  supplier: async (_tx, _shopId, id) => ({ columns: { supplierId: isOneOf([id]) }, articles: [] }),
  variant: async (tx, shopId, id) => ({
    columns: {},
    articles: [await articlesWith(tx, shopId, ["variantId"], [id])],
  }),
  location: async (_tx, _shopId, id) => ({ columns: { locationId: isOneOf([id]) }, articles: [] }),
};

/**
 * Other rows that name it, by what they are called: the table, and a condition on the record's id. Those that an index
 * finds come first. Of a manufacturing order it is the location alone.
 */
const uses: Readonly<Record<RecordKind, readonly (readonly [use: string, table: string, condition: string])[]>> = {
  supplier: [["credits", "supplier_credit", "supplier_id = ?"]],
  variant: [
    // Without the kind no index has them.
    ["transfers, stock takes or adjustments", "read_only_part", "kind = 'line' and variant_id = ?"],
    ["sales", "sale", "variant_id = ?"],
    ["stock", "inventory_level", "variant_id = ? and on_hand <> 0"],
  ],
  location: [
    ["transfers", "transfer_order", "from_location_id = ?"],
    ["transfers", "transfer_order", "to_location_id = ?"],
    ["stock takes", "stock_take", "location_id = ?"],
    ["stock adjustments", "stock_adjustment", "location_id = ?"],
    ["manufacturing orders", "manufacturing_order", "production_location_id = ?"],
    ["stock", "inventory_level", "location_id = ? and on_hand <> 0"],
    ["sales", "sale", "location_id = ?"],
  ],
};

/** Name of what uses the record, for people; null: nothing does. */
export async function useOf(tx: Tx, shopId: string, kind: RecordKind, recordId: string): Promise<string | null> {
  const orders = await orderIdsOf(tx, shopId, () => ordersOf[kind](tx, shopId, recordId), 1);
  if (orders.length > 0) return "orders";
  for (const [use, table, condition] of uses[kind]) {
    const found = await tx.all(`select 1 as found from ${table} where shop_id = ? and ${condition} limit 1`, [
      shopId,
      recordId,
    ]);
    if (found.length > 0) return use;
  }
  return null;
}

/** Deletes a record that nothing uses, with what belongs to it alone. */
export const deleteStatements: Readonly<Record<RecordKind, (shopId: string, recordId: string) => readonly Change[]>> = {
  supplier: (shopId, id) => [
    remove(tables.supplier, shopId, { supplier_id: id }),
    remove(tables.supplier_variant, shopId, { supplier_id: id }),
  ],
  variant: (shopId, id) => [
    remove(tables.variant, shopId, { variant_id: id }),
    remove(tables.supplier_variant, shopId, { variant_id: id }),
    remove(tables.inventory_level, shopId, { variant_id: id }),
  ],
  location: (shopId, id) => [
    remove(tables.location, shopId, { location_id: id }),
    remove(tables.inventory_level, shopId, { location_id: id }),
  ],
};
