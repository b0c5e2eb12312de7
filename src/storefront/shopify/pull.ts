/**
 * Records of a store on Shopify, page by page (C66): locations page by page, everything else by bulk operations
 * (bulk.ts).
 *
 * Owns: which query each part is, and what its lines mean. Does not own: when a page is asked for and what the shop
 * keeps of it (pull/).
 */
import { z } from "zod";
import { quantityFrom } from "../../core/money/money.ts";
import type { Pulled, PullPage, PullRequest, StorefrontPull } from "../pull.ts";
import { pulledMoney, pulledText, pulledUrl } from "../pulled-values.ts";
import { type ReadContext, StorefrontError } from "../storefront.ts";
import { type BulkCursor, bulkPiece, bulkStart } from "./bulk.ts";
import type { ShopifyClient } from "./client.ts";
import {
  bulkChangedItems,
  bulkChangedLevels,
  bulkChangedOrders,
  bulkChangedProducts,
  bulkLevels,
  bulkOrders,
  type BulkQuery,
  bulkVariants,
  connectDocument,
  pullDeletionsDocument,
  pullLocationsDocument,
} from "./documents.ts";
import { namesOf, numberOf } from "./ids.ts";
import { stateOf } from "./variants.ts";

interface PullDependencies {
  readonly client: ShopifyClient;
  readonly currencyCode: string;
  readonly mayDownload: (url: URL) => boolean;
}

/**
 * Where a part stands. `deletions`: the list of deleted products, page by page, before what has changed. `ofItems`:
 * variants whose inventory item has changed, after those whose product has.
 */
const cursorShape = z.union([
  z.strictObject({ after: z.string() }),
  z.strictObject({ deletions: z.string() }),
  z.strictObject({
    operation: z.string().nullable(),
    at: z.number(),
    begun: z.number(),
    looks: z.number(),
    onlyLocation: z.string().nullable().optional(),
    ofItems: z.boolean().optional(),
  }),
]);

type PullCursor = z.output<typeof cursorShape>;

const cursorText = (cursor: PullCursor | null): string | null => (cursor === null ? null : JSON.stringify(cursor));

/** A page whose next is `cursor`. */
const page = (
  records: readonly Pulled[],
  cursor: PullCursor | null,
  more: Omit<PullPage, "records" | "cursor"> = {},
): PullPage => ({
  records,
  cursor: cursorText(cursor),
  ...more,
});

const timeText = (atMs: number): string => new Date(atMs).toISOString().replace(/\.\d+Z$/, "Z");

export function shopifyPull(parts: PullDependencies): StorefrontPull {
  return {
    bringsAllVariants: false,
    names: namesOf,
    async page(request, context) {
      const cursor = request.cursor === null ? null : cursorShape.parse(JSON.parse(request.cursor));
      switch (request.stage) {
        case "locations":
          return await locations(parts, cursor, context);
        case "variants":
          return await variants(parts, request, cursor, context);
        case "levels":
          return await levels(parts, request, cursor, context);
        case "sales":
          return await sales(parts, request, cursor, context);
      }
    },
  };
}

const reading = (context: ReadContext | undefined) => ({ writes: false, items: 0, signal: context?.signal });

async function locations(
  { client }: PullDependencies,
  cursor: PullCursor | null,
  context: ReadContext | undefined,
): Promise<PullPage> {
  const after = cursor !== null && "after" in cursor ? cursor.after : null;
  const { nodes, pageInfo } = (await client.ask(pullLocationsDocument, { after }, reading(context))).locations;
  const records = nodes.map(({ id, name }): Pulled => ({
    type: "location",
    locationId: numberOf(id),
    name: pulledText(name) ?? numberOf(id),
  }));
  return page(records, pageInfo.hasNextPage && pageInfo.endCursor !== null ? { after: pageInfo.endCursor } : null);
}

const bulkOf = (cursor: PullCursor | null): BulkCursor =>
  cursor !== null && "operation" in cursor
    ? { operation: cursor.operation, at: cursor.at, begun: cursor.begun, looks: cursor.looks }
    : bulkStart;

/**
 * The next page of a bulk operation, its lines made into records. @param kept what its cursor says beside where it
 * stands.
 */
async function bulkPage(
  parts: PullDependencies,
  query: BulkQuery,
  sinceMs: number,
  cursor: PullCursor | null,
  context: ReadContext | undefined,
  recordsOf: (lines: readonly unknown[]) => Pick<PullPage, "records" | "notes">,
  kept: { readonly onlyLocation?: string | null; readonly ofItems?: boolean } = {},
): Promise<PullPage> {
  const { lines, next, ...rest } = await bulkPiece(parts, query, timeText(sinceMs), bulkOf(cursor), context?.signal);
  const { records, ...notes } = recordsOf(lines);
  return page(records, next === null ? null : { ...next, ...kept }, { ...rest, ...notes });
}

const id = z.object({ id: z.string() });

/** Returns the content of a line. @throws StorefrontError when it is not understood. */
function read<Shape>(shape: z.ZodType<Shape>, line: unknown): Shape {
  const parsed = shape.safeParse(line);
  if (parsed.success) return parsed.data;
  const where = parsed.error.issues[0]?.path.join(".") ?? "";
  throw new StorefrontError("error", `a line of Shopify's result file cannot be understood (at ${where})`, {
    landed: "no",
  });
}

const variantLine = z.object({
  id: z.string(),
  title: z.string().nullish(),
  sku: z.string().nullish(),
  barcode: z.string().nullish(),
  price: z.string().nullish(),
  requiresComponents: z.boolean(),
  product: z.object({
    id: z.string(),
    title: z.string(),
    status: z.string(),
    featuredMedia: z
      .object({ preview: z.object({ image: z.object({ url: z.string() }).nullish() }).nullish() })
      .nullish(),
  }),
  inventoryItem: z.object({
    tracked: z.boolean(),
    unitCost: z.object({ amount: z.string(), currencyCode: z.string() }).nullish(),
  }),
});

type VariantLine = z.output<typeof variantLine>;

const itemLine = z.object({ variant: variantLine.nullish() });

/** Shopify's name for the variant of a product that has only one. */
const onlyVariantTitle = "Default Title";

function variantRecord(line: VariantLine, currencyCode: string): Pulled {
  const { product, inventoryItem } = line;
  const { unitCost } = inventoryItem;
  const title = pulledText(line.title);
  const isUnsyncable = line.requiresComponents || !inventoryItem.tracked;
  return {
    type: "variant",
    variantId: numberOf(line.id),
    productId: numberOf(product.id),
    productName: pulledText(product.title) ?? numberOf(product.id),
    variantName: title === onlyVariantTitle ? null : title,
    sku: pulledText(line.sku),
    barcode: pulledText(line.barcode),
    price: pulledMoney(line.price),
    unitCost: unitCost?.currencyCode === currencyCode ? pulledMoney(unitCost.amount) : null,
    status: stateOf(isUnsyncable, product.status),
    imageUrl: pulledUrl(product.featuredMedia?.preview?.image?.url),
  };
}

const isOf = (kind: string, line: unknown): boolean =>
  id.safeParse(line).data?.id.startsWith(`gid://shopify/${kind}/`) === true;

/** Records of the variants among the lines, and of each product among them with the ids of its variants. */
function variantRecords(lines: readonly unknown[], currencyCode: string): readonly Pulled[] {
  const found = lines.flatMap((line) => (isOf("ProductVariant", line) ? [read(variantLine, line)] : []));
  const byProduct = Map.groupBy(found, (line) => line.product.id);
  const products = lines.flatMap((line) => (isOf("Product", line) ? [read(id, line).id] : []));
  return [
    ...found.map((line) => variantRecord(line, currencyCode)),
    ...products.map((productId): Pulled => ({
      type: "product",
      productId: numberOf(productId),
      variantIds: (byProduct.get(productId) ?? []).map((line) => numberOf(line.id)),
    })),
  ];
}

async function variants(
  parts: PullDependencies,
  { changedSinceMs }: PullRequest,
  cursor: PullCursor | null,
  context: ReadContext | undefined,
): Promise<PullPage> {
  const recordsOf = (lines: readonly unknown[]) => ({ records: variantRecords(lines, parts.currencyCode) });
  const itemRecords = (lines: readonly unknown[]) => ({
    records: lines.flatMap((line) => {
      const { variant = null } = read(itemLine, line);
      return variant === null ? [] : [variantRecord(variant, parts.currencyCode)];
    }),
  });
  if (changedSinceMs === null) return await bulkPage(parts, bulkVariants, 0, cursor, context, recordsOf);
  if (cursor === null || "deletions" in cursor) return await deletions(parts, changedSinceMs, cursor, context);
  if ("ofItems" in cursor && cursor.ofItems === true)
    return await bulkPage(parts, bulkChangedItems, changedSinceMs, cursor, context, itemRecords, { ofItems: true });
  const changed = await bulkPage(parts, bulkChangedProducts, changedSinceMs, cursor, context, recordsOf);
  return changed.cursor === null ? { ...changed, cursor: cursorText({ ...bulkStart, ofItems: true }) } : changed;
}

/** Products that were deleted since then; the list of those that have changed follows. */
async function deletions(
  { client }: PullDependencies,
  changedSinceMs: number,
  cursor: { readonly deletions: string } | null,
  context: ReadContext | undefined,
): Promise<PullPage> {
  const variables = { after: cursor?.deletions ?? null, query: `occurred_at:>='${timeText(changedSinceMs)}'` };
  const { nodes, pageInfo } = (await client.ask(pullDeletionsDocument, variables, reading(context))).deletionEvents;
  const records = nodes.map(({ subjectId }): Pulled => ({
    type: "product",
    productId: numberOf(subjectId),
    variantIds: [],
  }));
  const goesOn = pageInfo.hasNextPage && pageInfo.endCursor !== null;
  return page(records, goesOn ? { deletions: pageInfo.endCursor ?? "" } : bulkStart);
}

const levelLine = z.object({
  isActive: z.boolean(),
  location: id,
  item: z.object({ variant: id.nullish() }),
  quantities: z.array(z.object({ name: z.string(), quantity: z.number() })),
});

async function levels(
  parts: PullDependencies,
  { changedSinceMs }: PullRequest,
  cursor: PullCursor | null,
  context: ReadContext | undefined,
): Promise<PullPage> {
  const query = changedSinceMs === null ? bulkLevels : bulkChangedLevels;
  return await bulkPage(parts, query, changedSinceMs ?? 0, cursor, context, (lines) => ({
    records: lines.flatMap((line): readonly Pulled[] => {
      if (!isOf("InventoryLevel", line)) return [];
      const { isActive, location, item, quantities } = read(levelLine, line);
      const pieces = quantityFrom(quantities.find(({ name }) => name === "on_hand")?.quantity ?? 0);
      const variantId = item.variant?.id;
      if (variantId === undefined || pieces === null) return [];
      const onHand = isActive ? pieces : null;
      return [{ type: "level", variantId: numberOf(variantId), locationId: numberOf(location.id), onHand }];
    }),
  }));
}

const orderLine = z.object({
  id: z.string(),
  processedAt: z.string(),
  cancelledAt: z.string().nullish(),
  test: z.boolean(),
  retailLocation: id.nullish(),
  fulfillments: z.array(z.object({ location: id.nullish() })).nullish(),
});

const soldLine = z
  .object({ currentQuantity: z.number(), variant: id.nullish(), ["__parentId"]: z.string() })
  .transform(({ currentQuantity, variant, ["__parentId"]: orderId }) => ({ currentQuantity, variant, orderId }));

/** Where an order was sold: at the till, or where all of it was sent from. */
function placeOf(
  { retailLocation, fulfillments }: z.output<typeof orderLine>,
  onlyLocation: string | null,
): string | null {
  if (retailLocation !== null && retailLocation !== undefined) return numberOf(retailLocation.id);
  const from = new Set((fulfillments ?? []).map(({ location }) => location?.id ?? null));
  const [first] = from;
  return from.size === 1 && first !== null && first !== undefined ? numberOf(first) : onlyLocation;
}

function saleRecords(lines: readonly unknown[], onlyLocation: string | null): readonly Pulled[] {
  const sold = lines.flatMap((line) => (isOf("LineItem", line) ? [read(soldLine, line)] : []));
  const byOrder = Map.groupBy(sold, (line) => line.orderId);
  return lines.flatMap((line): readonly Pulled[] => {
    if (!isOf("Order", line)) return [];
    const order = read(orderLine, line);
    const counts = !order.test && (order.cancelledAt ?? null) === null;
    const locationId = placeOf(order, onlyLocation);
    return [
      {
        type: "sale",
        saleId: numberOf(order.id),
        soldAtMs: Date.parse(order.processedAt),
        lines: !counts
          ? []
          : (byOrder.get(order.id) ?? []).flatMap(({ variant, currentQuantity }) => {
              const quantity = quantityFrom(currentQuantity);
              return variant === null || variant === undefined || quantity === null || quantity <= 0
                ? []
                : [{ variantId: numberOf(variant.id), locationId, quantity }];
            }),
      },
    ];
  });
}

/** Orders that Shopify shows to an app without `read_all_orders`. */
const daysWithoutAllOrders = 60;

async function sales(
  parts: PullDependencies,
  { changedSinceMs, soldSinceMs }: PullRequest,
  cursor: PullCursor | null,
  context: ReadContext | undefined,
): Promise<PullPage> {
  const query = changedSinceMs === null ? bulkOrders : bulkChangedOrders;
  if (cursor !== null) {
    const onlyLocation = ("operation" in cursor ? cursor.onlyLocation : null) ?? null;
    const recordsOf = (lines: readonly unknown[]) => ({ records: saleRecords(lines, onlyLocation) });
    return await bulkPage(parts, query, changedSinceMs ?? soldSinceMs, cursor, context, recordsOf, { onlyLocation });
  }
  const { client } = parts;
  const { currentAppInstallation } = await client.ask(connectDocument, {}, reading(context));
  const scopes = new Set(currentAppInstallation.accessScopes.map(({ handle }) => handle));
  if (!["read_orders", "write_orders", "read_all_orders"].some((scope) => scopes.has(scope)))
    return page([], null, {
      notes: [
        "Sales are not brought: the app lacks the scope read_orders. Add it, install the app anew, and pull everything again.",
      ],
    });
  const { nodes } = (await client.ask(pullLocationsDocument, { after: null }, reading(context))).locations;
  const places = nodes.filter(({ isActive, isFulfillmentService }) => isActive && !isFulfillmentService);
  const [only] = places;
  const onlyLocation = places.length === 1 && only !== undefined ? numberOf(only.id) : null;
  const notes = scopes.has("read_all_orders")
    ? []
    : [
        `Sales reach back ${daysWithoutAllOrders} days: the app has the scope read_orders without read_all_orders, and Shopify shows it no older orders.`,
      ];
  return page([], { ...bulkStart, onlyLocation }, { notes });
}
