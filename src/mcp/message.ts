/**
 * One JSON-RPC message of a client, as far as it is read before the protocol library gets it.
 */
import { Fault } from "../base/fault.ts";
import { cheapLengthMax, isJsonObject, type Json, type JsonObject, parseJson, refuseCostly } from "../base/json.ts";

/** Fault that the strict reading of C10 finds in a message that JSON.parse reads. */
export interface Malformed {
  readonly fault: Fault;
  readonly bytes: Uint8Array;
}

/**
 * Reads a message; null when it is no JSON at all. @throws Fault INVALID_INPUT when it takes longer to read than
 * anybody is granted.
 */
export function readMessage(
  bytes: Uint8Array,
): { readonly message: Json; readonly malformed: Malformed | null } | null {
  if (bytes.length > cheapLengthMax) refuseCostly(new TextDecoder().decode(bytes));
  try {
    return { message: parseJson(bytes), malformed: null };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    try {
      const message: Json = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
      return { message, malformed: { fault: error, bytes } };
    } catch {
      return null;
    }
  }
}

/**
 * True if a message calls a tool, by its beginning: its method must stand before the value that makes it long. It reads
 * each character once and parses nothing.
 */
export function beginsToolCall(beginning: Uint8Array): boolean {
  let depth = 0;
  let member = "";
  let isName = false;
  for (const [token] of new TextDecoder().decode(beginning).matchAll(outline)) {
    if (token === "{" || token === "[") depth += 1;
    else if (token === "}" || token === "]") depth -= 1;
    else if (depth !== 1) continue;
    if (token === "{" || token === ",") isName = true;
    else if (token === ":") isName = false;
    else if (isName) member = token;
    else if (member === '"method"') return token === '"tools/call"';
  }
  return false;
}

/** Strings and punctuation of JSON. The last string may lack its end. */
const outline = /"[^"\\]*(?:\\[^][^"\\]*)*(?:"|\\?$)|[{}[\],:]/g;

const keyMember = '"idempotencyKey"';

/** A message has one key. The member's name may stand in its texts too. */
const keysReadMax = 4;

/** The idempotency keys that a message may carry, found without parsing it. */
export function keysIn(bytes: Uint8Array): readonly string[] {
  const text = new TextDecoder().decode(bytes);
  const keys: string[] = [];
  let at = text.indexOf(keyMember);
  for (let count = 0; at !== -1 && count < keysReadMax; count += 1) {
    const value = /^\s*:\s*("[^"\\]*(?:\\.[^"\\]*)*")/.exec(
      text.slice(at + keyMember.length, at + keyMember.length + 2_000),
    );
    const key = value?.[1] === undefined ? null : readString(value[1]);
    if (key !== null) keys.push(key);
    at = text.indexOf(keyMember, at + keyMember.length);
  }
  return keys;
}

function readString(token: string): string | null {
  try {
    const value: Json = JSON.parse(token);
    return typeof value === "string" ? value : null;
  } catch {
    return null;
  }
}

/** Call in a message; `tool` is null unless it is a tool call. */
interface MessageCall {
  readonly id: string | number | null;
  readonly method: Json | undefined;
  readonly tool: string | null;
}

export function callIn(message: JsonObject): MessageCall {
  const { id, method } = message;
  const { name } = objectIn(message, "params");
  return {
    id: typeof id === "string" || typeof id === "number" ? id : null,
    method,
    tool: method === "tools/call" && typeof name === "string" ? name : null,
  };
}

/** The arguments of a tool call; empty when there are none. */
export const argumentsOf = (message: JsonObject): JsonObject => objectIn(objectIn(message, "params"), "arguments");

/**
 * A tool call as the protocol's library gets it: it would copy the arguments, member by member, which only the
 * operation reads.
 */
export function withoutArguments(message: JsonObject): JsonObject {
  const { arguments: args, ...params } = objectIn(message, "params");
  if (message["method"] !== "tools/call" || args === undefined || !isJsonObject(args)) return message;
  return { ...message, params: { ...params, arguments: {} } };
}

/** The object that is this member; an empty one when there is none. */
function objectIn(value: JsonObject, member: string): JsonObject {
  const found = value[member];
  return found !== undefined && isJsonObject(found) ? found : {};
}

/** A failure as the protocol writes it. */
export const protocolFailure = (
  status: number,
  code: number,
  message: string,
  id: string | number | null = null,
): Response => Response.json({ jsonrpc: "2.0", id, error: { code, message } }, { status });
