/**
 * Opposites of a person's changes of an order: the values that it had, or the move that leads back. Pure. Null where
 * nothing gives back what was there.
 */
import type {
  Input,
  PurchaseOrder,
  PurchaseOrderLineItem as Line,
  PurchaseOrderStatus,
} from "../../../client/index.ts";
import { differenceOf } from "../merge.ts";
import { movesOf } from "../moves.ts";

/** Fields of the header that a person sets. */
const headerFields = [
  "poName",
  "supplierId",
  "locationId",
  "supplierReference",
  "orderDate",
  "expectedDeliveryDate",
  "paymentTerms",
  "incoterm",
  "shippingCost",
  "discountAmount",
  "taxAmount",
  "note",
  "noteToSupplier",
] as const;

/** Members that follow from those. */
const following: readonly string[] = ["supplierName", "locationName", "paidStatus"];

/** Fields of a line that a person edits. */
const lineFields = ["quantityOrdered", "unitCost", "expectedDeliveryDate"] as const;

/** Members that follow from those. */
const followingInLine: readonly string[] = ["lineTotal", "quantityPending", "lineItemStatus", "updatedAt"];

/** Values that every new line is given: those, the rest of its price, and its supplier's side. */
const termsOfLine = [
  ...lineFields,
  "unitCostCurrencyCode",
  "supplierSku",
  "supplierBarcode",
  "supplierProductName",
  "supplierProductUrl",
  "moq",
  "packSize",
  "leadTimeDays",
  "note",
] as const;

/** Values of what a line is for: given to one that is in no catalogue, else the catalogue's. */
const article = ["productName", "variantName", "sku", "barcode"] as const;

/** Members of a record, by these names. */
const picked = <Of extends object, Name extends keyof Of & string>(of: Of, names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, of[name]]));

const differing = <Of extends object>(one: Of, other: Of): readonly string[] => {
  const others = new Map(Object.entries(other));
  return Object.entries(one).flatMap(([name, value]) =>
    JSON.stringify(value) === JSON.stringify(others.get(name)) ? [] : [name],
  );
};

/** Values that an edit has replaced, of the header or of lines. */
interface Replaced {
  readonly header: Omit<Input<"purchase_order_update">, "purchaseOrderId">;
  readonly lines: Input<"purchase_order_line_item_update">["lines"];
}

/** Null too where an edit of the header has changed lines: another supplier's terms cannot be taken from them again. */
export function replacedBy(before: PurchaseOrder, after: PurchaseOrder): Replaced | null {
  const difference = differenceOf(before, after);
  const fields = difference.fields.filter((name) => !following.includes(name));
  const header = headerFields.filter((name) => fields.includes(name));
  if (header.length < fields.length || after.lineItems.length !== before.lineItems.length) return null;
  const lines: Input<"purchase_order_line_item_update">["lines"][number][] = [];
  for (const was of before.lineItems) {
    const is = after.lineItems.find(({ poLineItemId }) => poLineItemId === was.poLineItemId);
    if (is === undefined) return null;
    const members = differing(was, is).filter((name) => !followingInLine.includes(name));
    const edited = lineFields.filter((name) => members.includes(name));
    if (edited.length < members.length) return null;
    if (edited.length > 0) lines.push({ lineItemId: was.poLineItemId, ...picked(was, edited) });
  }
  if (header.length > 0 === lines.length > 0) return null;
  return { header: picked(before, header), lines };
}

/**
 * The status to which an order goes back. A draft that was sent does where nobody was mailed. What was made a draft
 * again would be sent once more, so it does not.
 */
export function moveBack(
  before: Pick<PurchaseOrder, "status">,
  after: PurchaseOrder,
  isMailed: boolean,
): PurchaseOrderStatus | null {
  if (isMailed || after.status === "Draft") return null;
  return movesOf(after).find((status) => status === before.status) ?? null;
}

/** True if a new line can be given all that this one had, but its id and its place. */
export const canComeBack = (line: Line): boolean =>
  line.quantityConfirmed === 0 &&
  line.quantityReceived === 0 &&
  line.quantityRejected === 0 &&
  line.quantityCancelled === 0 &&
  line.quantitySynced === 0;

export const catalogueLine = (line: Line) => ({
  ...picked(line, termsOfLine),
  variantId: line.variantId,
  quantityOrdered: line.quantityOrdered,
});

export const customLine = (line: Line) => ({
  ...picked(line, [...termsOfLine, ...article]),
  productName: line.productName ?? "",
  quantityOrdered: line.quantityOrdered,
});

/** True if a line that has come back says something else: its product has changed in the catalogue. */
export const isOtherwise = (line: Line, back: Line): boolean => {
  const members = [...termsOfLine, ...article];
  return differing(picked(line, members), picked(back, members)).length > 0;
};

/** True if a new draft can be given all that this one had, but its number and its history. */
export const canBeMadeAgain = (
  order: PurchaseOrder & {
    readonly shipment: unknown;
    readonly payments: readonly unknown[];
    readonly documents: readonly unknown[];
  },
): boolean =>
  order.status === "Draft" &&
  order.sentAt === null &&
  order.fxRateOverride === null &&
  order.paidStatus === "Unpaid" &&
  order.shipment === null &&
  order.payments.length === 0 &&
  order.documents.length === 0 &&
  order.lineItems.every(canComeBack);

/** The header of a new draft. Null is given too: what is left out is the supplier's. */
export const headerOf = (order: PurchaseOrder): Input<"purchase_order_create"> => ({
  ...picked(order, headerFields),
  currencyCode: order.currencyCode,
  tags: order.tags,
  billingAddress: order.billingAddress,
  shippingAddress: order.shippingAddress,
});

/** Lines that one call adds: those of the catalogue that stand together, or one that is in none. */
type Run = { readonly catalogue: Line[] } | { readonly custom: Line };

export function runsOf(lines: readonly Line[]): readonly Run[] {
  const runs: Run[] = [];
  for (const line of lines) {
    const run = runs.at(-1);
    if (line.isCustom) runs.push({ custom: line });
    else if (run !== undefined && "catalogue" in run) run.catalogue.push(line);
    else runs.push({ catalogue: [line] });
  }
  return runs;
}
