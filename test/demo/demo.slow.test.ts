/** The demo shop and the examples, which a newcomer sees first. */
// Only on sqlite: its subject is the examples.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import path from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { firstOrder } from "../../examples/first-order.ts";
import { demoRecords } from "../../src/demo/records.ts";
import { demoShop } from "../../src/demo/shop.ts";
import { statuses } from "../../src/core/order/purchase-order.ts";
import { fxRateFrom } from "../../src/core/money/money.ts";
import { withShops } from "../support/admin.ts";
import { withProgram } from "../support/process.ts";

const nowMs = Date.UTC(2026, 5, 15, 7, 30);
const run = promisify(execFile);

const ofType = (records: readonly Record<string, unknown>[], type: string) =>
  records.filter((record) => record["type"] === type);

test("the demo shop is the same at the same time, and its dates move with the time", () => {
  assert.deepEqual([...demoRecords(nowMs)], [...demoRecords(nowMs)]);
  assert.notDeepEqual([...demoRecords(nowMs)], [...demoRecords(nowMs + 86_400_000)]);
});

test("the demo shop has several currencies, locations, variants, sales and orders in every status", async () => {
  await withShops(async (open) => {
    const usd = fxRateFrom(demoShop.settings.fxRates.USD);
    assert.ok(usd !== null);
    const shop = await open("demo", { currencyCode: demoShop.currencyCode, fxRates: { USD: usd } });
    await shop.bring([...demoRecords(nowMs)]);
    const records = await shop.records();
    assert.deepEqual(
      new Set(ofType(records, "supplier").map((supplier) => supplier["currencyCode"])),
      new Set(["EUR", "USD"]),
    );
    assert.equal(ofType(records, "location").length, 2);
    const variants = ofType(records, "variant");
    assert.ok(variants.length >= 40);
    assert.equal(new Set(variants.map((variant) => variant["sku"])).size, variants.length);
    const days = ofType(records, "sale").map((sale) => String(sale["date"]));
    assert.ok(new Set(days).size > 90);
    const orders = ofType(records, "purchaseOrder");
    assert.deepEqual(new Set(orders.map((order) => order["status"])), new Set(statuses));
    assert.ok(
      orders.some((order) => order["paidStatus"] === "Paid") &&
        orders.some((order) => order["paidStatus"] === "Unpaid"),
    );
    for (const order of orders) {
      assert.ok(Number(order["totalValue"]) > 0);
      assert.deepEqual(order["unpricedLineItemIds"], []);
      for (const field of ["createdAt", "updatedAt"])
        assert.ok(Date.parse(String(order[field])) < nowMs, `${field} is past`);
    }
  });
});

test("the first-order examples run against a server, in TypeScript and with curl", async () => {
  await withProgram(async (program, token) => {
    const told = await firstOrder(program.url, token);
    assert.match(told[0] ?? "", /Sent/);
    assert.match(told[1] ?? "", /PO-1001/);
    const script = path.join(import.meta.dirname, "../../examples/first-order.sh");
    const { stdout } = await run("bash", [script, program.url], {
      env: { PATH: process.env["PATH"], ADMIN_TOKEN: token },
    });
    assert.match(stdout, /"status":"Sent"/);
    assert.equal((await program.ask("GET", "/admin/v1/shops", token)).at("data", "totalCount"), 0);
  });
});
