/**
 * Reads of the figures of a shop's purchasing, and of those that stand with suppliers and products: from their orders,
 * and from the forecast. Each leaves the event loop where it walks through many orders.
 */
import { dayIn } from "../../base/time/calendar.ts";
import { purchaseFigures as figuresOf } from "../../core/order/advice/purchase-figures.ts";
import type { BroadContext } from "../../requests/broad-read.ts";
import { rowsOnLoopMax } from "../../requests/loop-limits.ts";
import { loadNames } from "../../shop/catalogue/names.ts";
import { presentSupplierId } from "../../shop/catalogue/supplier-merges.ts";
import { countOrders } from "../../shop/order-list/order-search.ts";
import type { OrderPosition } from "../../shop/order-list/purchase-order-list.ts";
import { loadFigureOrders } from "../../shop/order/advice/report.ts";
import {
  loadDeliveries,
  loadSupplierDocuments,
  loadSupplierFigures,
} from "../../shop/order/advice/supplier-figures.ts";
import { pageOfVariantOrders } from "../../shop/order/variant-orders.ts";
import { hasMoreRows } from "../../shop/size.ts";
import type { Tx } from "../../store/store.ts";

/** Begins a walk through the shop's orders. @returns the shop's day. */
async function beginWalk(tx: Tx, { shop, clock, leaveLoop }: BroadContext) {
  if ((await countOrders(tx, shop.shopId)) > rowsOnLoopMax) leaveLoop();
  return { timezone: shop.timezone, today: dayIn(shop.timezone, clock.now()) };
}

/** With more orders in the shop, summing them could hold the event loop for too long. */
const summedOnLoopMax = 200;

export const purchaseFigures = {
  name: "purchase_figures",
  async run(tx: Tx, { shop, clock, leaveLoop }: BroadContext, _input: Readonly<Record<string, never>>) {
    const { shopId, timezone } = shop;
    if (await hasMoreRows(tx, "purchase_order", shopId, summedOnLoopMax)) leaveLoop();
    const today = dayIn(timezone, clock.now());
    const figures = figuresOf(await loadFigureOrders(tx, shopId, { timezone, today }), shop, today);
    const ids = figures.suppliers.flatMap(({ key }) => key ?? []);
    const names = await loadNames(tx, shopId, "supplier", ids);
    return {
      ...figures,
      currencyCode: shop.currencyCode,
      suppliers: figures.suppliers.map((row) => ({ ...row, name: names.get(row.key ?? "") ?? null })),
    };
  },
};

export const supplierFigures = {
  name: "supplier_figures",
  async run(tx: Tx, context: BroadContext, { ids }: { readonly ids: readonly string[] }) {
    return await loadSupplierFigures(tx, context.shop.shopId, ids, await beginWalk(tx, context));
  },
};

export const supplierDeliveries = {
  name: "supplier_deliveries",
  async run(tx: Tx, context: BroadContext, { supplierId }: { readonly supplierId: string }) {
    const { shopId } = context.shop;
    const at = await beginWalk(tx, context);
    return await loadDeliveries(tx, shopId, await presentSupplierId(tx, shopId, supplierId), at);
  },
};

export const supplierDocuments = {
  name: "supplier_documents",
  async run(tx: Tx, context: BroadContext, { supplierId }: { readonly supplierId: string }) {
    const { shopId } = context.shop;
    await beginWalk(tx, context);
    return await loadSupplierDocuments(tx, shopId, await presentSupplierId(tx, shopId, supplierId));
  },
};

interface VariantOrdersInput {
  readonly variantId: string;
  readonly supplierId: string | null;
  readonly arePlaced: boolean;
  readonly after: OrderPosition | null;
  readonly limit: number;
}

export const variantOrders = {
  name: "variant_orders",
  async run(tx: Tx, context: BroadContext, { after, limit, ...wanted }: VariantOrdersInput) {
    const { timezone } = await beginWalk(tx, context);
    return { timezone, page: await pageOfVariantOrders(tx, context.shop.shopId, wanted, after, limit) };
  },
};
