/** Look of the page for this person: theme, density and sidebar, which this browser keeps, and the language. */
import { computed, effect, type Signal, signal } from "@preact/signals";
import type { Language } from "../texts/languages.ts";
import { pageLanguage } from "./format.ts";
import { send, sessionState } from "./session.ts";

export const themes = ["system", "light", "dark"] as const;
export const densities = ["comfortable", "compact"] as const;

type Theme = (typeof themes)[number];
export type Density = (typeof densities)[number];

/** The word that is kept under a name; the first one where none is. */
const kept = <Word extends string>(name: string, words: readonly [Word, ...Word[]]): Word =>
  words.find((word) => word === localStorage.getItem(name)) ?? words[0];

const themeName = "openpo theme";
const densityName = "openpo density";

export const theme = signal<Theme>(kept(themeName, themes));
export const density = signal<Density>(kept(densityName, densities));

/** True while the window is no wider. */
function isUpTo(width: string): Signal<boolean> {
  const query = matchMedia(`(max-width: ${width})`);
  const is = signal(query.matches);
  query.addEventListener("change", () => (is.value = query.matches));
  return is;
}

const isPhone = isUpTo("47.9375rem");
const isNarrow = isUpTo("79.9375rem");

const sideName = "openpo sidebar";
const side = signal(kept(sideName, ["unfolded", "folded"]));

/** True while the sidebar is unfolded over the screen, where there is less room. */
const isOver = signal(false);

/** True if the sidebar is one of icons: as the person has it, and where there is less room. A phone has a bar. */
export const isFolded = computed(() => isPhone.value || (isNarrow.value ? !isOver.value : side.value === "folded"));

/** Folds the sidebar, or unfolds it. This browser keeps it where there is room for both. */
export function fold(): void {
  if (isNarrow.value) isOver.value = !isOver.value && !isPhone.value;
  else side.value = isFolded.value ? "unfolded" : "folded";
}

/** Folds a sidebar that is over the screen. */
export const foldOver = (): void => void (isOver.value = false);

/** Shows the page so, now and whenever it is chosen anew. */
export function followLook(): void {
  effect(() => {
    localStorage.setItem(themeName, theme.value);
    document.documentElement.dataset["theme"] = theme.value;
  });
  effect(() => {
    localStorage.setItem(densityName, density.value);
    document.documentElement.dataset["density"] = density.value;
  });
  effect(() => localStorage.setItem(sideName, side.value));
}

const languageName = "openpo language";

/**
 * Loads the page in the language that the person has chosen, once they sign in. What could not be loaded is not tried
 * again.
 */
export function followLanguage(): void {
  let isIn = false;
  effect(() => {
    const state = sessionState.value;
    if (state.kind === "signed-out" && state.ended === null) isIn = false;
    if (state.kind !== "signed-in" || isIn) return;
    isIn = true;
    const { language } = state.session.person;
    if (language === null || language === pageLanguage || sessionStorage.getItem(languageName) === language) return;
    sessionStorage.setItem(languageName, language);
    location.reload();
  });
}

/** Keeps the language with the person and in this browser, and loads the page in it. */
export async function chooseLanguage(language: Language): Promise<void> {
  sessionStorage.removeItem(languageName);
  const { status } = await send("PUT", "language", { language });
  if (status === 200) location.reload();
}
