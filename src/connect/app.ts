/**
 * Connecting by the service's address (contract §15): the documents that say where, and the endpoints of OAuth 2.1.
 *
 * Owns: the requests' form, what is limited, and what is answered in the words of OAuth. Does not own: clients
 * (clients.ts), what may be asked for (authorize.ts), the person's answer (consent.ts), tokens (tokens.ts), callers
 * (requests/connections.ts).
 *
 * Invariants:
 * - Z4. An address in an answer is the operator's word (`OPENPO_PUBLIC_URL`) or where the service listens on loopback.
 *       Nothing that a request says of itself is in one. Without such an address there is nothing here.
 * - Z5. No cookie and no session is looked at here: what a person decides is asked on a page of the console, with their
 *       bearer.
 */
import { Fault } from "../base/fault.ts";
import { parseJson } from "../base/json.ts";
import { scopesSupported } from "../core/access/grant.ts";
import {
  Attempts,
  documentsOfAddress,
  registrationsOfAddress,
  registrationsOfAll,
  tokenGuesses,
} from "../http/attempts.ts";
import { unauthenticated } from "../http/body.ts";
import { plainPage, plainPolicy } from "../http/plain-page.ts";
import { parseQuery } from "../http/query.ts";
import { methodNotAllowed, type RequestContext, type WebSurface } from "../http/surface.ts";
import { AuditTrail } from "../requests/audit/audit-trail.ts";
import { asFault } from "../requests/envelope.ts";
import type { Clock, Ids } from "../base/time/clock.ts";
import type { Engine, Log } from "../store/store.ts";
import { type ConnectAddresses, namesResource, readRequest, requestParameters } from "./authorize.ts";
import { type Client, registered } from "./clients.ts";
import type { Connecting } from "./consent.ts";
import { anyOrigin, oauthAnswer, OAuthError, oauthRefusal } from "./oauth-error.ts";
import { exchangeCode, refresh, revoke, type TokenDependencies, UnknownSecret } from "./tokens.ts";

interface ConnectDependencies {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly connecting: Connecting;
}

/** Things that every request is served with. */
interface Served {
  readonly connecting: Connecting;
  readonly clock: Clock;
  readonly tokens: TokenDependencies;
  readonly ofDocuments: Attempts;
  readonly ofRegistrations: Attempts;
  readonly ofAllRegistrations: Attempts;
  readonly ofGuesses: Attempts;
}

/** The body of a request to an endpoint. */
const oauthBodyBytesMax = 16_384;

const resourceDocument = "/.well-known/oauth-protected-resource";
const serverDocument = "/.well-known/oauth-authorization-server";

/** Where the document about the agent surface is (C72); null: assistants cannot connect. */
export const resourceMetadataOf = (addresses: ConnectAddresses | null): string | null =>
  addresses === null ? null : `${addresses.origin}${resourceDocument}${new URL(addresses.resource).pathname}`;

/** The surfaces of connecting. */
export function createConnect(deps: ConnectDependencies): readonly WebSurface[] {
  const { clock, connecting } = deps;
  const served: Served = {
    connecting,
    clock,
    tokens: { ...deps, auditTrail: new AuditTrail(deps) },
    ofDocuments: new Attempts(clock, documentsOfAddress),
    ofRegistrations: new Attempts(clock, registrationsOfAddress),
    ofAllRegistrations: new Attempts(clock, registrationsOfAll),
    ofGuesses: new Attempts(clock, tokenGuesses),
  };
  return ["/.well-known", "/oauth"].map((path) => ({ path, handle: (context) => answered(served, context) }));
}

/** An endpoint, by its path. */
interface Endpoint {
  readonly operation: string;
  readonly method: "GET" | "POST";
  answer(served: Served, context: RequestContext, addresses: ConnectAddresses): Promise<Response> | Response;
}

const endpoints: Readonly<Record<string, Endpoint>> = {
  [resourceDocument]: { operation: "oauth:resource", method: "GET", answer: aboutResource },
  [`${resourceDocument}/mcp`]: { operation: "oauth:resource", method: "GET", answer: aboutResource },
  [`${resourceDocument}/mcp/read`]: { operation: "oauth:resource", method: "GET", answer: aboutResource },
  [serverDocument]: { operation: "oauth:server", method: "GET", answer: aboutServer },
  "/oauth/authorize": { operation: "oauth:authorize", method: "GET", answer: authorize },
  "/oauth/token": { operation: "oauth:token", method: "POST", answer: giveTokens },
  "/oauth/revoke": { operation: "oauth:revoke", method: "POST", answer: takeToken },
  "/oauth/register": { operation: "oauth:register", method: "POST", answer: register },
};

async function answered(served: Served, context: RequestContext): Promise<Response | null> {
  const endpoint = Object.hasOwn(endpoints, context.path) ? endpoints[context.path] : undefined;
  const addresses = served.connecting.addresses();
  if (endpoint === undefined || addresses === null) return null;
  context.operation = endpoint.operation;
  const { method } = context.request;
  if (method === "OPTIONS") return preflight(endpoint.method);
  if (method !== endpoint.method && !(method === "HEAD" && endpoint.method === "GET"))
    throw methodNotAllowed(method, [endpoint.method]);
  try {
    return await endpoint.answer(served, context, addresses);
  } catch (error) {
    const refusal = asOAuthError(error);
    context.errorCode = refusal.status === 429 ? "RATE_LIMITED" : "INVALID_INPUT";
    return endpoint.operation === "oauth:authorize" ? refusalPage(refusal) : oauthRefusal(refusal);
  }
}

/** A refusal of the service in the words of OAuth. @throws what is a bug. */
function asOAuthError(error: unknown): OAuthError {
  if (error instanceof OAuthError) return error;
  const fault = asFault(error);
  if (fault.code === "INTERNAL") throw error;
  const { status, retryAfterMs, retryable, message } = fault;
  return new OAuthError(retryable ? "temporarily_unavailable" : "invalid_request", message, { status, retryAfterMs });
}

const preflight = (method: Endpoint["method"]): Response =>
  new Response(null, {
    status: 204,
    headers: {
      ...anyOrigin,
      "Access-Control-Allow-Methods": method === "GET" ? "GET, HEAD, OPTIONS" : "POST, OPTIONS",
      "Access-Control-Allow-Headers": "Authorization, Content-Type, MCP-Protocol-Version",
    },
  });

// Documents (C72).

const documentMaxAgeSeconds = 300;

const document = (body: object): Response =>
  new Response(JSON.stringify(body), {
    headers: {
      ...anyOrigin,
      "Content-Type": "application/json",
      "Cache-Control": `public, max-age=${documentMaxAgeSeconds}`,
    },
  });

function aboutResource(_served: Served, _context: RequestContext, { origin, resource }: ConnectAddresses): Response {
  return document({
    resource,
    authorization_servers: [origin],
    scopes_supported: scopesSupported,
    bearer_methods_supported: ["header"],
    resource_name: "OpenPO",
  });
}

function aboutServer(_served: Served, _context: RequestContext, { origin }: ConnectAddresses): Response {
  return document({
    issuer: origin,
    authorization_endpoint: `${origin}/oauth/authorize`,
    token_endpoint: `${origin}/oauth/token`,
    revocation_endpoint: `${origin}/oauth/revoke`,
    registration_endpoint: `${origin}/oauth/register`,
    scopes_supported: scopesSupported,
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: grantTypes,
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: ["none"],
    revocation_endpoint_auth_methods_supported: ["none"],
    client_id_metadata_document_supported: true,
    authorization_response_iss_parameter_supported: true,
  });
}

const grantTypes = ["authorization_code", "refresh_token"] as const;

// Clients ask a person.

/** On what a browser shows or follows. */
const htmlHeaders = {
  "Cache-Control": "no-store",
  "Content-Security-Policy": plainPolicy,
  "Referrer-Policy": "no-referrer",
  "X-Frame-Options": "DENY",
} as const;

/** Sends the person to the console's page, which asks them, with the request as it came. */
async function authorize(served: Served, context: RequestContext, addresses: ConnectAddresses): Promise<Response> {
  const sent = parseQuery(context.search).map(({ name, value }) => [name, value] as const);
  const { remoteAddress } = context;
  await readRequest(sent, {
    clients: served.connecting.clients,
    addresses,
    admit: () => served.ofDocuments.take(remoteAddress),
  });
  const known: readonly string[] = requestParameters;
  const kept = new URLSearchParams(
    sent.filter(([name, value]) => known.includes(name) && value !== "").map(([...pair]) => pair),
  );
  return new Response(null, {
    status: 302,
    headers: { ...htmlHeaders, Location: `/console/connect?${kept.toString()}` },
  });
}

const refusalPage = ({ code, message, status, retryAfterMs }: OAuthError): Response =>
  new Response(
    plainPage(
      "This assistant cannot be connected",
      `<p>Its request is not one that OpenPO takes: ${message.replaceAll(/[<>&]/g, "")} (<code>${code}</code>)</p>
      <p>Nothing was allowed. Close this page, and begin anew in the assistant.</p>`,
    ),
    {
      status,
      headers: {
        ...htmlHeaders,
        "Content-Type": "text/html; charset=utf-8",
        ...(retryAfterMs === null ? {} : { "Retry-After": String(Math.max(1, Math.ceil(retryAfterMs / 1_000))) }),
      },
    },
  );

// Tokens.

/** A form, whose members are each sent once. An empty one is as if it was not sent (RFC 6749, 3.2). */
async function readForm({ request, body }: RequestContext): Promise<(name: string) => string | null> {
  const [type = ""] = (request.header("content-type") ?? "").split(";");
  if (type.trim().toLowerCase() !== "application/x-www-form-urlencoded")
    throw new OAuthError("invalid_request", "Send a body of the type application/x-www-form-urlencoded.");
  const bytes = await body.whole(unauthenticated, { bytesMax: oauthBodyBytesMax });
  const sent = parseQuery(new TextDecoder().decode(bytes));
  const names = sent.map(({ name }) => name);
  if (new Set(names).size < names.length) throw new OAuthError("invalid_request", "A parameter was sent twice.");
  return (name) => sent.find((each) => each.name === name && each.value !== "")?.value ?? null;
}

function needed(form: (name: string) => string | null, name: string): string {
  const value = form(name);
  if (value === null) throw new OAuthError("invalid_request", `${name} is needed.`);
  return value;
}

/** Public clients prove who they are by their code and its challenge alone. */
function clientIn(context: RequestContext, form: (name: string) => string | null): string {
  const clientId = form("client_id");
  if (clientId === null || context.request.header("authorization") !== null)
    throw new OAuthError("invalid_client", "Send client_id in the body, and no Authorization.", { status: 401 });
  return clientId;
}

/** Whoever sends secrets that are none waits, after some. A right one is taken from there all the same. */
async function guarded<T>(
  { ofGuesses }: Served,
  { remoteAddress }: RequestContext,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof UnknownSecret) {
      ofGuesses.take(remoteAddress);
    }
    throw error;
  }
}

async function giveTokens(served: Served, context: RequestContext, addresses: ConnectAddresses): Promise<Response> {
  const form = await readForm(context);
  const clientId = clientIn(context, form);
  const grantType = needed(form, "grant_type");
  const resource = form("resource");
  if (grantType !== "authorization_code" && grantType !== "refresh_token")
    throw new OAuthError("unsupported_grant_type", `grant_type must be one of ${grantTypes.join(", ")}.`);
  // Clients may leave it out when they refresh: their tokens are for nothing else.
  if ((resource !== null || grantType === "authorization_code") && !namesResource(resource, addresses))
    throw new OAuthError("invalid_target", `resource must be ${addresses.resource}.`);
  const answer = await guarded(served, context, () =>
    grantType === "refresh_token"
      ? refresh(served.tokens, context, { refreshToken: needed(form, "refresh_token"), clientId })
      : exchangeCode(served.tokens, context, {
          code: needed(form, "code"),
          clientId,
          redirectUri: needed(form, "redirect_uri"),
          verifier: needed(form, "code_verifier"),
        }),
  );
  return oauthAnswer(200, answer);
}

async function takeToken(served: Served, context: RequestContext): Promise<Response> {
  const form = await readForm(context);
  const clientId = clientIn(context, form);
  const token = needed(form, "token");
  const { remoteAddress } = context;
  if (!(await revoke(served.tokens, context, { token, clientId }))) {
    served.ofGuesses.take(remoteAddress);
  }
  return oauthAnswer(200, null);
}

/** Registers a client, a public one whatever it has asked for (RFC 7591). */
async function register(served: Served, context: RequestContext): Promise<Response> {
  const { remoteAddress } = context;
  served.ofRegistrations.take(remoteAddress);
  served.ofAllRegistrations.take("all");
  const nowMs = served.clock.now();
  const client = registered(await jsonBody(context), nowMs);
  return oauthAnswer(201, registrationJson(client, nowMs));
}

async function jsonBody({ body }: RequestContext): Promise<unknown> {
  const bytes = await body.whole(unauthenticated, { bytesMax: oauthBodyBytesMax });
  try {
    return parseJson(bytes);
  } catch (error) {
    if (error instanceof Fault && error.code === "INVALID_INPUT")
      throw new OAuthError("invalid_client_metadata", "The body is not valid JSON.");
    throw error;
  }
}

const registrationJson = ({ clientId, name, redirectUris }: Client, nowMs: number) => ({
  client_id: clientId,
  client_id_issued_at: Math.floor(nowMs / 1_000),
  client_name: name,
  redirect_uris: redirectUris,
  grant_types: grantTypes,
  response_types: ["code"],
  token_endpoint_auth_method: "none",
  scope: scopesSupported.join(" "),
});
