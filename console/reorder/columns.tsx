/** The columns of a view that are shown: the address names them, and all are shown where it names none. */
import type { FunctionComponent } from "preact";
import { Icon } from "../parts/icon.tsx";
import { Pop } from "../parts/pop.tsx";
import { go } from "../router.ts";
import { texts } from "../texts/en/texts.ts";
import { columnTitle, shownColumns } from "./cell.tsx";
import type { Column } from "./rows.ts";

const words = texts.orders;

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
  const ids = chosen.map(({ id }) => id);
  const choose = (next: readonly string[]): void =>
    go(hrefOf(next.length === all.length ? "" : next.join(",")), { replace: true });
  return (
    <Pop
      button={<Icon name="columns-3" />}
      label={words.shownColumns}
      buttonClass="icon-only"
      panelClass="columns"
      panelLabel={words.shownColumns}
      isAtEnd
    >
      {all.map((column) => (
        <label key={column.id} class="tick">
          <input
            type="checkbox"
            checked={ids.includes(column.id)}
            // The last one stays: without any the address would name none.
            disabled={ids.length === 1 && ids.includes(column.id)}
            onChange={({ currentTarget }) =>
              choose(currentTarget.checked ? [...ids, column.id] : ids.filter((each) => each !== column.id))
            }
          />
          {columnTitle(column)}
        </label>
      ))}
    </Pop>
  );
};
