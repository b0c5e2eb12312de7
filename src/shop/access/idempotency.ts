/**
 * Stored answers of keyed writes (tables `idempotency_record`, `idempotency_total`; C18, C21).
 *
 * The total of a shop's records is kept in the transaction that stores or deletes one, so that a quota costs no count.
 *
 * What looks up one key says `stored_at + 0 > ?`, which no index has. PostgreSQL takes the index by age for as good as
 * the key's own while it knows little of the table. Then it would walk every record of the shop (D368).
 */
import type { Statement, Tx } from "../../store/store.ts";
import { type Change, changeOf, insert, replace, textForm } from "../../store/change.ts";
import { tables } from "../tables.ts";

/** A stored answer. `headers` are those that a replay restores. */
export interface IdempotencyRecord {
  readonly fingerprint: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The body as it is stored. */
  readonly body: string;
  /** Encoding of the stored body; null: as it was sent. */
  readonly encoding: string | null;
  readonly storedAtMs: number;
  /** The operation that was asked for; null: nobody has noted it. */
  readonly operation: string | null;
  /** The one order that it made or changed; null: there is none. */
  readonly purchaseOrderId: string | null;
}

/** The record under this key, or null when there is none that was stored after `sinceMs`. */
export async function findIdempotencyRecord(
  tx: Tx,
  shopId: string,
  keyId: string,
  idempotencyKey: string,
  sinceMs: number,
): Promise<IdempotencyRecord | null> {
  const [row] = await tx.all<{
    fingerprint: string;
    status: number;
    headers: string;
    body: string;
    encoding: string | null;
    stored_at: number;
    operation: string | null;
    purchase_order_id: string | null;
  }>(
    `select fingerprint, status, headers, body, encoding, stored_at, operation, purchase_order_id from idempotency_record
     where shop_id = ? and key_id = ? and idempotency_key = ? and stored_at + 0 > ?`,
    [shopId, keyId, idempotencyKey, sinceMs],
  );
  if (row === undefined) return null;
  const { fingerprint, status, body, encoding, operation } = row;
  return {
    fingerprint,
    status,
    headers: headersFrom(row.headers),
    body,
    encoding,
    storedAtMs: row.stored_at,
    operation,
    purchaseOrderId: row.purchase_order_id,
  };
}

/** The headers of the record under this key, or null when there is none that was stored after `sinceMs`. */
export async function findStoredHeaders(
  tx: Tx,
  shopId: string,
  keyId: string,
  idempotencyKey: string,
  sinceMs: number,
): Promise<Readonly<Record<string, string>> | null> {
  const [row] = await tx.all<{ headers: string }>(
    `select headers from idempotency_record
     where shop_id = ? and key_id = ? and idempotency_key = ? and stored_at + 0 > ?`,
    [shopId, keyId, idempotencyKey, sinceMs],
  );
  return row === undefined ? null : headersFrom(row.headers);
}

function headersFrom(stored: string): Readonly<Record<string, string>> {
  const headers: Record<string, string> = JSON.parse(stored);
  return headers;
}

/**
 * The fingerprint of such a record of the API key with this secret; null when there is none. It is asked in the round
 * trip that finds the key itself.
 */
export async function findStoredFingerprint(
  tx: Tx,
  shopId: string,
  secretHash: string,
  idempotencyKey: string,
  sinceMs: number,
): Promise<string | null> {
  const [row] = await tx.all<{ fingerprint: string }>(
    `select r.fingerprint from api_key k
     join idempotency_record r on r.shop_id = k.shop_id and r.key_id = k.key_id
     where k.shop_id = ? and k.secret_hash = ? and r.idempotency_key = ? and r.stored_at + 0 > ?`,
    [shopId, secretHash, idempotencyKey, sinceMs],
  );
  return row?.fingerprint ?? null;
}

/** A condition to be added to a statement: no such record exists. */
export const unlessAnswered = (
  { sql, params }: Statement,
  shopId: string,
  keyId: string,
  idempotencyKey: string,
  sinceMs: number,
): Statement => ({
  sql: `${sql} and not exists (
          select 1 from idempotency_record r
          where r.shop_id = ? and r.key_id = ? and r.idempotency_key = ? and r.stored_at + 0 > ?)`,
  params: [...params, shopId, keyId, idempotencyKey, sinceMs],
});

/** Bytes of the shop's records, expired ones that were not deleted yet included. */
export async function loadStoredBytes(tx: Tx, shopId: string): Promise<number> {
  const [row] = await tx.all<{ bytes: number }>("select bytes from idempotency_total where shop_id = ?", [shopId]);
  return row?.bytes ?? 0;
}

/** Bytes that the record takes. */
export const storedBytesOf = (idempotencyKey: string, { fingerprint, headers, body }: IdempotencyRecord): number =>
  [idempotencyKey, fingerprint, JSON.stringify(headers), body].reduce((sum, text) => sum + Buffer.byteLength(text), 0);

/**
 * Stores the answer and adds it to the total. It replaces one under the same key: an expired one, or this request's own
 * from before its follow-on work (D3).
 */
export function idempotencyStatements(
  shopId: string,
  keyId: string,
  idempotencyKey: string,
  record: IdempotencyRecord,
): readonly Change[] {
  const { fingerprint, status, headers, body, encoding, storedAtMs, operation, purchaseOrderId } = record;
  const bytes = storedBytesOf(idempotencyKey, record);
  return [
    changeOf(growTotal, [shopId, bytes, shopId, keyId, idempotencyKey]),
    replace(tables.idempotency_record, shopId, {
      key_id: keyId,
      idempotency_key: idempotencyKey,
      fingerprint,
      status,
      headers: JSON.stringify(headers),
      body,
      encoding,
      bytes,
      stored_at: storedAtMs,
      operation,
      purchase_order_id: purchaseOrderId,
    }),
  ];
}

/** Adds a record's bytes to the total, less those of the record that it replaces. */
const growTotal = textForm(
  tables.idempotency_total,
  `insert into idempotency_total (shop_id, bytes) values (?, ?)
   on conflict (shop_id) do update set bytes = idempotency_total.bytes + excluded.bytes - coalesce(
     (select r.bytes from idempotency_record r where r.shop_id = ? and r.key_id = ? and r.idempotency_key = ?), 0)`,
  ["shop_id", null, null, null, null],
);

/** When the oldest records were stored and what they take, at most `rowsMax` of them. */
export async function oldestRecords(
  tx: Tx,
  shopId: string,
  rowsMax: number,
): Promise<readonly { readonly storedAtMs: number; readonly bytes: number }[]> {
  const rows = await tx.all<{ stored_at: number; bytes: number }>(
    "select stored_at, bytes from idempotency_record where shop_id = ? order by stored_at, bytes limit ?",
    [shopId, rowsMax],
  );
  return rows.map((row) => ({ storedAtMs: row.stored_at, bytes: row.bytes }));
}

/**
 * Deletes the oldest records as far as they were stored at `untilMs` or before: those with the earliest times, about
 * `rowsMax`.
 *
 * @returns what was deleted.
 */
export async function sweepIdempotency(
  tx: Tx,
  shopId: string,
  untilMs: number,
  rowsMax: number,
): Promise<{ readonly rows: number; readonly bytes: number }> {
  const rows = await tx.all<{ bytes: number }>(
    // Without the same bound within, a sweep that finds nothing would look at `rowsMax` rows.
    `delete from idempotency_record where shop_id = ? and stored_at <= ? and stored_at in
       (select stored_at from idempotency_record where shop_id = ? and stored_at <= ? order by stored_at limit ?)
     returning bytes`,
    [shopId, untilMs, shopId, untilMs, rowsMax],
  );
  const bytes = rows.reduce((sum, row) => sum + row.bytes, 0);
  if (rows.length > 0) await tx.batch([insert(tables.idempotency_total, shopId, { bytes: -bytes }, "add")]);
  return { rows: rows.length, bytes };
}
