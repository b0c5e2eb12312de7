/**
 * Import and export records of stock takes and of their reasons (contract §8, §9).
 */
import { z } from "zod";
import { zeroQuantity } from "../../core/money/money.ts";
import { linesPerOrderMax } from "../../core/order/purchase-order.ts";
import {
  type StockTake,
  type StockTakeReason,
  countTypes,
  reasonDirections,
  stockTakeLineChange,
  stockTakeStatuses,
  stockTakeTotals,
} from "../../core/stock/stock-takes.ts";
import { worthOf } from "../../core/money/valued-quantity.ts";
import {
  codeText,
  currencyCode,
  id,
  noRepeats,
  noteMax,
  productNameMax,
  quantity,
  text,
  textOfLines,
  unitCost,
} from "../../operations/fields.ts";
import { stockTakeHeaderJson, stockTakeLineJson } from "../../operations/stock-takes.ts";
import { stockTakeLines, stockTakeStatements, stockTakeTable } from "../../shop/stock/stock-takes.ts";
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

export const reasonInput = z
  .strictObject({
    type: z.literal("stockTakeReason"),
    reasonId: id,
    name: shortText,
    code: optional(shortText),
    direction: z.enum(reasonDirections).default("both"),
    isSystem: z.boolean().default(false),
    isActive: z.boolean().default(true),
  })
  .transform(({ type: _type, ...reason }): StockTakeReason => reason);

const stockTakeInput = z.strictObject({
  type: z.literal("stockTake"),
  stockTakeId: id,
  stockTakeNumber: optional(shortText),
  stockTakeName: optional(shortText),
  status: z.enum(stockTakeStatuses).default("Draft"),
  locationId: optional(id),
  countType: z.enum(countTypes).default("full"),
  reasonId: optional(id),
  reason: fillable(shortText),
  currencyCode: currencyCode.nullable().optional(),
  stockAdjustmentId: optional(id),
  createdBy: optional(shortText),
  createdAt: instantMs.optional(),
  startedAt: optional(instantMs),
  completedAt: optional(instantMs),
  note: optional(textOfLines(noteMax)),
  lineItems: z
    .array(
      z.strictObject({
        stockTakeLineItemId: id.optional(),
        variantId: id,
        sku: fillable(codeText),
        productName: fillable(text(productNameMax)),
        quantityExpected: signedQuantity.default(zeroQuantity),
        quantityCounted: optional(quantity),
        unitCost: optional(unitCost),
        valueVariance: statedValue,
        reasonId: optional(id),
        countedBy: optional(shortText),
        countedAt: optional(instantMs),
        note: optional(textOfLines(noteMax)),
        quantityVariance: derived,
      }),
    )
    .max(linesPerOrderMax)
    .check(noRepeats((line) => line.stockTakeLineItemId, "stockTakeLineItemId"))
    .check(representable((line) => stockTakeLineChange(line)))
    .default([]),
  itemCount: derived,
  countedItemCount: derived,
  netQuantityChange: derived,
  netValueChange: derived,
});

async function stockTakeFrom(
  { createdAt, startedAt, completedAt, ...draft }: z.output<typeof stockTakeInput>,
  context: ApplyContext,
): Promise<StockTake> {
  const currencyCode = draft.currencyCode ?? context.shop.currencyCode;
  const variants = await variantsOf(
    context,
    draft.lineItems,
    (line) => line.sku !== undefined && line.productName !== undefined,
  );
  const lineItems = draft.lineItems.map(({ quantityVariance: _derived, countedAt, ...line }) => {
    const [change] = stockTakeLineChange(line);
    return {
      ...line,
      stockTakeLineItemId: line.stockTakeLineItemId ?? context.ids.next("stl"),
      sku: filled(line.sku, variants.get(line.variantId)?.sku),
      productName: filled(line.productName, variants.get(line.variantId)?.productName),
      valueVariance: change === undefined ? null : worthOf(change, currencyCode),
      countedAtMs: countedAt,
    };
  });
  return {
    stockTakeId: draft.stockTakeId,
    stockTakeNumber: draft.stockTakeNumber,
    stockTakeName: draft.stockTakeName,
    status: draft.status,
    locationId: draft.locationId,
    countType: draft.countType,
    reasonId: draft.reasonId,
    reason: await reasonOf(context, draft),
    ...stockTakeTotals(lineItems, currencyCode),
    currencyCode,
    stockAdjustmentId: draft.stockAdjustmentId,
    createdBy: draft.createdBy,
    createdAtMs: createdAt ?? context.nowMs,
    startedAtMs: startedAt,
    completedAtMs: completedAt,
    note: draft.note,
    lineItems,
  };
}

export const stockTakeType = readOnlyType({
  type: "stockTake",
  input: stockTakeInput,
  table: stockTakeTable,
  recordId: (draft) => draft.stockTakeId,
  weight: (draft) => 1 + draft.lineItems.length,
  resource: stockTakeFrom,
  statements: stockTakeStatements,
  header: stockTakeHeaderJson,
  parts: { lineItems: recordParts(stockTakeLines, stockTakeLineJson, ({ lineItems }: StockTake) => lineItems) },
});
