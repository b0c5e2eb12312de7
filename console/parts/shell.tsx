/** Frame around every screen: the shop, its places, who is signed in, and how the page looks to them. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren, FunctionComponent } from "preact";
import { useEffect } from "preact/hooks";
import { densities, density, theme, themes } from "../data/look.ts";
import { hasRole, type Session, signOut } from "../data/session.ts";
import type { IconName } from "../icons/names.ts";
import { hrefOf, place } from "../router.ts";
import { texts } from "../texts/texts.ts";
import { Icon, Mark } from "./icon.tsx";
import { Segments } from "./segments.tsx";

const words = texts.navigation;

interface Entry {
  /** The first step of the path. */
  readonly step: keyof typeof words.places;
  readonly icon: IconName;
  /** People with at least this role see it; the operator has no account in the shop. */
  readonly least: "viewer" | "owner" | "operator";
  /** A group begins with it. */
  readonly isPart?: true;
  /** On a phone it is not in the bar of five. */
  readonly isFurther?: true;
}

const entries: readonly Entry[] = [
  { step: "home", icon: "house", least: "viewer" },
  { step: "orders", icon: "shopping-cart", least: "viewer" },
  { step: "dock", icon: "package-check", least: "viewer" },
  { step: "reorder", icon: "refresh-cw", least: "viewer" },
  { step: "stock", icon: "boxes", least: "viewer", isFurther: true },
  { step: "activity", icon: "activity", least: "viewer", isPart: true, isFurther: true },
  { step: "keys", icon: "bot", least: "owner", isFurther: true },
  { step: "people", icon: "users", least: "owner", isFurther: true },
  { step: "import", icon: "upload", least: "owner", isPart: true, isFurther: true },
  { step: "storefront", icon: "store", least: "owner", isFurther: true },
  { step: "webhooks", icon: "webhook", least: "owner", isFurther: true },
  { step: "settings", icon: "settings", least: "owner", isFurther: true },
  { step: "shops", icon: "layers", least: "operator", isFurther: true },
];

interface ShellProps {
  readonly session: Session;
  readonly children: ComponentChildren;
}

export const Shell: FunctionComponent<ShellProps> = ({ session, children }) => (
  <div class="frame">
    <a class="skip" href="#content">
      {words.skip}
    </a>
    <header class="side">
      <a class="brand" href={hrefOf("home")} title={session.shop.name}>
        <Mark />
        <span>{session.shop.name}</span>
      </a>
      <Places session={session} />
      <Who session={session} />
    </header>
    <main id="content">{children}</main>
  </div>
);

/** More than the bar of a phone has room for are unfolded there. */
const Places: FunctionComponent<{ readonly session: Session }> = ({ session }) => {
  const isUnfolded = useSignal(false);
  const [first = "home"] = place.value.steps;
  useEffect(() => {
    isUnfolded.value = false;
  }, [place.value]);
  return (
    <nav aria-label={words.label} data-open={isUnfolded.value ? "" : undefined}>
      {entries
        .filter(({ least }) => (least === "operator" ? session.person.personId === null : hasRole(least)))
        .map(({ step, icon, isPart, isFurther }) => (
          <a
            key={step}
            class={`${isPart === true ? "part" : ""} ${isFurther === true ? "further" : ""}`}
            href={hrefOf(step)}
            title={words.places[step]}
            aria-current={step === first ? "page" : undefined}
          >
            <Icon name={icon} />
            <span class="words">{words.places[step]}</span>
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
      </button>
    </nav>
  );
};

const initialsOf = (name: string): string =>
  name
    .split(/\s+/)
    .slice(0, 2)
    .map((word) => [...word][0] ?? "")
    .join("")
    .toUpperCase();

const Who: FunctionComponent<{ readonly session: Session }> = ({ session: { person } }) => (
  <div class="who">
    <button type="button" class="plain me" popovertarget="me" title={person.name}>
      <span class="face" aria-hidden="true">
        {initialsOf(person.name)}
      </span>
      <span class="name">
        {person.name} <span class="quiet">{person.role}</span>
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
    <div id="me" popover="auto">
      <p>
        {person.name} <span class="quiet">{person.role}</span>
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
      <button type="button" onClick={() => void signOut({ everywhere: true })}>
        {words.signOutEverywhere}
      </button>
      <p class="quiet">{words.signOutEverywhereHint}</p>
    </div>
  </div>
);
