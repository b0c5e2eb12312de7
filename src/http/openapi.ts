/**
 * The registry as an OpenAPI 3.1 document (spec "Machine-readable contract"; C9). Pure: the same registry gives the same document.
 *
 * Every operation's entry comes from its own value: parameters, body and answer from its schemas, refusals from its faults.
 * Schemas with an `id` in their metadata become components.
 */
import { z } from "zod";
import { type FaultCode, faultCodes, type FaultReason, faultReasons } from "../core/fault.ts";
import { idempotencyKeyLengthMax } from "../core/idempotency.ts";
import { isJsonArray, isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import { apiVersion } from "../operations/envelope.ts";
import type { Operation } from "../operations/operation.ts";
import { apiPrefix, type Binding, bindingOf } from "./routes.ts";

/** What any operation may answer; writes and paths with an id have a few more. */
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
    ...(operation.route.path.includes("{") ? (["NOT_FOUND"] as const) : []),
    ...operation.faults,
  ]);
}

export function openApiDocument(operations: readonly Operation[]): JsonObject {
  const schemas: Record<string, Json> = { Meta: metaSchema, Error: errorSchema };
  const paths: Record<string, Record<string, Json>> = {};
  for (const operation of operations) {
    const path = `${apiPrefix}${operation.route.path}`;
    paths[path] = { ...paths[path], [operation.route.method.toLowerCase()]: entryOf(bindingOf(operation), schemas) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "OpenPO",
      version: apiVersion,
      description:
        "One shop's purchasing data as JSON over HTTP. The API key names the shop. Every success is { data, meta }, every failure { error }; writes take an Idempotency-Key.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/" }],
    security: [{ apiKey: [] }],
    tags: [...new Set(operations.map((operation) => operation.tag))].map((name) => ({ name })),
    paths: {
      ...paths,
      [`${apiPrefix}/openapi.json`]: {
        get: {
          operationId: "openapi",
          summary: "This document.",
          security: [],
          responses: {
            "200": {
              description: "OpenAPI 3.1, without an envelope.",
              content: json({ type: "object" }),
              headers: requestIdHeader,
            },
          },
        },
      },
    },
    components: {
      schemas,
      headers: headerComponents,
      securitySchemes: {
        apiKey: { type: "http", scheme: "bearer", description: "An API key of the shop: `opo_<shopId>_<secret>`." },
      },
    },
  };
}

function entryOf(binding: Binding, schemas: Record<string, Json>): Json {
  const { operation } = binding;
  const write = operation.scope === "write";
  const input = schemaOf(operation.input, "input", schemas);
  const properties = objectAt(input, "properties");
  const required = new Set(stringsAt(input, "required"));
  const example = exampleOf(operation);
  const parameters = [...binding.path, ...binding.query.keys()].map((name) => {
    const { description, ...schema } = objectAt(properties, name);
    const inPath = binding.path.includes(name);
    const kind = binding.query.get(name);
    return {
      name,
      in: inPath ? "path" : "query",
      required: inPath || required.has(name),
      ...(description === undefined ? {} : { description }),
      schema,
      ...(example[name] === undefined ? {} : { example: example[name] }),
      ...(kind === "list" ? { style: "form", explode: false } : {}),
      ...(kind === "repeatable-list" ? { style: "form", explode: true } : {}),
    };
  });
  const bodyExample = pick(example, binding.body);
  const body = {
    required: binding.body.some((name) => required.has(name)),
    content: json(
      {
        type: "object",
        properties: pick(properties, binding.body),
        required: binding.body.filter((name) => required.has(name)),
        additionalProperties: false,
      },
      Object.keys(example).length === 0 ? undefined : bodyExample,
    ),
  };
  return {
    operationId: operation.name,
    tags: [operation.tag],
    summary: operation.summary,
    description: `${operation.description}\n\nScope: ${operation.scope}.`,
    parameters: [...parameters, ...(write ? writeParameters : readParameters)],
    ...(operation.route.method === "POST" || operation.route.method === "PATCH" ? { requestBody: body } : {}),
    responses: responsesOf(operation, schemas),
  };
}

function responsesOf(operation: Operation, schemas: Record<string, Json>): JsonObject {
  const data = schemaOf(operation.output, "output", schemas);
  const headers = {
    ...requestIdHeader,
    ...rateLimitHeaders,
    ETag: headerReference("ETag"),
    ...(operation.scope === "write" ? { "Idempotent-Replayed": headerReference("IdempotentReplayed") } : {}),
    // Only what gets an address of its own is located, not what is added to something that has one.
    ...(operation.success === 201 && !operation.route.path.includes("{")
      ? { Location: headerReference("Location") }
      : {}),
  };
  const responses: Record<string, Json> = {
    [operation.success]: {
      description: operation.success === 201 ? "Created." : "Done.",
      headers,
      content: json({
        type: "object",
        properties: { data, meta: reference("Meta") },
        required: ["data", "meta"],
        additionalProperties: false,
      }),
    },
  };
  if (operation.scope === "read")
    responses["304"] = { description: "The version that If-None-Match names is the current one.", headers };
  const byStatus = Map.groupBy(faultsOf(operation), statusOf);
  for (const [status, faults] of [...byStatus].sort(([a], [b]) => a - b))
    responses[status] = failureOf(operation, status, faults);
  return responses;
}

/** A failure with just the codes and reasons that this operation has for the status. */
function failureOf(operation: Operation, status: number, faults: readonly (FaultCode | FaultReason)[]): Json {
  const reasons = faults.filter(isReason);
  const codes = new Set(faults.map((fault) => (isReason(fault) ? "INVALID_INPUT" : fault)));
  const retryable = status === 400 || status >= 429;
  const code: Json = { enum: [...codes] };
  const narrowed: JsonObject = reasons.length === 0 ? { code, reason: false } : { code, reason: { enum: reasons } };
  return {
    description: faults.map((fault) => `\`${fault}\``).join(", "),
    headers: {
      ...requestIdHeader,
      ...(status === 401 ? { "WWW-Authenticate": headerReference("WWWAuthenticate") } : rateLimitHeaders),
      ...(retryable ? { "Retry-After": headerReference("RetryAfter") } : {}),
      ...(operation.scope === "write" && status < 500
        ? { "Idempotent-Replayed": headerReference("IdempotentReplayed") }
        : {}),
    },
    content: json({
      allOf: [reference("Error"), { properties: { error: { properties: narrowed } } }],
    }),
  };
}

const isReason = (fault: FaultCode | FaultReason): fault is FaultReason => fault in faultReasons;

const statusOf = (fault: FaultCode | FaultReason): number =>
  isReason(fault) ? faultReasons[fault].status : faultCodes[fault].status;

/** The JSON Schema of a zod schema; parts with an `id` go to the components. */
function schemaOf(schema: z.ZodType, io: "input" | "output", schemas: Record<string, Json>): JsonObject {
  const generated = z.toJSONSchema(schema, {
    io,
    unrepresentable: "any",
    override: ({ jsonSchema }) => tidy(jsonSchema),
  });
  const plain: JsonObject = JSON.parse(JSON.stringify(generated).replaceAll('"#/$defs/', '"#/components/schemas/'));
  const { $schema: _, $defs = {}, ...rest } = plain;
  for (const [name, part] of Object.entries($defs ?? {})) {
    if (name.startsWith("__")) throw new Error("a schema that holds itself needs an id");
    const before = schemas[name];
    if (before !== undefined && JSON.stringify(before) !== JSON.stringify(part))
      throw new Error(`two different schemas are named ${name}`);
    schemas[name] = part;
  }
  return rest;
}

/** Leaves out what says nothing to a reader: our own metadata, patterns beside a format, the bounds of a safe integer. */
function tidy(schema: z.core.JSONSchema.BaseSchema): void {
  delete schema["query"];
  delete schema.id;
  if (schema.format === "date" || schema.format === "date-time") delete schema.pattern;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema["example"] === undefined) return;
  schema.examples = [schema["example"]];
  delete schema["example"];
}

/** The example that an operation's input carries: path, query and body members merged. */
export function exampleOf(operation: Operation): JsonObject {
  const example = exampleSchema.safeParse(z.globalRegistry.get(operation.input));
  return example.success ? example.data.example : {};
}

const exampleSchema = z.object({ example: z.record(z.string(), z.json()) });

const objectAt = (object: JsonObject, member: string): JsonObject => {
  const value = object[member];
  return value !== undefined && isJsonObject(value) ? value : {};
};

const stringsAt = (object: JsonObject, member: string): readonly string[] => {
  const value = object[member];
  return value !== undefined && isJsonArray(value) ? value.filter((item) => typeof item === "string") : [];
};

const pick = (object: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(names.flatMap((name) => (object[name] === undefined ? [] : [[name, object[name]]])));

const json = (schema: Json, example?: Json): JsonObject => ({
  "application/json": { schema, ...(example === undefined ? {} : { example }) },
});

const reference = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` });
const headerReference = (name: string): JsonObject => ({ $ref: `#/components/headers/${name}` });

const metaSchema: Json = {
  type: "object",
  properties: {
    requestId: { type: "string", description: "Also in X-Request-Id." },
    apiVersion: { type: "string", examples: [apiVersion] },
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
const string: Json = { type: "string" };

const errorSchema: Json = {
  type: "object",
  properties: {
    error: {
      type: "object",
      properties: {
        code: { enum: Object.keys(faultCodes) },
        message: { type: "string", description: "The cause." },
        retryable: { type: "boolean" },
        requestId: string,
        retryAfterMs: { type: "integer", minimum: 1, description: "Only when retryable." },
        action: { type: "string", description: "A short next step." },
        reason: { enum: Object.keys(faultReasons), description: "For what has no code of its own." },
        details: {
          type: "array",
          description: "What is wrong one by one: fields (a JSON pointer each), variants or lines.",
          items: {
            anyOf: [
              detail({
                path: { type: "string", description: "JSON pointer; query parameters as /name." },
                message: string,
              }),
              detail({
                itemId: string,
                variantId: string,
                issue: { enum: ["inactive", "deleted", "unsyncable"] },
                allowedActions: { type: "array", items: { enum: ["activate", "skip"] } },
              }),
              detail({ lineItemId: string, variantId: string, message: string }),
            ],
          },
        },
      },
      required: ["code", "message", "retryable", "requestId"],
      additionalProperties: false,
    },
  },
  required: ["error"],
  additionalProperties: false,
};

const header = (description: string, schema: Json = string): Json => ({ description, schema });

const headerComponents: JsonObject = {
  XRequestId: header("Names this request in the logs; a replay repeats the first one's."),
  RateLimitPolicy: header('The shop\'s bucket: `"shop";q=<capacity>;w=<seconds to fill it>`.'),
  RateLimit: header('What is left in it: `"shop";r=<tokens>;t=<seconds until it is full>`.'),
  RetryAfter: header("Seconds to wait; sent exactly when the failure is retryable.", { type: "integer", minimum: 1 }),
  IdempotentReplayed: header("Sent when this is the stored answer of an earlier request.", { const: "true" }),
  ETag: header("The order's version, on answers about a single order."),
  Location: header("Path of what was created."),
  WWWAuthenticate: header("How to authenticate.", { const: "Bearer" }),
};

const requestIdHeader: JsonObject = { "X-Request-Id": headerReference("XRequestId") };
const rateLimitHeaders: JsonObject = {
  RateLimit: headerReference("RateLimit"),
  "RateLimit-Policy": headerReference("RateLimitPolicy"),
};

const headerParameter = (name: string, description: string, schema: Json = string): Json => ({
  name,
  in: "header",
  required: false,
  description,
  schema,
});

const writeParameters: readonly Json[] = [
  headerParameter(
    "Idempotency-Key",
    "A unique string; the same request under the same key is done once and answered alike for 24 hours.",
    { type: "string", minLength: 1, maxLength: idempotencyKeyLengthMax },
  ),
  headerParameter("If-Match", "The ETag that the order must still have; else 412."),
];

const readParameters: readonly Json[] = [
  headerParameter("If-None-Match", "An ETag; when it is the current one the answer is 304."),
];
