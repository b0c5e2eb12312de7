/**
 * The parts of the OpenAPI document that do not come from an operation: headers, the envelope's schemas, and every failure with
 * an example (spec "Errors"; C2–C6, C8).
 */
import { type FaultCode, faultCodes, type FaultReason, faultReasons } from "../core/fault.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { apiVersion } from "../operations/envelope.ts";
import { responseBytesMax } from "../operations/perform.ts";
import { sampleOf } from "./openapi-examples.ts";

/** Neither a body (1 MB) nor an answer (10 MB) can hold a longer text, or more items, than these. */
export const textLengthMax = responseBytesMax;
export const itemsMax = responseBytesMax / 2;
/** Request line and headers together; 500 line ids in a query fit (C31). What is longer is 431. */
export const headerBytesMax = 65_536;

export const isReason = (fault: FaultCode | FaultReason): fault is FaultReason => fault in faultReasons;

export const statusOf = (fault: FaultCode | FaultReason): number =>
  isReason(fault) ? faultReasons[fault].status : faultCodes[fault].status;

/** Whether a failure of this kind is ever retryable: `Retry-After` then comes with it (C5). */
export const mayBeRetried = (fault: FaultCode | FaultReason): boolean =>
  isReason(fault)
    ? faultReasons[fault].retryAfterMs !== null
    : // Plain INVALID_INPUT is never retryable; its reasons may be.
      fault !== "INVALID_INPUT" && faultCodes[fault].retry !== "never";

export const schemaReference = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` });
export const json = (schema: Json, content: JsonObject = {}): JsonObject => ({
  "application/json": { schema, ...content },
});

// Headers.

const string: Json = { type: "string", maxLength: textLengthMax };
const header = (description: string, schema: Json = string, example?: Json): Json => ({
  description,
  schema,
  ...(example === undefined ? {} : { example }),
});

export const headerComponents: JsonObject = {
  "X-Request-Id": header(
    "Names this request in the logs; a replay repeats the first one's.",
    string,
    "req_01k8x4m2q7v9c3n5t6w8y0z1q1",
  ),
  "Access-Control-Allow-Origin": header("Any origin may call; no credentials.", { const: "*" }),
  "RateLimit-Policy": header(
    'The shop\'s bucket: `"shop";q=<capacity>;w=<seconds to fill it>`.',
    string,
    '"shop";q=120;w=12',
  ),
  RateLimit: header(
    'What is left in it: `"shop";r=<tokens>;t=<seconds until it is full>`.',
    string,
    '"shop";r=119;t=1',
  ),
  "Retry-After": header(
    "Seconds to wait; sent exactly when the failure is retryable.",
    { type: "integer", format: "int32", minimum: 1, maximum: 2_147_483_647 },
    1,
  ),
  "Idempotent-Replayed": header("Sent when this is the stored answer of an earlier request.", { const: "true" }),
  ETag: header("The order's version.", string, '"2"'),
  Location: header("Path of what was created.", string, "/api/v1/purchase-orders/po_01k8x4m2q7v9c3n5t6w8y0z1a2"),
  "WWW-Authenticate": header("How to authenticate.", { const: "Bearer" }),
};

/** References to these headers, as a response lists them. */
export const headers = (...names: readonly string[]): JsonObject =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** On every answer below the API's prefix. */
export const everywhere = ["X-Request-Id", "Access-Control-Allow-Origin"] as const;
export const rateLimited = ["RateLimit", "RateLimit-Policy"] as const;

// Schemas.

const metaSchema: Json = {
  type: "object",
  properties: {
    requestId: { ...string, description: "Also in X-Request-Id." },
    apiVersion: { ...string, examples: [apiVersion] },
  },
  required: ["requestId", "apiVersion"],
  additionalProperties: false,
};

const detail = (properties: JsonObject): Json => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

const detailsSchema: Json = {
  type: "array",
  maxItems: itemsMax,
  description: "What is wrong one by one: fields (a JSON pointer each), variants or lines.",
  items: {
    anyOf: [
      detail({
        path: { ...string, description: "JSON pointer; query parameters as /name." },
        message: string,
      }),
      detail({
        itemId: string,
        variantId: string,
        issue: { type: "string", enum: ["inactive", "deleted", "unsyncable"] },
        allowedActions: { type: "array", maxItems: 2, items: { type: "string", enum: ["activate", "skip"] } },
      }),
      detail({ lineItemId: string, variantId: string, message: string }),
    ],
  },
};

/** The error body with just these codes, and these reasons; none: it has no `reason`. */
const errorSchema = (codes: readonly string[], reasons: readonly string[]): Json => ({
  type: "object",
  properties: {
    error: {
      type: "object",
      properties: {
        code: { type: "string", enum: codes },
        message: { ...string, description: "The cause." },
        retryable: { type: "boolean" },
        requestId: string,
        retryAfterMs: {
          type: "integer",
          format: "int64",
          minimum: 1,
          maximum: Number.MAX_SAFE_INTEGER,
          description: "Only when retryable.",
        },
        action: { ...string, description: "A short next step." },
        ...(reasons.length === 0
          ? {}
          : { reason: { type: "string", enum: reasons, description: "For what has no code of its own." } }),
        details: schemaReference("ErrorDetails"),
      },
      required: ["code", "message", "retryable", "requestId"],
      additionalProperties: false,
    },
  },
  required: ["error"],
  additionalProperties: false,
});

export const envelopeSchemas: JsonObject = {
  Meta: metaSchema,
  Error: errorSchema(Object.keys(faultCodes), Object.keys(faultReasons)),
  ErrorDetails: detailsSchema,
};

// Failures.

interface Told {
  readonly message: string;
  readonly action?: string;
  readonly details?: Json;
}

const line = { lineItemId: "pol_01k8x4m2q7v9c3n5t6w8y0z1b3", variantId: "var_1001" };
const told: Readonly<Record<FaultCode | FaultReason, Told>> = {
  UNAUTHORIZED: { message: "The API key is missing, invalid or revoked.", action: "Send Authorization: Bearer <key>." },
  PLAN_REQUIRED: { message: "The shop's plan does not include the REST API.", action: "Change the shop's plan." },
  FORBIDDEN_SCOPE: {
    message: "A key with the read scope may not call purchase_order_create.",
    action: "Use a key with the write scope.",
  },
  INVALID_INPUT: {
    message: "/limit: must be an integer",
    action: "Correct what details names and send the request again.",
    details: [{ path: "/limit", message: "must be an integer" }],
  },
  NOT_FOUND: { message: "There is no purchase order po_01k8x4m2q7v9c3n5t6w8y0z1a2." },
  METHOD_NOT_ALLOWED: { message: "PUT is not supported here.", action: "Use GET or POST." },
  RATE_LIMITED: {
    message: "The shop's rate limit is reached.",
    action: "Wait as long as Retry-After says, then send the same request again.",
  },
  DO_OVERLOADED: { message: "Too many writes of this shop are waiting.", action: "Send the same request again later." },
  DO_UNAVAILABLE: { message: "The shop's data cannot be reached now.", action: "Send the same request again later." },
  UPSTREAM_STOREFRONT: { message: "The storefront did not do what it was asked.", action: "Send the request again." },
  TIMEOUT: { message: "The storefront did not answer in time.", action: "Send the request again." },
  OUTPUT_TOO_LARGE: {
    message: `The answer would have 11000000 bytes, more than the ${responseBytesMax} allowed.`,
    action: "Ask for less: pass limit and go on with cursor, or narrow the filters.",
  },
  INTERNAL: {
    message: "Something went wrong on the server's side.",
    action: "Report this requestId. After a write, read the order before repeating it.",
  },
  NOTHING_TO_RECEIVE: {
    message: "No line has a confirmed quantity that is still outstanding.",
    action: "Confirm quantities first.",
  },
  ON_HAND_SYNC_IN_FLIGHT: {
    message: "A stock sync of this order is still running.",
    action: "Wait as long as Retry-After says, then send the same request again.",
  },
  INVENTORY_GUARD_ISSUES: {
    message: "INVENTORY_GUARD_ISSUES: 1 variant is not active on the storefront.",
    action: "Send the same request again with resolutions.",
    details: [
      { itemId: line.lineItemId, variantId: "var_1001", issue: "inactive", allowedActions: ["activate", "skip"] },
    ],
  },
  PREVIOUS_STATUS_MISMATCH: {
    message: "An order on hold returns to the status it had: Sent.",
    action: "Move it to Sent.",
  },
  UNCONFIRMED_LINES: {
    message: "1 line has no confirmed quantity.",
    action: "Confirm it, or cancel it.",
    details: [{ ...line, message: "nothing is confirmed" }],
  },
  USE_CONFIRM_ENDPOINT: { message: "Quantities are confirmed line by line.", action: "Use /confirm." },
  IDEMPOTENCY_KEY_REUSED: {
    message: "This Idempotency-Key belongs to another request.",
    action: "Use a new key for a new request.",
  },
  IDEMPOTENCY_IN_PROGRESS: {
    message: "The first request under this Idempotency-Key is still running.",
    action: "Send the same request again after Retry-After.",
  },
  VERSION_MISMATCH: {
    message: "The order has changed since the version that If-Match names.",
    action: "Read it again and decide anew.",
  },
};

const waitMs: Partial<Record<FaultCode | FaultReason, number>> = {
  RATE_LIMITED: 800,
  DO_OVERLOADED: 1000,
  DO_UNAVAILABLE: 5000,
  UPSTREAM_STOREFRONT: 2000,
  TIMEOUT: 2000,
  ON_HAND_SYNC_IN_FLIGHT: 1000,
  IDEMPOTENCY_IN_PROGRESS: 1000,
};

const faults = [...Object.keys(faultCodes), ...Object.keys(faultReasons)].filter(
  (name): name is FaultCode | FaultReason => name in told && name !== "METHOD_NOT_ALLOWED",
);

/** One example for each code and reason that an operation may answer with, under its own name. */
export const failureExamples: JsonObject = Object.fromEntries(
  faults.map((fault) => {
    const { message, action, details } = told[fault];
    const retryAfterMs = waitMs[fault];
    const error = {
      code: isReason(fault) ? "INVALID_INPUT" : fault,
      message,
      retryable: retryAfterMs !== undefined,
      requestId: sampleOf({ type: "string" }, {}, "requestId"),
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      ...(action === undefined ? {} : { action }),
      ...(isReason(fault) ? { reason: fault } : {}),
      ...(details === undefined ? {} : { details }),
    };
    return [fault, { summary: fault, value: { error } }];
  }),
);

/** What is answered to bytes that are no HTTP request. */
export const malformedExample: Json = {
  error: {
    code: "INVALID_INPUT",
    message: "This is not a well-formed HTTP request.",
    retryable: false,
    requestId: sampleOf({ type: "string" }, {}, "requestId"),
  },
};

const pascal = (fault: string): string =>
  fault
    .split("_")
    .map((word) => word.charAt(0) + word.slice(1).toLowerCase())
    .join("");

/** A failure that several operations share: its name among the components, and what stands there. */
export interface SharedFailure {
  readonly name: string;
  readonly response: Json;
}

/**
 * The answer for a status with just these codes and reasons.
 *
 * @param replayable whether it may be the stored answer of an earlier request (C19).
 */
export function failureOf(
  status: number,
  faults: readonly (FaultCode | FaultReason)[],
  replayable: boolean,
): SharedFailure {
  const reasons = faults.filter(isReason);
  const plain = faults.filter((fault) => !isReason(fault));
  const codes = new Set(faults.map((fault) => (isReason(fault) ? "INVALID_INPUT" : fault)));
  const named = (plain.length > 0 ? plain : reasons).map(pascal).join("Or");
  return {
    name: `${named}${replayable ? "OfWrite" : ""}`,
    response: {
      description: faults.map((fault) => `\`${fault}\``).join(", "),
      headers: headers(
        ...everywhere,
        ...(status === 401 ? ["WWW-Authenticate"] : rateLimited),
        ...(faults.some(mayBeRetried) ? ["Retry-After"] : []),
        ...(replayable ? ["Idempotent-Replayed"] : []),
      ),
      content: json(errorSchema([...codes], reasons), {
        examples: Object.fromEntries(faults.map((fault) => [fault, { $ref: `#/components/examples/${fault}` }])),
      }),
    },
  };
}
