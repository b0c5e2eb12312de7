/**
 * A typed client of the OpenPO REST API, for any platform with `fetch`.
 *
 * Owns: how an operation's input is sent, keys for idempotent writes, when and how long to wait before a retry, pages.
 * Does not own: what operations there are (generated.ts, from the OpenAPI document).
 */
import { type ApprovalRequest, type ErrorDetails, type Operations, type Route, routes } from "./generated.ts";

export type * from "./generated.ts";

export type OperationName = keyof Operations;
export type Input<Name extends OperationName> = Operations[Name]["input"];
export type Output<Name extends OperationName> = Operations[Name]["output"];

/** A refusal of the service, as its error body says it. */
export interface Refusal<Name extends OperationName> {
  readonly code: Operations[Name]["code"];
  /** A more exact word where the code is shared. */
  readonly reason?: Operations[Name]["reason"] | undefined;
  readonly message: string;
  /** A short next step. */
  readonly action?: string | undefined;
  readonly details?: ErrorDetails | undefined;
  readonly retryable: boolean;
  readonly requestId: string;
}

/** The service did not answer: no connection, or an answer that is not from the service. */
export interface Unreachable {
  readonly code: "UNREACHABLE";
  readonly message: string;
  readonly cause: unknown;
}

/** Nothing was changed: the write waits for somebody's decision. */
export interface Pending {
  readonly code: "APPROVAL_PENDING";
  readonly message: string;
  readonly approvalRequest: ApprovalRequest;
}

export interface Success<Name extends OperationName> {
  readonly ok: true;
  readonly status: number;
  readonly data: Output<Name>;
  readonly requestId: string;
  /** The order's version, for `ifMatch` of a later call; null where there is none. */
  readonly etag: string | null;
  /** True if this is the stored answer of an earlier request under the same key. */
  readonly replayed: boolean;
}

export interface Failure<Name extends OperationName> {
  readonly ok: false;
  /** Null when nothing answered. */
  readonly status: number | null;
  readonly error: Refusal<Name> | Pending | Unreachable;
}

export type Result<Name extends OperationName> = Success<Name> | Failure<Name>;

export interface ClientOptions {
  /** The service's address, without `/api/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Attempts after the first; default 4. */
  readonly retriesMax?: number;
  /** A longer wait is not waited: the failure is returned. Default 60,000. */
  readonly waitMsMax?: number;
  /** Default: the platform's. */
  readonly fetch?: typeof fetch;
}

export interface CallOptions {
  /** Default for writes: one made for this call, the same for all its attempts. */
  readonly idempotencyKey?: string;
  /** An ETag: the write is refused when the order has changed since. */
  readonly ifMatch?: string;
  readonly signal?: AbortSignal;
}

/** Names of operations that answer page by page. */
export type PagedName = {
  [Name in OperationName]: (typeof routes)[Name]["rows"] extends string ? Name : never;
}[OperationName];

/** A row of such an operation. */
export type Row<Name extends PagedName> = (typeof routes)[Name]["rows"] extends keyof Output<Name>
  ? Output<Name>[(typeof routes)[Name]["rows"]] extends readonly (infer Each)[]
    ? Each
    : never
  : never;

export interface Client {
  /** Calls one operation, with retries. Refusals are values; it throws only when `signal` aborts. */
  call<Name extends OperationName>(name: Name, input: Input<Name>, options?: CallOptions): Promise<Result<Name>>;
  /**
   * Every row of a list, page after page.
   *
   * @throws ListFailure when a page is refused.
   */
  each<Name extends PagedName>(
    name: Name,
    input: Input<Name>,
    options?: Pick<CallOptions, "signal">,
  ): AsyncGenerator<Row<Name>, void, undefined>;
}

/** A page that was refused in the middle of an iteration. */
export class ListFailure extends Error {
  override readonly name = "ListFailure";
  readonly failure: Failure<OperationName>;

  constructor(failure: Failure<OperationName>) {
    super(failure.error.message);
    this.failure = failure;
  }
}

const retriesMaxDefault = 4;
const waitMsMaxDefault = 60_000;
/** The wait before the first retry when the service names none; it doubles from there. */
const backoffMs = 200;

export function createClient(options: ClientOptions): Client {
  const { retriesMax = retriesMaxDefault, waitMsMax = waitMsMaxDefault } = options;

  async function call<Name extends OperationName>(
    name: Name,
    input: Input<Name>,
    callOptions: CallOptions = {},
  ): Promise<Result<Name>> {
    const { signal } = callOptions;
    const route: Route = routes[name];
    const { url, init } = requestOf(options, route, input, callOptions);
    for (let retries = 0; ; retries += 1) {
      const { result, retryAfterMs } = await attempt<Name>(options.fetch ?? fetch, url, init, retries, route);
      if (retryAfterMs === null || retries >= retriesMax || retryAfterMs > waitMsMax) return result;
      await pause(retryAfterMs, signal);
    }
  }

  return {
    call,
    async *each(name, input, { signal } = {}) {
      const { rows } = routes[name];
      for (let cursor: unknown = null; ;) {
        const page = await call(
          name,
          cursor === null ? input : { ...input, cursor },
          signal === undefined ? {} : { signal },
        );
        if (!page.ok) throw new ListFailure(page);
        const data = membersOf(page.data);
        const found = data[rows];
        if (isRows<typeof name>(found)) yield* found;
        cursor = data["cursor"] ?? null;
        if (cursor === null) return;
      }
    },
  };
}

/** Result of one attempt, and the wait before the next; null when repeating does not help. */
interface Attempt<Name extends OperationName> {
  readonly result: Result<Name>;
  readonly retryAfterMs: number | null;
}

/**
 * Sends a request once.
 *
 * @throws the signal's reason when it aborts.
 */
async function attempt<Name extends OperationName>(
  send: typeof fetch,
  url: string,
  init: RequestInit,
  retries: number,
  { isFile }: Route,
): Promise<Attempt<Name>> {
  try {
    const response = await send(url, init);
    if (response.ok && isFile === true) {
      const file = { data: { fileName: fileNameOf(response), content: await response.blob() } };
      if (holdsOutput<Name>(file)) return { result: successOf(response, file.data), retryAfterMs: null };
    }
    const body = membersOf(JSON.parse(await response.text()));
    const pending = response.status === 202 ? pendingIn(body) : null;
    if (pending !== null) return { result: { ok: false, status: response.status, error: pending }, retryAfterMs: null };
    if (response.ok && holdsOutput<Name>(body)) return { result: successOf(response, body.data), retryAfterMs: null };
    const { error } = body;
    if (!isRefusal<Name>(error)) throw new TypeError("The answer is not from the service.");
    const result: Failure<Name> = { ok: false, status: response.status, error };
    if (!error.retryable) return { result, retryAfterMs: null };
    return { result, retryAfterMs: Math.max(1, Number(response.headers.get("Retry-After") ?? 0)) * 1000 };
  } catch (cause) {
    init.signal?.throwIfAborted();
    // No answer came. A read changes nothing and a write has its key, so both may be sent again.
    const error: Unreachable = { code: "UNREACHABLE", message: "The service did not answer.", cause };
    return { result: { ok: false, status: null, error }, retryAfterMs: backoffMs * 2 ** retries };
  }
}

/** The name that the service gives a file. */
const fileNameOf = ({ headers }: Response): string =>
  /filename="([^"]+)"/.exec(headers.get("Content-Disposition") ?? "")?.[1] ?? "file";

/** 128 random bits. A page that came by plain HTTP from another machine has `getRandomValues`, but no `randomUUID`. */
export const newIdempotencyKey = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

/** The same request for every attempt of a call. */
function requestOf(
  { baseUrl, apiKey }: ClientOptions,
  route: Route,
  input: object,
  { idempotencyKey, ifMatch, signal }: CallOptions,
): { readonly url: string; readonly init: RequestInit } {
  const { target, body } = spelledRequest(route, input);
  const headers: Record<string, string> = { Authorization: `Bearer ${apiKey}` };
  if (route.method !== "GET") headers["Idempotency-Key"] = idempotencyKey ?? newIdempotencyKey();
  if (ifMatch !== undefined) headers["If-Match"] = ifMatch;
  if (body !== null) headers["Content-Type"] = "application/json";
  return {
    url: baseUrl.replace(/\/+$/, "") + target,
    init: {
      method: route.method,
      headers,
      ...(body === null ? {} : { body }),
      ...(signal === undefined ? {} : { signal }),
    },
  };
}

/** An input as path, query and body. */
function spelledRequest(route: Route, input: object): { readonly target: string; readonly body: string | null } {
  const rest = new Map(Object.entries(input).filter(([, value]) => value !== undefined));
  const take = (name: string): unknown => {
    const value: unknown = rest.get(name);
    rest.delete(name);
    return value;
  };
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(spelled(take(name))));
  const query = new URLSearchParams();
  for (const name of route.query) {
    const value = take(name);
    if (value !== undefined) query.set(name, spelled(value));
  }
  const search = query.size === 0 ? "" : `?${query.toString()}`;
  const sendsBody = route.method === "POST" || route.method === "PUT" || route.method === "PATCH";
  return { target: path + search, body: sendsBody ? JSON.stringify(Object.fromEntries(rest)) : null };
}

/** A value as path and query carry it: lists are separated by commas. */
const spelled = (value: unknown): string =>
  Array.isArray(value) ? value.map(spelled).join(",") : typeof value === "string" ? value : JSON.stringify(value);

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

// Answers.

type Members = Readonly<Record<string, unknown>>;

const membersOf = (value: unknown): Members =>
  typeof value === "object" && value !== null ? Object.fromEntries(Object.entries(value)) : {};

/** The service's tests validate its answers against the document; they are not validated again here. */
const holdsOutput = <Name extends OperationName>(body: Members): body is Members & { readonly data: Output<Name> } =>
  "data" in body;
const isRequest = (value: unknown): value is ApprovalRequest =>
  typeof value === "object" && value !== null && "approvalRequestId" in value;

function pendingIn(body: Members): Pending | null {
  const { approvalRequest } = membersOf(body["data"]);
  if (!isRequest(approvalRequest)) return null;
  return { code: "APPROVAL_PENDING", message: approvalRequest.advice ?? approvalRequest.summary, approvalRequest };
}
const isRefusal = <Name extends OperationName>(error: unknown): error is Refusal<Name> =>
  typeof error === "object" && error !== null && "code" in error && "retryable" in error;
const isRows = <Name extends PagedName>(value: unknown): value is readonly Row<Name>[] => Array.isArray(value);

const successOf = <Name extends OperationName>(response: Response, data: Output<Name>): Success<Name> => ({
  ok: true,
  status: response.status,
  data,
  requestId: response.headers.get("X-Request-Id") ?? "",
  etag: response.headers.get("ETag"),
  replayed: response.headers.get("Idempotent-Replayed") === "true",
});
