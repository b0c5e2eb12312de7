/**
 * Tests of every operation in the registry, without naming any. Inputs are the operations' examples. Ids come from the `Location` headers
 * of operations that create something.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { isJsonArray, isJsonObject, type Json, type JsonObject, jsonPointer } from "../../src/base/json.ts";
import { bodyBytesMax } from "../../src/http/body.ts";
import { faultsOf } from "../../src/http/openapi/failures.ts";
import { exampleOf } from "../../src/http/openapi/schemas.ts";
import { apiPrefix, bindingOf, type Binding } from "../../src/http/routes.ts";
import { operations, restOperations } from "../../src/operations/registry.ts";
import { exampleRequest, spelled } from "../support/openapi/requests.ts";
import { type RequestOptions, startServer, type TestResponse, type TestServer } from "../support/server.ts";

let server: TestServer;
before(async () => {
  server = await startServer();
});
after(() => server.stop());

const bindings = restOperations.map(bindingOf);
const writes = bindings.filter((each) => each.operation.scope === "write");
const reads = bindings.filter((each) => each.operation.scope === "read");
const withId = bindings.filter((each) => each.path.length > 0);

const send = (binding: Binding, changes: RequestOptions & { readonly target?: string } = {}): Promise<TestResponse> => {
  const { target, body } = exampleRequest(binding);
  return server.request(binding.operation.route.method, changes.target ?? target, { body, ...changes });
};

const code = (response: TestResponse): Json | undefined => response.at("error", "code");
const paths = (response: TestResponse): readonly Json[] => {
  const details = response.at("error", "details");
  return details !== undefined && isJsonArray(details)
    ? details.map((detail) => (isJsonObject(detail) ? (detail["path"] ?? null) : null))
    : [];
};

let keys = 0;
const freshKey = (): string => `surface-${(keys += 1)}`;

/** Creates a resource for this binding's first path parameter. Returns its path, or null if no operation creates one. */
async function existing(binding: Binding): Promise<string | null> {
  const [collection = "", rest = ""] = binding.operation.route.path.split(/\/\{\w+\}/);
  const creator = bindings.find(({ operation: { success, route } }) => success === 201 && route.path === collection);
  if (creator === undefined || binding.path.length !== 1) return null;
  const created = await send(creator);
  assert.equal(created.status, 201, created.text);
  const query = exampleRequest(binding).target.split("?")[1];
  return `${created.headers["location"]}${rest}${query === undefined ? "" : `?${query}`}`;
}

test("names and routes are unique, and every operation has an example that its schema accepts", () => {
  assert.equal(new Set(operations.map((operation) => operation.name)).size, operations.length);
  for (const { operation, path, body } of bindings) {
    const { name } = operation;
    assert.match(name, /^[a-z]+(?:_[a-z]+)+$/);
    assert.equal(operation.scope === "read", operation.route.method === "GET", name);
    const example = exampleOf(operation);
    const parsed = operation.input.safeParse(example);
    assert.ok(parsed.success, `${name}: its example is refused: ${parsed.error?.message}`);
    for (const member of path) assert.ok(member in example, `${name}: its example has no ${member}`);
    for (const member of body) assert.ok(operation.input.shape[member], name);
  }
});

test("the served document has every operation with every fault that it can answer", async () => {
  const document = await server.get(`${apiPrefix}/openapi.json`, { key: null });
  for (const operation of restOperations) {
    const entry = ["paths", `${apiPrefix}${operation.route.path}`, operation.route.method.toLowerCase()];
    assert.equal(document.at(...entry, "operationId"), operation.name);
    for (const fault of faultsOf(operation)) {
      const mentioned = Object.values((document.at(...entry, "responses") ?? {}) as Record<string, { $ref?: string }>);
      const descriptions = mentioned.map(({ $ref = "" }) => document.at(...$ref.split("/").slice(1), "description"));
      assert.ok(
        descriptions.some((description) => typeof description === "string" && description.includes(`\`${fault}\``)),
        `${operation.name}: ${fault}`,
      );
    }
  }
});

for (const binding of bindings) {
  const { operation } = binding;
  const { name, route } = operation;

  test(`${name}: without a key, or with an invalid one, it is 401`, async () => {
    for (const key of [null, "opo_test-shop_nonsense"]) {
      const response = await send(binding, { key });
      assert.equal(response.status, 401);
      assert.equal(code(response), "UNAUTHORIZED");
    }
  });

  test(`${name}: an unknown query parameter is named, and so is one that is given twice but takes no list`, async () => {
    const { target } = exampleRequest(binding);
    const mark = target.includes("?") ? "&" : "?";
    const unknown = await send(binding, { target: `${target}${mark}noSuchParameter=1` });
    assert.equal(unknown.status, 400);
    const words = unknown.at("error", "message");
    assert.ok(typeof words === "string" && paths(unknown).includes("/noSuchParameter"), unknown.text);
    const known = [...binding.query.keys()].join(", ");
    assert.ok(words.includes(`unknown query parameter${known === "" ? "" : `; known here: ${known}`}`), words);
    for (const parameter of binding.query.keys()) {
      if (["list", "repeatable-list"].includes(binding.query.get(parameter) ?? "")) continue;
      const twice = await send(binding, { target: `${target}${mark}${parameter}=1&${parameter}=1` });
      assert.equal(twice.status, 400);
      assert.ok(paths(twice).includes(`/${parameter}`), twice.text);
    }
  });

  for (const [parameter, kind] of binding.query)
    if (kind === "list" || kind === "repeatable-list")
      test(`${name}: ${parameter} separated by commas and ${parameter} repeated mean the same (C13)`, async () => {
        const [path = ""] = exampleRequest(binding).target.split("?");
        const [commas, repeated] = await Promise.all(
          ["a,b", `a&${parameter}=b`].map((value) => send(binding, { target: `${path}?${parameter}=${value}` })),
        );
        assert.equal(commas?.status, repeated?.status);
        assert.deepEqual(
          commas?.at("error", "details") ?? commas?.at("data"),
          repeated?.at("error", "details") ?? repeated?.at("data"),
        );
      });

  if (binding.path.length > 0)
    test(`${name}: an id that is longer than any can be is an unknown one`, async () => {
      const { target } = exampleRequest(binding);
      const long = "x".repeat(201);
      const known = exampleOf(binding.operation)[binding.path[0] ?? ""];
      assert.ok(typeof known === "string");
      const response = await send(binding, { target: target.replace(encodeURIComponent(known), long) });
      assert.equal(response.status, 404, response.text);
      assert.equal(code(response), "NOT_FOUND");
    });

  test(`${name}: a method that its path does not have is 405 and says which it has`, async () => {
    const { target } = exampleRequest(binding);
    const allowed = restOperations.filter(
      (each) => each.route.path.replaceAll(/\{\w+\}/g, "{}") === route.path.replaceAll(/\{\w+\}/g, "{}"),
    );
    const allow = allowed.map((each) => each.route.method).sort();
    for (const method of ["GET", "POST", "PATCH", "DELETE", "PUT"].filter(
      (each) => !allow.some((known) => known === each),
    )) {
      const response = await server.request(method, target, { key: server.readKey });
      assert.equal(response.status, 405, method);
      assert.equal(code(response), "METHOD_NOT_ALLOWED");
      assert.equal(response.headers["allow"], allow.join(", "));
    }
  });

  test(`${name}: leaves one audit row with its tag, status and key`, async () => {
    const response = await send(binding);
    const [row] = await server.audit();
    assert.equal(row?.tag, `rest:${name}`);
    assert.equal(row?.status, response.status);
    assert.equal(row?.method, route.method);
    assert.equal(row?.requestId, response.headers["x-request-id"]);
    assert.equal(row?.errorCode, code(response) ?? null);
  });
}

for (const binding of withId)
  test(`${binding.operation.name}: an unknown id, or an invalid escape in it, is 404`, async () => {
    const response = await send(binding);
    assert.equal(response.status, 404, response.text);
    assert.equal(code(response), "NOT_FOUND");
    const { target } = spelled(binding, {
      ...exampleOf(binding.operation),
      ...Object.fromEntries(binding.path.map((name) => [name, "@"])),
    });
    assert.equal((await send(binding, { target: target.replaceAll("%40", "%zz") })).status, 404);
  });

for (const binding of reads) {
  const { name } = binding.operation;
  test(`${name}: answers in its documented shape, to HEAD without the body, and 304 to its own ETag`, async () => {
    const target = binding.path.length === 0 ? exampleRequest(binding).target : await existing(binding);
    // Records that the API cannot create are only tested as 404 here. The tests that import them check their shape.
    const response = await send(binding, target === null ? {} : { target, key: server.readKey });
    assert.equal(response.status, target === null ? 404 : 200, response.text);
    const head = await server.request("HEAD", target ?? exampleRequest(binding).target);
    assert.equal(head.status, response.status);
    assert.equal(head.text, "");
    assert.equal(head.headers["etag"], response.headers["etag"]);
    const { etag } = response.headers;
    if (etag === undefined || target === null) return;
    const unchanged = await server.get(target, { headers: { "If-None-Match": etag } });
    assert.equal(unchanged.status, 304);
    assert.equal(unchanged.headers["etag"], etag);
  });
}

for (const binding of writes) {
  const { operation } = binding;
  const { name } = operation;

  test(`${name}: a read key is refused with the operation's name, before the body is read`, async () => {
    const response = await send(binding, { key: server.readKey, body: "{" });
    assert.equal(response.status, 403);
    assert.equal(code(response), "FORBIDDEN_SCOPE");
    assert.ok(response.textAt("error", "message").includes(name));
  });

  test(`${name}: under one key the answer is the same byte for byte, and a different request is refused`, async () => {
    const headers = { "Idempotency-Key": freshKey() };
    const first = await send(binding, { headers });
    const again = await send(binding, { headers });
    assert.equal(again.headers["idempotent-replayed"], "true");
    assert.equal(again.status, first.status);
    assert.equal(again.text, first.text);
    for (const header of ["x-request-id", "location", "etag"])
      assert.equal(again.headers[header], first.headers[header]);
    const { target } = exampleRequest(binding);
    const others: RequestOptions[] = [{ body: { other: true } }, { body: "{" }, { body: [] }];
    for (const other of others) {
      const mismatch = await send(binding, { headers, ...other });
      assert.equal(mismatch.status, 400);
      assert.equal(mismatch.at("error", "reason"), "IDEMPOTENCY_KEY_REUSED");
    }
    const elsewhere = await send(binding, { headers, target: `${target}${target.includes("?") ? "&" : "?"}a=1` });
    assert.equal(elsewhere.at("error", "reason"), "IDEMPOTENCY_KEY_REUSED");
    assert.equal((await send(binding, { headers })).text, first.text);
  });

  test(`${name}: an empty, doubled or over-long Idempotency-Key is 400`, async () => {
    for (const key of ["", ["a", "b"], "k".repeat(256)]) {
      const response = await send(binding, { headers: { "Idempotency-Key": key } });
      assert.equal(response.status, 400);
      assert.match(response.textAt("error", "message"), /Idempotency-Key/);
    }
  });

  test(`${name}: a body that is not JSON, not an object, encoded or too large is 400`, async () => {
    for (const body of ["{", "nonsense", " ", "[]", "null", "1", `{"a":"${"x".repeat(bodyBytesMax)}"}`]) {
      const response = await send(binding, { body, chunked: body.length > bodyBytesMax });
      assert.equal(response.status, 400, body.slice(0, 20));
      assert.equal(code(response), "INVALID_INPUT");
    }
    assert.equal((await send(binding, { body: "{}", headers: { "Content-Encoding": "br" } })).status, 400);
  });

  test(`${name}: an unknown field is refused by name at every depth, also __proto__`, async () => {
    const { body = {} } = exampleRequest(binding);
    for (const [text, path] of withUnknownFields(body)) {
      const response = await send(binding, { body: text });
      assert.equal(response.status, 400, text);
      assert.ok(paths(response).includes(path), `${path} is not named: ${response.text}`);
    }
  });
}

for (const binding of writes.filter((each) => withId.includes(each))) {
  const { name } = binding.operation;
  test(`${name}: an id in the body that differs from the path is 400`, async () => {
    for (const member of binding.path) {
      const response = await send(binding, { body: { ...exampleRequest(binding).body, [member]: "another" } });
      assert.equal(response.status, 400);
      assert.ok(paths(response).includes(`/${member}`), response.text);
    }
  });

  test(`${name}: does nothing when If-Match names another version`, async () => {
    const target = await existing(binding);
    assert.ok(target !== null, "no operation makes what this one works on");
    const order = target.split("/").slice(0, 5).join("/").split("?")[0] ?? "";
    const etag = (await server.get(order)).headers["etag"];
    const response = await send(binding, { target, headers: { "If-Match": '"another"' } });
    assert.ok(response.status === 412 || response.status === 400 || response.status === 409, response.text);
    assert.equal((await server.get(order)).headers["etag"], etag);
    assert.ok(etag);
  });
}

/** Yields the body with one additional field, once for each object in it, and the place of that field. */
function withUnknownFields(body: JsonObject): readonly (readonly [text: string, path: string])[] {
  const found: [string, string][] = [];
  const mark = "\u2603";
  const visit = (value: Json, steps: readonly (string | number)[]): void => {
    if (typeof value !== "object" || value === null) return;
    if (!isJsonArray(value)) found.push(...unknownMembers(steps));
    for (const [step, member] of Object.entries(value)) visit(member, [...steps, step]);
  };
  const unknownMembers = (steps: readonly (string | number)[]): [string, string][] =>
    ["noSuchField", "__proto__"].map((name) => [
      JSON.stringify(marked(body, steps, mark)).replace(`"${mark}":0`, `"${name}":0`),
      jsonPointer([...steps, name]),
    ]);
  visit(body, []);
  return found;
}

/** Returns a copy of `value` with an additional member at these steps. */
function marked(value: Json, steps: readonly (string | number)[], mark: string): Json {
  const [step, ...rest] = steps;
  if (typeof value !== "object" || value === null) return value;
  if (step === undefined && isJsonObject(value)) return { ...value, [mark]: 0 };
  if (isJsonArray(value))
    return value.map((item, index) => (String(index) === String(step) ? marked(item, rest, mark) : item));
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, name === step ? marked(member, rest, mark) : member]),
  );
}
