/**
 * The shop itself and its API keys (tables `shop` and `api_key`).
 *
 * Owns: their SQL. Does not own: how keys are made (core/access/api-key.ts), what settings mean (core), who may ask
 * (requests/caller.ts).
 */
import { unconfirmedDaysDefault } from "../../core/order/advice/attention.ts";
import { type FxRate, asFxRate, asMoney } from "../../core/money/money.ts";
import { approvalDefaults, type ApprovalSettings } from "../../core/access/approvals.ts";
import { type Day, monthStart } from "../../base/time/calendar.ts";
import type { KeyScope } from "../../core/access/grant.ts";
import { type KeyLimits, noLimits, type Spent } from "../../core/access/limits.ts";
import type { ShopFacts } from "../../core/order/purchase-order.ts";
import type { BucketLimit } from "../../core/access/rate-limit.ts";
import type { ConnectedShop, StorefrontConfig } from "../../core/storefront/storefront-config.ts";
import type { SqlValue, Statement, Tx } from "../../store/store.ts";
import { type Change, type Row, insert, update, orElse } from "../../store/change.ts";
import { tables } from "../tables.ts";

/** A shop's settings as stored (contract §7). On the wire, rates are decimal numbers. */
interface ShopSettings extends ApprovalSettings {
  readonly followOnWaitMs: number;
  readonly confirmationWaitMs: number;
  readonly autoSyncOnReceiving: boolean;
  readonly costSyncMode: "unit-cost" | "moving-average" | "disabled";
  readonly onOrderTag: string | null;
  /** Foreign currency → shop currency, in steps of 10^-10. */
  readonly fxRates: Readonly<Record<string, FxRate>>;
  readonly rateLimit: BucketLimit;
  readonly timezone: string;
  /** Rows of the audit log that are older are deleted; 0: none are. */
  readonly auditRetentionDays: number;
  /** The operator's: the least that `auditRetentionDays` may be set to. */
  readonly auditRetentionFloorDays: number;
  /** A move to Sent mails the order to its supplier (C63). */
  readonly emailOnSent: boolean;
  /** Who is answered to the shop's mails; null: the person who has sent one (C63). */
  readonly replyTo: string | null;
  /** An order that waits for its supplier's confirmation for more days is told of (C57); 0: none is. */
  readonly unconfirmedDays: number;
}

/** The settings of a new shop. */
export const defaultSettings: ShopSettings = {
  followOnWaitMs: 2_000,
  confirmationWaitMs: 30_000,
  autoSyncOnReceiving: true,
  costSyncMode: "unit-cost",
  onOrderTag: null,
  fxRates: {},
  rateLimit: { capacity: 120, refillPerSecond: 10 },
  timezone: "UTC",
  auditRetentionDays: 90,
  auditRetentionFloorDays: 30,
  emailOnSent: false,
  replyTo: null,
  unconfirmedDays: unconfirmedDaysDefault,
  ...approvalDefaults,
};

/** A shop as of the start of a call. */
export interface Shop extends ShopFacts, ShopSettings {
  readonly shopId: string;
  readonly name: string;
  readonly currencyCode: string;
  readonly planRestApi: boolean;
  readonly storefront: StorefrontConfig;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

type ShopRow = {
  readonly shop_id: string;
  readonly name: string;
  readonly currency_code: string;
  readonly plan_rest_api: number;
  readonly settings: string;
  readonly storefront: string;
  readonly created_at: number;
  readonly updated_at: number;
};

const selectShop =
  "select shop_id, name, currency_code, plan_rest_api, settings, storefront, created_at, updated_at from shop where shop_id = ?";

/** Number of a shop's first order. */
const firstPoNumber = 1001;

function settingsFrom(text: string): ShopSettings {
  // Only `saveShop` writes it. Members that a later version has added get their defaults.
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

/** The shop, or null when its row was never saved. */
export async function loadShop(tx: Tx, shopId: string): Promise<Shop | null> {
  const [row] = await tx.all<ShopRow>(selectShop, [shopId]);
  return row === undefined ? null : shopFrom(row);
}

/** Returns the facts that an adapter needs to open the shop's storefront; null when the shop's row was never saved. */
export async function loadConnectedShop(tx: Tx, shopId: string): Promise<ConnectedShop | null> {
  const [row] = await tx.all<Pick<ShopRow, "currency_code" | "storefront">>(
    "select currency_code, storefront from shop where shop_id = ?",
    [shopId],
  );
  if (row === undefined) return null;
  const storefront: StorefrontConfig = JSON.parse(row.storefront);
  return { shopId, currencyCode: row.currency_code, storefront };
}

/** Inserts the shop, or replaces everything but the time of its creation. */
export async function saveShop(tx: Tx, shop: Shop): Promise<void> {
  const settings = Object.fromEntries(Object.keys(defaultSettings).map((name) => [name, Reflect.get(shop, name)]));
  const row = {
    name: shop.name,
    currency_code: shop.currencyCode,
    plan_rest_api: shop.planRestApi ? 1 : 0,
    settings: JSON.stringify(settings),
    storefront: JSON.stringify(shop.storefront),
    updated_at: shop.updatedAtMs,
  };
  const first = { next_po_number: firstPoNumber, created_at: shop.createdAtMs };
  await tx.batch([insert(tables.shop, shop.shopId, { ...row, ...first }, Object.keys(row))]);
}

/** An API key as stored. Its secret is stored as a hash only, which is not shown. */
export interface ApiKey {
  readonly keyId: string;
  readonly name: string;
  readonly scope: KeyScope;
  readonly lastFour: string;
  readonly createdAtMs: number;
  readonly revokedAtMs: number | null;
  /** Since when its requests are refused, until somebody resumes it. */
  readonly pausedAtMs: number | null;
  /** True if somebody may sign in at the console with it (C49). */
  readonly signIn: boolean;
  /** Null: it has none (C78). */
  readonly limits: KeyLimits | null;
}

export type ApiKeyRow = {
  readonly key_id: string;
  readonly name: string;
  readonly scope: KeyScope;
  readonly last_four: string;
  readonly created_at: number;
  readonly revoked_at: number | null;
  readonly paused_at: number | null;
  readonly sign_in: number;
  readonly limits: string | null;
};

export const apiKeyColumns = "key_id, name, scope, last_four, created_at, revoked_at, paused_at, sign_in, limits";

/** @param text as `limitsText` has written it. */
export function limitsFrom(text: string | null): KeyLimits | null {
  if (text === null) return null;
  const limits: KeyLimits = JSON.parse(text);
  // Those that an older version has written lack what came later.
  return { ...noLimits, ...limits };
}

const limitsText = (limits: KeyLimits | null): string | null => (limits === null ? null : JSON.stringify(limits));

export const apiKeyFrom = (row: ApiKeyRow): ApiKey => ({
  keyId: row.key_id,
  name: row.name,
  scope: row.scope,
  lastFour: row.last_four,
  createdAtMs: row.created_at,
  revokedAtMs: row.revoked_at,
  pausedAtMs: row.paused_at,
  signIn: row.sign_in === 1,
  limits: limitsFrom(row.limits),
});

const selectApiKey = `select ${apiKeyColumns} from api_key where shop_id = ? and secret_hash = ?`;

/** The key with this secret, also when it is revoked; null when there is none. */
export async function findApiKey(tx: Tx, shopId: string, secretHash: string): Promise<ApiKey | null> {
  const [row] = await tx.all<ApiKeyRow>(selectApiKey, [shopId, secretHash]);
  return row === undefined ? null : apiKeyFrom(row);
}

/** The shop and one of its API keys as they were read, a revoked key too. */
export interface StoredCaller {
  readonly shop: Shop;
  readonly key: ApiKey;
  /**
   * Has a row as long as everything that was read of them is stored as it was then. More conditions can be added with
   * `and`.
   */
  readonly unchanged: Statement;
}

/** The shop and its key with this secret; null when one of them is not there. */
export async function loadCaller(tx: Tx, shopId: string, secretHash: string): Promise<StoredCaller | null> {
  const [[shop], [key]] = await Promise.all([
    tx.all<ShopRow>(selectShop, [shopId]),
    tx.all<ApiKeyRow>(selectApiKey, [shopId, secretHash]),
  ]);
  if (shop === undefined || key === undefined) return null;
  const stored = [...valuesOf("s", shop), ...valuesOf("k", key)];
  const isStored = ([column, value]: readonly [string, SqlValue]): string =>
    value === null ? ` and ${column} is null` : ` and ${column} = ?`;
  const unchanged = {
    sql: `select 1 as unchanged from shop s join api_key k on k.shop_id = s.shop_id
          where s.shop_id = ? and k.secret_hash = ?${stored.map(isStored).join("")}`,
    params: [shopId, secretHash, ...stored.flatMap(([, value]) => (value === null ? [] : [value]))],
  };
  return { shop: shopFrom(shop), key: apiKeyFrom(key), unchanged };
}

const valuesOf = (alias: string, row: Readonly<Record<string, SqlValue>>): readonly (readonly [string, SqlValue])[] =>
  Object.entries(row).map(([column, value]) => [`${alias}.${column}`, value]);

/** The row of a new key. */
export const keyRow = (key: ApiKey, secretHash: string, madeBy: string | null = null): Row => ({
  key_id: key.keyId,
  name: key.name,
  scope: key.scope,
  secret_hash: secretHash,
  last_four: key.lastFour,
  created_at: key.createdAtMs,
  revoked_at: key.revokedAtMs,
  sign_in: key.signIn ? 1 : 0,
  limits: limitsText(key.limits),
  made_by: madeBy,
});

/**
 * Adds a key.
 *
 * @param secretHash as `makeApiKey` gives it.
 * @param madeBy the person who makes it. Default: the operator.
 */
export async function insertApiKey(
  tx: Tx,
  shopId: string,
  key: ApiKey,
  secretHash: string,
  madeBy: string | null = null,
): Promise<void> {
  await tx.batch([insert(tables.api_key, shopId, keyRow(key, secretHash, madeBy))]);
}

/** Whom a key was given to that is an assistant's connection (C74). */
interface ConnectedClient {
  readonly clientName: string;
  readonly clientHost: string;
  /** In whose name it works; null: the operator's. */
  readonly personId: string | null;
  /** When it ends unless it is used. */
  readonly expiresAtMs: number;
}

/** Spending of the key `k` since a day, and since another one. */
const spentSince = `
  (select sum(cast(s.amount as double precision)) from order_spend s
   where s.shop_id = k.shop_id and s.key_id = k.key_id and s.day >= ?)`;
export const spentColumns = `${spentSince} as day_value, ${spentSince} as month_value`;

/** The parameters of `spentColumns`. */
export const spentParams = (today: Day): readonly SqlValue[] => [today, monthStart(today)];

export interface SpentRow {
  readonly day_value: number | null;
  readonly month_value: number | null;
}

export const spentFrom = (row: SpentRow): Spent => ({
  dayValue: asMoney(row.day_value ?? 0),
  monthValue: asMoney(row.month_value ?? 0),
});

/** A key as a list has it. */
export interface ListedKey extends ApiKey {
  readonly spent: Spent;
  readonly lastUsedAtMs: number | null;
  /** Null: a key that was made as such. */
  readonly connection: ConnectedClient | null;
}

interface ListedRow extends ApiKeyRow, SpentRow {
  readonly client_name: string | null;
  readonly client_host: string | null;
  readonly person_id: string | null;
  readonly expires_at: number | null;
  readonly last_used_at: number | null;
}

const listedFrom = (row: ListedRow): ListedKey => ({
  ...apiKeyFrom(row),
  lastUsedAtMs: row.last_used_at,
  spent: spentFrom(row),
  connection:
    row.client_name === null
      ? null
      : {
          clientName: row.client_name,
          clientHost: row.client_host ?? "",
          personId: row.person_id,
          expiresAtMs: row.expires_at ?? 0,
        },
});

/**
 * All keys of the shop, connections among them, oldest first, each with the time of its latest request and with what it
 * has spent.
 */
export async function listApiKeys(tx: Tx, shopId: string, today: Day): Promise<readonly ListedKey[]> {
  const rows = await tx.all<ListedRow>(
    `select ${apiKeyColumns}, client_name, client_host, person_id, expires_at, ${spentColumns},
       (select at from audit_log a where a.shop_id = k.shop_id and a.key_id = k.key_id
        order by audit_id desc limit 1) as last_used_at
     from api_key k where shop_id = ? order by created_at, key_id`,
    [...spentParams(today), shopId],
  );
  return rows.map(listedFrom);
}

/** Pauses a key from an instant, which a key that is paused already keeps; null resumes it. */
export async function pauseApiKey(tx: Tx, shopId: string, keyId: string, atMs: number | null): Promise<void> {
  const set = { paused_at: atMs === null ? null : orElse(atMs) };
  await tx.batch([update(tables.api_key, shopId, { key_id: keyId }, set)]);
}

/** Gives a key other limits; null: none. */
export const limitStatement = (shopId: string, keyId: string, limits: KeyLimits | null): Change =>
  update(tables.api_key, shopId, { key_id: keyId }, { limits: limitsText(limits) });

/** The limits of a key or connection; null: it has none, or there is no key. */
export async function limitsOfKey(tx: Tx, shopId: string, keyId: string | null): Promise<KeyLimits | null> {
  if (keyId === null) return null;
  const [row] = await tx.all<{ readonly limits: string | null }>(
    "select limits from api_key where shop_id = ? and key_id = ?",
    [shopId, keyId],
  );
  return limitsFrom(row?.limits ?? null);
}

/** The limits of all keys and connections that have any, by key. */
export async function loadKeyLimits(tx: Tx, shopId: string): Promise<ReadonlyMap<string, KeyLimits>> {
  const rows = await tx.all<{ readonly key_id: string; readonly limits: string }>(
    "select key_id, limits from api_key where shop_id = ? and limits is not null",
    [shopId],
  );
  return new Map(
    rows.flatMap(({ key_id: keyId, limits: text }) => {
      const limits = limitsFrom(text);
      return limits === null ? [] : [[keyId, limits]];
    }),
  );
}

/** Revokes a key; revoking again keeps the first time. `before`: it was revoked already. */
export async function revokeApiKey(
  tx: Tx,
  shopId: string,
  keyId: string,
  nowMs: number,
): Promise<"now" | "before" | "unknown"> {
  const [key] = await tx.all<{ revoked_at: number | null }>(
    "select revoked_at from api_key where shop_id = ? and key_id = ?",
    [shopId, keyId],
  );
  if (key === undefined) return "unknown";
  if (key.revoked_at !== null) return "before";
  await tx.batch([update(tables.api_key, shopId, { key_id: keyId }, { revoked_at: nowMs })]);
  return "now";
}
