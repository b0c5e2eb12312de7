/**
 * The activity log of all orders, newest first (C53): deleted orders' entries too.
 *
 * A page is a range of an index: by caller, by request, by order, or by time with the other filters in the same index.
 * Entries are counted once, for the first page, and up to a bound.
 */
import { compareText } from "../../base/text/compare-text.ts";
import { placeholders, selectIn } from "../../store/in-lists.ts";
import type { SqlValue, Tx } from "../../store/store.ts";
import { type HistoryPosition, type LogEntry, logEntriesOf } from "./purchase-order-history.ts";

/** Which changes; null: not filtered by it. */
export interface ChangeFilters {
  /** The API key that made them, or by which the person who made them had signed in. */
  readonly keyId: string | null;
  readonly personId: string | null;
  readonly actorTypes: readonly LogEntry["actor"]["type"][] | null;
  readonly operation: string | null;
  readonly requestId: string | null;
  readonly purchaseOrderId: string | null;
  /** Inclusive. */
  readonly fromMs: number | null;
  /** Exclusive. */
  readonly toMs: number | null;
}

/** A change: an entry of the log with its order. */
export interface Change extends LogEntry {
  readonly purchaseOrderId: string;
  /** Null: the order was a draft that was deleted; its entries say the number. */
  readonly poNumber: string | null;
}

/** Changes are counted up to this many. */
const changesCountedMax = 10_000;

interface KeyRow {
  readonly purchase_order_id: string;
  readonly log_id: string;
  readonly occurred_at: number;
}

/** Where a page ended. */
export interface ChangePosition extends HistoryPosition {
  /** As it was counted for the first page. */
  readonly totalCount: number;
}

interface ChangePage {
  readonly changes: readonly Change[];
  /** At most `changesCountedMax`. */
  readonly totalCount: number;
  /** Null on the last page. */
  readonly end: ChangePosition | null;
}

/** Changes of these filters in one index. */
interface Branch {
  readonly where: string;
  readonly params: readonly SqlValue[];
  /** The expression by which they are in order. */
  readonly at: string;
}

/** An entry has one actor, so those of a key are two ranges: its own, and those of people who had signed in with it. */
function branchesOf(shopId: string, filters: ChangeFilters): readonly Branch[] {
  const { keyId, personId } = filters;
  const branch = (...actors: readonly (readonly [column: string, id: string])[]) => branchOf(shopId, filters, actors);
  if (keyId === null) return [personId === null ? branch() : branch(["actor_id", personId])];
  if (personId !== null) return [branch(["actor_key_id", keyId], ["actor_id", personId])];
  return [branch(["actor_id", keyId]), branch(["actor_key_id", keyId])];
}

function branchOf(
  shopId: string,
  { actorTypes, operation, requestId, purchaseOrderId, fromMs, toMs }: ChangeFilters,
  actors: readonly (readonly [column: string, id: string])[],
): Branch {
  const conditions: string[] = ["shop_id = ?"];
  const params: SqlValue[] = [shopId];
  const only = (sql: string, ...values: readonly SqlValue[]): void => {
    conditions.push(sql);
    params.push(...values);
  };
  for (const [column, id] of actors) only(`${column} = ?`, id);
  if (actorTypes !== null) only(`actor_type in (${placeholders(actorTypes.length)})`, ...actorTypes);
  if (operation !== null) only("operation = ?", operation);
  if (requestId !== null) only("request_id = ?", requestId);
  if (purchaseOrderId !== null) only("purchase_order_id = ?", purchaseOrderId);
  if (fromMs !== null) only("occurred_at >= ?", fromMs);
  if (toMs !== null) only("occurred_at < ?", toMs);
  // An order has few entries: its key finds them, which the index by time would hide.
  const at = purchaseOrderId === null ? "occurred_at" : "occurred_at + 0";
  return { where: conditions.join(" and "), params, at };
}

/** True if a page looks for matches among more than so many entries of a range. An order and a request have few. */
export async function walksChanges(tx: Tx, shopId: string, filters: ChangeFilters, rowsMax: number): Promise<boolean> {
  const { actorTypes, operation, requestId, purchaseOrderId } = filters;
  if (actorTypes === null && operation === null) return false;
  if (requestId !== null || purchaseOrderId !== null) return false;
  const found = await Promise.all(
    branchesOf(shopId, { ...filters, actorTypes: null, operation: null }).map(({ where, params, at }) =>
      tx.all(
        `select 1 as found from purchase_order_log where ${where} order by ${at} desc, log_id desc limit 1 offset ?`,
        [...params, rowsMax],
      ),
    ),
  );
  return found.some((rows) => rows.length > 0);
}

/** A page of changes. */
export async function pageOfChanges(
  tx: Tx,
  shopId: string,
  filters: ChangeFilters,
  after: ChangePosition | null,
  limit: number,
): Promise<ChangePage> {
  const branches = branchesOf(shopId, filters);
  const keys = await keysOf(tx, branches, after, limit + 1);
  const shown = keys.slice(0, limit);
  const last = keys.length > limit ? shown.at(-1) : undefined;
  const totalCount = after?.totalCount ?? (last === undefined ? keys.length : await countChanges(tx, branches));
  return {
    changes: await changesOf(tx, shopId, shown),
    totalCount,
    end: last === undefined ? null : { atMs: last.occurred_at, id: last.log_id, totalCount },
  };
}

/** The newest entries of all branches, after a position. */
async function keysOf(
  tx: Tx,
  branches: readonly Branch[],
  after: ChangePosition | null,
  limit: number,
): Promise<readonly KeyRow[]> {
  const found = await Promise.all(
    branches.map(({ where, params, at }) =>
      tx.all<KeyRow>(
        `select purchase_order_id, log_id, occurred_at from purchase_order_log
         where ${where}${after === null ? "" : ` and (${at}, log_id) < (?, ?)`}
         order by ${at} desc, log_id desc limit ?`,
        [...params, ...(after === null ? [] : [after.atMs, after.id]), limit],
      ),
    ),
  );
  return found
    .flat()
    .toSorted((one, other) => other.occurred_at - one.occurred_at || compareText(other.log_id, one.log_id))
    .slice(0, limit);
}

async function countChanges(tx: Tx, branches: readonly Branch[]): Promise<number> {
  const counts = await Promise.all(
    branches.map(({ where, params, at }) =>
      tx.all<{ n: number }>(
        `select count(*) as n from
           (select 1 as one from purchase_order_log where ${where} order by ${at} desc, log_id desc limit ?) counted`,
        [...params, changesCountedMax],
      ),
    ),
  );
  const sum = counts.reduce((total, [counted]) => total + (counted?.n ?? 0), 0);
  return Math.min(sum, changesCountedMax);
}

/** The entries of these keys in their order. */
async function changesOf(tx: Tx, shopId: string, keys: readonly KeyRow[]): Promise<readonly Change[]> {
  const orderIds = [...new Set(keys.map((key) => key.purchase_order_id))];
  if (orderIds.length === 0) return [];
  const [entries, numbers] = await Promise.all([
    logEntriesOf(
      tx,
      shopId,
      keys.map((key) => [key.purchase_order_id, key.log_id]),
    ),
    numbersOf(tx, shopId, orderIds),
  ]);
  const byId = new Map(entries.map((entry) => [entry.logId, entry]));
  return keys.flatMap((key) => {
    const entry = byId.get(key.log_id);
    const purchaseOrderId = key.purchase_order_id;
    return entry === undefined ? [] : [{ ...entry, purchaseOrderId, poNumber: numbers.get(purchaseOrderId) ?? null }];
  });
}

/** A request of the audit log. */
interface LoggedRequest {
  readonly requestId: string;
  readonly path: string;
}

/** An order as a list names it. */
export interface NamedOrder {
  readonly purchaseOrderId: string;
  readonly poNumber: string;
}

/**
 * The orders that requests were about, by the request's id: the one in the path, else the only one that it changed.
 * An order that is gone is not named.
 */
export async function ordersOfRequests(
  tx: Tx,
  shopId: string,
  requests: readonly LoggedRequest[],
): Promise<ReadonlyMap<string, NamedOrder>> {
  const idOf = new Map<string, string>();
  for (const { requestId, path } of requests) {
    const [, named] = /\/purchase-orders\/([^/]+)/.exec(path) ?? [];
    if (named !== undefined) idOf.set(requestId, named);
  }
  const changed = await selectIn<{ readonly request_id: string; readonly purchase_order_id: string }>(
    tx,
    `select request_id, min(purchase_order_id) as purchase_order_id from purchase_order_log
     where shop_id = ? and request_id in (?)
     group by request_id having min(purchase_order_id) = max(purchase_order_id)`,
    [shopId],
    requests.filter(({ requestId }) => !idOf.has(requestId)).map(({ requestId }) => requestId),
  );
  for (const row of changed) idOf.set(row.request_id, row.purchase_order_id);
  const numbers = await numbersOf(tx, shopId, [...idOf.values()]);
  return new Map(
    [...idOf].flatMap(([requestId, purchaseOrderId]) => {
      const poNumber = numbers.get(purchaseOrderId);
      return poNumber === undefined ? [] : [[requestId, { purchaseOrderId, poNumber }]];
    }),
  );
}

/** Numbers of these orders by their ids; those that are gone have none. */
async function numbersOf(tx: Tx, shopId: string, orderIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const orders = await selectIn<{ readonly purchase_order_id: string; readonly po_number: string }>(
    tx,
    "select purchase_order_id, po_number from purchase_order where shop_id = ? and purchase_order_id in (?)",
    [shopId],
    orderIds,
  );
  return new Map(orders.map((order) => [order.purchase_order_id, order.po_number]));
}
