/**
 * The follow-on work of taking goods back that are in the moving average. They leave it at the cost at which they came
 * in, and the storefront gets the new average (C45).
 *
 * A row is stored before each call. A call without an answer is made again with a row of its own; what another cost has
 * overtaken is made anew.
 */
import { type CostProposal, completionOf, takenBackCosts } from "../../../core/storefront/cost-sync.ts";
import { orderUri } from "../../../core/order/effect.ts";
import { lineEvent } from "../../../core/events/events.ts";
import type { PurchaseOrder } from "../../../core/order/purchase-order.ts";
import { loadShop } from "../../../shop/access/accounts.ts";
import { catalogueCostStatements } from "../../../shop/catalogue/price-changes.ts";
import {
  acceptCostStatement,
  loadCostFacts,
  loadCostHistory,
  overtakenVariants,
  settleCostStatement,
} from "../../../shop/storefront/cost-sync.ts";
import { effectStatements, renewStatement } from "../../../shop/storefront/effects.ts";
import { eventStatements } from "../../../shop/events/events.ts";
import { claimsHeld } from "../../../shop/order/order-claims.ts";
import { costStatement } from "../../../shop/order/purchase-order-history.ts";
import { loadOrder } from "../../../shop/order/purchase-orders.ts";
import type { Statement, Tx } from "../../../store/store.ts";
import { type ItemResult, type StorefrontError, notAnswered } from "../../../storefront/storefront.ts";
import {
  type Run,
  type Step,
  type WorkContext,
  endRun,
  problemsText,
  recordStamp,
  retryOrFail,
  skipped,
  systemStamp,
  traceparentOfRun,
} from "../step.ts";

/** A cost whose row is stored. */
interface StoredCost extends CostProposal {
  readonly costSyncId: string;
}

interface TakeBack {
  readonly run: Run<"take-back-costs">;
  readonly order: PurchaseOrder;
  readonly storedAtMs: number;
  readonly costs: readonly StoredCost[];
}

/** Works out what the averages are without what was taken back, stores it, and writes it to the storefront. */
export async function takeBackCosts(
  tx: Tx,
  context: WorkContext,
  purchaseOrderId: string,
  run: Run<"take-back-costs">,
): Promise<Step> {
  const { shopId, ids } = context;
  const [order, shop, history, claims] = await Promise.all([
    loadOrder(tx, shopId, purchaseOrderId),
    loadShop(tx, shopId),
    loadCostHistory(tx, shopId, purchaseOrderId),
    claimsHeld(tx, shopId, purchaseOrderId, context.now(), null),
  ]);
  // What it writes may have entered the average, and is not known to have.
  if (claims.has("end-cost-sync")) {
    const detail = "a call is writing the order's unit costs";
    return await endRun(tx, context, run, (entry) => retryOrFail(context, entry, null, detail, 0), detail, null);
  }
  const proposals =
    order === null || shop === null ? [] : takenBackCosts(order, shop, history, await loadCostFacts(tx, shopId, order));
  if (order === null || proposals.length === 0) return await endRun(tx, context, run, () => skipped, "", null);
  const completion = completionOf(order);
  const storedAtMs = context.now();
  const earlier = history.rows.filter((row) => row.completion === completion).map((row) => row.attempt);
  const attempt = 1 + Math.max(0, ...earlier);
  const stored = proposals.map((proposal) => ({ ...proposal, costSyncId: ids.next("cs") }));
  await tx.batch([
    ...stored.map((cost) =>
      costStatement(shopId, purchaseOrderId, {
        ...cost,
        outcome: cost.kept === null ? "proposed" : "skipped",
        reason: cost.kept,
        attempt,
        completion,
        proposedAtMs: storedAtMs,
        resolvedAtMs: cost.kept === null ? null : storedAtMs,
      }),
    ),
    ...run.map(({ effectId }) => renewStatement(shopId, effectId, context.leasedUntilMs())),
  ]);
  const costs = stored.filter(({ kept }) => kept === null);
  const takeBack: TakeBack = { run, order, storedAtMs, costs };
  if (costs.length === 0) return await endRun(tx, context, run, () => skipped, "", null);
  return {
    kind: "call",
    call: async (storefront, signal) => {
      const results = await storefront.writeCosts(
        costs.map(({ variantId, proposedUnitCost: unitCost }) => ({ variantId, unitCost })),
        {
          reference: `costs:${purchaseOrderId}:${completion}:${attempt}`,
          documentUri: orderUri(shopId, purchaseOrderId),
          traceparent: traceparentOfRun(run),
          signal,
        },
      );
      return (tx) => recordTakeBack(tx, context, takeBack, results, null);
    },
    failed: (error) => (tx) => {
      const { message, kind: reason } = error;
      const result: ItemResult =
        error.landed === "maybe" ? { outcome: "unknown", message } : { outcome: "rejected", reason, message };
      return recordTakeBack(
        tx,
        context,
        takeBack,
        costs.map(() => result),
        error,
      );
    },
  };
}

/**
 * Settles the rows by what the storefront has said. What it did not take is tried again, and what it took is read back.
 */
async function recordTakeBack(
  tx: Tx,
  context: WorkContext,
  { run, order, storedAtMs, costs }: TakeBack,
  results: readonly ItemResult[],
  error: StorefrontError | null,
): Promise<Step> {
  const { shopId, ids } = context;
  const { purchaseOrderId } = order;
  const nowMs = context.now();
  const variantIds = costs.map(({ variantId }) => variantId);
  const overtaken = await overtakenVariants(tx, shopId, purchaseOrderId, variantIds, storedAtMs);
  const problems: string[] = [];
  const failedLines = new Set<string>();
  const taken: StoredCost[] = [];
  const settled = costs.flatMap((cost, index): readonly Statement[] => {
    const result = results[index] ?? notAnswered;
    const isTaken = result.outcome === "applied" || result.outcome === "unchanged";
    if (isTaken && !overtaken.has(cost.variantId)) {
      taken.push(cost);
      return [];
    }
    const reason = isTaken ? "another order's cost came in between; the average is made anew" : result.message;
    const outcome = result.outcome === "unknown" ? "proposed" : "failed";
    problems.push(`${cost.variantId}: ${reason}`);
    failedLines.add(cost.poLineItemId);
    return [settleCostStatement(shopId, purchaseOrderId, cost.costSyncId, { outcome, reason }, nowMs)];
  });
  const detail = problems.length === 0 ? "" : problemsText(problems);
  const ended = await endRun(
    tx,
    context,
    run,
    (entry) =>
      problems.length === 0
        ? { state: "applied", itemCount: taken.length }
        : retryOrFail(context, entry, error, detail, taken.length),
    detail,
    error,
  );
  const isLast = ended.kind === "ended" && [...ended.outcomes.values()].every(({ state }) => state === "failed");
  const readBack = effectStatements(shopId, [{ kind: "settle-costs", purchaseOrderId }], ids, nowMs);
  await tx.batch([
    ...settled,
    ...(taken.length === 0
      ? []
      : [
          ...(await catalogueCostStatements(
            tx,
            shopId,
            taken.map(({ variantId, proposedUnitCost: unitCost }) => ({ variantId, unitCost })),
            recordStamp(context, run),
          )),
          ...taken.map(({ costSyncId }) => acceptCostStatement(shopId, purchaseOrderId, costSyncId, nowMs)),
          ...readBack.statements,
        ]),
    ...(isLast ? eventStatements(shopId, lineEvent("cost_sync.failed", order, failedLines), systemStamp(context)) : []),
  ]);
  return ended;
}
