/** The description of the admin API says what each operation and each parameter is for (C52–C54). */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { z } from "zod";
import { adminOperations } from "../../src/admin/registry.ts";
import { eventTypes } from "../../src/core/events/events.ts";
import { adminPrefix } from "../../src/http/routes.ts";
import { startServer } from "../support/server.ts";

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

test("every route that the admin API serves is in its document, and no other", () => {
  const { paths } = documentSchema.parse(JSON.parse(readFileSync(file, "utf8")));
  const documented = Object.entries(paths).flatMap(([at, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => `${operationId} ${method.toUpperCase()} ${at}`),
  );
  const served = adminOperations.map(
    ({ name, route: { method, path: at } }) => `${name} ${method} ${adminPrefix}${at}`,
  );
  assert.deepEqual(documented.toSorted(), served.toSorted());
});

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

test("every type of event is described in the admin API's document, and openapi.json, from which clients are made, has no webhooks", () => {
  const { webhooks } = z
    .looseObject({ webhooks: z.record(z.string(), z.unknown()) })
    .parse(JSON.parse(readFileSync(file, "utf8")));
  assert.deepEqual(Object.keys(webhooks).toSorted(), [...eventTypes].toSorted());
  const api = JSON.parse(readFileSync(path.join(import.meta.dirname, "../../openapi.json"), "utf8"));
  assert.equal(api.webhooks, undefined);
  for (const name of ["OrderEvent", "ShopEvent"]) assert.equal(api.components.schemas[name], undefined, name);
});

test("the admin API's document is public, the same for everyone, and 304 to whoever has it", async () => {
  await using server = await startServer({ console: true });
  const url = `${server.url}/admin/v1/openapi.json`;
  const first = await fetch(url);
  assert.equal(first.status, 200);
  assert.equal(await first.text(), readFileSync(file, "utf8"));
  const etag = first.headers.get("etag") ?? "";
  const again = await fetch(url, { headers: { "if-none-match": etag, authorization: "Bearer wrong" } });
  assert.equal(again.status, 304);
  assert.equal((await fetch(url, { method: "POST" })).status, 405);
  assert.equal((await fetch(`${server.url}/admin/v1/shops`)).status, 401);
});
