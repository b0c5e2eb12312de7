/**
 * Demand series between SQL and core: one row beside the sales of a variant at a location, and the days of its recent
 * sales.
 *
 * Owns: marking series that sales have changed, and updating them. Does not own: how demand is learned
 * (core/forecast/demand.ts) or the import of sales.
 *
 * Invariants:
 * - V6. A series that is not marked stale agrees with the stored sales, and with what the records of stock told when it
 *   was updated.
 */
import { type Day, dateOf, dayFrom, daysPerWeek, weekStart } from "../../base/time/calendar.ts";
import { type DaySale, type DemandSeries, extendSeries, recentSales } from "../../core/forecast/demand.ts";
import { asQuantity } from "../../core/money/money.ts";
import { type StockOut, withSeen } from "../../core/forecast/stock-outs.ts";
import { placeholders } from "../../store/in-lists.ts";
import { type Change, type Row, changeOf, replace, textForm, update } from "../../store/change.ts";
import type { Tx } from "../../store/store.ts";
import { type Sale, saleLocation } from "../catalogue/catalogue.ts";
import { tables } from "../tables.ts";
import { type StockOutsOf, beginOf, loadStockOuts, timezoneOf } from "./stock-days.ts";

/** Variants whose demand series are updated in one turn of the shop. */
const settledVariantsMax = 20;

const markSeries = textForm(
  tables.demand_series,
  `insert into demand_series (shop_id, variant_id, location_id, stale_from, latest_week, latest_monday, latest_week_quantity,
     weeks, level_sum, slow_sum, slow_square_sum, sale_week_sum, sale_weeks, size)
   values (?, ?, ?, ?, null, null, 0, 0, 0, 0, 0, 0, 0, 0)
   on conflict (shop_id, variant_id, location_id) do update set stale_from =
     case when demand_series.stale_from < excluded.stale_from then demand_series.stale_from else excluded.stale_from end`,
  ["shop_id", "variant_id", "location_id", null],
);

/**
 * Marks the demand series of a sale as stale. It must commit with the sale, and `settleSales` must run before the
 * import that brought the sale ends (V6).
 */
export const markSeriesStatement = (shopId: string, sale: Sale): Change =>
  changeOf(markSeries, [shopId, sale.variantId, saleLocation(sale), sale.date]);

export interface SeriesRow {
  readonly variant_id: string;
  /** Null: nothing is learned yet. */
  readonly latest_week: number | null;
  readonly latest_week_quantity: number;
  readonly weeks: number;
  readonly level_sum: number;
  readonly slow_sum: number;
  readonly slow_square_sum: number;
  readonly sale_week_sum: number;
  readonly sale_weeks: number;
  readonly size: number;
  /** Null, like the three after it: an earlier version wrote the row. */
  readonly counted_days: number | null;
  readonly sale_days: number | null;
  readonly latest_from: number | null;
  readonly latest_day: number | null;
  readonly out_from: number | null;
  readonly out_until: number | null;
}

interface StaleRow extends SeriesRow {
  readonly location_id: string;
  readonly stale_from: string | null;
  readonly latest_monday: string | null;
}

export const seriesColumns = `variant_id, latest_week, latest_week_quantity, weeks, level_sum, slow_sum, slow_square_sum, sale_week_sum,
  sale_weeks, size, counted_days, sale_days, latest_from, latest_day, out_from, out_until`;

/** Weeks as versions before days were counted have them. */
const weeksOf = (days: number): number => Math.ceil(days / daysPerWeek);

const outOf = ({ out_from: from, out_until: until }: SeriesRow): StockOut | null =>
  from === null ? null : { from, until };

export function seriesFrom(row: SeriesRow): DemandSeries | null {
  if (row.latest_week === null) return null;
  // A node of the version before has updated the row without its days.
  const isCounted = row.counted_days !== null && row.weeks === weeksOf(row.counted_days);
  const monday = weekStart(row.latest_week);
  return {
    state: {
      days: isCounted ? (row.counted_days ?? 0) : row.weeks * daysPerWeek,
      levelSum: row.level_sum,
      slowSum: row.slow_sum,
      slowSquareSum: row.slow_square_sum,
      saleWeekSum: row.sale_week_sum,
      saleDays: isCounted ? (row.sale_days ?? 0) : row.sale_weeks * daysPerWeek,
      size: row.size,
    },
    latestWeek: row.latest_week,
    latestWeekQuantity: asQuantity(row.latest_week_quantity),
    latestFrom: isCounted ? (row.latest_from ?? monday) : monday,
    latestDay: isCounted ? (row.latest_day ?? monday) : monday,
    stockOut: outOf(row),
  };
}

const saveSeriesStatement = (shopId: string, key: SeriesKey, { state, ...series }: DemandSeries): Change =>
  update(tables.demand_series, shopId, key, {
    stale_from: null,
    latest_week: series.latestWeek,
    latest_monday: dateOf(weekStart(series.latestWeek)),
    latest_week_quantity: series.latestWeekQuantity,
    weeks: weeksOf(state.days),
    level_sum: state.levelSum,
    slow_sum: state.slowSum,
    slow_square_sum: state.slowSquareSum,
    sale_week_sum: state.saleWeekSum,
    sale_weeks: weeksOf(state.saleDays),
    size: state.size,
    counted_days: state.days,
    sale_days: state.saleDays,
    latest_from: series.latestFrom,
    latest_day: series.latestDay,
    out_from: series.stockOut?.from ?? null,
    out_until: series.stockOut?.until ?? null,
  });

const saveRecentStatement = (shopId: string, key: SeriesKey, recent: readonly DaySale[]): Change =>
  replace(tables.demand_recent, shopId, {
    ...key,
    days: JSON.stringify(recent.map(({ day, quantity }) => [day, quantity])),
  });

/** The key of a series: what its columns hold. */
interface SeriesKey extends Row {
  readonly variant_id: string;
  readonly location_id: string;
}

export interface RecentRow {
  readonly variant_id: string;
  readonly location_id: string;
  readonly days: string;
}

export function recentFrom(row: RecentRow): readonly DaySale[] {
  const days: readonly (readonly [Day, number])[] = JSON.parse(row.days);
  return days.map(([day, quantity]) => ({ day, quantity: asQuantity(quantity) }));
}

const selectRecent = (count: number): string =>
  `select variant_id, location_id, days from demand_recent where shop_id = ? and variant_id in (${placeholders(count)})`;

/** The recent days with sales of a variant, of each location, oldest first there. */
export async function loadRecentSales(tx: Tx, shopId: string, variantId: string): Promise<readonly DaySale[]> {
  const rows = await tx.all<RecentRow>(selectRecent(1), [shopId, variantId]);
  return rows.flatMap(recentFrom);
}

const selectStaleSeries = (count: number): string =>
  `select ${seriesColumns}, location_id, stale_from, latest_monday from demand_series
   where shop_id = ? and variant_id in (${placeholders(count)}) and stale_from is not null`;

const selectStale = `
select distinct variant_id from demand_series where shop_id = ? and stale_from is not null order by variant_id limit ?`;

/**
 * The sales that a stale series is updated with: those since its latest week; all of them when an earlier week changed.
 */
const selectSalesToLearn = (count: number): string => `
select s.variant_id, s.location_id, s.date, s.quantity
from demand_series d cross join sale s
where d.shop_id = ? and d.variant_id in (${placeholders(count)}) and d.stale_from is not null
  and s.shop_id = d.shop_id and s.variant_id = d.variant_id and s.location_id = d.location_id
  and s.date >= case when d.stale_from >= d.latest_monday then d.latest_monday else '' end
order by s.variant_id, s.location_id, s.date`;

const pairKey = (row: { readonly variant_id: string; readonly location_id: string }): string =>
  JSON.stringify([row.variant_id, row.location_id]);

/** The sales of the latest week were taken back: the series stays stale and is learned from all its sales. */
const forgotten = { latest_week: null, latest_monday: null };

/** Nothing was ever sold. */
const unsold = { stale_from: null };

interface SaleRow {
  readonly variant_id: string;
  readonly location_id: string;
  readonly date: string;
  readonly quantity: number;
}

/** Facts about one stale series. */
interface StaleSeries {
  readonly row: StaleRow;
  /** Its recent days so far. */
  readonly recent: readonly DaySale[];
  /** The sales that `selectSalesToLearn` finds, oldest first. */
  readonly sales: readonly DaySale[];
}

/**
 * Updates one stale series. `outsOf` tells when there was no stock. @returns the statements, and whether the series
 * stays stale: it must then be learned from all sales.
 */
function settled(shopId: string, { row, recent, sales }: StaleSeries, outsOf: StockOutsOf) {
  const key = { variant_id: row.variant_id, location_id: row.location_id };
  const [first] = sales;
  if (first === undefined) throw new Error(`a demand series without sales: ${pairKey(row)}`);
  const continues = row.latest_monday !== null && row.stale_from !== null && row.stale_from >= row.latest_monday;
  const sold = sales.filter((sale) => sale.quantity > 0);
  const reported = outsOf(row.variant_id, row.location_id, sold);
  const outs = withSeen(
    reported,
    outOf(row),
    sold.map((sale) => sale.day),
  );
  const series = extendSeries(continues ? seriesFrom(row) : null, sales, outs);
  if (continues && series?.latestWeekQuantity === 0)
    return { staysStale: true, statements: [update(tables.demand_series, shopId, key, forgotten)] };
  const earlier = continues ? recent.filter((sale) => sale.day < first.day) : [];
  return {
    staysStale: false,
    statements: [
      series === null ? update(tables.demand_series, shopId, key, unsold) : saveSeriesStatement(shopId, key, series),
      saveRecentStatement(shopId, key, recentSales(earlier, sales)),
    ],
  };
}

/**
 * Updates stale demand series from the stored sales, some of them per call. Each series is read once, however many
 * sales came in.
 *
 * @returns whether some may be left.
 */
export async function settleSales(tx: Tx, shopId: string): Promise<boolean> {
  const stale = await tx.all<{ variant_id: string }>(selectStale, [shopId, settledVariantsMax]);
  if (stale.length === 0) return false;
  const variantIds = stale.map((row) => row.variant_id);
  const params = [shopId, ...variantIds];
  const rows = await tx.all<StaleRow>(selectStaleSeries(variantIds.length), params);
  const learned = await tx.all<SaleRow>(selectSalesToLearn(variantIds.length), params);
  const sales = Map.groupBy(learned, pairKey);
  const recents = Map.groupBy(await tx.all<RecentRow>(selectRecent(variantIds.length), params), pairKey);
  const sinceMs = learned.reduce(
    (earliest, sale) => Math.min(earliest, beginOf(dayFrom(sale.date))),
    Number.MAX_SAFE_INTEGER,
  );
  const outsOf = await loadStockOuts({ tx, shopId, timezone: await timezoneOf(tx, shopId), variantIds, sinceMs });
  const updates = rows.map((row) =>
    settled(
      shopId,
      {
        row,
        recent: (recents.get(pairKey(row)) ?? []).flatMap(recentFrom),
        sales: (sales.get(pairKey(row)) ?? []).map((sale) => ({
          day: dayFrom(sale.date),
          quantity: asQuantity(sale.quantity),
        })),
      },
      outsOf,
    ),
  );
  await tx.batch(updates.flatMap((update) => update.statements));
  return stale.length === settledVariantsMax || updates.some((update) => update.staysStale);
}
