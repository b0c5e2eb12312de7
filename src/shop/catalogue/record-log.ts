/**
 * The history of suppliers, variants and locations: who changed what, with before and after (C85). A change of a
 * supplier's entry for a variant stands with the supplier, one of a variant's stock with the variant.
 *
 * Owns: the rows, and what an entry says of two states of a record. Does not own: who may change what
 * (operations/catalogue/), what orders log (order/purchase-order-history.ts).
 */
import type { Actor } from "../../core/access/actor.ts";
import { type Changes, type Fields, shownValue } from "../../core/order/purchase-order-fields.ts";
import { type Change, insert } from "../../store/change.ts";
import type { Ids } from "../../base/time/clock.ts";
import type { Tx } from "../../store/store.ts";
import { tables } from "../tables.ts";

/** Kinds of records that have a history. */
export const recordKinds = ["supplier", "variant", "location"] as const;
/** One of them. */
export type RecordKind = (typeof recordKinds)[number];

/** A field that changed, as the API shows its values. */
export interface ShownChange {
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** An entry of a record's history. */
export interface RecordEntry {
  readonly logId: string;
  readonly occurredAtMs: number;
  readonly action: "created" | "changed" | "deleted" | "merged";
  readonly actor: Actor;
  /** Who has approved what an agent had proposed; absent: nobody was asked. */
  readonly approvedBy?: Actor;
  readonly operation: string;
  readonly requestId: string;
  /** The variant of a supplier's entry; null: the record itself changed. */
  readonly variantId: string | null;
  /** The location of a variant's stock; null: the record itself changed. */
  readonly locationId: string | null;
  readonly reason: string | null;
  readonly changes: readonly ShownChange[];
}

/** The fields that differ between two states; null: the record is not there. */
export function shownChanges<T extends Fields>(
  fields: T,
  before: Changes<T> | null,
  after: Changes<T> | null,
): readonly ShownChange[] {
  const shown = (name: keyof T & string, record: Changes<T> | null): unknown =>
    shownValue(fields[name]?.kind ?? "text", record?.[name] ?? null);
  return Object.keys(fields).flatMap((field) => {
    const change = { field, before: shown(field, before), after: shown(field, after) };
    return JSON.stringify(change.before) === JSON.stringify(change.after) ? [] : [change];
  });
}

/** Who changes a record, by which operation, in which request and when. */
export interface RecordStamp extends Pick<RecordEntry, "actor" | "operation" | "requestId"> {
  /** Null, or absent: nobody was asked. */
  readonly approvedBy?: Actor | null;
  readonly nowMs: number;
  readonly ids: Ids;
}

/** The record that an entry is about, and the part of it. */
export interface Concerned extends Partial<Pick<RecordEntry, "variantId" | "locationId">> {
  readonly kind: RecordKind;
  readonly recordId: string;
}

/** The entry that tells of a change of the record; none where nothing changed. */
export function entryStatements(
  shopId: string,
  { kind, recordId, variantId = null, locationId = null }: Concerned,
  { action, reason = null, changes }: Pick<RecordEntry, "action" | "changes"> & Partial<Pick<RecordEntry, "reason">>,
  { actor, approvedBy = null, operation, requestId, nowMs, ids }: RecordStamp,
): readonly Change[] {
  if (changes.length === 0) return [];
  const logId = ids.next("rec");
  const about = { variantId, locationId, reason, changes };
  const approved = approvedBy === null ? {} : { approvedBy };
  const entry: RecordEntry = { logId, occurredAtMs: nowMs, action, actor, ...approved, operation, requestId, ...about };
  return [insert(tables.record_log, shopId, { kind, record_id: recordId, log_id: logId, doc: JSON.stringify(entry) })];
}

/** The entry that tells of a record that comes in the place of another one, or is new; none where nothing changed. */
export const replacedStatements = (
  shopId: string,
  concerned: Concerned,
  isNew: boolean,
  changes: readonly ShownChange[],
  stamp: RecordStamp,
): readonly Change[] =>
  // Stock is set, not made.
  entryStatements(
    shopId,
    concerned,
    { action: isNew && (concerned.locationId ?? null) === null ? "created" : "changed", changes },
    stamp,
  );

/** A page of a record's history, newest first, after the entry `after`. */
export async function pageOfRecordLog(
  tx: Tx,
  shopId: string,
  { kind, recordId }: { readonly kind: RecordKind; readonly recordId: string },
  after: string | null,
  limit: number,
): Promise<{ readonly entries: readonly RecordEntry[]; readonly totalCount: number; readonly end: string | null }> {
  const of = "from record_log where shop_id = ? and kind = ? and record_id = ?";
  const params = [shopId, kind, recordId];
  const [[counted], rows] = await Promise.all([
    tx.all<{ n: number }>(`select count(*) as n ${of}`, params),
    tx.all<{ doc: string }>(`select doc ${of}${after === null ? "" : " and log_id < ?"} order by log_id desc limit ?`, [
      ...params,
      ...(after === null ? [] : [after]),
      limit + 1,
    ]),
  ]);
  const entries = rows.slice(0, limit).map(({ doc }): RecordEntry => JSON.parse(doc));
  return {
    entries,
    totalCount: counted?.n ?? 0,
    end: rows.length > limit ? (entries.at(-1)?.logId ?? null) : null,
  };
}
