/** Known costs of variants, for limits on their rise (C78; core/access/cost-rises.ts). */
import type { CostBasis } from "../../core/access/cost-rises.ts";
import { asMoney } from "../../core/money/money.ts";
import { selectIn } from "../../store/in-lists.ts";
import type { Tx } from "../../store/store.ts";

interface BasisRow {
  readonly variant_id: string;
  readonly unit_cost: number;
  /** Null: the shop's. */
  readonly currency_code: string | null;
}

const selectEntries = `
select t.variant_id, t.unit_cost, coalesce(t.unit_cost_currency_code, s.currency_code) as currency_code
from supplier_variant t left join supplier s on s.shop_id = t.shop_id and s.supplier_id = t.supplier_id
where t.shop_id = ? and t.supplier_id = ? and t.unit_cost > 0 and t.variant_id in (?)`;

/** A column of the newest cost of a variant that a completion has brought. */
const ofLastPaid = (column: string): string => `(select c.${column} from cost_sync c
  where c.shop_id = v.shop_id and c.variant_id = v.variant_id and c.source_unit_cost > 0
  order by c.proposed_at desc, c.cost_sync_id desc limit 1)`;

const selectPaid = `
select v.variant_id, coalesce(${ofLastPaid("source_unit_cost")}, v.unit_cost) as unit_cost,
  ${ofLastPaid("source_currency_code")} as currency_code
from variant v where v.shop_id = ? and v.variant_id in (?)`;

const selectInOwnCurrency = `
select variant_id from supplier_variant
where shop_id = ? and supplier_id = ? and unit_cost > 0 and unit_cost_currency_code is null limit 1`;

/** A variant whose cost is in its supplier's currency, if there is one: with it all others rise and fall. */
export async function inOwnCurrency(tx: Tx, shopId: string, supplierId: string): Promise<readonly string[]> {
  const rows = await tx.all<{ readonly variant_id: string }>(selectInOwnCurrency, [shopId, supplierId]);
  return rows.map((row) => row.variant_id);
}

/**
 * The known cost of each variant: of the supplier's entry, else of the last cost sync, else the catalogue's. A cost
 * of 0 says nothing.
 */
export async function loadCostBases(
  tx: Tx,
  { shopId, currencyCode }: { readonly shopId: string; readonly currencyCode: string },
  supplierId: string | null,
  variantIds: readonly string[],
): Promise<ReadonlyMap<string, CostBasis>> {
  const entries =
    supplierId === null ? [] : await selectIn<BasisRow>(tx, selectEntries, [shopId, supplierId], variantIds);
  const withEntry = new Set(entries.map((row) => row.variant_id));
  const others = variantIds.filter((variantId) => !withEntry.has(variantId));
  const paid = await selectIn<BasisRow | (BasisRow & { readonly unit_cost: null })>(tx, selectPaid, [shopId], others);
  return new Map(
    [...entries, ...paid].flatMap((row) =>
      row.unit_cost === null || row.unit_cost === 0
        ? []
        : [[row.variant_id, { unitCost: asMoney(row.unit_cost), currencyCode: row.currency_code ?? currencyCode }]],
    ),
  );
}
