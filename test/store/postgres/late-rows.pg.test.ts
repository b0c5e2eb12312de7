/**
 * Rows that writes of one transaction add and that are sent together (D382): every write reads and leaves what it would by itself.
 *
 * Only on postgres: sqlite runs each statement.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { Fault } from "../../../src/base/fault.ts";
import type { PostgresConnection, Query } from "../../../src/store/postgres/connection.ts";
import { joinedAdditions } from "../../../src/store/postgres/joined-rows.ts";
import { lateRowsMax } from "../../../src/store/postgres/late-rows.ts";
import { MemberTx, Transaction } from "../../../src/store/postgres/transaction.ts";
import {
  type Change,
  changeOf,
  insert,
  remove,
  replace,
  type Row,
  Term,
  textForm,
  update,
} from "../../../src/store/change.ts";
import type { Engine, SqlValue, Tx } from "../../../src/store/store.ts";
import { tables } from "../../../src/shop/tables.ts";
import { part } from "../../support/part.ts";
import { inPlace, openStore } from "../../support/store.ts";
import { locationIds } from "../../contract/engine-suite.ts";

const shopId = "together";
const oneByOne = "one-by-one";

const withEngine = (use: (engine: Engine) => Promise<void>): Promise<void> =>
  inPlace(async (directory) => {
    const store = await openStore(directory);
    try {
      for (const id of [shopId, oneByOne]) await store.engine.create(id);
      await use(store.engine);
    } finally {
      await store.close();
    }
  });

const level = (variant: number, onHand: SqlValue): Row => ({
  variant_id: `v${variant}`,
  location_id: "l",
  on_hand: onHand,
});

/** Adds to what is on hand of several variants. */
const sum = (id: string, changes: readonly (readonly [variant: number, by: SqlValue])[]): readonly Change[] =>
  changes.map(([variant, by]) => insert(tables.inventory_level, id, level(variant, by), "add"));

const set = (id: string, variant: number, onHand: SqlValue): readonly Change[] => [
  replace(tables.inventory_level, id, level(variant, onHand)),
];

const name = (id: string, location: number, text: string): readonly Change[] => [
  replace(tables.location, id, { location_id: `l${location}`, name: text }),
];

const keepFirst = (id: string, location: number, text: string): readonly Change[] => [
  insert(tables.location, id, { location_id: `l${location}`, name: text }, "keep"),
];

const double = (id: string, value: SqlValue): readonly Change[] => [
  update(tables.inventory_level, id, {}, { on_hand: new Term("plus", value) }),
];

const drop = (id: string, location: number): readonly Change[] => [
  remove(tables.location, id, { location_id: `l${location}` }),
];

const levels = (tx: Tx, id: string): Promise<unknown[]> =>
  tx.all("select variant_id, on_hand from inventory_level where shop_id = ? order by variant_id", [id]);

const locations = (tx: Tx, id: string): Promise<unknown[]> =>
  tx.all("select location_id, name from location where shop_id = ? order by location_id", [id]);

/** A change, for either shop. */
type Made = readonly [name: keyof typeof changes, ...values: readonly unknown[]];

const changes = { sum, set, name, keepFirst, double, drop };

const changesOf = (id: string, [made, ...values]: Made): readonly Change[] =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the values are of the change's own arbitrary
  (changes[made] as (id: string, ...values: readonly unknown[]) => readonly Change[])(id, ...values);

/** What one write does next: some statements, or a read whose rows it answers. */
type Step = readonly Made[] | "levels" | "locations" | "other" | "throws";

type Write = readonly Step[];

const anyVariant = fc.nat({ max: 12 });
const anyText = fc.constantFrom("x", "", '"\\u0000"', "Ä\n😀", "null");
const anyChanges = fc
  .array(fc.tuple(anyVariant, fc.integer()), { minLength: 1, maxLength: 3 })
  .map((changes) => [...new Map(changes)]);

const anyChange: fc.Arbitrary<Made> = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(fc.constant("sum" as const), anyChanges) },
  { weight: 2, arbitrary: fc.tuple(fc.constant("set" as const), anyVariant, fc.integer()) },
  { weight: 3, arbitrary: fc.tuple(fc.constant("name" as const), anyVariant, anyText) },
  { weight: 2, arbitrary: fc.tuple(fc.constant("keepFirst" as const), anyVariant, anyText) },
  // The database refuses a text.
  { weight: 2, arbitrary: fc.tuple(fc.constant("double" as const), fc.constantFrom(-3, 5, "no number")) },
  { weight: 1, arbitrary: fc.tuple(fc.constant("drop" as const), anyVariant) },
);

const anyWrite: fc.Arbitrary<Write> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.array(anyChange, { minLength: 1, maxLength: 12 }) },
    { weight: 2, arbitrary: fc.constantFrom<Step>("levels", "locations", "other", "other", "throws") },
  ),
  { maxLength: 5 },
);

/** Runs it. @returns what it has read. */
async function run(tx: Tx, id: string, steps: Write): Promise<unknown[]> {
  const read: unknown[] = [];
  for (const step of steps) {
    if (typeof step !== "string") await tx.batch(step.flatMap((made) => changesOf(id, made)));
    else if (step === "levels") read.push(await levels(tx, id));
    else if (step === "locations") read.push(await locations(tx, id));
    else if (step === "other") read.push(await tx.all("select count(*) as n from supplier where shop_id = ?", [id]));
    else throw new Error("as it was told");
  }
  return read;
}

/** Each statement is sent by itself, and awaited. */
const atOnce = (tx: Tx): Tx => ({
  all: (...asked) => tx.all(...asked),
  async batch(statements) {
    for (const { sql, params } of statements) await tx.all(sql, params);
  },
});

const outcome = (result: PromiseSettledResult<unknown>): unknown =>
  result.status === "fulfilled" ? result.value : "rejected";

/** What the second write saves is under way when it fails, since the first one's failure was sent again. */
const undoneInFlight: readonly Write[] = [
  [[["double", "no number"]], "levels"],
  [
    "levels",
    [
      ["name", 0, "x"],
      ["drop", 1],
    ],
    "throws",
  ],
  [[["name", 1, "x"]]],
];

/** Rows of the first write are undone with the second one, before the third has sent what meets them. */
const undoneBeforeOthers: readonly Write[] = [
  [[["sum", [[0, 1]]]]],
  [
    "other",
    [
      ["double", "no number"],
      ["keepFirst", 0, "x"],
    ],
  ],
  [
    [
      ["set", 0, 0],
      ["sum", [[0, 0]]],
    ],
  ],
];

test("writes that share a transaction read and leave what they would one after another, whichever of them fail", () =>
  withEngine(async (engine) => {
    let failed = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(anyWrite, { minLength: 1, maxLength: 8 }), async (writes) => {
        for (const id of [shopId, oneByOne])
          await engine.write(id, (tx) =>
            tx.batch(
              ["inventory_level", "location"].map((table) => ({
                sql: `delete from ${table} where shop_id = ?`,
                params: [id],
              })),
            ),
          );
        const together = await Promise.allSettled(
          writes.map((write) => engine.write(shopId, (tx) => run(tx, shopId, write))),
        );
        const alone: PromiseSettledResult<unknown>[] = [];
        for (const write of writes)
          alone.push(...(await Promise.allSettled([engine.write(oneByOne, (tx) => run(atOnce(tx), oneByOne, write))])));
        assert.deepEqual(together.map(outcome), alone.map(outcome));
        failed += alone.filter(({ status }) => status === "rejected").length;
        const stored = (id: string) => engine.read(id, (tx) => Promise.all([levels(tx, id), locations(tx, id)]));
        assert.deepEqual(await stored(shopId), await stored(oneByOne));
      }),
      { numRuns: 150, examples: [[undoneInFlight], [undoneBeforeOthers]] },
    );
    assert.ok(failed > 50, `${failed} writes have failed`);
  }));

test("a write whose rows are refused at the end is undone with those after it, which are told to repeat; those before it are kept", () =>
  withEngine(async (engine) => {
    const add = (variant: number, by: SqlValue) => async (tx: Tx) => {
      await tx.all("select 1 as one from supplier where shop_id = ?", [shopId]);
      await tx.batch([...name(shopId, variant, "x"), ...sum(shopId, [[variant, by]])]);
    };
    const writes = [add(1, 1), add(2, 2), add(3, "no number"), add(4, 4), add(5, 5)];
    // The first work of a shop asks more.
    await engine.read(shopId, (tx) => levels(tx, shopId));
    const results = await Promise.allSettled([
      ...writes.map((work) => engine.write(shopId, work)),
      // It has read nothing, and only adds: nothing of it can depend on the others.
      engine.write(shopId, (tx) => tx.batch(name(shopId, 9, "x"))),
    ]);
    assert.deepEqual(
      results.map(({ status }) => status),
      ["fulfilled", "fulfilled", "rejected", "rejected", "rejected", "fulfilled"],
    );
    const reasons = results.map((result): unknown => (result.status === "rejected" ? result.reason : null));
    assert.ok(reasons[2] instanceof Error && !(reasons[2] instanceof Fault));
    for (const reason of reasons.slice(3, 5)) {
      assert.ok(reason instanceof Fault && reason.code === "DO_OVERLOADED");
      assert.equal(reason.retryAfterMs, 1_000);
    }
    const stored = (): Promise<unknown> =>
      engine.read(shopId, (tx) => Promise.all([levels(tx, shopId), locationIds(tx, shopId)]));
    assert.deepEqual(await stored(), [
      [
        { variant_id: "v1", on_hand: 1 },
        { variant_id: "v2", on_hand: 2 },
      ],
      ["l1", "l2", "l9"],
    ]);
    await engine.write(shopId, add(4, 4));
    assert.deepEqual(await engine.read(shopId, (tx) => locationIds(tx, shopId)), ["l1", "l2", "l4", "l9"]);
  }));

test("rows of others that were sent behind the savepoint of a write that fails are kept", () =>
  withEngine(async (engine) => {
    const results = await Promise.allSettled([
      engine.write(shopId, (tx) => tx.batch([...name(shopId, 1, "first"), ...sum(shopId, [[1, 1]])])),
      engine.write(shopId, async (tx) => {
        await tx.all("select 1 as one from supplier where shop_id = ?", [shopId]);
        await tx.batch(name(shopId, 2, "second"));
        assert.equal((await locations(tx, shopId)).length, 2);
        throw new Error("as it was told");
      }),
      engine.write(shopId, async (tx) => {
        await tx.all("select 1 as one from supplier where shop_id = ?", [shopId]);
        assert.equal((await levels(tx, shopId)).length, 1);
        await tx.batch(double(shopId, "no number"));
      }),
      engine.write(shopId, (tx) => tx.batch(name(shopId, 3, "third"))),
    ]);
    assert.deepEqual(
      results.map(({ status }) => status),
      ["fulfilled", "rejected", "rejected", "fulfilled"],
    );
    assert.deepEqual(await engine.read(shopId, (tx) => Promise.all([locationIds(tx, shopId), levels(tx, shopId)])), [
      ["l1", "l3"],
      [{ variant_id: "v1", on_hand: 1 }],
    ]);
  }));

test("rows that are added up are one row for each key, others keep their order, and what is not exact is sent as it is", () => {
  const sums = Array.from({ length: 30 }, (_, index) => index).flatMap((index) =>
    sum("a", [
      [index % 10, 1],
      [10 + (index % 2), -1],
    ]),
  );
  const [one, ...more] = joinedAdditions(sums);
  assert.deepEqual(more, []);
  const rows: unknown = JSON.parse(String(one?.params[0]));
  assert.deepEqual(Array.isArray(rows) && rows.map(({ variant_id, on_hand }) => [variant_id, on_hand]), [
    ["v0", 3],
    ["v10", -15],
    ["v1", 3],
    ["v11", -15],
    ...[2, 3, 4, 5, 6, 7, 8, 9].map((n) => [`v${n}`, 3]),
  ]);
  const few = sum("a", [
    [1, 1],
    [1, 2],
    [2, 1],
  ]);
  assert.deepEqual(
    joinedAdditions(few).map(({ params }) => params),
    [
      ["a", "v1", "l", 3],
      ["a", "v2", "l", 1],
    ],
  );
  const large = sum("a", [
    [1, Number.MAX_SAFE_INTEGER],
    [1, 1],
  ]);
  assert.deepEqual(joinedAdditions(large), large);
  const twice = [...Array.from({ length: 9 }, (_, n) => n), 3].flatMap((n, index) => set("a", n, index === 9 ? 7 : n));
  const [first, last] = joinedAdditions(twice);
  assert.equal(first?.params.length, 1);
  assert.deepEqual(last?.params, ["a", "v3", "l", 7]);
});

/** A connection that answers every query with nothing, and keeps what it was sent. */
function silent(): { readonly connection: PostgresConnection; readonly sent: Query[][] } {
  const sent: Query[][] = [];
  const connection = part<PostgresConnection>({
    lost: false,
    exchange: async (queries: readonly Query[]) => {
      sent.push([...queries]);
      return queries.map(() => ({ ok: true, rows: [], command: "" }));
    },
  });
  return { connection, sent };
}

test("no more than lateRowsMax rows wait: those are sent with what comes next", async () => {
  const { connection, sent } = silent();
  const transaction = new Transaction(connection, [], false);
  const tx = new MemberTx(transaction, transaction.begin(), true);
  const ask = async (): Promise<readonly string[]> => {
    await tx.all("select 1 as one");
    return (sent.at(-1) ?? []).map(({ text }) => text.trim().slice(0, 20));
  };
  for (let at = 0; at < lateRowsMax - 1; at += 1) await tx.batch(name(shopId, at, "x"));
  assert.deepEqual(await ask(), ["select 1 as one"]);
  await tx.batch(name(shopId, lateRowsMax, "x"));
  assert.deepEqual(await ask(), [...Array.from({ length: 4 }, () => "insert into location"), "select 1 as one"]);
  assert.deepEqual(await ask(), ["select 1 as one"]);
});

test("a change that is a text meets the rows of every table that it reads", () =>
  withEngine(async (engine) => {
    const count = textForm(
      tables.inventory_level,
      `insert into inventory_level (shop_id, variant_id, location_id, on_hand)
       select ?, ?, ?, count(*) from location where shop_id = ?`,
      ["shop_id", "variant_id", "location_id", null],
    );
    await engine.write(shopId, (tx) =>
      tx.batch([...name(shopId, 1, "x"), ...name(shopId, 2, "x"), changeOf(count, [shopId, "v1", "l", shopId])]),
    );
    assert.deepEqual(await engine.read(shopId, (tx) => levels(tx, shopId)), [{ variant_id: "v1", on_hand: 2 }]);
  }));

test("no table's rows depend on another one's: there are no triggers, rules, views and foreign keys", async () => {
  await withEngine(async (engine) => {
    const found = await engine.read(shopId, (tx) =>
      tx.all<{ name: string }>(
        `select tgname as name from pg_trigger where not tgisinternal
         union all select conname from pg_constraint where contype = 'f' and connamespace <> 'pg_catalog'::regnamespace
         union all select viewname from pg_views where schemaname not in ('pg_catalog', 'information_schema')
         union all select rulename from pg_rules where schemaname <> 'pg_catalog'`,
      ),
    );
    assert.deepEqual(found, []);
  });
});
