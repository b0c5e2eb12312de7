/**
 * The operator's font (`OPENPO_DOCUMENT_FONT`): what Noto Sans lacks is printed with it and reads back, and a file that is no font ends the start with its
 * name.
 *
 * The font is made here: Noto Sans with a `cmap` that gives two of its glyphs to cuneiform signs, which no other font of documents has.
 *
 * Only on sqlite: how documents are drawn does not depend on the engine.
 */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { fontFault, loadFonts, missingIn } from "../../src/documents/fonts.ts";
import { pdfOf } from "../../src/documents/pdf.ts";
import { sheetOf } from "../../src/documents/sheet.ts";
import { contentWith } from "../support/pages/document-content.ts";
import { textOf, noPoppler } from "../support/pages/poppler.ts";
import { runProgram, serveProgram, withDirectory } from "../support/process.ts";

const fonts = path.join(import.meta.dirname, "../../src/documents/fonts");
const shipped = path.join(fonts, "NotoSans-Regular.ttf");

/** A `cmap` table (format 12) with these characters. */
function cmapOf(glyphs: ReadonlyMap<number, number>): Buffer {
  const groups = [...glyphs].toSorted(([one], [two]) => one - two);
  const table = Buffer.alloc(12 + 16 + groups.length * 12);
  table.writeUInt16BE(1, 2); // one subtable
  table.writeUInt16BE(3, 4); // Windows
  table.writeUInt16BE(10, 6); // all of Unicode
  table.writeUInt32BE(12, 8);
  table.writeUInt16BE(12, 12);
  table.writeUInt32BE(16 + groups.length * 12, 16);
  table.writeUInt32BE(groups.length, 24);
  for (const [index, [code, glyph]] of groups.entries()) {
    table.writeUInt32BE(code, 28 + index * 12);
    table.writeUInt32BE(code, 32 + index * 12);
    table.writeUInt32BE(glyph, 36 + index * 12);
  }
  return table;
}

/** The font with another `cmap`, which stands at the end of the file. */
function withCmap(font: Buffer, cmap: Buffer): Buffer {
  const start = Math.ceil(font.length / 4) * 4;
  const made = Buffer.concat([font, Buffer.alloc(start - font.length), cmap]);
  for (let table = 0; table < font.readUInt16BE(4); table += 1) {
    const entry = 12 + table * 16;
    const tag = font.toString("latin1", entry, entry + 4);
    // By the sum in `head` fonts of one name are told apart.
    if (tag === "head") made.writeUInt32BE(0x1234_5678, font.readUInt32BE(entry + 8) + 8);
    if (tag !== "cmap") continue;
    made.writeUInt32BE(start, entry + 8);
    made.writeUInt32BE(cmap.length, entry + 12);
  }
  return made;
}

/** A collection of these fonts (`.ttc`). */
function collectionOf(fonts: readonly Buffer[]): Buffer {
  const head = Buffer.alloc(12 + 4 * fonts.length);
  head.write("ttcf", "latin1");
  head.writeUInt32BE(0x0001_0000, 4);
  head.writeUInt32BE(fonts.length, 8);
  let end = head.length;
  const moved = fonts.map((font, index) => {
    const start = end;
    head.writeUInt32BE(start, 12 + 4 * index);
    const padded = Buffer.concat([font, Buffer.alloc((4 - (font.length % 4)) % 4)]);
    for (let table = 0; table < font.readUInt16BE(4); table += 1) {
      const place = 12 + table * 16 + 8;
      padded.writeUInt32BE(font.readUInt32BE(place) + start, place);
    }
    end += padded.length;
    return padded;
  });
  return Buffer.concat([head, ...moved]);
}

const glyphs = new Map([
  [0x12000, 36],
  [0x12001, 40],
]);

const shop = "/admin/v1/shops/shop";

test(
  "what Noto Sans lacks is printed with the operator's font, beside what it has; another character is still refused",
  { skip: noPoppler },
  async () => {
    await withDirectory(async (directory) => {
      const fontFile = `${directory}.ttf`;
      writeFileSync(fontFile, withCmap(readFileSync(shipped), cmapOf(glyphs)));
      const env = { OPENPO_DATA_DIR: directory, OPENPO_DEMO: "0", PORT: "0", OPENPO_LOG_LEVEL: "fatal" };
      const program = await serveProgram({ ...env, OPENPO_DOCUMENT_FONT: fontFile });
      const token = program.adminToken;
      await program.ask("PUT", shop, token, { name: "Shop", currencyCode: "EUR" });
      const key = await program.ask("POST", `${shop}/keys`, token, { name: "bot", scope: "write" });
      const documentOf = async (noteToSupplier: string): Promise<Response> => {
        const made = await program.ask("POST", "/api/v1/purchase-orders", String(key.at("data", "apiKey")), {
          noteToSupplier,
        });
        const id = String(made.at("data", "purchaseOrder", "purchaseOrderId"));
        return await fetch(`${program.url}${shop}/purchase-orders/${id}/document.pdf`, {
          headers: { Authorization: `Bearer ${token}` },
        });
      };
      const printed = await documentOf("Zaręczynowy 𒀀𒀁 Ζωή");
      assert.equal(printed.status, 200);
      assert.match(textOf(new Uint8Array(await printed.arrayBuffer())), /Zaręczynowy 𒀀𒀁 Ζωή/);
      const refused = await documentOf("𒀀𒀂");
      assert.equal(refused.status, 400);
      assert.match(await refused.text(), /𒀂 \(U\+12002\)/);
      assert.equal((await program.end("SIGTERM")).code, 0);
    });
  },
);

test(
  "of a collection the first font is taken, or the one that is named; a name that it has not ends the start with those that it has",
  { skip: noPoppler },
  async () => {
    await withDirectory(async (directory) => {
      const bold = readFileSync(path.join(fonts, "NotoSans-Bold.ttf"));
      const file = `${directory}/both#1.ttc`;
      writeFileSync(file, collectionOf([readFileSync(shipped), withCmap(bold, cmapOf(glyphs))]));
      assert.equal(fontFault(file), null);
      assert.equal(fontFault(`${file}#NotoSans-Bold`), null);
      assert.equal(
        fontFault(`${file}#NotoSansCJKsc-Regular`),
        "has no font NotoSansCJKsc-Regular; it has NotoSans-Regular, NotoSans-Bold",
      );
      assert.equal(fontFault(`${directory}/none.ttc#NotoSans-Bold`), "cannot be read: ENOENT");
      const cut = `${directory}/cut.ttc`;
      writeFileSync(cut, readFileSync(file).subarray(0, -1_000));
      assert.match(String(fontFault(`${cut}#NotoSans-Bold`)), /is cut off/);
      const content = contentWith(1, { noteToSupplier: "Zaręczynowy 𒀀𒀁 Ζωή" });
      assert.equal(missingIn(loadFonts(file), content.noteToSupplier ?? ""), "𒀀");
      const named = loadFonts(`${file}#NotoSans-Bold`);
      assert.equal(missingIn(named, content.noteToSupplier ?? ""), null);
      assert.match(textOf(await pdfOf(sheetOf(content), content.createdAtMs, named)), /Zaręczynowy 𒀀𒀁 Ζωή/);
    });
  },
);

test("a font file that cannot be used ends the start, with the variable, the file and the reason, before anything is made", async () => {
  await withDirectory(async (directory) => {
    const font = readFileSync(shipped);
    const wrong: readonly (readonly [string, Buffer | null, RegExp])[] = [
      ["missing.ttf", null, /cannot be read: ENOENT/],
      ["empty.ttf", Buffer.alloc(0), /is not a TrueType or OpenType font/],
      ["letter.ttf", Buffer.from("Dear Sir"), /is not a TrueType or OpenType font/],
      ["cut.ttf", font.subarray(0, 1_000), /is cut off/],
      ["half.ttf", font.subarray(0, font.length / 2), /is cut off/],
    ];
    for (const [name, bytes, reason] of wrong) {
      const file = `${directory}-${name}`;
      if (bytes !== null) writeFileSync(file, bytes);
      const ended = await runProgram([], {
        OPENPO_DATA_DIR: path.join(directory, "data"),
        OPENPO_DEMO: "0",
        PORT: "0",
        OPENPO_DOCUMENT_FONT: file,
      });
      assert.notEqual(ended.code, 0, name);
      assert.match(ended.stderr, /OPENPO_DOCUMENT_FONT: /, name);
      assert.ok(ended.stderr.includes(file), name);
      assert.match(ended.stderr, reason, name);
      assert.doesNotMatch(ended.stderr, /^ +at /m, "no trace of the program");
    }
  });
});
