/** Limits of a key (C78) over the API: given, shown, held and counted, with no interleaving that passes a cap. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { limitIdsMax } from "../../src/admin/access/key-limits.ts";
import { dayMs } from "../../src/base/time/calendar.ts";
import { askAdmin, signInWith } from "../support/people.ts";
import { fxRate } from "../support/goods.ts";
import { connectAgent } from "../support/mcp.ts";
import { startServer, type TestResponse, type TestServer } from "../support/server.ts";

const orders = "/api/v1/purchase-orders";

type Limits = Readonly<Record<string, unknown>>;

interface LimitedKey {
  readonly keyId: string;
  readonly key: string;
}

const keysPath = ({ shopId }: TestServer): string => `/shops/${shopId}/keys`;

async function keyWith(server: TestServer, limits: Limits | null): Promise<LimitedKey> {
  const made = await askAdmin(server, "POST", keysPath(server), {
    name: "An agent",
    scope: "write",
    ...(limits === null ? {} : { limits: { beyond: "refuse", ...limits } }),
  });
  assert.equal(made.status, 201, made.text);
  return { keyId: made.textAt("data", "keyId"), key: made.textAt("data", "apiKey") };
}

/** A Draft of one line that is worth so much. */
async function draft(server: TestServer, key: string, unitCost: number, facts: object = {}): Promise<string> {
  const made = await server.post(orders, { locationId: "loc_a", supplierId: "sup_a", ...facts }, { key });
  assert.equal(made.status, 201, made.text);
  const id = made.textAt("data", "purchaseOrder", "purchaseOrderId");
  const added = await addLine(server, key, id, unitCost);
  assert.equal(added.status, 201, added.text);
  return id;
}

const addLine = (server: TestServer, key: string, id: string, unitCost: number): Promise<TestResponse> =>
  server.post(`${orders}/${id}/line-items/custom`, { quantityOrdered: 1, unitCost, productName: "Work" }, { key });

const move = (server: TestServer, key: string, id: string, status: string): Promise<TestResponse> =>
  server.post(`${orders}/${id}/status`, { status }, { key });

async function sent(server: TestServer, key: string, unitCost: number, facts: object = {}): Promise<string> {
  const id = await draft(server, key, unitCost, facts);
  const answered = await move(server, key, id, "Sent");
  assert.equal(answered.status, 200, answered.text);
  return id;
}

const details = (answered: TestResponse): unknown => {
  assert.equal(answered.status, 403, answered.text);
  assert.equal(answered.textAt("error", "code"), "FORBIDDEN_SCOPE");
  assert.equal(answered.textAt("error", "reason"), "LIMIT_EXCEEDED");
  return answered.at("error", "details");
};

async function used(server: TestServer, keyId: string): Promise<unknown> {
  const keys = (await askAdmin(server, "GET", keysPath(server))).at("data", "keys");
  assert.ok(Array.isArray(keys));
  return keys.find((key) => key.keyId === keyId)?.limitsUsed;
}

const spent = (dayValue: number, monthValue = dayValue): object => ({ dayValue, monthValue });

test("limits are shown as they were given, replaced as a whole and lifted by null; what makes none of sense is refused", async () => {
  await using server = await startServer({ console: true });
  const given = {
    orderValueMax: 100.5,
    dayValueMax: 200,
    monthValueMax: 300,
    unitCostRisePercentMax: 12.5,
    supplierIds: ["sup_a"],
    locationIds: ["loc_a"],
    beyond: "refuse",
  };
  const { keyId } = await keyWith(server, given);
  const path = `${keysPath(server)}/${keyId}`;
  const patched = (limits: unknown): Promise<TestResponse> => askAdmin(server, "PATCH", path, { limits });
  const paused = await askAdmin(server, "PATCH", path, { paused: false });
  assert.deepEqual(paused.at("data", "key", "limits"), given);
  assert.deepEqual(paused.at("data", "key", "limitsUsed"), spent(0));
  const others = await patched({ dayValueMax: 0, beyond: "refuse" });
  assert.deepEqual(others.at("data", "key", "limits"), {
    orderValueMax: null,
    dayValueMax: 0,
    monthValueMax: null,
    unitCostRisePercentMax: null,
    supplierIds: null,
    locationIds: null,
    beyond: "refuse",
  });
  const many = Array.from({ length: limitIdsMax }, (_, index) => `sup_${index}`);
  assert.equal((await patched({ supplierIds: many, beyond: "refuse" })).status, 200);
  const wrong: readonly (readonly [unknown, RegExp])[] = [
    [{ dayValueMax: 1, beyond: "wait" }, /beyond/],
    [{ beyond: "refuse" }, /names no limit/],
    [{ dayValueMax: -1, beyond: "refuse" }, /dayValueMax/],
    [{ unitCostRisePercentMax: -1, beyond: "refuse" }, /unitCostRisePercentMax/],
    [{ unitCostRisePercentMax: 0.0001, beyond: "refuse" }, /at most 3 decimals/],
    [{ supplierIds: [], beyond: "refuse" }, /supplierIds/],
    [{ supplierIds: ["a", "a"], beyond: "refuse" }, /given twice/],
    [{ supplierIds: [...many, "one more"], beyond: "refuse" }, /supplierIds/],
  ];
  for (const [limits, message] of wrong) {
    const refused = await patched(limits);
    assert.equal(refused.status, 400, JSON.stringify(limits));
    assert.match(refused.text, message);
  }
  const lifted = await patched(null);
  assert.deepEqual([lifted.at("data", "key", "limits"), lifted.at("data", "key", "limitsUsed")], [null, null]);
});

test("what leaves Draft and what rises counts, what falls, is cancelled or a Draft again is given back, whoever does it", async () => {
  await using server = await startServer({ console: true });
  const { keyId, key } = await keyWith(server, { orderValueMax: 100, dayValueMax: 150 });
  const id = await draft(server, key, 60);
  assert.deepEqual(await used(server, keyId), spent(0), "a Draft is no spending");
  assert.equal((await move(server, key, id, "Sent")).status, 200);
  assert.equal((await addLine(server, key, id, 40)).status, 201, "a maximum itself is within");
  assert.deepEqual(await used(server, keyId), spent(100));
  assert.deepEqual(details(await addLine(server, key, id, 0.01)), [
    { limit: "orderValueMax", allowed: 100, used: 0, asked: 100.01 },
  ]);
  const other = await draft(server, key, 51);
  assert.deepEqual(details(await move(server, key, other, "Sent")), [
    { limit: "dayValueMax", allowed: 150, used: 100, asked: 51 },
  ]);
  const lineItemId = (await server.get(`${orders}/${id}`)).textAt(
    "data",
    "purchaseOrder",
    "lineItems",
    1,
    "poLineItemId",
  );
  const cut = await server.patch(`${orders}/${id}/line-items`, {
    lines: [{ lineItemId, unitCost: 30 }],
  });
  assert.equal(cut.status, 200, cut.text);
  assert.deepEqual(await used(server, keyId), spent(90), "a person has lowered it");
  assert.equal((await move(server, key, other, "Sent")).status, 200);
  assert.deepEqual(await used(server, keyId), spent(141));
  assert.equal((await move(server, key, other, "On Hold")).status, 200);
  assert.equal((await move(server, key, other, "Sent")).status, 200);
  assert.deepEqual(await used(server, keyId), spent(141), "a held order that comes back counts once");
  assert.equal((await move(server, server.writeKey, other, "Cancelled")).status, 200);
  assert.deepEqual(await used(server, keyId), spent(90));
  assert.equal((await move(server, key, id, "Draft")).status, 200);
  assert.deepEqual(await used(server, keyId), spent(0));
  assert.equal((await server.delete(`${orders}/${id}`, { key })).status, 200);
});

test("a key that had none is held from its next call on, and counts from then", async () => {
  await using server = await startServer({ console: true });
  const { keyId, key } = await keyWith(server, null);
  await sent(server, key, 60);
  const path = `${keysPath(server)}/${keyId}`;
  const limits = { dayValueMax: 50, beyond: "refuse" };
  const limited = await askAdmin(server, "PATCH", path, { limits });
  assert.deepEqual(limited.at("data", "key", "limitsUsed"), spent(0));
  details(await move(server, key, await draft(server, key, 50.01), "Sent"));
  await sent(server, key, 50);
  assert.deepEqual(await used(server, keyId), spent(50));
});

test("an import that replaces an order gives nothing back", async () => {
  await using server = await startServer({ console: true });
  const { keyId, key } = await keyWith(server, { dayValueMax: 100 });
  const purchaseOrderId = await sent(server, key, 60);
  const record = { type: "purchaseOrder", purchaseOrderId, status: "Sent", locationId: "loc_a", lineItems: [] };
  const imported = await askAdmin(server, "POST", `/shops/${server.shopId}/import`, `${JSON.stringify(record)}\n`);
  assert.equal(imported.status, 200, imported.text);
  assert.equal((await server.get(`${orders}/${purchaseOrderId}`)).at("data", "purchaseOrder", "grandTotal"), 0);
  assert.deepEqual(await used(server, keyId), spent(60));
  details(await move(server, key, await draft(server, key, 41), "Sent"));
});

test("days and months are the shop's, and a limit that is lowered holds from the next commit on", async () => {
  await using server = await startServer({ console: true, shop: { timezone: "Asia/Tokyo" } });
  // Shortly before midnight of a last day but one of a month, where the shop is.
  const now = server.clock.now();
  const inTokyo = new Date(now + 9 * 3_600_000);
  const target = Date.UTC(inTokyo.getUTCFullYear(), inTokyo.getUTCMonth() + 2, -1, 14, 59);
  server.clock.advance(target - now);
  const { keyId, key } = await keyWith(server, { dayValueMax: 100, monthValueMax: 150 });
  await sent(server, key, 100);
  const second = await draft(server, key, 50);
  details(await move(server, key, second, "Sent"));
  server.clock.advance(120_000);
  assert.deepEqual(await used(server, keyId), spent(0, 100));
  assert.equal((await move(server, key, second, "Sent")).status, 200, "another day");
  const third = await draft(server, key, 1);
  assert.deepEqual(details(await move(server, key, third, "Sent")), [
    { limit: "monthValueMax", allowed: 150, used: 150, asked: 1 },
  ]);
  server.clock.advance(dayMs);
  assert.deepEqual(await used(server, keyId), spent(0));
  assert.equal((await move(server, key, third, "Sent")).status, 200, "another month");
  const path = `${keysPath(server)}/${keyId}`;
  await askAdmin(server, "PATCH", path, { limits: { dayValueMax: 1.5, beyond: "refuse" } });
  const fourth = await draft(server, key, 1);
  assert.deepEqual(details(await move(server, key, fourth, "Sent")), [
    { limit: "dayValueMax", allowed: 1.5, used: 1, asked: 1 },
  ]);
  await askAdmin(server, "PATCH", path, { limits: null });
  assert.equal((await move(server, key, fourth, "Sent")).status, 200);
});

test("suppliers and locations are asked at create, header edits and the move to Sent", async () => {
  await using server = await startServer({ console: true });
  const { key } = await keyWith(server, { supplierIds: ["sup_a"], locationIds: ["loc_a"] });
  const create = (facts: object): Promise<TestResponse> => server.post(orders, facts, { key });
  assert.deepEqual(details(await create({ supplierId: "sup_b", locationId: "loc_b" })), [
    { limit: "supplierIds", allowed: ["sup_a"], used: null, asked: "sup_b" },
    { limit: "locationIds", allowed: ["loc_a"], used: null, asked: "loc_b" },
  ]);
  const id = (await create({ locationId: "loc_a" })).textAt("data", "purchaseOrder", "purchaseOrderId");
  details(await move(server, key, id, "Sent"));
  const patch = (facts: object): Promise<TestResponse> => server.patch(`${orders}/${id}`, facts, { key });
  details(await patch({ supplierId: "sup_b" }));
  assert.equal((await patch({ supplierId: "sup_a" })).status, 200);
  assert.equal((await move(server, key, id, "Sent")).status, 200);
  const theirs = await draft(server, server.writeKey, 1, { supplierId: "sup_b" });
  details(await move(server, key, theirs, "Sent"));
  details(await server.patch(`${orders}/${theirs}`, { noteToSupplier: "x" }, { key }));
});

test("what cannot be priced is beyond a limit of value", async () => {
  await using server = await startServer({ console: true });
  const { keyId, key } = await keyWith(server, { monthValueMax: 1_000 });
  const id = await draft(server, key, 1, { currencyCode: "USD" });
  assert.deepEqual(details(await move(server, key, id, "Sent")), [
    { limit: "monthValueMax", allowed: 1_000, used: 0, asked: null },
  ]);
  await server.changeShop({ fxRates: { USD: fxRate(0.9) } });
  assert.equal((await move(server, key, id, "Sent")).status, 200);
  assert.deepEqual(await used(server, keyId), spent(0.9));
});

test("a refusal is not stored under its key, a dry run tells the same, and agents are told in their words", async () => {
  await using server = await startServer({ console: true });
  const { keyId, key } = await keyWith(server, { dayValueMax: 10 });
  const id = await draft(server, key, 11);
  const headers = { "Idempotency-Key": "once" };
  const ask = (): Promise<TestResponse> => server.post(`${orders}/${id}/status`, { status: "Sent" }, { key, headers });
  const expected = [{ limit: "dayValueMax", allowed: 10, used: 0, asked: 11 }];
  assert.deepEqual(
    details(await server.post(`${orders}/${id}/status?dryRun=true`, { status: "Sent" }, { key })),
    expected,
  );
  assert.deepEqual(details(await ask()), expected);
  await using agent = await connectAgent(server, { key });
  const told = await agent.call("purchase_order_status", { purchaseOrderId: id, status: "Sent" });
  assert.ok(told.isError);
  assert.deepEqual(told.at("error", "details"), expected);
  assert.match(told.textAt("error", "message"), /A day's orders: 10 EUR of 10 EUR are left; this asks for 11 EUR/);
  await askAdmin(server, "PATCH", `${keysPath(server)}/${keyId}`, { limits: { dayValueMax: 11, beyond: "refuse" } });
  const done = await ask();
  assert.equal(done.status, 200, done.text);
  assert.equal((await ask()).text, done.text);
  assert.deepEqual(await used(server, keyId), spent(11), "a replay counts nothing");
});

test("who has signed in with a key is under its limits", async () => {
  await using server = await startServer({ console: true });
  const { keyId, key } = await keyWith(server, { dayValueMax: 10 });
  const person = await signInWith(server, { apiKey: key, name: "Somebody" });
  const bearer = await person.bearer();
  await sent(server, bearer, 6);
  assert.deepEqual(await used(server, keyId), spent(6));
  details(await move(server, key, await draft(server, key, 5), "Sent"));
});

test("no interleaving of calls passes a cap: of twenty at once those are sent for which there is room", async () => {
  await using server = await startServer({ console: true });
  const { keyId, key } = await keyWith(server, { dayValueMax: 100 });
  const drafts = await Promise.all(Array.from({ length: 20 }, (_, index) => draft(server, key, 10 + (index % 3))));
  const answers = await Promise.all(drafts.map((id) => move(server, key, id, "Sent")));
  for (const answered of answers) assert.ok([200, 403].includes(answered.status), answered.text);
  const values = answers.map((answered, index) => (answered.status === 200 ? 10 + (index % 3) : 0));
  const sum = values.reduce((total, value) => total + value, 0);
  assert.ok(sum <= 100 && sum > 88, `${sum}`);
  assert.deepEqual(await used(server, keyId), spent(sum));
});
