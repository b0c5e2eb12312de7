/**
 * One shop is restored into a running server (B4, D383), with the real command: what is undone, what stays, and that nothing is pushed twice.
 *
 * Only on sqlite: a database has restores of its own (restore-shop-database.slow.test.ts).
 */
import assert from "node:assert/strict";
import { copyFile, readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { type RunningProgram, runCommand, serveProgram, withDirectory } from "../support/process.ts";
import { adminToken, eventsOf, keyOf, otherShop, shopId, ShopUse } from "../support/shops/restored-shop.ts";
import { pause, until } from "../support/until.ts";

interface Place {
  readonly directory: string;
  readonly data: string;
  readonly program: RunningProgram;
  readonly openpo: (...args: readonly string[]) => ReturnType<typeof runCommand>;
}

const serve = (data: string): Promise<RunningProgram> =>
  serveProgram({ OPENPO_DATA_DIR: data, OPENPO_ADMIN_TOKEN: adminToken, OPENPO_DEMO: "0" });

const withServer = (use: (place: Place) => Promise<void>): Promise<void> =>
  withDirectory(async (directory) => {
    const data = path.join(directory, "data");
    const program = await serve(data);
    await use({
      directory,
      data,
      program,
      openpo: (...args) => runCommand(args, { OPENPO_DATA_DIR: data, OPENPO_ADMIN_TOKEN: adminToken }),
    });
  });

async function done(running: ReturnType<typeof runCommand>): Promise<string> {
  const { code, stdout, stderr } = await running;
  assert.equal(code, 0, stderr);
  return stdout;
}

interface Told {
  readonly keptAs: string | null;
  readonly restored: {
    readonly hadPresent: boolean;
    readonly changedUntil: string | null;
    readonly undoneEvents: number;
    readonly revertedOrders: number;
    readonly goneOrders: { readonly count: number; readonly orders: readonly { readonly poNumber: string }[] };
    readonly unsyncedOrders: { readonly count: number; readonly orders: readonly { readonly poNumber: string }[] };
    readonly pushesOfNoOrder: { readonly count: number; readonly pushes: readonly { readonly poNumber: string }[] };
  };
}

test("a shop goes back to its backup while others are served; nothing is pushed twice, nobody comes in again", async () => {
  await withServer(async ({ directory, data, program, openpo }) => {
    const shop = await ShopUse.make(program, shopId);
    const other = await ShopUse.make(program, otherShop);
    const revoked = await keyOf(program, shopId, "revoked later");
    const quiet = await shop.order("cups", 7);
    const order = await shop.order("beans", 5);
    await shop.receive(order, 2);
    assert.deepEqual(await shop.stock(shopId, "beans"), { onHand: 12, incoming: 3 });
    const before = { sequence: (await eventsOf(program, shopId)).length, version: await shop.version(order) };
    const backup = path.join(directory, "backup");
    await done(openpo("backup", backup));

    // What happens after it.
    await shop.receive(order, 5);
    const later = await shop.order("cups", 3, "a-key-of-a-gone-order");
    await shop.receive(later, 3);
    const kept = await keyOf(program, shopId, "made later");
    assert.equal(
      (await program.ask("DELETE", `/admin/v1/shops/${shopId}/keys/${revoked.keyId}`, adminToken)).status,
      200,
    );
    const since = await eventsOf(program, shopId);
    const seen = await shop.version(order);
    const untouched = await shop.version(quiet);
    assert.ok(seen > before.version);
    assert.deepEqual(await shop.stock(shopId, "beans"), { onHand: 15, incoming: 0 });
    assert.deepEqual(await shop.stock(shopId, "cups"), { onHand: 103, incoming: 7 });

    // Another shop does not wait for it, and its changes are none of it.
    const over = new AbortController();
    let answered = 0;
    const working = (async () => {
      for (; !over.signal.aborted; answered += 1) await other.order("beans", 1);
    })();
    const told: Told = JSON.parse(
      await done(openpo("restore", backup, "--shop", shopId, "--confirm", shopId, "--json")),
    );
    over.abort();
    await working;
    assert.ok(answered > 0);

    // What is undone, and where somebody has to look.
    assert.equal(told.restored.hadPresent, true);
    assert.equal(told.restored.undoneEvents, since.length - before.sequence);
    assert.equal(told.restored.revertedOrders, 1);
    assert.deepEqual(
      told.restored.goneOrders.orders.map(({ poNumber }) => poNumber),
      [later.number],
    );
    assert.deepEqual(
      told.restored.unsyncedOrders.orders.map(({ poNumber }) => poNumber),
      [order.number],
    );
    assert.deepEqual(
      told.restored.pushesOfNoOrder.pushes.map(({ poNumber }) => poNumber),
      [later.number],
    );
    assert.equal((await shop.detail(later.id)).status, 404);
    assert.deepEqual(await shop.standing(order), [2, 5, "partial"]);

    // What the storefront has is as it was; what is incoming there follows the shop.
    assert.equal((await shop.stock(shopId, "beans")).onHand, 15);
    await until("the storefront shows it", async () => (await shop.stock(shopId, "beans")).incoming === 3);
    await until("the storefront shows it", async () => (await shop.stock(shopId, "cups")).incoming === 7);
    await shop.receive(order, 5);
    assert.deepEqual(await shop.standing(order), [5, 5, "synced"]);
    assert.deepEqual(await shop.stock(shopId, "beans"), { onHand: 15, incoming: 0 });

    // A version that somebody has seen means nothing else, one of an order that is the same still does; nor has any other order its number.
    assert.ok((await shop.version(order)) > seen);
    assert.equal(await shop.version(quiet), untouched);
    const next = await shop.order("cups", 1, "a-key-of-a-gone-order");
    assert.notEqual(next.id, later.id);
    assert.ok(Number(next.number.replace(/\D/g, "")) > Number(later.number.replace(/\D/g, "")));

    // Who may enter is as it was.
    assert.equal((await program.ask("GET", "/api/v1/purchase-orders", revoked.apiKey)).status, 401);
    assert.equal((await program.ask("GET", "/api/v1/purchase-orders", kept.apiKey)).status, 200);

    // Events go on after those that were told, and say so.
    const events = await eventsOf(program, shopId);
    assert.deepEqual(events.slice(0, since.length), since);
    assert.equal(events[since.length]?.type, "shop.restored");
    assert.deepEqual(events[since.length]?.data, {
      changedUntil: told.restored.changedUntil,
      restoredUntilSequence: before.sequence,
      undoneEvents: since.length - before.sequence,
      goneOrders: 1,
      revertedOrders: 1,
    });
    assert.deepEqual(
      events.map(({ sequence }) => sequence),
      events.map((_, index) => index + 1),
    );

    // The audit log has everything that was asked, and the restore.
    assert.match(await done(openpo("audit", "verify", "--shop", shopId)), /are as they were written/);
    const log = await program.ask("GET", `/admin/v1/shops/${shopId}/audit-log?limit=200`, adminToken);
    assert.match(log.text, /shop_restore/);
    assert.match(log.text, new RegExp(later.id));

    // What it held before can be taken back.
    assert.equal(told.keptAs, path.join(data, "replaced", `${shopId}.db`));
    assert.deepEqual(await readdir(path.join(data, "arriving")), []);
    const copy = path.join(directory, "before.db");
    await copyFile(told.keptAs, copy);
    await done(openpo("restore", copy, "--shop", shopId, "--confirm", shopId));
    assert.deepEqual(await shop.standing(later), [3, 3, "synced"]);
    assert.equal((await shop.stock(shopId, "cups")).onHand, 103);
    await program.end("SIGTERM");
  });
});

test("a shop that was deleted comes back with its storefront, without a server too", async () => {
  await withServer(async ({ directory, data, program, openpo }) => {
    const shop = await ShopUse.make(program, shopId);
    const order = await shop.order("beans", 5);
    await shop.receive(order, 2);
    const backup = path.join(directory, "backup");
    await done(openpo("backup", backup));
    await done(openpo("shop", "delete", shopId, "--confirm", shopId));
    assert.equal((await shop.detail(order.id)).status, 401);
    assert.match(await done(openpo("restore", backup, "--shop", shopId)), /keys and people too/);
    assert.deepEqual(await shop.standing(order), [2, 2, "synced"]);
    assert.deepEqual(await shop.stock(shopId, "beans"), { onHand: 12, incoming: 3 });
    await done(openpo("shop", "delete", shopId, "--confirm", shopId));
    await program.end("SIGTERM");
    await done(openpo("restore", backup, "--shop", shopId));
    const again = await serve(data);
    assert.deepEqual(await shop.on(again).standing(order), [2, 2, "synced"]);
    // The old state beside the present one.
    const file = path.join(directory, "old.ndjson");
    await writeFile(file, await done(runCommand(["export", "--shop", shopId], { OPENPO_DATA_DIR: backup })));
    await done(openpo("shop", "create", "tideline-monday"));
    await done(openpo("import", "--shop", "tideline-monday", file));
    const key = await keyOf(again, "tideline-monday", "look");
    assert.deepEqual(await new ShopUse(again, key.apiKey).standing(order), [2, 2, "synced"]);
    await again.end("SIGTERM");
  });
});

test("a damaged shop is restored beside the running server, and what that means is said first", async () => {
  await withServer(async ({ directory, data, program, openpo }) => {
    const shop = await ShopUse.make(program, shopId);
    const order = await shop.order("beans", 5);
    const backup = path.join(directory, "backup");
    await done(openpo("backup", backup));
    await program.end("SIGTERM");
    const file = path.join(data, "shops", `${shopId}.db`);
    const bytes = await readFile(file);
    await writeFile(file, Buffer.concat([bytes.subarray(0, 4_096), Buffer.alloc(bytes.length - 4_096, 0x5a)]));
    const again = await serve(data);
    assert.equal((await shop.on(again).detail(order.id)).status, 503);
    const refused = await openpo("restore", backup, "--shop", shopId, "--confirm", shopId);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /damaged|cannot be read/);
    assert.match(refused.stderr, /--damaged/);
    assert.match(
      await done(openpo("restore", backup, "--shop", shopId, "--confirm", shopId, "--damaged")),
      /revoke again/,
    );
    assert.deepEqual(await shop.on(again).standing(order), [0, 0, "never-synced"]);
    assert.equal((await readFile(path.join(data, "replaced", `${shopId}.db`))).length, bytes.length);
    await again.end("SIGTERM");
  });
});

test("what is no backup of the shop is refused with a way out, and the shop goes on as it was", async () => {
  await withServer(async ({ directory, program, openpo }) => {
    const shop = await ShopUse.make(program, shopId);
    await ShopUse.make(program, otherShop);
    const order = await shop.order("beans", 5);
    const backup = path.join(directory, "backup");
    await done(openpo("backup", backup));
    const later = await shop.order("cups", 1);
    const file = path.join(backup, "shops", `${shopId}.db`);
    const restore = (from: string, ...more: readonly string[]) => openpo("restore", from, "--shop", shopId, ...more);
    const refusedAs = async (running: ReturnType<typeof runCommand>, pattern: RegExp): Promise<void> => {
      const { code, stderr } = await running;
      assert.notEqual(code, 0);
      assert.match(stderr, pattern);
    };
    await refusedAs(
      restore(backup),
      /shop tideline is there\.\n {2}To replace what it holds by the backup add --confirm tideline/,
    );
    await refusedAs(restore(backup, "--confirm", otherShop), /--confirm says other, not tideline/);
    await refusedAs(restore(backup, "--confirm", shopId, "--force"), /--force is for a whole data directory/);
    await refusedAs(openpo("restore", backup, "--confirm", shopId), /--confirm is for the restore of one shop/);
    await refusedAs(openpo("restore", backup, "--shop", "missing"), /backup has no shop missing/);
    const others = path.join(backup, "shops", `${otherShop}.db`);
    await refusedAs(
      restore(others, "--confirm", shopId),
      /has the data of shop other, not of tideline[^]*openpo export/,
    );
    const bytes = await readFile(file);
    const bad = path.join(directory, "bad.db");
    await writeFile(bad, Buffer.concat([bytes.subarray(0, 8_192), Buffer.alloc(bytes.length - 8_192, 0x5a)]));
    await refusedAs(restore(bad, "--confirm", shopId), /is damaged/);
    await writeFile(bad, "no database");
    await refusedAs(restore(bad, "--confirm", shopId), /is damaged/);
    await copyFile(file, bad);
    const newer = new DatabaseSync(bad);
    newer.exec("pragma user_version = 9999");
    newer.close();
    await refusedAs(restore(bad, "--confirm", shopId), /newer version of OpenPO: its schema is 9999/);
    await writeFile(`${file}-wal`, "changes");
    await refusedAs(restore(backup, "--confirm", shopId), /is not whole/);
    await rm(`${file}-wal`);
    await rm(path.join(backup, "format"));
    await refusedAs(restore(backup, "--confirm", shopId), /is no backup, or an unfinished one/);
    for (const each of [order, later]) assert.equal((await shop.detail(each.id)).status, 200);
    await program.end("SIGTERM");
  });
});

/** From the beginning of a restore to the kill: `OPENPO_RESTORE_KILLS` of them, of up to 0.3 s. */
const waitsMs = Array.from(
  { length: Number(process.env["OPENPO_RESTORE_KILLS"] ?? 3) },
  (_, index) => (index * 60 + 20) % 300,
);

test("a server that is killed during a restore has the shop as it was or as it is to be, and serves it", async () => {
  await withDirectory(async (directory) => {
    const data = path.join(directory, "data");
    let program = await serve(data);
    const shop = await ShopUse.make(program, shopId);
    const order = await shop.order("beans", 5);
    const backup = path.join(directory, "backup");
    const openpo = (...args: readonly string[]) =>
      runCommand(args, { OPENPO_DATA_DIR: data, OPENPO_ADMIN_TOKEN: adminToken });
    await done(openpo("backup", backup));
    let use = shop;
    let latest = await use.order("cups", 1);
    const seen = { asItWas: 0, restored: 0 };
    for (const waitMs of waitsMs) {
      const restoring = program.ask(
        "POST",
        `/admin/v1/shops/${shopId}/restore?confirm=${shopId}`,
        adminToken,
        await readFile(path.join(backup, "shops", `${shopId}.db`)),
      );
      const ended = restoring.then(
        ({ status }) => status,
        () => null,
      );
      await pause(waitMs);
      await program.end("SIGKILL");
      const answered = await ended;
      program = await serve(data);
      use = shop.on(program);
      assert.equal((await use.detail(order.id)).status, 200);
      const isThere = (await use.detail(latest.id)).status === 200;
      if (answered === 200) assert.ok(!isThere, "an acknowledged restore was lost");
      seen[isThere ? "asItWas" : "restored"] += 1;
      const events = await eventsOf(program, shopId);
      assert.equal(events.at(-1)?.type === "shop.restored", !isThere);
      assert.deepEqual(
        (await readdir(path.join(data, "shops"))).filter((name) => !/^tideline\.db(-wal|-shm)?$/.test(name)),
        [],
      );
      latest = await use.order("cups", 1);
    }
    assert.equal(seen.asItWas + seen.restored, waitsMs.length);
    assert.match(await done(openpo("audit", "verify", "--shop", shopId)), /are as they were written/);
    await program.end("SIGTERM");
  });
});
