/** Texts with control characters or bidi overrides: refused wherever they come in, neutralised where they are shown (§8). */
import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { text as textOf } from "node:stream/consumers";
import { test } from "node:test";
import { openOutput, table } from "../../src/cli/output.ts";
import { type GoodsServer, lineA, startGoodsServer } from "../support/goods-server.ts";
import { askAdmin, fromPage } from "../support/people.ts";
import { makeLink, propose } from "../support/peers/supplier-link.ts";
import type { TestResponse } from "../support/server.ts";

const red = "Tea\u001b[31m";
const reversed = "invoice\u202efdp.exe";

function refusedAt(answered: TestResponse, path: string): void {
  assert.equal(answered.status, 400, answered.text);
  assert.equal(answered.at("error", "details", 0, "path"), path, answered.text);
  assert.match(answered.textAt("error", "details", 0, "message"), /has U\+(?:001B|202E|000A|000D);/);
}

const start = (): Promise<GoodsServer & AsyncDisposable> => startGoodsServer({ console: true });

test("names, numbers and references are refused by the field, whoever sends them", async () => {
  await using server = await start();
  await server.bringOrder("Draft", [lineA]);
  refusedAt(await server.patch(server.order(), { poName: red }), "/poName");
  refusedAt(await server.patch(server.order(), { supplierReference: reversed }), "/supplierReference");
  refusedAt(await server.patch(server.order(), { poName: "two\nlines" }), "/poName");
  refusedAt(await server.patch(server.order(), { tags: ["fine", red] }), "/tags/1");
  refusedAt(await server.patch(server.order(), { shippingAddress: { city: red } }), "/shippingAddress/city");
  refusedAt(await server.patch(server.order(), { note: "a\rb" }), "/note");
  const { shopId } = server;
  refusedAt(await askAdmin(server, "PUT", `/shops/${shopId}`, { name: red }), "/name");
  refusedAt(await askAdmin(server, "POST", `/shops/${shopId}/keys`, { name: reversed, scope: "read" }), "/name");
  refusedAt(await askAdmin(server, "POST", `/shops/${shopId}/invitations`, { name: red, role: "viewer" }), "/name");
  refusedAt(await fromPage(server, "POST", "/session", { body: { apiKey: server.writeKey, name: red } }), "/name");
  const log = await server.get(server.order("/log"));
  assert.doesNotMatch(log.text, /u001b|\u202e/i);
});

test("a note takes line feeds and tabs, and its carriage returns before line feeds are not kept", async () => {
  await using server = await start();
  await server.bringOrder("Draft", [lineA]);
  const changed = await server.patch(server.order(), { note: "Ring twice.\r\n\tBack door.\nThanks" });
  assert.equal(changed.status, 200, changed.text);
  const read = await server.get(server.order());
  assert.equal(read.at("data", "purchaseOrder", "note"), "Ring twice.\n\tBack door.\nThanks");
});

test("a supplier's answer and an imported record are refused by the field", async () => {
  await using server = await start();
  await server.bringOrder("Sent", [lineA]);
  const link = await makeLink(server);
  refusedAt(await propose(server, link, { lines: [], reference: red }), "/reference");
  refusedAt(await propose(server, link, { lines: [], trackingNumber: reversed }), "/trackingNumber");
  refusedAt(await propose(server, link, { lines: [], message: reversed }), "/message");
  const file = (record: object): string => `${JSON.stringify(record)}\n`;
  const path = `/shops/${server.shopId}/import`;
  for (const record of [
    { type: "supplier", supplierId: "sup_red", name: red },
    { type: "purchaseOrder", purchaseOrderId: "po_red", poNumber: reversed, locationId: null },
    {
      type: "purchaseOrder",
      purchaseOrderId: "po_red",
      documents: [{ documentId: "doc", fileName: reversed, uploadedAt: "2026-01-01T00:00:00Z" }],
    },
    {
      type: "purchaseOrder",
      purchaseOrderId: "po_red",
      log: [
        {
          logId: "log",
          occurredAt: "2026-01-01T00:00:00Z",
          action: "updated",
          message: "Changed note.",
          actor: { type: "user", id: null, name: "Ana" },
          changes: [{ field: "note", before: null, after: red }],
        },
      ],
    },
  ]) {
    const refused = await askAdmin(server, "POST", path, file(record));
    assert.equal(refused.status, 400, refused.text);
    assert.match(refused.textAt("error", "details", 0, "message"), /has U\+(?:001B|202E);/);
  }
});

test("what the command shows moves no cursor and reads as it is written, as a table and as JSON", async () => {
  for (const json of [false, true]) {
    const streams = { stdout: new PassThrough(), stderr: new PassThrough() };
    const output = openOutput({ json, progress: false, ...streams });
    const shops = [{ name: `${red}\n\u009b2K${reversed}\u0007` }];
    output.result(
      { shops },
      table(
        ["NAME"],
        shops.map(({ name }) => [name]),
      ),
    );
    output.message(`Shop ${red} is there.`);
    streams.stdout.end();
    streams.stderr.end();
    const [stdout, stderr] = await Promise.all([textOf(streams.stdout), textOf(streams.stderr)]);
    assert.doesNotMatch(stdout.trimEnd().replaceAll("\n", ""), /[\p{Cc}\u202a-\u202e]/u);
    assert.equal(stderr, "Shop Tea [31m is there.\n");
    if (json) assert.deepEqual(JSON.parse(stdout), { shops });
    else assert.equal(stdout, "NAME\nTea [31m 2Kinvoice fdp.exe\n");
  }
});
