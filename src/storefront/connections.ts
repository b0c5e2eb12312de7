/**
 * The operator's side of storefronts (C65, C67): what connecting a shop needs of the adapters, whatever the platform.
 */
import type { ConnectedShop } from "../core/storefront/storefront-config.ts";
import { type Storefront, StorefrontError, unusableStorefront } from "./storefront.ts";

/** A store of Shopify as somebody wants to connect it. */
export interface StoreToConnect {
  /** `host[:port]` */
  readonly domain: string;
  /** Null: one is exchanged for the client id and secret. */
  readonly accessToken: string | null;
  readonly clientId: string | null;
  readonly clientSecret: string | null;
  readonly apiVersion: string;
}

/** Facts that a store states about itself and the token. */
export interface StoreFacts {
  /** The store's own name for itself. */
  readonly domain: string;
  readonly currencyCode: string;
  readonly scopes: ReadonlySet<string>;
  /** Locations that can hold stock. */
  readonly locationCount: number;
  /** The version that has answered, when it is another than was asked. */
  readonly otherVersion: string | null;
  /** The token that was exchanged, with its end; null when one was sent. */
  readonly grant: { readonly accessToken: string; readonly expiresAtMs: number } | null;
}

/** A Medusa as somebody wants to connect it. */
interface MedusaToConnect {
  /** `https://host[:port]` */
  readonly url: string;
  readonly secretKey: string;
}

/** Facts that a Medusa states about itself. */
export interface MedusaFacts {
  readonly kind: "medusa";
  /** In which it sells, in upper case. */
  readonly currencyCodes: ReadonlySet<string>;
  readonly locationCount: number;
}

/** Somebody else answers there. */
export interface NoMedusa {
  readonly kind: "other";
  readonly why: string;
}

/** Where a store of Shopify tells changes, followed by the shop's id. */
export const shopifyHintsPath = "/storefront/shopify";

/** State of the calls of a store since the process has begun. */
export interface StoreState {
  readonly lastCallAtMs: number | null;
  readonly lastError: { readonly atMs: number; readonly message: string } | null;
  /** The store's bucket of points as it last said; null when it has not. */
  readonly throttle: {
    readonly maximumAvailable: number;
    readonly currentlyAvailable: number;
    readonly restoreRate: number;
  } | null;
}

export interface StorefrontConnections {
  open(shop: ConnectedShop): Storefront;
  /** Null when this process has made no call of the shop's store. */
  stateOf(shop: ConnectedShop): StoreState | null;
  /** True if secrets can be stored: the operator has set a key. */
  readonly canSeal: boolean;
  seal(shopId: string, secret: string): string;
  readonly shopify: {
    /** True if a store with this `host[:port]` may be connected. */
    mayConnect(domain: string): boolean;
    /** Asks a store who it is and what the token may do. @throws StorefrontError */
    check(store: StoreToConnect): Promise<StoreFacts>;
    /** With what the store signs its webhooks; null when it is not known, or cannot be read. */
    secretOf(shop: ConnectedShop): string | null;
    /** Under which name a renewed token of the connection is stored; null: none is renewed. */
    connectionOf(shop: ConnectedShop): string | null;
    /**
     * Asks the shop's store to tell of changes at the address, and at its former ones no more. Asking again changes
     * nothing.
     *
     * @returns what it refuses to tell of.
     * @throws StorefrontError
     */
    subscribe(
      shop: ConnectedShop,
      address: string,
      former: readonly string[],
      signal: AbortSignal,
    ): Promise<readonly { readonly topic: string; readonly why: string }[]>;
    /** Lets the shop's store tell nothing any more at these addresses. @throws StorefrontError */
    unsubscribe(shop: ConnectedShop, addresses: readonly string[], signal: AbortSignal): Promise<void>;
  };
  readonly medusa: {
    /** The address of a Medusa that may be connected, without a slash at its end; null for another one. */
    originOf(url: string): string | null;
    /** Asks a Medusa what it is. @throws StorefrontError */
    check(store: MedusaToConnect): Promise<MedusaFacts | NoMedusa>;
  };
}

const notHere = (): Promise<never> =>
  Promise.reject(new StorefrontError("error", "storefronts cannot be connected here", { landed: "no" }));

/** Where no storefront can be connected: in a process that only imports, or measures. */
export const noConnections: StorefrontConnections = {
  open: () => unusableStorefront("storefronts cannot be used here"),
  stateOf: () => null,
  canSeal: false,
  seal: () => {
    throw new Error("storefronts cannot be connected here");
  },
  shopify: {
    mayConnect: () => false,
    check: notHere,
    secretOf: () => null,
    connectionOf: () => null,
    subscribe: notHere,
    unsubscribe: notHere,
  },
  medusa: { originOf: () => null, check: notHere },
};
