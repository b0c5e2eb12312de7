/** Connecting a shop to Medusa, by a program (C65, C67): over the fake, or with `npm run test:medusa` a real one. */
// Only on sqlite: its subject is the conversation with the storefront, which knows no engine.
import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { MedusaPlace } from "./place.ts";
import { setLevels, writeItem } from "./proxy.ts";
import { Selling } from "./selling.ts";
import { type Answered, type RunningProgram, runCommand, serveProgram, withDirectory } from "../../support/process.ts";
import { onPostgres } from "../../support/store.ts";
import { until } from "../../support/until.ts";
import { takenBackThoughKilled } from "../costs/taken-back.ts";

const token = "an-admin-token-for-tests";
const shops = "/admin/v1/shops";
const orders = "/api/v1/purchase-orders";
const secretKey = Buffer.alloc(32, 9).toString("base64");

interface Connected {
  readonly medusa: MedusaPlace;
  readonly directory: string;
  readonly locationId: string;
  readonly variantIds: readonly string[];
  program: RunningProgram;
  readonly environment: Readonly<Record<string, string>>;
  put(body: object): Promise<Answered>;
}

/** A program with the shop `tideline`, and a Medusa with a location and two variants, which the shop has too. */
async function withStore(use: (world: Connected) => Promise<void>, env: Record<string, string> = {}): Promise<void> {
  const medusa = await MedusaPlace.open();
  const locationId = await medusa.addLocation("Dock");
  const variantIds = await medusa.addVariants(2);
  try {
    await withDirectory(async (directory) => {
      const environment = {
        OPENPO_DATA_DIR: directory,
        OPENPO_ADMIN_TOKEN: token,
        OPENPO_DEMO: "0",
        OPENPO_SECRET_KEY: secretKey,
        OPENPO_STOREFRONT_ALLOW: medusa.proxy.url,
        OPENPO_LOG_LEVEL: "trace",
        ...env,
      };
      const world: Connected = {
        medusa,
        directory,
        locationId,
        variantIds,
        environment,
        program: await serveProgram(environment),
        put: (body) => world.program.ask("PUT", `${shops}/tideline`, token, body),
      };
      const made = await world.put({ name: "Tideline", currencyCode: "USD" });
      assert.equal(made.status, 201, made.text);
      const records = [
        { type: "location", locationId, name: "Dock" },
        { type: "supplier", supplierId: "mill", name: "Mill" },
        ...variantIds.map((variantId) => ({
          type: "variant",
          variantId,
          productId: `of ${variantId}`,
          productName: "P",
        })),
      ];
      const lines = records.map((record) => JSON.stringify(record)).join("\n");
      const imported = await world.program.ask("POST", `${shops}/tideline/import`, token, lines);
      assert.equal(imported.status, 200, imported.text);
      await use(world);
    });
  } finally {
    await medusa.close();
  }
}

const to = ({ proxy, key }: MedusaPlace, more: object = {}) => ({
  storefront: { kind: "medusa", url: proxy.url, secretKey: key, ...more },
});

const files = (directory: string): readonly string[] =>
  readdirSync(directory, { recursive: true, encoding: "utf8" })
    .map((name) => path.join(directory, name))
    .filter((file) => statSync(file).isFile());

test("an order goes from Sent to received in a connected Medusa, survives a kill, and leaves nothing behind; the key is nowhere", () =>
  withStore(async (world) => {
    const { medusa, directory, environment, locationId, variantIds } = world;
    const [first = "", second = ""] = variantIds;
    const texts: string[] = [];
    const ask = async (...args: Parameters<RunningProgram["ask"]>): Promise<Answered> => {
      const answered = await world.program.ask(...args);
      texts.push(answered.text, JSON.stringify([...answered.headers]));
      return answered;
    };
    const connected = await world.put(to(medusa, { url: `${medusa.proxy.url}/` }));
    texts.push(connected.text);
    assert.equal(connected.status, 200, connected.text);
    assert.deepEqual(connected.at("data", "shop", "storefront"), { kind: "medusa", url: medusa.proxy.url });
    const made = await ask("POST", `${shops}/tideline/keys`, token, { name: "w", scope: "write" });
    const key = String(made.at("data", "apiKey"));
    const created = await ask("POST", orders, key, {
      supplierId: "mill",
      locationId,
      lineItems: variantIds.map((variantId) => ({ variantId, quantityOrdered: 10, unitCost: 2.5 })),
    });
    const id = String(created.at("data", "purchaseOrder", "purchaseOrderId"));
    const lineIds = [0, 1].map((index) =>
      String(created.at("data", "purchaseOrder", "lineItems", index, "poLineItemId")),
    );
    for (const [step, body] of [
      ["status", { status: "Sent" }],
      ["confirm", { confirmAll: true }],
    ] as const) {
      const answered = await ask("POST", `${orders}/${id}/${step}`, key, body);
      assert.equal(answered.status, 200, answered.text);
    }
    const level = (variantId: string) => medusa.level(variantId, locationId);
    await until("incoming", async () => (await level(first)).incoming === 10 && (await level(second)).incoming === 10);

    // The process is killed while its push waits for an answer that never comes.
    medusa.proxy.strike(setLevels, { kind: "hang" }, 1, "stocked_quantity");
    const lines = [{ lineItemId: lineIds[0], quantityReceived: 4 }];
    const received = await ask("POST", `${orders}/${id}/receive`, key, { lines });
    assert.equal(received.status, 200, received.text);
    await until("cut off", () => medusa.proxy.unanswered === 1);
    const busy = await ask("PUT", `${shops}/tideline`, token, { storefront: { kind: "sandbox" } });
    assert.equal(busy.at("error", "code"), "ON_HAND_SYNC_IN_FLIGHT", busy.text);
    const ended = await world.program.end("SIGKILL");
    texts.push(ended.stdout, ended.stderr);
    world.program = await serveProgram(environment);
    await until("received once", async () => {
      const { stocked, incoming } = await level(first);
      const order = await ask("GET", `${orders}/${id}`, key);
      return (
        stocked === 4 && incoming === 6 && order.at("data", "purchaseOrder", "storefrontSyncState") !== "in-flight"
      );
    });
    const status = await ask("GET", `${shops}/tideline/storefront`, token);
    assert.equal(status.at("data", "storefront", "kind"), "medusa");
    assert.equal(status.at("data", "storefront", "account"), medusa.proxy.url);
    assert.deepEqual(status.at("data", "storefront", "limits"), {
      stockWrite: "absolute",
      wholeQuantitiesOnly: false,
      points: null,
    });

    await medusa.setLevel(first, locationId, { incoming_quantity: 11 });
    await until("left", async () => {
      const left = await ask("PUT", `${shops}/tideline`, token, { storefront: { kind: "sandbox" } });
      return left.status === 200;
    });
    assert.deepEqual([(await level(first)).incoming, (await level(second)).incoming], [5, 0]);
    await until("connected again", async () => (await world.put(to(medusa))).status === 200);
    await until("told anew", async () => (await level(first)).incoming === 11 && (await level(second)).incoming === 10);

    for (const target of ["", "/export", "/storefront", "/audit-log", "/keys"])
      await ask("GET", `${shops}/tideline${target}`, token);
    await ask("GET", shops, token);
    await ask("GET", `${orders}/${id}/log`, key);
    const last = await world.program.end("SIGTERM");
    texts.push(last.stdout, last.stderr);
    const encoded = Buffer.from(`${medusa.key}:`).toString("base64");
    for (const secret of [medusa.key, encoded.slice(0, -4)]) {
      for (const text of texts) assert.ok(!text.includes(secret), `the key is in: ${text.slice(0, 300)}`);
      if (!onPostgres)
        for (const file of files(directory)) assert.ok(!readFileSync(file).includes(secret), `the key is in ${file}`);
    }
    assert.ok(medusa.proxy.calls.length > 0);
  }));

test("goods taken back leave the average at the cost they came in at, though the program is killed while it tells Medusa", () =>
  withStore(async (world) => {
    const { medusa, environment, locationId, variantIds } = world;
    const [variantId = ""] = variantIds;
    await medusa.setLevel(variantId, locationId, { stocked_quantity: 10 });
    assert.equal((await world.put(to(medusa))).status, 200);
    await takenBackThoughKilled({
      variantId,
      locationId,
      program: () => world.program,
      async kill() {
        await world.program.end("SIGKILL");
        world.program = await serveProgram(environment);
      },
      strike: (isMade) => medusa.proxy.strike(writeItem, { kind: isMade ? "lost" : "swallow" }),
      writes: () => medusa.proxy.calls.filter(({ call }) => writeItem.test(call)).length,
      cost: () => medusa.costOf(variantId),
      available: async () => (await medusa.level(variantId, locationId)).stocked,
    });
  }));

test("what cannot be connected is refused by its member, and changes nothing", () =>
  withStore(async (world) => {
    const { medusa } = world;
    const refused = async (body: object, status: number, words: RegExp): Promise<void> => {
      const answered = await world.put(body);
      assert.equal(answered.status, status, answered.text);
      assert.match(answered.text, words);
      assert.ok(!answered.text.includes(medusa.key));
      const shop = await world.program.ask("GET", `${shops}/tideline`, token);
      assert.deepEqual(shop.at("data", "shop", "storefront"), { kind: "sandbox" });
    };
    await refused(to(medusa, { secretKey: "sk_wrong" }), 400, /\/storefront\/secretKey.*does not accept/);
    await refused(to(medusa, { secretKey: "pk_publishable" }), 400, /secretKey.*begins with sk_/);
    await refused(to(medusa, { url: "https://evil.example.com" }), 400, /\/storefront\/url.*OPENPO_STOREFRONT_ALLOW/);
    await refused(to(medusa, { url: medusa.proxy.url.replace("http:", "https:") }), 400, /\/storefront\/url/);
    await refused(to(medusa, { url: `${medusa.proxy.url}/admin` }), 400, /url.*without a path/);
    await refused(to(medusa, { url: medusa.proxy.url.replace("//", "//user@") }), 400, /url/);
    const stores = "GET /admin/stores";
    medusa.proxy.strike(stores, {
      kind: "body",
      body: '{"stores":[{"supported_currencies":[{"currency_code":"dkk"}]}]}',
    });
    await refused(to(medusa), 400, /sells in DKK and the shop counts in USD/);
    medusa.proxy.strike("GET /admin/stock-locations", { kind: "body", body: '{"stock_locations":[],"count":0}' });
    await refused(to(medusa), 400, /no stock location/);
    medusa.proxy.strike("GET /admin/inventory-items", { kind: "status", status: 403 });
    await refused(to(medusa), 400, /secretKey.*may not do it/);
    medusa.proxy.strike(stores, { kind: "status", status: 302, headers: { location: "http://169.254.169.254/" } });
    await refused(to(medusa), 400, /\/storefront\/url.*redirected/);
    medusa.proxy.strike(stores, { kind: "status", status: 404, body: "<html>" });
    await refused(to(medusa), 400, /\/storefront\/url.*no Medusa/);
    medusa.proxy.strike(stores, { kind: "status", status: 503 });
    await refused(to(medusa), 502, /UPSTREAM_STOREFRONT/);
    medusa.proxy.strike(stores, { kind: "swallow" });
    await refused(to(medusa), 504, /TIMEOUT/);
    assert.equal((await world.put(to(medusa))).status, 200);
  }));

test("the command connects with a key from stdin, shows the status, pulls and disconnects", () =>
  withStore(async ({ medusa, environment, program, variantIds, locationId }) => {
    const run = (args: readonly string[], stdin: string | null = null) =>
      runCommand(
        [...args, "--shop", "tideline", "--url", program.url],
        { ...environment, OPENPO_ADMIN_TOKEN: token },
        stdin,
      );
    const connect = ["storefront", "connect", "--medusa", medusa.proxy.url];
    const connected = await run(connect, `${medusa.key}\n`);
    assert.equal(connected.code, 0, connected.stderr);
    assert.match((await run(["storefront", "status"])).stdout, new RegExp(`medusa ${medusa.proxy.url}`));
    const [first = "", second = ""] = variantIds;
    await medusa.setLevel(first, locationId, { stocked_quantity: 7 });
    await new Selling(medusa, locationId).sell(first, 2);
    const pulled = await run(["storefront", "pull"]);
    assert.equal(pulled.code, 0, pulled.stderr);
    assert.match(pulled.stdout, /^Pulled: \d+ locations, \d+ variants, \d+ levels, \d+ sales/);
    const { id: productId } = await medusa.productOf(second);
    await medusa.deleteVariant(productId, second);
    const again = await run(["storefront", "pull", "--json"]);
    assert.match(again.stdout, /"scope":"changes".*"deleted":[1-9]/);
    const exported = await program.ask("GET", `${shops}/tideline/export`, token);
    const records = exported.text.split("\n");
    const level = JSON.stringify({ type: "inventoryLevel", variantId: first, locationId, onHand: 7 });
    assert.ok(records.includes(level), exported.text);
    const sold = records.filter((record) => record.startsWith(`{"type":"sale","variantId":"${first}"`));
    assert.match(sold.join("\n"), /^[^\n]*"quantity":2\}$/);
    assert.equal((await run(["storefront", "disconnect"])).code, 0);
    assert.match((await run(["storefront", "status", "--json"])).stdout, /"kind":"sandbox"/);
    assert.match((await run(["storefront", "pull"])).stderr, /sandbox.*nothing to pull/);
    const refused = await run(connect, "sk_wrong\n");
    assert.match(refused.stderr, /secretKey/);
    const both = await run([...connect, "--domain", "example.myshopify.com"], "");
    assert.equal(both.code, 2);
    assert.match(both.stderr, /--domain .* --medusa/);
    assert.equal((await run([...connect, "--api-version", "2026-10"], "")).code, 2);
  }));
