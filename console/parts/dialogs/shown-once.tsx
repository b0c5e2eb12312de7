/**
 * A secret that the service shows once: a dialog that closes only after the secret was copied, or somebody chose to go
 * without it. Whoever shows it drops the secret in `onClose`.
 */
import { useSignal } from "@preact/signals";
import type { ComponentChildren, FunctionComponent } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { texts } from "../../texts/en/texts.ts";
import { CopyField } from "../fields/copy-field.tsx";

interface Shown {
  readonly title: string;
  /** Name of the secret, as a label. */
  readonly label: string;
  readonly secret: string;
  /** `copied` tells the dialog that somebody copied text with the secret in it. */
  readonly children: (copied: () => void) => ComponentChildren;
  readonly onClose: () => void;
}

export const ShownOnce: FunctionComponent<Shown> = ({ title, label, secret, children, onClose }) => {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  const isCopied = useSignal(false);
  const isAsking = useSignal(false);
  const isLeaving = useRef(false);
  useEffect(() => {
    dialog.current?.showModal();
    const guard = (event: BeforeUnloadEvent): void => event.preventDefault();
    addEventListener("beforeunload", guard);
    return () => removeEventListener("beforeunload", guard);
  }, []);
  const copied = (): void => {
    isCopied.value = true;
    isAsking.value = false;
  };
  const leave = (): void => {
    isLeaving.current = true;
    dialog.current?.close();
  };
  const close = (): void => {
    if (isCopied.value) leave();
    else isAsking.value = true;
  };
  return (
    <dialog
      ref={dialog}
      class="dialog wide"
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault();
        close();
      }}
      onClose={() => {
        if (isLeaving.current) return onClose();
        // The browser closed it, as some do at the second Escape.
        dialog.current?.showModal();
        close();
      }}
    >
      <h2 id={heading}>{title}</h2>
      <p>
        <strong>{texts.once.warning}</strong>
      </p>
      <CopyField label={label} value={secret} onCopied={copied} />
      {children(copied)}
      {isAsking.value ? (
        <div class="problem" role="alert">
          <p>{texts.once.unsaved}</p>
          <p class="actions">
            <button type="button" onClick={() => (isAsking.value = false)}>
              {texts.once.back}
            </button>
            <button type="button" class="danger" onClick={leave}>
              {texts.once.closeAnyway}
            </button>
          </p>
        </div>
      ) : (
        <p class="actions">
          <button type="button" onClick={close}>
            {texts.once.close}
          </button>
        </p>
      )}
    </dialog>
  );
};
