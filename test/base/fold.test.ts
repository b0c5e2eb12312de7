import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { fold, foldCase, wordsOf } from "../../src/base/text/fold.ts";

test("case, width, composition, accents and letters that are typed in their place are ignored", () => {
  for (const [a, b] of [
    ["PO-1001", "po-1001"],
    ["Große Straße", "GROSSE STRASSE"],
    ["ＡＢＣ", "abc"],
    ["Cafe\u0301", "CAFÉ"],
    ["ΟΔΟΣ", "οδος"],
    ["ΟΔΟΣ ΜΟΥ", "οδοσ μου"],
    ["ÅNGSTRÖM", "ångström"],
    ["Müller", "muller"],
    ["Łódź", "lodz"],
    ["Café", "CAFE"],
    ["Smørrebrød", "smorrebrod"],
    ["Đakovo", "dakovo"],
    ["ISPARTA", "ısparta"],
    ["İzmir", "izmir"],
    ["Æble", "aeble"],
    ["Œuvre", "oeuvre"],
    ["GROẞE", "grosse"],
    ["Ελλάδα", "ελλαδα"],
  ] as const)
    assert.equal(fold(a), fold(b), `${a} is ${b}`);
  assert.notEqual(foldCase("cafe"), foldCase("café"), "names that are compared as a whole keep their accents");
});

test("a search asks for its first eight words, each once", () => {
  assert.deepEqual(wordsOf("  Mug\tSea Mug\u00a0Łódź "), ["mug", "sea", "lodz"]);
  assert.deepEqual(wordsOf("1 2 3 4 5 6 7 8 9"), ["1", "2", "3", "4", "5", "6", "7", "8"]);
  assert.deepEqual([wordsOf(" \n "), wordsOf(null), wordsOf("\u0301")], [[], [], []]);
});

const letters = fc.array(fc.constantFrom(..."abcXYZ-19 éÉßñöØłŁđæœıİσςΣжЖ%_".split("")));

test("a search for a part of a text finds it in any case", () => {
  fc.assert(
    fc.property(letters, letters, letters, (before, part, after) => {
      const text = fold([...before, ...part, ...after].join(""));
      assert.ok(text.includes(fold(part.join("").toUpperCase())));
      assert.ok(text.includes(fold(part.join("").toLowerCase())));
    }),
  );
});
