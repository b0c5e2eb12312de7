/**
 * Prices that orders change: terms of suppliers' entries, and unit costs of variants. Each change has its entry in the
 * history of the record (C85).
 *
 * Owns: these changes with their entries. Does not own: which prices change (core/storefront), and what people change
 * (operations/catalogue).
 */
import type { Money } from "../../core/money/money.ts";
import { withChanges } from "../../core/order/purchase-order-fields.ts";
import type { SupplierEntryChanges } from "../../core/storefront/write-back.ts";
import { type Change, type Row, update } from "../../store/change.ts";
import { selectIn } from "../../store/in-lists.ts";
import type { Tx } from "../../store/store.ts";
import { columnList, recordReader } from "../columns.ts";
import { tables } from "../tables.ts";
import {
  loadVariants,
  priceFields,
  type SupplierVariant,
  supplierVariantStatement,
  variantFields,
} from "./catalogue.ts";
import { entryStatements, type RecordStamp, shownChanges } from "./record-log.ts";

/** A supplier's entry for a variant, without what the operator alone may see (C36). */
type PriceEntry = Omit<SupplierVariant, "supplierVariantDetails">;

const entryFrom = recordReader<PriceEntry>(priceFields);

const selectEntries = `
select ${columnList(priceFields)} from supplier_variant where shop_id = ? and supplier_id = ? and variant_id in (?)`;

/** The supplier's entries for these variants, by variant id. */
export async function loadPriceEntries(
  tx: Tx,
  shopId: string,
  supplierId: string,
  variantIds: readonly string[],
): Promise<ReadonlyMap<string, PriceEntry>> {
  const rows = await selectIn<Row>(tx, selectEntries, [shopId, supplierId], variantIds);
  return new Map(rows.map(entryFrom).map((entry) => [entry.variantId, entry]));
}

/**
 * Changes a supplier's entries, in this order. A variant without an entry gets none (C46).
 *
 * @param entries as they are stored, by variant id.
 */
export function termStatements(
  shopId: string,
  entries: ReadonlyMap<string, PriceEntry>,
  writes: readonly { readonly variantId: string; readonly changes: SupplierEntryChanges }[],
  stamp: RecordStamp,
): readonly Change[] {
  const latest = new Map(entries);
  const made = writes.flatMap(({ variantId, changes: wanted }) => {
    const before = latest.get(variantId);
    if (before === undefined) return [];
    const next = withChanges(priceFields, before, wanted);
    latest.set(variantId, next);
    const { supplierId: recordId } = before;
    const changes = shownChanges(priceFields, before, next);
    return {
      row: supplierVariantStatement(shopId, recordId, variantId, wanted) ?? [],
      told: entryStatements(shopId, { kind: "supplier", recordId, variantId }, { action: "changed", changes }, stamp),
    };
  });
  return [...made.flatMap(({ row }) => row), ...made.flatMap(({ told }) => told)];
}

/** A unit cost that the catalogue gets, in the shop's currency. */
export interface CatalogueCost {
  readonly variantId: string;
  readonly unitCost: Money | null;
  /** It takes the place of this one alone. Absent: of any. */
  readonly from?: Money | null;
}

const costField = { unitCost: variantFields.unitCost };

/** Sets unit costs of the catalogue, in this order. A variant that the catalogue does not hold is left out. */
export async function catalogueCostStatements(
  tx: Tx,
  shopId: string,
  costs: readonly CatalogueCost[],
  stamp: RecordStamp,
): Promise<readonly Change[]> {
  if (costs.length === 0) return [];
  const variants = await loadVariants(tx, shopId, [...new Set(costs.map(({ variantId }) => variantId))]);
  const latest = new Map([...variants].map(([variantId, { unitCost }]) => [variantId, unitCost]));
  const made = costs.flatMap(({ variantId, unitCost, from }) => {
    const before = latest.get(variantId);
    if (before === undefined || before === unitCost || (from !== undefined && from !== before)) return [];
    latest.set(variantId, unitCost);
    const changes = shownChanges(costField, { unitCost: before }, { unitCost });
    return {
      row: update(tables.variant, shopId, { variant_id: variantId }, { unit_cost: unitCost }),
      told: entryStatements(shopId, { kind: "variant", recordId: variantId }, { action: "changed", changes }, stamp),
    };
  });
  return [...made.map(({ row }) => row), ...made.flatMap(({ told }) => told)];
}
