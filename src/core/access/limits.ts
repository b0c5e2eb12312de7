/**
 * Limits of an API key: how much its orders may be worth, of whom and where (C78). Pure; figures are exact.
 *
 * Does not own: what keys have spent (shop/order/order-spend.ts), who asks and when (operations).
 */
import type { Day } from "../../base/time/calendar.ts";
import { Fault, type LimitDetail } from "../../base/fault.ts";
import { compareText } from "../../base/text/compare-text.ts";
import {
  asFxRate,
  asMoney,
  convert,
  exactValue,
  exactValueScale,
  exceedsTotalValueMax,
  type Money,
  moneyDecimalsMax,
  moneyToNumber,
  nearDecimal,
  unitRate,
  zeroMoney,
} from "../money/money.ts";
import { changesOf } from "../order/edit.ts";
import { type CostRise, highestBeyond, type Percent, percentToNumber } from "./cost-rises.ts";
import { owedQuantity } from "../order/lines.ts";
import { editableHeaderFields } from "../order/purchase-order-fields.ts";
import type { PurchaseOrder } from "../order/purchase-order.ts";
import { hasLeftDraft, isClosed } from "../order/status.ts";

/** Limits of a key, in the shop's currency. Null: there is no such limit. A maximum itself is within. */
export interface KeyLimits {
  readonly orderValueMax: Money | null;
  /** Of a day, and of a month, where the shop is. */
  readonly dayValueMax: Money | null;
  readonly monthValueMax: Money | null;
  /** Of a unit cost, over what is known of it (cost-rises.ts). */
  readonly unitCostRisePercentMax: Percent | null;
  readonly supplierIds: readonly string[] | null;
  readonly locationIds: readonly string[] | null;
  /** Fate of a write that is beyond them: somebody decides (C77), or it is refused. */
  readonly beyond: "ask" | "refuse";
}

/** No limits at all, for those that are not given. */
export const noLimits: Omit<KeyLimits, "beyond"> = {
  orderValueMax: null,
  dayValueMax: null,
  monthValueMax: null,
  unitCostRisePercentMax: null,
  supplierIds: null,
  locationIds: null,
};

/** Suppliers that were merged, each with the one that it was merged into (C86). */
export type Merges = ReadonlyMap<string, string>;

/** The ids of suppliers, each once: in place of one that was merged, the one that it was merged into. */
export const presentIds = (ids: readonly string[], merges: Merges): readonly string[] => [
  ...new Set(ids.map((id) => merges.get(id) ?? id)),
];

/** The limits after these merges. */
export const limitsAfter = (limits: KeyLimits, merges: Merges): KeyLimits =>
  limits.supplierIds === null ? limits : { ...limits, supplierIds: presentIds(limits.supplierIds, merges) };

/** Spending of a key, today and this month where the shop is. */
export interface Spent {
  readonly dayValue: Money;
  readonly monthValue: Money;
}

/** Spending of a key on an order, on a day. */
export interface SpentOn {
  readonly keyId: string;
  readonly day: Day;
  readonly amount: Money;
}

/** Worth of an order as it counts against limits. */
interface Worth {
  /** In the shop's currency. */
  readonly value: Money;
  /** Amounts for which there is no rate, by currency. */
  readonly unpriced: ReadonlyMap<string, bigint>;
}

/** Addition of a change to what is spent. */
export interface ValueRise {
  /** The order's value afterwards. */
  readonly value: Money;
  /** Negative: it gives back. */
  readonly rise: Money;
  /** It adds something that has no price in the shop's currency. */
  readonly addsUnpriced: boolean;
}

const nothing: Worth = { value: zeroMoney, unpriced: new Map() };

/**
 * Value in the shop's currency at the order's own rate; null without one, and above `totalValueMax`. An override, which
 * a caller types, never lowers it.
 */
function valueIn(order: PurchaseOrder, shopCurrency: string): Money | null {
  const { currencyCode, grandTotal, fxRateOverride, fxRates } = order;
  if (currencyCode === shopCurrency) return grandTotal;
  const own = fxRates[currencyCode];
  if (own === undefined) return null;
  const value = convert(grandTotal, asFxRate(Math.max(own, fxRateOverride ?? own)));
  return exceedsTotalValueMax(value) ? null : value;
}

function worthOf(order: PurchaseOrder | null, shopCurrency: string): Worth {
  if (order === null || !hasLeftDraft(order)) return nothing;
  const unpriced = new Map<string, bigint>();
  const add = (currency: string, exact: bigint): void =>
    void unpriced.set(currency, (unpriced.get(currency) ?? 0n) + exact);
  const lineIds = new Set(order.unpricedLineItemIds);
  for (const line of lineIds.size === 0 ? [] : order.lineItems)
    if (lineIds.has(line.poLineItemId))
      add(line.unitCostCurrencyCode, exactValue(owedQuantity(line, isClosed(order)), line.unitCost, unitRate));
  const value = valueIn(order, shopCurrency);
  if (value === null) add(order.currencyCode, BigInt(order.grandTotal) * exactValueScale);
  return { value: value ?? zeroMoney, unpriced };
}

/**
 * Returns what a change adds to what is spent. An order counts from when it leaves Draft until it is cancelled.
 *
 * @param before null: the order is new.
 * Source: C78.
 */
export function riseOf(before: PurchaseOrder | null, next: PurchaseOrder, shopCurrency: string): ValueRise {
  const [was, is] = [worthOf(before, shopCurrency), worthOf(next, shopCurrency)];
  return {
    value: is.value,
    rise: asMoney(is.value - was.value),
    addsUnpriced: [...is.unpriced].some(([currency, exact]) => exact > (was.unpriced.get(currency) ?? 0n)),
  };
}

/** True if supplier and location are asked: of a new order, an edited header, and an order that leaves Draft. */
export const asksPlaces = (before: PurchaseOrder | null, next: PurchaseOrder): boolean =>
  before === null ||
  (!hasLeftDraft(before) && hasLeftDraft(next)) ||
  changesOf(editableHeaderFields, before, next, null).length > 0;

/**
 * The rows from which a fall is taken, newest day first, with what is left of each. More than was spent is not given
 * back.
 *
 * @param spent rows of one order.
 */
export function givenBack(spent: readonly SpentOn[], fall: Money): readonly SpentOn[] {
  let open = fall;
  const changed: SpentOn[] = [];
  for (const row of spent.toSorted((one, other) => other.day - one.day || compareText(one.keyId, other.keyId))) {
    const taken = asMoney(Math.min(open, row.amount));
    if (taken <= 0) continue;
    open = asMoney(open - taken);
    changed.push({ ...row, amount: asMoney(row.amount - taken) });
  }
  return changed;
}

/** A write as it is held against limits. */
interface LimitedWrite {
  readonly next: PurchaseOrder;
  readonly rise: ValueRise;
  readonly asksPlaces: boolean;
  /** Of the lines that are asked for their cost. */
  readonly costRises: readonly CostRise[];
  /** Before the write. */
  readonly spent: Spent;
  readonly currencyCode: string;
}

/** A limit that a write is beyond, and the sentence that tells it. */
interface Passed {
  readonly detail: LimitDetail;
  readonly told: string;
}

const valueLimits = [
  ["orderValueMax", "An order"],
  ["dayValueMax", "A day's orders"],
  ["monthValueMax", "A month's orders"],
] as const;

/** The sentence of what is left of a maximum, without its full stop; null: it is none. */
export function leftOf({ limit, allowed, used }: LimitDetail, currencyCode: string): string | null {
  if (typeof allowed !== "number") return null;
  const [, of] = valueLimits.find(([name]) => name === limit) ?? [];
  if (of === undefined) return `A cost may rise by ${allowed} %`;
  const left = nearDecimal(Math.max(0, allowed - (used ?? 0)), moneyDecimalsMax);
  return `${of}: ${left} ${currencyCode} of ${allowed} ${currencyCode} are left`;
}

function valuesPassed(
  limits: KeyLimits,
  { rise: { value, rise, addsUnpriced }, spent, currencyCode }: LimitedWrite,
): readonly Passed[] {
  if (rise <= 0 && !addsUnpriced) return [];
  const figures = {
    orderValueMax: { used: zeroMoney, asked: value },
    dayValueMax: { used: spent.dayValue, asked: rise },
    monthValueMax: { used: spent.monthValue, asked: rise },
  };
  return valueLimits.flatMap(([limit]): readonly Passed[] => {
    const { used, asked } = figures[limit];
    const allowed = limits[limit];
    if (allowed === null || (!addsUnpriced && used + asked <= allowed)) return [];
    const wanted = addsUnpriced
      ? "what has no exchange rate cannot be counted"
      : `this asks for ${moneyToNumber(asked)} ${currencyCode}`;
    const detail = {
      limit,
      allowed: moneyToNumber(allowed),
      used: moneyToNumber(used),
      asked: addsUnpriced ? null : moneyToNumber(asked),
    };
    return [{ detail, told: `${leftOf(detail, currencyCode)}; ${wanted}.` }];
  });
}

function costPassed(
  { unitCostRisePercentMax: max }: KeyLimits,
  { costRises, currencyCode }: Pick<LimitedWrite, "costRises" | "currencyCode">,
): readonly Passed[] {
  if (max === null) return [];
  const found = highestBeyond(costRises, max);
  if (found === null) return [];
  const { rise, allowed, count } = found;
  const name = rise.line.productName ?? rise.line.variantId;
  const wanted =
    rise.percent === null
      ? `of ${name} there is none to compare with`
      : `that of ${name} rises by ${percentToNumber(rise.percent)} %`;
  const others = count === 1 ? "" : `, and ${count - 1} more`;
  const detail = {
    limit: "unitCostRisePercentMax",
    allowed: percentToNumber(allowed),
    used: null,
    asked: rise.percent === null ? null : percentToNumber(rise.percent),
  } as const;
  return [{ detail, told: `${leftOf(detail, currencyCode)}; ${wanted}${others}.` }];
}

function placesPassed(limits: KeyLimits, { next, asksPlaces: asks }: LimitedWrite): readonly Passed[] {
  if (!asks) return [];
  const rows = [
    { limit: "supplierIds", asked: next.supplierId, of: "supplier" },
    { limit: "locationIds", asked: next.locationId, of: "location" },
  ] as const;
  return rows.flatMap(({ limit, asked, of }): readonly Passed[] => {
    const allowed = limits[limit];
    // A Draft may still get one.
    if (allowed === null || (asked === null ? !hasLeftDraft(next) : allowed.includes(asked))) return [];
    const told = asked === null ? `The order has no ${of}.` : `Its orders are not for the ${of} ${asked}.`;
    return [{ detail: { limit, allowed, used: null, asked }, told }];
  });
}

const beyondLimits = (passed: readonly Passed[]): Fault =>
  new Fault("FORBIDDEN_SCOPE", `This is beyond the API key's limits. ${passed.map(({ told }) => told).join(" ")}`, {
    reason: "LIMIT_EXCEEDED",
    action: "Stay within them, or leave it to an owner of the shop, who can do it and can change the limits.",
    details: passed.map(({ detail }) => detail),
  });

/**
 * Refuses a merge of two suppliers by a key that may order of one of them alone: its limits would go over with it.
 *
 * @throws Fault FORBIDDEN_SCOPE (LIMIT_EXCEEDED)
 * Source: C78, C86.
 */
export function refuseMerge({ supplierIds: allowed }: KeyLimits, supplierIds: readonly [string, string]): void {
  if (allowed === null) return;
  const [other, both] = supplierIds.filter((id) => !allowed.includes(id));
  if (other === undefined || both !== undefined) return;
  const detail = { limit: "supplierIds", allowed, used: null, asked: other } as const;
  throw beyondLimits([{ detail, told: `Its orders are not for the supplier ${other}.` }]);
}

/**
 * Refuses rises of known costs, with which orders are compared, whatever the limits say of what is beyond them.
 *
 * @throws Fault FORBIDDEN_SCOPE (LIMIT_EXCEEDED)
 * Source: C78.
 */
export function refuseRises(limits: KeyLimits, costRises: readonly CostRise[], currencyCode: string): void {
  const passed = costPassed(limits, { costRises, currencyCode });
  if (passed.length > 0) throw beyondLimits(passed);
}

/**
 * The limits of the key that a write is beyond, if somebody may decide about it.
 *
 * @throws Fault FORBIDDEN_SCOPE (LIMIT_EXCEEDED)  the key's limits refuse it. The details name every one of them.
 * Source: C78.
 */
export function limitsPassed(limits: KeyLimits, limited: LimitedWrite): readonly LimitDetail[] {
  const passed = [...valuesPassed(limits, limited), ...costPassed(limits, limited), ...placesPassed(limits, limited)];
  if (passed.length === 0 || limits.beyond === "ask") return passed.map(({ detail }) => detail);
  throw beyondLimits(passed);
}
