/**
 * The data directory of one process, claimed, checked and opened, as a store that the service and the commands use.
 *
 * Owns: the directory's layout, its lock and its format, the operator's token in it. Does not own: the contents of a
 * shop's files (shop, storefront), serving (service/serve.ts), commands (cli/cli.ts).
 *
 *     data/  lock.db · server.json (while a server runs) · time (that was reached) · format · versions (of the program
 *     and the schemas that files may have) · admin-token (mode 0600) · shops/<shopId>… · sandbox/<shopId>… · journal/
 *     (audit rows that are to be moved to shops' files) · snapshots/ (copies that a backup is reading) · restoring/
 *     (files of a restore that has not finished) · arriving/ (files of shops that are being restored) ·
 *     replaced/<shopId>… (what shops held before they were restored)
 */
import { SecretBox } from "../base/secret-box.ts";
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { z } from "zod";
import { messageOf } from "../base/error-message.ts";
import { noDocuments } from "../documents/documents.ts";
import { exportQueue } from "../exchange/export.ts";
import { recoverImports } from "../exchange/import.ts";
import { type AdminContext } from "../admin/operation.ts";
import { importContext } from "../admin/exchange.ts";
import { snapshotBytes } from "../admin/snapshot.ts";
import { ConfigError } from "./config.ts";
import type { Gauge } from "../http/metrics.ts";
import { type OpenStore, callsWithoutOutbox } from "./open-store.ts";
import { AuditTrail } from "../requests/audit/audit-trail.ts";
import type { ReaderStore } from "../threads/reader-pool.ts";
import { inProcessCoordination } from "../store/sqlite/coordination.ts";
import { orderColumn } from "../shop/order/purchase-order-tables.ts";
import { AuditJournal, type JournalLimits } from "../shop/audit/audit-journal.ts";
import { announcing } from "../shop/events/announcements.ts";
import { keepingForecastVersions } from "../shop/forecast/forecast-version.ts";
import { keepingSegments } from "../shop/order-list/segment-upkeep.ts";
import { KnownCredentials, keepingCredentials } from "../shop/access/known-credentials.ts";
import { ShopArrivals } from "../copies/shop-arrivals.ts";
import { LoopShare } from "../store/loop-share.ts";
import { loadMigrations } from "../store/migrations.ts";
import type { QueueDepth } from "../store/queue.ts";
import type { Clock, Ids } from "../base/time/clock.ts";
import type { Engine, Log } from "../store/store.ts";
import { lockDirectory } from "../store/sqlite/directory-lock.ts";
import { openSqliteEngine, shopsOpenMax, shopsWarmMax, type SqliteEngine } from "../store/sqlite/engine.ts";
import { isBusy, syncDirectory } from "../store/sqlite/file.ts";
import { keepDirectoryPrivate } from "./private-files.ts";
import { incomingDirectory, restoreShopFile } from "../copies/shop-restore.ts";
import { steadyClock } from "../base/time/steady-clock.ts";
import { writesWaiting } from "./work-gauges.ts";
import { directorySizes, type Sizes } from "./sizes.ts";
import { elapsedMs, systemClock, timeOrderedIds } from "../base/time/system.ts";
import { onlyGlobal } from "../webhooks/addresses.ts";
import { noConnections } from "../storefront/connections.ts";
import { openSandbox } from "../storefront/sandbox/sandbox.ts";
import { programName } from "../base/program-version.ts";
import { jsonOrNull } from "../base/json.ts";

/** Built-in storefronts whose files are open at the same time. */
export const sandboxesOpenMax = 256;

/** The content of `format` that this version writes, and the only one that it reads. */
const dataFormat = "1";
const adminTokenBytes = 32;
/** Makes a leaked token recognisable. */
const adminTokenPrefix = "opa_";

/** Collects the files of a restore; exists only while one runs or when it was interrupted. */
export const restoringDirectory = (dataDir: string): string => path.join(dataDir, "restoring");
/** The folder of the journal of audit rows. */
export const journalFolder = "journal" as const;
const formatFile = (dataDir: string): string => path.join(dataDir, "format");
export const adminTokenFile = (dataDir: string): string => path.join(dataDir, "admin-token");

/** The text in a file of the directory, or null without the file. @throws ConfigError when it cannot be read. */
function kept(file: string): string | null {
  if (!existsSync(file)) return null;
  try {
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    throw new ConfigError(`OPENPO_DATA_DIR: ${file} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

/**
 * Writes a line into a file of the directory, completely or not at all. @throws ConfigError when it cannot be written.
 */
function keep(file: string, line: string): void {
  const unfinished = `${file}.unfinished`;
  try {
    rmSync(unfinished, { force: true });
    writeFileSync(unfinished, `${line}\n`, { mode: 0o600, flush: true });
    renameSync(unfinished, file);
    syncDirectory(path.dirname(file));
  } catch (error) {
    throw new ConfigError(`OPENPO_DATA_DIR: ${file} cannot be written: ${messageOf(error)}`, { cause: error });
  }
}

/** Marks the directory as one that holds data; the last step of making one. */
export function markFormat(dataDir: string): void {
  writeFileSync(formatFile(dataDir), `${dataFormat}\n`, { mode: 0o600 });
}

/** The server that runs on a data directory. */
interface RecordedServer {
  /** Where it is reached from this machine. */
  readonly url: string;
  readonly identity: string;
  /** Where others reach it; null where that is not known. */
  readonly publicUrl: string | null;
}

const serverFile = (dataDir: string): string => path.join(dataDir, "server.json");

/**
 * Records the server that now runs on the directory, so that commands find it. The caller has claimed the directory.
 */
export function recordServer(dataDir: string, { url, identity, publicUrl }: RecordedServer): void {
  keep(serverFile(dataDir), JSON.stringify({ url, identity, publicUrl }));
}

/** Removes the record of a server that stops, or of one that has crashed. */
export function forgetServer(dataDir: string): void {
  rmSync(serverFile(dataDir), { force: true });
}

/** The server that the directory records; null without one. It runs only if the directory is claimed. */
export function recordedServer(dataDir: string): RecordedServer | null {
  const parsed = recordedServerSchema.safeParse(jsonOrNull(kept(serverFile(dataDir)) ?? ""));
  return parsed.success ? parsed.data : null;
}

const recordedServerSchema = z.object({
  url: z.url({ protocol: /^http$/ }),
  identity: z.string().min(1),
  publicUrl: z.string().nullable().default(null),
});

/** Which program has brought files of the directory to which versions of the schemas; the newest one that was there. */
const versionsSchema = z.object({ program: z.string(), shops: z.int(), sandbox: z.int() });

type Versions = z.output<typeof versionsSchema>;

const schemaDirectoryOf = (room: string): string => path.join(import.meta.dirname, "..", room, "schema");
const journalSchemaDirectory = path.join(import.meta.dirname, "../shop/audit/schema");

/** The versions of the schemas to which this program brings the files of each folder. */
export const schemaVersions = (): Record<"shops" | "sandbox" | typeof journalFolder, number> => ({
  shops: loadMigrations(schemaDirectoryOf("shop")).length,
  sandbox: loadMigrations(schemaDirectoryOf("storefront/sandbox")).length,
  [journalFolder]: loadMigrations(journalSchemaDirectory).length,
});

export const versionsFile = (dataDir: string): string => path.join(dataDir, "versions");

/**
 * Refuses a directory that a newer program has served, which then has shops that this one cannot open, and records this
 * program.
 *
 * @throws ConfigError naming both versions and the ways out.
 */
function keepVersions(dataDir: string, log: Log): void {
  const now: Versions = { program: programName(), ...schemaVersions() };
  const before = versionsSchema.safeParse(jsonOrNull(kept(versionsFile(dataDir)) ?? "")).data;
  if (before !== undefined && (before.shops > now.shops || before.sandbox > now.sandbox))
    throw new ConfigError(
      `OPENPO_DATA_DIR: ${dataDir} was served by ${before.program} (shop schema ${before.shops}), which is newer: this is ${now.program} (shop schema ${now.shops}). Start the newer version again, or restore a backup from before the upgrade: openpo restore BACKUP --force`,
    );
  if (before?.shops === now.shops && before.sandbox === now.sandbox) return;
  try {
    keep(versionsFile(dataDir), JSON.stringify(now));
  } catch (error) {
    // On a full disk what is stored can be read; a file that has to be migrated is refused by itself.
    log.warn({ err: error }, "the program's version could not be kept in the data directory");
  }
}

const timeFile = (dataDir: string): string => path.join(dataDir, "time");

/**
 * Interval at which the time is kept. What a crash loses of it matters only if the clock is set back before the next
 * start.
 */
const timeKeptEveryMs = 10_000;

/** Keeps the time that the process has reached. A failure is left to the next try: nothing else depends on it. */
function keepTime(dataDir: string, nowMs: number): void {
  const file = timeFile(dataDir);
  try {
    // Beside the old one first: on a full disk the file would be left empty.
    writeFileSync(`${file}.unfinished`, `${nowMs}\n`, { mode: 0o600 });
    renameSync(`${file}.unfinished`, file);
  } catch {
    // The disk is full or the directory is gone; the stores report that.
  }
}

/** The time that the last process on the directory had reached; 0 without one. */
function keptTime(dataDir: string): number {
  const time = Number(kept(timeFile(dataDir)) ?? 0);
  return Number.isFinite(time) ? time : 0;
}

/** Another process has claimed the directory. */
class DirectoryInUse extends ConfigError {}

/** The machine's clock, never before the time that the last process on the directory had reached. */
function keptClock(dataDir: string, log: Log): { readonly clock: Clock; readonly stop: () => void } {
  const clock = steadyClock({
    below: systemClock,
    elapsedMs,
    fromMs: keptTime(dataDir),
    onSetBack: (behindMs) => log.warn({ behindMs }, "the machine's clock was set back"),
  });
  // At once too: a process that dies before the first ten seconds are over must not lose what earlier ones have
  // reached.
  keepTime(dataDir, clock.now());
  const keeping = setInterval(() => keepTime(dataDir, clock.now()), timeKeptEveryMs);
  keeping.unref();
  return {
    clock,
    stop: () => {
      clearInterval(keeping);
      keepTime(dataDir, clock.now());
    },
  };
}

/** Locks the directory; it is made if it is absent. @throws ConfigError when it cannot be used, saying why. */
export function lockDataDirectory(dataDir: string): { release(): void } {
  try {
    const lock = lockDirectory(dataDir);
    // Whatever was recorded before has ended without removing its record.
    forgetServer(dataDir);
    return lock;
  } catch (error) {
    if (error instanceof Error && isBusy(error.cause)) throw new DirectoryInUse(error.message, { cause: error });
    const systemCode = error instanceof Error && "code" in error && "syscall" in error;
    if (!systemCode) throw new ConfigError(messageOf(error), { cause: error });
    throw new ConfigError(
      `OPENPO_DATA_DIR: the data directory ${dataDir} cannot be created or opened: ${messageOf(error)}`,
      { cause: error },
    );
  }
}

/** True if another process has claimed the directory. A missing directory is not, and is not made. */
export function isClaimed(dataDir: string): boolean {
  if (!existsSync(path.join(dataDir, "lock.db"))) return false;
  try {
    lockDataDirectory(dataDir).release();
    return false;
  } catch (error) {
    if (error instanceof DirectoryInUse) return true;
    throw error;
  }
}

/**
 * True if the directory holds data of this service.
 *
 * @throws ConfigError when it is data that this version cannot read.
 */
export function holdsData(dataDir: string): boolean {
  const format = kept(formatFile(dataDir));
  if (format === null) return false;
  if (format !== dataFormat)
    throw new ConfigError(
      `OPENPO_DATA_DIR: ${dataDir} is in format ${JSON.stringify(format)}, and this version reads format ${dataFormat} only. Use the version that wrote it, or a newer one.`,
    );
  return true;
}

/** The operator's token in the directory, or null. */
export function keptAdminToken(dataDir: string): string | null {
  const token = kept(adminTokenFile(dataDir));
  return token === "" ? null : token;
}

/** Makes an operator's token and stores it in the directory. */
export function makeAdminToken(dataDir: string): string {
  const made = adminTokenPrefix + randomBytes(adminTokenBytes).toString("base64url");
  keep(adminTokenFile(dataDir), made);
  return made;
}

interface DirectoryLimits {
  /** Shops whose files are open at the same time; fewer if the process may not have so many descriptors. */
  readonly shopsOpenMax: number;
  /** Open shops that keep what they have read in memory. */
  readonly shopsWarmMax?: number;
  /**
   * With so many pages a shop's `-wal` file is moved into its database file. Default: about 4 MB; not for operators.
   */
  readonly walPagesMax?: number;
  /** Of the journal of audit rows. Default: as the program has them; not for operators. */
  readonly journal?: Partial<JournalLimits>;
}

/** @throws ConfigError when a restore has not finished. */
function refuseInterruptedRestore(dataDir: string): void {
  if (existsSync(restoringDirectory(dataDir)))
    throw new ConfigError(
      `OPENPO_DATA_DIR: a restore into ${dataDir} was interrupted. Run it again: openpo restore BACKUP --force`,
    );
}

/**
 * Claims and opens the directory. Imports that a crash has interrupted are finished before their shops are served
 * (copies/shop-arrivals.ts).
 *
 * @throws ConfigError when it is in use, cannot be used, or holds data that this version cannot read.
 */
export async function openDataDirectory(
  dataDir: string,
  log: Log,
  limits: DirectoryLimits = { shopsOpenMax },
): Promise<OpenStore> {
  await using opening = new AsyncDisposableStack();
  const lock = lockDataDirectory(dataDir);
  opening.defer(() => lock.release());
  keepDirectoryPrivate(dataDir, log);
  const isNew = !holdsData(dataDir);
  if (isNew) refuseInterruptedRestore(dataDir);
  keepVersions(dataDir, log);
  const { clock, stop } = keptClock(dataDir, log);
  opening.defer(stop);
  const ids = timeOrderedIds(clock);
  const loop = new LoopShare();
  const depth: QueueDepth = { waiting: 0 };
  const { shops: files, sandboxes: sandboxEngine } = await openEngines(dataDir, limits, depth, { clock, loop, log });
  opening.defer(() => files.close());
  opening.defer(() => sandboxEngine.close());
  const journal = await openJournal(dataDir, files, { clock, log, limits });
  opening.defer(() => journal.close());
  const versioned = keepingForecastVersions(keepingSegments(journal.engine(files), log), ids);
  const { engine: announced, onEvents, onReminders } = announcing(versioned);
  const recover = (engine: Engine, shopId: string): Promise<void> =>
    recoverImports(importContext({ ...adminContext(asksNothing), engine }), shopId, { alone: true });
  const arrivals = await arrivalsAt(files, announced, recover, log);
  const { engine } = arrivals;
  const sandboxOf = (shopId: string) => openSandbox({ engine: sandboxEngine, clock, shopId });
  const copies = copiesIn(dataDir, ids, { files, sandboxEngine, journal, replaced: (id) => arrivals.replaced(id) });
  const adminContext: OpenStore["adminContext"] = (asks) => ({
    engine,
    clock,
    ids,
    loop,
    sandboxOf,
    ...copies,
    calls: callsWithoutOutbox(asks.storefronts ?? noConnections, log),
    storefronts: noConnections,
    ...asks,
  });
  const opened = opening.move();
  return {
    engine,
    coordination: inProcessCoordination(),
    clock,
    ids,
    loop,
    alone: true,
    ...withGauges(directorySizes(dataDir, elapsedMs), [
      ...gaugesOf(files, sandboxEngine, journal),
      writesWaiting(depth),
    ]),
    shopsWith: (kind, signal) => arrivals.shopsWith(kind, signal),
    shopsWithReminders: (signal) => arrivals.shopsWithReminders(signal),
    readerStore: filesForReaders(files),
    auditJournal: journal,
    place: dataDir,
    identity: ids.next("srv"),
    isNew,
    sandboxOf,
    adminContext,
    onEvents,
    onReminders,
    async completeFirstStart() {
      if (isNew) keep(formatFile(dataDir), dataFormat);
    },
    close: () => opened.disposeAsync(),
  };
}

/** Files of which copies of a directory's shops are made. */
interface CopiedFiles {
  readonly files: SqliteEngine;
  readonly sandboxEngine: SqliteEngine;
  readonly journal: AuditJournal;
  /** Called when the shop's file was replaced. */
  readonly replaced: (shopId: string) => void;
}

/** Returns the ways to copy, export and restore shops. */
const copiesIn = (
  dataDir: string,
  ids: Ids,
  from: CopiedFiles,
): Pick<AdminContext, "snapshotOf" | "restoreShop" | "exports"> => ({
  exports: exportQueue(),
  snapshotOf: snapshotsIn(path.join(dataDir, "snapshots"), ids, from),
  restoreShop: restoresIn(dataDir, ids, from),
});

/** Copies of shops and their sandboxes, made in this folder. */
function snapshotsIn(copies: string, ids: Ids, from: CopiedFiles): AdminContext["snapshotOf"] {
  // A crash may have left some.
  rmSync(copies, { recursive: true, force: true });
  return (part, shopId) =>
    snapshotBytes(path.join(copies, ids.next("copy")), async (file) => {
      if (part === "shop") await from.journal.settle(shopId);
      await (part === "shop" ? from.files : from.sandboxEngine).snapshot(shopId, file);
    });
}

/** Restores of shops, from files that arrive in a folder of the directory. */
function restoresIn(dataDir: string, ids: Ids, into: CopiedFiles): AdminContext["restoreShop"] {
  // A crash may have left some.
  rmSync(incomingDirectory(dataDir), { recursive: true, force: true });
  const places = {
    dataDir,
    ids,
    shops: { engine: into.files, schemaDirectory: schemaDirectoryOf("shop") },
    sandboxes: { engine: into.sandboxEngine, schemaDirectory: schemaDirectoryOf("storefront/sandbox") },
    settle: (shopId: string) => into.journal.settle(shopId),
    replaced: into.replaced,
  };
  return (restore) => restoreShopFile(places, restore);
}

/** The first look at each shop, at which its secrets are learned. */
async function arrivalsAt(
  files: SqliteEngine,
  engine: Engine,
  finish: (engine: Engine, shopId: string) => Promise<void>,
  log: Log,
): Promise<ShopArrivals> {
  const known = new KnownCredentials();
  return new ShopArrivals({
    shopIds: await files.list(),
    engine: keepingCredentials(engine, known),
    peekClosed: (shopId, work) => files.peekClosed(shopId, work),
    learn: (tx, shopId) => known.learn(tx, shopId),
    forget: (shopId) => known.forget(shopId),
    finish,
    log,
  });
}

/** The shops' files as reader threads reach them. */
export const filesForReaders = (engine: SqliteEngine): ReaderStore => ({
  source: { kind: "files" },
  lend: async (shopId) => {
    const { path: file, ...loan } = await engine.lend(shopId);
    return { file, ...loan };
  },
});

/** Opens the shops' files and those of their built-in storefronts. */
async function openEngines(
  dataDir: string,
  limits: DirectoryLimits,
  depth: QueueDepth,
  parts: { readonly clock: Clock; readonly loop: LoopShare; readonly log: Log },
): Promise<{ readonly shops: SqliteEngine; readonly sandboxes: SqliteEngine }> {
  const openMax = openFilesMax(descriptorsMax(), limits.shopsOpenMax);
  const openIn = async (name: string, room: string, most: number): Promise<SqliteEngine> => {
    const directory = path.join(dataDir, name);
    const schemaDirectory = schemaDirectoryOf(room);
    return await openSqliteEngine({
      directory,
      schemaDirectory,
      sliceColumn: orderColumn,
      shopsOpenMax: most,
      walPagesMax: limits.walPagesMax,
      ...parts,
      ...(name === "shops" ? { depth, shopsWarmMax: limits.shopsWarmMax ?? shopsWarmMax } : {}),
    });
  };
  return {
    shops: await openIn("shops", "shop", openMax.shops),
    sandboxes: await openIn("sandbox", "storefront/sandbox", openMax.sandboxes),
  };
}

/** Dependencies of the journal. */
interface JournalDependencies {
  readonly clock: Clock;
  readonly log: Log;
  readonly limits?: Pick<DirectoryLimits, "journal" | "walPagesMax">;
}

/** Opens the journal of audit rows, a file of its own. @throws ConfigError when it cannot be used. */
export async function openJournal(
  dataDir: string,
  shops: Engine,
  { clock, log, limits = {} }: JournalDependencies,
): Promise<AuditJournal> {
  const directory = path.join(dataDir, journalFolder);
  const schemaDirectory = journalSchemaDirectory;
  const { walPagesMax } = limits;
  const file = await openSqliteEngine({ directory, schemaDirectory, shopsOpenMax: 1, walPagesMax, clock, log });
  try {
    const trail = new AuditTrail({ engine: shops, clock, log });
    return await AuditJournal.open({ file, shops, trail, clock, log, limits: limits.journal });
  } catch (error) {
    await file.close();
    throw new ConfigError(
      `OPENPO_DATA_DIR: ${directory} cannot be used: ${messageOf(error)} It holds audit rows of the latest reads. To start without them, move the folder away.`,
      { cause: error },
    );
  }
}

/** Dependencies of the recovery of imports: they start no follow-on work. */
const asksNothing: Parameters<OpenStore["adminContext"]>[0] = {
  wakeOutbox: () => {},
  webhooks: { policy: onlyGlobal, secrets: new SecretBox(null), changed: () => {} },
  documents: noDocuments,
  mailIsOn: false,
  publicUrl: null,
};

const withGauges = ({ gauges, measure }: Sizes, more: readonly Gauge[]): Sizes => ({
  gauges: [...gauges, ...more],
  measure,
});

const gaugesOf = (files: SqliteEngine, sandboxes: SqliteEngine, journal: AuditJournal): readonly Gauge[] => [
  {
    name: "audit_journal_rows",
    help: "Audit rows that are to be moved to the logs of their shops.",
    type: "gauge",
    value: () => journal.count,
  },
  { name: "shop_files_open", help: "Shops whose files are open.", type: "gauge", value: () => files.filesOpen },
  {
    name: "sandbox_files_open",
    help: "Built-in storefronts whose files are open.",
    type: "gauge",
    value: () => sandboxes.filesOpen,
  },
];

/** Descriptors of an open file: the database, its `-wal` (sqlite's and ours) and its `-shm`. */
const descriptorsPerShop = 4;

/**
 * Half of the process's descriptors are for shops and an eighth for their built-in storefronts; connections have the
 * rest.
 */
export const openFilesMax = (
  descriptors: number,
  wanted: number,
): { readonly shops: number; readonly sandboxes: number } => ({
  shops: Math.max(8, Math.min(wanted, Math.floor(descriptors / 2 / descriptorsPerShop))),
  sandboxes: Math.max(4, Math.min(sandboxesOpenMax, Math.floor(descriptors / 8 / descriptorsPerShop))),
});

/**
 * Returns the limit of the process's descriptors (`ulimit -n`); the one that every system grants where it cannot be
 * read.
 */
function descriptorsMax(): number {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    return Number(soft ?? 1_024);
  } catch {
    return 1_024;
  }
}
