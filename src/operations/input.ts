/**
 * Validation at the door: a schema's findings as details that a person understands (C3, C11).
 */
import type { z } from "zod";
import { Fault, type ValidationDetail } from "../core/fault.ts";
import { jsonPointer } from "../core/json.ts";

/** Details that the message spells out; `details` has them all. */
const spelledOutMax = 3;

/**
 * What the schema makes of `raw`. `found` is what was noticed before; nothing more is said about its
 * paths.
 *
 * @throws Fault INVALID_INPUT with one detail for everything that is wrong.
 */
export function checkInput<T>(schema: z.ZodType<T>, raw: unknown, found: readonly ValidationDetail[] = []): T {
  const result = schema.safeParse(raw);
  const paths = new Set(found.map((detail) => detail.path));
  const issues = result.success ? [] : result.error.issues.flatMap(detailsOf);
  const details = [...found, ...issues.filter((detail) => !paths.has(detail.path))];
  if (result.success && details.length === 0) return result.data;
  const spelledOut = details.slice(0, spelledOutMax).map((detail) => `${detail.path || "body"}: ${detail.message}`);
  const more = details.length > spelledOutMax ? ` (and ${details.length - spelledOutMax} more)` : "";
  throw new Fault("INVALID_INPUT", `${spelledOut.join("; ")}${more}`, {
    details,
    action: "Correct what details names and send the request again.",
  });
}

function detailsOf(issue: z.core.$ZodIssue): readonly ValidationDetail[] {
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) => ({ path: jsonPointer([...issue.path, key]), message: "unknown field" }));
  return [{ path: jsonPointer(issue.path), message: messageOf(issue) }];
}

function messageOf(issue: z.core.$ZodIssue): string {
  if (issue.code === "invalid_union" && issue.message === "Invalid input") {
    const messages = issue.errors.flatMap((branch) => branch.slice(0, 1).map(messageOf));
    if (messages.length > 0) return [...new Set(messages)].join(" or ");
  }
  if (issue.code === "invalid_type" && issue.message.endsWith("received undefined")) return "is required";
  const message = issue.message.replace(/^Invalid (?:input|option): /, "");
  return message.charAt(0).toLowerCase() + message.slice(1);
}
