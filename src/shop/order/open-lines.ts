/**
 * Lines of open orders by the code on a box (C52): what a scan at the dock asks.
 */
import { type CodeMatch, type ScannedCode, codeMatch, scannedCode } from "../../core/goods/codes.ts";
import { type Quantity, asQuantity, quantityToNumber } from "../../core/money/money.ts";
import { pendingQuantity } from "../../core/order/lines.ts";
import type { Status } from "../../core/order/purchase-order.ts";
import { openStatuses } from "../../core/order/status.ts";
import { selectIn } from "../../store/in-lists.ts";
import type { Tx } from "../../store/store.ts";
import { formsOfCode } from "../code-forms.ts";
import { articlesWith, isOneOf, orderIdsOf } from "../order-list/order-search.ts";

/** A line of an open order. */
export interface OpenLine {
  readonly purchaseOrderId: string;
  readonly poNumber: string;
  readonly status: Status;
  readonly supplierId: string | null;
  readonly supplierName: string | null;
  readonly locationId: string | null;
  readonly locationName: string | null;
  readonly nextExpectedDate: string | null;
  readonly poLineItemId: string;
  readonly variantId: string;
  readonly productName: string | null;
  readonly variantName: string | null;
  readonly sku: string | null;
  readonly barcode: string | null;
  readonly supplierSku: string | null;
  readonly supplierBarcode: string | null;
  readonly quantityOrdered: Quantity;
  readonly quantityReceived: Quantity;
  readonly quantityPending: Quantity;
  readonly matchedBy: CodeMatch["matchedBy"];
  /** The pieces of one scan. */
  readonly countsAs: Quantity;
  readonly countsAsReason: CodeMatch["countsAsReason"];
}

interface OpenLineRow {
  readonly purchase_order_id: string;
  readonly po_number: string;
  readonly status: Status;
  readonly supplier_id: string | null;
  readonly supplier_name: string | null;
  readonly location_id: string | null;
  readonly location_name: string | null;
  readonly next_expected_date: string | null;
  readonly po_line_item_id: string;
  readonly variant_id: string;
  readonly product_name: string | null;
  readonly variant_name: string | null;
  readonly sku: string | null;
  readonly barcode: string | null;
  readonly supplier_sku: string | null;
  readonly supplier_barcode: string | null;
  readonly pack_size: number | null;
  readonly quantity_ordered: number;
  readonly quantity_confirmed: number;
  readonly quantity_received: number;
  readonly quantity_rejected: number;
  readonly quantity_cancelled: number;
}

const selectLines = `
select o.purchase_order_id, o.po_number, o.status, o.supplier_id, s.name as supplier_name, o.location_id, p.name as location_name,
  o.next_expected_date, l.po_line_item_id, l.variant_id, l.product_name, l.variant_name, l.sku, l.barcode, l.supplier_sku,
  l.supplier_barcode, l.pack_size, l.quantity_ordered, l.quantity_confirmed, l.quantity_received, l.quantity_rejected, l.quantity_cancelled
from purchase_order_line l
  join purchase_order o on o.shop_id = l.shop_id and o.purchase_order_id = l.purchase_order_id
  left join supplier s on s.shop_id = o.shop_id and s.supplier_id = o.supplier_id
  left join location p on p.shop_id = o.shop_id and p.location_id = o.location_id
where l.shop_id = ? and l.purchase_order_id in (?)`;

const openLineFrom = (row: OpenLineRow, { matchedBy, countsAs, countsAsReason }: CodeMatch): OpenLine => {
  const quantities = {
    quantityOrdered: asQuantity(row.quantity_ordered),
    quantityConfirmed: asQuantity(row.quantity_confirmed),
    quantityReceived: asQuantity(row.quantity_received),
    quantityRejected: asQuantity(row.quantity_rejected),
    quantityCancelled: asQuantity(row.quantity_cancelled),
  };
  return {
    purchaseOrderId: row.purchase_order_id,
    poNumber: row.po_number,
    status: row.status,
    supplierId: row.supplier_id,
    supplierName: row.supplier_name,
    locationId: row.location_id,
    locationName: row.location_name,
    nextExpectedDate: row.next_expected_date,
    poLineItemId: row.po_line_item_id,
    variantId: row.variant_id,
    productName: row.product_name,
    variantName: row.variant_name,
    sku: row.sku,
    barcode: row.barcode,
    supplierSku: row.supplier_sku,
    supplierBarcode: row.supplier_barcode,
    quantityOrdered: quantities.quantityOrdered,
    quantityReceived: quantities.quantityReceived,
    quantityPending: pendingQuantity(quantities),
    matchedBy,
    countsAs: asQuantity(Math.round(countsAs * 1_000)),
    countsAsReason,
  };
};

/** Most pending first, then the oldest order. */
const byPending = (one: OpenLine, other: OpenLine): number =>
  other.quantityPending - one.quantityPending ||
  (one.purchaseOrderId < other.purchaseOrderId ? -1 : one.purchaseOrderId > other.purchaseOrderId ? 1 : 0) ||
  (one.poLineItemId < other.poLineItemId ? -1 : 1);

const matchOf = (scan: ScannedCode, row: OpenLineRow): CodeMatch | null =>
  codeMatch(scan, {
    barcode: row.barcode,
    supplierBarcode: row.supplier_barcode,
    sku: row.sku,
    supplierSku: row.supplier_sku,
    packSize: row.pack_size === null ? null : quantityToNumber(asQuantity(row.pack_size)),
  });

/** Lines of open orders that carry this code, custom lines included; each once, most pending first. */
export async function openLinesWith(tx: Tx, shopId: string, code: string): Promise<readonly OpenLine[]> {
  const scan = scannedCode(code);
  const forms = formsOfCode(code);
  if (forms.length === 0) return [];
  const ids = await orderIdsOf(tx, shopId, async () => ({
    columns: { status: isOneOf(openStatuses) },
    articles: [await articlesWith(tx, shopId, ["barcode", "supplierBarcode", "sku", "supplierSku"], forms)],
  }));
  const rows = await selectIn<OpenLineRow>(tx, selectLines, [shopId], ids);
  const lines = rows.flatMap((row) => {
    const match = matchOf(scan, row);
    return match === null ? [] : [openLineFrom(row, match)];
  });
  return lines.sort(byPending);
}
