/**
 * The shop's own records: the shop row, its API keys, its audit log and its idempotency records.
 *
 * Owns: their SQL. Does not own: how keys are made (core/api-key.ts), what settings mean (core) or who may ask (operations/perform.ts).
 */
import { asFxRate, type FxRate } from "../core/money.ts";
import type { ShopFacts } from "../core/purchase-order.ts";
import type { RateLimit, SqlValue, Statement, Tx } from "./shop.ts";

/** A shop's settings as stored (contract §7); the wire shape shows rates as decimal numbers. */
export interface ShopSettings {
  readonly followOnWaitMs: number;
  readonly confirmationWaitMs: number;
  readonly autoSyncOnReceiving: boolean;
  readonly costSyncMode: "unit-cost" | "moving-average" | "disabled";
  readonly onOrderTag: string | null;
  /** Foreign currency → shop currency, in steps of 10^-10. */
  readonly fxRates: Readonly<Record<string, FxRate>>;
  readonly rateLimit: RateLimit;
  readonly timezone: string;
}

export const defaultSettings: ShopSettings = {
  followOnWaitMs: 2_000,
  confirmationWaitMs: 30_000,
  autoSyncOnReceiving: true,
  costSyncMode: "unit-cost",
  onOrderTag: null,
  fxRates: {},
  rateLimit: { capacity: 120, refillPerSecond: 10 },
  timezone: "UTC",
};

/** Which storefront a shop is on and how it is reached (C47). */
export type StorefrontConfig =
  | { readonly kind: "sandbox" }
  | {
      readonly kind: "shopify";
      readonly shopDomain: string;
      readonly accessToken: string;
      readonly apiVersion: string;
    };

/** The shop that asks, as of the start of the call. */
export interface Shop extends ShopFacts, ShopSettings {
  readonly shopId: string;
  readonly name: string;
  readonly currencyCode: string;
  readonly planRestApi: boolean;
  readonly storefront: StorefrontConfig;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

interface ShopRow {
  readonly shop_id: string;
  readonly name: string;
  readonly currency_code: string;
  readonly plan_rest_api: number;
  readonly settings: string;
  readonly storefront: string;
  readonly created_at: number;
  readonly updated_at: number;
}

const selectShop =
  "select shop_id, name, currency_code, plan_rest_api, settings, storefront, created_at, updated_at from shop where shop_id = ?";

const upsertShop = `
insert into shop (shop_id, name, currency_code, plan_rest_api, settings, storefront, next_po_number, created_at, updated_at)
values (?, ?, ?, ?, ?, ?, 1001, ?, ?)
on conflict (shop_id) do update set
  name = excluded.name, currency_code = excluded.currency_code, plan_rest_api = excluded.plan_rest_api,
  settings = excluded.settings, storefront = excluded.storefront, updated_at = excluded.updated_at`;

function settingsFrom(text: string): ShopSettings {
  // Written by `saveShop` alone; members that a later version added take their defaults.
  const stored: Partial<Omit<ShopSettings, "fxRates">> & { fxRates?: Record<string, number> } = JSON.parse(text);
  const fxRates = Object.fromEntries(
    Object.entries(stored.fxRates ?? {}).map(([code, rate]) => [code, asFxRate(rate)] as const),
  );
  return { ...defaultSettings, ...stored, fxRates };
}

function shopFrom(row: ShopRow): Shop {
  const storefront: StorefrontConfig = JSON.parse(row.storefront);
  return {
    ...settingsFrom(row.settings),
    shopId: row.shop_id,
    name: row.name,
    currencyCode: row.currency_code,
    planRestApi: row.plan_rest_api === 1,
    storefront,
    createdAtMs: row.created_at,
    updatedAtMs: row.updated_at,
  };
}

export async function loadShop(tx: Tx, shopId: string): Promise<Shop | null> {
  const [row] = await tx.all<ShopRow>(selectShop, [shopId]);
  return row === undefined ? null : shopFrom(row);
}

export async function saveShop(tx: Tx, shop: Shop): Promise<void> {
  const {
    followOnWaitMs,
    confirmationWaitMs,
    autoSyncOnReceiving,
    costSyncMode,
    onOrderTag,
    fxRates,
    rateLimit,
    timezone,
  } = shop;
  const settings: ShopSettings = {
    followOnWaitMs,
    confirmationWaitMs,
    autoSyncOnReceiving,
    costSyncMode,
    onOrderTag,
    fxRates,
    rateLimit,
    timezone,
  };
  await tx.batch([
    {
      sql: upsertShop,
      params: [
        shop.shopId,
        shop.name,
        shop.currencyCode,
        shop.planRestApi ? 1 : 0,
        JSON.stringify(settings),
        JSON.stringify(shop.storefront),
        shop.createdAtMs,
        shop.updatedAtMs,
      ],
    },
  ]);
}

/** An API key as stored: the hash of its secret, never the secret. */
export interface ApiKey {
  readonly keyId: string;
  readonly name: string;
  readonly scope: "read" | "write";
  readonly lastFour: string;
  readonly createdAtMs: number;
  readonly revokedAtMs: number | null;
}

interface ApiKeyRow {
  readonly key_id: string;
  readonly name: string;
  readonly scope: "read" | "write";
  readonly last_four: string;
  readonly created_at: number;
  readonly revoked_at: number | null;
}

const apiKeyColumns = "key_id, name, scope, last_four, created_at, revoked_at";

const apiKeyFrom = (row: ApiKeyRow): ApiKey => ({
  keyId: row.key_id,
  name: row.name,
  scope: row.scope,
  lastFour: row.last_four,
  createdAtMs: row.created_at,
  revokedAtMs: row.revoked_at,
});

/** The key with this secret, revoked ones included. */
export async function findApiKey(tx: Tx, shopId: string, secretHash: string): Promise<ApiKey | null> {
  const [row] = await tx.all<ApiKeyRow>(`select ${apiKeyColumns} from api_key where shop_id = ? and secret_hash = ?`, [
    shopId,
    secretHash,
  ]);
  return row === undefined ? null : apiKeyFrom(row);
}

export async function insertApiKey(tx: Tx, shopId: string, key: ApiKey, secretHash: string): Promise<void> {
  await tx.batch([
    {
      sql: `insert into api_key (shop_id, key_id, name, scope, secret_hash, last_four, created_at, revoked_at)
            values (?, ?, ?, ?, ?, ?, ?, ?)`,
      params: [shopId, key.keyId, key.name, key.scope, secretHash, key.lastFour, key.createdAtMs, key.revokedAtMs],
    },
  ]);
}

/** Keys of the shop, oldest first, each with the time of its latest request. */
export async function listApiKeys(
  tx: Tx,
  shopId: string,
): Promise<(ApiKey & { readonly lastUsedAtMs: number | null })[]> {
  const rows = await tx.all<ApiKeyRow & { readonly last_used_at: number | null }>(
    `select ${apiKeyColumns},
       (select at from audit_log a where a.shop_id = k.shop_id and a.key_id = k.key_id
        order by audit_id desc limit 1) as last_used_at
     from api_key k where shop_id = ? order by created_at, key_id`,
    [shopId],
  );
  return rows.map((row) => ({ ...apiKeyFrom(row), lastUsedAtMs: row.last_used_at }));
}

/** @returns false when there is no such key. Revoking again keeps the first time. */
export async function revokeApiKey(tx: Tx, shopId: string, keyId: string, nowMs: number): Promise<boolean> {
  const rows = await tx.all<{ key_id: string }>(
    "update api_key set revoked_at = coalesce(revoked_at, ?) where shop_id = ? and key_id = ? returning key_id",
    [nowMs, shopId, keyId],
  );
  return rows.length === 1;
}

/** One request, as the audit log tells it (spec "Authentication" 9). */
export interface AuditEntry {
  readonly auditId: string;
  readonly atMs: number;
  readonly requestId: string;
  /** `rest:purchase_order_receive`, `mcp:…`; `rest:unknown` where no operation was reached. */
  readonly tag: string;
  readonly keyId: string | null;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly errorCode: string | null;
  readonly durationMs: number;
  readonly replayed: boolean;
}

/** Writes or, for the same `auditId`, replaces the row. */
export const auditStatement = (shopId: string, entry: AuditEntry): Statement => ({
  sql: `insert into audit_log
          (shop_id, audit_id, at, request_id, tag, key_id, method, path, status, error_code, duration_ms, replayed)
        values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        on conflict (shop_id, audit_id) do update set
          status = excluded.status, error_code = excluded.error_code, duration_ms = excluded.duration_ms`,
  params: [
    shopId,
    entry.auditId,
    entry.atMs,
    entry.requestId,
    entry.tag,
    entry.keyId,
    entry.method,
    entry.path,
    entry.status,
    entry.errorCode,
    entry.durationMs,
    entry.replayed ? 1 : 0,
  ],
});

interface AuditRow {
  readonly audit_id: string;
  readonly at: number;
  readonly request_id: string;
  readonly tag: string;
  readonly key_id: string | null;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly error_code: string | null;
  readonly duration_ms: number;
  readonly replayed: number;
}

export interface AuditFilters {
  readonly keyId: string | null;
  /** The operation's name; matches every surface's tag. */
  readonly operation: string | null;
  readonly status: number | null;
}

/** Newest first. `before` is the audit id that the last page ended with. */
export async function listAudit(
  tx: Tx,
  shopId: string,
  filters: AuditFilters,
  before: string | null,
  limit: number,
): Promise<{ readonly entries: readonly AuditEntry[]; readonly totalCount: number }> {
  const conditions = ["shop_id = ?"];
  const params: SqlValue[] = [shopId];
  if (filters.keyId !== null) {
    conditions.push("key_id = ?");
    params.push(filters.keyId);
  }
  if (filters.operation !== null) {
    conditions.push("tag in (?, ?)");
    params.push(`rest:${filters.operation}`, `mcp:${filters.operation}`);
  }
  if (filters.status !== null) {
    conditions.push("status = ?");
    params.push(filters.status);
  }
  const where = conditions.join(" and ");
  const page = before === null ? "" : " and audit_id < ?";
  const [[count], rows] = await Promise.all([
    tx.all<{ n: number }>(`select count(*) as n from audit_log where ${where}`, params),
    tx.all<AuditRow>(
      `select audit_id, at, request_id, tag, key_id, method, path, status, error_code, duration_ms, replayed
       from audit_log where ${where}${page} order by audit_id desc limit ?`,
      before === null ? [...params, limit] : [...params, before, limit],
    ),
  ]);
  const entries = rows.map((row) => ({
    auditId: row.audit_id,
    atMs: row.at,
    requestId: row.request_id,
    tag: row.tag,
    keyId: row.key_id,
    method: row.method,
    path: row.path,
    status: row.status,
    errorCode: row.error_code,
    durationMs: row.duration_ms,
    replayed: row.replayed === 1,
  }));
  return { entries, totalCount: count?.n ?? 0 };
}

/** A stored answer (C18). `headers` are those that a replay restores. */
export interface IdempotencyRecord {
  readonly fingerprint: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly storedAtMs: number;
}

/** The record under this key, unless it is older than `since` (C21). */
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

/** Whether such a record is there, for the API key with this secret: asked beside the look for the key itself. */
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

/** Stores the answer, replacing one under the same key (an expired one, or this call's own provisional one). */
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

/** Deletes records stored at `untilMs` or before. */
export const sweepIdempotencyStatement = (shopId: string, untilMs: number): Statement => ({
  sql: "delete from idempotency_record where shop_id = ? and stored_at <= ?",
  params: [shopId, untilMs],
});
