/** What a merchant's file has no column for stays as it is, whatever columns it has (T2). */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { isJsonObject, type Json, type JsonObject } from "../../src/base/json.ts";
import { type FileFormatName, fileFormat } from "../../src/exchange/csv-formats.ts";
import { importRecords } from "../../src/exchange/import.ts";
import { supplierRecordFields } from "../../src/shop/catalogue/catalogue.ts";
import { piecesOf, type TestShop, withShops } from "../support/admin.ts";

const address = {
  companyName: "Mill Ltd",
  contactName: "Bea",
  address1: "Quay 1",
  address2: "Hall 2",
  city: "Rotterdam",
  province: "South Holland",
  provinceCode: "ZH",
  country: "Netherlands",
  countryCode: "NL",
  zip: "3011",
  phone: "+31 10 1",
  email: "hall@mill.example",
};

const rule = { minimum: 4, maximum: 40, coverDays: 9, leadTimeDays: 5, safetyDays: 2, isExcluded: false };

const supplier = {
  type: "supplier",
  supplierId: "mill",
  name: "Mill",
  email: "a@mill.example",
  phone: "+31 10 2",
  contactName: "Ada",
  currencyCode: "EUR",
  leadTimeDays: 14,
  paymentTerms: "Net 30",
  incoterm: "DAP",
  address,
  note: "Closed in August.",
  language: "de",
  status: "active",
};

const variant = {
  type: "variant",
  variantId: "red",
  productId: "p1",
  productName: "Mug",
  variantName: "Red",
  sku: "M-1",
  barcode: "4006381333931",
  unitCost: 4.25,
  price: 9.5,
  status: "inactive",
  isArchived: true,
  imageUrl: "https://pictures.example/mug.png",
  reorder: { ...rule, locations: [{ locationId: "l", ...rule }] },
};

const price = {
  type: "supplierVariant",
  supplierId: "mill",
  variantId: "red",
  unitCost: 3.9,
  unitCostCurrencyCode: "USD",
  supplierSku: "S-1",
  supplierBarcode: "8719001002013",
  supplierProductName: "Becher",
  supplierProductUrl: "https://mill.example/becher",
  moq: 12,
  packSize: 6,
  leadTimeDays: 7,
  isPreferred: true,
};

const base: readonly object[] = [
  { type: "location", locationId: "l", name: "Hall", address },
  supplier,
  variant,
  price,
];

/** A column that a file may lack, with the field that it is about, its cell, and the field's value then. */
type Column = readonly [header: string, field: string, cell: string, value: Json];

interface Format {
  readonly name: FileFormatName;
  readonly type: string;
  /** Columns that every file has. */
  readonly needed: readonly Column[];
  readonly others: readonly Column[];
}

const text = (header: string, field: string, value = `new ${header}`): Column => [header, field, value, value];

const figure = (header: string, field: string, value: number): Column => [header, field, String(value), value];

/** Columns of suppliers that are not named below: those of new fields, by their names. */
const newColumns = (listed: readonly Column[]): readonly Column[] =>
  Object.entries(supplierRecordFields).flatMap(([name, { kind }]): readonly Column[] => {
    const isListed = [...listed.map(([, field]) => field), "supplierId", "name", "address"].includes(name);
    if (isListed) return [];
    return [kind === "text" ? text(name, name) : figure(name, name, 3)];
  });

const supplierColumns: readonly Column[] = [
  text("E-mail", "email", "b@mill.example"),
  text("Phone", "phone"),
  ["Contact", "contactName", "", null],
  text("Currency", "currencyCode", "USD"),
  figure("Lead time days", "leadTimeDays", 3),
  text("Payment terms", "paymentTerms"),
  text("Incoterm", "incoterm"),
  text("Note", "note"),
  text("Language", "language", "fr"),
  text("Status", "status", "archived"),
  text("Address", "address/address1"),
  ["Address 2", "address/address2", "", null],
  text("City", "address/city"),
  text("Province", "address/province"),
  text("ZIP", "address/zip"),
  text("Country", "address/country"),
  text("Country code", "address/countryCode", "BE"),
];

const formats: readonly Format[] = [
  {
    name: "suppliers",
    type: "supplier",
    needed: [text("Supplier ID", "supplierId", "mill"), text("Name", "name")],
    others: [...supplierColumns, ...newColumns(supplierColumns)],
  },
  {
    name: "shopify-products",
    type: "variant",
    needed: [text("Variant ID", "variantId", "red"), text("Handle", "productId", "mug"), text("Title", "productName")],
    others: [
      text("Product ID", "productId"),
      text("Option1 Value", "variantName", "Blue"),
      text("Variant SKU", "sku"),
      ["Variant Barcode", "barcode", "", null],
      figure("Variant Price", "price", 10.25),
      figure("Cost per item", "unitCost", 5.125),
      text("Status", "status", "active"),
    ],
  },
  {
    name: "supplier-prices",
    type: "supplierVariant",
    needed: [
      text("Supplier ID", "supplierId", "mill"),
      text("Variant ID", "variantId", "red"),
      figure("Unit cost", "unitCost", 2.5),
    ],
    others: [
      text("Currency", "unitCostCurrencyCode", "GBP"),
      text("Supplier SKU", "supplierSku"),
      ["Supplier barcode", "supplierBarcode", "", null],
      text("Supplier product name", "supplierProductName"),
      text("Supplier product URL", "supplierProductUrl"),
      figure("MOQ", "moq", 24),
      figure("Pack size", "packSize", 4),
      figure("Lead time days", "leadTimeDays", 1),
    ],
  },
];

const bring = (shop: TestShop, name: FileFormatName, lines: readonly string[]) =>
  importRecords(
    shop,
    shop.shop,
    piecesOf(Buffer.from(lines.join("\n")), 65_536),
    "req_test",
    fileFormat(name, { engine: shop.engine, shop: shop.shop, supplierId: null }),
  );

/** The record with the value of the column in its place. */
function withColumn(record: JsonObject, [, field, , value]: Column): JsonObject {
  const [outer = "", inner] = field.split("/");
  if (inner === undefined) return { ...record, [outer]: value };
  const object = record[outer] ?? null;
  return { ...record, [outer]: { ...(isJsonObject(object) ? object : {}), [inner]: value } };
}

test("a file changes the fields that it has columns for, parts of an address too, and nothing else", async () => {
  await withShops(async (open) => {
    const shop = await open("a");
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          ...formats.map((format) =>
            fc.subarray([...format.others]).map((some) => ({ format, columns: [...format.needed, ...some] })),
          ),
        ),
        async ({ format: { name, type }, columns }) => {
          await shop.bring(base);
          const before = await shop.records();
          await bring(shop, name, [
            columns.map(([header]) => header).join(","),
            columns.map(([, , cell]) => cell).join(","),
          ]);
          assert.deepEqual(
            await shop.records(),
            before.map((record) => (record["type"] === type ? columns.reduce(withColumn, record) : record)),
          );
        },
      ),
      { numRuns: 60 },
    );
  });
});
