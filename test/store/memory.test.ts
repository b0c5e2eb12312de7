import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesOfText, Memory } from "../../src/store/memory.ts";

const stands = [{ stands: () => true }];
const valueBytes = 1_000;

/** Room for four such values with what is counted beside each. */
const bytesMax = 4 * 1_600;

/** Remembers these in their order. */
function remembering(...keys: readonly string[]): Memory<string> {
  const memory = new Memory<string>(bytesMax);
  for (const key of keys) memory.put(key, key, valueBytes, stands);
  return memory;
}

test("beyond its bytes a memory forgets what was not asked for longest", () => {
  const memory = remembering("a", "b", "c", "d");
  assert.equal(memory.get("a"), "a");
  memory.put("e", "e", valueBytes, stands);
  assert.deepEqual(
    ["a", "b", "c", "d", "e"].map((key) => memory.get(key)),
    ["a", null, "c", "d", "e"],
  );
});

test("a value that is larger than the memory is not remembered, and takes the place of none", () => {
  const memory = remembering("a");
  memory.put("large", "large", bytesMax, stands);
  assert.deepEqual([memory.get("large"), memory.get("a")], [null, "a"]);
});

test("a value that is put again, or whose rows have changed, gives its bytes back", () => {
  const memory = remembering("a", "a", "a", "a", "b", "c", "d");
  assert.equal(memory.get("a"), "a");
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
  const memory = remembering("a", "b");
  memory.put("a", "new", valueBytes, []);
  memory.put("c", "c", valueBytes, []);
  memory.put("d", "d", valueBytes, null);
  assert.deepEqual(
    ["a", "b", "c", "d"].map((key) => memory.get(key)),
    [null, "b", null, "d"],
  );
});

test("a text takes a byte for each character, and two if one is beyond U+00FF", () => {
  assert.deepEqual(["", "abc", "à la ÿ", "3 €", "日本", "😀"].map(bytesOfText), [0, 3, 6, 6, 4, 4]);
});
