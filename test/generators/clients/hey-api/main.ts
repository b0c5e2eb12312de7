/** The calls of the check in TypeScript, with the client that @hey-api/openapi-ts makes. */
import assert from "node:assert/strict";
import { client } from "./generated/client.gen.js";
import {
  forecastViewRows,
  purchaseOrderConfirm,
  purchaseOrderCreate,
  purchaseOrderList,
  purchaseOrderStatus,
} from "./generated/sdk.gen.js";
import type { PurchaseOrderStatus } from "./generated/types.gen.js";

client.setConfig({
  baseUrl: String(process.env["OPENPO_URL"]),
  auth: String(process.env["OPENPO_API_KEY"]),
});
const exact = 1234.5678;

/** The data of a write that was done: none waits for somebody's approval (202), which this key's never do. */
function done<Data extends object>(data: Data | undefined): Exclude<Data, { approvalRequest: unknown }> {
  assert.ok(data !== undefined && !("approvalRequest" in data));
  return data as Exclude<Data, { approvalRequest: unknown }>;
}

const listed = await purchaseOrderList({
  query: { status: ["Draft", "Partially Received"], dateFrom: "2020-01-01" },
});
assert.equal(listed.data?.data.totalCount, 2);

const created = await purchaseOrderCreate({
  body: {
    supplierId: "mill",
    locationId: "warehouse",
    lineItems: [{ variantId: "red", quantityOrdered: 2, unitCost: exact }],
  },
});
const order = done(created.data?.data).purchaseOrder;
assert.equal(order.lineItems[0]?.unitCost, exact);
const path = { purchaseOrderId: order.purchaseOrderId };

const sent = await purchaseOrderStatus({ path, body: { status: "Sent" } });
assert.equal(done(sent.data?.data).transition.to, "Sent");

const confirmed = await purchaseOrderConfirm({ path, body: { confirmAll: true } });
const status: PurchaseOrderStatus | undefined = done(confirmed.data?.data).purchaseOrder.status;
assert.equal(status, "In Progress");

const refused = await purchaseOrderConfirm({ path, body: { confirmAll: false } });
assert.equal(refused.error?.error.code, "INVALID_INPUT");
const detail = refused.error.error.details?.[0];
assert.ok(detail !== undefined && "path" in detail);
assert.equal(detail.path, "/confirmAll");

const forecast = await forecastViewRows({ path: { viewId: "view_1" } });
assert.equal(typeof forecast.data?.data.rows[0]?.["onHand"], "number");

console.log("done");
