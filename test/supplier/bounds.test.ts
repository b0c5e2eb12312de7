/** Bounds on what suppliers can leave beside an order, and on what a page of theirs and a list of their answers show (C64). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { proposalsListedMax } from "../../src/admin/supplier/supplier-proposals.ts";
import { replacedProposalsMax, supplierPageLinesMax } from "../../src/suppliers/app.ts";
import type { SupplierProposal } from "../../src/core/supplier/supplier-proposals.ts";
import { proposalStatement } from "../../src/shop/supplier/supplier-proposals.ts";
import { lineA, startGoodsServer } from "../support/goods-server.ts";
import { askAdmin } from "../support/people.ts";
import { adminOrder, byLink, makeLink, newestProposal, propose } from "../support/peers/supplier-link.ts";

test("of the answers that a newer one has replaced, the latest replacedProposalsMax are kept", async () => {
  await using server = await startGoodsServer({ console: true });
  await server.bringOrder("Sent", [lineA]);
  const link = await makeLink(server);
  const answers = replacedProposalsMax + 4;
  for (let count = 1; count <= answers; count += 1)
    assert.equal((await propose(server, link, { reference: `SO-${count}` })).status, 201);
  const listed = (await newestProposal(server)).at("data", "proposals") as readonly { reference: string }[];
  assert.deepEqual(
    listed.map(({ reference }) => reference),
    Array.from({ length: replacedProposalsMax + 1 }, (_, index) => `SO-${answers - index}`),
  );
});

test("a list shows the newest proposalsListedMax proposals of an order", async () => {
  await using server = await startGoodsServer({ console: true });
  await server.bringOrder("Sent", [lineA]);
  const total = proposalsListedMax + 3;
  const rejected = (index: number): SupplierProposal => ({
    proposalId: `spr_${String(index).padStart(4, "0")}`,
    purchaseOrderId: "po_1",
    linkId: "slk_1",
    state: "rejected",
    lines: [],
    reference: `SO-${index}`,
    trackingNumber: null,
    message: null,
    createdAtMs: index,
    decidedAtMs: index,
    decidedBy: "Ana",
  });
  await server.engine.write(server.shopId, (tx) =>
    tx.batch(Array.from({ length: total }, (_, index) => proposalStatement(server.shopId, rejected(index)))),
  );
  const listed = await askAdmin(server, "GET", adminOrder(server, "/proposals"));
  const proposals = listed.at("data", "proposals") as readonly { reference: string }[];
  assert.equal(proposals.length, proposalsListedMax);
  assert.deepEqual([proposals[0]?.reference, proposals.at(-1)?.reference], [`SO-${total - 1}`, "SO-3"]);
});

test("a page of a supplier shows supplierPageLinesMax lines, and leads to the next ones", async () => {
  await using server = await startGoodsServer({ console: true });
  const lines = Array.from({ length: 2 * supplierPageLinesMax + 1 }, (_, index) => ({
    ...lineA,
    poLineItemId: `l${index}`,
  }));
  await server.bringOrder("Sent", lines);
  const link = await makeLink(server);
  const counts: number[] = [];
  for (let path: string | null = link.path; path !== null;) {
    const { text } = await byLink(server, "GET", path);
    counts.push(text.split('name="line" value=').length - 1);
    path = new RegExp(`href="(${link.path}\\?after=\\d+)"`).exec(text)?.[1] ?? null;
  }
  assert.deepEqual(counts, [supplierPageLinesMax, supplierPageLinesMax, 1]);
});
