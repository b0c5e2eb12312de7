/**
 * Shared by the process's surfaces: a request with the facts about it, the bearer token, and the refusals of a
 * path or a method.
 */
import { Fault } from "../base/fault.ts";
import { shownPath } from "../base/text/shown-path.ts";
import type { Trace } from "../base/trace-context.ts";
import type { Reply } from "../requests/envelope.ts";
import type { RequestBody } from "./body.ts";

/** A request as a server of any kind has it. */
export interface HttpRequest {
  readonly method: string;
  /** A header's value by its name in lower case, several lines joined by commas; null without one. */
  header(name: string): string | null;
  /**
   * Passes the body on in pieces. If `take` throws, it passes no more and fails with that; otherwise it rejects when
   * the body breaks off.
   *
   * @returns null when all of it had arrived, and has been passed on.
   */
  readBody(take: (piece: Uint8Array) => void): Promise<void> | null;
  /** The request in the web's form, for a `WebSurface`. */
  web(): Request;
}

/**
 * A request while it is served. The surface that answers it writes the last four members, for the log, the counts and
 * the span.
 */
export interface RequestContext {
  readonly request: HttpRequest;
  readonly body: RequestBody;
  readonly requestId: string;
  readonly trace: Trace;
  /** As sent, without the query. */
  readonly path: string;
  /** Part after the question mark, as sent. */
  readonly search: string;
  /** One entry per header line of that name (lower case). */
  readonly headerValues: (name: string) => readonly string[];
  readonly remoteAddress: string;
  /** Name of the operation; `unknown` until it is known. */
  operation: string;
  /** Code of the fault that was answered; null on success. */
  errorCode: string | null;
  /** Whose key or session asked; null until it is known. */
  shopId: string | null;
  /** It was answered with the stored answer of an earlier request. */
  replayed: boolean;
}

/** A part of the process that answers requests below one path. */
export type Surface = WebSurface | ReplySurface;

interface SurfacePath {
  /** The surface gets this path and everything below it. */
  readonly path: string;
  /** It gets only the path itself. */
  readonly exact?: true;
  /** Headers of every answer for its path, also of one that the app gives in its place. */
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * A surface whose answers are all replies, made of small bodies. A server then needs neither a `Request` nor a
 * `Response` for it: making them took about half of the time of a small read.
 */
interface ReplySurface extends SurfacePath {
  /** Answers a request. @throws Fault for the caller; the app answers it as the error body. */
  reply(context: RequestContext): Promise<Reply>;
}

/** A surface that may answer with a stream. */
export interface WebSurface extends SurfacePath {
  /**
   * Answers a request.
   *
   * @returns null for a path that the surface does not have.
   * @throws Fault for the caller; the app answers it as the error body.
   */
  handle(context: RequestContext): Promise<Response | null>;
}

/** The token of an `Authorization: Bearer` header; null when there is none, more than one line, or another scheme. */
export function bearerToken({ headerValues }: RequestContext): string | null {
  const [value, ...more] = headerValues("authorization");
  return value === undefined || more.length > 0 ? null : (/^Bearer +(\S+) *$/i.exec(value)?.[1] ?? null);
}

/** True if the client reached the service by TLS: it states its own origin, or a proxy before this service says so. */
export function isByTls({ request }: Pick<RequestContext, "request">): boolean {
  const forwarded = request.header("x-forwarded-proto")?.split(",")[0]?.trim().toLowerCase();
  return forwarded === "https" || (request.header("origin") ?? "").startsWith("https://");
}

/** Where the client reached the service: `https://openpo.example.com`. */
export const baseUrlOf = (context: Pick<RequestContext, "request">): string =>
  `${isByTls(context) ? "https" : "http"}://${context.request.header("host") ?? "localhost"}`;

/** @param action  where to look instead. */
export const pathNotFound = (path: string, action: string): Fault =>
  new Fault("NOT_FOUND", `There is nothing at ${shownPath(path)}.`, { action });

/** @param allow  the methods that the path has. */
export const methodNotAllowed = (method: string, allow: readonly string[]): Fault =>
  new Fault("METHOD_NOT_ALLOWED", `${method} is not supported here.`, {
    allow,
    action: `Use ${allow.join(" or ")}.`,
  });

/** @throws Fault METHOD_NOT_ALLOWED unless the request is GET or HEAD. */
export function requireGet({ method }: Pick<HttpRequest, "method">): void {
  if (method !== "GET" && method !== "HEAD") throw methodNotAllowed(method, ["GET"]);
}

/**
 * Strong validators without their quotes, `*` as it stands; a weak one or anything else matches nothing. Null when not
 * sent.
 */
export function validators(value: string | null): readonly string[] | null {
  if (value === null) return null;
  if (value.trim() === "*") return ["*"];
  return value.split(",").flatMap((each) => /^"([^"*]*)"$/.exec(each.trim())?.[1] ?? []);
}
