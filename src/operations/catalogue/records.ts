/**
 * Operations on the records that people keep: one is made, read, changed and deleted the same way, whatever it is (C82
 * to C85). REST has them in the admin API.
 *
 * Owns: ids, versions, who owns a field, histories. Does not own: the fields and their limits (inputs.ts), what is
 * peculiar to a kind of record (suppliers.ts and its neighbours).
 */
import { createHash } from "node:crypto";
import { z } from "zod";
import { Fault } from "../../base/fault.ts";
import type { Effect } from "../../core/order/effect.ts";
import {
  type Changes,
  type Fields,
  type ValuesOf,
  valuesFrom,
  withChanges,
} from "../../core/order/purchase-order-fields.ts";
import { only } from "../../core/order/guidance.ts";
import { platformName } from "../../core/storefront/storefront-config.ts";
import { operation, type Call } from "../../requests/operation.ts";
import {
  type RecordEntry,
  type RecordKind,
  recordLogStatement,
  shownChanges,
} from "../../shop/catalogue/record-log.ts";
import { deleteStatements, useOf } from "../../shop/catalogue/record-uses.ts";
import { effectStatements, type QueuedEffect } from "../../shop/storefront/effects.ts";
import { type RecordTable, recordsByKey, replaceRecord } from "../../shop/record-table.ts";
import type { Change, Row } from "../../store/change.ts";
import type { Tx } from "../../store/store.ts";
import { type InputFields, fieldMembers, fieldObject, renderer, schemasOf } from "../field-members.ts";
import { id, pathId, shownId } from "../fields.ts";

/** Members that every operation on records shares. */
export const kept = { tag: "Records", toolSets: ["purchasing"], success: 200, destructive: false } as const;

/** Faults of every write of a record that is there. */
export const recordFaults = ["NOT_FOUND", "VERSION_MISMATCH"] as const;

/** A kind of record. */
interface KeptKind<T extends Fields, Stored extends ValuesOf<T>> {
  readonly kind: RecordKind;
  /** `supplierId` */
  readonly idMember: keyof T & string;
  /** Ids that are made where none is sent, with what they begin with. */
  readonly madeIds: Readonly<Record<string, string>>;
  readonly fields: T;
  readonly inputs: InputFields<T>;
  readonly table: RecordTable<Stored, Row>;
  /** Fields that come from the storefront of a shop that is connected to one, where records then come from, too. */
  readonly fromStorefront?: (shop: Call["shop"]) => readonly (keyof T & string)[];
  /** Advice on one that is used. */
  readonly archive: string;
  /** Effects of a change. Null: the record is not there. */
  readonly effects?: (recordId: string, before: Stored | null, next: Stored | null) => readonly Effect[];
}

/** The version of a record as a strong validator: it names what the record says. */
export const etagOfRecord = (record: object): string =>
  createHash("sha256").update(JSON.stringify(record)).digest("hex").slice(0, 32);

/** @throws Fault INVALID_INPUT (412) VERSION_MISMATCH  `If-Match` was sent and names another state of the record. */
export function requireRecordVersion({ ifMatch }: Call, record: object | null): void {
  if (ifMatch === null || (record !== null && (ifMatch.includes("*") || ifMatch.includes(etagOfRecord(record)))))
    return;
  throw new Fault(
    "INVALID_INPUT",
    `Somebody has changed it since${only("rest", ": If-Match names another version")}.`,
    {
      reason: "VERSION_MISMATCH",
      action: `Read it again${only("rest", " and send its ETag as If-Match")}.`,
    },
  );
}

/** Facts of an entry beside who made the change. */
type EntryFacts = Pick<RecordEntry, "action" | "changes"> &
  Partial<Pick<RecordEntry, "variantId" | "locationId" | "reason">>;

/** The entry that tells of a change of the record; none where nothing changed. */
export const historyStatements = (
  { shop, actor, operation: name, requestId, clock, ids }: Call,
  kind: RecordKind,
  recordId: string,
  facts: EntryFacts,
): readonly Change[] =>
  facts.changes.length === 0
    ? []
    : [
        recordLogStatement(shop.shopId, kind, recordId, {
          variantId: null,
          locationId: null,
          reason: null,
          ...facts,
          logId: ids.next("rec"),
          occurredAtMs: clock.now(),
          actor,
          operation: name,
          requestId,
        }),
      ];

const noRecord = (kind: RecordKind, recordId: string): Fault =>
  new Fault("NOT_FOUND", `There is no ${kind} ${shownId(recordId)}.`);

/** The stored record. @throws Fault NOT_FOUND when there is none. */
export async function recordOf<Stored>(
  tx: Tx,
  shopId: string,
  { kind, table }: { readonly kind: RecordKind; readonly table: RecordTable<Stored, Row> },
  recordId: string,
): Promise<Stored> {
  const [record] = await recordsByKey(tx, table, shopId, [[recordId]]);
  if (record === undefined) throw noRecord(kind, recordId);
  return record;
}

/** @throws Fault INVALID_INPUT STOREFRONT_OWNED  records of this kind come from the shop's storefront. */
function refuseOfStorefront({ shop }: Call, kind: RecordKind): void {
  const platform = platformName(shop.storefront);
  if (platform === null) return;
  throw new Fault("INVALID_INPUT", `The ${kind}s of this shop come from ${platform}.`, {
    reason: "STOREFRONT_OWNED",
    action: `Add or delete the ${kind} in ${platform}; the next pull brings the change.`,
  });
}

/** The operations on records of one kind: made, read, changed, deleted. */
export function recordOperations<T extends Fields, Stored extends ValuesOf<T>>(of: KeptKind<T, Stored>) {
  const { kind, idMember, fields, inputs, table } = of;
  const members = fieldMembers(fields);
  const json = renderer<ValuesOf<T>, typeof members>(members);
  const shown: z.ZodType<object> = z.strictObject(schemasOf(members));
  const output = z.strictObject({ [kind]: shown });
  const route = `/${kind}s`;
  const path = `${route}/{${idMember}}`;
  const madeIds = Object.entries(of.madeIds);
  const inPath = { [idMember]: pathId };
  const idOf = (input: Changes<T>): string => String(input[idMember]);
  const answer = (record: Stored) => ({ data: { [kind]: json(record) }, etag: etagOfRecord(record) });

  /** @throws Fault INVALID_INPUT STOREFRONT_OWNED  a field that comes from the storefront would change. */
  function refuseOwned({ shop }: Call, before: Stored, next: Stored): void {
    const platform = platformName(shop.storefront);
    if (platform === null) return;
    const owned = of.fromStorefront?.(shop) ?? [];
    const field = shownChanges(fields, before, next).find((change) =>
      owned.some((name) => name === change.field),
    )?.field;
    if (field === undefined) return;
    throw new Fault("INVALID_INPUT", `${field} comes from ${platform}.`, {
      reason: "STOREFRONT_OWNED",
      action: `Change it in ${platform}; the next pull brings the change.`,
      details: [{ path: `/${field}`, message: `comes from ${platform}` }],
    });
  }

  /** Makes the change, with what is to be done elsewhere. */
  async function saved(
    tx: Tx,
    { shop: { shopId }, ids, clock, traceparent }: Call,
    { before, next }: { readonly before: Stored | null; readonly next: Stored | null },
    changes: readonly Change[],
  ): Promise<readonly QueuedEffect[]> {
    const record = next ?? before;
    const wanted = record === null ? [] : (of.effects?.(idOf(record), before, next) ?? []);
    const { effects, statements } = effectStatements(shopId, wanted, ids, clock.now(), traceparent);
    await tx.batch([...changes, ...statements]);
    return effects;
  }

  const create = operation({
    ...kept,
    name: `${kind}_create`,
    title: `Add a ${kind}`,
    summary: `Adds a ${kind}.`,
    description: `An id that is sent is kept; else one is made.`,
    scope: "write",
    route: { method: "POST", path: route },
    success: 201,
    repeat: "adds-again",
    faults: [],
    input: fieldObject(fields, inputs, "new", Object.fromEntries(madeIds.map(([name]) => [name, id.optional()]))),
    output,
    run: (call, sent) =>
      call.commit(async (tx) => {
        const { shopId } = call.shop;
        if (of.fromStorefront !== undefined) refuseOfStorefront(call, kind);
        const made = Object.fromEntries(
          madeIds.flatMap(([name, prefix]) => (sent[name] === undefined ? [[name, call.ids.next(prefix)]] : [])),
        );
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the inputs take what a record may hold
        const record = valuesFrom(fields, { ...sent, ...made }) as Stored;
        const taken = await recordsByKey(tx, table, shopId, [[idOf(record)]]);
        if (taken.length > 0)
          throw new Fault("INVALID_INPUT", `The id ${shownId(idOf(record))} is taken.`, {
            reason: "ID_TAKEN",
            action: "Send another id, or none.",
          });
        const changes = shownChanges(fields, null, record);
        const effects = await saved(tx, call, { before: null, next: record }, [
          replaceRecord(table, shopId, record),
          ...historyStatements(call, kind, idOf(record), { action: "created", changes }),
        ]);
        return { effects, answer: () => answer(record) };
      }),
  });

  const get = operation({
    ...kept,
    name: `${kind}_get`,
    title: `Read a ${kind}`,
    summary: `A ${kind}.`,
    description: only("rest", "Its ETag names its version, for If-Match."),
    scope: "read",
    route: { method: "GET", path },
    repeat: "read",
    faults: ["NOT_FOUND"],
    input: z.strictObject(inPath),
    output,
    run: async (call, input) =>
      answer(await call.read((tx) => recordOf(tx, call.shop.shopId, of, String(input[idMember])))),
  });

  const update = operation({
    ...kept,
    name: `${kind}_update`,
    title: `Change a ${kind}`,
    summary: `Changes a ${kind}.`,
    description: "Members that are left out stay; null clears. What comes from the shop's storefront is refused.",
    scope: "write",
    route: { method: "PATCH", path },
    repeat: "safe",
    faults: recordFaults,
    input: fieldObject(fields, inputs, "changes", inPath),
    output,
    run: (call, sent) =>
      call.commit(async (tx) => {
        const { shopId } = call.shop;
        const before = await recordOf(tx, shopId, of, idOf(sent));
        requireRecordVersion(call, before);
        const next = withChanges(fields, before, sent);
        refuseOwned(call, before, next);
        const changes = shownChanges(fields, before, next);
        if (changes.length === 0) return { effects: [], answer: () => answer(next) };
        const effects = await saved(tx, call, { before, next }, [
          replaceRecord(table, shopId, next),
          ...historyStatements(call, kind, idOf(sent), { action: "changed", changes }),
        ]);
        return { effects, answer: () => answer(next) };
      }),
  });

  const remove = operation({
    ...kept,
    name: `${kind}_delete`,
    title: `Delete a ${kind}`,
    summary: `Deletes a ${kind} that nothing uses.`,
    description: `One that is used is refused: ${of.archive}.`,
    scope: "write",
    route: { method: "DELETE", path },
    repeat: "refused",
    destructive: true,
    faults: recordFaults,
    input: z.strictObject(inPath),
    output: z.strictObject({ [idMember]: z.string(), deleted: z.literal(true) }),
    run: (call, input) =>
      call.commit(async (tx) => {
        const { shopId } = call.shop;
        const recordId = String(input[idMember]);
        const before = await recordOf(tx, shopId, of, recordId);
        requireRecordVersion(call, before);
        if (of.fromStorefront !== undefined) refuseOfStorefront(call, kind);
        const use = await useOf(tx, shopId, kind, recordId);
        if (use !== null)
          throw new Fault("INVALID_INPUT", `The ${kind} is used by ${use}, so it is not deleted.`, {
            reason: "IN_USE",
            action: of.archive,
          });
        const changes = shownChanges(fields, before, null);
        const effects = await saved(tx, call, { before, next: null }, [
          ...deleteStatements[kind](shopId, recordId),
          ...historyStatements(call, kind, recordId, { action: "deleted", changes }),
        ]);
        return { effects, answer: () => ({ data: { [idMember]: recordId, deleted: true as const } }) };
      }),
  });

  return { create, get, update, remove };
}
