/**
 * Copies of a shop's files on their way to a backup.
 */
import { createReadStream } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import path from "node:path";

/**
 * The bytes of a copy. It is made at `file` when the first piece is asked for, and gone when the last one is out or nobody wants more.
 *
 * @param copyTo  makes the copy.
 */
export async function* snapshotBytes(
  file: string,
  copyTo: (file: string) => Promise<void>,
): AsyncGenerator<Uint8Array> {
  await mkdir(path.dirname(file), { recursive: true });
  try {
    await copyTo(file);
    yield* createReadStream(file);
  } finally {
    await rm(file, { force: true });
  }
}
