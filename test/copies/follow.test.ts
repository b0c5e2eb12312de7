/** What a followed backup keeps (D384): a bound on rounds and pieces, whether shops change or not, and nothing less than a restore needs. */
import assert from "node:assert/strict";
import { createReadStream } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import type { Ask } from "../../src/admin/ask.ts";
import { Follower } from "../../src/cli/copies/follow.ts";
import { assemble, stateOf } from "../../src/cli/copies/followed-backup.ts";

interface Place {
  readonly dataDir: string;
  readonly directory: string;
  readonly target: string;
  readonly ask: Ask;
}

/** A data directory whose "server" answers with the files as they are. */
async function withPlace(use: (place: Place) => Promise<void>): Promise<void> {
  const place = await mkdtemp(path.join(tmpdir(), "openpo-follow-"));
  const dataDir = path.join(place, "data");
  await mkdir(path.join(dataDir, "shops"), { recursive: true });
  const ask: Ask = async (_name, { shopId, part }) => ({
    file: createReadStream(
      path.join(dataDir, part === "shop" ? "shops" : "sandbox", `${JSON.stringify(shopId).replaceAll('"', "")}.db`),
    ),
  });
  try {
    await use({ dataDir, directory: path.join(place, "followed"), target: path.join(place, "target"), ask });
  } finally {
    await rm(place, { recursive: true });
  }
}

const pages = (...fills: readonly number[]): Buffer => Buffer.concat(fills.map((fill) => Buffer.alloc(4_096, fill)));

test("rounds and pieces that no kept state needs are dropped, of shops that never change too", async () => {
  await withPlace(async ({ dataDir, directory, target, ask }) => {
    await writeFile(path.join(dataDir, "shops", "idle.db"), pages(1, 2, 3));
    let nowMs = 1_000;
    const options = { dataDir, directory, keptMs: 40, now: () => nowMs };
    let follower = await Follower.open(options);
    for (let step = 0; step < 12; step += 1) {
      await writeFile(path.join(dataDir, "shops", "busy.db"), pages(1, 2, 3, 4, 5, 6, 7, step));
      await follower.round(ask);
      nowMs += 25;
      // A process that begins again goes on with what is there.
      if (step === 6) follower = await Follower.open(options);
    }
    const rounds = await readdir(path.join(directory, "rounds"));
    assert.ok(rounds.length < 10, `${rounds.length} rounds`);
    const state = await stateOf(directory);
    assert.equal(rounds.sort()[0], `${String(state?.oldestRound).padStart(9, "0")}.json`);
    for (const shop of ["busy", "idle"])
      assert.ok((await readdir(path.join(directory, "pieces", "shops", shop))).length <= rounds.length);
    await assemble(directory, target, { atMs: null, shopId: null });
    assert.deepEqual(await readFile(path.join(target, "shops", "busy.db")), pages(1, 2, 3, 4, 5, 6, 7, 11));
    assert.deepEqual(await readFile(path.join(target, "shops", "idle.db")), pages(1, 2, 3));
  });
});

test("a shop that grows, shrinks and comes again is put together as it was", async () => {
  await withPlace(async ({ dataDir, directory, target, ask }) => {
    const file = path.join(dataDir, "shops", "one.db");
    let nowMs = 1_000;
    const follower = await Follower.open({ dataDir, directory, keptMs: 3_600_000, now: () => nowMs });
    const states = [pages(1, 2, 3, 4), pages(1, 2, 9, 4), pages(1, 2, 9, 4, 5, 6), pages(1, 2, 9), null, pages(7, 7)];
    const ended: number[] = [];
    for (const state of states) {
      if (state === null) await rm(file);
      else await writeFile(file, state);
      await follower.round(ask);
      ended.push(nowMs);
      nowMs += 5;
    }
    for (const [index, state] of states.entries()) {
      await rm(target, { recursive: true, force: true });
      await assemble(directory, target, { atMs: ended[index] ?? null, shopId: null });
      const found = await readFile(path.join(target, "shops", "one.db")).catch(() => null);
      assert.deepEqual(found, state);
    }
  });
});

test("what changes while a file is copied is in the next round, whatever the times of the file say", async () => {
  await withPlace(async ({ dataDir, directory, target, ask }) => {
    const file = path.join(dataDir, "shops", "one.db");
    await writeFile(file, pages(1, 2));
    const follower = await Follower.open({ dataDir, directory, keptMs: 3_600_000, now: Date.now });
    const changing: Ask = async (...asked) => {
      const copied = await readFile(file);
      await writeFile(file, pages(3, 4));
      return {
        ...(await ask(...asked)),
        file: (async function* () {
          yield copied;
        })(),
      };
    };
    await follower.round(changing);
    await follower.round(ask);
    await assemble(directory, target, { atMs: null, shopId: null });
    assert.deepEqual(await readFile(path.join(target, "shops", "one.db")), pages(3, 4));
  });
});
