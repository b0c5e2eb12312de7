/**
 * Changes of an order by hand: creating it, its header, its lines, deleting it (C14–C16, C30–C35).
 *
 * Does not own: moves of status (status-move.ts), confirmed and received quantities (core/goods/), what a status allows
 * (status.ts). No rule here moves the status. Ids, numbers and catalogue facts are passed in. The schema of the
 * operation has already checked that figures are in range and that a call names a line once (C14, C15).
 */
import { type DecisionContext, decision, unchanged } from "./decision.ts";
import { Fault, invalidField } from "../../base/fault.ts";
import { mention } from "./guidance.ts";
import { hasGoods, isUnsettled, permits, refuseUnless } from "./status.ts";
import { type KnownTerms, type LineTerms, lineTerms } from "../supplier/supplier-terms.ts";
import { accountedQuantity, baseQuantity, isCustom, valueOf, linesCounted } from "./lines.ts";
import { noTotals } from "./totals.ts";
import { exceedsTotalValueMax, moneyToNumber, type Quantity, quantityToNumber, totalValueMax } from "../money/money.ts";
import {
  articleFields,
  type Changes,
  editableHeaderFields,
  editableLineFields,
  completed,
  type Fields,
  headerKeptFields,
  lineCostFields,
  type lineFields,
  storedLineFields,
  namesGiven,
  orderTermFields,
  shownValue,
  supplierFields,
  type ValuesOf,
  valuesFrom,
  withChanges,
} from "./purchase-order-fields.ts";
import {
  customVariantPrefix,
  type Decision,
  type FieldChange,
  type LineFailure,
  type LineItem,
  linesPerOrderMax,
  type PurchaseOrder,
  type ShopFacts,
} from "./purchase-order.ts";

/** Values of a line that come from its supplier's terms. */
const lineTermFields = { ...lineCostFields, ...supplierFields } as const satisfies Fields;

/**
 * A line to add, with the catalogue's names for its variant and the supplier's terms. An absent field gets its empty
 * value (C16, C32).
 */
export interface NewLine extends LineTerms, Changes<typeof articleFields>, Changes<typeof lineFields> {
  readonly poLineItemId: string;
  /** For a custom line a new id that begins `CSTM-`. */
  readonly variantId: string;
  /** True if the call adds a custom line. */
  readonly isCustom: boolean;
  readonly quantityOrdered: Quantity;
}

/** Header fields to set. Null for `currencyCode` derives it again (C35). */
export type HeaderChanges = Changes<typeof editableHeaderFields>;

interface SupplierFacts extends ValuesOf<typeof orderTermFields> {
  readonly name: string;
  readonly currencyCode: string | null;
  readonly leadTimeDays: number | null;
}

/**
 * Facts about the order's supplier and location after the change. Null: there is none, or the shop does not know it.
 */
export interface HeaderFacts {
  readonly supplier: SupplierFacts | null;
  readonly locationName: string | null;
}

/** Facts about an order's supplier, and about the variants of its lines by id. */
export interface SupplierKnowledge {
  readonly supplier: SupplierFacts | null;
  readonly terms: ReadonlyMap<string, KnownTerms>;
}

/** Facts for a header update. `change` is there when the supplier changes. */
export interface UpdateFacts extends HeaderFacts {
  readonly change: { readonly before: SupplierKnowledge; readonly after: SupplierKnowledge } | null;
}

/** A header update, and the names of what a caller had typed and another supplier has otherwise (C32). */
export interface HeaderDecision extends Decision {
  readonly keptTerms: readonly string[];
}

/** Input of a new order. The id and number are drawn outside; a dry run passes empty ones. */
export interface NewOrder {
  readonly purchaseOrderId: string;
  readonly poNumber: string;
  readonly createdBy: string | null;
  readonly header: HeaderChanges;
  readonly lineItems: readonly NewLine[];
  /** The order that is ordered again, and how many of its lines are left out. Absent: none is. */
  readonly repeats?: { readonly poNumber: string; readonly leftOut: number } | undefined;
}

/** Changes of one line. Quantities are new totals (C31). Null for `unitCostCurrencyCode` means the order's currency. */
export interface LineEdit extends Changes<typeof editableLineFields> {
  readonly lineItemId: string;
}

/** True if two values of a field are equal: scalars, lists and addresses. */
function same(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  const left = new Map<string, unknown>(Object.entries(a));
  const right = new Map<string, unknown>(Object.entries(b));
  return left.size === right.size && [...left].every(([key, value]) => right.has(key) && same(value, right.get(key)));
}

/** The log entries for the fields that differ. */
export function changesOf<T extends Fields>(
  fields: T,
  before: ValuesOf<T>,
  after: ValuesOf<T>,
  poLineItemId: string | null,
): readonly FieldChange[] {
  const changes: FieldChange[] = [];
  for (const name in fields) {
    const field = fields[name];
    if (field === undefined || same(before[name], after[name])) continue;
    const shown = (values: ValuesOf<T>): unknown => shownValue(field.kind, values[name]);
    changes.push({ field: name, poLineItemId, before: shown(before), after: shown(after) });
  }
  return changes;
}

/** Returns the form in which the log keeps a line that was added or deleted. */
export const shownLine = (line: LineItem): Readonly<Record<string, unknown>> => ({
  variantId: line.variantId,
  quantityOrdered: quantityToNumber(line.quantityOrdered),
  unitCost: moneyToNumber(line.unitCost),
  unitCostCurrencyCode: line.unitCostCurrencyCode,
});

const addedLine = (line: LineItem): FieldChange => ({
  field: "lineItem",
  poLineItemId: line.poLineItemId,
  before: null,
  after: shownLine(line),
});

const currencyOf = ({ supplier }: Pick<HeaderFacts, "supplier">, shop: Pick<ShopFacts, "currencyCode">): string =>
  supplier?.currencyCode ?? shop.currencyCode;

const isTooLarge = (line: LineItem): boolean => exceedsTotalValueMax(valueOf(line.quantityOrdered, line));

/** The lines as they are stored. @throws Fault INVALID_INPUT naming the line. */
function linesFrom(lines: readonly NewLine[], currencyCode: string, nowMs: number): readonly LineItem[] {
  return lines.map((line, index) => {
    const { isCustom: asCustom } = line;
    // A custom line is the whole body of its call; catalogue lines come as a list.
    const path = asCustom ? "" : `/lineItems/${index}`;
    if (!asCustom && isCustom(line))
      throw invalidField(
        `${path}/variantId`,
        `begins with ${customVariantPrefix}, which marks custom lines`,
        `Add a custom line with ${mention("purchase_order_line_item_add_custom")}.`,
      );
    if (asCustom && !isCustom(line)) throw new TypeError(`A custom line needs an id ${customVariantPrefix}…`);
    const item = valuesFrom(storedLineFields, line, {
      unitCostCurrencyCode: currencyCode,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    });
    if (isTooLarge(item))
      throw invalidField(`${path}/unitCost`, `makes a line worth more than ${totalValueMax}`, "Split the line.");
    return item;
  });
}

function refuseTooManyLines(count: number): void {
  if (count > linesPerOrderMax)
    throw new Fault("INVALID_INPUT", `The order would have ${count} lines; the most is ${linesPerOrderMax}.`, {
      action: "Split the order.",
    });
}

/** The currency of a new order: the given one, else the supplier's, else the shop's (C35). */
export const newOrderCurrency = (
  header: Pick<HeaderChanges, "currencyCode">,
  facts: Pick<HeaderFacts, "supplier">,
  shop: Pick<ShopFacts, "currencyCode">,
): string => header.currencyCode ?? currencyOf(facts, shop);

/**
 * Creates a Draft. Payment and delivery terms that are left out are the supplier's. A line without a currency gets the
 * order's.
 *
 * @throws Fault INVALID_INPUT  a catalogue line's variantId begins `CSTM-`, there are more than `linesPerOrderMax`
 *                              lines, or a line or the order is worth more than `totalValueMax`.
 * Source: spec "Purchase orders: writes"; C14, C16, C32, C35.
 */
export function decideCreate(newOrder: NewOrder, facts: HeaderFacts, context: DecisionContext): Decision {
  const { header } = newOrder;
  const currencyCode = newOrderCurrency(header, facts, context.shop);
  const terms = completed(orderTermFields, header, facts.supplier ?? {});
  refuseTooManyLines(newOrder.lineItems.length);
  const draft: PurchaseOrder = {
    ...valuesFrom(editableHeaderFields, { ...header, ...terms }, { currencyCode }),
    purchaseOrderId: newOrder.purchaseOrderId,
    poNumber: newOrder.poNumber,
    status: "Draft",
    previousStatus: "Draft",
    supplierName: facts.supplier?.name ?? null,
    supplierLeadTimeNow: facts.supplier?.leadTimeDays ?? null,
    locationName: facts.locationName,
    ...valuesFrom(headerKeptFields, {}),
    ...noTotals,
    attached: { payments: [], credits: [], shipments: [], documents: [] },
    storefrontSyncState: "never-synced",
    createdBy: newOrder.createdBy,
    createdAtMs: context.nowMs,
    updatedAtMs: context.nowMs,
    sentAtMs: null,
    confirmedAtMs: null,
    receivedAtMs: null,
    completedAtMs: null,
    cancelledAtMs: null,
    version: 0,
    lineItems: linesFrom(newOrder.lineItems, currencyCode, context.nowMs),
  };
  const { repeats } = newOrder;
  const leftOut =
    repeats === undefined || repeats.leftOut === 0 ? "" : ` without ${linesCounted(repeats.leftOut)} of it`;
  const again = repeats === undefined ? "" : `: ${repeats.poNumber} again${leftOut}`;
  const message = `Created ${newOrder.poNumber} as a Draft with ${linesCounted(newOrder.lineItems.length)}${again}.`;
  return decision(null, draft, { log: [{ action: "create", message, changes: [] }] }, context);
}

/**
 * Changes header fields, in any status. A field that has the given value already is not a change.
 *
 * A new supplier brings its terms where those of the old one were not typed over (C32).
 *
 * The currency: a given one is taken, null derives it again (C35). Where none is given, a new supplier's replaces the
 * old one's if no line has a typed cost and nothing was paid or credited. When the currency changes:
 * - `fxRateOverride` is cleared unless the call sets it, since it was a rate of the old currency;
 * - lines with a typed cost keep its currency and are converted for the total;
 * - `shippingCost`, `discountAmount` and `taxAmount` keep their figures, which now count in the new currency.
 * What was paid and credited is summed again at the order's rates, so that `paidStatus` compares it with the new total.
 *
 * @throws Fault INVALID_INPUT  `locationId` is cleared outside Draft, or changed after goods were received or synced.
 *                              Or the currency changes after a payment or credit, or an amount is above
 *                              `totalValueMax`.
 * Source: spec "Purchase orders: writes"; C30, C35.
 */
export function decideHeader(
  order: PurchaseOrder,
  changes: HeaderChanges,
  facts: UpdateFacts,
  context: DecisionContext,
): HeaderDecision {
  const currencyCode = nextCurrency(order, changes, facts, context.shop);
  const { lineItems, terms, keptTerms } = termsAfter(order, changes, currencyCode, facts.change, context);
  // A rate is that of one currency: it goes when the currency does.
  const { fxRateOverride = currencyCode === order.currencyCode ? undefined : null } = changes;
  const edited: PurchaseOrder = {
    ...withChanges(editableHeaderFields, order, { ...terms, ...changes, currencyCode, fxRateOverride }),
    lineItems,
    supplierName: facts.supplier?.name ?? null,
    supplierLeadTimeNow: facts.supplier?.leadTimeDays ?? null,
    locationName: facts.locationName,
  };
  if (edited.locationId !== order.locationId) refuseLocation(order, edited.locationId, context);
  const fieldChanges = changesOf(editableHeaderFields, order, edited, null);
  if (fieldChanges.length === 0) return { ...unchanged(order), keptTerms: [] };
  const named = fieldChanges.map((change) => change.field).join(", ");
  const lineChanges = lineItems.flatMap((line, index) => {
    const before = order.lineItems[index];
    return before === undefined || before === line
      ? []
      : changesOf(editableLineFields, before, line, line.poLineItemId);
  });
  const changedLines = new Set(lineChanges.map((change) => change.poLineItemId)).size;
  const message = `Changed ${named}${changedLines === 0 ? "" : `, and the supplier's terms of ${linesCounted(changedLines)}`}.`;
  const log = [{ action: "edit", message, changes: [...fieldChanges, ...lineChanges] }];
  return { ...decision(order, edited, { log }, context), keptTerms };
}

/** Returns a line's values when nothing is typed: the supplier's terms, in full (C32). */
function givenTerms(
  line: LineItem,
  { supplier, terms }: SupplierKnowledge,
  orderCurrency: string,
  shop: Pick<ShopFacts, "currencyCode">,
): ValuesOf<typeof lineTermFields> {
  const known = terms.get(line.variantId) ?? { terms: null, variantUnitCost: null };
  const currencies = {
    order: orderCurrency,
    supplier: currencyOf({ supplier }, shop),
    shop: shop.currencyCode,
  };
  return valuesFrom(lineTermFields, lineTerms({}, known, currencies), { unitCostCurrencyCode: orderCurrency });
}

const hasGivenCost = (line: LineItem, given: ValuesOf<typeof lineCostFields>): boolean =>
  isCustom(line)
    ? line.unitCost === 0
    : line.unitCost === given.unitCost && line.unitCostCurrencyCode === given.unitCostCurrencyCode;

/**
 * Payment terms and lines after a change of supplier. What still is as the old supplier gives it is taken anew from the
 * new one; cost and currency travel together. What was typed stays, and is named where the new supplier has it
 * otherwise. Where lines do not change any more, all stays.
 *
 * Source: C32.
 */
function termsAfter(
  order: PurchaseOrder,
  changes: HeaderChanges,
  currencyCode: string,
  change: UpdateFacts["change"],
  { shop, nowMs }: DecisionContext,
): { readonly lineItems: readonly LineItem[]; readonly terms: HeaderChanges; readonly keptTerms: readonly string[] } {
  if (change === null) return { lineItems: order.lineItems, terms: {}, keptTerms: [] };
  const { before, after } = change;
  const mayChange = permits(order, "edit-lines");
  const kept = new Set<string>();
  const taken = <T extends Fields>(fields: T, of: ValuesOf<T>, was: ValuesOf<T>, now: ValuesOf<T>): Changes<T> => {
    const values: Record<string, unknown> = {};
    for (const name in fields) {
      if (of[name] === now[name]) continue;
      if (mayChange && of[name] === was[name]) values[name] = now[name];
      else kept.add(name);
    }
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each value is that of the same field
    return values as Changes<T>;
  };
  const supplierTerms = (supplier: SupplierFacts | null) => valuesFrom(orderTermFields, supplier ?? {});
  const terms = taken(orderTermFields, order, supplierTerms(before.supplier), supplierTerms(after.supplier));
  // What the call itself sets is no term that stayed.
  for (const name of namesGiven(orderTermFields, changes)) kept.delete(name);
  const lineItems = order.lineItems.map((line) => {
    if (isCustom(line)) return line;
    const was = givenTerms(line, before, order.currencyCode, shop);
    const now = givenTerms(line, after, currencyCode, shop);
    const cost = { unitCost: now.unitCost, unitCostCurrencyCode: now.unitCostCurrencyCode };
    const isSameCost = line.unitCost === cost.unitCost && line.unitCostCurrencyCode === cost.unitCostCurrencyCode;
    const takesCost = mayChange && hasGivenCost(line, was);
    if (!isSameCost && !takesCost) kept.add("unitCost");
    const next = { ...taken(supplierFields, line, was, now), ...(isSameCost || !takesCost ? {} : cost) };
    return Object.keys(next).length === 0 ? line : { ...withChanges(lineTermFields, line, next), updatedAtMs: nowMs };
  });
  return { lineItems, terms, keptTerms: [...kept] };
}

function nextCurrency(order: PurchaseOrder, changes: HeaderChanges, facts: UpdateFacts, shop: ShopFacts): string {
  const isSettled = order.settledAmount !== 0;
  if (changes.currencyCode === undefined) {
    const { change } = facts;
    if (change === null || isSettled || !permits(order, "edit-lines")) return order.currencyCode;
    const { before } = change;
    const follows =
      order.currencyCode === currencyOf(before, shop) &&
      order.lineItems.every((line) => hasGivenCost(line, givenTerms(line, before, order.currencyCode, shop)));
    return follows ? currencyOf(facts, shop) : order.currencyCode;
  }
  const currencyCode = changes.currencyCode ?? currencyOf(facts, shop);
  if (currencyCode !== order.currencyCode && isSettled)
    throw invalidField(
      "/currencyCode",
      `cannot change from ${order.currencyCode} to ${currencyCode}: payments or credits in ${order.currencyCode} are recorded`,
      `Leave it ${order.currencyCode}, or make a new order.`,
    );
  return currencyCode;
}

function refuseLocation(order: PurchaseOrder, locationId: string | null, context: DecisionContext): void {
  if (hasGoods(order))
    throw invalidField(
      "/locationId",
      "cannot change while anything is received",
      `Take the goods back with ${mention("purchase_order_unreceive")} first.`,
    );
  if (hasGoods(order, context))
    throw invalidField(
      "/locationId",
      "cannot change while it is not known whether the storefront has goods of the order",
      `Call ${mention("purchase_order_storefront_sync")} first, which asks again.`,
    );
  if (locationId === null && order.status !== "Draft")
    throw invalidField(
      "/locationId",
      `cannot be cleared while the order is ${order.status}; only a Draft may be without one`,
      "Send another locationId.",
    );
}

/**
 * Decides how an order is deleted: a Draft for good, a Cancelled one hidden and retained.
 *
 * @throws Fault INVALID_INPUT  the order is neither Draft nor Cancelled.
 * Source: spec "Moves made by other operations"; C33.
 */
export function decideDelete(order: PurchaseOrder): "deleted" | "soft-deleted" {
  refuseUnless(order, "delete");
  return order.status === "Draft" ? "deleted" : "soft-deleted";
}

/**
 * Adds unconfirmed lines at the end of the order. Repeating the call adds them again.
 *
 * @throws Fault INVALID_INPUT  the status does not let lines change, a catalogue line's variantId begins `CSTM-`, or
 *                              the order would exceed `linesPerOrderMax` or `totalValueMax`.
 * Source: spec "Purchase orders: writes"; C16, C30, C32.
 */
export function decideAddLines(order: PurchaseOrder, lines: readonly NewLine[], context: DecisionContext): Decision {
  const added = linesFrom(lines, order.currencyCode, context.nowMs);
  refuseUnless(order, "edit-lines");
  refuseTooManyLines(order.lineItems.length + lines.length);
  const log = {
    action: "add-lines",
    message: `Added ${linesCounted(added.length)}.`,
    changes: added.map(addedLine),
  };
  return decision(order, { ...order, lineItems: [...order.lineItems, ...added] }, { log: [log] }, context);
}

/** Fields in which Drafts that are merged are alike. */
const mergedAlike = ["supplierId", "locationId", "currencyCode"] as const;

/** @throws Fault INVALID_INPUT  the order cannot end in `into`. */
function refuseMerge(order: PurchaseOrder, into: PurchaseOrder): void {
  if (order.purchaseOrderId === into.purchaseOrderId)
    throw invalidField("/into", "is the order itself", "Name another Draft.");
  for (const [path, { status }] of [
    ["/purchaseOrderId", order],
    ["/into", into],
  ] as const)
    if (status !== "Draft") throw invalidField(path, `is ${status}; both orders must be Drafts`);
  for (const field of mergedAlike)
    if (order[field] !== into[field])
      throw invalidField(
        "/into",
        `has another ${field}, ${into[field] ?? "none"} instead of ${order[field] ?? "none"}`,
        "Merge Drafts of the same supplier, location and currency.",
      );
  const hasRejected = order.lineItems.some((line) => line.quantityRejected !== 0);
  if (hasGoods(order) || hasRejected || Object.values(order.attached).some((attached) => attached.length > 0))
    throw invalidField(
      "/purchaseOrderId",
      "has goods, payments, credits, shipments or documents, which would be lost",
      "Merge the other order into this one.",
    );
}

/**
 * Adds the lines of one Draft, as they are, to the end of another one, which keeps its own header. The first is to be
 * deleted in the same change.
 *
 * @param lineItemIds for the lines that are added, one each.
 * @throws Fault INVALID_INPUT  one of them is no Draft, or they differ in supplier, location or currency. Or goods or
 *                              attachments would be lost, or a bound of an order is passed.
 * Source: C86a.
 */
export function decideMerge(
  order: PurchaseOrder,
  into: PurchaseOrder,
  lineItemIds: readonly string[],
  context: DecisionContext,
): Decision {
  refuseMerge(order, into);
  refuseTooManyLines(into.lineItems.length + order.lineItems.length);
  const added = order.lineItems.map((line, index): LineItem => {
    const poLineItemId = lineItemIds[index];
    if (poLineItemId === undefined) throw new TypeError("a line has no new id");
    return { ...line, poLineItemId, updatedAtMs: context.nowMs };
  });
  const message = `Merged ${order.poNumber} into this order: ${linesCounted(added.length)} added.`;
  const log = { action: "add-lines", message, changes: added.map(addedLine) };
  return decision(into, { ...into, lineItems: [...into.lineItems, ...added] }, { log: [log] }, context);
}

/** The line after the edit. */
const edited = (line: LineItem, edit: LineEdit, orderCurrency: string): LineItem =>
  withChanges(editableLineFields, line, {
    ...edit,
    unitCostCurrencyCode: edit.unitCostCurrencyCode === null ? orderCurrency : edit.unitCostCurrencyCode,
  });

const excess = (line: LineItem): number => Math.max(0, accountedQuantity(line) - baseQuantity(line));

type Refusal = Omit<LineFailure, "lineItemId">;

/**
 * Why the line cannot become `next`, or null. An excess over the base, left by an allowed over-receipt, may stay or
 * shrink but not grow (P1, P2).
 */
function lineRefusal(line: LineItem, next: LineItem, edit: LineEdit): Refusal | null {
  const customOnly = isCustom(line) ? [] : namesGiven(articleFields, edit);
  if (customOnly.length > 0)
    return {
      reason: "custom-field-on-catalogue-line",
      message: `${customOnly.join(", ")} can be set on custom lines only; a catalogue line takes them from the catalogue.`,
    };
  const ordered = quantityToNumber(next.quantityOrdered);
  if (next.quantityOrdered < line.quantityOrdered && next.quantityOrdered < line.quantityConfirmed)
    return {
      reason: "below-confirmed",
      message: `quantityOrdered ${ordered} is below the confirmed ${quantityToNumber(line.quantityConfirmed)}; lower that first with ${mention("purchase_order_confirm")}.`,
    };
  if (excess(next) > excess(line)) {
    if (next.quantityOrdered < line.quantityOrdered && next.quantityOrdered < line.quantityReceived)
      return {
        reason: "below-received",
        message: `quantityOrdered ${ordered} is below the received ${quantityToNumber(line.quantityReceived)}; take goods back first with ${mention("purchase_order_unreceive")}.`,
      };
    const base = `${next.quantityConfirmed > 0 ? "confirmed" : "ordered"} ${quantityToNumber(baseQuantity(next))}`;
    return {
      reason: "above-base",
      message: `Received, rejected and cancelled would be ${quantityToNumber(accountedQuantity(next))} together, above the ${base}.`,
    };
  }
  if (isTooLarge(next) && !isTooLarge(line))
    return { reason: "total-too-large", message: `The line would be worth more than ${totalValueMax}.` };
  return null;
}

/** A decision about lines, of which some may be left as they are. */
export interface LineEditDecision extends Decision {
  /** Lines that now are as the call wants them, in the order of the call. Includes lines that were so before. */
  readonly updatedLineItemIds: readonly string[];
  readonly failed: readonly LineFailure[];
}

/**
 * Changes each line as a whole, or leaves it as it is and says why in `failed`. `quantityRejected` and
 * `quantityCancelled` are new totals. The order's status does not move.
 *
 * @throws Fault INVALID_INPUT  the order's status does not let lines change, no line could be changed at all, or the
 *                              order would be worth more than `totalValueMax`.
 * Source: spec "Purchase orders: writes"; C15, C29, C30, C31.
 */
export function decideEditLines(
  order: PurchaseOrder,
  edits: readonly LineEdit[],
  context: DecisionContext,
): LineEditDecision {
  refuseUnless(order, "edit-lines");

  const lines = new Map(order.lineItems.map((line) => [line.poLineItemId, line] as const));
  const changes: FieldChange[] = [];
  const updatedLineItemIds: string[] = [];
  const failed: LineFailure[] = [];
  for (const edit of edits) {
    const { lineItemId } = edit;
    const line = lines.get(lineItemId);
    if (line === undefined) {
      failed.push(unknownLine(lineItemId));
      continue;
    }
    const next = edited(line, edit, order.currencyCode);
    const refusal = lineRefusal(line, next, edit);
    if (refusal !== null) {
      failed.push({ lineItemId, ...refusal });
      continue;
    }
    updatedLineItemIds.push(lineItemId);
    const lineChanges = changesOf(editableLineFields, line, next, lineItemId);
    if (lineChanges.length === 0) continue;
    changes.push(...lineChanges);
    lines.set(lineItemId, { ...next, updatedAtMs: context.nowMs });
  }
  if (updatedLineItemIds.length === 0) throw nothingApplied(failed);
  if (changes.length === 0) return { ...unchanged(order), updatedLineItemIds, failed };
  const changedLines = new Set(changes.map((change) => change.poLineItemId));
  const log = { action: "edit-lines", message: `Changed ${linesCounted(changedLines.size)}.`, changes };
  return {
    ...decision(order, { ...order, lineItems: [...lines.values()] }, { log: [log] }, context),
    updatedLineItemIds,
    failed,
  };
}

const unknownLine = (lineItemId: string): LineFailure => ({
  lineItemId,
  reason: "unknown-line",
  message: "The order has no such line.",
});

/** The refusal when every edit failed. `failed` is in the order of the edits. */
function nothingApplied(failed: readonly LineFailure[]): Fault {
  const [first] = failed;
  const more = failed.length > 1 ? ` (and ${linesCounted(failed.length - 1)} more)` : "";
  return new Fault("INVALID_INPUT", `No line was changed. ${first?.lineItemId}: ${first?.message}${more}`, {
    action: "Correct the lines named in details and send them again.",
    details: failed.map(({ message }, index) => ({ path: `/lines/${index}`, message })),
  });
}

interface LineDeleteDecision extends Decision {
  readonly deletedLineItemIds: readonly string[];
  readonly failed: readonly LineFailure[];
}

/**
 * Deletes the lines without received, rejected or synced quantity. The others stay and are named in `failed`; the call
 * succeeds even if none is deleted.
 *
 * @throws Fault INVALID_INPUT  the order's status does not let lines change.
 * Source: spec "Purchase orders: writes"; C15, C30, C31.
 */
export function decideDeleteLines(
  order: PurchaseOrder,
  lineItemIds: readonly string[],
  context: DecisionContext,
): LineDeleteDecision {
  refuseUnless(order, "edit-lines");
  const lines = new Map(order.lineItems.map((line) => [line.poLineItemId, line] as const));
  const deleted: LineItem[] = [];
  const failed: LineFailure[] = [];
  for (const lineItemId of lineItemIds) {
    const line = lines.get(lineItemId);
    const refusal = line === undefined ? unknownLine(lineItemId) : deleteRefusal(line, context);
    if (refusal !== null) failed.push({ ...refusal, lineItemId });
    else if (line !== undefined) deleted.push(line);
  }
  const deletedLineItemIds = deleted.map((line) => line.poLineItemId);
  if (deleted.length === 0) return { ...unchanged(order), deletedLineItemIds, failed };
  const gone = new Set(deletedLineItemIds);
  const log = {
    action: "delete-lines",
    message: `Deleted ${linesCounted(deleted.length)}.`,
    changes: deleted.map((line) => ({
      field: "lineItem",
      poLineItemId: line.poLineItemId,
      before: shownLine(line),
      after: null,
    })),
  };
  const lineItems = order.lineItems.filter((line) => !gone.has(line.poLineItemId));
  return { ...decision(order, { ...order, lineItems }, { log: [log] }, context), deletedLineItemIds, failed };
}

function deleteRefusal(line: LineItem, context: DecisionContext): Refusal | null {
  if (line.quantityReceived !== 0)
    return { reason: "has-received-quantity", message: "Goods were received on the line; cancel the rest instead." };
  if (line.quantitySynced !== 0)
    return { reason: "has-synced-quantity", message: "Stock of the line is still on the storefront." };
  if (isUnsettled(line, context))
    return {
      reason: "has-synced-quantity",
      message: "Stock of the line may be on the storefront: a sync of it has no known outcome.",
    };
  if (line.quantityRejected !== 0)
    return { reason: "has-rejected-quantity", message: "Goods were rejected on the line; cancel the rest instead." };
  return null;
}
