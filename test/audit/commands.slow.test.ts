/** `openpo audit verify`, `head` and `export` as an operator runs them: after a crash, on tampered data, on a backup, and on a long log. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { test } from "node:test";
import { AuditTrail } from "../../src/requests/audit/audit-trail.ts";
import { auditRowsVerifiedMax } from "../../src/admin/access/audit-chain.ts";
import { auditEntry } from "../support/audit.ts";
import { heldBytes } from "../support/programs/garbage.ts";
import { crateOperations } from "../support/shops/operations.ts";
import { runCommand, serveProgram, withDirectory } from "../support/process.ts";
import { adminToken, startServer } from "../support/server.ts";
import { onPostgres, runBehind, textsOf } from "../support/store.ts";
import { until } from "../support/until.ts";

test("a log is verified after a crash and on a backup; a row that somebody has changed is named, and the command ends with 1", async () => {
  await withDirectory(async (directory) => {
    const data = path.join(directory, "data");
    const openpo = (...args: readonly string[]) => runCommand(args, { OPENPO_DATA_DIR: data, PORT: "9" });
    const program = await serveProgram({ OPENPO_DATA_DIR: data });
    const key = program.word("read key");
    await Promise.all(Array.from({ length: 10 }, () => program.ask("GET", "/api/v1/purchase-orders", key)));
    const requestId = String(
      (await program.ask("GET", "/api/v1/purchase-orders?limit=3", key)).at("meta", "requestId"),
    );
    // On SQLite an answer may leave before its row is written (D112), and the kill would take the row with it.
    if (!onPostgres)
      await until("its row is in a file", async () =>
        [...(await textsOf(data, "demo")).values()].some((text) => text.includes(requestId)),
      );
    await program.end("SIGKILL");

    const sound = await openpo("audit", "verify");
    assert.equal(sound.code, 0, sound.stderr);
    const [, rows, position, hash] =
      /^demo: (\d+) rows in \d+ links are as they were written\.\n {2}Head: (\d+):([\w-]{43})$/m.exec(sound.stdout) ??
      [];
    assert.ok(Number(rows) >= 11, sound.stdout);
    const head = `${position}:${hash}`;
    assert.match((await openpo("audit", "head", "--shop", "demo")).stdout, new RegExp(`^demo +${head} +20`, "m"));

    if (!onPostgres) {
      const backup = path.join(directory, "backup");
      assert.equal((await openpo("backup", backup)).code, 0);
      const again = await serveProgram({ OPENPO_DATA_DIR: data });
      await again.ask("GET", "/api/v1/purchase-orders", key);
      await again.end("SIGTERM");
      const later = JSON.parse((await openpo("audit", "head", "--json")).stdout) as {
        readonly shops: readonly [
          { readonly chain: { readonly head: { readonly position: number; readonly hash: string } } },
        ];
      };
      const { position: laterPosition, hash: laterHash } = later.shops[0].chain.head;
      const verify = ["audit", "verify", "--shop", "demo", "--data-dir", backup, "--head"] as const;
      assert.equal((await openpo(...verify, head)).code, 0, "what was noted before the backup");
      const older = await openpo(...verify, `${laterPosition}:${laterHash}`);
      assert.equal(older.code, 1);
      assert.match(older.stdout, /DOES NOT REACH/);
    }

    const file = path.join(directory, "export.ndjson");
    assert.equal((await openpo("audit", "export", "--shop", "demo", "--output", file)).code, 0);
    const lines = (await readFile(file, "utf8")).trimEnd().split("\n");
    assert.ok(lines.length > 1 && lines.some((line) => line.includes(requestId)));

    await runBehind(
      data,
      "demo",
      `update audit_log set path = '/api/v1/purchase-orders?limit=5' where request_id = '${requestId}'`,
    );
    const found = await openpo("audit", "verify", "--json");
    assert.equal(found.code, 1);
    const told = JSON.parse(found.stdout.split("\n")[0] ?? "") as {
      readonly shops: readonly [
        {
          readonly isSound: boolean;
          readonly findings: readonly { readonly kind: string; readonly auditId: string }[];
        },
      ];
    };
    const auditId = lines.flatMap((line) => new RegExp(`\\["(aud_\\w+)",\\d+,"${requestId}"`).exec(line)?.[1] ?? []);
    assert.deepEqual(
      told.shops[0].findings.map((finding) => [finding.kind, finding.auditId]),
      [["changed", auditId[0]]],
    );
    const words = await openpo("audit", "verify");
    assert.equal(words.code, 1);
    assert.match(
      words.stdout,
      new RegExp(`^demo: FIRST row ${auditId[0]} was changed \\(of 20.*, link \\d+\\): `, "m"),
    );
    assert.match(words.stderr, /^openpo: the audit log of demo is not as it was written\.$/m);
    await runBehind(data, "demo", `delete from audit_log where request_id = '${requestId}'`);
    assert.match((await openpo("audit", "verify")).stdout, new RegExp(`FIRST row ${auditId[0]} was taken out`));
  });
});

/** `OPENPO_TEST_AUDIT_ROWS=1000000` makes it a million. */
const rowsMade = Number(process.env["OPENPO_TEST_AUDIT_ROWS"] ?? 20_000);
const rowsTogether = 100;
/** What may be held between two slices of a verification, beside the requests that are answered meanwhile, however long the log is. */
const heldBytesMax = 40_000_000;

test("a long log is verified slice by slice, in bounded memory, while requests are answered", async (t) => {
  await using server = await startServer({ operations: crateOperations(), console: true });
  const { engine, shopId, clock } = server;
  const trail = new AuditTrail({ engine, clock, log: { info: () => {}, warn: () => {}, error: assert.fail } });
  for (let first = 0; first < rowsMade; first += rowsTogether)
    await engine.write(shopId, async (tx) =>
      tx.batch(
        await trail.statements(
          tx,
          shopId,
          Array.from({ length: rowsTogether }, (_, index) =>
            auditEntry({
              auditId: `aud_${10_000_000 + first + index}`,
              atMs: clock.now(),
              requestId: `req_${first + index}`,
            }),
          ),
        ),
      ),
    );
  const beganMs = performance.now();
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const heldBefore = heldBytes();
  const isOver = new AbortController();
  let answered = 0;
  const asking = (async () => {
    for (; !isOver.signal.aborted; answered += 1) assert.equal((await server.get("/api/v1/crates")).status, 200);
  })();
  let [rows, heldMost, slices] = [0, 0, 0];
  let cursor: string | null = null;
  do {
    const query: string = cursor === null ? "" : `?cursor=${encodeURIComponent(cursor)}`;
    const slice = await server.get(`/admin/v1/shops/${shopId}/audit-log/verification${query}`, {
      key: adminToken,
      undocumented: true,
    });
    assert.deepEqual(slice.at("data", "findings"), [], slice.text);
    rows += Number(slice.at("data", "rows"));
    const next = slice.at("data", "cursor");
    cursor = typeof next === "string" ? next : null;
    if (slices % 10 === 0) heldMost = Math.max(heldMost, heldBytes());
    slices += 1;
  } while (cursor !== null);
  isOver.abort();
  await asking;
  delay.disable();
  assert.ok(rows >= rowsMade && rows <= slices * auditRowsVerifiedMax, `${rows} rows in ${slices} slices`);
  assert.ok(answered > 0);
  assert.ok(heldMost - heldBefore < heldBytesMax, `${heldMost - heldBefore} bytes`);
  t.diagnostic(
    `${rows} rows in ${slices} slices: ${((performance.now() - beganMs) / 1_000).toFixed(1)} s, ${answered} requests beside; ` +
      `event loop p99 ${(delay.percentile(99) / 1e6).toFixed(1)} ms, most ${(delay.max / 1e6).toFixed(1)} ms; held +${((heldMost - heldBefore) / 1e6).toFixed(1)} MB`,
  );
});
