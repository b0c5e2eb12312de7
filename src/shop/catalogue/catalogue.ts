/**
 * The catalogue in SQL: locations, suppliers, variants, suppliers' entries for variants, inventory levels, sales and
 * suppliers' credits.
 *
 * Owns: their fields and tables, and what orders look up in them. Does not own: paging and replacing records
 * (record-table.ts), what a record looks like in a file (exchange/records/catalogue.ts).
 */
import type { SupplierCredit } from "../../core/order/attachments.ts";
import { fold, foldedLines } from "../../base/text/fold.ts";
import { articleFields, type Fields, orderTermFields, type ValuesOf } from "../../core/order/purchase-order-fields.ts";
import { type SupplierTerms, supplierTermFields } from "../../core/supplier/supplier-terms.ts";
import { type SupplierEntryChanges, supplierEntryFields } from "../../core/storefront/write-back.ts";
import { inChunks, placeholders, selectIn } from "../../store/in-lists.ts";
import { type Change, type Row, update } from "../../store/change.ts";
import type { Tx } from "../../store/store.ts";
import { changedColumns, columnList, recordReader } from "../columns.ts";
import { type RecordTable, fieldTable } from "../record-table.ts";
import { tables } from "../tables.ts";

// What orders look up.

/** Facts about a supplier for the rules. */
const supplierFactFields = {
  name: { kind: "text" },
  currencyCode: { kind: "text", empty: null },
  leadTimeDays: { kind: "integer", empty: null },
  ...orderTermFields,
} as const satisfies Fields;

interface SupplierFacts extends ValuesOf<typeof supplierFactFields> {}

const supplierFactsFrom = recordReader<SupplierFacts>(supplierFactFields);

const selectSupplierFacts = `select ${columnList(supplierFactFields)} from supplier where shop_id = ? and supplier_id = ?`;

/** The supplier. Null when the shop does not know it. */
export async function loadSupplier(tx: Tx, shopId: string, supplierId: string): Promise<SupplierFacts | null> {
  const [row] = await tx.all<Row>(selectSupplierFacts, [shopId, supplierId]);
  return row === undefined ? null : supplierFactsFrom(row);
}

/** The supplier's e-mail address, as it came in. Null when there is none. */
export async function loadSupplierEmail(tx: Tx, shopId: string, supplierId: string): Promise<string | null> {
  const [row] = await tx.all<{ email: string | null }>(
    "select email from supplier where shop_id = ? and supplier_id = ?",
    [shopId, supplierId],
  );
  return row?.email ?? null;
}

/** The location's name. Null when the shop does not know it. */
export async function loadLocationName(tx: Tx, shopId: string, locationId: string): Promise<string | null> {
  const [row] = await tx.all<{ name: string }>("select name from location where shop_id = ? and location_id = ?", [
    shopId,
    locationId,
  ]);
  return row?.name ?? null;
}

const snapshotFields = {
  ...articleFields,
  /** In the shop's currency. */
  unitCost: { kind: "money", empty: null },
} as const satisfies Fields;

/** Values that a line takes from its variant when it is created (C32, D2). */
export interface VariantSnapshot extends ValuesOf<typeof snapshotFields> {
  readonly productName: string;
}

const snapshotFrom = recordReader<VariantSnapshot>(snapshotFields);

const selectSnapshots = `select variant_id, ${columnList(snapshotFields)} from variant where shop_id = ? and variant_id in (?)`;

/** The variants that are in the catalogue, by id (C16). */
export async function loadVariants(
  tx: Tx,
  shopId: string,
  variantIds: readonly string[],
): Promise<ReadonlyMap<string, VariantSnapshot>> {
  const rows = await selectIn<Row & { readonly variant_id: string }>(tx, selectSnapshots, [shopId], variantIds);
  return new Map(rows.map((row) => [row.variant_id, snapshotFrom(row)]));
}

const selectStandings = "select variant_id, status, is_archived from variant where shop_id = ? and variant_id in (?)";

/** Of these variants those that are not to be ordered any more, and why: by id. */
export async function loadEnded(
  tx: Tx,
  shopId: string,
  variantIds: readonly string[],
): Promise<ReadonlyMap<string, "archived" | "deleted">> {
  type StandingRow = { readonly variant_id: string; readonly status: string; readonly is_archived: number };
  const rows = await selectIn<StandingRow>(tx, selectStandings, [shopId], variantIds);
  const standings = new Map(rows.map((row) => [row.variant_id, row]));
  const ended = new Map<string, "archived" | "deleted">();
  for (const variantId of variantIds) {
    const standing = standings.get(variantId);
    if (standing === undefined || standing.status === "deleted") ended.set(variantId, "deleted");
    else if (standing.is_archived === 1) ended.set(variantId, "archived");
  }
  return ended;
}

const termsFrom = recordReader<SupplierTerms>(supplierTermFields);

const selectTerms = `
select variant_id, ${columnList(supplierTermFields)} from supplier_variant
where shop_id = ? and supplier_id = ? and variant_id in (?)`;

/** The supplier's terms for these variants, by variant id. */
export async function loadTerms(
  tx: Tx,
  shopId: string,
  supplierId: string,
  variantIds: readonly string[],
): Promise<ReadonlyMap<string, SupplierTerms>> {
  const rows = await selectIn<Row & { readonly variant_id: string }>(tx, selectTerms, [shopId, supplierId], variantIds);
  return new Map(rows.map((row) => [row.variant_id, termsFrom(row)]));
}

/**
 * A supplier's entry for a variant, with what the supplier says of all its variants. Name null: the shop does not know
 * the supplier.
 */
export interface SupplierEntry extends SupplierTerms {
  readonly supplierId: string;
  readonly supplierName: string | null;
}

const selectEntries = `
select t.variant_id, t.supplier_id, s.name as supplier_name, s.currency_code, s.lead_time_days as supplier_lead_time_days,
  ${columnList(supplierTermFields, "t.")}
from supplier_variant t left join supplier s on s.shop_id = t.shop_id and s.supplier_id = t.supplier_id
where t.shop_id = ? and t.variant_id in (?)`;

type EntryRow = Row & {
  readonly variant_id: string;
  readonly supplier_id: string;
  readonly supplier_name: string | null;
  readonly currency_code: string | null;
  readonly supplier_lead_time_days: number | null;
};

/**
 * The entries of all suppliers for these variants, by variant id. What an entry leaves open of currency and lead time
 * is its supplier's.
 */
export async function loadSupplierEntries(
  tx: Tx,
  shopId: string,
  variantIds: readonly string[],
): Promise<ReadonlyMap<string, readonly SupplierEntry[]>> {
  const rows = await selectIn<EntryRow>(tx, selectEntries, [shopId], variantIds);
  const entries = rows.map((row) => {
    const terms = termsFrom(row);
    const entry: SupplierEntry = {
      ...terms,
      unitCostCurrencyCode: terms.unitCostCurrencyCode ?? row.currency_code,
      leadTimeDays: terms.leadTimeDays ?? row.supplier_lead_time_days,
      supplierId: row.supplier_id,
      supplierName: row.supplier_name,
    };
    return { variantId: row.variant_id, entry };
  });
  const byVariant = Map.groupBy(entries, ({ variantId }) => variantId);
  return new Map([...byVariant].map(([variantId, each]) => [variantId, each.map(({ entry }) => entry)]));
}

/** The variants for which the supplier has a catalogue entry. */
export async function loadSupplierVariantIds(
  tx: Tx,
  shopId: string,
  supplierId: string,
  variantIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await inChunks(variantIds, (chunk) =>
    tx.all<{ variant_id: string }>(
      `select variant_id from supplier_variant
       where shop_id = ? and supplier_id = ? and variant_id in (${placeholders(chunk.length)})`,
      [shopId, supplierId, ...chunk],
    ),
  );
  return new Set(rows.map((row) => row.variant_id));
}

/** True if the supplier has an entry for any variant. */
export async function hasSupplierVariants(tx: Tx, shopId: string, supplierId: string): Promise<boolean> {
  const rows = await tx.all("select 1 as found from supplier_variant where shop_id = ? and supplier_id = ? limit 1", [
    shopId,
    supplierId,
  ]);
  return rows.length > 0;
}

// The records of the catalogue.

/** Standings of a supplier or a location: one that is archived is kept for the orders that name it. */
export const keptStatuses = ["active", "archived"] as const;

export const locationFields = {
  locationId: { kind: "text" },
  name: { kind: "text" },
  address: { kind: "address", empty: null },
  status: { kind: "text", empty: "active" },
} as const satisfies Fields;

export interface Location extends ValuesOf<typeof locationFields> {}

export const locationTable: RecordTable<Location, Row> = {
  ...fieldTable<typeof locationFields, Location>("location", ["locationId"], locationFields),
  derived: { name_folded: (location) => fold(location.name) },
};

export const supplierRecordFields = {
  supplierId: { kind: "text" },
  name: { kind: "text" },
  email: { kind: "text", empty: null },
  phone: { kind: "text", empty: null },
  contactName: { kind: "text", empty: null },
  currencyCode: { kind: "text", empty: null },
  leadTimeDays: { kind: "integer", empty: null },
  ...orderTermFields,
  address: { kind: "address", empty: null },
  note: { kind: "text", empty: null },
  /** In which the supplier is written to. */
  language: { kind: "text", empty: null },
  status: { kind: "text", empty: "active" },
} as const satisfies Fields;

/** Where a supplier is written to and called (C85). */
export const supplierContactFields = [
  "email",
  "phone",
  "contactName",
  "address",
] as const satisfies readonly (keyof typeof supplierRecordFields)[];

export interface Supplier extends ValuesOf<typeof supplierRecordFields> {}

export const supplierTable: RecordTable<Supplier, Row> = {
  ...fieldTable<typeof supplierRecordFields, Supplier>("supplier", ["supplierId"], supplierRecordFields),
  derived: {
    name_folded: (supplier) => fold(supplier.name),
    search_folded: ({ name, contactName, email }) => foldedLines([name, contactName, email]),
  },
};

/** Standings of a variant at the storefront, as last imported or pulled. */
export const variantStatuses = ["active", "inactive", "deleted", "unsyncable"] as const;

type VariantStatus = (typeof variantStatuses)[number];

export const variantFields = {
  variantId: { kind: "text" },
  productId: { kind: "text" },
  productName: { kind: "text" },
  variantName: { kind: "text", empty: null },
  sku: { kind: "text", empty: null },
  barcode: { kind: "text", empty: null },
  /** In the shop's currency, like `price`. */
  unitCost: { kind: "money", empty: null },
  price: { kind: "money", empty: null },
  status: { kind: "text", empty: "active" },
  isArchived: { kind: "boolean", empty: false },
  /** Address of its picture, for people. */
  imageUrl: { kind: "text", empty: null },
  reorder: { kind: "reorder", empty: null },
} as const satisfies Fields;

export interface Variant extends ValuesOf<typeof variantFields> {
  readonly status: VariantStatus;
}

export const variantTable: RecordTable<Variant, Row> = {
  ...fieldTable<typeof variantFields, Variant>("variant", ["variantId"], variantFields),
  derived: {
    search_folded: ({ productName, variantName, sku, barcode }) =>
      foldedLines([productName, variantName, sku, barcode]),
  },
};

export const inventoryLevelFields = {
  variantId: { kind: "text" },
  locationId: { kind: "text" },
  onHand: { kind: "quantity" },
} as const satisfies Fields;

export interface InventoryLevel extends ValuesOf<typeof inventoryLevelFields> {}

export const inventoryLevelTable: RecordTable<InventoryLevel, Row> = fieldTable(
  "inventory_level",
  ["variantId", "locationId"],
  inventoryLevelFields,
);

export const saleFields = {
  variantId: { kind: "text" },
  /** Null when it is not known where. */
  locationId: { kind: "text", empty: null },
  date: { kind: "day" },
  quantity: { kind: "quantity" },
} as const satisfies Fields;

/** Sales of a variant on a day. */
export interface Sale extends ValuesOf<typeof saleFields> {}

const saleRows = fieldTable<typeof saleFields, Sale>("sale", ["variantId", "locationId", "date"], saleFields);

/** Returns the value of the column: a key column cannot be null, and no location has an empty id. */
export const saleLocation = (sale: Sale): string => sale.locationId ?? "";

export const saleTable: RecordTable<Sale, Row> = {
  ...saleRows,
  columns: { ...saleRows.columns, location_id: saleLocation },
  from: (row) => saleRows.from(row["location_id"] === "" ? { ...row, location_id: null } : row),
};

export const supplierVariantFields = {
  supplierId: { kind: "text" },
  variantId: { kind: "text" },
  ...supplierEntryFields,
  isPreferred: { kind: "boolean", empty: false },
} as const satisfies Fields;

/** A supplier's catalogue entry for a variant. */
export interface SupplierVariant extends ValuesOf<typeof supplierVariantFields> {}

// What the operator alone may see is no part of a price list (C36).
const { supplierVariantDetails: _details, ...ofPriceList } = supplierVariantFields;
export const priceFields = ofPriceList;

/** Fields of an entry that a search for variants reads, each with a column of its own, since they change one by one. */
const searchedEntryFields = { supplierSku: "supplier_sku_folded", supplierBarcode: "supplier_barcode_folded" } as const;

const foldOrNull = (text: string | null): string | null => (text === null ? null : fold(text));

export const supplierVariantTable: RecordTable<SupplierVariant, Row> = {
  ...fieldTable<typeof supplierVariantFields, SupplierVariant>(
    "supplier_variant",
    ["supplierId", "variantId"],
    supplierVariantFields,
  ),
  derived: {
    [searchedEntryFields.supplierSku]: ({ supplierSku }) => foldOrNull(supplierSku),
    [searchedEntryFields.supplierBarcode]: ({ supplierBarcode }) => foldOrNull(supplierBarcode),
  },
};

/** Updates the supplier's catalogue entry. Null when there is no change. It never creates an entry (C46). */
export function supplierVariantStatement(
  shopId: string,
  supplierId: string,
  variantId: string,
  changes: SupplierEntryChanges,
): Change | null {
  const { supplierSku, supplierBarcode } = changes;
  const set = [
    ...changedColumns(supplierEntryFields, changes),
    ...(supplierSku === undefined ? [] : [[searchedEntryFields.supplierSku, foldOrNull(supplierSku)] as const]),
    ...(supplierBarcode === undefined
      ? []
      : [[searchedEntryFields.supplierBarcode, foldOrNull(supplierBarcode)] as const]),
  ];
  if (set.length === 0) return null;
  const key = { supplier_id: supplierId, variant_id: variantId };
  return update(tables.supplier_variant, shopId, key, Object.fromEntries(set));
}

/** A page of a supplier's entries by variant id, after that of the variant `after`. */
export async function pageOfEntries(
  tx: Tx,
  shopId: string,
  supplierId: string,
  after: string | null,
  limit: number,
): Promise<{ readonly entries: readonly SupplierVariant[]; readonly totalCount: number; readonly end: string | null }> {
  const of = "from supplier_variant where shop_id = ? and supplier_id = ?";
  const [[counted], rows] = await Promise.all([
    tx.all<{ n: number }>(`select count(*) as n ${of}`, [shopId, supplierId]),
    tx.all<Row>(
      `select ${columnList(supplierVariantFields)} ${of}${after === null ? "" : " and variant_id > ?"}
       order by variant_id limit ?`,
      [shopId, supplierId, ...(after === null ? [] : [after]), limit + 1],
    ),
  ]);
  const entries = rows.slice(0, limit).map((row) => supplierVariantTable.from(row));
  return {
    entries,
    totalCount: counted?.n ?? 0,
    end: rows.length > limit ? (entries.at(-1)?.variantId ?? null) : null,
  };
}

interface SupplierCreditRow {
  readonly credit_id: string;
  readonly supplier_id: string;
  readonly doc: string;
}

export const supplierCreditTable: RecordTable<SupplierCredit, SupplierCreditRow> = {
  name: "supplier_credit",
  key: ["credit_id"],
  columns: {
    credit_id: (credit) => credit.creditId,
    supplier_id: (credit) => credit.supplierId,
    doc: (credit) => JSON.stringify(credit),
  },
  from: (row): SupplierCredit => JSON.parse(row.doc),
};
