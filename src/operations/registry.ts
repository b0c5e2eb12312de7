/**
 * The list of all operations. Surfaces, documents and generated tests read only this list.
 */
import { listActivity } from "./agent/activity.ts";
import { ordersNeedingAttention } from "./agent/attention.ts";
import { readGuide } from "./agent/guides.ts";
import { listLocations } from "./agent/locations.ts";
import { purchaseReport } from "./agent/report.ts";
import { reorderFromView } from "./agent/reorder.ts";
import { rescheduleOrders } from "./agent/reschedule.ts";
import { listSuppliers, updateSupplier } from "./agent/suppliers.ts";
import { getOwnRequest, listOwnRequests, withdrawOwnRequest } from "./approvals/tools.ts";
import { searchVariants } from "./agent/variants.ts";
import { forecastViewOperations } from "./forecast-views.ts";
import { manufacturingOrderOperations } from "./manufacturing-orders.ts";
import { isRestOperation, type Operation, type RestOperation } from "../requests/operation.ts";
import { commentTool } from "./purchase-orders/comments.ts";
import { completeOrder, quickCompleteOrder } from "./purchase-orders/goods/complete.ts";
import { confirmQuantities } from "./purchase-orders/goods/confirm.ts";
import { createPurchaseOrder, deletePurchaseOrder, updatePurchaseOrder } from "./purchase-orders/header.ts";
import { addCustomLineItem, addLineItems, deleteLineItems, updateLineItems } from "./purchase-orders/lines.ts";
import {
  getAddresses,
  getPurchaseOrder,
  getReceiptSchedule,
  getShipment,
  listCostSyncHistory,
  listCredits,
  listDocuments,
  listLineItems,
  listLog,
  listPayments,
  listPurchaseOrders,
  listShipments,
} from "./purchase-orders/reads.ts";
import { receiveGoods, unreceiveGoods } from "./purchase-orders/goods/receive.ts";
import { changeStatus } from "./purchase-orders/status.ts";
import { resetStorefrontSync, syncStorefront } from "./purchase-orders/goods/sync.ts";
import { stockAdjustmentOperations } from "./stock-adjustments.ts";
import { stockTakeOperations } from "./stock-takes.ts";
import { transferOrderOperations } from "./transfer-orders.ts";
import { registerOperations } from "../requests/wording.ts";

export const operations: readonly Operation[] = [
  listPurchaseOrders,
  getPurchaseOrder,
  listLineItems,
  listPayments,
  listDocuments,
  getShipment,
  listShipments,
  getAddresses,
  getReceiptSchedule,
  listCostSyncHistory,
  listLog,
  listCredits,
  createPurchaseOrder,
  updatePurchaseOrder,
  deletePurchaseOrder,
  addLineItems,
  addCustomLineItem,
  updateLineItems,
  deleteLineItems,
  changeStatus,
  confirmQuantities,
  receiveGoods,
  unreceiveGoods,
  completeOrder,
  quickCompleteOrder,
  syncStorefront,
  resetStorefrontSync,
  ...stockTakeOperations,
  ...stockAdjustmentOperations,
  ...transferOrderOperations,
  ...manufacturingOrderOperations,
  ...forecastViewOperations,
  listSuppliers,
  updateSupplier,
  listLocations,
  searchVariants,
  ordersNeedingAttention,
  reorderFromView,
  commentTool,
  rescheduleOrders,
  purchaseReport,
  listActivity,
  readGuide,
  listOwnRequests,
  getOwnRequest,
  withdrawOwnRequest,
];

registerOperations(operations);

/** Operations that REST has a path for. */
export const restOperations: readonly RestOperation[] = operations.filter(isRestOperation);
