/** Warnings in the answers of writes (C16). The rules are in core/order/warnings.ts; here is what of a request they look at. */
import { z } from "zod";
import type { PurchaseOrder } from "../../core/order/purchase-order.ts";
import { type InQuestion, type LineInQuestion, orderWarnings, warningReasons } from "../../core/order/warnings.ts";

const warningSchema = z
  .strictObject({
    path: z.string().meta({ description: "JSON pointer into the request; empty for the order as a whole." }),
    reason: z.enum(warningReasons),
    message: z.string(),
  })
  .meta({ id: "Warning", description: "Something that looks wrong and was done all the same." });

/** The member of answers; it is absent when there is nothing to warn of. */
export const warningsShape = {
  warnings: z
    .array(warningSchema)
    .optional()
    .meta({ description: "What looks wrong and was done all the same; absent when there is nothing." }),
} as const;

/** What the header of a request names. */
export const headerInQuestion = (sent: {
  readonly supplierId?: string | null | undefined;
  readonly locationId?: string | null | undefined;
}): Pick<InQuestion, "supplierPath" | "locationPath"> => ({
  supplierPath: sent.supplierId === undefined ? null : "/supplierId",
  locationPath: sent.locationId === undefined ? null : "/locationId",
});

/** New lines: the last of the order, one for each entry of the request. `unitCost` is absent when none was sent and none is known. */
export const newLinesInQuestion = (
  next: PurchaseOrder,
  entries: readonly { readonly path: string; readonly unitCost?: unknown }[],
): readonly LineInQuestion[] =>
  next.lineItems.slice(next.lineItems.length - entries.length).flatMap((line, index) => {
    const entry = entries[index];
    return entry === undefined ? [] : [{ line, path: entry.path, isCostMissing: entry.unitCost === undefined }];
  });

/** Edited lines whose quantity, MOQ or pack size was sent. */
export const editedLinesInQuestion = (
  next: PurchaseOrder,
  edits: readonly {
    readonly lineItemId: string;
    readonly quantityOrdered?: unknown;
    readonly moq?: unknown;
    readonly packSize?: unknown;
  }[],
  updatedLineItemIds: ReadonlySet<string>,
): readonly LineInQuestion[] => {
  const lines = new Map(next.lineItems.map((line) => [line.poLineItemId, line]));
  return edits.flatMap(({ lineItemId, quantityOrdered, moq, packSize }, index) => {
    const line = lines.get(lineItemId);
    const isSent = [quantityOrdered, moq, packSize].some((value) => value !== undefined);
    if (line === undefined || !isSent || !updatedLineItemIds.has(lineItemId)) return [];
    return [{ line, path: `/lines/${index}`, isCostMissing: false }];
  });
};

/** The answer's member: warnings of what is looked at. */
export function warningsIn(
  next: PurchaseOrder,
  inQuestion: Partial<InQuestion>,
): { warnings?: z.output<typeof warningSchema>[] } {
  const warnings = orderWarnings(next, { supplierPath: null, locationPath: null, lines: [], ...inQuestion });
  return warnings.length === 0 ? {} : { warnings: warnings.map((warning) => ({ ...warning })) };
}

/** The whole order is looked at when it is sent. */
export const sentOrderInQuestion = (next: PurchaseOrder): Partial<InQuestion> =>
  next.status === "Sent"
    ? {
        supplierPath: "",
        locationPath: "",
        lines: next.lineItems.map((line) => ({ line, path: null, isCostMissing: false })),
      }
    : {};
