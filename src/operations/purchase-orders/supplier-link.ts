/**
 * Making a link of an order for its supplier (C64): who makes it by itself (admin/supplier/supplier-links.ts) and a
 * mail that has one share it.
 */
import { Fault } from "../../base/fault.ts";
import type { Header } from "../../core/order/purchase-order.ts";
import { supplierLinkKeptMs, supplierLinkMs, supplierLinkStatus } from "../../core/supplier/supplier-links.ts";
import { listSupplierLinks, type SupplierLink, supplierLinkStatements } from "../../shop/supplier/supplier-links.ts";
import type { Tx } from "../../store/store.ts";

/** Links of an order that can be used at a time. */
export const supplierLinksOfOrderMax = 20;

/** A link that is to be made. */
interface NewLink {
  readonly linkId: string;
  /** The name of who makes it. */
  readonly createdBy: string | null;
  /** Null: every mail that has it makes one of its own (`mailedSecretStatements`). */
  readonly secretHash: string | null;
}

/**
 * Stores a link of the order. Returns it.
 *
 * @throws Fault INVALID_INPUT when the order is Cancelled, or has too many links that can be used.
 */
export async function addSupplierLink(
  tx: Tx,
  shopId: string,
  { purchaseOrderId, status, supplierId }: Pick<Header, "purchaseOrderId" | "status" | "supplierId">,
  { linkId, createdBy, secretHash }: NewLink,
  nowMs: number,
): Promise<SupplierLink> {
  if (status === "Cancelled")
    throw new Fault("INVALID_INPUT", "The order is Cancelled; its supplier has nothing to answer.", {
      action: "Move it back first.",
    });
  const links = await listSupplierLinks(tx, shopId, purchaseOrderId);
  if (links.filter((link) => supplierLinkStatus(link, nowMs) === "open").length >= supplierLinksOfOrderMax)
    throw new Fault("INVALID_INPUT", `The order has ${supplierLinksOfOrderMax} open links, as many as it may.`, {
      action: "Revoke one that is not used.",
    });
  const link: SupplierLink = {
    linkId,
    purchaseOrderId,
    supplierId,
    createdAtMs: nowMs,
    createdBy,
    expiresAtMs: nowMs + supplierLinkMs,
    revokedAtMs: null,
  };
  await tx.batch(supplierLinkStatements(shopId, link, secretHash, nowMs - supplierLinkKeptMs));
  return link;
}
