/**
 * Starts the program on a data directory: the files that it keeps there, and what it refuses.
 *
 * Only on sqlite: the tests read the files of a data directory; with a database there are none.
 */
import assert from "node:assert/strict";
import { chmod, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { keepPrivate } from "../../src/service/private-files.ts";
import { type RunningProgram, runProgram, serveProgram, withDirectory } from "../support/process.ts";

test("without a demo shop the first start prints the admin token and creates nothing else", async () => {
  await withDirectory(async (directory) => {
    const program = await serveProgram({ OPENPO_DATA_DIR: directory, OPENPO_DEMO: "0" });
    const token = program.word("admin token");
    assert.equal((await readFile(path.join(directory, "admin-token"), "utf8")).trim(), token);
    assert.equal((await program.ask("GET", "/admin/v1/shops", token)).at("data", "totalCount"), 0);
    await program.end("SIGTERM");
    // Only the first start creates the demo shop.
    const again = await serveProgram({ OPENPO_DATA_DIR: directory, OPENPO_DEMO: "1" });
    assert.equal((await again.ask("GET", "/admin/v1/shops", token)).at("data", "totalCount"), 0);
    await again.end("SIGTERM");
  });
});

/** What users other than the owner may do with something in the directory, by path below it; nothing is left out. */
async function openToOthers(directory: string): Promise<readonly string[]> {
  const names = [".", ...(await readdir(directory, { recursive: true }))];
  const modes = await Promise.all(
    names.map(async (name) => [name, (await stat(path.join(directory, name))).mode & 0o077] as const),
  );
  return modes.flatMap(([name, mode]) => (mode === 0 ? [] : [name]));
}

const makeShop = async (program: RunningProgram): Promise<void> => {
  const shop = { name: "One", currencyCode: "EUR" };
  assert.equal((await program.ask("PUT", "/admin/v1/shops/one", program.adminToken, shop)).status, 201);
};

test("only the owner can read the data directory and everything in it", async () => {
  await withDirectory(async (directory) => {
    const dataDir = path.join(directory, "data");
    const program = await serveProgram({ OPENPO_DATA_DIR: dataDir, OPENPO_DEMO: "0" });
    await makeShop(program);
    const files = await readdir(dataDir, { recursive: true });
    for (const file of ["shops/one.db", "shops/one.db-wal", "lock.db", "admin-token", "server.json", "format"])
      assert.ok(files.includes(file), file);
    assert.deepEqual(await openToOthers(dataDir), []);
    await program.end("SIGTERM");
  });
});

test("a data directory that others could read is made private at the next start; other files beside it are a reason for a warning", async () => {
  await withDirectory(async (directory) => {
    const dataDir = path.join(directory, "data");
    const env = { OPENPO_DATA_DIR: dataDir, OPENPO_DEMO: "0" };
    const first = await serveProgram(env);
    await makeShop(first);
    await first.end("SIGTERM");
    for (const name of [".", ...(await readdir(dataDir, { recursive: true }))]) {
      const place = path.join(dataDir, name);
      await chmod(place, (await stat(place)).isDirectory() ? 0o755 : 0o644);
    }
    assert.ok((await openToOthers(dataDir)).length > 6);
    const second = await serveProgram(env);
    assert.deepEqual(await openToOthers(dataDir), []);
    assert.equal((await second.end("SIGTERM")).stderr.includes("private"), false);

    await chmod(dataDir, 0o755);
    await chmod(path.join(dataDir, "shops/one.db"), 0o644);
    await writeFile(path.join(dataDir, "notes.txt"), "not ours", { mode: 0o644 });
    const third = await serveProgram(env);
    assert.deepEqual(await openToOthers(dataDir), [".", "notes.txt"]);
    assert.match((await third.end("SIGTERM")).stderr, /holds other files too \(notes\.txt\), so its mode stays/);
  });
});

test("what cannot be made private is told with the reason", () => {
  // The kernel refuses to change these modes, whoever asks.
  assert.match(keepPrivate("/proc/self/task") ?? "", /EPERM/);
  assert.match(keepPrivate("/no/such/place") ?? "", /ENOENT/);
});

test("a first start syncs every folder in which it makes something, before it serves (S4)", async () => {
  await withDirectory(async (directory) => {
    const record = path.join(directory, "synced");
    const recorder = path.join(directory, "recorder.mjs");
    await writeFile(
      recorder,
      `import fs from "node:fs";
       import { syncBuiltinESMExports } from "node:module";
       const { openSync, fsyncSync } = fs;
       const opened = new Map();
       fs.openSync = (name, ...rest) => {
         const descriptor = openSync(name, ...rest);
         opened.set(descriptor, String(name));
         return descriptor;
       };
       fs.fsyncSync = (descriptor) => {
         fsyncSync(descriptor);
         fs.appendFileSync(${JSON.stringify(record)}, opened.get(descriptor) + "\\n");
       };
       syncBuiltinESMExports();`,
    );
    const dataDir = path.join(directory, "new/deep/data");
    const env = { OPENPO_DATA_DIR: dataDir, OPENPO_DEMO: "0", NODE_OPTIONS: `--import=${recorder}` };
    const program = await serveProgram(env);
    const synced = new Set((await readFile(record, "utf8")).split("\n"));
    for (const folder of [".", "new", "new/deep", "new/deep/data"])
      assert.ok(synced.has(path.join(directory, folder)), `${folder}: ${[...synced].join(" ")}`);
    await makeShop(program);
    const later = new Set((await readFile(record, "utf8")).split("\n"));
    assert.ok(later.has(path.join(dataDir, "shops")));
    await program.end("SIGTERM");
  });
});

test("ids go on in order when the machine's clock is set back between two starts", async () => {
  await withDirectory(async (directory) => {
    const settings = { OPENPO_DATA_DIR: directory, OPENPO_DEMO: "0" };
    const beforeMs = Date.now();
    const first = await serveProgram(settings);
    const token = first.word("admin token");
    const shop = { name: "One", currencyCode: "EUR" };
    await first.ask("PUT", "/admin/v1/shops/one", token, shop);
    const make = async (program: typeof first): Promise<string> => {
      const made = await program.ask("POST", "/admin/v1/shops/one/keys", token, { name: "k", scope: "read" });
      return String(made.at("data", "keyId"));
    };
    await first.end("SIGTERM");
    // The first process is taken to have run an hour ahead of the clock that the second one finds.
    const reached = Number(await readFile(path.join(directory, "time"), "utf8"));
    assert.ok(reached >= beforeMs && reached <= Date.now(), String(reached));
    await writeFile(path.join(directory, "time"), `${reached + 3_600_000}\n`);
    const second = await serveProgram(settings);
    const made = await make(second);
    await second.end("SIGTERM");
    const third = await serveProgram(settings);
    assert.ok((await make(third)) > made);
    await third.end("SIGTERM");
    assert.ok(Number(await readFile(path.join(directory, "time"), "utf8")) >= reached + 3_600_000);
  });
});

test("the time that was reached is kept from the first moment: a process that is killed at once has lost none of it", async () => {
  await withDirectory(async (directory) => {
    const settings = { OPENPO_DATA_DIR: directory, OPENPO_DEMO: "0" };
    const beforeMs = Date.now();
    const first = await serveProgram(settings);
    await first.end("SIGKILL");
    const reached = Number(await readFile(path.join(directory, "time"), "utf8"));
    assert.ok(reached >= beforeMs && reached <= Date.now(), String(reached));
    await writeFile(path.join(directory, "time"), `${reached + 3_600_000}\n`);
    const second = await serveProgram(settings);
    await second.end("SIGKILL");
    assert.ok(Number(await readFile(path.join(directory, "time"), "utf8")) >= reached + 3_600_000);
  });
});

test("a configured admin token is the only valid one, and is not stored", async () => {
  await withDirectory(async (directory) => {
    const adminToken = "configured-token-of-mine";
    const program = await serveProgram({
      OPENPO_DATA_DIR: directory,
      OPENPO_ADMIN_TOKEN: adminToken,
      OPENPO_DEMO: "0",
    });
    assert.equal((await program.ask("GET", "/admin/v1/shops", adminToken)).status, 200);
    assert.ok(!program.stdout.includes(adminToken));
    assert.ok(!(await readdir(directory)).includes("admin-token"));
    await program.end("SIGTERM");
  });
});

test("a directory that cannot be used stops the start with a one-line message and status 1", async () => {
  await withDirectory(async (directory) => {
    const file = path.join(directory, "file");
    await writeFile(file, "");
    const other = path.join(directory, "other");
    const running = await serveProgram({ OPENPO_DATA_DIR: other, OPENPO_DEMO: "0" });
    const newer = path.join(directory, "newer");
    await (await serveProgram({ OPENPO_DATA_DIR: newer, OPENPO_DEMO: "0" })).end("SIGTERM");
    await writeFile(path.join(newer, "format"), "2\n");
    const blocked = path.join(directory, "blocked");
    await mkdir(path.join(blocked, "admin-token.unfinished", "x"), { recursive: true });
    const cases: readonly (readonly [string, RegExp])[] = [
      [path.join(file, "data"), /^openpo: OPENPO_DATA_DIR: the data directory .* cannot be created/],
      [other, /^openpo: Another OpenPO process is using the data directory/],
      [newer, /^openpo: OPENPO_DATA_DIR: .* is in format "2"/],
      [blocked, /^openpo: OPENPO_DATA_DIR: .*admin-token cannot be written: /],
    ];
    for (const [dataDir, message] of cases) {
      const { code, stderr } = await runProgram([], { OPENPO_DEMO: "0", OPENPO_DATA_DIR: dataDir });
      assert.equal(code, 1, stderr);
      assert.match(stderr, message);
      assert.equal(stderr.trim().split("\n").length, 1, stderr);
    }
    assert.equal((await running.end("SIGTERM")).code, 0);
  });
});

test("a corrupt shop file makes only that shop unavailable, and the log names it", async () => {
  await withDirectory(async (directory) => {
    const env = { OPENPO_DATA_DIR: directory, OPENPO_ADMIN_TOKEN: "an-admin-token-for-tests", OPENPO_DEMO: "0" };
    const token = env.OPENPO_ADMIN_TOKEN;
    const program = await serveProgram(env);
    const keys: Record<string, string> = {};
    for (const shopId of ["good", "bad"]) {
      await program.ask("PUT", `/admin/v1/shops/${shopId}`, token, { name: shopId });
      const key = await program.ask("POST", `/admin/v1/shops/${shopId}/keys`, token, { name: "k", scope: "write" });
      keys[shopId] = String(key.at("data", "apiKey"));
    }
    await program.end("SIGTERM");
    await writeFile(path.join(directory, "shops", "bad.db"), Buffer.alloc(8192, 0x5a));
    const again = await serveProgram(env);
    assert.equal((await again.ask("POST", "/api/v1/purchase-orders", keys["good"] ?? "", {})).status, 201);
    const refused = await again.ask("POST", "/api/v1/purchase-orders", keys["bad"] ?? "", {});
    assert.equal(refused.status, 503);
    assert.equal(refused.at("error", "code"), "DO_UNAVAILABLE");
    const list = await again.ask("GET", "/admin/v1/shops", token);
    assert.equal(list.at("data", "shops", 0, "shopId"), "bad");
    assert.equal(typeof list.at("data", "shops", 0, "unavailable"), "string");
    assert.equal(list.at("data", "shops", 1, "counts", "purchaseOrders"), 1);
    const { stderr, code } = await again.end("SIGTERM");
    assert.equal(code, 0);
    assert.match(stderr, /"shopId":"bad"/);
  });
});
