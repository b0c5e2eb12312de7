/** Reads the stored entries of the suppliers' catalogues. */
import type { TestServer } from "../server.ts";

export interface StoredSupplierVariant {
  readonly unit_cost: number | null;
  readonly unit_cost_currency_code: string | null;
  readonly supplier_sku: string | null;
  readonly pack_size: number | null;
  readonly supplier_variant_details: string | null;
}

/** Returns all entries of all suppliers. */
export async function loadSupplierVariants(server: TestServer): Promise<readonly StoredSupplierVariant[]> {
  const rows = await server.engine.read(server.shopId, (tx) =>
    tx.all<StoredSupplierVariant>(
      `select unit_cost, unit_cost_currency_code, supplier_sku, pack_size, supplier_variant_details
       from supplier_variant where shop_id = ? order by supplier_id, variant_id`,
      [server.shopId],
    ),
  );
  return rows.map((row) => ({ ...row }));
}
