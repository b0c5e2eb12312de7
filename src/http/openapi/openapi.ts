/**
 * The registry as an OpenAPI 3.1 document (spec "Machine-readable contract"; C9). Pure: the same registry gives the
 * same document.
 *
 * Every operation's entry comes from its own value: parameters, body and answer from its schemas (schemas.ts), refusals
 * from its faults (failures.ts). Schemas with an `id` in their metadata become components.
 */
import { idempotencyKeyLengthMax } from "../../core/access/idempotency.ts";
import { isJsonArray, isJsonObject, type Json, type JsonObject } from "../../base/json.ts";
import { z } from "zod";
import { approvalRequestSchema, causeSchema } from "../../requests/approvals/request-json.ts";
import { apiVersion } from "../../requests/envelope.ts";
import { worded } from "../../requests/wording.ts";
import { dryRunMember, isRestOperation, type Operation, type RestOperation } from "../../requests/operation.ts";
import { headerBytesMax } from "../body.ts";
import {
  envelopeSchemas,
  everywhere,
  headerComponents,
  headers,
  json,
  rateLimited,
  schemaReference,
} from "./components.ts";
import { sampleOf } from "./examples.ts";
import { failureExamples, failureOf, faultsOf, malformedExample, statusOf } from "./failures.ts";
import { guides } from "./guides.ts";
import { isCreation, linksOf } from "./links.ts";
import { bodyRulesOf, exampleOf, membersOf, named, pascal, schemaOf } from "./schemas.ts";
import { apiPrefix, type Binding, bindingOf } from "../routes.ts";

const tagDescriptions: Readonly<Record<string, string>> = {
  "Purchase orders":
    "Orders to suppliers: read and write them, move them from Draft to Completed, receive goods and push stock to the storefront.",
  "Stock takes": "Counts of stock. Read only.",
  "Stock adjustments": "Signed corrections of stock. Read only.",
  "Transfer orders": "Stock that moves between the shop's own locations. Read only.",
  "Manufacturing orders": "What is built, and from which materials. Read only.",
  "Forecast views": "Saved views of expected demand, computed when they are read. Read only.",
  Description: "This description of the API.",
};

/** Components that entries refer to; filled while they are made. */
interface Components {
  readonly schemas: Record<string, Json>;
  readonly responses: Record<string, Json>;
  readonly links: Record<string, Json>;
}

/**
 * The whole document, of the operations that REST has a path for.
 *
 * @throws Error when the registry contradicts itself: two schemas or two failures under one name.
 */
export function openApiDocument(all: readonly Operation[]): JsonObject {
  const operations = all.filter(isRestOperation);
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
      description: guides,
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

const string: Json = { type: "string" };

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
      description: "An ETag of this document; if it is current, the answer is 304.",
      schema: { type: "string", maxLength: headerBytesMax },
    },
  ],
  responses: {
    "200": {
      description: "The document, without an envelope.",
      headers: {
        ...headers(...everywhere),
        ETag: { description: "Strong. The compressed document has another one.", schema: string },
      },
      content: json(
        { type: "object", additionalProperties: true },
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
      content: json(schemaReference("ErrorAnswer"), { example: malformedExample }),
    },
    "500": {
      description: "`INTERNAL`",
      headers: headers(...everywhere),
      content: json(schemaReference("ErrorAnswer"), {
        examples: { INTERNAL: { $ref: "#/components/examples/INTERNAL" } },
      }),
    },
  },
};

function entryOf(binding: Binding, operations: readonly RestOperation[], components: Components): Json {
  const { operation } = binding;
  const input = schemaOf(operation.input, "input", components.schemas);
  const properties = objectAt(input, "properties");
  const required = new Set(stringsAt(input, "required"));
  const example = exampleOf(operation);
  const fromQuery = [...binding.query.keys()].filter((name) => name in properties);
  const parameters = [...binding.path, ...fromQuery].map((name) => {
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
  return {
    operationId: operation.name,
    tags: [operation.tag],
    summary: operation.title,
    description: `${worded(`${operation.summary} ${operation.description}`, "rest")}\n\nScope: ${operation.scope}.`,
    parameters: [...parameters, ...sharedParametersOf(operation)],
    ...(operation.route.method === "POST" || operation.route.method === "PATCH"
      ? { requestBody: bodyOf(binding, input, components) }
      : {}),
    responses: responsesOf(operation, operations, components),
  };
}

/** The body of a request: a named schema, or one of several. */
function bodyOf({ operation, body }: Binding, input: JsonObject, components: Components): Json {
  const properties = objectAt(input, "properties");
  const required = new Set(stringsAt(input, "required"));
  const rules = bodyRulesOf(operation);
  const schemaWith = (names: readonly string[], own: readonly string[]): JsonObject => ({
    type: "object",
    properties: pick(properties, names),
    required: names.filter((name) => required.has(name) || own.includes(name)),
    ...rules?.keywords,
    additionalProperties: false,
  });
  const alternatives = Object.entries(rules?.alternatives ?? {}).map(([name, own], _, all) => {
    const others = all.flatMap(([, members]) => members).filter((member) => !own.includes(member));
    const members = body.filter((member) => !others.includes(member));
    return named(name, schemaWith(members, own), components.schemas);
  });
  const schema = alternatives.length === 0 ? schemaWith(body, []) : { oneOf: alternatives };
  return {
    // An omitted body is read as `{}`, so a body is required exactly when `{}` would be refused.
    required: rules !== null || body.some((name) => required.has(name)),
    content: json(named(`${pascal(operation.name)}Body`, schema, components.schemas), {
      example: pick(exampleOf(operation), body),
    }),
  };
}

/**
 * True if successes carry the order's version as an ETag (C37): those that show an order, and those that declare it.
 */
function isVersioned(operation: Operation): boolean {
  return operation.versioned === true || membersOf(operation.output).includes("purchaseOrder");
}

function responsesOf(
  operation: RestOperation,
  operations: readonly RestOperation[],
  components: Components,
): JsonObject {
  const data = withCauses(operation, schemaOf(operation.output, "output", components.schemas), components.schemas);
  const versioned = isVersioned(operation);
  const write = operation.scope === "write";
  const successHeaders = headers(
    ...everywhere,
    ...rateLimited,
    ...(versioned ? ["ETag"] : []),
    ...(write ? ["Idempotent-Replayed"] : []),
    ...(isCreation(operation) ? ["Location"] : []),
  );
  const links: Record<string, Json> = {};
  for (const { kind, target, parameters } of linksOf(operation, operations)) {
    components.links[`${kind}_${target.name}`] = { operationId: target.name, parameters };
    links[target.name] = { $ref: `#/components/links/${kind}_${target.name}` };
  }
  const responses: Record<string, Json> = {
    [operation.success]: {
      description: operation.success === 201 ? "Created." : "Done.",
      headers: successHeaders,
      content: json(
        named(
          `${pascal(operation.name)}Answer`,
          {
            type: "object",
            properties: { data, meta: schemaReference("Meta") },
            required: ["data", "meta"],
            additionalProperties: true,
          },
          components.schemas,
        ),
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
  // A dry run creates nothing.
  if (operation.takesDryRun === true && operation.success === 201) {
    const { links: _, ...created } = objectAt(responses, "201");
    const shownHeaders = headers(...everywhere, ...rateLimited);
    responses["200"] = { ...created, description: "What a dry run found.", headers: shownHeaders };
  }
  if (write && operation.aboutApprovals !== true) responses["202"] = proposedOf(components.schemas);
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

/** The data, with the causes for which the write would need a decision, as a dry run says them (C81). */
const withCauses = ({ takesDryRun = false }: Operation, data: JsonObject, schemas: Record<string, Json>): JsonObject =>
  takesDryRun
    ? {
        ...data,
        properties: {
          ...objectAt(data, "properties"),
          approvalCauses: schemaOf(z.array(causeSchema), "output", schemas),
        },
      }
    : data;

/** The answer of a write that waits for somebody's decision (C77). */
function proposedOf(schemas: Record<string, Json>): Json {
  // Without additionalProperties, so that a program in TypeScript can tell it from the write's own answer by `in`.
  const { additionalProperties: _, ...data } = schemaOf(
    z.strictObject({ approvalRequest: approvalRequestSchema }),
    "output",
    schemas,
  );
  const answer = {
    type: "object",
    properties: { data, meta: schemaReference("Meta") },
    required: ["data", "meta"],
    additionalProperties: true,
  };
  return {
    description: "Nothing was changed: the write waits for somebody's decision.",
    headers: headers(...everywhere, ...rateLimited, "Idempotent-Replayed"),
    content: json(named("ProposedAnswer", answer, schemas), {
      example: { data: sampleOf(data, schemas), meta: sampleOf(schemaReference("Meta"), schemas) },
    }),
  };
}

/**
 * Statuses of failures that are stored under an idempotency key: 4xx of the operation that may not be retried (C19).
 */
const storedStatuses: ReadonlySet<number> = new Set([400, 404, 409, 412, 413]);

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

const dryRunParameter: Json = {
  name: dryRunMember,
  in: "query",
  required: false,
  description: "Decide everything, change nothing, and answer what the write would (200, `meta.dryRun`).",
  schema: { type: "boolean" },
};

const headerParameter = (name: string, description: string, schema: Json): Json => ({
  name,
  in: "header",
  required: false,
  description,
  schema,
});

const idempotencyKeyParameter = headerParameter(
  "Idempotency-Key",
  "A unique string. For 24 hours, the same request with the same key runs once and gets the same answer.",
  { type: "string", minLength: 1, maxLength: idempotencyKeyLengthMax },
);
/** One header has no bound of its own, only that of all headers together. */
const validator: Json = { type: "string", maxLength: headerBytesMax };
const ifMatchParameter = headerParameter(
  "If-Match",
  "The ETag that the order must still have; otherwise the answer is 412.",
  validator,
);
const ifNoneMatchParameter = headerParameter(
  "If-None-Match",
  "An ETag; if it is current, the answer is 304.",
  validator,
);

const sharedParametersOf = (operation: Operation): readonly Json[] => [
  ...(operation.takesDryRun === true ? [dryRunParameter] : []),
  ...(operation.scope === "write" ? [idempotencyKeyParameter] : []),
  ...(operation.faults.includes("VERSION_MISMATCH") ? [ifMatchParameter] : []),
  ...(operation.scope === "read" && isVersioned(operation) ? [ifNoneMatchParameter] : []),
];
