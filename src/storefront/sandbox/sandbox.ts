/**
 * The built-in storefront: a small simulated platform with durable state of its own and faults on demand (C47, contract
 * §7). It is the default storefront, and an integrator can rehearse with it what goes wrong with a real one.
 *
 * Owns: variants (status, unit cost, product), tags of products, on-hand and incoming per location, results by
 * reference, call counts, delays and faults. Does not own: the shop's data; the sandbox has an engine of its own (D8).
 *
 * platform.ts has the port's calls, control.ts the operator's side, calls.ts what every call goes through, faults.ts
 * and state.ts the rows.
 *
 * Keeps F1–F4 (storefront.ts), and:
 * - X1. A change and the result under its reference commit together.
 * - X2. A variant that was never given to the sandbox is `deleted`: the platform does not know its id. A catalogue line
 *       may name one (C16); the guard then stops the order on its way to Sent (C44).
 * - X3. A call is counted once, whether it succeeds or fails. One that its caller gives up before its turn is not made.
 * - X4. On-hand holds every accepted change; a reader sees a change only from `applyDelayMs` after it was accepted.
 */
import type { Clock } from "../../base/time/clock.ts";
import type { Storefront } from "../storefront.ts";
import { type CallsOptions, SandboxCalls } from "./calls.ts";
import { createControl, type SandboxControl } from "./control.ts";
import { createPlatform } from "./platform.ts";

interface SandboxOptions extends CallsOptions {
  readonly clock: Clock;
}

/**
 * The sandbox storefront of one shop; its database is created on first use. Opening costs nothing and may be repeated.
 */
export function openSandbox(options: SandboxOptions): Storefront & SandboxControl {
  const calls = new SandboxCalls(options);
  return { ...createPlatform(calls, options.shopId, options.clock), ...createControl(calls, options) };
}
