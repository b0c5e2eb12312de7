/**
 * The claims of a node stay its own as long as it lives, however slow its work is. When it is killed, another one takes
 * each kind up, which no end of a claim brings about, with one effect (C38, G1–G3).
 *
 * Only on postgres: a data directory has one process.
 */
import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { test } from "node:test";
import { adminToken, ask, hangUp, makeShop, operate } from "../support/clients.ts";
import { mailEnv } from "../support/peers/mail-shop.ts";
import { openDatabase } from "../../src/service/database.ts";
import { longClaims } from "../../src/service/open-store.ts";
import { beganPull, savePullStatement } from "../../src/shop/storefront/storefront-pulls.ts";
import { keepLockStatement, takeLock } from "../../src/shop/storefront/storefront-turns.ts";
import { claimedByProcess, giveBackClaims } from "../../src/store/claims.ts";
import { showPresence } from "../../src/store/postgres/presence.ts";
import { rowsOf, serviceNode } from "../support/programs/nodes.ts";
import { freshDatabase, openPostgresStore, openTestPool, withClient } from "../support/postgres/postgres.ts";
import { startReceiver } from "../support/peers/receiver.ts";
import { parseMail, startSmtpServer } from "../support/peers/smtp.ts";
import { quiet, until } from "../support/until.ts";
import { FakeShopify, fakeToken } from "../storefront/shopify/fake.ts";

/** Tables of claims, and their columns with the end of one. */
const claimTables = { delivery: "due_at", mail: "due_at", storefront_pull: "due_at", import_run: "leased_until" };
/** Longer than a node is missed before it counts as gone, and its claims would be taken up. */
const slowMs = 11_000;

const variantLine = (index: number): string =>
  `${JSON.stringify({ type: "variant", variantId: `v-${index}`, productId: "p-1", productName: "Mug" })}\n`;
/** Takes seconds to apply. */
const manyVariants = 30_000;
const manyLines = Array.from({ length: manyVariants }, (_, index) => variantLine(index)).join("");

/** The first half of a file, whose rest never comes. */
const haltedFile = (): ReadableStream =>
  new ReadableStream({
    start: (file) => file.enqueue(Buffer.from(manyLines.slice(0, manyLines.length / 2))),
  });

test("a node that is slow keeps what it has claimed; when it is killed, all of it is taken up long before its claims end", async (context) => {
  const database = await freshDatabase();
  const receiver = await startReceiver();
  const mailServer = await startSmtpServer();
  const fake = await new FakeShopify().listen();
  fake.currency = "EUR";
  fake.addLocation("1");
  for (const id of ["100", "101"]) fake.addVariant(id);
  const env = {
    ...mailEnv(mailServer),
    OPENPO_WEBHOOK_ALLOW: "127.0.0.1",
    OPENPO_WEBHOOK_HTTP: "1",
    OPENPO_SECRET_KEY: Buffer.alloc(32, 9).toString("base64"),
    OPENPO_STOREFRONT_ALLOW: `http://${fake.domain}`,
  };
  const dying = serviceNode(database.url, env);
  const other = serviceNode(database.url, env);
  const rows = <R extends object>(shopId: string, sql: string): Promise<R[]> => rowsOf<R>(database.url, shopId, sql);
  /** Who has claimed what, by shop and table. */
  const claims = async (): Promise<readonly string[]> => {
    const found = await Promise.all(
      Object.keys(claimTables).flatMap((table) =>
        ["main", "staged", "committed"].map(async (shopId) => {
          const sql = `select lease_owner from openpo.${table} where shop_id = $1 and lease_owner is not null`;
          const claimed = await rows<{ lease_owner: string }>(shopId, sql);
          return claimed.map(({ lease_owner: owner }) => `${shopId} ${table} ${owner}`);
        }),
      ),
    );
    return found.flat();
  };
  const variantsIn = async (shopId: string): Promise<number> =>
    Number((await rows<{ n: string }>(shopId, "select count(*) as n from openpo.variant where shop_id = $1"))[0]?.n);
  try {
    // No other node runs while one claims: it could take a part.
    await dying.start();
    const { url } = dying;
    const storefront = { kind: "shopify", domain: fake.domain, accessToken: fakeToken };
    const token = await makeShop(url, "main", {}, [
      { type: "purchaseOrder", purchaseOrderId: "po_1", status: "Draft", lineItems: [] },
    ]);
    await operate(url, "PUT", "/shops/main", { storefront });
    for (const shopId of ["staged", "committed"]) await makeShop(url, shopId, {}, []);
    const held: ServerResponse[] = [];
    receiver.answer = (response) => void held.push(response);
    const endpoint = { url: receiver.url, eventTypes: ["purchase_order.created"] };
    await operate(url, "POST", "/shops/main/webhook-endpoints", endpoint);
    const makeOrder = async (): Promise<void> => {
      const made = await ask(url, { method: "POST", target: "/api/v1/purchase-orders", token, body: {} });
      assert.equal(made.status, 201, made.text);
    };
    // Each kind is claimed, and whoever is asked does not answer.
    mailServer.answer = (step) => (step === "message" ? "hang" : null);
    const send = () => operate(url, "POST", "/shops/main/purchase-orders/po_1/send", { to: "mill@supplier.example" });
    await send();
    const staging = dying.program?.ask("POST", "/admin/v1/shops/staged/import", adminToken, haltedFile());
    const lost = Promise.allSettled([staging]);
    await until("the mail is under way", () => mailServer.received.length === 1);
    await until("a part is staged", async () => (await claims()).length === 2);
    await other.start();
    const [processName = ""] = (await claims()).map((claim) => /node_\w+/.exec(claim)?.[0]);
    /** Has the node that is to die send a webhook, which is not answered. */
    const holdWebhook = async (): Promise<void> => {
      for (;;) {
        await makeOrder();
        await until("a webhook is being sent", () => held.length === 1);
        if ((await claims()).some((claim) => claim.includes(`delivery ${processName}.`))) return;
        // The other node was first.
        held.splice(0)[0]?.writeHead(204).end();
      }
    };
    /** Has it send a mail, which is not answered. */
    const holdMail = async (): Promise<void> => {
      for (;;) {
        const count = mailServer.received.length;
        await send();
        await until("a mail is under way", () => mailServer.received.length === count + 1);
        if ((await claims()).some((claim) => claim.includes(`mail ${processName}.`))) return;
        mailServer.takeHeld();
      }
    };
    await holdWebhook();
    const webhooks = receiver.received.length;
    const before = await claims();
    assert.equal(before.length, 3, before.join());
    await quiet(slowMs);
    assert.deepEqual(await claims(), before, "the slow node has kept them");
    const asked = [receiver.received.length, mailServer.received.length];
    assert.deepEqual(asked, [webhooks, 1], "and nobody else was at them");
    held.splice(0)[0]?.writeHead(204).end();
    mailServer.takeHeld();
    await until("the mail is taken", async () => (await claims()).every((claim) => !claim.includes(" mail ")));

    // The file is still under way, and with it an import that is being applied, a pull, a further mail and webhook.
    const committing = Promise.allSettled([
      dying.program?.ask("POST", "/admin/v1/shops/committed/import", adminToken, manyLines),
    ]);
    const runOf = async (shopId: string): Promise<{ state: string; lease_owner: string | null } | null> =>
      (
        await rows<{ state: string; lease_owner: string | null }>(
          shopId,
          "select state, lease_owner from openpo.import_run where shop_id = $1",
        )
      )[0] ?? null;
    const committed = await until("it is committed", async () => {
      const run = await runOf("committed");
      return run?.state === "committed" ? run : null;
    });
    let [mails, sent, killedAtMs] = [0, 0, 0];
    await withClient(database.url, async (client) => {
      // The import waits for its shop until the node is killed, however long the other claims take to make.
      await client.query("begin");
      await client.query("select 1 from openpo.engine_shop where shop_id = 'committed' for update");
      fake.strike({ kind: "hang" }, "PullLocations", 1);
      await operate(url, "POST", "/shops/main/storefront/pull", {});
      await until("the pull is under way", () => fake.callsOf("PullLocations").length === 1);
      await holdMail();
      await holdWebhook();
      [mails, sent] = [mailServer.received.length, receiver.received.length];
      assert.deepEqual(
        (await claims()).map((claim) => claim.includes(processName)),
        Array.from({ length: 5 }, () => true),
      );
      await dying.end("SIGKILL");
      killedAtMs = performance.now();
    });
    // No claim is taken up because its time is over: the other node gives back what the dead one has.
    for (const [table, end] of Object.entries(claimTables))
      for (const shopId of ["main", "staged", "committed"])
        await rows(
          shopId,
          `update openpo.${table} set ${end} = ${end} + 3600000 where shop_id = $1 and lease_owner like '${processName}.%'`,
        );
    assert.ok((await variantsIn("committed")) < manyVariants, "it was being applied");
    mailServer.answer = () => null;
    receiver.answer = (response) => void response.writeHead(204).end();
    const takenUp = async (what: string, look: () => boolean | Promise<boolean>): Promise<void> => {
      await until(`${what} is taken up`, look);
      context.diagnostic(`${what}: ${Math.round(performance.now() - killedAtMs)} ms after the kill`);
    };
    await Promise.all([
      takenUp("the webhook", () => receiver.received.length === sent + 1),
      takenUp("the mail", () => mailServer.received.length === mails + 1),
      takenUp("the pull", () => fake.callsOf("PullLocations").length === 2),
      takenUp("the import that was staged", async () => (await runOf("staged")) === null),
      takenUp("the import that was committed", async () => {
        const run = await runOf("committed");
        return run === null || (run.lease_owner !== null && run.lease_owner !== committed.lease_owner);
      }),
    ]);

    // Each has one effect.
    await until("the import is applied", async () => (await runOf("committed")) === null);
    assert.deepEqual([await variantsIn("committed"), await variantsIn("staged")], [manyVariants, 0]);
    const pull = "select state from openpo.storefront_pull where shop_id = $1";
    await until("the pull is done", async () => (await rows<{ state: string }>("main", pull))[0]?.state === "done");
    assert.equal(await variantsIn("main"), 2);
    await until("nothing is claimed", async () => (await claims()).length === 0);
    assert.equal(receiver.received.length, sent + 1);
    const [first, again] = receiver.received.slice(-2);
    assert.equal(first?.eventId, again?.eventId, "under the same id");
    const messageIds = mailServer.received.slice(-2).map((mail) => parseMail(mail).headers.get("message-id")?.[0]);
    assert.equal(mailServer.taken.length, mails, "all but the one that was under way");
    assert.deepEqual([messageIds.length, new Set(messageIds).size], [2, 1], "under the same Message-ID");
    await lost;
    await committing;
  } finally {
    await Promise.all([dying, other].map((node) => node.end("SIGKILL")));
    hangUp();
    await Promise.all([receiver.close(), mailServer.close(), fake.close()]);
    await database.drop();
  }
});

test("who has not shown itself for goneMs is forgotten when its claims are free; who was itself kept away judges nobody", async () => {
  const database = await freshDatabase();
  const store = await openPostgresStore(database.url);
  const pool = await openTestPool(database.url);
  const givenBack: string[] = [];
  const log = { info: () => {}, warn: console.warn, error: console.error };
  const show = (processName: string) =>
    showPresence({
      pool,
      signs: pool,
      schemaName: "openpo",
      processName,
      claims: longClaims,
      async giveBack(...claimed) {
        givenBack.push(claimed.join());
        const [shopId, gone] = claimed;
        const statements = longClaims.map((each) => giveBackClaims(each, shopId, claimedByProcess(gone), Date.now()));
        await store.engine.write(shopId, (tx) => tx.batch(statements));
      },
      log,
    });
  const nodes: { close(): Promise<void> }[] = [];
  try {
    for (const shopId of ["one", "two"]) {
      await store.engine.create(shopId);
      const pull = { ...beganPull(null, true, "pull_1", 0), leaseOwner: `node_of_${shopId}.1` };
      await store.engine.write(shopId, (tx) => tx.batch([savePullStatement(shopId, pull)]));
    }
    await store.engine.create("three");
    const untilMs = Date.now() + 600_000;
    const takeTurn = (owner: string) =>
      store.engine.write("three", (tx) =>
        takeLock(tx, "three", owner, { nowMs: Date.now(), untilMs, takesOver: false }),
      );
    await takeTurn("node_of_one.2");
    const keep = keepLockStatement("three", "node_of_one.2", { untilMs, reference: "write_1" });
    await store.engine.write("three", (tx) => tx.batch([keep]));
    nodes.push(await show("node_a"), await show("node_of_two"));
    await quiet(slowMs);
    await withClient(database.url, async (client) => {
      // As after a minute in which nobody could reach the database.
      await client.query("update openpo.node set seen_at = seen_at - interval '1 minute'");
      await client.query("insert into openpo.node values ('node_of_one', now() - interval '1 minute', now())");
      await quiet(3_000);
      assert.deepEqual(givenBack, [], "the other one that lives was away too");
      assert.equal(await takeTurn("node_a.1"), null, "a turn to set stock is kept");
      const names = async (): Promise<readonly string[]> =>
        (await client.query<{ name: string }>("select process_name as name from openpo.node order by 1")).rows.map(
          ({ name }) => name,
        );
      await until("it is forgotten", async () => !(await names()).includes("node_of_one"));
      assert.deepEqual(await names(), ["node_a", "node_of_two"]);
      assert.deepEqual([...new Set(givenBack)], ["one,node_of_one", "three,node_of_one"]);
      assert.deepEqual(await takeTurn("node_a.1"), { interrupted: "write_1" });
    });
  } finally {
    await Promise.all(nodes.map((node) => node.close()));
    await pool.close();
    await store.close();
    await database.drop();
  }
});

test("a node whose connections are all in use for longer than goneMs keeps its claims", async () => {
  const database = await freshDatabase();
  const log = { info: () => {}, warn: () => {}, error: console.error };
  const busy = await openDatabase({ url: database.url, connectionsMax: 2 }, log);
  await busy.completeFirstStart();
  const other = await openDatabase({ url: database.url, connectionsMax: 2 }, log);
  try {
    const shopIds = ["one", "two", "three"];
    for (const shopId of shopIds) await busy.engine.create(shopId);
    const leaseOwner = busy.ids.claimant();
    const pull = { ...beganPull(null, true, "pull_1", 0), leaseOwner };
    await busy.engine.write("three", (tx) => tx.batch([savePullStatement("three", pull)]));
    await quiet(slowMs - 5_000);
    const jams = ["one", "two"].map((shopId) =>
      busy.engine.write(shopId, (tx) => tx.all(`select pg_sleep(${(slowMs - 1_000) / 1_000})`, [])),
    );
    await Promise.all(jams);
    const [row] = await other.engine.read("three", (tx) =>
      tx.all<{ lease_owner: string | null }>("select lease_owner from storefront_pull where shop_id = ?", ["three"]),
    );
    assert.equal(row?.lease_owner, leaseOwner);
  } finally {
    await busy.close();
    await other.close();
    await database.drop();
  }
});
