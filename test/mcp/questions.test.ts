/** A write that needs a decision, as a question to clients that show people pages (C80): it leads there, and decides nothing. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Mailing } from "../../src/requests/operation.ts";
import { askAdmin } from "../support/people.ts";
import { connectAgent, mcpHeaders, revisions, toolCall } from "../support/mcp.ts";
import { startServer, type TestServer } from "../support/server.ts";

const publicUrl = "https://po.example";

const mailing: Mailing = { perHourMax: null, publicUrl, documentOf: () => Promise.reject(new Error("no documents")) };

const startAsking = (options: object = {}) => startServer({ console: true, perform: () => ({ mailing }), ...options });

async function keyOf(server: TestServer): Promise<string> {
  const path = `/shops/${server.shopId}/keys`;
  const made = await askAdmin(server, "POST", path, { name: "Agent", scope: "propose" });
  assert.equal(made.status, 201, made.text);
  return made.textAt("data", "apiKey");
}

const requestsOf = async (server: TestServer) => {
  const listed = await askAdmin(server, "GET", `/shops/${server.shopId}/approval-requests`);
  assert.equal(listed.status, 200, listed.text);
  return listed;
};

const decide = async (server: TestServer, id: string, word: "approve" | "reject"): Promise<void> => {
  const decided = await askAdmin(server, "POST", `/shops/${server.shopId}/approval-requests/${id}/${word}`, {});
  assert.equal(decided.status, 200, decided.text);
};

for (const answer of ["accept", "decline", "cancel"] as const)
  test(`a client that shows pages is asked once, and after ${answer} gets the request as it is, undecided`, async () => {
    await using server = await startAsking();
    const key = await keyOf(server);
    const asked: string[] = [];
    await using agent = await connectAgent(server, {
      key,
      onQuestion(url, message) {
        asked.push(url);
        assert.match(message, /after signing in: Create/i);
        return Promise.resolve(answer);
      },
    });
    const created = await agent.call("purchase_order_create", { noteToSupplier: "Hello" });
    assert.equal(created.isError, false, created.text);
    const id = created.textAt("approvalRequest", "approvalRequestId");
    assert.deepEqual(asked, [`${publicUrl}/console/approvals/${id}`]);
    assert.equal(created.at("approvalRequest", "status"), "pending");
    assert.equal(created.at("approvalRequest", "preview", "purchaseOrder", "noteToSupplier"), "Hello");
    assert.equal((await requestsOf(server)).at("data", "totalCount"), 1, "the call that goes on asks for nothing more");
  });

test("what is decided while the person is at the page is what the call answers", async () => {
  await using server = await startAsking();
  const key = await keyOf(server);
  const words = ["approve", "reject"] as const;
  for (const word of words) {
    await using agent = await connectAgent(server, {
      key,
      async onQuestion(url) {
        await decide(server, url.slice(url.lastIndexOf("/") + 1), word);
        return "accept";
      },
    });
    const created = await agent.call("purchase_order_create", {});
    assert.equal(created.at("approvalRequest", "status"), word === "approve" ? "approved" : "rejected", created.text);
  }
  assert.equal((await server.get("/api/v1/purchase-orders")).at("data", "totalCount"), 1);
});

test("without the capability, an address to lead to, or in the revision before, the answer is what it was", async () => {
  await using server = await startAsking();
  const key = await keyOf(server);
  for (const revision of revisions) {
    await using agent = await connectAgent(server, { key, revision });
    const created = await agent.call("purchase_order_create", {});
    assert.equal(created.at("approvalRequest", "status"), "pending", created.text);
    assert.equal(created.at("approvalRequest", "operation"), "purchase_order_create");
  }
  const never = (): Promise<never> => Promise.reject(new Error("nobody was to be asked"));
  await using before = await connectAgent(server, { key, revision: "2025-11-25", onQuestion: never });
  assert.equal((await before.call("purchase_order_create", {})).at("approvalRequest", "status"), "pending");
  await using able = await connectAgent(server, { key, onQuestion: never });
  const dry = await able.call("purchase_order_create", { dryRun: true });
  assert.equal(dry.at("dryRun"), true, dry.text);
  await using written = await connectAgent(server, { onQuestion: never });
  assert.equal((await written.call("purchase_order_create", {})).isError, false);
  await using unknown = await startServer({ console: true, perform: () => ({ consoleOrigin: () => null }) });
  await using placeless = await connectAgent(unknown, { key: await keyOf(unknown), onQuestion: never });
  assert.equal((await placeless.call("purchase_order_create", {})).at("approvalRequest", "url"), null);
});

test("without a public address the question leads to where the service listens, and REST names the same (C77)", async () => {
  await using server = await startServer({ console: true });
  const key = await keyOf(server);
  const asked: string[] = [];
  await using agent = await connectAgent(server, {
    key,
    onQuestion(url) {
      asked.push(url);
      return Promise.resolve("accept");
    },
  });
  const created = await agent.call("purchase_order_create", {});
  const id = created.textAt("approvalRequest", "approvalRequestId");
  assert.deepEqual(asked, [`${server.url}/console/approvals/${id}`]);
  assert.equal(created.at("approvalRequest", "url"), asked[0]);
  const headers = { Host: "other.example" };
  const onRest = await server.post("/api/v1/purchase-orders", { poName: "By REST" }, { key, headers });
  const approvalRequestId = onRest.textAt("data", "approvalRequest", "approvalRequestId");
  const url = `${server.url}/console/approvals/${approvalRequestId}`;
  assert.equal(onRest.at("data", "approvalRequest", "url"), url, "whatever host the caller says");
  assert.match(onRest.textAt("data", "approvalRequest", "advice"), new RegExp(`approved at ${url}, by`));
});

test("a call that is sent again under its key is answered as before, and asks nobody again", async () => {
  await using server = await startAsking();
  let asked = 0;
  await using agent = await connectAgent(server, {
    key: await keyOf(server),
    onQuestion() {
      asked += 1;
      return Promise.resolve("accept");
    },
  });
  const call = () => agent.call("purchase_order_create", { idempotencyKey: "once" });
  const [first, again] = [await call(), await call()];
  assert.equal(asked, 1);
  assert.equal(again.at("replayed"), true, again.text);
  assert.equal(
    again.textAt("approvalRequest", "approvalRequestId"),
    first.textAt("approvalRequest", "approvalRequestId"),
  );
});

/** A call of the current revision as a client sends it, by hand. */
async function sendCall(server: TestServer, key: string, more: object, name = "purchase_order_create") {
  const message = toolCall(name, {});
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "by hand", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": { elicitation: { url: {} } },
  };
  const headers = { ...mcpHeaders, "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": name };
  const body = { ...message, params: { name, arguments: {}, ...more, _meta: meta } };
  return await server.request("POST", "/mcp", { key, body, headers, undocumented: true });
}

test("the question is stateless: whoever goes on reads requests of his own alone, and writes nothing", async () => {
  await using server = await startAsking();
  const [key, other] = [await keyOf(server), await keyOf(server)];
  const question = await sendCall(server, key, {});
  assert.equal(question.at("result", "resultType"), "input_required", question.text);
  const state = question.textAt("result", "requestState");
  assert.equal(question.at("result", "inputRequests", "approval", "params", "mode"), "url", question.text);
  const answers = { requestState: state, inputResponses: { approval: { action: "accept" } } };
  const own = await sendCall(server, key, answers);
  assert.equal(own.at("result", "structuredContent", "approvalRequest", "approvalRequestId"), state, own.text);
  assert.equal(own.at("result", "isError"), undefined);
  const others = await sendCall(server, other, answers);
  assert.equal(others.at("result", "structuredContent", "error", "code"), "NOT_FOUND", others.text);
  const made = await sendCall(server, server.writeKey, { requestState: "apr_none" });
  assert.equal(made.at("result", "isError"), true, made.text);
  await decide(server, state, "reject");
  const after = await sendCall(server, key, answers);
  assert.equal(after.at("result", "structuredContent", "approvalRequest", "status"), "rejected", after.text);
  assert.equal((await requestsOf(server)).at("data", "totalCount"), 1);
  assert.equal((await server.get("/api/v1/purchase-orders")).at("data", "totalCount"), 0);
});
