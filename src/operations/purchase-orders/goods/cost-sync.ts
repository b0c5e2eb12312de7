/**
 * The cost sync of a completion: the received goods' unit costs are stored as proposals, given to the supplier's
 * catalogue and written to the storefront. Only then may the order be completed (spec "Rules attached to the endpoints"
 * 3; C45).
 *
 * Owns: these steps and what is left after each. Does not own: the costs and what an attempt has left to do
 * (core/storefront/cost-sync.ts), the rows (shop/storefront/cost-sync.ts), completing (complete.ts).
 *
 * Every step can be repeated. A row is stored before the storefront is called, the next attempt skips what was applied,
 * and writing a cost again changes nothing.
 */
import { z } from "zod";
import {
  type CostHistory,
  type CostProposal,
  completionOf,
  costAttempt,
  costPlan,
  costSource,
  type DueCosts,
  dueCosts,
  type SettledCost,
  skippedCustomLines,
} from "../../../core/storefront/cost-sync.ts";
import { orderUri } from "../../../core/order/effect.ts";
import { lineEvent } from "../../../core/events/events.ts";
import { Fault } from "../../../base/fault.ts";
import type { VariantStanding } from "../../../core/goods/guard.ts";
import type { PurchaseOrder } from "../../../core/order/purchase-order.ts";
import { catalogueCostStatements, loadPriceEntries, termStatements } from "../../../shop/catalogue/price-changes.ts";
import {
  acceptCostsStatement,
  loadCostFacts,
  loadCostHistory,
  overtakenVariants,
  settleCostStatement,
  supersedeCostsStatement,
} from "../../../shop/storefront/cost-sync.ts";
import type { RecordStamp } from "../../../shop/catalogue/record-log.ts";
import { eventStatements } from "../../../shop/events/events.ts";
import { costStatement } from "../../../shop/order/purchase-order-history.ts";
import type { Statement, Tx } from "../../../store/store.ts";
import { type ItemResult, StorefrontError, notAnswered } from "../../../storefront/storefront.ts";
import type { Call } from "../../../requests/operation.ts";
import { withinLimit } from "../../../requests/write/upstream-time-limit.ts";
import { stampOf } from "../access.ts";
import { variantStandings } from "./guard.ts";
import type { OrderClaim } from "./order-claim.ts";

export const costSyncSchema = z
  .strictObject({
    mode: z.enum(["unit-cost", "moving-average", "disabled"]).meta({ description: "The shop's setting." }),
    syncedVariantCount: z.int().meta({
      description: "Variants whose cost the storefront took, in this and earlier attempts of this completion.",
    }),
    skippedCustomItemCount: z.int().meta({ description: "Received lines without a catalogue variant." }),
    warnings: z.array(z.string()).meta({ description: "Variants whose cost was not written, and why." }),
  })
  .meta({ description: "What became of unit costs; row by row in cost-sync-history." });

type CostSync = z.output<typeof costSyncSchema>;

/** Result of a cost sync for its completion, when it went through. */
export interface WrittenCosts {
  readonly costSync: CostSync;
  /** True if rows wait to be read back. */
  readonly settle: boolean;
  /** Takes the costs over into the shop's own catalogue. Part of the completing change. */
  statements(tx: Tx): Promise<readonly Statement[]>;
  /** True if the order still has the lines and rates that its costs were taken from. */
  isCurrent(order: PurchaseOrder): boolean;
  /**
   * Refuses averages that were made of costs which other orders have replaced since. Part of the completing change.
   * @throws CostsOvertaken
   */
  refuseOvertaken(tx: Tx): Promise<void>;
  /** Keeps what the storefront has taken, in a change of its own, where the order is not completed. */
  keep(): Promise<void>;
}

/**
 * While an order's averages were written, another order's cost came in between, and the averages have to be made anew.
 */
class CostsOvertaken extends Error {
  override readonly name = "CostsOvertaken";
}

/** Tries of a call to make averages that others overtake. */
const overtakenMax = 5;

/** A cost whose row is stored and that is about to be written. */
interface StoredProposal extends CostProposal {
  readonly costSyncId: string;
}

/** An attempt whose rows are stored. */
interface StoredAttempt {
  readonly order: PurchaseOrder;
  readonly completion: number;
  readonly attempt: number;
  readonly storedAtMs: number;
  /** Earlier attempts have told the storefront something that it has not answered. */
  readonly hasUnanswered: boolean;
  /** Costs of earlier attempts, which the storefront took before the order was edited, wait to be read back. */
  readonly hasUnread: boolean;
  readonly proposals: readonly StoredProposal[];
  readonly warnings: readonly string[];
  readonly appliedVariantIds: ReadonlySet<string>;
}

/** A cost with what the storefront said of it; `error` when the call failed as a whole, else null. */
interface ReportedCost {
  readonly proposal: StoredProposal;
  readonly result: ItemResult;
  readonly error: StorefrontError | null;
}

/**
 * Refuses what `writeCosts` would refuse, before anything is changed.
 *
 * @throws Fault INVALID_INPUT naming `fxRateOverride` when a cost cannot be converted.
 */
export async function refuseUnlessPriced(tx: Tx, call: Call, order: PurchaseOrder): Promise<void> {
  costPlan(order, call.shop, await loadCostFacts(tx, call.shop.shopId, order));
}

/**
 * Writes the costs of an order's received lines to the storefront and to the supplier's catalogue.
 *
 * @param claim             is taken before the storefront is told anything, so that one cost sync of an order runs at a
 *   time.
 * @param load              reads the order inside a change and refuses if it may no longer be completed, or another
 *   cost sync runs.
 * @param skippedVariantIds variants that the caller wants recorded without the storefront (C44 "skip").
 * @throws Fault INVALID_INPUT naming `fxRateOverride`  a cost cannot be converted; nothing was changed.
 * @throws Fault UPSTREAM_STOREFRONT  the storefront did not take every cost; what it took is kept and skipped by the
 *                                    next attempt.
 * Source: C45.
 */
export async function writeCosts(
  call: Call,
  claim: OrderClaim,
  load: (tx: Tx) => Promise<PurchaseOrder>,
  skippedVariantIds: ReadonlySet<string> = new Set(),
): Promise<WrittenCosts> {
  const { shopId, costSyncMode } = call.shop;
  const { proposals: due } = await call.read(async (tx) => (await loadDue(tx, call, await load(tx))).due);
  const standings = await lookUp(
    call,
    due.map((proposal) => proposal.variantId).filter((variantId) => !skippedVariantIds.has(variantId)),
  );
  const stored = await call.change(async (tx) => {
    const attempt = await storeAttempt(tx, call, await load(tx), standings, skippedVariantIds);
    const { purchaseOrderId } = attempt.order;
    if (attempt.proposals.length > 0) await claim.take(tx, { kind: "end-cost-sync", purchaseOrderId });
    return attempt;
  });
  const { proposals } = stored;
  const reported = proposals.length === 0 ? [] : await write(call, stored);
  const refused = reported.filter(({ result }) => !isAccepted(result));
  if (refused.length > 0) {
    const lines = new Set(refused.map(({ proposal }) => proposal.poLineItemId));
    const failed = eventStatements(shopId, lineEvent("cost_sync.failed", stored.order, lines), stampOf(call));
    await call.change(async (tx) => tx.batch([...(await settledStatements(tx, call, stored, reported)), ...failed]));
    throw refusal(proposals.length, refused);
  }
  const { completion } = stored;
  const { purchaseOrderId } = stored.order;
  // As soon as the storefront has answered: a cost that begins later takes the place of these (D346).
  const takenAtMs = call.clock.now();
  return {
    costSync: {
      mode: costSyncMode,
      syncedVariantCount: stored.appliedVariantIds.size + proposals.length,
      skippedCustomItemCount: costSyncMode === "disabled" ? 0 : skippedCustomLines(stored.order).length,
      warnings: [...stored.warnings],
    },
    settle: proposals.length > 0 || stored.hasUnread || stored.hasUnanswered,
    statements: async (tx) => [
      ...(proposals.length === 0 ? [] : [acceptCostsStatement(shopId, purchaseOrderId, stored, takenAtMs)]),
      ...(await catalogueStatements(tx, call, proposals)),
      ...(stored.hasUnanswered ? [supersedeCostsStatement(shopId, purchaseOrderId, completion)] : []),
    ],
    isCurrent: (order) => costSource(order) === costSource(stored.order),
    async refuseOvertaken(tx) {
      if ((await overtakenOf(tx, call, stored)).size > 0) throw new CostsOvertaken();
    },
    keep: () => call.change(async (tx) => tx.batch(await keptStatements(tx, call, stored))),
  };
}

/**
 * Writes the costs and completes the order with them. Averages that another order has overtaken meanwhile are written
 * anew.
 *
 * @param write  writes the costs.
 * @param commit completes the order. It refuses an order that was edited meanwhile.
 */
export async function completedWithCosts<T>(
  write: () => Promise<WrittenCosts>,
  commit: (costs: WrittenCosts) => Promise<T>,
): Promise<T> {
  for (let overtaken = 0; ;) {
    const costs = await write();
    try {
      return await commit(costs);
    } catch (error) {
      const isOvertaken = error instanceof CostsOvertaken;
      // Whatever the order is refused for, the storefront has the costs.
      if (isOvertaken || error instanceof Fault) await costs.keep();
      overtaken += 1;
      if (!isOvertaken) throw error;
      if (overtaken === overtakenMax) throw editedMeanwhile("Unit costs of the same variants");
    }
  }
}

/** @param what as the subject of a sentence in the plural. */
const editedMeanwhile = (what: string): Fault =>
  new Fault("INVALID_INPUT", `${what} were written by other orders meanwhile; the order was not completed.`, {
    reason: "ORDER_EDITED",
    action: "Repeat the call; it writes the costs that changed.",
  });

/** Variants whose averages were made of a cost that another order has replaced since. */
const overtakenOf = async (
  tx: Tx,
  call: Call,
  { order, proposals, storedAtMs }: StoredAttempt,
): Promise<ReadonlySet<string>> =>
  call.shop.costSyncMode !== "moving-average" || proposals.length === 0
    ? new Set()
    : await overtakenVariants(
        tx,
        call.shop.shopId,
        order.purchaseOrderId,
        proposals.map(({ variantId }) => variantId),
        storedAtMs,
      );

/** Returns the work that this completion has left, and that of its earlier attempts. */
async function loadDue(
  tx: Tx,
  call: Call,
  order: PurchaseOrder,
): Promise<{ readonly due: DueCosts; readonly rows: CostHistory["rows"] }> {
  const { shopId } = call.shop;
  const { purchaseOrderId } = order;
  const [history, facts] = await Promise.all([
    loadCostHistory(tx, shopId, purchaseOrderId),
    loadCostFacts(tx, shopId, order),
  ]);
  const rows = history.rows.filter((row) => row.completion === completionOf(order));
  return { due: dueCosts(order, call.shop, history, facts), rows };
}

/** Stores a row for every cost that is about to be written, and one for every variant whose cost cannot be. */
async function storeAttempt(
  tx: Tx,
  call: Call,
  order: PurchaseOrder,
  standings: ReadonlyMap<string, VariantStanding>,
  skippedVariantIds: ReadonlySet<string>,
): Promise<StoredAttempt> {
  const { shopId } = call.shop;
  const { purchaseOrderId, supplierId } = order;
  const nowMs = call.clock.now();
  const { due, rows } = await loadDue(tx, call, order);
  const completion = completionOf(order);
  const identified = due.proposals.map((proposal) => ({ ...proposal, costSyncId: call.ids.next("cs") }));
  const { attempt, writes, skipped } = costAttempt(identified, rows, standings, skippedVariantIds);
  // A row that is skipped is settled at once.
  const insert = (proposal: StoredProposal, outcome: "proposed" | "skipped", reason: string | null): Statement => {
    const times = { proposedAtMs: nowMs, resolvedAtMs: outcome === "proposed" ? null : nowMs };
    return costStatement(shopId, purchaseOrderId, { ...proposal, outcome, reason, attempt, completion, ...times });
  };
  const statements = [
    ...skipped.flatMap(({ proposal, reason, isRecorded }) => (isRecorded ? [] : [insert(proposal, "skipped", reason)])),
    ...writes.map((proposal) => insert(proposal, "proposed", null)),
    ...(await supplierCostStatements(tx, call, supplierId, writes)),
  ];
  if (statements.length > 0) await tx.batch(statements);
  const warnings = skipped.map(({ reason }) => `${reason}; its unit cost was not written`);
  const { appliedVariantIds } = due;
  const waiting = rows.filter((row) => row.outcome === "proposed");
  const hasUnanswered = waiting.some((row) => !row.isAccepted);
  const hasUnread = waiting.some((row) => row.isAccepted);
  return {
    order,
    completion,
    attempt,
    storedAtMs: nowMs,
    hasUnanswered,
    hasUnread,
    proposals: writes,
    warnings,
    appliedVariantIds,
  };
}

const recordStampOf = (call: Call): RecordStamp => ({ ...call, nowMs: call.clock.now() });

/** Give the supplier's catalogue entries the costs of what was paid for, where there are such entries. */
async function supplierCostStatements(
  tx: Tx,
  call: Call,
  supplierId: string | null,
  proposals: readonly CostProposal[],
): Promise<readonly Statement[]> {
  const { shopId } = call.shop;
  const writes = proposals.flatMap(({ variantId, supplierCost }) => {
    if (supplierCost === null) return [];
    const { unitCost, currencyCode: unitCostCurrencyCode } = supplierCost;
    return [{ variantId, changes: { unitCost, unitCostCurrencyCode } }];
  });
  if (supplierId === null || writes.length === 0) return [];
  const variantIds = writes.map(({ variantId }) => variantId);
  const entries = await loadPriceEntries(tx, shopId, supplierId, variantIds);
  return termStatements(shopId, entries, writes, recordStampOf(call));
}

/** Give the shop's own catalogue the costs that the storefront has taken. */
const catalogueStatements = (
  tx: Tx,
  call: Call,
  taken: readonly Pick<CostProposal, "variantId" | "proposedUnitCost">[],
): Promise<readonly Statement[]> =>
  catalogueCostStatements(
    tx,
    call.shop.shopId,
    taken.map(({ variantId, proposedUnitCost: unitCost }) => ({ variantId, unitCost })),
    recordStampOf(call),
  );

async function lookUp(call: Call, variantIds: readonly string[]): Promise<ReadonlyMap<string, VariantStanding>> {
  if (variantIds.length === 0) return new Map();
  try {
    return await variantStandings(call, variantIds);
  } catch (error) {
    if (!(error instanceof StorefrontError)) throw error;
    throw notCompleted(`The storefront could not look variants up: ${error.message}.`, error);
  }
}

/** Writes the costs to the storefront. A call that fails as a whole counts for each of them. */
async function write(
  call: Call,
  { order, completion, attempt, proposals }: StoredAttempt,
): Promise<readonly ReportedCost[]> {
  const { purchaseOrderId } = order;
  try {
    const results = await withinLimit((signal) =>
      call.storefront.writeCosts(
        proposals.map((proposal) => ({ variantId: proposal.variantId, unitCost: proposal.proposedUnitCost })),
        {
          reference: `costs:${purchaseOrderId}:${completion}:${attempt}`,
          documentUri: orderUri(call.shop.shopId, purchaseOrderId),
          traceparent: call.traceparent,
          signal,
        },
      ),
    );
    return proposals.map((proposal, index) => ({ proposal, result: results[index] ?? notAnswered, error: null }));
  } catch (error) {
    if (!(error instanceof StorefrontError)) throw error;
    const { message } = error;
    const result: ItemResult =
      error.landed === "maybe" ? { outcome: "unknown", message } : { outcome: "rejected", reason: error.kind, message };
    return proposals.map((proposal) => ({ proposal, result, error }));
  }
}

type Refused = Extract<ItemResult, { readonly message: string }>;

const isAccepted = (result: ItemResult): result is Exclude<ItemResult, Refused> =>
  result.outcome === "applied" || result.outcome === "unchanged";

/**
 * Changes that keep the costs which the storefront took in an attempt that did not complete the order. They are read
 * back with those of the next attempt.
 */
async function keptStatements(tx: Tx, call: Call, stored: StoredAttempt): Promise<readonly Statement[]> {
  const { shopId } = call.shop;
  const { purchaseOrderId } = stored.order;
  const nowMs = call.clock.now();
  const overtakenIds = await overtakenOf(tx, call, stored);
  return [
    ...stored.proposals
      .filter(({ variantId }) => overtakenIds.has(variantId))
      .map(({ costSyncId }) => settleCostStatement(shopId, purchaseOrderId, costSyncId, overtaken, nowMs)),
    acceptCostsStatement(shopId, purchaseOrderId, stored, nowMs),
    ...(await catalogueStatements(
      tx,
      call,
      stored.proposals.filter(({ variantId }) => !overtakenIds.has(variantId)),
    )),
  ];
}

const overtaken: SettledCost = {
  outcome: "failed",
  reason: "another order's cost came in between; the average is made anew",
};

/**
 * Settle the rows of an attempt that did not go through; the catalogue gets the costs that the storefront took. An
 * average that another order has overtaken is not one of them: it is made anew.
 */
async function settledStatements(
  tx: Tx,
  call: Call,
  stored: StoredAttempt,
  reported: readonly ReportedCost[],
): Promise<readonly Statement[]> {
  const { shopId } = call.shop;
  const { purchaseOrderId } = stored.order;
  const nowMs = call.clock.now();
  const overtakenIds = await overtakenOf(tx, call, stored);
  const rows = reported.map(({ proposal, result }) => ({
    proposal,
    settled: overtakenIds.has(proposal.variantId) ? overtaken : outcomeOf(result),
  }));
  const applied = rows.filter(({ settled }) => settled.outcome === "applied").map(({ proposal }) => proposal);
  return [
    ...rows.map(({ proposal: { costSyncId }, settled }) =>
      settleCostStatement(shopId, purchaseOrderId, costSyncId, settled, nowMs),
    ),
    ...(await catalogueStatements(tx, call, applied)),
  ];
}

/** Returns the outcome of a row. One of unknown outcome stays `proposed`, since its cost may have been written. */
function outcomeOf(result: ItemResult): SettledCost {
  if (isAccepted(result)) return { outcome: "applied", reason: null };
  return { outcome: result.outcome === "rejected" ? "failed" : "proposed", reason: result.message };
}

/** Variants that a message spells out; cost-sync-history has them all. */
const namedVariantsMax = 5;

function refusal(costCount: number, refused: readonly ReportedCost[]): Fault {
  const named = refused
    .slice(0, namedVariantsMax)
    .map(({ proposal, result }) => `${proposal.variantId}: ${outcomeOf(result).reason}`);
  const more = refused.length > namedVariantsMax ? `; and ${refused.length - namedVariantsMax} more` : "";
  return notCompleted(
    `The storefront did not take ${refused.length} of ${costCount} unit costs (${named.join("; ")}${more}). Costs that it took are kept.`,
    refused[0]?.error ?? null,
  );
}

const notCompleted = (message: string, error: StorefrontError | null): Fault =>
  new Fault("UPSTREAM_STOREFRONT", `${message} The order was not completed.`, {
    action: "Repeat the call; what was written already is skipped. cost-sync-history says what became of each variant.",
    ...(error === null ? {} : { cause: error }),
    ...(error === null || error.retryAfterMs === null ? {} : { retryAfterMs: error.retryAfterMs }),
  });
