/**
 * The documents that are sent to Shopify against every stable version of its schema that `@shopify/dev-mcp` carries, and the committed slice
 * against the version that is pinned. `npm pack` fetches the package's file (14 MB); nothing of it is installed or run.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, suite, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { buildClientSchema, buildSchema, findBreakingChanges, type GraphQLSchema, parse, validate } from "graphql";
import * as documents from "../../../src/storefront/shopify/documents.ts";
import { fakeVersion, schemaText } from "./fake.ts";

const packed = "@shopify/dev-mcp@1.16.0";

const sentDocuments = Object.values(documents).filter((each) => typeof each === "object" && "text" in each);

/** The first version that a store can be connected with: earlier ones do not tell levels that have ended. */
const firstUsable = "2026-04";

suite(`Shopify's schema in ${packed}`, () => {
  let directory = "";
  const schemas = new Map<string, GraphQLSchema>();

  before(() => {
    directory = mkdtempSync(path.join(tmpdir(), "openpo-shopify-"));
    execFileSync("npm", ["pack", packed, "--silent", "--pack-destination", directory], { stdio: "pipe" });
    const [file] = readdirSync(directory).filter((name) => name.endsWith(".tgz"));
    assert.ok(file !== undefined, "npm pack has made no file");
    execFileSync("tar", ["xzf", path.join(directory, file), "-C", directory, "package/dist/data"], { stdio: "pipe" });
    const data = path.join(directory, "package/dist/data");
    for (const name of readdirSync(data)) {
      const [, version] = /^admin_(\d{4}-\d{2})\.json\.gz$/.exec(name) ?? [];
      if (version === undefined) continue;
      const parsed: { readonly data: unknown } = JSON.parse(
        gunzipSync(readFileSync(path.join(data, name))).toString("utf8"),
      );
      schemas.set(version, buildClientSchema(parsed.data));
    }
  });

  after(() => rmSync(directory, { recursive: true, force: true }));

  test("the package carries the pinned version and others", () => {
    assert.ok(schemas.has(fakeVersion));
    assert.ok(schemas.size >= 4, [...schemas.keys()].join(", "));
  });

  test(`every document is valid in each version from ${firstUsable} on`, () => {
    for (const [version, schema] of schemas)
      for (const { name, text } of sentDocuments) {
        const wrong = validate(schema, parse(text)).map(({ message }) => message);
        if (version >= firstUsable) assert.deepEqual(wrong, [], `${name} in ${version}`);
      }
  });

  test("nothing of the committed slice breaks in the pinned version", () => {
    const schema = schemas.get(fakeVersion) ?? assert.fail("the pinned version is missing");
    const changes = findBreakingChanges(buildSchema(schemaText), schema);
    // Directives that every schema has depend on the version of graphql-js.
    const own = changes.filter(({ description }) => !/from (deprecated|include|skip|specifiedBy)\.$/.test(description));
    assert.deepEqual(own, []);
  });
});
