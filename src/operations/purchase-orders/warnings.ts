/**
 * Warnings in the answers of writes (C16). The rules are in core/order/advice/warnings.ts; here is what of a request
 * they look at.
 */
import { z } from "zod";
import { dateOf, dayIn } from "../../base/time/calendar.ts";
import { isCustom } from "../../core/order/lines.ts";
import type { Decision, LineItem, PurchaseOrder } from "../../core/order/purchase-order.ts";
import { lacksCost } from "../../core/supplier/supplier-terms.ts";
import {
  hasSupplierVariants,
  loadSupplier,
  loadSupplierVariantIds,
  loadTerms,
  loadVariants,
} from "../../shop/catalogue/catalogue.ts";
import { variantsOfCodes } from "../../shop/catalogue/look-ups.ts";
import type { Tx } from "../../store/store.ts";
import type { Call } from "../../requests/operation.ts";
import {
  type InQuestion,
  isUnknownVariant,
  type LineInQuestion,
  type VariantsByCode,
  orderWarnings,
  warningReasons,
} from "../../core/order/advice/warnings.ts";

const warningSchema = z
  .strictObject({
    path: z.string().meta({ description: "JSON pointer into the request; empty for the order as a whole." }),
    reason: z.enum(warningReasons),
    message: z.string(),
  })
  .meta({ id: "Warning", description: "Something that looks wrong and was done all the same." });

/** The member of answers; it is absent when there is nothing to warn of. */
export const warningsShape = {
  warnings: z
    .array(warningSchema)
    .optional()
    .meta({ description: "What looks wrong and was done all the same; absent when there is nothing." }),
} as const;

/** A line that is looked at. `isCostMissing` null: the call has sent no cost, and whether one is known is looked up. */
interface LookedAtLine extends Omit<LineInQuestion, "isCostMissing"> {
  readonly isCostMissing: boolean | null;
}

/** Parts of an order that are looked at. */
interface LookedAt extends Partial<Omit<InQuestion, "lines">> {
  readonly lines?: readonly LookedAtLine[];
}

/** Returns the checks that follow from the header of a request. */
export const headerInQuestion = (sent: {
  readonly supplierId?: string | null | undefined;
  readonly locationId?: string | null | undefined;
  readonly expectedDeliveryDate?: string | null | undefined;
  readonly discountAmount?: unknown;
}): Pick<InQuestion, "supplierPath" | "locationPath" | "datePath" | "discountPath"> => ({
  supplierPath: sent.supplierId === undefined ? null : "/supplierId",
  locationPath: sent.locationId === undefined ? null : "/locationId",
  datePath: sent.expectedDeliveryDate === undefined ? null : "/expectedDeliveryDate",
  discountPath: sent.discountAmount === undefined ? "" : "/discountAmount",
});

/**
 * New lines: the last of the order, one for each entry of the request. `unitCost` is absent when none was sent and none
 * is known.
 */
export const newLinesInQuestion = (
  next: PurchaseOrder,
  entries: readonly { readonly path: string; readonly unitCost?: unknown }[],
): readonly LineInQuestion[] =>
  next.lineItems.slice(next.lineItems.length - entries.length).flatMap((line, index) => {
    const entry = entries[index];
    return entry === undefined
      ? []
      : [{ line, path: entry.path, isCostMissing: entry.unitCost === undefined, isNew: true }];
  });

/** A new Draft whose request names no lines: all of them, with what the shop knows of their costs. */
export const newDraftInQuestion = (
  { lineItems }: PurchaseOrder,
  entries: readonly { readonly unitCost?: unknown }[],
): LookedAt => ({
  supplierPath: "",
  locationPath: "",
  lines: lineItems.map((line, index) => ({
    line,
    path: null,
    isCostMissing: entries[index]?.unitCost === undefined,
    isNew: true,
  })),
});

/** Edited lines whose quantity, MOQ, pack size, cost or day was sent. */
export const editedLinesInQuestion = (
  next: PurchaseOrder,
  edits: readonly {
    readonly lineItemId: string;
    readonly quantityOrdered?: unknown;
    readonly moq?: unknown;
    readonly packSize?: unknown;
    readonly unitCost?: unknown;
    readonly unitCostCurrencyCode?: unknown;
    readonly expectedDeliveryDate?: unknown;
  }[],
  updatedLineItemIds: ReadonlySet<string>,
): readonly LookedAtLine[] => {
  const lines = new Map(next.lineItems.map((line) => [line.poLineItemId, line]));
  return edits.flatMap((edit, index) => {
    const { lineItemId, quantityOrdered, moq, packSize, unitCost, unitCostCurrencyCode, expectedDeliveryDate } = edit;
    const line = lines.get(lineItemId);
    const given = [quantityOrdered, moq, packSize, unitCost, unitCostCurrencyCode, expectedDeliveryDate];
    const isSent = given.some((value) => value !== undefined);
    if (line === undefined || !isSent || !updatedLineItemIds.has(lineItemId)) return [];
    const isCostMissing = unitCost === undefined ? null : false;
    return [{ line, path: `/lines/${index}`, isCostMissing, isNew: expectedDeliveryDate !== undefined }];
  });
};

/** Fields that the supplier's document does not show, or that follow from others. */
const unseenFields: ReadonlySet<string> = new Set([
  "poName",
  "tags",
  "note",
  "fxRateOverride",
  "fxRates",
  "totalValue",
  "grandTotal",
  "status",
  "moq",
  "leadTimeDays",
  "supplierProductUrl",
  "quantityRejected",
]);

/** Ids of documents that a mail has sent: made of their hash. */
const sentDocumentId = /^doc_[0-9a-f]{16,}$/;

/** The latest version that was sent to the supplier; null: none was, or it shows the order as it is. */
function olderVersion(decided: Decision): number | null {
  const { next, log } = decided;
  const isSeen = log.some(
    ({ action, changes }) => action !== "create" && changes.some(({ field }) => !unseenFields.has(field)),
  );
  const isSentAgain =
    log.some(({ action }) => action === "status") && next.status === "Sent" && next.previousStatus === "Draft";
  if (!isSeen && !isSentAgain) return null;
  const versions = next.attached.documents.flatMap(({ documentId, documentType, version }) =>
    documentType === "purchase-order" && sentDocumentId.test(documentId) && version < next.version ? version : [],
  );
  return versions.length === 0 ? null : Math.max(...versions);
}

/** The variants of these lines that the order's supplier has entries for; null: it has none, or no line is new. */
async function suppliedVariants(
  tx: Tx,
  shopId: string,
  { supplierId }: PurchaseOrder,
  lines: readonly LineInQuestion[],
): Promise<ReadonlySet<string> | null> {
  const variantIds = [...new Set(lines.flatMap(({ line, isNew }) => (isNew && !isCustom(line) ? line.variantId : [])))];
  if (supplierId === null || variantIds.length === 0) return null;
  const found = await loadSupplierVariantIds(tx, shopId, supplierId, variantIds);
  return found.size > 0 || (await hasSupplierVariants(tx, shopId, supplierId)) ? found : null;
}

/** The lines with what is known of their costs: by the supplier's entries and the catalogue, as they are now (C32). */
async function withKnownCosts(
  tx: Tx,
  { shop: { shopId, currencyCode: shop } }: Call,
  { supplierId, currencyCode: order }: PurchaseOrder,
  lines: readonly LookedAtLine[],
): Promise<readonly LineInQuestion[]> {
  const asked = lines.filter(({ line, isCostMissing }) => isCostMissing === null && line.unitCost === 0);
  const variantIds = [...new Set(asked.flatMap(({ line }) => (isCustom(line) ? [] : line.variantId)))];
  const [supplier, terms, variants] = await Promise.all([
    supplierId === null || variantIds.length === 0 ? null : loadSupplier(tx, shopId, supplierId),
    supplierId === null ? null : loadTerms(tx, shopId, supplierId, variantIds),
    loadVariants(tx, shopId, variantIds),
  ]);
  const currencies = { order, supplier: supplier?.currencyCode ?? shop, shop };
  return lines.map(({ isCostMissing, ...looked }) => {
    const { line } = looked;
    const known = {
      terms: terms?.get(line.variantId) ?? null,
      variantUnitCost: variants.get(line.variantId)?.unitCost ?? null,
    };
    return { ...looked, isCostMissing: isCostMissing ?? lacksCost(line, known, currencies) };
  });
}

/** The variants that these lines mean with an id that the catalogue never had, where it is a code. */
export async function variantsByCode(
  tx: Tx,
  shopId: string,
  supplierId: string | null,
  lines: readonly Pick<LineItem, "variantId" | "productName">[],
): Promise<VariantsByCode> {
  const ids = [...new Set(lines.filter(isUnknownVariant).map(({ variantId }) => variantId))];
  if (ids.length === 0) return new Map();
  const found = await variantsOfCodes(tx, shopId, supplierId, ids);
  return new Map(ids.map((id, index) => [id, found[index] ?? []]));
}

/** The answer's member: warnings of what is looked at (C16). */
export async function warningsIn(
  tx: Tx,
  call: Call,
  decided: Decision,
  inQuestion: LookedAt,
): Promise<{ warnings?: z.output<typeof warningSchema>[] }> {
  const { shopId, currencyCode: shopCurrency, timezone } = call.shop;
  const { next } = decided;
  const lines = await withKnownCosts(tx, call, next, inQuestion.lines ?? []);
  const subject: InQuestion = {
    supplierPath: null,
    locationPath: null,
    datePath: null,
    discountPath: "",
    keptTerms: [],
    isCompleted: false,
    olderVersion: olderVersion(decided),
    suppliedVariantIds: await suppliedVariants(tx, shopId, next, lines),
    ...inQuestion,
    lines,
  };
  const byCode = await variantsByCode(
    tx,
    shopId,
    next.supplierId,
    lines.map(({ line }) => line),
  );
  const today = dateOf(dayIn(timezone, call.clock.now()));
  const warnings = orderWarnings(next, subject, { today, shopCurrency, byCode });
  return warnings.length === 0 ? {} : { warnings: warnings.map((warning) => ({ ...warning })) };
}

/** All lines of the order, of which the call has named none. */
const allLinesOf = ({ lineItems }: PurchaseOrder): readonly LookedAtLine[] =>
  lineItems.map((line) => ({ line, path: null, isCostMissing: null, isNew: true }));

/** All lines of an order whose supplier has changed, for what the supplier has. */
export const suppliedLinesInQuestion = (before: PurchaseOrder, next: PurchaseOrder): LookedAt =>
  before.supplierId === next.supplierId ? {} : { lines: allLinesOf(next) };

/** The whole order is looked at when it is sent. */
export const sentOrderInQuestion = (next: PurchaseOrder): LookedAt =>
  next.status === "Sent"
    ? {
        supplierPath: "",
        locationPath: "",
        datePath: "",
        lines: allLinesOf(next),
      }
    : {};
