import { type Day, dateOf, dayFrom, weekStart } from "../core/calendar.ts";
import { type DaySale, type DemandSeries, extendSeries, recentSales } from "../core/demand.ts";
import { asQuantity } from "../core/money.ts";
import { placeholders } from "../store/in-lists.ts";
import type { Statement, Tx } from "../store/store.ts";
import { type Sale, saleLocation } from "./catalogue.ts";

/** Variants whose demand is learned in one turn of the shop. */
const settledVariantsMax = 20;

// Sales and what they teach.

const markSeries = `
insert into demand_series (shop_id, variant_id, location_id, stale_from, latest_week, latest_monday, latest_week_quantity,
  weeks, level_sum, slow_sum, slow_square_sum, sale_week_sum, sale_weeks, size)
values (?, ?, ?, ?, null, null, 0, 0, 0, 0, 0, 0, 0, 0)
on conflict (shop_id, variant_id, location_id) do update set stale_from =
  case when demand_series.stale_from < excluded.stale_from then demand_series.stale_from else excluded.stale_from end`;

/**
 * Marks the demand series that a stored sale belongs to. To be committed with the sale; `settleSales` must follow before the import
 * that brought it in is over (V6).
 */
export const markSeriesStatement = (shopId: string, sale: Sale): Statement => ({
  sql: markSeries,
  params: [shopId, sale.variantId, saleLocation(sale), sale.date],
});

export interface SeriesRow {
  readonly variant_id: string;
  /** Null: nothing has been learned yet. */
  readonly latest_week: number | null;
  readonly latest_week_quantity: number;
  readonly weeks: number;
  readonly level_sum: number;
  readonly slow_sum: number;
  readonly slow_square_sum: number;
  readonly sale_week_sum: number;
  readonly sale_weeks: number;
  readonly size: number;
}

interface StaleRow extends SeriesRow {
  readonly location_id: string;
  readonly stale_from: string | null;
  readonly latest_monday: string | null;
}

export const seriesColumns = `variant_id, latest_week, latest_week_quantity, weeks, level_sum, slow_sum, slow_square_sum, sale_week_sum,
  sale_weeks, size`;

export function seriesFrom(row: SeriesRow): DemandSeries | null {
  if (row.latest_week === null) return null;
  return {
    state: {
      weeks: row.weeks,
      levelSum: row.level_sum,
      slowSum: row.slow_sum,
      slowSquareSum: row.slow_square_sum,
      saleWeekSum: row.sale_week_sum,
      saleWeeks: row.sale_weeks,
      size: row.size,
    },
    latestWeek: row.latest_week,
    latestWeekQuantity: asQuantity(row.latest_week_quantity),
  };
}

const saveSeries = `
update demand_series set stale_from = null, latest_week = ?, latest_monday = ?, latest_week_quantity = ?, weeks = ?, level_sum = ?,
  slow_sum = ?, slow_square_sum = ?, sale_week_sum = ?, sale_weeks = ?, size = ?
where shop_id = ? and variant_id = ? and location_id = ?`;

const saveSeriesStatement = (
  shopId: string,
  variantId: string,
  locationId: string,
  { state, ...series }: DemandSeries,
): Statement => ({
  sql: saveSeries,
  params: [
    series.latestWeek,
    dateOf(weekStart(series.latestWeek)),
    series.latestWeekQuantity,
    state.weeks,
    state.levelSum,
    state.slowSum,
    state.slowSquareSum,
    state.saleWeekSum,
    state.saleWeeks,
    state.size,
    shopId,
    variantId,
    locationId,
  ],
});

const saveRecent = `
insert into demand_recent (shop_id, variant_id, location_id, days) values (?, ?, ?, ?)
on conflict (shop_id, variant_id, location_id) do update set days = excluded.days`;

const saveRecentStatement = (
  shopId: string,
  variantId: string,
  locationId: string,
  recent: readonly DaySale[],
): Statement => ({
  sql: saveRecent,
  params: [shopId, variantId, locationId, JSON.stringify(recent.map(({ day, quantity }) => [day, quantity]))],
});

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

const selectStale = `
select distinct variant_id from demand_series where shop_id = ? and stale_from is not null order by variant_id limit ?`;

/** What a stale series needs: its latest week's sales and later ones or, when an earlier week changed, all of them. */
const selectSalesToLearn = (count: number): string => `
select s.variant_id, s.location_id, s.date, s.quantity
from demand_series d cross join sale s
where d.shop_id = ? and d.variant_id in (${placeholders(count)}) and d.stale_from is not null
  and s.shop_id = d.shop_id and s.variant_id = d.variant_id and s.location_id = d.location_id
  and s.date >= case when d.stale_from >= d.latest_monday then d.latest_monday else '' end
order by s.variant_id, s.location_id, s.date`;

const pairKey = (row: { readonly variant_id: string; readonly location_id: string }): string =>
  JSON.stringify([row.variant_id, row.location_id]);

/** Nothing is left of the latest week: the series stays stale and is learned from all its sales. */
const forgetSeries =
  "update demand_series set latest_week = null, latest_monday = null where shop_id = ? and variant_id = ? and location_id = ?";

/** Nothing was ever sold. */
const settleUnsold =
  "update demand_series set stale_from = null where shop_id = ? and variant_id = ? and location_id = ?";

/**
 * Brings stale series up to date with the sales behind them, a part of them a call; each is read once, however many sales came in.
 *
 * @returns whether some may be left.
 */
export async function settleSales(tx: Tx, shopId: string): Promise<boolean> {
  const stale = await tx.all<{ variant_id: string }>(selectStale, [shopId, settledVariantsMax]);
  if (stale.length === 0) return false;
  const variantIds = stale.map((row) => row.variant_id);
  const rows = await tx.all<StaleRow>(
    `select ${seriesColumns}, location_id, stale_from, latest_monday from demand_series
     where shop_id = ? and variant_id in (${placeholders(variantIds.length)}) and stale_from is not null`,
    [shopId, ...variantIds],
  );
  const sales = Map.groupBy(
    await tx.all<{ variant_id: string; location_id: string; date: string; quantity: number }>(
      selectSalesToLearn(variantIds.length),
      [shopId, ...variantIds],
    ),
    pairKey,
  );
  const recents = new Map(
    (await tx.all<RecentRow>(selectRecent(variantIds.length), [shopId, ...variantIds])).map((row) => [
      pairKey(row),
      recentFrom(row),
    ]),
  );
  let forgotten = false;
  await tx.batch(
    rows.flatMap((row) => {
      const key = pairKey(row);
      const params = [shopId, row.variant_id, row.location_id];
      const days: DaySale[] = (sales.get(key) ?? []).map((sale) => ({
        day: dayFrom(sale.date),
        quantity: asQuantity(sale.quantity),
      }));
      const goesOn = row.latest_monday !== null && row.stale_from !== null && row.stale_from >= row.latest_monday;
      const series = extendSeries(goesOn ? seriesFrom(row) : null, days);
      const since = days[0]?.day;
      if (since === undefined) throw new Error(`a demand series without sales: ${key}`);
      if (goesOn && series?.latestWeekQuantity === 0) {
        forgotten = true;
        return [{ sql: forgetSeries, params }];
      }
      const known = goesOn ? (recents.get(key) ?? []).filter((sale) => sale.day < since) : [];
      return [
        series === null
          ? { sql: settleUnsold, params }
          : saveSeriesStatement(shopId, row.variant_id, row.location_id, series),
        saveRecentStatement(shopId, row.variant_id, row.location_id, recentSales(known, days)),
      ];
    }),
  );
  return forgotten || stale.length === settledVariantsMax;
}
