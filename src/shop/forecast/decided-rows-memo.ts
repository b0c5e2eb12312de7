/**
 * Decisions for views of reorders only: their rows' keys. Of what was changed since, it is decided anew.
 *
 * A view of 20,000 variants takes a third of a second to decide. It is read again and again, page by page, while sales
 * and receipts come in.
 */
import { RecentMap } from "../../base/recent-map.ts";
import type { ForecastContext } from "../../core/forecast/forecast.ts";
import type { Tx } from "../../store/store.ts";
import type { VariantKey } from "./forecast-facts.ts";
import { type ForecastVersion, loadForecastVersion, variantsChangedSince } from "./forecast-version.ts";
import type { ForecastView } from "./saved-views.ts";

/** Views that are remembered, of all shops; the one that was asked for the longest time ago is forgotten first. */
export const viewsMax = 32;

/** A variant that needs an order. */
export interface DecidedKey extends VariantKey {
  /** Cost of a day without stock, where rows are in its order; -1: nobody knows. Else 0. */
  readonly stockoutCost: number;
}

interface Decided {
  readonly version: ForecastVersion;
  readonly rows: readonly DecidedKey[];
}

const decided = new RecentMap<Decided>(viewsMax);

/** Decides which of these variants of the view need an order; null: of all. In the order of the view. */
type Decide = (variantIds: readonly string[] | null) => Promise<readonly DecidedKey[]>;

/** Returns the decisions, with the variants decided again that were changed since. */
async function decidedSince(
  tx: Tx,
  shopId: string,
  found: Decided,
  compare: (a: DecidedKey, b: DecidedKey) => number,
  decide: Decide,
): Promise<readonly DecidedKey[]> {
  const changed = await variantsChangedSince(tx, shopId, found.version);
  if (changed === null) return await decide(null);
  const gone = new Set(changed);
  const fresh = await decide(changed);
  return [...found.rows.filter((row) => !gone.has(row.variant_id)), ...fresh].sort(compare);
}

/**
 * The variants of the view that need an order: as they were decided before, and decided anew where something was
 * changed since.
 *
 * @param tx      the state is read in the same transaction as all else of the answer.
 * @param compare the order of the view.
 */
export async function decidedOnce(
  tx: Tx,
  shopId: string,
  order: { readonly view: ForecastView; readonly dearestFirst: boolean },
  { shop, today }: Pick<ForecastContext, "shop" | "today">,
  compare: (a: DecidedKey, b: DecidedKey) => number,
  decide: Decide,
): Promise<readonly DecidedKey[]> {
  const version = await loadForecastVersion(tx, shopId);
  if (version === null) return await decide(null);
  const key = JSON.stringify([shopId, order, today, shop.currencyCode, shop.fxRates]);
  const found = decided.get(key);
  const isSame = found?.version.epoch === version.epoch;
  // A transaction that began earlier sees an earlier state than the one that is remembered.
  if (isSame && found.version.changes > version.changes) return await decide(null);
  const rows =
    isSame && found.version.changes === version.changes
      ? found.rows
      : isSame
        ? await decidedSince(tx, shopId, found, compare, decide)
        : await decide(null);
  decided.set(key, { version, rows });
  return rows;
}
