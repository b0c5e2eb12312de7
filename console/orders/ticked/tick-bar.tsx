/**
 * Actions for the orders that are ticked, in the place of the list's filters. Each order goes through the
 * call, and the guard, of one; what was refused stays ticked, with its reason.
 */
import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { useMemo } from "preact/hooks";
import type { PurchaseOrder, PurchaseOrderHeader, PurchaseOrderStatus } from "../../../client/index.ts";
import { openpo } from "../../data/client.ts";
import { sentence, statusName } from "../../data/format.ts";
import type { KeptList } from "../../data/pages.ts";
import { saveBlob } from "../../data/saved-file.ts";
import { shopId, signedIn } from "../../data/session.ts";
import { grave, mayMove, movesFor, moveTitle } from "../../order/moves.ts";
import { moveBack } from "../../order/undo/inverse.ts";
import { type Told, told } from "../../parts/frame/told.ts";
import { Icon } from "../../parts/icon.tsx";
import { SummaryNotice } from "../../parts/lists/summary.tsx";
import { TickBar } from "../../parts/lists/tick-bar.tsx";
import { setTicks, type Ticks } from "../../parts/lists/ticks.tsx";
import { Pop } from "../../parts/pop.tsx";
import { go, hrefOf } from "../../router.ts";
import { undoTexts } from "../../texts/en/order/undo.ts";
import { tickedTexts as words } from "../../texts/en/order/ticked.ts";
import { texts } from "../../texts/en/texts.ts";
import { saveOrders } from "../export.ts";
import { forgetAll, noteOrder } from "../kept.ts";
import { AskMerge, AskMove, AskSend } from "./asking.tsx";
import { orderRunner } from "./run.ts";

// It loads with this script: it is smaller than what a script of its own adds.
export { RecordTickBar } from "../../records/tick-bar.tsx";

/** Documents that are made or printed at once. */
const documentsMax = 30;

interface TickBarProps {
  readonly ticks: Ticks;
  readonly list: KeptList<PurchaseOrderHeader>;
}

const idOf = ({ purchaseOrderId }: PurchaseOrderHeader): string => purchaseOrderId;

/** Moves that are open to every one of the orders. */
function commonMoves(orders: readonly PurchaseOrderHeader[]): readonly PurchaseOrderStatus[] {
  const [first = [], ...others] = orders.map((order) => movesFor(order, order.quantityReceived > 0));
  return first.filter((to) => others.every((moves) => moves.includes(to)));
}

/** Drafts that may become one. */
function mayMerge([first, ...others]: readonly PurchaseOrderHeader[]): boolean {
  if (first === undefined || others.length === 0 || first.status !== "Draft") return false;
  const { supplierId, locationId, currencyCode } = first;
  return others.every(
    (each) =>
      each.status === "Draft" &&
      each.supplierId === supplierId &&
      each.locationId === locationId &&
      each.currencyCode === currencyCode,
  );
}

/** An action that is asked about, and the orders that were ticked then. */
interface Asked {
  readonly what: PurchaseOrderStatus | "send" | "merge";
  readonly orders: readonly PurchaseOrderHeader[];
}

export const OrderTickBar: FunctionComponent<TickBarProps> = ({ ticks, list }) => {
  const { run, progress, summary } = useMemo(orderRunner, []);
  const asked = useSignal<Asked | null>(null);
  const { value: keys } = ticks.keys;
  // What has left the list is not ticked any more: nothing is done that nobody sees.
  const orders = list.state.value.rows.filter(({ purchaseOrderId }) => keys.has(purchaseOrderId));
  const hasTicks = orders.length > 0;

  const through = (ids: readonly string[] | null): void => setTicks(ticks, ids ?? [], false);
  const noteOf = ({ data }: { readonly data: { readonly purchaseOrder: PurchaseOrder } }): void =>
    noteOrder(data.purchaseOrder);
  const move = async (status: PurchaseOrderStatus, chosen: readonly PurchaseOrderHeader[]): Promise<void> => {
    const moved: { readonly order: PurchaseOrder; readonly back: PurchaseOrderStatus }[] = [];
    const ids = await run(
      `move ${status}`,
      chosen,
      ({ purchaseOrderId }, how) => openpo.call("purchase_order_status", { purchaseOrderId, status }, how),
      (before, result) => {
        noteOf(result);
        const { purchaseOrder, sideEffects } = result.data;
        const back = moveBack(before, purchaseOrder, sideEffects.email !== undefined);
        if (back !== null) moved.push({ order: purchaseOrder, back });
      },
    );
    through(ids);
    if (moved.length === 0) return;
    const whatOf = (count: number): string => undoTexts.what(titleOf(status, chosen), words.count(count));
    const undo = async (): Promise<Told> => {
      const backs = new Map(moved.map(({ order, back }) => [order.purchaseOrderId, back]));
      const undone = await run(
        `unmove ${status}`,
        moved.map(({ order }) => order),
        ({ purchaseOrderId }, how) => {
          const input = { purchaseOrderId, status: backs.get(purchaseOrderId) ?? status };
          return openpo.call("purchase_order_status", input, how);
        },
        (_, result) => noteOf(result),
      );
      if (undone === null) return { text: undoTexts.refused, state: "failed", undo };
      const { done, undone: not } = summary.value ?? { done: 0, undone: [] };
      summary.value = null;
      const says = not.map(({ row, says: why }) => `${row.name}: ${why}`);
      const restored = undoTexts.restored(whatOf(done));
      if (says.length === 0) return { text: restored };
      const parts = [...(done === 0 ? [] : [sentence(restored)]), undoTexts.refused, ...says];
      return { text: parts.join(" "), state: "failed" };
    };
    told.value = { text: whatOf(moved.length), undo };
  };
  const send = async (chosen: readonly PurchaseOrderHeader[]): Promise<void> => {
    const ids = await run("send", chosen, ({ purchaseOrderId }, how) => {
      const input = { shopId: shopId(), purchaseOrderId, moveToSent: true, supplierLink: true };
      return openpo.call("purchase_order_send", input, how);
    });
    through(ids);
  };
  const merge = async (into: string, chosen: readonly PurchaseOrderHeader[]): Promise<void> => {
    const others = chosen.filter(({ purchaseOrderId }) => purchaseOrderId !== into);
    const ids = await run(`merge into ${into}`, others, ({ purchaseOrderId }, how) =>
      openpo.call("purchase_order_merge", { shopId: shopId(), purchaseOrderId, into }, how),
    );
    through(ids);
    if (ids === null || ids.length === 0) return;
    forgetAll();
    if (summary.value?.undone.length === 0) go(hrefOf("orders", into));
  };
  const download = async (): Promise<void> => {
    await run(
      "pdf",
      orders,
      ({ purchaseOrderId }) => openpo.call("purchase_order_document_pdf", { shopId: shopId(), purchaseOrderId }),
      (_, { data }) => saveBlob(data.fileName, data.content),
    );
  };
  const isBuyer = mayMove(signedIn()?.person.role ?? "viewer");
  const moves = isBuyer ? commonMoves(orders) : [];
  const titleOf = (to: PurchaseOrderStatus, moved: readonly PurchaseOrderHeader[] = orders): string => {
    const titles = new Set(moved.map(({ status }) => moveTitle(status, to)));
    return titles.size === 1 ? ([...titles][0] ?? "") : statusName(to);
  };
  const running = progress.value;
  const isBusy = running !== null;
  const shown = running === null ? null : words.running(running.done, running.of);
  const ask = (what: Asked["what"]): void => {
    asked.value = { what, orders };
  };
  const isOfDrafts = orders.every(({ status }) => status === "Draft");
  const hasTooMany = orders.length > documentsMax;
  const documents = (
    <>
      {hasTooMany ? (
        <p class="quiet why-not">{words.tooMany(documentsMax)}</p>
      ) : (
        <>
          <a href={hrefOf("orders", orders.map(({ purchaseOrderId }) => purchaseOrderId).join(","), "print")}>
            {words.print}
          </a>
          <button type="button" disabled={isBusy} onClick={() => void download()}>
            {words.pdf}
          </button>
        </>
      )}
      <button type="button" onClick={() => saveOrders(orders)}>
        {words.csv}
      </button>
    </>
  );
  const question = ({ what, orders: chosen }: Asked) => {
    const all = { orders: chosen, running: shown, onClose: () => void (asked.value = null) };
    if (what === "send") return <AskSend {...all} yes={() => send(chosen)} />;
    if (what === "merge") return <AskMerge {...all} yes={(into) => merge(into, chosen)} />;
    return (
      <AskMove {...all} action={titleOf(what, chosen)} isGrave={grave.includes(what)} yes={() => move(what, chosen)} />
    );
  };
  return (
    <>
      {hasTicks ? (
        <TickBar ticks={ticks} label={words.bar} clear={words.clear} says={shown ?? words.selected(orders.length)}>
          {isBuyer ? (
            <>
              {isOfDrafts ? (
                <button type="button" class="primary shy" disabled={isBusy} onClick={() => ask("send")}>
                  <Icon name="mail" />
                  <span>{words.send}</span>
                </button>
              ) : null}
              <Pop
                button={
                  <>
                    {words.move}
                    <Icon name="chevron-down" />
                  </>
                }
                isMenu
              >
                {moves.length === 0 ? <p class="quiet why-not">{words.noMove}</p> : null}
                {moves.map((to) => (
                  <button
                    key={to}
                    type="button"
                    class={grave.includes(to) ? "danger" : undefined}
                    disabled={isBusy}
                    onClick={() => ask(to)}
                  >
                    {titleOf(to)}
                  </button>
                ))}
              </Pop>
              <Pop button={<Icon name="ellipsis" />} buttonClass="icon-only" label={words.more} isMenu isAtEnd>
                <button type="button" onClick={() => setTicks(ticks, list.state.value.rows.map(idOf), true)}>
                  {texts.orders.selectAll}
                </button>
                {mayMerge(orders) ? (
                  <button type="button" disabled={isBusy} onClick={() => ask("merge")}>
                    {words.merge}
                  </button>
                ) : (
                  <p class="quiet why-not">{words.noMerge}</p>
                )}
                {isOfDrafts ? null : <p class="quiet why-not">{words.noSend}</p>}
                {documents}
              </Pop>
            </>
          ) : (
            documents
          )}
        </TickBar>
      ) : null}
      {summary.value === null ? null : (
        <SummaryNotice summary={summary.value} words={words} close={() => (summary.value = null)} />
      )}
      {asked.value === null ? null : question(asked.value)}
    </>
  );
};
