/**
 * The fonts of documents, and which of them has a character. A character that none has is refused by name: a document never shows a wrong
 * letter or an empty box.
 *
 * Noto Sans ships: Latin, Greek, Cyrillic (fonts/OFL.txt). What it lacks is taken from the operator's font, if there is one
 * (OPENPO_DOCUMENT_FONT): a file, or one font of a collection (`NotoSansCJK-Regular.ttc#NotoSansCJKsc-Regular`).
 */
import { readFileSync } from "node:fs";
import { create, type Font } from "fontkit";

/** A font as a document names it. */
type FontName = "regular" | "bold" | "other";

export type Fonts = Readonly<Record<"regular" | "bold", Font>> & { readonly other: Font | null };

const shipped = (name: string): Font => fontOf(readFileSync(new URL(`fonts/${name}.ttf`, import.meta.url)), null);

/** The collection has no font of the name that was asked for. */
class NoSuchFont extends Error {}

/** The font in a file; of a collection the one of this name, or the first one. @throws Error when it is none. */
function fontOf(bytes: Uint8Array, name: string | null): Font {
  const found = create(bytes);
  const fonts = "fonts" in found ? found.fonts : [found];
  const font = name === null ? fonts[0] : fonts.find((each) => each.postscriptName === name);
  if (font === undefined)
    throw new NoSuchFont(`has no font ${name ?? ""}; it has ${fonts.map((each) => each.postscriptName).join(", ")}`);
  return font;
}

/** A collection and the name of one of its fonts. */
const inCollection = /^(?<file>.+\.(?:ttc|otc))#(?<name>[^#/]+)$/i;

/** The bytes of the operator's font, and its name in a collection. @throws Error when the file cannot be read. */
function readOther(setting: string): readonly [bytes: Uint8Array, name: string | null] {
  const { file = setting, name = null } = inCollection.exec(setting)?.groups ?? {};
  return [readFileSync(file), name];
}

/** @param other  the operator's font, as it is set. @throws Error when it cannot be read or is no font. */
export const loadFonts = (other: string | null): Fonts => ({
  regular: shipped("NotoSans-Regular"),
  bold: shipped("NotoSans-Bold"),
  other: other === null ? null : fontOf(...readOther(other)),
});

/** What is wrong with the operator's font; null when it can be used. */
export function fontFault(setting: string): string | null {
  try {
    const [bytes, name] = readOther(setting);
    const font = fontOf(bytes, name);
    // Tables are read when they are needed: one that is not there would be found by the first document.
    const isWhole = Object.values(font.directory.tables).every(({ offset, length }) => offset + length <= bytes.length);
    if (!isWhole) return "is cut off: a part of the font is missing";
    return font.numGlyphs > 0 ? null : "has no glyphs";
  } catch (error) {
    if (error instanceof NoSuchFont) return error.message;
    const code = error instanceof Error && "code" in error ? String(error.code) : null;
    return code === null ? "is not a TrueType or OpenType font" : `cannot be read: ${code}`;
  }
}

/** Marks that print nothing: directions, joiners, soft hyphens, variation selectors. */
const unprinted = /[\u00ad\ufeff]|[\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f]|[\ufe00-\ufe0f]/g;

// oxlint-disable-next-line no-control-regex -- what a text must not have
const controls = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g;

/** The text as it is printed: composed, without what prints nothing. Line feeds stay. */
export const printable = (text: string): string =>
  text
    .replaceAll(/\r\n?|[\u2028\u2029]/g, "\n")
    .normalize("NFC")
    .replaceAll(unprinted, "")
    .replaceAll(controls, " ");

/** Scripts that are written from right to left. */
const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** A piece of a text in one font. */
interface Run {
  readonly font: FontName;
  readonly text: string;
}

/** Blanks and what is only below or above another character follow the font of what is before them. */
const followsFont = /[\s\p{M}]/u;

const fontFor = (fonts: Fonts, character: string, weight: "regular" | "bold"): FontName | null => {
  const code = character.codePointAt(0) ?? 0;
  if (fonts[weight].hasGlyphForCodePoint(code)) return weight;
  return fonts.other?.hasGlyphForCodePoint(code) === true ? "other" : null;
};

/** The text in pieces, each in a font that has it. @throws Error for a character that no font has: `missingCharacter` finds those of a caller. */
export function runsOf(fonts: Fonts, text: string, weight: "regular" | "bold"): readonly Run[] {
  const runs: { font: FontName; text: string }[] = [];
  for (const character of text) {
    const last = runs.at(-1);
    const code = character.codePointAt(0) ?? 0;
    const stays =
      last !== undefined &&
      followsFont.test(character) &&
      (last.font === "other" ? fonts.other : fonts[last.font])?.hasGlyphForCodePoint(code) === true;
    const font = stays ? last.font : fontFor(fonts, character, weight);
    if (font === null) throw new Error(`no font has U+${code.toString(16)}`);
    if (last?.font === font) last.text += character;
    else runs.push({ font, text: character });
  }
  return runs;
}

/** A character that cannot be printed, and where. */
export interface Missing {
  /** JSON pointer into the document's content: `/lineItems/0/productName`. */
  readonly path: string;
  readonly character: string;
  readonly isRightToLeft: boolean;
}

/** The first character of any text in this value that cannot be printed; null when all can. */
export function missingCharacter(fonts: Fonts, value: unknown, path = ""): Missing | null {
  if (typeof value === "string") {
    for (const character of printable(value)) {
      if (character === "\n") continue;
      const isRightToLeft = rightToLeft.test(character);
      if (isRightToLeft || fontFor(fonts, character, "regular") === null) return { path, character, isRightToLeft };
    }
    return null;
  }
  if (typeof value !== "object" || value === null) return null;
  for (const [name, member] of Object.entries(value)) {
    const found = missingCharacter(fonts, member, `${path}/${name}`);
    if (found !== null) return found;
  }
  return null;
}
