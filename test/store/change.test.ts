/** Changes as values: the text of each, the parameters in its order, and which rows it is confined to. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";
import {
  above,
  below,
  type Change,
  changeOf,
  fixed,
  insert,
  isChange,
  not,
  oneOf,
  orElse,
  plus,
  remove,
  replace,
  textForm,
  update,
  upTo,
  valueIn,
} from "../../src/store/change.ts";
import { tables } from "../../src/shop/tables.ts";
import { inPlace, openStore } from "../support/store.ts";

const pair = { name: "pair", key: ["a", "b"] };
const row = { a: 1, b: 2, n: 3 };
const key = "shop_id, a, b";

const cases: readonly (readonly [what: string, change: Change, sql: string, params: readonly unknown[]])[] = [
  ["an insert", insert(pair, "s", row), `insert into pair (${key}, n) values (?, ?, ?, ?)`, ["s", 1, 2, 3]],
  [
    "one that keeps what is there",
    insert(pair, "s", row, "keep"),
    `insert into pair (${key}, n) values (?, ?, ?, ?) on conflict (${key}) do nothing`,
    ["s", 1, 2, 3],
  ],
  [
    "one that adds up",
    insert(pair, "s", row, "add"),
    `insert into pair (${key}, n) values (?, ?, ?, ?) on conflict (${key}) do update set n = pair.n + excluded.n`,
    ["s", 1, 2, 3],
  ],
  [
    "one that replaces",
    replace(pair, "s", { ...row, m: null }),
    `insert into pair (${key}, n, m) values (?, ?, ?, ?, ?) on conflict (${key}) do update set n = excluded.n, m = excluded.m`,
    ["s", 1, 2, 3, null],
  ],
  [
    "an update",
    update(pair, "s", { a: 1, b: null }, { n: plus(-1), m: orElse(5), o: null }),
    "update pair set n = n + ?, m = coalesce(m, ?), o = ? where shop_id = ? and a = ? and b is null",
    [-1, 5, null, "s", 1],
  ],
  [
    "conditions",
    remove(pair, "s", {
      a: oneOf([1, 2]),
      b: not(null),
      c: not(3),
      d: below(4),
      e: upTo(5),
      f: above(6),
      g: fixed("on"),
    }),
    "delete from pair where shop_id = ? and a in (?, ?) and b is not null and c <> ? and d < ? and e <= ? and f > ? and g = 'on'",
    ["s", 1, 2, 3, 4, 5, 6],
  ],
];

for (const [what, change, sql, params] of cases)
  test(`${what} becomes one statement, with a parameter for each of the form's columns`, () => {
    assert.ok(isChange(change));
    assert.equal(change.sql, sql);
    assert.deepEqual(change.params, params);
    assert.equal(change.form.columns.length, params.length);
    assert.equal(change.sql.split("?").length - 1, params.length);
    assert.equal(valueIn(change, "shop_id"), "s");
  });

test("changes with the same columns share their form, others do not", () => {
  const form = (on: Parameters<typeof insert>[3]): unknown => insert(pair, "x", row, on).form;
  assert.equal(form("add"), insert(pair, "y", { a: 4, b: 5, n: 6 }, "add").form);
  assert.equal(new Set([form("fail"), form("keep"), form("add"), form(["n"]), form([])]).size, 5);
  assert.notEqual(update(pair, "s", { a: 1 }, { n: 1 }).form, update(pair, "s", { a: null }, { n: 1 }).form);
});

test("a change is confined to the values that all rows which it touches have before and after it", () => {
  assert.equal(valueIn(insert(pair, "s", row), "n"), 3);
  assert.equal(valueIn(insert(pair, "s", row, ["n"]), "n"), undefined);
  assert.equal(valueIn(insert(pair, "s", row, ["n"]), "a"), 1);
  assert.equal(valueIn(update(pair, "s", { a: 1 }, { n: 4 }), "a"), 1);
  assert.equal(valueIn(update(pair, "s", { a: 1 }, { n: 4 }), "n"), undefined);
  assert.equal(valueIn(update(pair, "s", { a: 1 }, { a: 2 }), "a"), undefined);
  assert.equal(valueIn(remove(pair, "s", { a: oneOf([1]) }), "a"), undefined);
  const text = textForm(pair, "update pair set n = ? where shop_id = ? and a = ? and n < b", [null, "shop_id", "a"]);
  assert.equal(valueIn(changeOf(text, [1, "s", 2]), "a"), 2);
  assert.equal(valueIn(changeOf(text, [1, "s", 2]), "n"), undefined);
});

test("the tables are in the schema, each with its key", () =>
  inPlace(async (directory) => {
    const store = await openStore(directory);
    try {
      await store.engine.create("s");
      for (const table of Object.values(tables)) {
        const nothing = insert(table, "s", Object.fromEntries(table.key.map((column) => [column, null])), "keep");
        // A key that is not the table's is refused before a row is looked at.
        await assert.rejects(
          store.engine.write("s", (tx) => tx.batch([nothing])),
          (error: unknown) =>
            error instanceof Error && !/on conflict|no such|does not exist|constraint matching/i.test(error.message),
          table.name,
        );
      }
    } finally {
      await store.close();
    }
  }));

/** Texts that return what they have changed, and those of files that no shop's engine opens. */
const others: Readonly<Record<string, number>> = {
  // The journal has a file and a schema of its own.
  "src/shop/audit/audit-journal.ts": 3,
  // They join two copies of a file, before anybody serves it.
  "src/shop/restore.ts": 15,
  "src/shop/access/idempotency.ts": 1,
  "src/shop/catalogue/pulled-records.ts": 1,
  "src/shop/events/deliveries.ts": 2,
  "src/shop/events/events.ts": 1,
  "src/shop/forecast/forecast-version.ts": 2,
  "src/shop/order/order-parties.ts": 1,
  "src/shop/order/purchase-order-attachments.ts": 2,
  "src/shop/storefront/storefront-pulls.ts": 1,
  "src/shop/storefront/storefront-tokens.ts": 1,
  "src/shop/storefront/storefront-turns.ts": 3,
  "src/exchange/import-run.ts": 3,
};

const changeText = /[`"]\s*(?:insert into|update \w+ set|update \$|delete from)\b/g;
const declared = /textForm\(\s*tables\.\w+,\s*$/;

/** Texts of a file that change rows without saying of which table they are. */
function undeclaredIn(text: string): number {
  return [...text.matchAll(changeText)].filter(({ index }) => !declared.test(text.slice(0, index))).length;
}

test("rows of a shop change by values, or by texts that say what they touch", () => {
  const found: Record<string, number> = {};
  for (const file of globSync(
    "src/{shop,exchange,jobs,requests,operations,webhooks,mail,people,connect,admin,suppliers}/**/*.ts",
  ).sort()) {
    const count = undeclaredIn(readFileSync(file, "utf8"));
    if (count > 0) found[file.replaceAll("\\", "/")] = count;
  }
  assert.deepEqual(found, Object.fromEntries(Object.entries(others).sort(([a], [b]) => (a < b ? -1 : 1))));
});

test("a text that is no value is found", () => {
  assert.equal(undeclaredIn('tx.batch([{ sql: "update variant set unit_cost = ?", params }])'), 1);
  assert.equal(undeclaredIn("const a = textForm(\n  tables.variant,\n  `update variant set unit_cost = ?`,\n  [])"), 0);
});
