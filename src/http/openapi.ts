/**
 * The registry as an OpenAPI 3.1 document (spec "Machine-readable contract"; C9). Pure: the same registry gives the same document.
 *
 * Every operation's entry comes from its own value: parameters, body and answer from its schemas, refusals from its faults.
 * Schemas with an `id` in their metadata become components.
 */
import { z } from "zod";
import type { FaultCode, FaultReason } from "../core/fault.ts";
import { idempotencyKeyLengthMax } from "../core/idempotency.ts";
import { isJsonArray, isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import { apiVersion } from "../operations/envelope.ts";
import type { Operation } from "../operations/operation.ts";
import {
  envelopeSchemas,
  everywhere,
  failureExamples,
  failureOf,
  headerBytesMax,
  headerComponents,
  headers,
  itemsMax,
  json,
  malformedExample,
  rateLimited,
  schemaReference,
  statusOf,
  textLengthMax,
} from "./openapi-components.ts";
import { sampleOf } from "./openapi-examples.ts";
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

/** An RFC 3339 instant with an offset and nanoseconds. */
const dateTimeLengthMax = 40;

const tagDescriptions: Readonly<Record<string, string>> = {
  "Purchase orders":
    "What is ordered from suppliers: read, written, moved from Draft to Completed, received and pushed to the storefront.",
  "Stock takes": "Counts of what is there. Read only.",
  "Stock adjustments": "Signed corrections of stock. Read only.",
  "Transfer orders": "Stock on its way between the shop's own locations. Read only.",
  "Manufacturing orders": "What is built, and of which materials. Read only.",
  "Forecast views": "Saved views of what will be needed, computed when they are read. Read only.",
  Description: "This description of the API.",
};

/** What several entries refer to, collected while they are made. */
interface Components {
  readonly schemas: Record<string, Json>;
  readonly responses: Record<string, Json>;
  readonly links: Record<string, Json>;
}

/**
 * The whole document.
 *
 * @throws Error when the registry contradicts itself: two schemas or two failures under one name.
 */
export function openApiDocument(operations: readonly Operation[]): JsonObject {
  const components: Components = { schemas: { ...envelopeSchemas }, responses: {}, links: {} };
  const paths: Record<string, Record<string, Json>> = {};
  for (const operation of operations) {
    const path = `${apiPrefix}${operation.route.path}`;
    paths[path] = {
      ...paths[path],
      [operation.route.method.toLowerCase()]: entryOf(bindingOf(operation), operations, components),
    };
  }
  const tags = [...new Set(operations.map((operation) => operation.tag)), "Description"];
  return {
    openapi: "3.1.0",
    info: {
      title: "OpenPO",
      version: apiVersion,
      description: [
        "One shop's purchasing data as JSON over HTTP. The API key names the shop.",
        "Every success is `{ data, meta }`, every failure `{ error }`; writes take an `Idempotency-Key`.",
        "Lists go on with `cursor`. HEAD is served as GET, OPTIONS answers 204; any other method that a path does not have is 405 with `Allow`.",
        "What cannot be read as an HTTP request at all is answered 400, 408 or 431 with the same error body.",
      ].join("\n\n"),
      contact: { name: "OpenPO" },
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/", description: "The production server that serves this document.", "x-internal": false }],
    security: [{ apiKey: [] }],
    tags: tags.map((name) => {
      const description = tagDescriptions[name];
      return { name, ...(description === undefined ? {} : { description }) };
    }),
    paths: { ...paths, [`${apiPrefix}/openapi.json`]: { get: documentEntry } },
    components: {
      ...components,
      headers: headerComponents,
      examples: failureExamples,
      securitySchemes: {
        apiKey: { type: "http", scheme: "bearer", description: "An API key of the shop: `opo_<shopId>_<secret>`." },
      },
    },
  };
}

const string: Json = { type: "string", maxLength: textLengthMax };

/** The entry of the document itself: public, without an envelope, without a token (C9). */
const documentEntry: Json = {
  operationId: "openapi",
  tags: ["Description"],
  summary: "This document.",
  description: "OpenAPI 3.1. Public: no key, no shop data, no rate limit; the same bytes for everyone.",
  security: [],
  parameters: [
    {
      name: "If-None-Match",
      in: "header",
      required: false,
      description: "An ETag of this document; when it is the current one the answer is 304.",
      schema: { type: "string", maxLength: headerBytesMax },
    },
  ],
  responses: {
    "200": {
      description: "The document, without an envelope.",
      headers: {
        ...headers(...everywhere),
        ETag: { description: "Strong; differs between what is compressed and what is not.", schema: string },
      },
      content: json(
        { type: "object" },
        { example: { openapi: "3.1.0", info: { title: "OpenPO", version: apiVersion } } },
      ),
    },
    "304": {
      description: "The document that If-None-Match names is the current one.",
      headers: { ...headers(...everywhere), ETag: { description: "The document's.", schema: string } },
    },
    "400": {
      description: "The request cannot be read as HTTP.",
      headers: headers(...everywhere),
      content: json(schemaReference("Error"), { example: malformedExample }),
    },
    "500": {
      description: "`INTERNAL`",
      headers: headers(...everywhere),
      content: json(schemaReference("Error"), { examples: { INTERNAL: { $ref: "#/components/examples/INTERNAL" } } }),
    },
  },
};

function entryOf(binding: Binding, operations: readonly Operation[], components: Components): Json {
  const { operation } = binding;
  const input = schemaOf(operation.input, "input", components.schemas);
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
  const rules = bodyRulesOf(operation);
  const body = {
    // An omitted body is `{}`: it is required where that is refused.
    required: rules !== null || binding.body.some((name) => required.has(name)),
    content: json(
      {
        type: "object",
        properties: pick(properties, binding.body),
        required: binding.body.filter((name) => required.has(name)),
        ...rules,
        additionalProperties: false,
      },
      { example: pick(example, binding.body) },
    ),
  };
  return {
    operationId: operation.name,
    tags: [operation.tag],
    summary: operation.title,
    description: `${operation.summary} ${operation.description}\n\nScope: ${operation.scope}.`,
    parameters: [...parameters, ...headerParametersOf(operation)],
    ...(operation.route.method === "POST" || operation.route.method === "PATCH" ? { requestBody: body } : {}),
    responses: responsesOf(operation, operations, components),
  };
}

/** Whether successes carry the order's version as an ETag (C37): those that show an order, and those that say so. */
function isVersioned(operation: Operation): boolean {
  return operation.versioned === true || membersOf(operation.output).includes("purchaseOrder");
}

function responsesOf(operation: Operation, operations: readonly Operation[], components: Components): JsonObject {
  const data = schemaOf(operation.output, "output", components.schemas);
  const versioned = isVersioned(operation);
  const write = operation.scope === "write";
  const successHeaders = headers(
    ...everywhere,
    ...rateLimited,
    ...(versioned ? ["ETag"] : []),
    ...(write ? ["Idempotent-Replayed"] : []),
    // Only what gets an address of its own is located, not what is added to something that has one.
    ...(isCreation(operation) ? ["Location"] : []),
  );
  const links = linksOf(operation, operations, components);
  const responses: Record<string, Json> = {
    [operation.success]: {
      description: operation.success === 201 ? "Created." : "Done.",
      headers: successHeaders,
      content: json(
        {
          type: "object",
          properties: { data, meta: schemaReference("Meta") },
          required: ["data", "meta"],
          additionalProperties: false,
        },
        {
          example: {
            data: sampleOf(data, components.schemas),
            meta: sampleOf(schemaReference("Meta"), components.schemas),
          },
        },
      ),
      ...(Object.keys(links).length === 0 ? {} : { links }),
    },
  };
  if (!write && versioned) {
    components.responses["NotModified"] = {
      description: "The version that If-None-Match names is the current one.",
      headers: successHeaders,
    };
    responses["304"] = { $ref: "#/components/responses/NotModified" };
  }
  const byStatus = Map.groupBy(faultsOf(operation), statusOf);
  for (const [status, faults] of [...byStatus].sort(([a], [b]) => a - b)) {
    const { name, response } = failureOf(status, faults, write && storedStatuses.has(status));
    const before = components.responses[name];
    if (before !== undefined && JSON.stringify(before) !== JSON.stringify(response))
      throw new Error(`two different failures are named ${name}`);
    components.responses[name] = response;
    responses[status] = { $ref: `#/components/responses/${name}` };
  }
  return responses;
}

/** Failures that the idempotency layer keeps: 4xx that come from behind it and may not be retried (C19). */
const storedStatuses: ReadonlySet<number> = new Set([400, 404, 409, 412, 413]);

const isCreation = (operation: Operation): boolean => operation.success === 201 && !operation.route.path.includes("{");

/**
 * Where to go from an answer: from a list to its next page and its first row, from what was created or read to everything below
 * it, from a change to what was changed.
 */
function linksOf(operation: Operation, operations: readonly Operation[], { links }: Components): JsonObject {
  const { path } = operation.route;
  const found: Record<string, Json> = {};
  const members = membersOf(operation.output);
  const link = (kind: string, target: Operation, parameters: JsonObject): void => {
    links[`${kind}_${target.name}`] = { operationId: target.name, parameters };
    found[target.name] = { $ref: `#/components/links/${kind}_${target.name}` };
  };
  if (members.includes("cursor")) {
    const parameter = idParameterOf(path);
    link("next_page_of", operation, {
      ...(parameter === null ? {} : { [parameter]: `$request.path.${parameter}` }),
      cursor: "$response.body#/data/cursor",
    });
    const first = operations.find(
      (each) => each.route.method === "GET" && new RegExp(`^${path}/\\{\\w+\\}$`).test(each.route.path),
    );
    const id = first === undefined ? null : idParameterOf(first.route.path);
    const [collection = ""] = members;
    if (first !== undefined && id !== null)
      link("first_row", first, { [id]: `$response.body#/data/${collection}/0/${id}` });
    return found;
  }
  const base = isCreation(operation) ? new RegExp(`^${path}/\\{\\w+\\}`) : null;
  for (const target of operations) {
    const id = idParameterOf(target.route.path);
    if (id === null || target === operation) continue;
    const [collection = ""] = target.route.path.split("/{");
    const resource = `${collection}/{${id}}`;
    if (base?.test(target.route.path) === true) {
      const [shown = ""] = members;
      link("created", target, { [id]: `$response.body#/data/${shown}/${id}` });
    } else if (path === resource && operation.route.method === "GET" && target.route.path.startsWith(`${resource}/`))
      link("of_this", target, { [id]: `$request.path.${id}` });
    else if (
      operation.scope === "write" &&
      operation.route.method !== "DELETE" &&
      path.startsWith(resource) &&
      target.route.path === resource &&
      target.route.method === "GET"
    )
      link("of_this", target, { [id]: `$request.path.${id}` });
  }
  return found;
}

const idParameterOf = (path: string): string | null => /\{(\w+)\}/.exec(path)?.[1] ?? null;

/** The members of an answer's `data`. */
const membersOf = (output: z.ZodType): readonly string[] =>
  output instanceof z.ZodObject ? Object.keys(output.shape) : [];

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

/** Leaves out our own metadata and what says the same twice, and gives every text, list and integer its bounds. */
function tidy(schema: z.core.JSONSchema.BaseSchema): void {
  delete schema["query"];
  delete schema["body"];
  delete schema.id;
  if (schema.format === "date" || schema.format === "date-time") delete schema.pattern;
  if (schema.type === "string" && schema.enum === undefined && schema.const === undefined)
    schema.maxLength ??=
      schema.format === "date" ? 10 : schema.format === "date-time" ? dateTimeLengthMax : textLengthMax;
  if (schema.type === "array") schema.maxItems ??= itemsMax;
  // Members that are named only to be refused with the way out: the object being closed says the same.
  for (const [name, member] of Object.entries(schema.properties ?? {}))
    if (typeof member === "object" && member.not !== undefined) delete schema.properties?.[name];
  if (schema.type === "integer") {
    schema.minimum ??= Number(schema.exclusiveMinimum ?? Number.MIN_SAFE_INTEGER);
    schema.maximum ??= Number.MAX_SAFE_INTEGER;
    schema.format = schema.minimum >= -(2 ** 31) && schema.maximum < 2 ** 31 ? "int32" : "int64";
  }
  if (schema["example"] === undefined) return;
  schema.examples = [schema["example"]];
  delete schema["example"];
}

/** The example that an operation's input carries: path, query and body members merged. */
export function exampleOf(operation: Operation): JsonObject {
  const example = exampleSchema.safeParse(z.globalRegistry.get(operation.input));
  return example.success ? example.data.example : {};
}

/** What holds for the whole body, and refuses an empty one; null: nothing beside its members. */
function bodyRulesOf(operation: Operation): JsonObject | null {
  const rules = bodyRulesSchema.safeParse(z.globalRegistry.get(operation.input));
  return rules.success ? rules.data.body : null;
}

const bodyRulesSchema = z.object({ body: z.record(z.string(), z.json()) });
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

const headerParameter = (name: string, description: string, schema: Json, example: Json): Json => ({
  name,
  in: "header",
  required: false,
  description,
  schema,
  example,
});

const idempotencyKeyParameter = headerParameter(
  "Idempotency-Key",
  "A unique string; the same request under the same key is done once and answered alike for 24 hours.",
  { type: "string", minLength: 1, maxLength: idempotencyKeyLengthMax },
  "7f9b1c64-restock-week-10",
);
/** Of one header there is no other bound than that of all. */
const validator: Json = { type: "string", maxLength: headerBytesMax };
const ifMatchParameter = headerParameter(
  "If-Match",
  "The ETag that the order must still have; else 412.",
  validator,
  '"2"',
);
const ifNoneMatchParameter = headerParameter(
  "If-None-Match",
  "An ETag; when it is the current one the answer is 304.",
  validator,
  '"1"',
);

const headerParametersOf = (operation: Operation): readonly Json[] => [
  ...(operation.scope === "write" ? [idempotencyKeyParameter] : []),
  ...(operation.faults.includes("VERSION_MISMATCH") ? [ifMatchParameter] : []),
  ...(operation.scope === "read" && isVersioned(operation) ? [ifNoneMatchParameter] : []),
];
