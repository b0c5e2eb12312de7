/** One row above a list: its search, a button that unfolds its filters, and those that are on, to be taken off. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren, FunctionComponent } from "preact";
import { texts } from "../../texts/en/texts.ts";
import { Icon } from "../icon.tsx";
import { Pop } from "../pop.tsx";

/** A filter that is on. */
export interface Taken {
  readonly label: string;
  readonly name: string;
  readonly takeOff: () => void;
}

export const TakenChip: FunctionComponent<Taken> = ({ label, name, takeOff }) => (
  <button type="button" class="taken" aria-label={texts.filters.takeOff(label, name)} onClick={takeOff}>
    <span>
      {label}: {name}
    </span>
    <Icon name="x" />
  </button>
);

interface ListBarProps {
  readonly search: ComponentChildren;
  readonly taken?: readonly Taken[];
  /** A chip for each further filter that is on. */
  readonly chips?: ComponentChildren;
  /** At the end of the row. */
  readonly more?: ComponentChildren;
  /** The filters; without any there is no button for them. */
  readonly children?: ComponentChildren;
}

export const ListBar: FunctionComponent<ListBarProps> = ({ search, taken = [], chips, more, children }) => {
  const isOpen = useSignal(false);
  return (
    <div class="list-bar">
      {search}
      {children === undefined ? null : (
        <Pop
          button={
            <>
              <Icon name="list-filter" />
              {texts.filters.title}
            </>
          }
          panelClass="filters"
          panelLabel={texts.filters.title}
          onToggle={(open) => (isOpen.value = open)}
        >
          {children}
        </Pop>
      )}
      {isOpen.value ? null : (
        <>
          {chips}
          {taken.map((each) => (
            <TakenChip key={`${each.label} ${each.name}`} {...each} />
          ))}
        </>
      )}
      {more}
    </div>
  );
};
