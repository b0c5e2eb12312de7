/**
 * Secrets that name their shop: `<prefix>_<shopId>_<secret>` (contract §1, C49). API keys, invitations, links to sign
 * in by, sessions and their bearers, and the links of suppliers are such texts. A shop is found by the text alone (S7),
 * and only a hash of the secret is stored.
 *
 * The secret is 28 base62 characters (166 bits), followed by a checksum of 6 characters over shop and secret. So a
 * mistyped or cut-off text is refused without a look-up.
 */
import { createHash } from "node:crypto";

const shopIdText = "[a-z0-9][a-z0-9-]{0,39}";

/** Form of a shop id: 1 to 40 lower-case letters, digits and hyphens, the first not a hyphen. */
export const shopIdPattern = new RegExp(`^${shopIdText}$`);

/** Stands for the shop in the session of the operator, who belongs to none. No shop can have this id. */
export const noShopId = "-";

/** Purpose of a secret, by its first letters. The admin token begins with `opa`. */
export type SecretKind = "opo" | "opi" | "opc" | "ops" | "opl" | "opg" | "opt" | "opr" | "opm";

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const secretLength = 28;
const checksumLength = 6;
/** Random bytes that make one secret: far more than it needs, so that all characters are equally likely. */
export const secretRandomBytes = 32;

const secretPattern = new RegExp(
  `^(op[oicslgtrm])_(${shopIdText}|${noShopId})_([0-9A-Za-z]{${secretLength}})([0-9A-Za-z]{${checksumLength}})$`,
);

/** A new secret: `text` is shown once, `hash` is stored. */
interface NewSecret {
  readonly text: string;
  readonly hash: string;
}

/** Makes a secret of the shop from `secretRandomBytes` random bytes. @throws TypeError for another number of bytes. */
export function makeSecret(kind: SecretKind, shopId: string, random: Uint8Array): NewSecret {
  if (random.length !== secretRandomBytes) throw new TypeError(`a key takes ${secretRandomBytes} random bytes`);
  const secret = base62(random, secretLength);
  const checked = secret + checksum(shopId, secret);
  return { text: `${kind}_${shopId}_${checked}`, hash: hashOf(checked) };
}

/** A secret as it was sent. */
export interface ParsedSecret {
  readonly shopId: string;
  readonly secretHash: string;
}

/** Reads the shop and the secret's hash; null when the text is not a secret of this kind. */
export function parseSecret(kind: SecretKind, text: string): ParsedSecret | null {
  const [, prefix, shopId, secret, sum] = secretPattern.exec(text) ?? [];
  if (prefix !== kind || shopId === undefined || secret === undefined || sum === undefined) return null;
  return sum === checksum(shopId, secret) ? { shopId, secretHash: hashOf(secret + sum) } : null;
}

const hashOf = (secret: string): string => createHash("sha256").update(secret).digest("hex");

const checksum = (shopId: string, secret: string): string =>
  base62(createHash("sha256").update(`${shopId} ${secret}`).digest().subarray(0, 8), checksumLength);

/** The last `length` base62 digits of the bytes as one number. */
function base62(bytes: Uint8Array, length: number): string {
  let rest = bytes.reduce((value, byte) => value * 256n + BigInt(byte), 0n);
  let digits = "";
  while (digits.length < length) {
    digits = alphabet.charAt(Number(rest % 62n)) + digits;
    rest /= 62n;
  }
  return digits;
}
