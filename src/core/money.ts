/**
 * Exact decimals for quantities, costs, totals and exchange rates (C14).
 *
 * Every figure is an integer number of its smallest step, held in a safe integer: a quantity in thousandths, an amount of
 * money in ten-thousandths, an exchange rate in 10^-10. Products go through BigInt, so nothing is ever rounded but where a
 * rule says so. The limits below keep every stored figure within 2^53.
 */

declare const quantityBrand: unique symbol;
declare const moneyBrand: unique symbol;
declare const rateBrand: unique symbol;

/** Thousandths of a unit. 2.5 pieces = 2500. */
export type Quantity = number & { readonly [quantityBrand]: true };
/** Ten-thousandths of a currency unit. 19.99 = 199900. */
export type Money = number & { readonly [moneyBrand]: true };
/** 10^-10 of "one unit of the foreign currency in the other". 1.08 = 10800000000. */
export type FxRate = number & { readonly [rateBrand]: true };

export const quantityDecimalsMax = 3;
export const moneyDecimalsMax = 4;
export const fxRateDecimalsMax = 10;
/** The largest quantity of one line, in units. */
export const quantityMax = 1_000_000_000;
/** The largest unit cost, in currency units. */
export const unitCostMax = 1_000_000_000;
/** The largest value of a line or an order, in currency units; it keeps totals exact as JSON numbers. */
export const totalValueMax = 100_000_000_000;
export const fxRateMax = 500_000;

/** Trusts that the integer is thousandths: for figures that were stored or computed from such. */
export const asQuantity = (thousandths: number): Quantity => thousandths as Quantity;
/** Trusts that the integer is ten-thousandths. */
export const asMoney = (tenThousandths: number): Money => tenThousandths as Money;
/** Trusts that the integer is 10^-10 steps. */
export const asFxRate = (steps: number): FxRate => steps as FxRate;

export const zeroQuantity = asQuantity(0);
export const zeroMoney = asMoney(0);
/** 1: both sides are the same currency. */
export const unitRate = asFxRate(10 ** fxRateDecimalsMax);

/** The scaled integer of a JSON number, or null when it has more than `decimals` decimals. */
function scaled(value: number, decimals: number): number | null {
  const text = Math.abs(value).toString();
  const match = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(text);
  if (match === null) return null;
  const fraction = match[2] ?? "";
  const shift = decimals + Number(match[3] ?? 0) - fraction.length;
  if (shift < 0) return value === 0 ? 0 : null;
  const digits = Number((match[1] ?? "") + fraction + "0".repeat(shift));
  if (!Number.isSafeInteger(digits)) return null;
  return value < 0 ? -digits : digits;
}

const branded = <T>(value: number | null, brand: (value: number) => T): T | null =>
  value === null ? null : brand(value);

/** @returns null when the number has more than 3 decimals or is out of range. */
export function quantityFrom(value: number): Quantity | null {
  return Math.abs(value) > quantityMax ? null : branded(scaled(value, quantityDecimalsMax), asQuantity);
}

/** @returns null when the number has more than 4 decimals or is beyond `totalValueMax`. */
export function moneyFrom(value: number): Money | null {
  return Math.abs(value) > totalValueMax ? null : branded(scaled(value, moneyDecimalsMax), asMoney);
}

/** @returns null when the number has more than 10 decimals, is not positive or is out of range. */
export function fxRateFrom(value: number): FxRate | null {
  return value <= 0 || value > fxRateMax ? null : branded(scaled(value, fxRateDecimalsMax), asFxRate);
}

/** The JSON number of a quantity. Division of two integers gives the double nearest to the exact decimal, which prints as it. */
export function quantityToNumber(value: Quantity): number {
  return value / 10 ** quantityDecimalsMax;
}

export function moneyToNumber(value: Money): number {
  return value / 10 ** moneyDecimalsMax;
}

export function fxRateToNumber(value: FxRate): number {
  return value / 10 ** fxRateDecimalsMax;
}

/** `numerator / denominator` rounded half-up (half away from zero). */
export function divideHalfUp(numerator: bigint, denominator: bigint): bigint {
  const negative = numerator < 0n !== denominator < 0n;
  const n = numerator < 0n ? -numerator : numerator;
  const d = denominator < 0n ? -denominator : denominator;
  const quotient = (2n * n + d) / (2n * d);
  return negative ? -quotient : quotient;
}

const currencyFormats = new Map<string, number>();

/** Decimals of a currency's minor unit by ISO 4217: USD 2, JPY 0, KWD 3. Unknown codes count 2. */
export function minorDigits(currencyCode: string): number {
  let digits = currencyFormats.get(currencyCode);
  if (digits === undefined) {
    digits =
      new Intl.NumberFormat("en", { style: "currency", currency: currencyCode }).resolvedOptions()
        .maximumFractionDigits ?? 2;
    currencyFormats.set(currencyCode, digits);
  }
  return digits;
}

/** An exact amount, `exact / scale` ten-thousandths of a currency unit, rounded once, half-up, to the currency's minor unit. */
export function roundToMinorUnit(exact: bigint, scale: bigint, currencyCode: string): bigint {
  const minor = 10n ** BigInt(minorDigits(currencyCode));
  const step = 10n ** BigInt(moneyDecimalsMax) / minor;
  return divideHalfUp(exact, scale * step) * step;
}

export const addQuantity = (a: Quantity, b: Quantity): Quantity => asQuantity(a + b);
export const subtractQuantity = (a: Quantity, b: Quantity): Quantity => asQuantity(a - b);

const valueScale = 10n ** BigInt(quantityDecimalsMax);
const rateScale = 10n ** BigInt(fxRateDecimalsMax);

/** quantity × unitCost × rate, exact, to be divided by `valueScale × rateScale`; sums of it are rounded once. */
export const exactValueScale = valueScale * rateScale;
export const exactValue = (quantity: Quantity, unitCost: Money, rate: FxRate): bigint =>
  BigInt(quantity) * BigInt(unitCost) * BigInt(rate);

/** An amount at a rate, rounded half-up to 4 decimals. */
export const convert = (amount: Money, rate: FxRate): Money =>
  asMoney(Number(divideHalfUp(BigInt(amount) * BigInt(rate), rateScale)));
