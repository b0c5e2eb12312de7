/**
 * Passkeys by which people sign in (C49): where they hold, whom they name, and the challenges that they answer. Pure.
 *
 * A challenge is stored nowhere: it says when it was made and for what, signed with a secret that all processes share.
 * So a flood of requests for challenges costs nothing. What was answered is noted in the shop until it expires.
 */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { shopIdPattern } from "../../base/secret.ts";
import { isLoopbackHost } from "./redirects.ts";

/** Time in which a challenge can be answered. */
export const passkeyChallengeMs = 300_000;

/** Passkeys of a person. */
export const passkeysOfPersonMax = 20;

/** Characters of a passkey's name. */
export const passkeyNameMax = 100;

/** Random bytes of a challenge. */
export const challengeRandomBytes = 16;

const timeLength = 6;

/** The relying party: the host that passkeys are bound to, and the only origin at which they are used. */
export interface RelyingParty {
  readonly id: string;
  readonly origin: string;
}

const isAddress = (hostname: string): boolean => hostname.startsWith("[") || /^[\d.]+$/.test(hostname);

/**
 * The relying party of a service at this address; null where browsers know no passkeys: without TLS, and where the host
 * is an address. The machine itself is `localhost`.
 */
export function relyingPartyOf(url: string | null): RelyingParty | null {
  if (url === null) return null;
  const { protocol, hostname, port } = new URL(url);
  const id = isLoopbackHost(hostname) ? "localhost" : hostname;
  if (isAddress(id) || (protocol !== "https:" && id !== "localhost")) return null;
  return { id, origin: `${protocol}//${id}${port === "" ? "" : `:${port}`}` };
}

/**
 * Names a person to an authenticator, in at most 64 bytes. By the shop's id the shop is found. The person's would not
 * fit, so a hash of it follows.
 */
export const passkeyHandle = (shopId: string, personId: string): string =>
  `${shopId}:${createHash("sha256").update(personId).digest("base64url").slice(0, 22)}`;

/** The shop in a handle; null when it is none. */
export function shopOfHandle(handle: string): string | null {
  const [, shopId = ""] = /^([^:]+):[\w-]{22}$/.exec(handle) ?? [];
  return shopIdPattern.test(shopId) ? shopId : null;
}

/** Purpose of a challenge: signing in, or adding a passkey to this person. */
export type ChallengePurpose = "sign in" | { readonly shopId: string; readonly personId: string };

function seal(secret: string, purpose: ChallengePurpose, head: Uint8Array): Buffer {
  const words = purpose === "sign in" ? [purpose] : ["add", purpose.shopId, purpose.personId];
  return createHmac("sha256", secret).update(JSON.stringify(words)).update(head).digest();
}

/** Makes a challenge. @param random `challengeRandomBytes` random bytes. */
export function makeChallenge(
  secret: string,
  purpose: ChallengePurpose,
  nowMs: number,
  random: Uint8Array,
): Uint8Array<ArrayBuffer> {
  const time = Buffer.alloc(timeLength);
  time.writeUIntBE(nowMs, 0, timeLength);
  const head = Buffer.concat([time, random]);
  return new Uint8Array([...head, ...seal(secret, purpose, head)]);
}

/** When the challenge expires; null when it is none that was made for this. @param text  it, in base64url. */
export function challengeExpiry(secret: string, purpose: ChallengePurpose, text: string): number | null {
  const bytes = Buffer.from(text, "base64url");
  const head = bytes.subarray(0, timeLength + challengeRandomBytes);
  const sent = bytes.subarray(head.length);
  const sealed = seal(secret, purpose, head);
  // Another way to write the same bytes would be another challenge to whoever notes it.
  if (bytes.toString("base64url") !== text || sent.length !== sealed.length || !timingSafeEqual(sent, sealed))
    return null;
  return head.readUIntBE(0, timeLength) + passkeyChallengeMs;
}
