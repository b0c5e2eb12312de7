/**
 * One call of the platform, whatever it does: counted, delayed and made to fail as the faults say.
 *
 * Owns: the sandbox's turn in its engine, waiting, the errors of a call as a whole. Does not own: which fault hits (faults.ts), what
 * a call does (platform.ts).
 */
import { Fault } from "../../core/fault.ts";
import type { Engine, Tx } from "../../store/store.ts";
import { StorefrontError } from "../storefront.ts";
import { type CallFaults, type SandboxCall, useFaults } from "./faults.ts";
import { countCall } from "./state.ts";

/** How long a call with the fault `timeout` hangs before it fails. */
const sandboxTimeoutMs = 1_000;

/** The wait that a throttled call is asked for. */
const sandboxThrottleMs = 250;

export interface CallsOptions {
  /** Databases of sandboxes by shop id, with the schema beside this file. Never the shops' own engine. */
  readonly engine: Engine;
  readonly shopId: string;
  /** Default `sandboxTimeoutMs`. */
  readonly timeoutMs?: number;
}

/** A call as the caller makes it. */
interface CallRequest {
  readonly name: SandboxCall;
  readonly variantIds: readonly string[];
  /** Whether it changes the platform: its result is then durable, and a lost answer leaves it open whether it landed. */
  readonly writes: boolean;
  readonly signal: AbortSignal | undefined;
}

/** The calls of one sandbox. */
export class SandboxCalls {
  readonly #engine: Engine;
  readonly #shopId: string;
  readonly #timeoutMs: number;

  constructor({ engine, shopId, timeoutMs = sandboxTimeoutMs }: CallsOptions) {
    this.#engine = engine;
    this.#shopId = shopId;
    this.#timeoutMs = timeoutMs;
  }

  /** Works in the sandbox's turn; a sandbox that is not there yet is created. */
  async turn<T>(work: (tx: Tx) => Promise<T>, durable = true): Promise<T> {
    try {
      return await this.#engine.write(this.#shopId, work, { durable });
    } catch (error) {
      if (!(error instanceof Fault && error.code === "NOT_FOUND")) throw error;
      await this.#engine.create(this.#shopId);
      return await this.#engine.write(this.#shopId, work, { durable });
    }
  }

  /**
   * Makes one call (X3). Without delay and fault it is one turn; else it is counted in one, waits, and works in another.
   *
   * @throws StorefrontError as the faults say, and when the sandbox's store cannot be used.
   */
  async run<T>(request: CallRequest, work: (tx: Tx, faults: CallFaults) => Promise<T>): Promise<T> {
    const { name, variantIds, writes, signal } = request;
    try {
      const begun = await this.turn(async (tx) => {
        await tx.batch([countCall(this.#shopId, name)]);
        const faults = await useFaults(tx, this.#shopId, name, variantIds);
        const isUndisturbed = faults.wholeCall === null && faults.latencyMs === 0;
        return isUndisturbed ? { result: await work(tx, faults) } : { faults };
      }, writes);
      if ("result" in begun) return begun.result;
      const { faults } = begun;
      await wait(faults.latencyMs, signal);
      await this.#failBefore(faults, request);
      const result = await this.turn(async (tx) => {
        if (signal?.aborted === true) throw abortedError();
        return await work(tx, faults);
      }, writes);
      if (faults.wholeCall === "lost-response")
        throw new StorefrontError("error", "the storefront's answer was lost", { landed: writes ? "maybe" : "no" });
      return result;
    } catch (error) {
      throw storefrontErrorFrom(error);
    }
  }

  /** Fails a call of which nothing happens. */
  async #failBefore({ wholeCall }: CallFaults, { writes, signal }: CallRequest): Promise<void> {
    switch (wholeCall) {
      case "error":
        throw new StorefrontError("error", "the storefront failed", { landed: "no" });
      case "throttled":
        throw new StorefrontError("throttled", "the storefront takes no more calls for now", {
          landed: "no",
          retryAfterMs: sandboxThrottleMs,
        });
      case "timeout":
        await wait(this.#timeoutMs, signal);
        throw new StorefrontError("timeout", "the storefront did not answer in time", {
          landed: writes ? "maybe" : "no",
        });
      case "lost-response":
      case null:
    }
  }
}

/** @throws StorefrontError when the caller aborts meanwhile. */
async function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  if (signal?.aborted === true) throw abortedError();
  if (ms === 0) return;
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(abortedError());
    };
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

const abortedError = (): StorefrontError =>
  new StorefrontError("timeout", "the caller did not wait for the storefront's answer", { landed: "no" });

/** A sandbox whose own store cannot be used is a storefront that fails: its caller need not know that it is built in. */
function storefrontErrorFrom(error: unknown): unknown {
  if (!(error instanceof Fault)) return error;
  return error.code === "DO_OVERLOADED"
    ? new StorefrontError("throttled", "the sandbox storefront is busy", {
        landed: "no",
        cause: error,
        ...(error.retryAfterMs === null ? {} : { retryAfterMs: error.retryAfterMs }),
      })
    : new StorefrontError("error", "the sandbox storefront's store cannot be used", { landed: "maybe", cause: error });
}
