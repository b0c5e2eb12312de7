/**
 * The restore drill: a disk is lost under load, everything comes back from a followed backup, and one shop goes back beside the others. It tells how long that takes and
 * what is lost at most, and holds what is promised of it (B5, D384). `npm run drill` does it with many shops.
 *
 * `OPENPO_DRILL_SHOPS`, `OPENPO_DRILL_ORDERS` (of each shop), `OPENPO_DRILL_EVERY` (seconds between two looks).
 *
 * Only on sqlite: a database has backups of its own.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { ndjson } from "../support/admin.ts";
import { backupRecords } from "../support/shops/backup-records.ts";
import { type RunningProgram, runProgram, serveProgram, withDirectory } from "../support/process.ts";
import { startProgram } from "../support/programs/program.ts";
import { adminToken, keyOf } from "../support/shops/restored-shop.ts";
import { directoryBytes } from "../support/engine/sizes.ts";
import { pause, until } from "../support/until.ts";

/** How long many shops may take to be copied. */
const firstCopyMsMax = 600_000;
const shopCount = Number(process.env["OPENPO_DRILL_SHOPS"] ?? 3);
const orderCount = Number(process.env["OPENPO_DRILL_ORDERS"] ?? 50);
const everySeconds = Number(process.env["OPENPO_DRILL_EVERY"] ?? 1);
/** Shops that are written to. */
const busyCount = Math.min(shopCount, 10);

const shopIds = Array.from({ length: shopCount }, (_, index) => `shop-${String(index).padStart(5, "0")}`);

interface Acknowledged {
  readonly shopId: string;
  readonly id: string;
  readonly atMs: number;
}

async function make(program: RunningProgram, shopId: string): Promise<void> {
  const settings = { rateLimit: { capacity: 100_000, refillPerSecond: 100_000 } };
  const made = await program.ask("PUT", `/admin/v1/shops/${shopId}`, adminToken, { name: shopId, settings });
  assert.equal(made.status, 201, made.text);
  const imported = await program.ask(
    "POST",
    `/admin/v1/shops/${shopId}/import`,
    adminToken,
    ndjson(backupRecords(orderCount)),
  );
  assert.equal(imported.status, 200, imported.text);
}

/** Makes an order in each busy shop, one after another, until the signal. */
async function load(
  program: RunningProgram,
  keys: ReadonlyMap<string, string>,
  acknowledged: Acknowledged[],
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted)
    for (const [shopId, key] of keys) {
      const made = await program.ask("POST", "/api/v1/purchase-orders", key, { poName: "during" }).catch(() => null);
      if (made?.status === 201)
        acknowledged.push({
          shopId,
          id: String(made.at("data", "purchaseOrder", "purchaseOrderId")),
          atMs: Date.now(),
        });
      await pause(5);
    }
}

async function copiedUntil(directory: string): Promise<number> {
  try {
    const { copiedUntilMs }: { readonly copiedUntilMs: number } = JSON.parse(
      await readFile(path.join(directory, "state.json"), "utf8"),
    );
    return copiedUntilMs;
  } catch {
    return 0;
  }
}

/** The most memory that a process has had; null where the system does not tell. */
function memoryMbMax(pid: number | undefined): number | null {
  try {
    const [, kilobytes = ""] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return Math.round(Number(kilobytes) / 1_024);
  } catch {
    return null;
  }
}

test("the disk is lost under load, and the shops come back as of the last look", async (t) => {
  await withDirectory(async (directory) => {
    const data = path.join(directory, "data");
    const followed = path.join(directory, "followed");
    const env = { OPENPO_DATA_DIR: data, OPENPO_ADMIN_TOKEN: adminToken, OPENPO_DEMO: "0" };
    const tell = (what: string, since: number): void =>
      t.diagnostic(`${what}: ${((performance.now() - since) / 1_000).toFixed(2)} s`);
    let program = await serveProgram(env);
    for (const shopId of shopIds) await make(program, shopId);
    const keys = new Map<string, string>();
    for (const shopId of shopIds.slice(0, busyCount)) keys.set(shopId, (await keyOf(program, shopId, "drill")).apiKey);
    t.diagnostic(`${shopCount} shops of ${orderCount} orders, ${(await directoryBytes(data)) >> 20} MB`);

    let at = performance.now();
    const follower = startProgram(["backup", followed, "--follow", "--every", String(everySeconds)], env);
    await until("all is copied", async () => (await copiedUntil(followed)) > 0, firstCopyMsMax);
    tell("first look", at);
    t.diagnostic(`memory of the follower, at most: ${memoryMbMax(follower.child.pid)} MB`);
    const acknowledged: Acknowledged[] = [];
    const over = new AbortController();
    const working = load(program, keys, acknowledged, over.signal);
    const begunMs = Date.now();
    const looks = new Set<number>();
    await until(
      "three more rounds",
      async () => {
        looks.add(await copiedUntil(followed));
        return looks.size > 3 && Date.now() - begunMs > 3_000;
      },
      firstCopyMsMax,
    );
    const [, ...times] = [...looks].sort((one, other) => one - other);
    const apart = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    t.diagnostic(`looks under load begin ${(Math.max(...apart) / 1_000).toFixed(2)} s apart at most`);

    // The disk is gone, with everything on it.
    await program.end("SIGKILL");
    const lostAtMs = Date.now();
    over.abort();
    await working;
    follower.child.kill("SIGKILL");
    await follower.finished;
    await rm(data, { recursive: true });
    at = performance.now();
    const restored = await runProgram(["restore", followed], env);
    assert.equal(restored.code, 0, restored.stderr);
    tell("restore of all shops", at);
    program = await serveProgram(env);
    tell("the same until it serves again", at);
    const untilMs = await copiedUntil(followed);
    const missing: Acknowledged[] = [];
    for (const each of acknowledged) {
      const read = await program.ask("GET", `/api/v1/purchase-orders/${each.id}`, keys.get(each.shopId) ?? "");
      if (read.status !== 200) missing.push(each);
    }
    assert.deepEqual(
      missing.filter(({ atMs }) => atMs < untilMs),
      [],
      "acknowledged before the last look",
    );
    t.diagnostic(
      `lost: ${missing.length} of ${acknowledged.length} orders, the last ${((lostAtMs - untilMs) / 1_000).toFixed(2)} s`,
    );

    // One shop, beside the others.
    const backup = path.join(directory, "backup");
    assert.equal((await runProgram(["backup", backup], env)).code, 0);
    const [[first, key] = ["", ""]] = [...keys];
    const [, [, otherKey] = ["", key]] = [...keys];
    let longestMs = 0;
    let others = 0;
    let refusedSince: number | null = null;
    const watching = new AbortController();
    const watch = (async () => {
      while (!watching.signal.aborted) {
        const { status } = await program.ask("GET", "/api/v1/purchase-orders?limit=1", key);
        if (status === 503) refusedSince ??= performance.now();
        else if (refusedSince !== null) {
          longestMs = Math.max(longestMs, performance.now() - refusedSince);
          refusedSince = null;
        }
        const answered = await program.ask("GET", "/api/v1/purchase-orders?limit=1", otherKey);
        if (otherKey !== key) assert.equal(answered.status, 200);
        others += 1;
      }
    })();
    at = performance.now();
    const one = await runProgram(["restore", backup, "--shop", first, "--confirm", first], env);
    assert.equal(one.code, 0, one.stderr);
    tell("restore of one shop, with the command", at);
    watching.abort();
    await watch;
    assert.ok(others > 0);
    t.diagnostic(`its requests were refused for ${(longestMs / 1_000).toFixed(2)} s; others were answered`);
    await writeFile(path.join(directory, "done"), "");
    await program.end("SIGTERM");
  });
});
