/** For each operation, an order in a state in which it succeeds, and the input to send. */
import type { Status } from "../../../src/core/order/purchase-order.ts";
import { lineA, type OrderLine } from "../goods-server.ts";

const received: OrderLine = { ...lineA, quantityConfirmed: 10, quantityReceived: 4, quantitySynced: 4 };
const confirmed: OrderLine = { ...lineA, quantityConfirmed: 10 };
/** The order's status and line, and the input with which the operation succeeds. */
export const ready: Readonly<Record<string, readonly [status: Status, line: OrderLine, input: object]>> = {
  purchase_order_line_item_add: ["Draft", lineA, { lineItems: [{ variantId: "blue", quantityOrdered: 1 }] }],
  purchase_order_line_item_update: ["Draft", lineA, { lines: [{ lineItemId: "a", note: "x" }], updateSupplier: false }],
  purchase_order_line_item_delete: ["Draft", lineA, { lineItemIds: ["a"] }],
  purchase_order_confirm: ["Sent", lineA, { confirmAll: true, lines: undefined }],
  purchase_order_receive: ["In Progress", confirmed, { lines: [{ lineItemId: "a", quantityReceived: 5 }] }],
  purchase_order_unreceive: ["Partially Received", received, { lines: [{ lineItemId: "a", quantity: 1 }] }],
  purchase_order_complete: ["Partially Received", received, {}],
  purchase_order_quick_complete: ["In Progress", confirmed, {}],
  purchase_order_storefront_sync: ["Partially Received", { ...received, quantitySynced: 0 }, {}],
};
/** Ids of the records that the tests import. */
export const ids = {
  purchaseOrderId: "po_1",
  stockTakeId: "st_1",
  stockAdjustmentId: "sa_1",
  transferOrderId: "to_1",
  manufacturingOrderId: "mo_1",
  viewId: "view_1",
};
export const view = { type: "forecastView", viewId: "view_1", viewName: "All", mode: "stock", columns: ["onHand"] };
