/**
 * A shop's token bucket (spec "Limits", C18): one token per call, refilled evenly. It is exact at every instant. Tokens
 * are counted in millionths, and a rate of up to three decimals refills a whole number of them every millisecond.
 */

/** A bucket at one instant. A shop without a stored bucket has a full one. */
export interface TokenBucket {
  /** Millionths of a token. */
  readonly level: number;
  readonly atMs: number;
}

/** A bucket's parameters (contract §7 "Shop settings"). */
export interface BucketLimit {
  /** Tokens in a full bucket; at least 1. */
  readonly capacity: number;
  /** Above 0, at most three decimals. */
  readonly refillPerSecond: number;
}

/** State of a bucket as callers see it. */
export interface BucketReading {
  /** Whole tokens left. */
  readonly remaining: number;
  /** Until the bucket is full again. */
  readonly resetAfterMs: number;
  /**
   * Null when a token was taken (or, where none was asked for, when there is one); else the wait until there is one.
   */
  readonly retryAfterMs: number | null;
}

/** One token in millionths. */
export const tokenInMillionths = 1_000_000;

/** A limit in millionths of a token: the most that a bucket holds, and what each millisecond adds. */
export const limitInMillionths = (limit: BucketLimit): { readonly levelMax: number; readonly refillPerMs: number } => ({
  levelMax: levelMax(limit),
  refillPerMs: refillPerMs(limit),
});

const levelMax = (limit: BucketLimit): number => limit.capacity * tokenInMillionths;
const refillPerMs = (limit: BucketLimit): number => Math.round(limit.refillPerSecond * 1_000);

/**
 * Clocks agree to within this. A bucket that is further ahead is from before the clock was set back, and is taken over
 * as it is.
 */
export const clocksApartMsMax = 60_000;

/** The bucket at `nowMs`. A clock that went back refills nothing; a lowered capacity applies at once. */
function bucketAt(bucket: TokenBucket | null, limit: BucketLimit, nowMs: number): TokenBucket {
  if (bucket === null) return { level: levelMax(limit), atMs: nowMs };
  const elapsedMs = Math.max(0, nowMs - bucket.atMs);
  return {
    level: Math.min(levelMax(limit), bucket.level + elapsedMs * refillPerMs(limit)),
    atMs: bucket.atMs > nowMs + clocksApartMsMax ? nowMs : Math.max(nowMs, bucket.atMs),
  };
}

/** The reading of a bucket after a call. `refused`: the call got no token. */
export function bucketReading(bucket: TokenBucket, limit: BucketLimit, refused: boolean): BucketReading {
  return {
    remaining: Math.floor(bucket.level / tokenInMillionths),
    resetAfterMs: Math.ceil((levelMax(limit) - bucket.level) / refillPerMs(limit)),
    retryAfterMs: refused ? Math.ceil((tokenInMillionths - bucket.level) / refillPerMs(limit)) : null,
  };
}

/** Reads the bucket at `nowMs` and takes nothing. */
export function readBucket(bucket: TokenBucket | null, limit: BucketLimit, nowMs: number): BucketReading {
  const now = bucketAt(bucket, limit, nowMs);
  return bucketReading(now, limit, now.level < tokenInMillionths);
}

/** Puts back one token at `nowMs`. */
export function giveToken(
  bucket: TokenBucket | null,
  limit: BucketLimit,
  nowMs: number,
): { readonly bucket: TokenBucket; readonly reading: BucketReading } {
  const now = bucketAt(bucket, limit, nowMs);
  const next = { level: Math.min(levelMax(limit), now.level + tokenInMillionths), atMs: now.atMs };
  return { bucket: next, reading: bucketReading(next, limit, false) };
}

/** Takes one token at `nowMs` if there is one; otherwise takes nothing. */
export function takeToken(
  bucket: TokenBucket | null,
  limit: BucketLimit,
  nowMs: number,
): { readonly bucket: TokenBucket; readonly reading: BucketReading } {
  const now = bucketAt(bucket, limit, nowMs);
  const refused = now.level < tokenInMillionths;
  const next = refused ? now : { level: now.level - tokenInMillionths, atMs: now.atMs };
  return { bucket: next, reading: bucketReading(next, limit, refused) };
}
