/**
 * Every operation there is. Surfaces, documents and generated tests read this list and nothing else.
 */
import { forecastViewOperations } from "./forecast-views.ts";
import type { Operation } from "./operation.ts";
import { purchaseOrderGoods } from "./purchase-order-goods.ts";
import { purchaseOrderReads } from "./purchase-order-reads.ts";
import { purchaseOrderWrites } from "./purchase-order-writes.ts";

export const operations: readonly Operation[] = [
  ...purchaseOrderReads,
  ...purchaseOrderWrites,
  ...purchaseOrderGoods,
  ...forecastViewOperations,
];
