/**
 * Budgets of round trips to PostgreSQL, for one call of an operation: how often it waits for the database, however many statements are sent
 * together. Tests fail when an operation waits more often. Fewer is progress: then lower the budget.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { restOperations } from "../../../src/operations/registry.ts";
import { openCountedNode } from "../../support/postgres/flights.ts";
import { freshDatabase } from "../../support/postgres/postgres.ts";

/** The request, the calls of the built-in storefront, and the follow-on work that the answer waits for. */
type Budget = readonly [request: number, storefront: number, followOn: number];

const budgets: Readonly<Record<string, Budget>> = {
  purchase_order_get: [3, 0, 0],
  purchase_order_list: [4, 0, 0],
  purchase_order_create: [4, 0, 0],
  purchase_order_line_item_update: [4, 0, 0],
  purchase_order_confirm: [4, 1, 0],
  // Of the follow-on work at least 5. On a machine that is busy its lanes may end apart, and other nodes are asked how far they are.
  purchase_order_receive: [6, 4, 9],
};

test("operations wait for the database no more often than their budgets say", async (t) => {
  const database = await freshDatabase({ empty: true });
  try {
    await using node = await openCountedNode(database.url);
    for (const operation of restOperations) {
      const budget = budgets[operation.name];
      if (budget === undefined) continue;
      const { method } = operation.route;
      // The second call is counted: the first one runs the shop's sweeps.
      await node.ask(method, ...(await node.prepare(operation)));
      let counted: readonly number[] = budget.map(() => Infinity);
      let isWithin = false;
      // What a busy machine adds to a count, such as the node's look for what other nodes have left, is not in each of three.
      for (let call = 1; call <= 3 && !isWithin; call += 1) {
        const { request, storefront, followOn } = await node.costOf(method, await node.prepare(operation));
        const trips = [request, storefront, followOn].map(({ roundTrips }) => roundTrips);
        t.diagnostic(`${operation.name}: ${trips.join(" + ")}`);
        counted = counted.map((least, index) => Math.min(least, trips[index] ?? 0));
        isWithin = counted.every((count, index) => count <= (budget[index] ?? 0));
      }
      assert.ok(
        isWithin,
        `${operation.name}: ${counted.join(" + ")} of ${budget.join(" + ")}\n${node.flights.join("\n\n")}`,
      );
    }
  } finally {
    await database.drop();
  }
});
