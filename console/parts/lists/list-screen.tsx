/**
 * A list as a screen: heading, filters, rows page by page, what to do when there are none. Orders and all stock records
 * are shown by it.
 */
import type { ComponentChildren } from "preact";
import type { Density } from "../../data/look.ts";
import type { List } from "../../data/pages.ts";
import { texts } from "../../texts/en/texts.ts";
import { howMany, MoreRows } from "./more-rows.tsx";
import { ProblemNotice } from "../problem.tsx";
import { RowChunks } from "./row-chunks.tsx";
import { Tick, type Ticks, useTickKey } from "./ticks.tsx";

export interface ListColumn<Row> {
  readonly name: string;
  readonly title: string;
  readonly kind?: "amount" | "date" | "name" | undefined;
  /** Least width of the window for it to be shown, or that it has to be chosen; without one it always is. */
  readonly width?: "wide" | "roomy" | "chosen" | undefined;
  /** Where the row is a card: the cell's place there. A cell without one is left out of it. */
  readonly at?: "state" | "who" | "amount" | "when" | "progress" | "further" | undefined;
  /** The sort by this column, `-` from high to low; without one there is none. */
  readonly sort?: string | undefined;
  /** On a card the title stands with the value, which does not say what it is. */
  readonly isNamed?: boolean | undefined;
  readonly cell: (row: Row) => ComponentChildren;
}

interface Sorted {
  readonly by: string;
  readonly hrefOf: (sort: string) => string;
}

/** Rows may be ticked. */
interface Ticking<Row> {
  readonly ticks: Ticks;
  /** Name of the box of a row, or of all rows that are shown. */
  readonly nameOf: (row: Row | null) => string;
}

interface ListProps<Row> {
  readonly title: string;
  readonly list: List<Row>;
  /** The first one names the row. */
  readonly columns: readonly ListColumn<Row>[];
  readonly keyOf: (row: Row) => string;
  /** The sort of the list, and the address of the list with another one; "" is none. */
  readonly sorted?: Sorted | undefined;
  readonly ticking?: Ticking<Row> | undefined;
  /** Density of its rows; without it that of the page. */
  readonly density?: Density | undefined;
  /** Beside the heading. */
  readonly actions?: ComponentChildren;
  /** Between heading and rows. */
  readonly filters: ComponentChildren;
  /** Instead of rows. */
  readonly empty: ComponentChildren;
}

export function ListScreen<Row>({ title, list, density, actions, filters, empty, ...table }: ListProps<Row>) {
  const { rows, isLoading, problem } = list.state.value;
  useTickKey(table.ticking !== undefined);
  return (
    <>
      <div class="heading">
        <h1>{title}</h1>
        <output class="quiet" aria-live="polite">
          {howMany(list.state.value, texts.orders.shown)}
        </output>
        {actions}
      </div>
      {filters}
      {problem === null ? null : <ProblemNotice problem={problem} again={() => void list.more()} />}
      {rows.length > 0 ? (
        <div class="as-wide" data-density={density}>
          <Table rows={rows} of={list} title={title} {...table} />
        </div>
      ) : null}
      {rows.length === 0 && !isLoading && problem === null ? (
        <div class="empty" role="status">
          {empty}
        </div>
      ) : null}
      <MoreRows list={list} label={texts.orders.more} />
    </>
  );
}

interface TableProps<Row> {
  readonly title: string;
  readonly rows: readonly Row[];
  /** The same object when the same rows are shown again. */
  readonly of: object;
  readonly columns: readonly ListColumn<Row>[];
  readonly keyOf: (row: Row) => string;
  readonly sorted?: Sorted | undefined;
  readonly ticking?: Ticking<Row> | undefined;
  /** The rows lead nowhere: a card has all of the row's cells. */
  readonly isWhole?: boolean | undefined;
}

/** The same column from the other end. */
const turned = (sort: string): string => (sort.startsWith("-") ? sort.slice(1) : `-${sort}`);

/** The sort that a press on the head asks for: the column's, then the other way round, then none. */
export const nextSort = (sort: string, by: string): string =>
  by === sort ? turned(sort) : by === turned(sort) ? "" : sort;

/** Returns how the list is sorted by this column; undefined: it is not. */
export function directionOf(sort: string | undefined, by: string | undefined): "ascending" | "descending" | undefined {
  if (sort === undefined || by === undefined || (by !== sort && by !== turned(sort))) return undefined;
  return by.startsWith("-") ? "descending" : "ascending";
}

/** Rows of a block that is drawn or not. */
const chunkRows = 50;

export function Table<Row>({ title, rows, of, columns, keyOf, sorted, ticking, isWhole = false }: TableProps<Row>) {
  const shown = rows.map(keyOf);
  const tick = (row: Row | null) =>
    ticking === undefined ? null : (
      <td class="row-tick">
        <Tick
          ticks={ticking.ticks}
          shown={shown}
          label={ticking.nameOf(row)}
          {...(row === null ? {} : { row: keyOf(row) })}
        />
      </td>
    );
  const classOf = ({ kind, at, width, isNamed }: ListColumn<Row>): string =>
    [kind, at && `at-${at}`, width && `if-${width}`, isNamed === true ? "named" : undefined]
      .filter((word) => word !== undefined)
      .join(" ");
  return (
    <table class={isWhole ? "rows list whole" : "rows list"} aria-label={title} aria-rowcount={rows.length + 1}>
      <thead>
        <tr>
          {tick(null)}
          {columns.map((column) => (
            <th key={column.name} scope="col" class={classOf(column)} aria-sort={directionOf(column.sort, sorted?.by)}>
              {sorted === undefined || column.sort === undefined ? (
                column.title
              ) : (
                <a href={sorted.hrefOf(nextSort(column.sort, sorted.by))}>{column.title}</a>
              )}
            </th>
          ))}
        </tr>
      </thead>
      <RowChunks
        rows={rows}
        size={chunkRows}
        columns={columns.length + (ticking === undefined ? 0 : 1)}
        of={of}
        draw={(row, place) => (
          <tr key={keyOf(row)} aria-rowindex={place + 2}>
            {tick(row)}
            {columns.map((column, index) =>
              index === 0 ? (
                <th key={column.name} scope="row">
                  {column.cell(row)}
                </th>
              ) : (
                <td key={column.name} class={classOf(column)} data-name={column.title}>
                  {column.cell(row)}
                </td>
              ),
            )}
          </tr>
        )}
      />
    </table>
  );
}
