/**
 * The storefront of a shop on Shopify, over the Admin GraphQL API (C47).
 *
 * Owns: the clients of connected stores, one for each, so that all calls of a store share its rate limit and state.
 * Does not own: what a call does (variants.ts, on-hand.ts, incoming.ts, costs-and-tags.ts), which shop is connected
 * (core/storefront/storefront-config.ts).
 *
 * Keeps F1 to F4 (storefront.ts). Nothing in this folder was run against a live shop: docs/storefronts.md says what
 * that means.
 */
import { RecentMap } from "../../base/recent-map.ts";
import { createHash } from "node:crypto";
import type { ConnectedShop, StorefrontConfig } from "../../core/storefront/storefront-config.ts";
import type { Clock, Ids } from "../../base/time/clock.ts";
import type { Engine, Log } from "../../store/store.ts";
import { noteCallsStatement } from "../../shop/storefront/storefront-calls.ts";
import { type Storefront, type StorefrontCapabilities, StorefrontError } from "../storefront.ts";
import { OpenedStores, storesKeptMax, type OpenedStore } from "../opened-stores.ts";
import { type SecretBox, SecretUnreadable } from "../../base/secret-box.ts";
import { checkMsMax, sendPausing } from "../pause.ts";
import type { StorefrontPull } from "../pull.ts";
import type { StoreFacts, StoreState, StoreToConnect } from "../connections.ts";
import { overStore, StoreCalls } from "../calls.ts";
import { ShopifyClient } from "./client.ts";
import { connectDocument, locationsDocument } from "./documents.ts";
import { ShopifyCostsAndTags } from "./costs-and-tags.ts";
import { ShopifyIncoming } from "./incoming.ts";
import { ShopifyOnHand } from "./on-hand.ts";
import { Pacing } from "./pacing.ts";
import { shopifyPull } from "./pull.ts";
import { subscribe, unsubscribe, type RefusedTopic } from "./subscriptions.ts";
import { askForGrant, fixedToken, RenewingToken, type TokenSource } from "./token.ts";
import { ShopifyVariants } from "./variants.ts";

type ShopifyConfig = Extract<StorefrontConfig, { readonly kind: "shopify" }>;

interface ShopifyOptions {
  /** The shops' engine: what was sent is stored with the shop. */
  readonly engine: Engine;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly secrets: SecretBox;
  /** The address of a store that may be connected. @throws Error when it may not. */
  readonly originOf: (domain: string) => string;
  /** Returns true if the result of a bulk operation may be read at this address. */
  readonly mayDownload: (url: URL) => boolean;
}

const capabilities: StorefrontCapabilities = {
  stockWrite: "delta",
  wholeQuantitiesOnly: true,
  incoming: true,
  activates: "product",
};

type OpenStore = OpenedStore<ShopifyConfig, ShopifyClient>;

export class Shopify {
  readonly #options: ShopifyOptions;
  readonly #opened = new OpenedStores<ShopifyConfig, ShopifyClient>(isSame);
  /** By store, since tokens of one app share the store's limit. */
  readonly #pacings = new RecentMap<Pacing>(storesKeptMax);

  constructor(options: ShopifyOptions) {
    this.#options = options;
  }

  /** The shop's storefront. One whose token cannot be read refuses every call and says why. */
  open(shop: ConnectedShop, config: ShopifyConfig): Storefront {
    return this.#opened.storefrontOf(shop, config, () => this.#openStore(shop, config));
  }

  /** Returns the state of the calls of the shop's store; null when this process has made none. */
  stateOf(shopId: string): StoreState | null {
    return this.#opened.clientOf(shopId)?.state ?? null;
  }

  /** Asks a store who it is and what the token may do there. @throws StorefrontError */
  async check({ domain, accessToken, clientId, clientSecret, apiVersion }: StoreToConnect): Promise<StoreFacts> {
    const { clock, log, originOf } = this.#options;
    const origin = originOf(domain);
    // Also beside a token: whether it can be renewed shows now, not in a day.
    const signal = AbortSignal.timeout(checkMsMax);
    const exchanged =
      clientId === null || clientSecret === null
        ? null
        : await sendPausing("Shopify", signal, () => askForGrant(origin, { clientId, clientSecret }, clock));
    const token = accessToken ?? exchanged?.accessToken;
    if (token === undefined) throw new Error("a store without a token, or a client id and secret");
    const store = { origin, apiVersion, tokens: fixedToken(token) };
    const pacing = this.#pacings.get(domain) ?? new Pacing(clock);
    const client = new ShopifyClient(store, { log, pacing, calls: new StoreCalls(clock) });
    const options = { writes: false, items: 0, signal };
    const { shop, currentAppInstallation } = await client.ask(connectDocument, {}, options);
    const scopes = new Set(currentAppInstallation.accessScopes.map(({ handle }) => handle));
    const nodes = scopes.has("read_locations")
      ? (await client.ask(locationsDocument, {}, options)).locations.nodes
      : [];
    return {
      domain: shop.myshopifyDomain,
      currencyCode: shop.currencyCode,
      scopes,
      locationCount: nodes.filter(({ isActive, isFulfillmentService }) => isActive && !isFulfillmentService).length,
      otherVersion: client.otherVersion,
      grant: accessToken === null ? exchanged : null,
    };
  }

  /**
   * Asks the shop's store to tell of changes at the address, and at its former ones no more.
   *
   * @returns what it refuses to tell of.
   * @throws StorefrontError
   */
  async subscribe(
    shop: ConnectedShop,
    address: string,
    former: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly RefusedTopic[]> {
    const { config, client } = this.#clientOf(shop);
    const seesOrders = config.scopes?.some((scope) => /^(?:read|write)_(?:all_)?orders$/.test(scope)) ?? true;
    return await subscribe(client, address, { former, seesOrders, signal });
  }

  /** Lets the shop's store tell nothing any more at these addresses. @throws StorefrontError */
  async unsubscribe(shop: ConnectedShop, addresses: readonly string[], signal: AbortSignal): Promise<void> {
    await unsubscribe(this.#clientOf(shop).client, addresses, signal);
  }

  /** @throws StorefrontError when it cannot be opened. */
  #clientOf(shop: ConnectedShop): { readonly config: ShopifyConfig; readonly client: ShopifyClient } {
    const { storefront } = shop;
    if (storefront.kind !== "shopify") throw new Error("the shop is on no Shopify store");
    const opened = this.open(shop, storefront);
    const client = this.#opened.clientOf(shop.shopId);
    if (client === null || opened.pull === undefined)
      throw new StorefrontError(
        "auth",
        "the store cannot be opened: its secret cannot be read, or its host is not allowed",
        {
          landed: "no",
        },
      );
    return { config: storefront, client };
  }

  /** With what the store signs its webhooks; null when it is not known, or cannot be read. */
  secretOf({ shopId, storefront }: ConnectedShop): string | null {
    if (storefront.kind !== "shopify" || storefront.clientSecret === undefined) return null;
    try {
      return this.#options.secrets.open(shopId, storefront.clientSecret);
    } catch (error) {
      if (error instanceof SecretUnreadable) return null;
      throw error;
    }
  }

  #tokensOf(shopId: string, config: ShopifyConfig, origin: string): TokenSource {
    const { engine, clock, secrets } = this.#options;
    const accessToken = secrets.open(shopId, config.accessToken);
    const { clientId, clientSecret: sealed, expiresAtMs = null } = config;
    if (clientId === undefined || sealed === undefined) return fixedToken(accessToken);
    const clientSecret = secrets.open(shopId, sealed);
    const first = { accessToken, expiresAtMs };
    return new RenewingToken({
      shopId,
      engine,
      clock,
      secrets,
      origin,
      clientId,
      clientSecret,
      first,
      madeFor: connectionName(config),
    });
  }

  #openStore(shop: ConnectedShop, config: ShopifyConfig): OpenStore {
    const { engine, clock, ids, log, originOf, mayDownload } = this.#options;
    const { shopId, currencyCode } = shop;
    const { domain, apiVersion } = config;
    const origin = originOf(domain);
    const tokens = this.#tokensOf(shopId, config, origin);
    const pacing = this.#pacings.get(domain) ?? new Pacing(clock);
    this.#pacings.set(domain, pacing);
    const calls = new StoreCalls(clock, (state) =>
      engine.write(shopId, (tx) => tx.batch([noteCallsStatement(shopId, domain, state)]), { durable: false }),
    );
    const client = new ShopifyClient({ origin, apiVersion, tokens }, { log, pacing, calls });
    const variants = new ShopifyVariants(client, clock);
    const parts = { shopId, currencyCode, engine, clock, ids, client, variants };
    const onHand = new ShopifyOnHand(parts);
    const incoming = new ShopifyIncoming(parts);
    const costsAndTags = new ShopifyCostsAndTags(parts);
    const storefront: Storefront = {
      capabilities,
      pull: heardBy(variants, shopifyPull({ client, currencyCode, mayDownload })),
      checkVariants: (variantIds, context) => variants.states(variantIds, context?.signal),
      activateVariants: (variantIds, context) => variants.activate(variantIds, context?.signal),
      changeOnHand: (changes, context) =>
        overStore("Shopify", () => variants.noting(changes, () => onHand.change(changes, context))),
      readOnHand: (changes, context) => overStore("Shopify", () => onHand.read(changes, context)),
      setIncoming: (levels, context) =>
        overStore("Shopify", () => variants.noting(levels, () => incoming.set(levels, context))),
      writeCosts: (costs, context) => variants.noting(costs, () => costsAndTags.write(costs, context.signal)),
      readCosts: (variantIds, context) => costsAndTags.read(variantIds, context?.signal),
      setTags: (changes, context) => variants.noting(changes, () => costsAndTags.setTags(changes, context.signal)),
    };
    return { config, currencyCode, client, storefront };
  }
}

/** A pull whose pages are news of the variants that are kept. */
const heardBy = (variants: ShopifyVariants, pull: StorefrontPull): StorefrontPull => ({
  ...pull,
  async page(request, context) {
    const page = await pull.page(request, context);
    variants.heard(page.records);
    return page;
  },
});

/** Names a connection: a renewed token is stored under it. */
export const connectionName = ({ accessToken }: ShopifyConfig): string =>
  createHash("sha256").update(accessToken).digest("hex");

const isSame = (one: ShopifyConfig, other: ShopifyConfig): boolean =>
  one.domain === other.domain &&
  one.accessToken === other.accessToken &&
  one.clientId === other.clientId &&
  one.clientSecret === other.clientSecret &&
  one.apiVersion === other.apiVersion;
