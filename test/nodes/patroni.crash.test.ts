/**
 * Two nodes on a PostgreSQL that Patroni fails over by itself, under mixed load: all processes of the primary, and its Patroni, are killed (-9), and later
 * come back as the standby. No acknowledged change is lost, each key has one effect, and the stock is right (S1–S4, C17–C20).
 *
 * Only by `npm run test:patroni`, with Debian's packages unpacked in `OPENPO_PATRONI` (support/postgres/patroni.ts). `OPENPO_TEST_NODES_SEED` seeds the clients' steps.
 */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { systemClock } from "../../src/base/time/system.ts";
import { hangUp } from "../support/clients.ts";
import { withNodes } from "../support/programs/nodes.ts";
import { noPatroni, startPatroni } from "../support/postgres/patroni.ts";
import { startProbe } from "../support/programs/probe.ts";
import { pause, until } from "../support/until.ts";
import { NodesLoad, shownRepeats } from "../world/nodes.ts";

const seed = Number(process.env["OPENPO_TEST_NODES_SEED"] ?? 20_261_126);
const secondsBefore = 3;
const clientCount = 6;

suite("crash: Patroni", { skip: noPatroni }, () => {
  test("Patroni fails over under load and back: each acknowledged change is kept, each key has one effect", async (context) => {
    await using cluster = await startPatroni();
    try {
      await withNodes(cluster.url, 2, async (nodes) => {
        const load = await NodesLoad.open({ nodes, databaseUrl: cluster.url, clients: clientCount, seconds: 0, seed });
        const probe = await startProbe(nodes, "probe");
        const told = await load.run(async () => {
          for (const _ of ["there", "back"]) {
            await pause(secondsBefore * 1_000);
            const killedAtMs = systemClock.now();
            load.crashes();
            const killed = await cluster.killPrimary();
            const writtenBefore = probe.written;
            await until("it is written again", () => probe.written > writtenBefore || load.isBroken);
            context.diagnostic(
              `${killed} was killed: ${Math.round(probe.longestGapMs(killedAtMs))} ms without a change`,
            );
            assert.notEqual(await cluster.primary(), killed);
            cluster.start(killed);
            await cluster.untilSynchronous();
          }
        });
        await probe.end();
        await load.prove();
        context.diagnostic(shownRepeats(told));
      });
    } catch (error) {
      context.diagnostic(`OPENPO_TEST_NODES_SEED=${seed}`);
      throw error;
    } finally {
      hangUp();
    }
  });
});
