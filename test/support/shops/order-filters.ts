import type { OrderFilters } from "../../../src/shop/order-list/purchase-order-list.ts";

/** Filters that every order matches. */
export const anything: OrderFilters = {
  statuses: null,
  paidStatuses: null,
  storefrontSyncStates: null,
  expectedBefore: null,
  supplierId: null,
  locationId: null,
  variantId: null,
  sku: null,
  tags: null,
  search: null,
  createdFromMs: null,
  createdBeforeMs: null,
  updatedFromMs: null,
  updatedBeforeMs: null,
};
