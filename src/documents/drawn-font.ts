/**
 * A font as one document draws with it: made for that document and forgotten with it. Only the tables of the file are
 * shared, which are read and never written.
 *
 * fontkit remembers for each glyph the characters that it stood for first. A letter that was first drawn as a part of
 * another one (`N` in `Ñ`) then stood for none, there and in all later documents. Their text layers lost it. Here a
 * glyph has the characters of each of its uses, and a document's font has nothing of the documents before it (C62).
 */
import { create, type Font, type FontSubset, type GlyphUse, type LaidOut } from "fontkit";
import { mirrored } from "./direction.ts";

/** The font in a file; of a collection the one at this index. @throws Error when there is none. */
export function openFont(bytes: Uint8Array, index: number): Font {
  const opened = create(bytes);
  const font = "fonts" in opened ? opened.fonts[index] : opened;
  if (font === undefined) throw new Error(`the collection has no font ${index}`);
  return font;
}

/** Direction that pdfkit passes to `layout` for text that is written from right to left. */
export const rightToLeft = "rtl";

/** Characters that draw nothing and say how their neighbours join: fontkit has a blank without width in their place. */
const joiner = /[\u200c\u200d]/g;

const blank = 0x20;

/** Above every number of a glyph: from here on glyphs that stand for certain characters have numbers of their own. */
const firstUse = 0x1_0000;

/** A glyph that stands for certain characters. */
interface Use {
  readonly glyph: number;
  /** Its place in the document's part of the font; null: it is not drawn yet. */
  slot: number | null;
}

/** The font for one document. @param opened  nothing was laid out with it. */
export function drawnFont(opened: Font): Font {
  // What fontkit computes it keeps at the object that it was asked of: here at this one.
  const font: Font = Object.assign(Object.create(opened), { _glyphs: {} });
  const [getGlyph, layout, createSubset] = [
    font.getGlyph.bind(font),
    font.layout.bind(font),
    font.createSubset.bind(font),
  ];
  const uses: Use[] = [];
  const numbers = new Map<string, number>();
  const useOf = (glyph: number, codePoints: readonly number[]): number => {
    const reading = `${glyph} ${codePoints.join(" ")}`;
    const number = numbers.get(reading) ?? firstUse + uses.push({ glyph, slot: null }) - 1;
    numbers.set(reading, number);
    return number;
  };
  return Object.assign(font, {
    getGlyph(glyph: number, codePoints?: readonly number[]) {
      if (codePoints === undefined) return getGlyph(glyph);
      // oxlint-disable-next-line no-underscore-dangle -- fontkit's own memory has no other name
      delete font._glyphs[glyph];
      return getGlyph(glyph, codePoints);
    },
    layout(text: string, direction?: unknown): LaidOut {
      const isRightToLeft = direction === rightToLeft;
      const { glyphs, positions, advanceWidth } = layout(
        isRightToLeft ? mirrored(text) : text,
        [],
        undefined,
        undefined,
        isRightToLeft ? "rtl" : "ltr",
      );
      const joiners = text.match(joiner) ?? [];
      const read = ({ codePoints }: GlyphUse, at: number): readonly number[] => {
        if (codePoints[0] !== blank || positions[at]?.xAdvance !== 0)
          return isRightToLeft ? codePoints.map((code) => codeOf(mirrored(String.fromCodePoint(code)))) : codePoints;
        return [codeOf((isRightToLeft ? joiners.pop() : joiners.shift()) ?? " ")];
      };
      return {
        glyphs: glyphs.map((glyph, at) => {
          const codePoints = read(glyph, at);
          return { id: useOf(glyph.id, codePoints), advanceWidth: glyph.advanceWidth, codePoints };
        }),
        positions,
        advanceWidth,
      };
    },
    createSubset: () => subsetOf(createSubset(), uses),
  });
}

const codeOf = (character: string): number => character.codePointAt(0) ?? blank;

/** The document's part of the font. A glyph that stands for different characters is in it once for each. */
function subsetOf(subset: FontSubset, uses: readonly Use[]): FontSubset {
  const includeGlyph = subset.includeGlyph.bind(subset);
  const taken = new Set<number>([0]);
  return Object.assign(subset, {
    includeGlyph(number: number): number {
      const use = uses[number - firstUse];
      // While the font is written its glyphs include their parts.
      if (use === undefined) return includeGlyph(number);
      if (use.slot !== null) return use.slot;
      let slot = includeGlyph(use.glyph);
      if (taken.has(slot)) slot = subset.glyphs.push(use.glyph) - 1;
      taken.add(slot);
      use.slot = slot;
      return slot;
    },
  });
}
