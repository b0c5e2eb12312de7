/** Lists of both APIs and of the tools, without naming any: filters take several values (C13). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { adminOperations } from "../../src/admin/registry.ts";
import { operations } from "../../src/operations/registry.ts";

/** Enumerations of lists that filter nothing, so that there is one of them. */
const noFilters: readonly string[] = [
  // The order of the rows.
  "sort",
  // The date that the range is about.
  "dateField",
  // What the rows stand for.
  "groupBy",
  // Whose history it is, with the id.
  "kind",
];

const inner = (schema: z.core.$ZodType): z.core.$ZodType =>
  schema instanceof z.ZodOptional || schema instanceof z.ZodDefault ? inner(schema.unwrap()) : schema;

const lists = [...operations, ...adminOperations].filter(
  ({ name, route }) => (route === null || route.method === "GET") && /_(?:list|rows|report)$/.test(name),
);

test("every enumeration that filters a list takes several values", () => {
  assert.ok(lists.length > 30, String(lists.length));
  const single = lists.flatMap(({ name, input }) =>
    Object.entries(input.shape).flatMap(([member, schema]) =>
      inner(schema) instanceof z.ZodEnum && !noFilters.includes(member) ? [`${name}: ${member}`] : [],
    ),
  );
  assert.deepEqual(single, []);
});
