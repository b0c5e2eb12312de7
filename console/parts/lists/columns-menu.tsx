/** Choice of a list's looks, which its address keeps: the columns that are shown, and how close the rows stand. */
import type { FunctionComponent } from "preact";
import { densities, density } from "../../data/look.ts";
import { go, withParameter } from "../../router.ts";
import { texts } from "../../texts/en/texts.ts";
import { Segments } from "../frame/segments.tsx";
import { ColumnTicks } from "./columns.tsx";
import type { ListColumn } from "./list-screen.tsx";
import { columnsParameter, densityIn, densityParameter, filtersIn, namedColumns } from "./looks.ts";

interface ColumnsProps {
  readonly query: URLSearchParams;
  /** All that there are. The first one always stays. */
  readonly columns: readonly Pick<ListColumn<never>, "name" | "title" | "width">[];
  readonly addressOf: (query: URLSearchParams) => string;
}

/** Widths of the window from which a column is shown that nobody has chosen, as in the style sheet. */
const widths = { roomy: "(min-width: 90rem)", wide: "(min-width: 100rem)" } as const;

const isUsual = ({ width }: ColumnsProps["columns"][number]): boolean =>
  width === undefined || (width !== "chosen" && matchMedia(widths[width]).matches);

export const ColumnsMenu: FunctionComponent<ColumnsProps> = ({ query, columns, addressOf }) => {
  const [, ...others] = columns;
  const named = namedColumns(query, columns);
  const shown = named ?? others.filter(isUsual).map(({ name }) => name);
  const set = (next: URLSearchParams): void => go(addressOf(next), { replace: true });
  const { density: title, densities: titles } = texts.navigation;
  return (
    <>
      <ColumnTicks
        columns={others}
        shown={shown}
        choose={(names) => set(withParameter(query, columnsParameter, names.join(",")))}
      />
      <Segments
        label={title}
        words={densities}
        titles={titles}
        value={densityIn(query) ?? density.value}
        choose={(word) => set(withParameter(query, densityParameter, word))}
      />
      {named === null && densityIn(query) === undefined ? null : (
        <button type="button" class="plain" onClick={() => set(filtersIn(query))}>
          {texts.orders.usualColumns}
        </button>
      )}
    </>
  );
};
