/**
 * Merchants' CSV files as records of contract §8: Shopify's product and inventory files, and plain CSV for suppliers' prices and sales.
 *
 * Owns: the meaning of columns, and which variant, location and supplier a row is about. Does not own: reading CSV (csv.ts), checking
 * and importing records (import.ts).
 *
 * Invariants:
 * - T1. A variant is identified by its id, or by its product's handle and its options; never by a SKU, which may be missing or shared.
 *       Without an id, the id is made from handle and options, the same in every file.
 * - T2. A column that the file lacks leaves the stored value unchanged. An empty value clears it.
 * - T3. A number is taken exactly as it is written, or refused.
 */
import { fold } from "../base/fold.ts";
import type { Shop } from "../shop/access/accounts.ts";
import {
  type Location,
  type Supplier,
  loadVariants,
  locationTable,
  supplierTable,
} from "../shop/catalogue/catalogue.ts";
import { pageOf } from "../shop/record-table.ts";
import type { Engine } from "../store/store.ts";
import { type ColumnWanted, type CsvRow, csvRows } from "./csv.ts";
import { type FileFormat, type FileRecord, lineFault } from "./file-format.ts";
import { ndjson } from "./ndjson.ts";
import { recordIdOf } from "./record-type.ts";
import { referenceTypes } from "./record-types.ts";

const csvFormatNames = ["shopify-products", "shopify-inventory", "supplier-prices", "sales"] as const;

export const fileFormatNames = ["ndjson", ...csvFormatNames] as const;

export type FileFormatName = (typeof fileFormatNames)[number];

/** What a file is read for. */
interface Target {
  readonly engine: Engine;
  readonly shop: Shop;
  /** The supplier of a price list that has no supplier column; null when it has one. */
  readonly supplierId: string | null;
}

/** Names of a shop's locations or suppliers that are held in memory while a file is read. */
export const namesMax = 20_000;

/** Decimal digits that a double always holds exactly. */
const exactDigitsMax = 15;

/** Characters of a cell that a message quotes. */
const shownLengthMax = 100;

/** The refusal of one value, naming its line and column. */
const refused = <Key extends string>(row: CsvRow<Key>, key: Key, message: string) =>
  lineFault(row.lineNumber, [{ path: "/value", message }], { "/value": row.header(key) });

/** @throws Fault INVALID_INPUT naming line and column when the value is empty. */
function needed<Key extends string>(row: CsvRow<Key>, key: Key): string {
  const value = row.value(key);
  if (value === null) throw refused(row, key, "is needed");
  return value;
}

/** The number as it is written (T3); null when empty. @throws Fault INVALID_INPUT when it is no number, or not an exact one. */
function numberOf<Key extends string>(row: CsvRow<Key>, key: Key): number | null {
  const value = row.value(key);
  if (value === null) return null;
  // Each part of the pattern ends where the next begins, so a long cell is read once.
  const match = /^[+-]?(\d*)(?:\.(\d*))?$/.exec(value);
  if (match === null || !/\d/.test(value))
    throw refused(row, key, `must be a number like 1234.50, not ${shown(value)}`);
  const [, whole = "", decimals = ""] = match;
  if (significantDigits(whole, decimals) > exactDigitsMax)
    throw refused(row, key, `has too many digits: ${shown(value)}`);
  return Number(value);
}

/** Digits without the zeros at both ends. */
function significantDigits(whole: string, decimals: string): number {
  let start = 0;
  while (whole[start] === "0") start += 1;
  let end = decimals.length;
  while (end > 0 && decimals[end - 1] === "0") end -= 1;
  return whole.length - start + end;
}

/** A cell as a message quotes it. */
const shown = (value: string): string =>
  JSON.stringify(value.length <= shownLengthMax ? value : `${value.slice(0, shownLengthMax)}…`);

/** For each member of a record, the column that it is in and how the column is read. */
type Members<Key extends string> = Readonly<
  Record<string, readonly [Key, (row: CsvRow<Key>, key: Key) => string | number | null]>
>;

/** The members whose column the file has (T2). */
const present = <Key extends string>(row: CsvRow<Key>, members: Members<Key>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(members).flatMap(([name, [key, valueOf]]) => (row.has(key) ? [[name, valueOf(row, key)]] : [])),
  );

/** The column of each member. */
const columnsOf = <Key extends string>(members: Members<Key>): Readonly<Record<string, Key>> =>
  Object.fromEntries(Object.entries(members).map(([name, [key]]) => [name, key]));

const textOf = <Key extends string>(row: CsvRow<Key>, key: Key): string | null => row.value(key);

/** The record, with the column of each of its members. */
const fileRecord = <Key extends string>(
  row: CsvRow<Key>,
  value: object,
  fields: Readonly<Record<string, Key>>,
): FileRecord => ({
  lineNumber: row.lineNumber,
  bytes: row.bytes,
  value: () => value,
  columns: Object.fromEntries(Object.entries(fields).map(([field, key]) => [`/${field}`, row.header(key)])),
});

// Variants.

const variantColumns = {
  variantId: { headers: ["Variant ID"] },
  handle: { headers: ["Handle", "URL handle"] },
  option1: { headers: ["Option1 Value", "Option1"] },
  option2: { headers: ["Option2 Value", "Option2"] },
  option3: { headers: ["Option3 Value", "Option3"] },
} as const satisfies Record<string, ColumnWanted>;

type VariantKey = keyof typeof variantColumns;

/** What Shopify calls the one option of a product that has none. */
const noOption = "Default Title";

function optionsOf(row: CsvRow<VariantKey>): readonly string[] {
  const values = (["option1", "option2", "option3"] as const).flatMap((key) => row.value(key) ?? []);
  return values.length === 1 && values[0] === noOption ? [] : values;
}

/** The id made for a variant without one (T1). It is readable and contains no comma, which separates ids in a list. */
export const variantIdOf = (handle: string, options: readonly string[]): string =>
  [handle, ...options].map(encodeURIComponent).join(":");

/**
 * The variant of each row, and the column that identifies it. An id is not looked up (C16).
 *
 * @throws Fault INVALID_INPUT  a row names no variant, or the handle of one that is not in the catalogue.
 */
async function variantsOf(
  { engine, shop }: Target,
  rows: readonly CsvRow<VariantKey>[],
): Promise<readonly { readonly variantId: string; readonly key: VariantKey }[]> {
  const found = rows.map((row) => {
    const variantId = row.value("variantId");
    if (variantId !== null) return { variantId, key: "variantId" } as const;
    const handle = row.value("handle");
    if (handle !== null) return { variantId: variantIdOf(handle, optionsOf(row)), key: "handle" } as const;
    throw lineFault(row.lineNumber, [
      {
        path: "",
        message:
          "must name its variant by Variant ID, or by Handle and option values; a SKU alone does not identify it",
      },
    ]);
  });
  const derived = found.flatMap(({ variantId, key }) => (key === "handle" ? variantId : []));
  const catalogue =
    derived.length === 0 ? new Map() : await engine.read(shop.shopId, (tx) => loadVariants(tx, shop.shopId, derived));
  for (const [index, { variantId, key }] of found.entries()) {
    const row = rows[index];
    if (row !== undefined && key === "handle" && !catalogue.has(variantId))
      throw refused(
        row,
        key,
        `the catalogue has no ${[row.value("handle"), ...optionsOf(row)].join(" / ")}; import the products first, or name the variant by its id`,
      );
  }
  return found;
}

// Locations and suppliers.

interface Named {
  readonly id: string;
  readonly name: string;
}

/** The shop's locations or suppliers by name, those that the file adds included. */
export class Names {
  readonly #ids = new Map<string, string>();
  readonly #shared = new Set<string>();
  readonly #taken = new Set<string>();

  constructor(known: readonly Named[]) {
    for (const { id, name } of known) {
      if (this.#ids.has(fold(name))) this.#shared.add(fold(name));
      this.#ids.set(fold(name), id);
      this.#taken.add(id);
    }
  }

  /** The id for this name. `isNew` when nothing had this name yet: the id is then made from the name. */
  idOf<Key extends string>(row: CsvRow<Key>, key: Key, name: string): { readonly id: string; readonly isNew: boolean } {
    if (this.#shared.has(fold(name)))
      throw refused(row, key, `${JSON.stringify(name)} is the name of several; use the id`);
    const known = this.#ids.get(fold(name));
    if (known !== undefined) return { id: known, isNew: false };
    const id = encodeURIComponent(name);
    if (this.#taken.has(id)) throw refused(row, key, `${JSON.stringify(name)} is the id of another; use the id`);
    if (this.#ids.size >= namesMax)
      throw refused(row, key, `is name number ${namesMax + 1}; the most there may be is ${namesMax}`);
    this.#ids.set(fold(name), id);
    return { id, isNew: true };
  }
}

const locationNames = async ({ engine, shop }: Target): Promise<Names> =>
  new Names(
    (await engine.read(shop.shopId, (tx) => pageOf(tx, locationTable, shop.shopId, null, namesMax))).map(
      ({ locationId, name }: Location) => ({ id: locationId, name }),
    ),
  );

const supplierNames = async ({ engine, shop }: Target): Promise<Names> =>
  new Names(
    (await engine.read(shop.shopId, (tx) => pageOf(tx, supplierTable, shop.shopId, null, namesMax))).map(
      ({ supplierId, name }: Supplier) => ({ id: supplierId, name }),
    ),
  );

const locationColumns = {
  locationId: { headers: ["Location ID"] },
  location: { headers: ["Location"] },
} as const satisfies Record<string, ColumnWanted>;

/** The location of a row, with a record for it when it is new; null when the row names none. */
function locationOf(row: CsvRow<keyof typeof locationColumns>, names: Names) {
  const locationId = row.value("locationId");
  if (locationId !== null) return { locationId, made: [] };
  const name = row.value("location");
  if (name === null) return null;
  const { id, isNew } = names.idOf(row, "location", name);
  const record = { type: "location", locationId: id, name };
  return { locationId: id, made: isNew ? [fileRecord(row, record, { locationId: "location", name: "location" })] : [] };
}

// Products.

const productColumns = {
  ...variantColumns,
  handle: { headers: ["Handle", "URL handle"], needed: true },
  productId: { headers: ["Product ID"] },
  title: { headers: ["Title"], needed: true },
  sku: { headers: ["Variant SKU", "SKU"] },
  barcode: { headers: ["Variant Barcode", "Barcode"] },
  tracker: { headers: ["Variant Inventory Tracker", "Inventory tracker"] },
  price: { headers: ["Variant Price", "Price"] },
  cost: { headers: ["Cost per item"] },
  status: { headers: ["Status"] },
} as const satisfies Record<string, ColumnWanted>;

const productMembers = {
  sku: ["sku", textOf],
  barcode: ["barcode", textOf],
  price: ["price", numberOf],
  unitCost: ["cost", numberOf],
} as const satisfies Members<keyof typeof productColumns>;

type ProductRow = CsvRow<keyof typeof productColumns>;

const productStatuses: Readonly<Record<string, string>> = { active: "active", draft: "inactive", archived: "inactive" };

/** The product of a handle, as its first row describes it. */
interface Product {
  readonly handle: string;
  readonly productId: string;
  readonly title: string;
  /** Null when the file has no status column. */
  readonly status: string | null;
}

function productOf(row: ProductRow, before: Product | null): Product {
  const handle = needed(row, "handle");
  const title = row.value("title");
  if (before !== null && before.handle === handle && title === null) return before;
  if (title === null) throw refused(row, "title", `is needed on the first row of ${handle}`);
  const status = row.has("status") ? (ownStatus(row) ?? "active") : null;
  return { handle, productId: row.value("productId") ?? handle, title, status };
}

function ownStatus(row: ProductRow): string | null {
  const stated = row.value("status");
  if (stated === null) return null;
  const status = productStatuses[stated.toLowerCase()];
  if (status === undefined)
    throw refused(row, "status", `must be active, draft or archived, not ${JSON.stringify(stated)}`);
  return status;
}

/** A row below the first of its handle that has only another picture. */
const isPicture = (row: ProductRow): boolean =>
  row.value("title") === null &&
  (["variantId", "option1", "sku", "price"] as const).every((key) => row.value(key) === null);

/** The variant's status: its row's, else its product's; null when the file has none. An untracked variant has no stock to push (C44). */
function statusOf(row: ProductRow, product: Product): string | null {
  if (row.has("tracker") && row.value("tracker") === null) return "unsyncable";
  return ownStatus(row) ?? product.status;
}

async function* productRecords(target: Target, body: AsyncIterable<Uint8Array>): AsyncGenerator<FileRecord> {
  const { engine, shop } = target;
  let product: Product | null = null;
  for await (const rows of csvRows(body, productColumns)) {
    const variants: { row: ProductRow; record: { variantId: string } & Record<string, unknown> }[] = [];
    for (const row of rows) {
      product = productOf(row, product);
      if (isPicture(row)) continue;
      const options = optionsOf(row);
      const status = statusOf(row, product);
      variants.push({
        row,
        record: {
          type: "variant",
          variantId: row.value("variantId") ?? variantIdOf(product.handle, options),
          productId: product.productId,
          productName: product.title,
          variantName: options.length === 0 ? null : options.join(" / "),
          ...present(row, productMembers),
          ...(status === null ? {} : { status }),
        },
      });
    }
    const keys = variants.map(({ record }) => [record.variantId]);
    const before = await engine.read(shop.shopId, (tx) => referenceTypes.variant.find(tx, shop.shopId, keys));
    for (const { row, record } of variants)
      yield fileRecord(
        row,
        { ...before.get(record.variantId), ...record },
        {
          variantId: row.value("variantId") === null ? "handle" : "variantId",
          productId: row.value("productId") === null ? "handle" : "productId",
          productName: "title",
          variantName: "option1",
          ...columnsOf(productMembers),
        },
      );
  }
}

// Stock.

const inventoryColumns = {
  ...variantColumns,
  ...locationColumns,
  onHandNew: { headers: ["On hand (new)"] },
  onHand: { headers: ["On hand (current)", "On hand"] },
} as const satisfies Record<string, ColumnWanted>;

/** Shopify's value for a variant that is not stocked at a location. */
const notStocked = "not stocked";

async function* inventoryRecords(target: Target, body: AsyncIterable<Uint8Array>): AsyncGenerator<FileRecord> {
  const names = await locationNames(target);
  for await (const rows of csvRows(body, inventoryColumns)) {
    const stocked = rows.filter((row) => (row.value("onHandNew") ?? row.value("onHand"))?.toLowerCase() !== notStocked);
    const variants = await variantsOf(target, stocked);
    for (const [index, row] of stocked.entries()) {
      // A new figure beside the current one replaces it.
      const key = row.value("onHandNew") === null ? "onHand" : "onHandNew";
      if (!row.has(key)) throw lineFault(1, [{ path: "", message: 'there is no column "On hand"' }]);
      needed(row, key);
      const place = locationOf(row, names);
      if (place === null) throw refused(row, "location", "is needed");
      yield* place.made;
      const variant = variants[index];
      const record = {
        type: "inventoryLevel",
        variantId: variant?.variantId,
        locationId: place.locationId,
        onHand: numberOf(row, key),
      };
      yield fileRecord(row, record, { variantId: variant?.key ?? "handle", locationId: "locationId", onHand: key });
    }
  }
}

// Suppliers' prices.

const priceColumns = {
  ...variantColumns,
  supplierId: { headers: ["Supplier ID"] },
  supplier: { headers: ["Supplier", "Vendor"] },
  unitCost: { headers: ["Unit cost", "Cost", "Price"], needed: true },
  currency: { headers: ["Currency", "Unit cost currency code"] },
  supplierSku: { headers: ["Supplier SKU"] },
  supplierBarcode: { headers: ["Supplier barcode"] },
  supplierProductName: { headers: ["Supplier product name"] },
  supplierProductUrl: { headers: ["Supplier product URL"] },
  moq: { headers: ["MOQ", "Minimum order quantity"] },
  packSize: { headers: ["Pack size"] },
  leadTimeDays: { headers: ["Lead time days", "Lead time"] },
} as const satisfies Record<string, ColumnWanted>;

const priceMembers = {
  unitCost: ["unitCost", numberOf],
  unitCostCurrencyCode: ["currency", textOf],
  supplierSku: ["supplierSku", textOf],
  supplierBarcode: ["supplierBarcode", textOf],
  supplierProductName: ["supplierProductName", textOf],
  supplierProductUrl: ["supplierProductUrl", textOf],
  moq: ["moq", numberOf],
  packSize: ["packSize", numberOf],
  leadTimeDays: ["leadTimeDays", numberOf],
} as const satisfies Members<keyof typeof priceColumns>;

async function* priceRecords(target: Target, body: AsyncIterable<Uint8Array>): AsyncGenerator<FileRecord> {
  const { engine, shop } = target;
  const names = await supplierNames(target);
  for await (const rows of csvRows(body, priceColumns)) {
    const variants = await variantsOf(target, rows);
    const suppliers = rows.map((row) => {
      const supplierId = row.value("supplierId");
      if (supplierId !== null) return { id: supplierId, isNew: false };
      const name = row.value("supplier");
      if (name !== null) return names.idOf(row, "supplier", name);
      if (target.supplierId !== null) return { id: target.supplierId, isNew: false };
      throw lineFault(row.lineNumber, [
        {
          path: "",
          message: "must name its supplier by Supplier ID or Supplier, or one supplier be given for the whole file",
        },
      ]);
    });
    const keys = rows.map((_, index) => [suppliers[index]?.id ?? "", variants[index]?.variantId ?? ""]);
    const before = await engine.read(shop.shopId, (tx) => referenceTypes.supplierVariant.find(tx, shop.shopId, keys));
    for (const [index, row] of rows.entries()) {
      const [supplierId = "", variantId = ""] = keys[index] ?? [];
      if (suppliers[index]?.isNew === true)
        yield fileRecord(
          row,
          { type: "supplier", supplierId, name: row.value("supplier") },
          { supplierId: "supplier", name: "supplier" },
        );
      const kept = before.get(recordIdOf([supplierId, variantId]));
      const record = { ...kept, type: "supplierVariant", supplierId, variantId, ...present(row, priceMembers) };
      yield fileRecord(row, record, {
        ...columnsOf(priceMembers),
        supplierId: row.value("supplierId") === null ? "supplier" : "supplierId",
        variantId: variants[index]?.key ?? "handle",
      });
    }
  }
}

// Sales.

const saleColumns = {
  ...variantColumns,
  ...locationColumns,
  date: { headers: ["Date", "Day"], needed: true },
  quantity: { headers: ["Quantity", "Quantity sold", "Net quantity"], needed: true },
} as const satisfies Record<string, ColumnWanted>;

async function* saleRecords(target: Target, body: AsyncIterable<Uint8Array>): AsyncGenerator<FileRecord> {
  const names = await locationNames(target);
  for await (const rows of csvRows(body, saleColumns)) {
    const variants = await variantsOf(target, rows);
    for (const [index, row] of rows.entries()) {
      const place = locationOf(row, names);
      if (place !== null) yield* place.made;
      const variant = variants[index];
      needed(row, "quantity");
      const record = {
        type: "sale",
        variantId: variant?.variantId,
        locationId: place?.locationId ?? null,
        date: needed(row, "date"),
        quantity: numberOf(row, "quantity"),
      };
      yield fileRecord(row, record, {
        variantId: variant?.key ?? "handle",
        locationId: row.value("locationId") === null ? "location" : "locationId",
        date: "date",
        quantity: "quantity",
      });
    }
  }
}

const readers = {
  "shopify-products": productRecords,
  "shopify-inventory": inventoryRecords,
  "supplier-prices": priceRecords,
  sales: saleRecords,
} as const satisfies Record<(typeof csvFormatNames)[number], unknown>;

/** The file format of this name. A CSV format reads the shop to find variants, locations and suppliers. */
export function fileFormat(name: FileFormatName, target: Target): FileFormat {
  if (name === "ndjson") return ndjson;
  return { refusesRepeats: true, records: (body) => readers[name](target, body) };
}
