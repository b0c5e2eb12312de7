/**
 * Events (table `event`): what happened in a shop, with a sequence that has no gaps (C56, C58).
 *
 * Owns: their SQL. Does not own: what an event says (core/events/events.ts), who asks (admin), who is told (webhooks).
 *
 * Invariants:
 * - E1. An event is written in the transaction of the change that it tells of, and only there.
 * - E2. A shop's sequence begins with 1 and has no gaps. It is taken in the shop's turn, so events are committed in its
 *       order. The newest event is never deleted, so no number is given twice.
 */
import {
  type EventDraft,
  type EventHead,
  type EventType,
  eventContent,
  eventsKeptMs,
  eventText,
} from "../../core/events/events.ts";
import { placeholders } from "../../store/in-lists.ts";
import type { Ids } from "../../base/time/clock.ts";
import type { SqlValue, Statement, Tx } from "../../store/store.ts";
import { fanOutStatement } from "./deliveries.ts";
import type { LogEntry } from "../order/purchase-order-history.ts";
import { type Change, changeOf, textForm } from "../../store/change.ts";
import { tables } from "../tables.ts";

/** Who made a change, in which request and when. */
export interface EventStamp {
  readonly actor: LogEntry["actor"];
  readonly requestId: string | null;
  /** Passed on to whom the event is delivered. Default: none. */
  readonly traceparent?: string | null;
  readonly nowMs: number;
  readonly ids: Ids;
}

const insertEvent = textForm(
  tables.event,
  `insert into event (shop_id, sequence, event_id, type, occurred_at, content)
   values (?, (select coalesce(max(sequence), 0) + 1 from event where shop_id = ?), ?, ?, ?, ?)`,
  ["shop_id", null, "event_id", "type", "occurred_at", "content"],
);

/** True if the change adds an event. */
export const addsEvent = ({ form }: Change): boolean => form === insertEvent;

/** Adds the event and hands it to the webhook endpoints that want it. Part of the change that it tells of (E1). */
export function eventStatements(shopId: string, draft: EventDraft, stamp: EventStamp): readonly Statement[] {
  const { head, statement } = newEvent(shopId, draft, stamp);
  return [statement, fanOutStatement(shopId, head.eventId, head.type, head.occurredAtMs, stamp.traceparent ?? null)];
}

/** An event that is handed to nobody yet. */
export function newEvent(
  shopId: string,
  draft: EventDraft,
  { actor, requestId, nowMs, ids }: EventStamp,
): { readonly head: EventHead; readonly statement: Statement } {
  const head = { eventId: ids.next("evt"), type: draft.type, occurredAtMs: nowMs };
  const content = eventContent({ shopId, actor, requestId }, draft);
  return { head, statement: changeOf(insertEvent, [shopId, shopId, head.eventId, draft.type, nowMs, content]) };
}

interface EventRow {
  readonly sequence: number;
  readonly event_id: string;
  readonly type: EventType;
  readonly occurred_at: number;
  readonly content: string;
}

/** An event as it is stored. `text`: as it is delivered and read. */
export interface StoredEvent extends EventHead {
  readonly sequence: number;
  readonly text: string;
}

function eventFrom({ sequence, event_id: eventId, type, occurred_at: occurredAtMs, content }: EventRow): StoredEvent {
  const head = { eventId, type, occurredAtMs };
  return { ...head, sequence, text: eventText(head, sequence, content) };
}

/** The shop's events with higher sequences than `after`, in their order. @param types null: all. */
export async function eventsAfter(
  tx: Tx,
  shopId: string,
  after: number,
  types: readonly EventType[] | null,
  limit: number,
): Promise<readonly StoredEvent[]> {
  const [ofTypes, params] = typeCondition(types);
  const rows = await tx.all<EventRow>(
    `select sequence, event_id, type, occurred_at, content from event
     where shop_id = ? and sequence > ?${ofTypes} order by sequence limit ?`,
    [shopId, after, ...params, limit],
  );
  return rows.map(eventFrom);
}

/** Returns the number of events with higher sequences than `after`. @param types null: all. */
export async function countEventsAfter(
  tx: Tx,
  shopId: string,
  after: number,
  types: readonly EventType[] | null,
): Promise<number> {
  const [ofTypes, params] = typeCondition(types);
  const [row] = await tx.all<{ n: number }>(
    // Without gaps, all events need not be counted.
    types === null
      ? "select coalesce(max(sequence) - min(sequence) + 1, 0) as n from event where shop_id = ? and sequence > ?"
      : `select count(*) as n from event where shop_id = ? and sequence > ?${ofTypes}`,
    [shopId, after, ...params],
  );
  return row?.n ?? 0;
}

const typeCondition = (types: readonly EventType[] | null): readonly [string, readonly SqlValue[]] =>
  types === null ? ["", []] : [` and type in (${placeholders(types.length)})`, types];

/** The sequence of the newest event; 0 before the first. */
export async function lastSequence(tx: Tx, shopId: string): Promise<number> {
  const [row] = await tx.all<{ last: number }>(
    "select coalesce(max(sequence), 0) as last from event where shop_id = ?",
    [shopId],
  );
  return row?.last ?? 0;
}

/**
 * Deletes the oldest events as far as they are past their time, at most `rowsMax`; never the newest (E2). Looks at one
 * event when none is.
 */
export const sweepEvents = (shopId: string, nowMs: number, rowsMax: number): Statement => ({
  sql: `delete from event where shop_id = ? and occurred_at < ? and sequence in
          (select sequence from event where shop_id = ? order by sequence limit coalesce(
             (select case when occurred_at < ? then cast(? as bigint) else 0 end from event where shop_id = ? order by sequence limit 1), 0))
          and sequence < (select max(sequence) from event where shop_id = ?)`,
  params: [shopId, nowMs - eventsKeptMs, shopId, nowMs - eventsKeptMs, rowsMax, shopId, shopId],
});
