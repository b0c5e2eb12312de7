/**
 * Restores one shop of a database from another database, into which a backup was restored, while nodes serve (D383).
 *
 * Owns: how rows get from one database to the other. Does not own: what of the present state stays (shop/restore.ts),
 * how the whole database is backed up and restored (PostgreSQL's own tools).
 *
 * All of it is one transaction that holds the shop's turn. Reads see the shop as it was until it commits; writes of the
 * shop wait or are 503.
 */
import path from "node:path";
import { ConfigError, nameOfDatabase } from "../../service/config.ts";
import type { DatabaseConfig } from "../../service/option-values.ts";
import { openDatabase } from "../../service/database.ts";
import {
  backupStateOf,
  finishRestore,
  forgottenTables,
  joinStatements,
  keptTables,
  noteStatements,
  noteTables,
  type Restored,
  restoreActor,
  restoredTables,
  restoreEntry,
} from "../../shop/restore.ts";
import { loadMigrations } from "../../store/migrations.ts";
import {
  beginRead,
  beginWrite,
  command,
  commit,
  numbered,
  openPostgresPool,
  type PostgresConnection,
  rollback,
} from "../../store/postgres/connection.ts";
import { tablesOf } from "../../store/postgres/schema.ts";
import type { Log, Tx } from "../../store/store.ts";
import { systemClock, timeOrderedIds } from "../../base/time/system.ts";

const shopsSchema = "openpo";
const sandboxSchema = "openpo_sandbox";

/** Rows that are copied at a time. */
const rowsAtOnce = 500;

const sandboxTables = (): readonly string[] =>
  tablesOf(loadMigrations(path.join(import.meta.dirname, "../../storefront/sandbox/schema")));

/** The port's transaction on a connection whose transaction has begun. */
const txOn = (connection: PostgresConnection): Tx => ({
  all: (sql, params = []) => connection.run(numbered(sql, 0), params),
  async batch(statements) {
    for (const { sql, params } of statements) await connection.run(numbered(sql, 0), params);
  },
});

interface RestoredRowsInput {
  readonly shopId: string;
  /** True if a present shop may be replaced. */
  readonly isConfirmed: boolean;
}

/**
 * Restores the shop. Both databases are brought to this program's version.
 *
 * @returns null when the shop is there and was not confirmed.
 * @throws ConfigError when one of them cannot be used, or the other one has no such shop.
 */
export async function restoreShopRows(
  into: DatabaseConfig,
  from: DatabaseConfig,
  { shopId, isConfirmed }: RestoredRowsInput,
  log: Log,
): Promise<Restored | null> {
  for (const config of [from, into]) {
    const store = await openDatabase(config, log);
    const isNew = store.isNew;
    await store.close();
    if (isNew) throw new ConfigError(`There is no data of OpenPO in ${nameOfDatabase(config)}.`);
  }
  await using opened = new AsyncDisposableStack();
  const connect = async ({ url }: DatabaseConfig): Promise<PostgresConnection> => {
    const pool = await openPostgresPool({ url, connectionsMax: 1, schemas: [shopsSchema, sandboxSchema] });
    opened.defer(() => pool.close());
    const connection = await pool.connect();
    opened.defer(() => connection.release());
    return connection;
  };
  const source = await connect(from);
  await source.rowsOf([
    beginRead,
    command("set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0"),
    command(`select set_config('openpo.shop_id', '${shopId}', true)`),
  ]);
  const sourceTx = txOn(source);
  if ((await sourceTx.all("select 1 from shop where shop_id = ?", [shopId])).length === 0)
    throw new ConfigError(`${nameOfDatabase(from)} has no shop ${shopId}.`);
  const target = await connect(into);
  const there = await target.run(`select 1 from "${shopsSchema}".engine_shop where shop_id = $1`, [shopId]);
  if (there.length > 0 && !isConfirmed) return null;
  try {
    const restored = await replaceRows(source, target, shopId, await backupStateOf(sourceTx, shopId));
    await target.rowsOf([commit]);
    return restored;
  } catch (error) {
    target.sendOnly([rollback]);
    throw error;
  } finally {
    source.sendOnly([rollback]);
  }
}

async function replaceRows(
  source: PostgresConnection,
  target: PostgresConnection,
  shopId: string,
  backup: Awaited<ReturnType<typeof backupStateOf>>,
): Promise<Restored> {
  const ids = timeOrderedIds(systemClock);
  const tx = txOn(target);
  const addShop = (schema: string) =>
    command(`insert into "${schema}".engine_shop (shop_id) values ('${shopId}') on conflict do nothing`);
  await target.rowsOf([
    beginWrite,
    // A reader thread of a node holds no lock; a node that is at the shop's turn ends it first.
    command("set local statement_timeout = 0; set local idle_in_transaction_session_timeout = '60s'"),
    addShop(shopsSchema),
    command(`select 1 from "${shopsSchema}".engine_shop where shop_id = '${shopId}' for update`),
    command(`select "${shopsSchema}".engine_turn('${shopId}', false)`),
    ...noteTables(" on commit drop", 'text collate "C"').map(command),
  ]);
  const [clock] = await target.run<{ now: number }>(
    "select (extract(epoch from clock_timestamp()) * 1000)::bigint as now",
  );
  if (clock === undefined) throw new Error("the database has told no time");
  const { now } = clock;
  const hadPresent = (await tx.all("select 1 from shop where shop_id = ?", [shopId])).length > 0;
  await tx.batch(noteStatements(shopId));
  for (const table of [...restoredTables, ...forgottenTables])
    await tx.batch([{ sql: `delete from ${table} where shop_id = ?`, params: [shopId] }]);
  for (const table of hadPresent ? restoredTables : [...restoredTables, ...keptTables])
    await copyTable(source, target, shopsSchema, table, shopId);
  if (!hadPresent) {
    await target.rowsOf([addShop(sandboxSchema)]);
    for (const table of sandboxTables()) await copyTable(source, target, sandboxSchema, table, shopId);
  }
  await tx.batch(joinStatements(shopId, { nowMs: now, forecastEpoch: ids.next("fcv"), hasPresent: hadPresent }));
  const requestId = ids.next("req");
  const entry = restoreEntry({
    auditId: ids.next("aud"),
    nowMs: now,
    requestId,
    method: "POST",
    path: `/admin/v1/shops/${shopId}/restore`,
  });
  const stamp = { actor: restoreActor, requestId, nowMs: now, ids, embedded: false, entry };
  return await finishRestore(tx, shopId, stamp, { ...backup, hadPresent });
}

/** Copies the shop's rows of a table. */
async function copyTable(
  source: PostgresConnection,
  target: PostgresConnection,
  schema: string,
  table: string,
  shopId: string,
): Promise<void> {
  const name = `"${schema}".${table}`;
  await source.rowsOf([
    command(
      `declare copied no scroll cursor for select row_to_json(t)::text as row from ${name} t where shop_id = '${shopId}'`,
    ),
  ]);
  for (;;) {
    const rows = await source.run<{ row: string }>(`fetch ${rowsAtOnce} from copied`);
    if (rows.length === 0) break;
    await target.run(`insert into ${name} select * from json_populate_recordset(null::${name}, $1::json)`, [
      `[${rows.map(({ row }) => row).join(",")}]`,
    ]);
  }
  await source.rowsOf([command("close copied")]);
}
