/**
 * Applies a committed import: moves its staged records into their tables, a chunk per turn (I2, I3 of import.ts).
 *
 * Owns: the chunks, and the effects that imported orders ask for. Does not own: staging and commit (staging.ts), the
 * lease (import-run.ts).
 */
import { incomingDeltas, incomingEffects } from "../core/goods/incoming.ts";
import { platformName } from "../core/storefront/storefront-config.ts";
import type { OrderWithLines } from "../core/order/purchase-order.ts";
import type { Shop } from "../shop/access/accounts.ts";
import type { InventoryLevel, Variant } from "../shop/catalogue/catalogue.ts";
import type { RecordStamp } from "../shop/catalogue/record-log.ts";
import { loadMerges } from "../shop/catalogue/supplier-merges.ts";
import { settleSales } from "../shop/forecast/demand.ts";
import { effectStatements } from "../shop/storefront/effects.ts";
import { areBlocksBehind, makeBlock } from "../shop/forecast/reorder-block-tables.ts";
import { isBehind, sealRecent } from "../shop/order-list/sealing.ts";
import { importOrder, importedSums, nextPoNumber } from "../shop/order/purchase-orders.ts";
import { selectIn } from "../store/in-lists.ts";
import type { Tx } from "../store/store.ts";
import {
  type ImportContext,
  type ImportLease,
  completeImport,
  hasLease,
  importedBy,
  renewLease,
} from "./import-run.ts";
import { replacedEntry, stagedOrderFrom } from "./records/purchase-orders.ts";
import { isRecordType, recordTypes } from "./record-types.ts";
import type { ApplyContext, RecordType } from "./record-type.ts";
import { remove, upTo } from "../store/change.ts";
import { tables } from "../shop/tables.ts";

/** Rows that one turn writes to the tables: 10 to 20 ms of the event loop in a shop of 100,000 orders. */
export const chunkWeightMax = 100;

/**
 * The same while nobody asks for anything: a row costs two thirds then, since a commit has fewer pages for each. The
 * first who asks waits for one turn.
 */
export const chunkWeightQuietMax = 300;

/** When no request has come to the process for so long, nobody asks for anything. */
export const importQuietMs = 1_000;

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

/** The import's records up to this position. */
const rowsUpTo = (tx: Tx, { shopId, importId }: ImportLease, position: number): Promise<StagedRow[]> =>
  tx.all<StagedRow>(
    `select position, type, record_id, po_number, record from import_record
     where shop_id = ? and import_id = ? and position <= ? order by position`,
    [shopId, importId, position],
  );

/** The records up to this position that the sandbox storefront is told of. */
const seedsUpTo = (
  tx: Tx,
  { shopId, importId }: ImportLease,
  position: number,
): Promise<Pick<StagedRow, "type" | "record">[]> =>
  tx.all(
    `select type, record from import_record where shop_id = ? and import_id = ? and position <= ?
       and type in ('variant', 'inventoryLevel') order by position`,
    [shopId, importId, position],
  );

/** Rows that are looked at to plan the next chunks. */
const plannedRowsMax = 2_000;

interface PlannedRow {
  readonly position: number;
  readonly weight: number;
}

/**
 * Where chunks end. Rows are looked at for several at once: reading the weights of a chunk's rows costs as much as of
 * many chunks.
 */
class ChunkPlan {
  readonly #lease: ImportLease;
  #rows: readonly PlannedRow[] = [];
  /** Number of records that are in chunks. */
  #planned = 0;

  constructor(lease: ImportLease) {
    this.#lease = lease;
  }

  /**
   * The position of the last record of the next chunk, which has so many rows at most, or one record. Null: there are
   * no more records.
   */
  async next(tx: Tx, weightMax: number): Promise<number | null> {
    if (this.#planned === this.#rows.length) {
      this.#planned = 0;
      this.#rows = await this.#load(tx);
    }
    let end: number | null = null;
    for (let weight = 0; ; this.#planned += 1) {
      const row = this.#rows[this.#planned];
      weight += row?.weight ?? 0;
      if (row === undefined || (end !== null && weight > weightMax)) return end;
      end = row.position;
    }
  }

  #load(tx: Tx): Promise<readonly PlannedRow[]> {
    const { shopId, importId } = this.#lease;
    return tx.all<PlannedRow>(
      "select position, weight from import_record where shop_id = ? and import_id = ? order by position limit ?",
      [shopId, importId, plannedRowsMax],
    );
  }
}

/** The number that the order has already, else the next one. */
async function poNumberOf(tx: Tx, shopId: string, purchaseOrderId: string): Promise<OrderWithLines["poNumber"]> {
  const [stored] = await tx.all<{ po_number: string }>(
    "select po_number from purchase_order where shop_id = ? and purchase_order_id = ?",
    [shopId, purchaseOrderId],
  );
  return stored?.po_number ?? (await nextPoNumber(tx, shopId));
}

/** Changes that orders of a chunk make. */
interface Applied {
  readonly before: OrderWithLines | null;
  readonly next: OrderWithLines | null;
}

/** Stores one order as its record says. */
async function applyOrder(
  { tx, shop: { shopId }, merges, ids, nowMs }: ApplyContext,
  { record, po_number }: StagedRow,
  isNew: boolean,
): Promise<Applied> {
  const found = stagedOrderFrom(record);
  const { purchaseOrderId, supplierId } = found.order;
  const order = { ...found.order, supplierId: merges.get(supplierId ?? "") ?? supplierId };
  const whole = po_number === null ? { ...order, poNumber: await poNumberOf(tx, shopId, purchaseOrderId) } : order;
  const imported = { ...found, order: whole };
  const before = await importOrder(tx, shopId, imported, isNew, (by, replaced) =>
    replacedEntry(by, replaced, imported, { ids, nowMs }),
  );
  return { before, next: found.deletedAtMs === null ? whole : null };
}

/** The ids of these orders under which something is stored: the order, or the log of one that was deleted. */
async function storedIds(tx: Tx, shopId: string, rows: readonly StagedRow[]): Promise<Set<string>> {
  const ids = rows.filter((row) => !isRecordType(row.type)).map((row) => row.record_id);
  const found = await Promise.all(
    ["purchase_order", "purchase_order_log"].map((table) =>
      selectIn<{ purchase_order_id: string }>(
        tx,
        `select distinct purchase_order_id from ${table} where shop_id = ? and purchase_order_id in (?)`,
        [shopId],
        ids,
      ),
    ),
  );
  return new Set(found.flat().map((row) => row.purchase_order_id));
}

/** Rows that follow each other and are of one type. */
export function runsOf<Staged extends { readonly type: string }>(
  rows: readonly Staged[],
): readonly (readonly [Staged, ...Staged[]])[] {
  const runs: [Staged, ...Staged[]][] = [];
  for (const row of rows) {
    const run = runs.at(-1);
    if (run?.[0].type === row.type) run.push(row);
    else runs.push([row]);
  }
  return runs;
}

/**
 * Applies the records up to this position and asks for the effects that follow (S3). Does nothing without the lease.
 */
async function applyChunk(
  context: ImportContext,
  tx: Tx,
  shop: Shop,
  lease: ImportLease,
  by: Pick<RecordStamp, "actor" | "requestId">,
  position: number,
): Promise<void> {
  if ((await renewLease(context, tx, lease)) === null) return;
  const { shopId, importId } = lease;
  const nowMs = context.clock.now();
  const applying = { tx, shop, ...by, operation: "shop_import", nowMs, ids: context.ids };
  let merges = await loadMerges(tx, shopId);
  const rows = await rowsUpTo(tx, lease, position);
  const stored = await storedIds(tx, shopId, rows);
  const orders: Applied[] = [];
  for (const run of runsOf(rows)) {
    const [{ type }] = run;
    if (isRecordType(type)) {
      const texts = run.map(({ record }) => record);
      const recordType: RecordType = recordTypes[type];
      await recordType.apply(texts, { ...applying, merges });
      if (type === "supplierMerge") merges = await loadMerges(tx, shopId);
      continue;
    }
    for (const row of run) {
      orders.push(await applyOrder({ ...applying, merges }, row, !stored.has(row.record_id)));
      stored.add(row.record_id);
    }
  }
  const deltas = orders.flatMap(({ before, next }) => incomingDeltas(before, next));
  await tx.batch([
    ...importedSums(shopId, orders, deltas),
    ...effectStatements(shopId, incomingEffects(deltas, shop.onOrderTag), context.ids, nowMs).statements,
    remove(tables.import_record, shopId, { import_id: importId, position: upTo(position) }),
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
  const plan = new ChunkPlan(lease);
  const by = await engine.peek(shopId, (tx) => importedBy(tx, lease));
  for (;;) {
    if (signal?.aborted === true) return false;
    const { isLeased, end, chunk } = await engine.peek(shopId, async (tx) => {
      const weightMax = context.loop.quietMs < importQuietMs ? chunkWeightMax : chunkWeightQuietMax;
      const [isLeased, end] = await Promise.all([hasLease(tx, lease), plan.next(tx, weightMax)]);
      return { isLeased, end, chunk: end === null ? [] : await seedsUpTo(tx, lease, end) };
    });
    if (!isLeased) return false;
    if (end === null) break;
    const variants = chunk.flatMap((row) => (row.type === "variant" ? variantFrom(row.record) : []));
    const levels = chunk.flatMap((row) => (row.type === "inventoryLevel" ? levelFrom(row.record) : []));
    // The storefront first: effects of the chunk's orders must find the variants there.
    if (platformName(shop.storefront) === null && variants.length + levels.length > 0)
      await context.seedStorefront(shopId, variants, levels);
    await engine.write(shopId, (tx) => applyChunk(context, tx, shop, lease, by, end), { durable: false });
  }
  // Forecasts read the demand series, not the sales.
  while (await engine.write(shopId, (tx) => settleSales(tx, shopId), { durable: false }));
  if (await engine.peek(shopId, (tx) => isBehind(tx, shopId)))
    while (await engine.write(shopId, (tx) => sealRecent(tx, shopId), { durable: false }));
  // Views of reorders only of a shop with many variants read its blocks.
  if (await engine.peek(shopId, (tx) => areBlocksBehind(tx, shopId)))
    while (await engine.write(shopId, (tx) => makeBlock(tx, shopId), { durable: false }));
  await engine.write(shopId, (tx) => completeImport(context, tx, lease));
  return true;
}
