/**
 * Plain text: what people read in terminals, mails, sheets and on paper.
 *
 * A control character can move a terminal's cursor or begin a command of it, and a bidi override makes a text read as
 * another one. Texts with them are refused on the way in, where a caller can correct them. They are neutralised on the
 * way out, and where a storefront or a mail server wrote them (§8). Marks of direction, which right-to-left texts need,
 * are neither.
 */

/** Of a text of one line: controls, separators of lines and paragraphs, bidi embeddings, overrides and isolates. */
const barredInLine = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u;

/**
 * Of a text of several lines, which takes line feeds and tabs. A carriage return counts as a part of the line feed
 * after it.
 */
const barredInLines = /\r(?!\n)|[^\P{Cc}\t\n\r]|[\u202a-\u202e\u2066-\u2069]/u;

const barred = { line: barredInLine, lines: barredInLines } as const;

const takes = {
  line: "one line takes no control characters and no bidi overrides",
  lines: "it takes line feeds and tabs, but no other control characters and no bidi overrides",
} as const;

/** A text of one line, like a name, or of several, like a note. */
export type TextForm = keyof typeof barred;

/** The first character that the text may not have, as a sentence; null when there is none. */
export function plainTextProblem(text: string, form: TextForm): string | null {
  const found = barred[form].exec(text)?.[0];
  return found === undefined ? null : `has ${codePointOf(found)}; ${takes[form]}`;
}

const codePointOf = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;

/** The text on one line: each run of characters that a line may not have is a blank. */
export const onOneLine = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+/gu, " ")
    .trim();

/** The beginning of the text, of so many characters at most. */
export const cutAt = (text: string, lengthMax: number): string =>
  text.length <= lengthMax ? text : text.slice(0, lengthMax).toWellFormed();

/** The text with its lines and tabs; each other character that it may not have is a blank. */
export const neutralised = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll("\r\n", "\n")
    .replaceAll(/[^\P{Cc}\t\n]|[\u202a-\u202e\u2066-\u2069]/gu, " ");

/** JSON that means the same and can be shown: JSON escapes the controls below U+0020 only. */
export const neutralisedJson = (json: string): string =>
  json.replaceAll(
    /[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g,
    (character) => String.raw`\u` + character.charCodeAt(0).toString(16).padStart(4, "0"),
  );
