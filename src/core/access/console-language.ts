/** Languages in which the console speaks to people (console/texts/languages.ts has the same). */
export const consoleLanguages = ["en", "de", "fr", "es", "nl"] as const;

/** Language of the console, by its code of ISO 639-1. */
export type ConsoleLanguage = (typeof consoleLanguages)[number];
