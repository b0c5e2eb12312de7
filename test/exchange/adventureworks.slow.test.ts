/** Imports 4,012 AdventureWorks orders, finds them with every filter, and exports the same records. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { adventureWorksRecords } from "../../examples/adventureworks.ts";
import { type RunningProgram, withProgram } from "../support/process.ts";
import { until } from "../support/until.ts";

const data = path.join(import.meta.dirname, "../../../shared/data/adventureworks");
const skip = existsSync(data) ? false : `the AdventureWorks files are not there: ${data}`;

type Row = Readonly<Record<string, unknown>>;

/** Reads all pages of the list. Returns every row, and the `totalCount` of each page. */
async function listed(program: RunningProgram, key: string, query: string) {
  const rows: Row[] = [];
  const counts = new Set<number>();
  let cursor: string | null = "";
  while (cursor !== null) {
    const page = await program.ask("GET", `/api/v1/purchase-orders?limit=50${query}${cursor}`, key);
    assert.equal(page.status, 200, page.text);
    const body: { data: { purchaseOrders: Row[]; totalCount: number; cursor: string | null } } = JSON.parse(page.text);
    rows.push(...body.data.purchaseOrders);
    counts.add(body.data.totalCount);
    cursor = body.data.cursor === null ? null : `&cursor=${body.data.cursor}`;
  }
  return { rows, counts };
}

/** What the sandbox storefront shows as incoming, once it shows it in so many places. */
async function incomingAtStorefront(program: RunningProgram, token: string, places: number) {
  return until("incoming in so many places", async () => {
    const { text } = await program.ask("GET", "/admin/v1/shops/aw/sandbox", token);
    const body: {
      data: { variants: { variantId: string; levels: { locationId: string; incoming: number }[] }[] };
    } = JSON.parse(text);
    const incoming = new Map(
      body.data.variants.flatMap(({ variantId, levels }) =>
        levels
          .filter((level) => level.incoming !== 0)
          .map((level) => [`${variantId} ${level.locationId}`, level.incoming] as const),
      ),
    );
    return incoming.size === places && incoming;
  });
}

test(
  "the orders can be imported, listed, filtered and paged, and are exported as the same records",
  { skip },
  async () => {
    const records = [...adventureWorksRecords(data)];
    const orders = records.filter((record) => record["type"] === "purchaseOrder");
    assert.equal(orders.length, 4012);
    await withProgram(async (program, token) => {
      const settings = { rateLimit: { capacity: 100_000, refillPerSecond: 1_000 } };
      for (const shopId of ["aw", "copy"])
        await program.ask("PUT", `/admin/v1/shops/${shopId}`, token, { name: shopId, currencyCode: "USD", settings });
      const made = await program.ask("POST", "/admin/v1/shops/aw/keys", token, { name: "reader", scope: "read" });
      const key = String(made.at("data", "apiKey"));
      const file = records.map((record) => `${JSON.stringify(record)}\n`).join("");
      const imported = await program.ask("POST", "/admin/v1/shops/aw/import", token, file);
      assert.equal(imported.status, 200, imported.text);
      assert.equal(imported.at("data", "imported", "purchaseOrder"), 4012);

      const supplierId = String(orders[7]?.["supplierId"]);
      const linesOf = (order: Row): readonly Row[] => {
        const lines: unknown = order["lineItems"];
        return Array.isArray(lines) ? lines : [];
      };
      const variants = records.filter((record) => record["type"] === "variant");
      const skuOf = new Map(variants.map((variant) => [variant["variantId"], variant["sku"]] as const));
      const sku = String(skuOf.get(linesOf(orders[11] ?? {})[0]?.["variantId"]));
      const suppliers = records.filter((record) => record["type"] === "supplier");
      const named = new Set(
        suppliers.flatMap((supplier) =>
          String(supplier["name"]).toLowerCase().includes("cycl") ? [supplier["supplierId"]] : [],
        ),
      );
      assert.ok(named.size > 1);
      const filters: readonly (readonly [query: string, matches: (order: Row) => boolean])[] = [
        ["", () => true],
        [`&supplierId=${supplierId}`, (order) => order["supplierId"] === supplierId],
        ["&status=Disputed", (order) => order["status"] === "Disputed"],
        ["&status=Received,Partially%20Received", (order) => /Received/.test(String(order["status"]))],
        ["&dateFrom=2024-02-01&dateTo=2024-02-29", (order) => String(order["orderDate"]).startsWith("2024-02")],
        [`&sku=${sku}`, (order) => linesOf(order).some((line) => skuOf.get(line["variantId"]) === sku)],
        ["&search=CYCL", (order) => named.has(order["supplierId"])],
        ["&search=aw-101", (order) => String(order["poNumber"]).includes("AW-101")],
        ["&locationId=7&status=Completed", (order) => order["locationId"] === "7" && order["status"] === "Completed"],
      ];
      for (const [query, matches] of filters) {
        const { rows, counts } = await listed(program, key, query);
        const expected = orders.filter(matches).map((order) => String(order["purchaseOrderId"]));
        assert.ok(expected.length > 0, query);
        assert.deepEqual(counts, new Set([expected.length]), query);
        assert.deepEqual(rows.map((row) => String(row["purchaseOrderId"])).sort(), expected.sort(), query);
        const order = rows.map((row) => String(row["createdAt"]));
        assert.deepEqual(order, order.toSorted().reverse(), `${query}: newest first`);
      }

      const figure = (line: Row, name: string): number => Number(line[name]);
      const pending = (line: Row): number =>
        Math.max(
          0,
          figure(line, "quantityConfirmed") - figure(line, "quantityReceived") - figure(line, "quantityRejected"),
        );
      const isShort = (line: Row): boolean => figure(line, "quantityConfirmed") < figure(line, "quantityOrdered");
      assert.ok(orders.filter((order) => linesOf(order).some(isShort)).length > 100, "some are confirmed short");
      const { rows: all } = await listed(program, key, "");
      const pendingOf = new Map(all.map((row) => [row["purchaseOrderId"], row["quantityPending"]] as const));
      for (const order of orders)
        assert.equal(
          pendingOf.get(order["purchaseOrderId"]),
          linesOf(order).reduce((sum, line) => sum + pending(line), 0),
        );
      const incoming = new Map<string, number>();
      for (const order of orders.filter(({ status }) => status === "Partially Received"))
        for (const line of linesOf(order).filter((each) => pending(each) > 0)) {
          const place = `${String(line["variantId"])} ${String(order["locationId"])}`;
          incoming.set(place, (incoming.get(place) ?? 0) + pending(line));
        }
      assert.ok(incoming.size > 10);
      assert.deepEqual(await incomingAtStorefront(program, token, incoming.size), incoming);

      const exported = await program.ask("GET", "/admin/v1/shops/aw/export", token);
      const byKey = (record: Row): string =>
        ["type", "locationId", "supplierId", "variantId", "purchaseOrderId"]
          .map((name) => (record["type"] === "purchaseOrder" && name !== "purchaseOrderId" ? "" : String(record[name])))
          .join(" ");
      const out = new Map(
        exported.text
          .trimEnd()
          .split("\n")
          .map((line): Row => JSON.parse(line))
          .map((record) => [byKey(record), record] as const),
      );
      assert.equal(out.size, records.length);
      for (const record of records) {
        const found = out.get(byKey(record)) ?? {};
        for (const [name, value] of Object.entries(record)) {
          if (name === "lineItems") continue;
          assert.deepEqual(found[name], value, `${byKey(record)} ${name}`);
        }
        for (const [index, line] of linesOf(record).entries())
          for (const [name, value] of Object.entries(line))
            assert.deepEqual(linesOf(found)[index]?.[name], value, `${byKey(record)} line ${index} ${name}`);
      }
      await program.ask("POST", "/admin/v1/shops/copy/import", token, exported.text);
      assert.equal((await program.ask("GET", "/admin/v1/shops/copy/export", token)).text, exported.text);
    });
  },
);
