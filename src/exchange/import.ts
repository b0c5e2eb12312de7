/**
 * Import: a file of records into a shop, all or nothing (contract §7, §8).
 *
 * Owns: reading lines of NDJSON, checking every record before any takes effect, and bringing all of them in. Does not own: what a
 * record looks like (records.ts), how other files become records (csv.ts).
 *
 * A file may be larger than memory and takes longer than a shop may stand still, so it is neither held nor written in one
 * transaction: each record is checked and staged in the shop's database as it arrives; when the last one is in and nothing
 * contradicts, one write commits the import, and from then on its records are moved into their tables a chunk a turn.
 *
 * Invariants:
 * - I1. Nothing of an import that is refused, cut off or staged when the process dies is ever seen.
 * - I2. A committed import is brought in whole: what a crash leaves staged is moved at the next start, before the shop is served; among
 *       other nodes, by one of them when the import's lease has ended.
 * - I3. The answer leaves when the last record is in its table. Until then calls may see the chunks that have been moved; an import of
 *       `chunkWeightMax` rows or fewer appears at once.
 * - I4. Memory is bounded by `lineBytesMax` and a chunk; a turn of the shop by a chunk.
 * - I5. Only who has an import's lease stages, commits, discards and brings it in, and renews the lease as long as it lives.
 */
import type { Effect } from "../core/effect.ts";
import { Fault, type ValidationDetail, invalidField } from "../core/fault.ts";
import { type Json, parseJson } from "../core/json.ts";
import { incomingDeltas } from "../core/lines.ts";
import type { PurchaseOrder } from "../core/purchase-order.ts";
import { checkInput } from "../operations/input.ts";
import { type Shop, loadShop } from "../shop/accounts.ts";
import {
  type InventoryLevel,
  type Supplier,
  type Variant,
  type VariantSnapshot,
  loadSupplier,
  loadVariants,
} from "../shop/catalogue.ts";
import { settleSales } from "../shop/demand.ts";
import { effectStatements } from "../shop/effects.ts";
import { historyStatements } from "../shop/purchase-order-history.ts";
import { importOrder, incomingStatements, nextPoNumber } from "../shop/purchase-orders.ts";
import { chunksOf, inListMax } from "../store/in-lists.ts";
import type { Clock, Engine, Ids, SqlValue, Statement, Tx } from "../store/store.ts";
import { type OrderInput, type OrderRecord, orderFrom, purchaseOrderInput } from "./purchase-orders.ts";
import type { ReferenceType } from "./record-type.ts";
import { recordTypes } from "./record-types.ts";

/** The longest line of a file: room for an order of the most lines with a long history. */
export const lineBytesMax = 16 * 1_048_576;

/** Rows that one turn of the shop moves into the tables. */
export const chunkWeightMax = 1_000;

/** Bytes of lines that are staged in one turn. */
const stageBytesMax = 131_072;

/** Staged records that are thrown away in one turn. */
const discardMax = 2_000;

/** Mistakes that one refusal lists. */
const detailsMax = 20;

/** How long an import that nobody renews is left alone, and how often it is renewed while it waits for its file. */
const leaseMs = 60_000;

const renewMs = 15_000;

/** Between two looks at an import that another node brings in. */
const othersLookMs = 250;

/** Numbers beyond it are kept, but the shop's own counting does not go there. */
const countedPoNumber = /^PO-(\d{1,9})$/;

/** Brings what was imported about variants to the shop's storefront, where that is the sandbox. Repeatable. */
export type SeedStorefront = (
  shopId: string,
  variants: readonly Variant[],
  levels: readonly InventoryLevel[],
) => Promise<void>;

export interface ImportContext {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly seedStorefront: SeedStorefront;
}

interface Line {
  readonly number: number;
  readonly bytes: Uint8Array;
}

/** A record as a file has it, and where. */
export interface FileRecord {
  readonly lineNumber: number;
  /** About how much it is, for how many are staged at once. */
  readonly bytes: number;
  readonly value: unknown;
  /** In which column a field stands, by its JSON pointer; null where the pointer is all there is to say. */
  readonly columns: Readonly<Record<string, string>> | null;
}

/** How a file is read. */
export interface FileFormat {
  /** A record that the file has twice is a mistake, not a correction. */
  readonly refusesRepeats: boolean;
  /** @throws Fault INVALID_INPUT naming the line. */
  records(body: AsyncIterable<Uint8Array>): AsyncGenerator<FileRecord>;
}

/** A record that has passed its schema. `stored` is what is kept of reference data, `order` what is still to be completed. */
type ParsedRecord = { readonly lineNumber: number } & (
  | {
      readonly type: keyof typeof recordTypes;
      readonly recordId: string;
      readonly stored: string;
      readonly weight?: number;
    }
  | { readonly type: "purchaseOrder"; readonly recordId: string; readonly order: OrderInput }
);

const typeNames = [...Object.keys(recordTypes), "purchaseOrder"];

const isReferenceType = (type: string): type is keyof typeof recordTypes => Object.hasOwn(recordTypes, type);

/** A refusal that names the line, and the fields within its record by their columns or else by themselves. */
export function lineFault(
  lineNumber: number,
  details: readonly ValidationDetail[],
  columns: FileRecord["columns"] = null,
): Fault {
  const [first] = details;
  const columnOf = (path: string): string => {
    const column = columns?.[path];
    return column === undefined ? "" : `, column ${JSON.stringify(column)}`;
  };
  const pointer = first === undefined || first.path === "" || columnOf(first.path) !== "" ? "" : `${first.path}: `;
  const where = `line ${lineNumber}${columnOf(first?.path ?? "")}: ${pointer}`;
  return new Fault("INVALID_INPUT", `${where}${first?.message ?? "is not a record"}`, {
    details: details
      .slice(0, detailsMax)
      .map(({ path, message }) => ({ path, message: `line ${lineNumber}${columnOf(path)}: ${message}` })),
    action: "Nothing was imported. Correct the line and send the whole file again.",
  });
}

/** Gives what a record's check throws the line it stands on. */
function onLine(lineNumber: number, error: unknown, columns: FileRecord["columns"] = null): unknown {
  if (!(error instanceof Fault) || error.code !== "INVALID_INPUT") return error;
  const details = (error.details ?? []).flatMap((detail) => ("path" in detail ? detail : []));
  const whole = { path: "", message: error.message.replace(/^The body/, "The line") };
  return lineFault(lineNumber, details.length > 0 ? details : [whole], columns);
}

const newline = 0x0a;

const carriageReturn = 0x0d;

const byteOrderMark = [0xef, 0xbb, 0xbf];

/** The lines of a stream that are not blank, numbered from 1. A line's end may be missing at the end of the file. */
async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<Line> {
  let number = 1;
  let parts: Uint8Array[] = [];
  let length = 0;
  const take = (): Line => {
    let bytes: Uint8Array = parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
    if (bytes.at(-1) === carriageReturn) bytes = bytes.subarray(0, -1);
    if (number === 1 && byteOrderMark.every((byte, index) => bytes[index] === byte)) bytes = bytes.subarray(3);
    parts = [];
    length = 0;
    return { number: number++, bytes };
  };
  const add = (part: Uint8Array): void => {
    length += part.length;
    if (length > lineBytesMax)
      throw lineFault(number, [
        { path: "", message: `is longer than ${lineBytesMax} bytes, the most a line may have` },
      ]);
    if (part.length > 0) parts.push(part);
  };
  const isBlank = (line: Line): boolean => line.bytes.every((byte) => byte === 0x20 || byte === 0x09);
  for await (const chunk of body) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      add(chunk.subarray(start, end));
      start = end + 1;
      const line = take();
      if (!isBlank(line)) yield line;
    }
    // A copy: the source may use its buffer again.
    add(chunk.slice(start));
  }
  const last = take();
  if (!isBlank(last)) yield last;
}

/** The format of exports: one JSON object a line. */
export const ndjson: FileFormat = {
  refusesRepeats: false,
  async *records(body) {
    for await (const { number, bytes } of linesOf(body)) {
      let value: Json;
      try {
        value = parseJson(bytes);
      } catch (error) {
        throw onLine(number, error);
      }
      yield { lineNumber: number, bytes: bytes.length, value, columns: null };
    }
  },
};

function parseRecord({ lineNumber, value, columns }: FileRecord): ParsedRecord {
  try {
    if (typeof value !== "object" || value === null || Array.isArray(value))
      throw new Fault("INVALID_INPUT", "must be a JSON object");
    const type: unknown = "type" in value ? value.type : undefined;
    if (typeof type !== "string") throw invalidField("/type", `is needed and must be one of ${typeNames.join(", ")}`);
    if (isReferenceType(type)) return { lineNumber, type, ...recordTypes[type].parse(value) };
    if (type !== "purchaseOrder")
      throw invalidField("/type", `is unknown: ${JSON.stringify(type)}; it must be one of ${typeNames.join(", ")}`);
    const order = checkInput(purchaseOrderInput, value);
    return { lineNumber, type, recordId: order.purchaseOrderId, order };
  } catch (error) {
    throw onLine(lineNumber, error, columns);
  }
}

// Who has an import.

/** An import on its way, and who has it. */
interface Hold {
  readonly shopId: string;
  readonly importId: string;
  readonly owner: string;
}

type RunState = "staging" | "committed";

/** Renews the lease. @returns the import's state; null when somebody else has it, or it is there no more. */
async function renew({ clock }: ImportContext, tx: Tx, hold: Hold): Promise<RunState | null> {
  const [run] = await tx.all<{ state: RunState }>(
    `update import_run set leased_until = ? where shop_id = ? and import_id = ? and lease_owner = ?
     returning state`,
    [clock.now() + leaseMs, hold.shopId, hold.importId, hold.owner],
  );
  return run?.state ?? null;
}

const interrupted = (): Fault =>
  new Fault("DO_UNAVAILABLE", "The import stood still for so long that it was given up; nothing was imported.", {
    action: "Send the whole file again.",
    retryAfterMs: 1_000,
  });

/** Keeps the lease while `work` runs, however long it waits for its file or for the storefront. */
async function holding<T>(context: ImportContext, hold: Hold, work: () => Promise<T>): Promise<T> {
  const renewing = setInterval(() => {
    // One that fails is followed by another; whoever has lost the lease learns it from its next step.
    context.engine.write(hold.shopId, (tx) => renew(context, tx, hold), { durable: false }).catch(() => {});
  }, renewMs);
  renewing.unref();
  try {
    return await work();
  } finally {
    clearInterval(renewing);
  }
}

// Staging. These trust what was staged by this module.

const supplierFrom = (stored: string): Supplier => JSON.parse(stored);

const variantFrom = (stored: string): Variant => JSON.parse(stored);

const levelFrom = (stored: string): InventoryLevel => JSON.parse(stored);

const orderRecordFrom = (stored: string): OrderRecord => JSON.parse(stored);

/** The staged records of these ids, by id; of several the last. */
async function staged(
  tx: Tx,
  shopId: string,
  importId: string,
  type: keyof typeof recordTypes,
  recordIds: ReadonlySet<string>,
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const chunk of chunksOf([...recordIds], inListMax)) {
    // Sorted here: asked for in this order, the records would be read in it, all of the file's.
    const rows = await tx.all<{ position: number; record_id: string; record: string }>(
      `select position, record_id, record from import_record
       where shop_id = ? and import_id = ? and type = ? and record_id in (${chunk.map(() => "?").join(", ")})`,
      [shopId, importId, type, ...chunk],
    );
    for (const row of rows.sort((a, b) => a.position - b.position)) found.set(row.record_id, row.record);
  }
  return found;
}

/** What the file so far, or else the shop, knows of the suppliers and variants of these orders. */
async function lookUp(tx: Tx, shopId: string, importId: string, orders: readonly OrderInput[]) {
  const supplierIds = new Set(
    orders.flatMap((order) => ((order.currencyCode ?? null) === null ? (order.supplierId ?? []) : [])),
  );
  const variantIds = new Set(
    orders.flatMap((order) =>
      order.lineItems.flatMap((line) => (line.productName === undefined ? line.variantId : [])),
    ),
  );
  const currencies = new Map<string, string | null>();
  const stagedSuppliers = await staged(tx, shopId, importId, "supplier", supplierIds);
  for (const supplierId of supplierIds) {
    const record = stagedSuppliers.get(supplierId);
    const supplier = record === undefined ? await loadSupplier(tx, shopId, supplierId) : supplierFrom(record);
    currencies.set(supplierId, supplier?.currencyCode ?? null);
  }
  const variants = new Map<string, VariantSnapshot>(await loadVariants(tx, shopId, [...variantIds]));
  for (const [variantId, record] of await staged(tx, shopId, importId, "variant", variantIds))
    variants.set(variantId, variantFrom(record));
  return { currencies, variants };
}

const insertStaged = `
insert into import_record (shop_id, import_id, position, line_number, type, record_id, po_number, weight, record)
values (?, ?, ?, ?, ?, ?, ?, ?, ?)`;

const weightOf = ({ order, attachments, history }: OrderRecord): number =>
  [order.lineItems, ...Object.values(attachments), ...Object.values(history)].reduce(
    (sum, rows) => sum + rows.length,
    1,
  );

interface Staging {
  /** Records that are staged already: the next one's place. */
  staged: number;
  readonly shop: Shop;
  readonly hold: Hold;
  readonly requestId: string;
}

/** Completes and checks the records and keeps them for later. @throws Fault DO_UNAVAILABLE when somebody else has the import. */
async function stage(context: ImportContext, staging: Staging, records: readonly ParsedRecord[]): Promise<void> {
  const { shop, hold, requestId } = staging;
  const { importId } = hold;
  const { shopId } = shop;
  const positions = new Map(records.map((record, index) => [record, staging.staged + index]));
  staging.staged += records.length;
  const nowMs = context.clock.now();
  const row = (record: ParsedRecord, poNumber: string | null, weight: number, stored: string): Statement => ({
    sql: insertStaged,
    params: [
      shopId,
      importId,
      positions.get(record) ?? 0,
      record.lineNumber,
      record.type,
      record.recordId,
      poNumber,
      weight,
      stored,
    ],
  });
  await context.engine.write(
    shopId,
    async (tx) => {
      if ((await renew(context, tx, hold)) === null) throw interrupted();
      await tx.batch(
        records.flatMap((record) =>
          record.type === "purchaseOrder" ? [] : row(record, null, record.weight ?? 1, record.stored),
        ),
      );
      const orders = records.flatMap((record) => (record.type === "purchaseOrder" ? record.order : []));
      const { currencies, variants } = await lookUp(tx, shopId, importId, orders);
      await tx.batch(
        records.flatMap((record) => {
          if (record.type !== "purchaseOrder") return [];
          const { order } = record;
          const supplierCurrencyCode = currencies.get(order.supplierId ?? "") ?? null;
          const facts = { shop, supplierCurrencyCode, variants, requestId, nowMs, ids: context.ids };
          try {
            const whole = orderFrom(order, order.poNumber ?? "", facts);
            return row(record, order.poNumber ?? null, weightOf(whole), JSON.stringify(whole));
          } catch (error) {
            throw onLine(record.lineNumber, error);
          }
        }),
      );
    },
    { durable: false },
  );
}

/**
 * Throws a staged import away, a part a turn, its own row last. One that was committed, or that somebody else has, is left alone.
 *
 * @returns whether it was committed.
 */
async function discard(context: ImportContext, hold: Hold): Promise<boolean> {
  const { shopId, importId } = hold;
  for (;;) {
    const found = await context.engine.write(shopId, async (tx) => {
      const state = await renew(context, tx, hold);
      if (state !== "staging") return state;
      const rows = await tx.all<{ position: number }>(
        "select position from import_record where shop_id = ? and import_id = ? order by position limit ?",
        [shopId, importId, discardMax],
      );
      const isLast = rows.length < discardMax;
      await tx.batch([
        {
          sql: "delete from import_record where shop_id = ? and import_id = ? and position <= ?",
          params: [shopId, importId, rows.at(-1)?.position ?? 0],
        },
        ...(isLast ? [endStatement(hold)] : []),
      ]);
      return isLast ? null : state;
    });
    if (found !== "staging") return found === "committed";
  }
}

const endStatement = ({ shopId, importId }: Hold): Statement => ({
  sql: "delete from import_run where shop_id = ? and import_id = ?",
  params: [shopId, importId],
});

// Committing.

interface NumberConflict {
  readonly line_number: number;
  readonly po_number: string;
  readonly other: string;
}

/** The same number on another order of the file, of the shop, or of an import that is being brought in: any one such. Read from indexes alone. */
const numberConflicts = [
  `select max(line_number) as line_number, po_number, min(record_id) as other
   from import_record where shop_id = ? and import_id = ? and po_number is not null
   group by po_number having min(record_id) <> max(record_id) limit 1`,
  `select r.line_number, r.po_number, o.purchase_order_id as other
   from import_record r join purchase_order o
     on o.shop_id = r.shop_id and o.po_number = r.po_number and o.purchase_order_id <> r.record_id
   where r.shop_id = ? and r.import_id = ? and r.po_number is not null limit 1`,
  `select r.line_number, r.po_number, o.record_id as other
   from import_record r
   join import_run u on u.shop_id = r.shop_id and u.state = 'committed' and u.import_id <> r.import_id
   join import_record o
     on o.shop_id = r.shop_id and o.import_id = u.import_id and o.po_number = r.po_number and o.record_id <> r.record_id
   where r.shop_id = ? and r.import_id = ? and r.po_number is not null limit 1`,
];

/** @throws Fault INVALID_INPUT naming the second of two records with one key. */
async function refuseRepeats(tx: Tx, shopId: string, importId: string): Promise<void> {
  const [repeated] = await tx.all<{ type: string; record_id: string }>(
    `select type, record_id from import_record where shop_id = ? and import_id = ?
     group by type, record_id having count(*) > 1 limit 1`,
    [shopId, importId],
  );
  if (repeated === undefined) return;
  const lines = await tx.all<{ line_number: number }>(
    `select line_number from import_record where shop_id = ? and import_id = ? and type = ? and record_id = ?
     order by position limit 2`,
    [shopId, importId, repeated.type, repeated.record_id],
  );
  const [first, second] = lines.map((line) => line.line_number);
  throw lineFault(second ?? 0, [{ path: "", message: `is about the same ${repeated.type} as line ${first}` }]);
}

/**
 * The point of no return: after this write the import will be brought in.
 *
 * @throws Fault INVALID_INPUT when its numbers contradict, DO_UNAVAILABLE when somebody else has it.
 * @param poNumberMax the highest number of the shop's own form in the file; the shop counts on from there (C34).
 */
async function commit(context: ImportContext, tx: Tx, hold: Hold, poNumberMax: number): Promise<void> {
  const { shopId, importId } = hold;
  if ((await renew(context, tx, hold)) === null) throw interrupted();
  for (const sql of numberConflicts) {
    const [conflict] = await tx.all<NumberConflict>(sql, [shopId, importId]);
    if (conflict !== undefined)
      throw lineFault(conflict.line_number, [
        { path: "/poNumber", message: `${conflict.po_number} is the number of order ${conflict.other} already` },
      ]);
  }
  await tx.batch([
    {
      sql: "update import_run set state = 'committed' where shop_id = ? and import_id = ?",
      params: [shopId, importId],
    },
    {
      sql: "update shop set next_po_number = ? where shop_id = ? and next_po_number < ?",
      params: [poNumberMax + 1, shopId, poNumberMax + 1],
    },
  ]);
}

// Bringing in.

interface StagedRow {
  readonly position: number;
  readonly type: string;
  readonly record_id: string;
  readonly po_number: string | null;
  readonly record: string;
}

/** The next records in line, as many as one turn moves. */
async function nextChunk(tx: Tx, shopId: string, importId: string): Promise<readonly StagedRow[]> {
  const weights = await tx.all<{ position: number; weight: number }>(
    "select position, weight from import_record where shop_id = ? and import_id = ? order by position limit ?",
    [shopId, importId, chunkWeightMax],
  );
  let weight = 0;
  let until = 0;
  for (const row of weights) {
    weight += row.weight;
    if (weight > chunkWeightMax && until > 0) break;
    until = row.position;
  }
  return await tx.all<StagedRow>(
    `select position, type, record_id, po_number, record from import_record
     where shop_id = ? and import_id = ? and position <= ? order by position`,
    [shopId, importId, until],
  );
}

/** Stores one order as the record has it. @returns how it moved the incoming ledger. */
async function bringInOrder(tx: Tx, shopId: string, { record, po_number }: StagedRow) {
  const { order, attachments, history, deletedAtMs } = orderRecordFrom(record);
  const { purchaseOrderId } = order;
  const whole = po_number === null ? { ...order, poNumber: await numberOf(tx, shopId, purchaseOrderId) } : order;
  const before = await importOrder(tx, shopId, whole, attachments);
  await tx.batch([
    ...historyStatements(shopId, purchaseOrderId, history),
    ...(deletedAtMs === null
      ? []
      : [
          {
            sql: "update purchase_order set deleted_at = ? where shop_id = ? and purchase_order_id = ?",
            params: [deletedAtMs, shopId, purchaseOrderId],
          },
          ...incomingStatements(shopId, whole, null),
        ]),
  ]);
  return incomingDeltas(before, deletedAtMs === null ? whole : null);
}

/** The number that the order has already, else the next one. */
async function numberOf(tx: Tx, shopId: string, purchaseOrderId: string): Promise<PurchaseOrder["poNumber"]> {
  const [stored] = await tx.all<{ po_number: string }>(
    "select po_number from purchase_order where shop_id = ? and purchase_order_id = ?",
    [shopId, purchaseOrderId],
  );
  return stored?.po_number ?? (await nextPoNumber(tx, shopId));
}

/** Moves these records into their tables, and asks for what the storefront must follow in (S3, C41, C42). */
async function bringIn(context: ImportContext, tx: Tx, shop: Shop, hold: Hold, until: number): Promise<void> {
  if ((await renew(context, tx, hold)) === null) return;
  const { shopId, importId } = hold;
  const key: readonly SqlValue[] = [shopId, importId, until];
  // Read again: an earlier try may have moved them, though it was reported as failed.
  const rows = await tx.all<StagedRow>(
    `select position, type, record_id, po_number, record from import_record
     where shop_id = ? and import_id = ? and position <= ? order by position`,
    key,
  );
  const bringing = { tx, shop, nowMs: context.clock.now(), ids: context.ids };
  const touched = new Map<string, Set<string>>();
  for (const row of rows) {
    if (isReferenceType(row.type)) {
      const type: ReferenceType = recordTypes[row.type];
      await tx.batch(await type.statements(shopId, row.record, bringing));
      continue;
    }
    for (const { locationId, variantId } of await bringInOrder(tx, shopId, row))
      touched.set(locationId, (touched.get(locationId) ?? new Set()).add(variantId));
  }
  const mirrors = [...touched].map(([locationId, variantIds]): Effect => ({
    kind: "mirror-incoming",
    locationId,
    variantIds: [...variantIds],
  }));
  const variantIds = new Set([...touched.values()].flatMap((ids) => [...ids]));
  const effects: readonly Effect[] =
    shop.onOrderTag === null || variantIds.size === 0
      ? mirrors
      : [...mirrors, { kind: "sync-tags", variantIds: [...variantIds] }];
  await tx.batch([
    ...effectStatements(shopId, effects, context.ids, context.clock.now()).statements,
    { sql: "delete from import_record where shop_id = ? and import_id = ? and position <= ?", params: key },
  ]);
}

/**
 * Brings a committed import in to its end, a chunk a turn. Repeatable at every step.
 *
 * @returns false when somebody else has it now, or `signal` told to stop.
 */
async function finish(context: ImportContext, shop: Shop, hold: Hold, signal: AbortSignal | null): Promise<boolean> {
  const { engine } = context;
  const { shopId, importId } = hold;
  for (;;) {
    if (signal?.aborted === true) return false;
    const [isHeld, chunk] = await engine.peek(shopId, (tx) =>
      Promise.all([isHeldBy(tx, hold), nextChunk(tx, shopId, importId)]),
    );
    if (!isHeld) return false;
    const last = chunk.at(-1);
    if (last === undefined) break;
    const variants = chunk.flatMap((row) => (row.type === "variant" ? variantFrom(row.record) : []));
    const levels = chunk.flatMap((row) => (row.type === "inventoryLevel" ? levelFrom(row.record) : []));
    // Before the shop's own: effects of the chunk's orders must find the variants at the storefront.
    if (shop.storefront.kind === "sandbox" && variants.length + levels.length > 0)
      await context.seedStorefront(shopId, variants, levels);
    await engine.write(shopId, (tx) => bringIn(context, tx, shop, hold, last.position), { durable: false });
  }
  // Forecasts read what sales have taught, not the sales.
  while (await engine.write(shopId, (tx) => settleSales(tx, shopId), { durable: false }));
  await engine.write(shopId, (tx) => tx.batch([endStatement(hold)]));
  return true;
}

async function isHeldBy(tx: Tx, { shopId, importId, owner }: Hold): Promise<boolean> {
  const rows = await tx.all<{ import_id: string }>(
    "select import_id from import_run where shop_id = ? and import_id = ? and lease_owner = ?",
    [shopId, importId, owner],
  );
  return rows.length > 0;
}

/** Waits until whoever has the import has brought it in. */
async function untilFinished({ engine }: ImportContext, { shopId, importId }: Hold): Promise<void> {
  const isThere = (tx: Tx): Promise<unknown[]> =>
    tx.all("select import_id from import_run where shop_id = ? and import_id = ?", [shopId, importId]);
  while ((await engine.read(shopId, isThere)).length > 0)
    await new Promise((resolve) => setTimeout(resolve, othersLookMs));
}

/**
 * Imports a file of records into the shop, all or nothing. A record with the key of one that is there replaces it.
 *
 * @param body    the file, in pieces of any size.
 * @param format  how it is read.
 * @returns how many records of each type came in.
 * @throws Fault INVALID_INPUT   a line is no record, breaks a rule, or has a number that another order has; it names the line.
 * @throws Fault DO_UNAVAILABLE  it stood still for so long that another node took it for dead.
 * Source: contract §7, §8; C29, C34, C41.
 */
export async function importRecords(
  context: ImportContext,
  shop: Shop,
  body: AsyncIterable<Uint8Array>,
  requestId: string,
  format: FileFormat = ndjson,
): Promise<Readonly<Record<string, number>>> {
  const { engine, clock, ids } = context;
  const { shopId } = shop;
  const hold: Hold = { shopId, importId: ids.next("imp"), owner: ids.next("run") };
  await engine.write(shopId, (tx) =>
    tx.batch([
      {
        sql: `insert into import_run (shop_id, import_id, state, started_at, lease_owner, leased_until)
              values (?, ?, 'staging', ?, ?, ?)`,
        params: [shopId, hold.importId, clock.now(), hold.owner, clock.now() + leaseMs],
      },
    ]),
  );
  return await holding(context, hold, async () => {
    const imported: Record<string, number> = {};
    try {
      const staging: Staging = { staged: 1, shop, hold, requestId };
      const poNumberMax = await stageAll(context, staging, format.records(body), imported);
      if (format.refusesRepeats) await engine.peek(shopId, (tx) => refuseRepeats(tx, shopId, hold.importId));
      await engine.write(shopId, (tx) => commit(context, tx, hold, poNumberMax));
    } catch (error) {
      // Of a commit whose answer was lost it may turn out that it was kept: there is no way back from that.
      if (!(await discard(context, hold))) throw error;
    }
    if (!(await finish(context, shop, hold, null))) await untilFinished(context, hold);
    return imported;
  });
}

/**
 * Stages the file's records.
 *
 * @param imported counts them by type.
 * @returns the highest number of the shop's own form.
 */
async function stageAll(
  context: ImportContext,
  staging: Staging,
  records: AsyncIterable<FileRecord>,
  imported: Record<string, number>,
): Promise<number> {
  let poNumberMax = 0;
  let chunk: ParsedRecord[] = [];
  let bytes = 0;
  for await (const found of records) {
    const record = parseRecord(found);
    imported[record.type] = (imported[record.type] ?? 0) + 1;
    if (record.type === "purchaseOrder")
      poNumberMax = Math.max(poNumberMax, Number(countedPoNumber.exec(record.order.poNumber ?? "")?.[1] ?? 0));
    chunk.push(record);
    bytes += found.bytes;
    if (bytes < stageBytesMax) continue;
    await stage(context, staging, chunk);
    chunk = [];
    bytes = 0;
  }
  await stage(context, staging, chunk);
  return poNumberMax;
}

export interface RecoverOptions {
  /** No other process is on the store: whoever had an import is dead, whatever its lease says. */
  readonly alone: boolean;
  /** Told to stop between two chunks; others then go on at once. */
  readonly signal?: AbortSignal;
}

/**
 * Finishes imports that a process which died left committed, and throws away what it left staged (I1, I2). Where this is the only
 * process, to be called before the shop is served; among other nodes now and then.
 */
export async function recoverImports(context: ImportContext, shopId: string, options: RecoverOptions): Promise<void> {
  const { alone, signal = null } = options;
  const endedByMs = alone ? Number.MAX_SAFE_INTEGER : context.clock.now();
  const [shop, runs] = await context.engine.peek(shopId, (tx) =>
    Promise.all([
      loadShop(tx, shopId),
      tx.all<{ import_id: string }>(
        `select import_id from import_run where shop_id = ? and coalesce(leased_until, 0) <= ?
         order by started_at, import_id`,
        [shopId, endedByMs],
      ),
    ]),
  );
  for (const { import_id: importId } of runs) {
    if (signal?.aborted === true) return;
    const hold: Hold = { shopId, importId, owner: context.ids.next("run") };
    const state = await context.engine.write(shopId, (tx) => takeOver(context, tx, hold, endedByMs));
    // Another node was first.
    if (state === null) continue;
    await holding(context, hold, async () => {
      if (shop === null || state === "staging") await discard(context, hold);
      else if (!(await finish(context, shop, hold, signal))) await giveBack(context, hold);
    });
  }
}

/** Takes an import that nobody has any more. @returns its state; null when somebody has it. */
async function takeOver(
  { clock }: ImportContext,
  tx: Tx,
  { shopId, importId, owner }: Hold,
  endedByMs: number,
): Promise<RunState | null> {
  const [run] = await tx.all<{ state: RunState }>(
    `update import_run set lease_owner = ?, leased_until = ?
     where shop_id = ? and import_id = ? and coalesce(leased_until, 0) <= ? returning state`,
    [owner, clock.now() + leaseMs, shopId, importId, endedByMs],
  );
  return run?.state ?? null;
}

/** Lets others go on at once with what this one has. */
const giveBack = ({ engine, clock }: ImportContext, { shopId, importId, owner }: Hold): Promise<void> =>
  engine.write(shopId, (tx) =>
    tx.batch([
      {
        sql: "update import_run set leased_until = ? where shop_id = ? and import_id = ? and lease_owner = ?",
        params: [clock.now(), shopId, importId, owner],
      },
    ]),
  );
