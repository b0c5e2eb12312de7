/**
 * The registry as routes: which operation a method and a path mean, and how path, query and body become an operation's input.
 *
 * Owns: matching (C7), the spelling of query parameters, which member comes from where (C11). Does not own: what members mean.
 */
import { z } from "zod";
import { Fault, type ValidationDetail } from "../core/fault.ts";
import { isJsonObject, type Json, type JsonObject, jsonPointer } from "../core/json.ts";
import type { Operation } from "../operations/operation.ts";

export const apiPrefix = "/api/v1";

/** How a query parameter is spelled; schemas say it as `query` in their metadata, `string` when they do not. */
type QueryKind = "string" | "integer" | "boolean" | "list" | "repeatable-list";

const queryKindSchema = z.object({ query: z.enum(["string", "integer", "boolean", "list", "repeatable-list"]) });

/** An operation's input, member by member, by where it comes from on HTTP. */
export interface Binding {
  readonly operation: Operation;
  readonly path: readonly string[];
  /** Empty for methods whose members come from the body. */
  readonly query: ReadonlyMap<string, QueryKind>;
  /** Empty for methods whose members come from the query. */
  readonly body: readonly string[];
}

/** Where a template's members come from. */
export function bindingOf(operation: Operation): Binding {
  const path = [...operation.route.path.matchAll(/\{(\w+)\}/g)].flatMap(([, name]) =>
    name === undefined ? [] : [name],
  );
  const others = Object.entries(operation.input.shape).filter(([name]) => !path.includes(name));
  const fromQuery = operation.route.method === "GET" || operation.route.method === "DELETE";
  return {
    operation,
    path,
    query: new Map(fromQuery ? others.map(([name, schema]) => [name, queryKind(schema)]) : []),
    body: fromQuery ? [] : others.map(([name]) => name),
  };
}

function queryKind(schema: z.core.$ZodType): QueryKind {
  const found = queryKindSchema.safeParse(z.globalRegistry.get(schema));
  if (found.success) return found.data.query;
  return schema instanceof z.ZodOptional || schema instanceof z.ZodDefault ? queryKind(schema.unwrap()) : "string";
}

/** A known path: what each of its methods means, and its parameters decoded. */
export interface Match {
  readonly bindings: ReadonlyMap<string, Binding>;
  readonly parameters: Readonly<Record<string, string>>;
}

interface Template {
  readonly segments: readonly ({ readonly literal: string } | { readonly parameter: string })[];
  readonly bindings: Map<string, Binding>;
}

/**
 * @returns a function from a path as sent (with `apiPrefix`) to what it means; null for an unknown one. A trailing or doubled
 * slash, other case, a bad percent-escape and U+0000 are unknown paths.
 */
export function createRoutes(operations: readonly Operation[]): (path: string) => Match | null {
  const templates = new Map<string, Template>();
  for (const operation of operations) {
    const binding = bindingOf(operation);
    // Two templates that differ only in a parameter's name are the same path.
    const key = operation.route.path.replaceAll(/\{\w+\}/g, "{}");
    const template = templates.get(key) ?? { segments: segmentsOf(operation.route.path), bindings: new Map() };
    if (template.bindings.has(operation.route.method)) throw new Error(`${operation.name}: its route is taken`);
    template.bindings.set(operation.route.method, binding);
    templates.set(key, template);
  }
  // Literals first: `/stock-takes/reasons` is not the stock take "reasons".
  const sorted = [...templates.entries()].sort(([a], [b]) => (a > b ? 1 : -1)).map(([, template]) => template);
  const byLength = Map.groupBy(sorted, (template) => template.segments.length);

  return (path) => {
    if (!path.startsWith(`${apiPrefix}/`)) return null;
    const segments = path.slice(apiPrefix.length + 1).split("/");
    for (const template of byLength.get(segments.length) ?? []) {
      const parameters = parametersOf(template, segments);
      if (parameters !== null) return { bindings: template.bindings, parameters };
    }
    return null;
  };
}

const segmentsOf = (path: string): Template["segments"] =>
  path
    .slice(1)
    .split("/")
    .map((segment) => (segment.startsWith("{") ? { parameter: segment.slice(1, -1) } : { literal: segment }));

function parametersOf(template: Template, segments: readonly string[]): Record<string, string> | null {
  const parameters: Record<string, string> = {};
  for (const [index, expected] of template.segments.entries()) {
    const segment = segments[index] ?? "";
    if ("literal" in expected) {
      if (segment !== expected.literal) return null;
      continue;
    }
    const value = percentDecoded(segment);
    if (value === null || value === "" || value.includes("\0")) return null;
    parameters[expected.parameter] = value;
  }
  return parameters;
}

/** @returns null for a bad escape or bytes that are not UTF-8. */
function percentDecoded(text: string): string | null {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** A query parameter as sent. What cannot be decoded keeps its escapes, for comparing requests, and is refused later. */
export interface QueryParameter {
  readonly name: string;
  readonly value: string;
  readonly decoded: boolean;
}

/** Parameters in the order they were sent; `search` is what follows the question mark. */
export function parseQuery(search: string): readonly QueryParameter[] {
  return search
    .split("&")
    .filter((pair) => pair !== "")
    .map((pair) => {
      const text = pair.replaceAll("+", " ");
      const at = text.indexOf("=");
      const rawName = at === -1 ? text : text.slice(0, at);
      const rawValue = at === -1 ? "" : text.slice(at + 1);
      const name = percentDecoded(rawName);
      const value = percentDecoded(rawValue);
      return { name: name ?? rawName, value: value ?? rawValue, decoded: name !== null && value !== null };
    });
}

/** What an operation's schema reads, and what is wrong about the form of the request. */
export interface Assembled {
  readonly raw: JsonObject;
  readonly found: readonly ValidationDetail[];
}

/**
 * Joins path, query and body. A path parameter may be repeated in the body under its name when it is equal (C11).
 *
 * @throws Fault INVALID_INPUT when the body is JSON but not an object.
 */
export function assemble(
  binding: Binding,
  parameters: Readonly<Record<string, string>>,
  query: readonly QueryParameter[],
  body: Json,
): Assembled {
  if (!isJsonObject(body))
    throw new Fault("INVALID_INPUT", "The body must be a JSON object.", {
      action: 'Send an object such as {"name": "value"}, or no body at all.',
    });
  const found: ValidationDetail[] = [];
  const raw: Record<string, Json> = {};
  const say = (name: string, message: string): void => {
    found.push({ path: jsonPointer([name]), message });
  };
  for (const [name, value] of Object.entries(body)) {
    if (Object.hasOwn(parameters, name)) {
      if (value !== parameters[name]) say(name, "differs from the id in the path; leave it out of the body");
    } else if (binding.query.has(name)) say(name, "belongs in the query, not in the body");
    else raw[name] = value;
  }
  for (const [name, sent] of Map.groupBy(query, (parameter) => parameter.name)) {
    const kind = binding.query.get(name);
    if (kind === undefined) {
      say(name, binding.body.includes(name) ? "belongs in the body, not in the query" : "unknown query parameter");
      continue;
    }
    if (sent.length > 1 && kind !== "repeatable-list") {
      say(name, "given more than once");
      continue;
    }
    if (sent.some(({ value, decoded }) => !decoded || value.includes("\0"))) {
      say(name, "has a bad percent-escape");
      continue;
    }
    const value = queryValue(
      kind,
      sent.map((parameter) => parameter.value),
    );
    if (typeof value === "string" && kind !== "string") say(name, value);
    else raw[name] = value;
  }
  return { raw: { ...raw, ...parameters }, found };
}

/** The value of a parameter; for kinds other than `string` a string is what is wrong with it. */
function queryValue(kind: QueryKind, values: readonly string[]): Json {
  const [value = ""] = values;
  switch (kind) {
    case "string":
      return value;
    case "integer":
      return /^-?(?:0|[1-9]\d{0,14})$/.test(value) ? Number(value) : "must be an integer";
    case "boolean":
      return value === "true" || value === "false" ? value === "true" : "must be true or false";
    case "list":
    case "repeatable-list":
      return values.some((list) => list === "") ? "must not be empty" : values.flatMap((list) => list.split(","));
  }
}
