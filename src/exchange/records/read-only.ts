/**
 * Import and export records of the read-only resources: stock takes, stock adjustments, transfer orders, manufacturing
 * orders (contract §8, §9).
 *
 * Owns: what their records have in common, and what is filled in for a member that a record leaves out. Does not own:
 * SQL (shop/stock/read-only.ts) or figures (core).
 *
 * A record has the members that the API returns for its resource. What follows from other members (`itemCount`,
 * `netQuantityChange`, `quantityPending`, …) may be there and is computed again. A member that is left out is filled in
 * when the record is applied, from the shop's present data, earlier records of the file included. The currency comes
 * from the shop, `reason` from the reason, SKU and product name from the catalogue. A transfer's addresses come from
 * its locations. A null stays null, so an exported record is imported unchanged.
 */
import { z } from "zod";
import { moneyDecimalsMax, moneyFrom, totalValueMax, zeroQuantity } from "../../core/money/money.ts";
import { type ValuedQuantity, isRepresentable } from "../../core/money/valued-quantity.ts";
import { decimal, noRepeats, quantity } from "../../operations/fields.ts";
import { checkInput } from "../../requests/input.ts";
import { type VariantSnapshot, loadVariants } from "../../shop/catalogue/catalogue.ts";
import type { FieldChange } from "../../core/order/purchase-order.ts";
import type { LogEntry } from "../../shop/order/purchase-order-history.ts";
import type { ImportStamp } from "../../shop/order/purchase-orders.ts";
import {
  type PartKind,
  type ResourceTable,
  countParts,
  loadHeader,
  loadParts,
  pageOfHeaders,
} from "../../shop/stock/read-only.ts";
import { loadReasonName } from "../../shop/stock/stock-takes.ts";
import type { Statement, Tx } from "../../store/store.ts";
import { importedEntries, logInput, replacedByImport } from "./attachments.ts";
import { type ApplyContext, historyMax, type RecordType, optional } from "../record-type.ts";

/** Records of one page of an export: each may have thousands of lines. */
const pageLength = 25;

/**
 * Parts of a page's resources: loading and showing more would hold the event loop for too long. One resource is shown
 * in any case.
 */
const pagePartsMax = 500;

/** Filled in when it is left out; a null stays. */
export const fillable = <T extends z.ZodType>(schema: T) => schema.nullable().optional();

export const quantityOrZero = quantity.default(zeroQuantity);

/** A value that the record states, for entries without a unit cost. */
export const statedValue = optional(
  decimal((number) => number.min(-totalValueMax).max(totalValueMax), moneyDecimalsMax, moneyFrom),
);

/** Refuses entries whose worth is above `totalValueMax`, each alone or all together. */
export const representable =
  <T>(valuesOf: (entry: T) => readonly ValuedQuantity[]) =>
  (context: z.core.ParsePayload<readonly T[]>): void => {
    const values = context.value.flatMap(valuesOf);
    if (isRepresentable(values) && values.every((value) => isRepresentable([value]))) return;
    context.issues.push({
      code: "custom",
      input: context.value,
      message: `are worth more than ${totalValueMax}, one of them or all together`,
    });
  };

export const log = z
  .array(logInput)
  .max(historyMax)
  .check(noRepeats((entry) => entry.logId, "logId"))
  .default([]);

/** The catalogue's entries for the variants of these lines; lines that are whole are not looked up. */
export const variantsOf = (
  { tx, shop }: ApplyContext,
  lines: readonly { readonly variantId: string; readonly sku?: unknown; readonly productName?: unknown }[],
  isWhole: (line: (typeof lines)[number]) => boolean = (line) => line.sku !== undefined,
): Promise<ReadonlyMap<string, VariantSnapshot>> =>
  loadVariants(
    tx,
    shop.shopId,
    lines.filter((line) => !isWhole(line)).map((line) => line.variantId),
  );

/** The given value, null included; the known one when it is left out. */
export const filled = <T>(given: T | null | undefined, known: T | null | undefined): T | null =>
  given === undefined ? (known ?? null) : given;

/** The reason's name: as given, else that of the reason with the given id. */
export const reasonOf = async (
  { tx, shop }: ApplyContext,
  given: { readonly reasonId: string | null; readonly reason?: string | null | undefined },
): Promise<string | null> =>
  given.reason === undefined && given.reasonId !== null
    ? await loadReasonName(tx, shop.shopId, given.reasonId)
    : (given.reason ?? null);

// Between a file and the tables.

/** The parts of one kind of a resource as records show them. */
interface Parts<Resource> {
  of(resource: Resource): readonly object[];
  /** The stored ones, by resource id. */
  read(tx: Tx, shopId: string, resourceIds: readonly string[]): Promise<ReadonlyMap<string, readonly object[]>>;
}

export const recordParts = <Part, Resource>(
  kind: PartKind<Part>,
  json: (part: Part) => object,
  partsOf: (resource: Resource) => readonly Part[],
): Parts<Resource> => ({
  of: (resource) => partsOf(resource).map(json),
  async read(tx, shopId, resourceIds) {
    const parts = await loadParts(tx, kind, shopId, resourceIds);
    return new Map([...parts].map(([resourceId, entries]) => [resourceId, entries.map(json)]));
  },
});

interface Dated {
  readonly createdAtMs: number;
}

interface ReadOnlyRecord<Draft, Header extends Dated, Resource extends Header> {
  /** The record's `type`. */
  readonly type: string;
  readonly input: z.ZodType<Draft>;
  readonly table: ResourceTable<Header>;
  recordId(draft: Draft): string;
  /** Returns the number of rows that it makes. */
  weight(draft: Draft): number;
  /** The resource that the record describes. */
  resource(draft: Draft, context: ApplyContext): Promise<Resource>;
  /** Stores it, replacing the one with its id. */
  statements(shopId: string, resource: Resource): readonly Statement[];
  /** The members of an exported record that the header holds. */
  header(header: Header): object;
  /** Members of a record that hold parts. */
  readonly parts: Readonly<Record<string, Parts<Resource>>>;
  /** Absent: the resource has no log. */
  readonly log?: {
    readonly kind: PartKind<LogEntry>;
    with(resource: Resource, change: (entries: readonly LogEntry[]) => readonly LogEntry[]): Resource;
  };
}

/** Members in which a record that says the same may differ, or that say what happened before. */
const membersLeftOut: ReadonlySet<string> = new Set(["type", "updatedAt"]);

const entriesMissingIn = (entries: readonly unknown[], others: readonly unknown[]): readonly unknown[] => {
  const known = new Set(others.map((entry) => JSON.stringify(entry)));
  return entries.filter((entry) => !known.has(JSON.stringify(entry)));
};

/**
 * Returns the members that a record makes different in the one that it replaces; of a list the entries that are not the
 * same.
 */
function changedMembers(before: object, after: object): readonly FieldChange[] {
  const old = new Map<string, unknown>(Object.entries(before));
  return Object.entries(after).flatMap(([field, value]) => {
    const known = old.get(field) ?? null;
    if (membersLeftOut.has(field) || JSON.stringify(known) === JSON.stringify(value ?? null)) return [];
    const lists = Array.isArray(known) && Array.isArray(value);
    return {
      field,
      poLineItemId: null,
      before: lists ? entriesMissingIn(known, value) : known,
      after: lists ? entriesMissingIn(value, known) : (value ?? null),
    };
  });
}

/**
 * A draft as it is staged, with the person who imports it. Null, or absent where an earlier version has staged it: the
 * operator.
 */
interface Staged<Draft> {
  readonly draft: Draft;
  readonly by: ImportStamp | null;
}

/** The stored records with these headers, and with these of their parts. */
async function recordsOf<Draft, Header extends Dated, Resource extends Header>(
  record: ReadOnlyRecord<Draft, Header, Resource>,
  tx: Tx,
  shopId: string,
  headers: readonly Header[],
  wanted: typeof record.parts = record.parts,
): Promise<readonly object[]> {
  const { table } = record;
  const resourceIds = headers.map((header) => table.idOf(header));
  const parts: (readonly [member: string, parts: ReadonlyMap<string, readonly object[]>])[] = [];
  for (const [member, part] of Object.entries(wanted)) parts.push([member, await part.read(tx, shopId, resourceIds)]);
  return headers.map((header) => {
    const own = parts.map(([member, byResource]) => [member, byResource.get(table.idOf(header))] as const);
    return { type: record.type, ...record.header(header), ...Object.fromEntries(own) };
  });
}

/** The resource of a person's record as it is stored: an existing one keeps its log, which gains an entry (§8). */
async function importedBy<Draft, Header extends Dated, Resource extends Header>(
  record: ReadOnlyRecord<Draft, Header, Resource>,
  resource: Resource,
  stamp: ImportStamp,
  context: ApplyContext,
): Promise<Resource> {
  const { table, log: logOf } = record;
  const { log: _kept, ...compared } = record.parts;
  const { tx, shop } = context;
  if (logOf === undefined) return resource;
  const resourceId = table.idOf(resource);
  const header = await loadHeader(tx, table, shop.shopId, resourceId);
  if (header === null) return logOf.with(resource, importedEntries);
  const [before = {}] = await recordsOf(record, tx, shop.shopId, [header], compared);
  const kept = (await loadParts(tx, logOf.kind, shop.shopId, [resourceId])).get(resourceId) ?? [];
  const own = Object.entries(compared).map(([name, part]) => [name, part.of(resource)] as const);
  const changes = changedMembers(before, { ...record.header(resource), ...Object.fromEntries(own) });
  const added = changes.length === 0 ? [] : [replacedByImport(stamp, changes, context)];
  return logOf.with(resource, () => [...kept, ...added]);
}

/** The record type of a read-only resource. */
export function readOnlyType<Draft, Header extends Dated, Resource extends Header>(
  record: ReadOnlyRecord<Draft, Header, Resource>,
): RecordType {
  const { input, table } = record;
  return {
    input,
    parse(value, by) {
      const draft = checkInput(input, value);
      const staged: Staged<Draft> = { draft, by };
      return { recordId: record.recordId(draft), stored: JSON.stringify(staged), weight: record.weight(draft) };
    },
    async apply(stored, context) {
      const { tx, shop } = context;
      // One by one: each is compared with what the one before has stored.
      for (const text of stored) {
        // Staged text is trusted: `parse` wrote it, or that of an earlier version, which staged the draft alone.
        const staged: Staged<Draft> | Draft = JSON.parse(text);
        const { draft, by } = isStaged(staged) ? staged : { draft: staged, by: null };
        const resource = await record.resource(draft, context);
        const whole = by === null ? resource : await importedBy(record, resource, by, context);
        await tx.batch(record.statements(shop.shopId, whole));
      }
    },
    async page(tx, shopId, after) {
      const found = await pageOfHeaders(tx, table, shopId, after ?? "", pageLength);
      const ids = found.map((header) => table.idOf(header));
      const counts = await countParts(tx, table.name, shopId, ids);
      let count = 0;
      const headers = found.filter((header, index) => {
        count += counts.get(table.idOf(header)) ?? 0;
        return index === 0 || count <= pagePartsMax;
      });
      const isLast = headers.length === found.length && found.length < pageLength;
      return {
        lines: (await recordsOf(record, tx, shopId, headers)).map((each) => JSON.stringify(each)),
        next: isLast ? null : (ids[headers.length - 1] ?? null),
      };
    },
  };
}

const isStaged = <Draft>(staged: Staged<Draft> | Draft): staged is Staged<Draft> =>
  typeof staged === "object" && staged !== null && "draft" in staged && "by" in staged;
