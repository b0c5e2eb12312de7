/**
 * Operations on a purchase order as a whole: create, update the header, delete (spec "Purchase orders: writes").
 *
 * Owns: what a call takes and answers, and looking up the facts that the rules need. Does not own: the rules
 * (core/order/edit.ts), how rows are written (shop/order/purchase-orders.ts).
 */
import { z } from "zod";
import {
  type HeaderChanges,
  type HeaderDecision,
  type HeaderFacts,
  type NewLine,
  type NewOrder,
  type SupplierKnowledge,
  type UpdateFacts,
  decideCreate,
  decideDelete,
  decideHeader,
  newOrderCurrency,
} from "../../core/order/edit.ts";
import type { SupplierTerms } from "../../core/supplier/supplier-terms.ts";
import { elsewhereStep } from "../../core/order/advice/next-step.ts";
import { mention, only } from "../../core/order/guidance.ts";
import { type Decision, type PurchaseOrder, bulkLinesMax } from "../../core/order/purchase-order.ts";
import { loadLocationName, loadSupplier, loadTerms, loadVariants } from "../../shop/catalogue/catalogue.ts";
import { mergedInto } from "../../shop/catalogue/supplier-merges.ts";
import { actorName, deleteOrder, nextPoNumber, softDelete } from "../../shop/order/purchase-orders.ts";
import type { Tx } from "../../store/store.ts";
import { namesAField } from "../fields.ts";
import { type Call, operation } from "../../requests/operation.ts";
import {
  contextOf,
  contextWithPushes,
  faults,
  orderAnswer,
  orderFaults,
  orderToChange,
  path,
  saveFor,
  savedOrder,
  stampOf,
  withData,
  write,
} from "./access.ts";
import {
  catalogueLineInput,
  etagOf,
  headerInput,
  headerUpdateInput,
  purchaseOrderId,
  purchaseOrderJson,
  purchaseOrderSchema,
} from "./json.ts";
import { type CatalogueLine, catalogueLines, loadCatalogueFacts } from "./lines.ts";
import { sideEffectsSchema } from "./side-effects.ts";
import { refuseWhileInFlight } from "./goods/in-flight.ts";
import {
  headerInQuestion,
  newLinesInQuestion,
  suppliedLinesInQuestion,
  warningsIn,
  warningsShape,
} from "./warnings.ts";

/** Returns the facts about this supplier and location. */
export async function headerFacts(
  tx: Tx,
  call: Call,
  supplierId: string | null,
  locationId: string | null,
): Promise<HeaderFacts> {
  const { shopId } = call.shop;
  const [supplier, locationName] = await Promise.all([
    supplierId === null ? null : loadSupplier(tx, shopId, supplierId),
    locationId === null ? null : loadLocationName(tx, shopId, locationId),
  ]);
  return { supplier, locationName };
}

/** The supplier that the one without facts was merged into (C86); null: it was not. */
const mergedIntoOf = async (
  tx: Tx,
  { shop: { shopId } }: Call,
  supplierId: string | null,
  { supplier }: HeaderFacts,
): Promise<string | null> =>
  supplierId === null || supplier !== null ? null : await mergedInto(tx, shopId, supplierId);

/** A Draft as it is asked for. Its number may still be looked up. */
interface DraftInput extends Pick<NewOrder, "purchaseOrderId" | "header" | "repeats"> {
  readonly poNumber: string | Promise<string>;
  readonly lineItems: readonly CatalogueLine[];
  /** Adds to a line what the shop does not know of it. Absent: nothing is added. */
  readonly complete?: (line: NewLine, index: number) => NewLine;
}

/** A new Draft, and its lines with what the catalogue and the supplier's terms gave them. */
export interface DecidedDraft {
  readonly decided: Decision;
  readonly lines: readonly NewLine[];
}

/** Decides a new Draft, with what the shop knows of its supplier, location and variants. Nothing is saved. */
export async function decidedDraft(
  tx: Tx,
  call: Call,
  { purchaseOrderId, poNumber: numbering, header, lineItems, complete = (line) => line, repeats }: DraftInput,
): Promise<DecidedDraft> {
  const { shop } = call;
  const { supplierId = null, locationId = null } = header;
  const [poNumber, catalogue, facts] = await Promise.all([
    numbering,
    loadCatalogueFacts(tx, shop.shopId, supplierId, lineItems),
    headerFacts(tx, call, supplierId, locationId),
  ]);
  const intoId = await mergedIntoOf(tx, call, supplierId, facts);
  if (intoId !== null)
    return await decidedDraft(tx, call, {
      purchaseOrderId,
      poNumber,
      header: { ...header, supplierId: intoId },
      lineItems,
      complete,
      repeats,
    });
  const lines = catalogueLines(call, lineItems, catalogue, {
    order: newOrderCurrency(header, facts, shop),
    supplier: facts.supplier?.currencyCode ?? shop.currencyCode,
    shop: shop.currencyCode,
  }).map(complete);
  const draft = { purchaseOrderId, poNumber, createdBy: actorName(call.actor), header, lineItems: lines, repeats };
  return { decided: decideCreate(draft, facts, contextOf(call)), lines };
}

export const createPurchaseOrder = operation({
  ...write,
  name: "purchase_order_create",
  toolSets: ["purchasing", "reorder"],
  title: "Create a purchase order",
  summary: "Creates a Draft and gives it a number.",
  description: `Lines can come with it or follow with purchase_order_line_item_add, header fields with purchase_order_update. Repeating the call creates another order${only("rest", ": send an Idempotency-Key")}.${only("rest", " What looks wrong, such as an unknown id, is done all the same and told in warnings.")}`,
  route: { method: "POST", path: "/purchase-orders" },
  success: 201,
  repeat: "adds-again",
  destructive: false,
  faults: ["LIMIT_EXCEEDED"],
  input: z
    .strictObject({
      ...headerInput,
      lineItems: z
        .array(catalogueLineInput)
        .max(bulkLinesMax)
        .optional()
        .meta({ description: only("rest", `Up to ${bulkLinesMax} lines.`) }),
    })
    .meta({
      example: {
        poName: "Coffee for the weekend",
        supplierId: "sup_roastery",
        locationId: "loc_warehouse",
        lineItems: [
          { variantId: "var_011", quantityOrdered: 48 },
          { variantId: "var_022", quantityOrdered: 12, unitCost: 15.5 },
        ],
      },
    }),
  output: z.strictObject({ purchaseOrder: purchaseOrderSchema, sideEffects: sideEffectsSchema, ...warningsShape }),
  run: (call, { lineItems, ...header }) =>
    call.commit(async (tx) => {
      const { shopId } = call.shop;
      const purchaseOrderId = call.ids.next("po");
      const poNumber = nextPoNumber(tx, shopId);
      const draft = { purchaseOrderId, poNumber, header, lineItems: lineItems ?? [] };
      const { decided, lines } = await decidedDraft(tx, call, draft);
      await saveFor(tx, call, null, decided);
      const entries = lines.map(({ unitCost }, index) => ({ path: `/lineItems/${index}`, unitCost }));
      const warnings = await warningsIn(tx, call, decided, {
        ...headerInQuestion(header),
        lines: newLinesInQuestion(decided.next, entries),
      });
      return {
        effects: [],
        answer: () => ({
          data: { purchaseOrder: purchaseOrderJson(decided.next), sideEffects: {}, ...warnings },
          location: `/api/v1/purchase-orders/${purchaseOrderId}`,
          etag: etagOf(decided.next),
        }),
      };
    }),
});

export const updatePurchaseOrder = operation({
  ...write,
  name: "purchase_order_update",
  toolSets: ["purchasing", "reorder"],
  title: "Change an order's header",
  summary: "Sets header fields; null clears one, and those not sent stay as they are.",
  description: `In any status. locationId cannot change once anything is received.${only("rest", " Not for the status (purchase_order_status) or lines (purchase_order_line_item_update).")}`,
  route: { method: "PATCH", path },
  success: 200,
  repeat: "safe",
  destructive: false,
  faults,
  input: z
    .strictObject({
      purchaseOrderId,
      ...headerInput,
      ...headerUpdateInput,
      status: z
        .never({ error: `cannot be set here; use ${mention("purchase_order_status")}` })
        .optional()
        .meta({ description: "Not here: purchase_order_status moves the order." }),
    })
    .check(namesAField("purchaseOrderId", "names no field to change; send at least one"))
    .meta({
      example: { purchaseOrderId: "po_demo_24", noteToSupplier: "Please deliver before noon.", tags: ["weekly"] },
      body: { minProperties: 1 },
    }),
  output: z.strictObject({ ...orderAnswer.shape, ...warningsShape }),
  run: (call, { purchaseOrderId, ...changes }) =>
    call.commit(async (tx) => {
      const order = await orderToChange(tx, call, purchaseOrderId);
      const decided = await decidedHeader(tx, call, order, changes);
      const saved = await savedOrder(tx, call, order, decided);
      const inQuestion = { ...headerInQuestion(changes), ...suppliedLinesInQuestion(order, decided.next) };
      const { keptTerms } = decided;
      return withData(saved, await warningsIn(tx, call, decided, { ...inQuestion, keptTerms }));
    }),
});

/** Decides new header fields of an order, with what the shop knows of its supplier and location. Nothing is saved. */
export async function decidedHeader(
  tx: Tx,
  call: Call,
  order: PurchaseOrder,
  changes: HeaderChanges,
): Promise<HeaderDecision> {
  const { supplierId = order.supplierId, locationId = order.locationId } = changes;
  const [facts, context, change] = await Promise.all([
    headerFacts(tx, call, supplierId, locationId),
    locationId === order.locationId ? contextOf(call) : contextWithPushes(tx, call, order),
    supplierId === order.supplierId ? null : supplierChange(tx, call, order, supplierId),
  ]);
  const intoId = await mergedIntoOf(tx, call, supplierId, facts);
  if (intoId !== null) return await decidedHeader(tx, call, order, { ...changes, supplierId: intoId });
  return decideHeader(order, changes, { ...facts, change }, context);
}

/** Returns the facts about the order's supplier and the one that replaces it. */
async function supplierChange(
  tx: Tx,
  call: Call,
  order: PurchaseOrder,
  supplierId: string | null,
): Promise<UpdateFacts["change"]> {
  const { shopId } = call.shop;
  const variantIds = [...new Set(order.lineItems.map((line) => line.variantId))];
  const variants = loadVariants(tx, shopId, variantIds);
  const known = async (id: string | null): Promise<SupplierKnowledge> => {
    const [supplier, terms, catalogue] = await Promise.all([
      id === null ? null : loadSupplier(tx, shopId, id),
      id === null ? new Map<string, SupplierTerms>() : loadTerms(tx, shopId, id, variantIds),
      variants,
    ]);
    const termsOf = (variantId: string) => ({
      terms: terms.get(variantId) ?? null,
      variantUnitCost: catalogue.get(variantId)?.unitCost ?? null,
    });
    return { supplier, terms: new Map(variantIds.map((variantId) => [variantId, termsOf(variantId)])) };
  };
  const [before, after] = await Promise.all([known(order.supplierId), known(supplierId)]);
  return { before, after };
}

export const deletePurchaseOrder = operation({
  ...write,
  name: "purchase_order_delete",
  title: "Delete a purchase order",
  summary: "Deletes a Draft for good; hides a Cancelled order and retains it.",
  description: `Any other order must first be moved to Cancelled with purchase_order_status.${only("rest", " The number is not used again.")}${only("mcp", " To keep a reason, call comment_add first: activity_list shows both.")}`,
  route: { method: "DELETE", path },
  success: 200,
  repeat: "safe",
  destructive: true,
  nextStep: () => elsewhereStep("It is gone from lists."),
  faults: [...orderFaults, "ON_HAND_SYNC_IN_FLIGHT"],
  input: z.strictObject({ purchaseOrderId }).meta({ example: { purchaseOrderId: "po_demo_07" } }),
  output: z.strictObject({
    purchaseOrderId: z.string(),
    poNumber: z.string(),
    mode: z.enum(["deleted", "soft-deleted"]).meta({ description: "soft-deleted: hidden and retained." }),
  }),
  run: (call, input) =>
    call.commit(async (tx) => {
      const order = await orderToChange(tx, call, input.purchaseOrderId);
      await refuseWhileInFlight(tx, call, order);
      const mode = decideDelete(order);
      if (mode === "deleted") await deleteOrder(tx, call.shop.shopId, order, stampOf(call));
      else await softDelete(tx, call.shop.shopId, order, stampOf(call));
      const { purchaseOrderId, poNumber } = order;
      return { effects: [], answer: () => ({ data: { purchaseOrderId, poNumber, mode } }) };
    }),
});
