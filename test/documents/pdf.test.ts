/** What stands in an order's PDF, read back from its bytes (C62). */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import path from "node:path";
import { test, type TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";
import { languages } from "../../src/base/text/language.ts";
import { defaultDocumentSettings, documentColumns } from "../../src/core/supplier/document-settings.ts";
import type { DocumentContent } from "../../src/documents/content.ts";
import {
  Documents,
  documentsWaitingPerShopMax,
  documentWaitMsMax,
  drawnAtOnceMax,
  keptBytesMax,
} from "../../src/documents/documents.ts";
import { DrawingThreads } from "../../src/documents/drawing-threads.ts";
import type { Engine } from "../../src/store/store.ts";
import { beginsAtRight, piecesOf } from "../../src/documents/direction.ts";
import { csvDocument } from "../../src/documents/csv.ts";
import { type Fonts, loadFonts, missingIn } from "../../src/documents/fonts.ts";
import { missingCharacter } from "../../src/documents/missing.ts";
import { pdfOf } from "../../src/documents/pdf.ts";
import { sheetOf } from "../../src/documents/sheet.ts";
import { numberText, texts } from "../../src/documents/texts.ts";
import { addressWith, contentLine, contentWith } from "../support/pages/document-content.ts";
import { firstPageOf, infoOf, noPoppler, textOf } from "../support/pages/poppler.ts";

/** The fonts that ship, whatever is installed beside. */
const fonts = loadFonts(null, []);

const pdf = (content: DocumentContent): Promise<Uint8Array> => pdfOf(sheetOf(content), content.createdAtMs, fonts);

/** Without the line breaks and runs of blanks of a layout. */
const flat = (text: string): string => text.replaceAll(/\s+/g, " ");

const everything = contentWith(1, {
  poNumber: "PO-2026-0042",
  orderVersion: 7,
  orderDate: "2026-11-20",
  expectedDeliveryDate: "2026-12-04",
  supplierReference: "MAA-4268",
  paymentTerms: "14 days net",
  incoterm: "DAP Rotterdam",
  noteToSupplier: "Before noon, please.\nRing twice.",
  totalValue: 1234.5,
  discountAmount: 100,
  shippingCost: 8.47,
  taxAmount: 19.05,
  // Not the sum: what the API says stands there.
  grandTotal: 9999.99,
  supplier: {
    name: "Maas Branderij",
    address: addressWith({ address1: "Industrieweg 12", zip: "3044 AS", city: "Rotterdam", phone: "+31 10 1234" }),
    email: "orders@maas.example",
  },
  billingAddress: addressWith({ companyName: "Lighthouse Holding", city: "Delft" }),
  deliverTo: { name: "Main warehouse", address: addressWith({ address1: "Havenstraat 5", city: "Rotterdam" }) },
  lineItems: [
    contentLine(0, {
      productName: "Mug",
      variantName: "blue",
      supplierProductName: "Becher",
      packSize: 6,
      unitCost: 1234.5678,
      lineTotal: 1234.5,
      quantityOrdered: 15.625,
      quantityCancelled: 0.5,
      quantity: 15.125,
    }),
    contentLine(1, { currencyCode: "USD", unitCost: 2, lineTotal: 24, isUnpriced: true }),
  ],
});

test("every field of an order stands in its PDF, with the API's own totals", { skip: noPoppler }, async () => {
  const bytes = await pdf({
    ...everything,
    settings: {
      ...everything.settings,
      columns: documentColumns,
      footer: "VAT NL001234567B01",
      address: addressWith({ address1: "Havenstraat 1", email: "buy@lighthouse.example" }),
    },
  });
  const text = flat(textOf(bytes, "reading"));
  for (const expected of [
    "Purchase order",
    "PO-2026-0042",
    "Lighthouse Coffee",
    "Havenstraat 1",
    "buy@lighthouse.example",
    "Maas Branderij",
    "Industrieweg 12",
    "3044 AS Rotterdam",
    "Tel. +31 10 1234",
    "orders@maas.example",
    "Main warehouse",
    "Havenstraat 5",
    "Lighthouse Holding",
    "20 November 2026",
    "4 December 2026",
    "MAA-4268",
    "14 days net",
    "DAP Rotterdam",
    "SUP-0",
    "OUR-0",
    "Becher – blue",
    "Ordered 15.625, of which 0.5 cancelled",
    // Quantity, packs, unit cost and amount of the first line.
    "15.125 (2 × 6 + 3.125) 1,234.5678 1,234.50",
    "24.00 USD",
    "Subtotal 1,234.50 EUR",
    "Discount −100.00 EUR",
    "Shipping 8.47 EUR",
    "Tax 19.05 EUR",
    "Not delivered 8,837.97 EUR",
    "Total 9,999.99 EUR",
    "no exchange rate is agreed: line 2",
    "Before noon, please. Ring twice.",
    "VAT NL001234567B01",
    "Page 1 of 1",
    "PO-2026-0042 · version 7",
  ])
    assert.ok(text.includes(expected), `${expected} is missing in: ${text}`);
});

test("Polish, Greek and Cyrillic are read back letter by letter", { skip: noPoppler }, async () => {
  const names = [
    "Pierścionek zaręczynowy, złoto – Łódź, gęślą jaźń",
    "Ελαιόλαδο εξαιρετικό παρθένο, Ύδρα Α Β Ε",
    "Кофе в зёрнах «Маяк», їжак ґанок, А В Е",
    "Ǆ ẞ ﬁ ≥ 30 mm, Ø 12 → 14, 5 € ₴ ₽ ½ №",
  ];
  const bytes = await pdf({
    ...contentWith(0),
    buyerName: "Zażółć gęślą jaźń",
    lineItems: names.map((productName, index) => contentLine(index, { productName })),
  });
  const text = flat(textOf(bytes, "reading"));
  // Poppler takes ligatures apart.
  for (const name of [...names, "Zażółć gęślą jaźń"])
    assert.ok(text.includes(name.replace("ﬁ", "fi")) || text.includes(name), `${name} in ${text}`);
  // Decomposed letters are printed as the composed ones.
  const decomposed = await pdf({ ...contentWith(0), buyerName: "Łódź".normalize("NFD") });
  assert.ok(textOf(decomposed).includes("Łódź"));
});

test(
  "the PDF is tagged, in its language, with a title and the date of the order's version",
  { skip: noPoppler },
  async () => {
    const info = infoOf(
      await pdf({ ...everything, settings: { ...everything.settings, language: "de", paper: "Letter" } }),
    );
    assert.match(info, /^Title:\s+Bestellung PO-2026-0042$/m);
    assert.match(info, /^Tagged:\s+yes$/m);
    assert.match(info, /^CreationDate:\s+2026-11-20T10:00:00Z?/m);
    assert.match(info, /^Page size:\s+612 x 792 pts \(letter\)$/m);
    for (const element of ["H1", "H2", "Table", "TR", "TH", "TD", "Figure"])
      assert.match(info, new RegExp(`^ +${element}\\b`, "m"), element);
  },
);

test("the same content has the same bytes, in another process too; another version has others", async () => {
  const hash = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
  const content = contentWith(40, { noteToSupplier: "Ελαιόλαδο" });
  const first = hash(await pdf(content));
  assert.equal(hash(await pdf(content)), first);
  assert.notEqual(hash(await pdf({ ...content, orderVersion: 2 })), first);
  const module = (name: string): string => JSON.stringify(path.join(import.meta.dirname, "../../src/documents", name));
  const program = `
    import { loadFonts } from ${module("fonts.ts")};
    import { pdfOf } from ${module("pdf.ts")};
    import { sheetOf } from ${module("sheet.ts")};
    import { createHash } from "node:crypto";
    const content = ${JSON.stringify(content)};
    const bytes = await pdfOf(sheetOf(content), content.createdAtMs, loadFonts(null));
    process.stdout.write(createHash("sha256").update(bytes).digest("hex"));`;
  const other = execFileSync(process.execPath, ["--input-type=module", "--eval", program], {
    encoding: "utf8",
    env: { ...process.env, TZ: "Pacific/Auckland", LANG: "tr_TR.UTF-8" },
  });
  assert.equal(other, first);
});

test("a character that no font has is found where it is printed, with the place; what prints nothing is left out", () => {
  const inLine = contentWith(0, { lineItems: [contentLine(0), contentLine(1, { productName: "Mug 咖啡" })] });
  assert.deepEqual(missingCharacter(fonts, inLine), {
    path: "/lineItems/1/productName",
    place: "line 2 (product name)",
    character: "咖",
    isProductName: true,
  });
  const named = contentLine(1, { productName: "Mug 咖啡", supplierProductName: "Coffee mug" });
  assert.equal(missingCharacter(fonts, { ...inLine, lineItems: [named] }), null, "the supplier's name stands there");
  for (const [more, place] of [
    [{ buyerName: "咖" }, "the shop's name"],
    [{ supplier: { name: "咖", address: null, email: null } }, "the supplier's name"],
    [{ billingAddress: addressWith({ city: "咖" }) }, "the billing address"],
    [{ noteToSupplier: "咖" }, "the note to the supplier"],
  ] as const)
    assert.equal(missingCharacter(fonts, contentWith(0, more))?.place, place);
  const unprinted = contentWith(0, { lineItems: [contentLine(0, { barcode: "咖" })] });
  assert.equal(missingCharacter(fonts, unprinted), null, "the column is not shown");
  assert.equal(
    missingCharacter(fonts, contentWith(0, { billingAddress: addressWith({ province: "東京", provinceCode: "13" }) })),
    null,
    "the code stands for the province",
  );
  assert.equal(missingIn(fonts, "so\u00adft\u200b \u2066left\u2069\ufeff\ttab\u0000"), null);
});

/** The text of a PDF with these names of products. */
async function printedNames(names: readonly string[], withFonts: Fonts = fonts): Promise<string> {
  const content = contentWith(0, { lineItems: names.map((productName, index) => contentLine(index, { productName })) });
  return flat(textOf(await pdfOf(sheetOf(content), content.createdAtMs, withFonts), "reading"));
}

test("emoji and symbols are printed by a font that ships, in one colour", { skip: noPoppler }, async () => {
  const names = ["Emoji ☕ Mug", "Stars ★★ and ✓ done ☐ open ① → ■", "Party 🎉🎁"];
  const text = await printedNames(names);
  for (const name of names) assert.ok(text.includes(name), `${name} in ${text}`);
  // Selectors, frames of keys and joiners of emoji draw nothing.
  assert.ok((await printedNames(["1\ufe0f\u20e3 ☕\ufe0f 👩\u200d🚀"])).includes("1 ☕ 👩🚀"));
});

/** Fonts of Debian's packages fonts-noto-cjk and fonts-noto-core. */
const installed = loadFonts(null);

const noFonts: string | false =
  noPoppler !== false || installed.others.length >= 6
    ? noPoppler
    : "FONTS ARE NOT INSTALLED: apt-get install fonts-noto-cjk fonts-noto-core";

test(
  "Chinese, Japanese, Korean, Thai and Devanagari are printed by fonts that are installed beside",
  { skip: noFonts },
  async () => {
    const names = [
      "中文咖啡杯，陶瓷（大号）250毫升",
      "日本語のコーヒーカップ",
      "한국어 커피잔",
      "แก้วกาแฟเซรามิก ที่มีชื่อเสียง",
      "कॉफी मग क्षत्रिय हिन्दी स्त्री",
    ];
    const text = await printedNames(names, installed);
    for (const name of names) assert.ok(text.includes(name), `${name} in ${text}`);
  },
);

/** What a reader takes for the text of a line that is written from right to left, without the marks of direction. */
const withoutMarks = (text: string): string => text.replaceAll(/[\u202a-\u202e\u200e\u200f]/g, "");

test(
  "Arabic and Hebrew are drawn from right to left, joined, with numbers and Latin words as they are",
  { skip: noFonts },
  async () => {
    const text = withoutMarks(
      await printedNames(["كوب قهوة", "כוס קפה 12 Mug", "شاي أخضر", "می\u200cخواهم"], installed),
    );
    for (const name of ["كوب قهوة", "כוס קפה", "شاي أخضر", "می\u200cخواهم"])
      assert.ok(text.includes(name), `${name} in ${text}`);
    // On paper the number stands left of the Hebrew words, and the Latin word left of the number.
    assert.match(text, /Mug 12 כוס קפה/);
  },
);

test("lines from right to left are put in their order by Unicode's algorithm", () => {
  const shown = (line: string, fromRight: boolean): string =>
    piecesOf(line, fromRight)
      .map(({ text, isRightToLeft }) => (isRightToLeft ? Array.from(text).toReversed().join("") : text))
      .join("");
  // Capitals stand for Hebrew letters, as in the examples of UAX 9.
  const hebrew = (text: string): string =>
    text.replaceAll(/[A-Z]/g, (each) => String.fromCodePoint(0x5d0 + each.charCodeAt(0) - 65));
  for (const [line, fromRight, expected] of [
    ["car means CAR.", false, "car means RAC."],
    ["car MEANS CAR.", true, ".RAC SNAEM car"],
    ["A B 12 C", true, "C 12 B A"],
    ["MUG 250 ml (BIG)", true, ")GIB( ml 250 GUM"],
    ["price: 12", false, "price: 12"],
  ] as const)
    assert.equal(shown(hebrew(line), fromRight), hebrew(expected), line);
  assert.ok(beginsAtRight(hebrew("ABC mug")));
  assert.ok(!beginsAtRight(hebrew("mug ABC")));
});

test(
  "a document's text layer and bytes are the same alone and after any other document, in this thread and in another process",
  { skip: noPoppler },
  async () => {
    // The letters of the first are parts of the second's: \u00d1 is drawn with N.
    const spanish = contentWith(1, { buyerName: "España Ñ", lineItems: [contentLine(0, { productName: "Piña Ü é" })] });
    const nord = contentWith(1, {
      buyerName: "Nord",
      lineItems: [contentLine(0, { productName: "Note N n U e ˜ ¨" })],
      noteToSupplier: "Nn µ μ",
    });
    const alone = await pdfOf(sheetOf(nord), 0, loadFonts(null, []));
    const shared = loadFonts(null, []);
    await pdfOf(sheetOf(spanish), 0, shared);
    const after = await pdfOf(sheetOf(nord), 0, shared);
    const text = flat(textOf(after, "reading"));
    for (const expected of ["Nord", "Note N n U e ˜ ¨", "Nn µ μ"])
      assert.ok(text.includes(expected), `${expected} in ${text}`);
    assert.ok(Buffer.from(after).equals(Buffer.from(alone)));
    // Within one document, too.
    const both = { ...nord, lineItems: [...spanish.lineItems, ...nord.lineItems], buyerName: "España Ñ" };
    const texts = flat(textOf(await pdfOf(sheetOf(both), 0, shared), "reading"));
    for (const expected of ["España Ñ", "Piña Ü é", "Note N n U e ˜ ¨", "Nn µ μ"])
      assert.ok(texts.includes(expected), `${expected} in ${texts}`);
    // On the thread that draws for the service.
    const threads = new DrawingThreads(silent, null);
    try {
      await threads.draw(spanish);
      assert.ok(Buffer.from(await threads.draw({ ...nord, createdAtMs: 0 })).equals(Buffer.from(alone)));
    } finally {
      await threads.close();
    }
  },
);

test("what is printed adds up: lines, subtotal, discount, shipping, tax, what did not come, total", () => {
  const totals = (more: Partial<DocumentContent>): readonly string[] =>
    sheetOf(contentWith(0, more)).totals.map(({ label, value }) => `${label} ${value}`);
  const line = (lineTotal: number, more = {}) => contentLine(0, { lineTotal, ...more });
  assert.deepEqual(totals({ lineItems: [line(32), line(0)], totalValue: 32, grandTotal: 32 }), ["Total 32.00 EUR"]);
  assert.deepEqual(totals({ lineItems: [line(40)], totalValue: 40, grandTotal: 32 }), [
    "Subtotal 40.00 EUR",
    "Not delivered −8.00 EUR",
    "Total 32.00 EUR",
  ]);
  assert.deepEqual(totals({ lineItems: [line(10)], totalValue: 10, discountAmount: 15, grandTotal: 0 }), [
    "Subtotal 10.00 EUR",
    "Discount −10.00 EUR",
    "Total 0.00 EUR",
  ]);
  assert.deepEqual(totals({ lineItems: [line(0.33), line(0.33), line(0.33)], totalValue: 1, grandTotal: 1 }), [
    "Subtotal 0.99 EUR",
    "Rounding 0.01 EUR",
    "Total 1.00 EUR",
  ]);
  assert.deepEqual(
    totals({
      lineItems: [line(10), line(12, { currencyCode: "USD" })],
      totalValue: 20.8,
      taxAmount: 0.2,
      grandTotal: 21,
    }),
    ["Subtotal 20.80 EUR", "Tax 0.20 EUR", "Total 21.00 EUR"],
  );
});

test("packs stand beside the quantity so that they are not taken for it", () => {
  const quantityOf = (quantity: number, packSize: number | null, columns = defaultDocumentSettings.columns): string => {
    const sheet = sheetOf(contentWith(0, { lineItems: [contentLine(0, { quantity, packSize })] }, { columns }));
    return sheet.rows[0]?.cells[sheet.columns.findIndex(({ id }) => id === "quantity")] ?? "";
  };
  assert.equal(quantityOf(12, 6), "12 (2 × 6)");
  assert.equal(quantityOf(1_200, 6), "1,200 (200 × 6)");
  assert.equal(quantityOf(13, 6), "13 (2 × 6 + 1)");
  assert.equal(quantityOf(0.3, 0.1), "0.3 (3 × 0.1)");
  assert.equal(quantityOf(4, 6), "4");
  assert.equal(quantityOf(12, 1), "12");
  assert.equal(quantityOf(12, null), "12");
  assert.equal(quantityOf(12, 6, ["unitCost"]), "12");
});

test("a document always has a date, and says which version it replaces", () => {
  const sheet = sheetOf(
    contentWith(1, { orderDate: "2026-11-20", orderVersion: 3, replaces: { version: 2, day: "2026-11-03" } }),
  );
  assert.deepEqual(sheet.facts[0], { label: "Order date", value: "20 November 2026" });
  assert.equal(sheet.replaces, "Version 3 replaces version 2 of 3 November 2026");
  for (const language of languages) {
    const shown = sheetOf(
      contentWith(1, { orderVersion: 3, replaces: { version: 2, day: "2026-11-03" } }, { language }),
    );
    assert.match(shown.replaces ?? "", /3 .*2 .*2026/, language);
  }
  assert.equal(sheetOf(contentWith(1)).replaces, null);
});

test("the documents' own words are in the fonts, in every language", () => {
  for (const language of languages) assert.equal(missingIn(fonts, JSON.stringify(texts[language])), null, language);
  assert.equal(numberText(-1234567.5, "fr", 2), "−1\u00a0234\u00a0567,50");
  assert.equal(numberText(0.0001, "en"), "0.0001");
  assert.equal(numberText(100_000_000_000, "de", 2), "100.000.000.000,00");
  assert.equal(numberText(1234.5, "nl", 2), "1.234,50");
});

test("pages repeat the heads of columns, and totals never stand without a line", { skip: noPoppler }, async () => {
  for (let lines = 20; lines < 44; lines += 1) {
    const pages = textOf(await pdf(contentWith(lines, { discountAmount: 1, taxAmount: 1 })))
      .split("\f")
      .filter((page) => page.trim() !== "");
    for (const [index, page] of pages.entries()) {
      assert.match(page, /Your item no\.\s+Description/, `page ${index + 1} of ${lines} lines`);
      assert.match(page, new RegExp(`Page ${index + 1} of ${pages.length}`));
      assert.match(page, /SUP-\d/, `page ${index + 1} of ${lines} lines has a line`);
    }
  }
});

test(
  "an order without lines, one with very long names, and one without prices are drawn",
  { skip: noPoppler },
  async () => {
    assert.match(textOf(await pdf(contentWith(0))), /This order has no lines yet\./);
    const name = `${"Unbreakable".repeat(40)} end`;
    const long = textOf(
      await pdf(
        contentWith(0, {
          lineItems: [contentLine(0, { productName: name, sku: "S".repeat(200), supplierSku: "X".repeat(200) })],
        }),
      ),
      "reading",
    );
    assert.ok(long.replaceAll(/\s/g, "").includes(name.replaceAll(" ", "")));
    assert.ok(long.replaceAll(/\s/g, "").includes("X".repeat(200)));
    const bare = textOf(await pdf(contentWith(3, {}, { columns: [] })));
    assert.doesNotMatch(bare, /EUR|3\.20|SUP-/);
    const negative = textOf(await pdf(contentWith(1, { discountAmount: -5 })));
    assert.match(negative, /Discount\s+5\.00 EUR/);
  },
);

test(
  "what stands below a description has its name, in French with a blank before the colon",
  { skip: noPoppler },
  async () => {
    const lineItems = [contentLine(0, { barcode: "8712345678906", expectedDeliveryDate: "2026-12-11" })];
    const drawn = async (language: "en" | "fr", columns: DocumentContent["settings"]["columns"]) =>
      textOf(await pdf(contentWith(1, { lineItems }, { language, columns })), "reading").replaceAll("\u00a0", " ");
    assert.match(await drawn("fr", ["unitCost"]), /^Livraison prévue : 11 décembre 2026$/m);
    // No page has room for all columns.
    assert.match(await drawn("fr", documentColumns), /^Code-barres : 8712345678906$/m);
    assert.match(await drawn("en", documentColumns), /^Barcode: 8712345678906$/m);
  },
);

test(
  "a draft and a cancelled order say at the head that they are no order; others do not",
  { skip: noPoppler },
  async () => {
    for (const language of languages) {
      const { draft, cancelled } = texts[language];
      for (const [status, shown, hidden] of [
        ["Draft", draft, cancelled],
        ["Cancelled", cancelled, draft],
        ["Sent", null, draft],
        ["Received", null, cancelled],
      ] as const) {
        const text = flat(textOf(await pdf(contentWith(1, { status }, { language })), "reading"));
        assert.ok(shown === null || text.includes(shown), `${status}: ${text}`);
        assert.ok(!text.includes(hidden), `${status}: ${text}`);
      }
    }
  },
);

const silent = { info: () => {}, warn: () => {}, error: () => {} };

const startDocuments = (time: { readonly elapsedMs?: () => number } = {}): Documents =>
  new Documents({
    engine: { read: () => assert.fail("the content is given") } as unknown as Engine,
    ...time,
    clock: { now: () => 0 },
    log: silent,
  });

test("a file is named after the order's number, in characters that every system and header takes", async () => {
  const documents = startDocuments();
  const names: readonly (readonly [string, string])[] = [
    ["PO-2026.1_a", "PO-2026.1_a.csv"],
    ["../../etc/passwd", "etc-passwd.csv"],
    ['a"; filename="b.exe', "a-filename-b.exe.csv"],
    ["a\r\nX-Header: 1", "a-X-Header-1.csv"],
    ["Bestellung Süd 7", "Bestellung-S-d-7.csv"],
    ["注文", "purchase-order.csv"],
    ["x".repeat(300), `${"x".repeat(100)}.csv`],
  ];
  for (const [poNumber, expected] of names)
    assert.equal((await documents.make("shop", contentWith(0, { poNumber }), "csv")).fileName, expected, poNumber);
});

test("finished documents are kept up to keptBytesMax, those that were used last", async () => {
  const documents = startDocuments();
  const made = (noteNumber: number) =>
    documents.make("shop", contentWith(0, { poNumber: `PO-${noteNumber}`, lineItems: [long] }), "csv");
  const long = contentLine(0, { productName: "x".repeat(keptBytesMax / 4) });
  const [first, second] = [await made(1), await made(2)];
  await made(3);
  assert.ok((await made(1)) === first, "what is kept is not made again");
  // With the fourth there is more than may be kept: the second was used longest ago.
  await made(4);
  assert.ok((await made(1)) === first, "it was used since");
  const again = await made(2);
  assert.ok(again !== second, "it is made anew");
  assert.equal(again.sha256, second.sha256);
});

/** Documents whose drawing lasts until the test ends it. */
function drawnByHand(t: TestContext, elapsedMs: () => number) {
  const drawing: (() => void)[] = [];
  t.mock.method(DrawingThreads.prototype, "draw", async () => {
    await new Promise<void>((resolve) => drawing.push(resolve));
    return Buffer.from("%PDF");
  });
  const documents = startDocuments({ elapsedMs });
  let asked = 0;
  const ask = (shopId: string) => documents.make(shopId, contentWith(0, { poNumber: `PO-${(asked += 1)}` }), "pdf");
  return { drawing, ask };
}

test("drawnAtOnceMax documents are drawn at a time, one of a shop, while documentsWaitingPerShopMax of it wait for documentWaitMsMax", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const clock = { nowMs: 1_000, now: () => clock.nowMs };
  const { drawing, ask } = drawnByHand(t, clock.now);
  const large = Array.from({ length: 1 + documentsWaitingPerShopMax }, () => ask("large"));
  const refused = Promise.allSettled(large);
  await assert.rejects(ask("large"), { code: "DO_OVERLOADED" });
  assert.equal(drawing.length, 1, "one of a shop");
  const others = Array.from({ length: 2 * drawnAtOnceMax }, (_, index) => ask(`shop ${index}`));
  await setImmediate();
  assert.equal(drawing.length, drawnAtOnceMax);
  for (let count = 0; count < others.length + 1; count += 1) {
    drawing.shift()?.();
    await setImmediate();
    assert.ok(drawing.length <= drawnAtOnceMax);
  }
  await Promise.all(others);
  clock.nowMs += documentWaitMsMax;
  t.mock.timers.tick(documentWaitMsMax);
  while (drawing.length > 0) {
    drawing.shift()?.();
    await setImmediate();
  }
  const ended = (await refused).map(({ status }) => status);
  assert.ok(ended.includes("fulfilled") && ended.at(-1) === "rejected", String(ended));
});

test("a note of many pages is broken between lines and loses none", { skip: noPoppler }, async () => {
  const lines = Array.from({ length: 200 }, (_line, index) => `Line ${index} of the note.`);
  const text = textOf(await pdf(contentWith(30, { noteToSupplier: lines.join("\n") })), "reading");
  for (const line of lines) assert.ok(text.includes(line), line);
});

test("line breaks in a number or a name are blanks where a line is all there is", { skip: noPoppler }, async () => {
  const text = textOf(await pdf(contentWith(60, { poNumber: "PO 1\r\nof 2", buyerName: "Coffee\nShop" })), "reading");
  assert.ok(flat(text).includes("Purchase order PO 1 of 2"), text);
  assert.ok(text.includes("PO 1 of 2 · "), text);
  assert.ok(text.includes("Coffee Shop"), text);
});

/** Code 128's characters by their widths, from the bars of a dotted line. Independent of the table that draws them. */
function barsOf(row: Buffer): readonly number[] {
  const runs: number[] = [];
  let length = 0;
  let isDark = false;
  for (const dot of row) {
    if (dot < 128 === isDark) length += 1;
    else {
      runs.push(length);
      length = 1;
      isDark = !isDark;
    }
  }
  return runs;
}

test("the number is scanned from the page as Code 128", { skip: noPoppler }, async () => {
  const { width, height, dots } = firstPageOf(await pdf(contentWith(1, { poNumber: "PO-1001", buyerName: "" })), 300);
  const rows = Array.from({ length: Math.floor(height / 3) }, (_row, at) =>
    barsOf(dots.subarray(at * width, (at + 1) * width)),
  );
  // The blank before them, 9 symbols of 6 bars and spaces, and the 7 of the stop.
  const bars = rows.find((runs) => runs.length === 1 + 9 * 6 + 7) ?? [];
  const inner = bars.slice(1);
  const module = inner.slice(0, 6).reduce((sum, run) => sum + run, 0) / 11;
  const widths = inner.map((run) => Math.round(run / module));
  const symbols = Array.from({ length: 9 }, (_symbol, at) => widths.slice(at * 6, at * 6 + 6).join(""));
  // Start B, P O - 1 0 0 1, the check (104 + 48 + 2·47 + 3·13 + 4·17 + 5·16 + 6·16 + 7·17) mod 103 = 30; from ISO/IEC 15417, table 1.
  assert.deepEqual(symbols, ["211214", "313121", "133121", "122132", "123221", "123122", "123122", "123221", "212123"]);
  assert.deepEqual(widths.slice(54, 61), [2, 3, 3, 1, 1, 1, 2]);
});

test("no cell of a CSV begins a formula, and quotes, commas and line breaks are kept; it begins with a mark and has lines only", () => {
  const formulas = [
    "=1+1",
    "+1",
    "-1",
    "@x",
    "\t=1",
    "  =1",
    "＝1",
    "＋1",
    "－1",
    "＠x",
    "|x",
    "%x",
    "\r=1",
    "\u00a0=1",
    "\u200b=1",
    "\ufeff=1",
  ];
  const text = csvDocument(
    contentWith(0, {
      poNumber: "=1",
      lineItems: [...formulas, 'a "b", c', "two\nlines", "a; =1;b", ";@x", "a\n\t+1"].map((productName, index) =>
        contentLine(index, { productName }),
      ),
      discountAmount: 5,
    }),
  );
  assert.ok(text.startsWith("\ufeffPO number,Line,"), text.slice(0, 30));
  for (const formula of formulas) assert.ok(text.includes(`'${formula.replace("\r", " ")}`), JSON.stringify(formula));
  assert.ok(!text.includes(",="), text);
  assert.match(text, /,"a ""b"", c",12,/);
  assert.match(text, /,"two\nlines",12,/);
  // For one that parts at other characters they begin a cell.
  for (const several of [",a;' =1;b,", ",;'@x,", `,"a\n\t'+1",`]) assert.ok(text.includes(several), several);
  assert.ok(!/total/i.test(text.slice(text.indexOf("\r\n"))), "totals belong to the PDF");
});
