import assert from "node:assert/strict";
import { test } from "node:test";
import { decideStatus, isGuardedMove } from "../../../src/core/order/status-move.ts";
import {
  type Activity,
  availableMoves,
  guidanceTo,
  isBeforeGoods,
  isClosed,
  isHeld,
  isOpen,
  movesFrom,
  openStatuses,
  permits,
  refuseUnless,
  statusesOnTheWay,
  statusesOpenTo,
  statusesThatPermit,
  usualPrevious,
} from "../../../src/core/order/status.ts";
import { Fault } from "../../../src/base/fault.ts";
import { inWords } from "../../../src/core/order/guidance.ts";
import { type LineItem, type PurchaseOrder, type Status, statuses } from "../../../src/core/order/purchase-order.ts";
import { context, line, order, refusal } from "../../support/goods.ts";

/**
 * POST /status from every status to every other, read off the specification. `>` moves, `=` is the current status (400), `.` is not
 * listed (400), `!` is completed by /complete alone (400), `c` belongs to /confirm (409), `p` is left only to previousStatus (409).
 * Columns in the order of the rows.
 */
const table: readonly (readonly [Status, string])[] = [
  ["Draft", "= > . . . . . ! . . ."],
  ["Sent", "> = c c . . . ! > > >"],
  ["Partially Confirmed", ". . = c . . . ! > > >"],
  ["Confirmed", ". > . = > . . ! > > >"],
  ["In Progress", ". . . > = . . ! > > >"],
  ["Partially Received", ". . . . . = . ! > > >"],
  ["Received", ". . . . > > = ! . > >"],
  ["Completed", ". . . . > > > ! . . ."],
  ["Cancelled", "p p p p p p p ! = p p"],
  ["On Hold", "p p p p p p p ! p = p"],
  ["Disputed", "p p p p p p p ! p p ="],
];

const held = ["Cancelled", "On Hold", "Disputed"] as const satisfies readonly Status[];
const beforeGoods = ["Draft", "Sent", "Partially Confirmed", "Confirmed"] as const satisfies readonly Status[];
const confirmedLine = line("a", { ordered: 10, confirmed: 4 });

const cells = table.flatMap(([from, row]) =>
  row.split(" ").map((mark, index) => ({ from, to: table[index]?.[0] ?? assert.fail("no such column"), mark })),
);

const move = (from: PurchaseOrder, to: string): PurchaseOrder => decideStatus(from, to, context()).next;

test("the table covers every pair of statuses", () => {
  assert.deepEqual(
    table.map(([from]) => from),
    [...statuses],
  );
  assert.equal(cells.length, 121);
});

/** What each status leaves open, read off the specification and C24–C30, C33, C43. `~`: only to a call that changes nothing. */
const activities = [
  "edit-lines",
  "confirm",
  "receive",
  "unreceive",
  "complete",
  "quick-complete",
  "sync",
  "delete",
] as const satisfies readonly Activity[];
const permitted: readonly (readonly [Status, string])[] = [
  ["Draft", "+ . . . . . . +"],
  ["Sent", "+ + . . . . + ."],
  ["Partially Confirmed", "+ + . . . . + ."],
  ["Confirmed", "+ + . . . . + ."],
  ["In Progress", "+ ~ + + . + + ."],
  ["Partially Received", "+ . + + + . + ."],
  ["Received", ". . + + + . + ."],
  ["Completed", ". . . . . . . ."],
  ["Cancelled", ". . . . . . . +"],
  ["On Hold", ". . . . . . . ."],
  ["Disputed", ". . . . . . . ."],
];

for (const [index, activity] of activities.entries())
  test(`${activity}: the statuses that permit it, and those in which it can change the order`, () => {
    const marked = (marks: string): readonly Status[] =>
      permitted
        .filter(([, row]) => marks.includes(row.split(" ")[index] ?? assert.fail("no mark")))
        .map(([status]) => status);
    assert.deepEqual(statusesThatPermit(activity), marked("+~"));
    assert.deepEqual(statusesOpenTo(activity), marked("+"));
  });

/** Whether the order's status lets this operation do anything. */
function isOpenTo(before: PurchaseOrder, operation: string): boolean {
  if (operation === "purchase_order_status") return availableMoves(before).length > 0;
  const activity = activities.find((each) => operation === `purchase_order_${each.replace("-", "_")}`);
  return activity !== undefined && permits(before, activity);
}

for (const [status, row] of permitted)
  for (const [index, mark] of row.split(" ").entries()) {
    const activity = activities[index] ?? assert.fail("no such column");
    test(`${status}, ${activity}: ${mark}`, () => {
      const before = order(status, [confirmedLine], { previousStatus: "Sent" });
      const guidance = guidanceTo(before, activity);
      assert.equal(permits(before, activity), mark !== ".");
      assert.equal(guidance === null, mark === "+");
      if (mark !== ".") {
        refuseUnless(before, activity);
        assert.ok(statusesThatPermit(activity).includes(status));
        assert.equal(statusesOpenTo(activity).includes(status), mark === "+");
        return;
      }
      const fault = refusal(() => refuseUnless(before, activity));
      assert.equal(fault.status, 400);
      assert.equal(fault.action, guidance);
      assert.ok(fault.message.includes(`An order that is ${status} cannot `), fault.message);
      for (const other of statusesThatPermit(activity)) assert.ok(fault.message.includes(other), fault.message);
      const named: string[] = [];
      inWords(guidance ?? "", (name) => `${named.push(name)}`);
      assert.ok(named.length > 0, "the refusal names an operation");
      for (const name of named) assert.ok(isOpenTo(before, name), `${name} is open in ${status}`);
    });
  }

/** The sentence with `/receive` for each operation of an order that it names. */
const inShort = (text: string | null): string =>
  inWords(text ?? assert.fail("there is no guidance"), (name) => name.replace("purchase_order_", "/"));

test("a refusal for the sake of the status lists the statuses that it must be", () => {
  const refused = (status: Status, activity: Activity): string =>
    refusal(() => refuseUnless(order(status, []), activity)).message;
  assert.equal(
    refused("Draft", "quick-complete"),
    "An order that is Draft cannot be quick-completed; it must be In Progress.",
  );
  assert.equal(refused("Sent", "delete"), "An order that is Sent cannot be deleted; it must be Draft or Cancelled.");
  assert.equal(
    refused("Draft", "complete"),
    "An order that is Draft cannot be completed; it must be Partially Received or Received.",
  );
  assert.equal(
    refused("Completed", "confirm"),
    "An order that is Completed cannot be confirmed; it must be Sent, Partially Confirmed, Confirmed or In Progress.",
  );
});

test("lines that cannot be edited name the moves after which they can", () => {
  const way = (status: Status, previousStatus: Status): string =>
    inShort(guidanceTo(order(status, [], { previousStatus }), "edit-lines"));
  for (const status of ["Received", "Completed"] as const)
    assert.equal(way(status, "Draft"), "Move it back with /status first: In Progress or Partially Received.");
  assert.equal(way("On Hold", "Sent"), "Move it back with /status first: Sent.");
  assert.equal(way("Disputed", "Received"), "Move it back with /status first.", "Received has no lines to edit either");
});

test("goods that stand in the way of confirming are corrected by receiving or taking back", () => {
  for (const status of ["Partially Received", "Received"] as const)
    assert.equal(
      inShort(guidanceTo(order(status, []), "confirm")),
      "Goods have been recorded; correct them with /receive or /unreceive.",
    );
});

test("confirmAll is proposed wherever it leads on, while no line is confirmed short", () => {
  const ways = (status: Status): readonly string[] => {
    const before = order(status, [line("full", { confirmed: 10 }), line("open")]);
    const moves = statuses.map((to) => [to, () => void move(before, to)] as const);
    const done = activities.map((each) => [each, () => refuseUnless(before, each)] as const);
    return [...moves, ...done].flatMap(([name, work]) => {
      try {
        work();
        return [];
      } catch (error) {
        assert.ok(error instanceof Fault);
        return `${error.action}`.includes("confirmAll: true") ? [name] : [];
      }
    });
  };
  const goodsMoving = ["receive", "unreceive", "complete", "quick-complete"];
  assert.deepEqual(ways("Sent"), ["Partially Confirmed", "Confirmed", "In Progress", "Completed", ...goodsMoving]);
  assert.deepEqual(ways("Partially Confirmed"), ["Confirmed", "In Progress", "Completed", ...goodsMoving]);
  for (const status of statuses.filter((each) => each !== "Sent" && each !== "Partially Confirmed"))
    assert.deepEqual(ways(status), [], status);
});

test("each status usually follows on this one; a held one can follow on several", () => {
  const usual: Readonly<Record<Status, Status | null>> = {
    Draft: "Draft",
    Sent: "Draft",
    "Partially Confirmed": "Sent",
    Confirmed: "Sent",
    "In Progress": "Confirmed",
    "Partially Received": "In Progress",
    Received: "In Progress",
    Completed: "Received",
    Cancelled: null,
    "On Hold": null,
    Disputed: null,
  };
  for (const status of statuses) assert.equal(usualPrevious(status), usual[status], status);
});

test("held, open, closed and before goods are these statuses", () => {
  const those = (rule: (order: { readonly status: Status }) => boolean): readonly Status[] =>
    statuses.filter((status) => rule({ status }));
  assert.deepEqual(those(isHeld), held);
  assert.deepEqual(those(isBeforeGoods), beforeGoods);
  assert.deepEqual(those(isClosed), ["Completed", "Cancelled"]);
  assert.deepEqual(openStatuses, ["Sent", "Partially Confirmed", "Confirmed", "In Progress", "Partially Received"]);
  assert.deepEqual(those(isOpen), openStatuses);
  assert.deepEqual(
    statusesOnTheWay,
    statuses.filter((status) => !held.some((each) => each === status)),
  );
});

for (const { from, to, mark } of cells)
  test(`${from} to ${to}: ${mark}`, () => {
    // A held status whose previousStatus is itself cannot be; every target is then another one.
    const before = order(from, [confirmedLine], { previousStatus: from });
    if (mark === ">") {
      const decided = decideStatus(before, to, context());
      assert.equal(decided.next.status, to);
      assert.equal(decided.next.previousStatus, from);
      assert.equal(decided.next.version, before.version + 1);
      assert.deepEqual(decided.log, [
        {
          action: "status",
          message: `Moved from ${from} to ${to}.`,
          changes: [{ field: "status", poLineItemId: null, before: from, after: to }],
        },
      ]);
      assert.deepEqual(decided.next.lineItems, before.lineItems, "quantities stay");
      return;
    }
    const fault = refusal(() => move(before, to));
    assert.notEqual(fault.action, null, "the refusal says what to do");
    switch (mark) {
      case "!":
        assert.equal(fault.status, 400);
        assert.match(`${fault.message} ${fault.action}`, /purchase_order_complete/);
        break;
      case "=":
      case ".":
        assert.equal(fault.status, 400);
        assert.equal(fault.reason, null);
        for (const listed of movesFrom(from)) assert.ok(fault.message.includes(listed), fault.message);
        break;
      case "c":
        assert.equal(fault.status, 409);
        assert.equal(fault.reason, "USE_CONFIRM_ENDPOINT");
        assert.match(`${fault.action}`, /purchase_order_confirm/);
        break;
      default:
        assert.equal(fault.status, 409);
        assert.equal(fault.reason, "PREVIOUS_STATUS_MISMATCH");
        assert.ok(fault.message.includes(from));
    }
  });

for (const from of held)
  for (const previousStatus of statuses.filter((status) => status !== from && status !== "Completed"))
    test(`${from} goes back to ${previousStatus} and nowhere else`, () => {
      const before = order(from, [confirmedLine], { previousStatus });
      assert.deepEqual(availableMoves(before), [previousStatus]);
      const next = move(before, previousStatus);
      assert.equal(next.status, previousStatus);
      assert.equal(next.previousStatus, from);
      for (const other of statuses.filter((status) => ![from, previousStatus, "Completed"].includes(status)))
        assert.equal(refusal(() => move(before, other)).reason, "PREVIOUS_STATUS_MISMATCH", other);
    });

test("a name that is no status is refused with the names that are", () => {
  for (const name of ["", "sent", "Closed", "toString", "__proto__", "Sent "]) {
    const fault = refusal(() => move(order("Draft", []), name));
    assert.equal(fault.status, 400);
    assert.deepEqual(fault.details, [{ path: "/status", message: `must be one of ${statuses.join(", ")}` }]);
  }
});

const goods = { received: { received: 1 }, synced: { synced: 1 } };
for (const [kind, figures] of Object.entries(goods))
  for (const { from, to } of cells.filter((cell) => cell.mark === ">"))
    test(`with ${kind} quantity, ${from} to ${to} is ${beforeGoods.some((status) => status === to) ? "barred" : "made"}`, () => {
      const before = order(from, [line("clean", { confirmed: 1 }), line("touched", { confirmed: 10, ...figures })]);
      if (beforeGoods.some((status) => status === to)) {
        const fault = refusal(() => move(before, to));
        assert.equal(fault.status, 400);
        assert.match(fault.message, /received or synced/);
        assert.ok(!availableMoves(before).includes(to), "a barred move is not offered");
      } else assert.equal(move(before, to).status, to);
    });

test("received quantity bars a return from a held status too", () => {
  const before = order("On Hold", [line("a", { confirmed: 10, received: 1 })], { previousStatus: "Confirmed" });
  assert.match(refusal(() => move(before, "Confirmed")).message, /received or synced/);
  const working = { ...before, previousStatus: "In Progress" } as const;
  assert.equal(move(working, "In Progress").status, "In Progress");
});

test("no order is sent without a locationId, from wherever it comes", () => {
  for (const before of [
    order("Draft", [], { locationId: null }),
    order("Confirmed", [], { locationId: null }),
    order("On Hold", [], { locationId: null, previousStatus: "Sent" }),
  ]) {
    const fault = refusal(() => move(before, "Sent"));
    assert.equal(fault.status, 400);
    assert.match(fault.message, /locationId/);
  }
  assert.equal(move(order("Draft", []), "Sent").status, "Sent", "an order without lines may be sent");
});

test("work begins when every line that is not cancelled has a confirmed quantity; the others are named", () => {
  const unconfirmed = [line("b"), line("c", { cancelled: 4 })];
  const before = order("Confirmed", [confirmedLine, ...unconfirmed, line("d", { cancelled: 10 })]);
  const fault = refusal(() => move(before, "In Progress"));
  assert.equal(fault.status, 409);
  assert.equal(fault.reason, "UNCONFIRMED_LINES");
  assert.match(fault.message, /: b, c\.$/);
  assert.equal(
    inShort(fault.action),
    "Confirm them with /confirm, or cancel them with /line_item_update (quantityCancelled).",
  );
  assert.deepEqual(fault.details, [
    { lineItemId: "b", variantId: "variant of b", message: "has no confirmed quantity" },
    { lineItemId: "c", variantId: "variant of c", message: "has no confirmed quantity" },
  ]);
  assert.equal(
    move(order("Confirmed", [confirmedLine, line("d", { cancelled: 10 })]), "In Progress").status,
    "In Progress",
  );
});

test("no refusal proposes confirmAll where a line is confirmed short: it would overwrite what the supplier said (C24)", () => {
  const proposals = (lines: readonly LineItem[]): readonly string[] =>
    statuses.flatMap((status) => {
      const before = order(status, lines, { previousStatus: "Sent" });
      const moves = statuses.map((to) => () => void decideStatus(before, to, context()));
      const activity = activities.map((each) => () => refuseUnless(before, each));
      return [...moves, ...activity].flatMap((work) => {
        try {
          work();
          return [];
        } catch (error) {
          assert.ok(error instanceof Fault);
          return `${error.message} ${error.action}`.includes("confirmAll") ? [`${status}: ${error.action}`] : [];
        }
      });
    });
  assert.deepEqual(proposals([line("full", { confirmed: 10 }), confirmedLine, line("b")]), []);
  assert.ok(proposals([line("full", { confirmed: 10 }), line("b")]).length > 0);
});

test("a refusal over many unconfirmed lines spells out the first and holds all of them in details", () => {
  const fault = refusal(() =>
    move(
      order(
        "Confirmed",
        Array.from({ length: 600 }, (_, index) => line(`l${index}`)),
      ),
      "In Progress",
    ),
  );
  assert.match(fault.message, /l0, .*l19 and 580 more\.$/);
  assert.equal(fault.details?.length, 600);
  const twenty = Array.from({ length: 20 }, (_, index) => line(`l${index}`));
  assert.match(refusal(() => move(order("Confirmed", twenty), "In Progress")).message, /: l0, .*, l18, l19\.$/);
});

test("the inventory guard asks before a move to Sent alone", () => {
  assert.deepEqual(statuses.filter(isGuardedMove), ["Sent"]);
});

test("no way leads to Completed by name, not even from a held order that was Completed before", () => {
  for (const status of held)
    assert.deepEqual(availableMoves(order(status, [], { previousStatus: "Completed" })), [], status);
});

test("a refused move says which are open, or that none is", () => {
  const some = refusal(() => move(order("Received", []), "Sent"));
  assert.match(some.message, / Allowed moves from here: In Progress, Partially Received, On Hold, Disputed\.$/);
  assert.equal(some.action, "Choose one of: In Progress, Partially Received, On Hold, Disputed.");
  // Goods bar the only way back.
  const stuck = order("On Hold", [line("a", { received: 1 })], { previousStatus: "Sent" });
  const none = refusal(() => move(stuck, "On Hold"));
  assert.match(none.message, / Allowed moves from here: none\.$/);
  assert.equal(inShort(none.action), "No move is open through /status.");
});

test("lines are asked for confirmation only on the way from Confirmed to In Progress", () => {
  const unconfirmed = [line("a")];
  for (const from of ["Received", "Completed"] as const)
    assert.equal(move(order(from, unconfirmed), "In Progress").status, "In Progress");
  assert.equal(
    move(order("On Hold", unconfirmed, { previousStatus: "In Progress" }), "In Progress").status,
    "In Progress",
  );
});

// Each order stands against several rules at once; the first of C23 must answer.
const precedence: readonly (readonly [
  string,
  PurchaseOrder,
  string,
  (fault: Error & { reason: string | null }) => boolean,
])[] = [
  [
    "Completed before same status",
    order("Completed", []),
    "Completed",
    (fault) => /purchase_order_complete/.test(fault.message),
  ],
  [
    "Completed before the held rule",
    order("On Hold", [], { previousStatus: "Sent" }),
    "Completed",
    (fault) => fault.reason === null,
  ],
  [
    "same status before the held rule",
    order("Disputed", [], { previousStatus: "Sent" }),
    "Disputed",
    (fault) => fault.reason === null && /already Disputed.*Sent\.$/.test(fault.message),
  ],
  [
    "the held rule before the bar of goods",
    order("On Hold", [line("a", { received: 1 })], { previousStatus: "In Progress" }),
    "Draft",
    (fault) => fault.reason === "PREVIOUS_STATUS_MISMATCH",
  ],
  [
    "/confirm before the bar of goods",
    order("Sent", [line("a", { received: 1 })]),
    "Confirmed",
    (fault) => fault.reason === "USE_CONFIRM_ENDPOINT",
  ],
  [
    "unlisted before the bar of goods",
    order("Received", [line("a", { received: 1 })]),
    "Draft",
    (fault) => /cannot be moved from Received to Draft/.test(fault.message),
  ],
  [
    "the bar of goods before the location",
    order("Confirmed", [line("a", { received: 1 })], { locationId: null }),
    "Sent",
    (fault) => /received or synced/.test(fault.message),
  ],
];
for (const [name, before, target, holds] of precedence)
  test(`C23: ${name}`, () => {
    const fault = refusal(() => move(before, target));
    assert.ok(holds(fault), `${fault.reason}: ${fault.message}`);
  });

test("a move tells the storefront what is incoming now, exactly when the order opens or closes", () => {
  const lines = [line("a"), line("c", { variantId: "CSTM-1" })];
  const incoming = [{ kind: "mirror-incoming", locationId: "warehouse", variantIds: ["variant of a"] }];
  assert.deepEqual(decideStatus(order("Draft", lines), "Sent", context()).effects, incoming);
  assert.deepEqual(decideStatus(order("Sent", lines), "On Hold", context()).effects, incoming);
  assert.deepEqual(
    decideStatus(order("In Progress", lines), "Confirmed", context()).effects,
    [],
    "open before and after: nothing moves",
  );
});

test("a move keeps the instant of the status it reaches", () => {
  const sent = move(order("Draft", []), "Sent");
  assert.equal(sent.sentAtMs, 1_000);
  assert.equal(sent.updatedAtMs, 1_000);
  assert.equal(move(sent, "Cancelled").cancelledAtMs, 1_000);
  assert.equal(move(sent, "On Hold").cancelledAtMs, null);
});

test("Confirmed back to Sent keeps what was confirmed", () => {
  assert.equal(move(order("Confirmed", [confirmedLine]), "Sent").lineItems[0]?.quantityConfirmed, 4_000);
});

test("a refusal for an unlisted move names the operation that leads there", () => {
  const ways: readonly (readonly [Status, Status, RegExp])[] = [
    ["Sent", "In Progress", /purchase_order_confirm/],
    ["In Progress", "Received", /purchase_order_receive/],
    ["Partially Received", "Received", /purchase_order_receive/],
    ["In Progress", "Completed", /purchase_order_quick_complete/],
    ["Draft", "Cancelled", /purchase_order_delete/],
    ["Received", "Cancelled", /^Move the order back first, then cancel it\.$/],
    ["Completed", "Cancelled", /^Move the order back first, then cancel it\.$/],
  ];
  for (const [from, to, way] of ways) assert.match(`${refusal(() => move(order(from, []), to)).action}`, way);
});
