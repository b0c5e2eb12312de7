/**
 * Rules that every engine keeps: what a statement may bind, and which faults a caller sees when the store fails.
 */
import { Fault } from "../base/fault.ts";
import type { SqlValue } from "./store.ts";

/** Sessions of the operator. Beyond it the one that was not seen for longest ends. */
export const operatorSessionsMax = 100;

/** When a caller tries again, unless the engine knows better: a broken disk waits for an operator. */
const unavailableRetryMs = 5_000;

/** The store cannot be used and nothing was changed. */
export function unavailable(message: string, cause?: unknown, retryAfterMs = unavailableRetryMs): Fault {
  return new Fault("DO_UNAVAILABLE", message, {
    action: "Nothing was changed. Wait, then send the same request again. If this goes on, tell the operator.",
    retryAfterMs,
    ...(cause === undefined ? {} : { cause }),
  });
}

/** The engine has no such shop. */
export function notFound(shopId: string): Fault {
  return new Fault("NOT_FOUND", `There is no shop ${shopId}.`);
}

/** True if the error says that the engine has no such shop, as when the shop was removed meanwhile. */
export const isNotFound = (error: unknown): boolean => error instanceof Fault && error.code === "NOT_FOUND";

/**
 * Checks the values that a statement binds.
 *
 * @throws TypeError for a value that engines treat differently (architecture, "One SQL text: rules").
 */
export function checkParams(params: readonly SqlValue[]): void {
  let place = 0;
  for (const value of params) {
    place += 1;
    if (value === null || typeof value === "string") continue;
    if (typeof value !== "number" || !Number.isFinite(value))
      throw new TypeError(`parameter ${place} is ${String(value)}; only strings, finite numbers and null are bound`);
    if (Number.isInteger(value) && !Number.isSafeInteger(value))
      throw new TypeError(`parameter ${place} is ${value}, beyond what an integer holds exactly`);
  }
}
