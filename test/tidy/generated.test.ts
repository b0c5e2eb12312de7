import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { generated } from "../../generate.ts";

for (const [file, text] of Object.entries(generated))
  test(`${file} matches the code`, () => {
    const committed = readFileSync(path.join(import.meta.dirname, "../..", file), "utf8");
    assert.ok(committed === text, `${file} differs from the code: run \`npm run generate\` and commit the result.`);
  });
