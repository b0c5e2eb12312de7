/**
 * Requests drawn from the OpenAPI document: what an operation takes, mostly well-formed, sometimes not, with ids and versions that
 * earlier answers have shown. Knows no operation.
 */
import * as fc from "fast-check";
import { isJsonArray, isJsonObject, type Json, type JsonObject } from "../../src/core/json.ts";

/** Draws a value of an arbitrary; what `fc.gen()` gives a property. */
export type Draw = fc.GeneratorValue;

/** Texts that answers have shown, by the member's name. */
export type Pool = Map<string, string[]>;

const shownMax = 12;
/** Under which names requests call what answers show under another. */
const alias: Readonly<Record<string, string>> = {
  lineItemId: "poLineItemId",
  itemId: "poLineItemId",
  lineItemIds: "poLineItemId",
  variantIds: "variantId",
};

/** Keeps ids and cursors of an answer. */
export function remember(pool: Pool, answer: Json, name = ""): void {
  if (typeof answer === "string" && /(?:Id|cursor)$/.test(name)) {
    const shown = pool.get(name) ?? [];
    if (!shown.includes(answer)) pool.set(name, [answer, ...shown].slice(0, shownMax));
  } else if (isJsonArray(answer)) for (const each of answer) remember(pool, each, name);
  else if (typeof answer === "object" && answer !== null)
    for (const [member, value] of Object.entries(answer)) remember(pool, value, member);
}

export interface FuzzRequest {
  readonly method: string;
  readonly target: string;
  readonly body: Json | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

const object = (value: Json | undefined): JsonObject => (value !== undefined && isJsonObject(value) ? value : {});
const list = (value: Json | undefined): readonly Json[] => (value !== undefined && isJsonArray(value) ? value : []);
const text = (value: Json | undefined): string => (typeof value === "string" ? value : "");

/** How often a value is well-formed, and an optional member there. */
const wellFormed = 0.985;
const optionalThere = 0.3;

/** 0 to max, each as likely: fast-check's own integers favour the ends. */
const even = (max: number): fc.Arbitrary<number> => fc.noBias(fc.integer({ min: 0, max }));

/** A source of requests for one document. */
export function fuzzer(document: JsonObject, pool: Pool, draw: Draw) {
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
    const { type, enum: values, const: constant, anyOf } = schema;
    if (constant !== undefined) return constant;
    if (values !== undefined) return pick(list(values)) ?? null;
    if (anyOf !== undefined) return valueOf(pick(list(anyOf)), name);
    switch (text(type)) {
      case "object":
        return objectOf(schema);
      case "array": {
        const length = 1 + draw(even, 2);
        return Array.from({ length }, () => valueOf(schema["items"], name));
      }
      case "boolean":
        return chance(0.5);
      case "null":
        return null;
      case "integer":
        return pick([0, 1, 2, 20, 50, Number(schema["maximum"] ?? 7), Number(schema["minimum"] ?? 0)]) ?? 1;
      case "number":
        return pick([0, 1, 1, 2, 2.5, 3, 5, 10, 0.001, 0.0001, Number(schema["maximum"] ?? 12)]) ?? 1;
      case "string":
        return textOf(schema, name);
      default:
        return draw(fc.jsonValue, { maxDepth: 2 }) as Json;
    }
  }

  function textOf(schema: JsonObject, name: string): string {
    const shown = pool.get(alias[name] ?? name);
    if (shown !== undefined && chance(0.93)) return pick(shown) ?? "";
    switch (text(schema["format"])) {
      case "date":
        return pick(["2026-03-01", "2024-02-29", "2026-12-31"]) ?? "";
      case "date-time":
        return "2026-03-01T00:00:00Z";
    }
    if (text(schema["pattern"]) !== "") return pick(["EUR", "USD", "JPY", "NL"]) ?? "";
    const maxLength = Math.min(24, Number(schema["maxLength"] ?? 24));
    return draw(fc.string, { minLength: Number(schema["minLength"] ?? 0), maxLength, unit: "grapheme" });
  }

  function objectOf(schema: JsonObject): JsonObject {
    const required = list(schema["required"]);
    const members = Object.entries(object(schema["properties"])).flatMap(([name, member]) =>
      chance(required.includes(name) ? 0.98 : optionalThere) ? [[name, valueOf(member, name)] as const] : [],
    );
    return Object.fromEntries(chance(0.01) ? [...members, ["surprise", 1] as const] : members);
  }

  return {
    next(): FuzzRequest {
      // Writes are the more interesting half.
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
          const value = valueOf(declared["schema"], name);
          target = target.replace(
            `{${name}}`,
            encodeURIComponent(typeof value === "string" && value !== "" ? value : "x"),
          );
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
        method,
        target: query.length === 0 ? target : `${target}?${query.join("&")}`,
        body: body === undefined ? undefined : valueOf(body, ""),
        headers,
      };
    },
  };
}
