import { z } from "zod";
import { decideConfirm } from "../../core/confirm.ts";
import { isWhollyCancelled } from "../../core/lines.ts";
import { type LineItem, type PurchaseOrder, linesPerOrderMax } from "../../core/purchase-order.ts";
import { noRepeats, quantity } from "../fields.ts";
import { operation } from "../operation.ts";
import { orderToChange, saveFor } from "./access.ts";
import {
  type Rule,
  common,
  goodsAnswer,
  goodsContext,
  guardFaults,
  guarded,
  idsOf,
  lineIdOf,
  named,
  path,
  refuseUnchecked,
  tag,
} from "./goods.ts";
import { resolutions, untilLinesStay } from "./guard.ts";
import { etagOf, lineItemId, purchaseOrderId, purchaseOrderJson } from "./json.ts";
import { renderSideEffects } from "./side-effects.ts";

// Confirm.

export const confirmQuantities = operation({
  name: "purchase_order_confirm",
  title: "Confirm quantities",
  summary: "Records what the supplier confirmed, line by line or everything at once.",
  description:
    "Sets confirmed quantities as new totals; 0 un-confirms; repeating changes nothing. With lines the order becomes Sent, Partially Confirmed or Confirmed by what is confirmed; with confirmAll: true every line is confirmed and the order goes to In Progress, where goods can be received. Use it from Sent, Partially Confirmed or Confirmed.",
  tag,
  scope: "write",
  route: { method: "POST", path: `${path}/confirm` },
  success: 200,
  repeat: "safe",
  destructive: false,
  faults: [...common, ...guardFaults],
  input: z
    .strictObject({
      purchaseOrderId,
      confirmAll: z.literal(true).optional().meta({
        description: "Confirms every line in full and moves the order to In Progress. Not together with lines.",
      }),
      lines: z
        .array(
          z.strictObject({
            lineItemId,
            quantityConfirmed: quantity.meta({ description: "New total confirmed; 0 un-confirms." }),
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
        purchaseOrderId: "po_01k8x4m2q7v9c3n5t6w8y0z1a2",
        lines: [{ lineItemId: "pol_01k8x4m2q7v9c3n5t6w8y0z1b3", quantityConfirmed: 12 }],
        resolutions: [{ itemId: "pol_01k8x4m2q7v9c3n5t6w8y0z1b3", action: "skip" }],
      },
      body: { oneOf: [{ required: ["lines"] }, { required: ["confirmAll"] }] },
    }),
  output: goodsAnswer,
  async run(call, input) {
    const { lines } = input;
    const rule: Rule = (order, context) =>
      decideConfirm(order, lines === undefined ? { confirmAll: true } : { lines }, context);
    const linesOf = (order: PurchaseOrder): readonly LineItem[] =>
      lines === undefined ? order.lineItems.filter((line) => !isWhollyCancelled(line)) : named(order, lines);
    return untilLinesStay(async () => {
      const guardFacts = await guarded(call, input.purchaseOrderId, rule, linesOf, input.resolutions);
      return call.commit(async (tx) => {
        const order = await orderToChange(tx, call, input.purchaseOrderId);
        const decided = rule(order, goodsContext(call, guardFacts));
        refuseUnchecked(decided, guardFacts);
        const effects = await saveFor(tx, call, order, decided);
        return {
          effectIds: idsOf(effects),
          answer: (outcomes) => ({
            data: {
              purchaseOrder: purchaseOrderJson(decided.next),
              status: decided.status,
              updatedLineItemIds: [...decided.updatedLineItemIds],
              ...renderSideEffects(effects, outcomes, { order: decided.next }),
            },
            etag: etagOf(decided.next),
          }),
        };
      });
    });
  },
});
