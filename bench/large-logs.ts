/**
 * Measures a page of the audit log and of the changes of a shop with many rows, whatever it is filtered by: how long it takes, and for how long it holds
 * the event loop. It must count what matches. `OPENPO_BENCH_AUDIT_ROWS=1000000` makes it a million rows, which takes minutes.
 */
import assert from "node:assert/strict";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { startBroadServer } from "../test/support/programs/broad-server.ts";
import { type TestServer, adminToken } from "../test/support/server.ts";
import { asAfterAWhile } from "../test/support/store.ts";
import { pause } from "../test/support/until.ts";
import { report } from "./report.ts";

const auditRows = Number(process.env["OPENPO_BENCH_AUDIT_ROWS"] ?? 200_000);
const changeRows = auditRows / 2;
const rowsTogether = 50_000;

/** Other programs have the machine as well: the least of so many tries counts. */
const triesMax = 5;

/** Rows in steps, so that no statement is very long. `i` is the number of a row in `sql`. */
async function addRows(server: TestServer, rows: number, sql: (source: string) => string): Promise<void> {
  for (let first = 0; first < rows; first += rowsTogether)
    await server.engine.write(server.shopId, (tx) =>
      tx.batch([
        {
          sql: sql(
            `from (with recursive number(i) as (select ${first} union all select i + 1 from number where i < ${first + rowsTogether - 1})
                   select i from number) numbered`,
          ),
          params: [],
        },
      ]),
    );
}

const numbered = (prefix: string): string => `'${prefix}' || substr(cast(10000000 + i as text), 2)`;

/** One in a thousand requests failed, one in 100,000 was a delete; people asked for one in four. */
const addRequests = (server: TestServer): Promise<void> =>
  addRows(
    server,
    auditRows,
    (
      source,
    ) => `insert into audit_log (shop_id, audit_id, at, request_id, tag, key_id, person_id, method, path, status, error_code,
      duration_ms, replayed, request_count)
    select '${server.shopId}', ${numbered("aud_00000000000000000")}, i, ${numbered("req_00000000000000000")},
      case when i % 100000 = 1 then 'mcp:purchase_order_delete' when i % 4 = 0 then 'console:purchase_order_list'
        else 'rest:purchase_order_receive' end,
      case when i % 4 = 0 then null else 'key_' || cast(i % 4 as text) end, case when i % 4 = 0 then 'person_a' else null end,
      'GET', '/api/v1/purchase-orders', case when i % 1000 = 1 then 500 else 200 end, null, 5, 0, 1 ${source}`,
  );

/** One in 100,000 changes was a delete, one in 1,000 was made by the system. */
const addChanges = (server: TestServer): Promise<void> =>
  addRows(
    server,
    changeRows,
    (
      source,
    ) => `insert into purchase_order_log (shop_id, purchase_order_id, log_id, occurred_at, action, message, actor_type, actor_id,
      actor_name, operation, request_id, changes)
    select '${server.shopId}', 'po_' || cast(i % 10000 as text), ${numbered("log_00000000000000000")}, i, 'changed', 'Changed.',
      case when i % 1000 = 2 then 'system' else 'agent' end, case when i % 1000 = 2 then null else 'key_' || cast(i % 3 as text) end,
      'bot', case when i % 100000 = 1 then 'purchase_order_delete' else 'purchase_order_update' end,
      ${numbered("req_00000000000000000")}, '[]' ${source}`,
  );

/** The least of several tries: how long an answer took, and for how long the event loop was held meanwhile. */
async function quickest(ask: () => Promise<void>): Promise<{ readonly ms: number; readonly heldMs: number }> {
  let [ms, heldMs] = [Infinity, Infinity];
  for (let tries = 0; tries < triesMax; tries += 1) {
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    // The histogram's timer has begun.
    await pause(5);
    delay.reset();
    const from = performance.now();
    await ask();
    ms = Math.min(ms, performance.now() - from);
    await pause(2);
    delay.disable();
    heldMs = Math.min(heldMs, delay.max / 1e6);
  }
  return { ms, heldMs };
}

/** A list with one filter or several, and how many rows match. */
type Case = readonly [query: string, totalCount: number];

const deletes = auditRows / 100_000;

const requestCases: readonly Case[] = [
  ["", auditRows],
  ["keyId=key_1", auditRows / 4],
  ["personId=person_a", auditRows / 4],
  ["operation=purchase_order_receive", auditRows * 0.75 - deletes],
  ["operation=purchase_order_delete", deletes],
  ["status=200", auditRows * 0.999],
  ["status=500", auditRows / 1_000],
  ["surface=mcp", deletes],
  ["surface=rest,mcp", auditRows * 0.75],
  ["outcome=failed", auditRows / 1_000],
  ["outcome=done", auditRows * 0.999],
  ["outcome=refused", 0],
  ["surface=rest,mcp&outcome=failed", auditRows / 1_000],
  ["surface=console&outcome=failed", 0],
  ["surface=mcp&outcome=done", 0],
  ["surface=rest&outcome=done", auditRows * 0.75 - auditRows / 1_000],
  ["keyId=key_1&outcome=failed", auditRows / 1_000],
  ["keyId=key_2&surface=mcp", 0],
  ["keyId=key_1&status=500", auditRows / 1_000],
  ["keyId=key_2&status=500", 0],
  ["keyId=key_1&operation=purchase_order_delete", deletes],
  ["keyId=key_1&operation=purchase_order_receive&status=200", auditRows / 4 - auditRows / 1_000],
  ["operation=purchase_order_list&status=500", 0],
  ["personId=person_a&operation=purchase_order_list&status=200", auditRows / 4],
];

/** Changes are counted up to 10,000. */
const changeCases: readonly Case[] = [
  ["", 10_000],
  ["keyId=key_1", 10_000],
  ["operation=purchase_order_delete", Math.ceil(changeRows / 100_000)],
  ["operation=purchase_order_cancel", 0],
  ["actorType=system", changeRows / 1_000],
  ["actorType=user", 0],
  ["keyId=key_1&operation=purchase_order_delete", Math.ceil(changeRows / 300_000)],
  ["keyId=key_1&actorType=system", 0],
  ["requestId=req_000000000000000000000007", 1],
  ["purchaseOrderId=po_7", changeRows / 10_000],
  ["purchaseOrderId=po_7&operation=purchase_order_delete", 0],
];

/** An answer, as far as it is looked at. */
interface Page {
  readonly data?: { readonly totalCount: number; readonly cursor: string | null };
}

const { server } = await startBroadServer({ console: true });
await using _ = server;
await addRequests(server);
await addChanges(server);
await asAfterAWhile(server.directory, ["audit_log", "purchase_order_log"]);
let [slowestMs, longestHoldMs] = [0, 0];
for (const [list, cases] of [
  ["audit-log", requestCases],
  ["changes", changeCases],
] as const)
  for (const [query, totalCount] of cases) {
    const ask = async (more: string): Promise<string | null> => {
      const target = `/admin/v1/shops/${server.shopId}/${list}?limit=50&${query}${more}`;
      const answer = await fetch(`${server.url}${target}`, { headers: { Authorization: `Bearer ${adminToken}` } });
      const page: Page = JSON.parse(await answer.text());
      assert.equal(page.data?.totalCount, totalCount, `${list} ${query}: ${JSON.stringify(page)}`);
      return page.data.cursor;
    };
    const cursor = await ask("");
    const measured = { first: await quickest(async () => void (await ask(""))) };
    const pages = Object.entries(
      cursor === null
        ? measured
        : { ...measured, next: await quickest(async () => void (await ask(`&cursor=${cursor}`))) },
    );
    for (const [page, { ms, heldMs }] of pages) {
      const line = `${list} ${query}, ${page} page: ${ms.toFixed(0)} ms, event loop held for ${heldMs.toFixed(1)} ms`;
      console.log(line);
      slowestMs = Math.max(slowestMs, ms);
      longestHoldMs = Math.max(longestHoldMs, heldMs);
    }
  }
const figure = `${auditRows.toLocaleString("en")} rows`;
report({ name: "slowest page of a log, whatever its filter", value: slowestMs, figure });
report({ name: "the event loop is held by a page of a log", value: longestHoldMs, figure });
