/**
 * Compares decimals and totals with a reference that calculates with BigInt fractions made from digit strings, without scaled integers.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { Fault } from "../../src/base/fault.ts";
import { lineTotal, type OrderTotals, orderTotals } from "../../src/core/order/lines.ts";
import {
  convert,
  moneyFrom,
  moneyToNumber,
  quantityFrom,
  quantityToNumber,
  totalValueMax,
} from "../../src/core/money/money.ts";
import { fxRate, line, money, order } from "../support/goods.ts";

/** An exact fraction. */
interface Exact {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/** Returns the fraction that equals a number as it is printed. */
function exact(value: number): Exact {
  const text = value.toFixed(10);
  const [whole, fraction] = text.split(".");
  return { numerator: BigInt(`${whole}${fraction}`), denominator: 10n ** 10n };
}

const times = (a: Exact, b: Exact): Exact => ({
  numerator: a.numerator * b.numerator,
  denominator: a.denominator * b.denominator,
});
const over = (a: Exact, b: Exact): Exact => ({
  numerator: a.numerator * b.denominator,
  denominator: a.denominator * b.numerator,
});
const plus = (a: Exact, b: Exact): Exact => ({
  numerator: a.numerator * b.denominator + b.numerator * a.denominator,
  denominator: a.denominator * b.denominator,
});

/** Rounds half-up to this many decimals and returns text like `12.35`. Not for negative values. */
function rounded(value: Exact, decimals: number): string {
  const shifted = value.numerator * 10n ** BigInt(decimals);
  const whole = shifted / value.denominator;
  const rest = shifted - whole * value.denominator;
  const digits = (rest * 2n >= value.denominator ? whole + 1n : whole).toString().padStart(decimals + 1, "0");
  return decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

const decimalsOf = { USD: 2, EUR: 2, JPY: 0, KWD: 3 } as const;
type Currency = keyof typeof decimalsOf;

/** A number with at most `decimals` decimals, as parsed from JSON; halves are frequent. */
const decimal = (max: number, decimals: number): fc.Arbitrary<number> =>
  fc.oneof(
    fc.integer({ min: 0, max: max * 10 ** decimals }).map((steps) => steps / 10 ** decimals),
    fc.integer({ min: 0, max: 400 }).map((halves) => halves / 2),
    fc.integer({ min: 0, max: 2_000 }).map((fives) => (fives * 5) / 10 ** decimals),
  );

const quantityNumber = decimal(10_000, 3);
const costNumber = decimal(10_000, 4);
const rateNumber = fc.integer({ min: 1, max: 300_0000 }).map((steps) => steps / 1_0000);
const currency = fc.constantFrom<Currency[]>("USD", "EUR", "JPY", "KWD");

test("every quantity and amount is returned as the number that came in", () => {
  fc.assert(
    fc.property(quantityNumber, costNumber, (units, amount) => {
      const quantity = quantityFrom(units);
      const cost = moneyFrom(amount);
      assert.ok(quantity !== null && cost !== null);
      assert.equal(quantityToNumber(quantity), units);
      assert.equal(moneyToNumber(cost), amount);
    }),
    { numRuns: 500 },
  );
});

test("a number with too many decimals is refused, never rounded", () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1e6, noNaN: true }), (value) => {
      const text = value.toString();
      const decimals = text.includes("e-") ? 99 : (text.split(".")[1]?.length ?? 0);
      assert.equal(quantityFrom(value) !== null, decimals <= 3, text);
      assert.equal(moneyFrom(value) !== null, decimals <= 4, text);
    }),
    { numRuns: 500 },
  );
});

test("a line's value is ordered × cost, rounded half-up once to its currency", () => {
  fc.assert(
    fc.property(quantityNumber, costNumber, currency, (ordered, unitCost, code) => {
      const total = moneyToNumber(lineTotal(line("a", { ordered, unitCost, currency: code })));
      assert.equal(total, Number(rounded(times(exact(ordered), exact(unitCost)), decimalsOf[code])));
    }),
    { numRuns: 500 },
  );
});

test("an amount at a rate is exact to 4 decimals", () => {
  fc.assert(
    fc.property(costNumber, rateNumber, (amount, rate) => {
      const converted = moneyToNumber(convert(money(amount), fxRate(rate)));
      assert.equal(converted, Number(rounded(times(exact(amount), exact(rate)), 4)));
    }),
    { numRuns: 500 },
  );
});

const lineOf = fc.record({ ordered: quantityNumber, unitCost: costNumber, currency });
const rates = fc.record({ EUR: rateNumber, JPY: rateNumber, KWD: rateNumber }, { requiredKeys: [] });

test("an order's total is the exact sum over currencies, rounded once; lines without a rate are named", () => {
  fc.assert(
    fc.property(
      fc.array(lineOf, { maxLength: 12 }),
      currency,
      rates,
      fc.option(rateNumber),
      (lines, orderCurrency, shopRates, override) => {
        const one: Exact = { numerator: 1n, denominator: 1n };
        const toShop = (code: Currency): Exact | null => {
          if (code === "USD") return one;
          const rate = shopRates[code];
          return rate === undefined ? null : exact(rate);
        };
        const orderToShop = orderCurrency === "USD" ? one : override === null ? toShop(orderCurrency) : exact(override);
        let sum: Exact = { numerator: 0n, denominator: 1n };
        const unpriced: string[] = [];
        for (const [index, each] of lines.entries()) {
          const value = times(exact(each.ordered), exact(each.unitCost));
          const rate = toShop(each.currency);
          if (each.currency === orderCurrency) sum = plus(sum, value);
          else if (rate === null || orderToShop === null) unpriced.push(`l${index}`);
          else sum = plus(sum, over(times(value, rate), orderToShop));
        }
        const total = Number(rounded(sum, decimalsOf[orderCurrency]));
        const work = (): OrderTotals =>
          orderTotals(
            order("Draft", [], {
              currencyCode: orderCurrency,
              fxRateOverride: override === null ? null : fxRate(override),
            }),
            lines.map((each, index) => line(`l${index}`, each)),
            {
              currencyCode: "USD",
              fxRates: Object.fromEntries(Object.entries(shopRates).map(([code, rate]) => [code, fxRate(rate)])),
            },
          );
        if (total > totalValueMax) {
          assert.throws(work, Fault);
          return;
        }
        const totals = work();
        assert.equal(moneyToNumber(totals.totalValue), total);
        assert.deepEqual(totals.unpricedLineItemIds, unpriced);
        assert.equal(totals.itemCount, lines.length);
      },
    ),
    { numRuns: 300 },
  );
});
