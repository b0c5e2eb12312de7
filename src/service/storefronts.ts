/**
 * Which adapter opens a shop's storefront, by its kind (C47). A further platform is a folder in storefront/ and a case
 * here.
 */
import type { Config } from "./config.ts";
import type { OpenStore } from "./open-store.ts";
import type { Clock, Ids } from "../base/time/clock.ts";
import type { Engine, Log } from "../store/store.ts";
import type { StorefrontConnections } from "../storefront/connections.ts";
import {
  type AllowedHosts,
  HostNotAllowed,
  mayReadResult,
  medusaOrigin,
  shopifyOrigin,
  storefrontAllowVariable,
} from "../storefront/hosts.ts";
import { Medusa } from "../storefront/medusa/medusa.ts";
import { SecretBox } from "../base/secret-box.ts";
import { connectionName, Shopify } from "../storefront/shopify/shopify.ts";
import { type Storefront, unusableStorefront } from "../storefront/storefront.ts";

/** Dependencies of the adapters. */
interface StorefrontDependencies {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly secrets: SecretBox;
  readonly allowed: AllowedHosts;
  readonly sandboxOf: (shopId: string) => Storefront;
}

/**
 * The storefronts of this process's shops. One of a kind that this version does not have refuses every call; it is
 * never the sandbox instead.
 */
export function createStorefronts({ sandboxOf, allowed, ...parts }: StorefrontDependencies): StorefrontConnections {
  const { secrets } = parts;
  const shopify = new Shopify({
    ...parts,
    mayDownload: (url) => mayReadResult(url, allowed),
    originOf(domain) {
      const origin = shopifyOrigin(domain, allowed);
      if (origin !== null) return origin;
      throw new HostNotAllowed(
        `the storefront's host ${domain} may not be connected to: it is not Shopify's, and ${storefrontAllowVariable} does not list it`,
      );
    },
  });
  const medusa = new Medusa({
    ...parts,
    allow(origin) {
      if (medusaOrigin(origin, allowed) === null)
        throw new HostNotAllowed(
          `the storefront's address ${origin} may not be connected to: ${storefrontAllowVariable} does not list it`,
        );
    },
  });
  return {
    canSeal: secrets.hasKey,
    seal: (shopId, secret) => secrets.seal(shopId, secret),
    shopify: {
      mayConnect: (domain) => shopifyOrigin(domain, allowed) !== null,
      check: (store) => shopify.check(store),
      secretOf: (shop) => shopify.secretOf(shop),
      connectionOf: ({ storefront }) =>
        storefront.kind === "shopify" && storefront.clientId !== undefined ? connectionName(storefront) : null,
      subscribe: (shop, address, former, signal) => shopify.subscribe(shop, address, former, signal),
      unsubscribe: (shop, addresses, signal) => shopify.unsubscribe(shop, addresses, signal),
    },
    medusa: {
      originOf: (url) => medusaOrigin(url, allowed),
      check: ({ url, secretKey }) => medusa.check({ origin: url, secretKey }),
    },
    stateOf({ shopId, storefront: { kind } }) {
      if (kind === "shopify") return shopify.stateOf(shopId);
      return kind === "medusa" ? medusa.stateOf(shopId) : null;
    },
    open(shop) {
      const { storefront } = shop;
      switch (storefront.kind) {
        case "sandbox":
        case "none":
          return sandboxOf(shop.shopId);
        case "shopify":
          return shopify.open(shop, storefront);
        case "medusa":
          return medusa.open(shop, storefront);
        default: {
          const { kind }: { readonly kind: string } = storefront;
          return unusableStorefront(`storefronts of kind ${kind} are not available in this version of OpenPO`);
        }
      }
    },
  };
}

/** The storefronts of the shops in a store, with the operator's settings. */
export const openStorefronts = (
  { secretKey, allowed }: Config["storefronts"],
  store: Pick<OpenStore, "engine" | "clock" | "ids" | "sandboxOf">,
  log: Log,
): StorefrontConnections =>
  createStorefronts({
    engine: store.engine,
    clock: store.clock,
    ids: store.ids,
    log,
    secrets: new SecretBox(secretKey),
    allowed,
    sandboxOf: (shopId) => store.sandboxOf(shopId),
  });
