/**
 * Demand of one variant at one location, learned from its weekly sales. Pure.
 *
 * Glossary:
 * - demand state: the sums and averages over all complete weeks since the first sale. One more week updates them.
 * - demand series: the demand state before the latest week with a sale, and the quantity sold in that week. It stays apart because it
 *   may not be over. Nothing was sold in the weeks after it.
 *
 * The method, the reasons for it and its accuracy: `docs/forecasting.md`.
 *
 * Invariants:
 * - V1. A series does not depend on when it is read: the same sales give the same series.
 * - V2. A week without sales counts as 0, so demand falls while nothing is sold. It is never above the best week.
 */
import { type Day, type Week, weekOf, weekStart } from "../../base/calendar.ts";
import { addQuantity, quantityDecimalsMax, type Quantity, zeroQuantity } from "../money/money.ts";

/** Weight of a new week in the recent level of sales: each week back counts 0.9 of the next. */
const levelRate = 0.1;
/** Weight of a new week in the slow averages: usual sales, their variance, the share of weeks with sales, and the sales of such a week. */
const slowRate = 0.02;
/** Standard deviations by which usual sales and the recent level may differ before demand counts as changed. */
const changeFactor = 1;
/** Demand is intermittent when at most this share of weeks has sales: an average interval of 1.32 weeks (Syntetos, Boylan and Croston 2005). */
const intermittentShareMax = 1 / 1.32;
/** Weeks without sales after which a demand state is practically 0. Bounds the work after a long time without sales. */
const silentWeeksMax = 1_040;

/** Sums over complete weeks, in units sold. Each week back counts (1 − rate) of the next. */
interface DemandState {
  /** Complete weeks observed, the week of the first sale included. */
  readonly weeks: number;
  /** Σ weighted sales, at `levelRate`. */
  readonly levelSum: number;
  /** Σ weighted sales, at `slowRate`. */
  readonly slowSum: number;
  /** Σ weighted squares of sales, at `slowRate`. */
  readonly slowSquareSum: number;
  /** Σ weights of the weeks with sales, at `slowRate`. */
  readonly saleWeekSum: number;
  /** Weeks with sales. */
  readonly saleWeeks: number;
  /** Smoothed sales of a week that has sales. */
  readonly size: number;
}

/** The state before the first sale. */
const noDemand: DemandState = {
  weeks: 0,
  levelSum: 0,
  slowSum: 0,
  slowSquareSum: 0,
  saleWeekSum: 0,
  saleWeeks: 0,
  size: 0,
};

/**
 * The state after one more complete week. Weeks before the first sale change nothing.
 *
 * @param sold units sold in the week.
 */
function observe(state: DemandState, sold: number): DemandState {
  if (state.weeks === 0 && sold === 0) return state;
  const saleWeeks = state.saleWeeks + (sold > 0 ? 1 : 0);
  // A plain average of the first sizes; from then on a new one has the weight `slowRate`.
  const size = sold > 0 ? state.size + Math.max(slowRate, 1 / saleWeeks) * (sold - state.size) : state.size;
  return {
    weeks: state.weeks + 1,
    levelSum: state.levelSum * (1 - levelRate) + sold,
    slowSum: state.slowSum * (1 - slowRate) + sold,
    slowSquareSum: state.slowSquareSum * (1 - slowRate) + sold * sold,
    saleWeekSum: state.saleWeekSum * (1 - slowRate) + (sold > 0 ? 1 : 0),
    saleWeeks,
    size,
  };
}

/** The state after weeks without sales. */
function observeNoSales(state: DemandState, weeks: number): DemandState {
  let next = state;
  for (let i = 0; i < Math.min(weeks, silentWeeksMax); i += 1) next = observe(next, 0);
  return next;
}

/** What is stored of the sales of one variant at one location. */
export interface DemandSeries {
  /** Over every week before `latestWeek`. */
  readonly state: DemandState;
  /** The latest week with a sale. */
  readonly latestWeek: Week;
  readonly latestWeekQuantity: Quantity;
}

/** What was sold on one day. */
export interface DaySale {
  readonly day: Day;
  readonly quantity: Quantity;
}

const units = (quantity: Quantity): number => quantity / 10 ** quantityDecimalsMax;

/** The state over all weeks before `week`, which is not before the series' latest week. */
function stateBefore(series: DemandSeries, week: Week): DemandState {
  return series.latestWeek >= week
    ? series.state
    : observeNoSales(
        observe(series.state, units(series.latestWeekQuantity)),
        Math.max(0, week - series.latestWeek - 1),
      );
}

/**
 * Updates a series with sales, or learns one from all sales.
 *
 * When the result has 0 in its latest week, the sales of that week were taken back and an earlier week is the latest: learn the series
 * from all sales then.
 *
 * @param series the series so far; null to learn it from all sales.
 * @param sales  oldest first. With a series, all sales since the Monday of its latest week: they replace what it held of that week.
 * @returns null when nothing was ever sold.
 */
export function extendSeries(series: DemandSeries | null, sales: readonly DaySale[]): DemandSeries | null {
  let next = series === null ? null : openWeek(series, series.latestWeek);
  for (const sale of sales) {
    if (sale.quantity === 0) continue;
    const week = weekOf(sale.day);
    if (next === null || week > next.latestWeek) next = openWeek(next, week);
    next = { ...next, latestWeekQuantity: addQuantity(next.latestWeekQuantity, sale.quantity) };
  }
  return next;
}

/** The series with `week` (its latest week or a later one) as its latest, and nothing sold in it yet. */
const openWeek = (series: DemandSeries | null, week: Week): DemandSeries => ({
  state: series === null ? noDemand : stateBefore(series, week),
  latestWeek: week,
  latestWeekQuantity: zeroQuantity,
});

/** Days, up to the last day with a sale, whose sales are stored by day. */
const recentDays = 90;

/**
 * The days with sales that are stored beside a series: the last `recentDays` up to the last sale, and the last day with a sale before
 * the latest week, in case the sales of that week are taken back. Oldest first.
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

/** By number of weeks n up to `silentWeeksMax`: 1 + factor + … + factor^(n−1). */
function geometricSums(factor: number): readonly number[] {
  const sums = [0];
  for (let weeks = 1; weeks <= silentWeeksMax; weeks += 1) sums.push((sums.at(-1) ?? 0) * factor + 1);
  return sums;
}

/** Sums of weights, by number of weeks: a weighted sum divided by its sum of weights is the weighted mean. */
const levelWeights = geometricSums(1 - levelRate);
const slowWeights = geometricSums(1 - slowRate);
const levelSquares = geometricSums((1 - levelRate) ** 2);
const slowSquares = geometricSums((1 - slowRate) ** 2);
const crossProducts = geometricSums((1 - levelRate) * (1 - slowRate));

/**
 * The expected sales of one week, from a state.
 *
 * Usual demand is a weighted moving average where every week has sales. Where at most `intermittentShareMax` of the weeks have sales it
 * is that share times the sales of such a week (Teunter, Syntetos and Babai 2011). In between the two are mixed by the share, so that
 * no single week makes the figure jump. Usual demand is the forecast while it differs from the recent level by no more than chance
 * explains. Otherwise the forecast is the recent level, moved towards usual demand by that much.
 */
function weeklyDemandOf(state: DemandState): WeeklyDemand {
  if (state.weeks === 0) return { mean: 0, variance: 0 };
  const index = Math.min(state.weeks, silentWeeksMax);
  const levelWeight = levelWeights[index] ?? 1;
  const slowWeight = slowWeights[index] ?? 1;
  const share = state.saleWeekSum / slowWeight;
  const regularity = Math.max(0, (share - intermittentShareMax) / (1 - intermittentShareMax));
  const level = state.levelSum / levelWeight;
  const slowMean = state.slowSum / slowWeight;
  const usual = regularity * slowMean + (1 - regularity) * share * state.size;
  const observed = state.slowSquareSum / slowWeight - slowMean * slowMean;
  // Variance of the difference between the two weighted means of independent weeks, as a multiple of one week's variance.
  const spread =
    (levelSquares[index] ?? 0) / levelWeight ** 2 +
    (slowSquares[index] ?? 0) / slowWeight ** 2 -
    (2 * (crossProducts[index] ?? 0)) / (levelWeight * slowWeight);
  const chance = changeFactor * Math.sqrt(Math.max(0, spread) * Math.max(slowMean, observed));
  const mean = level + Math.min(chance, Math.max(-chance, usual - level));
  // Customers come one by one, so sales vary at least like a Poisson count, however even a short history looks.
  return { mean, variance: Math.max(mean, observed) };
}

/**
 * The expected sales of one week as of `today`. The current week does not count, because it is not over, unless the series has no other.
 */
export function weeklyDemand(series: DemandSeries, today: Day): WeeklyDemand {
  const state = stateBefore(series, weekOf(today));
  return weeklyDemandOf(state.weeks === 0 ? observe(state, units(series.latestWeekQuantity)) : state);
}
