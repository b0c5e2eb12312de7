/** The tests that every engine must pass (src/store/store.ts, S1–S7). Each test gets its own empty store. */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { dayMs } from "../../src/base/time/calendar.ts";
import { Fault, type FaultCode } from "../../src/base/fault.ts";
import type { QueueLimits } from "../../src/store/queue.ts";
import type { Engine, SqlValue, Statement, Tx } from "../../src/store/store.ts";

/** A store on which engines can be opened, closed and opened again. */
interface EngineStore {
  open(options?: { readonly queue?: QueueLimits }): Promise<Engine>;
  /** Removes the store. Every engine on it must be closed. */
  dispose(): Promise<void>;
}

export const faultOf = (code: FaultCode) => (error: unknown) => {
  assert.ok(error instanceof Fault, `expected a Fault, got ${String(error)}`);
  assert.equal(error.code, code);
  return true;
};

export const addLocation = (shopId: string, locationId: string, name: string): Statement => ({
  sql: "insert into location (shop_id, location_id, name, address) values (?, ?, ?, ?)",
  params: [shopId, locationId, name, null],
});

export async function locationIds(tx: Tx, shopId: string): Promise<string[]> {
  const rows = await tx.all<{ location_id: string }>(
    "select location_id from location where shop_id = ? order by location_id",
    [shopId],
  );
  return rows.map((row) => row.location_id);
}

const setOnHand = (shopId: string, variantId: string, onHand: number): Statement => ({
  sql: `insert into inventory_level (shop_id, variant_id, location_id, on_hand) values (?, ?, 'main', ?)
        on conflict (shop_id, variant_id, location_id) do update set on_hand = excluded.on_hand`,
  params: [shopId, variantId, onHand],
});

async function onHand(tx: Tx, shopId: string, variantId: string): Promise<number> {
  const [row] = await tx.all<{ on_hand: number }>(
    "select on_hand from inventory_level where shop_id = ? and variant_id = ? and location_id = 'main'",
    [shopId, variantId],
  );
  return row?.on_hand ?? 0;
}

const padded = (index: number): string => String(index).padStart(6, "0");

/** A step of a write. `clash` fails: the location is there already. */
interface Step {
  readonly kind: "add" | "raise" | "remove" | "clash" | "read";
  readonly id: string;
  readonly by: number;
}

const everyRow = async (tx: Tx, shopId: string): Promise<unknown> => [
  await tx.all("select location_id, name from location where shop_id = ? order by location_id", [shopId]),
  await tx.all("select variant_id, on_hand from inventory_level where shop_id = ? order by variant_id", [shopId]),
];

/** Takes a step. @returns what the step has read or removed. */
async function taken(tx: Tx, shopId: string, { kind, id, by }: Step): Promise<unknown> {
  switch (kind) {
    case "add":
      await tx.batch([addLocation(shopId, `${id}-${by}`, id)]);
      return null;
    case "raise":
      await tx.batch([
        {
          sql: `insert into inventory_level (shop_id, variant_id, location_id, on_hand) values (?, ?, 'main', ?)
                on conflict (shop_id, variant_id, location_id) do update set on_hand = inventory_level.on_hand + excluded.on_hand`,
          params: [shopId, id, by],
        },
      ]);
      return null;
    case "remove":
      return await tx.all("delete from location where shop_id = ? and name = ? returning location_id", [shopId, id]);
    case "clash":
      await tx.batch([addLocation(shopId, id, "x"), addLocation(shopId, id, "x")]);
      return null;
    case "read":
      return await everyRow(tx, shopId);
  }
}

/** @param searchesAllShops the engine finds due rows itself and names no other shop. */
export function engineSuite(name: string, prepare: () => Promise<EngineStore>, searchesAllShops: boolean): void {
  const engineTest = (
    rule: string,
    body: (engine: Engine, store: EngineStore) => Promise<void>,
    options: { readonly queue?: QueueLimits } = {},
  ): void => {
    test(`${name}: ${rule}`, async () => {
      const store = await prepare();
      const engine = await store.open(options);
      try {
        await body(engine, store);
      } finally {
        await engine.close();
        await store.dispose();
      }
    });
  };

  engineTest("a shop exists from create to remove, and creating it again changes nothing", async (engine) => {
    assert.deepEqual(await engine.list(), []);
    for (const shopId of ["b", "a-1", "a", "a-1"]) await engine.create(shopId);
    assert.deepEqual(await engine.list(), ["a", "a-1", "b"]);
    await engine.write("a", (tx) => tx.batch([addLocation("a", "x", "X")]));
    await engine.create("a");
    assert.deepEqual(await engine.read("a", (tx) => locationIds(tx, "a")), ["x"]);
    await engine.remove("a");
    await engine.remove("a");
    assert.equal(await engine.exists("a"), false);
    assert.equal(await engine.exists("b"), true);
    assert.deepEqual(await engine.list(), ["a-1", "b"]);
    await engine.create("a");
    assert.deepEqual(
      await engine.read("a", (tx) => locationIds(tx, "a")),
      [],
      "a recreated shop has no data of the removed one",
    );
  });

  engineTest("a missing shop is NOT_FOUND, whatever its id looks like", async (engine) => {
    await engine.create("a");
    for (const shopId of ["b", "", "../a", "a.db", "A", "a/../a", "a".repeat(41)]) {
      await assert.rejects(
        engine.read(shopId, () => Promise.resolve(1)),
        faultOf("NOT_FOUND"),
      );
      await assert.rejects(
        engine.peek(shopId, () => Promise.resolve(1)),
        faultOf("NOT_FOUND"),
      );
      await assert.rejects(
        engine.write(shopId, () => Promise.resolve(1)),
        faultOf("NOT_FOUND"),
      );
      assert.equal(await engine.exists(shopId), false);
    }
  });

  engineTest(
    "shops with rows that are due are named, whatever is due in them, and after the clock was set back",
    async (engine) => {
      const effect = (shopId: string, state: string, dueAtMs: number): Statement => ({
        sql: `insert into effect (shop_id, effect_id, kind, lane, payload, state, attempts, due_at, item_count, created_at)
            values (?, 'e', 'sync-tags', 'sync-tags', '{}', ?, 0, ?, 0, 0)`,
        params: [shopId, state, dueAtMs],
      });
      const importRun = (shopId: string, leasedUntilMs: number): Statement => ({
        sql: "insert into import_run (shop_id, import_id, state, started_at, leased_until) values (?, 'i', 'staging', 0, ?)",
        params: [shopId, leasedUntilMs],
      });
      const mail = (shopId: string, dueAtMs: number): Statement => ({
        sql: `insert into mail (shop_id, mail_id, purchase_order_id, state, recipients, content, documents, order_version, attempts, since_at, due_at, created_at)
            values (?, 'm', 'o', 'queued', '[]', '{}', '[]', 1, 0, 0, ?, 0)`,
        params: [shopId, dueAtMs],
      });
      const pull = (shopId: string, dueAtMs: number): Statement => ({
        sql: `insert into storefront_pull (shop_id, pull_id, state, is_full, step, round, skipped, counts, notes, sold_since, started_at, step_started_at, attempts, due_at)
            values (?, 'p', 'running', 0, 'variants', 0, 0, '{}', '[]', 0, 0, 0, 0, ?)`,
        params: [shopId, dueAtMs],
      });
      const aheadMs = 10 * dayMs;
      const rows: readonly (readonly [string, Statement | null])[] = [
        ["ahead-mail", mail("ahead-mail", aheadMs)],
        ["ahead-pull", pull("ahead-pull", aheadMs)],
        ["due-mail", mail("due-mail", 1_000)],
        ["due-pull", pull("due-pull", 1_000)],
        ["later-mail", mail("later-mail", 1_001)],
        ["later-pull", pull("later-pull", 1_001)],
        ["due-effect", effect("due-effect", "pending", 1_000)],
        ["due-import", importRun("due-import", 1_000)],
        ["later-effect", effect("later-effect", "pending", 1_001)],
        ["later-import", importRun("later-import", 1_001)],
        ["settled-effect", effect("settled-effect", "applied", 1_000)],
        ["nothing", null],
      ];
      for (const [shopId, row] of rows) {
        await engine.create(shopId);
        if (row !== null) await engine.write(shopId, (tx) => tx.batch([row]));
      }
      const due = [
        { shopId: "ahead-mail", table: "mail" },
        { shopId: "ahead-pull", table: "storefront_pull" },
        { shopId: "due-effect", table: "effect" },
        { shopId: "due-import", table: "import_run" },
        { shopId: "due-mail", table: "mail" },
        { shopId: "due-pull", table: "storefront_pull" },
      ];
      const named = await engine.shopsWithDueRows(1_000);
      if (searchesAllShops) assert.deepEqual(named, due);
      else for (const { shopId } of due) assert.ok(named.some((each) => each.shopId === shopId));
    },
  );

  engineTest("the shops of a person are named by their e-mail, whatever its case", async (engine) => {
    const people = [
      ["ana", "Ana@Shop.example"],
      ["both", "ana@shop.example"],
      ["nobody", null],
      ["other", "ana@shop.example.org"],
    ] as const;
    for (const [shopId, email] of people) {
      await engine.create(shopId);
      const sql =
        "insert into person (shop_id, person_id, name, email, role, created_at) values (?, 'p', 'P', ?, 'viewer', 0)";
      await engine.write(shopId, (tx) => tx.batch([{ sql, params: [shopId, email] }]));
    }
    const named = await engine.shopsWithValue("ana@shop.example");
    if (searchesAllShops) {
      assert.deepEqual(named, ["ana", "both"]);
      assert.deepEqual(await engine.shopsWithValue("Ana@Shop.example"), []);
    } else assert.deepEqual(named, ["ana", "both", "nobody", "other"]);
    const others = await engine.read("nobody", (tx) => tx.all("select person_id from person"));
    assert.ok(others.length <= 1, "a search lets nobody else see other shops");
  });

  engineTest("writes take effect one at a time, in the order of acceptance", async (engine) => {
    await engine.create("a");
    const counts = await Promise.all(
      Array.from({ length: 300 }, () =>
        engine.write("a", async (tx) => {
          const count = await onHand(tx, "a", "counter");
          await tx.batch([setOnHand("a", "counter", count + 1)]);
          return count;
        }),
      ),
    );
    assert.deepEqual(
      counts,
      counts.map((_, index) => index),
    );
    assert.equal(await engine.read("a", (tx) => onHand(tx, "a", "counter")), 300);
  });

  engineTest("a write that throws is rolled back and rejects with its error; other writes are kept", async (engine) => {
    await engine.create("a");
    const refusal = new Fault("NOTHING_TO_RECEIVE", "no");
    const outcomes = await Promise.allSettled(
      Array.from({ length: 30 }, (_, index) =>
        engine.write("a", async (tx) => {
          await tx.batch([addLocation("a", padded(index), "x"), setOnHand("a", padded(index), 1)]);
          if (index % 3 === 0) throw refusal;
          return index;
        }),
      ),
    );
    for (const [index, outcome] of outcomes.entries())
      assert.deepEqual(
        outcome,
        index % 3 === 0 ? { status: "rejected", reason: refusal } : { status: "fulfilled", value: index },
      );
    const kept = Array.from({ length: 30 }, (_, index) => index).filter((index) => index % 3 !== 0);
    assert.deepEqual(await engine.read("a", (tx) => locationIds(tx, "a")), kept.map(padded));
    assert.equal(await engine.read("a", (tx) => onHand(tx, "a", padded(0))), 0);
  });

  // On PostgreSQL a write after one that the database refuses may be told to repeat (D382). store/postgres/late-rows.pg.test.ts is its like there.
  if (!searchesAllShops)
    engineTest(
      "writes that come together leave and answer what they do one after another, whichever fail",
      async (engine) => {
        let shops = 0;
        const step = fc.record({
          kind: fc.constantFrom<Step["kind"][]>("add", "raise", "remove", "clash", "read"),
          id: fc.integer({ min: 0, max: 5 }).map(padded),
          by: fc.integer({ min: 1, max: 9 }),
        });
        const aWrite = fc.record({ steps: fc.array(step, { maxLength: 4 }), fails: fc.boolean() });
        const run = async (
          shopId: string,
          { steps, fails }: { readonly steps: readonly Step[]; readonly fails: boolean },
        ): Promise<unknown> => {
          const told: unknown[] = [];
          try {
            await engine.write(shopId, async (tx) => {
              for (const each of steps) told.push(await taken(tx, shopId, each));
              if (fails) throw new Error("refused");
            });
          } catch (error) {
            told.push(error instanceof Error && error.message === "refused" ? "refused" : "clash");
          }
          return told;
        };
        await fc.assert(
          fc.asyncProperty(fc.array(aWrite, { minLength: 1, maxLength: 12 }), async (writes) => {
            const [together, oneByOne] = [`t${(shops += 1)}`, `o${shops}`];
            for (const shopId of [together, oneByOne]) await engine.create(shopId);
            const answers = await Promise.all(writes.map((write) => run(together, write)));
            const expected: unknown[] = [];
            for (const write of writes) expected.push(await run(oneByOne, write));
            const withOneName = (value: unknown): string => JSON.stringify(value).replaceAll(oneByOne, together);
            assert.equal(withOneName(answers), withOneName(expected));
            const state = (shopId: string): Promise<string> =>
              engine.read(shopId, async (tx) => withOneName(await everyRow(tx, shopId)));
            assert.equal(await state(together), await state(oneByOne));
            for (const shopId of [together, oneByOne]) await engine.remove(shopId);
          }),
          { numRuns: 40 },
        );
      },
    );

  engineTest("a failing statement fails only its own write", async (engine) => {
    await engine.create("a");
    const twice = engine.write("a", (tx) => tx.batch([addLocation("a", "x", "X"), addLocation("a", "x", "X")]));
    const nonsense = engine.write("a", (tx) => tx.all("select nothing from nowhere"));
    const sound = engine.write("a", (tx) => tx.batch([addLocation("a", "y", "Y")]));
    await assert.rejects(twice, (error) => !(error instanceof Fault));
    await assert.rejects(nonsense, (error) => !(error instanceof Fault));
    await sound;
    assert.deepEqual(await engine.read("a", (tx) => locationIds(tx, "a")), ["y"]);
  });

  engineTest("reads and peeks never see half a write", async (engine) => {
    await engine.create("a");
    await engine.write("a", (tx) => tx.batch([setOnHand("a", "left", 1_000), setOnHand("a", "right", 0)]));
    const sumOf = async (tx: Tx): Promise<number> => (await onHand(tx, "a", "left")) + (await onHand(tx, "a", "right"));
    const work: Promise<unknown>[] = [];
    const sums: Promise<number>[] = [];
    for (let index = 0; index < 100; index += 1) {
      work.push(
        engine.write("a", async (tx) => {
          await tx.batch([setOnHand("a", "left", (await onHand(tx, "a", "left")) - 1)]);
          await Promise.resolve();
          await tx.batch([setOnHand("a", "right", (await onHand(tx, "a", "right")) + 1)]);
        }),
      );
      sums.push(engine.read("a", sumOf), engine.peek("a", sumOf));
      // Half of them run between the steps of the writes, half between turns of the event loop.
      await (index % 2 === 0 ? Promise.resolve() : new Promise((resolve) => setImmediate(resolve)));
    }
    assert.deepEqual(new Set(await Promise.all(sums)), new Set([1_000]));
    await Promise.all(work);
    assert.equal(await engine.read("a", (tx) => onHand(tx, "a", "right")), 100);
  });

  engineTest("a read after the answer to a write sees the write", async (engine) => {
    await engine.create("a");
    for (let index = 0; index < 20; index += 1) {
      await engine.write("a", (tx) => tx.batch([setOnHand("a", "v", index)]), { durable: index % 2 === 0 });
      assert.equal(await engine.peek("a", (tx) => onHand(tx, "a", "v")), index);
      assert.equal(await engine.read("a", (tx) => onHand(tx, "a", "v")), index);
    }
  });

  engineTest("a long loop of reads does not block others", async (engine) => {
    await engine.create("a");
    let othersTurns = 0;
    const others = setInterval(() => (othersTurns += 1), 1);
    try {
      for (let index = 0; index < 3_000; index += 1) await engine.read("a", (tx) => locationIds(tx, "a"));
      assert.ok(othersTurns > 0);
    } finally {
      clearInterval(others);
    }
  });

  engineTest("a read cannot change anything", async (engine) => {
    await engine.create("a");
    await assert.rejects(engine.read("a", (tx) => tx.batch([addLocation("a", "x", "X")])));
    await assert.rejects(engine.peek("a", (tx) => tx.all("delete from location returning location_id")));
    assert.deepEqual(await engine.read("a", (tx) => locationIds(tx, "a")), []);
  });

  engineTest("work cannot end its transaction", async (engine) => {
    await engine.create("a");
    for (const sql of ["commit", "rollback", "begin", "savepoint x"])
      await assert.rejects(
        engine.write("a", async (tx) => {
          await tx.batch([addLocation("a", "x", "X"), { sql, params: [] }]);
        }),
      );
    assert.deepEqual(await engine.read("a", (tx) => locationIds(tx, "a")), []);
  });

  engineTest("a Tx cannot be used after its work has ended", async (engine) => {
    await engine.create("a");
    const kept: Tx[] = [];
    await engine.write("a", (tx) => Promise.resolve(void kept.push(tx)));
    await engine.read("a", (tx) => Promise.resolve(void kept.push(tx)));
    assert.equal(kept.length, 2);
    for (const tx of kept) await assert.rejects(tx.all("select 1"));
  });

  engineTest("answered writes are there after closing and reopening", async (engine, store) => {
    await engine.create("a");
    await engine.write("a", (tx) => tx.batch([addLocation("a", "x", "X")]));
    await engine.close();
    const again = await store.open();
    try {
      assert.deepEqual(await again.list(), ["a"]);
      assert.deepEqual(await again.read("a", (tx) => locationIds(tx, "a")), ["x"]);
      await again.write("a", (tx) => tx.batch([addLocation("a", "y", "Y")]));
      assert.deepEqual(await again.read("a", (tx) => locationIds(tx, "a")), ["x", "y"]);
    } finally {
      await again.close();
    }
  });

  engineTest("closing finishes accepted writes and refuses later ones", async (engine) => {
    await engine.create("a");
    const accepted = Array.from({ length: 150 }, (_, index) =>
      engine.write("a", (tx) => tx.batch([addLocation("a", padded(index), "x")])),
    );
    const closing = engine.close();
    await assert.rejects(
      engine.write("a", () => Promise.resolve()),
      faultOf("DO_UNAVAILABLE"),
    );
    await assert.rejects(engine.ready(), faultOf("DO_UNAVAILABLE"));
    await Promise.all(accepted);
    await closing;
    await engine.close();
  });

  engineTest("an engine that can serve is ready, without a shop and with one", async (engine) => {
    await assert.doesNotReject(engine.ready());
    await engine.create("a");
    await assert.doesNotReject(engine.ready());
  });

  engineTest("a shop cannot see the data of another", async (engine) => {
    await engine.create("a");
    await engine.create("b");
    await Promise.all(
      ["a", "b"].map((shopId) => engine.write(shopId, (tx) => tx.batch([addLocation(shopId, "x", shopId)]))),
    );
    await engine.remove("a");
    assert.deepEqual(await engine.read("b", (tx) => locationIds(tx, "b")), ["x"]);
  });

  engineTest("removing a shop fails its waiting writes with NOT_FOUND", async (engine) => {
    await engine.create("a");
    const waiting = engine.write("a", (tx) => tx.batch([addLocation("a", "x", "X")]));
    const outcome = assert.rejects(waiting, faultOf("NOT_FOUND"));
    const removal = engine.remove("a");
    await assert.rejects(
      engine.read("a", (tx) => locationIds(tx, "a")),
      faultOf("NOT_FOUND"),
    );
    await Promise.all([outcome, removal]);
    await engine.create("a");
    assert.deepEqual(await engine.read("a", (tx) => locationIds(tx, "a")), []);
  });

  engineTest("only strings, finite numbers and null are bound, and they are read back unchanged", async (engine) => {
    await engine.create("a");
    const bind = (value: unknown) =>
      engine.write("a", (tx) => tx.all("select location_id from location where name = ?", [value as SqlValue]));
    for (const bad of [true, false, 1n, undefined, Number.NaN, Infinity, -Infinity, new Date(0), {}, [], 2 ** 53])
      await assert.rejects(bind(bad), TypeError);

    const texts = [
      "",
      "'; drop table location; --",
      "ünï — 数 🛒",
      "line\nfeed",
      "x".repeat(200_000),
      "%_\\",
      "0",
      "1e3",
    ];
    await engine.write("a", (tx) => tx.batch(texts.map((text, index) => addLocation("a", padded(index), text))));
    const names = await engine.read("a", (tx) =>
      tx.all<{ name: string }>("select name from location where shop_id = ? order by location_id", ["a"]),
    );
    assert.deepEqual(
      names.map((row) => row.name),
      texts,
    );
    for (const figure of [0, 1, -1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]) {
      await engine.write("a", (tx) => tx.batch([setOnHand("a", "v", figure)]));
      assert.equal(await engine.read("a", (tx) => onHand(tx, "a", "v")), figure);
    }
    await assert.rejects(
      engine.write("a", (tx) => tx.batch([setOnHand("a", "v", 0.5)])),
      "a fraction in an integer column is refused, not rounded",
    );
  });

  engineTest(
    "a full queue refuses at once, and a refused write never runs",
    async (engine) => {
      await engine.create("a");
      await engine.create("b");
      const run = new Set<number>();
      engine.admit("a");
      const settled = Promise.allSettled(
        Array.from({ length: 40 }, (_, index) =>
          engine.write("a", async (tx) => {
            run.add(index);
            await tx.batch([addLocation("a", padded(index), "x")]);
            return index;
          }),
        ),
      );
      assert.throws(() => engine.admit("a"), faultOf("DO_OVERLOADED"));
      engine.admit("b");
      await engine.write("b", (tx) => tx.batch([addLocation("b", "x", "X")]));
      const outcomes = await settled;
      const done = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
      const refused = outcomes.flatMap((outcome): unknown[] => (outcome.status === "rejected" ? [outcome.reason] : []));
      assert.ok(done.length >= 5 && refused.length > 0, `${done.length} done, ${refused.length} refused`);
      assert.deepEqual(run, new Set(done));
      assert.deepEqual(await engine.read("a", (tx) => locationIds(tx, "a")), done.map(padded));
      for (const error of refused) {
        faultOf("DO_OVERLOADED")(error);
        assert.ok(error instanceof Fault && error.retryAfterMs !== null && error.retryAfterMs <= 10_000);
      }
      engine.admit("a");
    },
    { queue: { lengthMax: 5, waitMsMax: 10_000 } },
  );

  engineTest("any mixture of writes, refusals and reads has the same result as one after another", async (engine) => {
    let round = 0;
    const step = fc.constantFrom("write", "loose-write", "append", "refusal", "read", "peek", "pause");
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 60 }), async (steps) => {
        round += 1;
        const shopId = `s${round}`;
        await engine.create(shopId);
        const expected: string[] = [];
        const appended: string[] = [];
        const seen: Promise<{ readonly ids: readonly string[]; readonly acceptedBefore: number }>[] = [];
        const work: Promise<unknown>[] = [];
        for (const [index, kind] of steps.entries()) {
          const add = (tx: Tx): Promise<void> => tx.batch([addLocation(shopId, padded(index), kind)]);
          const acceptedBefore = expected.length;
          switch (kind) {
            case "write":
            case "loose-write":
              expected.push(padded(index));
              work.push(engine.write(shopId, add, { durable: kind === "write" }));
              break;
            case "append":
              appended.push(`appended ${padded(index)}`);
              work.push(
                engine.write(shopId, (tx) => tx.batch([addLocation(shopId, `appended ${padded(index)}`, kind)]), {
                  durable: false,
                  append: true,
                }),
              );
              break;
            case "refusal":
              work.push(
                assert.rejects(
                  engine.write(shopId, async (tx) => {
                    await add(tx);
                    throw new Error("refused");
                  }),
                  /refused/,
                ),
              );
              break;
            case "read":
            case "peek":
              seen.push(engine[kind](shopId, async (tx) => ({ ids: await locationIds(tx, shopId), acceptedBefore })));
              break;
            case "pause":
              await new Promise((resolve) => setImmediate(resolve));
              break;
          }
        }
        await Promise.all(work);
        // Appended rows may come in any order.
        const inOrder = (ids: readonly string[]): readonly string[] => ids.filter((id) => !id.startsWith("appended"));
        for (const { ids } of await Promise.all(seen))
          assert.deepEqual(inOrder(ids), expected.slice(0, inOrder(ids).length));
        assert.deepEqual(await engine.read(shopId, (tx) => locationIds(tx, shopId)), [...expected, ...appended]);
        await engine.remove(shopId);
      }),
      { numRuns: 40 },
    );
  });
}
