/**
 * Records of a Medusa, page by page (C66). Its Admin API tells when an order has changed, but neither which levels,
 * prices and costs have, nor which variants were deleted. So sales are brought as they change, everything else whole
 * each time (D345).
 *
 * Owns: how lists are walked, and what their rows mean. Does not own: when a page is asked for and what the shop keeps
 * of it (pull/).
 */
import { z } from "zod";
import { asQuantity } from "../../core/money/money.ts";
import type { Pulled, PullPage, PullRequest, StorefrontPull } from "../pull.ts";
import { pulledMoney, pulledText, pulledUrl } from "../pulled-values.ts";
import type { ReadContext } from "../storefront.ts";
import type { MedusaClient } from "./client.ts";
import { costIn } from "./costs-and-tags.ts";
import { foundFrom, variantFields, variantShape } from "./variants.ts";

interface PullDependencies {
  readonly client: MedusaClient;
  readonly currencyCode: string;
}

/** Locations and variants that one call lists. Medusa takes about 350 ms for 200 variants with their prices. */
const rowsPerPage = 200;

/** An order has about 1,500 bytes for each of its lines. */
const ordersPerPage = 50;

/** Where a list stands. */
const cursorShape = z.strictObject({
  /** Rows that were read, and the last of them. */
  read: z.int(),
  last: z.string(),
  /** The store's location, when it has only one. */
  onlyLocation: z.string().nullable().optional(),
});

type PullCursor = z.output<typeof cursorShape>;

const count = z.number();

interface List<Row> {
  /** With its filters and fields. */
  readonly path: string;
  readonly answer: z.ZodType<{ readonly rows: readonly Row[]; readonly total: number }>;
  /** Rows of one call. */
  readonly limit: number;
}

/**
 * The next rows of a list, in the order of their ids. Rows move up when one before them is deleted, so each call begins
 * with the last row of the one before. When it begins with one that comes later, the list is walked again from a page
 * before.
 */
async function rowsOf<Row extends { readonly id: string }>(
  client: MedusaClient,
  { path, answer, limit }: List<Row>,
  cursor: PullCursor | null,
  signal: AbortSignal | undefined,
): Promise<{ readonly rows: readonly Row[]; readonly next: PullCursor | null; readonly total: number }> {
  const offset = Math.max(0, (cursor?.read ?? 0) - 1);
  const wanted = limit + (offset === 0 ? 0 : 1);
  const { rows, total } = await client.ask(`${path}&order=id&offset=${offset}&limit=${wanted}`, answer, { signal });
  const [first] = rows;
  if (cursor !== null && offset > 0 && (first === undefined || first.id > cursor.last))
    return { rows: [], next: { ...cursor, read: Math.max(0, cursor.read - limit) }, total };
  const last = rows.at(-1);
  const isOver = last === undefined || rows.length < wanted;
  return {
    rows: first?.id === cursor?.last ? rows.slice(1) : rows,
    next: isOver ? null : { ...cursor, read: offset + rows.length, last: last.id },
    total,
  };
}

const pageOf = (records: readonly Pulled[], next: PullCursor | null, total: number): PullPage => ({
  records,
  cursor: next === null ? null : JSON.stringify(next),
  total,
});

export function medusaPull(parts: PullDependencies): StorefrontPull {
  return {
    bringsAllVariants: true,
    names: (_, id) => [id],
    async page(request, context) {
      const cursor = request.cursor === null ? null : cursorShape.parse(JSON.parse(request.cursor));
      switch (request.stage) {
        case "locations":
          return await locations(parts, cursor, context);
        case "variants":
          return await variants(parts, cursor, context);
        case "levels":
          return await levels(parts, cursor, context);
        case "sales":
          return await sales(parts, request, cursor, context);
      }
    },
  };
}

const text = z.string().nullish();

const locationList = {
  path: "/admin/stock-locations?fields=id,name",
  answer: z
    .object({ stock_locations: z.array(z.object({ id: z.string(), name: text })), count })
    .transform(({ stock_locations: rows, count: total }) => ({ rows, total })),
  limit: rowsPerPage,
};

async function locations(
  { client }: PullDependencies,
  cursor: PullCursor | null,
  context: ReadContext | undefined,
): Promise<PullPage> {
  const { rows, next, total } = await rowsOf(client, locationList, cursor, context?.signal);
  const records = rows.map(({ id, name }): Pulled => ({
    type: "location",
    locationId: id,
    name: pulledText(name) ?? id,
  }));
  return pageOf(records, next, total);
}

/** Medusa's name for the variant of a product that has only one. */
const onlyVariantTitle = "Default variant";

const priceShape = z.object({
  amount: z.number(),
  currency_code: z.string(),
  min_quantity: z.number().nullish(),
  max_quantity: z.number().nullish(),
  rules: z.record(z.string(), z.unknown()).nullish(),
});

/** Schema of the items in which a variant's stock is kept, with the fields that are read. */
const itemsWith = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z
    .array(
      z.object({
        inventory_item_id: z.string(),
        required_quantity: z.number(),
        inventory: z.object(shape).nullish(),
      }),
    )
    .nullish();

const variantRow = variantShape.extend({
  title: text,
  sku: text,
  barcode: text,
  ean: text,
  upc: text,
  product: z.object({ status: z.string(), title: text, thumbnail: text }).nullish(),
  prices: z.array(priceShape).nullish(),
  inventory_items: itemsWith({ metadata: z.record(z.string(), z.unknown()).nullish() }),
});

const variantList: List<z.output<typeof variantRow>> = {
  path: `/admin/product-variants?fields=${[
    variantFields,
    "title,sku,barcode,ean,upc,product.title,product.thumbnail,inventory_items.inventory.metadata",
    "prices.amount,prices.currency_code,prices.min_quantity,prices.max_quantity",
    // Without these no price shows its rules.
    "prices.price_rules.attribute,prices.price_rules.value",
  ].join(",")}`,
  answer: z
    .object({ variants: z.array(variantRow), count })
    .transform(({ variants: rows, count: total }) => ({ rows, total })),
  limit: rowsPerPage,
};

/** The price that holds for everybody and for one piece. */
const isForAll = ({ min_quantity: from, max_quantity: to, rules }: z.output<typeof priceShape>): boolean =>
  (from ?? 1) <= 1 && (to ?? null) === null && Object.keys(rules ?? {}).length === 0;

async function variants(
  { client, currencyCode }: PullDependencies,
  cursor: PullCursor | null,
  context: ReadContext | undefined,
): Promise<PullPage> {
  const { rows, next, total } = await rowsOf(client, variantList, cursor, context?.signal);
  const records = rows.flatMap((row): readonly Pulled[] => {
    const found = foundFrom(row);
    if (found === null) return [];
    const title = pulledText(row.title);
    const price = row.prices?.find((each) => each.currency_code.toUpperCase() === currencyCode && isForAll(each));
    const item = found.itemId === null ? undefined : row.inventory_items?.[0];
    return [
      {
        type: "variant",
        variantId: row.id,
        productId: found.productId,
        productName: pulledText(row.product?.title) ?? found.productId,
        variantName: title === onlyVariantTitle ? null : title,
        sku: pulledText(row.sku),
        barcode: pulledText(row.barcode) ?? pulledText(row.ean) ?? pulledText(row.upc),
        price: pulledMoney(price?.amount),
        unitCost: costIn(item?.inventory?.metadata, currencyCode),
        status: found.state,
        imageUrl: pulledUrl(row.product?.thumbnail),
      },
    ];
  });
  return pageOf(records, next, total);
}

const levelRow = variantShape.extend({
  inventory_items: itemsWith({
    location_levels: z.array(z.object({ location_id: z.string(), stocked_quantity: z.number() })).nullish(),
  }),
});

const levelList: List<z.output<typeof levelRow>> = {
  path: `/admin/product-variants?fields=${variantFields},${["location_id", "stocked_quantity"]
    .map((field) => `inventory_items.inventory.location_levels.${field}`)
    .join(",")}`,
  answer: z
    .object({ variants: z.array(levelRow), count })
    .transform(({ variants: rows, count: total }) => ({ rows, total })),
  limit: rowsPerPage,
};

/** At most this many locations are asked about where a variant is not stocked. */
const locationsPerCallMax = 200;

async function levels(
  { client }: PullDependencies,
  cursor: PullCursor | null,
  context: ReadContext | undefined,
): Promise<PullPage> {
  const signal = context?.signal;
  const { rows: places } = await rowsOf(client, { ...locationList, limit: locationsPerCallMax }, null, signal);
  const { rows, next, total } = await rowsOf(client, levelList, cursor, signal);
  const records = rows.flatMap((row): readonly Pulled[] => {
    const itemId = foundFrom(row)?.itemId ?? null;
    if (itemId === null) return [];
    const stocked = new Map(
      (row.inventory_items?.[0]?.inventory?.location_levels ?? []).map((level) => [
        level.location_id,
        asQuantity(Math.round(level.stocked_quantity * 1_000)),
      ]),
    );
    const locationIds = new Set([...stocked.keys(), ...places.map(({ id }) => id)]);
    return [...locationIds].map((locationId) => ({
      type: "level",
      variantId: row.id,
      locationId,
      onHand: stocked.get(locationId) ?? null,
    }));
  });
  return pageOf(records, next, total);
}

const orderRow = z.object({
  id: z.string(),
  created_at: z.string(),
  canceled_at: text,
  items: z.array(
    z.object({
      variant_id: text,
      quantity: z.number(),
      detail: z
        .object({ return_received_quantity: z.number().nullish(), return_dismissed_quantity: z.number().nullish() })
        .nullish(),
    }),
  ),
  fulfillments: z.array(z.object({ location_id: text, canceled_at: text })).nullish(),
});

type OrderRow = z.output<typeof orderRow>;

/** Drafts are not among them. */
const orderList: List<OrderRow> = {
  path: `/admin/orders?fields=${[
    "id,created_at,canceled_at",
    "items.variant_id,items.quantity,items.detail.return_received_quantity,items.detail.return_dismissed_quantity",
    "fulfillments.location_id,fulfillments.canceled_at",
  ].join(",")}`,
  answer: z
    .object({ orders: z.array(orderRow), count })
    .transform(({ orders: rows, count: total }) => ({ rows, total })),
  limit: ordersPerPage,
};

/** Where all of an order was sent from; else the only place there is. */
function placeOf({ fulfillments }: OrderRow, onlyLocation: string | null): string | null {
  const sent = (fulfillments ?? []).filter((each) => (each.canceled_at ?? null) === null);
  const from = new Set(sent.map((each) => each.location_id ?? null));
  const [first = null] = from;
  return from.size === 1 && first !== null ? first : onlyLocation;
}

function saleRecord(order: OrderRow, onlyLocation: string | null): Pulled {
  const locationId = placeOf(order, onlyLocation);
  const isCancelled = (order.canceled_at ?? null) !== null;
  return {
    type: "sale",
    saleId: order.id,
    soldAtMs: Date.parse(order.created_at),
    lines: (isCancelled ? [] : order.items).flatMap(({ variant_id: variantId, quantity: ordered, detail }) => {
      const returned = (detail?.return_received_quantity ?? 0) + (detail?.return_dismissed_quantity ?? 0);
      const quantity = asQuantity(Math.round((ordered - returned) * 1_000));
      return variantId === null || variantId === undefined || quantity <= 0
        ? []
        : [{ variantId, locationId, quantity }];
    }),
  };
}

async function sales(
  { client }: PullDependencies,
  { changedSinceMs, soldSinceMs }: PullRequest,
  cursor: PullCursor | null,
  context: ReadContext | undefined,
): Promise<PullPage> {
  const signal = context?.signal;
  let onlyLocation = cursor?.onlyLocation ?? null;
  if (cursor === null) {
    const { rows: places } = await rowsOf(client, { ...locationList, limit: 2 }, null, signal);
    const [only, ...others] = places;
    onlyLocation = only !== undefined && others.length === 0 ? only.id : null;
  }
  const since = new Date(changedSinceMs ?? soldSinceMs).toISOString();
  const filter = `${changedSinceMs === null ? "created_at" : "updated_at"}[$gte]=${since}`;
  const list = { ...orderList, path: `${orderList.path}&${filter}` };
  const { rows, next, total } = await rowsOf(client, list, cursor, signal);
  const records = rows.map((order) => saleRecord(order, onlyLocation));
  return pageOf(records, next === null ? null : { ...next, onlyLocation }, total);
}
