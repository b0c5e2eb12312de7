/**
 * Export: a shop's records as NDJSON that an import takes back unchanged (contract §7, §8).
 *
 * Pages are read one at a time as the reader asks for more, so memory is bounded and no turn of the shop is taken. Each record is
 * as it stood when its page was read; an order that changes meanwhile is in the file whole, before or after the change.
 */
import { loadAttachments } from "../shop/purchase-order-attachments.ts";
import { loadHistory } from "../shop/purchase-order-history.ts";
import { pageOfOrders } from "../shop/purchase-orders.ts";
import type { Engine, Tx } from "../store/store.ts";
import { orderJson } from "./purchase-orders.ts";
import type { ReferenceType } from "./record-type.ts";
import { recordTypes } from "./record-types.ts";

/** Reference records of one page. */
const referencePage = 500;

/** Orders of one page. */
const orderPage = 25;

type Page = Awaited<ReturnType<ReferenceType["page"]>>;

/** The file in pieces of whole lines. */
export async function* exportRecords(engine: Engine, shopId: string): AsyncGenerator<string> {
  for (const type of Object.values(recordTypes))
    yield* pages((after) => engine.read(shopId, (tx) => type.page(tx, shopId, after, referencePage)));
  yield* pages((after) => engine.read(shopId, (tx) => ordersFrom(tx, shopId, after ?? "")));
}

async function* pages(read: (after: string | null) => Promise<Page>): AsyncGenerator<string> {
  let after: string | null = null;
  do {
    const page: Page = await read(after);
    if (page.lines.length > 0) yield `${page.lines.join("\n")}\n`;
    after = page.next;
  } while (after !== null);
}

/** A page of orders with all that hangs on them. */
async function ordersFrom(tx: Tx, shopId: string, after: string): Promise<Page> {
  const orders = await pageOfOrders(tx, shopId, after, orderPage);
  const lines = await Promise.all(
    orders.map(async ({ order, deletedAtMs }) => {
      const [attachments, history] = await Promise.all([
        loadAttachments(tx, shopId, order.purchaseOrderId),
        loadHistory(tx, shopId, order.purchaseOrderId),
      ]);
      return JSON.stringify(orderJson({ order, attachments, history, deletedAtMs }));
    }),
  );
  return { lines, next: orders.length < orderPage ? null : (orders.at(-1)?.order.purchaseOrderId ?? null) };
}
