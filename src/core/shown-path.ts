/**
 * A request's path as the log, the audit log and messages show it: without secrets, and cut.
 */
import { pathLengthMax } from "./limits.ts";

/** Keys and tokens of this service, by what they begin with. */
const secrets = /op[aoicsl](?:_|%5f)[\w%-]+/gi;

/** The token of a supplier's link, however it is written. */
const linkToken = /^(\/s\/)[^/]+/;

/** A secret may begin before the end of what is shown. */
const readLengthMax = pathLengthMax * 2;

/** The path with secrets masked and cut at `pathLengthMax` characters. */
export function shownPath(path: string): string {
  const masked = path
    .slice(0, readLengthMax)
    .replace(linkToken, "$1opl_***")
    .replaceAll(secrets, (secret) => `${secret.slice(0, 3)}_***`);
  return masked.length <= pathLengthMax ? masked : `${masked.slice(0, pathLengthMax - 1)}…`;
}
