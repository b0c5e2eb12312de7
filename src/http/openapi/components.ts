/**
 * The parts of the OpenAPI document that no operation brings: headers and the envelope's schemas (spec "Errors"; C2–C6,
 * C8).
 */
import { faultCodes, faultReasons } from "../../base/fault.ts";
import type { Json, JsonObject } from "../../base/json.ts";
import { statuses } from "../../core/order/purchase-order.ts";
import { apiVersion } from "../../requests/envelope.ts";

export const schemaReference = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` });
export const json = (schema: Json, content: JsonObject = {}): JsonObject => ({
  "application/json": { schema, ...content },
});

// Headers.

const string: Json = { type: "string" };
/** A header that always has this value. Without a type, the clients that oapi-codegen makes fail on every answer. */
const constant = (value: string): Json => ({ type: "string", const: value });
const header = (description: string, schema: Json = string, example?: Json): Json => ({
  description,
  schema,
  ...(example === undefined ? {} : { example }),
});

export const headerComponents: JsonObject = {
  "X-Request-Id": header(
    "Id of this request in the logs; a replay has the id of the first request.",
    string,
    "req_01k8x4m2q7v9c3n5t6w8y0z1q1",
  ),
  "Access-Control-Allow-Origin": header("Any origin may call; no credentials.", constant("*")),
  "RateLimit-Policy": header(
    'The shop\'s bucket: `"shop";q=<capacity>;w=<seconds to fill it>`.',
    string,
    '"shop";q=120;w=12',
  ),
  RateLimit: header(
    'What is left in the bucket: `"shop";r=<tokens>;t=<seconds until it is full>`.',
    string,
    '"shop";r=119;t=1',
  ),
  "Retry-After": header(
    "Seconds to wait; sent exactly when the failure is retryable.",
    { type: "integer", format: "int32", minimum: 1, maximum: 2_147_483_647 },
    1,
  ),
  "Idempotent-Replayed": header("Sent when this is the stored answer of an earlier request.", constant("true")),
  ETag: header("The order's version.", string, '"2"'),
  Location: header("Path of what was created.", string, "/api/v1/purchase-orders/po_01k8x4m2q7v9c3n5t6w8y0z1a2"),
  "WWW-Authenticate": header("How to authenticate.", constant("Bearer")),
};

/** References to these headers, as a response lists them. */
export const headers = (...names: readonly string[]): JsonObject =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** On every answer below the API's prefix. */
export const everywhere = ["X-Request-Id", "Access-Control-Allow-Origin"] as const;
export const rateLimited = ["RateLimit", "RateLimit-Policy"] as const;

// Schemas.

const detail = (properties: JsonObject): Json => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: true,
});

const number: JsonObject = { type: "number", "x-go-type": "float64" };

const arrayOf = (properties: JsonObject): JsonObject => ({
  type: "array",
  items: detail(properties),
});

const placesWritten = arrayOf({ variantId: string, locationId: string, quantity: number });

const metaSchema: Json = {
  type: "object",
  properties: {
    requestId: { ...string, description: "Also in X-Request-Id." },
    apiVersion: { ...string, examples: [apiVersion] },
    dryRun: { type: "boolean", description: "True of a dry run: nothing was changed." },
    storefrontWrites: {
      type: "object",
      description: "Of a dry run: what the write would tell the storefront.",
      properties: {
        activate: { type: "array", items: string, description: "Variants." },
        onHand: placesWritten,
        incoming: placesWritten,
        unitCosts: arrayOf({ variantId: string, unitCost: number }),
        tags: arrayOf({ variantId: string, tag: string, present: { type: "boolean" } }),
      },
      additionalProperties: true,
    },
  },
  required: ["requestId", "apiVersion"],
  additionalProperties: true,
};

const detailSchemas: JsonObject = {
  FieldDetail: detail({
    path: { ...string, description: "JSON pointer; query parameters as /name." },
    message: string,
  }),
  VariantDetail: detail({
    itemId: string,
    variantId: string,
    issue: { type: "string", enum: ["inactive", "deleted", "unsyncable"] },
    allowedActions: { type: "array", items: { type: "string", enum: ["activate", "skip"] } },
  }),
  LineDetail: detail({ lineItemId: string, variantId: string, message: string }),
  LimitDetail: detail({
    limit: {
      type: "string",
      enum: ["orderValueMax", "dayValueMax", "monthValueMax", "unitCostRisePercentMax", "supplierIds", "locationIds"],
    },
    allowed: { description: "The maximum, or the ids." },
    used: { type: ["number", "null"], "x-go-type": "*float64", description: "Of the maximum, before the write." },
    asked: {
      description: "What it adds, the order's value of orderValueMax, or the id; null: it has no price, or no id.",
    },
  }),
};

const detailsSchema: Json = {
  type: "array",
  description: "What is wrong, item by item: fields (each with a JSON pointer), variants, lines or limits.",
  items: { anyOf: Object.keys(detailSchemas).map(schemaReference) },
};

/** Schema of a failure. Which codes and reasons a response may have, its examples say. */
const faultSchema: Json = {
  type: "object",
  properties: {
    code: { type: "string", enum: Object.keys(faultCodes) },
    message: { ...string, description: "What is wrong." },
    retryable: { type: "boolean" },
    requestId: string,
    retryAfterMs: {
      type: "integer",
      format: "int64",
      minimum: 1,
      description: "Only when retryable.",
    },
    action: { ...string, description: "What to do next." },
    reason: {
      type: "string",
      enum: Object.keys(faultReasons),
      description: "A more exact word where failures share a code.",
    },
    details: schemaReference("ErrorDetails"),
  },
  required: ["code", "message", "retryable", "requestId"],
  additionalProperties: true,
};

/** The body of every failure. A schema named `Error` would hide a class of that name in several languages. */
const errorAnswerSchema: Json = {
  type: "object",
  properties: { error: schemaReference("Fault") },
  required: ["error"],
  additionalProperties: true,
};

/** Enumerations that many schemas use. One name for each keeps generated clients from having a type for every use. */
export const enumerations = {
  PurchaseOrderStatus: { type: "string", enum: statuses },
} as const satisfies Readonly<Record<string, Json>>;

export const envelopeSchemas: JsonObject = {
  Meta: metaSchema,
  ErrorAnswer: errorAnswerSchema,
  Fault: faultSchema,
  ErrorDetails: detailsSchema,
  ...detailSchemas,
  ...enumerations,
};
