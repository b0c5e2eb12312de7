/**
 * The REST surface: everything under `/api/v1`, and the OpenAPI document that describes it.
 *
 * Owns: CORS, OPTIONS, a request's headers in the terms of `perform`. Does not own: who may do what
 * (requests/perform.ts), which path means what (routes.ts).
 */
import { Fault } from "../base/fault.ts";
import { namedShop } from "../requests/caller.ts";
import { failure, giveBack, isReplay, type Reply, respond } from "../requests/envelope.ts";
import { isRestOperation, type Operation } from "../requests/operation.ts";
import type { Perform } from "../requests/perform.ts";
import { ofShop } from "./body.ts";
import { type Publication, publishLater, takesGzip } from "./openapi/publication.ts";
import { parseQuery } from "./query.ts";
import { apiPrefix, asksForDryRun, assemble, bindingFor, createRoutes, type Match, methodsOf } from "./routes.ts";
import {
  bearerToken,
  type HttpRequest,
  methodNotAllowed,
  pathNotFound,
  type RequestContext,
  type Surface,
  validators,
} from "./surface.ts";

const documentPath = `${apiPrefix}/openapi.json`;
const documentMethods = ["GET"] as const;

/** Shorter answers fit into few packets: compressing them costs more than it saves. */
export const compressedBytesMin = 4_096;

/** On every answer (C8). */
const corsHeaders = {
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Expose-Headers":
    "X-Request-Id, Idempotent-Replayed, Retry-After, Location, Allow, RateLimit, RateLimit-Policy, ETag, Link",
} as const;

const preflightHeaders = {
  "Access-Control-Allow-Methods": "GET, HEAD, POST, PATCH, DELETE, OPTIONS",
  "Access-Control-Allow-Headers": "Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match",
  "Access-Control-Max-Age": "86400",
} as const;

/** Compresses a text or its bytes. */
export type Gzip = (plain: string | Uint8Array) => Promise<Uint8Array>;

export function createRest(operations: readonly Operation[], perform: Perform, gzip: Gzip): readonly Surface[] {
  const match = createRoutes(apiPrefix, operations.filter(isRestOperation));
  return [
    {
      path: apiPrefix,
      headers: corsHeaders,
      async reply(context) {
        const found = match(context.path);
        if (context.request.method === "OPTIONS") return preflight(context, found === null ? [] : methodsOf(found));
        const reply = await compressed(await replyTo(context, found, perform), context.request, gzip);
        return { ...reply, headers: { ...reply.headers, ...corsHeaders } };
      },
    },
  ];
}

/**
 * An OpenAPI document at its path, the same for everyone (C9).
 *
 * @param operation  how its requests are counted.
 * @param load  the document; null when this installation does not carry it. It is loaded when first asked for.
 */
export function documentSurface(path: string, operation: string, load: () => Promise<string | null>): Surface {
  const document = publishLater(load, "application/json");
  return {
    path,
    exact: true,
    headers: corsHeaders,
    async handle(context) {
      if (context.request.method === "OPTIONS") return respond(preflight(context, documentMethods));
      const publication = await document();
      if (publication === null) return null;
      const response = await documentResponse(publication, operation, context);
      for (const [name, value] of Object.entries(corsHeaders)) response.headers.set(name, value);
      return response;
    },
  };
}

/** Returns the answer of OPTIONS, also on an unknown path (C8). */
const preflight = ({ requestId }: RequestContext, allow: readonly string[]): Reply => ({
  status: 204,
  headers: { "X-Request-Id": requestId, ...corsHeaders, ...preflightHeaders, Allow: allow.join(", ") },
  body: "",
  errorCode: null,
});

/** The OpenAPI document, without an envelope and public, whatever key is sent (C9). */
async function documentResponse(document: Publication, operation: string, context: RequestContext): Promise<Response> {
  const { method } = context.request;
  context.operation = operation;
  if (method === "GET" || method === "HEAD") return document.answer(context.request);
  return respond(failure(context.requestId, methodNotAllowed(method, documentMethods)));
}

/**
 * Returns the answer of `perform`. It gets unknown paths and methods too, because the key is checked before they are
 * refused (C1).
 */
async function replyTo(context: RequestContext, found: Match | null, perform: Perform): Promise<Reply> {
  const { request, requestId, trace, path } = context;
  const binding = found === null ? unknownPath(path) : bindingFor(found, request.method);
  const query = parseQuery(context.search);
  const token = bearerToken(context);
  if (!(binding instanceof Fault)) context.operation = binding.operation.name;
  const reply = await perform({
    surface: "rest",
    requestId,
    trace,
    bearerToken: token,
    target: binding instanceof Fault ? binding : binding.operation,
    isDryRun: !(binding instanceof Fault) && asksForDryRun(binding, query),
    method: request.method,
    path,
    query: query.map(({ name, value }) => [name, value]),
    idempotencyKeys: context.headerValues("idempotency-key"),
    ifMatch: validators(request.header("if-match")),
    ifNoneMatch: request.header("if-none-match"),
    body: () => context.body.whole(ofShop(namedShop(token))),
    assemble: (_operation, body) => {
      if (found === null || binding instanceof Fault) throw new Error("no operation was reached");
      return assemble(binding, found.parameters, query, body);
    },
  });
  context.errorCode = reply.errorCode;
  context.replayed = isReplay(reply);
  // Whoever is known has sent a key or a bearer that names the shop.
  if (reply.errorCode !== "UNAUTHORIZED") context.shopId = namedShop(token);
  return reply;
}

/**
 * Returns the reply of a read in the form that the client is sent: gzip, or as it is. An answer with an ETag stays as
 * it is: a strong one (C37) names these bytes and no others (D481).
 */
async function compressed(reply: Reply, request: HttpRequest, gzip: Gzip): Promise<Reply> {
  const { method } = request;
  if (reply.status !== 200 || "ETag" in reply.headers || (method !== "GET" && method !== "HEAD")) return reply;
  const plain = reply.bytes ?? reply.body;
  if (plain.length < compressedBytesMin) return reply;
  const headers = { ...reply.headers, Vary: "Accept-Encoding" };
  if (!takesGzip(request.header("accept-encoding") ?? "")) return { ...reply, headers };
  const bytes = await gzip(plain);
  if (reply.bytes !== undefined) giveBack(reply.bytes);
  return { ...reply, headers: { ...headers, "Content-Encoding": "gzip" }, body: "", bytes };
}

const unknownPath = (path: string): Fault =>
  pathNotFound(path, `See ${documentPath} for the paths there are; they have no trailing slash.`);
