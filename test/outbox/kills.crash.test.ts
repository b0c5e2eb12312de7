/** The process is killed (-9) at each step of follow-on work: received goods reach the storefront exactly once (S3, C38, C40). */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import path from "node:path";
import { suite, test } from "node:test";
import { line, quantity } from "../support/goods.ts";
import { inDirectory, locationId, openWorld, type World } from "../support/peers/storefront.ts";
import { pause } from "../support/until.ts";

interface Run {
  readonly killed: boolean;
  readonly output: string;
}

function runChild(directory: string, dieAt: number, what: "receive" | "resume", killAfterMs?: number): Promise<Run> {
  return new Promise((resolve, reject) => {
    const child = spawn(
      process.execPath,
      [path.join(import.meta.dirname, "outbox-child.ts"), directory, String(dieAt), what],
      { stdio: ["ignore", "pipe", "pipe"] },
    );
    let output = "";
    let errors = "";
    child.stdout.on("data", (data: Buffer) => {
      output += data.toString();
      if (killAfterMs !== undefined && output.startsWith("received"))
        void pause(killAfterMs).then(() => child.kill("SIGKILL"));
    });
    child.stderr.on("data", (data: Buffer) => {
      errors += data.toString();
    });
    child.on("error", reject);
    child.on("close", (code, signal) => {
      if (signal === "SIGKILL" || code === 0) resolve({ killed: signal === "SIGKILL", output });
      else reject(new Error(`The child ended with ${code}: ${errors}`));
    });
  });
}

/** Opens the shop in a directory for `use`, and closes it. */
async function using<T>(directory: string, use: (world: World) => Promise<T>): Promise<T> {
  const world = await openWorld(directory);
  try {
    return await use(world);
  } finally {
    await world.close();
  }
}

const place = (directory: string): Promise<void> =>
  using(directory, (world) =>
    world.place("po_1", [
      line("l1", { confirmed: 10, variantId: "v1" }),
      line("l2", { confirmed: 10, variantId: "v2" }),
    ]),
  );

/** Resumes the work that a crash has left, and checks that storefront and shop match the received quantities. */
const provenAfterwards = (directory: string, what: string): Promise<void> =>
  using(directory, async (world) => {
    await world.outbox.start();
    await world.quiet();
    const order = await world.load("po_1");
    assert.deepEqual(
      order.lineItems.map((each) => [each.quantityReceived, each.quantitySynced]),
      [
        [quantity(4), quantity(4)],
        [quantity(2.5), quantity(2.5)],
      ],
      what,
    );
    assert.equal(order.storefrontSyncState, "synced", what);
    assert.equal(await world.onHand("v1"), 4, what);
    assert.equal(await world.onHand("v2"), 2.5, what);
    const { variants } = await world.sandbox.state(["v1", "v2"]);
    assert.deepEqual(
      variants.map((variant) => variant.levels.find((level) => level.locationId === locationId)?.incoming),
      [quantity(6), quantity(7.5)],
      what,
    );
    assert.deepEqual(world.complaints, [], what);
  });

/** More steps than any run takes. */
const stepsMax = 60;

suite("crash: outbox", () => {
  test("after a kill at each step, the stock is right and nothing is pushed twice", async () => {
    let killed = 0;
    for (let dieAt = 1; dieAt < stepsMax; dieAt += 1) {
      const done = await inDirectory(async (directory) => {
        await place(directory);
        const run = await runChild(directory, dieAt, "receive");
        await provenAfterwards(directory, `killed at step ${dieAt}`);
        return !run.killed;
      });
      if (done) break;
      killed += 1;
    }
    // Two lanes with a call each and, in common, a claim and a record. Each of these has a step before and after.
    assert.ok(killed >= 8 && killed < stepsMax - 1, `${killed} steps were tried`);
  });

  test("after repeated kills during recovery, with lost answers, the stock is right", () =>
    inDirectory(async (directory) => {
      await place(directory);
      await using(directory, (world) =>
        world.strike([{ call: "changeOnHand", outcome: "lost-response", variantIds: null, times: 2 }]),
      );
      assert.ok((await runChild(directory, 3, "receive")).killed);
      let deaths = 1;
      for (const dieAt of [2, 4, 5, 3, 6, 8, 7]) if ((await runChild(directory, dieAt, "resume")).killed) deaths += 1;
      assert.ok(deaths >= 3, `died ${deaths} times`);
      await provenAfterwards(directory, `died ${deaths} times`);
    }));

  test("after a kill during a slow storefront call, the stock is right", () =>
    inDirectory(async (directory) => {
      await place(directory);
      await using(directory, (world) => world.strike([], { latencyMs: 9_000 }));
      assert.ok((await runChild(directory, 0, "receive", 300)).killed);
      await using(directory, (world) => world.strike([]));
      await provenAfterwards(directory, "killed during the wait");
    }));
});
