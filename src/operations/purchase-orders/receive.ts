import { z } from "zod";
import { decideReceive, decideUnreceive } from "../../core/receive.ts";
import { type LineItem, type PurchaseOrder, linesPerOrderMax } from "../../core/purchase-order.ts";
import { noRepeats, positiveQuantity, quantity, shortTextMax, text } from "../fields.ts";
import { operation } from "../operation.ts";
import { orderToChange } from "./access.ts";
import {
  type Rule,
  common,
  goodsAnswer,
  goodsContext,
  guardFaults,
  guarded,
  lineIdOf,
  movedGoods,
  named,
  path,
  refuseUnchecked,
  tag,
} from "./goods.ts";
import { noGuard, resolutions, untilLinesStay } from "./guard.ts";
import { lineItemId, purchaseOrderId } from "./json.ts";
import { refuseWhileInFlight } from "./stock-sync.ts";

// Receive and un-receive.

export const receiveGoods = operation({
  name: "purchase_order_receive",
  title: "Receive goods",
  summary: "Records new totals received, and pushes the stock to the storefront.",
  description:
    "Sets received quantities as new totals, so repeating changes nothing; rejected and cancelled totals may be given per line. The order becomes Received when nothing is pending, else Partially Received. Use it from In Progress on. To lower a total below what is synced to the storefront use purchase_order_unreceive. Afterwards complete the order with purchase_order_complete.",
  tag,
  scope: "write",
  route: { method: "POST", path: `${path}/receive` },
  success: 200,
  repeat: "safe",
  destructive: false,
  faults: [...common, ...guardFaults],
  input: z
    .strictObject({
      purchaseOrderId,
      lines: z
        .array(
          z.strictObject({
            lineItemId,
            quantityReceived: quantity.meta({ description: "New total received, not an amount to add." }),
            quantityRejected: quantity.optional().meta({ description: "New total rejected." }),
            quantityCancelled: quantity.optional().meta({ description: "New total cancelled." }),
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
        purchaseOrderId: "po_01k8x4m2q7v9c3n5t6w8y0z1a2",
        lines: [{ lineItemId: "pol_01k8x4m2q7v9c3n5t6w8y0z1b3", quantityReceived: 10, quantityRejected: 2 }],
        resolutions: [{ itemId: "pol_01k8x4m2q7v9c3n5t6w8y0z1b3", action: "skip" }],
      },
    }),
  output: goodsAnswer,
  async run(call, input) {
    const rule: Rule = (order, context) => decideReceive(order, input, context);
    const linesOf = (order: PurchaseOrder): readonly LineItem[] => named(order, input.lines);
    return untilLinesStay(async () => {
      const guardFacts = await guarded(call, input.purchaseOrderId, rule, linesOf, input.resolutions);
      return call.commit(async (tx) => {
        const order = await orderToChange(tx, call, input.purchaseOrderId);
        const decided = rule(order, goodsContext(call, guardFacts));
        refuseUnchecked(decided, guardFacts);
        return movedGoods(tx, call, order, decided);
      });
    });
  },
});

export const unreceiveGoods = operation({
  name: "purchase_order_unreceive",
  title: "Take received goods back",
  summary: "Subtracts amounts from what was received, and from the storefront's stock.",
  description:
    "Takes amounts back from received quantities. They are deltas: the same call again takes back again. Below what is synced, the storefront's stock is lowered by the difference. With nothing left received the order is In Progress. Not for a Completed order: reopen it first with purchase_order_status.",
  tag,
  scope: "write",
  route: { method: "POST", path: `${path}/unreceive` },
  success: 200,
  repeat: "adds-again",
  destructive: true,
  faults: [...common, "ON_HAND_SYNC_IN_FLIGHT"],
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
        purchaseOrderId: "po_01k8x4m2q7v9c3n5t6w8y0z1a2",
        lines: [{ lineItemId: "pol_01k8x4m2q7v9c3n5t6w8y0z1b3", quantity: 3 }],
        reason: "counted again",
      },
    }),
  output: goodsAnswer,
  run: (call, input) =>
    call.commit(async (tx) => {
      const order = await orderToChange(tx, call, input.purchaseOrderId);
      const context = goodsContext(call, noGuard);
      const decided = decideUnreceive(order, { lines: input.lines, reason: input.reason ?? null }, context);
      await refuseWhileInFlight(tx, call, order);
      return movedGoods(tx, call, order, decided);
    }),
});
