/**
 * The running program while its disk is full (S4, S6, H1, D104): reads and replays go on, writes are refused, and it recovers by itself.
 * Everything that was acknowledged is there after a `kill -9` in between.
 *
 * Only on sqlite: the disk under PostgreSQL is the database's; store/postgres/full-database.pg.test.ts has what a node does then.
 */
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";
import { lockDirectory } from "../../../src/store/sqlite/directory-lock.ts";
import { type Answered, type RunningProgram, serveProgram } from "../../support/process.ts";
import { until } from "../../support/until.ts";

/** A disk that can be made full and get room again. */
interface Disk {
  readonly directory: string;
  fill(program: RunningProgram): Promise<void>;
  makeRoom(program: RunningProgram | null): void;
}

/** A small separate disk. */
function mounted(t: TestContext): Disk {
  const directory = mkdtempSync(path.join(tmpdir(), "openpo-full-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=24m", "tmpfs", directory]);
  t.after(() => {
    spawnSync("umount", [directory]);
    rmSync(directory, { recursive: true });
  });
  const filler = path.join(directory, "filler");
  return {
    directory: path.join(directory, "data"),
    async fill() {
      const file = createWriteStream(filler);
      file.on("error", () => {});
      const closed = once(file, "close");
      for (let piece = 0; piece < 24 * 256; piece += 1) file.write(Buffer.alloc(4_096));
      file.end();
      await closed.catch(() => {});
    },
    makeRoom: () => rmSync(filler),
  };
}

/** A limit of the process: no file may grow beyond 4 KB, which any user can set. A write is then refused as by a quota of the disk. */
function limited(t: TestContext): Disk {
  const directory = mkdtempSync(path.join(tmpdir(), "openpo-full-"));
  t.after(() => rmSync(directory, { recursive: true }));
  const limit = (program: RunningProgram, bytes: string): void =>
    void execFileSync("prlimit", ["--pid", String(program.pid), `--fsize=${bytes}:unlimited`]);
  return {
    directory: path.join(directory, "data"),
    fill: (program) => Promise.resolve(limit(program, "4096")),
    makeRoom: (program) => void (program !== null && limit(program, "unlimited")),
  };
}

const mayMount = (): boolean => {
  const place = mkdtempSync(path.join(tmpdir(), "openpo-mount-"));
  const done = spawnSync("mount", ["-t", "tmpfs", "tmpfs", place]).status === 0;
  if (done) spawnSync("umount", [place]);
  rmSync(place, { recursive: true });
  return done;
};

const orders = "/api/v1/purchase-orders";

/** Posts an order under a key; the note has about 20 KB, so that a disk is soon full. */
const post = async (program: RunningProgram, apiKey: string, key: string): Promise<Answered> => {
  const lineItems = Array.from({ length: 5 }, () => ({ variantId: "v", quantityOrdered: 1, note: key.repeat(500) }));
  return await program.ask("POST", orders, apiKey, { lineItems }, { "Idempotency-Key": key });
};

const orderIds = async (program: RunningProgram, apiKey: string): Promise<readonly string[]> => {
  const ids: string[] = [];
  for (let cursor = ""; ;) {
    const page = await program.ask("GET", `${orders}?limit=50${cursor}`, apiKey);
    assert.equal(page.status, 200, page.text);
    const rows = page.at("data", "purchaseOrders");
    assert.ok(Array.isArray(rows));
    for (const index of rows.keys()) ids.push(String(page.at("data", "purchaseOrders", index, "purchaseOrderId")));
    const next = page.at("data", "cursor");
    if (typeof next !== "string") return ids;
    cursor = `&cursor=${encodeURIComponent(next)}`;
  }
};

for (const [what, make, mayRun] of [
  ["a full disk", mounted, mayMount],
  ["a disk that takes no more of this process", limited, () => true],
] as const)
  test(`${what}: reads and replays go on, writes are 503, not ready; it recovers by itself and has lost nothing`, async (t) => {
    if (!mayRun()) {
      // The other disk needs no rights.
      assert.equal(process.env["CI"] ?? "", "", "needs the right to mount a small disk");
      return t.skip("NOT TESTED: this process may not mount a small disk");
    }
    const disk = make(t);
    mkdirSync(disk.directory);
    const adminToken = "an-admin-token-for-tests";
    const env = { OPENPO_DATA_DIR: disk.directory, OPENPO_ADMIN_TOKEN: adminToken, OPENPO_DEMO: "0" };
    let program = await serveProgram(env);
    t.after(() => program.end("SIGKILL").catch(() => {}));
    const apiKeys: string[] = [];
    for (const shopId of ["used", "idle"]) {
      await program.ask("PUT", `/admin/v1/shops/${shopId}`, adminToken, { name: shopId, currencyCode: "EUR" });
      const made = await program.ask("POST", `/admin/v1/shops/${shopId}/keys`, adminToken, {
        name: "k",
        scope: "write",
      });
      apiKeys.push(String(made.at("data", "apiKey")));
    }
    const [apiKey = "", idleKey = ""] = apiKeys;
    const acknowledged = new Map<string, Answered>();
    const write = async (key: string): Promise<number> => {
      const answer = await post(program, apiKey, key);
      if (answer.status === 201) acknowledged.set(key, answer);
      else assert.ok(answer.status === 503 && answer.at("error", "code") === "DO_UNAVAILABLE", answer.text);
      return answer.status;
    };
    const ready = async (): Promise<number> => (await program.ask("GET", "/readyz", "")).status;
    assert.equal(await write("before"), 201);
    assert.equal(await ready(), 200);

    const writing = (async () => {
      for (let index = 0; index < 20; index += 1) await write(`during-${index}`);
    })();
    await disk.fill(program);
    await writing;
    await until("refused", async () => (await write(`full-${acknowledged.size}`)) === 503);
    assert.equal(await ready(), 503);
    assert.equal((await program.ask("GET", "/healthz", "")).status, 200);
    for (const [key, answer] of acknowledged) {
      const again = await post(program, apiKey, key);
      assert.equal(again.text, answer.text);
      assert.equal(again.headers.get("Idempotent-Replayed"), "true");
    }
    const shown = await orderIds(program, apiKey);
    assert.equal(shown.length, acknowledged.size, "what was refused is not there");
    assert.deepEqual(await orderIds(program, idleKey), []);
    // A row may fail after its answer (D112).
    await until("each row that is missing counts", async () => {
      const { text } = await program.ask("GET", "/metrics", "");
      const missing = Number(/^openpo_audit_rows_missing_total (\d+)$/m.exec(text)?.[1]);
      return missing > acknowledged.size;
    });

    // Killed while the disk is full; the next start finds everything, reads at once and writes when there is room.
    const { stderr } = await program.end("SIGKILL");
    assert.match(stderr, /"path":"\/api\/v1\/purchase-orders".*answered without an audit row/);
    if (make === limited) disk.makeRoom(null);
    program = await serveProgram(env);
    if (make === limited) await disk.fill(program);
    assert.deepEqual(await orderIds(program, apiKey), shown);
    assert.equal(await write("still-full"), 503);
    assert.equal(await ready(), 503);

    // Stopped while the disk is full: the process ends by itself. A request may find its connection closed.
    const running = Promise.allSettled(["last-0", "last-1", "last-2"].map(write));
    assert.equal((await program.end("SIGTERM")).code, 0);
    for (const each of await running) assert.ok(each.status === "rejected" || each.value === 503);
    if (make === limited) disk.makeRoom(null);
    program = await serveProgram(env);
    if (make === limited) await disk.fill(program);
    assert.deepEqual(await orderIds(program, apiKey), shown);
    disk.makeRoom(program);
    await until("ready again", async () => (await ready()) === 200);
    assert.equal(await write("after"), 201);
    assert.equal((await orderIds(program, apiKey)).length, acknowledged.size);
    for (const [key, answer] of acknowledged) assert.equal((await post(program, apiKey, key)).text, answer.text);
    assert.equal((await program.end("SIGTERM")).code, 0);
    lockDirectory(disk.directory).release();
  });
