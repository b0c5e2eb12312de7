/**
 * What each surface calls an operation, told apart from src/requests/wording.ts, and the two checks that every answer of the suite
 * is held to: no text keeps a mention that no surface has put into words, and no agent is shown a method, a path or a header.
 */
import assert from "node:assert/strict";
import { restOperations } from "../../../src/operations/registry.ts";

/** U+0000 as JSON escapes it, unless the backslash is itself escaped. */
const mentionInJson = /(?<!\\)(?:\\\\)*\\u0000/;

/** Fails when an answer holds a mention as the rules write it. */
export function assertWorded(json: string): void {
  assert.doesNotMatch(json, mentionInJson, "a mention was not put into the surface's words");
}

const restWords =
  /\b(?:GET|POST|PATCH|PUT|DELETE)\b|\/api\/v1|\/purchase-orders|\/stock-|-orders\b|\/forecast-views|\/(?:confirm|receive|unreceive|complete|custom)\b(?!-)|Idempotency-Key|If-Match|If-None-Match|ETag|Retry-After|commas|data\.\w|(?:Messages|Requests) call it|docs\/|\.md\b|poLineItemId|\bitemId\b/;

/** Fails when a text for an agent speaks of REST: methods, paths, headers, how lists are written, other names, files that it cannot open. */
export function assertForAgents(text: string): void {
  assert.doesNotMatch(text, restWords, "an agent was told what only callers of REST know");
}

/** A path as texts spell it: with `{id}`, or in full with the id of a record. */
const spelledPath = (path: string): string => {
  const [before = "", after] = path.split(/\{\w+\}/);
  return after === undefined ? before : `(?:${before}\\{id\\}${after}|/api/v1${before}[\\w ]+${after})`;
};

const routes = restOperations
  .toSorted((a, b) => b.route.path.length - a.route.path.length)
  .map(({ name, route }) => [name, new RegExp(`${route.method} ${spelledPath(route.path)}(?![/\\w])`, "g")] as const);

/** A text or JSON of REST with its routes, headers and the names of a line's id in the words of MCP. */
export const inToolNames = (text: string): string =>
  routes
    .reduce((said, [name, route]) => said.replaceAll(route, name), text)
    .replaceAll("Idempotency-Key", "idempotencyKey")
    .replaceAll("Retry-After", "retryAfterMs")
    .replaceAll(/\b(?:poLineItemId|itemId)\b/g, "lineItemId");
