/**
 * Stock pushes: telling the storefront how much on-hand stock changed by what was received (C40, C43).
 *
 * Owns: what a push carries, the order once its outcome is known, and `storefrontSyncState`. Does not own: which lines
 * a call wants pushed (core/goods/goods.ts, sync.ts), the rows of pushes (shop/storefront/stock-pushes.ts), sending
 * them (jobs/outbox/steps/stock-push.ts).
 */
import { unchanged } from "../order/decision.ts";
import { isCustom } from "../order/lines.ts";
import { asQuantity, type Quantity, quantityToNumber } from "../money/money.ts";
import type { Decision, FieldChange, LineItem, PurchaseOrder, StorefrontSyncState } from "../order/purchase-order.ts";

/** One change of one variant's stock at a location, and how much of it comes from each line. */
export interface PushItem {
  readonly variantId: string;
  readonly locationId: string;
  /** Σ of its lines; may be negative, never 0. */
  readonly delta: Quantity;
  readonly lines: readonly { readonly poLineItemId: string; readonly delta: Quantity }[];
}

/** A push that was started under a reference and has no known outcome yet. Its items never change. */
export interface OpenPush {
  readonly reference: string;
  readonly items: readonly PushItem[];
}

/** An item of a push, and what became of it. */
export interface SentItem extends PushItem {
  /** Null while it is not known whether it has landed. */
  readonly result:
    /** `isReadBack`: the storefront has shown the change since. Left out by earlier versions, which did not note it. */
    | { readonly outcome: "landed"; readonly isReadBack?: boolean }
    | { readonly outcome: "rejected"; readonly message: string }
    | null;
}

/** True if the storefront took the item and has not been seen to show it since (C43). */
export const isUnread = ({ result }: SentItem): boolean => result?.outcome === "landed" && result.isReadBack !== true;

/** Line → how much of it the storefront took and has not been seen to show since (C43). */
export function unreadQuantities(items: readonly SentItem[]): ReadonlyMap<string, Quantity> {
  const unread = new Map<string, Quantity>();
  for (const { poLineItemId, delta } of items.filter(isUnread).flatMap((item) => item.lines))
    unread.set(poLineItemId, asQuantity((unread.get(poLineItemId) ?? 0) + delta));
  return unread;
}

/** Next step for an order's stock. */
type PushStep =
  /** Send the same items under the same reference again, to learn the outcome. Then plan anew. */
  | { readonly kind: "resend"; readonly push: OpenPush }
  /** Store these items under a new reference, then send them. */
  | { readonly kind: "send"; readonly items: readonly PushItem[] }
  | { readonly kind: "nothing" };

/**
 * True if the storefront does not have the line's received quantity. It never has those of custom lines, nor needs
 * them.
 */
export const needsSync = (line: LineItem): boolean => !isCustom(line) && line.quantityReceived !== line.quantitySynced;

/** Returns the quantity to push: received − synced, negative after goods were taken back. */
export const unsyncedQuantity = (line: Pick<LineItem, "quantityReceived" | "quantitySynced">): Quantity =>
  asQuantity(line.quantityReceived - line.quantitySynced);

/**
 * True if the line's push is through: the storefront has what the line lacked, or all of what the line is now.
 *
 * @param pushed the line when the push was asked for.
 * @param now   the line by now; undefined: it is gone.
 * Source: C43.
 */
export function isPushed(pushed: LineItem, now: LineItem | undefined): boolean {
  if (now === undefined) return false;
  if (!needsSync(now)) return true;
  const wanted = unsyncedQuantity(pushed);
  const synced = now.quantitySynced - pushed.quantitySynced;
  return wanted > 0 ? synced >= wanted : synced <= wanted;
}

/**
 * Plans the next push of an order. It has one push in flight at a time. An open one is finished first, under its old
 * reference, so that goods that may have landed cannot land twice. A new one carries received − synced of the lines,
 * one item per variant.
 *
 * @param poLineItemIds the lines wanted; lines that are gone, custom or synced are left out.
 * Source: C40, C43.
 */
export function pushPlan(
  order: Pick<PurchaseOrder, "locationId" | "lineItems">,
  poLineItemIds: readonly string[],
  openPushes: readonly OpenPush[],
): PushStep {
  const [open] = openPushes;
  if (open !== undefined) return { kind: "resend", push: open };
  const { locationId } = order;
  if (locationId === null) return { kind: "nothing" };
  const wanted = new Set(poLineItemIds);
  const due = order.lineItems.filter((line) => wanted.has(line.poLineItemId) && needsSync(line));
  const items = [...Map.groupBy(due, (line) => line.variantId)].flatMap(([variantId, lineItems]) =>
    itemsOf(variantId, locationId, lineItems),
  );
  return items.length === 0 ? { kind: "nothing" } : { kind: "send", items };
}

/** One item per variant. Lines that cancel each other out get one item each: a change of 0 would prove nothing. */
function itemsOf(variantId: string, locationId: string, lineItems: readonly LineItem[]): readonly PushItem[] {
  const lines = lineItems.map((line) => ({
    poLineItemId: line.poLineItemId,
    delta: unsyncedQuantity(line),
  }));
  const delta = asQuantity(lines.reduce((sum, line) => sum + line.delta, 0));
  return delta === 0
    ? lines.map((line) => ({ variantId, locationId, delta: line.delta, lines: [line] }))
    : [{ variantId, locationId, delta, lines }];
}

/**
 * Returns the state of an order's received goods at the storefront. `inFlight`: a push has no known outcome yet.
 * `failed`: the latest attempt failed or was given up, and no reset has cleared it.
 */
export function storefrontSyncState(
  lineItems: readonly LineItem[],
  attempts: { readonly inFlight: boolean; readonly failed: boolean },
): StorefrontSyncState {
  if (attempts.inFlight) return "in-flight";
  const catalogue = lineItems.filter((line) => !isCustom(line));
  const someSynced = catalogue.some((line) => line.quantitySynced > 0);
  if (!catalogue.some(needsSync)) return someSynced ? "synced" : "never-synced";
  if (someSynced) return "partial";
  return attempts.failed ? "failed" : "never-synced";
}

/** Result of an attempt to push an order's stock. */
export interface PushReport {
  /** Items that the storefront has taken since the last report. */
  readonly landed: readonly PushItem[];
  /** True if the storefront shows all of them already. Default false. */
  readonly shown?: boolean;
  /** Failure in words; null when nothing failed. */
  readonly problem: string | null;
  /** True if a push of the order, this one or another, has no known outcome yet. */
  readonly inFlight: boolean;
}

/**
 * Records the outcome of a push: what landed is synced, and the log says so. A report without anything new changes
 * nothing.
 *
 * Source: C40; P5.
 */
export function pushRecorded(order: PurchaseOrder, report: PushReport, nowMs: number): Decision {
  const synced = new Map<string, number>();
  for (const line of report.landed.flatMap((item) => item.lines))
    synced.set(line.poLineItemId, (synced.get(line.poLineItemId) ?? 0) + line.delta);
  const changes: FieldChange[] = [];
  const lineItems = order.lineItems.map((line) => {
    const delta = synced.get(line.poLineItemId) ?? 0;
    if (delta === 0) return line;
    const quantitySynced = asQuantity(line.quantitySynced + delta);
    changes.push({
      field: "quantitySynced",
      poLineItemId: line.poLineItemId,
      before: quantityToNumber(line.quantitySynced),
      after: quantityToNumber(quantitySynced),
    });
    return { ...line, quantitySynced, updatedAtMs: nowMs };
  });
  const state = storefrontSyncState(lineItems, { inFlight: report.inFlight, failed: report.problem !== null });
  const sentences = [
    ...(changes.length === 0
      ? []
      : [`The storefront took the stock of ${changes.length} ${changes.length === 1 ? "line" : "lines"}.`]),
    ...(report.problem === null ? [] : [`Stock was not pushed to the storefront: ${report.problem}`]),
  ];
  if (sentences.length === 0 && state === order.storefrontSyncState) return unchanged(order);
  return {
    next: { ...order, lineItems, storefrontSyncState: state, version: order.version + 1, updatedAtMs: nowMs },
    log: sentences.length === 0 ? [] : [{ action: "storefront-sync", message: sentences.join(" "), changes }],
    receipts: [],
    effects: [],
    ...(report.problem !== null ? { sync: "failed" as const } : {}),
    ...(report.problem === null && changes.length > 0 && report.shown === true ? { sync: "verified" as const } : {}),
  };
}
