/**
 * Input from outside: a body as JSON, and what a schema makes of it, with details that a person understands (C3, C11).
 */
import { z } from "zod";
import { Fault, type ValidationDetail } from "../base/fault.ts";
import { type Json, jsonPointer, parseJson } from "../base/json.ts";

/**
 * Values of a body or record of which every mistake is looked for. Of a larger one the first is told: each mistake
 * takes a kilobyte until it is.
 */
export const mistakenValuesMax = 100_000;

/** Mistakes of a body or query that `error.details` names. */
export const detailsMax = 100;

/** Characters of one text in `error.details`, and of a caller's text in a message. */
export const detailLengthMax = 500;

/**
 * A request's body. One that is not acceptable JSON keeps its bytes, which identify it (C17), and its fault, which
 * comes later (C1).
 */
export type Body = { readonly json: Json } | { readonly bytes: Uint8Array; readonly fault: Fault };

export function parseBody(bytes: Uint8Array): Body {
  try {
    return { json: parseJson(bytes) };
  } catch (error) {
    if (error instanceof Fault) return { bytes, fault: error };
    throw error;
  }
}

/** Details that the message spells out; `details` has all of them. */
const spelledOutMax = 3;

/**
 * Reads `raw` by the schema. `found` holds mistakes that were noticed before; the schema's findings about the same
 * paths are left out.
 *
 * @throws Fault INVALID_INPUT with one detail for each mistake.
 */
export function checkInput<T>(schema: z.ZodType<T>, raw: unknown, found: readonly ValidationDetail[] = []): T {
  const first = schema.safeParse(raw, untilFirstMistake);
  if (first.success && found.length === 0) return first.data;
  const paths = new Set(found.map((detail) => detail.path));
  const result = first.success || !hasFewValues(raw) ? first : schema.safeParse(raw, everyMistake);
  const issues = result.success ? [] : result.error.issues;
  const details = found.slice(0, detailsMax).map(shortened);
  for (const detail of eachDetail(issues)) {
    // A body of a megabyte may have a hundred thousand mistakes.
    if (details.length === detailsMax) break;
    if (!paths.has(detail.path)) details.push(shortened(detail));
  }
  const isCut = details.length === detailsMax;
  const count = isCut ? found.length + issues.reduce((sum, issue) => sum + detailCountOf(issue), 0) : details.length;
  const spelledOut = details.slice(0, spelledOutMax).map((detail) => `${detail.path || "body"}: ${detail.message}`);
  const more = count > spelledOutMax ? ` (and ${count - spelledOutMax} more)` : "";
  throw new Fault("INVALID_INPUT", `${spelledOut.join("; ")}${more}`, {
    details,
    action: "Correct what details names and send the request again.",
  });
}

/** True if the value has no more than `mistakenValuesMax` values in it. */
function hasFewValues(raw: unknown): boolean {
  let left = mistakenValuesMax;
  const fits = (value: unknown): boolean => {
    left -= 1;
    if (left < 0) return false;
    return typeof value !== "object" || value === null || Object.values(value).every(fits);
  };
  return fits(raw);
}

/** Names the fields that are known where unknown ones were found (C11). */
const unknownFields = ({ code, inst }: z.core.$ZodRawIssue): string | undefined =>
  code === "unrecognized_keys" ? `unknown field${knownIn(inst)}` : undefined;

function knownIn(schema: unknown): string {
  const names = schema instanceof z.ZodObject ? Object.keys(schema.def.shape) : [];
  return names.length === 0 ? "" : `; known here: ${names.join(", ")}`;
}

const everyMistake = { error: unknownFields };

/** zod goes on after the first part that has a mistake only where it is asked to. */
const untilFirstMistake = { ...everyMistake, abortEarly: true };

function* eachDetail(issues: readonly z.core.$ZodIssue[]): Generator<ValidationDetail> {
  for (const issue of issues)
    if (issue.code === "unrecognized_keys")
      for (const key of issue.keys) yield { path: jsonPointer([...issue.path, key]), message: issue.message };
    else yield { path: jsonPointer(issue.path), message: messageOf(issue) };
}

const detailCountOf = (issue: z.core.$ZodIssue): number => (issue.code === "unrecognized_keys" ? issue.keys.length : 1);

/** The detail with its texts cut at `detailLengthMax`: a field's name may be as long as the body. */
const shortened = ({ path, message }: ValidationDetail): ValidationDetail => ({
  path: shortText(path),
  message: shortText(message),
});

const shortText = (text: string): string =>
  text.length <= detailLengthMax ? text : `${text.slice(0, detailLengthMax)}…`;

function messageOf(issue: z.core.$ZodIssue): string {
  if (issue.code === "invalid_union" && issue.message === "Invalid input") {
    const messages = issue.errors.flatMap((branch) => branch.slice(0, 1).map(messageOf));
    if (messages.length > 0) return [...new Set(messages)].join(" or ");
  }
  if (issue.code === "invalid_type" && issue.message.endsWith("received undefined")) return "is required";
  // A message of our own may begin with an id.
  if (issue.code === "custom") return issue.message;
  const message = issue.message.replace(/^Invalid (?:input|option): /, "");
  return message.charAt(0).toLowerCase() + message.slice(1);
}
