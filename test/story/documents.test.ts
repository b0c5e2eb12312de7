/** An order's document: what its supplier gets, as PDF and as CSV (C62). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { askAdmin } from "../support/people.ts";
import { startServer, type TestServer } from "../support/server.ts";

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
