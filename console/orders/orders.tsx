/** The list of orders: views, filters, search, and rows page by page. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren, FunctionComponent } from "preact";
import { useEffect, useLayoutEffect, useMemo } from "preact/hooks";
import type { PurchaseOrderHeader } from "../../client/index.ts";
import type { Problem } from "../data/client.ts";
import { money, statusName, writtenDay } from "../data/format.ts";
import { locations, suppliers, variants } from "../data/look-ups.ts";
import { hasRole, hasStorefront } from "../data/session.ts";
import { lazy } from "../parts/lazy.tsx";
import { ColumnsPop } from "../parts/lists/columns.tsx";
import { densityIn, filtersIn, shownColumns } from "../parts/lists/looks.ts";
import { type ListColumn, ListScreen } from "../parts/lists/list-screen.tsx";
import { isWriting } from "../parts/frame/writing.ts";
import { Icon } from "../parts/icon.tsx";
import { ListBar, type Taken } from "../parts/lists/list-bar.tsx";
import { OnceTicked, ticksOf } from "../parts/lists/ticks.tsx";
import { usePickedName } from "../parts/fields/picked-name.ts";
import { ProblemNotice } from "../parts/problem.tsx";
import { Progress } from "../parts/progress.tsx";
import { SearchFilter } from "../parts/fields/search-filter.tsx";
import { StatusChip } from "../parts/status-chip.tsx";
import { ShortDay } from "../parts/when.tsx";
import { go, hrefOf, place, withParameter } from "../router.ts";
import { texts } from "../texts/en/texts.ts";
import { exportOrders } from "./export.ts";
import { dueIn, lateFor, unconfirmedFor } from "./lateness.ts";
import { ageIn, builtInViews, isView, statusesIn, syncStates, todayWord, wholeList, withStatus } from "./filters.ts";
import { ordersOf } from "./kept.ts";
import { useLiveOrders } from "./live.ts";
import { addressOf, ViewBar } from "./view-bar.tsx";
import { firstQuery, readViews } from "./views.ts";

const words = texts.orders;

/** Age of the list at which suppliers' answers are requested: it does not wait for them. */
const answersAfterMs = 1_000;

const FilterFields = lazy(async () => (await import("./filter-fields.tsx")).FilterFields, { isQuiet: true });

const ColumnsMenu = lazy(async () => (await import("./filter-fields.tsx")).ColumnsMenu, { isQuiet: true });

const TickBar = lazy(async () => (await import("./ticked/tick-bar.tsx")).OrderTickBar, { isQuiet: true });

const Answers = lazy(async () => (await import("./answers.tsx")).Answers, { isQuiet: true });

export const OrdersScreen: FunctionComponent = () => {
  const { query } = place.value;
  const hasQuery = query.size > 0;
  // What the list looks like makes no other one.
  const filters = filtersIn(query);
  const key = filters.toString();
  useEffect(() => {
    if (hasQuery) return;
    const begin = (): void => {
      const first = firstQuery();
      if (first !== null && location.search === "") go(addressOf(first), { replace: true });
    };
    begin();
    void readViews().then(begin);
  }, [hasQuery]);
  const list = useMemo(() => ordersOf(filters), [key]);
  // Other filters begin without ticks.
  const ticks = useMemo(ticksOf, [list]);
  useLiveOrders(list);
  const isFiltered = !isView(filters, wholeList);
  const { rows, isLoading } = list.state.value;
  return (
    <ListScreen
      title={words.title}
      list={list}
      columns={shownColumns(query, allColumns())}
      density={densityIn(query)}
      keyOf={(order) => order.purchaseOrderId}
      sorted={{
        by: query.get("sort") ?? "",
        hrefOf: (sort) => addressOf(withParameter(query, "sort", sort)),
      }}
      ticking={{ ticks, nameOf: (order) => (order === null ? words.selectAll : words.select(order.poNumber)) }}
      actions={<ListActions query={query} isExportable={rows.length > 0} />}
      filters={
        <>
          {rows.length > 0 ? <LateAnswers /> : null}
          <Filters query={query} isListed={rows.length > 0 || !isLoading}>
            <OnceTicked key={key} ticks={ticks}>
              <TickBar ticks={ticks} list={list} />
            </OnceTicked>
          </Filters>
        </>
      }
      empty={<Empty isFiltered={isFiltered} />}
    />
  );
};

const LateAnswers: FunctionComponent = () => {
  const isDue = useSignal(false);
  useEffect(() => {
    const timer = setTimeout(() => (isDue.value = true), answersAfterMs);
    return () => clearTimeout(timer);
  }, []);
  return isDue.value ? <Answers /> : null;
};

const Empty: FunctionComponent<{ readonly isFiltered: boolean }> = ({ isFiltered }) => {
  if (isFiltered)
    return (
      <>
        <p>{words.empty}</p>
        <a href={addressOf(wholeList)}>{words.clear}</a>
      </>
    );
  return (
    <>
      <p>{words.emptyShop}</p>
      <p class="quiet">{words.emptyShopHint}</p>
      <p class="buttons centred">
        {hasRole("owner") ? <a href={hrefOf("import")}>{words.emptyShopImport}</a> : null}
        {hasRole("purchaser") ? <a href={hrefOf("new-order")}>{words.create}</a> : null}
      </p>
    </>
  );
};

const ListActions: FunctionComponent<{ readonly query: URLSearchParams; readonly isExportable: boolean }> = ({
  query,
  isExportable,
}) => {
  const read = useSignal<number | null>(null);
  const problem = useSignal<Problem | null>(null);
  const isBuyer = hasRole("purchaser");
  // Before it is painted: whoever sees the button can press its key.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (isWriting(event) || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key !== "n" || !isBuyer) return;
      event.preventDefault();
      go(hrefOf("new-order"));
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [isBuyer]);
  const save = async (): Promise<void> => {
    read.value = 0;
    problem.value = await exportOrders(query, (count) => (read.value = count));
    read.value = null;
  };
  return (
    <div class="buttons at-end">
      {problem.value === null ? null : <ProblemNotice problem={problem.value} again={() => void save()} />}
      {isExportable ? (
        <button type="button" class="shy" disabled={read.value !== null} onClick={() => void save()}>
          <Icon name="download" />
          <span>{read.value === null ? words.exportCsv : words.exporting(read.value)}</span>
        </button>
      ) : null}
      {isBuyer ? (
        <a class="primary" href={hrefOf("new-order")} title={words.createHint} aria-keyshortcuts="n">
          <Icon name="plus" />
          {words.create}
        </a>
      ) : null}
    </div>
  );
};

interface FiltersProps {
  readonly query: URLSearchParams;
  readonly isListed: boolean;
  /** Bar that may take the place of the search and the filters. */
  readonly children: ComponentChildren;
}

const Filters: FunctionComponent<FiltersProps> = ({ query, isListed, children }) => {
  const set = (name: string, value: string): void => go(addressOf(withParameter(query, name, value)));
  const chosen = statusesIn(query);
  const supplier = usePickedName(query.get("supplierId"), suppliers);
  const product = usePickedName(query.get("variantId"), variants);
  const location = usePickedName(query.get("locationId"), locations);
  const age = ageIn(query);
  const paid = query.get("paidStatus");
  const sync = syncStates.find((state) => state === query.get("storefrontSyncState"));
  const onDay = (parameter: string): string | null => {
    const written = query.get(parameter);
    return written === null ? null : written === todayWord ? words.dueIn(0) : writtenDay(written);
  };
  const off = (name: string) => () => set(name, "");
  const one = (label: string, parameter: string, name = query.get(parameter)): readonly Taken[] =>
    name === null ? [] : [{ label, name, takeOff: off(parameter) }];
  const taken = [
    ...chosen.map((status) => ({
      label: words.status,
      name: statusName(status),
      takeOff: () => go(addressOf(withStatus(query, status))),
    })),
    ...one(words.columns.supplier, "supplierId", supplier),
    ...one(words.columns.location, "locationId", location),
    ...one(words.columns.product, "variantId", product),
    ...one(texts.filters.from, "dateFrom", age === null ? onDay("dateFrom") : words.lastDays(age)),
    ...one(texts.filters.to, "dateTo", onDay("dateTo")),
    ...one(words.expectedBefore, "expectedBefore", onDay("expectedBefore")),
    ...one(words.tag, "tag"),
    ...one(words.columns.paid, "paidStatus", paid === null ? null : statusName(paid)),
    ...one(words.columns.sync, "storefrontSyncState", sync === undefined ? null : texts.sync[sync]),
  ];
  const isNamed = builtInViews.some((view) => isView(query, view.query));
  return (
    <>
      <ViewBar query={query} isListed={isListed} />
      <div class="bar-place">
        <ListBar
          search={
            <SearchFilter
              label={words.search}
              hint={words.searchHint}
              value={query.get("search") ?? ""}
              search={(text) => go(addressOf(withParameter(place.value.query, "search", text)), { replace: true })}
            />
          }
          taken={isNamed ? [] : taken}
          more={
            <ColumnsPop>
              <ColumnsMenu query={query} columns={allColumns()} addressOf={addressOf} />
            </ColumnsPop>
          }
        >
          <FilterFields query={query} />
        </ListBar>
        {children}
      </div>
    </>
  );
};

/** Day on which goods are expected, its distance, and how long the supplier has not confirmed if that is too long. */
const Expected: FunctionComponent<{ readonly order: PurchaseOrderHeader }> = ({ order }) => {
  const [lateDays, inDays, silentDays] = [lateFor(order), dueIn(order), unconfirmedFor(order)];
  return (
    <>
      {order.nextExpectedDate === null ? null : <ShortDay at={order.nextExpectedDate} />}
      {order.nextExpectedDate === null && silentDays === null ? words.none : null}
      {lateDays === null ? null : <span class="late">{words.lateFor(lateDays)}</span>}
      {silentDays === null ? null : <span class="late">{words.unconfirmedFor(silentDays)}</span>}
      {inDays === null || silentDays !== null ? null : <span class="quiet">{words.dueIn(inDays)}</span>}
    </>
  );
};

const columns: readonly ListColumn<PurchaseOrderHeader>[] = [
  {
    name: "number",
    title: words.columns.number,
    sort: "poNumber",
    cell: (order) => (
      <>
        <a href={hrefOf("orders", order.purchaseOrderId)}>{order.poNumber}</a>
        {order.poName === null ? null : <span class="quiet">{order.poName}</span>}
      </>
    ),
  },
  { name: "status", title: words.columns.status, at: "state", cell: (order) => <StatusChip status={order.status} /> },
  {
    name: "supplier",
    title: words.columns.supplier,
    kind: "name",
    at: "who",
    cell: (order) => order.supplierName ?? words.none,
  },
  { name: "location", title: words.columns.location, width: "wide", cell: (order) => order.locationName ?? words.none },
  {
    name: "expected",
    title: words.columns.expected,
    kind: "date",
    sort: "nextExpectedDate",
    at: "when",
    cell: (order) => <Expected order={order} />,
  },
  {
    name: "received",
    title: words.columns.received,
    at: "progress",
    cell: (order) => (
      <Progress received={order.quantityReceived} ordered={order.quantityOrdered} pending={order.quantityPending} />
    ),
  },
  {
    name: "value",
    title: words.columns.value,
    kind: "amount",
    sort: "-totalValue",
    at: "amount",
    cell: (order) => money(order.totalValue, order.currencyCode),
  },
  { name: "paid", title: words.columns.paid, width: "wide", cell: (order) => statusName(order.paidStatus) },
  // The last: a shop without a storefront does not have it.
  {
    name: "sync",
    title: words.columns.sync,
    width: "roomy",
    cell: (order) => (
      <span class={order.storefrontSyncState === "failed" ? "bad" : "quiet"}>
        {texts.sync[order.storefrontSyncState]}
      </span>
    ),
  },
];

/** Columns that there are. */
const allColumns = () => (hasStorefront() ? columns : columns.slice(0, -1));
