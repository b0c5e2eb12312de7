/**
 * A Medusa 2 for tests: a real HTTP server with the endpoints of the Admin API that the adapter and the tests use, and their behaviour as a
 * real Medusa 2.21.2 has shown it. `npm run test:medusa` runs the same tests on the real one, so that what is written here is checked.
 */
import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { listenOnPort, stopListening } from "../../support/peers/serving.ts";

const fakeKey = "sk_canary0123456789abcdef0123456789abcdef";

interface Item {
  readonly id: string;
  metadata: Record<string, unknown> | null;
}

interface Level {
  readonly itemId: string;
  readonly locationId: string;
  stocked: number;
  reserved: number;
  incoming: number;
  updatedAtMs: number;
}

interface Price {
  readonly amount: number;
  readonly currency_code: string;
  readonly min_quantity?: number;
  readonly max_quantity?: number;
}

interface Variant {
  readonly id: string;
  readonly productId: string;
  readonly title: string;
  readonly sku: string | null;
  readonly barcode: string | null;
  readonly ean: string | null;
  readonly prices: readonly Price[];
  readonly isManaged: boolean;
  readonly items: readonly { readonly itemId: string; readonly required: number }[];
}

interface Product {
  readonly id: string;
  title: string;
  status: string;
  tags: readonly string[];
  thumbnail: string | null;
}

/** An order of a customer. Tests change it as the admin would. */
export interface Order {
  readonly id: string;
  readonly createdAtMs: number;
  updatedAtMs: number;
  canceledAtMs: number | null;
  readonly items: { readonly variantId: string | null; quantity: number; received: number; dismissed: number }[];
  readonly fulfillments: { readonly locationId: string; canceledAtMs: number | null }[];
}

/** What a level is created with or set to. */
interface LevelInput {
  readonly inventory_item_id: string;
  readonly location_id: string;
  readonly stocked_quantity?: number;
  readonly incoming_quantity?: number;
}

interface ProductInput {
  readonly id: string;
  readonly title?: string;
  readonly status?: string;
  readonly thumbnail?: string;
  readonly tags?: readonly { readonly id: string }[];
  readonly variants?: readonly {
    readonly title: string;
    readonly sku?: string;
    readonly barcode?: string;
    readonly ean?: string;
    readonly prices?: readonly Price[];
    readonly manage_inventory?: boolean;
    readonly inventory_items?: readonly { readonly inventory_item_id: string; readonly required_quantity: number }[];
  }[];
}

/** The members of the bodies that are read here. */
interface Body {
  readonly name?: string;
  readonly title?: string;
  readonly prices?: readonly Price[];
  readonly value?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly status?: string;
  readonly inventory_item_id?: string;
  readonly location_id?: string;
  readonly quantity?: number;
  readonly tags?: readonly { readonly id: string }[];
  readonly create?: readonly (LevelInput & ProductInput)[];
  readonly update?: readonly (LevelInput & ProductInput)[];
  readonly delete?: readonly string[];
}

interface Reply {
  readonly status: number;
  readonly json: object;
}

type Query = URLSearchParams;

const refused = (status: number, type: string, message: string): Reply => ({ status, json: { type, message } });

const ok = (json: object): Reply => ({ status: 200, json });

const idsIn = (query: Query, name = "id"): readonly string[] => [...query.getAll(name), ...query.getAll(`${name}[]`)];

export class FakeMedusa {
  /** `http://127.0.0.1:1234`, once it listens. */
  url = "";
  key = fakeKey;
  currencies: readonly string[] = ["usd", "eur"];
  /** Whether an answer to an update shows what was available before, as 2.21.2 does. */
  showsBefore = true;
  readonly locations = new Map<string, string>();
  readonly items = new Map<string, Item>();
  readonly levels = new Map<string, Level>();
  readonly variants = new Map<string, Variant>();
  readonly products = new Map<string, Product>();
  readonly tags = new Map<string, string>();
  readonly orders = new Map<string, Order>();
  readonly #server: Server;
  #ids = 0;
  #lastMs = 0;

  constructor() {
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch((error: unknown) => {
        response.writeHead(500).end(JSON.stringify({ type: "unknown_error", message: String(error) }));
      });
    });
  }

  async listen(): Promise<this> {
    this.url = `http://127.0.0.1:${await listenOnPort(this.#server)}`;
    return this;
  }

  close(): Promise<void> {
    return stopListening(this.#server);
  }

  #id(prefix: string): string {
    this.#ids += 1;
    return `${prefix}_${String(this.#ids).padStart(26, "0")}`;
  }

  /** No two changes have one time, as if each took a millisecond. */
  #now(): number {
    this.#lastMs = Math.max(Date.now(), this.#lastMs + 1);
    return this.#lastMs;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) {
      assert.ok(piece instanceof Buffer);
      pieces.push(piece);
    }
    const text = Buffer.concat(pieces).toString("utf8");
    const url = new URL(request.url ?? "/", "http://fake");
    const answer = ({ status, json }: Reply): void => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(json));
    };
    if (request.headers.authorization !== `Basic ${Buffer.from(`${this.key}:`).toString("base64")}`)
      return answer({ status: 401, json: { message: "Unauthorized" } });
    const reply = this.#answer(
      `${request.method} ${url.pathname}`,
      url.searchParams,
      text === "" ? {} : JSON.parse(text),
    );
    if (reply === null)
      return void response.writeHead(404, { "content-type": "text/html" }).end("<pre>Cannot find it</pre>");
    answer(reply);
  }

  #answer(call: string, query: Query, body: Body): Reply | null {
    const [, productId = ""] = /^\S+ \/admin\/products\/([^/]+)$/.exec(call) ?? [];
    const [, itemId = ""] = /^\S+ \/admin\/inventory-items\/([^/]+)$/.exec(call) ?? [];
    const [, ofProduct = "", variantId = ""] = /^\S+ \/admin\/products\/([^/]+)\/variants\/([^/]+)$/.exec(call) ?? [];
    switch (call) {
      case "GET /admin/stores":
        return ok({
          stores: [{ id: "store_1", supported_currencies: this.currencies.map((code) => ({ currency_code: code })) }],
        });
      case "GET /admin/stock-locations":
        return this.#listed(query, "stock_locations", this.locations, (name, id) => ({ id, name }));
      case "POST /admin/stock-locations": {
        const id = this.#id("sloc");
        this.locations.set(id, body.name ?? "");
        return ok({ stock_location: { id, name: body.name } });
      }
      case "GET /admin/product-variants":
        return this.#listed(query, "variants", this.variants, (variant) => this.#variantJson(variant));
      case "GET /admin/inventory-items":
        return this.#listed(query, "inventory_items", this.items, (item) => this.#itemJson(item));
      case "POST /admin/inventory-items/location-levels/batch":
        for (const id of body.delete ?? [])
          for (const [name, level] of this.levels) if (levelJson(level).id === id) this.levels.delete(name);
        return this.#setLevels(body.create ?? [], body.update ?? []);
      case "GET /admin/products":
        return this.#listed(query, "products", this.products, (product) => this.#productJson(product));
      case "POST /admin/products/batch":
        return this.#setProducts(body.create ?? [], body.update ?? []);
      case "GET /admin/orders":
        return this.#listed(query, "orders", this.#ordersSince(query), orderJson);
      case "GET /admin/product-tags": {
        const values = idsIn(query, "value");
        const tags = [...this.tags].flatMap(([id, value]) => (values.includes(value) ? { id, value } : []));
        return ok({ product_tags: tags, count: tags.length });
      }
      case "POST /admin/product-tags": {
        const { value = "" } = body;
        if ([...this.tags.values()].includes(value))
          return refused(400, "invalid_data", `Product tag with value: ${value}, already exists.`);
        const id = this.#id("ptag");
        this.tags.set(id, value);
        return ok({ product_tag: { id, value } });
      }
      case `POST /admin/products/${productId}`: {
        const reply = this.#setProducts([], [{ ...body, id: productId }]);
        const product = this.products.get(productId);
        return product === undefined ? reply : ok({ product: this.#productJson(product) });
      }
      case `DELETE /admin/products/${productId}`:
        for (const { id } of [...this.variants.values()].filter((each) => each.productId === productId))
          this.variants.delete(id);
        this.products.delete(productId);
        return ok({ id: productId, deleted: true });
      case `DELETE /admin/products/${ofProduct}/variants/${variantId}`:
        this.variants.delete(variantId);
        return ok({ id: variantId, deleted: true });
      case `POST /admin/products/${ofProduct}/variants/${variantId}`: {
        const variant = this.variants.get(variantId);
        if (variant === undefined) return refused(404, "not_found", `Variant with id: ${variantId} not found`);
        const { title = variant.title, prices = variant.prices } = body;
        this.variants.set(variantId, { ...variant, title, prices });
        return ok({ product: { id: ofProduct } });
      }
      case `POST /admin/inventory-items/${itemId}`: {
        const item = this.items.get(itemId);
        if (item === undefined) return refused(404, "not_found", `InventoryItem with id "${itemId}" not found`);
        item.metadata = { ...item.metadata, ...body.metadata };
        return ok({ inventory_item: { id: itemId, metadata: item.metadata } });
      }
      case "POST /admin/reservations": {
        const level = this.levels.get(`${body.inventory_item_id} ${body.location_id}`);
        if (level === undefined) return refused(404, "not_found", "not stocked there");
        level.reserved += body.quantity ?? 0;
        level.updatedAtMs = this.#now();
        return ok({ reservation: { id: this.#id("resitem") } });
      }
      default:
        return null;
    }
  }

  #listed<T>(query: Query, name: string, all: ReadonlyMap<string, T>, show: (value: T, id: string) => object): Reply {
    const ids = idsIn(query);
    const found = ids.length === 0 ? [...all.keys()] : ids.filter((id) => all.has(id));
    const wanted = query.get("order") === "id" ? found.toSorted() : found;
    const [offset, limit] = [Number(query.get("offset") ?? 0), Number(query.get("limit") ?? 50)];
    const rows = [...new Set(wanted)].slice(offset, offset + limit).map((id) => {
      const value = all.get(id);
      assert.ok(value !== undefined);
      return show(value, id);
    });
    return ok({ [name]: rows, count: new Set(wanted).size, offset, limit });
  }

  /** An order, for tests that need one of another day. */
  addOrder(createdAtMs: number, lines: readonly { readonly variantId: string; readonly quantity: number }[]): Order {
    const items = lines.map((line) => ({ ...line, received: 0, dismissed: 0 }));
    const updatedAtMs = this.#now();
    const order: Order = {
      id: this.#id("order"),
      createdAtMs,
      updatedAtMs,
      canceledAtMs: null,
      items,
      fulfillments: [],
    };
    this.orders.set(order.id, order);
    return order;
  }

  changeOrder(id: string, change: (order: Order) => void): void {
    const order = this.orders.get(id) ?? assert.fail(`no order ${id}`);
    change(order);
    order.updatedAtMs = this.#now();
  }

  #ordersSince(query: Query): ReadonlyMap<string, Order> {
    const from = (name: string): number => Date.parse(query.get(`${name}[$gte]`) ?? "1970-01-01");
    const [created, updated] = [from("created_at"), from("updated_at")];
    return new Map([...this.orders].filter(([, one]) => one.createdAtMs >= created && one.updatedAtMs >= updated));
  }

  #variantJson({ id, productId, title, sku, barcode, ean, prices, isManaged, items }: Variant): object {
    const product = this.products.get(productId);
    return {
      id,
      title,
      sku,
      barcode,
      ean,
      upc: null,
      prices: prices.map((price) => ({ min_quantity: null, max_quantity: null, rules: {}, ...price })),
      manage_inventory: isManaged,
      product_id: productId,
      product:
        product === undefined
          ? null
          : { id: productId, status: product.status, title: product.title, thumbnail: product.thumbnail },
      inventory_items: items.map(({ itemId, required }) => ({
        inventory_item_id: itemId,
        required_quantity: required,
        variant_id: id,
        inventory: this.#itemJson(this.items.get(itemId) ?? assert.fail(`no inventory item ${itemId}`)),
      })),
    };
  }

  #itemJson({ id, metadata }: Item): object {
    const levels = [...this.levels.values()].filter((level) => level.itemId === id);
    return { id, metadata, location_levels: levels.map((level) => levelJson(level)) };
  }

  #productJson({ id, title, status, tags }: Product): object {
    const variants = [...this.variants.values()].filter(({ productId }) => productId === id);
    return {
      id,
      title,
      status,
      tags: tags.map((tagId) => ({ id: tagId, value: this.tags.get(tagId) })),
      variants: variants.map((variant) => this.#variantJson(variant)),
    };
  }

  /** All of the creations and all of the updates, or none of either. */
  #setLevels(create: readonly LevelInput[], update: readonly LevelInput[]): Reply {
    for (const { inventory_item_id: itemId, location_id: locationId, ...figures } of [...create, ...update])
      for (const [name, figure] of Object.entries(figures))
        if (typeof figure !== "number" || figure < 0)
          return refused(
            400,
            "invalid_data",
            `Invalid request: Value for field '${name}' too small (${itemId} ${locationId})`,
          );
    for (const { inventory_item_id: itemId, location_id: locationId } of create) {
      if (!this.items.has(itemId))
        return refused(
          404,
          "not_found",
          `You tried to set relationship inventory_item_id: ${itemId}, but such entity does not exist`,
        );
      if (this.levels.has(`${itemId} ${locationId}`))
        return refused(
          400,
          "invalid_data",
          `Inventory level with inventory_item_id: ${itemId}, location_id: ${locationId}, already exists.`,
        );
    }
    for (const { inventory_item_id: itemId, location_id: locationId } of update)
      if (!this.levels.has(`${itemId} ${locationId}`))
        return refused(404, "not_found", `Item ${itemId} is not stocked at location ${locationId}`);
    const atMs = this.#now();
    const created = create.map((entry) => {
      const level: Level = {
        itemId: entry.inventory_item_id,
        // Medusa does not ask whether there is such a location.
        locationId: entry.location_id,
        stocked: entry.stocked_quantity ?? 0,
        reserved: 0,
        incoming: entry.incoming_quantity ?? 0,
        updatedAtMs: atMs,
      };
      this.levels.set(`${level.itemId} ${level.locationId}`, level);
      const { available_quantity: _, ...json } = levelJson(level);
      return json;
    });
    const updated = update.map((entry) => {
      const level = this.levels.get(`${entry.inventory_item_id} ${entry.location_id}`);
      assert.ok(level !== undefined);
      const before = level.stocked - level.reserved;
      const [stocked, incoming] = [entry.stocked_quantity ?? level.stocked, entry.incoming_quantity ?? level.incoming];
      if (stocked !== level.stocked || incoming !== level.incoming) level.updatedAtMs = atMs;
      level.stocked = stocked;
      level.incoming = incoming;
      return this.showsBefore ? { ...levelJson(level), available_quantity: before } : levelJson(level);
    });
    return ok({ created, updated: updated.toReversed() });
  }

  #setProducts(create: readonly ProductInput[], update: readonly ProductInput[]): Reply {
    const missing = update.filter(({ id }) => !this.products.has(id)).map(({ id }) => id);
    if (missing.length > 0)
      return refused(404, "not_found", `Unable to update the products with ids: ${missing.join(", ")}`);
    for (const { tags = [] } of update)
      for (const { id } of tags)
        if (!this.tags.has(id))
          return refused(
            404,
            "not_found",
            `You tried to set relationship product_tag_id: ${id}, but such entity does not exist`,
          );
    for (const entry of update) {
      const product = this.products.get(entry.id);
      assert.ok(product !== undefined);
      product.title = entry.title ?? product.title;
      product.status = entry.status ?? product.status;
      product.thumbnail = entry.thumbnail ?? product.thumbnail;
      product.tags = entry.tags?.map(({ id }) => id) ?? product.tags;
    }
    const made = create.map((entry): Product => {
      const product: Product = {
        id: this.#id("prod"),
        title: entry.title ?? "",
        status: entry.status ?? "draft",
        tags: [],
        thumbnail: null,
      };
      this.products.set(product.id, product);
      for (const variant of entry.variants ?? []) {
        const id = this.#id("variant");
        const isManaged = variant.manage_inventory ?? true;
        const own = isManaged && variant.inventory_items === undefined ? [this.#item()] : [];
        const given = (variant.inventory_items ?? []).map((each) => ({
          itemId: each.inventory_item_id,
          required: each.required_quantity,
        }));
        const items = [...own.map((itemId) => ({ itemId, required: 1 })), ...given];
        this.variants.set(id, {
          id,
          productId: product.id,
          title: variant.title,
          sku: variant.sku ?? null,
          barcode: variant.barcode ?? null,
          ean: variant.ean ?? null,
          prices: variant.prices ?? [],
          isManaged,
          items,
        });
      }
      return product;
    });
    return ok({
      created: made.map((product) => this.#productJson(product)),
      updated: update.flatMap(({ id }) => {
        const product = this.products.get(id);
        return product === undefined ? [] : this.#productJson(product);
      }),
      deleted: { ids: [] },
    });
  }

  #item(): string {
    const id = this.#id("iitem");
    this.items.set(id, { id, metadata: null });
    return id;
  }
}

const timeOf = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

const orderJson = ({ id, createdAtMs, updatedAtMs, canceledAtMs, items, fulfillments }: Order): object => ({
  id,
  created_at: timeOf(createdAtMs),
  updated_at: timeOf(updatedAtMs),
  canceled_at: timeOf(canceledAtMs),
  items: items.map(({ variantId, quantity, received, dismissed }) => ({
    variant_id: variantId,
    quantity,
    detail: { quantity, return_received_quantity: received, return_dismissed_quantity: dismissed },
  })),
  fulfillments: fulfillments.map((each) => ({
    location_id: each.locationId,
    canceled_at: timeOf(each.canceledAtMs),
  })),
});

const levelJson = (level: Level) => ({
  id: `ilev ${level.itemId} ${level.locationId}`,
  inventory_item_id: level.itemId,
  location_id: level.locationId,
  stocked_quantity: level.stocked,
  reserved_quantity: level.reserved,
  incoming_quantity: level.incoming,
  available_quantity: level.stocked - level.reserved,
  updated_at: new Date(level.updatedAtMs).toISOString(),
});
