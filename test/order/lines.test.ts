/** Lines of an order as a caller adds, edits and deletes them (C15, C16, C29–C32, C36, C46; spec "Rules attached to the endpoints" 6). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadSupplierVariants, type StoredSupplierVariant } from "../support/shops/catalogue.ts";
import { lineA, lineB, startGoodsServer } from "../support/goods-server.ts";

const received = { ...lineB, quantityConfirmed: 5.5, quantityReceived: 2, quantitySynced: 2 };

test("lines are added in the order they are sent, with what the supplier says of them", async () => {
  await using server = await startGoodsServer();
  await server.bringOrder("Sent", [lineA]);
  const answer = await server.post(server.order("/line-items"), {
    lineItems: [
      {
        variantId: "blue",
        quantityOrdered: 2.5,
        unitCost: 1.2345,
        supplierSku: "B-1",
        moq: 5,
        packSize: 2,
        leadTimeDays: 14,
        expectedDeliveryDate: "2027-01-15",
        note: "soft",
      },
      { variantId: "green", quantityOrdered: 1, unitCostCurrencyCode: "USD" },
    ],
  });
  assert.equal(answer.status, 201, answer.text);
  assert.equal(answer.headers.location, undefined);
  assert.equal(answer.at("data", "lineItems", 0, "supplierSku"), "B-1");
  assert.equal(answer.at("data", "lineItems", 0, "productName"), "Shirt, blue");
  assert.equal(answer.at("data", "lineItems", 0, "lineTotal"), 3.09);
  assert.equal(answer.at("data", "lineItems", 1, "variantId"), "green");
  assert.equal(answer.at("data", "lineItems", 2), undefined, "only the new ones");
  assert.equal(answer.at("data", "purchaseOrder", "itemCount"), 3);
  assert.deepEqual(answer.at("data", "purchaseOrder", "unpricedLineItemIds"), [
    answer.at("data", "lineItems", 1, "poLineItemId"),
  ]);
  assert.equal(answer.at("data", "sideEffects", "incoming", "outcome"), "applied");
  const listed = await server.get(server.order("/line-items"));
  assert.deepEqual(
    [0, 1, 2].map((index) => listed.at("data", "lineItems", index, "variantId")),
    ["red", "blue", "green"],
  );
});

test("a custom line is ordered like any other and gets a variantId that says what it is", async () => {
  await using server = await startGoodsServer();
  await server.bringOrder("Draft", []);
  const answer = await server.post(server.order("/line-items/custom"), {
    productName: "Pallet",
    quantityOrdered: 2,
    unitCost: 9.5,
    sku: "PAL",
  });
  assert.equal(answer.status, 201, answer.text);
  assert.match(answer.textAt("data", "lineItems", 0, "variantId"), /^CSTM-/);
  assert.equal(answer.at("data", "lineItems", 0, "isCustom"), true);
  assert.equal(answer.at("data", "lineItems", 0, "sku"), "PAL");
  assert.equal(answer.at("data", "purchaseOrder", "totalValue"), 19);
  assert.equal((await server.post(server.order("/line-items/custom"), { quantityOrdered: 1 })).status, 400);
});

test("what a line may not be is refused with its path, and nothing of the call is kept", async () => {
  await using server = await startGoodsServer();
  await server.bringOrder("Draft", []);
  const good = { variantId: "red", quantityOrdered: 1 };
  for (const [bad, pointer] of [
    [{ variantId: "CSTM-9", quantityOrdered: 1 }, "/lineItems/1/variantId"],
    [{ variantId: "red", quantityOrdered: 0 }, "/lineItems/1/quantityOrdered"],
    [{ variantId: "red", quantityOrdered: 1.0001 }, "/lineItems/1/quantityOrdered"],
    [{ variantId: "red", quantityOrdered: "5" }, "/lineItems/1/quantityOrdered"],
    [{ variantId: "red" }, "/lineItems/1/quantityOrdered"],
    [{ variantId: "red", quantityOrdered: 1, unitCost: -1 }, "/lineItems/1/unitCost"],
    [{ variantId: "red", quantityOrdered: 1, packSize: 0.5 }, "/lineItems/1/packSize"],
    [{ variantId: "red", quantityOrdered: 1, leadTimeDays: 1.5 }, "/lineItems/1/leadTimeDays"],
    [{ variantId: "red", quantityOrdered: 1, quantityReceived: 1 }, "/lineItems/1/quantityReceived"],
    [{ variantId: "red", quantityOrdered: 1, supplierVariantDetails: {} }, "/lineItems/1/supplierVariantDetails"],
  ] as const) {
    const answer = await server.post(server.order("/line-items"), { lineItems: [good, bad] });
    assert.equal(answer.status, 400, JSON.stringify(bad));
    assert.equal(answer.at("error", "details", 0, "path"), pointer, answer.text);
  }
  for (const lineItems of [[], Array.from({ length: 501 }, () => good)])
    assert.equal((await server.post(server.order("/line-items"), { lineItems })).status, 400);
  assert.equal((await server.get(server.order())).at("data", "purchaseOrder", "itemCount"), 0);
  const most = await server.post(server.order("/line-items"), { lineItems: Array.from({ length: 500 }, () => good) });
  assert.equal(most.status, 201);
});

test("lines are edited one by one: what cannot be is named in failed, the rest is saved and logged", async () => {
  await using server = await startGoodsServer();
  await server.bringOrder("In Progress", [{ ...lineA, quantityConfirmed: 8 }, received]);
  const answer = await server.patch(server.order("/line-items"), {
    lines: [
      { lineItemId: "a", quantityOrdered: 12, note: "more" },
      { lineItemId: "b", quantityOrdered: 1 },
      { lineItemId: "nowhere", note: "x" },
    ],
  });
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(answer.at("data", "updatedLineItemIds"), ["a"]);
  assert.equal(answer.at("data", "lineItems", 0, "quantityOrdered"), 12);
  assert.equal(answer.at("data", "lineItems", 1), undefined);
  assert.equal(answer.at("data", "failed", 0, "reason"), "below-confirmed");
  assert.equal(answer.at("data", "failed", 1, "reason"), "unknown-line");
  assert.equal(answer.at("data", "sideEffects", "supplierUpdate"), undefined);
  assert.equal(answer.at("data", "purchaseOrder", "status"), "In Progress");
  const log = await server.get(server.order("/log?limit=1"));
  assert.deepEqual(log.at("data", "log", 0, "changes"), [
    { field: "quantityOrdered", poLineItemId: "a", before: 10, after: 12 },
    { field: "note", poLineItemId: "a", before: null, after: "more" },
  ]);
  const version = answer.at("data", "purchaseOrder", "version");
  const again = await server.patch(server.order("/line-items"), { lines: [{ lineItemId: "a", quantityOrdered: 12 }] });
  assert.equal(again.at("data", "purchaseOrder", "version"), version, "the same again is no change");
  const none = await server.patch(server.order("/line-items"), { lines: [{ lineItemId: "b", quantityOrdered: 1 }] });
  assert.equal(none.status, 400);
});

test("a line edit refuses quantities that have their own endpoint, doubles, and entries that change nothing", async () => {
  await using server = await startGoodsServer();
  await server.bringOrder("In Progress", [lineA, lineB]);
  for (const [lines, pointer, words] of [
    [[{ lineItemId: "a", quantityConfirmed: 1 }], "/lines/0/quantityConfirmed", /\/confirm/],
    [[{ lineItemId: "a", quantityReceived: 1 }], "/lines/0/quantityReceived", /\/receive/],
    [[{ lineItemId: "a" }], "/lines/0", /no field/],
    [
      [
        { lineItemId: "a", note: "x" },
        { lineItemId: "a", note: "y" },
      ],
      "/lines/1/lineItemId",
      /twice/,
    ],
    [[{ lineItemId: "a", supplierVariantDetails: "x".repeat(10_001) }], "/lines/0/supplierVariantDetails", /10000/],
  ] as const) {
    const answer = await server.patch(server.order("/line-items"), { lines });
    assert.equal(answer.status, 400, JSON.stringify(lines).slice(0, 200));
    assert.equal(answer.at("error", "details", 0, "path"), pointer, answer.text);
    assert.match(answer.textAt("error", "details", 0, "message"), words);
  }
});

test("with updateSupplier what was sent reaches the supplier's catalogue, line by line, and says how it went", async () => {
  await using server = await startGoodsServer();
  await server.bringOrder("In Progress", [
    lineA,
    received,
    { poLineItemId: "g", variantId: "green", quantityOrdered: 1 },
    { poLineItemId: "c", variantId: "CSTM-1", quantityOrdered: 1, productName: "Pallet" },
  ]);
  const secret = "only for the supplier";
  const answer = await server.patch(server.order("/line-items"), {
    updateSupplier: true,
    lines: [
      { lineItemId: "a", unitCost: 4.75, supplierSku: "R-9", packSize: 6, supplierVariantDetails: { secret } },
      { lineItemId: "g", unitCost: 2 },
      { lineItemId: "b", quantityOrdered: 1, unitCost: 3 },
      { lineItemId: "c", unitCost: 1 },
    ],
  });
  assert.equal(answer.status, 200, answer.text);
  const update = (...steps: readonly (string | number)[]) =>
    answer.at("data", "sideEffects", "supplierUpdate", ...steps);
  assert.equal(update("outcome"), "failed");
  assert.deepEqual(
    [0, 1, 2, 3].map((index) => [update("lines", index, "lineItemId"), update("lines", index, "outcome")]),
    [
      ["a", "applied"],
      ["g", "failed"],
      ["b", "skipped"],
      ["c", "skipped"],
    ],
  );
  assert.match(answer.textAt("data", "sideEffects", "supplierUpdate", "lines", 2, "error"), /^line edit not applied: /);
  assert.match(answer.textAt("data", "recovery"), /updateSupplier/);
  assert.equal(answer.at("data", "lineItems", 1, "unitCost"), 2, "the line edit is saved whatever the write-back did");
  const [entry, ...others] = await loadSupplierVariants(server);
  assert.deepEqual(others, [], "no entry is ever made");
  assert.deepEqual(entry, {
    unit_cost: 47500,
    unit_cost_currency_code: "EUR",
    supplier_sku: "R-9",
    pack_size: 6000,
    supplier_variant_details: JSON.stringify({ secret }),
  } satisfies StoredSupplierVariant);
  for (const seen of [answer, await server.get(server.order()), await server.get(server.order("/log"))])
    assert.ok(!seen.text.includes(secret), "never shown");
  const rows = await server.engine.read(server.shopId, (tx) =>
    tx.all("select body as text from idempotency_record union all select changes from purchase_order_log"),
  );
  assert.ok(!JSON.stringify(rows).includes(secret), "kept nowhere else");
});

test("the write-back is skipped where nothing is carried over, and then needs no recovery", async () => {
  await using server = await startGoodsServer();
  await server.bringOrder("In Progress", [lineA]);
  const quantities = await server.patch(server.order("/line-items"), {
    updateSupplier: true,
    lines: [{ lineItemId: "a", quantityOrdered: 11, expectedDeliveryDate: "2027-01-01" }],
  });
  assert.equal(quantities.at("data", "sideEffects", "supplierUpdate", "outcome"), "skipped");
  assert.equal(quantities.at("data", "recovery"), undefined);
  await server.patch(server.order(), { supplierId: null });
  const orphan = await server.patch(server.order("/line-items"), {
    updateSupplier: true,
    lines: [{ lineItemId: "a", unitCost: 2 }],
  });
  assert.equal(orphan.at("data", "sideEffects", "supplierUpdate", "outcome"), "skipped");
});

test("without updateSupplier the details for the supplier are accepted and dropped", async () => {
  await using server = await startGoodsServer();
  await server.bringOrder("In Progress", [lineA]);
  const answer = await server.patch(server.order("/line-items"), {
    lines: [{ lineItemId: "a", supplierVariantDetails: { any: "thing" } }],
  });
  assert.equal(answer.status, 200);
  const [entry] = await loadSupplierVariants(server);
  assert.equal(entry?.supplier_variant_details, null);
});

test("lines are deleted one by one; those with goods stay, and even none deleted is a 200", async () => {
  await using server = await startGoodsServer();
  await server.bringOrder("In Progress", [lineA, received]);
  const answer = await server.delete(server.order("/line-items?lineItemIds=a,b,nowhere"));
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(answer.at("data", "deletedLineItemIds"), ["a"]);
  assert.equal(answer.at("data", "failed", 0, "reason"), "has-received-quantity");
  assert.equal(answer.at("data", "failed", 1, "reason"), "unknown-line");
  assert.equal(answer.at("data", "purchaseOrder", "itemCount"), 1);
  const again = await server.delete(server.order("/line-items?lineItemIds=a"));
  assert.equal(again.status, 200);
  assert.deepEqual(again.at("data", "deletedLineItemIds"), []);
  for (const query of ["", "?lineItemIds=", "?lineItemIds=a,a"])
    assert.equal((await server.delete(server.order(`/line-items${query}`))).status, 400, query);
});

test("five hundred lines are deleted in one call", async () => {
  await using server = await startGoodsServer();
  const lines = Array.from({ length: 500 }, (_, index) => ({
    ...lineA,
    poLineItemId: `pol_01k8x4m2q7v9c3n5t6w8y0${String(index).padStart(4, "0")}`,
  }));
  await server.bringOrder("Draft", lines);
  const ids = lines.map((line) => line.poLineItemId).join(",");
  const answer = await server.delete(server.order(`/line-items?lineItemIds=${ids}`));
  assert.equal(answer.status, 200, answer.text.slice(0, 300));
  assert.equal(answer.at("data", "purchaseOrder", "itemCount"), 0);
});

test("lines do not change once the order is received, completed or held", async () => {
  await using server = await startGoodsServer();
  for (const [status, facts] of [
    ["Received", {}],
    ["Completed", {}],
    ["On Hold", { previousStatus: "Sent" }],
  ] as const) {
    await server.bringOrder(status, [lineA], facts);
    const answers = [
      await server.post(server.order("/line-items"), { lineItems: [{ variantId: "red", quantityOrdered: 1 }] }),
      await server.patch(server.order("/line-items"), { lines: [{ lineItemId: "a", note: "x" }] }),
      await server.delete(server.order("/line-items?lineItemIds=a")),
    ];
    assert.deepEqual(
      answers.map((answer) => answer.status),
      [400, 400, 400],
      status,
    );
  }
});

test("lines stay in the order they were added, however many come and go", async () => {
  await using server = await startGoodsServer();
  await server.bringOrder("Draft", []);
  const add = async (...notes: readonly string[]): Promise<readonly string[]> => {
    const answer = await server.post(server.order("/line-items"), {
      lineItems: notes.map((note) => ({ variantId: "red", quantityOrdered: 1, note })),
    });
    return notes.map((_, index) => answer.textAt("data", "lineItems", index, "poLineItemId"));
  };
  const [, second, third] = await add("1", "2", "3");
  await server.delete(server.order(`/line-items?lineItemIds=${second},${third}`));
  await add("4", "5");
  await add("6");
  const seen: unknown[] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    const page = await server.get(server.order(`/line-items?limit=2${cursor === "" ? "" : `&cursor=${cursor}`}`));
    assert.equal(page.status, 200, page.text);
    assert.equal(page.at("data", "totalCount"), 4);
    seen.push(page.at("data", "lineItems", 0, "note"), page.at("data", "lineItems", 1, "note"));
    const next = page.at("data", "cursor");
    cursor = typeof next === "string" ? next : null;
  }
  assert.deepEqual(seen, ["1", "4", "5", "6"]);
});
