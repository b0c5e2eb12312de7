/**
 * The webhooks of the OpenAPI document: an entry for each type of event, as a receiver gets it (C56, C57, C60).
 */
import { actorTypes } from "../../core/access/actor.ts";
import { eventLinesMax, eventTypes, type EventType, type OrderEventType } from "../../core/events/events.ts";
import type { Json, JsonObject } from "../../base/json.ts";
import { statuses } from "../../core/order/purchase-order.ts";
import { json, schemaReference } from "./components.ts";

/** When each is sent. */
const meanings: Readonly<Record<EventType, string>> = {
  "purchase_order.created": "An order was created.",
  "purchase_order.updated": "Header fields of an order changed, it got a comment, or its storefront sync was reset.",
  "purchase_order.lines_changed": "Lines of an order were added, edited or deleted.",
  "purchase_order.sent": "An order was sent to its supplier.",
  "purchase_order.partially_confirmed": "The supplier confirmed some lines of an order.",
  "purchase_order.confirmed": "The supplier confirmed every line of an order.",
  "purchase_order.in_progress": "Work on an order began.",
  "purchase_order.partially_received": "Goods of an order were received; more is expected.",
  "purchase_order.received":
    "Goods of an order were received; nothing more is expected, or /quick-complete received them.",
  "purchase_order.unreceived": "Received goods of an order were taken back.",
  "purchase_order.completed": "An order was completed.",
  "purchase_order.reopened": "A completed order was reopened.",
  "purchase_order.cancelled": "An order was cancelled.",
  "purchase_order.on_hold": "An order was put on hold.",
  "purchase_order.disputed": "An order is disputed.",
  "purchase_order.resumed": "An order returned from Cancelled, On Hold or Disputed.",
  "purchase_order.moved_back": "An order was moved back to an earlier status.",
  "purchase_order.proposed": "The supplier has answered an order by a link; somebody may accept it.",
  "purchase_order.overdue":
    "Goods of an order were expected before today, the shop's day, and are still to come. Told once for each expected date; lines are those that are late.",
  "purchase_order.unconfirmed":
    "An order was sent more days ago than the shop's setting unconfirmedDays, and its supplier has not confirmed. Told once each time it is sent.",
  "purchase_order.deleted": "An order was deleted or hidden; it can no longer be read.",
  "storefront_sync.failed": "Stock of an order could not be pushed to the storefront.",
  "storefront_sync.verified": "The storefront shows the stock that was pushed to it.",
  "cost_sync.failed": "The storefront did not take unit costs of an order.",
  "api_key.created": "An API key was created.",
  "api_key.revoked": "An API key was revoked.",
  "webhook_endpoint.disabled": "A webhook endpoint was disabled: it is gone, or failed for five days.",
  "approval.requested": "A write waits for somebody's decision.",
  "approval.decided":
    "An approval request was approved, rejected or withdrawn; or it was approved and not carried out (overtaken, failed).",
  "import.completed": "A file of records was imported.",
  "shop.restored": "The shop was restored from a backup: later changes are undone, so read again what you keep.",
  "test.ping": "A test that the shop's owner asked for.",
};

const text: Json = { type: "string" };

const textOrNull: Json = { type: ["string", "null"] };

const statusOrNull: Json = { type: ["string", "null"], enum: [...statuses, null] };

const objectOf = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: "object",
  additionalProperties: false,
  required: Object.keys(properties),
  properties,
  ...more,
});

const actor: JsonObject = {
  type: { type: "string", enum: [...actorTypes] },
  id: textOrNull,
  name: textOrNull,
};

const line = objectOf({
  poLineItemId: text,
  variantId: text,
  sku: textOrNull,
  quantityDelta: {
    type: "number",
    "x-go-type": "float64",
    description: "What the change did to the quantity that the type is about: ordered, confirmed, received or pushed.",
  },
  quantityReceived: { type: "number", "x-go-type": "float64" },
  quantityPending: { type: "number", "x-go-type": "float64" },
});

const orderData = objectOf({
  purchaseOrderId: text,
  poNumber: text,
  supplierId: textOrNull,
  locationId: textOrNull,
  version: { type: "integer", format: "int32", description: "Of the order after the change." },
  status: objectOf(
    { from: statusOrNull, to: statusOrNull },
    { description: "Equal without a move. from is null for a new order, to for a deleted one." },
  ),
  lines: { type: "array", maxItems: eventLinesMax, items: line, description: "Lines that the change touched." },
  linesTruncated: { type: "boolean", description: "Lines were left out." },
  receiptId: textOrNullWith("The receipt of goods that the change recorded."),
  url: textOrNullWith("Where the order can be read; null when it was deleted."),
});

function textOrNullWith(description: string): JsonObject {
  return { type: ["string", "null"], description };
}

const eventOf = (data: JsonObject, description: string): JsonObject =>
  objectOf(
    {
      eventId: { type: "string", description: "The same on every delivery, also as webhook-id: count an event once." },
      sequence: {
        type: "integer",
        format: "int64",
        minimum: 1,
        description: "Orders all events of a shop, without gaps.",
      },
      type: { type: "string", enum: [...eventTypes] },
      timestamp: { type: "string", format: "date-time", description: "When the change was made." },
      shopId: text,
      actor: objectOf(actor, {
        properties: {
          ...actor,
          keyId: { ...text, description: "The API key by which the person had signed in; absent for everybody else." },
        },
      }),
      requestId: textOrNullWith("The request that made the change; null for follow-on work."),
      data,
    },
    { description },
  );

/** The schemas of events, for the document's components. */
export const eventSchemas: JsonObject = {
  OrderEvent: eventOf(orderData, "What a change did to an order."),
  ShopEvent: eventOf(
    { type: "object", additionalProperties: true, description: "Ids and what happened." },
    "What happened to a shop.",
  ),
};

const isOrderEvent = (type: EventType): type is OrderEventType => /^(?:purchase_order|\w+_sync)\./.test(type);

const header = (name: string, description: string): Json => ({
  name,
  in: "header",
  required: true,
  description,
  schema: { type: "string", maxLength: 1_000 },
});

const parameters: readonly Json[] = [
  header("webhook-id", "The event's id."),
  header("webhook-timestamp", "When this attempt was made, in seconds since 1970."),
  header(
    "webhook-signature",
    "Signatures of `<webhook-id>.<webhook-timestamp>.<body>`, separated by spaces: `v1,…` or `v1a,…`.",
  ),
];

const exampleOf = (type: EventType): Json => ({
  eventId: "evt_01k8x4m2q7v9c3n5t6w8y0z1e1",
  sequence: 18_233,
  type,
  timestamp: "2026-11-21T10:00:00.123Z",
  shopId: "tideline",
  actor: { type: "agent", id: "key_01k8x4m2q7v9c3n5t6w8y0z1k1", name: "reorder bot" },
  requestId: "req_01k8x4m2q7v9c3n5t6w8y0z1q1",
  data: isOrderEvent(type)
    ? {
        purchaseOrderId: "po_demo_13",
        poNumber: "PO-1042",
        supplierId: "sup_roastery",
        locationId: "loc_warehouse",
        version: 7,
        status: { from: "In Progress", to: "Partially Received" },
        lines: [
          {
            poLineItemId: "pol_demo_13_1",
            variantId: "var_011",
            sku: "ESP-1",
            quantityDelta: 6,
            quantityReceived: 18,
            quantityPending: 6,
          },
        ],
        linesTruncated: false,
        receiptId: "rcpt_demo_02_1",
        url: "/api/v1/purchase-orders/po_demo_13",
      }
    : { endpointId: "we_01k8x4m2q7v9c3n5t6w8y0z1w1" },
});

const entryOf = (type: EventType): Json => ({
  post: {
    operationId: `on_${type.replace(".", "_")}`,
    tags: ["Webhooks"],
    summary: meanings[type],
    description:
      "Sent at least once, in any order, to the shop's webhook endpoints that want it (Standard Webhooks 1.0).",
    security: [],
    parameters,
    requestBody: {
      required: true,
      content: json(schemaReference(isOrderEvent(type) ? "OrderEvent" : "ShopEvent"), { example: exampleOf(type) }),
    },
    responses: {
      "204": { description: "Any 2xx: the event has arrived." },
      "410": { description: "The endpoint is gone, and is sent nothing more." },
      default: { description: "Anything else: it is sent again." },
    },
  },
});

/** Every type of event as a webhook. */
export const webhookEntries: JsonObject = Object.fromEntries(eventTypes.map((type) => [type, entryOf(type)]));
