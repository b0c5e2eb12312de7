/**
 * Schemas as agents read them: short, because a client gives every tool's schema to the model with each request (C69).
 *
 * Left out is what the service refuses with a message of its own: lengths, patterns, bounds. Kept are names, types,
 * enumerations, what is required, that nothing else is taken, defaults, and descriptions where a name does not say it
 * all.
 */
import type { JSONObject, JSONValue } from "@modelcontextprotocol/server";
import { z } from "zod";
import { worded } from "../requests/wording.ts";
import type { Operation } from "../requests/operation.ts";
import { agentName } from "./names.ts";

/** Larger bounds are left out: a model does not come near them. */
const maximumShownMax = 500;

/** The schema of a tool's arguments. */
export const argumentsSchemaOf = ({ input }: Pick<Operation, "input">): JSONObject => shortSchema(input, "input");

/**
 * The schema of a tool's answer: names and types. Nothing is required, because clients hold an error body to it, too.
 */
export const answerSchemaOf = ({ output }: Pick<Operation, "output">): JSONObject => shortSchema(output, "output");

function shortSchema(schema: z.ZodType, io: Context["io"]): JSONObject {
  const generated = z.toJSONSchema(schema, { io, unrepresentable: "any" });
  const { $defs, ...root }: JSONObject = JSON.parse(JSON.stringify(generated));
  return shortened(root, { io, parts: asObject($defs), shownAt: new Map() }, "");
}

interface Context {
  readonly io: "input" | "output";
  /**
   * The named parts. Each is written out where it is used first; there is no `$ref`, which not every client follows.
   */
  readonly parts: JSONObject;
  /** The member at which each named part has been written out. */
  readonly shownAt: Map<string, string>;
}

const isObject = (value: JSONValue | undefined): value is JSONObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The value if it is an object, else an empty one. */
export const asObject = (value: JSONValue | undefined): JSONObject => (isObject(value) ? value : {});

/** The objects of a list; none when it is no list. */
export const objectsIn = (value: JSONValue | undefined): readonly JSONObject[] =>
  Array.isArray(value) ? value.filter((entry) => isObject(entry)) : [];

const partName = "#/$defs/";

/** @param name the member that has the schema. */
function shortened(schema: JSONObject, context: Context, name: string): JSONObject {
  const { $ref, ...own } = schema;
  if (typeof $ref === "string") return partShown($ref.slice(partName.length), own, context, name);
  const { anyOf, ...single } = schema;
  if (anyOf !== undefined) return alternatives(objectsIn(anyOf), single, context, name);
  const { io } = context;
  const {
    type,
    format,
    enum: values,
    const: only,
    maximum,
    default: preset,
    items,
    additionalProperties: further,
  } = schema;
  const description = descriptionOf(schema, context);
  const { properties, required } = membersOf(schema, context);
  return {
    ...(type === undefined || (io === "input" && values !== undefined) ? {} : { type }),
    ...(description === null ? {} : { description }),
    ...(io === "input" && format === "date" ? { format } : {}),
    ...(Array.isArray(values) && io === "input" ? { enum: values } : {}),
    ...(only === undefined ? {} : { const: only }),
    ...(typeof maximum === "number" && maximum <= maximumShownMax && maximum !== preset ? { maximum } : {}),
    ...(preset === undefined || preset === null || io === "output" ? {} : { default: preset }),
    ...(isObject(items) ? { items: shortened(items, context, name) } : {}),
    ...(properties === null ? {} : { properties }),
    ...(io === "input" && further === false && properties !== null ? { additionalProperties: false } : {}),
    ...(io === "output" && isObject(further) && properties !== null ? { additionalProperties: {} } : {}),
    ...(required.length === 0 ? {} : { required }),
  };
}

function partShown(part: string, own: JSONObject, context: Context, name: string): JSONObject {
  const before = context.shownAt.get(part);
  const { type = "object", ...whole } = asObject(context.parts[part]);
  if (before !== undefined) return { type, ...(context.io === "input" ? { description: `As ${before}.` } : {}) };
  context.shownAt.set(part, name);
  return shortened({ type, ...whole, ...own }, context, name);
}

/** The text for agents; null when there is none, or none is wanted. */
function descriptionOf({ description }: JSONObject, { io }: Context): string | null {
  if (io === "output" || typeof description !== "string") return null;
  const text = worded(description, "mcp");
  return text === "" ? null : text;
}

/**
 * The members of an object, unless its description names them. One that exists only to be refused with a message of
 * its own is not offered.
 */
function membersOf(
  { properties, required, namesMembers }: JSONObject,
  context: Context,
): { readonly properties: JSONObject | null; readonly required: JSONValue[] } {
  if (!isObject(properties) || namesMembers === true) return { properties: null, required: [] };
  const offered = Object.entries(properties).filter(([, member]) => isObject(member) && member["not"] === undefined);
  return {
    properties: Object.fromEntries(
      offered.map(([name, member]) => [agentName(name), shortened(asObject(member), context, name)]),
    ),
    required:
      context.io === "input" && Array.isArray(required)
        ? required.map((name) => (typeof name === "string" ? agentName(name) : name))
        : [],
  };
}

/** Several schemas of which one holds: types side by side where that says the same. */
function alternatives(schemas: readonly JSONObject[], own: JSONObject, context: Context, name: string): JSONObject {
  const merged = schemas.map((schema) => shortened({ ...schema, ...own }, context, name));
  const [first = {}, ...others] = merged.filter(({ type }) => type !== "null");
  // A default of null says that null is the same as leaving it out.
  const isNullable = own["default"] !== null && merged.some(({ type }) => type === "null");
  const { type, enum: values } = first;
  if (Array.isArray(values) && others.length === 0 && isNullable) return { ...first, enum: [...values, null] };
  const isOneType = others.every((other) => other["type"] === type);
  if (!isOneType || type === undefined) return { anyOf: [...merged] };
  const { format: _, ...withoutFormat } = first;
  return { ...(others.length === 0 ? first : withoutFormat), type: isNullable ? [type, "null"] : type };
}
