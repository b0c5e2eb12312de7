/**
 * Manufacturing orders: the items to build, their materials, and measures of progress, readiness and cost (contract
 * §9). Pure. They come in by import only.
 */
import { type Money, type Quantity, asQuantity } from "../money/money.ts";
import { type ValuedQuantity, sumOf, totalWorth } from "../money/valued-quantity.ts";

/** The statuses of a manufacturing order. */
export const manufacturingOrderStatuses = [
  "Draft",
  "Planned",
  "In Progress",
  "Partially Completed",
  "Completed",
  "On Hold",
  "Cancelled",
] as const;

/** A status of a manufacturing order. */
export type ManufacturingOrderStatus = (typeof manufacturingOrderStatuses)[number];

/** Who builds: the shop, or a supplier. */
export const executionModes = ["in-house", "outsourced"] as const;

/** Who builds an order. */
export type ExecutionMode = (typeof executionModes)[number];

/** The dates that a list can be filtered by. */
export const manufacturingDateFields = ["createdAt", "plannedStartDate", "dueDate", "completedAt"] as const;

/** A date that a list can be filtered by. */
export type ManufacturingDateField = (typeof manufacturingDateFields)[number];

/** Directions of a release: it took stock from its location or put it there. */
export const releaseDirections = ["consume", "produce"] as const;

/** An item that the order builds. */
export interface ItemToBuild {
  readonly moItemId: string;
  readonly variantId: string;
  readonly sku: string | null;
  readonly quantityPlanned: Quantity;
  readonly quantityCompleted: Quantity;
  readonly quantityScrapped: Quantity;
  readonly unitCost: Money | null;
}

/** A material that the order needs. */
export interface Material {
  readonly moMaterialId: string;
  /** Id of the item that it goes into; null: it is for the order as a whole. */
  readonly moItemId: string | null;
  readonly variantId: string;
  readonly sku: string | null;
  readonly quantityPerUnit: Quantity | null;
  readonly quantityRequired: Quantity;
  /** Allocated and not yet consumed. */
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

/** A manufacturing order without its items, materials, stock releases and log. */
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

/** Progress, readiness and cost of an order. Percentages are rounded down to one decimal. */
interface Measures {
  readonly progressPercent: number;
  readonly quantityPlanned: Quantity;
  readonly quantityCompleted: Quantity;
  readonly quantityRemaining: Quantity;
  readonly materialsReadyPercent: number;
  readonly plannedCost: Money;
  readonly actualCost: Money;
  readonly isLate: boolean;
}

/** The missing quantity of a material: required − allocated − consumed, never below 0. */
export const quantityShort = (
  material: Pick<Material, "quantityRequired" | "quantityAllocated" | "quantityConsumed">,
): Quantity =>
  asQuantity(Math.max(0, material.quantityRequired - material.quantityAllocated - material.quantityConsumed));

/** `part` of `whole` in percent, rounded down to one decimal, so that 100 means that nothing is left. */
const percent = (part: number, whole: number): number => Number((BigInt(part) * 1_000n) / BigInt(whole)) / 10;

/**
 * The cost items of an order: its materials, and the items that no material is for. `ofMaterial` and `ofItem` name
 * their quantities.
 */
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

/** The planned cost: required materials, and planned items that no material is for. */
const plannedCostOf = (items: readonly ItemToBuild[], materials: readonly Material[]): readonly ValuedQuantity[] =>
  costed(
    items,
    materials,
    (material) => material.quantityRequired,
    (item) => item.quantityPlanned,
  );

/** The cost so far: consumed materials, and completed or scrapped items that no material is for. */
const actualCostOf = (items: readonly ItemToBuild[], materials: readonly Material[]): readonly ValuedQuantity[] =>
  costed(
    items,
    materials,
    (material) => material.quantityConsumed,
    (item) => asQuantity(item.quantityCompleted + item.quantityScrapped),
  );

/**
 * Measures an order: its progress, the readiness of its materials, its cost, and whether it is late.
 *
 * Progress is completed of planned, item by item, so that too many of one item do not hide too few of another. Scrap is
 * no progress. Materials are ready when they are allocated or consumed; an order without materials is ready. Costs are
 * those of the materials (required, consumed); an item that no material is for counts at its own unit cost (outsourced
 * work). An order is late when its due date has passed and it is neither Completed nor Cancelled.
 *
 * @param facts `today` is `YYYY-MM-DD` in the shop's time zone; `currencyCode` is the shop's, in which costs are.
 * Source: contract §9 "Manufacturing order".
 */
export function measuresOf(
  order: Pick<ManufacturingOrderHeader, "status" | "dueDate">,
  items: readonly ItemToBuild[],
  materials: readonly Material[],
  facts: { readonly today: string; readonly currencyCode: string },
): Measures {
  const planned = sumOf(items.map((item) => item.quantityPlanned));
  const remaining = sumOf(items.map((item) => asQuantity(Math.max(0, item.quantityPlanned - item.quantityCompleted))));
  const required = sumOf(materials.map((material) => material.quantityRequired));
  const short = sumOf(materials.map(quantityShort));
  const isOver = order.status === "Completed" || order.status === "Cancelled";
  return {
    progressPercent: planned === 0 ? 0 : percent(planned - remaining, planned),
    quantityPlanned: planned,
    quantityCompleted: sumOf(items.map((item) => item.quantityCompleted)),
    quantityRemaining: remaining,
    materialsReadyPercent: required === 0 ? 100 : percent(required - short, required),
    plannedCost: totalWorth(plannedCostOf(items, materials), facts.currencyCode),
    actualCost: totalWorth(actualCostOf(items, materials), facts.currencyCode),
    isLate: !isOver && order.dueDate !== null && order.dueDate < facts.today,
  };
}
