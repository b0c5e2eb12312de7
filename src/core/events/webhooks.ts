/**
 * Webhooks: what becomes of a delivery and of its endpoint after an attempt (C60).
 *
 * Owns: the schedule, `Retry-After`, when an endpoint is disabled, which subscriptions a list of types comes to. Does
 * not own: sending (webhooks), the rows (shop/events/), where it may connect (webhooks/addresses.ts).
 */
import { scatteredMs, scatteredMsMax } from "../../base/time/backoff.ts";
import { minuteMs, hourMs } from "../../base/time/calendar.ts";
import { eventTypes, patternsOf } from "./events.ts";

/** Endpoints of a shop at most. */
export const webhookEndpointsMax = 50;

/** Result of one attempt. */
export type AttemptResult =
  /** The receiver answered. `excerpt`: the beginning of its answer, null if it may not be shown. */
  | {
      readonly kind: "answered";
      readonly status: number;
      readonly ms: number;
      readonly retryAfter: string | null;
      readonly excerpt: string | null;
    }
  /** There was no answer, for this reason. */
  | { readonly kind: "failed"; readonly ms: number; readonly reason: string };

/** The receiver has taken the delivery. */
export const isDelivered = (result: AttemptResult): boolean =>
  result.kind === "answered" && result.status >= 200 && result.status < 300;

/** States of a delivery. */
export const deliveryStates = ["pending", "delivered", "failed"] as const;

/** State of a delivery. `dueAtMs` is null when nothing is to be sent any more. */
export interface DeliveryState {
  readonly state: (typeof deliveryStates)[number];
  readonly dueAtMs: number | null;
  readonly lastStatus: number | null;
  readonly lastMs: number;
  readonly lastError: string | null;
}

/**
 * Health of an endpoint, by its latest deliveries. `failures` and `failingSinceMs` count since something was delivered
 * last.
 */
export interface EndpointHealth {
  readonly lastDeliveredAtMs: number | null;
  readonly failures: number;
  readonly failingSinceMs: number | null;
}

const secondMs = 1_000;

/** Delays before each attempt, from the second on (Standard Webhooks 1.0). */
const delaysMs = [
  5 * secondMs,
  5 * minuteMs,
  30 * minuteMs,
  2 * hourMs,
  5 * hourMs,
  10 * hourMs,
  14 * hourMs,
  20 * hourMs,
  24 * hourMs,
] as const;

/**
 * No delivery is put off for longer. One that is due later is from before the clock was set back by more than a day
 * (D98).
 */
export const dueAheadMsMax = scatteredMsMax(24 * hourMs);

/** A longer wait than this makes no sense of a receiver that is still asked. */
const retryAfterMsMax = 24 * hourMs;

/** Failures without a delivery between, and the time since the first of them, after which an endpoint is disabled. */
const failuresBeforeDisabled = 10;

const failingMsBeforeDisabled = 5 * 24 * hourMs;

/** Reasons for which an endpoint is disabled. */
export const disabledReasons = ["gone", "failing", "by-hand"] as const;

/** Why an endpoint is disabled: it said that it is gone, nothing reached it for days, or somebody did so. */
export type DisabledReason = (typeof disabledReasons)[number];

/**
 * Returns what an attempt means for its delivery and its endpoint. `disabled`: the endpoint is disabled for this
 * reason.
 *
 * @param attempts those made, this one included.
 * @param random   from 0 to below 1.
 * Source: C60.
 */
export function afterAttempt(
  health: EndpointHealth,
  attempts: number,
  result: AttemptResult,
  nowMs: number,
  random: number,
): { readonly delivery: DeliveryState; readonly health: EndpointHealth; readonly disabled: DisabledReason | null } {
  const lastStatus = result.kind === "answered" ? result.status : null;
  if (isDelivered(result))
    return {
      delivery: { state: "delivered", dueAtMs: null, lastStatus, lastMs: result.ms, lastError: null },
      health: { lastDeliveredAtMs: nowMs, failures: 0, failingSinceMs: null },
      disabled: null,
    };
  const failures = health.failures + 1;
  const failingSinceMs = health.failingSinceMs ?? nowMs;
  const isFailing = failures >= failuresBeforeDisabled && nowMs - failingSinceMs >= failingMsBeforeDisabled;
  const delayMs = delayAfter(attempts, result, nowMs, random);
  return {
    delivery: {
      state: delayMs === null ? "failed" : "pending",
      dueAtMs: delayMs === null ? null : nowMs + delayMs,
      lastStatus,
      lastMs: result.ms,
      lastError: errorOf(result),
    },
    health: { ...health, failures, failingSinceMs },
    disabled: lastStatus === 410 ? "gone" : isFailing ? "failing" : null,
  };
}

/** The delay before the next attempt; null after the last one. */
function delayAfter(attempts: number, result: AttemptResult, nowMs: number, random: number): number | null {
  const scheduled = delaysMs[attempts - 1];
  if (scheduled === undefined) return null;
  const requestedMs = result.kind === "answered" ? retryAfterMs(result.retryAfter, nowMs) : null;
  return requestedMs ?? scatteredMs(scheduled, random);
}

/**
 * Returns the wait that a receiver asks for, in seconds or as a date. Null: it does not say, or what makes no sense.
 */
function retryAfterMs(header: string | null, nowMs: number): number | null {
  if (header === null) return null;
  const text = header.trim();
  const ms = /^\d{1,9}$/.test(text)
    ? Number(text) * secondMs
    : /^[A-Z][a-z]{2}, /.test(text)
      ? Date.parse(text) - nowMs
      : NaN;
  return ms > 0 && ms <= retryAfterMsMax ? ms : null;
}

function errorOf(result: AttemptResult): string {
  if (result.kind === "failed") return result.reason;
  const { status, excerpt } = result;
  const what = status >= 300 && status < 400 ? `HTTP ${status}: redirects are not followed` : `HTTP ${status}`;
  return excerpt === null || excerpt === "" ? what : `${what}: ${excerpt}`;
}

/** The fewest patterns that name the same types, none of which another one covers. */
export function subscriptionsTo(patterns: readonly string[]): readonly string[] {
  const given = new Set(patterns);
  if (given.has("*")) return ["*"];
  const coveredByGroup = (pattern: string): boolean => {
    const type = eventTypes.find((each) => each === pattern);
    return type !== undefined && patternsOf(type).some((wider) => wider !== type && given.has(wider));
  };
  return [...given].filter((pattern) => !coveredByGroup(pattern));
}
