/** The title of each place of the console: its own, with the name of what it shows, and the shop's. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { places } from "../../../console/places.ts";
import { titleOf } from "../../../console/title.ts";

const stepsOf = (path: string): readonly string[] =>
  path
    .replace("stock/:kind", "stock/takes")
    .replace("new/:kind", "new/suppliers")
    .split("/")
    .map((step) => (step.startsWith(":") ? `a-${step.slice(1)}` : step));

test("every place of the console has a title of its own, with the shop's name", () => {
  const titles = places.map((path) => titleOf(stepsOf(path), "Tideline", null));
  assert.equal(new Set(titles).size, places.length, titles.join("\n"));
  for (const title of titles) assert.match(title, /^[A-Za-z].+ · Tideline$/);
});

test("a title names the record once it is known, of this place alone; the first place is home", () => {
  const record = { id: "po_1", name: "PO-1042" };
  assert.equal(titleOf(["orders", "po_1"], "Tideline", record), "PO-1042 · Tideline");
  assert.equal(titleOf(["orders", "po_1", "confirm"], "Tideline", record), "Confirm PO-1042 · Tideline");
  assert.equal(titleOf(["receive", "po_1"], "Tideline", record), "Receive PO-1042 · Tideline");
  assert.equal(titleOf(["orders", "po_2"], "Tideline", record), "po_2 · Tideline");
  assert.equal(titleOf([], "Tideline", null), titleOf(["home"], "Tideline", null));
  assert.equal(titleOf(["nowhere"], "Tideline", null), "Tideline");
  assert.equal(titleOf(["shops"], null, null), "All shops · OpenPO");
});
