/**
 * Three nodes on one PostgreSQL under mixed load, while nodes are killed (-9) and the database is restarted in different ways. No
 * acknowledged change is lost, each key has one effect, and the stock is right (S1–S4, H2, O1, O6, C17–C20, C34, C38–C41).
 *
 * All clients of a shop change the same few orders. What they are told, and what is there in the end, is judged by a model of the orders (world/).
 *
 * `OPENPO_TEST_NODES_SECONDS` is the duration of the load; `npm run test:kills` has a longer one. `OPENPO_TEST_NODES_SEED` seeds the clients' steps and the disruptions.
 */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { hangUp } from "../support/clients.ts";
import { type ServiceNode, withNodes } from "../support/programs/nodes.ts";
import { findPostgres, type PostgresServer, startPostgres } from "../support/postgres/postgres.ts";
import { pause } from "../support/until.ts";
import { NodesLoad, shownRepeats } from "../world/nodes.ts";
import { type Random, randomOf } from "../world/random.ts";

const seconds = Number(process.env["OPENPO_TEST_NODES_SECONDS"] ?? 25);
const seed = Number(process.env["OPENPO_TEST_NODES_SEED"] ?? 20_261_121);

const nodeCount = 3;
const clientCount = 14;

// Disruptions of nodes and database.

type Disruption = "kill" | "kill two" | "stop" | "freeze" | "database fast" | "database immediate" | "database killed";

/** One round of disruptions; a longer load repeats it. */
const disruptions: readonly Disruption[] = [
  "kill",
  "database fast",
  "kill",
  "database immediate",
  "kill two",
  "database killed",
  "freeze",
  "stop",
  "kill",
  "database immediate",
  "database fast",
  "kill",
  "database killed",
];
/** The first ones of a round, with each kind but a stop and a freeze. */
const disruptionsMin = 6;
/** Pause after each disruption. */
const pauseMs = 3_000;
const startTriesMax = 20;

interface Setting {
  readonly nodes: readonly ServiceNode[];
  readonly database: PostgresServer;
  readonly random: Random;
}

async function restart(database: PostgresServer, how: "SIGINT" | "SIGQUIT" | "SIGKILL"): Promise<void> {
  await database.crash(how);
  for (let tries = 1; ; tries += 1) {
    try {
      await database.start();
      return;
    } catch (error) {
      // Processes of the killed server may hold its shared memory a moment longer.
      if (tries === startTriesMax) throw error;
      await pause(200);
    }
  }
}

async function disrupt(disruption: Disruption, { nodes, database, random }: Setting): Promise<void> {
  const index = random.int(0, nodes.length - 1);
  const endAndStart = async (node: ServiceNode | undefined, signal: NodeJS.Signals): Promise<void> => {
    const code = await node?.end(signal);
    if (signal === "SIGTERM") assert.equal(code, 0, "a stopped node did not exit with status 0");
    await pause(random.next() * 1_500);
    await node?.start();
  };
  switch (disruption) {
    case "kill":
      return endAndStart(nodes[index], "SIGKILL");
    case "kill two":
      await Promise.all([index, (index + 1) % nodes.length].map((each) => endAndStart(nodes[each], "SIGKILL")));
      return;
    case "freeze":
      nodes[index]?.program?.signal("SIGSTOP");
      await pause(1_000 + random.next() * 3_000);
      nodes[index]?.program?.signal("SIGCONT");
      return;
    case "stop":
      return endAndStart(nodes[index], "SIGTERM");
    case "database fast":
      return restart(database, "SIGINT");
    case "database immediate":
      return restart(database, "SIGQUIT");
    case "database killed":
      return restart(database, "SIGKILL");
  }
}

const skip = findPostgres() === null ? "there is no PostgreSQL on this machine" : false;

suite("crash: three nodes", { skip }, () => {
  test("under kills and restarts each acknowledged change is kept, each key has one effect and the stock is right", async (context) => {
    await using database = await startPostgres();
    const { url } = database;
    const random = randomOf(String(seed));
    await withNodes(url, nodeCount, async (nodes) => {
      const load = await NodesLoad.open({ nodes, databaseUrl: url, clients: clientCount, seconds, seed });
      const disrupted: Disruption[] = [];
      const told = await load.run(async (isOver) => {
        // On a machine that does much else too: the load goes on until the disruptions are over.
        for (let index = 0; !load.isBroken && (!isOver() || index < disruptionsMin); index += 1) {
          await pause(pauseMs);
          const disruption = disruptions[index % disruptions.length] ?? "kill";
          if (disruption.startsWith("database")) load.crashes();
          await disrupt(disruption, { nodes, database, random });
          disrupted.push(disruption);
        }
      });
      await load.prove();
      context.diagnostic(`disrupted: ${disrupted.join(", ")}; ${shownRepeats(told)}`);
      assert.ok(disrupted.filter((disruption) => disruption.startsWith("kill")).length >= 2);
      assert.ok(disrupted.filter((disruption) => disruption.startsWith("database")).length >= 2);
    })
      .catch((error: unknown) => {
        context.diagnostic(`OPENPO_TEST_NODES_SEED=${seed}`);
        throw error;
      })
      .finally(hangUp);
  });
});
