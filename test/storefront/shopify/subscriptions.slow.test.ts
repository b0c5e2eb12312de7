/** The webhooks that a connected store is asked for, and what the status says of the connection (C66a, C67), over the fake. */
// Only on sqlite: its subject is the conversation with the storefront, which knows no engine.
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { type RunningProgram, runCommand, serveProgram, withDirectory } from "../../support/process.ts";
import { allScopes, FakeShopify, fakeToken } from "./fake.ts";
import { until } from "../../support/until.ts";

const token = "an-admin-token-for-tests";
const tideline = "/admin/v1/shops/tideline";

interface World {
  readonly fake: FakeShopify;
  program: RunningProgram;
  readonly env: Readonly<Record<string, string>>;
  /** Starts the service anew with this public address; null: without one. */
  restarted(publicUrl: string | null): Promise<void>;
  put(body: object): ReturnType<RunningProgram["ask"]>;
  webhooks(): Promise<{ readonly state: string; readonly reason: string | null; readonly address: string | null }>;
}

async function withStore(use: (world: World) => Promise<void>): Promise<void> {
  const fake = await new FakeShopify().listen();
  fake.addVariant("100");
  fake.addLocation("1");
  try {
    await withDirectory(async (directory) => {
      const env = {
        OPENPO_DATA_DIR: directory,
        OPENPO_ADMIN_TOKEN: token,
        OPENPO_DEMO: "0",
        OPENPO_SECRET_KEY: Buffer.alloc(32, 9).toString("base64"),
        OPENPO_STOREFRONT_ALLOW: `http://${fake.domain}`,
      };
      const serve = (publicUrl: string | null): Promise<RunningProgram> =>
        serveProgram(publicUrl === null ? env : { ...env, OPENPO_PUBLIC_URL: publicUrl });
      const world: World = {
        fake,
        env,
        program: await serve("https://one.example.com"),
        async restarted(publicUrl) {
          await world.program.end("SIGTERM");
          world.program = await serve(publicUrl);
        },
        put: (body) => world.program.ask("PUT", tideline, token, body),
        async webhooks() {
          const status = await world.program.ask("GET", `${tideline}/storefront`, token);
          return status.at("data", "storefront", "webhooks") as Awaited<ReturnType<World["webhooks"]>>;
        },
      };
      const made = await world.put({ name: "Tideline", currencyCode: "USD" });
      assert.equal(made.status, 201, made.text);
      await use(world);
      await world.program.end("SIGTERM");
    });
  } finally {
    await fake.close();
  }
}

const connection = (fake: FakeShopify, more: object = {}) => ({
  storefront: {
    kind: "shopify",
    domain: fake.domain,
    accessToken: fakeToken,
    clientSecret: fake.clientSecret,
    ...more,
  },
});

const hintsOf = (origin: string): string => `${origin}/storefront/shopify/tideline`;

const addressesOf = (fake: FakeShopify): readonly string[] =>
  [...new Set([...fake.subscriptions.values()].map(({ uri }) => uri))].toSorted();

const topics = [
  "INVENTORY_ITEMS_UPDATE",
  "INVENTORY_LEVELS_CONNECT",
  "INVENTORY_LEVELS_DISCONNECT",
  "INVENTORY_LEVELS_UPDATE",
  "ORDERS_CREATE",
  "ORDERS_UPDATED",
  "PRODUCTS_CREATE",
  "PRODUCTS_DELETE",
  "PRODUCTS_UPDATE",
];

const topicsOf = (fake: FakeShopify): readonly string[] =>
  [...fake.subscriptions.values()].map(({ topic }) => topic).toSorted();

test("when the store was called last is known once it is connected, after a restart and after a new connection; a store that was left tells nothing", () =>
  withStore(async (world) => {
    const { fake } = world;
    const connectionNow = async () => {
      const status = await world.program.ask("GET", `${tideline}/storefront`, token);
      return [status.at("data", "storefront", "lastCallAt"), status.at("data", "storefront", "lastError")] as const;
    };
    assert.equal((await world.put(connection(fake))).status, 200);
    const [connectedAt] = await connectionNow();
    /** To the minute: a call waits for no write. */
    const isKnown = (at: unknown): boolean => Date.parse(String(at)) > Date.parse(String(connectedAt)) - 60_000;
    await world.restarted(null);
    assert.ok(isKnown((await connectionNow())[0]));
    fake.strike({ kind: "status", status: 503 }, "Subscriptions", 10);
    await world.restarted("https://two.example.com");
    assert.equal((await world.program.ask("POST", `${tideline}/storefront/webhooks`, token)).status, 200);
    const failed = await connectionNow();
    assert.match(JSON.stringify(failed[1]), /503/);
    await world.restarted(null);
    assert.deepEqual((await connectionNow())[1], failed[1]);
    assert.equal((await world.put({ storefront: { kind: "sandbox" } })).status, 200);
    assert.deepEqual(await connectionNow(), [null, null]);
    assert.equal((await world.put(connection(fake))).status, 200);
    assert.ok(isKnown((await connectionNow())[0]));
  }));

test("a store is asked once for its webhooks when it is connected, at the new address after that has changed, and for none when it is left", () =>
  withStore(async (world) => {
    const { fake } = world;
    fake.subscriptions.set("gid://shopify/WebhookSubscription/900", {
      topic: "PRODUCTS_UPDATE",
      uri: "https://another-app.example.com/",
      includeFields: [],
    });
    assert.equal((await world.put(connection(fake))).status, 200);
    const another = "https://another-app.example.com/";
    const one = hintsOf("https://one.example.com");
    assert.deepEqual(addressesOf(fake), [another, one]);
    assert.deepEqual(topicsOf(fake), [...topics, "PRODUCTS_UPDATE"].toSorted());
    for (const { uri, includeFields } of fake.subscriptions.values())
      if (uri === one) assert.equal(includeFields.length, 1, "a store sends customers' data");
    const { state, address, reason } = await world.webhooks();
    assert.deepEqual({ state, address, reason }, { state: "on", address: one, reason: null });

    const asked = fake.callsOf("Subscribe").length;
    assert.equal((await world.put(connection(fake))).status, 200);
    assert.equal(fake.callsOf("Subscribe").length, asked, "what is there was asked for again");

    // What is asked for is what the receiver takes.
    const body = '{"id":1}';
    const signature = createHmac("sha256", fake.clientSecret).update(body).digest("base64");
    const hinted = await fetch(world.program.url + new URL(one).pathname, {
      method: "POST",
      headers: { "x-shopify-hmac-sha256": signature, "x-shopify-shop-domain": fake.domain },
      body,
    });
    assert.equal(hinted.status, 200);

    await world.restarted("https://two.example.com");
    const two = hintsOf("https://two.example.com");
    const moved = await world.webhooks();
    assert.equal(moved.state, "incomplete");
    assert.match(moved.reason ?? "", /at https:\/\/one.*at https:\/\/two/);
    const pulled = await world.program.ask("POST", `${tideline}/storefront/pull`, token, {});
    assert.equal(pulled.status, 202, pulled.text);
    assert.deepEqual(addressesOf(fake), [another, two]);
    assert.equal((await world.webhooks()).state, "on");

    const left = await world.put({ storefront: { kind: "sandbox" } });
    assert.equal(left.status, 200, left.text);
    assert.equal(left.at("data", "warnings"), undefined);
    assert.deepEqual(addressesOf(fake), [another]);
    const sandbox = await world.program.ask("GET", `${tideline}/storefront`, token);
    assert.equal(sandbox.at("data", "storefront", "webhooks"), null);
  }));

test("a store that refuses, fails or hangs stays connected; the status says what is open, and it can be asked again", () =>
  withStore(async (world) => {
    const { fake } = world;
    fake.topicsRefused.add("ORDERS_CREATE");
    assert.equal((await world.put(connection(fake))).status, 200);
    const refused = await world.webhooks();
    assert.equal(refused.state, "incomplete");
    assert.match(refused.reason ?? "", /ORDERS_CREATE \(This app is not approved/);
    assert.equal(fake.subscriptions.size, topics.length - 1);
    fake.topicsRefused.clear();
    const run = (...args: readonly string[]) =>
      runCommand(["storefront", ...args, "--shop", "tideline", "--url", world.program.url], {
        OPENPO_ADMIN_TOKEN: token,
      });
    const again = await run("webhooks");
    assert.equal(again.code, 0, again.stderr);
    assert.ok(again.stdout.includes(hintsOf("https://one.example.com")), again.stdout);
    assert.deepEqual(topicsOf(fake), topics);

    fake.subscriptions.clear();
    fake.strike({ kind: "status", status: 500 }, "Subscriptions");
    assert.equal((await world.put(connection(fake))).status, 200);
    const failed = await run("status");
    assert.match(failed.stdout, /^webhooks {4}incomplete .*HTTP 500.*Ask the store again/m);
    assert.match(failed.stdout, /^token {7}no end is known, not renewed$/m);
    assert.match(failed.stdout, /^scopes {6}.*read_locations.*write_products$/m);
    assert.doesNotMatch(failed.stdout, /^missing/m);

    // A store that drops them is asked again by the next pull that somebody asks for.
    assert.equal((await world.program.ask("POST", `${tideline}/storefront/pull`, token, {})).status, 202);
    assert.deepEqual(topicsOf(fake), topics);

    fake.strike({ kind: "status", status: 500 }, "Unsubscribe");
    const left = await world.put({ storefront: { kind: "sandbox" } });
    assert.equal(left.status, 200, left.text);
    assert.match(String(left.at("data", "warnings", 0)), /not taken back.*HTTP 500/);
  }));

test("a store is not asked where it could not reach the service or nothing could be checked, and the status says what to set", () =>
  withStore(async (world) => {
    const { fake } = world;
    const off = async (words: RegExp): Promise<void> => {
      const { state, reason } = await world.webhooks();
      assert.equal(state, "off");
      assert.match(reason ?? "", words);
      const asked = await world.program.ask("POST", `${tideline}/storefront/webhooks`, token, {});
      assert.equal(asked.status, 400, asked.text);
      assert.equal(fake.callsOf("Subscribe").length, 0);
    };
    const none = await world.program.ask("POST", `${tideline}/storefront/webhooks`, token, {});
    assert.equal(none.status, 400);
    assert.match(none.text, /sandbox/);
    assert.equal((await world.put(connection(fake, { clientSecret: undefined }))).status, 200);
    await off(/client secret/);
    await world.restarted("http://127.0.0.1:8080");
    await off(/https addresses alone.*127\.0\.0\.1/);
    await world.restarted(null);
    await off(/does not know under which address/);
    assert.equal((await world.put(connection(fake))).status, 200);
    await off(/does not know under which address/);
  }));

test("the status tells until when a token holds and which sales the scopes show; orders that cannot be read are not asked for", () =>
  withStore(async (world) => {
    const { fake } = world;
    fake.scopes = new Set(allScopes.filter((scope) => !scope.endsWith("orders")));
    const { clientId, clientSecret } = fake;
    const beforeMs = Date.now();
    const connected = await world.put(connection(fake, { accessToken: undefined, clientId, clientSecret }));
    assert.equal(connected.status, 200, connected.text);
    const status = await world.program.ask("GET", `${tideline}/storefront`, token);
    assert.equal(status.at("data", "storefront", "token", "renews"), true);
    const expiresAt = String(status.at("data", "storefront", "token", "expiresAt"));
    const fromNowMs = 86_400_000;
    assert.ok(Date.parse(expiresAt) > beforeMs + fromNowMs - 3_600_000, expiresAt);
    assert.ok(Date.parse(expiresAt) <= Date.now() + fromNowMs, expiresAt);
    assert.deepEqual(status.at("data", "storefront", "scopes", "missing"), ["read_orders", "read_all_orders"]);
    assert.deepEqual(status.at("data", "storefront", "scopes", "granted"), [...fake.scopes].toSorted());
    assert.deepEqual(
      topicsOf(fake),
      topics.filter((topic) => !topic.startsWith("ORDERS")),
    );
    assert.equal((await world.webhooks()).state, "on");
    for (const secret of [clientSecret, ...fake.grants.map((grant) => grant.token)])
      assert.ok(!status.text.includes(secret) && !connected.text.includes(secret));
  }));

test("a program that is killed while it asks a store knows where it has asked, and asking again leaves nothing doubled or behind", () =>
  withStore(async (world) => {
    const { fake } = world;
    fake.strike({ kind: "lost" }, "Subscribe");
    fake.strike({ kind: "hang" }, "Subscribe");
    const asked = world.put(connection(fake)).catch(() => null);
    await until("the store is asked", () => fake.callsOf("Subscribe").length > 0);
    await world.program.end("SIGKILL");
    await asked;
    const told = fake.subscriptions.size;
    assert.equal(told, 1, "the call whose answer was lost has landed");
    fake.faults.length = 0;

    // At another address, too, what was asked for before is known and taken back.
    await world.restarted("https://two.example.com");
    const { state, address } = await world.webhooks();
    assert.deepEqual({ state, address }, { state: "incomplete", address: hintsOf("https://one.example.com") });
    const again = await world.program.ask("POST", `${tideline}/storefront/webhooks`, token, {});
    assert.equal(again.at("data", "webhooks", "state"), "on", again.text);
    assert.deepEqual(addressesOf(fake), [hintsOf("https://two.example.com")]);
    assert.deepEqual(topicsOf(fake), topics);
  }));
