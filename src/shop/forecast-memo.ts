/**
 * What was decided for views of reorders only: their rows' keys, as long as nothing has changed from which that was decided.
 *
 * A view of 20,000 variants takes a third of a second to decide, and is read again and again, page by page.
 */
import type { ForecastContext } from "../core/forecast.ts";
import type { Tx } from "../store/store.ts";
import type { VariantKey } from "./forecast-facts.ts";
import { loadForecastVersion } from "./forecast-version.ts";
import type { ForecastView } from "./forecast-views.ts";

/** Views that are remembered, of all shops; the one that was asked for the longest time ago is forgotten first. */
const viewsMax = 32;

interface Decided {
  readonly version: string;
  readonly rows: readonly VariantKey[];
}

const decided = new Map<string, Decided>();

/**
 * The variants of the view that need an order: those that were decided in the same state, else decided by `decide`.
 *
 * @param tx the state is read in the same transaction as all else of the answer.
 */
export async function decidedOnce(
  tx: Tx,
  shopId: string,
  view: ForecastView,
  { shop, today }: Pick<ForecastContext, "shop" | "today">,
  decide: () => Promise<readonly VariantKey[]>,
): Promise<readonly VariantKey[]> {
  const version = await loadForecastVersion(tx, shopId);
  if (version === null) return await decide();
  const key = JSON.stringify([shopId, view, today, shop.currencyCode, shop.fxRates]);
  const found = decided.get(key);
  decided.delete(key);
  const rows = found?.version === version ? found.rows : await decide();
  decided.set(key, { version, rows });
  const [oldest] = decided.keys();
  if (decided.size > viewsMax && oldest !== undefined) decided.delete(oldest);
  return rows;
}
