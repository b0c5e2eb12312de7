/**
 * The demo's stock takes and the reasons that they and stock adjustments have.
 */
import type { Calendar } from "./calendar.ts";
import { type DemoVariant, variantWith } from "./catalogue.ts";
import { clerk, keyOf, owner, store, warehouse } from "./shop.ts";
import type { DemoLevel } from "./stock.ts";

const reasons = [
  { reasonId: "rsn_count", name: "Cycle count", code: "COUNT", direction: "both", isSystem: true },
  { reasonId: "rsn_damaged", name: "Damaged", code: "DMG", direction: "decrease" },
  { reasonId: "rsn_tasting", name: "Used for tasting", code: "TASTE", direction: "decrease" },
  { reasonId: "rsn_found", name: "Found", code: "FOUND", direction: "increase" },
  { reasonId: "rsn_old_lot", name: "Old lot", direction: "decrease", isActive: false },
] as const;

/** Expected and counted stock of a SKU. */
type Count = readonly [sku: string, expected: number, counted: number | null];

interface DemoTake {
  readonly name: string;
  readonly status: "Completed" | "Counted" | "In Progress" | "Draft";
  readonly locationId: string;
  readonly countType: "full" | "partial" | "cycle";
  readonly daysAgo: number;
  /** Null: everything at the location, not counted yet. */
  readonly counts: readonly Count[] | null;
}

/** The completed ones first: the adjustment that each made has the same place in its list. */
export const stockTakes: readonly DemoTake[] = [
  {
    name: "Coffee in the warehouse",
    status: "Completed",
    locationId: warehouse,
    countType: "cycle",
    daysAgo: 88,
    counts: [
      ["DOC-ESP-250G", 42, 42],
      ["DOC-ESP-1KG", 18, 17],
      ["BAL-BRA-250G", 36, 36],
      ["LIG-FIL-250G", 12, 14],
      ["SPR-TID-ETH-250G", 9, 9],
    ],
  },
  {
    name: "Shelves of the shop",
    status: "Completed",
    locationId: store,
    countType: "cycle",
    daysAgo: 40,
    counts: [
      ["HAR-BRE-100G", 11, 10],
      ["TID-MUG-SAND", 7, 7],
      ["POC-SCA-2KG", 5, 5],
    ],
  },
  {
    name: "Tea corner",
    status: "Counted",
    locationId: store,
    countType: "partial",
    daysAgo: 3,
    counts: [
      ["HAR-BRE-100G", 14, 13],
      ["MIS-QUA-GRE-100G", 9, 9],
      ["LAN-EAR-GRE-100G", 6, 8],
    ],
  },
  {
    name: "Ceramics",
    status: "In Progress",
    locationId: warehouse,
    countType: "partial",
    daysAgo: 1,
    counts: [
      ["TID-MUG-SAND", 22, 22],
      ["ESP-CUP-SAND", 18, null],
      ["STO-TEA-08L", 7, null],
    ],
  },
  { name: "Year count", status: "Draft", locationId: warehouse, countType: "full", daysAgo: 0, counts: null },
];

export function* stockTakeReasonRecords(): Generator<object> {
  for (const reason of reasons) yield { type: "stockTakeReason", ...reason };
}

export function* stockTakeRecords(
  variants: readonly DemoVariant[],
  levels: readonly DemoLevel[],
  { at }: Calendar,
): Generator<object> {
  for (const [index, { name, status, locationId, countType, daysAgo, counts }] of stockTakes.entries()) {
    const key = keyOf(index);
    const counted = counts ?? everythingAt(locationId, levels);
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
      lineItems: counted.map(([sku, quantityExpected, quantityCounted], line) => {
        const { variantId, unitCost } = variantWith(variants, sku);
        return {
          stockTakeLineItemId: `stl_demo_${key}_${line + 1}`,
          variantId,
          quantityExpected,
          quantityCounted,
          unitCost,
          countedBy: quantityCounted === null ? null : clerk.name,
          countedAt: quantityCounted === null ? null : at(daysAgo, 60 + line * 5),
        };
      }),
    };
  }
}

const everythingAt = (locationId: string, levels: readonly DemoLevel[]): readonly Count[] =>
  levels
    .filter((level) => level.locationId === locationId && level.onHand > 0)
    .map(({ variant, onHand }): Count => [variant.sku, onHand, null]);
