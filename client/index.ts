/**
 * A typed client of the OpenPO REST API, for any platform with `fetch`.
 *
 * Owns: how an operation's input is sent, keys for idempotent writes, when and how long to wait before a retry, pages. Does not
 * own: what operations there are (generated.ts, from the OpenAPI document).
 */
import { type ErrorDetails, type Operations, type Route, routes } from "./generated.ts";

export type * from "./generated.ts";

export type OperationName = keyof Operations;
export type Input<Name extends OperationName> = Operations[Name]["input"];
export type Output<Name extends OperationName> = Operations[Name]["output"];

/** What the service refused, as its error body says it. */
export interface Refusal<Name extends OperationName> {
  readonly code: Operations[Name]["code"];
  /** Tells apart what has no code of its own. */
  readonly reason?: Operations[Name]["reason"] | undefined;
  readonly message: string;
  /** A short next step. */
  readonly action?: string | undefined;
  readonly details?: ErrorDetails | undefined;
  readonly retryable: boolean;
  readonly requestId: string;
}

/** No answer of the service came: no connection, or an answer that is not the service's. */
export interface Unreachable {
  readonly code: "UNREACHABLE";
  readonly message: string;
  readonly cause: unknown;
}

export interface Success<Name extends OperationName> {
  readonly ok: true;
  readonly status: number;
  readonly data: Output<Name>;
  readonly requestId: string;
  /** The order's version, to be sent as `ifMatch`; null where there is none. */
  readonly etag: string | null;
  /** Whether this is the stored answer of an earlier request under the same key. */
  readonly replayed: boolean;
}

export interface Failure<Name extends OperationName> {
  readonly ok: false;
  /** Null when nothing answered. */
  readonly status: number | null;
  readonly error: Refusal<Name> | Unreachable;
}

export type Result<Name extends OperationName> = Success<Name> | Failure<Name>;

export interface ClientOptions {
  /** The service's address, without `/api/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Attempts after the first; default 4. */
  readonly retriesMax?: number;
  /** The longest wait that a retry is worth; default 60,000. */
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
  /** Does one operation. Refusals are values; it throws only when `signal` aborts. */
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
  const send = options.fetch ?? fetch;
  const retriesMax = options.retriesMax ?? retriesMaxDefault;
  const waitMsMax = options.waitMsMax ?? waitMsMaxDefault;
  const base = options.baseUrl.replace(/\/+$/, "");

  async function attempt(
    route: Route,
    input: object,
    headers: Record<string, string>,
    signal: AbortSignal | undefined,
  ) {
    const { target, body } = requestOf(route, input);
    const response = await send(base + target, {
      method: route.method,
      headers: { ...headers, ...(body === null ? {} : { "Content-Type": "application/json" }) },
      ...(body === null ? {} : { body }),
      ...(signal === undefined ? {} : { signal }),
    });
    return { response, body: membersOf(JSON.parse(await response.text())) };
  }

  async function call<Name extends OperationName>(
    name: Name,
    input: Input<Name>,
    { idempotencyKey, ifMatch, signal }: CallOptions = {},
  ): Promise<Result<Name>> {
    const route: Route = routes[name];
    const headers: Record<string, string> = { Authorization: `Bearer ${options.apiKey}` };
    if (route.method !== "GET") headers["Idempotency-Key"] = idempotencyKey ?? crypto.randomUUID();
    if (ifMatch !== undefined) headers["If-Match"] = ifMatch;
    for (let retries = 0; ; retries += 1) {
      let waitMs = backoffMs * 2 ** retries;
      let failure: Failure<Name>;
      try {
        const { response, body } = await attempt(route, input, headers, signal);
        if (response.ok && holdsOutput<Name>(body)) return successOf(response, body.data);
        const { error } = body;
        if (!isRefusal<Name>(error)) throw new TypeError("What answered is not the service.");
        failure = { ok: false, status: response.status, error };
        if (!error.retryable) return failure;
        waitMs = Math.max(1, Number(response.headers.get("Retry-After") ?? 0)) * 1000;
      } catch (cause) {
        signal?.throwIfAborted();
        // Nothing came back. A read changes nothing and a write has its key: both may be sent again.
        failure = {
          ok: false,
          status: null,
          error: { code: "UNREACHABLE", message: "The service did not answer.", cause },
        };
      }
      if (retries >= retriesMax || waitMs > waitMsMax) return failure;
      await pause(waitMs, signal);
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

/** A value as path and query have it: lists are separated by commas. */
const spelled = (value: unknown): string =>
  Array.isArray(value) ? value.map(spelled).join(",") : typeof value === "string" ? value : JSON.stringify(value);

/** An input as path, query and body. */
function requestOf(route: Route, input: object): { readonly target: string; readonly body: string | null } {
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
  const sendsBody = route.method === "POST" || route.method === "PATCH";
  return { target: path + search, body: sendsBody ? JSON.stringify(Object.fromEntries(rest)) : null };
}

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

// What came in, told apart.

type Members = Readonly<Record<string, unknown>>;

const membersOf = (value: unknown): Members =>
  typeof value === "object" && value !== null ? Object.fromEntries(Object.entries(value)) : {};

/** What the document says of an answer is what the service's tests hold it to; it is not checked again here. */
const holdsOutput = <Name extends OperationName>(body: Members): body is Members & { readonly data: Output<Name> } =>
  "data" in body;
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
