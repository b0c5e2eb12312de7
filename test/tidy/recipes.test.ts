/**
 * CONTRIBUTING.md's recipes hold: the files and names of their steps exist, no recipe has more steps than its heading allows, and an
 * operation that is added to the list appears on every surface by itself.
 */
import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { z } from "zod";
import { openApiDocument } from "../../src/http/openapi/openapi.ts";
import { apiPrefix, bindingFor, createRoutes } from "../../src/http/routes.ts";
import { toolOf } from "../../src/mcp/tools.ts";
import { isRestOperation, operation, type Operation } from "../../src/requests/operation.ts";
import { operations } from "../../src/operations/registry.ts";
import { recordTexts } from "../../console/texts/en/goods/records.ts";
import { supplierRecordFields } from "../../src/shop/catalogue/catalogue.ts";

interface Recipe {
  readonly heading: string;
  readonly steps: readonly { readonly file: string; readonly names: readonly string[] }[];
}

/** The sections below "Recipes" with their numbered steps: `file`: text with `names` in it. */
function recipesOf(page: string): readonly Recipe[] {
  const section = /^## Recipes\n([^]*?)(?=^## |(?![^]))/m.exec(page)?.[1] ?? "";
  return section
    .split(/^### /m)
    .slice(1)
    .map((text) => ({
      heading: text.slice(0, text.indexOf("\n")),
      steps: [...text.matchAll(/^\d+\. `([^`]+)`: (.*(?:\n {3}.*)*)/gm)].map(([, file = "", rest = ""]) => ({
        file,
        names: [...rest.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name),
      })),
    }));
}

/** Steps that a heading allows: `(at most 4 edits)`, `(1 file and 1 line)`. A test that runs a contract suite is no edit of the source. */
const allowedSteps = (heading: string): number =>
  [...(/\((.*)\)/.exec(heading)?.[1] ?? "").matchAll(/\b(\d+|a)\b/g)].reduce(
    (sum, [, count]) => sum + (count === "a" ? 1 : Number(count)),
    0,
  );

function recipeFaults(recipes: readonly Recipe[], read: (file: string) => string | null): readonly string[] {
  return recipes.flatMap(({ heading, steps }) => {
    const edits = steps.filter(({ file }) => !file.startsWith("test/"));
    const faults: string[] = [];
    if (steps.length === 0) faults.push(`"${heading}" has no steps.`);
    if (edits.length > allowedSteps(heading)) faults.push(`"${heading}" has ${edits.length} steps, more than it says.`);
    for (const { file, names } of steps) {
      const text = read(file);
      if (text === null) faults.push(`"${heading}": there is no ${file}.`);
      for (const name of names)
        if (text !== null && !new RegExp(`\\b${name}\\b`).test(text))
          faults.push(`"${heading}": ${file} has no ${name}.`);
    }
    return faults;
  });
}

/** A file's text, or the texts of everything in a folder. */
function textOf(file: string): string | null {
  if (!existsSync(file)) return null;
  if (!file.endsWith("/")) return readFileSync(file, "utf8");
  return globSync(`${file}**/*.*`)
    .map((each) => readFileSync(each, "utf8"))
    .join("\n");
}

test("every recipe of CONTRIBUTING.md names files and members that exist, in as many steps as it says", () => {
  const recipes = recipesOf(readFileSync("CONTRIBUTING.md", "utf8"));
  assert.deepEqual(
    recipes.map(({ heading }) => heading.replace(/ \(.*/, "")),
    [
      "Add a header field of an order",
      "Add a field of a supplier",
      "Add an operation",
      "Add a record type of import and export",
      "Add a storefront",
      "Add an engine",
    ],
  );
  const faults = recipeFaults(recipes, textOf);
  assert.deepEqual(faults, [], `\n${faults.join("\n")}\n`);
});

test("a step without its file or name, and one too many, are seen", () => {
  const page =
    "## Recipes\n\n### Add a thing (1 file)\n\n1. `src/a.ts`: `here` and `gone`.\n2. `src/lost.ts`: a line.\n\n## Next\n";
  const faults = recipeFaults(recipesOf(page), (file) => (file === "src/a.ts" ? "const here = 1;" : null)).join("\n");
  assert.match(faults, /has 2 steps/);
  assert.match(faults, /src\/a\.ts has no gone/);
  assert.match(faults, /no src\/lost\.ts/);
  assert.doesNotMatch(faults, /no here/);
});

test("the console's form and page of a supplier have every field of its record", () => {
  const { contact, terms } = recordTexts.supplier;
  const form = { ...contact, ...terms };
  const missing = Object.entries(supplierRecordFields)
    // The address has a group of its own, and an archived supplier a button.
    .filter(([name, { kind }]) => kind !== "address" && !["supplierId", "status"].includes(name))
    .filter(([name]) => !Object.hasOwn(form, name))
    .map(([name]) => name);
  assert.deepEqual(missing, []);
});

test("an operation that is added to the list is a route, an entry of the document and a tool", () => {
  const added: Operation = operation({
    name: "crate_count",
    title: "Count crates",
    summary: "Counts the crates of an order.",
    description: "Counts crates.",
    tag: "Purchase orders",
    toolSets: ["stock"],
    scope: "read",
    route: { method: "GET", path: "/purchase-orders/{purchaseOrderId}/crates" },
    success: 200,
    repeat: "read",
    destructive: false,
    faults: ["NOT_FOUND"],
    input: z.strictObject({ purchaseOrderId: z.string() }).meta({ example: { purchaseOrderId: "po_1" } }),
    output: z.strictObject({ crates: z.int() }),
    run: () => Promise.resolve({ data: { crates: 0 } }),
  });
  const all = [...operations, added];
  const match = createRoutes(apiPrefix, all.filter(isRestOperation))(`${apiPrefix}/purchase-orders/po_1/crates`);
  assert.ok(match !== null);
  assert.deepEqual(match.parameters, { purchaseOrderId: "po_1" });
  const binding = bindingFor(match, "GET");
  assert.ok("operation" in binding && binding.operation === added);
  assert.match(JSON.stringify(openApiDocument(all)), /"operationId":"crate_count"/);
  assert.equal(toolOf(added).definition.name, "crate_count");
});
