/**
 * Shared by adapters that speak HTTP: reading an answer within a bound, and the meaning of a failed request for
 * a write (F3).
 */
import { JoinedBytes } from "../base/joined-bytes.ts";
import { StorefrontError } from "./storefront.ts";

/** The largest answer that is read. 250 variants with their levels have about 100,000 bytes. */
export const storefrontAnswerBytesMax = 8_388_608;

/**
 * Time limit of one request, with its answer. Below the time limit of a call of the port, so that a retry still fits.
 */
export const storefrontRequestMsMax = 8_000;

/** Errors before anything was sent. */
const unsentCodes: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
  "CERT_HAS_EXPIRED",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "ERR_TLS_CERT_ALTNAME_INVALID",
]);

/**
 * The error codes of this error, its causes and their parts: an address that fails on IPv4 and IPv6 has one for each.
 */
function codesOf(error: unknown): readonly string[] {
  if (!(error instanceof Error)) return [];
  const own = "code" in error && typeof error.code === "string" ? [error.code] : [];
  const parts: readonly unknown[] = error instanceof AggregateError ? error.errors : [];
  return [...own, ...[error.cause, ...parts].flatMap(codesOf)];
}

/** A request without an answer, as an error of the port. `landed`: what is so when the request has left. */
export function unreached(platform: string, error: unknown, landed: "no" | "maybe"): StorefrontError {
  const codes = codesOf(error);
  const reason = codes.length === 0 ? "" : ` (${[...new Set(codes)].join(", ")})`;
  return new StorefrontError("error", `${platform} could not be reached${reason}`, {
    landed: codes.length > 0 && codes.every((code) => unsentCodes.has(code)) ? "no" : landed,
  });
}

/** The body as text. @throws StorefrontError when it is larger than `storefrontAnswerBytesMax`. */
export async function bodyText(platform: string, response: Response): Promise<string> {
  const bytes = new JoinedBytes();
  for await (const piece of response.body ?? []) {
    if (bytes.length + piece.byteLength > storefrontAnswerBytesMax)
      throw new StorefrontError("error", `${platform}'s answer is larger than ${storefrontAnswerBytesMax} bytes`, {
        landed: "maybe",
      });
    bytes.add(piece);
  }
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.joined());
}

/** Wait after a 429 that states none. */
const throttledMs = 1_000;

/** Returns the wait that a 429 asks for. */
export function retryAfterOf(headers: Headers): number {
  const seconds = Number(headers.get("retry-after") ?? Number.NaN);
  return Number.isFinite(seconds) && seconds > 0 ? Math.ceil(seconds * 1_000) : throttledMs;
}
