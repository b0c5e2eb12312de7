/** Names of suppliers and locations. */
import { selectIn } from "../../store/in-lists.ts";
import type { Tx } from "../../store/store.ts";

const selectNames = {
  supplier: "select supplier_id as id, name from supplier where shop_id = ? and supplier_id in (?)",
  location: "select location_id as id, name from location where shop_id = ? and location_id in (?)",
} as const;

/** Names of these suppliers or locations by id. One that is not there is left out. */
export async function loadNames(
  tx: Tx,
  shopId: string,
  kind: keyof typeof selectNames,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await selectIn<{ readonly id: string; readonly name: string }>(tx, selectNames[kind], [shopId], ids);
  return new Map(rows.map(({ id, name }) => [id, name]));
}
