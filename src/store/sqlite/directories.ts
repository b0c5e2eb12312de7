/**
 * Folders and files for this user alone, made so that a power cut does not take them away.
 */
import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { syncDirectory } from "./file.ts";

/**
 * Makes a folder with those above it, mode 0700, and syncs each folder in which one was made. One that exists stays as
 * it is.
 */
export function makeDirectory(directory: string): void {
  const path = resolve(directory);
  const first = mkdirSync(path, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let made = path; made.length >= first.length; made = dirname(made)) syncDirectory(dirname(made));
}

/**
 * Makes an empty file with mode 0600. One that exists stays as it is: sqlite then keeps its mode for the files beside
 * it.
 */
export function makePrivateFile(path: string): void {
  closeSync(openSync(path, "a", 0o600));
}
