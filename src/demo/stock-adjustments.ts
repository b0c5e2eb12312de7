/**
 * The demo's stock adjustments.
 */
import type { Calendar } from "./calendar.ts";
import { type DemoVariant, someVariants } from "./catalogue.ts";
import { clerk, keyOf, owner, store, warehouse } from "./shop.ts";

/** Reason, status, location, who, days ago, deltas, note. The last one reverts the one before it; only the later one says so. */
const adjustments = [
  ["rsn_count", "Completed", warehouse, owner, 87, [-1, 2], "From the year count."],
  ["rsn_count", "Completed", store, clerk, 40, [-1], "From the count of the shop shelves."],
  ["rsn_damaged", "Completed", store, clerk, 21, [-2], "The tray fell."],
  ["rsn_tasting", "Completed", store, clerk, 14, [-0.25, -0.5], "Saturday tasting."],
  ["rsn_found", "Draft", warehouse, clerk, 1, [3], "Behind the pallet rack; to be checked."],
  ["rsn_damaged", "Reverted", warehouse, clerk, 9, [-6], "Wet boxes."],
  ["rsn_damaged", "Completed", warehouse, owner, 8, [6], "Only the boxes were wet."],
] as const;

export function* stockAdjustmentRecords(variants: readonly DemoVariant[], { at }: Calendar): Generator<object> {
  for (const [index, [reasonId, status, locationId, actor, daysAgo, deltas, note]] of adjustments.entries()) {
    const isRevert = index === adjustments.length - 1;
    // A revert has the same variants as what it takes back.
    const adjusted = someVariants(variants, isRevert ? index - 1 : index, deltas.length);
    yield {
      type: "stockAdjustment",
      stockAdjustmentId: `sa_demo_${keyOf(index)}`,
      stockAdjustmentNumber: `SA-${1_001 + index}`,
      status,
      locationId,
      reasonId,
      createdBy: actor.name,
      createdAt: at(daysAgo, 245),
      appliedAt: status === "Draft" ? null : at(daysAgo, 250),
      revertOf: isRevert ? `sa_demo_${keyOf(index - 1)}` : null,
      note,
      lineItems: adjusted.map(({ variantId, unitCost }, line) => ({
        stockAdjustmentLineItemId: `sal_demo_${keyOf(index)}_${line + 1}`,
        variantId,
        quantityDelta: deltas[line] ?? 0,
        unitCost,
      })),
    };
  }
}
