/**
 * The demo's stock takes and the reasons that they and stock adjustments have.
 */
import type { Calendar } from "./calendar.ts";
import { type DemoVariant, someVariants } from "./catalogue.ts";
import { clerk, keyOf, owner, store, warehouse } from "./shop.ts";

const reasons = [
  { reasonId: "rsn_count", name: "Cycle count", code: "COUNT", direction: "both", isSystem: true },
  { reasonId: "rsn_damaged", name: "Damaged", code: "DMG", direction: "decrease" },
  { reasonId: "rsn_tasting", name: "Used for tasting", code: "TASTE", direction: "decrease" },
  { reasonId: "rsn_found", name: "Found", code: "FOUND", direction: "increase" },
  { reasonId: "rsn_old_lot", name: "Old lot", direction: "decrease", isActive: false },
] as const;

/** Name, status, location, type, days ago, and for each variant what was expected and counted. */
const takes = [
  [
    "Year count",
    "Completed",
    warehouse,
    "full",
    88,
    [
      [42, 42],
      [18, 17],
      [36, 36],
      [12, 14],
      [9, 9],
    ],
  ],
  [
    "Shop shelves",
    "Completed",
    store,
    "cycle",
    40,
    [
      [11, 10],
      [7, 7],
      [5, 5],
    ],
  ],
  [
    "Tea corner",
    "Counted",
    store,
    "partial",
    3,
    [
      [14, 13],
      [9, 9],
      [6, 8],
    ],
  ],
  [
    "Ceramics",
    "In Progress",
    warehouse,
    "partial",
    1,
    [
      [22, 22],
      [18, null],
      [7, null],
    ],
  ],
  [
    "Next year count",
    "Draft",
    warehouse,
    "full",
    0,
    [
      [30, null],
      [12, null],
    ],
  ],
] as const;

export function* stockTakeReasonRecords(): Generator<object> {
  for (const reason of reasons) yield { type: "stockTakeReason", ...reason };
}

/** A completed one names the adjustment that it made, of the same place in its list. */
export function* stockTakeRecords(variants: readonly DemoVariant[], { at }: Calendar): Generator<object> {
  for (const [index, [name, status, locationId, countType, daysAgo, counts]] of takes.entries()) {
    const key = keyOf(index);
    yield {
      type: "stockTake",
      stockTakeId: `st_demo_${key}`,
      stockTakeNumber: `ST-${1_001 + index}`,
      stockTakeName: name,
      status,
      locationId,
      countType,
      reasonId: "rsn_count",
      stockAdjustmentId: status === "Completed" ? `sa_demo_${key}` : null,
      createdBy: owner.name,
      createdAt: at(daysAgo),
      startedAt: status === "Draft" ? null : at(daysAgo, 30),
      completedAt: status === "Completed" ? at(daysAgo, 240) : null,
      lineItems: someVariants(variants, index, counts.length).map(({ variantId, unitCost }, line) => {
        const [expected, counted] = counts[line] ?? [0, null];
        return {
          stockTakeLineItemId: `stl_demo_${key}_${line + 1}`,
          variantId,
          quantityExpected: expected,
          quantityCounted: counted,
          unitCost,
          countedBy: counted === null ? null : clerk.name,
          countedAt: counted === null ? null : at(daysAgo, 60 + line * 5),
        };
      }),
    };
  }
}
