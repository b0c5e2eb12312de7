/**
 * API keys: `opo_<shopId>_<secret>` (contract §1). The key names its shop (S7); only a hash of the secret is stored
 * (base/secret.ts).
 */
import { makeSecret, noShopId, parseSecret, type ParsedSecret, secretRandomBytes } from "../../base/secret.ts";

/** Random bytes that make one key. */
export const apiKeyRandomBytes = secretRandomBytes;

/** A new key: `apiKey` is shown once, the rest is stored. */
interface NewApiKey {
  readonly apiKey: string;
  readonly secretHash: string;
  readonly lastFour: string;
}

/** Makes a key of the shop from `apiKeyRandomBytes` random bytes. @throws TypeError for another number of bytes. */
export function makeApiKey(shopId: string, random: Uint8Array): NewApiKey {
  const { text, hash } = makeSecret("opo", shopId, random);
  return { apiKey: text, secretHash: hash, lastFour: text.slice(-4) };
}

/** Reads the shop and the secret's hash from a key; null when the text is not a key of this service. */
export function parseApiKey(apiKey: string): ParsedSecret | null {
  const parsed = parseSecret("opo", apiKey);
  return parsed?.shopId === noShopId ? null : parsed;
}
