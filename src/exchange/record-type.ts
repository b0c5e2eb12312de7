/**
 * Shared by all types of import records: the schema, the way between file and table, and the building blocks of
 * schemas.
 */
import { z } from "zod";
import { type Day, dayIn } from "../base/time/calendar.ts";
import { quantityDecimalsMax, quantityFrom, quantityMax } from "../core/money/money.ts";
import { type Fields, shownValue, type ValuesOf } from "../core/order/purchase-order-fields.ts";
import { decimal, plain, shortTextMax, text } from "../operations/fields.ts";
import { checkInput } from "../requests/input.ts";
import type { Shop } from "../shop/access/accounts.ts";
import type { SqlValue, Statement, Tx } from "../store/store.ts";
import { type RecordTable, pageOf, recordsByKey, replaceRecord } from "../shop/record-table.ts";
import type { FileRecord } from "./file-format.ts";
import {
  type Concerned,
  type RecordStamp,
  replacedStatements,
  type ShownChange,
} from "../shop/catalogue/record-log.ts";
import type { ImportStamp } from "../shop/order/purchase-orders.ts";

/** A member that is null when it is left out. */
export const optional = <T extends z.ZodType>(schema: T) => schema.nullable().default(null);

/** A member that follows from others. Its value is ignored and computed again. */
export const derived = z.unknown().optional();

/** An RFC 3339 instant, as milliseconds. */
export const instantMs = z.iso.datetime({ offset: true }).transform((value) => Date.parse(value));

export const shortText = text(shortTextMax);

/** A quantity that may be below 0: a storefront may sell what it does not have. */
export const signedQuantity = decimal(
  (number) => number.min(-quantityMax).max(quantityMax),
  quantityDecimalsMax,
  quantityFrom,
);

/** Characters of a text that the program wrote, which may be longer than what a caller may send. */
export const ownTextMax = 100_000;

/** Text that the program wrote. */
export const ownText = z.string().max(ownTextMax).check(plain("line"));

/** Payments, documents, shipments or credits of an order. */
export const attachmentsMax = 1_000;

/** Entries of a log or of a history, and changes of one entry: more than a line of a file can hold. */
export const historyMax = 100_000;

/**
 * Tools of a record type when its records are applied: the turn's transaction, the shop, who imports them, the time,
 * ids.
 */
export interface ApplyContext extends RecordStamp {
  readonly tx: Tx;
  readonly shop: Shop;
  /** Suppliers that were merged, each with the one that it was merged into (C86). */
  readonly merges: ReadonlyMap<string, string>;
}

/** Tools of deciding on a record. */
export type DecideContext = Pick<ApplyContext, "tx" | "shop" | "merges">;

/** Change of a record by a file, as its history will tell it. */
interface PreviewedField {
  /** The staged record's place among those that were decided on: one that is not stored has none. */
  readonly place: number;
  readonly recordId: string;
  /** True if the shop has none with its key yet. */
  readonly isNew: boolean;
  /** Fields that change; none: the record stays as it is. */
  readonly changes: readonly ShownChange[];
}

/**
 * One type of record, between a file, the staged text (JSON of the value in core's units) and its table. Orders are not
 * one: see staging.ts.
 */
export interface RecordType {
  /** The schema of a record, `type` included. */
  readonly input: z.ZodType;
  /**
   * Checks a record. `stored` is the text to stage; `weight` is the number of rows that the record makes, 1 when it is
   * absent.
   *
   * @param by  the person of the shop who imports it: entries of a log are marked, and what is there keeps its own.
   *   Null: the operator.
   * @param sets  fields that the file has, of a type with a history; absent: all.
   * @throws Fault INVALID_INPUT naming the fields.
   */
  parse(
    record: unknown,
    by: ImportStamp | null,
    sets?: readonly string[],
  ): { readonly recordId: string; readonly stored: string; readonly weight?: number };
  /**
   * Decides on staged records as `apply` does, in their order, and stores nothing. Absent: the type has no history.
   *
   * @param earlier  records of the same file with one of their ids that come before them.
   */
  preview?(
    stored: readonly string[],
    context: DecideContext,
    earlier: readonly string[],
  ): Promise<readonly PreviewedField[]>;
  /** Stores records in their order, each replacing the one with its key, and updates what follows from them. */
  apply(stored: readonly string[], context: ApplyContext): Promise<void>;
  /**
   * A page of records as lines of a file, in the order of their keys. `after` is the `next` of the page before; null
   * for the first.
   */
  page(
    tx: Tx,
    shopId: string,
    after: string | null,
    limit: number,
  ): Promise<{ readonly lines: readonly string[]; readonly next: string | null }>;
}

/** A type whose records can be looked up by the values of its table's key. */
interface KeyedType extends RecordType {
  /** The stored records of these keys, as a file shows them, by `recordId`. */
  find(tx: Tx, shopId: string, keys: readonly (readonly string[])[]): Promise<ReadonlyMap<string, object>>;
}

/** A record as a file shows it: its type, then its fields as the API shows them. */
export function recordJson<T extends Fields>(type: string, fields: T, record: ValuesOf<T>): object {
  const json: Record<string, unknown> = { type };
  for (const name in fields) {
    const field = fields[name];
    if (field !== undefined) json[name] = shownValue(field.kind, record[name]);
  }
  return json;
}

const membersOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? { ...value } : {};

/**
 * The record with these fields of another one, each by its name or, of an object, by its path (`FileRecord.sets`). An
 * object of which nothing is left is null.
 */
function withFields<T extends object>(record: T, other: T, names: readonly string[]): T {
  const fields = Object.entries(other).map(([name, theirs]: readonly [string, unknown]) => {
    const mine = membersOf(record)[name] ?? null;
    if (names.includes(name)) return [name, theirs];
    if (!names.some((path) => path.startsWith(`${name}/`))) return [name, mine];
    const [own, given] = [membersOf(mine), membersOf(theirs)];
    const members = Object.keys({ ...given, ...own }).map((inner): readonly [string, unknown] => [
      inner,
      (names.includes(`${name}/${inner}`) ? given[inner] : own[inner]) ?? null,
    ]);
    return [name, members.some(([, value]) => value !== null) ? Object.fromEntries(members) : null];
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each member is one of the two records', or made of both
  return { ...record, ...Object.fromEntries(fields) } as T;
}

/** The `recordId` of a key. */
export const recordIdOf = (key: readonly unknown[]): string => key.join(" ");

/** The history of a type of records: what an entry is about, and what differs between two states. */
interface RecordHistory<Stored> {
  readonly of: (record: Stored) => Concerned;
  readonly changes: (before: Stored | null, next: Stored) => readonly ShownChange[];
}

/** A staged record, and the one in whose place it comes; null: there is none, or the type has no history. */
interface Decided<Stored> {
  readonly place: number;
  readonly record: Stored;
  readonly replaced: Stored | null;
}

/** Peculiarities of a type of records that are rows of one table. */
interface Peculiar<Stored> {
  /** Further statements, before a record is stored. `before`: of a type with a history, the one in its place. */
  readonly follows?: (shopId: string, record: Stored, before: Stored | null, today: Day) => readonly Statement[];
  /** Its history (C85); absent: it has none. A record that is as it was is not written. */
  readonly history?: RecordHistory<Stored>;
  /** The record as it is stored in this shop; null: it is not. */
  readonly becomes?: (record: Stored, context: DecideContext) => Stored | null | Promise<Stored | null>;
}

/** Decides on staged records of a table, in their order. */
function deciderOf<Stored extends object, Row>(
  table: RecordTable<Stored, Row>,
  keyValuesOf: (record: Stored) => readonly string[],
  keyOf: (record: Stored) => string,
  becomes: NonNullable<Peculiar<Stored>["becomes"]>,
  history: RecordHistory<Stored> | undefined,
) {
  // Staged text is trusted: `parse` wrote it.
  const recordFrom = (stored: string): Stored & Partial<Pick<FileRecord, "sets">> => JSON.parse(stored);
  const foundIn = async (stored: readonly string[], context: DecideContext) => {
    const found: { readonly place: number; readonly record: Stored; readonly sets: FileRecord["sets"] }[] = [];
    for (const [place, text] of stored.entries()) {
      const { sets, ...whole } = recordFrom(text);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all of the record but what stands beside it
      const record = await becomes(whole as Stored, context);
      if (record !== null) found.push({ place, record, sets });
    }
    return found;
  };
  const decide = async (
    stored: readonly string[],
    context: DecideContext,
    earlier: readonly string[] = [],
  ): Promise<readonly Decided<Stored>[]> => {
    const found = await foundIn(stored, context);
    const before = new Map<string, Stored>();
    const keep = (record: Stored): unknown => before.set(keyOf(record), record);
    if (history !== undefined) {
      const keys = found.map(({ record }) => keyValuesOf(record));
      for (const record of await recordsByKey(context.tx, table, context.shop.shopId, keys)) keep(record);
    }
    for (const { record } of await foundIn(earlier, context)) keep(record);
    return found.map(({ place, record: given, sets }) => {
      const replaced = before.get(keyOf(given)) ?? null;
      // What somebody has changed since the file was read stays, if the file does not say it.
      const record = replaced === null || sets === undefined ? given : withFields(replaced, given, sets);
      if (history !== undefined) keep(record);
      return { place, record, replaced };
    });
  };
  return { recordFrom, decide };
}

/** The type of records that are rows of one table. */
export function tableRecordType<Stored extends object, Row>(
  input: z.ZodType<Stored>,
  json: (record: Stored) => object,
  table: RecordTable<Stored, Row>,
  { follows = () => [], becomes = (record) => record, history }: Peculiar<Stored> = {},
): KeyedType {
  const keyValuesOf = (record: Stored): readonly string[] =>
    table.key.map((column) => String(table.columns[column](record)));
  const keyOf = (record: Stored): string => recordIdOf(keyValuesOf(record));
  const columns: readonly ((record: Stored) => SqlValue)[] = Object.values(table.columns);
  const isSame = (one: Stored, other: Stored): boolean => columns.every((valueOf) => valueOf(one) === valueOf(other));
  const { recordFrom, decide } = deciderOf(table, keyValuesOf, keyOf, becomes, history);
  return {
    input,
    parse(record, _by, sets) {
      const parsed = checkInput(input, record);
      return { recordId: keyOf(parsed), stored: JSON.stringify({ ...parsed, sets }) };
    },
    async apply(stored, context) {
      const { tx, shop, nowMs } = context;
      const { shopId } = shop;
      const today = dayIn(shop.timezone, nowMs);
      const statements: Statement[] = [];
      for (const { record, replaced } of await decide(stored, context)) {
        statements.push(...follows(shopId, record, replaced, today));
        if (replaced !== null && isSame(replaced, record)) continue;
        statements.push(replaceRecord(table, shopId, record));
        if (history === undefined) continue;
        const changes = history.changes(replaced, record);
        statements.push(...replacedStatements(shopId, history.of(record), replaced === null, changes, context));
      }
      await tx.batch(statements);
    },
    ...(history === undefined
      ? {}
      : {
          async preview(stored, context, earlier) {
            return (await decide(stored, context, earlier)).map(({ place, record, replaced }) => ({
              place,
              recordId: keyOf(record),
              isNew: replaced === null,
              changes: history.changes(replaced, record),
            }));
          },
        }),
    async page(tx, shopId, after, limit) {
      const records = await pageOf(tx, table, shopId, after === null ? null : recordFrom(after), limit);
      const last = records.length < limit ? undefined : records.at(-1);
      return {
        lines: records.map((record) => JSON.stringify(json(record))),
        next: last === undefined ? null : JSON.stringify(last),
      };
    },
    async find(tx, shopId, keys) {
      const records = await recordsByKey(tx, table, shopId, keys);
      return new Map(records.map((record) => [keyOf(record), json(record)]));
    },
  };
}
