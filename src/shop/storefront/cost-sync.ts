/**
 * Rows of the cost-sync history, and what costs are taken from (C45).
 *
 * Owns: what a completion, and the reading back after it, read and settle of `cost_sync`. Does not own: costs and the
 * work of an attempt (core/storefront/cost-sync.ts), and the steps of the sync
 * (operations/purchase-orders/goods/cost-sync.ts). Nor does it own the unit costs of the catalogue that follow
 * (shop/catalogue/price-changes.ts). Others add rows and page through them (shop/order/purchase-order-history.ts), and
 * read costs back (jobs/outbox/steps/costs.ts).
 */
import type { CostFacts, CostHistory, CostRow, ReplacingCost, SettledCost } from "../../core/storefront/cost-sync.ts";
import type { Fields, ValuesOf } from "../../core/order/purchase-order-fields.ts";
import type { OrderWithLines } from "../../core/order/purchase-order.ts";
import { type Money, asMoney, asQuantity } from "../../core/money/money.ts";
import { selectIn } from "../../store/in-lists.ts";
import type { Tx } from "../../store/store.ts";
import { loadReceipts, lotsFrom } from "../order/purchase-order-history.ts";
import { type Change, type Row, update, orElse } from "../../store/change.ts";
import { columnList, recordReader } from "../columns.ts";
import { tables } from "../tables.ts";

/** The unit cost and the stock that the shop has of the variants of an order, by variant id. */
export async function loadCostFacts(
  tx: Tx,
  shopId: string,
  { lineItems }: Pick<OrderWithLines, "lineItems">,
): Promise<ReadonlyMap<string, CostFacts>> {
  const variantIds = [...new Set(lineItems.map(({ variantId }) => variantId))];
  const [costs, stocks] = await Promise.all([
    selectIn<{ readonly variant_id: string; readonly unit_cost: number | null }>(
      tx,
      "select variant_id, unit_cost from variant where shop_id = ? and variant_id in (?)",
      [shopId],
      variantIds,
    ),
    selectIn<{ readonly variant_id: string; readonly on_hand: number }>(
      tx,
      `select variant_id, cast(sum(on_hand) as bigint) as on_hand from inventory_level
       where shop_id = ? and variant_id in (?) group by variant_id`,
      [shopId],
      variantIds,
    ),
  ]);
  const costOf = new Map(costs.map((row) => [row.variant_id, row.unit_cost]));
  const stockOf = new Map(stocks.map((row) => [row.variant_id, row.on_hand]));
  return new Map(
    variantIds.map((variantId) => {
      const unitCost = costOf.get(variantId) ?? null;
      return [
        variantId,
        { unitCost: unitCost === null ? null : asMoney(unitCost), onHand: asQuantity(stockOf.get(variantId) ?? 0) },
      ];
    }),
  );
}

/** Returns the history of the order's goods and costs. */
export async function loadCostHistory(tx: Tx, shopId: string, purchaseOrderId: string): Promise<CostHistory> {
  const [rows, receipts] = await Promise.all([
    tx.all<Row>(selectRows, [shopId, purchaseOrderId]),
    loadReceipts(tx, shopId, purchaseOrderId),
  ]);
  return { rows: rows.map(rowFrom), receipts };
}

const costFields = {
  costSyncId: { kind: "text" },
  variantId: { kind: "text" },
  outcome: { kind: "text" },
  attempt: { kind: "integer" },
  completion: { kind: "integer" },
  previousUnitCost: { kind: "money", empty: null },
  proposedUnitCost: { kind: "money" },
  sourceUnitCost: { kind: "money" },
  sourceCurrencyCode: { kind: "text" },
  fxRate: { kind: "rate" },
  proposedAtMs: { kind: "instant" },
} as const satisfies Fields;

const selectRows = `
select ${columnList(costFields)}, accepted_at, lots
from cost_sync where shop_id = ? and purchase_order_id = ? order by cost_sync_id`;

const costFieldsFrom = recordReader<Omit<CostRow, "isAccepted" | "lots">>(costFields);

const rowFrom = (row: Row): CostRow => ({
  ...costFieldsFrom(row),
  isAccepted: row["accepted_at"] !== null,
  lots: lotsFrom(row["lots"]),
});

/** Notes that the storefront has taken the costs of this attempt. They wait to be read back. */
export const acceptCostsStatement = (
  shopId: string,
  purchaseOrderId: string,
  { completion, attempt }: { readonly completion: number; readonly attempt: number },
  nowMs: number,
): Change =>
  update(
    tables.cost_sync,
    shopId,
    { purchase_order_id: purchaseOrderId, completion, attempt, outcome: "proposed" },
    { accepted_at: nowMs },
  );

/** Notes that the storefront has taken the cost of this row. It waits to be read back. */
export const acceptCostStatement = (
  shopId: string,
  purchaseOrderId: string,
  costSyncId: string,
  nowMs: number,
): Change =>
  update(
    tables.cost_sync,
    shopId,
    { purchase_order_id: purchaseOrderId, cost_sync_id: costSyncId },
    { accepted_at: nowMs },
  );

/**
 * Costs that earlier attempts at a completion have sent without an answer count no more. The attempt that has gone
 * through was made from the same goods.
 */
export const supersedeCostsStatement = (shopId: string, purchaseOrderId: string, completion: number): Change =>
  update(
    tables.cost_sync,
    shopId,
    { purchase_order_id: purchaseOrderId, completion, outcome: "proposed", accepted_at: null },
    { lots: "[]" },
  );

/**
 * Returns those of these variants for which the storefront has taken a cost of another order since. Costs based on the
 * one before are out of date.
 *
 * @param sinceMs when the rows that are asked about were stored.
 */
export async function overtakenVariants(
  tx: Tx,
  shopId: string,
  purchaseOrderId: string,
  variantIds: readonly string[],
  sinceMs: number,
): Promise<ReadonlySet<string>> {
  const rows = await selectIn<{ variant_id: string }>(
    tx,
    `select variant_id from cost_sync
     where shop_id = ? and purchase_order_id <> ? and proposed_at >= ? and accepted_at >= ? and outcome in ('proposed', 'applied')
       and variant_id in (?)`,
    [shopId, purchaseOrderId, sinceMs - costWriteMsMax, sinceMs],
    variantIds,
  );
  return new Set(rows.map((row) => row.variant_id));
}

/** Settles a row. One that stays `proposed` gets the reason and no instant. */
export const settleCostStatement = (
  shopId: string,
  purchaseOrderId: string,
  costSyncId: string,
  { outcome, reason }: SettledCost,
  nowMs: number,
): Change =>
  update(
    tables.cost_sync,
    shopId,
    { purchase_order_id: purchaseOrderId, cost_sync_id: costSyncId },
    {
      outcome,
      reason,
      resolved_at: outcome === "proposed" ? null : nowMs,
      accepted_at: orElse(outcome === "applied" ? nowMs : null),
    },
  );

const writtenFields = {
  costSyncId: { kind: "text" },
  variantId: { kind: "text" },
  poLineItemId: { kind: "text" },
  /** The catalogue's before it; null: it had none. */
  previousUnitCost: { kind: "money", empty: null },
  proposedUnitCost: { kind: "money" },
  proposedAtMs: { kind: "instant" },
  /** When it was known that the storefront had taken the cost; null: it is not known whether it has. */
  acceptedAtMs: { kind: "instant", empty: null },
} as const satisfies Fields;

type StoredWritten = ValuesOf<typeof writtenFields>;

/** A row that waits to be read back. */
export interface WrittenRow extends Omit<StoredWritten, "proposedUnitCost"> {
  readonly purchaseOrderId: string;
  readonly unitCost: Money;
}

const writtenFrom = recordReader<StoredWritten>(writtenFields);

/**
 * The order's rows that wait to be read back, oldest first: those of completions that are over. What a completion that
 * is under way has proposed may still be on its way to the storefront.
 */
export async function loadWrittenRows(tx: Tx, shopId: string, purchaseOrderId: string): Promise<readonly WrittenRow[]> {
  const rows = await tx.all<Row>(selectWritten, [shopId, purchaseOrderId]);
  return rows.map((row) => {
    const { proposedUnitCost: unitCost, ...written } = writtenFrom(row);
    return { purchaseOrderId, ...written, unitCost };
  });
}

const selectWritten = `
select ${columnList(writtenFields, "c.")}
from cost_sync c
left join purchase_order o on o.shop_id = c.shop_id and o.purchase_order_id = c.purchase_order_id
where c.shop_id = ? and c.purchase_order_id = ? and c.outcome = 'proposed'
  and (c.accepted_at is not null or c.completion <> coalesce(o.completed_at, 0))
order by c.cost_sync_id`;

/** A write of a cost ends sooner after its row was stored than that. An earlier one cannot come after a later one. */
export const costWriteMsMax = 60_000;

/**
 * The newest write of the row's variant that has taken the place of the row's cost at the storefront; null when none
 * has. One that the storefront has taken, and that began after it had taken the row's. Or one whose cost it shows,
 * which it has taken since the row's began, or which began later.
 *
 * @param shown what the storefront shows.
 * Source: C45; D346.
 */
export async function loadReplacingCost(
  tx: Tx,
  shopId: string,
  row: WrittenRow,
  shown: Money | null,
): Promise<ReplacingCost | null> {
  const { variantId, costSyncId, proposedAtMs, acceptedAtMs } = row;
  const [found] = await tx.all<{
    purchase_order_id: string;
    po_number: string | null;
    proposed_unit_cost: number;
    proposed_at: number;
    accepted_at: number | null;
  }>(selectReplacing, [
    shopId,
    variantId,
    proposedAtMs - costWriteMsMax,
    costSyncId,
    acceptedAtMs ?? proposedAtMs,
    shown,
    proposedAtMs,
    proposedAtMs,
  ]);
  if (found === undefined) return null;
  const isOfSameOrder = found.purchase_order_id === row.purchaseOrderId;
  return {
    isBeside:
      acceptedAtMs !== null &&
      found.accepted_at !== null &&
      found.proposed_at <= acceptedAtMs &&
      found.proposed_unit_cost === shown,
    orderName: isOfSameOrder ? null : (found.po_number ?? found.purchase_order_id),
  };
}

const selectReplacing = `
select c.purchase_order_id, o.po_number, c.proposed_unit_cost, c.proposed_at, c.accepted_at
from cost_sync c
left join purchase_order o on o.shop_id = c.shop_id and o.purchase_order_id = c.purchase_order_id
where c.shop_id = ? and c.variant_id = ? and c.proposed_at >= ? and c.cost_sync_id <> ? and c.outcome <> 'skipped'
  and ((c.accepted_at is not null and c.proposed_at >= ?)
    or (c.proposed_unit_cost = ? and (c.accepted_at >= ? or (c.accepted_at is null and c.proposed_at >= ?))))
order by c.proposed_at desc, c.cost_sync_id desc limit 1`;
