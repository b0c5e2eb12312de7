/**
 * Which storefront platform a shop is on, and how it is reached there (C47). Stored with the shop.
 */

/** The storefront of a shop, by its kind. A secret is sealed (base/secret-box.ts) and never leaves the service. */
export type StorefrontConfig =
  | { readonly kind: "sandbox" }
  /** The shop has no storefront and keeps its stock itself, in the same ledger as the sandbox's (C84). */
  | { readonly kind: "none" }
  | {
      readonly kind: "shopify";
      /** `host[:port]` as it was checked when the shop was connected. */
      readonly domain: string;
      /** Sealed. */
      readonly accessToken: string;
      /** When it ends; absent: nobody has said. */
      readonly expiresAtMs?: number;
      /** Of the app, with whose secret tokens are renewed; absent: they are not. */
      readonly clientId?: string;
      /** Sealed. Tokens are renewed with it, and Shopify's webhooks are signed with it. */
      readonly clientSecret?: string;
      /** `2026-10`. */
      readonly apiVersion: string;
      /**
       * Rights of the app there, as the store stated them at the connection; absent: connected before this was kept.
       */
      readonly scopes?: readonly string[];
    }
  | {
      readonly kind: "medusa";
      /** `https://host[:port]` as it was checked when the shop was connected. */
      readonly url: string;
      /** Sealed. */
      readonly secretKey: string;
    };

/** The platform that a shop is connected to, by its name; null: the shop keeps its products and its stock itself. */
export function platformName({ kind }: StorefrontConfig): string | null {
  switch (kind) {
    case "sandbox":
    case "none":
      return null;
    case "shopify":
      return "Shopify";
    case "medusa":
      return "Medusa";
  }
}

/** An origin that a page's policy can name, and that ends nothing there. */
const plainOrigin = /^https:\/\/[a-z0-9.-]+(?::\d{1,5})?$/;

/** Origins of the pictures of the storefront's products: the platform's own addresses. */
export function pictureOrigins(config: StorefrontConfig): readonly string[] {
  switch (config.kind) {
    case "sandbox":
    case "none":
      return [];
    case "shopify":
      return ["https://cdn.shopify.com"];
    case "medusa": {
      const origin = URL.parse(config.url)?.origin ?? "";
      return plainOrigin.test(origin) ? [origin] : [];
    }
  }
}

/** Facts for an adapter about the shop whose storefront it opens. */
export interface ConnectedShop {
  readonly shopId: string;
  readonly currencyCode: string;
  readonly storefront: StorefrontConfig;
}
