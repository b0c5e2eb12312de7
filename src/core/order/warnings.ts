/**
 * What looks wrong about an order and is not refused: ids that the shop does not know, a cost that nobody sent, quantities that the
 * supplier does not sell (C16).
 *
 * Pure. Does not own: which parts of a request are looked at (operations/purchase-orders/warnings.ts).
 */
import { isCustom } from "./lines.ts";
import { quantityToNumber } from "../money/money.ts";
import type { LineItem, PurchaseOrder } from "./purchase-order.ts";
import { isOpen } from "./status.ts";

/** Why a write of an order warns (C16). */
export const warningReasons = [
  "unknown-supplier",
  "unknown-location",
  "unknown-variant",
  "no-cost",
  "off-moq",
  "off-pack-size",
  "no-lines",
] as const;

/** `path` is a JSON pointer into the request; "" when it is about the order as a whole. */
interface Warning {
  readonly path: string;
  readonly reason: (typeof warningReasons)[number];
  readonly message: string;
}

/** A line that is looked at. */
export interface LineInQuestion {
  readonly line: LineItem;
  /** Pointer to the entry that asked for it; null for a line of the order that the request does not name. */
  readonly path: string | null;
  /** Whether the line is new, no cost was sent and none is known (C32). */
  readonly isCostMissing: boolean;
}

/** What is looked at. */
export interface InQuestion {
  /** Pointer to the supplier's id; null when it is not looked at. */
  readonly supplierPath: string | null;
  readonly locationPath: string | null;
  readonly lines: readonly LineInQuestion[];
}

/**
 * Names what looks wrong in the parts of the order that are looked at. Custom lines are only told of a missing cost. Several warnings of
 * one reason at one path become one that counts them.
 *
 * Source: C16.
 */
export function orderWarnings(
  next: PurchaseOrder,
  { supplierPath, locationPath, lines }: InQuestion,
): readonly Warning[] {
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
  for (const line of lines) warnings.push(...lineWarnings(line));
  if (isOpen(next) && next.lineItems.length === 0)
    warnings.push({ path: "", reason: "no-lines", message: `The order is ${next.status} and has no lines.` });
  return counted(warnings);
}

function lineWarnings({ line, path, isCostMissing }: LineInQuestion): readonly Warning[] {
  const warnings: Warning[] = [];
  const warn = (member: string, reason: Warning["reason"], message: string): void => {
    warnings.push({ path: path === null ? "" : `${path}/${member}`, reason, message });
  };
  const { variantId, quantityOrdered, moq, packSize } = line;
  // A catalogue line always has its product's name, unless the catalogue did not hold the variant when the line was made (D2).
  if (!isCustom(line) && line.productName === null)
    warn(
      "variantId",
      "unknown-variant",
      `The catalogue has no variant ${variantId}; an SKU or a barcode is no variantId.`,
    );
  if (isCostMissing) warn("unitCost", "no-cost", "No unitCost was sent and none is known, so the line counts as 0.");
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
