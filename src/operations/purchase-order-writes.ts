/**
 * Changing purchase orders by hand: making one, its header, its lines, its status, deleting it (spec "Purchase orders: writes").
 *
 * Owns: turning what a caller sends into what a rule takes, and its answer. Does not own: the rules (core/edit.ts, core/lifecycle.ts)
 * or how rows are written (shop/rows.ts).
 */
import { z } from "zod";
import {
  decideAddLines,
  decideCreate,
  decideDelete,
  decideDeleteLines,
  decideEditLines,
  decideHeader,
  type HeaderChanges,
  type HeaderFacts,
  type LineEditDecision,
  type NewLine,
} from "../core/edit.ts";
import { decideStatus, isHeld } from "../core/lifecycle.ts";
import { isCustom } from "../core/lines.ts";
import { zeroMoney } from "../core/money.ts";
import {
  bulkLinesMax,
  customVariantPrefix,
  type Decision,
  type LineFailure,
  type PurchaseOrder,
  statuses,
} from "../core/purchase-order.ts";
import { leavingAlone } from "../core/storefront-plan.ts";
import {
  actorName,
  deleteOrder,
  loadAttachments,
  loadLocationName,
  loadSupplier,
  loadSupplierVariantIds,
  loadVariants,
  nextPoNumber,
  softDelete,
  type SupplierVariantChanges,
  supplierVariantStatement,
  type VariantSnapshot,
} from "../shop/rows.ts";
import type { Statement, Tx } from "../shop/shop.ts";
import { guard, type GuardFacts, LinesMoved, noGuard, resolutions, untilLinesStay } from "./guard.ts";
import { type Call, type Committed, operation } from "./operation.ts";
import { orderToChange, saveFor, stampOf } from "./order-access.ts";
import { followOnShape, renderSideEffects, sideEffectsSchema, type SupplierUpdate } from "./side-effects.ts";
import { refuseWhileInFlight } from "./stock-sync.ts";
import {
  catalogueLineInput,
  catalogueLinesInput,
  currencyCode,
  customLineInput,
  day,
  etagOf,
  fxRate,
  headerInput,
  lineFailureSchema,
  lineItemId,
  lineJson,
  lineSchema,
  noRepeats,
  noteMax,
  positiveQuantity,
  productNameMax,
  purchaseOrderId,
  purchaseOrderJson,
  purchaseOrderSchema,
  quantity,
  shortTextMax,
  supplierInput,
  supplierVariantDetailsMax,
  text,
  unitCost,
} from "./wire.ts";

const tag = "Purchase orders";
const path = "/purchase-orders/{purchaseOrderId}";
const write = { tag, scope: "write" } as const;
const faults = ["NOT_FOUND", "VERSION_MISMATCH"] as const;
const exampleId = "po_01k8x4m2q7v9c3n5t6w8y0z1a2";
const exampleLineId = "pol_01k8x4m2q7v9c3n5t6w8y0z1b3";

const contextOf = (call: Call) => ({ shop: call.shop, nowMs: call.clock.now() });

/** Names that the order will show, and the currency its supplier brings. */
async function headerFacts(
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

type CatalogueLine = z.output<typeof catalogueLineInput>;
type CustomLine = z.output<z.ZodObject<typeof customLineInput>>;

/** What catalogue and custom lines have in common. */
const commonOf = (line: CatalogueLine | CustomLine) => ({
  quantityOrdered: line.quantityOrdered,
  unitCost: line.unitCost ?? zeroMoney,
  unitCostCurrencyCode: line.unitCostCurrencyCode ?? null,
  supplierSku: line.supplierSku ?? null,
  supplierBarcode: line.supplierBarcode ?? null,
  supplierProductName: line.supplierProductName ?? null,
  supplierProductUrl: line.supplierProductUrl ?? null,
  moq: line.moq ?? null,
  packSize: line.packSize ?? null,
  leadTimeDays: line.leadTimeDays ?? null,
  expectedDeliveryDate: line.expectedDeliveryDate ?? null,
  note: line.note ?? null,
});

/** Lines as the rules take them, each with a snapshot of its variant as the catalogue has it now (C16, D2). */
async function catalogueLines(tx: Tx, call: Call, lines: readonly CatalogueLine[]): Promise<readonly NewLine[]> {
  const variants = await loadVariants(
    tx,
    call.shop.shopId,
    lines.map((line) => line.variantId),
  );
  const unknown: { readonly [K in keyof VariantSnapshot]: null } = {
    productName: null,
    variantName: null,
    sku: null,
    barcode: null,
  };
  return lines.map((line) => ({
    ...commonOf(line),
    poLineItemId: call.ids.next("pol"),
    variantId: line.variantId,
    isCustom: false,
    ...(variants.get(line.variantId) ?? unknown),
  }));
}

function customLine(call: Call, line: CustomLine): NewLine {
  const poLineItemId = call.ids.next("pol");
  return {
    ...commonOf(line),
    poLineItemId,
    variantId: `${customVariantPrefix}${poLineItemId}`,
    isCustom: true,
    productName: line.productName,
    variantName: line.variantName ?? null,
    sku: line.sku ?? null,
    barcode: line.barcode ?? null,
  };
}

// The order and its header.

const createPurchaseOrder = operation({
  ...write,
  name: "purchase_order_create",
  title: "Create a purchase order",
  summary: "Makes a new Draft, with or without lines.",
  description:
    "Makes a new order in status Draft and numbers it. Everything is optional: header fields can follow with purchase_order_update and lines with purchase_order_line_item_add. Repeating the call makes another order, so send an Idempotency-Key. When it is ready, move it to Sent with purchase_order_status, for which it needs a locationId.",
  route: { method: "POST", path: "/purchase-orders" },
  success: 201,
  repeat: "adds-again",
  destructive: false,
  faults: [],
  input: z
    .strictObject({
      ...headerInput,
      lineItems: z
        .array(catalogueLineInput)
        .max(bulkLinesMax)
        .optional()
        .meta({ description: `Up to ${bulkLinesMax} lines.` }),
    })
    .meta({
      example: {
        poName: "Spring restock",
        supplierId: "sup_nordlicht",
        locationId: "loc_main",
        lineItems: [{ variantId: "var_1001", quantityOrdered: 12, unitCost: 4.5 }],
      },
    }),
  output: z.strictObject({ purchaseOrder: purchaseOrderSchema, sideEffects: sideEffectsSchema }),
  run: (call, { lineItems, ...header }) =>
    call.commit(async (tx) => {
      const { shopId } = call.shop;
      const asked = {
        purchaseOrderId: call.ids.next("po"),
        poNumber: await nextPoNumber(tx, shopId),
        createdBy: actorName(call.actor),
        header,
        lineItems: await catalogueLines(tx, call, lineItems ?? []),
      };
      const facts = await headerFacts(tx, call, header.supplierId ?? null, header.locationId ?? null);
      const decided = decideCreate(asked, facts, contextOf(call));
      await saveFor(tx, call, null, decided);
      return {
        effectIds: [],
        answer: () => ({
          data: { purchaseOrder: purchaseOrderJson(decided.next), sideEffects: {} },
          location: `/api/v1/purchase-orders/${asked.purchaseOrderId}`,
          etag: etagOf(decided.next),
        }),
      };
    }),
});

const orderAnswer = z.strictObject({ purchaseOrder: purchaseOrderSchema, ...followOnShape });

const updatePurchaseOrder = operation({
  ...write,
  name: "purchase_order_update",
  title: "Change an order's header",
  summary: "Sets header fields; those not sent stay as they are.",
  description:
    "Sets the header fields that are sent, in any status; null clears one. What has its value already is no change, so repeating is safe. locationId cannot change once anything is received, and is null only in Draft. It never changes the status (use purchase_order_status) or lines (use purchase_order_line_item_update).",
  route: { method: "PATCH", path },
  success: 200,
  repeat: "safe",
  destructive: false,
  faults,
  input: z
    .strictObject({
      purchaseOrderId,
      ...headerInput,
      fxRateOverride: fxRate.nullable().optional(),
      status: z
        .never({ error: "cannot be set here; use POST /purchase-orders/{id}/status" })
        .optional()
        .meta({ description: "Not here: POST …/status moves the order." }),
    })
    .check((context) => {
      const { purchaseOrderId: _, ...fields } = context.value;
      if (Object.values(fields).every((value) => value === undefined))
        context.issues.push({
          code: "custom",
          input: context.value,
          path: [],
          message: "names no field to change; send at least one",
        });
    })
    .meta({
      example: { purchaseOrderId: exampleId, expectedDeliveryDate: "2026-12-01", tags: ["spring"] },
      body: { minProperties: 1 },
    }),
  output: orderAnswer,
  run: (call, { purchaseOrderId, ...changes }) =>
    call.commit(async (tx) => {
      const order = await orderToChange(tx, call, purchaseOrderId);
      const decided = await decidedHeader(tx, call, order, changes);
      return savedOrder(tx, call, order, decided);
    }),
});

async function decidedHeader(tx: Tx, call: Call, order: PurchaseOrder, changes: HeaderChanges): Promise<Decision> {
  const { supplierId = order.supplierId, locationId = order.locationId } = changes;
  const facts = await headerFacts(tx, call, supplierId, locationId);
  const settlements = await loadAttachments(tx, call.shop.shopId, order.purchaseOrderId);
  return decideHeader(order, changes, { ...facts, settlements }, contextOf(call));
}

/** Saves and answers with the order alone. */
async function savedOrder(
  tx: Tx,
  call: Call,
  order: PurchaseOrder,
  decided: Decision,
): Promise<Committed<z.output<typeof orderAnswer>>> {
  const effects = await saveFor(tx, call, order, decided);
  const { next } = decided;
  return {
    effectIds: effects.map((effect) => effect.effectId),
    answer: (outcomes) => ({
      data: {
        purchaseOrder: purchaseOrderJson(next),
        ...renderSideEffects(effects, outcomes, { order: next }),
      },
      etag: etagOf(next),
    }),
  };
}

const deletePurchaseOrder = operation({
  ...write,
  name: "purchase_order_delete",
  title: "Delete a purchase order",
  summary: "Deletes a Draft outright; hides a Cancelled order and retains it.",
  description:
    "Deletes an order that is Draft or Cancelled; any other must be moved to Cancelled first with purchase_order_status. A Draft is gone for good; a Cancelled order is retained but can no longer be read here. Its number is not used again.",
  route: { method: "DELETE", path },
  success: 200,
  repeat: "safe",
  destructive: true,
  faults: [...faults, "ON_HAND_SYNC_IN_FLIGHT"],
  input: z.strictObject({ purchaseOrderId }).meta({ example: { purchaseOrderId: exampleId } }),
  output: z.strictObject({
    purchaseOrderId: z.string(),
    poNumber: z.string(),
    mode: z.enum(["deleted", "soft-deleted"]).meta({ description: "soft-deleted: hidden and retained." }),
  }),
  run: (call, input) =>
    call.commit(async (tx) => {
      const order = await orderToChange(tx, call, input.purchaseOrderId);
      const mode = decideDelete(order);
      await refuseWhileInFlight(tx, call, order);
      if (mode === "deleted") await deleteOrder(tx, call.shop.shopId, order);
      else await softDelete(tx, call.shop.shopId, order, stampOf(call));
      const { purchaseOrderId, poNumber } = order;
      return { effectIds: [], answer: () => ({ data: { purchaseOrderId, poNumber, mode } }) };
    }),
});

// Lines.

const linesAnswer = z.strictObject({
  purchaseOrder: purchaseOrderSchema,
  lineItems: z.array(lineSchema).meta({ description: "The lines that this call was about, as they are now." }),
  ...followOnShape,
});

/** Adds the lines and answers with them. */
async function addedLines(
  tx: Tx,
  call: Call,
  order: PurchaseOrder,
  lines: readonly NewLine[],
): Promise<Committed<z.output<typeof linesAnswer>>> {
  const decided = decideAddLines(order, lines, contextOf(call));
  const saved = await savedOrder(tx, call, order, decided);
  const added = decided.next.lineItems.slice(order.lineItems.length).map(lineJson);
  return {
    effectIds: saved.effectIds,
    answer: (outcomes) => {
      const { data, ...rest } = saved.answer(outcomes);
      return { data: { ...data, lineItems: added }, ...rest };
    },
  };
}

const addLineItems = operation({
  ...write,
  name: "purchase_order_line_item_add",
  title: "Add lines",
  summary: "Adds 1 to 500 catalogue lines to an order.",
  description:
    "Adds lines for variants of the catalogue, all or none. Allowed from Draft to Partially Received. Repeating the call adds them again, so send an Idempotency-Key. For something the catalogue does not have use purchase_order_line_item_add_custom; to change quantities use purchase_order_line_item_update.",
  route: { method: "POST", path: `${path}/line-items` },
  success: 201,
  repeat: "adds-again",
  destructive: false,
  faults,
  input: z.strictObject({ purchaseOrderId, lineItems: catalogueLinesInput }).meta({
    example: {
      purchaseOrderId: exampleId,
      lineItems: [{ variantId: "var_1002", quantityOrdered: 6, unitCost: 7.25, note: "the blue ones" }],
    },
  }),
  output: linesAnswer,
  run: (call, input) =>
    call.commit(async (tx) => {
      const order = await orderToChange(tx, call, input.purchaseOrderId);
      return addedLines(tx, call, order, await catalogueLines(tx, call, input.lineItems));
    }),
});

const addCustomLineItem = operation({
  ...write,
  name: "purchase_order_line_item_add_custom",
  title: "Add a custom line",
  summary: "Adds one line for something the catalogue does not have.",
  description:
    "Adds one line without a catalogue variant: packaging, samples, fees. It is ordered and received like any other but never reaches the storefront. Allowed from Draft to Partially Received. Repeating the call adds it again. For catalogue variants use purchase_order_line_item_add.",
  route: { method: "POST", path: `${path}/line-items/custom` },
  success: 201,
  repeat: "adds-again",
  destructive: false,
  faults,
  input: z.strictObject({ purchaseOrderId, ...customLineInput }).meta({
    example: { purchaseOrderId: exampleId, productName: "Pallet", quantityOrdered: 2, unitCost: 9.5 },
  }),
  output: linesAnswer,
  run: (call, { purchaseOrderId, ...line }) =>
    call.commit(async (tx) => {
      const order = await orderToChange(tx, call, purchaseOrderId);
      return addedLines(tx, call, order, [customLine(call, line)]);
    }),
});

const lineEditInput = z
  .strictObject({
    lineItemId,
    quantityOrdered: positiveQuantity.optional(),
    quantityRejected: quantity.optional().meta({ description: "New total rejected." }),
    quantityCancelled: quantity.optional().meta({ description: "New total cancelled." }),
    unitCost: unitCost.optional(),
    unitCostCurrencyCode: currencyCode.nullable().optional().meta({ description: "null: the order's currency." }),
    ...supplierInput,
    supplierVariantDetails: z
      .unknown()
      .optional()
      .refine((details) => details === undefined || JSON.stringify(details).length <= supplierVariantDetailsMax, {
        error: `must not be longer than ${supplierVariantDetailsMax} characters of JSON`,
      })
      .meta({
        description:
          "Any JSON for the supplier's catalogue entry. Kept only with updateSupplier: true, never returned.",
      }),
    expectedDeliveryDate: day.nullable().optional(),
    note: text(noteMax).nullable().optional(),
    productName: text(productNameMax).optional().meta({ description: "Custom lines only." }),
    variantName: text(productNameMax).nullable().optional().meta({ description: "Custom lines only." }),
    sku: text(shortTextMax).nullable().optional().meta({ description: "Custom lines only." }),
    barcode: text(shortTextMax).nullable().optional().meta({ description: "Custom lines only." }),
    quantityConfirmed: z
      .never({ error: "cannot be set here; use POST /purchase-orders/{id}/confirm" })
      .optional()
      .meta({ description: "Not here: POST …/confirm records it." }),
    quantityReceived: z
      .never({ error: "cannot be set here; use POST /purchase-orders/{id}/receive" })
      .optional()
      .meta({ description: "Not here: POST …/receive records it." }),
  })
  .check((context) => {
    const { lineItemId: _, ...fields } = context.value;
    if (Object.values(fields).every((value) => value === undefined))
      context.issues.push({
        code: "custom",
        input: context.value,
        path: [],
        message: "names no field to change; send at least one beside lineItemId",
      });
  })
  .meta({ description: "A line and the fields to change, at least one; null clears one.", minProperties: 2 });
type LineEditInput = z.output<typeof lineEditInput>;

const updateLineItems = operation({
  ...write,
  name: "purchase_order_line_item_update",
  title: "Change lines",
  summary: "Changes 1 to 500 lines; each is changed as a whole or left alone and named in failed.",
  description:
    "Changes fields of lines. Rejected and cancelled quantities are new totals. A line that its state does not let change is named in failed while the others are changed; when none can be, the call is refused. With updateSupplier: true the supplier-related values sent are also written to the supplier's catalogue entry for the variant. Allowed from Draft to Partially Received; never moves the status. For confirmed quantities use purchase_order_confirm, for received ones purchase_order_receive.",
  route: { method: "PATCH", path: `${path}/line-items` },
  success: 200,
  repeat: "safe",
  destructive: false,
  faults,
  input: z
    .strictObject({
      purchaseOrderId,
      lines: z
        .array(lineEditInput)
        .min(1)
        .max(bulkLinesMax)
        .check(noRepeats((line) => line.lineItemId, "lineItemId")),
      updateSupplier: z.boolean().default(false).meta({
        description: "Also write the supplier-related values sent to the supplier's catalogue.",
      }),
    })
    .meta({
      example: {
        purchaseOrderId: exampleId,
        lines: [{ lineItemId: exampleLineId, quantityOrdered: 24, unitCost: 4.25 }],
        updateSupplier: true,
      },
    }),
  output: z.strictObject({
    ...linesAnswer.shape,
    updatedLineItemIds: z.array(z.string()).meta({ description: "Lines that are now as asked for." }),
    failed: z.array(lineFailureSchema),
  }),
  run: (call, input) =>
    call.commit(async (tx) => {
      const order = await orderToChange(tx, call, input.purchaseOrderId);
      const decided = decideEditLines(order, input.lines, contextOf(call));
      const effects = await saveFor(tx, call, order, decided);
      const supplierUpdate = input.updateSupplier ? await writeBack(tx, call, input.lines, decided) : undefined;
      const { next, updatedLineItemIds, failed } = decided;
      const updated = new Set(updatedLineItemIds);
      return {
        effectIds: effects.map((effect) => effect.effectId),
        answer: (outcomes) => ({
          data: {
            purchaseOrder: purchaseOrderJson(next),
            lineItems: next.lineItems.filter((line) => updated.has(line.poLineItemId)).map(lineJson),
            updatedLineItemIds: [...updatedLineItemIds],
            failed: failed.map((failure) => ({ ...failure })),
            ...renderSideEffects(effects, outcomes, {
              order: next,
              ...(supplierUpdate === undefined ? {} : { supplierUpdate }),
            }),
          },
          etag: etagOf(next),
        }),
      };
    }),
});

/** What of a line edit is carried over to the supplier's catalogue (spec "Rules attached to the endpoints" 6). */
function carriedFields(edit: LineEditInput, lineCurrency: string): SupplierVariantChanges {
  const { supplierVariantDetails: details, unitCost, unitCostCurrencyCode } = edit;
  return {
    unitCost,
    // A cost means nothing without its currency, so the line's goes with it.
    unitCostCurrencyCode: unitCost === undefined && unitCostCurrencyCode === undefined ? undefined : lineCurrency,
    supplierSku: edit.supplierSku,
    supplierBarcode: edit.supplierBarcode,
    supplierProductName: edit.supplierProductName,
    supplierProductUrl: edit.supplierProductUrl,
    supplierVariantDetails: details === undefined || details === null ? details : JSON.stringify(details),
    moq: edit.moq,
    packSize: edit.packSize,
    leadTimeDays: edit.leadTimeDays,
  };
}

/**
 * Writes the supplier-related values of the lines that were changed to the supplier's catalogue, in the same transaction, and says
 * of every line sent what became of it. An entry that is not there is never made.
 *
 * Source: spec "Rules attached to the endpoints" 6; C46.
 */
async function writeBack(
  tx: Tx,
  call: Call,
  edits: readonly LineEditInput[],
  { next, failed }: LineEditDecision,
): Promise<SupplierUpdate> {
  const { shopId } = call.shop;
  const { supplierId } = next;
  const lines = new Map(next.lineItems.map((line) => [line.poLineItemId, line] as const));
  const failures = new Map<string, LineFailure>(failed.map((failure) => [failure.lineItemId, failure]));
  const variantIds = edits.flatMap((edit) => lines.get(edit.lineItemId)?.variantId ?? []);
  const entries =
    supplierId === null ? new Set<string>() : await loadSupplierVariantIds(tx, shopId, supplierId, variantIds);
  const statements: Statement[] = [];
  const outcomes = edits.map((edit): SupplierUpdate["lines"][number] => {
    const { lineItemId } = edit;
    const line = lines.get(lineItemId);
    const of = { lineItemId, variantId: line?.variantId ?? null };
    const failure = failures.get(lineItemId);
    if (line === undefined || failure !== undefined)
      return { ...of, outcome: "skipped", error: `line edit not applied: ${failure?.message ?? "no such line"}` };
    if (supplierId === null || isCustom(line)) return { ...of, outcome: "skipped" };
    const changes = carriedFields(edit, line.unitCostCurrencyCode);
    const statement = supplierVariantStatement(shopId, supplierId, line.variantId, changes);
    if (statement === null) return { ...of, outcome: "skipped" };
    if (!entries.has(line.variantId))
      return { ...of, outcome: "failed", error: "The supplier has no catalogue entry for this variant." };
    statements.push(statement);
    return { ...of, outcome: "applied" };
  });
  await tx.batch(statements);
  const has = (outcome: "applied" | "failed"): boolean => outcomes.some((line) => line.outcome === outcome);
  return { outcome: has("failed") ? "failed" : has("applied") ? "applied" : "skipped", lines: outcomes };
}

const deleteLineItems = operation({
  ...write,
  name: "purchase_order_line_item_delete",
  title: "Delete lines",
  summary: "Deletes lines to which nothing has happened yet; the others are named in failed.",
  description:
    "Deletes the lines named in lineItemIds. A line with received, rejected or synced quantity, or one that the order does not have, stays and is named in failed; the call succeeds even then. Allowed from Draft to Partially Received. To stop expecting the rest of a line set quantityCancelled with purchase_order_line_item_update.",
  route: { method: "DELETE", path: `${path}/line-items` },
  success: 200,
  repeat: "safe",
  destructive: true,
  faults,
  input: z
    .strictObject({
      purchaseOrderId,
      lineItemIds: z
        .array(lineItemId)
        .min(1)
        .max(bulkLinesMax)
        .check(noRepeats((id) => id))
        .meta({
          description: `Ids of 1 to ${bulkLinesMax} lines, separated by commas.`,
          query: "list",
          uniqueItems: true,
        }),
    })
    .meta({ example: { purchaseOrderId: exampleId, lineItemIds: [exampleLineId] } }),
  output: z.strictObject({
    purchaseOrder: purchaseOrderSchema,
    deletedLineItemIds: z.array(z.string()),
    failed: z.array(lineFailureSchema),
    ...followOnShape,
  }),
  run: (call, input) =>
    call.commit(async (tx) => {
      const order = await orderToChange(tx, call, input.purchaseOrderId);
      const decided = decideDeleteLines(order, input.lineItemIds, contextOf(call));
      const saved = await savedOrder(tx, call, order, decided);
      const { deletedLineItemIds, failed } = decided;
      return {
        effectIds: saved.effectIds,
        answer: (outcomes) => {
          const { data, ...rest } = saved.answer(outcomes);
          return {
            data: {
              ...data,
              deletedLineItemIds: [...deletedLineItemIds],
              failed: failed.map((failure) => ({ ...failure })),
            },
            ...rest,
          };
        },
      };
    }),
});

// Status.

const changeStatus = operation({
  ...write,
  name: "purchase_order_status",
  title: "Move an order to a status",
  summary: "Moves an order to another status, as far as that is open from where it is.",
  description:
    "Moves the order: Draft to Sent, Confirmed to In Progress, to Cancelled, On Hold or Disputed and back, or reopens a Completed one. A refusal lists the moves that are open. Confirming, receiving and completing have their own operations (purchase_order_confirm, purchase_order_receive, purchase_order_complete). Moving to Sent needs a locationId and checks the variants at the storefront; when some are not active, repeat with resolutions.",
  route: { method: "POST", path: `${path}/status` },
  success: 200,
  repeat: "refused",
  destructive: false,
  faults: [
    ...faults,
    "PREVIOUS_STATUS_MISMATCH",
    "USE_CONFIRM_ENDPOINT",
    "UNCONFIRMED_LINES",
    "INVENTORY_GUARD_ISSUES",
    "UPSTREAM_STOREFRONT",
    "TIMEOUT",
  ],
  input: z
    .strictObject({
      purchaseOrderId,
      status: z.enum(statuses).meta({ description: "The status to move to." }),
      resolutions: resolutions.optional(),
    })
    .meta({ example: { purchaseOrderId: exampleId, status: "Sent" } }),
  output: z.strictObject({
    purchaseOrder: purchaseOrderSchema,
    transition: z
      .strictObject({ from: z.enum(statuses), to: z.enum(statuses) })
      .meta({ description: "The move that was made." }),
    previousStatus: z
      .enum(statuses)
      .optional()
      .meta({ description: "Present when the order came back from Cancelled, On Hold or Disputed." }),
    ...followOnShape,
  }),
  run: (call, input) =>
    untilLinesStay(async () => {
      // Decided once without keeping it: what the order's state does not allow comes before the guard (C23).
      const seen = await call.read(async (tx) => {
        const order = await orderToChange(tx, call, input.purchaseOrderId);
        return { order, trial: decideStatus(order, input.status, contextOf(call)) };
      });
      const isGuarded = seen.trial.next.status === "Sent";
      const facts: GuardFacts = isGuarded ? await guard(call, seen.order.lineItems, input.resolutions ?? []) : noGuard;
      const checked = new Set(seen.order.lineItems.map((line) => line.poLineItemId));
      return call.commit(async (tx) => {
        const order = await orderToChange(tx, call, input.purchaseOrderId);
        const decided = decideStatus(order, input.status, contextOf(call));
        if (isGuarded && order.lineItems.some((line) => !checked.has(line.poLineItemId))) throw new LinesMoved();
        const saved = await savedOrder(tx, call, order, leavingAlone(decided, facts.skippedVariantIds));
        const transition = { from: order.status, to: decided.next.status };
        const { previousStatus } = decided.next;
        return {
          effectIds: saved.effectIds,
          answer: (outcomes) => {
            const { data, ...rest } = saved.answer(outcomes);
            return { data: { ...data, transition, ...(isHeld(order) ? { previousStatus } : {}) }, ...rest };
          },
        };
      });
    }),
});

export const purchaseOrderWrites = [
  createPurchaseOrder,
  updatePurchaseOrder,
  deletePurchaseOrder,
  addLineItems,
  addCustomLineItem,
  updateLineItems,
  deleteLineItems,
  changeStatus,
] as const;
