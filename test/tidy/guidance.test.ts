/**
 * Rules and operations know each other by name. How a surface spells an operation is the surface's: no text of theirs holds a
 * method with a path, a path of the API or a header of HTTP.
 */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";

/** Comments are about the specification, which speaks of paths; route declarations and the file of REST's words are what paths are for. */
const withoutPaths = (source: string): string =>
  source
    .replaceAll(/\/\*[\s\S]*?\*\//g, "")
    .replaceAll(/(?<=^|\s)\/\/.*$/gm, "")
    .replaceAll(/^import [\s\S]*?;$/gm, "")
    .replaceAll(/route: \{[^}]*\}?[^}]*\}/g, "")
    .replaceAll(/\bat: "[^"]*"/g, "")
    .replaceAll(/\bonly\(\s*"rest",\s*(?:"[^"]*"|`[^`]*`),?\s*\)/g, "");

const spelled =
  /\b(?:GET|POST|PATCH|PUT|DELETE) (?:[/…$]|the\b)|\/(?:confirm|receive|unreceive|complete|quick-complete|storefront-sync|line-items|custom)\b|Idempotency-Key|Retry-After|If-Match|ETag\b|separated by commas|docs\/\w+\.md/;

const faultsOf = (file: string, source: string): readonly string[] =>
  withoutPaths(source)
    .split("\n")
    .filter((line) => spelled.test(line))
    .map(
      (line) =>
        `${file}: ${line.trim()}\n  Name the operation with mention() of core/order/guidance.ts, or tell it to REST alone with only().`,
    );

/** Where an answer gets the words and the headers of REST. */
const surfaceFiles: readonly string[] = ["src/requests/envelope.ts", "src/requests/wording.ts"];

test("no text of the rules or of the operations spells a route or a header", () => {
  const files = globSync(["src/core/**/*.ts", "src/operations/**/*.ts"]).filter((file) => !surfaceFiles.includes(file));
  assert.ok(files.length > 0);
  const faults = files.flatMap((file) => faultsOf(file, readFileSync(file, "utf8")));
  assert.deepEqual(faults, [], `\n${faults.join("\n")}\n`);
});

test("a route in a text is seen, one in a declaration or a comment is not", () => {
  for (const text of [
    "`Use POST /receive.`",
    '"Use POST …/status."',
    '"repeat the PATCH /x"',
    "`send ${base}/confirm`",
    '"send its ETag as If-Match"',
    'only("mcp", "as If-Match")',
  ])
    assert.equal(faultsOf("x.ts", `const a = ${text};`).length, 1, text);
  for (const source of [
    "/** Spec: POST /receive. */",
    "// POST /receive",
    'route: { method: "POST", path: `${path}/receive` },',
    'at: "/line-items",',
    'import { a } from "./receive.ts";',
    'const path = "/status";',
    'only("rest", "Send its ETag as If-Match.")',
  ])
    assert.deepEqual(faultsOf("x.ts", source), [], source);
});
