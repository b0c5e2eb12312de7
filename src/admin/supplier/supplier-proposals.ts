/** Suppliers' answers by their links, and accepting them (C64, C64a). */
import { z } from "zod";
import type { Actor } from "../../core/access/actor.ts";
import { Fault } from "../../base/fault.ts";
import type { GoodsContext } from "../../core/goods/goods.ts";
import { quantityToNumber, quantityToNumberOrNull } from "../../core/money/money.ts";
import { linesPerOrderMax, type PurchaseOrder } from "../../core/order/purchase-order.ts";
import {
  type AcceptDecision,
  type AcceptFacts,
  decideAccept,
  overtakenLineIds,
  type SupplierProposal,
} from "../../core/supplier/supplier-proposals.ts";
import { actorOf, operatorName } from "../../requests/caller.ts";
import {
  dateSchema,
  id,
  instant,
  instantOrNull,
  noRepeats,
  pageShape,
  pathId,
  shownId,
} from "../../operations/fields.ts";
import type { Answer, Call } from "../../requests/operation.ts";
import { orderToChange, saveFor } from "../../operations/purchase-orders/access.ts";
import { goodsContext, guardedWith } from "../../operations/purchase-orders/goods/goods.ts";
import { noGuard, resolutions } from "../../operations/purchase-orders/goods/guard.ts";
import { headerFacts } from "../../operations/purchase-orders/header.ts";
import { etagOf, purchaseOrderJson, purchaseOrderSchema } from "../../operations/purchase-orders/json.ts";
import { followOnShape, renderSideEffects } from "../../operations/purchase-orders/side-effects.ts";
import type { QueuedEffect } from "../../shop/storefront/effects.ts";
import { shipmentStatement } from "../../shop/order/purchase-order-attachments.ts";
import { loadOrder } from "../../shop/order/purchase-orders.ts";
import {
  findSupplierProposal,
  listSupplierProposals,
  proposalStatement,
  waitingProposals,
} from "../../shop/supplier/supplier-proposals.ts";
import type { Tx } from "../../store/store.ts";
import { type AdminCall, type AdminContext, data, inShop, operation, shopOf } from "../operation.ts";
import { pageOfWhole, wholeList } from "../whole-lists.ts";
import { inOrder, orderCall, orderPath } from "./supplier-links.ts";

/** Proposals of an order that a list shows, the newest. */
export const proposalsListedMax = 100;

const quantityOrNothing = z.number().nullable();

const proposalSchema = z.strictObject({
  proposalId: z.string(),
  linkId: z.string(),
  status: z.enum(["open", "overtaken", "accepted", "rejected", "replaced"]).meta({
    description:
      "overtaken: the order says something else of a line by now than when the supplier answered; such a line cannot be accepted.",
  }),
  reference: z.string().nullable(),
  trackingNumber: z.string().nullable(),
  message: z.string().nullable().meta({ description: "What the supplier has written beside the answer." }),
  lines: z.array(
    z.strictObject({
      lineItemId: z.string(),
      quantityConfirmed: quantityOrNothing,
      expectedDeliveryDate: dateSchema.nullable(),
      cannotDeliver: z.boolean(),
      status: z.enum(["open", "overtaken", "accepted"]),
      order: z
        .strictObject({
          quantityOrdered: z.number(),
          quantityConfirmed: z.number(),
          quantityCancelled: z.number(),
          expectedDeliveryDate: dateSchema.nullable(),
        })
        .meta({ description: "What the order said of the line when the supplier answered." }),
    }),
  ),
  createdAt: z.string(),
  decidedAt: z.string().nullable(),
  decidedBy: z.string().nullable(),
});

/** The proposal as it stands to the order. @param order null: it is not asked for, since the proposal is closed. */
function proposalJson(proposal: SupplierProposal, order: PurchaseOrder): z.output<typeof proposalSchema> {
  const isOpen = proposal.state === "open";
  const overtaken = isOpen ? overtakenLineIds(order, proposal) : new Set<string>();
  return {
    proposalId: proposal.proposalId,
    linkId: proposal.linkId,
    status: proposal.state === "open" && overtaken.size > 0 ? "overtaken" : proposal.state,
    reference: proposal.reference,
    trackingNumber: proposal.trackingNumber,
    message: proposal.message,
    lines: proposal.lines.map((line) => ({
      lineItemId: line.lineItemId,
      quantityConfirmed: quantityToNumberOrNull(line.quantityConfirmed),
      expectedDeliveryDate: line.expectedDeliveryDate,
      cannotDeliver: line.cannotDeliver,
      status: line.isAccepted ? "accepted" : overtaken.has(line.lineItemId) ? "overtaken" : "open",
      order: {
        quantityOrdered: quantityToNumber(line.basis.quantityOrdered),
        quantityConfirmed: quantityToNumber(line.basis.quantityConfirmed),
        quantityCancelled: quantityToNumber(line.basis.quantityCancelled),
        expectedDeliveryDate: line.basis.expectedDeliveryDate,
      },
    })),
    createdAt: instant(proposal.createdAtMs),
    decidedAt: instantOrNull(proposal.decidedAtMs),
    decidedBy: proposal.decidedBy,
  };
}

const unknownProposal = (proposalId: string): Fault =>
  new Fault("NOT_FOUND", `The order has no proposal ${shownId(proposalId)}.`, {
    action: "Read the order's proposals.",
  });

const unknownOrder = (purchaseOrderId: string): Fault =>
  new Fault("NOT_FOUND", `There is no purchase order ${shownId(purchaseOrderId)}.`, {
    action: "See GET /api/v1/purchase-orders.",
  });

export const listProposals = operation({
  name: "supplier_proposal_list",
  route: { method: "GET", path: `${orderPath}/proposals` },
  role: "viewer",
  describes: {
    summary: "What the supplier has answered, newest first.",
    description: `An order has one open proposal at most: a newer answer replaces it. Of replaced ones the latest 5 are kept. At most ${proposalsListedMax} are listed.`,
    output: z.strictObject({ proposals: z.array(proposalSchema), ...pageShape }),
  },
  input: z.strictObject({ ...inOrder, ...wholeList }),
  /** The order's proposals, newest first. */
  async run({ engine }, { shopId, purchaseOrderId, ...page }) {
    return await engine.read(shopId, async (tx) => {
      await shopOf(tx, shopId);
      const [order, proposals] = await Promise.all([
        loadOrder(tx, shopId, purchaseOrderId),
        listSupplierProposals(tx, shopId, purchaseOrderId, proposalsListedMax),
      ]);
      if (order === null) throw unknownOrder(purchaseOrderId);
      const rows = proposals.map((proposal) => proposalJson(proposal, order));
      const scope = { list: "supplier-proposals", shopId, filters: { purchaseOrderId } };
      return pageOfWhole({ scope, name: "proposals", rows, idOf: ({ proposalId }) => proposalId }, page);
    });
  },
});

/** Orders of which a list shows that a proposal waits. */
const waitingListedMax = 50;

export const listWaitingProposals = operation({
  name: "supplier_proposal_waiting",
  route: { method: "GET", path: "/shops/{shopId}/proposals" },
  role: "viewer",
  describes: {
    summary: "Orders whose supplier has answered and waits, the longest first.",
    description: `What the console shows above the list of orders: at most ${waitingListedMax} of them.`,
    output: z.strictObject({
      proposals: z.array(
        z.strictObject({
          proposalId: z.string(),
          purchaseOrderId: z.string(),
          poNumber: z.string(),
          supplierName: z.string().nullable(),
          createdAt: z.string(),
        }),
      ),
      ...pageShape,
    }),
  },
  input: z.strictObject({ ...inShop, ...wholeList }),
  /** Orders with an open proposal. */
  async run({ engine }, { shopId, ...page }) {
    const waiting = await engine.read(shopId, async (tx) => {
      await shopOf(tx, shopId);
      return await waitingProposals(tx, shopId, waitingListedMax);
    });
    const rows = waiting.map(({ createdAtMs, ...row }) => ({ ...row, createdAt: instant(createdAtMs) }));
    const scope = { list: "waiting-proposals", shopId, filters: {} };
    return pageOfWhole({ scope, name: "proposals", rows, idOf: ({ proposalId }) => proposalId }, page);
  },
});

const decidedSchema = z.strictObject({
  proposal: proposalSchema,
  purchaseOrder: purchaseOrderSchema,
  ...followOnShape,
});

type Decided = z.output<typeof decidedSchema>;

/** The facts for the reference, which is a header field, and for a shipment. */
async function acceptFacts(tx: Tx, call: Call, order: PurchaseOrder): Promise<AcceptFacts> {
  const facts = await headerFacts(tx, call, order.supplierId, order.locationId);
  return { ...facts, shipments: order.attached.shipments };
}

/** Saves what was decided, step by step and all in one transaction: a crash leaves all of it or nothing. */
async function saveAccepted(
  tx: Tx,
  call: Call,
  { next, steps, trackingNumber, proposal: accepted }: AcceptDecision,
  decidedBy: string,
) {
  const { shopId } = call.shop;
  const effects: QueuedEffect[] = [];
  for (const { operation, before, decided } of steps)
    effects.push(...(await saveFor(tx, { ...call, operation }, before, decided)));
  const proposal = { ...accepted, decidedBy: accepted.decidedBy ?? decidedBy };
  await tx.batch([
    proposalStatement(shopId, proposal),
    ...(trackingNumber === null
      ? []
      : [
          shipmentStatement(shopId, next.purchaseOrderId, {
            shipmentId: call.ids.next("shp"),
            shipmentNumber: null,
            status: "In Transit",
            carrier: null,
            shippingMethod: null,
            trackingNumber,
            trackingUrl: null,
            shippedDate: null,
            expectedArrivalDate: next.nextExpectedDate,
            receivedDate: null,
            shippingCost: null,
            currencyCode: null,
            note: null,
            lineAllocations: [],
          }),
        ]),
  ]);
  return {
    effects,
    answer: (outcomes: Parameters<typeof renderSideEffects>[1]): Answer<Decided> => ({
      data: {
        proposal: proposalJson(proposal, next),
        purchaseOrder: purchaseOrderJson(next),
        ...renderSideEffects(effects, outcomes, { order: next }),
      },
      etag: etagOf(next),
    }),
  };
}

/** The order and its proposal, as the caller wants to decide on it. */
async function proposalToDecide(
  tx: Tx,
  call: Call,
  purchaseOrderId: string,
  proposalId: string,
): Promise<{ readonly order: PurchaseOrder; readonly proposal: SupplierProposal }> {
  const [order, proposal] = await Promise.all([
    orderToChange(tx, call, purchaseOrderId),
    findSupplierProposal(tx, call.shop.shopId, purchaseOrderId, proposalId),
  ]);
  if (proposal === null) throw unknownProposal(proposalId);
  return { order, proposal };
}

/** A call on the order in the supplier's name. */
async function supplierCall(
  context: AdminContext,
  shopId: string,
  purchaseOrderId: string,
  call: AdminCall,
): Promise<Call> {
  const { shop, order } = await context.engine.read(shopId, async (tx) => ({
    shop: await shopOf(tx, shopId),
    order: await loadOrder(tx, shopId, purchaseOrderId),
  }));
  if (order === null) throw unknownOrder(purchaseOrderId);
  const { keyId } = actorOf(call.person);
  const actor: Actor = {
    type: "supplier",
    id: order.supplierId,
    name: order.supplierName,
    ...(keyId === undefined ? {} : { keyId }),
  };
  return await orderCall(context, call, { shop, actor, name: "supplier_proposal_accept" });
}

const deciderOf = ({ person }: AdminCall): string => person?.name ?? operatorName;

export const acceptProposal = operation({
  name: "supplier_proposal_accept",
  route: { method: "POST", path: `${orderPath}/proposals/{proposalId}/accept` },
  role: "purchaser",
  describes: {
    summary: "Accepts what the supplier has answered, all of it or some lines.",
    description:
      "Confirmed quantities, dates, cancelled lines, reference and tracking number are taken over at once, as purchase_order_confirm and the updates would, with the supplier as actor. A line that the order has overtaken refuses the call; name the others to accept them. Repeating changes nothing.",
    output: decidedSchema,
    status: 200,
  },
  input: z.strictObject({
    ...inOrder,
    proposalId: pathId,
    lineItemIds: z
      .array(id)
      .min(1)
      .max(linesPerOrderMax)
      .check(noRepeats((each) => each))
      .optional()
      .meta({ description: "Lines of the proposal to accept; the others stay open. Default: all that are open." }),
    resolutions: resolutions.optional(),
  }),
  /**
   * Accepts lines of a proposal: its changes are made in one transaction, by the rules of the operations that others
   * use for them.
   *
   * @throws Fault INVALID_INPUT                          see `decideAccept`.
   * @throws Fault INVALID_INPUT (412) VERSION_MISMATCH   `If-Match` was sent and names another version.
   * @throws Fault INVENTORY_GUARD_ISSUES, UPSTREAM_STOREFRONT, TIMEOUT  see `guard`.
   */
  async run(context, { shopId, purchaseOrderId, proposalId, lineItemIds = null, resolutions: sent }, adminCall) {
    const call = await supplierCall(context, shopId, purchaseOrderId, adminCall);
    const decide = async (tx: Tx, goods: GoodsContext) => {
      const { order, proposal } = await proposalToDecide(tx, call, purchaseOrderId, proposalId);
      const facts = await acceptFacts(tx, call, order);
      const decided = decideAccept(order, proposal, lineItemIds, facts, goods);
      return { order, decided, updatedLineItemIds: decided.updatedLineItemIds };
    };
    const answer = await guardedWith(call, sent ?? [], {
      linesToGuard: () =>
        call.read(async (tx) => {
          const { order, updatedLineItemIds } = await decide(tx, goodsContext(call, noGuard));
          return order.lineItems.filter((line) => updatedLineItemIds.includes(line.poLineItemId));
        }),
      decide,
      save: (tx, { decided }) => saveAccepted(tx, call, decided, deciderOf(adminCall)),
    });
    return data(answer.data);
  },
});

export const rejectProposal = operation({
  name: "supplier_proposal_reject",
  route: { method: "POST", path: `${orderPath}/proposals/{proposalId}/reject` },
  role: "purchaser",
  describes: {
    summary: "Rejects what the supplier has answered.",
    description:
      "The order stays as it is, lines that were accepted before included. The supplier can answer again by the same link. Repeating changes nothing.",
    output: z.strictObject({ proposal: proposalSchema }),
    status: 200,
  },
  input: z.strictObject({ ...inOrder, proposalId: pathId }),
  /**
   * Rejects the lines of the proposal that were not accepted. @throws Fault INVALID_INPUT when all were, or a newer one
   * replaced it.
   */
  async run({ engine, clock }, { shopId, purchaseOrderId, proposalId }, adminCall) {
    return await engine.write(shopId, async (tx) => {
      await shopOf(tx, shopId);
      const [order, proposal] = await Promise.all([
        loadOrder(tx, shopId, purchaseOrderId),
        findSupplierProposal(tx, shopId, purchaseOrderId, proposalId),
      ]);
      if (order === null) throw unknownOrder(purchaseOrderId);
      if (proposal === null) throw unknownProposal(proposalId);
      if (proposal.state === "rejected") return data({ proposal: proposalJson(proposal, order) });
      if (proposal.state !== "open")
        throw new Fault("INVALID_INPUT", `The proposal was ${proposal.state} before.`, {
          action: "Read the order's proposals.",
        });
      const rejected: SupplierProposal = {
        ...proposal,
        state: "rejected",
        decidedAtMs: clock.now(),
        decidedBy: deciderOf(adminCall),
      };
      await tx.batch([proposalStatement(shopId, rejected)]);
      return data({ proposal: proposalJson(rejected, order) });
    });
  },
});
