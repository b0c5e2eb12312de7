/** Texts of signing in: typed or pasted, in an address, and kept by the browser. Pure. */

/** `unknown`: nothing yet, or nothing that anybody signs in with. */
type Kind = "unknown" | "email" | "apiKey" | "adminToken" | "invitation" | "link";

export interface Typed {
  readonly kind: Kind;
  readonly credential: string;
}

const kinds: readonly (readonly [Exclude<Kind, "unknown">, RegExp])[] = [
  ["invitation", /opi_[\w-]+$/],
  ["link", /opm_[\w-]+$/],
  ["apiKey", /^opo_\S*$/],
  ["email", /^[^\s@]+@[^\s@]+$/],
  // The service takes no token below 16 characters.
  ["adminToken", /^(?:opa_\S*|[^\s@]{16,})$/],
];

/** The typed text without blanks around it, and what it is. Of a pasted address only its secret is kept. */
export function credentialOf(typed: string): Typed {
  const text = typed.trim();
  for (const [kind, form] of kinds) {
    const [credential] = form.exec(text) ?? [];
    if (credential !== undefined) return { kind, credential };
  }
  return { kind: "unknown", credential: text };
}

/** The invitation, or the link that was mailed, in the fragment of an address; null without one. */
export const secretIn = (hash: string): Typed | null =>
  /^#op[im]_[\w-]+$/.test(hash) ? credentialOf(hash.slice(1)) : null;

/** A place is gone back to for as long as a link can be used. */
export const placeKeptMs = 900_000;

/** The place in what was kept: when, and where. */
export function placeIn(kept: string | null, nowMs: number): string | null {
  const [, atMs, href] = /^(\d+) (\/console(?:[/?].*)?)$/.exec(kept ?? "") ?? [];
  return href !== undefined && nowMs - Number(atMs) < placeKeptMs ? href : null;
}
