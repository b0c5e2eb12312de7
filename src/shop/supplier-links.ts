/**
 * Links by which suppliers see one order and answer it (table `supplier_link`; C64).
 *
 * Owns: their SQL. Does not own: how secrets are made (core/secret.ts), who makes links (admin), what is shown by them (suppliers).
 */
import { type Header, statuses } from "../core/purchase-order.ts";
import type { Statement, Tx } from "../store/store.ts";

/** A link to one order. */
export interface SupplierLink {
  readonly linkId: string;
  readonly purchaseOrderId: string;
  /** Whom the order was for when the link was made; null: nobody. */
  readonly supplierId: string | null;
  readonly createdAtMs: number;
  /** The name of who made it. */
  readonly createdBy: string | null;
  readonly expiresAtMs: number;
  readonly revokedAtMs: number | null;
}

interface LinkRow {
  readonly link_id: string;
  readonly purchase_order_id: string;
  readonly supplier_id: string | null;
  readonly created_at: number;
  readonly created_by: string | null;
  readonly expires_at: number;
  readonly revoked_at: number | null;
}

const columns = "link_id, purchase_order_id, supplier_id, created_at, created_by, expires_at, revoked_at";

const linkFrom = (row: LinkRow): SupplierLink => ({
  linkId: row.link_id,
  purchaseOrderId: row.purchase_order_id,
  supplierId: row.supplier_id,
  createdAtMs: row.created_at,
  createdBy: row.created_by,
  expiresAtMs: row.expires_at,
  revokedAtMs: row.revoked_at,
});

/** Links of the order that are kept, newest first. */
export async function listSupplierLinks(
  tx: Tx,
  shopId: string,
  purchaseOrderId: string,
): Promise<readonly SupplierLink[]> {
  const rows = await tx.all<LinkRow>(
    `select ${columns} from supplier_link where shop_id = ? and purchase_order_id = ? order by link_id desc`,
    [shopId, purchaseOrderId],
  );
  return rows.map(linkFrom);
}

/** A link as it is found by its secret, with what decides whether it still leads anywhere. */
interface FoundLink extends SupplierLink {
  /** Null: the order is gone, or was deleted. */
  readonly order: Pick<Header, "status" | "supplierId"> | null;
}

/** The link with this secret and its order's state, in one statement: what has ended takes no less time than what has not. */
export async function findSupplierLink(tx: Tx, shopId: string, secretHash: string): Promise<FoundLink | null> {
  const [row] = await tx.all<LinkRow & { readonly status: string | null; readonly order_supplier_id: string | null }>(
    `select ${columns
      .split(", ")
      .map((column) => `k.${column}`)
      .join(", ")}, o.status, o.supplier_id as order_supplier_id
     from supplier_link k left join purchase_order o
       on o.shop_id = k.shop_id and o.purchase_order_id = k.purchase_order_id and o.deleted_at is null
     where k.shop_id = ? and k.secret_hash = ?`,
    [shopId, secretHash],
  );
  if (row === undefined) return null;
  const status = statuses.find((each) => each === row.status);
  return {
    ...linkFrom(row),
    order: status === undefined ? null : { status, supplierId: row.order_supplier_id },
  };
}

/** Adds a link, and deletes those that expired before `keptSinceMs`. */
export const supplierLinkStatements = (
  shopId: string,
  link: SupplierLink,
  secretHash: string,
  keptSinceMs: number,
): readonly Statement[] => [
  { sql: "delete from supplier_link where shop_id = ? and expires_at < ?", params: [shopId, keptSinceMs] },
  {
    sql: `insert into supplier_link (shop_id, secret_hash, ${columns}) values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    params: [
      shopId,
      secretHash,
      link.linkId,
      link.purchaseOrderId,
      link.supplierId,
      link.createdAtMs,
      link.createdBy,
      link.expiresAtMs,
      link.revokedAtMs,
    ],
  },
];

/** Revokes a link of the order; revoking again keeps the first time. @returns false when there is none. */
export async function revokeSupplierLink(
  tx: Tx,
  shopId: string,
  purchaseOrderId: string,
  linkId: string,
  nowMs: number,
): Promise<boolean> {
  const rows = await tx.all<{ link_id: string }>(
    `update supplier_link set revoked_at = coalesce(revoked_at, ?)
     where shop_id = ? and purchase_order_id = ? and link_id = ? returning link_id`,
    [nowMs, shopId, purchaseOrderId, linkId],
  );
  return rows.length === 1;
}
