/**
 * The service as a web-standard `Request → Response`.
 *
 * Owns: which surface answers, HEAD, the request id, the request log and the counts. Does not own: what a surface
 * answers (rest.ts, health.ts, docs.ts, mcp, admin), sockets and parser limits (node/server.ts).
 *
 * Invariants:
 * - H4. Every answer carries `X-Request-Id`, every failure the error body as JSON (C2).
 * - H5. No secret and no body reaches the log or a span: neither headers nor query are written, and secrets in a path
 *   are masked.
 */
import type { Fault } from "../base/fault.ts";
import { shownPath } from "../base/text/shown-path.ts";
import { faultFacts, noSpans, type Span, type SpanFacts, type Spans } from "../base/spans.ts";
import { loggedRequest, type Trace, traceOf, traceparentOf } from "../base/trace-context.ts";
import { asFault, failure, type Reply, respond } from "../requests/envelope.ts";
import type { Operation } from "../requests/operation.ts";
import type { Perform } from "../requests/perform.ts";
import type { Clock, Ids } from "../base/time/clock.ts";
import type { Log } from "../store/store.ts";
import { BodyBudget, RequestBody } from "./body.ts";
import { createHealth, type HealthSources } from "./health.ts";
import type { Metrics } from "./metrics.ts";
import { createRest, type Gzip } from "./rest.ts";
import { apiPrefix } from "./routes.ts";
import { newTraceId } from "./trace-ids.ts";
import { type HttpRequest, pathNotFound, type RequestContext, type Surface } from "./surface.ts";

interface ServiceDependencies extends AppDependencies, HealthSources {
  readonly operations: readonly Operation[];
  readonly perform: Perform;
  readonly gzip: Gzip;
  /** Beside REST and health. */
  readonly surfaces?: readonly Surface[];
}

/** Dependencies of every app. */
interface AppDependencies {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Default: no tracer is told. */
  readonly spans?: Spans;
  /** Memory for the bodies of requests. Default: as much as `bodiesBytesMax`. */
  readonly bodies?: BodyBudget;
}

/** Facts of a server about a request beyond the `Request`, in which target and headers are normalised. */
export interface Transport {
  /** Path and query as sent. */
  readonly target: string;
  /** One entry per header line of that name (lower case). */
  readonly headerValues: (name: string) => readonly string[];
  /** Of the connection: the client's, or that of the proxy before this service. */
  readonly remoteAddress: string;
}

export interface App {
  fetch(request: Request, transport?: Transport): Promise<Response>;
  /** True if the answers for this path are replies (`ReplySurface`). */
  repliesAt(path: string): boolean;
  /** Answers a request for such a path. Never rejects. */
  reply(request: HttpRequest, transport: Transport): Promise<Reply>;
  /** Answers a request with this fault, without looking into it. Never rejects. */
  refuse(request: HttpRequest, transport: Transport, fault: Fault): Promise<Reply>;
}

/** The service: REST, health, and what is beside them. */
export const createApp = (deps: ServiceDependencies): App =>
  appOf(
    [...createRest(deps.operations, deps.perform, deps.gzip), ...createHealth(deps), ...(deps.surfaces ?? [])],
    deps,
  );

/** An app of these surfaces alone. */
export function appOf(surfaces: readonly Surface[], deps: AppDependencies): App {
  const { clock, ids, log, metrics, spans = noSpans, bodies = new BodyBudget() } = deps;
  const exact = new Map(surfaces.filter((each) => each.exact === true).map((each) => [each.path, each]));
  const whole = surfaces.filter((each) => each.exact !== true);
  const surfaceAt = (path: string): Surface | undefined =>
    exact.get(path) ?? whole.find((each) => path === each.path || path.startsWith(`${each.path}/`));

  async function answer(context: RequestContext): Promise<Response> {
    const { path } = context;
    const surface = surfaceAt(path);
    const response =
      surface === undefined
        ? null
        : "reply" in surface
          ? respond(await surface.reply(context))
          : await surface.handle(context);
    if (response === null) throw pathNotFound(path, `The API is at ${apiPrefix}.`);
    return response;
  }

  /** The answer to what was thrown; a bug is logged with its stack (H4). */
  function faultReply(context: RequestContext, error: unknown): Reply {
    const fault = asFault(error);
    if (fault.code === "INTERNAL") log.error({ ...loggedRequest(context), err: error }, "request failed");
    context.errorCode = fault.code;
    return failure(context.requestId, fault);
  }

  /** Runs `work` for one request, then counts and logs what it answered. */
  async function served<T extends { readonly status: number }>(
    request: HttpRequest,
    transport: Transport,
    work: (context: RequestContext) => Promise<T>,
  ): Promise<T> {
    const startedAtMs = clock.now();
    const { trace, span } = begun(spans, request.method, transport);
    const context = contextOf(request, transport, { requestId: ids.next("req"), trace, bodies });
    const answered = await work(context);
    context.body.release();
    const { operation, errorCode } = context;
    const { method } = request;
    const path = shownPath(context.path);
    const { status } = answered;
    const durationMs = clock.now() - startedAtMs;
    if (spans.recorded) span.end(factsOf(context, status));
    metrics.observe({ operation, status, errorCode, durationMs });
    log.info({ ...loggedRequest(context), operation, method, path, status, errorCode, durationMs }, "request");
    return answered;
  }

  return {
    async fetch(request, transport = standardTransport(request)) {
      const response = await served(fromWeb(request), transport, async (context) => {
        const answered = await answer(context).catch((error: unknown) => respond(faultReply(context, error)));
        if (!answered.headers.has("X-Request-Id")) answered.headers.set("X-Request-Id", context.requestId);
        answered.headers.set("X-Content-Type-Options", "nosniff");
        return answered;
      });
      return request.method === "HEAD" ? new Response(null, response) : response;
    },
    repliesAt: (path) => "reply" in (surfaceAt(path) ?? {}),
    reply: (request, transport) =>
      served(request, transport, async (context) => {
        const surface = surfaceAt(context.path);
        if (surface === undefined || !("reply" in surface)) throw new Error(`no replies at ${context.path}`);
        return await surface.reply(context).catch((error: unknown) => faultReply(context, error));
      }),
    refuse: (request, transport, fault) =>
      served(request, transport, (context) => {
        const reply = faultReply(context, fault);
        return Promise.resolve({ ...reply, headers: { ...reply.headers, ...surfaceAt(context.path)?.headers } });
      }),
  };
}

const fromWeb = (request: Request): HttpRequest => ({
  method: request.method,
  header: (name) => request.headers.get(name),
  async readBody(take) {
    if (request.body !== null) for await (const piece of request.body) take(piece);
  },
  web: () => request,
});

/**
 * Begins the span of a request, under that of its caller. The request's ids are those of its span, if a tracer gives it
 * any.
 */
function begun(
  spans: Spans,
  method: string,
  { headerValues }: Transport,
): { readonly trace: Trace; readonly span: Span } {
  const trace = traceOf(headerValues("traceparent"), newTraceId);
  const { traceId, parentId, sampled } = trace;
  const parent = spans.recorded && parentId !== null ? traceparentOf({ traceId, spanId: parentId, sampled }) : null;
  const span = spans.start("openpo.request", parent, { "http.request.method": method });
  return { trace: span.ids === null ? trace : { ...span.ids, parentId }, span };
}

/** Returns the facts of a request's span at its end. The path is left out: ids of the shop's own are in it. */
const factsOf = ({ operation, requestId, shopId, replayed, errorCode }: RequestContext, status: number): SpanFacts => ({
  "http.response.status_code": status,
  "openpo.operation": operation,
  "openpo.request.id": requestId,
  "openpo.shop.id": shopId,
  "openpo.replayed": replayed,
  ...faultFacts(errorCode, status),
});

function contextOf(
  request: HttpRequest,
  { target, headerValues, remoteAddress }: Transport,
  { requestId, trace, bodies }: { readonly requestId: string; readonly trace: Trace; readonly bodies: BodyBudget },
): RequestContext {
  const at = target.indexOf("?");
  return {
    request,
    body: new RequestBody(request, bodies),
    requestId,
    trace,
    path: at === -1 ? target : target.slice(0, at),
    search: at === -1 ? "" : target.slice(at + 1),
    headerValues,
    remoteAddress,
    operation: "unknown",
    errorCode: null,
    shopId: null,
    replayed: false,
  };
}

/** For servers that pass only the request: a header given twice then reads as one value. */
function standardTransport(request: Request): Transport {
  const { pathname, search } = new URL(request.url);
  return {
    target: pathname + search,
    remoteAddress: "unknown",
    headerValues: (name) => {
      const value = request.headers.get(name);
      return value === null ? [] : [value];
    },
  };
}
