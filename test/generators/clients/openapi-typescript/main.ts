/** The calls of the check in TypeScript, with the types that openapi-typescript makes and openapi-fetch. */
import assert from "node:assert/strict";
import createClient from "openapi-fetch";
import type { components, paths } from "./generated/schema.js";

const client = createClient<paths>({
  baseUrl: String(process.env["OPENPO_URL"]),
  headers: { Authorization: `Bearer ${String(process.env["OPENPO_API_KEY"])}` },
});
const exact = 1234.5678;

/** The data of a write that was done: none waits for somebody's approval (202), which this key's never do. */
function done<Data extends object>(data: Data | undefined): Exclude<Data, { approvalRequest: unknown }> {
  assert.ok(data !== undefined && !("approvalRequest" in data));
  return data as Exclude<Data, { approvalRequest: unknown }>;
}

const listed = await client.GET("/api/v1/purchase-orders", {
  params: { query: { status: ["Draft", "Partially Received"], dateFrom: "2020-01-01" } },
});
assert.equal(listed.data?.data.totalCount, 2);

const created = await client.POST("/api/v1/purchase-orders", {
  body: {
    supplierId: "mill",
    locationId: "warehouse",
    lineItems: [{ variantId: "red", quantityOrdered: 2, unitCost: exact }],
  },
});
const order = done(created.data?.data).purchaseOrder;
assert.equal(order.lineItems[0]?.unitCost, exact);
const path = { purchaseOrderId: order.purchaseOrderId };

const sent = await client.POST("/api/v1/purchase-orders/{purchaseOrderId}/status", {
  params: { path },
  body: { status: "Sent" },
});
assert.equal(done(sent.data?.data).transition.to, "Sent");

const confirmed = await client.POST("/api/v1/purchase-orders/{purchaseOrderId}/confirm", {
  params: { path },
  body: { confirmAll: true },
});
const status: components["schemas"]["PurchaseOrderStatus"] | undefined = done(confirmed.data?.data).purchaseOrder
  .status;
assert.equal(status, "In Progress");

const refused = await client.POST("/api/v1/purchase-orders/{purchaseOrderId}/confirm", {
  params: { path },
  body: { confirmAll: false },
});
assert.equal(refused.error?.error.code, "INVALID_INPUT");
const detail = refused.error.error.details?.[0];
assert.ok(detail !== undefined && "path" in detail);
assert.equal(detail.path, "/confirmAll");

const forecast = await client.GET("/api/v1/forecast-views/{viewId}/rows", { params: { path: { viewId: "view_1" } } });
assert.equal(typeof forecast.data?.data.rows[0]?.["onHand"], "number");

console.log("done");
