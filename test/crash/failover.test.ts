/**
 * Three nodes on a PostgreSQL with a synchronous standby, under mixed load: all processes of the primary are killed (-9) and the standby is
 * promoted. No acknowledged change is lost, each key has one effect, and the stock is right (S1–S4, C17–C20).
 *
 * For a moment before the kill the standby gets nothing more, so a change that was acknowledged without it would be lost.
 *
 * `OPENPO_TEST_NODES_SEED` seeds the clients' steps.
 */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "../../src/system.ts";
import { hangUp, seeded } from "../support/clients.ts";
import { openShop, prove, runLoad, shopIds, toldOf } from "../support/nodes-load.ts";
import { withNodes } from "../support/nodes.ts";
import { startPair } from "../support/postgres-pair.ts";
import { findPostgres } from "../support/postgres.ts";
import { startProbe } from "../support/probe.ts";

const seed = Number(process.env["OPENPO_TEST_NODES_SEED"] ?? 20_261_123);
const secondsBefore = 4;
const secondsAfter = 3;
const heldBackMs = 400;
const clientCount = 8;

const skip = findPostgres() === null ? "there is no PostgreSQL on this machine" : false;

suite("crash: failover", { skip }, () => {
  test("the primary is killed under load and its standby promoted: each acknowledged change is kept, each key has one effect", async (context) => {
    await using pair = await startPair();
    const random = seeded(seed);
    const broken = new AbortController();
    await withNodes(pair.url, 3, async (nodes) => {
      const shops = await Promise.all(shopIds.map((shopId) => openShop(shopId, nodes, random, broken.signal)));
      const probe = await startProbe(nodes, "probe");
      const load = { nodes, shops, clientCount, seconds: secondsBefore + secondsAfter, seed, random };
      let killedAtMs = 0;
      let promotedMs = 0;
      const steps = await runLoad(load, broken, async () => {
        await sleep(secondsBefore * 1_000);
        assert.ok(probe.written > 0);
        killedAtMs = systemClock.now() + heldBackMs;
        promotedMs = await pair.failOver(heldBackMs);
        const writtenBefore = probe.written;
        while (probe.written <= writtenBefore && !broken.signal.aborted) await sleep(50);
      });
      await probe.end();
      await prove(pair.url, shops, nodes, [killedAtMs]);
      const { answers, repeats } = toldOf(shops);
      context.diagnostic(
        `${steps} steps, ${answers} answers; promoted ${promotedMs} ms after the kill; ` +
          `${Math.round(probe.longestGapMs(killedAtMs - heldBackMs))} ms without a change, ${heldBackMs} of them before the kill; repeated after: ${repeats}`,
      );
    })
      .catch((error: unknown) => {
        context.diagnostic(`OPENPO_TEST_NODES_SEED=${seed}`);
        throw error;
      })
      .finally(hangUp);
  });
});
