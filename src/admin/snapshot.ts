/**
 * Copies of a shop's files for a backup.
 */
import { createReadStream } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import path from "node:path";

/**
 * The bytes of a copy. The copy is made at `file` when the first piece is read, and removed after the last one or when
 * reading stops.
 *
 * @param copyTo  makes the copy.
 */
export async function* snapshotBytes(
  file: string,
  copyTo: (file: string) => Promise<void>,
): AsyncGenerator<Uint8Array> {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  try {
    await copyTo(file);
    yield* createReadStream(file);
  } finally {
    await rm(file, { force: true });
  }
}
