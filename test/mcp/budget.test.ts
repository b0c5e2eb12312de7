/** The budgets of the list of tools (C69, C76), which a client reads at every start and gives to the model with every request. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { definitionIn, toolOf, withoutOutputSchema } from "../../src/mcp/tools.ts";
import type { Operation } from "../../src/requests/operation.ts";
import { operations } from "../../src/operations/registry.ts";
import { usualTools } from "../support/mcp.ts";
import { tokensOf } from "../support/openapi/tokens.ts";

const schemasTokensMax = 30_000;
const wholeTokensMax = 11_000;
const modelTokensMax = 9_000;

/** With the longest texts. */
const definitionOf = (operation: Operation) => definitionIn(toolOf(operation), { emailOnSent: true });

const definitions = operations.map(definitionOf);

const usual = usualTools.map(definitionOf);

test(`tools/list is at most ${wholeTokensMax} tokens`, (t) => {
  const tokens = tokensOf(JSON.stringify({ tools: definitions.map(withoutOutputSchema) }));
  t.diagnostic(`${tokens} tokens, ${definitions.length} tools`);
  assert.ok(tokens <= wholeTokensMax, String(tokens));
});

test(`with the schemas of the answers it is at most ${schemasTokensMax} tokens`, (t) => {
  const tokens = tokensOf(JSON.stringify({ tools: definitions }));
  t.diagnostic(`${tokens} tokens, ${definitions.length} tools`);
  assert.ok(tokens <= schemasTokensMax, String(tokens));
});

test(`name, description and inputSchema, what clients give a model, are at most ${modelTokensMax} tokens`, (t) => {
  const given = usual.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
  const tokens = tokensOf(JSON.stringify(given));
  t.diagnostic(`${tokens} tokens`);
  const largest = given
    .map((tool) => `${tool.name}: ${tokensOf(JSON.stringify(tool))}`)
    .toSorted((a, b) => Number(b.split(": ")[1]) - Number(a.split(": ")[1]));
  assert.ok(tokens <= modelTokensMax, `${tokens}; the largest: ${largest.slice(0, 8).join(", ")}`);
});

test("a schema has no reference, no member that is always refused, and no bound that only keeps nonsense away", () => {
  for (const { name, inputSchema, outputSchema } of definitions) {
    const schemas = JSON.stringify([inputSchema, outputSchema]);
    assert.doesNotMatch(schemas, /"(?:\$ref|\$defs|not|minLength|maxLength|pattern)":/, name);
  }
});

test("every object of an input schema says that nothing else is taken, and no schema of an answer does", () => {
  for (const { name, inputSchema, outputSchema } of definitions) {
    const open = JSON.stringify(inputSchema, (_name, value: unknown) =>
      isObject(value) && "properties" in value && value["additionalProperties"] !== false ? "open" : value,
    );
    assert.ok(!open.includes('"open"'), `${name}: ${open}`);
    assert.doesNotMatch(JSON.stringify(outputSchema), /"additionalProperties":false/, name);
  }
});

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
