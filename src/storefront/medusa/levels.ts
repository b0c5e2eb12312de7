/**
 * Inventory levels at Medusa: reading them, and setting a quantity of theirs as carefully as the Admin API allows.
 * Medusa can only be told what a level is to be, not what to add. So a level is looked at again right before the write,
 * and not written when it has changed.
 *
 * What remains is a change between that look and the write. Medusa's answer shows the available stock at the time when
 * Medusa loaded the level for the write. So such a change is noticed, and its difference can be added again. A version
 * that shows the new figure there says nothing.
 */
import { z } from "zod";
import { chunksOf } from "../../store/in-lists.ts";
import { StorefrontError } from "../storefront.ts";
import { aFewAtATime, type MedusaClient } from "./client.ts";
import { byIds, idsPerCallMax } from "./variants.ts";

/** Levels that one call sets. Medusa sets all of a call or none. */
export const levelsPerCallMax = 100;

/** Which figure of a level is set. */
type LevelField = "stocked_quantity" | "incoming_quantity";

export interface Level {
  readonly stocked_quantity: number;
  readonly incoming_quantity: number;
  readonly reserved_quantity: number;
  readonly updatedAtMs: number;
}

/** A level that is to be set, and as it was seen. */
export interface LevelWrite {
  readonly itemId: string;
  readonly locationId: string;
  /** Null: there was no level, and it is made. */
  readonly before: number | null;
  readonly after: number;
}

/** Outcome of a write. `moved`: a level is not as it was seen, and nothing was written. */
type Written =
  | { readonly kind: "moved" }
  | { readonly kind: "refused"; readonly message: string }
  | {
      readonly kind: "landed";
      readonly changedAtMs: number;
      /** By place in the write: what the level was when it was overwritten, when that is not what was seen. */
      readonly overwritten: ReadonlyMap<number, number>;
    };

export const levelName = (itemId: string, locationId: string): string => `${itemId} ${locationId}`;

/** A figure without the noise of binary fractions: 0.1 + 0.2 is 0.3. */
export const tidy = (figure: number): number => Number(figure.toPrecision(15));

const itemsAnswer = z.object({
  inventory_items: z.array(
    z.object({
      id: z.string(),
      location_levels: z
        .array(
          z.object({
            location_id: z.string(),
            stocked_quantity: z.number(),
            incoming_quantity: z.number(),
            reserved_quantity: z.number(),
            updated_at: z.string(),
          }),
        )
        .nullish(),
    }),
  ),
});

const levelFields = `id,${["location_id", "stocked_quantity", "incoming_quantity", "reserved_quantity", "updated_at"]
  .map((field) => `location_levels.${field}`)
  .join(",")}`;

const writtenLevel = z.object({
  inventory_item_id: z.string(),
  location_id: z.string(),
  stocked_quantity: z.number(),
  incoming_quantity: z.number(),
  reserved_quantity: z.number().nullish(),
  available_quantity: z.number().nullish(),
  updated_at: z.string(),
});

const batchAnswer = z.object({
  created: z.array(writtenLevel).nullish(),
  updated: z.array(writtenLevel).nullish(),
});

export class MedusaLevels {
  readonly #client: MedusaClient;
  /**
   * True if this Medusa's answers show the stock before the write: seen with a level that had stock and got another
   * one.
   */
  #showsBefore = false;

  constructor(client: MedusaClient) {
    this.#client = client;
  }

  /** All levels of these inventory items, by `levelName`; items that are gone have none. */
  async read(itemIds: readonly string[], signal: AbortSignal | undefined): Promise<ReadonlyMap<string, Level>> {
    const levels = new Map<string, Level>();
    await aFewAtATime(chunksOf([...new Set(itemIds)], idsPerCallMax), async (ids) => {
      const path = `/admin/inventory-items${byIds(ids, levelFields)}`;
      const { inventory_items: items } = await this.#client.ask(path, itemsAnswer, { signal });
      for (const { id, location_levels: ofItem } of items)
        for (const { location_id: locationId, updated_at: updatedAt, ...figures } of ofItem ?? [])
          levels.set(levelName(id, locationId), {
            stocked_quantity: tidy(figures.stocked_quantity),
            incoming_quantity: tidy(figures.incoming_quantity),
            reserved_quantity: tidy(figures.reserved_quantity),
            updatedAtMs: Date.parse(updatedAt),
          });
    });
    return levels;
  }

  /**
   * Sets one figure of at most `levelsPerCallMax` levels, all or none, unless one is not as it was seen. The levels are
   * either all new or all there.
   *
   * @throws StorefrontError
   */
  async write(field: LevelField, writes: readonly LevelWrite[], signal: AbortSignal | undefined): Promise<Written> {
    const seen = await this.read(
      writes.map(({ itemId }) => itemId),
      signal,
    );
    const hasMoved = writes.some(
      ({ itemId, locationId, before }) => (seen.get(levelName(itemId, locationId))?.[field] ?? null) !== before,
    );
    if (hasMoved) return { kind: "moved" };
    const member = writes.some(({ before }) => before === null) ? "create" : "update";
    const body = {
      [member]: writes.map(({ itemId, locationId, after }) => ({
        inventory_item_id: itemId,
        location_id: locationId,
        [field]: after,
      })),
    };
    const written = await this.#client.tell("/admin/inventory-items/location-levels/batch", body, batchAnswer, {
      signal,
    });
    if (written.kind === "refused") return written;
    const answered = new Map(
      [...(written.answer.created ?? []), ...(written.answer.updated ?? [])].map((level) => [
        levelName(level.inventory_item_id, level.location_id),
        level,
      ]),
    );
    const times = writes.map(({ itemId, locationId, after }) => {
      const level = answered.get(levelName(itemId, locationId));
      if (level === undefined || tidy(level[field]) !== after)
        throw new StorefrontError("error", "Medusa answered without an error, but does not show the new stock level", {
          landed: "maybe",
        });
      return Date.parse(level.updated_at);
    });
    return {
      kind: "landed",
      changedAtMs: Math.min(...times),
      overwritten: this.#overwritten(field, writes, answered),
    };
  }

  #overwritten(
    field: LevelField,
    writes: readonly LevelWrite[],
    answered: ReadonlyMap<string, z.output<typeof writtenLevel>>,
  ): ReadonlyMap<number, number> {
    const overwritten = new Map<number, number>();
    if (field !== "stocked_quantity") return overwritten;
    const loaded = writes.map(({ itemId, locationId }) => {
      const level = answered.get(levelName(itemId, locationId));
      const [available, reserved] = [level?.available_quantity ?? null, level?.reserved_quantity ?? null];
      return available === null || reserved === null ? null : tidy(available + reserved);
    });
    this.#showsBefore ||= writes.some(
      ({ before, after }, place) => before !== null && before !== 0 && loaded[place] === before && before !== after,
    );
    if (!this.#showsBefore) return overwritten;
    for (const [place, { before }] of writes.entries()) {
      const was = loaded[place] ?? null;
      if (before !== null && was !== null && was !== before) overwritten.set(place, was);
    }
    return overwritten;
  }
}
