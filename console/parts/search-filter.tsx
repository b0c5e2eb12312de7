/** The search of a list. `/` leads to it, and the list is asked for when typing rests. */
import type { FunctionComponent } from "preact";
import { useEffect, useRef } from "preact/hooks";

/** How long typing rests before the list is asked for. */
const typingRestMs = 200;

interface SearchProps {
  readonly label: string;
  readonly hint: string;
  readonly value: string;
  readonly search: (text: string) => void;
}

export const SearchFilter: FunctionComponent<SearchProps> = ({ label, hint, value, search }) => {
  const field = useRef<HTMLInputElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => {
    // `/` leads here, except while a text is being written.
    const onKey = (event: KeyboardEvent): void => {
      const isWriting = event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement;
      if (event.key !== "/" || isWriting || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      field.current?.focus();
    };
    addEventListener("keydown", onKey);
    return () => {
      removeEventListener("keydown", onKey);
      clearTimeout(timer.current);
    };
  }, []);
  return (
    <label class="search">
      <span class="hidden">{label}</span>
      <input
        ref={field}
        type="search"
        placeholder={hint}
        value={value}
        onInput={({ currentTarget: { value: text } }) => {
          clearTimeout(timer.current);
          timer.current = setTimeout(() => search(text.trim()), typingRestMs);
        }}
      />
    </label>
  );
};
