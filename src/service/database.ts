/**
 * The database of many nodes, opened and brought to this version, as a store that the service and the commands use.
 *
 * Owns: the names of the PostgreSQL schemas. Does not own: which node makes the first start
 * (store/postgres/first-start.ts), a shop's tables (shop, storefront), serving (service/serve.ts), commands
 * (cli/cli.ts).
 *
 *     openpo: the shops, coordination of the nodes, the first start · openpo_sandbox: the sandboxes
 */
import path from "node:path";
import { messageOf } from "../base/error-message.ts";
import { ConfigError, nameOfDatabase } from "./config.ts";
import type { DatabaseConfig } from "./option-values.ts";
import { Fault } from "../base/fault.ts";
import type { Loan, ReaderStore } from "../threads/reader-pool.ts";
import { type OpenStore, dueRows, callsWithoutOutbox, longClaims } from "./open-store.ts";
import type { Gauge } from "../http/metrics.ts";
import { announcing } from "../shop/events/announcements.ts";
import { soughtPeople } from "../shop/access/people.ts";
import { keepingForecastVersions } from "../shop/forecast/forecast-version.ts";
import { keepingSegments } from "../shop/order-list/segment-upkeep.ts";
import { exportQueue } from "../exchange/export.ts";
import type { FairQueue } from "../store/fair-queue.ts";
import { LoopShare } from "../store/loop-share.ts";
import type { QueueDepth } from "../store/queue.ts";
import type { DueRows, Engine, Log } from "../store/store.ts";
import { claimedByProcess, giveBackClaims } from "../store/claims.ts";
import { openPostgresEngine } from "../store/postgres/engine.ts";
import { openPostgresPool, type PostgresPool } from "../store/postgres/connection.ts";
import { postgresCoordination } from "../store/postgres/coordination.ts";
import { claimFirstStart, databaseIdentity } from "../store/postgres/first-start.ts";
import { showPresence } from "../store/postgres/presence.ts";
import { databaseClock } from "../store/postgres/database-clock.ts";
import { type Sizes, sizesOf } from "./sizes.ts";
import { writesWaiting } from "./work-gauges.ts";
import { elapsedMs, timeOrderedIds } from "../base/time/system.ts";
import { steadyClock } from "../base/time/steady-clock.ts";
import { noConnections } from "../storefront/connections.ts";
import { openSandbox } from "../storefront/sandbox/sandbox.ts";
import { programName } from "../base/program-version.ts";

const shopsSchema = "openpo";
const shopsSchemaDirectory = path.join(import.meta.dirname, "../shop/schema");
const sandboxSchema = "openpo_sandbox";
const sandboxSchemaDirectory = path.join(import.meta.dirname, "../storefront/sandbox/schema");
/** The error's message and its cause's; never the address, which contains the password. */
function reasonOf(error: unknown): string {
  const message = messageOf(error);
  const { cause } = error instanceof Error ? error : { cause: undefined };
  if (!(cause instanceof Error)) return message;
  const code = "code" in cause && typeof cause.code === "string" ? cause.code : "";
  return `${message} (${(cause.message === "" ? code : cause.message).split("\n", 1)[0] ?? ""})`;
}

/**
 * Metrics of a node's connections. Divided by the number of requests, they give the statements and round trips per
 * request.
 */
const gaugesOf = (pool: PostgresPool): readonly Gauge[] => [
  {
    name: "database_statements_total",
    help: "Statements sent to the database.",
    type: "counter",
    value: () => pool.statements,
  },
  {
    name: "database_round_trips_total",
    help: "Waits for answers of the database, however many statements each answered.",
    type: "counter",
    value: () => pool.roundTrips,
  },
  {
    name: "database_connections",
    help: "Open connections to the database.",
    type: "gauge",
    value: () => pool.connections,
  },
  {
    name: "database_connections_waited_for",
    help: "Requests and turns that wait for a free connection.",
    type: "gauge",
    value: () => pool.waiting,
  },
];

/** The size of a table with its indexes, and of its partitions if an operator has made some (docs/distribution.sql). */
function sizeOf(name: string): string {
  const table = `'"${shopsSchema}".${name}'`;
  const ofMembers = `select sum(pg_total_relation_size(relid))::bigint from pg_partition_tree(${table})`;
  return `coalesce((${ofMembers}), pg_total_relation_size(${table}))`;
}

/** Returns a node's metrics of the database, of which it measures the sizes. */
function measuresOf(pool: PostgresPool, depth: QueueDepth): Sizes {
  const sizes = sizesOf(
    [
      { name: "database_bytes", help: "The whole database." },
      { name: "audit_log_bytes", help: "The audit logs of all shops, with their indexes." },
      { name: "stored_answers_bytes", help: "The stored answers of all shops, with their indexes." },
    ],
    () =>
      pool.using(async (connection) => {
        const [row] = await connection.run<{ database: number; audit: number; answers: number }>(
          `select pg_database_size(current_database()) as database,
             ${sizeOf("audit_log")} as audit, ${sizeOf("idempotency_record")} as answers`,
        );
        return {
          database_bytes: row?.database ?? 0,
          audit_log_bytes: row?.audit ?? 0,
          stored_answers_bytes: row?.answers ?? 0,
        };
      }),
    elapsedMs,
  );
  return { ...sizes, gauges: [...gaugesOf(pool), ...sizes.gauges, writesWaiting(depth)] };
}

/** Every reader thread has a connection of its own, and what it sees is on the server's disk. */
const nothingLent: Loan = {
  file: null,
  untilDurable: () => Promise.resolve(),
  observe: () => () => null,
  rest: () => {},
  resume: () => {},
  giveBack: () => {},
};

/** The shops in a database as reader threads reach them. */
export const databaseForReaders = (url: string): ReaderStore => ({
  source: { kind: "database", url, schemaName: shopsSchema, schemaDirectory: shopsSchemaDirectory },
  lend: () => Promise.resolve(nothingLent),
});

const unusable = (place: string, error: unknown): ConfigError =>
  new ConfigError(`OPENPO_DATABASE_URL: the database ${place} cannot be used: ${reasonOf(error)}`, { cause: error });

const noSnapshot = (): never => {
  throw new Fault(
    "INVALID_INPUT",
    "The shops of this service are in a PostgreSQL database, which has backups of its own.",
    {
      action:
        "Use pg_dump or another backup of the database; docs/operating.md says how. For one shop, use openpo export.",
    },
  );
};

/**
 * Opens the database and brings its schemas to this version. While another node makes the first start, it waits for
 * that.
 *
 * @throws ConfigError when it cannot be used, saying why.
 */
export async function openDatabase(config: DatabaseConfig, log: Log): Promise<OpenStore> {
  try {
    return await openSchemas(config, log);
  } catch (error) {
    throw unusable(nameOfDatabase(config), error);
  }
}

/**
 * By which the nodes of a database are recognised, without changing it.
 *
 * @returns null when no node of this version has run on it.
 * @throws ConfigError when it cannot be used, saying why.
 */
export async function identityOfDatabase(config: DatabaseConfig): Promise<string | null> {
  const { url } = config;
  try {
    const pool = await openPostgresPool({ url, connectionsMax: 1, schemas: [shopsSchema] });
    try {
      return await databaseIdentity(pool, shopsSchema);
    } finally {
      await pool.close();
    }
  } catch (error) {
    throw unusable(nameOfDatabase(config), error);
  }
}

const adminContextOf =
  (
    store: Pick<OpenStore, "engine" | "clock" | "ids" | "loop" | "sandboxOf">,
    exports: FairQueue,
    log: Log,
  ): OpenStore["adminContext"] =>
  (asks) => ({
    ...store,
    exports,
    snapshotOf: noSnapshot,
    restoreShop: noSnapshot,
    calls: callsWithoutOutbox(asks.storefronts ?? noConnections, log),
    storefronts: noConnections,
    ...asks,
  });

/**
 * Shows this node to the others, and gives back the claims of one of them that has died (C38).
 *
 * @returns ends that.
 */
async function showNode({
  url,
  pool,
  engine,
  clock,
  ids,
  log,
}: Pick<OpenStore, "engine" | "clock" | "ids"> &
  Pick<Parameters<typeof showPresence>[0], "pool" | "log"> & { readonly url: string }): Promise<() => Promise<void>> {
  await using opening = new AsyncDisposableStack();
  const signs = await openPostgresPool({ url, connectionsMax: 1, schemas: [shopsSchema] });
  opening.defer(() => signs.close());
  const presence = await showPresence({
    pool,
    signs,
    schemaName: shopsSchema,
    processName: ids.processName,
    claims: longClaims,
    giveBack(shopId, processName) {
      const whose = claimedByProcess(processName);
      const statements = longClaims.map((claims) => giveBackClaims(claims, shopId, whose, clock.now()));
      return engine.write(shopId, (tx) => tx.batch(statements), { durable: false });
    },
    log,
  });
  opening.defer(() => presence.close());
  const opened = opening.move();
  return () => opened.disposeAsync();
}

async function openSchemas(config: DatabaseConfig, log: Log): Promise<OpenStore> {
  await using opening = new AsyncDisposableStack();
  const { url, connectionsMax } = config;
  const place = nameOfDatabase(config);
  const pool = await openPostgresPool({ url, connectionsMax, schemas: [shopsSchema, sandboxSchema], log });
  opening.defer(() => pool.close());
  const below = await databaseClock(pool);
  opening.defer(() => below.close());
  const clock = steadyClock({
    below,
    elapsedMs,
    onSetBack: (behindMs) => log.warn({ behindMs }, "the database's clock was set back"),
  });
  const ids = timeOrderedIds(clock);
  const program = programName();
  const loop = new LoopShare();
  const depth: QueueDepth = { waiting: 0 };
  const openEngine = async (schemaName: string, schemaDirectory: string, rows: readonly DueRows[]): Promise<Engine> => {
    const parts = { pool, schemaName, schemaDirectory, dueRows: rows, clock, loop, log, program };
    const engine = await openPostgresEngine(
      schemaName === shopsSchema ? { ...parts, claims: longClaims, sought: soughtPeople, depth } : parts,
    );
    opening.defer(() => engine.close());
    return engine;
  };
  const sandboxEngine = await openEngine(sandboxSchema, sandboxSchemaDirectory, []);
  const { engine, onEvents, onReminders } = announcing(
    keepingForecastVersions(keepingSegments(await openEngine(shopsSchema, shopsSchemaDirectory, dueRows), log), ids),
  );
  const coordination = await postgresCoordination({ pool, schemaName: shopsSchema, owner: ids.processName, program });
  opening.defer(() => coordination.close());
  opening.defer(await showNode({ url, pool, engine, clock, ids, log }));
  const firstStart = await claimFirstStart(pool, shopsSchema);
  opening.defer(() => firstStart.release());
  const identity = await databaseIdentity(pool, shopsSchema);
  if (identity === null) throw new Error("first_start has no row");
  const sandboxOf = (shopId: string) => openSandbox({ engine: sandboxEngine, clock, shopId });
  const opened = opening.move();
  return {
    engine,
    coordination,
    clock,
    ids,
    loop,
    alone: false,
    ...measuresOf(pool, depth),
    // Nodes find them by the rows that are due.
    shopsWith: async function* () {},
    shopsWithReminders: async function* () {},
    readerStore: databaseForReaders(url),
    auditJournal: null,
    place,
    identity,
    isNew: firstStart.isNew,
    sandboxOf,
    adminContext: adminContextOf({ engine, clock, ids, loop, sandboxOf }, exportQueue(), log),
    onEvents,
    onReminders,
    async completeFirstStart() {
      try {
        await firstStart.complete();
      } catch (error) {
        throw unusable(place, error);
      }
    },
    close: () => opened.disposeAsync(),
  };
}
