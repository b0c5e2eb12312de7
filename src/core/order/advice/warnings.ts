/**
 * Things about an order that look wrong and are not refused: unknown ids, a cost that nobody sent, quantities that the
 * supplier does not sell (C16).
 *
 * Pure. Does not own: which parts of a request are looked at (operations/purchase-orders/warnings.ts).
 */
import { pendingDates } from "../attachments.ts";
import { isCustom, pendingQuantity } from "../lines.ts";
import { moneyToNumber, quantityToNumber } from "../../money/money.ts";
import type { LineItem, PurchaseOrder } from "../purchase-order.ts";
import { isClosed, isHeld, isOpen } from "../status.ts";
import { discountExcess } from "../totals.ts";

/** Why a write of an order warns (C16). */
export const warningReasons = [
  "unknown-supplier",
  "unknown-location",
  "unknown-variant",
  "not-this-supplier",
  "no-cost",
  "no-rate",
  "off-moq",
  "off-pack-size",
  "no-lines",
  "past-date",
  "date-ignored",
  "other-supplier-terms",
  "supplier-has-older-version",
  "discount-above-total",
  "given-up",
] as const;

/** Why a write warns. */
export type WarningReason = (typeof warningReasons)[number];

/** `path` is a JSON pointer into the request; "" when it is about the order as a whole. */
interface Warning {
  readonly path: string;
  readonly reason: WarningReason;
  readonly message: string;
}

/** A line that is looked at. */
export interface LineInQuestion {
  readonly line: LineItem;
  /** Pointer to the entry that asked for it; null for a line of the order that the request does not name. */
  readonly path: string | null;
  /** True if no cost was sent and none is known (C32). */
  readonly isCostMissing: boolean;
  /** True if its variant and its day are checked: it is new, or the whole order is. */
  readonly isNew: boolean;
}

/** Order and lines that are checked. */
export interface InQuestion {
  /** Pointer to the supplier's id; null when it is not looked at. */
  readonly supplierPath: string | null;
  readonly locationPath: string | null;
  /** Pointer to the order's expected date; null when it is not looked at. */
  readonly datePath: string | null;
  /** Pointer to the discount; it is always looked at. */
  readonly discountPath: string;
  readonly lines: readonly LineInQuestion[];
  /**
   * The variants among the lines' that the supplier has entries for. Null: it has none at all, or that is not looked
   * at.
   */
  readonly suppliedVariantIds: ReadonlySet<string> | null;
  /** Terms that a caller had typed and another supplier has otherwise. */
  readonly keptTerms: readonly string[];
  /** The latest version that was sent to the supplier, if what it shows has changed since. */
  readonly olderVersion: number | null;
  /** True if the order is completed by the call: what is pending is expected no more. */
  readonly isCompleted: boolean;
}

/** Facts beside the order: the day where the shop is, its currency, and whose codes were given as ids. */
interface WarningFacts {
  readonly today: string;
  readonly shopCurrency: string;
  /** Variants that have an unknown id as a code. */
  readonly byCode: VariantsByCode;
}

/** Variants by what was given as their id and is a code of theirs. */
export type VariantsByCode = ReadonlyMap<string, readonly string[]>;

/** Variants that a text names for a code. */
const codeVariantsMax = 3;

/** Words of an unknown id that is the SKU or barcode of variants; else an empty text. */
export function codeText(byCode: VariantsByCode, id: string): string {
  const variantIds = byCode.get(id) ?? [];
  const more = variantIds.length > codeVariantsMax ? ` and ${variantIds.length - codeVariantsMax} more` : "";
  return variantIds.length === 0 ? "" : `a code of ${variantIds.slice(0, codeVariantsMax).join(", ")}${more}`;
}

/**
 * Names what looks wrong in the parts of the order that are looked at. Of custom lines it tells a missing cost or rate.
 * Several warnings of one reason at one path become one that counts them.
 *
 * Source: C16.
 */
export function orderWarnings(next: PurchaseOrder, subject: InQuestion, facts: WarningFacts): readonly Warning[] {
  const { supplierPath, locationPath, lines } = subject;
  const warnings: Warning[] = [];
  if (supplierPath !== null && next.supplierId !== null && next.supplierName === null)
    warnings.push({
      path: supplierPath,
      reason: "unknown-supplier",
      message: `The shop knows no supplier ${next.supplierId}.`,
    });
  if (locationPath !== null && next.locationId !== null && next.locationName === null)
    warnings.push({
      path: locationPath,
      reason: "unknown-location",
      message: `The shop knows no location ${next.locationId}.`,
    });
  for (const line of lines)
    warnings.push(...lineWarnings(line, facts.byCode), ...newLineWarnings(next, line, subject, facts.today));
  warnings.push(...rateWarnings(next, lines), ...dateWarnings(next, subject, facts.today));
  const kept = subject.keptTerms.join(", ");
  if (kept !== "")
    warnings.push({
      path: supplierPath ?? "",
      reason: "other-supplier-terms",
      message:
        next.supplierId === null
          ? `${kept}: what was typed stayed, though the order has no supplier now.`
          : `${kept}: what was typed stayed, and the new supplier has it otherwise.`,
    });
  if (subject.olderVersion !== null)
    warnings.push({
      path: "",
      reason: "supplier-has-older-version",
      message: `The supplier was sent version ${subject.olderVersion}; the order is at version ${next.version}. ${isHeld(next) ? `It is ${next.status}: do not send it while it is.` : "Send it again."}`,
    });
  const excess = discountExcess(next, facts.shopCurrency);
  if (excess > 0 && next.lineItems.length > 0)
    warnings.push({
      path: subject.discountPath,
      reason: "discount-above-total",
      message: `discountAmount is ${moneyToNumber(excess)} ${next.currencyCode} above what it is taken off, so the order owes 0.`,
    });
  if (subject.isCompleted) warnings.push(...givenUpWarnings(next));
  if (isOpen(next) && next.lineItems.length === 0)
    warnings.push({ path: "", reason: "no-lines", message: `The order is ${next.status} and has no lines.` });
  return counted(warnings);
}

/** Lines that a text names at most. */
const namedLinesMax = 5;

/** Names the lines whose pending goods a completion gives up, and how many (C27). */
function givenUpWarnings({ lineItems }: PurchaseOrder): readonly Warning[] {
  const lines = lineItems.filter((line) => pendingQuantity(line) > 0);
  if (lines.length === 0) return [];
  const named = lines.slice(0, namedLinesMax).map((line) => {
    const { sku, productName, variantId, poLineItemId } = line;
    return `${quantityToNumber(pendingQuantity(line))} of ${sku ?? productName ?? variantId} (${poLineItemId})`;
  });
  const more = lines.length > named.length ? ` and what is pending on ${lines.length - named.length} more lines` : "";
  const message = `The order is closed short. Expected no more: ${named.join(", ")}${more}.`;
  return [{ path: "", reason: "given-up", message }];
}

/** Lines without a rate: those that the call names, else the order's. */
function rateWarnings(next: PurchaseOrder, lines: readonly LineInQuestion[]): readonly Warning[] {
  const unpriced = new Set(next.unpricedLineItemIds);
  if (unpriced.size === 0) return [];
  const warningAt = (path: string, line: LineItem | undefined): Warning => ({
    path,
    reason: "no-rate",
    message: `No exchange rate between ${line?.unitCostCurrencyCode} and ${next.currencyCode} is known, so the line is left out of the totals.`,
  });
  const named = lines.flatMap(({ line, path }) =>
    path !== null && unpriced.has(line.poLineItemId) ? [warningAt(`${path}/unitCostCurrencyCode`, line)] : [],
  );
  if (named.length > 0) return named;
  return next.lineItems.filter((line) => unpriced.has(line.poLineItemId)).map((line) => warningAt("", line));
}

/** The order's own date: in the past, or of no use (C13). */
function dateWarnings(next: PurchaseOrder, { datePath: path }: InQuestion, today: string): readonly Warning[] {
  const { expectedDeliveryDate: date } = next;
  if (path === null || date === null || isClosed(next)) return [];
  const warnings: Warning[] = [];
  if (date < today) warnings.push({ path, reason: "past-date", message: `The expected date ${date} is in the past.` });
  const { sources } = pendingDates(next, next.attached.shipments);
  if (sources.size > 0 && !sources.has("order"))
    warnings.push({
      path,
      reason: "date-ignored",
      message: `The order's date ${date} does not count: what is to come has dates of its lines or shipments, next ${next.nextExpectedDate}.`,
    });
  return warnings;
}

function newLineWarnings(
  next: PurchaseOrder,
  { line, path, isNew }: LineInQuestion,
  { suppliedVariantIds }: InQuestion,
  today: string,
): readonly Warning[] {
  if (!isNew || isCustom(line)) return [];
  const warnings: Warning[] = [];
  const at = (member: string): string => (path === null ? "" : `${path}/${member}`);
  const { variantId, expectedDeliveryDate: date } = line;
  if (suppliedVariantIds !== null && line.productName !== null && !suppliedVariantIds.has(variantId))
    warnings.push({
      path: at("variantId"),
      reason: "not-this-supplier",
      message: `${next.supplierName} has no entry for ${variantId}, and has entries for others.`,
    });
  if (date !== null && date < today && pendingQuantity(line) > 0 && !isClosed(next))
    warnings.push({
      path: at("expectedDeliveryDate"),
      reason: "past-date",
      message: `The expected date ${date} of ${variantId} is in the past.`,
    });
  return warnings;
}

/**
 * True if the catalogue did not hold the variant when the line was made: else the line has its product's name (D2).
 */
export const isUnknownVariant = (line: Pick<LineItem, "variantId" | "productName">): boolean =>
  !isCustom(line) && line.productName === null;

function lineWarnings({ line, path, isCostMissing }: LineInQuestion, byCode: VariantsByCode): readonly Warning[] {
  const warnings: Warning[] = [];
  const warn = (member: string, reason: Warning["reason"], message: string): void => {
    warnings.push({ path: path === null ? "" : `${path}/${member}`, reason, message });
  };
  const { variantId, productName, quantityOrdered, moq, packSize } = line;
  if (isUnknownVariant(line)) {
    const code = codeText(byCode, variantId);
    const told = code === "" ? "an SKU or a barcode is no variantId" : `that is ${code}`;
    warn("variantId", "unknown-variant", `The catalogue has no variant ${variantId}; ${told}.`);
  }
  if (isCostMissing) {
    const named = isCustom(line) ? productName : variantId;
    warn("unitCost", "no-cost", `No unitCost of ${named} is known, so the line counts as 0.`);
  }
  if (isCustom(line)) return warnings;
  const ordered = quantityToNumber(quantityOrdered);
  if (moq !== null && quantityOrdered < moq)
    warn(
      "quantityOrdered",
      "off-moq",
      `${ordered} of ${variantId} is below the supplier's minimum of ${quantityToNumber(moq)}.`,
    );
  if (packSize !== null && quantityOrdered % packSize !== 0)
    warn(
      "quantityOrdered",
      "off-pack-size",
      `${ordered} of ${variantId} is no multiple of the pack size ${quantityToNumber(packSize)}.`,
    );
  return warnings;
}

/** One warning for each path and reason. */
function counted(warnings: readonly Warning[]): readonly Warning[] {
  const groups = new Map<string, { readonly first: Warning; count: number }>();
  for (const warning of warnings) {
    const key = `${warning.reason} ${warning.path}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { first: warning, count: 1 });
    else group.count += 1;
  }
  return [...groups.values()].map(({ first, count }) =>
    count === 1 ? first : { ...first, message: `${first.message} The same holds for ${count - 1} more lines.` },
  );
}
