/**
 * Text as searches compare it (C13).
 */

/** Folds names that are compared as a whole: case, width and composition do not count. */
export function foldCase(text: string): string {
  // Upper case first, so that "ß" equals "SS". A final sigma depends on its neighbours, so it becomes a plain one.
  return text.normalize("NFKC").toUpperCase().toLowerCase().replaceAll("ς", "σ");
}

/** Letters that are told from others by more than a mark, as they are typed without the keys for them. */
const plainLetters: Readonly<Record<string, string>> = {
  ß: "ss",
  ø: "o",
  ł: "l",
  đ: "d",
  ı: "i",
  æ: "ae",
  œ: "oe",
};

/**
 * Folds text for searches: case, width, composition, accents and other marks do not count. Applied to the `…_folded`
 * columns and to the words searched for, so that the database only compares code points.
 */
export const fold = (text: string): string =>
  foldCase(text)
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .replace(/[ßøłđıæœ]/g, (letter) => plainLetters[letter] ?? letter);

/** Words of a search beyond these do not count. */
const searchWords = 8;

/** The words that a search asks for, folded. All of them must be found; none: nothing is searched for. */
export const wordsOf = (search: string | null): readonly string[] => [
  ...new Set(
    (search ?? "")
      .split(/\s+/)
      .filter((word) => word !== "")
      .slice(0, searchWords)
      .map(fold)
      .filter((word) => word !== ""),
  ),
];

/** Texts as one column holds them, one a line, so that no word is found across two. */
export const foldedLines = (texts: readonly (string | null)[]): string =>
  texts.flatMap((text) => (text === null || text === "" ? [] : fold(text))).join("\n");
