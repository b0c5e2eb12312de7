/**
 * The OpenAPI document as the tests hold answers against it. The served document leaves answers open for members that a later version
 * adds, and has one schema for every failure. A test must notice what is not documented today. Pure.
 */
import { isJsonArray, isJsonObject, type Json, type JsonObject } from "../../../src/base/json.ts";

const object = (value: Json | undefined): JsonObject => (value !== undefined && isJsonObject(value) ? value : {});

/**
 * The document with closed answers: an object has no members but those it names, or of the kind that it names, and a failure has
 * one of the codes and reasons that its response gives examples of.
 */
export function closedDocument(document: JsonObject): JsonObject {
  const components = object(document["components"]);
  const examples = object(components["examples"]);
  const responses = Object.entries(object(components["responses"])).map(([name, response]) => [
    name,
    closed(exactFailure(object(response), examples)),
  ]);
  return {
    ...document,
    paths: closed(document["paths"] ?? null),
    components: {
      ...components,
      schemas: closed(components["schemas"] ?? null),
      responses: Object.fromEntries(responses),
    },
  };
}

function closed(value: Json): Json {
  if (isJsonArray(value)) return value.map(closed);
  if (!isJsonObject(value)) return value;
  const members = Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      name === "example" || name === "examples" ? member : closed(member),
    ]),
  );
  if (value["type"] !== "object" || value["properties"] === undefined) return members;
  return { ...members, additionalProperties: value["x-additionalProperties"] ?? false };
}

/** A failure's response with exactly the codes and reasons of its examples; any other response as it is. */
function exactFailure(response: JsonObject, examples: JsonObject): JsonObject {
  const content = object(response["content"]);
  const media = object(content["application/json"]);
  const faults = Object.keys(object(media["examples"])).map((name) => object(object(examples[name])["value"])["error"]);
  if (faults.length === 0) return response;
  const exact = faults.map((fault) => {
    const { code, reason } = object(fault);
    const properties = { code: { const: code ?? null }, reason: reason === undefined ? false : { const: reason } };
    return { properties: { error: { properties } } };
  });
  const schema = { allOf: [media["schema"] ?? {}, { anyOf: exact }] };
  return { ...response, content: { ...content, "application/json": { ...media, schema } } };
}
