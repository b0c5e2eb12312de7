/**
 * A registry of operations as routes: the operation of a method and a path, and the way between a request and its
 * input. The API and the operator's side use it alike.
 *
 * Owns: matching (C7), which member comes from where (C11). Does not own: how a parameter is written (query.ts), what
 * members mean.
 */
import { TrieRouter } from "hono/router/trie-router";
import type { z } from "zod";
import { Fault, type ValidationDetail } from "../base/fault.ts";
import { isJsonObject, type Json, type JsonObject, jsonPointer } from "../base/json.ts";
import { knownHere } from "../requests/input.ts";
import { dryRunMember, type RestOperation } from "../requests/operation.ts";
import {
  parameterTexts,
  parameterValue,
  percentDecoded,
  type QueryKind,
  queryKindOf,
  type QueryParameter,
} from "./query.ts";
import { methodNotAllowed } from "./surface.ts";

export const apiPrefix = "/api/v1";
/** The path below which the admin operations are. */
export const adminPrefix = "/admin/v1";

/** Parts of an operation that a route needs, of whichever registry. */
interface Routed {
  readonly name: string;
  /** The path is below the registry's prefix, its parameters in braces and named as in the input. */
  readonly route: { readonly method: string; readonly path: string };
  readonly input: { readonly shape: Readonly<Record<string, z.core.$ZodType>> };
  /** True if the body is a file; the members that are not in the path then come from the query. */
  readonly takesFile?: boolean;
  /** True if it can be run dry, which the query asks for (C81). */
  readonly takesDryRun?: boolean;
}

/** An operation's input, member by member, by where it comes from on HTTP. */
export interface Binding<O extends Routed = RestOperation> {
  readonly operation: O;
  readonly path: readonly string[];
  /** Members from the query: all or none, and `dryRun`. */
  readonly query: ReadonlyMap<string, QueryKind>;
  /** Empty when the members come from the query. */
  readonly body: readonly string[];
}

const parameterPattern = /\{(\w+)\}/g;

/** Where the members of an operation's input come from. */
export function bindingOf<O extends Routed>(operation: O): Binding<O> {
  const { method } = operation.route;
  const path = [...operation.route.path.matchAll(parameterPattern)].flatMap(([, name]) => name ?? []);
  const others = Object.entries(operation.input.shape).filter(([name]) => !path.includes(name));
  const fromQuery = method === "GET" || method === "DELETE" || operation.takesFile === true;
  return {
    operation,
    path,
    query: new Map([
      ...(fromQuery ? others.map(([name, schema]) => [name, queryKindOf(schema)] as const) : []),
      ...(operation.takesDryRun === true ? [[dryRunMember, "boolean"] as const] : []),
    ]),
    body: fromQuery ? [] : others.map(([name]) => name),
  };
}

/** A known path: what each of its methods means, and its parameters decoded. */
export interface Match<O extends Routed = RestOperation> {
  readonly bindings: ReadonlyMap<string, Binding<O>>;
  readonly parameters: Readonly<Record<string, string>>;
}

/** Matching is by path alone: which methods a path has is known only then, for 405 and OPTIONS. */
const anyMethod = "ALL";

/**
 * @returns a function from a path as sent (with the prefix) to what it means; null for an unknown one. A trailing or
 *   doubled slash, other case, a bad percent-escape and U+0000 are unknown paths (C7).
 * @throws Error when two operations have the same route.
 */
export function createRoutes<O extends Routed>(
  prefix: string,
  operations: readonly O[],
): (path: string) => Match<O> | null {
  const templates = new Map<string, { readonly path: string; readonly bindings: Map<string, Binding<O>> }>();
  for (const operation of operations) {
    const { method, path } = operation.route;
    // Two templates that differ only in a parameter's name are the same path.
    const key = path.replaceAll(parameterPattern, "{}");
    const template = templates.get(key) ?? { path, bindings: new Map<string, Binding<O>>() };
    if (template.bindings.has(method)) throw new Error(`${operation.name}: its route is taken`);
    template.bindings.set(method, bindingOf(operation));
    templates.set(key, template);
  }
  const router = new TrieRouter<ReadonlyMap<string, Binding<O>>>();
  // The first one added wins, and "{" sorts after every letter: `/stock-takes/reasons` is not the stock take "reasons".
  for (const [, { path, bindings }] of [...templates].toSorted(([a], [b]) => (a > b ? 1 : -1)))
    router.add(anyMethod, prefix + path.replaceAll(parameterPattern, ":$1"), bindings);

  return (path) => {
    const [[found] = []] = router.match(anyMethod, path);
    if (found === undefined) return null;
    const [bindings, sent] = found;
    const parameters: Record<string, string> = {};
    for (const [name, segment] of Object.entries(sent)) {
      const value = typeof segment === "string" ? percentDecoded(segment) : null;
      if (value === null || value.includes("\0")) return null;
      parameters[name] = value;
    }
    return { bindings, parameters };
  };
}

/** The methods of a known path, for `Allow`. */
export const methodsOf = <O extends Routed>({ bindings }: Match<O>): readonly string[] => [...bindings.keys()].sort();

/**
 * Returns the meaning of the method on a known path. METHOD_NOT_ALLOWED when it means nothing there. HEAD is GET (C8).
 */
export function bindingFor<O extends Routed>(match: Match<O>, method: string): Binding<O> | Fault {
  return match.bindings.get(method === "HEAD" ? "GET" : method) ?? methodNotAllowed(method, methodsOf(match));
}

/** True if the query asks for a dry run of an operation that takes one. */
export const asksForDryRun = ({ operation }: Binding<Routed>, query: readonly QueryParameter[]): boolean =>
  operation.takesDryRun === true && query.some(({ name, value }) => name === dryRunMember && value === "true");

/** Input for an operation's schema, and the faults in the form of the request. */
interface Assembled {
  readonly raw: JsonObject;
  readonly found: readonly ValidationDetail[];
}

/**
 * Joins path, query and body. A path parameter may be repeated in the body under its name when it is equal (C11).
 *
 * @throws Fault INVALID_INPUT when the body is JSON but not an object.
 */
export function assemble<O extends Routed>(
  binding: Binding<O>,
  parameters: Readonly<Record<string, string>>,
  query: readonly QueryParameter[],
  body: Json,
): Assembled {
  if (!isJsonObject(body))
    throw new Fault("INVALID_INPUT", "The body must be a JSON object.", {
      action: 'Send an object such as {"name": "value"}, or no body at all.',
    });
  const found: ValidationDetail[] = [];
  const queryValues: Record<string, Json> = {};
  const report = (name: string, message: string): void => {
    found.push({ path: jsonPointer([name]), message });
  };
  for (const name of Object.keys(parameters))
    if (Object.hasOwn(body, name) && body[name] !== parameters[name])
      report(name, "differs from the id in the path; leave it out of the body");
  const misplaced = [...binding.query.keys()].filter(
    (name) => Object.hasOwn(body, name) && !Object.hasOwn(parameters, name),
  );
  for (const name of misplaced) report(name, "belongs in the query, not in the body");
  for (const [name, sent] of Map.groupBy(query, (parameter) => parameter.name)) {
    const kind = binding.query.get(name);
    if (kind === undefined) {
      report(
        name,
        binding.body.includes(name)
          ? "belongs in the body, not in the query"
          : `unknown query parameter${knownHere([...binding.query.keys()])}`,
      );
      continue;
    }
    const read = parameterValue(kind, sent);
    if ("fault" in read) report(name, read.fault);
    else queryValues[name] = read.value;
  }
  if (binding.operation.takesDryRun === true) delete queryValues[dryRunMember];
  // A body of thousands of unknown members is not copied more often than needed.
  const raw: Record<string, Json> = { ...body, ...queryValues, ...parameters };
  for (const name of misplaced) if (!Object.hasOwn(queryValues, name)) delete raw[name];
  return { raw, found };
}

/** Longer values are no ids: a tool call with one is recorded under the placeholder of its path. */
const pathValueLengthMax = 255;

/** A request below the registry's prefix. */
export interface SpelledRequest {
  readonly path: string;
  /** Values decoded, in the order of the binding. */
  readonly query: readonly (readonly [name: string, value: string])[];
  readonly body: JsonObject;
}

/**
 * The request that carries this input: what `assemble` reads, the other way round. A value that no path can hold leaves
 * its placeholder; members that the operation does not know go into the body, to be refused there.
 */
export function spellRequest<O extends Routed>(binding: Binding<O>, input: JsonObject): SpelledRequest {
  const path = binding.operation.route.path.replaceAll(parameterPattern, (placeholder, name: string) => {
    const value = input[name];
    return typeof value === "string" && value.length <= pathValueLengthMax && value.isWellFormed()
      ? encodeURIComponent(value)
      : placeholder;
  });
  const query = [...binding.query].flatMap(([name, kind]) => {
    const value = input[name];
    return value === undefined ? [] : parameterTexts(kind, value).map((text) => [name, text] as const);
  });
  const elsewhere = new Set([...binding.path, ...binding.query.keys()]);
  const body = Object.fromEntries(Object.entries(input).filter(([name]) => !elsewhere.has(name)));
  return { path, query, body };
}
