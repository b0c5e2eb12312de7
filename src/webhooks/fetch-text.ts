/**
 * A small text of another server, fetched from an address that was checked for this very fetch (C61). Redirects are not
 * followed.
 */
import type { IncomingMessage } from "node:http";
import { unless } from "../base/time/waiting.ts";
import { type ConnectPolicy, formFault } from "./addresses.ts";
import type { Resolve } from "./names.ts";
import { allowedAddresses, exchange, lookUpTooSlow } from "./post.ts";

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
  const { addresses } = await unless(signal, allowedAddresses(target, policy, resolve), lookUpTooSlow);
  const headers = { Accept: "application/json", "Accept-Encoding": "identity" };
  return await exchange(target, { method: "GET", addresses, headers, signal }, null, async (response) => {
    if (response.statusCode !== 200) throw new Error(`it answered ${response.statusCode ?? 0}`);
    return new TextDecoder("utf-8", { fatal: true }).decode(await wholeOf(response, bytesMax));
  });
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
