/**
 * Shops whose files are closed: forged keys open none of them, and nobody can tell them from shops that are not there.
 *
 * Only on sqlite: with a database there are no files to open; every key is looked up by one statement, whatever shop it names.
 */
import { SecretBox } from "../../src/base/secret-box.ts";
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { askHere } from "../../src/admin/ask.ts";
import { apiKeyRandomBytes, makeApiKey } from "../../src/core/access/api-key.ts";
import { Fault } from "../../src/base/fault.ts";
import { openDataDirectory } from "../../src/service/data-directory.ts";
import { noDocuments } from "../../src/documents/documents.ts";
import type { OpenStore } from "../../src/service/open-store.ts";
import { Callers, identify } from "../../src/requests/caller.ts";
import { KnownCredentials } from "../../src/shop/access/known-credentials.ts";
import { peopleAt, personStatement } from "../../src/shop/access/people.ts";
import { NoticingTx } from "../../src/store/delegated.ts";
import type { Footprint, Tx, Work } from "../../src/store/store.ts";
import { onlyGlobal } from "../../src/webhooks/addresses.ts";
import { withDirectory } from "../support/process.ts";

const silent = { info: () => {}, warn: () => {}, error: () => {} };
const asksNothing = {
  wakeOutbox: () => {},
  webhooks: { policy: onlyGlobal, secrets: new SecretBox(null), changed: () => {} },
  documents: noDocuments,
  mailIsOn: false,
  publicUrl: null,
};
const shopIds = ["one", "two", "three"];

const filesOpen = (store: OpenStore): number =>
  store.gauges.find(({ name }) => name === "shop_files_open")?.value() ?? Number.NaN;

const forgedKey = (shopId: string): string => makeApiKey(shopId, randomBytes(apiKeyRandomBytes)).apiKey;

/** How the key of a message is looked up, and that of a request, where callers are remembered. */
const lookUps: readonly ((engine: OpenStore["engine"], key: string) => Promise<unknown>)[] = [
  identify,
  (engine, key) => new Callers(engine).identifyWith(key, null, () => null),
  (engine, key) =>
    new Callers(engine).identifyWith(
      key,
      () => Promise.resolve(null),
      () => null,
    ),
];

/** What every way of looking the key up ends with. */
async function refusalOf(store: OpenStore, key: string): Promise<unknown> {
  const ends: unknown[] = [];
  for (const lookUp of lookUps)
    try {
      await lookUp(store.engine, key);
      ends.push("let in");
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      ends.push({ code: error.code, message: error.message, action: error.action });
    }
  for (const end of ends) assert.deepEqual(end, ends[0]);
  return ends[0];
}

async function makeKey(store: OpenStore, shopId: string): Promise<{ readonly keyId: string; readonly apiKey: string }> {
  const made = await askHere(store.adminContext(asksNothing))("key_create", { shopId, name: "k", scope: "read" });
  const data: unknown = "data" in made ? made.data : null;
  assert.ok(typeof data === "object" && data !== null && "apiKey" in data && "keyId" in data);
  return { keyId: String(data.keyId), apiKey: String(data.apiKey) };
}

/** Opens a directory with three shops that have a key each; all files are closed, and each shop was looked at. */
async function withClosedShops(body: (store: OpenStore, keys: readonly string[]) => Promise<void>): Promise<void> {
  await withDirectory(async (directory) => {
    const first = await openDataDirectory(directory, silent);
    const keys: string[] = [];
    for (const shopId of shopIds) {
      await askHere(first.adminContext(asksNothing))("shop_put", { shopId, name: shopId });
      keys.push((await makeKey(first, shopId)).apiKey);
    }
    await first.completeFirstStart();
    await first.close();
    const store = await openDataDirectory(directory, silent);
    try {
      const { signal } = new AbortController();
      const found: string[] = [];
      for await (const shopId of store.shopsWith("effects", signal)) found.push(shopId);
      for await (const shopId of store.shopsWith("endpoints", signal)) found.push(shopId);
      assert.deepEqual(found, []);
      await body(store, keys);
    } finally {
      await store.close();
    }
    for (const name of readdirSync(path.join(directory, "shops")))
      assert.ok(name.endsWith(".db"), `${name} is left behind`);
  });
}

test("forged keys open no shop's file and get the answer of a shop that is not there; right ones are let in", async () => {
  await withClosedShops(async (store, keys) => {
    assert.equal(filesOpen(store), 0, "the look at every shop leaves no file open");
    const unknown = await refusalOf(store, forgedKey("nobody"));
    assert.notEqual(unknown, "let in");
    for (const shopId of shopIds) assert.deepEqual(await refusalOf(store, forgedKey(shopId)), unknown);
    assert.equal(filesOpen(store), 0);
    for (const key of keys) assert.equal(await refusalOf(store, key), "let in");
    assert.equal(filesOpen(store), 3);
  });
});

test("a key that was just made is let in, and a revoked one is still known, after forged ones were refused", async () => {
  await withClosedShops(async (store) => {
    await refusalOf(store, forgedKey("one"));
    const { keyId, apiKey } = await makeKey(store, "one");
    assert.equal(await refusalOf(store, apiKey), "let in");
    await askHere(store.adminContext(asksNothing))("key_revoke", { shopId: "one", keyId });
    const { key } = await identify(store.engine, apiKey);
    assert.notEqual(key.revokedAtMs, null);
    assert.notEqual(await refusalOf(store, forgedKey("one")), "let in");
  });
});

test("the search for a person's e-mail opens the files of no other shops, and finds who has just come or has another", async () => {
  await withClosedShops(async (store) => {
    const { engine } = store;
    const shopsOf = async (address: string): Promise<readonly string[]> => {
      const found: string[] = [];
      for (const shopId of await engine.shopsWithValue(address)) {
        const people = await engine.peek(shopId, (tx) => peopleAt(tx, shopId, address), address).catch(() => []);
        if (people.length > 0) found.push(shopId);
      }
      return found;
    };
    const person = {
      personId: "per_1",
      name: "Ana",
      role: "owner",
      keyId: null,
      language: null,
      createdAtMs: 0,
      lastSeenAtMs: null,
    } as const;
    const save = (email: string): Promise<void> =>
      engine.write("two", (tx) => tx.batch([personStatement("two", { ...person, email })]));
    assert.deepEqual(await shopsOf("ana@shop.example"), []);
    assert.equal(filesOpen(store), 0);
    await save("Ana@Shop.example");
    assert.deepEqual(await shopsOf("ana@shop.example"), ["two"]);
    await save("ana@new.example");
    assert.deepEqual([await shopsOf("ana@shop.example"), await shopsOf("ana@new.example")], [[], ["two"]]);
    assert.equal(filesOpen(store), 1);
  });
});

test("a forged key takes the steps of a shop that is not there, whether the shop's file is closed or not", async (t) => {
  await withClosedShops(async (store, keys) => {
    const { engine } = store;
    await identify(engine, keys[2] ?? "");
    const steps: string[] = [];
    const noticing =
      <T>(name: string, work: Work<T>): Work<T> =>
      (tx) =>
        work(new NoticingTx(tx, ({ sql }) => steps.push(`${name} ${sql}`)));
    const { peek, read } = { peek: engine.peek.bind(engine), read: engine.read.bind(engine) };
    t.mock.method(engine, "peek", <T>(shopId: string, work: Work<T>, credential?: string) => {
      steps.push("peek");
      return peek(shopId, noticing("peek", work), credential);
    });
    t.mock.method(engine, "read", <T>(shopId: string, work: Work<T>, onSeen?: (seen: Footprint) => void) => {
      steps.push("read");
      return read(shopId, noticing("read", work), onSeen);
    });
    for (const lookUp of lookUps) {
      const stepsOf = async (shopId: string): Promise<readonly string[]> => {
        steps.length = 0;
        await assert.rejects(lookUp(engine, forgedKey(shopId)), { code: "UNAUTHORIZED" });
        return [...steps];
      };
      const ofUnknown = await stepsOf("nobody");
      assert.deepEqual(ofUnknown, ["peek"], "no row is read");
      assert.deepEqual(await stepsOf("one"), ofUnknown, "closed");
      assert.deepEqual(await stepsOf("three"), ofUnknown, "open");
    }
    assert.equal(await refusalOf(store, keys[2] ?? ""), "let in");
    assert.ok(steps.length > 2, "the right key's rows are read");
  });
});

test("every table with secrets counts, and people's e-mails do", async () => {
  await withDirectory(async (directory) => {
    const store = await openDataDirectory(directory, silent);
    await store.engine.create("one");
    await store.close();
    const database = new DatabaseSync(path.join(directory, "shops", "one.db"), { readOnly: true });
    const tables = database
      .prepare("select m.name from sqlite_schema m, pragma_table_info(m.name) c where m.type = 'table' and c.name = ?")
      .all("secret_hash")
      .map(({ name }) => String(name));
    database.close();
    const asked: string[] = [];
    const tx: Tx = {
      all: async (sql) => {
        asked.push(sql);
        return [];
      },
      batch: async () => {},
    };
    await new KnownCredentials().learn(tx, "one");
    const counted = [...(asked[0] ?? "").matchAll(/from (\w+)/g)].map(([, name = ""]) => name);
    assert.deepEqual(counted.toSorted(), [...tables, "person"].toSorted());
  });
});

test("what is remembered is bounded: the shops that were learned first are forgotten, and large ones never known", async () => {
  const known = new KnownCredentials({ knownMax: 6, perShopMax: 2 });
  const learn = (shopId: string, ...prefixes: readonly string[]): Promise<void> =>
    known.learn({ all: async <R>() => prefixes.map((prefix) => ({ prefix })) as R[], batch: async () => {} }, shopId);
  await learn("one", "a", "b");
  await learn("two", "c", "d");
  assert.ok(known.has("one") && known.mayHave("one", "a") && !known.mayHave("one", "c"));
  await learn("three", "e");
  assert.deepEqual([known.has("one"), known.has("two"), known.has("three")], [false, true, true]);
  assert.ok(known.mayHave("one", "z"), "a shop that is not known may have any");
  await learn("large", "f", "g", "h");
  assert.equal(known.has("large"), false);
});
