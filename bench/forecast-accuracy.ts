/**
 * How good the demand forecast is on held-back weeks of synthetic sales, beside a naive mean and two textbook methods. Prints the
 * table of docs/forecasting.md. Run: `node bench/forecast-accuracy.ts [seed]`.
 *
 * 400 series of each kind, two years long; the last 13 weeks are held back. The error of a method is the root mean square over the
 * series of (forecast − actual) weekly sales, as a ratio to that of the naive mean (the mean of all weeks since the first sale).
 */
import { type DaySale, extendSeries, weeklyDemand, weekStart } from "../src/core/demand.ts";
import { asQuantity } from "../src/core/money.ts";

const seed = Number(process.argv[2] ?? 7);
const seriesCount = 400;
const learnedWeeks = 91;
const heldBackWeeks = 13;

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

console.log(`seed ${seed}; ${seriesCount} series a kind, ${learnedWeeks} weeks learned, ${heldBackWeeks} held back`);
console.log(`| Kind | Weekly sales held back | ${Object.keys(methods).join(" | ")} | Bias of OpenPO |`);
console.log(
  `|---|---|${Object.keys(methods)
    .map(() => "---|")
    .join("")}---|`,
);
for (const [kind, productOf] of Object.entries(kinds)) {
  const random = randomFrom(seed);
  const errors = Object.keys(methods).map((): number[] => []);
  const actuals: number[] = [];
  while (actuals.length < seriesCount) {
    const weekOf = productOf(random);
    const weeks = Array.from({ length: learnedWeeks + heldBackWeeks }, (_, week) => weekOf(week));
    const firstSale = weeks.findIndex((sold) => sold > 0);
    if (firstSale === -1 || firstSale >= learnedWeeks) continue;
    const actual = mean(weeks.slice(learnedWeeks));
    actuals.push(actual);
    for (const [index, method] of Object.values(methods).entries())
      errors[index]?.push(method(weeks.slice(firstSale, learnedWeeks)) - actual);
  }
  const rms = errors.map((of) => Math.sqrt(mean(of.map((error) => error * error))));
  const bias = mean(errors.at(-1) ?? []);
  const ratios = rms.map((error) => (error / (rms[0] ?? 1)).toFixed(2));
  console.log(`| ${kind} | ${mean(actuals).toFixed(2)} | ${ratios.join(" | ")} | ${bias.toFixed(2)} |`);
}
