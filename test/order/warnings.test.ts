/** Warnings in the answers of writes (C16). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isJsonArray } from "../../src/base/json.ts";
import { startGoodsServer } from "../support/goods-server.ts";
import type { TestResponse } from "../support/server.ts";

const orders = "/api/v1/purchase-orders";

/** `path reason` of each warning; null when the member is absent. */
function warned(answer: TestResponse): string | null {
  assert.ok(answer.status < 300, answer.text);
  if (!answer.text.includes('"warnings"')) return null;
  const warnings = answer.at("data", "warnings") ?? null;
  assert.ok(isJsonArray(warnings));
  return warnings
    .map(
      (_, index) =>
        `${answer.textAt("data", "warnings", index, "path")} ${answer.textAt("data", "warnings", index, "reason")}`,
    )
    .join(", ");
}

test("each write tells what looks wrong in what was sent, and does it", async () => {
  await using server = await startGoodsServer();
  const fine = { variantId: "red", quantityOrdered: 6, unitCost: 4, moq: 6, packSize: 3 };
  const created = await server.post(orders, { supplierId: "mill", locationId: "warehouse", lineItems: [fine] });
  assert.equal(warned(created), null);
  const wrong = await server.post(orders, {
    supplierId: "nobody",
    locationId: "nowhere",
    lineItems: [fine, { variantId: "R-1", quantityOrdered: 5, packSize: 2 }],
  });
  assert.equal(
    warned(wrong),
    "/supplierId unknown-supplier, /locationId unknown-location, /lineItems/1/variantId unknown-variant, " +
      "/lineItems/1/unitCost no-cost, /lineItems/1/quantityOrdered off-pack-size",
  );
  const order = `${orders}/${created.textAt("data", "purchaseOrder", "purchaseOrderId")}`;
  const line = created.textAt("data", "purchaseOrder", "lineItems", 0, "poLineItemId");
  assert.equal(
    warned(await server.patch(order, { supplierId: "nobody" })),
    "/supplierId unknown-supplier, /supplierId other-supplier-terms",
    "what was typed stays",
  );
  assert.equal(warned(await server.patch(order, { note: "x" })), null, "only what is sent is looked at");
  assert.equal(
    warned(await server.post(`${order}/line-items`, { lineItems: [fine, { ...fine, quantityOrdered: 3 }] })),
    "/lineItems/1/quantityOrdered off-moq",
  );
  assert.equal(
    warned(await server.post(`${order}/line-items/custom`, { productName: "Pallet", quantityOrdered: 1, moq: 5 })),
    "/unitCost no-cost",
  );
  const edit = { lineItemId: line, quantityOrdered: 7 };
  assert.equal(
    warned(await server.patch(`${order}/line-items`, { lines: [{ lineItemId: "gone", note: "x" }, edit] })),
    "/lines/1/quantityOrdered off-pack-size",
  );
  assert.equal(warned(await server.patch(`${order}/line-items`, { lines: [{ lineItemId: line, note: "y" }] })), null);
  assert.equal(
    warned(await server.post(`${order}/status`, { status: "Sent" })),
    " unknown-supplier,  off-pack-size,  off-moq,  no-cost",
    "the pallet has no cost",
  );
});

test("an order that is sent without lines is warned of, and so is the deletion of an open order's last line", async () => {
  await using server = await startGoodsServer();
  await server.bringOrder("Draft", []);
  assert.equal(warned(await server.post(server.order("/status"), { status: "Sent" })), " no-lines");
  const added = await server.post(server.order("/line-items"), {
    lineItems: [{ variantId: "red", quantityOrdered: 1, unitCost: 0 }],
  });
  assert.equal(warned(added), null, "a cost of 0 that was sent stands");
  const line = added.textAt("data", "lineItems", 0, "poLineItemId");
  const deleted = await server.delete(`${server.order("/line-items")}?lineItemIds=${line}`);
  assert.equal(warned(deleted), " no-lines");
});

test("a custom line in a currency without a rate is warned of, however it got there: it is left out of the totals", async () => {
  await using server = await startGoodsServer();
  await server.bringOrder("Draft", []);
  const line = { productName: "Pallet", quantityOrdered: 3, unitCost: 2 };
  const added = await server.post(server.order("/line-items/custom"), { ...line, unitCostCurrencyCode: "JPY" });
  assert.equal(warned(added), "/unitCostCurrencyCode no-rate");
  const id = added.textAt("data", "lineItems", 0, "poLineItemId");
  assert.deepEqual(added.at("data", "purchaseOrder", "unpricedLineItemIds"), [id]);
  const edited = await server.patch(server.order("/line-items"), {
    lines: [{ lineItemId: id, unitCostCurrencyCode: "CHF" }],
  });
  assert.equal(warned(edited), "/lines/0/unitCostCurrencyCode no-rate");
  const priced = await server.patch(server.order("/line-items"), {
    lines: [{ lineItemId: id, unitCostCurrencyCode: null }],
  });
  assert.equal(warned(priced), null);
  assert.equal(priced.at("data", "purchaseOrder", "totalValue"), 6);
});

test("a line whose cost nobody sent and nobody knows is warned of when its supplier or itself changes, and at Sent", async () => {
  await using server = await startGoodsServer();
  await server.bring([
    { type: "supplier", supplierId: "weaver", name: "The Weaver" },
    { type: "variant", variantId: "plain", productId: "plain", productName: "Plain" },
    { type: "supplierVariant", supplierId: "mill", variantId: "plain", unitCost: 3 },
  ]);
  const lineItems = [
    { variantId: "plain", quantityOrdered: 2 },
    { variantId: "red", quantityOrdered: 2, unitCost: 0 },
  ];
  const created = await server.post(orders, { supplierId: "mill", locationId: "warehouse", lineItems });
  assert.equal(warned(created), null, "the mill's cost is known, and what is sent stands");
  const order = `${orders}/${created.textAt("data", "purchaseOrder", "purchaseOrderId")}`;
  const line = created.textAt("data", "purchaseOrder", "lineItems", 0, "poLineItemId");
  const edit = async (fields: object) =>
    warned(await server.patch(`${order}/line-items`, { lines: [{ lineItemId: line, ...fields }] }));
  const moved = await server.patch(order, { supplierId: "weaver" });
  assert.equal(moved.at("data", "purchaseOrder", "lineItems", 0, "unitCost"), 0);
  assert.equal(
    warned(moved),
    " no-cost, /supplierId other-supplier-terms",
    "the red one's 0 is typed, and is 1 in the catalogue",
  );
  assert.match(moved.textAt("data", "warnings", 0, "message"), /^No unitCost of plain is known/);
  assert.equal(await edit({ quantityOrdered: 3 }), "/lines/0/unitCost no-cost");
  assert.equal(await edit({ unitCostCurrencyCode: "EUR" }), "/lines/0/unitCost no-cost");
  assert.equal(await edit({ note: "x" }), null, "only what is sent is looked at");
  assert.equal(warned(await server.post(`${order}/status`, { status: "Sent" })), " no-cost");
  assert.equal(warned(await server.post(`${order}/status`, { status: "Draft" })), null);
  assert.equal(await edit({ unitCost: 0 }), null, "what is sent stands");
  assert.equal(await edit({ unitCost: 2 }), null);
  assert.equal(warned(await server.post(`${order}/status`, { status: "Sent" })), null);
  await server.post(`${order}/line-items/custom`, { productName: "Pallet", quantityOrdered: 1 });
  await server.post(`${order}/status`, { status: "On Hold" });
  const resumed = await server.post(`${order}/status`, { status: "Sent" });
  assert.equal(warned(resumed), " no-cost");
  assert.match(resumed.textAt("data", "warnings", 0, "message"), /^No unitCost of Pallet is known/);
});

test("a cost is a number: null is refused by its place, and nothing is written (C11, C32)", async () => {
  await using server = await startGoodsServer();
  await server.bringOrder("Draft", [{ poLineItemId: "a", variantId: "red", quantityOrdered: 1, unitCost: 4 }]);
  const sent = { quantityOrdered: 1, unitCost: null };
  const refused = [
    [
      "/lineItems/0/unitCost",
      await server.post("/api/v1/purchase-orders", { lineItems: [{ variantId: "red", ...sent }] }),
    ],
    [
      "/lineItems/0/unitCost",
      await server.post(server.order("/line-items"), { lineItems: [{ variantId: "red", ...sent }] }),
    ],
    ["/unitCost", await server.post(server.order("/line-items/custom"), { productName: "Pallet", ...sent })],
    [
      "/lines/0/unitCost",
      await server.patch(server.order("/line-items"), { lines: [{ lineItemId: "a", unitCost: null }] }),
    ],
  ] as const;
  for (const [path, answered] of refused) {
    assert.equal(answered.status, 400, path);
    assert.deepEqual(answered.at("error", "details"), [{ path, message: "must be a number" }]);
  }
  const order = await server.get(server.order());
  assert.equal(order.at("data", "purchaseOrder", "version"), 1);
  assert.equal((await server.get("/api/v1/purchase-orders")).at("data", "totalCount"), 1);
});
