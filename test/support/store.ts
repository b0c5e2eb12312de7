/**
 * Opens a test's store: its own files on SQLite, or its own database on PostgreSQL, as `engineVariable` says. Suites need not know which.
 *
 * A directory identifies a store, so that it can be reopened, by another process too. On PostgreSQL the database's address is in a
 * file beside the directory.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { inProcessCoordination } from "../../src/store/sqlite/coordination.ts";
import { filesForReaders, openJournal } from "../../src/service/data-directory.ts";
import type { ReaderStore } from "../../src/threads/reader-pool.ts";
import { orderColumn } from "../../src/shop/order/purchase-order-tables.ts";
import type { AuditRowPlace } from "../../src/shop/audit/audit-journal.ts";
import { keepingForecastVersions } from "../../src/shop/forecast/forecast-version.ts";
import { keepingSegments } from "../../src/shop/order-list/segment-upkeep.ts";
import { LoopShare } from "../../src/store/loop-share.ts";
import type { QueueLimits } from "../../src/store/queue.ts";
import type { Clock } from "../../src/base/time/clock.ts";
import type { Coordination, Engine, Statement } from "../../src/store/store.ts";
import { type SqliteEngine, openSqliteEngine } from "../../src/store/sqlite/engine.ts";
import { systemClock, timeOrderedIds } from "../../src/base/time/system.ts";
import {
  examiningOn,
  freshDatabase,
  keepStatistics as keepStatisticsOn,
  openPostgresStore,
  shopsSchema,
  type TestDatabase,
  withClient,
} from "./postgres/postgres.ts";

/** The environment variable with the engine: `postgres`, otherwise SQLite. */
export const engineVariable = "OPENPO_TEST_ENGINE";
export const onPostgres = process.env[engineVariable] === "postgres";

/** The file is beside the directory, because with a database the data directory stays empty. */
const addressFile = (directory: string): string => `${directory}.database-url`;

/** Returns the address of the store's database, or null if the store is in files. */
export const databaseOf = (directory: string): string | null =>
  existsSync(addressFile(directory)) ? readFileSync(addressFile(directory), "utf8") : null;

/** Databases of this process, by data directory. */
const databases = new Map<string, Promise<TestDatabase>>();

/** Returns the address of the database of a data directory, and creates the database on the first call; null on SQLite. */
export async function databaseFor(directory: string): Promise<string | null> {
  const given = databaseOf(directory);
  if (given !== null || !onPostgres) return given;
  const database = databases.get(directory) ?? freshDatabase();
  databases.set(directory, database);
  return (await database).url;
}

/** Drops the databases of all data directories below this one. */
async function dropBelow(directory: string): Promise<void> {
  for (const [below, database] of databases)
    if (below.startsWith(directory + path.sep)) {
      databases.delete(below);
      await (await database).drop();
    }
}

/** On PostgreSQL does to the tables of shops what autovacuum does within minutes: rows that have been there for a while are known as seen by all. */
export async function asAfterAWhile(directory: string, tables: readonly string[]): Promise<void> {
  const url = databaseOf(directory);
  if (url === null) return;
  await withClient(url, async (client) => {
    for (const table of tables) await client.query(`vacuum analyze "${shopsSchema}".${table}`);
  });
}

/** Runs a statement on a shop's rows as somebody does who has got at the data, past the program. */
export async function runBehind(directory: string, shopId: string, sql: string): Promise<void> {
  const url = await databaseFor(directory);
  if (url === null) {
    const file = new DatabaseSync(path.join(directory, "shops", `${shopId}.db`));
    file.exec(sql);
    file.close();
    return;
  }
  await withClient(url, async (client) => {
    await client.query(`set search_path = "${shopsSchema}"`);
    await client.query("select set_config('openpo.shop_id', $1, false)", [shopId]);
    await client.query(sql);
  });
}

export interface StorePlace {
  readonly directory: string;
  /** Removes it. Every store in it must be closed. */
  remove(): Promise<void>;
}

/** Gives a data directory a database that these statements make, before anything is opened there. PostgreSQL only. */
export async function restoreDatabase(directory: string, sql: string): Promise<void> {
  const database = await freshDatabase({ empty: true });
  databases.set(directory, Promise.resolve(database));
  await withClient(database.url, (client) => client.query(sql));
}

/** Makes the store look as if a newer program, with one more migration, had been there. */
export async function pretendNewer(directory: string, program: string): Promise<void> {
  const url = await databaseFor(directory);
  if (url === null) {
    const file = path.join(directory, "versions");
    const versions: Readonly<Record<string, unknown>> = JSON.parse(readFileSync(file, "utf8"));
    writeFileSync(file, JSON.stringify({ ...versions, program, shops: Number(versions["shops"]) + 1 }));
    return;
  }
  await withClient(url, async (client) => {
    await client.query(`comment on schema "${shopsSchema}" is 'Written by ${program}'`);
    await client.query(
      `insert into "${shopsSchema}".migration (line, version) select line, max(version) + 1 from "${shopsSchema}".migration where line = 'shop' group by line`,
    );
  });
}

/** Creates a new, empty place. `unused`: its database, if it has one, is no other test's. */
export async function makePlace(postgres = onPostgres, { unused = false } = {}): Promise<StorePlace> {
  const directory = await mkdtemp(path.join(tmpdir(), "openpo-"));
  const database = postgres ? await freshDatabase({ unused }) : null;
  if (database !== null) writeFileSync(addressFile(directory), database.url);
  return {
    directory,
    async remove() {
      await database?.drop();
      await dropBelow(directory);
      for (const made of [addressFile(directory), directory]) await rm(made, { recursive: true, force: true });
    },
  };
}

/** Runs `use` with a new place, and removes it afterwards. */
export async function inPlace<T>(use: (directory: string) => Promise<T>): Promise<T> {
  const place = await makePlace();
  try {
    return await use(place.directory);
  } finally {
    await place.remove();
  }
}

export interface StoreOptions {
  readonly clock?: Clock;
  readonly queue?: QueueLimits;
  readonly loop?: LoopShare;
  /** PostgreSQL only: the number of connections of this store. */
  readonly connectionsMax?: number;
}

export interface Store {
  readonly engine: Engine;
  readonly sandboxEngine: Engine;
  readonly coordination: Coordination;
  readonly loop: LoopShare;
  /** How reader threads reach the shops. */
  readonly readerStore: ReaderStore;
  /** Where audit rows of reads wait; null on PostgreSQL. */
  readonly auditJournal: AuditRowPlace | null;
  /** False if other stores may be open on the same shops. */
  readonly alone: boolean;
  close(): Promise<void>;
}

const silent = { info: () => {}, warn: () => {}, error: () => {} };

const schemaOf = (room: string): string => path.join(import.meta.dirname, `../../src/${room}/schema`);

/** Opens the store in a place. */
export async function openStore(
  directory: string,
  { clock = systemClock, queue, loop = new LoopShare(), connectionsMax = 8 }: StoreOptions = {},
): Promise<Store> {
  const url = databaseOf(directory);
  const limits = queue === undefined ? {} : { queue };
  if (url === null) {
    const open = (name: string, room: string): Promise<SqliteEngine> =>
      openSqliteEngine({
        directory: path.join(directory, name),
        schemaDirectory: schemaOf(room),
        sliceColumn: orderColumn,
        shopsOpenMax: 8,
        clock,
        loop,
        ...limits,
      });
    const files = await open("shops", "shop");
    const journal = await openJournal(directory, files, { clock, log: silent });
    const engine = keepingForecastVersions(keepingSegments(journal.engine(files), silent), timeOrderedIds(clock));
    const sandboxEngine = await open("sandbox", "storefront/sandbox");
    return {
      engine,
      sandboxEngine,
      coordination: inProcessCoordination(),
      loop,
      readerStore: filesForReaders(files),
      auditJournal: journal,
      alone: true,
      async close() {
        await engine.close();
        await sandboxEngine.close();
      },
    };
  }
  return openPostgresStore(url, { clock, loop, connectionsMax, ...limits });
}

const databaseMust = (directory: string): string => {
  const url = databaseOf(directory);
  if (url === null) throw new Error("only on PostgreSQL");
  return url;
};

/** Takes statistics of the store's tables as they are, and has nothing renew them. PostgreSQL only. */
export const keepStatistics = (directory: string): Promise<void> => keepStatisticsOn(databaseMust(directory));

/** Has `use` ask how many rows and pages are examined for statements of the shop. PostgreSQL only. */
export const examining = (
  directory: string,
  shopId: string,
  use: (examined: (statement: Statement) => Promise<number>) => Promise<void>,
): Promise<void> => examiningOn(databaseMust(directory), shopId, use);

/** What is stored below a data directory, by file; on PostgreSQL the rows of the shop, by table. For what must be in none of it. */
export async function textsOf(directory: string, shopId: string): Promise<ReadonlyMap<string, string>> {
  const url = databaseOf(directory);
  if (url === null)
    return new Map(
      readdirSync(directory, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => {
          const file = path.join(entry.parentPath, entry.name);
          return [file, readFileSync(file, "latin1")] as const;
        }),
    );
  return await withClient(url, async (client) => {
    const texts = new Map<string, string>();
    await client.query("select set_config('openpo.shop_id', $1, false)", [shopId]);
    const { rows } = await client.query<{ name: string }>(
      "select schemaname || '.' || tablename as name from pg_tables where schemaname in ('openpo', 'openpo_sandbox')",
    );
    for (const { name } of rows) {
      const { rows: found } = await client.query<{ row: string }>(`select t::text as row from ${name} t`);
      texts.set(name, found.map(({ row }) => row).join("\n"));
    }
    return texts;
  });
}
