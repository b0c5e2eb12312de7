/** Which requests are confirmed together (requests/remembered/caller-confirmations.ts). */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { BucketReading } from "../../../src/core/access/rate-limit.ts";
import { confirmedTogetherMax, Confirmations } from "../../../src/requests/remembered/caller-confirmations.ts";
import type { Coordination, Engine, Statement } from "../../../src/store/store.ts";
import { part } from "../../support/part.ts";

const limit = { capacity: 1_000, refillPerSecond: 1 };
const when = (name: string): Statement => ({ sql: "select 1 as found where ? = ?", params: [name, name] });

/** What was asked for in one round trip: the shop, and for each statement its name and how many tokens. */
interface Trip {
  readonly shopId: string;
  readonly asked: [name: string, count: number][];
  answer(): void;
  fail(error: Error): void;
}

/** Confirmations whose round trips end when the test says so. Tokens are told as they are counted. */
function confirmations() {
  const trips: Trip[] = [];
  let counted = 0;
  const coordination: Pick<Coordination, "takeTokensWhen"> = {
    takeTokensWhen: async (_shopId, _limit, _nowMs, { when: statement, count }) => {
      trips.at(-1)?.asked.push([String(statement.params[0]), count]);
      return Array.from({ length: count }, (): BucketReading | null =>
        statement.params[0] === "changed" ? null : { remaining: (counted += 1), resetAfterMs: 0, retryAfterMs: null },
      );
    },
  };
  const engine: Pick<Engine, "peek"> = {
    peek: async (shopId, work) => {
      const { promise, resolve, reject } = Promise.withResolvers<undefined>();
      trips.push({ shopId, asked: [], answer: () => resolve(undefined), fail: reject });
      const result = await work(part({}));
      await promise;
      return result;
    },
  };
  const clock = { now: () => 0 };
  return { trips, all: new Confirmations({ engine, coordination, clock }) };
}

const soon = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

test("requests that come together have one round trip, later ones the next, and each its own token in order", async () => {
  const { trips, all } = confirmations();
  const [read, keyed, changed] = [when("read"), when("keyed"), when("changed")];
  const first = [read, read, keyed].map((each) => all.take("a", limit, each));
  await soon();
  const later = [read, changed, read, read].map((each) => all.take("a", limit, each));
  const other = all.take("b", limit, read);
  await soon();
  assert.deepEqual(
    trips.map(({ shopId, asked }) => [shopId, asked]),
    [
      [
        "a",
        [
          ["read", 2],
          ["keyed", 1],
        ],
      ],
      ["b", [["read", 1]]],
    ],
  );
  trips[1]?.answer();
  assert.equal((await other)?.remaining, 4, "another shop waits for nobody");
  assert.equal(trips.length, 2, "what came later is read later");
  trips[0]?.answer();
  const numbers = async (asked: readonly Promise<BucketReading | null>[]) =>
    (await Promise.all(asked)).map((reading) => reading?.remaining ?? null);
  assert.deepEqual(await numbers(first), [1, 2, 3]);
  await soon();
  assert.deepEqual(trips[2]?.asked, [
    ["read", 3],
    ["changed", 1],
  ]);
  trips[2]?.answer();
  assert.deepEqual(await numbers(later), [5, null, 6, 7]);
});

test("a round trip that fails is told to those who wait for it, and to nobody after them", async () => {
  const { trips, all } = confirmations();
  const read = when("read");
  const first = [all.take("a", limit, read), all.take("a", limit, read)];
  await soon();
  const later = all.take("a", limit, read);
  trips[0]?.fail(new Error("lost"));
  for (const each of first) await assert.rejects(each, /lost/);
  await soon();
  trips[1]?.answer();
  assert.notEqual(await later, null);
  const last = all.take("a", limit, read);
  await soon();
  trips[2]?.answer();
  assert.notEqual(await last, null);
  assert.equal(trips.length, 3);
});

test("confirmedTogetherMax requests have one round trip, one more the next", async () => {
  const { trips, all } = confirmations();
  const read = when("read");
  const asked = Array.from({ length: confirmedTogetherMax + 1 }, () => all.take("a", limit, read));
  await soon();
  assert.deepEqual(
    trips.map((trip) => trip.asked),
    [[["read", confirmedTogetherMax]]],
  );
  trips[0]?.answer();
  await asked[0];
  await soon();
  assert.deepEqual(trips[1]?.asked, [["read", 1]]);
  trips[1]?.answer();
  await Promise.all(asked);
});
