/**
 * The agent surface: `POST /mcp`, Model Context Protocol over streamable HTTP, stateless (contract §1).
 *
 * Owns: the door (Host, Origin, key, method, body limit), which revision of the protocol a message is of, which tools a key is shown.
 * Does not own: how operations are told and asked (tools.ts), who may do what (operations/perform.ts), what the protocol's messages
 * look like (the library).
 *
 * Invariants:
 * - M3. Nothing is read of a message whose Host or Origin is not ours, or whose key is not one: a page in a browser cannot reach the
 *       service by a name that it has pointed here.
 * - M4. Every tool call takes the one path of every request; a protocol error is only for what is not a call of a known tool.
 */
import {
  type CallToolResult,
  createMcpHandler,
  INVALID_PARAMS,
  INVALID_REQUEST,
  isLegacyRequest,
  localhostAllowedHostnames,
  METHOD_NOT_FOUND,
  PARSE_ERROR,
  ProtocolError,
  ResourceNotFoundError,
  Server,
  validateHostHeader,
  validateOriginHeader,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { Fault } from "../core/fault.ts";
import { isJsonObject, type Json, type JsonObject, parseJson } from "../core/json.ts";
import { apiVersion, respond } from "../operations/envelope.ts";
import type { Operation, Scope } from "../operations/operation.ts";
import { admit, identify, type Perform } from "../operations/perform.ts";
import type { Engine, Log } from "../store/store.ts";
import { guides, instructions, prompts } from "./guide.ts";
import { incomingOf, type OperationTool, resultOf, type ToolCall, toolOf } from "./tools.ts";

export const mcpPath = "/mcp";
/** One JSON-RPC message, as large as any body (C10). */
const bodyBytesMax = 1_048_576;
/** How long a client may keep a list: lists change with a release only. */
const listLifetimeMs = 300_000;

export interface McpDependencies {
  readonly operations: readonly Operation[];
  readonly perform: Perform;
  readonly engine: Engine;
  readonly log: Log;
  /** Host names by which the service is reached, beside those of the machine itself (`localhost`, `127.0.0.1`, `[::1]`). */
  readonly allowedHosts: readonly string[];
}

/** The surface, to be mounted at its path. */
export interface McpSurface {
  readonly path: string;
  /** @throws Fault for what is wrong before there is a message to answer. */
  handle(request: Request, requestId: string, named: (operation: string) => void): Promise<Response | null>;
}

/** One message on its way. */
interface Visit {
  readonly requestId: string;
  readonly bearerToken: string | null;
  readonly scope: Scope;
  readonly message: JsonObject;
  readonly malformed: ToolCall["malformed"];
  /** Told by the shop's path (C6); they go on the answer. */
  rateLimitHeaders: Readonly<Record<string, string>>;
}

export function createMcp(deps: McpDependencies): McpSurface {
  const { perform, engine, log } = deps;
  const allowedHosts = [...localhostAllowedHostnames(), ...deps.allowedHosts];
  const tools = new Map(deps.operations.map((operation) => [operation.name, toolOf(operation)]));
  const shownTo: Record<Scope, readonly OperationTool[]> = {
    read: [...tools.values()].filter(({ operation }) => operation.scope === "read"),
    write: [...tools.values()],
  };

  async function handle(request: Request, requestId: string, named: (operation: string) => void) {
    if (new URL(request.url).pathname !== mcpPath) return null;
    named("mcp");
    const stranger = strangerOf(request);
    if (stranger !== null) return protocolFailure(403, INVALID_REQUEST, stranger);
    const bearerToken = /^Bearer +(\S+) *$/i.exec(request.headers.get("authorization") ?? "")?.[1] ?? null;
    let scope: Scope;
    try {
      const caller = await identify(engine, bearerToken);
      admit(caller);
      ({ scope } = caller.key);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      return respond(await perform(refused(request, requestId, bearerToken, error)));
    }
    if (request.method !== "POST")
      throw new Fault("METHOD_NOT_ALLOWED", `${request.method} is not supported here.`, {
        allow: ["POST"],
        action: "Send one JSON-RPC message with POST; there are no sessions and no streams.",
      });
    const read = messageOf(await readBody(request));
    if (read === null) return protocolFailure(400, PARSE_ERROR, "The body is not valid JSON.");
    const { message, malformed } = read;
    if (!isJsonObject(message))
      return protocolFailure(400, INVALID_REQUEST, "Send one message, an object; there are no batches.");
    const asked = askedOf(message);
    // The library would hold a stream open for it, and there is nothing that it could tell: no list changes while we run.
    if (asked.method === "subscriptions/listen")
      return protocolFailure(404, METHOD_NOT_FOUND, "There are no subscriptions.", asked.id);
    if (asked.tool !== null && tools.has(asked.tool)) named(`mcp:${asked.tool}`);
    const visit: Visit = { requestId, bearerToken, scope, message, malformed, rateLimitHeaders: {} };
    const response = await answer(request, visit);
    for (const [name, value] of Object.entries(visit.rateLimitHeaders)) response.headers.set(name, value);
    return response;
  }

  /** Why a request did not come by a name of ours; null when it did (M3). */
  function strangerOf(request: Request): string | null {
    const way = "Set OPENPO_ALLOWED_HOSTS to the names by which this service is reached.";
    const host = validateHostHeader(request.headers.get("host"), allowedHosts);
    if (!host.ok) return `This Host is not served. ${way}`;
    const origin = validateOriginHeader(request.headers.get("origin"), allowedHosts);
    return origin.ok ? null : `Pages of this Origin may not call. ${way}`;
  }

  /** The library answers in the revision that the message is of. */
  async function answer(request: Request, visit: Visit): Promise<Response> {
    const { message } = visit;
    if (!(await isLegacyRequest(request, message))) {
      const handler = createMcpHandler(() => serverFor(visit), {
        legacy: "reject",
        onerror: (error) => log.warn({ requestId: visit.requestId, err: error }, "message not understood"),
      });
      return handler.fetch(request, { parsedBody: message });
    }
    const server = serverFor(visit);
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    await server.connect(transport);
    try {
      return await transport.handleRequest(request, { parsedBody: message });
    } finally {
      await server.close();
    }
  }

  function serverFor(visit: Visit): Server {
    const cacheable = { ttlMs: listLifetimeMs, cacheScope: "private" } as const;
    const server = new Server(
      { name: "openpo", title: "OpenPO", version: apiVersion },
      {
        capabilities: { tools: {}, resources: {}, prompts: {} },
        instructions,
        cacheHints: {
          "server/discover": cacheable,
          "tools/list": cacheable,
          "prompts/list": cacheable,
          "resources/list": cacheable,
          "resources/templates/list": cacheable,
          "resources/read": cacheable,
        },
      },
    );
    server.setRequestHandler("tools/list", () => ({
      tools: shownTo[visit.scope].map(({ definition }) => definition),
    }));
    server.setRequestHandler("tools/call", ({ params }) => callTool(visit, params.name));
    server.setRequestHandler("resources/list", () => ({
      resources: guides.map(({ uri, name, title, description, mimeType }) => ({
        uri,
        name,
        title,
        description,
        mimeType,
      })),
    }));
    server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: [] }));
    server.setRequestHandler("resources/read", ({ params }) => {
      const guide = guides.find(({ uri }) => uri === params.uri);
      if (guide === undefined) throw new ResourceNotFoundError(params.uri);
      const { uri, mimeType, text } = guide;
      return { contents: [{ uri, mimeType, text }] };
    });
    server.setRequestHandler("prompts/list", () => ({
      prompts: prompts.map(({ name, title, description, arguments: taken }) => ({
        name,
        title,
        description,
        arguments: [...taken],
      })),
    }));
    server.setRequestHandler("prompts/get", ({ params }) => {
      const prompt = prompts.find(({ name }) => name === params.name);
      if (prompt === undefined) throw new ProtocolError(INVALID_PARAMS, `There is no prompt ${params.name}.`);
      const values = params.arguments ?? {};
      const missing = prompt.arguments.find((each) => each.required && (values[each.name] ?? "") === "");
      if (missing !== undefined) throw new ProtocolError(INVALID_PARAMS, `${missing.name} is required.`);
      return {
        description: prompt.description,
        messages: [{ role: "user", content: { type: "text", text: prompt.text(values) } }],
      };
    });
    return server;
  }

  /** The way of M4. Arguments are taken from the message as it was read, before the library had it. */
  async function callTool(visit: Visit, name: string): Promise<CallToolResult> {
    const tool = tools.get(name);
    if (tool === undefined) throw new ProtocolError(INVALID_PARAMS, `There is no tool ${name}.`);
    const { requestId, bearerToken, malformed } = visit;
    const input = malformed === null ? objectIn(objectIn(visit.message, "params"), "arguments") : {};
    const reply = await perform(incomingOf({ tool, arguments: input, requestId, bearerToken, malformed }));
    visit.rateLimitHeaders = Object.fromEntries(
      Object.entries(reply.headers).filter(([header]) => header.startsWith("RateLimit")),
    );
    return resultOf(reply);
  }

  return { path: mcpPath, handle };
}

/** What was refused before there was a message, for its audit row (H1). */
const refused = (
  request: Request,
  requestId: string,
  bearerToken: string | null,
  fault: Fault,
): Parameters<Perform>[0] => ({
  surface: "mcp",
  requestId,
  bearerToken,
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

/** A failure in the protocol's words. */
const protocolFailure = (status: number, code: number, message: string, id: string | number | null = null): Response =>
  Response.json({ jsonrpc: "2.0", id, error: { code, message } }, { status });

/** The object that is this member of the value; an empty one when there is none. */
function objectIn(value: Json, member: string): JsonObject {
  const found = isJsonObject(value) ? value[member] : undefined;
  return found !== undefined && isJsonObject(found) ? found : {};
}

/** What the message is about, as far as that can be told before the library has looked at it. */
function askedOf(message: JsonObject) {
  const { id, method } = message;
  const { name } = objectIn(message, "params");
  return {
    id: typeof id === "string" || typeof id === "number" ? id : null,
    method,
    tool: method === "tools/call" && typeof name === "string" ? name : null,
  };
}

/** The message, and what the strict reading of C10 finds wrong with it; null when it is no JSON at all. */
function messageOf(bytes: Uint8Array): { readonly message: Json; readonly malformed: ToolCall["malformed"] } | null {
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

/** @throws Fault INVALID_INPUT when the body is above `bodyBytesMax`, encoded, or breaks off. */
async function readBody(request: Request): Promise<Uint8Array> {
  const encoding = request.headers.get("content-encoding")?.trim().toLowerCase() ?? "identity";
  if (encoding !== "identity")
    throw new Fault("INVALID_INPUT", "An encoded body is not supported.", {
      action: "Send it without Content-Encoding.",
    });
  const pieces: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const piece of request.body ?? []) {
      length += piece.length;
      if (length > bodyBytesMax)
        throw new Fault("INVALID_INPUT", `The body is larger than ${bodyBytesMax} bytes.`, {
          action: "Split the call into smaller ones.",
        });
      pieces.push(piece);
    }
  } catch (cause) {
    if (cause instanceof Fault) throw cause;
    throw new Fault("INVALID_INPUT", "The body ended before all of it arrived.", { cause });
  }
  return Buffer.concat(pieces);
}
