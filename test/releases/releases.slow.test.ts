/** Opens what each release has left, a data directory or a database, with the program of today (docs/releasing.md). */
import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { ask } from "../support/clients.ts";
import { runProgram, type RunningProgram, serveProgram, withDirectory } from "../support/process.ts";
import { onPostgres, pretendNewer, restoreDatabase } from "../support/store.ts";
import { changesSince, tokenOf } from "./answers.ts";
import { unpackInto } from "./archive.ts";
import { fileOf, keptStore, type KeptStore, releases, statementsOfDump } from "./kept.ts";
import { atTime, secretKey } from "./program.ts";
import { adminToken, wideShop } from "./shops.ts";

const orders = "/api/v1/purchase-orders";

/** Answers that were changed on purpose since: where, and why. */
const owed: readonly [place: RegExp, why: string] = [
  /\.(?:grandTotal|outstandingAmount|paidStatus) is|document\[0\]\.data\.document\.totals|document\.csv\[\d+\] is ".*Grand total/,
  "what is owed is what came and what is still to come (C35)",
];
const papers: readonly (readonly [place: RegExp, why: string])[] = [
  [
    /\/document\[0\]\.data\.document\.(?:facts|columns|rows\[\d+\]\.cells) has/,
    "a document has a date always, and packs stand with the quantity (C62)",
  ],
  [/\/document\.csv has/, "a CSV has the lines alone (C62)"],
  [/^\/s\/\S+ has/, "a supplier's page says the language in which numbers are read (C64a)"],
];
const meantChanges: Readonly<Record<string, readonly (readonly [place: RegExp, why: string])[]>> = {
  "0.1.0": [owed, ...papers],
  "0.1.0-build-9": [owed],
  "0.1.0-build-28": [
    owed,
    ...papers,
    [/\/mails\[0\]\.data\.next\.(?:subject|message) is/, "a mail is proposed in the shop's language"],
  ],
};

interface Opened {
  readonly store: KeptStore;
  readonly program: RunningProgram;
  readonly env: Readonly<Record<string, string>>;
}

/** Starts the program on what the release has left, at the time at which its answers were kept. */
async function withRelease(release: string, use: (opened: Opened) => Promise<void>): Promise<void> {
  await withDirectory(async (directory) => {
    const dataDir = path.join(directory, "data");
    if (onPostgres) await restoreDatabase(dataDir, statementsOfDump(fileOf(release, "dump")));
    else unpackInto(dataDir, fileOf(release, "directory"));
    const store = keptStore(release, onPostgres ? "dumpAnswers" : "directoryAnswers");
    const env = {
      OPENPO_DATA_DIR: dataDir,
      OPENPO_ADMIN_TOKEN: adminToken,
      OPENPO_SECRET_KEY: secretKey,
      OPENPO_DEMO: "0",
      // Nobody listens there: mails can be asked for, and none is left to be sent.
      OPENPO_SMTP_URL: "smtp://127.0.0.1:9?tls=none",
      OPENPO_MAIL_FROM: "shop@openpo.test",
      ...atTime(store.atMs),
    };
    const program = await serveProgram(env);
    await use({ store, program, env });
  });
}

/** Verifies the shop's audit log whole. */
async function verified({ program }: Opened): Promise<{ findings: number; rows: number; unchainedRows: number }> {
  const sums = { findings: 0, rows: 0, unchainedRows: 0 };
  let cursor: unknown = null;
  do {
    const target = `/admin/v1/shops/${wideShop}/audit-log/verification`;
    const query = typeof cursor === "string" ? `?cursor=${encodeURIComponent(cursor)}` : "";
    const slice = await program.ask("GET", target + query, adminToken);
    assert.equal(slice.status, 200, slice.text);
    const findings = slice.at("data", "findings");
    assert.ok(Array.isArray(findings));
    sums.findings += findings.length;
    sums.rows += Number(slice.at("data", "rows"));
    sums.unchainedRows = Math.max(sums.unchainedRows, Number(slice.at("data", "unchainedRows")));
    cursor = slice.at("data", "cursor");
  } while (typeof cursor === "string");
  return sums;
}

test("there is a release to be opened", () => {
  assert.ok(releases.length >= 3, releases.join());
});

for (const release of releases)
  test(`what ${release} has left answers as it did, keeps its stored answers, and takes writes`, () =>
    withRelease(release, async (opened) => {
      const { store, program } = opened;
      const changes: string[] = [];
      for (const kept of store.answers) {
        const now = await ask(program.url, { method: "GET", target: kept.target, token: tokenOf(kept.as, store) });
        changes.push(...changesSince(kept, now));
      }
      const meant = meantChanges[release] ?? [];
      const isMeant = (change: string): boolean => meant.some(([place]) => place.test(change));
      assert.deepEqual(
        changes.filter((change) => !isMeant(change)),
        [],
      );
      for (const [place, why] of meant)
        assert.ok(
          changes.some((change) => place.test(change)),
          why,
        );

      assert.ok(store.keyed.length >= 20);
      for (const { status, text, ...asked } of store.keyed) {
        const again = await ask(program.url, asked);
        assert.equal(again.headers["idempotent-replayed"], "true", asked.target);
        assert.deepEqual({ status: again.status, text: again.text }, { status, text });
      }

      const before = await verified(opened);
      assert.equal(before.findings, 0);
      const { write } = store.keys;
      const lineItems = [{ variantId: "red", quantityOrdered: 2, unitCost: 1 }];
      const made = await program.ask("POST", orders, write, { supplierId: "mill", locationId: "warehouse", lineItems });
      assert.equal(made.status, 201, made.text);
      const order = `${orders}/${String(made.at("data", "purchaseOrder", "purchaseOrderId"))}`;
      const steps: readonly (readonly [string, object])[] = [
        ["status", { status: "Sent" }],
        ["confirm", { confirmAll: true }],
        ["quick-complete", {}],
      ];
      for (const [step, body] of steps) {
        const done = await program.ask("POST", `${order}/${step}`, write, body);
        assert.equal(done.status, 200, done.text);
      }
      assert.equal((await program.ask("GET", order, write)).at("data", "purchaseOrder", "status"), "Completed");
      const after = await verified(opened);
      assert.equal(after.findings, 0);
      assert.ok(after.rows > before.rows);
      // Rows from before the log was chained stay what they are.
      assert.equal(after.unchainedRows, before.unchainedRows);
      assert.equal(before.unchainedRows > 0, store.migrations < 35);
      const ended = await program.end("SIGTERM");
      assert.equal(ended.code, 0, ended.stderr);
      assert.ok(!ended.stderr.includes('"level":50'), ended.stderr);
    }));

test("an older program refuses a store that a newer one has served, in a sentence with both versions and the way out", () =>
  withDirectory(async (directory) => {
    const env = { OPENPO_DATA_DIR: path.join(directory, "data"), OPENPO_ADMIN_TOKEN: adminToken, OPENPO_DEMO: "0" };
    const newer = await serveProgram(env);
    assert.equal((await newer.ask("PUT", "/admin/v1/shops/one", adminToken, { name: "One" })).status, 201);
    assert.equal((await newer.end("SIGTERM")).code, 0);
    await pretendNewer(env.OPENPO_DATA_DIR, "OpenPO 9.8.7");
    for (const args of [["serve"], ["shop", "list"]]) {
      const { code, stderr, stdout } = await runProgram(args, env);
      assert.equal(code, 1, stdout);
      assert.equal(stderr.trim().split("\n").length, 1, stderr);
      assert.match(stderr, /^openpo: OPENPO_(?:DATA_DIR|DATABASE_URL): /);
      assert.match(stderr, /OpenPO 9\.8\.7 \(shop (?:schema )?(\d+)\), which is newer: .*OpenPO \d+\.\d+\.\d+/);
      assert.match(stderr, /Start the newer version again, or restore a backup from before the upgrade/);
    }
  }));
