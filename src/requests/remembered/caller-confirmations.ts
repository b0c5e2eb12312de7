/**
 * Confirms remembered callers and takes their tokens, for all requests of a shop that wait at the same time in one
 * round trip (D406).
 *
 * Does not own: which requests are asked for together (joined-questions.ts), what a caller is confirmed by (caller.ts),
 * the bucket (Coordination).
 *
 * - Tokens are taken in the order in which the requests came.
 */
import type { BucketLimit, BucketReading } from "../../core/access/rate-limit.ts";
import type { Clock } from "../../base/time/clock.ts";
import type { Coordination, Engine, Statement } from "../../store/store.ts";
import { ReadBatcher } from "./joined-questions.ts";

/** Requests that are confirmed in one round trip: it stays short. */
export const confirmedTogetherMax = 64;

/** A request that is to be confirmed. */
interface Confirmation {
  readonly limit: BucketLimit;
  readonly when: Statement;
  readonly resolve: (reading: BucketReading | null) => void;
  readonly reject: (error: unknown) => void;
}

interface ConfirmationsDependencies {
  readonly engine: Pick<Engine, "peek">;
  readonly coordination: Pick<Coordination, "takeTokensWhen">;
  readonly clock: Clock;
}

export class Confirmations {
  readonly #deps: ConfirmationsDependencies;
  readonly #batch = new ReadBatcher<Confirmation>(confirmedTogetherMax, (shopId, together) =>
    this.#ask(shopId, together),
  );

  constructor(deps: ConfirmationsDependencies) {
    this.#deps = deps;
  }

  /**
   * Takes a token, provided that `when` has a row.
   *
   * @param when a statement that reads the shop. Requests with the same one are asked for at once.
   * @returns null when it has none: nothing was taken.
   * @throws Fault NOT_FOUND when there is no such shop.
   */
  take(shopId: string, limit: BucketLimit, when: Statement): Promise<BucketReading | null> {
    return new Promise((resolve, reject) => {
      this.#batch.add(shopId, { limit, when, resolve, reject });
    });
  }

  async #ask(shopId: string, together: readonly Confirmation[]): Promise<void> {
    const { engine, coordination, clock } = this.#deps;
    const nowMs = clock.now();
    const groups = [...Map.groupBy(together, ({ when }) => when).values()];
    const readings = await engine.peek(shopId, (tx) =>
      Promise.all(
        groups.map(async (group) => {
          const [first] = group;
          if (first === undefined) return [];
          const batch = { when: first.when, count: group.length };
          return await coordination.takeTokensWhen(shopId, first.limit, nowMs, batch, tx);
        }),
      ),
    );
    for (const [at, group] of groups.entries())
      for (const [index, { resolve }] of group.entries()) resolve(readings[at]?.[index] ?? null);
  }
}
