import type { Money, Quantity } from "./money.ts";
import { type ValuedQuantity, sumOf, totalWorth } from "./valued-quantity.ts";

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

export const adjustmentLineChange = (
  line: Pick<StockAdjustmentLine, "quantityDelta" | "unitCost" | "valueChange">,
): ValuedQuantity => ({ quantity: line.quantityDelta, unitCost: line.unitCost, stated: line.valueChange });

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
