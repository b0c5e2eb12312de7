/** An agent for tests: the protocol's own client library, connected to a test server. */
import assert from "node:assert/strict";
import { type CallToolResult, Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { Json, JsonObject } from "../../src/base/json.ts";
import { toolOf } from "../../src/mcp/tools.ts";
import { operations } from "../../src/operations/registry.ts";
import type { TestServer } from "./server.ts";
import { assertForAgents, assertWorded } from "./openapi/wording.ts";

/** Revisions of the protocol: the current one and the one before. */
export const revisions = ["2026-07-28", "2025-11-25"] as const;
export type Revision = (typeof revisions)[number];

/** The tools of a key whose writes need no approval. */
export const usualTools = operations.filter(
  ({ aboutApprovals, isProposed }) => (aboutApprovals ?? isProposed) !== true,
);

/** The tools whose answer `include` makes whole. */
const takesInclude = new Set(
  operations
    .filter((operation) => "include" in (toolOf(operation).definition.inputSchema.properties ?? {}))
    .map(({ name }) => name),
);

/** A person is shown a page, and says whether they go there. */
type Asked = (url: string, message: string) => Promise<"accept" | "decline" | "cancel">;

export interface Agent extends AsyncDisposable {
  readonly client: Client;
  call(name: string, input?: object): Promise<ToolAnswer>;
  /** Calls a tool for the whole answer: a write tells the order in full where it can. */
  callWhole(name: string, input?: object): Promise<ToolAnswer>;
}

export interface ToolAnswer {
  readonly isError: boolean;
  readonly result: CallToolResult;
  /** The text, which is JSON. */
  readonly text: string;
  /** Returns the member of the structured content at this path, or undefined. */
  at(...steps: readonly (string | number)[]): Json | undefined;
  textAt(...steps: readonly (string | number)[]): string;
}

export async function connectAgent(
  server: Pick<TestServer, "url" | "writeKey">,
  {
    key = server.writeKey,
    revision = "2026-07-28",
    address = "/mcp",
    onQuestion,
  }: {
    readonly key?: string;
    readonly revision?: Revision;
    readonly address?: string;
    /** Shows a person the page of a question. Default: the client cannot. */
    readonly onQuestion?: Asked;
  } = {},
): Promise<Agent> {
  const client = new Client(
    { name: "test-agent", version: "1" },
    {
      versionNegotiation: { mode: revision === "2026-07-28" ? { pin: revision } : "legacy" },
      ...(onQuestion === undefined ? {} : { capabilities: { elicitation: { url: {} } } }),
    },
  );
  if (onQuestion !== undefined)
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      assert.equal(params.mode, "url");
      return { action: await onQuestion("url" in params ? params.url : "", params.message) };
    });
  const transport = new StreamableHTTPClientTransport(new URL(address, server.url), {
    requestInit: { headers: { Authorization: `Bearer ${key}` } },
  });
  await client.connect(transport);
  const close = (): Promise<void> => client.close();
  const call: Agent["call"] = async (name, input = {}) =>
    answerOf(await client.callTool({ name, arguments: { ...input } }));
  return {
    client,
    call,
    callWhole: (name, input = {}) => call(name, takesInclude.has(name) ? { ...input, include: ["order"] } : input),
    [Symbol.asyncDispose]: close,
  };
}

/** What a result tells. Every one is held to the words of the surface; a replay keeps those of whoever asked first (C18). */
export function answerOf(result: CallToolResult): ToolAnswer {
  const json = JSON.stringify(result.structuredContent ?? null);
  const content: Json = JSON.parse(json);
  assertWorded(json);
  const at: ToolAnswer["at"] = (...steps) => {
    let value: Json | undefined = content;
    for (const step of steps)
      value =
        typeof value === "object" && value !== null
          ? Object.entries(value).find(([name]) => name === String(step))?.[1]
          : undefined;
    return value;
  };
  const { _meta: meta } = result;
  const isReplay = meta?.["openpo/idempotentReplayed"] === true;
  const guidance =
    result.isError === true
      ? at("error")
      : [at("recovery"), at("failed"), at("sideEffects"), at("warnings"), at("nextStep")];
  if (!isReplay) assertForAgents(JSON.stringify(guidance ?? null));
  const [first] = result.content;
  return {
    isError: result.isError === true,
    result,
    text: first?.type === "text" ? first.text : "",
    at,
    textAt: (...steps) => {
      const value = at(...steps);
      assert.ok(typeof value === "string", `no text at ${steps.join(".")}: ${JSON.stringify(content)}`);
      return value;
    },
  };
}

/** Makes a JSON-RPC message of the previous protocol revision, which needs no further members. */
export const toolCall = (name: string, input: object, id = 1): JsonObject => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, arguments: JSON.parse(JSON.stringify(input)) },
});

/** Headers that every client sends. */
export const mcpHeaders = { Accept: "application/json, text/event-stream" } as const;
