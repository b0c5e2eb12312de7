/**
 * One shop of a database is restored from another database, in which a backup of it is, while nodes serve (D383): what is undone, what stays, that
 * nothing is pushed twice, and what is left when command and node are killed meanwhile.
 *
 * Only on postgres: restore-shop.slow.test.ts has the same of a data directory.
 */
import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { onStore, runCommand, serveProgram, withDirectory } from "../support/process.ts";
import { startProgram } from "../support/programs/program.ts";
import { adminToken, eventsOf, keyOf, shopId, ShopUse } from "../support/shops/restored-shop.ts";
import { withClient } from "../support/postgres/postgres.ts";
import { databaseFor } from "../support/store.ts";
import { pause, until, until as untilThere } from "../support/until.ts";

/** A copy of the database as of now, as a dump that is restored makes one. */
async function copyOf(url: string): Promise<string> {
  const name = new URL(url).pathname.slice(1);
  const copy = new URL(url);
  copy.pathname = `/${name}_monday`;
  const maintenance = new URL(url);
  maintenance.pathname = "/openpo";
  await withClient(maintenance.href, (client) => client.query(`create database "${name}_monday" template "${name}"`));
  return copy.href;
}

async function drop(url: string): Promise<void> {
  const maintenance = new URL(url);
  maintenance.pathname = "/openpo";
  await withClient(maintenance.href, (client) =>
    client.query(`drop database "${new URL(url).pathname.slice(1)}" with (force)`),
  );
}

test("a shop goes back to a backup of the database beside its nodes; nothing is pushed twice, nobody comes in again", async () => {
  await withDirectory(async (directory) => {
    const data = path.join(directory, "data");
    const env = { OPENPO_DATA_DIR: data, OPENPO_ADMIN_TOKEN: adminToken, OPENPO_DEMO: "0" };
    const serve = () => serveProgram(env);
    let program = await serve();
    const url = (await databaseFor(data)) ?? assert.fail("there is a database");
    let shop = await ShopUse.make(program, shopId);
    const revoked = await keyOf(program, shopId, "revoked later");
    const order = await shop.order("beans", 5);
    await shop.receive(order, 2);
    const before = (await eventsOf(program, shopId)).length;
    await program.end("SIGTERM");
    const copy = await copyOf(url);
    program = await serve();
    shop = shop.on(program);

    await shop.receive(order, 5);
    const later = await shop.order("cups", 3);
    await shop.receive(later, 3);
    await program.ask("DELETE", `/admin/v1/shops/${shopId}/keys/${revoked.keyId}`, adminToken);
    const seen = await shop.version(order);
    const since = await eventsOf(program, shopId);
    const openpo = (...args: readonly string[]) => runCommand(args, { OPENPO_DATA_DIR: data });
    const refused = await openpo("restore", copy, "--shop", shopId);
    assert.match(
      refused.stderr,
      /shop tideline is there\.\n {2}To replace what it holds by the backup add --confirm tideline/,
    );
    assert.match(
      (await openpo("restore", "/backups/monday", "--shop", shopId)).stderr,
      /into which its backup was restored/,
    );
    assert.match((await openpo("restore", copy, "--shop", "missing")).stderr, /has no shop missing/);
    const { code, stdout, stderr } = await openpo("restore", copy, "--shop", shopId, "--confirm", shopId, "--json");
    assert.equal(code, 0, stderr);
    const { restored } = JSON.parse(stdout);
    assert.deepEqual(
      [restored.hadPresent, restored.undoneEvents, restored.revertedOrders, restored.goneOrders.count],
      [true, since.length - before, 1, 1],
    );
    assert.equal(restored.unsyncedOrders.orders[0].poNumber, order.number);
    assert.equal(restored.pushesOfNoOrder.pushes[0].poNumber, later.number);
    assert.equal((await shop.detail(later.id)).status, 404);
    assert.deepEqual(await shop.standing(order), [2, 5, "partial"]);
    assert.ok((await shop.version(order)) > seen);
    await until("the storefront shows it", async () => (await shop.stock(shopId, "beans")).incoming === 3);
    assert.equal((await shop.stock(shopId, "beans")).onHand, 15);
    await shop.receive(order, 5);
    assert.deepEqual(await shop.standing(order), [5, 5, "synced"]);
    assert.deepEqual(await shop.stock(shopId, "beans"), { onHand: 15, incoming: 0 });
    assert.equal((await program.ask("GET", "/api/v1/purchase-orders", revoked.apiKey)).status, 401);
    const events = await eventsOf(program, shopId);
    assert.deepEqual(events.slice(0, since.length), since);
    assert.equal(events[since.length]?.type, "shop.restored");
    const verified = await openpo("audit", "verify", "--shop", shopId);
    assert.match(verified.stdout, /are as they were written/);

    // A shop that was deleted comes back whole, with its storefront.
    assert.equal((await openpo("shop", "delete", shopId, "--confirm", shopId)).code, 0);
    assert.equal((await openpo("restore", copy, "--shop", shopId)).code, 0);
    assert.deepEqual(await shop.standing(order), [2, 2, "synced"]);
    assert.equal((await shop.stock(shopId, "beans")).onHand, 12);
    await program.end("SIGTERM");
    await drop(copy);
  });
});

/** How many restores are killed at a moment near their end: `OPENPO_RESTORE_KILLS`. */
const killCount = Number(process.env["OPENPO_RESTORE_KILLS"] ?? 1);

/** Tables at which a restore is held up before it is killed: it empties and fills the first two, and tells of itself in the last one before it commits. */
const heldAt = killCount > 1 ? ["location", "receipt", "event"] : ["event"];

test("a restore whose command and node are killed has the shop as it was or as it is to be, and a retry of a change has one effect", async (t) => {
  await withDirectory(async (directory) => {
    const data = path.join(directory, "data");
    const env = { OPENPO_DATA_DIR: data, OPENPO_ADMIN_TOKEN: adminToken, OPENPO_DEMO: "0" };
    let program = await serveProgram(env);
    const url = (await databaseFor(data)) ?? assert.fail("there is a database");
    const shop = await ShopUse.make(program, shopId);
    const order = await shop.order("beans", 5);
    await program.end("SIGTERM");
    const copy = await copyOf(url);
    program = await serveProgram(env);
    let use = shop.on(program);
    let latest = await use.order("cups", 1);
    const restoring = ["restore", copy, "--shop", shopId, "--confirm", shopId];
    const command = async () => startProgram(restoring, await onStore(env, restoring));
    const seen = { asItWas: 0, restored: 0 };

    /** Command and node are killed; what is left is whole, and is used. */
    const killed = async (
      restore: Awaited<ReturnType<typeof command>>,
      around: { readonly before: () => Promise<void>; readonly after: () => Promise<void> },
    ): Promise<boolean> => {
      const name = `kill ${seen.asItWas + seen.restored}`;
      const create = () => use.api("POST", "/api/v1/purchase-orders", { poName: name }, { "Idempotency-Key": name });
      const during = create().catch(() => null);
      await around.before();
      const ended = restore.child.exitCode;
      restore.child.kill("SIGKILL");
      const [, answer] = await Promise.all([program.end("SIGKILL"), during, restore.finished]);
      await around.after();
      program = await serveProgram(env);
      use = shop.on(program);
      // The killed node still has the key, until its lease ends.
      const again = await untilThere("an answer under the key", async () => {
        const answered = await create();
        return answered.text.includes("IDEMPOTENCY_IN_PROGRESS") ? null : answered;
      });
      assert.equal(again.status, 201, again.text);
      if (answer?.status === 201) assert.equal(again.text, answer.text, "a change that was acknowledged");
      const named = await use.api("GET", `/api/v1/purchase-orders?search=${encodeURIComponent(name)}`);
      const found = named.at("data", "purchaseOrders");
      assert.ok(Array.isArray(found));
      assert.equal(found.length, 1, named.text);
      assert.equal((await use.detail(order.id)).status, 200);
      const isThere = (await use.detail(latest.id)).status === 200;
      if (ended === 0) assert.ok(!isThere, "a restore that was told as done was lost");
      const since = (await eventsOf(program, shopId)).filter(({ type }) => type === "shop.restored");
      seen[isThere ? "asItWas" : "restored"] += 1;
      assert.equal(since.length, seen.restored);
      latest = await use.order("cups", 1);
      return isThere;
    };

    for (const table of heldAt) {
      await withClient(url, async (client) => {
        await client.query(`begin; lock table openpo.${table} in share mode`);
        const waiting = (what: string, count: number): Promise<boolean> =>
          untilThere(what, async () => {
            // In a transaction each look would show what the first one has shown.
            const { rows } = await withClient(url, (looking) =>
              looking.query(
                "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
              ),
            );
            return rows.length >= count;
          });
        const restore = await command();
        await waiting("a restore that waits for the table", 1);
        const isThere = await killed(restore, {
          before: async () => void (await waiting("a change that waits for the restore", 2)),
          after: async () => void (await client.query("rollback")),
        });
        assert.ok(isThere, `it was killed at ${table}, before its commit`);
      });
    }

    // A restore that nobody kills, to know how long one takes.
    const begunMs = performance.now();
    const { finished } = await command();
    assert.equal((await finished).code, 0);
    const takesMs = performance.now() - begunMs;
    seen.restored += 1;
    latest = await use.order("cups", 1);
    for (let kill = 0; kill < killCount; kill += 1) {
      const restore = await command();
      const share = killCount === 1 ? 0.9 : 0.5 + (0.6 * kill) / (killCount - 1);
      await Promise.race([restore.finished, pause(takesMs * share)]);
      await killed(restore, { before: async () => {}, after: async () => {} });
    }
    t.diagnostic(`as it was ${seen.asItWas} times, restored ${seen.restored} times`);
    assert.equal(seen.asItWas + seen.restored, heldAt.length + 1 + killCount);
    const verified = await runCommand(["audit", "verify", "--shop", shopId], { OPENPO_DATA_DIR: data });
    assert.match(verified.stdout, /are as they were written/);
    await program.end("SIGTERM");
    await drop(copy);
  });
});
