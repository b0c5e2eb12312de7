/**
 * At the dock: a scan of any box shows the open orders that wait for it, most pending first. One key leads on to
 * receiving it. The number of an order, which its document has as a bar code, opens that order.
 */
import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Output } from "../../client/index.ts";
import { openpo, type Problem, problemOf } from "../data/client.ts";
import { codeKey } from "../../src/core/goods/codes.ts";
import { number } from "../data/format.ts";
import { everyRow } from "../data/pages.ts";
import { useReading } from "../data/reading.ts";
import { signedIn } from "../data/session.ts";
import { Dotted } from "../parts/dotted.tsx";
import { ProblemNotice } from "../parts/problem.tsx";
import { Progress } from "../parts/progress.tsx";
import { Day } from "../parts/when.tsx";
import { nameOf } from "./lines.ts";
import { ScanField } from "../parts/fields/scan-field.tsx";
import { StatusChip } from "../parts/status-chip.tsx";
import { play } from "./sounds.ts";
import { go, hrefOf, place, withQuery } from "../router.ts";
import { texts } from "../texts/en/texts.ts";
import { dockTexts, receiveTexts } from "../texts/en/order/receive.ts";

type OpenLine = Output<"open_line_list">["openLines"][number];

type ListedOrder = Output<"purchase_order_list">["purchaseOrders"][number];

type Found =
  | { readonly code: string; readonly lines: readonly OpenLine[]; readonly totalCount: number }
  | { readonly problem: Problem }
  | null;

const receiveHref = ({ purchaseOrderId, poLineItemId }: OpenLine): string =>
  withQuery(hrefOf("receive", purchaseOrderId), new URLSearchParams({ line: poLineItemId }));

/** Goods are received on orders in these; others have to be moved on first. */
const isReceivable = ({ status }: Pick<OpenLine, "status">): boolean =>
  status === "In Progress" || status === "Partially Received";

/** Orders whose number, name or supplier has a code in it; the number alone is looked at, so few are enough. */
const ordersReadMax = 500;

/** The order with this number, or null. */
async function orderNumbered(code: string): Promise<ListedOrder | null | { readonly problem: Problem }> {
  const found = await everyRow<ListedOrder>(
    async (cursor) => {
      const input = { search: code, limit: 50 };
      const result = await openpo.call("purchase_order_list", cursor === null ? input : { ...input, cursor });
      return result.ok ? { ...result.data, rows: result.data.purchaseOrders } : { problem: problemOf(result) };
    },
    () => {},
    ordersReadMax,
  );
  return "problem" in found ? found : (found.rows.find(({ poNumber }) => codeKey(poNumber) === codeKey(code)) ?? null);
}

export const DockScreen: FunctionComponent = () => {
  const field = useRef<HTMLInputElement>(null);
  const found = useSignal<Found>(null);
  const code = place.value.query.get("code");
  const shopId = signedIn()?.shop.shopId ?? null;
  const latestCode = useRef<string | null>(null);
  const findLines = async (): Promise<void> => {
    latestCode.current = code;
    found.value = null;
    if (code === null || shopId === null) return;
    const result = await openpo.call("open_line_list", { shopId, code });
    // A later scan has asked for something else.
    if (latestCode.current !== code) return;
    if (!result.ok) return void (found.value = { problem: problemOf(result) });
    const { openLines, totalCount } = result.data;
    if (openLines.length === 0) {
      const order = await orderNumbered(code);
      if (latestCode.current !== code) return;
      if (order !== null && "problem" in order) return void (found.value = order);
      if (order !== null) {
        play("counted");
        // Back leads to the scan before, not to this one.
        return go(hrefOf(isReceivable(order) ? "receive" : "orders", order.purchaseOrderId), { replace: true });
      }
    }
    found.value = { code, lines: openLines, totalCount };
    play(openLines.length === 0 ? "unknown" : "counted");
  };
  useEffect(() => void findLines(), [code, shopId]);
  const onScan = (scanned: string): void => {
    if (scanned !== "") return go(withQuery(hrefOf("dock"), new URLSearchParams({ code: scanned })));
    const first = found.value !== null && "lines" in found.value ? found.value.lines[0] : undefined;
    if (first !== undefined) go(receiveHref(first));
  };
  const state = found.value;
  return (
    <>
      <div class="heading">
        <h1>{dockTexts.title}</h1>
        <span class="quiet">{dockTexts.lead}</span>
      </div>
      <div class="scan-panel">
        <ScanField field={field} onScan={onScan} />
        <p
          class={`outcome ${state !== null && "lines" in state && state.lines.length === 0 ? "unknown" : ""}`}
          role="status"
        >
          {state !== null && "lines" in state ? (
            <FoundWords {...state} />
          ) : code === null ? (
            receiveTexts.ready
          ) : (
            texts.loading
          )}
        </p>
      </div>
      {state !== null && "problem" in state ? (
        <ProblemNotice problem={state.problem} again={() => void findLines()} />
      ) : null}
      {state !== null && "lines" in state ? (
        <ol class="count-rows">
          {state.lines.map((line) => (
            <DockRow key={line.poLineItemId} line={line} />
          ))}
        </ol>
      ) : null}
      {code === null ? <Due /> : null}
    </>
  );
};

const dueShown = 50;

/** Orders whose goods can be received, the first expected first: for a delivery without anything to scan. */
const Due: FunctionComponent = () => {
  const { data } = useReading("purchase_order_list", {
    status: ["In Progress", "Partially Received"],
    sort: "nextExpectedDate",
    limit: dueShown,
  });
  if (data === null) return null;
  const orders = data.purchaseOrders;
  if (orders.length === 0)
    return (
      <div class="empty">
        <p>{dockTexts.nothing}</p>
        <p class="quiet">{dockTexts.nothingHint}</p>
        <a href={hrefOf("orders")}>{dockTexts.toOrders}</a>
      </div>
    );
  return (
    <section aria-label={texts.orders.views.receive}>
      <h2>{texts.orders.views.receive}</h2>
      <ul class="count-rows">
        {orders.map((order) => (
          <li key={order.purchaseOrderId} class="dock-row">
            <a class="what" href={hrefOf("receive", order.purchaseOrderId)}>
              <strong>{order.poNumber}</strong>
              <span class="quiet">
                <Dotted
                  parts={[
                    order.supplierName,
                    order.locationName,
                    order.nextExpectedDate === null ? null : (
                      <Day at={order.nextExpectedDate} says={dockTexts.expected} />
                    ),
                  ]}
                />
              </span>
            </a>
            <div class="how-many">
              <span class="total">{dockTexts.pending(number(order.quantityPending))}</span>
              <Progress
                received={order.quantityReceived}
                ordered={order.quantityOrdered}
                pending={order.quantityPending}
              />
            </div>
            <StatusChip status={order.status} />
          </li>
        ))}
      </ul>
    </section>
  );
};

const FoundWords: FunctionComponent<{ readonly code: string; readonly totalCount: number }> = ({
  code,
  totalCount,
}) => (
  <>
    {totalCount === 0 ? dockTexts.none(code) : dockTexts.found(code, totalCount)}
    {totalCount === 0 ? null : <span class="quiet"> {dockTexts.enter}</span>}
  </>
);

/** Count of one scan of the code, where that is not one piece. */
const CountsAs: FunctionComponent<Pick<OpenLine, "countsAs" | "countsAsReason">> = ({ countsAs, countsAsReason }) => {
  if (countsAsReason === "piece") return null;
  const pieces = number(countsAs);
  const words =
    countsAsReason === "pack"
      ? dockTexts.pack(pieces)
      : countsAsReason === "count"
        ? dockTexts.count(pieces)
        : dockTexts.unknownPack;
  return <span class="quiet">{words}</span>;
};

const DockRow: FunctionComponent<{ readonly line: OpenLine }> = ({ line }) => (
  <li class="dock-row">
    <a class="what" href={receiveHref(line)}>
      <strong>{line.poNumber}</strong>
      <span>{nameOf(line)}</span>
      <span class="quiet">
        <Dotted
          parts={[
            line.supplierName,
            line.locationName,
            line.nextExpectedDate === null ? null : <Day at={line.nextExpectedDate} says={dockTexts.expected} />,
          ]}
        />
      </span>
    </a>
    <div class="how-many">
      <span class="total">{dockTexts.pending(number(line.quantityPending))}</span>
      <Progress received={line.quantityReceived} ordered={line.quantityOrdered} pending={line.quantityPending} />
    </div>
    <StatusChip status={line.status} />
    <CountsAs {...line} />
    {isReceivable(line) ? null : <span class="quiet">{dockTexts.notYet}</span>}
  </li>
);
