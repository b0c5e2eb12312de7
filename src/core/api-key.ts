/**
 * API keys: `opo_<shopId>_<secret>` (contract §1). The shop is read from the key (S7); only a hash of the secret is kept.
 *
 * The secret is 28 base62 characters (166 bits) and a checksum of 6 over shop and secret, so that a mistyped or cut-off key is
 * refused without a look-up.
 */
import { createHash } from "node:crypto";

const shopIdText = "[a-z0-9][a-z0-9-]{0,39}";

/** What a shop id looks like: 1 to 40 lower-case letters, digits and hyphens, the first not a hyphen. */
export const shopIdPattern = new RegExp(`^${shopIdText}$`);

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const secretLength = 28;
const checksumLength = 6;
/** Random bytes that one key is made of: more than the secret can show, so that no character is likelier than another. */
export const apiKeyRandomBytes = 32;

const apiKeyPattern = new RegExp(
  `^opo_(${shopIdText})_([0-9A-Za-z]{${secretLength}})([0-9A-Za-z]{${checksumLength}})$`,
);

/** What is told once (`apiKey`) and what is kept. */
export interface NewApiKey {
  readonly apiKey: string;
  readonly secretHash: string;
  readonly lastFour: string;
}

/** A key of the shop, made of `apiKeyRandomBytes` random bytes. */
export function makeApiKey(shopId: string, random: Uint8Array): NewApiKey {
  if (random.length !== apiKeyRandomBytes) throw new TypeError(`a key takes ${apiKeyRandomBytes} random bytes`);
  const secret = base62(random, secretLength);
  const checked = secret + checksum(shopId, secret);
  return { apiKey: `opo_${shopId}_${checked}`, secretHash: secretHash(checked), lastFour: checked.slice(-4) };
}

/** @returns the shop and what to look its key up by; null when this is no key of ours. */
export function parseApiKey(apiKey: string): { readonly shopId: string; readonly secretHash: string } | null {
  const [, shopId, secret, sum] = apiKeyPattern.exec(apiKey) ?? [];
  if (shopId === undefined || secret === undefined || sum === undefined) return null;
  return sum === checksum(shopId, secret) ? { shopId, secretHash: secretHash(secret + sum) } : null;
}

const secretHash = (secret: string): string => createHash("sha256").update(secret).digest("hex");

const checksum = (shopId: string, secret: string): string =>
  base62(createHash("sha256").update(`${shopId} ${secret}`).digest().subarray(0, 8), checksumLength);

/** The last `length` base62 digits of the number that these bytes spell. */
function base62(bytes: Uint8Array, length: number): string {
  let rest = bytes.reduce((value, byte) => value * 256n + BigInt(byte), 0n);
  let digits = "";
  while (digits.length < length) {
    digits = alphabet.charAt(Number(rest % 62n)) + digits;
    rest /= 62n;
  }
  return digits;
}
