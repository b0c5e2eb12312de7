/** A shop with the settings of a new one and the sandbox storefront. */
import { defaultSettings, type Shop } from "../../../src/shop/access/accounts.ts";

/** Begins with the time 0; `facts` replace members. */
export const plainShop = (shopId: string, facts: Partial<Shop> = {}): Shop => ({
  ...defaultSettings,
  shopId,
  name: shopId,
  currencyCode: "EUR",
  planRestApi: true,
  storefront: { kind: "sandbox" },
  createdAtMs: 0,
  updatedAtMs: 0,
  ...facts,
});
