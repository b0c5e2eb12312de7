/** Each fault that tests plant in the program can still be planted: a refactoring of its lines is told within seconds, and not by a suite of minutes. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { sourceWith } from "../faults/plant.ts";
import { fewPages, isOfLinear, isOfSimulator, mutants } from "../faults/planted.ts";

for (const planted of [...mutants, fewPages])
  test(`${planted.name} can be planted in ${planted.file}`, () => {
    const source = readFileSync(planted.file, "utf8");
    assert.notEqual(sourceWith(planted, source), source);
  });

/** Faults that name a text of a function's inside, and not the function alone. It may only fall. */
const insideMax = 18;

test("most planted faults stand around a function that they know by name", () => {
  const inside = mutants.filter((planted) => "inside" in planted).map(({ name }) => name);
  assert.ok(inside.length <= insideMax, `${inside.length}: ${inside.join(", ")}`);
});

test("planted faults have names of their own, and somebody who finds them", () => {
  assert.equal(new Set(mutants.map(({ name }) => name)).size, mutants.length);
  assert.ok(mutants.filter(isOfSimulator).length >= 20);
  for (const engine of ["sqlite", "postgres"] as const)
    assert.ok(mutants.filter((mutant) => isOfLinear(mutant, engine)).length >= 4);
  for (const mutant of mutants) {
    if (mutant.with !== undefined)
      assert.ok(
        mutants.some(({ name }) => name === mutant.with),
        mutant.name,
      );
    if (typeof mutant.found === "object") assert.ok(existsSync(mutant.found.byTest), mutant.name);
  }
});
