/**
 * The message of what was done, with the way back from it. It goes by itself, but not while somebody points at it, has
 * the focus in it or waits for it.
 */
import { useSignal } from "@preact/signals";
import type { FunctionComponent, TargetedFocusEvent } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { texts } from "../../texts/en/texts.ts";
import { Icon } from "../icon.tsx";
import { type Told, told } from "./told.ts";
import { isWriting } from "./writing.ts";

const words = texts.toast;

/** Time for which it is shown; with a way back it is longer. */
const shownMs = 8_000;
const shownWithUndoMs = 20_000;

const icons = { done: "circle-check", failed: "circle-alert", waiting: "clock" } as const;

const isUndoKey = ({ key, ctrlKey, metaKey, shiftKey, altKey }: KeyboardEvent): boolean =>
  key.toLowerCase() === "z" && (ctrlKey || metaKey) && !shiftKey && !altKey;

/** Gives the focus to where it was before; where that is gone, to the heading of the place. */
function giveFocus(before: EventTarget | null): void {
  const heading = document.querySelector<HTMLElement>("#content h1");
  const place = before instanceof HTMLElement && before.isConnected ? before : heading;
  if (place === heading) heading?.setAttribute("tabindex", "-1");
  place?.focus({ preventScroll: true });
}

export const Toast: FunctionComponent<{ readonly message: Told }> = ({ message }) => {
  const { text, says, state = "done", link, undo } = message;
  const box = useRef<HTMLDivElement>(null);
  const before = useRef<EventTarget | null>(null);
  const isPointedAt = useSignal(false);
  const hasFocus = useSignal(false);
  const isUndoing = useSignal(false);
  const stays = state !== "done" || isPointedAt.value || hasFocus.value || isUndoing.value;
  const leave = (): void => {
    if (box.current?.contains(document.activeElement) === true) giveFocus(before.current);
  };
  const close = (): void => {
    leave();
    told.value = null;
  };
  const takeBack = async (): Promise<void> => {
    if (undo === undefined || isUndoing.value) return;
    isUndoing.value = true;
    leave();
    const next = await undo();
    isUndoing.value = false;
    // Nobody else has come to the page meanwhile.
    if (box.current !== null) told.value = next;
  };
  useEffect(() => {
    if (stays) return;
    const timer = setTimeout(() => (told.value = null), undo === undefined ? shownMs : shownWithUndoMs);
    return () => clearTimeout(timer);
  }, [message, stays]);
  // Before it is painted: whoever sees the toast can take back what it tells.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (undo === undefined || !isUndoKey(event) || isWriting(event)) return;
      event.preventDefault();
      void takeBack();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [message]);
  return (
    <div
      ref={box}
      class={`toast ${state}`}
      onPointerEnter={() => (isPointedAt.value = true)}
      onPointerLeave={() => (isPointedAt.value = false)}
      onFocusIn={({ relatedTarget }: TargetedFocusEvent<HTMLDivElement>) => {
        if (!hasFocus.value) before.current = relatedTarget;
        hasFocus.value = true;
      }}
      onFocusOut={({ currentTarget, relatedTarget }: TargetedFocusEvent<HTMLDivElement>) => {
        hasFocus.value = relatedTarget instanceof Node && currentTarget.contains(relatedTarget);
      }}
      onKeyDown={({ key }) => {
        if (key === "Escape" && !isUndoing.value) close();
      }}
    >
      <Icon name={icons[state]} />
      <p>
        {text}
        {says === undefined ? null : <span lang="en"> {says}</span>}
        {link === undefined ? null : (
          <>
            {" "}
            <a href={link.href}>{link.title}</a>
          </>
        )}
      </p>
      {undo === undefined ? null : (
        <button
          type="button"
          aria-keyshortcuts="Control+Z Meta+Z"
          disabled={isUndoing.value}
          onClick={() => void takeBack()}
        >
          {words.undo} <kbd aria-hidden="true">{words.undoKey}</kbd>
        </button>
      )}
      <button
        type="button"
        class="plain icon-only"
        aria-label={words.close}
        title={words.close}
        disabled={isUndoing.value}
        onClick={close}
      >
        <Icon name="x" />
      </button>
    </div>
  );
};
