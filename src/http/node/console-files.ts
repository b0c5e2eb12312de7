/**
 * The built files of the console, which stand in `dist/console` of the checkout and of the package.
 */
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";

/** Beside the program in the package, and where `npm ci` builds it in a checkout. */
const folders = [
  path.join(import.meta.dirname, "../../console"),
  path.join(import.meta.dirname, "../../../dist/console"),
];

/** @returns null when this installation has none. */
export async function loadConsoleFiles(): Promise<ReadonlyMap<string, Uint8Array<ArrayBuffer>> | null> {
  for (const folder of folders) {
    const names = await readdir(folder).catch((): string[] => []);
    if (!names.includes("index.html")) continue;
    const entries = names.map(async (name): Promise<[string, Uint8Array<ArrayBuffer>]> => [
      name,
      await readFile(path.join(folder, name)),
    ]);
    return new Map(await Promise.all(entries));
  }
  return null;
}
