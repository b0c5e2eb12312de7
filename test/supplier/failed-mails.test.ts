/** Orders that read Sent while nobody has got their e-mail (C63): each is listed until it is mailed again, or moves on. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { failedMailKeptMs } from "../../src/core/supplier/mail.ts";
import { mailStatements } from "../../src/shop/supplier/mails.ts";
import { tables } from "../../src/shop/tables.ts";
import { update } from "../../src/store/change.ts";
import { type GoodsServer, lineA, startGoodsServer } from "../support/goods-server.ts";
import { askAdmin, signInAs } from "../support/people.ts";

const start = (): Promise<GoodsServer & AsyncDisposable> => startGoodsServer({ console: true });

type Settled = "failed" | "sent" | null;

/** Stores a mail of an order that stands so; null: it is still tried. */
async function mailed(server: GoodsServer, state: Settled, purchaseOrderId = "po_1") {
  const { engine, ids, clock, shopId } = server;
  const mailId = ids.next("mail");
  const actor = { type: "system", id: null, name: null } as const;
  const mail = {
    mailId,
    purchaseOrderId,
    recipients: [{ address: "a@b.example", role: "to", state: "pending", detail: null }] as const,
    content: { fromName: "Shop", replyTo: null, subject: "PO", text: "." },
    documents: [],
    orderVersion: 1,
  };
  const settledAtMs = clock.now();
  const over = { state: state ?? "queued", detail: state === "failed" ? "550 nobody" : null, due_at: null };
  await engine.write(shopId, async (tx) => {
    const stamp = { actor, operation: null, requestId: null, nowMs: clock.now(), ids };
    await tx.batch(mailStatements(shopId, mail, null, stamp));
    if (state !== null)
      await tx.batch([update(tables.mail, shopId, { mail_id: mailId }, { ...over, settled_at: settledAtMs })]);
  });
  return { mailId, settledAtMs };
}

const listed = async (server: GoodsServer): Promise<unknown> => {
  const answer = await askAdmin(server, "GET", `/shops/${server.shopId}/failed-mails`);
  assert.equal(answer.status, 200, answer.text);
  return answer.at("data", "mails");
};

test("an order that reads Sent is listed from the failure of its latest mail until a newer one", async () => {
  await using server = await start();
  await server.bringOrder("Sent", [lineA]);
  assert.deepEqual(await listed(server), []);
  await mailed(server, "sent");
  const { mailId, settledAtMs } = await mailed(server, "failed");
  assert.deepEqual(await listed(server), [
    {
      mailId,
      purchaseOrderId: "po_1",
      poNumber: (await server.get(server.order())).at("data", "purchaseOrder", "poNumber"),
      supplierName: "The Mill",
      detail: "550 nobody",
      settledAt: new Date(settledAtMs).toISOString(),
    },
  ]);
  await mailed(server, null);
  assert.deepEqual(await listed(server), []);
});

test("an order that moves on, and a failure of 30 days ago, are not listed", async () => {
  await using server = await start();
  await server.bringOrder("Sent", [lineA]);
  await mailed(server, "failed");
  assert.equal((await server.post(server.order("/status"), { status: "On Hold" })).status, 200);
  assert.deepEqual(await listed(server), []);
  assert.equal((await server.post(server.order("/status"), { status: "Sent" })).status, 200);
  assert.equal(Object(await listed(server)).length, 1);
  server.clock.advance(failedMailKeptMs);
  assert.deepEqual(await listed(server), []);
});

test("a viewer sees them, page by page; nobody sees those of another shop", async () => {
  await using server = await start();
  await server.bringOrder("Sent", [lineA]);
  await server.bring([
    { type: "purchaseOrder", purchaseOrderId: "po_2", status: "Sent", supplierId: "mill", locationId: "warehouse" },
  ]);
  await mailed(server, "failed");
  server.clock.advance(1_000);
  await mailed(server, "failed", "po_2");
  const key = await (await signInAs(server, "viewer")).bearer();
  const target = `/shops/${server.shopId}/failed-mails?limit=1`;
  const first = await askAdmin(server, "GET", target, undefined, { key });
  assert.equal(first.at("data", "mails", 0, "purchaseOrderId"), "po_2", first.text);
  assert.equal(first.at("data", "totalCount"), 2);
  const cursor = first.textAt("data", "cursor");
  const second = await askAdmin(server, "GET", `${target}&cursor=${encodeURIComponent(cursor)}`, undefined, { key });
  assert.deepEqual([second.at("data", "mails", 0, "purchaseOrderId"), second.at("data", "cursor")], ["po_1", null]);
  const wrong = await askAdmin(server, "GET", `/shops/${server.shopId}/failed-mails?cursor=x`, undefined, { key });
  assert.equal(wrong.status, 400);
  assert.equal((await askAdmin(server, "GET", "/shops/other/failed-mails", undefined, { key })).status, 403);
  assert.equal((await askAdmin(server, "GET", "/shops/other/failed-mails")).status, 404);
});
