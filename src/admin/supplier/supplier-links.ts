/** Links by which a supplier sees one order and answers it (C64, C64a). */
import { randomBytes } from "node:crypto";
import { z } from "zod";
import { Fault } from "../../base/fault.ts";
import type { Actor } from "../../core/access/actor.ts";
import type { Header } from "../../core/order/purchase-order.ts";
import { makeSecret, secretRandomBytes } from "../../base/secret.ts";
import { supplierLinkStatus, supplierLinkStatuses } from "../../core/supplier/supplier-links.ts";
import { actorOf, operatorName } from "../../requests/caller.ts";
import type { Call } from "../../requests/operation.ts";
import { callAs } from "../../requests/write/call.ts";
import { instant, instantOrNull, pageShape, pathId, shownId } from "../../operations/fields.ts";
import { askToSendDraft, orderOf } from "../../operations/purchase-orders/access.ts";
import { addSupplierLink } from "../../operations/purchase-orders/supplier-link.ts";
import type { Shop } from "../../shop/access/accounts.ts";
import { loadHeader } from "../../shop/order/purchase-orders.ts";
import { listSupplierLinks, revokeSupplierLink, type SupplierLink } from "../../shop/supplier/supplier-links.ts";
import type { Tx } from "../../store/store.ts";
import { type AdminCall, type AdminContext, data, inShop, operation, shopOf } from "../operation.ts";
import { pageOfWhole, wholeList } from "../whole-lists.ts";

export const inOrder = { ...inShop, purchaseOrderId: pathId } as const;

export const orderPath = "/shops/{shopId}/purchase-orders/{purchaseOrderId}";

/** A call on an order in somebody's name. What needs a decision is refused: none can be asked for here. */
export const orderCall = (
  { engine, clock, ids, calls }: AdminContext,
  { requestId, ifMatch = null, trace, readers }: AdminCall,
  { shop, actor, name }: { readonly shop: Shop; readonly actor: Actor; readonly name: string },
): Promise<Call> =>
  callAs(
    { ...calls, engine, clock, ids, readers },
    { incoming: { requestId, ifMatch, trace }, shop, actor },
    { name, scope: "write" },
  );

/** @throws Fault NOT_FOUND when the shop or the order is not there. */
async function orderHeader(tx: Tx, shopId: string, purchaseOrderId: string): Promise<Header> {
  await shopOf(tx, shopId);
  const order = await loadHeader(tx, shopId, purchaseOrderId);
  if (order === null)
    throw new Fault("NOT_FOUND", `There is no purchase order ${shownId(purchaseOrderId)}.`, {
      action: "See GET /api/v1/purchase-orders.",
    });
  return order;
}

const linkSchema = z.strictObject({
  linkId: z.string(),
  status: z.enum(supplierLinkStatuses),
  createdAt: z.string(),
  createdBy: z.string().nullable(),
  expiresAt: z.string(),
  revokedAt: z.string().nullable(),
});

const linkJson = (link: SupplierLink, nowMs: number): z.output<typeof linkSchema> => ({
  linkId: link.linkId,
  status: supplierLinkStatus(link, nowMs),
  createdAt: instant(link.createdAtMs),
  createdBy: link.createdBy,
  expiresAt: instant(link.expiresAtMs),
  revokedAt: instantOrNull(link.revokedAtMs),
});

export const createSupplierLink = operation({
  name: "supplier_link_create",
  route: { method: "POST", path: `${orderPath}/supplier-links` },
  role: "purchaser",
  describes: {
    summary: "Makes a link for the order's supplier, which is shown here only.",
    description:
      "By the link a supplier sees this order and can answer it, for 14 days, without signing in. What they answer is a proposal; nothing changes until somebody accepts it.",
    output: z.strictObject({ linkId: z.string(), url: z.string(), expiresAt: z.string() }),
  },
  input: z.strictObject(inOrder),
  /**
   * Makes a link. This answer is the only place where its URL is shown.
   *
   * @throws Fault INVALID_INPUT when the order is Cancelled, or has too many links that can be used, or nobody has
   *   asked a service.
   * @throws Fault FORBIDDEN_SCOPE when it is a Draft whose move to Sent would need a decision.
   */
  async run(context, { shopId, purchaseOrderId }, adminCall) {
    const { engine, clock, ids } = context;
    const { baseUrl, person } = adminCall;
    if (baseUrl === "")
      throw new Fault("INVALID_INPUT", "A link begins with the address of the service, which nobody has asked here.", {
        action: "Ask a running service by the address that suppliers reach; the command asks the one that --url names.",
      });
    const { text: secret, hash } = makeSecret("opl", shopId, randomBytes(secretRandomBytes));
    const linkId = ids.next("slk");
    const createdBy = person?.name ?? operatorName;
    const shop = await engine.read(shopId, (tx) => shopOf(tx, shopId));
    const call = await orderCall(context, adminCall, { shop, actor: actorOf(person), name: "supplier_link_create" });
    const { expiresAtMs } = await engine.write(shopId, async (tx) => {
      const order = await orderHeader(tx, shopId, purchaseOrderId);
      // Whoever has the link has the order.
      if (order.status === "Draft") await askToSendDraft(tx, call, await orderOf(tx, call, purchaseOrderId));
      return await addSupplierLink(tx, shopId, order, { linkId, createdBy, secretHash: hash }, clock.now());
    });
    return data({ linkId, url: `${baseUrl}/s/${secret}`, expiresAt: instant(expiresAtMs) }, 201);
  },
});

export const listSupplierLinksOperation = operation({
  name: "supplier_link_list",
  route: { method: "GET", path: `${orderPath}/supplier-links` },
  role: "purchaser",
  describes: {
    summary: "Links of the order's supplier, newest first, without their URLs.",
    description: "Links that expired are listed for 30 days more.",
    output: z.strictObject({ supplierLinks: z.array(linkSchema), ...pageShape }),
  },
  input: z.strictObject({ ...inOrder, ...wholeList }),
  /** The order's links newest first, without their URLs. */
  async run({ engine, clock }, { shopId, purchaseOrderId, ...page }) {
    const links = await engine.read(shopId, async (tx) => {
      await orderHeader(tx, shopId, purchaseOrderId);
      return await listSupplierLinks(tx, shopId, purchaseOrderId);
    });
    const nowMs = clock.now();
    const rows = links.map((link) => linkJson(link, nowMs));
    const scope = { list: "supplier-links", shopId, filters: { purchaseOrderId } };
    return pageOfWhole({ scope, name: "supplierLinks", rows, idOf: ({ linkId }) => linkId }, page);
  },
});

export const revokeSupplierLinkOperation = operation({
  name: "supplier_link_revoke",
  route: { method: "DELETE", path: `${orderPath}/supplier-links/{linkId}` },
  role: "purchaser",
  describes: {
    summary: "Revokes a supplier's link.",
    description: "Nobody sees the order by it any more. What was answered by it stays. Repeating changes nothing.",
    output: z.strictObject({ supplierLink: linkSchema }),
  },
  input: z.strictObject({ ...inOrder, linkId: pathId }),
  /** Revokes the link. What was answered by it stays. Repeating changes nothing. */
  async run({ engine, clock }, { shopId, purchaseOrderId, linkId }) {
    const nowMs = clock.now();
    return await engine.write(shopId, async (tx) => {
      await shopOf(tx, shopId);
      const revoked = await revokeSupplierLink(tx, shopId, purchaseOrderId, linkId, nowMs);
      const links = await listSupplierLinks(tx, shopId, purchaseOrderId);
      const link = links.find((each) => each.linkId === linkId);
      if (!revoked || link === undefined)
        throw new Fault("NOT_FOUND", `The order has no supplier link ${shownId(linkId)}.`, {
          action: `See GET /admin/v1/shops/${shopId}/purchase-orders/${shownId(purchaseOrderId)}/supplier-links.`,
        });
      return data({ supplierLink: linkJson(link, nowMs) });
    });
  },
});
