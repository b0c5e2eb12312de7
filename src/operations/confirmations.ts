/**
 * Confirms remembered callers and takes their tokens, for all requests of a shop that wait at the same time in one round trip (D406).
 *
 * Owns: what is asked together. Does not own: what a caller is confirmed by (caller.ts), the bucket (Coordination).
 *
 * - What confirms a request is read after the request has come: those that come while a round trip is under way have the next one.
 * - Tokens are taken in the order in which the requests came.
 */
import type { BucketLimit, BucketReading } from "../core/rate-limit.ts";
import type { Clock, Coordination, Engine, Statement } from "../store/store.ts";

/** Requests that are confirmed in one round trip: it stays short. */
export const confirmedTogetherMax = 64;

/** A request that is to be confirmed. */
interface Asked {
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
  /** Requests without a round trip, by shop. A shop that has none under way is not in it. */
  readonly #waiting = new Map<string, Asked[]>();

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
      const asked = { limit, when, resolve, reject };
      const waiting = this.#waiting.get(shopId);
      if (waiting !== undefined) {
        waiting.push(asked);
        return;
      }
      this.#waiting.set(shopId, [asked]);
      // Those that come in the same round of the event loop are asked for together.
      setImmediate(() => void this.#askAll(shopId));
    });
  }

  async #askAll(shopId: string): Promise<void> {
    for (;;) {
      const together = this.#waiting.get(shopId)?.splice(0, confirmedTogetherMax) ?? [];
      if (together.length === 0) break;
      try {
        await this.#ask(shopId, together);
      } catch (error) {
        for (const asked of together) asked.reject(error);
      }
    }
    this.#waiting.delete(shopId);
  }

  async #ask(shopId: string, together: readonly Asked[]): Promise<void> {
    const { engine, coordination, clock } = this.#deps;
    const nowMs = clock.now();
    const groups = [...Map.groupBy(together, ({ when }) => when).values()];
    const readings = await engine.peek(shopId, (tx) =>
      Promise.all(
        groups.map(async (group) => {
          const [first] = group;
          if (first === undefined) return [];
          const asked = { when: first.when, count: group.length };
          return await coordination.takeTokensWhen(shopId, first.limit, nowMs, asked, tx);
        }),
      ),
    );
    for (const [at, group] of groups.entries())
      for (const [index, { resolve }] of group.entries()) resolve(readings[at]?.[index] ?? null);
  }
}
