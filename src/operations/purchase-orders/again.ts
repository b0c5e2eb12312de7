/**
 * Ordering again: a new Draft with the supplier, the location and the quantities of an order, at today's terms (C86a).
 * REST has it in the admin API.
 *
 * Does not own: how a Draft is made (header.ts), the terms of a line (core/supplier/supplier-terms.ts).
 */
import { z } from "zod";
import type { NewLine } from "../../core/order/edit.ts";
import { isCustom } from "../../core/order/lines.ts";
import { type LineItem, customVariantPrefix } from "../../core/order/purchase-order.ts";
import { articleFields, lineCostFields, supplierFields, valuesFrom } from "../../core/order/purchase-order-fields.ts";
import { operation } from "../../requests/operation.ts";
import { loadEnded } from "../../shop/catalogue/catalogue.ts";
import { nextPoNumber } from "../../shop/order/purchase-orders.ts";
import { faults, orderToChange, path, saveFor, write } from "./access.ts";
import { decidedDraft } from "./header.ts";
import { etagOf, lineSchema, lineJson, purchaseOrderId, purchaseOrderJson, purchaseOrderSchema } from "./json.ts";
import { newDraftInQuestion, warningsIn, warningsShape } from "./warnings.ts";

const skippedSchema = z.strictObject({ lineItem: lineSchema, reason: z.enum(["archived", "deleted"]) }).meta({
  description: "A line that is not ordered again: its variant is archived, or not in the catalogue any more.",
});

/** The line of a new order, with what only the line that it repeats knows: a custom article, or the last cost. */
function repeated(line: NewLine, source: LineItem): NewLine {
  if (isCustom(source))
    return {
      ...line,
      ...valuesFrom({ ...articleFields, ...lineCostFields, ...supplierFields }, source),
      variantId: `${customVariantPrefix}${line.poLineItemId}`,
      isCustom: true,
    };
  const { unitCost, unitCostCurrencyCode } = source;
  return line.unitCost === undefined && unitCost !== 0 ? { ...line, unitCost, unitCostCurrencyCode } : line;
}

export const orderAgain = operation({
  ...write,
  name: "purchase_order_again",
  title: "Order again",
  summary: "Makes a Draft with the supplier, location, currency and quantities of an order, at today's terms.",
  description:
    "Whatever the status of the order, which stays as it is. Costs and the supplier's fields are what its entries say now; a cost that nobody knows any more is the order's. Custom lines are copied.",
  route: { method: "POST", path: `${path}/order-again` },
  success: 201,
  repeat: "adds-again",
  destructive: false,
  faults,
  input: z.strictObject({ purchaseOrderId }),
  output: z.strictObject({
    purchaseOrder: purchaseOrderSchema,
    skipped: z.array(skippedSchema),
    ...warningsShape,
  }),
  run: (call, input) =>
    call.commit(async (tx) => {
      const { shopId } = call.shop;
      const source = await orderToChange(tx, call, input.purchaseOrderId);
      const { supplierId, locationId, currencyCode } = source;
      const catalogueIds = source.lineItems.flatMap((line) => (isCustom(line) ? [] : line.variantId));
      const ended = await loadEnded(tx, shopId, [...new Set(catalogueIds)]);
      const kept = source.lineItems.filter((line) => !ended.has(line.variantId));
      const { decided, lines } = await decidedDraft(tx, call, {
        purchaseOrderId: call.ids.next("po"),
        poNumber: nextPoNumber(tx, shopId),
        header: { supplierId, locationId, currencyCode },
        lineItems: kept.map((line) => ({ variantId: line.variantId, quantityOrdered: line.quantityOrdered })),
        complete: (line, index) => {
          const of = kept[index];
          return of === undefined ? line : repeated(line, of);
        },
        repeats: { poNumber: source.poNumber, leftOut: source.lineItems.length - kept.length },
      });
      await saveFor(tx, call, null, decided);
      const { next } = decided;
      const warnings = await warningsIn(tx, call, decided, newDraftInQuestion(next, lines));
      const skipped = source.lineItems.flatMap((line) => {
        const reason = ended.get(line.variantId);
        return reason === undefined ? [] : [{ lineItem: lineJson(line), reason }];
      });
      return {
        effects: [],
        answer: () => ({
          data: { purchaseOrder: purchaseOrderJson(next), skipped, ...warnings },
          location: `/api/v1/purchase-orders/${next.purchaseOrderId}`,
          etag: etagOf(next),
        }),
      };
    }),
});
