import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesOfText, Cache } from "../../src/store/cache.ts";

const stands = [{ stands: () => true }];
const valueBytes = 1_000;

/** Room for four such values with what is counted beside each. */
const bytesMax = 4 * 1_600;

/** Remembers these in their order. */
function remembering(...keys: readonly string[]): Cache<string> {
  const cache = new Cache<string>(bytesMax);
  for (const key of keys) cache.put(key, key, valueBytes, stands);
  return cache;
}

test("beyond its bytes a memory forgets what was not asked for longest", () => {
  const cache = remembering("a", "b", "c", "d");
  assert.equal(cache.get("a"), "a");
  cache.put("e", "e", valueBytes, stands);
  assert.deepEqual(
    ["a", "b", "c", "d", "e"].map((key) => cache.get(key)),
    ["a", null, "c", "d", "e"],
  );
});

test("a value that is larger than the memory is not remembered, and takes the place of none", () => {
  const cache = remembering("a");
  cache.put("large", "large", bytesMax, stands);
  assert.deepEqual([cache.get("large"), cache.get("a")], [null, "a"]);
});

test("a value that is put again, or whose rows have changed, gives its bytes back", () => {
  const cache = remembering("a", "a", "a", "a", "b", "c", "d");
  assert.equal(cache.get("a"), "a");
  let stand = true;
  const again = remembering("a", "b", "c");
  again.put("x", "x", valueBytes, [{ stands: () => stand }]);
  stand = false;
  assert.equal(again.get("x"), null);
  again.put("d", "d", valueBytes, stands);
  assert.deepEqual(
    ["a", "b", "c", "d"].map((key) => again.get(key)),
    ["a", "b", "c", "d"],
  );
});

test("a value of which nobody knows what it was made from is not remembered, nor is the one that it replaces", () => {
  const cache = remembering("a", "b");
  cache.put("a", "new", valueBytes, []);
  cache.put("c", "c", valueBytes, []);
  assert.deepEqual(
    ["a", "b", "c"].map((key) => cache.get(key)),
    [null, "b", null],
  );
});

test("a text takes a byte for each character, and two if one is beyond U+00FF", () => {
  assert.deepEqual(["", "abc", "à la ÿ", "3 €", "日本", "😀"].map(bytesOfText), [0, 3, 6, 6, 4, 4]);
});
