/**
 * Tests that nodes start together on one database, that the command `openpo` works beside them, and that a shop moves there and back.
 *
 * Only on postgres: a data directory has one node.
 */
import assert from "node:assert/strict";
import path from "node:path";
import { suite, test } from "node:test";
import { Client } from "pg";
import { type RunningProgram, runCommand, runProgram, serveProgram, withDirectory } from "../support/process.ts";
import { freshDatabase } from "../support/postgres/postgres.ts";
import { pause } from "../support/until.ts";

const adminToken = "an-admin-token-for-nodes";

/** Runs `use` with a new database and a directory for files. All nodes must have ended. */
async function withDatabase(
  use: (env: Readonly<Record<string, string>>, directory: string) => Promise<void>,
  empty = false,
): Promise<void> {
  const database = await freshDatabase({ empty });
  try {
    await withDirectory((directory) =>
      use(
        {
          OPENPO_DATABASE_URL: database.url,
          OPENPO_ADMIN_TOKEN: adminToken,
          // The data directory must not be used or created.
          OPENPO_DATA_DIR: path.join(directory, "not-used"),
        },
        directory,
      ),
    );
  } finally {
    await database.drop();
  }
}

const readable = async (node: RunningProgram, key: string): Promise<number> =>
  (await node.ask("GET", "/api/v1/purchase-orders?limit=1", key)).status;

suite("nodes that start on one database", () => {
  test("nodes that start together on an empty database create schemas and demo shop once, and all serve it", () =>
    withDatabase(async (env) => {
      const nodes = await Promise.all([1, 2, 3].map(() => serveProgram(env)));
      const [first, ...others] = nodes.filter((node) => node.stdout.includes("First start"));
      assert.ok(first !== undefined);
      assert.deepEqual(others, []);
      for (const node of nodes) {
        assert.equal(await readable(node, first.word("read key")), 200);
        assert.equal((await node.ask("GET", "/readyz", "none")).status, 200);
        assert.equal((await node.ask("GET", "/admin/v1/shops", adminToken)).at("data", "totalCount"), 1);
        assert.equal((await node.ask("GET", "/admin/v1/shops/demo/keys", adminToken)).at("data", "totalCount"), 2);
      }
      const later = await serveProgram(env);
      assert.ok(!later.stdout.includes("First start"), later.stdout);
      for (const node of [...nodes, later]) assert.equal((await node.end("SIGTERM")).code, 0);
    }, true));

  test("after a node lost the database during the first start, the next start is again a first start", () =>
    withDatabase(async (env) => {
      const client = new Client({ connectionString: env["OPENPO_DATABASE_URL"] });
      await client.connect();
      const dying = runProgram([], env);
      // The demo shop exists already, but the service does not listen yet.
      for (let found = 0; found === 0;) found = (await client.query("select 1 from openpo.engine_shop")).rowCount ?? 0;
      const backends =
        "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'openpo' and datname = current_database()";
      await client.query(backends);
      await client.end();
      const next = await serveProgram(env);
      assert.equal(await readable(next, next.word("read key")), 200, next.stdout);
      await next.end("SIGTERM");
      const { code, stdout, stderr } = await dying;
      assert.equal(code, 1, stderr);
      assert.ok(!stdout.includes("opo_"), "keys that were never shown are nobody's");
      assert.match(stderr, /^openpo: /m);
      assert.doesNotMatch(stderr, /^ +at /m);
    }));

  test("nodes without a demo shop print neither keys nor the token", () =>
    withDatabase(async (env) => {
      const node = await serveProgram({ ...env, OPENPO_DEMO: "0" });
      assert.ok(!node.stdout.includes(adminToken));
      assert.equal((await node.ask("GET", "/admin/v1/shops", adminToken)).at("data", "totalCount"), 0);
      await node.end("SIGTERM");
    }));
});

suite("openpo on a database", () => {
  test("the command works beside running nodes, and all of them see the changes at once", () =>
    withDatabase(async (env) => {
      const openpo = async (...args: readonly string[]) => {
        const { code, stdout, stderr } = await runCommand([...args, "--json"], env);
        assert.equal(code, 0, stderr);
        assert.match(stderr, /^Working directly on postgres:\/\/\S+, beside the nodes that run on it\.$/m);
        const result: { keyId?: string; apiKey?: string; totalCount?: number } = JSON.parse(stdout);
        return result;
      };
      const nodes = await Promise.all([1, 2].map(() => serveProgram({ ...env, OPENPO_DEMO: "0" })));
      await openpo("shop", "create", "north");
      const { keyId = "", apiKey = "" } = await openpo(
        "key",
        "create",
        "--shop",
        "north",
        "--name",
        "k",
        "--scope",
        "read",
      );
      for (const node of nodes) assert.equal(await readable(node, apiKey), 200);
      await openpo("shop", "create", "north", "--update", "--rest-api", "no");
      for (const node of nodes) assert.equal(await readable(node, apiKey), 403);
      await openpo("shop", "create", "north", "--update", "--rest-api", "yes");
      for (const node of nodes) assert.equal(await readable(node, apiKey), 200);
      await openpo("key", "revoke", keyId, "--shop", "north");
      for (const node of nodes) assert.equal(await readable(node, apiKey), 401);
      const again = await openpo("key", "create", "--shop", "north", "--name", "k");
      for (const node of nodes) assert.equal(await readable(node, again.apiKey ?? ""), 200);
      await openpo("shop", "delete", "north", "--confirm", "north");
      for (const node of nodes) assert.equal(await readable(node, again.apiKey ?? ""), 401);
      assert.equal((await openpo("shop", "list")).totalCount, 0);
      for (const node of nodes) await node.end("SIGTERM");
    }));

  test("the command refuses backup and restore of a database, and reports an empty database", () =>
    withDatabase(async (env, directory) => {
      const none = await runCommand(["shop", "list"], env);
      assert.equal(none.code, 3);
      assert.match(none.stderr, /^openpo: there is no data in postgres:/m);
      for (const args of [
        ["backup", path.join(directory, "copy")],
        ["restore", directory],
      ]) {
        const refused = await runCommand(args, env);
        assert.equal(refused.code, 1);
        assert.match(
          refused.stderr,
          /^openpo: the shops are in a database: back up the database instead\.\n {2}Use pg_dump/m,
        );
      }
      const node = await serveProgram({ ...env, OPENPO_DEMO: "0" });
      await node.ask("PUT", "/admin/v1/shops/north", adminToken, { name: "North" });
      const snapshot = await node.ask("GET", "/admin/v1/shops/north/snapshot", adminToken);
      assert.equal(snapshot.status, 400);
      assert.match(snapshot.text, /pg_dump/);
      // Neither the database's password nor its user may be shown.
      const url = new URL(env["OPENPO_DATABASE_URL"] ?? "");
      assert.ok(url.username !== "" && !none.stderr.includes("@"), none.stderr);
      await node.end("SIGTERM");
    }));

  test("the command moves a shop from a directory to the database and back: the same answers byte for byte", () =>
    withDatabase(async (env, directory) => {
      const dataDir = path.join(directory, "data");
      const file = path.join(directory, "demo.ndjson");
      const run = async (args: readonly string[]): Promise<string> => {
        const { code, stdout, stderr } = await runCommand(args, env);
        assert.equal(code, 0, stderr);
        return stdout;
      };
      // A named directory wins over a database in the environment.
      await run(["demo", "--data-dir", dataDir]);
      await run(["export", "--shop", "demo", "--output", file, "--data-dir", dataDir]);
      const settings = ["--currency", "EUR"];
      await run(["shop", "create", "demo", "--name", "Demo", ...settings, "--data-dir", path.join(directory, "back")]);
      await run(["shop", "create", "demo", "--name", "Demo", ...settings]);
      await run(["import", file, "--shop", "demo"]);
      const there = path.join(directory, "there.ndjson");
      await run(["export", "--shop", "demo", "--output", there]);
      await run(["import", there, "--shop", "demo", "--data-dir", path.join(directory, "back")]);

      const answersOf = async (where: Readonly<Record<string, string>>): Promise<readonly string[]> => {
        const key: { apiKey: string } = JSON.parse(
          (await runCommand(["key", "create", "--shop", "demo", "--name", "k", "--json"], where)).stdout,
        );
        const node = await serveProgram({ ...where, OPENPO_DEMO: "0" });
        try {
          const list = await node.ask("GET", "/api/v1/purchase-orders?limit=50", key.apiKey);
          const orders = list.at("data", "purchaseOrders");
          assert.ok(Array.isArray(orders) && orders.length > 10);
          const targets = [
            "stock-takes",
            "stock-adjustments",
            "transfer-orders",
            "manufacturing-orders",
            "forecast-views",
          ];
          const details = orders.flatMap((order: unknown) => {
            const id =
              typeof order === "object" && order !== null && "purchaseOrderId" in order
                ? String(order.purchaseOrderId)
                : "";
            return ["", "/log", "/cost-sync-history", "/receipt-schedule", "/credits"].map(
              (part) => `purchase-orders/${id}${part}`,
            );
          });
          const answers = [list.text];
          for (const target of [...targets, ...details]) {
            let answer = await node.ask("GET", `/api/v1/${target}`, key.apiKey);
            for (; answer.status === 429; answer = await node.ask("GET", `/api/v1/${target}`, key.apiKey))
              await pause(Number(answer.at("error", "retryAfterMs")));
            answers.push(answer.text);
          }
          return answers.map((text) => text.replaceAll(/"requestId":"req_[^"]+"/g, ""));
        } finally {
          await node.end("SIGTERM");
        }
      };
      const inDatabase = await answersOf(env);
      const noDatabase = { ...env, OPENPO_DATABASE_URL: "" };
      assert.deepEqual(inDatabase, await answersOf({ ...noDatabase, OPENPO_DATA_DIR: dataDir }));
      assert.deepEqual(inDatabase, await answersOf({ ...noDatabase, OPENPO_DATA_DIR: path.join(directory, "back") }));
    }));
});
