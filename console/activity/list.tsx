/**
 * Shared by both lists of the activity: the number of shown rows, news, the reason for an empty list, further
 * rows, and their export.
 */
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import type { Problem } from "../data/client.ts";
import { csvOf } from "../data/csv.ts";
import { saveFile } from "../data/saved-file.ts";
import { everyRow, type List, type ReadPage } from "../data/pages.ts";
import { howMany, MoreRows } from "../parts/lists/more-rows.tsx";
import { ProblemNotice } from "../parts/problem.tsx";
import { hrefOf, place } from "../router.ts";
import { texts } from "../texts/en/texts.ts";

/** An export has at most so many entries of the filter, the newest ones. */
const entriesExportedMax = 5_000;

interface Shown<Row> {
  /** Matches are counted up to this many. */
  readonly countedMax?: number;
  readonly list: List<Row>;
  /** Reads the pages of the whole filter. */
  readonly read: ReadPage<Row>;
  /** Columns of the export. */
  readonly head: readonly string[];
  /** Returns the cells of an entry in the export. */
  readonly cells: (row: Row) => readonly (readonly (string | number)[])[];
  readonly children: ComponentChildren;
}

export function ActivityList<Row>({ countedMax = Infinity, list, read, head, cells, children }: Shown<Row>) {
  const { rows, hasMore, isLoading, problem } = list.state.value;
  const isFiltered = place.value.query.size > 0;
  return (
    <>
      <div class="list-head">
        <output class="quiet">
          {howMany(list.state.value, (count, total) => texts.activity.shown(count, total, total >= countedMax))}
        </output>
        {rows.length === 0 ? null : <Export key={place.value.query.toString()} read={read} head={head} cells={cells} />}
      </div>
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
}

/** Offers all entries of the filter as a file, also those that are not shown. */
function Export<Row>({ read, head, cells }: Pick<Shown<Row>, "read" | "head" | "cells">) {
  const exported = useSignal<number | null>(null);
  const isCut = useSignal(false);
  const problem = useSignal<Problem | null>(null);
  const save = async (): Promise<void> => {
    [exported.value, isCut.value, problem.value] = [0, false, null];
    const all = await everyRow(read, (count) => (exported.value = count), entriesExportedMax);
    exported.value = null;
    if ("problem" in all) {
      ({ problem: problem.value } = all);
      return;
    }
    isCut.value = all.isCut;
    saveFile("activity.csv", csvOf([head, ...all.rows.flatMap(cells)]));
  };
  return (
    <>
      <button type="button" disabled={exported.value !== null} onClick={() => void save()}>
        {exported.value === null ? texts.activity.exportCsv : texts.orders.exporting(exported.value)}
      </button>
      {isCut.value ? (
        <span class="quiet" role="status">
          {texts.activity.exportCut(entriesExportedMax)}
        </span>
      ) : null}
      {problem.value === null ? null : <ProblemNotice problem={problem.value} again={() => void save()} />}
    </>
  );
}
