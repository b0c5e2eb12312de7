/**
 * Codes of goods as they are compared (C52): SKUs, barcodes, suppliers' codes, and what a scanner reads. Pure.
 *
 * Owns: which codes are the same, and what GS1 element strings and Digital Links say. Does not own: where codes are
 * looked for (shop/order/open-lines.ts, shop/catalogue/look-ups.ts). The console counts by the same file, the only one
 * of the service that it has: it imports nothing.
 *
 * Glossary:
 * - GTIN: a number of 8, 12, 13 or 14 digits with a check digit. With zeros before it to 14 digits it is one number,
 *   however it is printed.
 * - packaging level: the first of 14 digits. 1 to 8 stand for a case or a pallet of the article whose number follows; 9
 *   for goods that are weighed.
 */

const gtinLengths: ReadonlySet<number> = new Set([8, 12, 13, 14]);
const gtinLength = 14;

/** The check digit of the digits before it. */
function checkDigit(digits: string): number {
  let sum = 0;
  for (let index = 0; index < digits.length; index += 1)
    sum += Number(digits[digits.length - 1 - index]) * (index % 2 === 0 ? 3 : 1);
  return (10 - (sum % 10)) % 10;
}

/** The GTIN with 14 digits; null: it is none, or its check digit is wrong. */
export function gtinOf(text: string): string | null {
  if (!gtinLengths.has(text.length) || !/^\d+$/.test(text)) return null;
  return checkDigit(text.slice(0, -1)) === Number(text.slice(-1)) ? text.padStart(gtinLength, "0") : null;
}

/** Returns the form in which codes are compared: codes with the same key are the same. */
export function codeKey(code: string): string {
  const trimmed = code.trim();
  return gtinOf(trimmed) ?? trimmed.toLowerCase();
}

/** The GTIN of what is in a case; null: the GTIN is not that of a case. */
function gtinWithin(gtin: string): string | null {
  if (!/^[1-8]/.test(gtin)) return null;
  const digits = `0${gtin.slice(1, -1)}`;
  return `${digits}${checkDigit(digits)}`;
}

/** A code as scanned or typed. */
export interface ScannedCode {
  /** Keys of codes that it may stand for, the most certain first. */
  readonly keys: readonly string[];
  /** With 14 digits. Null: it has none. */
  readonly gtin: string | null;
  /** The key of the article in the case that it stands for; null: it does not stand for a case. */
  readonly keyWithin: string | null;
  /**
   * Number of pieces (`items`), or of articles of this GTIN (`units`), that the code stands for. Null: it does not say.
   */
  readonly count: { readonly of: "items" | "units"; readonly quantity: number } | null;
  readonly lot: string | null;
  /** A day: when it must be used by, else when it is best before. */
  readonly expiresOn: string | null;
}

type Elements = ReadonlyMap<string, string>;

const noElements: Elements = new Map();

/**
 * Digits of an identifier, and of values of fixed length in element strings, by the first two digits of the identifier.
 */
const fixedLengths: Readonly<Record<string, readonly [identifier: number, value: number]>> = {
  "00": [2, 18],
  "01": [2, 14],
  "02": [2, 14],
  "03": [2, 14],
  "04": [2, 16],
  "11": [2, 6],
  "12": [2, 6],
  "13": [2, 6],
  "14": [2, 6],
  "15": [2, 6],
  "16": [2, 6],
  "17": [2, 6],
  "18": [2, 6],
  "19": [2, 6],
  "20": [2, 2],
  "31": [4, 6],
  "32": [4, 6],
  "33": [4, 6],
  "34": [4, 6],
  "35": [4, 6],
  "36": [4, 6],
  "41": [3, 13],
};

/** Digits of the other identifiers, by their first two. */
const identifierLengths: Readonly<Record<string, number>> = {
  "10": 2,
  "21": 2,
  "22": 2,
  "23": 3,
  "24": 3,
  "25": 3,
  "30": 2,
  "37": 2,
  "39": 4,
  "40": 3,
  "42": 3,
  "43": 4,
  "70": 4,
  "71": 3,
  "72": 4,
  "80": 4,
  "81": 4,
  "82": 4,
  ...Object.fromEntries(Array.from({ length: 10 }, (_, digit) => [`9${digit}`, 2])),
};

/** FNC1 as scanners send it, GS, and as it is typed. */
const groupSeparator = "\u001d";
const fnc1 = "^";

/** Prefix of a symbol that a scanner sends: its symbology, of element strings, and FNC1. */
const symbology = /^(?:\](?:C1|d2|Q3|e0))?\^?/;

/** Prefix of a symbol that has a plain code: UPC and EAN, Code 128, ITF, Data Matrix, QR. */
const plainSymbology = /^\](?:E\d|C0|I\d|d1|Q1)/;

/** The elements of a string that is written without brackets. What is not understood ends it. */
function plainElements(text: string): Elements {
  const elements = new Map<string, string>();
  let rest = text;
  while (rest !== "") {
    const [identifier, value] = fixedLengths[rest.slice(0, 2)] ?? [identifierLengths[rest.slice(0, 2)] ?? 0, 0];
    if (identifier === 0 || rest.length <= identifier) break;
    const separator = rest.indexOf(fnc1);
    const end = value > 0 ? identifier + value : separator < 0 ? rest.length : separator;
    const found = rest.slice(identifier, end);
    if (found.length < value || found === "") break;
    elements.set(rest.slice(0, identifier), found);
    rest = rest.slice(rest[end] === fnc1 ? end + 1 : end);
  }
  return elements;
}

/** The elements of a string as people read it: `(01)04006381333931(10)ABC`. */
const bracketedElements = (text: string): Elements =>
  new Map([...text.matchAll(/\((\d{2,4})\)([^(]+)/g)].map(([, identifier = "", value = ""]) => [identifier, value]));

/** Undoes `%2F` and the like, of what a lot may have. */
const decoded = (text: string): string =>
  text.replace(/%([2-7][0-9a-f])/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));

/** The elements of a Digital Link: `https://example.com/01/04006381333931/10/ABC?17=271231`. */
function linkElements(uri: string): Elements {
  const [, path = "", query = ""] = /^https?:\/\/[^/?#]+([^?#]*)(?:\?([^#]*))?/i.exec(uri) ?? [];
  const segments = path.split("/");
  const from = segments.findIndex((segment, index) => segment === "01" && /^\d{8,14}$/.test(segments[index + 1] ?? ""));
  if (from < 0) return noElements;
  const elements = new Map<string, string>();
  for (let index = from; index + 1 < segments.length; index += 2)
    elements.set(segments[index] ?? "", decoded(segments[index + 1] ?? ""));
  for (const part of query.split(/[&;]/)) {
    const [name = "", value = ""] = part.split("=");
    if (/^\d{2,4}$/.test(name)) elements.set(name, decoded(value));
  }
  return elements;
}

function elementsOf(text: string): Elements {
  if (/^https?:\/\//i.test(text)) return linkElements(text);
  const element = text.replace(symbology, "");
  if (element.startsWith("(")) return bracketedElements(element);
  const elements = plainElements(element);
  // Without a symbology any number may look like one: the check digit of a GTIN tells.
  const isCoded = element !== text || gtinOf(elements.get("01") ?? elements.get("02") ?? "") !== null;
  return isCoded ? elements : noElements;
}

/** `YYMMDD` as a day; the 0th is the last of the month. Null: there is no such day. */
function dayOf(value: string | undefined): string | null {
  const [, year, month, day] = /^(\d\d)(\d\d)(\d\d)$/.exec(value ?? "") ?? [];
  if (year === undefined || month === undefined || day === undefined) return null;
  const lastDay = new Date(Date.UTC(2000 + Number(year), Number(month), 0)).getUTCDate();
  if (Number(month) < 1 || Number(month) > 12 || Number(day) > lastDay) return null;
  return `20${year}-${month}-${day === "00" ? String(lastDay) : day}`;
}

function countIn(elements: Elements): ScannedCode["count"] {
  for (const [identifier, of] of [
    ["37", "units"],
    ["30", "items"],
  ] as const) {
    const value = elements.get(identifier) ?? "";
    if (/^\d{1,8}$/.test(value) && Number(value) > 0) return { of, quantity: Number(value) };
  }
  return null;
}

/** Reads a code as a scanner sends it, or a person types it. */
export function scannedCode(text: string): ScannedCode {
  const trimmed = text.trim().replace(plainSymbology, "").replaceAll(groupSeparator, fnc1);
  const elements = elementsOf(trimmed);
  const named = elements.get("01") ?? elements.get("02") ?? null;
  const gtin = gtinOf(trimmed) ?? (named === null ? null : gtinOf(named.padStart(gtinLength, "0")));
  const symbol = trimmed.replace(symbology, "");
  return {
    keys: [...new Set([codeKey(trimmed), codeKey(symbol), ...(gtin === null ? [] : [gtin])])].filter(
      (key) => key !== "",
    ),
    gtin,
    keyWithin: gtin === null ? null : gtinWithin(gtin),
    count: gtin === null ? null : countIn(elements),
    lot: elements.get("10") ?? null,
    expiresOn: dayOf(elements.get("17")) ?? dayOf(elements.get("15")),
  };
}

/** The codes that an article or a line carries. */
export interface CarriedCodes {
  readonly barcode: string | null;
  readonly supplierBarcode: string | null;
  readonly sku: string | null;
  readonly supplierSku: string | null;
  /** Pieces of one pack; null: nobody knows. */
  readonly packSize: number | null;
}

/** The members that a code is looked for in, the most certain first. */
export const matchedBys = ["barcode", "supplierBarcode", "sku", "supplierSku"] as const;

/**
 * Reasons for the count of a scan: one piece, one pack, the number in the code, or a pack of unknown size, which counts
 * one.
 */
export const countsAsReasons = ["piece", "pack", "count", "unknown-pack"] as const;

/** Where a scan has matched, and how many pieces one scan is. */
export interface CodeMatch {
  /** Below that of another match: the more certain one. */
  readonly rank: number;
  readonly matchedBy: (typeof matchedBys)[number];
  readonly countsAs: number;
  readonly countsAsReason: (typeof countsAsReasons)[number];
}

function counted(
  match: Pick<CodeMatch, "matchedBy" | "rank">,
  isPack: boolean,
  packSize: number | null,
  count: ScannedCode["count"],
): CodeMatch {
  if (count?.of === "items") return { ...match, countsAs: count.quantity, countsAsReason: "count" };
  const isKnown = packSize !== null && packSize > 0;
  const unit = isPack && isKnown ? packSize : 1;
  if (isPack && !isKnown) return { ...match, countsAs: count?.quantity ?? 1, countsAsReason: "unknown-pack" };
  if (count !== null) return { ...match, countsAs: unit * count.quantity, countsAsReason: "count" };
  return { ...match, countsAs: unit, countsAsReason: unit > 1 ? "pack" : "piece" };
}

/**
 * Returns how a scan matches these codes, and the number of pieces that it counts; null when it matches none.
 *
 * Source: C52.
 */
export function codeMatch(scan: ScannedCode, carried: CarriedCodes): CodeMatch | null {
  const { packSize } = carried;
  for (const [rank, matchedBy] of matchedBys.entries()) {
    const code = carried[matchedBy];
    if (code === null || !scan.keys.includes(codeKey(code))) continue;
    const isPack =
      matchedBy === "supplierBarcode" && ((packSize ?? 1) > 1 || (packSize === null && scan.keyWithin !== null));
    return counted({ matchedBy, rank }, isPack, packSize, scan.count);
  }
  const { keyWithin } = scan;
  if (keyWithin === null) return null;
  for (const [index, matchedBy] of matchedBys.entries()) {
    const code = carried[matchedBy];
    if (code !== null && codeKey(code) === keyWithin)
      return counted({ matchedBy, rank: matchedBys.length + index }, true, packSize, scan.count);
  }
  return null;
}
