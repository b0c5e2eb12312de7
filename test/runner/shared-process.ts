/**
 * Runs test files one after another in this process, which loads the program once for all of them. `test/run.ts` starts several such processes; each
 * claims the next file when it has ended one. A file fails that leaves the environment or the working directory changed, a server or a program.
 */
import assert from "node:assert/strict";
import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, suite, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { costOf } from "../support/costs.ts";
import { followPromises } from "./promises.ts";

/** The environment variable with the directory in which the processes claim files. */
export const claimsVariable = "OPENPO_TEST_CLAIMS";
const listName = "files.json";

interface Shared {
  readonly files: readonly string[];
  readonly fileMsMax: number;
}

/** Writes what the processes read from the directory. */
export function offerFiles(directory: string, shared: Shared): void {
  writeFileSync(path.join(directory, listName), JSON.stringify(shared));
}

/** Returns whether no other process has claimed the file with this number. */
function claims(directory: string, number: number): boolean {
  try {
    closeSync(openSync(path.join(directory, String(number)), "wx"));
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  }
}

const surroundings = (): unknown => ({ directory: process.cwd(), environment: { ...process.env } });

/** What keeps a process from its end when it is left: by kind, how many there are. */
const lastingKinds = ["ProcessWrap", "TCPServerWrap"];
/** Turns of the event loop after which what was closed is gone. */
const turnsToClose = 20;
const lasting = (): readonly string[] =>
  process
    .getActiveResourcesInfo()
    .filter((kind) => lastingKinds.includes(kind))
    .sort();

if (import.meta.main) {
  const directory = process.env[claimsVariable] ?? "";
  const { files, fileMsMax }: Shared = JSON.parse(readFileSync(path.join(directory, listName), "utf8"));
  followPromises(true);
  // One test around all: it ends after the last file, and with it the process.
  void test("files that share a process", async () => {
    // A process that comes late has no file left to claim, and asserts nothing else.
    assert.ok(files.length > 0);
    const browses = files.some((file) => costOf(file) === "browser");
    const endBrowser = browses ? await (await import("../support/pages/browser.ts")).shareBrowser() : null;
    for (const [number, file] of files.entries())
      if (claims(directory, number))
        await suite(file, { timeout: fileMsMax }, async () => {
          const found = surroundings();
          const lastingBefore = lasting().length;
          await import(pathToFileURL(file).href);
          // What declares tests is followed, not what runs in them.
          before(() => followPromises(false));
          // The file's own hooks come before.
          after(async () => {
            followPromises(true);
            assert.deepEqual(surroundings(), found, `${file} leaves its surroundings changed`);
            for (let turn = 0; lasting().length > lastingBefore && turn < turnsToClose; turn += 1) await setImmediate();
            assert.ok(lasting().length <= lastingBefore, `${file} leaves servers or programs: ${lasting().join()}`);
          });
        });
    await endBrowser?.();
  });
}
