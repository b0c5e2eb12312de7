/**
 * Signed quantities and what they are worth, summed exactly (C35). Pure.
 */
import {
  type Money,
  type Quantity,
  asMoney,
  asQuantity,
  exactValue,
  exactValueScale,
  moneyDecimalsMax,
  roundToMinorUnit,
  totalValueMax,
  unitRate,
} from "./money.ts";

/**
 * A signed quantity and its worth: quantity × unit cost; without a unit cost the stated value; without either unknown,
 * counted as 0.
 */
export interface ValuedQuantity {
  readonly quantity: Quantity;
  readonly unitCost: Money | null;
  readonly stated: Money | null;
}

const exactOf = ({ quantity, unitCost, stated }: ValuedQuantity): bigint =>
  unitCost === null ? BigInt(stated ?? 0) * exactValueScale : exactValue(quantity, unitCost, unitRate);

const exactSum = (entries: readonly ValuedQuantity[]): bigint =>
  entries.reduce((sum, entry) => sum + exactOf(entry), 0n);

/**
 * True if the entries together are worth no more than `totalValueMax`, above or below 0: more cannot be represented
 * exactly.
 */
export const isRepresentable = (entries: readonly ValuedQuantity[]): boolean => {
  const sum = exactSum(entries);
  return (sum < 0n ? -sum : sum) <= BigInt(totalValueMax) * 10n ** BigInt(moneyDecimalsMax) * exactValueScale;
};

/**
 * The worth of one entry, rounded half-up to the currency's minor unit; null when it is unknown. A stated value is not
 * rounded.
 */
export const worthOf = (entry: ValuedQuantity, currencyCode: string): Money | null =>
  entry.unitCost === null ? entry.stated : totalWorth([entry], currencyCode);

/** The worth of the entries together: summed exactly, then rounded once, half-up, to the currency's minor unit. */
export const totalWorth = (entries: readonly ValuedQuantity[], currencyCode: string): Money =>
  asMoney(Number(roundToMinorUnit(exactSum(entries), exactValueScale, currencyCode)));

/** The sum of the quantities; 0 for none. */
export const sumOf = (quantities: readonly Quantity[]): Quantity =>
  asQuantity(quantities.reduce((sum, quantity) => sum + quantity, 0));
