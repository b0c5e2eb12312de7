/**
 * Events: entries of the activity log as others are told of them (C56, C57).
 *
 * Owns: which type a change has, what an event says of it, its bounds. Does not own: the sequence and the row
 * (shop/events/events.ts), who is told (webhooks).
 *
 * An event has ids and what this change did to quantities; it has no prices, no addresses and no supplier data (C36).
 * One change is one event. A change that has no entry in the log has none.
 */
import { dayMs } from "../../base/time/calendar.ts";
import { pendingQuantity } from "../order/lines.ts";
import { type Quantity, quantityToNumber, subtractQuantity, zeroQuantity } from "../money/money.ts";
import type { Decision, LineItem, OrderWithLines, PurchaseOrder, Status } from "../order/purchase-order.ts";
import type { ReminderCause } from "../supplier/reminders.ts";
import { isHeld, statusesOnTheWay } from "../order/status.ts";

/** Every type of event. */
export const eventTypes = [
  "purchase_order.created",
  "purchase_order.updated",
  "purchase_order.lines_changed",
  "purchase_order.sent",
  "purchase_order.partially_confirmed",
  "purchase_order.confirmed",
  "purchase_order.in_progress",
  "purchase_order.partially_received",
  "purchase_order.received",
  "purchase_order.unreceived",
  "purchase_order.completed",
  "purchase_order.reopened",
  "purchase_order.cancelled",
  "purchase_order.on_hold",
  "purchase_order.disputed",
  "purchase_order.resumed",
  "purchase_order.moved_back",
  "purchase_order.deleted",
  "purchase_order.proposed",
  "purchase_order.overdue",
  "purchase_order.unconfirmed",
  "storefront_sync.failed",
  "storefront_sync.verified",
  "cost_sync.failed",
  "api_key.created",
  "api_key.revoked",
  "webhook_endpoint.disabled",
  "approval.requested",
  "approval.decided",
  "import.completed",
  "shop.restored",
  "test.ping",
] as const;
/** Type of an event. */
export type EventType = (typeof eventTypes)[number];

/** Bytes of an event as it is delivered, at most (C56). */
export const eventBytesMax = 20_480;

/** Lines that an event names, at most (C56). */
export const eventLinesMax = 100;

/** Time for which an event is kept (C56). */
export const eventsKeptMs = 30 * dayMs;

/** A line as an event shows it. `quantityDelta`: what the change did to the quantity that its type is about. */
interface EventLine {
  readonly poLineItemId: string;
  readonly variantId: string;
  readonly sku: string | null;
  readonly quantityDelta: number;
  readonly quantityReceived: number;
  readonly quantityPending: number;
}

/**
 * Data of an event of a purchase order. `status.from` is null for a new order, `status.to` and `url` for a deleted one.
 */
interface OrderEventData {
  readonly purchaseOrderId: string;
  readonly poNumber: string;
  readonly supplierId: string | null;
  readonly locationId: string | null;
  readonly version: number;
  readonly status: { readonly from: Status | null; readonly to: Status | null };
  readonly lines: readonly EventLine[];
  readonly linesTruncated: boolean;
  readonly receiptId: string | null;
  readonly url: string | null;
}

/** An event as a rule describes it. The shop adds id, sequence, time, actor and request. */
export type EventDraft =
  | { readonly type: OrderEventType; readonly data: OrderEventData }
  | { readonly type: Exclude<EventType, OrderEventType>; readonly data: Readonly<Record<string, unknown>> };

/** The types that tell of an order. */
export type OrderEventType = Extract<EventType, `purchase_order.${string}` | `${string}_sync.${string}`>;

/** The quantity of a line that an event is about. */
type Measure = "quantityOrdered" | "quantityConfirmed" | "quantityReceived" | "quantitySynced";

/** Orders before and after a change; null: there is none. */
interface Change {
  readonly before: OrderWithLines | null;
  readonly next: OrderWithLines;
}

/**
 * The event of a decision: what its entry in the log tells. Null: it has none, as with every decision that changes
 * nothing.
 *
 * @param receiptId of the goods that it records.
 * Source: C56, C57, C61a.
 */
export function eventOf(
  before: PurchaseOrder | null,
  { next, log, sync }: Pick<Decision, "next" | "log" | "sync">,
  receiptId: string | null,
): EventDraft | null {
  const action = log.at(-1)?.action;
  if (next === before || action === undefined) return null;
  const change = { before, next };
  if (action === "storefront-sync") return sync === undefined ? null : syncEvent(change, sync);
  const type = typeOf(action, before?.status ?? null, next.status);
  const measure = measures[action];
  return {
    type,
    data: { ...orderData(change, measure === undefined ? [] : changedLines(change, measure)), receiptId },
  };
}

/** By the log's machine word, the quantity that the change is about; without one no line changes. */
const measures: Readonly<Record<string, Measure>> = {
  create: "quantityOrdered",
  "add-lines": "quantityOrdered",
  "edit-lines": "quantityOrdered",
  "delete-lines": "quantityOrdered",
  confirm: "quantityConfirmed",
  receive: "quantityReceived",
  unreceive: "quantityReceived",
  "quick-complete": "quantityReceived",
};

/** The type of a change by the log's machine word. @throws Error for a word that has none: a mistake in the program. */
function typeOf(action: string, from: Status | null, to: Status): OrderEventType {
  switch (action) {
    case "create":
      return "purchase_order.created";
    case "edit":
    case "storefront-sync-reset":
      return "purchase_order.updated";
    case "add-lines":
    case "edit-lines":
    case "delete-lines":
      return "purchase_order.lines_changed";
    case "confirm":
      return confirmType(from, to);
    case "receive":
      return to === "Received" ? "purchase_order.received" : "purchase_order.partially_received";
    case "unreceive":
      return "purchase_order.unreceived";
    case "complete":
      return "purchase_order.completed";
    case "quick-complete":
      return to === "Completed" ? "purchase_order.completed" : "purchase_order.received";
    case "status":
      return moveType(from, to);
    default:
      throw new Error(`the log's action ${action} has no type of event`);
  }
}

/**
 * Returns the type of the event of a confirmation: the supplier's quantities decide it, whether or not the order moved.
 * Nothing confirmed any more is a move back.
 */
function confirmType(from: Status | null, to: Status): OrderEventType {
  if (to === "Partially Confirmed") return "purchase_order.partially_confirmed";
  if (to === "Confirmed") return "purchase_order.confirmed";
  return from === to ? "purchase_order.lines_changed" : moveType(from, to);
}

/**
 * The move to each status from one before it. No order is moved to Draft, Partially Confirmed, Partially Received or
 * Received.
 */
const moveTypes: Readonly<Record<Status, OrderEventType>> = {
  Draft: "purchase_order.moved_back",
  Sent: "purchase_order.sent",
  "Partially Confirmed": "purchase_order.partially_confirmed",
  Confirmed: "purchase_order.confirmed",
  "In Progress": "purchase_order.in_progress",
  "Partially Received": "purchase_order.partially_received",
  Received: "purchase_order.received",
  Completed: "purchase_order.completed",
  Cancelled: "purchase_order.cancelled",
  "On Hold": "purchase_order.on_hold",
  Disputed: "purchase_order.disputed",
};

function moveType(from: Status | null, to: Status): OrderEventType {
  if (from === null || isHeld({ status: to })) return moveTypes[to];
  if (isHeld({ status: from })) return "purchase_order.resumed";
  if (from === "Completed") return "purchase_order.reopened";
  return statusesOnTheWay.indexOf(to) < statusesOnTheWay.indexOf(from) ? "purchase_order.moved_back" : moveTypes[to];
}

/** A push that went through, or did not: of the lines that the storefront took, or that it still lacks. */
const syncEvent = (change: Change, outcome: "verified" | "failed"): EventDraft => ({
  type: `storefront_sync.${outcome}`,
  data: orderData(
    change,
    outcome === "verified"
      ? changedLines(change, "quantitySynced")
      : change.next.lineItems
          .filter((line) => line.quantityReceived !== line.quantitySynced)
          .map((line) => eventLine(line, zeroQuantity)),
  ),
});

/** An event about lines of an order that stays as it is. */
export function lineEvent(
  type:
    | "purchase_order.updated"
    | "storefront_sync.verified"
    | "cost_sync.failed"
    | "purchase_order.proposed"
    | `purchase_order.${ReminderCause}`,
  order: OrderWithLines,
  poLineItemIds: ReadonlySet<string>,
): EventDraft {
  const lines = order.lineItems.filter((line) => poLineItemIds.has(line.poLineItemId));
  return {
    type,
    data: orderData(
      { before: order, next: order },
      lines.map((line) => eventLine(line, zeroQuantity)),
    ),
  };
}

/** The event of an order that is deleted or hidden: its ids, since it cannot be read any more. */
export function deletedEvent(order: PurchaseOrder): EventDraft {
  const lines = order.lineItems.map((line) => goneLine(line, line.quantityOrdered));
  return {
    type: "purchase_order.deleted",
    data: {
      ...orderData({ before: order, next: order }, lines),
      version: order.version + 1,
      status: { from: order.status, to: null },
      url: null,
    },
  };
}

function orderData({ before, next }: Change, lines: readonly EventLine[]): OrderEventData {
  const { purchaseOrderId, poNumber, supplierId, locationId, version, status } = next;
  return {
    purchaseOrderId,
    poNumber,
    supplierId,
    locationId,
    version,
    status: { from: before?.status ?? null, to: status },
    lines: lines.slice(0, eventLinesMax),
    linesTruncated: lines.length > eventLinesMax,
    receiptId: null,
    url: `/api/v1/purchase-orders/${encodeURIComponent(purchaseOrderId)}`,
  };
}

/** Lines that were added, changed or deleted, in the order of the order; deleted ones last. */
function changedLines({ before, next }: Change, measure: Measure): readonly EventLine[] {
  const stored = new Map((before?.lineItems ?? []).map((line) => [line.poLineItemId, line]));
  const changed: EventLine[] = [];
  for (const line of next.lineItems) {
    const old = stored.get(line.poLineItemId);
    stored.delete(line.poLineItemId);
    if (old !== line) changed.push(eventLine(line, subtractQuantity(line[measure], old?.[measure] ?? zeroQuantity)));
  }
  for (const line of stored.values()) changed.push(goneLine(line, line[measure]));
  return changed;
}

const eventLine = (line: LineItem, delta: Quantity): EventLine => ({
  poLineItemId: line.poLineItemId,
  variantId: line.variantId,
  sku: line.sku,
  quantityDelta: quantityToNumber(delta),
  quantityReceived: quantityToNumber(line.quantityReceived),
  quantityPending: quantityToNumber(pendingQuantity(line)),
});

/** A line that is no longer there, of which nothing is expected any more. */
const goneLine = (line: LineItem, quantity: Quantity): EventLine => ({
  ...eventLine(line, subtractQuantity(zeroQuantity, quantity)),
  quantityPending: 0,
});

// The text.

/** Who made the change, as the log has it. */
interface EventActor {
  readonly type: string;
  readonly id: string | null;
  readonly name: string | null;
  /** The API key by which a person has signed in. */
  readonly keyId?: string | null;
}

/** An event before it has its sequence. */
export interface EventHead {
  readonly eventId: string;
  readonly type: EventType;
  readonly occurredAtMs: number;
}

/** Bytes of an event's text beside what `eventContent` makes, at most. */
const headBytesMax = 256;

const encoder = new TextEncoder();

const bytesOf = (text: string): number => encoder.encode(text).length;

/**
 * Returns an event's members beside its head, as JSON. Lines are left out until the whole event has at most
 * `eventBytesMax` bytes.
 */
export function eventContent(
  {
    shopId,
    actor,
    requestId,
  }: { readonly shopId: string; readonly actor: EventActor; readonly requestId: string | null },
  { data }: EventDraft,
): string {
  const { type, id, name, keyId } = actor;
  // Undefined members are no members of JSON.
  const shownActor = { type, id, name, keyId: keyId ?? undefined };
  const text = (shown: EventDraft["data"]): string =>
    JSON.stringify({ shopId, actor: shownActor, requestId, data: shown });
  const whole = text(data);
  const bytesMax = eventBytesMax - headBytesMax;
  // Two bytes of UTF-16 are at most three of UTF-8.
  if (whole.length * 3 <= bytesMax || !hasLines(data)) return whole;
  let bytes = bytesOf(whole);
  let count = data.lines.length;
  while (bytes > bytesMax && count > 0) {
    count -= 1;
    bytes -= bytesOf(JSON.stringify(data.lines[count])) + 1;
  }
  return count === data.lines.length
    ? whole
    : text({ ...data, lines: data.lines.slice(0, count), linesTruncated: true });
}

const hasLines = (data: EventDraft["data"]): data is OrderEventData => "linesTruncated" in data;

/** The event as it is delivered and read: one line of JSON. @param content as `eventContent` has made it. */
export const eventText = ({ eventId, type, occurredAtMs }: EventHead, sequence: number, content: string): string =>
  `${JSON.stringify({ eventId, sequence, type, timestamp: new Date(occurredAtMs).toISOString() }).slice(0, -1)},${content.slice(1)}`;

// Which events are wanted.

/** Patterns that a list of types may have: a type, all of a group, or all. */
export const eventTypePatterns: readonly string[] = [
  ...eventTypes,
  ...new Set(eventTypes.map((type) => `${groupOf(type)}.*`)),
  "*",
];

/** `purchase_order` of `purchase_order.sent`. */
function groupOf(type: EventType): string {
  return type.slice(0, type.indexOf("."));
}

/** The patterns that name a type. */
export const patternsOf = (type: EventType): readonly [string, string, string] => [type, `${groupOf(type)}.*`, "*"];

/** The types that these patterns name. */
export const typesNamed = (patterns: readonly string[]): readonly EventType[] =>
  eventTypes.filter((type) => patternsOf(type).some((pattern) => patterns.includes(pattern)));
