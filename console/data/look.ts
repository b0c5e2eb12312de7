/** Look of the page for this person: theme and density, which this browser keeps, and the language. */
import { effect, signal } from "@preact/signals";
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
