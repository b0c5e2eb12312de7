/**
 * The fonts of documents, and which of them has a character. A character that none has is refused by name: a document
 * never shows a wrong letter or an empty box.
 *
 * Noto Sans ships: Latin, Greek, Cyrillic; so does a font of symbols and emoji (fonts/OFL.txt). The operator's font has
 * the characters that they lack, if there is one (OPENPO_DOCUMENT_FONT: a file, or one font of a collection,
 * `NotoSansCJK-Regular.ttc#NotoSansCJKjp-Regular`). Packages of fonts that are installed beside have the rest.
 */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { create, type Font } from "fontkit";
import { drawnFont, openFont } from "./drawn-font.ts";

/** A font. Its file is read once, when it is first asked for. */
class FontFile {
  /** As a document names it. */
  readonly name: string;
  readonly #read: () => Found;
  readonly #characters: RegExp | null;
  #font: Font | null = null;

  /** @param characters  those that it is asked for; null: all. */
  constructor(name: string, read: () => Found, characters: RegExp | null = null) {
    this.name = name;
    this.#read = read;
    this.#characters = characters;
  }

  #opened(): Font {
    if (this.#font !== null) return this.#font;
    const { bytes, index } = this.#read();
    return (this.#font = openFont(bytes, index));
  }

  has(character: string): boolean {
    if (this.#characters?.test(character) === false) return false;
    return this.#opened().hasGlyphForCodePoint(character.codePointAt(0) ?? 0);
  }

  /** The font for one document. */
  draw(): Font {
    return drawnFont(this.#opened());
  }
}

/** A font's file, and which one it is in a collection. */
interface Found {
  readonly bytes: Uint8Array;
  readonly index: number;
}

/** The weights that Noto Sans ships in. */
type Weight = "regular" | "bold";

export type Fonts = Readonly<Record<Weight, FontFile>> & {
  /** For what Noto Sans lacks, in the order in which they are asked. */
  readonly others: readonly FontFile[];
};

const shipped = (name: string, file: string): FontFile =>
  new FontFile(name, () => ({ bytes: readFileSync(new URL(`fonts/${file}.ttf`, import.meta.url)), index: 0 }));

/** The collection has no font of the name that was asked for. */
class NoSuchFont extends Error {}

/** Where the font of this name is in its file; the first one where no name is given. @throws Error when it is none. */
function indexIn(bytes: Uint8Array, name: string | null): number {
  if (name === null) return 0;
  const opened = create(bytes);
  const fonts = "fonts" in opened ? opened.fonts : [opened];
  const index = fonts.findIndex((each) => each.postscriptName === name);
  if (index === -1)
    throw new NoSuchFont(`has no font ${name}; it has ${fonts.map((each) => each.postscriptName).join(", ")}`);
  return index;
}

/** A collection and the name of one of its fonts. */
const inCollection = /^(?<file>.+\.(?:ttc|otc))#(?<name>[^#/]+)$/i;

/** The font that a setting names. @throws Error when the file cannot be read, or has none of that name. */
function foundBy(setting: string): Found {
  const { file = setting, name = null } = inCollection.exec(setting)?.groups ?? {};
  const bytes = readFileSync(file);
  return { bytes, index: indexIn(bytes, name) };
}

/** Where Debian, Ubuntu, Alpine and Arch put the fonts of Noto. */
const fontDirectories = [
  "/usr/share/fonts/opentype/noto",
  "/usr/share/fonts/truetype/noto",
  "/usr/share/fonts/noto",
  "/usr/share/fonts/noto-cjk",
];

/**
 * Fonts of packages that are installed beside (docs/documents.md), and what each is asked for. Of Chinese characters
 * the simplified forms.
 */
const packaged: readonly (readonly [file: string, characters: RegExp])[] = [
  [
    "NotoSansCJK-Regular.ttc#NotoSansCJKsc-Regular",
    /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Bopomofo}\u3000-\u303f\uff00-\uffef]/u,
  ],
  ["NotoSansArabic-Regular.ttf", /\p{scx=Arabic}/u],
  ["NotoSansHebrew-Regular.ttf", /\p{scx=Hebrew}/u],
  ["NotoSansThai-Regular.ttf", /\p{scx=Thai}/u],
  ["NotoSansDevanagari-Regular.ttf", /\p{scx=Devanagari}/u],
];

function installed(directories: readonly string[]): readonly FontFile[] {
  return packaged.flatMap(([setting, characters]) => {
    const [file = ""] = setting.split("#");
    const directory = directories.find((each) => existsSync(path.join(each, file)));
    if (directory === undefined) return [];
    return [new FontFile(file, () => foundBy(path.join(directory, setting)), characters)];
  });
}

/**
 * The fonts that documents are drawn with.
 *
 * @param other        the operator's font, as it is set.
 * @param directories  where fonts of packages are looked for.
 */
export const loadFonts = (other: string | null, directories: readonly string[] = fontDirectories): Fonts => ({
  regular: shipped("regular", "NotoSans-Regular"),
  bold: shipped("bold", "NotoSans-Bold"),
  others: [
    shipped("symbols", "NotoSansSymbolsAndEmoji-Regular"),
    ...(other === null ? [] : [new FontFile("other", () => foundBy(other))]),
    ...installed(directories),
  ],
});

/** Returns the fault of the operator's font; null when it can be used. */
export function fontFault(setting: string): string | null {
  try {
    const { bytes, index } = foundBy(setting);
    const font = openFont(bytes, index);
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

/**
 * Marks that print nothing: directions, soft hyphens, variation selectors, the frames of keys (1️⃣) and what tells
 * flags apart.
 */
const unprinted =
  /[\u00ad\u061c\u200b\u200e\u200f\ufeff]|\u20e3|[\u202a-\u202e\u2060-\u2064\u2066-\u206f]|[\ufe00-\ufe0f]|[\u{e0000}-\u{e007f}]/gu;

/** Joiners: they stay between letters whose forms depend on their neighbours, and say nothing elsewhere. */
const joiners =
  /(?<![\p{scx=Arabic}\p{scx=Devanagari}])[\u200c\u200d]|[\u200c\u200d](?![\p{scx=Arabic}\p{scx=Devanagari}])/gu;

// oxlint-disable-next-line no-control-regex -- what a text must not have
const controls = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g;

/** The text as it is printed: composed, without what prints nothing. Line feeds stay. */
export const printable = (text: string): string =>
  text
    .replaceAll(/\r\n?|[\u2028\u2029]/g, "\n")
    .normalize("NFC")
    .replaceAll(unprinted, "")
    .replaceAll(joiners, "")
    .replaceAll(controls, " ");

/** A piece of a text in one font. */
interface Stretch {
  readonly font: FontFile;
  text: string;
}

/** Blanks, joiners and what is only below or above another character follow the font of what is before them. */
const followsFont = /[\s\p{M}\u200c\u200d]/u;

const fontFor = (fonts: Fonts, character: string, weight: Weight): FontFile | null =>
  [fonts[weight], ...fonts.others].find((font) => font.has(character)) ?? null;

/**
 * The text in pieces, each in a font that has it. @throws Error for a character that no font has: `missingIn` finds
 * those of a caller.
 */
export function stretchesOf(fonts: Fonts, text: string, weight: Weight): readonly Stretch[] {
  const stretches: Stretch[] = [];
  for (const character of text) {
    const last = stretches.at(-1);
    const stays = last !== undefined && followsFont.test(character) && last.font.has(character);
    const font = stays ? last.font : fontFor(fonts, character, weight);
    if (font === null) throw new Error(`no font has U+${character.codePointAt(0)?.toString(16)}`);
    if (last?.font === font) last.text += character;
    else stretches.push({ font, text: character });
  }
  return stretches;
}

/** The first character of the text that cannot be printed; null when all can. */
export function missingIn(fonts: Fonts, text: string): string | null {
  for (const character of printable(text))
    if (character !== "\n" && fontFor(fonts, character, "regular") === null) return character;
  return null;
}
