/** The description of the admin API says what each operation and each parameter is for (C52–C54). */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { z } from "zod";

const described = z.looseObject({ description: z.string().optional() });

const documentSchema = z.looseObject({
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.looseObject({
        operationId: z.string(),
        summary: z.string(),
        description: z.string(),
        parameters: z.array(z.looseObject({ name: z.string(), description: z.string().optional(), schema: described })),
      }),
    ),
  ),
});

const file = path.join(import.meta.dirname, "../../admin-openapi.json");

test("every operation of the admin API and each of its parameters is described", () => {
  const { paths } = documentSchema.parse(JSON.parse(readFileSync(file, "utf8")));
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  const missing = operations.flatMap(({ operationId, description, summary, parameters }) => [
    ...(description === summary || description.length < 20 ? [operationId] : []),
    ...parameters
      .filter((parameter) => (parameter.description ?? parameter.schema.description ?? "") === "")
      .map(({ name }) => `${operationId}: ${name}`),
  ]);
  assert.ok(operations.length > 30, `only ${operations.length} operations are described`);
  assert.deepEqual(missing, []);
});
