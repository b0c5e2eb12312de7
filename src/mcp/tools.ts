/**
 * The registry as tools: the definition of a tool, a tool call as the REST request that it stands for, an answer as a result.
 *
 * Owns: how operations are shown to agents. Does not own: who may do what (operations/perform.ts), what an operation does, the
 * protocol (protocol.ts).
 *
 * Invariants:
 * - M1. A tool call is the REST request with the same members: the same method, path, query and body, so that an idempotency key used
 *       on one surface is known on the other (C17). A tool without a REST request is a request of its own kind: the method is
 *       `TOOL`, the path the tool's name and the body its members. No HTTP request can be the same.
 * - M2. A tool's result is what the operation's output schema says, or the error body that REST would answer (C2, C3).
 */
import type { CallToolResult, JSONObject, JSONValue, Tool, ToolAnnotations } from "@modelcontextprotocol/server";
import { z } from "zod";
import type { ValidationDetail } from "../core/fault.ts";
import { idempotencyKeyLengthMax } from "../core/idempotency.ts";
import type { JsonObject } from "../core/json.ts";
import { apiPrefix, type Binding, bindingOf, type SpelledRequest, spellRequest } from "../http/routes.ts";
import type { Reply } from "../operations/envelope.ts";
import { isRestOperation, type Operation, type Repeat } from "../operations/operation.ts";
import type { Incoming } from "../operations/request.ts";
import type { Malformed } from "./message.ts";

/** A longer answer is in the structured content only; the text then asks clients that read only text to page. */
export const textLengthMax = 100_000;

const keyMember = "idempotencyKey";

export interface OperationTool {
  readonly operation: Operation;
  /** Where its members come from on REST; null when REST has no path for it. */
  readonly binding: Binding | null;
  readonly definition: Tool;
}

const tools = new WeakMap<Operation, OperationTool>();

/** The operation as a tool. It is made once, because translating the schemas takes milliseconds. */
export function toolOf(operation: Operation): OperationTool {
  const tool = tools.get(operation) ?? toolMadeOf(operation);
  tools.set(operation, tool);
  return tool;
}

function toolMadeOf(operation: Operation): OperationTool {
  const { name, title, summary, description } = operation;
  return {
    operation,
    binding: isRestOperation(operation) ? bindingOf(operation) : null,
    definition: {
      name,
      title,
      description: `${summary} ${description}`,
      inputSchema: inputSchemaOf(operation),
      outputSchema: outputSchemaOf(operation),
      annotations: annotationsOf(operation),
    },
  };
}

/** Whether repeating a call changes nothing more (spec "Repeat safety without a key"). */
const isIdempotent: Record<Repeat, boolean> = {
  read: true,
  safe: true,
  "adds-again": false,
  refused: false,
  partly: false,
};

/** All four hints. The protocol calls every write destructive that replaces something; only adding is not. */
function annotationsOf({ scope, repeat, destructive, faults }: Operation): ToolAnnotations {
  const write = scope === "write";
  return {
    readOnlyHint: !write,
    destructiveHint: write && (destructive || repeat !== "adds-again"),
    idempotentHint: isIdempotent[repeat],
    openWorldHint: faults.includes("UPSTREAM_STOREFRONT"),
  };
}

const keySchema: JSONObject = {
  type: "string",
  minLength: 1,
  maxLength: idempotencyKeyLengthMax,
  description:
    "A unique string of your own for this one change. Send the same one when you repeat the call after a failure: what was done is answered again, not done twice.",
};

function inputSchemaOf(operation: Operation): Tool["inputSchema"] {
  const { properties = {}, ...rest } = jsonSchemaOf(operation.input, "input");
  // A member that exists only to be refused with a message of its own is not offered.
  const offered = membersOf(properties).filter(([, schema]) => !membersOf(schema).some(([word]) => word === "not"));
  const own = operation.scope === "write" ? [[keyMember, keySchema] as const] : [];
  return { ...rest, type: "object", properties: Object.fromEntries([...offered, ...own]) };
}

const membersOf = (value: JSONValue): readonly (readonly [string, JSONValue])[] =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? Object.entries(value) : [];

const text: JSONObject = { type: "string" };

/** The error body. It is part of the output schema, because some clients validate failures against that too. */
const errorSchema: JSONObject = {
  type: "object",
  description: "When isError is true.",
  properties: {
    error: {
      type: "object",
      properties: {
        code: text,
        message: text,
        retryable: { type: "boolean" },
        requestId: text,
        retryAfterMs: { type: "integer" },
        action: text,
        reason: text,
        details: { type: "array", items: { type: "object" } },
      },
      required: ["code", "message", "retryable", "requestId"],
    },
  },
  required: ["error"],
};

function outputSchemaOf(operation: Operation): NonNullable<Tool["outputSchema"]> {
  const { $defs, ...output } = jsonSchemaOf(operation.output, "output");
  return { type: "object", anyOf: [output, errorSchema], ...($defs === undefined ? {} : { $defs }) };
}

/** A zod schema as JSON Schema, without our own metadata and without bounds that every integer has. */
function jsonSchemaOf(schema: z.ZodType, io: "input" | "output"): JSONObject {
  const generated = z.toJSONSchema(schema, {
    io,
    unrepresentable: "any",
    override: ({ jsonSchema }) => {
      for (const member of ["query", "body", "id", "example"]) delete jsonSchema[member];
      if (jsonSchema.format === "date" || jsonSchema.format === "date-time") delete jsonSchema.pattern;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  const { $schema: _, ...plain }: JSONObject = JSON.parse(JSON.stringify(generated));
  return plain;
}

/** A tool call as it was received. */
interface ToolCall {
  readonly tool: OperationTool;
  readonly arguments: JsonObject;
  readonly requestId: string;
  readonly bearerToken: string | null;
  /** What is wrong with the message as a whole. */
  readonly malformed: Malformed | null;
}

/** The request that the call stands for (M1). */
export function incomingOf(call: ToolCall): Incoming {
  const { tool, malformed } = call;
  const { binding, operation } = tool;
  const { [keyMember]: key, ...input } = call.arguments;
  const takesKey = operation.scope === "write";
  const found: readonly ValidationDetail[] =
    takesKey && key !== undefined && typeof key !== "string"
      ? [{ path: `/${keyMember}`, message: "must be a string" }]
      : [];
  const { method, path, query, body } = requestOf(operation, binding, input);
  return {
    surface: "mcp",
    requestId: call.requestId,
    bearerToken: call.bearerToken,
    target: operation,
    method,
    path,
    query,
    idempotencyKeys: typeof key === "string" ? [key] : [],
    ifMatch: null,
    ifNoneMatch: null,
    body: () => Promise.resolve(malformed?.bytes ?? new TextEncoder().encode(JSON.stringify(body))),
    assemble: () => {
      if (malformed !== null) throw malformed.fault;
      return { raw: takesKey ? input : call.arguments, found };
    },
  };
}

/** The method of a tool that stands for no REST request. */
const toolMethod = "TOOL";

/** What identifies the call: method, path, query and body (M1). */
function requestOf(
  operation: Operation,
  binding: Binding | null,
  input: JsonObject,
): SpelledRequest & { readonly method: string } {
  if (binding === null) return { method: toolMethod, path: `/${operation.name}`, query: [], body: input };
  const spelled = spellRequest(binding, input);
  return { ...spelled, method: binding.operation.route.method, path: apiPrefix + spelled.path };
}

const replySchema = z.union([
  z.object({ data: z.record(z.string(), z.unknown()), meta: z.object({ requestId: z.string() }) }),
  z.object({
    error: z.looseObject({ code: z.string(), message: z.string(), retryable: z.boolean(), requestId: z.string() }),
  }),
]);

/** An answer as a tool's result (M2). The text repeats it for clients that read only text. */
export function resultOf(reply: Reply): CallToolResult {
  const body = replySchema.parse(JSON.parse(reply.body));
  const isError = "error" in body;
  const structuredContent = isError ? body : body.data;
  const { requestId } = isError ? body.error : body.meta;
  const replayed = reply.headers["Idempotent-Replayed"] === undefined ? {} : { "openpo/idempotentReplayed": true };
  return {
    content: [{ type: "text", text: textOf(structuredContent) }],
    structuredContent,
    ...(isError ? { isError } : {}),
    _meta: { "openpo/requestId": requestId, ...replayed },
  };
}

function textOf(content: object): string {
  const json = JSON.stringify(content);
  if (json.length <= textLengthMax) return json;
  return `The answer has ${json.length} characters and is in the structured content only. Ask for less (limit and cursor, or narrower filters) to have it as text.`;
}
