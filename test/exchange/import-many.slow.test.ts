/** An import of many orders into an empty shop. `ORDERS=100000` imports more of them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { checkRecords, importRecords } from "../../src/exchange/import.ts";
import { previewRecordsMax } from "../../src/exchange/import-preview.ts";
import { ndjson, piecesOf, withShops } from "../support/admin.ts";

const orders = Number(process.env["ORDERS"] ?? 20_000);

async function* file(): AsyncGenerator<Uint8Array> {
  const piece = 1_000;
  for (let start = 0; start < orders; start += piece) {
    const lines = Array.from({ length: piece }, (_, index) =>
      JSON.stringify({
        type: "purchaseOrder",
        purchaseOrderId: `po-${start + index}`,
        poNumber: `PO-${10_000 + start + index}`,
        status: "Draft",
        lineItems: [{ variantId: `v-${index}`, quantityOrdered: 1, unitCost: 2.5 }],
      }),
    );
    yield Buffer.from(`${lines.join("\n")}\n`);
  }
}

test(`${orders.toLocaleString("en")} orders are imported`, { timeout: 1_800_000 }, async () => {
  await withShops(async (open) => {
    const { engine, shop, ...context } = await open("one");
    assert.deepEqual(await importRecords({ engine, ...context }, shop, file(), "req_1"), { purchaseOrder: orders });
    const [stored] = await engine.read(shop.shopId, (tx) =>
      tx.all<{ count: number }>("select count(*) as count from purchase_order where shop_id = ?", [shop.shopId]),
    );
    assert.equal(stored?.count, orders);
  });
});

test("a preview looks at so many records of a file, and says that there are more", async () => {
  await withShops(async (open) => {
    const { shop, ...context } = await open("one");
    const level = (nth: number) => ({ type: "inventoryLevel", variantId: `v${nth}`, locationId: "l", onHand: 1 });
    for (const more of [0, 1]) {
      const levels = Array.from({ length: previewRecordsMax + more }, (_, nth) => level(nth));
      const { preview } = await checkRecords(context, shop, piecesOf(ndjson(levels), 65_536), "req_check");
      assert.equal(preview.isTruncated, more === 1);
      assert.equal(preview.types[0]?.created, previewRecordsMax);
    }
  });
});
