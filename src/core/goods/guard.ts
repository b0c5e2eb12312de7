/**
 * The inventory guard's verdict: the lines that stop a call because their variants are not active, and the caller's
 * choices (spec "Rules attached to the endpoints" 5; C44).
 *
 * Owns: the verdict, and what of a decision reaches the storefront when lines are skipped. Does not own: the look-up at
 * the storefront and the refusal (operations/purchase-orders/goods/guard.ts).
 */
import type { Effect } from "../order/effect.ts";
import type { GuardDetail } from "../../base/fault.ts";
import { isCustom } from "../order/lines.ts";
import type { Decision, LineItem } from "../order/purchase-order.ts";

/**
 * State of a variant at the storefront. `unsyncable`: there, but its stock cannot be set (a bundle, an untracked item).
 */
export type VariantStanding = "active" | "inactive" | "deleted" | "unsyncable";

/** True if the storefront takes changes of the variant's stock. */
export const keepsStock = (standing: VariantStanding): boolean => standing === "active" || standing === "inactive";

/** Caller's choice for a line whose variant is not active. `itemId` is the line's id. */
export interface Resolution {
  readonly itemId: string;
  readonly action: "activate" | "skip";
}

/** Result of the guard for a call. */
export interface GuardVerdict {
  /** Lines that stop the call: their variant is not active, and no resolution covers them. */
  readonly issues: readonly GuardDetail[];
  /** Inactive variants that the caller wants active. */
  readonly activateVariantIds: readonly string[];
  /** Lines that the caller wants recorded without the storefront. */
  readonly skippedLineItemIds: ReadonlySet<string>;
}

const allowedActions = {
  inactive: ["activate", "skip"],
  deleted: ["skip"],
  unsyncable: ["skip"],
} as const satisfies Record<GuardDetail["issue"], GuardDetail["allowedActions"]>;

/**
 * Finds the lines of a call whose variants are not active. Custom lines are exempt. Resolutions of lines without an
 * issue are ignored. Activating a variant resolves every line of it; a deleted or unsyncable one can only be skipped.
 *
 * @param standings how each catalogue variant of the lines stands; one that is missing counts as deleted.
 * Source: spec "Rules attached to the endpoints" 5; C44.
 */
export function guardVerdict(
  lineItems: readonly Pick<LineItem, "poLineItemId" | "variantId">[],
  standings: ReadonlyMap<string, VariantStanding>,
  resolutions: readonly Resolution[],
): GuardVerdict {
  const actions = new Map(resolutions.map((resolution) => [resolution.itemId, resolution.action]));
  const stopped = lineItems.flatMap((line) => {
    const standing = standings.get(line.variantId) ?? "deleted";
    return isCustom(line) || standing === "active" ? [] : [{ line, issue: standing }];
  });
  const skipped = stopped.filter(({ line }) => actions.get(line.poLineItemId) === "skip");
  const activate = new Set(
    stopped
      .filter(({ line, issue }) => issue === "inactive" && actions.get(line.poLineItemId) === "activate")
      .map(({ line }) => line.variantId),
  );
  return {
    issues: stopped
      .filter((entry) => !skipped.includes(entry) && !activate.has(entry.line.variantId))
      .map(({ line, issue }) => ({
        itemId: line.poLineItemId,
        variantId: line.variantId,
        issue,
        allowedActions: allowedActions[issue],
      })),
    activateVariantIds: [...activate],
    skippedLineItemIds: new Set(skipped.map(({ line }) => line.poLineItemId)),
  };
}

/**
 * The decision without the effects on these variants: the order's quantities are recorded all the same, and a later
 * call tells the storefront of them (C44 "skip").
 */
export function withoutStorefront(decision: Decision, variantIds: ReadonlySet<string>): Decision {
  if (variantIds.size === 0) return decision;
  const skippedLines = new Set(
    decision.next.lineItems.filter((line) => variantIds.has(line.variantId)).map((line) => line.poLineItemId),
  );
  const effects = decision.effects.flatMap((effect): Effect[] => {
    switch (effect.kind) {
      case "push-stock": {
        const poLineItemIds = effect.poLineItemIds.filter((id) => !skippedLines.has(id));
        return poLineItemIds.length === 0 ? [] : [{ ...effect, poLineItemIds }];
      }
      case "mirror-incoming":
      case "sync-tags": {
        const kept = effect.variantIds.filter((id) => !variantIds.has(id));
        return kept.length === 0 ? [] : [{ ...effect, variantIds: kept }];
      }
      case "keep-variant":
      case "keep-level":
      case "settle-costs":
      case "take-back-costs":
      case "end-cost-sync":
      case "end-confirmation":
        return [effect];
    }
  });
  return { ...decision, effects };
}
