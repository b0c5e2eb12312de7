/** Tests of PostgreSQL beyond the contract of every engine: many nodes on one database, and row-level security between shops. */
import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import type { Client } from "pg";
import { Fault } from "../../../src/base/fault.ts";
import { SharedPeeks } from "../../../src/requests/remembered/shared-peeks.ts";
import { statementMsMax } from "../../../src/store/postgres/connection.ts";
import { migratePostgres, ownLine, sharedLine } from "../../../src/store/postgres/schema.ts";
import { openPostgresEngine } from "../../../src/store/postgres/engine.ts";
import type { Engine, Tx } from "../../../src/store/store.ts";
import { systemClock } from "../../../src/base/time/system.ts";
import {
  freshDatabase,
  openPostgresStore,
  openTestPool,
  sandboxSchema,
  shopsSchema,
  withClient,
} from "../../support/postgres/postgres.ts";
import { peopleAfter, peopleBefore } from "../../support/shops/people-before.ts";
import type { Store } from "../../support/store.ts";
import { pause, until } from "../../support/until.ts";
import { addLocation, locationIds } from "../../contract/engine-suite.ts";

const shopSchemaDirectory = path.join(import.meta.dirname, "../../../src/shop/schema");

/** Runs `use` with the engines of several nodes on one database, and drops the database afterwards. */
const withNodes = (
  count: number,
  use: (nodes: readonly Engine[], url: string) => Promise<void>,
  options: { readonly empty?: boolean } = {},
): Promise<void> =>
  withStores(
    count,
    (stores, url) =>
      use(
        stores.map(({ engine }) => engine),
        url,
      ),
    options,
  );

async function withStores(
  count: number,
  use: (stores: readonly Store[], url: string) => Promise<void>,
  { empty = false } = {},
): Promise<void> {
  const database = await freshDatabase({ empty });
  const stores: Store[] = [];
  try {
    stores.push(...(await Promise.all(Array.from({ length: count }, () => openPostgresStore(database.url)))));
    await use(stores, database.url);
  } finally {
    for (const store of stores) await store.close();
    await database.drop();
  }
}

const setCounter = "update inventory_level set on_hand = ? where shop_id = 'a' and variant_id = 'v'";

async function counter(tx: Tx): Promise<number> {
  const [row] = await tx.all<{ on_hand: number }>(
    "select on_hand from inventory_level where shop_id = 'a' and variant_id = 'v'",
  );
  return row?.on_hand ?? -1;
}

test("writes on one shop through two nodes take effect one at a time, each node's in their order", async () => {
  await withNodes(2, async ([left, right]) => {
    assert.ok(left !== undefined && right !== undefined);
    await left.create("a");
    await left.write("a", (tx) =>
      tx.batch([
        {
          sql: "insert into inventory_level (shop_id, variant_id, location_id, on_hand) values ('a', 'v', 'l', 0)",
          params: [],
        },
      ]),
    );
    const raise = async (tx: Tx): Promise<number> => {
      const before = await counter(tx);
      await tx.batch([{ sql: setCounter, params: [before + 1] }]);
      return before;
    };
    const outcomes = await Promise.all(
      [left, right].map((node) => Promise.all(Array.from({ length: 300 }, () => node.write("a", raise)))),
    );
    for (const seen of outcomes)
      assert.deepEqual(
        seen,
        seen.toSorted((one, other) => one - other),
      );
    assert.deepEqual(
      outcomes.flat().sort((one, other) => one - other),
      Array.from({ length: 600 }, (_, index) => index),
    );
    assert.equal(await right.read("a", counter), 600);
  });
});

test("an answered write is visible on the other node at once, and a removed shop is gone on both", async () => {
  await withNodes(2, async ([left, right]) => {
    assert.ok(left !== undefined && right !== undefined);
    await left.create("a");
    for (let index = 0; index < 20; index += 1) {
      const writer: Engine = index % 2 === 0 ? left : right;
      const reader: Engine = index % 2 === 0 ? right : left;
      await writer.write("a", (tx) => tx.batch([addLocation("a", `l${10 + index}`, "x")]));
      assert.equal((await reader.read("a", (tx) => locationIds(tx, "a"))).length, index + 1);
    }
    const together = await Promise.allSettled([
      ...Array.from({ length: 20 }, (_, index) =>
        left.write("a", (tx) => tx.batch([addLocation("a", `m${10 + index}`, "x")])),
      ),
      right.remove("a"),
    ]);
    assert.equal(together.at(-1)?.status, "fulfilled");
    assert.deepEqual(await Promise.all([left.exists("a"), right.exists("a")]), [false, false]);
    await left.create("a");
    assert.deepEqual(await right.read("a", (tx) => locationIds(tx, "a")), [], "nothing of the removed shop comes back");
  });
});

test("when nodes start together on an empty database, one creates the schemas and the others wait", async () => {
  await withNodes(
    5,
    async (nodes, url) => {
      for (const [index, node] of nodes.entries()) {
        await node.create(`s${index}`);
        await node.write(`s${index}`, (tx) => tx.batch([addLocation(`s${index}`, "x", "X")]));
      }
      await withClient(url, async (client) => {
        const { rows } = await client.query(
          `select line, version, count(*)::int as times from ${shopsSchema}.migration group by line, version having count(*) > 1`,
        );
        assert.deepEqual(rows, []);
      });
    },
    { empty: true },
  );
});

/** A database of an earlier version with a shop `a`, an engine on it, and what brings it to today's. */
async function withEarlier(
  use: (earlier: {
    readonly url: string;
    readonly engine: Engine;
    readonly migrate: (options?: Parameters<typeof migratePostgres>[3]) => Promise<void>;
  }) => Promise<void>,
): Promise<void> {
  const database = await freshDatabase({ empty: true });
  const pool = await openTestPool(database.url);
  try {
    const own = ownLine("postgres", shopsSchema);
    const line = sharedLine(shopSchemaDirectory);
    await migratePostgres(pool, shopsSchema, [own, { ...line, steps: line.steps.slice(0, 28) }]);
    const opened = { pool, schemaName: shopsSchema, schemaDirectory: shopSchemaDirectory, clock: systemClock };
    const engine = await openPostgresEngine({ ...opened, migrates: false });
    await engine.create("a");
    await use({
      url: database.url,
      engine,
      migrate: (options) => migratePostgres(pool, shopsSchema, [own, line], options),
    });
    await engine.close();
  } finally {
    await pool.close();
    await database.drop();
  }
}

/** The tables of the shops that some session holds for itself alone, and those that one waits for. */
async function heldTables(
  client: Client,
): Promise<{ readonly held: readonly string[]; readonly awaited: readonly string[] }> {
  const { rows } = await client.query<{ name: string; granted: boolean }>(
    `select relname as name, granted from pg_locks join pg_class on pg_class.oid = relation
     where relnamespace = $1::regnamespace and mode = 'AccessExclusiveLock'`,
    [shopsSchema],
  );
  const named = (isGranted: boolean): readonly string[] =>
    rows.filter(({ granted }) => granted === isGranted).map(({ name }) => name);
  return { held: named(true), awaited: named(false) };
}

test("a migration waits for the turns that are under way, and holds nothing that they might want next", () =>
  withEarlier(({ url, migrate }) =>
    withClient(url, async (turn) => {
      await turn.query("begin");
      await turn.query(`select ${shopsSchema}.engine_turn('a', true)`);
      await turn.query(`select * from ${shopsSchema}.purchase_order`);
      const migrated = migrate();
      await withClient(url, async (looking) => {
        const awaited = await until("it waits", async () => {
          const found = await heldTables(looking);
          return found.awaited.length > 0 && found;
        });
        assert.deepEqual(awaited, { held: [], awaited: ["engine_shop"] });
      });
      // What the turn writes last.
      await turn.query(`lock table ${shopsSchema}.audit_log in row exclusive mode`);
      await turn.query("commit");
      await migrated;
    }),
  ));

test("of the people whom a key has made, an upgrade leaves the one that was seen last (C49)", () =>
  withEarlier(({ url, engine, migrate }) =>
    withClient(url, async (client) => {
      await engine.write("a", (tx) => tx.batch(peopleBefore.map((sql) => ({ sql, params: [] }))));
      await migrate();
      await client.query(`set search_path = ${shopsSchema}`);
      await client.query("select set_config('openpo.shop_id', 'a', false)");
      for (const [sql, rows] of Object.entries(peopleAfter))
        assert.deepEqual((await client.query({ text: sql, rowMode: "array" })).rows, rows, sql);
    }),
  ));

test("a migration gives way to a backup: turns go on beside both, and it is done when the backup has ended, or says why it is not", () =>
  withEarlier(({ url, engine, migrate }) =>
    withClient(url, async (backup) => {
      await backup.query("begin");
      await backup.query(`lock table ${shopsSchema}.audit_log, ${shopsSchema}.engine_shop in access share mode`);
      const refused = assert.rejects(
        migrate({ triesMsMax: 0 }),
        /^Error: its schema openpo could not be brought to this version: other sessions hold its tables, such as a backup that runs\. Start again/,
      );
      const warned: string[] = [];
      const log = { info: () => {}, error: assert.fail, warn: (_: object, message: string) => warned.push(message) };
      const migrated = migrate({ log });
      await until("it waits", async () => (await heldTables(backup)).awaited.length > 0);
      await engine.write("a", (tx) => tx.batch([addLocation("a", "x", "X")]));
      assert.deepEqual(await engine.read("a", (tx) => locationIds(tx, "a")), ["x"]);
      await refused;
      await until("it was told", () => warned.length > 0);
      assert.match(String(warned[0]), /waits until other sessions/);
      await backup.query("commit");
      await migrated;
      await engine.read("a", (tx) => tx.all("select link_id from audit_log"));
    }),
  ));

test("a migration fills new columns of the orders of every shop", async () => {
  const database = await freshDatabase({ empty: true });
  const pool = await openTestPool(database.url);
  try {
    const line = sharedLine(shopSchemaDirectory);
    const migrateTo = (version: number): Promise<void> =>
      migratePostgres(pool, shopsSchema, [{ ...line, steps: line.steps.slice(0, version) }]);
    await migrateTo(5);
    await withClient(database.url, async (client) => {
      await client.query(`set search_path = ${shopsSchema}`);
      for (const shopId of ["a", "b"]) {
        await client.query("select set_config('openpo.shop_id', $1, false)", [shopId]);
        await client.query(
          `insert into purchase_order
             (shop_id, purchase_order_id, po_number, status, previous_status, currency_code, shipping_cost, tags, item_count,
              total_value, unpriced_line_item_ids, settled_amount, paid_status, storefront_sync_state, search_folded, created_at, updated_at,
              version)
           values ($1, 'o', 'PO-1', 'Sent', 'Draft', 'EUR', 5000, '["Früh"]', 1, 10000, '[]', 10000, 'Paid', 'never-synced', 'größe', 0, 0, 1)`,
          [shopId],
        );
        await client.query(
          `insert into purchase_order_line
             (shop_id, purchase_order_id, po_line_item_id, position, variant_id, quantity_ordered, quantity_confirmed,
              quantity_received, quantity_rejected, quantity_cancelled, quantity_synced, unit_cost, unit_cost_currency_code,
              expected_delivery_date, created_at, updated_at)
           values ($1, 'o', 'l', 1, 'v', 3000, 0, 1000, 0, 0, 0, 10000, 'EUR', '2026-03-01', 0, 0)`,
          [shopId],
        );
      }
    });
    await migrateTo(line.steps.length);
    await withClient(database.url, async (client) => {
      await client.query(`set search_path = ${shopsSchema}`);
      const orders =
        "select shop_id, grand_total, paid_status, quantity_pending, next_expected_date from purchase_order";
      assert.deepEqual((await client.query(orders)).rows, [], "the policy holds again");
      for (const shopId of ["a", "b"]) {
        await client.query("select set_config('openpo.shop_id', $1, false)", [shopId]);
        assert.deepEqual((await client.query(orders)).rows, [
          {
            shop_id: shopId,
            // What came and is still to come, and shipping (C35).
            grand_total: "35000",
            paid_status: "Partially Paid",
            quantity_pending: "2000",
            next_expected_date: "2026-03-01",
          },
        ]);
      }
    });
  } finally {
    await pool.close();
    await database.drop();
  }
});

test("row-level security limits a statement that does not name its shop to its own shop", async () => {
  await withNodes(1, async ([engine]) => {
    assert.ok(engine !== undefined);
    for (const shopId of ["a", "b"]) {
      await engine.create(shopId);
      await engine.write(shopId, (tx) => tx.batch([addLocation(shopId, "x", shopId)]));
    }
    const names = (tx: Tx): Promise<{ name: string }[]> => tx.all("select name from location");
    assert.deepEqual(await engine.read("a", names), [{ name: "a" }]);
    assert.deepEqual(await engine.write("b", names), [{ name: "b" }]);
    await engine.write("a", (tx) => tx.batch([{ sql: "update location set name = 'changed'", params: [] }]));
    await engine.write("a", (tx) => tx.batch([{ sql: "delete from location where shop_id = 'b'", params: [] }]));
    assert.deepEqual(await engine.read("b", names), [{ name: "b" }]);
    await assert.rejects(
      engine.write("a", (tx) => tx.batch([addLocation("b", "y", "smuggled")])),
      /row-level security/,
    );
    assert.deepEqual(await engine.read("b", names), [{ name: "b" }]);
  });
});

test("the service's role may truncate no table, in a database in use either", async () => {
  await withNodes(1, async ([engine], url) => {
    await engine?.create("a");
    await engine?.write("a", (tx) => tx.batch([addLocation("a", "x", "kept")]));
    const truncatable = (): Promise<readonly unknown[]> =>
      withClient(url, async (client) => {
        const { rows } = await client.query(
          `select relname from pg_class where relnamespace in ('openpo'::regnamespace, 'openpo_sandbox'::regnamespace)
             and relkind in ('r', 'p') and has_table_privilege(oid, 'truncate')`,
        );
        return rows;
      });
    assert.deepEqual(await truncatable(), []);
    for (const table of ["location", "audit_log", "engine_shop", "token_bucket", "migration"])
      await assert.rejects(
        withClient(url, (client) => client.query(`truncate ${shopsSchema}.${table}`)),
        /permission denied/,
        table,
      );
    // As a version from before has left it.
    await withClient(url, (client) => client.query(`grant truncate on ${shopsSchema}.location to current_user`));
    assert.equal((await truncatable()).length, 1);
    await (await openPostgresStore(url)).close();
    assert.deepEqual(await truncatable(), []);
    assert.deepEqual(await engine?.read("a", (tx) => locationIds(tx, "a")), ["x"]);
  });
});

test("every table of the shops has row-level security, and every text is compared by code point", async () => {
  await withNodes(1, async (_, url) => {
    await withClient(url, async (client) => {
      const own = [
        "engine_shop",
        "migration",
        "token_bucket",
        "key_in_flight",
        "first_start",
        "operator_session",
        "node",
        "shared_secret",
      ];
      const { rows: open } = await client.query<{ name: string }>(
        `select relname as name from pg_class
         where relnamespace in ('${shopsSchema}'::regnamespace, '${sandboxSchema}'::regnamespace) and relkind = 'r' and not (relrowsecurity and relforcerowsecurity)
         order by relname`,
      );
      assert.deepEqual(
        open.map(({ name }) => name).filter((name) => !own.includes(name)),
        [],
      );
      const { rows: other } = await client.query(
        `select table_name, column_name from information_schema.columns
         where table_schema in ('${shopsSchema}', '${sandboxSchema}') and data_type = 'text' and collation_name is distinct from 'C'
           and table_name not in ('migration', 'token_bucket', 'key_in_flight')`,
      );
      assert.deepEqual(other, []);
      const { rows: order } = await client.query(
        "select 'a' < 'B' as folded, 'a' < 'B' collate \"C\" as by_code_point",
      );
      assert.deepEqual(order, [{ folded: true, by_code_point: false }], "the server's own order is another");
    });
  });
});

test("a database in use gets the policy for a table that a later version searches over all shops", async () => {
  const database = await freshDatabase({ empty: true });
  const located = ["a", "c"].map((shopId) => ({ shopId, table: "location" }));
  const withEngine = async (tables: readonly string[], use: (engine: Engine) => Promise<void>): Promise<void> => {
    const pool = await openTestPool(database.url);
    try {
      const engine = await openPostgresEngine({
        pool,
        schemaName: shopsSchema,
        schemaDirectory: shopSchemaDirectory,
        dueRows: tables.map((table) => ({ table, condition: "0 <= ?" })),
        clock: systemClock,
      });
      await use(engine);
      await engine.close();
    } finally {
      await pool.close();
    }
  };
  try {
    await withEngine(["effect"], async (engine) => {
      for (const shopId of ["a", "b", "c"]) await engine.create(shopId);
      for (const shopId of ["a", "c"]) await engine.write(shopId, (tx) => tx.batch([addLocation(shopId, "x", "X")]));
      assert.deepEqual(await engine.shopsWithDueRows(0), []);
    });
    for (let start = 1; start <= 2; start += 1)
      await withEngine(["effect", "location"], async (engine) => {
        assert.deepEqual(await engine.shopsWithDueRows(0), located, `start ${start}`);
        const names = await engine.read("b", (tx) => tx.all("select name from location"));
        assert.deepEqual(names, [], "statements of a shop still see that shop alone");
      });
    await withClient(database.url, async (client) => {
      await client.query(`drop policy work_due on ${shopsSchema}.location`);
      await client.query(`alter table ${shopsSchema}.location disable row level security`);
    });
    await withEngine(["effect", "location"], async (engine) => {
      assert.deepEqual(await engine.shopsWithDueRows(0), located);
    });
    await withClient(database.url, async (client) => {
      const { rows } = await client.query(
        "select 1 from pg_policies where policyname = 'work_due' and tablename = 'location'",
      );
      assert.deepEqual(rows, [], "a table whose row-level security was switched off is left as it is");
    });
  } finally {
    await database.drop();
  }
});

test("rows of keys in flight can be read whichever version of a node has written them", async () => {
  await withStores(1, async ([store], url) => {
    assert.ok(store !== undefined);
    await withClient(url, (client) =>
      client.query(
        `insert into ${shopsSchema}.key_in_flight (shop_id, scope, fingerprint, owner, leased_until)
         values ('a', 'runs', 'run f00d', 'node', now() + interval '5 seconds'),
                ('a', 'replays', 'look f00d', 'node', now() + interval '5 seconds')`,
      ),
    );
    const { coordination } = store;
    const holder = { kind: "run", fingerprint: "f00d" } as const;
    assert.deepEqual(await coordination.claimKey("a", "runs", holder), holder);
    assert.deepEqual(await coordination.claimKey("a", "replays", holder), { ...holder, kind: "replay" });
    await coordination.claimKey("a", "mine", { kind: "replay", fingerprint: "beef" });
    await withClient(url, async (client) => {
      const { rows } = await client.query(`select fingerprint from ${shopsSchema}.key_in_flight where scope = 'mine'`);
      assert.deepEqual(rows, [{ fingerprint: "look beef" }]);
    });
  });
});

test("a key is taken over from another node to replay its answer, until that node begins to replace the answer (K3, C20)", async () => {
  await withStores(2, async ([first, second]) => {
    assert.ok(first !== undefined && second !== undefined);
    const [near, far] = [first.coordination, second.coordination];
    const claim = { kind: "run", fingerprint: "f00d" } as const;
    for (const scope of ["taken", "kept"]) {
      assert.equal(await far.claimKey("a", scope, claim), null);
      assert.equal(await near.takeOverKey("a", scope, "beef"), false, "a claim of another request stays");
    }
    assert.equal(await near.takeOverKey("a", "taken", "f00d"), true);
    assert.equal(await far.holdsKey("a", "taken"), false, "so it leaves the answer as it has stored it");
    await far.releaseKey("a", "taken");
    assert.deepEqual(await far.claimKey("a", "taken", claim), { ...claim, kind: "replay" });
    await near.releaseKey("a", "taken");
    assert.equal(await far.claimKey("a", "taken", claim), null);

    assert.equal(await far.holdsKey("a", "kept"), true);
    assert.equal(await near.takeOverKey("a", "kept", "f00d"), false);
    assert.deepEqual(await near.claimKey("a", "kept", claim), claim);
    await far.releaseKey("a", "kept");
    assert.equal(await near.claimKey("a", "kept", claim), null);
  });
});

test("a claim that waits for its key keeps no other key of the same read from those who want it", async () => {
  await withStores(2, async ([here, there]) => {
    assert.ok(here !== undefined && there !== undefined);
    await here.engine.create("a");
    const claim = { kind: "run", fingerprint: "f00d" } as const;
    await here.coordination.claimKey("a", "given back", claim);
    const release = here.coordination.releaseKeyWith("a", "given back");
    const goOn = Promise.withResolvers<void>();
    const isLocked = Promise.withResolvers<void>();
    const writing = here.engine.write("a", async (tx) => {
      await tx.batch(release.statements);
      await locationIds(tx, "a");
      isLocked.resolve();
      await goOn.promise;
    });
    await isLocked.promise;
    const claims = here.engine.peek("a", (tx) =>
      Promise.all(["first", "given back"].map((scope) => here.coordination.claimKey("a", scope, claim, tx))),
    );
    const claimed = (): Promise<unknown[]> =>
      there.engine.read("a", (tx) =>
        tx.all("select 1 as one from key_in_flight where shop_id = ? and scope = ?", ["a", "first"]),
      );
    // The write may want that key too, so the claim of it is committed and locks nothing.
    await until("the key is claimed", async () => (await claimed()).length === 1);
    goOn.resolve();
    await writing;
    assert.deepEqual(await claims, [null, null]);
  });
});

test("a connection that the database closes between two uses is replaced without an error", async () => {
  await withNodes(1, async ([engine], url) => {
    assert.ok(engine !== undefined);
    await engine.create("a");
    for (let round = 0; round < 5; round += 1) {
      await engine.write("a", (tx) => tx.batch([addLocation("a", `l${round}`, "x")]));
      await withClient(url, (client) =>
        client.query(
          "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'openpo' and datname = current_database()",
        ),
      );
      await pause(50);
    }
    assert.equal((await engine.read("a", (tx) => locationIds(tx, "a"))).length, 5);
  });
});

test("when the connection of a shared peek is lost, all who share it are told that the database cannot be reached", async () => {
  await withNodes(1, async ([engine]) => {
    assert.ok(engine !== undefined);
    await engine.create("a");
    const shared = new SharedPeeks(engine);
    const lost = shared.peek("a", (tx) => tx.all("select pg_terminate_backend(pg_backend_pid())"));
    const beside = shared.peek("a", (tx) => locationIds(tx, "a"));
    for (const each of [lost, beside]) await assert.rejects(each, { code: "DO_UNAVAILABLE" });
    assert.deepEqual(await shared.peek("a", (tx) => locationIds(tx, "a")), []);
  });
});

test("more parallel work than connections waits for a connection, on every shop", async () => {
  const database = await freshDatabase();
  const store = await openPostgresStore(database.url, { connectionsMax: 2 });
  const pool = await openTestPool(database.url, 1);
  try {
    const shops = Array.from({ length: 12 }, (_, index) => `s${index}`);
    for (const shopId of shops) await store.engine.create(shopId);
    await Promise.all(
      shops.flatMap((shopId) =>
        Array.from({ length: 5 }, (_, index) =>
          Promise.all([
            store.engine.write(shopId, (tx) => tx.batch([addLocation(shopId, String(index), "x")])),
            store.engine.read(shopId, (tx) => locationIds(tx, shopId)),
          ]),
        ),
      ),
    );
    const [row] = await pool.using((connection) =>
      connection.run<{ n: number }>(
        "select count(*) as n from pg_stat_activity where application_name = 'openpo' and datname = current_database()",
      ),
    );
    assert.ok(row !== undefined && row.n <= 3, `${row?.n} connections`);
    for (const shopId of shops)
      assert.equal((await store.engine.read(shopId, (tx) => locationIds(tx, shopId))).length, 5);
  } finally {
    await pool.close();
    await store.close();
    await database.drop();
  }
});

test("appending does not wait for the shop's turn, and the shop is not removed meanwhile", async () => {
  await withNodes(2, async ([left, right]) => {
    assert.ok(left !== undefined && right !== undefined);
    await left.create("a");
    const underLock = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const turn = left.write("a", async (tx) => {
      await locationIds(tx, "a");
      underLock.resolve();
      await goOn.promise;
    });
    await underLock.promise;
    for (const [node, locationId] of [
      [left, "one"],
      [right, "two"],
    ] as const)
      await node.write("a", (tx) => tx.batch([addLocation("a", locationId, "x")]), { durable: false, append: true });
    assert.deepEqual(await right.read("a", (tx) => locationIds(tx, "a")), ["one", "two"]);
    goOn.resolve();
    await turn;
    const appending = Array.from({ length: 20 }, (_, index) =>
      right
        .write("a", (tx) => tx.batch([addLocation("a", String(index), "x")]), { durable: false, append: true })
        .catch((error: unknown) => assert.ok(error instanceof Fault && error.code === "NOT_FOUND", String(error))),
    );
    await left.remove("a");
    await Promise.all(appending);
    await left.create("a");
    assert.deepEqual(await left.read("a", (tx) => locationIds(tx, "a")), [], "nothing of the removed shop is left");
  });
});

test("a key that was claimed before the database's clock was set back by hours can be claimed", () =>
  withStores(2, async ([one, other], url) => {
    assert.ok(one !== undefined && other !== undefined);
    await one.engine.create("a");
    const claim = (store: Store) => store.coordination.claimKey("a", "key_1 x", { kind: "run", fingerprint: "f" });
    assert.equal(await claim(one), null);
    assert.notEqual(await claim(other), null);
    await withClient(url, (client) =>
      client.query(`update ${shopsSchema}.key_in_flight set leased_until = now() + interval '5 hours'`),
    );
    assert.equal(await claim(other), null);
  }));

test("a statement may run for statementMsMax", () =>
  withStores(1, async ([store]) => {
    assert.ok(store !== undefined);
    await store.engine.create("a");
    const [row] = await store.engine.read("a", (tx) =>
      tx.all<{ ms: string }>("select setting as ms from pg_settings where name = 'statement_timeout'"),
    );
    assert.equal(Number(row?.ms), statementMsMax);
  }));
