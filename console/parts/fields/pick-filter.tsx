/**
 * A filter by something that is found by name: a search until it is chosen, then its name with a way to take it off.
 */
import type { FunctionComponent } from "preact";
import type { LookUp } from "../../data/look-ups.ts";
import { texts } from "../../texts/en/texts.ts";
import { Icon } from "../icon.tsx";
import { Combobox } from "./combobox.tsx";
import { notePicked, usePickedName } from "./picked-name.ts";

interface PickProps {
  readonly label: string;
  /** The id that the list is filtered by; null when it is not. */
  readonly value: string | null;
  readonly lookUp: LookUp;
  readonly choose: (id: string) => void;
}

export const PickFilter: FunctionComponent<PickProps> = ({ label, value, lookUp, choose }) => {
  const name = usePickedName(value, lookUp);
  if (name === null)
    return (
      <Combobox
        label={label}
        hint={texts.filters.any}
        search={(search) => lookUp({ search })}
        choose={({ id, title }) => {
          notePicked(id, title);
          choose(id);
        }}
      />
    );
  return (
    <div class="picked">
      <span>{label}</span>
      <button type="button" aria-label={texts.filters.takeOff(label, name)} onClick={() => choose("")}>
        <span>{name}</span> <Icon name="x" />
      </button>
    </div>
  );
};

interface PickManyProps {
  readonly label: string;
  readonly hint: string;
  readonly ids: readonly string[];
  readonly lookUp: LookUp;
  readonly change: (ids: readonly string[]) => void;
}

/** Several of what is found by name, each to be taken off. */
export const PickMany: FunctionComponent<PickManyProps> = ({ label, hint, ids, lookUp, change }) => (
  <div class="picked">
    <Combobox
      label={label}
      hint={hint}
      isCleared
      search={(search) => lookUp({ search })}
      choose={({ id, title }) => {
        notePicked(id, title);
        change([...new Set([...ids, id])]);
      }}
    />
    {ids.length === 0 ? null : (
      <p class="buttons">
        {ids.map((id) => (
          <Picked
            key={id}
            id={id}
            label={label}
            lookUp={lookUp}
            takeOff={() => change(ids.filter((each) => each !== id))}
          />
        ))}
      </p>
    )}
  </div>
);

interface PickedProps extends Pick<PickManyProps, "label" | "lookUp"> {
  readonly id: string;
  readonly takeOff: () => void;
}

const Picked: FunctionComponent<PickedProps> = ({ id, label, lookUp, takeOff }) => {
  const name = usePickedName(id, lookUp) ?? id;
  return (
    <button type="button" class="taken" aria-label={texts.filters.takeOff(label, name)} onClick={takeOff}>
      <span>{name}</span> <Icon name="x" />
    </button>
  );
};
