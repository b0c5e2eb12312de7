/** A dialog over the page: Escape closes it. */
import type { ComponentChildren, FunctionComponent } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";

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
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class={isWide ? "dialog wide" : "dialog"} aria-labelledby={heading} onClose={onClose}>
      <h2 id={heading}>{title}</h2>
      {children(() => dialog.current?.close())}
    </dialog>
  );
};
