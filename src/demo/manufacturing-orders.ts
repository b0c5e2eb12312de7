/**
 * The demo's manufacturing orders: gift boxes and sets, made in-house, and mugs that the pottery engraves.
 */
import type { Calendar } from "./calendar.ts";
import { type DemoVariant, pottery, variantWith } from "./catalogue.ts";
import { purchaseOrderIdOf } from "./purchase-orders/purchase-orders.ts";
import { clerk, keyOf, owner, warehouse } from "./shop.ts";

/** The set's SKU, status, mode, days ago, due in days, planned, completed, scrapped. */
const builds = [
  ["BRE-GIF-BOX", "Completed", "in-house", 50, -40, 40, 40, 0],
  ["ESP-GIF-BOX", "Partially Completed", "in-house", 12, 2, 36, 20, 1],
  ["POU-STA-SET", "In Progress", "in-house", 6, -1, 24, 4, 0],
  ["ENG-MUG", "Planned", "outsourced", 4, 20, 48, 0, 0],
  ["COF-TAS-SET", "Draft", "in-house", 1, 30, 12, 0, 0],
  ["WIN-GIF-BOX", "On Hold", "in-house", 30, 25, 24, 0, 0],
] as const;

/** Purchase orders that a build waits for or came from, and transfers that brought what was built, by its SKU. */
const linked: Readonly<Record<string, { readonly purchaseOrder?: string; readonly transferOrderId?: string }>> = {
  "BRE-GIF-BOX": { purchaseOrder: "Breakfast tea and Earl Grey", transferOrderId: "to_demo_03" },
  "ESP-GIF-BOX": { purchaseOrder: "Espresso cups", transferOrderId: "to_demo_03" },
  "ENG-MUG": { purchaseOrder: "Mugs with our logo" },
};

/** A manufacturing order with what its parts are made from. */
interface Build {
  readonly key: string;
  readonly moItemId: string;
  readonly status: (typeof builds)[number][1];
  readonly daysAgo: number;
  readonly calendar: Calendar;
  readonly planned: number;
  readonly completed: number;
  /** Completed and scrapped. */
  readonly used: number;
  readonly materials: readonly (DemoVariant & { readonly perUnit: number })[];
  readonly built: DemoVariant;
}

export function* manufacturingOrderRecords(variants: readonly DemoVariant[], calendar: Calendar): Generator<object> {
  const { at, day } = calendar;
  for (const [index, [sku, status, executionMode, daysAgo, dueIn, planned, completed, scrapped]] of builds.entries()) {
    const built = variantWith(variants, sku);
    const isOutsourced = executionMode === "outsourced";
    const key = keyOf(index);
    const moItemId = `moi_demo_${key}`;
    const used = completed + scrapped;
    const materials = built.recipe.map(([material, perUnit]) => ({
      ...variantWith(variants, material),
      perUnit,
    }));
    const { purchaseOrder, transferOrderId } = linked[sku] ?? {};
    const build: Build = { key, moItemId, status, daysAgo, calendar, planned, completed, used, materials, built };
    yield {
      type: "manufacturingOrder",
      manufacturingOrderId: `mo_demo_${key}`,
      moNumber: `MO-${1_001 + index}`,
      moName: `${built.productName}, ${planned} pieces`,
      status,
      executionMode,
      productionLocationId: isOutsourced ? null : warehouse,
      supplierId: isOutsourced ? pottery.supplierId : null,
      plannedStartDate: day(daysAgo - 2),
      dueDate: day(-dueIn - 1),
      startedAt: used > 0 ? at(daysAgo - 1) : null,
      completedAt: status === "Completed" ? at(daysAgo - 5) : null,
      createdAt: at(daysAgo),
      createdBy: owner.name,
      itemsToBuild: [
        {
          moItemId,
          variantId: built.variantId,
          quantityPlanned: planned,
          quantityCompleted: completed,
          quantityScrapped: scrapped,
          unitCost: built.unitCost,
        },
      ],
      materials: materialsOf(build),
      linkedPurchaseOrders: purchaseOrder === undefined ? [] : [purchaseOrderIdOf(purchaseOrder)],
      linkedTransferOrders: transferOrderId === undefined ? [] : [transferOrderId],
      stockReleases: stockReleasesOf(build),
      log: logOf(build),
    };
  }
}

function materialsOf({ key, moItemId, status, planned, used, materials }: Build): readonly object[] {
  return materials.map(({ variantId, unitCost, perUnit }, material) => ({
    moMaterialId: `mom_demo_${key}_${material + 1}`,
    moItemId,
    variantId,
    quantityPerUnit: perUnit,
    quantityRequired: planned * perUnit,
    quantityAllocated: status === "Draft" ? 0 : Math.floor((planned - used) * perUnit * 0.75),
    quantityConsumed: used * perUnit,
    unitCost,
  }));
}

/** Materials out of stock and what was made of them into it. */
function stockReleasesOf({ key, daysAgo, calendar, completed, used, materials, built }: Build): readonly object[] {
  if (used === 0) return [];
  const consumed = materials.map(({ variantId, perUnit }, material) => ({
    stockReleaseId: `mor_demo_${key}_${material + 1}`,
    variantId,
    locationId: warehouse,
    quantity: used * perUnit,
    direction: "consume",
    releasedAt: calendar.at(daysAgo - 1, 30),
    releasedBy: clerk.name,
  }));
  const produced = {
    stockReleaseId: `mor_demo_${key}_made`,
    variantId: built.variantId,
    locationId: warehouse,
    quantity: completed,
    direction: "produce",
    releasedAt: calendar.at(daysAgo - 1, 240),
    releasedBy: clerk.name,
  };
  return [...consumed, produced];
}

function logOf({ key, daysAgo, calendar, completed, used }: Build): readonly object[] {
  const planned = {
    logId: `log_demo_mo_${key}_1`,
    occurredAt: calendar.at(daysAgo),
    action: "create",
    message: "Planned.",
    actor: owner,
  };
  if (used === 0) return [planned];
  const built = {
    logId: `log_demo_mo_${key}_2`,
    occurredAt: calendar.at(daysAgo - 1, 240),
    action: "build",
    message: `Built ${completed}.`,
    actor: clerk,
  };
  return [planned, built];
}
