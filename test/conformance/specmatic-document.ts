/**
 * Adapts the OpenAPI document to Specmatic. Schemas of answers are not changed. Schemas of requests become narrower, or express the same
 * in a form that Specmatic supports. Pure.
 */
import { isJsonArray, isJsonObject, type Json, type JsonObject } from "../../src/base/json.ts";

/** Inputs of requests that succeed, by operation: path, query and body members merged. */
type Works = ReadonlyMap<string, JsonObject>;

const object = (value: Json | undefined): JsonObject => (value !== undefined && isJsonObject(value) ? value : {});
const list = (value: Json | undefined): readonly Json[] => (value !== undefined && isJsonArray(value) ? value : []);
const text = (value: Json | undefined): string => (typeof value === "string" ? value : "");
const without = (members: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)));
const mapped = (members: JsonObject, change: (member: Json, name: string) => Json): JsonObject =>
  Object.fromEntries(Object.entries(members).map(([name, member]) => [name, change(member, name)]));

/** Names each example in the document, because Specmatic matches requests and answers by the names of their examples. */
export function specmaticDocument(document: JsonObject, works: Works): JsonObject {
  return {
    ...document,
    paths: mapped(object(document["paths"]), (methods) =>
      mapped(object(methods), (entry) => entryOf(object(entry), works, document)),
    ),
  };
}

/** What a `$ref` refers to; any other schema is returned as it is. */
function resolved(schema: Json | undefined, document: JsonObject): JsonObject {
  const reference = object(schema)["$ref"];
  if (typeof reference !== "string") return object(schema);
  const steps = reference.slice("#/".length).split("/");
  return steps.reduce<JsonObject>((found, step) => object(found[step]), document);
}

/** The members of a body, of all its forms. */
const membersOf = (body: JsonObject, document: JsonObject): JsonObject =>
  Object.assign(
    { ...object(body["properties"]) },
    ...list(body["oneOf"]).map((form) => object(resolved(form, document)["properties"])),
  );

function entryOf(entry: JsonObject, works: Works, document: JsonObject): JsonObject {
  const responses = object(entry["responses"]);
  const members = works.get(text(entry["operationId"]));
  if (members === undefined) return { ...entry, parameters: [], responses: mapped(responses, anything) };
  const media = object(object(object(entry["requestBody"])["content"])["application/json"]);
  const schema = resolved(media["schema"], document);
  const value = mapped(membersOf(schema, document), (_, name) => members[name] ?? null);
  const sent = Object.fromEntries(Object.entries(value).filter(([name]) => members[name] !== undefined));
  const content = {
    "application/json": { schema: bodySchemaOf(schema, document), examples: { works: { value: sent } } },
  };
  return {
    ...entry,
    parameters: list(entry["parameters"])
      .map(object)
      // Specmatic cannot generate these headers: their values depend on a version, and the document limits only all headers together.
      .filter(({ name }) => name !== "If-Match" && name !== "If-None-Match")
      .map((parameter) => parameterOf(parameter, members)),
    responses: mapped(responses, (response, status) => {
      const shown = object(object(object(response)["content"])["application/json"])["example"];
      return status.startsWith("2") ? withExamples(response, { works: { value: shown ?? {} } }) : response;
    }),
    ...(entry["requestBody"] === undefined ? {} : { requestBody: { ...object(entry["requestBody"]), content } }),
  };
}

/**
 * Allows any body in the answer of the document's own path. Specmatic expects the entries of a list in an open object to be alike, which is
 * not so in an OpenAPI document. Other tests check that answer.
 */
const anything = (response: Json): Json =>
  object(response)["content"] === undefined
    ? response
    : { ...object(response), content: { "application/json": { schema: {} } } };

function withExamples(response: Json, examples: JsonObject): Json {
  const { schema } = object(object(object(response)["content"])["application/json"]);
  return schema === undefined
    ? response
    : { ...object(response), content: { "application/json": { schema, examples } } };
}

function parameterOf(parameter: JsonObject, members: JsonObject): JsonObject {
  const value = members[text(parameter["name"])];
  const shown = value !== undefined && isJsonArray(value) ? value[0] : value;
  const schema = object(parameter["schema"]);
  // Specmatic does not support comma-separated lists. A single value is also a valid list.
  const one = schema["type"] === "array" ? object(schema["items"]) : schema;
  return {
    ...without(parameter, ["example", "style", "explode"]),
    // Specmatic's generator reads `\n` in a pattern as the letter n, and generates U+0000, which is not allowed in a text (C10).
    schema: one["pattern"] === "^[^\\n]*$" ? without(one, ["pattern"]) : one,
    ...(shown === undefined ? {} : { examples: { works: { value: shown } } }),
  };
}

function bodySchemaOf(schema: JsonObject, document: JsonObject): JsonObject {
  if (schema["oneOf"] !== undefined)
    return { oneOf: list(schema["oneOf"]).map((form) => bodySchemaOf(resolved(form, document), document)) };
  const properties = mapped(object(schema["properties"]), (member, name) => {
    // /status never moves an order to Completed (spec "Rules for /status" 1).
    if (name === "status") {
      const { enum: statuses, ...rest } = resolved(member, document);
      return { ...rest, enum: list(statuses).filter((each) => each !== "Completed") };
    }
    // Only true is accepted (C24).
    return name === "confirmAll" ? { ...object(member), enum: [true] } : member;
  });
  return { ...schema, properties };
}

/** Requests that must fail as documented: with an unknown id, and with an unknown key. */
export function refusals(document: JsonObject, works: Works, missingId: string): ReadonlyMap<string, JsonObject> {
  const examples = object(object(document["components"])["examples"]);
  const found = new Map<string, JsonObject>();
  for (const [route, methods] of Object.entries(object(document["paths"])))
    for (const [method, declared] of Object.entries(object(methods))) {
      const entry = object(declared);
      const name = text(entry["operationId"]);
      const members = works.get(name);
      if (members === undefined) continue;
      const request = requestOf(method.toUpperCase(), entry, members, document);
      const at = (id?: string): string =>
        route.replace(/\{(\w+)\}/, (_, parameter: string) => id ?? text(members[parameter]));
      const answer = (status: number, fault: string): JsonObject => ({
        status,
        body: object(examples[fault])["value"] ?? {},
      });
      found.set(`${name}.unknown-key`, {
        "http-request": { ...request, path: at(), headers: { Authorization: "Bearer opo_test-shop_unknown" } },
        "http-response": answer(401, "UNAUTHORIZED"),
      });
      if (route.includes("{"))
        found.set(`${name}.unknown-id`, {
          "http-request": { ...request, path: at(missingId) },
          "http-response": answer(404, "NOT_FOUND"),
        });
    }
  return found;
}

function requestOf(method: string, entry: JsonObject, members: JsonObject, document: JsonObject): JsonObject {
  const required = list(entry["parameters"])
    .map(object)
    .filter((parameter) => parameter["in"] === "query" && parameter["required"] === true)
    .map((parameter) => text(parameter["name"]));
  const one = (value: Json | undefined): Json =>
    value !== undefined && isJsonArray(value) ? (value[0] ?? null) : (value ?? null);
  const query = Object.fromEntries(required.map((name) => [name, one(members[name])]));
  const { schema } = object(object(object(entry["requestBody"])["content"])["application/json"]);
  const names = Object.keys(membersOf(resolved(schema, document), document)).filter(
    (name) => members[name] !== undefined,
  );
  const body = Object.fromEntries(names.map((name) => [name, members[name] ?? null]));
  return {
    method,
    ...(required.length === 0 ? {} : { query }),
    ...(entry["requestBody"] === undefined ? {} : { body }),
  };
}
