/**
 * Incoming quantities. Medusa shows one number for a level, which others may use too. So our part of it is kept here,
 * and a target becomes the difference to it (C41).
 *
 * Calls of one location are made one after another. One without an outcome is settled by the levels before anything
 * else is computed. Where they show neither the old nor the new figure, it counts as landed. Incoming stock may then be
 * too low, but never twice too high.
 */
import { asQuantity, type Quantity, quantityToNumber, zeroQuantity } from "../../core/money/money.ts";
import {
  forgetOwnIncoming,
  type IncomingBatch,
  insertIncomingBatchStatement,
  loadIncomingBatches,
  loadOwnIncoming,
  settleIncomingStatements,
} from "../../shop/storefront/storefront-writes.ts";
import { chunksOf } from "../../store/in-lists.ts";
import { type ItemResult, StorefrontError, type WriteContext, notThere } from "../storefront.ts";
import { SerialCalls } from "../serial-calls.ts";
import { levelName, levelsPerCallMax, type LevelWrite, tidy } from "./levels.ts";
import { replansMax, type StoreDependencies } from "./on-hand.ts";
import { notALocation, notTracked } from "./variants.ts";

interface Target {
  readonly variantId: string;
  readonly locationId: string;
  readonly incoming: Quantity;
}

/** Difference to add to the figure of a variant's level. */
interface Change {
  readonly variantId: string;
  readonly itemId: string;
  readonly delta: Quantity;
}

type Results = Map<string, ItemResult>;

export class MedusaIncoming {
  readonly #parts: StoreDependencies;
  readonly #serialCalls = new SerialCalls();

  constructor(parts: StoreDependencies) {
    this.#parts = parts;
  }

  async set(targets: readonly Target[], { signal }: WriteContext): Promise<ItemResult[]> {
    const results = new Map<Target, ItemResult>();
    let problem: StorefrontError | null = null;
    for (const [locationId, ofLocation] of Map.groupBy(targets, (target) => target.locationId))
      try {
        const set = await this.#serialCalls.run(locationId, () => this.#setAt(locationId, ofLocation, signal));
        for (const target of ofLocation) results.set(target, set.get(target.variantId) ?? { outcome: "unchanged" });
      } catch (error) {
        if (!(error instanceof StorefrontError)) throw error;
        problem = error;
      }
    if (problem !== null && results.size === 0) throw problem;
    const message = problem?.message ?? "Medusa has not answered for it";
    return targets.map((target) => results.get(target) ?? { outcome: "unknown", message });
  }

  async #setAt(locationId: string, targets: readonly Target[], signal: AbortSignal | undefined): Promise<Results> {
    const { engine, shopId, variants } = this.#parts;
    const results: Results = new Map();
    for (const batch of await engine.read(shopId, (tx) => loadIncomingBatches(tx, shopId, locationId)))
      await this.#settleLost(locationId, batch, signal);
    const variantIds = targets.map(({ variantId }) => variantId);
    const own = await engine.read(shopId, (tx) => loadOwnIncoming(tx, shopId, locationId, variantIds));
    const changed = targets.filter(({ variantId, incoming }) => incoming !== (own.get(variantId) ?? zeroQuantity));
    if (changed.length === 0) return results;
    const [found, locations] = await Promise.all([
      variants.find(
        changed.map(({ variantId }) => variantId),
        signal,
      ),
      variants.locations([locationId], signal),
    ]);
    const changes: Change[] = [];
    for (const { variantId, incoming } of changed) {
      const variant = found.get(variantId);
      const itemId = variant?.itemId ?? null;
      const delta = asQuantity(incoming - (own.get(variantId) ?? zeroQuantity));
      if (itemId !== null && locations.has(locationId)) changes.push({ variantId, itemId, delta });
      else {
        // Nothing incoming is right for what is not there.
        if (incoming === 0) await forgetOwnIncoming(this.#parts, locationId, variantId);
        const unsyncable = variant === undefined ? notThere(variantId) : notTracked(variantId);
        const refused = itemId === null ? unsyncable : notALocation(locationId);
        results.set(variantId, incoming === 0 ? { outcome: "unchanged" } : refused);
      }
    }
    // Variants of one inventory item share its level, so they are not in one call.
    for (const apart of ofDistinctItems(changes))
      for (const chunk of chunksOf(apart, levelsPerCallMax)) await this.#change(locationId, chunk, results, signal);
    return results;
  }

  /** Makes these changes, and adds what became of each to `results`. */
  async #change(
    locationId: string,
    changes: readonly Change[],
    results: Results,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { levels } = this.#parts;
    for (let plans = 0; plans < replansMax; plans += 1) {
      const now = await levels.read(
        changes.map(({ itemId }) => itemId),
        signal,
      );
      const writes = changes.map(({ itemId, delta }): LevelWrite => {
        const before = now.get(levelName(itemId, locationId))?.incoming_quantity ?? null;
        // Somebody has taken away what is ours: it does not go below nothing.
        return { itemId, locationId, before, after: Math.max(0, tidy((before ?? 0) + quantityToNumber(delta))) };
      });
      const isNew = ({ before }: LevelWrite): boolean => before === null;
      if (writes.some(isNew) && !writes.every(isNew)) {
        for (const part of [true, false])
          await this.#change(
            locationId,
            changes.filter(
              (_, index) => isNew(writes[index] ?? { itemId: "", locationId, before: 0, after: 0 }) === part,
            ),
            results,
            signal,
          );
        return;
      }
      const batch = await this.#stored(locationId, changes, writes);
      let outcome: Awaited<ReturnType<typeof levels.write>>;
      try {
        outcome = await levels.write("incoming_quantity", writes, signal);
      } catch (error) {
        if (error instanceof StorefrontError && error.landed === "no") await this.#settle(locationId, batch, []);
        throw error;
      }
      await this.#settle(locationId, batch, outcome.kind === "landed" ? batch.items : []);
      if (outcome.kind === "landed") {
        for (const { variantId } of changes) results.set(variantId, { outcome: "applied" });
        return;
      }
      if (outcome.kind === "refused") return await this.#refused(locationId, changes, outcome.message, results, signal);
    }
    throw new StorefrontError("throttled", "Medusa's stock levels kept changing while they were compared", {
      landed: "no",
      retryAfterMs: 500,
    });
  }

  /** Of several levels each half is tried alone, a single one is rejected. */
  async #refused(
    locationId: string,
    changes: readonly Change[],
    why: string,
    results: Results,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const [only, ...others] = changes;
    if (only !== undefined && others.length === 0) {
      const message = `Medusa refuses what is incoming of variant ${only.variantId}: ${why}`;
      results.set(only.variantId, { outcome: "rejected", reason: "refused", message });
      return;
    }
    for (const half of chunksOf(changes, Math.ceil(changes.length / 2)))
      await this.#change(locationId, half, results, signal);
  }

  /** Stores a call that is about to be sent. */
  async #stored(locationId: string, changes: readonly Change[], writes: readonly LevelWrite[]): Promise<IncomingBatch> {
    const { engine, shopId, ids, clock } = this.#parts;
    const batch: IncomingBatch = {
      key: ids.next("sfb"),
      input: JSON.stringify(writes),
      items: changes.map(({ variantId, delta }) => ({ variantId, delta })),
      createdAtMs: clock.now(),
    };
    await engine.write(shopId, (tx) => tx.batch([insertIncomingBatchStatement(shopId, locationId, batch)]));
    return batch;
  }

  async #settle(locationId: string, { key }: IncomingBatch, landed: IncomingBatch["items"]): Promise<void> {
    const { engine, shopId } = this.#parts;
    await engine.write(shopId, (tx) => tx.batch(settleIncomingStatements(shopId, locationId, key, landed)));
  }

  /** Finds out what became of a call without an answer: all of it has landed or nothing. */
  async #settleLost(locationId: string, batch: IncomingBatch, signal: AbortSignal | undefined): Promise<void> {
    const writes: readonly LevelWrite[] = JSON.parse(batch.input);
    const now = await this.#parts.levels.read(
      writes.map(({ itemId }) => itemId),
      signal,
    );
    const shows = (figure: "before" | "after"): boolean =>
      writes.some(
        (write) =>
          write.before !== write.after &&
          (now.get(levelName(write.itemId, locationId))?.incoming_quantity ?? null) === write[figure],
      );
    await this.#settle(locationId, batch, shows("after") || !shows("before") ? batch.items : []);
  }
}

/** The changes in lists in which no inventory item is twice. */
function ofDistinctItems(changes: readonly Change[]): readonly (readonly Change[])[] {
  const lists: Change[][] = [];
  const seen = new Map<string, number>();
  for (const change of changes) {
    const list = seen.get(change.itemId) ?? 0;
    seen.set(change.itemId, list + 1);
    (lists[list] ??= []).push(change);
  }
  return lists;
}
