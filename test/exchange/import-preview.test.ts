/** The preview of a file says of each field what the import then writes into the histories of the records (C85). */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { fileFormat } from "../../src/exchange/csv-formats.ts";
import type { FileFormat } from "../../src/exchange/file-format.ts";
import { checkRecords, importRecords } from "../../src/exchange/import.ts";
import { type ImportPreview, previewRowsMax } from "../../src/exchange/import-preview.ts";
import { ndjson as ndjsonFormat } from "../../src/exchange/ndjson.ts";
import type { RecordEntry } from "../../src/shop/catalogue/record-log.ts";
import { ndjson, piecesOf, type TestShop, withShops } from "../support/admin.ts";

const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });

const id = (prefix: string) => fc.integer({ min: 0, max: 2 }).map((nth) => `${prefix}${nth}`);

const word = fc.constantFrom("Mill", "Quay", "Tide");

const address = fc.record({
  city: optional(word),
  zip: optional(word),
  countryCode: optional(fc.constantFrom("NL", "BE")),
});

const records = fc.array(
  fc.oneof(
    fc.record({ type: fc.constant("location"), locationId: id("l"), name: word, address: optional(address) }),
    fc.record({
      type: fc.constant("supplier"),
      supplierId: id("s"),
      name: word,
      email: optional(fc.constantFrom("a@x.example", "b@x.example")),
      leadTimeDays: optional(fc.integer({ min: 1, max: 3 })),
      address: optional(address),
    }),
    fc.record({
      type: fc.constant("variant"),
      variantId: id("v"),
      productId: fc.constant("p"),
      productName: word,
      unitCost: optional(fc.constantFrom(1, 2.5)),
      reorder: optional(fc.record({ minimum: fc.integer({ min: 1, max: 2 }) })),
    }),
    fc.record({
      type: fc.constant("supplierVariant"),
      // What "old" was merged into has no entries under its own id.
      supplierId: fc.constantFrom("old", "s1", "s2"),
      variantId: id("v"),
      unitCost: optional(fc.constantFrom(1, 2.5)),
      isPreferred: fc.boolean(),
      supplierVariantDetails: optional(word),
    }),
    fc.record({
      type: fc.constant("inventoryLevel"),
      variantId: id("v"),
      locationId: id("l"),
      onHand: fc.integer({ min: 0, max: 2 }),
    }),
    fc.record({
      type: fc.constant("sale"),
      variantId: id("v"),
      date: fc.constant("2026-01-02"),
      quantity: fc.constant(1),
    }),
  ),
  { maxLength: 30 },
);

const csv = fc.record({
  columns: fc.subarray(["E-mail", "Lead time days", "City", "ZIP"]),
  rows: fc.uniqueArray(fc.record({ supplierId: id("s"), name: word, cell: fc.constantFrom("", "1") }), {
    selector: ({ supplierId }) => supplierId,
  }),
});

interface File {
  readonly bytes: Uint8Array;
  readonly format: "ndjson" | "suppliers";
}

const files: fc.Arbitrary<File> = fc.oneof(
  records.map((each): File => ({ bytes: ndjson(each), format: "ndjson" })),
  csv.map(({ columns, rows }): File => {
    const cellOf = (column: string, cell: string): string =>
      column === "E-mail" && cell !== "" ? "c@x.example" : cell;
    const lines = rows.map(({ supplierId, name, cell }) =>
      [supplierId, name, ...columns.map((column) => cellOf(column, cell))].join(","),
    );
    const head = ["Supplier ID", "Name", ...columns].join(",");
    return { bytes: Buffer.from([head, ...lines, ""].join("\n")), format: "suppliers" };
  }),
);

const formatOf = (shop: TestShop, { format }: File): FileFormat =>
  format === "ndjson" ? ndjsonFormat : fileFormat(format, { engine: shop.engine, shop: shop.shop, supplierId: null });

/** The type of the record that an entry is about. */
const typeOf = (kind: string, { variantId, locationId }: RecordEntry): string =>
  locationId !== null ? "inventoryLevel" : variantId !== null ? "supplierVariant" : kind;

/** What the histories tell of a request, in the form of a preview. */
async function told(shop: TestShop, requestId: string) {
  const { shopId } = shop.shop;
  const rows = await shop.engine.read(shopId, (tx) =>
    tx.all<{ kind: string; doc: string }>("select kind, doc from record_log where shop_id = ?", [shopId]),
  );
  const types = new Map<string, { created: number; changed: number; fields: Map<string, Record<string, number>> }>();
  for (const { kind, doc } of rows) {
    const entry: RecordEntry = JSON.parse(doc);
    if (entry.requestId !== requestId) continue;
    const type = typeOf(kind, entry);
    const of = types.get(type) ?? { created: 0, changed: 0, fields: new Map() };
    types.set(type, of);
    const isNew =
      entry.action === "created" || (entry.locationId !== null && entry.changes.every(({ before }) => before === null));
    if (isNew) {
      of.created += 1;
      continue;
    }
    of.changed += 1;
    for (const { field, before, after } of entry.changes) {
      const counts = of.fields.get(field) ?? { changed: 0, added: 0, cleared: 0 };
      const name = before === null ? "added" : after === null ? "cleared" : "changed";
      of.fields.set(field, { ...counts, [name]: (counts[name] ?? 0) + 1 });
    }
  }
  return new Map([...types].toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

const comparable = ({ types }: ImportPreview) =>
  new Map(
    types
      .filter(({ created, changed }) => created + changed > 0)
      .map(({ type, created, changed, fields }) => [type, { created, changed, fields: new Map(fields) }] as const)
      .toSorted(([one], [other]) => (one < other ? -1 : 1)),
  );

test("a preview counts by field exactly what the histories tell after the import, whatever the file", async () => {
  await withShops(async (open) => {
    let nth = 0;
    await fc.assert(
      fc.asyncProperty(records, files, async (before, file) => {
        nth += 1;
        const shop = await open(`s${nth}`);
        await shop.bring([...before, { type: "supplierMerge", supplierId: "old", intoId: "s0" }]);
        const { shopId } = shop.shop;
        const pieces = () => piecesOf(file.bytes, 65_536);
        const { preview } = await checkRecords(shop, shop.shop, pieces(), "req_check", formatOf(shop, file));
        assert.equal(preview.isTruncated, false);
        assert.deepEqual(await told(shop, "req_check"), new Map());
        await importRecords(shop, shop.shop, pieces(), "req_import", formatOf(shop, file));
        assert.deepEqual(comparable(preview), await told(shop, "req_import"), shopId);
      }),
      { numRuns: 40 },
    );
  });
});

test("a preview shows the first records that change, before and after, and a record that the file has twice in its turn", async () => {
  await withShops(async (open) => {
    const shop = await open("a");
    const supplier = (nth: number, more: object) => ({
      type: "supplier",
      supplierId: `s${nth}`,
      name: `S ${nth}`,
      ...more,
    });
    const many = Array.from({ length: 600 }, (_, nth) => nth);
    await shop.bring(many.map((nth) => supplier(nth, { phone: "1" })));
    const file = [
      ...many.map((nth) => supplier(nth, { phone: nth === 0 ? null : "2", note: "n" })),
      supplier(0, { phone: "3", note: "n" }),
      supplier(700, {}),
    ];
    const { preview } = await checkRecords(shop, shop.shop, piecesOf(ndjson(file), 65_536), "req_check");
    const [type] = preview.types;
    assert.ok(type !== undefined);
    assert.deepEqual(
      { ...type, fields: Object.fromEntries(type.fields), rows: type.rows.length },
      {
        type: "supplier",
        created: 1,
        changed: 601,
        unchanged: 0,
        fields: { phone: { changed: 599, added: 1, cleared: 1 }, note: { changed: 0, added: 600, cleared: 0 } },
        rows: previewRowsMax,
      },
    );
    assert.deepEqual(type.rows[1], {
      recordId: "s1",
      lineNumber: 2,
      changes: [
        { field: "phone", before: "1", after: "2" },
        { field: "note", before: null, after: "n" },
      ],
    });
  });
});
