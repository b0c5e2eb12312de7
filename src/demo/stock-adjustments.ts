/**
 * The demo's stock adjustments: what the completed stock takes found, and what happened besides.
 */
import type { Calendar } from "./calendar.ts";
import { type DemoVariant, variantWith } from "./catalogue.ts";
import { clerk, keyOf, owner, store, warehouse } from "./shop.ts";
import { stockTakes } from "./stock-takes.ts";

/** Difference in the stock of a SKU. */
type Delta = readonly [sku: string, delta: number];

interface DemoAdjustment {
  readonly reasonId: string;
  readonly status: "Completed" | "Draft" | "Reverted";
  readonly locationId: string;
  readonly actor: typeof owner;
  readonly daysAgo: number;
  readonly deltas: readonly Delta[];
  readonly note: string;
}

/** Adjustments from each completed count. */
const fromCounts = stockTakes
  .filter(({ status }) => status === "Completed")
  .map(({ name, locationId, daysAgo, counts }): DemoAdjustment => ({
    reasonId: "rsn_count",
    status: "Completed",
    locationId,
    actor: clerk,
    daysAgo,
    deltas: (counts ?? []).flatMap(([sku, expected, counted]): readonly Delta[] =>
      counted === null || counted === expected ? [] : [[sku, counted - expected]],
    ),
    note: `From the count "${name}".`,
  }));

/** The last one reverts the one before it; only the later one says so. */
const adjustments: readonly DemoAdjustment[] = [
  ...fromCounts,
  {
    reasonId: "rsn_damaged",
    status: "Completed",
    locationId: store,
    actor: clerk,
    daysAgo: 21,
    deltas: [["ESP-CUP-SAND", -2]],
    note: "The tray fell.",
  },
  {
    reasonId: "rsn_tasting",
    status: "Completed",
    locationId: store,
    actor: clerk,
    daysAgo: 14,
    deltas: [
      ["SPR-TID-ETH-1KG", -0.25],
      ["NOR-PIE-COL-1KG", -0.5],
    ],
    note: "Saturday tasting.",
  },
  {
    reasonId: "rsn_found",
    status: "Draft",
    locationId: warehouse,
    actor: clerk,
    daysAgo: 1,
    deltas: [["DRI-SIZE4", 3]],
    note: "Behind the pallet rack; to be checked.",
  },
  {
    reasonId: "rsn_damaged",
    status: "Reverted",
    locationId: warehouse,
    actor: clerk,
    daysAgo: 9,
    deltas: [["HAR-BRE-100G", -6]],
    note: "Wet boxes.",
  },
  {
    reasonId: "rsn_damaged",
    status: "Completed",
    locationId: warehouse,
    actor: owner,
    daysAgo: 8,
    deltas: [["HAR-BRE-100G", 6]],
    note: "Only the boxes were wet.",
  },
];

export function* stockAdjustmentRecords(variants: readonly DemoVariant[], { at }: Calendar): Generator<object> {
  for (const [index, { reasonId, status, locationId, actor, daysAgo, deltas, note }] of adjustments.entries())
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
      revertOf: index === adjustments.length - 1 ? `sa_demo_${keyOf(index - 1)}` : null,
      note,
      lineItems: deltas.map(([sku, quantityDelta], line) => {
        const { variantId, unitCost } = variantWith(variants, sku);
        const stockAdjustmentLineItemId = `sal_demo_${keyOf(index)}_${line + 1}`;
        return { stockAdjustmentLineItemId, variantId, quantityDelta, unitCost };
      }),
    };
}
