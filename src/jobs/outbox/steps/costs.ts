/**
 * Settling the costs of a completed order: the storefront's unit costs are read back and compared with what was
 * proposed (C45).
 */
import { readBackCost, type ReplacingCost, type SettledCost, unreadCost } from "../../../core/storefront/cost-sync.ts";
import type { EffectOutcome } from "../../../core/order/effect.ts";
import { lineEvent } from "../../../core/events/events.ts";
import type { Money } from "../../../core/money/money.ts";
import { type CatalogueCost, catalogueCostStatements } from "../../../shop/catalogue/price-changes.ts";
import {
  loadReplacingCost,
  loadWrittenRows,
  settleCostStatement,
  type WrittenRow,
} from "../../../shop/storefront/cost-sync.ts";
import type { ClaimedEffect } from "../../../shop/storefront/effects.ts";
import { eventStatements } from "../../../shop/events/events.ts";
import { loadOrder } from "../../../shop/order/purchase-orders.ts";
import type { Tx } from "../../../store/store.ts";
import {
  type Run,
  type Step,
  type WorkContext,
  endFailedRun,
  endRun,
  recordStamp,
  retryOrFail,
  skipped,
  systemStamp,
} from "../step.ts";

/**
 * Settles the order's written rows. One has been applied when the storefront shows its cost, or when another cost of
 * this service has taken its place since (D346). Otherwise it is read again, until the last attempt of the effect: then
 * it has failed.
 */
export async function settleCosts(
  tx: Tx,
  context: WorkContext,
  purchaseOrderId: string,
  run: Run<"settle-costs">,
): Promise<Step> {
  const rows = await loadWrittenRows(tx, context.shopId, purchaseOrderId);
  if (rows.length === 0) return await endRun(tx, context, run, () => skipped, "", null);
  return {
    kind: "call",
    call: async (storefront, signal) => {
      const variantIds = [...new Set(rows.map((row) => row.variantId))];
      const costs = await storefront.readCosts(variantIds, { signal });
      const shown = new Map(variantIds.map((variantId, index) => [variantId, costs[index] ?? null]));
      return (tx) => recordCosts(tx, context, purchaseOrderId, run, rows, shown);
    },
    failed: (error) => (tx) => endFailedRun(tx, context, run, error),
  };
}

/** A row with what the storefront shows in its place. */
interface ReadRow {
  readonly row: WrittenRow;
  readonly shown: Money | null;
  readonly replacing: ReplacingCost | null;
  /** Null: the storefront may still show its cost. */
  readonly settled: SettledCost | null;
}

async function readRow(tx: Tx, shopId: string, row: WrittenRow, shown: Money | null): Promise<ReadRow> {
  const replacing = shown === row.unitCost ? null : await loadReplacingCost(tx, shopId, row, shown);
  const isAccepted = row.acceptedAtMs !== null;
  return { row, shown, replacing, settled: readBackCost({ unitCost: row.unitCost, isAccepted }, shown, replacing) };
}

async function recordCosts(
  tx: Tx,
  context: WorkContext,
  purchaseOrderId: string,
  run: Run<"settle-costs">,
  rows: readonly WrittenRow[],
  shown: ReadonlyMap<string, Money | null>,
): Promise<Step> {
  const { shopId } = context;
  const read = await Promise.all(rows.map((row) => readRow(tx, shopId, row, shown.get(row.variantId) ?? null)));
  const unsettled = read.filter(({ settled }) => settled === null);
  const detail = "the storefront shows another unit cost";
  const applied = read.filter(({ settled }) => settled?.outcome === "applied").length;
  const outcomeOf = (entry: ClaimedEffect): EffectOutcome =>
    unsettled.length === 0
      ? { state: "applied", itemCount: applied }
      : retryOrFail(context, entry, null, detail, applied);
  const ended = await endRun(tx, context, run, outcomeOf, detail, null);
  const isLast = run.every((entry) => outcomeOf(entry).state !== "pending");
  const order = isLast && unsettled.length > 0 ? await loadOrder(tx, shopId, purchaseOrderId) : null;
  if (order !== null) {
    const lines = new Set(unsettled.map(({ row }) => row.poLineItemId));
    await tx.batch(eventStatements(shopId, lineEvent("cost_sync.failed", order, lines), systemStamp(context)));
  }
  const over = read.flatMap((each) => {
    const settled = each.settled ?? (isLast ? unreadCost(each.shown) : null);
    return settled === null ? [] : [{ each, settled }];
  });
  const corrections = over.flatMap(({ each, settled }) => correctionOf(each, settled) ?? []);
  await tx.batch([
    ...over.map(({ each: { row }, settled }) =>
      settleCostStatement(shopId, purchaseOrderId, row.costSyncId, settled, context.now()),
    ),
    ...(await catalogueCostStatements(tx, shopId, corrections, recordStamp(context, run))),
  ]);
  return ended;
}

/**
 * Of two costs that were on their way at the same time, the catalogue has that of the order that was completed last.
 * The storefront has the one that reached it last. The catalogue follows the storefront. It does so too where the
 * storefront has another cost than it had said, or one of which it had said nothing. The goods are weighed with the
 * next completion, with the storefront's cost.
 */
function correctionOf({ row, shown, replacing }: ReadRow, { outcome }: SettledCost): CatalogueCost | null {
  const { variantId } = row;
  const isUnanswered = row.acceptedAtMs === null;
  if (isUnanswered && shown === row.unitCost) return { variantId, from: row.previousUnitCost, unitCost: shown };
  return (replacing?.isBeside === true && shown !== null) ||
    (replacing === null && outcome === "failed" && !isUnanswered)
    ? { variantId, from: row.unitCost, unitCost: shown }
    : null;
}
