/**
 * zod schemas as JSON Schema for the OpenAPI document, and the metadata that they carry for it.
 */
import { z } from "zod";
import type { Json, JsonObject } from "../../base/json.ts";
import { worded } from "../../requests/wording.ts";
import { headerBytesMax } from "../body.ts";
import type { Operation } from "../../requests/operation.ts";
import { enumerations, schemaReference } from "./components.ts";

/** Names of the members of an answer's `data`. */
export const membersOf = (output: z.ZodType): readonly string[] =>
  output instanceof z.ZodObject ? Object.keys(output.shape) : [];

/**
 * The JSON Schema of a zod schema.
 *
 * @param schemas  parts of it that have an `id` are added here.
 * @throws Error when two different parts have one name, or a part that contains itself has none.
 */
export function schemaOf(schema: z.ZodType, io: "input" | "output", schemas: Record<string, Json>): JsonObject {
  const generated = z.toJSONSchema(schema, {
    io,
    unrepresentable: "any",
    override: ({ jsonSchema }) => {
      tidy(jsonSchema, io);
      if (io === "output") opened(jsonSchema);
    },
  });
  const plain: JsonObject = JSON.parse(JSON.stringify(generated).replaceAll('"#/$defs/', '"#/components/schemas/'));
  const { $schema: _, $defs = {}, ...rest } = plain;
  for (const [name, part] of Object.entries($defs ?? {})) {
    if (name.startsWith("__")) throw new Error("a schema that contains itself needs an id");
    named(name, part, schemas);
  }
  return rest;
}

/**
 * Adds the schema to `schemas` under this name.
 *
 * @returns a reference to it.
 * @throws Error when a different schema has this name.
 */
export function named(name: string, schema: Json, schemas: Record<string, Json>): JsonObject {
  const before = schemas[name];
  if (before !== undefined && JSON.stringify(before) !== JSON.stringify(schema))
    throw new Error(`two different schemas are named ${name}`);
  schemas[name] = schema;
  return schemaReference(name);
}

/** A name among the components: `purchase_order_list` and `NOT_FOUND` become `PurchaseOrderList` and `NotFound`. */
export const pascal = (name: string): string =>
  name
    .split("_")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1).toLowerCase())
    .join("");

/**
 * Removes our own metadata, what is said twice, and limits that say nothing: those of an integer that JSON can carry.
 * Every text and list that is sent has a limit. Those of an answer have none but the answer's own (10 MB).
 */
function tidy(schema: z.core.JSONSchema.BaseSchema, io: "input" | "output"): void {
  const { description } = schema;
  if (description !== undefined) schema.description = worded(description, "rest");
  delete schema["query"];
  delete schema["body"];
  delete schema.id;
  if (schema.format === "date" || schema.format === "date-time") delete schema.pattern;
  // A cursor: no request line is longer.
  if (io === "input" && isUnlimitedText(schema)) schema.maxLength = headerBytesMax;
  // oapi-codegen makes every number a float32 otherwise. A `format: double` would make Java use Double instead of
  // BigDecimal.
  if (schema.type === "number") schema["x-go-type"] = "float64";
  // Generators make an enumeration of a constant truth value. The description says which value is accepted.
  if (schema.const === true) delete schema.const;
  // A member that is named only to be refused with a message of its own: the closed object refuses it anyway.
  for (const [name, member] of Object.entries(schema.properties ?? {}))
    if (typeof member === "object" && member.not !== undefined) delete schema.properties?.[name];
  if (schema.type === "integer") tidyInteger(schema);
  if (schema["example"] !== undefined) {
    schema.examples = [schema["example"]];
    delete schema["example"];
  }
  for (const [name, { enum: values }] of Object.entries(enumerations)) {
    if (JSON.stringify(schema.enum) !== JSON.stringify(values)) continue;
    delete schema.type;
    delete schema.enum;
    schema.$ref = `#/$defs/${name}`;
  }
}

const isUnlimitedText = ({
  type,
  maxLength,
  enum: values,
  const: constant,
  format,
  pattern,
}: z.core.JSONSchema.BaseSchema) =>
  type === "string" && [maxLength, values, constant, format, pattern].every((limit) => limit === undefined);

function tidyInteger(schema: z.core.JSONSchema.BaseSchema): void {
  const { minimum = Number(schema.exclusiveMinimum ?? Number.MIN_SAFE_INTEGER), maximum = Number.MAX_SAFE_INTEGER } =
    schema;
  schema.format = minimum >= -(2 ** 31) && maximum < 2 ** 31 ? "int32" : "int64";
  if (minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
}

/**
 * Allows additional members in an answer: generated clients must read members that a later version adds. It must be
 * said, because Java's clients take a schema that says nothing as closed. What the members of a map are,
 * `x-additionalProperties` says.
 */
function opened(schema: z.core.JSONSchema.BaseSchema): void {
  if (schema.additionalProperties === undefined) return;
  // Several generators make code of a schema here that does not compile.
  if (typeof schema.additionalProperties === "object") schema["x-additionalProperties"] = schema.additionalProperties;
  schema.additionalProperties = true;
}

/** The example in an operation's input schema: path, query and body members merged. */
export function exampleOf(operation: Operation): JsonObject {
  const example = exampleSchema.safeParse(z.globalRegistry.get(operation.input));
  return example.success ? example.data.example : {};
}

/** Rules of an operation's metadata for its body as a whole. Each of it refuses an empty body. */
interface BodyRules {
  /** JSON Schema keywords. */
  readonly keywords: JsonObject;
  /** Bodies of which exactly one is sent, by schema name: the members that only this one has. They are required. */
  readonly alternatives: Readonly<Record<string, readonly string[]>> | null;
}

/** The rules of an operation's body; null when there are none. */
export function bodyRulesOf(operation: Operation): BodyRules | null {
  const rules = bodyRulesSchema.safeParse(z.globalRegistry.get(operation.input));
  if (!rules.success) return null;
  const { alternatives = null, ...keywords } = rules.data.body;
  return { keywords, alternatives };
}

const bodyRulesSchema = z.object({
  body: z.object({ alternatives: z.record(z.string(), z.array(z.string())).optional() }).catchall(z.json()),
});
const exampleSchema = z.object({ example: z.record(z.string(), z.json()) });
