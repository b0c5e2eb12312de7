/**
 * The inventory guard's verdict: which lines of a call are stopped by how their variants stand at the storefront, and what a caller
 * may do about it (spec "Rules attached to the endpoints" 5; C44).
 *
 * Owns: the verdict, and what of a decision reaches the storefront when lines are skipped. Does not own: the look-up at the
 * storefront and the refusal (operations/purchase-orders/guard.ts).
 */
import type { Effect } from "./effect.ts";
import type { GuardDetail } from "./fault.ts";
import { isCustom } from "./lines.ts";
import type { Decision, LineItem } from "./purchase-order.ts";

/** How a variant stands at the storefront. `unsyncable`: there, but its stock cannot be set (a bundle, an untracked item). */
export type VariantStanding = "active" | "inactive" | "deleted" | "unsyncable";

/** What a caller wants done with a line whose variant is not active. `itemId` is the line's id. */
export interface Resolution {
  readonly itemId: string;
  readonly action: "activate" | "skip";
}

export interface GuardVerdict {
  /** Lines in the way that no resolution takes away. While there is one, nothing may be changed. */
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
 * Judges the lines of a call by how their variants stand. Custom lines are exempt; resolutions of lines without an issue are
 * ignored; activating a variant takes the issue away from every line of it; a deleted or unsyncable one can only be skipped.
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
  const inTheWay = lineItems.flatMap((line) => {
    const standing = standings.get(line.variantId) ?? "deleted";
    return isCustom(line) || standing === "active" ? [] : [{ line, issue: standing }];
  });
  const skipped = inTheWay.filter(({ line }) => actions.get(line.poLineItemId) === "skip");
  const activate = new Set(
    inTheWay
      .filter(({ line, issue }) => issue === "inactive" && actions.get(line.poLineItemId) === "activate")
      .map(({ line }) => line.variantId),
  );
  return {
    issues: inTheWay
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
 * The decision with the storefront left alone for these variants: the order's quantities are recorded all the same, and what
 * was left out follows with a later call (C44 "skip").
 */
export function leavingAlone(decision: Decision, variantIds: ReadonlySet<string>): Decision {
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
      case "settle-costs":
        return [effect];
    }
  });
  return { ...decision, effects };
}
