import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { Fault } from "../../src/base/fault.ts";
import { openApiDocument } from "../../src/http/openapi/openapi.ts";
import { parseQuery } from "../../src/http/query.ts";
import {
  apiPrefix,
  assemble,
  bindingFor,
  bindingOf,
  createRoutes,
  methodsOf,
  spellRequest,
} from "../../src/http/routes.ts";
import { operation, type RestOperation } from "../../src/requests/operation.ts";

const made = (
  name: string,
  path: string,
  method: "GET" | "POST" = "GET",
  input = z.strictObject({}),
): RestOperation => ({
  ...operation({
    name,
    title: name,
    summary: name,
    description: name,
    tag: "Test",
    toolSets: ["stock"],
    scope: method === "GET" ? "read" : "write",
    route: { method, path },
    success: 200,
    repeat: "read",
    destructive: false,
    faults: [],
    input,
    output: z.strictObject({}),
    run: () => Promise.resolve({ data: {} }),
  }),
  route: { method, path },
});

const nameAt = (operations: readonly RestOperation[], path: string, method = "GET"): string | undefined =>
  createRoutes(apiPrefix, operations)(path)?.bindings.get(method)?.operation.name;

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
  assert.throws(
    () => createRoutes(apiPrefix, [made("a_get", "/things/{thingId}"), made("b_get", "/things/{id}")]),
    /b_get/,
  );
  assert.equal(
    nameAt([made("a_get", "/things"), made("a_make", "/things", "POST")], "/api/v1/things", "POST"),
    "a_make",
  );
});

test("a path is known only as it is written, and its parameters are decoded", () => {
  const match = createRoutes(apiPrefix, [
    made("thing_get", "/things/{thingId}"),
    made("part_get", "/things/{id}/parts/{partId}"),
    made("thing_list", "/things"),
  ]);
  const known: readonly (readonly [string, string, object])[] = [
    ["/things", "thing_list", {}],
    ["/things/a%2Fb%20%C3%BC", "thing_get", { thingId: "a/b ü" }],
    ["/things/:thingId", "thing_get", { thingId: ":thingId" }],
    ["/things/:id/parts/*", "part_get", { id: ":id", partId: "*" }],
    ["/things/__proto__/parts/constructor", "part_get", { id: "__proto__", partId: "constructor" }],
    ["/things/{thingId}", "thing_get", { thingId: "{thingId}" }],
  ];
  for (const [path, name, parameters] of known) {
    const found = match(apiPrefix + path);
    assert.equal(found?.bindings.get("GET")?.operation.name, name, path);
    assert.deepEqual({ ...found?.parameters }, parameters, path);
  }
  const unknown = [
    "",
    "/",
    "/things/",
    "//things",
    "/things//",
    "/things/a/",
    "/things//parts/b",
    "/things/a/parts",
    "/Things",
    "/thing%73",
    "/things/%zz",
    "/things/%ff",
    "/things/a%00b",
    "/*",
    "/:thingId",
    "/__proto__",
  ];
  for (const path of unknown) assert.equal(match(apiPrefix + path), null, path);
  for (const path of ["things", "/things", "/api/v1x/things", `/${apiPrefix}/things`])
    assert.equal(match(path), null, path);
});

test("a method that a path does not have is refused with those it has; HEAD is GET", () => {
  const match = createRoutes(apiPrefix, [made("a_make", "/things", "POST"), made("a_list", "/things")]);
  const found = match("/api/v1/things");
  assert.ok(found !== null);
  assert.deepEqual(methodsOf(found), ["GET", "POST"]);
  const head = bindingFor(found, "HEAD");
  assert.ok(!(head instanceof Fault) && head.operation.name === "a_list");
  const fault = bindingFor(found, "DELETE");
  assert.ok(fault instanceof Fault && fault.code === "METHOD_NOT_ALLOWED");
  assert.deepEqual(fault.allow, ["GET", "POST"]);
});

test("what a spelled request says is assembled again, for the query and for the body", () => {
  const input = z.strictObject({
    thingId: z.string(),
    limit: z.int().meta({ query: "integer" }).optional(),
    all: z.boolean().optional().meta({ query: "boolean" }),
    kinds: z.array(z.string()).optional().meta({ query: "list" }),
    places: z.array(z.string()).optional().meta({ query: "repeatable-list" }),
    search: z.string().optional(),
  });
  const value = { thingId: "a/b ü", limit: 5, all: true, kinds: ["x", "y"], places: ["u", "v"], search: "1 & 2" };
  for (const operation of [
    made("thing_get", "/things/{thingId}", "GET", input),
    made("thing_set", "/things/{thingId}", "POST", input),
    { ...made("thing_import", "/things/{thingId}", "POST", input), takesFile: true },
  ]) {
    const { path, query, body } = spellRequest(bindingOf(operation), value);
    const found = createRoutes("/x", [operation])(`/x${path}`);
    const binding = found === null ? null : bindingFor(found, operation.route.method);
    assert.ok(found !== null && binding !== null && !(binding instanceof Fault));
    const search = new URLSearchParams(query.map(([name, text]): [string, string] => [name, text])).toString();
    assert.deepEqual(assemble(binding, found.parameters, parseQuery(search), body), { raw: value, found: [] });
    assert.equal(query.length === 0, operation.name === "thing_set");
  }
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
  assert.deepEqual([...write.query], [["dryRun", "boolean"]]);
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
