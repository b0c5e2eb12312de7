/**
 * Asking a Medusa: a few requests at a time, repeated while it says that it takes no more, and their answers checked.
 *
 * Owns: how many requests are under way, the state that an operator sees. Does not own: HTTP (transport.ts), what is
 * asked.
 */
import type { z } from "zod";
import type { Clock } from "../../base/time/clock.ts";
import type { StoreCalls } from "../calls.ts";
import type { StoreState } from "../connections.ts";
import { pauseAfter, pauseFor, throttledPauseMsMax } from "../pause.ts";
import { StorefrontError } from "../storefront.ts";
import { type MedusaAnswer, type MedusaRequest, type MedusaStore, sendToMedusa } from "./transport.ts";

/** Requests of a store that are under way at a time. */
const requestsAtOnceMax = 4;

interface AskOptions {
  readonly signal: AbortSignal | undefined;
}

export class MedusaClient {
  readonly #store: MedusaStore;
  readonly #clock: Clock;
  readonly #calls: StoreCalls;
  readonly #waiting: (() => void)[] = [];
  #underWay = 0;
  /** No request begins before: one was answered with 429. */
  #restsUntilMs = 0;

  constructor(store: MedusaStore, parts: { readonly clock: Clock; readonly calls: StoreCalls }) {
    this.#store = store;
    this.#clock = parts.clock;
    this.#calls = parts.calls;
  }

  get state(): StoreState {
    return { ...this.#calls.state, throttle: null };
  }

  /** Reads. @throws StorefrontError, when it is refused too. */
  async ask<Answer>(path: string, schema: z.ZodType<Answer>, { signal }: AskOptions): Promise<Answer> {
    const answer = await this.#send({ method: "GET", path }, false, signal);
    if (answer.kind === "refused")
      throw this.#failed(new StorefrontError("error", refusedText(answer), { landed: "no" }));
    return this.#checked(path, schema, answer.data, false);
  }

  /**
   * Writes.
   *
   * @returns the answer, or why Medusa refuses the write and has done nothing.
   * @throws StorefrontError
   */
  async tell<Answer>(
    path: string,
    body: object,
    schema: z.ZodType<Answer>,
    { signal }: AskOptions,
  ): Promise<
    | { readonly kind: "done"; readonly answer: Answer }
    | { readonly kind: "refused"; readonly status: number; readonly message: string }
  > {
    const answer = await this.#send({ method: "POST", path, body }, true, signal);
    if (answer.kind === "refused") return answer;
    return { kind: "done", answer: this.#checked(path, schema, answer.data, true) };
  }

  async #send(request: MedusaRequest, writes: boolean, signal: AbortSignal | undefined): Promise<MedusaAnswer> {
    const giveBack = await this.#place();
    try {
      for (let sends = 1; ; sends += 1)
        try {
          await this.#rest(signal);
          this.#calls.made();
          return await sendToMedusa(this.#store, request, { writes, signal });
        } catch (error) {
          if (!(error instanceof StorefrontError)) throw error;
          const pauseMs = pauseAfter(error, sends);
          if (pauseMs === null) throw this.#failed(error);
          this.#restsUntilMs = Math.max(this.#restsUntilMs, this.#clock.now() + pauseMs);
        }
    } finally {
      giveBack();
    }
  }

  /** Waits while Medusa takes no requests. A rest that is longer than any is from before the clock was set back. */
  async #rest(signal: AbortSignal | undefined): Promise<void> {
    const restMs = Math.min(this.#restsUntilMs - this.#clock.now(), throttledPauseMsMax);
    if (restMs > 0) await pauseFor(restMs, signal, "Medusa");
  }

  async #place(): Promise<() => void> {
    if (this.#underWay >= requestsAtOnceMax)
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
      });
    else this.#underWay += 1;
    return () => {
      const next = this.#waiting.shift();
      // The place goes on to who waits for it.
      if (next === undefined) this.#underWay -= 1;
      else next();
    };
  }

  #failed(error: StorefrontError): StorefrontError {
    this.#calls.failed(error);
    return error;
  }

  #checked<Answer>(path: string, schema: z.ZodType<Answer>, data: unknown, writes: boolean): Answer {
    const parsed = schema.safeParse(data);
    if (parsed.success) return parsed.data;
    const where = parsed.error.issues[0]?.path.join(".") ?? "";
    const [call] = path.split("?", 1);
    throw this.#failed(
      new StorefrontError("error", `Medusa's answer to ${call} cannot be understood (at ${where})`, {
        landed: writes ? "maybe" : "no",
      }),
    );
  }
}

const refusedText = ({ status, message }: { readonly status: number; readonly message: string }): string =>
  `Medusa refuses the call (HTTP ${status}): ${message}`;

/** Runs `work` on each value, a few at a time; the results are in the order of the values. */
export async function aFewAtATime<T, R>(values: readonly T[], work: (value: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const entries = values.entries();
  const one = async (): Promise<void> => {
    for (const [index, value] of entries) results[index] = await work(value);
  };
  await Promise.all(Array.from({ length: Math.min(requestsAtOnceMax, values.length) }, one));
  return results;
}
