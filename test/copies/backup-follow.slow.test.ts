/**
 * A followed backup (B5, B6, D384), with the real command: a time is restored, what is lost at most is what was acknowledged since the last look, and what is
 * missing or damaged is named.
 *
 * Only on sqlite: a database archives its own log (database-backups.slow.test.ts).
 */
import assert from "node:assert/strict";
import { copyFile, cp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { startProgram } from "../support/programs/program.ts";
import { type RunningProgram, runCommand, serveProgram, withDirectory } from "../support/process.ts";
import { adminToken, otherShop, shopId, ShopUse } from "../support/shops/restored-shop.ts";
import { pause, until } from "../support/until.ts";

const serve = (data: string): Promise<RunningProgram> =>
  serveProgram({ OPENPO_DATA_DIR: data, OPENPO_ADMIN_TOKEN: adminToken, OPENPO_DEMO: "0" });

const openpoOn =
  (data: string) =>
  (...args: readonly string[]) =>
    runCommand(args, { OPENPO_DATA_DIR: data, OPENPO_ADMIN_TOKEN: adminToken });

async function done(running: ReturnType<typeof runCommand>): Promise<string> {
  const { code, stdout, stderr } = await running;
  assert.equal(code, 0, stderr);
  return stdout;
}

async function refused(running: ReturnType<typeof runCommand>, pattern: RegExp): Promise<void> {
  const { code, stderr } = await running;
  assert.equal(code, 1);
  assert.match(stderr, pattern);
}

const roundsIn = async (directory: string): Promise<readonly string[]> =>
  (await readdir(path.join(directory, "rounds"))).filter((name) => /^\d+\.json$/.test(name)).sort();

/** The state of the newest round, as `state.json` has it; 0 before there is one. */
async function copiedUntil(directory: string): Promise<number> {
  try {
    const state: { readonly copiedUntilMs: number } = JSON.parse(
      await readFile(path.join(directory, "state.json"), "utf8"),
    );
    return state.copiedUntilMs;
  } catch {
    return 0;
  }
}

test("any look can be restored, all shops or one; what does not change is not kept again", async () => {
  await withDirectory(async (directory) => {
    const data = path.join(directory, "data");
    const openpo = openpoOn(data);
    const followed = path.join(directory, "followed");
    const program = await serve(data);
    const shop = await ShopUse.make(program, shopId);
    await ShopUse.make(program, otherShop);
    const look = async (): Promise<string> => {
      await done(openpo("backup", followed, "--follow", "--once"));
      return new Date().toISOString();
    };
    const first = await shop.order("beans", 5);
    const times = [await look()];
    const second = await shop.order("beans", 3);
    await shop.receive(first, 5);
    times.push(await look());
    await done(openpo("shop", "delete", otherShop, "--confirm", otherShop));
    const third = await shop.order("cups", 3);
    times.push(await look());
    const pieces = await readdir(path.join(followed, "pieces", "shops", shopId));
    assert.deepEqual(
      pieces.sort().map((name) => path.extname(name)),
      [".base", ".delta", ".delta"],
    );
    const [base = 0, delta = 0] = await Promise.all(
      pieces.map(async (name) => (await stat(path.join(followed, "pieces", "shops", shopId, name))).size),
    );
    assert.ok(delta < base / 2, `${delta} of ${base}`);

    // A directory as of each time.
    for (const [index, at] of times.entries()) {
      const target = path.join(directory, `restored-${index}`);
      await done(openpo("restore", followed, "--at", at, "--data-dir", target));
      assert.deepEqual(
        (await readdir(path.join(target, "shops"))).sort(),
        index < 2 ? [`${otherShop}.db`, `${shopId}.db`] : [`${shopId}.db`],
      );
      const text = await done(runCommand(["export", "--shop", shopId], { OPENPO_DATA_DIR: target }));
      for (const [place, { id }] of [first, second, third].entries()) assert.equal(text.includes(id), place <= index);
    }
    assert.deepEqual(
      (await readdir(followed)).filter((name) => name.startsWith("assembled")),
      [],
    );

    // One shop, into the server that runs.
    await done(openpo("restore", followed, "--at", times[0] ?? "", "--shop", shopId, "--confirm", shopId));
    assert.deepEqual(await shop.standing(first), [0, 5, "partial"]);
    assert.equal((await shop.detail(third.id)).status, 404);

    await refused(
      openpo("restore", followed, "--at", "2020-01-01T00:00:00Z", "--force"),
      /has nothing from before 2020[^]*The earliest is of/,
    );

    // What is missing or damaged is named, with the time that can be had.
    const names = await roundsIn(followed);
    const broken = path.join(directory, "broken");
    const target = path.join(directory, "none");
    const breaking = async (harm: (at: string) => Promise<void>, pattern: RegExp): Promise<void> => {
      await rm(broken, { recursive: true, force: true });
      await cp(followed, broken, { recursive: true });
      await harm(broken);
      await refused(openpo("restore", broken, "--data-dir", target), pattern);
      assert.ok(!(await readdir(directory)).includes("none") || !(await readdir(target)).includes("format"));
    };
    const round = (at: string, index: number) => path.join(at, "rounds", names[index] ?? "");
    const piece = (at: string, index: number) => path.join(at, "pieces", "shops", shopId, pieces[index] ?? "");
    await breaking(
      (at) => rm(round(at, 1)),
      /rounds\/000000002\.json is missing, so nothing after it is certain\.\n {2}The latest time before it is --at \d{4}/,
    );
    await breaking((at) => rm(round(at, 0)), /rounds\/000000001\.json is missing/);
    await breaking((at) => rm(round(at, 2)), /rounds\/000000003\.json is missing/);
    await breaking(async (at) => {
      await writeFile(round(at, 0), (await readFile(round(at, 0), "utf8")).replace('"begunAtMs":1', '"begunAtMs":2'));
    }, /rounds\/000000001\.json is damaged/);
    await breaking(
      (at) => rm(piece(at, 1)),
      /tideline\/000000002\.delta is missing: shop tideline cannot be put together/,
    );
    for (const index of [0, 1, 2])
      await breaking(
        async (at) => {
          const bytes = await readFile(piece(at, index));
          bytes.writeUInt8(bytes.readUInt8(bytes.length - 100) ^ 1, bytes.length - 100);
          await writeFile(piece(at, index), bytes);
        },
        new RegExp(`00000000${index + 1}\\.\\w+ is damaged`),
      );
    await breaking(async (at) => {
      await copyFile(piece(at, 1), piece(at, 2));
    }, /000000003\.delta is damaged/);
    await program.end("SIGTERM");
  });
});

test("under load, with server and follower killed, what was acknowledged before a look is there", async () => {
  await withDirectory(async (directory) => {
    const data = path.join(directory, "data");
    const openpo = openpoOn(data);
    const followed = path.join(directory, "followed");
    const follow = () =>
      startProgram(["backup", followed, "--follow", "--every", "1"], {
        OPENPO_DATA_DIR: data,
        OPENPO_ADMIN_TOKEN: adminToken,
      });
    let program = await serve(data);
    const shop = await ShopUse.make(program, shopId);
    let follower = follow();
    const acknowledged: { readonly id: string; readonly atMs: number }[] = [];
    for (let kill = 0; kill < 2; kill += 1) {
      const use = shop.on(program);
      const over = new AbortController();
      const working = (async () => {
        while (!over.signal.aborted) {
          const made = await use.api("POST", "/api/v1/purchase-orders", { poName: "during" }).catch(() => null);
          if (made?.status === 201)
            acknowledged.push({ id: String(made.at("data", "purchaseOrder", "purchaseOrderId")), atMs: Date.now() });
          await pause(5);
        }
      })();
      const since = Date.now();
      await until("it is copied", async () => (await copiedUntil(followed)) > since + 500);
      follower.child.kill("SIGKILL");
      await follower.finished;
      await program.end("SIGKILL");
      over.abort();
      await working;
      const untilMs = await copiedUntil(followed);
      const target = path.join(directory, `restored-${kill}`);
      await done(openpo("restore", followed, "--data-dir", target));
      const text = await done(runCommand(["export", "--shop", shopId], { OPENPO_DATA_DIR: target }));
      const missing = acknowledged.filter(({ id }) => !text.includes(id));
      assert.deepEqual(
        missing.filter(({ atMs }) => atMs < untilMs),
        [],
        "acknowledged before the last look",
      );
      program = await serve(data);
      follower = follow();
      const startedMs = Date.now();
      await until("it is copied", async () => (await copiedUntil(followed)) > startedMs);
    }
    assert.ok(acknowledged.length > 20);
    follower.child.kill("SIGTERM");
    assert.equal((await follower.finished).code, 0);
    await program.end("SIGTERM");
  });
});
