/** How a supplier's form is read (C64a). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { quantityToNumber } from "../../src/core/money/money.ts";
import { quantityOf } from "../../src/suppliers/form.ts";

test("a quantity is read as the page of that language writes it", () => {
  for (const [typed, language, expected] of [
    ["1.500", "de", 1_500],
    ["1.500", "es", 1_500],
    ["1.500", "en", 1.5],
    ["1.500", "nl", 1_500],
    ["1,5", "nl", 1.5],
    ["1,500", "en", 1_500],
    ["1,500", "de", 1.5],
    ["1.234.567,5", "de", 1_234_567.5],
    ["1,234.5", "en", 1_234.5],
    ["1\u202f500,25", "fr", 1_500.25],
    ["1 500", "fr", 1_500],
    ["9,5", "de", 9.5],
    ["9.5", "de", 9.5],
    ["9,5", "en", 9.5],
    ["12", "fr", 12],
    ["0", "en", 0],
    ["1.50.0", "de", null],
    ["15.00,1", "de", null],
    ["1,5000.1", "en", null],
    ["1.500", "fr", null],
    ["ten", "en", null],
    ["-1", "en", null],
    ["1e3", "en", null],
    ["", "en", null],
  ] as const) {
    const read = quantityOf(typed, language);
    assert.equal(read === null ? null : quantityToNumber(read), expected, `${typed} in ${language}`);
  }
});
