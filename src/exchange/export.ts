/**
 * Export: a shop's records as NDJSON that can be imported unchanged (contract §7, §8).
 *
 * Pages are read one at a time as the reader asks for more. So memory is bounded, and writes of the shop do not wait.
 * Each record shows the state at which its page was read. An order that changes during the export is in the file as a
 * whole, before or after the change.
 *
 * The exports of a process take turns at reading a page (`exportQueue`). So many at once hold up other requests no more
 * than few do.
 */
import { neutralisedJson } from "../base/text/plain-text.ts";
import { attachmentsOfOrders } from "../shop/order/purchase-order-attachments.ts";
import { historyOfOrders } from "../shop/order/purchase-order-history.ts";
import { pageOfOrders } from "../shop/order/purchase-orders.ts";
import { FairQueue } from "../store/fair-queue.ts";
import type { Engine, Tx } from "../store/store.ts";
import { orderJson } from "./records/purchase-orders.ts";
import type { RecordType } from "./record-type.ts";
import { recordTypes } from "./record-types.ts";

/** Records of one page: about 10 ms of the event loop. */
export const recordsPerPage = 250;

/** Orders of one page, if they have few lines. */
export const ordersPerPage = 25;

/** Pages that the exports of a process read at once, of all shops; of one shop it is one. */
export const exportPagesAtOnceMax = 2;

/**
 * The turns of a process's exports at reading a page. An export is never refused: its client has got a part of the
 * file, and waits for the rest however long others read. Those that wait have a connection each, whose number is
 * bounded.
 */
export const exportQueue = (): FairQueue =>
  new FairQueue(
    {
      runningMax: exportPagesAtOnceMax,
      runningPerShopMax: 1,
      waitingPerShopMax: Number.POSITIVE_INFINITY,
      waitMsMax: Number.POSITIVE_INFINITY,
    },
    "exports",
  );

type Page = Awaited<ReturnType<RecordType["page"]>>;

/**
 * The file, in pieces of whole lines.
 *
 * @param serially  reads a page when it may be. Default: at once.
 */
export async function* exportRecords(
  engine: Engine,
  shopId: string,
  serially: (read: () => Promise<Page>) => Promise<Page> = (read) => read(),
): AsyncGenerator<string> {
  const reading = (page: (tx: Tx, after: string | null) => Promise<Page>) =>
    pages((after) => serially(() => engine.read(shopId, (tx) => page(tx, after))));
  for (const type of Object.values(recordTypes))
    yield* reading((tx, after) => type.page(tx, shopId, after, recordsPerPage));
  yield* reading((tx, after) => ordersFrom(tx, shopId, after ?? ""));
}

async function* pages(read: (after: string | null) => Promise<Page>): AsyncGenerator<string> {
  let after: string | null = null;
  do {
    const page: Page = await read(after);
    if (page.lines.length > 0) yield `${neutralisedJson(page.lines.join("\n"))}\n`;
    after = page.next;
  } while (after !== null);
}

/** A page of orders with their attachments and history. */
async function ordersFrom(tx: Tx, shopId: string, after: string): Promise<Page> {
  const { orders, end } = await pageOfOrders(tx, shopId, after, ordersPerPage);
  const list = { shopId, ids: orders.map(({ order }) => order.purchaseOrderId), ordersMax: ordersPerPage };
  const [attachmentsOf, historyOf] = await Promise.all([attachmentsOfOrders(tx, list), historyOfOrders(tx, list)]);
  const lines = orders.map(({ order, deletedAtMs }) => {
    const { purchaseOrderId } = order;
    const [attachments, history] = [attachmentsOf(purchaseOrderId), historyOf(purchaseOrderId)];
    return JSON.stringify(orderJson({ order, attachments, history, deletedAtMs }));
  });
  return { lines, next: end };
}
