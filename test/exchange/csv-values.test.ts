/**
 * Values of CSV files as spreadsheets write and damage them (T3), and rows that name their variant by a code (T1).
 *
 * Only on sqlite: its subject is how a file is read; exchange/import.test.ts imports on both engines.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { Fault } from "../../src/base/fault.ts";
import { detailsMax } from "../../src/requests/input.ts";
import { type FileFormatName, fileFormat, fileFormatNames } from "../../src/exchange/csv-formats.ts";
import { checkRecords, importRecords } from "../../src/exchange/import.ts";
import { piecesOf, type TestShop, withShops } from "../support/admin.ts";

const fileOf = (lines: readonly string[] | string): Buffer =>
  Buffer.from(typeof lines === "string" ? lines : lines.join("\n"));

const bring = (
  shop: TestShop,
  name: FileFormatName,
  file: readonly string[] | string,
  { supplierId = null, check = false }: { readonly supplierId?: string | null; readonly check?: boolean } = {},
): Promise<unknown> => {
  const format = fileFormat(name, { engine: shop.engine, shop: shop.shop, supplierId });
  const pieces = piecesOf(fileOf(file), 65_536);
  return check
    ? checkRecords(shop, shop.shop, pieces, "req_test", format)
    : importRecords(shop, shop.shop, pieces, "req_test", format);
};

/** What is told of a file that is refused. */
async function noteFactsOf(importing: Promise<unknown>): Promise<readonly string[]> {
  try {
    await importing;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return (error.details ?? []).map((detail) => ("message" in detail ? detail.message : ""));
  }
  throw new Error("the file was imported");
}

const membersOf = async (shop: TestShop, type: string, ...members: readonly string[]) =>
  (await shop.records())
    .filter((record) => record["type"] === type)
    .map((record) => members.map((member) => record[member]));

test("numbers of a file with semicolons have a decimal comma; what can be read in two ways is refused", async () => {
  await withShops(async (open) => {
    const shop = await open("a");
    const file = (cells: readonly string[]): readonly string[] => [
      "Handle;Title;Variant Price",
      ...cells.map((cell, index) => `h${index};T;${cell}`),
    ];
    const read: readonly (readonly [string, number])[] = [
      ["9,50", 9.5],
      ["9.50", 9.5],
      ["9", 9],
      ["1.234,50", 1234.5],
      ["1.234.567,5", 1234567.5],
      ["1.234.567", 1234567],
      ["1,234.50", 1234.5],
      ["0,125", 0.125],
      ["0.125", 0.125],
      ["12,3456", 12.3456],
      ["'7,5", 7.5],
      ['="8,25"', 8.25],
    ];
    await bring(shop, "shopify-products", file(read.map(([cell]) => cell)));
    const prices = new Map((await membersOf(shop, "variant", "variantId", "price")).map(([id, price]) => [id, price]));
    assert.deepEqual(
      read.map(([cell], index) => [cell, prices.get(`h${index}`)]),
      read,
    );
    assert.deepEqual(
      await noteFactsOf(
        bring(shop, "shopify-products", file(["1.234", "1.2.3", "9,5,0", "€9,50", "1,23456"]), { check: true }),
      ),
      [
        'line 2, column "Variant Price": "1.234" can be read as 1234 and as 1,234; write one of them',
        'line 3, column "Variant Price": must be a number like 1234,50, not "1.2.3"',
        'line 4, column "Variant Price": must be a number like 1234,50, not "9,5,0"',
        'line 5, column "Variant Price": must be a number like 1234,50, not "€9,50"',
        'line 6, column "Variant Price": must have at most 4 decimals',
      ],
    );
    assert.deepEqual(
      await noteFactsOf(bring(shop, "shopify-products", ["Handle,Title,Variant Price", 'h,T,"9,50"'], { check: true })),
      ['line 2, column "Variant Price": must be a number like 1234.50, not "9,50"'],
    );
  });
});

test("a code keeps its zeros without what a spreadsheet wraps around it; one whose digits are lost is refused", async () => {
  await withShops(async (open) => {
    const shop = await open("a");
    const codes: readonly (readonly [string, string])[] = [
      ["'0012345678905", "0012345678905"],
      ['="0012345678906"', "0012345678906"],
      ['"=""0012345678907"""', "0012345678907"],
      [" 4006381333931 ", "4006381333931"],
      ["8.719012345678E+12", "8719012345678"],
      ["8,719012345678E+12", "8719012345678"],
      ["1E5", "1E5"],
      ["E+12", "E+12"],
    ];
    const file = (cells: readonly string[], header = "Variant Barcode"): readonly string[] => [
      `Handle;Title;${header}`,
      ...cells.map((cell, index) => `h${index};T;${cell}`),
    ];
    for (const [header, member] of [
      ["Variant Barcode", "barcode"],
      ["Variant SKU", "sku"],
    ] as const) {
      await bring(
        shop,
        "shopify-products",
        file(
          codes.map(([cell]) => cell),
          header,
        ),
      );
      const stored = new Map((await membersOf(shop, "variant", "variantId", member)).map(([id, code]) => [id, code]));
      assert.deepEqual(
        codes.map(([cell], index) => [cell, stored.get(`h${index}`)]),
        codes,
      );
    }
    assert.deepEqual(
      await noteFactsOf(bring(shop, "shopify-products", file(["8.719E+12", "4,01E+12", "8E+12", "#N/A"]))),
      [
        ...["8.719E+12", "4,01E+12", "8E+12"].map(
          (code, index) =>
            `line ${index + 2}, column "Variant Barcode": "${code}" is what a spreadsheet has made of a longer number, whose digits are lost; make the column text, enter it anew and export it again`,
        ),
        'line 5, column "Variant Barcode": is the error of a formula, #N/A',
      ],
    );
    // Texts that only begin like a formula are what was meant.
    await bring(shop, "shopify-products", ["Handle,Title", "h0,'=Sale", "h1,'s-Hertogenbosch"]);
    const names = await membersOf(shop, "variant", "variantId", "productName");
    assert.deepEqual(names.slice(0, 2), [
      ["h0", "=Sale"],
      ["h1", "'s-Hertogenbosch"],
    ]);
  });
});

test("Shopify's unlisted products are active", async () => {
  await withShops(async (open) => {
    const shop = await open("a");
    await bring(shop, "shopify-products", ["Handle,Title,Status", "a,A,unlisted", "b,B,Unlisted", "c,C,archived"]);
    assert.deepEqual(await membersOf(shop, "variant", "variantId", "status"), [
      ["a", "active"],
      ["b", "active"],
      ["c", "inactive"],
    ]);
  });
});

const catalogue = [
  { type: "supplier", supplierId: "s1", name: "Acme" },
  { type: "supplier", supplierId: "s2", name: "Zeta" },
  { type: "variant", variantId: "v1", productId: "p1", productName: "Mug", sku: "MUG-1", barcode: "4006381333931" },
  { type: "variant", variantId: "v2", productId: "p2", productName: "Pot", sku: "POT-1" },
  { type: "variant", variantId: "v3", productId: "p3", productName: "Cup", sku: "TWIN" },
  { type: "variant", variantId: "v4", productId: "p4", productName: "Jar", sku: "TWIN" },
  {
    type: "supplierVariant",
    supplierId: "s1",
    variantId: "v3",
    supplierSku: "A-CUP",
    supplierBarcode: "8712345678906",
  },
  { type: "supplierVariant", supplierId: "s2", variantId: "v4", supplierSku: "A-CUP" },
];

test("a price is for the one variant that its supplier's code, its barcode or its SKU leads to; else its line is named", async () => {
  await withShops(async (open) => {
    const shop = await open("a");
    await shop.bring(catalogue);
    await bring(shop, "supplier-prices", ["Supplier barcode,Unit cost", "8712345678906,5"], { supplierId: "s1" });
    assert.deepEqual((await membersOf(shop, "supplierVariant", "variantId", "unitCost"))[0], ["v3", 5]);
    await bring(shop, "supplier-prices", [
      "Supplier,Supplier SKU,Supplier barcode,Barcode,SKU,Unit cost",
      "Acme,A-CUP,,,,1",
      "Zeta,a-cup,,,TWIN,2",
      "Acme,,,4006381333931,,3",
      "Acme,NEW,,,pot-1,4",
    ]);
    assert.deepEqual(await membersOf(shop, "supplierVariant", "supplierId", "variantId", "unitCost", "supplierSku"), [
      ["s1", "v1", 3, null],
      ["s1", "v2", 4, "NEW"],
      ["s1", "v3", 1, "A-CUP"],
      ["s2", "v4", 2, "a-cup"],
    ]);
    const before = await shop.records();
    assert.deepEqual(
      await noteFactsOf(
        bring(shop, "supplier-prices", [
          "Supplier,Supplier SKU,SKU,Unit cost",
          "Acme,,TWIN,1",
          "Acme,,NOPE,1",
          "Acme,A-CUP,MUG-1,1",
          "Other,A-CUP,,1",
          "Acme,,,1",
        ]),
      ),
      [
        'line 2, column "SKU": "TWIN" is of 2 variants; name the variant by its id',
        'line 3, column "SKU": no variant has "NOPE"; import the products first, or name the variant by its id',
        'line 4, column "SKU": is of variant v1, but "Supplier SKU" of variant v3; name the variant by its id',
        'line 5, column "Supplier SKU": no variant has "A-CUP"; import the products first, or name the variant by its id',
        "line 6: must name its variant by Variant ID, by Handle and option values, or by a SKU or barcode that one variant alone has",
      ],
    );
    const inCase =
      'line 2, column "Barcode": "14006381333938" is of a case of variant v1, and figures are of pieces; name the variant by its id';
    for (const [name, file] of [
      ["supplier-prices", ["Supplier,Barcode,Unit cost", "Acme,14006381333938,48"]],
      ["shopify-inventory", ["Barcode,Location,On hand", "14006381333938,Main,5"]],
      ["sales", ["Date,Barcode,Quantity", "2026-03-01,14006381333938,5"]],
    ] as const)
      assert.deepEqual(await noteFactsOf(bring(shop, name, file)), [inCase], name);
    assert.deepEqual(await shop.records(), before);
    await bring(shop, "supplier-prices", ["Supplier,SKU,Barcode,Unit cost", "Acme,mug-1,14006381333938,4"]);
    await bring(shop, "supplier-prices", ["Supplier,Barcode,Unit cost", "Zeta,]C10104006381333931,6"]);
    assert.deepEqual(
      (await membersOf(shop, "supplierVariant", "supplierId", "variantId", "unitCost")).filter(
        ([, variantId]) => variantId === "v1",
      ),
      [
        ["s1", "v1", 4],
        ["s2", "v1", 6],
      ],
    );
    await bring(shop, "sales", ["Date,SKU,Quantity", "2026-03-01,mug-1,2"]);
    await bring(shop, "shopify-inventory", ["Barcode,Location,On hand", "4006381333931,Main,7"]);
    assert.deepEqual(await membersOf(shop, "sale", "variantId", "quantity"), [["v1", 2]]);
    assert.deepEqual(await membersOf(shop, "inventoryLevel", "variantId", "onHand"), [["v1", 7]]);
  });
});

test("up to detailsMax mistakes are told at once, by their lines: of reading, of values, of records and of rows that are there twice", async () => {
  await withShops(async (open) => {
    const shop = await open("a");
    await shop.bring(catalogue);
    const told = await noteFactsOf(
      bring(shop, "supplier-prices", [
        "Supplier,SKU,Unit cost,Currency",
        "Acme,MUG-1,x,EUR",
        "Acme,MUG-1,1,euro",
        "Acme,MUG-1",
        "Acme,NOPE,1,EUR",
        "Acme,MUG-1,-1,eur",
      ]),
    );
    assert.deepEqual(
      told.map((message) => message.replace(/: .*/, "")),
      [
        'line 2, column "Unit cost"',
        'line 3, column "Currency"',
        "line 4",
        'line 5, column "SKU"',
        'line 6, column "Unit cost"',
        'line 6, column "Currency"',
      ],
    );
    const row = await noteFactsOf(
      bring(shop, "supplier-prices", ["Supplier,SKU,Unit cost,MOQ,Pack size", "Acme,MUG-1,x,2,z"]),
    );
    assert.deepEqual(
      row.map((message) => message.replace(/: .*/, "")),
      ['line 2, column "Unit cost"', 'line 2, column "Pack size"'],
      "all of one row",
    );
    const twice = ["SKU,Unit cost", ...Array.from({ length: 3 }, () => ["MUG-1,1", "POT-1,2"]).flat()];
    assert.deepEqual(await noteFactsOf(bring(shop, "supplier-prices", twice, { supplierId: "s1" })), [
      "line 4: is about the same supplierVariant as line 2",
      "line 5: is about the same supplierVariant as line 3",
    ]);
    for (const [name, file] of [
      ["sales", ["Date,SKU,Quantity", ...Array.from({ length: 300 }, () => "x,NOPE,y")]],
      ["ndjson", Array.from({ length: 300 }, () => '{"type":"location","locationId":5}')],
      [
        "ndjson",
        Array.from(
          { length: 300 },
          (_, index) => `{"type":"purchaseOrder","purchaseOrderId":"p${index}","status":"On Hold"}`,
        ),
      ],
    ] as const) {
      const many = await noteFactsOf(bring(shop, name, file));
      assert.equal(many.length, detailsMax, name);
      assert.match(many.at(-1) ?? "", /^line \d+/);
    }
  });
});

test("a head alone brings nothing in, and no damaged file does so without a fault", async () => {
  await withShops(async (open) => {
    const shop = await open("a");
    await shop.bring(catalogue);
    const files: Readonly<Record<Exclude<FileFormatName, "ndjson">, string>> = {
      "shopify-products": "Handle,Title,Variant SKU,Variant Price\nmug,Mug,M,1.50\npot,Pot,P,2\n",
      "shopify-inventory": "SKU,Location,On hand\nMUG-1,Main,3\nPOT-1,Main,4\n",
      "supplier-prices": "Supplier;SKU;Unit cost\nAcme;MUG-1;9,50\nAcme;POT-1;3\n",
      suppliers: "Supplier,Currency\nAcme,EUR\nZeta,USD\n",
      sales: "Date\tSKU\tQuantity\n2026-03-01\tMUG-1\t2\n2026-03-02\tPOT-1\t1\n",
    };
    const names = fileFormatNames.filter((name) => name !== "ndjson");
    for (const name of names) {
      const [head = ""] = files[name].split("\n");
      for (const end of ["", "\n", "\r", "\r\n"])
        assert.deepEqual(await bring(shop, name, head + end, { check: true }), {
          counts: {},
          replaced: {},
          preview: { isTruncated: false, types: [] },
        });
      // A quotation mark makes a head of all lines.
      const [told = ""] = await noteFactsOf(bring(shop, name, `"${files[name]}"`, { check: true }));
      assert.match(told, /^line 1: there is no column/, name);
    }
    const damage = fc.oneof(
      fc.record({ kind: fc.constant("ends"), end: fc.constantFrom("\r", "\r\n", "\n\r", "\u2028") }),
      fc.record({
        kind: fc.constant("put"),
        at: fc.nat(120),
        text: fc.constantFrom('"', "\r", ";", ",", "\t", "=", "'", "\u0000", "é"),
      }),
      fc.record({ kind: fc.constant("cut"), at: fc.nat(120) }),
      fc.record({
        kind: fc.constant("before"),
        text: fc.constantFrom("sep=;\n", "sep=,\r", "\uFEFF", "\n\n", '"', "Prices of 2026\n"),
      }),
    );
    const damaged = (
      text: string,
      { kind, ...how }: { readonly kind: string; readonly at?: number; readonly text?: string; readonly end?: string },
    ): string => {
      const at = how.at ?? 0;
      if (kind === "ends") return text.replaceAll("\n", how.end ?? "");
      if (kind === "put") return text.slice(0, at) + (how.text ?? "") + text.slice(at);
      if (kind === "cut") return text.slice(0, Math.max(1, text.length - at));
      return (how.text ?? "") + text;
    };
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...names),
        fc.array(damage, { minLength: 1, maxLength: 3 }),
        async (name, damages) => {
          const file = damages.reduce(damaged, files[name]);
          const lines = file
            .replace(/^\uFEFF/, "")
            .split(/\r\n|\r|\n/)
            .filter((line) => line !== "" && !/^"?sep=.?"?$/i.test(line));
          try {
            const checked = await bring(shop, name, file, { check: true });
            const counts = Object.values(Object(Object(checked).counts));
            // What is below the head comes in, or the answer says that nothing does.
            if (lines.length > 1 && lines.slice(1).some((line) => /[a-z0-9]/i.test(line)))
              assert.ok(counts.length > 0, JSON.stringify(file));
          } catch (error) {
            assert.ok(error instanceof Fault && /^line \d+/.test(error.message), String(error));
          }
        },
      ),
      { numRuns: 150 },
    );
  });
});
