/**
 * Where a webhook may connect (C61): to global addresses, and to what the operator has opened of other networks.
 *
 * Owns: reading an address whatever form it has, and the decision. Does not own: finding the addresses of a name (post.ts).
 *
 * A range that is not global is opened by an entry within it. An entry that is wider opens nothing of it: 0.0.0.0/0 opens global
 * addresses, which are open anyway.
 */

/** What the operator allows: `http:` beside `https:`, and hosts and networks beside the global ones. */
export interface ConnectPolicy {
  readonly http: boolean;
  readonly hosts: ReadonlySet<string>;
  readonly networks: readonly Network[];
}

/** Nothing is opened. */
export const onlyGlobal: ConnectPolicy = { http: false, hosts: new Set(), networks: [] };

/** Addresses whose first `bits` are those of `address`. */
interface Network {
  readonly family: 4 | 6;
  readonly address: bigint;
  readonly bits: number;
}

type Address = Pick<Network, "family" | "address">;

const widthOf = { 4: 32, 6: 128 } as const;

function parseIpv4(text: string): bigint | null {
  const parts = text.split(".");
  if (parts.length !== 4 || !parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) <= 255)) return null;
  return parts.reduce((sum, part) => (sum << 8n) | BigInt(part), 0n);
}

function parseIpv6(text: string): bigint | null {
  const [, head = "", last = ""] = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text) ?? [];
  const embedded = last === "" ? null : parseIpv4(last);
  if (last !== "" && embedded === null) return null;
  const plain =
    embedded === null ? text : `${head}${(embedded >> 16n).toString(16)}:${(embedded & 0xffffn).toString(16)}`;
  const halves = plain.split("::").map((half) => (half === "" ? [] : half.split(":")));
  const [left = [], right] = halves;
  const missing = 8 - left.length - (right?.length ?? 0);
  if (halves.length > 2 || (right === undefined ? missing !== 0 : missing < 1)) return null;
  const groups = [...left, ...Array.from({ length: missing }, () => "0"), ...(right ?? [])];
  if (!groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return null;
  return groups.reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n);
}

function parseAddress(text: string): Address | null {
  const bare = text.replace(/^\[|\]$/g, "").replace(/%.*$/, "");
  const ipv4 = parseIpv4(bare);
  if (ipv4 !== null) return { family: 4, address: ipv4 };
  const ipv6 = parseIpv6(bare);
  return ipv6 === null ? null : { family: 6, address: ipv6 };
}

/** A network as it is written: `10.0.0.0/8`, `fd00::/8`, or one address. Null: it is none. */
function parseNetwork(text: string): Network | null {
  const [written = "", length, ...more] = text.split("/");
  const parsed = parseAddress(written);
  if (parsed === null || more.length > 0) return null;
  const width = widthOf[parsed.family];
  const bits = length === undefined ? width : /^\d{1,3}$/.test(length) ? Number(length) : -1;
  return bits < 0 || bits > width ? null : { ...parsed, bits };
}

const contains = ({ family, address, bits }: Network, other: Address): boolean => {
  const shift = BigInt(widthOf[family] - bits);
  return family === other.family && address >> shift === other.address >> shift;
};

const networks = (...texts: readonly string[]): readonly Network[] =>
  texts.map((text) => {
    const network = parseNetwork(text);
    if (network === null) throw new TypeError(`not a network: ${text}`);
    return network;
  });

/** Never connected to, whatever the operator opens: this host, link-local and metadata, multicast, broadcast. */
const shut = networks(
  "0.0.0.0/8",
  "169.254.0.0/16",
  "224.0.0.0/4",
  "255.255.255.255",
  "::",
  "fe80::/10",
  "fd00:ec2::254",
  "ff00::/8",
);

/** Addresses that are not global, by the registries of IANA. */
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

const [globalIpv6] = networks("2000::/3");

/** IPv6 addresses that stand for an IPv4 address, which is the last 32 bits: mapped ones, and those of NAT64. */
const standIns = networks("::ffff:0:0/96", "64:ff9b::/96");

/** The address that is meant. */
const meant = (address: Address): Address =>
  standIns.some((network) => contains(network, address))
    ? { family: 4, address: address.address & 0xffff_ffffn }
    : address;

/** `global`: open to all. `opened`: by the operator. */
type Verdict = "global" | "opened" | "refused";

/**
 * Whether a webhook may connect to this address.
 *
 * @param host the name that led to it, or the address as the URL has it.
 * Source: C61.
 */
export function judge({ hosts, networks: opened }: ConnectPolicy, host: string, text: string): Verdict {
  const parsed = parseAddress(text);
  if (parsed === null) return "refused";
  const address = meant(parsed);
  if (shut.some((network) => contains(network, address))) return "refused";
  if (hosts.has(host.toLowerCase())) return "opened";
  const range = special.find((network) => contains(network, address));
  if (range !== undefined)
    return opened.some((network) => network.bits >= range.bits && contains(network, address)) ? "opened" : "refused";
  const isGlobal = address.family === 4 || (globalIpv6 !== undefined && contains(globalIpv6, address));
  return isGlobal ? "global" : "refused";
}

const loopback = networks("127.0.0.0/8", "::1");

/** Whether the host is this machine itself. */
export function isLoopback(host: string): boolean {
  const parsed = parseAddress(host);
  if (parsed === null) return host.toLowerCase() === "localhost";
  const address = meant(parsed);
  return loopback.some((network) => contains(network, address));
}

/** Whether a text is an address rather than a name. */
export const isAddress = (host: string): boolean => parseAddress(host) !== null;

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
 * What is wrong with the form of an endpoint's URL; null when nothing is. It says nothing of the address: that is judged for each attempt.
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

/** What is wrong with the URL of an endpoint, as far as that can be told before connecting; null when nothing is. */
export function urlFault(policy: ConnectPolicy, text: string): string | null {
  if (/\s/.test(text)) return "must not contain blanks; write them as %20";
  const fault = formFault(policy, text);
  if (fault !== null) return fault;
  const host = bareHost(new URL(text));
  return isAddress(host) && judge(policy, host, host) === "refused" ? "is at an address that is not allowed" : null;
}

/** The host without the brackets of an IPv6 address. */
export const bareHost = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, "");
