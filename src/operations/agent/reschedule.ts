/** New expected dates of many orders in one call, a tool without a path on REST (C70a). */
import { z } from "zod";
import { elsewhereStep } from "../../core/order/advice/next-step.ts";
import { DecisionNeeded } from "../../requests/approvals/decision-needed.ts";
import { asFault } from "../../requests/envelope.ts";
import { operation } from "../../requests/operation.ts";
import { day, noRepeats } from "../fields.ts";
import { orderToChange, saveFor } from "../purchase-orders/access.ts";
import { decidedHeader, updatePurchaseOrder } from "../purchase-orders/header.ts";
import { purchaseOrderId } from "../purchase-orders/json.ts";
import { headerInQuestion, warningsIn, warningsShape } from "../purchase-orders/warnings.ts";
import { tool } from "./tool.ts";

/** Orders of one call. */
export const rescheduledOrdersMax = 50;

/** An order with its new date, and why that is none that goods come by. */
const rescheduledSchema = z.strictObject({
  purchaseOrderId: z.string(),
  poNumber: z.string(),
  nextExpectedDate: z.string().nullable(),
  ...warningsShape,
});

export const rescheduleOrders = operation({
  ...tool,
  scope: "write",
  repeat: "safe",
  name: "purchase_orders_reschedule",
  toolSets: ["purchasing"],
  title: "Reschedule orders",
  summary: "Sets the expectedDeliveryDate of 1 to 50 orders, each as purchase_order_update does.",
  description: "An order that cannot be changed is named in failed, while the others are.",
  faults: [],
  nextStep(_input, { rescheduled, failed }) {
    const warned = rescheduled.find(({ warnings }) => warnings !== undefined);
    if (warned === undefined)
      return elsewhereStep(failed.length === 0 ? "All are changed." : "failed says why not all.");
    return {
      tool: "purchase_order_receipt_schedule_get",
      arguments: { purchaseOrderId: warned.purchaseOrderId },
      advice:
        "Look at what warnings say first. Dates of lines count before the order's: purchase_order_line_item_update sets them.",
    };
  },
  input: z
    .strictObject({
      orders: z
        .array(z.strictObject({ purchaseOrderId, expectedDeliveryDate: day.nullable() }))
        .min(1)
        .max(rescheduledOrdersMax)
        .check(noRepeats(({ purchaseOrderId: ofOrder }) => ofOrder, "purchaseOrderId")),
    })
    .meta({ example: { orders: [{ purchaseOrderId: "po_demo_05", expectedDeliveryDate: "2027-01-15" }] } }),
  output: z.strictObject({
    rescheduled: z.array(rescheduledSchema),
    failed: z.array(z.strictObject({ purchaseOrderId: z.string(), reason: z.string(), message: z.string() })),
  }),
  run: (call, { orders }) =>
    call.commit(async (tx) => {
      const rescheduled: z.output<typeof rescheduledSchema>[] = [];
      const failed: { purchaseOrderId: string; reason: string; message: string }[] = [];
      for (const { purchaseOrderId: ofOrder, expectedDeliveryDate } of orders) {
        const changed = await (async () => {
          const order = await orderToChange(tx, call, ofOrder);
          const change = await decidedHeader(tx, call, order, { expectedDeliveryDate });
          await saveFor(tx, { ...call, operation: updatePurchaseOrder.name }, order, change);
          return change;
        })().catch(asFault);
        if (changed instanceof DecisionNeeded) throw changed;
        if ("code" in changed) {
          const { code, reason, message } = changed;
          if (code === "INTERNAL") throw changed;
          failed.push({ purchaseOrderId: ofOrder, reason: reason ?? code, message });
          continue;
        }
        const { poNumber, nextExpectedDate } = changed.next;
        const warnings = await warningsIn(tx, call, changed, headerInQuestion({ expectedDeliveryDate }));
        rescheduled.push({ purchaseOrderId: ofOrder, poNumber, nextExpectedDate, ...warnings });
      }
      return { effects: [], answer: () => ({ data: { rescheduled, failed } }) };
    }),
});
