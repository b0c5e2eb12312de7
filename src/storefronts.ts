/**
 * Which adapter opens a shop's storefront, by its kind (C47). A further platform is a folder in storefront/ and a case here.
 */
import type { ConnectedShop } from "./core/storefront-config.ts";
import { type Storefront, unusableStorefront } from "./storefront/storefront.ts";

/** What the adapters are made of. */
interface StorefrontParts {
  readonly sandboxOf: (shopId: string) => Storefront;
}

/** Opens the storefront of a shop. One of a kind that this version does not have refuses every call; it is never the sandbox instead. */
export function openStorefront(shop: ConnectedShop, { sandboxOf }: StorefrontParts): Storefront {
  const { kind }: { readonly kind: string } = shop.storefront;
  switch (kind) {
    case "sandbox":
      return sandboxOf(shop.shopId);
    default:
      return unusableStorefront(`storefronts of kind ${kind} are not available in this version of OpenPO`);
  }
}
