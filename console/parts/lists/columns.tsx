/** Choice of the columns that a list shows. */
import type { ComponentChildren, FunctionComponent } from "preact";
import { texts } from "../../texts/en/texts.ts";
import { Icon } from "../icon.tsx";
import { Pop } from "../pop.tsx";

export const ColumnsPop: FunctionComponent<{ readonly children: ComponentChildren }> = ({ children }) => (
  <Pop
    button={<Icon name="columns-3" />}
    label={texts.orders.shownColumns}
    buttonClass="icon-only"
    panelClass="columns"
    panelLabel={texts.orders.shownColumns}
    isAtEnd
  >
    {children}
  </Pop>
);

interface TicksProps {
  readonly columns: readonly { readonly name: string; readonly title: string }[];
  /** Names of the columns that are shown. */
  readonly shown: readonly string[];
  readonly choose: (names: readonly string[]) => void;
}

/** A tick box for each column. */
export const ColumnTicks: FunctionComponent<TicksProps> = ({ columns, shown, choose }) => (
  <>
    {columns.map(({ name, title }) => (
      <label key={name} class="tick">
        <input
          type="checkbox"
          checked={shown.includes(name)}
          // The last one stays: without any the address would name none.
          disabled={shown.length === 1 && shown.includes(name)}
          onChange={({ currentTarget }) =>
            choose(currentTarget.checked ? [...shown, name] : shown.filter((each) => each !== name))
          }
        />
        {title}
      </label>
    ))}
  </>
);
