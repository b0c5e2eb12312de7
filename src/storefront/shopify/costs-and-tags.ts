/**
 * Unit costs of variants and tags of products. Writing them again changes nothing, so these calls have no keys. Costs
 * of one product are one call; tags are added and taken away one by one, so the merchant's own stay.
 */
import { RecentMap } from "../../base/recent-map.ts";
import { hourMs } from "../../base/time/calendar.ts";
import { type Money, moneyFrom, moneyToNumber } from "../../core/money/money.ts";
import { chunksOf } from "../../store/in-lists.ts";
import { type ItemResult, StorefrontError, notThere } from "../storefront.ts";
import { changesPerCallMax } from "./adjust.ts";
import {
  addTagDocument,
  costsDocument,
  currencyDocument,
  removeTagDocument,
  tagsDocument,
  writeCostsDocument,
} from "./documents.ts";
import type { StoreDependencies } from "./on-hand.ts";
import { type FoundVariant, idsPerQueryMax, notTracked } from "./variants.ts";

/**
 * Time for which a written cost counts as written: an attempt of many that was given up half way goes on where it was.
 */
const costKeptMs = 5 * 60 * 1_000;

/** Time for which the store's currency counts as known. A store with orders cannot change it. */
const currencyKeptMs = hourMs;

/** Costs that a client remembers to have written. */
export const costsKeptMax = 20_000;

interface Cost {
  readonly variantId: string;
  readonly unitCost: Money;
}

interface TagChange {
  readonly variantId: string;
  readonly tag: string;
  readonly present: boolean;
}

/** An amount in Shopify's words (`12.3456`); more decimals than a unit cost has are rounded. */
const moneyOf = (amount: string): Money | null => moneyFrom(Math.round(Number(amount) * 10_000) / 10_000);

export class ShopifyCostsAndTags {
  readonly #parts: StoreDependencies;
  #currency: { readonly code: string; readonly atMs: number } | null = null;
  /** Variant → what was written, and when. */
  readonly #written = new RecentMap<{ readonly unitCost: Money; readonly atMs: number }>(costsKeptMax);

  constructor(parts: StoreDependencies) {
    this.#parts = parts;
  }

  async #storeCurrency(signal: AbortSignal | undefined): Promise<string> {
    const { client, clock } = this.#parts;
    if (this.#currency === null || clock.now() - this.#currency.atMs > currencyKeptMs) {
      const { shop } = await client.ask(currencyDocument, {}, { writes: false, items: 0, signal });
      this.#currency = { code: shop.currencyCode, atMs: clock.now() };
    }
    return this.#currency.code;
  }

  async write(costs: readonly Cost[], signal: AbortSignal | undefined): Promise<ItemResult[]> {
    if (costs.length === 0) return [];
    const { currencyCode, variants } = this.#parts;
    const storeCurrency = await this.#storeCurrency(signal);
    if (storeCurrency !== currencyCode)
      return costs.map(() => ({
        outcome: "rejected",
        reason: "currency-mismatch",
        message: `the Shopify store counts in ${storeCurrency} and the shop in ${currencyCode}: a cost would be written in the wrong currency`,
      }));
    const found = await variants.find(
      costs.map(({ variantId }) => variantId),
      "ids",
      signal,
    );
    const results = new Map<string, ItemResult>();
    const wanted: (Cost & { readonly variant: FoundVariant })[] = [];
    for (const cost of costs) {
      const variant = found.get(cost.variantId);
      if (variant === undefined) results.set(cost.variantId, notThere(cost.variantId));
      else if (variant.state === "unsyncable") results.set(cost.variantId, notTracked(cost.variantId));
      else if (this.#isWritten(cost)) results.set(cost.variantId, { outcome: "unchanged" });
      else wanted.push({ ...cost, variant });
    }
    let problem: StorefrontError | null = null;
    for (const [productGid, ofProduct] of Map.groupBy(wanted, ({ variant }) => variant.productGid)) {
      for (const chunk of chunksOf(ofProduct, changesPerCallMax))
        try {
          for (const [variantId, result] of await this.#writeProduct(productGid, chunk, signal))
            results.set(variantId, result);
        } catch (error) {
          if (!(error instanceof StorefrontError)) throw error;
          problem = error;
        }
      if (problem !== null) break;
    }
    if (problem !== null && results.size === 0) throw problem;
    const message = problem?.message ?? "Shopify has not answered for it";
    return costs.map(({ variantId }) => results.get(variantId) ?? { outcome: "unknown", message });
  }

  #isWritten({ variantId, unitCost }: Cost): boolean {
    const written = this.#written.get(variantId);
    return written?.unitCost === unitCost && this.#parts.clock.now() - written.atMs < costKeptMs;
  }

  async #writeProduct(
    productId: string,
    costs: readonly (Cost & { readonly variant: FoundVariant })[],
    signal: AbortSignal | undefined,
  ): Promise<ReadonlyMap<string, ItemResult>> {
    const { client, clock } = this.#parts;
    const variants = costs.map(({ variant, unitCost }) => ({
      id: variant.variantGid,
      inventoryItem: { cost: String(moneyToNumber(unitCost)) },
    }));
    const { productVariantsBulkUpdate: answer } = await client.ask(
      writeCostsDocument,
      { productId, variants },
      { writes: true, items: variants.length, signal },
    );
    const errors = new Map<number, string>();
    let ofAll: string | null = null;
    for (const { field, message } of answer.userErrors) {
      const index = field?.[field.indexOf("variants") + 1] ?? "";
      if (field?.includes("variants") === true && /^\d{1,6}$/.test(index)) errors.set(Number(index), message);
      else ofAll = message;
    }
    const shown = new Map((answer.productVariants ?? []).map(({ id, inventoryItem }) => [id, inventoryItem.unitCost]));
    return new Map(
      costs.map(({ variantId, unitCost, variant }, index): readonly [string, ItemResult] => {
        const refusal = errors.get(index) ?? ofAll;
        if (refusal !== null)
          return [
            variantId,
            {
              outcome: "rejected",
              reason: "refused",
              message: `Shopify refuses the cost of variant ${variantId}: ${refusal}`,
            },
          ];
        if ((shown.get(variant.variantGid) ?? null) === null)
          return [
            variantId,
            { outcome: "unknown", message: "Shopify answered without an error, but does not show the cost" },
          ];
        this.#remember(variantId, unitCost, clock.now());
        return [variantId, { outcome: "applied" }];
      }),
    );
  }

  #remember(variantId: string, unitCost: Money, atMs: number): void {
    this.#written.set(variantId, { unitCost, atMs });
  }

  async read(variantIds: readonly string[], signal: AbortSignal | undefined): Promise<(Money | null)[]> {
    const { client, variants, currencyCode } = this.#parts;
    const found = await variants.find(variantIds, "ids", signal);
    const costs = new Map<string, Money | null>();
    for (const ids of chunksOf(
      [...found.values()].map(({ variantGid }) => variantGid),
      idsPerQueryMax,
    )) {
      const { nodes } = await client.ask(costsDocument, { ids }, { writes: false, items: ids.length, signal });
      for (const node of nodes) {
        const cost = node?.inventoryItem.unitCost ?? null;
        if (node !== null) costs.set(node.id, cost?.currencyCode === currencyCode ? moneyOf(cost.amount) : null);
      }
    }
    variants.forget([...found].flatMap(([variantId, { variantGid }]) => (costs.has(variantGid) ? [] : [variantId])));
    return variantIds.map((variantId) => costs.get(found.get(variantId)?.variantGid ?? "") ?? null);
  }

  async setTags(changes: readonly TagChange[], signal: AbortSignal | undefined): Promise<ItemResult[]> {
    if (changes.length === 0) return [];
    const { client, variants } = this.#parts;
    const found = await variants.find(
      changes.map(({ variantId }) => variantId),
      "ids",
      signal,
    );
    const tagsOf = new Map<string, readonly string[]>();
    for (const ids of chunksOf([...new Set([...found.values()].map(({ productGid }) => productGid))], idsPerQueryMax)) {
      const { nodes } = await client.ask(tagsDocument, { ids }, { writes: false, items: ids.length, signal });
      for (const node of nodes) if (node !== null) tagsOf.set(node.id, node.tags);
    }
    variants.forget([...found].flatMap(([variantId, { productGid }]) => (tagsOf.has(productGid) ? [] : [variantId])));
    const results: ItemResult[] = [];
    let problem: StorefrontError | null = null;
    for (const change of changes) {
      const productGid = found.get(change.variantId)?.productGid;
      const tags = productGid === undefined ? undefined : tagsOf.get(productGid);
      if (productGid === undefined || tags === undefined)
        results.push(change.present ? notThere(change.variantId) : { outcome: "unchanged" });
      else if (hasTag(tags, change.tag) === change.present) results.push({ outcome: "unchanged" });
      else if (problem !== null) results.push({ outcome: "unknown", message: problem.message });
      else
        try {
          results.push(await this.#setTag(productGid, change, signal));
          const others = tags.filter((tag) => !isSameTag(tag, change.tag));
          tagsOf.set(productGid, change.present ? [...others, change.tag] : others);
        } catch (error) {
          if (!(error instanceof StorefrontError)) throw error;
          problem = error;
          results.push({ outcome: "unknown", message: error.message });
        }
    }
    if (problem !== null && results.every(({ outcome }) => outcome === "unknown")) throw problem;
    return results;
  }

  async #setTag(
    id: string,
    { variantId, tag, present }: TagChange,
    signal: AbortSignal | undefined,
  ): Promise<ItemResult> {
    const { node, userErrors } = await this.#parts.client.ask(
      present ? addTagDocument : removeTagDocument,
      { id, tags: [tag] },
      { writes: true, items: 0, signal },
    );
    const [error] = userErrors;
    if (error === undefined && node !== null) return { outcome: "applied" };
    const why = error?.message ?? "it does not know the product";
    return {
      outcome: "rejected",
      reason: "refused",
      message: `Shopify refuses the tag of variant ${variantId}: ${why}`,
    };
  }
}

/** Shopify's tags do not differ by case. */
const isSameTag = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

const hasTag = (tags: readonly string[], tag: string): boolean => tags.some((each) => isSameTag(each, tag));
