/**
 * The lock of a data directory: one process at a time uses it.
 */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { makeDirectory, makePrivateFile } from "./directories.ts";
import { isBusy } from "./file.ts";

/** A garbage-collected connection would be closed, and its lock released with it. */
const heldLocks = new Set<DatabaseSync>();

/**
 * Claims a data directory for this process, until `release` or the process's end; the operating system frees the lock
 * however the process ends. A directory that does not exist is made, for this user alone.
 *
 * @throws Error when another process has claimed it, or when it cannot be written.
 */
export function lockDirectory(directory: string): { release(): void } {
  makeDirectory(directory);
  makePrivateFile(join(directory, "lock.db"));
  const lock = new DatabaseSync(join(directory, "lock.db"), { timeout: 0 });
  try {
    // The write stays uncommitted and in memory while the lock is held; it only shows that the directory can be
    // written.
    lock.exec("pragma journal_mode = memory; begin exclusive; pragma user_version = 1");
  } catch (error) {
    lock.close();
    const held = isBusy(error);
    throw new Error(
      held
        ? `Another OpenPO process is using the data directory ${directory}. Stop it first, or give this one a directory of its own (OPENPO_DATA_DIR).`
        : `The data directory ${directory} cannot be written.`,
      { cause: error },
    );
  }
  heldLocks.add(lock);
  return {
    release() {
      if (heldLocks.delete(lock)) lock.close();
    },
  };
}
