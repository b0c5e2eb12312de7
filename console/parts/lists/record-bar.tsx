/** The row above a list of records: its search, its filters, and its looks. The address of the list keeps them all. */
import type { ComponentChildren, FunctionComponent } from "preact";
import type { LookUp } from "../../data/look-ups.ts";
import { go, place, withParameter } from "../../router.ts";
import { PickFilter } from "../fields/pick-filter.tsx";
import { usePickedName } from "../fields/picked-name.ts";
import { SearchFilter } from "../fields/search-filter.tsx";
import { ColumnsMenu } from "./columns-menu.tsx";
import { ColumnsPop } from "./columns.tsx";
import { ListBar, type Taken, TakenChip } from "./list-bar.tsx";
import type { ListColumn } from "./list-screen.tsx";

/** A filter by something that is found by name. */
export interface PickedBy {
  /** The parameter of the list's address, and of the API. */
  readonly parameter: string;
  readonly title: string;
  readonly lookUp: LookUp;
}

interface RecordBarProps {
  readonly query: URLSearchParams;
  /** The address of the list with another query. */
  readonly addressOf: (query: URLSearchParams) => string;
  /** Name of the search, and a hint at what it looks for. */
  readonly search: { readonly label: string; readonly hint: string };
  readonly picks: readonly PickedBy[];
  /** Further filters that are on. */
  readonly taken?: readonly Taken[];
  /** All columns that there are. */
  readonly columns: readonly Pick<ListColumn<never>, "name" | "title" | "width">[];
  /** Filters above those that pick something, and beside them. */
  readonly above?: ComponentChildren;
  readonly beside?: ComponentChildren;
}

export const RecordBar: FunctionComponent<RecordBarProps> = (props) => {
  const { query, addressOf, search, picks, taken, columns, above, beside } = props;
  const choose = (parameter: string) => (id: string) => go(addressOf(withParameter(query, parameter, id)));
  return (
    <ListBar
      search={
        <SearchFilter
          {...search}
          value={query.get("search") ?? ""}
          search={(text) => go(addressOf(withParameter(place.value.query, "search", text)), { replace: true })}
        />
      }
      chips={picks.map(({ parameter, title, lookUp }) => (
        <PickedChip
          key={parameter}
          label={title}
          value={query.get(parameter)}
          lookUp={lookUp}
          takeOff={() => choose(parameter)("")}
        />
      ))}
      {...(taken === undefined ? {} : { taken })}
      more={
        <ColumnsPop>
          <ColumnsMenu query={query} columns={columns} addressOf={addressOf} />
        </ColumnsPop>
      }
    >
      {picks.length === 0 && above === undefined ? undefined : (
        <>
          {above}
          <div class="filter-row">
            {picks.map(({ parameter, title, lookUp }) => (
              <PickFilter
                key={parameter}
                label={title}
                value={query.get(parameter)}
                lookUp={lookUp}
                choose={choose(parameter)}
              />
            ))}
            {beside}
          </div>
        </>
      )}
    </ListBar>
  );
};

interface ChipProps extends Pick<Taken, "label" | "takeOff"> {
  /** The id that the list is filtered by; null when it is not. */
  readonly value: string | null;
  readonly lookUp: LookUp;
}

const PickedChip: FunctionComponent<ChipProps> = ({ value, lookUp, ...chip }) => {
  const name = usePickedName(value, lookUp);
  return name === null ? null : <TakenChip name={name} {...chip} />;
};
