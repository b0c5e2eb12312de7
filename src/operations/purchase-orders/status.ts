import { z } from "zod";
import { statuses } from "../../core/purchase-order.ts";
import { decideStatus, isGuardedMove } from "../../core/status-move.ts";
import { isHeld } from "../../core/status.ts";
import { leavingAlone } from "../../core/guard.ts";
import { operation } from "../operation.ts";
import { contextOf, exampleId, faults, orderToChange, path, savedOrder, write } from "./access.ts";
import { type GuardFacts, LinesMoved, guard, noGuard, resolutions, untilLinesStay } from "./guard.ts";
import { purchaseOrderId, purchaseOrderSchema } from "./json.ts";
import { followOnShape } from "./side-effects.ts";

// Status.

export const changeStatus = operation({
  ...write,
  name: "purchase_order_status",
  title: "Move an order to a status",
  summary: "Moves an order to another status, as far as that is open from where it is.",
  description:
    "Moves the order: Draft to Sent, Confirmed to In Progress, to Cancelled, On Hold or Disputed and back, or reopens a Completed one. A refusal lists the moves that are open. Confirming, receiving and completing have their own operations (purchase_order_confirm, purchase_order_receive, purchase_order_complete). Moving to Sent needs a locationId and checks the variants at the storefront; when some are not active, repeat with resolutions.",
  route: { method: "POST", path: `${path}/status` },
  success: 200,
  repeat: "refused",
  destructive: false,
  faults: [
    ...faults,
    "PREVIOUS_STATUS_MISMATCH",
    "USE_CONFIRM_ENDPOINT",
    "UNCONFIRMED_LINES",
    "INVENTORY_GUARD_ISSUES",
    "UPSTREAM_STOREFRONT",
    "TIMEOUT",
  ],
  input: z
    .strictObject({
      purchaseOrderId,
      status: z.enum(statuses).meta({ description: "The status to move to." }),
      resolutions: resolutions.optional(),
    })
    .meta({ example: { purchaseOrderId: exampleId, status: "Sent" } }),
  output: z.strictObject({
    purchaseOrder: purchaseOrderSchema,
    transition: z
      .strictObject({ from: z.enum(statuses), to: z.enum(statuses) })
      .meta({ description: "The move that was made." }),
    previousStatus: z
      .enum(statuses)
      .optional()
      .meta({ description: "Present when the order came back from Cancelled, On Hold or Disputed." }),
    ...followOnShape,
  }),
  run: (call, input) =>
    untilLinesStay(async () => {
      // Decided once without keeping it: what the order's state does not allow comes before the guard (C23).
      const seen = await call.read(async (tx) => {
        const order = await orderToChange(tx, call, input.purchaseOrderId);
        return { order, trial: decideStatus(order, input.status, contextOf(call)) };
      });
      const isGuarded = isGuardedMove(seen.trial.next.status);
      const facts: GuardFacts = isGuarded ? await guard(call, seen.order.lineItems, input.resolutions ?? []) : noGuard;
      const checked = new Set(seen.order.lineItems.map((line) => line.poLineItemId));
      return call.commit(async (tx) => {
        const order = await orderToChange(tx, call, input.purchaseOrderId);
        const decided = decideStatus(order, input.status, contextOf(call));
        if (isGuarded && order.lineItems.some((line) => !checked.has(line.poLineItemId))) throw new LinesMoved();
        const saved = await savedOrder(tx, call, order, leavingAlone(decided, facts.skippedVariantIds));
        const transition = { from: order.status, to: decided.next.status };
        const { previousStatus } = decided.next;
        return {
          effectIds: saved.effectIds,
          answer: (outcomes) => {
            const { data, ...rest } = saved.answer(outcomes);
            return { data: { ...data, transition, ...(isHeld(order) ? { previousStatus } : {}) }, ...rest };
          },
        };
      });
    }),
});
