/**
 * The rows of a forecast view: which variants it has, in which order, page by page.
 *
 * Owns: the SQL that finds a view's variants. Does not own: their facts (forecast-facts.ts) or any figure
 * (core/forecast/forecast.ts).
 *
 * Invariants:
 * - V7. A page is found by keys and its facts are read by key, so its cost grows with the page. Counting, and a view of
 *       reorders only, walk the variants in scope, never sales.
 */
import { loadNames } from "../catalogue/names.ts";
import { compareText } from "../../base/text/compare-text.ts";
import {
  type ForecastContext,
  type StockFacts,
  type VariantFacts,
  replenishment,
  stockoutCost,
} from "../../core/forecast/forecast.ts";
import { asMoney, brandedOrNull } from "../../core/money/money.ts";
import { selectIn } from "../../store/in-lists.ts";
import type { SqlValue, Tx } from "../../store/store.ts";
import { keptOf } from "./reorder-block.ts";
import { loadBlocks } from "./reorder-block-tables.ts";
import {
  type PricedKey,
  type VariantKey,
  loadFacts,
  loadLateArrivals,
  loadSteering,
  loadStock,
} from "./forecast-facts.ts";
import { type DecidedKey, decidedOnce } from "./decided-rows-memo.ts";
import type { FilterKind, ForecastView } from "./saved-views.ts";
import type { Fragment } from "../fragment.ts";

/** The variants that rows are asked for. */
interface ForecastScope {
  readonly view: ForecastView;
  /** Only these of the view's variants; null: all. */
  readonly variantIds: readonly string[] | null;
  /** Rows of a view of reorders only: the dearest stock-out first. Default: by product name, as all other views. */
  readonly dearestFirst?: boolean;
}

/** Where a page of rows ended. */
export interface RowPosition {
  /** Where the dearest stock-out is first; -1: nobody knows it. Else 0. */
  readonly stockoutCost: number;
  readonly productName: string;
  readonly variantId: string;
}

interface ForecastPage {
  readonly variants: readonly VariantFacts[];
  /** Variants in scope, over all pages. */
  readonly totalCount: number;
  /** Null on the last page. */
  readonly end: RowPosition | null;
}

const keyColumns = "v.variant_id, v.product_name, v.status";

const pricedColumns = `${keyColumns}, v.price, v.unit_cost`;

/** The view's variants, named `v`. */
function sourceOf(shopId: string, view: ForecastView): Fragment {
  const filter = (kind: FilterKind): string => `f.shop_id = v.shop_id and f.view_id = ? and f.kind = '${kind}'`;
  const conditions = ["v.shop_id = ?"];
  const params: SqlValue[] = [shopId];
  if (view.variantIds !== null) {
    conditions.push(`f.view_id = ? and f.kind = 'variant' and v.variant_id = f.value and f.shop_id = ?`);
    params.push(view.viewId, shopId);
  }
  if (view.supplierIds !== null) {
    conditions.push(`exists (select 1 from supplier_variant s, forecast_view_filter f where ${filter("supplier")}
      and s.shop_id = v.shop_id and s.variant_id = v.variant_id and s.supplier_id = f.value)`);
    params.push(view.viewId);
  }
  if (view.locationIds !== null) {
    const at = (table: string): string =>
      `select 1 from ${table} x where x.shop_id = v.shop_id and x.variant_id = v.variant_id and x.location_id = f.value`;
    conditions.push(`exists (select 1 from forecast_view_filter f where ${filter("location")}
      and (exists (${at("inventory_level")}) or exists (${at("incoming")} and x.quantity > 0) or exists (${at("demand_series")})))`);
    params.push(view.viewId);
  }
  // A view of named variants begins with their ids; `cross join` keeps the engine from walking the catalogue instead.
  const from = view.variantIds === null ? "variant v" : "forecast_view_filter f cross join variant v";
  return { sql: `from ${from} where ${conditions.join(" and ")}`, params };
}

const positionOf = ({ stockoutCost, product_name: productName, variant_id: variantId }: DecidedKey): RowPosition => ({
  stockoutCost,
  productName,
  variantId,
});

const comparePositions = (a: RowPosition, b: RowPosition): number =>
  b.stockoutCost - a.stockoutCost || compareText(a.productName, b.productName) || compareText(a.variantId, b.variantId);

/** The dearest stock-out first, then by product name: by that alone where all cost the same. */
const compareRows = (a: DecidedKey, b: DecidedKey): number => comparePositions(positionOf(a), positionOf(b));

/** A row of a view that is in the order of product names. */
const named = (row: VariantKey): DecidedKey => ({ ...row, stockoutCost: 0 });

/** Returns the number of rows, which are in order, that are not after the position. */
function placeAfter(rows: readonly DecidedKey[], after: RowPosition | null): number {
  if (after === null) return 0;
  let [from, to] = [0, rows.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    const row = rows[middle];
    if (row !== undefined && comparePositions(positionOf(row), after) <= 0) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** All variants in scope. */
function variantsInScope(tx: Tx, shopId: string, scope: ForecastScope): Promise<readonly PricedKey[]> {
  const { sql, params } = sourceOf(shopId, scope.view);
  const select = `select ${pricedColumns} ${sql}`;
  return scope.variantIds === null
    ? tx.all<PricedKey>(select, params)
    : selectIn<PricedKey>(tx, `${select} and v.variant_id in (?)`, params, scope.variantIds);
}

interface KeyPage {
  readonly rows: readonly DecidedKey[];
  readonly totalCount: number;
  readonly end: RowPosition | null;
}

/** The page that these rows begin with; one more row than `limit` means that there is another page. */
function pageOf(rows: readonly DecidedKey[], totalCount: number, limit: number): KeyPage {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return { rows: page, totalCount, end: rows.length > limit && last !== undefined ? positionOf(last) : null };
}

/** A page of all the view's variants, found by keys alone. */
async function keyPage(
  tx: Tx,
  shopId: string,
  view: ForecastView,
  after: RowPosition | null,
  limit: number,
): Promise<KeyPage> {
  const { sql, params } = sourceOf(shopId, view);
  const [[count], rows] = await Promise.all([
    tx.all<{ n: number }>(`select count(*) as n ${sql}`, params),
    tx.all<VariantKey>(
      `select ${keyColumns} ${sql}${after === null ? "" : " and (v.product_name, v.variant_id) > (?, ?)"}
       order by v.product_name, v.variant_id limit ?`,
      [...params, ...(after === null ? [] : [after.productName, after.variantId]), limit + 1],
    ),
  ]);
  return pageOf(rows.map(named), count?.n ?? 0, limit);
}

/**
 * One page of a view's rows as facts, with the count of all rows.
 *
 * For a view of reorders only, it decides for every variant in scope if it needs one. It uses stock, demand series and
 * offers, without sales: those of blocks, or their rows in one pass. That is remembered, and decided anew for the
 * variants of which one of these changes. The other facts are read for the page alone.
 *
 * @param after where the page before ended; null for the first.
 * Source: contract §9 "Forecast view"; C12.
 */
export async function forecastPage(
  tx: Tx,
  shopId: string,
  scope: ForecastScope,
  context: Pick<ForecastContext, "shop" | "today">,
  after: RowPosition | null,
  limit: number,
): Promise<ForecastPage> {
  const { view, dearestFirst = false } = scope;
  if (!view.onlyReorder && scope.variantIds === null) {
    const page = await keyPage(tx, shopId, view, after, limit);
    return { ...page, variants: await loadFacts(tx, shopId, view, page.rows, context) };
  }
  /** Null: it needs no order. */
  const decided = ({ price, unit_cost: unitCost, ...key }: PricedKey, stock: StockFacts): DecidedKey | null => {
    const suggested = replenishment(stock, context);
    if (!suggested.needsReorder) return null;
    if (!dearestFirst) return named(key);
    const priced = { price: brandedOrNull(price, asMoney), unitCost: brandedOrNull(unitCost, asMoney) };
    return { ...key, stockoutCost: stockoutCost(priced, suggested, context.shop) ?? -1 };
  };
  const decideRows = async (variantIds: readonly string[] | null): Promise<readonly DecidedKey[]> => {
    const rows = await variantsInScope(tx, shopId, { view, variantIds });
    if (!view.onlyReorder) return rows.map(named).sort(compareRows);
    const wantedIds = variantIds === null ? null : rows.map((row) => row.variant_id);
    const stockOf = await loadStock({ tx, shopId, view, variantIds: wantedIds }, context);
    return rows.flatMap((row) => decided(row, stockOf(row)) ?? []).sort(compareRows);
  };
  const decide = async (variantIds: readonly string[] | null): Promise<readonly DecidedKey[]> => {
    const found = variantIds === null ? await loadBlocks(tx, shopId) : null;
    if (found === null) return await decideRows(variantIds);
    const { blocks, changed } = found;
    const fresh = await decideRows([...changed]);
    // Of what day it is, a block knows nothing.
    const all = { tx, shopId, view, variantIds: null };
    const steering = await loadSteering(all);
    const late = await loadLateArrivals(all, context.today, steering);
    const needed = blocks.flatMap((block) =>
      keptOf(block, view, context.shop.currencyCode, (key, stock) => {
        const { variant_id: variantId } = key;
        if (changed.has(variantId)) return null;
        const lateArrivals = late.get(variantId) ?? [];
        return decided(key, { ...stock, lateArrivals, steering: steering.get(variantId) ?? null });
      }),
    );
    return [...needed, ...fresh].sort(compareRows);
  };
  const rows =
    scope.variantIds === null
      ? await decidedOnce(tx, shopId, { view, dearestFirst }, context, compareRows, decide)
      : await decide(scope.variantIds);
  const page = pageOf(rows.slice(placeAfter(rows, after)), rows.length, limit);
  return { ...page, variants: await loadFacts(tx, shopId, view, page.rows, context) };
}

/** A view of everything. */
const everything: ForecastView = {
  viewId: "",
  viewName: "",
  isStarred: false,
  isAutogenerated: false,
  mode: "stock",
  columns: [],
  supplierIds: null,
  locationIds: null,
  variantIds: null,
  onlyReorder: false,
  horizonPeriods: 0,
  periodUnit: "week",
};

/**
 * The facts of these variants, as far as the shop has them, with all its suppliers.
 *
 * @param locationId where their stock and demand are; null: over all locations.
 */
export async function loadVariantFacts(
  tx: Tx,
  shopId: string,
  variantIds: readonly string[],
  context: Pick<ForecastContext, "shop" | "today">,
  locationId: string | null = null,
): Promise<readonly VariantFacts[]> {
  const keys = await variantsInScope(tx, shopId, { view: everything, variantIds });
  const view = { ...everything, locationIds: locationId === null ? null : [locationId] };
  return await loadFacts(tx, shopId, view, keys.map(named).sort(compareRows), context);
}

/** The names of these locations, in order; an unknown location is named by its id. */
export async function loadLocationNames(
  tx: Tx,
  shopId: string,
  locationIds: readonly string[],
): Promise<readonly string[]> {
  const names = await loadNames(tx, shopId, "location", locationIds);
  return locationIds.map((locationId) => names.get(locationId) ?? locationId).sort(compareText);
}
