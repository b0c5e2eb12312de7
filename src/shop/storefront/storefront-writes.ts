/**
 * Writes that were sent to a storefront, as rows. They are stored before the call. So a retry sends the very same input
 * under the same key, or the outcome of a lost call can be found out.
 *
 * Owns: the SQL of `storefront_write`, `storefront_incoming` and `storefront_incoming_batch`. Does not own: what is
 * sent, and what an answer means (storefront/shopify, storefront/medusa).
 */
import { asQuantity, type Quantity } from "../../core/money/money.ts";
import { selectIn } from "../../store/in-lists.ts";
import type { Engine, Tx } from "../../store/store.ts";
import { type Change, type Row, changeOf, insert, update, remove, textForm } from "../../store/change.ts";
import { tables } from "../tables.ts";

/** Outcome of an item, in the words of the port. */
export type WrittenResult =
  | { readonly outcome: "applied" }
  | { readonly outcome: "unchanged" }
  | { readonly outcome: "rejected"; readonly reason: string; readonly message: string };

/** One call of the storefront: its key, its input byte by byte, and the items that it is for. */
export interface WrittenBatch {
  readonly key: string;
  readonly input: string;
  /** For each change of the input the places of its items in the write. */
  readonly places: readonly (readonly number[])[];
  readonly createdAtMs: number;
  /**
   * `replaced`: it did nothing, and what is left of it is in a later one. `unclear`: nobody can say whether it landed;
   * somebody has to look and clear it.
   */
  readonly state: "open" | "landed" | "replaced" | "unclear";
  /** When the storefront says that it changed, in its own time; null before. */
  readonly changedAtMs: number | null;
  /** When the answer came. */
  readonly landedAtMs: number | null;
}

/** A change of on-hand quantities under one reference. */
export interface StorefrontWrite {
  readonly reference: string;
  /** Items of the request, to recognise another use of the reference. */
  readonly items: string;
  readonly results: readonly (WrittenResult | null)[];
  readonly batches: readonly WrittenBatch[];
  readonly createdAtMs: number;
  /** Somebody has cleared the write's unknown outcomes since then (C43). */
  readonly clearedAtMs: number | null;
}

interface WriteRow {
  readonly items: string;
  readonly results: string;
  readonly batches: string;
  readonly created_at: number;
  readonly cleared_at: number | null;
}

/** The write under this reference; null when there is none. */
export async function loadWrite(tx: Tx, shopId: string, reference: string): Promise<StorefrontWrite | null> {
  const [row] = await tx.all<WriteRow>(
    "select items, results, batches, created_at, cleared_at from storefront_write where shop_id = ? and reference = ?",
    [shopId, reference],
  );
  if (row === undefined) return null;
  const results: StorefrontWrite["results"] = JSON.parse(row.results);
  const batches: StorefrontWrite["batches"] = JSON.parse(row.batches);
  const { items, created_at: createdAtMs, cleared_at: clearedAtMs } = row;
  return { reference, items, results, batches, createdAtMs, clearedAtMs };
}

export const insertWriteStatement = (shopId: string, write: StorefrontWrite): Change =>
  insert(tables.storefront_write, shopId, {
    reference: write.reference,
    items: write.items,
    ...outcomeOf(write),
    created_at: write.createdAtMs,
    cleared_at: null,
  });

const outcomeOf = ({ results, batches }: StorefrontWrite): Row => ({
  results: JSON.stringify(results),
  batches: JSON.stringify(batches),
});

/** Stores what has become of the write's items and calls. */
export const updateWriteStatement = (shopId: string, write: StorefrontWrite): Change =>
  update(tables.storefront_write, shopId, { reference: write.reference }, outcomeOf(write));

/**
 * Clears the unknown outcomes of the order's pushes: one whose key the storefront has forgotten may be sent anew (C43).
 */
export const clearWritesStatement = (shopId: string, purchaseOrderId: string, nowMs: number): Change =>
  changeOf(clearWrites, [nowMs, shopId, shopId, purchaseOrderId]);

const clearWrites = textForm(
  tables.storefront_write,
  `update storefront_write set cleared_at = ? where shop_id = ? and reference in (
     select reference from stock_push where shop_id = ? and purchase_order_id = ? and settled_at is null)`,
  [null, "shop_id", null, null],
);

/** Deletes writes from `untilMs` or before whose push is not kept any more. */
export const sweepWritesStatement = (shopId: string, untilMs: number): Change =>
  changeOf(sweepWrites, [shopId, untilMs]);

const sweepWrites = textForm(
  tables.storefront_write,
  `delete from storefront_write where shop_id = ? and created_at <= ? and not exists (
     select 1 from stock_push p where p.shop_id = storefront_write.shop_id and p.reference = storefront_write.reference)`,
  ["shop_id", null],
);

/** A call that changes incoming quantities and has no known outcome. */
export interface IncomingBatch {
  readonly key: string;
  readonly input: string;
  /** In the order of the input's changes. */
  readonly items: readonly { readonly variantId: string; readonly delta: Quantity }[];
  readonly createdAtMs: number;
}

/** The calls of the location without a known outcome, oldest first. */
export async function loadIncomingBatches(
  tx: Tx,
  shopId: string,
  locationId: string,
): Promise<readonly IncomingBatch[]> {
  const rows = await tx.all<{ batch_key: string; input: string; items: string; created_at: number }>(
    `select batch_key, input, items, created_at from storefront_incoming_batch
     where shop_id = ? and location_id = ? order by created_at, batch_key`,
    [shopId, locationId],
  );
  return rows.map(({ batch_key: key, input, items: text, created_at: createdAtMs }) => {
    const items: IncomingBatch["items"] = JSON.parse(text);
    return { key, input, items, createdAtMs };
  });
}

export const insertIncomingBatchStatement = (shopId: string, locationId: string, batch: IncomingBatch): Change =>
  insert(tables.storefront_incoming_batch, shopId, {
    location_id: locationId,
    batch_key: batch.key,
    input: batch.input,
    items: JSON.stringify(batch.items),
    created_at: batch.createdAtMs,
  });

/** The call has an outcome: these items have changed, the others have not. */
export const settleIncomingStatements = (
  shopId: string,
  locationId: string,
  key: string,
  landed: IncomingBatch["items"],
): readonly Change[] => [
  ...landed.map(({ variantId, delta }) =>
    insert(
      tables.storefront_incoming,
      shopId,
      { location_id: locationId, variant_id: variantId, quantity: delta },
      "add",
    ),
  ),
  remove(tables.storefront_incoming, shopId, { location_id: locationId, quantity: 0 }),
  remove(tables.storefront_incoming_batch, shopId, { location_id: locationId, batch_key: key }),
];

/** Returns our part of these variants' incoming quantities at the location. */
export async function loadOwnIncoming(
  tx: Tx,
  shopId: string,
  locationId: string,
  variantIds: readonly string[],
): Promise<ReadonlyMap<string, Quantity>> {
  const rows = await selectIn<{ variant_id: string; quantity: number }>(
    tx,
    "select variant_id, quantity from storefront_incoming where shop_id = ? and location_id = ? and variant_id in (?)",
    [shopId, locationId],
    variantIds,
  );
  return new Map(rows.map((row) => [row.variant_id, asQuantity(row.quantity)]));
}

/** Deletes what is incoming of a variant that the storefront does not have any more. */
export async function forgetOwnIncoming(
  { engine, shopId }: { readonly engine: Engine; readonly shopId: string },
  locationId: string,
  variantId: string,
): Promise<void> {
  const key = { location_id: locationId, variant_id: variantId };
  await engine.write(shopId, (tx) => tx.batch([remove(tables.storefront_incoming, shopId, key)]));
}
