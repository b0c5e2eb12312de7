/** Looks of a list in the query of its address: its columns, and how close its rows stand. No filter is among them. */
import { type Density, densities } from "../../data/look.ts";
import { withParameter } from "../../router.ts";
import type { ListColumn } from "./list-screen.tsx";

export const columnsParameter = "columns";
export const densityParameter = "density";

/** The query without the looks of the list. */
export const filtersIn = (query: URLSearchParams): URLSearchParams =>
  withParameter(withParameter(query, columnsParameter, ""), densityParameter, "");

/** Density of the rows in the query; undefined: the person's own. */
export const densityIn = (query: URLSearchParams): Density | undefined =>
  densities.find((word) => word === query.get(densityParameter));

/** Names of columns that the query has, beside the first; null: it has none, and each is shown where it usually is. */
export function namedColumns(
  query: URLSearchParams,
  columns: readonly { readonly name: string }[],
): readonly string[] | null {
  const names = query.get(columnsParameter)?.split(",") ?? [];
  const known = columns.flatMap(({ name }, index) => (index > 0 && names.includes(name) ? [name] : []));
  return known.length === 0 ? null : known;
}

/** The columns that the query names, else those that need not be chosen. The first is always one of them. */
export function shownColumns<Row>(
  query: URLSearchParams,
  columns: readonly ListColumn<Row>[],
): readonly ListColumn<Row>[] {
  const named = namedColumns(query, columns);
  if (named === null) return columns.filter(({ width }) => width !== "chosen");
  return columns.flatMap((column, index) =>
    index === 0 || named.includes(column.name) ? [{ ...column, width: undefined }] : [],
  );
}
