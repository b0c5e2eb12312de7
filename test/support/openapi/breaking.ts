/**
 * Finds the changes between two OpenAPI documents that would break a client of the older one. Additions are allowed: operations,
 * optional parameters and body members, members of answers, error codes. Pure.
 */
import { isJsonArray, isJsonObject, type Json, type JsonObject } from "../../../src/base/json.ts";

const object = (value: Json | undefined): JsonObject => (value !== undefined && isJsonObject(value) ? value : {});
const list = (value: Json | undefined): readonly Json[] => (value !== undefined && isJsonArray(value) ? value : []);
const name = (value: Json | undefined): string => (typeof value === "string" ? value : "");

function resolved(document: JsonObject, value: Json | undefined): JsonObject {
  const reference = object(value)["$ref"];
  if (typeof reference !== "string") return object(value);
  let found: Json | undefined = document;
  for (const step of reference.slice(2).split("/")) found = object(found)[step];
  return resolved(document, found);
}

/** Returns one text for each breaking change from `before` to `after`; empty if it only adds. */
export function breakingChanges(before: JsonObject, after: JsonObject): readonly string[] {
  const faults: string[] = [];
  for (const [path, methods] of Object.entries(object(before["paths"])))
    for (const [method, entry] of Object.entries(object(methods))) {
      const where = `${method.toUpperCase()} ${path}`;
      const now = object(object(object(after["paths"])[path])[method]);
      if (Object.keys(now).length === 0) faults.push(`${where} is gone`);
      else faults.push(...operationFaults(where, before, object(entry), after, now));
    }
  return faults;
}

function operationFaults(
  where: string,
  before: JsonObject,
  old: JsonObject,
  after: JsonObject,
  now: JsonObject,
): readonly string[] {
  const faults: string[] = [];
  if (old["operationId"] !== now["operationId"]) faults.push(`${where} has another operationId`);
  const parameters = (entry: JsonObject) =>
    new Map(
      list(entry["parameters"]).map((each) => [
        `${name(object(each)["in"])} ${name(object(each)["name"])}`,
        object(each),
      ]),
    );
  const known = parameters(old);
  for (const [parameter, declared] of parameters(now))
    if (declared["required"] === true && known.get(parameter)?.["required"] !== true)
      faults.push(`${where}: ${parameter} is required now`);
  for (const [parameter, declared] of known) {
    const kept = parameters(now).get(parameter);
    if (kept === undefined) faults.push(`${where}: ${parameter} is gone`);
    else
      faults.push(
        ...fits(
          { document: before, schema: declared["schema"] },
          { document: after, schema: kept["schema"] },
          "request",
          `${where}: ${parameter}`,
        ),
      );
  }
  if (object(now["requestBody"])["required"] === true && object(old["requestBody"])["required"] !== true)
    faults.push(`${where}: body is required now`);
  const body = (entry: JsonObject) =>
    object(object(object(entry["requestBody"])["content"])["application/json"])["schema"];
  faults.push(
    ...fits(
      { document: before, schema: body(old) ?? {} },
      { document: after, schema: body(now) ?? {} },
      "request",
      `${where}: body`,
    ),
  );
  for (const [status, response] of Object.entries(object(old["responses"]))) {
    if (!status.startsWith("2")) continue;
    const kept = object(now["responses"])[status];
    if (kept === undefined) {
      faults.push(`${where}: ${status} is gone`);
      continue;
    }
    const content = (document: JsonObject, value: Json) =>
      object(object(resolved(document, value)["content"])["application/json"])["schema"] ?? {};
    faults.push(
      ...fits(
        { document: after, schema: content(after, kept) },
        { document: before, schema: content(before, response) },
        "response",
        `${where}: ${status}`,
      ),
    );
    const headersOf = (document: JsonObject, value: Json) => Object.keys(object(resolved(document, value)["headers"]));
    const still = new Set(headersOf(after, kept));
    for (const header of headersOf(before, response))
      if (!still.has(header)) faults.push(`${where}: ${status}: header ${header} is gone`);
  }
  return faults;
}

interface Place {
  readonly document: JsonObject;
  readonly schema: Json | undefined;
}

/** Upper and lower limits: the narrow schema must stay within those of the wide one. */
const ceilings = ["maxLength", "maximum", "exclusiveMaximum", "maxItems", "maxProperties"];
const floors = ["minLength", "minimum", "exclusiveMinimum", "minItems", "minProperties"];
/** Keywords that always narrow a schema. */
const conditions = ["uniqueItems", "oneOf", "allOf", "not", "multipleOf"];

/**
 * Returns the places where `narrow` allows values that `wide` does not. In a request `narrow` is the older schema, because what clients
 * send must still be accepted. In a response `narrow` is the newer schema, because clients must know every value; new members are
 * allowed.
 */
function fits(narrow: Place, wide: Place, side: "request" | "response", where: string): readonly string[] {
  const options = alternatives(narrow);
  const allowed = alternatives(wide);
  return options.flatMap((option) => {
    const tried = allowed.map((each) => fitsOne(option, each, side, where));
    const best = tried.toSorted((a, b) => a.length - b.length)[0];
    return best ?? [];
  });
}

/** Splits a schema into its alternatives: the branches of anyOf, or of a oneOf that stands alone, or its types. */
function alternatives({ document, schema }: Place): readonly Place[] {
  const found = resolved(document, schema);
  const { anyOf, oneOf, type } = found;
  const branches = anyOf ?? (type === undefined ? oneOf : undefined);
  if (branches !== undefined) return list(branches).flatMap((each) => alternatives({ document, schema: each }));
  if (type !== undefined && isJsonArray(type))
    return type.map((each) => ({ document, schema: { ...found, type: each } }));
  return [{ document, schema: found }];
}

function fitsOne(narrow: Place, wide: Place, side: "request" | "response", where: string): readonly string[] {
  const a = object(narrow.schema);
  const b = object(wide.schema);
  if (Object.keys(b).length === 0) return [];
  const values = (schema: JsonObject) => (schema["const"] === undefined ? schema["enum"] : [schema["const"]]);
  const [had, has] = [values(a), values(b)];
  if (has !== undefined) {
    const beyond = had === undefined ? ["any other"] : list(had).filter((value) => !list(has).includes(value));
    if (beyond.length > 0) return [`${where}: ${JSON.stringify(beyond)} is not among its values`];
  }
  if (
    a["type"] !== b["type"] &&
    b["type"] !== undefined &&
    !(a["type"] === "integer" && b["type"] === "number") &&
    had === undefined
  )
    return [`${where}: is ${JSON.stringify(a["type"])}, not ${JSON.stringify(b["type"])}`];
  const faults: string[] = [];
  const bound = (limit: string, breaks: (x: number, y: number) => boolean): void => {
    const [x, y] = [a[limit], b[limit]];
    if (typeof y === "number" && had === undefined && (typeof x !== "number" || breaks(x, y)))
      faults.push(`${where}: ${limit} differs`);
  };
  for (const limit of ceilings) bound(limit, (x, y) => x > y);
  for (const limit of floors) bound(limit, (x, y) => x < y);
  for (const condition of conditions)
    if (b[condition] !== undefined && JSON.stringify(a[condition]) !== JSON.stringify(b[condition]))
      faults.push(`${where}: ${condition} differs`);
  for (const word of ["pattern", "format"])
    if (b[word] !== undefined && a[word] !== b[word] && side === "request" && b["type"] === "string")
      faults.push(`${where}: ${word} differs`);
  if (a["items"] !== undefined && b["items"] !== undefined)
    faults.push(...fits({ ...narrow, schema: a["items"] }, { ...wide, schema: b["items"] }, side, `${where}[]`));
  const [inner, outer] = [object(a["properties"]), object(b["properties"])];
  for (const required of list(b["required"]))
    if (!list(a["required"]).includes(required)) faults.push(`${where}.${name(required)}: is not always there`);
  for (const [member, schema] of Object.entries(side === "request" ? inner : outer)) {
    const other = (side === "request" ? outer : inner)[member];
    if (other === undefined) faults.push(`${where}.${member} is gone`);
    else
      faults.push(
        ...(side === "request"
          ? fits({ ...narrow, schema }, { ...wide, schema: other }, side, `${where}.${member}`)
          : fits({ ...narrow, schema: other }, { ...wide, schema }, side, `${where}.${member}`)),
      );
  }
  return faults;
}
