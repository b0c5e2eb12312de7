/** Connecting a shop to Shopify, by a program and over the fake (C65, C67). */
// Only on sqlite: its subject is the conversation with the storefront, which knows no engine.
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { outboxLimits } from "../../../src/jobs/outbox/limits.ts";
import { onPostgres } from "../../support/store.ts";
import {
  type Answered,
  type RunningProgram,
  runCommand,
  runProgram,
  serveProgram,
  withDirectory,
} from "../../support/process.ts";
import { FakeShopify, fakeToken } from "./fake.ts";
import { until } from "../../support/until.ts";
import { takenBackThoughKilled } from "../costs/taken-back.ts";

const token = "an-admin-token-for-tests";
const shops = "/admin/v1/shops";
const orders = "/api/v1/purchase-orders";
const secretKey = Buffer.alloc(32, 9).toString("base64");

interface Connected {
  readonly fake: FakeShopify;
  readonly directory: string;
  program: RunningProgram;
  readonly environment: Readonly<Record<string, string>>;
  put(body: object): Promise<Answered>;
}

/** A program with the shop `tideline`, which has a variant at one location, and a fake store that has them too. */
async function withStore(use: (world: Connected) => Promise<void>, env: Record<string, string> = {}): Promise<void> {
  const fake = await new FakeShopify().listen();
  for (const id of ["100", "101"]) fake.addVariant(id);
  fake.addLocation("1");
  try {
    await withDirectory(async (directory) => {
      const environment = {
        OPENPO_DATA_DIR: directory,
        OPENPO_ADMIN_TOKEN: token,
        OPENPO_DEMO: "0",
        OPENPO_SECRET_KEY: secretKey,
        OPENPO_STOREFRONT_ALLOW: `http://${fake.domain}`,
        OPENPO_LOG_LEVEL: "trace",
        ...env,
      };
      const world: Connected = {
        fake,
        directory,
        environment,
        program: await serveProgram(environment),
        put: (body) => world.program.ask("PUT", `${shops}/tideline`, token, body),
      };
      const made = await world.put({ name: "Tideline", currencyCode: "USD" });
      assert.equal(made.status, 201, made.text);
      const records = [
        { type: "location", locationId: "1", name: "Dock" },
        { type: "supplier", supplierId: "mill", name: "Mill" },
        ...["100", "101"].map((id) => ({ type: "variant", variantId: id, productId: `8${id}`, productName: "P" })),
      ];
      const lines = records.map((record) => JSON.stringify(record)).join("\n");
      const imported = await world.program.ask("POST", `${shops}/tideline/import`, token, lines);
      assert.equal(imported.status, 200, imported.text);
      await use(world);
    });
  } finally {
    await fake.close();
  }
}

const shopify = (fake: FakeShopify, more: object = {}) => ({
  storefront: { kind: "shopify", domain: fake.domain, accessToken: fakeToken, ...more },
});

/** On PostgreSQL what a killed node was doing is another one's only after its lease. */
const { leaseMs } = outboxLimits;

/** An order of 10 of each variant that is under way; its id and its first line's. */
async function order({ program }: Connected, key: string) {
  const made = await program.ask("POST", orders, key, {
    supplierId: "mill",
    locationId: "1",
    lineItems: ["100", "101"].map((variantId) => ({ variantId, quantityOrdered: 10, unitCost: 2 })),
  });
  assert.equal(made.status, 201, made.text);
  const id = String(made.at("data", "purchaseOrder", "purchaseOrderId"));
  const sent = await program.ask("POST", `${orders}/${id}/status`, key, { status: "Sent" });
  assert.equal(sent.status, 200, sent.text);
  const confirmed = await program.ask("POST", `${orders}/${id}/confirm`, key, { confirmAll: true });
  assert.equal(confirmed.status, 200, confirmed.text);
  return { id, lineId: String(made.at("data", "purchaseOrder", "lineItems", 0, "poLineItemId")) };
}

const writeKey = async ({ program }: Connected): Promise<string> =>
  String(
    (await program.ask("POST", `${shops}/tideline/keys`, token, { name: "w", scope: "write" })).at("data", "apiKey"),
  );

const files = (directory: string): readonly string[] =>
  readdirSync(directory, { recursive: true, encoding: "utf8" })
    .map((name) => path.join(directory, name))
    .filter((file) => statSync(file).isFile());

test("an order goes from Sent to received in a connected store, survives a restart, and leaves nothing behind; the token is nowhere", () =>
  withStore(async (world) => {
    const { fake, directory, environment } = world;
    const texts: string[] = [];
    const ask = async (...args: Parameters<RunningProgram["ask"]>): Promise<Answered> => {
      const answered = await world.program.ask(...args);
      texts.push(answered.text, JSON.stringify([...answered.headers]));
      return answered;
    };
    const connected = await world.put(shopify(fake));
    texts.push(connected.text);
    assert.equal(connected.status, 200, connected.text);
    assert.deepEqual(connected.at("data", "shop", "storefront"), {
      kind: "shopify",
      domain: fake.domain,
      apiVersion: "2026-10",
      renewsToken: false,
    });
    const key = await writeKey(world);
    const { id, lineId } = await order(world, key);
    await until("incoming", () => fake.levelOf("100", "1").incoming === 10 && fake.levelOf("101", "1").incoming === 10);

    const ended = await world.program.end("SIGKILL");
    texts.push(ended.stdout, ended.stderr);
    world.program = await serveProgram(environment);
    const received = await ask("POST", `${orders}/${id}/receive`, key, {
      lines: [{ lineItemId: lineId, quantityReceived: 4 }],
    });
    assert.equal(received.status, 200, received.text);
    await until("received", () => fake.levelOf("100", "1").available === 4 && fake.levelOf("100", "1").incoming === 6);

    const status = await ask("GET", `${shops}/tideline/storefront`, token);
    assert.equal(status.at("data", "storefront", "kind"), "shopify");
    assert.equal(status.at("data", "storefront", "account"), fake.domain);
    assert.equal(status.at("data", "storefront", "lastError"), null);
    assert.equal(status.at("data", "storefront", "limits", "wholeQuantitiesOnly"), true);

    fake.levelOf("100", "1").incoming += 5;
    await until("settled", async () => {
      const left = await ask("PUT", `${shops}/tideline`, token, { storefront: { kind: "sandbox" } });
      if (left.status === 200) return true;
      assert.equal(left.at("error", "code"), "ON_HAND_SYNC_IN_FLIGHT", left.text);
      return false;
    });
    assert.deepEqual([fake.levelOf("100", "1").incoming, fake.levelOf("101", "1").incoming], [5, 0]);

    // This time by client id and secret: its token is exchanged.
    const { clientId, clientSecret } = fake;
    await until("connected again", async () => {
      const again = await world.put(shopify(fake, { accessToken: undefined, clientId, clientSecret }));
      texts.push(again.text);
      return again.status === 200;
    });
    await until(
      "told anew",
      () => fake.levelOf("100", "1").incoming === 11 && fake.levelOf("101", "1").incoming === 10,
    );

    for (const target of ["", "/export", "/storefront", "/audit-log", "/keys"])
      await ask("GET", `${shops}/tideline${target}`, token);
    await ask("GET", shops, token);
    await ask("GET", `${orders}/${id}/log`, key);
    const last = await world.program.end("SIGTERM");
    texts.push(last.stdout, last.stderr);
    const secrets = [fakeToken, clientSecret, ...fake.grants.map(({ token: granted }) => granted)];
    assert.ok(secrets.length > 2, "no token was exchanged");
    for (const secret of secrets) {
      for (const text of texts) assert.ok(!text.includes(secret), `a secret is in: ${text.slice(0, 300)}`);
      if (!onPostgres)
        for (const file of files(directory)) assert.ok(!readFileSync(file).includes(secret), `a secret is in ${file}`);
    }
    assert.ok(fake.calls.length > 0);
  }));

test("what cannot be connected is refused by its member, and changes nothing", () =>
  withStore(async (world) => {
    const { fake } = world;
    const refused = async (body: object, status: number, words: RegExp): Promise<void> => {
      const answered = await world.put(body);
      assert.equal(answered.status, status, answered.text);
      assert.match(answered.text, words);
      assert.ok(!answered.text.includes(fakeToken));
      const shop = await world.program.ask("GET", `${shops}/tideline`, token);
      assert.deepEqual(shop.at("data", "shop", "storefront"), { kind: "sandbox" });
    };
    await refused(shopify(fake, { accessToken: "shpat_wrong" }), 400, /\/storefront\/accessToken/);
    await refused(shopify(fake, { domain: "evil.example.com" }), 400, /\/storefront\/domain.*OPENPO_STOREFRONT_ALLOW/);
    await refused(shopify(fake, { domain: "a.b.myshopify.com" }), 400, /\/storefront\/domain/);
    await refused(shopify(fake, { apiVersion: "2026-1" }), 400, /apiVersion/);
    fake.scopes = new Set(["read_products", "write_inventory"]);
    await refused(shopify(fake), 400, /write_products.*read_locations|read_locations.*write_products/);
    fake.scopes = new Set(["write_products", "write_inventory", "read_locations"]);
    fake.currency = "EUR";
    await refused(shopify(fake), 400, /EUR.*USD/);
    fake.currency = "USD";
    fake.addLocation("1", { isActive: false });
    await refused(shopify(fake), 400, /location/);
    fake.addLocation("1");
    fake.servesVersion = "2027-01";
    await refused(shopify(fake), 400, /\/storefront\/apiVersion.*2027-01/);
    fake.servesVersion = null;
    fake.strike({ kind: "status", status: 302, headers: { location: "http://169.254.169.254/" } }, "Connect");
    await refused(shopify(fake), 400, /redirected/);
    fake.strike({ kind: "status", status: 503 }, "Connect");
    await refused(shopify(fake), 502, /UPSTREAM_STOREFRONT/);
    assert.equal((await world.put(shopify(fake))).status, 200);
  }));

test("a shop does not leave its store while a push has no known outcome; a new token for the same store is taken at any time", () =>
  withStore(async (world) => {
    const { fake } = world;
    assert.equal((await world.put(shopify(fake))).status, 200);
    const key = await writeKey(world);
    const { id, lineId } = await order(world, key);
    await until("incoming", () => fake.levelOf("100", "1").incoming === 10);
    fake.strike({ kind: "hang" }, "Adjust", 1);
    const lines = [{ lineItemId: lineId, quantityReceived: 4 }];
    const received = await world.program.ask("POST", `${orders}/${id}/receive`, key, { lines });
    assert.equal(received.status, 200, received.text);
    const left = await world.put({ storefront: { kind: "sandbox" } });
    assert.equal(left.status, 400, left.text);
    assert.equal(left.at("error", "code"), "ON_HAND_SYNC_IN_FLIGHT");
    assert.ok(Number(left.at("error", "retryAfterMs")) > 0);
    fake.token = "shpat_the_next_one_0123456789";
    assert.equal((await world.put(shopify(fake, { accessToken: fake.token }))).status, 200);
    await until("received once", () => fake.levelOf("100", "1").available === 4);
  }));

test("Shopify's webhooks are followed by a pull; whoever has not signed them is told nothing", () =>
  withStore(async (world) => {
    const { fake, program } = world;
    const connected = shopify(fake, { clientSecret: fake.clientSecret });
    assert.equal((await world.put(connected)).status, 200);
    const hint = async (shopId: string, headers: Readonly<Record<string, string>>, body = '{"id":1}') => {
      const response = await fetch(`${program.url}/storefront/shopify/${shopId}`, { method: "POST", headers, body });
      const { error }: { error?: { message: string; code: string } } = JSON.parse(await response.text());
      return { status: response.status, error: error?.message };
    };
    const signed = (body: string, secret = fake.clientSecret): Readonly<Record<string, string>> => ({
      "x-shopify-hmac-sha256": createHmac("sha256", secret).update(body).digest("base64"),
      "x-shopify-shop-domain": fake.domain,
    });
    const good = signed('{"id":1}');
    const refusals = [
      await hint("tideline", {}),
      await hint("tideline", signed('{"id":1}', "shpss_another")),
      await hint("tideline", good, '{"id":2}'),
      await hint("tideline", { ...good, "x-shopify-shop-domain": "other.myshopify.com" }),
      await hint("nobody", good),
      await hint("No Shop", good),
    ];
    assert.equal(refusals[0]?.status, 401);
    for (const refusal of refusals) assert.deepEqual(refusal, refusals[0]);
    const pull = async () =>
      (await program.ask("GET", `${shops}/tideline/storefront`, token)).at("data", "storefront", "pull");
    assert.equal((await hint("tideline", good)).status, 200);
    assert.equal(await pull(), null);
    const begun = await program.ask("POST", `${shops}/tideline/storefront/pull`, token, {});
    assert.equal(begun.status, 202, begun.text);
    // While it is under way: the next one begins by itself a minute after its end, which this test does not wait for.
    assert.equal((await hint("tideline", { ...good, "x-shopify-event-id": "e1" })).status, 200);
    assert.equal((await hint("tideline", { ...good, "x-shopify-event-id": "e1" })).status, 200);
  }));

test("a program that is killed inside calls of Shopify sends the same bytes under the same keys, and the changes are made once", () =>
  withStore(async (world) => {
    const { fake, environment } = world;
    assert.equal((await world.put(shopify(fake))).status, 200);
    const key = await writeKey(world);
    const first = await order(world, key);
    const second = await order(world, key);
    await until("incoming", () => fake.levelOf("100", "1").incoming === 20 && fake.levelOf("101", "1").incoming === 20);
    const bodies = () => fake.callsOf("Adjust").flatMap(({ body }) => (body.includes(onHand) ? [body] : []));
    const onHand = '"available"';
    const asked: Promise<unknown>[] = [];
    // The outcome of neither call is known when the program dies: one was not made, the other was.
    for (const [kind, { id, lineId }, quantityReceived] of [
      ["hang", first, 4],
      ["lost", second, 7],
    ] as const) {
      const before = bodies().length;
      fake.strike({ kind }, "Adjust", 1, onHand);
      const lines = [{ lineItemId: lineId, quantityReceived }];
      asked.push(world.program.ask("POST", `${orders}/${id}/receive`, key, { lines }).catch(() => null));
      await until("sent", () => bodies().length > before);
    }
    await world.program.end("SIGKILL");
    await Promise.all(asked);
    assert.equal(fake.levelOf("100", "1").available, 7);
    const sent = new Set(bodies());
    assert.equal(sent.size, 2);
    world.program = await serveProgram(environment);
    const isSentAgain = (body: string): boolean => bodies().filter((each) => each === body).length > 1;
    await until("sent again", () => [...sent].every(isSentAgain), leaseMs * 2);
    await until("received once", () => fake.levelOf("100", "1").available === 11);
    await until("told", () => fake.levelOf("100", "1").incoming === 9, leaseMs * 2);
    assert.equal(fake.levelOf("100", "1").available, 11);
    assert.equal(new Set(bodies()).size, 2);
  }));

test("goods taken back leave the average at the cost they came in at, though the program is killed while it tells Shopify", () =>
  withStore(async (world) => {
    const { fake, environment } = world;
    fake.setCost("100", "2.00");
    fake.setLevel("100", "1", 10);
    assert.equal((await world.put(shopify(fake))).status, 200);
    await takenBackThoughKilled({
      variantId: "100",
      locationId: "1",
      program: () => world.program,
      async kill() {
        await world.program.end("SIGKILL");
        world.program = await serveProgram(environment);
      },
      strike: (isMade) => fake.strike({ kind: isMade ? "lost" : "hang" }, "WriteCosts", 1),
      writes: () => fake.callsOf("WriteCosts").length,
      cost: () => fake.costOf("100"),
      available: () => fake.levelOf("100", "1").available,
    });
  }));

test("under another key reads go on, and what needs the token is refused naming the variable", () =>
  withStore(async (world) => {
    const { fake, environment } = world;
    assert.equal((await world.put(shopify(fake))).status, 200);
    const key = await writeKey(world);
    await world.program.end("SIGTERM");
    world.program = await serveProgram({ ...environment, OPENPO_SECRET_KEY: Buffer.alloc(32, 1).toString("base64") });
    assert.equal((await world.program.ask("GET", orders, key)).status, 200);
    const made = await world.program.ask("POST", orders, key, {
      supplierId: "mill",
      locationId: "1",
      lineItems: [{ variantId: "100", quantityOrdered: 1, unitCost: 2 }],
    });
    const id = String(made.at("data", "purchaseOrder", "purchaseOrderId"));
    const sent = await world.program.ask("POST", `${orders}/${id}/status`, key, { status: "Sent" });
    assert.equal(sent.status, 502, sent.text);
    assert.match(sent.text, /OPENPO_SECRET_KEY is not the key/);
    assert.equal((await world.put(shopify(fake))).status, 200);
    assert.equal((await world.program.ask("POST", `${orders}/${id}/status`, key, { status: "Sent" })).status, 200);
  }));

test("without OPENPO_SECRET_KEY no store is connected, and the answer says what to set", () =>
  withStore(
    async (world) => {
      const answered = await world.put(shopify(world.fake));
      assert.equal(answered.status, 400);
      assert.match(answered.text, /OPENPO_SECRET_KEY/);
      assert.equal(world.fake.calls.length, 0);
    },
    { OPENPO_SECRET_KEY: "" },
  ));

test("a key that is no key and a host that is none are refused at the start", async () => {
  for (const [name, value] of [
    ["OPENPO_SECRET_KEY", "too short"],
    ["OPENPO_STOREFRONT_ALLOW", "http://shop.example.com"],
    ["OPENPO_STOREFRONT_ALLOW", "https://user@shop.example.com"],
  ] as const) {
    const ended = await runProgram(["serve"], { [name]: value });
    assert.notEqual(ended.code, 0);
    assert.match(ended.stderr, new RegExp(name));
  }
});

test("the command connects with a token from stdin, shows the status, disconnects, and pulls with renewed tokens", () =>
  withStore(async ({ fake, environment, program }) => {
    const run = (args: readonly string[], stdin: string | null = null) =>
      runCommand(
        [...args, "--shop", "tideline", "--url", program.url],
        { ...environment, OPENPO_ADMIN_TOKEN: token },
        stdin,
      );
    const connected = await run(["storefront", "connect", "--domain", fake.domain], `${fakeToken}\n`);
    assert.equal(connected.code, 0, connected.stderr);
    const status = await run(["storefront", "status"]);
    assert.match(status.stdout, new RegExp(`shopify ${fake.domain}`));
    assert.equal((await run(["storefront", "disconnect"])).code, 0);
    assert.match((await run(["storefront", "status", "--json"])).stdout, /"kind":"sandbox"/);
    const sandbox = await run(["storefront", "pull"]);
    assert.notEqual(sandbox.code, 0);
    assert.match(sandbox.stderr, /sandbox.*nothing to pull/);
    const renewing = ["storefront", "connect", "--domain", fake.domain, "--client-id", fake.clientId];
    assert.equal((await run(renewing, `${fake.clientSecret}\n`)).code, 0);
    fake.addOrder("1", { processedAtMs: Date.now() - 86_400_000, lines: [{ variantId: "100", quantity: 3 }] });
    const pulled = await run(["storefront", "pull", "--json"]);
    assert.equal(pulled.code, 0, pulled.stderr);
    assert.match(pulled.stdout, /"state":"done".*"sales":1/);
    assert.match((await run(["storefront", "pull"])).stdout, /^Pulled: /);
    fake.strike({ kind: "status", status: 402 }, "PullLocations", 1);
    const failed = await run(["storefront", "pull"]);
    assert.notEqual(failed.code, 0);
    assert.match(failed.stderr, /pull has failed.*frozen/);
    const refused = await run(["storefront", "connect", "--domain", fake.domain], "shpat_wrong\n");
    assert.notEqual(refused.code, 0);
    assert.match(refused.stderr, /accessToken/);
  }));

test("a pull goes on after kills where it was, nothing is doubled, and forecast views then speak of what was sold", () =>
  withStore(async (world) => {
    const { fake, environment } = world;
    const dayMs = 86_400_000;
    for (let id = 1_000; id < 1_400; id += 1) fake.addVariant(String(id));
    fake.setLevel("100", "1", 20);
    // Two a day for a year, from a Monday on: a first week with fewer days would be a week of lower sales.
    const dayOfWeek = (new Date().getUTCDay() + 6) % 7;
    const days = 51 * 7 + dayOfWeek;
    for (let day = 1; day <= days; day += 1)
      fake.addOrder(String(day), {
        processedAtMs: Date.now() - day * dayMs,
        lines: [{ variantId: "100", quantity: 2 }],
        retailLocation: "1",
      });
    assert.equal((await world.put(shopify(fake))).status, 200);
    const view = {
      type: "forecastView",
      viewId: "all",
      viewName: "All",
      mode: "stock",
      columns: [
        "onHand",
        "sold30d",
        "dailyDemand",
        "leadTimeDays",
        "safetyStock",
        "reorderPoint",
        "needsReorder",
        "suggestedOrderQuantity",
      ],
    };
    const supplied = { type: "supplierVariant", supplierId: "mill", variantId: "100", unitCost: 2, leadTimeDays: 14 };
    const sent = [supplied, view].map((record) => JSON.stringify(record)).join("\n");
    const imported = await world.program.ask("POST", `${shops}/tideline/import`, token, sent);
    assert.equal(imported.status, 200, imported.text);
    const begun = await world.program.ask("POST", `${shops}/tideline/storefront/pull`, token, {});
    const pullId = begun.at("data", "pull", "pullId");
    const pull = async () => {
      const status = await world.program.ask("GET", `${shops}/tideline/storefront`, token);
      return (member: string, ...more: string[]) => status.at("data", "storefront", "pull", member, ...more);
    };
    const told: string[] = [];
    for (const call of ["PullLocations", "RunBulk", "BulkState"]) {
      const before = fake.callsOf(call).length;
      fake.strike({ kind: "hang" }, call, 1);
      await until(`at ${call}`, () => fake.callsOf(call).length > before);
      await world.program.end("SIGKILL");
      world.program = await serveProgram(environment);
      const now = await pull();
      assert.equal(now("pullId"), pullId);
      told.push(String(now("progress", "step")));
    }
    assert.deepEqual(told, ["locations", "variants", "variants"]);
    await until("done", async () => (await pull())("state") !== "running");
    const over = await pull();
    assert.deepEqual([over("pullId"), over("state"), over("error")], [pullId, "done", null]);
    assert.deepEqual([over("progress", "variants"), over("progress", "sales")], [402, days]);
    const key = await writeKey(world);
    const rows = await world.program.ask("GET", "/api/v1/forecast-views/all/rows?variantIds=100", key);
    assert.equal(rows.status, 200, rows.text);
    const figure = (name: string) => rows.at("data", "rows", 0, name);
    assert.deepEqual([figure("onHand"), figure("dailyDemand"), figure("needsReorder")], [20, 2, true]);
    // The 30 days are those with today.
    assert.equal(figure("sold30d"), 2 * 29);
  }));
