/**
 * Random goods commands over HTTP, two at a time, while calls of the storefront are lost, throttled or fail: whatever was answered,
 * at rest the storefront has exactly what the orders say was received (P1–P3, C40, C43).
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { operations } from "../../src/operations/registry.ts";
import { type GoodsServer, startGoodsServer } from "../support/goods-server.ts";

type Command =
  | { readonly below: "/receive"; readonly body: object }
  | { readonly below: "/unreceive"; readonly body: object }
  | { readonly below: "/storefront-sync" | "/storefront-sync/reset"; readonly body: object };

const lineIds = ["a", "b"] as const;
const units = (min: number, max: number): fc.Arbitrary<number> =>
  fc.integer({ min: min * 1_000, max: max * 1_000 }).map((thousandths) => thousandths / 1_000);
const lines = <T extends object>(entry: Record<keyof T, fc.Arbitrary<unknown>>): fc.Arbitrary<object[]> =>
  fc.uniqueArray(fc.record({ lineItemId: fc.constantFrom(...lineIds), ...entry }), {
    minLength: 1,
    selector: (line) => line.lineItemId,
  });

const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      below: fc.constant("/receive" as const),
      body: fc.record({ lines: lines({ quantityReceived: units(0, 12) }), allowOverReceipt: fc.boolean() }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      below: fc.constant("/unreceive" as const),
      body: fc.record({ lines: lines({ quantity: units(0.001, 5) }) }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      below: fc.constantFrom("/storefront-sync" as const, "/storefront-sync/reset" as const),
      body: fc.constant({}),
    }),
  },
);

const fault = fc.record({
  call: fc.constant("changeOnHand" as const),
  outcome: fc.constantFrom("error" as const, "throttled" as const, "lost-response" as const, "refused" as const),
  times: fc.integer({ min: 1, max: 3 }),
});

const step = fc.record({
  faults: fc.array(fault, { maxLength: 2 }),
  commands: fc.array(command, { minLength: 1, maxLength: 2 }),
});

/** What the lines say, in units. */
async function figures(server: GoodsServer): Promise<readonly Record<string, number>[]> {
  const read = await server.get(server.order());
  return lineIds.map((_, index) =>
    Object.fromEntries(
      ["quantityOrdered", "quantityConfirmed", "quantityReceived", "quantitySynced"].map((member) => {
        const value = read.at("data", "purchaseOrder", "lineItems", index, member);
        assert.ok(typeof value === "number");
        return [member, value];
      }),
    ),
  );
}

const sumOf = (rows: readonly Record<string, number>[], member: string): number =>
  rows.reduce((sum, row) => sum + Math.round((row[member] ?? 0) * 1_000), 0);

test("any goods commands under any faults end in the stock that was received, exactly", async () => {
  await using server = await startGoodsServer({
    operations,
    outboxLimits: { attemptsMax: 2, backoffMs: 2 },
    shop: { followOnWaitMs: 100, confirmationWaitMs: 2_000 },
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), fc.boolean(), async (steps, autoSync) => {
      await server.changeShop({ autoSyncOnReceiving: autoSync, followOnWaitMs: 100, confirmationWaitMs: 2_000 });
      await server.faults([]);
      await server.bringOrder("In Progress", [
        { poLineItemId: "a", variantId: "red", quantityOrdered: 10, quantityConfirmed: 10 },
        { poLineItemId: "b", variantId: "red", quantityOrdered: 5.5 },
      ]);
      const opening = Math.round((await server.onHand("red")) * 1_000);
      for (const { faults, commands } of steps) {
        await server.faults(faults);
        const answers = await Promise.all(commands.map(({ below, body }) => server.post(server.order(below), body)));
        for (const answer of answers) assert.ok([200, 400].includes(answer.status), answer.text);
      }
      await server.faults([]);
      await server.settled();
      assert.equal((await server.post(server.order("/storefront-sync/reset"))).status, 200);
      const sync = await server.post(server.order("/storefront-sync"));
      assert.equal(sync.at("data", "confirmation", "status"), "verified", sync.text);

      const rows = await figures(server);
      for (const row of rows) {
        assert.ok((row["quantityReceived"] ?? -1) >= 0);
        assert.equal(row["quantitySynced"], row["quantityReceived"]);
      }
      assert.equal(Math.round((await server.onHand("red")) * 1_000), opening + sumOf(rows, "quantityReceived"));
      const levels = await server.engine.read(server.shopId, (tx) =>
        tx.all<{ on_hand: number }>(
          "select on_hand from inventory_level where shop_id = ? and variant_id = 'red' and location_id = 'warehouse'",
          [server.shopId],
        ),
      );
      assert.equal(levels[0]?.on_hand, opening + sumOf(rows, "quantityReceived"), "the shop's own level follows");
    }),
    { numRuns: 15 },
  );
});
