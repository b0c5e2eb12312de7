/**
 * State of the calls of one shop's store: kept by its client, and stored beside the calls (C67). And calls that use the
 * shop's own database.
 *
 * A call waits for no write: what it tells is stored once a minute, and an error that is new at once.
 */
import { Fault } from "../base/fault.ts";
import type { StoreState } from "./connections.ts";
import { StorefrontError } from "./storefront.ts";

type Calls = Pick<StoreState, "lastCallAtMs" | "lastError">;

/** Between two writes of the time of the latest call. */
const storedEveryMs = 60_000;

export class StoreCalls {
  readonly #clock: { now(): number };
  readonly #store: (calls: Calls) => Promise<void>;
  #lastCallAtMs: number | null = null;
  #lastError: Calls["lastError"] = null;
  #storedAtMs = 0;

  /** @param store stores them with the shop; without it they are of no shop yet. */
  constructor(clock: { now(): number }, store: (calls: Calls) => Promise<void> = () => Promise.resolve()) {
    this.#clock = clock;
    this.#store = store;
  }

  get state(): Calls {
    return { lastCallAtMs: this.#lastCallAtMs, lastError: this.#lastError };
  }

  /** A call is made. */
  made(): void {
    this.#lastCallAtMs = this.#clock.now();
    // The clock may have been set back.
    if (Math.abs(this.#lastCallAtMs - this.#storedAtMs) >= storedEveryMs) this.#keep();
  }

  /** A call has failed. */
  failed(error: StorefrontError): void {
    const isNew = this.#lastError?.message !== error.message;
    this.#lastError = { atMs: this.#clock.now(), message: error.message };
    if (isNew) this.#keep();
  }

  #keep(): void {
    this.#storedAtMs = this.#clock.now();
    this.#store(this.state).catch((error: unknown) => {
      // A store that takes nothing now gets the next one.
      if (!(error instanceof Fault)) throw error;
    });
  }
}

/** Makes a call that uses the shop's own database. When that refuses, nobody knows how far the call came. */
export async function overStore<T>(platform: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    throw new StorefrontError("error", `what was sent to ${platform} could not be stored`, {
      landed: "maybe",
      cause: error,
      ...(error.retryAfterMs === null ? {} : { retryAfterMs: error.retryAfterMs }),
    });
  }
}
