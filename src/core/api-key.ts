/**
 * API keys: `opo_<shopId>_<secret>` (contract §1). The key names its shop (S7); only a hash of the secret is stored.
 *
 * The secret is 28 base62 characters (166 bits), followed by a checksum of 6 characters over shop and secret. So a mistyped or cut-off
 * key is refused without a look-up.
 */
import { createHash } from "node:crypto";

const shopIdText = "[a-z0-9][a-z0-9-]{0,39}";

/** What a shop id looks like: 1 to 40 lower-case letters, digits and hyphens, the first not a hyphen. */
export const shopIdPattern = new RegExp(`^${shopIdText}$`);

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const secretLength = 28;
const checksumLength = 6;
/** Random bytes that make one key: far more than the secret needs, so that all characters are equally likely. */
export const apiKeyRandomBytes = 32;

const apiKeyPattern = new RegExp(
  `^opo_(${shopIdText})_([0-9A-Za-z]{${secretLength}})([0-9A-Za-z]{${checksumLength}})$`,
);

/** A new key: `apiKey` is shown once, the rest is stored. */
interface NewApiKey {
  readonly apiKey: string;
  readonly secretHash: string;
  readonly lastFour: string;
}

/** Makes a key of the shop from `apiKeyRandomBytes` random bytes. @throws TypeError for another number of bytes. */
export function makeApiKey(shopId: string, random: Uint8Array): NewApiKey {
  if (random.length !== apiKeyRandomBytes) throw new TypeError(`a key takes ${apiKeyRandomBytes} random bytes`);
  const secret = base62(random, secretLength);
  const checked = secret + checksum(shopId, secret);
  return { apiKey: `opo_${shopId}_${checked}`, secretHash: secretHash(checked), lastFour: checked.slice(-4) };
}

/** Reads the shop and the secret's hash from a key; null when the text is not a key of this service. */
export function parseApiKey(apiKey: string): { readonly shopId: string; readonly secretHash: string } | null {
  const [, shopId, secret, sum] = apiKeyPattern.exec(apiKey) ?? [];
  if (shopId === undefined || secret === undefined || sum === undefined) return null;
  return sum === checksum(shopId, secret) ? { shopId, secretHash: secretHash(secret + sum) } : null;
}

const secretHash = (secret: string): string => createHash("sha256").update(secret).digest("hex");

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
