/** Parts of pdfkit that are used: it has no types of its own. */
declare module "pdfkit" {
  import type { Font } from "fontkit";

  /** Content of a page that belongs to an element of the structure. */
  interface MarkedContent {
    readonly refs: unknown;
  }

  /** An element of the structure that readers who do not see the page are told. */
  export interface StructureElement {
    add(child: StructureElement | MarkedContent): this;
    end(): this;
  }

  export class PDFDocument {
    constructor(options: {
      readonly size: readonly [width: number, height: number];
      readonly margin: number;
      readonly autoFirstPage: boolean;
      readonly bufferPages: boolean;
      readonly tagged: boolean;
      readonly pdfVersion: string;
      readonly lang: string;
      readonly displayTitle: boolean;
      readonly info: Readonly<Record<string, string | Date>>;
      readonly font: null;
    });
    on(event: "data", listener: (piece: Uint8Array) => void): this;
    on(event: "end", listener: () => void): this;
    addPage(): this;
    switchToPage(index: number): void;
    bufferedPageRange(): { readonly start: number; readonly count: number };
    end(): void;

    registerFont(name: string, font: Font): this;
    font(name: string): this;
    fontSize(points: number): this;
    fillColor(color: string, opacity?: number): this;
    /** `features` goes to the font's `layout`, with the whole text; without it the font gets word by word. */
    widthOfString(text: string, options?: { readonly features?: string }): number;
    text(
      text: string,
      x: number,
      y: number,
      options: { readonly lineBreak: false; readonly baseline: "alphabetic"; readonly features?: string },
    ): this;

    rect(x: number, y: number, width: number, height: number): this;
    path(path: string): this;
    moveTo(x: number, y: number): this;
    lineTo(x: number, y: number): this;
    lineWidth(points: number): this;
    fill(color?: string, rule?: "even-odd" | "non-zero"): this;
    stroke(color?: string): this;
    save(): this;
    restore(): this;
    clip(): this;
    translate(x: number, y: number): this;
    scale(factor: number): this;
    rotate(degrees: number, options: { readonly origin: readonly [number, number] }): this;
    image(bytes: Uint8Array, x: number, y: number, options: { readonly width: number; readonly height: number }): this;

    struct(type: string, options?: Readonly<Record<string, unknown>>): StructureElement;
    addStructure(element: StructureElement): this;
    markStructureContent(type: string): MarkedContent;
    markContent(tag: "Artifact", options?: { readonly type: string }): this;
    markContent(tag: "Span", options: { readonly actual: string }): this;
    endMarkedContent(): this;
  }
}

/** Parts of fontkit that are used, on which pdfkit is built. */
declare module "fontkit" {
  /** A glyph where it stands in a text. */
  export interface GlyphUse {
    readonly id: number;
    readonly advanceWidth: number;
    /** The characters that it stands for; none where an earlier glyph stands for them. */
    readonly codePoints: readonly number[];
  }

  /** A text as glyphs, from left to right. */
  export interface LaidOut {
    readonly glyphs: readonly GlyphUse[];
    readonly positions: readonly { readonly xAdvance: number }[];
    readonly advanceWidth: number;
  }

  /** The part of a font that a document has. */
  export interface FontSubset {
    readonly glyphs: number[];
    /** @returns its place in the part. */
    includeGlyph(glyph: number): number;
  }

  export interface Font {
    readonly postscriptName: string;
    readonly numGlyphs: number;
    /** Where its tables are in the file. */
    readonly directory: {
      readonly tables: Readonly<Record<string, { readonly offset: number; readonly length: number }>>;
    };
    /** Glyphs that were made, by their numbers. */
    readonly _glyphs: Record<number, unknown>;
    getGlyph(glyph: number, codePoints?: readonly number[]): unknown;
    layout(
      text: string,
      features?: readonly string[],
      script?: string,
      language?: string,
      direction?: "ltr" | "rtl",
    ): LaidOut;
    createSubset(): FontSubset;
    hasGlyphForCodePoint(code: number): boolean;
  }

  /** @throws Error when the bytes are no font. */
  export function create(bytes: Uint8Array): Font | { readonly fonts: readonly Font[] };
}
