/**
 * Idempotency keys: their form, what makes two requests the same, and how long an answer is stored (spec "Idempotency",
 * C17, C21).
 *
 * Does not own: storing and replaying answers (requests/idempotency.ts).
 */
import { createHash } from "node:crypto";
import { dayMs } from "../../base/time/calendar.ts";
import { Fault } from "../../base/fault.ts";
import { mention } from "../order/guidance.ts";
import { canonicalJson, type Json } from "../../base/json.ts";

/** Characters of an idempotency key. */
export const idempotencyKeyLengthMax = 255;
/** Time for which an answer is stored: 24 hours. */
export const idempotencyLifetimeMs = dayMs;

/**
 * Reads the Idempotency-Key of a write; null when it has none.
 *
 * @param values one entry per header line.
 * @throws Fault INVALID_INPUT when it is empty, given more than once or longer than `idempotencyKeyLengthMax`.
 */
export function parseIdempotencyKey(values: readonly string[]): string | null {
  const problem = idempotencyKeyProblem(values);
  if (problem !== null) throw invalidKey(problem);
  return values[0] ?? null;
}

/** Returns the problem with the Idempotency-Key of a write; null without one. */
export function idempotencyKeyProblem(values: readonly string[]): string | null {
  const [key] = values;
  if (key === undefined) return null;
  if (values.length > 1) return "is given more than once";
  if (key === "") return "is empty";
  return key.length > idempotencyKeyLengthMax ? `is longer than ${idempotencyKeyLengthMax} characters` : null;
}

const invalidKey = (what: string): Fault =>
  new Fault("INVALID_INPUT", `The ${mention("idempotencyKey")} ${what}.`, {
    action: `Send one unique string of 1 to ${idempotencyKeyLengthMax} characters, or leave it out.`,
  });

/** Facts that make two requests the same. `body` is the JSON value, or the bytes when they are not acceptable JSON. */
export interface RequestIdentity {
  readonly method: string;
  readonly path: string;
  readonly query: readonly (readonly [name: string, value: string])[];
  readonly body: { readonly json: Json } | { readonly bytes: Uint8Array };
}

/**
 * The fingerprint of a request: equal for the same request, different for any other. The order of members, the order of
 * parameters with different names, and the spelling of numbers do not count.
 *
 * Source: C17.
 */
export function requestFingerprint(request: RequestIdentity): string {
  const query = request.query.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  const hash = createHash("sha256").update(canonicalJson([request.method, request.path, query]));
  if ("json" in request.body) hash.update("\njson\n").update(canonicalJson(request.body.json));
  else hash.update("\nbytes\n").update(request.body.bytes);
  return hash.digest("hex");
}
