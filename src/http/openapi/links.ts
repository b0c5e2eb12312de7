/**
 * Links in the OpenAPI document: which operations to call next with what an answer shows. Pure.
 */
import type { JsonObject } from "../../base/json.ts";
import type { RestOperation } from "../../requests/operation.ts";
import { membersOf } from "./schemas.ts";

/** A link to an operation, with where its parameters come from. */
interface Link {
  readonly kind: "next_page_of" | "first_row" | "created" | "of_this";
  readonly target: RestOperation;
  readonly parameters: JsonObject;
}

/**
 * True if the operation creates something that gets a path of its own; adding to something that has one is no creation.
 */
export const isCreation = (operation: RestOperation): boolean =>
  operation.success === 201 && !operation.route.path.includes("{");

/**
 * The links of a success: from a list to its next page and its first row, and from a change to the changed thing. From
 * a thing that was created or read they lead to everything below it.
 */
export function linksOf(operation: RestOperation, operations: readonly RestOperation[]): readonly Link[] {
  return membersOf(operation.output).includes("cursor")
    ? listLinks(operation, operations)
    : operations.flatMap((target) => linkTo(target, operation) ?? []);
}

function listLinks(operation: RestOperation, operations: readonly RestOperation[]): readonly Link[] {
  const { path } = operation.route;
  const parameter = idParameterOf(path);
  const nextPage: Link = {
    kind: "next_page_of",
    target: operation,
    parameters: {
      ...(parameter === null ? {} : { [parameter]: `$request.path.${parameter}` }),
      cursor: "$response.body#/data/cursor",
    },
  };
  const first = operations.find(
    ({ route }) => route.method === "GET" && new RegExp(`^${path}/\\{\\w+\\}$`).test(route.path),
  );
  const id = first === undefined ? null : idParameterOf(first.route.path);
  if (first === undefined || id === null) return [nextPage];
  const [collection = ""] = membersOf(operation.output);
  return [
    nextPage,
    { kind: "first_row", target: first, parameters: { [id]: `$response.body#/data/${collection}/0/${id}` } },
  ];
}

/** The link from an operation that is no list to this one; null when there is none. */
function linkTo(target: RestOperation, operation: RestOperation): Link | null {
  const { path, method } = operation.route;
  const id = idParameterOf(target.route.path);
  if (id === null || target === operation) return null;
  const [collection = ""] = target.route.path.split("/{");
  const resource = `${collection}/{${id}}`;
  if (isCreation(operation) && target.route.path.startsWith(`${path}/{`)) {
    const [shown = ""] = membersOf(operation.output);
    return { kind: "created", target, parameters: { [id]: `$response.body#/data/${shown}/${id}` } };
  }
  const isBelowWhatWasRead = method === "GET" && path === resource && target.route.path.startsWith(`${resource}/`);
  const readsWhatWasChanged =
    operation.scope === "write" &&
    method !== "DELETE" &&
    path.startsWith(resource) &&
    target.route.path === resource &&
    target.route.method === "GET";
  if (!isBelowWhatWasRead && !readsWhatWasChanged) return null;
  return { kind: "of_this", target, parameters: { [id]: `$request.path.${id}` } };
}

const idParameterOf = (path: string): string | null => /\{(\w+)\}/.exec(path)?.[1] ?? null;
