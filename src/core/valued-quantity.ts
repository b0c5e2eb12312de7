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

/** A signed quantity and what it is worth: at its unit cost if one is known, else as stated; else it is worth nothing known. */
export interface ValuedQuantity {
  readonly quantity: Quantity;
  readonly unitCost: Money | null;
  readonly stated: Money | null;
}

const exactOf = ({ quantity, unitCost, stated }: ValuedQuantity): bigint =>
  unitCost === null ? BigInt(stated ?? 0) * exactValueScale : exactValue(quantity, unitCost, unitRate);

const exactSum = (entries: readonly ValuedQuantity[]): bigint =>
  entries.reduce((sum, entry) => sum + exactOf(entry), 0n);

/** Whether the entries together are worth no more than can be told exactly, either way. */
export const isTellable = (entries: readonly ValuedQuantity[]): boolean => {
  const sum = exactSum(entries);
  return (sum < 0n ? -sum : sum) <= BigInt(totalValueMax) * 10n ** BigInt(moneyDecimalsMax) * exactValueScale;
};

/** What one entry is worth, rounded half-up to the currency's minor unit; null when nothing tells. */
export const worthOf = (entry: ValuedQuantity, currencyCode: string): Money | null =>
  entry.unitCost === null ? entry.stated : totalWorth([entry], currencyCode);

/** What the entries are worth together: summed exactly, rounded once, half-up, to the currency's minor unit. */
export const totalWorth = (entries: readonly ValuedQuantity[], currencyCode: string): Money =>
  asMoney(Number(roundToMinorUnit(exactSum(entries), exactValueScale, currencyCode)));

export const sumOf = (quantities: readonly Quantity[]): Quantity =>
  asQuantity(quantities.reduce((sum, quantity) => sum + quantity, 0));
