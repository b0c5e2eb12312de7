/**
 * A Shopify store for tests: a real HTTP server that executes Shopify's own schema (admin-2026-10.graphql) and enforces what the schema does
 * not show, as far as it is documented: idempotency keys and their 24 hours, all or nothing, ledger documents, 250 entries, the bucket of
 * points, scopes, the token. It can be told to lose answers, hang and fail.
 *
 * Not enforced, since nobody here has seen it: what a query really costs, how a cost is rounded, which reasons a store accepts.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import path from "node:path";
import { bulkDocument, bulkFile, filterSince } from "./fake-bulk.ts";
import {
  buildSchema,
  type DocumentNode,
  execute,
  executeSync,
  GraphQLError,
  parse,
  type SelectionNode,
  validate,
} from "graphql";
import { listenOnPort, stopListening } from "../../support/peers/serving.ts";

export const schemaText = readFileSync(path.join(import.meta.dirname, "admin-2026-10.graphql"), "utf8");
const schema = buildSchema(schemaText);

export const fakeToken = "shpat_canary0123456789abcdef01234567";
export const fakeVersion = "2026-10";

const dayMs = 24 * 60 * 60 * 1_000;
const entriesMax = 250;

/** What goes wrong with the next calls of a document. */
interface FakeFault {
  /** The operation's name; absent: any. */
  readonly on?: string;
  /** Text in its body; absent: any. */
  readonly has?: string;
  readonly does:
    | { readonly kind: "status"; readonly status: number; readonly headers?: Readonly<Record<string, string>> }
    /** It is executed and the answer is lost. */
    | { readonly kind: "lost" }
    /** No answer ever comes; nothing is executed. */
    | { readonly kind: "hang" }
    | { readonly kind: "throttled" }
    /** 200, no error, and nothing was done. */
    | { readonly kind: "nothing" }
    | { readonly kind: "body"; readonly body: string }
    /** A coded user error of the whole adjustment. */
    | { readonly kind: "refuse"; readonly code: string }
    /** An error beside the data. */
    | { readonly kind: "error"; readonly code: string };
  readonly times?: number;
}

interface FakeVariant {
  readonly id: string;
  readonly itemId: string;
  readonly productId: string;
  readonly requiresComponents: boolean;
  readonly tracked: boolean;
  readonly title: string;
  readonly sku: string | null;
  readonly barcode: string | null;
  readonly price: string;
  cost: string | null;
  /** Of its inventory item, whose changes are none of the product. */
  itemUpdatedAtMs: number;
}

interface FakeProduct {
  status: string;
  tags: string[];
  title: string;
  imageUrl: string | null;
  updatedAtMs: number;
}

/** An order of a customer. Ids are numbers. */
interface FakeOrder {
  readonly id: string;
  readonly processedAtMs: number;
  updatedAtMs: number;
  cancelled: boolean;
  readonly test: boolean;
  readonly retailLocation: string | null;
  readonly fulfilledFrom: readonly string[];
  readonly lines: { readonly variantId: string; quantity: number }[];
}

interface FakeBulk {
  readonly id: string;
  looksLeft: number;
  status: string;
  errorCode: string | null;
  text: string;
  count: number;
}

/** A request for a result file. */
interface SeenDownload {
  readonly path: string;
  readonly range: string | null;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

interface FakeLevel {
  available: number;
  committed: number;
  incoming: number;
  updatedAtMs: number;
  isActive: boolean;
}

interface KnownKey {
  readonly fingerprint: string;
  readonly atMs: number;
  state: "running" | "done" | "failed";
  group: FakeGroup | null;
}

interface FakeGroup {
  readonly name: string;
  readonly atMs: number;
  readonly document: string | null;
  readonly reason: string;
  readonly changes: readonly { readonly itemId: string; readonly locationId: string; readonly delta: number }[];
}

interface AdjustInput {
  readonly name: string;
  readonly reason: string;
  readonly referenceDocumentUri?: string | null;
  readonly changes: readonly {
    readonly inventoryItemId: string;
    readonly locationId: string;
    readonly delta: number;
    readonly changeFromQuantity?: number | null;
    readonly ledgerDocumentUri?: string | null;
  }[];
}

interface UserError {
  readonly code: string;
  readonly field: readonly string[];
  readonly message: string;
}

/** One request as it arrived. */
interface SeenCall {
  readonly name: string;
  readonly body: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly outcome: string;
}

const reasons: ReadonlySet<string> = new Set([
  "correction",
  "received",
  "movement_created",
  "movement_updated",
  "movement_received",
  "movement_canceled",
  "restock",
  "other",
]);

const tokens = (scopes: readonly string[]): ReadonlySet<string> => new Set(scopes);

const neededScopes: Readonly<Record<string, readonly string[]>> = {
  productUpdate: ["write_products"],
  tagsAdd: ["write_products"],
  tagsRemove: ["write_products"],
  productVariantsBulkUpdate: ["write_products"],
  inventoryAdjustQuantities: ["write_inventory"],
  nodes: ["read_products", "read_inventory"],
  locations: ["read_locations"],
  productVariants: ["read_products"],
  products: ["read_products"],
  inventoryItems: ["read_inventory", "read_products"],
  orders: ["read_orders"],
};

/** Orders that an app without `read_all_orders` sees. */
const recentOrdersMs = 60 * dayMs;

export const allScopes = [
  "read_products",
  "write_products",
  "read_inventory",
  "write_inventory",
  "read_locations",
  "read_orders",
  "read_all_orders",
] as const;

export class FakeShopify {
  /** `127.0.0.1:1234`, once it listens. */
  domain = "";
  scopes: ReadonlySet<string> = tokens(allScopes);
  currency = "USD";
  token = fakeToken;
  versions: readonly string[] = [fakeVersion];
  /** The version that its answers name; null: the one that was asked. */
  servesVersion: string | null = null;
  readonly calls: SeenCall[] = [];
  readonly faults: { fault: FakeFault; left: number }[] = [];
  readonly products = new Map<string, FakeProduct>();
  readonly orders = new Map<string, FakeOrder>();
  readonly deletions: { readonly productId: string; readonly atMs: number }[] = [];
  readonly bulks = new Map<string, FakeBulk>();
  readonly downloads: SeenDownload[] = [];
  /** Looks at a bulk operation before it is done. */
  bulkLooks = 1;
  /** Where result files are said to be; null: here. */
  resultsAt: string | null = null;
  /** Whether parts of result files can be asked for. */
  knowsRanges = true;
  /** Errors of the bulk operations to come, in their order. */
  readonly bulkErrors: string[] = [];
  /** By id. */
  readonly subscriptions = new Map<
    string,
    { readonly topic: string; readonly uri: string; readonly includeFields: readonly string[] }
  >();
  /** Topics that the app is not approved for. */
  readonly topicsRefused = new Set<string>();
  clientId = "client-1";
  clientSecret = "shpss_canary0123456789abcdef";
  /** Tokens that were given for the client's id and secret, and until when they hold. */
  readonly grants: { readonly token: string; readonly untilMs: number }[] = [];
  grantMs = dayMs;
  readonly variants = new Map<string, FakeVariant>();
  readonly locations = new Map<string, { name: string; isActive: boolean; isFulfillmentService: boolean }>();
  readonly levels = new Map<string, FakeLevel>();
  readonly groups: FakeGroup[] = [];
  /** The bucket of points: how much it holds, and how fast it fills. */
  bucket = { maximumAvailable: 100_000, restoreRate: 10_000 };
  /** Points of documents that cost more than their objects. */
  readonly costs = new Map<string, number>();
  /** A hook between the check of an adjustment and its change: what the merchant does meanwhile. */
  meanwhile: (() => void) | null = null;
  #available = Number.POSITIVE_INFINITY;
  #bucketAtMs = 0;
  /** How much later the store's clock is. */
  aheadMs = 0;
  readonly #keys = new Map<string, KnownKey>();
  #subscribed = 0;
  readonly #server: Server;

  constructor() {
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch((error: unknown) => {
        response.writeHead(500).end(String(error));
      });
    });
  }

  async listen(): Promise<this> {
    this.domain = `127.0.0.1:${await listenOnPort(this.#server)}`;
    return this;
  }

  close(): Promise<void> {
    return stopListening(this.#server);
  }

  now(): number {
    return Date.now() + this.aheadMs;
  }

  /** Adds a location. `id` is the number. */
  addLocation(id: string, facts: { isActive?: boolean; isFulfillmentService?: boolean } = {}): void {
    this.locations.set(`gid://shopify/Location/${id}`, {
      name: `Location ${id}`,
      isActive: facts.isActive ?? true,
      isFulfillmentService: facts.isFulfillmentService ?? false,
    });
  }

  /** Adds a variant, and its product if that is new. Ids are numbers; the inventory item's is the variant's with a 9 before it. */
  addVariant(
    id: string,
    facts: {
      productId?: string;
      status?: string;
      tags?: string[];
      requiresComponents?: boolean;
      tracked?: boolean;
      productTitle?: string;
      imageUrl?: string;
      title?: string;
      sku?: string | null;
      barcode?: string | null;
      price?: string;
      cost?: string | null;
    } = {},
  ): void {
    const productId = `gid://shopify/Product/${facts.productId ?? `8${id}`}`;
    if (!this.products.has(productId))
      this.products.set(productId, {
        status: facts.status ?? "ACTIVE",
        tags: facts.tags ?? [],
        title: facts.productTitle ?? `Product ${facts.productId ?? `8${id}`}`,
        imageUrl: facts.imageUrl ?? null,
        updatedAtMs: this.now(),
      });
    this.touchProduct(productId);
    this.variants.set(`gid://shopify/ProductVariant/${id}`, {
      id: `gid://shopify/ProductVariant/${id}`,
      itemId: `gid://shopify/InventoryItem/9${id}`,
      productId,
      requiresComponents: facts.requiresComponents ?? false,
      tracked: facts.tracked ?? true,
      title: facts.title ?? "Default Title",
      sku: facts.sku ?? null,
      barcode: facts.barcode ?? null,
      price: facts.price ?? "10.00",
      cost: facts.cost ?? null,
      itemUpdatedAtMs: this.now(),
    });
  }

  /** Sets a unit cost, as the merchant does. */
  setCost(variantId: string, cost: string | null): void {
    const variant = this.variants.get(`gid://shopify/ProductVariant/${variantId}`) ?? assert.fail(variantId);
    variant.cost = cost;
    variant.itemUpdatedAtMs = this.now();
  }

  /** NaN without one. */
  costOf(variantId: string): number {
    return Number(this.variants.get(`gid://shopify/ProductVariant/${variantId}`)?.cost ?? NaN);
  }

  /** The variant is not stocked at the location any more. */
  deactivateLevel(variantId: string, locationId: string): void {
    const level = this.levelOf(variantId, locationId);
    level.isActive = false;
    level.available = 0;
    level.updatedAtMs = this.now();
  }

  touchProduct(gid: string): void {
    const product = this.products.get(gid);
    if (product !== undefined) product.updatedAtMs = this.now();
  }

  deleteVariant(id: string): void {
    const gid = `gid://shopify/ProductVariant/${id}`;
    this.touchProduct(this.variants.get(gid)?.productId ?? "");
    this.variants.delete(gid);
  }

  deleteProduct(id: string): void {
    const productId = `gid://shopify/Product/${id}`;
    this.products.delete(productId);
    for (const [gid, variant] of this.variants) if (variant.productId === productId) this.variants.delete(gid);
    this.deletions.push({ productId, atMs: this.now() });
  }

  /** Sets what is on hand, as the merchant or a sale does. */
  setLevel(variantId: string, locationId: string, available: number): void {
    const level = this.levelOf(variantId, locationId);
    level.available = available;
    level.updatedAtMs = this.now();
  }

  addOrder(id: string, facts: Partial<Omit<FakeOrder, "id">> & Pick<FakeOrder, "processedAtMs" | "lines">): FakeOrder {
    const order: FakeOrder = {
      id,
      updatedAtMs: facts.processedAtMs,
      cancelled: false,
      test: false,
      retailLocation: null,
      fulfilledFrom: [],
      ...facts,
    };
    this.orders.set(id, order);
    return order;
  }

  levelOf(variantId: string, locationId: string): FakeLevel {
    return this.#level(`gid://shopify/InventoryItem/9${variantId}`, `gid://shopify/Location/${locationId}`);
  }

  #level(itemId: string, locationId: string): FakeLevel {
    const name = `${itemId} ${locationId}`;
    const level = this.levels.get(name) ?? { available: 0, committed: 0, incoming: 0, updatedAtMs: 0, isActive: true };
    this.levels.set(name, level);
    return level;
  }

  productOf(variantId: string): FakeProduct {
    const variant = this.variants.get(`gid://shopify/ProductVariant/${variantId}`);
    return this.products.get(variant?.productId ?? "") ?? assert.fail(`no variant ${variantId}`);
  }

  strike(does: FakeFault["does"], on?: string, times = 1, has = ""): void {
    this.faults.push({ fault: { does, has, ...(on === undefined ? {} : { on }) }, left: times });
  }

  callsOf(name: string): readonly SeenCall[] {
    return this.calls.filter((call) => call.name === name);
  }

  /** Takes the bucket's points away, so that the next calls are throttled. */
  drain(): void {
    this.#available = 0;
    this.#bucketAtMs = Date.now();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) {
      assert.ok(piece instanceof Buffer);
      pieces.push(piece);
    }
    if (request.url?.startsWith("/results/") === true) return this.#serveResult(request, response);
    if (request.url === "/admin/oauth/access_token") return this.#grant(Buffer.concat(pieces), response);
    const [, version] = /^\/admin\/api\/([^/]+)\/graphql\.json$/.exec(request.url ?? "") ?? [];
    if (version === undefined || !this.versions.includes(version)) return void response.writeHead(404).end("{}");
    if (!this.#holds(request.headers["x-shopify-access-token"]))
      return void response.writeHead(401).end('{"errors":"[API] Invalid API key or access token"}');
    const body = Buffer.concat(pieces).toString("utf8");
    const asked: { query: string; variables: Record<string, unknown>; operationName: string } = JSON.parse(body);
    const name = asked.operationName;
    const seen = (outcome: string): void => {
      this.calls.push({ name, body, variables: asked.variables, outcome });
    };
    const answer = (json: object): void => {
      response
        .writeHead(200, {
          "content-type": "application/json",
          "x-shopify-api-version": this.servesVersion ?? version,
        })
        .end(JSON.stringify(json));
    };
    const struck = this.faults.find(
      ({ fault, left }) => left > 0 && (fault.on === undefined || fault.on === name) && body.includes(fault.has ?? ""),
    );
    if (struck !== undefined) struck.left -= 1;
    const does = struck?.fault.does;
    switch (does?.kind) {
      case "status":
        seen(String(does.status));
        return void response.writeHead(does.status, does.headers).end("{}");
      case "hang":
        seen("hang");
        return;
      case "body":
        seen("body");
        return void response.writeHead(200, { "content-type": "application/json" }).end(does.body);
      case "error":
        seen(does.code);
        return answer({ data: null, errors: [{ message: does.code, extensions: { code: does.code } }] });
      case "nothing":
        seen("nothing");
        return answer({ data: { inventoryAdjustQuantities: { inventoryAdjustmentGroup: null, userErrors: [] } } });
      case "refuse":
        seen(does.code);
        return answer({
          data: {
            inventoryAdjustQuantities: {
              inventoryAdjustmentGroup: null,
              userErrors: [{ code: does.code, field: ["input"], message: does.code }],
            },
          },
        });
      case "lost":
      case "throttled":
      case undefined:
    }
    const document = parse(asked.query);
    const requestedQueryCost = this.costs.get(name) ?? costOf(document, asked.variables);
    const isThrottled = does?.kind === "throttled" || !this.#takePoints(requestedQueryCost);
    const cost = {
      requestedQueryCost,
      actualQueryCost: isThrottled ? null : requestedQueryCost,
      throttleStatus: { ...this.bucket, currentlyAvailable: Math.floor(this.#points()) },
    };
    if (isThrottled) {
      seen("throttled");
      return answer({ errors: [{ message: "Throttled", extensions: { code: "THROTTLED" } }], extensions: { cost } });
    }
    const result = await this.#execute(document, asked.variables);
    seen("done");
    if (does?.kind === "lost") return void request.socket.destroy();
    answer({ ...result, extensions: { cost } });
  }

  #holds(token: string | readonly string[] | undefined): boolean {
    return token === this.token || this.grants.some((grant) => grant.token === token && grant.untilMs > this.now());
  }

  /** A token for the client's id and secret. */
  #grant(body: Buffer, response: ServerResponse): void {
    const form = new URLSearchParams(body.toString("utf8"));
    const struck = this.faults.find(({ fault, left }) => left > 0 && fault.on === "grant");
    if (struck?.fault.does.kind === "status") {
      struck.left -= 1;
      return void response.writeHead(struck.fault.does.status, struck.fault.does.headers).end("{}");
    }
    if (
      form.get("grant_type") !== "client_credentials" ||
      form.get("client_id") !== this.clientId ||
      form.get("client_secret") !== this.clientSecret
    )
      return void response.writeHead(400).end('{"error":"application_cannot_be_found"}');
    const token = `shpat_grant${this.grants.length + 1}_canary0123456789`;
    this.grants.push({ token, untilMs: this.now() + this.grantMs });
    response.writeHead(200, { "content-type": "application/json" }).end(
      JSON.stringify({
        access_token: token,
        scope: [...this.scopes].join(","),
        expires_in: Math.floor(this.grantMs / 1_000) - 1,
      }),
    );
  }

  /** A result file, or the range of it that is asked for. */
  #serveResult(request: IncomingMessage, response: ServerResponse): void {
    const range = request.headers.range ?? null;
    this.downloads.push({ path: request.url ?? "", range, headers: request.headers });
    const bulk = this.bulks.get(`gid://shopify/BulkOperation/${request.url?.slice("/results/".length) ?? ""}`);
    if (bulk === undefined) return void response.writeHead(404).end();
    const bytes = Buffer.from(bulk.text);
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(range ?? "") ?? [];
    if (from === undefined || to === undefined || !this.knowsRanges) return void response.writeHead(200).end(bytes);
    if (Number(from) >= bytes.byteLength) return void response.writeHead(416).end();
    response.writeHead(206).end(bytes.subarray(Number(from), Number(to) + 1));
  }

  #runBulk(query: string, grouped: boolean): object {
    const refusal = (code: string, message: string) => ({
      bulkOperation: null,
      userErrors: [{ code, field: ["query"], message }],
    });
    const document = bulkDocument(query);
    if (typeof document === "string") return refusal("INVALID", document);
    const wrong = validate(schema, document);
    if (wrong.length > 0) return refusal("INVALID", wrong.map(({ message }) => message).join("; "));
    if ([...this.bulks.values()].filter(({ status }) => status === "RUNNING").length >= 5)
      return refusal("LIMIT_REACHED", "too many bulk operations");
    const id = `gid://shopify/BulkOperation/${this.bulks.size + 1}`;
    const error = this.bulkErrors.shift() ?? null;
    const bulk = { id, looksLeft: this.bulkLooks, status: "RUNNING", errorCode: error, text: "", count: 0 };
    this.bulks.set(id, bulk);
    const field = rootFields(document)[0]?.name?.value ?? "";
    if ((neededScopes[field] ?? []).some((scope) => !this.scopes.has(scope))) bulk.errorCode = "ACCESS_DENIED";
    const { data } = executeSync({ schema, document, rootValue: this.#root(null) });
    Object.assign(bulk, bulkFile(data ?? {}, grouped));
    return { bulkOperation: this.#shownBulk(bulk), userErrors: [] };
  }

  #shownBulk(bulk: FakeBulk): object {
    const address = `${this.resultsAt ?? `http://${this.domain}`}/results/${bulk.id.slice(bulk.id.lastIndexOf("/") + 1)}`;
    const isDone = bulk.status === "COMPLETED";
    return {
      ...bulk,
      __typename: "BulkOperation",
      objectCount: String(isDone ? bulk.count : 0),
      fileSize: isDone ? String(Buffer.byteLength(bulk.text)) : null,
      url: isDone && bulk.count > 0 ? address : null,
    };
  }

  #lookAtBulk(id: string): object | null {
    const bulk = this.bulks.get(id);
    if (bulk === undefined) return null;
    if (bulk.looksLeft > 0) bulk.looksLeft -= 1;
    else if (bulk.status === "RUNNING") bulk.status = bulk.errorCode === null ? "COMPLETED" : "FAILED";
    return this.#shownBulk(bulk);
  }

  #points(): number {
    const elapsedMs = Date.now() - this.#bucketAtMs;
    return Math.min(this.bucket.maximumAvailable, this.#available + (elapsedMs / 1_000) * this.bucket.restoreRate);
  }

  #takePoints(points: number): boolean {
    const holds = this.#points();
    if (holds < points) return false;
    this.#available = holds - points;
    this.#bucketAtMs = Date.now();
    return true;
  }

  async #execute(document: DocumentNode, variables: Record<string, unknown>): Promise<object> {
    const wrong = validate(schema, document);
    if (wrong.length > 0)
      return { errors: wrong.map(({ message }) => ({ message, extensions: { code: "undefinedField" } })) };
    const fields = rootFields(document);
    for (const field of fields) {
      const missing = (neededScopes[field.name?.value ?? ""] ?? []).filter((scope) => !this.scopes.has(scope));
      if (missing.length > 0)
        return refused(
          "ACCESS_DENIED",
          `Access denied for ${field.name?.value ?? ""} field. Required access: ${missing.join(", ")}`,
        );
      const runtime = this.#runtimeRule(field, variables);
      if (runtime !== null) return runtime;
    }
    const key = keyIn(fields[0], variables);
    const { data, errors } = await execute({
      schema,
      document,
      rootValue: this.#root(key),
      variableValues: variables,
    });
    return errors === undefined
      ? { data }
      : {
          data,
          errors: errors.map(({ message, extensions }) => ({
            message,
            extensions: { code: "INVALID_VARIABLE", ...extensions },
          })),
        };
  }

  /** What the schema does not show. */
  #runtimeRule(field: SelectionNode, variables: Record<string, unknown>): object | null {
    for (const value of listsIn(variables))
      if (value.length > entriesMax)
        return refused(
          "MAX_INPUT_SIZE_EXCEEDED",
          `The input array size of ${value.length} is greater than the maximum allowed of ${entriesMax}.`,
        );
    if (field.name?.value !== "inventoryAdjustQuantities") return null;
    if (field.directives?.some(({ name }) => name.value === "idempotent") !== true)
      return refused("BAD_REQUEST", "The @idempotent directive is required for this mutation but was not provided.");
    const key = keyIn(field, variables);
    if (key === null || key.trim() === "") return refused("BAD_REQUEST", "The idempotency key must not be blank.");
    const input = adjustInputIn(variables);
    if (input.changes.some((change) => !Object.hasOwn(change, "changeFromQuantity")))
      return refused("INVALID_FIELD_ARGUMENTS", "changeFromQuantity is required (it may be null).");
    return null;
  }

  #root(key: string | null): object {
    const locationOf = (id: string): object | null => {
      const location = this.locations.get(id);
      return location === undefined
        ? null
        : {
            __typename: "Location",
            id,
            shipsInventory: true,
            fulfillsOnlineOrders: true,
            ...location,
            inventoryLevels: ({
              query,
              includeInactive = false,
            }: {
              readonly query?: string | null;
              readonly includeInactive?: boolean | null;
            }) => ({
              edges: [...this.levels]
                .filter(
                  ([name, level]) =>
                    name.endsWith(` ${id}`) &&
                    (level.isActive || includeInactive === true) &&
                    level.updatedAtMs >= filterSince(query, "updated_at"),
                )
                .flatMap(([name]) => {
                  const variant = [...this.variants.values()].find(({ itemId }) => name === `${itemId} ${id}`);
                  return variant === undefined ? [] : [{ node: levelAt(variant, id) }];
                }),
            }),
          };
    };
    const levelAt = (variant: FakeVariant, locationId: string): object => {
      const level = this.#level(variant.itemId, locationId);
      return {
        __typename: "InventoryLevel",
        id: `gid://shopify/InventoryLevel/${variant.itemId.slice(variant.itemId.lastIndexOf("/") + 1)}?location=${locationId}`,
        isActive: level.isActive,
        item: () => itemOf(variant),
        location: () => locationOf(locationId),
        updatedAt: new Date(level.updatedAtMs).toISOString(),
        quantities: ({ names }: { readonly names: readonly string[] }) =>
          names.map((name) => ({
            id: `gid://shopify/InventoryQuantity/${name}`,
            name,
            quantity: quantityNamed(level, name),
            updatedAt: level.updatedAtMs === 0 ? null : new Date(level.updatedAtMs).toISOString(),
          })),
      };
    };
    const itemOf = (variant: FakeVariant): object => ({
      __typename: "InventoryItem",
      id: variant.itemId,
      sku: null,
      tracked: variant.tracked,
      variant: () => variantOf(variant),
      unitCost: variant.cost === null ? null : { amount: variant.cost, currencyCode: this.currency },
      inventoryLevel: ({ locationId }: { readonly locationId: string }) => {
        if (!this.locations.has(locationId)) return null;
        return levelAt(variant, locationId);
      },
    });
    const productOf = (id: string): object | null => {
      const product = this.products.get(id);
      return product === undefined
        ? null
        : {
            __typename: "Product",
            id,
            status: product.status,
            title: product.title,
            featuredMedia:
              product.imageUrl === null
                ? null
                : { __typename: "MediaImage", preview: { image: { url: product.imageUrl } } },
            tags: product.tags,
            updatedAt: new Date(product.updatedAtMs).toISOString(),
            variants: () => ({
              edges: [...this.variants.values()]
                .filter(({ productId }) => productId === id)
                .map((variant) => ({ node: variantOf(variant) })),
            }),
          };
    };
    const variantOf = (variant: FakeVariant): object => ({
      __typename: "ProductVariant",
      id: variant.id,
      title: variant.title,
      sku: variant.sku,
      barcode: variant.barcode,
      price: variant.price,
      displayName: variant.id,
      requiresComponents: variant.requiresComponents,
      product: () => productOf(variant.productId),
      inventoryItem: () => itemOf(variant),
    });
    const orderOf = (order: FakeOrder): object => ({
      __typename: "Order",
      id: `gid://shopify/Order/${order.id}`,
      processedAt: new Date(order.processedAtMs).toISOString(),
      cancelledAt: order.cancelled ? new Date(order.updatedAtMs).toISOString() : null,
      test: order.test,
      retailLocation: () =>
        order.retailLocation === null ? null : locationOf(`gid://shopify/Location/${order.retailLocation}`),
      fulfillments: () =>
        order.fulfilledFrom.map((from, index) => ({
          __typename: "Fulfillment",
          id: `gid://shopify/Fulfillment/${order.id}${index}`,
          location: locationOf(`gid://shopify/Location/${from}`),
        })),
      lineItems: () => ({
        edges: order.lines.map(({ variantId, quantity }, index) => {
          const variant = this.variants.get(`gid://shopify/ProductVariant/${variantId}`);
          return {
            node: {
              __typename: "LineItem",
              id: `gid://shopify/LineItem/${order.id}${index}`,
              currentQuantity: quantity,
              variant: variant === undefined ? null : variantOf(variant),
            },
          };
        }),
      }),
    });
    const nodeOf = (id: string): object | null => {
      const variant = this.variants.get(id);
      if (variant !== undefined) return variantOf(variant);
      const item = [...this.variants.values()].find(({ itemId }) => itemId === id);
      return item === undefined ? (productOf(id) ?? locationOf(id)) : itemOf(item);
    };
    return {
      shop: { id: "gid://shopify/Shop/1", currencyCode: this.currency, myshopifyDomain: this.domain },
      currentAppInstallation: {
        id: "gid://shopify/AppInstallation/1",
        accessScopes: [...this.scopes].map((handle) => ({ handle })),
      },
      locations: () => ({
        nodes: [...this.locations.keys()].map(locationOf),
        edges: [...this.locations.keys()].map((id) => ({ node: locationOf(id) })),
        pageInfo: { hasNextPage: false, endCursor: null },
      }),
      nodes: ({ ids }: { readonly ids: readonly string[] }) => ids.map(nodeOf),
      productVariants: () => ({ edges: [...this.variants.values()].map((variant) => ({ node: variantOf(variant) })) }),
      inventoryItems: ({ query }: { readonly query?: string | null }) => ({
        edges: [...this.variants.values()]
          .filter(({ itemUpdatedAtMs }) => itemUpdatedAtMs >= filterSince(query, "updated_at"))
          .map((variant) => ({ node: itemOf(variant) })),
      }),
      products: ({ query }: { readonly query?: string | null }) => ({
        edges: [...this.products]
          .filter(([, { updatedAtMs }]) => updatedAtMs >= filterSince(query, "updated_at"))
          .map(([id]) => ({ node: productOf(id) })),
      }),
      orders: ({ query }: { readonly query?: string | null }) => ({
        edges: [...this.orders.values()]
          .filter(
            ({ processedAtMs, updatedAtMs }) =>
              updatedAtMs >= filterSince(query, "updated_at") &&
              processedAtMs >= filterSince(query, "processed_at") &&
              (this.scopes.has("read_all_orders") || processedAtMs >= this.now() - recentOrdersMs),
          )
          .map((order) => ({ node: orderOf(order) })),
      }),
      deletionEvents: ({ query }: { readonly query?: string | null }) => ({
        nodes: this.deletions
          .filter(({ atMs }) => atMs >= filterSince(query, "occurred_at"))
          .map(({ productId }) => ({ subjectId: productId })),
        pageInfo: { hasNextPage: false, endCursor: null },
      }),
      bulkOperationRunQuery: ({ query, groupObjects }: { readonly query: string; readonly groupObjects: boolean }) =>
        this.#runBulk(query, groupObjects),
      bulkOperation: ({ id }: { readonly id: string }) => this.#lookAtBulk(id),
      webhookSubscriptions: ({ uri }: { readonly uri?: string | null }) => ({
        nodes: [...this.subscriptions]
          .filter(([, each]) => uri === undefined || uri === null || each.uri === uri)
          .map(([id, each]) => ({ __typename: "WebhookSubscription", id, ...each })),
      }),
      webhookSubscriptionCreate: ({
        topic,
        webhookSubscription: { uri, includeFields },
      }: {
        readonly topic: string;
        readonly webhookSubscription: { readonly uri: string; readonly includeFields?: readonly string[] };
      }) => {
        const refusal = (field: string, message: string) => ({
          webhookSubscription: null,
          userErrors: [{ field: ["webhookSubscription", field], message }],
        });
        if (!uri.startsWith("https://")) return refusal("callbackUrl", "Address protocol http:// is not supported");
        if (this.topicsRefused.has(topic))
          return refusal(
            "topic",
            "This app is not approved to subscribe to webhook topics containing protected customer data.",
          );
        if (topic.startsWith("ORDERS_") && !this.scopes.has("read_orders"))
          return refusal("topic", `You do not have permission to create or update webhooks with ${topic} topic`);
        if ([...this.subscriptions.values()].some((each) => each.topic === topic && each.uri === uri))
          return refusal("callbackUrl", "Address for this topic has already been taken");
        const id = `gid://shopify/WebhookSubscription/${(this.#subscribed += 1)}`;
        this.subscriptions.set(id, { topic, uri, includeFields: includeFields ?? [] });
        return { webhookSubscription: { __typename: "WebhookSubscription", id, topic }, userErrors: [] };
      },
      webhookSubscriptionDelete: ({ id }: { readonly id: string }) =>
        this.subscriptions.delete(id)
          ? { deletedWebhookSubscriptionId: id, userErrors: [] }
          : { deletedWebhookSubscriptionId: null, userErrors: [{ field: ["id"], message: "does not exist" }] },
      productUpdate: ({
        product: { id, status },
      }: {
        readonly product: { readonly id: string; readonly status: string };
      }) => {
        const product = this.products.get(id);
        if (product === undefined)
          return { product: null, userErrors: [{ field: ["product", "id"], message: "Product does not exist" }] };
        product.status = status;
        return { product: productOf(id), userErrors: [] };
      },
      tagsAdd: ({ id, tags }: { readonly id: string; readonly tags: readonly string[] }) => {
        const product = this.products.get(id);
        if (product === undefined)
          return { node: null, userErrors: [{ field: ["id"], message: "Product does not exist" }] };
        product.tags = [...new Set([...product.tags, ...tags])].toSorted();
        return { node: productOf(id), userErrors: [] };
      },
      tagsRemove: ({ id, tags }: { readonly id: string; readonly tags: readonly string[] }) => {
        const product = this.products.get(id);
        if (product === undefined)
          return { node: null, userErrors: [{ field: ["id"], message: "Product does not exist" }] };
        product.tags = product.tags.filter((tag) => !tags.includes(tag));
        return { node: productOf(id), userErrors: [] };
      },
      productVariantsBulkUpdate: ({
        productId,
        variants,
      }: {
        readonly productId: string;
        readonly variants: readonly { readonly id: string; readonly inventoryItem: { readonly cost: string } }[];
      }) => {
        const userErrors: UserError[] = [];
        const updated = variants.flatMap(({ id, inventoryItem }, index) => {
          const variant = this.variants.get(id);
          if (variant === undefined || variant.productId !== productId) {
            const code = "PRODUCT_VARIANT_DOES_NOT_EXIST";
            userErrors.push({
              code,
              field: ["variants", String(index), "id"],
              message: "Product variant does not exist",
            });
            return [];
          }
          variant.cost = inventoryItem.cost;
          variant.itemUpdatedAtMs = this.now();
          return [variantOf(variant)];
        });
        return { productVariants: updated, userErrors };
      },
      inventoryAdjustQuantities: ({ input }: { readonly input: AdjustInput }) => this.#adjust(input, key ?? ""),
      inventorySetQuantities: () => assert.fail("an absolute quantity was set"),
    };
  }

  /** Under the key: once, for 24 hours, and only with the same input. */
  #adjust(input: AdjustInput, key: string): object {
    const fingerprint = JSON.stringify(input);
    const refusal = (code: string) => ({
      inventoryAdjustmentGroup: null,
      userErrors: [{ code, field: ["input"], message: code }],
    });
    const known = this.#keys.get(key);
    if (known !== undefined && this.now() - known.atMs < dayMs) {
      if (known.fingerprint !== fingerprint) return refusal("IDEMPOTENCY_KEY_PARAMETER_MISMATCH");
      if (known.state === "running") return refusal("IDEMPOTENCY_CONCURRENT_REQUEST");
      if (known.state === "failed" || known.group === null) return refusal("IDEMPOTENCY_PREVIOUS_ATTEMPT_FAILED");
      return this.#shown(known.group);
    }
    const made: KnownKey = { fingerprint, atMs: this.now(), state: "running", group: null };
    this.#keys.set(key, made);
    const userErrors = this.#faultsIn(input);
    if (userErrors.length > 0) {
      made.state = "failed";
      return { inventoryAdjustmentGroup: null, userErrors };
    }
    this.meanwhile?.();
    this.meanwhile = null;
    for (const { inventoryItemId, locationId, delta } of input.changes) {
      const level = this.#level(inventoryItemId, locationId);
      if (input.name === "incoming") level.incoming += delta;
      else level.available += delta;
      level.updatedAtMs = this.now();
    }
    made.group = {
      name: input.name,
      atMs: this.now(),
      document: input.referenceDocumentUri ?? null,
      reason: input.reason,
      changes: input.changes.map(({ inventoryItemId: itemId, locationId, delta }) => ({ itemId, locationId, delta })),
    };
    made.state = "done";
    this.groups.push(made.group);
    return this.#shown(made.group);
  }

  /** As it is now, not as it was: a replay is built anew. */
  #shown(group: FakeGroup): object {
    return {
      inventoryAdjustmentGroup: {
        id: "gid://shopify/InventoryAdjustmentGroup/1",
        createdAt: new Date(group.atMs).toISOString(),
        reason: group.reason,
        referenceDocumentUri: group.document,
        changes: group.changes.map(({ itemId, locationId, delta }) => ({
          name: group.name,
          delta,
          quantityAfterChange: quantityNamed(this.#level(itemId, locationId), group.name),
          ledgerDocumentUri: null,
          item: { id: itemId },
          location: { id: locationId, ...this.locations.get(locationId) },
        })),
      },
      userErrors: [],
    };
  }

  #faultsIn({ name, reason, changes }: AdjustInput): readonly UserError[] {
    const whole = (code: string): readonly UserError[] => [{ code, field: ["input"], message: code }];
    if (name !== "available" && name !== "incoming") return whole("INVALID_QUANTITY_NAME");
    if (!reasons.has(reason)) return whole("INVALID_REASON");
    if (new Set(changes.map(({ ledgerDocumentUri }) => ledgerDocumentUri ?? null)).size > 1)
      return whole("MAX_ONE_LEDGER_DOCUMENT");
    return changes.flatMap(({ inventoryItemId, locationId, delta, ledgerDocumentUri }, index): readonly UserError[] => {
      const error = (code: string, member: string, message: string): readonly UserError[] => [
        { code, field: ["input", "changes", String(index), member], message },
      ];
      if (name === "available" && (ledgerDocumentUri ?? null) !== null)
        return error("INVALID_AVAILABLE_DOCUMENT", "ledgerDocumentUri", "must not be there");
      if (name === "incoming" && (ledgerDocumentUri ?? null) === null)
        return error("INVALID_QUANTITY_DOCUMENT", "ledgerDocumentUri", "must be there");
      if (ledgerDocumentUri?.startsWith("gid://shopify") === true)
        return error("INTERNAL_LEDGER_DOCUMENT", "ledgerDocumentUri", "is Shopify's own");
      const variant = [...this.variants.values()].find(({ itemId }) => itemId === inventoryItemId);
      if (variant === undefined)
        return error("INVALID_INVENTORY_ITEM", "inventoryItemId", "The specified inventory item could not be found.");
      if (!variant.tracked || variant.requiresComponents)
        return error("NON_MUTABLE_INVENTORY_ITEM", "inventoryItemId", "The item's quantity is made of its components.");
      if (this.locations.get(locationId)?.isActive !== true)
        return error("INVALID_LOCATION", "locationId", "The specified location could not be found.");
      if (Math.abs(delta) > 2_000_000_000) return error("INVALID_QUANTITY_TOO_HIGH", "delta", "is too high");
      return [];
    });
  }
}

const refused = (code: string, message: string): object => ({
  data: null,
  errors: [{ message, extensions: { code } }],
});

function quantityNamed(level: FakeLevel, name: string): number {
  switch (name) {
    case "available":
      return level.available;
    case "incoming":
      return level.incoming;
    case "committed":
      return level.committed;
    case "on_hand":
      return level.available + level.committed;
    default:
      throw new GraphQLError(`unknown quantity ${name}`, { extensions: { code: "INVALID_FIELD_ARGUMENTS" } });
  }
}

const rootFields = (document: DocumentNode): readonly SelectionNode[] =>
  document.definitions.flatMap(({ selectionSet }) => selectionSet?.selections ?? []);

function keyIn(field: SelectionNode | undefined, variables: Record<string, unknown>): string | null {
  const directive = field?.directives?.find(({ name }) => name.value === "idempotent");
  const value = directive?.arguments?.[0]?.value;
  const key = value?.kind === "Variable" ? variables[value.name?.value ?? ""] : value?.value;
  return typeof key === "string" ? key : null;
}

function adjustInputIn(variables: Record<string, unknown>): AdjustInput {
  const { input }: { input?: AdjustInput } = JSON.parse(JSON.stringify(variables));
  return input ?? assert.fail("an adjustment without input");
}

/** Every list in the variables. */
function listsIn(value: unknown): readonly (readonly unknown[])[] {
  if (Array.isArray(value)) return [value, ...value.flatMap(listsIn)];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(listsIn) : [];
}

/** Points of a document: 10 a mutation, 1 an object, for each of the ids that it names. */
function costOf(document: DocumentNode, variables: Record<string, unknown>): number {
  const objects = (selections: readonly SelectionNode[]): number =>
    selections.reduce(
      (sum, each) =>
        sum +
        (each.selectionSet === undefined
          ? 0
          : (each.kind === "InlineFragment" ? 0 : 1) + objects(each.selectionSet.selections)),
      0,
    );
  const [definition] = document.definitions;
  if (definition?.operation === "mutation") return 10;
  const { ids } = variables;
  return objects(rootFields(document)) * (Array.isArray(ids) ? ids.length : 1);
}
