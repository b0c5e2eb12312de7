/**
 * A name for the state of all rows that decide which variants need an order. By it an earlier decision is known to hold
 * still, and the variants are known whose rows have changed since.
 *
 * Owns: noticing that a write changes that state, and of which variants. Does not own: what is remembered
 * (decided-rows-memo.ts).
 *
 * Invariants:
 * - V8. As long as a shop's forecast version is the same, so are the rows of `decidingTables`. As long as its epoch is
 *       the same, only rows of variants differ that have a later change. The version changes in the transaction that
 *       changes one of the rows, whoever writes it. The engine is wrapped, so that no writer has to remember it.
 */
import { delegated, NoticingTx } from "../../store/delegated.ts";
import type { Ids } from "../../base/time/clock.ts";
import { isChange, valueIn } from "../../store/change.ts";
import type { Engine, Statement, Tx } from "../../store/store.ts";

/** The tables from which it is decided which variants need an order. */
const decidingTables: ReadonlySet<string> = new Set([
  "variant",
  "inventory_level",
  "incoming",
  "demand_series",
  "supplier_variant",
  "supplier",
]);

/** Variants of one transaction that are noted. More begin a new epoch, in which everything is decided anew. */
const notedMax = 500;

/** Changed variants that are decided for one by one. If there are more, everything is decided anew as quickly. */
const changedDecidedMax = 1_000;

/** Variants that one statement notes: as many of the first as there are, then of the next. */
const notedTogether = [90, 8, 1] as const;

const noteChanges = (rows: number): string =>
  `insert into forecast_change (shop_id, variant_id, change)
   select f.shop_id, v.column1, f.changes from forecast_version f, (values ${Array.from({ length: rows }, () => "(?)").join(", ")}) as v
   where f.shop_id = ?
   on conflict (shop_id, variant_id) do update set change = excluded.change`;

const noteTexts = notedTogether.map((rows) => ({ rows, sql: noteChanges(rows) }));

/** Notes that these variants were changed; null: nobody knows which. */
function noteStatements(shopId: string, variantIds: readonly string[] | null, ids: Ids): readonly Statement[] {
  const isNewEpoch = variantIds === null ? ", version = excluded.version" : "";
  const count: Statement = {
    sql: `insert into forecast_version (shop_id, version, changes) values (?, ?, 1)
          on conflict (shop_id) do update set changes = forecast_version.changes + 1${isNewEpoch}`,
    params: [shopId, ids.next("fcv")],
  };
  const statements = [count];
  let noted = 0;
  for (const { rows, sql } of noteTexts)
    for (; noted + rows <= (variantIds?.length ?? 0); noted += rows)
      statements.push({ sql, params: [...(variantIds ?? []).slice(noted, noted + rows), shopId] });
  return statements;
}

/** Changes that the statements of a write make. */
class Changes {
  readonly #variantIds = new Set<string>();
  #all = false;

  notice(statement: Statement): void {
    if (!isChange(statement) || !decidingTables.has(statement.form.table)) return;
    const variantId = valueIn(statement, "variant_id");
    if (typeof variantId === "string" && this.#variantIds.size < notedMax) this.#variantIds.add(variantId);
    else this.#all = true;
  }

  /** Returns the statements that note the changes. */
  statements(shopId: string, ids: Ids): readonly Statement[] {
    if (!this.#all && this.#variantIds.size === 0) return [];
    return noteStatements(shopId, this.#all ? null : [...this.#variantIds], ids);
  }
}

/** The engine, keeping forecast versions (V8). */
export const keepingForecastVersions = (engine: Engine, ids: Ids): Engine => ({
  ...delegated(engine),
  write: (shopId, work, options) =>
    engine.write(
      shopId,
      async (tx) => {
        const changes = new Changes();
        const result = await work(new NoticingTx(tx, (statement) => changes.notice(statement)));
        const noted = changes.statements(shopId, ids);
        if (noted.length > 0) await tx.batch(noted);
        return result;
      },
      options,
    ),
});

/** A state of what decides. */
export interface ForecastVersion {
  readonly epoch: string;
  readonly changes: number;
}

/** The shop's forecast version; null when there is none yet. */
export async function loadForecastVersion(tx: Tx, shopId: string): Promise<ForecastVersion | null> {
  const [row] = await tx.all<{ version: string; changes: number }>(
    "select version, changes from forecast_version where shop_id = ?",
    [shopId],
  );
  return row === undefined ? null : { epoch: row.version, changes: row.changes };
}

/** The variants that were changed since then in the same epoch. Null: more than `changedDecidedMax`. */
export async function variantsChangedSince(
  tx: Tx,
  shopId: string,
  { changes }: ForecastVersion,
): Promise<readonly string[] | null> {
  const rows = await tx.all<{ variant_id: string }>(
    "select variant_id from forecast_change where shop_id = ? and change > ? limit ?",
    [shopId, changes, changedDecidedMax + 1],
  );
  return rows.length > changedDecidedMax ? null : rows.map((row) => row.variant_id);
}
