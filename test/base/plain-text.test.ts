import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { adminOperations } from "../../src/admin/registry.ts";
import { neutralised, neutralisedJson, onOneLine, plainTextProblem } from "../../src/base/text/plain-text.ts";
import { purchaseOrderInput } from "../../src/exchange/records/purchase-orders.ts";
import { recordTypes } from "../../src/exchange/record-types.ts";
import { text, textOfLines } from "../../src/operations/fields.ts";
import { operations } from "../../src/operations/registry.ts";
import { type Schema, stringsOf } from "../support/openapi/schema-values.ts";

const escape = "\u001b[31mred";
const overridden = "\u202eredro";

test("a text of one line has no control characters, no separators of lines and no bidi overrides", () => {
  for (const barred of [
    "\u0000",
    "\t",
    "\n",
    "\r",
    "\u001b",
    "\u007f",
    "\u0085",
    "\u009b",
    "\u2028",
    "\u202e",
    "\u2066",
  ])
    assert.match(plainTextProblem(`a${barred}b`, "line") ?? "", /^has U\+[0-9A-F]{4}; one line takes no control/);
  for (const taken of ["Müller & Söhne", "مكتبة", "רחוב 5\u200f", "咖啡", "☕️", "a\u00a0b", "😀"])
    assert.equal(plainTextProblem(taken, "line"), null);
});

test("a text of lines has line feeds and tabs beside; a carriage return before a line feed is not kept", () => {
  for (const barred of ["\u0000", "\r", "\u000b", "\u001b", "\u007f", "\u009b", "\u202e", "\u2069"])
    assert.match(plainTextProblem(`a${barred}b`, "lines") ?? "", /^has U\+[0-9A-F]{4}; it takes line feeds and tabs/);
  assert.equal(plainTextProblem("Line\n\tindented\r\nlast", "lines"), null);
  assert.equal(textOfLines(20).parse("one\r\ntwo\nthree"), "one\ntwo\nthree");
});

test("a shown text has neither a control character nor a bidi override, and is otherwise as it was", () => {
  assert.equal(onOneLine("Tea\r\n\u001b]0;owned\u0007 Ltd\u202e"), "Tea ]0;owned  Ltd");
  assert.equal(neutralised("Tea\r\n\tLtd\u001b[2K\u009b1m\u202e!"), "Tea\n\tLtd [2K 1m !");
  const value = { name: "a\u009b1m\u007f\u202eb\n", "\u2066": "é😀" };
  const json = neutralisedJson(JSON.stringify(value));
  assert.deepEqual(JSON.parse(json), value);
  assert.doesNotMatch(json, /[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
  assert.match(json, /é😀/);
});

/** Members whose texts have lines. */
const ofLines =
  /(?:^|\.)(?:note|noteToSupplier|message|footer|before|after)$|^(?:supplierCredit record reason|comment_add text|approval_request_(?:approve|reject) comment|variant_level_put reason)$/;

/** What is checked as an address, read as something else, or of a path, and is not kept as it came. */
const isOtherwise = (path: string, schema: Schema): boolean =>
  (schema instanceof z.ZodType && Object.hasOwn(schema.meta() ?? {}, "maxLength")) ||
  /^(?:to|to\[\]|cc|cc\[\])$|(?:^|\.)(?:cursor|confirm|base64)$/.test(path);

const inputs: readonly (readonly [name: string, schema: Schema])[] = [
  ...operations.filter(({ scope }) => scope !== "read").map(({ name, input }) => [name, input] as const),
  ...adminOperations.filter(({ route }) => route.method !== "GET").map(({ name, input }) => [name, input] as const),
  ...Object.entries(recordTypes).map(([name, { input }]) => [`${name} record`, input] as const),
  ["purchaseOrder record", purchaseOrderInput],
];

test("no text that a write or a record keeps takes control characters or bidi overrides", () => {
  const taken: string[] = [];
  let count = 0;
  for (const [name, input] of inputs)
    for (const { path, schema } of stringsOf(input)) {
      if (isOtherwise(path, schema)) continue;
      const hasLines = ofLines.test(path) || ofLines.test(`${name} ${path}`);
      for (const sent of [escape, overridden, ...(hasLines ? [] : ["two\nlines"])]) {
        count += 1;
        if (z.safeParse(schema, sent).success) taken.push(`${name} ${path} takes ${JSON.stringify(sent)}`);
      }
    }
  assert.deepEqual(taken, []);
  assert.ok(count > 400, `only ${count} texts were found`);
});

test("the refusal names the character", () => {
  assert.match(JSON.stringify(text(20).safeParse("a\u001bb").error?.issues), /has U\+001B; one line takes/);
});
