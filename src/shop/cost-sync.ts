/**
 * Rows of the cost-sync history, and what costs are taken from (C45).
 *
 * Owns: what a completion reads and settles of `cost_sync`, and the unit costs of the catalogue that follow. Does not own: what a cost
 * becomes and what an attempt has left to do (core/cost-sync.ts), the steps of the sync (operations/purchase-orders/cost-sync.ts),
 * adding rows and paging through them (purchase-order-history.ts), reading costs back (outbox/costs.ts).
 */
import { type Money, asMoney, asQuantity } from "../core/money.ts";
import type { CostFacts, CostOutcome, CostRow } from "../core/cost-sync.ts";
import type { Statement, Tx } from "../store/store.ts";

/** The unit cost and the stock that the shop has of the variants of an order, by variant id. */
export async function loadCostFacts(
  tx: Tx,
  shopId: string,
  purchaseOrderId: string,
): Promise<ReadonlyMap<string, CostFacts>> {
  const rows = await tx.all<{ variant_id: string; unit_cost: number | null; on_hand: number | null }>(selectFacts, [
    shopId,
    purchaseOrderId,
  ]);
  return new Map(
    rows.map((row) => [
      row.variant_id,
      { unitCost: row.unit_cost === null ? null : asMoney(row.unit_cost), onHand: asQuantity(row.on_hand ?? 0) },
    ]),
  );
}

const selectFacts = `
select distinct l.variant_id, v.unit_cost,
  (select cast(sum(i.on_hand) as bigint) from inventory_level i
   where i.shop_id = l.shop_id and i.variant_id = l.variant_id) as on_hand
from purchase_order_line l
left join variant v on v.shop_id = l.shop_id and v.variant_id = l.variant_id
where l.shop_id = ? and l.purchase_order_id = ?`;

/** The rows of all attempts at one completion (`completionOf`), oldest first. */
export async function loadCostRows(
  tx: Tx,
  shopId: string,
  purchaseOrderId: string,
  completion: number,
): Promise<readonly CostRow[]> {
  const rows = await tx.all<{
    cost_sync_id: string;
    variant_id: string;
    outcome: CostOutcome;
    attempt: number;
    previous_unit_cost: number | null;
    proposed_unit_cost: number;
    source_unit_cost: number;
    source_currency_code: string;
  }>(
    `select cost_sync_id, variant_id, outcome, attempt, previous_unit_cost, proposed_unit_cost, source_unit_cost,
       source_currency_code
     from cost_sync where shop_id = ? and purchase_order_id = ? and completion = ? order by cost_sync_id`,
    [shopId, purchaseOrderId, completion],
  );
  return rows.map((row) => ({
    costSyncId: row.cost_sync_id,
    variantId: row.variant_id,
    outcome: row.outcome,
    attempt: row.attempt,
    previousUnitCost: row.previous_unit_cost === null ? null : asMoney(row.previous_unit_cost),
    proposedUnitCost: asMoney(row.proposed_unit_cost),
    sourceUnitCost: asMoney(row.source_unit_cost),
    sourceCurrencyCode: row.source_currency_code,
  }));
}

/** Settles a row. One that stays `proposed` gets the reason and no instant. */
export const settleCostStatement = (
  shopId: string,
  purchaseOrderId: string,
  costSyncId: string,
  settled: { readonly outcome: CostOutcome; readonly reason: string | null },
  nowMs: number,
): Statement => ({
  sql: `update cost_sync set outcome = ?, reason = ?, resolved_at = ?
        where shop_id = ? and purchase_order_id = ? and cost_sync_id = ?`,
  params: [
    settled.outcome,
    settled.reason,
    settled.outcome === "proposed" ? null : nowMs,
    shopId,
    purchaseOrderId,
    costSyncId,
  ],
});

/** Sets the catalogue's unit cost of a variant, in the shop's currency. A variant that the catalogue does not hold is left out. */
export const catalogueCostStatement = (shopId: string, variantId: string, unitCost: Money): Statement => ({
  sql: "update variant set unit_cost = ? where shop_id = ? and variant_id = ?",
  params: [unitCost, shopId, variantId],
});
