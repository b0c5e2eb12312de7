/**
 * Stored answers of keyed writes (table `idempotency_record`; C18, C21).
 */
import type { Statement, Tx } from "../store/store.ts";

/** A stored answer. `headers` are those that a replay restores. */
export interface IdempotencyRecord {
  readonly fingerprint: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly storedAtMs: number;
}

/** The record under this key, or null when there is none that was stored after `sinceMs`. */
export async function findIdempotencyRecord(
  tx: Tx,
  shopId: string,
  keyId: string,
  idempotencyKey: string,
  sinceMs: number,
): Promise<IdempotencyRecord | null> {
  const [row] = await tx.all<{ fingerprint: string; status: number; headers: string; body: string; stored_at: number }>(
    `select fingerprint, status, headers, body, stored_at from idempotency_record
     where shop_id = ? and key_id = ? and idempotency_key = ? and stored_at > ?`,
    [shopId, keyId, idempotencyKey, sinceMs],
  );
  if (row === undefined) return null;
  const headers: Record<string, string> = JSON.parse(row.headers);
  return { fingerprint: row.fingerprint, status: row.status, headers, body: row.body, storedAtMs: row.stored_at };
}

/** Whether such a record exists for the API key with this secret. It is asked in the round trip that finds the key itself. */
export async function hasIdempotencyRecord(
  tx: Tx,
  shopId: string,
  secretHash: string,
  idempotencyKey: string,
  sinceMs: number,
): Promise<boolean> {
  const rows = await tx.all<{ stored_at: number }>(
    `select r.stored_at from api_key k
     join idempotency_record r on r.shop_id = k.shop_id and r.key_id = k.key_id
     where k.shop_id = ? and k.secret_hash = ? and r.idempotency_key = ? and r.stored_at > ?`,
    [shopId, secretHash, idempotencyKey, sinceMs],
  );
  return rows.length > 0;
}

/** Stores the answer. It replaces one under the same key: an expired one, or this request's own from before its follow-on work (D3). */
export const idempotencyStatement = (
  shopId: string,
  keyId: string,
  idempotencyKey: string,
  record: IdempotencyRecord,
): Statement => ({
  sql: `insert into idempotency_record (shop_id, key_id, idempotency_key, fingerprint, status, headers, body, stored_at)
        values (?, ?, ?, ?, ?, ?, ?, ?)
        on conflict (shop_id, key_id, idempotency_key) do update set
          fingerprint = excluded.fingerprint, status = excluded.status, headers = excluded.headers,
          body = excluded.body, stored_at = excluded.stored_at`,
  params: [
    shopId,
    keyId,
    idempotencyKey,
    record.fingerprint,
    record.status,
    JSON.stringify(record.headers),
    record.body,
    record.storedAtMs,
  ],
});

/** Deletes the oldest records as far as they were stored at `untilMs` or before: those with the earliest times, about `rowsMax`. */
export const sweepIdempotency = (shopId: string, untilMs: number, rowsMax: number): Statement => ({
  sql: `delete from idempotency_record where shop_id = ? and stored_at <= ? and stored_at in
          (select stored_at from idempotency_record where shop_id = ? order by stored_at limit ?)`,
  params: [shopId, untilMs, shopId, rowsMax],
});
