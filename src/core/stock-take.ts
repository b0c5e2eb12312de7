/**
 * Stock takes and stock adjustments: what a count found and what was changed by hand (contract §9). Pure.
 *
 * A stock take counts; an adjustment is its delta-only sibling. Both come in by import only, whole with their lines, so a header's
 * figures are computed once, when its lines come in, and cannot be stale: `netQuantityChange` is at any time the sum of the lines.
 */
import {
  asMoney,
  asQuantity,
  exactValue,
  exactValueScale,
  type Money,
  moneyDecimalsMax,
  type Quantity,
  roundToMinorUnit,
  subtractQuantity,
  totalValueMax,
  unitRate,
} from "./money.ts";

export const reasonDirections = ["increase", "decrease", "both"] as const;

/** Why stock was found or made different; shared by stock takes and adjustments. */
export interface StockTakeReason {
  readonly reasonId: string;
  readonly name: string;
  readonly code: string | null;
  readonly direction: (typeof reasonDirections)[number];
  /** Came with the shop and cannot be removed. */
  readonly isSystem: boolean;
  /** May be chosen for new documents. */
  readonly isActive: boolean;
}

export const stockTakeStatuses = ["Draft", "In Progress", "Counted", "Completed", "Cancelled"] as const;
export type StockTakeStatus = (typeof stockTakeStatuses)[number];

export const countTypes = ["full", "partial", "cycle"] as const;

export interface StockTakeLine {
  readonly stockTakeLineItemId: string;
  readonly variantId: string;
  readonly sku: string | null;
  readonly productName: string | null;
  readonly quantityExpected: Quantity;
  /** Null until it is counted. */
  readonly quantityCounted: Quantity | null;
  readonly unitCost: Money | null;
  /** Counted minus expected, at the unit cost; where none is known, what the document says. */
  readonly valueVariance: Money | null;
  readonly reasonId: string | null;
  readonly countedBy: string | null;
  readonly countedAtMs: number | null;
  readonly note: string | null;
}

export interface StockTakeHeader {
  readonly stockTakeId: string;
  readonly stockTakeNumber: string | null;
  readonly stockTakeName: string | null;
  readonly status: StockTakeStatus;
  readonly locationId: string | null;
  readonly countType: (typeof countTypes)[number];
  readonly reasonId: string | null;
  /** The reason's name when the stock take was made. */
  readonly reason: string | null;
  readonly itemCount: number;
  readonly countedItemCount: number;
  readonly netQuantityChange: Quantity;
  readonly netValueChange: Money;
  readonly currencyCode: string;
  readonly stockAdjustmentId: string | null;
  readonly createdBy: string | null;
  readonly createdAtMs: number;
  readonly startedAtMs: number | null;
  readonly completedAtMs: number | null;
  readonly note: string | null;
}

export interface StockTake extends StockTakeHeader {
  readonly lineItems: readonly StockTakeLine[];
}

export const stockAdjustmentStatuses = ["Draft", "Completed", "Reverted"] as const;
export type StockAdjustmentStatus = (typeof stockAdjustmentStatuses)[number];

export interface StockAdjustmentLine {
  readonly stockAdjustmentLineItemId: string;
  readonly variantId: string;
  readonly sku: string | null;
  readonly quantityDelta: Quantity;
  readonly unitCost: Money | null;
  /** The delta at the unit cost; where none is known, what the document says. */
  readonly valueChange: Money | null;
  readonly reasonId: string | null;
  readonly note: string | null;
}

export interface StockAdjustmentHeader {
  readonly stockAdjustmentId: string;
  readonly stockAdjustmentNumber: string | null;
  readonly status: StockAdjustmentStatus;
  readonly locationId: string | null;
  readonly reasonId: string | null;
  /** The reason's name when the adjustment was made. */
  readonly reason: string | null;
  readonly itemCount: number;
  readonly netQuantityChange: Quantity;
  readonly netValueChange: Money;
  readonly currencyCode: string;
  readonly createdBy: string | null;
  readonly createdAtMs: number;
  readonly appliedAtMs: number | null;
  /** The adjustment that this one takes back. */
  readonly revertOf: string | null;
  readonly revertedBy: string | null;
  readonly note: string | null;
}

export interface StockAdjustment extends StockAdjustmentHeader {
  readonly lineItems: readonly StockAdjustmentLine[];
}

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

/** Counted minus expected; null until the line is counted. */
export const quantityVariance = (line: Pick<StockTakeLine, "quantityExpected" | "quantityCounted">): Quantity | null =>
  line.quantityCounted === null ? null : subtractQuantity(line.quantityCounted, line.quantityExpected);

const sumOf = (quantities: readonly Quantity[]): Quantity =>
  asQuantity(quantities.reduce((sum, quantity) => sum + quantity, 0));

/** What a stock take's line changes; nothing until it is counted. */
export const stockTakeLineChange = (
  line: Pick<StockTakeLine, "quantityExpected" | "quantityCounted" | "unitCost" | "valueVariance">,
): readonly ValuedQuantity[] => {
  const quantity = quantityVariance(line);
  return quantity === null ? [] : [{ quantity, unitCost: line.unitCost, stated: line.valueVariance }];
};

export const adjustmentLineChange = (
  line: Pick<StockAdjustmentLine, "quantityDelta" | "unitCost" | "valueChange">,
): ValuedQuantity => ({ quantity: line.quantityDelta, unitCost: line.unitCost, stated: line.valueChange });

/** The figures of a stock take that follow from its lines; lines not yet counted change nothing. */
export function stockTakeTotals(
  lines: readonly Pick<StockTakeLine, "quantityExpected" | "quantityCounted" | "unitCost" | "valueVariance">[],
  currencyCode: string,
): Pick<StockTakeHeader, "itemCount" | "countedItemCount" | "netQuantityChange" | "netValueChange"> {
  const changes = lines.flatMap(stockTakeLineChange);
  return {
    itemCount: lines.length,
    countedItemCount: changes.length,
    netQuantityChange: sumOf(changes.map((change) => change.quantity)),
    netValueChange: totalWorth(changes, currencyCode),
  };
}

/** The figures of an adjustment that follow from its lines. */
export function adjustmentTotals(
  lines: readonly Pick<StockAdjustmentLine, "quantityDelta" | "unitCost" | "valueChange">[],
  currencyCode: string,
): Pick<StockAdjustmentHeader, "itemCount" | "netQuantityChange" | "netValueChange"> {
  return {
    itemCount: lines.length,
    netQuantityChange: sumOf(lines.map((line) => line.quantityDelta)),
    netValueChange: totalWorth(lines.map(adjustmentLineChange), currencyCode),
  };
}
