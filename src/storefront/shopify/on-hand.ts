/**
 * Changes of on-hand as changes of Shopify's `available`: on hand rises with it, and what customers have ordered stays
 * as it is (F1).
 *
 * Every call is stored with its key and exact input before it is sent. It is repeated as it was until it has an
 * outcome, at most as long as Shopify knows the key. After that nobody can say whether it landed: its items stay
 * unknown until somebody clears them (C43).
 */
import { asQuantity, type Quantity, quantityToNumber } from "../../core/money/money.ts";
import {
  insertWriteStatement,
  loadWrite,
  type StorefrontWrite,
  updateWriteStatement,
  type WrittenBatch,
  type WrittenResult,
} from "../../shop/storefront/storefront-writes.ts";
import { chunksOf } from "../../store/in-lists.ts";
import type { Clock, Ids } from "../../base/time/clock.ts";
import type { Engine } from "../../store/store.ts";
import {
  type ItemResult,
  type OnHandChange,
  StorefrontError,
  type WriteContext,
  notThere,
  itemsText,
} from "../storefront.ts";
import {
  adjust,
  adjustInput,
  type AdjustedLevel,
  changesPerCallMax,
  keyFrom,
  keyHoldsMs,
  type RefusedChange,
} from "./adjust.ts";
import type { ShopifyClient } from "./client.ts";
import { levelsDocument } from "./documents.ts";
import { globalId } from "./ids.ts";
import { SerialCalls } from "../serial-calls.ts";
import { idsPerQueryMax, notTracked, type ShopifyVariants } from "./variants.ts";

/** Dependencies of the calls of one shop's store. */
export interface StoreDependencies {
  readonly shopId: string;
  readonly currencyCode: string;
  readonly engine: Engine;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly client: ShopifyClient;
  readonly variants: ShopifyVariants;
}

/** Largest lead of the change over Shopify's time of a level: Shopify rounds, and may note the level first. */
const levelSlackMs = 5_000;

/** Levels that are remembered for reads that were given up half way. */
export const levelsKeptMax = 5_000;

interface SeenLevel {
  readonly onHand: Quantity;
  /** When Shopify changed what is available; null when it does not say. */
  readonly changedAtMs: number | null;
  readonly seenAtMs: number;
}

/** The quantity in whole pieces; null for a fraction. */
export function piecesOf(quantity: Quantity): number | null {
  const pieces = quantityToNumber(quantity);
  return Number.isInteger(pieces) ? pieces : null;
}

export const fractional = (variantId: string, quantity: Quantity): Extract<ItemResult, { outcome: "rejected" }> => ({
  outcome: "rejected",
  reason: "fractional",
  message: `Shopify counts whole pieces, so variant ${variantId} cannot take ${quantityToNumber(quantity)}: make the quantity whole, or count the variant in a smaller unit`,
});

/** The rejection of an entry, in the port's words. */
export function rejectionOf(variantId: string, locationId: string, { reason, message }: RefusedChange): WrittenResult {
  switch (reason) {
    case "deleted":
      return notThere(variantId);
    case "unsyncable":
      return notTracked(variantId);
    case "unknown-location":
      return notALocation(locationId);
    default:
      return { outcome: "rejected", reason, message: `Shopify refuses the change of variant ${variantId}: ${message}` };
  }
}

export const notALocation = (locationId: string): WrittenResult => ({
  outcome: "rejected",
  reason: "unknown-location",
  message: `location ${locationId} is not a location of the Shopify store that can hold stock`,
});

export class ShopifyOnHand {
  readonly #parts: StoreDependencies;
  readonly #serialCalls = new SerialCalls();
  readonly #levels = new Map<string, SeenLevel>();

  constructor(parts: StoreDependencies) {
    this.#parts = parts;
  }

  async change(changes: readonly OnHandChange[], context: WriteContext): Promise<ItemResult[]> {
    if (changes.length === 0) return [];
    return await this.#serialCalls.run(context.reference, async () => {
      let write = await this.#stored(changes, context);
      /** Calls that this one does not send again. */
      const left = new Set<string>();
      let problem: StorefrontError | null = null;
      for (;;) {
        const batch = write.batches.find(({ key, state }) => state === "open" && !left.has(key));
        if (batch === undefined) break;
        const isTooOld = this.#parts.clock.now() - batch.createdAtMs >= keyHoldsMs;
        if (isTooOld && (write.clearedAtMs ?? 0) < batch.createdAtMs + keyHoldsMs) {
          left.add(batch.key);
          problem ??= tooOld();
          continue;
        }
        try {
          write = await this.#advance(write, batch, changes, context, isTooOld);
        } catch (error) {
          if (!(error instanceof StorefrontError)) throw error;
          problem = error;
          break;
        }
      }
      if (problem !== null && write.results.every((result) => result === null)) throw problem;
      const message = problem?.message ?? "Shopify has not answered for it";
      return write.results.map((result) => result ?? { outcome: "unknown", message });
    });
  }

  /**
   * The write under this reference, stored when it is new. @throws StorefrontError when the reference was used with
   * other items.
   */
  async #stored(
    changes: readonly OnHandChange[],
    { reference, documentUri, signal }: WriteContext,
  ): Promise<StorefrontWrite> {
    const { engine, shopId } = this.#parts;
    const items = itemsText(changes);
    const checked = (write: StorefrontWrite): StorefrontWrite => {
      if (write.items === items) return write;
      throw new StorefrontError("error", `reference ${reference} was used with other items`, { landed: "no" });
    };
    const known = await engine.read(shopId, (tx) => loadWrite(tx, shopId, reference));
    if (known !== null) return checked(known);
    const made = await this.#planned(changes, { reference, documentUri, items }, signal);
    return await engine.write(shopId, async (tx) => {
      const other = await loadWrite(tx, shopId, reference);
      if (other !== null) return checked(other);
      await tx.batch([insertWriteStatement(shopId, made)]);
      return made;
    });
  }

  /**
   * Returns the changes to send. Items that Shopify cannot take are rejected here, and those of one level are one
   * change.
   */
  async #planned(
    changes: readonly OnHandChange[],
    {
      reference,
      documentUri,
      items,
    }: { readonly reference: string; readonly documentUri: string; readonly items: string },
    signal: AbortSignal | undefined,
  ): Promise<StorefrontWrite> {
    const found = await this.#parts.variants.find(
      changes.map(({ variantId }) => variantId),
      "ids",
      signal,
    );
    const levels = new Map<string, AdjustedLevel & { readonly places: readonly number[] }>();
    const results = changes.map(({ variantId, locationId, delta }, place): WrittenResult | null => {
      const variant = found.get(variantId);
      const locationGid = globalId("Location", locationId);
      const pieces = piecesOf(delta);
      if (variant === undefined) return notThere(variantId);
      if (variant.state === "unsyncable") return notTracked(variantId);
      if (locationGid === null) return notALocation(locationId);
      if (pieces === null) return fractional(variantId, delta);
      if (pieces === 0) return { outcome: "unchanged" };
      const { itemGid } = variant;
      const name = `${itemGid} ${locationGid}`;
      const before = levels.get(name);
      levels.set(name, {
        itemGid,
        locationGid,
        delta: (before?.delta ?? 0) + pieces,
        places: [...(before?.places ?? []), place],
      });
      return null;
    });
    const sum = [...levels.values()];
    for (const { delta, places } of sum)
      if (delta === 0) for (const place of places) results[place] = { outcome: "unchanged" };
    const nowMs = this.#parts.clock.now();
    const batches = this.#batchesOf(
      sum.filter(({ delta }) => delta !== 0),
      documentUri,
      nowMs,
    );
    return { reference, items, results, batches, createdAtMs: nowMs, clearedAtMs: null };
  }

  #batchesOf(
    levels: readonly (AdjustedLevel & { readonly places: readonly number[] })[],
    documentUri: string,
    createdAtMs: number,
  ): readonly WrittenBatch[] {
    return chunksOf(levels, changesPerCallMax).map((chunk) => {
      const key = keyFrom(this.#parts.ids.next("sfb"));
      const places = chunk.map((level) => level.places);
      const input = adjustInput("available", key, documentUri, chunk);
      return { key, input, places, createdAtMs, state: "open", changedAtMs: null, landedAtMs: null };
    });
  }

  /**
   * Sends a batch, unless it `isRenewed`, and stores what has become of it. What is left of it is another batch, under
   * a new key.
   */
  async #advance(
    write: StorefrontWrite,
    batch: WrittenBatch,
    changes: readonly OnHandChange[],
    { documentUri, signal }: WriteContext,
    isRenewed: boolean,
  ): Promise<StorefrontWrite> {
    const { client, clock, engine, shopId } = this.#parts;
    const outcome = isRenewed ? ({ kind: "renew" } as const) : await adjust(client, batch.input, signal);
    const nowMs = clock.now();
    const results = [...write.results];
    const settled = (next: Partial<WrittenBatch>, ...more: readonly WrittenBatch[]): readonly WrittenBatch[] => [
      ...write.batches.map((each) => (each.key === batch.key ? { ...each, ...next } : each)),
      ...more,
    ];
    let batches: readonly WrittenBatch[];
    if (outcome.kind === "landed") {
      for (const place of batch.places.flat()) results[place] = { outcome: "applied" };
      batches = settled({ state: "landed", changedAtMs: outcome.changedAtMs, landedAtMs: nowMs });
    } else {
      const refused = outcome.kind === "refused" ? outcome.byIndex : new Map<number, RefusedChange>();
      for (const [index, why] of refused)
        for (const place of batch.places[index] ?? []) {
          const change = changes[place];
          if (change !== undefined) results[place] = rejectionOf(change.variantId, change.locationId, why);
        }
      const rest = levelsIn(batch).filter((_, index) => !refused.has(index));
      batches = settled({ state: "replaced" }, ...this.#batchesOf(rest, documentUri, nowMs));
    }
    const next = { ...write, results, batches };
    await engine.write(shopId, (tx) => tx.batch([updateWriteStatement(shopId, next)]));
    return next;
  }

  /** Reads the levels back. A change is verified when Shopify shows the level as changed since then. */
  async read(
    changes: readonly OnHandChange[],
    { reference, signal }: WriteContext,
  ): Promise<{ readonly verified: boolean; readonly onHand: Quantity | null }[]> {
    if (changes.length === 0) return [];
    const { engine, shopId, variants } = this.#parts;
    const write = await engine.read(shopId, (tx) => loadWrite(tx, shopId, reference));
    const found = await variants.find(
      changes.map(({ variantId }) => variantId),
      "ids",
      signal,
    );
    const isSame = write?.items === itemsText(changes);
    const landed = changes.map((_, place) => (isSame ? landedOf(write, place) : null));
    const placedItems = changes.map(({ variantId, locationId }, place) => {
      const itemGid = found.get(variantId)?.itemGid;
      const locationGid = globalId("Location", locationId);
      return itemGid === undefined || locationGid === null
        ? null
        : { itemGid, locationGid, change: landed[place] ?? null };
    });
    await this.#see(
      placedItems.filter((each) => each !== null),
      signal,
    );
    return placedItems.map((each, place) => {
      const level = each === null ? undefined : this.#levels.get(`${each.itemGid} ${each.locationGid}`);
      if (level === undefined) {
        variants.forget(changes.slice(place, place + 1).map(({ variantId }) => variantId));
        return { verified: false, onHand: null };
      }
      return { verified: isShown(level, each?.change ?? null), onHand: level.onHand };
    });
  }

  /** Looks these levels up, but for those that were seen with their change. */
  async #see(
    placedItems: readonly {
      readonly itemGid: string;
      readonly locationGid: string;
      readonly change: WrittenBatch | null;
    }[],
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { client, clock } = this.#parts;
    const wanted = placedItems.filter(({ itemGid, locationGid, change }) => {
      const seen = this.#levels.get(`${itemGid} ${locationGid}`);
      return seen === undefined || seen.seenAtMs < (change?.landedAtMs ?? Infinity) || !isShown(seen, change);
    });
    for (const [locationId, levels] of Map.groupBy(wanted, ({ locationGid }) => locationGid))
      for (const ids of chunksOf([...new Set(levels.map(({ itemGid }) => itemGid))], idsPerQueryMax)) {
        const { nodes } = await client.ask(
          levelsDocument,
          { ids, locationId },
          { writes: false, items: ids.length, signal },
        );
        for (const [place, node] of nodes.entries()) {
          if (node === null) {
            this.#levels.delete(`${ids[place]} ${locationId}`);
            continue;
          }
          const quantities = new Map((node.inventoryLevel?.quantities ?? []).map((each) => [each.name, each]));
          const changed = quantities.get("available")?.updatedAt ?? null;
          const name = `${node.id} ${locationId}`;
          this.#levels.delete(name);
          this.#levels.set(name, {
            onHand: asQuantity((quantities.get("on_hand")?.quantity ?? 0) * 1_000),
            changedAtMs: changed === null ? null : Date.parse(changed),
            seenAtMs: clock.now(),
          });
        }
        for (const name of this.#levels.keys()) {
          if (this.#levels.size <= levelsKeptMax) break;
          this.#levels.delete(name);
        }
      }
  }
}

/** True if the level that was seen has the change in it, by Shopify's own times. */
const isShown = (level: SeenLevel, change: WrittenBatch | null): boolean =>
  change !== null && (level.changedAtMs ?? Infinity) >= (change.changedAtMs ?? 0) - levelSlackMs;

const tooOld = (): StorefrontError =>
  new StorefrontError(
    "error",
    "it is not known whether an earlier call landed, and Shopify forgets such a call after 24 hours: compare the stock at Shopify, then clear it with storefront-sync/reset",
    { landed: "maybe" },
  );

/** The call with which the item landed; null when it did not. */
const landedOf = (write: StorefrontWrite | null, place: number): WrittenBatch | null =>
  write?.batches.find(({ state, places }) => state === "landed" && places.some((each) => each.includes(place))) ?? null;

/** The changes of a batch, from its own input. */
function levelsIn({
  input,
  places,
}: WrittenBatch): readonly (AdjustedLevel & { readonly places: readonly number[] })[] {
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
    itemGid: inventoryItemId,
    locationGid: locationId,
    delta,
    places: places[index] ?? [],
  }));
}
