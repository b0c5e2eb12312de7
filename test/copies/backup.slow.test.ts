/**
 * Backup and restore (B1–B3), with the real command.
 *
 * Only on sqlite: a backup copies the files of a data directory; a database has backups of its own.
 */
import assert from "node:assert/strict";
import { mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { type RunningProgram, runCommand, runProgram, serveProgram, withDirectory } from "../support/process.ts";
import { until } from "../support/until.ts";

const token = "an-admin-token-for-tests";
const shopIds = ["demo", "other"] as const;

interface Place {
  readonly directory: string;
  readonly data: string;
  readonly openpo: (...args: readonly string[]) => ReturnType<typeof runCommand>;
  readonly serve: () => Promise<RunningProgram>;
}

/** Two shops: the demo shop, and one of no use for its sandbox yet. */
const withShops = (use: (place: Place) => Promise<void>): Promise<void> =>
  withDirectory(async (directory) => {
    const data = path.join(directory, "data");
    const place: Place = {
      directory,
      data,
      openpo: (...args) => runCommand(args, { OPENPO_DATA_DIR: data, PORT: "9" }),
      serve: () => serveProgram({ OPENPO_DATA_DIR: data, OPENPO_ADMIN_TOKEN: token, OPENPO_DEMO: "0" }),
    };
    assert.equal((await place.openpo("demo")).code, 0);
    assert.equal((await place.openpo("shop", "create", "other")).code, 0);
    await use(place);
  });

async function exports(dataDir: string): Promise<readonly string[]> {
  const texts: string[] = [];
  for (const shopId of shopIds) {
    const { code, stdout, stderr } = await runCommand(["export", "--shop", shopId], { OPENPO_DATA_DIR: dataDir });
    assert.equal(code, 0, stderr);
    texts.push(stdout);
  }
  return texts;
}

test("a backup of a stopped directory restores to the same exports", async () => {
  await withShops(async ({ directory, data, openpo }) => {
    const backup = path.join(directory, "backup");
    const made = await openpo("backup", backup, "--json");
    assert.equal(made.code, 0, made.stderr);
    const said: { shops: string[]; bytes: number } = JSON.parse(made.stdout);
    assert.deepEqual(said.shops, [...shopIds]);
    assert.ok(said.bytes > 0);
    assert.equal((await stat(backup)).mode & 0o777, 0o700, "for its owner alone");
    assert.deepEqual(await readdir(path.join(backup, "shops")), ["demo.db", "other.db"], "no file of a copy is left");
    const before = await exports(data);
    const restored = path.join(directory, "restored");
    const { code, stdout, stderr } = await openpo("restore", backup, "--data-dir", restored, "--json");
    assert.equal(code, 0, stderr);
    assert.deepEqual(JSON.parse(stdout), { dataDir: restored, shops: [...shopIds], adminToken: false });
    assert.deepEqual(await exports(restored), before);
    assert.deepEqual(await exports(backup), before, "a backup can be served as it is");
    const entries = ["format", "journal", "lock.db", "sandbox", "shops", "time", "versions"];
    assert.deepEqual((await readdir(restored)).sort(), entries);
  });
});

test("a backup beside a running server holds what was acknowledged before it began, while writes go on", async () => {
  await withShops(async ({ directory, data, serve }) => {
    const program = await serve();
    const key = await program.ask("POST", "/admin/v1/shops/demo/keys", token, { name: "k", scope: "write" });
    const apiKey = String(key.at("data", "apiKey"));
    await program.ask("PUT", "/admin/v1/shops/demo", token, {
      name: "Demo",
      settings: { rateLimit: { capacity: 100_000, refillPerSecond: 100_000 } },
    });
    const acknowledged: string[] = [];
    const over = new AbortController();
    const writing = (async () => {
      while (!over.signal.aborted) {
        const made = await program.ask("POST", "/api/v1/purchase-orders", apiKey, { poName: "during" });
        assert.equal(made.status, 201, made.text);
        acknowledged.push(String(made.at("data", "purchaseOrder", "purchaseOrderId")));
      }
    })();
    await until("20 are acknowledged", () => acknowledged.length >= 20);
    const before = acknowledged.length;
    const backup = path.join(directory, "backup");
    const { code, stderr } = await runCommand(["backup", backup], {
      OPENPO_DATA_DIR: data,
      OPENPO_ADMIN_TOKEN: token,
      PORT: new URL(program.url).port,
    });
    over.abort();
    await writing;
    assert.equal(code, 0, stderr);
    assert.match(stderr, /^Asking the server at /m);
    assert.deepEqual(await readdir(path.join(data, "snapshots")), []);
    await program.end("SIGKILL");
    const restored = path.join(directory, "restored");
    assert.equal((await runCommand(["restore", backup], { OPENPO_DATA_DIR: restored })).code, 0);
    const [text = ""] = await exports(restored);
    for (const id of acknowledged.slice(0, before)) assert.ok(text.includes(id), `${id} was acknowledged before`);
    // The key of before is the key of after.
    const again = await serveProgram({ OPENPO_DATA_DIR: restored, OPENPO_ADMIN_TOKEN: token });
    assert.equal((await again.ask("GET", `/api/v1/purchase-orders/${acknowledged[0]}`, apiKey)).status, 200);
    await again.end("SIGTERM");
  });
});

test("a restore refuses a directory with something in it, and one that a server has", async () => {
  await withShops(async ({ directory, data, openpo, serve }) => {
    const backup = path.join(directory, "backup");
    assert.equal((await openpo("backup", backup)).code, 0);
    assert.equal((await openpo("shop", "create", "later")).code, 0);
    const refused = await openpo("restore", backup);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /data is not empty\.\n {2}Add --force/);
    const program = await serve();
    const running = await openpo("restore", backup, "--force");
    assert.equal(running.code, 1);
    assert.match(running.stderr, /Another OpenPO process is using/);
    await program.end("SIGTERM");
    assert.ok((await readdir(path.join(data, "shops"))).includes("later.db"), "nothing was lost so far");
    assert.equal((await openpo("restore", backup, "--force")).code, 0);
    assert.deepEqual(await readdir(path.join(data, "shops")), ["demo.db", "other.db"]);
  });
});

test("what is damaged, unfinished or no backup is refused, and the data directory stays as it was", async () => {
  await withShops(async ({ directory, data, openpo }) => {
    const backup = path.join(directory, "backup");
    assert.equal((await openpo("backup", backup)).code, 0);
    const before = await exports(data);
    const again = await openpo("backup", backup);
    assert.equal(again.code, 1);
    assert.match(again.stderr, /backup is not empty/);
    const file = path.join(backup, "shops", "demo.db");
    const bytes = await readFile(file);
    await writeFile(file, Buffer.concat([bytes.subarray(0, 8192), Buffer.alloc(bytes.length - 8192, 0x5a)]));
    const damaged = await openpo("restore", backup, "--force");
    assert.equal(damaged.code, 1);
    assert.match(damaged.stderr, /demo\.db is damaged/);
    await writeFile(file, bytes);
    await rm(path.join(backup, "format"));
    const unfinished = await openpo("restore", backup, "--force");
    assert.equal(unfinished.code, 1);
    assert.match(unfinished.stderr, /is no backup, or an unfinished one/);
    assert.equal((await openpo("restore", data, "--force")).code, 1);
    assert.deepEqual(await exports(data), before);
    // A shop that cannot be read makes no backup, and the rest of one is not taken for it.
    await writeFile(path.join(data, "shops", "other.db"), Buffer.alloc(8192, 0x5a));
    const partial = path.join(directory, "partial");
    const without = await openpo("backup", partial);
    assert.equal(without.code, 1);
    assert.match(without.stderr, /shop other: /);
    assert.ok(!(await readdir(partial)).includes("format"));
  });
});

test("a start after an interrupted restore is not a first start", async () => {
  await withDirectory(async (directory) => {
    await mkdir(path.join(directory, "restoring"));
    const { code, stderr } = await runProgram(["serve"], { OPENPO_DATA_DIR: directory });
    assert.equal(code, 1);
    assert.match(stderr, /a restore into \S+ was interrupted/);
  });
});

test("a backup has no admin token: restored, the directory keeps its own, and a server on a copy makes another", async () => {
  await withDirectory(async (directory) => {
    const data = path.join(directory, "data");
    const program = await serveProgram({ OPENPO_DATA_DIR: data, OPENPO_DEMO: "0" });
    const live = program.adminToken;
    const env = { OPENPO_DATA_DIR: data, PORT: new URL(program.url).port };
    const [backup, followed] = [path.join(directory, "backup"), path.join(directory, "followed")];
    assert.equal((await runCommand(["backup", backup], env)).code, 0);
    const look = async (): Promise<void> =>
      assert.equal((await runCommand(["backup", followed, "--follow", "--once"], env)).code, 0);
    await look();
    // A program of before has copied it there.
    await writeFile(path.join(followed, "admin-token"), `${live}\n`);
    await look();
    await program.end("SIGTERM");
    for (const copy of [backup, followed])
      for (const name of await readdir(copy, { recursive: true, withFileTypes: true }))
        if (name.isFile()) {
          const bytes = await readFile(path.join(name.parentPath, name.name));
          assert.ok(!bytes.includes(live), `${name.name} has the admin token`);
        }

    assert.equal((await runCommand(["restore", backup, "--force"], env)).code, 0);
    const again = await serveProgram({ OPENPO_DATA_DIR: data, OPENPO_DEMO: "0" });
    assert.equal((await again.ask("GET", "/admin/v1/shops", live)).status, 200);
    await again.end("SIGTERM");

    const elsewhere = path.join(directory, "elsewhere");
    // A copy of a stopped directory has the token of that one.
    await writeFile(path.join(backup, "admin-token"), `${live}\n`);
    assert.match((await runCommand(["restore", backup, "--data-dir", elsewhere], {})).stdout, /prints the admin token/);
    const other = await serveProgram({ OPENPO_DATA_DIR: elsewhere, OPENPO_DEMO: "0" });
    assert.notEqual(other.adminToken, live);
    assert.equal((await other.ask("GET", "/admin/v1/shops", other.adminToken)).status, 200);
    assert.equal((await other.ask("GET", "/admin/v1/shops", live)).status, 401);
    await other.end("SIGTERM");
  });
});

test("a backup with a file of a newer version is refused, and nothing is restored", async () => {
  await withShops(async ({ directory, openpo }) => {
    const backup = path.join(directory, "backup");
    assert.equal((await openpo("backup", backup)).code, 0);
    const newer = new DatabaseSync(path.join(backup, "shops", "other.db"));
    newer.exec("pragma user_version = 9999");
    newer.close();
    const target = path.join(directory, "target");
    const { code, stderr } = await openpo("restore", backup, "--data-dir", target);
    assert.equal(code, 1);
    assert.match(
      stderr,
      /other\.db was written by a newer version of OpenPO: its schema is 9999, and OpenPO \S+ knows \d+\./,
    );
    assert.ok(!(await readdir(target)).includes("format"));
  });
});
