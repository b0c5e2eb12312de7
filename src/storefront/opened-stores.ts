/** The connected stores of one platform that this process has opened, one for each shop. */
import type { ConnectedShop } from "../core/storefront/storefront-config.ts";
import { HostNotAllowed } from "./hosts.ts";
import { RecentMap } from "../base/recent-map.ts";
import { SecretUnreadable } from "../base/secret-box.ts";
import { type Storefront, unusableStorefront } from "./storefront.ts";

/** Stores whose clients are kept; the one opened longest ago goes first. */
export const storesKeptMax = 2_000;

/** State that an adapter keeps of a store. */
export interface OpenedStore<Config, Client> {
  readonly config: Config;
  readonly currencyCode: string;
  readonly client: Client;
  readonly storefront: Storefront;
}

export class OpenedStores<Config, Client> {
  readonly #isSame: (one: Config, other: Config) => boolean;
  readonly #stores = new RecentMap<OpenedStore<Config, Client>>(storesKeptMax);

  /** @param isSame  whether two configurations are of one store, reached in the same way. */
  constructor(isSame: (one: Config, other: Config) => boolean) {
    this.#isSame = isSame;
  }

  /**
   * The shop's storefront, made anew when its configuration has changed. One whose secret cannot be read refuses every
   * call and says why.
   */
  storefrontOf(
    { shopId, currencyCode }: ConnectedShop,
    config: Config,
    open: () => OpenedStore<Config, Client>,
  ): Storefront {
    const known = this.#stores.get(shopId);
    if (known !== undefined && known.currencyCode === currencyCode && this.#isSame(known.config, config))
      return known.storefront;
    let opened: OpenedStore<Config, Client>;
    try {
      opened = open();
    } catch (error) {
      if (error instanceof SecretUnreadable || error instanceof HostNotAllowed)
        return unusableStorefront(error.message);
      throw error;
    }
    this.#stores.set(shopId, opened);
    return opened.storefront;
  }

  /** The client of the shop's store; null when this process has opened none. */
  clientOf(shopId: string): Client | null {
    return this.#stores.get(shopId)?.client ?? null;
  }
}
