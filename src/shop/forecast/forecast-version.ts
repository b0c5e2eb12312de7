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
import type { Engine, SqlValue, Statement, Tx } from "../../store/store.ts";

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

/** Variants of one transaction that are noted. More begin a new epoch, in which everything is decided anew. */
const notedMax = 500;

/** Changed variants that are decided for one by one. If there are more, everything is decided anew as quickly. */
const changedDecidedMax = 1_000;

/**
 * Variants that a statement changes: `nothing` of the deciding tables, `all` (or nobody knows), or the variant of this
 * parameter.
 */
type Reach = "nothing" | "all" | { readonly parameter: number };

/** By statement text. The texts of the program are few; those of lists vary a little. */
const known = new Map<string, Reach>();

const knownMax = 4_000;

const parametersIn = (sql: string): number => sql.split("?").length - 1;

/** Which parameter of an insert of one row is its `variant_id`. */
function insertedVariant(sql: string): Reach {
  const [, columns, values] =
    /^\s*insert\s+into\s+\w+\s*\(([^()]*)\)\s*values\s*\(([^()]*)\)\s*(?:on\s+conflict[\s\S]*)?$/i.exec(sql) ?? [];
  if (columns === undefined || values === undefined) return "all";
  const place = columns.split(",").findIndex((column) => column.trim() === "variant_id");
  const each = values.split(",").map((value) => value.trim());
  if (each[place] !== "?") return "all";
  return { parameter: parametersIn(each.slice(0, place).join(",")) };
}

/** Which parameter of an update or delete names the one variant whose rows it changes. */
function updatedVariant(sql: string): Reach {
  const [before = "", condition = "", ...more] = sql.split(/\swhere\s/i);
  const [, conditionBefore] = /^((?:[\w.]+ = \? and )*)variant_id = \?(?: and [\w.]+ = \?)*\s*$/i.exec(condition) ?? [];
  if (more.length > 0 || conditionBefore === undefined || /variant_id\s*=/i.test(before)) return "all";
  return { parameter: parametersIn(before) + parametersIn(conditionBefore) };
}

/** Returns the reach of a statement, read from its text. What is not understood changes all. */
function reachOf(sql: string): Reach {
  const found = known.get(sql);
  if (found !== undefined) return found;
  const table = changedTable.exec(sql)?.[1]?.toLowerCase() ?? "";
  const reach = ((): Reach => {
    if (!decidingTables.has(table)) return "nothing";
    if (table === "supplier") return "all";
    return /^\s*insert/i.test(sql) ? insertedVariant(sql) : updatedVariant(sql);
  })();
  if (known.size < knownMax) known.set(sql, reach);
  return reach;
}

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

  notice(sql: string, params: readonly SqlValue[]): void {
    const reach = reachOf(sql);
    if (reach === "nothing") return;
    const variantId = reach === "all" ? null : params[reach.parameter];
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
        const result = await work(new NoticingTx(tx, (sql, params) => changes.notice(sql, params)));
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
