/**
 * The limits of the outbox, and when an effect is tried again (D11).
 */
import { doubledMs, shortenedMs } from "../../base/time/backoff.ts";
import { dayMs } from "../../base/time/calendar.ts";
import type { StorefrontError } from "../../storefront/storefront.ts";

export interface OutboxLimits {
  /** Attempts of one effect before it has failed. */
  readonly attemptsMax: number;
  /** Delay before the second attempt. It doubles with each further one; a random part of up to half is taken off. */
  readonly backoffMs: number;
  readonly backoffMsMax: number;
  /** Time limit of one call of the storefront. */
  readonly callTimeLimitMs: number;
  /** Lease of a claim that is not renewed: claims of a node that died are taken up after this and a search (C38). */
  readonly leaseMs: number;
  /** Lanes of one shop that run at a time. */
  readonly lanesPerShopMax: number;
  /** Lanes of all shops that run at a time. */
  readonly lanesMax: number;
  /** Lanes of a shop that are kept until they can begin. Further ones are read again. */
  readonly lanesWantedMax: number;
  /** Time for which settled effects and pushes are kept. */
  readonly keptMs: number;
  /** Time for which `close` waits for calls that are under way. */
  readonly closeWaitMs: number;
}

export const outboxLimits: OutboxLimits = {
  attemptsMax: 7,
  backoffMs: 100,
  backoffMsMax: 5_000,
  callTimeLimitMs: 10_000,
  leaseMs: 5_000,
  lanesPerShopMax: 16,
  lanesMax: 256,
  lanesWantedMax: 64,
  keptMs: 7 * dayMs,
  closeWaitMs: 3_000,
};

/**
 * No effect is put off for longer. One that is due later is from before the clock was set back by more than that (D98).
 */
export const dueAheadMsMax = dayMs;

/** Between two checks of lanes, or of outcomes, that another node works on. */
export const otherNodeCheckMs = 100;

/**
 * Returns the delay before an effect is tried again, in milliseconds. Null when it has failed for good: it was tried
 * `attemptsMax` times, or the storefront refuses the credentials.
 *
 * @param attempts how often it has been tried.
 * @param error    why the latest attempt failed; null when the storefront gave no error but no outcome either.
 * @param random   from 0 to below 1.
 */
export function retryDelayMs(
  { attemptsMax, backoffMs, backoffMsMax }: OutboxLimits,
  attempts: number,
  error: StorefrontError | null,
  random: number,
): number | null {
  if (error?.kind === "auth" || attempts >= attemptsMax) return null;
  const delayMs = shortenedMs(doubledMs(attempts, backoffMs, backoffMsMax), random);
  return Math.max(delayMs, Math.min(error?.retryAfterMs ?? 0, dueAheadMsMax));
}
