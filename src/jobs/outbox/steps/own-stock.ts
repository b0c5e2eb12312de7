/**
 * The ledger of a shop that keeps its products and its stock itself (C84). It gets what the catalogue and people say of
 * them; received goods are added as at any storefront (stock-push.ts).
 */
import type { EffectOutcome } from "../../../core/order/effect.ts";
import { variantTable } from "../../../shop/catalogue/catalogue.ts";
import { recordsByKey } from "../../../shop/record-table.ts";
import type { Tx } from "../../../store/store.ts";
import type { ItemResult, OwnVariant } from "../../../storefront/storefront.ts";
import { setterStep } from "./mirror.ts";
import { endFailedRun, endRun, retryOrFail, type Run, skipped, type Step, type WorkContext } from "../step.ts";

/** Puts the variants as they are now, in one call for all effects of the run; one that is gone is deleted there. */
export async function keepVariants(tx: Tx, context: WorkContext, run: Run<"keep-variant">): Promise<Step> {
  const variantIds = [...new Set(run.map(({ effect }) => effect.variantId))];
  const stored = await recordsByKey(
    tx,
    variantTable,
    context.shopId,
    variantIds.map((id) => [id]),
  );
  const known = new Map(stored.map((variant) => [variant.variantId, variant]));
  const variants = variantIds.map(
    (variantId): OwnVariant =>
      known.get(variantId) ?? { variantId, productId: variantId, status: "deleted", unitCost: null },
  );
  return setterStep(
    context,
    run,
    variantIds,
    ({ effect }) => [effect.variantId],
    async ({ ownStock }) => {
      await ownStock?.putVariants(variants);
      return variantIds.map((): ItemResult => ({ outcome: ownStock === undefined ? "unchanged" : "applied" }));
    },
  );
}

/** Adds each difference, under a reference of its own: repeating one changes nothing (F1). */
export const keepLevels = (context: WorkContext, run: Run<"keep-level">): Step => ({
  kind: "call",
  async call(storefront, signal) {
    const { ownStock } = storefront;
    const results = new Map<string, ItemResult | undefined>();
    if (ownStock !== undefined)
      for (const { effectId, effect, traceparent } of run) {
        const [result] = await storefront.changeOnHand([effect], {
          reference: `level:${effectId}`,
          documentUri: `openpo://shops/${context.shopId}/variants/${effect.variantId}`,
          traceparent,
          signal,
        });
        results.set(effectId, result);
      }
    const outcomeOf = (entry: Run<"keep-level">[number]): EffectOutcome => {
      if (ownStock === undefined) return skipped;
      const result = results.get(entry.effectId);
      if (result === undefined || result.outcome === "unknown")
        return retryOrFail(context, entry, null, "the stock was not changed yet", 0);
      return result.outcome === "rejected"
        ? { state: "failed", detail: result.message, itemCount: 0 }
        : { state: "applied", itemCount: 1 };
    };
    const outcomes = new Map(run.map((entry) => [entry.effectId, outcomeOf(entry)]));
    return (tx) =>
      endRun(
        tx,
        context,
        run,
        ({ effectId }) => outcomes.get(effectId) ?? skipped,
        "the stock was not changed yet",
        null,
      );
  },
  failed: (error) => (tx) => endFailedRun(tx, context, run, error),
});
