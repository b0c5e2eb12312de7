/**
 * Stock takes and stock adjustments: what a count found and what was changed by hand (contract §9). Pure.
 *
 * A stock take counts; an adjustment is its delta-only sibling. Both come in by import only, whole with their lines, so a header's
 * figures are computed once, when its lines come in, and cannot be stale: `netQuantityChange` is at any time the sum of the lines.
 */
import { type Money, type Quantity, subtractQuantity } from "./money.ts";
import { type ValuedQuantity, sumOf, totalWorth } from "./valued-quantity.ts";

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

/** Counted minus expected; null until the line is counted. */
export const quantityVariance = (line: Pick<StockTakeLine, "quantityExpected" | "quantityCounted">): Quantity | null =>
  line.quantityCounted === null ? null : subtractQuantity(line.quantityCounted, line.quantityExpected);

/** What a stock take's line changes; nothing until it is counted. */
export const stockTakeLineChange = (
  line: Pick<StockTakeLine, "quantityExpected" | "quantityCounted" | "unitCost" | "valueVariance">,
): readonly ValuedQuantity[] => {
  const quantity = quantityVariance(line);
  return quantity === null ? [] : [{ quantity, unitCost: line.unitCost, stated: line.valueVariance }];
};

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
