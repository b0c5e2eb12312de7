/**
 * Tests `openpo-client` as users get it: packed and installed under its name. The example of its README is compiled strictly and run
 * against a live server. Also tests its idempotency keys, retries and paging.
 *
 * Only on sqlite: its subject is the client; other tests ask the same of both engines.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { createClient, ListFailure } from "../../client/index.ts";
import { Fault } from "../../src/base/fault.ts";
import { fetchChecked } from "../support/openapi/contract.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { toolPath } from "../support/programs/tools.ts";

const run = promisify(execFile);
const root = path.join(import.meta.dirname, "../..");
const tsc = toolPath("typescript/bin/tsc");

const clientOf = (server: TestServer, more: Partial<Parameters<typeof createClient>[0]> = {}) =>
  createClient({ baseUrl: server.url, apiKey: server.writeKey, fetch: fetchChecked, ...more });

test("the packed client installs by its name; the README's example compiles strictly against it and runs", async () => {
  await using server = await startServer();
  const directory = await mkdtemp(path.join(tmpdir(), "openpo-client-"));
  try {
    const { stdout: packed } = await run("npm", ["pack", "./client", "--pack-destination", directory, "--json"], {
      cwd: root,
    });
    const [{ filename }]: [{ filename: string }] = JSON.parse(packed);
    await writeFile(path.join(directory, "package.json"), '{ "type": "module" }');
    await run("npm", ["install", "--offline", "--no-audit", "--no-fund", `./${filename}`], { cwd: directory });
    const readme = await readFile(path.join(directory, "node_modules/openpo-client/README.md"), "utf8");
    const example = /```ts\n([\s\S]*?)```/.exec(readme)?.[1] ?? "";
    assert.ok(example.includes("createClient"));
    await writeFile(path.join(directory, "example.ts"), example);
    const strict = ["--strict", "--noEmit", "--module", "nodenext", "--target", "es2022", "--lib", "es2022,dom"];
    const types = ["--types", "node", "--typeRoots", path.dirname(toolPath("@types/node"))];
    await run(process.execPath, [tsc, ...strict, ...types, "example.ts"], { cwd: directory });
    const { stdout } = await run(process.execPath, ["example.ts"], {
      cwd: directory,
      env: { PATH: process.env["PATH"], OPENPO_URL: server.url, OPENPO_KEY: server.writeKey },
    });
    assert.match(stdout, /^PO-1001 is worth 54\nnot sent: .*locationId.*\nPO-1001 Spring restock\n$/);
  } finally {
    await rm(directory, { recursive: true });
  }
});

test("a refusal is a value with the codes of the operation, and a success has the order's ETag", async () => {
  await using server = await startServer();
  const client = clientOf(server);
  const created = await client.call("purchase_order_create", {});
  assert.ok(created.ok);
  assert.equal(created.status, 201);
  const { purchaseOrderId } = created.data.purchaseOrder;
  const changed = await client.call(
    "purchase_order_update",
    { purchaseOrderId, poName: "Later" },
    { ifMatch: created.etag ?? "" },
  );
  assert.ok(changed.ok);
  const late = await client.call(
    "purchase_order_update",
    { purchaseOrderId, poName: "Too late" },
    { ifMatch: created.etag ?? "" },
  );
  assert.ok(!late.ok);
  assert.equal(late.status, 412);
  assert.equal(late.error.code, "INVALID_INPUT");
  assert.equal("reason" in late.error && late.error.reason, "VERSION_MISMATCH");
  const missing = await client.call("purchase_order_get", { purchaseOrderId: "po/none?" });
  assert.ok(!missing.ok && missing.error.code === "NOT_FOUND");
});

test("a write whose answer is lost is retried with the same key and takes effect once", async () => {
  await using server = await startServer();
  let lost = 0;
  const keys = new Set<string>();
  const client = clientOf(server, {
    fetch: async (input, init) => {
      const answer = await fetchChecked(input, init);
      keys.add(new Headers(init?.headers).get("Idempotency-Key") ?? "");
      if (lost > 1) return answer;
      lost += 1;
      throw new TypeError("the connection broke");
    },
  });
  const created = await client.call("purchase_order_create", { poName: "Once" });
  assert.ok(created.ok);
  assert.ok(created.replayed);
  assert.equal(keys.size, 1);
  assert.equal((await server.get("/api/v1/purchase-orders")).at("data", "totalCount"), 1);
});

test("a retryable error is retried after Retry-After; one with a long wait, or that is not retryable, is returned", async () => {
  await using server = await startServer({ shop: { rateLimit: { capacity: 1, refillPerSecond: 2 } } });
  const client = clientOf(server);
  for (let call = 0; call < 3; call += 1) assert.ok((await client.call("purchase_order_list", {})).ok);

  let asked = 0;
  const refusing = (fault: Fault) =>
    startServer({
      perform: () => ({
        storefrontOf: () => {
          asked += 1;
          throw fault;
        },
      }),
    });
  await using slow = await refusing(new Fault("DO_UNAVAILABLE", "Later.", { retryAfterMs: 90_000 }));
  const waited = await clientOf(slow).call("purchase_order_list", {});
  assert.ok(!waited.ok && waited.error.code === "DO_UNAVAILABLE");
  assert.equal(asked, 1);
  await using broken = await refusing(new Fault("INTERNAL", "A bug."));
  assert.ok(!(await clientOf(broken).call("purchase_order_list", {})).ok);
  assert.equal(asked, 2);
});

test("a list yields every row once over all pages; a refused page ends the iteration with the refusal", async () => {
  await using server = await startServer();
  const client = clientOf(server);
  for (let index = 0; index < 7; index += 1) await client.call("purchase_order_create", { poName: `Order ${index}` });
  const names: (string | null)[] = [];
  for await (const order of client.each("purchase_order_list", { status: ["Draft", "Sent"], limit: 3 }))
    names.push(order.poName);
  assert.deepEqual(
    names,
    [6, 5, 4, 3, 2, 1, 0].map((index) => `Order ${index}`),
  );
  const stranger = clientOf(server, { apiKey: "opo_nobody" });
  await assert.rejects(stranger.each("purchase_order_list", {}).next(), (error) => {
    assert.ok(error instanceof ListFailure);
    assert.equal(error.failure.status, 401);
    return true;
  });
});

test("no server, or an answer of something else, is UNREACHABLE; an aborted call throws", async () => {
  const nobody = createClient({ baseUrl: "http://127.0.0.1:9", apiKey: "opo_x", retriesMax: 1 });
  const failed = await nobody.call("purchase_order_list", {});
  assert.ok(!failed.ok && failed.error.code === "UNREACHABLE" && failed.status === null);
  const other = createClient({
    baseUrl: "http://127.0.0.1:9",
    apiKey: "opo_x",
    retriesMax: 0,
    fetch: async () => new Response("<html>", { status: 502 }),
  });
  const strange = await other.call("purchase_order_create", {});
  assert.ok(!strange.ok && strange.error.code === "UNREACHABLE");
  const aborted = nobody.call("purchase_order_list", {}, { signal: AbortSignal.timeout(50) });
  await assert.rejects(aborted, { name: "TimeoutError" });
});
