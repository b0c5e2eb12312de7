/**
 * The purchase order: glossary, types and invariants. Pure data. status.ts has what a status allows, and lines.ts what
 * lines are worth. Each rule is in the file of its activity (edit.ts, status-move.ts, core/goods/).
 *
 * Glossary (the specification's words):
 * - order: a purchase order. `order` is what was loaded, `next` is what was decided.
 * - line: a purchase-order line item. A custom line is one without a catalogue variant (`CSTM-…`).
 * - base: the quantity that a line is expected to bring: confirmed if any is, else ordered.
 * - pending: the quantity still to come: max(0, base − received − rejected − cancelled).
 * - synced: how much of the received quantity the storefront has been sent and has applied.
 * - held status: Cancelled, On Hold or Disputed; an order leaves it only to its `previousStatus`.
 * - open order: Sent to Partially Received; its pending quantities are incoming stock.
 * - variant: an item of the shop's catalogue. location: a place that holds stock.
 * - owed: what the goods that came, and those still to come, cost: `grandTotal`.
 * - effect: work that follows a change and runs after its commit (push stock, mirror incoming, …).
 *
 * Invariants:
 * - P1. 0 ≤ quantityConfirmed ≤ quantityOrdered, quantityOrdered > 0.
 * - P2. received + rejected + cancelled ≤ base, unless over-receipt was allowed for the line.
 * - P3. synced ≤ received, except between an un-receive and its negative push.
 * - P4. `previousStatus` is the status before the latest move; a new order has Draft.
 * - P5. Every change raises `version` by one; a call that changes nothing leaves the order as it was.
 * - P6. Every change recomputes the values that follow from lines, from other header fields and from attachments
 *   (totals.ts), at the order's own rates. A change of the shop's settings or of a supplier's record changes no order
 *   that has left Draft.
 */
import type { Attachments } from "./attachments.ts";
import type { Effect } from "./effect.ts";
import type { FxRates, Quantity } from "../money/money.ts";
import type {
  editableHeaderFields,
  headerKeptFields,
  headerRecordFields,
  storedLineFields,
  ValuesOf,
} from "./purchase-order-fields.ts";

/** An order's status (spec "States and transitions"); what each allows is in status.ts. */
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
/** Where an order is in its life. */
export type Status = (typeof statuses)[number];

/** A line's status. It is not stored: lines.ts derives it from the quantities (C29). */
export const lineItemStatuses = [
  "Pending",
  "Partially Confirmed",
  "Confirmed",
  "Partially Received",
  "Received",
  "Rejected",
  "Cancelled",
] as const;
/** Status of a line (C29). */
export type LineItemStatus = (typeof lineItemStatuses)[number];

/** Payment statuses of an order. Derived from what was settled and the total (lines.ts). */
export const paidStatuses = ["Unpaid", "Partially Paid", "Paid", "Overpaid"] as const;
/** Payment status of an order (C35). */
export type PaidStatus = (typeof paidStatuses)[number];

/** States of the received quantities at the storefront (spec "Storefront sync state"). */
export const storefrontSyncStates = ["never-synced", "in-flight", "partial", "synced", "failed"] as const;
/** State of an order's received quantities at the storefront. */
export type StorefrontSyncState = (typeof storefrontSyncStates)[number];

/** The variantId of a custom line begins with it (spec "Purchase-order line item", C16). */
export const customVariantPrefix = "CSTM-";

/** Lines of one create, add or edit call at most (spec "Limits"). */
export const bulkLinesMax = 500;
/** Lines of one order at most. */
export const linesPerOrderMax = 5_000;

/** A postal address. It is replaced as a whole. */
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

/** A line as it is stored. `quantityPending`, `lineItemStatus` and `lineTotal` follow from it (lines.ts, C29). */
export interface LineItem extends ValuesOf<typeof storedLineFields> {}

/** The header fields that a caller may set (contract §9). Amounts are in the order's currency. */
interface HeaderFields extends ValuesOf<typeof editableHeaderFields> {}

/** An order without its lines. */
export interface Header extends HeaderFields, ValuesOf<typeof headerRecordFields>, ValuesOf<typeof headerKeptFields> {
  readonly status: Status;
  readonly previousStatus: Status;
  readonly storefrontSyncState: StorefrontSyncState;
  /** The supplier's name as the shop has it now. Null: no supplier, or the shop does not know it. */
  readonly supplierName: string | null;
  /** The location's name as the shop has it now. Null as for the supplier. */
  readonly locationName: string | null;
  /** The supplier's lead time as the shop has it now; null as for its name. */
  readonly supplierLeadTimeNow: number | null;
}

/** An order with its lines, in the order in which they were added. */
export interface OrderWithLines extends Header {
  readonly lineItems: readonly LineItem[];
}

/** An order with all that its figures and dates follow from. */
export interface PurchaseOrder extends OrderWithLines {
  readonly attached: Pick<Attachments, "payments" | "credits" | "shipments" | "documents">;
}

/** A field that changed. `poLineItemId` is null for a header field. Values are as the API shows them. */
export interface FieldChange {
  readonly field: string;
  readonly poLineItemId: string | null;
  readonly before: unknown;
  readonly after: unknown;
}

/** An entry of the activity log as a rule writes it. The shop adds id, time, actor, operation and request id. */
export interface LogDraft {
  readonly action: string;
  readonly message: string;
  readonly changes: readonly FieldChange[];
}

/**
 * A receipt as a rule writes it: goods received or taken back (contract §9 "Receipt"). The shop adds id, time, actor
 * and request id.
 */
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
 * Result of a rule: the next order, its log entries and receipts, and the effects that follow. It is committed as a
 * whole or not at all (S2). `next === order` means that nothing changes; then `log`, `receipts` and `effects` are
 * empty.
 */
export interface Decision {
  readonly next: PurchaseOrder;
  readonly log: readonly LogDraft[];
  readonly receipts: readonly ReceiptDraft[];
  readonly effects: readonly Effect[];
  /** Outcome of a push: the storefront shows what it took, or did not take everything. */
  readonly sync?: "verified" | "failed";
}

/** A line that a bulk call left as it was, and why. `reason` is a stable machine word. */
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

/** The settings of the shop that rules depend on. */
export interface ShopFacts {
  readonly currencyCode: string;
  /** Foreign currency → shop currency. Orders keep their own. */
  readonly fxRates: FxRates;
  /** IANA name. */
  readonly timezone: string;
  readonly autoSyncOnReceiving: boolean;
  readonly costSyncMode: "unit-cost" | "moving-average" | "disabled";
  readonly onOrderTag: string | null;
}
