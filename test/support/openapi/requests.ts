/** Builds requests as a client of the OpenAPI document does: an operation's input as path, query and body. */
import { isJsonArray, type Json, type JsonObject } from "../../../src/base/json.ts";
import { exampleOf } from "../../../src/http/openapi/schemas.ts";
import { apiPrefix, type Binding } from "../../../src/http/routes.ts";

/** Formats a value for a path or query. */
const spelling = (value: Json): string =>
  typeof value === "string" ? value : isJsonArray(value) ? value.map(spelling).join(",") : JSON.stringify(value);

/** Splits an input into path with query, and the body if the method has one. */
export function spelled(
  binding: Binding,
  input: JsonObject,
): { readonly target: string; readonly body: JsonObject | undefined } {
  const path = binding.operation.route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(spelling(input[name] ?? null)),
  );
  const query = [...binding.query.keys()].flatMap((name) => {
    const value = input[name];
    return value === undefined ? [] : [`${name}=${encodeURIComponent(spelling(value))}`];
  });
  const body = Object.fromEntries(
    binding.body.flatMap((name) => (input[name] === undefined ? [] : [[name, input[name]]])),
  );
  return {
    target: `${apiPrefix}${path}${query.length === 0 ? "" : `?${query.join("&")}`}`,
    body: ["POST", "PATCH"].includes(binding.operation.route.method) ? body : undefined,
  };
}

export const exampleRequest = (binding: Binding) => spelled(binding, exampleOf(binding.operation));
