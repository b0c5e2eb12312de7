/**
 * Three nodes on one PostgreSQL under mixed load, while nodes are killed (-9) and the database is restarted in different ways. No
 * acknowledged change is lost, each key has one effect, and the stock is right (S1–S4, H2, O1, O6, C17–C20, C34, C38–C41).
 *
 * Each client keeps a model of the answers it got. It has its own orders, of which it knows every figure. All clients of a shop also change
 * shared orders: they add lines, un-receive goods, and raise a counter by compare-and-swap.
 *
 * `OPENPO_TEST_NODES_SECONDS` is the duration of the load. `OPENPO_TEST_NODES_SEED` seeds the clients' steps and the disruptions.
 */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { systemClock } from "../../src/base/time/system.ts";
import { hangUp, seeded } from "../support/clients.ts";
import { openShop, prove, runLoad, type Shop, shopIds, noteFactsOf } from "../support/programs/nodes-load.ts";
import { type ServiceNode, withNodes } from "../support/programs/nodes.ts";
import { findPostgres, type PostgresServer, startPostgres } from "../support/postgres/postgres.ts";
import { pause } from "../support/until.ts";

const seconds = Number(process.env["OPENPO_TEST_NODES_SECONDS"] ?? 60);
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
/** Pause after each disruption. */
const pauseMs = 3_000;
const startTriesMax = 20;

interface Setting {
  readonly nodes: readonly ServiceNode[];
  readonly database: PostgresServer;
  readonly random: () => number;
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
  const index = Math.floor(random() * nodes.length);
  const endAndStart = async (node: ServiceNode | undefined, signal: NodeJS.Signals): Promise<void> => {
    const code = await node?.end(signal);
    if (signal === "SIGTERM") assert.equal(code, 0, "a stopped node did not exit with status 0");
    await pause(random() * 1_500);
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
      await pause(1_000 + random() * 3_000);
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
interface LoadReport {
  readonly disrupted: readonly Disruption[];
  /** When the database was stopped or killed. */
  readonly crashedAtMs: readonly number[];
  readonly steps: number;
}

/** Runs clients and disruptions. All nodes run again at the end. */
async function disruptUnderLoad(
  setting: Setting,
  shops: readonly Shop[],
  broken: AbortController,
): Promise<LoadReport> {
  const { nodes, random } = setting;
  const disrupted: Disruption[] = [];
  const crashedAtMs: number[] = [];
  const steps = await runLoad({ nodes, shops, clientCount, seconds, seed, random }, broken, async (isOver) => {
    for (let index = 0; !isOver(); index += 1) {
      await pause(pauseMs);
      const disruption = disruptions[index % disruptions.length] ?? "kill";
      if (disruption.startsWith("database")) crashedAtMs.push(systemClock.now());
      await disrupt(disruption, setting);
      disrupted.push(disruption);
    }
  });
  return { disrupted, crashedAtMs, steps };
}

const skip = findPostgres() === null ? "there is no PostgreSQL on this machine" : false;

suite("crash: three nodes", { skip }, () => {
  test("under kills and restarts each acknowledged change is kept, each key has one effect and the stock is right", async (context) => {
    await using database = await startPostgres();
    const { url } = database;
    const random = seeded(seed);
    /** Ends all work after the first failure. */
    const broken = new AbortController();
    await withNodes(url, nodeCount, async (nodes) => {
      const shops = await Promise.all(shopIds.map((shopId) => openShop(shopId, nodes, random, broken.signal)));
      const { disrupted, crashedAtMs, steps } = await disruptUnderLoad({ nodes, database, random }, shops, broken);
      await prove(url, shops, nodes, crashedAtMs);
      const { answers, repeats } = noteFactsOf(shops);
      context.diagnostic(
        `${steps} steps, ${answers} answers; disrupted: ${disrupted.join(", ")}; repeated after: ${repeats}`,
      );
      assert.ok(disrupted.filter((disruption) => disruption.startsWith("kill")).length >= 2);
      assert.ok(disrupted.filter((disruption) => disruption.startsWith("database")).length >= 2);
      assert.ok(steps >= clientCount);
    })
      .catch((error: unknown) => {
        context.diagnostic(`OPENPO_TEST_NODES_SEED=${seed}`);
        throw error;
      })
      .finally(hangUp);
  });
});
