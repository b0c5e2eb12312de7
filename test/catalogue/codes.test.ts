/** Codes are compared by one table of rules (C52). */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import * as fc from "fast-check";
import {
  type CarriedCodes,
  type CodeMatch,
  codeKey,
  codeMatch,
  gtinOf,
  scannedCode,
} from "../../src/core/goods/codes.ts";
import { formsOfCode } from "../../src/shop/code-forms.ts";

type Carried = Partial<CarriedCodes>;

/** What is carried, what is scanned, and what that counts; null: no match. */
const scans: readonly (readonly [
  rule: string,
  carried: Carried,
  scanned: string,
  expected: readonly [CodeMatch["matchedBy"], number, CodeMatch["countsAsReason"]] | null,
])[] = [
  ["as it is", { barcode: "4006381333931" }, "4006381333931", ["barcode", 1, "piece"]],
  ["12 digits scanned as 13", { barcode: "036000291452" }, "0036000291452", ["barcode", 1, "piece"]],
  ["13 digits scanned as 12", { barcode: "0036000291452" }, "036000291452", ["barcode", 1, "piece"]],
  ["13 digits scanned as 14", { barcode: "4006381333931" }, "04006381333931", ["barcode", 1, "piece"]],
  ["8 digits scanned as 14", { barcode: "96385074" }, "00000096385074", ["barcode", 1, "piece"]],
  ["blanks around what is scanned", { barcode: "4006381333931" }, " 4006381333931\t", ["barcode", 1, "piece"]],
  ["blanks around what is carried", { barcode: " 4006381333931 " }, "4006381333931", ["barcode", 1, "piece"]],
  ["another case", { sku: "TEA-1" }, "tea-1", ["sku", 1, "piece"]],
  ["another case beyond A to Z", { sku: "Grün-1" }, "GRÜN-1", ["sku", 1, "piece"]],
  ["a supplier's SKU", { supplierSku: "ro-9" }, "RO-9", ["supplierSku", 1, "piece"]],
  ["a wrong check digit makes no GTIN", { barcode: "0036000291453" }, "036000291453", null],
  ["and is compared as a text", { barcode: "036000291453" }, "036000291453", ["barcode", 1, "piece"]],
  ["nothing is padded that is no GTIN", { sku: "0001" }, "1", null],
  ["an element string", { barcode: "4006381333931" }, "0104006381333931", ["barcode", 1, "piece"]],
  ["with what a scanner says before it", { barcode: "4006381333931" }, "]C10104006381333931", ["barcode", 1, "piece"]],
  ["of a data matrix", { barcode: "4006381333931" }, "]d20104006381333931", ["barcode", 1, "piece"]],
  ["of a QR code", { barcode: "4006381333931" }, "]Q30104006381333931", ["barcode", 1, "piece"]],
  ["of a plain EAN", { barcode: "4006381333931" }, "]E04006381333931", ["barcode", 1, "piece"]],
  ["of a plain EAN of 8 digits", { barcode: "96385074" }, "]E496385074", ["barcode", 1, "piece"]],
  ["of a plain Code 128", { sku: "TEA-1" }, "]C0tea-1", ["sku", 1, "piece"]],
  [
    "of a QR code with a Digital Link",
    { barcode: "4006381333931" },
    "]Q1https://id.gs1.org/01/04006381333931",
    ["barcode", 1, "piece"],
  ],
  ["of a data bar", { barcode: "4006381333931" }, "]e00104006381333931", ["barcode", 1, "piece"]],
  [
    "with lot, expiry and FNC1 as GS",
    { barcode: "4006381333931" },
    "\u001d010400638133393110LOT7\u001d17271231",
    ["barcode", 1, "piece"],
  ],
  ["with FNC1 as ^", { barcode: "4006381333931" }, "^010400638133393110LOT7^17271231", ["barcode", 1, "piece"]],
  ["as people read it", { barcode: "4006381333931" }, "(01)04006381333931(10)LOT7", ["barcode", 1, "piece"]],
  ["an element string with a wrong check digit", { barcode: "4006381333932" }, "0104006381333932", null],
  [
    "a Digital Link",
    { barcode: "4006381333931" },
    "https://id.gs1.org/01/04006381333931/10/LOT7?17=271231",
    ["barcode", 1, "piece"],
  ],
  [
    "a Digital Link below a path",
    { barcode: "036000291452" },
    "http://brand.example/shop/01/00036000291452",
    ["barcode", 1, "piece"],
  ],
  [
    "the supplier's barcode of a pack",
    { supplierBarcode: "8719001002013", packSize: 12 },
    "8719001002013",
    ["supplierBarcode", 12, "pack"],
  ],
  [
    "the supplier's barcode without a pack",
    { supplierBarcode: "8719001002013" },
    "8719001002013",
    ["supplierBarcode", 1, "piece"],
  ],
  [
    "the same barcode of article and supplier is a piece",
    { barcode: "8719001002013", supplierBarcode: "8719001002013", packSize: 12 },
    "8719001002013",
    ["barcode", 1, "piece"],
  ],
  ["a case", { barcode: "4006381333931", packSize: 12 }, "14006381333938", ["barcode", 12, "pack"]],
  [
    "a case in an element string",
    { barcode: "4006381333931", packSize: 12 },
    "0114006381333938",
    ["barcode", 12, "pack"],
  ],
  ["a case of unknown size", { barcode: "4006381333931" }, "14006381333938", ["barcode", 1, "unknown-pack"]],
  [
    "a case that is the line's own barcode",
    { barcode: "14006381333938", packSize: 12 },
    "14006381333938",
    ["barcode", 1, "piece"],
  ],
  ["what is weighed is no case", { barcode: "4006381333931", packSize: 12 }, "94006381333934", null],
  ["a count of pieces", { barcode: "4006381333931" }, "010400638133393130144", ["barcode", 144, "count"]],
  ["a count of cases", { barcode: "4006381333931", packSize: 12 }, "02140063813339383705", ["barcode", 60, "count"]],
  ["another code", { barcode: "4006381333931", sku: "TEA-1" }, "TEA-2", null],
  ["an empty scan", { barcode: "4006381333931" }, "  ", null],
];

const nothing: CarriedCodes = {
  barcode: null,
  supplierBarcode: null,
  sku: null,
  supplierSku: null,
  packSize: null,
};

suite("codes:", () => {
  for (const [rule, carried, scanned, expected] of scans)
    test(rule, () => {
      const match = codeMatch(scannedCode(scanned), { ...nothing, ...carried });
      assert.deepEqual(match === null ? null : [match.matchedBy, match.countsAs, match.countsAsReason], expected);
    });
});

test("lot and expiry are read from element strings and links", () => {
  const read = (text: string) => {
    const { gtin, lot, expiresOn } = scannedCode(text);
    return [gtin, lot, expiresOn];
  };
  const gtin = "04006381333931";
  assert.deepEqual(read("]C1010400638133393110AB-1\u001d17271200"), [gtin, "AB-1", "2027-12-31"]);
  assert.deepEqual(read("(01)04006381333931(15)270228(10)A1"), [gtin, "A1", "2027-02-28"]);
  assert.deepEqual(read("https://x.example/01/4006381333931/10/A%2F1?15=270228"), [gtin, "A/1", "2027-02-28"]);
  assert.deepEqual(read("(01)04006381333931(17)271399"), [gtin, null, null]);
  assert.deepEqual(read("https://x.example/about"), [null, null, null]);
});

const codes = fc.oneof(
  fc.string({ unit: fc.constantFrom("0", "1", "7", "a", "A", "-", "ü"), minLength: 1, maxLength: 14 }),
  fc.nat({ max: 999_999 }).map((number) => {
    const digits = String(number).padStart(7, "0");
    return [...Array(10).keys()].map((digit) => `${digits}${digit}`).find((each) => gtinOf(each) !== null) ?? "";
  }),
);

test("whatever is the same code is found among the forms that are looked for, and nothing else is", () => {
  const lowered = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  fc.assert(
    fc.property(codes, fc.integer({ min: 0, max: 6 }), fc.constantFrom("as", "up", "down"), (code, zeros, how) => {
      const padded = gtinOf(code) === null ? code : `${"0".repeat(zeros)}${code}`;
      const stored = how === "up" ? padded.toUpperCase() : how === "down" ? padded.toLowerCase() : padded;
      const isSame = codeKey(stored) === codeKey(code);
      assert.equal(formsOfCode(code).includes(lowered(stored)), isSame);
    }),
  );
});
