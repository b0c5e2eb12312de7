/**
 * A sheet as PDF: tagged, and the same bytes for the same sheet and date.
 *
 * Owns: where things stand on paper. Does not own: what they say (sheet.ts), which font has a character (fonts.ts). All
 * lengths are points, 1/72 inch; y grows downwards.
 */
import { PDFDocument, type StructureElement } from "pdfkit";
import { code128 } from "./code-128.ts";
import { beginsAtRight, hasRightToLeft, piecesOf } from "./direction.ts";
import { rightToLeft } from "./drawn-font.ts";
import { type Fonts, printable, stretchesOf } from "./fonts.ts";
import { svgPaths } from "./logo.ts";
import type { Sheet, SheetColumn } from "./sheet.ts";
import { named } from "./texts.ts";

const papers = { A4: [595.28, 841.89], Letter: [612, 792] } as const;

const margin = { left: 48, right: 48, top: 46, bottom: 66 } as const;

const ink = "#1c1f23";
const faint = "#5d6570";
const rule = "#c9ced6";
const shade = "#f1f3f6";
const accent = "#9a3412";

const logoWidthMax = 190;
const logoHeightMax = 56;

/** The thinnest bar that a scanner reads from an office printer: a quarter of a millimetre. */
const moduleMin = 0.7;
const moduleMax = 1.15;
const barcodeWidthMax = 215;
const barHeight = 26;

const cellPadding = 5;
const rowPadding = 4;

/** Type: size, distance of baselines, weight. */
interface Type {
  readonly size: number;
  readonly leading: number;
  readonly weight: "regular" | "bold";
  readonly color: string;
}

const body: Type = { size: 9, leading: 12, weight: "regular", color: ink };
const strong: Type = { ...body, weight: "bold" };
const small: Type = { size: 7.5, leading: 10, weight: "regular", color: faint };
const label: Type = { ...small, weight: "bold" };
const tableHead: Type = { size: 8, leading: 10, weight: "bold", color: ink };
const heading: Type = { size: 19, leading: 24, weight: "bold", color: ink };
const number: Type = { size: 12, leading: 16, weight: "bold", color: ink };
const grand: Type = { size: 11, leading: 16, weight: "bold", color: ink };
const mark: Type = { ...strong, color: accent };

/** Where a line's letters stand in its height. */
const baselineOf = ({ size, leading }: Type): number => (leading - size) / 2 + size * 0.8;

/** Characters between which a line may break without a blank: ideographs, kana, hangul. */
const tokens =
  /[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]|[^\s\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]+|[^\S\u00a0\u202f]+|[\u00a0\u202f]/gu;

/** A letter with the marks on it, and with what an Indic letter without a vowel is joined to: no line breaks within. */
const letters = /.(?:\p{M}|(?<=\u094d\u200d?)\S)*/gsu;

/**
 * Scripts whose signs stand in another order than they are read: the text is told beside them. Not beside what is
 * written from right to left, which readers turn round by themselves.
 */
const reordered = /[\p{scx=Thai}\p{scx=Devanagari}]/u;

/** A line of text. */
interface Line {
  readonly text: string;
  /** Its paragraph begins at the right. */
  readonly fromRight: boolean;
}

/** The text on one line, whatever its length. */
function lineOf(text: string): Line {
  const line = printable(text).replaceAll("\n", " ");
  return { text: line, fromRight: beginsAtRight(line) };
}

/** A piece of a line in one font and direction. */
interface Stretch {
  readonly text: string;
  /** As the document names it. */
  readonly font: string;
  readonly options: { readonly features?: string };
}

class PaperPage {
  readonly #doc: PDFDocument;
  readonly #fonts: Fonts;
  readonly #opened = new Set<string>();
  readonly width: number;
  readonly height: number;
  readonly root: StructureElement;
  /** Below what is drawn on this page. */
  y: number = margin.top;
  pages = 0;
  readonly #onNewPage: (page: PaperPage) => void;

  constructor(
    doc: PDFDocument,
    fonts: Fonts,
    [width, height]: readonly [number, number],
    onNewPage: (page: PaperPage) => void,
  ) {
    this.#doc = doc;
    this.#fonts = fonts;
    this.width = width;
    this.height = height;
    this.#onNewPage = onNewPage;
    this.root = doc.struct("Document");
    doc.addStructure(this.root);
  }

  get left(): number {
    return margin.left;
  }

  get right(): number {
    return this.width - margin.right;
  }

  get bottom(): number {
    return this.height - margin.bottom;
  }

  newPage(): void {
    this.#doc.addPage();
    this.pages += 1;
    this.y = margin.top;
    this.#onNewPage(this);
  }

  /** Makes room for something of this height that stays together. */
  need(height: number): void {
    if (this.y + height > this.bottom) this.newPage();
  }

  widthOf(text: string, type: Type): number {
    this.#doc.fontSize(type.size);
    let width = 0;
    for (const stretch of this.#stretches({ text, fromRight: false }, type))
      width += this.#doc.font(stretch.font).widthOfString(stretch.text, stretch.options);
    return width;
  }

  /** The name of a font that the document has. */
  #named(font: Fonts["regular"]): string {
    if (!this.#opened.has(font.name)) this.#doc.registerFont(font.name, font.draw());
    this.#opened.add(font.name);
    return font.name;
  }

  /** The pieces of a line from left to right. */
  #stretches({ text, fromRight }: Line, { weight }: Type): readonly Stretch[] {
    return piecesOf(text, fromRight).flatMap((piece) => {
      const stretches = stretchesOf(this.#fonts, piece.text, weight).map(({ font, text: part }) => ({
        text: part,
        font: this.#named(font),
        options: piece.isRightToLeft ? { features: rightToLeft } : {},
      }));
      return piece.isRightToLeft ? stretches.reverse() : stretches;
    });
  }

  /** The text in lines of at most this width. A word that is wider is broken. */
  lines(text: string, width: number, type: Type): readonly Line[] {
    return printable(text)
      .split("\n")
      .flatMap((paragraph) => {
        const fromRight = beginsAtRight(paragraph);
        return this.#linesOf(paragraph, width, type).map((line) => ({ text: line, fromRight }));
      });
  }

  #linesOf(paragraph: string, width: number, type: Type): readonly string[] {
    const lines: string[] = [];
    let line = "";
    let lineWidth = 0;
    const flush = (): void => {
      lines.push(line.trimEnd());
      line = "";
      lineWidth = 0;
    };
    const add = (token: string, tokenWidth: number): void => {
      line += token;
      lineWidth += tokenWidth;
    };
    for (const token of paragraph.match(tokens) ?? []) {
      const tokenWidth = this.widthOf(token, type);
      if (/^\s+$/u.test(token)) {
        if (line !== "") add(token, tokenWidth);
        continue;
      }
      if (line !== "" && lineWidth + tokenWidth > width) flush();
      if (tokenWidth <= width) {
        add(token, tokenWidth);
        continue;
      }
      // Behind a hyphen, dot or the like if that is enough, else anywhere.
      for (const part of token.match(/[^-/.@_,;:]*[-/.@_,;:]|[^-/.@_,;:]+$/g) ?? [token]) {
        const partWidth = this.widthOf(part, type);
        if (line !== "" && lineWidth + partWidth > width) flush();
        if (partWidth <= width) {
          add(part, partWidth);
          continue;
        }
        for (const character of part.match(letters) ?? []) {
          const characterWidth = this.widthOf(character, type);
          if (line !== "" && lineWidth + characterWidth > width) flush();
          add(character, characterWidth);
        }
      }
    }
    if (line !== "" || lines.length === 0) flush();
    return lines;
  }

  /** Draws one line of text from x, or flush right to it. */
  #line(line: Line, x: number, top: number, type: Type, isFlushRight: boolean): void {
    let at = isFlushRight ? x - this.widthOf(line.text, type) : x;
    const isReordered = reordered.test(line.text) && !hasRightToLeft(line.text);
    if (isReordered) this.#doc.markContent("Span", { actual: line.text });
    for (const { text, font, options } of this.#stretches(line, type)) {
      this.#doc.font(font).fontSize(type.size).fillColor(type.color);
      this.#doc.text(text, at, top + baselineOf(type), { lineBreak: false, baseline: "alphabetic", ...options });
      at += this.#doc.widthOfString(text, options);
    }
    if (isReordered) this.#doc.endMarkedContent();
  }

  /** Draws lines of text as one element of the structure. @returns their height. */
  text(
    parent: StructureElement,
    tag: string,
    lines: readonly Line[],
    x: number,
    top: number,
    type: Type,
    {
      isFlushRight = false,
      right = null,
      options = {},
    }: {
      readonly isFlushRight?: boolean;
      /** Where lines begin that are written from the right; null: at x as others. */
      readonly right?: number | null;
      readonly options?: object;
    } = {},
  ): number {
    const element = this.#doc.struct(tag, { ...options });
    parent.add(element);
    element.add(this.#doc.markStructureContent(tag));
    for (const [index, line] of lines.entries()) {
      const edge = line.fromRight ? right : null;
      this.#line(line, edge ?? x, top + index * type.leading, type, isFlushRight || edge !== null);
    }
    this.#doc.endMarkedContent();
    element.end();
    return lines.length * type.leading;
  }

  /** Draws text that is no part of the document's content: repeated heads and feet. */
  furniture(line: Line, x: number, top: number, type: Type, isFlushRight = false): void {
    this.#doc.markContent("Artifact", { type: "Pagination" });
    this.#line(line, x, top, type, isFlushRight);
    this.#doc.endMarkedContent();
  }

  /** Draws what is not told to those who do not see the page. */
  decoration(draw: (doc: PDFDocument) => void): void {
    this.#doc.markContent("Artifact", { type: "Layout" });
    draw(this.#doc);
    this.#doc.endMarkedContent();
  }

  horizontal(y: number, from = this.left, to = this.right, width = 0.6): void {
    this.decoration((doc) => doc.lineWidth(width).moveTo(from, y).lineTo(to, y).stroke(rule));
  }

  /** Draws a picture as an element with a text for those who do not see it. */
  figure(parent: StructureElement, alt: string, draw: (doc: PDFDocument) => void): void {
    const element = this.#doc.struct("Figure", { alt });
    parent.add(element);
    element.add(this.#doc.markStructureContent("Figure"));
    draw(this.#doc);
    this.#doc.endMarkedContent();
    element.end();
  }

  group(parent: StructureElement, tag: string): StructureElement {
    const element = this.#doc.struct(tag);
    parent.add(element);
    return element;
  }
}

/** Draws the sheet. @param createdAtMs  what the file says about when it was made. */
export function pdfOf(sheet: Sheet, createdAtMs: number, fonts: Fonts): Promise<Uint8Array> {
  const size = papers[sheet.paper];
  const title = `${sheet.title} ${sheet.poNumber}`;
  const doc = new PDFDocument({
    size,
    margin: 0,
    autoFirstPage: false,
    bufferPages: true,
    tagged: true,
    pdfVersion: "1.7",
    lang: sheet.language,
    displayTitle: true,
    info: {
      Title: printable(title),
      Author: printable(sheet.buyerName),
      Creator: "OpenPO",
      Producer: "OpenPO",
      CreationDate: new Date(createdAtMs),
    },
    font: null,
  });
  const pieces: Uint8Array[] = [];
  const ended = new Promise<Uint8Array>((resolve) => {
    doc.on("data", (piece) => pieces.push(piece)).on("end", () => resolve(Buffer.concat(pieces)));
  });
  const footer = (page: PaperPage): readonly Line[] =>
    sheet.footer === null ? [] : page.lines(sheet.footer, page.right - page.left - 130, small).slice(0, footerLinesMax);
  const page = new PaperPage(doc, fonts, size, (self) => {
    if (self.pages === 1) return;
    self.furniture(lineOf(title), self.left, self.y, small);
    self.furniture(lineOf(sheet.buyerName), self.right, self.y, small, true);
    self.y += small.leading + 8;
  });
  page.newPage();
  drawHead(page, sheet);
  drawParties(page, sheet);
  drawFacts(page, sheet);
  drawLines(page, sheet);
  drawRemarks(page, sheet);
  page.root.end();
  // Last, since only now it is known how many pages there are.
  for (let index = 0; index < page.pages; index += 1) {
    doc.switchToPage(index);
    const top = page.bottom + 16;
    page.horizontal(top - 6);
    for (const [at, line] of footer(page).entries()) page.furniture(line, page.left, top + at * small.leading, small);
    const text = sheet.pageText.replace("{page}", String(index + 1)).replace("{pages}", String(page.pages));
    page.furniture(lineOf(text), page.right, top, small, true);
    page.furniture(lineOf(`${sheet.poNumber} · ${sheet.versionText}`), page.right, top + small.leading, small, true);
  }
  doc.end();
  return ended;
}

/** Lines of the footer that a page has room for. */
const footerLinesMax = 4;

function drawLogo(page: PaperPage, { logo, buyerName }: Sheet, top: number): number {
  if (logo === null) {
    const lines = page.lines(buyerName, 250, number);
    return page.text(page.root, "P", lines, page.left, top + 2, number) + 2;
  }
  const factor = Math.min(
    logoWidthMax / logo.width,
    logoHeightMax / logo.height,
    logo.contentType === "image/svg+xml" ? Infinity : 1,
  );
  const [width, height] = [logo.width * factor, logo.height * factor];
  const bytes = Buffer.from(logo.base64, "base64");
  page.figure(page.root, buyerName, (doc) => {
    if (logo.contentType !== "image/svg+xml") {
      doc.image(bytes, page.left, top, { width, height });
      return;
    }
    const { x, y, paths } = svgPaths(bytes.toString("utf8"));
    doc.save().rect(page.left, top, width, height).clip();
    doc.translate(page.left, top).scale(factor).translate(-x, -y);
    for (const { data, fill, isEvenOdd } of paths) doc.path(data).fill(fill, isEvenOdd ? "even-odd" : "non-zero");
    doc.restore();
  });
  return height;
}

/** Draws the number as bars, flush right. @returns the height. */
function drawBarcode(page: PaperPage, { poNumber }: Sheet, top: number): number {
  const widths = code128(poNumber);
  if (widths === null) return 0;
  const modules = widths.reduce((sum, width) => sum + width, 0);
  const module = Math.min(moduleMax, barcodeWidthMax / modules);
  if (module < moduleMin) return 0;
  page.figure(page.root, `Code 128: ${poNumber}`, (doc) => {
    let x = page.right - modules * module;
    for (const [index, width] of widths.entries()) {
      if (index % 2 === 0) doc.rect(x, top, width * module, barHeight);
      x += width * module;
    }
    doc.fill("#000000");
  });
  return barHeight;
}

function drawHead(page: PaperPage, sheet: Sheet): void {
  const top = page.y;
  const leftHeight = drawLogo(page, sheet, top);
  const width = (page.right - page.left) / 2;
  let y = top - 4;
  y += page.text(page.root, "H1", page.lines(sheet.title, width, heading), page.right, y, heading, {
    isFlushRight: true,
  });
  y += page.text(page.root, "P", page.lines(sheet.poNumber, width, number), page.right, y, number, {
    isFlushRight: true,
  });
  if (sheet.marking !== null)
    y += page.text(page.root, "P", page.lines(sheet.marking, width, mark), page.right, y, mark, { isFlushRight: true });
  if (sheet.replaces !== null)
    y += page.text(page.root, "P", page.lines(sheet.replaces, width, strong), page.right, y, strong, {
      isFlushRight: true,
    });
  y += 6;
  y += drawBarcode(page, sheet, y);
  page.y = Math.max(top + leftHeight, y) + 22;
}

function drawParties(page: PaperPage, { parties }: Sheet): void {
  if (parties.length === 0) return;
  const gap = 16;
  const columns = Math.max(3, parties.length);
  const width = (page.right - page.left - gap * (columns - 1)) / columns;
  let height = 0;
  for (const [index, { heading: headingText, lines }] of parties.entries()) {
    const x = page.left + index * (width + gap);
    const section = page.group(page.root, "Sect");
    let y = page.y;
    y += page.text(section, "H2", page.lines(headingText, width, label), x, y, label) + 2;
    for (const [at, line] of lines.entries()) {
      const type = at === 0 ? strong : body;
      y += page.text(section, "P", page.lines(line, width, type), x, y, type);
    }
    section.end();
    height = Math.max(height, y - page.y);
  }
  page.y += height + 16;
}

const factsPerRow = 4;

function drawFacts(page: PaperPage, { facts }: Sheet): void {
  if (facts.length === 0) return;
  page.horizontal(page.y);
  page.y += 8;
  const gap = 14;
  const columns = facts.length === factsPerRow ? factsPerRow : 3;
  const width = (page.right - page.left - gap * (columns - 1)) / columns;
  for (let start = 0; start < facts.length; start += columns) {
    let height = 0;
    for (const [index, { label: name, value }] of facts.slice(start, start + columns).entries()) {
      const x = page.left + index * (width + gap);
      const used = page.text(page.root, "P", page.lines(name, width, label), x, page.y, label);
      height = Math.max(
        height,
        used + page.text(page.root, "P", page.lines(value, width, body), x, page.y + used, body),
      );
    }
    page.y += height + 8;
  }
  page.y += 6;
}

interface Placed extends SheetColumn {
  /** Of its cell in a row. */
  readonly index: number;
  readonly x: number;
  readonly width: number;
}

/** Widths that columns of text have at most; the description gets the rest. */
const textWidths: Readonly<Partial<Record<SheetColumn["id"], number>>> = {
  supplierSku: 92,
  sku: 84,
  barcode: 84,
  expectedDeliveryDate: 92,
};

/** The least that a description gets. */
const descriptionMin = 150;

/** Columns that go below the description where there is no room for them, in this order. */
const movable: readonly SheetColumn["id"][] = ["barcode", "expectedDeliveryDate", "sku", "supplierSku"];

/** Returns the width of a column with its content. Figures, their heads and words of other heads are never broken. */
function widthOf(page: PaperPage, { columns, rows }: Sheet, index: number): number {
  const { id = "description", label: name = "", isFigure = false } = columns[index] ?? {};
  if (id === "description") return 0;
  const head = Math.max(...(isFigure ? [name] : name.split(" ")).map((word) => page.widthOf(word, tableHead)));
  const cells = rows.reduce((width, row) => Math.max(width, page.widthOf(printable(row.cells[index] ?? ""), body)), 0);
  const width = isFigure ? cells : Math.min(Math.max(cells, page.widthOf(name, tableHead)), textWidths[id] ?? cells);
  return Math.ceil(Math.max(head, width) + 2 * cellPadding);
}

/** Where the columns stand. `below`: indexes of those for which there is no room. */
function placed(
  page: PaperPage,
  sheet: Sheet,
): { readonly columns: readonly Placed[]; readonly below: readonly number[] } {
  const { columns } = sheet;
  const widths = columns.map((_column, index) => widthOf(page, sheet, index));
  const below: number[] = [];
  const room = (): number => page.right - page.left - widths.reduce((sum, width) => sum + width, 0);
  for (const id of movable) {
    if (room() >= descriptionMin) break;
    const index = columns.findIndex((column) => column.id === id);
    if (index === -1) continue;
    below.push(index);
    widths[index] = 0;
  }
  const descriptionWidth = room();
  let x = page.left;
  const shown = columns.flatMap((column, index) => {
    if (below.includes(index)) return [];
    const width = column.id === "description" ? descriptionWidth : (widths[index] ?? 0);
    x += width;
    return [{ ...column, index, x: x - width, width }];
  });
  return { columns: shown, below };
}

function drawTableHead(page: PaperPage, columns: readonly Placed[], table: StructureElement | null): void {
  const lines = columns.map(({ label: name, width }) => page.lines(name, width - 2 * cellPadding, tableHead));
  const height = Math.max(...lines.map((each) => each.length)) * tableHead.leading + 2 * rowPadding;
  page.decoration((doc) => doc.rect(page.left, page.y, page.right - page.left, height).fill(shade));
  const row = table === null ? null : page.group(table, "TR");
  for (const [index, { x, width, isFigure }] of columns.entries()) {
    const at = isFigure ? x + width - cellPadding : x + cellPadding;
    const top = page.y + height - rowPadding - (lines[index]?.length ?? 0) * tableHead.leading;
    if (row === null)
      for (const [line, text] of (lines[index] ?? []).entries())
        page.furniture(text, at, top + line * tableHead.leading, tableHead, isFigure);
    else
      page.text(row, "TH", lines[index] ?? [], at, top, tableHead, {
        isFlushRight: isFigure,
        options: { scope: "Column" },
      });
  }
  row?.end();
  page.y += height;
}

function drawLines(page: PaperPage, sheet: Sheet): void {
  const { columns, below } = placed(page, sheet);
  const totals = totalsHeight(sheet);
  page.need(90);
  const table = page.group(page.root, "Table");
  drawTableHead(page, columns, table);
  for (const [index, { cells, details }] of sheet.rows.entries()) {
    const moved = below.flatMap((at) => {
      const cell = cells[at] ?? "";
      return cell === "" ? [] : [named(sheet.columns[at]?.label ?? "", cell, sheet.language)];
    });
    const texts = columns.map(({ width, id, index: at }) => {
      const inner = width - 2 * cellPadding;
      return {
        lines: page.lines(cells[at] ?? "", inner + 0.01, body),
        details:
          id === "description" ? [...moved, ...details].flatMap((detail) => page.lines(detail, inner, small)) : [],
      };
    });
    const height =
      Math.max(...texts.map((text) => text.lines.length * body.leading + text.details.length * small.leading)) +
      2 * rowPadding;
    // Totals never stand alone on a page: the last line goes with them.
    const isLast = index === sheet.rows.length - 1;
    if (page.y + height + (isLast ? totals : 0) > page.bottom) {
      page.newPage();
      drawTableHead(page, columns, null);
    }
    const row = page.group(table, "TR");
    for (const [at, { x, width, isFigure }] of columns.entries()) {
      const text = texts[at];
      if (text === undefined) continue;
      const edge = isFigure ? x + width - cellPadding : x + cellPadding;
      const top = page.y + rowPadding;
      const cell = page.group(row, "TD");
      const used = page.text(cell, "P", text.lines, edge, top, body, { isFlushRight: isFigure });
      if (text.details.length > 0) page.text(cell, "P", text.details, edge, top + used, small);
      cell.end();
    }
    row.end();
    page.y += height;
    page.horizontal(page.y, page.left, page.right, 0.4);
  }
  table.end();
  if (sheet.rows.length === 0) {
    page.text(
      page.root,
      "P",
      page.lines(sheet.noLines, page.right - page.left, body),
      page.left + cellPadding,
      page.y + 8,
      body,
    );
    page.y += 28;
  }
  drawTotals(page, sheet);
}

const totalsHeight = ({ totals }: Sheet): number =>
  totals.length === 0 ? 0 : 10 + (totals.length - 1) * 15 + 12 + grand.leading;

function drawTotals(page: PaperPage, sheet: Sheet): void {
  if (sheet.totals.length === 0) return;
  page.need(totalsHeight(sheet));
  page.y += 10;
  const edge = page.right - cellPadding;
  const typeOf = (index: number): Type => (index === sheet.totals.length - 1 ? grand : body);
  const valueWidth = Math.max(...sheet.totals.map(({ value }, index) => page.widthOf(value, typeOf(index))));
  const labelEdge = edge - valueWidth - 22;
  const list = page.group(page.root, "Sect");
  for (const [index, { label: name, value }] of sheet.totals.entries()) {
    const isGrand = index === sheet.totals.length - 1;
    const type = typeOf(index);
    if (isGrand && sheet.totals.length > 1) {
      page.horizontal(page.y + 3, labelEdge - 90, page.right, 0.8);
      page.y += 8;
    }
    page.text(list, "P", [lineOf(name)], labelEdge, page.y, type, { isFlushRight: true });
    page.text(list, "P", [lineOf(value)], edge, page.y, type, { isFlushRight: true });
    page.y += isGrand ? type.leading : 15;
  }
  list.end();
}

/** Lines of a text that stay together at the end and at the begin of a page. */
const together = 2;

function drawRemarks(page: PaperPage, { remarks }: Sheet): void {
  for (const { heading: headingText, text } of remarks) {
    page.y += 14;
    const lines = page.lines(text, page.right - page.left, body);
    page.need((headingText === null ? 0 : label.leading + 2) + Math.min(lines.length, together + 1) * body.leading);
    const section = page.group(page.root, "Sect");
    if (headingText !== null)
      page.y += page.text(section, "H2", page.lines(headingText, 300, label), page.left, page.y, label) + 2;
    for (let start = 0; start < lines.length;) {
      const left = lines.length - start;
      let room = Math.floor((page.bottom - page.y) / body.leading);
      if (room < left && left - room < together) room = left - together;
      if (room < 1) {
        page.newPage();
        continue;
      }
      const part = lines.slice(start, start + room);
      page.y += page.text(section, "P", part, page.left, page.y, body, { right: page.right });
      start += part.length;
    }
    section.end();
  }
}
