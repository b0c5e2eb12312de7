/**
 * Refusals and failures that a caller is told about.
 *
 * Owns: the table code → HTTP status and retryability (spec "Errors"), their reasons (C3, C4), and the
 * one error class that carries them. Does not own: the error body (requests/envelope.ts) or the audit row.
 *
 * Everything thrown that is not a `Fault` is a bug and becomes INTERNAL.
 */

/** Retry rule of an error code: never, always (with a wait), or exactly when a wait is known (C5). */
type Retry = "never" | "always" | "when-known";

/** Code → HTTP status and retryability. */
export const faultCodes = {
  UNAUTHORIZED: { status: 401, retry: "never" },
  PLAN_REQUIRED: { status: 403, retry: "never" },
  FORBIDDEN_SCOPE: { status: 403, retry: "never" },
  INVALID_INPUT: { status: 400, retry: "when-known" },
  NOT_FOUND: { status: 404, retry: "never" },
  METHOD_NOT_ALLOWED: { status: 405, retry: "never" },
  RATE_LIMITED: { status: 429, retry: "always" },
  DO_OVERLOADED: { status: 503, retry: "always" },
  DO_UNAVAILABLE: { status: 503, retry: "always" },
  UPSTREAM_STOREFRONT: { status: 502, retry: "when-known" },
  TIMEOUT: { status: 504, retry: "when-known" },
  OUTPUT_TOO_LARGE: { status: 413, retry: "never" },
  INTERNAL: { status: 500, retry: "never" },
  NOTHING_TO_RECEIVE: { status: 409, retry: "never" },
  ON_HAND_SYNC_IN_FLIGHT: { status: 400, retry: "always" },
  INVENTORY_GUARD_ISSUES: { status: 400, retry: "never" },
} as const satisfies Record<string, { status: number; retry: Retry }>;

/** A code of the specification. */
export type FaultCode = keyof typeof faultCodes;

/** A reason of a code, which is INVALID_INPUT unless it says so. */
interface Reason {
  readonly status: number;
  readonly retryAfterMs: number | null;
  readonly code?: FaultCode;
}

/** Reasons that a program can tell apart, and the HTTP status of each (C4, C37, C78). */
export const faultReasons = {
  PREVIOUS_STATUS_MISMATCH: { status: 409, retryAfterMs: null },
  UNCONFIRMED_LINES: { status: 409, retryAfterMs: null },
  USE_CONFIRM_ENDPOINT: { status: 409, retryAfterMs: null },
  IDEMPOTENCY_KEY_REUSED: { status: 400, retryAfterMs: null },
  IDEMPOTENCY_IN_PROGRESS: { status: 400, retryAfterMs: 1000 },
  VERSION_MISMATCH: { status: 412, retryAfterMs: null },
  ORDER_EDITED: { status: 400, retryAfterMs: 1000 },
  LIMIT_EXCEEDED: { status: 403, retryAfterMs: null, code: "FORBIDDEN_SCOPE" },
} as const satisfies Record<string, Reason>;

/** A reason that the API gives. */
export type FaultReason = keyof typeof faultReasons;

/** The code that comes with a reason. */
export function codeOfReason(reason: FaultReason): FaultCode {
  const { code = "INVALID_INPUT" }: Reason = faultReasons[reason];
  return code;
}

/** Reasons that the admin API alone gives (C48, C82). */
const adminReasons = {
  LAST_OWNER: { status: 400, retryAfterMs: null },
  ID_TAKEN: { status: 400, retryAfterMs: null },
  IN_USE: { status: 400, retryAfterMs: null },
  STOREFRONT_OWNED: { status: 400, retryAfterMs: null },
} as const satisfies Record<string, Reason>;

const reasons = { ...faultReasons, ...adminReasons };

/** One mistake in a request: where (a JSON pointer; a query parameter as `/name`) and what is wrong. */
export interface ValidationDetail {
  readonly path: string;
  readonly message: string;
}

/** One line that the inventory guard stopped at, and what the caller may do about it (C3, C44). */
export interface GuardDetail {
  readonly itemId: string;
  readonly variantId: string;
  readonly issue: "inactive" | "deleted" | "unsyncable";
  readonly allowedActions: readonly ("activate" | "skip")[];
}

/** One line that a refusal is about (`UNCONFIRMED_LINES`). */
export interface LineDetail {
  readonly lineItemId: string;
  readonly variantId: string;
  readonly message: string;
}

/** A limit of an API key that a write is beyond (C78). */
export interface LimitDetail {
  readonly limit:
    | "orderValueMax"
    | "dayValueMax"
    | "monthValueMax"
    | "unitCostRisePercentMax"
    | "supplierIds"
    | "locationIds";
  readonly allowed: number | readonly string[];
  /** Null: it is no maximum. */
  readonly used: number | null;
  /**
   * The rise, the order's whole value of `orderValueMax`, the percent or the id. Null: it has no price or no known
   * cost, or there is no id.
   */
  readonly asked: number | string | null;
}

type FaultDetails =
  | readonly ValidationDetail[]
  | readonly GuardDetail[]
  | readonly LineDetail[]
  | readonly LimitDetail[];

interface FaultOptions {
  readonly reason?: keyof typeof reasons;
  /** A short next step for the caller. */
  readonly action?: string;
  readonly details?: FaultDetails;
  readonly retryAfterMs?: number;
  /** Methods that the path supports; sent in the header `Allow`. */
  readonly allow?: readonly string[];
  readonly cause?: unknown;
}

/**
 * A refusal or failure that a caller is told about: `throw new Fault(code, what is wrong, { action: what to do next
 * })`. `retryable` is true exactly when `retryAfterMs` is given.
 */
export class Fault extends Error {
  override readonly name = "Fault";
  readonly code: FaultCode;
  readonly status: number;
  readonly reason: keyof typeof reasons | null;
  readonly action: string | null;
  readonly details: FaultDetails | null;
  readonly retryAfterMs: number | null;
  readonly allow: readonly string[] | null;

  constructor(code: FaultCode, message: string, options: FaultOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    const reason = options.reason === undefined ? null : reasons[options.reason];
    const retry: Retry = faultCodes[code].retry;
    this.code = code;
    this.status = reason?.status ?? faultCodes[code].status;
    this.reason = options.reason ?? null;
    this.action = options.action ?? null;
    this.details = options.details ?? null;
    this.retryAfterMs = options.retryAfterMs ?? reason?.retryAfterMs ?? null;
    this.allow = options.allow ?? null;
    if (retry === "always" && this.retryAfterMs === null) throw new TypeError(`${code} needs retryAfterMs`);
    if (retry === "never" && this.retryAfterMs !== null) throw new TypeError(`${code} is never retryable`);
  }

  get retryable(): boolean {
    return this.retryAfterMs !== null;
  }
}

/** Makes an INVALID_INPUT about one field. `path` is a JSON pointer into the request (`/lines/0/quantityReceived`). */
export function invalidField(path: string, message: string, action?: string): Fault {
  return new Fault("INVALID_INPUT", `${path}: ${message}`, {
    details: [{ path, message }],
    ...(action === undefined ? {} : { action }),
  });
}
