/**
 * Members of requests and answers, made from the tables of fields (core/order/purchase-order-fields.ts).
 *
 * A request's member is a row with limits, description and example. An answer's member is a schema with the function
 * that makes its value, so that the two cannot differ. Does not own: the fields' limits and what an answer has beside
 * stored fields (purchase-orders/json.ts).
 */
import { z } from "zod";
import type { Json } from "../base/json.ts";
import {
  type Changes,
  type FieldKind,
  type Fields,
  shownValue,
  type ValuesOf,
} from "../core/order/purchase-order-fields.ts";
import { addressSchema, dateSchema, instantSchema, reorderSchema } from "./fields.ts";

// Requests.

/** A field of a request: its limits, its description, and a realistic value for the documents. */
export interface InputField<Value> {
  readonly input: z.ZodType<Value>;
  readonly description?: string;
  readonly example: Json;
}

/** One row for each field. The compiler refuses a table that leaves a field out or has another kind of value. */
export type InputFields<T extends Fields> = { readonly [Name in keyof T]: InputField<NonNullable<ValuesOf<T>[Name]>> };

type OptionalMembers<T extends Readonly<Record<string, InputField<unknown>>>> = {
  readonly [Name in keyof T]: z.ZodOptional<z.ZodNullable<T[Name]["input"]>>;
};

/** The fields as members of a request. Each may be left out; null clears it. */
export function optionalMembers<T extends Readonly<Record<string, InputField<unknown>>>>(
  fields: T,
): OptionalMembers<T> {
  const members: Record<string, z.ZodType> = {};
  for (const [name, { input, description }] of Object.entries(fields)) {
    const member = input.nullable().optional();
    members[name] = description === undefined ? member : member.meta({ description });
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every field of T is a member, made as its type says
  return members as OptionalMembers<T>;
}

/** Members of a request by name, and what they parse to. */
type Members<Values> = z.ZodType<Values> & { readonly shape: Readonly<Record<string, z.ZodType>> };

/**
 * An object of the fields and further members. Null clears a field where null is its empty value.
 *
 * @param form `new`: a field without an empty value must be given, and others that are left out are empty. `changes`:
 *   everything may be left out.
 */
export function fieldObject<T extends Fields>(
  fields: T,
  inputs: InputFields<T>,
  form: "new" | "changes",
  more: Readonly<Record<string, z.ZodType>> = {},
): Members<Changes<T>> {
  const shape: Record<string, z.ZodType> = {};
  for (const name in fields) {
    const { input, description } = inputs[name];
    const empty = fields[name]?.empty;
    const schema: z.ZodType = empty === null ? input.nullable() : input;
    const member = form === "changes" ? schema.optional() : empty === undefined ? schema : schema.default(empty);
    shape[name] = description === undefined ? member : member.meta({ description });
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every field of T is a member, made as its type says
  return z.strictObject({ ...shape, ...more }) as unknown as Members<Changes<T>>;
}

// Answers.

/** A member of an answer: its schema, and its value. */
interface Member<Of> {
  readonly schema: z.ZodType;
  readonly valueOf: (of: Of) => unknown;
}

type AnswerMembers<Of> = Readonly<Record<string, Member<Of>>>;

/** Schemas of the kinds of fields in answers (`shownValue`). */
const schemaByKind = {
  text: z.string(),
  day: dateSchema,
  instant: instantSchema,
  integer: z.int(),
  boolean: z.boolean(),
  quantity: z.number(),
  money: z.number(),
  rate: z.number(),
  rates: z.record(z.string(), z.number()),
  strings: z.array(z.string()),
  address: addressSchema,
  reorder: reorderSchema,
} as const satisfies Record<FieldKind, z.ZodType>;

type FieldMembers<T extends Fields> = {
  readonly [Name in keyof T]: Member<ValuesOf<T>> & {
    readonly schema: T[Name] extends { readonly empty: null }
      ? z.ZodNullable<(typeof schemaByKind)[T[Name]["kind"]]>
      : (typeof schemaByKind)[T[Name]["kind"]];
  };
};

/** The fields as members of an answer. One whose empty value is null may be null. */
export function fieldMembers<T extends Fields>(fields: T): FieldMembers<T> {
  const members: Record<string, Member<ValuesOf<T>>> = {};
  for (const name in fields) {
    const field = fields[name];
    if (field === undefined) continue;
    const { kind, empty } = field;
    const schema = schemaByKind[kind];
    members[name] = {
      schema: empty === null ? schema.nullable() : schema,
      valueOf: (of) => shownValue(kind, of[name]),
    };
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every field of T is a member, made as its type says
  return members as FieldMembers<T>;
}

/** A member of an answer that is not a stored field, or has its own schema. */
export const member = <Of, Schema extends z.ZodType>(schema: Schema, valueOf: (of: Of) => z.output<Schema>) => ({
  schema,
  valueOf,
});

/** The member with a description. */
export const described = <T extends { readonly schema: z.ZodType }>(member: T, description: string): T => ({
  ...member,
  schema: member.schema.meta({ description }),
});

/** The schemas of the members, by name: the shape of an object. */
export function schemasOf<T extends AnswerMembers<never>>(
  members: T,
): { readonly [Name in keyof T]: T[Name]["schema"] } {
  const shape: Record<string, z.ZodType> = {};
  for (const [name, { schema }] of Object.entries(members)) shape[name] = schema;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every member of T is set above
  return shape as { readonly [Name in keyof T]: T[Name]["schema"] };
}

/** A function that makes the object of these members. */
export function renderer<Of, T extends AnswerMembers<Of>>(
  members: T,
): (of: Of) => { readonly [Name in keyof T]: z.output<T[Name]["schema"]> } {
  const list = Object.entries(members).map(([name, { valueOf }]) => ({ name, valueOf }));
  return (of) => {
    // A copy has all names from the start: an object that grows by so many computed names becomes a slow one.
    const answer: Record<string, unknown> = { ...members };
    for (const { name, valueOf } of list) answer[name] = valueOf(of);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every member of T is set above
    return answer as { readonly [Name in keyof T]: z.output<T[Name]["schema"]> };
  };
}
