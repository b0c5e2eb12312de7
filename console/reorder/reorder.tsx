/** Reordering from a forecast: tick what to order, edit quantities, make one draft for each supplier. */
import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { Problem } from "../data/client.ts";
import { useReading } from "../data/reading.ts";
import { hasRole } from "../data/session.ts";
import { ProblemNotice } from "../parts/problem.tsx";
import { ListBar } from "../parts/lists/list-bar.tsx";
import { SearchFilter } from "../parts/fields/search-filter.tsx";
import { lazy } from "../parts/lazy.tsx";
import { go, hrefOf, place, withParameter, withQuery } from "../router.ts";
import { texts } from "../texts/en/texts.ts";
import { reorderTexts } from "../texts/en/goods/reorder.ts";
import { choiceIn, chosenOf, isWhole, serviceSortOf, suppliersIn } from "./chosen.ts";
import { chosenColumns, ColumnsMenu } from "./columns.tsx";
import { Grid } from "./grid.tsx";
import { NoViews } from "./no-views.tsx";
import { PlanDialog } from "./plan.tsx";
import { rowsOf } from "./rows.ts";
import { withSuppliers } from "./suppliers.ts";
import { type ForecastRow, isSuggested, namesSuppliers, planOf, suggested, type Ticked } from "./ticked.ts";
import { Skeleton } from "../parts/skeleton.tsx";
import { useUnsaved } from "../unsaved.ts";

const ProductDialog = lazy(async () => (await import("./product.tsx")).ProductDialog, { isQuiet: true });

export const ReorderScreen: FunctionComponent = () => {
  const { data, problem, again } = useReading("forecast_view_list", { limit: 50 });
  const views = data?.forecastViews ?? [];
  const selectedId = place.value.query.get("view");
  const firstId = (views.find(({ isStarred }) => isStarred) ?? views[0])?.viewId ?? null;
  const viewId = selectedId ?? firstId;
  const nav = useRef<HTMLElement>(null);
  useEffect(() => {
    nav.current?.querySelector("[aria-current=true]")?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [viewId, views.length]);
  return (
    <>
      <div class="heading">
        <h1>{reorderTexts.title}</h1>
        <nav ref={nav} class="tabs" aria-label={reorderTexts.views}>
          {views.map((view) => (
            <a
              key={view.viewId}
              href={withQuery(hrefOf("reorder"), new URLSearchParams({ view: view.viewId }))}
              aria-current={view.viewId === viewId ? "true" : undefined}
            >
              {view.viewName}
            </a>
          ))}
        </nav>
      </div>
      {problem === null ? null : <ProblemNotice problem={problem} again={() => void again()} />}
      {data === null && problem === null && selectedId === null ? <Skeleton /> : null}
      {data !== null && viewId === null ? <NoViews made={again} /> : null}
      {viewId === null ? null : <View key={viewId} viewId={viewId} isFirst={viewId === firstId} />}
    </>
  );
};

interface ViewProps {
  readonly viewId: string;
  /** True if it is the one that is shown where none is named. */
  readonly isFirst: boolean;
}

const View: FunctionComponent<ViewProps> = (props) => {
  const version = useSignal(0);
  return <Rows key={version.value} {...props} reload={() => (version.value += 1)} />;
};

const Rows: FunctionComponent<ViewProps & { readonly reload: () => void }> = ({ viewId, isFirst, reload }) => {
  const ticked = useSignal<Ticked>(new Map());
  const isPlanning = useSignal(false);
  const unplanned = useSignal<Problem | null>(null);
  const opened = useSignal<ForecastRow | null>(null);
  const { query } = place.value;
  const choice = choiceIn(query);
  const isAll = isWhole(choice);
  const serviceSort = serviceSortOf(choice);
  const sorted = useMemo(() => rowsOf(viewId, serviceSort), [serviceSort]);
  /** Rows of the sort before stay until those of this one are read. */
  const shown = useRef(sorted);
  if (sorted.totalCount.value !== null || sorted.problem.value !== null) shown.current = sorted;
  const rows = shown.current;
  // What is looked for may be in any row.
  useEffect(() => void (isAll ? sorted.need(0) : sorted.all()), [isAll, sorted]);
  const found = useMemo(
    () => (isAll ? rows.rows.value : chosenOf(rows.rows.value, choice)),
    [rows.rows.value, query.toString()],
  );
  // Filters, columns and the order of rows leave what is ticked as it is.
  useUnsaved(ticked.value.size > 0, ({ pathname, searchParams }) => {
    const view = searchParams.get("view");
    return pathname === hrefOf("reorder") && (view === null ? isFirst : view === viewId);
  });
  const total = rows.totalCount.value;
  const addressWith = (name: string, value: string): string =>
    withQuery(hrefOf("reorder"), withParameter(withParameter(query, "view", viewId), name, value));
  const canOrder = hasRole("purchaser");
  const columns = chosenColumns(rows.columns.value, query);
  const problem = rows.problem.value ?? unplanned.value;
  const plan = async (): Promise<void> => {
    const supplied = await withSuppliers(ticked.value);
    unplanned.value = "message" in supplied ? supplied : null;
    if ("message" in supplied) return;
    ticked.value = supplied;
    isPlanning.value = true;
  };
  return (
    <>
      {problem === null ? null : (
        <ProblemNotice problem={problem} again={unplanned.value === null ? rows.again : () => void plan()} />
      )}
      {total === null && problem === null ? <Skeleton /> : null}
      {total !== null && total > 0 && canOrder && !namesSuppliers(rows.columns.value.map(({ id }) => id)) ? (
        <p class="notice">{reorderTexts.noSuppliers}</p>
      ) : null}
      {total === 0 ? <p class="empty">{reorderTexts.noRows}</p> : null}
      {total === null || total === 0 ? null : (
        <>
          <ListBar
            search={
              <SearchFilter
                label={reorderTexts.search}
                hint={reorderTexts.searchHint}
                value={choice.search}
                search={(text) => go(addressWith("search", text), { replace: true })}
              />
            }
            taken={
              choice.supplier === ""
                ? []
                : [
                    {
                      label: texts.orders.columns.supplier,
                      name: choice.supplier,
                      takeOff: () => go(addressWith("supplier", "")),
                    },
                  ]
            }
            more={
              <ColumnsMenu
                columns={rows.columns.value}
                chosen={columns}
                hrefOf={(names) => addressWith("columns", names)}
              />
            }
          >
            <div class="filter-row">
              <label>
                {texts.orders.columns.supplier}
                <select
                  value={choice.supplier}
                  onFocus={() => void rows.all()}
                  onChange={({ currentTarget }) => go(addressWith("supplier", currentTarget.value))}
                >
                  <option value="">{texts.filters.any}</option>
                  {suppliersIn(rows.rows.value).map((name) => (
                    <option key={name}>{name}</option>
                  ))}
                </select>
              </label>
            </div>
          </ListBar>
          {found.length === 0 ? <p class="empty">{reorderTexts.nothing}</p> : null}
          <p class="quiet forecast-help">
            <output>{isAll ? reorderTexts.shown(found.length, total) : reorderTexts.found(found.length, total)}</output>{" "}
            {canOrder ? <span class="if-keys">{reorderTexts.help}</span> : null}
          </p>
          <Grid
            key={Object.values(choice).join("\n")}
            rows={rows}
            shown={found}
            total={isAll ? total : found.length}
            columns={columns}
            sort={choice.sort}
            hrefOfSort={(sort) => addressWith("sort", sort)}
            open={(row) => (opened.value = row)}
            ticked={ticked}
            canOrder={canOrder}
          />
          {opened.value === null ? null : <ProductDialog row={opened.value} onClose={() => (opened.value = null)} />}
        </>
      )}
      {canOrder && total !== null && total > 0 ? <Bar rows={rows} ticked={ticked} plan={plan} /> : null}
      {isPlanning.value ? (
        <PlanDialog
          ticked={ticked.value}
          currencyCode={rows.currencyCode.value}
          onMade={({ lines }) => {
            const made = new Set(lines.map(({ variantId }) => variantId));
            ticked.value = new Map([...ticked.value].filter(([variantId]) => !made.has(variantId)));
          }}
          onClose={(hasMade) => {
            isPlanning.value = false;
            // With everything made the figures are read anew; what is still ticked is kept otherwise.
            if (hasMade && ticked.value.size === 0) reload();
          }}
        />
      ) : null}
    </>
  );
};

const Bar: FunctionComponent<{
  readonly rows: ReturnType<typeof rowsOf>;
  readonly ticked: { value: Ticked };
  readonly plan: () => Promise<void>;
}> = ({ rows, ticked, plan }) => {
  const isReading = useSignal(false);
  const { drafts } = planOf(ticked.value, rows.currencyCode.value);
  const tickAll = async (): Promise<void> => {
    isReading.value = true;
    const isWhole = await rows.all();
    isReading.value = false;
    if (!isWhole) return;
    const found = chosenOf(rows.rows.value, choiceIn(place.value.query))
      .filter(isSuggested)
      .map((row) => [row.variantId, ticked.value.get(row.variantId) ?? { row, quantity: suggested(row) }] as const);
    ticked.value = new Map([...ticked.value, ...found]);
  };
  const lines = ticked.value.size;
  return (
    <div class="count-bar">
      <output>
        {lines === 0
          ? reorderTexts.noneTicked
          : drafts.length === 0
            ? reorderTexts.plan.lines(lines)
            : reorderTexts.ticked(lines, drafts.length)}
      </output>
      <button type="button" disabled={isReading.value} onClick={() => void tickAll()}>
        {isReading.value ? texts.loading : reorderTexts.tickAll}
      </button>
      {lines === 0 ? null : (
        <button type="button" class="plain" onClick={() => (ticked.value = new Map())}>
          {reorderTexts.untick}
        </button>
      )}
      <button type="button" class="primary" disabled={lines === 0} onClick={() => void plan()}>
        {reorderTexts.make(drafts.length)}
      </button>
    </div>
  );
};
