/** The admin API as an OpenAPI 3.1 document: from it the client gets the types of its operations. */
import { z } from "zod";
import type { Json, JsonObject } from "../base/json.ts";
import { approvalRequestSchema } from "../requests/approvals/request-json.ts";
import { apiVersion } from "../requests/envelope.ts";
import { schemaOf } from "../http/openapi/schemas.ts";
import { eventSchemas, webhookEntries } from "../http/openapi/webhooks.ts";
import { adminPrefix, bindingOf } from "../http/routes.ts";
import type { AdminOperation } from "./operation.ts";

/** The OpenAPI document of these operations. It is pure: the same operations give the same document. */
export function adminDocument(operations: readonly AdminOperation[]): JsonObject {
  const schemas: Record<string, Json> = { ...eventSchemas };
  const paths: Record<string, Record<string, Json>> = {};
  for (const operation of operations) {
    const entry = entryOf(operation, schemas);
    const path = `${adminPrefix}${operation.route.path}`;
    paths[path] = { ...paths[path], [operation.route.method.toLowerCase()]: entry };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "OpenPO admin API",
      version: apiVersion,
      description: "What the operator and, for their own shop, people who are signed in ask beside the API.",
    },
    servers: [{ url: "/" }],
    security: [{ bearer: [] }],
    paths,
    // Not in openapi.json: generators of several languages make code of them that does not compile (C57).
    webhooks: webhookEntries,
    components: {
      schemas,
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer", description: "The admin token, or the bearer of a session (C49)." },
      },
    },
  };
}

/** Parameters that mean the same in every operation. Those of one operation say in their schema what they are. */
const parameterTexts: Readonly<Record<string, string>> = {
  shopId: "The shop's id.",
  keyId: "An API key's id.",
  personId: "A person's id.",
  invitationId: "An invitation's id.",
  sessionId: "A session's id.",
  viewId: "A view's id, chosen by whoever saves it.",
  endpointId: "A webhook endpoint's id.",
  deliveryId: "A delivery's id.",
  supplierId: "A supplier's id.",
  variantId: "A variant's id.",
  locationId: "A location's id.",
  kind: "The kind of record.",
  id: "The record's id.",
  purchaseOrderId: "A purchase order's id.",
  linkId: "A supplier link's id.",
  proposalId: "A proposal's id.",
  mailId: "An e-mail's id.",
  requestId: "A request's id, as its answer has told it.",
  operation: "An operation's name, like purchase_order_receive.",
  approvalRequestId: "An approval request's id.",
  limit: "How many rows a page has at most.",
  dryRun: "Change nothing, and answer what the write would.",
  cursor: "`cursor` of the previous page, unchanged, with the same filters.",
};

/** A file of lines: NDJSON, or one of the tables that merchants have. */
const fileBody: Json = {
  required: true,
  content: { "application/x-ndjson": { schema: { type: "string" } }, "text/csv": { schema: { type: "string" } } },
};

const dataAnswer = (output: z.ZodType, schemas: Record<string, Json>): JsonObject => ({
  content: {
    "application/json": {
      schema: { type: "object", properties: { data: schemaOf(output, "output", schemas) }, required: ["data"] },
    },
  },
});

/** A whole file, which can be asked for by its ETag. */
const fileAnswer = (contentType: string): JsonObject => ({
  headers: {
    ETag: { schema: { type: "string" }, description: "Names these bytes, for If-None-Match." },
    "Content-Disposition": { schema: { type: "string" }, description: "The file's name." },
  },
  content: { [contentType]: {} },
});

function contentOf(output: AdminOperation["describes"]["output"], schemas: Record<string, Json>): JsonObject {
  if ("file" in output) return fileAnswer(output.file);
  return "pieces" in output ? { content: { [output.pieces]: {} } } : dataAnswer(output, schemas);
}

function entryOf(operation: AdminOperation, schemas: Record<string, Json>): Json {
  const { describes, input, name, route } = operation;
  const { path, query, body } = bindingOf(operation);
  const { properties, required } = schemaOf(input, "input", schemas);
  const dryRun = operation.performs?.takesDryRun === true ? [["dryRun", { type: "boolean" }] as const] : [];
  const members = new Map<string, Json>([...Object.entries(properties ?? {}), ...dryRun]);
  const needed = Array.isArray(required) ? required : [];
  const parameter =
    (place: string) =>
    (member: string): Json => ({
      name: member,
      in: place,
      ...(parameterTexts[member] === undefined ? {} : { description: parameterTexts[member] }),
      required: needed.includes(member),
      schema: members.get(member) ?? {},
    });
  const inBody = body.filter((member) => members.has(member));
  return {
    operationId: name,
    summary: describes.summary,
    description: describes.description,
    ...(operation.role === undefined ? {} : { "x-least-role": operation.role }),
    parameters: [...path.map(parameter("path")), ...[...query.keys()].map(parameter("query"))],
    ...(operation.takesFile === true ? { requestBody: fileBody } : {}),
    ...(inBody.length === 0
      ? {}
      : {
          requestBody: {
            required: true,
            content: {
              "application/json": {
                schema: {
                  type: "object",
                  properties: Object.fromEntries(inBody.map((member) => [member, members.get(member) ?? {}])),
                  required: inBody.filter((member) => needed.includes(member)),
                },
              },
            },
          },
        }),
    responses: {
      [describes.status ?? (route.method === "POST" ? 201 : 200)]: {
        description: describes.summary,
        ...contentOf(describes.output, schemas),
      },
      ...("file" in describes.output
        ? { 304: { description: "The file that If-None-Match names is the current one." } }
        : {}),
      ...(operation.performs === undefined || operation.performs.aboutApprovals === true
        ? {}
        : {
            202: {
              description: "Nothing was changed: the write waits for somebody's decision.",
              ...dataAnswer(z.strictObject({ approvalRequest: approvalRequestSchema }), schemas),
            },
          }),
    },
  };
}
