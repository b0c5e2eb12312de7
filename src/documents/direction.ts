/**
 * The order in which a line's text stands on paper, by the Unicode Bidirectional Algorithm. Pure.
 */
import bidiFactory from "bidi-js";

const bidi = bidiFactory();

/** Characters of scripts that are written from right to left. */
const rightToLeftLetter = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** A piece of a line in one direction, its characters in the order in which they are read. */
interface Piece {
  readonly text: string;
  readonly isRightToLeft: boolean;
}

/** True if a part of the text is written from right to left. */
export const hasRightToLeft = (text: string): boolean => rightToLeftLetter.test(text);

/** True if a paragraph begins at the right: by its first letter. */
export const beginsAtRight = (paragraph: string): boolean =>
  hasRightToLeft(paragraph) && bidi.getEmbeddingLevels(paragraph, "auto").paragraphs[0]?.level === 1;

/** The pieces of a line from left to right. @param fromRight  its paragraph begins at the right. */
export function piecesOf(line: string, fromRight: boolean): readonly Piece[] {
  if (!fromRight && !hasRightToLeft(line)) return [{ text: line, isRightToLeft: false }];
  const { levels } = bidi.getEmbeddingLevels(line, fromRight ? "rtl" : "ltr");
  const runs: { text: string; readonly level: number }[] = [];
  for (let at = 0; at < line.length; at += 1) {
    const last = runs.at(-1);
    const level = levels[at] ?? 0;
    if (last !== undefined && last.level === level) last.text += line.charAt(at);
    else runs.push({ text: line.charAt(at), level });
  }
  // Rule L2: from the highest level down to the lowest odd one, whatever is at it or above is turned round.
  for (let level = Math.max(0, ...runs.map((run) => run.level)); level > 0; level -= 1)
    for (let start = 0; start < runs.length; start += 1) {
      let end = start;
      while ((runs[end]?.level ?? -1) >= level) end += 1;
      if (end > start) runs.splice(start, end - start, ...runs.slice(start, end).reverse());
      start = Math.max(start, end - 1);
    }
  return runs.map(({ text, level }) => ({ text, isRightToLeft: level % 2 === 1 }));
}

/** The text with `(` for `)` and the like: as they look where it is written from right to left. */
export const mirrored = (text: string): string =>
  Array.from(text, (character) => bidi.getMirroredCharacter(character) ?? character).join("");
