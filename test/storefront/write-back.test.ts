import assert from "node:assert/strict";
import { test } from "node:test";
import type { LineFailure } from "../../src/core/order/purchase-order.ts";
import { supplierFields } from "../../src/core/order/purchase-order-fields.ts";
import { decideWriteBack, supplierEntryFields, type WriteBackEdit } from "../../src/core/storefront/write-back.ts";
import { line, money, order, quantity } from "../support/goods.ts";

const edited = order("Sent", [line("a", { currency: "EUR" }), line("b"), line("custom", { variantId: "CSTM-1" })]);

const entries = new Set(["variant of a", "variant of b"]);

const written = (edits: readonly WriteBackEdit[], failed: readonly LineFailure[] = [], next = edited) =>
  decideWriteBack(edits, { next, failed }, entries);

test("the supplier-related values sent are written, a cost with the line's currency, and null clears", () => {
  const { writes, outcome, lines } = written([
    { lineItemId: "a", unitCost: money(3), supplierSku: "S-1", moq: null, supplierVariantDetails: { colour: ["red"] } },
    { lineItemId: "b", unitCostCurrencyCode: null, supplierVariantDetails: null, packSize: quantity(6) },
  ]);
  assert.equal(outcome, "applied");
  assert.deepEqual(
    lines.map((each) => [each.lineItemId, each.variantId, each.outcome]),
    [
      ["a", "variant of a", "applied"],
      ["b", "variant of b", "applied"],
    ],
  );
  const set = writes.map(({ variantId, changes }) => [
    variantId,
    Object.fromEntries(
      Object.keys(supplierEntryFields).flatMap((name) => {
        const value: unknown = Reflect.get(changes, name);
        return value === undefined ? [] : [[name, value]];
      }),
    ),
  ]);
  assert.deepEqual(set, [
    [
      "variant of a",
      {
        unitCost: money(3),
        unitCostCurrencyCode: "EUR",
        supplierSku: "S-1",
        moq: null,
        supplierVariantDetails: '{"colour":["red"]}',
      },
    ],
    ["variant of b", { unitCostCurrencyCode: "USD", packSize: quantity(6), supplierVariantDetails: null }],
  ]);
});

test("every supplier field of a line is one of the supplier's entry", () => {
  for (const name of Object.keys(supplierFields)) assert.ok(name in supplierEntryFields, name);
});

test("a line is skipped without a supplier, without a carried value, when custom, and when its edit was not applied", () => {
  const failed: readonly LineFailure[] = [{ lineItemId: "b", reason: "below-received", message: "Too low." }];
  const edits: readonly WriteBackEdit[] = [
    { lineItemId: "a" },
    { lineItemId: "b", supplierSku: "x" },
    { lineItemId: "custom", supplierSku: "x" },
    { lineItemId: "gone", supplierSku: "x" },
  ];
  assert.deepEqual(written(edits, failed), {
    writes: [],
    outcome: "skipped",
    lines: [
      { lineItemId: "a", variantId: "variant of a", outcome: "skipped" },
      { lineItemId: "b", variantId: "variant of b", outcome: "skipped", error: "line edit not applied: Too low." },
      { lineItemId: "custom", variantId: "CSTM-1", outcome: "skipped" },
      { lineItemId: "gone", variantId: null, outcome: "skipped", error: "line edit not applied: no such line" },
    ],
  });
  const orphan = written([{ lineItemId: "a", supplierSku: "x" }], [], { ...edited, supplierId: null });
  assert.deepEqual([orphan.outcome, orphan.writes], ["skipped", []]);
});

test("a variant without an entry fails, the others are written, and the whole is failed", () => {
  const edits = ["a", "b"].map((lineItemId) => ({ lineItemId, supplierSku: "x" }));
  const { writes, outcome, lines } = decideWriteBack(edits, { next: edited, failed: [] }, new Set(["variant of b"]));
  assert.equal(outcome, "failed");
  assert.deepEqual(
    lines.map((each) => each.outcome),
    ["failed", "applied"],
  );
  assert.deepEqual(
    writes.map((write) => write.variantId),
    ["variant of b"],
  );
});
