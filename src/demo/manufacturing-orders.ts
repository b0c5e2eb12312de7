/**
 * The demo's manufacturing orders: gift boxes and sets, made in-house or by the ceramics supplier.
 */
import type { Calendar } from "./calendar.ts";
import { type DemoVariant, someVariants } from "./catalogue.ts";
import { clerk, keyOf, owner, warehouse } from "./shop.ts";

/** Name, status, mode, days ago, due in days, planned, completed, scrapped. */
const builds = [
  ["Gift box Breakfast", "Completed", "in-house", 50, -40, 40, 40, 0],
  ["Gift box Espresso", "Partially Completed", "in-house", 12, 2, 36, 20, 1],
  ["Pour-over starter set", "In Progress", "in-house", 6, -1, 24, 4, 0],
  ["Engraved mugs", "Planned", "outsourced", 4, 20, 48, 0, 0],
  ["Tasting set", "Draft", "in-house", 1, 30, 12, 0, 0],
  ["Tin labels", "On Hold", "outsourced", 30, 5, 200, 0, 0],
] as const;

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
  readonly materials: readonly DemoVariant[];
  readonly built: DemoVariant;
}

export function* manufacturingOrderRecords(variants: readonly DemoVariant[], calendar: Calendar): Generator<object> {
  const { at, day } = calendar;
  for (const [index, [name, status, executionMode, daysAgo, dueIn, planned, completed, scrapped]] of builds.entries()) {
    const [first, second, built] = someVariants(variants, index + 4, 3);
    if (first === undefined || second === undefined || built === undefined) continue;
    const isOutsourced = executionMode === "outsourced";
    const key = keyOf(index);
    const moItemId = `moi_demo_${key}`;
    const used = completed + scrapped;
    const materials = isOutsourced ? [first] : [first, second];
    const build: Build = { key, moItemId, status, daysAgo, calendar, planned, completed, used, materials, built };
    yield {
      type: "manufacturingOrder",
      manufacturingOrderId: `mo_demo_${key}`,
      moNumber: `MO-${1_001 + index}`,
      moName: name,
      status,
      executionMode,
      productionLocationId: isOutsourced ? null : warehouse,
      supplierId: isOutsourced ? "sup_clay" : null,
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
      linkedPurchaseOrders: index === 1 ? ["po_demo_06"] : [],
      linkedTransferOrders: index === 0 ? ["to_demo_01"] : [],
      stockReleases: stockReleasesOf(build),
      log: logOf(build),
    };
  }
}

/** One of the first material for each unit, two of the second. */
const quantityPerUnit = (material: number): number => material + 1;

function materialsOf({ key, moItemId, status, planned, used, materials }: Build): readonly object[] {
  return materials.map(({ variantId, unitCost }, material) => ({
    moMaterialId: `mom_demo_${key}_${material + 1}`,
    moItemId,
    variantId,
    quantityPerUnit: quantityPerUnit(material),
    quantityRequired: planned * quantityPerUnit(material),
    quantityAllocated: status === "Draft" ? 0 : Math.floor((planned - used) * quantityPerUnit(material) * 0.75),
    quantityConsumed: used * quantityPerUnit(material),
    unitCost,
  }));
}

/** Materials out of stock and what was made of them into it. */
function stockReleasesOf({ key, daysAgo, calendar, completed, used, materials, built }: Build): readonly object[] {
  if (used === 0) return [];
  const consumed = materials.map(({ variantId }, material) => ({
    stockReleaseId: `mor_demo_${key}_${material + 1}`,
    variantId,
    locationId: warehouse,
    quantity: used * quantityPerUnit(material),
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
