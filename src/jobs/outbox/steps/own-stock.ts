/**
 * The ledger of a shop that keeps its products and its stock itself (C84). It gets what the catalogue and people say of
 * them; received goods are added as at any storefront (stock-push.ts).
 */
import { levelKey } from "../../../core/goods/incoming.ts";
import { asQuantity } from "../../../core/money/money.ts";
import type { EffectOutcome } from "../../../core/order/effect.ts";
import { inventoryLevelFields, inventoryLevelTable, variantTable } from "../../../shop/catalogue/catalogue.ts";
import { entryStatements, shownChanges } from "../../../shop/catalogue/record-log.ts";
import { dayOfShop, levelNoted } from "../../../shop/forecast/stock-days.ts";
import { recordsByKey, replaceRecord } from "../../../shop/record-table.ts";
import type { ClaimedEffect } from "../../../shop/storefront/effects.ts";
import type { Change } from "../../../store/change.ts";
import type { Tx } from "../../../store/store.ts";
import { type ItemResult, type OwnVariant, StorefrontError } from "../../../storefront/storefront.ts";
import { setterStep } from "./mirror.ts";
import {
  endRun,
  recordStamp,
  retryOrFail,
  type Run,
  skipped,
  type Step,
  type Work,
  type WorkContext,
} from "../step.ts";

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

/**
 * Adds each difference, under a reference of its own: repeating one changes nothing (F1). One that the ledger has not
 * taken is taken back from the shop's own level.
 */
export function keepLevels(context: WorkContext, run: Run<"keep-level">): Step {
  const answers = new Map<string, ItemResult | StorefrontError>();
  const ended =
    (error: StorefrontError | null): Work =>
    async (tx) => {
      const each = run.map((entry) => {
        const answer = answers.get(entry.effectId) ?? error;
        return { entry, answer, outcome: outcomeOf(context, entry, answer) };
      });
      const lost = each.flatMap(({ entry, answer, outcome }) =>
        outcome.state === "failed" && !mayBeThere(answer) ? [{ ...entry, detail: outcome.detail }] : [],
      );
      await takeBack(tx, context, lost);
      const outcomes = new Map(each.map(({ entry, outcome }) => [entry.effectId, outcome]));
      return await endRun(tx, context, run, ({ effectId }) => outcomes.get(effectId) ?? skipped, notChanged, error);
    };
  return {
    kind: "call",
    async call(storefront, signal) {
      if (storefront.ownStock === undefined) return (tx) => endRun(tx, context, run, () => skipped, "", null);
      for (const { effectId, effect, traceparent } of run)
        try {
          const [result] = await storefront.changeOnHand([effect], {
            reference: `level:${effectId}`,
            documentUri: `openpo://shops/${context.shopId}/variants/${effect.variantId}`,
            traceparent,
            signal,
          });
          if (result !== undefined) answers.set(effectId, result);
        } catch (error) {
          if (!(error instanceof StorefrontError)) throw error;
          // One that fails does not fail the others.
          answers.set(effectId, error);
        }
      return ended(null);
    },
    failed: ended,
  };
}

const notChanged = "the stock was not changed yet";

function outcomeOf(
  context: WorkContext,
  entry: ClaimedEffect,
  answer: ItemResult | StorefrontError | null,
): EffectOutcome {
  if (answer instanceof StorefrontError) return retryOrFail(context, entry, answer, answer.message, 0);
  if (answer === null || answer.outcome === "unknown") return retryOrFail(context, entry, null, notChanged, 0);
  return answer.outcome === "rejected"
    ? { state: "failed", detail: `${answer.message}.`, itemCount: 0 }
    : { state: "applied", itemCount: 1 };
}

/** True if the ledger may have the change although nobody knows. */
function mayBeThere(answer: ItemResult | StorefrontError | null): boolean {
  if (answer instanceof StorefrontError) return answer.landed === "maybe";
  return answer?.outcome !== "rejected";
}

/** Takes the differences back from the shop's levels, and tells why in the history of each variant. */
async function takeBack(
  tx: Tx,
  context: WorkContext,
  lost: readonly (Run<"keep-level">[number] & { readonly detail: string })[],
): Promise<void> {
  if (lost.length === 0) return;
  const { shopId } = context;
  const keys = new Map(
    lost.map(({ effect: { variantId, locationId } }) => [levelKey(variantId, locationId), [variantId, locationId]]),
  );
  const [stored, today] = await Promise.all([
    recordsByKey(tx, inventoryLevelTable, shopId, [...keys.values()]),
    dayOfShop(tx, shopId, context.now()),
  ]);
  const levels = new Map(stored.map((level) => [levelKey(level.variantId, level.locationId), level]));
  const changes = lost.flatMap((entry): readonly Change[] => {
    const { variantId, locationId, delta } = entry.effect;
    const key = levelKey(variantId, locationId);
    const before = levels.get(key);
    // The variant or the location is gone.
    if (before === undefined) return [];
    const next = { ...before, onHand: asQuantity(before.onHand - delta) };
    levels.set(key, next);
    const changed = shownChanges({ onHand: inventoryLevelFields.onHand }, before, next);
    return [
      ...levelNoted(shopId, next, before.onHand, next.onHand, today),
      replaceRecord(inventoryLevelTable, shopId, next),
      ...entryStatements(
        shopId,
        { kind: "variant", recordId: variantId, locationId },
        { action: "changed", reason: `Taken back: ${entry.detail}`, changes: changed },
        recordStamp(context, [entry]),
      ),
    ];
  });
  await tx.batch(changes);
}
