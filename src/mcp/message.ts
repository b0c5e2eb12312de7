/**
 * One JSON-RPC message of a client, as far as it is read before the protocol library gets it.
 */
import { Fault } from "../core/fault.ts";
import { isJsonObject, type Json, type JsonObject, parseJson } from "../core/json.ts";

/** What the strict reading of C10 finds wrong with a message that JSON.parse reads. */
export interface Malformed {
  readonly fault: Fault;
  readonly bytes: Uint8Array;
}

/** Reads a message; null when it is no JSON at all. */
export function readMessage(
  bytes: Uint8Array,
): { readonly message: Json; readonly malformed: Malformed | null } | null {
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

/** What a message asks for; `tool` is null unless it is a tool call. */
interface Asked {
  readonly id: string | number | null;
  readonly method: Json | undefined;
  readonly tool: string | null;
}

export function askedOf(message: JsonObject): Asked {
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
