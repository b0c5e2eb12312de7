/**
 * The program is killed (-9) while a supplier's answer is accepted: all of it is accepted or nothing, and the same call again finds it accepted or
 * accepts it (D276, C64a).
 *
 * `OPENPO_TEST_ACCEPT_KILLS` is the number of kills, `OPENPO_TEST_ACCEPT_SEED` seeds their times.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { type RunningProgram, serveProgram, withDirectory } from "../support/process.ts";
import { pause } from "../support/until.ts";
import { randomOf } from "../world/random.ts";

const killCount = Number(process.env["OPENPO_TEST_ACCEPT_KILLS"] ?? 4);
const seed = Number(process.env["OPENPO_TEST_ACCEPT_SEED"] ?? 20_261_123);
const lineCount = 150;
const shop = "/admin/v1/shops/shop";

const orderSchema = z.object({
  data: z.object({
    purchaseOrder: z.object({
      status: z.string(),
      version: z.int(),
      supplierReference: z.string().nullable(),
      lineItems: z.array(z.object({ quantityConfirmed: z.number(), expectedDeliveryDate: z.string().nullable() })),
    }),
  }),
});
const eventsSchema = z.object({
  data: z.object({ events: z.array(z.object({ data: z.object({ purchaseOrderId: z.string().optional() }) })) }),
});

/** Makes a sent order that its supplier has answered. @returns the proposal's id. */
async function answeredOrder(program: RunningProgram, token: string, orderId: string): Promise<string> {
  const lineItems = Array.from({ length: lineCount }, (_, index) => ({
    poLineItemId: `${orderId}-${index}`,
    variantId: "red",
    quantityOrdered: 5,
    unitCost: 2,
  }));
  const record = {
    type: "purchaseOrder",
    purchaseOrderId: orderId,
    status: "Sent",
    supplierId: "mill",
    locationId: "dock",
    lineItems,
  };
  const brought = await program.ask("POST", `${shop}/import`, token, JSON.stringify(record));
  assert.equal(brought.status, 200, brought.text);
  const link = await program.ask("POST", `${shop}/purchase-orders/${orderId}/supplier-links`, token, {});
  assert.equal(link.status, 201, link.text);
  const proposed = await fetch(`${program.url}${new URL(String(link.at("data", "url"))).pathname}/proposal`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({
      lines: lineItems.map(({ poLineItemId }) => ({
        lineItemId: poLineItemId,
        quantityConfirmed: 4,
        expectedDeliveryDate: "2099-12-24",
      })),
      reference: `SO-${orderId}`,
    }),
  });
  assert.equal(proposed.status, 201);
  const listed = await program.ask("GET", `${shop}/purchase-orders/${orderId}/proposals`, token);
  return String(listed.at("data", "proposals", 0, "proposalId"));
}

test("a kill while a supplier's answer is accepted leaves all of it accepted or nothing; the same call again ends in one acceptance", async (context) => {
  const random = randomOf(String(seed));
  const found = { open: 0, accepted: 0 };
  await withDirectory(async (directory) => {
    const env = { OPENPO_DATA_DIR: directory, OPENPO_DEMO: "0", PORT: "0", OPENPO_LOG_LEVEL: "fatal" };
    let program = await serveProgram(env);
    const token = program.adminToken;
    await program.ask("PUT", shop, token, { name: "Shop", currencyCode: "EUR", settings: { followOnWaitMs: 0 } });
    const apiKey = String(
      (await program.ask("POST", `${shop}/keys`, token, { name: "bot", scope: "read" })).at("data", "apiKey"),
    );
    const records = [
      { type: "location", locationId: "dock", name: "Dock" },
      { type: "supplier", supplierId: "mill", name: "Mill" },
      { type: "variant", variantId: "red", productId: "shirt", productName: "Shirt" },
    ];
    await program.ask("POST", `${shop}/import`, token, records.map((record) => JSON.stringify(record)).join("\n"));
    // How long an acceptance takes here, so that kills strike within one.
    let tookMs = 100;
    for (let kill = 0; kill <= killCount; kill += 1) {
      const orderId = `po_${kill}`;
      const proposalId = await answeredOrder(program, token, orderId);
      const orderNow = async () => {
        const read = await program.ask("GET", `/api/v1/purchase-orders/${orderId}`, apiKey);
        return orderSchema.parse(read.at()).data.purchaseOrder;
      };
      const stateNow = async (): Promise<unknown> => {
        const listed = await program.ask("GET", `${shop}/purchase-orders/${orderId}/proposals`, token);
        return listed.at("data", "proposals", 0, "status");
      };
      const eventCount = async (): Promise<number> => {
        const told = await program.ask("GET", `${shop}/events?limit=500`, token);
        return eventsSchema.parse(told.at()).data.events.filter(({ data }) => data.purchaseOrderId === orderId).length;
      };
      const before = await orderNow();
      const eventsBefore = await eventCount();
      const accept = `${shop}/purchase-orders/${orderId}/proposals/${proposalId}/accept`;
      const startedMs = performance.now();
      const accepting = program.ask("POST", accept, token, {}).catch(() => null);
      if (kill === 0) {
        assert.equal((await accepting)?.status, 200);
        tookMs = performance.now() - startedMs;
      } else {
        await pause(((kill - random.next()) / killCount) * tookMs);
        await program.end("SIGKILL");
        const answered = await accepting;
        program = await serveProgram(env);
        const state = await stateNow();
        const after = await orderNow();
        if (state === "open") {
          assert.equal(answered, null, "what was answered is kept");
          assert.deepEqual(after, before);
          assert.equal(await eventCount(), eventsBefore);
          found.open += 1;
        } else {
          assert.equal(state, "accepted");
          found.accepted += 1;
        }
      }
      const again = await program.ask("POST", accept, token, {});
      assert.equal(again.status, 200, again.text);
      const end = await orderNow();
      assert.equal(end.status, "Confirmed");
      assert.equal(end.supplierReference, `SO-${orderId}`);
      for (const line of end.lineItems)
        assert.deepEqual([line.quantityConfirmed, line.expectedDeliveryDate], [4, "2099-12-24"]);
      const events = await eventCount();
      const version = end.version;
      assert.equal((await program.ask("POST", accept, token, {})).status, 200);
      assert.deepEqual([await eventCount(), (await orderNow()).version], [events, version], "once");
    }
    context.diagnostic(`after the kills ${found.open} were open and ${found.accepted} accepted`);
    assert.equal((await program.end("SIGTERM")).code, 0);
  });
});
