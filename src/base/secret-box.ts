/**
 * Secrets as they are stored, of storefronts and of webhook endpoints: sealed with AES-256-GCM under the operator's
 * key, each for its shop. A copy of the data without the key reveals none of them, and one that is moved to another
 * shop's row cannot be opened.
 */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

/** The variable with the key. */
export const secretKeyVariable = "OPENPO_SECRET_KEY";

const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;
const version = "v1";

/** Name of a secret, and the way out when it cannot be read. */
export interface SecretNamed {
  readonly what: string;
  readonly wayOut: string;
}

const storefrontToken: SecretNamed = { what: "the storefront's access token", wayOut: "connect the shop anew" };

/** A sealed secret cannot be opened. The message names the variable and says what to do. */
export class SecretUnreadable extends Error {
  override readonly name = "SecretUnreadable";
}

/** The key as it is configured: 32 bytes in base64; null when the text is anything else. */
export function secretKeyFrom(text: string): Uint8Array | null {
  const key = Buffer.from(text, "base64");
  return key.byteLength === keyBytes && key.toString("base64") === text ? key : null;
}

export class SecretBox {
  readonly #key: Uint8Array | null;

  /** @param key null: nothing can be sealed or opened. */
  constructor(key: Uint8Array | null) {
    this.#key = key;
  }

  get hasKey(): boolean {
    return this.#key !== null;
  }

  /** @throws SecretUnreadable without a key. */
  seal(shopId: string, secret: string): string {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv("aes-256-gcm", this.#keyOrThrow(), nonce);
    cipher.setAAD(Buffer.from(shopId));
    const sealed = Buffer.concat([cipher.update(secret, "utf8"), cipher.final()]);
    return `${version}.${Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString("base64")}`;
  }

  /** The secret as it is stored where a key is no must: sealed if there is one. `openIfSealed` reads it. */
  sealIfAble(shopId: string, secret: string): string {
    return this.hasKey ? this.seal(shopId, secret) : secret;
  }

  /** True if a stored secret is still to be sealed. */
  mayBeSealed(stored: string): boolean {
    return this.hasKey && !isSealed(stored);
  }

  /** @throws SecretUnreadable when it is sealed and the key is not here. */
  openIfSealed(shopId: string, stored: string, named: SecretNamed): string {
    return isSealed(stored) ? this.open(shopId, stored, named) : stored;
  }

  /** @throws SecretUnreadable without the key under which it was sealed. */
  open(shopId: string, sealed: string, named: SecretNamed = storefrontToken): string {
    const key = this.#keyOrThrow(named);
    const bytes = Buffer.from(sealed.slice(version.length + 1), "base64");
    if (!isSealed(sealed) || bytes.byteLength < nonceBytes + tagBytes) throw unreadable(named);
    try {
      const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, nonceBytes));
      decipher.setAAD(Buffer.from(shopId));
      decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
      return Buffer.concat([decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()]).toString("utf8");
    } catch {
      throw unreadable(named);
    }
  }

  #keyOrThrow({ what }: SecretNamed = storefrontToken): Uint8Array {
    if (this.#key === null) throw new SecretUnreadable(`${what} cannot be read: ${secretKeyVariable} is not set`);
    return this.#key;
  }
}

const isSealed = (stored: string): boolean => stored.startsWith(`${version}.`);

const unreadable = ({ what, wayOut }: SecretNamed): SecretUnreadable =>
  new SecretUnreadable(
    `${what} cannot be read: ${secretKeyVariable} is not the key under which it was stored. Set that key again, or ${wayOut}`,
  );
