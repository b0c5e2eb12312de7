/**
 * What clients of a shop ask, as values: each deed can be sent as a request (`spell`), and the model (model.ts) says what becomes of it. Whoever makes load
 * chooses among them by what was seen of an order.
 */
import type { Reply } from "../../src/requests/envelope.ts";
import type { Random } from "./random.ts";

export const variantIds = ["red", "blue", "green"] as const;
export const locationId = "warehouse";
/** A list shows so many of the newest orders. */
export const listedMax = 50;

/** The catalogue of a shop whose clients ask these deeds, as records of an import. */
export const catalogueRecords = (onHand: number): readonly object[] => [
  { type: "location", locationId, name: "Warehouse" },
  { type: "supplier", supplierId: "mill", name: "The Mill", currencyCode: "EUR" },
  ...variantIds.map((variantId) => ({
    type: "variant",
    variantId,
    productId: `product of ${variantId}`,
    productName: `Shirt, ${variantId}`,
    unitCost: 1,
  })),
  { type: "supplierVariant", supplierId: "mill", variantId: "red", unitCost: 1, unitCostCurrencyCode: "EUR" },
  ...variantIds.map((variantId) => ({ type: "inventoryLevel", variantId, locationId, onHand })),
];

interface LineSeen {
  readonly poLineItemId: string;
  readonly variantId: string;
  readonly quantityOrdered: number;
  readonly quantityConfirmed: number;
  readonly quantityReceived: number;
  readonly quantityRejected: number;
  readonly quantityCancelled: number;
  readonly quantityPending: number;
  readonly quantitySynced: number;
}

/** An order as an answer shows it. */
export interface OrderSeen {
  readonly purchaseOrderId: string;
  readonly poNumber: string;
  readonly poName: string | null;
  readonly status: string;
  readonly previousStatus: string;
  readonly version: number;
  readonly storefrontSyncState: string;
  readonly grandTotal: number;
  readonly lineItems: readonly LineSeen[];
}

/** A decision about a write that was asked for (C80). */
export interface Decision {
  readonly op: "approve" | "reject" | "withdraw";
  readonly approvalRequestId: string;
}

/** What a request is about, for the judge. */
export type Deed =
  | Decision
  | {
      readonly op: "create";
      readonly located: boolean;
      readonly lines: readonly { readonly variantId: string; readonly ordered: number; readonly unitCost: number }[];
    }
  | { readonly op: "status"; readonly orderId: string; readonly to: string }
  | {
      readonly op: "confirm";
      readonly orderId: string;
      readonly totals: readonly (readonly [line: string, total: number])[] | "all";
    }
  | {
      readonly op: "receive";
      readonly orderId: string;
      readonly totals: readonly (readonly [line: string, total: number])[];
      readonly over: boolean;
    }
  | {
      readonly op: "unreceive";
      readonly orderId: string;
      readonly amounts: readonly (readonly [line: string, amount: number])[];
    }
  | { readonly op: "complete" | "quick-complete" | "reset" | "delete" | "read"; readonly orderId: string }
  | { readonly op: "sync"; readonly orderId: string; readonly waits: boolean }
  | { readonly op: "rename"; readonly orderId: string; readonly name: string }
  | {
      readonly op: "add-line";
      readonly orderId: string;
      readonly variantId: string | null;
      readonly ordered: number;
    }
  | { readonly op: "list" };

/** What is asked of an order that there is. */
export type OrderDeed = Extract<Deed, { readonly orderId: string }>;

/** What a client asks of an order. Quantities are shares of what the client has seen. */
type OrderAsk =
  /** Whatever brings the order nearer to its end. */
  | { readonly op: "forward"; readonly share: number }
  | { readonly op: "status"; readonly to: string }
  | { readonly op: "resume" }
  | { readonly op: "confirm"; readonly all: boolean; readonly line: number; readonly share: number }
  | { readonly op: "receive"; readonly line: number; readonly share: number; readonly over: boolean }
  | { readonly op: "unreceive"; readonly line: number; readonly share: number }
  | { readonly op: "complete" }
  | { readonly op: "quick-complete" }
  | { readonly op: "sync"; readonly waits: boolean }
  | { readonly op: "reset" }
  | { readonly op: "delete" }
  | { readonly op: "rename"; readonly name: string }
  | { readonly op: "add-line"; readonly variant: number; readonly ordered: number }
  | { readonly op: "read" };

export type Ask =
  | {
      readonly op: "create";
      readonly located: boolean;
      readonly lines: readonly { readonly variant: number; readonly ordered: number; readonly unitCost: number }[];
    }
  /** Of the orders that were seen, or of what the writes that wait are about, the newest first. */
  | ({ readonly order: number | { readonly ofWaiting: number } } & OrderAsk)
  /** Of the writes that wait, the newest first. */
  | { readonly op: "decide"; readonly decision: Decision["op"]; readonly request: number }
  | { readonly op: "list" };

const statuses = ["Draft", "Sent", "Confirmed", "In Progress", "Partially Received", "Received", "Completed"] as const;

/** Most orders go forward; how often each of the other asks comes up. */
const asks: readonly (readonly [weight: number, make: (random: Random) => OrderAsk])[] = [
  [40, (random) => ({ op: "forward", share: random.pick([0.25, 0.5, 1, 1]) })],
  [6, (random) => ({ op: "status", to: random.pick(["Cancelled", "On Hold", "Disputed"]) })],
  [4, () => ({ op: "resume" })],
  [6, (random) => ({ op: "status", to: random.pick(statuses) })],
  [
    6,
    (random) => ({
      op: "confirm",
      all: random.chance(0.3),
      line: random.int(0, 2),
      share: random.pick([0, 0.5, 1, 1.1]),
    }),
  ],
  [
    14,
    (random) => ({
      op: "receive",
      line: random.int(0, 2),
      share: random.pick([0.2, 0.5, 0.8, 1, 1.2]),
      over: random.chance(0.2),
    }),
  ],
  [10, (random) => ({ op: "unreceive", line: random.int(0, 2), share: random.pick([0.1, 0.5, 1, 2]) })],
  [4, () => ({ op: "complete" })],
  [4, () => ({ op: "quick-complete" })],
  [6, (random) => ({ op: "sync", waits: random.chance(0.6) })],
  [3, () => ({ op: "reset" })],
  [3, () => ({ op: "delete" })],
  [4, (random) => ({ op: "rename", name: `name ${random.int(1, 9)}` })],
  [4, (random) => ({ op: "add-line", variant: random.int(0, 3), ordered: random.int(1, 8) })],
  [14, () => ({ op: "read" })],
];

const weightOfAll = asks.reduce((sum, [weight]) => sum + weight, 0);

/** Any ask of an order. */
export function orderAsk(random: Random): OrderAsk {
  let left = random.next() * weightOfAll;
  for (const [weight, make] of asks) {
    left -= weight;
    if (left < 0) return make(random);
  }
  return { op: "read" };
}

/** A write that waits for a decision, or was decided, as an answer shows it. */
interface RequestSeen {
  readonly approvalRequestId: string;
  readonly status: string;
  readonly preview: {
    readonly purchaseOrder?: OrderSeen;
    readonly status?: { readonly before: string; readonly after: string };
  };
  readonly refusal?: { readonly code: string; readonly reason: string | null };
}

/** The body of an answer, as far as clients look at it. */
interface AnswerBody {
  readonly data?: {
    readonly purchaseOrder?: OrderSeen;
    readonly purchaseOrders?: readonly Omit<OrderSeen, "lineItems">[];
    readonly totalCount?: number;
    readonly confirmation?: { readonly status: string };
    readonly approvalRequest?: RequestSeen;
    readonly sideEffects?: { readonly storefrontSync?: { readonly status: string } };
  };
  readonly error?: {
    readonly code: string;
    readonly message: string;
    readonly reason?: string;
    readonly retryable: boolean;
    readonly retryAfterMs?: number;
  };
}

const parsed = new WeakMap<Reply, AnswerBody>();

export function answerOf(reply: Reply): AnswerBody {
  const known = parsed.get(reply) ?? (JSON.parse(reply.body) as AnswerBody);
  parsed.set(reply, known);
  return known;
}

const thousandths = (units: number): number => Math.round(units * 1_000) / 1_000;

export const variantAt = (index: number): string => variantIds[index % variantIds.length] ?? variantIds[0];

export const isDecision = (deed: Deed): deed is Decision => "approvalRequestId" in deed;

/** What one of these costs that is added to an order, or that is no variant of the catalogue. */
export const addedUnitCost = { variant: 3, custom: 1 } as const;

/** Another write than this one, as a client would send it that uses a key twice by mistake. Null: what only reads has no key. */
export function otherThan(deed: Deed): Deed | null {
  if (deed.op === "read" || deed.op === "list" || deed.op === "withdraw") return null;
  if (isDecision(deed)) return { ...deed, op: deed.op === "approve" ? "reject" : "approve" };
  if (deed.op === "create")
    return { ...deed, lines: deed.lines.map((line) => ({ ...line, ordered: line.ordered + 1 })) };
  if (deed.op === "rename") return { ...deed, name: `${deed.name} or not` };
  return { op: "rename", orderId: deed.orderId, name: "under a key of something else" };
}

/** Repeating it changes nothing more (spec "Repeat safety without a key"). */
export const isSafe = ({ op }: Deed): boolean =>
  ["confirm", "receive", "rename", "sync", "reset", "read", "list"].includes(op);

/** A new order of up to so many lines. */
export const newOrder = (random: Random, linesMax: number): Extract<Deed, { readonly op: "create" }> => ({
  op: "create",
  located: true,
  lines: Array.from({ length: random.int(1, linesMax) }, () => ({
    variantId: random.pick(variantIds),
    ordered: random.pick([1, 2, 2.5, 5, 9]),
    unitCost: random.pick([1, 2.5, 19.99]),
  })),
});

/** What is asked of an order that looks like this. Null: nothing can be. */
export function deedOn(order: OrderSeen, ask: OrderAsk): Deed | null {
  const { purchaseOrderId: orderId, lineItems } = order;
  const lineAt = (index: number): LineSeen | undefined => lineItems[index % Math.max(1, lineItems.length)];
  switch (ask.op) {
    case "forward":
      return forward(order, ask.share);
    case "status":
      return { op: "status", orderId, to: ask.to };
    case "resume":
      return { op: "status", orderId, to: order.previousStatus };
    case "confirm": {
      const line = lineAt(ask.line);
      if (ask.all || line === undefined) return { op: "confirm", orderId, totals: "all" };
      return {
        op: "confirm",
        orderId,
        totals: [[line.poLineItemId, thousandths(line.quantityOrdered * ask.share)]],
      };
    }
    case "receive": {
      const line = lineAt(ask.line);
      if (line === undefined) return null;
      const totals = [[line.poLineItemId, thousandths(line.quantityOrdered * ask.share)]] as const;
      return { op: "receive", orderId, totals, over: ask.over };
    }
    case "unreceive": {
      const line = lineAt(ask.line);
      if (line === undefined) return null;
      const amount = thousandths(Math.max(line.quantityReceived, 1) * ask.share);
      return { op: "unreceive", orderId, amounts: [[line.poLineItemId, Math.max(amount, 0.001)]] };
    }
    case "sync":
      return { op: "sync", orderId, waits: ask.waits };
    case "rename":
      return { op: "rename", orderId, name: ask.name };
    case "add-line": {
      const variantId = ask.variant >= variantIds.length ? null : variantAt(ask.variant);
      return { op: "add-line", orderId, variantId, ordered: ask.ordered };
    }
    case "complete":
    case "quick-complete":
    case "reset":
    case "delete":
    case "read":
      return { op: ask.op, orderId };
  }
}

function forward(order: OrderSeen, share: number): Deed {
  const { purchaseOrderId: orderId, lineItems } = order;
  switch (order.status) {
    case "Draft":
      return { op: "status", orderId, to: "Sent" };
    case "Sent":
    case "Partially Confirmed":
      return share < 1 && lineItems[0] !== undefined
        ? {
            op: "confirm",
            orderId,
            totals: lineItems.map((line) => [line.poLineItemId, line.quantityOrdered] as const),
          }
        : { op: "confirm", orderId, totals: "all" };
    case "Confirmed":
      return { op: "status", orderId, to: "In Progress" };
    case "In Progress":
    case "Partially Received":
      return {
        op: "receive",
        orderId,
        over: false,
        totals: lineItems.map((line) => {
          const total = line.quantityReceived + line.quantityPending * share;
          return [line.poLineItemId, thousandths(total)] as const;
        }),
      };
    case "Received":
      return { op: "complete", orderId };
    case "Completed":
      return { op: "status", orderId, to: "Received" };
    default:
      return { op: "status", orderId, to: order.previousStatus };
  }
}

interface Spelled {
  readonly method: string;
  readonly path: string;
  /** Below `/admin/v1/shops/{shopId}`. */
  readonly isAdmin?: true;
  readonly search?: string;
  readonly body?: unknown;
}

/** The request that asks it, below `/api/v1` if nothing else is said. */
export function spell(deed: Deed): Spelled {
  const on = (below: string, body: unknown = {}): Spelled => ({
    method: "POST",
    path: `/purchase-orders/${"orderId" in deed ? deed.orderId : ""}${below}`,
    body,
  });
  switch (deed.op) {
    case "create":
      return {
        method: "POST",
        path: "/purchase-orders",
        body: {
          supplierId: "mill",
          ...(deed.located ? { locationId } : {}),
          lineItems: deed.lines.map(({ variantId, ordered, unitCost }) => ({
            variantId,
            quantityOrdered: ordered,
            unitCost,
          })),
        },
      };
    case "status":
      return on("/status", { status: deed.to });
    case "confirm":
      return on(
        "/confirm",
        deed.totals === "all"
          ? { confirmAll: true }
          : { lines: deed.totals.map(([lineItemId, quantityConfirmed]) => ({ lineItemId, quantityConfirmed })) },
      );
    case "receive":
      return on("/receive", {
        lines: deed.totals.map(([lineItemId, quantityReceived]) => ({ lineItemId, quantityReceived })),
        ...(deed.over ? { allowOverReceipt: true } : {}),
      });
    case "unreceive":
      return on("/unreceive", { lines: deed.amounts.map(([lineItemId, quantity]) => ({ lineItemId, quantity })) });
    case "complete":
      return on("/complete");
    case "quick-complete":
      return on("/quick-complete");
    case "sync":
      return on("/storefront-sync", deed.waits ? {} : { awaitConfirmation: false });
    case "reset":
      return on("/storefront-sync/reset");
    case "delete":
      return { method: "DELETE", path: `/purchase-orders/${deed.orderId}` };
    case "rename":
      return { method: "PATCH", path: `/purchase-orders/${deed.orderId}`, body: { poName: deed.name } };
    case "add-line":
      return deed.variantId === null
        ? on("/line-items/custom", {
            productName: "Pallet",
            quantityOrdered: deed.ordered,
            unitCost: addedUnitCost.custom,
          })
        : on("/line-items", {
            lineItems: [{ variantId: deed.variantId, quantityOrdered: deed.ordered, unitCost: addedUnitCost.variant }],
          });
    case "approve":
    case "reject":
    case "withdraw":
      return {
        method: "POST",
        path: `/approval-requests/${deed.approvalRequestId}/${deed.op}`,
        isAdmin: true,
        body: {},
      };
    case "read":
      return { method: "GET", path: `/purchase-orders/${deed.orderId}` };
    case "list":
      return { method: "GET", path: "/purchase-orders", search: `limit=${listedMax}` };
  }
}
