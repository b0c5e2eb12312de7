/** Broad reads run on reader threads: the same answers, as fresh and as durable as on the event loop, and no thread for small reads. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { linesOnLoopMax, rowsOnLoopMax, variantsOnLoopMax } from "../../src/requests/loop-limits.ts";
import type { BroadRead } from "../../src/requests/broad-read.ts";
import { limitsWith, ReaderPool, type ReaderStore } from "../../src/threads/reader-pool.ts";
import { beginFilling, fillSegments } from "../../src/shop/order-list/sealing.ts";
import { pageOfOrders } from "../../src/shop/order/purchase-orders.ts";
import { loadShop } from "../../src/shop/access/accounts.ts";
import { backgroundNiceness } from "../../src/store/background-thread.ts";
import { bring } from "../support/shops/imported-records.ts";
import { connectAgent, revisions } from "../support/mcp.ts";
import { silent, startBroadServer } from "../support/programs/broad-server.ts";
import { type TestResponse, type TestServer, adminToken, startServer } from "../support/server.ts";
import { onPostgres } from "../support/store.ts";
import { nicenessOf } from "../support/programs/threads.ts";
import { quiet, until } from "../support/until.ts";

const orders = "/api/v1/purchase-orders";
/** A page of the audit log, as far as it is looked at. */
interface AuditPage {
  readonly auditLog: readonly { readonly at: string; readonly tag: string; readonly status: number }[];
  readonly totalCount: number;
  readonly cursor: string | null;
}

/** An order with so many lines. */
async function createOrder(server: TestServer, lines: number): Promise<string> {
  const created = await server.post(orders, { poName: `Order of ${lines}` });
  assert.equal(created.status, 201, created.text);
  const purchaseOrderId = created.textAt("data", "purchaseOrder", "purchaseOrderId");
  const added = await server.post(`${orders}/${purchaseOrderId}/line-items`, {
    lineItems: Array.from({ length: lines }, (_, index) => ({
      variantId: `v${index}`,
      quantityOrdered: index + 1,
      unitCost: 2.5,
    })),
  });
  assert.equal(added.status, 201, added.text);
  return purchaseOrderId;
}

/** Orders without lines, written as rows, and brought into segments (R4). */
async function addOrders({ engine, shopId }: TestServer, count: number): Promise<void> {
  await engine.write(shopId, async (tx) => {
    await tx.batch([
      {
        sql: `insert into purchase_order (shop_id, purchase_order_id, po_number, status, previous_status, currency_code, tags, item_count,
                total_value, unpriced_line_item_ids, settled_amount, paid_status, storefront_sync_state, created_at,
                updated_at, version)
              with recursive number(i) as (select 1 union all select i + 1 from number where i < ${count})
              select '${shopId}', 'o' || cast(i as text), 'N-' || cast(i as text), 'Draft', 'Draft', 'EUR', '[]', 0, 0, '[]', 0,
                'Unpaid', 'never-synced', i, i, 1 from number`,
        params: [],
      },
      beginFilling(shopId),
    ]);
    while (await fillSegments(tx, shopId));
  });
}

test("an order with many lines is read on a thread: every line, at the version that was acknowledged last, also as 304", async () => {
  const { server, left } = await startBroadServer();
  await using _ = server;
  const small = await createOrder(server, linesOnLoopMax);
  await server.get(`${orders}/${small}`);
  assert.deepEqual(left, []);

  const large = await createOrder(server, linesOnLoopMax + 1);
  for (let round = 1; round <= 5; round += 1) {
    const changed = await server.patch(`${orders}/${large}`, { note: `round ${round}` });
    assert.equal(changed.status, 200, changed.text);
    const read = await server.get(`${orders}/${large}`, { key: server.readKey });
    assert.equal(read.at("data", "purchaseOrder", "note"), `round ${round}`);
    assert.equal(read.headers["etag"], changed.headers["etag"]);
    assert.deepEqual(
      read.at("data", "purchaseOrder", "lineItems"),
      changed.at("data", "purchaseOrder", "lineItems"),
      "a thread shows what the event loop shows",
    );
    const unchanged = await server.get(`${orders}/${large}`, {
      headers: { "If-None-Match": String(changed.headers["etag"]) },
    });
    assert.equal(unchanged.status, 304);
  }
  assert.deepEqual(new Set(left), new Set(["purchase_order_get"]));
  const { length } = left;
  await server.get(`${orders}/${large}/line-items`);
  await server.get(`${orders}/${large}/receipt-schedule`);
  assert.deepEqual(left.slice(length), ["purchase_order_line_item_list", "purchase_order_receipt_schedule_get"]);
  await server.get(`${orders}/${large}/line-items?limit=20`);
  assert.equal(left.length, length + 2, "a page of lines stays");
  const [audited] = await server.audit();
  assert.equal(audited?.tag, "rest:purchase_order_line_item_list");
  for (const nicer of nicenessOf("openpo-reader"))
    assert.equal(nicer, backgroundNiceness, "the event loop has the processor first");
});

test("a search of many orders runs on a thread and answers what the event loop answers; of few it stays", async () => {
  const { server, left } = await startBroadServer();
  await using _ = server;
  await addOrders(server, rowsOnLoopMax);
  const query = `${orders}?search=n-49&limit=3`;
  const before = await server.get(query);
  assert.deepEqual(left, []);
  await server.post(orders, {});
  const after = await server.get(query);
  assert.deepEqual(left, ["purchase_order_list"]);
  assert.deepEqual(after.at("data"), before.at("data"));
  assert.equal(after.at("data", "totalCount"), 111);
});

test("what a thread has answered is told again until a row that it has read is changed, and never an older state (H11)", async () => {
  const { server, left } = await startBroadServer();
  await using _ = server;
  await addOrders(server, rowsOnLoopMax);
  const order = await createOrder(server, 1);
  const search = `${orders}?search=N-49&limit=20`;
  let asked = 0;
  const found = (answer: TestResponse): unknown => [
    answer.at("data", "purchaseOrders"),
    answer.at("data", "totalCount"),
  ];
  // The same question in other words each time: nothing is remembered of it.
  const anew = async (): Promise<unknown> =>
    found(await server.get(`${search}&dateFrom=1960-01-01T00:00:00.${String((asked += 1)).padStart(3, "0")}Z`));
  /** How often threads were asked when the question was asked twice after a change. */
  const after = async (change: () => Promise<unknown>): Promise<number> => {
    await change();
    const { length } = left;
    const first = await server.get(search);
    const again = await server.get(search);
    const asked = left.length - length;
    assert.deepEqual(found(first), await anew());
    assert.deepEqual(found(again), found(first));
    assert.notEqual(again.at("meta", "requestId"), first.at("meta", "requestId"));
    return asked;
  };
  const supplier = (name: string): Promise<void> => bring(server, [{ type: "supplier", supplierId: "mill", name }]);
  // On PostgreSQL another node may change the rows, so nothing is remembered.
  const [changed, unchanged] = onPostgres ? [2, 2] : [1, 0];
  // The changes of rows are counted from the first time that a statement has read them.
  await after(async () => {});
  assert.equal(await after(async () => {}), unchanged);
  assert.equal(await after(() => server.patch(`${orders}/${order}`, { poName: "N-490 again" })), changed);
  assert.equal(await after(() => server.post(orders, { poName: "N-491 new" })), changed);
  assert.equal(await after(() => supplier("Mill N-49")), changed);
  assert.equal(await after(() => server.patch(`${orders}/${order}`, { poName: "none", supplierId: "mill" })), changed);
  assert.equal(await after(() => supplier("Mill")), changed, "its order is found no more");
  const variant = { type: "variant", variantId: "v0", productId: "p", productName: "N-49" };
  assert.equal(await after(() => bring(server, [variant])), unchanged, "a search does not read variants");
  assert.equal(await after(() => server.delete(`${orders}/${order}`)), changed);
});

test("the logs of many requests and changes are counted and searched on a thread, and paged on the event loop", async () => {
  const { server, left } = await startBroadServer({ console: true });
  await using _ = server;
  const addRequests = (count: number): Promise<void> =>
    server.engine.write(server.shopId, (tx) =>
      tx.batch([
        {
          sql: `insert into audit_log (shop_id, audit_id, at, request_id, tag, key_id, method, path, status, duration_ms, replayed)
                with recursive number(i) as (select 1 union all select i + 1 from number where i < ${count})
                select '${server.shopId}', 'aud_0' || cast(${count} as text) || '_' || cast(10000 + i as text), i, 'r',
                  case when i % 2 = 0 then 'rest:purchase_order_list' else 'mcp:purchase_order_list' end, 'key_' || cast(i % 3 as text),
                  'GET', '/', case when i % 100 = 0 then 500 else 200 end, 1, 0 from number`,
          params: [],
        },
      ]),
    );
  const page = async (query: string): Promise<AuditPage> => {
    const target = `${server.url}/admin/v1/shops/${server.shopId}/audit-log?${query}`;
    const answer = await fetch(target, { headers: { Authorization: `Bearer ${adminToken}` } });
    const { data }: { readonly data: AuditPage } = JSON.parse(await answer.text());
    return data;
  };
  const query = "operation=purchase_order_list&status=500&limit=20";
  await addRequests(200);
  assert.equal((await page(query)).totalCount, 2);
  assert.deepEqual(left, []);

  await addRequests(2 * rowsOnLoopMax + 200);
  const first = await page(query);
  assert.equal(first.totalCount, 104);
  assert.deepEqual(left, ["audit_page"]);
  const statuses = first.auditLog.map((row) => [row.tag, row.status]);
  assert.deepEqual(new Set(statuses.map(String)), new Set(["rest:purchase_order_list,500"]));
  const at: string[] = [];
  for (let shown: AuditPage = first; ; shown = await page(`${query}&cursor=${shown.cursor}`)) {
    assert.equal(shown.totalCount, 104);
    at.push(...shown.auditLog.map((row) => row.at));
    if (shown.cursor === null) break;
  }
  assert.equal(at.length, 104);

  left.length = 0;
  const all = await page("limit=20");
  assert.deepEqual([all.totalCount, left], [2 * rowsOnLoopMax + 400, ["audit_page"]]);
  const next = await page(`limit=20&cursor=${all.cursor}`);
  assert.deepEqual([next.totalCount, left], [all.totalCount, ["audit_page"]], "further pages stay on the loop");
  assert.equal((await page("status=500&limit=20")).totalCount, 104);
  assert.equal((await page("surface=rest&outcome=failed&limit=20")).totalCount, 104);
  assert.equal((await page("surface=mcp&outcome=failed&limit=20")).totalCount, 0);
  assert.equal(left.length, 1, "few matches in the order of an index stay");
});

test("a refusal on a thread is the refusal of the event loop, with its audit row", async () => {
  const { server, left } = await startBroadServer({ responseBytesMax: 20_000 });
  await using _ = server;
  const created = await server.post(orders, {});
  const id = created.textAt("data", "purchaseOrder", "purchaseOrderId");
  await server.engine.write(server.shopId, (tx) =>
    tx.batch([
      {
        sql: `insert into purchase_order_line (shop_id, purchase_order_id, po_line_item_id, position, variant_id, quantity_ordered,
                quantity_confirmed, quantity_received, quantity_rejected, quantity_cancelled, quantity_synced, unit_cost,
                unit_cost_currency_code, created_at, updated_at)
              with recursive number(i) as (select 1 union all select i + 1 from number where i <= ${linesOnLoopMax})
              select '${server.shopId}', '${id}', 'l' || cast(i as text), i, 'v', 1000, 0, 0, 0, 0, 0, 0, 'EUR', 0, 0 from number`,
        params: [],
      },
    ]),
  );
  const read = await server.get(`${orders}/${id}`);
  assert.equal(read.status, 413, read.text);
  assert.equal(read.at("error", "code"), "OUTPUT_TOO_LARGE");
  assert.deepEqual(left, ["purchase_order_get"]);
  const [audited] = await server.audit();
  assert.deepEqual([audited?.status, audited?.errorCode], [413, "OUTPUT_TOO_LARGE"]);
});

test("a thread that dies fails its read with a retryable 503, and the shop is served on", async () => {
  const dying = `data:text/javascript,${encodeURIComponent(
    'import { parentPort } from "node:worker_threads"; parentPort.on("message", () => process.exit(1));',
  )}`;
  const { server } = await startBroadServer({}, new URL(dying));
  await using _ = server;
  const large = await createOrder(server, linesOnLoopMax + 1);
  for (let round = 0; round < 2; round += 1) {
    const read = await server.get(`${orders}/${large}`);
    assert.equal(read.status, 503, read.text);
    assert.deepEqual([read.at("error", "code"), read.at("error", "retryable")], ["DO_UNAVAILABLE", true]);
  }
  assert.equal((await server.patch(`${orders}/${large}`, { note: "still here" })).status, 200);
});

test("an export takes orders with many lines one at a time, and leaves none out", async () => {
  const { server } = await startBroadServer();
  await using _ = server;
  for (const lines of [200, 60, 3, 3, 300, 1]) await createOrder(server, lines);
  const sizes: (readonly number[])[] = [];
  for (let after: string | null = ""; after !== null;) {
    const from: string = after;
    const page = await server.engine.read(server.shopId, (tx) => pageOfOrders(tx, server.shopId, from, 5));
    sizes.push(page.orders.map(({ order }) => order.lineItems.length));
    after = page.end;
  }
  assert.deepEqual(sizes, [[200], [60, 3, 3], [300], [1]]);
});

test("read-only resources with many lines are read on a thread, whole or as a list without limit; a page of them stays", async () => {
  const { server, left } = await startBroadServer();
  await using _ = server;
  const lines = <T>(count: number, line: (index: number) => T): T[] =>
    Array.from({ length: count }, (_none, index) => line(index));
  const count = linesOnLoopMax + 1;
  const createdAt = "2026-03-01T09:00:00.000Z";
  await bring(server, [
    ...[count - 1, count].map((size) => ({
      type: "stockTake",
      stockTakeId: `st_${size}`,
      createdAt,
      lineItems: lines(size, (index) => ({ stockTakeLineItemId: `l${index}`, variantId: `v${index}` })),
    })),
    {
      type: "stockAdjustment",
      stockAdjustmentId: "sa",
      createdAt,
      lineItems: lines(count, (index) => ({
        stockAdjustmentLineItemId: `l${index}`,
        variantId: `v${index}`,
        quantityDelta: 1,
      })),
    },
    {
      type: "transferOrder",
      transferOrderId: "to",
      createdAt,
      lineItems: lines(count, (index) => ({
        transferLineItemId: `l${index}`,
        variantId: `v${index}`,
        quantityRequested: 2,
      })),
    },
    {
      type: "manufacturingOrder",
      manufacturingOrderId: "mo",
      createdAt,
      itemsToBuild: [{ moItemId: "i", variantId: "set", quantityPlanned: 1 }],
      materials: lines(count, (index) => ({
        moMaterialId: `m${index}`,
        moItemId: "i",
        variantId: `v${index}`,
        quantityRequired: 1,
      })),
    },
  ]);
  const get = async (path: string) => {
    const read = await server.get(`/api/v1/${path}`);
    assert.equal(read.status, 200, read.text);
    return read;
  };
  await get(`stock-takes/st_${count - 1}`);
  await get("stock-takes/st_201/line-items?limit=20");
  await get("transfer-orders/to/documents");
  await get("manufacturing-orders?limit=5");
  assert.deepEqual(left, []);
  const shown = [
    await get(`stock-takes/st_${count}`),
    await get(`stock-takes/st_${count}/line-items`),
    await get("stock-adjustments/sa"),
    await get("transfer-orders/to"),
    await get("manufacturing-orders/mo"),
  ].map((read) => read.at("data"));
  await get("manufacturing-orders?includeMeasures=true");
  assert.deepEqual(left, [
    "stock_take_get",
    "stock_take_line_item_list",
    "stock_adjustment_get",
    "transfer_order_get",
    "manufacturing_order_get",
    "manufacturing_order_list",
  ]);
  for (const data of shown) assert.match(JSON.stringify(data), new RegExp(`"v${count - 1}"`));
});

test("what a reorder would order is found out on a thread; a refusal of it is the caller's", async () => {
  const { server, left } = await startBroadServer();
  await using _ = server;
  const count = variantsOnLoopMax + 1;
  const ordered = 5;
  await bring(server, [
    { type: "location", locationId: "loc", name: "Main" },
    { type: "supplier", supplierId: "sup", name: "Supplier" },
    ...Array.from({ length: count }, (_none, index) => [
      { type: "variant", variantId: `v${index}`, productId: `p${index}`, productName: `Product ${index}` },
      ...(index < ordered
        ? [
            { type: "supplierVariant", supplierId: "sup", variantId: `v${index}`, unitCost: 2 },
            {
              type: "sale",
              variantId: `v${index}`,
              locationId: "loc",
              date: new Date(server.clock.now() - 86_400_000).toISOString().slice(0, 10),
              quantity: 90,
            },
          ]
        : []),
    ]).flat(),
    { type: "forecastView", viewId: "view", viewName: "View", mode: "stock", columns: ["suggestedOrderQuantity"] },
  ]);
  await using agent = await connectAgent(server);
  const asked = { viewId: "view", locationId: "loc" };
  const dry = await agent.call("reorder_from_view", asked);
  assert.ok(!dry.isError, dry.text);
  const lines = dry.at("drafts", 0, "lines");
  assert.ok(Array.isArray(lines) && lines.length === ordered, dry.text);
  assert.deepEqual(left, ["reorder_facts"]);
  const made = await agent.call("reorder_from_view", {
    ...asked,
    dryRun: false,
    lines: [{ variantId: `v${count - 1}`, quantity: 3 }],
  });
  assert.ok(!made.isError, made.text);
  assert.deepEqual(left, ["reorder_facts", "reorder_facts"]);
  const unknown = await agent.call("reorder_from_view", { ...asked, viewId: "elsewhere" });
  assert.ok(unknown.isError);
});

test("a large answer to an agent is made on a thread, in both revisions; it says what an answer made on the event loop says", async () => {
  const { server, left } = await startBroadServer();
  await using _ = server;
  const large = await createOrder(server, 400);
  const read = await server.get(`${orders}/${large}`);
  for (const revision of revisions) {
    left.length = 0;
    await using agent = await connectAgent(server, { revision });
    const told = await agent.call("purchase_order_get", { purchaseOrderId: large });
    assert.ok(!told.isError, told.text);
    assert.deepEqual(left, ["purchase_order_get", "answer of purchase_order_get"]);
    assert.equal(told.at("purchaseOrder", "poNumber"), read.at("data", "purchaseOrder", "poNumber"));
    const lines = told.at("purchaseOrder", "lineItems");
    assert.ok(Array.isArray(lines) && lines.length === 400);
    const changed = await agent.callWhole("purchase_order_update", { purchaseOrderId: large, note: revision });
    assert.equal(changed.at("purchaseOrder", "note"), revision);
    assert.equal(left.at(-1), "answer of purchase_order_update");
  }
});

test("what a call has done is told although the thread that makes its answer dies", async () => {
  const dying = `data:text/javascript,${encodeURIComponent(
    'import { parentPort } from "node:worker_threads"; parentPort.on("message", () => process.exit(1));',
  )}`;
  const { server } = await startBroadServer({}, new URL(dying));
  await using _ = server;
  const large = await createOrder(server, 400);
  await using agent = await connectAgent(server);
  const changed = await agent.callWhole("purchase_order_update", { purchaseOrderId: large, note: "told" });
  assert.equal(changed.at("purchaseOrder", "note"), "told");
});

test("an answer from a thread leaves when everything that the thread may have seen is on disk (S4)", async () => {
  const answering = `data:text/javascript,${encodeURIComponent(
    `import { parentPort } from "node:worker_threads";
     parentPort.on("message", ({ broad }) =>
       parentPort.postMessage(broad ? { reply: { status: 200 }, bug: null } : { found: 7 }));`,
  )}`;
  const disk = Promise.withResolvers<void>();
  let lent = 0;
  const store: ReaderStore = {
    source: { kind: "files" },
    lend: async () => {
      lent += 1;
      return {
        file: "",
        untilDurable: () => disk.promise,
        observe: () => () => null,
        rest: () => {},
        resume: () => {},
        giveBack: () => {
          lent -= 1;
        },
      };
    },
  };
  const pool = new ReaderPool({ store, log: silent, limits: limitsWith(2), module: new URL(answering) });
  try {
    await using server = await startServer();
    const shop = await server.engine.read(server.shopId, (tx) => loadShop(tx, server.shopId));
    assert.ok(shop !== null);
    const settled: string[] = [];
    const broad: BroadRead = {
      operation: "any",
      input: {},
      shop,
      actor: { type: "system", id: null, name: null },
      ifMatch: null,
      incoming: { requestId: "req", surface: "rest", ifNoneMatch: null },
      nowMs: 0,
      responseBytesMax: 1,
      asBytes: false,
    };
    const reads = [
      pool.read(broad).then(() => settled.push("read")),
      pool.find(broad).then(() => settled.push("find")),
      pool.readQuery({ query: "any", queryInput: null, shop, nowMs: 0 }).then(() => settled.push("part")),
    ];
    await quiet(300);
    assert.deepEqual(settled, []);
    disk.resolve();
    await Promise.all(reads);
    assert.deepEqual(new Set(settled), new Set(["part", "read", "find"]));
  } finally {
    await pool.close();
  }
  assert.equal(lent, 0);
});

test("a thread keeps the file that it has read open, and closes it when it reads another or the file is to be closed", async () => {
  const keeping = `data:text/javascript,${encodeURIComponent(
    `import { parentPort } from "node:worker_threads";
     const seen = [];
     parentPort.on("message", ({ file, close }) => {
       seen.push(close ? "close" : file);
       parentPort.postMessage({ found: [...seen] });
     });`,
  )}`;
  const told: string[] = [];
  const recalls = new Map<string, () => void>();
  const store: ReaderStore = {
    source: { kind: "files" },
    lend: async (shopId) => {
      told.push(`lend ${shopId}`);
      return {
        file: shopId,
        untilDurable: () => Promise.resolve(),
        observe: () => () => null,
        rest: (recall) => void recalls.set(shopId, recall),
        resume: () => void recalls.delete(shopId),
        giveBack: () => void told.push(`back ${shopId}`),
      };
    },
  };
  const limits = { runningMax: 1, runningPerShopMax: 1, waitingPerShopMax: 9, waitMsMax: 9_000 };
  const pool = new ReaderPool({ store, log: silent, limits, module: new URL(keeping) });
  try {
    await using server = await startServer();
    const shop = await server.engine.read(server.shopId, (tx) => loadShop(tx, server.shopId));
    assert.ok(shop !== null);
    const read = (shopId: string) =>
      pool.readQuery({ query: "any", queryInput: null, shop: { ...shop, shopId }, nowMs: 0 });
    await read("a");
    assert.deepEqual(await read("a"), ["a", "a"]);
    assert.deepEqual(await read("b"), ["a", "a", "b"]);
    assert.deepEqual([told, [...recalls.keys()]], [["lend a", "lend b", "back a"], ["b"]]);
    recalls.get("b")?.();
    await until("it is given back and lent again", () => told.length >= 4);
    assert.deepEqual(await read("b"), ["a", "a", "b", "close", "b"]);
    assert.deepEqual(told, ["lend a", "lend b", "back a", "back b", "lend b"]);
  } finally {
    await pool.close();
  }
  assert.equal(told.at(-1), "back b");
});
