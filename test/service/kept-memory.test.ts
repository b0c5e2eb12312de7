/**
 * What is kept in memory of shops, statements and stores, each bound with the value that the program has (docs/limits.md).
 *
 * Only on sqlite: what is kept for PostgreSQL is asked without a server.
 */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { DatabaseSync } from "node:sqlite";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import type * as postgres from "pg";
import { Names, namesMax } from "../../src/exchange/csv-formats.ts";
import { ConfirmableCallers, confirmableMax } from "../../src/requests/caller.ts";
import { decidedOnce, viewsMax } from "../../src/shop/forecast/decided-rows-memo.ts";
import { preparedMax, queryOf, textsMax } from "../../src/store/postgres/connection.ts";
import { bucketsHereMax, whileFull } from "../../src/store/postgres/coordination.ts";
import { bucketsMax, inProcessCoordination } from "../../src/store/sqlite/coordination.ts";
import { openSqliteEngine } from "../../src/store/sqlite/engine.ts";
import { fileStatementsMax, KnownStatements, knownStatementsMax } from "../../src/store/sqlite/file.ts";
import { ReaderTx, readerStatementsMax } from "../../src/store/sqlite/reader.ts";
import { ReadsInPlace, readsInPlaceMax, shopsCountedMax } from "../../src/store/sqlite/reads-in-place.ts";
import { OpenedStores, storesKeptMax } from "../../src/storefront/opened-stores.ts";
import { costsKeptMax, ShopifyCostsAndTags } from "../../src/storefront/shopify/costs-and-tags.ts";
import { levelsKeptMax, ShopifyOnHand } from "../../src/storefront/shopify/on-hand.ts";
import { ShopifyVariants, variantsKeptMax } from "../../src/storefront/shopify/variants.ts";
import { systemClock } from "../../src/base/time/system.ts";
import { createSender, withoutMax } from "../../src/webhooks/sender.ts";
import { findOrders, questionsMax } from "../../src/shop/order-list/order-search.ts";
import { part } from "../support/part.ts";

const many = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `n${index}`);

/**
 * Asserts that so many are remembered, and that the one used longest ago makes room for another.
 *
 * @param use  uses these, and tells how many of them were not remembered.
 */
async function assertRemembers(max: number, use: (names: readonly string[]) => Promise<number>): Promise<void> {
  const names = many(max + 1);
  assert.equal(await use(names.slice(0, max)), max);
  assert.equal(await use(names.slice(0, max)), 0);
  assert.equal(await use(names.slice(-1)), 1);
  assert.equal(await use(names.slice(1)), 0);
  assert.equal(await use(names.slice(0, 1)), 1);
}

test("a CSV file may name namesMax locations or suppliers, those that the shop has included", () => {
  const names = new Names(many(namesMax - 1).map((name) => ({ id: name, name })));
  const row: Parameters<Names["idOf"]>[0] = part({ lineNumber: 7, header: () => "Location" });
  assert.equal(names.idOf(row, "k", "one more").isNew, true);
  assert.equal(names.idOf(row, "k", "one more").isNew, false);
  assert.throws(() => names.idOf(row, "k", "and another"), { code: "INVALID_INPUT" });
});

test("a node remembers confirmableMax callers; the one that was read longest ago is forgotten", () => {
  const callers = new ConfirmableCallers();
  const caller: Parameters<typeof callers.remember>[1] = part({
    shop: { planRestApi: true },
    key: { revokedAtMs: null, pausedAtMs: null },
  });
  for (const name of many(confirmableMax)) callers.remember(name, caller);
  assert.equal(callers.find("n0"), caller);
  callers.remember("one more", caller);
  assert.deepEqual([callers.find("n0"), callers.find("n1")], [null, caller]);
});

test("what was decided for viewsMax views is remembered; that of the one asked for the longest time ago is decided anew", async () => {
  const tx: Parameters<typeof decidedOnce>[0] = part({ all: () => Promise.resolve([{ version: "v", changes: 1 }]) });
  const context: Parameters<typeof decidedOnce>[3] = part({ shop: {}, today: "2026-01-01" });
  let decisions = 0;
  const ask = (name: string) =>
    decidedOnce(
      tx,
      "kept",
      part({ viewId: name }),
      context,
      () => 0,
      () => {
        decisions += 1;
        return Promise.resolve([]);
      },
    );
  for (const name of many(viewsMax)) await ask(name);
  await ask("n0");
  assert.equal(decisions, viewsMax);
  await ask("one more");
  await ask("n0");
  assert.equal(decisions, viewsMax + 1);
  await ask("n1");
  assert.equal(decisions, viewsMax + 2);
});

test("beyond bucketsMax buckets those that are full are dropped", async (t) => {
  const coordination = inProcessCoordination();
  const dropped = t.mock.method(Map.prototype, "delete").mock;
  const limit = { capacity: 1, refillPerSecond: 1 };
  for (const name of many(bucketsMax)) await coordination.takeToken(name, limit, 1_000);
  assert.equal(dropped.callCount(), 0);
  await coordination.takeToken("in use", limit, 10_000);
  assert.equal(dropped.callCount(), bucketsMax);
  const { remaining } = await coordination.peekTokens("in use", limit, 10_000);
  assert.equal(remaining, 0);
});

test("while the database takes nothing, a node counts the tokens of bucketsHereMax shops", async () => {
  // The service's own copy of the library, not that of the tests.
  const { DatabaseError } = part<Pick<typeof postgres, "DatabaseError">>(
    createRequire(new URL("../../src/store/postgres/connection.ts", import.meta.url))("pg"),
  );
  const full = () => Promise.reject(Object.assign(new DatabaseError("disk full", 0, "error"), { code: "53100" }));
  const buckets = whileFull(part({ takeToken: full, takeTokensWhen: full, giveToken: full, peekTokens: full }));
  const limit = { capacity: 1, refillPerSecond: 0.001 };
  const isRefused = async (name: string): Promise<boolean> =>
    (await buckets.takeToken(name, limit, 1_000)).retryAfterMs !== null;
  for (const name of many(bucketsHereMax - 1)) assert.equal(await isRefused(name), false);
  assert.equal(await isRefused("n0"), true);
  assert.equal(await isRefused("the last"), false);
  assert.equal(await isRefused("one more"), false);
  assert.equal(await isRefused("n0"), false, "all have begun anew");
});

/** How many statements are prepared while `use` runs. */
async function preparedBy(use: () => Promise<unknown>, database: typeof DatabaseSync.prototype): Promise<number> {
  const own = database.prepare.bind(database);
  let count = 0;
  database.prepare = (sql, ...more) => {
    count += 1;
    return own(sql, ...more);
  };
  await use();
  database.prepare = own;
  return count;
}

test("a connection of a reader thread keeps readerStatementsMax prepared statements", async () => {
  const database = new DatabaseSync(":memory:");
  const tx = new ReaderTx(database);
  const ask = (name: string) => tx.all(`select 1 as ${name}`);
  const first = many(readerStatementsMax);
  const askAll = async (): Promise<void> => {
    for (const name of first) await ask(name);
  };
  assert.equal(await preparedBy(askAll, database), readerStatementsMax);
  assert.equal(await preparedBy(askAll, database), 0);
  await ask("more");
  assert.equal(await preparedBy(() => ask("n1"), database), 0);
  assert.equal(await preparedBy(() => ask("n0"), database), 1);
  database.close();
});

test("an open file keeps fileStatementsMax prepared statements", async (t) => {
  const directory = await mkdtemp(path.join(tmpdir(), "openpo-kept-"));
  const engine = await openSqliteEngine({
    directory,
    schemaDirectory: "src/shop/schema",
    shopsOpenMax: 1,
    clock: systemClock,
  });
  try {
    await engine.create("a");
    const prepare = t.mock.method(DatabaseSync.prototype, "prepare").mock;
    const ask = async (names: readonly string[]): Promise<number> => {
      const before = prepare.callCount();
      await engine.read("a", async (tx) => {
        for (const name of names) await tx.all(`select name as ${name} from location`);
      });
      return prepare.callCount() - before;
    };
    const half = many(fileStatementsMax / 2);
    assert.ok((await ask(half)) >= half.length);
    assert.equal(await ask(half), 0);
    assert.ok((await ask(many(fileStatementsMax + half.length).slice(half.length))) >= fileStatementsMax);
    assert.equal(await ask(half), half.length);
  } finally {
    await engine.close();
    await rm(directory, { recursive: true });
  }
});

test("of knownStatementsMax statements it is known what they read", () => {
  const known = new KnownStatements();
  const add = (sql: string): void => known.add(part({ sql }));
  for (const sql of many(knownStatementsMax)) add(sql);
  assert.notEqual(known.find("n0"), null);
  add("one more");
  assert.deepEqual([known.find("n0"), known.find("one more")?.sql], [null, "one more"]);
});

test("preparedMax texts are prepared on a connection to PostgreSQL, of the textsMax that are known", () => {
  const nameOf = (name: string): string | undefined => queryOf({ sql: `select 1 as ${name}`, params: [] }).name;
  const texts = many(textsMax);
  for (const name of texts) assert.equal(nameOf(name), undefined);
  for (let times = 0; times < 3; times += 1) assert.equal(nameOf("more"), undefined, "it is not known");
  const named = texts.filter((name) => nameOf(name) !== undefined);
  assert.deepEqual(named, texts.slice(0, preparedMax));
});

test("storesKeptMax clients of stores are kept; the one opened longest ago is made anew", () => {
  const stores = new OpenedStores<string, string>((one, other) => one === other);
  const open = (shopId: string) =>
    stores.storefrontOf(part({ shopId, currencyCode: "EUR" }), "config", () =>
      part({ config: "config", currencyCode: "EUR", client: shopId, storefront: {} }),
    );
  for (const shopId of many(storesKeptMax)) open(shopId);
  assert.equal(stores.clientOf("n0"), "n0");
  open("one more");
  assert.deepEqual(
    ["n0", "n1", "one more"].map((shopId) => stores.clientOf(shopId)),
    [null, "n1", "one more"],
  );
});

test("a client of a Shopify store remembers variantsKeptMax variants; the ones seen longest ago are asked for again", async () => {
  const asked: string[] = [];
  const variants = new ShopifyVariants(
    part({
      ask(_: unknown, { ids }: { readonly ids: readonly string[] }) {
        asked.push(...ids);
        const nodes = ids.map((id) => ({
          id,
          inventoryItem: { id, tracked: true },
          product: { id, status: "ACTIVE" },
          requiresComponents: false,
        }));
        return Promise.resolve({ nodes });
      },
    }),
    { now: () => 1_000 },
  );
  const ids = Array.from({ length: variantsKeptMax + 1 }, (_, index) => String(1_000_000 + index));
  const find = (found: readonly string[]) => variants.find(found, "ids", undefined);
  await find(ids.slice(0, variantsKeptMax));
  asked.length = 0;
  await find(ids.slice(0, variantsKeptMax));
  assert.equal(asked.length, 0);
  await find(ids.slice(-1));
  await find(ids.slice(1));
  assert.equal(asked.length, 1, "but for the new one");
  await find(ids.slice(0, 1));
  assert.equal(asked.length, 2);
});

const atOneTime = { now: () => 1_000 };

/** Every variant is there. */
const variantsThere = {
  find: (ids: readonly string[]) =>
    Promise.resolve(
      new Map(ids.map((id) => [id, { state: "there", productGid: "p", variantGid: id, itemGid: id }] as const)),
    ),
};

test("a client of a Shopify store remembers costsKeptMax costs that it has written; the one written longest ago is written again", async () => {
  let written = 0;
  const costs = new ShopifyCostsAndTags(
    part({
      currencyCode: "EUR",
      clock: atOneTime,
      variants: variantsThere,
      client: {
        ask(_: unknown, { variants }: { readonly variants?: readonly { readonly id: string }[] }) {
          if (variants === undefined) return Promise.resolve({ shop: { currencyCode: "EUR" } });
          written += variants.length;
          const productVariants = variants.map(({ id }) => ({ id, inventoryItem: { unitCost: { amount: "1.0" } } }));
          return Promise.resolve({ productVariantsBulkUpdate: { userErrors: [], productVariants } });
        },
      },
    }),
  );
  const write = async (variantIds: readonly string[]): Promise<number> => {
    written = 0;
    await costs.write(part(variantIds.map((variantId) => ({ variantId, unitCost: 10_000 }))), undefined);
    return written;
  };
  await assertRemembers(costsKeptMax, write);
});

test("a client of a Shopify store remembers levelsKeptMax levels that it has seen; the ones seen longest ago are asked for again", async () => {
  let asked = 0;
  let write: object = {};
  const onHand = new ShopifyOnHand(
    part({
      clock: atOneTime,
      variants: variantsThere,
      engine: { read: () => Promise.resolve(write) },
      client: {
        ask(_: unknown, { ids }: { readonly ids: readonly string[] }) {
          asked += ids.length;
          const quantities = [
            { name: "available", quantity: 1, updatedAt: "2026-01-01T00:00:00Z" },
            { name: "on_hand", quantity: 1, updatedAt: null },
          ];
          return Promise.resolve({ nodes: ids.map((id) => ({ id, inventoryLevel: { quantities } })) });
        },
      },
    }),
  );
  /** Reads the levels of a change that has landed. */
  const read = async (variantIds: readonly string[]): Promise<number> => {
    asked = 0;
    for (let from = 0; from < variantIds.length; from += 500) {
      const changes = variantIds.slice(from, from + 500).map((variantId) => ({ variantId, locationId: "1", delta: 1 }));
      write = {
        items: JSON.stringify(changes.map(({ variantId, locationId, delta }) => [variantId, locationId, delta])),
        batches: [{ state: "landed", places: changes.map((_, place) => [place]), changedAtMs: 0, landedAtMs: 0 }],
      };
      const found = await onHand.read(part(changes), part({ reference: "r" }));
      assert.equal(found[0]?.verified, true);
    }
    return asked;
  };
  await assertRemembers(levelsKeptMax, read);
});

test("of questionsMax searches it is known how many orders of each segment match; the one asked for the longest time ago is counted anew", async () => {
  const tx: Parameters<typeof findOrders>[0] = part({
    all(sql: string, [, name]: readonly unknown[]) {
      if (sql.includes("order_recent")) return Promise.resolve([]);
      if (name === "heads") return Promise.resolve([{ body: '[[0,"",1,"stamp"]]' }]);
      return Promise.resolve([{ created_from: 0, id_from: "", body: '["Draft"]\n0' }]);
    },
  });
  let looks = 0;
  const wanted = {
    columns: { status: () => (looks += 1) > 0 },
    updated: null,
    words: [],
    articles: [],
  };
  const ask = async (keys: readonly string[]): Promise<number> => {
    const before = looks;
    for (const key of keys) {
      const question = { key, wanted, createdFromMs: null, createdBeforeMs: null, kept: null };
      assert.equal((await findOrders(tx, "kept", () => Promise.resolve(question), null, 0)).totalCount, 1);
    }
    return looks - before;
  };
  await assertRemembers(questionsMax, ask);
});

test("of shopsCountedMax closed shops the reads are counted; those of the one read longest ago are counted anew", () => {
  const reads = new ReadsInPlace();
  for (let count = 0; count < readsInPlaceMax; count += 1) for (const name of many(shopsCountedMax)) reads.add(name);
  assert.deepEqual([reads.isEnough("n0"), reads.isEnough("n1")], [true, true]);
  reads.add("one more");
  assert.deepEqual([reads.isEnough("n0"), reads.isEnough("n1"), reads.isEnough("one more")], [false, true, false]);
});

test("withoutMax shops are remembered to have no webhooks; then all are looked at anew", async () => {
  let looks = 0;
  const sender = createSender(
    part({
      clock: atOneTime,
      ids: { claimant: () => "node_1.1" },
      search: null,
      engine: {
        peek() {
          looks += 1;
          return Promise.resolve(false);
        },
      },
    }),
  );
  const wake = async (names: readonly string[]): Promise<number> => {
    looks = 0;
    for (const name of names) sender.wake(name);
    // What was found is noted when the promises of this round have settled.
    await new Promise((resolve) => setImmediate(resolve));
    return looks;
  };
  const shops = many(withoutMax);
  assert.equal(await wake(shops), withoutMax);
  assert.equal(await wake(shops), 0);
  assert.equal(await wake(["one more"]), 1);
  assert.equal(await wake(["one more", "n0"]), 1);
});
