/**
 * Confirming what the supplier will send (spec "Purchase orders: writes"; C24).
 */
import { z } from "zod";
import { decideConfirm } from "../../../core/goods/confirm.ts";
import { isWhollyCancelled } from "../../../core/order/lines.ts";
import { linesPerOrderMax } from "../../../core/order/purchase-order.ts";
import { noRepeats, quantity } from "../../fields.ts";
import { operation } from "../../../requests/operation.ts";
import { faults, path, write } from "../access.ts";
import { goodsAnswer, guardedChange, lookAhead, lineIdOf, linesOf, savedGoods } from "./goods.ts";
import { guardFaults, resolutions } from "./guard.ts";
import { lineItemId, purchaseOrderId } from "../json.ts";

export const confirmQuantities = operation({
  ...write,
  name: "purchase_order_confirm",
  receiving: true,
  title: "Confirm quantities",
  summary: "Records what the supplier confirmed, as new totals.",
  description:
    "With lines the order becomes Confirmed once every line that is not wholly cancelled has a confirmed quantity, be it below what was ordered; Partially Confirmed while some have one; Sent while none has. confirmAll overwrites what was confirmed before and takes the order to In Progress, where goods can be received. From Sent, Partially Confirmed or Confirmed.",
  route: { method: "POST", path: `${path}/confirm` },
  success: 200,
  repeat: "safe",
  destructive: false,
  faults: [...faults, ...guardFaults],
  input: z
    .strictObject({
      purchaseOrderId,
      confirmAll: z.literal(true).optional().meta({
        description: "Instead of lines: every line to its ordered quantity.",
      }),
      lines: z
        .array(
          z.strictObject({
            lineItemId,
            quantityConfirmed: quantity.meta({
              description: "New total confirmed, at most what is ordered; 0 un-confirms.",
            }),
          }),
        )
        .min(1)
        .max(linesPerOrderMax)
        .check(noRepeats(lineIdOf, "lineItemId"))
        .optional(),
      resolutions: resolutions.optional(),
    })
    .check((context) => {
      if ((context.value.confirmAll === undefined) === (context.value.lines === undefined))
        context.issues.push({
          code: "custom",
          input: context.value,
          path: [context.value.lines === undefined ? "lines" : "confirmAll"],
          message: "send either lines or confirmAll: true, exactly one of them",
        });
    })
    .meta({
      example: {
        purchaseOrderId: "po_demo_20",
        lines: [
          { lineItemId: "pol_demo_20_1", quantityConfirmed: 96 },
          { lineItemId: "pol_demo_20_2", quantityConfirmed: 24 },
        ],
      },
      body: { alternatives: { ConfirmLines: ["lines"], ConfirmAll: ["confirmAll"] } },
    }),
  output: goodsAnswer,
  lookAhead,
  run(call, input) {
    const { lines } = input;
    return guardedChange(call, input, {
      rule: (order, context) => decideConfirm(order, lines === undefined ? { confirmAll: true } : { lines }, context),
      linesOf: (order) =>
        lines === undefined ? order.lineItems.filter((line) => !isWhollyCancelled(line)) : linesOf(order, lines),
      save: (tx, order, decided) => savedGoods(tx, call, order, decided),
    });
  },
});
