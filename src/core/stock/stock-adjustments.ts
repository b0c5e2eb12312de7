/**
 * Stock adjustments: changes of stock by hand, as signed deltas (contract §9). Pure.
 *
 * An adjustment comes in by import only, with all its lines. So the figures of its header are computed once, at the
 * import, and always fit the lines.
 */
import type { Money, Quantity } from "../money/money.ts";
import { type ValuedQuantity, sumOf, totalWorth } from "../money/valued-quantity.ts";

/** The statuses of a stock adjustment. */
export const stockAdjustmentStatuses = ["Draft", "Completed", "Reverted"] as const;

/** A status of a stock adjustment. */
export type StockAdjustmentStatus = (typeof stockAdjustmentStatuses)[number];

/** The change of one variant's stock. */
export interface StockAdjustmentLine {
  readonly stockAdjustmentLineItemId: string;
  readonly variantId: string;
  readonly sku: string | null;
  /** Signed: above 0 was added, below 0 taken away. */
  readonly quantityDelta: Quantity;
  readonly unitCost: Money | null;
  /** The delta at the unit cost; without a unit cost, as the record stated it. */
  readonly valueChange: Money | null;
  readonly reasonId: string | null;
  readonly note: string | null;
}

/** A stock adjustment without its lines. */
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
  /** Id of the adjustment that this one takes back. */
  readonly revertOf: string | null;
  /** Id of the adjustment that takes this one back. */
  readonly revertedBy: string | null;
  readonly note: string | null;
}

/** A stock adjustment with its lines. */
export interface StockAdjustment extends StockAdjustmentHeader {
  readonly lineItems: readonly StockAdjustmentLine[];
}

/** The change that a line makes. */
export const adjustmentLineChange = (
  line: Pick<StockAdjustmentLine, "quantityDelta" | "unitCost" | "valueChange">,
): ValuedQuantity => ({ quantity: line.quantityDelta, unitCost: line.unitCost, stated: line.valueChange });

/** The figures of a header that follow from its lines. */
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
