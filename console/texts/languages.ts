/**
 * Languages of the console: each is a folder of texts with the same files as `en`, which the others are written after.
 * The build makes scripts for each, so that no page carries another's.
 */

/** The first is spoken where nothing better is known. */
export const languages = ["en", "de", "fr", "es", "nl"] as const;

export type Language = (typeof languages)[number];

/** Name of each language in itself. */
export const languageNames: Readonly<Record<Language, string>> = {
  en: "English",
  de: "Deutsch",
  fr: "Français",
  es: "Español",
  nl: "Nederlands",
};

/** Shape of the texts of another language: the members of the English ones, with any words. */
export type Translated<Texts> = Texts extends string
  ? string
  : Texts extends (...parts: infer Parts) => infer Words
    ? (...parts: Parts) => Translated<Words>
    : Texts extends object
      ? { readonly [Name in keyof Texts]: Translated<Texts[Name]> }
      : Texts;

/** Words for codes of the service; it is English, and what has no words here is shown as it says it. */
export interface ServiceTexts {
  /** Sentences for errors, by their codes or reasons. */
  readonly problems: Readonly<Record<string, string>>;
  /** Sentences for warnings about a write, by their reasons. */
  readonly warnings: Readonly<Record<string, string>>;
  /** Titles of approval requests, by the operation that each would run. */
  readonly requests: Readonly<Record<string, string>>;
  /** Names of fields. */
  readonly fields: Readonly<Record<string, string>>;
  /** Names of statuses. */
  readonly states: Readonly<Record<string, string>>;
}
