/**
 * Idempotency keys: which are acceptable, what makes two requests the same, and how long an answer is kept (spec "Idempotency",
 * C17, C21). Storing and replaying is operations/perform.ts.
 */
import { createHash } from "node:crypto";
import { Fault } from "./fault.ts";
import { mention } from "./guidance.ts";
import { canonicalJson, type Json } from "./json.ts";

export const idempotencyKeyLengthMax = 255;
/** 24 hours from the stored answer. */
export const idempotencyLifetimeMs = 86_400_000;

/**
 * The key that a write carries, or null when it carries none. `values` holds one entry per header line.
 *
 * @throws Fault INVALID_INPUT when it is empty, given more than once or longer than `idempotencyKeyLengthMax`.
 */
export function parseIdempotencyKey(values: readonly string[]): string | null {
  const [key] = values;
  if (key === undefined) return null;
  if (values.length > 1) throw invalidKey("is given more than once");
  if (key === "") throw invalidKey("is empty");
  if (key.length > idempotencyKeyLengthMax) throw invalidKey(`is longer than ${idempotencyKeyLengthMax} characters`);
  return key;
}

const invalidKey = (what: string): Fault =>
  new Fault("INVALID_INPUT", `The ${mention("idempotencyKey")} ${what}.`, {
    action: `Send one unique string of 1 to ${idempotencyKeyLengthMax} characters, or leave it out.`,
  });

/** What makes a request the same as another. `body` is its meaning, or its bytes when it is not acceptable JSON. */
export interface RequestIdentity {
  readonly method: string;
  readonly path: string;
  readonly query: readonly (readonly [name: string, value: string])[];
  readonly body: { readonly json: Json } | { readonly bytes: Uint8Array };
}

/** Equal for the same request, different for any other: order of members and of parameters and spelling of numbers do not count. */
export function requestFingerprint(request: RequestIdentity): string {
  const query = request.query.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  const hash = createHash("sha256").update(canonicalJson([request.method, request.path, query]));
  if ("json" in request.body) hash.update("\njson\n").update(canonicalJson(request.body.json));
  else hash.update("\nbytes\n").update(request.body.bytes);
  return hash.digest("hex");
}
