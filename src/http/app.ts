/**
 * The service as a web-standard `Request → Response`.
 *
 * Owns: which surface answers, CORS, HEAD and OPTIONS, reading bodies within their limit, the request log and the counts. Does not
 * own: who may do what (operations/perform.ts) or sockets and parser limits (server.ts).
 *
 * Invariants:
 * - H4. Every answer carries `X-Request-Id`, every failure the error body as JSON (C2).
 * - H5. No secret and no body reaches the log: neither headers nor query are written.
 */
import { Fault } from "../core/fault.ts";
import { asFault, failure, type Reply, respond } from "../operations/envelope.ts";
import type { Operation } from "../operations/operation.ts";
import type { Perform } from "../operations/perform.ts";
import type { Clock, Ids, Log } from "../store/store.ts";
import type { Metrics } from "./metrics.ts";
import { openApiDocument } from "./openapi.ts";
import { publish } from "./publication.ts";
import { apiPrefix, assemble, createRoutes, type Match, parseQuery } from "./routes.ts";

/** 1 MB of the specification, inclusive (C10). */
export const bodyBytesMax = 1_048_576;

/** Another surface of the same process, such as the operator's. */
export interface Mount {
  /** It gets this path and everything below it. */
  readonly path: string;
  /**
   * @param named  told the operation that the request is for, as soon as that is known; for the log and the counts.
   * @returns null for a path that it does not know.
   */
  handle(request: Request, requestId: string, named: (operation: string) => void): Promise<Response | null>;
}

export interface AppDependencies {
  readonly operations: readonly Operation[];
  readonly perform: Perform;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Rejects when the process cannot serve (`GET /readyz`). */
  ready(): Promise<void>;
  readonly mounts?: readonly Mount[];
}

/** What a server knows of a request beyond the `Request`: it has been normalised there. */
export interface Transport {
  /** Path and query as sent. */
  readonly target: string;
  /** One entry per header line of that name (lower case). */
  headerValues(name: string): readonly string[];
}

export interface App {
  fetch(request: Request, transport?: Transport): Promise<Response>;
}

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

/** A request with what was found out about it on the way, for the log and the counts. */
interface Visit {
  readonly request: Request;
  readonly transport: Transport;
  readonly requestId: string;
  /** As sent, without the query. */
  readonly path: string;
  readonly search: string;
  operation: string;
  errorCode: string | null;
}

export function createApp(deps: AppDependencies): App {
  const { perform, clock, ids, log, metrics } = deps;
  const match = createRoutes(deps.operations);
  const document = publish(JSON.stringify(openApiDocument(deps.operations)), "application/json");
  const mounts = deps.mounts ?? [];

  async function answer(visit: Visit): Promise<Response> {
    const { request, path, requestId } = visit;
    if (path === apiPrefix || path.startsWith(`${apiPrefix}/`)) return api(visit);
    const mount = mounts.find((each) => path === each.path || path.startsWith(`${each.path}/`));
    const named = (operation: string): void => {
      visit.operation = operation;
    };
    const response = mount === undefined ? await operational(visit) : await mount.handle(request, requestId, named);
    if (response !== null) return response;
    throw new Fault("NOT_FOUND", `There is nothing at ${path}.`, { action: `The API is at ${apiPrefix}.` });
  }

  /** Health, readiness and counts: no shop data. */
  async function operational(visit: Visit): Promise<Response | null> {
    switch (visit.path) {
      case "/healthz":
        visit.operation = "healthz";
        readOnly(visit);
        return Response.json({ status: "ok" });
      case "/readyz":
        visit.operation = "readyz";
        readOnly(visit);
        await deps.ready();
        return Response.json({ status: "ready" });
      case "/metrics":
        visit.operation = "metrics";
        readOnly(visit);
        return new Response(metrics.text(), {
          headers: { "Content-Type": "text/plain; version=0.0.4; charset=utf-8" },
        });
      default:
        return null;
    }
  }

  /** Everything under `apiPrefix`, with CORS headers on every answer (C8). */
  async function api(visit: Visit): Promise<Response> {
    const { request, path } = visit;
    const found = match(path);
    const isDocument = path === `${apiPrefix}/openapi.json`;
    if (request.method === "OPTIONS") {
      const allow = isDocument ? ["GET"] : allowed(found);
      return new Response(null, {
        status: 204,
        headers: { ...corsHeaders, ...preflightHeaders, Allow: allow.join(", ") },
      });
    }
    const response = isDocument ? await publicDocument(visit) : respond(await rest(visit, found));
    for (const [name, value] of Object.entries(corsHeaders)) response.headers.set(name, value);
    return response;
  }

  /** The OpenAPI document, raw and public whatever key is sent (C9). */
  async function publicDocument(visit: Visit): Promise<Response> {
    const { request, requestId } = visit;
    visit.operation = "openapi";
    if (request.method === "GET" || request.method === "HEAD") return document.answer(request);
    return respond(failure(requestId, wrongMethod(request.method, ["GET"])));
  }

  async function rest(visit: Visit, found: Match | null): Promise<Reply> {
    const { request, path, transport } = visit;
    const method = request.method === "HEAD" ? "GET" : request.method;
    const binding = found?.bindings.get(method) ?? null;
    const query = parseQuery(visit.search);
    if (binding !== null) visit.operation = binding.operation.name;
    const reply = await perform({
      surface: "rest",
      requestId: visit.requestId,
      bearerToken: bearerToken(transport.headerValues("authorization")),
      target: binding?.operation ?? (found === null ? unknownPath(path) : wrongMethod(request.method, allowed(found))),
      method: request.method,
      path,
      query: query.map(({ name, value }) => [name, value]),
      idempotencyKeys: transport.headerValues("idempotency-key"),
      ifMatch: validators(request.headers.get("if-match")),
      ifNoneMatch: request.headers.get("if-none-match"),
      body: () => readBody(request),
      assemble: (_operation, body) => {
        if (binding === null || found === null) throw new Error("no operation was reached");
        return assemble(binding, found.parameters, query, body);
      },
    });
    visit.errorCode = reply.errorCode;
    return reply;
  }

  return {
    async fetch(request, transport = standardTransport(request)) {
      const startedAtMs = clock.now();
      const [path = "", ...rest] = transport.target.split("?");
      const visit: Visit = {
        request,
        transport,
        requestId: ids.next("req"),
        path,
        search: rest.join("?"),
        operation: "unknown",
        errorCode: null,
      };
      let response: Response;
      try {
        response = await answer(visit);
      } catch (error) {
        const fault = asFault(error);
        if (fault.code === "INTERNAL") log.error({ requestId: visit.requestId, err: error }, "request failed");
        visit.errorCode = fault.code;
        response = respond(failure(visit.requestId, fault));
      }
      if (!response.headers.has("X-Request-Id")) response.headers.set("X-Request-Id", visit.requestId);
      const { requestId, operation, errorCode } = visit;
      const durationMs = clock.now() - startedAtMs;
      metrics.observe({ operation, status: response.status, errorCode, durationMs });
      log.info(
        { requestId, operation, method: request.method, path, status: response.status, errorCode, durationMs },
        "request",
      );
      return request.method === "HEAD" ? new Response(null, response) : response;
    },
  };
}

/** For servers that say no more than the request itself: a header given twice then reads as one value. */
function standardTransport(request: Request): Transport {
  const { pathname, search } = new URL(request.url);
  return {
    target: pathname + search,
    headerValues: (name) => {
      const value = request.headers.get(name);
      return value === null ? [] : [value];
    },
  };
}

const allowed = (found: Match | null): readonly string[] => [...(found?.bindings.keys() ?? [])].sort();

const unknownPath = (path: string): Fault =>
  new Fault("NOT_FOUND", `There is nothing at ${path}.`, {
    action: `See ${apiPrefix}/openapi.json for the paths there are; they have no trailing slash.`,
  });

const wrongMethod = (method: string, allow: readonly string[]): Fault =>
  new Fault("METHOD_NOT_ALLOWED", `${method} is not supported here.`, {
    allow,
    action: `Use ${allow.join(" or ")}.`,
  });

function readOnly({ request }: Visit): void {
  if (request.method !== "GET" && request.method !== "HEAD") throw wrongMethod(request.method, ["GET"]);
}

function bearerToken(values: readonly string[]): string | null {
  const [value, ...more] = values;
  return value === undefined || more.length > 0 ? null : (/^Bearer +(\S+) *$/i.exec(value)?.[1] ?? null);
}

/** Strong validators without their quotes, `*` as it stands; a weak one or anything else matches nothing. Null when not sent. */
function validators(value: string | null): readonly string[] | null {
  if (value === null) return null;
  if (value.trim() === "*") return ["*"];
  return value.split(",").flatMap((each) => /^"([^"*]*)"$/.exec(each.trim())?.[1] ?? []);
}

/**
 * The body's bytes.
 *
 * @throws Fault INVALID_INPUT when it is above `bodyBytesMax`, encoded, or ends before its announced length (C10).
 */
async function readBody(request: Request): Promise<Uint8Array> {
  const encoding = request.headers.get("content-encoding");
  if (encoding !== null && encoding.trim().toLowerCase() !== "identity")
    throw new Fault("INVALID_INPUT", "An encoded body is not supported.", {
      action: "Send it without Content-Encoding.",
    });
  if (Number(request.headers.get("content-length") ?? 0) > bodyBytesMax) throw bodyTooLarge();
  if (request.body === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of bytesOf(request.body)) {
    length += chunk.length;
    if (length > bodyBytesMax) throw bodyTooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** What arrives, until it ends; a connection that breaks off is the sender's matter. */
async function* bytesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (cause) {
    throw new Fault("INVALID_INPUT", "The body ended before all of it arrived.", { cause });
  }
}

const bodyTooLarge = (): Fault =>
  new Fault("INVALID_INPUT", `The body is larger than ${bodyBytesMax} bytes.`, {
    action: "Split the request into smaller ones.",
  });
