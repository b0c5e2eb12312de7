/** How much is in a directory. */
import { readdir, stat } from "node:fs/promises";
import path from "node:path";

/** Bytes of all files below the directory. */
export async function directoryBytes(directory: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(directory, { withFileTypes: true, recursive: true }))
    if (entry.isFile()) bytes += (await stat(path.join(entry.parentPath, entry.name))).size;
  return bytes;
}
