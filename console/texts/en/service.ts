/** Words for what the service names by codes. In English its own sentences are shown, which say more. */
import type { ServiceTexts } from "../languages.ts";

export const serviceTexts: ServiceTexts = {
  problems: {},
  warnings: {},
  requests: {},
  fields: {
    poName: "Name",
    supplierId: "Supplier",
    locationId: "Location",
    currencyCode: "Currency",
    discountAmount: "Discount",
    fxRateOverride: "Exchange rate",
    unitCostCurrencyCode: "Currency of the unit cost",
    sku: "SKU",
    supplierSku: "Supplier's SKU",
    supplierProductUrl: "Supplier's page",
    moq: "Minimum order",
    imageUrl: "Picture",
  },
  // The statuses of orders and stock records are words already.
  states: {
    active: "Active",
    inactive: "Inactive",
    archived: "Archived",
    deleted: "Deleted",
    unsyncable: "Cannot be synced",
  },
};
