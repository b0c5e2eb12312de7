/**
 * A clock that goes on evenly when the clock below it is set.
 *
 * Rate limits, leases, retries, ids and the order of a log rely on time that does not go back. This clock follows the
 * other one forwards at once. When the other one is set back, it goes on a little slower until the other one has caught
 * up.
 */
import { dayMs } from "./calendar.ts";
import type { Clock } from "./clock.ts";

/** A clock that is set back by more was wrong before: its new time is taken at once. */
export const caughtUpMsMax = dayMs;

/** The speed until the other clock has caught up. Refills and waits take a ninth longer meanwhile. */
const slowedSpeed = 0.9;

/** Less is the rounding of the other clock, or its adjustment by a time server. */
const reportedBackMsMin = 1_000;

interface SteadyClockOptions {
  /** The time of day; it may be set forward or back. */
  readonly below: Clock;
  /** Milliseconds since a fixed moment. It is never set. */
  readonly elapsedMs: () => number;
  /** The latest time that earlier processes have used: the clock does not begin before it. */
  readonly fromMs?: number;
  /** Called when the clock below is found to be behind by at least a second. */
  readonly onSetBack?: (behindMs: number) => void;
}

export function steadyClock({ below, elapsedMs, fromMs = 0, onSetBack }: SteadyClockOptions): Clock {
  let atMs = fromMs;
  let readAtMs = elapsedMs();
  let isBehind = false;
  return {
    now() {
      const belowMs = below.now();
      const nowMs = elapsedMs();
      const slowedMs = atMs + (nowMs - readAtMs) * slowedSpeed;
      readAtMs = nowMs;
      const behindMs = slowedMs - belowMs;
      atMs = behindMs > 0 && behindMs <= caughtUpMsMax ? slowedMs : belowMs;
      if (behindMs >= reportedBackMsMin && !isBehind) onSetBack?.(Math.round(behindMs));
      isBehind = behindMs >= reportedBackMsMin && behindMs <= caughtUpMsMax;
      return Math.floor(atMs);
    },
  };
}
