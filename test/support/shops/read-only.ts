/** Hand-written records of one shop with at least one record of every read-only resource. */

export const reasons = [
  { type: "stockTakeReason", reasonId: "rsn_damage", name: "Damaged", code: "DMG", direction: "decrease" },
  {
    type: "stockTakeReason",
    reasonId: "rsn_found",
    name: "Found",
    direction: "increase",
    isSystem: true,
    isActive: false,
  },
] as const;

const locations = [
  {
    type: "location",
    locationId: "loc_main",
    name: "Main",
    address: { address1: "Kade 1", city: "Delft", countryCode: "NL" },
  },
  { type: "location", locationId: "loc_shop", name: "Shop" },
] as const;

const variants = [
  { type: "variant", variantId: "v_mug", productId: "p_mug", productName: "Mug", sku: "MUG-1" },
  { type: "variant", variantId: "v_tea", productId: "p_tea", productName: "Tea", sku: "TEA-1" },
] as const;

export const stockTake = {
  type: "stockTake",
  stockTakeId: "st_1",
  stockTakeNumber: "ST-1",
  stockTakeName: "Spring count",
  status: "Counted",
  locationId: "loc_main",
  countType: "partial",
  reasonId: "rsn_damage",
  createdBy: "Ada",
  createdAt: "2026-03-01T09:00:00.000Z",
  lineItems: [
    { stockTakeLineItemId: "stl_1", variantId: "v_mug", quantityExpected: 10, quantityCounted: 7.5, unitCost: 19.99 },
    { stockTakeLineItemId: "stl_2", variantId: "v_tea", quantityExpected: 4, quantityCounted: 5, valueVariance: 2.5 },
    { stockTakeLineItemId: "stl_3", variantId: "v_unknown", quantityExpected: 4, unitCost: 1 },
  ],
} as const;

const adjustments = [
  {
    type: "stockAdjustment",
    stockAdjustmentId: "sa_1",
    stockAdjustmentNumber: "SA-1",
    status: "Reverted",
    locationId: "loc_main",
    reasonId: "rsn_damage",
    createdBy: "Ada",
    createdAt: "2026-03-02T09:00:00.000Z",
    lineItems: [
      { stockAdjustmentLineItemId: "sal_1", variantId: "v_mug", quantityDelta: -2.5, unitCost: 19.99 },
      { stockAdjustmentLineItemId: "sal_2", variantId: "v_tea", quantityDelta: 1, unitCost: 3 },
    ],
  },
  {
    type: "stockAdjustment",
    stockAdjustmentId: "sa_2",
    stockAdjustmentNumber: "SA-2",
    status: "Completed",
    reason: "Oops",
    note: "Takes SA-1 back",
    createdBy: "Bob",
    createdAt: "2026-03-03T09:00:00.000Z",
    revertOf: "sa_1",
    lineItems: [{ stockAdjustmentLineItemId: "sal_3", variantId: "v_mug", quantityDelta: 2.5, unitCost: 19.99 }],
  },
  {
    type: "stockAdjustment",
    stockAdjustmentId: "sa_3",
    createdAt: "2026-03-04T09:00:00.000Z",
    revertedBy: "sa_4",
  },
  {
    type: "stockAdjustment",
    stockAdjustmentId: "sa_4",
    createdAt: "2026-03-05T09:00:00.000Z",
  },
] as const;

export const transfer = {
  type: "transferOrder",
  transferOrderId: "to_1",
  transferNumber: "TO-1",
  transferName: "Restock the shop",
  status: "Partially Received",
  fromLocationId: "loc_main",
  toLocationId: "loc_shop",
  expectedArrivalDate: "2026-03-09",
  createdAt: "2026-03-05T09:00:00.000Z",
  updatedAt: "2026-03-06T09:00:00.000Z",
  lineItems: [
    {
      transferLineItemId: "tol_1",
      variantId: "v_mug",
      quantityRequested: 10,
      quantityShipped: 12,
      quantityReceived: 5,
      quantityRejected: 1,
      unitCost: 19.995,
    },
    { transferLineItemId: "tol_2", variantId: "v_tea", sku: "OTHER", quantityRequested: 1.5, quantityCancelled: 2 },
  ],
  shipment: {
    shipmentId: "shp_1",
    status: "In Transit",
    carrier: "Van",
    lineAllocations: [{ poLineItemId: "tol_1", variantId: "v_mug", quantityAllocated: 12, quantityReceived: 5 }],
  },
  documents: [{ documentId: "doc_1", fileName: "list.pdf", uploadedAt: "2026-03-05T10:00:00.000Z" }],
  log: [
    {
      logId: "log_1",
      occurredAt: "2026-03-05T09:00:00.000Z",
      action: "create",
      message: "Created.",
      actor: { type: "user", name: "Ada" },
    },
    {
      logId: "log_2",
      occurredAt: "2026-03-06T09:00:00.000Z",
      action: "receive",
      message: "Received 5.",
      actor: { type: "user", name: "Bob" },
      changes: [{ field: "quantityReceived", poLineItemId: "tol_1", before: 0, after: 5 }],
    },
  ],
} as const;

export const manufacturingOrder = {
  type: "manufacturingOrder",
  manufacturingOrderId: "mo_1",
  moNumber: "MO-1",
  moName: "Gift sets",
  status: "In Progress",
  executionMode: "in-house",
  productionLocationId: "loc_main",
  plannedStartDate: "2026-03-02",
  dueDate: "2026-03-10",
  createdAt: "2026-03-01T09:00:00.000Z",
  itemsToBuild: [
    {
      moItemId: "moi_1",
      variantId: "v_set",
      quantityPlanned: 8,
      quantityCompleted: 3,
      quantityScrapped: 1,
      unitCost: 9,
    },
    { moItemId: "moi_2", variantId: "v_card", quantityPlanned: 4, quantityCompleted: 5, unitCost: 0.5 },
  ],
  materials: [
    {
      moMaterialId: "mom_1",
      moItemId: "moi_1",
      variantId: "v_mug",
      quantityPerUnit: 2,
      quantityRequired: 16,
      quantityAllocated: 4,
      quantityConsumed: 8,
      unitCost: 19.995,
    },
    {
      moMaterialId: "mom_2",
      moItemId: "moi_1",
      variantId: "v_tea",
      quantityRequired: 8,
      quantityConsumed: 9,
      unitCost: 1,
    },
  ],
  linkedPurchaseOrders: [{ purchaseOrderId: "po_1" }, { purchaseOrderId: "po_gone" }],
  linkedTransferOrders: ["to_1"],
  stockReleases: [
    {
      stockReleaseId: "mor_1",
      variantId: "v_mug",
      locationId: "loc_main",
      quantity: 8,
      direction: "consume",
      releasedAt: "2026-03-03T09:00:00.000Z",
      releasedBy: "Ada",
    },
  ],
  log: [
    {
      logId: "log_1",
      occurredAt: "2026-03-02T09:00:00.000Z",
      action: "start",
      message: "Started.",
      actor: { type: "system" },
    },
  ],
} as const;

const purchaseOrder = { type: "purchaseOrder", purchaseOrderId: "po_1", poNumber: "PO-7" } as const;

export const world: readonly object[] = [
  ...locations,
  ...variants,
  ...reasons,
  stockTake,
  ...adjustments,
  transfer,
  manufacturingOrder,
  purchaseOrder,
];
