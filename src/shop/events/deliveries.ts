/**
 * Deliveries (table `delivery`): each event for each endpoint that is to be told of it (C59, C60).
 *
 * Owns: their SQL. Does not own: endpoints (webhook-endpoints.ts), what an attempt means (core/events/webhooks.ts),
 * sending (webhooks).
 */
import { type EventHead, type EventType, eventText, patternsOf } from "../../core/events/events.ts";
import { type DeliveryState, dueAheadMsMax } from "../../core/events/webhooks.ts";
import type { Fields, ValuesOf } from "../../core/order/purchase-order-fields.ts";
import { type Claims, unattempted } from "../../store/claims.ts";
import { inListMax, placeholders } from "../../store/in-lists.ts";
import type { DueRows, SqlValue, Statement, Tx } from "../../store/store.ts";
import { type Change, type Row, changeOf, insert, update, plus, above, oneOf, textForm } from "../../store/change.ts";
import { columnList, recordReader } from "../columns.ts";
import { tables } from "../tables.ts";

/** By these a node finds the shops in which something is to be sent. */
export const dueDeliveries: DueRows = {
  table: "delivery",
  condition: `due_at <= ? or due_at > ? + ${dueAheadMsMax}`,
};

/** Deliveries that are given back may be sent again. */
export const deliveryClaims: Claims = { table: "delivery", givenBack: "due_at = ?, lease_owner = null" };

/**
 * A delivery's id follows from event and endpoint. So the same event is handed to an endpoint once, and ids are in the
 * order of events. `prefix` is `deliveryPrefix` of the event, bound by the caller.
 */
const idOf = (prefix: string, endpointId: string): string => `${prefix} || substr(${endpointId}, 3)`;

const deliveryPrefix = (eventId: string): string => `dlv${eventId.slice("evt".length)}`;

const newestSequence = "(select max(sequence) from event where shop_id = ?)";

const columns =
  "shop_id, delivery_id, endpoint_id, sequence, event_id, type, state, attempts, due_at, lease_owner, last_status, last_ms, last_error, created_at, traceparent";

/** Hands the shop's newest event to every endpoint that is enabled and wants its type. */
const fanOut = textForm(
  tables.delivery,
  `insert into delivery (${columns})
   select shop_id, ${idOf("?", "endpoint_id")}, endpoint_id, ${newestSequence}, ?, ?, 'pending', 0, ?, null, null, null, null, ?, ?
   from webhook_subscription where shop_id = ? and pattern in (?, ?, ?)`,
  [null, "shop_id", "event_id", "type", "due_at", "created_at", "traceparent", null, null, null, null],
);

/** Hands the shop's newest event, which this same change adds, to the endpoints that want it. */
export const fanOutStatement = (
  shopId: string,
  eventId: string,
  type: EventType,
  nowMs: number,
  traceparent: string | null,
): Change =>
  changeOf(fanOut, [
    deliveryPrefix(eventId),
    shopId,
    eventId,
    type,
    nowMs,
    nowMs,
    traceparent,
    shopId,
    ...patternsOf(type),
  ]);

const handOverForm = textForm(
  tables.delivery,
  `insert into delivery (${columns}) values (?, ?, ?, ${newestSequence}, ?, ?, 'pending', 0, ?, null, null, null, null, ?, null)`,
  ["shop_id", "delivery_id", "endpoint_id", null, "event_id", "type", "due_at", "created_at"],
);

/**
 * Hands the shop's newest event, which this same change adds, to one endpoint, whatever that wants. @returns the
 * delivery's id.
 */
export function handOver(
  shopId: string,
  endpointId: string,
  { eventId, type, occurredAtMs }: EventHead,
): { readonly deliveryId: string; readonly statement: Statement } {
  const deliveryId = deliveryPrefix(eventId) + endpointId.slice("we".length);
  return {
    deliveryId,
    statement: changeOf(handOverForm, [
      shopId,
      deliveryId,
      endpointId,
      shopId,
      eventId,
      type,
      occurredAtMs,
      occurredAtMs,
    ]),
  };
}

const deliveryFields = {
  deliveryId: { kind: "text" },
  eventId: { kind: "text" },
  type: { kind: "text" },
  endpointId: { kind: "text" },
  state: { kind: "text" },
  attempts: { kind: "integer" },
  dueAtMs: { kind: "instant", empty: null },
  lastStatus: { kind: "integer", empty: null },
  lastMs: { kind: "integer", empty: null },
  lastError: { kind: "text", empty: null },
} as const satisfies Fields;

/** A delivery as it is shown. */
export interface Delivery extends ValuesOf<typeof deliveryFields> {
  readonly type: EventType;
  readonly state: DeliveryState["state"];
}

const selectDelivery = `select ${columnList(deliveryFields)} from delivery`;

const deliveryFrom = recordReader<Delivery>(deliveryFields);

/** Deliveries to list; null members let every one through. */
interface DeliveryFilters {
  readonly states: readonly Delivery["state"][] | null;
  readonly types: readonly EventType[] | null;
}

/**
 * A page of an endpoint's deliveries, those of newer events first, and how many pass the filters. `before`: the id with
 * which the last page ended.
 */
export async function listDeliveries(
  tx: Tx,
  shopId: string,
  endpointId: string,
  { states, types }: DeliveryFilters,
  before: string | null,
  limit: number,
): Promise<{ readonly deliveries: readonly Delivery[]; readonly totalCount: number }> {
  const conditions = ["shop_id = ?", "endpoint_id = ?"];
  const params: SqlValue[] = [shopId, endpointId];
  if (states !== null) {
    conditions.push(`state in (${placeholders(states.length)})`);
    params.push(...states);
  }
  if (types !== null) {
    conditions.push(`type in (${placeholders(types.length)})`);
    params.push(...types);
  }
  const where = conditions.join(" and ");
  const [[count], rows] = await Promise.all([
    tx.all<{ n: number }>(`select count(*) as n from delivery where ${where}`, params),
    tx.all<Row>(
      `${selectDelivery} where ${where}${before === null ? "" : " and delivery_id < ?"} order by delivery_id desc limit ?`,
      before === null ? [...params, limit] : [...params, before, limit],
    ),
  ]);
  return { deliveries: rows.map(deliveryFrom), totalCount: count?.n ?? 0 };
}

/** The delivery of this id to this endpoint; null when there is none. */
export async function loadDelivery(
  tx: Tx,
  shopId: string,
  endpointId: string,
  deliveryId: string,
): Promise<Delivery | null> {
  const [row] = await tx.all<Row>(`${selectDelivery} where shop_id = ? and endpoint_id = ? and delivery_id = ?`, [
    shopId,
    endpointId,
    deliveryId,
  ]);
  return row === undefined ? null : deliveryFrom(row);
}

/** Sends a delivery now, whatever became of it. One that a process is sending is left to it. */
export const retryStatement = (shopId: string, deliveryId: string, nowMs: number): Change =>
  update(tables.delivery, shopId, { delivery_id: deliveryId, lease_owner: null }, { state: "pending", due_at: nowMs });

/** The end of what is replayed: all events after a sequence, or those of a time. */
export interface ReplayRange {
  readonly afterSequence: number;
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * Hands events of the past to an endpoint, again or for the first time, a slice at a time.
 *
 * @returns how many, and the sequence after which the next slice begins; null when there is nothing more.
 */
export async function replaySlice(
  tx: Tx,
  shopId: string,
  endpointId: string,
  types: readonly EventType[],
  { afterSequence, fromMs, toMs }: ReplayRange,
  nowMs: number,
  sliceMax: number,
): Promise<{ readonly count: number; readonly next: number | null }> {
  const rows = await tx.all<{ sequence: number; event_id: string; type: EventType; occurred_at: number }>(
    "select sequence, event_id, type, occurred_at from event where shop_id = ? and sequence > ? order by sequence limit ?",
    [shopId, afterSequence, sliceMax],
  );
  const wanted = rows.filter((row) => types.includes(row.type) && row.occurred_at >= fromMs && row.occurred_at <= toMs);
  await tx.batch(
    wanted.map(({ sequence, event_id: eventId, type }) =>
      insert(
        tables.delivery,
        shopId,
        {
          delivery_id: deliveryPrefix(eventId) + endpointId.slice("we".length),
          endpoint_id: endpointId,
          sequence,
          event_id: eventId,
          type,
          state: "pending",
          attempts: 0,
          due_at: nowMs,
          lease_owner: null,
          created_at: nowMs,
        },
        ["state", "attempts", "due_at", "lease_owner"],
      ),
    ),
  );
  const last = rows.at(-1);
  return { count: wanted.length, next: rows.length < sliceMax || last === undefined ? null : last.sequence };
}

/** A delivery that this process has to itself until its lease ends. */
export interface ClaimedDelivery {
  readonly deliveryId: string;
  readonly endpointId: string;
  readonly eventId: string;
  /** Attempts, the one that begins now included. */
  readonly attempts: number;
  /** Of the request that made the event. */
  readonly traceparent: string | null;
  /** The very bytes to send. Null: the event is no longer kept. */
  readonly text: string | null;
}

interface ClaimRow {
  readonly delivery_id: string;
  readonly endpoint_id: string;
  readonly event_id: string;
  readonly type: EventType;
  readonly sequence: number;
  readonly attempts: number;
  readonly traceparent: string | null;
}

/** Returns how many deliveries of each endpoint are leased at this moment, by any process. */
export async function countLeased(tx: Tx, shopId: string, nowMs: number): Promise<ReadonlyMap<string, number>> {
  const rows = await tx.all<{ endpoint_id: string; n: number }>(
    `select endpoint_id, count(*) as n from delivery
     where shop_id = ? and lease_owner is not null and due_at > ? group by endpoint_id`,
    [shopId, nowMs],
  );
  return new Map(rows.map((row) => [row.endpoint_id, row.n]));
}

/** Takes up to `limit` of an endpoint's due deliveries for this process, the longest due first. */
export async function claimDeliveries(
  tx: Tx,
  shopId: string,
  endpointId: string,
  limit: number,
  { owner, nowMs, leasedUntilMs }: { readonly owner: string; readonly nowMs: number; readonly leasedUntilMs: number },
): Promise<readonly ClaimedDelivery[]> {
  const rows = await tx.all<ClaimRow>(
    `select delivery_id, endpoint_id, event_id, type, sequence, attempts, traceparent from delivery
     where shop_id = ? and endpoint_id = ? and due_at <= ? order by due_at, delivery_id limit ?`,
    [shopId, endpointId, nowMs, limit],
  );
  if (rows.length === 0) return [];
  const sequences = rows.map((row) => row.sequence);
  const events = await tx.all<{ sequence: number; occurred_at: number; content: string }>(
    `select sequence, occurred_at, content from event
     where shop_id = ? and sequence in (${placeholders(sequences.length)})`,
    [shopId, ...sequences],
  );
  const contents = new Map(events.map((event) => [event.sequence, event]));
  const claimed = oneOf(rows.map((row) => row.delivery_id));
  await tx.batch([
    update(
      tables.delivery,
      shopId,
      { delivery_id: claimed },
      { attempts: plus(1), due_at: leasedUntilMs, lease_owner: owner },
    ),
  ]);
  return rows.map(({ delivery_id: deliveryId, event_id: eventId, type, sequence, attempts, traceparent }) => {
    const event = contents.get(sequence);
    const text =
      event === undefined
        ? null
        : eventText({ eventId, type, occurredAtMs: event.occurred_at }, sequence, event.content);
    return { deliveryId, endpointId, eventId, attempts: attempts + 1, traceparent, text };
  });
}

/** Deliveries that one claim of an endpoint takes, at most: one list of a statement. */
export const claimMax = Math.min(32, inListMax);

/** Which of these this process still has. */
export async function stillClaimed(
  tx: Tx,
  shopId: string,
  owner: string,
  deliveryIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (let start = 0; start < deliveryIds.length; start += inListMax) {
    const chunk = deliveryIds.slice(start, start + inListMax);
    const rows = await tx.all<{ delivery_id: string }>(
      `select delivery_id from delivery
       where shop_id = ? and lease_owner = ? and delivery_id in (${placeholders(chunk.length)})`,
      [shopId, owner, ...chunk],
    );
    for (const row of rows) found.add(row.delivery_id);
  }
  return found;
}

/** Records what an attempt has brought, and gives the delivery back. */
export const recordStatement = (
  shopId: string,
  owner: string,
  deliveryId: string,
  { state, dueAtMs, lastStatus, lastMs, lastError }: DeliveryState,
): Change =>
  update(
    tables.delivery,
    shopId,
    { delivery_id: deliveryId, lease_owner: owner },
    {
      state,
      due_at: dueAtMs,
      lease_owner: null,
      last_status: lastStatus,
      last_ms: lastMs,
      last_error: lastError,
    },
  );

/** Gives a delivery back that was not sent; the attempt does not count. */
export const giveBackStatement = (shopId: string, owner: string, deliveryId: string, dueAtMs: number | null): Change =>
  update(tables.delivery, shopId, { delivery_id: deliveryId, lease_owner: owner }, unattempted(dueAtMs));

/** Makes due what is due after `untilMs` only. */
export const dueNowStatement = (shopId: string, untilMs: number, nowMs: number): Change =>
  update(tables.delivery, shopId, { due_at: above(untilMs) }, { due_at: nowMs, lease_owner: null });

/** When something of the shop's enabled endpoints is due next; null: nothing is. */
export async function nextDueAtMs(tx: Tx, shopId: string, endpointIds: readonly string[]): Promise<number | null> {
  const found = await Promise.all(
    endpointIds.map((endpointId) =>
      tx.all<{ due: number | null }>(
        "select min(due_at) as due from delivery where shop_id = ? and endpoint_id = ? and due_at is not null",
        [shopId, endpointId],
      ),
    ),
  );
  return found.reduce<number | null>((next, [row]) => {
    const due = row?.due ?? null;
    return due === null || (next !== null && next <= due) ? next : due;
  }, null);
}

/**
 * Returns the number of deliveries of these endpoints that wait or are being sent; of one endpoint at most `countMax`
 * are counted.
 */
export async function countWaiting(
  tx: Tx,
  shopId: string,
  endpointIds: readonly string[],
  countMax: number,
): Promise<number> {
  const found = await Promise.all(
    endpointIds.map((endpointId) =>
      tx.all<{ n: number }>(
        `select count(*) as n from
           (select 1 from delivery where shop_id = ? and endpoint_id = ? and due_at is not null limit ?) as waiting`,
        [shopId, endpointId, countMax],
      ),
    ),
  );
  return found.reduce((sum, [row]) => sum + (row?.n ?? 0), 0);
}

/** Stops up to `rowsMax` waiting deliveries of an endpoint that is disabled; they wait until it is enabled again. */
export const parkStatement = (shopId: string, endpointId: string, rowsMax: number): Change =>
  changeOf(park, [shopId, shopId, endpointId, rowsMax]);

const park = textForm(
  tables.delivery,
  `update delivery set due_at = null where shop_id = ? and delivery_id in
     (select delivery_id from delivery where shop_id = ? and endpoint_id = ? and due_at is not null and lease_owner is null limit ?)`,
  ["shop_id", null, null, null],
);

/**
 * Makes up to `rowsMax` deliveries due again that wait for their endpoint to be enabled. @returns whether there may be
 * more.
 */
export async function resumeSlice(
  tx: Tx,
  shopId: string,
  endpointId: string,
  nowMs: number,
  rowsMax: number,
): Promise<boolean> {
  const rows = await tx.all<{ delivery_id: string }>(
    `update delivery set due_at = ? where shop_id = ? and delivery_id in
       (select delivery_id from delivery where shop_id = ? and endpoint_id = ? and due_at is null and state = 'pending' limit ?)
     returning delivery_id`,
    [nowMs, shopId, shopId, endpointId, rowsMax],
  );
  return rows.length === rowsMax;
}

/** Deletes up to `rowsMax` deliveries of an endpoint. @returns whether there may be more. */
export async function deleteSlice(tx: Tx, shopId: string, endpointId: string, rowsMax: number): Promise<boolean> {
  const rows = await tx.all<{ delivery_id: string }>(
    `delete from delivery where shop_id = ? and delivery_id in
       (select delivery_id from delivery where shop_id = ? and endpoint_id = ? limit ?)
     returning delivery_id`,
    [shopId, shopId, endpointId, rowsMax],
  );
  return rows.length === rowsMax;
}

/** Deletes the oldest deliveries whose events are no longer kept, at most `rowsMax`. */
export const sweepDeliveries = (shopId: string, rowsMax: number): Change =>
  changeOf(sweep, [shopId, shopId, shopId, rowsMax]);

const sweep = textForm(
  tables.delivery,
  `delete from delivery where shop_id = ? and delivery_id in
     (select delivery_id from delivery where shop_id = ? and sequence < (select min(sequence) from event where shop_id = ?)
      order by sequence limit ?)`,
  ["shop_id", null, null, null],
);
