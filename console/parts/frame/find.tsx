/** The search for everything, and the list of keys: dialogs over any screen. */
import { useSignal } from "@preact/signals";
import type { FunctionComponent, TargetedKeyboardEvent } from "preact";
import { useEffect, useId, useLayoutEffect, useRef } from "preact/hooks";
import { Icon } from "../icon.tsx";
import { findTexts as words } from "../../texts/en/find.ts";
import { texts } from "../../texts/en/texts.ts";
import { doneHere, type Found, foundBy, namedBy } from "./found.ts";

/** Pause in typing before the shop is searched. */
const typingRestMs = 40;

interface FindProps {
  readonly isOfKeys: boolean;
  readonly showKeys: () => void;
  readonly close: () => void;
}

export const Find: FunctionComponent<FindProps> = ({ isOfKeys, showKeys, close }) => {
  const dialog = useRef<HTMLDialogElement>(null);
  // Before it is painted: the next key is typed into it.
  useLayoutEffect(() => {
    const { current } = dialog;
    current?.showModal();
    return () => current?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      class={isOfKeys ? "dialog" : "dialog find"}
      aria-label={isOfKeys ? words.keys.title : words.title}
      onClose={close}
      onMouseDown={(event) => {
        if (event.target === dialog.current) dialog.current?.close();
      }}
    >
      {isOfKeys ? <Keys /> : <Search showKeys={showKeys} close={() => dialog.current?.close()} />}
    </dialog>
  );
};

const Keys: FunctionComponent = () => (
  <>
    <h2>{words.keys.title}</h2>
    <dl class="key-list">
      {words.keys.rows.map(([keys, does]) => (
        <div key={keys}>
          <dt>
            <kbd>{keys}</kbd>
          </dt>
          <dd>{does}</dd>
        </div>
      ))}
    </dl>
    <form method="dialog" class="actions">
      <button type="submit">{words.close}</button>
    </form>
  </>
);

const Search: FunctionComponent<Pick<FindProps, "showKeys" | "close">> = ({ showKeys, close }) => {
  const id = useId();
  const text = useSignal("");
  const sought = text.value.trim();
  /** Rows of the shop for a text. They stay while more is typed, and are not taken for it. */
  const ofShop = useSignal<{ readonly text: string; readonly rows: readonly Found[] }>({ text: "", rows: [] });
  const isSearching = ofShop.value.text !== sought;
  /** Steps from the first row. Keys that come before the rows are for the rows. */
  const steps = useSignal(0);
  const isEntered = useRef(false);
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    if (sought === "") {
      ofShop.value = { text: sought, rows: [] };
      return;
    }
    let isLatest = true;
    const timer = setTimeout(async () => {
      const rows = await foundBy(sought);
      if (isLatest) ofShop.value = { text: sought, rows };
    }, typingRestMs);
    return () => {
      isLatest = false;
      clearTimeout(timer);
    };
  }, [sought]);
  const found = [...ofShop.value.rows, ...doneHere(sought), ...namedBy(sought, showKeys)];
  const active = isSearching || found.length === 0 ? -1 : ((steps.value % found.length) + found.length) % found.length;
  const take = (each: Found | undefined): void => {
    if (each === undefined) return;
    close();
    each.run();
  };
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [active]);
  useEffect(() => {
    if (isSearching || !isEntered.current) return;
    isEntered.current = false;
    take(found[active]);
  }, [isSearching]);
  // At once: the next key may come before the page is drawn.
  const write = (written: string): void => {
    text.value = written;
    steps.value = 0;
    isEntered.current = false;
  };
  const onKey = (event: TargetedKeyboardEvent<HTMLInputElement>): void => {
    if (event.key === "Enter") {
      if (ofShop.value.text !== text.value.trim()) isEntered.current = true;
      else take(found[active]);
    } else if (event.key === "ArrowDown") steps.value += 1;
    else if (event.key === "ArrowUp") steps.value -= 1;
    else return;
    event.preventDefault();
  };
  return (
    <>
      <input
        id={id}
        role="combobox"
        aria-label={words.title}
        aria-expanded={found.length > 0}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={active < 0 ? undefined : `${id}-${active}`}
        autocomplete="off"
        placeholder={words.hint}
        value={text.value}
        onInput={(event) => write(event.currentTarget.value)}
        onKeyDown={onKey}
      />
      <ul ref={list} id={`${id}-list`} role="listbox" aria-label={words.title} aria-busy={isSearching}>
        {found.map((each, index) => (
          // The field has the keyboard; the list is for the pointer.
          // oxlint-disable-next-line jsx-a11y/click-events-have-key-events
          <li
            key={`${each.group} ${each.id}`}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === active}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => take(each)}
          >
            <Icon name={each.icon} />
            <span class="name">
              <bdi>{each.title}</bdi> {each.hint === null ? null : <span class="quiet">{each.hint}</span>}
            </span>
            <span class="quiet">{words.groups[each.group]}</span>
          </li>
        ))}
      </ul>
      <p class="quiet" role="status">
        {found.length > 0 ? texts.combobox.found(found.length) : isSearching ? texts.loading : words.nothing}
      </p>
    </>
  );
};
