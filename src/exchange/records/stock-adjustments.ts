/**
 * Import and export records of stock adjustments (contract §8, §9).
 */
import { z } from "zod";
import { linesPerOrderMax } from "../../core/order/purchase-order.ts";
import {
  type StockAdjustment,
  adjustmentLineChange,
  adjustmentTotals,
  stockAdjustmentStatuses,
} from "../../core/stock/stock-adjustments.ts";
import { worthOf } from "../../core/money/valued-quantity.ts";
import { codeText, currencyCode, id, noRepeats, noteMax, textOfLines, unitCost } from "../../operations/fields.ts";
import { stockAdjustmentHeaderJson, stockAdjustmentLineJson } from "../../operations/stock-adjustments.ts";
import {
  stockAdjustmentLines,
  stockAdjustmentStatements,
  stockAdjustmentTable,
} from "../../shop/stock/stock-adjustments.ts";
import {
  recordParts,
  fillable,
  filled,
  readOnlyType,
  reasonOf,
  statedValue,
  representable,
  variantsOf,
} from "./read-only.ts";
import { type ApplyContext, derived, instantMs, optional, shortText, signedQuantity } from "../record-type.ts";

const stockAdjustmentInput = z.strictObject({
  type: z.literal("stockAdjustment"),
  stockAdjustmentId: id,
  stockAdjustmentNumber: optional(shortText),
  status: z.enum(stockAdjustmentStatuses).default("Draft"),
  locationId: optional(id),
  reasonId: optional(id),
  reason: fillable(shortText),
  currencyCode: currencyCode.nullable().optional(),
  createdBy: optional(shortText),
  createdAt: instantMs.optional(),
  appliedAt: optional(instantMs),
  revertOf: optional(id),
  revertedBy: optional(id),
  note: optional(textOfLines(noteMax)),
  lineItems: z
    .array(
      z.strictObject({
        stockAdjustmentLineItemId: id.optional(),
        variantId: id,
        sku: fillable(codeText),
        quantityDelta: signedQuantity,
        unitCost: optional(unitCost),
        valueChange: statedValue,
        reasonId: optional(id),
        note: optional(textOfLines(noteMax)),
      }),
    )
    .max(linesPerOrderMax)
    .check(noRepeats((line) => line.stockAdjustmentLineItemId, "stockAdjustmentLineItemId"))
    .check(representable((line) => [adjustmentLineChange(line)]))
    .default([]),
  itemCount: derived,
  netQuantityChange: derived,
  netValueChange: derived,
});

async function stockAdjustmentFrom(
  { createdAt, appliedAt, ...draft }: z.output<typeof stockAdjustmentInput>,
  context: ApplyContext,
): Promise<StockAdjustment> {
  const currencyCode = draft.currencyCode ?? context.shop.currencyCode;
  const variants = await variantsOf(context, draft.lineItems);
  const lineItems = draft.lineItems.map((line) => ({
    ...line,
    stockAdjustmentLineItemId: line.stockAdjustmentLineItemId ?? context.ids.next("sal"),
    sku: filled(line.sku, variants.get(line.variantId)?.sku),
    valueChange: worthOf(adjustmentLineChange(line), currencyCode),
  }));
  return {
    stockAdjustmentId: draft.stockAdjustmentId,
    stockAdjustmentNumber: draft.stockAdjustmentNumber,
    status: draft.status,
    locationId: draft.locationId,
    reasonId: draft.reasonId,
    reason: await reasonOf(context, draft),
    ...adjustmentTotals(lineItems, currencyCode),
    currencyCode,
    createdBy: draft.createdBy,
    createdAtMs: createdAt ?? context.nowMs,
    appliedAtMs: appliedAt,
    revertOf: draft.revertOf,
    revertedBy: draft.revertedBy,
    note: draft.note,
    lineItems,
  };
}

export const stockAdjustmentType = readOnlyType({
  type: "stockAdjustment",
  input: stockAdjustmentInput,
  table: stockAdjustmentTable,
  recordId: (draft) => draft.stockAdjustmentId,
  weight: (draft) => 1 + draft.lineItems.length,
  resource: stockAdjustmentFrom,
  statements: stockAdjustmentStatements,
  header: stockAdjustmentHeaderJson,
  parts: {
    lineItems: recordParts(
      stockAdjustmentLines,
      stockAdjustmentLineJson,
      ({ lineItems }: StockAdjustment) => lineItems,
    ),
  },
});
