/**
 * Checks an answer against the OpenAPI document with an independent validator (ajv): the status is documented, the body has the
 * documented shape and no other members, the operation declares the fault, and the headers are documented. The document's answers are
 * open, so this takes its closed variant (closed.ts).
 */
import assert from "node:assert/strict";
import type { IncomingHttpHeaders } from "node:http";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { Json, JsonObject } from "../../../src/base/json.ts";
import { isJsonObject, jsonPointer } from "../../../src/base/json.ts";
import { openApiDocument } from "../../../src/http/openapi/openapi.ts";
import { apiPrefix } from "../../../src/http/routes.ts";
import type { Operation } from "../../../src/requests/operation.ts";
import { operations } from "../../../src/operations/registry.ts";
import { closedDocument } from "./closed.ts";
import { recordObserved } from "./matrix.ts";

/** Headers that must be documented where they are sent, and sent where they are documented. */
const telling = [
  "x-request-id",
  "retry-after",
  "etag",
  "location",
  "idempotent-replayed",
  "ratelimit",
  "ratelimit-policy",
  "www-authenticate",
  "access-control-allow-origin",
] as const;
/** Those of them that are not sent with every answer. */
const occasional: ReadonlySet<string> = new Set(["retry-after", "etag", "idempotent-replayed"]);

export interface Observed {
  readonly method: string;
  /** With the query. */
  readonly target: string;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const at = (value: Json | undefined, ...steps: readonly string[]): Json | undefined =>
  steps.reduce<Json | undefined>(
    (object, step) => (object !== undefined && isJsonObject(object) ? object[step] : undefined),
    value,
  );

/** Follows a `$ref`: returns the target and its pointer. A schema without `$ref` is returned as it is. */
function followed(
  document: JsonObject,
  value: Json,
  steps: readonly string[],
): { readonly value: Json; readonly steps: readonly string[] } {
  const reference = at(value, "$ref");
  if (typeof reference !== "string") return { value, steps };
  const target = reference.slice("#/".length).split("/");
  const found = at(document, ...target);
  assert.ok(found !== undefined, `${reference} has no target`);
  return { value: found, steps: target };
}

/** Holds that a slot of follow-on work says why exactly when it failed (C39). */
function checkDetails(json: Json | null, what: string): void {
  for (const [name, slot] of Object.entries(at(json ?? {}, "data", "sideEffects") ?? {})) {
    if (name === "supplierUpdate") continue;
    const isFailed = at(slot, name === "storefrontSync" || name === "email" ? "status" : "outcome") === "failed";
    assert.equal(at(slot, "detail") !== undefined, isFailed, `${what}: detail of ${name}`);
  }
}

/** Makes the check of an answer against the document as it is served; it throws an error that says what is wrong. */
export function createContract(served: JsonObject): (observed: Observed) => void {
  const document = closedDocument(served);
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema(document, "openapi");
  const templates = Object.entries(at(document, "paths") ?? {}).map(([path, methods]) => ({
    path,
    methods,
    pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`),
  }));
  // Literal paths come before paths with parameters.
  templates.sort(
    (a, b) => (a.path.includes("{") ? 1 : 0) - (b.path.includes("{") ? 1 : 0) || b.path.length - a.path.length,
  );

  // ajv caches compiled schemas by object identity, so each schema is compiled once.
  const references = new Map<string, { readonly $ref: string }>();
  const referenceTo = (steps: readonly string[]): { readonly $ref: string } => {
    const pointer = jsonPointer(steps);
    const known = references.get(pointer) ?? { $ref: encodeURI(`openapi#${pointer}`).replaceAll("%25", "%") };
    references.set(pointer, known);
    return known;
  };
  const validate = (body: Json, steps: readonly string[], what: string): void => {
    const valid = ajv.validate(referenceTo(steps), body);
    if (valid) return;
    const unknown = (ajv.errors ?? []).flatMap(({ params: { additionalProperty } }): readonly string[] =>
      typeof additionalProperty === "string" ? [additionalProperty] : [],
    );
    const faults = ajv.errorsText(ajv.errors, { separator: "\n  " });
    const named = unknown.length === 0 ? "" : `\n  Undocumented: ${[...new Set(unknown)].join(", ")}`;
    assert.fail(`${what}: ${faults}${named}\n${JSON.stringify(body)}`);
  };

  return ({ method, target, status, headers, body }) => {
    const what = `${method} ${target} answered ${status}`;
    assert.ok(headers["x-request-id"], `${what} without X-Request-Id`);
    const path = target.split("?")[0] ?? "";
    const documentedMethod = (method === "HEAD" ? "GET" : method).toLowerCase();
    const template = templates.find(
      (each) => each.pattern.test(path) && at(each.methods, documentedMethod) !== undefined,
    );
    const json: Json | null = method === "HEAD" || body === "" ? null : JSON.parse(body);
    if (template === undefined) {
      if (method === "OPTIONS") return assert.equal(status, 204, what);
      assert.ok([401, 403, 404, 405, 429, 503].includes(status), `${what} where no operation is documented`);
      if (json !== null) validate(json, ["components", "schemas", "ErrorAnswer"], what);
      return;
    }
    const steps = ["paths", template.path, documentedMethod, "responses", String(status)];
    const listed = at(document, ...steps);
    assert.ok(listed !== undefined, `${what}, which is not documented: ${body}`);
    const { value: response, steps: place } = followed(document, listed, steps);
    if (at(response, "content") === undefined) assert.equal(body, "", `${what} with a body`);
    else if (json !== null) validate(json, [...place, "content", "application/json", "schema"], what);
    const operationId = at(template.methods, documentedMethod, "operationId");
    if (typeof operationId === "string") recordObserved(operationId, status);

    const documented = new Set<string>();
    for (const [name, header] of Object.entries(at(response, "headers") ?? {})) {
      documented.add(name.toLowerCase());
      const sent = headers[name.toLowerCase()];
      const { value, steps } = followed(document, header, [...place, "headers", name]);
      const isNumber = at(value, "schema", "type") === "integer";
      if (typeof sent === "string") validate(isNumber ? Number(sent) : sent, [...steps, "schema"], `${what}: ${name}`);
    }
    for (const name of telling) {
      if (headers[name] !== undefined) assert.ok(documented.has(name), `${what} with ${name}, which is not documented`);
      else if (documented.has(name))
        // If the key could not be looked up, the rate limit is unknown.
        assert.ok(occasional.has(name) || (status >= 500 && name.startsWith("ratelimit")), `${what} without ${name}`);
    }
    checkDetails(json, what);
    if (json !== null && status >= 400) {
      assert.equal(at(json, "error", "retryable"), headers["retry-after"] !== undefined, `${what}: Retry-After`);
      assert.equal(at(json, "error", "requestId"), headers["x-request-id"], what);
    } else if (json !== null && path !== "/api/v1/openapi.json") {
      assert.equal(at(json, "meta", "requestId"), headers["x-request-id"], what);
    }
  };
}

const contracts = new WeakMap<readonly Operation[], (observed: Observed) => void>();

/** The check of the answers of these operations. Made once for each list: compiling the whole document takes a while. */
export function contractOf(list: readonly Operation[]): (observed: Observed) => void {
  const check = contracts.get(list) ?? createContract(openApiDocument(list));
  contracts.set(list, check);
  return check;
}

/** A `fetch` for clients that use the network. It checks every answer below the API's prefix against the OpenAPI document. */
export async function fetchChecked(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const request = new Request(input, init);
  const answer = await fetch(request);
  const { pathname, search } = new URL(request.url);
  if (!pathname.startsWith(`${apiPrefix}/`)) return answer;
  contractOf(operations)({
    method: request.method,
    target: pathname + search,
    status: answer.status,
    headers: Object.fromEntries(answer.headers),
    body: await answer.clone().text(),
  });
  return answer;
}
