/** An assistant that connects by its address, for tests: each step of OAuth by itself, and the protocol's own client. */
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import path from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import type {
  OAuthClientProvider,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import { parseAllowed } from "../../../src/webhooks/addresses.ts";
import { mcpHeaders, toolCall } from "../mcp.ts";
import { askAdmin, type SignedInPerson } from "../people.ts";
import type { TestResponse, TestServer } from "../server.ts";
import { listenOnPort, stopListening } from "./serving.ts";

export const callback = "https://assistant.example/api/mcp/auth_callback";

/** Registers a client and returns its id. */
export async function registerClient(
  server: TestServer,
  body: object = { client_name: "Assistant", redirect_uris: [callback] },
): Promise<string> {
  const answered = await oauth(server, "/oauth/register", JSON.stringify(body), "application/json");
  assert.equal(answered.status, 201, answered.text);
  return answered.textAt("client_id");
}

/** A request to an endpoint: a form, unless a type is named. */
export const oauth = (
  server: TestServer,
  target: string,
  body: Readonly<Record<string, string>> | string,
  type = "application/x-www-form-urlencoded",
  headers: Readonly<Record<string, string>> = {},
): Promise<TestResponse> =>
  server.request("POST", target, {
    key: null,
    undocumented: true,
    headers: { "Content-Type": type, ...headers },
    body: typeof body === "string" ? body : new URLSearchParams(body).toString(),
  });

/** What a client asks for, and the proof that it keeps. */
interface Asked {
  readonly parameters: Readonly<Record<string, string>>;
  readonly verifier: string;
}

export function ask(
  server: { readonly url: string },
  clientId: string,
  changed: Readonly<Record<string, string>> = {},
): Asked {
  const verifier = randomBytes(32).toString("base64url");
  return {
    verifier,
    parameters: {
      response_type: "code",
      client_id: clientId,
      redirect_uri: callback,
      code_challenge: createHash("sha256").update(verifier).digest("base64url"),
      code_challenge_method: "S256",
      state: randomBytes(8).toString("hex"),
      resource: `${server.url}/mcp`,
      ...changed,
    },
  };
}

/** Opens the address that a client sends the person to. */
export const authorize = (
  server: TestServer,
  parameters: Readonly<Record<string, string>> | string,
): Promise<TestResponse> =>
  server.request("GET", `/oauth/authorize?${new URLSearchParams(parameters).toString()}`, {
    key: null,
    undocumented: true,
  });

/** The person's answer on the page. */
export const decide = async (
  server: TestServer,
  person: SignedInPerson,
  request: object,
  {
    decision = "allow",
    scope = "write",
    ...more
  }: { decision?: string; scope?: string; personId?: string; limits?: object } = {},
): Promise<TestResponse> =>
  await askAdmin(
    server,
    "POST",
    `/shops/${server.shopId}/connections`,
    { request, decision, scope, personId: person.personId, ...more },
    { key: await person.bearer() },
  );

export const codeIn = (decided: TestResponse): string => {
  assert.equal(decided.status, 201, decided.text);
  return new URL(decided.textAt("data", "redirectTo")).searchParams.get("code") ?? assert.fail(decided.text);
};

export const exchange = (
  server: TestServer,
  code: string,
  { parameters, verifier }: Asked,
  changed: Readonly<Record<string, string>> = {},
): Promise<TestResponse> =>
  oauth(server, "/oauth/token", {
    grant_type: "authorization_code",
    code,
    client_id: parameters["client_id"] ?? "",
    redirect_uri: parameters["redirect_uri"] ?? "",
    code_verifier: verifier,
    resource: parameters["resource"] ?? "",
    ...changed,
  });

export const refresh = (
  server: TestServer,
  refreshToken: string,
  clientId: string,
  changed: Readonly<Record<string, string>> = {},
): Promise<TestResponse> =>
  oauth(server, "/oauth/token", {
    grant_type: "refresh_token",
    refresh_token: refreshToken,
    client_id: clientId,
    resource: `${server.url}/mcp`,
    ...changed,
  });

interface Connected {
  readonly clientId: string;
  readonly asked: Asked;
  readonly code: string;
  readonly access: string;
  readonly refresh: string;
}

/** A connection with its first tokens. */
export async function connect(
  server: TestServer,
  person: SignedInPerson,
  { scope = "write", clientId }: { readonly scope?: string; readonly clientId?: string } = {},
): Promise<Connected> {
  const id = clientId ?? (await registerClient(server));
  const asked = ask(server, id);
  const code = codeIn(await decide(server, person, asked.parameters, { scope }));
  const answered = await exchange(server, code, asked);
  assert.equal(answered.status, 200, answered.text);
  return {
    clientId: id,
    asked,
    code,
    access: answered.textAt("access_token"),
    refresh: answered.textAt("refresh_token"),
  };
}

/** Calls a tool with a token, as the protocol says it in one message. */
export const callTool = (
  server: TestServer,
  token: string | null,
  name = "location_list",
  input: object = {},
): Promise<TestResponse> =>
  server.request("POST", "/mcp", {
    key: token,
    undocumented: true,
    headers: { ...mcpHeaders, "MCP-Protocol-Version": "2025-11-25" },
    body: toolCall(name, input),
  });

/** The protocol's own client, in whose place a person is asked by `allow`, which returns where they are sent. */
export function oauthProvider(
  redirectUrl: string,
  allow: (authorizationUrl: URL) => Promise<string>,
  clientMetadataUrl?: string,
): OAuthClientProvider & { readonly answer: () => URLSearchParams; readonly client: () => string | undefined } {
  let client: StoredOAuthClientInformation | undefined;
  let tokens: StoredOAuthTokens | undefined;
  let verifier = "";
  let answer = new URLSearchParams();
  return {
    redirectUrl,
    ...(clientMetadataUrl === undefined ? {} : { clientMetadataUrl }),
    clientMetadata: { client_name: "Own client", redirect_uris: [redirectUrl] },
    state: () => randomBytes(8).toString("hex"),
    clientInformation: () => client,
    saveClientInformation: (saved) => void (client = saved),
    tokens: () => tokens,
    saveTokens: (saved) => void (tokens = saved),
    async redirectToAuthorization(url) {
      answer = new URL(await allow(url)).searchParams;
    },
    saveCodeVerifier: (saved) => void (verifier = saved),
    codeVerifier: () => verifier,
    answer: () => answer,
    client: () => client?.client_id,
  };
}

// Documents of clients.

const file = (name: string): string => readFileSync(path.join(import.meta.dirname, name), "utf8");

/** Opens this machine, where the documents of tests are. */
export const connectHere = { ...(parseAllowed("127.0.0.1,localhost") ?? assert.fail()), http: false };

/** What a document's server answers. */
interface Served {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | ((url: string) => object);
  /** Sends no end. */
  readonly hangs?: true;
}

/** Serves documents over https on this machine, with the certificate of the tests. */
export async function serveDocuments(documents: Readonly<Record<string, Served>>) {
  const certificate = file("smtp-certificate.pem");
  setDefaultCACertificates([...getCACertificates("default"), certificate]);
  const asked: string[] = [];
  const current = new Map(Object.entries(documents));
  const server = createServer({ key: file("smtp-key.pem"), cert: certificate }, (request, response) => {
    const target = request.url ?? "";
    asked.push(target);
    const found = current.get(target);
    if (found === undefined) return void response.writeHead(404).end();
    const { status = 200, headers = {}, body, hangs } = found;
    const text = typeof body === "string" ? body : JSON.stringify(body(`${url}${target}`));
    response.writeHead(status, { "Content-Type": "application/json", ...headers });
    if (hangs === true) response.write(text);
    else response.end(text);
  });
  const url = `https://localhost:${await listenOnPort(server)}`;
  return {
    url,
    asked,
    set: (target: string, document: Served) => void current.set(target, document),
    [Symbol.asyncDispose]: () => stopListening(server),
  };
}

/** A document as a client should have it. */
export const documentOf =
  (changed: object = {}) =>
  (url: string): object => ({ client_id: url, client_name: "Documented", redirect_uris: [callback], ...changed });
