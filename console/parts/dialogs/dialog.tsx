/** A dialog over the page. Escape closes it, after a question where something typed in it is not saved. */
import type { ComponentChildren, FunctionComponent } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { mayClose } from "../../unsaved.ts";

interface DialogProps {
  readonly title: string;
  readonly isWide?: boolean;
  /** Called when it has closed. */
  readonly onClose: () => void;
  readonly children: (close: () => void) => ComponentChildren;
}

export const Dialog: FunctionComponent<DialogProps> = ({ title, isWide = false, onClose, children }) => {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  const mayGo = useRef(false);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog
      ref={dialog}
      class={isWide ? "dialog wide" : "dialog"}
      aria-labelledby={heading}
      onCancel={(event) => {
        // A field for a file says so too when none is chosen.
        if (event.target !== event.currentTarget) return;
        mayGo.current = mayClose(event.currentTarget);
        if (!mayGo.current) event.preventDefault();
      }}
      onClose={({ currentTarget }) => {
        // Some browsers close it at the second Escape, whatever was answered to the first.
        if (mayGo.current || mayClose(currentTarget)) onClose();
        else currentTarget.showModal();
      }}
    >
      <h2 id={heading}>{title}</h2>
      {children(() => {
        mayGo.current = true;
        dialog.current?.close();
      })}
    </dialog>
  );
};
