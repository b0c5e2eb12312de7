/**
 * Lists by two filters at once: what the engine examines for any pair of filters grows with the rows of the shop, not with their square,
 * whatever the engine believes about the size of the shop.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { copyRows } from "../../bench/copy-rows.ts";
import { beginFilling, fillSegments } from "../../src/shop/order-list/sealing.ts";
import { NoticingTx } from "../../src/store/delegated.ts";
import type { Engine, Statement } from "../../src/store/store.ts";
import { askAdmin } from "../support/people.ts";
import { adminToken, startServer, type TestServer } from "../support/server.ts";
import { hasPython, stepsOf } from "../support/engine/sqlite-steps.ts";
import { examining, keepStatistics, onPostgres } from "../support/store.ts";

/** Values of each filter of each list that has several; every record has the first value of those that a filter can be right for. */
const lists: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "/api/v1/purchase-orders": {
    status: "Sent",
    paidStatus: "Unpaid",
    storefrontSyncState: "never-synced",
    expectedBefore: "2100-01-01",
    supplierId: "s0",
    locationId: "l0",
    variantId: "v0",
    sku: "S-0",
    search: "restock",
    tag: "weekly",
    dateFrom: "2020-01-01",
    dateTo: "2100-01-01",
    updatedFrom: "2020-01-01",
    updatedTo: "2100-01-01",
  },
  "/api/v1/stock-takes": { status: "Draft", locationId: "l0", search: "take" },
  "/api/v1/stock-adjustments": {
    status: "Draft",
    locationId: "l0",
    reason: "Damaged",
    createdBy: "Ada",
    search: "adjust",
  },
  "/api/v1/transfer-orders": {
    status: "Draft",
    fromLocationId: "l0",
    toLocationId: "l1",
    variantId: "v0",
    sku: "S-0",
    search: "transfer",
    dateFrom: "2020-01-01",
    dateTo: "2100-01-01",
  },
  "/api/v1/manufacturing-orders": {
    status: "Draft",
    executionMode: "in-house",
    productionLocationId: "l0",
    search: "batch",
    dateField: "dueDate",
    dateFrom: "2020-01-01",
    dateTo: "2100-01-01",
    includeMeasures: "false",
  },
  "/admin/v1/shops/{shopId}/suppliers": { search: "supplier", ids: "s0" },
  "/admin/v1/shops/{shopId}/locations": { search: "place", ids: "l0" },
  "/admin/v1/shops/{shopId}/variants": {
    search: "product",
    ids: "v0,v0.1,v0.2",
    sku: "S-0",
    barcode: "B-0",
    codes: "S-0,B-0",
    supplierId: "s0",
  },
  "/admin/v1/shops/{shopId}/variants/{variantId}/orders": { placed: "true", supplierId: "s0" },
  "/admin/v1/shops/{shopId}/changes": {
    keyId: "imported",
    personId: "imported",
    actorType: "system",
    operation: "imported",
    requestId: "req_import",
    purchaseOrderId: "o0",
    from: "2020-01-01",
    to: "2100-01-01",
  },
  "/admin/v1/shops/{shopId}/audit-log": {
    keyId: "key",
    personId: "person",
    operation: "purchase_order_list",
    surface: "rest",
    outcome: "done",
    status: "200",
  },
  "/admin/v1/shops/{shopId}/approval-requests": { status: "pending", purchaseOrderId: "o0" },
  "/admin/v1/shops/{shopId}/webhook-endpoints/{endpointId}/deliveries": {
    state: "pending",
    type: "purchase_order.created",
  },
};

/** Fewer orders than a digest is made for, so that rows answer. */
const recordsMax = 990;
const base = 10;

const catalogue = [
  ...["l0", "l1"].map((locationId) => ({ type: "location", locationId, name: `Place ${locationId}` })),
  { type: "supplier", supplierId: "s0", name: "Supplier", currencyCode: "EUR" },
  {
    type: "variant",
    variantId: "v0",
    productId: "p0",
    productName: "Product",
    sku: "S-0",
    barcode: "B-0",
    unitCost: 1,
  },
  { type: "supplierVariant", supplierId: "s0", variantId: "v0", unitCost: 4, unitCostCurrencyCode: "EUR" },
];

const createdAt = (index: number): string =>
  new Date(Date.parse("2026-03-01T12:00:00Z") + index * 60_000).toISOString();

function* records(): Generator<object> {
  yield* catalogue;
  for (let index = 0; index < base; index += 1) {
    const common = { createdAt: createdAt(index), locationId: "l0" };
    const lineItems = [
      { variantId: "v0", sku: "S-0" },
      { variantId: "v0", sku: "S-0" },
    ];
    yield {
      type: "purchaseOrder",
      purchaseOrderId: `o${index}`,
      poNumber: `N-${index}`,
      poName: "Restock",
      tags: ["weekly"],
      status: index % 2 === 0 ? "Sent" : "Draft",
      supplierId: "s0",
      expectedDeliveryDate: "2026-06-01",
      ...common,
      lineItems: lineItems.map((line, place) => ({ poLineItemId: `l${place}`, quantityOrdered: 5, ...line })),
    };
    yield { type: "stockTake", stockTakeId: `st${index}`, stockTakeName: "Take", status: "Draft", ...common };
    yield {
      type: "stockAdjustment",
      stockAdjustmentId: `sa${index}`,
      stockAdjustmentNumber: `Adjust ${index}`,
      status: "Draft",
      reason: "Damaged",
      createdBy: "Ada",
      ...common,
    };
    yield {
      type: "transferOrder",
      transferOrderId: `to${index}`,
      transferName: "Transfer",
      status: "Draft",
      fromLocationId: "l0",
      toLocationId: "l1",
      createdAt: createdAt(index),
      lineItems: lineItems.map((line) => ({ ...line, quantityRequested: 1 })),
    };
    yield {
      type: "manufacturingOrder",
      manufacturingOrderId: `mo${index}`,
      moName: "Batch",
      status: "Draft",
      executionMode: "in-house",
      productionLocationId: "l0",
      dueDate: "2026-06-01",
      createdAt: createdAt(index),
    };
  }
}

const nobody = { requestedBy: { type: "agent", id: "key", name: null }, url: null, advice: "", begunBy: null };

/** Makes about `recordsMax` of each record of what `records` has brought. */
async function grow({ engine, shopId }: TestServer, endpointId: string): Promise<void> {
  const times = recordsMax / base - 1;
  const copied = (column: string): string => `t.${column} || '.' || cast(n.i as text)`;
  const own = `t.shop_id = '${shopId}'`;
  const header = { created_at: "t.created_at - n.i" };
  await engine.write(shopId, async (tx) => {
    await copyRows(tx, "purchase_order", times, own, {
      ...header,
      purchase_order_id: copied("purchase_order_id"),
      po_number: copied("po_number"),
    });
    await copyRows(tx, "purchase_order_line", times, own, { purchase_order_id: copied("purchase_order_id") });
    await tx.batch([beginFilling(shopId)]);
    while (await fillSegments(tx, shopId));
    await copyRows(tx, "purchase_order_log", times, own, { purchase_order_id: copied("purchase_order_id") });
    for (const table of ["stock_take", "stock_adjustment", "transfer_order", "manufacturing_order"])
      await copyRows(tx, table, times, own, { ...header, [`${table}_id`]: copied(`${table}_id`) });
    await copyRows(tx, "read_only_part", times, own, { record_id: copied("record_id") });
    await copyRows(tx, "variant", recordsMax, own, { variant_id: copied("variant_id") });
    await copyRows(tx, "supplier_variant", recordsMax, own, { variant_id: copied("variant_id") });
    await copyRows(tx, "supplier", recordsMax, own, { supplier_id: copied("supplier_id") });
    await copyRows(tx, "audit_log", recordsMax, `${own} and t.audit_id = (select min(audit_id) from audit_log)`, {
      audit_id: copied("audit_id"),
      key_id: "'key'",
    });
    await tx.batch([
      {
        sql: `insert into approval_request
                (shop_id, approval_request_id, purchase_order_id, holder_id, status, requested_at, expires_at, content, detail)
              with recursive n(i) as (select 1 union all select i + 1 from n where i < ${recordsMax})
              select '${shopId}', 'apr_' || cast(i as text), 'o0', 'key', 'pending', i, 4102444800000, ?, '{}' from n`,
        params: [JSON.stringify({ operation: "o", summary: "s", order: null, causes: [], decision: null, ...nobody })],
      },
      {
        sql: `insert into delivery (shop_id, delivery_id, endpoint_id, sequence, event_id, type, state, attempts, created_at)
              with recursive n(i) as (select 1 union all select i + 1 from n where i < ${recordsMax})
              select '${shopId}', 'dlv_' || cast(i as text), ?, i, 'evt', 'purchase_order.created', 'pending', 0, i from n`,
        params: [endpointId],
      },
    ]);
  });
}

/** Has PostgreSQL take every shop for one of a few rows: its statistics are those of another shop. */
async function misleadPlanner(server: TestServer): Promise<void> {
  const file = [...records()].map((record) => JSON.stringify(record)).join("\n");
  await askAdmin(server, "PUT", "/shops/other", { name: "Other" });
  const brought = await askAdmin(server, "POST", "/shops/other/import", file, {
    headers: { "Content-Type": "application/x-ndjson" },
  });
  assert.equal(brought.status, 200, brought.text);
  await keepStatistics(server.directory);
}

/** What `ask` has the engine read of the shop. */
async function statementsOf({ engine }: TestServer, ask: () => Promise<void>): Promise<readonly Statement[]> {
  const found: Statement[] = [];
  const read: Engine["read"] = engine.read.bind(engine);
  const noticing: Engine["read"] = (shopId, work, onSeen) =>
    read(shopId, (tx) => work(new NoticingTx(tx, (statement) => void found.push(statement))), onSeen);
  Object.assign(engine, { read: noticing });
  try {
    await ask();
  } finally {
    Object.assign(engine, { read });
  }
  return found.filter(({ sql }) => /^\s*(?:select|with)/.test(sql));
}

interface Documented {
  readonly paths: Readonly<
    Record<
      string,
      {
        readonly get?: {
          readonly parameters?: readonly {
            readonly name?: string;
            readonly in?: string;
            readonly required?: boolean;
          }[];
        };
      }
    >
  >;
}

const documents = ["openapi.json", "admin-openapi.json"].map((file): Documented =>
  JSON.parse(readFileSync(path.join(import.meta.dirname, "../..", file), "utf8")),
);

test("every list with several filters has a value of each for the next test", () => {
  const paging: readonly (string | undefined)[] = ["limit", "cursor", "after", "sort"];
  let found = 0;
  for (const { paths } of documents)
    for (const [target, { get }] of Object.entries(paths)) {
      const query = (get?.parameters ?? []).filter((parameter) => parameter.in === "query");
      // Without a required one there is no list.
      const filters = query.flatMap(({ name, required }) =>
        name === undefined || required === true || paging.includes(name) ? [] : [name],
      );
      // The parameters of OAuth are one question, not filters of a list.
      if (filters.length < 2 || filters.includes("code_challenge")) continue;
      found += 1;
      assert.deepEqual(Object.keys(lists[target] ?? {}).sort(), filters.sort(), target);
    }
  assert.equal(found, Object.keys(lists).length);
});

/** Filters that are refused together, or without a third. */
const refused = new Set(["codes", "dateField"]);

function* pairsOf(filters: Readonly<Record<string, string>>): Generator<readonly string[]> {
  const names = Object.keys(filters);
  for (const [index, name] of names.entries())
    for (const other of names.slice(index)) yield name === other ? [name] : [name, other];
}

/** Rows and pages that a list may examine for each record of its kind: PostgreSQL. A product of two filters is some thousand. */
const examinedMax = 80;

/** Steps of its machine that a list may take for each record of its kind, 136 at most today: SQLite. A product of two filters is some thousand. */
const stepsMax = 400;

test("for any two filters a list examines so much as the shop has rows, not the product of what each finds", async (t) => {
  if (!onPostgres && !hasPython) {
    assert.equal(process.env["CI"], undefined, "python3 is needed");
    return t.skip("python3 is not there");
  }
  await using server = await startServer({ console: true });
  if (onPostgres) await misleadPlanner(server);
  const { shopId } = server;
  const file = [...records()].map((record) => JSON.stringify(record)).join("\n");
  const brought = await askAdmin(server, "POST", `/shops/${shopId}/import`, file, {
    headers: { "Content-Type": "application/x-ndjson" },
  });
  assert.equal(brought.status, 200, brought.text);
  const endpoint = await askAdmin(server, "POST", `/shops/${shopId}/webhook-endpoints`, {
    url: "https://hooks.example.com/x",
    eventTypes: ["purchase_order.created"],
  });
  const endpointId = endpoint.textAt("data", "endpointId");
  await server.get("/api/v1/purchase-orders");
  await server.audit();
  await grow(server, endpointId);

  const queries: string[] = [];
  const asked: (readonly Statement[])[] = [];
  for (const [target, filters] of Object.entries(lists))
    for (const names of pairsOf(filters)) {
      const query = names.map((name) => `${name}=${encodeURIComponent(filters[name] ?? "")}`).join("&");
      const url = `${target.replace("{shopId}", shopId).replace("{endpointId}", endpointId).replace("{variantId}", "v0")}?${query}`;
      const statements = await statementsOf(server, async () => {
        const options = url.startsWith("/admin") ? { key: adminToken, undocumented: true } : {};
        const { status, text } = await server.get(url, options);
        assert.ok(status === 200 || (status === 400 && names.some((name) => refused.has(name))), `${url}: ${text}`);
      });
      queries.push(`${target}?${query}`);
      asked.push(statements);
    }
  const costs: number[] = [];
  if (onPostgres)
    await examining(server.directory, shopId, async (examined) => {
      for (const statements of asked) {
        let sum = 0;
        for (const statement of statements) sum += await examined(statement);
        costs.push(sum);
      }
    });
  else costs.push(...stepsOf(server.directory, shopId, asked));
  const max = (onPostgres ? examinedMax : stepsMax) * recordsMax;
  assert.ok(queries.length > 150 && costs.length === queries.length);
  const worst = queries.map((query, index) => [query, costs[index] ?? Infinity] as const);
  assert.deepEqual(
    worst.filter(([, cost]) => cost > max),
    [],
  );
});
