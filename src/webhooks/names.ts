/**
 * The addresses of a name: those of the machine's hosts file, else those that DNS has.
 *
 * The system's own look-up would take a thread of the pool that syncs files. A name server that does not answer would
 * keep it for many seconds. So names are looked up by the process itself, without search domains.
 */
import { Resolver } from "node:dns/promises";
import { readFile } from "node:fs/promises";

/** Finds every address of a name. @throws Error when it has none. */
export type Resolve = (host: string) => Promise<readonly string[]>;

const hostsFile = "/etc/hosts";

const tryMs = 3_000;

const tries = 2;

export function createResolve(): Resolve {
  const resolver = new Resolver({ timeout: tryMs, tries });
  return async (host) => {
    const name = host.toLowerCase().replace(/\.$/, "");
    const listed = await addressesInFile(name);
    if (listed.length > 0) return listed;
    const found = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const addresses = found.flatMap((each) => (each.status === "fulfilled" ? each.value : []));
    if (addresses.length > 0) return addresses;
    throw found.find((each) => each.status === "rejected")?.reason ?? new Error("the name has no address");
  };
}

async function addressesInFile(name: string): Promise<readonly string[]> {
  const text = await readFile(hostsFile, "utf8").catch(() => "");
  return text.split("\n").flatMap((line) => {
    const [address = "", ...names] = (line.split("#")[0] ?? "").trim().toLowerCase().split(/\s+/);
    return names.includes(name) ? [address] : [];
  });
}
