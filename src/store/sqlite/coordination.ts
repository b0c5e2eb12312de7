/**
 * Token buckets, idempotency keys in flight and the operator's sessions of a service that is one process: in memory
 * (D4).
 *
 * Owns: nothing that outlives the process, so a crash leaves no key in flight and no bucket empty. Does not own: the
 * arithmetic of a bucket (core/access/rate-limit.ts), when keys are claimed and released (requests/perform.ts).
 */
import { randomBytes } from "node:crypto";
import {
  type BucketLimit,
  type BucketReading,
  type TokenBucket,
  giveToken,
  readBucket,
  takeToken,
} from "../../core/access/rate-limit.ts";
import { operatorSessionsMax } from "../engine-rules.ts";
import type { Coordination, KeyClaim } from "../store.ts";

/** Buckets kept before full ones are dropped: a shop without a bucket has a full one. */
export const bucketsMax = 10_000;

/** A Coordination in this process's memory. */
export function inProcessCoordination(): Coordination {
  const buckets = new Map<string, { readonly bucket: TokenBucket; readonly fullAtMs: number }>();
  const keysInFlight = new Map<string, KeyClaim>();
  const secret = randomBytes(32).toString("base64url");
  let sweepAtSize = bucketsMax;

  const dropFullBuckets = (nowMs: number): void => {
    for (const [shopId, { fullAtMs }] of buckets) if (fullAtMs <= nowMs) buckets.delete(shopId);
    // What is left is in use. Sweeping again before the map has doubled would cost more than it frees.
    sweepAtSize = Math.max(bucketsMax, buckets.size * 2);
  };
  // A shop id holds no line feed, so different pairs make different texts.
  const pairOf = (shopId: string, scope: string): string => `${shopId}\n${scope}`;

  const take = (shopId: string, limit: BucketLimit, nowMs: number): BucketReading => {
    const { bucket, reading } = takeToken(buckets.get(shopId)?.bucket ?? null, limit, nowMs);
    buckets.set(shopId, { bucket, fullAtMs: bucket.atMs + reading.resetAfterMs });
    if (buckets.size > sweepAtSize) dropFullBuckets(nowMs);
    return reading;
  };

  return {
    takeToken: async (...args) => take(...args),
    async takeTokensWhen(shopId, limit, nowMs, { when, count }, tx) {
      const rows = await tx.all(when.sql, when.params);
      return Array.from({ length: count }, () => (rows.length === 0 ? null : take(shopId, limit, nowMs)));
    },
    giveToken(shopId, limit, nowMs) {
      const { bucket, reading } = giveToken(buckets.get(shopId)?.bucket ?? null, limit, nowMs);
      buckets.set(shopId, { bucket, fullAtMs: bucket.atMs + reading.resetAfterMs });
      return Promise.resolve(reading);
    },
    peekTokens(shopId, limit, nowMs) {
      return Promise.resolve(readBucket(buckets.get(shopId)?.bucket ?? null, limit, nowMs));
    },
    claimKey(shopId, scope, claim) {
      const pair = pairOf(shopId, scope);
      const holder = keysInFlight.get(pair) ?? null;
      if (holder === null) keysInFlight.set(pair, { ...claim });
      return Promise.resolve(holder);
    },
    // A holder in this process runs.
    takeOverKey: () => Promise.resolve(false),
    holdsKey(shopId, scope) {
      return Promise.resolve(keysInFlight.has(pairOf(shopId, scope)));
    },
    releaseKey(shopId, scope) {
      keysInFlight.delete(pairOf(shopId, scope));
      return Promise.resolve();
    },
    releaseKeyWith(shopId, scope) {
      const pair = pairOf(shopId, scope);
      const held = keysInFlight.get(pair);
      const done = (): void => {
        if (keysInFlight.get(pair) === held) keysInFlight.delete(pair);
      };
      return { statements: [], done };
    },
    ...operatorSessions(),
    sharedSecret: () => Promise.resolve(secret),
  };
}

function operatorSessions(): Pick<
  Coordination,
  "seeOperatorSession" | "hasOperatorSession" | "endOperatorSession" | "endOperatorSessions"
> {
  const sessions = new Map<string, number>();
  return {
    seeOperatorSession(session, nowMs) {
      // In the order in which they were seen.
      sessions.delete(session);
      sessions.set(session, nowMs);
      const [oldest] = sessions.keys();
      if (sessions.size > operatorSessionsMax && oldest !== undefined) sessions.delete(oldest);
      return Promise.resolve();
    },
    hasOperatorSession: (session, sinceMs) => Promise.resolve((sessions.get(session) ?? sinceMs) > sinceMs),
    endOperatorSession(session) {
      sessions.delete(session);
      return Promise.resolve();
    },
    endOperatorSessions() {
      sessions.clear();
      return Promise.resolve();
    },
  };
}
