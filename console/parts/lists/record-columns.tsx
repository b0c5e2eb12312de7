/** Columns of a list of records: the record's name, its status, and what its kind has. */
import type { ComponentChildren, VNode } from "preact";
import { StatusChip } from "../status-chip.tsx";
import type { ListColumn } from "./list-screen.tsx";

/** A record in its list. */
export interface RecordRow {
  readonly id: string;
  readonly title: string;
  /** Before the title. */
  readonly picture?: VNode;
  readonly hint: string | null;
  /** Its chip, or what shows it; null: nobody asks for it. */
  readonly status: string | VNode | null;
  /** One for each of the kind's columns. */
  readonly values: readonly ComponentChildren[];
}

export interface RecordColumn {
  readonly title: string;
  readonly kind?: ListColumn<RecordRow>["kind"];
  readonly isNamed: boolean;
  /** True if it is shown to those alone who have chosen it. */
  readonly isChosen?: boolean;
}

/** @param isNamed  true if a card names the value. */
export const column = (title: string, isAmount = false, isNamed = false): RecordColumn => ({
  title,
  kind: isAmount ? "amount" : undefined,
  isNamed,
});

/** A column of names of other records. @param isNamed  true if a card says before each what it is. */
export const nameColumn = (title: string, isNamed = false): RecordColumn => ({
  ...column(title, false, isNamed),
  kind: "name",
});

/** A column that is shown to those alone who have chosen it. */
export const chosenColumn = (title: string, isAmount = false): RecordColumn => ({
  ...column(title, isAmount),
  isChosen: true,
});

/** Places on a card of a kind's own columns. The last one is for a value that says what it is. */
const cardPlaces = ["who", "amount", "when", "progress", "further"] as const;

const cardPlaceOf = ({ isChosen, isNamed }: RecordColumn, index: number): ListColumn<RecordRow>["at"] => {
  const place = isChosen === true ? undefined : cardPlaces[index];
  return place === "further" && !isNamed ? undefined : place;
};

/**
 * @param status   the title of the column of statuses.
 * @param columns  by their names in the address of the list, in the order of a row's values.
 */
export const recordColumns = (
  title: string,
  status: string,
  columns: Readonly<Record<string, RecordColumn>>,
  hrefOfRecord: (id: string) => string,
): readonly ListColumn<RecordRow>[] => [
  {
    name: "number",
    title,
    cell: (row) => (
      <>
        {row.picture}
        <a href={hrefOfRecord(row.id)}>{row.title}</a>
        {row.hint === null ? null : <span class="quiet">{row.hint}</span>}
      </>
    ),
  },
  {
    name: "status",
    title: status,
    at: "state",
    cell: (row) => (typeof row.status === "string" ? <StatusChip status={row.status} /> : row.status),
  },
  ...Object.entries(columns).map(([name, each], index): ListColumn<RecordRow> => ({
    name,
    title: each.title,
    width: each.isChosen === true ? "chosen" : undefined,
    kind: each.kind,
    at: cardPlaceOf(each, index),
    isNamed: each.isNamed,
    cell: (row) => row.values[index],
  })),
];
