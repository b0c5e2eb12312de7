/** Lines of an order, as they are counted and as they are called. */
import type { PurchaseOrder } from "../../client/index.ts";
import type { CountedLine } from "./amounts.ts";

export type Item = PurchaseOrder["lineItems"][number];

export const lineOf = (item: Item): CountedLine => ({
  lineId: item.poLineItemId,
  variantId: item.variantId,
  codes: [item.barcode, item.supplierBarcode, item.sku, item.supplierSku],
  packSize: item.packSize,
  base: item.quantityConfirmed > 0 ? item.quantityConfirmed : item.quantityOrdered,
  totals: { received: item.quantityReceived, rejected: item.quantityRejected, cancelled: item.quantityCancelled },
});

export const nameOf = ({
  productName,
  variantName,
  variantId,
}: Pick<Item, "productName" | "variantName" | "variantId">): string =>
  [productName ?? variantId, variantName].filter((part) => part !== null).join(" · ");

/** The product of a line of the order. */
export const productOf = (order: Pick<PurchaseOrder, "lineItems">, lineId: string): string => {
  const item = order.lineItems.find(({ poLineItemId }) => poLineItemId === lineId);
  return item === undefined ? lineId : nameOf(item);
};
