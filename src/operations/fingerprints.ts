/**
 * Fingerprints of requests that were repeated (C17). A client repeats a request with the same bytes, as a rule; then its body need not be read
 * anew, which is a fifth of the time of a replay.
 *
 * Owns: which bytes have which fingerprint. Does not own: the fingerprint (core/idempotency.ts). It follows from the bytes alone, so what is
 * remembered is never out of date.
 */
import { createHash } from "node:crypto";
import { type RequestIdentity, requestFingerprint } from "../core/idempotency.ts";
import { fingerprintsKnownMax } from "../core/limits.ts";
import { RecentMap } from "../core/recent-map.ts";
import type { Body } from "./input.ts";

export class Fingerprints {
  /** By a hash of the request as it was sent, the one used last at the end. */
  readonly #known = new RecentMap<string>(fingerprintsKnownMax);

  /** @param read the body's meaning, asked for only if it is needed. */
  of(request: Omit<RequestIdentity, "body">, bytes: Uint8Array, read: () => Body): string {
    const { method, path, query } = request;
    const sent = createHash("sha256")
      .update(JSON.stringify([method, path, query]))
      .update(bytes)
      .digest("base64");
    const fingerprint = this.#known.get(sent) ?? fingerprintOf(request, read());
    this.#known.set(sent, fingerprint);
    return fingerprint;
  }
}

export const fingerprintOf = (request: Omit<RequestIdentity, "body">, body: Body): string =>
  requestFingerprint({ ...request, body: "fault" in body ? { bytes: body.bytes } : body });
