/** Tick boxes of the rows of a list: one by one, a range with Shift, or all that are shown. */
import { type Signal, signal } from "@preact/signals";
import type { ComponentChildren, FunctionComponent, TargetedMouseEvent } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { isWriting } from "../frame/writing.ts";

/** Rows that are ticked, by their keys. */
export interface Ticks {
  readonly keys: Signal<ReadonlySet<string>>;
  /** The row that was pressed last: a press with Shift ticks all up to it. */
  latest: string | null;
}

export const ticksOf = (): Ticks => ({ keys: signal<ReadonlySet<string>>(new Set()), latest: null });

/** Ticks these rows, or takes their ticks off. */
export function setTicks({ keys }: Ticks, rows: readonly string[], isTicked: boolean): void {
  keys.value = new Set(isTicked ? [...keys.value, ...rows] : [...keys.value].filter((key) => !rows.includes(key)));
}

interface TickProps {
  readonly ticks: Ticks;
  /** Keys of the rows that are shown, in their order. */
  readonly shown: readonly string[];
  readonly label: string;
  /** Left out: the box is that of all rows. */
  readonly row?: string;
}

export const Tick: FunctionComponent<TickProps> = ({ ticks, shown, label, row }) => {
  const { value } = ticks.keys;
  const own = row === undefined ? shown : [row];
  const count = own.filter((key) => value.has(key)).length;
  const press = ({ currentTarget, shiftKey }: TargetedMouseEvent<HTMLInputElement>): void => {
    const other = shiftKey && ticks.latest !== null ? shown.indexOf(ticks.latest) : -1;
    const at = row === undefined || other < 0 ? -1 : shown.indexOf(row);
    ticks.latest = row ?? null;
    setTicks(ticks, at < 0 ? own : shown.slice(Math.min(at, other), Math.max(at, other) + 1), currentTarget.checked);
  };
  return (
    <label>
      <input
        type="checkbox"
        aria-label={label}
        checked={count > 0 && count === own.length}
        indeterminate={count > 0 && count < own.length}
        onClick={press}
      />
    </label>
  );
};

/** A part that is shown from the first tick on: its script is loaded then. */
export const OnceTicked: FunctionComponent<{ readonly ticks: Ticks; readonly children: ComponentChildren }> = ({
  ticks,
  children,
}) => {
  const wasTicked = useRef(false);
  wasTicked.current ||= ticks.keys.value.size > 0;
  return wasTicked.current ? <>{children}</> : null;
};

/** Ticks the row to which a key went, else the one below the pointer. */
function tickRow(): void {
  const row = ".list tbody tr";
  const found = document.querySelector(`${row}:has(:focus-visible)`) ?? document.querySelector(`${row}:hover`);
  found?.querySelector<HTMLElement>(".row-tick input")?.click();
}

/** Ticks a row by the key X, where rows may be ticked. */
export function useTickKey(mayTick: boolean): void {
  // Before it is painted: whoever sees the boxes can press the key.
  useLayoutEffect(() => {
    if (!mayTick) return;
    const onKey = (event: KeyboardEvent): void => {
      if (event.key === "x" && !isWriting(event) && !event.ctrlKey && !event.metaKey && !event.altKey) tickRow();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [mayTick]);
}
