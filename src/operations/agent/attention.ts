/** The orders that somebody has to look after: a tool without a path on REST (C68). */
import { z } from "zod";
import {
  type Attention,
  type AttentionReason,
  attentionReasons,
  attentionTo,
  isDue,
  unconfirmedDaysDefault,
  unconfirmedDaysMax,
} from "../../core/order/advice/attention.ts";
import { type Day, dayIn } from "../../base/time/calendar.ts";
import { type CursorScope, decodeCursor, encodeCursor } from "../../base/cursor.ts";
import { moneyToNumber, quantityToNumber } from "../../core/money/money.ts";
import { statuses } from "../../core/order/purchase-order.ts";
import { type AttentionOrder, attentionOrders } from "../../shop/order/advice/attention.ts";
import { presentSupplierId } from "../../shop/catalogue/supplier-merges.ts";
import { hasMoreRows } from "../../shop/size.ts";
import { cursor, dateSchema, id, limit, pageShape } from "../fields.ts";
import { operation } from "../../requests/operation.ts";
import { readTool } from "./tool.ts";

/** With more orders in the shop, looking through those on their way could hold the event loop for too long. */
const ordersOnLoopMax = 1_000;

const orderSchema = z.strictObject({
  purchaseOrderId: z.string(),
  poNumber: z.string(),
  status: z.enum(statuses),
  supplierName: z.string().nullable(),
  reasons: z
    .array(z.strictObject({ reason: z.enum(attentionReasons), days: z.int() }))
    .meta({ description: "Most pressing first; days it has held." }),
  nextExpectedDate: dateSchema.nullable(),
  quantityOrdered: z.number(),
  quantityReceived: z.number(),
  quantityPending: z.number(),
  duePayments: z
    .array(z.strictObject({ amount: z.number(), currencyCode: z.string(), dueDate: dateSchema.nullable() }))
    .optional(),
  nextStep: z.strictObject({
    tool: z.string(),
    arguments: z.record(z.string(), z.union([z.string(), z.boolean()])),
    advice: z.string(),
  }),
});

interface Found {
  readonly order: AttentionOrder;
  readonly attention: Attention;
  /** Days of the reason that has held longest: the page's order. */
  readonly days: number;
}

function orderJson({ order, attention }: Found, today: Day): z.output<typeof orderSchema> {
  const due = order.payments.filter((payment) => isDue(payment, today));
  return {
    purchaseOrderId: order.purchaseOrderId,
    poNumber: order.poNumber,
    status: order.status,
    supplierName: order.supplierName,
    reasons: [...attention.reasons],
    nextExpectedDate: order.nextExpectedDate,
    quantityOrdered: quantityToNumber(order.quantityOrdered),
    quantityReceived: quantityToNumber(order.quantityReceived),
    quantityPending: quantityToNumber(order.quantityPending),
    ...(due.length === 0
      ? {}
      : {
          duePayments: due.map(({ amount, currencyCode, dueDate }) => ({
            amount: moneyToNumber(amount),
            currencyCode,
            dueDate,
          })),
        }),
    nextStep: { ...attention.nextStep, arguments: { ...attention.nextStep.arguments } },
  };
}

/** The reason that has held longest first, then by id. */
const byDays = (a: Position, b: Position): number =>
  b.days - a.days || (a.purchaseOrderId < b.purchaseOrderId ? -1 : a.purchaseOrderId > b.purchaseOrderId ? 1 : 0);

interface Position {
  readonly days: number;
  readonly purchaseOrderId: string;
}

const positionOf = ({ days, order }: Found): Position => ({ days, purchaseOrderId: order.purchaseOrderId });

function positionFrom(scope: CursorScope, encoded: string): Position {
  const [days, purchaseOrderId] = decodeCursor(scope, encoded, ["number", "string"]);
  return { days, purchaseOrderId };
}

const countsOf = (found: readonly Found[]): Record<AttentionReason, number> => {
  const counts = { disputed: 0, unsynced: 0, late: 0, unconfirmed: 0, received: 0, "payment-due": 0 };
  for (const { attention } of found) for (const { reason } of attention.reasons) counts[reason] += 1;
  return counts;
};

export const ordersNeedingAttention = operation({
  ...readTool,
  name: "orders_needing_attention",
  toolSets: ["purchasing", "receiving"],
  title: "Orders needing attention",
  summary: "Orders that are late, unconfirmed, disputed, unsynced, fully in but open, or have a payment due.",
  description:
    "Longest waiting first, with reasons, days, open quantities and the next tool to call. Orders On Hold: purchase_order_list.",
  faults: [],
  input: z
    .strictObject({
      unconfirmedDays: z
        .int()
        .min(0)
        .max(unconfirmedDaysMax)
        .optional()
        .meta({ description: "Unconfirmed means Sent for more than so many days. Default: the shop's setting." }),
      locationId: id.optional(),
      supplierId: id.optional(),
      limit,
      cursor,
    })
    .meta({ example: { limit: 20 } }),
  output: z.strictObject({
    orders: z.array(orderSchema),
    counts: z.record(z.enum(attentionReasons), z.int()).meta({ description: "Orders by reason." }),
    ...pageShape,
  }),
  async run(call, { limit: rows, cursor: encoded, ...filters }) {
    const { shopId, timezone } = call.shop;
    const scope = { list: call.operation, shopId, filters };
    const after = encoded === undefined ? null : positionFrom(scope, encoded);
    const nowMs = call.clock.now();
    const today = dayIn(timezone, nowMs);
    const { supplierId: sent = null, locationId = null } = filters;
    const unconfirmedDays = filters.unconfirmedDays ?? (call.shop.unconfirmedDays || unconfirmedDaysDefault);
    const orders = await call.read(async (tx) => {
      if (await hasMoreRows(tx, "purchase_order", shopId, ordersOnLoopMax)) call.leaveLoop();
      const supplierId = sent === null ? null : await presentSupplierId(tx, shopId, sent);
      return await attentionOrders(tx, shopId, { supplierId, locationId }, today);
    });
    const found = orders
      .flatMap((order): readonly Found[] => {
        const attention = attentionTo(order, { nowMs, today, unconfirmedDays });
        if (attention === null) return [];
        return [{ order, attention, days: Math.max(...attention.reasons.map(({ days }) => days)) }];
      })
      .toSorted((a, b) => byDays(positionOf(a), positionOf(b)));
    const rest = after === null ? found : found.filter((each) => byDays(positionOf(each), after) > 0);
    const shown = rest.slice(0, rows);
    const last = shown.at(-1);
    return {
      data: {
        orders: shown.map((each) => orderJson(each, today)),
        counts: countsOf(found),
        totalCount: found.length,
        cursor:
          rest.length > shown.length && last !== undefined
            ? encodeCursor(scope, [last.days, last.order.purchaseOrderId])
            : null,
      },
    };
  },
});
