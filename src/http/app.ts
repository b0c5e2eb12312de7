/**
 * The service as a web-standard `Request → Response`.
 *
 * Owns: which surface answers, HEAD, the request id, the request log and the counts. Does not own: what a surface answers (rest.ts,
 * health.ts, docs.ts, mcp, admin), sockets and parser limits (node/server.ts).
 *
 * Invariants:
 * - H4. Every answer carries `X-Request-Id`, every failure the error body as JSON (C2).
 * - H5. No secret and no body reaches the log: neither headers nor query are written, and secrets in a path are masked.
 */
import { shownPath } from "../core/shown-path.ts";
import { asFault, failure, respond } from "../operations/envelope.ts";
import type { Operation } from "../operations/operation.ts";
import type { Perform } from "../operations/perform.ts";
import type { Clock, Ids, Log } from "../store/store.ts";
import { BodyMemory, RequestBody } from "./body.ts";
import { createHealth } from "./health.ts";
import type { Metrics } from "./metrics.ts";
import { createRest } from "./rest.ts";
import { apiPrefix } from "./routes.ts";
import { pathNotFound, type RequestContext, type Surface } from "./surface.ts";

interface AppDependencies {
  readonly operations: readonly Operation[];
  readonly perform: Perform;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Rejects when the process cannot serve (`GET /readyz`). */
  readonly ready: () => Promise<void>;
  /** Shown by `GET /healthz`: by it the command tells this server from others. */
  readonly identity: string;
  /** Memory for the bodies of requests. Default: as much as `bodiesBytesMax`. */
  readonly bodies?: BodyMemory;
  /** Beside REST and health. */
  readonly surfaces?: readonly Surface[];
}

/** What a server knows of a request beyond the `Request`, in which target and headers are normalised. */
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
}

export function createApp(deps: AppDependencies): App {
  const { clock, ids, log, metrics, bodies = new BodyMemory() } = deps;
  const surfaces: readonly Surface[] = [
    createRest(deps.operations, deps.perform),
    ...createHealth(metrics, deps.ready, deps.identity),
    ...(deps.surfaces ?? []),
  ];

  async function answer(context: RequestContext): Promise<Response> {
    const { path } = context;
    const surface = surfaces.find((each) => path === each.path || path.startsWith(`${each.path}/`));
    const response = (await surface?.handle(context)) ?? null;
    if (response === null) throw pathNotFound(path, `The API is at ${apiPrefix}.`);
    return response;
  }

  /** The answer to what was thrown; a bug is logged with its stack (H4). */
  function answerFault(context: RequestContext, error: unknown): Response {
    const fault = asFault(error);
    if (fault.code === "INTERNAL") log.error({ requestId: context.requestId, err: error }, "request failed");
    context.errorCode = fault.code;
    return respond(failure(context.requestId, fault));
  }

  return {
    async fetch(request, transport = standardTransport(request)) {
      const startedAtMs = clock.now();
      const context = contextOf(request, transport, ids.next("req"), bodies);
      const response = await answer(context).catch((error: unknown) => answerFault(context, error));
      context.body.release();
      if (!response.headers.has("X-Request-Id")) response.headers.set("X-Request-Id", context.requestId);
      response.headers.set("X-Content-Type-Options", "nosniff");
      const { requestId, operation, errorCode } = context;
      const { status } = response;
      const durationMs = clock.now() - startedAtMs;
      metrics.observe({ operation, status, errorCode, durationMs });
      log.info(
        { requestId, operation, method: request.method, path: shownPath(context.path), status, errorCode, durationMs },
        "request",
      );
      return request.method === "HEAD" ? new Response(null, response) : response;
    },
  };
}

function contextOf(
  request: Request,
  { target, headerValues, remoteAddress }: Transport,
  requestId: string,
  bodies: BodyMemory,
): RequestContext {
  const [path = "", ...rest] = target.split("?");
  const body = new RequestBody(request, bodies);
  return {
    request,
    body,
    requestId,
    path,
    search: rest.join("?"),
    headerValues,
    remoteAddress,
    operation: "unknown",
    errorCode: null,
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
