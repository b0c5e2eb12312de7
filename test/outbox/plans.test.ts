/** What the outbox looks at: a step costs the same however much the shop has received before, and however much waits in other lanes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { claimLane, findDueLanes } from "../../src/shop/storefront/effects.ts";
import { claimsHeld } from "../../src/shop/order/order-claims.ts";
import { giveUpStatements, isPushInFlight, loadOpenPushes } from "../../src/shop/storefront/stock-pushes.ts";
import type { SqlValue, Tx } from "../../src/store/store.ts";
import { onPostgres } from "../support/store.ts";
import { shopId, withWorld } from "../support/peers/storefront.ts";

test(
  "effects of a lane and open pushes of an order are found in their own index, not among settled ones or other lanes",
  { skip: onPostgres && "what is looked at is a plan of sqlite" },
  () =>
    withWorld(async (world) => {
      const plans: string[] = [];
      await world.engine.write(shopId, async (tx) => {
        const explain = async (sql: string, params: readonly SqlValue[]): Promise<void> => {
          const steps = await tx.all<{ detail: string }>(`explain query plan ${sql}`, params);
          plans.push(...steps.map((step) => step.detail).filter((detail) => /effect|stock_push/.test(detail)));
        };
        const explaining: Tx = {
          all: async (sql, params = []) => {
            await explain(sql, params);
            return [];
          },
          batch: async (statements) => {
            for (const { sql, params } of statements) await explain(sql, params);
          },
        };
        await findDueLanes(explaining, shopId, "owner", ["push-stock po_1", "lane"], 1);
        await claimLane(explaining, shopId, "lane", "owner", { nowMs: 1, leasedUntilMs: 2 });
        await claimsHeld(explaining, shopId, "po_1", 1, null);
        await isPushInFlight(explaining, shopId, "po_1");
        await loadOpenPushes(explaining, shopId, "po_1", "reference");
        await explaining.batch(giveUpStatements(shopId, "po_1"));
      });
      const text = plans.join("\n");
      assert.ok(plans.length >= 10, text);
      for (const plan of plans) {
        // The first entry of `effect_oldest` is the one that is asked for.
        if (!plan.includes("COVERING INDEX effect_oldest")) assert.match(plan, /^SEARCH .* \(shop_id=\? AND /, text);
        assert.doesNotMatch(plan, /stock_push_by_order/, text);
      }
      // All that is due later is looked at twice, by the search for what is due: whose leases hold it up, and when the next one is due.
      assert.equal(plans.filter((plan) => plan.includes("due_at>")).length, 2, text);
    }),
);
