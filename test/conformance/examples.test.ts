/**
 * The examples of the OpenAPI document are those of the demo shop: sent as they stand, one after another in the document's order, each is
 * answered with its documented success.
 *
 * Only on sqlite: its subject is the document's examples; other tests ask the same of both engines.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { demoRecords } from "../../src/demo/records.ts";
import { openApiDocument } from "../../src/http/openapi/openapi.ts";
import { operations } from "../../src/operations/registry.ts";
import { withProgram } from "../support/process.ts";

const parameterSchema = z.object({
  name: z.string(),
  in: z.enum(["path", "query", "header"]),
  required: z.boolean(),
  example: z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]).optional(),
  explode: z.boolean().optional(),
});
const entrySchema = z.object({
  operationId: z.string(),
  parameters: z.array(parameterSchema).default([]),
  requestBody: z
    .object({ content: z.object({ "application/json": z.object({ example: z.record(z.string(), z.json()) }) }) })
    .optional(),
  responses: z.record(z.string(), z.unknown()),
});
type Entry = z.output<typeof entrySchema>;
const documentSchema = z.object({ paths: z.record(z.string(), z.record(z.string(), entrySchema)) });

const entriesOf = (document: unknown): readonly (readonly [path: string, method: string, entry: Entry])[] =>
  Object.entries(documentSchema.parse(document).paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, entry]) => [path, method.toUpperCase(), entry] as const),
  );

/** The request target with the examples in it, spelled as the document says. */
function targetOf(path: string, { parameters }: Entry): string {
  let filled = path;
  const query = new URLSearchParams();
  for (const { name, in: place, required, example, explode } of parameters) {
    assert.ok(example !== undefined || !required, `${path}: no example of ${name}`);
    if (example === undefined || place === "header") continue;
    if (place === "path") filled = filled.replace(`{${name}}`, encodeURIComponent(String(example)));
    else if (Array.isArray(example) && explode === true) for (const each of example) query.append(name, each);
    else query.append(name, String(example));
  }
  const text = query.toString();
  return text === "" ? filled : `${filled}?${text}`;
}

test("every example is sent to a fresh demo shop, in the document's order, and does what the document says", async () => {
  await withProgram(
    async (program) => {
      const key = program.word("write key");
      const document = await program.ask("GET", "/api/v1/openapi.json", key);
      const answered: string[] = [];
      for (const [path, method, entry] of entriesOf(JSON.parse(document.text))) {
        const body = entry.requestBody?.content["application/json"].example;
        const answer = await program.ask(method, targetOf(path, entry), key, body);
        const success = ["201", "200"].find((status) => status in entry.responses);
        assert.equal(
          String(answer.status),
          success,
          `${method} ${targetOf(path, entry)}: ${answer.text.slice(0, 600)}`,
        );
        answered.push(entry.operationId);
        if (answer.status === 200 && path.endsWith("/storefront-sync"))
          assert.equal(answer.at("data", "confirmation", "status"), "verified");
        for (const list of ["failed", "warnings"]) assert.equal(answer.at("data", list, 0), undefined, answer.text);
      }
      assert.equal(answered.length, entriesOf(JSON.parse(document.text)).length);
    },
    { OPENPO_DEMO: "1" },
  );
});

test("no header of a request has an example, so that a second try is a second request", () => {
  for (const [path, method, { parameters }] of entriesOf(openApiDocument(operations)))
    for (const { name, in: place, example } of parameters)
      assert.ok(place !== "header" || example === undefined, `${method} ${path} fills in ${name}`);
});

test("every id in an example is one of the demo shop", () => {
  const known = JSON.stringify([...demoRecords(Date.UTC(2026, 5, 15))]);
  const examples: unknown[] = [];
  const collect = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    for (const [name, member] of Object.entries(value))
      if (["example", "examples"].includes(name)) examples.push(member);
      else collect(member);
  };
  collect(openApiDocument(operations));
  assert.ok(examples.length > 100);
  const ids = JSON.stringify(examples).match(/\b[a-z]{2,4}_[a-z0-9_]+/g) ?? [];
  assert.ok(ids.length > 100);
  const shown = /^(po|pol|sup|loc|var|prod|pay|doc|shp|log|rcpt|cst|cred|st|stl|sa|sal|to|tol|mo|moi|mom|mor|rsn|fv)_/;
  for (const id of new Set(ids.filter((each) => shown.test(each))))
    if (id !== "po_demo_99" && !id.startsWith("po_01"))
      assert.ok(known.includes(`"${id}"`), `the demo shop has no ${id}`);
});
