/**
 * Demand of one variant at one location, learned from its weekly sales. Pure.
 *
 * Glossary:
 * - day counted: a day on which the variant could be sold, from its first sale on. Days without stock do not count
 *   (stock-outs.ts).
 * - demand state: the sums and averages over all complete weeks since the first sale. One more week updates them.
 * - demand series: the demand state before the latest week with a sale, and the quantity sold in that week. It stays
 *   apart because it may not be over. Nothing was sold in the weeks after it.
 *
 * The method, the reasons for it and its accuracy: `docs/forecasting.md`.
 *
 * Invariants:
 * - V1. A series does not depend on when it is read: the same sales and days without stock give the same series.
 * - V2. A counted day without sales counts as 0, so demand falls while nothing is sold. It is never above the pace of
 *   the best day.
 * - V10. A week counts by its days: one without a counted day changes nothing.
 */
import { type Day, type Week, daysPerWeek, weekOf, weekStart } from "../../base/time/calendar.ts";
import { addQuantity, quantityDecimalsMax, type Quantity, zeroQuantity } from "../money/money.ts";
import { type StockOut, daysOut } from "./stock-outs.ts";

/** Weight of a new week in the recent level of sales: each week back counts 0.9 of the next. */
const levelRate = 0.1;
/**
 * Weight of a new week in the slow averages: usual sales, their variance, the share of weeks with sales, and those
 * weeks' sales.
 */
const slowRate = 0.02;
/** Standard deviations by which usual sales and the recent level may differ before demand counts as changed. */
const stepFactor = 1;
/**
 * Demand is intermittent when at most this share of weeks has sales: an average interval of 1.32 weeks (Syntetos,
 * Boylan and Croston 2005).
 */
const intermittentShareMax = 1 / 1.32;
/** Weeks without sales after which a demand state is practically 0. Bounds the work after a long time without sales. */
const silentWeeksMax = 1_040;
const weighedDays = silentWeeksMax * daysPerWeek;

/**
 * Sums over complete weeks, in units sold. Each week back counts (1 − rate) of the next; a part of a week counts as
 * much less as it has fewer days.
 */
interface DemandState {
  /** Days counted, of the week of the first sale on. */
  readonly days: number;
  /** Σ weighted sales, at `levelRate`. */
  readonly levelSum: number;
  /** Σ weighted sales, at `slowRate`. */
  readonly slowSum: number;
  /** Σ weighted squares of sales, at `slowRate`. */
  readonly slowSquareSum: number;
  /** Σ weights of the weeks with sales, at `slowRate`. */
  readonly saleWeekSum: number;
  /** Days counted in weeks with sales. */
  readonly saleDays: number;
  /** Smoothed sales of a week that has sales. */
  readonly size: number;
}

/** The state before the first sale. */
const noDemand: DemandState = {
  days: 0,
  levelSum: 0,
  slowSum: 0,
  slowSquareSum: 0,
  saleWeekSum: 0,
  saleDays: 0,
  size: 0,
};

/** By number of days up to a week: what a week's factor is for so many of its days. */
const partsOf = (rate: number): readonly number[] =>
  Array.from({ length: daysPerWeek + 1 }, (_, days) => (1 - rate) ** (days / daysPerWeek));

const levelParts = partsOf(levelRate);
const slowParts = partsOf(slowRate);

/**
 * The state after one more complete week, or a part of one. Without a counted day, and before the first sale, it
 * changes nothing.
 *
 * @param sold units sold in these days.
 * @param days days counted, 0 to 7.
 */
function observe(state: DemandState, sold: number, days: number): DemandState {
  if (days === 0 || (state.days === 0 && sold === 0)) return state;
  const pace = (sold * daysPerWeek) / days;
  const levelPart = levelParts[days] ?? 1;
  const slowPart = slowParts[days] ?? 1;
  const levelWeight = (1 - levelPart) / levelRate;
  const slowWeight = (1 - slowPart) / slowRate;
  const saleDays = state.saleDays + (sold > 0 ? days : 0);
  // A plain average of the first sizes; from then on a new one has the weight `slowRate`.
  const share = Math.max(slowRate * slowWeight, days / saleDays);
  return {
    days: state.days + days,
    levelSum: state.levelSum * levelPart + pace * levelWeight,
    slowSum: state.slowSum * slowPart + pace * slowWeight,
    slowSquareSum: state.slowSquareSum * slowPart + pace * pace * slowWeight,
    saleWeekSum: state.saleWeekSum * slowPart + (sold > 0 ? slowWeight : 0),
    saleDays,
    size: sold > 0 ? state.size + share * (pace - state.size) : state.size,
  };
}

/** Stored sales of one variant at one location. */
export interface DemandSeries {
  /** Over every week before `latestWeek`. */
  readonly state: DemandState;
  /** The latest week with a sale. */
  readonly latestWeek: Week;
  readonly latestWeekQuantity: Quantity;
  /** The first day of the latest week that counts: its Monday, or the day of the very first sale. */
  readonly latestFrom: Day;
  /** The latest day with a sale. */
  readonly latestDay: Day;
  /** The last time without stock that reaches into the latest week or the weeks after it; null: there is none. */
  readonly stockOut: StockOut | null;
}

/** Sales of one day. */
export interface DaySale {
  readonly day: Day;
  readonly quantity: Quantity;
}

const units = (quantity: Quantity): number => quantity / 10 ** quantityDecimalsMax;

const sundayOf = (week: Week): Day => weekStart(week) + daysPerWeek - 1;

/** Days from `from` to `until` with stock, both included. A day with a sale has some, whatever the records say. */
const daysCounted = (from: Day, until: Day, outs: readonly StockOut[], hasSale: boolean): number =>
  Math.max(hasSale ? 1 : 0, until - from + 1 - daysOut(outs, from, until));

/** The state over all weeks before `week`, which is not before the series' latest week. */
function stateBefore(series: Omit<DemandSeries, "stockOut">, week: Week, outs: readonly StockOut[]): DemandState {
  const { latestWeek, latestWeekQuantity, latestFrom } = series;
  if (latestWeek >= week) return series.state;
  const hasSale = latestWeekQuantity > 0;
  const latestDays = daysCounted(latestFrom, sundayOf(latestWeek), outs, hasSale);
  let state = observe(series.state, units(latestWeekQuantity), latestDays);
  const last = Math.min(week - 1, latestWeek + silentWeeksMax);
  for (let silent = latestWeek + 1; silent <= last; silent += 1)
    state = observe(
      state,
      0,
      outs.length === 0 ? daysPerWeek : daysCounted(weekStart(silent), sundayOf(silent), outs, false),
    );
  return state;
}

/**
 * Updates a series with sales, or learns one from all sales.
 *
 * When the result has 0 in its latest week, that week's sales were taken back and an earlier week is the latest. Then
 * learn the series from all sales.
 *
 * @param series the series so far; null to learn it from all sales.
 * @param sales  oldest first. With a series, all sales since the Monday of its latest week: they replace what it held
 *   of that week.
 * @param outs   the times without stock, oldest first. With a series, those that reach into its latest week or later.
 * @returns null when nothing was ever sold.
 */
export function extendSeries(
  series: DemandSeries | null,
  sales: readonly DaySale[],
  outs: readonly StockOut[] = [],
): DemandSeries | null {
  let next = series === null ? null : openWeek(series, series.latestWeek, weekStart(series.latestWeek), outs);
  for (const sale of sales) {
    if (sale.quantity === 0) continue;
    const week = weekOf(sale.day);
    if (next === null || week > next.latestWeek) next = openWeek(next, week, sale.day, outs);
    const isFirst = next.latestWeekQuantity === 0 && next.state.days === 0;
    next = {
      ...next,
      latestWeekQuantity: addQuantity(next.latestWeekQuantity, sale.quantity),
      latestFrom: isFirst ? sale.day : next.latestFrom,
      latestDay: sale.day,
    };
  }
  if (next === null) return null;
  const { latestWeek } = next;
  const last = outs.at(-1);
  const reaches = last !== undefined && (last.until === null || last.until >= weekStart(latestWeek));
  return { ...next, stockOut: reaches ? last : null };
}

/** The series with `week` (its latest week or a later one) as its latest, and nothing sold in it yet. */
const openWeek = (
  series: Omit<DemandSeries, "stockOut"> | null,
  week: Week,
  day: Day,
  outs: readonly StockOut[],
): Omit<DemandSeries, "stockOut"> => ({
  state: series === null ? noDemand : stateBefore(series, week, outs),
  latestWeek: week,
  latestWeekQuantity: zeroQuantity,
  latestFrom: weekStart(week),
  latestDay: day,
});

/** Days, up to the last day with a sale, whose sales are stored by day. */
const recentDays = 90;

/**
 * Returns the days with sales that are stored beside a series: the last `recentDays` up to the last sale. The last day
 * with a sale before the latest week is kept too, in case that week's sales are taken back. Oldest first.
 *
 * @param known what was stored of the days before `sales`.
 * @param sales at least one, oldest first, as for `extendSeries`.
 */
export function recentSales(known: readonly DaySale[], sales: readonly DaySale[]): readonly DaySale[] {
  const monday = weekStart(weekOf(sales.at(-1)?.day ?? 0));
  const sold = [...known, ...sales].filter((sale) => sale.quantity > 0);
  const last = sold.at(-1);
  const earlier = sold.findLast((sale) => sale.day < monday);
  return sold.filter((sale) => sale === earlier || (last !== undefined && sale.day > last.day - recentDays));
}

/** The quantity sold in the last `days` days, today included. `days` is at most `recentDays`. */
export const soldWithin = (recent: readonly DaySale[], today: Day, days: number): Quantity =>
  recent
    .filter((sale) => sale.day > today - days && sale.day <= today)
    .reduce((sum, sale) => addQuantity(sum, sale.quantity), zeroQuantity);

/** Expected sales of one week in units, and their variance. */
interface WeeklyDemand {
  readonly mean: number;
  readonly variance: number;
}

/**
 * By number of days up to `weighedDays`: the sum of their weights, where a week counts 1 and each week back `factor` of
 * the next.
 */
function geometricSums(factor: number): Float64Array {
  const sums = new Float64Array(weighedDays + 1);
  for (let days = 0; days <= weighedDays; days += 1)
    sums[days] =
      days < daysPerWeek
        ? (1 - factor ** (days / daysPerWeek)) / (1 - factor)
        : (sums[days - daysPerWeek] ?? 0) * factor + 1;
  return sums;
}

/** Sums of weights, by number of days: a weighted sum divided by its sum of weights is the weighted mean. */
const levelWeights = geometricSums(1 - levelRate);
const slowWeights = geometricSums(1 - slowRate);
const levelSquares = geometricSums((1 - levelRate) ** 2);
const slowSquares = geometricSums((1 - slowRate) ** 2);
const crossProducts = geometricSums((1 - levelRate) * (1 - slowRate));

/**
 * The expected sales of one week, from a state.
 *
 * Usual demand is a weighted moving average where every week has sales. Where at most `intermittentShareMax` of the
 * weeks have sales it is that share times the sales of such a week (Teunter, Syntetos and Babai 2011). In between the
 * two are mixed by the share, so that no single week makes the figure jump. Usual demand is the forecast while it
 * differs from the recent level by no more than chance explains. Otherwise the forecast is the recent level, moved
 * towards usual demand by that much.
 */
function weeklyDemandOf(state: DemandState): WeeklyDemand {
  if (state.days === 0) return { mean: 0, variance: 0 };
  const index = Math.min(state.days, weighedDays);
  const levelWeight = levelWeights[index] ?? 1;
  const slowWeight = slowWeights[index] ?? 1;
  const share = state.saleWeekSum / slowWeight;
  const regularity = Math.max(0, (share - intermittentShareMax) / (1 - intermittentShareMax));
  const level = state.levelSum / levelWeight;
  const slowMean = state.slowSum / slowWeight;
  const usual = regularity * slowMean + (1 - regularity) * share * state.size;
  const observed = state.slowSquareSum / slowWeight - slowMean * slowMean;
  // Variance of the difference between the two weighted means of independent weeks, as a multiple of one week's
  // variance.
  const spread =
    (levelSquares[index] ?? 0) / levelWeight ** 2 +
    (slowSquares[index] ?? 0) / slowWeight ** 2 -
    (2 * (crossProducts[index] ?? 0)) / (levelWeight * slowWeight);
  const chance = stepFactor * Math.sqrt(Math.max(0, spread) * Math.max(slowMean, observed));
  const mean = level + Math.min(chance, Math.max(-chance, usual - level));
  // Customers come one by one, so sales vary at least like a Poisson count, however even a short history looks.
  return { mean, variance: Math.max(mean, observed) };
}

/**
 * The expected sales of one week as of `today`. The current week does not count, because it is not over. If less than a
 * week is known without it, it counts by its days, today included once something was sold today. Sales of one day
 * alone, in less than a week, count as those of a whole week: one day says nothing of the next.
 */
export function weeklyDemand(series: DemandSeries, today: Day): WeeklyDemand {
  const { stockOut, latestWeek, latestWeekQuantity, latestFrom, latestDay } = series;
  const outs = stockOut === null ? [] : [stockOut];
  const week = weekOf(today);
  const state = stateBefore(series, week, outs);
  if (state.days >= daysPerWeek) return weeklyDemandOf(state);
  const isLatest = latestWeek >= week;
  const from = isLatest ? latestFrom : weekStart(week);
  const until = isLatest ? Math.max(today - 1, latestDay) : today - 1;
  const days = Math.min(daysPerWeek, Math.max(0, daysCounted(from, until, outs, isLatest && latestWeekQuantity > 0)));
  const known = observe(state, isLatest ? units(latestWeekQuantity) : 0, days);
  const isOneDay = series.state.days === 0 && latestFrom === latestDay;
  return isOneDay && known.days < daysPerWeek
    ? weeklyDemandOf(observe(noDemand, units(latestWeekQuantity), daysPerWeek))
    : weeklyDemandOf(known);
}
