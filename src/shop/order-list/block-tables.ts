/**
 * The digest of a shop's orders: the values that lists filter and search by, in blocks of orders of neighbouring age.
 * With it a list finds and counts matches among all orders without reading their rows.
 *
 * Owns: the tables of the digest; opening and sealing blocks. Does not own: what is in a block (block-format.ts),
 * reading the digest (block-search.ts).
 *
 * Sealing is a cache's work: orders that are in no sealed block are read from their rows, and the answer is the same.
 * So a change only opens its block, and blocks are sealed when a list finds many orders outside them.
 *
 * Invariants:
 * - R5. Blocks divide a shop's orders by age, without gaps. What a sealed block says equals the rows of its orders: a
 *       change of one of them opens it in the same transaction.
 */
import { foldedLines } from "../../base/text/fold.ts";
import { paidStatus } from "../../core/order/lines.ts";
import type { Header, OrderWithLines } from "../../core/order/purchase-order.ts";
import type { Ids } from "../../base/time/clock.ts";
import type { Statement, Tx } from "../../store/store.ts";
import { type DigestRow, digestColumns, factsOf } from "./block-format.ts";
import { type Change, changeOf, insert, replace, update, textForm } from "../../store/change.ts";
import { tables } from "../tables.ts";

/** Where a block begins. */
export interface BlockKey {
  readonly created_from: number;
  readonly id_from: string;
}

/** Orders of a sealed block. */
const blockOrders = 64;

/** Orders that one turn seals: about 5 ms. */
const sealOrdersMax = 1_024;

/** Blocks that one turn looks at. */
const sealBlocksMax = 16;

/** Open blocks, and orders of the newest one, beyond which blocks are sealed. */
const openBlocksMax = 8;
const newestOrdersMax = 256;

/** A shop with fewer orders has no digest: its rows are read as quickly. */
const digestOrdersMin = 1_000;

/**
 * The text that a search looks through, one field a line. The supplier's name is searched in the supplier's row (C13).
 */
export const searchText = (order: Pick<Header, "poNumber" | "poName" | "supplierReference" | "tags">): string =>
  foldedLines([order.poNumber, order.poName, order.supplierReference, ...order.tags]);

// Opening.

const openBlock = textForm(
  tables.purchase_order_block,
  `update purchase_order_block set changed = null
   where shop_id = ? and changed is not null and (created_from, id_from) = (
     select created_from, id_from from purchase_order_block
     where shop_id = ? and (created_from, id_from) <= (?, ?) order by created_from desc, id_from desc limit 1)`,
  ["shop_id", null, null, null],
);

/** Returns the entry of an order in the digest. Equal texts: a change leaves the digest as it is. */
const digested = (order: OrderWithLines): string =>
  JSON.stringify([
    order.createdAtMs,
    order.status,
    paidStatus(order),
    order.storefrontSyncState,
    order.supplierId,
    order.locationId,
    order.nextExpectedDate,
    order.poNumber,
    order.poName,
    order.supplierReference,
    order.tags,
  ]);

/** Opens the blocks of an order that a change makes different for lists. Null: there was, or is, no such order (R5). */
export function openBlocks(
  shopId: string,
  before: OrderWithLines | null,
  next: OrderWithLines | null,
): readonly Change[] {
  if (before === next || (before !== null && next !== null && digested(before) === digested(next))) return [];
  const instants = new Set([before, next].flatMap((order) => order?.createdAtMs ?? []));
  const purchaseOrderId = (next ?? before)?.purchaseOrderId ?? "";
  return [...instants].map((atMs) => changeOf(openBlock, [shopId, shopId, atMs, purchaseOrderId]));
}

// Sealing.

/** True if so many orders are outside sealed blocks that lists become slower. Reads few entries of indexes. */
export async function isBehind(tx: Tx, shopId: string): Promise<boolean> {
  const [open, [newest], enough] = await Promise.all([
    tx.all("select 1 as found from purchase_order_block where shop_id = ? and changed is null limit 1 offset ?", [
      shopId,
      openBlocksMax,
    ]),
    tx.all<BlockKey>(
      "select created_from, id_from from purchase_order_block where shop_id = ? order by created_from desc, id_from desc limit 1",
      [shopId],
    ),
    tx.all("select 1 as found from purchase_order_count where shop_id = ? and kind = 'all' and orders >= ?", [
      shopId,
      digestOrdersMin,
    ]),
  ]);
  if (newest === undefined) return enough.length > 0;
  if (open.length > 0) return true;
  const rows = await tx.all(
    `select 1 as found from purchase_order where shop_id = ? and deleted_at is null
       and (created_at, purchase_order_id) >= (?, ?) order by created_at, purchase_order_id limit 1 offset ?`,
    [shopId, newest.created_from, newest.id_from, newestOrdersMax],
  );
  return rows.length > 0;
}

/** The rows of a block's orders, oldest first. `end` is where the next block begins; null: there is none. */
export function digestRows(
  tx: Tx,
  shopId: string,
  from: BlockKey,
  end: BlockKey | null,
  limit: number,
): Promise<DigestRow[]> {
  return tx.all<DigestRow>(
    `select created_at, purchase_order_id, ${digestColumns.join(", ")}, search_folded from purchase_order
     where shop_id = ? and deleted_at is null and (created_at, purchase_order_id) >= (?, ?)${
       end === null ? "" : " and (created_at, purchase_order_id) < (?, ?)"
     } order by created_at, purchase_order_id limit ?`,
    [shopId, from.created_from, from.id_from, ...(end === null ? [] : [end.created_from, end.id_from]), limit],
  );
}

const saveBlock = (shopId: string, { created_from, id_from }: BlockKey, changed: number | null): Change =>
  replace(tables.purchase_order_block, shopId, { created_from, id_from, changed });

const saveContent = (shopId: string, { created_from, id_from }: BlockKey, rows: readonly DigestRow[]): Change =>
  replace(tables.purchase_order_block_content, shopId, {
    created_from,
    id_from,
    facts: factsOf(rows),
    ids: JSON.stringify(rows.map((row) => row.purchase_order_id)),
  });

const keyOf = (row: DigestRow): BlockKey => ({ created_from: row.created_at, id_from: row.purchase_order_id });

/** Seals these orders as blocks, of which the first begins at `from`. `rest`: the first order that they leave out. */
function sealStatements(
  shopId: string,
  from: BlockKey,
  rows: readonly DigestRow[],
  rest: DigestRow | undefined,
  changed: number,
): readonly Statement[] {
  const statements: Statement[] = [];
  for (let start = 0; start < rows.length || start === 0; start += blockOrders) {
    const block = rows.slice(start, start + blockOrders);
    const [first] = block;
    const key = start === 0 || first === undefined ? from : keyOf(first);
    statements.push(saveBlock(shopId, key, changed), saveContent(shopId, key, block));
  }
  return rest === undefined ? statements : [...statements, saveBlock(shopId, keyOf(rest), null)];
}

/** The shop's digest, and how often it was sealed. Begins one with a single open block if there is none. */
async function digestOf(tx: Tx, shopId: string, ids: Ids): Promise<number> {
  const [found] = await tx.all<{ changes: number }>("select changes from purchase_order_digest where shop_id = ?", [
    shopId,
  ]);
  if (found !== undefined) return found.changes;
  await tx.batch([
    insert(tables.purchase_order_digest, shopId, { epoch: ids.next("dig"), changes: 0 }),
    saveBlock(shopId, { created_from: Number.MIN_SAFE_INTEGER, id_from: "" }, null),
  ]);
  return 0;
}

/** Where the block after this one begins; null: this is the newest. */
async function endOf(tx: Tx, shopId: string, { created_from, id_from }: BlockKey): Promise<BlockKey | null> {
  const [end] = await tx.all<BlockKey>(
    `select created_from, id_from from purchase_order_block where shop_id = ? and (created_from, id_from) > (?, ?)
     order by created_from, id_from limit 1`,
    [shopId, created_from, id_from],
  );
  return end ?? null;
}

/**
 * Seals open blocks, at most `sealOrdersMax` orders. The newest orders stay open, because the next ones join them.
 *
 * @returns whether there is more to seal.
 */
export async function sealBlocks(tx: Tx, shopId: string, ids: Ids): Promise<boolean> {
  const changed = (await digestOf(tx, shopId, ids)) + 1;
  const open = await tx.all<BlockKey>(
    `select created_from, id_from from purchase_order_block where shop_id = ? and changed is null
     order by created_from, id_from limit ?`,
    [shopId, sealBlocksMax],
  );
  const statements: Statement[] = [];
  let left = sealOrdersMax;
  let more = open.length === sealBlocksMax;
  for (const from of open) {
    if (left <= 0) more = true;
    if (left <= 0) break;
    const end = await endOf(tx, shopId, from);
    const rows = await digestRows(tx, shopId, from, end, left + 1);
    if (rows.length > left) more = true;
    // Of the newest block, whole blocks are sealed, and at least one order is left to begin the next.
    const whole = Math.floor((rows.length - 1) / blockOrders) * blockOrders;
    const count = end === null ? Math.max(0, Math.min(whole, left)) : Math.min(rows.length, left);
    if (end === null && count === 0) continue;
    statements.push(...sealStatements(shopId, from, rows.slice(0, count), rows[count], changed));
    left -= count;
  }
  await tx.batch([...statements, update(tables.purchase_order_digest, shopId, {}, { changes: changed })]);
  return more;
}
