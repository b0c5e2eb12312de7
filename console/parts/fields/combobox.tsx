/**
 * A text field with choices from the server, after the combobox pattern of the ARIA Authoring Practices. The first ones
 * are shown as soon as it has the focus, which stays in the field. Arrow keys walk through the list, Enter chooses,
 * Escape closes.
 */
import { useSignal } from "@preact/signals";
import type { FunctionComponent, TargetedKeyboardEvent } from "preact";
import { useEffect, useId, useLayoutEffect, useRef } from "preact/hooks";
import type { Problem } from "../../data/client.ts";
import { sentence } from "../../data/format.ts";
import type { Choice } from "../../data/look-ups.ts";
import { texts } from "../../texts/en/texts.ts";

interface ComboboxProps {
  readonly label: string;
  readonly hint?: string;
  readonly initial?: string;
  /** @returns none for no text where there are too many to begin with some. */
  readonly search: (text: string) => Promise<readonly Choice[] | Problem>;
  readonly choose: (choice: Choice) => void;
  /** Empties the field once something is chosen, for the next. */
  readonly isCleared?: boolean;
  /** Has the focus when it appears. */
  readonly isFirst?: boolean;
}

/** Pause in typing before choices are requested. */
const typingRestMs = 120;

/** Choices, or the reason why there are none. */
type Offer = readonly Choice[] | Problem | null;

const isProblem = (offer: Offer): offer is Problem => offer !== null && "message" in offer;

export const Combobox: FunctionComponent<ComboboxProps> = (props) => {
  const { label, hint, initial, search, choose, isCleared, isFirst } = props;
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  // Before it is painted: whoever sees the field can write.
  useLayoutEffect(() => {
    if (isFirst === true) field.current?.focus();
  }, []);
  const text = useSignal(initial ?? "");
  const offer = useSignal<Offer>(null);
  const active = useSignal(-1);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);

  /** The text that the choices were found for. They stay while more is typed, and are not taken for it. */
  const offeredFor = useRef<string | null>(null);
  /** Enter came before the choices. */
  const isEntered = useRef(false);
  const latest = useRef(0);

  const ask = async (): Promise<void> => {
    clearTimeout(timer.current);
    const searchText = text.value.trim();
    const nth = (latest.current += 1);
    const found = await search(searchText);
    // An answer that comes late belongs to a text that is no longer there.
    if (nth !== latest.current || searchText !== text.value.trim()) return;
    offer.value = searchText === "" && !isProblem(found) && found.length === 0 ? null : found;
    offeredFor.current = searchText;
    // Of choices that nobody has asked for none is taken by Enter alone.
    active.value = searchText === "" ? -1 : 0;
    // Nobody has seen the choices, so one of several is not taken.
    const [only, ...others] = "message" in found ? [] : found;
    if (isEntered.current && only !== undefined && others.length === 0) take(only);
    isEntered.current = false;
  };
  const write = (written: string): void => {
    text.value = written;
    isEntered.current = false;
    clearTimeout(timer.current);
    timer.current = setTimeout(() => void ask(), typingRestMs);
  };
  const take = (choice: Choice): void => {
    clearTimeout(timer.current);
    latest.current += 1;
    offer.value = null;
    offeredFor.current = null;
    text.value = isCleared === true ? "" : choice.title;
    choose(choice);
  };
  const choices = offer.value === null || isProblem(offer.value) ? [] : offer.value;
  const onKey = (event: TargetedKeyboardEvent<HTMLInputElement>): void => {
    if (event.key === "Escape" && offer.value !== null) offer.value = null;
    else if (event.key === "Enter" && (text.value.trim() !== "" || active.value >= 0)) {
      const choice = choices[active.value];
      if (offeredFor.current !== text.value.trim()) {
        isEntered.current = true;
        void ask();
      } else if (choice !== undefined) take(choice);
    } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && choices.length > 0)
      active.value =
        event.key === "ArrowDown"
          ? (active.value + 1) % choices.length
          : (Math.max(active.value, 0) + choices.length - 1) % choices.length;
    else return;
    event.preventDefault();
  };
  return (
    <div class="combobox">
      <label for={id}>{label}</label>
      <input
        ref={field}
        id={id}
        role="combobox"
        autocomplete="off"
        placeholder={hint}
        aria-expanded={choices.length > 0}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={choices.length > 0 && active.value >= 0 ? `${id}-${active.value}` : undefined}
        value={text.value}
        onFocus={() => {
          if (text.value.trim() === "") void ask();
        }}
        onInput={(event) => write(event.currentTarget.value)}
        onKeyDown={onKey}
        onBlur={() => {
          offeredFor.current = null;
          isEntered.current = false;
          // In a dialog the list takes room. If it went before a press has ended, the pressed button would move away.
          if (document.querySelector(":active") === null) offer.value = null;
          else addEventListener("mouseup", () => setTimeout(() => (offer.value = null)), { once: true });
        }}
      />
      <ul id={`${id}-list`} role="listbox" aria-label={label} hidden={choices.length === 0}>
        {choices.map((choice, index) => (
          // The field has the keyboard; the list is for the pointer.
          // oxlint-disable-next-line jsx-a11y/click-events-have-key-events
          <li
            key={choice.id}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === active.value}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => take(choice)}
          >
            {choice.title} {choice.hint === null ? null : <span class="quiet">{choice.hint}</span>}
          </li>
        ))}
      </ul>
      <p class="quiet" role="status">
        {isProblem(offer.value) ? `${sentence(offer.value.message)} ${offer.value.action ?? ""}` : null}
        {offer.value !== null && !isProblem(offer.value) ? texts.combobox.found(choices.length) : null}
      </p>
    </div>
  );
};
