/**
 * Links by which suppliers see one order and answer it (table `supplier_link`; C64).
 *
 * Owns: their SQL. Does not own: how secrets are made (base/secret.ts), who makes links (operations, admin), what is
 * shown by them (suppliers).
 *
 * A link has a row for each of its secrets, since only their hashes are stored. One that is made by itself has one
 * secret and one row. One that goes out by mail gets a secret with each attempt to send it, since nobody knows which
 * attempt has arrived. They are `slk_1`, whose own secret nobody has, then `slk_1.1`, `slk_1.2` and so on. Outside this
 * module all of these are the link `slk_1`.
 */
import type { Fields, ValuesOf } from "../../core/order/purchase-order-fields.ts";
import { type Header, statuses } from "../../core/order/purchase-order.ts";
import type { Tx } from "../../store/store.ts";
import { type Change, type Row, update, remove, orElse, below } from "../../store/change.ts";
import { columnList, columnsOf, insertInto, recordReader } from "../columns.ts";
import { tables } from "../tables.ts";

const linkFields = {
  linkId: { kind: "text" },
  purchaseOrderId: { kind: "text" },
  /** Whom the order was for when the link was made; null: nobody. */
  supplierId: { kind: "text", empty: null },
  createdAtMs: { kind: "instant" },
  /** The name of who made it. */
  createdBy: { kind: "text", empty: null },
  expiresAtMs: { kind: "instant" },
  revokedAtMs: { kind: "instant", empty: null },
} as const satisfies Fields;

/** A link to one order. */
export interface SupplierLink extends ValuesOf<typeof linkFields> {}

const linkFieldsFrom = recordReader<SupplierLink>(linkFields);

type LinkRow = Row & { readonly link_id: string };

/** Between a link's id and the number of a secret. No id has one. */
const secretMark = ".";

const linkIdOf = (rowId: string): string => rowId.split(secretMark, 1)[0] ?? rowId;

const linkFrom = (row: LinkRow): SupplierLink => ({ ...linkFieldsFrom(row), linkId: linkIdOf(row.link_id) });

const rowsOfOrder = (tx: Tx, shopId: string, purchaseOrderId: string): Promise<readonly LinkRow[]> =>
  tx.all<LinkRow>(
    `select ${columnList(linkFields)} from supplier_link
     where shop_id = ? and purchase_order_id = ? order by link_id desc`,
    [shopId, purchaseOrderId],
  );

/** Links of the order that are kept, newest first. */
export async function listSupplierLinks(
  tx: Tx,
  shopId: string,
  purchaseOrderId: string,
): Promise<readonly SupplierLink[]> {
  const rows = await rowsOfOrder(tx, shopId, purchaseOrderId);
  return rows.filter((row) => linkIdOf(row.link_id) === row.link_id).map(linkFrom);
}

/** A link as it is found by its secret, with what decides whether it still leads anywhere. */
interface FoundLink extends SupplierLink {
  /** Null: the order is gone, or was deleted. */
  readonly order: Pick<Header, "status" | "supplierId"> | null;
}

/**
 * The link with this secret and its order's state, in one statement: what has ended takes no less time than what has
 * not.
 */
export async function findSupplierLink(tx: Tx, shopId: string, secretHash: string): Promise<FoundLink | null> {
  const [row] = await tx.all<LinkRow & { readonly status: string | null; readonly order_supplier_id: string | null }>(
    `select ${columnList(linkFields, "k.")}, o.status, o.supplier_id as order_supplier_id
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

const insertLink = insertInto(tables.supplier_link, ["secret_hash"], columnsOf(linkFields));

/**
 * Adds a link, and deletes those that expired before `keptSinceMs`.
 *
 * @param secretHash null: it goes out by mail, and gets its secrets with `mailedSecretStatements`.
 */
export const supplierLinkStatements = (
  shopId: string,
  link: SupplierLink,
  secretHash: string | null,
  keptSinceMs: number,
): readonly Change[] => [
  remove(tables.supplier_link, shopId, { expires_at: below(keptSinceMs) }),
  // What stands for no secret is no hash, so nothing that is sent leads to it.
  insertLink([shopId, secretHash ?? `mail ${link.linkId}`], link),
];

/** The rows of one link. */
const rowsOfLink = async (tx: Tx, shopId: string, purchaseOrderId: string, linkId: string) =>
  (await rowsOfOrder(tx, shopId, purchaseOrderId)).filter((row) => linkIdOf(row.link_id) === linkId);

/** Adds a secret to a link that goes out by mail; none when the link is gone. A revoked or expired link stays so. */
export async function mailedSecretStatements(
  tx: Tx,
  shopId: string,
  purchaseOrderId: string,
  linkId: string,
  secretHash: string,
): Promise<readonly Change[]> {
  const rows = await rowsOfLink(tx, shopId, purchaseOrderId, linkId);
  const [row] = rows;
  if (row === undefined) return [];
  return [insertLink([shopId, secretHash], { ...linkFrom(row), linkId: `${linkId}${secretMark}${rows.length}` })];
}

/** Lets a link be used until then, unless it was revoked. */
export const prolongedLinkStatements = async (
  tx: Tx,
  shopId: string,
  purchaseOrderId: string,
  linkId: string,
  expiresAtMs: number,
): Promise<readonly Change[]> =>
  (await rowsOfLink(tx, shopId, purchaseOrderId, linkId)).map((row) =>
    update(tables.supplier_link, shopId, { link_id: row.link_id, revoked_at: null }, { expires_at: expiresAtMs }),
  );

/** Revokes a link of the order; revoking again keeps the first time. @returns false when there is none. */
export async function revokeSupplierLink(
  tx: Tx,
  shopId: string,
  purchaseOrderId: string,
  linkId: string,
  nowMs: number,
): Promise<boolean> {
  const rows = await rowsOfLink(tx, shopId, purchaseOrderId, linkId);
  await tx.batch(
    rows.map((row) => update(tables.supplier_link, shopId, { link_id: row.link_id }, { revoked_at: orElse(nowMs) })),
  );
  return rows.length > 0;
}
