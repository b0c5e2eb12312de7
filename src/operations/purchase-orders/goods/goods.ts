/**
 * Shared by the operations that move goods (spec "Purchase orders: writes", "Rules attached to the endpoints"
 * 1–5; C24–C28).
 *
 * Owns: the order of steps around a change that the inventory guard stands before. Does not own: the rules
 * (core/goods/confirm.ts, core/goods/receive.ts, core/goods/complete.ts), the guard (guard.ts), how a push is carried
 * out (jobs/outbox/steps/stock-push.ts).
 *
 * Each goes the same way. First it reads and decides, so that a change that the order's state does not allow is
 * refused. Then it calls the storefront outside the shop's turn. Then it decides again inside the change, since the
 * order may have changed meanwhile (S5).
 */
import { z } from "zod";
import type { EffectOutcome } from "../../../core/order/effect.ts";
import { type GoodsContext, type GoodsDecision, unsyncedText } from "../../../core/goods/goods.ts";
import type { Resolution } from "../../../core/goods/guard.ts";
import { type LineItem, type PurchaseOrder, statuses } from "../../../core/order/purchase-order.ts";
import { loadOrder } from "../../../shop/order/purchase-orders.ts";
import type { Tx } from "../../../store/store.ts";
import type { Answer, Call, Committed } from "../../../requests/operation.ts";
import { atExpectedVersion, contextOf, orderToChange, saveFor } from "../access.ts";
import { type GuardFacts, guard, LinesAdded, noGuard, untilAllLinesAreGuarded } from "./guard.ts";
import { etagOf, purchaseOrderJson, purchaseOrderSchema } from "../json.ts";
import { followOnShape, renderSideEffects, type SideEffectOptions } from "../side-effects.ts";

export const statusMoveShape = { before: z.enum(statuses), after: z.enum(statuses) } as const;

export const autoMoveSchema = z
  .strictObject({
    ...statusMoveShape,
    autoTransitioned: z.boolean().meta({ description: "Whether the quantities moved the order by themselves." }),
  })
  .meta({ description: "The order's status before and after." });

/** The answer of confirming, receiving and un-receiving. */
export const goodsAnswer = z.strictObject({
  purchaseOrder: purchaseOrderSchema,
  status: autoMoveSchema,
  updatedLineItemIds: z.array(z.string()).meta({ description: "Lines whose totals changed." }),
  ...followOnShape,
});

type GoodsAnswer = z.output<typeof goodsAnswer>;

export const goodsContext = (call: Call, { skippedVariantIds }: GuardFacts): GoodsContext => ({
  ...contextOf(call),
  skippedVariantIds,
});

/** The lines of the order that these entries name; unknown ids are left to the rule to refuse. */
export function linesOf(
  order: PurchaseOrder,
  entries: readonly { readonly lineItemId: string }[],
): readonly LineItem[] {
  const ids = new Set(entries.map((entry) => entry.lineItemId));
  return order.lineItems.filter((line) => ids.has(line.poLineItemId));
}

export const lineIdOf = (line: { readonly lineItemId: string }): string => line.lineItemId;

/** A change that the inventory guard stands before. */
interface GuardedChange {
  /** The rule with its input: what the call wants decided, whatever the order is like by then. */
  rule(order: PurchaseOrder, context: GoodsContext): GoodsDecision;
  /** The lines whose variants are checked. */
  linesOf(order: PurchaseOrder): readonly LineItem[];
  /** Saves what was decided. */
  save(tx: Tx, order: PurchaseOrder, decided: GoodsDecision): Promise<Committed<GoodsAnswer>>;
}

/** Reads the order with which `guardedChange` begins. */
export const lookAhead = (
  tx: Tx,
  shopId: string,
  input: { readonly purchaseOrderId: string },
): Promise<PurchaseOrder | null> => loadOrder(tx, shopId, input.purchaseOrderId);

/**
 * Makes a change that the inventory guard stands before: asks the storefront about the variants, decides inside the
 * change, and saves.
 *
 * @param work `linesToGuard`: the lines of what would be changed now; none: nothing is asked. It is called again when
 *   lines were added.
 * @throws Fault INVENTORY_GUARD_ISSUES, UPSTREAM_STOREFRONT, TIMEOUT  see `guard`.
 */
export function guardedWith<Decided extends { readonly updatedLineItemIds: readonly string[] }, Output>(
  call: Call,
  resolutions: readonly Resolution[],
  work: {
    linesToGuard(): Promise<readonly LineItem[]>;
    decide(tx: Tx, context: GoodsContext): Promise<Decided>;
    save(tx: Tx, decided: Decided): Promise<Committed<Output>>;
  },
): Promise<Answer<Output>> {
  return untilAllLinesAreGuarded(async () => {
    const lines = await work.linesToGuard();
    const facts = lines.length === 0 ? noGuard : await guard(call, lines, resolutions);
    const checked = new Set(lines.map((line) => line.poLineItemId));
    return call.commit(async (tx) => {
      const decided = await work.decide(tx, goodsContext(call, facts));
      if (decided.updatedLineItemIds.some((lineItemId) => !checked.has(lineItemId))) throw new LinesAdded();
      return work.save(tx, decided);
    });
  });
}

/**
 * Makes a change that the inventory guard stands before. A call that changes nothing touches nothing and is not
 * guarded.
 *
 * @throws Fault INVENTORY_GUARD_ISSUES, UPSTREAM_STOREFRONT, TIMEOUT  see `guard`.
 */
export function guardedChange(
  call: Call,
  input: { readonly purchaseOrderId: string; readonly resolutions?: readonly Resolution[] | undefined },
  change: GuardedChange,
): Promise<Answer<GoodsAnswer>> {
  const linesToGuard = (order: PurchaseOrder): readonly LineItem[] => {
    const trial = change.rule(order, goodsContext(call, noGuard));
    return trial.next === order ? [] : change.linesOf(order);
  };
  let { ahead } = call;
  return guardedWith(call, input.resolutions ?? [], {
    async linesToGuard() {
      if (ahead === null)
        return await call.read(async (tx) => linesToGuard(await orderToChange(tx, call, input.purchaseOrderId)));
      const lines = linesToGuard(atExpectedVersion(call, ahead));
      // When lines were added, the order is read again.
      ahead = null;
      return lines;
    },
    async decide(tx, context) {
      const order = await orderToChange(tx, call, input.purchaseOrderId);
      const decided = change.rule(order, context);
      return { order, decided, updatedLineItemIds: decided.updatedLineItemIds };
    },
    save: (tx, { order, decided }) => change.save(tx, order, decided),
  });
}

const goodsData = (
  order: PurchaseOrder,
  { status, updatedLineItemIds }: GoodsDecision,
  followOn: ReturnType<typeof renderSideEffects>,
): Answer<GoodsAnswer> => ({
  data: { purchaseOrder: purchaseOrderJson(order), status, updatedLineItemIds: [...updatedLineItemIds], ...followOn },
  etag: etagOf(order),
});

/** Saves a decision that pushes no stock. */
export async function savedGoods(
  tx: Tx,
  call: Call,
  order: PurchaseOrder,
  decided: GoodsDecision,
): Promise<Committed<GoodsAnswer>> {
  const effects = await saveFor(tx, call, order, decided);
  const { next } = decided;
  return {
    effects,
    answer: (outcomes) => goodsData(next, decided, renderSideEffects(effects, outcomes, { order: next })),
  };
}

/**
 * Saves a decision that may push stock. Its answer shows the order as the first attempt of the push has left it (D9).
 */
export async function savedPush(
  tx: Tx,
  call: Call,
  order: PurchaseOrder,
  decided: GoodsDecision,
): Promise<Committed<GoodsAnswer>> {
  const effects = await saveFor(tx, call, order, decided);
  const { next, stockSync } = decided;
  const pushed = decided.effects.find((effect) => effect.kind === "push-stock");
  const storefrontSync: SideEffectOptions["storefrontSync"] = {
    unpushed:
      stockSync === "failed"
        ? { status: "failed", detail: unsyncedText(next) }
        : { status: stockSync === "disabled" ? "disabled" : "skipped" },
    lineItemCount: pushed?.poLineItemIds.length ?? 0,
  };
  const answer = (now: PurchaseOrder, outcomes: ReadonlyMap<string, EffectOutcome>): Answer<GoodsAnswer> =>
    goodsData(now, decided, renderSideEffects(effects, outcomes, { order: now, storefrontSync }));
  return {
    effects,
    answer: (outcomes) => answer(next, outcomes),
    answerAfter: async (tx, outcomes) => {
      const now = await loadOrder(tx, call.shop.shopId, next.purchaseOrderId);
      return now === null ? null : answer(now, outcomes);
    },
  };
}
