/**
 * Several nodes on one database: a node takes over the work of another that dies, stops or freezes. Keys in flight, rate limits and
 * revocations apply on all nodes at once (O1, O6, H2, K1, C17–C19, D44).
 */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { z } from "zod";
import { outboxLimits } from "../../src/jobs/outbox/limits.ts";
import { type Answered, ask, type Asked, makeKey, makeShop, operate } from "../support/clients.ts";
import { rowsOf, type ServiceNode, withNodes } from "../support/programs/nodes.ts";
import { freshDatabase, withClient } from "../support/postgres/postgres.ts";
import { patienceMs, pause, quiet, until } from "../support/until.ts";
import { takenBackThoughKilled } from "../storefront/costs/taken-back.ts";
import { FakeShopify, fakeToken } from "../storefront/shopify/fake.ts";

const orders = "/api/v1/purchase-orders";
/** Time limit for a takeover: the lease of follow-on work and the poll after it. */
const takeoverMsMax = 75_000;

/** Runs `use` with this many nodes on a new database. */
async function withNewNodes(
  count: number,
  use: (nodes: readonly ServiceNode[], databaseUrl: string) => Promise<void>,
): Promise<void> {
  const database = await freshDatabase();
  try {
    await withNodes(database.url, count, (nodes) => use(nodes, database.url));
  } finally {
    await database.drop();
  }
}

const at = (nodes: readonly ServiceNode[], index: number): ServiceNode => nodes[index % nodes.length] ?? assert.fail();
const order = { lineItems: [{ variantId: "red", quantityOrdered: 1 }] };
const wordOf = (answer: Answered): string =>
  z.object({ error: z.object({ code: z.string(), reason: z.string().optional() }) }).parse(JSON.parse(answer.text))
    .error.reason ?? "none";

/** The records of a shop with an order `po_1` on which ten units of a variant can be received. */
const goods = [
  { type: "location", locationId: "loc", name: "Warehouse" },
  { type: "variant", variantId: "red", productId: "shirt", productName: "Shirt" },
  { type: "inventoryLevel", variantId: "red", locationId: "loc", onHand: 100 },
  {
    type: "purchaseOrder",
    purchaseOrderId: "po_1",
    status: "In Progress",
    locationId: "loc",
    lineItems: [{ poLineItemId: "a", variantId: "red", quantityOrdered: 10, quantityConfirmed: 10 }],
  },
];

/** The line with goods that the storefront has. */
const receivedLine = (quantity: number): object => ({
  poLineItemId: "a",
  variantId: "red",
  quantityOrdered: 10,
  quantityReceived: quantity,
  quantitySynced: quantity,
});

const receive = (token: string, quantityReceived: number): Asked => ({
  method: "POST",
  target: `${orders}/po_1/receive`,
  token,
  idempotencyKey: `receive ${quantityReceived}`,
  body: { lines: [{ lineItemId: "a", quantityReceived }] },
});

const slowStorefront = (url: string, shopId: string, latencyMs: number): Promise<unknown> =>
  operate(url, "PUT", `/shops/${shopId}/sandbox/faults`, { latencyMs });

/** Reads the storefront's on-hand quantity directly from its tables. */
async function onHand(databaseUrl: string, shopId: string): Promise<number> {
  const rows = await rowsOf<{ on_hand: string }>(
    databaseUrl,
    shopId,
    "select on_hand from openpo_sandbox.sandbox_level where shop_id = $1 and variant_id = 'red'",
  );
  return Number(rows[0]?.on_hand) / 1_000;
}

/** Until when the shop's one key in flight is held, and what time it is, both by the database's clock. */
async function keyLease(
  databaseUrl: string,
  shopId: string,
): Promise<{ readonly untilMs: number; readonly nowMs: number }> {
  const sql = `select (extract(epoch from leased_until) * 1000)::float8 as until, (extract(epoch from clock_timestamp()) * 1000)::float8 as now
    from openpo.key_in_flight where shop_id = $1`;
  const [row] = await rowsOf<{ until: number; now: number }>(databaseUrl, shopId, sql);
  assert.ok(row !== undefined, `${shopId} holds no key`);
  return { untilMs: row.until, nowMs: row.now };
}

const syncState = z.object({
  data: z.object({ purchaseOrder: z.object({ storefrontSyncState: z.string(), version: z.number() }) }),
});
const orderAt = async (node: ServiceNode, token: string) => {
  const answer = await ask(node.url, { method: "GET", target: `${orders}/po_1`, token });
  return syncState.parse(JSON.parse(answer.text)).data.purchaseOrder;
};

suite("nodes on one database", { concurrency: 2 }, () => {
  test("another node takes over when a node dies or freezes during a stock push, and the stock is pushed once", () =>
    withNewNodes(3, async (nodes, databaseUrl) => {
      const [dying, frozen, other] = [at(nodes, 0), at(nodes, 1), at(nodes, 2)];
      // The node is killed before its push takes effect (before), or after that but before the outcome is recorded (after). Or the node is
      // frozen during the push (halted), once with a client that waits for the answer (waiting).
      const shopIds = ["before", "after", "halted", "waiting"] as const;
      const tokens = new Map<string, string>();
      for (const shopId of shopIds) {
        const followOnWaitMs = shopId === "waiting" ? 30_000 : 0;
        tokens.set(shopId, await makeShop(other.url, shopId, { followOnWaitMs }, goods));
        // What is not to land before its node is killed or frozen has a busy machine's time.
        await slowStorefront(other.url, shopId, shopId === "after" ? 3_000 : 6_000);
      }
      const tokenOf = (shopId: string): string => tokens.get(shopId) ?? assert.fail();
      const pushing = async (shopId: string, node: ServiceNode): Promise<void> => {
        assert.equal((await ask(node.url, receive(tokenOf(shopId), 4))).status, 200);
      };
      const claimed = async (shopId: string): Promise<boolean> => {
        const claims =
          "select 1 from openpo.effect where shop_id = $1 and kind = 'push-stock' and lease_owner is not null";
        return (await rowsOf(databaseUrl, shopId, claims)).length > 0;
      };
      await pushing("after", dying);
      // From now on the push needs the shop only to record its outcome.
      await until("the push begins", () => claimed("after"), patienceMs);
      const { waited } = await withClient(databaseUrl, async (client) => {
        // This lock makes every node that records the outcome of the push wait.
        await client.query("begin");
        await client.query("select 1 from openpo.engine_shop where shop_id = 'after' for update");
        await until("the push lands", async () => (await onHand(databaseUrl, "after")) === 104, patienceMs);
        const waited = ask(frozen.url, { ...receive(tokenOf("waiting"), 4), waitMsMax: 2 * takeoverMsMax });
        await Promise.all([pushing("before", dying), pushing("halted", frozen)]);
        await until("the push of the client that waits begins", () => claimed("waiting"), patienceMs);
        frozen.program?.signal("SIGSTOP");
        await dying.end("SIGKILL");
        await client.query("rollback");
        return { waited };
      });
      assert.equal(await onHand(databaseUrl, "before"), 100);
      assert.equal(await onHand(databaseUrl, "halted"), 100);
      for (const shopId of shopIds) await slowStorefront(other.url, shopId, 0);
      const synced = async (): Promise<boolean> => {
        const states = await Promise.all(shopIds.map((shopId) => orderAt(other, tokenOf(shopId))));
        return states.every((state) => state.storefrontSyncState === "synced");
      };
      await until("another node takes over", synced, takeoverMsMax);
      const versions = await Promise.all(
        shopIds.map(async (shopId) => (await orderAt(other, tokenOf(shopId))).version),
      );
      // The client retries on another node. As soon as the key is free, it gets the stored answer.
      const elsewhere = (node: ServiceNode) => ask(node.url, receive(tokenOf("waiting"), 4));
      await until("the key is free", async () => (await elsewhere(other)).status === 200, takeoverMsMax);
      const { text } = await elsewhere(other);
      frozen.program?.signal("SIGCONT");
      // The frozen node continues: it calls the storefront and tries to record the outcome, or the call has timed out.
      await until(
        "it answers again",
        async () => (await ask(frozen.url, receive(tokenOf("halted"), 4))).status === 200,
      );
      // The resumed node gives the same answer under the key.
      assert.equal((await waited).text, text);
      for (const node of [frozen, other]) assert.equal((await elsewhere(node)).text, text);
      await quiet(3_000);
      for (const [index, shopId] of shopIds.entries()) {
        assert.equal(await onHand(databaseUrl, shopId), 104, shopId);
        const { storefrontSyncState, version } = await orderAt(other, tokenOf(shopId));
        assert.deepEqual([storefrontSyncState, version], ["synced", versions[index]], shopId);
      }
      assert.equal(await frozen.end("SIGTERM"), 0);
      await other.end("SIGTERM");
    }));

  test("goods taken back leave the average once, though the node that tells the storefront is killed and another goes on (C45)", async () => {
    const database = await freshDatabase();
    const fake = await new FakeShopify().listen();
    fake.currency = "EUR";
    fake.addLocation("1");
    fake.addVariant("100");
    fake.setCost("100", "2.00");
    fake.setLevel("100", "1", 10);
    const env = {
      OPENPO_SECRET_KEY: Buffer.alloc(32, 9).toString("base64"),
      OPENPO_STOREFRONT_ALLOW: `http://${fake.domain}`,
    };
    try {
      await withNodes(
        database.url,
        2,
        async (nodes) => {
          let asked = 0;
          const storefront = { kind: "shopify", domain: fake.domain, accessToken: fakeToken };
          await makeShop(at(nodes, 0).url, "tideline", {}, [{ type: "location", locationId: "1", name: "Dock" }]);
          await operate(at(nodes, 0).url, "PUT", "/shops/tideline", { storefront });
          await takenBackThoughKilled({
            variantId: "100",
            locationId: "1",
            program: () => at(nodes, asked).program ?? assert.fail("it was killed"),
            async kill() {
              await at(nodes, asked).end("SIGKILL");
              asked += 1;
              await at(nodes, asked).start();
            },
            strike: (isMade) => fake.strike({ kind: isMade ? "lost" : "hang" }, "WriteCosts", 1),
            writes: () => fake.callsOf("WriteCosts").length,
            cost: () => fake.costOf("100"),
            available: () => fake.levelOf("100", "1").available,
          });
        },
        env,
      );
    } finally {
      await fake.close();
      await database.drop();
    }
  });

  test("a node is killed: a stored answer is replayed at once, and a key without one is free within 6 s (C20)", () =>
    withNewNodes(2, async (nodes, databaseUrl) => {
      const [dying, other] = [at(nodes, 0), at(nodes, 1)];
      const received = goods.map((record) =>
        record.type === "purchaseOrder"
          ? { ...record, status: "Partially Received", lineItems: [receivedLine(4)] }
          : record,
      );
      const [stored, bare] = await Promise.all([
        makeShop(other.url, "stored", { followOnWaitMs: 60_000 }, received),
        makeShop(other.url, "bare", {}, goods),
      ]);
      for (const shopId of ["stored", "bare"]) await slowStorefront(other.url, shopId, 9_000);
      // One call has stored its answer and waits for its push. The other waits for the guard and has stored nothing.
      const waiting = {
        method: "POST",
        target: `${orders}/po_1/unreceive`,
        token: stored,
        idempotencyKey: "take back",
        body: { lines: [{ lineItemId: "a", quantity: 1 }] },
      };
      const lost = Promise.allSettled([ask(dying.url, waiting), ask(dying.url, receive(bare, 4))]);
      const claims = async (): Promise<boolean> => {
        const rows = await Promise.all(
          ["stored", "bare"].map((shopId) =>
            rowsOf(databaseUrl, shopId, "select 1 from openpo.key_in_flight where shop_id = $1"),
          ),
        );
        const answers = "select 1 from openpo.idempotency_record where shop_id = $1";
        return rows.every((each) => each.length === 1) && (await rowsOf(databaseUrl, "stored", answers)).length === 1;
      };
      await until("both keys are held", claims, patienceMs);
      // A living node keeps the keys of calls that take longer than a lease.
      const firstUntilMs = Math.max(
        ...(await Promise.all(["stored", "bare"].map((shopId) => keyLease(databaseUrl, shopId)))).map(
          ({ untilMs }) => untilMs,
        ),
      );
      await until("the first leases would have ended", async () => {
        const { nowMs } = await keyLease(databaseUrl, "bare");
        return nowMs > firstUntilMs;
      });
      assert.equal(wordOf(await ask(other.url, receive(bare, 4))), "IDEMPOTENCY_IN_PROGRESS");
      await dying.end("SIGKILL");
      const killedMs = performance.now();
      const { untilMs, nowMs } = await keyLease(databaseUrl, "bare");
      const freeMs = performance.now() + untilMs - nowMs;
      assert.ok(untilMs - nowMs < 6_000, `free after ${untilMs - nowMs} ms`);
      const early = await ask(other.url, receive(bare, 4));
      // A machine that stalls so long asks too late.
      if (performance.now() < killedMs + untilMs - nowMs) assert.equal(wordOf(early), "IDEMPOTENCY_IN_PROGRESS");
      const replayed = await ask(other.url, waiting);
      assert.equal(replayed.status, 200, replayed.text);
      assert.equal(replayed.headers["idempotent-replayed"], "true");
      await slowStorefront(other.url, "bare", 0);
      await pause(Math.max(0, freeMs - performance.now()) + 1);
      const freed = await ask(other.url, receive(bare, 4));
      assert.equal(freed.status, 200, freed.text);
      await lost;
    }));

  test("eight /complete on two nodes at once: one writes the costs, the others are refused before they write anything (C45)", () =>
    withNewNodes(2, async (nodes, databaseUrl) => {
      const received = goods.map((record) =>
        record.type === "purchaseOrder" ? { ...record, status: "Received", lineItems: [receivedLine(10)] } : record,
      );
      const token = await makeShop(at(nodes, 0).url, "shop", {}, received);
      // All eight are there while the first one writes, however long they take to begin.
      await slowStorefront(at(nodes, 0).url, "shop", 4_000);
      const complete = { method: "POST", target: `${orders}/po_1/complete`, token };
      const answers = await Promise.all(Array.from({ length: 8 }, (_, index) => ask(at(nodes, index).url, complete)));
      assert.equal(answers.filter((answer) => answer.status === 200).length, 1);
      for (const refused of answers.filter((answer) => answer.status !== 200)) {
        assert.match(refused.text, /"ON_HAND_SYNC_IN_FLIGHT"/);
        assert.equal(refused.headers["retry-after"], "1");
      }
      const calls = z.object({ data: z.object({ calls: z.object({ writeCosts: z.number() }) }) });
      const sandbox = calls.parse(await operate(at(nodes, 1).url, "GET", "/shops/shop/sandbox"));
      assert.equal(sandbox.data.calls.writeCosts, 1);
      const rows = await rowsOf(databaseUrl, "shop", "select 1 from openpo.cost_sync where shop_id = $1");
      assert.equal(rows.length, 1);
    }));

  test("a stopping node answers its running requests, and another node continues its follow-on work at once", () =>
    withNewNodes(2, async (nodes, databaseUrl) => {
      const [stopping, other] = [at(nodes, 0), at(nodes, 1)];
      const shopIds = Array.from({ length: 6 }, (_, index) => `shop-${index}`);
      const tokens = await Promise.all(
        shopIds.map((shopId) => makeShop(other.url, shopId, { followOnWaitMs: 1_500 }, goods)),
      );
      // Longer than a stopping node waits for a storefront call.
      for (const shopId of shopIds) await slowStorefront(other.url, shopId, 8_000);
      const asked = tokens.flatMap((token) => [
        receive(token, 4),
        ...Array.from({ length: 5 }, (_, index) => ({
          method: "POST",
          target: orders,
          token,
          idempotencyKey: `create ${index}`,
          body: order,
        })),
      ]);
      // While no other node runs, every lease is the stopping node's.
      assert.equal(await other.end("SIGTERM"), 0);
      const answered = asked.map((each) => ask(stopping.url, each));
      const claims = async (): Promise<boolean> => {
        const rows = await Promise.all(
          shopIds.map((shopId) =>
            rowsOf(databaseUrl, shopId, "select 1 from openpo.effect where shop_id = $1 and lease_owner is not null"),
          ),
        );
        return rows.every((each) => each.length > 0);
      };
      await until("every shop is pushing", claims, patienceMs);
      assert.equal(await stopping.end("SIGTERM"), 0);
      const answers = await Promise.all(answered);
      assert.deepEqual(
        answers.map((answer) => answer.status),
        asked.map(({ target }) => (target === orders ? 201 : 200)),
      );
      for (const shopId of shopIds) {
        const left = await rowsOf(databaseUrl, shopId, "select 1 from openpo.key_in_flight where shop_id = $1");
        assert.deepEqual(left, []);
        const pending = await rowsOf<{ lease_owner: string | null; is_soon: boolean }>(
          databaseUrl,
          shopId,
          `select lease_owner, due_at <= extract(epoch from clock_timestamp()) * 1000 + ${outboxLimits.backoffMsMax} as is_soon
           from openpo.effect where shop_id = $1 and state = 'pending'`,
        );
        // A push that has ended is not among them.
        for (const effect of pending) assert.deepEqual(effect, { lease_owner: null, is_soon: true }, shopId);
      }
      await other.start();
      for (const shopId of shopIds) await slowStorefront(other.url, shopId, 0);
      const synced = async (): Promise<boolean> => {
        const states = await Promise.all(tokens.map((token) => orderAt(other, token)));
        return states.every((state) => state.storefrontSyncState === "synced");
      };
      await until("the other node pushes", synced);
      for (const shopId of shopIds) assert.equal(await onHand(databaseUrl, shopId), 104);
      // The other node replays the answers byte for byte.
      for (const [index, each] of asked.entries()) {
        const again = await ask(other.url, each);
        assert.equal(again.headers["idempotent-replayed"], "true");
        assert.equal(again.text, answers[index]?.text);
      }
    }));

  test("an idempotency key sent to three nodes at once has one effect and one answer", () =>
    withNewNodes(3, async (nodes) => {
      const token = await makeShop(at(nodes, 0).url, "shop", {}, []);
      const keys = Array.from({ length: 25 }, (_, index) => `key ${index}`);
      const texts = new Set<string>();
      for (const idempotencyKey of keys) {
        const asked = { method: "POST", target: orders, token, idempotencyKey, body: order };
        const answers = await Promise.all(nodes.map((node) => ask(node.url, asked)));
        const done = answers.filter((answer) => answer.status === 201);
        for (const answer of answers.filter((each) => each.status !== 201)) {
          assert.equal(answer.status, 400, answer.text);
          assert.equal(wordOf(answer), "IDEMPOTENCY_IN_PROGRESS");
          assert.equal(answer.headers["retry-after"], "1");
        }
        assert.ok(done.filter((answer) => answer.headers["idempotent-replayed"] === undefined).length === 1);
        const replays = await Promise.all(nodes.map((node) => ask(node.url, asked)));
        const told = new Set([...done, ...replays].map((answer) => answer.text));
        assert.equal(told.size, 1);
        for (const replay of replays) assert.equal(replay.headers["idempotent-replayed"], "true");
        for (const text of told) texts.add(text);
        // Every node refuses a different request under the key.
        const other = await ask(at(nodes, texts.size).url, { ...asked, body: {} });
        assert.equal(wordOf(other), "IDEMPOTENCY_KEY_REUSED");
      }
      assert.equal(texts.size, keys.length);
      const list = await ask(at(nodes, 1).url, { method: "GET", target: `${orders}?limit=1`, token });
      const { totalCount } = z.object({ data: z.object({ totalCount: z.number() }) }).parse(JSON.parse(list.text)).data;
      assert.equal(totalCount, keys.length);
    }));

  test("an API key revoked on one node is refused by the other in the next call", () =>
    withNewNodes(2, async (nodes) => {
      await makeShop(at(nodes, 0).url, "shop", {}, []);
      for (let round = 0; round < 10; round += 1) {
        const [here, there] = [at(nodes, round), at(nodes, round + 1)];
        const { keyId, apiKey: token } = await makeKey(here.url, "shop");
        const read = { method: "GET", target: orders, token };
        const written = { method: "POST", target: orders, token, idempotencyKey: "k", body: order };
        assert.equal((await ask(there.url, read)).status, 200);
        assert.equal((await ask(there.url, written)).status, 201);
        await operate(here.url, "DELETE", `/shops/shop/keys/${keyId}`);
        for (const asked of [read, written]) assert.equal((await ask(there.url, asked)).status, 401);
      }
    }));

  test("calls to three nodes share the tokens of the shop's one bucket", () =>
    withNewNodes(3, async (nodes) => {
      const capacity = 40;
      // Refills less than one token during the test.
      const rateLimit = { capacity, refillPerSecond: 0.001 };
      const token = await makeShop(at(nodes, 0).url, "shop", { rateLimit }, []);
      const answers = await Promise.all(
        Array.from({ length: capacity * 2 }, (_, index) =>
          ask(at(nodes, index).url, { method: "GET", target: `${orders}?limit=1`, token }),
        ),
      );
      const statuses = answers.map((answer) => answer.status);
      assert.equal(statuses.filter((status) => status === 200).length, capacity);
      assert.equal(statuses.filter((status) => status === 429).length, capacity);
      const left = answers
        .filter((answer) => answer.status === 200)
        .map((answer) => Number(/r=(\d+)/.exec(String(answer.headers["ratelimit"]))?.[1]));
      // Each successful call saw a different level of the bucket.
      assert.deepEqual(
        left.sort((a, b) => a - b),
        Array.from({ length: capacity }, (_, index) => index),
      );
    }));
});
