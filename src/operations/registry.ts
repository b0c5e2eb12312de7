/**
 * Every operation there is. Surfaces, documents and generated tests read this list and nothing else.
 */
import { forecastViewOperations } from "./forecast-views.ts";
import { manufacturingOrderOperations } from "./manufacturing-orders.ts";
import type { Operation } from "./operation.ts";
import { purchaseOrderGoods } from "./purchase-order-goods.ts";
import { purchaseOrderReads } from "./purchase-order-reads.ts";
import { purchaseOrderWrites } from "./purchase-order-writes.ts";
import { stockAdjustmentOperations } from "./stock-adjustments.ts";
import { stockTakeOperations } from "./stock-takes.ts";
import { transferOrderOperations } from "./transfer-orders.ts";

export const operations: readonly Operation[] = [
  ...purchaseOrderReads,
  ...purchaseOrderWrites,
  ...purchaseOrderGoods,
  ...stockTakeOperations,
  ...stockAdjustmentOperations,
  ...transferOrderOperations,
  ...manufacturingOrderOperations,
  ...forecastViewOperations,
];
