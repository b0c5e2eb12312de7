/** Bounds that are driven without a server, each with the value that the program has (docs/limits.md). */
import assert from "node:assert/strict";
import { Duplex } from "node:stream";
import { test } from "node:test";
import { setImmediate as nextRound } from "node:timers/promises";
import { pathLengthMax, shownPath } from "../../src/base/text/shown-path.ts";
import { openFilesMax, sandboxesOpenMax } from "../../src/service/data-directory.ts";
import {
  bodiesBytesMax,
  bodyArrivalMs,
  bodyBytesMax,
  BodyBudget,
  ofShop,
  RequestBody,
  unauthenticated,
} from "../../src/http/body.ts";
import {
  Connections,
  connectionsRefusedAtOnceMax,
  refusedConnectionsPerSecond,
} from "../../src/http/node/connections.ts";
import { acceptsPerRoundMax, roundMs, Rounds } from "../../src/base/time/rounds.ts";
import { publish, publishedPieceBytes } from "../../src/http/openapi/publication.ts";
import type { HttpRequest } from "../../src/http/surface.ts";
import { AuditRows, auditWaitMsMax } from "../../src/requests/audit/audit.ts";
import { Attempts, signInFailureMs, signInFailuresMax, signInsOfAddress } from "../../src/http/attempts.ts";
import { AuditJournal, auditJournalRowsMax } from "../../src/shop/audit/audit-journal.ts";
import {
  credentialsKnownMax,
  credentialsKnownPerShopMax,
  KnownCredentials,
} from "../../src/shop/access/known-credentials.ts";
import { loopDebtMsMax, loopFreeMs, LoopShare } from "../../src/store/loop-share.ts";
import {
  defaultShopLimits,
  shopsWarmMax,
  shopsWatchedMax,
  statementsDroppedMax,
} from "../../src/store/sqlite/engine.ts";
import { ShopQueue, defaultQueueLimits } from "../../src/store/queue.ts";
import type { Tx } from "../../src/store/store.ts";
import { findOrders, segmentsBytesMax } from "../../src/shop/order-list/order-search.ts";
import { auditEntry, noTrail } from "../support/audit.ts";
const spin = (ms: number): void => {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
};

test("a round of starts ends after roundMs, and the others start in the next", async () => {
  const rounds = new Rounds();
  let started = 0;
  for (let count = 0; count < 8; count += 1)
    rounds.run(() => {
      started += 1;
      spin(roundMs / 2 + 1);
    });
  // One, if the machine was busy meanwhile.
  assert.ok(started <= 2, String(started));
  assert.equal(rounds.waiting, 8 - started);
  while (rounds.waiting > 0) await nextRound();
  assert.equal(started, 8);
});

test("connections are accepted at most acceptsPerRoundMax times before a request starts", async () => {
  const rounds = new Rounds();
  rounds.run(() => spin(roundMs + 1));
  const next = { isStarted: false };
  rounds.run(() => (next.isStarted = true));
  let turns = 0;
  for (; !next.isStarted && turns < 10 * acceptsPerRoundMax; turns += 1) {
    rounds.accepted();
    await nextRound();
  }
  assert.ok(turns >= acceptsPerRoundMax && turns <= acceptsPerRoundMax + 3, String(turns));
});

test("connections that are refused together are asked to retry at refusedConnectionsPerSecond", (t) => {
  t.mock.method(performance, "now", () => 0);
  const unused = () => assert.fail();
  const connections = new Connections({
    ids: { next: (prefix) => `${prefix}_1`, processName: "node_1", claimant: unused },
    log: { info: () => {}, warn: () => {}, error: unused },
    limits: { connectionsMax: 0, unreadBytesMax: 1 },
    serve: unused,
    refuse: unused,
  });
  const told: string[] = [];
  const sockets: Duplex[] = [];
  for (let count = 0; count <= connectionsRefusedAtOnceMax + 2 * refusedConnectionsPerSecond; count += 1) {
    const socket = new Duplex({
      read: () => {},
      write: (answer, _, done) => {
        told.push(/^Retry-After: (\d+)/im.exec(String(answer))?.[1] ?? "");
        done();
      },
    });
    sockets.push(socket);
    connections.add(socket);
  }
  for (const socket of sockets) socket.destroy();
  const half = refusedConnectionsPerSecond;
  assert.equal(told.length, 2 * half + 1);
  assert.deepEqual([told[0], told[half], told[half + 1], told.at(-1)], ["1", "2", "3", "3"]);
});

test("an engine of files keeps shopsWarmMax shops in memory, knows shopsWatchedMax, and lets statementsDroppedMax wait for the collector", () => {
  assert.deepEqual(defaultShopLimits, { shopsWarmMax, shopsWatchedMax, statementsDroppedMax });
});

test("the journal has room for further rows up to twice auditJournalRowsMax", async () => {
  const withLeft = async (rows: number): Promise<boolean> => {
    const left = Array.from({ length: rows }, (_, index) => ({ seq: index + 1, shop_id: "shop" }));
    const file = { create: () => Promise.resolve(), peek: () => Promise.resolve(left) };
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what opening asks for
    const options = { file, clock: { now: () => 0 } } as never;
    return (await AuditJournal.open(options)).hasRoom;
  };
  assert.equal(await withLeft(2 * auditJournalRowsMax - 1), true);
  assert.equal(await withLeft(2 * auditJournalRowsMax), false);
});

test("a body that has not arrived after bodyArrivalMs is refused", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const silent: Partial<HttpRequest> = { header: () => null, readBody: () => new Promise(() => {}) };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the members that are asked for
  const reading = new RequestBody(silent as HttpRequest, new BodyBudget()).whole(unauthenticated);
  let refusal: unknown = null;
  reading.catch((error: unknown) => (refusal = error));
  t.mock.timers.tick(bodyArrivalMs - 1);
  await nextRound();
  assert.equal(refusal, null);
  t.mock.timers.tick(1);
  await assert.rejects(reading, /took too long to arrive/);
});

test("nobody's bodies take more of bodiesBytesMax than they leave free for those of others", () => {
  const bodies = new BodyBudget();
  const most = (holder: string): number => {
    let held = 0;
    for (;;) {
      try {
        bodies.take(holder, bodyBytesMax);
      } catch (error) {
        assert.match(String(error), /holds as many request bodies as it can/);
        return held;
      }
      held += bodyBytesMax;
    }
  };
  const halfMax = bodiesBytesMax / 2;
  assert.equal(most(unauthenticated), halfMax);
  assert.equal(most(ofShop("alpha")), halfMax / 2);
  assert.equal(most(ofShop("beta")), halfMax / 4);
  bodies.take(ofShop("gamma"), bodyBytesMax);
  assert.throws(() => bodies.take(unauthenticated, 1));
  bodies.give(unauthenticated, halfMax);
  bodies.take(unauthenticated, bodyBytesMax);
  assert.equal(bodies.bytes, halfMax / 2 + halfMax / 4 + 2 * bodyBytesMax);
});

test("a document that is the same for everyone is sent in pieces of publishedPieceBytes, each when the one before was read", async () => {
  const document = publish("x".repeat(publishedPieceBytes * 3 + 1), "text/plain");
  const request: Partial<HttpRequest> = { header: () => null };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the member that is asked for
  const answer = await document.answer(request as HttpRequest);
  const sizes: number[] = [];
  for await (const piece of answer.body ?? []) sizes.push(piece.length);
  assert.deepEqual(sizes, [publishedPieceBytes, publishedPieceBytes, publishedPieceBytes, 1]);
});

/** How much more the count is after each time that the event loop has gone on, until the work has ended. */
async function countedInRounds(work: Promise<unknown>, count: () => number): Promise<readonly number[]> {
  const ending = work.then(() => true);
  const counted: number[] = [];
  for (let hasEnded = false; !hasEnded;) {
    const before = count();
    hasEnded = await Promise.race([ending, nextRound(false)]);
    counted.push(count() - before);
  }
  return counted;
}

test("readers who take all that they are given share rounds of a fifth of roundMs, and the event loop goes on between them", async (t) => {
  let nowMs = 0;
  t.mock.method(performance, "now", () => (nowMs += roundMs / 20));
  const document = publish("x".repeat(publishedPieceBytes * 20), "text/plain");
  const request: Partial<HttpRequest> = { header: () => null };
  let pieces = 0;
  const read = async (): Promise<void> => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the member that is asked for
    const { body } = await document.answer(request as HttpRequest);
    for await (const _ of body ?? []) pieces += 1;
  };
  const inRound = await countedInRounds(Promise.all([read(), read(), read()]), () => pieces);
  assert.equal(pieces, 60);
  // One reader's document was sent whole before the next one's, in one round.
  assert.ok(Math.max(...inRound) <= 8, inRound.join(" "));
});

test("pieces of files that have arrived share rounds of a fifth of roundMs, and the event loop goes on between them", async (t) => {
  let nowMs = 0;
  t.mock.method(performance, "now", () => (nowMs += roundMs / 20));
  const bodies = new BodyBudget();
  let pieces = 0;
  const read = async (): Promise<void> => {
    const arrived = new ReadableStream({
      start(controller) {
        for (let count = 0; count < 20; count += 1) controller.enqueue(new Uint8Array([10]));
        controller.close();
      },
    });
    const web = () => new Request("http://x/", { method: "POST", body: arrived, duplex: "half" });
    const request: Partial<HttpRequest> = { header: () => null, web };
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the members that are asked for
    const body = new RequestBody(request as HttpRequest, bodies);
    for await (const _ of body.pieces(unauthenticated, 1)) pieces += 1;
  };
  const inRound = await countedInRounds(Promise.all([read(), read(), read()]), () => pieces);
  assert.equal(pieces, 60);
  assert.ok(Math.max(...inRound) <= 8, inRound.join(" "));
});

test("a body in pieces of one byte is kept in one array of at most twice its length", async () => {
  const length = 100_000;
  const request: Partial<HttpRequest> = {
    header: () => null,
    async readBody(take) {
      for (let at = 0; at < length; at += 1) take(new Uint8Array([at % 251]));
    },
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the members that are asked for
  const bytes = await new RequestBody(request as HttpRequest, new BodyBudget()).whole(unauthenticated);
  assert.equal(bytes.length, length);
  assert.ok(bytes.every((byte, at) => byte === at % 251));
  assert.ok(bytes.buffer.byteLength < 2 * length, String(bytes.buffer.byteLength));
});

test("the answer of a read waits for its audit row for auditWaitMsMax, and no longer", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const waiting = { embedded: true, write: () => new Promise<never>(() => {}) };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the members that are asked for
  const rows = new AuditRows(waiting as never, noTrail, () => {});
  let mayLeave = false;
  void rows.add("shop", auditEntry()).then(() => (mayLeave = true));
  t.mock.timers.tick(auditWaitMsMax - 1);
  await nextRound();
  assert.equal(mayLeave, false);
  t.mock.timers.tick(1);
  await nextRound();
  assert.equal(mayLeave, true);
});

test("a path is shown with at most pathLengthMax characters", () => {
  assert.equal(shownPath(`/${"x".repeat(4 * pathLengthMax)}`).length, pathLengthMax);
  assert.equal(shownPath("/x"), "/x");
});

test("an address that has failed too often may fail once more after each signInFailureMs", () => {
  let nowMs = 1_000;
  const attempts = new Attempts({ now: () => nowMs }, signInsOfAddress);
  for (let count = 0; count < signInFailuresMax; count += 1) attempts.count("a");
  nowMs += signInFailureMs - 1;
  assert.throws(() => attempts.admit("a"), { code: "RATE_LIMITED" });
  nowMs += 1;
  attempts.admit("a");
  attempts.count("a");
  assert.throws(() => attempts.admit("a"), { code: "RATE_LIMITED" });
});

test("of the files that a process may have open, built-in storefronts take an eighth and sandboxesOpenMax at most", () => {
  assert.deepEqual(openFilesMax(3_200, 2_048), { shops: 400, sandboxes: 100 });
  assert.equal(openFilesMax(10_000_000, 2_048).sandboxes, sandboxesOpenMax);
});

/** A transaction whose every statement has these rows. */
const withRows = (rows: readonly object[]): Tx => ({
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the rows of the one statement that is asked
  all: <R>() => Promise.resolve(rows as R[]),
  batch: () => Promise.resolve(),
});

test("secrets are remembered of shops with at most credentialsKnownPerShopMax, of all shops at most credentialsKnownMax", async () => {
  const known = new KnownCredentials();
  const secrets = (count: number): Tx =>
    withRows(Array.from({ length: count }, (_, index) => ({ prefix: String(index).padStart(16, "0") })));
  await known.learn(secrets(credentialsKnownPerShopMax + 1), "large");
  assert.equal(known.has("large"), false);
  const shops = Math.floor(credentialsKnownMax / (credentialsKnownPerShopMax + 1));
  for (let index = 0; index < shops; index += 1)
    await known.learn(secrets(credentialsKnownPerShopMax), `shop ${index}`);
  assert.equal(known.has("shop 0"), true);
  await known.learn(secrets(credentialsKnownPerShopMax), "one more");
  assert.deepEqual([known.has("shop 0"), known.has("shop 1"), known.has("one more")], [false, true, true]);
});

test("a shop that has held the loop for loopFreeMs begins its next step at once, and owes loopDebtMsMax at most", async () => {
  let nowMs = 0;
  const rounds: (() => void)[] = [];
  const timers: number[] = [];
  const loop = new LoopShare({
    now: () => nowMs,
    nextRound: (callback) => void rounds.push(callback),
    after: (ms) => void timers.push(ms),
  });
  const goOn = (): void => {
    for (let count = 0; count < 4; count += 1) for (const callback of rounds.splice(0)) callback();
  };
  const hold = (ms: number): void => loop.run("a", () => void (nowMs += ms));
  loop.admit("b");
  hold(loopFreeMs);
  goOn();
  assert.equal(loop.waitForShare("a"), null);
  hold(100 * loopDebtMsMax);
  goOn();
  assert.notEqual(loop.waitForShare("a"), null);
  goOn();
  assert.deepEqual(timers, [loopDebtMsMax - loopFreeMs]);
});

test("a shop's queue takes a thousand writes, and refuses what has waited for ten seconds", async () => {
  const clock = { nowMs: 1_000, now: () => clock.nowMs };
  const refused: number[] = [];
  const first = Promise.withResolvers<number>();
  const queue = new ShopQueue<{ readonly refuse: () => void }>({
    limits: defaultQueueLimits,
    groupLengthMax: 1,
    elapsedMs: clock.now,
    turn: () => first.promise,
  });
  const add = (name: number): void => queue.add({ refuse: () => void refused.push(name) });
  const { lengthMax, waitMsMax } = defaultQueueLimits;
  assert.deepEqual([lengthMax, waitMsMax], [1_000, 10_000]);
  for (let name = 0; name < lengthMax; name += 1) add(name);
  assert.throws(() => add(-1), { code: "DO_OVERLOADED" });
  await nextRound();
  clock.nowMs += waitMsMax + 1;
  first.resolve(0);
  for (let round = 0; round < 10; round += 1) await nextRound();
  assert.equal(refused.length, lengthMax - 1, "all but the one that ran");
});

test("columns of segments are remembered up to segmentsBytesMax: then those asked for the longest time ago are read again", async () => {
  const body = `["Draft"]\n${"0".repeat(Math.ceil(segmentsBytesMax / 8) - 10)}`;
  const reads: string[] = [];
  const segment: Tx = {
    all<R>(sql: string, [shopId, name]: readonly unknown[] = []) {
      const rows = (): readonly object[] => {
        if (sql.includes("order_recent")) return [];
        if (name === "heads") return [{ body: '[[0,"",1,"stamp"]]' }];
        reads.push(String(shopId));
        return [{ created_from: 0, id_from: "", body }];
      };
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the rows of the statements of a search
      return Promise.resolve(rows() as R[]);
    },
    batch: () => Promise.resolve(),
  };
  const wanted = { columns: { status: () => true }, updated: null, words: [], articles: [] };
  let questions = 0;
  const ask = async (shopId: string): Promise<void> => {
    const key = String((questions += 1));
    const question = { key, wanted, createdFromMs: null, createdBeforeMs: null, kept: null };
    assert.equal((await findOrders(segment, shopId, () => Promise.resolve(question), null, 0)).totalCount, 1);
  };
  const shops = Array.from({ length: 8 }, (_, index) => `shop ${index}`);
  for (const shopId of [...shops, ...shops]) await ask(shopId);
  assert.deepEqual(reads, shops);
  await ask("one more");
  await ask("shop 1");
  assert.deepEqual(reads, [...shops, "one more"]);
  await ask("shop 0");
  assert.deepEqual(reads, [...shops, "one more", "shop 0"]);
});
