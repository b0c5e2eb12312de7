/**
 * The tables of fields: what making, changing and showing a record does with each row.
 */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import {
  type FieldKind,
  type Fields,
  completed,
  namesGiven,
  packed,
  shownValue,
  storedHeaderFields,
  storedLineFields,
  unpacked,
  valuesFrom,
  withChanges,
} from "../../../src/core/order/purchase-order-fields.ts";
import { columnOf } from "../../../src/shop/columns.ts";
import { loadSchema, migrate } from "../../../src/store/sqlite/schema.ts";
import { fxRate, money, quantity } from "../../support/goods.ts";

const fields = {
  name: { kind: "text" },
  note: { kind: "text", empty: null },
  tags: { kind: "strings", empty: [] },
} as const satisfies Fields;

test("a field has the given value, else the other one, else its empty one", () => {
  assert.deepEqual(valuesFrom(fields, { name: "given" }, { name: "other", note: "other" }), {
    name: "given",
    note: "other",
    tags: [],
  });
  assert.deepEqual(valuesFrom(fields, { name: null }, { name: "other" }), { name: "other", note: null, tags: [] });
});

test("a field without an empty value must be given and cannot be cleared", () => {
  assert.throws(() => valuesFrom(fields, {}), new TypeError("name has no empty value; it must be given"));
  const before = { name: "before", note: null, tags: [] };
  assert.throws(() => withChanges(fields, before, { name: null }), TypeError);
});

test("a change sets the fields that it names; null clears; other members stay", () => {
  const before = { name: "before", note: "before", tags: ["before"], version: 3 };
  assert.deepEqual(withChanges(fields, before, { note: "after", tags: undefined }), { ...before, note: "after" });
  assert.deepEqual(withChanges(fields, before, { note: null, tags: null }), { ...before, note: null, tags: [] });
  assert.deepEqual(namesGiven(fields, { note: null, tags: undefined }), ["note"]);
});

test("values are shown as the API shows them", () => {
  assert.equal(shownValue("quantity", quantity(2.5)), 2.5);
  assert.equal(shownValue("money", money(19.99)), 19.99);
  assert.equal(shownValue("rate", fxRate(1.08)), 1.08);
  assert.equal(shownValue("instant", 0), "1970-01-01T00:00:00.000Z");
  assert.equal(shownValue("integer", 7), 7);
  assert.equal(shownValue("day", "2026-03-01"), "2026-03-01");
  assert.deepEqual(shownValue("strings", ["a"]), ["a"]);
  assert.equal(shownValue("money", null), null);
});

test("every text, day, list and address is shown as it is", () => {
  for (const kind of ["text", "day", "strings", "address", "integer"] as const) {
    assert.equal(shownValue(kind, "x"), "x");
    assert.equal(shownValue(kind, 7), 7);
  }
});

test("packed values have the order of the table, and make the same record again", () => {
  const record = { name: "given", note: null, tags: ["a", "b"] };
  assert.deepEqual(packed(fields, { tags: record.tags, name: record.name, note: null }), ["given", null, ["a", "b"]]);
  assert.deepEqual(unpacked(fields, packed(fields, record)), record);
  assert.deepEqual(unpacked(fields, ["given"]), { name: "given", note: null, tags: [] }, "what is left off is empty");
  assert.deepEqual(Object.keys(unpacked(fields, [])), ["name", "note", "tags"]);
});

test("changes are completed from what is known; null is not absent", () => {
  const known = { name: "known", note: "known", tags: ["known"] };
  assert.deepEqual(completed(fields, { name: "given", note: null }, known), {
    name: "given",
    note: null,
    tags: ["known"],
  });
});

/** How values of each kind are stored. */
const storedAs: Readonly<Record<FieldKind, "TEXT" | "INTEGER">> = {
  text: "TEXT",
  day: "TEXT",
  strings: "TEXT",
  address: "TEXT",
  reorder: "TEXT",
  instant: "INTEGER",
  integer: "INTEGER",
  boolean: "INTEGER",
  quantity: "INTEGER",
  money: "INTEGER",
  rate: "INTEGER",
  rates: "TEXT",
};
/** Columns that are no fields: keys, what rows are found and sorted by, and some that a version before wrote. */
const otherColumns: Readonly<Record<string, readonly string[]>> = {
  purchase_order: ["shop_id", "paid_status", "search_folded", "deleted_at", "state_id"],
  purchase_order_line: ["shop_id", "purchase_order_id", "position", "order_created_at"],
};
for (const [table, stored] of Object.entries({
  purchase_order: storedHeaderFields,
  purchase_order_line: storedLineFields,
}))
  test(`the fields of ${table} are its columns: each of its kind, and null where null is what a field is without a value`, () => {
    const database = new DatabaseSync(":memory:");
    migrate(database, loadSchema("src/shop/schema"));
    const columns = database
      .prepare(`pragma table_info(${table})`)
      .all()
      .map((column) => ({ name: String(column["name"]), type: column["type"], mayBeNull: column["notnull"] === 0 }));
    database.close();
    const found = Object.entries<Fields[string]>(stored).map(([name, field]) => ({
      name: columnOf(name),
      type: storedAs[field.kind],
      mayBeNull: field.empty === null,
    }));
    const byName = (a: { readonly name: string }, b: { readonly name: string }): number => (a.name < b.name ? -1 : 1);
    assert.deepEqual(
      found.sort(byName),
      columns.filter(({ name }) => !otherColumns[table]?.includes(name)).sort(byName),
    );
  });

test("no two fields share a column", () => {
  for (const table of [storedHeaderFields, storedLineFields]) {
    const columns = Object.keys(table).map((name) => columnOf(name));
    assert.equal(new Set(columns).size, columns.length);
  }
  assert.equal(columnOf("noteToSupplier"), "note_to_supplier");
  assert.equal(columnOf("createdAtMs"), "created_at");
});
