/** The chain of hashes over the audit log: what was changed in it, put in or taken out is found and named (docs/audit.md). */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { auditRowsVerifiedMax } from "../../src/admin/access/audit-chain.ts";
import { sweepEveryRequests } from "../../src/requests/write/sweeps.ts";
import { auditLinksPlacedMax, auditPlaceMs, AuditTrail } from "../../src/requests/audit/audit-trail.ts";
import { chainOf, digestOf } from "../../src/shop/audit/audit-chain.ts";
import { type AuditEntry, auditRowsAfter } from "../../src/shop/audit/audit.ts";
import { type AuditFinding, type AuditProgress, verifyAudit } from "../../src/shop/audit/audit-verification.ts";
import type { SqlValue, Statement, Tx } from "../../src/store/store.ts";
import { auditEntry, verifyWhole, type WholeVerification } from "../support/audit.ts";
import { askAdmin, signInAs } from "../support/people.ts";
import { crateOperations } from "../support/shops/operations.ts";
import { adminToken, startServer, type TestServer, type TestServerOptions } from "../support/server.ts";
import { onPostgres } from "../support/store.ts";
import { until } from "../support/until.ts";

const crates = "/api/v1/crates";
const start = (options: TestServerOptions = {}) => startServer({ operations: crateOperations(), ...options });
const silent = { info: () => {}, warn: () => {}, error: assert.fail };

const trailOf = ({ engine, clock }: TestServer): AuditTrail => new AuditTrail({ engine, clock, log: silent });

/** Requests of every kind: changes, reads that come together, refusals, and a row that is written again. */
async function fill(server: TestServer): Promise<void> {
  for (const label of ["a", "b", "c"]) await server.post(crates, { label }, { headers: { "Idempotency-Key": label } });
  await Promise.all(Array.from({ length: 8 }, () => server.get(crates)));
  await server.get("/api/v1/nowhere");
  await writeRow(server, { auditId: "aud_zz", count: 1 });
  await trailOf(server).place(server.shopId);
  await writeRow(server, { auditId: "aud_zz", count: 7 });
  await server.get(crates);
  await trailOf(server).place(server.shopId);
}

async function writeRow(server: TestServer, given: Parameters<typeof auditEntry>[0]): Promise<void> {
  const { engine, shopId } = server;
  const trail = trailOf(server);
  await engine.write(shopId, async (tx) => tx.batch(await trail.statements(tx, shopId, [auditEntry(given)])));
}

const verify = ({ engine, shopId }: TestServer, rowsMax?: number): Promise<WholeVerification> =>
  engine.read(shopId, (tx) => verifyWhole(tx, shopId, rowsMax));

/** Does something to the log, verifies, and takes it back. */
async function tampered(
  { engine, shopId }: TestServer,
  tamper: (tx: Tx) => Promise<unknown>,
): Promise<readonly AuditFinding[]> {
  let found: WholeVerification | null = null;
  const undone = new Error("undone");
  const trying = engine.write(shopId, async (tx) => {
    await tamper(tx);
    found = await verifyWhole(tx, shopId);
    throw undone;
  });
  await assert.rejects(trying, undone);
  return (found as WholeVerification | null)?.findings ?? assert.fail();
}

const run =
  (sql: string, ...params: readonly SqlValue[]) =>
  (tx: Tx): Promise<unknown> =>
    tx.all(sql, params);

const idsIn = async ({ engine, shopId }: TestServer): Promise<readonly string[]> =>
  (await engine.read(shopId, (tx) => auditRowsAfter(tx, shopId, "", 1_000))).map(({ entry }) => entry.auditId);

interface LinkRow {
  readonly link_id: string;
  readonly position: number;
  readonly row_digests: string;
}

const linksIn = ({ engine, shopId }: TestServer): Promise<readonly LinkRow[]> =>
  engine.read(shopId, (tx) =>
    tx.all<LinkRow>("select link_id, position, row_digests from audit_link where shop_id = ? order by position", [
      shopId,
    ]),
  );

test("a log as it was written verifies, in slices of any size, with the rows of reads in their places", async () => {
  await using server = await start();
  await fill(server);
  const ids = await idsIn(server);
  for (const rowsMax of [1, 2, 3, 7, auditRowsVerifiedMax]) {
    const whole = await verify(server, rowsMax);
    assert.deepEqual(whole.findings, []);
    // The row that was written again is in two links.
    assert.equal(whole.rows, ids.length + 1);
    assert.equal(whole.unchainedRows, 0);
    assert.ok(whole.slices >= (2 * ids.length) / (rowsMax + 8));
  }
  const links = await linksIn(server);
  assert.deepEqual(
    links.map(({ position }) => position),
    links.map((_, index) => index + 1),
  );
  assert.ok(
    links.some(({ row_digests }) => row_digests.includes("\n")),
    "reads that came together are one link",
  );
});

test("a verification ends although rows are added between any two slices, and looks at all that were there before", async () => {
  await using server = await start();
  await fill(server);
  const { engine, shopId } = server;
  const before = (await idsIn(server)).length;
  const rowsMax = 4;
  const slicesMax = 4 * before;
  let next: AuditProgress | null = { part: "links", at: null };
  let [slices, linked] = [0, 0];
  while (next !== null) {
    const progress: AuditProgress = next;
    const slice: Awaited<ReturnType<typeof verifyAudit>> = await engine.read(shopId, (tx) =>
      verifyAudit(tx, shopId, progress, rowsMax),
    );
    assert.deepEqual(slice.findings, []);
    linked += slice.rows;
    slices += 1;
    assert.ok(slices < slicesMax, `after ${slices} slices it goes on`);
    next = slice.next;
    // A request of a busy shop, whose row has its place before the next slice.
    await writeRow(server, { auditId: `aud_zzz_${String(slices).padStart(4, "0")}` });
    await trailOf(server).place(shopId);
  }
  assert.ok(linked >= before);
});

test("whatever is changed in a row, in any of its columns, is found and the row is named", async () => {
  await using server = await start();
  await fill(server);
  const { engine, shopId } = server;
  const ids = await idsIn(server);
  const links = await linksIn(server);
  const second = links
    .find(({ row_digests }) => row_digests.includes("\n"))
    ?.row_digests.split("\n")[1]
    ?.split(" ")[0];
  const [row] = await engine.read(shopId, (tx) =>
    tx.all<object>("select * from audit_log where shop_id = ? limit 1", [shopId]),
  );
  const columns = Object.keys(row ?? {}).filter((column) => column !== "shop_id");
  assert.ok(columns.length >= 16);
  // The first, the second of a link of several, and the one that was written again.
  for (const auditId of [ids[0], second, "aud_zz"].map((id) => id ?? assert.fail()))
    for (const column of columns) {
      const isNumber = ["at", "status", "duration_ms", "replayed", "request_count"].includes(column);
      const value = column === "replayed" ? "1 - replayed" : isNumber ? `${column} + 1` : "'aud_00'";
      const findings = await tampered(
        server,
        run(`update audit_log set ${column} = ${value} where shop_id = ? and audit_id = ?`, shopId, auditId),
      );
      assert.equal(findings[0]?.auditId, auditId, `${column} of ${auditId}: ${JSON.stringify(findings)}`);
      assert.equal(findings[0]?.kind, column === "audit_id" ? "taken-out" : "changed");
      assert.deepEqual(new Set(findings.map((finding) => finding.auditId)).size, column === "audit_id" ? 2 : 1);
    }
});

test("rows that are taken out, put in, swapped or set back are found, and links, heads and anchors that do not fit", async () => {
  await using server = await start();
  await fill(server);
  const { shopId } = server;
  const ids = await idsIn(server);
  const links = await linksIn(server);
  const [first = "", third = "", last = ""] = [ids[0], ids[2], ids.at(-2)];
  const headId = links.at(-1)?.link_id ?? "";
  const newest = headId.slice(0, headId.lastIndexOf("."));
  const count = links.length;
  const columns = `at, request_id, tag, key_id, person_id, method, path, status, error_code, duration_ms, replayed, request_count, trace_id,
    span_id`;
  const copy = (linkId: string): string =>
    `insert into audit_log (shop_id, audit_id, ${columns}, link_id)
     select shop_id, 'aud_05', ${columns}, ${linkId} from audit_log where shop_id = ? and audit_id = ?`;
  const inOrder =
    (...statements: readonly Statement[]) =>
    async (tx: Tx): Promise<void> => {
      for (const { sql, params } of statements) await tx.all(sql, params);
    };
  const linkOfFirst = links[0]?.link_id ?? "";
  const again = links.filter(({ link_id }) => link_id.startsWith("aud_zz."));
  const swap = (table: string, key: string, column: string, [one, other]: readonly [string, string]) =>
    inOrder(
      { sql: `update ${table} set ${column} = ${column} || '' where shop_id = ?`, params: [shopId] },
      {
        sql: `update ${table} set ${column} = (select t.${column} from ${table} t where t.shop_id = ${table}.shop_id and t.${key} =
                case when ${table}.${key} = ? then ? else ? end)
              where shop_id = ? and ${key} in (?, ?)`,
        params: [one, other, one, shopId, one, other],
      },
    );
  const cases: readonly (readonly [string, (tx: Tx) => Promise<unknown>, Partial<AuditFinding>])[] = [
    [
      "a row is deleted",
      run("delete from audit_log where shop_id = ? and audit_id = ?", shopId, third),
      { kind: "taken-out", auditId: third },
    ],
    [
      "the newest row is deleted",
      run("delete from audit_log where shop_id = ? and audit_id = ?", shopId, newest),
      { kind: "taken-out", auditId: newest },
    ],
    [
      "all rows are deleted",
      run("delete from audit_log where shop_id = ?", shopId),
      { kind: "taken-out", auditId: first },
    ],
    ["a copy is put in that names no link", run(copy("null"), shopId, first), { kind: "put-in", auditId: "aud_05" }],
    [
      "a copy is put in that names another's link",
      run(copy(`'${linkOfFirst}'`), shopId, first),
      { kind: "put-in", auditId: "aud_05" },
    ],
    [
      "two rows swap what they say",
      swap("audit_log", "audit_id", "request_id", [first, last]),
      { kind: "changed", auditId: first },
    ],
    [
      "a row is set back to what it was before it was written again",
      run("update audit_log set request_count = 1 where shop_id = ? and audit_id = 'aud_zz'", shopId),
      { kind: "changed", auditId: "aud_zz" },
    ],
    [
      "a link is deleted with its row",
      inOrder(
        { sql: "delete from audit_log where shop_id = ? and audit_id = ?", params: [shopId, first] },
        { sql: "delete from audit_link where shop_id = ? and link_id = ?", params: [shopId, linkOfFirst] },
      ),
      { kind: "taken-out", position: 1 },
    ],
    [
      "a link is deleted, its row stays",
      run("delete from audit_link where shop_id = ? and link_id = ?", shopId, linkOfFirst),
      { kind: "taken-out", position: 1 },
    ],
    [
      "a digest is changed with its row",
      async (tx) => {
        await tx.all("update audit_log set status = 299 where shop_id = ? and audit_id = ?", [shopId, first]);
        const [row] = await auditRowsAfter(tx, shopId, "", 1);
        const digest = digestOf(row?.entry ?? assert.fail());
        await tx.all("update audit_link set row_digests = ?, link_id = ? where shop_id = ? and position = 1", [
          digest,
          `${first}.${digest.slice(0, 8)}`,
          shopId,
        ]);
      },
      { kind: "changed", auditId: first, position: 1 },
    ],
    [
      "two links swap their places",
      swap("audit_link", "link_id", "hash", [linkOfFirst, headId]),
      { kind: "changed", position: 1 },
    ],
    [
      "a link gets the place of another",
      run("update audit_link set position = 2 where shop_id = ? and position = 3", shopId),
      { kind: "put-in", position: 2 },
    ],
    [
      "the end is taken out, rows and links",
      inOrder(
        { sql: "delete from audit_log where shop_id = ? and audit_id = ?", params: [shopId, newest] },
        { sql: "delete from audit_link where shop_id = ? and link_id = ?", params: [shopId, headId] },
      ),
      { kind: "taken-out", position: count },
    ],
    [
      "the head is set back",
      run("update audit_chain set head_position = head_position - 1 where shop_id = ?", shopId),
      { kind: "put-in", position: count },
    ],
    [
      "the head's hash is changed",
      run("update audit_chain set head_hash = 'x' where shop_id = ?", shopId),
      { kind: "changed", position: count },
    ],
    [
      "the record of the head is deleted",
      run("delete from audit_chain where shop_id = ?", shopId),
      { kind: "taken-out", position: null },
    ],
    [
      "the anchor is moved",
      run("update audit_chain set anchor_position = 1 where shop_id = ?", shopId),
      { kind: "changed", position: 2 },
    ],
    [
      "the later link of a row is deleted",
      run("delete from audit_link where shop_id = ? and link_id = ?", shopId, again[1]?.link_id ?? ""),
      { kind: "changed", auditId: "aud_zz" },
    ],
  ];
  for (const [what, tamper, expected] of cases) {
    const findings = await tampered(server, tamper);
    const [found] = findings;
    assert.ok(found, `${what}: nothing was found`);
    for (const [member, value] of Object.entries(expected))
      assert.equal(Reflect.get(found, member), value, `${what}: ${JSON.stringify(findings)}`);
  }
  assert.deepEqual((await verify(server)).findings, [], "everything was taken back");
});

test("rows that are written again before their links have places are in the order in which they were written", async () => {
  await using server = await start();
  const { engine, shopId } = server;
  const trail = trailOf(server);
  for (const count of [1, 2, 3])
    for (let row = 0; row < 12; row += 1)
      await engine.write(shopId, async (tx) =>
        tx.batch(await trail.statements(tx, shopId, [auditEntry({ auditId: `aud_${100 + row}`, count })])),
      );
  await trail.place(shopId);
  const { findings, rows } = await verify(server);
  assert.deepEqual([findings, rows], [[], 36]);
});

test("a row that is written again as it is, since the write was kept and reported as failed, is linked once", async () => {
  await using server = await start();
  const write = async (auditId = "aud_zy"): Promise<void> => {
    await writeRow(server, { auditId });
    await trailOf(server).place(server.shopId);
  };
  await write();
  const { links } = await verify(server);
  await write();
  const again = await verify(server);
  assert.deepEqual({ findings: again.findings, links: again.links }, { findings: [], links });
  await write("aud_zz");
  const after = await verify(server);
  assert.deepEqual({ findings: after.findings, links: after.links }, { findings: [], links: links + 1 });
});

test("after the record of the head was deleted, requests go on, and the gap stays", async () => {
  await using server = await start();
  await fill(server);
  const { engine, shopId } = server;
  await engine.write(shopId, (tx) =>
    tx.batch([{ sql: "delete from audit_chain where shop_id = ?", params: [shopId] }]),
  );
  assert.equal((await server.get(crates)).status, 200);
  await trailOf(server).place(shopId);
  const { findings } = await verify(server);
  assert.deepEqual(
    findings.map(({ kind }) => kind),
    ["taken-out"],
  );
});

test("pruning takes whole links from the beginning, and the rest verifies from the anchor", async () => {
  await using server = await start({ shop: { auditRetentionDays: 30 } });
  await fill(server);
  const { engine, shopId } = server;
  const before = (await engine.read(shopId, (tx) => chainOf(tx, shopId))) ?? assert.fail();
  server.clock.advance(31 * 86_400_000);
  for (let request = 0; request < sweepEveryRequests; request += 1) await server.get(crates);
  const anchorOf = async () => (await engine.read(shopId, (tx) => chainOf(tx, shopId)))?.anchor;
  await until(anchorOf, async () => (await anchorOf())?.position === before.head.position);
  assert.deepEqual(await anchorOf(), before.head, "everything old is pruned, and nothing else");
  await trailOf(server).place(shopId);
  const whole = await verify(server);
  assert.deepEqual(whole.findings, []);
  const prunings = (await rowsNamed(server, "console:audit_log_prune")).length;
  assert.ok(prunings > 0);
  assert.equal(whole.rows, sweepEveryRequests + prunings);
  assert.equal((await linksIn(server))[0]?.position, before.head.position + 1);
  const [oldest] = await idsIn(server);
  const findings = await tampered(
    server,
    run("update audit_log set path = '/x' where shop_id = ? and audit_id = ?", shopId, oldest ?? ""),
  );
  assert.equal(findings[0]?.auditId, oldest);
});

/** The newest rows with this tag. */
const rowsNamed = async ({ engine, shopId }: TestServer, tag: string): Promise<readonly AuditEntry[]> =>
  (await engine.read(shopId, (tx) => auditRowsAfter(tx, shopId, "", 1_000))).flatMap(({ entry }) =>
    entry.tag === tag ? [entry] : [],
  );

/** Takes the beginning of the log out as pruning does, up to a link. */
const cutUntil =
  (shopId: string, { position, hash }: LinkRow & { readonly hash: string }, rows: readonly string[]) =>
  async (tx: Tx): Promise<void> => {
    await tx.batch([
      ...rows.map((auditId) => ({
        sql: "delete from audit_log where shop_id = ? and audit_id = ?",
        params: [shopId, auditId],
      })),
      { sql: "delete from audit_link where shop_id = ? and position <= ?", params: [shopId, position] },
      {
        sql: "update audit_chain set anchor_position = ?, anchor_hash = ?, anchor_at = 1 where shop_id = ?",
        params: [position, hash, shopId],
      },
    ]);
  };

test("a beginning that was taken out as if it were pruned is found: no row of the chain tells of it", async () => {
  await using server = await start();
  await fill(server);
  const { engine, shopId } = server;
  const [first] = await engine.read(shopId, (tx) =>
    tx.all<LinkRow & { readonly hash: string }>(
      "select link_id, position, hash, row_digests from audit_link where shop_id = ? order by position limit 1",
      [shopId],
    ),
  );
  assert.ok(first !== undefined && !first.row_digests.includes("\n"));
  const [oldest = ""] = first.link_id.split(".");
  const findings = await tampered(server, cutUntil(shopId, first, [oldest]));
  assert.deepEqual(
    findings.map(({ kind, position }) => [kind, position]),
    [["taken-out", 1]],
  );
  assert.match(findings[0]?.message ?? "", /no row tells that links up to there were pruned/);
});

test("rows that a setting has deleted for which no row stands are found, and the pruning that took them", async () => {
  await using server = await start({ shop: { auditRetentionDays: 90 } });
  await fill(server);
  const { engine, shopId } = server;
  server.clock.advance(31 * 86_400_000);
  // Written into the database for a while, past every request.
  await server.changeShop({ auditRetentionDays: 30 });
  for (let request = 0; request < sweepEveryRequests; request += 1) await server.get(crates);
  const pruned = () => rowsNamed(server, "console:audit_log_prune");
  await until(pruned, async () => (await pruned()).length > 0);
  await server.changeShop({ auditRetentionDays: 90 });
  await trailOf(server).place(shopId);
  const { findings } = await verify(server);
  assert.deepEqual(
    findings.map(({ kind, auditId }) => [kind, auditId]),
    (await pruned()).toReversed().map(({ auditId }) => ["taken-out", auditId]),
  );
  assert.match(
    findings[0]?.message ?? "",
    /^Rows of the last 90 days are missing: those older than 30 days were deleted/,
  );
  const [detail] = (await pruned()).map((row) => row.detail);
  assert.match(detail ?? "", /"auditRetentionDays":30/);
  assert.ok(engine !== null);
});

test("the setting is held above the operator's floor, and its old and new value stand in the chain with the change", async () => {
  await using server = await start({ console: true });
  const { shopId } = server;
  const put = (settings: object, key?: string) =>
    askAdmin(server, "PUT", `/shops/${shopId}`, { settings }, key === undefined ? {} : { key });
  const owner = await (await signInAs(server, "owner", "Ana")).bearer();
  const refused = await put({ auditRetentionDays: 29 }, owner);
  assert.equal(refused.status, 400);
  assert.deepEqual(refused.at("error", "details", 0), {
    path: "/settings/auditRetentionDays",
    message: "must be 0 (for good) or at least 30, which the operator has set as auditRetentionFloorDays",
  });
  assert.equal((await put({ auditRetentionFloorDays: 1 }, owner)).status, 403);
  assert.equal((await put({ auditRetentionDays: 30 }, owner)).status, 200);
  assert.equal((await put({ emailOnSent: false }, owner)).status, 200);
  const raised = await put({ auditRetentionFloorDays: 60 });
  assert.deepEqual(raised.at("error", "details", 0), {
    path: "/settings/auditRetentionFloorDays",
    message: "is above auditRetentionDays, which is 30",
  });
  assert.equal((await put({ auditRetentionFloorDays: 60, auditRetentionDays: 0 })).status, 200);
  assert.equal((await put({ auditRetentionFloorDays: 1 })).status, 200);
  const changes = await rowsNamed(server, "console:audit_retention_change");
  assert.deepEqual(
    changes.map(({ detail, personId }) => [detail, personId === null]),
    [
      ['{"auditRetentionDays":{"before":90,"after":30}}', false],
      ['{"auditRetentionDays":{"before":30,"after":0},"auditRetentionFloorDays":{"before":30,"after":60}}', true],
      ['{"auditRetentionDays":{"before":0,"after":0},"auditRetentionFloorDays":{"before":60,"after":1}}', true],
    ],
  );
  const listed = await askAdmin(server, "GET", `/shops/${shopId}/audit-log?operation=audit_retention_change`);
  assert.equal(listed.at("data", "auditLog", 2, "detail"), changes[0]?.detail);
  await trailOf(server).place(shopId);
  assert.deepEqual((await verify(server)).findings, []);
});

test("what the operator does to a shop has a row in its log, refused or not; what they read has none", async () => {
  await using server = await start({ console: true });
  const { shopId } = server;
  const made = await askAdmin(server, "POST", `/shops/${shopId}/keys`, { name: "bot", scope: "read" });
  const keyId = made.textAt("data", "keyId");
  await askAdmin(server, "DELETE", `/shops/${shopId}/keys/${keyId}`);
  await askAdmin(server, "PUT", `/shops/${shopId}`, { name: "Renamed" });
  assert.equal((await askAdmin(server, "DELETE", `/shops/${shopId}?confirm=other`)).status, 400);
  await askAdmin(server, "GET", `/shops/${shopId}`);
  await askAdmin(server, "GET", `/shops/${shopId}/keys`);
  const rows = (await engineRows(server)).filter(({ tag }) => tag.startsWith("console:"));
  assert.deepEqual(
    rows.map(({ tag, method, path: at, status, keyId: key, personId }) => [tag, method, at, status, key, personId]),
    [
      ["console:key_create", "POST", `/admin/v1/shops/${shopId}/keys`, 201, null, null],
      ["console:key_revoke", "DELETE", `/admin/v1/shops/${shopId}/keys/${keyId}`, 200, null, null],
      ["console:shop_put", "PUT", `/admin/v1/shops/${shopId}`, 200, null, null],
      ["console:shop_delete", "DELETE", `/admin/v1/shops/${shopId}`, 400, null, null],
    ],
  );
  await trailOf(server).place(shopId);
  assert.deepEqual((await verify(server)).findings, []);
});

const engineRows = async ({ engine, shopId }: TestServer): Promise<readonly AuditEntry[]> =>
  (await engine.read(shopId, (tx) => auditRowsAfter(tx, shopId, "", 1_000))).map(({ entry }) => entry);

test("rows from before the chain are told apart, and are no way to put rows in later", async () => {
  await using server = await start();
  await fill(server);
  const { engine, shopId } = server;
  const old = (await idsIn(server)).length - 1;
  // As a release without the chain has left them. The row aud_zz would be from the far future.
  await engine.write(shopId, (tx) =>
    tx.batch([
      { sql: "delete from audit_link where shop_id = ?", params: [shopId] },
      { sql: "delete from audit_chain where shop_id = ?", params: [shopId] },
      { sql: "update audit_log set link_id = null where shop_id = ?", params: [shopId] },
      { sql: "delete from audit_log where shop_id = ? and audit_id = 'aud_zz'", params: [shopId] },
    ]),
  );
  assert.deepEqual(await verify(server).then(({ findings, unchainedRows }) => [findings, unchainedRows]), [[], old]);
  for (let request = 0; request < 3; request += 1) await server.get(crates);
  await trailOf(server).place(shopId);
  const { findings, rows, unchainedRows } = await verify(server);
  assert.deepEqual([findings, rows, unchainedRows], [[], 3, old]);
  const late =
    "insert into audit_log (shop_id, audit_id, at, request_id, tag, method, path, status, duration_ms, replayed) values (?, 'aud_zz', 1, '', '', '', '', 200, 0, 0)";
  assert.deepEqual(
    (await tampered(server, run(late, shopId))).map(({ kind, auditId }) => [kind, auditId]),
    [["put-in", "aud_zz"]],
  );
});

test("rows of two nodes that serve at the same time are in one chain without a gap", async () => {
  await using server = await start();
  await using other = onPostgres ? await start({ beside: server }) : null;
  const nodes = [server, other ?? server];
  await Promise.all(
    nodes.flatMap((node, index) =>
      Array.from({ length: 20 }, async (_, turn) => {
        await node.post(crates, { label: `${index} ${turn}` });
        await node.get(crates);
      }),
    ),
  );
  await Promise.all(nodes.map((node) => trailOf(node).place(server.shopId)));
  const { findings, rows } = await verify(server, auditRowsVerifiedMax);
  assert.deepEqual(findings, []);
  assert.equal(rows, 80);
});

test("links get their places within auditPlaceMs, auditLinksPlacedMax a turn, and none is left", async () => {
  await using server = await start();
  const { engine, shopId } = server;
  await Promise.all(
    Array.from({ length: auditLinksPlacedMax + 2 }, (_, index) =>
      writeRow(server, { auditId: `aud_${1_000 + index}` }),
    ),
  );
  const waiting = async (): Promise<number> =>
    (
      await engine.read(shopId, (tx) =>
        tx.all("select 1 as waits from audit_link where shop_id = ? and position is null", [shopId]),
      )
    ).length;
  await until("all have their places", async () => (await waiting()) === 0, 60 * auditPlaceMs);
  assert.equal(await waiting(), 0);
  assert.deepEqual((await verify(server, auditRowsVerifiedMax)).findings, []);
});

test("a noted head is confirmed as long as the chain leads through it, and a rewritten chain does not", async () => {
  await using server = await start({ console: true });
  await fill(server);
  const { shopId } = server;
  const admin = async (target: string) => {
    const answer = await server.get(`/admin/v1/shops/${shopId}/audit-log/${target}`, {
      key: adminToken,
      undocumented: true,
    });
    assert.equal(answer.status, 200, answer.text);
    return answer;
  };
  const head = async (): Promise<string> => {
    const answer = await admin("chain");
    return `${JSON.stringify(answer.at("data", "chain", "head", "position"))}:${answer.textAt("data", "chain", "head", "hash")}`;
  };
  const noted = await head();
  await server.get(crates);
  assert.notEqual(await head(), noted);
  assert.equal((await admin(`verification?head=${noted}`)).at("data", "notedHead"), "confirmed");
  const [position] = noted.split(":");
  const forged = `${position}:${"x".repeat(43)}`;
  assert.equal((await admin(`verification?head=${forged}`)).at("data", "notedHead"), "changed");
  assert.equal((await admin(`verification?head=900${noted}`)).at("data", "notedHead"), "taken-out");
  const refused = await server.get(`/admin/v1/shops/${shopId}/audit-log/verification?head=x`, {
    key: adminToken,
    undocumented: true,
  });
  assert.equal(refused.status, 400);
});

/** The program of docs/audit.md on these lines of an export. */
function verifiedByOthers(directory: string, lines: readonly string[]) {
  const document = readFileSync(path.join(import.meta.dirname, "../../docs/audit.md"), "utf8");
  const [, program = assert.fail()] = /```python\n([^]*?)```/.exec(document) ?? [];
  const files = [path.join(directory, "verify.py"), path.join(directory, "export.ndjson")] as const;
  writeFileSync(files[0], program);
  writeFileSync(files[1], lines.join("\n"));
  const { status, stdout, stderr } = spawnSync("python3", files, { encoding: "utf8" });
  return { status, told: `${stdout}${stderr}`.trim() };
}

test("an export is verified by the program of docs/audit.md, without this one", async (t) => {
  if (spawnSync("python3", ["--version"]).status !== 0) {
    assert.equal(process.env["CI"], undefined, "python3 is needed");
    return t.skip("python3 is not there");
  }
  await using server = await start({ console: true });
  await fill(server);
  await server.get(`${crates}?x=${encodeURIComponent('é "quoted" \u2028 \\ 😀')}`);
  const { shopId } = server;
  const answer = await server.get(`/admin/v1/shops/${shopId}/audit-log/export`, {
    key: adminToken,
    undocumented: true,
  });
  const lines = answer.text.trimEnd().split("\n");
  const sound = verifiedByOthers(server.directory, lines);
  const head = (await server.engine.read(shopId, (tx) => chainOf(tx, shopId)))?.head;
  assert.deepEqual(sound, { status: 0, told: `${head?.position}:${head?.hash} is the head of ${shopId}` });
  const changed = lines.map((line, index) => (index === 2 ? line.replace("POST", "PUT") : line));
  assert.match(verifiedByOthers(server.directory, changed).told, /^changed: aud_/);
  assert.match(verifiedByOthers(server.directory, lines.toSpliced(2, 1)).told, /^link 3 does not follow/);
  assert.match(verifiedByOthers(server.directory, lines.slice(0, -1)).told, /^taken out: the end/);
});
