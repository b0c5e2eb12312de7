import assert from "node:assert/strict";
import { test } from "node:test";
import { decideComplete, decideQuickComplete, decideQuickReceive } from "../../src/core/goods/complete.ts";
import { decideConfirm } from "../../src/core/goods/confirm.ts";
import { decideCreate, decideDeleteLines, decideEditLines, decideHeader } from "../../src/core/order/edit.ts";
import {
  deletedEvent,
  type EventDraft,
  eventBytesMax,
  eventContent,
  eventOf,
  eventText,
  eventTypes,
  lineEvent,
  typesNamed,
} from "../../src/core/events/events.ts";
import { decideReceive, decideUnreceive } from "../../src/core/goods/receive.ts";
import type { Decision, PurchaseOrder } from "../../src/core/order/purchase-order.ts";
import { decideStatus } from "../../src/core/order/status-move.ts";
import { pushRecorded } from "../../src/core/storefront/stock-push.ts";
import { decideSyncReset, pushDecision } from "../../src/core/storefront/sync.ts";
import { context, line, order, quantity } from "../support/goods.ts";

const facts = { supplier: null, locationName: null };

const one = line("a", { ordered: 10, confirmed: 10, variantId: "red" });

const eventFor = (before: PurchaseOrder | null, decided: Decision): EventDraft | null => eventOf(before, decided, null);

/** Type, status before and after, and the lines with what changed of each. */
function told(event: EventDraft | null): string {
  if (event === null) return "nothing";
  const { status, lines } = JSON.parse(JSON.stringify(event.data));
  const each = lines.map(
    (shown: Record<string, unknown>) =>
      ` ${String(shown["poLineItemId"])}${String(shown["quantityDelta"])}/${String(shown["quantityPending"])}`,
  );
  return `${event.type} ${status.from}>${status.to}${each.join("")}`;
}

const moving = (from: PurchaseOrder["status"], to: string, previous?: PurchaseOrder["status"]) => {
  const before = order(from, [one], previous === undefined ? {} : { previousStatus: previous });
  return told(eventFor(before, decideStatus(before, to, context())));
};

test("every move has one type, and a move back is told as one", () => {
  const moves = [
    ["Draft", "Sent", "sent"],
    ["Sent", "Draft", "moved_back"],
    ["Confirmed", "Sent", "moved_back"],
    ["Confirmed", "In Progress", "in_progress"],
    ["In Progress", "Confirmed", "moved_back"],
    ["Received", "In Progress", "moved_back"],
    ["Completed", "Received", "reopened"],
    ["Completed", "In Progress", "reopened"],
    ["Sent", "Cancelled", "cancelled"],
    ["In Progress", "On Hold", "on_hold"],
    ["Received", "Disputed", "disputed"],
  ] as const;
  for (const [from, to, type] of moves) assert.equal(moving(from, to), `purchase_order.${type} ${from}>${to}`);
  for (const held of ["Cancelled", "On Hold", "Disputed"] as const)
    assert.equal(moving(held, "Sent", "Sent"), `purchase_order.resumed ${held}>Sent`);
});

test("quantities are told with what this change did to them, whether or not the order moves", () => {
  const after = (before: PurchaseOrder, decided: Decision) => told(eventFor(before, decided));
  const two = [line("a", { ordered: 10 }), line("b", { ordered: 5 })];
  const confirm = (before: PurchaseOrder, quantityConfirmed: number, lineItemId = "a") =>
    after(
      before,
      decideConfirm(before, { lines: [{ lineItemId, quantityConfirmed: quantity(quantityConfirmed) }] }, context()),
    );
  assert.equal(confirm(order("Sent", two), 4), "purchase_order.partially_confirmed Sent>Partially Confirmed a4/4");
  const half = [line("a", { ordered: 10, confirmed: 4 }), line("b", { ordered: 5 })];
  assert.equal(
    confirm(order("Partially Confirmed", half), 6),
    "purchase_order.partially_confirmed Partially Confirmed>Partially Confirmed a2/6",
  );
  assert.equal(
    confirm(order("Partially Confirmed", half), 5, "b"),
    "purchase_order.confirmed Partially Confirmed>Confirmed b5/5",
  );
  assert.equal(confirm(order("Confirmed", [one]), 0), "purchase_order.moved_back Confirmed>Sent a-10/10");
  assert.equal(confirm(order("Confirmed", [one]), 7), "purchase_order.confirmed Confirmed>Confirmed a-3/7");
  assert.equal(confirm(order("Confirmed", [one]), 10), "nothing");
  const sent = order("Sent", two);
  assert.equal(
    after(sent, decideConfirm(sent, { confirmAll: true }, context())),
    "purchase_order.in_progress Sent>In Progress a10/10 b5/5",
  );

  const receive = (before: PurchaseOrder, total: number) =>
    after(
      before,
      decideReceive(
        before,
        { lines: [{ lineItemId: "a", quantityReceived: quantity(total) }], allowOverReceipt: true },
        context(),
      ),
    );
  const working = order("In Progress", [one]);
  assert.equal(receive(working, 6), "purchase_order.partially_received In Progress>Partially Received a6/4");
  assert.equal(receive(working, 10), "purchase_order.received In Progress>Received a10/0");
  const partly = order("Partially Received", [line("a", { ordered: 10, confirmed: 10, received: 6 })]);
  assert.equal(receive(partly, 8), "purchase_order.partially_received Partially Received>Partially Received a2/2");
  assert.equal(receive(partly, 6), "nothing");
  const received = order("Received", [line("a", { ordered: 10, confirmed: 10, received: 10 })]);
  assert.equal(receive(received, 12), "purchase_order.received Received>Received a2/0");
  const back = { lines: [{ lineItemId: "a", quantity: quantity(4) }], reason: null };
  assert.equal(
    after(received, decideUnreceive(received, back, context())),
    "purchase_order.unreceived Received>Partially Received a-4/4",
  );
  assert.equal(
    after(received, decideComplete(received, false, context())),
    "purchase_order.completed Received>Completed",
  );
});

test("quick-complete is one received, where the order stays, and one completed", () => {
  const working = order("In Progress", [one]);
  const got = decideQuickReceive(working, context());
  assert.equal(told(eventFor(working, got)), "purchase_order.received In Progress>In Progress a10/0");
  const again = decideQuickReceive(got.next, context());
  assert.equal(told(eventFor(got.next, again)), "nothing");
  const done = decideQuickComplete(got.next, false, context());
  assert.equal(told(eventFor(got.next, done)), "purchase_order.completed In Progress>Completed");
});

test("orders that are new, edited and deleted", () => {
  const created = decideCreate(
    { purchaseOrderId: "po_1", poNumber: "PO-1001", createdBy: null, header: {}, lineItems: [] },
    facts,
    context(),
  );
  assert.equal(told(eventFor(null, created)), "purchase_order.created null>Draft");
  const draft = order("Draft", [one, line("b", { ordered: 2.5 })]);
  const header = { ...facts, change: null };
  assert.equal(
    told(eventFor(draft, decideHeader(draft, { note: "soon" }, header, context()))),
    "purchase_order.updated Draft>Draft",
  );
  assert.equal(told(eventFor(draft, decideHeader(draft, { note: null }, header, context()))), "nothing");
  const edit = [{ lineItemId: "a", quantityOrdered: quantity(12.5) }];
  assert.equal(
    told(eventFor(draft, decideEditLines(draft, edit, context()))),
    "purchase_order.lines_changed Draft>Draft a2.5/10",
  );
  assert.equal(
    told(eventFor(draft, decideDeleteLines(draft, ["b"], context()))),
    "purchase_order.lines_changed Draft>Draft b-2.5/0",
  );
  const gone = deletedEvent(draft);
  assert.equal(told(gone), "purchase_order.deleted Draft>null a-10/0 b-2.5/0");
  assert.equal(JSON.parse(JSON.stringify(gone.data)).url, null);
});

test("a push is told once the storefront shows it, or when it is given up; asking for one is not told", () => {
  const unsynced = order("Received", [line("a", { ordered: 10, confirmed: 10, received: 10 })], {
    storefrontSyncState: "in-flight",
  });
  const landed = [
    {
      variantId: "variant of a",
      locationId: "warehouse",
      delta: quantity(10),
      lines: [{ poLineItemId: "a", delta: quantity(10) }],
    },
  ];
  const outcome = (report: Parameters<typeof pushRecorded>[1]) =>
    told(eventFor(unsynced, pushRecorded(unsynced, report, 0)));
  assert.equal(
    outcome({ landed, shown: true, problem: null, inFlight: false }),
    "storefront_sync.verified Received>Received a10/0",
  );
  assert.equal(outcome({ landed, shown: false, problem: null, inFlight: false }), "nothing");
  assert.equal(
    outcome({ landed: [], problem: "refused.", inFlight: false }),
    "storefront_sync.failed Received>Received a0/0",
  );
  assert.equal(told(eventFor(unsynced, pushDecision(unsynced, ["a"], context()))), "nothing");
  const failed = { ...unsynced, storefrontSyncState: "failed" as const };
  assert.equal(told(eventFor(failed, decideSyncReset(failed, context()))), "purchase_order.updated Received>Received");
  assert.equal(
    told(lineEvent("cost_sync.failed", unsynced, new Set(["a"]))),
    "cost_sync.failed Received>Received a0/0",
  );
});

const caller = { shopId: "shop", actor: { type: "user", id: null, name: "Ada" }, requestId: "req_1" };

test("an event has at most 100 lines and 20,480 bytes, and says when lines are missing", () => {
  const many = (count: number, id: string) =>
    deletedEvent(
      order(
        "Draft",
        Array.from({ length: count }, (_, index) => line(`${id}${index}`)),
      ),
    );
  const shown = (event: EventDraft) => {
    const head = { eventId: "evt_1", type: event.type, occurredAtMs: 0 };
    const text = eventText(head, Number.MAX_SAFE_INTEGER, eventContent(caller, event));
    return { bytes: Buffer.byteLength(text), ...JSON.parse(text) };
  };
  const hundred = shown(many(100, ""));
  assert.deepEqual([hundred.data.lines.length, hundred.data.linesTruncated], [100, false]);
  const more = shown(many(101, ""));
  assert.deepEqual([more.data.lines.length, more.data.linesTruncated], [100, true]);
  const wide = shown(many(100, "ü".repeat(190)));
  assert.ok(wide.bytes <= eventBytesMax && wide.bytes > eventBytesMax - 1_500, String(wide.bytes));
  assert.equal(wide.data.linesTruncated, true);
});

test("an event names who, when and where, with its members in the order of the contract", () => {
  const before = order("Draft", [one], { purchaseOrderId: "a/b" });
  const event = eventOf(before, decideStatus(before, "Sent", context()), "rcpt_1");
  assert.ok(event !== null);
  const text = eventText({ eventId: "evt_1", type: event.type, occurredAtMs: 1_000 }, 7, eventContent(caller, event));
  assert.deepEqual(JSON.parse(text), {
    eventId: "evt_1",
    sequence: 7,
    type: "purchase_order.sent",
    timestamp: "1970-01-01T00:00:01.000Z",
    shopId: "shop",
    actor: { type: "user", id: null, name: "Ada" },
    requestId: "req_1",
    data: {
      purchaseOrderId: "a/b",
      poNumber: "PO-1001",
      supplierId: "supplier",
      locationId: "warehouse",
      version: 2,
      status: { from: "Draft", to: "Sent" },
      lines: [],
      linesTruncated: false,
      receiptId: "rcpt_1",
      url: "/api/v1/purchase-orders/a%2Fb",
    },
  });
});

test("patterns name types: one, a group, all", () => {
  assert.deepEqual(typesNamed(["storefront_sync.*", "test.ping"]), [
    "storefront_sync.failed",
    "storefront_sync.verified",
    "test.ping",
  ]);
  assert.deepEqual(typesNamed(["*"]), [...eventTypes]);
});
