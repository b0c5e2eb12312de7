/**
 * Forecast views between SQL and core: the saved views, the demand series kept beside the sales, and the facts of a page of rows.
 *
 * Owns: the SQL of forecast views, of demand series, and of the facts that a row is computed from. Does not own:
 * any figure (core/forecast.ts, core/demand.ts) nor the import that brings sales in.
 *
 * Invariants:
 * - V6. A series that is not marked stale says what the stored sales say.
 * - V7. A page is found by keys and its facts are read by key: what it costs grows with the page. Counting, and a view of reorders
 *       only, walk the variants in scope, never sales.
 */
import { type ExpectedLine, type Shipment, receiptSchedule } from "../core/attachments.ts";
import { type Day, dateOf, dayFrom } from "../core/calendar.ts";
import { type DemandSeries, soldWithin } from "../core/demand.ts";
import {
  type Arrival,
  type ForecastContext,
  type StockFacts,
  type SupplierOffer,
  type VariantFacts,
  replenishment,
} from "../core/forecast.ts";
import { openStatuses } from "../core/status.ts";
import { type Quantity, addQuantity, asMoney, asQuantity, zeroQuantity } from "../core/money.ts";
import type { Status } from "../core/purchase-order.ts";
import { chunksOf, inChunks, inListMax, placeholders } from "../store/in-lists.ts";
import type { SqlValue, Tx } from "../store/store.ts";
import { type RecentRow, type SeriesRow, recentFrom, seriesColumns, seriesFrom } from "./demand.ts";
import type { FilterKind, ForecastView } from "./forecast-views.ts";

// The rows of a view.

/** Which variants a view's rows are about, beyond what the view itself says. */
export interface ForecastScope {
  readonly view: ForecastView;
  /** The caller's own choice among them; null: all. */
  readonly variantIds: readonly string[] | null;
}

/** Where a page of rows ended. */
export interface RowPosition {
  readonly productName: string;
  readonly variantId: string;
}

export interface ForecastPage {
  readonly variants: readonly VariantFacts[];
  /** Variants in scope over all pages. */
  readonly totalCount: number;
  readonly end: RowPosition | null;
}

/** A variant in scope, as the index of names tells it. */
interface VariantKey {
  readonly variant_id: string;
  readonly product_name: string;
  readonly status: string;
}

const keyColumns = "v.variant_id, v.product_name, v.status";

interface Source {
  readonly sql: string;
  readonly params: readonly SqlValue[];
}

/** The view's variants, named `v`. */
function sourceOf(shopId: string, view: ForecastView): Source {
  const filter = (kind: FilterKind): string => `f.shop_id = v.shop_id and f.view_id = ? and f.kind = '${kind}'`;
  const conditions = ["v.shop_id = ?"];
  const params: SqlValue[] = [shopId];
  if (view.variantIds !== null) {
    conditions.push(`f.view_id = ? and f.kind = 'variant' and v.variant_id = f.value and f.shop_id = ?`);
    params.push(view.viewId, shopId);
  }
  if (view.supplierIds !== null) {
    conditions.push(`exists (select 1 from supplier_variant s, forecast_view_filter f where ${filter("supplier")}
      and s.shop_id = v.shop_id and s.variant_id = v.variant_id and s.supplier_id = f.value)`);
    params.push(view.viewId);
  }
  if (view.locationIds !== null) {
    const at = (table: string): string =>
      `select 1 from ${table} x where x.shop_id = v.shop_id and x.variant_id = v.variant_id and x.location_id = f.value`;
    conditions.push(`exists (select 1 from forecast_view_filter f where ${filter("location")}
      and (exists (${at("inventory_level")}) or exists (${at("incoming")} and x.quantity > 0) or exists (${at("demand_series")})))`);
    params.push(view.viewId);
  }
  // A view of named variants is walked from its names, `cross join` keeps the engine from walking the catalogue instead.
  const from = view.variantIds === null ? "variant v" : "forecast_view_filter f cross join variant v";
  return { sql: `from ${from} where ${conditions.join(" and ")}`, params };
}

const byPosition = (a: VariantKey, b: VariantKey): number =>
  compare(a.product_name, b.product_name) || compare(a.variant_id, b.variant_id);

/** By code point, as the database orders text; plain comparison goes by code unit. */
function compare(a: string, b: string): number {
  for (let index = 0; index < Math.min(a.length, b.length); index += 1)
    if (a.charCodeAt(index) !== b.charCodeAt(index)) return (a.codePointAt(index) ?? 0) - (b.codePointAt(index) ?? 0);
  return a.length - b.length;
}

const isAfter = (row: VariantKey, after: RowPosition | null): boolean =>
  after === null || (compare(row.product_name, after.productName) || compare(row.variant_id, after.variantId)) > 0;

/** All variants in scope, in the order of the rows. */
async function variantsInScope(tx: Tx, shopId: string, scope: ForecastScope): Promise<readonly VariantKey[]> {
  const source = sourceOf(shopId, scope.view);
  if (scope.variantIds === null)
    return tx.all<VariantKey>(
      `select ${keyColumns} ${source.sql} order by v.product_name, v.variant_id`,
      source.params,
    );
  const rows = await inChunks(scope.variantIds, (chunk) =>
    tx.all<VariantKey>(`select ${keyColumns} ${source.sql} and v.variant_id in (${placeholders(chunk.length)})`, [
      ...source.params,
      ...chunk,
    ]),
  );
  return rows.toSorted(byPosition);
}

interface VariantPage {
  readonly rows: readonly VariantKey[];
  readonly totalCount: number;
  readonly end: RowPosition | null;
}

function pageOf(rows: readonly VariantKey[], totalCount: number, limit: number): VariantPage {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return {
    rows: page,
    totalCount,
    end:
      rows.length > limit && last !== undefined ? { productName: last.product_name, variantId: last.variant_id } : null,
  };
}

/** A page found by keys alone. */
async function walkPage(
  tx: Tx,
  shopId: string,
  view: ForecastView,
  after: RowPosition | null,
  limit: number,
): Promise<VariantPage> {
  const { sql, params } = sourceOf(shopId, view);
  const [[count], rows] = await Promise.all([
    tx.all<{ n: number }>(`select count(*) as n ${sql}`, params),
    tx.all<VariantKey>(
      `select ${keyColumns} ${sql}${after === null ? "" : " and (v.product_name, v.variant_id) > (?, ?)"}
       order by v.product_name, v.variant_id limit ?`,
      [...params, ...(after === null ? [] : [after.productName, after.variantId]), limit + 1],
    ),
  ]);
  return pageOf(rows, count?.n ?? 0, limit);
}

/**
 * One page of a view's rows as facts, with the count of all.
 *
 * A view of reorders only decides for every variant in scope whether it is one, from stock, demand series and offers, all read in
 * one pass without touching sales; the other facts are then read for the page alone.
 */
export async function forecastPage(
  tx: Tx,
  shopId: string,
  scope: ForecastScope,
  context: Pick<ForecastContext, "shop" | "today">,
  after: RowPosition | null,
  limit: number,
): Promise<ForecastPage> {
  const { view } = scope;
  if (!view.onlyReorder && scope.variantIds === null) {
    const page = await walkPage(tx, shopId, view, after, limit);
    return { ...page, variants: await loadFacts(tx, shopId, view, page.rows, context) };
  }
  let rows = await variantsInScope(tx, shopId, scope);
  if (view.onlyReorder) {
    const variantIds = scope.variantIds === null ? null : rows.map((row) => row.variant_id);
    const stockOf = await loadStock(tx, shopId, view, variantIds, context);
    rows = rows.filter((row) => replenishment(stockOf(row), context).needsReorder);
  }
  const page = pageOf(
    rows.filter((row) => isAfter(row, after)),
    rows.length,
    limit,
  );
  return { ...page, variants: await loadFacts(tx, shopId, view, page.rows, context) };
}

// Facts.

/** Runs a statement for some variants in chunks, or for all of the shop when `variantIds` is null. */
async function rowsOf<R>(
  tx: Tx,
  shopId: string,
  variantIds: readonly string[] | null,
  /** Is given what makes the condition on a column. `shop_id = ?` comes first, other parameters after the variants. */
  sqlFor: (variants: (column: string) => string) => string,
  params: readonly SqlValue[] = [],
): Promise<R[]> {
  if (variantIds === null)
    return tx.all<R>(
      sqlFor(() => ""),
      [shopId, ...params],
    );
  const chunks = chunksOf(variantIds, inListMax).map((chunk) =>
    tx.all<R>(
      sqlFor((column) => ` and ${column} in (${placeholders(chunk.length)})`),
      [shopId, ...chunk, ...params],
    ),
  );
  return (await Promise.all(chunks)).flat();
}

/** The condition that a row is at one of the view's locations. */
const atLocations = (shopId: string, view: ForecastView, column: string): Source =>
  view.locationIds === null
    ? { sql: "", params: [] }
    : {
        sql: ` and ${column} in (select value from forecast_view_filter where shop_id = ? and view_id = ? and kind = 'location')`,
        params: [shopId, view.viewId],
      };

interface OfferRow {
  readonly variant_id: string;
  readonly supplier_id: string;
  readonly supplier_name: string | null;
  readonly unit_cost: number | null;
  readonly unit_cost_currency_code: string | null;
  readonly moq: number | null;
  readonly pack_size: number | null;
  readonly lead_time_days: number | null;
}

const offerFrom = (row: OfferRow, shopCurrencyCode: string): SupplierOffer => ({
  supplierId: row.supplier_id,
  supplierName: row.supplier_name ?? row.supplier_id,
  unitCost: row.unit_cost === null ? null : asMoney(row.unit_cost),
  currencyCode: row.unit_cost_currency_code ?? shopCurrencyCode,
  moq: row.moq === null ? null : asQuantity(row.moq),
  packSize: row.pack_size === null ? null : asQuantity(row.pack_size),
  leadTimeDays: row.lead_time_days,
});

interface Stock {
  onHand: Quantity;
  incoming: Quantity;
  readonly series: DemandSeries[];
  readonly offers: SupplierOffer[];
}

const noStock: Omit<StockFacts, "isActive"> = {
  onHand: zeroQuantity,
  incoming: zeroQuantity,
  series: [],
  offers: [],
};

/** Stock, demand and terms of some variants, or of all the shop's when `variantIds` is null: what replenishment asks for. */
async function loadStock(
  tx: Tx,
  shopId: string,
  view: ForecastView,
  variantIds: readonly string[] | null,
  { shop }: Pick<ForecastContext, "shop">,
): Promise<(variant: VariantKey) => StockFacts> {
  const stock = new Map<string, Stock>();
  const of = (variantId: string): Stock => {
    let entry = stock.get(variantId);
    if (entry === undefined) {
      entry = { onHand: zeroQuantity, incoming: zeroQuantity, series: [], offers: [] };
      stock.set(variantId, entry);
    }
    return entry;
  };
  const places = atLocations(shopId, view, "location_id");
  const suppliers = view.supplierIds === null ? null : new Set(view.supplierIds);
  const [levels, incoming, series, offers] = await Promise.all([
    rowsOf<{ variant_id: string; on_hand: number }>(
      tx,
      shopId,
      variantIds,
      (variants) => `select variant_id, cast(sum(on_hand) as bigint) as on_hand from inventory_level
       where shop_id = ?${variants("variant_id")}${places.sql} group by variant_id`,
      places.params,
    ),
    rowsOf<{ variant_id: string; quantity: number }>(
      tx,
      shopId,
      variantIds,
      (variants) => `select variant_id, cast(sum(quantity) as bigint) as quantity from incoming
       where shop_id = ?${variants("variant_id")}${places.sql} group by variant_id`,
      places.params,
    ),
    rowsOf<SeriesRow>(
      tx,
      shopId,
      variantIds,
      (variants) => `select ${seriesColumns} from demand_series
       where shop_id = ?${variants("variant_id")}${places.sql} order by variant_id, location_id`,
      places.params,
    ),
    rowsOf<OfferRow>(
      tx,
      shopId,
      variantIds,
      (variants) => `select v.variant_id, v.supplier_id, s.name as supplier_name, v.unit_cost, v.moq, v.pack_size,
         coalesce(v.unit_cost_currency_code, s.currency_code) as unit_cost_currency_code,
         coalesce(v.lead_time_days, s.lead_time_days) as lead_time_days
       from supplier_variant v left join supplier s on s.shop_id = v.shop_id and s.supplier_id = v.supplier_id
       where v.shop_id = ?${variants("v.variant_id")}`,
    ),
  ]);
  for (const row of levels) of(row.variant_id).onHand = asQuantity(row.on_hand);
  for (const row of incoming) of(row.variant_id).incoming = asQuantity(row.quantity);
  for (const row of series) {
    const learned = seriesFrom(row);
    if (learned !== null) of(row.variant_id).series.push(learned);
  }
  for (const row of offers)
    if (suppliers === null || suppliers.has(row.supplier_id))
      of(row.variant_id).offers.push(offerFrom(row, shop.currencyCode));
  return (variant) => ({ isActive: variant.status === "active", ...(stock.get(variant.variant_id) ?? noStock) });
}

interface ArrivalRow {
  readonly purchase_order_id: string;
  readonly status: Status;
  readonly location_id: string;
  readonly order_date: string | null;
  readonly order_expected_delivery_date: string | null;
  readonly sent_at: number | null;
  readonly supplier_lead_time_days: number | null;
  readonly po_line_item_id: string;
  readonly variant_id: string;
  readonly quantity_ordered: number;
  readonly quantity_confirmed: number;
  readonly quantity_received: number;
  readonly quantity_rejected: number;
  readonly quantity_cancelled: number;
  readonly expected_delivery_date: string | null;
  readonly lead_time_days: number | null;
}

const lineFrom = (row: ArrivalRow): ExpectedLine => ({
  poLineItemId: row.po_line_item_id,
  variantId: row.variant_id,
  quantityOrdered: asQuantity(row.quantity_ordered),
  quantityConfirmed: asQuantity(row.quantity_confirmed),
  quantityReceived: asQuantity(row.quantity_received),
  quantityRejected: asQuantity(row.quantity_rejected),
  quantityCancelled: asQuantity(row.quantity_cancelled),
  expectedDeliveryDate: row.expected_delivery_date,
  leadTimeDays: row.lead_time_days,
});

/** What open orders will bring of these variants and when, as the receipt schedule of each order tells it. */
async function loadArrivals(
  tx: Tx,
  shopId: string,
  view: ForecastView,
  variantIds: readonly string[],
  today: Day,
): Promise<ReadonlyMap<string, readonly Arrival[]>> {
  const places = atLocations(shopId, view, "o.location_id");
  const rows = await rowsOf<ArrivalRow>(
    tx,
    shopId,
    variantIds,
    (variants) => `select o.purchase_order_id, o.status, o.location_id, o.order_date, o.sent_at,
         o.expected_delivery_date as order_expected_delivery_date, s.lead_time_days as supplier_lead_time_days,
         l.po_line_item_id, l.variant_id, l.quantity_ordered, l.quantity_confirmed, l.quantity_received,
         l.quantity_rejected, l.quantity_cancelled, l.expected_delivery_date, l.lead_time_days
       from purchase_order_line l
         join purchase_order o on o.shop_id = l.shop_id and o.purchase_order_id = l.purchase_order_id
         left join supplier s on s.shop_id = o.shop_id and s.supplier_id = o.supplier_id
       where l.shop_id = ?${variants("l.variant_id")} and o.deleted_at is null and o.location_id is not null
         and o.status in (${placeholders(openStatuses.length)})${places.sql}`,
    [...openStatuses, ...places.params],
  );
  const orders = Map.groupBy(rows, (row) => row.purchase_order_id);
  const docs = await inChunks([...orders.keys()], (chunk) =>
    tx.all<{ purchase_order_id: string; doc: string }>(
      `select purchase_order_id, doc from purchase_order_attachment
       where shop_id = ? and purchase_order_id in (${placeholders(chunk.length)}) and kind = 'shipment'
       order by purchase_order_id, position`,
      [shopId, ...chunk],
    ),
  );
  const shipments = new Map<string, Shipment[]>();
  for (const { purchase_order_id: orderId, doc } of docs) {
    const shipment: Shipment = JSON.parse(doc);
    shipments.set(orderId, [...(shipments.get(orderId) ?? []), shipment]);
  }
  const arrivals = new Map<string, Arrival[]>();
  for (const [orderId, lines] of orders) {
    const [first] = lines;
    if (first === undefined) continue;
    const schedule = receiptSchedule(
      {
        status: first.status,
        locationId: first.location_id,
        orderDate: first.order_date,
        expectedDeliveryDate: first.order_expected_delivery_date,
        sentAtMs: first.sent_at,
        lineItems: lines.map(lineFrom),
      },
      shipments.get(orderId) ?? [],
      first.supplier_lead_time_days,
      dateOf(today),
    );
    for (const { variantId, expectedDate, quantityPending } of schedule) {
      if (quantityPending === 0) continue;
      const expected = arrivals.get(variantId) ?? [];
      expected.push({ day: expectedDate === null ? null : dayFrom(expectedDate), quantity: quantityPending });
      arrivals.set(variantId, expected);
    }
  }
  return arrivals;
}

interface VariantRow {
  readonly variant_id: string;
  readonly product_id: string;
  readonly variant_name: string | null;
  readonly sku: string | null;
  readonly unit_cost: number | null;
}

const byVariant = <R extends { readonly variant_id: string }>(rows: readonly R[]): Map<string, R[]> =>
  Map.groupBy(rows, (row) => row.variant_id);

/** Everything that the rows of a page are computed from, in the order of the keys. */
async function loadFacts(
  tx: Tx,
  shopId: string,
  view: ForecastView,
  keys: readonly VariantKey[],
  context: Pick<ForecastContext, "shop" | "today">,
): Promise<readonly VariantFacts[]> {
  const variantIds = keys.map((key) => key.variant_id);
  const stockOf = await loadStock(tx, shopId, view, variantIds, context);
  const variants = byVariant(
    await rowsOf<VariantRow>(
      tx,
      shopId,
      variantIds,
      (variants) => `select variant_id, product_id, variant_name, sku, unit_cost from variant
         where shop_id = ?${variants("variant_id")}`,
    ),
  );
  const places = atLocations(shopId, view, "location_id");
  const recents = byVariant(
    await rowsOf<RecentRow>(
      tx,
      shopId,
      variantIds,
      (variants) => `select variant_id, location_id, days from demand_recent
         where shop_id = ?${variants("variant_id")}${places.sql}`,
      places.params,
    ),
  );
  const expected = keys.filter((key) => stockOf(key).incoming > 0).map((key) => key.variant_id);
  const arrivals = await loadArrivals(tx, shopId, view, expected, context.today);
  return keys.map((key) => {
    const [variant] = variants.get(key.variant_id) ?? [];
    if (variant === undefined) throw new Error(`variant ${key.variant_id} is in an index but not in its table`);
    const sold = (recents.get(key.variant_id) ?? []).map(recentFrom);
    const lastSoldDays = sold.flatMap((recent) => recent.at(-1)?.day ?? []);
    const soldIn = (days: number): Quantity =>
      sold.reduce((sum, recent) => addQuantity(sum, soldWithin(recent, context.today, days)), zeroQuantity);
    return {
      ...stockOf(key),
      variantId: key.variant_id,
      productId: variant.product_id,
      productName: key.product_name,
      variantName: variant.variant_name,
      sku: variant.sku,
      unitCost: variant.unit_cost === null ? null : asMoney(variant.unit_cost),
      arrivals: arrivals.get(key.variant_id) ?? [],
      sold30d: soldIn(30),
      sold90d: soldIn(90),
      lastSoldDay: lastSoldDays.length === 0 ? null : Math.max(...lastSoldDays),
    };
  });
}

/** The names of these locations, by name; an id that the shop does not know stands for itself. */
export async function loadLocationNames(
  tx: Tx,
  shopId: string,
  locationIds: readonly string[],
): Promise<readonly string[]> {
  const rows = await inChunks(locationIds, (chunk) =>
    tx.all<{ location_id: string; name: string }>(
      `select location_id, name from location where shop_id = ? and location_id in (${placeholders(chunk.length)})`,
      [shopId, ...chunk],
    ),
  );
  const names = new Map(rows.map((row) => [row.location_id, row.name]));
  return locationIds.map((locationId) => names.get(locationId) ?? locationId).sort(compare);
}
