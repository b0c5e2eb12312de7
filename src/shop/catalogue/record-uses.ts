/**
 * Uses of suppliers, variants and locations: one that is used is archived, not deleted (C85). With one that is deleted
 * goes what belongs to it alone.
 */
import { type Change, remove } from "../../store/change.ts";
import type { Tx } from "../../store/store.ts";
import { tables } from "../tables.ts";
import type { RecordKind } from "./record-log.ts";

/** Rows that name a record, by what they are called: the table, and a condition on the record's id. */
const uses: Readonly<Record<RecordKind, readonly (readonly [use: string, table: string, condition: string])[]>> = {
  supplier: [
    ["orders", "purchase_order", "supplier_id = ? and deleted_at is null"],
    ["credits", "supplier_credit", "supplier_id = ?"],
  ],
  variant: [
    ["orders", "purchase_order_line", "variant_id = ?"],
    ["transfers, stock takes or adjustments", "read_only_part", "variant_id = ?"],
    ["sales", "sale", "variant_id = ?"],
    ["stock", "inventory_level", "variant_id = ? and on_hand <> 0"],
  ],
  location: [
    ["orders", "purchase_order", "location_id = ? and deleted_at is null"],
    ["stock", "inventory_level", "location_id = ? and on_hand <> 0"],
    ["sales", "sale", "location_id = ?"],
  ],
};

/** Name of what uses the record, for people; null: nothing does. */
export async function useOf(tx: Tx, shopId: string, kind: RecordKind, recordId: string): Promise<string | null> {
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
