/**
 * A name for the state of everything that decides which variants need an order, so that what was decided once is known to hold still.
 *
 * Owns: noticing that a write changes that state. Does not own: what is remembered (forecast-memo.ts).
 *
 * Invariants:
 * - V8. As long as a shop's forecast version is the same, so are the rows of `decidingTables`. The version changes in the transaction that
 *       changes one of them, whoever writes it: the engine is wrapped, so that no writer has to remember it.
 */
import type { Engine, Ids, Statement, Tx } from "../store/store.ts";

/** The tables from which it is decided which variants need an order. */
const decidingTables: ReadonlySet<string> = new Set([
  "variant",
  "inventory_level",
  "incoming",
  "demand_series",
  "supplier_variant",
  "supplier",
]);

/** The table that a statement changes. */
const changedTable = /^\s*(?:insert\s+into|update|delete\s+from)\s+(\w+)/i;

/** By statement text, whether it changes a deciding table. The texts of the program are few; those of lists vary a little. */
const known = new Map<string, boolean>();

const knownMax = 4_000;

function changesDecision(sql: string): boolean {
  const found = known.get(sql);
  if (found !== undefined) return found;
  const changes = decidingTables.has(changedTable.exec(sql)?.[1]?.toLowerCase() ?? "");
  if (known.size < knownMax) known.set(sql, changes);
  return changes;
}

const saveVersion = (shopId: string, version: string): Statement => ({
  sql: `insert into forecast_version (shop_id, version) values (?, ?)
        on conflict (shop_id) do update set version = excluded.version`,
  params: [shopId, version],
});

/** Notices what the work changes. */
class NoticingTx implements Tx {
  readonly #tx: Tx;
  changed = false;

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  all<R>(...[sql, params]: Parameters<Tx["all"]>): Promise<R[]> {
    if (changesDecision(sql)) this.changed = true;
    return this.#tx.all<R>(sql, params);
  }

  batch(statements: readonly Statement[]): Promise<void> {
    if (!this.changed) this.changed = statements.some(({ sql }) => changesDecision(sql));
    return this.#tx.batch(statements);
  }
}

/** The engine, keeping forecast versions (V8). */
export const keepingForecastVersions = (engine: Engine, ids: Ids): Engine => ({
  embedded: engine.embedded,
  create: (shopId) => engine.create(shopId),
  exists: (shopId) => engine.exists(shopId),
  remove: (shopId) => engine.remove(shopId),
  list: () => engine.list(),
  shopsWithDueRows: (nowMs) => engine.shopsWithDueRows(nowMs),
  read: (shopId, work, onSeen) => engine.read(shopId, work, onSeen),
  peek: (shopId, work) => engine.peek(shopId, work),
  write: (shopId, work, options) =>
    engine.write(
      shopId,
      async (tx) => {
        const noticing = new NoticingTx(tx);
        const result = await work(noticing);
        if (noticing.changed) await tx.batch([saveVersion(shopId, ids.next("fcv"))]);
        return result;
      },
      options,
    ),
  admit: (shopId) => engine.admit(shopId),
  ready: () => engine.ready(),
  close: () => engine.close(),
});

/** The shop's forecast version; null when there is none yet. */
export async function loadForecastVersion(tx: Tx, shopId: string): Promise<string | null> {
  const [row] = await tx.all<{ version: string }>("select version from forecast_version where shop_id = ?", [shopId]);
  return row?.version ?? null;
}
