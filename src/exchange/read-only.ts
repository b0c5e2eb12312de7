/**
 * Import and export records of the resources that are only read: stock takes and their reasons, stock adjustments, transfer orders,
 * manufacturing orders (contract §8, §9).
 *
 * Owns: what their records look like, and what is filled in where one leaves something out. Does not own: SQL
 * (shop/read-only.ts) or figures (core).
 *
 * A record has the fields that the API returns for it. What follows from other fields (`itemCount`, `netQuantityChange`, `quantityPending`,
 * …) may be there and is computed anew. A member that is left out is filled in when the record comes in, from what the shop knows by
 * then, the lines before it in the file included: the currency from the shop, `reason` from the reason, SKU and product name from the
 * catalogue, a transfer's addresses from its locations. A null stays null, so that a record that was exported comes in as it was.
 */
import { z } from "zod";
import { type Money, moneyFrom, totalValueMax, zeroQuantity } from "../core/money.ts";
import { type ValuedQuantity, isTellable } from "../core/valued-quantity.ts";
import { noRepeats, quantity } from "../operations/fields.ts";
import { checkInput } from "../operations/input.ts";
import { type VariantSnapshot, loadVariants } from "../shop/catalogue.ts";
import { type HeaderTable, pageOfHeaders } from "../shop/read-only.ts";
import { loadReasonName } from "../shop/stock-takes.ts";
import type { Statement, Tx } from "../store/store.ts";
import { logInput } from "./attachments.ts";

import { type ApplyContext, type ReferenceType, optional } from "./record-type.ts";

/** Records of one page of an export: each may have thousands of lines. */
const pageLength = 25;

/** Filled in when it is left out; a null stays. */
export const fillable = <T extends z.ZodType>(schema: T) => schema.nullable().optional();

export const quantityOrZero = quantity.default(zeroQuantity);

/** What something is worth where no unit cost tells. */
export const statedValue = optional(
  z
    .number()
    .min(-totalValueMax)
    .max(totalValueMax)
    .transform((value, context): Money => {
      const parsed = moneyFrom(value);
      if (parsed !== null) return parsed;
      context.addIssue({ code: "custom", message: "must have at most 4 decimals" });
      return z.NEVER;
    }),
);

/** Refuses entries that are worth more than figures can tell. */
export const tellable =
  <T>(valuesOf: (entry: T) => readonly ValuedQuantity[]) =>
  (context: z.core.ParsePayload<readonly T[]>): void => {
    const values = context.value.flatMap(valuesOf);
    if (isTellable(values) && values.every((value) => isTellable([value]))) return;
    context.issues.push({
      code: "custom",
      input: context.value,
      message: `are worth more than ${totalValueMax}, one of them or all together`,
    });
  };

export const log = z
  .array(logInput)
  .check(noRepeats((entry) => entry.logId, "logId"))
  .default([]);

/** What the shop knows of the variants of these lines; asked only where a line leaves something out. */
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

/** As given; what is left out is as known. */
export const filled = <T>(given: T | null | undefined, known: T | null | undefined): T | null =>
  given === undefined ? (known ?? null) : given;

export const reasonOf = async (
  { tx, shop }: ApplyContext,
  given: { readonly reasonId: string | null; readonly reason?: string | null | undefined },
): Promise<string | null> =>
  given.reason === undefined && given.reasonId !== null
    ? await loadReasonName(tx, shop.shopId, given.reasonId)
    : (given.reason ?? null);

// The way of each through import and export.

/** A type of record that is kept as a header with parts. */
export function readOnlyType<Draft, Header extends { readonly createdAtMs: number }>(options: {
  readonly input: z.ZodType<Draft>;
  readonly table: HeaderTable<Header>;
  recordId(draft: Draft): string;
  /** How many rows it makes. */
  weight(draft: Draft): number;
  statements(draft: Draft, context: ApplyContext): Promise<readonly Statement[]>;
  /** The records of these headers as they stand in a file. */
  records(tx: Tx, shopId: string, headers: readonly Header[]): Promise<readonly object[]>;
}): ReferenceType {
  return {
    input: options.input,
    parse(record) {
      const draft = checkInput(options.input, record);
      return { recordId: options.recordId(draft), stored: JSON.stringify(draft), weight: options.weight(draft) };
    },
    statements(_shopId, stored, context) {
      // Text that `parse` wrote.
      const draft: Draft = JSON.parse(stored);
      return options.statements(draft, context);
    },
    async page(tx, shopId, after) {
      const headers = await pageOfHeaders(tx, options.table, shopId, after ?? "", pageLength);
      const last = headers.length < pageLength ? undefined : headers.at(-1);
      return {
        lines: (await options.records(tx, shopId, headers)).map((record) => JSON.stringify(record)),
        next: last === undefined ? null : options.table.idOf(last),
      };
    },
  };
}
