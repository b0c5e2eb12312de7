/**
 * Transfer orders: stock on its way from one location to another (contract §9). Pure. They come in by import only.
 */
import { type Money, type Quantity, asQuantity } from "./money.ts";
import type { Address } from "./purchase-order.ts";
import { type ValuedQuantity, totalWorth } from "./valued-quantity.ts";

export const transferOrderStatuses = [
  "Draft",
  "Ready to Ship",
  "In Transit",
  "Partially Received",
  "Received",
  "Cancelled",
] as const;

export type TransferOrderStatus = (typeof transferOrderStatuses)[number];

export interface TransferLine {
  readonly transferLineItemId: string;
  readonly variantId: string;
  readonly sku: string | null;
  readonly quantityRequested: Quantity;
  readonly quantityShipped: Quantity;
  readonly quantityReceived: Quantity;
  readonly quantityRejected: Quantity;
  readonly quantityCancelled: Quantity;
  readonly unitCost: Money | null;
}

export interface TransferOrderHeader {
  readonly transferOrderId: string;
  readonly transferNumber: string | null;
  readonly transferName: string | null;
  readonly status: TransferOrderStatus;
  readonly fromLocationId: string | null;
  readonly toLocationId: string | null;
  readonly itemCount: number;
  /** Σ requested. */
  readonly totalQuantity: Quantity;
  /** Σ requested × unit cost of the lines whose cost is known. */
  readonly totalValue: Money;
  readonly currencyCode: string;
  /** `YYYY-MM-DD`. */
  readonly expectedArrivalDate: string | null;
  readonly shippedAtMs: number | null;
  readonly receivedAtMs: number | null;
  readonly createdBy: string | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly note: string | null;
  readonly fromAddress: Address | null;
  readonly toAddress: Address | null;
}

type Quantities = Omit<TransferLine, "transferLineItemId" | "variantId" | "sku" | "unitCost">;

/** What is still to arrive: what was asked for (what was shipped, if more), less what came, was rejected or cancelled. */
export const transferPending = (line: Quantities): Quantity =>
  asQuantity(
    Math.max(
      0,
      Math.max(line.quantityRequested, line.quantityShipped) -
        line.quantityReceived -
        line.quantityRejected -
        line.quantityCancelled,
    ),
  );

/** What a line is worth as it was asked for. */
export const requestedValue = (line: Pick<TransferLine, "quantityRequested" | "unitCost">): ValuedQuantity => ({
  quantity: line.quantityRequested,
  unitCost: line.unitCost,
  stated: null,
});

/** The figures of a transfer that follow from its lines; the value is summed exactly and rounded once. */
export function transferTotals(
  lines: readonly Pick<TransferLine, "quantityRequested" | "unitCost">[],
  currencyCode: string,
): Pick<TransferOrderHeader, "itemCount" | "totalQuantity" | "totalValue"> {
  return {
    itemCount: lines.length,
    totalQuantity: asQuantity(lines.reduce((sum, line) => sum + line.quantityRequested, 0)),
    totalValue: totalWorth(lines.map(requestedValue), currencyCode),
  };
}
