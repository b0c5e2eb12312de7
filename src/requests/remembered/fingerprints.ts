/**
 * Fingerprints of requests that were repeated (C17). A client repeats a request with the same bytes, as a rule. Then
 * its body is not parsed again, which is a fifth of the time of a replay.
 *
 * Owns: which bytes have which fingerprint. Does not own: the fingerprint (core/access/idempotency.ts). It follows from
 * the bytes alone, so what is remembered is never out of date.
 */
import { createHash } from "node:crypto";
import { type RequestIdentity, requestFingerprint } from "../../core/access/idempotency.ts";
import { RecentMap } from "../../base/recent-map.ts";
import type { Body } from "../input.ts";

/** Repeated requests whose fingerprint a process remembers: some 300 bytes each, and a short request itself. */
export const fingerprintsKnownMax = 4_096;

/**
 * A repeated request of at most so many characters, path and body, is remembered as it is; a longer one by its hash.
 */
export const fingerprintTextLengthMax = 2_048;

export class Fingerprints {
  /** By the request as it was sent, or by a hash of it where it is long; the one used last at the end. */
  readonly #known = new RecentMap<string>(fingerprintsKnownMax);

  /** @param read the body's meaning, asked for only if it is needed. */
  of(request: Omit<RequestIdentity, "body">, bytes: Uint8Array, read: () => Body): string {
    const sent = nameOf(request, bytes);
    const fingerprint = this.#known.get(sent) ?? fingerprintOf(request, read());
    this.#known.set(sent, fingerprint);
    return fingerprint;
  }
}

/**
 * Different for any two requests: JSON has no line feed of its own, Latin-1 a character for each byte, and a hash no
 * bracket.
 */
function nameOf({ method, path, query }: Omit<RequestIdentity, "body">, bytes: Uint8Array): string {
  const requestText = JSON.stringify([method, path, query]);
  // Looking up a short text takes a quarter of the time that hashing it would.
  if (requestText.length + bytes.length <= fingerprintTextLengthMax)
    return `${requestText}\n${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1")}`;
  return createHash("sha256").update(requestText).update(bytes).digest("base64");
}

export const fingerprintOf = (request: Omit<RequestIdentity, "body">, body: Body): string =>
  requestFingerprint({ ...request, body: "fault" in body ? { bytes: body.bytes } : body });
