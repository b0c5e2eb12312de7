/**
 * The field that a scanner writes into: focused, without a soft keyboard, emptied on Enter or Tab. What is typed
 * outside every field goes here too.
 */
import type { FunctionComponent, RefObject, TargetedKeyboardEvent } from "preact";
import { useLayoutEffect } from "preact/hooks";
import { receiveTexts } from "../../texts/en/order/receive.ts";

const isField = (target: EventTarget | null): boolean =>
  target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;

export const ScanField: FunctionComponent<{
  readonly field: RefObject<HTMLInputElement | null>;
  /** An empty code when Enter came alone. */
  readonly onScan: (code: string) => void;
}> = ({ field, onScan }) => {
  // Before it is painted: whoever sees the field can scan.
  useLayoutEffect(() => {
    field.current?.focus({ preventScroll: true });
    const onKey = (event: KeyboardEvent): void => {
      const isText = event.key.length === 1 && event.key !== " " && !event.ctrlKey && !event.metaKey && !event.altKey;
      if (isText && !isField(event.target)) field.current?.focus();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  const submit = (): void => {
    const input = field.current;
    if (input === null) return;
    const code = input.value.trim();
    input.value = "";
    onScan(code);
  };
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLInputElement>): void => {
    // Some scanners end with Tab.
    if (event.key !== "Tab" || event.shiftKey || event.currentTarget.value === "") return;
    event.preventDefault();
    submit();
  };
  return (
    <form
      class="scan"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <label>
        {receiveTexts.scan}
        <input
          ref={field}
          name="scan"
          inputMode="none"
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          enterkeyhint="go"
          onKeyDown={onKeyDown}
        />
      </label>
    </form>
  );
};
