/**
 * The running program while calls on its files fail (S4, S6, W4): no space, errors, short writes, slow and failing syncs, switched on and off
 * under load over HTTP. A small C library stands between the program and the system (faults/interposer.c). Reads go on, writes are
 * refused with a clear message, it recovers by itself, and everything that was acknowledged is there.
 *
 * Only on sqlite: the files under PostgreSQL are the database's.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { systemClock } from "../../../src/base/time/system.ts";
import { buildInterposer, mayInterpose } from "../../faults/interposer.ts";
import { type RunningProgram, serveProgram } from "../../support/process.ts";
import { pause } from "../../support/until.ts";

const adminToken = "an-admin-token-for-tests";
const orders = "/api/v1/purchase-orders";
const writesPerFault = 12;
/** What a slow sync of the interposer takes at least. */
const slowMs = 200;
const recoveryMsMax = 60_000;
/** Of some 20 KB each; with fewer the shop's `-wal` file is moved into its database file. */
const largeWritesMax = 600;

/** What goes wrong, whether all writes are refused then, and what the refusal says. */
const faults: readonly (readonly [rule: string, refusesAll: boolean, says: RegExp])[] = [
  ["write wal ENOSPC 1000", true, /The disk that holds this shop's data is full/],
  ["write wal EIO 1000", true, /takes no more/],
  ["write wal EIO 300", false, /takes no more/],
  ["write any ENOSPC 300", false, /full/],
  ["write any short 1000", false, /./],
  ["sync any slow 1000", false, /./],
];

test("while writes fail, are short or slow, reads go on and refusals are clear; it recovers by itself and has lost nothing", async (t) => {
  if (!mayInterpose()) {
    assert.equal(process.env["CI"] ?? "", "", "needs a C compiler (cc) on Linux");
    return t.skip("NOT TESTED: there is no C compiler (cc), or this is not Linux");
  }
  const place = mkdtempSync(path.join(tmpdir(), "openpo-faults-"));
  const directory = path.join(place, "data");
  const interposer = buildInterposer(place, directory);
  const start = (): Promise<RunningProgram> =>
    serveProgram({
      OPENPO_DATA_DIR: directory,
      OPENPO_ADMIN_TOKEN: adminToken,
      OPENPO_DEMO: "0",
      ...interposer.env,
    });
  let program = await start();
  t.after(async () => {
    await program.end("SIGKILL").catch(() => {});
    rmSync(place, { recursive: true });
  });
  await program.ask("PUT", "/admin/v1/shops/one", adminToken, {
    name: "one",
    currencyCode: "EUR",
    settings: { rateLimit: { capacity: 100_000, refillPerSecond: 100_000 } },
  });
  const made = await program.ask("POST", "/admin/v1/shops/one/keys", adminToken, { name: "k", scope: "write" });
  const apiKey = String(made.at("data", "apiKey"));

  /** By key, the answer that was acknowledged. */
  const acknowledged = new Map<string, string>();
  let keys = 0;
  const refusals: string[] = [];
  const write = async (key = `key-${(keys += 1)}`): Promise<number> => {
    const lineItems = [{ variantId: "v", quantityOrdered: 1, note: key.padEnd(1_900, ".") }];
    const answer = await program.ask("POST", orders, apiKey, { lineItems }, { "Idempotency-Key": key });
    if (answer.status === 201) acknowledged.set(key, answer.text);
    else {
      assert.ok(answer.status === 503 && answer.at("error", "code") === "DO_UNAVAILABLE", answer.text);
      refusals.push(String(answer.at("error", "message")));
    }
    return answer.status;
  };
  const read = async (): Promise<number> => {
    const answer = await program.ask("GET", `${orders}?limit=1`, apiKey);
    assert.equal(answer.status, 200, answer.text);
    return Number(answer.at("data", "totalCount"));
  };
  const writesAgain = async (): Promise<void> => {
    const untilMs = systemClock.now() + recoveryMsMax;
    while ((await write()) !== 201) {
      assert.ok(systemClock.now() < untilMs, "it does not recover");
      await pause(100);
    }
  };
  const proveAll = async (): Promise<void> => {
    for (const [key, text] of acknowledged) {
      const lineItems = [{ variantId: "v", quantityOrdered: 1, note: key.padEnd(1_900, ".") }];
      const again = await program.ask("POST", orders, apiKey, { lineItems }, { "Idempotency-Key": key });
      assert.equal(again.text, text);
      assert.equal(again.headers.get("Idempotent-Replayed"), "true");
    }
    assert.equal(await read(), acknowledged.size, "what was refused is not there, what was acknowledged is");
  };
  assert.equal(await write(), 201);

  for (const [rule, refusesAll, says] of faults) {
    refusals.length = 0;
    interposer.set(rule);
    const beganMs = performance.now();
    const [statuses] = await Promise.all([
      Promise.all(Array.from({ length: writesPerFault }, () => write())),
      Promise.all(Array.from({ length: writesPerFault }, () => read())),
    ]);
    if (rule.includes(" slow ")) assert.ok(performance.now() - beganMs >= slowMs, "the sync was slow");
    if (refusesAll) assert.deepEqual([...new Set(statuses)], [503], rule);
    for (const message of refusals) assert.match(message, says, rule);
    interposer.set();
    await writesAgain();
  }
  await proveAll();

  // A sync that has failed is final: the process ends, and whoever supervises it starts it again.
  for (const rule of ["sync wal EIO 1000", "sync main EIO 1000"]) {
    interposer.set(rule);
    const failed = async (): Promise<boolean> => {
      for (let count = 0; count < largeWritesMax / writesPerFault; count += 1)
        try {
          await Promise.all(Array.from({ length: writesPerFault }, () => write()));
        } catch (error) {
          // The connections are cut.
          if (error instanceof assert.AssertionError) throw error;
          return true;
        }
      return false;
    };
    const before = acknowledged.size;
    const hasEnded = await failed();
    if (rule.startsWith("sync wal "))
      assert.equal(acknowledged.size, before, "nothing is acknowledged whose sync has failed");
    const { code, stderr } = await program.end("SIGTERM");
    assert.ok(hasEnded, `${rule}: the process goes on after a sync that failed`);
    assert.equal(code, 1);
    assert.match(stderr, /A sync to disk has failed. Nothing more is acknowledged/);
    interposer.set();
    program = await start();
    await writesAgain();
    const there = await read();
    assert.ok(there >= acknowledged.size, `${rule}: ${acknowledged.size} acknowledged, ${there} there`);
    for (const [key, text] of acknowledged) {
      const lineItems = [{ variantId: "v", quantityOrdered: 1, note: key.padEnd(1_900, ".") }];
      const again = await program.ask("POST", orders, apiKey, { lineItems }, { "Idempotency-Key": key });
      assert.equal(again.text, text, rule);
    }
  }
});
