/**
 * Moving an order by name (spec "Moves through POST /purchase-orders/{id}/status"; C22, C23).
 *
 * Owns: the order of steps. Does not own: the moves and their checks (core/order/status.ts, core/order/status-move.ts).
 */
import { z } from "zod";
import { withoutStorefront } from "../../core/goods/guard.ts";
import { statuses } from "../../core/order/purchase-order.ts";
import { only } from "../../core/order/guidance.ts";
import { decideStatus, isGuardedMove } from "../../core/order/status-move.ts";
import { isHeld } from "../../core/order/status.ts";
import { shortTextMax, text } from "../fields.ts";
import { operation } from "../../requests/operation.ts";
import { contextWithPushes, faults, orderToChange, path, savedOrder, withData, write } from "./access.ts";
import { guard, guardFaults, LinesAdded, noGuard, resolutions, untilAllLinesAreGuarded } from "./goods/guard.ts";
import { purchaseOrderId, purchaseOrderSchema } from "./json.ts";
import { mailOfMove, mailByItself } from "./mail.ts";
import { followOnShape } from "./side-effects.ts";
import { sentOrderInQuestion, warningsIn, warningsShape } from "./warnings.ts";

export const changeStatus = operation({
  ...write,
  name: "purchase_order_status",
  toolSets: ["purchasing", "reorder"],
  title: "Move an order to a status",
  summary: "Moves an order to another status, as far as that is open from where it is.",
  description: `Draft to Sent, Confirmed to In Progress, from Sent on to Cancelled, On Hold or Disputed and back, or reopens a Completed one; a refusal lists the moves that are open. A Draft is not cancelled but deleted. ${only("rest", "Sent marks the order as sent and sends nothing by itself, unless the shop's setting emailOnSent mails it to the supplier (sideEffects.email tells). ")}Sent needs a locationId, and resolutions when variants are not active at the storefront. purchase_order_confirm, purchase_order_receive and purchase_order_complete make moves of their own.`,
  inShop: ({ emailOnSent }) =>
    emailOnSent
      ? "In this shop a draft's move to Sent mails it to the supplier: ask first."
      : "In this shop Sent mails nothing to the supplier.",
  route: { method: "POST", path: `${path}/status` },
  success: 200,
  repeat: "refused",
  destructive: false,
  faults: [...faults, "PREVIOUS_STATUS_MISMATCH", "USE_CONFIRM_ENDPOINT", "UNCONFIRMED_LINES", ...guardFaults],
  input: z
    .strictObject({
      purchaseOrderId,
      status: z.enum(statuses).meta({ description: only("rest", "The status to move to.") }),
      reason: text(shortTextMax)
        .optional()
        .meta({ description: only("rest", "Why; kept in the log.") }),
      resolutions: resolutions.optional(),
    })
    .meta({ example: { purchaseOrderId: "po_demo_24", status: "Sent" } }),
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
    ...warningsShape,
  }),
  run: (call, { reason = null, ...input }) =>
    untilAllLinesAreGuarded(async () => {
      // Decided without keeping it: what the order's state does not allow is refused before the guard (C23).
      const seen = await call.read(async (tx) => {
        const order = await orderToChange(tx, call, input.purchaseOrderId);
        return { order, trial: decideStatus(order, input.status, await contextWithPushes(tx, call, order), reason) };
      });
      const isGuarded = isGuardedMove(seen.trial.next.status);
      const facts = isGuarded ? await guard(call, seen.order.lineItems, input.resolutions ?? []) : noGuard;
      // An order that goes back to Sent was mailed before (C63).
      const isFirst = seen.order.status === "Draft" && input.status === "Sent";
      const mail = isFirst && call.shop.emailOnSent ? await mailByItself(call, seen.trial.next) : null;
      const checked = new Set(seen.order.lineItems.map((line) => line.poLineItemId));
      return call.commit(async (tx) => {
        const order = await orderToChange(tx, call, input.purchaseOrderId);
        const decided = decideStatus(order, input.status, await contextWithPushes(tx, call, order), reason);
        if (isGuarded && order.lineItems.some((line) => !checked.has(line.poLineItemId))) throw new LinesAdded();
        if (mail !== null && order.version !== seen.order.version) throw new LinesAdded();
        const mailOfChange = mail === null ? {} : await mailOfMove(tx, call, decided.next, mail);
        const saved = await savedOrder(
          tx,
          call,
          order,
          withoutStorefront(decided, facts.skippedVariantIds),
          mailOfChange,
        );
        const { status, previousStatus } = decided.next;
        const moved = {
          transition: { from: order.status, to: status },
          ...(isHeld(order) ? { previousStatus } : {}),
        };
        const mailed = mail === null ? {} : { olderVersion: null };
        const warnings = await warningsIn(tx, call, decided, { ...sentOrderInQuestion(decided.next), ...mailed });
        return withData(saved, { ...moved, ...warnings });
      });
    }),
});
