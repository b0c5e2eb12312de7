/**
 * Variants at Shopify: which inventory item and product each has, and its state. What was looked up is kept for a
 * moment, so that a look-up which was given up half way goes on where it was.
 */
import type { Clock } from "../../base/time/clock.ts";
import { chunksOf } from "../../store/in-lists.ts";
import type { Pulled } from "../pull.ts";
import { type ItemResult, type VariantState, notThere, type Rejected } from "../storefront.ts";
import type { ShopifyClient } from "./client.ts";
import { activateDocument, variantsDocument } from "./documents.ts";
import { globalId, numberOf } from "./ids.ts";

/** Ids that one look-up names. With about 4 points each it stays below the 1,000 points that one query may cost. */
export const idsPerQueryMax = 100;

/**
 * Time for which a variant counts as active after it was seen so, unless Shopify says otherwise (C44). Other states are
 * always looked up.
 */
const activeKeptMs = 30_000;

/** Variants that are remembered; the ones seen longest ago go first. */
export const variantsKeptMax = 20_000;

/** A variant of the store. */
export interface FoundVariant {
  readonly variantGid: string;
  readonly itemGid: string;
  readonly productGid: string;
  readonly state: Exclude<VariantState, "deleted">;
  readonly seenAtMs: number;
}

export class ShopifyVariants {
  readonly #client: ShopifyClient;
  readonly #clock: Clock;
  readonly #found = new Map<string, FoundVariant>();

  constructor(client: ShopifyClient, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /**
   * The variants that are at the store; the others are left out.
   *
   * @param needs `state`: as it is now. `ids`: what never changes of a variant is enough, unless it was not to be
   *   synced.
   */
  async find(
    variantIds: readonly string[],
    needs: "state" | "ids",
    signal: AbortSignal | undefined,
  ): Promise<ReadonlyMap<string, FoundVariant>> {
    const nowMs = this.#clock.now();
    const isKept = (variantId: string): boolean => {
      const found = this.#found.get(variantId);
      if (found === undefined || found.state === "unsyncable") return false;
      return needs === "ids" || (found.state === "active" && nowMs - found.seenAtMs < activeKeptMs);
    };
    const known = new Map<string, FoundVariant>();
    const wanted: { readonly variantId: string; readonly gid: string }[] = [];
    for (const variantId of new Set(variantIds)) {
      const gid = globalId("ProductVariant", variantId);
      const found = this.#found.get(variantId);
      if (found !== undefined && isKept(variantId)) known.set(variantId, found);
      else if (gid !== null) wanted.push({ variantId, gid });
    }
    for (const page of chunksOf(wanted, idsPerQueryMax)) {
      const ids = page.map(({ gid }) => gid);
      const { nodes } = await this.#client.ask(variantsDocument, { ids }, { writes: false, items: ids.length, signal });
      const byGid = new Map(nodes.flatMap((node) => (node === null ? [] : [[node.id, node] as const])));
      for (const { variantId, gid } of page) {
        const node = byGid.get(gid);
        this.#found.delete(variantId);
        if (node === undefined) continue;
        const found: FoundVariant = {
          variantGid: gid,
          itemGid: node.inventoryItem.id,
          productGid: node.product.id,
          state: stateOf(node.requiresComponents || !node.inventoryItem.tracked, node.product.status),
          seenAtMs: this.#clock.now(),
        };
        this.#found.set(variantId, found);
        known.set(variantId, found);
      }
      for (const variantId of this.#found.keys()) {
        if (this.#found.size <= variantsKeptMax) break;
        this.#found.delete(variantId);
      }
    }
    return known;
  }

  /** Shopify has said something of them that is not as it was: they are looked up when they are asked for. */
  forget(variantIds: readonly string[]): void {
    for (const variantId of variantIds) this.#found.delete(variantId);
  }

  /** The results of a write. What Shopify has rejected may be otherwise than it was. */
  async noting(
    items: readonly { readonly variantId: string }[],
    write: () => Promise<ItemResult[]>,
  ): Promise<ItemResult[]> {
    const results = await write();
    this.forget(items.flatMap(({ variantId }, place) => (results[place]?.outcome === "rejected" ? [variantId] : [])));
    return results;
  }

  /** A page of a pull has come: what is not active in it does not count as active. */
  heard(records: readonly Pulled[]): void {
    if (this.#found.size === 0) return;
    const states = new Map<string, VariantState>();
    const products = new Map<string, ReadonlySet<string>>();
    for (const each of records)
      if (each.type === "variant") states.set(each.variantId, each.status);
      else if (each.type === "product") products.set(each.productId, new Set(each.variantIds));
    for (const [name, { variantGid, productGid }] of this.#found) {
      const id = numberOf(variantGid);
      const isThere = products.get(numberOf(productGid))?.has(id) ?? true;
      if (!isThere || (states.get(id) ?? "active") !== "active") this.#found.delete(name);
    }
  }

  async states(variantIds: readonly string[], signal: AbortSignal | undefined): Promise<VariantState[]> {
    const found = await this.find(variantIds, "state", signal);
    return variantIds.map((variantId) => found.get(variantId)?.state ?? "deleted");
  }

  /** Makes the products of inactive variants active, and with them every variant of theirs. */
  async activate(variantIds: readonly string[], signal: AbortSignal | undefined): Promise<ItemResult[]> {
    const found = await this.find(variantIds, "state", signal);
    const inactiveProducts = new Set(
      [...found.values()].flatMap((each) => (each.state === "inactive" ? each.productGid : [])),
    );
    const refused = new Map<string, string>();
    for (const id of inactiveProducts) {
      const { productUpdate } = await this.#client.ask(activateDocument, { id }, { writes: true, items: 0, signal });
      const [error] = productUpdate.userErrors;
      const { product } = productUpdate;
      if (error !== undefined || product === null || !isActive(product.status))
        refused.set(id, error?.message ?? "it was answered, but the product is not active");
    }
    for (const [variantId, { productGid }] of this.#found)
      if (inactiveProducts.has(productGid)) this.#found.delete(variantId);
    return variantIds.map((variantId): ItemResult => {
      const variant = found.get(variantId);
      if (variant === undefined) return notThere(variantId);
      if (variant.state === "unsyncable") return notTracked(variantId);
      if (variant.state === "active") return { outcome: "unchanged" };
      const message = refused.get(variant.productGid);
      return message === undefined
        ? { outcome: "applied" }
        : {
            outcome: "rejected",
            reason: "refused",
            message: `Shopify does not activate variant ${variantId}: ${message}`,
          };
    });
  }
}

/** Unlisted products can be bought by whoever has the link. */
const isActive = (status: string): boolean => status === "ACTIVE" || status === "UNLISTED";

export function stateOf(isUnsyncable: boolean, status: string): FoundVariant["state"] {
  if (isUnsyncable) return "unsyncable";
  return isActive(status) ? "active" : "inactive";
}

export const notTracked = (variantId: string): Rejected => ({
  outcome: "rejected",
  reason: "unsyncable",
  message: `variant ${variantId} is not tracked at the storefront: it is a bundle, or its quantity is not tracked`,
});
