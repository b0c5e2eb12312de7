/**
 * Failures in the OpenAPI document: which ones an operation may answer with, and each as a component with an example
 * (spec "Errors"; C2–C6).
 */
import { codeOfReason, type FaultCode, faultCodes, type FaultReason, faultReasons } from "../../base/fault.ts";
import type { Json, JsonObject } from "../../base/json.ts";
import type { Operation } from "../../requests/operation.ts";
import { responseBytesMax, tooLargeAction } from "../../requests/envelope.ts";
import { everywhere, headers, json, rateLimited, schemaReference } from "./components.ts";
import { exampleLine, sampleOf } from "./examples.ts";
import { pascal } from "./schemas.ts";

/** Codes that every operation may answer with; writes and paths with an id have a few more. */
const commonFaults: readonly FaultCode[] = [
  "UNAUTHORIZED",
  "PLAN_REQUIRED",
  "INVALID_INPUT",
  "RATE_LIMITED",
  "DO_OVERLOADED",
  "DO_UNAVAILABLE",
  "OUTPUT_TOO_LARGE",
  "INTERNAL",
];
const writeFaults: readonly (FaultCode | FaultReason)[] = [
  "FORBIDDEN_SCOPE",
  "IDEMPOTENCY_KEY_REUSED",
  "IDEMPOTENCY_IN_PROGRESS",
];

/** Every code and reason that the operation may answer with. */
export function faultsOf(operation: Operation): ReadonlySet<FaultCode | FaultReason> {
  return new Set([
    ...commonFaults,
    ...(operation.scope === "write" ? writeFaults : []),
    ...(operation.route?.path.includes("{") === true ? (["NOT_FOUND"] as const) : []),
    ...operation.faults,
  ]);
}

const isReason = (fault: FaultCode | FaultReason): fault is FaultReason => fault in faultReasons;

export const statusOf = (fault: FaultCode | FaultReason): number =>
  isReason(fault) ? faultReasons[fault].status : faultCodes[fault].status;

/** True if a failure of this kind is ever retryable: `Retry-After` then comes with it (C5). */
const mayBeRetried = (fault: FaultCode | FaultReason): boolean =>
  isReason(fault)
    ? faultReasons[fault].retryAfterMs !== null
    : // Plain INVALID_INPUT is never retryable; its reasons may be.
      fault !== "INVALID_INPUT" && faultCodes[fault].retry !== "never";

/** Text of a failure's example. */
interface FailureText {
  readonly message: string;
  readonly action?: string;
  readonly details?: Json;
}

const texts: Readonly<Record<FaultCode | FaultReason, FailureText>> = {
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
  NOT_FOUND: { message: "There is no purchase order po_demo_99." },
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
    action: tooLargeAction,
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
    details: [{ itemId: "pol_demo_13_1", variantId: "var_221", issue: "deleted", allowedActions: ["skip"] }],
  },
  PREVIOUS_STATUS_MISMATCH: {
    message: "An order on hold returns to the status it had: Sent.",
    action: "Move it to Sent.",
  },
  UNCONFIRMED_LINES: {
    message: "1 line has no confirmed quantity.",
    action: "Confirm it, or cancel it.",
    details: [{ ...exampleLine, message: "has no confirmed quantity" }],
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
  ORDER_EDITED: {
    message: "The order was edited while its costs were written; it was not completed.",
    action: "Repeat the call; it writes the costs that changed.",
  },
  LIMIT_EXCEEDED: {
    message: "This is beyond the API key's limits. A day's orders: 40 EUR of 500 EUR are left; this asks for 120 EUR.",
    action: "Stay within them, or leave it to an owner of the shop.",
    details: [{ limit: "dayValueMax", allowed: 500, used: 460, asked: 120 }],
  },
};

/** Reasons that every write may answer, so that they tell no failures apart. */
const keyReasons: ReadonlySet<FaultCode | FaultReason> = new Set(["IDEMPOTENCY_KEY_REUSED", "IDEMPOTENCY_IN_PROGRESS"]);

/** Waits of those that have one. */
const retryAfterMs: Partial<Record<FaultCode | FaultReason, number>> = {
  RATE_LIMITED: 800,
  DO_OVERLOADED: 1000,
  DO_UNAVAILABLE: 5000,
  UPSTREAM_STOREFRONT: 2000,
  TIMEOUT: 2000,
  ON_HAND_SYNC_IN_FLIGHT: 1000,
  IDEMPOTENCY_IN_PROGRESS: 1000,
};

const faults = [...Object.keys(faultCodes), ...Object.keys(faultReasons)].filter(
  (name): name is FaultCode | FaultReason => name in texts && name !== "METHOD_NOT_ALLOWED",
);

/** One example for each code and reason that an operation may answer with, under the name of the code or reason. */
export const failureExamples: JsonObject = Object.fromEntries(
  faults.map((fault) => {
    const { message, action, details } = texts[fault];
    const waitMs = retryAfterMs[fault];
    const error = {
      code: isReason(fault) ? codeOfReason(fault) : fault,
      message,
      retryable: waitMs !== undefined,
      requestId: sampleOf({ type: "string" }, {}, "requestId"),
      ...(waitMs === undefined ? {} : { retryAfterMs: waitMs }),
      ...(action === undefined ? {} : { action }),
      ...(isReason(fault) ? { reason: fault } : {}),
      ...(details === undefined ? {} : { details }),
    };
    return [fault, { summary: fault, value: { error } }];
  }),
);

/** The answer to bytes that are no HTTP request. */
export const malformedExample: Json = {
  error: {
    code: "INVALID_INPUT",
    message: "This is not a well-formed HTTP request.",
    retryable: false,
    requestId: sampleOf({ type: "string" }, {}, "requestId"),
  },
};

/** A failure that several operations share: its name among the components, and the component. */
interface SharedFailure {
  readonly name: string;
  readonly response: Json;
}

/**
 * The answer for a status with exactly these codes and reasons.
 *
 * @param replayable  whether it may be the stored answer of an earlier request (C19).
 */
export function failureOf(
  status: number,
  faults: readonly (FaultCode | FaultReason)[],
  replayable: boolean,
): SharedFailure {
  const named = faults.filter((fault) => !keyReasons.has(fault)).map(pascal);
  return {
    name: `${named.join("Or")}${replayable ? "OfWrite" : ""}`,
    response: {
      description: faults.map((fault) => `\`${fault}\``).join(", "),
      headers: headers(
        ...everywhere,
        ...(status === 401 ? ["WWW-Authenticate"] : rateLimited),
        ...(faults.some(mayBeRetried) ? ["Retry-After"] : []),
        ...(replayable ? ["Idempotent-Replayed"] : []),
      ),
      content: json(schemaReference("ErrorAnswer"), {
        examples: Object.fromEntries(faults.map((fault) => [fault, { $ref: `#/components/examples/${fault}` }])),
      }),
    },
  };
}
