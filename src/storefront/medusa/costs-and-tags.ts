/**
 * Unit costs of inventory items and tags of products. Writing them again changes nothing, so these calls are not
 * stored.
 *
 * Medusa has no unit cost. It is kept in the inventory item's metadata, beside the others' entries, which Medusa leaves
 * alone. The tags of a product can only be set as a whole: they are read right before, and the others are sent along.
 */
import { z } from "zod";
import { type Money, moneyToNumber } from "../../core/money/money.ts";
import { chunksOf } from "../../store/in-lists.ts";
import { pulledMoney } from "../pulled-values.ts";
import { type ItemResult, StorefrontError, notThere } from "../storefront.ts";
import { aFewAtATime } from "./client.ts";
import type { StoreDependencies } from "./on-hand.ts";
import { byIds, idsPerCallMax, notTracked } from "./variants.ts";

/** The entries of an inventory item's metadata: the amount as text (`12.3456`), and its currency (`usd`). */
const costEntry = "unit_cost";
const costCurrencyEntry = "unit_cost_currency";

/** Products whose tags one call sets. Medusa takes about 3 ms for each. */
const productsPerCallMax = 25;

interface Cost {
  readonly variantId: string;
  readonly unitCost: Money;
}

interface TagChange {
  readonly variantId: string;
  readonly tag: string;
  readonly present: boolean;
}

const metadata = z.record(z.string(), z.unknown()).nullish();
const itemsAnswer = z.object({ inventory_items: z.array(z.object({ id: z.string(), metadata })) });
const itemAnswer = z.object({ inventory_item: z.object({ id: z.string(), metadata }) });
const tag = z.object({ id: z.string(), value: z.string() });
const tagsAnswer = z.object({ product_tags: z.array(tag) });
const madeTagAnswer = z.object({ product_tag: tag });
const productsAnswer = z.object({ products: z.array(z.object({ id: z.string(), tags: z.array(tag).nullish() })) });
const updatedAnswer = z.object({
  updated: z.array(z.object({ id: z.string(), tags: z.array(z.object({ id: z.string() })).nullish() })),
});

type Tag = z.output<typeof tag>;

/** The unit cost in an inventory item's metadata; null when there is none in this currency. */
export function costIn(
  entries: Readonly<Record<string, unknown>> | null | undefined,
  currencyCode: string,
): Money | null {
  const { [costEntry]: amount, [costCurrencyEntry]: currency } = entries ?? {};
  if (typeof amount !== "string" && typeof amount !== "number") return null;
  if (typeof currency !== "string" || currency.toUpperCase() !== currencyCode) return null;
  return Number(amount) >= 0 ? pulledMoney(amount) : null;
}

export class MedusaCostsAndTags {
  readonly #parts: StoreDependencies;

  constructor(parts: StoreDependencies) {
    this.#parts = parts;
  }

  async write(costs: readonly Cost[], signal: AbortSignal | undefined): Promise<ItemResult[]> {
    if (costs.length === 0) return [];
    const { variants } = this.#parts;
    const found = await variants.find(
      costs.map(({ variantId }) => variantId),
      signal,
    );
    const there = await this.#costs(
      [...found.values()].flatMap(({ itemId }) => itemId ?? []),
      signal,
    );
    let problem: StorefrontError | null = null;
    const results = await aFewAtATime(costs, async ({ variantId, unitCost }): Promise<ItemResult | null> => {
      const variant = found.get(variantId);
      if (variant === undefined) return notThere(variantId);
      if (variant.itemId === null) return notTracked(variantId);
      if (there.get(variant.itemId) === unitCost) return { outcome: "unchanged" };
      if (problem !== null) return null;
      try {
        return await this.#writeCost(variant.itemId, { variantId, unitCost }, signal);
      } catch (error) {
        if (!(error instanceof StorefrontError)) throw error;
        problem = error;
        return null;
      }
    });
    return withProblem(results, problem);
  }

  async #writeCost(
    itemId: string,
    { variantId, unitCost }: Cost,
    signal: AbortSignal | undefined,
  ): Promise<ItemResult> {
    const { client, currencyCode } = this.#parts;
    const entries = {
      [costEntry]: String(moneyToNumber(unitCost)),
      [costCurrencyEntry]: currencyCode.toLowerCase(),
    };
    const path = `/admin/inventory-items/${encodeURIComponent(itemId)}?fields=id,metadata`;
    const written = await client.tell(path, { metadata: entries }, itemAnswer, { signal });
    if (written.kind === "refused")
      return {
        outcome: "rejected",
        reason: "refused",
        message: `Medusa refuses the cost of variant ${variantId}: ${written.message}`,
      };
    return costIn(written.answer.inventory_item.metadata, this.#parts.currencyCode) === unitCost
      ? { outcome: "applied" }
      : { outcome: "unknown", message: "Medusa answered without an error, but does not show the cost" };
  }

  async #costs(
    itemIds: readonly string[],
    signal: AbortSignal | undefined,
  ): Promise<ReadonlyMap<string, Money | null>> {
    const costs = new Map<string, Money | null>();
    await aFewAtATime(chunksOf([...new Set(itemIds)], idsPerCallMax), async (ids) => {
      const path = `/admin/inventory-items${byIds(ids, "id,metadata")}`;
      const { inventory_items: items } = await this.#parts.client.ask(path, itemsAnswer, { signal });
      for (const item of items) costs.set(item.id, costIn(item.metadata, this.#parts.currencyCode));
    });
    return costs;
  }

  async read(variantIds: readonly string[], signal: AbortSignal | undefined): Promise<(Money | null)[]> {
    const found = await this.#parts.variants.find(variantIds, signal);
    const costs = await this.#costs(
      [...found.values()].flatMap(({ itemId }) => itemId ?? []),
      signal,
    );
    return variantIds.map((variantId) => costs.get(found.get(variantId)?.itemId ?? "") ?? null);
  }

  async setTags(changes: readonly TagChange[], signal: AbortSignal | undefined): Promise<ItemResult[]> {
    if (changes.length === 0) return [];
    const found = await this.#parts.variants.find(
      changes.map(({ variantId }) => variantId),
      signal,
    );
    const results: (ItemResult | null)[] = changes.map(({ variantId, present }) => {
      if (found.has(variantId)) return null;
      return present ? notThere(variantId) : { outcome: "unchanged" };
    });
    let problem: StorefrontError | null = null;
    // The last change of a product and tag counts, as when they are made one by one.
    const wanted = new Map<string, Map<string, { readonly present: boolean; readonly places: number[] }>>();
    for (const [place, { variantId, tag: value, present }] of changes.entries()) {
      const productId = found.get(variantId)?.productId;
      if (productId === undefined) continue;
      const ofProduct = wanted.get(productId) ?? new Map<string, { present: boolean; places: number[] }>();
      wanted.set(productId, ofProduct);
      ofProduct.set(value, { present, places: [...(ofProduct.get(value)?.places ?? []), place] });
    }
    try {
      const tags = await this.#tags(
        changes.filter(({ present }) => present).map((change) => change.tag),
        signal,
      );
      for (const chunk of chunksOf([...wanted], productsPerCallMax))
        for (const [productId, result] of await this.#setChunk(chunk, tags, signal))
          for (const [value, { places }] of wanted.get(productId) ?? [])
            for (const place of places) results[place] = result.get(value) ?? { outcome: "unchanged" };
    } catch (error) {
      if (!(error instanceof StorefrontError)) throw error;
      problem = error;
    }
    return withProblem(results, problem);
  }

  /** The tags of these values, made where they are missing. */
  async #tags(values: readonly string[], signal: AbortSignal | undefined): Promise<ReadonlyMap<string, Tag>> {
    const { client } = this.#parts;
    const tags = new Map<string, Tag>();
    const fetchTag = async (value: string): Promise<void> => {
      const path = `/admin/product-tags?value[]=${encodeURIComponent(value)}&fields=id,value`;
      for (const found of (await client.ask(path, tagsAnswer, { signal })).product_tags) tags.set(found.value, found);
    };
    for (const value of new Set(values)) {
      await fetchTag(value);
      if (tags.has(value)) continue;
      const made = await client.tell("/admin/product-tags?fields=id,value", { value }, madeTagAnswer, { signal });
      if (made.kind === "done") tags.set(value, made.answer.product_tag);
      // Somebody else has just made it, or it is refused.
      else await fetchTag(value);
    }
    return tags;
  }

  /** Sets the tags of some products in one call. @returns what became of each product's tags. */
  async #setChunk(
    chunk: readonly (readonly [string, ReadonlyMap<string, { readonly present: boolean }>])[],
    tags: ReadonlyMap<string, Tag>,
    signal: AbortSignal | undefined,
  ): Promise<ReadonlyMap<string, ReadonlyMap<string, ItemResult>>> {
    const { client } = this.#parts;
    const ids = chunk.map(([productId]) => productId);
    const path = `/admin/products${byIds(ids, "id,tags.id,tags.value")}`;
    const { products } = await client.ask(path, productsAnswer, { signal });
    const has = new Map(products.map((product) => [product.id, product.tags ?? []]));
    const results = new Map<string, Map<string, ItemResult>>();
    const updates: { readonly id: string; readonly tags: readonly { readonly id: string }[] }[] = [];
    for (const [productId, changes] of chunk) {
      const own = has.get(productId) ?? [];
      const result = new Map<string, ItemResult>();
      results.set(productId, result);
      let next = own;
      for (const [value, { present }] of changes) {
        const made = tags.get(value);
        if (own.some((each) => each.value === value) === present) result.set(value, { outcome: "unchanged" });
        else if (present && made === undefined)
          result.set(value, { outcome: "rejected", reason: "refused", message: `Medusa refuses the tag ${value}` });
        else {
          result.set(value, { outcome: "applied" });
          next = present && made !== undefined ? [...next, made] : next.filter((each) => each.value !== value);
        }
      }
      if (next !== own) updates.push({ id: productId, tags: next.map(({ id }) => ({ id })) });
    }
    if (updates.length === 0) return results;
    const written = await client.tell("/admin/products/batch?fields=id,tags.id", { update: updates }, updatedAnswer, {
      signal,
    });
    if (written.kind === "done") return results;
    if (updates.length === 1) {
      const message = `Medusa refuses the tags of the product: ${written.message}`;
      for (const { id } of updates)
        for (const [value, { outcome }] of results.get(id) ?? [])
          if (outcome === "applied") results.get(id)?.set(value, { outcome: "rejected", reason: "refused", message });
      return results;
    }
    // One bad product fails the call: each is tried alone.
    const alone = new Map<string, ReadonlyMap<string, ItemResult>>(results);
    for (const entry of chunk)
      if (updates.some(({ id }) => id === entry[0]))
        for (const [productId, result] of await this.#setChunk([entry], tags, signal)) alone.set(productId, result);
    return alone;
  }
}

/** The results, with what the call failed of as unknown. @throws StorefrontError when nothing else is known. */
function withProblem(results: readonly (ItemResult | null)[], problem: StorefrontError | null): ItemResult[] {
  const isDone = ({ outcome }: ItemResult): boolean => outcome === "applied" || outcome === "unchanged";
  if (problem !== null && !results.some((result) => result !== null && isDone(result))) throw problem;
  const message = problem?.message ?? "Medusa has not answered for it";
  return results.map((result) => result ?? { outcome: "unknown", message });
}
