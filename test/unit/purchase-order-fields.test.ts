/**
 * The tables of fields: what making, changing and showing a record does with each row.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type Fields,
  namesGiven,
  shownValue,
  storedHeaderFields,
  storedLineFields,
  valuesFrom,
  withChanges,
} from "../../src/core/purchase-order-fields.ts";
import { columnOf } from "../../src/shop/columns.ts";
import { fxRate, money, quantity } from "../support/goods.ts";

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

test("no two fields share a column", () => {
  for (const table of [storedHeaderFields, storedLineFields]) {
    const columns = Object.keys(table).map(columnOf);
    assert.equal(new Set(columns).size, columns.length);
  }
  assert.equal(columnOf("noteToSupplier"), "note_to_supplier");
  assert.equal(columnOf("createdAtMs"), "created_at");
});
