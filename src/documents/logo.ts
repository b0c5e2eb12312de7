/**
 * A shop's logo: PNG, JPEG, or SVG made of paths, checked before it is stored. What is stored can be drawn, and opens
 * to no more than it shows: a small file that unpacks to a huge picture is refused.
 */
import { inflateSync } from "node:zlib";
import type { Logo } from "../core/supplier/document-settings.ts";

/** Bytes of a logo's file. */
export const logoBytesMax = 262_144;

/** Pixels of a logo: 1,000 by 1,000, say. */
export const logoPixelsMax = 1_000_000;

/** Bytes of a PNG's pixels, unpacked. */
export const logoUnpackedBytesMax = 4_194_304;

/** A logo that cannot be used; the message says why and what to do. */
export class LogoError extends Error {
  override readonly name = "LogoError";
}

interface Size {
  readonly width: number;
  readonly height: number;
}

/** The logo in this file. @throws LogoError when it cannot be used. */
export function logoFrom(base64: string): Logo {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) throw new LogoError("must be base64");
  const bytes = Buffer.from(base64, "base64");
  if (bytes.length > logoBytesMax)
    throw new LogoError(`has ${bytes.length} bytes; at most ${logoBytesMax}. Save it smaller`);
  const { contentType, width, height } = read(bytes);
  if (width < 1 || height < 1) throw new LogoError("is empty");
  if (contentType !== "image/svg+xml" && width * height > logoPixelsMax)
    throw new LogoError(`has ${width} × ${height} pixels; at most ${logoPixelsMax} in all. Save it smaller`);
  if (contentType === "image/png") checkPixels(bytes, { width, height });
  return { contentType, base64, width, height };
}

function read(bytes: Buffer): Pick<Logo, "contentType" | "width" | "height"> {
  if (bytes.subarray(0, 8).equals(pngSignature)) return { contentType: "image/png", ...pngSize(bytes) };
  if (bytes[0] === 0xff && bytes[1] === 0xd8) return { contentType: "image/jpeg", ...jpegSize(bytes) };
  if (/^\uFEFF?\s*</.test(bytes.toString("utf8", 0, 200))) {
    const { width, height } = svgPaths(bytes.toString("utf8"));
    return { contentType: "image/svg+xml", width, height };
  }
  throw new LogoError("must be a PNG, a JPEG or an SVG");
}

// PNG.

const pngSignature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

const damagedPng = (): LogoError => new LogoError("is a damaged PNG");

function pngSize(bytes: Buffer): Size {
  if (bytes.length < 33 || bytes.toString("latin1", 12, 16) !== "IHDR") throw damagedPng();
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

/** The colour type of pixels that are numbers in a palette. */
const indexed = 3;

/** Channels by colour type. */
const channels: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

/** Each row of pixels begins with the number of its filter. */
const filterMax = 4;

/** Unpacks the pixels: there must be as many as the head says, and no more. */
function checkPixels(bytes: Buffer, { width, height }: Size): void {
  const depth = bytes[24] ?? 0;
  const perPixel = channels[bytes[25] ?? -1];
  if (perPixel === undefined || ![1, 2, 4, 8, 16].includes(depth)) throw damagedPng();
  if (bytes[28] !== 0) throw new LogoError("is an interlaced PNG. Save it without interlacing");
  const rowBytes = 1 + Math.ceil((width * perPixel * depth) / 8);
  const unpackedBytes = height * rowBytes;
  if (unpackedBytes > logoUnpackedBytesMax)
    throw new LogoError(`unpacks to ${unpackedBytes} bytes; at most ${logoUnpackedBytesMax}. Save it smaller`);
  const data: Buffer[] = [];
  let hasEnded = false;
  let hasPalette = bytes[25] !== indexed;
  for (let at = 8; at + 12 <= bytes.length && !hasEnded;) {
    const length = bytes.readUInt32BE(at);
    const type = bytes.toString("latin1", at + 4, at + 8);
    if (at + 12 + length > bytes.length) throw damagedPng();
    hasPalette ||= type === "PLTE";
    if (type === "IDAT") data.push(bytes.subarray(at + 8, at + 8 + length));
    hasEnded = type === "IEND";
    at += 12 + length;
  }
  if (!hasEnded || !hasPalette) throw damagedPng();
  let unpacked: Buffer;
  try {
    unpacked = inflateSync(Buffer.concat(data), { maxOutputLength: unpackedBytes });
  } catch {
    throw damagedPng();
  }
  if (unpacked.length !== unpackedBytes) throw damagedPng();
  for (let row = 0; row < unpackedBytes; row += rowBytes) if ((unpacked[row] ?? 0) > filterMax) throw damagedPng();
}

// JPEG.

/** The head of a frame: every SOF marker but DHT, JPG and DAC, which are among their numbers. */
const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;

function jpegSize(bytes: Buffer): Size {
  for (let at = 2; at + 9 < bytes.length;) {
    if (bytes[at] !== 0xff) break;
    const marker = bytes[at + 1] ?? 0;
    if (isFrame(marker)) {
      if (!bytes.subarray(-64).includes(Buffer.from([0xff, 0xd9]))) break;
      return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
    }
    at += marker === 0xff ? 1 : 2 + bytes.readUInt16BE(at + 2);
  }
  throw new LogoError("is a damaged JPEG");
}

// SVG.

/** A shape of an SVG. */
interface SvgPath {
  readonly data: string;
  /** `#rrggbb`. */
  readonly fill: string;
  readonly isEvenOdd: boolean;
}

/** An SVG that is made of paths. */
interface SvgPaths extends Size {
  readonly x: number;
  readonly y: number;
  readonly paths: readonly SvgPath[];
}

const pathsMax = 200;

/** Numbers of an SVG, in units of its view box. pdfkit writes none that is larger by far. */
const largestNumber = 1_000_000;

const numbers = /[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?/gi;

const onlyPaths = "Convert text and shapes to paths, or save it as PNG";

/** Elements that draw nothing. */
const silent: ReadonlySet<string> = new Set(["title", "desc", "defs", "metadata"]);

const attribute = (tag: string, name: string): string | null =>
  new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`)
    .exec(tag)
    ?.slice(1)
    .find((value) => value !== undefined) ?? null;

const colors: Readonly<Record<string, string>> = { black: "#000000", white: "#ffffff", currentcolor: "#000000" };

/** The colour as pdf.ts draws it. @throws LogoError for others than #rgb, #rrggbb, black and white. */
function colorOf(value: string): string {
  const known = colors[value.toLowerCase()];
  if (known !== undefined) return known;
  if (/^#[0-9a-f]{6}$/i.test(value)) return value;
  if (/^#[0-9a-f]{3}$/i.test(value)) return value.replaceAll(/[0-9a-f]/gi, "$&$&");
  throw new LogoError(`has the colour ${value.slice(0, 40)}. Write colours as #rrggbb`);
}

/**
 * The tags of an SVG without its comments and instructions, in one pass. @throws LogoError for entities and document
 * types.
 */
function tagsOf(source: string): readonly string[] {
  const tags: string[] = [];
  const refuse = (): never => {
    throw new LogoError("is an SVG with entities or a document type. Save it without them");
  };
  const after = (mark: string, from: number): number => {
    const end = source.indexOf(mark, from);
    if (end === -1) throw new LogoError("is a damaged SVG: a tag or comment has no end");
    return end + mark.length;
  };
  for (let at = 0; at < source.length;) {
    const open = source.indexOf("<", at);
    if (source.slice(at, open === -1 ? undefined : open).includes("&")) refuse();
    if (open === -1) break;
    if (source.startsWith("<!--", open)) at = after("-->", open + 4);
    else if (source.startsWith("<?", open)) at = after("?>", open + 2);
    else {
      at = after(">", open);
      const tag = source.slice(open, at);
      if (tag.startsWith("<!") || tag.includes("&")) refuse();
      tags.push(tag);
    }
  }
  return tags;
}

/** The paths of an SVG. @throws LogoError when it has anything else that draws. */
export function svgPaths(source: string): SvgPaths {
  const tags = tagsOf(source);
  const [root = ""] = tags;
  if (!/^<svg[\s>]/.test(root)) throw new LogoError("must be an SVG whose first element is svg");
  // A browser draws none without it.
  if (attribute(root, "xmlns") !== "http://www.w3.org/2000/svg")
    throw new LogoError('must be an SVG with xmlns="http://www.w3.org/2000/svg"');
  const viewBox = (attribute(root, "viewBox") ?? "")
    .trim()
    .split(/[\s,]+/)
    .map(Number);
  const [x = Number.NaN, y = Number.NaN, width = Number.NaN, height = Number.NaN] = viewBox;
  if (![x, y, width, height].every((each) => Math.abs(each) <= largestNumber) || viewBox.length !== 4)
    throw new LogoError("is an SVG without a viewBox of four numbers");
  const paths: SvgPath[] = [];
  // Fills of the groups around.
  const fills: string[] = [attribute(root, "fill") ?? "black"];
  let silence = 0;
  for (const tag of tags.slice(1)) {
    const [, closes = "", name = ""] = /^<(\/?)([\w:-]+)/.exec(tag) ?? [];
    const isOpen = closes === "" && !tag.endsWith("/>");
    if (silent.has(name)) {
      silence += isOpen ? 1 : closes === "/" ? -1 : 0;
      continue;
    }
    if (silence > 0) continue;
    if (/\s(?:transform|style|class|filter|mask|clip-path|stroke|opacity|fill-opacity)\s*=/.test(tag))
      throw new LogoError(`has an SVG attribute that is not drawn here. ${onlyPaths}`);
    if (name === "g") {
      if (isOpen) fills.push(attribute(tag, "fill") ?? fills.at(-1) ?? "black");
      else if (closes === "/") fills.pop();
      continue;
    }
    if (name === "svg" && closes === "/") continue;
    if (name !== "path") throw new LogoError(`has an SVG element ${name.slice(0, 40)}. ${onlyPaths}`);
    if (closes === "/") continue;
    const data = attribute(tag, "d") ?? "";
    if (!/^\s*[Mm][MmZzLlHhVvCcSsQqTtAa0-9eE+\-.,\s]*$/.test(data)) throw new LogoError("has an SVG path without data");
    if ((data.match(numbers) ?? []).some((each) => Math.abs(Number(each)) > largestNumber))
      throw new LogoError(`has an SVG path with a number above ${largestNumber}`);
    const fill = attribute(tag, "fill") ?? fills.at(-1) ?? "black";
    if (fill === "none") continue;
    paths.push({ data, fill: colorOf(fill), isEvenOdd: attribute(tag, "fill-rule") === "evenodd" });
  }
  if (paths.length === 0) throw new LogoError(`is an SVG without paths. ${onlyPaths}`);
  if (paths.length > pathsMax) throw new LogoError(`has ${paths.length} SVG paths; at most ${pathsMax}`);
  return { x, y, width, height, paths };
}
