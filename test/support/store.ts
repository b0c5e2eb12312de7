/**
 * Where a test's shops are: files of its own, or a database of its own, as `engineVariable` says. Suites need not know which.
 *
 * A store is named by a directory, so that it can be opened again, by another process too; beside that of one on PostgreSQL is
 * its database's address.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { memoryCoordination } from "../../src/store/sqlite/coordination.ts";
import type { QueueLimits } from "../../src/store/queue.ts";
import type { Clock, Coordination, Engine } from "../../src/store/store.ts";
import { openSqliteEngine } from "../../src/store/sqlite/engine.ts";
import { systemClock } from "../../src/system.ts";
import { freshDatabase, openPostgresStore, type TestDatabase } from "./postgres.ts";

/** `postgres`: what is tested runs on PostgreSQL; otherwise on sqlite. */
export const engineVariable = "OPENPO_TEST_ENGINE";
export const onPostgres = process.env[engineVariable] === "postgres";

/** Beside the directory, which stays as empty as it would be on a database. */
const addressFile = (directory: string): string => `${directory}.database-url`;

/** The address of the database that the store is in; null: it is in files. */
export const databaseOf = (directory: string): string | null =>
  existsSync(addressFile(directory)) ? readFileSync(addressFile(directory), "utf8") : null;

/** Databases of this process, by the data directories that they stand for. */
const databases = new Map<string, Promise<TestDatabase>>();

/** The address of the database that a program's data directory stands for, made when it is first asked for; null: on files. */
export async function databaseFor(directory: string): Promise<string | null> {
  const given = databaseOf(directory);
  if (given !== null || !onPostgres) return given;
  const database = databases.get(directory) ?? freshDatabase();
  databases.set(directory, database);
  return (await database).url;
}

/** Drops the databases of the directories below this one. */
async function dropBelow(directory: string): Promise<void> {
  for (const [below, database] of databases)
    if (below.startsWith(directory + path.sep)) {
      databases.delete(below);
      await (await database).drop();
    }
}

export interface StorePlace {
  readonly directory: string;
  /** Every store over it has been closed. */
  remove(): Promise<void>;
}

/** A new, empty place. */
export async function makePlace(postgres = onPostgres): Promise<StorePlace> {
  const directory = await mkdtemp(path.join(tmpdir(), "openpo-"));
  const database = postgres ? await freshDatabase() : null;
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

/** A place for as long as `use` runs. */
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
  /** PostgreSQL: connections of this store; a node's. */
  readonly connectionsMax?: number;
}

export interface Store {
  readonly engine: Engine;
  readonly sandboxEngine: Engine;
  readonly coordination: Coordination;
  /** This store is not the only one over its shops. */
  readonly alone: boolean;
  close(): Promise<void>;
}

const schemaOf = (room: string): string => path.join(import.meta.dirname, `../../src/${room}/schema`);

/** Opens the store of a place. */
export async function openStore(
  directory: string,
  { clock = systemClock, queue, connectionsMax = 8 }: StoreOptions = {},
): Promise<Store> {
  const url = databaseOf(directory);
  const limits = queue === undefined ? {} : { queue };
  if (url === null) {
    const open = (name: string, room: string): Promise<Engine> =>
      openSqliteEngine({
        directory: path.join(directory, name),
        schemaDirectory: schemaOf(room),
        shopsOpenMax: 8,
        clock,
        ...limits,
      });
    const engine = await open("shops", "shop");
    const sandboxEngine = await open("sandbox", "storefront/sandbox");
    return {
      engine,
      sandboxEngine,
      coordination: memoryCoordination(),
      alone: true,
      async close() {
        await engine.close();
        await sandboxEngine.close();
      },
    };
  }
  return openPostgresStore(url, { clock, connectionsMax, ...limits });
}
