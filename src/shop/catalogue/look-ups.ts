/**
 * Looking up suppliers, locations and variants: found by text, by id or by code, in pages by name.
 *
 * Owns: the SQL of these look-ups. Does not own: the records (catalogue.ts), what an answer shows (operations/agent/).
 *
 * A page of variants is a range of an index that also holds the searched columns. So a search that finds little walks
 * the index and not the table. Codes and ids are found by key. Suppliers and locations are few and are sorted.
 */
import { wordsOf } from "../../base/text/fold.ts";
import { codeKey, scannedCode } from "../../core/goods/codes.ts";
import type { DraftOrder } from "../../core/forecast/reorder.ts";
import { type Quantity, asQuantity, zeroQuantity } from "../../core/money/money.ts";
import { placeholders, selectIn } from "../../store/in-lists.ts";
import type { Tx } from "../../store/store.ts";
import { type Location, type Supplier, type Variant, locationTable, supplierTable, variantTable } from "./catalogue.ts";
import type { Row } from "../../store/change.ts";
import { codeIn, formsOfCode } from "../code-forms.ts";
import { type Fragment, joined } from "../fragment.ts";
import { lineReader } from "../order/order-lines.ts";
import { articlesWith, isOneOf, orderIdsOf } from "../order-list/order-search.ts";
import { type RecordTable, recordsByKey } from "../record-table.ts";

/** Where a page ended. */
export interface NamePosition {
  readonly name: string;
  readonly id: string;
}

export interface LookUpPage<Found> {
  readonly rows: readonly Found[];
  /** Matches over all pages. */
  readonly totalCount: number;
  /** Where the next page begins after; null on the last page. */
  readonly end: NamePosition | null;
}

/** Filters of every look-up; null: not filtered by it. */
interface LookUp {
  /** Words, each found in what the look-up searches (C13). */
  readonly search: string | null;
  /** At most 90. */
  readonly ids: readonly string[] | null;
}

interface VariantLookUp extends LookUp {
  /** The same code (core/goods/codes.ts), like `barcode`. */
  readonly sku: string | null;
  readonly barcode: string | null;
  /** Variants that this supplier has a catalogue entry for. */
  readonly supplierId: string | null;
}

/** A table as a look-up reads it. */
interface SearchedTable {
  readonly id: string;
  readonly name: string;
  /** The condition that a row has a word: in its folded text, or what stands in for it where a row has none. */
  readonly has: (word: string) => Fragment;
}

// A text that holds another is changed by taking that out. Unlike a LIKE pattern this needs no escapes and has no
// length limit.
const holds = (searched: string): string => `replace(${searched}, ?, '') <> ${searched}`;

const within =
  (searched: string): SearchedTable["has"] =>
  (word) => ({ sql: holds(searched), params: [word] });

/** One page of a table, by name and then by id. */
async function pageOf<Found>(
  tx: Tx,
  shopId: string,
  table: RecordTable<Found, Row>,
  { id, name, has }: SearchedTable,
  { search, ids }: LookUp,
  filters: readonly Fragment[],
  after: NamePosition | null,
  limit: number,
): Promise<LookUpPage<Found>> {
  const parts: readonly Fragment[] = [
    { sql: "shop_id = ?", params: [shopId] },
    ...(ids === null ? [] : [{ sql: `${id} in (${placeholders(ids.length)})`, params: ids }]),
    ...filters,
    ...wordsOf(search).map(has),
  ];
  const position =
    after === null ? [] : [{ sql: `(${name}, ${id}) > (?, ?)`, params: [after.name, after.id] } satisfies Fragment];
  const all = joined(parts, " and ");
  const rest = joined([...parts, ...position], " and ");
  const keys = await tx.all<{ id: string; name: string }>(
    `select ${id} as id, ${name} as name from ${table.name} where ${rest.sql} order by ${name}, ${id} limit ?`,
    [...rest.params, limit + 1],
  );
  const shown = keys.slice(0, limit);
  // A search walks the whole index either to count or to find few: not for both.
  const count = async (): Promise<number> =>
    (await tx.all<{ n: number }>(`select count(*) as n from ${table.name} where ${all.sql}`, all.params))[0]?.n ?? 0;
  const places = new Map(shown.map((key, index) => [key.id, index]));
  const [totalCount, records] = await Promise.all([
    after === null && keys.length <= limit ? keys.length : count(),
    recordsByKey(
      tx,
      table,
      shopId,
      shown.map((key) => [key.id]),
    ),
  ]);
  const placed = records.map((record) => ({ record, place: places.get(String(table.columns[id]?.(record))) ?? 0 }));
  const last = shown.at(-1);
  return {
    rows: placed.sort((a, b) => a.place - b.place).map(({ record }) => record),
    totalCount,
    end: keys.length > limit && last !== undefined ? { name: last.name, id: last.id } : null,
  };
}

/** Suppliers by name. */
export const lookUpSuppliers = (
  tx: Tx,
  shopId: string,
  lookUp: LookUp,
  after: NamePosition | null,
  limit: number,
): Promise<LookUpPage<Supplier>> =>
  pageOf(
    tx,
    shopId,
    supplierTable,
    { id: "supplier_id", name: "name", has: within("coalesce(search_folded, name_folded)") },
    lookUp,
    [],
    after,
    limit,
  );

/** Locations by name. */
export const lookUpLocations = (
  tx: Tx,
  shopId: string,
  lookUp: LookUp,
  after: NamePosition | null,
  limit: number,
): Promise<LookUpPage<Location>> =>
  pageOf(
    tx,
    shopId,
    locationTable,
    { id: "location_id", name: "name", has: within("coalesce(name_folded, lower(name))") },
    lookUp,
    [],
    after,
    limit,
  );

/**
 * A variant has a word in its own text, or in an entry of a supplier, or in the name of one. The entries are read once
 * for a word, and not for each variant. The barcode that a GTIN stands for is found by key (C52).
 */
function variantHas(shopId: string, word: string): Fragment {
  const codes = scannedCode(word).gtin === null ? [] : codeIn("b.barcode", word);
  const coded = codes.map(({ sql, params }) => ({
    sql: ` or variant_id in (select b.variant_id from variant b where b.shop_id = ? and ${sql})`,
    params: [shopId, ...params],
  }));
  return {
    sql: `(${holds("coalesce(search_folded, lower(product_name))")} or variant_id in (
          select t.variant_id from supplier_variant t where t.shop_id = ? and (
            ${holds("t.supplier_sku_folded")} or ${holds("t.supplier_barcode_folded")} or t.supplier_id in (
              select s.supplier_id from supplier s where s.shop_id = ? and ${holds("s.name_folded")})))${coded.map(({ sql }) => sql).join("")})`,
    params: [word, shopId, word, word, shopId, word, ...coded.flatMap(({ params }) => params)],
  };
}

/** Variants by product name. */
export const lookUpVariants = (
  tx: Tx,
  shopId: string,
  { sku, barcode, supplierId, ...lookUp }: VariantLookUp,
  after: NamePosition | null,
  limit: number,
): Promise<LookUpPage<Variant>> =>
  pageOf(
    tx,
    shopId,
    variantTable,
    { id: "variant_id", name: "product_name", has: (word) => variantHas(shopId, word) },
    lookUp,
    [
      ...codeIn("sku", sku),
      ...codeIn("barcode", barcode),
      ...(supplierId === null
        ? []
        : [
            {
              // By key for each variant. With `in` PostgreSQL may read all of the supplier's for each.
              sql: `(select 1 from supplier_variant t
                      where t.shop_id = ? and t.supplier_id = ? and t.variant_id = variant.variant_id) = 1`,
              params: [shopId, supplierId],
            },
          ]),
    ],
    after,
    limit,
  );

const withSku = "select variant_id from variant where shop_id = ? and lower(sku) in (?) order by variant_id";
const withBarcode = "select variant_id from variant where shop_id = ? and lower(barcode) in (?) order by variant_id";

/** Ids of variants that have one of these codes as SKU or barcode; `max` of each at most. */
export async function variantIdsWith(
  tx: Tx,
  shopId: string,
  codes: readonly string[],
  max: number,
): Promise<readonly string[]> {
  const [bySku, byBarcode] = await Promise.all(
    [withSku, withBarcode].map((sql) =>
      selectIn<{ readonly variant_id: string }>(
        tx,
        `${sql} limit ${max}`,
        [shopId],
        [...new Set(codes.flatMap(formsOfCode))],
      ),
    ),
  );
  return [...new Set([...(bySku ?? []), ...(byBarcode ?? [])].map((row) => row.variant_id))];
}

/** A variant that has a code. */
export interface CodedVariant {
  readonly code: string;
  readonly variantId: string;
}

type CodedRow = { readonly code: string; readonly variant_id: string };

const codedFrom = ({ code, variant_id: variantId }: CodedRow): CodedVariant => ({ code, variantId });

const codesOfVariants = {
  sku: "select sku as code, variant_id from variant where shop_id = ? and lower(sku) in (?)",
  barcode: "select barcode as code, variant_id from variant where shop_id = ? and lower(barcode) in (?)",
} as const;

/** The variants that have one of these SKUs or barcodes, in one of these lowered spellings. */
export const variantsWithCodes = async (
  tx: Tx,
  shopId: string,
  kind: keyof typeof codesOfVariants,
  codes: readonly string[],
): Promise<readonly CodedVariant[]> =>
  (await selectIn<CodedRow>(tx, codesOfVariants[kind], [shopId], codes)).map(codedFrom);

const codesOfEntries = {
  supplierSku: `select supplier_sku as code, variant_id from supplier_variant
                where shop_id = ? and supplier_id = ? and lower(supplier_sku) in (?)`,
  supplierBarcode: `select supplier_barcode as code, variant_id from supplier_variant
                    where shop_id = ? and supplier_id = ? and lower(supplier_barcode) in (?)`,
} as const;

/**
 * The variants for which the supplier's entries have one of these SKUs or barcodes of theirs, in one of these lowered
 * spellings.
 */
export const entriesWithCodes = async (
  tx: Tx,
  shopId: string,
  supplierId: string,
  kind: keyof typeof codesOfEntries,
  codes: readonly string[],
): Promise<readonly CodedVariant[]> =>
  (await selectIn<CodedRow>(tx, codesOfEntries[kind], [shopId, supplierId], codes)).map(codedFrom);

/**
 * The variants that each code leads to: by the supplier's SKU or barcode, by barcode and by SKU.
 *
 * @param supplierId null: no supplier's own codes are looked at.
 */
export async function variantsOfCodes(
  tx: Tx,
  shopId: string,
  supplierId: string | null,
  codes: readonly string[],
): Promise<readonly (readonly string[])[]> {
  const forms = [...new Set(codes.flatMap(formsOfCode))];
  const coded = await Promise.all([
    supplierId === null ? [] : entriesWithCodes(tx, shopId, supplierId, "supplierSku", forms),
    supplierId === null ? [] : entriesWithCodes(tx, shopId, supplierId, "supplierBarcode", forms),
    variantsWithCodes(tx, shopId, "barcode", forms),
    variantsWithCodes(tx, shopId, "sku", forms),
  ]);
  const byKey = Map.groupBy(coded.flat(), ({ code }) => codeKey(code));
  return codes.map((code) => {
    const found = scannedCode(code).keys.flatMap((key) => byKey.get(key) ?? []);
    return [...new Set(found.map(({ variantId }) => variantId))];
  });
}

/** Stock of a variant at one location. */
export interface Level {
  readonly locationId: string;
  readonly onHand: Quantity;
  readonly incoming: Quantity;
}

/** Variants of these that are archived. */
export const archivedOf = async (tx: Tx, shopId: string, variantIds: readonly string[]): Promise<ReadonlySet<string>> =>
  new Set(
    (
      await selectIn<{ readonly variant_id: string }>(
        tx,
        "select variant_id from variant where shop_id = ? and is_archived = 1 and variant_id in (?)",
        [shopId],
        variantIds,
      )
    ).map((row) => row.variant_id),
  );

interface LevelRow {
  readonly variant_id: string;
  readonly location_id: string;
  readonly quantity: number;
}

/** Stock and incoming goods of these variants at each location that has either, by location id. */
export async function loadLevels(
  tx: Tx,
  shopId: string,
  variantIds: readonly string[],
): Promise<ReadonlyMap<string, readonly Level[]>> {
  const [onHand, incoming] = await Promise.all([
    selectIn<LevelRow>(
      tx,
      `select variant_id, location_id, on_hand as quantity from inventory_level where shop_id = ? and variant_id in (?)`,
      [shopId],
      variantIds,
    ),
    selectIn<LevelRow>(
      tx,
      "select variant_id, location_id, quantity from incoming where shop_id = ? and quantity <> 0 and variant_id in (?)",
      [shopId],
      variantIds,
    ),
  ]);
  const levels = new Map<string, Map<string, Level>>();
  const add = (row: LevelRow, quantities: Partial<Level>): void => {
    const { variant_id: variantId, location_id: locationId } = row;
    const atLocations = levels.get(variantId) ?? new Map<string, Level>();
    const known = atLocations.get(locationId) ?? { locationId, onHand: zeroQuantity, incoming: zeroQuantity };
    atLocations.set(locationId, { ...known, ...quantities });
    levels.set(variantId, atLocations);
  };
  for (const row of onHand) add(row, { onHand: asQuantity(row.quantity) });
  for (const row of incoming) add(row, { incoming: asQuantity(row.quantity) });
  const byLocation = (a: Level, b: Level): number => (a.locationId < b.locationId ? -1 : 1);
  return new Map(
    [...levels].map(([variantId, atLocations]) => [variantId, [...atLocations.values()].sort(byLocation)]),
  );
}

const variantsOfLines = lineReader(["variantId"]);

/** For each of these variants that a Draft order has, that order; the oldest one of several. */
export async function loadDraftsWith(
  tx: Tx,
  shopId: string,
  variantIds: readonly string[],
): Promise<ReadonlyMap<string, DraftOrder>> {
  if (variantIds.length === 0) return new Map();
  const ids = await orderIdsOf(tx, shopId, async () => ({
    columns: { status: isOneOf(["Draft"]) },
    articles: [await articlesWith(tx, shopId, ["variantId"], variantIds)],
  }));
  const [linesByOrder, orders] = await Promise.all([
    variantsOfLines(tx, shopId, ids),
    selectIn<{ readonly purchase_order_id: string; readonly po_number: string }>(
      tx,
      "select purchase_order_id, po_number from purchase_order where shop_id = ? and purchase_order_id in (?)",
      [shopId],
      ids,
    ),
  ]);
  const numbers = new Map(orders.map((order) => [order.purchase_order_id, order.po_number]));
  const wanted = new Set(variantIds);
  const drafts = new Map<string, DraftOrder>();
  for (const [purchaseOrderId, lines] of linesByOrder) {
    const poNumber = numbers.get(purchaseOrderId);
    if (poNumber === undefined) continue;
    for (const { variantId } of lines) {
      const known = drafts.get(variantId);
      if (wanted.has(variantId) && (known === undefined || purchaseOrderId < known.purchaseOrderId))
        drafts.set(variantId, { purchaseOrderId, poNumber });
    }
  }
  return drafts;
}
