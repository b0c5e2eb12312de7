/** Which logos are taken (C62). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { crc32, deflateSync } from "node:zlib";
import { loadFonts } from "../../src/documents/fonts.ts";
import { logoBytesMax, LogoError, logoFrom, logoPixelsMax, logoUnpackedBytesMax } from "../../src/documents/logo.ts";
import { pdfOf } from "../../src/documents/pdf.ts";
import { sheetOf } from "../../src/documents/sheet.ts";
import { contentWith } from "../support/pages/document-content.ts";

function chunk(type: string, data: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const body = Buffer.concat([Buffer.from(type), data]);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

/** A PNG in colours with transparency. `rows`: how many it really has. */
function png(width: number, height: number, { rows = height, interlaced = 0, filter = 2 } = {}): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 6, 0, 0, interlaced], 8);
  const pixels = deflateSync(Buffer.alloc(rows * (1 + width * 4), filter));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([signature, chunk("IHDR", head), chunk("IDAT", pixels), chunk("IEND", Buffer.alloc(0))]);
}

/** The head of a JPEG of this size, and its end. */
function jpeg(width: number, height: number): Buffer {
  const frame = Buffer.from([0xff, 0xc0, 0, 17, 8, 0, 0, 0, 0, 3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1]);
  frame.writeUInt16BE(height, 5);
  frame.writeUInt16BE(width, 7);
  return Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0]), frame, Buffer.from([0xff, 0xd9])]);
}

const svg = (inside: string, root = 'viewBox="0 0 20 10"'): Buffer =>
  Buffer.from(`<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" ${root}>${inside}</svg>`);

const read = (bytes: Buffer) => logoFrom(bytes.toString("base64"));

const path = '<path d="M0 0H20V10Z"/>';

test("a PNG, a JPEG and an SVG of paths are taken with their sizes, and drawn", async () => {
  const fonts = loadFonts(null);
  for (const [bytes, contentType, width, height] of [
    [png(300, 100), "image/png", 300, 100],
    [png(1000, 1000), "image/png", 1000, 1000],
    [jpeg(640, 480), "image/jpeg", 640, 480],
    [svg(`<title>t</title><g fill="#abc">${path}<path fill="none" d="M0 0"/></g>`), "image/svg+xml", 20, 10],
  ] as const) {
    const logo = read(bytes);
    assert.deepEqual([logo.contentType, logo.width, logo.height], [contentType, width, height]);
    const bytesOf = await pdfOf(sheetOf(contentWith(1, {}, { logo })), 0, fonts);
    assert.ok(bytesOf.length > 5_000);
  }
});

for (const [what, bytes, message] of [
  ["a file of another kind", Buffer.from("GIF89a..."), /must be a PNG, a JPEG or an SVG/],
  ["more bytes than allowed", Buffer.alloc(logoBytesMax + 1), /has 262145 bytes; at most 262144/],
  ["more pixels than allowed", png(1 + logoPixelsMax / 1_000, 1_000), /has 1001 × 1000 pixels; at most 1000000/],
  ["a JPEG with more pixels", jpeg(4000, 4000), /at most 1000000/],
  ["a PNG that unpacks to more than it shows", png(100, 100, { rows: 40_000 }), /is a damaged PNG/],
  ["a PNG that unpacks to less", png(100, 100, { rows: 99 }), /is a damaged PNG/],
  ["a PNG whose rows begin with what is no filter", png(10, 10, { filter: 5 }), /is a damaged PNG/],
  ["a PNG that is cut off", png(100, 100).subarray(0, -10), /is a damaged PNG/],
  ["an interlaced PNG", png(10, 10, { interlaced: 1 }), /interlaced/],
  ["a JPEG that is cut off", jpeg(10, 10).subarray(0, -2), /is a damaged JPEG/],
  ["an empty PNG", png(0, 10), /is empty/],
  ["an SVG without a view box", svg(path, 'width="3"'), /without a viewBox/],
  [
    "an SVG that a browser does not draw",
    Buffer.from(`<svg viewBox="0 0 1 1">${path}</svg>`),
    /must be an SVG with xmlns/,
  ],
  ["an SVG with text", svg("<text>a</text>"), /has an SVG element text\. Convert/],
  ["an SVG with a script", svg(`${path}<script>1</script>`), /has an SVG element script/],
  ["an SVG with an image from elsewhere", svg('<image href="http://a"/>'), /has an SVG element image/],
  ["an SVG with entities", Buffer.from('<!DOCTYPE svg [<!ENTITY a "b">]><svg viewBox="0 0 1 1"/>'), /entities/],
  ["an SVG with a transform", svg('<path transform="scale(2)" d="M0 0"/>'), /attribute that is not drawn/],
  ["an SVG with a gradient", svg('<path fill="url(#g)" d="M0 0"/>'), /colour url/],
  ["an SVG without paths", svg(""), /without paths/],
  ["an SVG with a number that no PDF can have", svg('<path d="M0 0L1e999 0Z"/>'), /number above 1000000/],
  ["an SVG with a huge view box", svg(path, 'viewBox="0 0 1e300 1"'), /without a viewBox/],
  ["an SVG with too many paths", svg(path.repeat(201)), /has 201 SVG paths; at most 200/],
] as const)
  test(`refused as a logo: ${what}`, () => {
    assert.throws(() => read(bytes), message);
  });

/** Each fills the file with openings that nothing closes: to search from each of them for its end took half a minute. */
for (const [what, opening] of [
  ["comments", "<!--"],
  ["instructions", "<?"],
  ["tags", "<"],
  ["tags of paths", "<path d"],
  ["attributes", "<path d="],
  ["attributes in quotes", "<path d='"],
  ["names", " d"],
  ["entities", "&"],
] as const)
  test(`an SVG full of ${what} without an end is refused`, () => {
    const head = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1">';
    const filling = opening.repeat(Math.floor((logoBytesMax - head.length) / opening.length));
    assert.throws(() => read(Buffer.from(head + filling)), LogoError);
  });

test("a PNG may unpack to 4 MiB, and not to more", () => {
  const depth16 = png(1000, 1000);
  // Sixteen bits a channel: twice the bytes for as many pixels.
  assert.ok(8 * logoPixelsMax > logoUnpackedBytesMax);
  depth16[24] = 16;
  assert.throws(() => read(depth16), /unpacks to 8001000 bytes; at most 4194304/);
});
