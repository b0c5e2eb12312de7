/**
 * A small text of another server, fetched from an address that was checked for this very fetch (C61). Redirects are not
 * followed.
 */
import type { IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { bareHost, type ConnectPolicy, formFault } from "./addresses.ts";
import type { Resolve } from "./names.ts";
import { allowedAddresses, lookupAmong, unless } from "./post.ts";

interface FetchOptions {
  readonly policy: ConnectPolicy;
  readonly resolve: Resolve;
  /** From looking up the name to the last byte. */
  readonly timeoutMs: number;
  readonly bytesMax: number;
}

/**
 * Fetches what https has at this URL. @throws Error unless it answers 200 with at most `bytesMax` bytes of UTF-8 in
 * time.
 */
export async function fetchText(url: string, { policy, resolve, timeoutMs, bytesMax }: FetchOptions): Promise<string> {
  const target = new URL(url);
  const fault = formFault({ ...policy, http: false }, url);
  if (fault !== null) throw new Error(`the URL ${fault}`);
  const signal = AbortSignal.timeout(timeoutMs);
  const { addresses } = await unless(signal, allowedAddresses(target, policy, resolve));
  const sent = httpsRequest({
    method: "GET",
    hostname: bareHost(target),
    port: target.port,
    path: target.pathname + target.search,
    headers: { Accept: "application/json", "Accept-Encoding": "identity" },
    agent: false,
    lookup: lookupAmong(addresses),
    signal,
  });
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      sent.once("response", resolve).once("error", reject);
      sent.once("close", () => reject(new Error("the connection ended without an answer")));
      sent.end();
    });
    sent.on("error", () => {});
    if (response.statusCode !== 200) throw new Error(`it answered ${response.statusCode ?? 0}`);
    return new TextDecoder("utf-8", { fatal: true }).decode(await wholeOf(response, bytesMax));
  } finally {
    sent.destroy();
  }
}

/** @throws Error when there are more bytes, or the answer breaks off. */
async function wholeOf(response: IncomingMessage, bytesMax: number): Promise<Uint8Array> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of response) {
    if (!Buffer.isBuffer(piece)) continue;
    bytes += piece.length;
    if (bytes > bytesMax) throw new Error(`it has more than ${bytesMax} bytes`);
    pieces.push(piece);
  }
  if (!response.complete) throw new Error("it broke off");
  return Buffer.concat(pieces);
}
