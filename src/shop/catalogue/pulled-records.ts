/**
 * Records that were pulled from a shop's storefront, on their way into the catalogue (C66).
 *
 * Owns: which rows a pulled record changes. Does not own: what a pull asks for and when (jobs/puller.ts).
 *
 * What the shop knows and the storefront leaves empty stays: a cost, a price, a SKU, a barcode. Suppliers and their
 * terms are not touched. What is as it was is not written, so that a second pull changes nothing. Histories tell of
 * locations and variants (C85), not of stock, which every sale moves.
 */
import { dateOf, dayIn } from "../../base/time/calendar.ts";
import { asQuantity, type Quantity, zeroQuantity } from "../../core/money/money.ts";
import { chunksOf, selectIn } from "../../store/in-lists.ts";
import type { Statement, Tx } from "../../store/store.ts";
import { locationFields, locationTable, type Variant, variantFields, variantTable } from "./catalogue.ts";
import { type RecordStamp, replacedStatements, shownChanges } from "./record-log.ts";
import { valuesFrom } from "../../core/order/purchase-order-fields.ts";
import { recordsByKey, replaceRecord } from "../record-table.ts";
import { markSeriesStatement } from "../forecast/demand.ts";
import { dayOfShop, levelNoted } from "../forecast/stock-days.ts";
import { type Change, changeOf, insert, replace, remove, textForm } from "../../store/change.ts";
import { tables } from "../tables.ts";
import { levelKey } from "../../core/goods/incoming.ts";

/** The names under which the shop may hold an id of the platform, the one for something new first. */
export type NamesOf = (kind: "location" | "product" | "variant", id: string) => readonly string[];

/** id of the platform → the name that the shop has for it already, else the first. */
async function knownNames(
  tx: Tx,
  shopId: string,
  kind: "location" | "variant",
  ids: readonly string[],
  namesOf: NamesOf,
): Promise<ReadonlyMap<string, string>> {
  const distinct = [...new Set(ids)];
  const rows = await selectIn<{ id: string }>(
    tx,
    `select ${kind}_id as id from ${kind} where shop_id = ? and ${kind}_id in (?)`,
    [shopId],
    distinct.flatMap((id) => namesOf(kind, id)),
  );
  const held = new Set(rows.map(({ id }) => id));
  return new Map(
    distinct.map((id) => {
      const names = namesOf(kind, id);
      return [id, names.find((name) => held.has(name)) ?? names[0] ?? id] as const;
    }),
  );
}

const nameIn = (names: ReadonlyMap<string, string>, id: string): string => names.get(id) ?? id;

/** Variants whose state a pull has changed, by what they are called. */
export interface StateChanges {
  readonly deleted: readonly string[];
  readonly inactive: readonly string[];
}

const nameOf = ({ productName, variantName, sku }: Variant): string =>
  [productName, variantName, sku === null ? null : `(${sku})`].filter((part) => part !== null).join(" ");

const changesFrom = (changed: readonly { readonly before: Variant; readonly next: Variant }[]): StateChanges => ({
  deleted: changed.flatMap(({ before, next }) =>
    before.status !== "deleted" && next.status === "deleted" ? [nameOf(next)] : [],
  ),
  inactive: changed.flatMap(({ before, next }) =>
    before.status !== "inactive" && next.status === "inactive" ? [nameOf(next)] : [],
  ),
});

interface PulledLocation {
  readonly locationId: string;
  readonly name: string;
}

export async function applyLocations(
  tx: Tx,
  shopId: string,
  locations: readonly PulledLocation[],
  namesOf: NamesOf,
  stamp: RecordStamp,
): Promise<void> {
  const ids = locations.map(({ locationId }) => locationId);
  const names = await knownNames(tx, shopId, "location", ids, namesOf);
  const keys = [...names.values()].map((name) => [name]);
  const stored = new Map(
    (await recordsByKey(tx, locationTable, shopId, keys)).map((each) => [each.locationId, each] as const),
  );
  await tx.batch(
    locations.flatMap(({ locationId, name }) => {
      const known = nameIn(names, locationId);
      const before = stored.get(known);
      if (before?.name === name) return [];
      const next = valuesFrom(locationFields, { locationId: known, name }, before);
      const concerned = { kind: "location", recordId: known } as const;
      return [
        replaceRecord(locationTable, shopId, next),
        ...replacedStatements(
          shopId,
          concerned,
          before === undefined,
          shownChanges(locationFields, before ?? null, next),
          stamp,
        ),
      ];
    }),
  );
}

type PulledVariant = Omit<Variant, "isArchived" | "reorder"> & {
  readonly status: Exclude<Variant["status"], "deleted">;
};

const isSame = (one: Variant, other: Variant): boolean =>
  one.productId === other.productId &&
  one.productName === other.productName &&
  one.variantName === other.variantName &&
  one.sku === other.sku &&
  one.barcode === other.barcode &&
  one.unitCost === other.unitCost &&
  one.price === other.price &&
  one.imageUrl === other.imageUrl &&
  one.status === other.status;

/** Stores the variant, and tells its history of it. */
const variantStatements = (
  shopId: string,
  before: Variant | null,
  next: Variant,
  stamp: RecordStamp,
): readonly Change[] => [
  replaceRecord(variantTable, shopId, next),
  ...replacedStatements(
    shopId,
    { kind: "variant", recordId: next.variantId },
    before === null,
    shownChanges(variantFields, before, next),
    stamp,
  ),
];

const seenStatement = (shopId: string, variantId: string, pullId: string): Change =>
  replace(tables.storefront_variant, shopId, { variant_id: variantId, pull_id: pullId });

export async function applyVariants(
  tx: Tx,
  shopId: string,
  pullId: string,
  variants: readonly PulledVariant[],
  namesOf: NamesOf,
  stamp: RecordStamp,
): Promise<StateChanges> {
  const ids = variants.map(({ variantId }) => variantId);
  const names = await knownNames(tx, shopId, "variant", ids, namesOf);
  const keys = [...names.values()].map((name) => [name]);
  const stored = new Map(
    (await recordsByKey(tx, variantTable, shopId, keys)).map((each) => [each.variantId, each] as const),
  );
  const changed: { readonly before: Variant; readonly next: Variant }[] = [];
  const statements: Statement[] = [];
  for (const pulled of variants) {
    const variantId = nameIn(names, pulled.variantId);
    const before = stored.get(variantId);
    const productNames = namesOf("product", pulled.productId);
    const next: Variant = {
      ...pulled,
      variantId,
      productId:
        before !== undefined && productNames.includes(before.productId)
          ? before.productId
          : (productNames[0] ?? pulled.productId),
      sku: pulled.sku ?? before?.sku ?? null,
      barcode: pulled.barcode ?? before?.barcode ?? null,
      unitCost: pulled.unitCost ?? before?.unitCost ?? null,
      price: pulled.price ?? before?.price ?? null,
      isArchived: before?.isArchived ?? false,
      reorder: before?.reorder ?? null,
    };
    statements.push(seenStatement(shopId, variantId, pullId));
    if (before !== undefined && isSame(before, next)) continue;
    statements.push(...variantStatements(shopId, before ?? null, next, stamp));
    if (before !== undefined) changed.push({ before, next });
  }
  await tx.batch(statements);
  return changesFrom(changed);
}

async function markDeleted(
  tx: Tx,
  shopId: string,
  variantIds: readonly string[],
  stamp: RecordStamp,
): Promise<StateChanges> {
  const stored = await recordsByKey(
    tx,
    variantTable,
    shopId,
    variantIds.map((id) => [id]),
  );
  const changed = stored.map((before) => ({ before, next: { ...before, status: "deleted" as const } }));
  await tx.batch(changed.flatMap(({ before, next }) => variantStatements(shopId, before, next, stamp)));
  return changesFrom(changed);
}

/** Variants of a product that the storefront does not name any more are deleted there. */
export async function applyProduct(
  tx: Tx,
  shopId: string,
  { productId, variantIds }: { readonly productId: string; readonly variantIds: readonly string[] },
  namesOf: NamesOf,
  stamp: RecordStamp,
): Promise<StateChanges> {
  const rows = await selectIn<{ variant_id: string }>(
    tx,
    "select variant_id from variant where shop_id = ? and status <> 'deleted' and product_id in (?)",
    [shopId],
    namesOf("product", productId),
  );
  const there = new Set(variantIds.flatMap((id) => namesOf("variant", id)));
  const gone = rows.map((row) => row.variant_id).filter((id) => !there.has(id));
  return await markDeleted(tx, shopId, gone, stamp);
}

/** Variants that one step of the sweep looks at. */
const sweptMax = 200;

/**
 * Marks variants as deleted that a pull of everything has not seen, some at a time, from those after `after` on.
 *
 * @returns where the next step begins; null when there are no more.
 */
export async function sweepUnseen(
  tx: Tx,
  shopId: string,
  pullId: string,
  after: string | null,
  stamp: RecordStamp,
): Promise<{ readonly next: string | null; readonly changes: StateChanges }> {
  const rows = await tx.all<{ variant_id: string; status: string; pull_id: string | null }>(
    `select v.variant_id, v.status, s.pull_id from variant v
     left join storefront_variant s on s.shop_id = v.shop_id and s.variant_id = v.variant_id
     where v.shop_id = ? and v.variant_id > ? order by v.variant_id limit ?`,
    [shopId, after ?? "", sweptMax],
  );
  const unseen = rows.filter((row) => row.status !== "deleted" && row.pull_id !== pullId);
  const changes = await markDeleted(
    tx,
    shopId,
    unseen.map((row) => row.variant_id),
    stamp,
  );
  return { next: rows.length < sweptMax ? null : (rows.at(-1)?.variant_id ?? null), changes };
}

interface PulledLevel {
  readonly variantId: string;
  readonly locationId: string;
  /** Null: it is not stocked there. */
  readonly onHand: Quantity | null;
}

/**
 * Levels that a push of stock is changing, or has changed since then: what was read of them may be from before or
 * after. `unknown`: those of pushes that were given up without an outcome.
 */
async function levelsInMotion(
  tx: Tx,
  shopId: string,
  sinceMs: number,
): Promise<Readonly<Record<"moving" | "unknown", ReadonlySet<string>>>> {
  const rows = await tx.all<{ items: string; state: string }>(
    `select items, state from stock_push where shop_id = ? and settled_at is null
     union all select items, state from stock_push where shop_id = ? and settled_at is not null and settled_at >= ?`,
    [shopId, shopId, sinceMs],
  );
  const keysOf = (isUnknown: boolean): ReadonlySet<string> =>
    new Set(
      rows.flatMap((row) => {
        if ((row.state === "unknown") !== isUnknown) return [];
        const items: readonly { readonly variantId: string; readonly locationId: string }[] = JSON.parse(row.items);
        return items.map(({ variantId, locationId }) => levelKey(variantId, locationId));
      }),
    );
  return { moving: keysOf(false), unknown: keysOf(true) };
}

/**
 * Stores what is on hand.
 *
 * @param readSinceMs the levels were read at the storefront after this.
 * @returns how many were left out, because a push of stock was changing them, or may have.
 */
export async function applyLevels(
  tx: Tx,
  shopId: string,
  levels: readonly PulledLevel[],
  readSinceMs: number,
  namesOf: NamesOf,
): Promise<{ readonly moving: number; readonly unknown: number }> {
  const variants = await knownNames(
    tx,
    shopId,
    "variant",
    levels.map(({ variantId }) => variantId),
    namesOf,
  );
  const locations = await knownNames(
    tx,
    shopId,
    "location",
    levels.map(({ locationId }) => locationId),
    namesOf,
  );
  const rows = await selectIn<{ variant_id: string; location_id: string; on_hand: number }>(
    tx,
    "select variant_id, location_id, on_hand from inventory_level where shop_id = ? and variant_id in (?)",
    [shopId],
    [...variants.values()],
  );
  const today = await dayOfShop(tx, shopId, readSinceMs);
  const stored = new Map(rows.map((row) => [levelKey(row.variant_id, row.location_id), row.on_hand] as const));
  const inMotion = await levelsInMotion(tx, shopId, readSinceMs);
  const skipped = { moving: 0, unknown: 0 };
  const statements: Statement[] = [];
  for (const { variantId, locationId, onHand } of levels) {
    const variant = nameIn(variants, variantId);
    const location = nameIn(locations, locationId);
    const key = levelKey(variant, location);
    const isIn = (keys: ReadonlySet<string>): boolean =>
      namesOf("variant", variantId).some((one) =>
        namesOf("location", locationId).some((other) => keys.has(levelKey(one, other))),
      );
    if (isIn(inMotion.moving)) skipped.moving += 1;
    else if (isIn(inMotion.unknown)) skipped.unknown += 1;
    else if (onHand === null ? (stored.get(key) ?? 0) !== 0 : stored.get(key) !== onHand)
      statements.push(
        ...levelNoted(
          shopId,
          { variantId: variant, locationId: location },
          stored.get(key) ?? null,
          onHand ?? zeroQuantity,
          today,
        ),
        replace(tables.inventory_level, shopId, {
          variant_id: variant,
          location_id: location,
          on_hand: onHand ?? zeroQuantity,
        }),
      );
  }
  await tx.batch(statements);
  return skipped;
}

interface PulledSale {
  readonly saleId: string;
  readonly soldAtMs: number;
  readonly lines: readonly {
    readonly variantId: string;
    readonly locationId: string | null;
    readonly quantity: Quantity;
  }[];
}

/** Sales of a variant at a location on a day. */
interface SoldDay {
  readonly variantId: string;
  readonly locationId: string | null;
  readonly date: string;
}

const dayKey = ({ variantId, locationId, date }: SoldDay): string => JSON.stringify([variantId, locationId, date]);

/** The day's sales as the storefront's orders add up to them. */
const sumDay = textForm(
  tables.sale,
  `insert into sale (shop_id, variant_id, location_id, date, quantity)
   select ?, ?, ?, ?, cast(coalesce(sum(quantity), 0) as bigint) from storefront_sale
   where shop_id = ? and date = ? and variant_id = ? and location_id = ?
   on conflict (shop_id, variant_id, location_id, date) do update set quantity = excluded.quantity`,
  ["shop_id", "variant_id", "location_id", "date", null, null, null, null],
);

const sumStatement = (shopId: string, { variantId, locationId, date }: SoldDay): Change =>
  changeOf(sumDay, [shopId, variantId, locationId ?? "", date, shopId, date, variantId, locationId ?? ""]);

/** Sales of one order, by day and place. */
type SoldDays = ReadonlyMap<string, { readonly day: SoldDay; readonly quantity: number }>;

/** Returns the sales of the order, in the shop's own names. */
function soldDaysOf(
  { soldAtMs, lines }: PulledSale,
  timezone: string,
  variants: ReadonlyMap<string, string>,
  locations: ReadonlyMap<string, string>,
): SoldDays {
  const date = dateOf(dayIn(timezone, soldAtMs));
  const sold = new Map<string, { readonly day: SoldDay; readonly quantity: number }>();
  for (const { variantId, locationId, quantity } of lines) {
    if (quantity <= 0) continue;
    const place = locationId === null ? null : nameIn(locations, locationId);
    const day = { variantId: nameIn(variants, variantId), locationId: place, date };
    const key = dayKey(day);
    sold.set(key, { day, quantity: (sold.get(key)?.quantity ?? 0) + quantity });
  }
  return sold;
}

interface SoldRow {
  readonly sale_id: string;
  readonly variant_id: string;
  readonly location_id: string;
  readonly date: string;
  readonly quantity: number;
}

const soldDaysFrom = (rows: readonly SoldRow[]): SoldDays =>
  new Map(
    rows.map(({ variant_id: variantId, location_id: place, date, quantity }) => {
      const day = { variantId, locationId: place === "" ? null : place, date };
      return [dayKey(day), { day, quantity }] as const;
    }),
  );

/** Returns the stored sales of each of the orders. */
async function storedSales(tx: Tx, shopId: string, saleIds: readonly string[]): Promise<(saleId: string) => SoldDays> {
  const rows = await selectIn<SoldRow>(
    tx,
    "select sale_id, variant_id, location_id, date, quantity from storefront_sale where shop_id = ? and sale_id in (?)",
    [shopId],
    saleIds,
  );
  const bySale = Map.groupBy(rows, (row) => row.sale_id);
  return (saleId) => soldDaysFrom(bySale.get(saleId) ?? []);
}

const replaceSaleStatements = (shopId: string, saleId: string, sold: SoldDays): readonly Change[] => [
  remove(tables.storefront_sale, shopId, { sale_id: saleId }),
  ...[...sold.values()].map(({ day, quantity }) =>
    insert(tables.storefront_sale, shopId, {
      sale_id: saleId,
      variant_id: day.variantId,
      location_id: day.locationId ?? "",
      date: day.date,
      quantity,
    }),
  ),
];

/**
 * Stores customers' orders, each in the place of what was known of it, and sums the days that differ. A day's sales
 * that came from a file without a location are taken for the same ones, and replaced.
 */
export async function applySales(
  tx: Tx,
  shopId: string,
  timezone: string,
  sales: readonly PulledSale[],
  namesOf: NamesOf,
): Promise<void> {
  const lines = sales.flatMap((sale) => sale.lines);
  const places = lines.flatMap(({ locationId }) => (locationId === null ? [] : [locationId]));
  const variantIds = lines.map(({ variantId }) => variantId);
  const variants = await knownNames(tx, shopId, "variant", variantIds, namesOf);
  const locations = await knownNames(tx, shopId, "location", places, namesOf);
  const saleIds = sales.map(({ saleId }) => saleId);
  const storedOf = await storedSales(tx, shopId, saleIds);
  const days = new Map<string, SoldDay>();
  const statements: Statement[] = [];
  for (const sale of sales) {
    const before = storedOf(sale.saleId);
    const next = soldDaysOf(sale, timezone, variants, locations);
    const isKnown =
      before.size === next.size && [...next].every(([key, { quantity }]) => before.get(key)?.quantity === quantity);
    if (isKnown) continue;
    for (const { day } of [...before.values(), ...next.values()]) days.set(dayKey(day), day);
    statements.push(...replaceSaleStatements(shopId, sale.saleId, next));
  }
  await tx.batch(statements);
  for (const day of await unlocatedBeside(tx, shopId, [...days.values()])) days.set(dayKey(day), day);
  await tx.batch(
    [...days.values()].flatMap((day) => [
      sumStatement(shopId, day),
      markSeriesStatement(shopId, { ...day, quantity: asQuantity(0) }),
    ]),
  );
}

/** Days among these, sold at a location, of which there are sales without one too. */
async function unlocatedBeside(tx: Tx, shopId: string, days: readonly SoldDay[]): Promise<readonly SoldDay[]> {
  const located = days.filter(({ locationId }) => locationId !== null);
  const found: SoldDay[] = [];
  for (const chunk of chunksOf(located, 20)) {
    const rows = await tx.all<{ variant_id: string; date: string }>(
      `select variant_id, date from sale where ${chunk
        .map(() => "(shop_id = ? and variant_id = ? and location_id = '' and date = ?)")
        .join(" or ")}`,
      chunk.flatMap(({ variantId, date }) => [shopId, variantId, date]),
    );
    found.push(...rows.map((row) => ({ variantId: row.variant_id, locationId: null, date: row.date })));
  }
  return found;
}

/** Rows that one step deletes. */
const sweptSalesMax = 500;

/** Forgets of which orders old days were summed; the days stay. @returns whether more may be left. */
export async function sweepOldSales(tx: Tx, shopId: string, before: string): Promise<boolean> {
  const rows = await tx.all<{ sale_id: string }>(
    `delete from storefront_sale where (shop_id, sale_id, variant_id, location_id) in (
       select shop_id, sale_id, variant_id, location_id from storefront_sale where shop_id = ? and date < ? limit ?)
     returning sale_id`,
    [shopId, before, sweptSalesMax],
  );
  return rows.length === sweptSalesMax;
}
