/**
 * Exact decimals for quantities, costs, totals and exchange rates (C14).
 *
 * A figure is an integer count of its smallest step: a quantity in thousandths, money in ten-thousandths, an exchange
 * rate in 10^-10. The limits below keep every stored figure within 2^53. Products are computed with BigInt, so only the
 * functions that say so round.
 */

import { minorDigits } from "./minor-units.ts";

declare const quantityBrand: unique symbol;
declare const moneyBrand: unique symbol;
declare const rateBrand: unique symbol;

/** Thousandths of a unit. 2.5 pieces = 2500. */
export type Quantity = number & { readonly [quantityBrand]: true };
/** Ten-thousandths of a currency unit. 19.99 = 199900. */
export type Money = number & { readonly [moneyBrand]: true };
/** 10^-10 of "one unit of the foreign currency in the other". 1.08 = 10800000000. */
export type FxRate = number & { readonly [rateBrand]: true };

/** Exchange rates by the currency that they convert from. */
export type FxRates = Readonly<Record<string, FxRate>>;

/** Decimals of each kind of figure, on the wire and stored. */
export const quantityDecimalsMax = 3;
const quantityScale = 10 ** quantityDecimalsMax;
/** Decimals that an amount of money keeps, in any currency. */
export const moneyDecimalsMax = 4;
/** Decimals that an exchange rate keeps. */
export const fxRateDecimalsMax = 10;
/** The largest quantity of one line, in units. */
export const quantityMax = 1_000_000_000;
/** The largest unit cost, in currency units. */
export const unitCostMax = 1_000_000_000;
/** The largest value of a line or an order, in currency units. It keeps totals exact as JSON numbers. */
export const totalValueMax = 100_000_000_000;
/** The largest exchange rate. */
export const fxRateMax = 500_000;

/** Trusts that the integer counts thousandths: for figures that were stored, or computed from quantities. */
export const asQuantity = (thousandths: number): Quantity => thousandths as Quantity;
/** Trusts that the integer counts ten-thousandths. */
export const asMoney = (tenThousandths: number): Money => tenThousandths as Money;
/** Trusts that the integer counts steps of 10^-10. */
export const asFxRate = (steps: number): FxRate => steps as FxRate;

/** No quantity. */
export const zeroQuantity = asQuantity(0);
/** No amount. */
export const zeroMoney = asMoney(0);
/** The rate 1, of a currency to itself. */
export const unitRate = asFxRate(10 ** fxRateDecimalsMax);

/** Largest distance of a number from the decimal that it stands for, as a share of itself. */
const nearness = 1e-9;

/**
 * The decimal that a number stands for: the nearest one with at most `decimals` decimals, if it is that near (C14). So
 * 0.1 + 0.2, as a client that adds doubles sends it, is 0.3. Any other number is returned as it is.
 */
export function nearDecimal(value: number, decimals: number): number {
  const nearest = Number(value.toFixed(decimals));
  return Math.abs(nearest - value) < Math.abs(value) * nearness ? nearest : value;
}

/** The scaled integer of a JSON number, or null when it stands for no number of at most `decimals` decimals. */
function scaled(value: number, decimals: number): number | null {
  const text = Math.abs(nearDecimal(value, decimals)).toString();
  const match = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(text);
  if (match === null) return null;
  const fraction = match[2] ?? "";
  const shift = decimals + Number(match[3] ?? 0) - fraction.length;
  if (shift < 0) return value === 0 ? 0 : null;
  const digits = Number((match[1] ?? "") + fraction + "0".repeat(shift));
  if (!Number.isSafeInteger(digits)) return null;
  return value < 0 ? -digits : digits;
}

/** The branded value of an integer that may be absent. */
export const brandedOrNull = <T>(value: number | null, brand: (value: number) => T): T | null =>
  value === null ? null : brand(value);

/** The quantity of a JSON number. @returns null when it stands for none of at most 3 decimals or is out of range. */
export function quantityFrom(value: number): Quantity | null {
  return Math.abs(value) > quantityMax ? null : brandedOrNull(scaled(value, quantityDecimalsMax), asQuantity);
}

/**
 * The amount of a JSON number. @returns null when it stands for none of at most 4 decimals or is above `totalValueMax`.
 */
export function moneyFrom(value: number): Money | null {
  return Math.abs(value) > totalValueMax ? null : brandedOrNull(scaled(value, moneyDecimalsMax), asMoney);
}

/**
 * The rate of a JSON number. @returns null when it stands for none of at most 10 decimals, is not positive or is out of
 * range.
 */
export function fxRateFrom(value: number): FxRate | null {
  return value <= 0 || value > fxRateMax ? null : brandedOrNull(scaled(value, fxRateDecimalsMax), asFxRate);
}

/**
 * The JSON number of a quantity. Dividing two integers gives the double nearest to the exact decimal, which prints as
 * that decimal.
 */
export function quantityToNumber(value: Quantity): number {
  return value / quantityScale;
}

/** A quantity as messages show it. */
export const quantityText = (value: Quantity): string => String(quantityToNumber(value));

/** The JSON number of a quantity; null for none. */
export const quantityToNumberOrNull = (value: Quantity | null): number | null =>
  value === null ? null : quantityToNumber(value);

/** The JSON number of an amount. */
export function moneyToNumber(value: Money): number {
  return value / 10 ** moneyDecimalsMax;
}

/** The JSON number of an amount; null for none. */
export const moneyToNumberOrNull = (value: Money | null): number | null =>
  value === null ? null : moneyToNumber(value);

/** The JSON number of a rate. */
export function fxRateToNumber(value: FxRate): number {
  return value / 10 ** fxRateDecimalsMax;
}

/** Divides and rounds to an integer, half away from zero. */
export function divideHalfUp(numerator: bigint, denominator: bigint): bigint {
  const negative = numerator < 0n !== denominator < 0n;
  const n = numerator < 0n ? -numerator : numerator;
  const d = denominator < 0n ? -denominator : denominator;
  const quotient = (2n * n + d) / (2n * d);
  return negative ? -quotient : quotient;
}

/** By number of decimals: the minor unit in ten-thousandths. */
const minorUnits = Array.from(
  { length: moneyDecimalsMax + 1 },
  (_, digits) => 10n ** BigInt(moneyDecimalsMax - digits),
);

/**
 * Rounds an exact amount once, half away from zero, to the currency's minor unit.
 *
 * @param exact with `scale`: the amount is `exact / scale` ten-thousandths of a currency unit.
 * @returns ten-thousandths.
 */
export function roundToMinorUnit(exact: bigint, scale: bigint, currencyCode: string): bigint {
  const step = minorUnits[minorDigits(currencyCode)] ?? 1n;
  return divideHalfUp(exact, scale * step) * step;
}

/** True if an amount is above `totalValueMax`. */
export const exceedsTotalValueMax = (amount: Money): boolean => amount > totalValueMax * 10 ** moneyDecimalsMax;

/** Adds two quantities, exactly. */
export const addQuantity = (a: Quantity, b: Quantity): Quantity => asQuantity(a + b);
/** Subtracts a quantity from another, exactly. */
export const subtractQuantity = (a: Quantity, b: Quantity): Quantity => asQuantity(a - b);

const valueScale = 10n ** BigInt(quantityDecimalsMax);
const rateScale = 10n ** BigInt(fxRateDecimalsMax);

/** Divisor of `exactValue` for ten-thousandths of a currency unit. */
export const exactValueScale = valueScale * rateScale;
/** quantity × unitCost × rate, exact and scaled by `exactValueScale`, so that a sum is rounded only once. */
export const exactValue = (quantity: Quantity, unitCost: Money, rate: FxRate): bigint =>
  BigInt(quantity) * BigInt(unitCost) * BigInt(rate);

/** Converts an amount at a rate, rounded to 4 decimals, half away from zero. */
export const convert = (amount: Money, rate: FxRate): Money =>
  asMoney(Number(divideHalfUp(BigInt(amount) * BigInt(rate), rateScale)));
