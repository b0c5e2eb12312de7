/**
 * Reads that operations begin with and that may run on a reader thread, by their names. A thread loads the module of
 * what it is asked for: all operations take it four times as long.
 */
import type { BroadQuery } from "../requests/broad-read.ts";

const figures = () => import("./catalogue/figures.ts");

const logs = () => import("./log-pages.ts");

export const broadQueries: Readonly<Record<string, () => Promise<BroadQuery<unknown, unknown>>>> = {
  reorder_facts: async () => (await import("./agent/reorder.ts")).reorderFacts,
  audit_page: async () => (await logs()).auditPage,
  change_page: async () => (await logs()).changePage,
  purchase_figures: async () => (await figures()).purchaseFigures,
  supplier_figures: async () => (await figures()).supplierFigures,
  supplier_deliveries: async () => (await figures()).supplierDeliveries,
  supplier_documents: async () => (await figures()).supplierDocuments,
  variant_orders: async () => (await figures()).variantOrders,
};
