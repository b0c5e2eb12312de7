/**
 * Lines of open orders by the code on a box (C52): what a scan at the dock asks.
 */
import { type CodeMatch, type ScannedCode, codeMatch, scannedCode } from "../../core/goods/codes.ts";
import { type Quantity, asQuantity, quantityToNumber } from "../../core/money/money.ts";
import { pendingQuantity } from "../../core/order/lines.ts";
import type { Header } from "../../core/order/purchase-order.ts";
import { openStatuses } from "../../core/order/status.ts";
import type { Tx } from "../../store/store.ts";
import { formsOfCode } from "../code-forms.ts";
import { articlesWith, isOneOf, orderIdsOf } from "../order-list/order-search.ts";
import { lineReader, type LineOf } from "./order-lines.ts";
import { loadHeaders } from "./purchase-orders.ts";

const linesOf = lineReader([
  "poLineItemId",
  "variantId",
  "productName",
  "variantName",
  "sku",
  "barcode",
  "supplierSku",
  "supplierBarcode",
  "packSize",
  "quantityOrdered",
  "quantityConfirmed",
  "quantityReceived",
  "quantityRejected",
  "quantityCancelled",
]);

type StoredLine = LineOf<typeof linesOf>;

/** A line of an open order. */
export interface OpenLine
  extends
    Pick<
      Header,
      | "purchaseOrderId"
      | "poNumber"
      | "status"
      | "supplierId"
      | "supplierName"
      | "locationId"
      | "locationName"
      | "nextExpectedDate"
    >,
    Omit<StoredLine, "packSize" | "quantityConfirmed" | "quantityRejected" | "quantityCancelled"> {
  readonly quantityPending: Quantity;
  readonly matchedBy: CodeMatch["matchedBy"];
  /** The pieces of one scan. */
  readonly countsAs: Quantity;
  readonly countsAsReason: CodeMatch["countsAsReason"];
}

const openLineFrom = (
  order: Header,
  line: StoredLine,
  { matchedBy, countsAs, countsAsReason }: CodeMatch,
): OpenLine => ({
  purchaseOrderId: order.purchaseOrderId,
  poNumber: order.poNumber,
  status: order.status,
  supplierId: order.supplierId,
  supplierName: order.supplierName,
  locationId: order.locationId,
  locationName: order.locationName,
  nextExpectedDate: order.nextExpectedDate,
  poLineItemId: line.poLineItemId,
  variantId: line.variantId,
  productName: line.productName,
  variantName: line.variantName,
  sku: line.sku,
  barcode: line.barcode,
  supplierSku: line.supplierSku,
  supplierBarcode: line.supplierBarcode,
  quantityOrdered: line.quantityOrdered,
  quantityReceived: line.quantityReceived,
  quantityPending: pendingQuantity(line),
  matchedBy,
  countsAs: asQuantity(Math.round(countsAs * 1_000)),
  countsAsReason,
});

/** Most pending first, then the oldest order. */
const byPending = (one: OpenLine, other: OpenLine): number =>
  other.quantityPending - one.quantityPending ||
  (one.purchaseOrderId < other.purchaseOrderId ? -1 : one.purchaseOrderId > other.purchaseOrderId ? 1 : 0) ||
  (one.poLineItemId < other.poLineItemId ? -1 : 1);

const matchOf = (scan: ScannedCode, { packSize, ...codes }: StoredLine): CodeMatch | null =>
  codeMatch(scan, { ...codes, packSize: packSize === null ? null : quantityToNumber(packSize) });

/** Lines of open orders that carry this code, custom lines included; each once, most pending first. */
export async function openLinesWith(tx: Tx, shopId: string, code: string): Promise<readonly OpenLine[]> {
  const scan = scannedCode(code);
  const forms = formsOfCode(code);
  if (forms.length === 0) return [];
  const ids = await orderIdsOf(tx, shopId, async () => ({
    columns: { status: isOneOf(openStatuses) },
    articles: [await articlesWith(tx, shopId, ["barcode", "supplierBarcode", "sku", "supplierSku"], forms)],
  }));
  const [orders, linesByOrder] = await Promise.all([loadHeaders(tx, shopId, ids), linesOf(tx, shopId, ids)]);
  const lines = orders.flatMap((order) =>
    (linesByOrder.get(order.purchaseOrderId) ?? []).flatMap((line) => {
      const match = matchOf(scan, line);
      return match === null ? [] : [openLineFrom(order, line, match)];
    }),
  );
  return lines.sort(byPending);
}
