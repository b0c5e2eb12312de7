/** Look of the page for this person: theme and density, which this browser keeps. */
import { effect, signal } from "@preact/signals";

export const themes = ["system", "light", "dark"] as const;
export const densities = ["comfortable", "compact"] as const;

type Theme = (typeof themes)[number];
type Density = (typeof densities)[number];

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
