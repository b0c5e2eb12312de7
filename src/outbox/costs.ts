/**
 * Settling the costs of a completed order: the storefront's unit costs are read back and compared with what was proposed (C45).
 */
import type { EffectOutcome } from "../core/effect.ts";
import { lineEvent } from "../core/events.ts";
import { type Money, moneyToNumber } from "../core/money.ts";
import { settleCostStatement } from "../shop/cost-sync.ts";
import type { ClaimedEffect } from "../shop/effects.ts";
import { eventStatements } from "../shop/events.ts";
import { loadOrder } from "../shop/purchase-orders.ts";
import type { Statement, Tx } from "../store/store.ts";
import {
  type Run,
  type Step,
  type WorkContext,
  endFailedRun,
  endRun,
  retryOrFail,
  skipped,
  systemStamp,
} from "./step.ts";

interface ProposedRow {
  readonly cost_sync_id: string;
  readonly po_line_item_id: string;
  readonly variant_id: string;
  readonly proposed_unit_cost: number;
}

/**
 * Settles the order's `proposed` rows. A row has been applied when the storefront shows its cost. Otherwise it is read again, until the
 * last attempt of the effect: then it has failed.
 */
export async function settleCosts(
  tx: Tx,
  context: WorkContext,
  purchaseOrderId: string,
  run: Run<"settle-costs">,
): Promise<Step> {
  const { shopId } = context;
  const rows = await tx.all<ProposedRow>(
    `select cost_sync_id, po_line_item_id, variant_id, proposed_unit_cost from cost_sync
     where shop_id = ? and purchase_order_id = ? and outcome = 'proposed' order by cost_sync_id`,
    [shopId, purchaseOrderId],
  );
  if (rows.length === 0) return await endRun(tx, context, run, () => skipped, "", null);
  return {
    kind: "call",
    call: async (storefront, signal) => {
      const variantIds = [...new Set(rows.map((row) => row.variant_id))];
      const costs = await storefront.readCosts(variantIds, { signal });
      const shown = new Map(variantIds.map((variantId, index) => [variantId, costs[index] ?? null]));
      return (tx) => recordCosts(tx, context, purchaseOrderId, run, rows, shown);
    },
    failed: (error) => (tx) => endFailedRun(tx, context, run, error),
  };
}

async function recordCosts(
  tx: Tx,
  context: WorkContext,
  purchaseOrderId: string,
  run: Run<"settle-costs">,
  rows: readonly ProposedRow[],
  shown: ReadonlyMap<string, Money | null>,
): Promise<Step> {
  const { shopId } = context;
  const differ = rows.filter((row) => shown.get(row.variant_id) !== row.proposed_unit_cost);
  const detail = "the storefront shows another unit cost";
  const applied = rows.length - differ.length;
  const outcomeOf = (entry: ClaimedEffect): EffectOutcome =>
    differ.length === 0 ? { state: "applied", itemCount: applied } : retryOrFail(context, entry, null, detail, applied);
  const ended = await endRun(tx, context, run, outcomeOf, detail, null);
  const isLast = run.every((entry) => outcomeOf(entry).state !== "pending");
  const order = isLast && differ.length > 0 ? await loadOrder(tx, shopId, purchaseOrderId) : null;
  if (order !== null) {
    const lines = new Set(differ.map((row) => row.po_line_item_id));
    await tx.batch(eventStatements(shopId, lineEvent("cost_sync.failed", order, lines), systemStamp(context)));
  }
  await tx.batch(
    rows.flatMap((row): readonly Statement[] => {
      const settle = (outcome: "applied" | "failed", reason: string | null): readonly Statement[] => [
        settleCostStatement(shopId, purchaseOrderId, row.cost_sync_id, { outcome, reason }, context.now()),
      ];
      if (!differ.includes(row)) return settle("applied", null);
      return isLast ? settle("failed", costReason(shown.get(row.variant_id) ?? null)) : [];
    }),
  );
  return ended;
}

const costReason = (shown: Money | null): string =>
  shown === null ? "the storefront shows no unit cost" : `the storefront shows ${moneyToNumber(shown)}`;
