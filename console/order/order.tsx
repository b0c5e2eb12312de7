/** One order: its header, its lines and what has happened to it. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren, FunctionComponent } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import type { Output } from "../../client/index.ts";
import { openpo, type Problem, problemOf } from "../data/client.ts";
import { day, moment, money, number } from "../data/format.ts";
import { listOf } from "../data/pages.ts";
import { ProblemNotice } from "../parts/problem.tsx";
import { Progress } from "../parts/progress.tsx";
import { StatusChip } from "../parts/status-chip.tsx";
import { hrefOf } from "../router.ts";
import { texts } from "../texts.ts";

type Order = Output<"purchase_order_get">["purchaseOrder"];
type LogEntry = Output<"purchase_order_log_list">["log"][number];

/** What is known of the order so far. */
type Found = { readonly order: Order } | { readonly problem: Problem } | null;

export const OrderScreen: FunctionComponent<{ readonly purchaseOrderId: string }> = ({ purchaseOrderId }) => {
  const found = useSignal<Found>(null);
  const read = async (): Promise<void> => {
    const result = await openpo.call("purchase_order_get", { purchaseOrderId });
    found.value = result.ok ? { order: result.data.purchaseOrder } : { problem: problemOf(result) };
  };
  useEffect(() => void read(), [purchaseOrderId]);
  const state = found.value;
  return (
    <>
      <p class="back">
        <a href={hrefOf("orders")}>{texts.order.back}</a>
      </p>
      {state === null ? <p role="status">{texts.loading}</p> : null}
      {state !== null && "problem" in state ? (
        <ProblemNotice problem={state.problem} again={() => void read()} />
      ) : null}
      {state !== null && "order" in state ? <OrderView order={state.order} /> : null}
    </>
  );
};

const OrderView: FunctionComponent<{ readonly order: Order }> = ({ order }) => (
  <>
    <div class="heading">
      <h1>
        {order.poNumber} {order.poName === null ? null : <span class="quiet">{order.poName}</span>}
      </h1>
      <StatusChip status={order.status} />
    </div>
    <Facts order={order} />
    <section aria-labelledby="lines">
      <h2 id="lines">{texts.order.lines}</h2>
      {order.lineItems.length === 0 ? <p class="quiet">{texts.order.noLines}</p> : <Lines order={order} />}
    </section>
    <Timeline purchaseOrderId={order.purchaseOrderId} />
  </>
);

const Fact: FunctionComponent<{ readonly name: string; readonly children: ComponentChildren }> = ({
  name,
  children,
}) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

const Facts: FunctionComponent<{ readonly order: Order }> = ({ order }) => {
  const { none } = texts.orders;
  return (
    <dl class="facts">
      <Fact name={texts.order.supplier}>{order.supplierName ?? none}</Fact>
      <Fact name={texts.order.location}>{order.locationName ?? none}</Fact>
      <Fact name={texts.order.expected}>{order.nextExpectedDate === null ? none : day(order.nextExpectedDate)}</Fact>
      <Fact name={texts.orders.columns.received}>
        <Progress received={order.quantityReceived} ordered={order.quantityOrdered} />
      </Fact>
      <Fact name={texts.order.value}>{money(order.grandTotal, order.currencyCode)}</Fact>
      <Fact name={texts.order.paid}>{order.paidStatus}</Fact>
      <Fact name={texts.order.storefront}>{texts.sync[order.storefrontSyncState]}</Fact>
      <Fact name={texts.order.createdBy}>{order.createdBy ?? none}</Fact>
      {order.note === null ? null : <Fact name={texts.order.note}>{order.note}</Fact>}
    </dl>
  );
};

const Lines: FunctionComponent<{ readonly order: Order }> = ({ order }) => {
  const { columns } = texts.order;
  return (
    <table class="rows">
      <thead>
        <tr>
          <th scope="col">{columns.product}</th>
          <th scope="col">{columns.sku}</th>
          <th scope="col" class="amount">
            {columns.ordered}
          </th>
          <th scope="col" class="amount">
            {columns.confirmed}
          </th>
          <th scope="col" class="amount">
            {columns.received}
          </th>
          <th scope="col" class="amount">
            {columns.pending}
          </th>
          <th scope="col" class="amount">
            {columns.unitCost}
          </th>
        </tr>
      </thead>
      <tbody>
        {order.lineItems.map((line) => (
          <tr key={line.poLineItemId}>
            <th scope="row">
              {line.productName ?? line.variantId}
              {line.variantName === null ? null : <span class="quiet">{line.variantName}</span>}
            </th>
            <td>{line.sku ?? texts.orders.none}</td>
            <td class="amount" data-name={columns.ordered}>
              {number(line.quantityOrdered)}
            </td>
            <td class="amount" data-name={columns.confirmed}>
              {number(line.quantityConfirmed)}
            </td>
            <td class="amount" data-name={columns.received}>
              {number(line.quantityReceived)}
            </td>
            <td class="amount" data-name={columns.pending}>
              {number(line.quantityPending)}
            </td>
            <td class="amount" data-name={columns.unitCost}>
              {money(line.unitCost, line.unitCostCurrencyCode)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
};

const Timeline: FunctionComponent<{ readonly purchaseOrderId: string }> = ({ purchaseOrderId }) => {
  const list = useMemo(
    () =>
      listOf<LogEntry>(async (cursor) => {
        const page = cursor === null ? { limit: 20 } : { limit: 20, cursor };
        const result = await openpo.call("purchase_order_log_list", { purchaseOrderId, ...page });
        if (!result.ok) return { problem: problemOf(result) };
        const { log, totalCount, cursor: next } = result.data;
        return { rows: log, totalCount, cursor: next };
      }),
    [purchaseOrderId],
  );
  const { rows, hasMore, isLoading, problem } = list.state.value;
  return (
    <section aria-labelledby="timeline">
      <h2 id="timeline">{texts.order.timeline}</h2>
      {problem === null ? null : <ProblemNotice problem={problem} again={() => void list.more()} />}
      <ol class="timeline">
        {rows.map((entry) => (
          <li key={entry.logId}>
            <time dateTime={entry.occurredAt}>{moment(entry.occurredAt)}</time>
            <span>{entry.message}</span>
            <span class="quiet">
              {entry.actor.name ?? entry.actor.type} · {entry.actor.type}
            </span>
          </li>
        ))}
      </ol>
      {hasMore ? (
        <button type="button" disabled={isLoading} onClick={() => void list.more()}>
          {texts.order.more}
        </button>
      ) : null}
    </section>
  );
};
