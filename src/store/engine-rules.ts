/**
 * What holds for every engine: which shop ids there are, what a statement may bind, and how a store that fails reads to a caller.
 */
import { Fault } from "../core/fault.ts";
import type { SqlValue } from "./store.ts";

export const shopIdPattern = /^[a-z0-9][a-z0-9-]{0,39}$/;

/** What the engine tells the operator. A pino logger is one. */
export interface EngineLog {
  info(details: object, message: string): void;
  error(details: object, message: string): void;
}

/** What a caller waits before it tries again: a disk takes an operator. */
const operatorMs = 5_000;

export function unavailable(message: string, cause?: unknown, retryAfterMs = operatorMs): Fault {
  return new Fault("DO_UNAVAILABLE", message, {
    action: "Nothing was changed. Wait, then send the same request again; if it goes on, tell the operator.",
    retryAfterMs,
    ...(cause === undefined ? {} : { cause }),
  });
}

export function notFound(shopId: string): Fault {
  return new Fault("NOT_FOUND", `There is no shop ${shopId}.`);
}

/** @throws TypeError for a value of which engines differ in what they make of it (architecture, "One SQL text: rules"). */
export function checkParams(params: readonly SqlValue[]): void {
  for (const [index, value] of params.entries()) {
    if (value === null || typeof value === "string") continue;
    if (typeof value !== "number" || !Number.isFinite(value))
      throw new TypeError(
        `parameter ${index + 1} is ${String(value)}; only strings, finite numbers and null are bound`,
      );
    if (Number.isInteger(value) && !Number.isSafeInteger(value))
      throw new TypeError(`parameter ${index + 1} is ${value}, beyond what an integer holds exactly`);
  }
}
