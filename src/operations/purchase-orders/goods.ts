/**
 * Operations that move goods: confirm, receive, un-receive, complete, quick-complete, and bringing the storefront in step (spec
 * "Purchase orders: writes", "Rules attached to the endpoints" 1–5; C24–C28, C43–C45).
 *
 * Owns: the order of steps between the shop and the storefront. Does not own: the rules (core/goods.ts, core/storefront-plan.ts), how
 * a push is carried out (outbox/runner.ts), the costs' rows (cost-sync.ts).
 *
 * Every one goes the same way: read and decide, so that what the order's state does not allow is refused first; ask the storefront
 * (the guard) outside the shop's turn; decide again inside the change, since the order may have moved meanwhile (S5).
 */
import { z } from "zod";
import type { EffectOutcome } from "../../core/effect.ts";
import type { GoodsContext, GoodsDecision } from "../../core/goods.ts";
import { type LineItem, type PurchaseOrder, statuses } from "../../core/purchase-order.ts";
import type { Resolution } from "../../core/guard.ts";
import { loadOrder } from "../../shop/purchase-orders.ts";
import type { Tx } from "../../store/store.ts";
import type { Answer, Call, Committed } from "../operation.ts";
import { orderToChange, saveFor } from "./access.ts";
import { type GuardFacts, LinesMoved, guard, noGuard } from "./guard.ts";
import { etagOf, purchaseOrderJson, purchaseOrderSchema } from "./json.ts";
import { type AskedEffect, followOnShape, renderSideEffects } from "./side-effects.ts";

// What the operations share.

export const tag = "Purchase orders";

export const path = "/purchase-orders/{purchaseOrderId}";

export const guardFaults = ["INVENTORY_GUARD_ISSUES", "UPSTREAM_STOREFRONT", "TIMEOUT"] as const;

export const common = ["NOT_FOUND", "VERSION_MISMATCH"] as const;

export const statusMoveShape = { before: z.enum(statuses), after: z.enum(statuses) } as const;

export const autoMoveSchema = z
  .strictObject({
    ...statusMoveShape,
    autoTransitioned: z.boolean().meta({ description: "Whether the quantities moved the order by themselves." }),
  })
  .meta({ description: "The order's status before and after." });

export const goodsContext = (call: Call, guarded: GuardFacts): GoodsContext => ({
  shop: call.shop,
  nowMs: call.clock.now(),
  skippedVariantIds: guarded.skippedVariantIds,
});

export const idsOf = (effects: readonly AskedEffect[]): readonly string[] => effects.map((effect) => effect.effectId);

/** A rule with its input: what a call wants decided, whatever the order is like by then. */
export type Rule = (order: PurchaseOrder, context: GoodsContext) => GoodsDecision;

interface CheckedLines extends GuardFacts {
  readonly checkedLineItemIds: ReadonlySet<string>;
}

/**
 * Decides without keeping it, so that what the order's state does not allow is refused before the storefront is asked; then lets
 * the guard look at the lines that the change is about. A call that changes nothing touches nothing and is not guarded.
 */
export async function guarded(
  call: Call,
  purchaseOrderId: string,
  rule: Rule,
  linesOf: (order: PurchaseOrder) => readonly LineItem[],
  resolutions: readonly Resolution[] | undefined,
): Promise<CheckedLines> {
  const lines = await call.read(async (tx) => {
    const order = await orderToChange(tx, call, purchaseOrderId);
    const trial = rule(order, goodsContext(call, noGuard));
    return trial.next === order ? [] : linesOf(order);
  });
  const facts = lines.length === 0 ? noGuard : await guard(call, lines, resolutions ?? []);
  return { ...facts, checkedLineItemIds: new Set(lines.map((line) => line.poLineItemId)) };
}

/** @throws LinesMoved  the change is about a line that the guard has not seen. */
export function refuseUnchecked(decided: GoodsDecision, { checkedLineItemIds }: CheckedLines): void {
  if (decided.updatedLineItemIds.some((lineItemId) => !checkedLineItemIds.has(lineItemId))) throw new LinesMoved();
}

export const named = (
  order: PurchaseOrder,
  entries: readonly { readonly lineItemId: string }[],
): readonly LineItem[] => {
  const ids = new Set(entries.map((entry) => entry.lineItemId));
  return order.lineItems.filter((line) => ids.has(line.poLineItemId));
};

/** The change that /receive and /unreceive end in, and its answer, which shows the order as the first push has left it (D22). */
export async function movedGoods(
  tx: Tx,
  call: Call,
  order: PurchaseOrder,
  decided: GoodsDecision,
): Promise<Committed<z.output<typeof goodsAnswer>>> {
  const effects = await saveFor(tx, call, order, decided);
  const { next, status, updatedLineItemIds, stockSync } = decided;
  const pushed = decided.effects.find((effect) => effect.kind === "push-stock");
  const shown = (
    now: PurchaseOrder,
    outcomes: ReadonlyMap<string, EffectOutcome>,
  ): Answer<z.output<typeof goodsAnswer>> => ({
    data: {
      purchaseOrder: purchaseOrderJson(now),
      status,
      updatedLineItemIds: [...updatedLineItemIds],
      ...renderSideEffects(effects, outcomes, {
        order: now,
        storefrontSync: {
          unpushed: stockSync === "disabled" ? "disabled" : "skipped",
          lineItemCount: pushed?.poLineItemIds.length ?? 0,
        },
      }),
    },
    etag: etagOf(now),
  });
  return {
    effectIds: idsOf(effects),
    answer: (outcomes) => shown(next, outcomes),
    answerAnew: async (tx, outcomes) => {
      const now = await loadOrder(tx, call.shop.shopId, next.purchaseOrderId);
      return now === null ? null : shown(now, outcomes);
    },
  };
}

export const goodsAnswer = z.strictObject({
  purchaseOrder: purchaseOrderSchema,
  status: autoMoveSchema,
  updatedLineItemIds: z.array(z.string()).meta({ description: "Lines whose totals changed." }),
  ...followOnShape,
});

export const lineIdOf = (line: { readonly lineItemId: string }): string => line.lineItemId;
