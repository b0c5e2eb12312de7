/**
 * Languages of the console: each is a folder of texts with the same files as `en`, which the others are written after.
 * The build makes scripts for each, so that no page carries another's.
 */

/** The first is spoken where nothing better is known. */
export const languages = ["en", "de", "fr", "es", "nl"] as const;

export type Language = (typeof languages)[number];

/** Shape of the texts of another language: the members of the English ones, with any words. */
export type Translated<Texts> = Texts extends string
  ? string
  : Texts extends (...parts: infer Parts) => infer Words
    ? (...parts: Parts) => Translated<Words>
    : Texts extends object
      ? { readonly [Name in keyof Texts]: Translated<Texts[Name]> }
      : Texts;
