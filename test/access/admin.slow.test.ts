/**
 * The operator's side over HTTP (contract §7).
 */
import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { adminOperations } from "../../src/admin/registry.ts";
import { guessesAtOnceMax } from "../../src/admin/access/guesses.ts";
import { type Answered, type RunningProgram, serveProgram, withProgram } from "../support/process.ts";
import { makePlace, type StorePlace } from "../support/store.ts";
import { until } from "../support/until.ts";

const admin = "/admin/v1";

/** The error body of the specification, with this status and code. */
function assertFault(answered: Answered, status: number, code: string): void {
  assert.equal(answered.status, status, answered.text);
  assert.equal(answered.at("error", "code"), code);
  assert.equal(answered.at("error", "requestId"), answered.headers.get("x-request-id"));
  assert.equal(answered.headers.get("content-type"), "application/json");
}

async function makeShop(program: RunningProgram, token: string, shopId: string): Promise<void> {
  const made = await program.ask("PUT", `${admin}/shops/${shopId}`, token, { name: shopId, currencyCode: "EUR" });
  assert.equal(made.status, 201, made.text);
}

async function makeKey(program: RunningProgram, token: string, shopId: string, scope: string) {
  const made = await program.ask("POST", `${admin}/shops/${shopId}/keys`, token, { name: `${scope} key`, scope });
  assert.equal(made.status, 201, made.text);
  return { keyId: String(made.at("data", "keyId")), apiKey: String(made.at("data", "apiKey")) };
}

test("without the admin token everything is 401, also what is not there", async () => {
  await withProgram(async (program, token) => {
    await makeShop(program, token, "shop");
    const { apiKey } = await makeKey(program, token, "shop", "write");
    const routes = [...adminOperations.map(({ route }) => route), { method: "GET", path: "/nothing" }];
    const wrongTokens = ["", "x", `${token}x`, token.slice(0, -1), apiKey];
    // Side by side, since wrong tokens are answered late, but fewer than a process lets wait.
    for (const wrong of wrongTokens)
      await Promise.all(
        routes.map(async ({ method, path }) => {
          const target = admin + path.replaceAll(/\{\w+\}/g, "shop");
          const answered = await program.ask(method, target, wrong);
          assertFault(answered, 401, "UNAUTHORIZED");
          assert.equal(answered.headers.get("www-authenticate"), "Bearer");
        }),
      );
    assert.equal((await program.ask("GET", `${admin}/shops/shop`, token)).status, 200);
  });
});

test("a shop is created, changed member by member, listed with counts and deleted only when confirmed", async () => {
  await withProgram(async (program, token) => {
    const made = await program.ask("PUT", `${admin}/shops/shop-1`, token, { name: "One" });
    assert.equal(made.status, 201);
    assert.deepEqual(made.at("data", "shop", "settings"), {
      followOnWaitMs: 2000,
      confirmationWaitMs: 30000,
      autoSyncOnReceiving: true,
      costSyncMode: "unit-cost",
      onOrderTag: null,
      fxRates: {},
      rateLimit: { capacity: 120, refillPerSecond: 10 },
      timezone: "UTC",
      auditRetentionDays: 90,
      auditRetentionFloorDays: 30,
      emailOnSent: false,
      replyTo: null,
      unconfirmedDays: 3,
      approvalRules: [],
      approverRoles: ["owner"],
      approveOwnAgents: true,
      approvalDays: 7,
      approvalMails: true,
    });
    assert.deepEqual(made.at("data", "shop", "storefront"), { kind: "sandbox" });
    assertFault(
      await program.ask("PUT", `${admin}/shops/nameless`, token, { currencyCode: "EUR" }),
      400,
      "INVALID_INPUT",
    );
    assertFault(await program.ask("GET", `${admin}/shops/nameless`, token), 404, "NOT_FOUND");
    const same = await program.ask("PUT", `${admin}/shops/shop-1`, token, { plan: { restApi: true } });
    assert.equal(same.status, 200);
    assert.deepEqual(same.at("data", "shop", "name"), "One");
    const changed = await program.ask("PUT", `${admin}/shops/shop-1`, token, {
      name: "Uno",
      currencyCode: "EUR",
      plan: { restApi: false },
      settings: {
        fxRates: { USD: 0.9123456789 },
        onOrderTag: "coming",
        timezone: "Asia/Tokyo",
        auditRetentionDays: 37,
      },
    });
    assert.equal(changed.status, 200);
    const kept = await program.ask("PUT", `${admin}/shops/shop-1`, token, {
      name: "Uno",
      settings: { costSyncMode: "disabled" },
    });
    assert.deepEqual(kept.at("data", "shop", "settings"), {
      followOnWaitMs: 2000,
      confirmationWaitMs: 30000,
      autoSyncOnReceiving: true,
      costSyncMode: "disabled",
      onOrderTag: "coming",
      fxRates: { USD: 0.9123456789 },
      rateLimit: { capacity: 120, refillPerSecond: 10 },
      timezone: "Asia/Tokyo",
      auditRetentionDays: 37,
      auditRetentionFloorDays: 30,
      emailOnSent: false,
      replyTo: null,
      unconfirmedDays: 3,
      approvalRules: [],
      approverRoles: ["owner"],
      approveOwnAgents: true,
      approvalDays: 7,
      approvalMails: true,
    });
    assert.deepEqual(kept.at("data", "shop", "plan"), { restApi: false });
    const slower = await program.ask("PUT", `${admin}/shops/shop-1`, token, {
      name: "Uno",
      settings: { rateLimit: { refillPerSecond: 0.001 } },
    });
    assert.deepEqual(slower.at("data", "shop", "settings", "rateLimit"), { capacity: 120, refillPerSecond: 0.001 });
    await makeShop(program, token, "a-shop");
    const list = await program.ask("GET", `${admin}/shops`, token);
    assert.equal(list.at("data", "totalCount"), 2);
    assert.equal(list.at("data", "shops", 0, "shopId"), "a-shop");
    assert.deepEqual(list.at("data", "shops", 1, "counts"), {
      purchaseOrders: 0,
      suppliers: 0,
      locations: 0,
      variants: 0,
      apiKeys: 0,
    });

    for (const query of ["", "?confirm=", "?confirm=a-shop"])
      assertFault(await program.ask("DELETE", `${admin}/shops/shop-1${query}`, token), 400, "INVALID_INPUT");
    assert.equal((await program.ask("DELETE", `${admin}/shops/shop-1?confirm=shop-1`, token)).status, 200);
    assertFault(await program.ask("GET", `${admin}/shops/shop-1`, token), 404, "NOT_FOUND");
    // Nothing of it is left behind for a shop of the same name.
    await makeShop(program, token, "shop-1");
    assert.equal(
      (await program.ask("GET", `${admin}/shops/shop-1`, token)).at("data", "shop", "plan", "restApi"),
      true,
    );
  });
});

test("a bad member of a shop is refused by its name and changes nothing", async () => {
  await withProgram(async (program, token) => {
    await makeShop(program, token, "shop");
    const before = (await program.ask("GET", `${admin}/shops/shop`, token)).at("data", "shop", "updatedAt");
    const bad: readonly (readonly [object | string, string])[] = [
      [{ name: "" }, "/name"],
      [{ name: "n", colour: 1 }, "/colour"],
      [{ name: "n", shopId: "other" }, "/shopId"],
      [{ name: "n", currencyCode: "euro" }, "/currencyCode"],
      [{ name: "n", settings: { followOnWaitMs: -1 } }, "/settings/followOnWaitMs"],
      [{ name: "n", settings: { confirmationWaitMs: 30_001 } }, "/settings/confirmationWaitMs"],
      [{ name: "n", settings: { timezone: "Mars/Olympus" } }, "/settings/timezone"],
      [{ name: "n", settings: { auditRetentionDays: -1 } }, "/settings/auditRetentionDays"],
      [{ name: "n", settings: { fxRates: { EUR: 1 } } }, "/settings/fxRates/EUR"],
      [{ name: "n", settings: { fxRates: { USD: 0 } } }, "/settings/fxRates/USD"],
      [{ name: "n", settings: { rateLimit: { capacity: 0, refillPerSecond: 1 } } }, "/settings/rateLimit/capacity"],
      [
        { name: "n", settings: { rateLimit: { capacity: 1, refillPerSecond: 0.0004 } } },
        "/settings/rateLimit/refillPerSecond",
      ],
      [{ name: "n", settings: { speed: 1 } }, "/settings/speed"],
      [{ name: "n", storefront: { kind: "elsewhere" } }, "/storefront/kind"],
      [{ name: "n", plan: { restApi: "yes" } }, "/plan/restApi"],
    ];
    for (const [body, path] of bad) {
      const answered = await program.ask("PUT", `${admin}/shops/shop`, token, body);
      assertFault(answered, 400, "INVALID_INPUT");
      assert.equal(answered.at("error", "details", 0, "path"), path, answered.text);
    }
    for (const body of ["{", "[]", '{"name":"a","name":"b"}'])
      assertFault(await program.ask("PUT", `${admin}/shops/shop`, token, body), 400, "INVALID_INPUT");
    assertFault(await program.ask("PUT", `${admin}/shops/Bad_Id`, token, { name: "n" }), 400, "INVALID_INPUT");
    assertFault(await program.ask("GET", `${admin}/shops/shop?confirm=1`, token), 400, "INVALID_INPUT");
    assert.equal((await program.ask("GET", `${admin}/shops/shop`, token)).at("data", "shop", "updatedAt"), before);
    assert.equal((await program.ask("GET", `${admin}/shops`, token)).at("data", "totalCount"), 1);

    // The currency holds once there are amounts in it.
    await program.ask(
      "POST",
      `${admin}/shops/shop/import`,
      token,
      '{"type":"variant","variantId":"v","productId":"p","productName":"P"}',
    );
    const answered = await program.ask("PUT", `${admin}/shops/shop`, token, { name: "n", currencyCode: "USD" });
    assert.equal(answered.at("error", "details", 0, "path"), "/currencyCode");
  });
});

test("what the operator asks has its name in the counts, and so has what looks after the process", async () => {
  await withProgram(async (program, token) => {
    await makeShop(program, token, "shop");
    await program.ask("GET", `${admin}/shops/none`, token);
    await program.ask("GET", "/readyz", token);
    const { text } = await program.ask("GET", "/metrics", token);
    assert.match(text, /^openpo_requests_total\{operation="admin:shop_put",status="201"\} 1$/m);
    assert.match(text, /^openpo_requests_total\{operation="admin:shop_get",status="404"\} 1$/m);
    assert.match(text, /^openpo_requests_total\{operation="readyz",status="200"\} 1$/m);
    assert.doesNotMatch(text, /operation="unknown"/);
  });
});

test("wrong admin tokens are answered later each time and named in the log with their address; the right one never waits", async () => {
  await withProgram(async (program, adminToken) => {
    const answered = async (token: string, status: number): Promise<void> => {
      const answer = await program.ask("GET", "/admin/v1/shops", token);
      assert.equal(answer.status, status);
      assert.equal(answer.headers.get("x-content-type-options"), "nosniff");
    };
    const guessesIn = (stderr: string) => [
      ...stderr.matchAll(/"remoteAddress":"127\.0\.0\.1","guess":(\d+),"msg":"wrong admin token"/g),
    ];
    const counted: number[] = [];
    await until("the right one overtakes a wrong one in a round", async () => {
      const last = guessesAtOnceMax + 7;
      for (let guess = 1; guess < last; guess += 1) await answered("wrong", 401);
      const order: string[] = [];
      counted.push(...Array.from({ length: last }, (_, index) => index + 1));
      const waiting = answered("wrong", 401).then(() => order.push("wrong"));
      await until("it is counted", () => guessesIn(program.stderr).length === counted.length);
      await answered(adminToken, 200);
      order.push("right");
      await waiting;
      // The right one has ended the count.
      await answered("wrong", 401);
      await answered(adminToken, 200);
      counted.push(1);
      return order[0] === "right";
    });
    const { stderr } = await program.end("SIGTERM");
    const guesses = guessesIn(stderr);
    assert.deepEqual(
      guesses.map(([, guess]) => Number(guess)),
      counted,
    );
  });
});

/** These look at nothing but shops of their own, so they share a program. */
suite("on one program", () => {
  const token = "an-admin-token-for-tests";
  let served: { readonly place: StorePlace; readonly program: RunningProgram } | null = null;
  let shops = 0;

  before(async () => {
    const place = await makePlace();
    const env = { OPENPO_DATA_DIR: place.directory, OPENPO_ADMIN_TOKEN: token, OPENPO_DEMO: "0" };
    served = { place, program: await serveProgram(env) };
  });

  after(async () => {
    await served?.program.end("SIGTERM");
    await served?.place.remove();
  });

  /** Lets `use` work with a new shop. */
  async function withShop(use: (program: RunningProgram, token: string, shopId: string) => Promise<void>) {
    const { program } = served ?? assert.fail("no program runs");
    const shopId = `shop-${(shops += 1)}`;
    await makeShop(program, token, shopId);
    await use(program, token, shopId);
  }

  test("unknown paths are 404, unknown methods 405 with Allow, whatever the shop", async () => {
    await withShop(async (program) => {
      for (const path of ["", "/", "/shops/", "/Shops", "/shops/a/b", "/shops//keys", "/shops/%zz"])
        assertFault(await program.ask("GET", admin + path, token), 404, "NOT_FOUND");
      const allowed: Record<string, string> = {
        "/shops": "GET",
        "/shops/none": "DELETE, GET, PUT",
        "/shops/none/keys": "GET, POST",
        "/shops/none/import": "POST",
        "/shops/none/sandbox/faults": "PUT",
      };
      for (const [path, allow] of Object.entries(allowed)) {
        const answered = await program.ask("PATCH", admin + path, token);
        assertFault(answered, 405, "METHOD_NOT_ALLOWED");
        assert.equal(answered.headers.get("allow"), allow);
      }
      const bodies: Readonly<Record<string, object>> = {
        "/invitations": { name: "k", role: "viewer" },
        "/keys": { name: "k", scope: "read" },
        "/connections": { request: {}, decision: "deny", personId: null },
        "/webhook-endpoints": { url: "https://example.com", eventTypes: ["*"] },
        "/replay": { afterSequence: 0 },
        "/suppliers": { name: "k" },
        "/locations": { name: "k" },
        "/variants": { productName: "k" },
        "/merge": { into: "k" },
      };
      for (const { route, takesFile } of adminOperations) {
        const { method, path } = route;
        // Those that make a shop look for none.
        if (!path.includes("{shopId}") || method === "PUT" || path.endsWith("/restore")) continue;
        const queries: Readonly<Record<string, string>> = {
          "/open-lines": "?code=x",
          "/history": "?kind=supplier&id=x",
          "/supplier-figures": "?ids=x",
          "/variant-figures": "?ids=x",
        };
        const query = queries[path.slice(path.lastIndexOf("/"))] ?? "";
        const target = admin + path.replace("{shopId}", "none").replaceAll(/\{\w+\}/g, "x") + query;
        const made = bodies[path.slice(path.lastIndexOf("/"))] ?? {};
        const changed = path.endsWith("/variants") ? { rows: [{ code: "k" }] } : {};
        const body = method === "POST" && takesFile !== true ? made : method === "PATCH" ? changed : undefined;
        assertFault(await program.ask(method, target, token, body), 404, "NOT_FOUND");
      }
    });
  });

  test("an unknown query parameter is told which are known there (C11)", async () => {
    await withShop(async (program, token, shop) => {
      const answered = await program.ask("GET", `${admin}/shops/${shop}/suppliers?foo=1`, token);
      assertFault(answered, 400, "INVALID_INPUT");
      assert.match(answered.text, /foo: unknown query parameter; known here: search, ids, limit, cursor/);
    });
  });

  test("an id in a path that is longer than any id is an unknown id", async () => {
    await withShop(async (program, token, shop) => {
      const long = "x".repeat(201);
      const asks = [
        ["DELETE", `/shops/${shop}/keys/${long}`],
        ["PATCH", `/shops/${shop}/sandbox/variants/${long}`],
      ] as const;
      for (const [method, path] of asks)
        assertFault(
          await program.ask(method, admin + path, token, method === "PATCH" ? {} : undefined),
          404,
          "NOT_FOUND",
        );
    });
  });

  test("a key is shown once, works at once, and is refused from the next request after it is revoked", async () => {
    await withShop(async (program, token, shop) => {
      const { keyId, apiKey } = await makeKey(program, token, shop, "read");
      assert.match(apiKey, new RegExp(`^opo_${shop}_[0-9A-Za-z]{34}$`));
      assert.equal((await program.ask("GET", "/api/v1/purchase-orders", apiKey)).status, 200);
      const listed = await program.ask("GET", `${admin}/shops/${shop}/keys`, token);
      assert.ok(!listed.text.includes(apiKey));
      assert.equal(listed.at("data", "keys", 0, "lastFour"), apiKey.slice(-4));
      assert.notEqual(listed.at("data", "keys", 0, "lastUsedAt"), null);
      assert.equal(listed.at("data", "keys", 0, "revokedAt"), null);

      const revoked = await program.ask("DELETE", `${admin}/shops/${shop}/keys/${keyId}`, token);
      assert.equal(revoked.status, 200);
      assertFault(await program.ask("GET", "/api/v1/purchase-orders", apiKey), 401, "UNAUTHORIZED");
      const again = await program.ask("DELETE", `${admin}/shops/${shop}/keys/${keyId}`, token);
      assert.equal(again.at("data", "key", "revokedAt"), revoked.at("data", "key", "revokedAt"));
      assertFault(await program.ask("DELETE", `${admin}/shops/${shop}/keys/key_none`, token), 404, "NOT_FOUND");
      assertFault(
        await program.ask("POST", `${admin}/shops/${shop}/keys`, token, { name: "k", scope: "admin" }),
        400,
        "INVALID_INPUT",
      );
    });
  });

  test("on a start without a public address a request for approval names where the service listens (C77)", async () => {
    await withShop(async (program, token, shop) => {
      const { apiKey } = await makeKey(program, token, shop, "propose");
      const asked = await program.ask("POST", "/api/v1/purchase-orders", apiKey, {});
      assert.equal(asked.status, 202, asked.text);
      const id = String(asked.at("data", "approvalRequest", "approvalRequestId"));
      assert.equal(asked.at("data", "approvalRequest", "url"), `${program.url}/console/approvals/${id}`);
    });
  });

  test("the audit log tells every request newest first, page by page and by filter", async () => {
    await withShop(async (program, token, shop) => {
      const reader = await makeKey(program, token, shop, "read");
      const writer = await makeKey(program, token, shop, "write");
      const list = "/api/v1/purchase-orders";
      const requestIds: (string | null)[] = [];
      for (let round = 0; round < 4; round += 1) {
        requestIds.push((await program.ask("GET", list, reader.apiKey)).headers.get("x-request-id"));
        requestIds.push((await program.ask("POST", list, writer.apiKey, {})).headers.get("x-request-id"));
        requestIds.push((await program.ask("POST", list, reader.apiKey, {})).headers.get("x-request-id"));
      }
      const told: unknown[] = [];
      let cursor = "";
      do {
        const page = await program.ask("GET", `${admin}/shops/${shop}/audit-log?limit=5${cursor}`, token);
        // Of the operator are three: the shop and two keys were made.
        assert.equal(page.at("data", "totalCount"), 15);
        for (let row = 0; page.at("data", "auditLog", row) !== undefined; row += 1)
          told.push(page.at("data", "auditLog", row, "requestId"));
        const next = page.at("data", "cursor");
        cursor = typeof next === "string" ? `&cursor=${next}` : "";
      } while (cursor !== "");
      assert.deepEqual([told.slice(0, 12), told.length], [requestIds.toReversed(), 15]);

      const count = async (filter: string): Promise<unknown> =>
        (await program.ask("GET", `${admin}/shops/${shop}/audit-log?${filter}`, token)).at("data", "totalCount");
      assert.equal(await count(`keyId=${reader.keyId}`), 8);
      assert.equal(await count("operation=purchase_order_create"), 8);
      assert.equal(await count("status=403"), 4);
      assert.equal(await count(`operation=purchase_order_create&status=201&keyId=${writer.keyId}`), 4);
      const first = await program.ask("GET", `${admin}/shops/${shop}/audit-log?limit=5`, token);
      const foreign = `cursor=${String(first.at("data", "cursor"))}&status=403`;
      for (const query of [
        "limit=0",
        "limit=501",
        "limit=x",
        "status=ok",
        "surface=web",
        "surface=",
        "outcome=done,late",
        "cursor=abc",
        "limit=1&limit=2",
        "colour=1",
        "__proto__=1",
        "keyId=%zz",
        "keyId=%ff",
        foreign,
      ])
        assertFault(await program.ask("GET", `${admin}/shops/${shop}/audit-log?${query}`, token), 400, "INVALID_INPUT");
    });
  });

  test("a file comes in and goes out over HTTP, and sets the sandbox", async () => {
    await withShop(async (program, token, shop) => {
      const file = [
        { type: "location", locationId: "l", name: "L" },
        { type: "variant", variantId: "v", productId: "p", productName: "P", unitCost: 2.5, status: "inactive" },
        { type: "inventoryLevel", variantId: "v", locationId: "l", onHand: 7 },
        {
          type: "purchaseOrder",
          purchaseOrderId: "o",
          locationId: "l",
          status: "Sent",
          lineItems: [{ variantId: "v", quantityOrdered: 3 }],
        },
      ];
      const text = file.map((record) => JSON.stringify(record)).join("\n");
      const imported = await program.ask("POST", `${admin}/shops/${shop}/import`, token, text);
      assert.deepEqual(imported.at("data", "imported"), {
        location: 1,
        variant: 1,
        inventoryLevel: 1,
        purchaseOrder: 1,
      });

      const exported = await program.ask("GET", `${admin}/shops/${shop}/export`, token);
      assert.equal(exported.headers.get("content-type"), "application/x-ndjson");
      assert.ok(exported.headers.get("x-request-id")?.startsWith("req_"));
      assert.equal(exported.text.trimEnd().split("\n").length, file.length);
      await makeShop(program, token, `${shop}-copy`);
      assert.equal((await program.ask("POST", `${admin}/shops/${shop}-copy/import`, token, exported.text)).status, 200);
      assert.equal((await program.ask("GET", `${admin}/shops/${shop}-copy/export`, token)).text, exported.text);

      // Incoming follows by way of the outbox.
      const variant = async (): Promise<unknown> =>
        (await program.ask("GET", `${admin}/shops/${shop}/sandbox?variantIds=v`, token)).at("data", "variants", 0);
      const expected = {
        variantId: "v",
        status: "inactive",
        unitCost: 2.5,
        tags: [],
        levels: [{ locationId: "l", onHand: 7, incoming: 3 }],
      };
      await until(variant, async () => isDeepStrictEqual(await variant(), expected));

      const refused = await program.ask("POST", `${admin}/shops/${shop}/import`, token, `${text}\n{"type":"location"}`);
      assertFault(refused, 400, "INVALID_INPUT");
      assert.match(String(refused.at("error", "message")), /^line 5: \/locationId: is required/);
      assert.equal((await program.ask("GET", `${admin}/shops/${shop}/export`, token)).text, exported.text);
    });
  });

  test("the sandbox is looked at, changed and made to fail; an order then stops at its guard", async () => {
    await withShop(async (program, token, shop) => {
      const { apiKey } = await makeKey(program, token, shop, "write");
      const records = [
        '{"type":"location","locationId":"l","name":"L"}',
        '{"type":"variant","variantId":"v","productId":"p","productName":"P"}',
      ];
      await program.ask("POST", `${admin}/shops/${shop}/import`, token, records.join("\n"));
      const order = { locationId: "l", lineItems: [{ variantId: "v", quantityOrdered: 3 }] };
      const made = await program.ask("POST", "/api/v1/purchase-orders", apiKey, order);
      const status = `/api/v1/purchase-orders/${String(made.at("data", "purchaseOrder", "purchaseOrderId"))}/status`;

      const patched = await program.ask("PATCH", `${admin}/shops/${shop}/sandbox/variants/v`, token, {
        status: "inactive",
        levels: [{ locationId: "l", onHand: 4 }],
      });
      assert.equal(patched.at("data", "variant", "status"), "inactive");
      assertFault(await program.ask("POST", status, apiKey, { status: "Sent" }), 400, "INVENTORY_GUARD_ISSUES");
      await program.ask("PATCH", `${admin}/shops/${shop}/sandbox/variants/v`, token, { status: "active" });

      const faults = { faults: [{ call: "checkVariants", outcome: "error", times: 1 }] };
      assert.equal((await program.ask("PUT", `${admin}/shops/${shop}/sandbox/faults`, token, faults)).status, 200);
      assertFault(await program.ask("POST", status, apiKey, { status: "Sent" }), 502, "UPSTREAM_STOREFRONT");
      assert.equal((await program.ask("POST", status, apiKey, { status: "Sent" })).status, 200);
      const state = await program.ask("GET", `${admin}/shops/${shop}/sandbox`, token);
      assert.equal(state.at("data", "calls", "checkVariants"), 3);

      assertFault(
        await program.ask("PATCH", `${admin}/shops/${shop}/sandbox/variants/none`, token, {}),
        404,
        "NOT_FOUND",
      );
      for (const bad of [
        { faults: [{ call: "fly", outcome: "error" }] },
        { faults: [{ call: "*", outcome: "bad" }] },
        { latencyMs: -1 },
      ])
        assertFault(
          await program.ask("PUT", `${admin}/shops/${shop}/sandbox/faults`, token, bad),
          400,
          "INVALID_INPUT",
        );
    });
  });
});
