/**
 * Compares decimals and totals with a reference that calculates with BigInt fractions made from digit strings, without scaled integers.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { Fault } from "../../src/base/fault.ts";
import { lineTotal } from "../../src/core/order/lines.ts";
import {
  convert,
  moneyFrom,
  moneyToNumber,
  quantityFrom,
  quantityToNumber,
  totalValueMax,
} from "../../src/core/money/money.ts";
import { type OrderTotals, orderTotals } from "../../src/core/order/totals.ts";
import { statuses } from "../../src/core/order/purchase-order.ts";
import { fxRate, line, type LineFigures, money, order } from "../support/goods.ts";

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

/** Whether a number with too many decimals differs from the nearest one without by less than 1e-9 of itself, by its digits. */
function isNear(value: number, decimals: number): boolean {
  const digits = BigInt(value.toFixed(20).replace(".", ""));
  const step = 10n ** BigInt(20 - decimals);
  const off = digits % step;
  return (off < step - off ? off : step - off) * 10n ** 9n < digits;
}

test("a number with too many decimals is refused, unless it differs from one without by less than 1e-9 of itself (C14)", () => {
  const decimalsOfText = (value: number): number => {
    const text = value.toString();
    return text.includes("e-") ? 99 : (text.split(".")[1]?.length ?? 0);
  };
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1e6, noNaN: true }), (value) => {
      const decimals = decimalsOfText(value);
      assert.equal(quantityFrom(value) !== null, decimals <= 3 || isNear(value, 3), String(value));
      assert.equal(moneyFrom(value) !== null, decimals <= 4 || isNear(value, 4), String(value));
    }),
    { numRuns: 500 },
  );
});

test("what a client adds and multiplies in doubles is the decimal that it means (C14)", () => {
  fc.assert(
    fc.property(
      fc.array(quantityNumber, { minLength: 1, maxLength: 20 }),
      fc.integer({ min: 1, max: 99 }),
      (all, times) => {
        const sum = all.reduce((total, each) => total + each, 0);
        const thousandths = all.reduce((total, each) => total + Math.round(each * 1_000), 0);
        assert.equal(quantityFrom(sum), thousandths);
        const [first = 0] = all;
        assert.equal(moneyFrom(first * times), Math.round(first * 1_000) * times * 10);
      },
    ),
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

const lineOf = fc.record({
  ordered: quantityNumber,
  confirmed: fc.oneof(fc.constant(0), quantityNumber),
  received: fc.oneof(fc.constant(0), quantityNumber),
  rejected: fc.oneof(fc.constant(0), quantityNumber),
  cancelled: fc.oneof(fc.constant(0), quantityNumber),
  unitCost: costNumber,
  currency,
});
const rates = fc.record({ EUR: rateNumber, JPY: rateNumber, KWD: rateNumber }, { requiredKeys: [] });
const charge = fc.option(costNumber);
const none: Exact = { numerator: 0n, denominator: 1n };

/** What a line is worth and owes, in units and by the words of C35 alone. */
function quantitiesOf(each: LineFigures, isOver: boolean): { readonly wanted: number; readonly owed: number } {
  const { ordered = 0, confirmed = 0, received = 0, rejected = 0, cancelled = 0 } = each;
  const base = confirmed > 0 ? confirmed : ordered;
  const pending = Math.max(0, base - received - rejected - cancelled);
  return { wanted: Math.max(0, ordered - cancelled), owed: isOver ? received : received + pending };
}

test("an order is worth and owes the exact sums over currencies, each rounded once; lines without a rate are named", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...statuses),
      fc.array(lineOf, { maxLength: 12 }),
      currency,
      rates,
      fc.option(rateNumber),
      fc.tuple(charge, charge, charge),
      (status, lines, orderCurrency, fxRates, override, [shipping, tax, discount]) => {
        const one: Exact = { numerator: 1n, denominator: 1n };
        const toShop = (code: Currency): Exact | null => {
          if (code === "USD") return one;
          const rate = fxRates[code];
          return rate === undefined ? null : exact(rate);
        };
        const orderToShop = orderCurrency === "USD" ? one : override === null ? toShop(orderCurrency) : exact(override);
        const isOver = status === "Completed" || status === "Cancelled";
        let [worth, owed] = [none, plus(plus(exact(shipping ?? 0), exact(tax ?? 0)), exact(-(discount ?? 0)))];
        const unpriced: string[] = [];
        for (const [index, each] of lines.entries()) {
          const rate = each.currency === orderCurrency ? orderToShop : toShop(each.currency);
          const isSame = each.currency === orderCurrency;
          if (!isSame && (rate === null || orderToShop === null)) unpriced.push(`l${index}`);
          else {
            const quantities = quantitiesOf(each, isOver);
            const inOrder = (units: number): Exact => {
              const value = times(exact(Number(units.toFixed(3))), exact(each.unitCost));
              return isSame || rate === null || orderToShop === null ? value : over(times(value, rate), orderToShop);
            };
            worth = plus(worth, inOrder(quantities.wanted));
            owed = plus(owed, inOrder(quantities.owed));
          }
        }
        const totalValue = Number(rounded(worth, decimalsOf[orderCurrency]));
        const grandTotal = owed.numerator < 0n ? 0 : Number(rounded(owed, decimalsOf[orderCurrency]));
        const amount = (value: number | null) => (value === null ? null : money(value));
        const work = (): OrderTotals =>
          orderTotals(
            order(
              status,
              lines.map((each, index) => line(`l${index}`, each)),
              {
                currencyCode: orderCurrency,
                fxRateOverride: override === null ? null : fxRate(override),
                fxRates: Object.fromEntries(Object.entries(fxRates).map(([code, rate]) => [code, fxRate(rate)])),
                shippingCost: amount(shipping),
                taxAmount: amount(tax),
                discountAmount: amount(discount),
              },
            ),
            "USD",
          );
        if (totalValue > totalValueMax || grandTotal > totalValueMax) {
          assert.throws(work, Fault);
          return;
        }
        const totals = work();
        assert.equal(moneyToNumber(totals.totalValue), totalValue);
        assert.equal(moneyToNumber(totals.grandTotal), grandTotal);
        assert.deepEqual(totals.unpricedLineItemIds, unpriced);
        assert.equal(totals.itemCount, lines.length);
      },
    ),
    { numRuns: 500 },
  );
});
