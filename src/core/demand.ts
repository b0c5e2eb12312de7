/**
 * Demand of one variant at one location, learned from its weekly sales. Pure; the calendar is the proleptic Gregorian one.
 *
 * Glossary:
 * - day: days since 1970-01-01. week: ISO weeks, Monday to Sunday, counted from the one that holds 1970-01-01.
 * - demand state: what the complete weeks since the first sale have taught, in a few numbers that one more week moves on.
 * - series: a demand state and the latest week with a sale, which is taken in once it is over. Weeks after it sold nothing.
 *
 * The method, its reasons and how good it is: `docs/forecasting.md`.
 *
 * Invariants:
 * - V1. A series does not depend on when it is read: the same sales give the same series.
 * - V2. Weeks without sales are observed as zeros, so demand fades while nothing is sold. It is never above the best week.
 */
import { addQuantity, quantityDecimalsMax, type Quantity, zeroQuantity } from "./money.ts";

export type Day = number;
export type Week = number;

const dayMs = 86_400_000;
export const daysPerWeek = 7;

/** The day of a `YYYY-MM-DD`. */
export const dayFrom = (date: string): Day => Math.floor(Date.parse(`${date}T00:00:00Z`) / dayMs);

/** `YYYY-MM-DD`. */
export const dateOf = (day: Day): string => new Date(day * dayMs).toISOString().slice(0, 10);

/** The day that an instant falls on in a time zone (IANA name). */
export function dayIn(timezone: string, instantMs: number): Day {
  const parts = new Intl.DateTimeFormat("en", {
    timeZone: timezone,
    calendar: "iso8601",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
  }).formatToParts(instantMs);
  const part = (type: "year" | "month" | "day"): number => Number(parts.find((one) => one.type === type)?.value);
  return Date.UTC(part("year"), part("month") - 1, part("day")) / dayMs;
}

export const weekOf = (day: Day): Week => Math.floor((day + 3) / daysPerWeek);
/** The Monday that a week begins with. */
export const weekStart = (week: Week): Day => week * daysPerWeek - 3;

/** Weight of a new week in the recent level of sales. */
export const levelRate = 0.1;
/** Weight of a new week in what is learned slowly: usual sales, how often there are any, of which size, and how much they vary. */
export const slowRate = 0.02;
/** Standard deviations by which usual sales may differ from the recent level by chance. */
export const changeFactor = 1;
/** Demand in no more than this share of weeks is intermittent: an interval of 1.32 weeks (Syntetos, Boylan and Croston 2005). */
export const intermittentShareMax = 1 / 1.32;
/** Weeks without sales after which nothing worth telling is left of a demand state; bounds the work of a long silence. */
export const silentWeeksMax = 1_040;

/** Sums are of units; each week back counts (1 − rate) of the next. */
export interface DemandState {
  /** Complete weeks taken in, the one of the first sale included. */
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
  /** Smoothed sales of a week with sales. */
  readonly size: number;
}

export const noDemand: DemandState = {
  weeks: 0,
  levelSum: 0,
  slowSum: 0,
  slowSquareSum: 0,
  saleWeekSum: 0,
  saleWeeks: 0,
  size: 0,
};

/** The state after one more complete week. Weeks before the first sale teach nothing. */
export function observe(state: DemandState, sold: number): DemandState {
  if (state.weeks === 0 && sold === 0) return state;
  const saleWeeks = state.saleWeeks + (sold > 0 ? 1 : 0);
  // The first sizes are averaged plainly; from then on a new one counts `slowRate`.
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

function observeSilence(state: DemandState, weeks: number): DemandState {
  let next = state;
  for (let i = 0; i < Math.min(weeks, silentWeeksMax); i += 1) next = observe(next, 0);
  return next;
}

/** What is kept of one variant's sales at one location. */
export interface DemandSeries {
  /** Every complete week before `latestWeek`. */
  readonly state: DemandState;
  readonly latestWeek: Week;
  readonly latestWeekQuantity: Quantity;
}

export interface DaySale {
  readonly day: Day;
  readonly quantity: Quantity;
}

const units = (quantity: Quantity): number => quantity / 10 ** quantityDecimalsMax;

/** The state up to the week before `week`. */
function stateBefore(series: DemandSeries, week: Week): DemandState {
  return series.latestWeek >= week
    ? series.state
    : observeSilence(
        observe(series.state, units(series.latestWeekQuantity)),
        Math.max(0, week - series.latestWeek - 1),
      );
}

/**
 * The series after these sales. With `series` they replace what it held of its latest week: `sales` are all the sales since that
 * week's Monday, oldest first. Without, they are all there are. Should nothing be left of the latest week, an earlier one is the
 * latest: the series is then to be learned from all sales.
 *
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

/** The series with `week`, its latest or a later one, as its latest and nothing sold in it yet. */
const openWeek = (series: DemandSeries | null, week: Week): DemandSeries => ({
  state: series === null ? noDemand : stateBefore(series, week),
  latestWeek: week,
  latestWeekQuantity: zeroQuantity,
});

/** Sales are kept by day as far back from the last one. */
export const recentDays = 90;

/**
 * The days with sales that are kept beside a series: those of `recentDays` up to the last one and, should the latest week's sales
 * be taken back, the last one before that week. Oldest first.
 *
 * @param known what was kept, of the days before `sales`.
 * @param sales at least one, oldest first, as `extendSeries` takes them.
 */
export function recentSales(known: readonly DaySale[], sales: readonly DaySale[]): readonly DaySale[] {
  const monday = weekStart(weekOf(sales.at(-1)?.day ?? 0));
  const sold = [...known, ...sales].filter((sale) => sale.quantity > 0);
  const last = sold.at(-1);
  const earlier = sold.findLast((sale) => sale.day < monday);
  return sold.filter((sale) => sale === earlier || (last !== undefined && sale.day > last.day - recentDays));
}

/** Sold today and on the days before, `days` in all, at most `recentDays`. */
export const soldWithin = (recent: readonly DaySale[], today: Day, days: number): Quantity =>
  recent
    .filter((sale) => sale.day > today - days && sale.day <= today)
    .reduce((sum, sale) => addQuantity(sum, sale.quantity), zeroQuantity);

/** Expected sales of one week and their variance, in units. */
export interface WeeklyDemand {
  readonly mean: number;
  readonly variance: number;
}

/** Sums of the powers of `factor` from 0 on, by how many there are; they end where another week changes nothing. */
function geometricSums(factor: number): readonly number[] {
  const sums = [0];
  for (let weeks = 1; weeks <= silentWeeksMax; weeks += 1) sums.push((sums.at(-1) ?? 0) * factor + 1);
  return sums;
}

/** Normalisers of the weighted sums, by number of weeks. */
const levelWeights = geometricSums(1 - levelRate);
const slowWeights = geometricSums(1 - slowRate);
const levelSquares = geometricSums((1 - levelRate) ** 2);
const slowSquares = geometricSums((1 - slowRate) ** 2);
const crossProducts = geometricSums((1 - levelRate) * (1 - slowRate));

/**
 * What one week is expected to sell, from a state. Usual demand: of sales in every week their weighted moving average; of sales in no
 * more than `intermittentShareMax` of the weeks that share times the size of a week with sales (Teunter, Syntetos and Babai 2011).
 * In between the two are mixed by the share, so that no single week makes the figure jump from one to the other. Usual demand holds
 * as long as the recent level differs from it by no more than chance explains; else what chance explains is kept from the level.
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
  // Variance of the difference of the two weighted means of independent weeks, in variances of one week.
  const spread =
    (levelSquares[index] ?? 0) / levelWeight ** 2 +
    (slowSquares[index] ?? 0) / slowWeight ** 2 -
    (2 * (crossProducts[index] ?? 0)) / (levelWeight * slowWeight);
  const chance = changeFactor * Math.sqrt(Math.max(0, spread) * Math.max(slowMean, observed));
  const mean = level + Math.min(chance, Math.max(-chance, usual - level));
  // Sales come in whole customers: they vary at least as a Poisson count does, however even a short history looks.
  return { mean, variance: Math.max(mean, observed) };
}

/**
 * What one week is expected to sell, seen from `today`. The week that `today` is in is not taken in, unless the series knows no
 * other.
 */
export function weeklyDemand(series: DemandSeries, today: Day): WeeklyDemand {
  const state = stateBefore(series, weekOf(today));
  return weeklyDemandOf(state.weeks === 0 ? observe(state, units(series.latestWeekQuantity)) : state);
}
