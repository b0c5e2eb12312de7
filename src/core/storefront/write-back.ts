/**
 * The write-back to the supplier's catalogue: which values of edited lines go to the supplier's entry for the variant
 * (spec "Rules attached to the endpoints" 6; C46).
 *
 * Owns: what is carried over and what becomes of each line. Does not own: the entries' rows
 * (shop/catalogue/catalogue.ts), when it is asked for (operations/purchase-orders/lines.ts).
 */
import { isCustom } from "../order/lines.ts";
import type { Money } from "../money/money.ts";
import { type Changes, type Fields, namesGiven, type supplierFields } from "../order/purchase-order-fields.ts";
import type { LineFailure, LineItem, PurchaseOrder } from "../order/purchase-order.ts";
import { supplierTermFields } from "../supplier/supplier-terms.ts";

/** Fields of a supplier's catalogue entry for a variant that a write-back may set. */
export const supplierEntryFields = {
  ...supplierTermFields,
  /** JSON text. It is shown to the operator alone (C36). */
  supplierVariantDetails: { kind: "text", empty: null },
} as const satisfies Fields;

/** Values for a supplier's catalogue entry. An absent one is left as it is, null clears. */
export interface SupplierEntryChanges extends Changes<typeof supplierEntryFields> {}

/** Fields of a line edit that the write-back reads. An absent value is not carried over. */
export interface WriteBackEdit extends Changes<typeof supplierFields> {
  readonly lineItemId: string;
  readonly unitCost?: Money | undefined;
  /** Null: the order's currency. */
  readonly unitCostCurrencyCode?: string | null | undefined;
  /** Any JSON. */
  readonly supplierVariantDetails?: unknown;
}

/** Result for one line; `variantId` is null when the order has no such line. */
interface WriteBackLine {
  readonly lineItemId: string;
  readonly variantId: string | null;
  readonly outcome: "applied" | "skipped" | "failed";
  readonly error?: string;
}

/** Entries that a write-back sets, and the report for its caller. */
interface WriteBack {
  readonly writes: readonly { readonly variantId: string; readonly changes: SupplierEntryChanges }[];
  /** `failed` if any line failed, else `applied` if any was applied, else `skipped`. */
  readonly outcome: WriteBackLine["outcome"];
  /** One for each edit, in the order of the edits. */
  readonly lines: readonly WriteBackLine[];
}

/**
 * Decides which values of the edited lines go to the supplier's catalogue. An entry that is not there is never made.
 *
 * @param edited              the order after the edit, and the lines that could not be edited.
 * @param variantIdsWithEntry variants of the order for which its supplier has a catalogue entry.
 * Source: spec "Rules attached to the endpoints" 6; C46.
 */
export function decideWriteBack(
  edits: readonly WriteBackEdit[],
  edited: { readonly next: PurchaseOrder; readonly failed: readonly LineFailure[] },
  variantIdsWithEntry: ReadonlySet<string>,
): WriteBack {
  const { next, failed } = edited;
  const lineItems = new Map(next.lineItems.map((line) => [line.poLineItemId, line]));
  const failures = new Map(failed.map((failure) => [failure.lineItemId, failure]));
  const writes: { readonly variantId: string; readonly changes: SupplierEntryChanges }[] = [];
  const lines = edits.map((edit): WriteBackLine => {
    const { lineItemId } = edit;
    const line = lineItems.get(lineItemId);
    const failure = failures.get(lineItemId);
    const of = { lineItemId, variantId: line?.variantId ?? null };
    if (line === undefined || failure !== undefined)
      return { ...of, outcome: "skipped", error: `line edit not applied: ${failure?.message ?? "no such line"}` };
    if (next.supplierId === null || isCustom(line)) return { ...of, outcome: "skipped" };
    const changes = carriedOver(edit, line);
    if (namesGiven(supplierEntryFields, changes).length === 0) return { ...of, outcome: "skipped" };
    if (!variantIdsWithEntry.has(line.variantId))
      return { ...of, outcome: "failed", error: "The supplier has no catalogue entry for this variant." };
    writes.push({ variantId: line.variantId, changes });
    return { ...of, outcome: "applied" };
  });
  const has = (outcome: WriteBackLine["outcome"]): boolean => lines.some((line) => line.outcome === outcome);
  return { writes, outcome: has("failed") ? "failed" : has("applied") ? "applied" : "skipped", lines };
}

/** A cost means nothing without its currency, so the line's goes with it. */
function carriedOver(edit: WriteBackEdit, line: LineItem): SupplierEntryChanges {
  const { supplierVariantDetails: details, unitCost, unitCostCurrencyCode } = edit;
  const hasCost = unitCost !== undefined || unitCostCurrencyCode !== undefined;
  return {
    ...edit,
    unitCostCurrencyCode: hasCost ? line.unitCostCurrencyCode : undefined,
    supplierVariantDetails: details === undefined || details === null ? details : JSON.stringify(details),
  };
}
