import type { OrderDocument, Shipment } from "../core/attachments.ts";
import type { Address } from "../core/purchase-order.ts";
import type { TransferLine, TransferOrderHeader, TransferOrderStatus } from "../core/transfer-orders.ts";
import { chunksOf, inListMax, placeholders } from "../store/in-lists.ts";
import type { Statement, Tx } from "../store/store.ts";
import type { LogEntry } from "./purchase-order-history.ts";
import { type Fragment, joined } from "./purchase-order-list.ts";
import {
  type HeaderTable,
  type PartKind,
  type ReadOnlyQuery,
  alternatives,
  between,
  equal,
  headerStatements,
  partStatements,
  queryOf,
  searchable,
  searched,
} from "./read-only.ts";

export const transferOrderTable: HeaderTable<TransferOrderHeader> = {
  name: "transfer_order",
  idColumn: "transfer_order_id",
  idOf: (header) => header.transferOrderId,
  columns: {
    created_at: (header) => header.createdAtMs,
    search_folded: (header) => searchable(header.transferNumber, header.transferName),
    transfer_number: (header) => header.transferNumber,
    status: (header) => header.status,
    from_location_id: (header) => header.fromLocationId,
    to_location_id: (header) => header.toLocationId,
  },
};

export const transferLines: PartKind<TransferLine> = {
  resource: "transfer_order",
  kind: "line",
  idOf: (line) => line.transferLineItemId,
  variant: (line) => line,
  at: null,
};

export const transferShipments: PartKind<Shipment> = {
  resource: "transfer_order",
  kind: "shipment",
  idOf: (shipment) => shipment.shipmentId,
  variant: null,
  at: null,
};

export const transferDocuments: PartKind<OrderDocument> = {
  resource: "transfer_order",
  kind: "document",
  idOf: (document) => document.documentId,
  variant: null,
  at: null,
};

export const transferLog: PartKind<LogEntry> = {
  resource: "transfer_order",
  kind: "log",
  idOf: (entry) => entry.logId,
  variant: null,
  at: (entry) => entry.occurredAtMs,
};

interface AddressRow {
  readonly location_id: string;
  readonly address: string;
}

/** The addresses of these locations, by location; those without one are left out. */
export async function loadLocationAddresses(
  tx: Tx,
  shopId: string,
  locationIds: readonly string[],
): Promise<ReadonlyMap<string, Address>> {
  const addresses = new Map<string, Address>();
  for (const ids of chunksOf(locationIds, inListMax)) {
    const rows = await tx.all<AddressRow>(
      `select location_id, address from location
       where shop_id = ? and address is not null and location_id in (${placeholders(ids.length)})`,
      [shopId, ...ids],
    );
    for (const row of rows) {
      const address: Address = JSON.parse(row.address);
      addresses.set(row.location_id, address);
    }
  }
  return addresses;
}

// Storing.

/** A transfer order with all its parts. */
export interface TransferOrder extends TransferOrderHeader {
  readonly lineItems: readonly TransferLine[];
  readonly shipments: readonly Shipment[];
  readonly documents: readonly OrderDocument[];
  /** Newest first. */
  readonly log: readonly LogEntry[];
}

/** Stores the transfer order, replacing the one with its id. */
export function transferOrderStatements(
  shopId: string,
  { lineItems, shipments, documents, log, ...header }: TransferOrder,
): readonly Statement[] {
  const recordId = header.transferOrderId;
  return [
    ...headerStatements(shopId, transferOrderTable, header),
    ...partStatements(shopId, transferLines, recordId, lineItems),
    ...partStatements(shopId, transferShipments, recordId, shipments),
    ...partStatements(shopId, transferDocuments, recordId, documents),
    ...partStatements(shopId, transferLog, recordId, log),
  ];
}

/** Null: not filtered by it. */
export interface TransferOrderFilters {
  readonly statuses: readonly TransferOrderStatus[] | null;
  readonly fromLocationId: string | null;
  readonly toLocationId: string | null;
  /** Transfers with a line of this variant. */
  readonly variantId: string | null;
  /** Transfers with a line of this SKU, exactly as it is spelled. */
  readonly sku: string | null;
  readonly search: string | null;
  readonly createdFromMs: number | null;
  readonly createdBeforeMs: number | null;
}

function transferLineSource(shopId: string, filters: TransferOrderFilters): Fragment | null {
  const byLine = (column: string, value: string | null): readonly Fragment[] =>
    value === null
      ? []
      : [
          {
            sql: `select record_id from read_only_part
                  where shop_id = ? and resource = 'transfer_order' and kind = 'line' and ${column} = ?`,
            params: [shopId, value],
          },
        ];
  const lines = [...byLine("variant_id", filters.variantId), ...byLine("sku", filters.sku)];
  return lines.length === 0 ? null : joined(lines, " intersect ");
}

export const transferOrderQuery = (shopId: string, filters: TransferOrderFilters): ReadOnlyQuery =>
  queryOf(
    transferLineSource(shopId, filters),
    [
      ...equal("from_location_id", filters.fromLocationId),
      ...equal("to_location_id", filters.toLocationId),
      ...between("created_at", filters.createdFromMs, filters.createdBeforeMs),
      ...searched(filters.search),
    ],
    alternatives("status", filters.statuses),
  );
