/** The records of a shop whose backups are tried: a variant, and orders of it that were sent. */
export const backupRecords = (orderCount: number): readonly object[] => [
  { type: "location", locationId: "dock", name: "Dock" },
  { type: "supplier", supplierId: "roastery", name: "Roastery" },
  { type: "variant", variantId: "beans", productId: "p1", productName: "Beans", unitCost: 4 },
  ...Array.from({ length: orderCount }, (_, index) => ({
    type: "purchaseOrder",
    purchaseOrderId: `po_old_${index}`,
    status: "Sent",
    supplierId: "roastery",
    locationId: "dock",
    lineItems: [{ poLineItemId: `l${index}`, variantId: "beans", quantityOrdered: 10 }],
  })),
];
