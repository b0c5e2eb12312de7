/** The worked examples of docs/forecasting.md have the figures that the program computes. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { suite, test } from "node:test";
import { type Day, dayFrom } from "../../src/base/time/calendar.ts";
import { type DaySale, extendSeries } from "../../src/core/forecast/demand.ts";
import { type LateArrival, replenishment } from "../../src/core/forecast/forecast.ts";
import { ruleIn, type Steering } from "../../src/core/forecast/reorder-settings.ts";
import { asQuantity, quantityToNumber } from "../../src/core/money/money.ts";
import { type StockDay, stockOutsOf } from "../../src/core/forecast/stock-outs.ts";

/** A Saturday. */
const today = dayFrom("2026-11-21");

const pieces = (units: number) => asQuantity(units * 1_000);

/** One sold each day. */
const daily = (from: Day, until: Day): readonly DaySale[] =>
  Array.from({ length: until - from + 1 }, (_, index) => ({ day: from + index, quantity: pieces(1) }));

interface Example {
  readonly onHand: number;
  readonly sales: readonly DaySale[];
  readonly leadTimeDays?: number;
  readonly arrivals?: readonly LateArrival[];
  /** What else moved the stock. */
  readonly days?: readonly Omit<StockDay, "sold">[];
  readonly lookedAt?: Day;
  /** What a buyer has set. */
  readonly steering?: Partial<Steering>;
}

const inDays = (days: number, units: number): readonly LateArrival[] => [
  { day: today + days, quantity: pieces(units) },
];

const aMonday = dayFrom("2026-11-16");
const aSunday = dayFrom("2026-11-08");
const seventyThenNone = daily(today - 140, today - 71);

const steady = { onHand: 5, sales: daily(today - 70, today - 1), leadTimeDays: 10 };

const examples: Readonly<Record<string, Example>> = {
  "1 a day for 70 days": { onHand: 5, sales: daily(today - 70, today - 1), leadTimeDays: 10 },
  "… and 96 due in 200 days": {
    onHand: 5,
    sales: daily(today - 70, today - 1),
    leadTimeDays: 10,
    arrivals: inDays(200, 96),
  },
  "… and 96 due in 41 days": {
    onHand: 5,
    sales: daily(today - 70, today - 1),
    leadTimeDays: 10,
    arrivals: inDays(41, 96),
  },
  "… and 96 due in 40 days": {
    onHand: 5,
    sales: daily(today - 70, today - 1),
    leadTimeDays: 10,
    arrivals: inDays(40, 96),
  },
  "1 a day since a Sunday, 13 days later": { onHand: 5, sales: daily(aSunday, aSunday + 13) },
  "1 a day since a Sunday, 6 days later": {
    onHand: 5,
    sales: daily(aSunday, aSunday + 6),
    lookedAt: aSunday + 6,
  },
  "1 a day since a Monday, on Thursday": { onHand: 5, sales: daily(aMonday, aMonday + 3), lookedAt: aMonday + 3 },
  "1 sold yesterday, and never before": { onHand: 5, sales: daily(today - 1, today - 1) },
  "1 a day for 70 days, then 70 days with none on hand": { onHand: 0, sales: seventyThenNone },
  "1 a day for 70 days, then 70 days with 5 on hand": { onHand: 5, sales: seventyThenNone },
  "… 20 received yesterday": {
    onHand: 20,
    sales: seventyThenNone,
    days: [{ day: today - 1, moved: 20_000, counted: null }],
  },
  "… counted as none 70 days ago, as 20 yesterday": {
    onHand: 20,
    sales: seventyThenNone,
    days: [
      { day: today - 70, moved: 0, counted: pieces(0) },
      { day: today - 1, moved: 0, counted: pieces(20) },
    ],
  },
  "… the last 30 written off 70 days ago": {
    onHand: 0,
    sales: seventyThenNone,
    days: [{ day: today - 70, moved: -30_000, counted: null }],
  },
  "1 a day for 70 days, minimum 40": { ...steady, steering: { minimum: pieces(40) } },
  "… maximum 20": { ...steady, steering: { maximum: pieces(20) } },
  "… maximum 4": { ...steady, steering: { maximum: pieces(4) } },
  "… minimum 40, maximum 50": { ...steady, steering: { minimum: pieces(40), maximum: pieces(50) } },
  "… cover days 7": { ...steady, steering: { coverDays: 7 } },
  "… cover days 7, and 96 due in 18 days": {
    ...steady,
    steering: { coverDays: 7 },
    arrivals: inDays(18, 96),
  },
  "… own lead time 20": { ...steady, steering: { leadTimeDays: 20 } },
  "… safety days 3": { ...steady, steering: { safetyDays: 3 } },
  "… excluded": { ...steady, steering: { isExcluded: true } },
  "… archived": { ...steady, steering: { isArchived: true } },
  "never sold, minimum 10": { onHand: 4, sales: [], steering: { minimum: pieces(10) } },
  "never sold, minimum 10, 10 on hand": { onHand: 10, sales: [], steering: { minimum: pieces(10) } },
};

function figuresOf({
  onHand,
  sales,
  leadTimeDays = 14,
  arrivals = [],
  days = [],
  lookedAt = today,
  steering,
}: Example) {
  const moved = new Map<Day, StockDay>(
    sales.map(({ day, quantity }) => [day, { day, sold: quantity, moved: 0, counted: null }]),
  );
  for (const each of days) moved.set(each.day, { sold: pieces(0), ...each });
  const series = extendSeries(null, sales, stockOutsOf(pieces(onHand), [...moved.values()]));
  assert.equal(series === null, sales.length === 0);
  const decided = replenishment(
    {
      isActive: true,
      onHand: pieces(onHand),
      incoming: pieces(arrivals.reduce((sum, { quantity }) => sum + quantityToNumber(quantity), 0)),
      lateArrivals: arrivals,
      steering:
        steering === undefined
          ? null
          : { ...ruleIn(null, null), isArchived: false, preferredSupplierIds: [], ...steering },
      series: series === null ? [] : [series],
      offers: [
        {
          supplierId: "nord",
          supplierName: "Nordwind",
          unitCost: null,
          currencyCode: "EUR",
          moq: null,
          packSize: null,
          leadTimeDays,
        },
      ],
    },
    { shop: { currencyCode: "EUR", fxRates: {} }, today: lookedAt },
  );
  const figures = [
    decided.dailyDemand / 10_000,
    quantityToNumber(decided.safetyStock),
    quantityToNumber(decided.reorderPoint),
    quantityToNumber(decided.suggestedOrderQuantity),
  ].map(String);
  return [...figures, decided.reorderReason ?? ""];
}

const document = readFileSync(path.join(import.meta.dirname, "../../docs/forecasting.md"), "utf8");
const [, table = ""] = /## Worked examples\n([\s\S]*?)\n## /.exec(document) ?? [];
const rows = new Map(
  table
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .map((line) => {
      const [name = "", ...figures] = line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim());
      return [name, figures] as const;
    }),
);

suite("a worked example has the figures that the program computes:", () => {
  for (const [name, example] of Object.entries(examples))
    test(name, () => assert.deepEqual(rows.get(name)?.slice(-5), figuresOf(example)));
});

test("every row of the table of worked examples is held", () => {
  const held = new Set(["Example", ...Object.keys(examples)]);
  assert.deepEqual(
    [...rows.keys()].filter((name) => !held.has(name) && !/^-+$/.test(name)),
    [],
  );
});
