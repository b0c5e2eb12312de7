/** What an agent is told to do next with an order, status by status (C69). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { nextStepOf, unmailedStep } from "../../../src/core/order/advice/next-step.ts";
import { type Status, statuses } from "../../../src/core/order/purchase-order.ts";

type Facts = Parameters<typeof nextStepOf>[0];

const order: Facts = {
  purchaseOrderId: "po",
  status: "Draft",
  previousStatus: "Confirmed",
  locationId: "l",
  itemCount: 2,
  isConfirmedInPart: false,
  isPending: true,
  isUnsynced: false,
  storefrontSyncState: "partial",
  isMailedOnSent: false,
};

const stepFrom = (status: Status, facts: Partial<Facts> = {}): readonly unknown[] => {
  const step = nextStepOf({ ...order, status, ...facts });
  return [step.tool.replace("purchase_order_", ""), step.arguments["status"]];
};

/** What follows where nothing is left to do with the order. */
const elsewhere = ["orders_needing_attention", undefined];

test("each status has its next step, with what it moves to", () => {
  const table: Readonly<Record<Status, readonly unknown[]>> = {
    Draft: ["status", "Sent"],
    Sent: ["confirm", undefined],
    "Partially Confirmed": ["confirm", undefined],
    Confirmed: ["status", "In Progress"],
    "In Progress": ["receive", undefined],
    "Partially Received": ["receive", undefined],
    Received: ["complete", undefined],
    Completed: elsewhere,
    Cancelled: elsewhere,
    "On Hold": ["status", "Confirmed"],
    Disputed: ["status", "Confirmed"],
  };
  for (const status of statuses) assert.deepEqual(stepFrom(status), table[status], status);
});

test("a draft first needs lines and a location; goods first go to the storefront; what will not come is no reason to wait", () => {
  assert.deepEqual(stepFrom("Draft", { itemCount: 0, locationId: null }), ["line_item_add", undefined]);
  assert.deepEqual(stepFrom("Draft", { locationId: null }), ["update", undefined]);
  for (const status of ["Partially Received", "Received"] as const) {
    assert.deepEqual(stepFrom(status, { isUnsynced: true }), ["storefront_sync", undefined], status);
    const onItsWay = { isUnsynced: true, storefrontSyncState: "in-flight" } as const;
    assert.deepEqual(stepFrom(status, onItsWay), ["get", undefined], status);
  }
  assert.deepEqual(stepFrom("Partially Received", { isPending: false }), ["complete", undefined]);
});

test("where a line may be confirmed short, confirming everything is not proposed", () => {
  assert.doesNotMatch(nextStepOf({ ...order, status: "Partially Confirmed" }).advice, /confirmAll/);
  assert.match(nextStepOf({ ...order, status: "Sent" }).advice, /confirmAll/);
  const kept = nextStepOf({ ...order, status: "Sent", isConfirmedInPart: true });
  assert.doesNotMatch(kept.advice, /confirmAll/, "moved back from Confirmed, quantities are kept");
});

test("a completed order whose sync failed is reopened to where it was; other completed ones need nothing", () => {
  const failed = { storefrontSyncState: "failed", isUnsynced: true, previousStatus: "Partially Received" } as const;
  assert.deepEqual(stepFrom("Completed", failed), ["status", "Partially Received"]);
  assert.deepEqual(stepFrom("Completed", { ...failed, storefrontSyncState: "in-flight" }), elsewhere);
  const [short, whole] = [true, false].map(
    (isPending) => nextStepOf({ ...order, status: "Completed", isPending }).advice,
  );
  assert.match(short ?? "", /pending is expected no more/);
  assert.doesNotMatch(whole ?? "pending", /pending/);
});

test("whether Sent mails the supplier is said as it is in the shop, before the move and after it (C70)", () => {
  const stepTo = (status: Status, isMailedOnSent: boolean) => nextStepOf({ ...order, status, isMailedOnSent });
  assert.match(stepTo("Draft", false).advice, /mails nothing/);
  assert.match(stepTo("Draft", true).advice, /mails it to the supplier: ask first/);
  const sent = stepTo("Sent", false);
  assert.doesNotMatch(sent.advice, /mailed/, "sent long ago");
  const unmailed = unmailedStep(sent);
  assert.match(unmailed.advice, /^Nothing was mailed: a person still has to give the order to the supplier\. When/);
  assert.deepEqual(unmailed.arguments, sent.arguments);
});
