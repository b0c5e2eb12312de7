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

/**
 * A mistake in words that stand beside a field; undefined: zod's own. Fields that are unknown are told which are known
 * (C11). A schema's own text comes before.
 */
function wordsFor(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === "unrecognized_keys") return `unknown field${knownIn(issue.inst)}`;
  if (issue.code === "invalid_type")
    return issue.input === undefined ? "is required" : `must be ${typeNames[issue.expected] ?? issue.expected}`;
  if (issue.code === "invalid_value")
    return `must be ${issue.values.length === 1 ? "" : "one of "}${issue.values.map(String).join(", ")}`;
  if (issue.code === "not_multiple_of") return `must be a multiple of ${issue.divisor}`;
  if (issue.code === "invalid_format") return formatWords(issue);
  if (issue.code !== "too_small" && issue.code !== "too_big") return undefined;
  const isLow = issue.code === "too_small";
  const bound = isLow ? issue.minimum : issue.maximum;
  const counted = countedNames[issue.origin];
  if (counted === undefined)
    return issue.inclusive === false
      ? `must be ${isLow ? "above" : "below"} ${bound}`
      : `must be ${bound} or ${isLow ? "more" : "less"}`;
  if (isLow && Number(bound) === 1) return "must not be empty";
  return `must have ${issue.exact === true ? "exactly" : isLow ? "at least" : "at most"} ${bound} ${counted}${Number(bound) === 1 ? "" : "s"}`;
}

const typeNames: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
  null: "null",
};

const countedNames: Readonly<Record<string, string>> = { string: "character", array: "item", record: "entry" };

const formatNames: Readonly<Record<string, string>> = {
  date: "a day as YYYY-MM-DD",
  datetime: "a time as 2026-01-31T12:00:00Z",
};

function formatWords({ format, pattern }: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidStringFormat>): string {
  if (format === "regex") return `must match ${String(pattern)}`;
  return `must be ${formatNames[format] ?? `a valid ${format}`}`;
}

const knownIn = (schema: unknown): string =>
  knownHere(schema instanceof z.ZodObject ? Object.keys(schema.def.shape) : []);

/** End of a message about a name that is not known: those that are (C11). */
export const knownHere = (names: readonly string[]): string =>
  names.length === 0 ? "" : `; known here: ${names.join(", ")}`;

const everyMistake = { error: wordsFor };

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
    if (messages.length > 0) return [...new Set(messages)].join(" or ").replaceAll(" or must be ", " or ");
  }
  return issue.message;
}
