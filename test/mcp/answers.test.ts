/**
 * What an agent reads of an answer (C69): a write in short and within its budget, the whole order when it is asked for, a replay that
 * says so, the next step, and one name for the id of a line.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { demoRecords } from "../../src/demo/records.ts";
import { changedLinesMax } from "../../src/mcp/answers.ts";
import { startGoodsServer } from "../support/goods-server.ts";
import { type Agent, connectAgent, type ToolAnswer } from "../support/mcp.ts";
import { startServer } from "../support/server.ts";
import { tokensOf } from "../support/openapi/tokens.ts";

/** Tokens of a write on 20 lines. */
const writeTokensMax = 2_500;

const catalogue = Array.from({ length: 20 }, (_, index) => ({
  type: "variant",
  variantId: `var_${1001 + index}`,
  productId: `prod_${1001 + index}`,
  productName: `Espresso Crema ${index}`,
  sku: `ESP-${1000 + index}-DE`,
  unitCost: 3.5,
}));

const idsOf = (answer: ToolAnswer): readonly string[] => {
  const lines = answer.at("lineItems");
  assert.ok(Array.isArray(lines), answer.text);
  return lines.map((line) => line.lineItemId);
};

/** Writes every operation of an order's life on 20 lines makes, each with its answer. */
async function lifeOf(agent: Agent): Promise<readonly (readonly [string, ToolAnswer])[]> {
  const answers: (readonly [string, ToolAnswer])[] = [];
  const write = async (name: string, input: object): Promise<ToolAnswer> => {
    const answer = await agent.call(name, input);
    assert.ok(!answer.isError, `${name}: ${answer.text}`);
    answers.push([name, answer]);
    return answer;
  };
  const lineItems = catalogue.map(({ variantId }) => ({ variantId, quantityOrdered: 24, unitCost: 3.25 }));
  const header = { supplierId: "mill", locationId: "warehouse" };
  const created = await write("purchase_order_create", { ...header, lineItems });
  const purchaseOrderId = created.textAt("purchaseOrder", "purchaseOrderId");
  const lineItemIds = idsOf(created);
  const each = (members: object): object => ({
    purchaseOrderId,
    lines: lineItemIds.map((lineItemId) => ({ lineItemId, ...members })),
  });
  await write("purchase_order_update", { purchaseOrderId, expectedDeliveryDate: "2027-01-15", note: "By boat." });
  await write("purchase_order_line_item_update", {
    ...each({ unitCost: 3, supplierSku: "N-1", note: "blue" }),
    updateSupplier: true,
  });
  const added = await write("purchase_order_line_item_add", { purchaseOrderId, lineItems });
  await write("purchase_order_line_item_delete", { purchaseOrderId, lineItemIds: idsOf(added) });
  await write("purchase_order_status", { purchaseOrderId, status: "Sent" });
  await write("purchase_order_confirm", each({ quantityConfirmed: 20 }));
  await write("purchase_order_status", { purchaseOrderId, status: "In Progress" });
  await write("purchase_order_receive", each({ quantityReceived: 12, quantityRejected: 2 }));
  await write("purchase_order_unreceive", { ...each({ quantity: 1 }), reason: "counted again" });
  await write("purchase_order_receive", each({ quantityReceived: 18 }));
  await write("purchase_order_storefront_sync", { purchaseOrderId });
  await write("purchase_order_complete", { purchaseOrderId });
  const second = await write("purchase_order_create", { ...header, lineItems });
  const again = { purchaseOrderId: second.textAt("purchaseOrder", "purchaseOrderId") };
  await write("purchase_order_status", { ...again, status: "Sent" });
  await write("purchase_order_confirm", { ...again, confirmAll: true });
  await write("purchase_order_quick_complete", again);
  return answers;
}

test(`every write on 20 lines answers within ${writeTokensMax} tokens, with id, number, status, totals, pending and what comes next`, async (t) => {
  await using server = await startGoodsServer();
  await server.bring(catalogue);
  await using agent = await connectAgent(server);
  for (const [name, answer] of await lifeOf(agent)) {
    const tokens = tokensOf(answer.text);
    t.diagnostic(`${name}: ${tokens} tokens`);
    assert.ok(tokens <= writeTokensMax, `${name}: ${tokens} tokens\n${answer.text}`);
    for (const member of ["purchaseOrderId", "poNumber", "status", "totalValue", "grandTotal", "quantityPending"])
      assert.notEqual(answer.at("purchaseOrder", member), undefined, `${name}: ${member}`);
    assert.equal(typeof answer.at("nextStep", "advice"), "string", `${name}: next step`);
  }
});

test(`warnings of one reason on 20 lines are one, so that the write answers within ${writeTokensMax} tokens; REST has each`, async (t) => {
  await using server = await startGoodsServer();
  await using agent = await connectAgent(server);
  const lineItems = Array.from({ length: 20 }, (_, index) => ({ variantId: `no_${index}`, quantityOrdered: 24 }));
  const header = { supplierId: "nobody", locationId: "warehouse" };
  const created = await agent.call("purchase_order_create", { ...header, lineItems });
  const tokens = tokensOf(created.text);
  t.diagnostic(`${tokens} tokens`);
  assert.ok(tokens <= writeTokensMax, `${tokens} tokens\n${created.text}`);
  const paths = (member: string) => lineItems.map((_, index) => `/lineItems/${index}/${member}`);
  assert.partialDeepStrictEqual(created.at("warnings"), [
    { path: "/supplierId", reason: "unknown-supplier" },
    { paths: paths("variantId"), reason: "unknown-variant" },
    { paths: paths("unitCost"), reason: "no-cost" },
  ]);
  assert.match(created.textAt("warnings", 1, "message"), /no variant no_0; .* The same holds at all paths\.$/);
  assert.equal(created.at("nextStep", "tool"), "purchase_order_line_item_update");
  const few = await agent.call("purchase_order_create", { lineItems: lineItems.slice(0, 5) });
  assert.equal(Object.keys(few.at("warnings") ?? {}).length, 10);
  const rest = await server.post("/api/v1/purchase-orders", { ...header, lineItems });
  assert.equal(Object.keys(rest.at("data", "warnings") ?? {}).length, 41);
});

test("a write shows the changed lines with what is not 0, and the header fields that were sent", async () => {
  await using server = await startGoodsServer();
  await server.bringOrder("In Progress", [
    { poLineItemId: "a", variantId: "red", quantityOrdered: 80, quantityConfirmed: 72, unitCost: 4 },
    { poLineItemId: "b", variantId: "blue", quantityOrdered: 5 },
  ]);
  await using agent = await connectAgent(server);
  const purchaseOrderId = "po_1";
  const received = await agent.call("purchase_order_receive", {
    purchaseOrderId,
    lines: [{ lineItemId: "a", quantityReceived: 70, quantityRejected: 2 }],
  });
  assert.deepEqual(received.at("lineItems"), [
    {
      lineItemId: "a",
      variantId: "red",
      lineItemStatus: "Received",
      quantityOrdered: 80,
      quantityConfirmed: 72,
      quantityReceived: 70,
      quantityRejected: 2,
      quantityPending: 0,
      unitCost: 4,
    },
  ]);
  assert.deepEqual(received.at("status"), {
    before: "In Progress",
    after: "Partially Received",
    autoTransitioned: true,
  });
  assert.equal(received.at("purchaseOrder", "quantityPending"), 5);
  assert.equal(received.at("purchaseOrder", "lineItems"), undefined);
  assert.equal(received.at("updatedLineItemIds"), undefined);
  assert.equal(received.at("nextStep", "tool"), "purchase_order_receive");
  const updated = await agent.call("purchase_order_update", { purchaseOrderId, note: "By boat.", tags: ["slow"] });
  assert.equal(updated.at("purchaseOrder", "note"), "By boat.");
  assert.deepEqual(updated.at("purchaseOrder", "tags"), ["slow"]);
  assert.equal(updated.at("purchaseOrder", "incoterm"), undefined);
  assert.equal(updated.at("lineItems"), undefined);

  const same = await agent.call("purchase_order_receive", {
    purchaseOrderId,
    lines: [{ lineItemId: "a", quantityReceived: 70 }],
  });
  assert.deepEqual(same.at("lineItems"), [], "nothing changed");
  const whole = await agent.call("purchase_order_update", { purchaseOrderId, note: "By air.", include: ["order"] });
  const rest = await server.get(server.order());
  assert.equal(whole.at("purchaseOrder", "lineItems", 1, "lineItemId"), "b");
  assert.equal(whole.at("purchaseOrder", "version"), rest.at("data", "purchaseOrder", "version"));
});

/** Lines of the tool and arguments that an answer says to go on with, and all that come after. */
async function linesAfter(agent: Agent, cut: unknown): Promise<readonly string[]> {
  const schema = z.object({ tool: z.string(), arguments: z.record(z.string(), z.unknown()) });
  const { tool, arguments: more } = schema.parse(cut);
  const first = await agent.call(tool, { ...more, limit: 40 });
  assert.ok(!first.isError, first.text);
  const cursor = first.at("cursor");
  const others = cursor === null ? [] : await linesAfter(agent, { tool, arguments: { ...more, cursor } });
  return [...idsOf(first), ...others];
}

test(`more than ${changedLinesMax} changed lines are cut, which says so beside them with a cursor that goes on (C69)`, async () => {
  await using server = await startGoodsServer();
  await using agent = await connectAgent(server);
  const lineItems = Array.from({ length: 120 }, () => ({ variantId: "red", quantityOrdered: 1 }));
  const created = await agent.call("purchase_order_create", { lineItems });
  assert.equal(idsOf(created).length, changedLinesMax);
  assert.partialDeepStrictEqual(created.at("lineItemsCut"), { shown: changedLinesMax, of: 120 });
  assert.equal(created.at("purchaseOrder", "itemCount"), 120);
  const purchaseOrderId = created.textAt("purchaseOrder", "purchaseOrderId");
  const all = idsOf(await agent.call("purchase_order_line_item_list", { purchaseOrderId }));
  const after = await linesAfter(agent, created.at("lineItemsCut"));
  assert.deepEqual([...idsOf(created), ...after], all);

  const last = all[changedLinesMax - 1] ?? "";
  await agent.call("purchase_order_line_item_delete", { purchaseOrderId, lineItemIds: [all[changedLinesMax] ?? ""] });
  assert.deepEqual(await linesAfter(agent, created.at("lineItemsCut")), after.slice(1), "a line less");
  await agent.call("purchase_order_line_item_delete", { purchaseOrderId, lineItemIds: [last] });
  const more = created.at("lineItemsCut", "arguments");
  const gone = await agent.call("purchase_order_line_item_list", Object(more));
  assert.equal(gone.at("error", "details", 0, "path"), "/cursor", "the line that it went on after is deleted");
  const dry = await agent.call("purchase_order_create", { lineItems, dryRun: true });
  assert.deepEqual(dry.at("lineItemsCut"), { shown: changedLinesMax, of: 120 }, "nothing is stored to go on in");
});

test("include takes order alone, only where there is an order to show, and is no part of what a key stands for", async () => {
  await using server = await startServer();
  await using agent = await connectAgent(server);
  const keyed = { poName: "once", idempotencyKey: "k" };
  const short = await agent.call("purchase_order_create", keyed);
  const whole = await agent.call("purchase_order_create", { ...keyed, include: ["order"] });
  assert.equal(whole.at("replayed"), true);
  assert.equal(short.at("replayed"), undefined);
  assert.equal(short.at("purchaseOrder", "createdAt"), undefined);
  assert.equal(typeof whole.at("purchaseOrder", "createdAt"), "string");
  for (const include of ["order", ["lines"], [1], null])
    assert.equal(
      (await agent.call("purchase_order_create", { include })).at("error", "details", 0, "path"),
      "/include",
      JSON.stringify(include),
    );
  const purchaseOrderId = short.textAt("purchaseOrder", "purchaseOrderId");
  for (const tool of ["purchase_order_get", "purchase_order_delete"]) {
    const refused = await agent.call(tool, { purchaseOrderId, include: ["order"] });
    assert.equal(refused.at("error", "details", 0, "path"), "/include", tool);
  }
  const refusal = { purchaseOrderId, status: "Received", idempotencyKey: "r" };
  assert.equal((await agent.call("purchase_order_status", refusal)).at("replayed"), undefined);
  const again = await agent.call("purchase_order_status", refusal);
  assert.deepEqual([again.isError, again.at("replayed")], [true, true]);
});

test("a refusal that is told again says so: of what time it is, what the order is now, and to use a new key (C69)", async () => {
  await using server = await startServer();
  await using agent = await connectAgent(server);
  const made = await agent.call("purchase_order_create", { poName: "once" });
  const purchaseOrderId = made.textAt("purchaseOrder", "purchaseOrderId");
  const refusal = { purchaseOrderId, status: "Received", idempotencyKey: "r" };
  const path = `/api/v1/purchase-orders/${purchaseOrderId}`;
  const beganMs = server.clock.now();
  const first = await agent.call("purchase_order_status", refusal);
  const endedMs = server.clock.now();
  server.clock.advance(3_600_000);
  const changed = await server.patch(path, { poName: "twice" });
  const again = await agent.call("purchase_order_status", refusal);
  assert.deepEqual([again.isError, again.at("replayed")], [true, true]);
  const [, at = "", was] =
    /^This is the answer of an earlier call, of (\S+); nothing was tried now\. It was: (.*)$/s.exec(
      again.textAt("error", "message"),
    ) ?? [];
  assert.equal(was, first.at("error", "message"));
  assert.ok(Date.parse(at) >= beganMs && Date.parse(at) <= endedMs, at);
  const version = Number(changed.at("data", "purchaseOrder", "version"));
  assert.ok(again.textAt("error", "action").includes(first.textAt("error", "action")));
  assert.match(
    again.textAt("error", "action"),
    new RegExp(`The order is now Draft, version ${version}\\. To try again, call with a new idempotencyKey\\.$`),
  );
  for (const member of ["code", "requestId", "details"])
    assert.deepEqual(again.at("error", member), first.at("error", member), member);
  assert.equal((await server.delete(path)).status, 200);
  const gone = await agent.call("purchase_order_status", refusal);
  assert.match(gone.textAt("error", "action"), /The order is not there now\. To try again/);
  // REST gets the bytes of the first answer, whoever got that (C18).
  const whole = { method: "POST", body: { status: "Received" }, headers: { "Idempotency-Key": "r" } } as const;
  const rest = await server.post(`${path}/status`, whole.body, { headers: whole.headers });
  assert.equal(rest.headers["idempotent-replayed"], "true");
  assert.equal(rest.at("error", "message"), first.at("error", "message"));
});

test("the id of a line is lineItemId in every answer, in what the guard refuses and in resolutions", async () => {
  await using server = await startGoodsServer();
  await server.bring(catalogue);
  await using agent = await connectAgent(server);
  const [first] = await lifeOf(agent);
  assert.ok(first !== undefined);
  const [, created] = first;
  const purchaseOrderId = created.textAt("purchaseOrder", "purchaseOrderId");
  for (const tool of ["get", "line_item_list", "log_list", "receipt_schedule_get", "cost_sync_history_list"]) {
    const read = await agent.call(`purchase_order_${tool}`, { purchaseOrderId });
    assert.match(JSON.stringify(read.at()), /"lineItemId":"pol_/, tool);
    assert.doesNotMatch(read.text, /poLineItemId/, tool);
  }

  await server.bringOrder("Draft", [{ poLineItemId: "a", variantId: "red", quantityOrdered: 5 }]);
  await server.sandbox.patchVariant("red", { status: "inactive" });
  const send = { purchaseOrderId: "po_1", status: "Sent" };
  const guarded = await agent.call("purchase_order_status", send);
  assert.deepEqual(guarded.at("error", "details"), [
    { lineItemId: "a", variantId: "red", issue: "inactive", allowedActions: ["activate", "skip"] },
  ]);
  assert.match(guarded.textAt("error", "action"), /\{ lineItemId, action \}/);
  const wrong = await agent.call("purchase_order_status", {
    ...send,
    resolutions: [{ lineItemId: 5, action: "skip" }],
  });
  assert.equal(wrong.at("error", "details", 0, "path"), "/resolutions/0/lineItemId");
  const sent = await agent.call("purchase_order_status", {
    ...send,
    resolutions: [{ lineItemId: "a", action: "skip" }],
  });
  assert.equal(sent.at("purchaseOrder", "status"), "Sent");
});

/** Tokens of an order in a list. */
const listedTokensMax = 120;

test(`an order in a list is at most ${listedTokensMax} tokens, without addresses and nulls; include brings the header whole`, async () => {
  await using server = await startGoodsServer();
  await server.bring([...demoRecords(server.clock.now())]);
  await using agent = await connectAgent(server);
  const [short, whole] = [
    await agent.call("purchase_order_list"),
    await agent.call("purchase_order_list", { include: ["order"] }),
  ];
  const [rows, headers] = [short.at("purchaseOrders"), whole.at("purchaseOrders")];
  assert.ok(Array.isArray(rows) && Array.isArray(headers) && rows.length > 20);
  assert.deepEqual([short.at("totalCount"), short.at("cursor")], [whole.at("totalCount"), whole.at("cursor")]);
  const rest = await server.get("/api/v1/purchase-orders");
  assert.deepEqual(headers, rest.at("data", "purchaseOrders"));
  for (const [index, row] of rows.entries()) {
    const text = JSON.stringify(row);
    assert.ok(tokensOf(text) <= listedTokensMax, `${tokensOf(text)}: ${text}`);
    assert.doesNotMatch(text, /null|[aA]ddress/);
    const header = whole.at("purchaseOrders", index);
    assert.partialDeepStrictEqual(header, row);
    const isHeldNow = ["On Hold", "Disputed", "Cancelled"].includes(short.textAt("purchaseOrders", index, "status"));
    assert.equal(short.at("purchaseOrders", index, "previousStatus") !== undefined, isHeldNow, text);
  }
  const refused = await agent.call("purchase_order_list", { include: ["lines"] });
  assert.equal(refused.at("error", "details", 0, "path"), "/include");
});

/** Tokens of a line in a list. */
const listedLineTokensMax = 130;

test(`a line in a list is at most ${listedLineTokensMax} tokens, without zeros and nulls; include brings it whole`, async () => {
  await using server = await startGoodsServer();
  await server.bring([...demoRecords(server.clock.now())]);
  await using agent = await connectAgent(server);
  const orders = (await server.get("/api/v1/purchase-orders")).at("data", "purchaseOrders");
  assert.ok(Array.isArray(orders) && orders.length > 20);
  for (const { purchaseOrderId } of orders) {
    const [short, whole] = [
      await agent.call("purchase_order_line_item_list", { purchaseOrderId }),
      await agent.call("purchase_order_line_item_list", { purchaseOrderId, include: ["order"] }),
    ];
    const [rows, lines] = [short.at("lineItems"), whole.at("lineItems")];
    assert.ok(Array.isArray(rows) && Array.isArray(lines) && rows.length === lines.length && rows.length > 0);
    for (const [index, row] of rows.entries()) {
      const text = JSON.stringify(row);
      assert.ok(tokensOf(text) <= listedLineTokensMax, `${tokensOf(text)}: ${text}`);
      assert.doesNotMatch(text.replace(/"quantityPending":0/, ""), /null|:0[,}]/);
      assert.partialDeepStrictEqual(whole.at("lineItems", index), row);
      assert.ok(Object.hasOwn(row, "productName") && Object.hasOwn(row, "quantityPending"), text);
    }
  }
});

test("a line that is added with a note is shown with it; the order's own note is not beside it", async () => {
  await using server = await startGoodsServer();
  await using agent = await connectAgent(server);
  const made = await agent.call("purchase_order_create", { supplierId: "mill" });
  const purchaseOrderId = made.textAt("purchaseOrder", "purchaseOrderId");
  const line = { purchaseOrderId, productName: "Pallet", quantityOrdered: 1, note: "Returnable." };
  const added = await agent.call("purchase_order_line_item_add_custom", line);
  assert.equal(added.at("lineItems", 0, "note"), "Returnable.");
  assert.equal(added.at("purchaseOrder", "note"), undefined);
});
