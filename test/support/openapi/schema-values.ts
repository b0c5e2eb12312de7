/**
 * Values drawn from zod schemas: a distinct one for every member, so that a value read back shows which member it was sent as. A new
 * member of a schema needs no change here as long as its type is known; otherwise drawing it throws.
 */
import { z } from "zod";
import { isJsonArray, isJsonObject, type Json, type JsonObject } from "../../../src/base/json.ts";

export type Schema = z.core.$ZodType;
export type Members = ReadonlyMap<string, Schema>;

const kindOf = (schema: Schema): string => (schema instanceof z.ZodType ? schema.def.type : "schema");

/** The schema inside a wrapper (optional, nullable, default, transform); null if it is no wrapper. */
function innerOf(schema: Schema): Schema | null {
  if (schema instanceof z.ZodPipe) return schema.def.in;
  return schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodReadonly
    ? schema.def.innerType
    : null;
}

/** The schema without its wrappers. */
function unwrapped(schema: Schema): Schema {
  const inner = innerOf(schema);
  return inner === null ? schema : unwrapped(inner);
}

/** The schema's default. */
function usualOf(schema: Schema): unknown {
  if (schema instanceof z.ZodDefault) return schema.def.defaultValue;
  const inner = innerOf(schema);
  return inner === null ? undefined : usualOf(inner);
}

/** The members that an object's schema accepts. Members of type never are left out: they exist for their error message only. */
export function membersOf(schema: Schema): Members {
  const object = unwrapped(schema);
  if (!(object instanceof z.ZodObject)) throw new TypeError(`no object: ${kindOf(object)}`);
  return new Map(Object.entries(object.def.shape).filter(([, member]) => !(unwrapped(member) instanceof z.ZodNever)));
}

/** The schema of an array's entries. */
export function entryOf(schema: Schema | undefined): Schema {
  const array = schema === undefined ? undefined : unwrapped(schema);
  if (array instanceof z.ZodArray) return array.def.element;
  throw new TypeError(`no array: ${array === undefined ? "nothing" : kindOf(array)}`);
}

export const takesNull = (schema: Schema): boolean => z.safeParse(schema, null).success;

interface ValueOptions {
  /** Values for members of these names, used in turn: ids that the shop knows. */
  readonly known: Readonly<Record<string, readonly Json[]>>;
  /** Added to numbers of these names, so that rules between members hold. */
  readonly raised: Readonly<Record<string, number>>;
  /** Currencies that the shop has rates for. */
  readonly currencies: readonly string[];
  /** The schema of members that are accepted and computed anew. They get `nonsense`. */
  readonly derived: Schema | null;
}

/** The value of derived members; it must never come back. */
export const nonsense = "to be computed anew";

interface Values {
  /** A value with every member present. `path` names it in failures; its last step is the member's name. */
  of(schema: Schema, path: string): Json;
  ofMembers(members: Members, path: string): JsonObject;
}

const dayMs = 86_400_000;
const firstMs = Date.parse("2027-01-01T09:00:00.123Z");
const countries = ["NL", "DE", "SE", "GB", "US", "FR"];
/** Decimals of numbers. The longest that a schema accepts is used, so that lost decimals show. */
const fractions = [".1234567891", ".1237", ".123", ""];

const nameOf = (path: string): string => path.replaceAll(/\[\d*\]/g, "").replace(/^.*\./, "");
const withoutIndexes = (path: string): string => path.replaceAll(/\[\d+\]/g, "[]");

export function createValues({ known, raised, currencies, derived }: ValueOptions): Values {
  /** Values drawn so far; part of each value, which makes it unique. */
  let drawn = 0;
  const turns = new Map<string, number>();
  /** The next of these values for this place. */
  function serially<T>(where: string, values: readonly T[]): T {
    const turn = turns.get(where) ?? 0;
    turns.set(where, turn + 1);
    const value = values[turn % values.length];
    if (value === undefined) throw new RangeError(`${where}: no values to draw from`);
    return value;
  }

  const texts = (name: string): readonly string[] => {
    const at = new Date(firstMs + drawn * dayMs).toISOString();
    return [
      `${name} ${drawn} ß%'"`,
      at.slice(0, "YYYY-MM-DD".length),
      at,
      serially("currencies", currencies),
      serially("countries", countries),
      `orders${drawn}@example.com; Depot <depot@example.com>`,
      `https://example.com/${drawn}.jpg`,
    ];
  };
  /** A large number with too many decimals stands for one with fewer (C14), so decimals are tried on a small one. */
  const numbers = (name: string, outer: Schema): readonly number[] => [
    ...fractions
      .filter((fraction) => fraction === "" || z.safeParse(outer, Number(`3${fraction}`)).success)
      .map((fraction) => Number(`${(raised[name] ?? 0) + drawn}${fraction}`)),
    1 + (drawn % 9),
    2 + (drawn % 9),
  ];

  function of(schema: Schema, path: string): Json {
    if (schema === derived) return nonsense;
    const plain = unwrapped(schema);
    const ids = known[nameOf(path)];
    return ids !== undefined && plain instanceof z.core.$ZodString
      ? serially(nameOf(path), ids)
      : drawnFrom(plain, path, schema);
  }

  /** @param outer the schema with its wrappers; it must accept the value. */
  function drawnFrom(schema: Schema, path: string, outer: Schema): Json {
    const where = withoutIndexes(path);
    const usual = usualOf(outer);
    if (schema instanceof z.ZodObject) return ofMembers(membersOf(schema), path);
    if (schema instanceof z.ZodArray) {
      const entry = unwrapped(schema.def.element);
      if (entry instanceof z.ZodEnum) return Object.values(entry.def.entries);
      return [0, 1].map((index) => of(schema.def.element, `${path}[${index}]`));
    }
    if (schema instanceof z.ZodUnion) return of(serially(`${where} as`, schema.def.options), path);
    if (schema instanceof z.ZodBoolean) return serially(where, [usual !== true, usual === true]);
    if (schema instanceof z.ZodEnum) {
      const values = Object.values(schema.def.entries);
      return serially(where, [...values.filter((each) => each !== usual), ...values.filter((each) => each === usual)]);
    }
    drawn += 1;
    const found = candidates(schema, nameOf(path), outer).find(
      (each) => each !== usual && z.safeParse(outer, each).success,
    );
    if (found !== undefined) return found;
    throw new Error(
      `${path}: no known value fits this ${kindOf(schema)}. Add one to candidates() in test/support/openapi/schema-values.ts.`,
    );
  }

  function candidates(schema: Schema, name: string, outer: Schema): readonly Json[] {
    if (schema instanceof z.core.$ZodString) return texts(name);
    if (schema instanceof z.ZodNumber) return numbers(name, outer);
    if (schema instanceof z.ZodRecord) return [{ CHF: drawn / 1_000, SEK: 0.1 }];
    if (schema instanceof z.ZodLiteral) return JSON.parse(JSON.stringify(schema.def.values));
    if (schema instanceof z.ZodUnknown) return [{ [`${name} ${drawn}`]: [drawn, null, true, "ß"] }];
    return [];
  }

  const ofMembers: Values["ofMembers"] = (members, path) =>
    Object.fromEntries([...members].map(([name, member]) => [name, of(member, `${path}.${name}`)]));

  return { of, ofMembers };
}

/** The value with null, or an empty list of scalars, wherever its schema allows it; members in `kept` stay. */
export function emptied(
  schema: Schema,
  value: Json,
  options: { readonly kept?: readonly string[]; readonly derived?: Schema | null } = {},
): Json {
  const plain = unwrapped(schema);
  if (isJsonArray(value) && plain instanceof z.ZodArray) {
    if (value.some(isJsonObject)) return value.map((entry) => emptied(plain.def.element, entry, options));
    return z.safeParse(schema, []).success ? [] : value;
  }
  if (!isJsonObject(value) || !(plain instanceof z.ZodObject)) return value;
  const { kept = [], derived = null } = options;
  const members = membersOf(plain);
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, given]): readonly (readonly [string, Json])[] => {
      const member = members.get(name);
      if (member === undefined || member === derived) return [];
      return [[name, kept.includes(name) ? given : takesNull(member) ? null : emptied(member, given, options)]];
    }),
  );
}

/** Entries of two lists in pairs: by a distinct id, since not every list keeps its order, else by position. */
function paired(given: readonly Json[], shown: readonly Json[]): readonly (readonly [Json, Json | undefined])[] {
  const ids = (entries: readonly Json[], name: string): readonly Json[] =>
    entries.flatMap((entry) => (isJsonObject(entry) ? (entry[name] ?? []) : []));
  const [first] = given;
  const name = (first !== undefined && isJsonObject(first) ? Object.keys(first) : []).find(
    (each) => each.endsWith("Id") && new Set(ids(given, each)).size === given.length,
  );
  if (name === undefined) return given.map((entry, index) => [entry, shown[index]]);
  const shownIds = ids(shown, name);
  return ids(given, name).map((id, index) => [given[index] ?? null, shown[shownIds.indexOf(id)]]);
}

/** One line for each place where `shown` differs from `given`. Members that only `shown` has are ignored. */
export function differences(given: Json, shown: Json | undefined, path: string): readonly string[] {
  if (given === nonsense) return shown === nonsense ? [`${path}: was stored as sent instead of computed`] : [];
  if (shown !== undefined && isJsonObject(given) && isJsonObject(shown))
    return Object.entries(given).flatMap(([name, value]) => differences(value, shown[name], `${path}.${name}`));
  if (shown !== undefined && isJsonArray(given) && isJsonArray(shown) && given.length === shown.length)
    return paired(given, shown).flatMap(([value, found], index) => differences(value, found, `${path}[${index}]`));
  return given === shown ? [] : [`${path}: is ${JSON.stringify(shown)}, should be ${JSON.stringify(given)}`];
}

const isNothing = (value: Json): boolean => value === null || (isJsonArray(value) && value.length === 0);

/** Paths of members of an answer's schema that are null, absent or an empty list in all of these answers. */
export function neverGiven(schema: Schema, answers: readonly Json[], path: string): readonly string[] {
  const there = answers.filter((answer) => !isNothing(answer));
  if (there.length === 0) return [path];
  const plain = unwrapped(schema);
  if (plain instanceof z.ZodArray) {
    const entries = there.flatMap((answer) => (isJsonArray(answer) ? answer : []));
    return neverGiven(plain.def.element, entries, `${path}[]`);
  }
  if (!(plain instanceof z.ZodObject)) return [];
  return [...membersOf(plain)].flatMap(([name, member]) => {
    const values = there.flatMap((answer) => {
      const value = isJsonObject(answer) ? answer[name] : undefined;
      return value === undefined ? [] : [value];
    });
    return neverGiven(member, values, `${path}.${name}`);
  });
}

/** Each text that a schema takes, with its place: `lines[].note`. Texts inside a union are each of its own. */
export function* stringsOf(schema: Schema, path = ""): Generator<{ readonly path: string; readonly schema: Schema }> {
  const inner = unwrapped(schema);
  const inside = (name: string): string => (path === "" ? name : `${path}.${name}`);
  if (inner instanceof z.ZodString) yield { path, schema: inner };
  else if (inner instanceof z.ZodObject)
    for (const [name, member] of Object.entries(inner.def.shape)) yield* stringsOf(member, inside(name));
  else if (inner instanceof z.ZodArray) yield* stringsOf(inner.def.element, `${path}[]`);
  else if (inner instanceof z.ZodUnion) for (const option of inner.def.options) yield* stringsOf(option, path);
  else if (inner instanceof z.ZodRecord) yield* stringsOf(inner.def.keyType, inside("{key}"));
}
