import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { fold } from "../../src/base/fold.ts";

test("case, width and composition are ignored", () => {
  for (const [a, b] of [
    ["PO-1001", "po-1001"],
    ["Große Straße", "GROSSE STRASSE"],
    ["ＡＢＣ", "abc"],
    ["Cafe\u0301", "CAFÉ"],
    ["ΟΔΟΣ", "οδος"],
    ["ΟΔΟΣ ΜΟΥ", "οδοσ μου"],
    ["ÅNGSTRÖM", "ångström"],
  ] as const)
    assert.equal(fold(a), fold(b), `${a} is ${b}`);
  assert.notEqual(fold("cafe"), fold("café"), "accents do count");
});

const letters = fc.array(fc.constantFrom(..."abcXYZ-19 éÉßñöØσςΣжЖ%_".split("")));

test("a search for a part of a text finds it in any case", () => {
  fc.assert(
    fc.property(letters, letters, letters, (before, part, after) => {
      const text = fold([...before, ...part, ...after].join(""));
      assert.ok(text.includes(fold(part.join("").toUpperCase())));
      assert.ok(text.includes(fold(part.join("").toLowerCase())));
    }),
  );
});
