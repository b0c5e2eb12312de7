/**
 * PostgreSQL's own backups, with the commands of docs/operating.md ("Backup and restore"), under load from two nodes: a dump into a new database; and the server's
 * directory is lost, and comes back from a base backup and the archived log, as of a moment and with everything that was archived. It tells how long that takes and what
 * is lost. `npm run drill:database` does it with many shops, for longer.
 *
 * `OPENPO_DRILL_SHOPS`, `OPENPO_DRILL_ORDERS` (of each shop), `OPENPO_DRILL_SECONDS` (of load before the loss), `OPENPO_DRILL_ARCHIVE` (`archive_timeout` in seconds).
 *
 * Only on postgres: a data directory has backups of its own (restore-drill.slow.test.ts).
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";
import { promisify } from "node:util";
import { z } from "zod";
import { backupRecords } from "../support/shops/backup-records.ts";
import { type Answered, ask, type Asked, hangUp, makeShop, operate } from "../support/clients.ts";
import { rowsOf, serviceNode, withNodes } from "../support/programs/nodes.ts";
import { processesOf } from "../support/postgres/postgres-pair.ts";
import {
  findPostgres,
  type PostgresServer,
  startPostgres,
  unprivilegedUser,
  urlOfDatabase,
  withClient,
} from "../support/postgres/postgres.ts";
import { runCommand } from "../support/process.ts";
import { pause, until } from "../support/until.ts";

const shopCount = Number(process.env["OPENPO_DRILL_SHOPS"] ?? 2);
const orderCount = Number(process.env["OPENPO_DRILL_ORDERS"] ?? 20);
const loadSeconds = Number(process.env["OPENPO_DRILL_SECONDS"] ?? 1);
const archiveTimeoutSeconds = Number(process.env["OPENPO_DRILL_ARCHIVE"] ?? 1);
const isLong = process.env["OPENPO_DRILL_SECONDS"] !== undefined;
const clientCount = 4;
/** Answers that are asked for again at a time. */
const askedAtOnce = 8;

const binaries = findPostgres(["psql", "pg_dump", "pg_restore", "pg_basebackup"]) ?? undefined;
const skip =
  binaries === undefined
    ? "NO POSTGRESQL WITH pg_dump AND pg_basebackup ON THIS MACHINE (apt-get install postgresql, or OPENPO_TEST_POSTGRES_BIN): its backups were not tried"
    : false;

const run = promisify(execFile);
const orders = "/api/v1/purchase-orders";
const dumped = "openpo_monday";
const onHandAtStart = 10;

const records: readonly object[] = [
  ...backupRecords(orderCount),
  { type: "inventoryLevel", variantId: "beans", locationId: "dock", onHand: onHandAtStart },
];

interface Shop {
  readonly shopId: string;
  readonly token: string;
}

/** A change that was acknowledged. */
interface Told {
  readonly shopId: string;
  readonly asked: Asked;
  readonly answer: Answered;
  readonly orderId: string;
  readonly begunMs: number;
  readonly toldMs: number;
}

const orderAnswer = z.object({
  data: z.object({
    purchaseOrder: z.object({
      purchaseOrderId: z.string(),
      lineItems: z.array(z.object({ poLineItemId: z.string() })),
    }),
  }),
});

/** Makes orders of a shop one after another at the nodes in turn, and receives their goods, until the signal. What fails is not tried again. */
async function work(
  nodes: readonly { readonly url: string }[],
  { shopId, token }: Shop,
  name: string,
  told: Told[],
  signal: AbortSignal,
): Promise<void> {
  let writes = 0;
  const write = async (target: string, body: object, orderId?: string): Promise<Told | null> => {
    writes += 1;
    const asked = { method: "POST", target, token, idempotencyKey: `${name} ${writes}`, body };
    const begunMs = performance.now();
    const answer = await ask(nodes[writes % nodes.length]?.url ?? "", asked).catch(() => null);
    if (answer === null || answer.status >= 300) return null;
    const id = orderId ?? orderAnswer.parse(JSON.parse(answer.text)).data.purchaseOrder.purchaseOrderId;
    const done = { shopId, asked, answer, orderId: id, begunMs, toldMs: performance.now() };
    told.push(done);
    return done;
  };
  while (!signal.aborted) {
    const lineItems = [{ variantId: "beans", quantityOrdered: 5, unitCost: 4 }];
    const made = await write(orders, { poName: name, supplierId: "roastery", locationId: "dock", lineItems });
    // While the database is away.
    if (made === null) await pause(20);
    else {
      const at = `${orders}/${made.orderId}`;
      const [line] = orderAnswer.parse(JSON.parse(made.answer.text)).data.purchaseOrder.lineItems;
      await write(`${at}/status`, { status: "Sent" }, made.orderId);
      await write(`${at}/confirm`, { confirmAll: true }, made.orderId);
      const lines = [{ lineItemId: line?.poLineItemId, quantityReceived: 2 }];
      await write(`${at}/receive`, { lines }, made.orderId);
    }
  }
}

/** The blocks of commands in the section of the documentation. */
function documented(): (part: RegExp) => string {
  const text = readFileSync(path.join(import.meta.dirname, "../../docs/operating.md"), "utf8");
  const [, section = ""] = /\n### Backup and restore\n([^]*?)\n###? /.exec(text) ?? [];
  const blocks = [...section.matchAll(/```(?:sh|sql)\n([^]*?)```/g)].map(([, block = ""]) => block);
  return (part) => blocks.find((block) => part.test(block)) ?? assert.fail(`no block of commands has ${part.source}`);
}

/** Runs documented commands at a server, with these words put in the place of others, as the user that runs PostgreSQL. */
function commandsAt(server: PostgresServer, directory: string) {
  const { port, password } = new URL(server.superuserUrl);
  const as = unprivilegedUser() ?? {};
  const block = documented();
  const env = { PATH: `${binaries}:${process.env["PATH"]}`, PGHOST: "127.0.0.1", PGPORT: port, PGPASSWORD: password };
  const shell = async (script: string): Promise<string> =>
    (await run("bash", ["-ec", script], { ...as, cwd: directory, env, maxBuffer: 2 ** 26 })).stdout;
  return {
    shell,
    sh: async (part: RegExp, replaced: readonly (readonly [string, string])[] = []): Promise<void> => {
      let script = block(part);
      for (const [from, to] of [["/backups", directory], ...replaced] as const) {
        assert.ok(from === "/backups" || script.includes(from), `${from} is not in ${script}`);
        script = script.replaceAll(from, to);
      }
      await shell(script);
    },
    sql: async (part: RegExp, replaced: readonly (readonly [string, string])[]): Promise<void> => {
      let statements = block(part).replaceAll("/backups", directory);
      for (const [from, to] of replaced) {
        assert.ok(statements.includes(from), `${from} is not in ${statements}`);
        statements = statements.replaceAll(from, to);
      }
      await shell(`psql --quiet --username postgres --set ON_ERROR_STOP=1 <<'SQL'\n${statements}\nSQL\n`);
    },
    /** What a command of the service's own role says that must fail. */
    refused: (script: string): Promise<string> =>
      shell(script).then(
        () => assert.fail(`it succeeded: ${script}`),
        (error: Error & { readonly stderr?: string }) => error.stderr ?? "",
      ),
  };
}

const one = async <Row extends object>(url: string, sql: string): Promise<Row> =>
  await withClient(url, async (client) => (await client.query<Row>(sql)).rows[0] ?? assert.fail("no row"));

const isAnsweredAgain = (answer: Answered, { answer: first }: Told): boolean =>
  answer.headers["idempotent-replayed"] === "true" && answer.status === first.status && answer.text === first.text;

/** Asks each again that was acknowledged. @returns those that do not get their answer, byte for byte. */
async function notAnsweredAgain(url: string, told: readonly Told[]): Promise<readonly Told[]> {
  const left = [...told];
  const missing: Told[] = [];
  await Promise.all(
    Array.from({ length: askedAtOnce }, async () => {
      for (let each = left.pop(); each !== undefined; each = left.pop())
        if (!isAnsweredAgain(await ask(url, each.asked), each)) missing.push(each);
    }),
  );
  return missing;
}

const named = (all: readonly Told[]): readonly string[] => all.map(({ asked }) => asked.idempotencyKey ?? "");

const sandboxAnswer = z.object({
  data: z.object({ variants: z.array(z.object({ levels: z.array(z.object({ onHand: z.number() })) })) }),
});

/** The storefront has no goods twice, and none less than was told. With time, all of them: what a node had claimed is taken over when its lease ends. */
async function proveStock(url: string, nodeUrl: string, shopId: string): Promise<void> {
  if (isLong)
    await until("an end of follow-on work", async () => {
      const pending = await rowsOf(url, shopId, "select 1 from openpo.effect where shop_id = $1 and state = 'pending'");
      return pending.length === 0;
    });
  const [row] = await rowsOf<{ received: string; synced: string }>(
    url,
    shopId,
    `select sum(quantity_received) / 1000 as received, sum(quantity_synced) / 1000 as synced
     from openpo.purchase_order_line where shop_id = $1`,
  );
  const state = sandboxAnswer.parse(await operate(nodeUrl, "GET", `/shops/${shopId}/sandbox?variantIds=beans`));
  const arrived = (state.data.variants[0]?.levels[0]?.onHand ?? 0) - onHandAtStart;
  const [least, most] = [Number(isLong ? row?.received : row?.synced), Number(row?.received)];
  assert.ok(most > 0 && arrived >= least && arrived <= most, `${arrived} have arrived, of ${least} to ${most}`);
}

/**
 * OpenPO on a restored database: its logs verify, it starts, each of these changes is there, each of those is not, and goods are at the storefronts once.
 *
 * @returns which of all that were told are missing, and when it served.
 */
async function prove(
  url: string,
  shops: readonly Shop[],
  {
    there,
    gone,
    told,
  }: { readonly there: readonly Told[]; readonly gone: readonly Told[]; readonly told: readonly Told[] },
): Promise<{ readonly missing: readonly Told[]; readonly servedAtMs: number }> {
  assert.ok(there.length > 0);
  const verified = await runCommand(["audit", "verify"], { OPENPO_DATABASE_URL: url });
  assert.equal(verified.code, 0, verified.stdout + verified.stderr);
  assert.match(verified.stdout, /are as they were written/);
  const node = serviceNode(url);
  try {
    await node.start();
    const servedAtMs = performance.now();
    assert.deepEqual(named(await notAnsweredAgain(node.url, there)), [], "acknowledged before, and not there");
    for (const { orderId, asked } of gone.filter((each) => each.asked.target === orders)) {
      const read = await ask(node.url, { method: "GET", target: `${orders}/${orderId}`, token: asked.token });
      assert.equal(read.status, 404, `${orderId} was made afterwards`);
    }
    // An answer that is stored is asked for; what is not there would be made anew, so orders are read.
    const missing: Told[] = [];
    for (const each of told.filter(({ asked }) => asked.target === orders)) {
      const target = `${orders}/${each.orderId}`;
      if ((await ask(node.url, { method: "GET", target, token: each.asked.token })).status === 404) missing.push(each);
    }
    for (const { shopId } of shops.slice(0, clientCount)) await proveStock(url, node.url, shopId);
    return { missing, servedAtMs };
  } finally {
    await node.end("SIGKILL");
  }
}

const secondsSince = (ms: number): string => ((performance.now() - ms) / 1_000).toFixed(1);

/** Under load: a dump, and a new database of it. */
async function dump(
  t: TestContext,
  server: PostgresServer,
  directory: string,
  { shops, told }: { readonly shops: readonly Shop[]; readonly told: readonly Told[] },
): Promise<void> {
  const at = commandsAt(server, directory);
  const file = path.join(directory, "monday.dump");
  const own = "pg_dump --username openpo --data-only --schema=openpo";
  assert.match(await at.refused(`${own} openpo`), /row-level security/);
  const withoutRows = await at.shell(`${own} --enable-row-security openpo`);
  assert.match(withoutRows, /copy openpo\.purchase_order /i);
  assert.ok(!withoutRows.includes("po_old_0"), "the documentation says that there is none");
  const before = [...told];
  let sinceMs = performance.now();
  await at.sh(/pg_dump/, [["monday.dump", file]]);
  const begunDuring = told.length - before.length;
  t.diagnostic(`pg_dump: ${secondsSince(sinceMs)} s, with ${begunDuring} changes meanwhile`);
  sinceMs = performance.now();
  await at.sh(/pg_restore/, [["monday.dump", file]]);
  t.diagnostic(`pg_restore: ${secondsSince(sinceMs)} s`);
  const after = await toldAfter(told);
  await prove(urlOfDatabase(server.url, dumped), shops, { there: before, gone: after, told: [] });
}

/** Changes that are begun from now on. */
async function toldAfter(told: readonly Told[]): Promise<readonly Told[]> {
  const sinceMs = performance.now();
  const found = (): readonly Told[] => told.filter(({ begunMs }) => begunMs > sinceMs);
  await until("orders made afterwards", () => found().some(({ asked }) => asked.target === orders));
  return found();
}

test(
  "backups of the database under load: a dump has all that was acknowledged before it, and the archived log gives a moment back, and all of itself",
  { skip },
  async (t) => {
    const directory = mkdtempSync(path.join(tmpdir(), "openpo-backups-"));
    const user = unprivilegedUser();
    mkdirSync(path.join(directory, "archive"));
    for (const made of [directory, path.join(directory, "archive")])
      if (user !== null) chownSync(made, user.uid, user.gid);
    const restored: AsyncDisposable[] = [];
    await using server = await startPostgres(binaries === undefined ? {} : { binaries });
    const { password } = new URL(server.superuserUrl);
    try {
      // Once: roles, and the archive.
      const at = commandsAt(server, directory);
      await at.sql(/create role/, [["…", password]]);
      await at.sql(/archive_command/, [["60s", `${archiveTimeoutSeconds}s`]]);
      await server.crash("SIGINT");
      await server.start();

      const told: Told[] = [];
      let momentText = "";
      let archived: readonly Told[] = [];
      let atMoment: { readonly there: readonly Told[]; readonly gone: readonly Told[] } = { there: [], gone: [] };
      let lostAtMs = 0;
      const shops: Shop[] = [];
      await withNodes(server.url, 2, async (nodes) => {
        const [{ url } = { url: "" }] = nodes;
        for (let index = 0; index < shopCount; index += 1) {
          const shopId = `shop-${String(index).padStart(5, "0")}`;
          shops.push({ shopId, token: await makeShop(url, shopId, {}, records) });
        }
        const { bytes } = await one<{ bytes: string }>(server.url, "select pg_database_size('openpo') as bytes");
        t.diagnostic(`${shopCount} shops of ${orderCount} orders, ${Math.round(Number(bytes) / 2 ** 20)} MB`);
        const over = new AbortController();
        const working = Array.from({ length: clientCount }, async (_, index) => {
          const shop = shops[index % shops.length] ?? assert.fail();
          await work(nodes, shop, `client ${index}`, told, over.signal);
        });
        try {
          await until("answers", () => told.length > 20);
          const sinceMs = performance.now();
          await at.sh(/pg_basebackup/);
          t.diagnostic(`pg_basebackup: ${secondsSince(sinceMs)} s`);
          await dump(t, server, directory, { shops, told });
          await pause(loadSeconds * 1_000);

          // The moment, between what was answered by then and what was asked for later.
          const there = [...told];
          ({ text: momentText } = await one<{ text: string }>(
            server.url,
            "select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') || '+00' as text",
          ));
          atMoment = { there, gone: await toldAfter(told) };

          // All that is in a file of the log by now is archived when that file is, by archive_timeout if not before.
          const answered = [...told];
          const markMs = performance.now();
          const { name } = await one<{ name: string }>(
            server.superuserUrl,
            "select pg_walfile_name(pg_current_wal_insert_lsn()) as name",
          );
          await until("a file in the archive", async () => {
            const { last } = await one<{ last: string | null }>(
              server.superuserUrl,
              "select substr(last_archived_wal, 1, 24) as last from pg_stat_archiver",
            );
            return last !== null && last >= name;
          });
          t.diagnostic(`the current file of the log was archived after ${secondsSince(markMs)} s`);
          archived = answered;
          await toldAfter(told);

          // The server's directory is lost, with everything in it.
          const left = processesOf(server.data);
          lostAtMs = performance.now();
          for (const pid of left) {
            try {
              process.kill(pid, "SIGKILL");
            } catch {
              // It has ended with the first one.
            }
          }
          await server.crash("SIGKILL");
          rmSync(server.data, { recursive: true });
        } finally {
          over.abort();
          await Promise.all(nodes.map((node) => node.end("SIGKILL")));
          await Promise.all(working);
        }
      });

      const restore = async (commands: readonly (readonly [string, string])[]): Promise<PostgresServer> => {
        const made = await startPostgres({
          ...(binaries === undefined ? {} : { binaries }),
          files: {
            password,
            make: async (data) => {
              rmSync(data, { recursive: true });
              await at.sh(/recovery\.signal/, [["/var/lib/postgresql/restored", data], ...commands]);
            },
          },
        });
        restored.push(made);
        await until("an end of the recovery", async () => {
          const { recovers } = await one<{ recovers: boolean }>(
            made.superuserUrl,
            "select pg_is_in_recovery() as recovers",
          );
          return !recovers;
        });
        return made;
      };
      const line = "recovery_target_time = '2026-11-23 09:30:00+00'";

      let sinceMs = performance.now();
      const whole = await restore([[`${line}\n`, ""]]);
      t.diagnostic(`everything that was archived: ${secondsSince(sinceMs)} s`);
      const { missing, servedAtMs } = await prove(whole.url, shops, { there: archived, gone: [], told });
      t.diagnostic(`the same until a node serves: ${((servedAtMs - sinceMs) / 1_000).toFixed(1)} s`);
      const first = Math.min(...missing.map(({ toldMs }) => toldMs), lostAtMs);
      t.diagnostic(
        `lost: ${missing.length} of ${told.filter(({ asked }) => asked.target === orders).length} orders, the first ${((lostAtMs - first) / 1_000).toFixed(1)} s before the loss`,
      );

      sinceMs = performance.now();
      const moment = await restore([[line, `recovery_target_time = '${momentText}'`]]);
      t.diagnostic(`to a moment: ${secondsSince(sinceMs)} s`);
      await prove(moment.url, shops, { ...atMoment, told: [] });
    } finally {
      for (const each of restored) await each[Symbol.asyncDispose]();
      hangUp();
      rmSync(directory, { recursive: true, force: true });
    }
  },
);
