/**
 * Operations on the lines of an order: adding, changing and deleting them (spec "Purchase orders: writes"; C16,
 * C30–C32).
 *
 * Owns: what a call takes and answers, and looking up the facts that the rules need. Does not own: the rules
 * (core/order/edit.ts, core/storefront/write-back.ts), how rows are written (shop/order/purchase-orders.ts,
 * shop/catalogue/catalogue.ts).
 */
import { z } from "zod";
import {
  type LineEditDecision,
  type NewLine,
  decideAddLines,
  decideDeleteLines,
  decideEditLines,
} from "../../core/order/edit.ts";
import { mention, only } from "../../core/order/guidance.ts";
import { type PurchaseOrder, bulkLinesMax, customVariantPrefix } from "../../core/order/purchase-order.ts";
import { articleFields, valuesFrom } from "../../core/order/purchase-order-fields.ts";
import { type Currencies, type SupplierTerms, lineTerms } from "../../core/supplier/supplier-terms.ts";
import { decideWriteBack } from "../../core/storefront/write-back.ts";
import { type VariantSnapshot, loadSupplier, loadTerms, loadVariants } from "../../shop/catalogue/catalogue.ts";
import { loadPriceEntries, termStatements } from "../../shop/catalogue/price-changes.ts";
import type { Tx } from "../../store/store.ts";
import {
  codeText,
  currencyCode,
  namesAField,
  noRepeats,
  positiveQuantity,
  productNameMax,
  quantity,
  supplierVariantDetailsMax,
  text,
  unitCost,
} from "../fields.ts";
import { type Call, type Committed, operation } from "../../requests/operation.ts";
import {
  contextOf,
  contextWithPushes,
  faults,
  orderToChange,
  path,
  saveFor,
  savedOrder,
  withData,
  write,
} from "./access.ts";
import type { catalogueLineInput } from "./json.ts";
import {
  catalogueLinesInput,
  customLineInput,
  etagOf,
  lineFailureSchema,
  lineFieldInput,
  lineItemId,
  lineJson,
  lineSchema,
  purchaseOrderId,
  purchaseOrderJson,
  purchaseOrderSchema,
  supplierInput,
} from "./json.ts";
import { type SupplierUpdate, followOnShape, renderSideEffects } from "./side-effects.ts";
import { editedLinesInQuestion, newLinesInQuestion, warningsIn, warningsShape } from "./warnings.ts";

export type CatalogueLine = z.output<typeof catalogueLineInput>;

type CustomLine = z.output<z.ZodObject<typeof customLineInput>>;

/** Facts of the catalogue about the variants of new lines. */
interface CatalogueFacts {
  readonly variants: ReadonlyMap<string, VariantSnapshot>;
  /** Terms of the order's supplier for them. */
  readonly terms: ReadonlyMap<string, SupplierTerms>;
}

/** Looks the variants of new lines up, and the supplier's terms for them: both at once, for all lines together. */
export async function loadCatalogueFacts(
  tx: Tx,
  shopId: string,
  supplierId: string | null,
  lines: readonly Pick<CatalogueLine, "variantId">[],
): Promise<CatalogueFacts> {
  const variantIds = lines.map((line) => line.variantId);
  const [variants, terms] = await Promise.all([
    loadVariants(tx, shopId, variantIds),
    supplierId === null ? new Map<string, SupplierTerms>() : loadTerms(tx, shopId, supplierId, variantIds),
  ]);
  return { variants, terms };
}

/**
 * Returns the lines for the rules. Each has a snapshot of its variant from the present catalogue, and where cost and
 * supplier fields are absent, the supplier's terms (C16, C32, D2).
 */
export const catalogueLines = (
  call: Call,
  lines: readonly CatalogueLine[],
  { variants, terms }: CatalogueFacts,
  currencies: Currencies,
): readonly NewLine[] =>
  lines.map((line) => {
    const variant = variants.get(line.variantId);
    const known = { terms: terms.get(line.variantId) ?? null, variantUnitCost: variant?.unitCost ?? null };
    return {
      ...line,
      ...lineTerms(line, known, currencies),
      ...valuesFrom(articleFields, variant ?? {}),
      poLineItemId: call.ids.next("pol"),
      isCustom: false,
    };
  });

function customLine(call: Call, line: CustomLine): NewLine {
  const poLineItemId = call.ids.next("pol");
  return { ...line, poLineItemId, variantId: `${customVariantPrefix}${poLineItemId}`, isCustom: true };
}

const linesAnswer = z.strictObject({
  purchaseOrder: purchaseOrderSchema,
  lineItems: z.array(lineSchema).meta({ description: "The lines of this call, as they are now." }),
  ...followOnShape,
  ...warningsShape,
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
  const entries = lines.map(({ isCustom, unitCost }, index) => ({
    path: isCustom ? "" : `/lineItems/${index}`,
    unitCost,
  }));
  return withData(saved, {
    lineItems: decided.next.lineItems.slice(order.lineItems.length).map(lineJson),
    ...(await warningsIn(tx, call, decided, { lines: newLinesInQuestion(decided.next, entries) })),
  });
}

export const addLineItems = operation({
  ...write,
  name: "purchase_order_line_item_add",
  toolSets: ["purchasing", "reorder"],
  title: "Add lines",
  summary: "Adds 1 to 500 catalogue lines to an order, all or none.",
  description: `From Draft to Partially Received. Repeating the call adds them again${only("rest", ": send an Idempotency-Key")}. For what the catalogue does not have use purchase_order_line_item_add_custom.`,
  route: { method: "POST", path: `${path}/line-items` },
  success: 201,
  repeat: "adds-again",
  destructive: false,
  faults,
  input: z.strictObject({ purchaseOrderId, lineItems: catalogueLinesInput }).meta({
    example: {
      purchaseOrderId: "po_demo_24",
      lineItems: [
        { variantId: "var_042", quantityOrdered: 12, unitCost: 18.9, note: "The new harvest, if it is there." },
      ],
    },
  }),
  output: linesAnswer,
  run: (call, input) =>
    call.commit(async (tx) => {
      const { shopId, currencyCode: shop } = call.shop;
      const order = await orderToChange(tx, call, input.purchaseOrderId);
      const [facts, supplier] = await Promise.all([
        loadCatalogueFacts(tx, shopId, order.supplierId, input.lineItems),
        order.supplierId === null ? null : loadSupplier(tx, shopId, order.supplierId),
      ]);
      const currencies = { order: order.currencyCode, supplier: supplier?.currencyCode ?? shop, shop };
      return addedLines(tx, call, order, catalogueLines(call, input.lineItems, facts, currencies));
    }),
});

export const addCustomLineItem = operation({
  ...write,
  name: "purchase_order_line_item_add_custom",
  title: "Add a custom line",
  summary: "Adds one line for something the catalogue does not have: packaging, samples, fees.",
  description:
    "It is ordered and received like any other but never reaches the storefront. From Draft to Partially Received. Repeating the call adds it again.",
  route: { method: "POST", path: `${path}/line-items/custom` },
  success: 201,
  repeat: "adds-again",
  destructive: false,
  faults,
  input: z.strictObject({ purchaseOrderId, ...customLineInput }).meta({
    example: { purchaseOrderId: "po_demo_24", productName: "Display stand", quantityOrdered: 2, unitCost: 9.5 },
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
    quantityRejected: quantity.optional().meta({ description: only("rest", "New total rejected.") }),
    quantityCancelled: quantity.optional().meta({ description: only("rest", "New total cancelled.") }),
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
        description: `Any JSON${only("rest", " for the supplier's catalogue entry")}. Kept only with updateSupplier: true, never returned.`,
      }),
    ...lineFieldInput,
    productName: text(productNameMax).optional().meta({ description: "Custom lines only." }),
    variantName: text(productNameMax).nullable().optional().meta({ description: "Custom lines only." }),
    sku: codeText.nullable().optional().meta({ description: "Custom lines only." }),
    barcode: codeText.nullable().optional().meta({ description: "Custom lines only." }),
    quantityConfirmed: z
      .never({ error: `cannot be set here; use ${mention("purchase_order_confirm")}` })
      .optional()
      .meta({ description: "Not here: purchase_order_confirm records it." }),
    quantityReceived: z
      .never({ error: `cannot be set here; use ${mention("purchase_order_receive")}` })
      .optional()
      .meta({ description: "Not here: purchase_order_receive records it." }),
  })
  .check(namesAField("lineItemId", "names no field to change; send at least one beside lineItemId"))
  .meta({
    description: only("rest", "A line and the fields to change, at least one; null clears one."),
    minProperties: 2,
  });

type LineEditInput = z.output<typeof lineEditInput>;

export const updateLineItems = operation({
  ...write,
  name: "purchase_order_line_item_update",
  toolSets: ["purchasing", "reorder", "receiving"],
  title: "Change lines",
  summary: "Changes fields of 1 to 500 lines; null clears one.",
  description: `Rejected and cancelled quantities are new totals: when 8 of 24 will not come, quantityCancelled is 8. A line whose quantities do not allow the change is named in failed while the others are changed; when none can be, the call is refused. From Draft to Partially Received; never moves the status.${only("rest", " For other quantities use purchase_order_confirm and purchase_order_receive.")}`,
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
        purchaseOrderId: "po_demo_24",
        lines: [{ lineItemId: "pol_demo_24_1", quantityOrdered: 60, unitCost: 4.25 }],
        updateSupplier: true,
      },
    }),
  output: z.strictObject({
    ...linesAnswer.shape,
    updatedLineItemIds: z.array(z.string()).meta({ description: "Lines that now are as the call wants them." }),
    failed: z.array(lineFailureSchema),
  }),
  run: (call, input) =>
    call.commit(async (tx) => {
      const order = await orderToChange(tx, call, input.purchaseOrderId);
      const decided = decideEditLines(order, input.lines, contextOf(call));
      const entryLineIds = new Set(input.updateSupplier ? costsWritten(input.lines, decided) : []);
      const effects = await saveFor(tx, call, order, decided, entryLineIds);
      const supplierUpdate = input.updateSupplier ? await writeBack(tx, call, input.lines, decided) : undefined;
      const { next, updatedLineItemIds, failed } = decided;
      const updated = new Set(updatedLineItemIds);
      const warnings = await warningsIn(tx, call, decided, {
        lines: editedLinesInQuestion(next, input.lines, updated),
      });
      return {
        effects,
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
            ...warnings,
          },
          etag: etagOf(next),
        }),
      };
    }),
});

/** Lines whose cost goes to the supplier's catalogue with a write-back. */
const costsWritten = (edits: readonly LineEditInput[], { updatedLineItemIds }: LineEditDecision): readonly string[] =>
  edits.flatMap(({ lineItemId: edited, unitCost: cost, unitCostCurrencyCode: currency }) =>
    (cost === undefined && currency === undefined) || !updatedLineItemIds.includes(edited) ? [] : [edited],
  );

/**
 * Writes the supplier-related values of the changed lines to the supplier's catalogue, in the same transaction, and
 * reports on every line of the call. It never creates an entry.
 *
 * Source: spec "Rules attached to the endpoints" 6; C46.
 */
async function writeBack(
  tx: Tx,
  call: Call,
  edits: readonly LineEditInput[],
  decided: LineEditDecision,
): Promise<SupplierUpdate> {
  const { shopId } = call.shop;
  const { supplierId } = decided.next;
  const edited = new Set(edits.map((edit) => edit.lineItemId));
  const variantIds = decided.next.lineItems
    .filter((line) => edited.has(line.poLineItemId))
    .map((line) => line.variantId);
  const entries =
    supplierId === null ? new Map<string, never>() : await loadPriceEntries(tx, shopId, supplierId, variantIds);
  const { writes, outcome, lines } = decideWriteBack(edits, decided, new Set(entries.keys()));
  await tx.batch(termStatements(shopId, entries, writes, { ...call, nowMs: decided.next.updatedAtMs }));
  return { outcome, lines: lines.map((line) => ({ ...line })) };
}

export const deleteLineItems = operation({
  ...write,
  name: "purchase_order_line_item_delete",
  title: "Delete lines",
  summary: "Deletes lines. One with received, rejected or synced quantity stays and is named in failed.",
  description:
    "The call succeeds even then. From Draft to Partially Received. To expect no more of a line set quantityCancelled with purchase_order_line_item_update.",
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
          description: only("rest", `Ids of 1 to ${bulkLinesMax} lines, separated by commas.`),
          query: "list",
          uniqueItems: true,
        }),
    })
    .meta({ example: { purchaseOrderId: "po_demo_24", lineItemIds: ["pol_demo_24_2"] } }),
  output: z.strictObject({
    purchaseOrder: purchaseOrderSchema,
    deletedLineItemIds: z.array(z.string()),
    failed: z.array(lineFailureSchema),
    ...followOnShape,
    ...warningsShape,
  }),
  run: (call, input) =>
    call.commit(async (tx) => {
      const order = await orderToChange(tx, call, input.purchaseOrderId);
      const decided = decideDeleteLines(order, input.lineItemIds, await contextWithPushes(tx, call, order));
      const saved = await savedOrder(tx, call, order, decided);
      const { deletedLineItemIds, failed } = decided;
      return withData(saved, {
        deletedLineItemIds: [...deletedLineItemIds],
        failed: failed.map((failure) => ({ ...failure })),
        ...(await warningsIn(tx, call, decided, {})),
      });
    }),
});
