/**
 * How good the demand forecast is on held-back weeks of synthetic sales and of the demo shop's, beside a naive mean and two textbook
 * methods. Prints the tables of docs/forecasting.md. Run: `node bench/forecast-accuracy.ts [seed]`.
 *
 * 400 synthetic series of each kind, two years long, and those of the demo shop; the last 13 weeks are held back. The error of a
 * method is the root mean square over the series of (forecast − actual) weekly sales, as a ratio to that of the naive mean (the mean
 * of all weeks since the first sale).
 */
import { z } from "zod";
import { dayFrom, dayIn, weekOf, weekStart } from "../src/base/time/calendar.ts";
import { type DaySale, extendSeries, weeklyDemand } from "../src/core/forecast/demand.ts";
import { demoRecords } from "../src/demo/records.ts";
import { salesDays } from "../src/demo/sales.ts";
import { asQuantity } from "../src/core/money/money.ts";

const seed = Number(process.argv[2] ?? 7);
const seriesCount = 400;
const learnedWeeks = 91;
const heldBackWeeks = 13;
/** A Monday: every week of the demo shop's sales is complete. */
const demoNowMs = Date.UTC(2026, 5, 15);

/** Mulberry32: the same seed gives the same sales everywhere. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function poisson(random: () => number, mean: number): number {
  const limit = Math.exp(-mean);
  let count = 0;
  for (let product = random(); product > limit; product *= random()) count += 1;
  return count;
}

/** Each draws a product, then that product's sales of a week. */
const kinds: Readonly<Record<string, (random: () => number) => (week: number) => number>> = {
  regular: (random) => {
    const mean = 10 + 30 * random();
    return () => poisson(random, mean);
  },
  slow: (random) => {
    const mean = 0.3 + 1.2 * random();
    return () => poisson(random, mean);
  },
  intermittent: (random) => {
    const share = 0.05 + 0.25 * random();
    const size = 2 + 6 * random();
    return () => (random() < share ? 1 + poisson(random, size - 1) : 0);
  },
  trending: (random) => {
    const start = 5 + 10 * random();
    const perYear = start * (random() < 0.7 ? 0.25 + 0.5 * random() : -0.15 - 0.3 * random());
    return (week) => poisson(random, Math.max(0.2, start + (perYear * week) / 52));
  },
  seasonal: (random) => {
    const mean = 10 + 20 * random();
    const phase = 52 * random();
    return (week) => poisson(random, mean * (1 + 0.6 * Math.sin((2 * Math.PI * (week + phase)) / 52)));
  },
  stepped: (random) => {
    const mean = 5 + 10 * random();
    const step = random() < 0.5 ? 0.4 : 2;
    return (week) => poisson(random, week < 70 ? mean : mean * step);
  },
  fading: (random) => {
    const mean = 0.5 + 4 * random();
    const end = 50 + 25 * random();
    return (week) => (week < end ? poisson(random, mean) : 0);
  },
};

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
const mean = (values: readonly number[]): number => sum(values) / values.length;

/** Croston's method with the correction of Syntetos and Boylan. */
function sba(weeks: readonly number[]): number {
  const rate = 0.1;
  let size: number | null = null;
  let interval = 1;
  let since = 1;
  for (const sold of weeks) {
    if (sold === 0) {
      since += 1;
      continue;
    }
    interval = size === null ? since : interval + rate * (since - interval);
    size = size === null ? sold : size + rate * (sold - size);
    since = 1;
  }
  return size === null ? 0 : ((1 - rate / 2) * size) / interval;
}

function openPo(weeks: readonly number[]): number {
  const sales: DaySale[] = weeks.map((sold, week) => ({ day: weekStart(week), quantity: asQuantity(sold * 1_000) }));
  const series = extendSeries(null, sales);
  return series === null ? 0 : weeklyDemand(series, weekStart(weeks.length)).mean;
}

const methods: Readonly<Record<string, (weeks: readonly number[]) => number>> = {
  "naive mean": mean,
  "last 13 weeks": (weeks) => mean(weeks.slice(-13)),
  "Croston/SBA": sba,
  OpenPO: openPo,
};

/** What was sold in the weeks from the first sale on, and the weekly mean of those held back. */
interface Learned {
  readonly weeks: readonly number[];
  readonly actual: number;
}

/** Null when nothing was sold before the weeks that are held back. */
function learnedFrom(weeks: readonly number[]): Learned | null {
  const learned = weeks.slice(0, -heldBackWeeks);
  const firstSale = learned.findIndex((sold) => sold > 0);
  return firstSale === -1 ? null : { weeks: learned.slice(firstSale), actual: mean(weeks.slice(-heldBackWeeks)) };
}

function synthetic(productOf: (random: () => number) => (week: number) => number): readonly Learned[] {
  const random = randomFrom(seed);
  const series: Learned[] = [];
  while (series.length < seriesCount) {
    const soldIn = productOf(random);
    const learned = learnedFrom(Array.from({ length: learnedWeeks + heldBackWeeks }, (_, week) => soldIn(week)));
    if (learned !== null) series.push(learned);
  }
  return series;
}

const demoSale = z.object({
  type: z.literal("sale"),
  variantId: z.string(),
  locationId: z.string(),
  date: z.string(),
  quantity: z.number(),
});
const demoSuppliers: Readonly<Record<string, string>> = {
  sup_roastery: "coffee (regular)",
  sup_leaf: "tea (seasonal)",
  sup_gear: "equipment (slow)",
  sup_clay: "ceramics (slow)",
};

/** The demo shop's sales by supplier, one series a variant and location, of the complete weeks. */
function demo(): Readonly<Record<string, readonly Learned[]>> {
  const records = [...demoRecords(demoNowMs)];
  const supplierVariant = z.object({
    type: z.literal("supplierVariant"),
    variantId: z.string(),
    supplierId: z.string(),
  });
  const supplierOf = new Map(
    records.flatMap((record) => {
      const { data } = supplierVariant.safeParse(record);
      return data === undefined ? [] : [[data.variantId, data.supplierId] as const];
    }),
  );
  const sales = records.flatMap((record) => demoSale.safeParse(record).data ?? []);
  const firstWeek = weekOf(dayIn("UTC", demoNowMs) - salesDays);
  const weekCount = weekOf(dayIn("UTC", demoNowMs)) - firstWeek;
  const series = new Map<string, { kind: string; weeks: number[] }>();
  for (const { variantId, locationId, date, quantity } of sales) {
    const key = `${variantId} ${locationId}`;
    const entry = series.get(key) ?? {
      kind: `demo: ${demoSuppliers[supplierOf.get(variantId) ?? ""] ?? "sets (slow)"}`,
      weeks: Array.from({ length: weekCount }, () => 0),
    };
    series.set(key, entry);
    const week = weekOf(dayFrom(date)) - firstWeek;
    entry.weeks[week] = (entry.weeks[week] ?? 0) + quantity;
  }
  const kinds: Record<string, Learned[]> = {};
  for (const { kind, weeks } of series.values()) {
    const learned = learnedFrom(weeks);
    if (learned !== null) (kinds[kind] ??= []).push(learned);
  }
  return kinds;
}

function printRow(kind: string, series: readonly Learned[]): void {
  const errors = Object.values(methods).map((method) => series.map(({ weeks, actual }) => method(weeks) - actual));
  const rms = errors.map((of) => Math.sqrt(mean(of.map((error) => error * error))));
  const ratios = rms.map((error) => (error / (rms[0] ?? 1)).toFixed(2));
  const heldBack = mean(series.map(({ actual }) => actual)).toFixed(2);
  const bias = mean(errors.at(-1) ?? []).toFixed(2);
  console.log(`| ${kind} | ${series.length} | ${heldBack} | ${ratios.join(" | ")} | ${bias} |`);
}

console.log(
  `seed ${seed}; ${learnedWeeks} weeks learned, ${heldBackWeeks} held back; the demo shop is as of 2026-06-15`,
);
const titles = ["Kind", "Series", "Weekly sales held back", ...Object.keys(methods), "Bias of OpenPO"];
console.log(`| ${titles.join(" | ")} |`);
console.log(`|${titles.map(() => "---|").join("")}`);
for (const [kind, productOf] of Object.entries(kinds)) printRow(kind, synthetic(productOf));
for (const [kind, series] of Object.entries(demo())) printRow(kind, series);
