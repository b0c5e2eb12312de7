/**
 * Receiving goods and taking them back (spec "Purchase orders: writes"; C25, C26).
 */
import { z } from "zod";
import { only } from "../../../core/order/guidance.ts";
import { linesPerOrderMax } from "../../../core/order/purchase-order.ts";
import { decideReceive, decideUnreceive } from "../../../core/goods/receive.ts";
import { noRepeats, positiveQuantity, quantity, shortTextMax, text } from "../../fields.ts";
import { operation } from "../../../requests/operation.ts";
import { contextWithPushes, faults, orderToChange, path, write } from "../access.ts";
import { goodsAnswer, goodsContext, guardedChange, lineIdOf, linesOf, lookAhead, savedPush } from "./goods.ts";
import { guardFaults, noGuard, resolutions } from "./guard.ts";
import { lineItemId, purchaseOrderId } from "../json.ts";
import { refuseWhileInFlight } from "./in-flight.ts";

export const receiveGoods = operation({
  ...write,
  name: "purchase_order_receive",
  toolSets: ["purchasing", "receiving"],
  receiving: true,
  title: "Receive goods",
  summary: "Records what came as new totals, and pushes the stock to the storefront.",
  description:
    "72 came and 2 of them are broken: quantityReceived 70, quantityRejected 2. The order becomes Received when nothing is pending, else Partially Received. From In Progress on. To lower a total below what is synced to the storefront use purchase_order_unreceive.",
  route: { method: "POST", path: `${path}/receive` },
  success: 200,
  repeat: "safe",
  destructive: false,
  faults: [...faults, ...guardFaults],
  input: z
    .strictObject({
      purchaseOrderId,
      lines: z
        .array(
          z.strictObject({
            lineItemId,
            quantityReceived: quantity.meta({ description: "New total received, not an amount to add." }),
            quantityRejected: quantity.optional().meta({ description: only("rest", "New total rejected.") }),
            quantityCancelled: quantity.optional().meta({ description: only("rest", "New total cancelled.") }),
          }),
        )
        .min(1)
        .max(linesPerOrderMax)
        .check(noRepeats(lineIdOf, "lineItemId")),
      allowOverReceipt: z.boolean().default(false).meta({
        description: "Lets received + rejected + cancelled exceed what was confirmed (ordered, if never confirmed).",
      }),
      resolutions: resolutions.optional(),
    })
    .meta({
      example: {
        purchaseOrderId: "po_demo_21",
        lines: [{ lineItemId: "pol_demo_21_1", quantityReceived: 46, quantityRejected: 2 }],
      },
    }),
  output: goodsAnswer,
  lookAhead,
  run: (call, input) =>
    guardedChange(call, input, {
      rule: (order, context) => decideReceive(order, input, context),
      linesOf: (order) => linesOf(order, input.lines),
      save: (tx, order, decided) => savedPush(tx, call, order, decided),
    }),
});

export const unreceiveGoods = operation({
  ...write,
  name: "purchase_order_unreceive",
  toolSets: ["purchasing", "receiving"],
  receiving: true,
  title: "Take received goods back",
  summary: "Subtracts amounts from what was received, and from the storefront's stock.",
  description:
    "They are deltas: the same call again takes back again. What is taken back is pending again, until it is received, or rejected or cancelled with purchase_order_line_item_update. With nothing left received the order is In Progress. A Completed order must be reopened first with purchase_order_status.",
  route: { method: "POST", path: `${path}/unreceive` },
  success: 200,
  repeat: "adds-again",
  destructive: true,
  pushesStock: true,
  faults: [...faults, "ON_HAND_SYNC_IN_FLIGHT"],
  input: z
    .strictObject({
      purchaseOrderId,
      lines: z
        .array(
          z
            .strictObject({
              // First, so that its message leads: it says what is wrong when quantity is missing, too.
              quantityReceived: z
                .never({ error: "amounts to take back are deltas; name them quantity" })
                .optional()
                .meta({ description: "Not here: amounts to take back are deltas named quantity." }),
              lineItemId,
              quantity: positiveQuantity.meta({ description: "The amount to take back." }),
            })
            .transform(({ lineItemId, quantity }) => ({ lineItemId, quantity })),
        )
        .min(1)
        .max(linesPerOrderMax)
        .check(noRepeats(lineIdOf, "lineItemId")),
      reason: text(shortTextMax).optional().meta({ description: "Why; kept in the log and the receipt." }),
    })
    .meta({
      example: {
        purchaseOrderId: "po_demo_17",
        lines: [{ lineItemId: "pol_demo_17_1", quantity: 12 }],
        reason: "One case went back to the supplier",
      },
    }),
  output: goodsAnswer,
  run: (call, input) =>
    call.commit(async (tx) => {
      const order = await orderToChange(tx, call, input.purchaseOrderId);
      const context = { ...goodsContext(call, noGuard), ...(await contextWithPushes(tx, call, order)) };
      const decided = decideUnreceive(order, { lines: input.lines, reason: input.reason ?? null }, context);
      await refuseWhileInFlight(tx, call, order);
      return savedPush(tx, call, order, decided);
    }),
});
