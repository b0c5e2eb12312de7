/**
 * Statements of many rows that PostgreSQL gets as one (D382): which they are, and that they do what each does by itself.
 *
 * Only on postgres: sqlite runs each statement.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { Fault } from "../../../src/base/fault.ts";
import type { PurchaseOrder } from "../../../src/core/order/purchase-order.ts";
import { importOrder, loadOrder, saveDecision } from "../../../src/shop/order/purchase-orders.ts";
import { withJoinedRows } from "../../../src/store/postgres/joined-rows.ts";
import { type Change, insert, remove, update } from "../../../src/store/change.ts";
import type { Engine, SqlValue, Statement, Tx } from "../../../src/store/store.ts";
import { tables } from "../../../src/shop/tables.ts";
import { systemClock, timeOrderedIds } from "../../../src/base/time/system.ts";
import { importedOrder, line, order, quantity } from "../../support/goods.ts";
import { makePlace, openStore } from "../../support/store.ts";

const together = "together";
const oneByOne = "one-by-one";

async function withEngine(use: (engine: Engine) => Promise<void>): Promise<void> {
  const place = await makePlace();
  const store = await openStore(place.directory);
  try {
    for (const shopId of [together, oneByOne]) await store.engine.create(shopId);
    await use(store.engine);
  } finally {
    await store.close();
    await place.remove();
  }
}

const codeOf = (error: unknown): unknown => (error instanceof Fault ? error.code : null);

const rowsMax = 400;

const orderOf = (count: number, facts: Partial<PurchaseOrder> = {}): PurchaseOrder =>
  order(
    "In Progress",
    Array.from({ length: count }, (_, index) => line(`l${index}`, { ordered: 10, confirmed: 10 })),
    { purchaseOrderId: "po", ...facts },
  );

const receivedInFull = (stored: PurchaseOrder): PurchaseOrder => ({
  ...stored,
  version: stored.version + 1,
  lineItems: stored.lineItems.map((each) => ({ ...each, quantityReceived: quantity(10), updatedAtMs: 5 })),
});

const stamp = {
  actor: { type: "system", id: null, name: null },
  operation: null,
  requestId: null,
  nowMs: 5,
  ids: timeOrderedIds(systemClock),
} as const;

test("orders of many lines are inserted, received and read back as they are, in few statements", () =>
  withEngine(async (engine) => {
    const texts = ["", "null", '"quoted" \\ and \\u0000', "Ä€🧾\n\t", "{}", "'", null];
    const [first] = orderOf(1).lineItems;
    assert.ok(first !== undefined);
    const stored = orderOf(0, {
      lineItems: Array.from({ length: rowsMax }, (_, index) => ({
        ...first,
        poLineItemId: `l${index}`,
        note: texts[index % texts.length] ?? null,
        sku: texts[(index + 3) % texts.length] ?? null,
        createdAtMs: 9_007_199_254_740_991 - index,
      })),
      itemCount: rowsMax,
    });
    const sent: number[] = [];
    const counting = (tx: Tx): Tx => ({
      cache: tx.cache,
      all: (...asked) => tx.all(...asked),
      async batch(statements) {
        sent.push(withJoinedRows(statements).length);
        await tx.batch(statements);
      },
    });
    await engine.write(together, (tx) => importOrder(counting(tx), together, importedOrder(stored), true));
    const read = (): Promise<PurchaseOrder | null> => engine.read(together, (tx) => loadOrder(tx, together, "po"));
    const before = await read();
    assert.deepEqual(before, stored);
    assert.ok(before !== null);
    const next = receivedInFull(before);
    await engine.write(together, (tx) =>
      saveDecision(counting(tx), together, before, { next, log: [], receipts: [], effects: [] }, stamp),
    );
    assert.deepEqual(await read(), next);
    for (const statements of sent) assert.ok(statements < 20, `${statements} statements for ${rowsMax} lines`);
  }));

const addLevel = (variantId: string, onHand: SqlValue): ((shopId: string) => Change) => {
  const row = { variant_id: variantId, location_id: "l", on_hand: onHand };
  return (shopId) => insert(tables.inventory_level, shopId, row, "add");
};

const setLine = (
  lineItemId: string,
  received: number,
  note: string | null,
  orderId = "po",
): ((shopId: string) => Change) => {
  const key = { purchase_order_id: orderId, po_line_item_id: lineItemId };
  return (shopId) => update(tables.purchase_order_line, shopId, key, { quantity_received: received, note });
};

const anyText = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("null", '"', "\\u0041", "😀")).map((text) =>
  // Both are refused at the door.
  text.toWellFormed().replaceAll("\u0000", ""),
);

/** A change of many lines, each another one. */
const anyWideChange = fc
  .uniqueArray(fc.nat({ max: 70 }), { minLength: 10, maxLength: 60 })
  .chain((all) => fc.tuple(fc.constant(all), fc.nat({ max: 1_000_000 }), fc.option(anyText)))
  .map(([all, received, note]) => all.map((n) => setLine(`l${n}`, received + n, note)));

/** Runs of one text, long and short, few of whose rows differ, so that some meet one twice. The last is always joined. */
const anyRuns = fc
  .tuple(
    fc.array(
      fc.oneof(
        fc.array(
          fc.tuple(fc.nat({ max: 60 }), fc.integer()).map(([n, by]) => addLevel(`v${n}`, by)),
          { maxLength: 30 },
        ),
        fc.array(
          fc
            .tuple(fc.nat({ max: 60 }), fc.nat(), fc.option(anyText), fc.constantFrom("po", "po", "po", "other"))
            .map(([n, received, note, id]) => setLine(`l${n}`, received, note, id)),
          { maxLength: 30 },
        ),
        anyWideChange,
      ),
      { maxLength: 6 },
    ),
    anyWideChange,
  )
  .map(([runs, last]) => [...runs, [addLevel("between", 1)], last]);

test("statements that are sent together leave the rows that each by itself leaves", () =>
  withEngine(async (engine) => {
    for (const shopId of [together, oneByOne])
      for (const purchaseOrderId of ["po", "other"])
        await engine.write(shopId, (tx) =>
          importOrder(tx, shopId, importedOrder(orderOf(61, { purchaseOrderId, poNumber: purchaseOrderId })), true),
        );
    let joined = 0;
    const stateOf = (shopId: string): Promise<unknown> =>
      engine.read(shopId, (tx) =>
        Promise.all([
          loadOrder(tx, shopId, "po"),
          loadOrder(tx, shopId, "other"),
          tx.all("select variant_id, on_hand from inventory_level where shop_id = ? order by variant_id", [shopId]),
        ]),
      );
    await fc.assert(
      fc.asyncProperty(anyRuns, async (runs) => {
        const statements = (shopId: string): readonly Statement[] => runs.flat().map((make) => make(shopId));
        joined += withJoinedRows(statements(together)).length < runs.flat().length ? 1 : 0;
        await engine.write(together, (tx) => tx.batch(statements(together)));
        await engine.write(oneByOne, async (tx) => {
          for (const statement of statements(oneByOne)) await tx.batch([statement]);
        });
        assert.deepEqual(await stateOf(together), await stateOf(oneByOne));
      }),
      { numRuns: 60 },
    );
    assert.equal(joined, 60);
  }));

test("rows that are refused are undone with their write and those after it, and a value that may not be bound is refused", () =>
  withEngine(async (engine) => {
    const levels = Array.from({ length: 20 }, (_, index) => addLevel(`v${index}`, 1)(together));
    const bad = (value: SqlValue): readonly Statement[] => [...levels.slice(0, 19), addLevel("bad", value)(together)];
    const results = await Promise.allSettled([
      engine.write(together, (tx) => tx.batch(levels)),
      engine.write(together, (tx) => tx.batch(bad("no number"))),
      engine.write(together, (tx) => tx.batch(bad(Number.NaN))),
      engine.write(together, (tx) => tx.batch(levels)),
    ]);
    assert.deepEqual(
      results.map(({ status }) => status),
      ["fulfilled", "rejected", "rejected", "rejected"],
    );
    assert.ok(results[2]?.status === "rejected" && results[2].reason instanceof TypeError);
    // It may have read what the second one has changed (D382).
    assert.ok(results[3]?.status === "rejected");
    assert.equal(codeOf(results[3].reason), "DO_OVERLOADED");
    await engine.write(together, (tx) => tx.batch(levels));
    const rows = await engine.read(together, (tx) =>
      tx.all("select distinct on_hand, count(*) as n from inventory_level where shop_id = ? group by on_hand", [
        together,
      ]),
    );
    assert.deepEqual(rows, [{ on_hand: 2, n: 20 }]);
  }));

test("statements that differ in more than the row, or whose rows no key names, are sent as they are", () => {
  const kept = (statements: readonly Statement[]): void => assert.deepEqual(withJoinedRows(statements), statements);
  const many = (make: (index: number) => Statement): readonly Statement[] =>
    Array.from({ length: 20 }, (_, n) => make(n));
  kept(many((n) => addLevel(`v${n % 19}`, 1)(together)));
  kept(many((n) => setLine(`l${n % 19}`, n, null)(together)));
  kept(many((n) => setLine(`l${n}`, n, null, `po${n % 2}`)(together)));
  kept(many((n) => update(tables.variant, "a", { variant_id: `v${n}` }, { unit_cost: n })));
  // One order, but the condition is on a column that is set.
  kept(
    many((n) =>
      update(
        tables.purchase_order_line,
        "a",
        { purchase_order_id: "po", po_line_item_id: `l${n}`, quantity_received: 1 },
        { quantity_received: n },
      ),
    ),
  );
  kept(many((n) => remove(tables.incoming, "a", { variant_id: `v${n}` })));
  kept(
    many((n) => {
      const { sql, params } = addLevel(`v${n}`, 1)(together);
      return { sql, params };
    }),
  );
  kept(many((n) => setLine(`l${n}`, n, n === 7 ? "\ud83d" : null)(together)));
  kept(many((n) => setLine(`l${n}`, n, n === 7 ? "\u0000" : null)(together)));
  kept(Array.from({ length: 7 }, (_, n) => setLine(`l${n}`, n, null)(together)));
  assert.equal(withJoinedRows(many((n) => setLine(`l${n}`, n, null)(together))).length, 1);
});
