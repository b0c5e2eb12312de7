/**
 * What one process needs to agree on with itself: token buckets and idempotency keys in flight, in memory (D4).
 *
 * Owns: nothing that outlives the process, so a crash leaves no key stuck and no bucket empty. Does not own: the arithmetic of a
 * bucket (core/rate-limit.ts) or when keys are claimed and released (operations/perform.ts).
 */
import { type TokenBucket, readBucket, takeToken } from "../../core/rate-limit.ts";
import type { Coordination } from "../store.ts";

/** Buckets kept before those that are full again are dropped: a full bucket is the same as none. */
const bucketsMax = 10_000;

export function memoryCoordination(): Coordination {
  const buckets = new Map<string, { readonly bucket: TokenBucket; readonly fullAtMs: number }>();
  const keysInFlight = new Map<string, string>();
  let sweepAtSize = bucketsMax;

  const dropFullBuckets = (nowMs: number): void => {
    for (const [shopId, { fullAtMs }] of buckets) if (fullAtMs <= nowMs) buckets.delete(shopId);
    // As many as are really in use are kept, and not looked through again until they have doubled.
    sweepAtSize = Math.max(bucketsMax, buckets.size * 2);
  };
  // A shop id holds no line feed, so the pair cannot be read in two ways.
  const keyInFlight = (shopId: string, scope: string): string => `${shopId}\n${scope}`;

  return {
    takeToken(shopId, limit, nowMs) {
      const { bucket, reading } = takeToken(buckets.get(shopId)?.bucket ?? null, limit, nowMs);
      buckets.set(shopId, { bucket, fullAtMs: bucket.atMs + reading.resetAfterMs });
      if (buckets.size > sweepAtSize) dropFullBuckets(nowMs);
      return Promise.resolve(reading);
    },
    peekTokens(shopId, limit, nowMs) {
      return Promise.resolve(readBucket(buckets.get(shopId)?.bucket ?? null, limit, nowMs));
    },
    claimKey(shopId, scope, fingerprint) {
      const key = keyInFlight(shopId, scope);
      const inFlightWith = keysInFlight.get(key) ?? null;
      if (inFlightWith === null) keysInFlight.set(key, fingerprint);
      return Promise.resolve(inFlightWith);
    },
    holdsKey(shopId, scope) {
      return Promise.resolve(keysInFlight.has(keyInFlight(shopId, scope)));
    },
    releaseKey(shopId, scope) {
      keysInFlight.delete(keyInFlight(shopId, scope));
      return Promise.resolve();
    },
  };
}
