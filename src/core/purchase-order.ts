/**
 * The purchase order: glossary, types and invariants. Pure data; what a status allows is in status.ts, what lines are worth in
 * lines.ts, and each rule in the file of what is done (confirm.ts, receive.ts, edit.ts …).
 *
 * Glossary (the specification's words):
 * - order: a purchase order. `order` is what was loaded, `next` is what was decided.
 * - line: a purchase-order line item. A custom line is one without a catalogue variant (`CSTM-…`).
 * - base: what a line is expected to bring: its confirmed quantity if any, else its ordered quantity.
 * - pending: what is still to come: max(0, base − received − rejected − cancelled).
 * - synced: how much of the received quantity the storefront has been told and has taken.
 * - held status: Cancelled, On Hold or Disputed; left only to `previousStatus`.
 * - open order: Sent to Partially Received; its pending quantities are incoming stock.
 * - variant: an item of the shop's catalogue. location: a place that holds stock.
 * - effect: work that follows a change and is done outside it (push stock, mirror incoming, …).
 *
 * Invariants:
 * - P1. 0 ≤ quantityConfirmed ≤ quantityOrdered, quantityOrdered > 0.
 * - P2. received + rejected + cancelled ≤ base, unless over-receipt was allowed for the line.
 * - P3. synced ≤ received, but for the time between an un-receive and its negative push.
 * - P4. `previousStatus` is the status before the latest move; a new order has Draft.
 * - P5. Every change raises `version` by one; a call that changes nothing leaves the order as it was.
 * - P6. `totalValue` = Σ ordered × unitCost in the order's currency, summed exactly, rounded once. All that follows from the lines and
 *   from other header fields (`orderTotals`) is worked out anew by every change.
 */
import type { Effect } from "./effect.ts";
import type { FxRate, Quantity } from "./money.ts";
import type {
  editableHeaderFields,
  headerRecordFields,
  storedLineFields,
  supplierFields,
  ValuesOf,
} from "./purchase-order-fields.ts";

export const statuses = [
  "Draft",
  "Sent",
  "Partially Confirmed",
  "Confirmed",
  "In Progress",
  "Partially Received",
  "Received",
  "Completed",
  "Cancelled",
  "On Hold",
  "Disputed",
] as const;
export type Status = (typeof statuses)[number];

export const lineItemStatuses = [
  "Pending",
  "Partially Confirmed",
  "Confirmed",
  "Partially Received",
  "Received",
  "Rejected",
  "Cancelled",
] as const;
export type LineItemStatus = (typeof lineItemStatuses)[number];

export const paidStatuses = ["Unpaid", "Partially Paid", "Paid", "Overpaid"] as const;
export type PaidStatus = (typeof paidStatuses)[number];

export const storefrontSyncStates = ["never-synced", "in-flight", "partial", "synced", "failed"] as const;
export type StorefrontSyncState = (typeof storefrontSyncStates)[number];

/** A variantId that begins so belongs to a custom line (spec "Purchase-order line item", C16). */
export const customVariantPrefix = "CSTM-";

/** Lines of one create, add or edit call (spec "Limits"). */
export const bulkLinesMax = 500;
/** Lines that one order may hold. */
export const linesPerOrderMax = 5_000;

export interface Address {
  readonly companyName: string | null;
  readonly contactName: string | null;
  readonly address1: string | null;
  readonly address2: string | null;
  readonly city: string | null;
  readonly province: string | null;
  readonly provinceCode: string | null;
  readonly country: string | null;
  readonly countryCode: string | null;
  readonly zip: string | null;
  readonly phone: string | null;
  readonly email: string | null;
}

/** What a line carries about the supplier's side of the article. */
export interface SupplierFields extends ValuesOf<typeof supplierFields> {}

/** What is stored of a line. `quantityPending`, `lineItemStatus` and `lineTotal` follow from it (lines.ts, C29). */
export interface LineItem extends ValuesOf<typeof storedLineFields> {}

/** The header fields that a caller may set (contract §9). Amounts are in the order's currency. */
export interface HeaderFields extends ValuesOf<typeof editableHeaderFields> {}

export interface Header extends HeaderFields, ValuesOf<typeof headerRecordFields> {
  readonly status: Status;
  readonly previousStatus: Status;
  readonly storefrontSyncState: StorefrontSyncState;
  /** The supplier's name as the shop has it now; null: no supplier, or unknown to the shop. */
  readonly supplierName: string | null;
  /** The location's name as the shop has it now. */
  readonly locationName: string | null;
}

export interface PurchaseOrder extends Header {
  readonly lineItems: readonly LineItem[];
}

/** One field that a change moved. `poLineItemId` is null for a header field. Values are as the API shows them. */
export interface FieldChange {
  readonly field: string;
  readonly poLineItemId: string | null;
  readonly before: unknown;
  readonly after: unknown;
}

/** What the activity log says of a change; the shop adds id, time, actor, operation and request id. */
export interface LogDraft {
  readonly action: string;
  readonly message: string;
  readonly changes: readonly FieldChange[];
}

/** A record of goods in or taken back (contract §9 "Receipt"); the shop adds id, time, actor and request id. */
export interface ReceiptDraft {
  readonly source: "receive" | "unreceive" | "quick-complete";
  readonly reason: string | null;
  readonly lines: readonly {
    readonly poLineItemId: string;
    readonly variantId: string;
    readonly quantityDelta: Quantity;
    readonly quantityReceivedAfter: Quantity;
  }[];
}

/**
 * What a rule decided: the order as it shall be, what to tell the log, what to do afterwards. The door commits all of it or
 * nothing (S2). `next === order` means that nothing changes; then `log`, `receipts` and `effects` are empty.
 */
export interface Decision {
  readonly next: PurchaseOrder;
  readonly log: readonly LogDraft[];
  readonly receipts: readonly ReceiptDraft[];
  readonly effects: readonly Effect[];
}

/** A line that a bulk edit left alone, and why. `reason` is a stable machine word. */
export interface LineFailure {
  readonly lineItemId: string;
  readonly reason:
    | "unknown-line"
    | "has-received-quantity"
    | "has-synced-quantity"
    | "has-rejected-quantity"
    | "below-confirmed"
    | "below-received"
    | "above-base"
    | "custom-field-on-catalogue-line"
    | "total-too-large";
  readonly message: string;
}

/** What the rules need to know of the shop. */
export interface ShopFacts {
  readonly currencyCode: string;
  /** Foreign currency → shop currency. */
  readonly fxRates: Readonly<Record<string, FxRate>>;
  readonly autoSyncOnReceiving: boolean;
  readonly costSyncMode: "unit-cost" | "moving-average" | "disabled";
  readonly onOrderTag: string | null;
}
