/**
 * The cost sync of a completion: the received goods' unit costs are stored as proposals, given to the supplier's catalogue and written
 * to the storefront; only then may the order be completed (spec "Rules attached to the endpoints" 3; C45).
 *
 * Owns: these steps and what is left after each. Does not own: the costs and what an attempt has left to do (core/cost-sync.ts), the
 * rows (shop/cost-sync.ts), completing (complete.ts).
 *
 * Every step can be repeated: a row is stored before the storefront is called, what was applied is skipped by the next attempt, and
 * writing a cost again changes nothing.
 */
import { z } from "zod";
import {
  type CostOutcome,
  type CostProposal,
  type CostRow,
  completionOf,
  costAttempt,
  costPlan,
  costSource,
  type DueCosts,
  dueCosts,
  skippedCustomLines,
} from "../../core/cost-sync.ts";
import { orderUri } from "../../core/effect.ts";
import { lineEvent } from "../../core/events.ts";
import { Fault } from "../../core/fault.ts";
import type { VariantStanding } from "../../core/guard.ts";
import type { PurchaseOrder } from "../../core/purchase-order.ts";
import { supplierVariantStatement } from "../../shop/catalogue.ts";
import { catalogueCostStatement, loadCostFacts, loadCostRows, settleCostStatement } from "../../shop/cost-sync.ts";
import { eventStatements } from "../../shop/events.ts";
import { costStatement } from "../../shop/purchase-order-history.ts";
import type { Statement, Tx } from "../../store/store.ts";
import { type ItemResult, StorefrontError } from "../../storefront/storefront.ts";
import type { Call } from "../operation.ts";
import { withinLimit } from "../upstream.ts";
import { stampOf } from "./access.ts";
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

/** What a cost sync that went through leaves to its completion. */
export interface WrittenCosts {
  readonly costSync: CostSync;
  /** Whether rows wait to be read back. */
  readonly settle: boolean;
  /** Take the costs over into the shop's own catalogue. Part of the completing change. */
  readonly statements: readonly Statement[];
  /** Whether the order still has the lines and rates that its costs were taken from. */
  isCurrent(order: PurchaseOrder): boolean;
}

/** A cost whose row is stored and that is about to be written. */
interface StoredProposal extends CostProposal {
  readonly costSyncId: string;
}

/** An attempt whose rows are stored. */
interface StoredAttempt {
  readonly order: PurchaseOrder;
  readonly attempt: number;
  readonly proposals: readonly StoredProposal[];
  readonly warnings: readonly string[];
  readonly appliedVariantIds: ReadonlySet<string>;
}

/** What the storefront said of one cost; `error` when the call failed as a whole. */
type CostResult = ItemResult & { readonly error?: StorefrontError };

/**
 * Refuses what `writeCosts` would refuse, before anything is changed.
 *
 * @throws Fault INVALID_INPUT naming `fxRateOverride` when a cost cannot be converted.
 */
export async function refuseUnlessPriced(tx: Tx, call: Call, order: PurchaseOrder): Promise<void> {
  costPlan(order, call.shop, await loadCostFacts(tx, call.shop.shopId, order.purchaseOrderId));
}

/**
 * Writes the costs of an order's received lines to the storefront and to the supplier's catalogue.
 *
 * @param claim             is taken before the storefront is told anything, so that one cost sync of an order runs at a time.
 * @param load              reads the order inside a change and refuses if it may no longer be completed, or another cost sync runs.
 * @param skippedVariantIds variants that the caller wants recorded without the storefront (C44 "skip").
 * @throws Fault INVALID_INPUT naming `fxRateOverride`  a cost cannot be converted; nothing was changed.
 * @throws Fault UPSTREAM_STOREFRONT  the storefront did not take every cost; what it took is kept and skipped by the next attempt.
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
  const results = proposals.length === 0 ? [] : await write(call, stored);
  if (results.some((result) => !isAccepted(result))) {
    const refused = new Set(
      proposals.flatMap((proposal, index) => (isAccepted(results[index]) ? [] : [proposal.poLineItemId])),
    );
    await call.change((tx) =>
      tx.batch([
        ...settledStatements(call, stored, results),
        ...eventStatements(shopId, lineEvent("cost_sync.failed", stored.order, refused), stampOf(call)),
      ]),
    );
    throw refusal(proposals, results);
  }
  return {
    costSync: {
      mode: costSyncMode,
      syncedVariantCount: stored.appliedVariantIds.size + proposals.length,
      skippedCustomItemCount: costSyncMode === "disabled" ? 0 : skippedCustomLines(stored.order).length,
      warnings: [...stored.warnings],
    },
    settle: proposals.length > 0,
    statements: proposals.map((proposal) =>
      catalogueCostStatement(shopId, proposal.variantId, proposal.proposedUnitCost),
    ),
    isCurrent: (order) => costSource(order) === costSource(stored.order),
  };
}

/** What this completion has left to do, and what its earlier attempts have left. */
async function loadDue(
  tx: Tx,
  call: Call,
  order: PurchaseOrder,
): Promise<{ readonly due: DueCosts; readonly rows: readonly CostRow[] }> {
  const { shopId } = call.shop;
  const { purchaseOrderId } = order;
  const [rows, facts] = await Promise.all([
    loadCostRows(tx, shopId, purchaseOrderId, completionOf(order)),
    loadCostFacts(tx, shopId, purchaseOrderId),
  ]);
  return { due: dueCosts(order, call.shop, rows, facts), rows };
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
    ...writes.flatMap((proposal) => supplierCostStatement(shopId, supplierId, proposal) ?? []),
  ];
  if (statements.length > 0) await tx.batch(statements);
  const warnings = skipped.map(({ reason }) => `${reason}; its unit cost was not written`);
  return { order, attempt, proposals: writes, warnings, appliedVariantIds: due.appliedVariantIds };
}

/** Gives the supplier's catalogue entry the order's own cost, where there is such an entry. */
const supplierCostStatement = (shopId: string, supplierId: string | null, proposal: CostProposal): Statement | null =>
  supplierId === null
    ? null
    : supplierVariantStatement(shopId, supplierId, proposal.variantId, {
        unitCost: proposal.sourceUnitCost,
        unitCostCurrencyCode: proposal.sourceCurrencyCode,
      });

async function lookUp(call: Call, variantIds: readonly string[]): Promise<ReadonlyMap<string, VariantStanding>> {
  if (variantIds.length === 0) return new Map();
  try {
    return await variantStandings(call, variantIds);
  } catch (error) {
    if (!(error instanceof StorefrontError)) throw error;
    throw notCompleted(`The storefront could not look variants up: ${error.message}.`, error);
  }
}

/** Writes the costs to the storefront. One result per proposal; a call that fails as a whole counts for each of them. */
async function write(call: Call, { order, attempt, proposals }: StoredAttempt): Promise<readonly CostResult[]> {
  const { purchaseOrderId } = order;
  try {
    return await withinLimit((signal) =>
      call.storefront.writeCosts(
        proposals.map((proposal) => ({ variantId: proposal.variantId, unitCost: proposal.proposedUnitCost })),
        {
          reference: `costs:${purchaseOrderId}:${completionOf(order)}:${attempt}`,
          documentUri: orderUri(call.shop.shopId, purchaseOrderId),
          traceparent: call.traceparent,
          signal,
        },
      ),
    );
  } catch (error) {
    if (!(error instanceof StorefrontError)) throw error;
    const { message } = error;
    const result: ItemResult =
      error.landed === "maybe" ? { outcome: "unknown", message } : { outcome: "rejected", reason: error.kind, message };
    return proposals.map(() => ({ ...result, error }));
  }
}

const isAccepted = (result: ItemResult | undefined): boolean =>
  result?.outcome === "applied" || result?.outcome === "unchanged";

/** Settle the rows of an attempt that did not go through; the catalogue gets the costs that the storefront took. */
function settledStatements(
  call: Call,
  { order, proposals }: StoredAttempt,
  results: readonly CostResult[],
): readonly Statement[] {
  const { shopId } = call.shop;
  const nowMs = call.clock.now();
  return proposals.flatMap((proposal, index) => {
    const settled = outcomeOf(results[index]);
    return [
      settleCostStatement(shopId, order.purchaseOrderId, proposal.costSyncId, settled, nowMs),
      ...(settled.outcome === "applied"
        ? [catalogueCostStatement(shopId, proposal.variantId, proposal.proposedUnitCost)]
        : []),
    ];
  });
}

/** What a row becomes. One without an answer stays `proposed`, since its cost may have been written. */
function outcomeOf(result: ItemResult | undefined): { readonly outcome: CostOutcome; readonly reason: string | null } {
  switch (result?.outcome) {
    case "applied":
    case "unchanged":
      return { outcome: "applied", reason: null };
    case "rejected":
      return { outcome: "failed", reason: result.message };
    case "unknown":
      return { outcome: "proposed", reason: result.message };
    case undefined:
      return { outcome: "proposed", reason: "the storefront did not answer for this variant" };
  }
}

/** Variants that a message spells out; cost-sync-history has them all. */
const namedVariantsMax = 5;

function refusal(proposals: readonly StoredProposal[], results: readonly CostResult[]): Fault {
  const failed = proposals.flatMap((proposal, index) => {
    const result = results[index];
    return result === undefined || !("message" in result) ? [] : [{ proposal, result }];
  });
  const named = failed
    .slice(0, namedVariantsMax)
    .map(({ proposal, result }) => `${proposal.variantId}: ${result.message}`);
  const more = failed.length > namedVariantsMax ? `; and ${failed.length - namedVariantsMax} more` : "";
  return notCompleted(
    `The storefront did not take ${failed.length} of ${proposals.length} unit costs (${named.join("; ")}${more}). Costs that it took are kept.`,
    failed.find(({ result }) => result.error !== undefined)?.result.error ?? null,
  );
}

const notCompleted = (message: string, error: StorefrontError | null): Fault =>
  new Fault("UPSTREAM_STOREFRONT", `${message} The order was not completed.`, {
    action: "Repeat the call; what was written already is skipped. cost-sync-history says what became of each variant.",
    ...(error === null ? {} : { cause: error }),
    ...(error === null || error.retryAfterMs === null ? {} : { retryAfterMs: error.retryAfterMs }),
  });
