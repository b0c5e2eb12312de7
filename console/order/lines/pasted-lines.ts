/** Rows of a sheet as lines of an order. Pure; the look-up of codes comes as a map. */
import type { CatalogueLineInput } from "../../../client/index.ts";
import type { PasteColumn, PastedRow } from "../../parts/fields/pasted-rows.ts";
import { texts } from "../../texts/en/texts.ts";

const words = texts.addLines.rowFaults;

export const lineColumns: readonly PasteColumn[] = [
  { name: "code", head: /sku|code|ean|article|variant/, fault: words.code },
  { name: "quantityOrdered", kind: "count", head: /qty|quant/, fault: words.quantity },
  { name: "unitCost", kind: "amount", head: /cost|price/, fault: words.cost },
  { name: "expectedDeliveryDate", kind: "date", head: /date/, fault: words.date },
];

/** The rows as lines, each with the variant that its code stands for. */
export const linesOf = (
  rows: readonly PastedRow[],
  variantIds: ReadonlyMap<string, string>,
): readonly CatalogueLineInput[] =>
  rows.flatMap(({ code, values: { quantityOrdered, ...values } }) => {
    const variantId = variantIds.get(code);
    return variantId === undefined ? [] : { variantId, quantityOrdered: Number(quantityOrdered), ...values };
  });
