import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { openApiDocument } from "../../src/http/openapi.ts";
import { bindingOf, createRoutes, parseQuery } from "../../src/http/routes.ts";
import { type Operation, operation } from "../../src/operations/operation.ts";

const made = (name: string, path: string, method: "GET" | "POST" = "GET", input = z.strictObject({})): Operation =>
  operation({
    name,
    title: name,
    summary: name,
    description: name,
    tag: "Test",
    scope: method === "GET" ? "read" : "write",
    route: { method, path },
    success: 200,
    repeat: "read",
    destructive: false,
    faults: [],
    input,
    output: z.strictObject({}),
    run: () => Promise.resolve({ data: {} }),
  });

const nameAt = (operations: readonly Operation[], path: string, method = "GET"): string | undefined =>
  createRoutes(operations)(path)?.bindings.get(method)?.operation.name;

test("a literal path is found before one with a parameter, in whatever order they are registered", () => {
  const one = made("one_get", "/things/{thingId}");
  const reasons = made("reason_list", "/things/reasons");
  for (const operations of [
    [one, reasons],
    [reasons, one],
  ]) {
    assert.equal(nameAt(operations, "/api/v1/things/reasons"), "reason_list");
    assert.equal(nameAt(operations, "/api/v1/things/other"), "one_get");
  }
});

test("two operations on one route are a mistake, also when they name its parameter differently", () => {
  assert.throws(() => createRoutes([made("a_get", "/things/{thingId}"), made("b_get", "/things/{id}")]), /b_get/);
  assert.equal(
    nameAt([made("a_get", "/things"), made("a_make", "/things", "POST")], "/api/v1/things", "POST"),
    "a_make",
  );
});

test("members of an input come from path, query or body; the query kind is seen through optional and default", () => {
  const input = z.strictObject({
    thingId: z.string(),
    limit: z.int().meta({ query: "integer" }).optional(),
    all: z.boolean().default(false).meta({ query: "boolean" }),
    search: z.string(),
  });
  const read = bindingOf(made("thing_list", "/things/{thingId}/parts", "GET", input));
  assert.deepEqual(read.path, ["thingId"]);
  assert.deepEqual(
    [...read.query],
    [
      ["limit", "integer"],
      ["all", "boolean"],
      ["search", "string"],
    ],
  );
  assert.deepEqual(read.body, []);
  const write = bindingOf(made("thing_make", "/things/{thingId}/parts", "POST", input));
  assert.deepEqual([...write.query.keys()], []);
  assert.deepEqual(write.body, ["limit", "all", "search"]);
});

test("a query is decoded as forms spell it; what cannot be is kept and marked", () => {
  assert.deepEqual(parseQuery(""), []);
  assert.deepEqual(parseQuery("a=1&&b&c=x+%26%3D=y&a=%zz"), [
    { name: "a", value: "1", decoded: true },
    { name: "b", value: "", decoded: true },
    { name: "c", value: "x &==y", decoded: true },
    { name: "a", value: "%zz", decoded: false },
  ]);
});

test("the document refuses two different schemas under one name, and one without", () => {
  const named = (schema: z.ZodType) => ({ ...made("thing_get", "/things"), output: z.strictObject({ part: schema }) });
  const part = z.strictObject({ a: z.string() }).meta({ id: "TestPartOne" });
  assert.ok(openApiDocument([named(part)]));
  assert.throws(() => openApiDocument([named(z.json())]), /needs an id/);
});
