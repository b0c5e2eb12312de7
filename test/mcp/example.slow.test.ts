/** The example of an agent runs against the demo shop, and REST shows what it did. */
// Only on sqlite: its subject is the example.
import assert from "node:assert/strict";
import { test } from "node:test";
import { agentStory } from "../../examples/agent-story.ts";
import { withProgram } from "../support/process.ts";

test("an agent orders what a forecast view suggests, and receives it", async () => {
  await withProgram(
    async (program) => {
      const key = program.word("write key");
      const order = await agentStory(program.url, key);
      assert.ok(typeof order === "object" && order !== null && "purchaseOrderId" in order && "lineItems" in order);
      const rest = await program.ask("GET", `/api/v1/purchase-orders/${String(order.purchaseOrderId)}`, key);
      assert.equal(rest.at("data", "purchaseOrder", "status"), "Received");
      const named = JSON.stringify(rest.at("data", "purchaseOrder", "lineItems")).replaceAll(
        "poLineItemId",
        "lineItemId",
      );
      assert.deepEqual(JSON.parse(named), order.lineItems);

      // Ordered was what the view suggested, which is then on its way or there: it suggests these no more.
      const ordered = new Map<unknown, unknown>();
      assert.ok(Array.isArray(order.lineItems) && order.lineItems.length > 0);
      for (const line of order.lineItems) {
        assert.ok(line.quantityOrdered > 0 && line.quantityReceived === line.quantityOrdered);
        ordered.set(line.variantId, line.quantityOrdered);
      }
      const views = await program.ask("GET", "/api/v1/forecast-views", key);
      const list = views.at("data", "forecastViews");
      assert.ok(Array.isArray(list));
      for (const { viewId } of list) {
        const rows = await program.ask("GET", `/api/v1/forecast-views/${viewId}/rows?limit=1000`, key);
        const left = rows.at("data", "rows");
        assert.ok(Array.isArray(left));
        for (const row of left)
          assert.ok(!(ordered.has(row.variantId) && row.suggestedOrderQuantity > 0), row.variantId);
      }
    },
    { OPENPO_DEMO: "1" },
  );
});
