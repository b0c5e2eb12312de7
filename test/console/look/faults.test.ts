/** Mistakes that forms and files can cause, and advice on them: each kind has words for people, in every language. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { z } from "zod";
import { mistakeIn } from "../../../console/import/preview.ts";
import { adviceIn, faultIn, inWords } from "../../../console/parts/fields/faults.ts";
import { faultTexts } from "../../../console/texts/en/faults.ts";
import { languages } from "../../../console/texts/languages.ts";
import { adminOperations } from "../../../src/admin/registry.ts";
import { Fault } from "../../../src/base/fault.ts";
import { recordTypes } from "../../../src/exchange/record-types.ts";
import { purchaseOrderInput } from "../../../src/exchange/records/purchase-orders.ts";
import { checkRecord } from "../../../src/exchange/staging.ts";
import { operations } from "../../../src/operations/registry.ts";
import { checkInput } from "../../../src/requests/input.ts";

const root = path.join(import.meta.dirname, "../../..");
const textOf = (file: string): string => readFileSync(path.join(root, file), "utf8");

/** Mistakes of programs, which no form makes. */
const notOfForms = [
  // A form sends texts, numbers, lists and choices as what they are.
  /^must be (?:true|an array|an e-mail address, or an array)/,
  /^must be (?:shopify|medusa)$|^must be a type of event|^Invalid discriminator value/,
  // It sends no limits rather than none of them, finds itself that nobody would approve, and few people.
  /^names (?:no limit|nobody)$| or must have at most 0 items$/,
  // Ids, hashes and versions are sent as they were read.
  /^must be 1 to 40 lower-case|^must be a SHA-256|^must be a version of Shopify's API|^must be [\d-]+ or later$/,
  /^is not served any more: the store answered with/,
  // Members that no form has.
  /^cannot be set here; use |^must be a head as it was noted/,
  /^cannot change from |^cannot be cleared while the order is|^begins with .*, which marks custom lines$/,
  /^(?:is required with clientId|must repeat the shop's id|cannot be sandbox: )/,
  // Filters of lists, and what is asked of an answer in pieces.
  /^is not a cursor of|^must be a day \(YYYY-MM-DD\)|^is not a location of the shop|variants to reorder; one call/,
  // The supplier's page, which is not the console.
  /^cannot be answered while the order is|is over; the shop's day is|is not a line of the proposal$/,
  /^is empty, and there is neither/,
  // An operator's session in a shop that went meanwhile.
  /^is not a shop of this service$/,
];

const hasWords = (message: string): boolean =>
  faultIn(message) !== message || notOfForms.some((each) => each.test(message));

const written = globSync("console/**/*.{ts,tsx}", { cwd: root, exclude: (name) => name === "texts" })
  .map(textOf)
  .join("\n");

/** Operations that the console calls to write something. */
const writes = [...operations, ...adminOperations].filter(
  ({ name }) => written.includes(`"${name}"`) && !/_(?:list|get|rows|search|pdf|waiting)$/.test(name),
);

/** What a person may write, or leave out, where something else is needed. */
const mistakes: readonly unknown[] = [
  [undefined, null, {}],
  ["", "  ", "a", "CSTM-1", "a\u0007b", "a\u202eb", "ä".repeat(12_000), "a b@c", "2026-13-45", "ftp://x", "eur"],
  [-1, 0, 0.5, 1.000_01, 1e20, -1e20],
  [[], [""], ["a", "a"], Array.from({ length: 600 }, (_, index) => `v${index}`)],
].flat();

const tried = new Set<z.core.$ZodType>();

/** What the schema says of the mistakes, and the schemas in it. Many share one. */
function said(schema: z.core.$ZodType, found = new Set<string>()): ReadonlySet<string> {
  if (!(schema instanceof z.ZodType) || tried.has(schema)) return found;
  tried.add(schema);
  for (const mistake of mistakes)
    try {
      checkInput(schema, mistake);
    } catch (error) {
      // A schema that is called by another one with what that has read, not with what is sent.
      if (!(error instanceof Fault)) continue;
      for (const detail of error.details ?? []) if ("path" in detail) found.add(detail.message);
    }
  if (schema instanceof z.ZodObject) for (const each of Object.values(schema.def.shape)) said(each, found);
  else if (schema instanceof z.ZodArray) said(schema.def.element, found);
  else if (schema instanceof z.ZodRecord) said(schema.def.valueType, found);
  else if (schema instanceof z.ZodPipe) said(schema.def.in, found);
  else if (schema instanceof z.ZodUnion) for (const each of schema.def.options) said(each, found);
  else if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodReadonly
  )
    said(schema.def.innerType, found);
  return found;
}

test("each mistake that a schema finds in what a form sends has words", () => {
  assert.ok(writes.length > 60, String(writes.length));
  const messages = new Set(writes.flatMap(({ input }) => [...said(input)]));
  assert.ok(messages.size > 80, String(messages.size));
  assert.deepEqual(
    [...messages].filter((message) => !hasWords(message)),
    [],
  );
  for (const kind of ["is required", "must be 0 or more", "must be a currency code of three capital letters, like EUR"])
    assert.ok(messages.has(kind), kind);
});

/** What a record of this type may have wrong where it is a record. */
const broken: readonly object[] = [[], { type: 7 }, { type: "mug" }, { type: "supplier", colour: "red" }];

test("each mistake in a record of an imported file has words", () => {
  const messages = new Set(
    [...Object.values(recordTypes).map(({ input }) => input), purchaseOrderInput].flatMap((schema) => [
      ...said(schema),
    ]),
  );
  for (const value of broken)
    assert.throws(
      () => checkRecord({ lineNumber: 7, value: () => value, bytes: 1, columns: null }),
      (error: Fault) => {
        for (const { message } of (error.details ?? []).flatMap((each) => ("path" in each ? each : [])))
          messages.add(mistakeIn(message).text);
        return true;
      },
    );
  assert.ok(messages.size > 20, String(messages.size));
  assert.deepEqual(
    [...messages].filter((message) => faultIn(message) === message),
    [],
  );
});

/** Sentences of a rule beside a path: the argument after it, or what stands for it in this file. */
const ruleSentences: readonly (readonly [files: string, pattern: RegExp])[] = [
  ["src/{core,operations,admin,people,documents}/**/*.ts", /invalidField\(\s*[^;]*?,\s*("[^"]+"|`[^`]+`)/g],
  ["src/core/order/edit.ts", /message: ("[^"]+"|`[^`]+`),?\n? *\}/g],
  ["src/operations/catalogue/{records,price-rows}.ts", /message: ("[^"]+"|`[^`]+`) \}|\? ("[^"]+"|`[^`]+`)\n/g],
  ["src/webhooks/addresses.ts", /(?:return|\?|:) ("(?:must|is) [^"]+")/g],
  ["src/documents/logo.ts", /new LogoError\(("[^"]+"|`[^`]+`|'[^']+')\)/g],
  ["src/admin/{access,supplier}/*.ts", /message: ("[^"]+"|`[^`]+`)/g],
  ["src/exchange/csv*.ts", /\brefused\(\s*row,\s*[\w."]+,\s*("[^"]+"|`[^`]+`)/g],
  ["src/exchange/csv*.ts", /(?:message(?::| =)|#pass\(|\?\?=|badQuote =)\s*("[^"]+"|`[^`]+`)/g],
  ["src/exchange/staging.ts", /(?:message:|"INVALID_INPUT",|"\/type",)\s*("[^"]+"|`[^`]+`)/g],
  [
    "src/exchange/records/{catalogue,manufacturing-orders,read-only}.ts",
    /message: ("(?:must|is|are) [^"]+"|`[^`]+`),? *\n? *\}/g,
  ],
];

/** What is said of a request as a whole, or to who writes programs. */
const notOfFields = [
  /^Merged |^Added |^Changed |^Deleted /,
  / can be set on custom lines only; /,
  /^Use an https URL/,
  /^must not be before from$/,
];

test("each rule that is said beside a field has words", () => {
  const found = ruleSentences
    .flatMap(([files, pattern]) => {
      const sentences = globSync(files, { cwd: root }).flatMap((file) => [...textOf(file).matchAll(pattern)]);
      assert.ok(sentences.length > 0, files);
      return sentences.map(([, one, other]) => (one ?? other ?? "").slice(1, -1).replaceAll(/\$\{[^}]*\}+/g, "7"));
    })
    .map((sentence) =>
      sentence
        .replace(/above the 7(?= quantity)/, "above the ordered")
        .replace(/above the 7\.$/, "above the ordered 7."),
    );
  assert.ok(found.length > 60, String(found.length));
  assert.deepEqual(
    found.filter((sentence) => !hasWords(sentence) && !notOfFields.some((each) => each.test(sentence))),
    [],
  );
});

/** Advice of the rules of an order's status, and of other refusals. */
const adviceSentences: readonly (readonly [files: string, pattern: RegExp])[] = [
  ["src/core/order/status.ts", /(?:no\(|=>|\?|return| :)\s*("[A-Z][^"]+"|`[^`]+`)/g],
  [
    "src/{core,operations,admin,people,requests,shop,exchange,documents}/**/*.ts",
    /\baction:\s*("[A-Z][^"]+ [^"]+"|`[^`]+`)/g,
  ],
];

/** Advice for programs, of which a person is told nothing. */
const forPrograms = [
  /GET \/|Authorization: Bearer|API key|OPENPO_ADMIN_TOKEN|admin token|requests? without|with resolutions/,
  // Of ids, cursors, keys of idempotency and fields that a page sends as it must.
  /^(?:Find it with|List orders with|Name one of|Look it up|Import the variant|Leave (?:shopId|`to`)|Send (?:one|the id) )/,
  /^(?:Use a (?:key with|new key)|Correct what details names|Ask a running|Ask whoever sent|Send the request without)/,
  /^(?:Draft or Draft$|Give from and to)/,
  // The words of the mistake say it, or the order's own page offers it.
  /^(?:Merge the other supplier|Correct the lines|Nothing was imported|Send another id|Save it as a view|Use the id)/,
  /^(?:Enable it first|Connect the shop|Send the order anew)/,
  /^(?:(?:Correct|Set) fxRate|Give the shop a rate|Delete (?:some|one)|Remove one|Revoke|Ask an owner to|Close others)/,
  /^(?:Accept the other|Raise quantityOrdered|Set locationId|Split|Lower q|Ask for (?:fewer|it in)|Use a view of fewer)/,
  /^(?:Download them|Make the change at the order|Report this requestId|Type your e-mail)/,
  // The place where it is shown says what an operator does.
  /^The operator (?:sets it to|connects the store)/,
];

test("each piece of advice on a refusal has words, or is for programs", () => {
  const found = adviceSentences.flatMap(([files, pattern]) => {
    const sentences = globSync(files, { cwd: root }).flatMap((file) => [...textOf(file).matchAll(pattern)]);
    assert.ok(sentences.length > 10, files);
    return sentences.map(([, one = ""]) =>
      one
        .slice(1, -1)
        .replaceAll(/\$\{(?:use\.|mention\("purchase_order_)(\w+)[^}]*\}/g, "POST /purchase-orders/po_1/$1")
        .replaceAll(/\$\{[^}]*\}+/g, "Draft"),
    );
  });
  assert.ok(found.length > 120, String(found.length));
  assert.deepEqual(
    [...new Set(found)].filter((action) => adviceIn(action) === null && !forPrograms.some((each) => each.test(action))),
    [],
  );
});

test("the words of each kind say in every language what the sentence says of limits", async () => {
  const partsOf = (text: string): readonly string[] => [...text.matchAll(/\$\d/g)].map(([part]) => part).sort();
  for (const language of languages.slice(1)) {
    const { faultTexts: others }: { readonly faultTexts: Readonly<Record<string, string>> } = await import(
      path.join(root, "console/texts", language, "faults.ts")
    );
    for (const [kind, text] of Object.entries(faultTexts))
      assert.deepEqual(partsOf(others[kind] ?? ""), partsOf(text), `${language} ${kind}`);
    assert.ok(Object.values(others).every((text) => text !== ""));
  }
});

test("limits and quantities of a sentence go into the words; what has none stays", () => {
  for (const [sentence, words] of [
    ["must have at most 5000 characters", "At most 5,000 characters."],
    ["must be -1 or more", "-1 or more."],
    ["must be above 0", "More than 0."],
    // The parser of JSON says so.
    ["a number that cannot be held exactly; at most 2^53", "This number is too large."],
    [
      "3 is below what is already received, rejected or cancelled, 4",
      "3 is less than came already: 4. Take goods back first.",
    ],
    ["12.5 is above the ordered quantity, 12", "12.5 is more than was ordered: 12."],
    [
      "received + rejected + cancelled would be 49, above the confirmed quantity, 48",
      "49 is more than was confirmed: 48.",
    ],
    [
      "Received, rejected and cancelled would be 49 together, above the ordered 48.",
      "49 is more than was ordered: 48.",
    ],
    [
      "is of 2 variants: Rye x (x), Rye y (y); send the id of one",
      "Several products have it: Rye x (x), Rye y (y). Write the id of one.",
    ],
    // Who keeps the service is told by which setting it lets them.
    [
      "is at an address that is not allowed",
      "This address is not allowed. The operator can allow it with OPENPO_WEBHOOK_ALLOW.",
    ],
    ["may not be connected to", "This address is not allowed. The operator can allow it with OPENPO_STOREFRONT_ALLOW."],
    [
      "must begin with https://; http:// is not allowed",
      "Begin it with https://. The operator can allow http:// with OPENPO_WEBHOOK_HTTP.",
    ],
    ["must be divisible by 3", "must be divisible by 3"],
  ] as const)
    assert.equal(faultIn(sentence), words);
});

test("a refusal whose mistakes all have words is told in them, else as the service says it", () => {
  const told = { message: "/lines/0/unitCost: must be 0 or more", action: "Correct what details names." };
  const known = { path: "/lines/0/unitCost", message: "must be 0 or more" };
  const unknown = { path: "/note", message: "must rhyme" };
  assert.deepEqual(inWords({ ...told, details: [known] }), {
    message: "Unit cost: 0 or more.",
    action: null,
    details: [{ ...known, message: "0 or more." }],
    isInWords: true,
  });
  assert.deepEqual(inWords({ ...told, details: [known, unknown] }), {
    ...told,
    action: null,
    details: [{ ...known, message: "0 or more." }, unknown],
  });
  assert.deepEqual(inWords({ message: "The order has changed.", action: "Read the order again and send its ETag." }), {
    message: "The order has changed.",
    action: faultTexts.anew,
    details: [],
  });
  assert.deepEqual(inWords({ message: "An order cannot be moved.", action: "Choose one of: Draft, On Hold." }), {
    message: "An order cannot be moved.",
    action: faultTexts.anew,
    details: [],
  });
});

test("a merge that is refused says why in words", () => {
  for (const [path, message, words] of [
    ["/into", "is the order itself", faultTexts.other],
    ["/into", "has another supplierId, sup_1 instead of sup_2", faultTexts.noMerge],
    ["/purchaseOrderId", "is On Hold; both orders must be Drafts", faultTexts.noMerge],
    ["/into", "was merged into sup_3", "It was merged into sup_3."],
  ] as const)
    assert.equal(inWords({ message, action: null, details: [{ path, message }] }).message, words);
  const many = "The supplier has more than 1000 orders and credits, the most that go over at once.";
  assert.deepEqual(inWords({ message: many, action: "Merge the other supplier into this one if it has fewer." }), {
    message: faultTexts.manyToMerge.replace("$1", "1,000"),
    action: null,
    details: [],
    isInWords: true,
  });
});
