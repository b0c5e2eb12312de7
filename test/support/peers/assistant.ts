/** An assistant on this machine that sends a person to the console in a browser, and what it does with the answer. */
import { createServer } from "node:http";
import type { Page } from "playwright-core";
import { ask as send } from "../clients.ts";
import { mcpHeaders, toolCall } from "../mcp.ts";
import type { RunningProgram } from "../process.ts";
import { until } from "../until.ts";
import { ask } from "./connect.ts";
import { listenOnPort } from "./serving.ts";

/** Registers an assistant that people come back to at this address. @returns its client id. */
export async function registerAssistant({ url }: Pick<RunningProgram, "url">, redirectUri: string): Promise<string> {
  const body = { client_name: "Claude", redirect_uris: [redirectUri] };
  const { text } = await send(url, { method: "POST", target: "/oauth/register", token: null, body });
  return String(Object(JSON.parse(text)).client_id);
}

/** An assistant on this machine: its own address, to which the browser comes back with an answer. */
export async function startAssistant(program: RunningProgram) {
  const answers: URLSearchParams[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://127.0.0.1");
    if (url.pathname === "/callback") answers.push(url.searchParams);
    response.end("The assistant has its answer.");
  });
  const redirectUri = `http://127.0.0.1:${await listenOnPort(server)}/callback`;
  const clientId = await registerAssistant(program, redirectUri);
  const { parameters, verifier } = ask(program, clientId, {
    redirect_uri: redirectUri,
    state: "state-of-the-assistant",
    scope: "read write",
  });
  return {
    /** Where it sends the person. */
    sends: `${program.url}/oauth/authorize?${new URLSearchParams(parameters).toString()}`,
    /** The latest answer that the browser has brought. */
    answer: () => until("the browser is back at the assistant", () => answers.at(-1)),
    async token(code: string): Promise<string> {
      const form = { grant_type: "authorization_code", code, client_id: clientId, redirect_uri: redirectUri };
      const body = new URLSearchParams({ ...form, code_verifier: verifier, resource: `${program.url}/mcp` }).toString();
      const headers = { "Content-Type": "application/x-www-form-urlencoded" };
      const { text } = await send(program.url, { method: "POST", target: "/oauth/token", token: null, headers, body });
      return String(Object(JSON.parse(text)).access_token);
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The status of a tool's call with a token. */
export async function statusOfCall(program: RunningProgram, token: string): Promise<number> {
  const { status } = await send(program.url, {
    method: "POST",
    target: "/mcp",
    token,
    headers: { ...mcpHeaders, "MCP-Protocol-Version": "2025-11-25" },
    body: toolCall("location_list", {}),
  });
  return status;
}

/** The heading of the page that asks. */
export const consentAsked = (page: Page) => page.getByRole("heading", { name: "Let Claude into your shop?" });

/** What the page did that it may not, but for the way back to the assistant. */
export const faultsBut = (faults: readonly string[]) =>
  faults.filter((fault) => !/^\/oauth\/authorize |\/callback/.test(fault));
