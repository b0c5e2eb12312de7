/**
 * The protocol for one message: which revision it is of, which tools, resources and prompts there are, and what reading
 * or calling them answers.
 *
 * Owns: the lists that clients are shown. Does not own: who is shown which tool and what a call does (app.ts), the
 * texts (resources/guide.ts), how messages are written (the library).
 */
import {
  CLIENT_CAPABILITIES_META_KEY,
  type CallToolResult,
  createMcpHandler,
  type InputRequiredResult,
  INVALID_PARAMS,
  isLegacyRequest,
  ProtocolError,
  Server,
  type ServerContext,
  type ServerOptions,
  type Tool,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { consolePath, markName } from "../http/console-pages.ts";
import { type JsonObject, memberOf } from "../base/json.ts";
import { apiVersion } from "../requests/envelope.ts";
import { type InstructedShop, instructionsFor, prompts } from "./resources/guide.ts";
import {
  completeOrder,
  listResources,
  listResourceTemplates,
  readResource,
  type ResourceReads,
} from "./resources/resources.ts";

/** Time for which a client may keep a list: lists change with a release only. */
const listLifetimeMs = 300_000;

const cacheable = { ttlMs: listLifetimeMs, cacheScope: "private" } as const;

const options: ServerOptions = {
  capabilities: { tools: {}, resources: {}, prompts: {}, completions: {} },
  cacheHints: {
    "server/discover": cacheable,
    "tools/list": cacheable,
    "prompts/list": cacheable,
    "resources/list": cacheable,
    "resources/templates/list": cacheable,
    "resources/read": cacheable,
  },
};

/** Standing of a call towards questions to its client (C80). */
export interface Asking {
  /** The client shows a person a page of ours, and nothing was asked in this call yet. */
  readonly mayAsk: boolean;
  /** Text that was sent with the question, for the call that goes on after it; null: nothing was asked. */
  readonly state: string | null;
}

/** The revision before has no such questions, and a client of it does not say with its calls what it can. */
function askingOf({ mcpReq }: ServerContext): Asking {
  const state = mcpReq.requestState();
  const url = ["elicitation", "url"].reduce(memberOf, memberOf(mcpReq.envelope, CLIENT_CAPABILITIES_META_KEY));
  return {
    mayAsk: url !== undefined && mcpReq.inputResponses === undefined && state === undefined,
    state: typeof state === "string" ? state : null,
  };
}

/** Parts that differ from one message to the next. */
interface OfferedTools {
  /** The shop that the client's key is of. */
  readonly shop: InstructedShop;
  /** The tools that this client is shown. */
  readonly definitions: readonly Tool[];
  /** Calls any tool, also one that is not shown. @throws ProtocolError when there is none of this name. */
  call(name: string, asking: Asking): Promise<CallToolResult | InputRequiredResult>;
  readonly resources: ResourceReads;
  /** Address of the service for people; null: it has none for all. */
  readonly websiteUrl: string | null;
  /** Told what the library could not understand. */
  readonly onError: (error: unknown) => void;
}

/** Answers one message, in the revision of the protocol that the message is of. */
export async function answerMessage(request: Request, message: JsonObject, tools: OfferedTools): Promise<Response> {
  if (!(await isLegacyRequest(request, message))) {
    const handler = createMcpHandler(() => createProtocolServer(tools), { legacy: "reject", onerror: tools.onError });
    return handler.fetch(request, { parsedBody: message });
  }
  const server = createProtocolServer(tools);
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  try {
    return await transport.handleRequest(request, { parsedBody: message });
  } finally {
    await server.close();
  }
}

/** Address and icon of the service for people. */
const looksOf = (websiteUrl: string | null) =>
  websiteUrl === null
    ? {}
    : {
        websiteUrl,
        icons: [{ src: new URL(`${consolePath}/${markName}`, websiteUrl).href, mimeType: "image/svg+xml" }],
      };

/** A server of the library with every handler set. */
function createProtocolServer(tools: OfferedTools): Server {
  const server = new Server(
    { name: "openpo", title: "OpenPO", version: apiVersion, ...looksOf(tools.websiteUrl) },
    { ...options, instructions: instructionsFor(tools.shop) },
  );
  server.setRequestHandler("tools/list", () => ({ tools: [...tools.definitions] }));
  server.setRequestHandler("tools/call", ({ params }, context) => tools.call(params.name, askingOf(context)));
  server.setRequestHandler("resources/list", listResources);
  server.setRequestHandler("resources/templates/list", listResourceTemplates);
  server.setRequestHandler("resources/read", ({ params }) => readResource(params.uri, tools.resources));
  server.setRequestHandler("completion/complete", ({ params: { ref, argument } }) =>
    ref.type === "ref/resource"
      ? completeOrder(argument.value, tools.resources)
      : Promise.resolve({ completion: { values: [] } }),
  );
  server.setRequestHandler("prompts/list", listPrompts);
  server.setRequestHandler("prompts/get", ({ params }) => getPrompt(params.name, params.arguments ?? {}));
  return server;
}

const listPrompts = () => ({
  prompts: prompts.map(({ name, title, description, arguments: taken }) => ({
    name,
    title,
    description,
    arguments: [...taken],
  })),
});

/** @throws ProtocolError when there is no such prompt, or a required argument is missing or empty. */
function getPrompt(name: string, values: Readonly<Record<string, string>>) {
  const prompt = prompts.find((each) => each.name === name);
  if (prompt === undefined) throw new ProtocolError(INVALID_PARAMS, `There is no prompt ${name}.`);
  const missing = prompt.arguments.find((each) => each.required && (values[each.name] ?? "") === "");
  if (missing !== undefined) throw new ProtocolError(INVALID_PARAMS, `${missing.name} is required.`);
  return {
    description: prompt.description,
    messages: [{ role: "user" as const, content: { type: "text" as const, text: prompt.text(values) } }],
  };
}
