/**
 * A button that unfolds something below it: a menu, or a form. Escape and a press elsewhere fold it, and give the focus
 * back.
 */
import { useSignal } from "@preact/signals";
import type { ComponentChildren, FunctionComponent } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

interface PopProps {
  /** Content of the button. */
  readonly button: ComponentChildren;
  /** Name of the button, where its content is no text. */
  readonly label?: string;
  readonly buttonClass?: string;
  /** A menu closes once something in it is pressed. */
  readonly isMenu?: boolean;
  /** True if it stands at the end of its line. */
  readonly isAtEnd?: boolean;
  readonly panelClass?: string;
  readonly panelLabel?: string;
  readonly onToggle?: (isOpen: boolean) => void;
  readonly children: ComponentChildren;
}

export const Pop: FunctionComponent<PopProps> = (props) => {
  const { button, label, buttonClass, isMenu = false, isAtEnd = false, panelClass = "", panelLabel, children } = props;
  const isOpen = useSignal(false);
  const whole = useRef<HTMLDivElement>(null);
  const opener = useRef<HTMLButtonElement>(null);
  const set = (open: boolean): void => {
    isOpen.value = open;
    props.onToggle?.(open);
  };
  // Not after the paint: a key that is pressed once the panel is seen is its own.
  useLayoutEffect(() => {
    if (!isOpen.value) return;
    const onPress = (event: Event): void => {
      const isInside = event.target instanceof Node && whole.current?.contains(event.target) === true;
      // What was pressed may be gone from the page by now.
      if (!isInside && event.target instanceof Node && event.target.isConnected) set(false);
    };
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== "Escape" || event.defaultPrevented) return;
      set(false);
      opener.current?.focus();
    };
    document.addEventListener("click", onPress);
    document.addEventListener("keydown", onKey);
    return () => {
      document.removeEventListener("click", onPress);
      document.removeEventListener("keydown", onKey);
    };
  }, [isOpen.value]);
  const onPanel = (event: Event): void => {
    if (!isMenu || !(event.target instanceof Element) || event.target.closest("button, a") === null) return;
    // A dialog that is opened by it gives the focus back when it closes.
    opener.current?.focus();
    set(false);
  };
  return (
    <div ref={whole} class={isAtEnd ? "pop at-end" : "pop"}>
      <button
        ref={opener}
        type="button"
        class={buttonClass}
        aria-label={label}
        title={label}
        aria-expanded={isOpen.value}
        onClick={() => set(!isOpen.value)}
      >
        {button}
      </button>
      {isOpen.value ? (
        // What is pressed in it has its own keyboard.
        // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-static-element-interactions
        <div
          class={`panel ${isMenu ? "menu" : panelClass}`}
          {...(panelLabel === undefined ? {} : { role: "group", "aria-label": panelLabel })}
          onClick={onPanel}
        >
          {children}
        </div>
      ) : null}
    </div>
  );
};
