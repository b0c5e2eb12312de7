/** Approval requests (C77 to C80) over the API: proposed, beyond a limit, by a rule; decided once, and as previewed. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { approvalRulesMax, ruleIdsMax } from "../../src/admin/access/approval-rules.ts";
import { isJsonObject } from "../../src/base/json.ts";
import { dayMs } from "../../src/base/time/calendar.ts";
import {
  approvalRequestBytesMax,
  approvalRequestsKeptMs,
  approvalRequestsPendingMax,
  loadApprovalRequest,
  requestStatements,
} from "../../src/shop/access/approval-requests.ts";
import type { Mailing } from "../../src/requests/operation.ts";
import { lineA, startGoodsServer } from "../support/goods-server.ts";
import { askAdmin, invite, signInWith, type SignedInPerson } from "../support/people.ts";
import { connectAgent } from "../support/mcp.ts";
import { exportedRecords } from "../support/shops/exported-records.ts";
import { startServer, type TestResponse, type TestServer } from "../support/server.ts";

const orders = "/api/v1/purchase-orders";

const keyWith = async (server: TestServer, facts: object, maker?: SignedInPerson): Promise<string> =>
  (await madeKey(server, facts, maker)).key;

/** A key made by the operator, or by a person. */
async function madeKey(server: TestServer, facts: object, maker?: SignedInPerson) {
  const options = maker === undefined ? {} : { key: await maker.bearer() };
  const made = await askAdmin(server, "POST", `/shops/${server.shopId}/keys`, { name: "Agent", ...facts }, options);
  assert.equal(made.status, 201, made.text);
  return { key: made.textAt("data", "apiKey"), keyId: made.textAt("data", "keyId") };
}

async function draft(server: TestServer, key: string, unitCost: number, facts: object = {}): Promise<string> {
  const made = await server.post(orders, { locationId: "loc_a", supplierId: "sup_a", ...facts }, { key });
  assert.equal(made.status, 201, made.text);
  const id = made.textAt("data", "purchaseOrder", "purchaseOrderId");
  const line = { quantityOrdered: 1, unitCost, productName: "Work" };
  assert.equal((await server.post(`${orders}/${id}/line-items/custom`, line, { key })).status, 201);
  return id;
}

const move = (server: TestServer, key: string, id: string, status = "Sent", headers = {}): Promise<TestResponse> =>
  server.post(`${orders}/${id}/status`, { status }, { key, headers });

const statusOf = async (server: TestServer, id: string): Promise<unknown> =>
  (await server.get(`${orders}/${id}`)).at("data", "purchaseOrder", "status");

/** The id of the request that an answer tells of. */
function asked(answered: TestResponse): string {
  assert.equal(answered.status, 202, answered.text);
  assert.equal(answered.at("data", "approvalRequest", "status"), "pending");
  return answered.textAt("data", "approvalRequest", "approvalRequestId");
}

const causesOf = (answered: TestResponse): unknown => answered.at("data", "approvalRequest", "causes");

type As = SignedInPerson | null;

async function decide(server: TestServer, id: string, word: string, by: As = null, body: object = {}) {
  const options = by === null ? {} : { key: await by.bearer() };
  return await askAdmin(server, "POST", `/shops/${server.shopId}/approval-requests/${id}/${word}`, body, options);
}

async function became(server: TestServer, id: string): Promise<unknown> {
  const found = await askAdmin(server, "GET", `/shops/${server.shopId}/approval-requests/${id}`);
  return found.at("data", "approvalRequest", "status");
}

const person = async (server: TestServer, role: "owner" | "purchaser" | "viewer", name?: string) =>
  signInWith(server, { invitation: await invite(server, role, name) });

const setShop = async (server: TestServer, settings: object): Promise<void> => {
  const set = await askAdmin(server, "PUT", `/shops/${server.shopId}`, { settings });
  assert.equal(set.status, 200, set.text);
};

test("requests are filtered by several statuses at once, page by page (C13)", async () => {
  await using server = await startServer({ console: true });
  const { key } = await madeKey(server, { scope: "propose" });
  const ids: string[] = [];
  for (let index = 0; index < 6; index += 1)
    ids.push(asked(await server.post(orders, { poName: `Order ${index}` }, { key })));
  for (const [index, id] of ids.entries())
    if (index % 3 !== 0) await decide(server, id, index % 3 === 1 ? "approve" : "reject");
  const found = async (query: string): Promise<unknown[]> => {
    const rows: unknown[] = [];
    for (let cursor: string | null = ""; cursor !== null;) {
      const after: string = cursor === "" ? "" : `&cursor=${cursor}`;
      const path = `/shops/${server.shopId}/approval-requests?limit=1&${query}${after}`;
      const page = await askAdmin(server, "GET", path);
      assert.equal(page.status, 200, page.text);
      rows.push(page.at("data", "approvalRequests", 0, "approvalRequestId"));
      const next = page.at("data", "cursor");
      cursor = typeof next === "string" ? next : null;
      if (cursor === null) assert.equal(page.at("data", "totalCount"), rows.length, query);
    }
    return rows;
  };
  const newest = ids.toReversed();
  const pendingOrRejected = newest.filter((id) => ids.indexOf(id) % 3 !== 1);
  assert.deepEqual(await found("status=rejected,pending,rejected"), pendingOrRejected);
  assert.deepEqual(await found("status=pending&status=rejected"), pendingOrRejected);
  assert.deepEqual(await found("status=pending,approved,rejected,expired"), newest);
  const agent = await connectAgent(server, { key });
  const own = await agent.call("approval_request_list", { status: ["approved", "rejected"] });
  assert.equal(own.at("totalCount"), 4);
});

test("what a proposing key writes waits for a person, does nothing until then, and is done in its name", async () => {
  await using server = await startServer({ console: true });
  const key = await keyWith(server, { scope: "propose" });
  const headers = { "Idempotency-Key": "first" };
  const body = { locationId: "loc_a", supplierId: "sup_a", noteToSupplier: "Hello" };
  const created = await server.post(orders, body, { key, headers });
  const id = asked(created);
  assert.deepEqual(causesOf(created), [{ cause: "scope" }]);
  assert.equal(created.at("data", "approvalRequest", "preview", "purchaseOrder", "noteToSupplier"), "Hello");
  assert.equal((await server.get(orders)).at("data", "totalCount"), 0);
  assert.equal((await server.post(orders, body, { key, headers })).text, created.text, "the same answer again");
  const list = await askAdmin(server, "GET", `/shops/${server.shopId}/approval-requests?status=pending`);
  assert.equal(list.at("data", "totalCount"), 1);
  const approved = await decide(server, id, "approve", null, { comment: "Go on" });
  assert.equal(approved.status, 200, approved.text);
  assert.equal(approved.at("data", "approvalRequest", "status"), "approved");
  assert.equal(approved.at("data", "approvalRequest", "comment"), "Go on");
  const rows = (await server.get(orders)).at("data", "purchaseOrders");
  assert.ok(Array.isArray(rows) && rows.length === 1);
  const log = await server.get(`${orders}/${rows[0].purchaseOrderId}/log`);
  assert.equal(log.at("data", "log", 0, "actor", "name"), "Agent");
  assert.equal(log.at("data", "log", 0, "approvedBy", "name"), "operator");
  assert.equal((await server.post(orders, body, { key, headers })).text, created.text, "after the decision too");
  const twice = await decide(server, id, "approve");
  assert.equal(twice.status, 400);
  assert.match(twice.text, /This request is approved/);
  assert.equal((await server.get(orders)).at("data", "totalCount"), 1);
});

test("a write beyond a limit that asks waits, a dry run says why, and what is approved counts", async () => {
  await using server = await startServer({ console: true });
  const key = await keyWith(server, { scope: "write", limits: { dayValueMax: 100 } });
  const id = await draft(server, key, 60);
  assert.equal((await move(server, key, id)).status, 200);
  const second = await draft(server, key, 60);
  const limit = { cause: "limit", limit: "dayValueMax", allowed: 100, used: 60, asked: 60 };
  const dry = await server.post(`${orders}/${second}/status?dryRun=true`, { status: "Sent" }, { key });
  assert.equal(dry.status, 200, dry.text);
  assert.deepEqual(dry.at("data", "approvalCauses"), [limit]);
  const sent = await move(server, key, second);
  assert.deepEqual(causesOf(sent), [limit]);
  assert.equal(await statusOf(server, second), "Draft");
  const approved = await decide(server, asked(sent), "approve");
  assert.equal(approved.at("data", "approvalRequest", "status"), "approved");
  assert.equal(await statusOf(server, second), "Sent");
  const keys = (await askAdmin(server, "GET", `/shops/${server.shopId}/keys`)).at("data", "keys");
  assert.ok(Array.isArray(keys));
  assert.deepEqual(keys.find(({ limits }) => limits !== null)?.limitsUsed, { dayValue: 120, monthValue: 120 });
});

test("rejected, withdrawn, expired and overtaken requests do nothing", async () => {
  await using server = await startServer({ console: true });
  const key = await keyWith(server, { scope: "propose" });
  const id = await draft(server, server.writeKey, 60);
  const first = asked(await move(server, key, id));
  assert.equal((await decide(server, first, "reject", null, { comment: "No" })).status, 200);
  assert.match((await decide(server, first, "approve")).text, /This request is rejected/);
  const second = asked(await move(server, key, id));
  const agent = await connectAgent(server, { key });
  const withdrawn = await agent.call("approval_request_withdraw", { approvalRequestId: second });
  assert.equal(withdrawn.isError ?? false, false, JSON.stringify(withdrawn));
  assert.match((await decide(server, second, "approve")).text, /This request is withdrawn/);
  const third = asked(await move(server, key, id));
  server.clock.advance(7 * dayMs + 1);
  assert.equal(await became(server, third), "expired");
  assert.match((await decide(server, third, "approve")).text, /This request is expired/);
  const fourth = asked(await move(server, key, id));
  const raised = await server.post(`${orders}/${id}/line-items/custom`, {
    quantityOrdered: 1,
    unitCost: 5,
    productName: "More",
  });
  assert.equal(raised.status, 201);
  const overtaken = await decide(server, fourth, "approve");
  assert.equal(overtaken.at("data", "approvalRequest", "status"), "overtaken");
  assert.equal(overtaken.at("data", "approvalRequest", "preview", "purchaseOrder", "grandTotal"), 60);
  assert.equal(overtaken.at("data", "approvalRequest", "now", "preview", "purchaseOrder", "grandTotal"), 65);
  const fifth = asked(await move(server, key, id));
  assert.equal((await move(server, server.writeKey, id)).status, 200);
  const failed = await decide(server, fifth, "approve");
  assert.equal(failed.at("data", "approvalRequest", "status"), "failed");
  assert.notEqual(failed.at("data", "approvalRequest", "refusal", "message"), undefined);
  assert.equal(await statusOf(server, id), "Sent");
});

test("what was asked for on one day is approved on another", async () => {
  await using server = await startServer({ console: true });
  const key = await keyWith(server, { scope: "propose" });
  const id = await draft(server, server.writeKey, 60);
  const request = asked(await move(server, key, id));
  server.clock.advance(2 * dayMs);
  const approved = await decide(server, request, "approve");
  assert.equal(approved.at("data", "approvalRequest", "status"), "approved", approved.text);
  assert.equal(await statusOf(server, id), "Sent");
});

test("a deletion that was asked for is overtaken when the order is worth something else by now", async () => {
  await using server = await startServer({ console: true });
  const key = await keyWith(server, { scope: "propose" });
  const id = await draft(server, server.writeKey, 60);
  const request = asked(await server.delete(`${orders}/${id}`, { key }));
  const more = { quantityOrdered: 1, unitCost: 5, productName: "More" };
  assert.equal((await server.post(`${orders}/${id}/line-items/custom`, more)).status, 201);
  assert.equal((await decide(server, request, "approve")).at("data", "approvalRequest", "status"), "overtaken");
  const again = asked(await server.delete(`${orders}/${id}`, { key }));
  assert.equal((await server.patch(`${orders}/${id}`, { poName: "Renamed" })).status, 200);
  assert.equal((await decide(server, again, "approve")).at("data", "approvalRequest", "status"), "approved");
  assert.equal((await server.get(`${orders}/${id}`)).status, 404);
});

test("an order that meets a rule of the shop is sent by nobody alone, and approved once", async () => {
  await using server = await startServer({ console: true });
  const rule = { ruleId: "r1", name: "Above 100", when: { totalAbove: 100 }, approvers: { roles: ["owner"] } };
  await setShop(server, { approvalRules: [rule] });
  const anna = await person(server, "owner", "Anna");
  const bert = await person(server, "owner", "Bert");
  const paul = await person(server, "purchaser", "Paul");
  const small = await draft(server, server.writeKey, 100);
  assert.equal((await move(server, server.writeKey, small)).status, 200, "the total itself is within");
  const id = await draft(server, server.writeKey, 101);
  const byAnna = await move(server, await anna.bearer(), id);
  assert.deepEqual(causesOf(byAnna), [{ cause: "rule", ruleId: "r1", name: "Above 100" }]);
  const own = await decide(server, asked(byAnna), "approve", anna);
  assert.equal(own.status, 403);
  assert.match(own.text, /Nobody decides what he himself has asked for/);
  assert.match((await decide(server, asked(byAnna), "approve", paul)).text, /not one of those who decide/);
  assert.equal(
    (await decide(server, asked(byAnna), "approve", bert)).at("data", "approvalRequest", "status"),
    "approved",
  );
  assert.equal(await statusOf(server, id), "Sent");
  assert.equal((await move(server, server.writeKey, id, "Draft")).status, 200);
  assert.equal((await move(server, server.writeKey, id)).status, 200, "approved once");
  const more = { quantityOrdered: 1, unitCost: 1, productName: "More" };
  asked(await server.post(`${orders}/${id}/line-items/custom`, more));
  assert.equal((await move(server, server.writeKey, id, "Draft")).status, 200);
  assert.equal((await server.patch(`${orders}/${id}`, { supplierId: "sup_b" })).status, 200);
  asked(await move(server, server.writeKey, id));
});

/** A server that mails documents, each of which takes a moment and is another one on another day. */
async function mailingServer(): Promise<TestServer & AsyncDisposable> {
  const documentOf: Mailing["documentOf"] = async (_shop, purchaseOrderId, _kind, next) => {
    const stored = (await server.get(`${orders}/${purchaseOrderId}`)).at("data", "purchaseOrder", "version");
    server.clock.advance(1);
    const day = Math.floor(server.clock.now() / dayMs);
    const facts = { contentType: "application/pdf", fileName: "order.pdf", sha256: day.toString(16).padStart(64, "0") };
    return { bytes: new Uint8Array(day % 100), orderVersion: next?.version ?? Number(stored), ...facts };
  };
  const mailing: Mailing = { perHourMax: 10, publicUrl: null, documentOf };
  const server = await startServer({ console: true, perform: () => ({ mailing }) });
  for (const supplierId of ["sup_a", "sup_b"]) {
    const facts = { supplierId, name: supplierId, email: `${supplierId}@example.com` };
    const made = await askAdmin(server, "POST", `/shops/${server.shopId}/suppliers`, facts);
    assert.equal(made.status, 201, made.text);
  }
  return server;
}

const mailed = (server: TestServer, id: string, key?: string): Promise<TestResponse> =>
  askAdmin(server, "POST", `/shops/${server.shopId}/purchase-orders/${id}/send`, {}, key === undefined ? {} : { key });

test("a Draft that meets a rule is mailed to nobody without an approval, and a key that got limits since is held to them", async () => {
  await using server = await mailingServer();
  const { key, keyId } = await madeKey(server, { scope: "propose" });
  const id = await draft(server, server.writeKey, 101);
  const request = asked(await move(server, key, id));
  const limits = { dayValueMax: 100, beyond: "refuse" };
  const limited = await askAdmin(server, "PATCH", `/shops/${server.shopId}/keys/${keyId}`, { limits });
  assert.equal(limited.status, 200, limited.text);
  const held = await decide(server, request, "approve");
  assert.equal(held.at("data", "approvalRequest", "refusal", "reason"), "LIMIT_EXCEEDED", held.text);
  const rule = { ruleId: "r1", name: "Above 100", when: { totalAbove: 100 }, approvers: { roles: ["owner"] } };
  await setShop(server, { approvalRules: [rule] });
  const sent = await mailed(server, id);
  assert.deepEqual(causesOf(sent), [{ cause: "rule", ruleId: "r1", name: "Above 100" }], sent.text);
});

test("a Draft beyond the limits of the key that somebody signed in with is mailed to nobody", async () => {
  await using server = await mailingServer();
  const limits = { orderValueMax: 100, supplierIds: ["sup_a"], beyond: "refuse" };
  const { key, keyId } = await madeKey(server, { scope: "write", limits });
  const bearer = await (await signInWith(server, { apiKey: key, name: "Bo" })).bearer();
  const refused = await mailed(server, await draft(server, server.writeKey, 101), bearer);
  const detail = { limit: "orderValueMax", allowed: 100, used: 0, asked: 101 };
  assert.deepEqual(refused.at("error", "details"), [detail], refused.text);
  const within = await draft(server, server.writeKey, 100);
  assert.equal((await mailed(server, within, bearer)).status, 200);
  assert.equal((await server.patch(`${orders}/${within}`, { supplierId: "sup_b" })).status, 200);
  assert.equal((await mailed(server, within, bearer)).at("error", "reason"), "LIMIT_EXCEEDED");
  const path = `/shops/${server.shopId}/keys/${keyId}`;
  assert.equal((await askAdmin(server, "PATCH", path, { limits: { ...limits, beyond: "ask" } })).status, 200);
  asked(await mailed(server, within, bearer));
});

test("an agent's person may decide unless the shop forbids it; nobody does by a key", async () => {
  await using server = await startServer({ console: true });
  const anna = await person(server, "owner", "Anna");
  const key = await keyWith(server, { scope: "propose" }, anna);
  const id = await draft(server, server.writeKey, 60);
  const request = asked(await move(server, key, id));
  await setShop(server, { approveOwnAgents: false });
  assert.match((await decide(server, request, "approve", anna)).text, /his own agents/);
  await setShop(server, { approveOwnAgents: true, approverRoles: ["owner", "purchaser"] });
  const byKey = await signInWith(server, { apiKey: server.writeKey, name: "Key" });
  assert.match((await decide(server, request, "approve", byKey)).text, /signed in with an API key/);
  assert.equal((await decide(server, request, "approve", anna)).at("data", "approvalRequest", "status"), "approved");
});

test("who has signed in with a key counts as an agent of whoever has made it", async () => {
  await using server = await startServer({ console: true });
  const [anna, bert] = [await person(server, "owner", "Anna"), await person(server, "owner", "Bert")];
  const { key, keyId } = await madeKey(server, { scope: "write" }, anna);
  const byKey = await (await signInWith(server, { apiKey: key, name: "Somebody" })).bearer();
  const rule = (actors: string) => ({
    ruleId: actors,
    name: actors,
    when: { actors },
    approvers: { roles: ["owner"] },
  });
  const sent = async (by: string): Promise<TestResponse> =>
    await move(server, by, await draft(server, server.writeKey, 60));
  await setShop(server, { approvalRules: [rule("people")] });
  assert.equal((await sent(byKey)).status, 200);
  await setShop(server, { approvalRules: [rule("agents")], approveOwnAgents: false });
  assert.equal((await sent(await anna.bearer())).status, 200, "a person of the shop is none");
  const answered = await sent(byKey);
  assert.deepEqual(causesOf(answered), [{ cause: "rule", ruleId: "agents", name: "agents" }], answered.text);
  const request = asked(answered);
  const path = `/shops/${server.shopId}/approval-requests/${request}`;
  assert.equal((await askAdmin(server, "GET", path)).at("data", "approvalRequest", "inNameOf"), "Anna");
  assert.match((await decide(server, request, "approve", anna)).text, /his own agents/);
  const other = asked(await sent(byKey));
  assert.equal((await decide(server, request, "approve", bert)).at("data", "approvalRequest", "status"), "approved");
  assert.equal((await askAdmin(server, "DELETE", `/shops/${server.shopId}/keys/${keyId}`)).status, 200);
  assert.match((await decide(server, other, "approve", bert)).text, /key that has asked for this is revoked/);
});

test("rules are shown as they were given; what makes none of sense is refused", async () => {
  await using server = await startServer({ console: true });
  const shop = `/shops/${server.shopId}`;
  const when = { totalAbove: 99.5, supplierIds: ["sup_a"], locationIds: ["loc_a"], actors: "agents" };
  const rule = { ruleId: "r1", name: "One", when, approvers: { roles: ["owner"], personIds: ["per_1"] }, count: 1 };
  await setShop(server, { approvalRules: [rule], approverRoles: ["purchaser"], approvalDays: 3 });
  const settings = (await askAdmin(server, "GET", shop)).at("data", "shop", "settings");
  assert.ok(settings !== undefined && isJsonObject(settings));
  assert.deepEqual(settings["approvalRules"], [rule]);
  assert.deepEqual([settings["approverRoles"], settings["approvalDays"]], [["purchaser"], 3]);
  const many = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `id_${index}`);
  const rules = (count: number) => many(count).map((ruleId) => ({ ...rule, ruleId }));
  await setShop(server, { approvalRules: rules(approvalRulesMax) });
  await setShop(server, { approvalRules: [{ ...rule, when: { ...when, supplierIds: many(ruleIdsMax) } }] });
  const wrong: readonly (readonly [object, RegExp])[] = [
    [{ approvalRules: rules(approvalRulesMax + 1) }, /approvalRules/],
    [{ approvalRules: [{ ...rule, when: { ...when, supplierIds: many(ruleIdsMax + 1) } }] }, /supplierIds/],
    [{ approvalRules: [rule, rule] }, /given twice/],
    [{ approvalRules: [{ ...rule, approvers: {} }] }, /names nobody/],
    [{ approvalRules: [{ ...rule, count: 2 }] }, /count/],
    [{ approvalDays: 0 }, /approvalDays/],
  ];
  for (const [sent, message] of wrong) {
    const refused = await askAdmin(server, "PUT", shop, { settings: sent });
    assert.equal(refused.status, 400, JSON.stringify(sent));
    assert.match(refused.text, message);
  }
});

test("so many requests wait and no more, one has so many bytes, and one that was decided is kept so long", async () => {
  await using server = await startServer({
    console: true,
    shop: { rateLimit: { capacity: 100_000, refillPerSecond: 1 } },
  });
  const key = await keyWith(server, { scope: "propose" });
  const first = asked(await server.post(orders, {}, { key }));
  assert.equal((await decide(server, first, "reject")).status, 200);
  const { engine, shopId } = server;
  await engine.write(shopId, async (tx) => {
    const request = await loadApprovalRequest(tx, shopId, first);
    assert.ok(request !== null);
    const { decision: _, ...waiting } = request;
    for (let index = 1; index < approvalRequestsPendingMax; index += 1) {
      const one = { ...waiting, approvalRequestId: `apr_${index}`, status: "pending", decision: null } as const;
      await tx.batch(requestStatements(shopId, one));
    }
  });
  asked(await server.post(orders, { poName: "The last" }, { key }));
  const refused = await server.post(orders, { poName: "One more" }, { key });
  assert.equal(refused.status, 503);
  assert.match(refused.text, /requests of the shop wait/);
  const text = "x".repeat(2_000);
  const lineItems = Array.from({ length: Math.ceil(approvalRequestBytesMax / 2_000 / 2) }, () => ({
    variantId: "var_a",
    quantityOrdered: 1,
    note: text,
  }));
  const large = await server.post(orders, { lineItems }, { key });
  assert.equal(large.status, 413, large.text);
  server.clock.advance(approvalRequestsKeptMs + dayMs);
  asked(await server.post(orders, {}, { key }));
  assert.equal(await became(server, first), undefined, "it was deleted");
});

test("a request says in words what will happen, who decides and what is left of a limit", async () => {
  await using server = await startGoodsServer({ console: true });
  const anna = await person(server, "purchaser", "Anna Maas");
  const when = { totalAbove: 1_200 };
  const approvers = { roles: ["owner"], personIds: [anna.personId] };
  await setShop(server, { approvalRules: [{ ruleId: "r1", name: "Above 1,200", when, approvers }] });
  const key = await keyWith(server, { scope: "write", limits: { dayValueMax: 1_000, unitCostRisePercentMax: 5 } });
  const lineItems = [{ variantId: "red", quantityOrdered: 1, unitCost: 1_284 }];
  const header = { locationId: "warehouse", supplierId: "mill" };
  const shown = async (answered: Promise<TestResponse>): Promise<readonly string[]> => {
    const found = await answered;
    asked(found);
    return ["summary", "advice"].map((name) => found.textAt("data", "approvalRequest", name));
  };
  const [create, left] = await shown(server.post(orders, { ...header, lineItems }, { key }));
  assert.equal(create, "Create a purchase order for The Mill, EUR 1,284.00");
  assert.match(left ?? "", /by a person with the role owner\. A cost may rise by 5 %\. Go on with other work/);
  const made = await server.post(orders, { ...header, lineItems });
  const id = made.textAt("data", "purchaseOrder", "purchaseOrderId");
  const poNumber = made.textAt("data", "purchaseOrder", "poNumber");
  const [send, who] = await shown(move(server, key, id));
  assert.equal(send, `Send ${poNumber} to The Mill, EUR 1,284.00`);
  assert.match(who ?? "", /by whom the rule Above 1,200 names: a person with the role owner, Anna Maas\. /);
  assert.match(who ?? "", /A day's orders: 1000 EUR of 1000 EUR are left\./);
  const proposer = await keyWith(server, { scope: "propose" });
  await server.bringOrder("Sent", [lineA], { poNumber: "PO-7" });
  const [cancel] = await shown(move(server, proposer, "po_1", "Cancelled"));
  assert.equal(cancel, "Cancel PO-7 of The Mill");
  const [hold] = await shown(move(server, proposer, "po_1", "On Hold"));
  assert.equal(hold, "Move PO-7 of The Mill to On Hold, EUR 40.00");
  const body = { poName: "Weekly" };
  const [edit] = await shown(server.patch(`${orders}/${id}`, body, { key: proposer }));
  assert.equal(edit, `Change an order's header: ${poNumber} of The Mill, EUR 1,284.00`);
  await setShop(server, { fxRates: { IQD: 0.5 } });
  const [dinars] = await shown(server.post(orders, { lineItems, currencyCode: "IQD" }, { key: proposer }));
  assert.match(dinars ?? "", /IQD 1,284\.000/, "by ISO 4217");
});

test("an export with what was approved is imported again as it was", async () => {
  await using server = await startGoodsServer({ console: true });
  const { key } = await madeKey(server, { scope: "propose" });
  const owner = await person(server, "owner", "Olga");
  const { key: writing } = await madeKey(server, { scope: "write" });
  const id = await draft(server, writing, 10);
  const request = asked(await server.patch(`${orders}/${id}`, { note: "by Monday" }, { key }));
  assert.equal((await decide(server, request, "approve", owner)).status, 200);
  const log = (await server.get(`${orders}/${id}/log`)).at("data", "log", 0, "approvedBy", "name");
  assert.equal(log, "Olga");
  const records = await exportedRecords(server.engine, server.shopId);
  await using fresh = await startGoodsServer({});
  await fresh.bring(records);
  assert.deepEqual(await exportedRecords(fresh.engine, fresh.shopId), records);
});

test("a mail that was asked for goes out on another day, and to nobody else than was shown", async () => {
  await using server = await mailingServer();
  const rule = { ruleId: "r1", name: "Above 100", when: { totalAbove: 100 }, approvers: { roles: ["owner"] } };
  await setShop(server, { approvalRules: [rule] });
  const send = async (id: string, body: object) => {
    const key = await (await person(server, "purchaser")).bearer();
    return await askAdmin(server, "POST", `/shops/${server.shopId}/purchase-orders/${id}/send`, body, { key });
  };
  const emailChanges = async (path: string, id: string): Promise<unknown[]> => {
    const found = await askAdmin(server, "GET", `/shops/${server.shopId}/approval-requests/${id}`);
    const changes = found.at("data", "approvalRequest", ...path.split("/"));
    assert.ok(Array.isArray(changes), found.text);
    return changes.filter((change) => Reflect.get(Object(change), "field") === "email");
  };
  const toA = { field: "email", poLineItemId: null, before: null, after: "sup_a@example.com" };
  for (const body of [{}, { moveToSent: true }]) {
    const request = asked(await send(await draft(server, server.writeKey, 101), body));
    assert.deepEqual(await emailChanges("changes", request), [toA]);
    server.clock.advance(2 * dayMs);
    const approved = await decide(server, request, "approve");
    assert.equal(approved.at("data", "approvalRequest", "status"), "approved", approved.text);
  }
  const setEmail = async (email: string): Promise<void> => {
    const set = await askAdmin(server, "PATCH", `/shops/${server.shopId}/suppliers/sup_a`, { email });
    assert.equal(set.status, 200, set.text);
  };
  const moved = asked(await send(await draft(server, server.writeKey, 101), { moveToSent: true }));
  await setEmail("sup_x@example.com");
  await decide(server, moved, "approve");
  assert.equal(await became(server, moved), "overtaken");
  assert.deepEqual(await emailChanges("now/changes", moved), [{ ...toA, after: "sup_x@example.com" }]);
  const unmailed = asked(await move(server, server.writeKey, await draft(server, server.writeKey, 101)));
  await setShop(server, { approvalRules: [rule], emailOnSent: true });
  await decide(server, unmailed, "approve");
  assert.equal(await became(server, unmailed), "overtaken");
});

test("a dry run of a move that mails is answered, however long its document takes", async () => {
  await using server = await mailingServer();
  await setShop(server, { emailOnSent: true });
  const id = await draft(server, server.writeKey, 101);
  const dry = await server.post(`${orders}/${id}/status?dryRun=true`, { status: "Sent" }, { key: server.writeKey });
  assert.equal(dry.status, 200, dry.text);
});
