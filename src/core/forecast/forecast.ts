/**
 * The rows of a forecast view: every figure of contract §9 "Forecast view", computed from the facts of one variant.
 * Pure.
 *
 * Owns: the figures, the available columns, the periods of supply mode. Does not own: how demand is learned
 * (demand.ts), how facts are loaded (shop/forecast/forecast-rows.ts), or the wire format
 * (operations/forecast-views.ts). What each figure means and why: `docs/forecasting.md`.
 *
 * Glossary:
 * - covering: incoming that arrives within the lead time and the order cycle, so within what an order of today is meant
 *   to cover.
 * - position: on hand plus covering, the stock that there would be if nothing more were sold.
 * - reorder point: the position at or below which it is time to order.
 * - order-up-to level: the position that an order is meant to restore.
 *
 * Invariants:
 * - V3. reorderPoint = dailyDemand × leadTimeDays + safetyStock, of the figures as shown, and at least the minimum that
 *       a buyer has set.
 * - V4. A suggested quantity is 0; or it is at least the shortage and the MOQ, and a whole number of packs.
 * - V5. projectedOnHand of a period = projectedOnHand of the period before (first: onHand) + incoming − demand of the
 *   period.
 */
import { dateOf, dateOrNull, type Day, dayFrom, daysPerWeek, weekOf, weekStart } from "../../base/time/calendar.ts";
import { type DemandSeries, weeklyDemand } from "./demand.ts";
import {
  addQuantity,
  asMoney,
  asQuantity,
  convert,
  divideHalfUp,
  exactValue,
  exactValueScale,
  type FxRate,
  type Money,
  moneyToNumber,
  type Quantity,
  quantityDecimalsMax,
  quantityToNumber,
  roundToMinorUnit,
  subtractQuantity,
  unitRate,
  zeroQuantity,
  quantityToNumberOrNull,
} from "../money/money.ts";
import type { ShopFacts } from "../order/purchase-order.ts";
import type { Steering } from "./reorder-settings.ts";

/** Decimals of `dailyDemand`. It is held as an integer, in steps of 10^-4 units. */
const dailyDemandDecimals = 4;
const dailyDemandScale = 10 ** dailyDemandDecimals;
/** Lead time in days when neither the supplier's catalogue entry nor the supplier has one. */
const leadTimeDaysAssumed = 14;
/** Days of demand that an order covers beyond its own lead time. */
export const orderCycleDays = 30;
/** Safety stock in standard deviations of lead-time demand: no stock-out in 95 of 100 order cycles. */
const safetyFactor = 1.645;
/** A stock-out more than this many days away is not shown. */
const stockoutDaysMax = 3_650;
/** Periods of supply mode that a view may show. */
export const horizonPeriodsMax = 52;
/** Periods of supply mode when a view does not say. */
export const horizonPeriodsDefault = 6;

/** Steps of a `Quantity` in one unit. */
const quantityScale = 10 ** quantityDecimalsMax;

// Periods.

/** The units of a supply period. */
export const periodUnits = ["week", "month"] as const;
/** A unit of a supply period. */
export type PeriodUnit = (typeof periodUnits)[number];

/** A month (`2026-12`) or an ISO week (`2026-W49`). Both days belong to it. */
interface Period {
  readonly label: string;
  readonly firstDay: Day;
  readonly lastDay: Day;
}

function weekPeriod(week: number): Period {
  const firstDay = weekStart(week);
  const year = Number(dateOf(firstDay + 3).slice(0, 4));
  const number = week - weekOf(dayFrom(`${year}-01-04`)) + 1;
  return {
    label: `${year}-W${String(number).padStart(2, "0")}`,
    firstDay,
    lastDay: firstDay + daysPerWeek - 1,
  };
}

function monthPeriod(year: number, monthIndex: number): Period {
  const firstOf = (index: number): Day =>
    dayFrom(`${year + Math.floor(index / 12)}-${String((index % 12) + 1).padStart(2, "0")}-01`);
  const firstDay = firstOf(monthIndex);
  return { label: dateOf(firstDay).slice(0, 7), firstDay, lastDay: firstOf(monthIndex + 1) - 1 };
}

/** The current period and those after it, `count` in all. The current one begins today. */
export function periodsFrom(today: Day, unit: PeriodUnit, count: number): readonly Period[] {
  const [year = 0, month = 0] = dateOf(today).split("-").map(Number);
  return Array.from({ length: count }, (_, index) => {
    const period = unit === "week" ? weekPeriod(weekOf(today) + index) : monthPeriod(year, month - 1 + index);
    return index === 0 ? { ...period, firstDay: today } : period;
  });
}

// Facts.

/**
 * A supplier's terms for one variant: its catalogue entry, completed with the supplier's own currency and lead time.
 */
export interface SupplierOffer {
  readonly supplierId: string;
  readonly supplierName: string;
  readonly unitCost: Money | null;
  readonly currencyCode: string;
  readonly moq: Quantity | null;
  readonly packSize: Quantity | null;
  readonly leadTimeDays: number | null;
}

/** Goods that an open order still brings. */
export interface Arrival {
  /** The day on which they are expected; null when nobody has said one. */
  readonly day: Day | null;
  readonly quantity: Quantity;
}

/** Goods that an open order brings on a day that is known. */
export interface LateArrival extends Arrival {
  readonly day: Day;
}

/** The facts that replenishment is decided from, summed over the view's locations. */
export interface StockFacts {
  readonly isActive: boolean;
  readonly onHand: Quantity;
  readonly incoming: Quantity;
  /**
   * Part of `incoming` that is expected later than an order of today covers at least (`orderCycleDays`, or less where a
   * buyer has set it). The rest comes earlier, or on an unknown day.
   */
  readonly lateArrivals: readonly LateArrival[];
  /** One per location with sales. */
  readonly series: readonly DemandSeries[];
  /** Of the view's suppliers. */
  readonly offers: readonly SupplierOffer[];
  /** Null: nothing is set. */
  readonly steering: Steering | null;
}

/** The facts of one row. */
export interface VariantFacts extends StockFacts {
  readonly variantId: string;
  readonly productId: string;
  readonly productName: string;
  readonly variantName: string | null;
  readonly sku: string | null;
  /** The catalogue's cost, in the shop's currency. */
  readonly unitCost: Money | null;
  /** Of the sale, in the shop's currency. */
  readonly price: Money | null;
  readonly arrivals: readonly Arrival[];
  readonly sold30d: Quantity;
  readonly sold90d: Quantity;
  readonly lastSoldDay: Day | null;
  /** On Draft orders; 0 unless the view shows it. */
  readonly draftQuantity: Quantity;
}

/** Facts that are the same for every row of one answer. */
export interface ForecastContext {
  readonly shop: Pick<ShopFacts, "currencyCode" | "fxRates">;
  readonly today: Day;
  /** The names of the view's locations; null when it has all. */
  readonly locationName: string | null;
  /** Empty in stock mode. */
  readonly periods: readonly Period[];
}

type ShopRates = ForecastContext["shop"];

// Figures.

/** Currency → shop currency; null when the shop has no rate. */
const rateToShop = (currencyCode: string, shop: ShopRates): FxRate | null =>
  currencyCode === shop.currencyCode ? unitRate : (shop.fxRates[currencyCode] ?? null);

/** Null: the cost is not known, or the shop has no rate for its currency. */
export function costInShopCurrency(
  offer: Pick<SupplierOffer, "unitCost" | "currencyCode">,
  shop: ShopRates,
): Money | null {
  const rate = rateToShop(offer.currencyCode, shop);
  return offer.unitCost === null || rate === null ? null : convert(offer.unitCost, rate);
}

/**
 * The cheapest offer in the shop's currency. Offers without a comparable cost come last; of equal ones the lower
 * supplier id wins. Where there are preferred suppliers, it is the cheapest of these.
 */
export function chooseOffer(
  all: readonly SupplierOffer[],
  shop: ShopRates,
  preferredSupplierIds: readonly string[] = [],
): SupplierOffer | null {
  const preferred =
    preferredSupplierIds.length === 0 ? [] : all.filter((offer) => preferredSupplierIds.includes(offer.supplierId));
  const offers = preferred.length === 0 ? all : preferred;
  // Most variants have one: its cost decides nothing.
  if (offers.length <= 1) return offers[0] ?? null;
  let chosen: { offer: SupplierOffer; cost: number } | null = null;
  for (const offer of offers) {
    const cost = costInShopCurrency(offer, shop) ?? Number.POSITIVE_INFINITY;
    if (chosen === null || cost < chosen.cost || (cost === chosen.cost && offer.supplierId < chosen.offer.supplierId))
      chosen = { offer, cost };
  }
  return chosen?.offer ?? null;
}

/** Demand of some days at a daily demand, rounded half-up to 3 decimals. */
function demandOf(dailyDemand: number, days: number): Quantity {
  const rounded = dailyDemand * days * quantityScale + dailyDemandScale / 2;
  // Whole numbers without loss: a tenth of the time of a decision for 20,000 variants.
  if (rounded >= 0 && Number.isSafeInteger(rounded))
    return asQuantity((rounded - (rounded % dailyDemandScale)) / dailyDemandScale);
  return asQuantity(
    Number(divideHalfUp(BigInt(dailyDemand) * BigInt(days) * BigInt(quantityScale), BigInt(dailyDemandScale))),
  );
}

/**
 * The quantity to order for a shortage: at least the MOQ, rounded up to whole packs (whole units without a pack size).
 * 0 without a shortage.
 */
export function orderQuantity(shortage: Quantity, offer: Pick<SupplierOffer, "moq" | "packSize"> | null): Quantity {
  if (shortage <= 0) return zeroQuantity;
  const wanted = Math.max(shortage, offer?.moq ?? 0);
  const pack = offer?.packSize ?? quantityScale;
  return asQuantity(Math.ceil(wanted / pack) * pack);
}

/**
 * Figure or setting that decided about an order.
 *
 * - `demand`: the position is at or below the reorder point. `minimum`: at or below the minimum that a buyer has set.
 * - `owed`: customers are owed some.
 * - `maximum`: the buyer's maximum made the quantity smaller, maybe 0.
 * - `excluded`, `archived`: it is time to order, and a buyer has set that it is not ordered.
 */
type ReorderReason = "demand" | "minimum" | "owed" | "maximum" | "excluded" | "archived";

/** Suggestion for one variant: order or not, from whom and how much. */
interface Replenishment {
  readonly offer: SupplierOffer | null;
  /** In steps of 10^-4 units per day (`dailyDemandDecimals`). */
  readonly dailyDemand: number;
  readonly safetyStock: Quantity;
  readonly reorderPoint: Quantity;
  /** Part of `incoming` that arrives within the lead time and the order cycle. */
  readonly covering: Quantity;
  readonly needsReorder: boolean;
  readonly suggestedOrderQuantity: Quantity;
  /** A buyer's, else the supplier's; null: neither has one. */
  readonly leadTimeDays: number | null;
  readonly reorderReason: ReorderReason | null;
}

/** Returns the part of the incoming goods that arrives until this day. */
function incomingUntil({ incoming, lateArrivals }: Pick<StockFacts, "incoming" | "lateArrivals">, day: Day): Quantity {
  let covering = incoming;
  for (const arrival of lateArrivals) if (arrival.day > day) covering = subtractQuantity(covering, arrival.quantity);
  return covering;
}

/**
 * Decides whether it is time to order and how much.
 *
 * It is time to order an active variant that sells, or has a minimum, and whose position is at or below the reorder
 * point. A position below 0 (owed to customers) is one too. The quantity restores the reorder point plus
 * `orderCycleDays` of demand. What arrives after the lead time and these days covers nothing of it. What a buyer has
 * set comes first (reorder-settings.ts).
 *
 * Source: contract §9 "Forecast view"; C83.
 */
export function replenishment(facts: StockFacts, context: Pick<ForecastContext, "shop" | "today">): Replenishment {
  const { steering } = facts;
  const offer = chooseOffer(facts.offers, context.shop, steering?.preferredSupplierIds);
  const leadTimeDays = steering?.leadTimeDays ?? offer?.leadTimeDays ?? null;
  const leadTime = leadTimeDays ?? leadTimeDaysAssumed;
  const coverDays = steering?.coverDays ?? orderCycleDays;
  const minimum = steering?.minimum ?? null;
  let weeklyMean = 0;
  let weeklyVariance = 0;
  for (const series of facts.series) {
    const { mean, variance } = weeklyDemand(series, context.today);
    weeklyMean += mean;
    weeklyVariance += variance;
  }
  const dailyDemand = Math.round((weeklyMean / daysPerWeek) * dailyDemandScale);
  const safetyDays = steering?.safetyDays ?? null;
  const safetyStock =
    safetyDays === null
      ? asQuantity(Math.round(safetyFactor * Math.sqrt((weeklyVariance * leadTime) / daysPerWeek) * quantityScale))
      : demandOf(dailyDemand, safetyDays);
  const demandPoint = addQuantity(demandOf(dailyDemand, leadTime), safetyStock);
  const isByMinimum = minimum !== null && minimum > demandPoint;
  const reorderPoint = isByMinimum ? minimum : demandPoint;
  const covering = incomingUntil(facts, context.today + leadTime + coverDays);
  const position = addQuantity(facts.onHand, covering);
  const isDue = position < 0 || (position <= reorderPoint && (dailyDemand > 0 || isByMinimum));
  const wanted = addQuantity(reorderPoint, demandOf(dailyDemand, coverDays));
  const maximum = steering?.maximum ?? wanted;
  const shortage = subtractQuantity(maximum < wanted ? maximum : wanted, position);
  const isHeld = !facts.isActive || steering?.isArchived === true || steering?.isExcluded === true;
  const needsReorder = isDue && !isHeld && shortage > 0;
  return {
    offer,
    dailyDemand,
    safetyStock,
    reorderPoint,
    covering,
    needsReorder,
    suggestedOrderQuantity: needsReorder ? orderQuantity(shortage, offer) : zeroQuantity,
    leadTimeDays,
    reorderReason: isDue ? reasonOf() : null,
  };

  function reasonOf(): ReorderReason | null {
    if (steering?.isArchived === true) return "archived";
    if (!facts.isActive) return null;
    if (steering?.isExcluded === true) return "excluded";
    if (maximum < wanted) return "maximum";
    // At a minimum without demand nothing is short.
    if (!needsReorder) return null;
    if (isByMinimum) return "minimum";
    return position < 0 ? "owed" : "demand";
  }
}

/**
 * Cost of a day without stock, in the shop's currency, rounded once to its minor unit. It is the day's demand at price
 * less cost. Where one of both is not known, it is the other. Null: neither is known.
 */
export function stockoutCost(
  { price, unitCost }: Pick<VariantFacts, "price" | "unitCost">,
  { offer, dailyDemand }: Pick<Replenishment, "offer" | "dailyDemand">,
  shop: ShopRates,
): Money | null {
  const cost = (offer === null ? null : costInShopCurrency(offer, shop)) ?? unitCost;
  const lost = price === null ? cost : Math.max(0, price - (cost ?? 0));
  if (lost === null) return null;
  const exact = BigInt(dailyDemand) * BigInt(lost);
  return asMoney(Number(roundToMinorUnit(exact, BigInt(dailyDemandScale), shop.currencyCode)));
}

/** The figures of one period in supply mode. */
interface Projection {
  readonly demand: Quantity;
  readonly incoming: Quantity;
  readonly projectedOnHand: Quantity;
}

/**
 * Projects the stock, period by period. Overdue goods are expected today, goods without a date after one lead time.
 * Stock below 0 is what customers would be owed.
 */
function projections(
  facts: Pick<VariantFacts, "onHand" | "arrivals">,
  { leadTimeDays, dailyDemand }: Pick<Replenishment, "leadTimeDays" | "dailyDemand">,
  { today, periods }: Pick<ForecastContext, "today" | "periods">,
): readonly Projection[] {
  const undatedDay = today + (leadTimeDays ?? leadTimeDaysAssumed);
  const arrivals = facts.arrivals.map(({ day, quantity }) => ({ day: Math.max(today, day ?? undatedDay), quantity }));
  let onHand = facts.onHand;
  // Most periods are as long as the one before.
  let [days, demand] = [0, zeroQuantity];
  return periods.map(({ firstDay, lastDay }) => {
    if (lastDay - firstDay + 1 !== days) {
      days = lastDay - firstDay + 1;
      demand = demandOf(dailyDemand, days);
    }
    let incoming = zeroQuantity;
    for (const { day, quantity } of arrivals)
      if (day >= firstDay && day <= lastDay) incoming = addQuantity(incoming, quantity);
    onHand = subtractQuantity(addQuantity(onHand, incoming), demand);
    return { demand, incoming, projectedOnHand: onHand };
  });
}

/** The facts of a row and all figures. */
interface Figures extends Replenishment {
  readonly facts: VariantFacts;
  readonly context: ForecastContext;
  readonly projections: readonly Projection[];
}

/** Days that a stock lasts at the daily demand, not rounded; null when nothing sells. */
const coverDays = (stock: Quantity, { dailyDemand }: Pick<Replenishment, "dailyDemand">): number | null =>
  dailyDemand === 0 ? null : (Math.max(0, stock) * (dailyDemandScale / quantityScale)) / dailyDemand;

/** Days that a stock lasts at the daily demand, to a tenth; null when nothing sells. */
export function daysOfCover(stock: Quantity, demand: Pick<Replenishment, "dailyDemand">): number | null {
  const days = coverDays(stock, demand);
  return days === null ? null : Math.floor(days * 10) / 10;
}

function stockoutDay({ facts, dailyDemand }: Pick<Figures, "facts" | "dailyDemand">, today: Day): Day | null {
  const days = coverDays(facts.onHand, { dailyDemand });
  return days === null || days > stockoutDaysMax ? null : today + Math.floor(days);
}

const stockoutDate = (figures: Figures): string | null => dateOrNull(stockoutDay(figures, figures.context.today));

/** The day on which an order of today arrives: after the lead time; null without a supplier. */
const arrivalDay = ({ offer, leadTimeDays }: Pick<Replenishment, "offer" | "leadTimeDays">, today: Day): Day | null =>
  offer === null ? null : today + (leadTimeDays ?? leadTimeDaysAssumed);

function nextIncomingDate({ facts }: Figures): string | null {
  let next: Day | null = null;
  for (const { day } of facts.arrivals) if (day !== null && (next === null || day < next)) next = day;
  return dateOrNull(next);
}

/** The cost of a unit with its currency: the supplier's, else the catalogue's; null without either. */
function unitCostOf({
  facts,
  offer,
  context,
}: Pick<Figures, "facts" | "offer"> & { readonly context: Pick<ForecastContext, "shop"> }): {
  readonly cost: Money;
  readonly currencyCode: string;
} | null {
  if (offer !== null && offer.unitCost !== null) return { cost: offer.unitCost, currencyCode: offer.currencyCode };
  return facts.unitCost === null ? null : { cost: facts.unitCost, currencyCode: context.shop.currencyCode };
}

/** quantity × cost in the shop's currency, rounded once to its minor unit; null when the shop has no rate. */
function valueInShopCurrency(quantity: Quantity, cost: Money, currencyCode: string, shop: ShopRates): number | null {
  const rate = rateToShop(currencyCode, shop);
  if (rate === null) return null;
  const value = roundToMinorUnit(exactValue(quantity, cost, rate), exactValueScale, shop.currencyCode);
  return moneyToNumber(asMoney(Number(value)));
}

function suggestedOrderValue(figures: Figures): number | null {
  const unit = unitCostOf(figures);
  if (unit === null) return null;
  return valueInShopCurrency(figures.suggestedOrderQuantity, unit.cost, unit.currencyCode, figures.context.shop);
}

/** The value of the stock on hand, at the catalogue's cost, else the supplier's. */
function stockValue(figures: Figures): number | null {
  const { facts, context } = figures;
  if (facts.unitCost !== null)
    return valueInShopCurrency(facts.onHand, facts.unitCost, context.shop.currencyCode, context.shop);
  const unit = unitCostOf(figures);
  return unit === null ? null : valueInShopCurrency(facts.onHand, unit.cost, unit.currencyCode, context.shop);
}

/** Suggested order of one variant, on the terms of the supplier that the forecast chooses. */
export interface Suggestion extends Replenishment {
  readonly facts: VariantFacts;
  /** Null without a supplier's cost and a catalogue's. */
  readonly unit: { readonly cost: Money; readonly currencyCode: string } | null;
  /** When an order of today arrives; null without a supplier. */
  readonly arrivalDay: Day | null;
  readonly stockoutDay: Day | null;
}

/** Says what to order of a variant: the figures of its row. */
export function suggestionFor(facts: VariantFacts, context: Pick<ForecastContext, "shop" | "today">): Suggestion {
  const decided = replenishment(facts, context);
  const { offer, dailyDemand } = decided;
  return {
    ...decided,
    facts,
    unit: unitCostOf({ facts, offer, context }),
    arrivalDay: arrivalDay(decided, context.today),
    stockoutDay: stockoutDay({ facts, dailyDemand }, context.today),
  };
}

// Columns.

/** A value to display, as JSON. */
type Cell = string | number | boolean | null;

/** A row: `variantId`, `productId`, a cell for each column id, and the keys that hold a cell's currency. */
export type ForecastRow = { readonly variantId: string; readonly productId: string } & Readonly<Record<string, Cell>>;

/** The types of a column. */
export const columnTypes = ["string", "number", "boolean", "date"] as const;

/** One entry of `columns[]` (spec "Forecast view (read-only)"). Members that do not apply are absent. */
interface Column {
  readonly id: string;
  readonly displayName: string;
  readonly type: (typeof columnTypes)[number];
  readonly unit?: "currency";
  readonly currencyColumn?: string | null;
  readonly period?: string;
}

interface ColumnDefinition extends Omit<Column, "id" | "period"> {
  readonly cell: (figures: Figures) => Cell;
}

/** The row key that holds the currency of `unitCost`. */
const unitCostCurrencyKey = "unitCostCurrencyCode";

/** The available columns, in the order of contract §9. */
const columnDefinitions = {
  productName: { displayName: "Product", type: "string", cell: ({ facts }) => facts.productName },
  variantName: { displayName: "Variant", type: "string", cell: ({ facts }) => facts.variantName },
  sku: { displayName: "SKU", type: "string", cell: ({ facts }) => facts.sku },
  supplierName: { displayName: "Supplier", type: "string", cell: ({ offer }) => offer?.supplierName ?? null },
  locationName: { displayName: "Location", type: "string", cell: ({ context }) => context.locationName },
  isActive: { displayName: "Active", type: "boolean", cell: ({ facts }) => facts.isActive },
  needsReorder: { displayName: "Needs reorder", type: "boolean", cell: ({ needsReorder }) => needsReorder },
  nextIncomingDate: { displayName: "Next incoming", type: "date", cell: nextIncomingDate },
  stockoutDate: { displayName: "Stock-out", type: "date", cell: stockoutDate },
  lastSoldDate: { displayName: "Last sold", type: "date", cell: ({ facts }) => dateOrNull(facts.lastSoldDay) },
  onHand: { displayName: "On hand", type: "number", cell: ({ facts }) => quantityToNumber(facts.onHand) },
  incoming: { displayName: "Incoming", type: "number", cell: ({ facts }) => quantityToNumber(facts.incoming) },
  sold30d: { displayName: "Sold in 30 days", type: "number", cell: ({ facts }) => quantityToNumber(facts.sold30d) },
  sold90d: { displayName: "Sold in 90 days", type: "number", cell: ({ facts }) => quantityToNumber(facts.sold90d) },
  dailyDemand: {
    displayName: "Daily demand",
    type: "number",
    cell: ({ dailyDemand }) => dailyDemand / dailyDemandScale,
  },
  daysOfCover: {
    displayName: "Days of cover",
    type: "number",
    cell: (figures) => daysOfCover(figures.facts.onHand, figures),
  },
  leadTimeDays: { displayName: "Lead time (days)", type: "number", cell: ({ leadTimeDays }) => leadTimeDays },
  safetyStock: {
    displayName: "Safety stock",
    type: "number",
    cell: ({ safetyStock }) => quantityToNumber(safetyStock),
  },
  reorderPoint: {
    displayName: "Reorder point",
    type: "number",
    cell: ({ reorderPoint }) => quantityToNumber(reorderPoint),
  },
  suggestedOrderQuantity: {
    displayName: "Suggested order",
    type: "number",
    cell: ({ suggestedOrderQuantity }) => quantityToNumber(suggestedOrderQuantity),
  },
  unitCost: {
    displayName: "Unit cost",
    type: "number",
    unit: "currency",
    currencyColumn: unitCostCurrencyKey,
    cell: (figures) => {
      const unit = unitCostOf(figures);
      return unit === null ? null : moneyToNumber(unit.cost);
    },
  },
  suggestedOrderValue: {
    displayName: "Suggested order value",
    type: "number",
    unit: "currency",
    currencyColumn: null,
    cell: suggestedOrderValue,
  },
  stockValue: {
    displayName: "Stock value",
    type: "number",
    unit: "currency",
    currencyColumn: null,
    cell: stockValue,
  },
  supplierId: { displayName: "Supplier id", type: "string", cell: ({ offer }) => offer?.supplierId ?? null },
  packSize: {
    displayName: "Pack size",
    type: "number",
    cell: ({ offer }) => quantityToNumberOrNull(offer?.packSize ?? null),
  },
  moq: { displayName: "MOQ", type: "number", cell: ({ offer }) => quantityToNumberOrNull(offer?.moq ?? null) },
  expectedArrivalDate: {
    displayName: "Expected arrival",
    type: "date",
    cell: (figures) => dateOrNull(arrivalDay(figures, figures.context.today)),
  },
  draftQuantity: {
    displayName: "On drafts",
    type: "number",
    cell: ({ facts }) => quantityToNumber(facts.draftQuantity),
  },
  reorderReason: { displayName: "Decided by", type: "string", cell: ({ reorderReason }) => reorderReason },
  stockoutCost: {
    displayName: "Stock-out cost a day",
    type: "number",
    unit: "currency",
    currencyColumn: null,
    cell: (figures) => {
      const cost = stockoutCost(figures.facts, figures, figures.context.shop);
      return cost === null ? null : moneyToNumber(cost);
    },
  },
} as const satisfies Record<string, ColumnDefinition>;

/** The id of an available column. */
export type ColumnId = keyof typeof columnDefinitions;

const isColumnId = (id: string): id is ColumnId => Object.hasOwn(columnDefinitions, id);
/** The ids of the available columns, in the order of contract §9. */
export const columnIds = Object.keys(columnDefinitions).filter(isColumnId);

/** The columns that supply mode adds for each period. */
const periodColumnNames = {
  demand: "Demand",
  incoming: "Incoming",
  projectedOnHand: "Projected on hand",
} as const satisfies Record<keyof Projection, string>;

const periodMeasures = ["demand", "incoming", "projectedOnHand"] as const satisfies readonly (keyof Projection)[];

const periodColumnId = (measure: keyof Projection, period: Period): string => `${measure}:${period.label}`;

/** The ids of the columns of each period, made once for all rows: a row may have 156 of them. */
const knownPeriodIds = new WeakMap<readonly Period[], readonly Readonly<Record<keyof Projection, string>>[]>();

function periodIdsOf(periods: readonly Period[]): readonly Readonly<Record<keyof Projection, string>>[] {
  const known = knownPeriodIds.get(periods);
  if (known !== undefined) return known;
  const ids = periods.map((period) => ({
    demand: periodColumnId("demand", period),
    incoming: periodColumnId("incoming", period),
    projectedOnHand: periodColumnId("projectedOnHand", period),
  }));
  knownPeriodIds.set(periods, ids);
  return ids;
}

/** `columns[]`: the view's columns in its order, then three for each period. */
export function columnsOf(ids: readonly ColumnId[], periods: readonly Period[]): readonly Column[] {
  return [
    ...ids.map((id) => {
      const { cell: _, ...column } = columnDefinitions[id];
      return { id, ...column };
    }),
    ...periods.flatMap((period) =>
      periodMeasures.map((measure) => ({
        id: periodColumnId(measure, period),
        displayName: `${periodColumnNames[measure]} ${period.label}`,
        type: "number" as const,
        period: period.label,
      })),
    ),
  ];
}

/** One row: a cell for every column, null for a blank one. */
export function forecastRow(facts: VariantFacts, ids: readonly ColumnId[], context: ForecastContext): ForecastRow {
  const decided = replenishment(facts, context);
  const figures: Figures = { ...decided, facts, context, projections: projections(facts, decided, context) };
  const cells: Record<string, Cell> = {};
  for (const id of ids) {
    cells[id] = columnDefinitions[id].cell(figures);
    if (id === "unitCost") cells[unitCostCurrencyKey] = unitCostOf(figures)?.currencyCode ?? null;
  }
  const periodIds = periodIdsOf(context.periods);
  for (const [index, projection] of figures.projections.entries()) {
    const ofPeriod = periodIds[index];
    if (ofPeriod === undefined) continue;
    for (const measure of periodMeasures) cells[ofPeriod[measure]] = quantityToNumber(projection[measure]);
  }
  return Object.assign(cells, { variantId: facts.variantId, productId: facts.productId });
}
