/**
 * Work of each kind of effect: short changes of the shop with one call of the storefront between them (S5).
 *
 * Owns: which kind is done where (the files of steps/). Does not own: when runs
 * happen, time limits and retries (runner.ts and its parts), the amounts (core/storefront/stock-push.ts,
 * core/goods/incoming.ts).
 *
 * Every step can run again after a crash: what a call carries is stored before the call, and a repeated call changes
 * nothing more (F1). A step may run again even though it was kept and only reported as failed. The runner runs a step
 * only while it holds the step's effects (O6). A step that keeps them claimed checks what is stored before it counts
 * anything.
 */
import type { Effect } from "../../core/order/effect.ts";
import type { ClaimedEffect } from "../../shop/storefront/effects.ts";
import { endConfirmation } from "../../shop/order/order-claims.ts";
import type { Tx } from "../../store/store.ts";
import { takeBackCosts } from "./steps/cost-take-back.ts";
import { settleCosts } from "./steps/costs.ts";
import { mirrorIncoming, syncTags } from "./steps/mirror.ts";
import { keepLevels, keepVariants } from "./steps/own-stock.ts";
import { type Run, type Step, type WorkContext, endRun, isKind, skipped, systemStamp } from "./step.ts";
import { planPush } from "./steps/stock-push.ts";

const ofKind = <K extends Effect["kind"]>(claimed: readonly ClaimedEffect[], kind: K): Run<K> =>
  claimed.flatMap((entry) => {
    const { effect } = entry;
    return isKind(effect, kind) ? [{ ...entry, effect }] : [];
  });

/** Ends a wait whose call did not: its process has died (C43). */
async function endWait(
  tx: Tx,
  context: WorkContext,
  claimId: string,
  effect: Parameters<typeof endConfirmation>[3],
  run: readonly ClaimedEffect[],
): Promise<Step> {
  await endConfirmation(tx, context.shopId, claimId, effect, systemStamp(context));
  return await endRun(tx, context, run, () => skipped, "", null);
}

/** Begins the run of these effects, in the change that has claimed them. */
export async function begin(tx: Tx, context: WorkContext, claimed: readonly ClaimedEffect[]): Promise<Step> {
  const [first] = claimed;
  switch (first?.effect.kind) {
    case "push-stock":
      return await planPush(tx, context, {
        purchaseOrderId: first.effect.purchaseOrderId,
        run: ofKind(claimed, "push-stock"),
        landedLineIds: new Set(),
        rejections: new Map(),
      });
    case "mirror-incoming":
      return await mirrorIncoming(tx, context, first.effect.locationId, ofKind(claimed, "mirror-incoming"));
    case "sync-tags":
      return await syncTags(tx, context, ofKind(claimed, "sync-tags"));
    case "keep-variant":
      return await keepVariants(tx, context, ofKind(claimed, "keep-variant"));
    case "keep-level":
      return keepLevels(context, ofKind(claimed, "keep-level"));
    case "settle-costs":
      return await settleCosts(tx, context, first.effect.purchaseOrderId, ofKind(claimed, "settle-costs"));
    case "take-back-costs":
      return await takeBackCosts(tx, context, first.effect.purchaseOrderId, ofKind(claimed, "take-back-costs"));
    case "end-confirmation":
      return await endWait(tx, context, first.effectId, first.effect, claimed);
    case "end-cost-sync":
      return await endRun(tx, context, claimed, () => skipped, "", null);
    case undefined:
      return { kind: "ended", outcomes: new Map() };
  }
}
