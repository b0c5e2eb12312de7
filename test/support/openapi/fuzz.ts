/**
 * Generates random requests from the OpenAPI document: mostly valid input, sometimes invalid, with ids and versions from earlier
 * answers. Has no knowledge of single operations.
 */
import * as fc from "fast-check";
import { isJsonArray, isJsonObject, type Json, type JsonObject } from "../../../src/base/json.ts";

/** Draws a value of an arbitrary, as `fc.gen()` does in a property. */
type Draw = fc.GeneratorValue;

/** Strings seen in answers, by member name; lines also by their order (`linesOf`). */
export type Pool = Map<string, string[]>;

/** The pool's key for the lines of an order. */
const linesOf = (purchaseOrderId: string): string => `lines of ${purchaseOrderId}`;

const shownMax = 12;
/** Texts that have a pattern: codes of currencies and countries, days and instants. */
const patterned = ["EUR", "USD", "JPY", "NL", "2026-03-01", "2024-02-29", "2026-12-31", "2026-03-01T00:00:00Z"];
/** Members that have different names in requests and in answers. */
const alias: Readonly<Record<string, string>> = {
  lineItemId: "poLineItemId",
  itemId: "poLineItemId",
  lineItemIds: "poLineItemId",
  variantIds: "variantId",
};

/** Adds ids and cursors of an answer to the pool; `orderId` is the order that contains them. */
export function remember(pool: Pool, answer: Json, name = "", orderId: string | null = null): void {
  const keep = (key: string, shown: string): void => {
    const before = pool.get(key) ?? [];
    if (!before.includes(shown)) pool.set(key, [shown, ...before].slice(0, shownMax));
  };
  if (typeof answer === "string" && /(?:Id|cursor)$/.test(name)) {
    keep(name, answer);
    if (name === "poLineItemId" && orderId !== null) keep(linesOf(orderId), answer);
  } else if (isJsonArray(answer)) for (const each of answer) remember(pool, each, name, orderId);
  else if (typeof answer === "object" && answer !== null) {
    const inner = "purchaseOrderId" in answer ? text(answer["purchaseOrderId"]) : orderId;
    for (const [member, value] of Object.entries(answer)) remember(pool, value, member, inner);
  }
}

interface FuzzRequest {
  /** Its `operationId`. */
  readonly operation: string;
  readonly method: string;
  readonly target: string;
  readonly body: Json | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

const object = (value: Json | undefined): JsonObject => (value !== undefined && isJsonObject(value) ? value : {});
const list = (value: Json | undefined): readonly Json[] => (value !== undefined && isJsonArray(value) ? value : []);
const text = (value: Json | undefined): string => (typeof value === "string" ? value : "");

/** Probabilities: that a value is valid, and that an optional member is present. */
const wellFormed = 0.985;
const optionalThere = 0.3;

/** 0 to max with equal probability; fast-check's own integers favour the ends. */
const even = (max: number): fc.Arbitrary<number> => fc.noBias(fc.integer({ min: 0, max }));

/** Drops entries that name the same thing as an earlier entry. */
const unrepeated = (entries: readonly Json[]): readonly Json[] => [
  ...new Map(
    entries.map((entry, index) => {
      const { lineItemId, itemId } = object(entry);
      return [typeof entry === "string" ? entry : (lineItemId ?? itemId ?? index), entry];
    }),
  ).values(),
];

/** Makes a generator of requests for one document. */
export function fuzzer(document: JsonObject, pool: Pool, draw: Draw) {
  /** The order of the current request. */
  let orderId = "";
  const chance = (probability: number): boolean => draw(even, 9_999) < probability * 10_000;
  const pick = <T>(values: readonly T[]): T | undefined =>
    values[values.length === 0 ? 0 : draw(even, values.length - 1)];

  const operations = Object.entries(object(document["paths"])).flatMap(([path, methods]) =>
    Object.entries(object(methods)).map(([method, entry]) => ({
      path,
      method: method.toUpperCase(),
      entry: object(entry),
    })),
  );

  function resolved(schema: Json | undefined): JsonObject {
    const reference = object(schema)["$ref"];
    if (typeof reference !== "string") return object(schema);
    let found: Json | undefined = document;
    for (const step of reference.slice(2).split("/")) found = object(found)[step];
    return resolved(found);
  }

  function valueOf(declared: Json | undefined, name: string): Json {
    const schema = resolved(declared);
    if (!chance(wellFormed)) return pick<Json>([null, true, -1, 1.23456, 1e15, "", "x", [], {}, "\u0000", " "]) ?? null;
    const { type, enum: values, const: constant, anyOf, oneOf } = schema;
    if (constant !== undefined) return constant;
    if (values !== undefined) return pick(list(values)) ?? null;
    const alternatives = anyOf ?? oneOf;
    if (alternatives !== undefined) return valueOf(pick(list(alternatives)), name);
    switch (text(type)) {
      case "object":
        return objectOf(schema);
      case "array": {
        const length = 1 + draw(even, 2);
        const entries = Array.from({ length }, () => valueOf(schema["items"], name));
        return chance(wellFormed) ? unrepeated(entries) : entries;
      }
      case "boolean":
        return chance(0.5);
      case "null":
        return null;
      case "integer":
        return pick([0, 1, 2, 20, 50, Number(schema["maximum"] ?? 7), Number(schema["minimum"] ?? 0)]) ?? 1;
      case "number":
        return chance(0.95)
          ? (pick([0, 1, 1, 2, 2.5, 3, 5]) ?? 1)
          : (pick([10, 0.001, 0.0001, Number(schema["maximum"] ?? 12)]) ?? 1);
      case "string":
        return textOf(schema, name);
      default:
        return draw(fc.jsonValue, { maxDepth: 2 }) as Json;
    }
  }

  function textOf(schema: JsonObject, name: string): string {
    const known = alias[name] ?? name;
    const own = known === "poLineItemId" && chance(0.97) ? pool.get(linesOf(orderId)) : undefined;
    const shown = own ?? pool.get(known);
    if (shown !== undefined && chance(0.93)) return pick(shown) ?? "";
    switch (text(schema["format"])) {
      case "date":
        return pick(["2026-03-01", "2024-02-29", "2026-12-31"]) ?? "";
      case "date-time":
        return "2026-03-01T00:00:00Z";
    }
    if (text(schema["pattern"]) !== "") {
      const pattern = new RegExp(text(schema["pattern"]));
      return pick(patterned.filter((each) => pattern.test(each))) ?? "";
    }
    const maxLength = Math.min(24, Number(schema["maxLength"] ?? 24));
    return draw(fc.string, { minLength: Number(schema["minLength"] ?? 0), maxLength, unit: "grapheme" });
  }

  function objectOf(schema: JsonObject): JsonObject {
    const required = list(schema["required"]);
    const probability = (name: string): number => (required.includes(name) ? 0.98 : optionalThere);
    const members = Object.entries(object(schema["properties"])).flatMap(([name, member]) =>
      chance(probability(name)) ? [[name, valueOf(member, name)] as const] : [],
    );
    return Object.fromEntries(chance(0.01) ? [...members, ["surprise", 1] as const] : members);
  }

  return {
    next(): FuzzRequest {
      // Writes are chosen more often: they change the state.
      const half = operations.filter(({ method }) => (method === "GET") === chance(0.35));
      const { path, method, entry } = pick(half.length === 0 ? operations : half) ?? {
        path: "/",
        method: "GET",
        entry: {},
      };
      const query: string[] = [];
      const headers: Record<string, string> = {};
      let target = path;
      for (const declared of list(entry["parameters"]).map(object)) {
        const name = text(declared["name"]);
        if (declared["in"] === "path") {
          const value = text(valueOf(declared["schema"], name)) || "x";
          orderId = value;
          target = target.replace(`{${name}}`, encodeURIComponent(value));
        } else if (declared["in"] === "query" && chance(declared["required"] === true ? 0.98 : 0.15)) {
          const value = valueOf(declared["schema"], name);
          const spelled = isJsonArray(value)
            ? value.map((each) => (typeof each === "string" ? each : JSON.stringify(each))).join(",")
            : typeof value === "string"
              ? value
              : JSON.stringify(value);
          query.push(`${name}=${encodeURIComponent(spelled)}`);
        }
      }
      if (method !== "GET" && chance(0.3)) headers["Idempotency-Key"] = `fuzz-${draw(even, 40)}`;
      if (method !== "GET" && chance(0.05)) headers["If-Match"] = `"${1 + draw(even, 4)}"`;
      const body = object(object(object(entry["requestBody"])["content"])["application/json"])["schema"];
      return {
        operation: text(entry["operationId"]),
        method,
        target: query.length === 0 ? target : `${target}?${query.join("&")}`,
        body: body === undefined ? undefined : valueOf(body, ""),
        headers,
      };
    },
  };
}
