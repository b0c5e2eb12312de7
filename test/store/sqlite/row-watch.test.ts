/** What a statement reads and changes, as far as its text confines it to one part (W6). */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type Accesses,
  changeScope,
  newAccesses,
  slicesWatchedMax,
  readScope,
  RowWatch,
  SeenRows,
  WatchedSlices,
} from "../../../src/store/sqlite/row-watch.ts";
import { insert, oneOf, plus, remove, update, upTo } from "../../../src/store/change.ts";

const reading = (tables: Readonly<Record<string, readonly string[]>>): Accesses => ({
  ...newAccesses(),
  read: new Map(Object.entries(tables).map(([table, columns]) => [table, new Set(columns)])),
});

const changing = (...names: readonly string[]): Accesses => ({ ...newAccesses(), changed: new Set(names) });

test("a read of one part depends on that part, and on all that is read of other tables", () => {
  const { names, slice } = readScope(
    `select o.status, s.name
     from parent o
     left join other s on s.shop_id = o.shop_id and s.id = o.other_id
     where o.shop_id = ? and o.part = ? and o.deleted_at is null`,
    reading({ parent: ["status", "part"], other: ["name"] }),
    "part",
  );
  assert.deepEqual([names, slice], [["other", "other.name"], { tables: ["parent"], parameter: 1 }]);
});

for (const [what, sql] of [
  ["several parts", "select a from parent where shop_id = ? and part in (?, ?)"],
  ["an alternative", "select a from parent where shop_id = ? and part = ? or a = 1"],
  ["a union", "select a from parent where shop_id = ? and part = ? union select a from parent where shop_id = ?"],
  ["a query within", "select a from parent where shop_id = ? and part = ? and a > (select max(a) from parent)"],
  ["the table twice", "select p.a from parent p left join parent q on q.a = p.a where p.shop_id = ? and p.part = ?"],
  [
    "the other table's part",
    "select p.a from parent p left join child c on c.a = p.a where c.shop_id = ? and c.part = ?",
  ],
  ["no shop", "select a from parent where part = ?"],
] as const)
  test(`a read with ${what} depends on the whole table`, () => {
    const { names, slice } = readScope(sql, reading({ parent: ["a", "part"] }), "part");
    assert.deepEqual([names, slice], [["parent", "parent.a", "parent.part"], null]);
  });

const parent = { name: "parent", key: ["part", "id"] };
const byOther = { name: "parent", key: ["a"] };

for (const [what, change, accesses, parameter] of [
  ["an insert", insert(parent, "s", { part: "p", a: 1 }), changing("parent"), 1],
  [
    "an upsert by the part",
    insert(parent, "s", { part: "p", id: "i", a: 1 }, ["a"]),
    changing("parent", "parent.a"),
    1,
  ],
  ["an insert that may find a row", insert(byOther, "s", { a: 1, part: "p" }, "keep"), changing("parent"), 2],
  ["an update", update(parent, "s", { part: "p", a: 3 }, { a: 1, b: 2 }), changing("parent.a", "parent.b"), 3],
  ["an update by more", update(parent, "s", { a: upTo(3), part: "p" }, { b: plus(2) }), changing("parent.b"), 3],
  ["a deletion", remove(parent, "s", { part: "p" }), changing("parent"), 1],
] as const)
  test(`${what} of one part concerns that part and the whole table`, () => {
    assert.equal(change.params[parameter], "p");
    assert.deepEqual(changeScope(change.form, accesses, "part"), {
      names: [...accesses.changed],
      slice: { tables: ["parent"], parameter },
    });
  });

for (const [what, change] of [
  ["a text", null],
  ["an upsert by something else", insert(byOther, "s", { a: 1, part: "p", b: 2 }, ["b", "part"])],
  ["an update that moves rows", update(parent, "s", { part: "p" }, { part: "q" })],
  ["an update of all", update(parent, "s", {}, { a: 1 })],
  ["a deletion of several parts", remove(parent, "s", { part: oneOf(["p", "q"]) })],
  ["a change of another table's rows", remove({ ...parent, name: "child" }, "s", { part: "p" })],
] as const)
  test(`${what} concerns every part`, () => {
    const { names, slice } = changeScope(change?.form ?? null, changing("parent"), "part");
    assert.deepEqual([names, slice], [["parent", "parent at large"], null]);
  });

test("what was seen falls with a change of the same part, of unknown parts, and when the file is closed", () => {
  const watch = new RowWatch(new WatchedSlices());
  const read = { names: [], slice: { tables: ["parent"], parameter: 0 } };
  const seen = (slice: string): SeenRows => {
    const rows = new SeenRows(watch);
    rows.add(read, [slice]);
    return rows;
  };
  const [a, b] = [seen("a"), seen("b")];
  watch.changed({ names: ["parent"], slice: { tables: ["parent"], parameter: 0 } }, ["a"]);
  assert.deepEqual([a.stands(), b.stands()], [false, true]);
  watch.changed({ names: ["parent", "parent at large"], slice: null }, []);
  assert.equal(b.stands(), false);
  const c = seen("c");
  watch.forget();
  assert.equal(c.stands(), false);
});

test("rows are durable with the commit that changed them last", () => {
  const watch = new RowWatch(new WatchedSlices());
  const rows = { names: ["t"], slice: null };
  const seen = new SeenRows(watch);
  seen.add(rows, []);
  assert.equal(seen.due, 0);
  watch.changed(rows, []);
  watch.committed(1);
  watch.committed(2);
  assert.equal(seen.due, 1);
  watch.synced(1);
  assert.equal(seen.due, 0);
  watch.changed(rows, []);
  watch.committed(3);
  watch.forget();
  assert.equal(seen.due, 3, "what is to be synced still is");
  watch.rest();
  assert.equal(seen.due, 0, "the next file counts its commits anew");
});

test("all files together watch slicesWatchedMax parts", () => {
  const watch = new RowWatch(new WatchedSlices());
  const seen = (slice: number): SeenRows => {
    const rows = new SeenRows(watch);
    rows.add(read, [slice]);
    return rows;
  };
  const read = { names: [], slice: { tables: ["parent"], parameter: 0 } };
  const [first, second] = [seen(0), seen(1)];
  for (let part = 2; part < slicesWatchedMax; part += 1) watch.slice(`part ${part}`);
  assert.equal(first.stands(), true);
  watch.slice("one more");
  assert.deepEqual([first.stands(), second.stands()], [false, true]);
});

test("all files together watch so many parts; the one that was seen first counts as changed, of whichever file it is", () => {
  const watched = new WatchedSlices(2);
  const files = [new RowWatch(watched), new RowWatch(watched)] as const;
  const seen = (file: RowWatch, slice: string): SeenRows => {
    const rows = new SeenRows(file);
    rows.add({ names: [], slice: { tables: ["parent"], parameter: 0 } }, [slice]);
    return rows;
  };
  const first = seen(files[0], "a");
  const [second, third] = [seen(files[1], "a"), seen(files[1], "b")];
  assert.deepEqual(
    [first, second, third].map((each) => each.stands()),
    [false, true, true],
  );
  files[1].forget();
  const [fourth, fifth] = [seen(files[0], "c"), seen(files[0], "d")];
  assert.deepEqual([fourth.stands(), fifth.stands()], [true, true], "a closed file watches nothing");
});

test("reads of one kind share the list of what they have seen, and no read has that of another kind", () => {
  const watch = new RowWatch(new WatchedSlices());
  const [a, b, c] = ["a", "b", "c"].map((name) => watch.cellsOf({ names: [name], slice: null }));
  assert.ok(a !== undefined && b !== undefined && c !== undefined);
  const list = (...all: readonly (typeof a)[]): readonly (typeof a)[] =>
    all.reduce<readonly (typeof a)[]>((before, each) => watch.listWith(before, each), []);
  const first = list(a, b, c);
  assert.equal(list(a, b, c), first);
  assert.deepEqual(list(b, a, c), [b, a, c], "others before it");
  assert.deepEqual(list(b, a, b), [b, a, b], "another one after them");
  assert.deepEqual(list(b), [b]);
  assert.deepEqual(first, [a, b, c], "what others have seen since changes nothing");
});
