/**
 * zod schemas as JSON Schema for the OpenAPI document, and the metadata that they carry for it.
 */
import { z } from "zod";
import type { Json, JsonObject } from "../core/json.ts";
import type { Operation } from "../operations/operation.ts";
import { itemsMax, textLengthMax } from "./openapi-components.ts";

/** An RFC 3339 instant with an offset and nanoseconds. */
const dateTimeLengthMax = 40;

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
    override: ({ jsonSchema }) => tidy(jsonSchema),
  });
  const plain: JsonObject = JSON.parse(JSON.stringify(generated).replaceAll('"#/$defs/', '"#/components/schemas/'));
  const { $schema: _, $defs = {}, ...rest } = plain;
  for (const [name, part] of Object.entries($defs ?? {})) {
    if (name.startsWith("__")) throw new Error("a schema that contains itself needs an id");
    const before = schemas[name];
    if (before !== undefined && JSON.stringify(before) !== JSON.stringify(part))
      throw new Error(`two different schemas are named ${name}`);
    schemas[name] = part;
  }
  return rest;
}

/** Removes our own metadata and what is said twice, and gives every text, list and integer its bounds. */
function tidy(schema: z.core.JSONSchema.BaseSchema): void {
  delete schema["query"];
  delete schema["body"];
  delete schema.id;
  if (schema.format === "date" || schema.format === "date-time") delete schema.pattern;
  if (schema.type === "string" && schema.enum === undefined && schema.const === undefined)
    schema.maxLength ??=
      schema.format === "date" ? 10 : schema.format === "date-time" ? dateTimeLengthMax : textLengthMax;
  if (schema.type === "array") schema.maxItems ??= itemsMax;
  // A member that is named only to be refused with a message of its own: the closed object refuses it anyway.
  for (const [name, member] of Object.entries(schema.properties ?? {}))
    if (typeof member === "object" && member.not !== undefined) delete schema.properties?.[name];
  if (schema.type === "integer") {
    schema.minimum ??= Number(schema.exclusiveMinimum ?? Number.MIN_SAFE_INTEGER);
    schema.maximum ??= Number.MAX_SAFE_INTEGER;
    schema.format = schema.minimum >= -(2 ** 31) && schema.maximum < 2 ** 31 ? "int32" : "int64";
  }
  if (schema["example"] === undefined) return;
  schema.examples = [schema["example"]];
  delete schema["example"];
}

/** The example in an operation's input schema: path, query and body members merged. */
export function exampleOf(operation: Operation): JsonObject {
  const example = exampleSchema.safeParse(z.globalRegistry.get(operation.input));
  return example.success ? example.data.example : {};
}

/** JSON Schema keywords for the whole body, which refuse an empty one; null when there are none. */
export function bodyRulesOf(operation: Operation): JsonObject | null {
  const rules = bodyRulesSchema.safeParse(z.globalRegistry.get(operation.input));
  return rules.success ? rules.data.body : null;
}

const bodyRulesSchema = z.object({ body: z.record(z.string(), z.json()) });
const exampleSchema = z.object({ example: z.record(z.string(), z.json()) });
