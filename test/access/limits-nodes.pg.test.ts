/**
 * A cap (C78) under calls at two nodes, by two connections to one key.
 *
 * Only on postgres: a data directory has one process.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { askAdmin } from "../support/people.ts";
import { startServer } from "../support/server.ts";

const orders = "/api/v1/purchase-orders";

test("the first limits of a key that both nodes know hold at the other one from the next call on", async () => {
  await using one = await startServer({ console: true });
  await using other = await startServer({ console: true, beside: one });
  const keys = `/shops/${one.shopId}/keys`;
  const made = await askAdmin(one, "POST", keys, { name: "An agent", scope: "write" });
  const key = made.textAt("data", "apiKey");
  const create = (node: typeof one) => node.post(orders, { supplierId: "mill" }, { key });
  for (const node of [one, other]) assert.equal((await create(node)).status, 201);
  const limits = { supplierIds: ["dyer"], beyond: "refuse" };
  await askAdmin(one, "PATCH", `${keys}/${made.textAt("data", "keyId")}`, { limits });
  for (const node of [one, other]) assert.equal((await create(node)).status, 403);
});

test("no interleaving of calls at two nodes passes a cap, and one that is lowered holds at both", async () => {
  await using one = await startServer({ console: true });
  await using other = await startServer({ console: true, beside: one });
  const nodes = [one, other];
  const keys = `/shops/${one.shopId}/keys`;
  const limits = { dayValueMax: 100, beyond: "refuse" };
  const made = await askAdmin(one, "POST", keys, { name: "An agent", scope: "write", limits });
  const key = made.textAt("data", "apiKey");
  const order = await one.post(orders, { locationId: "loc" }, { key });
  const path = `${orders}/${order.textAt("data", "purchaseOrder", "purchaseOrderId")}`;
  assert.equal((await one.post(`${path}/status`, { status: "Sent" }, { key })).status, 200);
  const raise = (unitCost: number) => (_: unknown, index: number) =>
    (nodes[index % 2] ?? one).post(
      `${path}/line-items/custom`,
      { quantityOrdered: 1, unitCost, productName: "Work" },
      { key },
    );
  const answers = await Promise.all(Array.from({ length: 24 }, raise(7)));
  const count = (status: number): number => answers.filter((answered) => answered.status === status).length;
  assert.deepEqual([count(201), count(403)], [14, 10]);
  await askAdmin(other, "PATCH", `${keys}/${made.textAt("data", "keyId")}`, { limits: { ...limits, dayValueMax: 98 } });
  const later = await Promise.all(Array.from({ length: 4 }, raise(0.01)));
  assert.deepEqual(
    later.map(({ status }) => status),
    [403, 403, 403, 403],
  );
});
