/**
 * Manufacturing orders: what is built from what, and how far it is (contract §9). Pure. They come in by import only.
 */
import { type Money, type Quantity, asQuantity } from "./money.ts";
import { type ValuedQuantity, totalWorth } from "./valued-quantity.ts";

export const manufacturingOrderStatuses = [
  "Draft",
  "Planned",
  "In Progress",
  "Partially Completed",
  "Completed",
  "On Hold",
  "Cancelled",
] as const;

export type ManufacturingOrderStatus = (typeof manufacturingOrderStatuses)[number];

export const executionModes = ["in-house", "outsourced"] as const;

export type ExecutionMode = (typeof executionModes)[number];

/** Dates that a list can be narrowed by. */
export const manufacturingDateFields = ["createdAt", "plannedStartDate", "dueDate", "completedAt"] as const;

export type ManufacturingDateField = (typeof manufacturingDateFields)[number];

export const releaseDirections = ["consume", "produce"] as const;

export interface ItemToBuild {
  readonly moItemId: string;
  readonly variantId: string;
  readonly sku: string | null;
  readonly quantityPlanned: Quantity;
  readonly quantityCompleted: Quantity;
  readonly quantityScrapped: Quantity;
  readonly unitCost: Money | null;
}

export interface Material {
  readonly moMaterialId: string;
  /** The item it goes into; null: into the order as a whole. */
  readonly moItemId: string | null;
  readonly variantId: string;
  readonly sku: string | null;
  readonly quantityPerUnit: Quantity | null;
  readonly quantityRequired: Quantity;
  /** Set aside and not yet consumed. */
  readonly quantityAllocated: Quantity;
  readonly quantityConsumed: Quantity;
  readonly unitCost: Money | null;
}

/** Stock that the order took from a location or put into it. */
export interface StockRelease {
  readonly stockReleaseId: string;
  readonly variantId: string;
  readonly locationId: string | null;
  readonly quantity: Quantity;
  readonly direction: (typeof releaseDirections)[number];
  readonly releasedAtMs: number | null;
  readonly releasedBy: string | null;
}

export interface ManufacturingOrderHeader {
  readonly manufacturingOrderId: string;
  readonly moNumber: string | null;
  readonly moName: string | null;
  readonly status: ManufacturingOrderStatus;
  readonly executionMode: ExecutionMode;
  readonly productionLocationId: string | null;
  readonly supplierId: string | null;
  /** `YYYY-MM-DD`. */
  readonly plannedStartDate: string | null;
  /** `YYYY-MM-DD`. */
  readonly dueDate: string | null;
  readonly startedAtMs: number | null;
  readonly completedAtMs: number | null;
  readonly createdAtMs: number;
  readonly createdBy: string | null;
  readonly note: string | null;
  readonly linkedPurchaseOrderIds: readonly string[];
  readonly linkedTransferOrderIds: readonly string[];
}

/** How far an order is. Percentages are rounded down to one decimal. */
export interface Measures {
  readonly progressPercent: number;
  readonly quantityPlanned: Quantity;
  readonly quantityCompleted: Quantity;
  readonly quantityRemaining: Quantity;
  readonly materialsReadyPercent: number;
  readonly plannedCost: Money;
  readonly actualCost: Money;
  readonly isLate: boolean;
}

/** What is missing of a material: required, less set aside and consumed; never below 0. */
export const quantityShort = (
  material: Pick<Material, "quantityRequired" | "quantityAllocated" | "quantityConsumed">,
): Quantity =>
  asQuantity(Math.max(0, material.quantityRequired - material.quantityAllocated - material.quantityConsumed));

/** `part` of `whole` in percent, rounded down to one decimal: 100 is said only when nothing is left. */
const percent = (part: number, whole: number): number => Number((BigInt(part) * 1_000n) / BigInt(whole)) / 10;

/** What goes into the order, at the quantities that `ofMaterial` and `ofItem` name: materials, and items that no material is for. */
function costed(
  items: readonly ItemToBuild[],
  materials: readonly Material[],
  ofMaterial: (material: Material) => Quantity,
  ofItem: (item: ItemToBuild) => Quantity,
): readonly ValuedQuantity[] {
  const made = new Set(materials.flatMap((material) => material.moItemId ?? []));
  const wholeOrder = materials.some((material) => material.moItemId === null);
  const bought = wholeOrder ? [] : items.filter((item) => !made.has(item.moItemId));
  return [
    ...materials.map((material) => ({ quantity: ofMaterial(material), unitCost: material.unitCost, stated: null })),
    ...bought.map((item) => ({ quantity: ofItem(item), unitCost: item.unitCost, stated: null })),
  ];
}

/** What an order is planned to cost: its materials, and the items that none is for. */
export const plannedCostOf = (
  items: readonly ItemToBuild[],
  materials: readonly Material[],
): readonly ValuedQuantity[] =>
  costed(
    items,
    materials,
    (material) => material.quantityRequired,
    (item) => item.quantityPlanned,
  );

/** What an order has cost so far, likewise. */
export const actualCostOf = (
  items: readonly ItemToBuild[],
  materials: readonly Material[],
): readonly ValuedQuantity[] =>
  costed(
    items,
    materials,
    (material) => material.quantityConsumed,
    (item) => asQuantity(item.quantityCompleted + item.quantityScrapped),
  );

/**
 * How far an order is.
 *
 * Progress is what is completed of what is planned, item by item, so that too much of one does not hide too little of another; scrap
 * is no progress. Materials are ready as far as they are set aside or consumed; an order that needs none is ready. Costs are those of
 * the materials, required and consumed; an item that no material is for counts at its own unit cost (outsourced work). An order is late
 * when its due date has passed and it is neither Completed nor Cancelled.
 *
 * @param facts today is `YYYY-MM-DD` where the shop is; costs are in the shop's currency.
 * Source: contract §9 "Manufacturing order".
 */
export function measuresOf(
  order: Pick<ManufacturingOrderHeader, "status" | "dueDate">,
  items: readonly ItemToBuild[],
  materials: readonly Material[],
  facts: { readonly today: string; readonly currencyCode: string },
): Measures {
  const sum = <T>(entries: readonly T[], quantityOf: (entry: T) => number): Quantity =>
    asQuantity(entries.reduce((total, entry) => total + quantityOf(entry), 0));
  const planned = sum(items, (item) => item.quantityPlanned);
  const remaining = sum(items, (item) => Math.max(0, item.quantityPlanned - item.quantityCompleted));
  const required = sum(materials, (material) => material.quantityRequired);
  const short = sum(materials, quantityShort);
  const isOver = order.status === "Completed" || order.status === "Cancelled";
  return {
    progressPercent: planned === 0 ? 0 : percent(planned - remaining, planned),
    quantityPlanned: planned,
    quantityCompleted: sum(items, (item) => item.quantityCompleted),
    quantityRemaining: remaining,
    materialsReadyPercent: required === 0 ? 100 : percent(required - short, required),
    plannedCost: totalWorth(plannedCostOf(items, materials), facts.currencyCode),
    actualCost: totalWorth(actualCostOf(items, materials), facts.currencyCode),
    isLate: !isOver && order.dueDate !== null && order.dueDate < facts.today,
  };
}
