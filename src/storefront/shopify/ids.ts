/**
 * Shopify's global ids. The catalogue holds the last part (`4711`) or the whole (`gid://shopify/ProductVariant/4711`).
 */

type Kind = "ProductVariant" | "Location" | "Product";

/** The global id of what the shop calls `id`; null when nothing at Shopify is called so. */
export function globalId(kind: Kind, id: string): string | null {
  const prefix = `gid://shopify/${kind}/`;
  const tail = id.startsWith(prefix) ? id.slice(prefix.length) : id;
  return /^[1-9]\d{0,19}$/.test(tail) ? `${prefix}${tail}` : null;
}

/** The last part of a global id: `4711` of `gid://shopify/ProductVariant/4711`. */
export const numberOf = (gid: string): string => gid.slice(gid.lastIndexOf("/") + 1);

const kinds = { location: "Location", product: "Product", variant: "ProductVariant" } as const;

/** Returns the shop's names for something of Shopify: the number, which new things get, or the whole global id. */
export function namesOf(kind: keyof typeof kinds, id: string): readonly string[] {
  const gid = globalId(kinds[kind], id);
  return gid === null ? [id] : [numberOf(gid), gid];
}
