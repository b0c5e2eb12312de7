/**
 * Figures that the storefront gets as they stand: incoming quantities and on-order tags (C41, C42). Telling it again
 * changes nothing, so these calls are repeated without bookkeeping.
 */
import type { EffectOutcome } from "../../../core/order/effect.ts";
import { asQuantity } from "../../../core/money/money.ts";
import { type OnOrder, tagPlan } from "../../../core/goods/incoming.ts";
import { loadShop } from "../../../shop/access/accounts.ts";
import type { ClaimedEffect } from "../../../shop/storefront/effects.ts";
import { selectIn } from "../../../store/in-lists.ts";
import type { Tx } from "../../../store/store.ts";
import type { ItemResult, Storefront } from "../../../storefront/storefront.ts";
import {
  type Run,
  type Step,
  type WorkContext,
  endFailedRun,
  endRun,
  problemsText,
  retryOrFail,
  skipped,
  traceparentOfRun,
} from "../step.ts";

/** Sets the storefront's incoming quantities to those of the ledger, in one call for all effects of the run (C41). */
export async function mirrorIncoming(
  tx: Tx,
  context: WorkContext,
  locationId: string,
  run: Run<"mirror-incoming">,
): Promise<Step> {
  const { shopId } = context;
  const variantIds = [...new Set(run.flatMap(({ effect }) => effect.variantIds))];
  const rows = await selectIn<{ variant_id: string; quantity: number }>(
    tx,
    "select variant_id, quantity from incoming where shop_id = ? and location_id = ? and variant_id in (?)",
    [shopId, locationId],
    variantIds,
  );
  const ledger = new Map(rows.map((row) => [row.variant_id, row.quantity]));
  const levels = variantIds.map((variantId) => ({
    variantId,
    locationId,
    incoming: asQuantity(ledger.get(variantId) ?? 0),
  }));
  return setterStep(
    context,
    run,
    variantIds,
    ({ effect }) => effect.variantIds,
    (storefront, signal) =>
      storefront.setIncoming(levels, {
        reference: `incoming:${run[0]?.effectId ?? ""}`,
        documentUri: `openpo://shops/${shopId}/locations/${locationId}`,
        traceparent: traceparentOfRun(run),
        signal,
      }),
  );
}

/**
 * Tags those products of the run's variants of which something is on order, and untags the rest. The run ends as
 * skipped
 * while the shop has no tag (C42).
 */
export async function syncTags(tx: Tx, context: WorkContext, run: Run<"sync-tags">): Promise<Step> {
  const { shopId } = context;
  const variantIds = [...new Set(run.flatMap(({ effect }) => effect.variantIds))];
  const [shop, variants] = await Promise.all([loadShop(tx, shopId), loadOnOrder(tx, shopId, variantIds)]);
  const tag = shop?.onOrderTag ?? null;
  if (tag === null) return await endRun(tx, context, run, () => skipped, "", null);
  const changes = tagPlan(variants).map((change) => ({ ...change, tag }));
  const productOf = new Map(variants.map((variant) => [variant.variantId, variant.productId ?? variant.variantId]));
  // A product's tag is set by way of one of its variants.
  const changedVariantOf = new Map(changes.map(({ variantId }) => [productOf.get(variantId), variantId]));
  const changedVariantsOf = ({ effect }: Run<"sync-tags">[number]): readonly string[] => [
    ...new Set(effect.variantIds.flatMap((variantId) => changedVariantOf.get(productOf.get(variantId)) ?? [])),
  ];
  return setterStep(
    context,
    run,
    changes.map((change) => change.variantId),
    changedVariantsOf,
    (storefront, signal) =>
      storefront.setTags(changes, {
        reference: `tags:${run[0]?.effectId ?? ""}`,
        documentUri: `openpo://shops/${shopId}`,
        traceparent: traceparentOfRun(run),
        signal,
      }),
  );
}

const productsOfNamed = "select v.product_id from variant v where v.shop_id = ? and v.variant_id in (?)";

/** The given variants and all others of their products, each with its incoming quantity over all locations. */
async function loadOnOrder(tx: Tx, shopId: string, variantIds: readonly string[]): Promise<readonly OnOrder[]> {
  const [found, ofSiblings, ofNamed] = await Promise.all([
    selectIn<{ variant_id: string; product_id: string }>(
      tx,
      `select s.variant_id, s.product_id from variant s where s.shop_id = ? and s.product_id in (${productsOfNamed})
       order by s.product_id, s.variant_id`,
      [shopId, shopId],
      variantIds,
    ),
    selectIn<{ variant_id: string; quantity: number }>(
      tx,
      `select i.variant_id, cast(sum(i.quantity) as bigint) as quantity from variant s
       join incoming i on i.shop_id = s.shop_id and i.variant_id = s.variant_id
       where s.shop_id = ? and s.product_id in (${productsOfNamed}) group by i.variant_id`,
      [shopId, shopId],
      variantIds,
    ),
    selectIn<{ variant_id: string; quantity: number }>(
      tx,
      `select variant_id, cast(sum(quantity) as bigint) as quantity from incoming
       where shop_id = ? and variant_id in (?) group by variant_id`,
      [shopId],
      variantIds,
    ),
  ]);
  // Variants of one product can be in several chunks of the list.
  const siblings = [...new Map(found.map((row) => [row.variant_id, row])).values()];
  const inCatalogue = new Set(siblings.map((row) => row.variant_id));
  const variants: readonly { readonly variantId: string; readonly productId: string | null }[] = [
    ...siblings.map((row) => ({ variantId: row.variant_id, productId: row.product_id })),
    ...variantIds.filter((id) => !inCatalogue.has(id)).map((variantId) => ({ variantId, productId: null })),
  ];
  const incoming = new Map([...ofSiblings, ...ofNamed].map((row) => [row.variant_id, row.quantity]));
  return variants.map((variant) => ({ ...variant, incoming: asQuantity(incoming.get(variant.variantId) ?? 0) }));
}

/**
 * Calls the storefront with one item per variant and settles each effect by the results of its own variants. A refused
 * one fails the effect, and one without a result makes it try again. What has no stock there has no such figure and is
 * left out: no repeat would bring it (C44).
 *
 * @param variantIds in the order of the results that `set` gives.
 */
export function setterStep<K extends "mirror-incoming" | "sync-tags" | "keep-variant">(
  context: WorkContext,
  run: Run<K>,
  variantIds: readonly string[],
  variantsOf: (entry: Run<K>[number]) => readonly string[],
  set: (storefront: Storefront, signal: AbortSignal) => Promise<readonly ItemResult[]>,
): Step {
  const variantsByEffect = new Map(run.map((entry) => [entry.effectId, variantsOf(entry)]));
  return {
    kind: "call",
    call: async (storefront, signal) => {
      const answers = await set(storefront, signal);
      const results = new Map(variantIds.map((variantId, index) => [variantId, answers[index]]));
      const outcomeOf = (entry: ClaimedEffect): EffectOutcome => {
        const own = (variantsByEffect.get(entry.effectId) ?? []).flatMap((variantId) => {
          const result = results.get(variantId);
          return result?.outcome === "rejected" && withoutStock.has(result.reason) ? [] : [result];
        });
        const refused = own.flatMap((result) => (result?.outcome === "rejected" ? result.message : []));
        const itemCount = own.filter((r) => r?.outcome === "applied" || r?.outcome === "unchanged").length;
        if (itemCount + refused.length < own.length)
          return retryOrFail(context, entry, null, missingResults, itemCount);
        if (refused.length > 0) return { state: "failed", detail: problemsText(refused), itemCount };
        return itemCount === 0 ? skipped : { state: "applied", itemCount };
      };
      return (tx) => endRun(tx, context, run, outcomeOf, missingResults, null);
    },
    failed: (error) => (tx) => endFailedRun(tx, context, run, error),
  };
}

const withoutStock: ReadonlySet<string> = new Set(["deleted", "unsyncable"]);

const missingResults = "the storefront has no result for some items yet";
