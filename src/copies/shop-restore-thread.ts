/**
 * The thread that works on the files of a shop that is restored (copies/shop-restore.ts): one task, then it ends.
 */
import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import { messageOf } from "../base/error-message.ts";
import { programName } from "../base/program-version.ts";
import type { RestoreAnswer, RestoreTask } from "./shop-restore.ts";
import {
  backupStateOf,
  finishRestore,
  forgottenTables,
  joinStatements,
  keptTables,
  noteStatements,
  noteTables,
  restoreEntry,
  restoreActor,
} from "../shop/restore.ts";
import { loadSchema, migrate } from "../store/sqlite/schema.ts";
import type { SqlValue, Tx } from "../store/store.ts";
import { systemClock, timeOrderedIds } from "../base/time/system.ts";

type Task<Kind extends RestoreTask["kind"]> = Extract<RestoreTask, { readonly kind: Kind }>;

/** Opened by nobody else, and whole in one file when it is closed. */
function openAlone(file: string): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: 0 });
  database.exec("pragma journal_mode = delete; pragma synchronous = full; pragma temp_store = memory");
  return database;
}

const refused = (message: string, action: string): RestoreAnswer => ({ refused: { message, action } });

const damaged = (shopId: string, reason: string): RestoreAnswer =>
  refused(
    `The file that was sent for shop ${shopId} is damaged: ${reason}. Nothing was changed.`,
    "Send the shop's file from another backup.",
  );

/** Brings the file to this program's schema, and looks whether it is the shop's. */
function check({ file, shopId, schemaDirectory, table }: Task<"check">): RestoreAnswer {
  const schema = loadSchema(schemaDirectory);
  let database: DatabaseSync;
  try {
    database = openAlone(file);
  } catch (error) {
    return damaged(shopId, messageOf(error));
  }
  try {
    const found = database.prepare("pragma quick_check").get()?.["quick_check"];
    if (found !== "ok") return damaged(shopId, String(found));
    const version = Number(database.prepare("pragma user_version").get()?.["user_version"]);
    if (version > schema.length)
      return refused(
        `The file was written by a newer version of OpenPO: its schema is ${version}, and ${programName()} knows ${schema.length}. Nothing was changed.`,
        "Restore with the version that wrote it, or a backup from before the upgrade.",
      );
    if (version === 0) return refused("The file is none of a shop. Nothing was changed.", "Send a file of a backup.");
    migrate(database, schema);
    if (table === null) return { done: null };
    const shopIds = database
      .prepare(`select shop_id from ${table}`)
      .all()
      .map((row) => String(row["shop_id"]));
    if (shopIds.length === 1 && shopIds[0] === shopId) return { done: null };
    return refused(
      `The file has the data of ${shopIds.length === 0 ? "no shop" : `shop ${shopIds.join(", ")}`}, not of ${shopId}. Nothing was changed.`,
      "Send the shop's own file. To look at an old state under another id: openpo export from the backup, openpo import into a new shop.",
    );
  } catch (error) {
    return damaged(shopId, messageOf(error));
  } finally {
    database.close();
  }
}

/** The port's transaction on this connection. */
const txOn = (database: DatabaseSync): Tx => ({
  all: <R>(sql: string, params: readonly SqlValue[] = []) =>
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the caller names the columns of its statement
    Promise.resolve(database.prepare(sql).all(...params) as R[]),
  batch: (statements) => {
    for (const { sql, params } of statements) database.prepare(sql).run(...params);
    return Promise.resolve();
  },
});

/** The rows of the tables that stay, from the present file. */
function takePresent(database: DatabaseSync, shopId: string): void {
  for (const table of keptTables) {
    const columns = database
      .prepare(`pragma main.table_info(${table})`)
      .all()
      .map((column) => String(column["name"]))
      .join(", ");
    database.prepare(`delete from main.${table} where shop_id = ?`).run(shopId);
    database
      .prepare(`insert into main.${table} (${columns}) select ${columns} from present.${table} where shop_id = ?`)
      .run(shopId);
  }
}

async function joined(task: Task<"join">): Promise<RestoreAnswer> {
  const { file, shopId, present, nowMs } = task;
  const ids = timeOrderedIds(systemClock);
  const database = openAlone(file);
  try {
    const tx = txOn(database);
    let hadPresent = false;
    if (present !== null) {
      try {
        database.prepare("attach database ? as present").run(present);
        hadPresent = database.prepare("select 1 from present.shop where shop_id = ?").all(shopId).length > 0;
      } catch (error) {
        return { unreadable: messageOf(error) };
      }
    }
    database.exec("begin immediate");
    const backup = await backupStateOf(tx, shopId);
    for (const sql of noteTables()) database.exec(sql);
    if (hadPresent)
      try {
        await tx.batch(noteStatements(shopId, "present."));
        takePresent(database, shopId);
      } catch (error) {
        return { unreadable: messageOf(error) };
      }
    for (const table of forgottenTables) database.prepare(`delete from ${table} where shop_id = ?`).run(shopId);
    await tx.batch(joinStatements(shopId, { nowMs, forecastEpoch: ids.next("fcv"), hasPresent: hadPresent }));
    const stamp = {
      actor: restoreActor,
      requestId: task.requestId,
      nowMs,
      ids,
      embedded: true,
      entry: restoreEntry({ ...task, auditId: ids.next("aud") }),
    };
    const done = await finishRestore(tx, shopId, stamp, { ...backup, hadPresent });
    database.exec("commit");
    return { done };
  } finally {
    database.close();
  }
}

// oxlint-disable-next-line typescript/no-unsafe-assignment -- what the other side has sent
const task: RestoreTask = workerData;
const answered = task.kind === "check" ? Promise.resolve().then(() => check(task)) : joined(task);
void answered
  .catch((error: unknown): RestoreAnswer => ({
    bug: error instanceof Error ? (error.stack ?? error.message) : String(error),
  }))
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  .then((answer) => parentPort?.postMessage(answer));
