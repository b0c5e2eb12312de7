/** Operations as tools: what an agent is told of each, and that a call is the REST request it stands for (M1). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { requestFingerprint } from "../../src/core/access/idempotency.ts";
import { type JsonObject, parseJson } from "../../src/base/json.ts";
import { incomingOf, toolOf } from "../../src/mcp/tools.ts";
import { type Operation, operation } from "../../src/requests/operation.ts";
import { operations } from "../../src/operations/registry.ts";

const named = (name: string): Operation => {
  const operation = operations.find((each) => each.name === name);
  assert.ok(operation !== undefined, name);
  return operation;
};

const callOf = (name: string, input: JsonObject) =>
  incomingOf({ tool: toolOf(named(name)), arguments: input, requestId: "req_1", bearerToken: null, malformed: null });

async function fingerprintOf(name: string, input: JsonObject): Promise<string> {
  const incoming = callOf(name, input);
  return requestFingerprint({ ...incoming, body: { json: parseJson(await incoming.body()) } });
}

test("hints follow the specification's table of repeat safety", () => {
  // Reads only · replaces something · the same again does no more · reaches the storefront.
  const table: Readonly<Record<string, readonly [boolean, boolean, boolean, boolean]>> = {
    purchase_order_create: [false, false, false, false],
    purchase_order_update: [false, true, true, false],
    purchase_order_delete: [false, true, true, false],
    purchase_order_line_item_add: [false, false, false, false],
    purchase_order_line_item_add_custom: [false, false, false, false],
    purchase_order_line_item_update: [false, true, true, false],
    purchase_order_line_item_delete: [false, true, true, false],
    purchase_order_status: [false, true, false, true],
    purchase_order_confirm: [false, true, true, true],
    purchase_order_receive: [false, true, true, true],
    purchase_order_unreceive: [false, true, false, true],
    purchase_order_complete: [false, true, true, true],
    purchase_order_quick_complete: [false, true, false, true],
    purchase_order_storefront_sync: [false, true, true, true],
    reorder_from_view: [false, false, false, false],
    comment_add: [false, false, false, false],
    purchase_orders_reschedule: [false, true, true, false],
    supplier_update: [false, true, true, false],
    purchase_order_storefront_sync_reset: [false, true, true, false],
    approval_request_withdraw: [false, true, false, false],
  };
  for (const operation of operations) {
    const { annotations } = toolOf(operation).definition;
    assert.ok(annotations !== undefined);
    const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations;
    assert.deepEqual(
      [readOnlyHint, destructiveHint, idempotentHint, openWorldHint],
      operation.scope === "read" ? [true, undefined, undefined, false] : table[operation.name],
      operation.name,
    );
  }
});

test("every tool has what clients ask of one, and offers nothing that is always refused", () => {
  for (const operation of operations) {
    const { name, description = "", inputSchema } = toolOf(operation).definition;
    assert.match(name, /^[a-z_]{1,64}$/);
    assert.ok(description.length > 80 && !description.includes(operation.route?.path ?? "/api/v1"), name);
    assert.equal(inputSchema.type, "object");
    const members = Object.keys(inputSchema.properties ?? {});
    const refused = members.filter((member) => operation.input.shape[member]?.safeParse(undefined).success === false);
    assert.deepEqual(new Set(inputSchema.required), new Set(refused), `${name}: what is required`);
    assert.equal(members.includes("idempotencyKey"), operation.scope === "write", name);
  }
  assert.ok(!("status" in (toolOf(named("purchase_order_update")).definition.inputSchema.properties ?? {})));
});

test("a call is the same request as on REST: path escaped, lists joined, the rest in the body, the key outside", async () => {
  const json = (value: JsonObject) => ({ json: value });
  const cases: readonly (readonly [string, JsonObject, Parameters<typeof requestFingerprint>[0]])[] = [
    [
      "purchase_order_receive",
      { purchaseOrderId: "a/b ü", lines: [{ lineItemId: "x", quantityReceived: 1 }], idempotencyKey: "k" },
      {
        method: "POST",
        path: "/api/v1/purchase-orders/a%2Fb%20%C3%BC/receive",
        query: [],
        body: json({ lines: [{ lineItemId: "x", quantityReceived: 1 }] }),
      },
    ],
    [
      "purchase_order_line_item_delete",
      { purchaseOrderId: "po", lineItemIds: ["x", "y"] },
      {
        method: "DELETE",
        path: "/api/v1/purchase-orders/po/line-items",
        query: [["lineItemIds", "x,y"]],
        body: json({}),
      },
    ],
    [
      "purchase_order_complete",
      { purchaseOrderId: "po" },
      { method: "POST", path: "/api/v1/purchase-orders/po/complete", query: [], body: json({}) },
    ],
    [
      "manufacturing_order_list",
      { status: ["Draft", "Planned"], includeMeasures: true, limit: 5 },
      {
        method: "GET",
        path: "/api/v1/manufacturing-orders",
        query: [
          ["status", "Draft"],
          ["status", "Planned"],
          ["includeMeasures", "true"],
          ["limit", "5"],
        ],
        body: json({}),
      },
    ],
  ];
  for (const [name, input, rest] of cases)
    assert.equal(await fingerprintOf(name, input), requestFingerprint(rest), name);
});

test("what differs in any member is another request", async () => {
  const inputs: readonly JsonObject[] = [
    { purchaseOrderId: "po", lineItemIds: ["x"] },
    { purchaseOrderId: "po", lineItemIds: ["y"] },
    { purchaseOrderId: "po2", lineItemIds: ["x"] },
    { purchaseOrderId: "po", lineItemIds: ["x"], unknown: 1 },
  ];
  const all = await Promise.all(inputs.map((input) => fingerprintOf("purchase_order_line_item_delete", input)));
  assert.equal(new Set(all).size, inputs.length);
});

test("an id that no path can hold leaves the path as its template", () => {
  for (const purchaseOrderId of [5, "x".repeat(256), "\ud800", null])
    assert.equal(
      callOf("purchase_order_get", { purchaseOrderId }).path,
      "/api/v1/purchase-orders/{purchaseOrderId}",
      JSON.stringify(purchaseOrderId),
    );
});

test("a tool that REST has no path for is a request of its own kind, told apart by name and members", async () => {
  const made = (name: string): Operation =>
    operation({
      name,
      title: "Count crates",
      summary: "Counts crates.",
      description: "For tests.",
      tag: "Crates",
      toolSets: ["stock"],
      scope: "write",
      route: null,
      success: 200,
      repeat: "adds-again",
      destructive: false,
      faults: [],
      input: z.strictObject({ label: z.string() }),
      output: z.strictObject({ crates: z.int() }),
      run: () => Promise.resolve({ data: { crates: 0 } }),
    });
  const asked = (name: string, input: JsonObject) =>
    incomingOf({ tool: toolOf(made(name)), arguments: input, requestId: "req_1", bearerToken: null, malformed: null });
  const incoming = asked("crate_count", { label: "a", idempotencyKey: "k" });
  assert.equal(incoming.method, "TOOL");
  assert.equal(incoming.path, "/crate_count");
  assert.deepEqual(incoming.query, []);
  assert.deepEqual(incoming.idempotencyKeys, ["k"]);
  assert.deepEqual(parseJson(await incoming.body()), { label: "a" });
  const identities = [
    asked("crate_count", { label: "a" }),
    asked("crate_count", { label: "b" }),
    asked("crate_weigh", { label: "a" }),
  ];
  const fingerprints = await Promise.all(
    identities.map(async (each) => requestFingerprint({ ...each, body: { json: parseJson(await each.body()) } })),
  );
  assert.equal(new Set(fingerprints).size, identities.length);
});
