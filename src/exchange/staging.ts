/**
 * Staging: checks every record of a file and keeps it in the shop's database until the import is committed or discarded
 * (I1 of import.ts).
 *
 * Owns: the rows of `import_record` until the commit. Does not own: how a file is read (file-format.ts), what a record
 * must look like (record-types.ts, records/), or how staged records reach their tables (import-chunks.ts).
 */
import { Fault, invalidField } from "../base/fault.ts";
import type { Actor } from "../core/access/actor.ts";
import { checkInput, detailsMax } from "../requests/input.ts";
import type { Shop } from "../shop/access/accounts.ts";
import {
  type Supplier,
  type Variant,
  type VariantSnapshot,
  loadSupplier,
  loadVariants,
} from "../shop/catalogue/catalogue.ts";
import { loadMerges } from "../shop/catalogue/supplier-merges.ts";
import type { ImportedOrder, ImportStamp } from "../shop/order/purchase-orders.ts";
import { chunksOf, inListMax, placeholders } from "../store/in-lists.ts";
import type { Statement, Tx } from "../store/store.ts";
import { type FileFaults, type FileRecord, LineFault, errorOnLine, lineFault } from "./file-format.ts";
import {
  type ImportContext,
  type ImportLease,
  type ImportSummary,
  type NamedRecords,
  endStatement,
  namedTypes,
  recordsNamedMax,
  renewLease,
  requireLease,
} from "./import-run.ts";
import {
  type OrderFacts,
  type OrderInput,
  orderFrom,
  purchaseOrderInput,
  stagedOrderText,
} from "./records/purchase-orders.ts";
import { isRecordType, recordTypes } from "./record-types.ts";
import { type Change, insert, update, remove, below, upTo } from "../store/change.ts";
import { tables } from "../shop/tables.ts";

/** Bytes of a file that are staged in one turn. */
export const stageBytesMax = 131_072;

/** Staged records that are discarded in one turn. */
const discardMax = 2_000;

/** A number of the shop's own form. Longer ones are kept, but the shop does not count on from them. */
const countedPoNumber = /^PO-(\d{1,9})$/;

/**
 * A record that has passed its schema: reference data as it is stored, or an order that still needs what the shop
 * knows.
 */
type CheckedRecord = { readonly lineNumber: number } & (
  | {
      readonly type: keyof typeof recordTypes;
      readonly recordId: string;
      readonly stored: string;
      readonly weight?: number;
    }
  | { readonly type: "purchaseOrder"; readonly recordId: string; readonly order: OrderInput }
);

const typeNames = [...Object.keys(recordTypes), "purchaseOrder"];

export function checkRecord(
  { lineNumber, value: read, columns, sets }: FileRecord,
  by: ImportStamp | null = null,
): CheckedRecord {
  try {
    const value = read();
    if (typeof value !== "object" || value === null || Array.isArray(value))
      throw new Fault("INVALID_INPUT", "must be a JSON object");
    const type: unknown = "type" in value ? value.type : undefined;
    if (typeof type !== "string") throw invalidField("/type", `is needed and must be one of ${typeNames.join(", ")}`);
    if (isRecordType(type)) return { lineNumber, type, ...recordTypes[type].parse(value, by, sets) };
    if (type !== "purchaseOrder")
      throw invalidField("/type", `is unknown: ${JSON.stringify(type)}; it must be one of ${typeNames.join(", ")}`);
    const order = checkInput(purchaseOrderInput, value);
    return { lineNumber, type, recordId: order.purchaseOrderId, order };
  } catch (error) {
    throw errorOnLine(lineNumber, error, columns);
  }
}

// What an order needs to know. Staged text is trusted: this module wrote it.

const supplierFrom = (stored: string): Supplier => JSON.parse(stored);

const variantFrom = (stored: string): Variant => JSON.parse(stored);

/** The staged records of these ids before this position, by id; of several with one id the last. */
export async function stagedRecords(
  tx: Tx,
  { shopId, importId }: ImportLease,
  type: keyof typeof recordTypes,
  recordIds: ReadonlySet<string>,
  before = Number.MAX_SAFE_INTEGER,
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const chunk of chunksOf([...recordIds], inListMax)) {
    // Sorted here: with `order by position` the engine would walk all records of the file.
    const rows = await tx.all<{ position: number; record_id: string; record: string }>(
      `select position, record_id, record from import_record
       where shop_id = ? and import_id = ? and type = ? and record_id in (${placeholders(chunk.length)}) and position < ?`,
      [shopId, importId, type, ...chunk, before],
    );
    for (const row of rows.sort((a, b) => a.position - b.position)) found.set(row.record_id, row.record);
  }
  return found;
}

interface KnownFacts {
  /** Null: the shop does not know the supplier. */
  readonly suppliers: ReadonlyMap<string, Pick<Supplier, "currencyCode" | "leadTimeDays"> | null>;
  readonly variants: ReadonlyMap<string, VariantSnapshot>;
}

/**
 * Returns the facts about suppliers and variants that these orders leave out, from the file so far or else from the
 * shop.
 */
async function loadKnownFacts(tx: Tx, lease: ImportLease, orders: readonly OrderInput[]): Promise<KnownFacts> {
  const { shopId } = lease;
  const isFull = ({ currencyCode = null, supplierLeadTimeDays }: OrderInput): boolean =>
    currencyCode !== null && supplierLeadTimeDays !== undefined;
  const supplierIds = new Set(orders.flatMap((order) => (isFull(order) ? [] : (order.supplierId ?? []))));
  const variantIds = new Set(
    orders.flatMap((order) =>
      order.lineItems.flatMap((line) => (line.productName === undefined ? line.variantId : [])),
    ),
  );
  const stagedSuppliers = await stagedRecords(tx, lease, "supplier", supplierIds);
  const merges = await loadMerges(tx, shopId);
  const suppliers = await Promise.all(
    [...supplierIds].map(async (supplierId) => {
      const record = stagedSuppliers.get(supplierId);
      const presentId = merges.get(supplierId) ?? supplierId;
      const supplier = record === undefined ? await loadSupplier(tx, shopId, presentId) : supplierFrom(record);
      return [supplierId, supplier] as const;
    }),
  );
  const variants = new Map<string, VariantSnapshot>(await loadVariants(tx, shopId, [...variantIds]));
  for (const [variantId, record] of await stagedRecords(tx, lease, "variant", variantIds))
    variants.set(variantId, variantFrom(record));
  return { suppliers: new Map(suppliers), variants };
}

// Keeping.

/** Who imports, and in which request. */
interface ImportOrigin {
  readonly requestId: string;
  /** A person of the shop; null: the operator, whose records are taken as they are. */
  readonly by: Actor | null;
}

/** A file on its way into `import_record`. */
interface Staging {
  readonly shop: Shop;
  readonly lease: ImportLease;
  readonly origin: ImportOrigin;
  /** The position of the next record. */
  nextPosition: number;
}

interface StagedRow {
  readonly poNumber: string | null;
  /** Rows that it makes in the tables. */
  readonly weight: number;
  readonly stored: string;
}

const stagedStatement = (
  { shopId, importId }: ImportLease,
  position: number,
  { lineNumber, type, recordId }: CheckedRecord,
  { poNumber, weight, stored }: StagedRow,
): Change =>
  insert(tables.import_record, shopId, {
    import_id: importId,
    position,
    line_number: lineNumber,
    type,
    record_id: recordId,
    po_number: poNumber,
    weight,
    record: stored,
  });

const weightOf = ({ order, attachments, history }: ImportedOrder): number =>
  [order.lineItems, ...Object.values(attachments), ...Object.values(history)].reduce(
    (sum, rows) => sum + rows.length,
    1,
  );

/** The order in full, as it is staged, or what is wrong with it. */
function stagedOrder(lineNumber: number, order: OrderInput, facts: OrderFacts): StagedRow | LineFault {
  try {
    const whole = orderFrom(order, order.poNumber ?? "", facts);
    return { poNumber: order.poNumber ?? null, weight: weightOf(whole), stored: stagedOrderText(whole) };
  } catch (error) {
    const fault = errorOnLine(lineNumber, error);
    if (fault instanceof LineFault) return fault;
    throw fault;
  }
}

/**
 * Stages some records of the file in one turn, orders in full.
 *
 * @returns the faults of orders that break a rule; they are not staged.
 * @throws Fault DO_UNAVAILABLE  another process has the import.
 */
async function stageChunk(
  context: ImportContext,
  staging: Staging,
  records: readonly CheckedRecord[],
): Promise<readonly LineFault[]> {
  const { shop, lease, origin } = staging;
  const positions = new Map(records.map((record, index) => [record, staging.nextPosition + index]));
  staging.nextPosition += records.length;
  const nowMs = context.clock.now();
  const statement = (record: CheckedRecord, row: StagedRow): Statement =>
    stagedStatement(lease, positions.get(record) ?? 0, record, row);
  return await context.engine.write(
    shop.shopId,
    async (tx) => {
      await requireLease(context, tx, lease);
      const faults: LineFault[] = [];
      // Reference data first: orders of the same chunk may rely on it.
      await tx.batch(
        records.flatMap((record) =>
          record.type === "purchaseOrder"
            ? []
            : statement(record, { poNumber: null, weight: record.weight ?? 1, stored: record.stored }),
        ),
      );
      const orders = records.flatMap((record) => (record.type === "purchaseOrder" ? record.order : []));
      const { suppliers, variants } = await loadKnownFacts(tx, lease, orders);
      await tx.batch(
        records.flatMap((record) => {
          if (record.type !== "purchaseOrder") return [];
          const supplier = suppliers.get(record.order.supplierId ?? "") ?? null;
          const facts = { shop, supplier, variants, ...origin, nowMs, ids: context.ids };
          const staged = stagedOrder(record.lineNumber, record.order, facts);
          if (!(staged instanceof LineFault)) return statement(record, staged);
          faults.push(staged);
          return [];
        }),
      );
      return faults;
    },
    { durable: false },
  );
}

/**
 * Checks and stages all records of the file.
 *
 * @param faults what has been found wrong while the records are read; what is wrong with a record is added.
 * @returns how many there are of each type, and the highest number of the shop's own form (0 if none): the shop counts
 *   on from there.
 * @throws Fault INVALID_INPUT   records break a rule; it names the lines.
 * @throws Fault DO_UNAVAILABLE  another process has the import.
 */
export async function stageRecords(
  context: ImportContext,
  shop: Shop,
  lease: ImportLease,
  origin: ImportOrigin,
  records: AsyncIterable<FileRecord>,
  faults: FileFaults,
): Promise<{ readonly counts: Readonly<Record<string, number>>; readonly poNumberMax: number }> {
  const staging: Staging = { shop, lease, origin, nextPosition: 1 };
  const stamp = origin.by === null ? null : { actor: origin.by, requestId: origin.requestId };
  const counts: Record<string, number> = {};
  let poNumberMax = 0;
  let chunk: CheckedRecord[] = [];
  let bytes = 0;
  const stage = async (): Promise<void> => {
    for (const fault of await stageChunk(context, staging, chunk)) faults.add(fault);
    chunk = [];
    bytes = 0;
  };
  for await (const found of readTo(records, faults)) {
    // A shop that has held the loop for long gives way to the others (D113).
    const turn = context.loop.waitForShare(shop.shopId);
    if (turn !== null) await turn;
    const record = faults.tried(() => context.loop.run(shop.shopId, () => checkRecord(found, stamp)));
    if (record === null) continue;
    counts[record.type] = (counts[record.type] ?? 0) + 1;
    if (record.type === "purchaseOrder")
      poNumberMax = Math.max(poNumberMax, Number(countedPoNumber.exec(record.order.poNumber ?? "")?.[1] ?? 0));
    chunk.push(record);
    bytes += found.bytes;
    if (bytes >= stageBytesMax) await stage();
  }
  await stage();
  faults.refuse();
  return { counts, poNumberMax };
}

/** The records up to where the file cannot be read any further, which is added to what was wrong before. */
async function* readTo(records: AsyncIterable<FileRecord>, faults: FileFaults): AsyncGenerator<FileRecord> {
  try {
    yield* records;
  } catch (error) {
    if (!(error instanceof LineFault)) throw error;
    faults.add(error);
  }
}

// Discarding.

/**
 * Discards a staged import, a part per turn, its `import_run` row last. Leaves it alone when it is committed or another
 * process has it.
 *
 * @returns whether it is committed.
 */
export async function discardStaged(context: ImportContext, lease: ImportLease): Promise<boolean> {
  const { shopId, importId } = lease;
  for (;;) {
    const found = await context.engine.write(shopId, async (tx) => {
      const state = await renewLease(context, tx, lease);
      if (state !== "staging") return state;
      const rows = await tx.all<{ position: number }>(
        "select position from import_record where shop_id = ? and import_id = ? order by position limit ?",
        [shopId, importId, discardMax],
      );
      const isLast = rows.length < discardMax;
      await tx.batch([
        remove(tables.import_record, shopId, {
          import_id: importId,
          position: upTo(rows.at(-1)?.position ?? 0),
        }),
        ...(isLast ? [endStatement(lease)] : []),
      ]);
      return isLast ? null : state;
    });
    if (found !== "staging") return found === "committed";
  }
}

/** Characters of the ids that are named: an event has room for them. */
const namedLengthMax = 12_000;

/** Orders, transfers and the like of the file, as an event can name them; a type of which it has none is left out. */
export async function stagedNames(tx: Tx, { shopId, importId }: ImportLease): Promise<NamedRecords> {
  const named: Record<string, readonly string[] | boolean> = {};
  let left = namedLengthMax;
  for (const type of namedTypes) {
    const rows = await tx.all<{ record_id: string }>(
      `select record_id from import_record where shop_id = ? and import_id = ? and type = ? order by position limit ?`,
      [shopId, importId, type, recordsNamedMax + 1],
    );
    if (rows.length === 0) continue;
    const ids: string[] = [];
    for (const { record_id: recordId } of rows.slice(0, recordsNamedMax)) {
      if (recordId.length > left) break;
      left -= recordId.length;
      ids.push(recordId);
    }
    named[`${type}Ids`] = ids;
    named[`${type}IdsTruncated`] = ids.length < rows.length;
  }
  return named;
}

// Committing.

interface NumberConflict {
  readonly line_number: number;
  readonly po_number: string;
  readonly other: string;
}

/**
 * The order of the file whose number an order of the shop has. The planner knows that a number is unique in
 * `purchase_order`.
 */
async function conflictInShop(tx: Tx, { shopId, importId }: ImportLease): Promise<NumberConflict | undefined> {
  const [conflict] = await tx.all<NumberConflict>(
    `select r.line_number, r.po_number, o.purchase_order_id as other
     from import_record r join purchase_order o
       on o.shop_id = r.shop_id and o.po_number = r.po_number and o.purchase_order_id <> r.record_id
     where r.shop_id = ? and r.import_id = ? and r.po_number is not null limit 1`,
    [shopId, importId],
  );
  return conflict;
}

/**
 * The order of the file whose number another order has, in the file or in a committed import that is not in its tables
 * yet. The records are grouped, not joined. The statistics of a table that was filled a moment ago can make a planner
 * join every record with every other.
 */
async function conflictInFiles(tx: Tx, { shopId, importId }: ImportLease): Promise<NumberConflict | undefined> {
  const unapplied = await tx.all<{ import_id: string }>(
    "select import_id from import_run where shop_id = ? and state = 'committed' and import_id <> ?",
    [shopId, importId],
  );
  const importIds = [importId, ...unapplied.map((run) => run.import_id)];
  const [shared] = await tx.all<{ po_number: string }>(
    `select po_number from import_record
     where shop_id = ? and import_id in (${placeholders(importIds.length)}) and po_number is not null
     group by po_number
     having min(record_id) <> max(record_id) and max(case when import_id = ? then 1 else 0 end) = 1
     limit 1`,
    [shopId, ...importIds, importId],
  );
  if (shared === undefined) return undefined;
  const records = await tx.all<{ import_id: string; line_number: number; record_id: string }>(
    `select import_id, line_number, record_id from import_record
     where shop_id = ? and import_id in (${placeholders(importIds.length)}) and po_number = ?`,
    [shopId, ...importIds, shared.po_number],
  );
  const here = records.filter((record) => record.import_id === importId);
  const last = here.sort((a, b) => a.line_number - b.line_number).at(-1);
  const other = records.find((record) => record.record_id !== last?.record_id);
  return { line_number: last?.line_number ?? 0, po_number: shared.po_number, other: other?.record_id ?? "" };
}

/** For types whose key is one id, how many staged records replace one of the shop. */
const replacements = {
  location: `select count(*) as n from import_record r join location t on t.shop_id = r.shop_id and t.location_id = r.record_id
             where r.shop_id = ? and r.import_id = ? and r.type = 'location'`,
  supplier: `select count(*) as n from import_record r join supplier t on t.shop_id = r.shop_id and t.supplier_id = r.record_id
             where r.shop_id = ? and r.import_id = ? and r.type = 'supplier'`,
  variant: `select count(*) as n from import_record r join variant t on t.shop_id = r.shop_id and t.variant_id = r.record_id
            where r.shop_id = ? and r.import_id = ? and r.type = 'variant'`,
} as const;

/** Returns the number of staged locations, suppliers and variants that replace one of the shop. */
export async function stagedReplacements(
  tx: Tx,
  { shopId, importId }: ImportLease,
): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {};
  for (const [type, sql] of Object.entries(replacements)) {
    const [row] = await tx.all<{ n: number }>(sql, [shopId, importId]);
    if (row !== undefined && row.n > 0) counts[type] = row.n;
  }
  return counts;
}

/** @throws Fault INVALID_INPUT naming each record with the key of an earlier one. */
export async function refuseRepeats(tx: Tx, { shopId, importId }: ImportLease, faults: FileFaults): Promise<void> {
  const repeated = await tx.all<{ type: string; record_id: string }>(
    `select type, record_id from import_record where shop_id = ? and import_id = ?
     group by type, record_id having count(*) > 1 order by min(position) limit ?`,
    [shopId, importId, detailsMax],
  );
  for (const { type, record_id: recordId } of repeated) {
    const lines = await tx.all<{ line_number: number }>(
      `select line_number from import_record where shop_id = ? and import_id = ? and type = ? and record_id = ?
       order by position limit 2`,
      [shopId, importId, type, recordId],
    );
    const [first, second] = lines.map((line) => line.line_number);
    faults.add(lineFault(second ?? 0, [{ path: "", message: `is about the same ${type} as line ${first}` }]));
  }
  faults.refuse();
}

/**
 * Commits the import: from here on it cannot be undone, and its records will reach their tables.
 *
 * @param poNumberMax the highest number of the shop's own form in the file; the shop counts on from there (C34).
 * @throws Fault INVALID_INPUT   another order has the number of one of its orders; it names the line.
 * @throws Fault DO_UNAVAILABLE  another process has the import.
 */
export async function commitStaged(
  context: ImportContext,
  tx: Tx,
  lease: ImportLease,
  { poNumberMax, summary }: { readonly poNumberMax: number; readonly summary: ImportSummary },
): Promise<void> {
  const { shopId, importId } = lease;
  await requireLease(context, tx, lease);
  const conflict = (await conflictInFiles(tx, lease)) ?? (await conflictInShop(tx, lease));
  if (conflict !== undefined)
    throw lineFault(conflict.line_number, [
      { path: "/poNumber", message: `${conflict.po_number} is the number of order ${conflict.other} already` },
    ]);
  await tx.batch([
    update(
      tables.import_run,
      shopId,
      { import_id: importId },
      { state: "committed", summary: JSON.stringify(summary) },
    ),
    update(tables.shop, shopId, { next_po_number: below(poNumberMax + 1) }, { next_po_number: poNumberMax + 1 }),
  ]);
}
