/** What `/metrics` of the running program tells of its store, and its own port (OPENPO_METRICS_PORT). */
import assert from "node:assert/strict";
import { connect, createServer, type Socket } from "node:net";
import { once } from "node:events";
import { test } from "node:test";
import { type RunningProgram, runProgram, serveProgram, withDirectory, withProgram } from "../support/process.ts";
import { connectionsRefusedAtOnceMax } from "../../src/http/node/connections.ts";
import { scrapersMax } from "../../src/service/serve.ts";
import { onPostgres } from "../support/store.ts";
import { exchange, statusesIn } from "../support/peers/raw.ts";
import { until } from "../support/until.ts";

const orders = "/api/v1/purchase-orders";

/** A port that nobody uses now. */
async function unusedPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : assert.fail();
}

async function apiKeyIn(program: RunningProgram, adminToken: string): Promise<string> {
  await program.ask("PUT", "/admin/v1/shops/a", adminToken, { name: "A", currencyCode: "EUR" });
  const made = await program.ask("POST", "/admin/v1/shops/a/keys", adminToken, { name: "k", scope: "write" });
  return String(made.at("data", "apiKey"));
}

test("/metrics tells how the audit log, stored answers and the store grow", async () => {
  await withProgram(async (program, adminToken) => {
    const apiKey = await apiKeyIn(program, adminToken);
    const shown = async (name: string): Promise<number> => {
      const { text } = await program.ask("GET", "/metrics", "");
      return Number(new RegExp(`^openpo_${name} (\\d+)$`, "m").exec(text)?.[1]);
    };
    const audited = await shown("audit_rows_total");
    const stored = await shown("stored_answer_bytes_total");
    const posted = await program.ask("POST", orders, apiKey, { lineItems: [] }, { "Idempotency-Key": "k" });
    assert.equal(posted.status, 201);
    await program.ask("POST", orders, apiKey, { lineItems: "none" });
    await program.ask("GET", orders, apiKey);
    await program.ask("GET", `${orders}/po_none`, apiKey);
    await program.ask("GET", "/api/v1/nowhere", apiKey);
    assert.equal((await shown("audit_rows_total")) - audited, 5);
    const grown = (await shown("stored_answer_bytes_total")) - stored;
    assert.ok(grown > posted.text.length / 4 && grown < posted.text.length + 1_000, String(grown));
    for (const name of ["audit_rows_missing_total", "audit_rows_swept_total", "stored_answers_swept_total"])
      assert.equal(await shown(name), 0);
    const sizes = onPostgres
      ? ["database_bytes", "audit_log_bytes", "stored_answers_bytes"]
      : ["shop_files_bytes", "disk_free_bytes"];
    for (const name of sizes) assert.ok((await shown(name)) > 8_000, name);
  });
});

test("OPENPO_METRICS_PORT moves /metrics to a port on which nothing else is", async () => {
  await withDirectory(async (directory) => {
    const port = await unusedPort();
    const env = { OPENPO_DATA_DIR: directory, OPENPO_DEMO: "0", OPENPO_METRICS_PORT: String(port) };
    const program = await serveProgram(env);
    assert.equal((await program.ask("GET", "/metrics", "")).status, 404);
    assert.equal((await program.ask("GET", "/healthz", "")).status, 200);
    // Each on a connection that ends with its answer, so that none is left to count among the scrapers.
    const ask = (path: string): Promise<string> =>
      exchange(port, `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    const answered = async (path: string): Promise<string | undefined> => statusesIn(await ask(path))[0];
    const answer = await ask("/metrics");
    assert.deepEqual(statusesIn(answer), ["200"]);
    assert.match(answer, /^X-Content-Type-Options: nosniff\r$/im);
    assert.match(answer, /^openpo_requests_total\{operation="healthz",status="200"\} 1\r?$/m);
    for (const path of ["/healthz", "/api/v1/openapi.json", "/admin/v1/shops", "/"])
      assert.equal(await answered(path), "404", path);
    // Idle connections give way to one that asks. Beyond those with a place and those that may wait for one, one is refused.
    const scrapers: Socket[] = [];
    const refused = new Set<Socket>();
    const openUpTo = async (count: number): Promise<void> => {
      while (scrapers.length < count) {
        const scraper = connect(port, "127.0.0.1");
        scraper.on("data", () => refused.add(scraper));
        scrapers.push(scraper);
        await once(scraper, "connect");
      }
    };
    const room = scrapersMax + connectionsRefusedAtOnceMax;
    await openUpTo(room - 1);
    assert.equal(await answered("/metrics"), "200");
    assert.equal(await answered("/"), "404");
    assert.equal(refused.size, 0);
    await openUpTo(room + 1);
    await until("a connection is refused", () => refused.size > 0);
    assert.equal(refused.size, 1);
    for (const socket of scrapers) socket.destroy();
    const second = await runProgram(["serve", "--data-dir", `${directory}/other`], {
      OPENPO_METRICS_PORT: String(port),
    });
    assert.notEqual(second.code, 0);
    assert.match(second.stderr, new RegExp(`Port ${port} on .* is in use.*OPENPO_METRICS_PORT`));
    assert.equal((await program.end("SIGTERM")).code, 0);
  });
});
