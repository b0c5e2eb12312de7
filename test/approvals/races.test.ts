/** Decisions that meet (C80): one request has one end, and what is approved is done once or not at all. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { onPostgres } from "../support/store.ts";
import { askAdmin } from "../support/people.ts";
import { startServer, type TestResponse, type TestServer } from "../support/server.ts";

const orders = "/api/v1/purchase-orders";

const requests = ({ shopId }: TestServer): string => `/shops/${shopId}/approval-requests`;

/** Two nodes on one database, or the one that a data directory has. */
async function startNodes() {
  const one = await startServer({ console: true });
  const other = onPostgres ? await startServer({ console: true, beside: one }) : one;
  const made = await askAdmin(one, "POST", `/shops/${one.shopId}/keys`, { name: "Agent", scope: "propose" });
  return {
    one,
    nodes: [one, other],
    key: made.textAt("data", "apiKey"),
    async [Symbol.asyncDispose]() {
      if (other !== one) await other[Symbol.asyncDispose]();
      await one[Symbol.asyncDispose]();
    },
  };
}

async function draft(server: TestServer): Promise<string> {
  const made = await server.post(orders, { locationId: "loc_a", supplierId: "sup_a" });
  return made.textAt("data", "purchaseOrder", "purchaseOrderId");
}

const line = { quantityOrdered: 1, unitCost: 7, productName: "Work" };

const ended = (answers: readonly TestResponse[], status: string): number =>
  answers.filter((each) => each.status === 200 && each.at("data", "approvalRequest", "status") === status).length;

test("approved and rejected by many at once, at all nodes, a request ends once and does what it says", async () => {
  await using started = await startNodes();
  const { one, nodes, key } = started;
  const id = await draft(one);
  for (let round = 0; round < 6; round += 1) {
    const before = (await one.get(`${orders}/${id}`)).at("data", "purchaseOrder", "itemCount");
    const asked = await one.post(`${orders}/${id}/line-items/custom`, line, { key });
    assert.equal(asked.status, 202, asked.text);
    const path = `${requests(one)}/${asked.textAt("data", "approvalRequest", "approvalRequestId")}`;
    const words = ["approve", "reject", "approve", "approve", "reject", "approve"];
    const answers = await Promise.all(
      words.map((word, index) => askAdmin(nodes[index % 2] ?? one, "POST", `${path}/${word}`, {})),
    );
    const [approved, rejected] = [ended(answers, "approved"), ended(answers, "rejected")];
    assert.equal(approved + rejected, 1, answers.map(({ text }) => text.slice(0, 120)).join("\n"));
    for (const { status } of answers) assert.ok(status === 200 || status === 400 || status === 503, String(status));
    const after = (await one.get(`${orders}/${id}`)).at("data", "purchaseOrder", "itemCount");
    assert.equal(Number(after), Number(before) + approved);
    const became = await askAdmin(one, "GET", path);
    assert.equal(became.at("data", "approvalRequest", "status"), approved === 1 ? "approved" : "rejected");
  }
});

test("an order that is edited while a move of it is approved goes out as it was shown, or not", async () => {
  await using started = await startNodes();
  const { one, nodes, key } = started;
  for (let round = 0; round < 8; round += 1) {
    const id = await draft(one);
    assert.equal((await one.post(`${orders}/${id}/line-items/custom`, line)).status, 201);
    const asked = await one.post(`${orders}/${id}/status`, { status: "Sent" }, { key });
    assert.equal(asked.status, 202, asked.text);
    const path = `${requests(one)}/${asked.textAt("data", "approvalRequest", "approvalRequestId")}`;
    const [approved] = await Promise.all([
      askAdmin(nodes[1] ?? one, "POST", `${path}/approve`, {}),
      one.post(`${orders}/${id}/line-items/custom`, line),
    ]);
    const status = approved.at("data", "approvalRequest", "status");
    const log = (await one.get(`${orders}/${id}/log`)).at("data", "log");
    assert.ok(Array.isArray(log));
    // Newest first.
    const [sent, added] = ["status", "add-lines"].map((action) => log.findIndex((entry) => entry.action === action));
    if (status === "approved") assert.ok(sent !== undefined && added !== undefined && sent > added, approved.text);
    else {
      assert.equal(status, "overtaken", approved.text);
      assert.equal(sent, -1);
    }
  }
});

test("twenty agents that propose and are approved at once pass no cap that refuses", async () => {
  await using started = await startNodes();
  const { one, nodes } = started;
  const limits = { dayValueMax: 50, beyond: "refuse" };
  const made = await askAdmin(one, "POST", `/shops/${one.shopId}/keys`, { name: "Agent", scope: "propose", limits });
  const key = made.textAt("data", "apiKey");
  const ids = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const id = await draft(one);
      assert.equal((await one.post(`${orders}/${id}/line-items/custom`, line)).status, 201);
      const asked = await one.post(`${orders}/${id}/status`, { status: "Sent" }, { key });
      return asked.textAt("data", "approvalRequest", "approvalRequestId");
    }),
  );
  const answers = await Promise.all(
    ids.map((id, index) => askAdmin(nodes[index % 2] ?? one, "POST", `${requests(one)}/${id}/approve`, {})),
  );
  assert.deepEqual([ended(answers, "approved"), ended(answers, "failed")], [7, 13]);
  const keys = (await askAdmin(one, "GET", `/shops/${one.shopId}/keys`)).at("data", "keys");
  assert.ok(Array.isArray(keys));
  assert.equal(keys.find((each) => each.keyId === made.at("data", "keyId"))?.limitsUsed.dayValue, 49);
});

test("who presses twice asks once: the same write without a key, at all nodes at once, is one request until it is decided", async () => {
  await using started = await startNodes();
  const { one, nodes, key } = started;
  const id = await draft(one);
  const press = async (index: number, body: object = line, more: object = {}): Promise<string> => {
    const node = nodes[index % 2] ?? one;
    const asked = await node.post(`${orders}/${id}/line-items/custom`, body, { key, ...more });
    assert.equal(asked.status, 202, asked.text);
    return asked.textAt("data", "approvalRequest", "approvalRequestId");
  };
  const pressed = new Set(await Promise.all(Array.from({ length: 12 }, (_, index) => press(index))));
  assert.equal(pressed.size, 1);
  const pending = async () => (await askAdmin(one, "GET", `${requests(one)}?status=pending`)).at("data", "totalCount");
  assert.equal(await pending(), 1);
  const events = await askAdmin(one, "GET", `/shops/${one.shopId}/events`);
  assert.equal(events.text.split('"approval.requested"').length - 1, 1, "it is told once");
  const [first = ""] = pressed;
  const other = await askAdmin(one, "POST", `/shops/${one.shopId}/keys`, { name: "Other", scope: "propose" });
  const others = new Set([
    await press(0, { ...line, productName: "More work" }),
    await press(0, line, { key: other.textAt("data", "apiKey") }),
    await press(0, line, { headers: { "Idempotency-Key": "a" } }),
    await press(0, line, { headers: { "Idempotency-Key": "b" } }),
  ]);
  assert.equal(others.size, 4, "another body, another asker, and each key of its own");
  assert.ok(!others.has(first));
  const rejected = await askAdmin(one, "POST", `${requests(one)}/${first}/reject`, {});
  assert.equal(rejected.at("data", "approvalRequest", "status"), "rejected");
  assert.notEqual(await press(0), first, "once it is decided, it is asked anew");
});
