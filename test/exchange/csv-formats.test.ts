/**
 * Conversion of merchants' CSV files to records of a shop (T1–T3).
 *
 * Only on sqlite: its subject is how a file is read; exchange/import.test.ts imports on both engines.
 */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { Fault } from "../../src/base/fault.ts";
import { supplierFields, valuesFrom } from "../../src/core/order/purchase-order-fields.ts";
import { type FileFormatName, fileFormat } from "../../src/exchange/csv-formats.ts";
import { rowBytesMax } from "../../src/exchange/csv-split.ts";
import { variantIdOf } from "../../src/exchange/csv-variants.ts";
import { importRecords } from "../../src/exchange/import.ts";
import { piecesOf, type TestShop, withShops } from "../support/admin.ts";

/** Imports the file; lines are joined. */
const bring = (
  shop: TestShop,
  name: FileFormatName,
  file: readonly string[] | Uint8Array,
  supplierId: string | null = null,
) =>
  importRecords(
    shop,
    shop.shop,
    piecesOf(file instanceof Uint8Array ? file : Buffer.from(file.join("\n")), 65_536),
    "req_test",
    fileFormat(name, { engine: shop.engine, shop: shop.shop, supplierId }),
  );

const recordsOf = async (shop: TestShop, type: string) =>
  (await shop.records()).filter((record) => record["type"] === type).map(({ type: _type, ...record }) => record);

const refuses = (importing: Promise<unknown>, message: RegExp) =>
  assert.rejects(importing, (error: Error) => message.test(error.message) || assert.fail(error.message));

const productHeader =
  "Handle,Title,Body (HTML),Option1 Name,Option1 Value,Option2 Name,Option2 Value,Variant SKU,Variant Inventory Tracker,Variant Price,Variant Barcode,Cost per item,Status";

const products = [
  productHeader,
  'mug,Mug,"<p>Two',
  'lines</p>",Color,Red,Size,"Big, really",M-1,shopify,12.50,,.2000,active',
  "mug,,,,Red,,Small,,shopify,0,400,1.0000,",
  "mug,,,,Blue,,Small,M-1,,99999.9999,,,",
  "mug,,,,,,,,,,,,",
  "kettle,Kettle,,Title,Default Title,,,K,shopify,20,,,draft",
];

test("products: the first row of a handle has the product's values, a variant needs no SKU, money is exact", async () => {
  await withShops(async (open) => {
    const shop = await open("a");
    assert.deepEqual(await bring(shop, "shopify-products", products), { variant: 4 });
    const mug = {
      productId: "mug",
      productName: "Mug",
      barcode: null,
      isArchived: false,
      imageUrl: null,
      reorder: null,
    };
    assert.deepEqual(await recordsOf(shop, "variant"), [
      {
        variantId: "kettle",
        productId: "kettle",
        productName: "Kettle",
        variantName: null,
        sku: "K",
        barcode: null,
        unitCost: null,
        price: 20,
        status: "inactive",
        isArchived: false,
        imageUrl: null,
        reorder: null,
      },
      {
        ...mug,
        variantId: "mug:Blue:Small",
        variantName: "Blue / Small",
        sku: "M-1",
        unitCost: null,
        price: 99999.9999,
        status: "unsyncable",
      },
      {
        ...mug,
        variantId: "mug:Red:Big%2C%20really",
        variantName: "Red / Big, really",
        sku: "M-1",
        unitCost: 0.2,
        price: 12.5,
        status: "active",
      },
      {
        ...mug,
        variantId: "mug:Red:Small",
        variantName: "Red / Small",
        sku: null,
        barcode: "400",
        unitCost: 1,
        price: 0,
        status: "active",
      },
    ]);
    const before = await shop.records();
    await bring(shop, "shopify-products", products);
    assert.deepEqual(await shop.records(), before, "again is the same");
  });
});

test("products: a missing column keeps the stored value; an empty value clears it", async () => {
  await withShops(async (open) => {
    const shop = await open("a");
    const variant = { type: "variant", variantId: "mug", productId: "p9", productName: "Old", unitCost: 3, price: 9 };
    await shop.bring([{ ...variant, sku: "S", barcode: "B", status: "inactive" }]);
    await bring(shop, "shopify-products", ["Handle,Title,Variant SKU,Cost per item", "mug,New,,4"]);
    assert.deepEqual(await recordsOf(shop, "variant"), [
      {
        variantId: "mug",
        productId: "mug",
        productName: "New",
        variantName: null,
        sku: null,
        barcode: "B",
        unitCost: 4,
        price: 9,
        status: "inactive",
        isArchived: false,
        imageUrl: null,
        reorder: null,
      },
    ]);
  });
});

test("products: ids in the file are used, and newer headers are recognized", async () => {
  await withShops(async (open) => {
    const shop = await open("a");
    const file = [
      "Title,URL handle,Product ID,Variant ID,Option1 value,SKU,Price,Status",
      "Mug,mug,77,88,Red,S,5,Active",
    ];
    await bring(shop, "shopify-products", file);
    const [variant] = await recordsOf(shop, "variant");
    assert.equal(variant?.["variantId"], "88");
    assert.equal(variant["productId"], "77");
    assert.equal(variant["sku"], "S");
    // The catalogue has the variant under another id, so it can be named by that id only.
    const stock = "Variant ID,Handle,Location,On hand";
    assert.deepEqual(await bring(shop, "shopify-inventory", [stock, "88,mug,Main,2"]), {
      location: 1,
      inventoryLevel: 1,
    });
  });
});

test("stock: the new quantity wins over the current one, locations are found by name, unstocked rows are skipped", async () => {
  await withShops(async (open) => {
    const shop = await open("a");
    await shop.bring([{ type: "location", locationId: "loc_1", name: "Main" }]);
    await bring(shop, "shopify-products", products);
    const header =
      "Handle,Option1 Value,Option2 Value,Option3 Value,SKU,Location,Incoming (not editable),On hand (current),On hand (new)";
    const counts = await bring(shop, "shopify-inventory", [
      header,
      "kettle,Default Title,,,,MAIN,9,3,",
      "kettle,,,,,Back Room,9,3,-1.5",
      "mug,Red,Small,,,Main,0,not stocked,",
      "mug,Red,Small,,,Back Room,0,0,",
    ]);
    assert.deepEqual(counts, { location: 1, inventoryLevel: 3 });
    assert.deepEqual(await recordsOf(shop, "inventoryLevel"), [
      { variantId: "kettle", locationId: "Back%20Room", onHand: -1.5 },
      { variantId: "kettle", locationId: "loc_1", onHand: 3 },
      { variantId: "mug:Red:Small", locationId: "Back%20Room", onHand: 0 },
    ]);
  });
});

test("prices: for one supplier or several, by id or name; columns that are missing keep their values", async () => {
  await withShops(async (open) => {
    const shop = await open("a");
    await bring(shop, "shopify-products", products);
    const details = { colour: ["red"] };
    await shop.bring([
      { type: "supplier", supplierId: "s1", name: "Acme" },
      {
        type: "supplierVariant",
        supplierId: "s1",
        variantId: "kettle",
        unitCost: 1,
        supplierSku: "OLD",
        moq: 6,
        supplierVariantDetails: details,
      },
    ]);
    const counts = await bring(shop, "supplier-prices", [
      "Supplier;Handle;Option1 Value;Option2 Value;Unit cost;Currency;Pack size;Lead time",
      "acme;kettle;;;2.3456;EUR;12;14",
      "Zeta & Co;mug;Red;Small;3;USD;;",
    ]);
    assert.deepEqual(counts, { supplier: 1, supplierVariant: 2 });
    const none = valuesFrom(supplierFields, {});
    assert.deepEqual(await recordsOf(shop, "supplierVariant"), [
      {
        supplierId: "Zeta%20%26%20Co",
        variantId: "mug:Red:Small",
        unitCost: 3,
        unitCostCurrencyCode: "USD",
        ...none,
        supplierSku: null,
        supplierVariantDetails: null,
        moq: null,
        packSize: null,
        leadTimeDays: null,
        isPreferred: false,
      },
      {
        supplierId: "s1",
        variantId: "kettle",
        unitCost: 2.3456,
        unitCostCurrencyCode: "EUR",
        ...none,
        supplierSku: "OLD",
        supplierVariantDetails: details,
        moq: 6,
        packSize: 12,
        leadTimeDays: 14,
        isPreferred: false,
      },
    ]);
    await bring(shop, "supplier-prices", ["variantId,unitCost", "kettle,7"], "s1");
    const entry = (await recordsOf(shop, "supplierVariant")).find((each) => each["supplierId"] === "s1");
    assert.equal(entry?.["unitCost"], 7);
    assert.equal(entry["unitCostCurrencyCode"], "EUR");
    await refuses(bring(shop, "supplier-prices", ["variantId,unitCost", "kettle,7"]), /line 2: must name its supplier/);
  });
});

test("suppliers: by id or by name; columns that are missing keep their values, empty ones clear, every fault is named", async () => {
  await withShops(async (open) => {
    const shop = await open("a");
    await shop.bring([
      {
        type: "supplier",
        supplierId: "s1",
        name: "Acme",
        email: "old@acme.example",
        phone: "1",
        note: "kept",
        address: { city: "Delft", zip: "2611" },
      },
    ]);
    const counts = await bring(shop, "suppliers", [
      "Supplier;E-mail;Phone;Currency;Lead time;City;Language;Status",
      "acme;new@acme.example;;EUR;14;Gouda;de;Archived",
      "Zeta & Co;;;;;;;",
    ]);
    assert.deepEqual(counts, { supplier: 2 });
    const [made, acme] = await recordsOf(shop, "supplier");
    assert.deepEqual([made?.["supplierId"], made?.["address"], made?.["status"]], ["Zeta%20%26%20Co", null, "active"]);
    const { email, phone, note, currencyCode, leadTimeDays, language, status, address } = acme ?? {};
    assert.deepEqual(
      { email, phone, note, currencyCode, leadTimeDays, language, status },
      {
        email: "new@acme.example",
        phone: null,
        note: "kept",
        currencyCode: "EUR",
        leadTimeDays: 14,
        language: "de",
        status: "archived",
      },
    );
    assert.deepEqual(Object.values(Object(address)).filter(Boolean).map(String).toSorted(), ["2611", "Gouda"]);
    const faulty = [
      "Supplier,Email,Country code,Lead time",
      "A,nobody,NL,1",
      ",x@y.example,NL,1",
      "B,,nl,1",
      "C,,,soon",
    ];
    await assert.rejects(bring(shop, "suppliers", faulty), (error) => {
      assert.ok(error instanceof Fault);
      const messages = JSON.stringify(error.details).replaceAll("\\", "");
      for (const [line, column] of [
        [2, "Email"],
        [3, "Supplier"],
        [4, "Country code"],
        [5, "Lead time"],
      ])
        assert.match(messages, new RegExp(`line ${line}, column "${column}"`));
      return true;
    });
    assert.equal((await recordsOf(shop, "supplier")).length, 2);
  });
});

test("sales: one row per variant, location and day", async () => {
  await withShops(async (open) => {
    const shop = await open("a");
    const file = [
      "Date,Variant ID,Location,Quantity",
      "2026-03-01,v,Main,2",
      "2026-03-02,v,main,0.5",
      "2026-03-02,v,,1",
    ];
    assert.deepEqual(await bring(shop, "sales", file), { location: 1, sale: 3 });
    assert.deepEqual(await recordsOf(shop, "sale"), [
      { variantId: "v", locationId: null, date: "2026-03-02", quantity: 1 },
      { variantId: "v", locationId: "Main", date: "2026-03-01", quantity: 2 },
      { variantId: "v", locationId: "Main", date: "2026-03-02", quantity: 0.5 },
    ]);
    await refuses(bring(shop, "sales", [...file, "2026-03-01,v,Main,9"]), /line 5: is about the same sale as line 2/);
  });
});

test("an invalid row is named by line and column, and nothing of the file is imported", async () => {
  await withShops(async (open) => {
    const shop = await open("a");
    await bring(shop, "shopify-products", products);
    await shop.bring([
      { type: "location", locationId: "l1", name: "Twin" },
      { type: "location", locationId: "l2", name: "twin" },
      { type: "location", locationId: "Attic", name: "Loft" },
    ]);
    const before = await shop.records();
    const row = (values: string): readonly string[] => [...products, values];
    const stock = "Handle,Option1 Value,Option2 Value,Location,On hand";
    const cases: readonly (readonly [FileFormatName, readonly string[], RegExp])[] = [
      ["shopify-products", row("pot,Pot,,,,,,,x,12,50,,,"), /^line 8: has more or fewer values than there are columns/],
      [
        "shopify-products",
        row('pot,Pot,,,,,,,x,"12,50",,,'),
        /^line 8, column "Variant Price": must be a number like 1234\.50, not "12,50"$/,
      ],
      ["shopify-products", row("pot,Pot,,,,,,,x,$5,,,"), /^line 8, column "Variant Price": must be a number/],
      [
        "shopify-products",
        row("pot,Pot,,,,,,,x,1.00001,,,"),
        /^line 8, column "Variant Price": must have at most 4 decimals$/,
      ],
      ["shopify-products", row("pot,Pot,,,,,,,x,-1,,,"), /^line 8, column "Variant Price": /],
      [
        "shopify-products",
        row("pot,Pot,,,,,,,x,1.00001000000000001,,,"),
        /^line 8, column "Variant Price": must have at most 4 decimals$/,
      ],
      [
        "shopify-products",
        row("pot,Pot,,,,,,,x,1234567890123456,,,"),
        /^line 8, column "Variant Price": has too many digits/,
      ],
      ["shopify-products", row("pot,,,,,,,,x,1,,,"), /^line 8, column "Title": is needed on the first row of pot$/],
      [
        "shopify-products",
        row("pot,Pot,,,,,,,x,1,,,sold"),
        /^line 8, column "Status": must be active, draft, archived or unlisted, not "sold"$/,
      ],
      ["shopify-products", row(",Pot,,,,,,,x,1,,,"), /^line 8, column "Handle": is needed$/],
      ["shopify-products", row(`${"p".repeat(201)},Pot,,,,,,,x,1,,,`), /^line 8, column "Handle": /],
      ["shopify-products", row("mug,Mug,,,Red,,Small,,x,1,,,"), /^line 8: is about the same variant as line 4$/],
      [
        "shopify-inventory",
        [stock, "kettle,,,Main,3", "mug,Green,,Main,1"],
        /^line 3, column "Handle": the catalogue has no mug \/ Green;/,
      ],
      ["shopify-inventory", [stock, "kettle,,,Main,"], /^line 2, column "On hand": is needed$/],
      ["shopify-inventory", [stock, "kettle,,,,1"], /^line 2, column "Location": is needed$/],
      ["shopify-inventory", [stock, "kettle,,,Twin,1"], /^line 2, column "Location": "Twin" is the name of several/],
      ["shopify-inventory", [stock, "kettle,,,Attic,1"], /^line 2, column "Location": "Attic" is the id of another/],
      [
        "shopify-inventory",
        [stock, "kettle,,,Main,1", "kettle,,,main,2"],
        /^line 3: is about the same inventoryLevel as line 2$/,
      ],
      ["shopify-inventory", ["Handle,Location", "kettle,Main"], /^line 1: there is no column "On hand"$/],
      [
        "shopify-inventory",
        ["SKU,Location,On hand", ",Main,1"],
        /^line 2: must name its variant by Variant ID, by Handle and option values, or by a SKU or barcode/,
      ],
      ["shopify-inventory", ["SKU,Location,On hand", "M-1,Main,1"], /^line 2, column "SKU": "M-1" is of 2 variants;/],
      ["shopify-inventory", ["SKU,Location,On hand", "M-9,Main,1"], /^line 2, column "SKU": no variant has "M-9";/],
      ["supplier-prices", ["Supplier,SKU", "Acme,K"], /^line 1: there is no column "Unit cost"$/],
      [
        "supplier-prices",
        ["Supplier,Handle,Unit cost,Currency", "Acme,kettle,1,euro"],
        /^line 2, column "Currency": must be a currency code/,
      ],
      ["supplier-prices", ["Supplier,Handle,Unit cost,Pack size", "Acme,kettle,1,0"], /^line 2, column "Pack size": /],
      ["sales", ["Date,Handle,Quantity", "1/2/2026,kettle,1"], /^line 2, column "Date": /],
      ["sales", ["Date,Handle,Quantity", "2026-02-01,kettle,-1"], /^line 2, column "Quantity": /],
      ["sales", ["Date,Handle,Quantity", "2026-02-01,kettle,"], /^line 2, column "Quantity": is needed$/],
    ];
    for (const [name, file, message] of cases) await refuses(bring(shop, name, file), message);
    assert.deepEqual(await shop.records(), before);
  });
});

test("different handles or options give different ids", () => {
  assert.equal(variantIdOf("mug", []), "mug");
  assert.notEqual(variantIdOf("mug", ["a:b"]), variantIdOf("mug", ["a", "b"]));
  assert.notEqual(variantIdOf("mug:a", []), variantIdOf("mug", ["a"]));
  assert.ok(!variantIdOf("mug", ["a,b"]).includes(","), "ids are listed with commas between them");
});

const data = path.join(import.meta.dirname, "../../../shared/data/shopify-format");
const isThere = existsSync(data);

test(
  "files with a whole catalogue and stock are imported completely",
  { skip: isThere ? false : "NOT RUN: ../shared/data/shopify-format is not there" },
  async () => {
    await withShops(async (open) => {
      const shop = await open("a", { currencyCode: "USD" });
      const fileOf = (name: string): Buffer => readFileSync(path.join(data, name));
      assert.deepEqual(await bring(shop, "shopify-products", fileOf("products.csv")), { variant: 504 });
      const stock = await bring(shop, "shopify-inventory", fileOf("inventory.csv"));
      assert.deepEqual(stock, { location: 14, inventoryLevel: 1069 });
      const variants = await recordsOf(shop, "variant");
      assert.equal(variants.filter((variant) => variant["status"] === "active").length, 379);
      const sum = (records: readonly Record<string, unknown>[], field: string): number =>
        records.reduce((total, record) => total + Math.round(Number(record[field] ?? 0) * 10_000), 0);
      // The sums of the files' own columns.
      assert.equal(sum(variants, "unitCost"), 1_365_692_325);
      assert.equal(sum(await recordsOf(shop, "inventoryLevel"), "onHand"), 3_359_740_000);
    });
  },
);

test("a price that a program has added up in doubles is the decimal that it stands for (C14)", async () => {
  await withShops(async (open) => {
    const shop = await open("a");
    await bring(shop, "shopify-products", [
      "Handle,Title,Variant Price",
      `mug,Mug,${1.1 + 0.04}`,
      "pot,Pot,0.30000000000000004",
    ]);
    const variants = await recordsOf(shop, "variant");
    assert.deepEqual(
      variants.map(({ price }) => Number(price)).toSorted((a, b) => a - b),
      [0.3, 1.14],
    );
  });
});

test("a number cell of any length is read in time proportional to its length", async () => {
  await withShops(async (open) => {
    const shop = await open("a");
    // In time that grows with its square this one would take longer than the file may.
    const zeros = "0".repeat(rowBytesMax / 3);
    for (const [cell, message] of [
      [`${zeros}x`, /^line 2, column "Variant Price": must be a number like 1234\.50, not "0{100}…"$/],
      [`1.${zeros}x`, /must be a number like/],
      [zeros.replaceAll("0", "1"), /has too many digits: "1{100}…"$/],
    ] as const) {
      await refuses(bring(shop, "shopify-products", ["Handle,Title,Variant Price", `mug,Mug,${cell}`]), message);
    }
    const exact = `${zeros}12.50${zeros}`;
    assert.deepEqual(await bring(shop, "shopify-products", ["Handle,Title,Variant Price", `mug,Mug,${exact}`]), {
      variant: 1,
    });
  });
});
