/**
 * Operations on the records that people keep: one is made, read, changed and deleted the same way, whatever it is (C82
 * to C85). REST has them in the admin API.
 *
 * Owns: ids, versions, who owns a field, histories. Does not own: the fields and their limits (inputs.ts), what is
 * peculiar to a kind of record (kinds.ts).
 */
import { createHash } from "node:crypto";
import { z } from "zod";
import { Fault } from "../../base/fault.ts";
import { keyOf } from "../../core/access/actor.ts";
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
  type ShownChange,
  entryStatements,
  shownChanges,
} from "../../shop/catalogue/record-log.ts";
import { deleteStatements, useOf } from "../../shop/catalogue/record-uses.ts";
import { mergedInto, presentSupplierId } from "../../shop/catalogue/supplier-merges.ts";
import { effectStatements, type QueuedEffect } from "../../shop/storefront/effects.ts";
import { type RecordTable, recordsByKey, replaceRecord } from "../../shop/record-table.ts";
import type { Change, Row } from "../../store/change.ts";
import type { Tx } from "../../store/store.ts";
import { type InputField, type InputFields, fieldMembers, fieldObject, renderer, schemasOf } from "../field-members.ts";
import { pathId, shownId } from "../fields.ts";
import { type CostsOf, withoutRise } from "./cost-measures.ts";

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
  /** Fields that no agent changes without a person, whatever its scope (C85). */
  readonly changedByPeople?: readonly (keyof T & string)[];
  /** Costs that a change of the record may raise; absent: none. */
  readonly costsOf?: (tx: Tx, shopId: string, recordId: string) => Promise<CostsOf>;
  /** Advice on one that is used. */
  readonly archive: string;
  /** Effects of a change. Null: the record is not there. */
  readonly effects?: (recordId: string, before: Stored | null, next: Stored | null) => readonly Effect[];
}

/** A field of a record that changed. */
export const fieldBeforeAfter = z.strictObject({ field: z.string(), before: z.unknown(), after: z.unknown() });

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
  call: Call,
  kind: RecordKind,
  recordId: string,
  { variantId = null, locationId = null, ...facts }: EntryFacts,
): readonly Change[] =>
  entryStatements(call.shop.shopId, { kind, recordId, variantId, locationId }, facts, {
    ...call,
    nowMs: call.clock.now(),
  });

const noRecord = (kind: RecordKind, recordId: string, intoId: string | null): Fault =>
  intoId === null
    ? new Fault("NOT_FOUND", `There is no ${kind} ${shownId(recordId)}.`)
    : new Fault("NOT_FOUND", `The ${kind} ${shownId(recordId)} was merged into ${shownId(intoId)}.`, {
        action: `Use the id ${shownId(intoId)}.`,
      });

const mergedIntoOf = async (tx: Tx, shopId: string, kind: RecordKind, recordId: string): Promise<string | null> =>
  kind === "supplier" ? await mergedInto(tx, shopId, recordId) : null;

/** The stored record. @throws Fault NOT_FOUND when there is none, naming the one that it was merged into. */
export async function recordOf<Stored>(
  tx: Tx,
  shopId: string,
  { kind, table }: { readonly kind: RecordKind; readonly table: RecordTable<Stored, Row> },
  recordId: string,
): Promise<Stored> {
  const [record] = await recordsByKey(tx, table, shopId, [[recordId]]);
  if (record === undefined) throw noRecord(kind, recordId, await mergedIntoOf(tx, shopId, kind, recordId));
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

/** The value of a member that is a text in every record. */
function requireText(value: unknown): string {
  if (typeof value !== "string") throw new TypeError("an id is no text");
  return value;
}

/** Facts that the operations on records of one kind share. */
function formOf<T extends Fields, Stored extends ValuesOf<T>>(of: KeptKind<T, Stored>) {
  const { kind, idMember, fields } = of;
  const members = fieldMembers(fields);
  const json = renderer<ValuesOf<T>, typeof members>(members);
  const shown: z.ZodType<object> = z.strictObject(schemasOf(members));
  const route = `/${kind}s`;
  return {
    ...of,
    output: z.strictObject({ [kind]: shown }),
    route,
    path: `${route}/{${idMember}}`,
    inPath: { [idMember]: pathId },
    idOf: (input: Changes<T>): string => requireText(input[idMember]),
    answer: (record: Stored) => ({ data: { [kind]: json(record) }, etag: etagOfRecord(record) }),
  };
}

type RecordForm<T extends Fields, Stored extends ValuesOf<T>> = ReturnType<typeof formOf<T, Stored>>;

/** @throws Fault INVALID_INPUT STOREFRONT_OWNED  a field that comes from the storefront would change. */
function refuseOwned({ shop }: Call, changes: readonly { readonly field: string }[], owned: readonly string[]): void {
  const platform = platformName(shop.storefront);
  const field = changes.find((change) => owned.includes(change.field))?.field;
  if (platform === null || field === undefined) return;
  throw new Fault("INVALID_INPUT", `${field} comes from ${platform}.`, {
    reason: "STOREFRONT_OWNED",
    action: `Change it in ${platform}; the next pull brings the change.`,
    details: [{ path: `/${field}`, message: `comes from ${platform}` }],
  });
}

/**
 * Whoever has signed in with an API key may be an agent: where a supplier is written to is changed by people (C85).
 *
 * @throws Fault FORBIDDEN_SCOPE  a field of these would change by a key.
 */
export function requirePerson(
  { actor, approvedBy }: Pick<Call, "actor" | "approvedBy">,
  changes: readonly Pick<ShownChange, "field">[],
  fields: readonly string[],
): void {
  const changed = changes.filter(({ field }) => fields.includes(field)).map(({ field }) => field);
  if (changed.length === 0 || approvedBy !== null || keyOf(actor) === null) return;
  throw new Fault("FORBIDDEN_SCOPE", `Nobody changes ${changed.join(", ")} of a supplier by an API key.`, {
    action: "Sign in as a person of the shop, by an invitation, a passkey or a mailed link, and make the change.",
    details: changed.map((field) => ({ path: `/${field}`, message: "is changed by people alone" })),
  });
}

/** Makes the change of a record. @throws Fault FORBIDDEN_SCOPE (LIMIT_EXCEEDED)  as `withoutRise` does. */
const withoutRiseIn = <T>(
  tx: Tx,
  call: Call,
  { costsOf }: Pick<KeptKind<Fields, ValuesOf<Fields>>, "costsOf">,
  recordId: string,
  change: () => Promise<T>,
): Promise<T> =>
  costsOf === undefined ? change() : withoutRise(tx, call, () => costsOf(tx, call.shop.shopId, recordId), change);

/** Makes the change, with what is to be done elsewhere. */
async function saved(
  tx: Tx,
  { shop: { shopId }, ids, clock, traceparent }: Call,
  wanted: readonly Effect[],
  changes: readonly Change[],
): Promise<readonly QueuedEffect[]> {
  const { effects, statements } = effectStatements(shopId, wanted, ids, clock.now(), traceparent);
  await tx.batch([...changes, ...statements]);
  return effects;
}

function createOf<T extends Fields, Stored extends ValuesOf<T>>(form: RecordForm<T, Stored>) {
  const { kind, fields, table, idOf } = form;
  const madeIds = Object.entries(form.madeIds);
  const inputs: Readonly<Record<string, InputField<unknown>>> = form.inputs;
  const sentIds = Object.entries(inputs).filter(([name]) => Object.hasOwn(form.madeIds, name));
  return operation({
    ...kept,
    name: `${kind}_create`,
    title: `Add a ${kind}`,
    summary: `Adds a ${kind}.`,
    description: "An id that is sent is kept; else one is made.",
    scope: "write",
    route: { method: "POST", path: form.route },
    success: 201,
    repeat: "adds-again",
    faults: [],
    input: fieldObject(
      fields,
      form.inputs,
      "new",
      Object.fromEntries(sentIds.map(([name, { input }]) => [name, input.optional()])),
    ),
    output: form.output,
    run: (call, sent) =>
      call.commit(async (tx) => {
        const { shopId } = call.shop;
        if (form.fromStorefront !== undefined) refuseOfStorefront(call, kind);
        const made = Object.fromEntries(
          madeIds.flatMap(([name, prefix]) => (sent[name] === undefined ? [[name, call.ids.next(prefix)]] : [])),
        );
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the inputs take what a record may hold
        const record = valuesFrom(fields, { ...sent, ...made }) as Stored;
        const recordId = idOf(record);
        const taken = await recordsByKey(tx, table, shopId, [[recordId]]);
        if (taken.length > 0 || (await mergedIntoOf(tx, shopId, kind, recordId)) !== null)
          throw new Fault("INVALID_INPUT", `The id ${shownId(recordId)} is taken.`, {
            reason: "ID_TAKEN",
            action: "Send another id, or none.",
          });
        const changes = shownChanges(fields, null, record);
        requirePerson(call, changes, form.changedByPeople ?? []);
        const effects = await withoutRiseIn(tx, call, form, recordId, () =>
          saved(tx, call, form.effects?.(recordId, null, record) ?? [], [
            replaceRecord(table, shopId, record),
            ...historyStatements(call, kind, recordId, { action: "created", changes }),
          ]),
        );
        return { effects, answer: () => form.answer(record) };
      }),
  });
}

const getOf = <T extends Fields, Stored extends ValuesOf<T>>(form: RecordForm<T, Stored>) =>
  operation({
    ...kept,
    name: `${form.kind}_get`,
    title: `Read a ${form.kind}`,
    summary: `A ${form.kind}.`,
    description: only("rest", "Its ETag names its version, for If-Match."),
    scope: "read",
    route: { method: "GET", path: form.path },
    repeat: "read",
    faults: ["NOT_FOUND"],
    input: z.strictObject(form.inPath),
    output: form.output,
    run: async (call, input) =>
      form.answer(
        await call.read(async (tx) => {
          const { shopId } = call.shop;
          const sent = String(input[form.idMember]);
          const recordId = form.kind === "supplier" ? await presentSupplierId(tx, shopId, sent) : sent;
          return await recordOf(tx, shopId, form, recordId);
        }),
      ),
  });

/**
 * The record as it would be, with what is to be done for it.
 *
 * @param reason  why it is changed, for its history; null: nobody said it.
 */
export async function changeOf<T extends Fields, Stored extends ValuesOf<T>>(
  tx: Tx,
  call: Call,
  form: RecordForm<T, Stored>,
  sent: Changes<T>,
  reason: string | null,
) {
  const { shopId } = call.shop;
  const { kind, fields, table } = form;
  const recordId = form.idOf(sent);
  const before = await recordOf(tx, shopId, form, recordId);
  requireRecordVersion(call, before);
  const next = withChanges(fields, before, sent);
  const changes = shownChanges(fields, before, next);
  refuseOwned(call, changes, form.fromStorefront?.(call.shop) ?? []);
  const save = async (): Promise<readonly QueuedEffect[]> =>
    changes.length === 0
      ? []
      : await saved(tx, call, form.effects?.(recordId, before, next) ?? [], [
          replaceRecord(table, shopId, next),
          ...historyStatements(call, kind, recordId, { action: "changed", changes, reason }),
        ]);
  return { before, next, changes, save };
}

const updateOf = <T extends Fields, Stored extends ValuesOf<T>>(form: RecordForm<T, Stored>) =>
  operation({
    ...kept,
    name: `${form.kind}_update`,
    title: `Change a ${form.kind}`,
    summary: `Changes a ${form.kind}.`,
    description: "Members that are left out stay; null clears. What comes from the shop's storefront is refused.",
    scope: "write",
    route: { method: "PATCH", path: form.path },
    repeat: "safe",
    faults: recordFaults,
    input: fieldObject(form.fields, form.inputs, "changes", form.inPath),
    output: form.output,
    run: (call, sent) =>
      call.commit(async (tx) => {
        const { next, changes, save } = await changeOf(tx, call, form, sent, null);
        requirePerson(call, changes, form.changedByPeople ?? []);
        const effects = await withoutRiseIn(tx, call, form, form.idOf(sent), save);
        return { effects, answer: () => form.answer(next) };
      }),
  });

const deleteOf = <T extends Fields, Stored extends ValuesOf<T>>(form: RecordForm<T, Stored>) =>
  operation({
    ...kept,
    name: `${form.kind}_delete`,
    title: `Delete a ${form.kind}`,
    summary: `Deletes a ${form.kind} that nothing uses.`,
    description: `One that is used is refused. ${form.archive}`,
    scope: "write",
    route: { method: "DELETE", path: form.path },
    repeat: "refused",
    destructive: true,
    faults: recordFaults,
    input: z.strictObject(form.inPath),
    output: z.strictObject({ [form.idMember]: z.string(), deleted: z.literal(true) }),
    run: (call, input) =>
      call.commit(async (tx) => {
        const { shopId } = call.shop;
        const { kind, idMember } = form;
        const recordId = String(input[idMember]);
        const before = await recordOf(tx, shopId, form, recordId);
        requireRecordVersion(call, before);
        if (form.fromStorefront !== undefined) refuseOfStorefront(call, kind);
        const use = await useOf(tx, shopId, kind, recordId);
        if (use !== null)
          throw new Fault("INVALID_INPUT", `The ${kind} is used by ${use}, so it is not deleted.`, {
            reason: "IN_USE",
            action: form.archive,
          });
        const changes = shownChanges(form.fields, before, null);
        const effects = await saved(tx, call, form.effects?.(recordId, before, null) ?? [], [
          ...deleteStatements[kind](shopId, recordId),
          ...historyStatements(call, kind, recordId, { action: "deleted", changes }),
        ]);
        return { effects, answer: () => ({ data: { [idMember]: recordId, deleted: true as const } }) };
      }),
  });

/** The operations on records of one kind: made, read, changed, deleted, with the form that they share. */
export function recordOperations<T extends Fields, Stored extends ValuesOf<T>>(of: KeptKind<T, Stored>) {
  const form = formOf(of);
  return { form, create: createOf(form), get: getOf(form), update: updateOf(form), remove: deleteOf(form) };
}
