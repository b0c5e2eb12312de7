/**
 * Orders from outside: import takes orders in any status, with goods received and history (contract §8).
 *
 * Owns: filling in what a record leaves out, computing what follows from other figures, refusing what breaks the
 * invariants of an order. Does not own: what a record looks like in a file (exchange/records/purchase-orders.ts),
 * storing the order, its log and receipts.
 */
import type { Attachments } from "./attachments.ts";
import { dateOf, dayIn } from "../../base/time/calendar.ts";
import { invalidField } from "../../base/fault.ts";
import { accountedQuantity, baseQuantity, isCustom, valueOf } from "./lines.ts";
import { type InCurrencies, newRates } from "./order-rates.ts";
import { exceedsTotalValueMax, type Quantity, totalValueMax, zeroQuantity } from "../money/money.ts";
import {
  articleFields,
  type Changes,
  editableHeaderFields,
  type headerKeptFields,
  storedHeaderFields,
  storedLineFields,
  type ValuesOf,
  valuesFrom,
} from "./purchase-order-fields.ts";
import type {
  LineItem,
  OrderWithLines,
  ReceiptDraft,
  ShopFacts,
  Status,
  StorefrontSyncState,
} from "./purchase-order.ts";
import { isHeld, usualPrevious } from "./status.ts";
import { storefrontSyncState } from "../storefront/stock-push.ts";
import { orderTotals } from "./totals.ts";

/**
 * A line as the record has it. Defaults: `unitCostCurrencyCode` is the order's; `productName` and the other names are
 * the catalogue's. `quantitySynced` is what was received, since the storefront's levels are taken to include it.
 */
export interface OutsideLine extends Changes<typeof storedLineFields> {
  readonly poLineItemId: string;
  readonly variantId: string;
  readonly quantityOrdered: Quantity;
  /** Lifts P2 for this line, as in receiving. */
  readonly allowOverReceipt: boolean;
}

/**
 * An order as the record has it. Defaults: the currency is the supplier's, else the shop's; it was created now; values
 * that an order keeps of its day are those of now.
 */
export interface OutsideOrder extends Changes<typeof editableHeaderFields>, Changes<typeof headerKeptFields> {
  readonly purchaseOrderId: string;
  readonly poNumber: string;
  readonly status: Status;
  /** Absent: the usual status before `status`. A held status has none, so its order must give it. */
  readonly previousStatus?: Status | undefined;
  /** Only `failed` is taken over. Everything else follows from the lines. */
  readonly storefrontSyncState?: StorefrontSyncState | undefined;
  readonly createdBy: string | null;
  readonly createdAtMs?: number | undefined;
  readonly updatedAtMs?: number | undefined;
  readonly sentAtMs: number | null;
  readonly confirmedAtMs: number | null;
  readonly receivedAtMs: number | null;
  readonly completedAtMs: number | null;
  readonly cancelledAtMs: number | null;
  readonly version: number;
  readonly lineItems: readonly OutsideLine[];
  readonly attachments: Attachments;
  readonly receipts: readonly Pick<ReceiptDraft, "source" | "lines">[];
}

/** Facts that the shop knows in addition to the record. */
export interface AdoptFacts {
  readonly shop: ShopFacts;
  /** Null: the order has no supplier, or the shop does not know it. */
  readonly supplier: { readonly currencyCode: string | null; readonly leadTimeDays: number | null } | null;
  /** Catalogue names for lines without their own (D2). */
  readonly variants: ReadonlyMap<string, ValuesOf<typeof articleFields>>;
  readonly nowMs: number;
}

/**
 * Takes over an order from outside: completes it and checks it. Totals, payment and sync state are computed. The names
 * of supplier and location are null; a read looks them up.
 *
 * @throws Fault INVALID_INPUT  the record breaks P1, P2 or P3, names a line twice, or is worth too much. Or it lacks a
 *                              previous status, a location or a product name.
 * Source: contract §8; C22, C29, C30, C35, D2.
 */
export function adoptOrder(outside: OutsideOrder, facts: AdoptFacts): OrderWithLines {
  const { status } = outside;
  const currencyCode = outside.currencyCode ?? facts.supplier?.currencyCode ?? facts.shop.currencyCode;
  const createdAtMs = outside.createdAtMs ?? facts.nowMs;
  if ((outside.locationId ?? null) === null && status !== "Draft")
    throw invalidField("/locationId", `is needed for an order that is ${status}`);
  const lineItems = outside.lineItems.map((line, index) =>
    adoptedLine(line, `/lineItems/${index}`, { currencyCode, createdAtMs, receipts: outside.receipts }, facts),
  );
  refuseRepeatedLines(lineItems);
  const given = valuesFrom(editableHeaderFields, outside, { currencyCode });
  const derived = {
    previousStatus: previousStatusOf(outside),
    storefrontSyncState: storefrontSyncState(lineItems, {
      inFlight: false,
      failed: outside.storefrontSyncState === "failed",
    }),
  };
  const order = {
    ...given,
    ...keptOf(outside, { ...given, lineItems, attached: outside.attachments }, facts),
    sentAtMs: outside.sentAtMs,
    status,
    lineItems,
    attached: outside.attachments,
  };
  const header = valuesFrom(
    storedHeaderFields,
    { ...outside, ...derived, ...order, ...orderTotals(order, facts.shop.currencyCode) },
    { currencyCode, createdAtMs, updatedAtMs: createdAtMs },
  );
  return {
    ...header,
    ...derived,
    status,
    supplierName: null,
    supplierLeadTimeNow: null,
    locationName: null,
    lineItems,
  };
}

/** Returns the values that the order keeps of its day: the record's, else those that hold now. */
function keptOf(
  { fxRates, supplierLeadTimeDays, sentDate, sentAtMs }: OutsideOrder,
  order: InCurrencies,
  { shop, supplier }: AdoptFacts,
): ValuesOf<typeof headerKeptFields> {
  const sentNow = sentAtMs === null ? null : dateOf(dayIn(shop.timezone, sentAtMs));
  return {
    fxRates: fxRates ?? newRates(order, shop),
    supplierLeadTimeDays: supplierLeadTimeDays === undefined ? (supplier?.leadTimeDays ?? null) : supplierLeadTimeDays,
    sentDate: sentDate === undefined ? sentNow : sentDate,
  };
}

function previousStatusOf({ status, previousStatus }: OutsideOrder): Status {
  const previous = previousStatus ?? usualPrevious(status);
  if (previous === null)
    throw invalidField("/previousStatus", `is needed for an order that is ${status}: it is the only way back`);
  if (isHeld({ status }) && isHeld({ status: previous }))
    throw invalidField("/previousStatus", `cannot be ${previous} for an order that is ${status}`);
  return previous;
}

/** The line, completed and checked. `at` is its JSON pointer. */
function adoptedLine(
  outside: OutsideLine,
  at: string,
  order: Pick<OutsideOrder, "receipts"> & { readonly currencyCode: string; readonly createdAtMs: number },
  { variants }: AdoptFacts,
): LineItem {
  const isCustomLine = isCustom(outside);
  if (isCustomLine && (outside.productName ?? null) === null)
    throw invalidField(`${at}/productName`, "is needed on a custom line");
  const variant = outside.productName === undefined ? variants.get(outside.variantId) : undefined;
  const createdAtMs = outside.createdAtMs ?? order.createdAtMs;
  const line = valuesFrom(storedLineFields, outside, {
    ...valuesFrom(articleFields, variant ?? {}),
    unitCostCurrencyCode: order.currencyCode,
    quantitySynced: isCustomLine ? zeroQuantity : outside.quantityReceived,
    createdAtMs,
    updatedAtMs: createdAtMs,
  });
  if (exceedsTotalValueMax(valueOf(line.quantityOrdered, line)))
    throw invalidField(at, `is worth more than ${totalValueMax}`);
  refuseImpossibleQuantities(line, at, outside, order.receipts);
  return line;
}

/** @throws Fault INVALID_INPUT  the line breaks P1, P2 or P3. */
function refuseImpossibleQuantities(
  line: LineItem,
  at: string,
  { allowOverReceipt }: OutsideLine,
  receipts: OutsideOrder["receipts"],
): void {
  if (line.quantityConfirmed > line.quantityOrdered)
    throw invalidField(`${at}/quantityConfirmed`, "must not be above quantityOrdered");
  if (!allowOverReceipt && accountedQuantity(line) > baseQuantity(line))
    throw invalidField(
      `${at}/quantityReceived`,
      "received, rejected and cancelled together must not be above what is confirmed (ordered, if nothing is); " +
        "`allowOverReceipt: true` on the line lifts this",
    );
  if (line.quantitySynced <= line.quantityReceived) return;
  const takenBack = receipts.some(
    ({ source, lines }) => source === "unreceive" && lines.some((taken) => taken.poLineItemId === line.poLineItemId),
  );
  if (!takenBack) throw invalidField(`${at}/quantitySynced`, "must not be above quantityReceived");
}

function refuseRepeatedLines(lineItems: readonly LineItem[]): void {
  const seen = new Set<string>();
  for (const [index, { poLineItemId }] of lineItems.entries()) {
    if (seen.has(poLineItemId))
      throw invalidField(`/lineItems/${index}/poLineItemId`, `${poLineItemId} is given twice`);
    seen.add(poLineItemId);
  }
}
