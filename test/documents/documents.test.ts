/**
 * An order's document: what its supplier gets, as PDF and as CSV (C62).
 *
 * Only on sqlite: its subject is what a document shows; order/orders.test.ts reads orders from both engines.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { PDFDocument } from "pdfkit";
import { type DocumentContent, loadContent, readContent } from "../../src/documents/content.ts";
import { documentsWaitingPerShopMax } from "../../src/documents/documents.ts";
import { DrawingThreads } from "../../src/documents/drawing-threads.ts";
import { loadFonts } from "../../src/documents/fonts.ts";
import { pdfOf } from "../../src/documents/pdf.ts";
import { sheetOf } from "../../src/documents/sheet.ts";
import { exportRecords } from "../../src/exchange/export.ts";
import { backgroundNiceness } from "../../src/store/background-thread.ts";
import { askAdmin, signInAs } from "../support/people.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { nicenessOf } from "../support/programs/threads.ts";
import { until } from "../support/until.ts";

const asItIs = { nowMs: Date.parse("2026-11-20T12:00:00Z"), next: null };

async function orderOf(server: TestServer): Promise<string> {
  const made = await server.post("/api/v1/purchase-orders", { noteToSupplier: "Before noon, please." });
  const purchaseOrderId = made.textAt("data", "purchaseOrder", "purchaseOrderId");
  const added = await server.post(`/api/v1/purchase-orders/${purchaseOrderId}/line-items/custom`, {
    productName: "Mug, blue",
    quantityOrdered: 3,
    unitCost: 2.5,
    supplierSku: "=1+1",
  });
  assert.equal(added.status, 201, added.text);
  return purchaseOrderId;
}

test("an order is downloaded as PDF and as CSV, with a name, an ETag and 304", async () => {
  await using server = await startServer({ console: true });
  const path = `/shops/${server.shopId}/purchase-orders/${await orderOf(server)}`;
  const pdf = await askAdmin(server, "GET", `${path}/document.pdf`);
  assert.equal(pdf.status, 200, pdf.text);
  assert.equal(pdf.headers["content-type"], "application/pdf");
  assert.equal(pdf.headers["content-disposition"], 'attachment; filename="PO-1001.pdf"');
  assert.equal(pdf.headers["x-content-type-options"], "nosniff");
  assert.match(pdf.text, /^%PDF-1\.7/);
  const again = await askAdmin(server, "GET", `${path}/document.pdf`, undefined, {
    headers: { "If-None-Match": String(pdf.headers["etag"]) },
  });
  assert.equal(again.status, 304);
  const csv = await askAdmin(server, "GET", `${path}/document.csv`);
  assert.equal(csv.headers["content-type"], "text/csv; charset=utf-8");
  assert.match(csv.text, /^PO-1001,1,'=1\+1,,,"Mug, blue",3,,2\.5,EUR,7\.5,$/m);
  assert.equal(
    (await askAdmin(server, "GET", `/shops/${server.shopId}/purchase-orders/po_none/document.pdf`)).status,
    404,
  );
});

test("an order of many lines is read in parts and has the same content as read at once", async () => {
  await using server = await startServer({ console: true });
  const made = await server.post("/api/v1/purchase-orders", {});
  const purchaseOrderId = made.textAt("data", "purchaseOrder", "purchaseOrderId");
  const records = Array.from({ length: 430 }, (_line, index) => ({
    type: "variant",
    variantId: `v${index}`,
    productId: "p",
    productName: `Mug ${index}`,
  }));
  const file = records.map((record) => `${JSON.stringify(record)}\n`).join("");
  assert.equal((await askAdmin(server, "POST", `/shops/${server.shopId}/import`, file)).status, 200);
  const lineItems = records.map(({ variantId }) => ({ variantId, quantityOrdered: 1 }));
  const added = await server.post(`/api/v1/purchase-orders/${purchaseOrderId}/line-items`, { lineItems });
  assert.equal(added.status, 201, added.text);
  const whole = await server.engine.read(server.shopId, (tx) =>
    loadContent(tx, server.shopId, purchaseOrderId, asItIs),
  );
  assert.equal(whole.lineItems.length, 430);
  assert.deepEqual(await readContent(server.engine, server.shopId, purchaseOrderId, asItIs), whole);
});

test("the paper of an order that was sent has the names and addresses of then, a draft's those of now; it always has a date (C62)", async () => {
  await using server = await startServer({ console: true });
  const { shopId } = server;
  const call = async (method: string, path: string, body: string | object) => {
    const answer = await askAdmin(server, method, `/shops/${shopId}${path}`, body);
    assert.equal(answer.status, 200, answer.text);
  };
  const named = async (word: string): Promise<void> => {
    const records = [
      { type: "supplier", supplierId: "s", name: `${word} Mills`, address: { city: `${word} City` } },
      { type: "location", locationId: "l", name: `${word} Hall`, address: { city: `${word} Port` } },
    ];
    await call("POST", "/import", records.map((record) => `${JSON.stringify(record)}\n`).join(""));
    await call("PUT", "", { name: `${word} Shop`, settings: { timezone: "Pacific/Auckland" } });
  };
  await named("Old");
  const made = await server.post("/api/v1/purchase-orders", { supplierId: "s", locationId: "l" });
  const purchaseOrderId = made.textAt("data", "purchaseOrder", "purchaseOrderId");
  const paper = (nowMs: number) =>
    server.engine.read(shopId, async (tx) => {
      const { buyerName, supplier, deliverTo, orderDate } = await loadContent(tx, shopId, purchaseOrderId, {
        nowMs,
        next: null,
      });
      return [buyerName, supplier?.name, supplier?.address?.city, deliverTo.name, deliverTo.address?.city, orderDate];
    });
  const move = async (status: string): Promise<void> => {
    const moved = await server.post(`/api/v1/purchase-orders/${purchaseOrderId}/status`, { status });
    assert.equal(moved.status, 200, moved.text);
  };
  const namesOf = (word: string) => [`${word} Shop`, `${word} Mills`, `${word} City`, `${word} Hall`, `${word} Port`];
  // Half past one in the night there, and the day before in UTC.
  const drawnAtMs = Date.parse("2030-01-01T12:30:00Z");
  assert.deepEqual(await paper(drawnAtMs), [...namesOf("Old"), "2030-01-02"], "a draft's day is that of the drawing");
  server.clock.advance(Date.parse("2028-05-05T13:00:00Z") - server.clock.now());
  await move("Sent");
  await named("New");
  assert.deepEqual(await paper(drawnAtMs), [...namesOf("Old"), "2028-05-06"], "the day on which it was sent");
  assert.equal(
    (await server.get(`/api/v1/purchase-orders/${purchaseOrderId}`)).at("data", "purchaseOrder", "supplierName"),
    "New Mills",
    "answers name the supplier as it is called now",
  );
  const dated = await server.patch(`/api/v1/purchase-orders/${purchaseOrderId}`, { orderDate: "2028-05-01" });
  assert.equal(dated.status, 200, dated.text);
  assert.deepEqual(await paper(drawnAtMs), [...namesOf("Old"), "2028-05-01"]);
  await move("Draft");
  assert.deepEqual(await paper(drawnAtMs), [...namesOf("New"), "2028-05-01"], "a draft again");
});

test("a missing order is 404, and a character that no font has is 400 with its field and the way out", async () => {
  await using server = await startServer({ console: true });
  const { shopId } = server;
  const missing = await askAdmin(server, "GET", `/shops/${shopId}/purchase-orders/none/document.pdf`);
  assert.equal(missing.status, 404);
  const made = await server.post("/api/v1/purchase-orders", { noteToSupplier: "Greetings 𒀀" });
  const path = `/shops/${shopId}/purchase-orders/${made.textAt("data", "purchaseOrder", "purchaseOrderId")}`;
  const refused = await askAdmin(server, "GET", `${path}/document.pdf`);
  assert.equal(refused.status, 400);
  assert.equal(refused.at("error", "details", 0, "path"), "/noteToSupplier");
  assert.match(refused.text, /𒀀 \(U\+12000\) in the note to the supplier.*print the order.*OPENPO_DOCUMENT_FONT/i);
  assert.equal((await askAdmin(server, "GET", `${path}/document.csv`)).status, 200);
  const sheet = await askAdmin(server, "GET", `${path}/document`);
  assert.equal(sheet.at("data", "document", "remarks", 0, "text"), "Greetings 𒀀");
});

test("a shop's letterhead is kept, drawn, exported and imported, and what cannot be drawn is refused", async () => {
  await using server = await startServer({ console: true });
  const path = `/shops/${server.shopId}/document-settings`;
  const owner = await (await signInAs(server, "owner")).bearer();
  const put = (body: object) => askAdmin(server, "PUT", path, body, { key: owner });
  const logo = Buffer.from(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 2 1"><path fill="#123456" d="M0 0H2V1Z"/></svg>',
  ).toString("base64");
  const saved = await put({
    language: "fr",
    paper: "Letter",
    columns: ["unitCost"],
    footer: "SIREN 1",
    logo: { base64: logo },
  });
  assert.equal(saved.status, 200, saved.text);
  assert.equal(saved.at("data", "documentSettings", "logo", "contentType"), "image/svg+xml");
  // What is left out stays.
  assert.equal((await put({ footer: "SIREN 2" })).at("data", "documentSettings", "language"), "fr");
  for (const [body, at, message] of [
    [{ footer: "𒀀" }, "/footer", /OPENPO_DOCUMENT_FONT/],
    [{ logo: { base64: "R0lG" } }, "/logo/base64", /must be a PNG, a JPEG or an SVG/],
    [{ columns: ["unitCost", "unitCost"] }, "/columns/1", /./],
    [{ paper: "A5" }, "/paper", /./],
  ] as const) {
    const refused = await put(body);
    assert.deepEqual([refused.status, refused.at("error", "details", 0, "path")], [400, at], refused.text);
    assert.match(refused.text, message);
  }
  const order = `/shops/${server.shopId}/purchase-orders/${await orderOf(server)}`;
  assert.equal((await askAdmin(server, "GET", `${order}/document`)).at("data", "document", "title"), "Bon de commande");
  const exported: string[] = [];
  for await (const piece of exportRecords(server.engine, server.shopId)) exported.push(piece);
  const record =
    exported
      .join("")
      .split("\n")
      .find((line) => line.includes('"documentSettings"')) ?? "";
  assert.equal((await put({ logo: null, footer: null })).at("data", "documentSettings", "logo"), null);
  const brought = await askAdmin(server, "POST", `/shops/${server.shopId}/import`, `${record}\n`);
  assert.equal(brought.status, 200, brought.text);
  const read = await askAdmin(server, "GET", path);
  assert.deepEqual(
    [read.at("data", "documentSettings", "footer"), read.at("data", "documentSettings", "logo", "base64")],
    ["SIREN 2", logo],
  );
});

test("documents of one shop beyond those that may wait are 503 with Retry-After, and other shops' are drawn", async (t) => {
  await using server = await startServer({ console: true });
  const ids: string[] = [];
  for (let made = 0; made < 30; made += 1) ids.push(await orderOf(server));
  const theirOrder = { type: "purchaseOrder", purchaseOrderId: "po_theirs", poNumber: "T-1", lineItems: [] };
  assert.equal((await askAdmin(server, "PUT", "/shops/other", { name: "Other" })).status, 201);
  const brought = await askAdmin(server, "POST", "/shops/other/import", `${JSON.stringify(theirOrder)}\n`);
  assert.equal(brought.status, 200, brought.text);
  // The shop's first document is not drawn to its end until all have come.
  const goOn = Promise.withResolvers<void>();
  // oxlint-disable-next-line typescript/unbound-method -- it is bound when it is called
  const { draw } = DrawingThreads.prototype;
  t.mock.method(DrawingThreads.prototype, "draw", async function (this: DrawingThreads, content: DocumentContent) {
    if (content.poNumber !== theirOrder.poNumber) await goOn.promise;
    return await draw.call(this, content);
  });
  let refusals = 0;
  const asking = ids.map(async (id) => {
    const answer = await askAdmin(server, "GET", `/shops/${server.shopId}/purchase-orders/${id}/document.pdf`);
    if (answer.status === 503) refusals += 1;
    return answer;
  });
  try {
    // One is drawn and 20 wait; the others are refused.
    await until("9 are refused", () => refusals === ids.length - 1 - documentsWaitingPerShopMax);
    const theirs = await askAdmin(server, "GET", "/shops/other/purchase-orders/po_theirs/document.pdf");
    assert.equal(theirs.status, 200, theirs.text);
  } finally {
    goOn.resolve();
  }
  const answers = await Promise.all(asking);
  const refused = answers.filter(({ status }) => status === 503);
  assert.equal(answers.filter(({ status }) => status === 200).length, 1 + documentsWaitingPerShopMax);
  assert.equal(refused.length, 9);
  for (const { text, headers } of refused) {
    assert.match(text, /too many documents waiting/);
    assert.ok(Number(headers["retry-after"]) >= 1);
  }
});

test("a PDF of 500 lines is drawn by a thread that gives way to the event loop, and no page of it on the event loop", async (t) => {
  await using server = await startServer({ console: true });
  const made = await server.post("/api/v1/purchase-orders", {});
  const purchaseOrderId = made.textAt("data", "purchaseOrder", "purchaseOrderId");
  const lineItems = Array.from({ length: 500 }, (_line, index) => ({
    variantId: `v${index}`,
    quantityOrdered: index + 1,
    unitCost: 2.5,
  }));
  const added = await server.post(`/api/v1/purchase-orders/${purchaseOrderId}/line-items`, { lineItems });
  assert.equal(added.status, 201, added.text);
  const target = `/shops/${server.shopId}/purchase-orders/${purchaseOrderId}/document.pdf`;
  const pages = t.mock.method(PDFDocument.prototype, "addPage");
  const first = await askAdmin(server, "GET", target);
  assert.equal(first.status, 200, first.text);
  for (const nicer of nicenessOf("openpo-documents"))
    assert.equal(nicer, backgroundNiceness, "the event loop has the processor first");
  assert.equal(pages.mock.callCount(), 0);
  const content = await readContent(server.engine, server.shopId, purchaseOrderId, asItIs);
  await pdfOf(sheetOf(content), content.createdAtMs, loadFonts(null));
  assert.ok(pages.mock.callCount() > 5, "as it has when it is drawn here");
});
