/**
 * The registry as tools: the definition of a tool, a tool call as the REST request that it stands for, an answer as a
 * result.
 *
 * Owns: how operations are shown to agents. Does not own: who may do what (requests/perform.ts), what an operation
 * does, the protocol (protocol.ts).
 *
 * Invariants:
 * - M1. A tool call is the REST request with the same members: the same method, path, query and body. So an idempotency
 *       key used on one surface is known on the other (C17). A tool without a REST request is a request of its own
 *       kind. The method is `TOOL`, the path the tool's name and the body its members. No HTTP request can be the same.
 * - M2. A tool's result is made from the answer that REST would get, each time. The stored answer is REST's, so that it
 *       can be replayed on either surface. It keeps to the tool's output schema, or is the error body (C2, C3, C69).
 */
import type { CallToolResult, JSONObject, Tool, ToolAnnotations } from "@modelcontextprotocol/server";
import { z } from "zod";
import type { ValidationDetail } from "../base/fault.ts";
import { isJsonArray, type Json, type JsonObject } from "../base/json.ts";
import type { Trace } from "../base/trace-context.ts";
import { apiPrefix, type Binding, bindingOf, type SpelledRequest, spellRequest } from "../http/routes.ts";
import { isReplay, type Reply } from "../requests/envelope.ts";
import { worded } from "../requests/wording.ts";
import { dryRunMember, isRestOperation, type Operation, type Repeat } from "../requests/operation.ts";
import type { RequestTokens } from "../requests/rate-limit.ts";
import { lineSchema } from "../operations/purchase-orders/json.ts";
import type { Incoming } from "../requests/request.ts";
import { linesAnswer, listAnswer, lookUpAnswer, pendingAnswer, writeAnswer, writeAnswerSchema } from "./answers.ts";
import { type LinesOf, linesIn, resultText } from "./cut-lists.ts";
import type { Malformed } from "./message.ts";
import { inAgentNames, inOperationNames, pointerInAgentNames } from "./names.ts";
import { orderView } from "./resources/order-view.ts";
import { orderLinks } from "./resources/resources.ts";
import { othersTexts, othersTextsIn } from "./texts-of-others.ts";
import { answerSchemaOf, argumentsSchemaOf, asObject } from "./schemas.ts";

/** Arguments of this surface, beside those of the operation. */
const keyMember = "idempotencyKey";
const includeMember = "include";

/** The instructions say what it is for. */
const dryRunSchema = ({ dryByDefault }: Operation): JSONObject => ({
  type: "boolean",
  ...(dryByDefault === true ? { default: true } : {}),
});

/** Status of an answer that tells of an approval request in place of what was asked for (C77). */
export const pendingStatus = 202;

/** Value that `include` may name: the whole order, or whole headers or lines in a list, instead of a short answer. */
const includable = "order";

export interface OperationTool {
  readonly operation: Operation;
  /** Where its members come from on REST; null when REST has no path for it. */
  readonly binding: Binding | null;
  readonly definition: Tool;
}

/** The definition without the schema of the answer, which is three fifths of it. */
export const withoutOutputSchema = ({ outputSchema: _outputSchema, ...definition }: Tool): Tool => definition;

/** Facts of a shop that texts for its agents depend on. */
type ToolShop = Parameters<NonNullable<Operation["inShop"]>>[0];

/** The definition as the shop's agents are shown it. */
export const definitionIn = ({ operation, definition }: OperationTool, shop: ToolShop): Tool =>
  operation.inShop === undefined
    ? definition
    : { ...definition, description: `${definition.description} ${operation.inShop(shop)}` };

/** Tools beside whose answers hosts show the order. */
const shownInView: readonly string[] = ["purchase_order_get", "purchase_order_status", "approval_request_get"];

const tools = new WeakMap<Operation, OperationTool>();

/** The operation as a tool. It is made once, because translating the schemas takes milliseconds. */
export function toolOf(operation: Operation): OperationTool {
  const tool = tools.get(operation) ?? toolMadeOf(operation);
  tools.set(operation, tool);
  return tool;
}

function toolMadeOf(operation: Operation): OperationTool {
  const { name, title, summary, description } = operation;
  const output = answerSchemaOf(operation);
  return {
    operation,
    binding: isRestOperation(operation) ? bindingOf(operation) : null,
    definition: {
      name,
      title,
      description: worded(`${summary} ${description}`, "mcp").trim(),
      inputSchema: inputSchemaOf(operation),
      outputSchema: withOthersTexts(operation.scope === "write" ? writeAnswerSchema(output) : output),
      annotations: annotationsOf(operation),
      ...(shownInView.includes(name) ? { _meta: { ui: { resourceUri: orderView.uri } } } : {}),
    },
  };
}

/** The schema of an answer, with the member that names texts of others. */
const withOthersTexts = ({ properties, ...schema }: JSONObject): NonNullable<Tool["outputSchema"]> => ({
  ...schema,
  type: "object",
  properties: { ...asObject(properties), [othersTexts]: { type: "array", items: { type: "string" } } },
});

/** True if repeating a call changes nothing more (spec "Repeat safety without a key"). */
const isIdempotent: Record<Repeat, boolean> = {
  read: true,
  safe: true,
  "adds-again": false,
  refused: false,
  partly: false,
};

/**
 * The hints: a read has none of what a write may do. The protocol calls every write destructive that replaces
 * something; only adding is not.
 */
function annotationsOf({ scope, repeat, destructive, pushesStock, faults }: Operation): ToolAnnotations {
  const write = scope === "write";
  return {
    readOnlyHint: !write,
    ...(write ? { destructiveHint: destructive || repeat !== "adds-again", idempotentHint: isIdempotent[repeat] } : {}),
    openWorldHint: pushesStock === true || faults.includes("UPSTREAM_STOREFRONT"),
  };
}

/** The instructions say what it is for. */
const keySchema: JSONObject = { type: "string" };

const includeSchema: JSONObject = {
  type: "array",
  items: { enum: [includable] },
};

/** The kind of answer that is shown in short unless `include` names all of it; null for all others. */
function shownInShort({ scope, output }: Operation): "order" | "orders" | "lines" | null {
  if (!(output instanceof z.ZodObject)) return null;
  if (scope === "write") return "purchaseOrder" in output.shape ? "order" : null;
  if ("purchaseOrders" in output.shape) return "orders";
  const { lineItems } = output.shape;
  return lineItems instanceof z.ZodArray && lineItems.element === lineSchema ? "lines" : null;
}

function inputSchemaOf(operation: Operation): Tool["inputSchema"] {
  const { properties, ...rest } = argumentsSchemaOf(operation);
  const own = {
    ...(shownInShort(operation) === null ? {} : { [includeMember]: includeSchema }),
    ...(operation.scope === "write" ? { [keyMember]: keySchema } : {}),
    ...(operation.takesDryRun === true ? { [dryRunMember]: dryRunSchema(operation) } : {}),
  };
  return { ...rest, type: "object", properties: { ...asObject(properties), ...own } };
}

/** A tool call as it was received. */
interface ToolCall {
  readonly tool: OperationTool;
  readonly arguments: JsonObject;
  readonly requestId: string;
  readonly trace?: Trace | undefined;
  readonly bearerToken: string | null;
  /** The token of the message. Default: `perform` takes one. */
  readonly tokens?: RequestTokens;
  /** Fault of the message as a whole. */
  readonly malformed: Malformed | null;
}

/** The request that the call stands for (M1). */
export function incomingOf(call: ToolCall): Incoming {
  const { tool, malformed } = call;
  const { binding, operation } = tool;
  const { [keyMember]: key, [includeMember]: include, [dryRunMember]: dryRun, ...sent } = call.arguments;
  const takesKey = operation.scope === "write";
  const takesDryRun = operation.takesDryRun === true;
  const takesInclude = shownInShort(operation) !== null;
  const found: ValidationDetail[] = [];
  if (takesKey && key !== undefined && typeof key !== "string")
    found.push({ path: `/${keyMember}`, message: "must be a string" });
  if (takesInclude && include !== undefined && !namesOrder(include))
    found.push({ path: `/${includeMember}`, message: `must be ["${includable}"], or left out` });
  if (takesDryRun && dryRun !== undefined && typeof dryRun !== "boolean")
    found.push({ path: `/${dryRunMember}`, message: "must be true or false" });
  // What is not of this tool stays among its arguments, to be refused as unknown.
  const input = inOperationNames({
    ...sent,
    ...(takesKey || key === undefined ? {} : { [keyMember]: key }),
    ...(takesInclude || include === undefined ? {} : { [includeMember]: include }),
    ...(takesDryRun || dryRun === undefined ? {} : { [dryRunMember]: dryRun }),
  });
  const { method, path, query, body } = requestOf(operation, binding, input);
  return {
    surface: "mcp",
    requestId: call.requestId,
    trace: call.trace,
    bearerToken: call.bearerToken,
    ...(call.tokens === undefined ? {} : { tokens: call.tokens }),
    target: operation,
    isDryRun: takesDryRun && (dryRun ?? operation.dryByDefault) === true,
    method,
    path,
    query,
    idempotencyKeys: takesKey && typeof key === "string" ? [key] : [],
    ifMatch: null,
    ifNoneMatch: null,
    body: () => Promise.resolve(malformed?.bytes ?? new TextEncoder().encode(JSON.stringify(body))),
    assemble: () => {
      if (malformed !== null) throw malformed.fault;
      return { raw: input, found };
    },
  };
}

const namesOrder = (include: Json | undefined): boolean =>
  include !== undefined && isJsonArray(include) && include.length > 0 && include.every((name) => name === includable);

/** The method of a tool that stands for no REST request. */
const toolMethod = "TOOL";

/** Returns the parts that identify the call: method, path, query and body (M1). */
function requestOf(
  operation: Operation,
  binding: Binding | null,
  input: JsonObject,
): SpelledRequest & { readonly method: string } {
  if (binding === null) return { method: toolMethod, path: `/${operation.name}`, query: [], body: input };
  const spelled = spellRequest(binding, input);
  return { ...spelled, method: binding.operation.route.method, path: apiPrefix + spelled.path };
}

/** Facts of a shop that its answers depend on. */
export type AnsweredShop = ToolShop & { readonly shopId: string };

/** An answer as the call's result (M2). The text says the same for clients that read only text. */
export function resultOf(
  reply: Reply,
  { tool, arguments: input, shop }: Pick<ToolCall, "tool" | "arguments"> & { readonly shop: AnsweredShop },
): CallToolResult {
  const named = inAgentNames(reply.body);
  const body: JSONObject = JSON.parse(reply.status < 400 ? named : pointerInAgentNames(named));
  const { data, meta, error } = body;
  const isError = error !== undefined;
  const replayed = isReplay(reply);
  const isStored = reply.status !== pendingStatus && asObject(meta)["dryRun"] === undefined;
  const lines = isStored ? linesIn(shop.shopId, asObject(data), input) : null;
  const shown = isError
    ? refusalShown(body, reply)
    : reply.status === pendingStatus
      ? pendingAnswer(asObject(data), input)
      : answerShown(tool, asObject(data), { input, shop, lines });
  const structuredContent = {
    ...withDryRun(shown, asObject(meta), tool.operation),
    ...(isError ? {} : othersTextsIn(shown)),
    ...(replayed ? { replayed: true } : {}),
  };
  const { requestId = null, dryRun } = asObject(isError ? error : meta);
  const links = dryRun === undefined ? orderLinks(asObject(shown["purchaseOrder"])) : [];
  return {
    content: [{ type: "text", text: resultText(structuredContent, lines) }, ...links],
    structuredContent,
    ...(isError ? { isError } : {}),
    _meta: { "openpo/requestId": requestId, ...(replayed ? { "openpo/idempotentReplayed": true } : {}) },
  };
}

/**
 * The answer. That of a dry run gets `dryRun` and `storefrontWrites` from the meta, and loses `nextStep` (C81), unless
 * the step leads to the write itself.
 */
function withDryRun(
  answer: JSONObject,
  { dryRun, storefrontWrites }: JSONObject,
  { dryByDefault }: Operation,
): JSONObject {
  if (dryRun === undefined) return answer;
  const { nextStep, ...others } = answer;
  return {
    ...(dryByDefault === true ? { ...others, ...(nextStep === undefined ? {} : { nextStep }) } : others),
    dryRun,
    ...(storefrontWrites === undefined ? {} : { storefrontWrites }),
  };
}

/** A refusal, or that of an earlier call: what it is, what its order is now, and what to do for another try (C69). */
function refusalShown(body: JSONObject, { answeredAtMs, orderNow }: Reply): JSONObject {
  if (answeredAtMs === undefined) return body;
  const { message, action, ...error } = asObject(body["error"]);
  const at = new Date(answeredAtMs).toISOString();
  const now =
    orderNow === undefined
      ? ""
      : orderNow === null
        ? " The order is not there now."
        : ` The order is now ${orderNow.status}, version ${orderNow.version}.`;
  const shown = {
    ...error,
    message: `This is the answer of an earlier call, of ${at}; nothing was tried now. It was: ${typeof message === "string" ? message : ""}`,
    action:
      `${typeof action === "string" ? `The advice then was: ${action}` : ""}${now} To try again, call with a new ${keyMember}.`.trim(),
  };
  return { error: shown };
}

function answerShown(
  { operation }: OperationTool,
  data: JSONObject,
  { input, shop, lines }: { readonly input: JsonObject; readonly shop: ToolShop; readonly lines: LinesOf | null },
): JSONObject {
  const [kind, wantsOrder] = [shownInShort(operation), namesOrder(input[includeMember])];
  if (kind === "order") return writeAnswer(data, { input, shop, wantsOrder, lines });
  if (kind === null && operation.nextStep !== undefined) {
    const step = operation.nextStep(input, data);
    return { ...data, nextStep: { ...step, arguments: { ...step.arguments } } };
  }
  if (operation.leavesOutNulls === true) return lookUpAnswer(data);
  if (kind === null || wantsOrder) return data;
  return kind === "orders" ? listAnswer(data) : linesAnswer(data);
}
