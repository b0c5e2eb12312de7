/**
 * Incoming quantities. Shopify shows one number of all apps, which can be changed but not set. So our part of it is
 * kept here, and a target becomes the difference to it (C41). Every call has one ledger document, Shopify's rule.
 *
 * Calls of one location are made one after another, and one without an outcome is repeated before anything else is
 * computed. When Shopify has forgotten its key, it counts as landed: what is incoming may then be too low, but never
 * twice too high.
 */
import { asQuantity, type Quantity, zeroQuantity } from "../../core/money/money.ts";
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
import { adjust, adjustInput, type AdjustedLevel, changesPerCallMax, keyFrom, keyHoldsMs } from "./adjust.ts";
import { globalId } from "./ids.ts";
import { fractional, notALocation, piecesOf, rejectionOf, type StoreDependencies } from "./on-hand.ts";
import { SerialCalls } from "../serial-calls.ts";
import { notTracked } from "./variants.ts";

/** Times that the rest of a call is sent; each time it is less, or under a new key. */
const roundsMax = 20;

interface Target {
  readonly variantId: string;
  readonly locationId: string;
  readonly incoming: Quantity;
}

/** A change on its way to the store. */
interface Change extends AdjustedLevel {
  readonly variantId: string;
}

export class ShopifyIncoming {
  readonly #parts: StoreDependencies;
  readonly #serialCalls = new SerialCalls();

  constructor(parts: StoreDependencies) {
    this.#parts = parts;
  }

  async set(targets: readonly Target[], context: WriteContext): Promise<ItemResult[]> {
    const results = new Map<Target, ItemResult>();
    let problem: StorefrontError | null = null;
    for (const [locationId, ofLocation] of Map.groupBy(targets, (target) => target.locationId))
      try {
        const set = await this.#serialCalls.run(locationId, () => this.#setAt(locationId, ofLocation, context));
        for (const [index, target] of ofLocation.entries()) {
          const result = set[index];
          if (result !== undefined) results.set(target, result);
        }
      } catch (error) {
        if (!(error instanceof StorefrontError)) throw error;
        problem = error;
      }
    if (problem !== null && results.size === 0) throw problem;
    const message = problem?.message ?? "Shopify has not answered for it";
    return targets.map((target) => results.get(target) ?? { outcome: "unknown", message });
  }

  async #setAt(locationId: string, targets: readonly Target[], context: WriteContext): Promise<ItemResult[]> {
    const { engine, shopId, variants } = this.#parts;
    const { signal } = context;
    const open = await engine.read(shopId, (tx) => loadIncomingBatches(tx, shopId, locationId));
    for (const batch of open) await this.#send(locationId, batch, context);
    const variantIds = targets.map(({ variantId }) => variantId);
    const own = await engine.read(shopId, (tx) => loadOwnIncoming(tx, shopId, locationId, variantIds));
    const changed = targets.filter(({ variantId, incoming }) => incoming !== (own.get(variantId) ?? 0));
    if (changed.length === 0) return targets.map(() => ({ outcome: "unchanged" }));
    const locationGid = globalId("Location", locationId);
    const found = await variants.find(
      changed.map(({ variantId }) => variantId),
      "ids",
      signal,
    );
    const results = new Map<string, ItemResult>();
    const changes: Change[] = [];
    for (const { variantId, incoming } of changed) {
      const before = own.get(variantId) ?? zeroQuantity;
      const delta = piecesOf(asQuantity(incoming - before));
      const variant = found.get(variantId);
      if (variant === undefined || variant.state === "unsyncable") {
        // Nothing incoming is right for a variant that is not there.
        const isGone = incoming === 0;
        if (isGone) await forgetOwnIncoming(this.#parts, locationId, variantId);
        const refused = variant === undefined ? notThere(variantId) : notTracked(variantId);
        results.set(variantId, isGone ? { outcome: "unchanged" } : refused);
      } else if (locationGid === null) results.set(variantId, notALocation(locationId));
      else if (delta === null) results.set(variantId, fractional(variantId, incoming));
      else changes.push({ variantId, itemGid: variant.itemGid, locationGid, delta });
    }
    for (const chunk of chunksOf(changes, changesPerCallMax))
      for (const [variantId, result] of await this.#send(
        locationId,
        await this.#stored(locationId, chunk, context),
        context,
      ))
        results.set(variantId, result);
    return targets.map(({ variantId, incoming }) => {
      const result = results.get(variantId) ?? { outcome: "unchanged" };
      const isGone = incoming === 0 && result.outcome === "rejected" && result.reason === "deleted";
      if (isGone) variants.forget([variantId]);
      return isGone ? { outcome: "unchanged" } : result;
    });
  }

  /** Stores a call that is about to be sent; `replaces`: in place of one of which nothing was done. */
  async #stored(
    locationId: string,
    changes: readonly Change[],
    { documentUri }: WriteContext,
    replaces: string | null = null,
  ): Promise<IncomingBatch> {
    const { engine, shopId, ids, clock } = this.#parts;
    const key = keyFrom(ids.next("sfb"));
    const batch: IncomingBatch = {
      key,
      input: adjustInput("incoming", key, documentUri, changes),
      items: changes.map(({ variantId, delta }) => ({ variantId, delta: asQuantity(delta * 1_000) })),
      createdAtMs: clock.now(),
    };
    await engine.write(shopId, (tx) =>
      tx.batch([
        ...(replaces === null ? [] : settleIncomingStatements(shopId, locationId, replaces, [])),
        ...(changes.length === 0 ? [] : [insertIncomingBatchStatement(shopId, locationId, batch)]),
      ]),
    );
    return batch;
  }

  /** Sends a call until it has an outcome, and stores that. @throws StorefrontError when it has none. */
  async #send(
    locationId: string,
    first: IncomingBatch,
    context: WriteContext,
  ): Promise<ReadonlyMap<string, ItemResult>> {
    const { client, clock, engine, shopId } = this.#parts;
    const results = new Map<string, ItemResult>();
    let batch = first;
    for (let rounds = 0; batch.items.length > 0; rounds += 1) {
      if (rounds === roundsMax)
        throw new StorefrontError("error", "Shopify refused what was left of a call again and again", { landed: "no" });
      const isTooOld = clock.now() - batch.createdAtMs >= keyHoldsMs;
      const outcome = isTooOld ? ({ kind: "landed" } as const) : await adjust(client, batch.input, context.signal);
      if (outcome.kind === "landed") {
        const { key, items } = batch;
        await engine.write(shopId, (tx) => tx.batch(settleIncomingStatements(shopId, locationId, key, items)));
        for (const { variantId } of items) results.set(variantId, { outcome: "applied" });
        return results;
      }
      const changes = changesIn(batch);
      const refused = outcome.kind === "refused" ? outcome.byIndex : new Map<number, never>();
      for (const [index, why] of refused) {
        const change = changes[index];
        if (change === undefined) continue;
        const result = rejectionOf(change.variantId, locationId, why);
        results.set(change.variantId, result);
        if (result.outcome === "rejected" && result.reason === "deleted")
          await forgetOwnIncoming(this.#parts, locationId, change.variantId);
      }
      const rest = changes.filter((_, index) => !refused.has(index));
      batch = await this.#stored(locationId, rest, context, batch.key);
    }
    return results;
  }
}

/** The changes of a stored call, from its own input. */
function changesIn({ input, items }: IncomingBatch): readonly Change[] {
  const parsed: {
    readonly input: {
      readonly changes: readonly {
        readonly inventoryItemId: string;
        readonly locationId: string;
        readonly delta: number;
      }[];
    };
  } = JSON.parse(input);
  return parsed.input.changes.map(({ inventoryItemId, locationId, delta }, index) => ({
    variantId: items[index]?.variantId ?? "",
    itemGid: inventoryItemId,
    locationGid: locationId,
    delta,
  }));
}
