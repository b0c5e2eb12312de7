/** What a process remembers of its reads, against answers made from the rows, after whatever was done to the shop (H11, W6). */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import * as fc from "fast-check";
import { createApp } from "../../../src/http/app.ts";
import { gzip } from "../../../src/service/compression.ts";
import { createMetrics } from "../../../src/http/metrics.ts";
import { apiPrefix } from "../../../src/http/routes.ts";
import { createPerform, type PerformDependencies } from "../../../src/requests/perform.ts";
import { operations, restOperations } from "../../../src/operations/registry.ts";
import { delegated } from "../../../src/store/delegated.ts";
import { type GoodsServer, startGoodsServer } from "../../support/goods-server.ts";
import { pick, run, step } from "../../support/shops/order-steps.ts";
import { startServer, type TestServer } from "../../support/server.ts";
import { onPostgres } from "../../support/store.ts";
import { until } from "../../support/until.ts";

/** The same service without a memory. */
function forgetful(deps: PerformDependencies): (target: string, key: string) => Promise<string> {
  const { engine, clock, ids, log, loop } = deps;
  const rows = {
    ...delegated(engine),
    embedded: false,
    // Without the orders that the engine remembers, either.
    read: (shopId, work) =>
      engine.read(shopId, (tx) =>
        work({ all: (sql, params) => tx.all(sql, params), batch: (statements) => tx.batch(statements) }),
      ),
  } satisfies typeof engine;
  const app = createApp({
    operations,
    perform: createPerform({ ...deps, engine: rows }),
    gzip,
    clock,
    ids,
    log,
    metrics: createMetrics(),
    ready: () => engine.ready(),
    loop,
    identity: "srv_without_memory",
  });
  return async (target, key) => {
    const response = await app.fetch(
      new Request(`http://test${target}`, { headers: { Authorization: `Bearer ${key}` } }),
    );
    return comparable(
      response.status,
      response.headers.get("etag"),
      await response.text(),
      response.headers.get("x-request-id"),
    );
  };
}

/** Status, ETag and body without the request's id. */
const comparable = (status: number, etag: string | null, text: string, requestId: unknown): string =>
  `${status} ${String(etag)} ${text.replaceAll(String(requestId), "")}`;

/** Reads whose answers follow from rows, and some that also depend on the time. */
const targetsOf = (ids: readonly string[]): readonly string[] =>
  restOperations
    .filter(({ scope, route }) => scope === "read" && /^[^{]*(?:\{purchaseOrderId\}[^{]*)?$/.test(route.path))
    .flatMap(({ route }) =>
      route.path.includes("{")
        ? ids.slice(-3).map((id) => apiPrefix + route.path.replace("{purchaseOrderId}", id))
        : [apiPrefix + route.path],
    )
    .concat([`${apiPrefix}/purchase-orders?status=Draft&limit=2`, `${apiPrefix}/purchase-orders?supplierId=mill`]);

const change = fc.oneof(
  { weight: 3, arbitrary: step.map((each) => ({ what: "orders", each }) as const) },
  {
    weight: 2,
    arbitrary: fc.record({
      what: fc.constantFrom("supplier", "location", "settings", "confirm", "receive", "close"),
      value: fc.nat(1_000),
    }),
  },
);
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;

async function make(server: GoodsServer, node: TestServer, ids: string[], done: Change): Promise<void> {
  if (done.what === "orders") return await run(server, node, ids, done.each);
  const { what, value } = done;
  const order = `${apiPrefix}/purchase-orders/${pick(ids, value) ?? "none"}`;
  switch (what) {
    case "supplier":
      return await server.bring([{ type: "supplier", supplierId: "mill", name: `Mill ${value}`, currencyCode: "EUR" }]);
    case "location":
      return await server.bring([{ type: "location", locationId: "warehouse", name: `Warehouse ${value}` }]);
    case "settings":
      await server.changeShop({ planRestApi: false });
      assert.notEqual((await node.get(`${apiPrefix}/purchase-orders`)).status, 200, "the plan has no API any more");
      return await server.changeShop({ planRestApi: true, timezone: pick(["UTC", "Asia/Tokyo"], value) ?? "UTC" });
    case "confirm":
      await node.post(`${order}/confirm`, { confirmAll: true });
      return;
    case "receive":
      await node.post(`${order}/receive`, { lines: [{ lineItemId: "i1-0", quantityReceived: value % 6 }] });
      return;
    case "close":
      // Each shop that is opened beyond those that may be open has one at rest closed.
      await until("the shop's file is closed", async () => {
        const other = `other-${(others += 1)}`;
        await server.engine.create(other);
        await server.engine.write(other, async () => {});
        return onPostgres || isClosed(server);
      });
  }
}

let others = 0;

/** sqlite keeps the `-wal` of a file that is open. */
const isClosed = ({ directory, shopId }: TestServer): boolean =>
  !existsSync(path.join(directory, "shops", `${shopId}.db-wal`));

test(
  "after any changes, every read is answered as from the rows, at once and again, on two nodes too",
  { timeout: 240_000 },
  async () => {
    let closed = 0;
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 6, maxLength: 10 }), async (changes) => {
        const given: PerformDependencies[] = [];
        runs += 1;
        // In every other run there is room for a few answers, and the others are told from their compressed form.
        const few = runs % 2 === 1 ? { answersRememberedBytesMax: 24_576 } : {};
        await using server = await startGoodsServer({
          perform: (deps) => {
            given.push(deps);
            return few;
          },
        });
        await using other = onPostgres ? await startServer({ beside: server }) : null;
        const [deps] = given;
        assert.ok(deps !== undefined);
        const fromRows = forgetful(deps);
        const nodes = other === null ? [server] : [server, other];
        const ids: string[] = [];
        await run(server, server, ids, { kind: "import", order: 1, value: 3 });
        // At the end once more while the file is closed, and after it was opened again.
        const all: readonly Change[] = [...changes, { what: "close", value: 0 }, { what: "location", value: 0 }];
        for (const [index, each] of all.entries()) {
          await make(server, nodes[index % nodes.length] ?? server, ids, each);
          // Before the rows are read, which opens the file.
          const told: (readonly [target: string, answer: string])[] = [];
          for (const target of targetsOf(ids))
            for (const node of nodes) {
              const { status, headers, text } = await node.get(target);
              told.push([target, comparable(status, headers.etag ?? null, text, headers["x-request-id"])]);
              if (!onPostgres && isClosed(server)) closed += 1;
            }
          for (const [target, answer] of told)
            assert.equal(
              answer,
              await fromRows(target, server.writeKey),
              `${target} after ${JSON.stringify(all.slice(0, index + 1))}`,
            );
        }
      }),
      { numRuns: Number(process.env["OPENPO_PROPERTY_RUNS"] ?? 2) },
    );
    assert.ok(onPostgres || closed > 0, "some were told while the file was closed");
  },
);
