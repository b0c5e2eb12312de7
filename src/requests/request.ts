/**
 * A request as it goes through `perform`: as a surface hands it in, and once its caller is known.
 */
import type { Fault, ValidationDetail } from "../base/fault.ts";
import type { Json } from "../base/json.ts";
import type { Trace } from "../base/trace-context.ts";
import type { Caller } from "./caller.ts";
import type { Surface } from "../core/order/guidance.ts";
import type { Operation } from "./operation.ts";
import type { RequestTokens } from "./rate-limit.ts";

/** A request in the terms that all surfaces share. */
export interface Incoming {
  readonly surface: Surface;
  readonly requestId: string;
  /** Absent where no request came by HTTP. */
  readonly trace?: Trace | undefined;
  /** The API key, or null when none was sent in a readable form. */
  readonly bearerToken: string | null;
  /** Who asks, if the surface has found that out; the bearer is not looked at then. */
  readonly caller?: Caller;
  /**
   * Where the service was asked, as `https://openpo.example.com`. Absent: nothing that is asked by this surface depends
   * on it.
   */
  readonly baseUrl?: string;
  /** The operation that is asked for, or why there is none (404, 405). */
  readonly target: Operation | Fault;
  readonly method: string;
  /** As sent, without the query. */
  readonly path: string;
  /** Decoded parameters in the order in which they were sent. They are part of what makes two requests the same. */
  readonly query: readonly (readonly [name: string, value: string])[];
  /** One entry per header line. */
  readonly idempotencyKeys: readonly string[];
  /** Strong validators of `If-Match` without quotes, or `*` alone; null when not sent. */
  readonly ifMatch: readonly string[] | null;
  /** `If-None-Match` as sent. */
  readonly ifNoneMatch: string | null;
  /** The token of the request, if its surface has asked for it already. */
  readonly tokens?: RequestTokens;
  /** Told the request's fingerprint (C17), if an answer was stored under its idempotency key when it came. */
  readonly fingerprinted?: (fingerprint: string) => void;
  /** Nothing is to be changed; the answer says what would be (C81). Default false. */
  readonly isDryRun?: boolean;
  /** Reads the body; called at most once. @throws Fault INVALID_INPUT when it is too large or encoded. */
  body(): Promise<Uint8Array>;
  /** Joins path, query and body into what the operation's input schema reads, with the mistakes in their form. */
  assemble(operation: Operation, body: Json): { readonly raw: unknown; readonly found: readonly ValidationDetail[] };
}

/** A request whose caller is known. From here on it leaves an audit row (H1). */
export type IdentifiedRequest = Caller & {
  readonly incoming: Incoming;
  readonly startedAtMs: number;
  readonly auditId: string;
  /** An answer was stored under its idempotency key when it came. */
  readonly wasAnswered: boolean;
  readonly tokens: RequestTokens;
};
