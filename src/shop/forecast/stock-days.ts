/**
 * Movements of variants' stock, as far as the records of the shop show them: receipts of orders, stock adjustments and
 * stock takes. Stock on hand now is among them. From this follows when there was none (core/forecast/stock-outs.ts).
 *
 * Owns: the SQL that reads it, and noticing that a level comes to 0 or rises above it. Does not own: sales, or what
 * follows for demand (demand.ts).
 */
import { type Day, dayIn, dayMs } from "../../base/time/calendar.ts";
import type { DaySale } from "../../core/forecast/demand.ts";
import { type Quantity, asQuantity, zeroQuantity } from "../../core/money/money.ts";
import type { ReceiptDraft } from "../../core/order/purchase-order.ts";
import type { StockAdjustmentHeader, StockAdjustmentLine } from "../../core/stock/stock-adjustments.ts";
import { type StockDay, type StockOut, stockOutsOf } from "../../core/forecast/stock-outs.ts";
import type { StockTakeHeader, StockTakeLine } from "../../core/stock/stock-takes.ts";
import { placeholders, selectIn } from "../../store/in-lists.ts";
import type { Tx } from "../../store/store.ts";
import { loadShop } from "../access/accounts.ts";
import { articlesWith, orderIdsOf } from "../order-list/order-search.ts";
import { type Change, update, orElse } from "../../store/change.ts";
import { tables } from "../tables.ts";

/** The variants that are asked for: at most some ninety. */
interface StockQuery {
  readonly tx: Tx;
  readonly shopId: string;
  readonly timezone: string;
  readonly variantIds: readonly string[];
  /** Earlier movements do not matter. */
  readonly sinceMs: number;
}

/** An instant before which none is of this day, whatever the time zone: a day is an instant's or the one before. */
export const beginOf = (day: Day): number => (day - 1) * dayMs;

/** One movement of a variant's stock. `locationId` null: nobody knows where. */
interface Movement {
  readonly variantId: string;
  readonly locationId: string | null;
  readonly atMs: number;
  readonly moved: number;
  readonly counted: Quantity | null;
}

const inVariants = ({ variantIds }: StockQuery, column: string): string =>
  `${column} in (${placeholders(variantIds.length)})`;

interface ReceiptRow {
  readonly location_id: string | null;
  readonly received_at: number;
  readonly lines: string;
}

/** Goods received, and taken back. */
async function receipts({ tx, shopId, variantIds, sinceMs }: StockQuery): Promise<readonly Movement[]> {
  const ids = await orderIdsOf(tx, shopId, async () => ({
    columns: {},
    articles: [await articlesWith(tx, shopId, ["variantId"], variantIds)],
  }));
  const rows = await selectIn<ReceiptRow>(
    tx,
    `select o.location_id, r.received_at, r.lines
     from receipt r join purchase_order o on o.shop_id = r.shop_id and o.purchase_order_id = r.purchase_order_id
     where r.shop_id = ? and r.received_at >= ? and r.purchase_order_id in (?)`,
    [shopId, sinceMs],
    ids,
  );
  return rows.flatMap((row) => {
    // Stored text is trusted: shop/order/purchase-order-history.ts wrote it.
    const lines: ReceiptDraft["lines"] = JSON.parse(row.lines);
    return lines
      .filter((line) => line.quantityDelta !== 0 && variantIds.includes(line.variantId))
      .map((line) => ({
        variantId: line.variantId,
        locationId: row.location_id,
        atMs: row.received_at,
        moved: line.quantityDelta,
        counted: null,
      }));
  });
}

interface PartRow {
  readonly doc: string;
  readonly header: string;
}

const partsOf = (query: StockQuery, resource: "stock_take" | "stock_adjustment"): Promise<PartRow[]> =>
  query.tx.all<PartRow>(
    `select p.doc, h.doc as header from read_only_part p
       join ${resource} h on h.shop_id = p.shop_id and h.${resource}_id = p.record_id
     where p.shop_id = ? and ${inVariants(query, "p.variant_id")} and p.resource = '${resource}' and p.kind = 'line'`,
    [query.shopId, ...query.variantIds],
  );

async function adjusted(query: StockQuery): Promise<readonly Movement[]> {
  return (await partsOf(query, "stock_adjustment")).flatMap((row) => {
    // Stored text is trusted: shop/stock/read-only.ts wrote it.
    const header: StockAdjustmentHeader = JSON.parse(row.header);
    const line: StockAdjustmentLine = JSON.parse(row.doc);
    if (header.status === "Draft") return [];
    return {
      variantId: line.variantId,
      locationId: header.locationId,
      atMs: header.appliedAtMs ?? header.createdAtMs,
      moved: line.quantityDelta,
      counted: null,
    };
  });
}

async function counted(query: StockQuery): Promise<readonly Movement[]> {
  return (await partsOf(query, "stock_take")).flatMap((row) => {
    const header: StockTakeHeader = JSON.parse(row.header);
    const line: StockTakeLine = JSON.parse(row.doc);
    if (header.status === "Cancelled" || line.quantityCounted === null) return [];
    return {
      variantId: line.variantId,
      locationId: header.locationId,
      atMs: line.countedAtMs ?? header.completedAtMs ?? header.createdAtMs,
      moved: 0,
      counted: line.quantityCounted,
    };
  });
}

interface LevelRow {
  readonly variant_id: string;
  readonly location_id: string;
  readonly on_hand: number;
}

/** The movements and sales of each day. */
function daysOf(movements: readonly Movement[], sales: readonly DaySale[], timezone: string): readonly StockDay[] {
  const days = new Map<Day, StockDay>();
  const dayOf = (day: Day): StockDay => days.get(day) ?? { day, sold: zeroQuantity, moved: 0, counted: null };
  for (const { day, quantity } of sales) days.set(day, { ...dayOf(day), sold: quantity });
  for (const { atMs, moved, counted } of movements.toSorted((a, b) => a.atMs - b.atMs)) {
    const day = dayIn(timezone, atMs);
    const known = dayOf(day);
    days.set(day, { ...known, moved: known.moved + moved, counted: counted ?? known.counted });
  }
  return [...days.values()];
}

/**
 * The times without stock of a variant at a location, oldest first. `sales`: oldest first; what was before the first of
 * them does not matter.
 */
export type StockOutsOf = (variantId: string, locationId: string, sales: readonly DaySale[]) => readonly StockOut[];

/**
 * Reads what tells when these variants had no stock. Where the level is not known, there is none of these times. Sales
 * without a location are held against the variant's only location, if it has one.
 */
export async function loadStockOuts(query: StockQuery): Promise<StockOutsOf> {
  const [levels, ...moved] = await Promise.all([
    query.tx.all<LevelRow>(
      `select variant_id, location_id, on_hand from inventory_level
       where shop_id = ? and ${inVariants(query, "variant_id")}`,
      [query.shopId, ...query.variantIds],
    ),
    receipts(query),
    adjusted(query),
    counted(query),
  ]);
  const levelsOf = Map.groupBy(levels, (row) => row.variant_id);
  const movementsOf = Map.groupBy(moved.flat(), (movement) => movement.variantId);
  return (variantId, locationId, sales) => {
    const known = levelsOf.get(variantId) ?? [];
    const level =
      locationId === "" && known.length === 1 ? known[0] : known.find((row) => row.location_id === locationId);
    const [first] = sales;
    if (level === undefined || first === undefined) return [];
    const sinceMs = beginOf(first.day);
    const here = (movementsOf.get(variantId) ?? []).filter(
      ({ atMs, locationId: at }) => atMs >= sinceMs && (at ?? level.location_id) === level.location_id,
    );
    return stockOutsOf(asQuantity(level.on_hand), daysOf(here, sales, query.timezone));
  };
}

/** The shop's time zone. */
export const timezoneOf = async (tx: Tx, shopId: string): Promise<string> =>
  (await loadShop(tx, shopId))?.timezone ?? "UTC";

/** The day of an instant where the shop is. */
export async function dayOfShop(tx: Tx, shopId: string, atMs: number): Promise<Day> {
  return dayIn(await timezoneOf(tx, shopId), atMs);
}

/**
 * Forgets what is known of the variant's times without stock: its series are learned anew from all sales and records.
 */
export const forgetStockOuts = (shopId: string, variantId: string): Change =>
  update(tables.demand_series, shopId, { variant_id: variantId }, { stale_from: "", out_from: null, out_until: null });

/** Notes that the variant has stock at the location again, or goes on having some. */
export const inStockStatement = (shopId: string, variantId: string, locationId: string, today: Day): Change =>
  update(
    tables.demand_series,
    shopId,
    { variant_id: variantId, location_id: locationId },
    { out_until: orElse(today - 1) },
  );

/**
 * Notes what a new level tells: that the variant has no stock any more, or has some again.
 *
 * @param before what was known of the level; null: nothing.
 */
export function levelNoted(
  shopId: string,
  { variantId, locationId }: { readonly variantId: string; readonly locationId: string },
  before: number | null,
  onHand: number,
  today: Day,
): readonly Change[] {
  if (before === null) return [forgetStockOuts(shopId, variantId)];
  if (before > 0 === onHand > 0) return [];
  if (onHand > 0) return [inStockStatement(shopId, variantId, locationId, today)];
  const key = { variant_id: variantId, location_id: locationId };
  return [update(tables.demand_series, shopId, key, { out_from: today, out_until: null })];
}
