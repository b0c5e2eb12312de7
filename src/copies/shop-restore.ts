/**
 * Restores one shop of a data directory from a file of a backup, while the others are served (D383).
 *
 * Owns: where the file arrives, in which order it is checked, joined with the present one and put in its place. Does
 * not own: what of the present state stays (shop/restore.ts), exchanging the files (store/sqlite/engine.ts).
 *
 * The work on the files is done on a thread: a check of a large file takes seconds.
 *
 * Invariant:
 * - B4. A restore of one shop takes effect with one renaming. Killed at any moment, it leaves the shop as it was or as
 *       it is to be. The next start removes the files that it has gathered.
 */
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { mkdir, open, rm } from "node:fs/promises";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { Worker } from "node:worker_threads";
import { Fault } from "../base/fault.ts";
import type { RestoredShop, ShopToRestore } from "../admin/operation.ts";
import type { Restored } from "../shop/restore.ts";
import { isNotFound } from "../store/engine-rules.ts";
import type { SqliteEngine } from "../store/sqlite/engine.ts";
import type { Ids } from "../base/time/clock.ts";

/** Task of the thread. */
export type RestoreTask =
  | {
      readonly kind: "check";
      readonly file: string;
      readonly shopId: string;
      /** The numbered migrations to which the file is brought. */
      readonly schemaDirectory: string;
      /** A table in which the shop has a row; null: it may have none. */
      readonly table: string | null;
    }
  | {
      readonly kind: "join";
      readonly file: string;
      readonly shopId: string;
      /** The shop's file as it is now, closed; null: there is none, or it is given up. */
      readonly present: string | null;
      readonly nowMs: number;
      readonly requestId: string;
      readonly method: string;
      readonly path: string;
    };

/** Answer of the thread. */
export type RestoreAnswer =
  | { readonly done: Restored | null }
  /** The file that was sent cannot be restored. */
  | { readonly refused: { readonly message: string; readonly action: string } }
  /** The shop's present file cannot be read. */
  | { readonly unreadable: string }
  /** The stack of what was thrown. */
  | { readonly bug: string };

/** The module that the thread runs has the extension of this one: `.ts`, and `.js` in the package. */
const threadModule = new URL(import.meta.url.replace(/shop-restore(\.\w+)$/, "shop-restore-thread$1"));

/** Where files of restores arrive; what is left there by a crash is removed at the start. */
export const incomingDirectory = (dataDir: string): string => path.join(dataDir, "arriving");

/** Where the file of a shop is kept that a restore has replaced, until its next restore. */
const replacedFile = (dataDir: string, shopId: string): string => path.join(dataDir, "replaced", `${shopId}.db`);

interface ShopFilesOptions {
  readonly dataDir: string;
  readonly ids: Ids;
  readonly shops: { readonly engine: SqliteEngine; readonly schemaDirectory: string };
  readonly sandboxes: { readonly engine: SqliteEngine; readonly schemaDirectory: string };
  /** Moves rows of the audit log that are still elsewhere to the shop. */
  readonly settle: (shopId: string) => Promise<void>;
  /** Called when the shop's file was replaced. */
  readonly replaced: (shopId: string) => void;
}

/**
 * Restores a shop, or its built-in storefront.
 *
 * @throws Fault INVALID_INPUT   the file is none of this shop, is damaged, or is of a newer program.
 * @throws Fault DO_UNAVAILABLE  the present file cannot be read, or the files cannot be exchanged.
 */
export async function restoreShopFile(
  { dataDir, ids, shops, sandboxes, settle, replaced }: ShopFilesOptions,
  { part, shopId, body, isDamaged, nowMs, requestId, method, requestPath }: ShopToRestore,
): Promise<RestoredShop> {
  const directory = incomingDirectory(dataDir);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const staged = path.join(directory, `${ids.next("file")}.db`);
  const { engine, schemaDirectory } = part === "shop" ? shops : sandboxes;
  try {
    await pipeline(body, createWriteStream(staged, { flags: "wx", mode: 0o600 }));
    await ask({ kind: "check", file: staged, shopId, schemaDirectory, table: part === "shop" ? "shop" : null });
    const keptAs = part === "shop" ? replacedFile(dataDir, shopId) : `${staged}.before`;
    const wasThere = await engine.exists(shopId);
    if (part === "shop" && !isDamaged) await requireReadable(engine, shopId);
    if (wasThere && part === "shop" && !isDamaged) await settle(shopId);
    const restored = await engine.replace(shopId, { staged, keptAs, isGivenUp: isDamaged }, async (present) => {
      const task = {
        kind: "join",
        file: staged,
        shopId,
        present,
        nowMs,
        requestId,
        method,
        path: requestPath,
      } as const;
      const done = part === "shop" ? await ask(task) : null;
      await makeDurable(staged);
      return done;
    });
    replaced(shopId);
    return { restored, keptAs: wasThere && part === "shop" ? keptAs : null };
  } finally {
    for (const suffix of ["", "-wal", "-shm", "-journal", ".before", ".before-wal"])
      await rm(`${staged}${suffix}`, { force: true });
  }
}

/** Makes the bytes of a file, or the names in a directory, durable. */
export async function makeDurable(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Has a thread do it. @throws Fault for what it refuses. */
async function ask(task: RestoreTask): Promise<Restored | null> {
  const worker = new Worker(threadModule, { workerData: task, name: "openpo-restore" });
  const [answer]: RestoreAnswer[] = await once(worker, "message");
  if (answer === undefined) throw new Error("the restoring thread has answered nothing");
  if ("done" in answer) return answer.done;
  if ("refused" in answer) throw new Fault("INVALID_INPUT", answer.refused.message, { action: answer.refused.action });
  if ("unreadable" in answer) throw unreadable(task.shopId, answer.unreadable);
  throw new Error(answer.bug);
}

const unreadable = (shopId: string, reason: string): Fault =>
  new Fault(
    "INVALID_INPUT",
    `What shop ${shopId} holds now cannot be read (${reason}), so it is not known which keys were revoked and what was sent since the backup. Nothing was changed.`,
    {
      action:
        "Take all of it from the backup: openpo restore … --damaged. Keys that were revoked since then work again, so revoke them anew.",
    },
  );

/** @throws Fault INVALID_INPUT when the shop's file cannot be opened. */
async function requireReadable(engine: SqliteEngine, shopId: string): Promise<void> {
  try {
    await engine.peek(shopId, (tx) => tx.all("select 1 from shop where shop_id = ?", [shopId]));
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    if (!isNotFound(error)) throw unreadable(shopId, error.message);
  }
}
