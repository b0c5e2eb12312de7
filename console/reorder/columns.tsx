/** The columns of a view that are shown: the address names them, and all are shown where it names none. */
import type { FunctionComponent } from "preact";
import { ColumnsPop, ColumnTicks } from "../parts/lists/columns.tsx";
import { go } from "../router.ts";
import { columnTitle, shownColumns } from "./cell.tsx";
import type { Column } from "./rows.ts";

/** Columns of the view that the address names. */
export function chosenColumns(columns: readonly Column[], query: URLSearchParams): readonly Column[] {
  const names = query.get("columns")?.split(",") ?? [];
  const all = shownColumns(columns);
  const named = all.filter(({ id }) => names.includes(id));
  return named.length === 0 ? all : named;
}

interface MenuProps {
  readonly columns: readonly Column[];
  readonly chosen: readonly Column[];
  readonly hrefOf: (columns: string) => string;
}

export const ColumnsMenu: FunctionComponent<MenuProps> = ({ columns, chosen, hrefOf }) => {
  const all = shownColumns(columns);
  const choose = (next: readonly string[]): void =>
    go(hrefOf(next.length === all.length ? "" : next.join(",")), { replace: true });
  return (
    <ColumnsPop>
      <ColumnTicks
        columns={all.map((column) => ({ name: column.id, title: columnTitle(column) }))}
        shown={chosen.map(({ id }) => id)}
        choose={choose}
      />
    </ColumnsPop>
  );
};
