/**
 * Shared by all operations on orders: their route, their faults, and their access to one order. It is found or
 * 404, at the version that the caller expects or 412, and saved under the caller's name.
 */
import { shownId } from "../fields.ts";
import { z } from "zod";
import { Fault } from "../../base/fault.ts";
import { type Day, dayIn } from "../../base/time/calendar.ts";
import { type ApprovalCause, isCleared, ruleMet } from "../../core/access/approvals.ts";
import { type CostRise, linesWithNewCosts, percentOver } from "../../core/access/cost-rises.ts";
import { asksPlaces, type KeyLimits, limitsPassed, riseOf, type ValueRise } from "../../core/access/limits.ts";
import { mention, only } from "../../core/order/guidance.ts";
import type { Decision, Header, LineItem, OrderWithLines, PurchaseOrder } from "../../core/order/purchase-order.ts";
import type { DecisionContext } from "../../core/order/decision.ts";
import { hasLeftDraft, isBeforeGoods } from "../../core/order/status.ts";
import type { QueuedEffect } from "../../shop/storefront/effects.ts";
import { unsettledLines } from "../../shop/storefront/stock-pushes.ts";
import {
  type Stamp,
  loadHeader,
  loadOrder,
  pageOfLines,
  saveDecision,
  type LinePage,
} from "../../shop/order/purchase-orders.ts";
import { loadCleared } from "../../shop/access/approval-requests.ts";
import { presentRules } from "../../shop/catalogue/supplier-merges.ts";
import { loadCostBases } from "../../shop/order/cost-bases.ts";
import { giveBackStatements, loadSpending, spendStatement } from "../../shop/order/order-spend.ts";
import type { Change } from "../../store/change.ts";
import type { Tx } from "../../store/store.ts";
import { linesOnLoopMax } from "../../requests/loop-limits.ts";
import type { Answer, Call, Committed } from "../../requests/operation.ts";
import { etagOf, purchaseOrderJson, purchaseOrderSchema } from "./json.ts";
import { type QueuedMail, followOnShape, renderSideEffects } from "./side-effects.ts";

const tag = "Purchase orders";

/** The route of one order; what stands below it begins with this. */
export const path = "/purchase-orders/{purchaseOrderId}";

/** Members that every read shares. */
export const read = {
  tag,
  toolSets: ["purchasing"],
  scope: "read",
  success: 200,
  repeat: "read",
  destructive: false,
} as const;

/** Members that every write shares. */
export const write = { tag, toolSets: ["purchasing"], scope: "write" } as const;

/** Faults of every write of one order. */
export const orderFaults = ["NOT_FOUND", "VERSION_MISMATCH"] as const;

/** Faults of those that change what it says. */
export const faults = [...orderFaults, "LIMIT_EXCEEDED"] as const;

const unknownOrder = (purchaseOrderId: string): Fault =>
  new Fault("NOT_FOUND", `There is no purchase order ${shownId(purchaseOrderId)}.`, {
    action: `List orders with ${mention("purchase_order_list")}.`,
  });

/** @throws Fault NOT_FOUND  there is no such order, or it was deleted. */
export async function headerOf(tx: Tx, call: Call, purchaseOrderId: string): Promise<Header> {
  const header = await loadHeader(tx, call.shop.shopId, purchaseOrderId);
  if (header === null) throw unknownOrder(purchaseOrderId);
  return header;
}

/** @throws Fault NOT_FOUND  there is no such order, or it was deleted. */
export async function orderOf(tx: Tx, call: Call, purchaseOrderId: string): Promise<PurchaseOrder> {
  const order = await loadOrder(tx, call.shop.shopId, purchaseOrderId);
  if (order === null) throw unknownOrder(purchaseOrderId);
  return order;
}

/** @throws Fault NOT_FOUND  there is no such order, or it was deleted. */
async function pageOf(tx: Tx, call: Call, purchaseOrderId: string, after: number | null, limit: number | null) {
  const page = await pageOfLines(tx, call.shop.shopId, purchaseOrderId, after, limit);
  if (page === null) throw unknownOrder(purchaseOrderId);
  return page;
}

/**
 * A page of the order's lines, or all of them; many are read on a reader thread.
 *
 * @throws Fault NOT_FOUND  there is no such order, or it was deleted.
 */
export async function linesToShow(
  tx: Tx,
  call: Call,
  purchaseOrderId: string,
  after: number | null,
  limit: number | null,
): Promise<LinePage> {
  const page = await pageOf(tx, call, purchaseOrderId, after, limit ?? linesOnLoopMax);
  if (limit !== null || page.end === null) return page;
  call.leaveLoop();
  return await pageOf(tx, call, purchaseOrderId, after, null);
}

/**
 * The order to be shown as a whole. One with many lines is read on a reader thread.
 *
 * @throws Fault NOT_FOUND  there is no such order, or it was deleted.
 */
export async function orderToShow(tx: Tx, call: Call, purchaseOrderId: string): Promise<OrderWithLines> {
  const page = await pageOf(tx, call, purchaseOrderId, null, linesOnLoopMax);
  if (page.end === null) return { ...page.header, lineItems: page.lineItems };
  call.leaveLoop();
  return await orderOf(tx, call, purchaseOrderId);
}

/**
 * The order as the caller wants to change it.
 *
 * @throws Fault NOT_FOUND                              there is no such order.
 * @throws Fault INVALID_INPUT (412) VERSION_MISMATCH   `If-Match` was sent and names another version (C37).
 */
export const orderToChange = async (tx: Tx, call: Call, purchaseOrderId: string): Promise<PurchaseOrder> =>
  atExpectedVersion(call, await orderOf(tx, call, purchaseOrderId));

/**
 * The order, if its version is one that the caller expects. @throws Fault INVALID_INPUT (412) VERSION_MISMATCH  if not
 * (C37).
 */
export function atExpectedVersion({ ifMatch }: Call, order: PurchaseOrder): PurchaseOrder {
  if (ifMatch !== null && !ifMatch.includes("*") && !ifMatch.includes(etagOf(order)))
    throw new Fault(
      "INVALID_INPUT",
      `The order is at version ${order.version}${only("rest", "; If-Match names another")}.`,
      {
        reason: "VERSION_MISMATCH",
        action: `Read the order again${only("rest", " and send its ETag as If-Match.")}`,
      },
    );
  return order;
}

/** Returns the facts of a rule about the shop and the time. */
export const contextOf = (call: Call) => ({ shop: call.shop, nowMs: call.clock.now() });

/** Facts for a decision that depends on what the storefront may have of the order. */
export async function contextWithPushes(tx: Tx, call: Call, order: PurchaseOrder): Promise<DecisionContext> {
  const { shopId } = call.shop;
  // Before goods come nothing is pushed, and nothing that was pushed goes back there.
  if (isBeforeGoods(order)) return contextOf(call);
  return { ...contextOf(call), unsettledLineIds: await unsettledLines(tx, shopId, order.purchaseOrderId) };
}

/** Under whose name and in which call a change is recorded. */
export const stampOf = (call: Call): Stamp => ({
  actor: call.actor,
  approvedBy: call.approvedBy,
  operation: call.operation,
  requestId: call.requestId,
  traceparent: call.traceparent,
  nowMs: call.clock.now(),
  ids: call.ids,
});

/** The rule of the shop that the change meets, unless the order was approved so (C79). */
async function ruleCause(
  tx: Tx,
  { shop, actor }: Call,
  before: PurchaseOrder | null,
  next: PurchaseOrder,
  { value, rise, addsUnpriced }: ValueRise,
): Promise<readonly ApprovalCause[]> {
  const { supplierId, locationId } = next;
  if (shop.approvalRules.length === 0 || !hasLeftDraft(next)) return [];
  const goesElsewhere = before?.supplierId !== supplierId || before.locationId !== locationId;
  if (before !== null && hasLeftDraft(before) && rise <= 0 && !addsUnpriced && !goesElsewhere) return [];
  // A merge may have come since the shop was read.
  const rules = await presentRules(tx, shop.shopId, shop.approvalRules);
  const rule = ruleMet(rules, actor, next, { value, addsUnpriced });
  if (rule === null) return [];
  const cleared = addsUnpriced ? [] : await loadCleared(tx, shop.shopId, next.purchaseOrderId);
  if (isCleared(cleared, { value, supplierId, locationId })) return [];
  const { ruleId, name, approvers } = rule;
  return [{ cause: "rule", ruleId, name, approvers }];
}

const noLines: ReadonlySet<string> = new Set();

/** Rises of the costs that a change sets, above what is known of them. None where the key has no such limit. */
async function costRisesOf(
  tx: Tx,
  { shop }: Call,
  { unitCostRisePercentMax }: KeyLimits,
  { next, lines, entryLineIds }: ChangedCosts,
): Promise<readonly CostRise[]> {
  if (unitCostRisePercentMax === null || lines.length === 0) return [];
  const variantIds = lines.map(({ variantId }) => variantId);
  const bases = await loadCostBases(tx, shop, next.supplierId, variantIds);
  const rates = { currencyCode: shop.currencyCode, sources: [next.fxRates, shop.fxRates] };
  return lines.map((line) => ({
    line,
    percent: percentOver(line, bases.get(line.variantId), rates),
    setsEntry: entryLineIds.has(line.poLineItemId),
  }));
}

/** Lines of an order whose cost is checked. */
interface ChangedCosts {
  readonly next: PurchaseOrder;
  readonly lines: readonly LineItem[];
  /** Lines whose cost goes to the supplier's price list. */
  readonly entryLineIds: ReadonlySet<string>;
}

/** Result of checking a change against the limits of the caller's key and the shop's rules. */
interface LimitCheck {
  readonly valueRise: ValueRise;
  readonly causes: readonly ApprovalCause[];
  /** The key by which it counts, and the day; null: it counts by none. */
  readonly counted: { readonly keyId: string; readonly day: Day } | null;
}

/** Checks a change against the limits of the caller's key and the shop's rules. Without both nothing is read. */
async function checkLimits(
  tx: Tx,
  call: Call,
  before: PurchaseOrder | null,
  next: PurchaseOrder,
  entryLineIds: ReadonlySet<string>,
): Promise<LimitCheck> {
  const { shop, limitedKeyId: keyId } = call;
  const { shopId, currencyCode } = shop;
  const valueRise = riseOf(before, next, currencyCode);
  const isAsked = keyId !== null && asksPlaces(before, next);
  const lines = keyId === null ? [] : linesWithNewCosts(before, next, entryLineIds);
  const counts = valueRise.rise > 0 || valueRise.addsUnpriced || isAsked || lines.length > 0;
  const counted = keyId === null || !counts ? null : { keyId, day: dayIn(shop.timezone, next.updatedAtMs) };
  const [spending, rule] = await Promise.all([
    counted === null ? null : loadSpending(tx, shopId, counted.keyId, counted.day),
    ruleCause(tx, call, before, next, valueRise),
  ]);
  if (spending === null) return { valueRise, causes: rule, counted: null };
  const passed = limitsPassed(spending.limits, {
    ...spending,
    next,
    rise: valueRise,
    costRises: await costRisesOf(tx, call, spending.limits, { next, lines, entryLineIds }),
    asksPlaces: isAsked,
    currencyCode,
  });
  return {
    valueRise,
    causes: [...passed.map((detail): ApprovalCause => ({ cause: "limit", ...detail })), ...rule],
    counted,
  };
}

/** Ends a change that has causes for a decision. @throws Fault FORBIDDEN_SCOPE (LIMIT_EXCEEDED)  limits refuse it. */
function needDecision(call: Call, next: PurchaseOrder, { causes, valueRise: { value } }: LimitCheck): void {
  const { purchaseOrderId, supplierId, locationId } = next;
  if (causes.length > 0) call.needDecision(causes, { purchaseOrderId, value, supplierId, locationId });
}

/**
 * Asks for an approval of a Draft that goes to its supplier as it is, where its move to Sent would need one. It counts
 * when it leaves Draft.
 *
 * Source: C78, C79.
 */
export async function askToSendDraft(tx: Tx, call: Call, order: PurchaseOrder): Promise<void> {
  if (order.status !== "Draft") return;
  const sent = { ...order, status: "Sent", updatedAtMs: call.clock.now() } as const;
  needDecision(call, sent, await checkLimits(tx, call, order, sent, noLines));
}

/**
 * Counts a change against the limits of the caller's key and the shop's rules, in the shop's turn, so that nothing
 * comes between. Without limits and rules nothing is read, but where an order falls and is still worth something.
 *
 * @param entryLineIds lines whose cost goes to the supplier's price list.
 * @returns the changes of what is spent.
 * @throws Fault FORBIDDEN_SCOPE (LIMIT_EXCEEDED)  the key's limits refuse it (C78).
 */
async function countSpend(
  tx: Tx,
  call: Call,
  before: PurchaseOrder | null,
  next: PurchaseOrder,
  entryLineIds = noLines,
): Promise<readonly Change[]> {
  const { shopId } = call.shop;
  const checked = await checkLimits(tx, call, before, next, entryLineIds);
  needDecision(call, next, checked);
  const { rise } = checked.valueRise;
  if (rise < 0) return await giveBackStatements(tx, shopId, next.purchaseOrderId, checked.valueRise);
  if (checked.counted === null || rise === 0) return [];
  return [spendStatement(shopId, next.purchaseOrderId, { ...checked.counted, amount: rise })];
}

/**
 * Saves a decision with one instant throughout, that of the decision. Returns its effects with their ids.
 *
 * @param entryLineIds lines whose cost goes to the supplier's price list.
 */
export async function saveFor(
  tx: Tx,
  call: Call,
  before: PurchaseOrder | null,
  decided: Decision,
  entryLineIds = noLines,
): Promise<readonly QueuedEffect[]> {
  const { next } = decided;
  const isSame = next === before && entryLineIds.size === 0;
  const spend = isSame ? [] : await countSpend(tx, call, before, next, entryLineIds);
  if (spend.length > 0) await tx.batch(spend);
  return await saveDecision(tx, call.shop.shopId, before, decided, { ...stampOf(call), nowMs: next.updatedAtMs });
}

/** The answer of a write that shows the order alone. */
export const orderAnswer = z.strictObject({ purchaseOrder: purchaseOrderSchema, ...followOnShape });

/** Saves a decision and answers with the order alone. */
export async function savedOrder(
  tx: Tx,
  call: Call,
  order: PurchaseOrder,
  decided: Decision,
  mail: MailOfChange = {},
): Promise<Committed<z.output<typeof orderAnswer>>> {
  const effects = await saveFor(tx, call, order, decided);
  const mails = mail.queued === undefined ? [] : [mail.queued];
  const unsent = mail.unsentMail === undefined ? {} : { unsentMail: mail.unsentMail };
  const { next } = decided;
  return {
    effects,
    mailIds: mails.map(({ effectId }) => effectId),
    answer: (outcomes) => ({
      data: {
        purchaseOrder: purchaseOrderJson(next),
        ...renderSideEffects([...effects, ...mails], outcomes, { order: next, ...unsent }),
      },
      etag: etagOf(next),
    }),
  };
}

/** The mail that goes with a change: one that was asked for, or why none could be. */
export interface MailOfChange {
  readonly queued?: QueuedMail;
  readonly unsentMail?: string;
}

/** The answer with further members, also where it is read again after the first attempts of follow-on work. */
export function withData<Output extends object, More extends object>(
  { effects, mailIds = [], answer, answerAfter }: Committed<Output>,
  more: More,
): Committed<Output & More> {
  const extended = ({ data, ...rest }: Answer<Output>): Answer<Output & More> => ({
    data: { ...data, ...more },
    ...rest,
  });
  const committed = { effects, mailIds, answer: (outcomes: Outcomes) => extended(answer(outcomes)) };
  if (answerAfter === undefined) return committed;
  return {
    ...committed,
    async answerAfter(tx, outcomes) {
      const latest = await answerAfter(tx, outcomes);
      return latest === null ? null : extended(latest);
    },
  };
}

type Outcomes = Parameters<Committed<unknown>["answer"]>[0];
