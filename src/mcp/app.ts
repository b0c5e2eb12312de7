/**
 * The agent surface: `POST /mcp`, Model Context Protocol over streamable HTTP, stateless (contract §1).
 *
 * Owns: the checks before a message is read (Host, Origin, key, method) and the tools that a key is shown. A tool call
 * is a request like any other. Does not own: addresses (address.ts), operations as tools (tools.ts), who may do what
 * (requests/perform.ts), the protocol (protocol.ts).
 *
 * Invariants:
 * - M3. Nothing of a message is read when its Host or Origin is not allowed or its key is not valid. So a web page
 *       cannot reach the service by DNS rebinding.
 * - M4. Every tool call takes the one path of every request; a protocol error is only for what is not a call of a known
 *   tool.
 */
import {
  INVALID_PARAMS,
  INVALID_REQUEST,
  localhostAllowedHostnames,
  METHOD_NOT_FOUND,
  PARSE_ERROR,
  ProtocolError,
  type Tool,
  validateHostHeader,
  validateOriginHeader,
} from "@modelcontextprotocol/server";
import { Fault } from "../base/fault.ts";
import type { KeyScope } from "../core/access/grant.ts";
import { isJsonObject, type JsonObject } from "../base/json.ts";
import { loggedRequest, type Trace } from "../base/trace-context.ts";
import { ofShop } from "../http/body.ts";
import { bearerToken, type HttpRequest, type RequestContext, type WebSurface } from "../http/surface.ts";
import { admit, identify, type KeyCaller, namedShop } from "../requests/caller.ts";
import { identifyConnection, isConnectionToken } from "../requests/connections.ts";
import { isReplay, type Reply, respond } from "../requests/envelope.ts";
import type { Operation } from "../requests/operation.ts";
import { answeredFingerprint } from "../requests/idempotency.ts";
import type { Perform } from "../requests/perform.ts";
import { type RequestTokens, requestTokens } from "../requests/rate-limit.ts";
import { RefusedMessages } from "../requests/remembered/refused-messages.ts";
import type { Incoming } from "../requests/request.ts";
import type { Clock } from "../base/time/clock.ts";
import { sleep } from "../base/time/waiting.ts";
import type { Coordination, Engine, Log } from "../store/store.ts";
import {
  argumentsOf,
  callIn,
  beginsToolCall,
  keysIn,
  type Malformed,
  protocolFailure,
  readMessage,
  withoutArguments,
} from "./message.ts";
import {
  type AnswerThreads,
  answerOnLoopMax,
  type LargeAnswer,
  type MadeAnswer,
  makeLargeAnswer,
} from "./large-answers.ts";
import type { InstructedShop } from "./resources/guide.ts";
import { withOrderIds } from "./order-names.ts";
import { answerMessage, type Asking } from "./protocol.ts";
import { hasTool, type McpAddress, mcpAddressOf, mcpPaths } from "./address.ts";
import { mcpPath } from "./names.ts";
import { progressTokenOf, withProgress } from "./progress.ts";
import { callOfRequest, questionOf } from "./questions.ts";
import {
  definitionIn,
  incomingOf,
  type OperationTool,
  pendingStatus,
  resultOf,
  toolOf,
  withoutOutputSchema,
} from "./tools.ts";

/** A message to `/mcp` that is no tool call (C71). */
export const messageBytesMax = 65_536;

/** Orders beside what operations do with them. */
interface Orders {
  /** Ids of the orders that have these numbers, by number. A number that is an order's id is not among them. */
  idsByNumber(shopId: string, numbers: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** The order's document. @throws Fault */
  pdf(shopId: string, purchaseOrderId: string): Promise<Uint8Array>;
}

interface McpDependencies {
  readonly operations: readonly Operation[];
  readonly perform: Perform;
  readonly engine: Engine;
  readonly coordination: Coordination;
  readonly clock: Clock;
  readonly log: Log;
  readonly orders: Orders;
  /** Null: every answer is made on the event loop. */
  readonly threads: AnswerThreads | null;
  /**
   * Host names by which the service is reached, beside those of the machine itself (`localhost`, `127.0.0.1`, `[::1]`).
   */
  readonly allowedHosts: readonly string[];
  /** The address of the document that tells how an assistant signs in (C72); null: none can. Default: none can. */
  readonly resourceMetadata?: () => string | null;
}

/** Who sent a message: the key as it came and what it may do. */
interface Sender {
  readonly bearerToken: string | null;
  /** The connection whose token it is (C75); absent for an API key, which is looked up with the request. */
  readonly caller?: KeyCaller;
  readonly scope: KeyScope;
  /** True if its writes may need a decision (C77 to C79). */
  readonly mayAsk: boolean;
  readonly shop: InstructedShop & { readonly shopId: string };
  /** The token of the message. */
  readonly tokens: RequestTokens;
}

/** A message whose sender and form have been checked. */
interface AgentMessage extends Sender {
  readonly requestId: string;
  readonly trace: Trace | undefined;
  readonly message: JsonObject;
  readonly malformed: Malformed | null;
}

export function createMcp(deps: McpDependencies): WebSurface {
  const allowedHosts = [...localhostAllowedHostnames(), ...deps.allowedHosts];
  let making: ReturnType<typeof makeTools> | null = null;
  const refused = new RefusedMessages();

  async function handle(context: RequestContext): Promise<Response | null> {
    if (!mcpPaths.includes(context.path)) return null;
    const response = await answered(context);
    const metadata = deps.resourceMetadata?.() ?? null;
    if (response.status === 401 && metadata !== null) response.headers.set("WWW-Authenticate", challenge(metadata, {}));
    return response;
  }

  async function answered(context: RequestContext): Promise<Response> {
    const { request, requestId, trace } = context;
    context.operation = "mcp";
    const refusal = addressRefusal(request, allowedHosts);
    if (refusal !== null) return protocolFailure(403, INVALID_REQUEST, refusal);
    const sender = await senderOf(context, deps);
    if (sender instanceof Response) return sender;
    context.shopId = namedShop(sender.bearerToken);
    if (request.method !== "POST")
      throw new Fault("METHOD_NOT_ALLOWED", `${request.method} is not supported here.`, {
        allow: ["POST"],
        action: "Send one JSON-RPC message with POST; there are no sessions and no streams.",
      });
    const address = mcpAddressOf(context.path, context.search);
    const bytes = await messageOf(deps, refused, context, sender);
    if (bytes instanceof Response) return bytes;
    const read = readMessage(bytes);
    if (read === null) return protocolFailure(400, PARSE_ERROR, "The body is not valid JSON.");
    const { message, malformed } = read;
    if (!isJsonObject(message))
      return protocolFailure(400, INVALID_REQUEST, "Send one message, an object; there are no batches.");
    const tools = await (making ??= makeTools(deps.operations));
    const called = callIn(message);
    // The library would hold a stream open for it, and no list changes while the process runs.
    if (called.method === "subscriptions/listen")
      return protocolFailure(404, METHOD_NOT_FOUND, "There are no subscriptions.", called.id);
    if (called.tool !== null && tools.has(called.tool)) context.operation = `mcp:${called.tool}`;
    const agentMessage: AgentMessage = { ...sender, requestId, trace, message, malformed };
    const answering = responseTo(deps, refused, context, { tools, address, agentMessage, bytes });
    const operation = called.tool === null ? undefined : tools.get(called.tool)?.operation;
    const token = progressTokenOf(message, request.header("accept"), operation);
    return token === null ? await answering : await withProgress(token, called.id, answering);
  }

  return { path: mcpPath, handle };
}

/** A message that is about to be answered. */
interface Answering {
  readonly tools: ReadonlyMap<string, OperationTool>;
  readonly address: McpAddress;
  readonly agentMessage: AgentMessage;
  /** The message as it came. */
  readonly bytes: Uint8Array;
}

async function responseTo(
  deps: McpDependencies,
  refused: RefusedMessages,
  context: RequestContext,
  { tools, address, agentMessage, bytes }: Answering,
): Promise<Response> {
  const { request } = context;
  const { shop, tokens } = agentMessage;
  const shown = withoutArguments(agentMessage.message);
  const metadata = deps.resourceMetadata?.() ?? null;
  const websiteUrl = metadata === null ? null : new URL("/", metadata).href;
  let large: LargeAnswer | null = null;
  let withoutToken: Reply | null = null;
  let scopeRefusal: Reply | null = null;
  const answered = await answerMessage(request.web(), shown, {
    shop,
    websiteUrl,
    definitions: definitionsFor(agentMessage, address, [...tools.values()]),
    call: async (name, { mayAsk, state }) => {
      const facts = { state, given: null };
      const { reply, tool, input, meaning } = await calledTool(deps, tools, address, agentMessage, name, facts);
      context.replayed = isReplay(reply);
      if (lacksScope(agentMessage, reply)) scopeRefusal = reply;
      if (isLong(bytes) && reply.errorCode === "RATE_LIMITED") {
        if (meaning !== null) refused.add(bytes, meaning);
        withoutToken = reply;
        return { content: [] };
      }
      const question = mayAsk ? questionOf(reply) : null;
      if (question !== null) return question;
      if (reply.body.length <= answerOnLoopMax || deps.threads === null)
        return resultOf(reply, { tool, arguments: input, shop });
      const plain = plainRequest(request.web());
      const { emailOnSent, shopId } = shop;
      large = {
        shop: { emailOnSent, shopId },
        websiteUrl,
        request: plain,
        message: shown,
        tool: name,
        arguments: input,
        reply,
      };
      return { content: [] };
    },
    resources: {
      call: async (name, given) =>
        (await calledTool(deps, tools, address, agentMessage, name, { state: null, given })).reply,
      pdf: (orderId) => deps.orders.pdf(shop.shopId, orderId),
    },
    onError: (error) => deps.log.warn({ ...loggedRequest(context), err: error }, "message not understood"),
  });
  // As it is refused when it is not read.
  if (withoutToken !== null) return respond(withoutToken);
  if (scopeRefusal !== null) return scopeTooSmall(scopeRefusal, metadata);
  const response = large === null ? answered : await largeResponse(deps, large, agentMessage.bearerToken);
  for (const [name, value] of Object.entries(await tokens.headers())) response.headers.set(name, value);
  return response;
}

/** True if a connection needs another scope. One that may write is refused for its limits (C78). */
const lacksScope = ({ caller, scope }: Sender, { errorCode }: Reply): boolean =>
  caller !== undefined && scope === "read" && errorCode === "FORBIDDEN_SCOPE";

/** True for a message that is read without a token only if it may be a replay. */
const isLong = (bytes: Uint8Array): boolean => bytes.length > messageBytesMax;

/**
 * Takes the message's token, then reads it (C71). Without a token it is read only if it is short, or may be a replay,
 * which needs none.
 *
 * @throws Fault INVALID_INPUT when it is too long.
 */
async function messageOf(
  deps: McpDependencies,
  refused: RefusedMessages,
  context: RequestContext,
  sender: Sender,
): Promise<Uint8Array | Response> {
  const fault = await sender.tokens.take().then(
    () => null,
    (error: unknown) => {
      if (error instanceof Fault) return error;
      throw error;
    },
  );
  const bytes = await context.body.whole(ofShop(namedShop(sender.bearerToken)), {
    first: { bytes: messageBytesMax, goesOn: beginsToolCall },
  });
  if (fault === null) return bytes;
  if (!isLong(bytes) && beginsToolCall(bytes)) return bytes;
  if (await mayBeReplay(deps, refused, bytes, sender)) return bytes;
  return respond(await deps.perform(refusedBeforeMessage(context, sender, fault)));
}

/**
 * True if the stored answer of the message may be requested again. What was read of the same bytes before says whether
 * it is.
 */
async function mayBeReplay(
  deps: McpDependencies,
  refused: RefusedMessages,
  bytes: Uint8Array,
  { bearerToken: token, caller }: Sender,
): Promise<boolean> {
  const known = refused.meaningOf(bytes);
  if (known !== null)
    return (await answeredFingerprint(deps, token, known.idempotencyKey, caller)) === known.fingerprint;
  for (const key of keysIn(bytes)) if ((await answeredFingerprint(deps, token, key, caller)) !== null) return true;
  return false;
}

/** Facts of a call beside its message. */
interface ToolCallOf {
  readonly state: Asking["state"];
  /** Its arguments, where the message does not have them; null: it does. */
  readonly given: JsonObject | null;
}

/** M4. Arguments are taken from the message as it was read, before the library had it. */
async function calledTool(
  deps: McpDependencies,
  tools: ReadonlyMap<string, OperationTool>,
  address: McpAddress,
  { message, malformed, requestId, trace, bearerToken: token, caller, tokens, shop: { shopId } }: AgentMessage,
  name: string,
  { state, given }: ToolCallOf,
) {
  const tool = tools.get(name);
  if (tool === undefined) throw new ProtocolError(INVALID_PARAMS, `There is no tool ${name}.`);
  if (!hasTool(address, tool.operation))
    throw new ProtocolError(INVALID_PARAMS, `There is no tool ${name} at this address, which has only some tools.`);
  const input = await withOrderIds(given ?? (malformed === null ? argumentsOf(message) : {}), (numbers) =>
    deps.orders.idsByNumber(shopId, numbers),
  );
  let fingerprint: string | null = null;
  const incoming: Incoming = {
    ...incomingOf({
      // Asked before, it is not made again: what was asked for is told.
      ...(state === null ? { tool, arguments: input } : callOfRequest(state)),
      requestId,
      trace,
      bearerToken: token,
      tokens,
      malformed,
    }),
    // It may have ended while the message arrived.
    ...(caller === undefined || token === null ? {} : { caller: await identifyConnection(deps, token) }),
    fingerprinted: (value) => (fingerprint = value),
  };
  const performed = await deps.perform(incoming);
  const reply = state === null || performed.status >= 400 ? performed : { ...performed, status: pendingStatus };
  const [idempotencyKey] = incoming.idempotencyKeys;
  const meaning = fingerprint === null || idempotencyKey === undefined ? null : { idempotencyKey, fingerprint };
  return { reply, tool, input, meaning };
}

/** The tools by name. Translating the schemas of one takes milliseconds, so the event loop goes on after each. */
async function makeTools(operations: readonly Operation[]): Promise<ReadonlyMap<string, OperationTool>> {
  const tools = new Map<string, OperationTool>();
  for (const operation of operations) {
    tools.set(operation.name, toolOf(operation));
    await sleep(0);
  }
  return tools;
}

/** True if a write of the caller may become an approval request. */
const mayAsk = ({ key: { scope, limits }, shop }: KeyCaller): boolean =>
  scope === "propose" || (scope === "write" && (limits?.beyond === "ask" || shop.approvalRules.length > 0));

/** True if a key with the scope may call the tool, be it for a dry run (C68). */
const mayCall = (key: KeyScope, { scope, dryByDefault }: Operation): boolean =>
  key !== "read" || scope === "read" || dryByDefault === true;

/** The tools that a key is shown at an address. */
const definitionsFor = (
  { scope, mayAsk, shop }: Sender,
  address: McpAddress,
  tools: readonly OperationTool[],
): readonly Tool[] =>
  tools
    .filter(({ operation }) => mayCall(scope, operation) && hasTool(address, operation))
    .filter(({ operation }) => mayAsk || (operation.aboutApprovals ?? operation.isProposed) !== true)
    .map((tool) => definitionIn(tool, shop))
    .map((definition) => (address.withOutputSchemas ? definition : withoutOutputSchema(definition)));

const plainRequest = ({ url, headers }: Request): LargeAnswer["request"] => ({ url, headers: [...headers] });

/** Returns the result of the call in any case: an answer that no thread could make is made here. */
async function largeResponse(
  { operations, threads, log }: McpDependencies,
  large: LargeAnswer,
  token: string | null,
): Promise<Response> {
  const makeHere = (): Promise<MadeAnswer> => makeLargeAnswer(operations, large);
  const making = threads === null ? makeHere() : threads.makeAnswer(namedShop(token) ?? "", large);
  const { status, headers, body } = await making.catch((error: unknown) => {
    log.warn({ err: error }, "a large answer was not made on a thread");
    return makeHere();
  });
  return new Response(body, { status, headers: headers.map(([name, value]): [string, string] => [name, value]) });
}

/** Who sent the request, or the answer that refuses the key. */
async function senderOf(context: RequestContext, deps: McpDependencies): Promise<Sender | Response> {
  const { engine, coordination, clock, perform } = deps;
  const bearer = bearerToken(context);
  const from: { bearerToken: string | null; caller?: KeyCaller } = { bearerToken: bearer };
  try {
    const caller = isConnectionToken(bearer) ? await identifyConnection(deps, bearer) : await identify(engine, bearer);
    if (isConnectionToken(bearer)) from.caller = caller;
    admit(caller);
    return {
      ...from,
      scope: caller.key.scope,
      mayAsk: mayAsk(caller),
      shop: caller.shop,
      tokens: requestTokens(coordination, clock, caller.shop),
    };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return respond(await perform(refusedBeforeMessage(context, from, error)));
  }
}

/** The header of a 401 or 403 that says how to get in (C72). */
const challenge = (
  metadata: string,
  { error, scope = "read" }: { readonly error?: string; readonly scope?: KeyScope },
) => `Bearer ${error === undefined ? "" : `error="${error}", `}resource_metadata="${metadata}", scope="${scope}"`;

/** A connection's call that takes more than was given to it: its client asks the person for more, if it can (C72). */
function scopeTooSmall(reply: Reply, metadata: string | null): Response {
  const response = respond(reply);
  const asks = { error: "insufficient_scope", scope: "write" } as const;
  if (metadata !== null) response.headers.set("WWW-Authenticate", challenge(metadata, asks));
  return response;
}

/** Why a request's Host or Origin is refused; null when both are ours (M3). */
function addressRefusal(request: HttpRequest, allowedHosts: string[]): string | null {
  const action = "Set OPENPO_PUBLIC_URL to the address by which this service is reached.";
  const host = validateHostHeader(request.header("host"), allowedHosts);
  if (!host.ok) return `This Host is not served. ${action}`;
  const origin = validateOriginHeader(request.header("origin"), allowedHosts);
  return origin.ok ? null : `Pages of this Origin may not call. ${action}`;
}

/** Returns the refusal before there was a message, for its audit row (H1). */
const refusedBeforeMessage = (
  { request, requestId, trace }: RequestContext,
  { bearerToken: token, caller, tokens }: Pick<Sender, "bearerToken" | "caller"> & { readonly tokens?: RequestTokens },
  fault: Fault,
): Parameters<Perform>[0] => ({
  surface: "mcp",
  requestId,
  trace,
  bearerToken: token,
  ...(caller === undefined ? {} : { caller }),
  ...(tokens === undefined ? {} : { tokens }),
  target: fault,
  method: request.method,
  path: mcpPath,
  query: [],
  idempotencyKeys: [],
  ifMatch: null,
  ifNoneMatch: null,
  body: () => Promise.reject(fault),
  assemble: () => {
    throw fault;
  },
});
