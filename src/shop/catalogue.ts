/**
 * The records that an operator brings in and takes out, between SQL and the program: reference data, and of an order what no rule
 * reads (its log, receipts and cost history as they are).
 *
 * Owns: writing, replacing and paging through them. Does not own: what a record looks like in a file (exchange/), the order
 * itself and what hangs on it (rows.ts).
 */
import type { SupplierCredit } from "../core/attachments.ts";
import { fold } from "../core/fold.ts";
import { type Money, type Quantity, asMoney, asQuantity } from "../core/money.ts";
import type { Address, SupplierFields } from "../core/purchase-order.ts";
import { inChunks, placeholders } from "../store/in-lists.ts";
import type { SqlValue, Statement, Tx } from "../store/store.ts";
import { addressFrom, jsonOrNull, orNull } from "./columns.ts";
import type { RecordTable } from "./record-table.ts";

// The catalogue, as far as orders read and write it.

export interface SupplierFacts {
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
export interface VariantSnapshot {
  readonly productName: string;
  readonly variantName: string | null;
  readonly sku: string | null;
  readonly barcode: string | null;
}

/** The variants that the shop's catalogue holds; the others are missing from the map (C16). */
export async function loadVariants(
  tx: Tx,
  shopId: string,
  variantIds: readonly string[],
): Promise<ReadonlyMap<string, VariantSnapshot>> {
  const rows = await inChunks(variantIds, (chunk) =>
    tx.all<{
      variant_id: string;
      product_name: string;
      variant_name: string | null;
      sku: string | null;
      barcode: string | null;
    }>(
      `select variant_id, product_name, variant_name, sku, barcode from variant
       where shop_id = ? and variant_id in (${placeholders(chunk.length)})`,
      [shopId, ...chunk],
    ),
  );
  return new Map(
    rows.map((row) => [
      row.variant_id,
      { productName: row.product_name, variantName: row.variant_name, sku: row.sku, barcode: row.barcode },
    ]),
  );
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

/** What a write-back may set in a supplier's catalogue entry; an absent field is untouched (spec "Rules attached to the endpoints" 6). */
export interface SupplierVariantChanges {
  readonly unitCost?: Money | undefined;
  readonly unitCostCurrencyCode?: string | undefined;
  readonly supplierSku?: string | null | undefined;
  readonly supplierBarcode?: string | null | undefined;
  readonly supplierProductName?: string | null | undefined;
  readonly supplierProductUrl?: string | null | undefined;
  /** JSON text. It goes nowhere else (C36). */
  readonly supplierVariantDetails?: string | null | undefined;
  readonly moq?: Quantity | null | undefined;
  readonly packSize?: Quantity | null | undefined;
  readonly leadTimeDays?: number | null | undefined;
}

const supplierVariantColumns = [
  ["unitCost", "unit_cost"],
  ["unitCostCurrencyCode", "unit_cost_currency_code"],
  ["supplierSku", "supplier_sku"],
  ["supplierBarcode", "supplier_barcode"],
  ["supplierProductName", "supplier_product_name"],
  ["supplierProductUrl", "supplier_product_url"],
  ["supplierVariantDetails", "supplier_variant_details"],
  ["moq", "moq"],
  ["packSize", "pack_size"],
  ["leadTimeDays", "lead_time_days"],
] as const satisfies readonly (readonly [keyof SupplierVariantChanges, string])[];

/** Sets what was sent in the supplier's catalogue entry; null when nothing was. It never makes an entry (C46). */
export function supplierVariantStatement(
  shopId: string,
  supplierId: string,
  variantId: string,
  changes: SupplierVariantChanges,
): Statement | null {
  const sets: string[] = [];
  const params: SqlValue[] = [];
  for (const [field, column] of supplierVariantColumns) {
    const value = changes[field];
    if (value === undefined) continue;
    sets.push(`${column} = ?`);
    params.push(value);
  }
  if (sets.length === 0) return null;
  return {
    sql: `update supplier_variant set ${sets.join(", ")} where shop_id = ? and supplier_id = ? and variant_id = ?`,
    params: [...params, shopId, supplierId, variantId],
  };
}

export interface Location {
  readonly locationId: string;
  readonly name: string;
  readonly address: Address | null;
}

interface LocationRow {
  readonly location_id: string;
  readonly name: string;
  readonly address: string | null;
}

export const locationTable: RecordTable<Location, LocationRow> = {
  name: "location",
  key: ["location_id"],
  columns: {
    location_id: (location) => location.locationId,
    name: (location) => location.name,
    address: (location) => jsonOrNull(location.address),
  },
  from: (row) => ({ locationId: row.location_id, name: row.name, address: addressFrom(row.address) }),
};

export interface Supplier {
  readonly supplierId: string;
  readonly name: string;
  readonly email: string | null;
  readonly currencyCode: string | null;
  readonly leadTimeDays: number | null;
  readonly address: Address | null;
}

interface SupplierRow {
  readonly supplier_id: string;
  readonly name: string;
  readonly email: string | null;
  readonly currency_code: string | null;
  readonly lead_time_days: number | null;
  readonly address: string | null;
}

export const supplierTable: RecordTable<Supplier, SupplierRow> = {
  name: "supplier",
  key: ["supplier_id"],
  columns: {
    supplier_id: (supplier) => supplier.supplierId,
    name: (supplier) => supplier.name,
    email: (supplier) => supplier.email,
    currency_code: (supplier) => supplier.currencyCode,
    lead_time_days: (supplier) => supplier.leadTimeDays,
    address: (supplier) => jsonOrNull(supplier.address),
  },
  derived: { name_folded: (supplier) => fold(supplier.name) },
  from: (row) => ({
    supplierId: row.supplier_id,
    name: row.name,
    email: row.email,
    currencyCode: row.currency_code,
    leadTimeDays: row.lead_time_days,
    address: addressFrom(row.address),
  }),
};

/** How a variant stands at the storefront, as last imported or pulled. */
export const variantStatuses = ["active", "inactive", "deleted", "unsyncable"] as const;

export type VariantStatus = (typeof variantStatuses)[number];

export interface Variant {
  readonly variantId: string;
  readonly productId: string;
  readonly productName: string;
  readonly variantName: string | null;
  readonly sku: string | null;
  readonly barcode: string | null;
  /** In the shop's currency, like `price`. */
  readonly unitCost: Money | null;
  readonly price: Money | null;
  readonly status: VariantStatus;
}

interface VariantRow {
  readonly variant_id: string;
  readonly product_id: string;
  readonly product_name: string;
  readonly variant_name: string | null;
  readonly sku: string | null;
  readonly barcode: string | null;
  readonly unit_cost: number | null;
  readonly price: number | null;
  readonly status: VariantStatus;
}

export const variantTable: RecordTable<Variant, VariantRow> = {
  name: "variant",
  key: ["variant_id"],
  columns: {
    variant_id: (variant) => variant.variantId,
    product_id: (variant) => variant.productId,
    product_name: (variant) => variant.productName,
    variant_name: (variant) => variant.variantName,
    sku: (variant) => variant.sku,
    barcode: (variant) => variant.barcode,
    unit_cost: (variant) => variant.unitCost,
    price: (variant) => variant.price,
    status: (variant) => variant.status,
  },
  from: (row) => ({
    variantId: row.variant_id,
    productId: row.product_id,
    productName: row.product_name,
    variantName: row.variant_name,
    sku: row.sku,
    barcode: row.barcode,
    unitCost: orNull<Money>(row.unit_cost, asMoney),
    price: orNull<Money>(row.price, asMoney),
    status: row.status,
  }),
};

/** A supplier's catalogue entry for a variant. */
export interface SupplierVariant extends SupplierFields {
  readonly supplierId: string;
  readonly variantId: string;
  readonly unitCost: Money | null;
  readonly unitCostCurrencyCode: string | null;
  /** JSON text. It is shown to the operator alone (C36). */
  readonly supplierVariantDetails: string | null;
}

interface SupplierVariantRow {
  readonly supplier_id: string;
  readonly variant_id: string;
  readonly unit_cost: number | null;
  readonly unit_cost_currency_code: string | null;
  readonly supplier_sku: string | null;
  readonly supplier_barcode: string | null;
  readonly supplier_product_name: string | null;
  readonly supplier_product_url: string | null;
  readonly supplier_variant_details: string | null;
  readonly moq: number | null;
  readonly pack_size: number | null;
  readonly lead_time_days: number | null;
}

export const supplierVariantTable: RecordTable<SupplierVariant, SupplierVariantRow> = {
  name: "supplier_variant",
  key: ["supplier_id", "variant_id"],
  columns: {
    supplier_id: (entry) => entry.supplierId,
    variant_id: (entry) => entry.variantId,
    unit_cost: (entry) => entry.unitCost,
    unit_cost_currency_code: (entry) => entry.unitCostCurrencyCode,
    supplier_sku: (entry) => entry.supplierSku,
    supplier_barcode: (entry) => entry.supplierBarcode,
    supplier_product_name: (entry) => entry.supplierProductName,
    supplier_product_url: (entry) => entry.supplierProductUrl,
    supplier_variant_details: (entry) => entry.supplierVariantDetails,
    moq: (entry) => entry.moq,
    pack_size: (entry) => entry.packSize,
    lead_time_days: (entry) => entry.leadTimeDays,
  },
  from: (row) => ({
    supplierId: row.supplier_id,
    variantId: row.variant_id,
    unitCost: orNull<Money>(row.unit_cost, asMoney),
    unitCostCurrencyCode: row.unit_cost_currency_code,
    supplierSku: row.supplier_sku,
    supplierBarcode: row.supplier_barcode,
    supplierProductName: row.supplier_product_name,
    supplierProductUrl: row.supplier_product_url,
    supplierVariantDetails: row.supplier_variant_details,
    moq: orNull<Quantity>(row.moq, asQuantity),
    packSize: orNull<Quantity>(row.pack_size, asQuantity),
    leadTimeDays: row.lead_time_days,
  }),
};

export interface InventoryLevel {
  readonly variantId: string;
  readonly locationId: string;
  readonly onHand: Quantity;
}

interface InventoryLevelRow {
  readonly variant_id: string;
  readonly location_id: string;
  readonly on_hand: number;
}

export const inventoryLevelTable: RecordTable<InventoryLevel, InventoryLevelRow> = {
  name: "inventory_level",
  key: ["variant_id", "location_id"],
  columns: {
    variant_id: (level) => level.variantId,
    location_id: (level) => level.locationId,
    on_hand: (level) => level.onHand,
  },
  from: (row) => ({ variantId: row.variant_id, locationId: row.location_id, onHand: asQuantity(row.on_hand) }),
};

/** What was sold of a variant on a day; `locationId` is null when it is not known where. */
export interface Sale {
  readonly variantId: string;
  readonly locationId: string | null;
  /** `YYYY-MM-DD`. */
  readonly date: string;
  readonly quantity: Quantity;
}

interface SaleRow {
  readonly variant_id: string;
  readonly location_id: string;
  readonly date: string;
  readonly quantity: number;
}

export const saleTable: RecordTable<Sale, SaleRow> = {
  name: "sale",
  key: ["variant_id", "location_id", "date"],
  columns: {
    variant_id: (sale) => sale.variantId,
    // A key column cannot be null; no location has an empty id.
    location_id: (sale) => sale.locationId ?? "",
    date: (sale) => sale.date,
    quantity: (sale) => sale.quantity,
  },
  from: (row) => ({
    variantId: row.variant_id,
    locationId: row.location_id === "" ? null : row.location_id,
    date: row.date,
    quantity: asQuantity(row.quantity),
  }),
};

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
