/**
 * The database of many nodes: opened, brought to this version, with what an operator can ask wired to it.
 *
 * Owns: the names of the PostgreSQL schemas, and which of the nodes that start together makes the first start. Does not own: what is in
 * a shop's tables (shop, storefront), serving (serve.ts), commands (cli.ts).
 *
 *     openpo: the shops, what nodes agree on, whether a first start has ended · openpo_sandbox: the sandboxes
 */
import path from "node:path";
import type { AdminContext } from "./admin/operation.ts";
import { ConfigError, type DatabaseConfig, nameOfDatabase } from "./config.ts";
import { Fault } from "./core/fault.ts";
import { type OpenStore, dueRows } from "./open-store.ts";
import type { Gauge } from "./http/metrics.ts";
import type { DueRows, Log } from "./store/store.ts";
import { openPostgresEngine } from "./store/postgres/engine.ts";
import { command, openPostgresPool, type PostgresPool } from "./store/postgres/connection.ts";
import { postgresCoordination } from "./store/postgres/coordination.ts";
import { systemClock, timeOrderedIds } from "./system.ts";
import { openSandbox } from "./storefront/sandbox/sandbox.ts";

const shopsSchema = "openpo";
const sandboxSchema = "openpo_sandbox";
/** How long a node waits for another's first start. */
const firstStartMsMax = 120_000;

interface FirstStart {
  readonly isNew: boolean;
  /** It has ended well: there is none any more. */
  settle(): Promise<void>;
  /** Lets another node make it, unless it has been settled. */
  end(): void;
}

/**
 * Claims the first start, or waits until the node that has it has settled it or is gone. A row is locked for as long as it takes, so a
 * node that dies in the middle leaves a first start to the next one.
 */
async function beginFirstStart(pool: PostgresPool): Promise<FirstStart> {
  const connection = await pool.connect();
  let isOpen = true;
  const end = (): void => {
    if (!isOpen) return;
    isOpen = false;
    connection.sendOnly([command("rollback")]);
    connection.release();
  };
  try {
    await connection.run("begin");
    await connection.run(`set local lock_timeout = ${firstStartMsMax}`);
    await connection.run("set local statement_timeout = 0");
    // It is silent while it makes the demo shop.
    await connection.run("set local idle_in_transaction_session_timeout = 0");
    const look = `select settled from "${shopsSchema}".first_start where one = 1 for update`;
    const [[row] = []] = await connection.rowsOf([{ ...command(look), answerMsMax: firstStartMsMax * 2 }]);
    if (typeof row !== "object" || row === null || !("settled" in row))
      throw new Error("there is no first start to look at");
    const isNew = row.settled === false;
    if (!isNew) end();
    return {
      isNew,
      async settle() {
        if (!isOpen) return;
        await connection.run(`update "${shopsSchema}".first_start set settled = true where one = 1`);
        await connection.run("commit");
        isOpen = false;
        connection.release();
      },
      end,
    };
  } catch (error) {
    end();
    throw error;
  }
}

/** What went wrong, and what came in its way; never the address, which has the password in it. */
function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const { cause } = error instanceof Error ? error : { cause: undefined };
  if (!(cause instanceof Error)) return message;
  const code = "code" in cause && typeof cause.code === "string" ? cause.code : "";
  return `${message} (${(cause.message === "" ? code : cause.message).split("\n", 1)[0] ?? ""})`;
}

/** What a node's connections do. Beside the counts of requests they tell how many statements and round trips a request takes. */
const gaugesOf = (pool: PostgresPool): readonly Gauge[] => [
  {
    name: "database_statements_total",
    help: "Statements sent to the database.",
    type: "counter",
    value: () => pool.statements,
  },
  {
    name: "database_round_trips_total",
    help: "Times an answer of the database was waited for, however many statements it answered.",
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
    help: "Requests and turns that wait for a free connection now.",
    type: "gauge",
    value: () => pool.waiting,
  },
];

const unusable = (place: string, error: unknown): ConfigError =>
  new ConfigError(`OPENPO_DATABASE_URL: the database ${place} cannot be used: ${reasonOf(error)}`, { cause: error });

const noSnapshot = (): never => {
  throw new Fault(
    "INVALID_INPUT",
    "The shops of this service are in a PostgreSQL database, which has backups of its own.",
    {
      action: "Use pg_dump, or what backs your database up; docs/operating.md tells how. One shop: openpo export.",
    },
  );
};

/**
 * Opens the database and brings its schemas to this version. While another node makes the first start, it waits for that.
 *
 * @throws ConfigError when it cannot be used, saying why.
 */
export async function openDatabase(config: DatabaseConfig, log: Log): Promise<OpenStore> {
  const place = nameOfDatabase(config);
  const closers: (() => Promise<void> | void)[] = [];
  const close = async (): Promise<void> => {
    for (let closer = closers.pop(); closer !== undefined; closer = closers.pop()) await closer();
  };
  try {
    const { url, connectionsMax } = config;
    const pool = await openPostgresPool({ url, connectionsMax, schemas: [shopsSchema, sandboxSchema], log });
    closers.push(() => pool.close());
    const clock = systemClock;
    const ids = timeOrderedIds(clock);
    const openEngine = async (schemaName: string, schemaDirectory: string, rows: readonly DueRows[]) => {
      const engine = await openPostgresEngine({
        pool,
        schemaName,
        schemaDirectory: path.join(import.meta.dirname, schemaDirectory),
        dueRows: rows,
        clock,
        log,
      });
      closers.push(() => engine.close());
      return engine;
    };
    const sandboxEngine = await openEngine(sandboxSchema, "storefront/sandbox/schema", []);
    const engine = await openEngine(shopsSchema, "shop/schema", dueRows);
    const coordination = await postgresCoordination({ pool, schemaName: shopsSchema, owner: ids.next("node") });
    closers.push(() => coordination.close());
    const firstStart = await beginFirstStart(pool);
    closers.push(() => firstStart.end());
    const sandboxOf = (shopId: string) => openSandbox({ engine: sandboxEngine, clock, shopId });
    const adminContext = (wakeOutbox: AdminContext["wakeOutbox"]): AdminContext => ({
      engine,
      clock,
      ids,
      sandboxOf,
      snapshotOf: noSnapshot,
      wakeOutbox,
    });
    return {
      engine,
      coordination,
      clock,
      ids,
      alone: false,
      gauges: gaugesOf(pool),
      place,
      isNew: firstStart.isNew,
      sandboxOf,
      adminContext,
      async settle() {
        try {
          await firstStart.settle();
        } catch (error) {
          throw unusable(place, error);
        }
      },
      close,
    };
  } catch (error) {
    await close();
    throw unusable(place, error);
  }
}
