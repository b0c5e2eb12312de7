/**
 * The storefront of a shop on Medusa 2, over its Admin API (C47).
 *
 * Owns: the clients of connected stores, one for each. Does not own: what a call does (variants.ts, on-hand.ts,
 * incoming.ts, costs-and-tags.ts), which shop is connected (core/storefront/storefront-config.ts).
 *
 * Keeps F1 to F4 (storefront.ts), as far as a platform allows that can only be told what stock is to be: levels.ts says
 * what remains.
 */
import { z } from "zod";
import type { ConnectedShop, StorefrontConfig } from "../../core/storefront/storefront-config.ts";
import type { Clock, Ids } from "../../base/time/clock.ts";
import type { Engine } from "../../store/store.ts";
import { noteCallsStatement } from "../../shop/storefront/storefront-calls.ts";
import type { MedusaFacts, NoMedusa, StoreState } from "../connections.ts";
import { OpenedStores, type OpenedStore } from "../opened-stores.ts";
import type { SecretBox } from "../../base/secret-box.ts";
import { checkMsMax } from "../pause.ts";
import type { Storefront, StorefrontCapabilities } from "../storefront.ts";
import { SerialCalls } from "../serial-calls.ts";
import { overStore, StoreCalls } from "../calls.ts";
import { MedusaClient } from "./client.ts";
import { MedusaCostsAndTags } from "./costs-and-tags.ts";
import { MedusaIncoming } from "./incoming.ts";
import { MedusaLevels } from "./levels.ts";
import { MedusaOnHand } from "./on-hand.ts";
import { medusaPull } from "./pull.ts";
import { type MedusaStore, NotMedusa } from "./transport.ts";
import { MedusaVariants } from "./variants.ts";

type MedusaConfig = Extract<StorefrontConfig, { readonly kind: "medusa" }>;

interface MedusaOptions {
  /** The shops' engine: what was sent is stored with the shop. */
  readonly engine: Engine;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly secrets: SecretBox;
  /** @throws HostNotAllowed when a store at this origin may not be connected. */
  readonly allow: (origin: string) => void;
}

const capabilities: StorefrontCapabilities = {
  stockWrite: "absolute",
  wholeQuantitiesOnly: false,
  incoming: true,
  activates: "product",
};

const storesAnswer = z.object({
  stores: z.array(
    z.object({
      name: z.string().nullish(),
      supported_currencies: z.array(z.object({ currency_code: z.string() })).nullish(),
    }),
  ),
});

const countAnswer = z.object({ count: z.number() });

type OpenStore = OpenedStore<MedusaConfig, MedusaClient>;

export class Medusa {
  readonly #options: MedusaOptions;
  readonly #opened = new OpenedStores<MedusaConfig, MedusaClient>(isSame);
  readonly #serialCalls = new SerialCalls();

  constructor(options: MedusaOptions) {
    this.#options = options;
  }

  /** The shop's storefront. One whose key cannot be read refuses every call and says why. */
  open(shop: ConnectedShop, config: MedusaConfig): Storefront {
    return this.#opened.storefrontOf(shop, config, () => this.#openStore(shop, config));
  }

  /** Returns the state of the calls of the shop's store; null when this process has made none. */
  stateOf(shopId: string): StoreState | null {
    return this.#opened.clientOf(shopId)?.state ?? null;
  }

  /** Asks a store what it is. Nothing is written. @throws StorefrontError */
  async check(store: MedusaStore): Promise<MedusaFacts | NoMedusa> {
    try {
      return await this.#facts(store);
    } catch (error) {
      if (error instanceof NotMedusa) return { kind: "other", why: error.message };
      throw error;
    }
  }

  async #facts(store: MedusaStore): Promise<MedusaFacts> {
    const { clock } = this.#options;
    const client = new MedusaClient(store, { clock, calls: new StoreCalls(clock) });
    const options = { signal: AbortSignal.timeout(checkMsMax) };
    const { stores } = await client.ask(
      "/admin/stores?fields=id,name,supported_currencies.currency_code",
      storesAnswer,
      options,
    );
    const { count: locationCount } = await client.ask("/admin/stock-locations?limit=1&fields=id", countAnswer, options);
    // What the adapter reads must be there and may be read.
    await client.ask("/admin/product-variants?limit=1&fields=id", countAnswer, options);
    await client.ask("/admin/inventory-items?limit=1&fields=id", countAnswer, options);
    const currencies = stores.flatMap((each) => each.supported_currencies ?? []);
    const currencyCodes = new Set(currencies.map((each) => each.currency_code.toUpperCase()));
    return { kind: "medusa", currencyCodes, locationCount };
  }

  #openStore(shop: ConnectedShop, config: MedusaConfig): OpenStore {
    const { engine, clock, ids, secrets, allow } = this.#options;
    const { shopId, currencyCode } = shop;
    const secretKey = secrets.open(shopId, config.secretKey);
    allow(config.url);
    const calls = new StoreCalls(clock, (state) =>
      engine.write(shopId, (tx) => tx.batch([noteCallsStatement(shopId, config.url, state)]), { durable: false }),
    );
    const client = new MedusaClient({ origin: config.url, secretKey }, { clock, calls });
    const variants = new MedusaVariants(client);
    const levels = new MedusaLevels(client);
    const parts = {
      shopId,
      currencyCode,
      engine,
      clock,
      ids,
      client,
      variants,
      levels,
      serialCalls: this.#serialCalls,
    };
    const onHand = new MedusaOnHand(parts);
    const incoming = new MedusaIncoming(parts);
    const costsAndTags = new MedusaCostsAndTags(parts);
    const storefront: Storefront = {
      capabilities,
      pull: medusaPull({ client, currencyCode }),
      checkVariants: (variantIds, context) => variants.states(variantIds, context?.signal),
      activateVariants: (variantIds, context) => variants.activate(variantIds, context?.signal),
      changeOnHand: (changes, context) => overStore("Medusa", () => onHand.change(changes, context)),
      readOnHand: (changes, context) => overStore("Medusa", () => onHand.read(changes, context)),
      setIncoming: (levelsWanted, context) => overStore("Medusa", () => incoming.set(levelsWanted, context)),
      writeCosts: (costs, context) => costsAndTags.write(costs, context.signal),
      readCosts: (variantIds, context) => costsAndTags.read(variantIds, context?.signal),
      setTags: (changes, context) => costsAndTags.setTags(changes, context.signal),
    };
    return { config, currencyCode, client, storefront };
  }
}

const isSame = (one: MedusaConfig, other: MedusaConfig): boolean =>
  one.url === other.url && one.secretKey === other.secretKey;
