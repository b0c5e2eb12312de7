/** What is counted by API key, address or shop is kept for a bounded number of them, those seen last (docs/limits.md). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextRound } from "node:timers/promises";
import { Guesses, guessesAtOnceMax, guessWaitMsMax } from "../../src/admin/access/guesses.ts";
import { StoreCounts } from "../../src/requests/store-counts.ts";
import { refusalKeysMax, refusalRowsPerMinuteMax, Refusals } from "../../src/requests/audit/refusals.ts";
import {
  sweepEveryRequests,
  sweepLateRequests,
  Sweeps,
  sweepShopsMax,
  sweptRowsMax,
} from "../../src/requests/write/sweeps.ts";
import {
  Attempts,
  guessersMax,
  linkGuesses,
  linkGuessesMax,
  linkGuessMs,
  linkRequestMs,
  linkRequests,
  linkRequestsMax,
  linksCountedMax,
  signInFailuresMax,
  signInsOfAddress,
} from "../../src/http/attempts.ts";
import type { Engine } from "../../src/store/store.ts";
import { auditEntry, noTrail } from "../support/audit.ts";

const log = { info: () => {}, warn: assert.fail, error: assert.fail };
const clock = { now: () => 60_000 };
const namesOf = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `other ${index}`);

/** An engine that only counts the writes of each shop. */
function countingWrites() {
  const writes = new Map<string, number>();
  const engine: Pick<Engine, "write" | "isOpen"> = {
    isOpen: () => true,
    write: (shopId, work) => {
      writes.set(shopId, (writes.get(shopId) ?? 0) + 1);
      return work({ all: () => Promise.resolve([]), batch: () => Promise.resolve() });
    },
  };
  return { engine, of: (shopId: string) => writes.get(shopId) ?? 0 };
}

test("refusals are counted for the API keys that were refused last", async () => {
  const { engine, of } = countingWrites();
  const refusals = new Refusals({ engine, auditTrail: noTrail, log, counts: new StoreCounts() });
  const entry = auditEntry({
    atMs: clock.now(),
    tag: "rest:unknown",
    keyId: "key",
    status: 404,
    errorCode: "NOT_FOUND",
  });
  for (let count = 0; count < refusalRowsPerMinuteMax + 5; count += 1) await refusals.add("shop", entry);
  assert.equal(of("shop"), refusalRowsPerMinuteMax);
  for (const keyId of namesOf(refusalKeysMax - 1)) await refusals.add("others", { ...entry, keyId });
  await refusals.add("shop", entry);
  assert.equal(of("shop"), refusalRowsPerMinuteMax, "it is still counted");
  for (const keyId of namesOf(refusalKeysMax)) await refusals.add("others again", { ...entry, keyId });
  await refusals.add("shop", entry);
  assert.equal(of("shop"), refusalRowsPerMinuteMax + 1, "its count was given up for others");
});

test("wrong admin tokens are counted for the addresses that sent one last; the right one ends the count", () => {
  const guesses = new Guesses();
  for (let guess = 1; guess <= guessesAtOnceMax; guess += 1) assert.deepEqual(guesses.wrong("a"), { guess, waitMs: 0 });
  assert.deepEqual(guesses.wrong("a"), { guess: guessesAtOnceMax + 1, waitMs: 20 });
  for (const address of namesOf(guessersMax - 1)) guesses.wrong(address);
  assert.equal(guesses.wrong("a").guess, guessesAtOnceMax + 2);
  for (let guess = 0; guess < 50; guess += 1) guesses.wrong("a");
  assert.equal(guesses.wrong("a").waitMs, guessWaitMsMax);
  guesses.right("a");
  assert.equal(guesses.wrong("a").guess, 1);
  for (const address of namesOf(guessersMax)) guesses.wrong(address);
  assert.equal(guesses.wrong("a").guess, 1, "its count was given up for others");
});

test("failed sign-ins are counted for the addresses that failed last", () => {
  const attempts = new Attempts(clock, signInsOfAddress);
  for (let failure = 0; failure < signInFailuresMax; failure += 1) attempts.count("a");
  assert.throws(() => attempts.admit("a"), { code: "RATE_LIMITED" });
  for (const address of namesOf(guessersMax - 1)) attempts.count(address);
  assert.throws(() => attempts.admit("a"), { code: "RATE_LIMITED" });
  attempts.count("one more");
  attempts.admit("a");
});

test("of a supplier's link one more request is answered each linkRequestMs, of unknown links one more each linkGuessMs", () => {
  for (const [limits, atOnceMax, everyMs] of [
    [linkRequests, linkRequestsMax, linkRequestMs],
    [linkGuesses, linkGuessesMax, linkGuessMs],
  ] as const) {
    let nowMs = 60_000;
    const attempts = new Attempts({ now: () => nowMs }, limits);
    const isAnswered = (who: string): boolean => {
      try {
        attempts.admit(who);
      } catch {
        return false;
      }
      attempts.count(who);
      return true;
    };
    const answered = (tries: number): number =>
      Array.from({ length: tries }, () => isAnswered("a")).filter((each) => each).length;
    assert.equal(answered(2 * atOnceMax), atOnceMax);
    assert.ok(isAnswered("b"), "others do not wait");
    nowMs += everyMs - 1;
    assert.equal(answered(3), 0);
    nowMs += 1;
    assert.equal(answered(3), 1);
    nowMs += 3 * everyMs;
    assert.equal(answered(9), 3);
  }
});

test("requests are counted for the linksCountedMax links that were asked for last", () => {
  const attempts = new Attempts(clock, linkRequests);
  for (let request = 0; request < linkRequestsMax; request += 1) attempts.count("a");
  for (const link of namesOf(linksCountedMax - 1)) attempts.count(link);
  assert.throws(() => attempts.admit("a"), { code: "RATE_LIMITED" });
  attempts.count("one more");
  attempts.admit("a");
});

const ids = { next: (prefix: string) => `${prefix}_1`, processName: "node_1", claimant: () => "node_1.1" };
const auditTrail = { statements: () => Promise.resolve([]) };

test("requests are counted towards a sweep for the shops that were asked last", async () => {
  const { engine, of } = countingWrites();
  const sweeps = new Sweeps({ engine, clock, log, counts: new StoreCounts(), ids, auditTrail });
  const count = (shopId: string): void => sweeps.count({ shopId, auditRetentionDays: 90 });
  count("shop");
  for (let request = 1; request < sweepEveryRequests; request += 1) count("shop");
  assert.equal(of("shop"), 1, "the first request of a shop sweeps");
  count("shop");
  assert.equal(of("shop"), 2);
  for (const shopId of namesOf(sweepShopsMax - 1)) count(shopId);
  count("shop");
  assert.equal(of("shop"), 2, "it is still counted");
  for (const shopId of namesOf(sweepShopsMax)) count(shopId);
  count("shop");
  assert.equal(of("shop"), 3, "its count was given up for others");
});

test("a sweep that would have to open a file waits for sweepLateRequests requests, or until the file is open", async () => {
  let isOpen = false;
  const { engine, of } = countingWrites();
  const sweeps = new Sweeps({
    engine: { ...engine, isOpen: () => isOpen },
    clock,
    log,
    counts: new StoreCounts(),
    ids,
    auditTrail,
  });
  const count = (shopId: string, times: number): void => {
    for (let request = 0; request < times; request += 1) sweeps.count({ shopId, auditRetentionDays: 90 });
  };
  count("shop", sweepLateRequests - sweepEveryRequests);
  assert.equal(of("shop"), 0);
  count("shop", 1);
  assert.equal(of("shop"), 1);
  count("shop", sweepLateRequests - 1);
  assert.equal(of("shop"), 1);
  isOpen = true;
  count("shop", 1);
  assert.equal(of("shop"), 2);
});

test("a late sweep deletes slice by slice, a turn each, as many as the requests have asked for", async () => {
  let slices = 0;
  const engine: Pick<Engine, "write" | "isOpen"> = {
    isOpen: () => false,
    write: (_shopId, work) => {
      slices += 1;
      const full = Array.from({ length: sweptRowsMax }, () => ({ bytes: 1 }));
      const all = <R>(): Promise<R[]> => Promise.resolve(full as unknown as R[]);
      return work({ all, batch: () => Promise.resolve() });
    },
  };
  const sweeps = new Sweeps({ engine, clock, log, counts: new StoreCounts(), ids, auditTrail });
  for (let request = 0; request < sweepLateRequests; request += 1)
    sweeps.count({ shopId: "shop", auditRetentionDays: 0 });
  for (let round = 0; round < 200; round += 1) await nextRound();
  assert.equal(slices, sweepLateRequests / sweepEveryRequests);
});
