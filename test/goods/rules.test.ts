import assert from "node:assert/strict";
import { test } from "node:test";
import { decideComplete, decideQuickComplete, decideQuickReceive } from "../../src/core/goods/complete.ts";
import { decideConfirm } from "../../src/core/goods/confirm.ts";
import { type GoodsDecision, linesNamed, unchangedGoods, unsyncedText } from "../../src/core/goods/goods.ts";
import { inWords } from "../../src/core/order/guidance.ts";
import { lineItemStatus } from "../../src/core/order/lines.ts";
import { decideReceive, decideUnreceive } from "../../src/core/goods/receive.ts";
import { decideStatus } from "../../src/core/order/status-move.ts";
import { decideStorefrontSync, decideSyncReset } from "../../src/core/storefront/sync.ts";
import { type PurchaseOrder, type Status, statuses } from "../../src/core/order/purchase-order.ts";
import { context, line, order, quantity, refusal, shop } from "../support/goods.ts";

const confirm = (from: PurchaseOrder, lines: Record<string, number> | "all", facts = context()): GoodsDecision =>
  decideConfirm(
    from,
    lines === "all"
      ? { confirmAll: true }
      : {
          lines: Object.entries(lines).map(([lineItemId, units]) => ({
            lineItemId,
            quantityConfirmed: quantity(units),
          })),
        },
    facts,
  );

interface Totals {
  readonly received: number;
  readonly rejected?: number;
  readonly cancelled?: number;
}

const receive = (
  from: PurchaseOrder,
  lines: Record<string, number | Totals>,
  options: { readonly over?: boolean; readonly facts?: ReturnType<typeof context> } = {},
): GoodsDecision =>
  decideReceive(
    from,
    {
      lines: Object.entries(lines).map(([lineItemId, given]) => {
        const totals: Totals = typeof given === "number" ? { received: given } : given;
        return {
          lineItemId,
          quantityReceived: quantity(totals.received),
          quantityRejected: totals.rejected === undefined ? undefined : quantity(totals.rejected),
          quantityCancelled: totals.cancelled === undefined ? undefined : quantity(totals.cancelled),
        };
      }),
      allowOverReceipt: options.over ?? false,
    },
    options.facts ?? context(),
  );

const unreceive = (from: PurchaseOrder, lines: Record<string, number>, facts = context()): GoodsDecision =>
  decideUnreceive(
    from,
    {
      lines: Object.entries(lines).map(([lineItemId, units]) => ({ lineItemId, quantity: quantity(units) })),
      reason: "damaged",
    },
    facts,
  );

const push = (...poLineItemIds: string[]): unknown => ({ kind: "push-stock", purchaseOrderId: "po_1", poLineItemIds });
const pushes = (decided: GoodsDecision): unknown[] => decided.effects.filter((effect) => effect.kind === "push-stock");

const accepted = (decide: (from: PurchaseOrder) => unknown, status: Status): boolean => {
  const from = order(status, [line("a", { confirmed: 10, received: 3 })]);
  try {
    decide(from);
    return true;
  } catch {
    return false;
  }
};

test("each rule of goods takes the statuses of the specification and no other, and says the way out", () => {
  const rules: Record<string, [(from: PurchaseOrder) => unknown, readonly Status[]]> = {
    confirm: [(from) => confirm(from, { a: 10 }), ["Sent", "Partially Confirmed", "Confirmed", "In Progress"]],
    receive: [(from) => receive(from, { a: 5 }), ["In Progress", "Partially Received", "Received"]],
    unreceive: [(from) => unreceive(from, { a: 1 }), ["In Progress", "Partially Received", "Received"]],
    complete: [(from) => decideComplete(from, false, context()), ["Partially Received", "Received"]],
    quickReceive: [(from) => decideQuickReceive(from, context()), ["In Progress"]],
    quickComplete: [(from) => decideQuickComplete(from, false, context()), ["In Progress"]],
    sync: [
      (from) => decideStorefrontSync(from, null, context()),
      ["Sent", "Partially Confirmed", "Confirmed", "In Progress", "Partially Received", "Received"],
    ],
  };
  for (const [name, [decide, expected]] of Object.entries(rules)) {
    assert.deepEqual(
      statuses.filter((status) => accepted(decide, status)),
      expected,
      name,
    );
    for (const status of statuses.filter((status) => !expected.includes(status))) {
      const fault = refusal(() => decide(order(status, [line("a", { confirmed: 10, received: 3 })])));
      assert.ok(fault.message.includes(status), `${name}: ${fault.message}`);
      assert.ok(fault.action !== null && fault.action.length > 0, `${name} from ${status}`);
    }
  }
});

test("every refusal of a quantity says how to go on", () => {
  const ways = (fault: { readonly action: string | null; readonly message: string }): string =>
    `${fault.message.split(":")[0]}: ${inWords(fault.action ?? "", (name) => name)}`;
  const from = order("Confirmed", [line("a", { confirmed: 5, rejected: 3 })]);
  assert.equal(
    ways(refusal(() => confirm(from, { a: 11 }))),
    "/lines/0/quantityConfirmed: Confirm at most what was ordered, or raise quantityOrdered with purchase_order_line_item_update first.",
  );
  assert.equal(
    ways(refusal(() => confirm(from, { a: 2 }))),
    "/lines/0/quantityConfirmed: Lower quantityRejected or quantityCancelled with purchase_order_line_item_update first, or confirm more.",
  );
  const working = { ...from, status: "In Progress" } as const;
  assert.equal(
    ways(refusal(() => receive(working, { a: 3 }))),
    "/lines/0/quantityReceived: Correct the totals, or send allowOverReceipt: true to take more than was expected.",
  );
  assert.equal(
    ways(refusal(() => unreceive(working, { a: 1 }))),
    "/lines/0/quantity: The quantity is the amount to take back, not a new total.",
  );
  assert.equal(
    ways(refusal(() => receive(working, { nowhere: 3 }))),
    "/lines/0/lineItemId: Nothing was changed. Read the order's line items and name them by shownLineId.",
  );
});

test("a line is named once in a request: that it is not twice, the schema has seen to", () => {
  const twice = [{ lineItemId: "a" }, { lineItemId: "b" }, { lineItemId: "a" }];
  assert.throws(() => linesNamed(order("Sent", [line("a"), line("b")]), twice), TypeError);
});

test("a confirmation is an entry of the log with the totals confirmed, and no receipt", () => {
  const decided = confirm(order("Sent", [line("a", { confirmed: 2 }), line("b")]), { a: 4 });
  assert.deepEqual(decided.log, [
    {
      action: "confirm",
      message: "Confirmed 1 line; moved from Sent to Partially Confirmed.",
      changes: [
        { field: "quantityConfirmed", poLineItemId: "a", before: 2, after: 4 },
        { field: "status", poLineItemId: null, before: "Sent", after: "Partially Confirmed" },
      ],
    },
  ]);
  assert.deepEqual(decided.receipts, []);
  const more = confirm(decided.next, { a: 5 }, context({ nowMs: 9_000 }));
  assert.deepEqual(
    more.log.map(({ message, changes }) => [message, changes.length]),
    [["Confirmed 1 line.", 1]],
  );
  assert.equal(more.next.previousStatus, "Sent", "an order that does not move keeps where it came from");
});

test("what a call leaves as it was says so in every part of its answer", () => {
  const before = order("Received", [line("a", { received: 10 })]);
  const { status, updatedLineItemIds, stockSync } = unchangedGoods(before);
  assert.deepEqual(
    [status, updatedLineItemIds, stockSync],
    [{ before: "Received", after: "Received", autoTransitioned: false }, [], "skipped"],
  );
});

test("an order that moves without a line that changed tells no line", () => {
  const decided = confirm(order("Sent", [line("a", { confirmed: 4 })]), { a: 4 });
  assert.deepEqual([decided.next.status, decided.updatedLineItemIds], ["Confirmed", []]);
  assert.equal(decided.log[0]?.message, "Confirmed 0 lines; moved from Sent to Confirmed.");
});

test("a push that is on its way or has failed stays the state of an order that pushes nothing new", () => {
  const lines = [line("a", { received: 4 }), line("custom", { variantId: "CSTM-1" })];
  for (const state of ["in-flight", "failed"] as const) {
    const decided = receive(order("In Progress", lines, { storefrontSyncState: state }), { custom: 1 });
    assert.equal(decided.next.storefrontSyncState, state);
  }
  const rejected = receive(order("In Progress", lines, { storefrontSyncState: "in-flight" }), {
    a: { received: 4, rejected: 1 },
  });
  assert.equal(rejected.stockSync, "skipped", "the line's push is on its way");
  assert.deepEqual(rejected.receipts, [], "nothing has come in");
});

test("an order without a location pushes nothing", () => {
  const decided = receive(order("In Progress", [line("a")], { locationId: null }), { a: 4 });
  assert.deepEqual([pushes(decided), decided.stockSync], [[], "skipped"]);
});

test("lines that the storefront does not have are named up to the fifth, with their quantities", () => {
  const unsynced = (count: number): string =>
    unsyncedText(
      order(
        "Received",
        Array.from({ length: count }, (_, index) => line(`l${index}`, { received: 1 })),
      ),
    );
  const named = Array.from({ length: 5 }, (_, index) => `l${index} (1 received, 0 there)`).join(", ");
  assert.equal(unsynced(5), `Not at the storefront: 5 lines, ${named}.`);
  assert.equal(unsynced(6), `Not at the storefront: 6 lines, ${named}, and 1 more.`);
});

test("the status after a confirmation follows from the lines", () => {
  const lines = [line("a"), line("b"), line("gone", { cancelled: 10 })];
  const table: [Status, Record<string, number>, Status][] = [
    ["Sent", { a: 10, b: 10 }, "Confirmed"],
    ["Sent", { a: 10, b: 4 }, "Confirmed"],
    ["Sent", { a: 0.001, b: 0.001 }, "Confirmed"],
    ["Sent", { a: 4 }, "Partially Confirmed"],
    ["Sent", { a: 10 }, "Partially Confirmed"],
    ["Sent", { a: 0 }, "Sent"],
    ["Partially Confirmed", { a: 0 }, "Sent"],
    ["Partially Confirmed", { a: 4, b: 4 }, "Confirmed"],
    ["Confirmed", { a: 4 }, "Partially Confirmed"],
    ["Confirmed", { a: 4, b: 0 }, "Partially Confirmed"],
    ["Confirmed", { a: 4, b: 4 }, "Confirmed"],
    ["Confirmed", { a: 0, b: 0 }, "Sent"],
    ["Confirmed", { a: 10, b: 10 }, "Confirmed"],
  ];
  for (const [from, totals, to] of table) {
    const decided = confirm(order(from, lines), totals);
    assert.equal(decided.next.status, to, `${from} ${JSON.stringify(totals)}`);
    assert.deepEqual(decided.status, { before: from, after: to, autoTransitioned: from !== to });
    if (from !== to) assert.equal(decided.next.previousStatus, from);
  }
});

test("the status follows from the lines also where no total changes (C24)", () => {
  const short = [line("a", { confirmed: 4 }), line("b", { confirmed: 10 })];
  for (const [from, lines, to] of [
    ["Sent", short, "Confirmed"],
    ["Partially Confirmed", short, "Confirmed"],
    ["Confirmed", [...short, line("added since")], "Partially Confirmed"],
    ["Confirmed", [line("a"), line("b")], "Sent"],
  ] as const) {
    const repeated = confirm(order(from, lines), { a: lines[0].quantityConfirmed / 1_000 });
    assert.equal(repeated.next.status, to);
    assert.deepEqual(repeated.updatedLineItemIds, []);
    assert.deepEqual(repeated.next.lineItems, lines);
  }
});

test("a line confirmed short brings what was confirmed, and the order goes on to Completed (C24, C29)", () => {
  const short = confirm(order("Sent", [line("a", { ordered: 48 })]), { a: 24 }).next;
  assert.equal(short.status, "Confirmed");
  assert.deepEqual(short.lineItems.map(lineItemStatus), ["Partially Confirmed"]);
  assert.equal(short.quantityPending, quantity(24));
  const begun = decideStatus(short, "In Progress", context()).next;
  assert.equal(begun.status, "In Progress");
  const received = receive(begun, { a: 24 }).next;
  assert.equal(received.status, "Received");
  assert.deepEqual(received.lineItems.map(lineItemStatus), ["Received"]);
  assert.match(refusal(() => receive(begun, { a: 25 })).message, /above the confirmed quantity, 24/);
  assert.equal(decideComplete(received, false, context()).next.status, "Completed");
});

test("confirmAll confirms every line that is not wholly cancelled and begins work from any confirmable status", () => {
  for (const from of ["Sent", "Partially Confirmed", "Confirmed"] as const) {
    const decided = confirm(order(from, [line("a", { confirmed: 3 }), line("gone", { cancelled: 10 })]), "all");
    assert.equal(decided.next.status, "In Progress");
    assert.deepEqual(decided.status, { before: from, after: "In Progress", autoTransitioned: true });
    assert.deepEqual(
      decided.next.lineItems.map((item) => item.quantityConfirmed),
      [quantity(10), quantity(0)],
    );
    assert.deepEqual(decided.updatedLineItemIds, ["a"]);
  }
});

test("in progress, repeating a confirmation changes nothing and changing it is refused", () => {
  const from = order("In Progress", [line("a", { confirmed: 10 })]);
  for (const decided of [confirm(from, "all"), confirm(from, { a: 10 })]) {
    assert.equal(decided.next, from);
    assert.deepEqual(decided.log, []);
  }
  assert.match(refusal(() => confirm(from, { a: 9 })).action ?? "", /back to Confirmed first/);
  assert.match(
    refusal(() => confirm(order("In Progress", [line("a")]), "all")).action ?? "",
    /back to Confirmed first/,
  );
});

test("a confirmation above the order, or below what is accounted for, is refused by name and changes nothing", () => {
  const from = order("Sent", [line("a"), line("b", { cancelled: 6 })]);
  assert.deepEqual(refusal(() => confirm(from, { a: 5, b: 10.001 })).details, [
    { path: "/lines/1/quantityConfirmed", message: "10.001 is above the ordered quantity, 10" },
  ]);
  assert.match(
    refusal(() => confirm(from, { b: 5 })).message,
    /below what is already received, rejected or cancelled, 6/,
  );
  assert.equal(confirm(from, { b: 6 }).next.status, "Partially Confirmed");
  const over = order("Confirmed", [line("a", { confirmed: 2, rejected: 3, cancelled: 3 })]);
  assert.equal(confirm(over, { a: 5 }).next.lineItems[0]?.quantityConfirmed, quantity(5));
  assert.equal(confirm(over, { a: 2 }).next, over);
  assert.equal(refusal(() => confirm(from, { a: 1, nowhere: 1 })).details?.length, 1);
  assert.match(refusal(() => confirm(from, { a: 1, nowhere: 1 })).message, /^\/lines\/1\/lineItemId: nowhere/);
});

test("a receipt leaves Received when nothing is pending on any line, else Partially Received", () => {
  const lines = [line("a", { confirmed: 8 }), line("b"), line("gone", { cancelled: 10 })];
  const table: [Status, Record<string, number | Totals>, Status][] = [
    ["In Progress", { a: 8, b: 10 }, "Received"],
    ["In Progress", { a: 8 }, "Partially Received"],
    ["In Progress", { a: { received: 0, rejected: 2 } }, "Partially Received"],
    ["In Progress", { a: { received: 6, rejected: 1, cancelled: 1 }, b: { received: 0, cancelled: 10 } }, "Received"],
    ["Partially Received", { a: 8, b: 10 }, "Received"],
    ["Received", { a: 1 }, "Partially Received"],
  ];
  for (const [from, totals, to] of table) {
    const decided = receive(order(from, lines), totals);
    assert.equal(decided.next.status, to, `${from} ${JSON.stringify(totals)}`);
    assert.deepEqual(decided.status, { before: from, after: to, autoTransitioned: from !== to });
  }
});

test("a receipt is an entry of the log, a receipt with deltas, and a push of the changed catalogue lines", () => {
  const from = order("In Progress", [
    line("a", { received: 2, synced: 2 }),
    line("b"),
    line("custom", { variantId: "CSTM-1" }),
    line("other"),
  ]);
  const decided = receive(from, { a: 5.5, b: { received: 0, rejected: 1 }, custom: 10 });
  assert.deepEqual(decided.receipts, [
    {
      source: "receive",
      reason: null,
      lines: [
        {
          poLineItemId: "a",
          variantId: "variant of a",
          quantityDelta: quantity(3.5),
          quantityReceivedAfter: quantity(5.5),
        },
        {
          poLineItemId: "custom",
          variantId: "CSTM-1",
          quantityDelta: quantity(10),
          quantityReceivedAfter: quantity(10),
        },
      ],
    },
  ]);
  assert.deepEqual(decided.log, [
    {
      action: "receive",
      message: "Received goods on 3 lines; moved from In Progress to Partially Received.",
      changes: [
        { field: "quantityReceived", poLineItemId: "a", before: 2, after: 5.5 },
        { field: "quantityRejected", poLineItemId: "b", before: 0, after: 1 },
        { field: "quantityReceived", poLineItemId: "custom", before: 0, after: 10 },
        { field: "status", poLineItemId: null, before: "In Progress", after: "Partially Received" },
      ],
    },
  ]);
  assert.deepEqual(pushes(decided), [push("a")]);
  assert.deepEqual(
    decided.effects.find((effect) => effect.kind === "mirror-incoming"),
    {
      kind: "mirror-incoming",
      locationId: "warehouse",
      variantIds: ["variant of a", "variant of b"],
    },
  );
  assert.equal(decided.stockSync, "queued");
  assert.equal(decided.next.storefrontSyncState, "in-flight");
  assert.deepEqual(decided.updatedLineItemIds, ["a", "b", "custom"]);
  assert.equal(decided.next.version, from.version + 1);
});

test("a receipt that changes no total moves nothing, pushes nothing and is not held to the cap again", () => {
  const from = order("Partially Received", [line("a", { received: 12, synced: 12 }), line("b", { received: 10 })]);
  const decided = receive(from, { a: 12, b: 10 });
  assert.equal(decided.next, from);
  assert.deepEqual([decided.log, decided.receipts, decided.effects], [[], [], []]);
  assert.equal(decided.stockSync, "skipped");
  assert.deepEqual(decided.status, {
    before: "Partially Received",
    after: "Partially Received",
    autoTransitioned: false,
  });
});

test("received + rejected + cancelled stay within what was confirmed, or ordered if never confirmed, unless over-receipt is allowed", () => {
  const from = order("In Progress", [line("a", { confirmed: 8 }), line("b")]);
  assert.deepEqual(refusal(() => receive(from, { b: 10, a: 8.001 })).details, [
    {
      path: "/lines/1/quantityReceived",
      message: "received + rejected + cancelled would be 8.001, above the confirmed quantity, 8",
    },
  ]);
  assert.match(
    refusal(() => receive(from, { b: { received: 9, rejected: 1, cancelled: 1 } })).message,
    /above the ordered quantity, 10/,
  );
  assert.equal(receive(from, { a: 8.001 }, { over: true }).next.lineItems[0]?.quantityReceived, quantity(8.001));
});

test("a total lowered below what is synced is refused, over-receipt or not; down to it is not", () => {
  const from = order("Received", [line("a", { received: 10, synced: 6 })]);
  const fault = refusal(() => receive(from, { a: 5.999 }, { over: true }));
  assert.match(fault.message, /already synced to the storefront, 6/);
  assert.match(fault.action ?? "", /unreceive/);
  assert.equal(receive(from, { a: 6 }).next.status, "Partially Received");
  const pushed = order("Partially Received", [line("a", { received: 4, synced: 6 })]);
  assert.equal(
    receive(pushed, { a: { received: 4, rejected: 1 } }).next.lineItems[0]?.quantityRejected,
    quantity(1),
    "a total that stays is not lowered",
  );
});

test("goods may come in while a negative push is on its way", () => {
  const decided = receive(order("Partially Received", [line("a", { received: 5, synced: 10 })]), { a: 7 });
  assert.deepEqual(pushes(decided), [push("a")]);
});

test("with auto-sync off nothing is pushed and the answer says so", () => {
  const off = context({ shop: shop({ autoSyncOnReceiving: false }) });
  const decided = receive(order("In Progress", [line("a")]), { a: 10 }, { facts: off });
  assert.deepEqual(pushes(decided), []);
  assert.equal(decided.stockSync, "disabled");
  assert.equal(decided.next.storefrontSyncState, "never-synced");
  const partly = receive(
    order("Partially Received", [line("a", { received: 4, synced: 4 })]),
    { a: 10 },
    { facts: off },
  );
  assert.equal(partly.next.storefrontSyncState, "partial");
  const back = unreceive(order("Received", [line("a", { received: 10, synced: 10 })]), { a: 1 }, off);
  assert.deepEqual([pushes(back), back.stockSync], [[], "disabled"]);
  const unsynced = unreceive(order("Received", [line("a", { received: 10, synced: 0 })]), { a: 1 }, off);
  assert.equal(unsynced.stockSync, "disabled", "also where nothing would have been pushed");
  const rejected = { lines: [{ lineItemId: "a", quantityReceived: quantity(4), quantityRejected: quantity(1) }] };
  const counted = decideReceive(
    order("Partially Received", [line("a", { received: 4, synced: 4 })]),
    { ...rejected, allowOverReceipt: false },
    off,
  );
  assert.equal(counted.stockSync, "disabled", "whichever total has changed");
});

test("with nothing to push after a push that failed, the lines that the storefront does not have are told", () => {
  const failed = order("Received", [line("a", { received: 10, synced: 2 }), line("b", { received: 3, synced: 3 })]);
  const back = unreceive(failed, { a: 4 });
  assert.deepEqual([pushes(back), back.stockSync], [[], "failed"]);
  assert.equal(unsyncedText(back.next), "Not at the storefront: 1 line, a (6 received, 2 there).");
  assert.equal(unreceive(failed, { a: 8 }).stockSync, "skipped", "it has all of what is left");
  const other = receive(order("In Progress", [...failed.lineItems, line("c", { variantId: "CSTM-1" })]), { c: 1 });
  assert.equal(other.stockSync, "skipped", "the call was not about that line");
});

test("a corrected total that the storefront does not have yet is pushed, whichever way it was corrected", () => {
  const from = order("Received", [line("a", { received: 10, synced: 2 })]);
  assert.deepEqual(pushes(receive(from, { a: 6 })), [push("a")]);
});

test("a skipped variant is recorded and the storefront hears nothing of it", () => {
  const facts = context({ shop: shop({ onOrderTag: "on order" }), skippedVariantIds: new Set(["variant of a"]) });
  const both = receive(order("In Progress", [line("a"), line("b")]), { a: 10, b: 10 }, { facts });
  assert.equal(both.next.status, "Received");
  assert.deepEqual(both.effects, [
    push("b"),
    { kind: "mirror-incoming", locationId: "warehouse", variantIds: ["variant of b"] },
    { kind: "sync-tags", variantIds: ["variant of b"] },
  ]);
  const alone = receive(order("In Progress", [line("a")]), { a: 10 }, { facts });
  assert.deepEqual([alone.effects, alone.stockSync], [[], "skipped"]);
  assert.equal(alone.next.storefrontSyncState, "never-synced");
});

test("taking goods back is a delta that decides the status and pushes what falls below synced", () => {
  const lines = [line("a", { received: 10, synced: 6 }), line("b", { received: 10, synced: 10 })];
  const table: [Record<string, number>, Status, string[]][] = [
    [{ a: 4 }, "Partially Received", []],
    [{ a: 5 }, "Partially Received", ["a"]],
    [{ a: 10, b: 10 }, "In Progress", ["a", "b"]],
  ];
  for (const [amounts, to, pushed] of table) {
    const decided = unreceive(order("Received", lines), amounts);
    assert.equal(decided.next.status, to);
    assert.deepEqual(pushes(decided), pushed.length === 0 ? [] : [push(...pushed)]);
    assert.equal(decided.stockSync, pushed.length === 0 ? "skipped" : "queued");
    assert.equal(decided.receipts[0]?.source, "unreceive");
    assert.equal(decided.receipts[0]?.reason, "damaged");
  }
  const once = unreceive(order("Received", lines), { b: 4 });
  const twice = unreceive(once.next, { b: 4 });
  assert.equal(twice.next.lineItems[1]?.quantityReceived, quantity(2));
  assert.match(twice.log[0]?.message ?? "", /^Took goods back on 1 line \(damaged\)\.$/);
  assert.match(refusal(() => unreceive(twice.next, { b: 2.001 })).message, /more than was received, 2/);
});

test("over-received goods taken back to the expected leave the order Received", () => {
  const decided = unreceive(order("Received", [line("a", { received: 12 })]), { a: 2 });
  assert.equal(decided.next.status, "Received");
});

test("completing leaves outstanding quantities on the lines and takes them off what is incoming", () => {
  const from = order("Partially Received", [line("a", { received: 4 })]);
  const decided = decideComplete(from, true, context());
  assert.equal(decided.next.status, "Completed");
  assert.equal(decided.next.previousStatus, "Partially Received");
  assert.deepEqual(decided.next.lineItems, from.lineItems);
  assert.deepEqual(decided.effects, [
    { kind: "settle-costs", purchaseOrderId: "po_1" },
    { kind: "mirror-incoming", locationId: "warehouse", variantIds: ["variant of a"] },
  ]);
  assert.deepEqual(decideComplete(from, false, context()).effects.length, 1);
  assert.match(
    refusal(() => decideComplete(order("In Progress", []), false, context())).action ?? "",
    /purchase_order_receive.*purchase_order_quick_complete/,
  );
});

test("a completion is an entry of the log, moves no line and no stock", () => {
  const from = order("Received", [line("a", { received: 10 })]);
  const working = { ...from, status: "In Progress" } as const;
  for (const [action, decided] of [
    ["complete", decideComplete(from, false, context())],
    ["quick-complete", decideQuickComplete(working, false, context())],
  ] as const) {
    const { before } = decided.status;
    assert.deepEqual(decided.log, [
      {
        action,
        message: `Completed from ${before}.`,
        changes: [{ field: "status", poLineItemId: null, before, after: "Completed" }],
      },
    ]);
    assert.deepEqual(decided.status, { before, after: "Completed", autoTransitioned: action === "quick-complete" });
    assert.deepEqual([decided.updatedLineItemIds, decided.stockSync], [[], "skipped"]);
  }
});

test("a quick receipt is an entry of the log of its own, and the order stays where it is", () => {
  const decided = decideQuickReceive(order("In Progress", [line("a", { confirmed: 8 })]), context());
  assert.deepEqual(decided.log, [
    {
      action: "quick-complete",
      message: "Received everything outstanding on 1 line.",
      changes: [{ field: "quantityReceived", poLineItemId: "a", before: 0, after: 8 }],
    },
  ]);
});

test("quick receiving takes what was confirmed and is outstanding, and stays In Progress so that it can be repeated", () => {
  const from = order("In Progress", [
    line("a", { confirmed: 8, received: 1, rejected: 2 }),
    line("never confirmed"),
    line("custom", { variantId: "CSTM-1", confirmed: 10 }),
  ]);
  const decided = decideQuickReceive(from, context());
  assert.deepEqual(
    decided.next.lineItems.map((item) => item.quantityReceived),
    [quantity(6), quantity(0), quantity(10)],
  );
  assert.equal(decided.next.status, "In Progress");
  assert.deepEqual(decided.updatedLineItemIds, ["a", "custom"]);
  assert.deepEqual(pushes(decided), [push("a")]);
  assert.equal(decided.receipts[0]?.source, "quick-complete");
  const again = decideQuickReceive(decided.next, context());
  assert.deepEqual([again.next.lineItems, again.receipts], [decided.next.lineItems, []]);
  assert.deepEqual(pushes(again), [push("a")]);
  const synced = order("In Progress", [line("a", { confirmed: 8, received: 6, rejected: 2, synced: 6 })]);
  assert.equal(decideQuickReceive(synced, context()).next, synced);
  assert.deepEqual(decideQuickComplete(again.next, false, context()).status, {
    before: "In Progress",
    after: "Completed",
    autoTransitioned: true,
  });
});

test("without a confirmed quantity there is nothing to receive quickly", () => {
  assert.equal(
    refusal(() => decideQuickReceive(order("In Progress", [line("a")]), context()), "NOTHING_TO_RECEIVE").status,
    409,
  );
});

test("a quick receipt is pushed even with auto-sync off, but not for a skipped variant", () => {
  const facts = context({
    shop: shop({ autoSyncOnReceiving: false }),
    skippedVariantIds: new Set(["variant of skipped"]),
  });
  const from = order("In Progress", [line("a", { confirmed: 8 }), line("skipped", { confirmed: 8 })]);
  const decided = decideQuickReceive(from, facts);
  assert.deepEqual(pushes(decided), [push("a")]);
  assert.deepEqual(decided.updatedLineItemIds, ["a", "skipped"]);
});

test("a sync pushes every line that needs it and says of the others why not", () => {
  const from = order("Received", [
    line("due", { received: 5, synced: 2 }),
    line("in step", { received: 5, synced: 5 }),
    line("nothing"),
    line("custom", { variantId: "CSTM-1", received: 5 }),
    line("skipped", { received: 5 }),
  ]);
  const facts = context({ skippedVariantIds: new Set(["variant of skipped"]) });
  const all = decideStorefrontSync(from, null, facts);
  assert.deepEqual(all.effects, [push("due")]);
  assert.deepEqual(all.pushedLineItemIds, ["due"]);
  assert.deepEqual(
    all.skipped.map(({ line, reason }) => [line.poLineItemId, reason]),
    [
      ["in step", "already-synced"],
      ["nothing", "nothing-received"],
      ["custom", "custom-item"],
      ["skipped", "guard-skipped"],
    ],
  );
  assert.equal(all.next.storefrontSyncState, "in-flight");
  const none = decideStorefrontSync(from, ["in step"], facts);
  assert.equal(none.next, from);
  assert.deepEqual([none.effects, none.pushedLineItemIds], [[], []]);
  assert.match(refusal(() => decideStorefrontSync(from, ["due", "gone"], facts)).message, /^\/lineItemIds\/1: gone/);
  const nowhere = decideStorefrontSync({ ...from, locationId: null }, ["due"], facts);
  assert.equal(nowhere.skipped[0]?.reason, "no-location");
});

test("a reset forgets failed attempts, never what is synced, and repeating it changes nothing", () => {
  const failed = order("Received", [line("a", { received: 5 })], { storefrontSyncState: "failed" });
  const decided = decideSyncReset(failed, context());
  assert.equal(decided.next.storefrontSyncState, "never-synced");
  assert.deepEqual(decided.next.lineItems, failed.lineItems);
  assert.deepEqual(decided.effects, []);
  assert.equal(decideSyncReset(decided.next, context()).next, decided.next);
  for (const status of statuses) assert.equal(decideSyncReset({ ...failed, status }, context()).next.status, status);
});
