/**
 * The README of this installation, which stands beside the program's folder in a checkout and in the package.
 */
import { readFile } from "node:fs/promises";
import path from "node:path";

/** @returns null when this installation has none. */
export async function loadReadme(): Promise<string | null> {
  return await readFile(path.join(import.meta.dirname, "../../../README.md"), "utf8").catch(() => null);
}
