/**
 * A request's path as the log, the audit log and messages show it: without secrets, and cut.
 */

/** Characters of a path in the audit log, the log and messages. */
export const pathLengthMax = 500;

/** Keys and tokens of this service, by what they begin with. */
const secrets = /op[aoicslgtr]_[\w%-]+/gi;

/**
 * Letters, digits, hyphen and underscore, percent-encoded: a secret has nothing else, and some clients encode more than
 * they need.
 */
const encodedWord = /%(?:2d|3\d|4[1-9a-f]|5[0-9af]|6[1-9a-f]|7[0-9a])/gi;

const secretBegins = /op[aoicslgtr]_/i;

/** The token of a supplier's link, however it is written. */
const linkToken = /^(\/s\/)[^/]+/;

/** A secret may begin before the end of what is shown. */
const readLengthMax = pathLengthMax * 2;

/**
 * The path with secrets masked and cut at `pathLengthMax` characters. One that has a secret is shown decoded as far as
 * a secret may be encoded.
 */
export function shownPath(path: string): string {
  const read = path.slice(0, readLengthMax);
  const decoded = read.includes("%") ? read.replaceAll(encodedWord, (word) => decodeURIComponent(word)) : read;
  const masked = (secretBegins.test(decoded) ? decoded : read)
    .replace(linkToken, "$1opl_***")
    .replaceAll(secrets, (secret) => `${secret.slice(0, 3)}_***`);
  return masked.length <= pathLengthMax ? masked : `${masked.slice(0, pathLengthMax - 1)}…`;
}
