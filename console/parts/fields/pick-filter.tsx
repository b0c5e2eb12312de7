/**
 * A filter by something that is found by name: a search until it is chosen, then its name with a way to take it off.
 */
import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { useEffect } from "preact/hooks";
import type { LookUp } from "../../data/look-ups.ts";
import { texts } from "../../texts/texts.ts";
import { Combobox } from "./combobox.tsx";

interface PickProps {
  readonly label: string;
  /** The id that the list is filtered by; null when it is not. */
  readonly value: string | null;
  readonly lookUp: LookUp;
  readonly choose: (id: string) => void;
}

/** Names that were looked up or chosen, by id. */
const names = new Map<string, string>();

export const PickFilter: FunctionComponent<PickProps> = ({ label, value, lookUp, choose }) => {
  const version = useSignal(0);
  useEffect(() => {
    const name = async (id: string): Promise<void> => {
      const found = await lookUp({ ids: [id] });
      if ("message" in found) return;
      names.set(id, found[0]?.title ?? id);
      version.value += 1;
    };
    if (value !== null && !names.has(value)) void name(value);
  }, [value]);
  if (value === null)
    return (
      <Combobox
        label={label}
        hint={texts.filters.any}
        search={(search) => lookUp({ search })}
        choose={({ id, title }) => {
          names.set(id, title);
          choose(id);
        }}
      />
    );
  const name = names.get(value) ?? (version.value === 0 ? texts.loading : value);
  return (
    <div class="picked">
      <span>{label}</span>
      <button type="button" aria-label={texts.filters.takeOff(label, name)} onClick={() => choose("")}>
        <span>{name}</span> <span aria-hidden="true">×</span>
      </button>
    </div>
  );
};
