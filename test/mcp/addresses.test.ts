/**
 * The addresses of the agent surface (C76): fewer tools, and the schemas of answers only where they are asked for.
 *
 * Only on sqlite: its subject is what assistants are shown and answered; mcp/twins.slow.test.ts gives the same commands on both engines.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { operations } from "../../src/operations/registry.ts";
import { toolSets } from "../../src/requests/tool-sets.ts";
import { startGoodsServer } from "../support/goods-server.ts";
import { connectAgent, mcpHeaders, toolCall, usualTools } from "../support/mcp.ts";
import type { TestServer } from "../support/server.ts";
import { tokensOf } from "../support/openapi/tokens.ts";

async function listed(server: TestServer, address: string, key: string = server.writeKey) {
  await using agent = await connectAgent(server, { address, key });
  const { tools } = await agent.client.listTools();
  return tools;
}

const namesAt = async (server: TestServer, address: string, key?: string): Promise<readonly string[]> =>
  (await listed(server, address, key)).map(({ name }) => name);

const namesOf = (which: (operation: (typeof usualTools)[number]) => boolean): readonly string[] =>
  usualTools.filter(which).map(({ name }) => name);

test("/mcp/read has the tools that read, whatever the key may do, and none that writes can be called there", async () => {
  await using server = await startGoodsServer();
  const reads = namesOf(({ scope }) => scope === "read");
  assert.deepEqual(await namesAt(server, "/mcp/read"), reads);
  assert.deepEqual(await namesAt(server, "/mcp/read", server.readKey), reads);
  const call = (path: string, name: string) =>
    server.request("POST", path, { body: toolCall(name, {}), undocumented: true, headers: mcpHeaders });
  const refused = await call("/mcp/read", "purchase_order_create");
  assert.match(refused.textAt("error", "message"), /There is no tool purchase_order_create at this address/);
  assert.match((await call("/mcp?tools=stock", "purchase_order_create")).textAt("error", "message"), /at this address/);
  await using reader = await connectAgent(server, { address: "/mcp/read" });
  assert.equal((await reader.call("purchase_order_list")).at("totalCount"), 0);
});

test("?tools= has the tools of the sets that it names, and a name that is none is refused with those that are", async () => {
  await using server = await startGoodsServer();
  for (const set of toolSets)
    assert.deepEqual(
      await namesAt(server, `/mcp?tools=${set}`),
      namesOf((each) => each.toolSets.includes(set)),
    );
  const both = namesOf(({ toolSets: of }) => of.includes("reorder") || of.includes("stock"));
  assert.deepEqual(await namesAt(server, "/mcp?tools=reorder,stock"), both);
  assert.deepEqual(await namesAt(server, "/mcp?tools=reorder&tools=stock"), both);
  const readsOfStock = namesOf(({ scope, toolSets: of }) => scope === "read" && of.includes("stock"));
  assert.deepEqual(await namesAt(server, "/mcp/read?tools=stock"), readsOfStock);
  for (const query of ["tools=stocks", "tools=", "tools=stock,", "tools=Stock"]) {
    const refused = await server.request("POST", `/mcp?${query}`, {
      body: { jsonrpc: "2.0", id: 1, method: "tools/list" },
      undocumented: true,
      headers: mcpHeaders,
    });
    assert.equal(refused.status, 400, query);
    assert.equal(refused.at("error", "code"), "INVALID_INPUT");
    for (const set of toolSets) assert.ok(refused.textAt("error", "action").includes(set), set);
  }
});

test("every tool is in a set", () => {
  for (const { name, toolSets: of } of operations) assert.ok(of.length > 0, name);
  assert.deepEqual(new Set(operations.flatMap(({ toolSets: of }) => of)), new Set(toolSets));
});

test("the schemas of answers are listed with ?schemas=1 alone; a call answers the same", async () => {
  await using server = await startGoodsServer();
  const [short, whole] = [await listed(server, "/mcp"), await listed(server, "/mcp?schemas=1")];
  assert.ok(short.every(({ outputSchema }) => outputSchema === undefined));
  assert.ok(whole.every(({ outputSchema }) => outputSchema !== undefined));
  assert.ok(tokensOf(JSON.stringify(short)) < tokensOf(JSON.stringify(whole)) / 2);
  await using one = await connectAgent(server);
  await using other = await connectAgent(server, { address: "/mcp?schemas=1" });
  const [first, second] = [await one.call("location_list"), await other.call("location_list")];
  assert.deepEqual(first.at(), second.at());
});

test("no other address below /mcp is served", async () => {
  await using server = await startGoodsServer();
  for (const path of ["/mcp/", "/mcp/write", "/mcp/read/x"])
    assert.equal(
      (await server.request("POST", path, { body: {}, undocumented: true, headers: mcpHeaders })).status,
      404,
    );
});
