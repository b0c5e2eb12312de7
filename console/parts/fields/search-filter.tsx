/** The search of a list. `/` leads to it, and the list is asked for as somebody types. */
import type { FunctionComponent } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { isWriting } from "../frame/writing.ts";

/** Time between two requests for the list: results follow each key of whoever types at ease, at once. */
const betweenMs = 60;

interface SearchProps {
  readonly label: string;
  readonly hint: string;
  readonly value: string;
  readonly search: (text: string) => void;
}

export const SearchFilter: FunctionComponent<SearchProps> = ({ label, hint, value, search }) => {
  const field = useRef<HTMLInputElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  const askedAt = useRef(-betweenMs);
  /** Text that was typed last. It stays when the list is drawn again before it is asked for. */
  const typed = useRef<string | null>(null);
  // Before it is painted: whoever sees the field can press the key.
  useLayoutEffect(() => {
    // `/` leads here, except while a text is being written.
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== "/" || isWriting(event) || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      field.current?.focus();
    };
    addEventListener("keydown", onKey);
    return () => {
      removeEventListener("keydown", onKey);
      if (timer.current !== null) clearTimeout(timer.current);
    };
  }, []);
  const isTyped = typed.current !== null && (timer.current !== null || typed.current.trim() === value);
  return (
    <label class="search">
      <span class="hidden">{label}</span>
      <input
        ref={field}
        type="search"
        placeholder={hint}
        value={isTyped ? (typed.current ?? value) : value}
        onInput={({ currentTarget: { value: text } }) => {
          typed.current = text;
          const ask = (): void => {
            timer.current = null;
            askedAt.current = performance.now();
            search((typed.current ?? "").trim());
          };
          const waitMs = askedAt.current + betweenMs - performance.now();
          if (waitMs <= 0) ask();
          else timer.current ??= setTimeout(ask, waitMs);
        }}
      />
    </label>
  );
};
