/**
 * Drafting orders from a forecast view, a tool without a path on REST (C68): first what would be ordered, then the
 * orders themselves.
 *
 * Does not own: what is ordered of whom (core/forecast/reorder.ts) or how an order is made (purchase-orders/header.ts).
 */
import { z } from "zod";
import { type Day, dateOf, dateOrNull, dayIn } from "../../base/time/calendar.ts";
import { Fault, invalidField } from "../../base/fault.ts";
import { type Suggestion, suggestionFor } from "../../core/forecast/forecast.ts";
import { type Quantity, moneyToNumber, quantityToNumber, zeroMoney } from "../../core/money/money.ts";
import type { Decision } from "../../core/order/purchase-order.ts";
import { correctionStep, elsewhereStep } from "../../core/order/advice/next-step.ts";
import { type PlannedDraft, type PlannedLine, type Skipped, planReorder } from "../../core/forecast/reorder.ts";
import { loadLocationName, loadVariants } from "../../shop/catalogue/catalogue.ts";
import { forecastPage } from "../../shop/forecast/forecast-rows.ts";
import { hasMoreRows } from "../../shop/size.ts";
import { type ForecastView, loadForecastView } from "../../shop/forecast/saved-views.ts";
import { loadDraftsWith } from "../../shop/catalogue/look-ups.ts";
import { nextPoNumber } from "../../shop/order/purchase-orders.ts";
import type { Tx } from "../../store/store.ts";
import { dateSchema, id, noRepeats, noteMax, quantity, textOfLines } from "../fields.ts";
import type { BroadContext } from "../../requests/broad-read.ts";
import { variantsOnLoopMax } from "../../requests/loop-limits.ts";
import { type Call, operation } from "../../requests/operation.ts";
import { saveFor } from "../purchase-orders/access.ts";
import { type DecidedDraft, createPurchaseOrder, decidedDraft } from "../purchase-orders/header.ts";
import type { CatalogueLine } from "../purchase-orders/lines.ts";
import { newDraftInQuestion, warningsIn, warningsShape } from "../purchase-orders/warnings.ts";
import { tool } from "./tool.ts";

/** Variants that one call may order. */
const reorderVariantsMax = 500;

interface ReorderInput {
  readonly viewId: string;
  readonly locationId: string;
  readonly noteToSupplier?: string | undefined;
  readonly lines?: readonly { readonly variantId: string; readonly quantity: Quantity }[] | undefined;
}

interface ReorderFactsInput {
  readonly view: ForecastView;
  readonly today: Day;
  /** Variants that the caller has set a quantity for. */
  readonly variantIds: readonly string[];
}

/** Facts about the variants of a view that need a reorder, and about those that the caller has named. */
export const reorderFacts = {
  name: "reorder_facts",
  async run(tx: Tx, { shop, leaveLoop }: BroadContext, { view, today, variantIds }: ReorderFactsInput) {
    const { shopId } = shop;
    if (await hasMoreRows(tx, "variant", shopId, variantsOnLoopMax)) leaveLoop();
    const context = { shop, today };
    const scope = { view: { ...view, onlyReorder: true }, variantIds: null, dearestFirst: true };
    const needed = await forecastPage(tx, shopId, scope, context, null, reorderVariantsMax);
    const known = new Set(needed.variants.map((facts) => facts.variantId));
    const others = variantIds.filter((variantId) => !known.has(variantId));
    const further =
      others.length === 0
        ? []
        : (await forecastPage(tx, shopId, { view, variantIds: others }, context, null, others.length)).variants;
    return { needed, further };
  },
};

/**
 * The suggestions of a view: for its variants that need a reorder, and for those that the caller has set a quantity
 * for.
 *
 * @throws Fault NOT_FOUND      there is no such view.
 * @throws Fault INVALID_INPUT  the shop has no such location, or more variants need a reorder than one call may order.
 */
async function suggestionsOf(
  call: Call,
  { viewId, locationId }: ReorderInput,
  quantities: ReadonlyMap<string, Quantity>,
): Promise<readonly Suggestion[]> {
  const { shop } = call;
  const { shopId } = shop;
  const [view, locationName] = await call.read((tx) =>
    Promise.all([loadForecastView(tx, shopId, viewId), loadLocationName(tx, shopId, locationId)]),
  );
  if (view === null)
    throw new Fault("NOT_FOUND", `There is no forecast view ${viewId}.`, {
      action: "Find it with forecast_view_list.",
    });
  if (locationName === null)
    throw invalidField("/locationId", "is not a location of the shop", "Find it with location_list.");
  const today = dayIn(shop.timezone, call.clock.now());
  const { needed, further } = await call.readQuery(reorderFacts, { view, today, variantIds: [...quantities.keys()] });
  if (needed.end !== null)
    throw invalidField(
      "/viewId",
      `has ${needed.totalCount} variants to reorder; one call orders at most ${reorderVariantsMax}`,
      "Use a view of fewer variants, such as one supplier's.",
    );
  return [...needed.variants, ...further].map((facts) => suggestionFor(facts, { shop, today }));
}

/** The line as the create operation takes it. What is left out is on the supplier's terms (C32). */
const lineInput = (line: PlannedLine, draft: PlannedDraft): CatalogueLine => ({
  variantId: line.variantId,
  quantityOrdered: line.quantity,
  ...(line.unitCost === null ? {} : { unitCost: line.unitCost }),
  unitCostCurrencyCode: line.currencyCode,
  ...(line.arrivalDay === draft.arrivalDay ? {} : { expectedDeliveryDate: dateOf(line.arrivalDay) }),
});

/** The order of a planned draft as the create rule makes it, and its lines as that has completed them. */
async function orderOf(
  tx: Tx,
  call: Call,
  draft: PlannedDraft,
  { locationId, noteToSupplier }: ReorderInput,
  identity: { readonly purchaseOrderId: string; readonly poNumber: string },
): Promise<DecidedDraft> {
  const { supplierId, lines } = draft;
  const currencies = new Set(lines.map((line) => line.currencyCode));
  const [currencyCode] = currencies.size === 1 ? currencies : [];
  return await decidedDraft(tx, call, {
    ...identity,
    header: { supplierId, locationId, noteToSupplier, currencyCode, expectedDeliveryDate: dateOf(draft.arrivalDay) },
    lineItems: lines.map((line) => lineInput(line, draft)),
  });
}

const draftSchema = z.strictObject({
  supplierId: z.string(),
  supplierName: z.string(),
  purchaseOrderId: z.string().nullable(),
  poNumber: z.string().nullable(),
  currencyCode: z.string(),
  totalValue: z.number(),
  expectedArrivalDate: dateSchema,
  lines: z.array(
    z.strictObject({
      lineItemId: z.string().nullable(),
      variantId: z.string(),
      sku: z.string().nullable(),
      productName: z.string(),
      quantity: z.number(),
      unitCost: z.number(),
      unitCostCurrencyCode: z.string().optional().meta({ description: "When it is not the draft's." }),
      reason: z.string(),
      stockoutDate: dateSchema.nullable(),
      late: z.boolean().meta({ description: "Arrives after the stock-out." }),
    }),
  ),
  ...warningsShape,
});

const skippedSchema = z.strictObject({
  variantId: z.string(),
  sku: z.string().nullable(),
  productName: z.string().nullable(),
  reason: z.enum(["on-draft", "no-supplier", "left-out", "not-in-view"]),
  purchaseOrderId: z.string().optional(),
  poNumber: z.string().optional(),
});

const draftJson = (draft: PlannedDraft, { next }: Decision): z.output<typeof draftSchema> => ({
  supplierId: draft.supplierId,
  supplierName: draft.supplierName,
  purchaseOrderId: next.purchaseOrderId,
  poNumber: next.poNumber,
  currencyCode: next.currencyCode,
  totalValue: moneyToNumber(next.totalValue),
  expectedArrivalDate: dateOf(draft.arrivalDay),
  lines: draft.lines.map((line, index) => ({
    lineItemId: next.lineItems[index]?.poLineItemId ?? null,
    variantId: line.variantId,
    sku: line.sku,
    productName: line.productName,
    quantity: quantityToNumber(line.quantity),
    unitCost: moneyToNumber(next.lineItems[index]?.unitCost ?? zeroMoney),
    ...(line.currencyCode === next.currencyCode ? {} : { unitCostCurrencyCode: line.currencyCode }),
    reason: line.reason,
    stockoutDate: dateOrNull(line.stockoutDay),
    late: line.late,
  })),
});

/** The draft as a dry run shows it. */
const unmade = ({ lines, ...draft }: z.output<typeof draftSchema>): z.output<typeof draftSchema> => ({
  ...draft,
  purchaseOrderId: null,
  poNumber: null,
  lines: lines.map((line) => ({ ...line, lineItemId: null })),
});

const skippedJson = ({ draft, ...skipped }: Skipped): z.output<typeof skippedSchema> => ({ ...skipped, ...draft });

const name = "reorder_from_view";

export const reorderFromView = operation({
  ...tool,
  name,
  toolSets: ["reorder"],
  title: "Reorder from a forecast view",
  summary: "Drafts one order for each supplier from what a forecast view suggests.",
  description:
    "Call it first as a dry run, show the answer to a person, then commit with dryRun false, an idempotencyKey and in lines the quantities that they changed. Variants on a Draft order are skipped and it is named. Nothing is sent: purchase_order_status moves a draft to Sent.",
  scope: "write",
  repeat: "adds-again",
  dryByDefault: true,
  dryAnswer: ({ drafts, skipped }) => ({ drafts: drafts.map(unmade), skipped }),
  nextStep({ viewId, locationId }, { drafts }) {
    const [first] = drafts;
    if (first === undefined) return elsewhereStep("Nothing is to be ordered.");
    const { purchaseOrderId } = first;
    if (purchaseOrderId === null)
      return {
        tool: name,
        arguments: { viewId, locationId, dryRun: false },
        advice: "Once a person agrees; in lines what they changed.",
      };
    const sendStep = {
      tool: "purchase_order_status",
      arguments: { purchaseOrderId, status: "Sent" },
      advice: "Likewise each draft: ask first.",
    };
    const warned = drafts.find(({ warnings }) => warnings !== undefined);
    if (warned === undefined) return sendStep;
    const reasons = (warned.warnings ?? []).map(({ reason }) => reason);
    return correctionStep(warned.purchaseOrderId ?? purchaseOrderId, reasons, sendStep);
  },
  faults: ["NOT_FOUND", "LIMIT_EXCEEDED"],
  input: z
    .strictObject({
      viewId: id.meta({ description: "Of forecast_view_list." }),
      locationId: id.meta({ description: "Where the goods are to come." }),
      noteToSupplier: textOfLines(noteMax).optional(),
      lines: z
        .array(z.strictObject({ variantId: id, quantity }))
        .max(reorderVariantsMax)
        .check(noRepeats((line) => line.variantId, "variantId"))
        .optional()
        .meta({
          description: "Quantities in place of the suggested ones; 0 leaves a variant out.",
        }),
    })
    .meta({ example: { viewId: "fv_demo_order", locationId: "loc_warehouse" } }),
  output: z.strictObject({ drafts: z.array(draftSchema), skipped: z.array(skippedSchema) }),
  async run(call, reorderInput) {
    const { shopId } = call.shop;
    const quantities = new Map((reorderInput.lines ?? []).map((line) => [line.variantId, line.quantity]));
    // Before the turn of the change: a forecast may read the whole catalogue.
    const suggestions = await suggestionsOf(call, reorderInput, quantities);
    const variantIds = suggestions.map(({ facts }) => facts.variantId);
    const known = new Set(variantIds);
    const others = [...quantities.keys()].filter((variantId) => !known.has(variantId));
    return call.commit(async (tx) => {
      const [onDraft, outside] = await Promise.all([
        loadDraftsWith(tx, shopId, variantIds),
        loadVariants(tx, shopId, others),
      ]);
      const { drafts, skipped } = planReorder({ suggestions, quantities, onDraft, outside });
      const made: z.output<typeof draftSchema>[] = [];
      for (const draft of drafts) {
        const identity = { purchaseOrderId: call.ids.next("po"), poNumber: await nextPoNumber(tx, shopId) };
        const { decided, lines } = await orderOf(tx, call, draft, reorderInput, identity);
        // The change is the create operation's own; the tool is named by the audit row.
        await saveFor(tx, { ...call, operation: createPurchaseOrder.name }, null, decided);
        const warnings = await warningsIn(tx, call, decided, newDraftInQuestion(decided.next, lines));
        made.push({ ...draftJson(draft, decided), ...warnings });
      }
      return { effects: [], answer: () => ({ data: { drafts: made, skipped: skipped.map(skippedJson) } }) };
    });
  },
});
