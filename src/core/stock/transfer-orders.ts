/**
 * Transfer orders: stock that goes from one location to another (contract §9). Pure. They come in by import only.
 */
import { type Money, type Quantity, asQuantity } from "../money/money.ts";
import type { Address } from "../order/purchase-order.ts";
import { type ValuedQuantity, sumOf, totalWorth } from "../money/valued-quantity.ts";

/** The statuses of a transfer order. */
export const transferOrderStatuses = [
  "Draft",
  "Ready to Ship",
  "In Transit",
  "Partially Received",
  "Received",
  "Cancelled",
] as const;

/** A status of a transfer order. */
export type TransferOrderStatus = (typeof transferOrderStatuses)[number];

/** A variant that is transferred. */
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

/** A transfer order without its lines, shipments, documents and log. */
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

/** The quantity still to arrive: requested (or shipped, if more) − received − rejected − cancelled, never below 0. */
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

/** The requested quantity at the line's unit cost. */
export const requestedValue = (line: Pick<TransferLine, "quantityRequested" | "unitCost">): ValuedQuantity => ({
  quantity: line.quantityRequested,
  unitCost: line.unitCost,
  stated: null,
});

/** The figures of a header that follow from its lines. The value is summed exactly and rounded once. */
export function transferTotals(
  lines: readonly Pick<TransferLine, "quantityRequested" | "unitCost">[],
  currencyCode: string,
): Pick<TransferOrderHeader, "itemCount" | "totalQuantity" | "totalValue"> {
  return {
    itemCount: lines.length,
    totalQuantity: sumOf(lines.map((line) => line.quantityRequested)),
    totalValue: totalWorth(lines.map(requestedValue), currencyCode),
  };
}
