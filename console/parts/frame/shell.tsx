/** Frame around every screen: the shop, its places, who is signed in, and how the page looks to them. */
import { LanguageField } from "./language-field.tsx";
import { useSignal } from "@preact/signals";
import type { ComponentChildren, FunctionComponent } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { densities, density, fold, foldOver, isFolded, theme, themes } from "../../data/look.ts";
import { type Session, signOut } from "../../data/session.ts";
import { placeCounts, useWaiting, waiting } from "../../data/waiting.ts";
import { hrefOf, place } from "../../router.ts";
import { texts } from "../../texts/en/texts.ts";
import { barOf, entries } from "./entries.ts";
import { Icon, Mark } from "../icon.tsx";
import { lazy } from "../lazy.tsx";
import { Segments } from "./segments.tsx";
import { told } from "./told.ts";
import { isWriting } from "./writing.ts";

const words = texts.navigation;

interface ShellProps {
  readonly session: Session;
  readonly children: ComponentChildren;
}

/** Gives the focus to the heading of a place that was gone to, unless the place gives it to something of its own. */
function useHeadingFocus(): void {
  const steps = place.value.steps.join("/");
  const isFirst = useRef(true);
  useEffect(() => {
    const main = document.getElementById("content");
    if (isFirst.current || main === null) {
      isFirst.current = false;
      return;
    }
    const isGiven = (): boolean => {
      const heading = main.querySelector("h1");
      if (heading === null || main.contains(document.activeElement)) return heading !== null;
      heading.tabIndex = -1;
      heading.focus({ preventScroll: true });
      return true;
    };
    if (isGiven()) return;
    const observer = new MutationObserver(() => {
      if (isGiven()) observer.disconnect();
    });
    observer.observe(main, { childList: true, subtree: true });
    return () => observer.disconnect();
  }, [steps]);
}

/** Loads the counts and the search once the screen is there: letters typed right after its key are for the search. */
const loadLater = async () => {
  Find.begin();
  return (await import("./place-counts.ts")).followCounts();
};

export const Shell: FunctionComponent<ShellProps> = ({ session, children }) => {
  useHeadingFocus();
  useWaiting(session.shop.lastSequence, loadLater);
  return (
    <div class="frame" data-folded={isFolded.value ? "" : undefined}>
      <a class="skip" href="#content">
        {words.skip}
      </a>
      <header class="side">
        <a class="brand" href={hrefOf("home")} title={session.shop.name}>
          <Mark />
          <span>{session.shop.name}</span>
        </a>
        <Fold />
        <Finder />
        <Places session={session} />
        <Who session={session} />
      </header>
      <main id="content">{children}</main>
      <Toasts />
    </div>
  );
};

const Toast = lazy(async () => (await import("./toast.tsx")).Toast, { isQuiet: true });

/** Says what was done. It is there before it says something: only then is that read out. */
const Toasts: FunctionComponent = () => {
  useEffect(() => () => void (told.value = null), []);
  return (
    <div class="toasts" role="status">
      {told.value === null ? null : <Toast message={told.value} />}
    </div>
  );
};

const Find = lazy(async () => (await import("./find.tsx")).Find, { isQuiet: true });

/** Opens the search for everything, and the list of keys. */
const Finder: FunctionComponent = () => {
  const shown = useSignal<"find" | "keys" | null>(null);
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const isFind = event.key.toLowerCase() === "k" && (event.metaKey || event.ctrlKey);
      if (!isFind && (event.key !== "?" || isWriting(event))) return;
      event.preventDefault();
      shown.value = isFind ? "find" : "keys";
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  return (
    <>
      <button
        type="button"
        class="finder"
        title={words.find}
        aria-keyshortcuts="Control+K Meta+K"
        onClick={() => (shown.value = "find")}
      >
        <Icon name="search" />
        <span class="words">{words.find}</span>
        <kbd aria-hidden="true">{words.findKey}</kbd>
      </button>
      {shown.value === null ? null : (
        <Find
          key={shown.value}
          isOfKeys={shown.value === "keys"}
          showKeys={() => setTimeout(() => (shown.value = "keys"))}
          close={() => (shown.value = null)}
        />
      )}
    </>
  );
};

/** Folds the sidebar to icons, and back. */
const Fold: FunctionComponent = () => {
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key === "Escape") foldOver();
      if (event.key.toLowerCase() !== "b" || !(event.metaKey || event.ctrlKey) || isWriting(event)) return;
      event.preventDefault();
      fold();
    };
    const onPress = ({ target }: Event): void => {
      if (target instanceof Element && target.closest(".side") === null) foldOver();
    };
    addEventListener("keydown", onKey);
    addEventListener("pointerdown", onPress);
    return () => {
      removeEventListener("keydown", onKey);
      removeEventListener("pointerdown", onPress);
    };
  }, []);
  useEffect(foldOver, [place.value]);
  const title = isFolded.value ? words.unfoldSide : words.foldSide;
  return (
    <button
      type="button"
      class="plain icon-only fold"
      aria-label={title}
      title={title}
      aria-keyshortcuts="Control+B Meta+B"
      onClick={fold}
    >
      <Icon name="panel-left" />
    </button>
  );
};

/** More than the bar of a phone has room for are unfolded there. */
const Places: FunctionComponent<Pick<ShellProps, "session">> = ({ session }) => {
  const isUnfolded = useSignal(false);
  const [first = "home"] = place.value.steps;
  const inBar = barOf(session.person.role);
  const current = first === "receive" ? "dock" : first;
  useEffect(() => {
    isUnfolded.value = false;
  }, [place.value]);
  return (
    <nav aria-label={words.label} data-open={isUnfolded.value ? "" : undefined}>
      {entries().map(({ step, icon, isPart }) => (
        <a
          key={step}
          class={`${isPart === true ? "part" : ""} ${inBar.includes(step) ? "" : "further"}`}
          href={hrefOf(step)}
          title={words.places[step]}
          aria-current={step === current ? "page" : undefined}
        >
          <Icon name={icon} />
          <span class="words">{words.places[step]}</span>
          {step === "approvals" ? <Waiting /> : null}
          {step === "orders" || step === "dock" ? <PlaceCount at={step} /> : null}
        </a>
      ))}
      <button
        type="button"
        class="unfold"
        aria-expanded={isUnfolded.value}
        onClick={() => (isUnfolded.value = !isUnfolded.value)}
      >
        <Icon name={isUnfolded.value ? "x" : "ellipsis"} />
        <span class="words">{isUnfolded.value ? words.less : words.more}</span>
        {isUnfolded.value || inBar.includes("approvals") ? null : <Waiting />}
      </button>
    </nav>
  );
};

/** Number of requests that wait for the person, beside the place where they decide. */
const Waiting: FunctionComponent = () =>
  waiting.value === "" ? null : (
    <span class="count">
      <span aria-hidden="true">{waiting.value}</span>
      <span class="hidden">{words.waiting(waiting.value)}</span>
    </span>
  );

/** Number of orders that wait at a place. */
const PlaceCount: FunctionComponent<{ readonly at: "orders" | "dock" }> = ({ at }) => {
  const { [at]: count } = placeCounts.value;
  return count === undefined ? null : (
    <span class="count calm">
      <span aria-hidden="true">{count}</span>
      <span class="hidden">{words.counts[at](count)}</span>
    </span>
  );
};

const initialsOf = (name: string): string =>
  name
    .split(/\s+/)
    .slice(0, 2)
    .map((word) => String.fromCodePoint(word.codePointAt(0) ?? 0x20))
    .join("")
    .toUpperCase();

const Who: FunctionComponent<{ readonly session: Session }> = ({ session: { person } }) => (
  <div class="who">
    <button type="button" class="plain me" popovertarget="me" title={person.name}>
      <span class="face" aria-hidden="true">
        {initialsOf(person.name)}
      </span>
      <span class="name">
        {person.name} <span class="quiet">{texts.role.names[person.role]}</span>
      </span>
    </button>
    <button
      type="button"
      class="plain icon-only"
      aria-label={words.signOut}
      title={words.signOut}
      onClick={() => void signOut()}
    >
      <Icon name="log-out" />
    </button>
    <div
      id="me"
      popover="auto"
      onClick={(event) => void (event.target instanceof HTMLAnchorElement && event.currentTarget.hidePopover())}
    >
      <p>
        {person.name} <span class="quiet">{texts.role.names[person.role]}</span>
      </p>
      <Segments
        label={words.theme}
        words={themes}
        titles={words.themes}
        value={theme.value}
        choose={(word) => (theme.value = word)}
      />
      <Segments
        label={words.density}
        words={densities}
        titles={words.densities}
        value={density.value}
        choose={(word) => (density.value = word)}
      />
      <LanguageField />
      <a class="button" href={hrefOf("connect")}>
        {texts.titles.connect}
      </a>
      {person.personId === null ? null : (
        <a class="button" href={hrefOf("account")}>
          {texts.titles.account}
        </a>
      )}
      <button type="button" onClick={() => void signOut({ everywhere: true })}>
        {words.signOutEverywhere}
      </button>
      <p class="quiet">{words.signOutEverywhereHint}</p>
    </div>
  </div>
);
