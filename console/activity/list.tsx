/** What both lists of the activity share: how many rows are shown, what is new, why there are none, more of them, and their export. */
import type { ComponentChildren, FunctionComponent } from "preact";
import { csvOf, saveFile } from "../data/csv.ts";
import type { List } from "../data/pages.ts";
import { MoreRows } from "../parts/more-rows.tsx";
import { ProblemNotice } from "../parts/problem.tsx";
import { hrefOf, place } from "../router.ts";
import { texts } from "../texts.ts";

interface Shown {
  /** Matches are counted up to this many. */
  readonly countedMax?: number;
  readonly list: List<object>;
  /** The rows shown as a table, its head first. */
  readonly table: () => readonly (readonly (string | number)[])[];
  readonly children: ComponentChildren;
}

export const ActivityList: FunctionComponent<Shown> = ({ countedMax = Infinity, list, table, children }) => {
  const { rows, totalCount, hasMore, isLoading, problem } = list.state.value;
  const isFiltered = place.value.query.size > 0;
  return (
    <>
      <p class="list-head">
        <output class="quiet">
          {isLoading && rows.length === 0
            ? texts.loading
            : texts.activity.shown(rows.length, totalCount, totalCount >= countedMax)}
        </output>
        {rows.length === 0 ? null : (
          <button type="button" onClick={() => saveFile("activity.csv", csvOf(table()))}>
            {texts.activity.exportCsv}
          </button>
        )}
      </p>
      {problem === null ? null : <ProblemNotice problem={problem} again={() => void list.more()} />}
      {rows.length > 0 ? children : null}
      {rows.length === 0 && !isLoading && !hasMore && problem === null ? (
        <div class="empty">
          <p>{isFiltered ? texts.activity.empty : texts.activity.emptyShop}</p>
          {isFiltered ? (
            <a href={hrefOf("activity")}>{texts.activity.clear}</a>
          ) : (
            <p class="quiet">{texts.activity.emptyShopHint}</p>
          )}
        </div>
      ) : null}
      <MoreRows list={list} label={texts.activity.more} />
    </>
  );
};
