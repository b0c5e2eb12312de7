/**
 * The operator's side of storefronts (C65, C67): what connecting a shop needs of the adapters, whatever the platform.
 */
import type { ConnectedShop } from "../core/storefront-config.ts";
import { type Storefront, StorefrontError, unusableStorefront } from "./storefront.ts";

/** A store of a platform as somebody wants to connect it. */
export interface StoreToConnect {
  /** `host[:port]` */
  readonly domain: string;
  readonly accessToken: string;
  readonly apiVersion: string;
}

/** What a store says of itself and of the token. */
export interface StoreFacts {
  /** The store's own name for itself. */
  readonly domain: string;
  readonly currencyCode: string;
  readonly scopes: ReadonlySet<string>;
  /** Locations that can hold stock. */
  readonly locationCount: number;
  /** The version that has answered, when it is another than was asked. */
  readonly otherVersion: string | null;
}

/** What is known of the calls of a store since the process has begun. */
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
  stateOf(shopId: string): StoreState | null;
  /** Whether secrets can be stored: the operator has set a key. */
  readonly canSeal: boolean;
  seal(shopId: string, secret: string): string;
  /** Whether a store with this `host[:port]` may be connected. */
  mayConnect(domain: string): boolean;
  /** Asks a store who it is and what the token may do. @throws StorefrontError */
  check(store: StoreToConnect): Promise<StoreFacts>;
}

/** Where no storefront can be connected: in a process that only imports, or measures. */
export const noConnections: StorefrontConnections = {
  open: () => unusableStorefront("storefronts cannot be used here"),
  stateOf: () => null,
  canSeal: false,
  seal: () => {
    throw new Error("storefronts cannot be connected here");
  },
  mayConnect: () => false,
  check: () => Promise.reject(new StorefrontError("error", "storefronts cannot be connected here", { landed: "no" })),
};
