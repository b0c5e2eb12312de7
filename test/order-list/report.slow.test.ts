/** The bound of the report of purchases (C70a). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { reportOrdersMax } from "../../src/operations/agent/report.ts";
import { startGoodsServer } from "../support/goods-server.ts";
import { connectAgent } from "../support/mcp.ts";

test(`more than ${reportOrdersMax} orders are refused, with the way to fewer`, async () => {
  await using server = await startGoodsServer();
  await using agent = await connectAgent(server, { key: server.readKey });
  const orders = Array.from({ length: reportOrdersMax + 1 }, (_, index) => ({
    type: "purchaseOrder",
    purchaseOrderId: `po_${index}`,
    poNumber: `PO-${index}`,
    status: "Sent",
    locationId: "warehouse",
    createdAt: index === 0 ? "2025-01-01T00:00:00.000Z" : "2026-01-01T00:00:00.000Z",
    lineItems: [],
  }));
  await server.bring(orders);
  const answer = await agent.call("purchase_report", { groupBy: "supplier" });
  assert.ok(answer.isError);
  assert.match(answer.textAt("error", "action"), /Give from and to, or a status/);
  const year = await agent.call("purchase_report", { groupBy: "supplier", from: "2026-01-01" });
  assert.equal(year.at("total", "orderCount"), reportOrdersMax);
});
