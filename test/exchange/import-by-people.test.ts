/**
 * What a person of the shop imports (§8): an order that is there keeps its history, nothing stands under another's name, and event and audit row
 * name the orders. What the operator imports is taken as it is.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ordersNamedMax } from "../../src/exchange/import-run.ts";
import { ndjson } from "../support/admin.ts";
import { askAdmin, signInAs } from "../support/people.ts";
import { adminToken, startServer, type TestServer } from "../support/server.ts";

const pathOf = (server: TestServer): string => `/shops/${server.shopId}`;

const file = (...records: readonly object[]): string => Buffer.from(ndjson(records)).toString();

async function bring(server: TestServer, bearer: string, ...records: readonly object[]) {
  const answer = await askAdmin(server, "POST", `${pathOf(server)}/import`, file(...records), { key: bearer });
  assert.equal(answer.status, 200, answer.text);
}

const entry = (logId: string, name: string, more: object = {}) => ({
  logId,
  occurredAt: "2026-01-01T00:00:00.000Z",
  action: "status",
  message: "Moved from Draft to Sent.",
  actor: { type: "api-key", id: "key_victim", name },
  operation: "purchase_order_status",
  requestId: "req_forged",
  changes: [],
  ...more,
});

const order = (purchaseOrderId: string, more: object = {}) => ({
  type: "purchaseOrder",
  purchaseOrderId,
  poNumber: `N-${purchaseOrderId}`,
  currencyCode: "EUR",
  lineItems: [{ poLineItemId: `${purchaseOrderId}-1`, variantId: "v", quantityOrdered: 5, unitCost: 2 }],
  ...more,
});

interface Shown {
  readonly logId: string;
  readonly message: string;
  readonly origin?: string;
  readonly actor: { readonly type: string; readonly id: string | null; readonly name: string | null };
  readonly changes: readonly { readonly field: string; readonly before: unknown; readonly after: unknown }[];
}

const logOf = async (server: TestServer, purchaseOrderId: string): Promise<readonly Shown[]> =>
  Object(JSON.parse((await server.get(`/api/v1/purchase-orders/${purchaseOrderId}/log`)).text)).data.log;

test("an order that an owner replaces by import keeps its log, which gains an entry with before and after", async () => {
  await using server = await startServer({ console: true });
  const created = await server.request("POST", "/api/v1/purchase-orders", {
    body: { poName: "First", lineItems: [{ variantId: "v", quantityOrdered: 3, unitCost: 1 }] },
  });
  const { purchaseOrder } = Object(JSON.parse(created.text)).data;
  const before = await logOf(server, purchaseOrder.purchaseOrderId);
  const owner = await signInAs(server, "owner");
  const { purchaseOrderId, lineItems } = purchaseOrder;
  const record = order(purchaseOrderId, {
    poName: "Second",
    createdAt: purchaseOrder.createdAt,
    lineItems: [{ poLineItemId: lineItems[0].poLineItemId, variantId: "v", quantityOrdered: 9, unitCost: 1 }],
    log: [entry("log_forged", "Reorder bot")],
  });
  await bring(server, await owner.bearer(), record);
  const [replaced, ...rest] = await logOf(server, purchaseOrderId);
  assert.deepEqual(rest, before, "nothing of the file, and all that was there");
  assert.equal(replaced?.message, "Replaced by import.");
  assert.equal(replaced.actor.type, "user");
  assert.equal(replaced.actor.id, owner.personId);
  const changed = new Map(replaced.changes.map(({ field, before: old, after }) => [field, [old, after]]));
  assert.deepEqual(changed.get("poName"), ["First", "Second"]);
  assert.deepEqual(changed.get("quantityOrdered"), [3, 9]);
  assert.equal(changed.has("version"), false);
  await bring(server, await owner.bearer(), record);
  assert.equal((await logOf(server, purchaseOrderId)).length, rest.length + 1, "the same again changes nothing");
});

test("entries of a person's file are marked and stand under no key, in orders and transfers; the operator's are as they were", async () => {
  await using server = await startServer({ console: true });
  const owner = await signInAs(server, "owner");
  const transfer = (transferOrderId: string) => ({
    type: "transferOrder",
    transferOrderId,
    log: [entry("log_t", "Bot")],
  });
  await bring(server, await owner.bearer(), order("po-new", { log: [entry("log_1", "Bot")] }), transfer("to-1"));
  const [imported, told] = await logOf(server, "po-new");
  assert.match(imported?.message ?? "", /^Imported as Draft\.$/);
  assert.equal(imported?.actor.id, owner.personId);
  assert.deepEqual(told, {
    ...entry("log_1", "Bot"),
    actor: { type: "api-key", id: null, name: "Bot" },
    origin: "import",
  });
  const moved = Object(JSON.parse((await server.get("/api/v1/transfer-orders/to-1/log")).text)).data.log;
  assert.deepEqual(
    moved.map(({ origin, actor }: Shown) => [origin, actor.id]),
    [["import", null]],
  );
  const key = await owner.bearer();
  const changes = await askAdmin(server, "GET", `${pathOf(server)}/changes?keyId=key_victim`, undefined, { key });
  assert.equal(Object(JSON.parse(changes.text)).data.totalCount, 0);

  await bring(
    server,
    adminToken,
    order("po-op", { log: [entry("log_2", "Bot")] }),
    order("po-new", { log: [entry("log_1", "Bot")] }),
  );
  for (const [id, logId] of [
    ["po-op", "log_2"],
    ["po-new", "log_1"],
  ] as const)
    assert.deepEqual(await logOf(server, id), [entry(logId, "Bot")]);
});

test("an export of marked entries comes in again as it was", async () => {
  await using server = await startServer({ console: true });
  const owner = await signInAs(server, "owner");
  await bring(server, await owner.bearer(), order("po-a", { log: [entry("log_1", "Bot")] }));
  const exported = async (): Promise<string> => (await askAdmin(server, "GET", `${pathOf(server)}/export`)).text;
  const before = await exported();
  assert.match(before, /"origin":"import"/);
  const again = await askAdmin(server, "POST", `${pathOf(server)}/import`, before);
  assert.equal(again.status, 200, again.text);
  assert.equal(await exported(), before);
});

test("event and audit row of an owner's import name the person and the orders, as many as they have room for", async () => {
  await using server = await startServer({ console: true });
  const owner = await signInAs(server, "owner");
  const bearer = await owner.bearer();
  await bring(server, bearer, order("po-1"), order("po-2"), { type: "location", locationId: "l", name: "L" });
  const last = async () => {
    const { events } = Object(
      JSON.parse(
        (await askAdmin(server, "GET", `${pathOf(server)}/events?types=import.completed`, undefined, { key: bearer }))
          .text,
      ),
    ).data;
    return events.at(-1);
  };
  const event = await last();
  assert.deepEqual(event.data, {
    counts: { purchaseOrder: 2, location: 1 },
    purchaseOrderIds: ["po-1", "po-2"],
    purchaseOrderIdsTruncated: false,
  });
  assert.equal(event.actor.id, owner.personId);
  const audit = await askAdmin(server, "GET", `${pathOf(server)}/audit-log?operation=shop_import`, undefined, {
    key: bearer,
  });
  const [row] = Object(JSON.parse(audit.text)).data.auditLog;
  assert.equal(row.detail, '{"purchaseOrderIds":["po-1","po-2"]}');
  await bring(server, bearer, ...Array.from({ length: ordersNamedMax + 1 }, (_, index) => order(`po-many-${index}`)));
  const many = await last();
  assert.equal(many.data.purchaseOrderIds.length, ordersNamedMax);
  assert.equal(many.data.purchaseOrderIdsTruncated, true);
});
