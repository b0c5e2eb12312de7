/**
 * Grants of a person to an assistant, and the rules of its tokens (C74, C75).
 *
 * Owns: which scope a role may give, the proof that belongs to a code, and what becomes of a refresh token. Does not
 * own: clients and where they are answered (redirects.ts), tokens as texts (base/secret.ts), rows
 * (shop/access/connections.ts).
 */
import { createHash } from "node:crypto";
import { covers, type Role } from "./role.ts";

/** Scopes of keys, and as a client may ask for them (C72), from the least to the most. */
export const scopesSupported = ["read", "propose", "write"] as const;

/** Rights of a key or a connection: to read, to propose what a person decides (C77), to write. */
export type KeyScope = (typeof scopesSupported)[number];

/** Time in which a code can be exchanged for tokens. */
export const connectCodeMs = 60_000;

/** Time for which a used code is remembered. */
export const usedCodeMs = 86_400_000;

/** Life of an access token. */
export const accessTokenMs = 3_600_000;

/** A connection whose refresh token was not used for this time ends. */
export const refreshIdleMs = 7_776_000_000;

/** For this time after a refresh token was exchanged, its client may be told the same successor again. */
export const rotationGraceMs = 10_000;

/** The most that a person may give: what their role lets them do with every order. */
export const scopeOfRole = (role: Role): KeyScope => (covers(role, "purchaser") ? "write" : "read");

/** The lesser of what was given and what the person may do now. */
export const effectiveScope = (granted: KeyScope, role: Role): KeyScope =>
  granted === "read" || scopeOfRole(role) === "read" ? "read" : granted;

/** A challenge of the `S256` kind: the SHA-256 of the proof in base64url (RFC 7636). */
export const isChallenge = (text: string): boolean => /^[\w-]{43}$/.test(text);

/** True if the proof is the one whose challenge came with the request. */
export const provesChallenge = (verifier: string, challenge: string): boolean =>
  /^[\w.~-]{43,128}$/.test(verifier) && createHash("sha256").update(verifier).digest("base64url") === challenge;

/** A refresh token as stored. */
interface RefreshState {
  readonly expiresAtMs: number;
  /** When it was exchanged for its successor; null: it is the newest. */
  readonly usedAtMs: number | null;
}

/**
 * Decides what becomes of a refresh token that is sent.
 *
 * - `rotate`: it is the newest and gets a successor.
 * - `repeat`: it was rotated a moment ago, and the same successor is told again.
 * - `reused`: somebody has kept a copy. The connection ends.
 * - `expired`: it was not used for too long.
 */
export function decideRefresh(
  { expiresAtMs, usedAtMs }: RefreshState,
  nowMs: number,
): "rotate" | "repeat" | "reused" | "expired" {
  if (usedAtMs !== null) return nowMs - usedAtMs <= rotationGraceMs ? "repeat" : "reused";
  return expiresAtMs <= nowMs ? "expired" : "rotate";
}
