/** Stock: what is on hand, and the lists and records of takes, adjustments, transfers and manufacturing orders. */
import { statusName, writtenDay } from "../data/format.ts";
import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import type { Problem } from "../data/client.ts";
import { locations } from "../data/look-ups.ts";
import { listOf } from "../data/pages.ts";
import { BackLink } from "../parts/frame/back-link.tsx";
import { type ListColumn, ListScreen, Table } from "../parts/lists/list-screen.tsx";
import { densityIn, filtersIn, shownColumns } from "../parts/lists/looks.ts";
import { RecordBar } from "../parts/lists/record-bar.tsx";
import { recordColumns, type RecordRow } from "../parts/lists/record-columns.tsx";
import { FactList } from "../parts/lists/facts.tsx";
import { ProblemNotice } from "../parts/problem.tsx";
import { EntrySays } from "../parts/service-says.tsx";
import { StatusChip } from "../parts/status-chip.tsx";
import { Moment } from "../parts/when.tsx";
import { go, hrefOf, listHref, place, withParameter, withQuery } from "../router.ts";
import { stockTexts } from "../texts/en/goods/stock.ts";
import { texts } from "../texts/en/texts.ts";
import { nameRecord } from "../title.ts";
import { adjustments, takes } from "./counts.ts";
import type { Kind, StockDetail, StockTable } from "./kinds.ts";
import { KindTabs } from "./kind-tabs.tsx";
import { manufacturing, transfers } from "./moves.ts";
import { OnHand } from "./on-hand.tsx";
import { Skeleton } from "../parts/skeleton.tsx";

const kinds = { takes, adjustments, transfers, manufacturing } as const satisfies Record<string, Kind>;

type KindName = keyof typeof kinds;

const isKind = (name: string): name is KindName => Object.hasOwn(kinds, name);

export const StockScreen: FunctionComponent = () => {
  const [, name, id] = place.value.steps;
  if (name === undefined) return <OnHand />;
  if (!isKind(name)) return <p class="notice">{texts.notFound}</p>;
  return id === undefined ? <Records key={name} name={name} /> : <Record key={id} name={name} id={id} />;
};

const Records: FunctionComponent<{ readonly name: KindName }> = ({ name }) => {
  const kind = kinds[name];
  const { query } = place.value;
  const filters = filtersIn(query);
  const key = filters.toString();
  const list = useMemo(() => listOf<RecordRow>((cursor) => kind.page(filters, cursor)), [key]);
  const columns = recordColumns(stockTexts.columns.number, stockTexts.columns.status, kind.columns, (id) =>
    hrefOf("stock", name, id),
  );
  return (
    <>
      <KindTabs current={name} />
      <ListScreen
        title={stockTexts.kinds[name]}
        list={list}
        columns={shownColumns(query, columns)}
        density={densityIn(query)}
        keyOf={(row) => row.id}
        filters={<Filters name={name} query={query} columns={columns} />}
        empty={
          key === "" ? (
            <p>{stockTexts.emptyShop[name]}</p>
          ) : (
            <>
              <p>{stockTexts.empty}</p>
              <a href={hrefOf("stock", name)}>{stockTexts.clear}</a>
            </>
          )
        }
      />
    </>
  );
};

interface FiltersProps {
  readonly name: KindName;
  readonly query: URLSearchParams;
  readonly columns: readonly ListColumn<RecordRow>[];
}

const Filters: FunctionComponent<FiltersProps> = ({ name, query, columns }) => {
  const kind: Kind = kinds[name];
  const addressOf = (next: URLSearchParams): string => withQuery(hrefOf("stock", name), next);
  const set = (parameter: string, value: string): void => go(addressOf(withParameter(query, parameter, value)));
  const chosen = (query.get("status") ?? "").split(",").filter((each) => each !== "");
  const choose = (status: string): void =>
    set("status", (chosen.includes(status) ? chosen.filter((each) => each !== status) : [...chosen, status]).join(","));
  const dates = [
    ["dateFrom", texts.filters.from],
    ["dateTo", texts.filters.to],
  ] as const;
  const taken = [
    ...chosen.map((status) => ({
      label: stockTexts.columns.status,
      name: statusName(status),
      takeOff: () => choose(status),
    })),
    ...dates.flatMap(([parameter, label]) => {
      const written = query.get(parameter);
      return written === null ? [] : { label, name: writtenDay(written), takeOff: () => set(parameter, "") };
    }),
  ];
  return (
    <>
      <p class="lead">{stockTexts.lead}</p>
      <RecordBar
        query={query}
        addressOf={addressOf}
        search={stockTexts.search}
        picks={kind.places.map((at) => ({ ...at, lookUp: locations }))}
        taken={taken}
        columns={columns}
        above={
          <fieldset class="chips">
            <legend>{stockTexts.columns.status}</legend>
            {kind.statuses.map((status) => (
              <button
                key={status}
                type="button"
                class="toggle"
                aria-pressed={chosen.includes(status)}
                onClick={() => choose(status)}
              >
                {statusName(status)}
              </button>
            ))}
          </fieldset>
        }
        beside={
          kind.hasDates
            ? dates.map(([parameter, title]) => (
                <label key={parameter}>
                  {title}
                  <input
                    type="date"
                    value={query.get(parameter) ?? ""}
                    onChange={(event) => set(parameter, event.currentTarget.value)}
                  />
                </label>
              ))
            : null
        }
      />
    </>
  );
};

const Record: FunctionComponent<{ readonly name: KindName; readonly id: string }> = ({ name, id }) => {
  const found = useSignal<StockDetail | Problem | null>(null);
  const read = async (): Promise<void> => {
    found.value = await kinds[name].detail(id);
  };
  useEffect(() => void read(), [id]);
  const state = found.value;
  useEffect(() => {
    if (state !== null && "tables" in state) nameRecord(id, state.title);
  }, [state]);
  return (
    <>
      <BackLink href={listHref("stock", name)}>{stockTexts.kinds[name]}</BackLink>
      {state === null ? <Skeleton /> : null}
      {state !== null && "message" in state ? (
        <>
          <h1>{stockTexts.kinds[name]}</h1>
          <ProblemNotice problem={state} again={() => void read()} />
        </>
      ) : null}
      {state !== null && "tables" in state ? <Detail detail={state} /> : null}
    </>
  );
};

const Detail: FunctionComponent<{ readonly detail: StockDetail }> = ({
  detail: { title, hint, status, facts, tables, log, orders },
}) => (
  <>
    <div class="heading">
      <h1>
        {title} {hint === null ? null : <span class="quiet">{hint}</span>}
      </h1>
      <StatusChip status={status} />
    </div>
    <div class="card">
      <FactList facts={facts} />
    </div>
    {tables.map((table) => (
      <Lines key={table.title} table={table} />
    ))}
    {orders.length === 0 ? null : (
      <section>
        <h2>{stockTexts.linked}</h2>
        <ul class="items">
          {orders.map(({ purchaseOrderId, poNumber }) => (
            <li key={purchaseOrderId}>
              <a href={hrefOf("orders", purchaseOrderId)}>{poNumber ?? purchaseOrderId}</a>
            </li>
          ))}
        </ul>
      </section>
    )}
    {log.length === 0 ? null : (
      <section>
        <h2>{stockTexts.log}</h2>
        <ol class="timeline">
          {log.map((entry) => (
            <li key={entry.logId}>
              <Moment at={entry.occurredAt} />
              <div>
                <p>
                  <EntrySays entry={entry} />
                </p>
                <p class="quiet">{entry.actor.name ?? texts.activity.actorNames[entry.actor.type]}</p>
              </div>
            </li>
          ))}
        </ol>
      </section>
    )}
  </>
);

const Lines: FunctionComponent<{ readonly table: StockTable }> = ({ table: { title, columns, rows } }) => (
  <section>
    <h2>{title}</h2>
    {rows.length === 0 ? (
      <p class="quiet">{stockTexts.lines.none}</p>
    ) : (
      <Table
        title={title}
        isWhole
        rows={rows}
        of={rows}
        keyOf={(row) => row.id}
        columns={columns.map((column, index) => ({
          name: column.title,
          title: column.title,
          kind: column.kind,
          cell: (row: StockTable["rows"][number]) => {
            const text = row.values[index] ?? "";
            return text === "" ? texts.orders.none : text;
          },
        }))}
      />
    )}
  </section>
);
