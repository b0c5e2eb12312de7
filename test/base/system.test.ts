import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { timeOrderedIds } from "../../src/base/time/system.ts";

test("an id is its prefix and 26 lower-case characters of Crockford's base 32, the time first", () => {
  const ids = timeOrderedIds({ now: () => 1_469_918_176_385 });
  const id = ids.next("po");
  assert.match(id, /^po_[0-9a-hjkmnp-tv-z]{26}$/);
  assert.ok(id.startsWith("po_01aryz6s41"), `${id}: the ULID reference implementation's text for this instant`);
});

test("ids sort in the order of their creation, whatever the clock does", () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 2 ** 47 }), { minLength: 2, maxLength: 50 }), (instants) => {
      let index = 0;
      const ids = timeOrderedIds({ now: () => instants[index % instants.length] ?? 0 });
      const made = Array.from({ length: instants.length * 3 }, () => {
        index += 1;
        return ids.next("x");
      });
      assert.deepEqual(made.toSorted(), made);
      assert.equal(new Set(made).size, made.length);
    }),
  );
});

test("two sources at the same time give different ids", () => {
  const clock = { now: () => 1_700_000_000_000 };
  const sources = [timeOrderedIds(clock), timeOrderedIds(clock)];
  const made = sources.flatMap((ids) => Array.from({ length: 1_000 }, () => ids.next("x")));
  assert.equal(new Set(made).size, made.length);
});
