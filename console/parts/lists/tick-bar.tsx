/** The bar that stands in the place of a list's filters while rows are ticked: how many, and what is done with them. */
import type { ComponentChildren, FunctionComponent } from "preact";
import { useLayoutEffect } from "preact/hooks";
import { Icon } from "../icon.tsx";
import { setTicks, type Ticks } from "./ticks.tsx";

interface TickBarProps {
  readonly ticks: Ticks;
  readonly label: string;
  /** Name of the button that takes all ticks off. */
  readonly clear: string;
  /** The number that is ticked, or how far an action is. */
  readonly says: string;
  readonly children: ComponentChildren;
}

export const TickBar: FunctionComponent<TickBarProps> = ({ ticks, label, clear, says, children }) => {
  const takeOff = (): void => setTicks(ticks, [...ticks.keys.value], false);
  // Before it is painted: whoever sees the bar can press its key.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const isForOther = document.querySelector("dialog[open], .pop > [aria-expanded='true']") !== null;
      if (event.key === "Escape" && !isForOther) takeOff();
    };
    // Before what is open closes by the same key.
    addEventListener("keydown", onKey, { capture: true });
    return () => removeEventListener("keydown", onKey, { capture: true });
  }, [ticks]);
  return (
    <div class="tick-bar" role="group" aria-label={label}>
      <button
        type="button"
        class="plain icon-only"
        aria-label={clear}
        title={clear}
        aria-keyshortcuts="Escape"
        onClick={takeOff}
      >
        <Icon name="x" />
      </button>
      <output>{says}</output>
      {children}
    </div>
  );
};
