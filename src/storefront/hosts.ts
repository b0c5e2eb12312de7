/**
 * Which hosts a shop's storefront may be on: Shopify's own, and what the operator lists in `OPENPO_STOREFRONT_ALLOW`.
 * The secret of a storefront goes to its host and nowhere else.
 */

/** The variable with further hosts. */
export const storefrontAllowVariable = "OPENPO_STOREFRONT_ALLOW";

/** `host[:port]` → its origin. */
export type AllowedHosts = ReadonlyMap<string, string>;

const hostAndPort = /^([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::(\d{1,5}))?$/;

const loopback: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** A store of Shopify's own. Only one label stands before the suffix. */
const shopifyHost = /^[a-z0-9][a-z0-9-]*\.myshopify\.com$/;

/**
 * Reads the operator's list: `[scheme://]host[:port]`, separated by commas. Without a scheme it is https, on this
 * machine http.
 *
 * @returns null when an entry is none, or is `http://` on another machine.
 */
export function parseAllowedHosts(text: string): AllowedHosts | null {
  const allowed = new Map<string, string>();
  for (const entry of text.split(",").map((each) => each.trim().toLowerCase())) {
    if (entry === "") continue;
    const [, scheme, rest = ""] = /^(?:(https?):\/\/)?(.*)$/.exec(entry) ?? [];
    const [, host] = hostAndPort.exec(rest) ?? [];
    if (host === undefined) return null;
    const isLocal = loopback.has(host);
    if (scheme === "http" && !isLocal) return null;
    allowed.set(rest, `${scheme ?? (isLocal ? "http" : "https")}://${rest}`);
  }
  return allowed;
}

/** The operator does not allow this address, or not any more. */
export class HostNotAllowed extends Error {
  override readonly name = "HostNotAllowed";
}

/**
 * Returns the origin of a Medusa at this URL. Null when it is none, has more than a host and a port, or is not in the
 * operator's list.
 */
export function medusaOrigin(url: string, allowed: AllowedHosts): string | null {
  const origin = URL.canParse(url) ? new URL(url).origin : null;
  if (origin === null || (url !== origin && url !== `${origin}/`)) return null;
  return [...allowed.values()].some((each) => new URL(each).origin === origin) ? origin : null;
}

/** The origin of a Shopify store; null when it may not be connected. */
export function shopifyOrigin(domain: string, allowed: AllowedHosts): string | null {
  return allowed.get(domain) ?? (shopifyHost.test(domain) ? `https://${domain}` : null);
}

/** Where Shopify keeps the results of bulk operations. They are read without a token. */
const shopifyResults = "https://storage.googleapis.com";

/** True if the result of a bulk operation may be read at this address. */
export const mayReadResult = (url: URL, allowed: AllowedHosts): boolean =>
  url.username === "" && url.password === "" && (url.origin === shopifyResults || allowed.get(url.host) === url.origin);
