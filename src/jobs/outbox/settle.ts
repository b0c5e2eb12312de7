/**
 * Waiting for the first attempt of effects (C38): of those that this process makes, and among other nodes of theirs too
 * (O5).
 */
import type { EffectOutcome } from "../../core/order/effect.ts";
import { type QueuedEffect, type Standing, loadStandings } from "../../shop/storefront/effects.ts";
import type { Engine } from "../../store/store.ts";
import { otherNodeCheckMs } from "./limits.ts";
import { withinMs } from "../../base/time/waiting.ts";

type Outcomes = ReadonlyMap<string, EffectOutcome>;

/** Tells those who wait when this process has made an attempt. */
export class AttemptReports {
  readonly #listeners = new Map<string, Set<(outcome: EffectOutcome) => void>>();

  #failedTotal = 0;

  /** Effects that were given up. */
  get failedTotal(): number {
    return this.#failedTotal;
  }

  report(shopId: string, outcomes: Outcomes): void {
    for (const [effectId, outcome] of outcomes) {
      if (outcome.state === "failed") this.#failedTotal += 1;
      for (const listener of this.#listeners.get(keyOf(shopId, effectId)) ?? []) listener(outcome);
    }
  }

  /** @returns what ends the listening. */
  listen(shopId: string, effectId: string, listener: (outcome: EffectOutcome) => void): () => void {
    const key = keyOf(shopId, effectId);
    const listeners = this.#listeners.get(key) ?? new Set();
    this.#listeners.set(key, listeners);
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#listeners.delete(key);
    };
  }
}

const keyOf = (shopId: string, effectId: string): string => `${shopId} ${effectId}`;

interface SettleOptions {
  readonly engine: Engine;
  readonly reports: AttemptReports;
  /** This is the only process on the store: nobody else makes attempts. */
  readonly alone: boolean;
  /** Starts these lanes of the shop; for null, whatever is due. */
  readonly start: (shopId: string, lanes: readonly string[] | null) => void;
  /** Returns true if this process runs lanes of the shop now. */
  readonly isAtWork: (shopId: string) => boolean;
}

/** While this process runs lanes of the shop, one in so many checks looks at what other nodes have done. */
const checksAtWork = 5;

/**
 * Starts what is due in the shop and waits until each of these effects has had an attempt or is settled, at most
 * `waitMs`.
 *
 * @param added those of them that this process has just stored, so that nobody has attempted them.
 * @returns an outcome for every id; `pending` where there was none in time, or the effect is tried again.
 */
export async function settle(
  { engine, reports, alone, start, isAtWork }: SettleOptions,
  shopId: string,
  effectIds: readonly string[],
  waitMs: number,
  added: readonly QueuedEffect[] = [],
): Promise<Outcomes> {
  const outcomes = new Map<string, EffectOutcome>();
  const missing = new Set(effectIds);
  const complete = Promise.withResolvers<void>();
  const ends = effectIds.map((effectId) =>
    reports.listen(shopId, effectId, (outcome) => {
      outcomes.set(effectId, outcome);
      missing.delete(effectId);
      if (missing.size === 0) complete.resolve();
    }),
  );
  const standings = (ids: readonly string[]): Promise<ReadonlyMap<string, Standing>> =>
    engine.read(shopId, (tx) => loadStandings(tx, shopId, ids));
  const take = (found: ReadonlyMap<string, Standing>, isOver: (effectId: string, each: Standing) => boolean): void => {
    for (const [effectId, standing] of found) {
      if (outcomes.has(effectId) || !isOver(effectId, standing)) continue;
      outcomes.set(effectId, standing.outcome);
      missing.delete(effectId);
    }
  };
  const isSettled = ({ outcome }: Standing): boolean => outcome.state !== "pending";
  try {
    const addedIds = new Set(added.map(({ effectId }) => effectId));
    const earlier = effectIds.filter((effectId) => !addedIds.has(effectId));
    const areNew = added.length > 0 && earlier.length === 0;
    start(shopId, areNew ? [...new Set(added.map(({ lane }) => lane))] : null);
    // What has just been stored has no attempt yet.
    const before = earlier.length === 0 ? new Map<string, Standing>() : await standings(earlier);
    take(before, (_, standing) => isSettled(standing));
    let checks = 0;
    for (let leftMs = waitMs; missing.size > 0 && leftMs > 0; leftMs -= otherNodeCheckMs) {
      await withinMs(complete.promise, alone ? leftMs : Math.min(leftMs, otherNodeCheckMs));
      if (alone || missing.size === 0) break;
      checks += 1;
      if (isAtWork(shopId) && checks % checksAtWork !== 0 && leftMs > otherNodeCheckMs) continue;
      // Another node may have run the lane.
      const isAttempted = (effectId: string, standing: Standing): boolean =>
        !standing.isClaimed && standing.attempts > (before.get(effectId)?.attempts ?? 0);
      take(await standings([...missing]), (id, standing) => isSettled(standing) || isAttempted(id, standing));
    }
  } finally {
    for (const end of ends) end();
  }
  return new Map(effectIds.map((effectId) => [effectId, outcomes.get(effectId) ?? { state: "pending" }]));
}
