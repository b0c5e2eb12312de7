/** What a person sees of a file before it is imported. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { kindOf, lineOf, mistakeIn, previewOf } from "../../console/import/preview.ts";

test("a table is cut into cells by the separator that it uses, quoted lines and quotes kept", () => {
  const text = '\uFEFFHandle;Title;"Variant Price"\r\nmug;"A ""mug"",\ntall";4,50\r\n\r\ncup;Cup;3\r\n';
  assert.deepEqual(previewOf(text, 20), {
    head: ["Handle", "Title", "Variant Price"],
    rows: [
      { line: 2, cells: ["mug", 'A "mug",\ntall', "4,50"] },
      { line: 5, cells: ["cup", "Cup", "3"] },
    ],
  });
  assert.equal(previewOf(`a,b\n${"1,2\n".repeat(50)}`, 20).rows.length, 20);
  assert.deepEqual(previewOf('{"type":"supplier"}\n', 20), {
    head: [],
    rows: [{ line: 1, cells: ['{"type":"supplier"}'] }],
  });
});

test("a file is known by its head", () => {
  const kindWith = (head: string) => kindOf("export.csv", previewOf(`${head}\n`, 20));
  assert.equal(kindWith("Handle,Title,Vendor,Variant SKU,Variant Price,Cost per item"), "shopify-products");
  assert.equal(kindWith("Handle,Title,Option1 Value,Location,On hand (current)"), "shopify-inventory");
  assert.equal(kindWith("Supplier,SKU,Unit cost"), "supplier-prices");
  assert.equal(kindWith("Supplier,Supplier SKU,Price,Currency"), "supplier-prices");
  assert.equal(kindWith("Name,E-mail,Currency,Payment terms"), "suppliers");
  assert.equal(kindWith("Variant ID,Day,Net quantity"), "sales");
  assert.equal(kindWith("What,Ever"), null);
  assert.equal(kindOf("shop.ndjson", previewOf("{}", 20)), "ndjson");
});

test("the line that a refusal names is found in the file", async () => {
  assert.deepEqual(mistakeIn('line 3, column "Price": must be a number'), {
    line: 3,
    column: "Price",
    text: "must be a number",
  });
  assert.deepEqual(mistakeIn("The file is empty."), { line: null, column: null, text: "The file is empty." });
  const file = new Blob(["one\ntwo\nthree"]);
  assert.deepEqual(await Promise.all([1, 2, 3, 4].map((line) => lineOf(file, line))), ["one", "two", "three", null]);
});
