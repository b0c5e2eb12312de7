/**
 * Stock takes: counts of stock, with the reasons that they share with stock adjustments (contract §9). Pure.
 *
 * A stock take comes in by import only, with all its lines. So the figures of its header are computed once, at the
 * import, and always fit the lines.
 */
import { type Money, type Quantity, subtractQuantity } from "../money/money.ts";
import { type ValuedQuantity, sumOf, totalWorth } from "../money/valued-quantity.ts";

/** Which changes a reason may explain. */
export const reasonDirections = ["increase", "decrease", "both"] as const;

/** A reason for a difference that was found (stock takes) or made (stock adjustments). */
export interface StockTakeReason {
  readonly reasonId: string;
  readonly name: string;
  readonly code: string | null;
  readonly direction: (typeof reasonDirections)[number];
  /** Came with the shop and cannot be removed. */
  readonly isSystem: boolean;
  /** May be chosen for new stock takes and adjustments. */
  readonly isActive: boolean;
}

/** The statuses of a stock take. */
export const stockTakeStatuses = ["Draft", "In Progress", "Counted", "Completed", "Cancelled"] as const;

/** A status of a stock take. */
export type StockTakeStatus = (typeof stockTakeStatuses)[number];

/** Extents of a stock take in its location. */
export const countTypes = ["full", "partial", "cycle"] as const;

/** A variant that is counted. */
export interface StockTakeLine {
  readonly stockTakeLineItemId: string;
  readonly variantId: string;
  readonly sku: string | null;
  readonly productName: string | null;
  readonly quantityExpected: Quantity;
  /** Null until it is counted. */
  readonly quantityCounted: Quantity | null;
  readonly unitCost: Money | null;
  /** Counted minus expected, at the unit cost; without a unit cost, as the record stated it. */
  readonly valueVariance: Money | null;
  readonly reasonId: string | null;
  readonly countedBy: string | null;
  readonly countedAtMs: number | null;
  readonly note: string | null;
}

/** A stock take without its lines. */
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

/** A stock take with its lines. */
export interface StockTake extends StockTakeHeader {
  readonly lineItems: readonly StockTakeLine[];
}

/** Counted minus expected; null until the line is counted. */
export const quantityVariance = (line: Pick<StockTakeLine, "quantityExpected" | "quantityCounted">): Quantity | null =>
  line.quantityCounted === null ? null : subtractQuantity(line.quantityCounted, line.quantityExpected);

/** The change that a line found, none until it is counted. */
export const stockTakeLineChange = (
  line: Pick<StockTakeLine, "quantityExpected" | "quantityCounted" | "unitCost" | "valueVariance">,
): readonly ValuedQuantity[] => {
  const quantity = quantityVariance(line);
  return quantity === null ? [] : [{ quantity, unitCost: line.unitCost, stated: line.valueVariance }];
};

/** The figures of a header that follow from its lines. Lines that are not counted yet change nothing. */
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
