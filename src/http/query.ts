/**
 * Query parameters: how they are written, read into values, and written again from values.
 */
import { z } from "zod";
import { isJsonArray, type Json } from "../base/json.ts";

/**
 * Notation of a parameter. Schemas name it as `query` in their metadata; `string` when they do not. Entries of a list
 * are separated by commas, or the parameter is given once for each (C13). The document shows the first form for `list`,
 * the second for `repeatable-list`.
 */
export type QueryKind = "string" | "integer" | "boolean" | "list" | "repeatable-list";

const queryKindSchema = z.object({ query: z.enum(["string", "integer", "boolean", "list", "repeatable-list"]) });

/** The kind that a member's schema names, also below `optional` and `default`. */
export function queryKindOf(schema: z.core.$ZodType): QueryKind {
  const found = queryKindSchema.safeParse(z.globalRegistry.get(schema));
  if (found.success) return found.data.query;
  return schema instanceof z.ZodOptional || schema instanceof z.ZodDefault ? queryKindOf(schema.unwrap()) : "string";
}

/**
 * A query parameter as sent. One that cannot be decoded keeps its escapes, for comparing requests, and is refused
 * later.
 */
export interface QueryParameter {
  readonly name: string;
  readonly value: string;
  readonly decoded: boolean;
}

/** Parameters in the order they were sent; `search` is what follows the question mark. */
export function parseQuery(search: string): readonly QueryParameter[] {
  return search
    .split("&")
    .filter((pair) => pair !== "")
    .map((pair) => {
      const text = pair.replaceAll("+", " ");
      const at = text.indexOf("=");
      const rawName = at === -1 ? text : text.slice(0, at);
      const rawValue = at === -1 ? "" : text.slice(at + 1);
      const name = percentDecoded(rawName);
      const value = percentDecoded(rawValue);
      return { name: name ?? rawName, value: value ?? rawValue, decoded: name !== null && value !== null };
    });
}

/** @returns null for a bad escape or bytes that are not UTF-8. */
export function percentDecoded(text: string): string | null {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** The value of a parameter that was given at least once, or what is wrong with it. */
export function parameterValue(
  kind: QueryKind,
  sent: readonly QueryParameter[],
): { readonly value: Json } | { readonly fault: string } {
  const isList = kind === "list" || kind === "repeatable-list";
  if (sent.length > 1 && !isList) return { fault: "given more than once" };
  if (sent.some(({ value, decoded }) => !decoded || value.includes("\0"))) return { fault: "has a bad percent-escape" };
  const values = sent.map(({ value }) => value);
  const [value = ""] = values;
  switch (kind) {
    case "string":
      return { value };
    case "integer":
      return integerFrom(value);
    case "boolean":
      return value === "true" || value === "false" ? { value: value === "true" } : { fault: "must be true or false" };
    case "list":
    case "repeatable-list":
      return values.includes("")
        ? { fault: "must not be empty" }
        : { value: values.flatMap((list) => list.split(",")) };
  }
}

/** An integer that a double holds exactly: up to 2^53 − 1. */
function integerFrom(text: string): { readonly value: number } | { readonly fault: string } {
  if (!/^-?(?:0|[1-9]\d*)$/.test(text)) return { fault: "must be an integer" };
  const value = Number(text);
  return Number.isSafeInteger(value) ? { value } : { fault: `must be at most ${Number.MAX_SAFE_INTEGER}` };
}

/** A value as parameters carry it: one text, or one for each entry of a list that may be repeated. */
export function parameterTexts(kind: QueryKind, value: Json): readonly string[] {
  return kind === "repeatable-list" && isJsonArray(value) ? value.map(parameterText) : [parameterText(value)];
}

const parameterText = (value: Json): string =>
  typeof value === "string" ? value : isJsonArray(value) ? value.map(parameterText).join(",") : JSON.stringify(value);
