/**
 * The records that an operator brings in and takes out, between SQL and the program: reference data, and of an order what no rule
 * reads (its log, receipts and cost history as they are).
 *
 * Owns: writing, replacing and paging through them. Does not own: what a record looks like in a file (exchange/), the order
 * itself and what hangs on it (rows.ts).
 */
import type { SupplierCredit } from "../core/attachments.ts";
import { fold } from "../core/fold.ts";
import { articleFields, type Fields, type ValuesOf } from "../core/purchase-order-fields.ts";
import { type SupplierEntryChanges, supplierEntryFields } from "../core/write-back.ts";
import { inChunks, placeholders } from "../store/in-lists.ts";
import type { Statement, Tx } from "../store/store.ts";
import { type Row, changedColumns, columnList, recordReader } from "./columns.ts";
import { type RecordTable, fieldTable } from "./record-table.ts";

// The catalogue, as far as orders read and write it.

interface SupplierFacts {
  readonly name: string;
  readonly currencyCode: string | null;
  readonly leadTimeDays: number | null;
}

/** Null when the shop does not know the supplier. */
export async function loadSupplier(tx: Tx, shopId: string, supplierId: string): Promise<SupplierFacts | null> {
  const [row] = await tx.all<{ name: string; currency_code: string | null; lead_time_days: number | null }>(
    "select name, currency_code, lead_time_days from supplier where shop_id = ? and supplier_id = ?",
    [shopId, supplierId],
  );
  return row === undefined
    ? null
    : { name: row.name, currencyCode: row.currency_code, leadTimeDays: row.lead_time_days };
}

/** Null when the shop does not know the location. */
export async function loadLocationName(tx: Tx, shopId: string, locationId: string): Promise<string | null> {
  const [row] = await tx.all<{ name: string }>("select name from location where shop_id = ? and location_id = ?", [
    shopId,
    locationId,
  ]);
  return row?.name ?? null;
}

/** What a line keeps of its variant as it stands when the line is made (D2). */
export interface VariantSnapshot extends ValuesOf<typeof articleFields> {
  readonly productName: string;
}

const snapshotFrom = recordReader<VariantSnapshot>(articleFields);

/** The variants that the shop's catalogue holds; the others are missing from the map (C16). */
export async function loadVariants(
  tx: Tx,
  shopId: string,
  variantIds: readonly string[],
): Promise<ReadonlyMap<string, VariantSnapshot>> {
  const rows = await inChunks(variantIds, (chunk) =>
    tx.all<Row & { readonly variant_id: string }>(
      `select variant_id, ${columnList(articleFields)} from variant
       where shop_id = ? and variant_id in (${placeholders(chunk.length)})`,
      [shopId, ...chunk],
    ),
  );
  return new Map(rows.map((row) => [row.variant_id, snapshotFrom(row)]));
}

/** Variants of which the supplier has a catalogue entry. */
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

// The records of the catalogue.

export const locationFields = {
  locationId: { kind: "text" },
  name: { kind: "text" },
  address: { kind: "address", empty: null },
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
  currencyCode: { kind: "text", empty: null },
  leadTimeDays: { kind: "integer", empty: null },
  address: { kind: "address", empty: null },
} as const satisfies Fields;

export interface Supplier extends ValuesOf<typeof supplierRecordFields> {}

export const supplierTable: RecordTable<Supplier, Row> = {
  ...fieldTable<typeof supplierRecordFields, Supplier>("supplier", ["supplierId"], supplierRecordFields),
  derived: { name_folded: (supplier) => fold(supplier.name) },
};

/** How a variant stands at the storefront, as last imported or pulled. */
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
  status: { kind: "text" },
} as const satisfies Fields;

export interface Variant extends ValuesOf<typeof variantFields> {
  readonly status: VariantStatus;
}

export const variantTable: RecordTable<Variant, Row> = {
  ...fieldTable<typeof variantFields, Variant>("variant", ["variantId"], variantFields),
  derived: {
    search_folded: ({ productName, variantName, sku }) =>
      [productName, variantName ?? "", sku ?? ""].map(fold).join("\n"),
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

/** What was sold of a variant on a day. */
export interface Sale extends ValuesOf<typeof saleFields> {}

const saleRows = fieldTable<typeof saleFields, Sale>("sale", ["variantId", "locationId", "date"], saleFields);

/** What the column holds: a key column cannot be null, and no location has an empty id. */
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
} as const satisfies Fields;

/** A supplier's catalogue entry for a variant. */
export interface SupplierVariant extends ValuesOf<typeof supplierVariantFields> {}

export const supplierVariantTable: RecordTable<SupplierVariant, Row> = fieldTable(
  "supplier_variant",
  ["supplierId", "variantId"],
  supplierVariantFields,
);

/** Sets what was sent in the supplier's catalogue entry; null when nothing was. It never makes an entry (C46). */
export function supplierVariantStatement(
  shopId: string,
  supplierId: string,
  variantId: string,
  changes: SupplierEntryChanges,
): Statement | null {
  const set = changedColumns(supplierEntryFields, changes);
  if (set.length === 0) return null;
  return {
    sql: `update supplier_variant set ${set.map(([column]) => `${column} = ?`).join(", ")}
          where shop_id = ? and supplier_id = ? and variant_id = ?`,
    params: [...set.map(([, value]) => value), shopId, supplierId, variantId],
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
