/**
 * The demo's stock: how many of each variant are on hand at each location.
 */
import type { DemoVariant } from "./catalogue.ts";
import { randomFrom } from "./random.ts";
import { isSold, weekdaySales } from "./sales.ts";
import { store, warehouse } from "./shop.ts";

/**
 * SKUs that run out, with the days that they last. The forecast views suggest to order these, some from each supplier.
 */
const runningOut: Readonly<Record<string, number>> = {
  "LIG-FIL-250G": 5,
  "SPR-TID-ETH-1KG": 4,
  "LAN-EAR-GRE-100G": 16,
  "HAN-GRI-STEEL": 0,
  "MIL-PIT-600ML": 8,
  "TID-MUG-SEA": 12,
};

/** Weekends and a year's growth sell so much more than a weekday of the year's beginning. */
const salesRatio = 1.45;

/** Days that everything else lasts beyond its lead time, at least and at most. */
const coverDays = { least: 20, most: 80 } as const;

/** Share of a variant's stock that stands in the shop. */
const storeShare = 0.3;

export interface DemoLevel {
  readonly variant: DemoVariant;
  readonly locationId: string;
  readonly onHand: number;
}

/** Stock for some days of sales, of every variant at both locations. */
export function stockLevels(variants: readonly DemoVariant[], nowMs: number): readonly DemoLevel[] {
  const random = randomFrom(7);
  return variants.flatMap((variant) => {
    const days =
      runningOut[variant.sku] ??
      (variant.terms?.supplier.leadTimeDays ?? 0) + coverDays.least + random() * (coverDays.most - coverDays.least);
    const onHand = isSold(variant) ? Math.round(weekdaySales(variant, new Date(nowMs)) * salesRatio * days) : 0;
    const inStore = Math.round(onHand * storeShare);
    return [
      { variant, locationId: warehouse, onHand: onHand - inStore },
      { variant, locationId: store, onHand: inStore },
    ];
  });
}

export function* stockRecords(levels: readonly DemoLevel[]): Generator<object> {
  for (const { variant, locationId, onHand } of levels)
    yield { type: "inventoryLevel", variantId: variant.variantId, locationId, onHand };
}
