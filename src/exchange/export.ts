/**
 * Export: a shop's records as NDJSON that can be imported unchanged (contract §7, §8).
 *
 * Pages are read one at a time as the reader asks for more. So memory is bounded, and writes of the shop do not wait. Each record shows
 * the state at which its page was read. An order that changes during the export is in the file as a whole, before or after the change.
 */
import { loadAttachments } from "../shop/purchase-order-attachments.ts";
import { loadHistory } from "../shop/purchase-order-history.ts";
import { pageOfOrders } from "../shop/purchase-orders.ts";
import type { Engine, Tx } from "../store/store.ts";
import { orderJson } from "./purchase-orders.ts";
import type { RecordType } from "./record-type.ts";
import { recordTypes } from "./record-types.ts";

/** Records of one page: about 10 ms of the event loop. */
export const recordsPerPage = 250;

/** Orders of one page, if they have few lines. */
export const ordersPerPage = 25;

type Page = Awaited<ReturnType<RecordType["page"]>>;

/** The file, in pieces of whole lines. */
export async function* exportRecords(engine: Engine, shopId: string): AsyncGenerator<string> {
  for (const type of Object.values(recordTypes))
    yield* pages((after) => engine.read(shopId, (tx) => type.page(tx, shopId, after, recordsPerPage)));
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

/** A page of orders with their attachments and history. */
async function ordersFrom(tx: Tx, shopId: string, after: string): Promise<Page> {
  const { orders, end } = await pageOfOrders(tx, shopId, after, ordersPerPage);
  const lines = await Promise.all(
    orders.map(async ({ order, deletedAtMs }) => {
      const [attachments, history] = await Promise.all([
        loadAttachments(tx, shopId, order.purchaseOrderId),
        loadHistory(tx, shopId, order.purchaseOrderId),
      ]);
      return JSON.stringify(orderJson({ order, attachments, history, deletedAtMs }));
    }),
  );
  return { lines, next: end };
}
