/** Which histories of requests the judge takes, and which it does not (history.ts). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type CallerKind, noApprovals } from "./approvals.ts";
import type { Attempt } from "./client.ts";
import type { Deed, OrderSeen } from "./deeds.ts";
import { type EventTold, judgeHistory } from "./history.ts";
import { named } from "./load.ts";

/** A history of one shop, written down moment by moment. */
class Story {
  readonly attempts: Attempt[] = [];
  readonly events: EventTold[] = [];
  #moment = 0;

  /** Sends a request; what it returns is answered later, or never. */
  send(deed: Deed, idempotencyKey: string | null = null, had: OrderSeen | null = null, keyId = ""): Attempt {
    this.#moment += 1;
    const sent: Attempt = {
      requestId: `req_${this.#moment}`,
      chain: idempotencyKey === null ? this.#moment : 0,
      clashes: false,
      shopId: "shop",
      keyId,
      idempotencyKey,
      deed,
      sentAt: this.#moment,
      answeredAt: Number.POSITIVE_INFINITY,
      sentMs: 0,
      answeredMs: 0,
      reply: null,
      had: had === null ? null : { order: had, etag: null },
      ifVersion: null,
    };
    this.attempts.push(sent);
    return sent;
  }

  answer(asked: Attempt, status: number, told: object, headers: Readonly<Record<string, string>> = {}): void {
    this.#moment += 1;
    asked.answeredAt = this.#moment;
    asked.reply = { status, headers, body: JSON.stringify(told), errorCode: null };
  }

  /** The event of a request's change. */
  commit({ requestId }: Attempt, type: string, version: number, from: string | null, to: string | null): void {
    this.events.push({
      sequence: this.events.length + 1,
      eventId: `evt_${this.events.length}`,
      type: `purchase_order.${type}`,
      requestId,
      data: {
        purchaseOrderId: "po_1",
        poNumber: "PO-1001",
        version,
        status: { from, to },
        lines:
          type === "created"
            ? [
                {
                  poLineItemId: "pol_1",
                  variantId: "red",
                  quantityDelta: 0,
                  quantityReceived: 0,
                  quantityPending: 10,
                },
              ]
            : [],
      },
    });
  }

  /** The event of what becomes of the one request for a decision. */
  tell({ requestId }: Attempt, type: "requested" | "decided", status: string): void {
    const data = { approvalRequestId: "apr_1", purchaseOrderId: "po_1", status };
    const sequence = this.events.length + 1;
    const timestamp = new Date(sequence).toISOString();
    const event = { sequence, eventId: `evt_${sequence}`, type: `approval.${type}`, timestamp, requestId, data };
    const told: EventTold = JSON.parse(JSON.stringify(event));
    this.events.push(told);
  }

  /** An order that was made and whose answer has come. */
  made(): this {
    const asked = this.send(create);
    this.commit(asked, "created", 1, null, "Draft");
    this.answer(asked, 201, shows(1, "Draft", "Draft"));
    return this;
  }

  findings(mayHoldKey: (attempt: Attempt) => boolean = () => false): readonly string[] {
    const kindOf = (keyId: string): CallerKind =>
      keyId === "agent" ? "propose" : keyId === "anna" ? "person" : "write";
    const approvals = { ...noApprovals, kindOf };
    return judgeHistory({ shopId: "shop", attempts: this.attempts, events: this.events, approvals, mayHoldKey })
      .findings;
  }
}

const create: Deed = { op: "create", located: true, lines: [{ variantId: "red", ordered: 10, unitCost: 1 }] };
const move = (to: string): Deed => ({ op: "status", orderId: "po_1", to });
const read: Deed = { op: "read", orderId: "po_1" };

const orderSeen = (version: number, status: string, previousStatus: string): OrderSeen => ({
  purchaseOrderId: "po_1",
  poNumber: "PO-1001",
  poName: null,
  status,
  previousStatus,
  version,
  storefrontSyncState: "not-synced",
  grandTotal: 10,
  lineItems: [
    {
      poLineItemId: "pol_1",
      variantId: "red",
      quantityOrdered: 10,
      quantityConfirmed: 0,
      quantityReceived: 0,
      quantityRejected: 0,
      quantityCancelled: 0,
      quantityPending: 10,
      quantitySynced: 0,
    },
  ],
});

const shows = (version: number, status: string, previousStatus: string) => ({
  data: { purchaseOrder: orderSeen(version, status, previousStatus) },
});

const refusal = (code: string) => ({ error: { code, message: "not so", retryable: false } });

/** An order that was made, then sent. */
function sentOrder(): Story {
  const story = new Story().made();
  const sent = story.send(move("Sent"));
  story.commit(sent, "sent", 2, "Draft", "Sent");
  story.answer(sent, 200, shows(2, "Sent", "Draft"));
  return story;
}

test("requests one after another, and a read beside a change with either answer, are linearizable", () => {
  for (const [version, status, previous] of [
    [1, "Draft", "Draft"],
    [2, "Sent", "Draft"],
  ] as const) {
    const story = new Story().made();
    const sent = story.send(move("Sent"));
    const beside = story.send(read);
    story.commit(sent, "sent", 2, "Draft", "Sent");
    story.answer(sent, 200, shows(2, "Sent", "Draft"));
    story.answer(beside, 200, shows(version, status, previous));
    assert.deepEqual(story.findings(), []);
  }
});

test("a read that shows less than what was acknowledged before it was sent is found, by its 304 too", () => {
  const story = sentOrder();
  story.answer(story.send(read), 200, shows(1, "Draft", "Draft"));
  assert.match(story.findings().join(), /no state after event 2 is what it shows/);
  const unchanged = sentOrder();
  unchanged.answer(unchanged.send(read, null, orderSeen(1, "Draft", "Draft")), 304, {});
  assert.match(unchanged.findings().join(), /no state after event 2 is what it shows/);
});

test("two reads that show a change and then its lack are found, though the change was not acknowledged", () => {
  const story = new Story().made();
  const lost = story.send(move("Sent"));
  story.commit(lost, "sent", 2, "Draft", "Sent");
  story.answer(story.send(read), 200, shows(2, "Sent", "Draft"));
  assert.deepEqual(story.findings(), []);
  story.answer(story.send(read), 200, shows(1, "Draft", "Draft"));
  assert.equal(story.findings().length > 0, true);
});

test("an order of changes that real time contradicts is found", () => {
  const story = new Story().made();
  const [first, second] = [{ op: "rename", orderId: "po_1", name: "a" } as const, move("Sent")];
  const renamed = story.send(first);
  story.answer(renamed, 200, {});
  const sent = story.send(second);
  story.answer(sent, 200, {});
  story.commit(sent, "sent", 2, "Draft", "Sent");
  story.commit(renamed, "updated", 3, "Sent", "Sent");
  assert.match(story.findings().join(), /it is event 2, and event 3 was told before it was sent/);
});

test("a change that was acknowledged without an event, and one that was refused with one, are found", () => {
  const story = new Story().made();
  story.answer(story.send(move("Sent")), 200, shows(2, "Sent", "Draft"));
  assert.match(story.findings().join(), /no state after event 1/);
  const refused = new Story().made();
  const sent = refused.send(move("Sent"));
  refused.commit(sent, "sent", 2, "Draft", "Sent");
  refused.answer(sent, 400, refusal("INVALID_STATE"));
  assert.match(refused.findings().join(), /it was refused, and has had an effect/);
});

test("a request without an answer may have had its effect or not, but not before it was sent", () => {
  const story = new Story().made();
  story.send(move("Sent"));
  assert.deepEqual(story.findings(), []);
  const early = new Story().made();
  early.answer(early.send({ op: "rename", orderId: "po_1", name: "a" }), 200, {});
  const renamed = early.attempts.at(-1);
  assert.ok(renamed !== undefined);
  const lost = early.send(move("Sent"));
  early.commit(lost, "sent", 2, "Draft", "Sent");
  early.commit(renamed, "updated", 3, "Sent", "Sent");
  assert.match(early.findings().join(), /event 3 was told before it was sent/);
});

test("a refusal that the model does not give in any state of that time is found", () => {
  const story = sentOrder();
  story.answer(story.send(move("Sent")), 400, refusal("INVALID_STATE"));
  assert.deepEqual(story.findings(), []);
  story.answer(story.send(move("On Hold")), 400, refusal("INVALID_STATE"));
  assert.match(story.findings().join(), /the model does not refuse it/);
});

test("two effects, and two answers, under one idempotency key are found", () => {
  const story = new Story().made();
  for (const [version, name] of [
    [2, "updated"],
    [3, "updated"],
  ] as const) {
    const asked = story.send({ op: "rename", orderId: "po_1", name: `name ${version}` }, "key");
    story.commit(asked, name, version, "Draft", "Draft");
    story.answer(asked, 200, { version });
  }
  assert.match(story.findings().join(), /have each had an effect.*it has got 2 answers.*2 answers are no replays/);
});

test("a list that lacks an order, or has an old row of one, is found", () => {
  const story = sentOrder();
  const lists = (rows: readonly OrderSeen[]) => ({
    data: { purchaseOrders: rows, totalCount: rows.length },
  });
  story.answer(story.send({ op: "list" }), 200, lists([orderSeen(2, "Sent", "Draft")]));
  assert.deepEqual(story.findings(), []);
  story.answer(story.send({ op: "list" }), 200, lists([]));
  story.answer(story.send({ op: "list" }), 200, lists([orderSeen(1, "Draft", "Draft")]));
  assert.equal(story.findings().length, 2, story.findings().join("\n"));
});

test("changes that the model would not make are found", () => {
  const story = new Story().made();
  const asked = story.send(move("Received"));
  story.commit(asked, "received", 2, "Draft", "Received");
  assert.match(story.findings().join(), /the model refuses it, since not a listed move/);
});

test("a quick-complete that was lost after its first change is known by the event of that, and nothing else is", () => {
  const story = sentOrder();
  const completes: Deed = { op: "quick-complete", orderId: "po_1" };
  const known = story.send(completes);
  const other = story.send({ op: "quick-complete", orderId: "po_2" });
  const begun = story.send(completes);
  const never = story.send(completes);
  const { attempts } = story;
  const event = { sequence: 3, eventId: "evt_3", type: "purchase_order.received", requestId: "req_of_event" };
  const data = {
    purchaseOrderId: "po_1",
    poNumber: "PO-1001",
    version: 3,
    status: { from: null, to: null },
    lines: [],
  };
  const idsOf = (...events: Parameters<typeof named>[2]) =>
    named(attempts, (each) => (each === known ? "req_known" : undefined), events)
      .slice(-4)
      .map(({ requestId }) => requestId);
  const without = ["req_known", other.requestId, begun.requestId, never.requestId];
  assert.deepEqual(idsOf(), without);
  assert.deepEqual(idsOf({ ...event, data }, { ...event, data }), [
    "req_known",
    other.requestId,
    "req_of_event",
    never.requestId,
  ]);
  assert.deepEqual(idsOf({ ...event, requestId: "req_known", data }), without);
  assert.deepEqual(idsOf({ ...event, type: "purchase_order.confirmed", data }), without);
});

test("a write that asks nothing of the storefront, and is refused for it, is found", () => {
  const story = sentOrder();
  story.answer(story.send({ op: "confirm", orderId: "po_1", totals: "all" }), 502, refusal("UPSTREAM_STOREFRONT"));
  assert.deepEqual(story.findings(), []);
  story.answer(story.send({ op: "rename", orderId: "po_1", name: "a" }), 502, refusal("UPSTREAM_STOREFRONT"));
  assert.match(story.findings().join(), /it asks nothing of the storefront/);
});

const requestAs = (status: string, facts: object = {}) => ({
  data: { approvalRequest: { approvalRequestId: "apr_1", status, preview: {}, ...facts } },
});

/** An agent has asked for a rename, and `decide` goes on. */
function proposed(decide: (story: Story, approve: (keyId: string) => Attempt) => void): string {
  const story = new Story().made();
  const asked = story.send({ op: "rename", orderId: "po_1", name: "a" }, null, null, "agent");
  story.tell(asked, "requested", "pending");
  story.answer(asked, 202, requestAs("pending"));
  decide(story, (keyId) => story.send({ op: "approve", approvalRequestId: "apr_1" }, null, null, keyId));
  return story.findings().join();
}

/** Carries out what was asked for. */
function carryOut(story: Story, approved: Attempt, version = 2): void {
  story.commit(approved, "updated", version, "Draft", "Draft");
  story.tell(approved, "decided", "approved");
  story.answer(approved, 200, requestAs("approved"));
}

test("what was approved is done once, with its decision, by somebody who may", () => {
  assert.equal(
    proposed((story, approve) => carryOut(story, approve("anna"))),
    "",
  );
  const again = proposed((story, approve) => {
    carryOut(story, approve("anna"));
    carryOut(story, approve("anna"), 3);
  });
  assert.match(again, /it is done, and was approved.*it is done again.*it is decided again, and was approved/);
  const byItself = proposed((story, approve) => carryOut(story, approve("agent")));
  assert.match(byItself, /who has decided it may not/);
  const undecided = proposed((story, approve) => story.commit(approve("anna"), "updated", 2, "Draft", "Draft"));
  assert.match(undecided, /the request apr_1 was done by req_\d+, and still waits/);
});

test("a request that ends without being done has a reason that its write has too", () => {
  const ended = (status: string, code: string) =>
    proposed((story, approve) => {
      const approved = approve("anna");
      story.tell(approved, "decided", status);
      story.answer(approved, 200, requestAs(status, { refusal: { code, reason: null } }));
    });
  for (const code of ["INVENTORY_GUARD_ISSUES", "UPSTREAM_STOREFRONT", "INVALID_INPUT"])
    assert.match(ended("failed", code), /it is failed \(\w+\) and nothing is done/, code);
  assert.match(ended("overtaken", "INVALID_INPUT"), /it is overtaken/);
  assert.match(ended("approved", "INVALID_INPUT"), /it is approved \(\w+\) and nothing is done/);
});

test("that a key's first request is running is told only beside it, or after a crash of the database that held the key", () => {
  const story = new Story().made();
  const refused = story.send(move("Ordered"), "key-1");
  story.answer(refused, 429, { error: { code: "RATE_LIMITED" } });
  const again = story.send(move("Ordered"), "key-1");
  story.answer(again, 400, { error: { code: "INVALID_INPUT", reason: "IDEMPOTENCY_IN_PROGRESS" } });
  const [finding] = story.findings();
  assert.match(finding ?? "", /nobody else had sent it; before it: req_\d+ .* → 429$/);
  assert.deepEqual(
    story.findings((attempt) => attempt === refused),
    [],
  );
});
