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
import { type PartKind, type ResourceTable, countParts, loadParts, pageOfHeaders } from "../../shop/stock/read-only.ts";
import { loadReasonName } from "../../shop/stock/stock-takes.ts";
import type { Statement, Tx } from "../../store/store.ts";
import { logInput } from "./attachments.ts";
import { type ApplyContext, historyMax, type RecordType, optional } from "../record-type.ts";

/** Records of one page of an export: each may have thousands of lines. */
const pageLength = 25;

/** Parts of a page's resources: loading and showing more would hold the event loop for too long. One resource is shown in any case. */
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

/** The parts of one kind as records show them, by resource id. */
type PartsReader = (
  tx: Tx,
  shopId: string,
  resourceIds: readonly string[],
) => Promise<ReadonlyMap<string, readonly object[]>>;

/** Reads the parts of this kind for an export. */
export const exportedParts =
  <Part>(kind: PartKind<Part>, json: (part: Part) => object): PartsReader =>
  async (tx, shopId, resourceIds) => {
    const parts = await loadParts(tx, kind, shopId, resourceIds);
    return new Map([...parts].map(([resourceId, entries]) => [resourceId, entries.map(json)]));
  };

interface ReadOnlyRecord<Draft, Header extends { readonly createdAtMs: number }> {
  /** The record's `type`. */
  readonly type: string;
  readonly input: z.ZodType<Draft>;
  readonly table: ResourceTable<Header>;
  recordId(draft: Draft): string;
  /** As it is when a person of the shop imports it: the entries of its log are marked. */
  imported(draft: Draft): Draft;
  /** Returns the number of rows that it makes. */
  weight(draft: Draft): number;
  /** Stores the resource that the record describes, replacing the one with its id. */
  statements(draft: Draft, context: ApplyContext): Promise<readonly Statement[]>;
  /** The members of an exported record that the header holds. */
  header(header: Header): object;
  /** Those that hold parts. */
  readonly parts: Readonly<Record<string, PartsReader>>;
}

/** The record type of a read-only resource. */
export function readOnlyType<Draft, Header extends { readonly createdAtMs: number }>(
  record: ReadOnlyRecord<Draft, Header>,
): RecordType {
  const { input, table } = record;
  return {
    input,
    parse(value, isOfPerson) {
      const checked = checkInput(input, value);
      const draft = isOfPerson ? record.imported(checked) : checked;
      return { recordId: record.recordId(draft), stored: JSON.stringify(draft), weight: record.weight(draft) };
    },
    statements(_shopId, stored, context) {
      // Staged text is trusted: `parse` wrote it.
      const draft: Draft = JSON.parse(stored);
      return record.statements(draft, context);
    },
    async page(tx, shopId, after) {
      const found = await pageOfHeaders(tx, table, shopId, after ?? "", pageLength);
      const counts = await countParts(
        tx,
        table.name,
        shopId,
        found.map((header) => table.idOf(header)),
      );
      let count = 0;
      const headers = found.filter((header, index) => {
        count += counts.get(table.idOf(header)) ?? 0;
        return index === 0 || count <= pagePartsMax;
      });
      const resourceIds = headers.map((header) => table.idOf(header));
      const parts: (readonly [member: string, parts: ReadonlyMap<string, readonly object[]>])[] = [];
      for (const [member, read] of Object.entries(record.parts))
        parts.push([member, await read(tx, shopId, resourceIds)]);
      return {
        lines: headers.map((header) => {
          const own = parts.map(([member, byResource]) => [member, byResource.get(table.idOf(header))] as const);
          return JSON.stringify({ type: record.type, ...record.header(header), ...Object.fromEntries(own) });
        }),
        next: headers.length === found.length && found.length < pageLength ? null : (resourceIds.at(-1) ?? null),
      };
    },
  };
}
