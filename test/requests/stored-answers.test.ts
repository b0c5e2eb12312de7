/** How stored answers are kept: compressed, under a quota, and replayed byte for byte (C18, C21, D103). */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { brotli } from "../../src/service/compression.ts";
import { storedLargeBytesMin } from "../../src/requests/idempotency.ts";
import { sweepEveryRequests } from "../../src/requests/write/sweeps.ts";
import { delegated } from "../../src/store/delegated.ts";
import type { Compression, Coordination } from "../../src/store/store.ts";
import { lineA, startGoodsServer } from "../support/goods-server.ts";
import { startServer, type TestResponse, type TestServer } from "../support/server.ts";
import { until } from "../support/until.ts";

const orders = "/api/v1/purchase-orders";
const dayMs = 86_400_000;

/** An order whose answer has about 45 KB; it takes half a kilobyte of them, or with `random` notes most of it. */
const order = (random: boolean) => ({
  lineItems: Array.from({ length: 20 }, (_, index) => ({
    variantId: `v-${index}`,
    quantityOrdered: 1,
    note: random ? randomBytes(1_500).toString("base64") : 'Übrig – "quoted" 🙂 '.repeat(100),
  })),
});

const keyed = (server: TestServer, key: string, body: unknown): Promise<TestResponse> =>
  server.post(orders, body, { headers: { "Idempotency-Key": key } });

interface Stored {
  readonly records: number;
  /** Characters of the stored bodies. */
  readonly characters: number;
  /** Bytes of the records, summed up. */
  readonly bytes: number;
  /** The total that is kept. */
  readonly total: number;
}

async function storedIn({ engine, shopId }: TestServer): Promise<Stored> {
  const [row] = await engine.read(shopId, (tx) =>
    tx.all<Stored>(
      `select count(*) as records, cast(coalesce(sum(length(body)), 0) as bigint) as characters,
         cast(coalesce(sum(bytes), 0) as bigint) as bytes,
         (select t.bytes from idempotency_total t where t.shop_id = ?) as total
       from idempotency_record where shop_id = ?`,
      [shopId, shopId],
    ),
  );
  return row === undefined ? assert.fail() : { ...row };
}

const orderCount = async (server: TestServer): Promise<unknown> => (await server.get(orders)).at("data", "totalCount");

test("large answers are stored compressed", async () => {
  await using server = await startServer();
  for (const random of [false, true]) {
    const before = await storedIn(server);
    const first = await keyed(server, `random ${String(random)}`, order(random));
    assert.equal(first.status, 201);
    const { characters } = await storedIn(server);
    const kept = (characters - before.characters) / first.text.length;
    assert.ok(random ? kept < 1 : kept < 0.05, `${kept}`);
  }
});

test("a compressed answer is replayed byte for byte (C18)", async () => {
  await using server = await startServer();
  for (const [key, body] of [
    ["a", order(true)],
    ["b", order(false)],
  ] as const) {
    const first = await keyed(server, key, body);
    const again = await keyed(server, key, body);
    assert.equal(again.headers["idempotent-replayed"], "true");
    assert.equal(again.text, first.text);
    for (const name of ["x-request-id", "location", "etag"]) assert.equal(again.headers[name], first.headers[name]);
  }
  assert.equal(await orderCount(server), 2);
});

test("on PostgreSQL a large answer is compressed off the event loop, and replayed byte for byte", async () => {
  const lengths: number[] = [];
  const compression: Compression = {
    ...brotli,
    compress(text) {
      lengths.push(text.length);
      return brotli.compress(text);
    },
  };
  await using server = await startServer({ perform: () => ({ compression }) });
  const large = { lineItems: Array.from({ length: 8 }, () => order(false).lineItems).flat() };
  const first = await keyed(server, "large", large);
  assert.equal(first.status, 201);
  assert.ok(first.text.length > 300_000, String(first.text.length));
  assert.deepEqual(lengths, server.engine.embedded ? [first.text.length] : []);
  assert.equal((await keyed(server, "large", large)).text, first.text);
});

test("the total of stored answers is what they take, whatever was stored, replaced or deleted", async () => {
  await using server = await startGoodsServer();
  await server.bringOrder("Draft", [lineA]);
  const agrees = async (): Promise<number> => {
    const { bytes, total, characters } = await storedIn(server);
    assert.equal(total, bytes);
    assert.ok(bytes > characters);
    return bytes;
  };
  await keyed(server, "a", order(false));
  await keyed(server, "b", order(true));
  await keyed(server, "refused", { lineItems: "none" });
  // Follow-on work changes its answer, which is then stored a second time (D3).
  const headers = { "Idempotency-Key": "c" };
  const sent = await server.post(server.order("/status"), { status: "Sent" }, { headers });
  assert.equal(sent.at("data", "sideEffects", "incoming", "outcome"), "applied", sent.text);
  const full = await agrees();
  server.clock.advance(dayMs + 1_000);
  await keyed(server, "a", { lineItems: [] });
  for (let request = 0; request < sweepEveryRequests; request += 1) await server.get(server.order(""));
  await until("the old ones are deleted", async () => (await storedIn(server)).records <= 1);
  assert.equal((await storedIn(server)).records, 1);
  assert.ok((await agrees()) < full / 10);
});

test("beyond the quota a keyed write is 503 and changes nothing; it runs without a key, and after the wait (C21)", async () => {
  const quota = 400_000;
  await using server = await startServer({ perform: () => ({ storedAnswersBytesMax: quota }) });
  const answers = new Map<string, { readonly body: unknown; readonly text: string }>();
  let refused: TestResponse | null = null;
  for (let index = 0; refused === null && index < 20; index += 1) {
    const body = order(true);
    const answer = await keyed(server, `k${index}`, body);
    if (answer.status === 201) answers.set(`k${index}`, { body, text: answer.text });
    else refused = answer;
    server.clock.advance(1_000);
  }
  assert.ok(answers.size >= 3, String(answers.size));
  assert.equal(refused?.status, 503);
  assert.equal(refused.at("error", "code"), "DO_OVERLOADED");
  assert.equal(await orderCount(server), answers.size, "nothing was changed");
  const { total } = await storedIn(server);
  assert.ok(total > quota / 2 - 60_000 && total <= quota / 2, String(total));

  // Nothing that was promised is lost, and small answers still find room.
  for (const [key, { body, text }] of answers) assert.equal((await keyed(server, key, body)).text, text);
  const small = await keyed(server, "small", order(false));
  assert.equal(small.status, 201);
  assert.ok((await storedIn(server)).total - total < storedLargeBytesMin);
  // As large as two of the others: two of them must expire.
  const again = { lineItems: [...order(true).lineItems, ...order(true).lineItems] };
  assert.equal((await keyed(server, "again", again)).status, 503, "it was not stored");
  assert.equal((await server.post(orders, again)).status, 201, "without a key");

  const waitMs = Number((await keyed(server, "again", again)).at("error", "retryAfterMs"));
  assert.ok(waitMs > dayMs / 2 && waitMs <= dayMs, String(waitMs));
  server.clock.advance(waitMs - 500);
  assert.equal((await keyed(server, "again", again)).status, 503, "too early");
  server.clock.advance(500);
  assert.equal((await keyed(server, "again", again)).status, 201, "although nothing was deleted yet");
  assert.equal((await keyed(server, "again", again)).headers["idempotent-replayed"], "true");
});

test("small answers may take all of the quota and no more (C21)", async () => {
  const quota = 12_000;
  await using server = await startServer({ perform: () => ({ storedAnswersBytesMax: quota }) });
  let stored = 0;
  while (stored < 50 && (await keyed(server, `k${stored}`, { lineItems: [] })).status === 201) stored += 1;
  const { total } = await storedIn(server);
  assert.ok(total > quota - 4_000 && total <= quota, String(total));
  assert.equal(await orderCount(server), stored);
});

/** The one stored answer. `scope`: as its key is claimed. */
async function recordOf({ engine, shopId }: TestServer): Promise<{ fingerprint: string; scope: string }> {
  const [row] = await engine.read(shopId, (tx) =>
    tx.all<{ fingerprint: string; scope: string }>(
      "select fingerprint, key_id || ' ' || idempotency_key as scope from idempotency_record where shop_id = ?",
      [shopId],
    ),
  );
  return row ?? assert.fail();
}

const claims = (coordination: Coordination | null): Coordination => coordination ?? assert.fail();

test("an answer that was told again is remembered, and still told only to the same request, while nobody runs, and for 24 hours (C17, C18, C21)", async () => {
  const reads: string[] = [];
  let coordination: Coordination | null = null;
  await using server = await startServer({
    perform: (deps) => {
      ({ coordination } = deps);
      return {
        engine: {
          ...delegated(deps.engine),
          read(...args) {
            reads.push("read");
            return deps.engine.read(...args);
          },
        },
      };
    },
  });
  const body = order(false);
  const first = await keyed(server, "k", body);
  const isCoded = async (): Promise<void> => {
    const again = await keyed(server, "k", body);
    assert.deepEqual([again.status, again.headers["idempotent-replayed"]], [201, "true"]);
    assert.equal(again.text, first.text);
    for (const name of ["x-request-id", "location", "etag"]) assert.equal(again.headers[name], first.headers[name]);
  };
  await isCoded();
  reads.length = 0;
  await isCoded();
  if (server.engine.embedded) assert.deepEqual(reads, [], "it comes from memory");

  const other = await keyed(server, "k", { ...body, note: "other" });
  assert.deepEqual([other.status, other.at("error", "reason")], [400, "IDEMPOTENCY_KEY_REUSED"]);
  await isCoded();
  // As an attempt does that may yet replace its answer.
  const { fingerprint, scope } = await recordOf(server);
  await claims(coordination).claimKey(server.shopId, scope, { kind: "run", fingerprint });
  const early = await keyed(server, "k", body);
  assert.deepEqual([early.status, early.at("error", "reason")], [400, "IDEMPOTENCY_IN_PROGRESS"]);
  await claims(coordination).releaseKey(server.shopId, scope);
  await isCoded();

  server.clock.advance(dayMs + 1_000);
  const anew = await keyed(server, "k", body);
  assert.deepEqual([anew.status, anew.headers["idempotent-replayed"]], [201, undefined]);
  assert.notEqual(anew.text, first.text);
  const anewAgain = await keyed(server, "k", body);
  assert.deepEqual([anewAgain.text, anewAgain.headers["idempotent-replayed"]], [anew.text, "true"]);
  assert.equal(await orderCount(server), 2);
});
