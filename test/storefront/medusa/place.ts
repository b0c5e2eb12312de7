/**
 * A Medusa for a test, behind a proxy that can fail: the fake, or the real one that `npm run test:medusa` has started. What a test puts there
 * and looks up goes through the Admin API, so that both are the same to it.
 */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { FakeMedusa } from "./fake.ts";
import { MedusaProxy } from "./proxy.ts";

/** The environment variables with the address and the secret key of a real Medusa. */
export const medusaUrlVariable = "OPENPO_TEST_MEDUSA_URL";
export const medusaKeyVariable = "OPENPO_TEST_MEDUSA_KEY";

const realUrl = process.env[medusaUrlVariable];

/** Whether the tests run on a real Medusa. */
export const isReal = realUrl !== undefined;

interface LevelFigures {
  readonly stocked: number;
  readonly incoming: number;
  readonly reserved: number;
}

/** A product to be made. */
interface SeedProduct {
  readonly title?: string;
  readonly status?: string;
  readonly variants: readonly {
    readonly isManaged?: boolean;
    readonly sku?: string;
    readonly barcode?: string;
    readonly prices?: readonly {
      readonly amount: number;
      readonly currency_code: string;
      readonly min_quantity?: number;
    }[];
    /** Inventory items of other variants; absent: one of its own. */
    readonly itemsOf?: readonly { readonly variantId: string; readonly required: number }[];
  }[];
}

interface MadeProduct {
  readonly id: string;
  readonly title: string;
  readonly variants: readonly { readonly id: string; readonly title: string }[];
}

interface ShownItem {
  readonly id: string;
  readonly metadata?: Readonly<Record<string, unknown>> | null;
  readonly location_levels: readonly {
    readonly id: string;
    readonly location_id: string;
    readonly stocked_quantity: number;
    readonly incoming_quantity: number;
    readonly reserved_quantity: number;
  }[];
}

interface ShownProduct {
  readonly id: string;
  readonly status: string;
  readonly tags: readonly { readonly id: string; readonly value: string }[];
}

interface ShownVariant {
  readonly id: string;
  readonly product_id: string;
  readonly inventory_items?: readonly { readonly inventory_item_id: string }[];
}

export class MedusaPlace {
  /** Null on a real one. */
  readonly fake: FakeMedusa | null;
  readonly proxy: MedusaProxy;
  readonly key: string;
  readonly #url: string;
  readonly #items = new Map<string, string>();
  #wanted: Map<string, PromiseWithResolvers<ReadonlyMap<string, LevelFigures>>> | null = null;

  private constructor(fake: FakeMedusa | null, proxy: MedusaProxy, url: string, key: string) {
    this.fake = fake;
    this.proxy = proxy;
    this.#url = url;
    this.key = key;
  }

  static async open(): Promise<MedusaPlace> {
    const fake = realUrl === undefined ? await new FakeMedusa().listen() : null;
    const url = fake?.url ?? realUrl ?? "";
    const proxy = await new MedusaProxy(url).listen();
    return new MedusaPlace(fake, proxy, url, fake?.key ?? process.env[medusaKeyVariable] ?? "");
  }

  async close(): Promise<void> {
    await this.proxy.close();
    await this.fake?.close();
  }

  /** Asks the Medusa itself, past the proxy. */
  async ask<Answer = unknown>(method: string, path: string, body?: object): Promise<Answer> {
    const answer = await fetch(`${this.#url}${path}`, {
      method,
      headers: {
        authorization: `Basic ${Buffer.from(`${this.key}:`).toString("base64")}`,
        "content-type": "application/json",
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    assert.equal(answer.status, 200, `${method} ${path}: ${text.slice(0, 500)}`);
    const json: Answer = JSON.parse(text);
    return json;
  }

  async addLocation(name: string): Promise<string> {
    const made = await this.ask<{ stock_location: { id: string } }>("POST", "/admin/stock-locations", { name });
    return made.stock_location.id;
  }

  /** Makes products; the variants' ids are in their order. */
  async addProducts(products: readonly SeedProduct[]): Promise<{ productId: string; variantIds: string[] }[]> {
    const made: { productId: string; variantIds: string[] }[] = [];
    for (let start = 0; start < products.length; start += 50) {
      const create = await Promise.all(
        products.slice(start, start + 50).map(async ({ title, status, variants }) => {
          const values = variants.map((_, index) => `v${index}`);
          return {
            title: title ?? `P ${randomUUID()}`,
            status: status ?? "published",
            options: [{ title: "Kind", values }],
            variants: await Promise.all(
              variants.map(async ({ isManaged, itemsOf, sku, barcode, prices }, index) => ({
                title: `v${index}`,
                sku: sku ?? randomUUID(),
                ...(barcode === undefined ? {} : { barcode }),
                manage_inventory: isManaged ?? true,
                options: { Kind: `v${index}` },
                prices: prices ?? [],
                ...(itemsOf === undefined
                  ? {}
                  : {
                      inventory_items: await Promise.all(
                        itemsOf.map(async ({ variantId, required }) => ({
                          inventory_item_id: await this.itemOf(variantId),
                          required_quantity: required,
                        })),
                      ),
                    }),
              })),
            ),
          };
        }),
      );
      const answer = await this.ask<{ created: readonly MadeProduct[] }>("POST", "/admin/products/batch", { create });
      const byTitle = new Map(answer.created.map((product) => [product.title, product]));
      for (const { title } of create) {
        const product = byTitle.get(title) ?? assert.fail(`${title} was not made`);
        const inOrder = product.variants.toSorted(
          (one, other) => Number(one.title.slice(1)) - Number(other.title.slice(1)),
        );
        made.push({ productId: product.id, variantIds: inOrder.map(({ id }) => id) });
      }
    }
    await this.#learnItems(made.flatMap(({ variantIds }) => variantIds));
    return made;
  }

  /** A product with one variant of its own inventory item, several times. */
  async addVariants(count: number, status = "published"): Promise<string[]> {
    const made = await this.addProducts(Array.from({ length: count }, () => ({ status, variants: [{}] })));
    return made.flatMap(({ variantIds }) => variantIds);
  }

  async deleteVariant(productId: string, variantId: string): Promise<void> {
    await this.ask("DELETE", `/admin/products/${productId}/variants/${variantId}`);
  }

  async deleteProduct(productId: string): Promise<void> {
    await this.ask("DELETE", `/admin/products/${productId}`);
  }

  async #learnItems(variantIds: readonly string[]): Promise<void> {
    for (let start = 0; start < variantIds.length; start += 100) {
      const ids = variantIds.slice(start, start + 100).map((id) => `id[]=${id}`);
      const fields = "fields=id,inventory_items.inventory_item_id";
      const answer = await this.ask<{ variants: readonly ShownVariant[] }>(
        "GET",
        `/admin/product-variants?${ids.join("&")}&limit=100&${fields}`,
      );
      for (const { id, inventory_items: items } of answer.variants)
        if (items?.[0] !== undefined) this.#items.set(id, items[0].inventory_item_id);
    }
  }

  async itemOf(variantId: string): Promise<string> {
    if (!this.#items.has(variantId)) await this.#learnItems([variantId]);
    return this.#items.get(variantId) ?? assert.fail(`${variantId} has no inventory item`);
  }

  /** The figures of a variant's level; without one all are 0. Look-ups of one moment are one call. */
  async level(variantId: string, locationId: string): Promise<LevelFigures> {
    const itemId = await this.itemOf(variantId);
    if (this.#wanted === null) {
      const wanted = new Map<string, PromiseWithResolvers<ReadonlyMap<string, LevelFigures>>>();
      this.#wanted = wanted;
      setTimeout(() => {
        this.#wanted = null;
        void this.#look(wanted);
      }, 2);
    }
    const wanted = this.#wanted;
    const asked = wanted.get(itemId) ?? Promise.withResolvers<ReadonlyMap<string, LevelFigures>>();
    wanted.set(itemId, asked);
    return (await asked.promise).get(locationId) ?? { stocked: 0, incoming: 0, reserved: 0 };
  }

  async #look(wanted: Map<string, PromiseWithResolvers<ReadonlyMap<string, LevelFigures>>>): Promise<void> {
    try {
      const itemIds = [...wanted.keys()];
      for (let start = 0; start < itemIds.length; start += 100) {
        const ids = itemIds.slice(start, start + 100).map((id) => `id[]=${id}`);
        const fields = ["location_id", "stocked_quantity", "incoming_quantity", "reserved_quantity"]
          .map((field) => `location_levels.${field}`)
          .join(",");
        const answer = await this.ask<{ inventory_items: readonly ShownItem[] }>(
          "GET",
          `/admin/inventory-items?${ids.join("&")}&limit=100&fields=id,${fields}`,
        );
        for (const { id, location_levels: levels } of answer.inventory_items)
          wanted.get(id)?.resolve(
            new Map(
              levels.map((level) => [
                level.location_id,
                {
                  stocked: level.stocked_quantity,
                  incoming: level.incoming_quantity,
                  reserved: level.reserved_quantity,
                },
              ]),
            ),
          );
      }
      for (const { resolve } of wanted.values()) resolve(new Map());
    } catch (error) {
      for (const { reject } of wanted.values()) reject(error);
    }
  }

  /** The unit cost that is kept with a variant; NaN without one. */
  async costOf(variantId: string): Promise<number> {
    const path = `/admin/inventory-items?id[]=${await this.itemOf(variantId)}&fields=id,metadata`;
    const { inventory_items: items } = await this.ask<{ inventory_items: readonly ShownItem[] }>("GET", path);
    return Number(items[0]?.metadata?.["unit_cost"]);
  }

  /** Sets a level as the merchant does, whatever it was; made when it is not there. */
  async setLevel(
    variantId: string,
    locationId: string,
    figures: { readonly stocked_quantity?: number; readonly incoming_quantity?: number },
  ): Promise<void> {
    const itemId = await this.itemOf(variantId);
    const path = `/admin/inventory-items?id[]=${itemId}&fields=id,location_levels.location_id`;
    const { inventory_items: items } = await this.ask<{ inventory_items: readonly ShownItem[] }>("GET", path);
    const isThere = items.some((item) => item.location_levels.some((level) => level.location_id === locationId));
    const member = isThere ? "update" : "create";
    await this.ask("POST", "/admin/inventory-items/location-levels/batch", {
      [member]: [{ inventory_item_id: itemId, location_id: locationId, ...figures }],
    });
  }

  async removeLevel(variantId: string, locationId: string): Promise<void> {
    const path = `/admin/inventory-items?id[]=${await this.itemOf(variantId)}&fields=id,location_levels.id,location_levels.location_id`;
    const { inventory_items: items } = await this.ask<{ inventory_items: readonly ShownItem[] }>("GET", path);
    const levels = items.flatMap((item) => item.location_levels).filter((level) => level.location_id === locationId);
    const body = { delete: levels.map(({ id }) => id), force: true };
    await this.ask("POST", "/admin/inventory-items/location-levels/batch", body);
  }

  /** Adds to a level's stock as the merchant does. */
  async addByHand(variantId: string, locationId: string, units: number): Promise<void> {
    const { stocked } = await this.level(variantId, locationId);
    await this.setLevel(variantId, locationId, { stocked_quantity: stocked + units });
  }

  async productOf(variantId: string): Promise<ShownProduct> {
    const ofVariant = `/admin/product-variants?id[]=${variantId}&fields=id,product_id`;
    const { variants } = await this.ask<{ variants: readonly ShownVariant[] }>("GET", ofVariant);
    const path = `/admin/products?id[]=${variants[0]?.product_id ?? ""}&fields=id,status,tags.id,tags.value`;
    const { products } = await this.ask<{ products: readonly ShownProduct[] }>("GET", path);
    return products[0] ?? assert.fail(`${variantId} has no product`);
  }

  async tagByHand(variantId: string, value: string): Promise<void> {
    const product = await this.productOf(variantId);
    const made = await this.ask<{ product_tag: { id: string } }>("POST", "/admin/product-tags", { value });
    const tags = [...product.tags.map(({ id }) => ({ id })), { id: made.product_tag.id }];
    await this.ask("POST", `/admin/products/${product.id}`, { tags });
  }
}
