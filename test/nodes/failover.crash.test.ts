/**
 * Three nodes on a PostgreSQL with a synchronous standby, under mixed load: all processes of the primary are killed (-9) and the standby is
 * promoted. No acknowledged change is lost, each key has one effect, and the stock is right (S1–S4, C17–C20).
 *
 * For a moment before the kill the standby gets nothing more, so a change that was acknowledged without it would be lost.
 *
 * `npm run test:failover` has clients go through HAProxy with the shipped configuration, and fails over and back several times: what was the primary
 * is made anew as the standby of what was its standby. `OPENPO_FAILOVERS` says how often. `OPENPO_TEST_NODES_SEED` seeds the clients' steps.
 */
import assert from "node:assert/strict";
import { suite, test, type TestContext } from "node:test";
import { systemClock } from "../../src/base/time/system.ts";
import { hangUp } from "../support/clients.ts";
import { noHaproxy, startHaproxy } from "../support/postgres/haproxy.ts";
import { serviceNode, withNodes } from "../support/programs/nodes.ts";
import { type PostgresPair, startPair } from "../support/postgres/postgres-pair.ts";
import { freePort } from "../support/programs/ports.ts";
import { findPostgres } from "../support/postgres/postgres.ts";
import { type Probe, startProbe } from "../support/programs/probe.ts";
import { pause, until } from "../support/until.ts";
import { NodesLoad, shownRepeats } from "../world/nodes.ts";

const seed = Number(process.env["OPENPO_TEST_NODES_SEED"] ?? 20_261_123);
const failovers = Number(process.env["OPENPO_FAILOVERS"] ?? 0);
const nodeCount = 3;
const secondsBefore = 4;
const secondsAfter = 3;
const heldBackMs = 400;
const clientCount = 8;

const skip = findPostgres() === null ? "there is no PostgreSQL on this machine" : false;

/** Kills the primary, promotes the standby and waits for a change. @returns a sentence about it. */
async function failOver(pair: PostgresPair, probe: Probe, load: NodesLoad): Promise<string> {
  assert.ok(probe.written > 0);
  load.crashes();
  const beganMs = systemClock.now();
  const promotedMs = await pair.failOver(heldBackMs);
  const writtenBefore = probe.written;
  await until("it is written again", () => probe.written > writtenBefore || load.isBroken);
  return (
    `promoted ${promotedMs} ms after the kill; ` +
    `${Math.round(probe.longestGapMs(beganMs))} ms without a change, ${heldBackMs} of them before the kill`
  );
}

/** Has clients work at these addresses while `disrupting` fails over, and checks everything that they were told. */
async function underLoad(
  context: TestContext,
  pair: PostgresPair,
  nodes: readonly { readonly url: string }[],
  disrupting: (probe: Probe, load: NodesLoad) => Promise<void>,
): Promise<void> {
  try {
    const seconds = secondsBefore + secondsAfter;
    const load = await NodesLoad.open({ nodes, databaseUrl: pair.url, clients: clientCount, seconds, seed });
    const probe = await startProbe(nodes, "probe");
    const told = await load.run(() => disrupting(probe, load));
    await probe.end();
    await load.prove();
    context.diagnostic(shownRepeats(told));
  } catch (error) {
    context.diagnostic(`OPENPO_TEST_NODES_SEED=${seed}`);
    throw error;
  } finally {
    hangUp();
  }
}

suite("crash: failover", { skip }, () => {
  test("the primary is killed under load and its standby promoted: each acknowledged change is kept, each key has one effect", async (context) => {
    await using pair = await startPair();
    await withNodes(pair.url, nodeCount, (nodes) =>
      underLoad(context, pair, nodes, async (probe, load) => {
        await pause(secondsBefore * 1_000);
        context.diagnostic(await failOver(pair, probe, load));
      }),
    );
  });

  test(
    "behind HAProxy the database fails over and back, again and again: each acknowledged change is kept, each key has one effect",
    { skip: failovers === 0 ? "only by npm run test:failover" : noHaproxy },
    async (context) => {
      await using pair = await startPair();
      const ports = await Promise.all(Array.from({ length: nodeCount }, freePort));
      const nodes = ports.map((port) => serviceNode(pair.url, { PORT: String(port) }));
      try {
        await Promise.all(nodes.map((node) => node.start()));
        await using balancer = await startHaproxy(ports.map((port) => `127.0.0.1:${port}`));
        await underLoad(context, pair, [balancer], async (probe, load) => {
          for (let done = 1; done <= failovers && !load.isBroken; done += 1) {
            await pause(secondsBefore * 1_000);
            context.diagnostic(await failOver(pair, probe, load));
            // What was the primary comes back as the standby.
            if (done < failovers) await pair.addStandby();
          }
        });
      } finally {
        await Promise.all(nodes.map((node) => node.end("SIGKILL")));
      }
    },
  );
});
