/** What the console knows of an order by itself: which moves it offers, how two people's changes are merged, how pasted rows are read. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { PurchaseOrder, PurchaseOrderLineItem } from "../../client/index.ts";
import { conflictsOf, differenceOf } from "../../console/order/merge.ts";
import {
  closedTo,
  isNextMove,
  movesFrom,
  movesOf,
  moveTitle,
  obstacleTo,
  statusesOpenTo,
} from "../../console/order/moves.ts";
import { canBeMadeAgain, canComeBack, moveBack, replacedBy, runsOf } from "../../console/order/undo/inverse.ts";
import { roundedUp } from "../../console/data/packs.ts";
import { lineColumns, linesOf } from "../../console/order/lines/pasted-lines.ts";
import { rowsIn } from "../../console/parts/fields/pasted-rows.ts";
import { statuses } from "../../src/core/order/purchase-order.ts";
import { movesFrom as servedMoves, statusesOpenTo as servedStatuses } from "../../src/core/order/status.ts";

const line = (poLineItemId: string, more: Partial<PurchaseOrderLineItem> = {}): PurchaseOrderLineItem =>
  ({
    poLineItemId,
    quantityOrdered: 5,
    unitCost: 1,
    quantityReceived: 0,
    quantitySynced: 0,
    ...more,
  }) as PurchaseOrderLineItem;
const order = (more: Partial<PurchaseOrder>): PurchaseOrder =>
  ({ status: "Draft", previousStatus: "Draft", version: 1, note: null, lineItems: [], ...more }) as PurchaseOrder;

test("the console offers the moves and activities that the service's own table allows", () => {
  for (const status of statuses) assert.deepEqual(movesFrom[status], servedMoves(status), status);
  for (const [activity, open] of Object.entries(statusesOpenTo))
    assert.deepEqual(open.toSorted(), servedStatuses(activity as keyof typeof statusesOpenTo).toSorted(), activity);
});

test("every activity that is not open has a reason, and an open one has none", () => {
  for (const status of statuses)
    for (const activity of Object.keys(statusesOpenTo) as (keyof typeof statusesOpenTo)[]) {
      const isOpen = statusesOpenTo[activity].includes(status);
      assert.equal(obstacleTo(order({ status }), activity, "owner") === null, isOpen, `${activity} in ${status}`);
      assert.equal(obstacleTo(order({ status }), activity, "viewer"), "role");
    }
});

test("what stops an order, sends or merges it is offered, or has a reason why not; resumed is only what was stopped", () => {
  const isHeld = (status: string): boolean => ["Cancelled", "On Hold", "Disputed"].includes(status);
  for (const status of statuses) {
    const of = order({ status, previousStatus: isHeld(status) ? "Sent" : status });
    const closed = new Map(closedTo(of, "owner").map(({ what, obstacle }) => [what, obstacle]));
    for (const to of ["Cancelled", "On Hold", "Disputed"] as const)
      assert.equal(closed.has(to), to !== status && !movesOf(of).includes(to), `${to} from ${status}`);
    assert.equal(closed.has("send"), status === "Cancelled" || status === "Completed", status);
    assert.equal(closed.has("merge"), status !== "Draft", status);
    assert.ok(
      closedTo(of, "viewer").every(({ obstacle }) => obstacle === "role"),
      status,
    );
    for (const to of movesOf(of)) {
      assert.equal(
        moveTitle(status, to).startsWith("Resume"),
        isHeld(status) || (status === "Received" && !isHeld(to)),
      );
      assert.equal(
        isNextMove(status, to),
        ["On Hold", "Disputed"].includes(status) || `${status} ${to}` === "Confirmed In Progress",
      );
    }
  }
});

test("a change fits what others did unless they changed the same value or deleted the line", () => {
  const before = order({ lineItems: [line("a"), line("b"), line("c")] });
  const after = order({
    version: 2,
    note: "x",
    lineItems: [line("a", { quantityOrdered: 7 }), line("b", { unitCost: 2 }), line("d")],
  });
  assert.deepEqual(differenceOf(before, after), {
    fields: ["note"],
    changedLines: ["a", "b"],
    addedLines: ["d"],
    deletedLines: ["c"],
  });
  const touch = (lineItemId: string | null, field: string) =>
    conflictsOf(before, after, [{ lineItemId, field }]).length;
  assert.equal(touch("a", "unitCost"), 0);
  assert.equal(touch("a", "quantityOrdered"), 1);
  assert.equal(touch("c", "quantityOrdered"), 1);
  assert.equal(touch(null, "note"), 1);
  assert.equal(touch(null, "poName"), 0);
});

test("pasted rows become lines when every one of them is right", () => {
  const number = (text: string): number | null => (/^\d+(\.\d+)?$/.test(text) ? Number(text) : null);
  const rows = rowsIn("SKU\tQty\tCost\nA-1\t12\t3.5\n\nB-2\t4\t\t2026-12-24\n", lineColumns, number);
  assert.deepEqual(
    rows.map(({ row, faults }) => [row, faults]),
    [
      [2, []],
      [4, []],
    ],
  );
  const ids = new Map([
    ["A-1", "var_a"],
    ["B-2", "var_b"],
  ]);
  assert.deepEqual(linesOf(rows, ids), [
    { variantId: "var_a", quantityOrdered: 12, unitCost: 3.5 },
    { variantId: "var_b", quantityOrdered: 4, expectedDeliveryDate: "2026-12-24" },
  ]);
  assert.deepEqual(rowsIn("A-1;x;y;z", lineColumns, number)[0]?.faults, [
    "quantityOrdered",
    "unitCost",
    "expectedDeliveryDate",
  ]);
});

test("pasted rows may be quoted, have a currency with the cost, and a decimal mark of another country where it is clear", () => {
  const number = (text: string): number | null => (/^\d+(\.\d+)?$/.test(text) ? Number(text) : null);
  const read = (text: string) =>
    rowsIn(text, lineColumns, number).map(({ code, values: { quantityOrdered = null, unitCost = null }, faults }) => [
      code,
      quantityOrdered,
      unitCost,
      ...faults,
    ]);
  for (const cost of ["€3.99", "3.99 €", "€ 3,99", "EUR 3.99", "3,99 EUR", "$3.99", '"3,99"', "'3.99", '="3.99"'])
    assert.deepEqual(read(`a-1\t2\t${cost}`), [["a-1", 2, 3.99]], cost);
  assert.deepEqual(read('"A-1";"12";"€ 1,5"\r"Say ""hi""; you";3;'), [
    ["A-1", 12, 1.5],
    ['Say "hi"; you', 3, null],
  ]);
  assert.deepEqual(read('"A,1",12,3.5'), [["A,1", 12, 3.5]]);
  assert.deepEqual(read("A-1\t1,234\t5"), [["A-1", null, 5, "quantityOrdered"]], "1234 or 1.234");
  // A currency that is spelled out goes with the cost; a sign may be that of several.
  assert.deepEqual(rowsIn("A-1\t2\t3.99 USD", lineColumns, number)[0]?.values, {
    quantityOrdered: 2,
    unitCost: 3.99,
    unitCostCurrencyCode: "USD",
  });
});

test("columns are found by their headings in any order, beside others; without headings they stand in order", () => {
  const number = (text: string): number | null => (/^\d+(\.\d+)?$/.test(text) ? Number(text) : null);
  const read = (text: string) =>
    rowsIn(text, lineColumns, number).map(({ row, code, values }) => [row, code, { ...values }]);
  assert.deepEqual(read("Description\tUnit price\tQty\tSKU 2026\nBlue shirt\t2.5\t3\tA-1\n"), [
    [2, "A-1", { quantityOrdered: 3, unitCost: 2.5 }],
  ]);
  assert.deepEqual(read("Article\tPieces\nA-1\t3\n"), [[2, "A-1", { quantityOrdered: 3 }]]);
  assert.deepEqual(read("SKU-1\t3\nSKU-2\t4\n"), [
    [1, "SKU-1", { quantityOrdered: 3 }],
    [2, "SKU-2", { quantityOrdered: 4 }],
  ]);
});

test("a quantity is rounded up to what the supplier sells: the minimum, then whole packs", () => {
  const terms = (moq: number | null, packSize: number | null) => ({ moq, packSize });
  assert.equal(roundedUp(1, terms(10, 6)), 12);
  assert.equal(roundedUp(12, terms(10, 6)), 12);
  assert.equal(roundedUp(13, terms(10, 6)), 18);
  assert.equal(roundedUp(7, terms(10, null)), 10);
  assert.equal(roundedUp(0.3, terms(null, 0.1)), 0.3);
  assert.equal(roundedUp(0.31, terms(null, 0.1)), 0.4);
  assert.equal(roundedUp(7, terms(null, null)), 7);
  assert.equal(roundedUp(0, terms(24, 12)), 0);
});

test("a move is taken back where the service's table leads back to the same status, and nobody was mailed", () => {
  const isHeld = (status: string): boolean => ["Cancelled", "On Hold", "Disputed"].includes(status);
  const moves = statuses.flatMap((from) => servedMoves(from).map((to) => [from, to] as const));
  const back = moves.filter(([from, to]) => {
    const after = order({ status: to, previousStatus: from });
    assert.equal(moveBack(order({ status: from }), after, true), null);
    const status = moveBack(order({ status: from }), after, false);
    assert.ok(status === null || status === from);
    return status !== null;
  });
  assert.deepEqual(
    back.filter(([, to]) => !isHeld(to)),
    [
      ["Draft", "Sent"],
      ["Confirmed", "In Progress"],
      ["In Progress", "Confirmed"],
    ],
  );
  // Each that was held goes back to what it was, and is held again.
  const held = moves.filter(([, to]) => isHeld(to));
  assert.deepEqual(
    back.filter(([, to]) => isHeld(to)),
    held,
  );
  for (const [from, to] of held)
    assert.equal(moveBack(order({ status: to, previousStatus: from }), order({ status: from }), false), to);
  // Goods have come: no way leads back before them.
  const received = { lineItems: [line("a", { quantityReceived: 1 })] };
  const resumed = order({ status: "On Hold", previousStatus: "Sent", ...received });
  assert.equal(moveBack(order({ status: "Sent" }), resumed, false), null);
});

test("an edit is taken back by the values that it has replaced, and not where it has brought others with it", () => {
  const before = order({ note: "a", supplierId: "s", totalValue: 10, lineItems: [line("a"), line("b")] });
  const edited = (more: Partial<PurchaseOrder>) =>
    replacedBy(before, { ...before, version: 2, updatedAt: "x", ...more });
  assert.deepEqual(edited({ note: null, grandTotal: 3 }), { header: { note: "a" }, lines: [] });
  const changed = line("b", { quantityOrdered: 7, lineTotal: 7, quantityPending: 7, updatedAt: "x" });
  assert.deepEqual(edited({ lineItems: [line("a"), changed] }), {
    header: {},
    lines: [{ lineItemId: "b", quantityOrdered: 5 }],
  });
  assert.deepEqual(edited({ supplierId: "t", supplierName: "Other" }), { header: { supplierId: "s" }, lines: [] });
  assert.equal(edited({ supplierId: "t", lineItems: [line("a"), line("b", { unitCost: 2 })] }), null);
  assert.equal(edited({ supplierId: "t", currencyCode: "USD" }), null);
  assert.equal(edited({ lineItems: [line("a"), line("b", { packSize: 2 })] }), null);
  assert.equal(edited({ lineItems: [line("a")] }), null);
  assert.equal(edited({}), null);
});

test("only what a new line or order can be given comes back", () => {
  const still = { quantityConfirmed: 0, quantityRejected: 0, quantityCancelled: 0 };
  assert.ok(canComeBack(line("a", still)));
  for (const name of Object.keys(still)) assert.ok(!canComeBack(line("a", { ...still, [name]: 1 })), name);
  const whole = {
    ...order({ sentAt: null, fxRateOverride: null, paidStatus: "Unpaid", lineItems: [line("a", still)] }),
    shipment: null,
    payments: [],
    documents: [],
  };
  assert.ok(canBeMadeAgain(whole));
  for (const more of [
    { status: "Cancelled" },
    { sentAt: "x" },
    { fxRateOverride: 2 },
    { paidStatus: "Partially Paid" },
    { shipment: {} },
    { payments: [{}] },
    { documents: [{}] },
    { lineItems: [line("a", { ...still, quantityConfirmed: 1 })] },
  ])
    assert.ok(!canBeMadeAgain({ ...whole, ...more } as typeof whole), JSON.stringify(more));
  const [a, b, c, d] = [line("a"), line("b"), line("c", { isCustom: true }), line("d")];
  assert.deepEqual(runsOf([a, b, c, d]), [{ catalogue: [a, b] }, { custom: c }, { catalogue: [d] }]);
});
