/**
 * What a process remembers to answer faster has bounds in bytes (H11; docs/limits.md): beyond them the least recently used is read again.
 *
 * Only on sqlite: among nodes nothing is remembered.
 */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { z } from "zod";
import { brotli } from "../../../src/service/compression.ts";
import { apiKeyRandomBytes, makeApiKey } from "../../../src/core/access/api-key.ts";
import { callersRememberedBytesMax } from "../../../src/requests/caller.ts";
import { replaysRememberedBytesMax } from "../../../src/requests/idempotency.ts";
import {
  answersPackedBytesMax,
  answersRememberedBytesMax,
  KnownAnswers,
} from "../../../src/requests/remembered/remembered-answers.ts";
import { operation } from "../../../src/requests/operation.ts";
import { insertApiKey } from "../../../src/shop/access/accounts.ts";
import type { Engine } from "../../../src/store/store.ts";
import { crateOperations } from "../../support/shops/operations.ts";
import { startServer } from "../../support/server.ts";

/** Characters of an answer. Each takes a byte, since none is beyond U+00FF. */
const length = 1_000_000;

const shape = {
  title: "Crates",
  summary: "Does something with a crate.",
  description: "For tests.",
  tag: "Crates",
  toolSets: ["stock"],
  destructive: false,
  faults: [],
} as const;

const output = z.strictObject({ text: z.string() });

const large = [
  operation({
    ...shape,
    name: "crate_text_get",
    scope: "read",
    repeat: "read",
    route: { method: "GET", path: "/crates/{crateId}/text" },
    success: 200,
    input: z.strictObject({ crateId: z.string() }),
    output,
    run: (call, input) =>
      call.read(async (tx) => {
        await tx.all("select name from location where shop_id = ?", [call.shop.shopId]);
        return { data: { text: input.crateId.padEnd(length) } };
      }),
  }),
  operation({
    ...shape,
    name: "crate_text_set",
    scope: "write",
    repeat: "safe",
    route: { method: "POST", path: "/crates/{crateId}/text" },
    success: 200,
    input: z.strictObject({ crateId: z.string() }),
    output,
    run: (call, input) =>
      call.commit(() =>
        Promise.resolve({ effects: [], answer: () => ({ data: { text: input.crateId.padEnd(length) } }) }),
      ),
  }),
];

const start = (name = "Shop") => startServer({ operations: [...crateOperations(), ...large], shop: { name } });

/** How often the engine is asked to read while `ask` runs. */
async function readsOf(engine: Engine, ask: () => Promise<unknown>): Promise<number> {
  const read: Engine["read"] = engine.read.bind(engine);
  let count = 0;
  const counting: Engine["read"] = (shopId, work, onSeen) => {
    count += 1;
    return read(shopId, work, onSeen);
  };
  Object.assign(engine, { read: counting });
  await ask();
  Object.assign(engine, { read });
  return count;
}

const many = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `c${index}`);

test("answers of reads are remembered up to answersRememberedBytesMax", async () => {
  await using server = await start();
  const get = (id: string) => server.get(`/api/v1/crates/${id}/text`, { undocumented: true });
  const held = Math.floor(answersRememberedBytesMax / length);
  const ids = many(held - 1);
  for (const id of ids) assert.equal((await get(id)).status, 200);
  assert.equal(await readsOf(server.engine, () => get("c0")), 0);
  for (const id of ["more", "still more", "and more"]) await get(encodeURIComponent(id));
  assert.equal(await readsOf(server.engine, () => get("c0")), 0, "it was asked for later than the others");
  assert.equal(await readsOf(server.engine, () => get("c1")), 1);
});

test("answers that have no room any more are remembered compressed, up to answersPackedBytesMax", () => {
  const answers = new KnownAnswers(brotli);
  const seen = [{ stands: () => true }];
  // Cannot be made shorter by more than a quarter.
  const text = randomBytes(48_000).toString("base64");
  const put = (id: number): void =>
    answers.put(
      `shop\nrest\ntext_get\n${id}`,
      { shown: { dataText: JSON.stringify(`${id}${text}`) }, shopText: "" },
      seen,
    );
  const isKnown = (id: number): boolean => answers.get(`shop\nrest\ntext_get\n${id}`, "") !== null;
  const atMost = Math.ceil(answersRememberedBytesMax / text.length + answersPackedBytesMax / 48_000);
  const held = Math.floor(atMost * 0.95);
  for (let id = 0; id < held; id += 1) put(id);
  assert.equal(isKnown(0), true);
  for (let id = held; id <= atMost + 1; id += 1) put(id);
  assert.equal(isKnown(0), true, "it was asked for later than the others");
  assert.equal(isKnown(1), false);
});

test("answers that were told again are remembered up to replaysRememberedBytesMax", async () => {
  await using server = await start();
  const post = (id: string) =>
    server.post(`/api/v1/crates/${id}/text`, {}, { undocumented: true, headers: { "Idempotency-Key": id } });
  const held = Math.floor(replaysRememberedBytesMax / length);
  const ids = many(held + 2);
  // A keyed write ends what is remembered of others, so all are written first.
  for (const isReplayed of [undefined, "true"])
    for (const id of ids) assert.equal((await post(id)).headers["idempotent-replayed"], isReplayed);
  assert.equal(await readsOf(server.engine, () => post(ids.at(-1) ?? "")), 0);
  assert.equal(await readsOf(server.engine, () => post("c2")), 0, `${held} answers fit`);
  assert.equal(await readsOf(server.engine, () => post("c1")), 1);
});

test("callers are remembered up to callersRememberedBytesMax", async () => {
  // Each is remembered with its shop.
  await using server = await start("x".repeat(length));
  const { engine, shopId, ids } = server;
  const count = Math.ceil(callersRememberedBytesMax / length);
  const keys = many(count).map(() => makeApiKey(shopId, randomBytes(apiKeyRandomBytes)));
  await engine.write(shopId, async (tx) => {
    for (const { secretHash, lastFour } of keys) {
      const key = { keyId: ids.next("key"), name: "k", scope: "read", lastFour, createdAtMs: 0 } as const;
      await insertApiKey(
        tx,
        shopId,
        { ...key, revokedAtMs: null, pausedAtMs: null, signIn: true, limits: null },
        secretHash,
      );
    }
  });
  const asked = (apiKey = ""): Promise<unknown> => server.get("/api/v1/crates?limit=1", { key: apiKey });
  const looks = (apiKey = ""): Promise<number> => readsOf(engine, () => asked(apiKey));
  const [first, ...others] = keys.map(({ apiKey }) => apiKey);
  await asked(first);
  assert.equal(await looks(first), 0);
  for (const apiKey of others) await asked(apiKey);
  assert.equal(await looks(others.at(-1)), 0);
  assert.equal(await looks(others[0]), 0, `${count - 1} callers fit`);
  assert.ok((await looks(first)) > 0, `${count} callers are more than ${callersRememberedBytesMax} bytes`);
});
