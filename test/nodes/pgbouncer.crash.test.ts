/**
 * Nodes behind PgBouncer (docs/operating.md). In session mode they work as without it, also when it is killed under load: no acknowledged change
 * is lost, and each key has one effect. In the other modes they refuse to start, in a sentence.
 *
 * `npm run test:pgbouncer` has a longer load, and runs the contracts of the stores through PgBouncer too.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { suite, test } from "node:test";
import { adminToken, hangUp } from "../support/clients.ts";
import { withNodes } from "../support/programs/nodes.ts";
import { noPgbouncer, startPgbouncer } from "../support/postgres/pgbouncer.ts";
import { databaseVariable, freshDatabase, startPostgres } from "../support/postgres/postgres.ts";
import { startProgram } from "../support/programs/program.ts";
import { pause } from "../support/until.ts";
import { NodesLoad, shownRepeats } from "../world/nodes.ts";

const longSeconds = process.env["OPENPO_PGBOUNCER_SECONDS"];
const seconds = Number(longSeconds ?? 3);
const seed = Number(process.env["OPENPO_TEST_NODES_SEED"] ?? 20_261_125);
const nodeCount = 2;
const clientCount = 6;
/** For how long nobody listens. */
const awayMs = 300;

suite("crash: PgBouncer", { skip: noPgbouncer }, () => {
  for (const mode of ["transaction", "statement"] as const)
    test(`a node refuses to start behind PgBouncer with pool_mode = ${mode}, and says what to set`, async () => {
      const database = await freshDatabase();
      try {
        await using pooler = await startPgbouncer(database.url, mode);
        const url = pooler.urlOf(database.url);
        for (const args of [["serve"], ["shop", "list"]]) {
          const env = { OPENPO_DATABASE_URL: url, OPENPO_ADMIN_TOKEN: adminToken };
          const { code, stderr, stdout } = await startProgram(args, env).finished;
          assert.equal(code, 1, stdout);
          assert.match(stderr, /^openpo: OPENPO_DATABASE_URL: .*another session.*set pool_mode = session/m);
          assert.equal(stderr.trim().split("\n").length, 1, stderr);
        }
      } finally {
        await database.drop();
      }
    });

  test("in session mode nodes serve through it, and when it is killed under load nothing that was acknowledged is lost", async (context) => {
    const database = await freshDatabase();
    try {
      await using pooler = await startPgbouncer(database.url, "session");
      await withNodes(pooler.urlOf(database.url), nodeCount, async (nodes) => {
        const load = await NodesLoad.open({ nodes, databaseUrl: database.url, clients: clientCount, seconds, seed });
        let kills = 0;
        const told = await load.run(async (isOver) => {
          do {
            await pause(1_000);
            // While it is away, a refusal is answered without its audit row, and the log tells of it.
            load.crashes();
            await pooler.crash();
            await pause(awayMs);
            await pooler.start();
            kills += 1;
          } while (!isOver());
        });
        await load.prove();
        context.diagnostic(`${kills} kills, ${shownRepeats(told)}`);
      });
    } catch (error) {
      context.diagnostic(`OPENPO_TEST_NODES_SEED=${seed}`);
      throw error;
    } finally {
      hangUp();
      await database.drop();
    }
  });

  test(
    "the contracts of the stores hold through it in session mode",
    { skip: longSeconds === undefined },
    async (context) => {
      // A server of its own: a run drops all databases of tests.
      await using server = await startPostgres();
      await using pooler = await startPgbouncer(server.url, "session");
      const { NODE_TEST_CONTEXT: _, ...env } = process.env;
      const run = spawn(process.execPath, ["test/run.ts", "test/contract/", "test/store/"], {
        env: { ...env, OPENPO_TEST_ENGINE: "postgres", [databaseVariable]: pooler.urlOf(server.url) },
        stdio: ["ignore", "pipe", "inherit"],
      });
      const [shown] = await Promise.all([text(run.stdout), once(run, "close")]);
      const counts = /^(\d+) passed, 0 failed$/m.exec(shown);
      assert.ok(counts !== null && Number(counts[1]) > 50, shown);
      context.diagnostic(counts[0]);
    },
  );
});
