/**
 * Orders as resources of an agent: read, completed, linked from answers (C70a).
 *
 * Only on sqlite: its subject is what assistants are shown and answered; mcp/twins.slow.test.ts gives the same commands on both engines.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { runInNewContext } from "node:vm";
import { completionsMax, orderLettersMax } from "../../src/mcp/resources/resources.ts";
import { lineA, startGoodsServer } from "../support/goods-server.ts";
import { orderView } from "../../src/mcp/resources/order-view.ts";
import { connectAgent, revisions } from "../support/mcp.ts";

const uri = "openpo://orders/PO-1";

test("an order is read under its number, as the tool answers it, and its document as PDF", async () => {
  await using server = await startGoodsServer();
  await server.bringOrder("Sent", [lineA], { poNumber: "PO-1" });
  for (const revision of revisions) {
    await using agent = await connectAgent(server, { key: server.readKey, revision });
    const { resourceTemplates } = await agent.client.listResourceTemplates();
    assert.deepEqual(
      resourceTemplates.map(({ uriTemplate }) => uriTemplate),
      ["openpo://orders/{poNumber}", "openpo://orders/{poNumber}.pdf"],
    );
    const [content] = (await agent.client.readResource({ uri })).contents;
    assert.ok(content !== undefined && "text" in content);
    const called = await agent.call("purchase_order_get", { purchaseOrderId: "po_1" });
    assert.deepEqual(JSON.parse(content.text), {
      purchaseOrder: called.at("purchaseOrder"),
      writtenByOthers: called.at("writtenByOthers"),
    });
    const [pdf] = (await agent.client.readResource({ uri: `${uri}.pdf` })).contents;
    assert.ok(pdf !== undefined && "blob" in pdf);
    assert.equal(Buffer.from(pdf.blob, "base64").subarray(0, 5).toString(), "%PDF-");
    for (const none of ["openpo://orders/PO-9", "openpo://orders/", "openpo://orders/%E0%A4%A", "openpo://other/PO-1"])
      await assert.rejects(agent.client.readResource({ uri: none }), /not found/i, none);
  }
});

test("an answer about an order links to it and to its document; one without a number links to nothing", async () => {
  await using server = await startGoodsServer();
  await using agent = await connectAgent(server);
  const made = await agent.call("purchase_order_create", { supplierId: "mill" });
  const number = made.textAt("purchaseOrder", "poNumber");
  const links = made.result.content.flatMap((part) => (part.type === "resource_link" ? part.uri : []));
  assert.deepEqual(links, [`openpo://orders/${number}`, `openpo://orders/${number}.pdf`]);
  for (const link of links) assert.equal((await agent.client.readResource({ uri: link })).contents.length, 1);
  const dry = await agent.call("purchase_order_create", { supplierId: "mill", dryRun: true });
  assert.equal(dry.result.content.length, 1);
});

test("the view of an order writes amounts with the decimals of ISO 4217", async () => {
  await using server = await startGoodsServer();
  await using agent = await connectAgent(server, { key: server.readKey });
  const [content] = (await agent.client.readResource({ uri: orderView.uri })).contents;
  assert.ok(content !== undefined && "text" in content);
  const [writing = ""] = /const minorDigits = .*?\nconst money = .*?\n\};\n/s.exec(content.text) ?? [];
  const written = (value: number, currency: string): unknown =>
    runInNewContext(`const locale = "en"; ${writing} money(value, currency)`, { value, currency });
  assert.deepEqual(
    [written(5, "RSD"), written(5, "IQD"), written(5, "JPY"), written(5, "EUR")],
    ["RSD\u00a05.00", "IQD\u00a05.000", "¥5", "€5.00"],
  );
});

test("a resource is read by the caller's own right: audited, and not at an address without the tool", async () => {
  await using server = await startGoodsServer();
  await server.bringOrder("Sent", [lineA], { poNumber: "PO-1" });
  await using agent = await connectAgent(server, { key: server.readKey });
  await agent.client.readResource({ uri });
  const [last] = await server.audit();
  assert.equal(last?.tag, "mcp:purchase_order_get");
  await using stock = await connectAgent(server, { key: server.readKey, address: "/mcp?tools=stock" });
  await assert.rejects(stock.client.readResource({ uri }), /no tool purchase_order_get at this address/);
});

test("an order's number is completed from what was typed", async () => {
  await using server = await startGoodsServer();
  await using agent = await connectAgent(server);
  for (const poName of ["spring", "autumn"]) await agent.call("purchase_order_create", { poName });
  const complete = async (value: string) => {
    const ref = { type: "ref/resource", uri: "openpo://orders/{poNumber}" } as const;
    return (await agent.client.complete({ ref, argument: { name: "poNumber", value } })).completion;
  };
  const all = await complete("");
  assert.equal(all.values.length, 2);
  assert.deepEqual((await complete("spring")).values, all.values.slice(1));
  assert.deepEqual((await complete("PO-")).values, all.values);
  for (let made = 2; made <= completionsMax; made += 1) await agent.call("purchase_order_create", { poName: "more" });
  const many = await complete("PO-");
  assert.deepEqual([many.values.length, many.total, many.hasMore], [completionsMax, completionsMax + 1, true]);
  const guide = { type: "ref/prompt", name: "reorder_from_forecast" } as const;
  const { completion } = await agent.client.complete({ ref: guide, argument: { name: "viewId", value: "" } });
  assert.deepEqual(completion.values, []);
});

test("an order that is too long for a resource says how to read it", async () => {
  await using server = await startGoodsServer();
  const lines = Array.from({ length: 400 }, (_, index) => ({ ...lineA, poLineItemId: `l${index}` }));
  await server.bringOrder("Sent", lines, { poNumber: "PO-1" });
  await using agent = await connectAgent(server);
  const whole = await server.get(server.order());
  assert.ok(whole.text.length > orderLettersMax);
  await assert.rejects(agent.client.readResource({ uri }), /purchase_order_line_item_list/);
  assert.equal((await agent.client.readResource({ uri: `${uri}.pdf` })).contents.length, 1);
});

test("an order is named by its number wherever a tool takes its id, on both surfaces under one key; an id comes first", async () => {
  await using server = await startGoodsServer();
  await using agent = await connectAgent(server);
  const made = await agent.call("purchase_order_create", { supplierId: "mill" });
  const [id, number] = [made.textAt("purchaseOrder", "purchaseOrderId"), made.textAt("purchaseOrder", "poNumber")];
  const named = await agent.call("purchase_order_update", {
    purchaseOrderId: number,
    poName: "a",
    idempotencyKey: "k",
  });
  assert.equal(named.at("purchaseOrder", "purchaseOrderId"), id);
  const again = await server.patch(
    `/api/v1/purchase-orders/${id}`,
    { poName: "a" },
    { headers: { "Idempotency-Key": "k" } },
  );
  assert.equal(again.headers["idempotent-replayed"], "true");
  const expectedDeliveryDate = "2027-01-05";
  const orders = [{ purchaseOrderId: number, expectedDeliveryDate }];
  const moved = await agent.call("purchase_orders_reschedule", { orders });
  assert.equal(moved.at("rescheduled", 0, "purchaseOrderId"), id);
  assert.equal(
    (await agent.call("activity_list", { since: "2020-01-01", purchaseOrderId: number })).at("totalCount"),
    3,
  );
  const none = await agent.call("purchase_order_get", { purchaseOrderId: "PO-9" });
  assert.equal(none.at("error", "code"), "NOT_FOUND");
  await server.bring([
    {
      type: "purchaseOrder",
      purchaseOrderId: number,
      poNumber: "X-1",
      status: "Draft",
      locationId: "warehouse",
      lineItems: [],
    },
  ]);
  const first = await agent.call("purchase_order_get", { purchaseOrderId: number });
  assert.equal(first.at("purchaseOrder", "poNumber"), "X-1");
});
