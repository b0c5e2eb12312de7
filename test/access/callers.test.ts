/** What is remembered of callers, where the process keeps its shops' files (D111). */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { Callers } from "../../src/requests/caller.ts";
import { loadShop, saveShop } from "../../src/shop/access/accounts.ts";
import { crateOperations } from "../support/shops/operations.ts";
import { startServer } from "../support/server.ts";
import { onPostgres } from "../support/store.ts";
import { until } from "../support/until.ts";

test(
  "requests that come together with a key that is new to the process share one caller, and the next change ends it",
  { skip: onPostgres && "among nodes a caller is confirmed for each request" },
  async () => {
    await using server = await startServer({ operations: crateOperations() });
    const callers = new Callers(server.engine);
    const find = async () => (await callers.identifyWith(server.writeKey, null, () => null)).caller;
    const found = await Promise.all(Array.from({ length: 8 }, find));
    assert.equal(new Set(found).size, 1);
    assert.equal(await find(), found[0]);
    await server.engine.write(server.shopId, async (tx) => {
      const shop = await loadShop(tx, server.shopId);
      assert.ok(shop !== null);
      await saveShop(tx, { ...shop, name: "Renamed" });
    });
    const after = await find();
    assert.equal(after.shop.name, "Renamed");
    assert.notEqual(found[0]?.shop.name, "Renamed");
  },
);

test(
  "a change of a shop counts for a caller who was found while the shop's file was closed, by statements new to the process",
  { skip: onPostgres && "a database has no files to open" },
  async () => {
    await using server = await startServer({ operations: crateOperations() });
    const { engine, shopId, writeKey } = server;
    const wal = path.join(server.directory, "shops", `${shopId}.db-wal`);
    let others = 0;
    // Each shop that is opened beyond those that may be open has one at rest closed.
    await until("the shop's file is closed", async () => {
      const other = `other-${(others += 1)}`;
      await engine.create(other);
      await engine.write(other, async () => {});
      return !existsSync(wal);
    });
    const callers = new Callers(engine);
    const mayAsk = async () => (await callers.identifyWith(writeKey, null, () => null)).caller.shop.planRestApi;
    assert.equal(await mayAsk(), true);
    assert.equal(existsSync(wal), false, "the file is still closed");
    await server.changeShop({ planRestApi: false });
    assert.equal(await mayAsk(), false);
  },
);
