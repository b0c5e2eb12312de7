/**
 * Data that the restore of one shop takes from its backup, and data that stays as it is now (D383).
 *
 * Owns: which table is which, and how the two states are joined. Does not own: how rows get from one place to another
 * (copies/shop-restore.ts on files, cli/copies/shop-restore-rows.ts in a database), who may ask (admin, cli).
 *
 * What the shop has decided comes from the backup. Outside effects cannot be undone, so their records stay: access, the
 * connection, announcements, and the audit log. Mails that went and goods that the storefront has received are among
 * them.
 *
 * The tables `now_…` hold what is needed of the present state while the rows of the backup take its place. They are
 * temporary, so only the connection of the restore has them. Without a present state they are empty.
 */
import { customVariantPrefix } from "../core/order/purchase-order.ts";
import type { Ids } from "../base/time/clock.ts";
import type { SqlValue, Statement, Tx } from "../store/store.ts";
import type { AuditEntry } from "./audit/audit.ts";
import { placedAudit, waitingAudit } from "./audit/audit-chain.ts";
import { type EventStamp, eventStatements, lastSequence } from "./events/events.ts";
import { beginFilling, fillSegments } from "./order-list/sealing.ts";
import { tellIncomingStatements } from "./storefront/storefront-moves.ts";

/** Tables whose rows stay as they are now. */
export const keptTables: readonly string[] = [
  // How the shop is set up and connected, and the number of its next order.
  "shop",
  // Who may enter: what was revoked stays revoked, what was given since stays given.
  "api_key",
  "person",
  "invitation",
  "console_session",
  "console_bearer",
  "console_view",
  "supplier_link",
  "sign_in_link",
  "passkey",
  "passkey_challenge",
  "connection_request",
  "connection_code",
  "connection_token",
  // What keys have spent: an order that is undone here has gone to its supplier, and gives nothing back.
  "order_spend",
  // What was asked of people and decided.
  "approval_request",
  // Who is told, and what was told: the sequence of events goes on.
  "event",
  "webhook_endpoint",
  "webhook_subscription",
  "delivery",
  // Who asked for what: the chain of hashes goes on.
  "audit_log",
  "audit_link",
  "audit_chain",
  // What went to suppliers.
  "mail",
  "mail_document",
  // What the storefront has received.
  "stock_push",
  "storefront_write",
  "storefront_incoming",
  "storefront_incoming_batch",
  "storefront_turn",
  "storefront_token",
  "storefront_subscription",
  "storefront_call",
];

/** Tables that are made again from other rows when they are needed. */
export const forgottenTables: readonly string[] = [
  "order_recent",
  "order_segment",
  "order_article",
  "order_count",
  "order_fill",
  "forecast_block",
];

/** Tables whose rows become those of the backup. */
export const restoredTables: readonly string[] = [
  "location",
  "supplier",
  "variant",
  "supplier_variant",
  "inventory_level",
  "sale",
  "supplier_credit",
  "supplier_merge",
  "record_log",
  "purchase_order",
  "purchase_order_line",
  "purchase_order_attachment",
  "purchase_order_log",
  "purchase_order_reminder",
  "purchase_order_parties",
  "receipt",
  "cost_sync",
  "incoming",
  "effect",
  "supplier_proposal",
  "document_settings",
  // A stored answer is there when its change is.
  "idempotency_record",
  "idempotency_total",
  "import_run",
  "import_record",
  "stock_take_reason",
  "stock_take",
  "stock_adjustment",
  "transfer_order",
  "manufacturing_order",
  "read_only_part",
  "forecast_view",
  "forecast_view_filter",
  "forecast_version",
  "forecast_change",
  "demand_series",
  "demand_recent",
  // Up to where the storefront was pulled, with what was pulled.
  "storefront_pull",
  "storefront_variant",
  "storefront_sale",
];

/** Rows of the present state that are noted: columns with their types, and the query that fills them. */
interface NotedTable {
  readonly name: string;
  readonly columns: string;
  /** @param from what stands before the name of a table of the present state. Absent: nothing fills it at first. */
  readonly select?: (from: string) => string;
  /** Number of times that `select` names the shop. */
  readonly shops: number;
}

const notedTables: readonly NotedTable[] = [
  {
    name: "now_order",
    columns: "purchase_order_id text primary key, version bigint, po_number text, deleted_at bigint",
    select: (from) =>
      `select purchase_order_id, version, po_number, deleted_at from ${from}purchase_order where shop_id = ?`,
    shops: 1,
  },
  {
    name: "now_line",
    columns:
      "purchase_order_id text, po_line_item_id text, quantity_synced bigint, primary key (purchase_order_id, po_line_item_id)",
    select: (from) =>
      `select purchase_order_id, po_line_item_id, quantity_synced from ${from}purchase_order_line where shop_id = ?`,
    shops: 1,
  },
  {
    name: "now_level",
    columns: "variant_id text, location_id text, on_hand bigint, primary key (variant_id, location_id)",
    select: (from) => `select variant_id, location_id, on_hand from ${from}inventory_level where shop_id = ?`,
    shops: 1,
  },
  {
    name: "now_incoming",
    columns: "variant_id text, location_id text, primary key (variant_id, location_id)",
    select: (from) =>
      `select variant_id, location_id from ${from}incoming where shop_id = ? and quantity <> 0
       union select variant_id, location_id from ${from}storefront_incoming where shop_id = ?`,
    shops: 2,
  },
  // Orders whose rows differ from the backup's after the restore. `is_synced_anew`: what the storefront has of them is
  // another quantity.
  {
    name: "touched_order",
    columns: "purchase_order_id text primary key, is_synced_anew bigint",
    shops: 0,
  },
];

/**
 * Makes the tables `now_…`. @param ending what an engine adds to a temporary table. @param textType its type of texts.
 */
export const noteTables = (ending = "", textType = "text"): readonly string[] =>
  notedTables.map(
    ({ name, columns }) => `create temporary table ${name} (${columns.replaceAll(" text", ` ${textType}`)})${ending}`,
  );

/** Fills them. @param from what stands before the name of a table of the present state. */
export const noteStatements = (shopId: string, from = ""): readonly Statement[] =>
  notedTables.flatMap(({ name, select, shops }) =>
    select === undefined
      ? []
      : [{ sql: `insert into ${name} ${select(from)}`, params: Array.from({ length: shops }, () => shopId) }],
  );

const settledByRestore = "The shop was restored from a backup; what the storefront has is noted in the order.";

const mailByRestore = "The shop was restored from a backup. Send it again if it has not arrived.";

const lineNow = `from now_line n where n.purchase_order_id = purchase_order_line.purchase_order_id
  and n.po_line_item_id = purchase_order_line.po_line_item_id and n.quantity_synced <> purchase_order_line.quantity_synced`;

const linesOf = `purchase_order_line l where l.shop_id = purchase_order.shop_id and l.purchase_order_id = purchase_order.purchase_order_id and l.variant_id not like '${customVariantPrefix}%'`;

const levelNow = `from now_level n where n.variant_id = inventory_level.variant_id and n.location_id = inventory_level.location_id
  and n.on_hand <> inventory_level.on_hand`;

const of = (sql: string, params: readonly SqlValue[]): Statement => ({ sql, params });

/** Of orders: which differ, what the storefront has of them, their versions and counts. */
const joinOrders = (shopId: string): readonly Statement[] => [
  of(
    `insert into touched_order select purchase_order_id, 1 from purchase_order where shop_id = ? and (storefront_sync_state = 'in-flight'
       or exists (select 1 from stock_push p where p.shop_id = purchase_order.shop_id
         and p.purchase_order_id = purchase_order.purchase_order_id and p.settled_at is null)
       or exists (select 1 from purchase_order_line l join now_line n on n.purchase_order_id = l.purchase_order_id
         and n.po_line_item_id = l.po_line_item_id where l.shop_id = purchase_order.shop_id
         and l.purchase_order_id = purchase_order.purchase_order_id and l.quantity_synced <> n.quantity_synced))`,
    [shopId],
  ),
  of(
    `insert into touched_order select purchase_order_id, 0 from purchase_order where shop_id = ?
       and exists (select 1 from now_order n where n.purchase_order_id = purchase_order.purchase_order_id and n.version > purchase_order.version)
       and not exists (select 1 from touched_order t where t.purchase_order_id = purchase_order.purchase_order_id)`,
    [shopId],
  ),
  of(
    `update purchase_order_line set quantity_synced = (select n.quantity_synced ${lineNow})
     where shop_id = ? and exists (select 1 ${lineNow})`,
    [shopId],
  ),
  of(
    `update purchase_order set storefront_sync_state = case
       when not exists (select 1 from ${linesOf} and l.quantity_received <> l.quantity_synced)
         then case when exists (select 1 from ${linesOf} and l.quantity_synced > 0) then 'synced' else 'never-synced' end
       when exists (select 1 from ${linesOf} and l.quantity_synced > 0) then 'partial' else 'failed' end
     where shop_id = ? and purchase_order_id in (select purchase_order_id from touched_order where is_synced_anew = 1)`,
    [shopId],
  ),
  // A version that somebody has seen is not given to something else.
  of(
    `update purchase_order set version = 1 + coalesce((select case when n.version > purchase_order.version then n.version end
       from now_order n where n.purchase_order_id = purchase_order.purchase_order_id), version)
     where shop_id = ? and purchase_order_id in (select purchase_order_id from touched_order)`,
    [shopId],
  ),
  beginFilling(shopId),
];

/** Stock on the shelf, which the storefront decides. */
const joinLevels = (shopId: string): readonly Statement[] => [
  of(
    `update inventory_level set on_hand = (select n.on_hand ${levelNow}) where shop_id = ? and exists (select 1 ${levelNow})`,
    [shopId],
  ),
  of(
    `insert into inventory_level (shop_id, variant_id, location_id, on_hand)
     select v.shop_id, n.variant_id, n.location_id, n.on_hand from now_level n join variant v on v.variant_id = n.variant_id
     where v.shop_id = ? and not exists (select 1 from inventory_level i where i.shop_id = v.shop_id
       and i.variant_id = n.variant_id and i.location_id = n.location_id)`,
    [shopId],
  ),
];

/**
 * Of what is under way. Nothing is pushed that the backup had still to push, since it may have been since. A push that
 * was sent and has no known outcome is sent again under its own reference, when its order is pushed next.
 */
const joinWork = (shopId: string, nowMs: number): readonly Statement[] => [
  of(
    `update effect set state = 'skipped', detail = ?, lease_owner = null, settled_at = ?
     where shop_id = ? and state = 'pending' and kind in ('push-stock', 'mirror-incoming', 'sync-tags')`,
    [settledByRestore, nowMs, shopId],
  ),
  of("update effect set lease_owner = null, due_at = ? where shop_id = ? and state = 'pending'", [nowMs, shopId]),
  of("update stock_push set state = 'unknown' where shop_id = ? and settled_at is null", [shopId]),
  of("update import_run set leased_until = null, lease_owner = null where shop_id = ?", [shopId]),
  of("update storefront_pull set lease_owner = null, due_at = ? where shop_id = ? and due_at is not null", [
    nowMs,
    shopId,
  ]),
];

/** Mails that the backup had still to send may have been sent since. */
const giveUpMails = (shopId: string, nowMs: number): Statement =>
  of(
    `update mail set state = 'failed', detail = ?, due_at = null, lease_owner = null, settled_at = ?
     where shop_id = ? and due_at is not null`,
    [mailByRestore, nowMs, shopId],
  );

/** When a restore is made, and of what. */
interface Joining {
  readonly nowMs: number;
  /** A new name of the state for forecasts. */
  readonly forecastEpoch: string;
  /** False: the shop was not there, or cannot be read. Everything is the backup's. */
  readonly hasPresent: boolean;
}

/**
 * Joins the two states, once the rows of the backup are in their places. What the storefront has of a line, and so on
 * the shelf, stays what it is: nothing is pushed twice.
 */
export const joinStatements = (shopId: string, { nowMs, forecastEpoch, hasPresent }: Joining): readonly Statement[] => [
  ...joinOrders(shopId),
  ...joinLevels(shopId),
  ...joinWork(shopId, nowMs),
  of("update forecast_version set version = ?, changes = changes + 1 where shop_id = ?", [forecastEpoch, shopId]),
  ...(hasPresent ? [] : [giveUpMails(shopId, nowMs)]),
];

/** Something of an order at which the operator has to look after a restore. */
interface UnsyncedOrder {
  readonly purchaseOrderId: string;
  readonly poNumber: string;
}

/** Goods that the storefront has received for an order that is not there any more. */
interface PushOfNoOrder {
  readonly purchaseOrderId: string;
  readonly poNumber: string | null;
  readonly reference: string;
  /** False: nobody knows whether the storefront has it. */
  readonly isKnown: boolean;
}

/** Changes of a restore, for people. Lists are cut at `listedMax`, their counts are whole. */
export interface Restored {
  /** There was a present state, and it could be read. */
  readonly hadPresent: boolean;
  /** When something was last changed in the backup; null: nothing was ever. */
  readonly changedUntilMs: number | null;
  /** Events since then, as far as they are kept: each stands for a change that is undone. */
  readonly undoneEvents: number;
  readonly goneOrders: { readonly count: number; readonly orders: readonly UnsyncedOrder[] };
  /** Orders that are as in the backup and not as they were. */
  readonly revertedOrders: number;
  /** Orders of which the storefront has another quantity than they have received. */
  readonly unsyncedOrders: { readonly count: number; readonly orders: readonly UnsyncedOrder[] };
  readonly pushesOfNoOrder: { readonly count: number; readonly pushes: readonly PushOfNoOrder[] };
}

/** Entries of each list that a restore tells. */
const listedMax = 100;

const countOf = async (tx: Tx, rest: string, params: readonly SqlValue[]): Promise<number> =>
  (await tx.all<{ n: number }>(`select count(*) as n ${rest}`, params))[0]?.n ?? 0;

/**
 * Returns the result of the restore, once both states are joined.
 *
 * @param sequence of the newest event in the backup.
 */
async function restoredOf(
  tx: Tx,
  shopId: string,
  { hadPresent, sequence, changedUntilMs }: BackupState & { readonly hadPresent: boolean },
): Promise<Restored> {
  const gone = `from now_order n where n.deleted_at is null and not exists
    (select 1 from purchase_order o where o.shop_id = ? and o.purchase_order_id = n.purchase_order_id)`;
  const unsynced = `from purchase_order o join touched_order t on t.purchase_order_id = o.purchase_order_id
    where o.shop_id = ? and t.is_synced_anew = 1`;
  const ofNone = `from stock_push p left join now_order n on n.purchase_order_id = p.purchase_order_id where p.shop_id = ? and not exists
    (select 1 from purchase_order o where o.shop_id = p.shop_id and o.purchase_order_id = p.purchase_order_id)`;
  const ordersOf = async (table: string, from: string): Promise<readonly UnsyncedOrder[]> =>
    (
      await tx.all<{ purchase_order_id: string; po_number: string }>(
        `select ${table}.purchase_order_id, ${table}.po_number ${from} order by ${table}.purchase_order_id limit ?`,
        [shopId, listedMax],
      )
    ).map((row) => ({ purchaseOrderId: row.purchase_order_id, poNumber: row.po_number }));
  const pushes = await tx.all<{
    purchase_order_id: string;
    po_number: string | null;
    reference: string;
    settled_at: number | null;
  }>(
    `select p.purchase_order_id, n.po_number, p.reference, p.settled_at ${ofNone} order by p.created_at, p.reference limit ?`,
    [shopId, listedMax],
  );
  return {
    hadPresent,
    changedUntilMs,
    undoneEvents: await countOf(tx, "from event where shop_id = ? and sequence > ?", [shopId, sequence]),
    goneOrders: { count: await countOf(tx, gone, [shopId]), orders: await ordersOf("n", gone) },
    revertedOrders: await countOf(
      tx,
      `from purchase_order o join now_order n on n.purchase_order_id = o.purchase_order_id
       join touched_order t on t.purchase_order_id = o.purchase_order_id where o.shop_id = ? and o.version = n.version + 1`,
      [shopId],
    ),
    unsyncedOrders: { count: await countOf(tx, unsynced, [shopId]), orders: await ordersOf("o", unsynced) },
    pushesOfNoOrder: {
      count: await countOf(tx, ofNone, [shopId]),
      pushes: pushes.map((row) => ({
        purchaseOrderId: row.purchase_order_id,
        poNumber: row.po_number,
        reference: row.reference,
        isKnown: row.settled_at !== null,
      })),
    },
  };
}

/** End of the backup's history. */
interface BackupState {
  /** Of its newest event; 0 without one. */
  readonly sequence: number;
  readonly changedUntilMs: number | null;
}

/** Reads it from the shop's rows in the backup. */
export async function backupStateOf(tx: Tx, shopId: string): Promise<BackupState> {
  const [order] = await tx.all<{ at: number | null }>(
    "select max(updated_at) as at from purchase_order where shop_id = ?",
    [shopId],
  );
  const [event] = await tx.all<{ at: number | null }>("select max(occurred_at) as at from event where shop_id = ?", [
    shopId,
  ]);
  const at = Math.max(order?.at ?? 0, event?.at ?? 0);
  return { sequence: await lastSequence(tx, shopId), changedUntilMs: at === 0 ? null : at };
}

/**
 * The effects that tell the storefront what is incoming by now, of everything that it may have been told before, too.
 */
async function tellIncoming(tx: Tx, shopId: string, ids: Ids, nowMs: number): Promise<readonly Statement[]> {
  const rows = await tx.all<{ variant_id: string; location_id: string }>(
    `select variant_id, location_id from now_incoming
     union select variant_id, location_id from incoming where shop_id = ? order by location_id, variant_id`,
    [shopId],
  );
  return tellIncomingStatements(shopId, rows, ids, nowMs);
}

/** Who restores, for the row of the audit log and the event. */
interface RestoreStamp extends EventStamp {
  readonly embedded: boolean;
  /** The row of the audit log that tells of it. */
  readonly entry: AuditEntry;
}

/**
 * The last step: tells the storefront what is incoming, and everybody else that the shop was restored. @returns what
 * has changed.
 */
export async function finishRestore(
  tx: Tx,
  shopId: string,
  stamp: RestoreStamp,
  backup: BackupState & { readonly hadPresent: boolean },
): Promise<Restored> {
  while (await fillSegments(tx, shopId));
  const restored = await restoredOf(tx, shopId, backup);
  await tx.batch(await tellIncoming(tx, shopId, stamp.ids, stamp.nowMs));
  const { changedUntilMs, undoneEvents, goneOrders, revertedOrders } = restored;
  await tx.batch(
    eventStatements(
      shopId,
      {
        type: "shop.restored",
        data: {
          changedUntil: changedUntilMs === null ? null : new Date(changedUntilMs).toISOString(),
          restoredUntilSequence: backup.sequence,
          undoneEvents,
          goneOrders: goneOrders.count,
          revertedOrders,
        },
      },
      stamp,
    ),
  );
  await tx.batch(
    stamp.embedded
      ? (await placedAudit(tx, shopId, [stamp.entry], stamp.nowMs)).statements
      : waitingAudit(shopId, [stamp.entry], stamp.nowMs * 1_000),
  );
  return restored;
}

/** Who restores: the operator, whatever way they came. */
export const restoreActor: EventStamp["actor"] = { type: "user", id: null, name: "operator" };

/** The row of the audit log that tells of it. */
export const restoreEntry = (request: {
  readonly auditId: string;
  readonly nowMs: number;
  readonly requestId: string;
  readonly method: string;
  readonly path: string;
}): AuditEntry => ({
  auditId: request.auditId,
  atMs: request.nowMs,
  requestId: request.requestId,
  traceId: null,
  spanId: null,
  tag: "console:shop_restore",
  keyId: null,
  personId: null,
  method: request.method,
  path: request.path,
  status: 200,
  errorCode: null,
  durationMs: 0,
  replayed: false,
  count: 1,
});
