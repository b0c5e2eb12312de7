/**
 * Transfer orders between SQL and core.
 */
import type { OrderDocument, Shipment } from "../../core/order/attachments.ts";
import type { Address } from "../../core/order/purchase-order.ts";
import type { TransferLine, TransferOrderHeader, TransferOrderStatus } from "../../core/stock/transfer-orders.ts";
import { placeholders, selectIn } from "../../store/in-lists.ts";
import type { Statement, Tx } from "../../store/store.ts";
import type { LogEntry } from "../order/purchase-order-history.ts";
import { caseForms } from "../code-forms.ts";
import { type Fragment, joined } from "../fragment.ts";
import {
  type ResourceQuery,
  type ResourceTable,
  between,
  contains,
  equal,
  logKind,
  oneOf,
  partKind,
  partRows,
  resourceQuery,
  resourceStatements,
} from "./read-only.ts";

export const transferOrderTable: ResourceTable<TransferOrderHeader> = {
  name: "transfer_order",
  idColumn: "transfer_order_id",
  idOf: (header) => header.transferOrderId,
  searched: (header) => [header.transferNumber, header.transferName],
  columns: {
    transfer_number: (header) => header.transferNumber,
    status: (header) => header.status,
    from_location_id: (header) => header.fromLocationId,
    to_location_id: (header) => header.toLocationId,
  },
};

export const transferLines = partKind(
  "transfer_order",
  "line",
  (line: TransferLine) => line.transferLineItemId,
  (line) => line,
);

export const transferShipments = partKind("transfer_order", "shipment", (shipment: Shipment) => shipment.shipmentId);

export const transferDocuments = partKind(
  "transfer_order",
  "document",
  (document: OrderDocument) => document.documentId,
);

export const transferLog = logKind("transfer_order");

/** The addresses of these locations, by location; locations without one are left out. */
export async function loadLocationAddresses(
  tx: Tx,
  shopId: string,
  locationIds: readonly string[],
): Promise<ReadonlyMap<string, Address>> {
  const rows = await selectIn<{ readonly location_id: string; readonly address: string }>(
    tx,
    "select location_id, address from location where shop_id = ? and address is not null and location_id in (?)",
    [shopId],
    locationIds,
  );
  const addresses = new Map<string, Address>();
  for (const row of rows) {
    const address: Address = JSON.parse(row.address);
    addresses.set(row.location_id, address);
  }
  return addresses;
}

/** A transfer order with all its parts. */
export interface TransferOrder extends TransferOrderHeader {
  readonly lineItems: readonly TransferLine[];
  readonly shipments: readonly Shipment[];
  readonly documents: readonly OrderDocument[];
  readonly log: readonly LogEntry[];
}

/** Stores the transfer order, replacing the one with its id. */
export const transferOrderStatements = (
  shopId: string,
  { lineItems, shipments, documents, log, ...header }: TransferOrder,
): readonly Statement[] =>
  resourceStatements(shopId, transferOrderTable, header, [
    partRows(transferLines, lineItems),
    partRows(transferShipments, shipments),
    partRows(transferDocuments, documents),
    partRows(transferLog, log),
  ]);

/** Null: no such filter. */
interface TransferOrderFilters {
  readonly statuses: readonly TransferOrderStatus[] | null;
  readonly fromLocationId: string | null;
  readonly toLocationId: string | null;
  /** Transfers with a line of this variant. */
  readonly variantId: string | null;
  /** Transfers with a line of this SKU, whatever the case and the blanks around it. */
  readonly sku: string | null;
  readonly search: string | null;
  readonly createdFromMs: number | null;
  readonly createdBeforeMs: number | null;
}

/** The transfers with a line of the variant and one of the SKU; null when neither is asked for. */
function transferLineSource(shopId: string, filters: TransferOrderFilters): Fragment | null {
  const byLine = (column: string, values: readonly string[] | null): readonly Fragment[] =>
    values === null
      ? []
      : [
          {
            sql: `select record_id from read_only_part
                  where shop_id = ? and resource = 'transfer_order' and kind = 'line' and ${column} in (${placeholders(values.length)})`,
            params: [shopId, ...values],
          },
        ];
  const { variantId, sku } = filters;
  const lines = [
    ...byLine("variant_id", variantId === null ? null : [variantId]),
    ...byLine("lower(sku)", sku === null ? null : caseForms(sku.trim())),
  ];
  return lines.length === 0 ? null : joined(lines, " intersect ");
}

export const transferOrderQuery = (shopId: string, filters: TransferOrderFilters): ResourceQuery =>
  resourceQuery(
    transferLineSource(shopId, filters),
    [
      ...equal("from_location_id", filters.fromLocationId),
      ...equal("to_location_id", filters.toLocationId),
      ...between("created_at", filters.createdFromMs, filters.createdBeforeMs),
      ...contains(filters.search),
    ],
    oneOf("status", filters.statuses),
  );
