/**
 * What a person of the shop imports (§8): an order that is there keeps its history, nothing stands under another's name, and event and audit row
 * name the orders. What the operator imports is taken as it is.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { recordsNamedMax } from "../../src/exchange/import-run.ts";
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

test("a transfer and a manufacturing order that an owner replaces keep their log, which tells before and after (§8)", async () => {
  await using server = await startServer({ console: true });
  const key = await (await signInAs(server, "owner")).bearer();
  const records = (note: string, quantity: number, name: string) => [
    {
      type: "transferOrder",
      transferOrderId: "to-1",
      createdAt: "2026-01-01T00:00:00.000Z",
      note,
      lineItems: [
        { transferLineItemId: "a", variantId: "v", quantityRequested: quantity },
        { transferLineItemId: "b", variantId: "w", quantityRequested: 1 },
      ],
      log: [entry(`log_to_${name}`, name)],
    },
    {
      type: "manufacturingOrder",
      manufacturingOrderId: "mo-1",
      createdAt: "2026-01-01T00:00:00.000Z",
      note,
      itemsToBuild: [{ moItemId: "i", variantId: "v", quantityPlanned: quantity }],
      log: [entry(`log_mo_${name}`, name)],
    },
  ];
  const logs = async (): Promise<readonly (readonly Shown[])[]> =>
    await Promise.all(
      ["transfer-orders/to-1", "manufacturing-orders/mo-1"].map(
        async (path) => Object(JSON.parse((await server.get(`/api/v1/${path}/log`)).text)).data.log,
      ),
    );
  await bring(server, adminToken, ...records("old", 5, "Bot"));
  const [[transferred], [made]] = Object(await logs());
  assert.deepEqual([transferred, made], [entry("log_to_Bot", "Bot"), entry("log_mo_Bot", "Bot")]);
  await bring(server, key, ...records("new", 9, "Forger"));
  for (const [index, log] of (await logs()).entries()) {
    assert.deepEqual(log.slice(1), [index === 0 ? transferred : made], "nothing of the file, and all that was there");
    assert.equal(log[0]?.message, "Replaced by import.");
    assert.equal(log[0].actor.type, "user");
    const changed = new Map(log[0].changes.map(({ field, before, after }) => [field, [before, after]]));
    assert.deepEqual(changed.get("note"), ["old", "new"]);
    const [before, after] = Object(changed.get(index === 0 ? "lineItems" : "itemsToBuild"));
    assert.deepEqual([before.length, after.length], [1, 1], "only the line that is another");
    const quantity = index === 0 ? "quantityRequested" : "quantityPlanned";
    assert.deepEqual([before[0][quantity], after[0][quantity]], [5, 9]);
    assert.equal(changed.has("createdAt") || changed.has("log"), false);
  }
  await bring(server, key, ...records("new", 9, "Forger"));
  assert.deepEqual(
    (await logs()).map((log) => log.length),
    [2, 2],
    "the same again changes nothing",
  );
  const audit = await askAdmin(server, "GET", `${pathOf(server)}/audit-log?operation=shop_import`, undefined, { key });
  const named = { transferOrderIds: ["to-1"], manufacturingOrderIds: ["mo-1"] };
  assert.equal(Object(JSON.parse(audit.text)).data.auditLog[0].detail, JSON.stringify(named));
  const told = await askAdmin(server, "GET", `${pathOf(server)}/events?types=import.completed`, undefined, { key });
  assert.deepEqual(Object(JSON.parse(told.text)).data.events.at(-1).data, {
    counts: { transferOrder: 1, manufacturingOrder: 1 },
    transferOrderIds: ["to-1"],
    transferOrderIdsTruncated: false,
    manufacturingOrderIds: ["mo-1"],
    manufacturingOrderIdsTruncated: false,
  });
});

test("stock takes and adjustments that a person imports are named by event and audit row", async () => {
  await using server = await startServer({ console: true });
  const key = await (await signInAs(server, "owner")).bearer();
  await bring(
    server,
    key,
    { type: "stockTake", stockTakeId: "st-1", locationId: "l", countType: "full" },
    { type: "stockAdjustment", stockAdjustmentId: "sa-1", locationId: "l" },
  );
  const audit = await askAdmin(server, "GET", `${pathOf(server)}/audit-log?operation=shop_import`, undefined, { key });
  const named = { stockTakeIds: ["st-1"], stockAdjustmentIds: ["sa-1"] };
  assert.equal(Object(JSON.parse(audit.text)).data.auditLog[0].detail, JSON.stringify(named));
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
  await bring(server, bearer, ...Array.from({ length: recordsNamedMax + 1 }, (_, index) => order(`po-many-${index}`)));
  const many = await last();
  assert.equal(many.data.purchaseOrderIds.length, recordsNamedMax);
  assert.equal(many.data.purchaseOrderIdsTruncated, true);
});
