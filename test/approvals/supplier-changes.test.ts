/** Changes of suppliers that agents ask for (C85): nothing changes before a person approves, whatever the key may do. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Json } from "../../src/base/json.ts";
import { dayMs } from "../../src/base/time/calendar.ts";
import { supplierInputs } from "../../src/operations/catalogue/inputs.ts";
import { startGoodsServer } from "../support/goods-server.ts";
import { type Agent, connectAgent, type ToolAnswer } from "../support/mcp.ts";
import { askAdmin, signInAs, signInWith } from "../support/people.ts";
import { assertFault } from "../support/server.ts";

const mill = { email: "orders@mill.example", phone: "1", leadTimeDays: 5, currencyCode: "USD" };

async function withAgent(facts: object = { scope: "propose" }) {
  const server = await startGoodsServer({ console: true });
  const shop = (method: string, path: string, body?: unknown, key?: string) =>
    askAdmin(server, method, `/shops/${server.shopId}${path}`, body, key === undefined ? {} : { key });
  assert.equal((await shop("PATCH", "/suppliers/mill", mill)).status, 200);
  const made = await shop("POST", "/keys", { name: "Agent", ...facts });
  const agent = await connectAgent(server, { key: made.textAt("data", "apiKey"), address: "/mcp?schemas=1" });
  // From then on the client holds each answer against its schema.
  const { tools } = await agent.client.listTools();
  return {
    server,
    shop,
    agent,
    tools: tools.map(({ name }) => name),
    supplier: async (id = "mill"): Promise<Json | undefined> =>
      (await shop("GET", `/suppliers/${id}`)).at("data", "supplier"),
    async [Symbol.asyncDispose]() {
      await agent[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

type Shop = Awaited<ReturnType<typeof withAgent>>;

const propose = (agent: Agent, input: object): Promise<ToolAnswer> =>
  agent.call("supplier_update", { supplierId: "mill", ...input });

/** The id of the request that a proposal is kept as. */
async function asked({ agent }: Pick<Shop, "agent">, input: object): Promise<string> {
  const answered = await propose(agent, input);
  assert.equal(answered.at("approvalRequest", "status"), "pending", answered.text);
  return answered.textAt("approvalRequest", "approvalRequestId");
}

const decide = (shop: Shop["shop"], id: string, word: string, key?: string) =>
  shop("POST", `/approval-requests/${id}/${word}`, {}, key);

const statusOf = async (shop: Shop["shop"], id: string): Promise<unknown> =>
  (await shop("GET", `/approval-requests/${id}`)).at("data", "approvalRequest", "status");

for (const scope of ["propose", "write"])
  test(`a key that may ${scope} asks for a change of a supplier; a person sees before and after, and does it`, async () => {
    await using world = await withAgent({ scope });
    const { server, shop, agent, supplier } = world;
    const before = await supplier();
    const change = { email: "new@mill.example", leadTimeDays: 9, address: { city: "Delft", countryCode: "NL" } };
    const keyed = { ...change, reason: "Their letter says so.", idempotencyKey: "one" };
    const answered = await propose(agent, keyed);
    assert.deepEqual(answered.at("approvalRequest", "causes"), [{ cause: "scope" }], answered.text);
    const id = answered.textAt("approvalRequest", "approvalRequestId");
    assert.equal((await propose(agent, keyed)).at("approvalRequest", "approvalRequestId"), id);
    assert.deepEqual(await supplier(), before);

    const shown = await shop("GET", `/approval-requests/${id}`);
    assert.equal(
      shown.at("data", "approvalRequest", "summary"),
      "Change a supplier: The Mill, email, leadTimeDays, address",
    );
    const changes = shown.at("data", "approvalRequest", "changes");
    assert.ok(Array.isArray(changes), shown.text);
    assert.deepEqual(
      changes.map(({ field, before: was, after, poLineItemId }) => [field, was, after?.city ?? after, poLineItemId]),
      [
        ["email", mill.email, change.email, null],
        ["leadTimeDays", 5, 9, null],
        ["address", null, "Delft", null],
      ],
    );
    assert.equal(shown.at("data", "approvalRequest", "preview", "reason"), keyed.reason);

    const owner = await signInAs(server, "owner", "Olga");
    const key = await owner.bearer();
    const byKey = await signInWith(server, { apiKey: server.writeKey, name: "Anna" });
    assertFault(await decide(shop, id, "approve", await byKey.bearer()), 403, "FORBIDDEN_SCOPE");
    assert.deepEqual(await supplier(), before);
    const approved = await decide(shop, id, "approve", key);
    assert.equal(approved.at("data", "approvalRequest", "status"), "approved", approved.text);
    const after = await shop("GET", "/suppliers/mill");
    for (const [field, value] of Object.entries({ email: change.email, leadTimeDays: 9, phone: "1" }))
      assert.equal(after.at("data", "supplier", field), value);
    assert.equal(after.at("data", "supplier", "address", "city"), "Delft");
    const history = await shop("GET", "/history?kind=supplier&id=mill");
    const entry = (...path: readonly string[]) => history.at("data", "history", 0, ...path);
    assert.deepEqual(
      [entry("actor", "type"), entry("actor", "name"), entry("approvedBy", "name"), entry("operation")],
      ["agent", "Agent", "Olga", "supplier_update"],
    );
    assert.equal(entry("reason"), keyed.reason);
    assert.equal(history.at("data", "history", 1, "approvedBy"), undefined);
    const became = await agent.call("approval_request_get", { approvalRequestId: id });
    assert.equal(became.at("approvalRequest", "status"), "approved");
    assert.equal((await propose(agent, keyed)).at("approvalRequest", "approvalRequestId"), id);
  });

test("rejected, withdrawn and expired requests change nothing; one whose fields have changed since is overtaken", async () => {
  await using world = await withAgent();
  const { server, shop, agent, supplier } = world;
  const email = (address: string) => asked(world, { email: address });
  const before = await supplier();
  const rejected = await email("a@mill.example");
  assert.equal((await decide(shop, rejected, "reject")).status, 200);
  const withdrawn = await email("b@mill.example");
  assert.equal((await agent.call("approval_request_withdraw", { approvalRequestId: withdrawn })).isError, false);
  const expired = await email("c@mill.example");
  server.clock.advance(7 * dayMs + 1);
  assert.deepEqual(
    [await statusOf(shop, rejected), await statusOf(shop, withdrawn), await statusOf(shop, expired)],
    ["rejected", "withdrawn", "expired"],
  );
  assertFault(await decide(shop, expired, "approve"), 400, "INVALID_INPUT");
  assert.deepEqual(await supplier(), before);

  const overtaken = await email("d@mill.example");
  assert.equal((await shop("PATCH", "/suppliers/mill", { email: "person@mill.example" })).status, 200);
  const now = await decide(shop, overtaken, "approve");
  assert.equal(now.at("data", "approvalRequest", "status"), "overtaken", now.text);
  assert.equal(now.at("data", "approvalRequest", "changes", 0, "before"), mill.email);
  assert.equal(now.at("data", "approvalRequest", "now", "changes", 0, "before"), "person@mill.example");
  // Another field has nothing to do with it, and stays as it is by then.
  const other = await email("e@mill.example");
  assert.equal((await shop("PATCH", "/suppliers/mill", { note: "Closed in August." })).status, 200);
  assert.equal((await decide(shop, other, "approve")).at("data", "approvalRequest", "status"), "approved");
  const after = await shop("GET", "/suppliers/mill");
  assert.deepEqual(
    [after.at("data", "supplier", "email"), after.at("data", "supplier", "note")],
    ["e@mill.example", "Closed in August."],
  );
  // Somebody has made the very change meanwhile, or the supplier is gone.
  const done = await email("f@mill.example");
  await shop("PATCH", "/suppliers/mill", { email: "f@mill.example" });
  assert.equal((await decide(shop, done, "approve")).at("data", "approvalRequest", "status"), "failed");
});

test("every field of a supplier can be asked for, and nothing else; what is no change, or of nobody, is refused", async () => {
  await using world = await withAgent();
  const { shop, agent } = world;
  for (const [field, { example }] of Object.entries(supplierInputs)) {
    if (field === "supplierId") continue;
    const value = field === "status" ? "archived" : example;
    const id = await asked(world, { [field]: value });
    assert.equal((await decide(shop, id, "approve")).at("data", "approvalRequest", "status"), "approved", field);
    const after = (await shop("GET", "/suppliers/mill")).at("data", "supplier", field);
    const isObject = typeof value === "object";
    assert.deepEqual(isObject ? { ...Object(after), ...Object(value) } : after, isObject ? after : value, field);
  }
  for (const [input, path] of [
    [{ email: "nobody" }, "/email"],
    [{ address: { town: "Delft" } }, "/address/town"],
    [{ iban: "NL91ABNA0417164300" }, "/iban"],
    [{ name: null }, "/name"],
  ] as const) {
    const refused = await propose(agent, input);
    assert.ok(refused.isError, refused.text);
    assert.match(refused.text, new RegExp(path.slice(1)), refused.text);
  }
  assert.match((await propose(agent, { status: "archived" })).text, /is like that already/);
  assert.equal((await propose(agent, { supplierId: "none", phone: "2" })).at("error", "code"), "NOT_FOUND");
});

test("a dry run keeps nothing and says that it would need approval; who may only read asks for nothing", async () => {
  await using world = await withAgent();
  const { server, shop, agent, supplier } = world;
  const before = await supplier();
  const dry = await propose(agent, { phone: "2", dryRun: true });
  assert.deepEqual(
    [dry.at("dryRun"), dry.at("approvalCauses"), dry.at("changes", 0)],
    [true, [{ cause: "scope" }], { field: "phone", before: "1", after: "2" }],
  );
  assert.equal((await shop("GET", "/approval-requests")).at("data", "totalCount"), 0);
  await using reader = await connectAgent(server, { key: server.readKey });
  assert.equal((await propose(reader, { phone: "2" })).at("error", "code"), "FORBIDDEN_SCOPE");
  assert.deepEqual(await supplier(), before);
});

test("the tool is shown with those about approvals: to keys of which a person approves something", async () => {
  const shownTo = async (facts: object): Promise<boolean> => {
    await using world = await withAgent(facts);
    return world.tools.includes("supplier_update");
  };
  assert.equal(await shownTo({ scope: "propose" }), true);
  assert.equal(await shownTo({ scope: "write", limits: { orderValueMax: 5 } }), true);
  assert.equal(await shownTo({ scope: "write" }), false);
  assert.equal(await shownTo({ scope: "read" }), false);
});
