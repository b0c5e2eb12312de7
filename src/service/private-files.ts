/**
 * A data directory that was there before is for the service's user alone from the next start on. It holds every shop's
 * data and a token.
 */
import { chmodSync, lstatSync, readdirSync } from "node:fs";
import path from "node:path";
import { messageOf } from "../base/error-message.ts";
import type { Log } from "../store/store.ts";

/** The folders of a data directory. */
const folders: ReadonlySet<string> = new Set([
  "shops",
  "sandbox",
  "journal",
  "snapshots",
  "restoring",
  "arriving",
  "replaced",
]);

/**
 * Other files that may be in it. Beside other files it may be somebody's home directory, whose mode is not ours to
 * change.
 */
const ownFile = /^(?:lock\.db(?:-journal)?|(?:server\.json|time|format|versions|admin-token)(?:\.unfinished)?)$/;

/** Folder that making a file system leaves (`mkfs`), empty but for root. */
const lostAndFound = "lost+found";

const ofOthers = 0o077;

/** Takes all rights from other users. @returns why that is not possible; null when it is done. */
export function keepPrivate(place: string): string | null {
  try {
    const { mode } = lstatSync(place);
    if ((mode & ofOthers) === 0) return null;
    chmodSync(place, mode & 0o700);
    return (lstatSync(place).mode & ofOthers) === 0 ? null : `${place}: its file system keeps no modes`;
  } catch (error) {
    return messageOf(error);
  }
}

/** The reasons for which something in the folder, or it itself, is not private. Links are left alone. */
function keepFolderPrivate(folder: string): readonly string[] {
  const reasons = [keepPrivate(folder)];
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const place = path.join(folder, entry.name);
    if (entry.isDirectory()) reasons.push(...keepFolderPrivate(place));
    else if (entry.isFile()) reasons.push(keepPrivate(place));
  }
  return reasons.filter((reason) => reason !== null);
}

/** Makes folders 0700 and files 0600 in a data directory, and warns where that is not possible. */
export function keepDirectoryPrivate(dataDir: string, log: Log): void {
  const entries = readdirSync(dataDir, { withFileTypes: true });
  const reasons: string[] = [];
  for (const entry of entries) {
    const place = path.join(dataDir, entry.name);
    if (entry.isDirectory() && folders.has(entry.name)) reasons.push(...keepFolderPrivate(place));
    else if (entry.isFile() && ownFile.test(entry.name)) reasons.push(keepPrivate(place) ?? "");
  }
  const foreign = entries.find(
    ({ name }) => !folders.has(name) && !ownFile.test(name) && !name.startsWith(lostAndFound),
  );
  if (foreign === undefined) reasons.push(keepPrivate(dataDir) ?? "");
  else if ((lstatSync(dataDir).mode & ofOthers) !== 0)
    reasons.push(`${dataDir}: it holds other files too (${foreign.name}), so its mode stays`);
  const [reason, ...others] = reasons.filter((each) => each !== "");
  if (reason !== undefined)
    log.warn(
      { dataDir, reason, others: others.length },
      "Other users of this machine may reach the data directory: not everything in it could be made private.",
    );
}
