/**
 * The token of a supplier's link is looked for in everything that the service writes, sends and answers after it was made and used: output, spans, webhooks,
 * metrics, exports, logs and audit rows, pages of other orders, documents, and the store itself (C64).
 */
// Only on sqlite: its subject is what is written, sent and answered, by the same code on both engines.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { serveProgram, withDirectory } from "../support/process.ts";
import { startReceiver } from "../support/peers/receiver.ts";
import { textsOf } from "../support/store.ts";

const shop = "/admin/v1/shops/shop";

test("a link's token is in nothing that is written, sent or answered, whatever is done with the link", async () => {
  const receiver = await startReceiver();
  try {
    await withDirectory(async (directory) => {
      const spansFile = `${directory}.spans`;
      const preload = pathToFileURL(path.join(import.meta.dirname, "../support/programs/recording-tracer.ts")).href;
      const program = await serveProgram({
        OPENPO_DATA_DIR: directory,
        OPENPO_DEMO: "0",
        PORT: "0",
        OPENPO_LOG_LEVEL: "trace",
        OPENPO_WEBHOOK_ALLOW: "127.0.0.0/8",
        OPENPO_WEBHOOK_HTTP: "1",
        OPENPO_TEST_SPANS: spansFile,
        NODE_OPTIONS: `--import=${preload} --disable-warning=ExperimentalWarning`,
      });
      const token = program.adminToken;
      const admin = (method: string, target: string, body?: unknown) => program.ask(method, shop + target, token, body);
      assert.equal((await admin("PUT", "", { name: "Shop", currencyCode: "EUR" })).status, 201);
      const apiKey = String((await admin("POST", "/keys", { name: "bot", scope: "write" })).at("data", "apiKey"));
      const order = (purchaseOrderId: string): object => ({
        type: "purchaseOrder",
        purchaseOrderId,
        status: "Sent",
        supplierId: "mill",
        locationId: "dock",
        expectedDeliveryDate: "2020-01-01",
        lineItems: [{ poLineItemId: `${purchaseOrderId}-1`, variantId: "red", quantityOrdered: 5, unitCost: 2 }],
      });
      const records = [
        { type: "location", locationId: "dock", name: "Dock" },
        { type: "supplier", supplierId: "mill", name: "Mill" },
        { type: "variant", variantId: "red", productId: "shirt", productName: "Shirt" },
        order("po_1"),
        order("po_2"),
      ];
      const brought = await admin("POST", "/import", records.map((record) => JSON.stringify(record)).join("\n"));
      assert.equal(brought.status, 200, brought.text);
      await admin("POST", "/webhook-endpoints", { url: receiver.url, eventTypes: ["*"] });
      const made = await admin("POST", "/purchase-orders/po_1/supplier-links", {});
      const url = new URL(String(made.at("data", "url")));
      const link = `${program.url}${url.pathname}`;
      const secret = url.pathname.slice(-34);
      const other = await admin("POST", "/purchase-orders/po_2/supplier-links", {});
      const otherLink = `${program.url}${new URL(String(other.at("data", "url"))).pathname}`;

      /** By name. The pages behind the link itself have its path, in their forms. */
      const told = new Map<string, string>();
      const keep = async (name: string, answered: Response): Promise<Response> => {
        const text = Buffer.from(await answered.arrayBuffer()).toString("latin1");
        told.set(name, `${answered.status} ${JSON.stringify([...answered.headers])} ${text}`);
        return answered;
      };
      const page = await fetch(link);
      assert.equal(page.status, 200);
      assert.equal(page.headers.get("referrer-policy"), "no-referrer");
      assert.match(page.headers.get("cache-control") ?? "", /no-store/);
      for (const kind of ["pdf", "csv"]) {
        const file = await keep(`document.${kind}`, await fetch(`${link}/document.${kind}`));
        assert.equal(file.status, 200);
      }
      const json = { "Content-Type": "application/json" };
      const line = { lineItemId: "po_1-1", quantityConfirmed: 4, expectedDeliveryDate: "2099-01-01" };
      const proposed = await keep(
        "proposal",
        await fetch(`${link}/proposal`, {
          method: "POST",
          headers: json,
          body: JSON.stringify({ lines: [line], reference: "SO" }),
        }),
      );
      assert.equal(proposed.status, 201);
      await keep("refused", await fetch(`${link}/proposal`, { method: "POST", headers: json, body: "{" }));
      await keep("nothing there", await fetch(`${link}/nothing`));
      await keep("other method", await fetch(link, { method: "PUT", body: "{}" }));
      await keep(
        "as a key",
        await fetch(`${program.url}/api/v1/purchase-orders`, {
          headers: { Authorization: `Bearer ${url.pathname.slice(3)}` },
        }),
      );
      await keep("as a referrer", await fetch(`${program.url}/readyz`, { headers: { Referer: link } }));
      await keep(
        "as an origin of a console",
        await fetch(`${program.url}/console/orders`, { headers: { Referer: link } }),
      );
      await keep("other order's page", await fetch(otherLink));
      const proposals = await admin("GET", "/purchase-orders/po_1/proposals");
      const proposalId = String(proposals.at("data", "proposals", 0, "proposalId"));
      const accepted = await admin("POST", `/purchase-orders/po_1/proposals/${proposalId}/accept`, {});
      assert.equal(accepted.status, 200, accepted.text);
      for (const target of [
        "/export",
        "/audit-log?limit=500",
        "/changes",
        "/events?limit=500",
        "/proposals",
        "/purchase-orders/po_1/supplier-links",
        "/purchase-orders/po_1/proposals",
        "/purchase-orders/po_1/documents",
        "/purchase-orders/po_2/proposals",
      ])
        told.set(target, (await admin("GET", target)).text);
      for (const target of [
        "/api/v1/purchase-orders",
        "/api/v1/purchase-orders/po_1",
        "/api/v1/purchase-orders/po_1/log",
      ])
        told.set(target, (await program.ask("GET", target, apiKey)).text);
      told.set("/metrics", (await program.ask("GET", "/metrics", token)).text);
      await receiver.until(() => receiver.received.some(({ type }) => type === "purchase_order.confirmed"));
      told.set("webhooks", JSON.stringify(receiver.received));
      const { code, stdout, stderr } = await program.end("SIGTERM");
      assert.equal(code, 0);
      told.set("output", stdout + stderr);
      assert.ok(existsSync(spansFile));
      told.set("spans", readFileSync(spansFile, "utf8"));
      const stored = await textsOf(directory, "shop");
      assert.ok([...stored.values()].some((text) => text.includes("SO") && text.includes("po_1")));
      const found = [...told, ...stored].filter(([, text]) => text.includes(secret)).map(([name]) => name);
      assert.deepEqual(found, []);
      // What was looked through is not empty: the link's requests are in the log and in the audit log, without it.
      assert.match(told.get("output") ?? "", /\/s\/opl_\*\*\*/);
      assert.match(told.get("/audit-log?limit=500") ?? "", /\/s\/opl_\*\*\*\/proposal/);
      assert.match(told.get("spans") ?? "", /"name"/);
    });
  } finally {
    await receiver.close();
  }
});
