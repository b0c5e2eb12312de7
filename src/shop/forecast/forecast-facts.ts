/**
 * The facts that the rows of a forecast view are computed from: catalogue, stock, incoming goods, demand series,
 * suppliers' terms.
 *
 * Owns: the SQL that loads them. Does not own: which variants a view has (forecast-rows.ts) or any figure
 * (core/forecast/forecast.ts).
 */
import { type ExpectedLine, type ExpectedOrder, type Shipment, receiptSchedule } from "../../core/order/attachments.ts";
import { type Day, dateOf, dayFrom } from "../../base/time/calendar.ts";
import { type DaySale, soldWithin } from "../../core/forecast/demand.ts";
import {
  type Arrival,
  type ForecastContext,
  type LateArrival,
  type StockFacts,
  type SupplierOffer,
  type VariantFacts,
  orderCycleDays,
} from "../../core/forecast/forecast.ts";
import { openStatuses } from "../../core/order/status.ts";
import {
  type Quantity,
  addQuantity,
  asMoney,
  asQuantity,
  zeroQuantity,
  brandedOrNull,
} from "../../core/money/money.ts";
import { type Fields, storedLineFields } from "../../core/order/purchase-order-fields.ts";
import type { Status } from "../../core/order/purchase-order.ts";
import { placeholders, selectIn } from "../../store/in-lists.ts";
import type { SqlValue, Tx } from "../../store/store.ts";
import type { Row } from "../../store/change.ts";
import { columnList, recordReader } from "../columns.ts";
import { type RecentRow, type SeriesRow, recentFrom, seriesColumns, seriesFrom } from "./demand.ts";
import { type ReorderSettings, ruleIn, type Steering } from "../../core/forecast/reorder-settings.ts";
import type { ForecastView } from "./saved-views.ts";
import type { Fragment } from "../fragment.ts";
import { attachmentsOfKind } from "../order/purchase-order-attachments.ts";
import { articlesWith, isOneOf, orderIdsOf } from "../order-list/order-search.ts";

/** A variant of a view, as the index by product name holds it. */
export interface VariantKey {
  readonly variant_id: string;
  readonly product_name: string;
  readonly status: string;
}

/** A variant of which it is decided, with its price and the catalogue's cost. */
export interface PricedKey extends VariantKey {
  readonly price: number | null;
  readonly unit_cost: number | null;
}

/** The variants that facts are loaded for. */
interface FactScope {
  readonly tx: Tx;
  readonly shopId: string;
  readonly view: Pick<ForecastView, "viewId" | "locationIds" | "supplierIds">;
  /** Null: all of the shop. */
  readonly variantIds: readonly string[] | null;
}

/** The condition that a row is at one of the view's locations. A view that is not stored has an empty id. */
function atLocations({ shopId, view: { viewId, locationIds } }: FactScope, column: string): Fragment {
  if (locationIds === null) return { sql: "", params: [] };
  if (viewId === "") return { sql: ` and ${column} in (${placeholders(locationIds.length)})`, params: locationIds };
  return {
    sql: ` and ${column} in (select value from forecast_view_filter where shop_id = ? and view_id = ? and kind = 'location')`,
    params: [shopId, viewId],
  };
}

/**
 * The rows of the scope's variants.
 *
 * @param params all parameters: those of the variants come last and are added here.
 * @param sqlFor the statement, given the condition on `column` (empty for all variants).
 */
function rowsOf<R>(
  { tx, variantIds }: FactScope,
  column: string,
  params: readonly SqlValue[],
  sqlFor: (variants: string) => string,
): Promise<readonly R[]> {
  if (variantIds === null) return tx.all<R>(sqlFor(""), params);
  return selectIn<R>(tx, sqlFor(` and ${column} in (?)`), params, variantIds);
}

/** The sum of a column by variant, over the view's locations. */
async function sumsOf(
  scope: FactScope,
  table: "inventory_level" | "incoming",
  column: "on_hand" | "quantity",
): Promise<ReadonlyMap<string, Quantity>> {
  const places = atLocations(scope, "location_id");
  const rows = await rowsOf<{ variant_id: string; total: number }>(
    scope,
    "variant_id",
    [scope.shopId, ...places.params],
    (variants) => `select variant_id, cast(sum(${column}) as bigint) as total from ${table}
      where shop_id = ?${places.sql}${variants} group by variant_id`,
  );
  return new Map(rows.map((row) => [row.variant_id, asQuantity(row.total)]));
}

/** Returns what `valueOf` makes of the rows, by variant; rows of which it makes null are left out. */
function byVariant<R extends { readonly variant_id: string }, V>(
  rows: readonly R[],
  valueOf: (row: R) => V | null,
): ReadonlyMap<string, readonly V[]> {
  const values = new Map<string, V[]>();
  for (const row of rows) {
    const value = valueOf(row);
    if (value === null) continue;
    const others = values.get(row.variant_id);
    if (others === undefined) values.set(row.variant_id, [value]);
    else others.push(value);
  }
  return values;
}

/** By location within a variant: sums of floats depend on their order. */
function seriesRows(scope: FactScope): Promise<readonly PlacedSeriesRow[]> {
  const places = atLocations(scope, "location_id");
  return rowsOf<PlacedSeriesRow>(
    scope,
    "variant_id",
    [scope.shopId, ...places.params],
    (variants) => `select ${seriesColumns}, location_id from demand_series
      where shop_id = ?${places.sql}${variants} order by variant_id, location_id`,
  );
}

interface OfferRow {
  readonly variant_id: string;
  readonly supplier_id: string;
  readonly supplier_name: string | null;
  readonly unit_cost: number | null;
  readonly currency_code: string | null;
  readonly moq: number | null;
  readonly pack_size: number | null;
  readonly lead_time_days: number | null;
}

export const offerFrom = (row: OfferRow, shopCurrencyCode: string): SupplierOffer => ({
  supplierId: row.supplier_id,
  supplierName: row.supplier_name ?? row.supplier_id,
  unitCost: brandedOrNull(row.unit_cost, asMoney),
  currencyCode: row.currency_code ?? shopCurrencyCode,
  moq: brandedOrNull(row.moq, asQuantity),
  packSize: brandedOrNull(row.pack_size, asQuantity),
  leadTimeDays: row.lead_time_days,
});

/** The terms of all suppliers. */
const offerRows = (scope: FactScope): Promise<readonly OfferRow[]> =>
  rowsOf<OfferRow>(
    scope,
    "v.variant_id",
    [scope.shopId],
    (variants) => `select v.variant_id, v.supplier_id, s.name as supplier_name, v.unit_cost, v.moq, v.pack_size,
        coalesce(v.unit_cost_currency_code, s.currency_code) as currency_code,
        coalesce(v.lead_time_days, s.lead_time_days) as lead_time_days
      from supplier_variant v left join supplier s on s.shop_id = v.shop_id and s.supplier_id = v.supplier_id
      where v.shop_id = ?${variants}`,
  );

/** The terms of the view's suppliers. */
async function loadOffers(
  scope: FactScope,
  shopCurrencyCode: string,
): Promise<ReadonlyMap<string, readonly SupplierOffer[]>> {
  const { supplierIds } = scope.view;
  const suppliers = supplierIds === null ? null : new Set(supplierIds);
  return byVariant(await offerRows(scope), (row) =>
    suppliers === null || suppliers.has(row.supplier_id) ? offerFrom(row, shopCurrencyCode) : null,
  );
}

/** Loads what replenishment is decided from. Sales are not read. */
export async function loadStock(
  scope: FactScope,
  { shop, today }: Pick<ForecastContext, "shop" | "today">,
): Promise<(variant: VariantKey) => StockFacts> {
  const [onHand, incoming, series, offers, steering] = await Promise.all([
    sumsOf(scope, "inventory_level", "on_hand"),
    sumsOf(scope, "incoming", "quantity"),
    seriesRows(scope),
    loadOffers(scope, shop.currencyCode),
    loadSteering(scope),
  ]);
  const late = await loadLateArrivals(scope, today, steering);
  const seriesOf = byVariant(series, seriesFrom);
  return ({ variant_id: variantId, status }) => ({
    isActive: status === "active",
    onHand: onHand.get(variantId) ?? zeroQuantity,
    incoming: incoming.get(variantId) ?? zeroQuantity,
    lateArrivals: late.get(variantId) ?? [],
    series: seriesOf.get(variantId) ?? [],
    offers: offers.get(variantId) ?? [],
    steering: steering.get(variantId) ?? null,
  });
}

/** The settings of these variants in the view, of those that have any. */
export async function loadSteering(scope: FactScope): Promise<ReadonlyMap<string, Steering>> {
  const { shopId, view } = scope;
  const rows = <R>(sql: string): Promise<readonly R[]> =>
    rowsOf<R>(scope, "variant_id", [shopId], (variants) => `${sql}${variants}`);
  const [set, archived, preferred] = await Promise.all([
    rows<{ readonly variant_id: string; readonly reorder: string }>(
      "select variant_id, reorder from variant where shop_id = ? and reorder is not null",
    ),
    rows<VariantId>("select variant_id from variant where shop_id = ? and is_archived = 1"),
    rows<VariantId & { readonly supplier_id: string }>(
      "select variant_id, supplier_id from supplier_variant where shop_id = ? and is_preferred = 1",
    ),
  ]);
  const found = new Map<string, Steering>();
  const add = (variantId: string, more: Partial<Steering>): void => {
    const known = found.get(variantId) ?? { ...ruleIn(null, null), isArchived: false, preferredSupplierIds: [] };
    found.set(variantId, { ...known, ...more });
  };
  for (const { variant_id: variantId, reorder } of set) {
    // Stored text is trusted: variantTable wrote it.
    const settings: ReorderSettings = JSON.parse(reorder);
    add(variantId, ruleIn(settings, view.locationIds));
  }
  for (const { variant_id: variantId } of archived) add(variantId, { isArchived: true });
  for (const { variant_id: variantId, supplier_id: supplierId } of preferred)
    add(variantId, { preferredSupplierIds: [...(found.get(variantId)?.preferredSupplierIds ?? []), supplierId] });
  return found;
}

interface VariantId {
  readonly variant_id: string;
}

/** Goods of a variant at a location. */
export interface GoodsRow {
  readonly variant_id: string;
  readonly location_id: string;
  readonly quantity: number;
}

interface PlacedSeriesRow extends SeriesRow {
  readonly location_id: string;
}

/** The rows that replenishment of a variant is decided from, of all locations and suppliers. */
export interface DecidingRows {
  readonly onHand: readonly GoodsRow[];
  readonly incoming: readonly GoodsRow[];
  readonly series: readonly PlacedSeriesRow[];
  readonly offers: readonly OfferRow[];
}

/** Loads what replenishment is decided from, for whatever view. */
export async function loadDecidingRows(
  tx: Tx,
  shopId: string,
  variantIds: readonly string[],
): Promise<(variantId: string) => DecidingRows> {
  const scope: FactScope = { tx, shopId, view: { viewId: "", locationIds: null, supplierIds: null }, variantIds };
  const goods = (table: "inventory_level" | "incoming", column: "on_hand" | "quantity"): Promise<readonly GoodsRow[]> =>
    rowsOf<GoodsRow>(
      scope,
      "variant_id",
      [shopId],
      (variants) => `select variant_id, location_id, ${column} as quantity from ${table} where shop_id = ?${variants}`,
    );
  const [onHand, incoming, series, offers] = await Promise.all([
    goods("inventory_level", "on_hand"),
    goods("incoming", "quantity"),
    seriesRows(scope),
    offerRows(scope),
  ]);
  const of = <R extends { readonly variant_id: string }>(rows: readonly R[]): ((variantId: string) => readonly R[]) => {
    const found = Map.groupBy(rows, (row) => row.variant_id);
    return (variantId) => found.get(variantId) ?? [];
  };
  const [onHandOf, incomingOf, seriesOf, offersOf] = [of(onHand), of(incoming), of(series), of(offers)];
  return (variantId) => ({
    onHand: onHandOf(variantId),
    incoming: incomingOf(variantId),
    series: seriesOf(variantId),
    offers: offersOf(variantId),
  });
}

// Arrivals.

const expectedLineFields = {
  poLineItemId: storedLineFields.poLineItemId,
  variantId: storedLineFields.variantId,
  quantityOrdered: storedLineFields.quantityOrdered,
  quantityConfirmed: storedLineFields.quantityConfirmed,
  quantityReceived: storedLineFields.quantityReceived,
  quantityRejected: storedLineFields.quantityRejected,
  quantityCancelled: storedLineFields.quantityCancelled,
  expectedDeliveryDate: storedLineFields.expectedDeliveryDate,
  leadTimeDays: storedLineFields.leadTimeDays,
} as const satisfies Fields;

const expectedLineFrom = recordReader<ExpectedLine>(expectedLineFields);

/** A line of an open order, with what its order says of the delivery. */
interface OpenLineRow extends Row {
  readonly purchase_order_id: string;
  readonly status: Status;
  readonly location_id: string | null;
  readonly order_date: string | null;
  readonly order_expected_delivery_date: string | null;
  readonly sent_at: number | null;
  readonly sent_date: string | null;
  readonly supplier_lead_time_days: number | null;
}

const expectedOrderFrom = (order: OpenLineRow, lines: readonly OpenLineRow[]): ExpectedOrder => ({
  status: order.status,
  locationId: order.location_id,
  orderDate: order.order_date,
  expectedDeliveryDate: order.order_expected_delivery_date,
  sentAtMs: order.sent_at,
  sentDate: order.sent_date,
  supplierLeadTimeDays: order.supplier_lead_time_days,
  lineItems: lines.map(expectedLineFrom),
});

/** The orders of these statuses that have one of the scope's variants. */
async function ordersWith(
  { tx, shopId, variantIds }: FactScope,
  wantedStatuses: readonly Status[],
): Promise<readonly string[]> {
  if (variantIds?.length === 0) return [];
  return await orderIdsOf(tx, shopId, async () => ({
    columns: { status: isOneOf(wantedStatuses) },
    articles: variantIds === null ? [] : [await articlesWith(tx, shopId, ["variantId"], variantIds)],
  }));
}

/** The lines of orders with what says when they are expected. @param which a further condition. */
const selectExpected = (which: string): string => `
select o.purchase_order_id, o.status, o.location_id, o.order_date, o.sent_at, o.sent_date,
  o.expected_delivery_date as order_expected_delivery_date, o.supplier_lead_time_days,
  ${columnList(expectedLineFields, "l.")}
from purchase_order_line l
  join purchase_order o on o.shop_id = l.shop_id and o.purchase_order_id = l.purchase_order_id
where l.shop_id = ?${which} and l.purchase_order_id in (?)`;

/** An order with all its lines, and its shipments, as a schedule is made from them. */
interface Expected {
  readonly order: ExpectedOrder;
  readonly shipments: readonly Shipment[];
}

/** The given orders as schedules are made from them, by id. One without lines is left out. */
export async function loadExpectedOrders(
  tx: Tx,
  shopId: string,
  orderIds: readonly string[],
): Promise<ReadonlyMap<string, Expected>> {
  const [rows, shipments] = await Promise.all([
    selectIn<OpenLineRow>(tx, selectExpected(""), [shopId], orderIds),
    attachmentsOfKind<Shipment>(tx, shopId, "shipment", orderIds),
  ]);
  const orders = new Map<string, Expected>();
  for (const [orderId, lines] of Map.groupBy(rows, (row) => row.purchase_order_id)) {
    const [first] = lines;
    if (first === undefined) continue;
    orders.set(orderId, { order: expectedOrderFrom(first, lines), shipments: shipments.get(orderId) ?? [] });
  }
  return orders;
}

/**
 * The open orders' lines of these variants, by order.
 *
 * @param which a further condition.
 */
async function loadOpenLines(
  scope: FactScope,
  which: Fragment = { sql: "", params: [] },
): Promise<ReadonlyMap<string, readonly OpenLineRow[]>> {
  const { tx, shopId, variantIds } = scope;
  const places = atLocations(scope, "o.location_id");
  const rows = await selectIn<OpenLineRow>(
    tx,
    selectExpected(` and o.location_id is not null${places.sql}${which.sql}`),
    [shopId, ...places.params, ...which.params],
    await ordersWith(scope, openStatuses),
  );
  const wanted = variantIds === null ? null : new Set(variantIds);
  const found = rows.filter((row) => wanted?.has(String(row["variant_id"])) ?? true);
  return Map.groupBy(found, (row) => row.purchase_order_id);
}

/** Lines that may come after a day: those of which something says so, and those that a shipment may carry. */
const mayComeAfter = (day: Day, today: Day): Fragment => ({
  sql: ` and (l.expected_delivery_date > ? or o.expected_delivery_date > ? or o.order_date > ? or o.sent_date > ?
          or coalesce(l.lead_time_days, o.supplier_lead_time_days) > ? or exists (select 1 from purchase_order_attachment a
            where a.shop_id = o.shop_id and a.purchase_order_id = o.purchase_order_id and a.kind = 'shipment'))`,
  params: [dateOf(day), dateOf(day), dateOf(today), dateOf(today), day - today],
});

/**
 * The goods that are expected later than an order of today covers at least, by variant. Few orders have such, so no
 * others are read.
 */
export async function loadLateArrivals(
  scope: FactScope,
  today: Day,
  steering: ReadonlyMap<string, Steering>,
): Promise<ReadonlyMap<string, readonly LateArrival[]>> {
  const soonest = [...steering.values()].reduce(
    (day, { coverDays }) => Math.min(day, today + (coverDays ?? orderCycleDays)),
    today + orderCycleDays,
  );
  const arrivals = await arrivalsOf(scope, today, await loadOpenLines(scope, mayComeAfter(soonest, today)));
  const late = new Map<string, readonly LateArrival[]>();
  for (const [variantId, each] of arrivals) {
    const after = each.flatMap(({ day, quantity }) => (day !== null && day > soonest ? { day, quantity } : []));
    if (after.length > 0) late.set(variantId, after);
  }
  return late;
}

/** The goods that open orders still bring of these variants. */
const loadArrivals = async (scope: FactScope, today: Day): Promise<ReadonlyMap<string, readonly Arrival[]>> =>
  arrivalsOf(scope, today, await loadOpenLines(scope));

/** Returns the goods that these lines still bring, by variant and the receipt schedule of each order. */
async function arrivalsOf(
  scope: FactScope,
  today: Day,
  orders: ReadonlyMap<string, readonly OpenLineRow[]>,
): Promise<ReadonlyMap<string, readonly Arrival[]>> {
  const shipments = await attachmentsOfKind<Shipment>(scope.tx, scope.shopId, "shipment", [...orders.keys()]);
  const arrivals = new Map<string, Arrival[]>();
  for (const [orderId, lines] of orders) {
    const [order] = lines;
    if (order === undefined) continue;
    const schedule = receiptSchedule(expectedOrderFrom(order, lines), shipments.get(orderId) ?? [], dateOf(today));
    for (const { variantId, expectedDate, quantityPending } of schedule) {
      if (quantityPending === 0) continue;
      const arrival = { day: expectedDate === null ? null : dayFrom(expectedDate), quantity: quantityPending };
      arrivals.set(variantId, [...(arrivals.get(variantId) ?? []), arrival]);
    }
  }
  return arrivals;
}

/** Σ ordered on Draft orders at the view's locations, by variant. */
async function loadDraftQuantities(scope: FactScope): Promise<ReadonlyMap<string, Quantity>> {
  const places = atLocations(scope, "o.location_id");
  const rows = await selectIn<{ variant_id: string; total: number }>(
    scope.tx,
    `select l.variant_id, l.quantity_ordered as total
      from purchase_order_line l
        join purchase_order o on o.shop_id = l.shop_id and o.purchase_order_id = l.purchase_order_id
      where l.shop_id = ?${places.sql} and l.purchase_order_id in (?)`,
    [scope.shopId, ...places.params],
    await ordersWith(scope, ["Draft"]),
  );
  const quantities = new Map<string, Quantity>();
  for (const { variant_id: variantId, total } of rows)
    quantities.set(variantId, addQuantity(quantities.get(variantId) ?? zeroQuantity, asQuantity(total)));
  return quantities;
}

// Rows.

/** The figures that follow from the recent sales, which are given by location. */
function recentFacts(
  byLocation: readonly (readonly DaySale[])[],
  today: Day,
): Pick<VariantFacts, "sold30d" | "sold90d" | "lastSoldDay"> {
  const soldIn = (days: number): Quantity =>
    byLocation.reduce((sum, sales) => addQuantity(sum, soldWithin(sales, today, days)), zeroQuantity);
  const lastDays = byLocation.flatMap((sales) => sales.at(-1)?.day ?? []);
  return {
    sold30d: soldIn(30),
    sold90d: soldIn(90),
    lastSoldDay: lastDays.length === 0 ? null : Math.max(...lastDays),
  };
}

interface VariantRow {
  readonly variant_id: string;
  readonly product_id: string;
  readonly variant_name: string | null;
  readonly sku: string | null;
  readonly unit_cost: number | null;
  readonly price: number | null;
}

/** Loads all facts of these variants, in the order of the keys. */
export async function loadFacts(
  tx: Tx,
  shopId: string,
  view: ForecastView,
  keys: readonly VariantKey[],
  context: Pick<ForecastContext, "shop" | "today">,
): Promise<readonly VariantFacts[]> {
  const scope: FactScope = { tx, shopId, view, variantIds: keys.map((key) => key.variant_id) };
  const stockOf = await loadStock(scope, context);
  const rows = await rowsOf<VariantRow>(
    scope,
    "variant_id",
    [shopId],
    (condition) =>
      `select variant_id, product_id, variant_name, sku, unit_cost, price from variant where shop_id = ?${condition}`,
  );
  const variants = new Map(rows.map((row) => [row.variant_id, row]));
  const places = atLocations(scope, "location_id");
  const recent = byVariant(
    await rowsOf<RecentRow>(
      scope,
      "variant_id",
      [shopId, ...places.params],
      (condition) =>
        `select variant_id, location_id, days from demand_recent where shop_id = ?${places.sql}${condition}`,
    ),
    recentFrom,
  );
  const stocked = keys.map((key) => ({ key, stock: stockOf(key) }));
  const expected = stocked.flatMap(({ key, stock }) => (stock.incoming > 0 ? key.variant_id : []));
  const arrivals = await loadArrivals({ ...scope, variantIds: expected }, context.today);
  const drafts = view.columns.includes("draftQuantity") ? await loadDraftQuantities(scope) : null;
  return stocked.map(({ key, stock }) => {
    const variant = variants.get(key.variant_id);
    if (variant === undefined) throw new Error(`variant ${key.variant_id} is in an index but not in its table`);
    return {
      ...stock,
      variantId: key.variant_id,
      productId: variant.product_id,
      productName: key.product_name,
      variantName: variant.variant_name,
      sku: variant.sku,
      unitCost: brandedOrNull(variant.unit_cost, asMoney),
      price: brandedOrNull(variant.price, asMoney),
      arrivals: arrivals.get(key.variant_id) ?? [],
      draftQuantity: drafts?.get(key.variant_id) ?? zeroQuantity,
      ...recentFacts(recent.get(key.variant_id) ?? [], context.today),
    };
  });
}
