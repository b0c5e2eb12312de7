/**
 * Applies a committed import: moves its staged records into their tables, a chunk per turn (I2, I3 of import.ts).
 *
 * Owns: the chunks, and the effects that imported orders ask for. Does not own: staging and commit (staging.ts), the lease
 * (import-run.ts).
 */
import { type IncomingDelta, incomingDeltas, incomingEffects } from "../core/incoming.ts";
import type { PurchaseOrder } from "../core/purchase-order.ts";
import type { Shop } from "../shop/accounts.ts";
import type { InventoryLevel, Variant } from "../shop/catalogue.ts";
import { settleSales } from "../shop/demand.ts";
import { effectStatements } from "../shop/effects.ts";
import { isBehind, sealBlocks } from "../shop/order-digest.ts";
import { historyStatements } from "../shop/purchase-order-history.ts";
import { hideStatements, importOrder, nextPoNumber } from "../shop/purchase-orders.ts";
import type { SqlValue, Tx } from "../store/store.ts";
import { type ImportContext, type ImportLease, completeImport, hasLease, renewLease } from "./import-run.ts";
import type { OrderRecord } from "./purchase-orders.ts";
import { isRecordType, recordTypes } from "./record-types.ts";
import type { RecordType } from "./record-type.ts";

/** Rows that one turn writes to the tables: about 20 ms of the event loop. */
const chunkWeightMax = 250;

interface StagedRow {
  readonly position: number;
  readonly type: string;
  readonly record_id: string;
  readonly po_number: string | null;
  readonly record: string;
}

// Staged text is trusted: staging.ts wrote it.

const variantFrom = (stored: string): Variant => JSON.parse(stored);

const levelFrom = (stored: string): InventoryLevel => JSON.parse(stored);

const orderRecordFrom = (stored: string): OrderRecord => JSON.parse(stored);

/** The import's records up to this position. */
const rowsUpTo = (tx: Tx, { shopId, importId }: ImportLease, position: number): Promise<StagedRow[]> =>
  tx.all<StagedRow>(
    `select position, type, record_id, po_number, record from import_record
     where shop_id = ? and import_id = ? and position <= ? order by position`,
    [shopId, importId, position],
  );

/** The next records, as many as one turn applies. */
async function nextChunk(tx: Tx, lease: ImportLease): Promise<readonly StagedRow[]> {
  const weights = await tx.all<{ position: number; weight: number }>(
    "select position, weight from import_record where shop_id = ? and import_id = ? order by position limit ?",
    [lease.shopId, lease.importId, chunkWeightMax],
  );
  let weight = 0;
  let last = 0;
  for (const row of weights) {
    weight += row.weight;
    if (weight > chunkWeightMax && last > 0) break;
    last = row.position;
  }
  return await rowsUpTo(tx, lease, last);
}

/** The number that the order has already, else the next one. */
async function poNumberOf(tx: Tx, shopId: string, purchaseOrderId: string): Promise<PurchaseOrder["poNumber"]> {
  const [stored] = await tx.all<{ po_number: string }>(
    "select po_number from purchase_order where shop_id = ? and purchase_order_id = ?",
    [shopId, purchaseOrderId],
  );
  return stored?.po_number ?? (await nextPoNumber(tx, shopId));
}

/** Stores one order as its record says. @returns how it changed the incoming ledger. */
async function applyOrder(tx: Tx, shopId: string, { record, po_number }: StagedRow): Promise<readonly IncomingDelta[]> {
  const { order, attachments, history, deletedAtMs } = orderRecordFrom(record);
  const { purchaseOrderId } = order;
  const whole = po_number === null ? { ...order, poNumber: await poNumberOf(tx, shopId, purchaseOrderId) } : order;
  const before = await importOrder(tx, shopId, whole, attachments);
  await tx.batch([
    ...historyStatements(shopId, purchaseOrderId, history),
    ...(deletedAtMs === null ? [] : hideStatements(shopId, whole, deletedAtMs)),
  ]);
  return incomingDeltas(before, deletedAtMs === null ? whole : null);
}

/** Applies the records up to this position and asks for the effects that follow (S3). Does nothing without the lease. */
async function applyChunk(
  context: ImportContext,
  tx: Tx,
  shop: Shop,
  lease: ImportLease,
  position: number,
): Promise<void> {
  if ((await renewLease(context, tx, lease)) === null) return;
  const { shopId, importId } = lease;
  const nowMs = context.clock.now();
  const applying = { tx, shop, nowMs, ids: context.ids };
  const deltas: IncomingDelta[] = [];
  // Read again: an earlier try may have applied them although it was reported as failed.
  for (const row of await rowsUpTo(tx, lease, position)) {
    if (isRecordType(row.type)) {
      const type: RecordType = recordTypes[row.type];
      await tx.batch(await type.statements(shopId, row.record, applying));
    } else deltas.push(...(await applyOrder(tx, shopId, row)));
  }
  const applied: readonly SqlValue[] = [shopId, importId, position];
  await tx.batch([
    ...effectStatements(shopId, incomingEffects(deltas, shop.onOrderTag), context.ids, nowMs).statements,
    { sql: "delete from import_record where shop_id = ? and import_id = ? and position <= ?", params: applied },
  ]);
}

/**
 * Applies a committed import to its end, a chunk per turn. Can be resumed at every step.
 *
 * @param signal stops it between two chunks.
 * @returns false when it was stopped, or another process has the import.
 */
export async function applyImport(
  context: ImportContext,
  shop: Shop,
  lease: ImportLease,
  signal: AbortSignal | null,
): Promise<boolean> {
  const { engine } = context;
  const { shopId } = lease;
  for (;;) {
    if (signal?.aborted === true) return false;
    const [isLeased, chunk] = await engine.peek(shopId, (tx) =>
      Promise.all([hasLease(tx, lease), nextChunk(tx, lease)]),
    );
    if (!isLeased) return false;
    const last = chunk.at(-1);
    if (last === undefined) break;
    const variants = chunk.flatMap((row) => (row.type === "variant" ? variantFrom(row.record) : []));
    const levels = chunk.flatMap((row) => (row.type === "inventoryLevel" ? levelFrom(row.record) : []));
    // The storefront first: effects of the chunk's orders must find the variants there.
    if (shop.storefront.kind === "sandbox" && variants.length + levels.length > 0)
      await context.seedStorefront(shopId, variants, levels);
    await engine.write(shopId, (tx) => applyChunk(context, tx, shop, lease, last.position), { durable: false });
  }
  // Forecasts read the demand series, not the sales.
  while (await engine.write(shopId, (tx) => settleSales(tx, shopId), { durable: false }));
  // Lists of a shop with many orders read its digest.
  if (await engine.peek(shopId, (tx) => isBehind(tx, shopId)))
    while (await engine.write(shopId, (tx) => sealBlocks(tx, shopId, context.ids), { durable: false }));
  await engine.write(shopId, (tx) => completeImport(context, tx, lease));
  return true;
}
