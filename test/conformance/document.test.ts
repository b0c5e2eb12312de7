/** The OpenAPI document as it is served (C9), and its consistency: every example matches its schema, every reference resolves. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { isJsonArray, isJsonObject, type Json, type JsonObject, jsonPointer } from "../../src/base/json.ts";
import { headerBytesMax } from "../../src/http/body.ts";
import { openApiDocument } from "../../src/http/openapi/openapi.ts";
import { operations } from "../../src/operations/registry.ts";
import { startServer } from "../support/server.ts";

const document = openApiDocument(operations);

/** Yields every object and list of the document with its path. */
function* places(value: Json, steps: readonly string[] = []): Generator<readonly [Json, readonly string[]]> {
  yield [value, steps];
  if (typeof value !== "object" || value === null) return;
  for (const [step, member] of Object.entries(value)) yield* places(member, [...steps, step]);
}

/** Returns the target of a `$ref`; any other value is returned as it is. */
function resolved(value: Json): Json {
  if (!isJsonObject(value) || typeof value["$ref"] !== "string") return value;
  let found: Json = document;
  for (const step of value["$ref"].slice(2).split("/"))
    found = isJsonObject(found) ? (found[step.replaceAll("~1", "/").replaceAll("~0", "~")] ?? null) : null;
  assert.ok(found !== null, `${value["$ref"]} does not exist`);
  return resolved(found);
}

const member = (value: Json, name: string): Json | undefined => (isJsonObject(value) ? value[name] : undefined);

/** Returns the examples beside a schema: of a media type, a parameter or a header. */
function examplesOf(holder: JsonObject): readonly Json[] {
  const { example, examples } = holder;
  return [
    ...(example === undefined ? [] : [example]),
    ...Object.values(examples ?? {}).map((each) => member(resolved(each), "value") ?? null),
  ];
}

test("every example matches its schema, and every request and response has one", () => {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema(document, "openapi");
  let count = 0;
  for (const [value, steps] of places(document)) {
    if (!isJsonObject(value) || value["schema"] === undefined || steps.includes("example")) continue;
    const where = jsonPointer(steps);
    const examples = examplesOf(value);
    for (const example of examples) {
      count += 1;
      const valid = ajv.validate({ $ref: encodeURI(`openapi#${jsonPointer([...steps, "schema"])}`) }, example);
      assert.ok(valid, `${where}: ${ajv.errorsText(ajv.errors)}\n${JSON.stringify(example)}`);
    }
    if (steps.at(-1) === "application/json") assert.ok(examples.length > 0, `${where} has no example`);
  }
  assert.ok(count > 3 * operations.length, `${count} examples`);
});

/** Yields every object schema of a part of the document, and of the schemas that it refers to, with its path. */
function* objectSchemas(value: Json, steps: readonly string[]): Generator<readonly [JsonObject, string]> {
  for (const [place, inner] of places(value, steps)) {
    if (!isJsonObject(place) || inner.includes("example") || inner.includes("examples")) continue;
    if (typeof place["$ref"] === "string") yield* objectSchemas(resolved(place), [...inner, place["$ref"]]);
    else if (place["type"] === "object") yield [place, jsonPointer(inner)];
  }
}

test("every object of a request refuses other members, and every object of an answer allows them", () => {
  const count = { closed: 0, open: 0 };
  for (const [path, methods] of Object.entries(document["paths"] ?? {}))
    for (const [method, entry] of Object.entries<Json>(methods)) {
      const where = [path, method];
      for (const part of ["parameters", "requestBody"])
        for (const [schema, place] of objectSchemas(member(entry, part) ?? null, [...where, part])) {
          assert.equal(schema["additionalProperties"], false, `${place} is open`);
          count.closed += 1;
        }
      for (const [schema, place] of objectSchemas(member(entry, "responses") ?? null, [...where, "responses"])) {
        // It has one member for good; were it open, TypeScript could not tell it from the write's own answer.
        if (
          place.endsWith(
            "/responses/202/content/application~1json/schema/#~1components~1schemas~1ProposedAnswer/properties/data",
          )
        ) {
          assert.deepEqual(schema["required"], ["approvalRequest"]);
          continue;
        }
        // Java takes an object that says nothing as closed. Several generators make code of a schema here that does not compile.
        assert.equal(schema["additionalProperties"], true, `${place} is not open`);
        count.open += 1;
      }
    }
  assert.ok(count.closed > 13 && count.open > 200, JSON.stringify(count));
});

test("a generator has a name for every body, a type for every header, and one for the error body", () => {
  for (const [value, steps] of places(document)) {
    if (!isJsonObject(value) || steps.includes("example")) continue;
    const where = jsonPointer(steps);
    if (steps.at(-1) === "application/json" && !steps.includes("/api/v1/openapi.json"))
      assert.equal(typeof member(value["schema"] ?? null, "$ref"), "string", `${where} has no name`);
    if (value["const"] !== undefined) assert.equal(value["type"], typeof value["const"], `${where} has no type`);
    if (value["type"] === "number") assert.equal(value["x-go-type"], "float64", `${where} becomes a float32 in Go`);
    if (steps.includes("parameters")) assert.equal(value["anyOf"], undefined, `${where} is not one type`);
    if (steps[1] === "responses" && steps.at(-1) === "schema")
      assert.deepEqual(value, { $ref: "#/components/schemas/ErrorAnswer" }, where);
  }
});

test("limits are those that mean something: no text, list or number is limited by the size of a whole answer", () => {
  for (const [value, steps] of places(document)) {
    if (!isJsonObject(value) || steps.includes("example") || steps.includes("examples")) continue;
    const where = jsonPointer(steps);
    for (const limit of ["maxLength", "maxItems"]) {
      const most = value[limit];
      if (typeof most === "number") assert.ok(most <= headerBytesMax, `${where}: ${limit} ${most}`);
    }
    for (const limit of ["minimum", "maximum"])
      assert.notEqual(Math.abs(Number(value[limit])), Number.MAX_SAFE_INTEGER, `${where}: ${limit}`);
  }
});

test("the members of an order go from identity over status, parties, dates, money and lines to notes", () => {
  const members =
    "purchaseOrderId poNumber poName status previousStatus paidStatus storefrontSyncState supplierId supplierName locationId locationName orderDate expectedDeliveryDate createdAt completedAt currencyCode paymentTerms totalValue shippingCost grandTotal itemCount quantityOrdered quantityPending tags note noteToSupplier".split(
      " ",
    );
  const { PurchaseOrderHeader: header = null, PurchaseOrderCreateBody: body = null } = Object.fromEntries(
    Object.entries(member(document["components"] ?? null, "schemas") ?? {}),
  );
  for (const schema of [header, body]) {
    const listed = Object.keys(member(schema, "properties") ?? {}).filter((name) => members.includes(name));
    assert.ok(listed.length > 10);
    assert.deepEqual(
      listed,
      members.filter((name) => listed.includes(name)),
    );
  }
});

test("the document's own text has short guides, and names only operations and headers that exist", () => {
  const text = member(document["info"] ?? null, "description");
  assert.ok(typeof text === "string");
  assert.deepEqual(
    [...text.matchAll(/^# (.+)$/gm)].map(([, heading]) => heading),
    ["Quickstart", "Repeating a write", "Errors", "Pages"],
  );
  assert.ok(text.length < 5_000, `${text.length} characters`);
  const paths = Object.keys(document["paths"] ?? {});
  for (const [, path = ""] of text.matchAll(/`POST (?:…)?(\/[\w/-]+)`/g))
    assert.ok(
      paths.some((each) => each.endsWith(path)),
      path,
    );
  const known = JSON.stringify(document["components"]);
  for (const word of text.match(/\b(?:[A-Z]{2,}_[A-Z_]+|Idempotent-Replayed|Retry-After|RateLimit|ETag)\b/g) ?? [])
    assert.ok(known.includes(`"${word}"`), word);
});

test("every reference and every link resolves", () => {
  const parameters = new Map<string, readonly (Json | undefined)[]>();
  for (const methods of Object.values(document["paths"] ?? {}))
    for (const entry of Object.values<Json>(methods)) {
      const listed = member(entry, "parameters");
      const names = listed !== undefined && isJsonArray(listed) ? listed.map((each) => member(each, "name")) : [];
      parameters.set(JSON.stringify(member(entry, "operationId")), names);
    }
  let links = 0;
  for (const [value, steps] of places(document)) {
    if (isJsonObject(value) && typeof value["$ref"] === "string") resolved(value);
    if (steps.at(-2) !== "links" || steps.length !== 3 || !isJsonObject(value)) continue;
    links += 1;
    const known = parameters.get(JSON.stringify(value["operationId"]));
    for (const name of Object.keys(value["parameters"] ?? {})) assert.ok(known?.includes(name), steps.join("."));
  }
  assert.ok(links > 50, `${links} links`);
});

test("the document is the same for everyone, compressed if accepted, and 304 if unchanged", async () => {
  await using server = await startServer();
  const target = "/api/v1/openapi.json";
  const plain = await server.get(target, { key: null });
  const keyed = await server.get(target, { key: server.writeKey });
  assert.equal(keyed.text, plain.text);
  assert.equal(keyed.headers["etag"], plain.headers["etag"]);
  assert.match(String(plain.headers["etag"]), /^"[\w-]+"$/);
  assert.equal(plain.text, readFileSync(path.join(import.meta.dirname, "../../openapi.json"), "utf8"));
  assert.equal(keyed.headers["ratelimit"], undefined, "it costs no token");
  const etagHeader = { "If-None-Match": String(plain.headers["etag"]) };
  assert.equal((await server.get(target, { key: null, headers: etagHeader })).status, 304);

  const ask = (headers: Record<string, string>) => fetch(server.url + target, { headers });
  for (const [accept, compressed] of [
    ["gzip", true],
    ["br, gzip;q=0.5", true],
    ["*", true],
    ["identity", false],
    ["gzip;q=0, *", false],
    ["br", false],
  ] as const) {
    const answer = await ask({ "Accept-Encoding": accept });
    assert.equal(answer.headers.get("content-encoding"), compressed ? "gzip" : null, accept);
    assert.equal(answer.headers.get("vary"), "Accept-Encoding");
    // `fetch` has decompressed the body.
    assert.equal(await answer.text(), plain.text);
    const etag = answer.headers.get("etag") ?? "";
    assert.equal(etag === plain.headers["etag"], !compressed, "each form has its own strong validator");
    const unchanged = await ask({ "Accept-Encoding": accept, "If-None-Match": `"other", ${etag}` });
    assert.equal(unchanged.status, 304);
    assert.equal(unchanged.headers.get("etag"), etag);
  }
  const raw = await server.request("GET", target, { headers: { "Accept-Encoding": "gzip" }, undocumented: true });
  assert.ok(raw.text.length < plain.text.length / 4);
  assert.throws(() => gunzipSync(plain.text), "what is not asked for compressed is not");
});
