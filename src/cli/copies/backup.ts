/**
 * Backup and restore. A backup is a data directory: the same files, copied while the server runs, ready to be served.
 *
 * Owns: what is in a backup, in which order it is written, and how it replaces a data directory. Does not own: how a
 * shop's file is copied (the engine).
 *
 * Invariants:
 * - B1. A backup contains everything that was acknowledged before it began. Each shop is copied as of one moment and
 *       its sandbox after it. So the shop knows of no push that its storefront does not have.
 * - B2. `format` is written last, when everything else is checked and synced: a directory without it is no backup.
 * - B3. A restore that is interrupted leaves a directory that is refused, never one that looks like a first start.
 */
import { memberOf } from "../../base/json.ts";
import { existsSync } from "node:fs";
import { chmod, copyFile, mkdir, open, readdir, rename, rm } from "node:fs/promises";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { messageOf } from "../../base/error-message.ts";
import type { Ask } from "../../admin/ask.ts";
import type { SnapshotPart } from "../../admin/operation.ts";
import {
  lockDataDirectory,
  holdsData,
  isClaimed,
  journalFolder,
  keptAdminToken,
  markFormat,
  restoringDirectory,
  schemaVersions,
  versionsFile,
} from "../../service/data-directory.ts";
import { programName } from "../../base/program-version.ts";
import { CommandError, commandErrorOf, failedError } from "../errors.ts";
import type { Operator } from "../operator.ts";
import { bytesShown, listIn, type Output, shown } from "../output.ts";
import { makeDurable } from "../../copies/shop-restore.ts";

/** The folder of the data directory for the files of each part. */
const folders = { shop: "shops", sandbox: "sandbox" } as const satisfies Record<SnapshotPart, string>;
/**
 * Entries of a data directory in a backup, without `format`. The admin token is not in it: whoever reads a backup must
 * not be the operator of the service that wrote it. One that the service has written has no journal: its rows are in
 * the shops' files.
 */
const dataEntries = [...Object.values(folders), journalFolder];

async function entriesOf(directory: string): Promise<readonly string[]> {
  return existsSync(directory) ? await readdir(directory) : [];
}

/** @returns the version of its schema. @throws CommandError when the file is not a whole database. */
function checkDatabase(file: string): number {
  let found: unknown;
  let version: unknown;
  try {
    const database = new DatabaseSync(file);
    found = database.prepare("pragma quick_check").get()?.["quick_check"];
    version = database.prepare("pragma user_version").get()?.["user_version"];
    database.close();
  } catch (error) {
    found = messageOf(error);
  }
  if (found !== "ok") throw failedError(`${file} is damaged: ${shown(found)}.`);
  return Number(version);
}

interface BackupResult {
  readonly directory: string;
  readonly shops: readonly string[];
  readonly bytes: number;
}

/**
 * Writes a backup of every shop into an empty or new directory.
 *
 * @throws CommandError when the directory is not empty, or a shop cannot be read; what was written is then no backup
 *   (B2).
 */
export async function writeBackup(
  { ask }: Pick<Operator, "ask">,
  directory: string,
  output: Output,
): Promise<BackupResult> {
  if ((await entriesOf(directory)).length > 0)
    throw failedError(`${directory} is not empty.`, "Name a directory that is empty or does not exist.");
  const shops = listIn(await dataOf(ask, "shop_list"), "shops").map((shop) => shown(memberOf(shop, "shopId")));
  for (const folder of Object.values(folders))
    await mkdir(path.join(directory, folder), { recursive: true, mode: 0o700 });
  // It contains the data of every shop, so only its owner may read it.
  await chmod(directory, 0o700);
  let bytes = 0;
  for (const [index, shopId] of shops.entries())
    for (const part of ["shop", "sandbox"] as const) {
      const file = path.join(directory, folders[part], `${shopId}.db`);
      const copied = await copyPart(ask, shopId, part, file, (written) =>
        output.progress(`Shop ${index + 1} of ${shops.length}, ${shopId}: ${bytesShown(bytes + written)} written`),
      );
      bytes += copied;
    }
  for (const folder of Object.values(folders)) await makeDurable(path.join(directory, folder));
  await finish(directory);
  return { directory, shops, bytes };
}

async function dataOf(ask: Ask, name: string): Promise<unknown> {
  const answer = await ask(name, {});
  return "data" in answer ? answer.data : null;
}

/** Copies one part of a shop. @returns the bytes written; 0 for the sandbox of a shop that never used it. */
async function copyPart(
  ask: Ask,
  shopId: string,
  part: SnapshotPart,
  file: string,
  progress: (written: number) => void,
): Promise<number> {
  let written = 0;
  try {
    const answer = await ask("shop_snapshot", { shopId, part });
    if (!("file" in answer)) throw new Error("a snapshot is a file");
    const pieces = answer.file[Symbol.asyncIterator]();
    let next = await pieces.next();
    const handle = await open(file, "wx", 0o600);
    try {
      for (; next.done !== true; next = await pieces.next()) {
        await handle.writeFile(next.value);
        written += next.value.length;
        progress(written);
      }
    } finally {
      await handle.close();
    }
  } catch (thrown) {
    const error = commandErrorOf(thrown);
    if (error === null) throw thrown;
    // The shop itself was copied just before, so it is the sandbox that does not exist.
    if (part === "sandbox" && memberOf(error.body, "code") === "NOT_FOUND") return 0;
    throw new CommandError(error.exitCode, `shop ${shopId}: ${error.message}`, {
      action: `Without it the backup is incomplete.${error.action === null ? "" : ` ${error.action}`}`,
      body: error.body,
    });
  }
  checkDatabase(file);
  await makeDurable(file);
  return written;
}

/** The last step of a backup and of a restore: marks the directory as complete, durably (B2). */
async function finish(directory: string): Promise<void> {
  await makeDurable(directory);
  markFormat(directory);
  await makeDurable(path.join(directory, "format"));
  await makeDurable(directory);
}

interface RestoreResult {
  readonly dataDir: string;
  readonly shops: readonly string[];
  /** True if the directory keeps an admin token, its own of before. Else the next start makes one. */
  readonly adminToken: boolean;
}

/**
 * Replaces the content of a data directory by a backup.
 *
 * @param force  even if the directory is not empty; its content is lost.
 * @throws CommandError when the backup is none or is damaged, the directory is not empty, or a server uses it.
 */
export async function restoreBackup(
  backup: string,
  dataDir: string,
  force: boolean,
  output: Output,
): Promise<RestoreResult> {
  if (!holdsData(backup))
    throw failedError(`${backup} is no backup, or an unfinished one.`, "Name a directory that openpo backup wrote.");
  if (path.resolve(backup) === path.resolve(dataDir)) throw failedError(`${backup} is the data directory itself.`);
  if (isClaimed(backup)) throw failedError(`${backup} is a data directory that a server is using, not a backup.`);
  const before = (await entriesOf(dataDir)).filter((name) => name !== "lock.db");
  const lock = lockDataDirectory(dataDir);
  try {
    if (before.length > 0 && !force)
      throw failedError(`${dataDir} is not empty.`, "Add --force to replace what is there; it is lost.");
    const gathered = restoringDirectory(dataDir);
    await rm(gathered, { recursive: true, force: true });
    const shops = await copyChecked(backup, gathered, output);
    // The files that come may be older than those that a program has recorded here.
    for (const record of ["format", path.basename(versionsFile(dataDir))])
      await rm(path.join(dataDir, record), { force: true });
    for (const entry of dataEntries) {
      await rm(path.join(dataDir, entry), { recursive: true, force: true });
      if (existsSync(path.join(gathered, entry))) await rename(path.join(gathered, entry), path.join(dataDir, entry));
    }
    await finish(dataDir);
    await rm(gathered, { recursive: true });
    return { dataDir, shops, adminToken: keptAdminToken(dataDir) !== null };
  } finally {
    lock.release();
  }
}

/** Copies the backup's files, checks them and makes them durable. @returns the shops. */
async function copyChecked(backup: string, gathered: string, output: Output): Promise<readonly string[]> {
  const shops: string[] = [];
  for (const folder of [...Object.values(folders), journalFolder]) {
    const target = path.join(gathered, folder);
    await mkdir(target, { recursive: true, mode: 0o700 });
    // The directory of a stopped server is a backup too; after a crash its latest changes are in `-wal` files.
    const names = (await entriesOf(path.join(backup, folder))).filter((name) => /\.db(?:-wal)?$/.test(name)).sort();
    for (const name of names) await copyFile(path.join(backup, folder, name), path.join(target, name));
    for (const name of names.filter((each) => each.endsWith(".db"))) {
      output.progress(`Checking ${name}`);
      const version = checkDatabase(path.join(target, name));
      const known = schemaVersions()[folder];
      if (version > known)
        throw failedError(
          `${path.join(backup, folder, name)} was written by a newer version of OpenPO: its schema is ${version}, and ${programName()} knows ${known}.`,
          "Restore with the version that wrote it, or a backup from before the upgrade.",
        );
      await makeDurable(path.join(target, name));
      if (folder === folders.shop) shops.push(name.slice(0, -".db".length));
    }
    await makeDurable(target);
  }
  return shops;
}
