/** The adapter's documents against Shopify's own schema, and the slice of it against changes. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { buildSchema, findBreakingChanges, parse, validate } from "graphql";
import * as documents from "../../../src/storefront/shopify/documents.ts";
import { schemaText } from "./fake.ts";

const schema = buildSchema(schemaText);

/** Every document that is sent. */
const sentDocuments = Object.values(documents).filter((each) => typeof each === "object" && "text" in each);

test("every document that is sent is valid in Shopify's schema, and named as it says", () => {
  assert.ok(sentDocuments.length >= 9);
  for (const { name, text } of sentDocuments) {
    assert.deepEqual(
      validate(schema, parse(text)).map(({ message }) => message),
      [],
      name,
    );
    assert.match(text, new RegExp(`^(query|mutation) ${name}\\b`));
  }
});

test("the fifteen documents of the adapter's design are valid in the slice", () => {
  const text = readFileSync(path.join(import.meta.dirname, "operations.graphql"), "utf8");
  const document = parse(text);
  assert.equal(document.definitions.length, 15);
  assert.deepEqual(
    validate(schema, document).map(({ message }) => message),
    [],
  );
});

test("a change of the schema that breaks what is sent is seen", () => {
  const changes = (from: string, to: string): readonly string[] => {
    assert.ok(schemaText.includes(from), `the slice has no ${from}`);
    return findBreakingChanges(schema, buildSchema(schemaText.replace(from, to))).map(({ type }) => type);
  };
  assert.deepEqual(changes("changeFromQuantity: Int\n  delta: Int!", "changeFromQuantity: Int!\n  delta: Int!"), [
    "FIELD_CHANGED_KIND",
  ]);
  assert.deepEqual(changes("  requiresComponents: Boolean!\n", ""), ["FIELD_REMOVED"]);
  assert.deepEqual(changes("directive @idempotent(key: String!) on FIELD", ""), ["DIRECTIVE_REMOVED"]);
  assert.deepEqual(findBreakingChanges(schema, buildSchema(schemaText)), []);
});

test("no document sets an absolute quantity or a product's tags", () => {
  for (const { name, text } of sentDocuments) {
    assert.doesNotMatch(text, /inventorySetQuantities/, name);
    if (text.includes("productUpdate")) assert.doesNotMatch(text, /tags/, name);
  }
});
