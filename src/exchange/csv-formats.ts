/**
 * Merchants' CSV files as records of contract §8: Shopify's product and inventory files, and plain CSV for suppliers,
 * their prices and sales.
 *
 * Owns: the meaning of columns, and which location and supplier a row is about. Does not own: reading CSV (csv.ts),
 * values (csv-values.ts), which variant a row is about (csv-variants.ts), checking and importing records (import.ts).
 *
 * Invariants:
 * - T1. A variant is identified by its id, or by its product's handle and its options. Else it is identified by a code
 *       that exactly one variant has (csv-variants.ts). Without an id, the id is made from handle and options, the same
 *       in every file.
 * - T2. A column that the file lacks leaves the stored value unchanged. An empty value clears it.
 * - T3. A number is taken exactly as it is written (C14), or refused. A code that a spreadsheet has shortened is
 *   refused, not guessed (csv-values.ts).
 * - T4. A row is a record, or is reported as a fault, or is skipped by a rule that stands here. A file of which nothing
 *   is imported says so.
 */
import { foldCase } from "../base/text/fold.ts";
import type { Shop } from "../shop/access/accounts.ts";
import {
  type Location,
  type Supplier,
  locationTable,
  supplierRecordFields,
  supplierTable,
} from "../shop/catalogue/catalogue.ts";
import { loadMerges } from "../shop/catalogue/supplier-merges.ts";
import { pageOf } from "../shop/record-table.ts";
import type { Engine } from "../store/store.ts";
import { type ColumnWanted, type CsvRow, csvRows } from "./csv.ts";
import {
  codeOf,
  columnsOf,
  columnsOfFields,
  type Members,
  needed,
  numberOf,
  present,
  refused,
  textOf,
} from "./csv-values.ts";
import { hasOptions, optionsOf, variantColumns, variantIdOf, variantsOf } from "./csv-variants.ts";
import { type FileFaults, type FileFormat, type FileRecord, lineFault, shown } from "./file-format.ts";
import { ndjson } from "./ndjson.ts";
import { recordIdOf } from "./record-type.ts";
import { referenceTypes } from "./record-types.ts";

const csvFormatNames = ["shopify-products", "shopify-inventory", "supplier-prices", "suppliers", "sales"] as const;

export const fileFormatNames = ["ndjson", ...csvFormatNames] as const;

export type FileFormatName = (typeof fileFormatNames)[number];

/** Target of a file's rows. */
interface Target {
  readonly engine: Engine;
  readonly shop: Shop;
  /** The supplier of a price list that has no supplier column; null when it has one. */
  readonly supplierId: string | null;
}

/** Names of a shop's locations or suppliers that are held in memory while a file is read. */
export const namesMax = 20_000;

/** The record, with the column of each of its members. @param set  what the file has of it, where it may lack some. */
const fileRecord = <Key extends string>(
  row: CsvRow<Key>,
  value: object,
  fields: Readonly<Record<string, Key>>,
  set?: object,
): FileRecord => ({
  ...(set === undefined ? {} : { sets: Object.keys(set) }),
  lineNumber: row.lineNumber,
  bytes: row.bytes,
  value: () => value,
  columns: Object.fromEntries(Object.entries(fields).map(([field, key]) => [`/${field}`, row.header(key)])),
});

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
  readonly #merges: ReadonlyMap<string, string>;

  /** @param merges suppliers that were merged, each with the one that it was merged into. */
  constructor(known: readonly Named[], merges: ReadonlyMap<string, string> = new Map()) {
    this.#merges = merges;
    for (const { id, name } of known) {
      if (this.#ids.has(foldCase(name))) this.#shared.add(foldCase(name));
      this.#ids.set(foldCase(name), id);
      this.#taken.add(id);
    }
  }

  /** The id that this one leads to. */
  presentId(id: string): string {
    return this.#merges.get(id) ?? id;
  }

  /** The id for this name. `isNew` when nothing had this name yet: the id is then made from the name. */
  idOf<Key extends string>(row: CsvRow<Key>, key: Key, name: string): { readonly id: string; readonly isNew: boolean } {
    if (this.#shared.has(foldCase(name))) throw refused(row, key, `${shown(name)} is the name of several; use the id`);
    const known = this.#ids.get(foldCase(name));
    if (known !== undefined) return { id: known, isNew: false };
    const id = encodeURIComponent(name);
    const present = this.presentId(id);
    if (present !== id) return { id: present, isNew: false };
    if (this.#taken.has(id)) throw refused(row, key, `${shown(name)} is the id of another; use the id`);
    if (this.#ids.size >= namesMax)
      throw refused(row, key, `is name number ${namesMax + 1}; the most there may be is ${namesMax}`);
    this.#ids.set(foldCase(name), id);
    return { id, isNew: true };
  }
}

const locationNames = async ({ engine, shop }: Target): Promise<Names> =>
  new Names(
    (await engine.read(shop.shopId, (tx) => pageOf(tx, locationTable, shop.shopId, null, namesMax))).map(
      ({ locationId, name }: Location) => ({ id: locationId, name }),
    ),
  );

const supplierNames = ({ engine, shop: { shopId } }: Target): Promise<Names> =>
  engine.read(shopId, async (tx) => {
    const suppliers = await pageOf(tx, supplierTable, shopId, null, namesMax);
    const named = suppliers.map(({ supplierId, name }: Supplier) => ({ id: supplierId, name }));
    return new Names(named, await loadMerges(tx, shopId));
  });

const locationColumns = {
  locationId: { headers: ["Location ID"] },
  location: { headers: ["Location"] },
} as const satisfies Record<string, ColumnWanted>;

/** The location of a row, with a record for it when it is new; null when the row names none. */
function locationOf(row: CsvRow<keyof typeof locationColumns>, names: Names) {
  const locationId = codeOf(row, "locationId");
  if (locationId !== null) return { locationId, made: [] };
  const name = textOf(row, "location");
  if (name === null) return null;
  const { id, isNew } = names.idOf(row, "location", name);
  const record = { type: "location", locationId: id, name };
  const columns = { locationId: "location", name: "location" } as const;
  return { locationId: id, made: isNew ? [fileRecord(row, record, columns, { name })] : [] };
}

// Products.

const productColumns = {
  ...variantColumns,
  handle: { headers: ["Handle", "URL handle"], needed: true },
  productId: { headers: ["Product ID"] },
  title: { headers: ["Title"], needed: true },
  tracker: { headers: ["Variant Inventory Tracker", "Inventory tracker"] },
  price: { headers: ["Variant Price", "Price"] },
  cost: { headers: ["Cost per item"] },
  status: { headers: ["Status"] },
} as const satisfies Record<string, ColumnWanted>;

const productMembers = {
  sku: ["sku", codeOf],
  barcode: ["barcode", codeOf],
  price: ["price", numberOf],
  unitCost: ["cost", numberOf],
} as const satisfies Members<keyof typeof productColumns>;

type ProductRow = CsvRow<keyof typeof productColumns>;

/** Shopify's statuses. What is unlisted is sold, to those who have its address. */
const productStatuses: Readonly<Record<string, string>> = {
  active: "active",
  unlisted: "active",
  draft: "inactive",
  archived: "inactive",
};

/** A product of the file, which the rows of one handle share. A row with a title describes it anew. */
interface Product {
  readonly handle: string;
  readonly productId: string;
  /** Null: its first row lacks it, which was told. */
  readonly title: string | null;
  /** Null when the file has no status column. */
  readonly status: string | null;
}

function productOf(row: ProductRow, before: Product | null, faults: FileFaults): Product {
  const handle = needed(row, "handle");
  const title = textOf(row, "title");
  if (before !== null && before.handle === handle && title === null) return before;
  if (title === null) faults.add(refused(row, "title", `is needed on the first row of ${handle}`));
  // An unknown status is told with the variant of this row.
  const status = row.has("status") ? (productStatuses[row.value("status")?.toLowerCase() ?? ""] ?? "active") : null;
  return { handle, productId: codeOf(row, "productId") ?? handle, title, status };
}

function ownStatus(row: ProductRow): string | null {
  const stated = row.value("status");
  if (stated === null) return null;
  const status = productStatuses[stated.toLowerCase()];
  if (status === undefined)
    throw refused(row, "status", `must be active, draft, archived or unlisted, not ${shown(stated)}`);
  return status;
}

/** A row below the first of its handle that has only another picture. */
const isPicture = (row: ProductRow): boolean =>
  row.value("title") === null &&
  (["variantId", "option1", "sku", "price"] as const).every((key) => row.value(key) === null);

/**
 * The variant's status: its row's, else its product's; null when the file has none. An untracked variant has no stock
 * to push (C44).
 */
function statusOf(row: ProductRow, product: Product): string | null {
  if (row.has("tracker") && row.value("tracker") === null) return "unsyncable";
  return ownStatus(row) ?? product.status;
}

interface ProductVariant {
  readonly row: ProductRow;
  readonly record: { readonly variantId: string } & Readonly<Record<string, unknown>>;
}

/** The variant of a row; null when it has none. @throws Fault INVALID_INPUT naming line and column. */
function variantOf(row: ProductRow, product: Product): ProductVariant | null {
  if (product.title === null || isPicture(row)) return null;
  const options = optionsOf(row);
  const status = statusOf(row, product);
  return {
    row,
    record: {
      type: "variant",
      variantId: codeOf(row, "variantId") ?? variantIdOf(product.handle, options),
      productId: product.productId,
      productName: product.title,
      ...(hasOptions(row) ? { variantName: options.length === 0 ? null : options.join(" / ") } : {}),
      ...present(row, productMembers),
      ...(status === null ? {} : { status }),
    },
  };
}

async function* productRecords(
  target: Target,
  body: AsyncIterable<Uint8Array>,
  faults: FileFaults,
): AsyncGenerator<FileRecord> {
  const { engine, shop } = target;
  let product: Product | null = null;
  for await (const rows of csvRows(body, productColumns, faults)) {
    const variants: ProductVariant[] = [];
    for (const row of rows) {
      const before: Product | null = product;
      product = faults.tried(() => productOf(row, before, faults));
      const found = product;
      const variant = found === null ? null : faults.tried(() => variantOf(row, found));
      if (variant !== null) variants.push(variant);
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
        record,
      );
  }
}

// Stock.

const inventoryColumns = {
  ...variantColumns,
  ...locationColumns,
  onHandNew: { headers: ["On hand (new)"] },
  onHand: { headers: ["On hand"], needed: { unless: "onHandNew" } },
} as const satisfies Record<string, ColumnWanted>;

type InventoryRow = CsvRow<keyof typeof inventoryColumns>;

/** Shopify's value for a variant that is not stocked at a location. */
const notStocked = "not stocked";

/** A new figure beside the current one replaces it. */
const figureOf = (row: InventoryRow): "onHand" | "onHandNew" =>
  row.value("onHandNew") === null ? "onHand" : "onHandNew";

async function* inventoryRecords(
  target: Target,
  body: AsyncIterable<Uint8Array>,
  faults: FileFaults,
): AsyncGenerator<FileRecord> {
  const names = await locationNames(target);
  for await (const rows of csvRows(body, inventoryColumns, faults)) {
    const stocked = rows.filter((row) => row.value(figureOf(row))?.toLowerCase() !== notStocked);
    const variants = await variantsOf(target, ofNobody(stocked), faults);
    for (const [index, row] of stocked.entries()) {
      const variant = variants[index] ?? null;
      const key = figureOf(row);
      const found = faults.tried(() => {
        needed(row, key);
        const place = locationOf(row, names);
        if (place === null) throw refused(row, "location", "is needed");
        return { place, onHand: numberOf(row, key) };
      });
      if (variant === null || found === null) continue;
      const { place, onHand } = found;
      yield* place.made;
      yield fileRecord(
        row,
        { type: "inventoryLevel", variantId: variant.variantId, locationId: place.locationId, onHand },
        { variantId: variant.key, locationId: "locationId", onHand: key },
      );
    }
  }
}

/** Rows that have no supplier. */
const ofNobody = <Row>(rows: readonly Row[]) => rows.map((row) => ({ row, supplierId: null }));

// Suppliers' prices.

const priceColumns = {
  ...variantColumns,
  supplierId: { headers: ["Supplier ID"] },
  supplier: { headers: ["Supplier", "Vendor"] },
  unitCost: { headers: ["Unit cost", "Cost", "Price"], needed: true },
  currency: { headers: ["Currency", "Unit cost currency code"] },
  supplierProductName: { headers: ["Supplier product name"] },
  supplierProductUrl: { headers: ["Supplier product URL"] },
  moq: { headers: ["MOQ", "Minimum order quantity"] },
  packSize: { headers: ["Pack size"] },
  leadTimeDays: { headers: ["Lead time days", "Lead time"] },
} as const satisfies Record<string, ColumnWanted>;

const priceMembers = {
  unitCost: ["unitCost", numberOf],
  unitCostCurrencyCode: ["currency", textOf],
  supplierSku: ["supplierSku", codeOf],
  supplierBarcode: ["supplierBarcode", codeOf],
  supplierProductName: ["supplierProductName", textOf],
  supplierProductUrl: ["supplierProductUrl", textOf],
  moq: ["moq", numberOf],
  packSize: ["packSize", numberOf],
  leadTimeDays: ["leadTimeDays", numberOf],
} as const satisfies Members<keyof typeof priceColumns>;

type PriceRow = CsvRow<keyof typeof priceColumns>;

/** The supplier of a row. @throws Fault INVALID_INPUT when it names none. */
function supplierOf(row: PriceRow, names: Names, { supplierId: given }: Target) {
  const supplierId = codeOf(row, "supplierId");
  if (supplierId !== null) return { id: names.presentId(supplierId), isNew: false };
  const name = textOf(row, "supplier");
  if (name !== null) return names.idOf(row, "supplier", name);
  if (given !== null) return { id: names.presentId(given), isNew: false };
  const message = "must name its supplier by Supplier ID or Supplier, or one supplier be given for the whole file";
  throw lineFault(row.lineNumber, [{ path: "", message }]);
}

async function* priceRecords(
  target: Target,
  body: AsyncIterable<Uint8Array>,
  faults: FileFaults,
): AsyncGenerator<FileRecord> {
  const { engine, shop } = target;
  const names = await supplierNames(target);
  for await (const rows of csvRows(body, priceColumns, faults)) {
    const supplied = rows.flatMap((row) => {
      const supplier = faults.tried(() => supplierOf(row, names, target));
      return supplier === null ? [] : { row, supplier, supplierId: supplier.id };
    });
    const variants = await variantsOf(target, supplied, faults);
    const prices = supplied.flatMap(({ row, supplier, supplierId }, index) => {
      const variant = variants[index] ?? null;
      const members = faults.tried(() => present(row, priceMembers));
      return variant === null || members === null ? [] : { row, supplier, supplierId, variant, members };
    });
    const keys = prices.map(({ supplierId, variant }) => [supplierId, variant.variantId]);
    const before = await engine.read(shop.shopId, (tx) => referenceTypes.supplierVariant.find(tx, shop.shopId, keys));
    for (const { row, supplier, supplierId, variant, members } of prices) {
      const { variantId } = variant;
      if (supplier.isNew)
        yield fileRecord(
          row,
          { type: "supplier", supplierId, name: textOf(row, "supplier") },
          { supplierId: "supplier", name: "supplier" },
          { name: true },
        );
      const kept = before.get(recordIdOf([supplierId, variantId]));
      yield fileRecord(
        row,
        { ...kept, type: "supplierVariant", supplierId, variantId, ...members },
        {
          ...columnsOf(priceMembers),
          supplierId: row.value("supplierId") === null ? "supplier" : "supplierId",
          variantId: variant.key,
        },
        members,
      );
    }
  }
}

// Suppliers.

const { supplierId: _id, name: _name, status: _status, ...ownFields } = supplierRecordFields;

const ofSuppliers = columnsOfFields(ownFields, {
  email: ["Email", "E-mail"],
  contactName: ["Contact"],
  currencyCode: ["Currency"],
  leadTimeDays: ["Lead time days", "Lead time"],
});

const supplierColumns: Readonly<Record<string, ColumnWanted>> = {
  supplierId: { headers: ["Supplier ID"] },
  name: { headers: ["Supplier", "Name", "Vendor"], needed: true },
  ...ofSuppliers.columns,
  status: { headers: ["Status"] },
  address1: { headers: ["Address", "Address 1"] },
  address2: { headers: ["Address 2"] },
  city: { headers: ["City"] },
  province: { headers: ["Province", "State"] },
  zip: { headers: ["ZIP", "Postcode", "Postal code"] },
  country: { headers: ["Country"] },
  countryCode: { headers: ["Country code"] },
};

const addressMembers = {
  address1: ["address1", textOf],
  address2: ["address2", textOf],
  city: ["city", textOf],
  province: ["province", textOf],
  zip: ["zip", textOf],
  country: ["country", textOf],
  countryCode: ["countryCode", textOf],
} as const satisfies Members<string>;

/** Parts of an address by their paths in the record. */
const addressPaths = <Value>(parts: Readonly<Record<string, Value>>): Readonly<Record<string, Value>> =>
  Object.fromEntries(Object.entries(parts).map(([part, value]) => [`address/${part}`, value]));

/** The address with the parts that the file has; null when nothing is left of it. */
function addressWith(before: unknown, parts: Readonly<Record<string, unknown>>): object | null {
  const address = { ...(typeof before === "object" ? before : null), ...parts };
  return Object.values(address).some((part) => part !== null) ? address : null;
}

async function* supplierRecords(
  target: Target,
  body: AsyncIterable<Uint8Array>,
  faults: FileFaults,
): AsyncGenerator<FileRecord> {
  const { engine, shop } = target;
  const names = await supplierNames(target);
  for await (const rows of csvRows(body, supplierColumns, faults)) {
    const found = rows.flatMap((row) => {
      const named = faults.tried(() => {
        const name = needed(row, "name");
        const status = textOf(row, "status");
        const supplierId = codeOf(row, "supplierId");
        const presentId = supplierId === null ? null : names.presentId(supplierId);
        if (presentId !== supplierId) throw refused(row, "supplierId", `was merged into ${shown(presentId ?? "")}`);
        return {
          supplierId: supplierId ?? names.idOf(row, "name", name).id,
          name,
          members: {
            ...present(row, ofSuppliers.members),
            ...(status === null ? {} : { status: status.toLowerCase() }),
          },
          parts: present(row, addressMembers),
        };
      });
      return named === null ? [] : { row, ...named };
    });
    const keys = found.map(({ supplierId }) => [supplierId]);
    const stored = await engine.read(shop.shopId, (tx) => referenceTypes.supplier.find(tx, shop.shopId, keys));
    for (const { row, supplierId, name, members, parts } of found) {
      const before: Readonly<Record<string, unknown>> = { ...stored.get(supplierId) };
      const address = Object.keys(parts).length === 0 ? {} : { address: addressWith(before["address"], parts) };
      yield fileRecord(
        row,
        { ...before, type: "supplier", supplierId, name, ...members, ...address },
        {
          ...columnsOf(ofSuppliers.members),
          ...addressPaths(columnsOf(addressMembers)),
          supplierId: row.value("supplierId") === null ? "name" : "supplierId",
          name: "name",
          status: "status",
        },
        { name, ...members, ...addressPaths(parts) },
      );
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

async function* saleRecords(
  target: Target,
  body: AsyncIterable<Uint8Array>,
  faults: FileFaults,
): AsyncGenerator<FileRecord> {
  const names = await locationNames(target);
  for await (const rows of csvRows(body, saleColumns, faults)) {
    const variants = await variantsOf(target, ofNobody(rows), faults);
    for (const [index, row] of rows.entries()) {
      const variant = variants[index] ?? null;
      const found = faults.tried(() => {
        needed(row, "quantity");
        return { place: locationOf(row, names), date: needed(row, "date"), quantity: numberOf(row, "quantity") };
      });
      if (variant === null || found === null) continue;
      const { place, date, quantity } = found;
      if (place !== null) yield* place.made;
      const locationId = place?.locationId ?? null;
      yield fileRecord(
        row,
        { type: "sale", variantId: variant.variantId, locationId, date, quantity },
        {
          variantId: variant.key,
          locationId: row.value("locationId") === null ? "location" : "locationId",
          date: "date",
          quantity: "quantity",
        },
      );
    }
  }
}

const readers = {
  "shopify-products": productRecords,
  "shopify-inventory": inventoryRecords,
  "supplier-prices": priceRecords,
  suppliers: supplierRecords,
  sales: saleRecords,
} as const satisfies Record<(typeof csvFormatNames)[number], unknown>;

/** The file format of this name. A CSV format reads the shop to find variants, locations and suppliers. */
export function fileFormat(name: FileFormatName, target: Target): FileFormat {
  if (name === "ndjson") return ndjson;
  return { refusesRepeats: true, records: (body, faults) => readers[name](target, body, faults) };
}
