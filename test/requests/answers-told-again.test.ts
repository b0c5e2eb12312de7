/** How answers are stored under idempotency keys and told again (C18–C21, D103), on an engine in this process and on one among nodes. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { brotli } from "../../src/service/compression.ts";
import { apiKeyRandomBytes, makeApiKey } from "../../src/core/access/api-key.ts";
import { Fault } from "../../src/base/fault.ts";
import { inWords } from "../../src/core/order/guidance.ts";
import { idempotencyLifetimeMs } from "../../src/core/access/idempotency.ts";
import { StoreCounts } from "../../src/requests/store-counts.ts";
import type { Reply } from "../../src/requests/envelope.ts";
import {
  answeredFingerprint,
  type Attempt,
  createIdempotency,
  type Idempotency,
  type IdempotencyDependencies,
  isStoredRefusal,
  type KeyedRequest,
  storedLargeBytesMin,
  storedPlainBytesMax,
} from "../../src/requests/idempotency.ts";
import type { Operation } from "../../src/requests/operation.ts";
import type { Incoming } from "../../src/requests/request.ts";
import { insertApiKey, saveShop } from "../../src/shop/access/accounts.ts";
import { loadStoredBytes, oldestRecords, sweepIdempotency } from "../../src/shop/access/idempotency.ts";
import type { Compression, Coordination, Engine, KeyClaim } from "../../src/store/store.ts";
import { makePlace, openStore, type Store, type StorePlace } from "../support/store.ts";
import { plainShop } from "../support/shops/plain-shop.ts";

const nowMs = 2_000_000_000;
let place: StorePlace;
let store: Store;
let shops = 0;

before(async () => {
  place = await makePlace();
  store = await openStore(place.directory);
});
after(async () => {
  await store.close();
  await place.remove();
});

/** The store's engine as one in this process, or as one among nodes. */
const engineThatIs = (embedded: boolean): Engine =>
  new Proxy(store.engine, {
    get(of, name) {
      if (name === "embedded") return embedded;
      const member: unknown = Reflect.get(of, name);
      return typeof member === "function" ? member.bind(of) : member;
    },
  });

interface Setting {
  readonly request: KeyedRequest;
  readonly clock: { ms: number };
  readonly idempotency: Idempotency;
  readonly dependencies: IdempotencyDependencies;
  /** Stores the answer of a request; those that differ in their key by default. */
  store(reply: Reply, given?: Partial<KeyedRequest>, beside?: boolean): Promise<void>;
  storedBytes(): Promise<number>;
}

/** A shop of its own, with a clock that the test sets. */
async function setting(given: Partial<IdempotencyDependencies> = {}): Promise<Setting> {
  shops += 1;
  const shopId = `shop-${shops}`;
  const { engine, coordination } = store;
  await engine.create(shopId);
  const clock = { ms: nowMs };
  const dependencies = { engine, coordination, clock: { now: () => clock.ms }, compression: brotli, ...given };
  const idempotency = createIdempotency(dependencies);
  const request = {
    shopId,
    holderId: "key_1",
    idempotencyKey: "x",
    fingerprint: "mine",
    requestId: "req_1",
    operation: "purchase_order_create",
    wasAnswered: false,
  };
  return {
    request,
    clock,
    idempotency,
    dependencies,
    storedBytes: () => engine.read(shopId, (tx) => loadStoredBytes(tx, shopId)),
    async store(reply, of = {}, beside = false) {
      const stored = { ...request, ...of };
      await engine.write(shopId, async (tx) => {
        const answers = beside ? await idempotency.refuseIfAnswered(tx, stored) : null;
        await tx.batch(await idempotency.storeStatements(tx, stored, { reply, purchaseOrderId: null }, answers));
      });
    },
  };
}

const reply = (body: string, requestId = "req_0"): Reply => ({
  status: 201,
  headers: { "X-Request-Id": requestId, ETag: '"1"' },
  body,
  errorCode: null,
});

/** A write, or what else is given. */
const incoming = (given: Partial<Incoming> = {}): Incoming => {
  const part: Partial<Incoming> = { target: operationOf("write"), idempotencyKeys: ["x"], ...given };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the members that are asked for
  return part as Incoming;
};

const operationOf = (scope: "read" | "write"): Operation => {
  const part: Partial<Operation> = { scope };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the member that is asked for
  return part as Operation;
};

const replayed = async ({ idempotency, request }: Setting, of: Partial<KeyedRequest> = {}): Promise<Reply> => {
  const asked = { ...request, ...of };
  const attempt = await idempotency.claim(asked, null);
  assert.ok(attempt.kind === "replay", attempt.kind);
  return await idempotency.replayOf(asked, attempt);
};

/** Who holds the key of the request, which is free afterwards if nobody does. */
async function holderOf({ dependencies: { coordination }, request }: Setting): Promise<KeyClaim | "again" | null> {
  const scope = `${request.holderId} ${request.idempotencyKey}`;
  const holder = await coordination.claimKey(request.shopId, scope, { kind: "run", fingerprint: "probe" });
  if (holder === null) await coordination.releaseKey(request.shopId, scope);
  return holder;
}

const refusalOf = (attempt: Attempt): Fault => (attempt.kind === "refused" ? attempt.fault : assert.fail(attempt.kind));
const inWordsOf = (text: string | null): string => inWords(text ?? "", (name) => name);

for (const embedded of [true, false]) {
  const where = embedded ? "in this process" : "among nodes";

  test(`${where}, the key of a request that runs is held until it is released`, async () => {
    const of = await setting({ engine: engineThatIs(embedded) });
    const { idempotency, request } = of;
    assert.equal((await idempotency.claim(request, null)).kind, "run");
    assert.deepEqual(await holderOf(of), { kind: "run", fingerprint: "mine" });
    assert.equal(await idempotency.holds(request), true);
    await idempotency.release(request);
    assert.equal(await idempotency.holds(request), false);
    assert.equal(await holderOf(of), null);
    // Its answer was there when it came, and has expired since.
    assert.equal((await idempotency.claim({ ...request, wasAnswered: true }, null)).kind, "run");
    assert.deepEqual(await holderOf(of), { kind: "replay", fingerprint: "mine" });
    const release = idempotency.releaseWith(request);
    await store.engine.write(request.shopId, (tx) => tx.batch(release.statements));
    release.done();
    assert.equal(await holderOf(of), null);
  });

  test(`${where}, what fails beside the claim gives the key back`, async () => {
    const broken = new Error("broken");
    const { coordination } = store;
    const reads = engineThatIs(embedded);
    const failing: Engine = new Proxy(reads, {
      get: (of, name) => (name === "peek" && embedded ? () => Promise.reject(broken) : Reflect.get(of, name)),
    });
    const of = await setting({ engine: failing });
    await assert.rejects(
      of.idempotency.claim(of.request, () => Promise.reject(broken)),
      broken,
    );
    assert.equal(await holderOf(of), null);
    // A key that was not got is not given back.
    await coordination.claimKey(of.request.shopId, "key_1 x", { kind: "run", fingerprint: "other" });
    await assert.rejects(
      of.idempotency.claim(of.request, () => Promise.reject(broken)),
      broken,
    );
    assert.deepEqual(await holderOf(of), { kind: "run", fingerprint: "other" });
    const unclaimed: Coordination = { ...coordination, claimKey: () => Promise.reject(broken) };
    const other = await setting({ engine: reads, coordination: unclaimed });
    await assert.rejects(other.idempotency.claim(other.request, null), broken);
  });

  test(`${where}, a claim whose holder has just changed is made again`, async () => {
    let claims = 0;
    const { coordination } = store;
    const changing: Coordination = {
      ...coordination,
      claimKey(shopId, scope, claim, tx) {
        claims += 1;
        assert.equal(tx === undefined, embedded, "the claim travels with the read");
        return claims < 3 ? Promise.resolve("again") : coordination.claimKey(shopId, scope, claim, tx);
      },
    };
    const of = await setting({ engine: engineThatIs(embedded), coordination: changing });
    assert.equal((await of.idempotency.claim(of.request, null)).kind, "run");
    assert.equal(claims, 3);
  });

  test(`${where}, an answer that is stored is told again under its key, to its holder, for its shop, for a day`, async () => {
    const of = await setting({ engine: engineThatIs(embedded) });
    const { idempotency, request, clock } = of;
    await of.store(reply('{"a":1}'));
    const told = {
      ...reply('{"a":1}'),
      headers: { ...reply("").headers, "Idempotent-Replayed": "true" },
      answeredAtMs: clock.ms,
    };
    assert.deepEqual(await replayed(of), told);
    assert.deepEqual(await replayed(of, { wasAnswered: true }), told);
    const found = await idempotency.claim({ ...request, wasAnswered: true }, null);
    assert.ok(found.kind === "replay" && found.isDurable === embedded);
    if (!embedded) assert.deepEqual(found.seen, [], "what is read beside the claim is not remembered");
    for (const other of [{ idempotencyKey: "y" }, { holderId: "key_2" }]) {
      assert.equal((await idempotency.claim({ ...request, ...other }, null)).kind, "run");
      await idempotency.release({ ...request, ...other });
    }
    const reused = refusalOf(await idempotency.claim({ ...request, fingerprint: "other" }, null));
    assert.equal(reused.reason, "IDEMPOTENCY_KEY_REUSED");
    assert.equal(await holderOf(of), null, "a refusal holds nothing");
    clock.ms += idempotencyLifetimeMs - 1;
    assert.deepEqual(await replayed(of), told);
    clock.ms += 1;
    assert.equal((await idempotency.claim({ ...request, wasAnswered: true }, null)).kind, "run");
  });
}

test("a remembered answer is told without a claim while nobody holds its key, to a request that came after it", async () => {
  let claims = 0;
  const { coordination } = store;
  const { embedded } = store.engine;
  const claimKey: Coordination["claimKey"] = (...of) => {
    claims += 1;
    return coordination.claimKey(...of);
  };
  const of = await setting({ coordination: { ...coordination, claimKey } });
  const { request, idempotency } = of;
  const again = { ...request, wasAnswered: true };
  await of.store(reply("{}"));
  assert.equal((await replayed(of, again)).body, "{}");
  assert.equal(claims, 1);
  assert.equal((await replayed(of, again)).body, "{}");
  assert.equal(claims, embedded ? 1 : 2);
  const known = await idempotency.claim(again, null);
  if (embedded) assert.ok(known.kind === "replay" && known.isDurable && known.seen.length === 0);
  assert.equal((await replayed(of, request)).body, "{}");
  assert.equal(claims, embedded ? 2 : 4, "it may have come before the answer");
  await coordination.claimKey(request.shopId, "key_1 x", { kind: "run", fingerprint: "mine" });
  assert.equal(refusalOf(await idempotency.claim(again, null)).reason, "IDEMPOTENCY_IN_PROGRESS");
});

test("an order is read beside the claim where that saves a round trip, and told to the request that runs", async () => {
  const { request, idempotency } = await setting({ engine: engineThatIs(false) });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is handed on as it is
  const order = { purchaseOrderId: "po_1" } as never;
  assert.deepEqual(await idempotency.claim(request, () => Promise.resolve(order)), { kind: "run", ahead: order });
  const inProcess = await setting({ engine: engineThatIs(true) });
  const attempt = await inProcess.idempotency.claim(inProcess.request, () => assert.fail("nothing is read ahead"));
  assert.deepEqual(attempt, { kind: "run", ahead: null });
});

test("an answer is replayed while its first attempt seems to run, if the key can be taken over", async () => {
  const taken: unknown[] = [];
  const { coordination } = store;
  const takeOverKey: Coordination["takeOverKey"] = (...of) => Promise.resolve(taken.push(of) > 1);
  const of = await setting({ coordination: { ...coordination, takeOverKey } });
  const { request, idempotency } = of;
  await of.store(reply("{}"));
  const run: KeyClaim = { kind: "run", fingerprint: "mine" };
  await coordination.claimKey(request.shopId, "key_1 x", run);
  assert.equal(refusalOf(await idempotency.claim(request, null)).reason, "IDEMPOTENCY_IN_PROGRESS");
  assert.deepEqual(await holderOf(of), run, "it runs on");
  assert.equal((await idempotency.claim(request, null)).kind, "replay");
  assert.equal(await holderOf(of), null, "what was taken over is given back");
  const asked = [request.shopId, "key_1 x", "mine"];
  assert.deepEqual(taken, [asked, asked]);
});

test("a request that cannot run yet says what to do", async () => {
  const of = await setting();
  const { coordination } = store;
  const claim = async (fingerprint: string): Promise<readonly (string | null)[]> => {
    const fault = refusalOf(await of.idempotency.claim({ ...of.request, fingerprint }, null));
    return [fault.reason, inWordsOf(fault.message), inWordsOf(fault.action)];
  };
  await coordination.claimKey(of.request.shopId, "key_1 x", { kind: "run", fingerprint: "mine" });
  assert.deepEqual(await claim("mine"), [
    "IDEMPOTENCY_IN_PROGRESS",
    "The first request with this idempotencyKey is still running.",
    "Send the same request again in a moment to get its answer.",
  ]);
  assert.deepEqual(await claim("other"), [
    "IDEMPOTENCY_KEY_REUSED",
    "This idempotencyKey was used for a different request, which is still running.",
    "Use a new key for a new request.",
  ]);
});

test("whether a write was answered is asked by its holder, or by the secret of its API key", async () => {
  const { request, idempotency, clock, dependencies, ...of } = await setting();
  const { shopId } = request;
  const key = makeApiKey(shopId, new Uint8Array(apiKeyRandomBytes).fill(7));
  const other = makeApiKey(shopId, new Uint8Array(apiKeyRandomBytes).fill(9));
  await store.engine.write(shopId, async (tx) => {
    await saveShop(tx, plainShop(shopId));
    for (const [keyId, { secretHash }] of [
      ["key_1", key],
      ["key_2", other],
    ] as const)
      await insertApiKey(
        tx,
        shopId,
        {
          keyId,
          name: keyId,
          scope: "write",
          lastFour: "0000",
          createdAtMs: 0,
          revokedAtMs: null,
          pausedAtMs: null,
          signIn: true,
          limits: null,
        },
        secretHash,
      );
  });
  type Asker = Parameters<Idempotency["wasAnswered"]>[2];
  const asked = (asker: Asker, given: Partial<Incoming> = {}): Promise<boolean> =>
    store.engine.peek(shopId, (tx) => idempotency.wasAnswered(tx, shopId, asker, incoming(given)));
  const [mine, others] = [key, other].map(({ secretHash }): Asker => ({ secretHash }));
  assert.ok(mine !== undefined && others !== undefined);
  const askers = [mine, { holderId: "key_1" }];
  for (const asker of askers) assert.equal(await asked(asker), false);
  await of.store(reply("{}"));
  for (const asker of askers) {
    assert.equal(await asked(asker), true);
    assert.equal(await asked(asker, { idempotencyKeys: ["y"] }), false);
    assert.equal(await asked(asker, { idempotencyKeys: [] }), false);
    assert.equal(await asked(asker, { idempotencyKeys: ["x", "x"] }), false);
    assert.equal(await asked(asker, { target: operationOf("read") }), false);
    assert.equal(await asked(asker, { target: new Fault("NOT_FOUND", "no such path") }), false);
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nothing is asked of it
  const silent = { all: assert.fail } as never;
  for (const idempotencyKeys of [[], ["x", "x"]])
    assert.equal(await idempotency.wasAnswered(silent, shopId, mine, incoming({ idempotencyKeys })), false);
  for (const asker of [others, { holderId: "key_2" }]) assert.equal(await asked(asker), false);
  assert.equal(await answeredFingerprint(dependencies, key.apiKey, "x"), request.fingerprint);
  assert.equal(await answeredFingerprint(dependencies, key.apiKey, "y"), null);
  assert.equal(await answeredFingerprint(dependencies, other.apiKey, "x"), null);
  await assert.rejects(
    answeredFingerprint(dependencies, makeApiKey(shopId, new Uint8Array(apiKeyRandomBytes)).apiKey, "x"),
    {
      code: "UNAUTHORIZED",
    },
  );
  clock.ms += idempotencyLifetimeMs;
  for (const asker of askers) assert.equal(await asked(asker), false);
  assert.equal(await answeredFingerprint(dependencies, key.apiKey, "x"), null);
});

test("a statement finds nothing once an answer is stored under the key", async () => {
  const { request, idempotency, clock, ...of } = await setting();
  const { shopId } = request;
  const every = { sql: "select shop_id from idempotency_total where shop_id = ?", params: [shopId] };
  const found = (given: Partial<Incoming> = {}, holderId = "key_1"): Promise<number | null> =>
    store.engine.read(shopId, async (tx) => {
      const statement = idempotency.unlessAnswered(every, shopId, holderId, incoming(given));
      return statement === null ? null : (await tx.all(statement.sql, statement.params)).length;
    });
  await of.store(reply("{}"));
  assert.equal(await found(), 0);
  assert.equal(await found({ idempotencyKeys: ["y"] }), 1);
  assert.equal(await found({}, "key_2"), 1);
  assert.equal(await found({ idempotencyKeys: [] }), 1);
  for (const wrong of [[""], ["x", "x"]]) assert.equal(await found({ idempotencyKeys: wrong }), null);
  clock.ms += idempotencyLifetimeMs;
  assert.equal(await found(), 1);
});

test("an answer that was told again is remembered, expanded, until it changes or expires", async () => {
  let expanded = 0;
  const compression: Compression = {
    ...brotli,
    expand(text) {
      expanded += 1;
      return brotli.expand(text);
    },
  };
  const of = await setting({ compression });
  const { request, idempotency, clock } = of;
  const { embedded } = store.engine;
  const isRemembered = (given: Partial<Incoming> = {}, holderId = "key_1"): boolean =>
    idempotency.isRemembered(request.shopId, holderId, incoming(given));
  const body = JSON.stringify("ü".repeat(storedPlainBytesMax));
  await of.store(reply(body));
  const first = await idempotency.claim(request, null);
  assert.ok(first.kind === "replay" && !first.isDurable && first.seen.length === 0);
  assert.equal((await idempotency.replayOf(request, first)).body, body);
  assert.equal(isRemembered(), false, "what was peeked at may not be durable");
  const durable = await idempotency.claim({ ...request, wasAnswered: true }, null);
  assert.ok(durable.kind === "replay" && durable.isDurable === embedded);
  assert.equal((await idempotency.replayOf(request, durable)).body, body);
  assert.equal(isRemembered(), embedded);
  expanded = 0;
  for (const wasAnswered of [true, false]) {
    assert.equal((await replayed(of, { wasAnswered })).body, body);
    if (embedded)
      assert.deepEqual(await idempotency.claim(request, null), {
        ...durable,
        record: { ...durable.record, body, encoding: null },
        seen: [],
      });
  }
  assert.equal(expanded, embedded ? 0 : 2);
  assert.equal(isRemembered({ target: operationOf("read") }), false);
  assert.equal(isRemembered({ idempotencyKeys: ["y"] }), false);
  assert.equal(isRemembered({}, "key_2"), false);
  clock.ms += idempotencyLifetimeMs;
  assert.equal(isRemembered(), false);
  clock.ms -= 1;
  assert.equal(isRemembered(), embedded);
  await of.store(reply("{}", "req_1"));
  assert.equal(isRemembered(), false);
  assert.equal((await replayed(of)).body, "{}");
});

test("answers beyond storedPlainBytesMax are compressed where that makes them smaller, large ones among nodes on another thread", async () => {
  const aside = 131_072;
  const used: string[] = [];
  const made = (name: string) => (text: string) => {
    used.push(name);
    return text.startsWith("small") ? text.slice(1) : text;
  };
  const compression: Compression = {
    ...brotli,
    compress: made("here"),
    compressAside: (text) => Promise.resolve(made("aside")(text)),
    expand: (text) => Promise.resolve(`s${text}`),
  };
  for (const [embedded, length, expected] of [
    [true, storedPlainBytesMax, []],
    [true, storedPlainBytesMax + 1, ["here"]],
    [true, aside + 1, ["here"]],
    [false, storedPlainBytesMax, []],
    [false, aside, ["here"]],
    [false, aside + 1, ["aside"]],
  ] as const) {
    const of = await setting({ engine: engineThatIs(embedded), compression });
    used.length = 0;
    await of.store(reply("small".padEnd(length, ".")));
    assert.deepEqual(used, expected, `${embedded} ${length}`);
    const [record] = await store.engine.read(of.request.shopId, (tx) =>
      tx.all<{ encoding: string | null; characters: number }>(
        "select encoding, length(body) as characters from idempotency_record where shop_id = ?",
        [of.request.shopId],
      ),
    );
    const compressed = expected.length > 0;
    assert.deepEqual(
      { ...record },
      { encoding: compressed ? "brotli-base64" : null, characters: length - Number(compressed) },
    );
    assert.equal((await replayed(of)).body.length, length);
  }
  const of = await setting({ compression });
  await of.store(reply("no smaller".padEnd(storedPlainBytesMax + 1, ".")));
  const attempt = await of.idempotency.claim(of.request, null);
  assert.ok(attempt.kind === "replay" && attempt.record.encoding === null);
});

/** A reply that takes so many bytes under a key of one character. */
const replyOf = (bytes: number): Reply => {
  const empty = reply("");
  const beside = 1 + "mine".length + JSON.stringify(empty.headers).length;
  return { ...empty, body: "x".repeat(bytes - beside) };
};
const storedAsIs: Compression = { ...brotli, compress: (text) => text };

test("the bytes of a shop's answers are kept, whether answers come, are replaced or are swept", async () => {
  const counts = new StoreCounts();
  const of = await setting({ counts, compression: storedAsIs });
  const { request, clock } = of;
  const { shopId } = request;
  assert.equal(await of.storedBytes(), 0);
  await of.store(replyOf(300));
  assert.equal(await of.storedBytes(), 300);
  await of.store(replyOf(500));
  assert.equal(await of.storedBytes(), 500, "it takes the place of the one before");
  clock.ms += 10;
  await of.store(replyOf(400), { idempotencyKey: "y" });
  clock.ms += 10;
  await of.store(replyOf(200), { idempotencyKey: "z" });
  assert.equal(await of.storedBytes(), 1_100);
  assert.equal(counts.storedAnswerBytes, 1_400);
  const accented = { ...replyOf(200), body: "ü" };
  await of.store(accented, { idempotencyKey: "u", holderId: "key_2" });
  assert.equal(await of.storedBytes(), 1_100 + 1 + 4 + JSON.stringify(accented.headers).length + 2);
  await of.store(replyOf(100), { idempotencyKey: "u", holderId: "key_2" });
  assert.equal(await of.storedBytes(), 1_200);

  const oldest = (rowsMax: number) => store.engine.read(shopId, (tx) => oldestRecords(tx, shopId, rowsMax));
  assert.deepEqual(await oldest(2), [
    { storedAtMs: nowMs, bytes: 500 },
    { storedAtMs: nowMs + 10, bytes: 400 },
  ]);
  assert.deepEqual(
    (await oldest(9)).map(({ bytes }) => bytes),
    [500, 400, 100, 200],
    "of those of one time the smaller first",
  );

  const sweep = (untilMs: number, rowsMax: number) =>
    store.engine.write(shopId, (tx) => sweepIdempotency(tx, shopId, untilMs, rowsMax));
  const nothing = await store.engine.write(shopId, (tx) =>
    sweepIdempotency({ all: (sql, params) => tx.all(sql, params), batch: () => assert.fail() }, shopId, nowMs - 1, 9),
  );
  assert.deepEqual(nothing, { rows: 0, bytes: 0 }, "and nothing is written");
  assert.deepEqual(await sweep(nowMs + 10, 1), { rows: 1, bytes: 500 }, "no more than asked for");
  assert.equal(await of.storedBytes(), 700);
  assert.deepEqual(await sweep(nowMs + 20, 9), { rows: 3, bytes: 700 });
  assert.equal(await of.storedBytes(), 0);
});

test("answers of one shop are not found, counted or swept for another", async () => {
  const [one, other] = [await setting(), await setting()];
  await one.store(reply("{}"));
  await other.store(reply("{}"));
  const bytes = await other.storedBytes();
  const { shopId } = one.request;
  const swept = await store.engine.write(shopId, (tx) => sweepIdempotency(tx, shopId, nowMs, 9));
  assert.equal(swept.rows, 1);
  assert.equal(await other.storedBytes(), bytes);
  assert.equal((await replayed(other)).body, "{}");
});

test("a change is told what the shop's answers take, and finds another attempt's answer, not its own", async () => {
  const of = await setting();
  const { request, idempotency } = of;
  const check = (given: Partial<KeyedRequest> = {}) =>
    store.engine.write(request.shopId, (tx) => idempotency.refuseIfAnswered(tx, { ...request, ...given }));
  assert.equal(await check(), 0);
  await of.store(reply("{}", "req_1"));
  assert.equal(await check(), await of.storedBytes());
  await assert.rejects(check({ requestId: "req_2" }), { reason: "IDEMPOTENCY_IN_PROGRESS" });
  await check({ requestId: "req_2", idempotencyKey: "y" });
  await check({ requestId: "req_2", holderId: "key_2" });
});

test("an answer finds room up to the quota, a large one up to half of it, and waits for the oldest to expire", async () => {
  const storedAnswersBytesMax = 4 * storedLargeBytesMin;
  const half = storedAnswersBytesMax / 2;
  const of = await setting({ storedAnswersBytesMax, compression: storedAsIs });
  const { clock } = of;
  const put = (idempotencyKey: string, bytes: number): Promise<void> =>
    of.store(replyOf(bytes), { idempotencyKey, requestId: idempotencyKey }, true);
  const refused = async (bytes: number): Promise<Fault> => {
    try {
      await put("r", bytes);
    } catch (error) {
      assert.ok(error instanceof Fault && error.code === "DO_OVERLOADED");
      return error;
    }
    return assert.fail("there was room");
  };
  await put("a", 1_000);
  clock.ms += 5_000;
  await put("b", half - 1_000);
  const large = await refused(storedLargeBytesMin);
  assert.equal(large.retryAfterMs, idempotencyLifetimeMs, "until both have expired");
  assert.equal(
    inWordsOf(large.message),
    "The stored answers of this shop leave no room for another; nothing was changed.",
  );
  assert.equal(inWordsOf(large.action), "Send the request without idempotencyKey, or wait as long as retryAfter says.");
  for (const key of ["c", "d"]) await put(key, storedLargeBytesMin - 1);
  assert.equal(await of.storedBytes(), storedAnswersBytesMax - 2);
  await refused(200);
  const small = await refused(1_002);
  assert.equal(small.retryAfterMs, idempotencyLifetimeMs - 5_000, "until the oldest has expired");
  assert.equal((await refused(1_003)).retryAfterMs, idempotencyLifetimeMs, "and with it one more");
  clock.ms = nowMs + idempotencyLifetimeMs - 1;
  assert.equal((await refused(1_002)).retryAfterMs, 1_000, "never less than a second");
  clock.ms += 1;
  await put("r", 1_002);
});

test("an answer that no wait makes room for waits a day", async () => {
  const of = await setting({ storedAnswersBytesMax: 1_000, compression: storedAsIs });
  await assert.rejects(of.store(replyOf(1_001), {}, true), {
    code: "DO_OVERLOADED",
    retryAfterMs: idempotencyLifetimeMs,
  });
  await of.store(replyOf(1_000), {}, true);
});

test("a request's own answer is replaced whatever room there is", async () => {
  const of = await setting({ storedAnswersBytesMax: 500, compression: storedAsIs });
  await of.store(replyOf(500), {}, true);
  await of.store(replyOf(600));
  assert.equal(await of.storedBytes(), 600);
});

test("refusals of the request are stored; those that a repetition may change, and errors of the service, are not (C19)", () => {
  const stored: readonly (readonly [Fault, boolean])[] = [
    [new Fault("INVALID_INPUT", "no"), true],
    [new Fault("NOT_FOUND", "no"), true],
    [new Fault("NOTHING_TO_RECEIVE", "no"), true],
    [new Fault("RATE_LIMITED", "no", { retryAfterMs: 1 }), false],
    [new Fault("DO_OVERLOADED", "no", { retryAfterMs: 1 }), false],
    [new Fault("UPSTREAM_STOREFRONT", "no"), false],
    [new Fault("INTERNAL", "no"), false],
  ];
  for (const [fault, expected] of stored) assert.equal(isStoredRefusal(fault), expected, fault.code);
  assert.equal(isStoredRefusal(new Error("no")), false);
});
