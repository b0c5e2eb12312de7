/** A text to copy, with a button. Where the browser does not let a page copy, the text is selected instead. */
import { useSignal } from "@preact/signals";
import type { FunctionComponent } from "preact";
import { useId, useRef } from "preact/hooks";
import { texts } from "../../texts/en/texts.ts";

interface Copied {
  readonly label: string;
  readonly value: string;
  readonly onCopied: () => void;
}

export const CopyField: FunctionComponent<Copied> = ({ label, value, onCopied }) => {
  const id = useId();
  const field = useRef<HTMLTextAreaElement>(null);
  const said = useSignal("");
  const copy = async (): Promise<void> => {
    field.current?.select();
    try {
      await navigator.clipboard.writeText(value);
      said.value = texts.once.copied;
      onCopied();
    } catch {
      // A page that came over plain HTTP may not copy.
      field.current?.focus();
      said.value = texts.once.notCopied;
    }
  };
  return (
    <div class="copy">
      <label for={id}>{label}</label>
      <textarea
        class="as-typed"
        ref={field}
        id={id}
        readOnly
        rows={value.split("\n").length}
        spellcheck={false}
        value={value}
        onCopy={onCopied}
      />
      <button type="button" aria-label={texts.once.copyOf(label)} onClick={() => void copy()}>
        {texts.once.copy}
      </button>
      <output class="quiet">{said.value}</output>
    </div>
  );
};
