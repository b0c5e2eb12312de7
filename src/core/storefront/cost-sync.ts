/**
 * The cost sync: unit costs that an order's received goods give at its completion, and that change when goods are taken
 * back. It knows which of them are still to be written (spec "Rules attached to the endpoints" 3; C45).
 *
 * Owns: the arithmetic, and what a further attempt of the same completion has left to do. Does not own: units in the
 * moving average (cost-lots.ts), rows of the history (shop/storefront/cost-sync.ts), and the steps and calls of the
 * sync (operations/purchase-orders/goods/cost-sync.ts, jobs/outbox/steps/cost-take-back.ts).
 */
import { type CostLot, type GoodsMove, type VariantLots, lotsByVariant, netLots, reversed } from "./cost-lots.ts";
import { Fault } from "../../base/fault.ts";
import type { VariantStanding } from "../goods/guard.ts";
import { mention } from "../order/guidance.ts";
import { isCustom } from "../order/lines.ts";
import {
  asMoney,
  divideHalfUp,
  type FxRate,
  type Money,
  moneyDecimalsMax,
  moneyToNumber,
  type Quantity,
  unitCostMax,
  unitRate,
  zeroMoney,
  zeroQuantity,
} from "../money/money.ts";
import { type OrderCurrency, ratesAfter } from "../order/order-rates.ts";
import type { LineItem, PurchaseOrder, ShopFacts } from "../order/purchase-order.ts";

/** Where an exchange rate comes from: the order, the shop, or none is needed. */
type FxSource = "override" | "shop-rate" | "same-currency";

/** One row of the cost-sync history before its outcome is known. `poLineItemId` is the variant's first line. */
export interface CostProposal {
  readonly variantId: string;
  readonly poLineItemId: string;
  readonly previousUnitCost: Money | null;
  /** In the shop's currency, `currencyCode`. */
  readonly proposedUnitCost: Money;
  readonly currencyCode: string;
  /** As on the order, weighted by received quantity; the first line's when lines of the variant differ in currency. */
  readonly sourceUnitCost: Money;
  readonly sourceCurrencyCode: string;
  readonly fxRate: FxRate;
  readonly fxSource: FxSource;
  /** Lots that enter and leave the moving average with this cost. */
  readonly lots: readonly CostLot[];
  /** Why the known cost stays and this one is not written; null: it is written. */
  readonly kept: string | null;
  /** Cost for the supplier's catalogue entry: that of the paid lines. Null: nothing of it was paid for. */
  readonly supplierCost: { readonly unitCost: Money; readonly currencyCode: string } | null;
}

/** State of a row of the history. A `proposed` or `failed` one may have been written to the storefront all the same. */
export type CostOutcome = "proposed" | "applied" | "skipped" | "failed";

/** A row of an order's history. */
export interface CostRow extends Pick<
  CostProposal,
  "variantId" | "previousUnitCost" | "proposedUnitCost" | "sourceUnitCost" | "sourceCurrencyCode" | "fxRate"
> {
  readonly costSyncId: string;
  readonly outcome: CostOutcome;
  readonly attempt: number;
  /** Of which completion it is an attempt, or after which one goods were taken back (`completionOf`). */
  readonly completion: number;
  readonly proposedAtMs: number;
  /** True if the storefront is known to have taken it. */
  readonly isAccepted: boolean;
  /** Null: the row is older than lots. */
  readonly lots: readonly CostLot[] | null;
}

/** History of an order's goods and costs, rows oldest first. */
export interface CostHistory {
  readonly rows: readonly CostRow[];
  readonly receipts: readonly GoodsMove[];
}

/** Outcome of a row, and its reason; applied ones have a reason only if another cost has replaced them. */
export interface SettledCost {
  readonly outcome: CostOutcome;
  readonly reason: string | null;
}

/** A cost that this service has written to the storefront in the place of another one. */
export interface ReplacingCost {
  /** The number of its order; null: it is the same order's. */
  readonly orderName: string | null;
  /**
   * The storefront shows it, though its write began before the other one was taken. Both were on their way at the same
   * time.
   */
  readonly isBeside: boolean;
}

/** Facts about a variant before an order's costs come in. */
export interface CostFacts {
  readonly unitCost: Money | null;
  /** Over all locations, this order's synced receipts included. */
  readonly onHand: Quantity;
}

/**
 * The completion that rows belong to: the instant of the completion before it, 0 for the first. So a reopened order
 * starts afresh.
 */
export const completionOf = (order: Pick<PurchaseOrder, "completedAtMs">): number => order.completedAtMs ?? 0;

const receivedLines = (order: Pick<PurchaseOrder, "lineItems">): readonly LineItem[] =>
  order.lineItems.filter((line) => line.quantityReceived > 0);

/** Received lines without a catalogue variant: the storefront has no cost of them. */
export const skippedCustomLines = (order: Pick<PurchaseOrder, "lineItems">): readonly LineItem[] =>
  receivedLines(order).filter(isCustom);

/**
 * Everything of the order that its costs are taken from, as a text. Two orders with the same text have the same costs.
 */
export const costSource = (order: PurchaseOrder): string =>
  JSON.stringify([
    order.currencyCode,
    order.fxRateOverride,
    order.fxRates,
    order.supplierId,
    receivedLines(order).map((line) => [
      line.poLineItemId,
      line.quantityReceived,
      line.unitCost,
      line.unitCostCurrencyCode,
    ]),
  ]);

/** An order of which costs are taken. */
type CostedOrder = Pick<
  PurchaseOrder,
  "status" | "currencyCode" | "fxRateOverride" | "fxRates" | "lineItems" | "attached" | "completedAtMs"
>;

/** The order with the rates that it will have once it is completed (C35). */
const withRates = (order: CostedOrder, shop: ShopFacts): CostedOrder => ({
  ...order,
  fxRates: ratesAfter(order, order, shop),
});

const rateScale = BigInt(unitRate);

const noFacts: CostFacts = { unitCost: null, onHand: zeroQuantity };

/**
 * Returns the unit costs that an order's received catalogue lines give when no average has any of their units yet. They
 * are one proposal a variant, in the shop's currency, weighted by received quantity and rounded once, half-up to 4
 * decimals. `moving-average` weighs them with the stock that was there before this order's receipts. `disabled`
 * proposes nothing and needs no rate.
 *
 * @param facts by variant id; a variant that is missing has no cost and no stock.
 * @throws Fault INVALID_INPUT naming `fxRateOverride` when a line's currency cannot be converted.
 * Source: spec "Rules attached to the endpoints" 3; C45.
 */
export const costPlan = (
  order: CostedOrder,
  shop: ShopFacts,
  facts: ReadonlyMap<string, CostFacts>,
): readonly CostProposal[] => dueCosts(order, shop, { rows: [], receipts: [] }, facts).proposals;

/** A variant of an order with what its next cost is taken from. */
interface VariantCosts {
  readonly variantId: string;
  /** Its lines, received or not. */
  readonly lineItems: readonly LineItem[];
  /** Weighed lots: in an average those that have not entered it, else all received ones. */
  readonly weighed: readonly CostLot[];
  readonly leaving: readonly CostLot[];
  /** Units that are in the average, those that leave it included. */
  readonly entered: bigint;
  readonly known: CostFacts;
}

const quantityOf = (lots: readonly CostLot[]): bigint => lots.reduce((sum, lot) => sum + BigInt(lot.quantity), 0n);

/** Exact; `rateScale` to one. */
const valueOf = (lots: readonly CostLot[]): bigint =>
  lots.reduce((sum, lot) => sum + BigInt(lot.quantity) * BigInt(lot.unitCost) * BigInt(lot.fxRate), 0n);

/**
 * Returns the stock that is weighed with new goods, and its value. It is the stock on hand without this order's goods
 * that are not in the average, and without those that leave it. None where the old cost is not known or nothing of
 * worth is left.
 */
function stockBefore({ lineItems, leaving, entered, known }: VariantCosts): { quantity: bigint; value: bigint } {
  const synced = lineItems.reduce((sum, line) => sum + BigInt(line.quantitySynced), 0n);
  const pool = BigInt(known.onHand) - synced + entered;
  const quantity = pool - quantityOf(leaving);
  const value = pool * BigInt(known.unitCost ?? 0) * rateScale - valueOf(leaving);
  return known.unitCost === null || quantity <= 0n || value < 0n ? { quantity: 0n, value: 0n } : { quantity, value };
}

/** The unit cost of these lots in their own currency: weighted, or the first one's where they differ in currency. */
function ownCost(lots: readonly CostLot[]): { readonly unitCost: Money; readonly currencyCode: string } | null {
  const [first] = lots;
  if (first === undefined) return null;
  const { currencyCode } = first;
  if (lots.some((lot) => lot.currencyCode !== currencyCode)) return { unitCost: first.unitCost, currencyCode };
  const value = lots.reduce((sum, lot) => sum + BigInt(lot.quantity) * BigInt(lot.unitCost), 0n);
  return { unitCost: asMoney(Number(divideHalfUp(value, quantityOf(lots)))), currencyCode };
}

/** The cost that a variant gets. Null: nothing of it is new, and nothing leaves. */
function proposalOf(variant: VariantCosts, order: CostedOrder, shop: ShopFacts): CostProposal | null {
  const { variantId, weighed, leaving, known, lineItems } = variant;
  const isAverage = shop.costSyncMode === "moving-average";
  const basis = weighed.length > 0 ? weighed : leaving;
  const [first] = basis;
  const source = ownCost(basis);
  if (first === undefined || source === null) return null;
  const before = isAverage ? stockBefore(variant) : { quantity: 0n, value: 0n };
  const quantity = before.quantity + quantityOf(weighed);
  const cost =
    quantity === 0n
      ? (known.unitCost ?? zeroMoney)
      : costWithin(divideHalfUp(before.value + valueOf(weighed), quantity * rateScale), first, order, shop);
  const isZero = cost === 0 && (known.unitCost ?? 0) !== 0;
  // What was taken back has left, though there is nothing to average.
  const isEmpty = quantity === 0n || (isZero && weighed.length === 0);
  const isFree = isZero && !isEmpty;
  return {
    variantId,
    poLineItemId: first.poLineItemId,
    previousUnitCost: known.unitCost,
    proposedUnitCost: cost,
    currencyCode: shop.currencyCode,
    sourceUnitCost: source.unitCost,
    sourceCurrencyCode: source.currencyCode,
    fxRate: first.fxRate,
    fxSource: fxSourceOf(first, order, shop),
    lots: isFree ? [] : netLots([...reversed(leaving), ...weighed]),
    kept: isFree
      ? `zero-cost: the unit cost of variant ${variantId} would become 0`
      : isEmpty
        ? `no stock of variant ${variantId} is left that its unit cost could be the average of`
        : null,
    supplierCost: ownCost(paidLots(lineItems)),
  };
}

/** All that was received of these lines, at their present costs. */
const lotsOf = (
  lineItems: readonly LineItem[],
  order: CostedOrder,
  shop: ShopFacts,
  quantities: ReadonlyMap<string, Quantity> | null = null,
): readonly CostLot[] =>
  lineItems.flatMap((line) => {
    const { poLineItemId, unitCost, unitCostCurrencyCode: currencyCode } = line;
    const quantity = quantities === null ? line.quantityReceived : (quantities.get(poLineItemId) ?? zeroQuantity);
    if (quantity === 0) return [];
    return [{ poLineItemId, quantity, unitCost, currencyCode, fxRate: rateToShopCurrency(currencyCode, order, shop) }];
  });

/** Returns the received and paid goods of these lines, at the lines' own costs. */
const paidLots = (lineItems: readonly LineItem[]): readonly CostLot[] =>
  lineItems.flatMap(({ poLineItemId, quantityReceived: quantity, unitCost, unitCostCurrencyCode: currencyCode }) =>
    quantity > 0 && unitCost > 0 ? [{ poLineItemId, quantity, unitCost, currencyCode, fxRate: unitRate }] : [],
  );

function fxSourceOf({ currencyCode, fxRate }: CostLot, order: CostedOrder, shop: ShopFacts): FxSource {
  if (currencyCode === shop.currencyCode) return "same-currency";
  return currencyCode === order.currencyCode && fxRate === order.fxRateOverride ? "override" : "shop-rate";
}

function rateToShopCurrency(lineCurrency: string, order: OrderCurrency, shop: ShopFacts): FxRate {
  if (lineCurrency === shop.currencyCode) return unitRate;
  if (order.fxRateOverride !== null && lineCurrency === order.currencyCode) return order.fxRateOverride;
  const rate = order.fxRates[lineCurrency];
  if (rate !== undefined) return rate;
  const message = `No exchange rate from ${lineCurrency} to ${shop.currencyCode}, the shop's currency.`;
  if (lineCurrency === order.currencyCode)
    throw new Fault("INVALID_INPUT", `${message} Set fxRateOverride on the order.`, {
      action: `Set fxRateOverride with ${mention("purchase_order_update")}, then repeat the call.`,
    });
  throw new Fault(
    "INVALID_INPUT",
    `${message} fxRateOverride covers lines in the order's currency (${order.currencyCode}) only.`,
    {
      action: `Give the shop a rate for ${lineCurrency}, or change unitCostCurrencyCode of these lines and set fxRateOverride; then repeat the call.`,
    },
  );
}

function costWithin(cost: bigint, lot: CostLot, order: OrderCurrency, shop: ShopFacts): Money {
  if (cost <= BigInt(unitCostMax) * 10n ** BigInt(moneyDecimalsMax)) return asMoney(Number(cost));
  throw new Fault(
    "INVALID_INPUT",
    `Line ${lot.poLineItemId} would cost more than ${unitCostMax} ${shop.currencyCode} a unit at the rate from ${lot.currencyCode}.`,
    { action: `Correct fxRateOverride (${order.currencyCode} → ${shop.currencyCode}) or the line's unitCost.` },
  );
}

/** Work that an attempt of a completion has left. */
export interface DueCosts {
  readonly proposals: readonly CostProposal[];
  /** Variants whose cost an earlier attempt has brought through, and that are not due again. */
  readonly appliedVariantIds: ReadonlySet<string>;
}

/** Goods were taken back with this row, and nothing came in. */
const isTakenBack = ({ lots }: CostRow): boolean =>
  lots !== null && lots.length > 0 && lots.every((lot) => lot.quantity < 0);

/**
 * True if the row's lots have entered and left. Those of what the storefront was told and has not answered have not.
 */
const countsLots = (row: CostRow, completion: number): boolean =>
  row.outcome === "applied" ||
  row.outcome === "skipped" ||
  // Once its completion has gone through, a row has lots only if it was taken.
  (row.outcome === "proposed" && (row.isAccepted || row.completion !== completion));

/** A variant as it stood before rows that are made anew. */
interface VariantStand {
  readonly variantId: string;
  readonly lots: VariantLots;
  readonly known: CostFacts;
  /** Rows that are made anew and had counted. */
  readonly undone: readonly CostRow[];
}

/**
 * The newest rows whose cost the catalogue has now, with those before them that lead to it. They are made anew from the
 * cost that was there before. One that may not be made anew, and counts, is why the catalogue has its cost.
 *
 * @param rows of a variant, oldest first.
 */
function undoneRows(
  rows: readonly CostRow[],
  mayUndo: (row: CostRow) => boolean,
  unitCost: Money | null,
  completion: number,
): readonly CostRow[] {
  const undone: CostRow[] = [];
  let cost = unitCost;
  for (const row of rows.toReversed()) {
    const isWritten = row.outcome === "applied" || row.outcome === "proposed";
    if (mayUndo(row) && isWritten && row.proposedUnitCost === cost && row.lots !== null) {
      undone.push(row);
      cost = row.previousUnitCost;
    } else if (countsLots(row, completion)) break;
  }
  return undone;
}

/**
 * Each variant of the order. A row with an unknown outcome, whose cost a pull has brought since, is made again. So are
 * this completion's attempts for a variant whose lines' costs were corrected since.
 */
function variantStands(
  order: CostedOrder,
  { rows, receipts }: CostHistory,
  facts: ReadonlyMap<string, CostFacts>,
  isCorrected: (ofVariant: readonly CostRow[]) => boolean,
): readonly VariantStand[] {
  const completion = completionOf(order);
  const isCounted = (row: CostRow): boolean => countsLots(row, completion);
  const current = Map.groupBy(
    rows.filter((row) => row.completion === completion),
    (row) => row.variantId,
  );
  const undoneOf = new Map(
    [...current].map(([variantId, ofVariant]) => {
      const corrected = isCorrected(ofVariant);
      const mayUndo = (row: CostRow): boolean => corrected || !isCounted(row);
      return [variantId, undoneRows(ofVariant, mayUndo, facts.get(variantId)?.unitCost ?? null, completion)];
    }),
  );
  const counted = rows.filter((row) => isCounted(row) && undoneOf.get(row.variantId)?.includes(row) !== true);
  const ofCatalogue = [...lotsByVariant(order.lineItems, counted, receipts)].filter(
    ([variantId]) => !isCustom({ variantId }),
  );
  return ofCatalogue.map(([variantId, lots]) => {
    const known = facts.get(variantId) ?? noFacts;
    const undone = undoneOf.get(variantId) ?? [];
    const oldest = undone.at(-1);
    return {
      variantId,
      lots,
      known: oldest === undefined ? known : { ...known, unitCost: oldest.previousUnitCost },
      undone: undone.filter(isCounted),
    };
  });
}

/** The variant's costs, where these lots are weighed. */
const costsOf = (
  order: CostedOrder,
  { variantId, lots, known }: VariantStand,
  weighed: readonly CostLot[],
): VariantCosts => ({
  variantId,
  lineItems: order.lineItems.filter((line) => line.variantId === variantId),
  weighed,
  leaving: lots.leaving,
  entered: quantityOf([...lots.entered, ...lots.leaving]),
  known,
});

/**
 * The costs that a completion has still to bring through. In a moving average each unit is weighed once in its order's
 * life. Units that entered it with an earlier completion are part of the stock. What an earlier attempt of this
 * completion brought through is due again only if the order has changed since.
 *
 * @param history of the whole order.
 * @param facts   by variant id, as the shop has them now.
 * @throws Fault INVALID_INPUT naming `fxRateOverride` when a line's currency cannot be converted.
 * Source: spec "Rules attached to the endpoints" 3; C45.
 */
export function dueCosts(
  uncompleted: CostedOrder,
  shop: ShopFacts,
  history: CostHistory,
  facts: ReadonlyMap<string, CostFacts>,
): DueCosts {
  const order = withRates(uncompleted, shop);
  const applied = Map.groupBy(
    history.rows.filter(
      (row) =>
        (row.outcome === "applied" || (row.outcome === "proposed" && row.isAccepted)) &&
        row.completion === completionOf(order) &&
        !isTakenBack(row),
    ),
    (row) => row.variantId,
  );
  const due =
    shop.costSyncMode === "disabled"
      ? []
      : shop.costSyncMode === "moving-average"
        ? dueAverages(order, shop, history, facts)
        : dueUnitCosts(order, shop, history, facts).filter(
            (proposal) => !isSameCost(proposal, applied.get(proposal.variantId)?.at(-1)),
          );
  const proposals = due.map((proposal) => ({
    ...proposal,
    previousUnitCost: facts.get(proposal.variantId)?.unitCost ?? null,
  }));
  const dueIds = new Set(proposals.map((proposal) => proposal.variantId));
  return { proposals, appliedVariantIds: new Set([...applied.keys()].filter((variantId) => !dueIds.has(variantId))) };
}

/** The averages of variants of which something is new, is taken back, or was corrected since an earlier attempt. */
function dueAverages(
  order: CostedOrder,
  shop: ShopFacts,
  history: CostHistory,
  facts: ReadonlyMap<string, CostFacts>,
): readonly CostProposal[] {
  const lineOf = new Map(order.lineItems.map((line) => [line.poLineItemId, line]));
  const isCorrected = (ofVariant: readonly CostRow[]): boolean => {
    const counted = ofVariant.filter((row) => countsLots(row, completionOf(order)));
    const entered = netLots(counted.flatMap((row) => row.lots ?? []));
    return entered.some((lot) => {
      const line = lineOf.get(lot.poLineItemId);
      if (line === undefined || line.quantityReceived === 0 || lot.quantity < 0) return false;
      const [now] = lotsOf([line], order, shop);
      return now !== undefined && netLots([{ ...now, quantity: lot.quantity }, ...reversed([lot])]).length > 0;
    });
  };
  return variantStands(order, history, facts, isCorrected).flatMap((stand) => {
    const fresh = lotsOf(order.lineItems, order, shop, stand.lots.fresh);
    const proposal = proposalOf(costsOf(order, stand, fresh), order, shop);
    if (proposal === null) return [];
    return [
      { ...proposal, lots: netLots([...stand.undone.flatMap((row) => reversed(row.lots ?? [])), ...proposal.lots]) },
    ];
  });
}

/** The unit costs of all variants of which something was received. */
const dueUnitCosts = (
  order: CostedOrder,
  shop: ShopFacts,
  history: CostHistory,
  facts: ReadonlyMap<string, CostFacts>,
): readonly CostProposal[] =>
  variantStands(order, history, facts, () => false).flatMap((stand) => {
    const ofVariant = order.lineItems.filter((line) => line.variantId === stand.variantId);
    const proposal = proposalOf(costsOf(order, stand, lotsOf(ofVariant, order, shop)), order, shop);
    if (proposal === null || ofVariant.every((line) => line.quantityReceived === 0)) return [];
    // What enters the average, should the shop go over to one.
    const lots = [...reversed(stand.lots.leaving), ...lotsOf(ofVariant, order, shop, stand.lots.fresh)];
    return [{ ...proposal, lots: proposal.kept === null ? netLots(lots) : [] }];
  });

/**
 * Returns the costs that variants get when goods in the moving average were taken back: they leave it at their own
 * cost.
 *
 * @param history of the whole order.
 * @param facts   by variant id, as the shop has them now.
 * Source: C45.
 */
export function takenBackCosts(
  order: CostedOrder,
  shop: ShopFacts,
  history: CostHistory,
  facts: ReadonlyMap<string, CostFacts>,
): readonly CostProposal[] {
  if (shop.costSyncMode !== "moving-average") return [];
  return variantStands(order, history, facts, () => false).flatMap((stand) => {
    const proposal = proposalOf(costsOf(order, stand, []), order, shop);
    return proposal === null ? [] : [{ ...proposal, previousUnitCost: facts.get(stand.variantId)?.unitCost ?? null }];
  });
}

const isSameCost = (proposal: CostProposal, row: CostRow | undefined): boolean =>
  row?.proposedUnitCost === proposal.proposedUnitCost &&
  row.sourceUnitCost === proposal.sourceUnitCost &&
  row.sourceCurrencyCode === proposal.sourceCurrencyCode;

/** A cost that is not written, and why. */
interface SkippedCost<Proposal extends CostProposal> {
  readonly proposal: Proposal;
  readonly reason: string;
  /** True if an earlier attempt has a `skipped` row of the variant already. */
  readonly isRecorded: boolean;
}

/** Steps of one attempt of a completion. */
interface CostAttempt<Proposal extends CostProposal> {
  /** Counts from 1. */
  readonly attempt: number;
  readonly writes: readonly Proposal[];
  readonly skipped: readonly SkippedCost<Proposal>[];
}

/**
 * Divides what is due into costs to write and costs that cannot be written, or that the caller has skipped.
 *
 * @param standings how the variants stand at the storefront. One that is missing came in since they were looked up and
 *                  is taken for active: the storefront refuses it if it is not.
 * @param skippedVariantIds variants that the caller wants recorded without the storefront (C44 "skip").
 * Source: C45.
 */
export function costAttempt<Proposal extends CostProposal>(
  due: readonly Proposal[],
  rows: readonly CostRow[],
  standings: ReadonlyMap<string, VariantStanding>,
  skippedVariantIds: ReadonlySet<string>,
): CostAttempt<Proposal> {
  const recorded = new Set(rows.filter((row) => row.outcome === "skipped").map((row) => row.variantId));
  const standingReason = ({ variantId }: CostProposal): string | null => {
    if (skippedVariantIds.has(variantId)) return `variant ${variantId} was skipped by the caller`;
    const standing = standings.get(variantId);
    return standing === "deleted" || standing === "unsyncable"
      ? `variant ${variantId} is ${standing} on the storefront`
      : null;
  };
  const skipped = due.flatMap((proposal): SkippedCost<Proposal>[] => {
    const isRecorded = recorded.has(proposal.variantId);
    const reason = standingReason(proposal);
    // No cost was made of its lots. They are due again when the variant can be written.
    if (reason !== null) return [{ proposal: { ...proposal, lots: [] }, reason, isRecorded }];
    if (proposal.kept === null) return [];
    return [{ proposal, reason: proposal.kept, isRecorded: isRecorded && proposal.lots.length === 0 }];
  });
  const notWritten = new Set(skipped.map(({ proposal }) => proposal.variantId));
  return {
    attempt: 1 + Math.max(0, ...rows.map((row) => row.attempt)),
    writes: due.filter(({ variantId }) => !notWritten.has(variantId)),
    skipped,
  };
}

/**
 * Returns the outcome of a row that is read back.
 *
 * @param shown      what the storefront shows.
 * @param isAccepted whether the storefront has said that it took the row's cost.
 * @param replacing  what has taken its place; null: nothing that this service has written.
 * @returns null while the storefront may still show the cost.
 * Source: C45; D346.
 */
export function readBackCost(
  { unitCost, isAccepted }: { readonly unitCost: Money; readonly isAccepted: boolean },
  shown: Money | null,
  replacing: ReplacingCost | null,
): SettledCost | null {
  if (shown === unitCost) return { outcome: "applied", reason: null };
  if (replacing === null) return null;
  const replaced = `replaced since by ${replacing.orderName ?? "another cost of this order"}`;
  return isAccepted
    ? { outcome: "applied", reason: replaced }
    : { outcome: "failed", reason: `${replaced}; whether it was written before is not known` };
}

/** Why a row has failed that was read back often enough. */
export const unreadCost = (shown: Money | null): SettledCost => ({
  outcome: "failed",
  reason: shown === null ? "the storefront shows no unit cost" : `the storefront shows ${moneyToNumber(shown)}`,
});
