/**
 * The cost sync of a completion (spec "Rules attached to the endpoints" 3; C45): what an order's received lines cost is proposed,
 * recorded, given to the supplier's catalogue, and written to the storefront; only then may the order be completed.
 *
 * Owns: these steps and what is left after each. Does not own: what a cost becomes (core/storefront-plan.ts), the rows' SQL
 * (shop/cost-sync.ts), completing.
 *
 * Every step can be repeated: a row is kept before the storefront is called, what was applied is skipped by the next attempt, and
 * writing a cost again changes nothing.
 */
import { z } from "zod";
import { Fault } from "../../core/fault.ts";
import { isCustom } from "../../core/lines.ts";
import type { PurchaseOrder } from "../../core/purchase-order.ts";
import { type CostProposal, costPlan } from "../../core/cost-sync.ts";
import type { VariantStanding } from "../../core/guard.ts";
import { supplierVariantStatement } from "../../shop/catalogue.ts";
import {
  type CostOutcome,
  type CostRow,
  catalogueCostStatement,
  insertCostStatement,
  loadCostFacts,
  loadCostRows,
  settleCostStatement,
} from "../../shop/cost-sync.ts";
import type { Statement, Tx } from "../../store/store.ts";
import { type ItemResult, StorefrontError } from "../../storefront/storefront.ts";
import type { Call } from "../operation.ts";
import { withinLimit } from "../upstream.ts";

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

export type CostSync = z.output<typeof costSyncSchema>;

/** A proposal whose row is kept. */
interface KeptProposal extends CostProposal {
  readonly costSyncId: string;
}

export interface CostsWritten {
  readonly costSync: CostSync;
  /** Rows wait to be read back. */
  readonly settle: boolean;
  /** Carries the accepted costs into the shop's own catalogue. Part of the completing change. */
  readonly statements: readonly Statement[];
  /** Whether the order still has the lines and rates that its costs were taken from. */
  unmoved(order: PurchaseOrder): boolean;
}

/** What the costs of an order are taken from. */
const costSource = (order: PurchaseOrder): string =>
  JSON.stringify([
    order.currencyCode,
    order.fxRateOverride,
    order.supplierId,
    received(order).map((line) => [line.poLineItemId, line.quantityReceived, line.unitCost, line.unitCostCurrencyCode]),
  ]);

const received = (order: PurchaseOrder) => order.lineItems.filter((line) => line.quantityReceived > 0);

/** The completion that rows belong to: known by the instant of the one before. */
const completionOf = (order: PurchaseOrder): number => order.completedAtMs ?? 0;

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
 * @param load       reads the order inside a change and refuses if it may no longer be completed.
 * @param leftAlone  variants that the caller wants recorded without the storefront (C44 "skip").
 * @throws Fault INVALID_INPUT naming `fxRateOverride`  a cost cannot be converted; nothing was changed.
 * @throws Fault UPSTREAM_STOREFRONT  the storefront did not take every cost; what it took is kept and skipped by the next attempt.
 * Source: C45.
 */
export async function writeCosts(
  call: Call,
  load: (tx: Tx) => Promise<PurchaseOrder>,
  leftAlone: ReadonlySet<string> = new Set(),
): Promise<CostsWritten> {
  const { shopId, costSyncMode } = call.shop;
  const due = await call.read(async (tx) => dueProposals(tx, call, await load(tx)));
  const standings = await lookUp(
    call,
    due.proposals.map((proposal) => proposal.variantId).filter((variantId) => !leftAlone.has(variantId)),
  );
  const kept = await call.change(async (tx) => keep(tx, call, await load(tx), standings, leftAlone));
  const results = kept.proposals.length === 0 ? [] : await write(call, kept);
  const failed = results.filter((result) => !isAccepted(result));
  if (failed.length > 0) {
    await call.change((tx) =>
      tx.batch(kept.proposals.flatMap((proposal, index) => settled(call, kept.order, proposal, results[index]))),
    );
    throw refused(kept.proposals, results);
  }
  return {
    costSync: {
      mode: costSyncMode,
      syncedVariantCount: kept.appliedVariantIds.size + kept.proposals.length,
      skippedCustomItemCount: costSyncMode === "disabled" ? 0 : received(kept.order).filter(isCustom).length,
      warnings: [...kept.warnings],
    },
    settle: kept.proposals.length > 0,
    statements: kept.proposals.map((proposal) =>
      catalogueCostStatement(shopId, proposal.variantId, proposal.proposedUnitCost),
    ),
    unmoved: (order) => costSource(order) === costSource(kept.order),
  };
}

/**
 * Proposals that no earlier attempt of this completion has brought through, and what there is of those. They are made from the costs
 * before the first attempt, so that what was applied is known again, and due again only if the order has changed since.
 */
async function dueProposals(tx: Tx, call: Call, order: PurchaseOrder) {
  const { shopId } = call.shop;
  const { purchaseOrderId } = order;
  const [rows, facts] = await Promise.all([
    loadCostRows(tx, shopId, purchaseOrderId, completionOf(order)),
    loadCostFacts(tx, shopId, purchaseOrderId),
  ]);
  const applied = Map.groupBy(
    rows.filter((row) => row.outcome === "applied"),
    (row) => row.variantId,
  );
  const factsBefore = new Map(
    [...facts].map(([variantId, known]) => {
      const [first] = applied.get(variantId) ?? [];
      return [variantId, first === undefined ? known : { ...known, unitCost: first.previousUnitCost }];
    }),
  );
  const plan = costPlan(order, call.shop, factsBefore);
  const proposals = plan
    .filter((proposal) => !isSameCost(proposal, applied.get(proposal.variantId)?.at(-1)))
    .map((proposal) => ({ ...proposal, previousUnitCost: facts.get(proposal.variantId)?.unitCost ?? null }));
  const due = new Set(proposals.map((proposal) => proposal.variantId));
  return { proposals, rows, appliedVariantIds: new Set([...applied.keys()].filter((id) => !due.has(id))) };
}

const isSameCost = (proposal: CostProposal, row: CostRow | undefined): boolean =>
  row?.proposedUnitCost === proposal.proposedUnitCost &&
  row.sourceUnitCost === proposal.sourceUnitCost &&
  row.sourceCurrencyCode === proposal.sourceCurrencyCode;

/** Keeps a row for every cost that is about to be written, and for every one that cannot be, once. */
async function keep(
  tx: Tx,
  call: Call,
  order: PurchaseOrder,
  standings: ReadonlyMap<string, VariantStanding>,
  leftAlone: ReadonlySet<string>,
) {
  const { shopId } = call.shop;
  const { purchaseOrderId } = order;
  const nowMs = call.clock.now();
  const { proposals, rows, appliedVariantIds } = await dueProposals(tx, call, order);
  const completion = completionOf(order);
  const attempt = 1 + Math.max(0, ...rows.map((row) => row.attempt));
  const statements: Statement[] = [];
  const warnings: string[] = [];
  const kept: KeptProposal[] = [];
  const insert = (proposal: KeptProposal, outcome: "proposed" | "skipped", reason: string | null): void => {
    statements.push(
      insertCostStatement(shopId, purchaseOrderId, { ...proposal, outcome, reason, attempt, completion }, nowMs),
    );
  };
  for (const proposal of proposals) {
    const row = { ...proposal, costSyncId: call.ids.next("cs") };
    // One that came in since the look-up is taken for active: the storefront refuses it if it is not.
    const standing = standings.get(proposal.variantId) ?? "active";
    const skipped = leftAlone.has(proposal.variantId);
    if (skipped || standing === "deleted" || standing === "unsyncable") {
      const reason = `variant ${proposal.variantId} ${skipped ? "was skipped by the caller" : `is ${standing} on the storefront`}`;
      warnings.push(`${reason}; its unit cost was not written`);
      if (!rows.some((each) => each.variantId === proposal.variantId && each.outcome === "skipped"))
        insert(row, "skipped", reason);
      continue;
    }
    insert(row, "proposed", null);
    kept.push(row);
    const supplier =
      order.supplierId === null
        ? null
        : supplierVariantStatement(shopId, order.supplierId, proposal.variantId, {
            unitCost: proposal.sourceUnitCost,
            unitCostCurrencyCode: proposal.sourceCurrencyCode,
          });
    if (supplier !== null) statements.push(supplier);
  }
  if (statements.length > 0) await tx.batch(statements);
  return { order, proposals: kept, warnings, appliedVariantIds, attempt };
}

async function lookUp(call: Call, variantIds: readonly string[]): Promise<ReadonlyMap<string, VariantStanding>> {
  if (variantIds.length === 0) return new Map();
  try {
    const states = await withinLimit(() => call.storefront.checkVariants(variantIds));
    return new Map(variantIds.map((variantId, index) => [variantId, states[index] ?? "deleted"]));
  } catch (error) {
    if (!(error instanceof StorefrontError)) throw error;
    throw upstream(`The storefront could not look variants up: ${error.message}.`, error);
  }
}

/** One result a proposal; a call that failed as a whole counts for each of them. */
async function write(
  call: Call,
  kept: Awaited<ReturnType<typeof keep>>,
): Promise<readonly (ItemResult & { readonly error?: StorefrontError })[]> {
  const { purchaseOrderId } = kept.order;
  try {
    return await withinLimit((signal) =>
      call.storefront.writeCosts(
        kept.proposals.map((proposal) => ({ variantId: proposal.variantId, unitCost: proposal.proposedUnitCost })),
        {
          reference: `costs:${purchaseOrderId}:${completionOf(kept.order)}:${kept.attempt}`,
          documentUri: `openpo://shops/${call.shop.shopId}/purchase-orders/${purchaseOrderId}`,
          signal,
        },
      ),
    );
  } catch (error) {
    if (!(error instanceof StorefrontError)) throw error;
    const { message } = error;
    const result: ItemResult =
      error.landed === "maybe" ? { outcome: "unknown", message } : { outcome: "rejected", reason: error.kind, message };
    return kept.proposals.map(() => ({ ...result, error }));
  }
}

const isAccepted = (result: ItemResult): boolean => result.outcome === "applied" || result.outcome === "unchanged";

/** Settles a row by what the storefront said; one without an answer stays `proposed`, since it may have been applied. */
function settled(
  call: Call,
  order: PurchaseOrder,
  proposal: KeptProposal,
  result: ItemResult | undefined,
): readonly Statement[] {
  const { shopId } = call.shop;
  const as = (outcome: CostOutcome, reason: string | null): Statement =>
    settleCostStatement(shopId, order.purchaseOrderId, proposal.costSyncId, { outcome, reason }, call.clock.now());
  switch (result?.outcome) {
    case "applied":
    case "unchanged":
      return [as("applied", null), catalogueCostStatement(shopId, proposal.variantId, proposal.proposedUnitCost)];
    case "rejected":
      return [as("failed", result.message)];
    case "unknown":
      return [as("proposed", result.message)];
    case undefined:
      return [as("proposed", "the storefront did not answer for this variant")];
  }
}

/** Variants that a message spells out; cost-sync-history has them all. */
const namedVariantsMax = 5;

function refused(
  proposals: readonly KeptProposal[],
  results: readonly (ItemResult & { readonly error?: StorefrontError })[],
): Fault {
  const failed = proposals.flatMap((proposal, index) => {
    const result = results[index];
    return result === undefined || !("message" in result) ? [] : [{ proposal, result }];
  });
  const named = failed
    .slice(0, namedVariantsMax)
    .map(({ proposal, result }) => `${proposal.variantId}: ${result.message}`);
  const more = failed.length > namedVariantsMax ? `; and ${failed.length - namedVariantsMax} more` : "";
  return upstream(
    `The storefront did not take ${failed.length} of ${proposals.length} unit costs (${named.join("; ")}${more}). Costs that it took are kept.`,
    failed.find(({ result }) => result.error !== undefined)?.result.error ?? null,
  );
}

const upstream = (message: string, error: StorefrontError | null): Fault =>
  new Fault("UPSTREAM_STOREFRONT", `${message} The order was not completed.`, {
    action: "Repeat the call; what was written already is skipped. cost-sync-history says what became of each variant.",
    ...(error === null ? {} : { cause: error }),
    ...(error === null || error.retryAfterMs === null ? {} : { retryAfterMs: error.retryAfterMs }),
  });
