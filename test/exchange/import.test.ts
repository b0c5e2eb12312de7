/**
 * Records come in all or nothing and go out the same (contract §7, §8; exchange/import.ts I1–I4).
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { chunkWeightMax, chunkWeightQuietMax, importQuietMs } from "../../src/exchange/import-chunks.ts";
import { checkRecords, importRecords, recoverImports } from "../../src/exchange/import.ts";
import { lineBytesMax } from "../../src/exchange/ndjson.ts";
import { plainTextProblem } from "../../src/base/text/plain-text.ts";
import { Fault } from "../../src/base/fault.ts";
import { statuses } from "../../src/core/order/purchase-order.ts";
import type { InventoryLevel, Variant } from "../../src/shop/catalogue/catalogue.ts";
import { delegated } from "../../src/store/delegated.ts";
import { LoopShare } from "../../src/store/loop-share.ts";
import type { Engine, Work, WriteOptions } from "../../src/store/store.ts";
import { ndjson, piecesOf, type TestShop, withShops } from "../support/admin.ts";
import { lineA, startGoodsServer } from "../support/goods-server.ts";

const address = { companyName: "Quay 4", address1: "Quay 4", city: "Rotterdam", countryCode: "NL", zip: "3011 AA" };

/** One of everything, every field in use. */
const everything: readonly Record<string, unknown>[] = [
  { type: "location", locationId: "loc-1", name: "Main", address },
  { type: "location", locationId: "loc-2", name: "Side" },
  {
    type: "supplier",
    supplierId: "sup-1",
    name: "Straße & Co",
    email: "a@b.example",
    currencyCode: "USD",
    leadTimeDays: 9,
    address,
  },
  {
    type: "variant",
    variantId: "v-1",
    productId: "p-1",
    productName: "Mug",
    variantName: "Blue",
    sku: "MUG-B",
    barcode: "1",
    unitCost: 1.2345,
    price: 9.99,
  },
  { type: "variant", variantId: "v-2", productId: "p-1", productName: "Mug", status: "inactive" },
  {
    type: "supplierVariant",
    supplierId: "sup-1",
    variantId: "v-1",
    unitCost: 2.5,
    unitCostCurrencyCode: "USD",
    supplierSku: "X1",
    moq: 6,
    packSize: 2.5,
    leadTimeDays: 3,
    supplierVariantDetails: { grade: ["a", 1] },
  },
  { type: "inventoryLevel", variantId: "v-1", locationId: "loc-1", onHand: 12.125 },
  { type: "inventoryLevel", variantId: "v-2", locationId: "loc-1", onHand: -3 },
  { type: "sale", variantId: "v-1", locationId: "loc-1", date: "2026-03-01", quantity: 2 },
  { type: "sale", variantId: "v-1", date: "2026-03-01", quantity: 0.5 },
  {
    type: "supplierCredit",
    creditId: "cr-1",
    creditNumber: "CN-1",
    supplierId: "sup-1",
    creditDate: "2026-02-01",
    amount: 50,
    balance: 30,
    currencyCode: "USD",
    reason: "Broken",
  },
  {
    type: "purchaseOrder",
    purchaseOrderId: "legacy/order 1",
    poNumber: "PO-1040",
    poName: "First",
    status: "Partially Received",
    previousStatus: "In Progress",
    supplierId: "sup-1",
    locationId: "loc-1",
    fxRateOverride: 0.9123456789,
    orderDate: "2026-01-02",
    tags: ["a", "b"],
    shippingCost: 12.5,
    billingAddress: address,
    createdBy: "Noor",
    createdAt: "2026-01-02T10:00:00.123Z",
    updatedAt: "2026-02-02T10:00:00.000Z",
    sentAt: "2026-01-03T10:00:00.000Z",
    version: 7,
    lineItems: [
      {
        poLineItemId: "l-1",
        variantId: "v-1",
        quantityOrdered: 10,
        quantityConfirmed: 8,
        quantityReceived: 3,
        quantityRejected: 1,
        quantitySynced: 2,
        unitCost: 2.5,
        moq: 6,
        note: "soft",
        createdAt: "2026-01-02T10:00:00.123Z",
      },
      {
        poLineItemId: "l-2",
        variantId: "CSTM-1",
        productName: "Pallet",
        quantityOrdered: 1.5,
        unitCost: 19.99,
        unitCostCurrencyCode: "EUR",
      },
      { poLineItemId: "l-3", variantId: "v-2", quantityOrdered: 2, quantityReceived: 3, allowOverReceipt: true },
    ],
    payments: [
      {
        paymentId: "pay-1",
        paymentType: "deposit",
        status: "Paid",
        amount: 10,
        currencyCode: "USD",
        paidAt: "2026-01-04T00:00:00.000Z",
        createdAt: "2026-01-03T00:00:00.000Z",
      },
    ],
    documents: [{ documentId: "doc-1", fileName: "a.pdf", uploadedAt: "2026-01-03T00:00:00.000Z" }],
    shipments: [
      {
        shipmentId: "sh-1",
        status: "In Transit",
        shippedDate: "2026-01-10",
        shippingCost: 3,
        currencyCode: "USD",
        lineAllocations: [{ poLineItemId: "l-1", variantId: "v-1", quantityAllocated: 8 }],
      },
    ],
    credits: [{ creditId: "cr-1", amountApplied: 20, currencyCode: "USD", appliedAt: "2026-01-05T00:00:00.000Z" }],
    log: [
      {
        logId: "log-1",
        occurredAt: "2026-01-02T10:00:00.123Z",
        action: "create",
        message: "Created.",
        actor: { type: "user", name: "Noor" },
        changes: [{ field: "poName", before: null, after: "First" }],
      },
    ],
    receipts: [
      {
        receiptId: "rc-1",
        receivedAt: "2026-02-02T10:00:00.000Z",
        source: "receive",
        reason: "count",
        lines: [{ poLineItemId: "l-1", variantId: "v-1", quantityDelta: 3, quantityReceivedAfter: 3 }],
      },
    ],
    costSyncHistory: [
      {
        costSyncId: "cs-1",
        variantId: "v-1",
        poLineItemId: "l-1",
        previousUnitCost: 1,
        proposedUnitCost: 2.28,
        currencyCode: "EUR",
        sourceUnitCost: 2.5,
        sourceCurrencyCode: "USD",
        fxRate: 0.9123456789,
        fxSource: "override",
        outcome: "applied",
        proposedAt: "2026-02-02T10:00:00.000Z",
        resolvedAt: "2026-02-02T10:00:01.000Z",
      },
    ],
  },
  {
    type: "purchaseOrder",
    purchaseOrderId: "gone",
    poNumber: "OLD 7",
    status: "Cancelled",
    previousStatus: "Sent",
    locationId: "loc-1",
    deletedAt: "2026-03-03T03:03:03.003Z",
    createdAt: "2026-03-01T00:00:00.000Z",
    lineItems: [{ poLineItemId: "g-1", variantId: "v-1", quantityOrdered: 4 }],
    log: [],
  },
];

const order = (fields: Record<string, unknown> = {}): Record<string, unknown> => ({
  type: "purchaseOrder",
  purchaseOrderId: "o-1",
  locationId: "loc-1",
  status: "Sent",
  lineItems: [{ variantId: "v-1", quantityOrdered: 10 }],
  ...fields,
});

const incomingOf = async (shop: TestShop): Promise<Record<string, number>> =>
  Object.fromEntries(
    await shop.engine.read(shop.shop.shopId, async (tx) => {
      const rows = await tx.all<{ variant_id: string; location_id: string; quantity: number }>(
        "select variant_id, location_id, quantity from incoming where quantity <> 0",
      );
      return rows.map((row) => [`${row.variant_id}@${row.location_id}`, row.quantity / 1000] as const);
    }),
  );

/** Nothing is staged and no import is under way. */
const assertSwept = async (shop: TestShop): Promise<void> => {
  const left = await shop.engine.read(shop.shop.shopId, (tx) =>
    tx.all("select import_id from import_run union all select import_id from import_record"),
  );
  assert.deepEqual(left, []);
};

test("import(export(x)) = x for every type of record, whatever was left out the first time", async () => {
  await withShops(async (open) => {
    const first = await open("first", { fxRates: {} });
    const second = await open("second", { fxRates: {} });
    assert.deepEqual(await first.bring(everything), {
      location: 2,
      supplier: 1,
      variant: 2,
      supplierVariant: 1,
      inventoryLevel: 2,
      sale: 2,
      supplierCredit: 1,
      purchaseOrder: 2,
    });
    const exported = await first.records();
    assert.equal(exported.length, everything.length);
    await second.bring(exported);
    assert.deepEqual(await second.records(), exported);
    assert.deepEqual(await incomingOf(second), await incomingOf(first));
    // Into the same shop again: every record replaces itself.
    await first.bring(exported);
    assert.deepEqual(await first.records(), exported);
    await assertSwept(first);
  });
});

test("what was given is what is exported, and what follows from it is computed", async () => {
  await withShops(async (open) => {
    const shop = await open("shop");
    await shop.bring(everything);
    const records = await shop.records();
    for (const given of everything) {
      const key = Object.keys(given).filter((name) => /Id$|^date$/.test(name));
      const found = records.filter(
        (record) => record["type"] === given["type"] && key.every((name) => record[name] === given[name]),
      );
      const [exported] =
        given["type"] === "sale" ? found.filter((sale) => sale["quantity"] === given["quantity"]) : found;
      assert.ok(exported !== undefined, JSON.stringify(given));
      for (const [name, value] of Object.entries(given))
        if (typeof value !== "object") assert.equal(exported[name], value, name);
    }
    const big = records.find((record) => record["purchaseOrderId"] === "legacy/order 1");
    // 10 × 2.50 USD + 1.5 × 19.99 EUR at 1 / 0.9123456789.
    assert.equal(big?.["totalValue"], 57.87);
    assert.equal(big?.["paidStatus"], "Partially Paid");
    assert.equal(big?.["storefrontSyncState"], "partial");
    assert.equal(big?.["supplierName"], "Straße & Co");
    assert.equal(big?.["currencyCode"], "USD");
    assert.deepEqual(await incomingOf(shop), { "v-1@loc-1": 4 });
  });
});

test("any order that imports goes out and comes in again unchanged", async () => {
  const quantity = fc.integer({ min: 0, max: 20_000 }).map((thousandths) => thousandths / 1000);
  const line = fc
    .record({
      ordered: fc.integer({ min: 1, max: 20_000 }),
      confirmed: fc.double({ min: 0, max: 1, noNaN: true }),
      received: quantity,
      unitCost: fc.integer({ min: 0, max: 9_999_999 }).map((steps) => steps / 10_000),
      currency: fc.constantFrom("EUR", "USD", "JPY", undefined),
      variant: fc.constantFrom("v-1", "v-2", "elsewhere", "CSTM-a"),
    })
    .map(({ ordered, confirmed, received, unitCost, currency, variant }) => ({
      variantId: variant,
      ...(variant.startsWith("CSTM-") ? { productName: "Custom" } : {}),
      quantityOrdered: ordered / 1000,
      quantityConfirmed: Math.floor(ordered * confirmed) / 1000,
      quantityReceived: received,
      allowOverReceipt: true,
      unitCost,
      ...(currency === undefined ? {} : { unitCostCurrencyCode: currency }),
    }));
  const anyOrder = fc.record({
    status: fc.constantFrom(...statuses),
    lineItems: fc.array(line, { maxLength: 6 }),
    poName: fc.option(
      fc
        .string({ minLength: 1, maxLength: 20, unit: "grapheme" })
        .filter((text) => plainTextProblem(text, "line") === null),
    ),
    createdAt: fc
      .date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true })
      .map((date) => date.toISOString()),
    deleted: fc.boolean(),
  });
  await withShops(async (open) => {
    const first = await open("first");
    const second = await open("second");
    await first.bring(everything);
    await second.bring(everything);
    let number = 0;
    await fc.assert(
      fc.asyncProperty(anyOrder, async ({ deleted, ...fields }) => {
        number += 1;
        const held = ["Cancelled", "On Hold", "Disputed"].includes(fields.status);
        await first.bring([
          order({
            ...fields,
            purchaseOrderId: `any-${number}`,
            ...(held ? { previousStatus: "Sent" } : {}),
            ...(deleted ? { deletedAt: fields.createdAt } : {}),
          }),
        ]);
        const exported = await first.records();
        await second.bring(exported);
        assert.deepEqual(await second.records(), exported);
        assert.deepEqual(await incomingOf(second), await incomingOf(first));
      }),
      { numRuns: 40 },
    );
  });
});

test("a bad line is refused with its number and its field, and nothing of the file comes in", async () => {
  const good = { type: "location", locationId: "loc-9", name: "Nine" };
  const bad: readonly (readonly [line: object | string, message: RegExp])[] = [
    ["{", /^line 2: The line is not valid JSON/],
    ["[1]", /^line 2: must be a JSON object/],
    ["{}", /^line 2: \/type: is needed/],
    [{ type: "spaceship" }, /^line 2: \/type: is unknown: "spaceship"/],
    [{ type: "location", locationId: "x" }, /^line 2: \/name: is required/],
    [{ type: "location", locationId: "x", name: "X", colour: 1 }, /^line 2: \/colour: unknown field/],
    [
      { type: "variant", variantId: "x", productId: "y", productName: "z", unitCost: 1.23456 },
      /^line 2: \/unitCost: .*4 decimals/,
    ],
    [{ type: "sale", variantId: "x", date: "2026-02-30", quantity: 1 }, /^line 2: \/date: /],
    [
      { type: "supplierCredit", creditId: "x", supplierId: "y", amount: 1, balance: 2, currencyCode: "EUR" },
      /^line 2: \/balance: /,
    ],
    [order({ status: "On Hold" }), /^line 2: \/previousStatus: is needed/],
    [order({ status: "On Hold", previousStatus: "Disputed" }), /^line 2: \/previousStatus: cannot be Disputed/],
    [order({ locationId: null }), /^line 2: \/locationId: is needed/],
    [order({ status: "Lost" }), /^line 2: \/status: /],
    [order({ lineItems: [{ variantId: "v", quantityOrdered: 0 }] }), /^line 2: \/lineItems\/0\/quantityOrdered: /],
    [
      order({ lineItems: [{ variantId: "v", quantityOrdered: 1, quantityConfirmed: 2 }] }),
      /^line 2: \/lineItems\/0\/quantityConfirmed: must not be above/,
    ],
    [
      order({
        lineItems: [
          { variantId: "v", quantityOrdered: 5, quantityConfirmed: 2, quantityReceived: 2, quantityRejected: 1 },
        ],
      }),
      /^line 2: \/lineItems\/0\/quantityReceived: .*allowOverReceipt/,
    ],
    [
      order({ lineItems: [{ variantId: "v", quantityOrdered: 5, quantityReceived: 2, quantitySynced: 3 }] }),
      /^line 2: \/lineItems\/0\/quantitySynced: must not be above/,
    ],
    [
      order({ lineItems: [{ variantId: "CSTM-v", quantityOrdered: 5 }] }),
      /^line 2: \/lineItems\/0\/productName: is needed on a custom line/,
    ],
    [
      order({
        lineItems: [
          { poLineItemId: "a", variantId: "v", quantityOrdered: 1 },
          { poLineItemId: "a", variantId: "w", quantityOrdered: 1 },
        ],
      }),
      /^line 2: \/lineItems\/1\/poLineItemId: a is given twice/,
    ],
    [
      order({ lineItems: [{ variantId: "v", quantityOrdered: 1e9, unitCost: 1e9 }] }),
      /^line 2: \/lineItems\/0: is worth more/,
    ],
    [
      order({
        payments: [
          { paymentId: "p", status: "Paid", amount: -1, currencyCode: "EUR", createdAt: "2026-01-01T00:00:00Z" },
        ],
      }),
      /^line 2: \/payments\/0\/amount: /,
    ],
  ];
  await withShops(async (open) => {
    const shop = await open("shop");
    for (const [line, message] of bad) {
      await assert.rejects(shop.bring([good, line, good]), (error) => {
        assert.ok(error instanceof Fault, String(error));
        assert.equal(error.code, "INVALID_INPUT");
        assert.match(error.message, message);
        return true;
      });
      assert.deepEqual(await shop.records(), []);
      await assertSwept(shop);
    }
  });
});

test("bytes that are no text, and a line longer than the limit, are refused with their line", async () => {
  await withShops(async (open) => {
    const shop = await open("shop");
    const bring = (bytes: Uint8Array, size = 65_536) => importRecords(shop, shop.shop, piecesOf(bytes, size), "req_1");
    const good = ndjson([{ type: "location", locationId: "loc-9", name: "Nine" }]);
    await assert.rejects(
      bring(Buffer.concat([good, Buffer.from([0x7b, 0xff, 0x7d, 0x0a])])),
      /^Fault: line 2: The line is not valid UTF-8/,
    );
    await assert.rejects(
      bring(Buffer.concat([good, Buffer.alloc(lineBytesMax + 1, 0x61)])),
      /^Fault: line 2: is longer than \d+ bytes/,
    );
    assert.deepEqual(await shop.records(), []);
  });
});

test("a file may come in pieces of any size, with CRLF, a byte order mark, blank lines and no last line end", async () => {
  await withShops(async (open) => {
    const text =
      '\uFEFF{"type":"location","locationId":"a","name":"Ä"}\r\n\r\n  \n{"type":"location","locationId":"b","name":"B"}';
    const expected = [
      { type: "location", locationId: "a", name: "Ä", address: null, status: "active" },
      { type: "location", locationId: "b", name: "B", address: null, status: "active" },
    ];
    for (const size of [1, 2, 3, 7, 1000]) {
      const shop = await open(`pieces-${size}`);
      assert.deepEqual(await importRecords(shop, shop.shop, piecesOf(Buffer.from(text), size), "req_1"), {
        location: 2,
      });
      assert.deepEqual(await shop.records(), expected);
    }
    const empty = await open("empty");
    assert.deepEqual(await empty.bring([]), {});
  });
});

test("a file that is only checked is counted, its bad line is named, and nothing of it is left", async () => {
  await withShops(async (open) => {
    const shop = await open("shop");
    await shop.bring([{ type: "location", locationId: "loc-1", name: "Main" }]);
    const before = await shop.records();
    const check = (records: readonly object[]) =>
      checkRecords(shop, shop.shop, piecesOf(ndjson(records), 1_000), "req_1");
    const locations = [
      { type: "location", locationId: "loc-1", name: "Renamed" },
      { type: "location", locationId: "loc-2", name: "Side" },
    ];
    const { preview, ...counted } = await check(locations);
    assert.deepEqual(counted, { counts: { location: 2 }, replaced: { location: 1 } });
    assert.deepEqual(
      preview.types.map(({ type, created, changed, unchanged }) => ({ type, created, changed, unchanged })),
      [{ type: "location", created: 1, changed: 1, unchanged: 0 }],
    );
    await assert.rejects(check([...locations, { type: "location", locationId: "loc-3" }]), /^Fault: line 3: \/name: /);
    assert.deepEqual(await shop.records(), before);
    await assertSwept(shop);
  });
});

test("the incoming ledger follows every import of an order, and so does the storefront", async () => {
  await withShops(async (open) => {
    const shop = await open("shop");
    await shop.bring([order()]);
    assert.deepEqual(await incomingOf(shop), { "v-1@loc-1": 10 });
    await shop.bring([
      order({
        locationId: "loc-2",
        lineItems: [
          { variantId: "v-1", quantityOrdered: 7 },
          { variantId: "v-2", quantityOrdered: 1 },
        ],
      }),
    ]);
    assert.deepEqual(await incomingOf(shop), { "v-1@loc-2": 7, "v-2@loc-2": 1 });
    await shop.bring([order({ deletedAt: "2026-01-01T00:00:00.000Z" })]);
    assert.deepEqual(await incomingOf(shop), {});
    await shop.bring([order({ status: "Draft" })]);
    assert.deepEqual(await incomingOf(shop), {});
    const effects = await shop.engine.read("shop", (tx) =>
      tx.all<{ payload: string }>("select payload from effect order by effect_id"),
    );
    const asked = effects.map(({ payload }) => JSON.parse(payload));
    assert.deepEqual(asked, [
      { kind: "mirror-incoming", locationId: "loc-1", variantIds: ["v-1"] },
      { kind: "mirror-incoming", locationId: "loc-1", variantIds: ["v-1"] },
      { kind: "mirror-incoming", locationId: "loc-2", variantIds: ["v-1", "v-2"] },
      { kind: "mirror-incoming", locationId: "loc-2", variantIds: ["v-1", "v-2"] },
    ]);
  });
});

test("a number that another order has is refused; numbers count on behind imported ones", async () => {
  await withShops(async (open) => {
    const shop = await open("shop");
    await shop.bring([order({ poNumber: "PO-1005" })]);
    await assert.rejects(
      shop.bring([order({ purchaseOrderId: "o-2", poNumber: "PO-1005" })]),
      /line 1: \/poNumber: PO-1005 is the number of order o-1 already/,
    );
    await assert.rejects(
      shop.bring([order({ purchaseOrderId: "o-2", poNumber: "X" }), order({ purchaseOrderId: "o-3", poNumber: "X" })]),
      /line 2: \/poNumber: X is the number of order o-2 already/,
    );
    // Without a number: the next one; the stored one when the order is there already.
    await shop.bring([order({ purchaseOrderId: "o-4" }), order()]);
    const numbers = (await shop.records()).map((record) => [record["purchaseOrderId"], record["poNumber"]]);
    assert.deepEqual(numbers, [
      ["o-1", "PO-1005"],
      ["o-4", "PO-1006"],
    ]);
  });
});

test("a record for a shop on the sandbox sets the sandbox before the shop has it", async () => {
  const seeded: { readonly variants: readonly Variant[]; readonly levels: readonly InventoryLevel[] }[] = [];
  await withShops(
    async (open) => {
      const shop = await open("shop");
      await shop.bring(everything);
      assert.deepEqual(
        seeded.flatMap(({ variants, levels }) => [
          ...variants.map((variant) => variant.variantId),
          ...levels.map((level) => level.onHand),
        ]),
        ["v-1", "v-2", 12_125, -3_000],
      );
      await shop.bring([{ type: "location", locationId: "loc-3", name: "Third" }]);
      assert.equal(seeded.length, 1);
    },
    {
      seedStorefront: async (_shopId, variants, levels) => {
        seeded.push({ variants, levels });
      },
    },
  );
});

/** An engine that counts the statements with an answer. */
function askingCounted(engine: Engine, count: () => void): Engine {
  return new Proxy(engine, {
    get(target, name) {
      if (name === "write")
        return (shopId: string, work: Work<unknown>, options?: WriteOptions) =>
          target.write(
            shopId,
            (tx) =>
              work({
                all: (sql, params) => {
                  count();
                  return tx.all(sql, params);
                },
                batch: (statements) => tx.batch(statements),
              }),
            options,
          );
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

test("orders that the shop does not have are stored without looking for each of them", async () => {
  await withShops(async (open) => {
    const asked = async (name: string, orders: number): Promise<number> => {
      const shop = await open(name);
      let count = 0;
      const counting = { ...shop, engine: askingCounted(shop.engine, () => (count += 1)) };
      const file = Array.from({ length: orders }, (_, index) =>
        order({ purchaseOrderId: `new-${index}`, poNumber: `N-${index}`, lineItems: [] }),
      );
      await importRecords(counting, shop.shop, piecesOf(ndjson(file), 65_536), "req_1");
      return count;
    };
    // Both are written in one turn (`chunkWeightMax`).
    assert.equal(await asked("few", 4), await asked("more", 48));
  });
});

test("an order that comes in again after it was deleted has the log of its record alone", async () => {
  await using server = await startGoodsServer();
  const logged = async (): Promise<unknown> => {
    await server.bringOrder("Draft", [lineA]);
    return (await server.get(server.order("/log"))).at("data", "totalCount");
  };
  assert.equal(await logged(), 1);
  assert.equal((await server.delete(server.order())).status, 200);
  assert.equal(await logged(), 1);
});

/** An engine on which the process seems to die at the n-th write. */
function dyingAt(engine: Engine, writes: number): Engine {
  let left = writes;
  return new Proxy(engine, {
    get(target, name) {
      if (name === "write")
        return (...args: Parameters<Engine["write"]>) => {
          left -= 1;
          return left < 0 ? Promise.reject(new Error("killed")) : target.write(...args);
        };
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

test("cut off at any write, an import is seen whole or not at all once the shop is opened again", async () => {
  const file = [
    ...everything,
    ...Array.from({ length: 60 }, (_, index) =>
      order({
        purchaseOrderId: `bulk-${index}`,
        poNumber: `PO-${2000 + index}`,
        note: "x".repeat(4_000),
        lineItems: Array.from({ length: 30 }, (_, line) => ({
          poLineItemId: `b-${line}`,
          variantId: `v-${line}`,
          quantityOrdered: 1,
        })),
      }),
    ),
  ];
  await withShops(async (open) => {
    const whole = await open("whole");
    await whole.bring(file);
    const expected = (await whole.records()).map((record) => record["purchaseOrderId"] ?? record["type"]);
    const outcomes = new Set<number>();
    for (let writes = 0; ; writes += 1) {
      const shop = await open(`cut-${writes}`);
      const dying = { ...shop, engine: dyingAt(shop.engine, writes) };
      const done = await importRecords(dying, shop.shop, piecesOf(ndjson(file), 65_536), "req_1").then(
        () => true,
        () => false,
      );
      await recoverImports(shop, shop.shop.shopId, { alone: true });
      const records = await shop.records();
      outcomes.add(records.length);
      if (records.length > 0) {
        assert.deepEqual(
          records.map((record) => record["purchaseOrderId"] ?? record["type"]),
          expected,
        );
        assert.deepEqual(await incomingOf(shop), await incomingOf(whole));
      }
      await assertSwept(shop);
      if (done) break;
    }
    assert.deepEqual(outcomes, new Set([0, expected.length]));
  });
});

test("an import of several chunks lets other writes of the shop through while it is under way", async () => {
  await withShops(async (open) => {
    const shop = await open("shop");
    const file = Array.from({ length: 600 }, (_, index) =>
      order({
        purchaseOrderId: `o-${index}`,
        lineItems: Array.from({ length: 8 }, (_, line) => ({ variantId: `v-${line}`, quantityOrdered: 1 })),
      }),
    );
    const done = new AbortController();
    let between = 0;
    const others = (async () => {
      while (!done.signal.aborted) {
        await shop.engine.write("shop", async (tx) => {
          await tx.all("select shop_id from shop");
        });
        between += 1;
        await new Promise((resolve) => setImmediate(resolve));
      }
    })();
    await shop.bring(file);
    done.abort();
    await others;
    assert.ok(between >= 5, `${between} other writes`);
    assert.deepEqual(
      await incomingOf(shop),
      Object.fromEntries(Array.from({ length: 8 }, (_, line) => [`v-${line}@loc-1`, 600])),
    );
  });
});

for (const [name, weightMax, quietMs] of [
  ["chunkWeightMax rows in a turn", chunkWeightMax, importQuietMs - 1],
  ["chunkWeightQuietMax rows in a turn when nobody has asked for importQuietMs", chunkWeightQuietMax, importQuietMs],
] as const)
  test(`an import writes ${name}: its records and what belongs to them`, async () => {
    await withShops(async (open) => {
      const shop = await open("shop");
      const { engine } = shop;
      const rowsOf = async (): Promise<number> => {
        const count = (table: string): Promise<{ n: number }[]> =>
          engine.peek("shop", (tx) => tx.all(`select count(*) as n from ${table} where shop_id = ?`, ["shop"]));
        const found = await Promise.all(["location", "purchase_order", "purchase_order_line"].map(count));
        return found.flat().reduce((sum, { n }) => sum + n, 0);
      };
      const written: number[] = [];
      const counting: Engine = {
        ...delegated(engine),
        write: async <T>(shopId: string, work: Work<T>, options?: WriteOptions): Promise<T> => {
          const before = await rowsOf();
          const value = await engine.write(shopId, work, options);
          written.push((await rowsOf()) - before);
          return value;
        },
      };
      class Loop extends LoopShare {
        override get quietMs(): number {
          return quietMs;
        }
      }
      const places = Array.from({ length: weightMax + 1 }, (_, index) => ({
        type: "location",
        locationId: `place-${index}`,
        name: `Place ${index}`,
      }));
      const orders = Array.from({ length: 40 }, (_, index) =>
        order({
          purchaseOrderId: `o-${index}`,
          lineItems: Array.from({ length: 9 }, (_line, line) => ({ variantId: `v-${line}`, quantityOrdered: 1 })),
        }),
      );
      const context = { ...shop, engine: counting, loop: new Loop() };
      await importRecords(context, shop.shop, piecesOf(ndjson([...places, ...orders]), 65_536), "req_1");
      assert.equal(Math.max(...written), weightMax);
      assert.equal(
        written.reduce((sum, each) => sum + each, 0),
        places.length + orders.length * 10,
      );
    });
  });

test("an order that is imported over another gets an ETag of its own, unless it is the same", async () => {
  await using server = await startGoodsServer();
  const facts = { createdAt: "2026-01-01T00:00:00.000Z", updatedAt: "2026-01-01T00:00:00.000Z" };
  const stamped = { ...lineA, createdAt: facts.createdAt, updatedAt: facts.updatedAt };
  const etag = async (): Promise<string> => `${(await server.get(server.order())).headers.etag}`;
  await server.bringOrder("Sent", [stamped], facts);
  const first = await etag();
  await server.bringOrder("Sent", [stamped], facts);
  assert.equal(await etag(), first, "the same record");
  await server.bringOrder("Sent", [{ ...stamped, unitCost: 9 }], facts);
  const second = await etag();
  assert.notEqual(second, first);
  assert.equal((await server.get(server.order(), { headers: { "If-None-Match": first } })).status, 200);
  await server.bringOrder("Sent", [{ ...stamped, unitCost: 9 }], {
    ...facts,
    payments: [
      {
        paymentId: "p",
        paymentType: "other",
        status: "Paid",
        amount: 1,
        currencyCode: "EUR",
        createdAt: facts.createdAt,
      },
    ],
  });
  assert.notEqual(await etag(), second, "what hangs on it is part of it");
});
