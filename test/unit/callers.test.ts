/** What is remembered of callers, where the process keeps its shops' files (D111). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Callers } from "../../src/operations/caller.ts";
import { loadShop, saveShop } from "../../src/shop/accounts.ts";
import { crateOperations } from "../support/operations.ts";
import { startServer } from "../support/server.ts";
import { onPostgres } from "../support/store.ts";

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
