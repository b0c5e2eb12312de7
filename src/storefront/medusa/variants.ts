/**
 * Variants at Medusa: which inventory item and product each has, and its state; locations.
 */
import { z } from "zod";
import { chunksOf } from "../../store/in-lists.ts";
import { type ItemResult, type VariantState, notThere, type Rejected } from "../storefront.ts";
import { aFewAtATime, type MedusaClient } from "./client.ts";

/** Ids that one look-up names. An id has about 35 characters, and proxies refuse addresses of more than 8,000. */
export const idsPerCallMax = 100;

/** Schema of the fields that show if a variant can hold stock, and where. */
export const variantShape = z.object({
  id: z.string(),
  manage_inventory: z.boolean(),
  product_id: z.string().nullish(),
  product: z.object({ status: z.string() }).nullish(),
  inventory_items: z.array(z.object({ inventory_item_id: z.string(), required_quantity: z.number() })).nullish(),
});

const variantsAnswer = z.object({ variants: z.array(variantShape) });

export const variantFields =
  "id,manage_inventory,product_id,product.status,inventory_items.inventory_item_id,inventory_items.required_quantity";

const locationsAnswer = z.object({ stock_locations: z.array(z.object({ id: z.string() })) });

const productAnswer = z.object({ product: z.object({ status: z.string() }) });

/** A variant that can hold stock, or of which it is known that it cannot. */
type FoundVariant = {
  readonly productId: string;
} & (
  | { readonly state: "active" | "inactive"; readonly itemId: string }
  | { readonly state: "unsyncable"; readonly itemId: null }
);

/** Null: the variant has no product any more. It outlives it for as long as Medusa takes to delete it. */
export function foundFrom({
  manage_inventory: isManaged,
  product_id: productId,
  product,
  inventory_items: items,
}: z.output<typeof variantShape>): FoundVariant | null {
  if (product === null || product === undefined || productId === null || productId === undefined) return null;
  const [item, ...others] = items ?? [];
  const isOne = isManaged && item !== undefined && others.length === 0 && item.required_quantity === 1;
  return isOne
    ? { productId, state: product.status === "published" ? "active" : "inactive", itemId: item.inventory_item_id }
    : { productId, state: "unsyncable", itemId: null };
}

/** `?id[]=…&id[]=…` and what else is asked for. */
export const byIds = (ids: readonly string[], fields: string): string =>
  `?${ids.map((id) => `id[]=${encodeURIComponent(id)}`).join("&")}&limit=${ids.length}&fields=${fields}`;

export class MedusaVariants {
  readonly #client: MedusaClient;

  constructor(client: MedusaClient) {
    this.#client = client;
  }

  /** The variants that are at the store; the others are left out. */
  async find(
    variantIds: readonly string[],
    signal: AbortSignal | undefined,
  ): Promise<ReadonlyMap<string, FoundVariant>> {
    const found = new Map<string, FoundVariant>();
    await aFewAtATime(chunksOf([...new Set(variantIds)], idsPerCallMax), async (ids) => {
      const path = `/admin/product-variants${byIds(ids, variantFields)}`;
      const { variants } = await this.#client.ask(path, variantsAnswer, { signal });
      for (const variant of variants) {
        const known = foundFrom(variant);
        if (known !== null) found.set(variant.id, known);
      }
    });
    return found;
  }

  /** The given locations that the store has. */
  async locations(locationIds: readonly string[], signal: AbortSignal | undefined): Promise<ReadonlySet<string>> {
    const there = new Set<string>();
    for (const ids of chunksOf([...new Set(locationIds)], idsPerCallMax)) {
      const path = `/admin/stock-locations${byIds(ids, "id")}`;
      const { stock_locations: locations } = await this.#client.ask(path, locationsAnswer, { signal });
      for (const { id } of locations) there.add(id);
    }
    return there;
  }

  async states(variantIds: readonly string[], signal: AbortSignal | undefined): Promise<VariantState[]> {
    const found = await this.find(variantIds, signal);
    return variantIds.map((variantId) => found.get(variantId)?.state ?? "deleted");
  }

  /** Publishes the products of inactive variants, and with them every variant of theirs. */
  async activate(variantIds: readonly string[], signal: AbortSignal | undefined): Promise<ItemResult[]> {
    const found = await this.find(variantIds, signal);
    const inactiveProducts = new Set(
      [...found.values()].flatMap((each) => (each.state === "inactive" ? each.productId : [])),
    );
    const refused = new Map<string, string>();
    for (const productId of inactiveProducts) {
      const path = `/admin/products/${encodeURIComponent(productId)}?fields=id,status`;
      const written = await this.#client.tell(path, { status: "published" }, productAnswer, { signal });
      if (written.kind === "refused") refused.set(productId, written.message);
      else if (written.answer.product.status !== "published")
        refused.set(productId, "it was answered, but the product is not published");
    }
    return variantIds.map((variantId): ItemResult => {
      const variant = found.get(variantId);
      if (variant === undefined) return notThere(variantId);
      if (variant.state === "unsyncable") return notTracked(variantId);
      if (variant.state === "active") return { outcome: "unchanged" };
      const message = refused.get(variant.productId);
      return message === undefined
        ? { outcome: "applied" }
        : {
            outcome: "rejected",
            reason: "refused",
            message: `Medusa does not publish the product of variant ${variantId}: ${message}`,
          };
    });
  }
}

export const notTracked = (variantId: string): Rejected => ({
  outcome: "rejected",
  reason: "unsyncable",
  message: `variant ${variantId} is not tracked at the storefront: it is made of several inventory items, or Medusa does not manage its inventory`,
});

export const notALocation = (locationId: string): Rejected => ({
  outcome: "rejected",
  reason: "unknown-location",
  message: `location ${locationId} is not a stock location of the Medusa store`,
});
