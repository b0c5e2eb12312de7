/**
 * The sandbox's rows: what is read of them and the statements that change them. Amounts are scaled integers as
 * everywhere (D1).
 */
import { type Money, type Quantity, asMoney, asQuantity } from "../../core/money/money.ts";
import { selectIn } from "../../store/in-lists.ts";
import type { Statement, Tx } from "../../store/store.ts";
import type { ItemResult, OnHandChange, OwnVariant, VariantState } from "../storefront.ts";
import type { SandboxLevel, SandboxVariant } from "./control.ts";
import type { SandboxCall } from "./faults.ts";
import { levelKey } from "../../core/goods/incoming.ts";

export interface VariantRow {
  readonly variant_id: string;
  readonly product_id: string;
  readonly status: VariantState;
  readonly unit_cost: number | null;
}

interface LevelRow {
  readonly variant_id: string;
  readonly location_id: string;
  readonly on_hand: number;
  readonly incoming: number;
}

export interface ChangeRow {
  readonly variant_id: string;
  readonly location_id: string;
  readonly delta: number;
  readonly outcome: "applied" | "rejected";
  readonly reason: string | null;
  readonly message: string | null;
  readonly visible_at: number;
}

export const countCall = (shopId: string, name: SandboxCall): Statement => ({
  sql: `insert into sandbox_call (shop_id, call, count) values (?, ?, 1)
        on conflict (shop_id, call) do update set count = sandbox_call.count + 1`,
  params: [shopId, name],
});

export const idsOf = (items: readonly { readonly variantId: string }[]): readonly string[] =>
  items.map((item) => item.variantId);

/** The variants that are there, by id. */
export async function loadVariants(
  tx: Tx,
  shopId: string,
  variantIds: readonly string[],
): Promise<ReadonlyMap<string, VariantRow>> {
  const rows = await selectIn<VariantRow>(
    tx,
    "select variant_id, product_id, status, unit_cost from sandbox_variant where shop_id = ? and variant_id in (?) order by variant_id",
    [shopId],
    variantIds,
  );
  return new Map(rows.map((row) => [row.variant_id, row]));
}

interface TagRow {
  readonly product_id: string;
  readonly tag: string;
}

const tagsByProduct = (rows: readonly TagRow[]): ReadonlyMap<string, readonly string[]> =>
  new Map(
    [...Map.groupBy(rows, (row) => row.product_id)].map(([productId, tags]) => [
      productId,
      [...new Set(tags.map((row) => row.tag))],
    ]),
  );

/** Tags by product id, of the products that these variants are of. */
export const loadTags = async (
  tx: Tx,
  shopId: string,
  variantIds: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> =>
  tagsByProduct(
    await selectIn<TagRow>(
      tx,
      `select t.product_id, t.tag from sandbox_variant v
       join sandbox_tag t on t.shop_id = v.shop_id and t.product_id = v.product_id
       where v.shop_id = ? and v.variant_id in (?) order by t.product_id, t.tag`,
      [shopId],
      variantIds,
    ),
  );

/** The changes that were made under a reference, in their order. */
export const loadChanges = (tx: Tx, shopId: string, reference: string): Promise<readonly ChangeRow[]> =>
  tx.all<ChangeRow>(
    `select variant_id, location_id, delta, outcome, reason, message, visible_at from sandbox_change
     where shop_id = ? and reference = ? order by position`,
    [shopId, reference],
  );

/** Accepted changes that are not readable yet (X4), summed by `levelKey`. */
export async function loadUnseen(tx: Tx, shopId: string, nowMs: number): Promise<ReadonlyMap<string, number>> {
  const rows = await tx.all<{ variant_id: string; location_id: string; delta: number }>(
    `select variant_id, location_id, cast(sum(delta) as bigint) as delta from sandbox_change
     where shop_id = ? and visible_at > ? and outcome = 'applied' group by variant_id, location_id`,
    [shopId, nowMs],
  );
  return new Map(rows.map((row) => [levelKey(row.variant_id, row.location_id), row.delta]));
}

interface ReadLevel extends SandboxLevel {
  readonly variantId: string;
}

/** Readable levels of these variants, by `levelKey`. */
export async function loadLevels(
  tx: Tx,
  shopId: string,
  variantIds: readonly string[],
  nowMs: number,
): Promise<ReadonlyMap<string, ReadLevel>> {
  const [unseen, rows] = await Promise.all([
    loadUnseen(tx, shopId, nowMs),
    selectIn<LevelRow>(
      tx,
      `select variant_id, location_id, on_hand, incoming from sandbox_level
       where shop_id = ? and variant_id in (?) order by variant_id, location_id`,
      [shopId],
      variantIds,
    ),
  ]);
  return new Map(
    rows.map((row) => {
      const key = levelKey(row.variant_id, row.location_id);
      return [
        key,
        {
          variantId: row.variant_id,
          locationId: row.location_id,
          onHand: asQuantity(row.on_hand - (unseen.get(key) ?? 0)),
          incoming: asQuantity(row.incoming),
        },
      ];
    }),
  );
}

/** Variants with tags and readable levels; null: all variants. */
export async function loadState(
  tx: Tx,
  shopId: string,
  variantIds: readonly string[] | null,
  nowMs: number,
): Promise<readonly SandboxVariant[]> {
  const rows =
    variantIds === null
      ? await tx.all<VariantRow>(
          "select variant_id, product_id, status, unit_cost from sandbox_variant where shop_id = ? order by variant_id",
          [shopId],
        )
      : [...(await loadVariants(tx, shopId, variantIds)).values()];
  const tags = await loadTags(tx, shopId, idsOf(rows.map((row) => ({ variantId: row.variant_id }))));
  const levels = Map.groupBy(
    (await loadLevels(tx, shopId, idsOf(rows.map((row) => ({ variantId: row.variant_id }))), nowMs)).values(),
    (level) => level.variantId,
  );
  return rows.map((row) => ({
    variantId: row.variant_id,
    status: row.status,
    unitCost: row.unit_cost === null ? null : asMoney(row.unit_cost),
    tags: tags.get(row.product_id) ?? [],
    levels: (levels.get(row.variant_id) ?? []).map(({ locationId, onHand, incoming }) => ({
      locationId,
      onHand,
      incoming,
    })),
  }));
}

/** Returns the number of times that each call was made; one that never was is left out. */
export async function loadCallCounts(tx: Tx, shopId: string): Promise<Readonly<Partial<Record<SandboxCall, number>>>> {
  const rows = await tx.all<{ call: SandboxCall; count: number }>(
    "select call, count from sandbox_call where shop_id = ? order by call",
    [shopId],
  );
  return Object.fromEntries(rows.map((row) => [row.call, row.count]));
}

/** Adds the variant or replaces it. */
export const seedVariant = (shopId: string, variant: OwnVariant): Statement => ({
  sql: `insert into sandbox_variant (shop_id, variant_id, product_id, status, unit_cost) values (?, ?, ?, ?, ?)
        on conflict (shop_id, variant_id) do update set
          product_id = excluded.product_id, status = excluded.status, unit_cost = excluded.unit_cost`,
  params: [shopId, variant.variantId, variant.productId, variant.status, variant.unitCost],
});

export const statusStatement = (shopId: string, variantId: string, status: VariantState): Statement => ({
  sql: "update sandbox_variant set status = ? where shop_id = ? and variant_id = ?",
  params: [status, shopId, variantId],
});

export const costStatement = (shopId: string, variantId: string, unitCost: Money | null): Statement => ({
  sql: "update sandbox_variant set unit_cost = ? where shop_id = ? and variant_id = ?",
  params: [unitCost, shopId, variantId],
});

export const tagStatement = (shopId: string, productId: string, tag: string, present: boolean): Statement => ({
  sql: present
    ? "insert into sandbox_tag (shop_id, product_id, tag) values (?, ?, ?) on conflict (shop_id, product_id, tag) do nothing"
    : "delete from sandbox_tag where shop_id = ? and product_id = ? and tag = ?",
  params: [shopId, productId, tag],
});

/** Sets the given figures; a level that is not there begins at 0. */
export const setLevel = (
  shopId: string,
  variantId: string,
  locationId: string,
  figures: { readonly onHand?: Quantity; readonly incoming?: Quantity },
): Statement => {
  const set = [
    ...(figures.onHand === undefined ? [] : ["on_hand = excluded.on_hand"]),
    ...(figures.incoming === undefined ? [] : ["incoming = excluded.incoming"]),
  ];
  return {
    sql: `insert into sandbox_level (shop_id, variant_id, location_id, on_hand, incoming) values (?, ?, ?, ?, ?)
          on conflict (shop_id, variant_id, location_id) do ${set.length === 0 ? "nothing" : `update set ${set.join(", ")}`}`,
    params: [shopId, variantId, locationId, figures.onHand ?? 0, figures.incoming ?? 0],
  };
};

export const addOnHand = (shopId: string, change: OnHandChange): Statement => ({
  sql: `insert into sandbox_level (shop_id, variant_id, location_id, on_hand, incoming) values (?, ?, ?, ?, ?)
        on conflict (shop_id, variant_id, location_id) do update set on_hand = sandbox_level.on_hand + excluded.on_hand`,
  params: [shopId, change.variantId, change.locationId, change.delta, 0],
});

export const keepChange = (
  shopId: string,
  reference: string,
  position: number,
  change: OnHandChange,
  result: ItemResult,
  visibleAtMs: number,
): Statement => ({
  sql: `insert into sandbox_change
          (shop_id, reference, position, variant_id, location_id, delta, outcome, reason, message, visible_at)
        values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  params: [
    shopId,
    reference,
    position,
    change.variantId,
    change.locationId,
    change.delta,
    result.outcome,
    result.outcome === "rejected" ? result.reason : null,
    result.outcome === "rejected" ? result.message : null,
    visibleAtMs,
  ],
});
