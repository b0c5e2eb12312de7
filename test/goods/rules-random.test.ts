/**
 * Random sequences of goods commands against an independent reference that keeps whole thousandths in plain objects and knows
 * nothing of the rules' code. A storefront applies, refuses or delays pushes in between.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { Fault } from "../../src/base/fault.ts";
import { decideConfirm } from "../../src/core/goods/confirm.ts";
import type { GoodsDecision } from "../../src/core/goods/goods.ts";
import { decideReceive, decideUnreceive } from "../../src/core/goods/receive.ts";
import { asQuantity } from "../../src/core/money/money.ts";
import type { PurchaseOrder, Status } from "../../src/core/order/purchase-order.ts";
import { type PushItem, pushPlan } from "../../src/core/storefront/stock-push.ts";
import { context, line, order } from "../support/goods.ts";

interface Row {
  readonly ordered: number;
  confirmed: number;
  received: number;
  rejected: number;
  cancelled: number;
  /** Whether a call that allowed it took this line above its base. */
  over: boolean;
}

type Command =
  | { readonly kind: "confirm"; readonly lines: readonly (readonly [number, number])[] }
  | { readonly kind: "confirm all" }
  | {
      readonly kind: "receive";
      readonly lines: readonly (readonly [number, number, number | undefined, number | undefined])[];
      readonly over: boolean;
    }
  | { readonly kind: "unreceive"; readonly lines: readonly (readonly [number, number])[] }
  | { readonly kind: "push"; readonly lands: boolean }
  | { readonly kind: "begin" };

const lineCount = 3;
const lineIds = ["a", "b", "custom"] as const;
const thousandths = fc.oneof(fc.integer({ min: 0, max: 12_000 }), fc.constantFrom(0, 1, 2_500, 9_999, 10_000, 10_001));
const place = fc.integer({ min: 0, max: lineCount - 1 });
const onePerLine = <T extends readonly [number, ...unknown[]]>(entry: fc.Arbitrary<T>): fc.Arbitrary<T[]> =>
  fc.uniqueArray(entry, { minLength: 1, maxLength: lineCount, selector: ([index]) => index });

const command: fc.Arbitrary<Command> = fc.oneof(
  fc.record({ kind: fc.constant("confirm" as const), lines: onePerLine(fc.tuple(place, thousandths)) }),
  fc.record({ kind: fc.constant("confirm all" as const) }),
  fc.record({
    kind: fc.constant("receive" as const),
    lines: onePerLine(
      fc.tuple(
        place,
        thousandths,
        fc.option(fc.integer({ min: 0, max: 2_000 }), { nil: undefined }),
        fc.option(fc.integer({ min: 0, max: 2_000 }), { nil: undefined }),
      ),
    ),
    over: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant("unreceive" as const),
    lines: onePerLine(fc.tuple(place, fc.integer({ min: 1, max: 6_000 }))),
  }),
  fc.record({ kind: fc.constant("push" as const), lands: fc.boolean() }),
  fc.record({ kind: fc.constant("begin" as const) }),
);

const baseOf = (row: Row): number => (row.confirmed > 0 ? row.confirmed : row.ordered);
const accountedOf = (row: Row): number => row.received + row.rejected + row.cancelled;
const pendingOf = (row: Row): number => Math.max(0, baseOf(row) - accountedOf(row));

/** What the reference makes of a command: the rows and status afterwards, or null when it is to be refused. */
function expected(
  rows: readonly Row[],
  status: Status,
  synced: readonly number[],
  command: Command,
): { readonly rows: readonly Row[]; readonly status: Status } | null {
  const next = rows.map((row) => ({ ...row }));
  const row = (index: number): Row => next[index] ?? assert.fail("no such row");
  const gone = (each: Row): boolean => each.cancelled >= each.ordered && each.received === 0;
  switch (command.kind) {
    case "confirm":
    case "confirm all": {
      if (!["Sent", "Partially Confirmed", "Confirmed", "In Progress"].includes(status)) return null;
      const totals =
        command.kind === "confirm"
          ? command.lines
          : next.flatMap((each, index) => (gone(each) ? [] : [[index, each.ordered] as const]));
      for (const [index, total] of totals) {
        const each = row(index);
        if (total > each.ordered) return null;
        const base = total > 0 ? total : each.ordered;
        if (base < baseOf(each) && base < accountedOf(each)) return null;
        each.confirmed = total;
      }
      const changes = next.some((each, index) => each.confirmed !== rows[index]?.confirmed);
      if (status === "In Progress") return changes ? null : { rows: next, status };
      if (command.kind === "confirm all") return { rows: next, status: "In Progress" };
      if (next.every((each) => each.confirmed === 0)) return { rows: next, status: "Sent" };
      const everyLine = next.every((each) => gone(each) || each.confirmed > 0);
      return { rows: next, status: everyLine ? "Confirmed" : "Partially Confirmed" };
    }
    case "receive": {
      if (!["In Progress", "Partially Received", "Received"].includes(status)) return null;
      let changed = false;
      for (const [index, received, rejected, cancelled] of command.lines) {
        const each = row(index);
        const before = { ...each };
        each.received = received;
        each.rejected = rejected ?? each.rejected;
        each.cancelled = cancelled ?? each.cancelled;
        if (received < before.received && received < (synced[index] ?? 0)) return null;
        if (
          each.received === before.received &&
          each.rejected === before.rejected &&
          each.cancelled === before.cancelled
        )
          continue;
        changed = true;
        if (accountedOf(each) > baseOf(each)) {
          if (!command.over) return null;
          each.over = true;
        } else each.over = false;
      }
      if (!changed) return { rows: next, status };
      return { rows: next, status: next.every((each) => pendingOf(each) === 0) ? "Received" : "Partially Received" };
    }
    case "unreceive": {
      if (!["In Progress", "Partially Received", "Received"].includes(status)) return null;
      for (const [index, amount] of command.lines) {
        const each = row(index);
        if (amount > each.received) return null;
        each.received -= amount;
      }
      if (next.every((each) => each.received === 0)) return { rows: next, status: "In Progress" };
      return { rows: next, status: next.every((each) => pendingOf(each) === 0) ? "Received" : "Partially Received" };
    }
    case "push":
    case "begin":
      return assert.fail("not a rule");
  }
}

function decide(current: PurchaseOrder, command: Command): GoodsDecision {
  const id = (index: number): string => lineIds[index] ?? assert.fail("no such line");
  switch (command.kind) {
    case "confirm":
      return decideConfirm(
        current,
        { lines: command.lines.map(([at, to]) => ({ lineItemId: id(at), quantityConfirmed: asQuantity(to) })) },
        context(),
      );
    case "confirm all":
      return decideConfirm(current, { confirmAll: true }, context());
    case "receive":
      return decideReceive(
        current,
        {
          lines: command.lines.map(([at, received, rejected, cancelled]) => ({
            lineItemId: id(at),
            quantityReceived: asQuantity(received),
            quantityRejected: rejected === undefined ? undefined : asQuantity(rejected),
            quantityCancelled: cancelled === undefined ? undefined : asQuantity(cancelled),
          })),
          allowOverReceipt: command.over,
        },
        context(),
      );
    case "unreceive":
      return decideUnreceive(
        current,
        {
          lines: command.lines.map(([at, amount]) => ({ lineItemId: id(at), quantity: asQuantity(amount) })),
          reason: null,
        },
        context(),
      );
    case "push":
    case "begin":
      return assert.fail("not a rule");
  }
}

/** The order once a push has landed: each line's synced follows what was sent of it. */
const landed = (current: PurchaseOrder, items: readonly PushItem[]): PurchaseOrder => ({
  ...current,
  lineItems: current.lineItems.map((each) => {
    const sent = items.flatMap((item) => item.lines).find((part) => part.poLineItemId === each.poLineItemId);
    return sent === undefined ? each : { ...each, quantitySynced: asQuantity(each.quantitySynced + sent.delta) };
  }),
});

const sum = (figures: readonly number[]): number => figures.reduce((total, figure) => total + figure, 0);

function walk(commands: readonly Command[]): void {
  let current = order("Sent", [
    line("a", { ordered: 10 }),
    line("b", { ordered: 7.25, variantId: "variant of a" }),
    line("custom", { ordered: 3, variantId: "CSTM-1" }),
  ]);
  let rows: readonly Row[] = current.lineItems.map((each) => ({
    ordered: each.quantityOrdered,
    confirmed: 0,
    received: 0,
    rejected: 0,
    cancelled: 0,
    over: false,
  }));
  let onHand = 0;
  let ledger = sum(rows.slice(0, 2).map(pendingOf));
  let receipts = 0;

  const pushWanted = (lands: boolean): void => {
    const step = pushPlan(current, lineIds, []);
    if (step.kind !== "send" || !lands) return;
    onHand += sum(step.items.map((item) => item.delta));
    current = landed(current, step.items);
  };

  for (const each of commands) {
    if (each.kind === "push") {
      pushWanted(each.lands);
      continue;
    }
    if (each.kind === "begin") {
      // Stands for /status to In Progress, which has its own tests.
      if (current.status === "Confirmed") current = { ...current, status: "In Progress", previousStatus: "Confirmed" };
      continue;
    }
    const before = current;
    const reference = expected(
      rows,
      before.status,
      before.lineItems.map((item) => item.quantitySynced),
      each,
    );
    if (reference === null) {
      assert.throws(() => decide(before, each), Fault, JSON.stringify(each));
      continue;
    }
    const decided = decide(before, each);
    current = decided.next;
    rows = reference.rows;
    assert.equal(current.status, reference.status, JSON.stringify(each));
    assert.deepEqual(
      current.lineItems.map((item) => [
        item.quantityConfirmed,
        item.quantityReceived,
        item.quantityRejected,
        item.quantityCancelled,
      ]),
      rows.map((row) => [row.confirmed, row.received, row.rejected, row.cancelled]),
    );
    receipts += sum(decided.receipts.flatMap((receipt) => receipt.lines.map((part) => part.quantityDelta)));
    assert.equal(receipts, sum(rows.map((row) => row.received)), "receipts add up to what was received");

    // P4, P5.
    if (current === before) assert.deepEqual([decided.log, decided.receipts, decided.effects], [[], [], []]);
    else assert.deepEqual([current.version, decided.log.length], [before.version + 1, 1]);
    if (current.status !== before.status) assert.equal(current.previousStatus, before.status);
    for (const [index, item] of current.lineItems.entries()) {
      // P1.
      assert.ok(item.quantityConfirmed >= 0 && item.quantityConfirmed <= item.quantityOrdered);
      for (const figure of [item.quantityReceived, item.quantityRejected, item.quantityCancelled])
        assert.ok(Number.isSafeInteger(figure) && figure >= 0);
      // P2.
      const row = rows[index] ?? assert.fail("no such row");
      assert.ok(accountedOf(row) <= baseOf(row) || row.over);
    }
    // P3: what is above received is on its way back.
    const pushed = new Set(
      decided.effects.flatMap((effect) => (effect.kind === "push-stock" ? effect.poLineItemIds : [])),
    );
    for (const [index, item] of current.lineItems.entries())
      if (item.quantitySynced > item.quantityReceived && item !== before.lineItems[index])
        assert.ok(pushed.has(item.poLineItemId));
    // C41: the ledger is told exactly when what is incoming moves.
    const open = current.status !== "Received";
    const incoming = open ? sum(rows.slice(0, 2).map(pendingOf)) : 0;
    const told = decided.effects.some((effect) => effect.kind === "mirror-incoming");
    assert.equal(told, incoming !== ledger, JSON.stringify(each));
    ledger = incoming;
    // Repeat safety: totals converge.
    if (each.kind !== "unreceive") assert.equal(decide(current, each).next, current);
  }

  // At rest: everything pushed, so the storefront has what was received, exactly (P3, C40).
  pushWanted(true);
  for (const item of current.lineItems.filter((each) => each.poLineItemId !== "custom"))
    assert.equal(item.quantitySynced, item.quantityReceived);
  assert.equal(onHand, sum(rows.slice(0, 2).map((row) => row.received)));
}

test("any sequence of goods commands keeps the invariants and ends in the stock that was received", () => {
  fc.assert(
    fc.property(fc.array(command, { maxLength: 40 }), (commands) => walk([{ kind: "confirm all" }, ...commands])),
    { numRuns: 300 },
  );
});

test("any sequence of confirmations keeps the invariants", () => {
  fc.assert(
    fc.property(fc.array(command, { maxLength: 25 }), (commands) => walk(commands)),
    { numRuns: 200 },
  );
});
