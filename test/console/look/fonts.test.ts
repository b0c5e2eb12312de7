/** The console's fonts: each letter for which the style sheet names one is in it, and so are those of Europe's names. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { create } from "fontkit";

const sheet = path.resolve("console/styles/tokens.css");

const opened = (file: string) => {
  const font = create(readFileSync(path.resolve(path.dirname(sheet), file)));
  return "fonts" in font ? assert.fail(`${file} is a collection`) : font;
};

/** Each font of the sheet: its file, and the first and last letters of the ranges it is asked for. */
const fonts = [...readFileSync(sheet, "utf8").matchAll(/src: url\("([^"]+)"\)[^}]*?unicode-range:([^;]+);/g)].map(
  ([, file = "", ranges = ""]) => ({
    file,
    font: opened(file),
    ranges: [...ranges.matchAll(/U\+(\w+)(?:-(\w+))?/g)].map(([, from = "", to = from]) => ({
      from: Number.parseInt(from, 16),
      to: Number.parseInt(to, 16),
    })),
  }),
);

/** True if the browser asks a font for the letter and it has it. */
const isThere = (letter: string): boolean => {
  const code = letter.codePointAt(0) ?? 0;
  const asked = fonts.filter(({ ranges }) => ranges.some(({ from, to }) => from <= code && code <= to));
  return asked.some(({ font }) => font.hasGlyphForCodePoint(code));
};

test("names of Europe's languages are in the console's typeface", () => {
  assert.equal(fonts.length, 2);
  const names = "Łódź Čapek Győr Başak Doğan İnci Ýmir Šťastný Ųžas Ģirts Țărănești Ŵyn Ŀ ẞ Əliyev Đorđe ſ ŋ €₺₽₴";
  const letters = [...new Set(names.replaceAll(" ", ""))];
  assert.deepEqual(
    letters.filter((letter) => !isThere(letter)),
    [],
  );
});

test("the font with further letters has each letter for which it is asked", () => {
  const { font, ranges } =
    fonts.find(({ file }) => file.endsWith("inter-latin-ext.woff2")) ?? assert.fail("it is not there");
  const missing = ranges.flatMap(({ from, to }) =>
    Array.from({ length: to - from + 1 }, (_, nth) => from + nth).filter((code) => !font.hasGlyphForCodePoint(code)),
  );
  assert.deepEqual(
    missing.map((code) => code.toString(16)),
    [],
  );
});
