/** Shopify's global ids. The catalogue holds the last part (`4711`) or the whole (`gid://shopify/ProductVariant/4711`). */

type Kind = "ProductVariant" | "Location";

/** The global id of what the shop calls `id`; null when nothing at Shopify is called so. */
export function globalId(kind: Kind, id: string): string | null {
  const prefix = `gid://shopify/${kind}/`;
  const tail = id.startsWith(prefix) ? id.slice(prefix.length) : id;
  return /^[1-9]\d{0,19}$/.test(tail) ? `${prefix}${tail}` : null;
}
