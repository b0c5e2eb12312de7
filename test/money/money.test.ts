import assert from "node:assert/strict";
import { test } from "node:test";
import {
  asMoney,
  convert,
  divideHalfUp,
  fxRateFrom,
  fxRateMax,
  fxRateToNumber,
  moneyFrom,
  nearDecimal,
  moneyToNumber,
  quantityFrom,
  quantityMax,
  quantityToNumber,
  roundToMinorUnit,
  totalValueMax,
} from "../../src/core/money/money.ts";
import { minorDigits } from "../../src/core/money/minor-units.ts";
import { fxRate, money } from "../support/goods.ts";

test("a number is converted to a scaled integer or refused", () => {
  const cases: readonly (readonly [number, number | null])[] = [
    [0, 0],
    [1, 1_000],
    [0.001, 1],
    [2.5, 2_500],
    [0.0005, null],
    [1e-7, null],
    [1.0001, null],
    [1e9, 1_000_000_000_000],
    [quantityMax + 0.001, null],
    [Number.POSITIVE_INFINITY, null],
    [Number.NaN, null],
  ];
  for (const [value, thousandths] of cases) assert.equal(quantityFrom(value), thousandths, `${value}`);
});

test("a sum of doubles is taken as the decimal that it stands for, and only within 1e-9 of itself (C14)", () => {
  let tenTenths = 0;
  for (let added = 0; added < 10; added += 1) tenTenths += 0.1;
  assert.notEqual(tenTenths, 1);
  const quantities: readonly (readonly [number, number | null])[] = [
    [0.1 + 0.2, 300],
    [1.1400000000000001, 1_140],
    [-(0.1 + 0.2), -300],
    [tenTenths, 1_000],
    [1.001 + 1.1e-9, null],
    [1.001 + 0.9e-9, 1_001],
    // What is left of 0.3 is not near anything but itself.
    [0.1 + 0.2 - 0.3, null],
    [quantityMax - 0.0000001, 1_000_000_000_000],
  ];
  for (const [value, thousandths] of quantities) assert.equal(quantityFrom(value), thousandths, `${value}`);
  assert.equal(moneyFrom(3 * 1.1), 33_000);
  assert.equal(moneyFrom(1.10005), null);
  assert.equal(fxRateFrom(1.1 * 1.1), 12_100_000_000);
  assert.equal(nearDecimal(tenTenths, 3), 1);
  assert.equal(nearDecimal(0.5005, 3), 0.5005);
});

test("minus zero is zero", () => {
  assert.ok(Object.is(quantityFrom(-0), 0));
  assert.ok(Object.is(moneyFrom(-0), 0));
});

test("amounts have 4 decimals, rates 10, each within its limit", () => {
  assert.equal(moneyFrom(19.99), 199_900);
  assert.equal(moneyFrom(0.0001), 1);
  assert.equal(moneyFrom(0.00001), null);
  assert.equal(moneyFrom(totalValueMax), totalValueMax * 10_000);
  assert.equal(moneyFrom(totalValueMax + 1), null);
  assert.equal(fxRateFrom(1e-10), 1);
  assert.equal(fxRateFrom(1e-11), null);
  assert.equal(fxRateFrom(0), null);
  assert.equal(fxRateFrom(-1), null);
  assert.equal(fxRateFrom(fxRateMax), fxRateMax * 10 ** 10);
  assert.equal(fxRateFrom(fxRateMax + 1), null);
});

test("a number is returned as it came in", () => {
  for (const value of [0.1, 0.7, 19.99, 1.005, 4.35, 123_456_789.123]) {
    const quantity = quantityFrom(value);
    const amount = moneyFrom(value);
    assert.ok(quantity !== null && amount !== null);
    assert.equal(quantityToNumber(quantity), value);
    assert.equal(moneyToNumber(amount), value);
  }
  assert.equal(fxRateToNumber(fxRate(1.0812345678)), 1.0812345678);
});

test("minor units follow ISO 4217, and not how amounts are written where the currency is used", () => {
  const digits = {
    JPY: 0,
    KRW: 0,
    ISK: 0,
    CLP: 0,
    EUR: 2,
    USD: 2,
    XYZ: 2,
    RSD: 2,
    HUF: 2,
    COP: 2,
    KWD: 3,
    IQD: 3,
    CLF: 4,
  };
  for (const [code, expected] of Object.entries(digits)) assert.equal(minorDigits(code), expected, code);
  assert.equal(roundToMinorUnit(1_234_567n, 1n, "RSD"), 1_234_600n);
});

test("halves are rounded away from zero", () => {
  const cases: readonly (readonly [bigint, bigint, bigint])[] = [
    [5n, 10n, 1n],
    [4n, 10n, 0n],
    [15n, 10n, 2n],
    [25n, 10n, 3n],
    [-5n, 10n, -1n],
    [-4n, 10n, 0n],
    [5n, -10n, -1n],
    [7n, 3n, 2n],
  ];
  for (const [numerator, denominator, quotient] of cases)
    assert.equal(divideHalfUp(numerator, denominator), quotient, `${numerator}/${denominator}`);
});

test("an amount is rounded to the currency's minor unit and stays in ten-thousandths", () => {
  assert.equal(roundToMinorUnit(1_005_000n, 100n, "USD"), 10_100n, "1.005 → 1.01");
  assert.equal(roundToMinorUnit(1_004_900n, 100n, "USD"), 10_000n);
  assert.equal(roundToMinorUnit(5_000n, 1n, "JPY"), 10_000n, "0.5 → 1");
  assert.equal(roundToMinorUnit(4_999n, 1n, "JPY"), 0n);
  assert.equal(roundToMinorUnit(12_345n, 1n, "KWD"), 12_350n, "1.2345 → 1.235");
});

test("an amount at a rate is rounded half-up to 4 decimals", () => {
  assert.equal(convert(money(19.99), fxRate(1.08)), asMoney(215_892));
  assert.equal(convert(asMoney(1), fxRate(0.5)), asMoney(1));
  assert.equal(convert(asMoney(1), fxRate(0.4999999999)), asMoney(0));
});
