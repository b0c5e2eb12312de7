/** The list of orders: views, filters, search, and rows page by page. */
import { useComputed, useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { PurchaseOrderHeader } from "../../client/index.ts";
import { openpo, problemOf } from "../data/client.ts";
import { day, money, todayIn } from "../data/format.ts";
import { type List, listOf } from "../data/pages.ts";
import { sessionState } from "../data/session.ts";
import { ProblemNotice } from "../parts/problem.tsx";
import { Progress } from "../parts/progress.tsx";
import { StatusChip } from "../parts/status-chip.tsx";
import { go, hrefOf, place } from "../router.ts";
import { texts } from "../texts.ts";
import { builtInViews, inputOf, isView, statuses, statusesIn, withParameter, withStatus } from "./filters.ts";

/** How long typing rests before the list is asked for. */
const typingRestMs = 200;

const addressOf = (query: URLSearchParams | string): string => {
  const search = new URLSearchParams(query).toString();
  return search === "" ? hrefOf("orders") : `${hrefOf("orders")}?${search}`;
};

/** Lists that were read, by their query: the way back shows the same rows at the same place. */
const kept = new Map<string, List<PurchaseOrderHeader>>();
const keptMax = 10;

function ordersOf(query: URLSearchParams): List<PurchaseOrderHeader> {
  const key = query.toString();
  const known = kept.get(key);
  if (known !== undefined) return known;
  const list = listOf<PurchaseOrderHeader>(async (cursor) => {
    const input = inputOf(query);
    const result = await openpo.call("purchase_order_list", cursor === null ? input : { ...input, cursor });
    if (!result.ok) return { problem: problemOf(result) };
    const { purchaseOrders, totalCount, cursor: next } = result.data;
    return { rows: purchaseOrders, totalCount, cursor: next };
  });
  kept.set(key, list);
  const [oldest] = kept.keys();
  if (kept.size > keptMax && oldest !== undefined) kept.delete(oldest);
  return list;
}

export const OrdersScreen: FunctionComponent = () => {
  const { query } = place.value;
  const key = query.toString();
  const list = useMemo(() => ordersOf(query), [key]);
  const { rows, totalCount, hasMore, isLoading, problem } = list.state.value;
  const isFiltered = key !== "";
  return (
    <>
      <div class="heading">
        <h1>{texts.orders.title}</h1>
        <output class="quiet" aria-live="polite">
          {isLoading && rows.length === 0 ? texts.loading : texts.orders.shown(rows.length, totalCount)}
        </output>
      </div>
      <Filters query={query} />
      {problem === null ? null : <ProblemNotice problem={problem} again={() => void list.more()} />}
      {rows.length > 0 ? <OrdersTable rows={rows} /> : null}
      {rows.length === 0 && !isLoading && problem === null ? (
        <div class="empty">
          <p>{isFiltered ? texts.orders.empty : texts.orders.emptyShop}</p>
          {isFiltered ? (
            <a href={hrefOf("orders")}>{texts.orders.clear}</a>
          ) : (
            <p class="quiet">{texts.orders.emptyShopHint}</p>
          )}
        </div>
      ) : null}
      {hasMore ? (
        <p class="more">
          <button type="button" disabled={isLoading} onClick={() => void list.more()}>
            {isLoading ? texts.loading : texts.orders.more}
          </button>
        </p>
      ) : null}
    </>
  );
};

const Filters: FunctionComponent<{ readonly query: URLSearchParams }> = ({ query }) => {
  const field = useRef<HTMLInputElement>(null);
  const timer = useSignal<ReturnType<typeof setTimeout> | null>(null);
  const today = useComputed(() =>
    sessionState.value.kind === "signed-in" ? todayIn(sessionState.value.session.shop.timezone) : "",
  );
  useEffect(() => {
    // `/` leads to the search, except while a text is being written.
    const onKey = (event: KeyboardEvent): void => {
      const isWriting = event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement;
      if (event.key !== "/" || isWriting || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      field.current?.focus();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  const search = (text: string): void => {
    if (timer.value !== null) clearTimeout(timer.value);
    timer.value = setTimeout(() => {
      go(addressOf(withParameter(place.value.query, "search", text.trim())), { replace: true });
    }, typingRestMs);
  };
  const chosen = statusesIn(query);
  return (
    <section class="filters" aria-label={texts.orders.search}>
      <div class="views">
        {builtInViews(today.value).map((view) => (
          <a key={view.name} href={addressOf(view.query)} aria-current={isView(query, view.query) ? "true" : undefined}>
            {view.name}
          </a>
        ))}
      </div>
      <label class="search">
        <span class="hidden">{texts.orders.search}</span>
        <input
          ref={field}
          type="search"
          placeholder={texts.orders.searchHint}
          value={query.get("search") ?? ""}
          onInput={(event) => search(event.currentTarget.value)}
        />
      </label>
      <fieldset class="chips">
        <legend class="hidden">{texts.orders.status}</legend>
        {statuses.map((status) => (
          <button
            key={status}
            type="button"
            class="toggle"
            aria-pressed={chosen.includes(status)}
            onClick={() => go(addressOf(withStatus(query, status)))}
          >
            {status}
          </button>
        ))}
      </fieldset>
    </section>
  );
};

const OrdersTable: FunctionComponent<{ readonly rows: readonly PurchaseOrderHeader[] }> = ({ rows }) => {
  const { columns } = texts.orders;
  return (
    <table class="rows">
      <thead>
        <tr>
          <th scope="col">{columns.number}</th>
          <th scope="col">{columns.supplier}</th>
          <th scope="col">{columns.status}</th>
          <th scope="col">{columns.expected}</th>
          <th scope="col">{columns.received}</th>
          <th scope="col" class="amount">
            {columns.value}
          </th>
          <th scope="col">{columns.paid}</th>
          <th scope="col">{columns.sync}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((order) => (
          <OrderRow key={order.purchaseOrderId} order={order} />
        ))}
      </tbody>
    </table>
  );
};

const OrderRow: FunctionComponent<{ readonly order: PurchaseOrderHeader }> = ({ order }) => {
  const { none } = texts.orders;
  return (
    <tr>
      <th scope="row">
        <a href={hrefOf("orders", order.purchaseOrderId)}>{order.poNumber}</a>
        {order.poName === null ? null : <span class="quiet">{order.poName}</span>}
      </th>
      <td>
        {order.supplierName ?? none}
        {order.locationName === null ? null : <span class="quiet">{order.locationName}</span>}
      </td>
      <td>
        <StatusChip status={order.status} />
      </td>
      <td class="date" data-name={texts.orders.columns.expected}>
        {order.nextExpectedDate === null ? none : day(order.nextExpectedDate)}
      </td>
      <td data-name={texts.orders.columns.received}>
        <Progress received={order.quantityReceived} ordered={order.quantityOrdered} />
      </td>
      <td class="amount" data-name={texts.orders.columns.value}>
        {money(order.totalValue, order.currencyCode)}
      </td>
      <td data-name={texts.orders.columns.paid}>{order.paidStatus}</td>
      <td class={order.storefrontSyncState === "failed" ? "bad" : "quiet"}>{texts.sync[order.storefrontSyncState]}</td>
    </tr>
  );
};
