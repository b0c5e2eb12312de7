/**
 * Where a webhook may connect (C61): to global addresses, and to what the operator has opened of other networks.
 *
 * Owns: reading an address whatever form it has, and the decision. Does not own: finding the addresses of a name
 * (post.ts).
 *
 * A range that is not global is opened by an entry within it. An entry that is wider opens nothing of it: 0.0.0.0/0
 * opens global addresses, which are open anyway.
 */
import { BlockList, isIP, isIPv4 } from "node:net";

/** Rules of the operator: `http:` beside `https:`, and hosts and networks beside the global ones. */
export interface ConnectPolicy {
  readonly http: boolean;
  readonly hosts: ReadonlySet<string>;
  readonly networks: readonly Network[];
}

/** Nothing is opened. */
export const onlyGlobal: ConnectPolicy = { http: false, hosts: new Set(), networks: [] };

/** Addresses with the same first bits. `bits` counts those of the form in which it is written. */
interface Network {
  readonly bits: number;
  readonly list: BlockList;
}

const widthOf = { 4: 32, 6: 128 } as const;

/**
 * Prefix that NAT64 puts before an IPv4 address. Those that are mapped into IPv6 (::ffff:0:0/96) a list reads by
 * itself.
 */
const nat64 = { prefix: "64:ff9b::", bits: 96 } as const;

/** An address without the brackets of a URL and the zone of an interface. */
const bare = (text: string): string => text.replace(/^\[|\]$/g, "").replace(/%.*$/, "");

/**
 * A network as it is written: `10.0.0.0/8`, `fd00::/8`, or one address. One of IPv4 has the IPv6 forms of its addresses
 * too. Null: it is none.
 */
function parseNetwork(text: string): Network | null {
  const [written = "", length, ...more] = text.split("/");
  const address = bare(written);
  const family = isIP(address);
  if ((family !== 4 && family !== 6) || more.length > 0) return null;
  const width = widthOf[family];
  const bits = length === undefined ? width : /^\d{1,3}$/.test(length) ? Number(length) : -1;
  if (bits < 0 || bits > width) return null;
  const list = new BlockList();
  list.addSubnet(address, bits, `ipv${family}`);
  if (family === 4) list.addSubnet(nat64.prefix + address, nat64.bits + bits, "ipv6");
  return { bits, list };
}

const contains = ({ list }: Network, address: string): boolean =>
  list.check(address, isIPv4(address) ? "ipv4" : "ipv6");

const networks = (...texts: readonly string[]): readonly Network[] =>
  texts.map((text) => {
    const network = parseNetwork(text);
    if (network === null) throw new TypeError(`not a network: ${text}`);
    return network;
  });

/**
 * Never connected to, whatever the operator opens: this host, link-local, what clouds tell their machines (metadata),
 * multicast, broadcast.
 */
const shut = networks(
  "0.0.0.0/8",
  // AWS, Google, Azure and most others.
  "169.254.0.0/16",
  // Alibaba.
  "100.100.100.200",
  // Oracle.
  "192.0.0.192",
  // Azure.
  "168.63.129.16",
  "224.0.0.0/4",
  "255.255.255.255",
  "::",
  "fe80::/10",
  // AWS, Oracle, Google and Scaleway.
  "fd00:ec2::/32",
  "fd00:c1::/32",
  "fd20:ce::/32",
  "fd00:42::42",
  "ff00::/8",
);

/**
 * Networks that are not global, by the registries of IANA. A webhook connects there only where the operator allows
 * it.
 */
const special = networks(
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "240.0.0.0/4",
  "::1",
  "64:ff9b:1::/48",
  "100::/64",
  "2001::/23",
  "2001:db8::/32",
  "2002::/16",
  "3fff::/20",
  "fc00::/7",
);

/** Where global addresses are. */
const globals = networks("0.0.0.0/0", "2000::/3");

/** `global`: open to all. `opened`: by the operator. */
type Verdict = "global" | "opened" | "refused";

/**
 * Judges if a webhook may connect to this address.
 *
 * @param host the name that led to it, or the address as the URL has it.
 * Source: C61.
 */
export function judge({ hosts, networks: opened }: ConnectPolicy, host: string, text: string): Verdict {
  const address = bare(text);
  if (isIP(address) === 0 || shut.some((network) => contains(network, address))) return "refused";
  if (hosts.has(host.toLowerCase())) return "opened";
  const range = special.find((network) => contains(network, address));
  if (range !== undefined)
    return opened.some((network) => network.bits >= range.bits && contains(network, address)) ? "opened" : "refused";
  return globals.some((network) => contains(network, address)) ? "global" : "refused";
}

const loopback = networks("127.0.0.0/8", "::1");

/** True if the host is this machine itself. */
export const isLoopback = (host: string): boolean =>
  isAddress(host) ? loopback.some((network) => contains(network, bare(host))) : host.toLowerCase() === "localhost";

/** True if a text is an address rather than a name. */
export const isAddress = (host: string): boolean => isIP(bare(host)) !== 0;

const hostPattern = /^(?!-)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*\.?$/;

/**
 * Reads what the operator allows: names and networks, separated by commas.
 *
 * @returns null when an entry is neither.
 */
export function parseAllowed(text: string): Pick<ConnectPolicy, "hosts" | "networks"> | null {
  const hosts = new Set<string>();
  const found: Network[] = [];
  for (const entry of text.split(",").map((each) => each.trim().toLowerCase())) {
    if (entry === "") continue;
    const network = parseNetwork(entry);
    if (network !== null) found.push(network);
    else if (hostPattern.test(entry) && !/^[\d.]+$/.test(entry)) hosts.add(entry);
    else return null;
  }
  return { hosts, networks: found };
}

/**
 * Returns the fault in the form of an endpoint's URL; null without one. It says nothing of the address: that is judged
 * for each attempt.
 *
 * Source: C61.
 */
export function formFault(policy: ConnectPolicy, text: string): string | null {
  const url = URL.parse(text);
  if (url === null) return "must be an absolute URL";
  if (url.protocol !== "https:" && !(policy.http && url.protocol === "http:"))
    return policy.http ? "must begin with https:// or http://" : "must begin with https://";
  if (url.username !== "" || url.password !== "") return "must not contain a user name or password";
  return url.hash === "" ? null : "must not contain a fragment";
}

/** Returns the fault of an endpoint's URL, as far as it can be found before connecting; null without one. */
export function urlFault(policy: ConnectPolicy, text: string): string | null {
  if (/\s/.test(text)) return "must not contain blanks; write them as %20";
  if (/[\\\p{Cf}]/u.test(text)) return "must not contain backslashes or characters that are not seen";
  if (!policy.http && URL.parse(text)?.protocol === "http:") return "must begin with https://; http:// is not allowed";
  const fault = formFault(policy, text);
  if (fault !== null) return fault;
  if (!/^\w+:\/\/[^/]/.test(text)) return "must have // and the host after its scheme";
  const host = bareHost(new URL(text));
  return isAddress(host) && judge(policy, host, host) === "refused" ? "is at an address that is not allowed" : null;
}

/** The host without the brackets of an IPv6 address. */
export const bareHost = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, "");
