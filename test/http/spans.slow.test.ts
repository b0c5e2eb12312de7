/**
 * What a tracer is told (C6b), by a program that a recording tracer is loaded into, and what neither it nor the log nor the audit log may
 * tell (H5).
 */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { z } from "zod";
import { type RunningProgram, serveProgram, withDirectory } from "../support/process.ts";
import { startReceiver } from "../support/peers/receiver.ts";
import { until } from "../support/until.ts";

const spanSchema = z.strictObject({
  name: z.string(),
  kind: z.int(),
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().nullable(),
  links: z.array(z.string()),
  attributes: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
  status: z.object({ code: z.int() }).strict().nullable(),
});

type Recorded = z.output<typeof spanSchema>;

const adminToken = "the-admin-token-of-the-spans";
const shop = "/admin/v1/shops/shop";
const order = "/api/v1/purchase-orders/po_1";
const callerSpan = "00f067aa0ba902b7";
const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";

interface Traced {
  readonly env: Readonly<Record<string, string>>;
  /** All spans so far. */
  readonly spans: () => readonly Recorded[];
  /** Waits until they have what is wanted. */
  readonly until: (wanted: (spans: readonly Recorded[]) => boolean, waitMs?: number) => Promise<readonly Recorded[]>;
}

/** The environment of programs that record their spans. */
async function withTracer(use: (traced: Traced) => Promise<void>): Promise<void> {
  await withDirectory(async (directory) => {
    const file = `${directory}.spans`;
    const preload = pathToFileURL(path.join(import.meta.dirname, "../support/programs/recording-tracer.ts")).href;
    const spans = (): readonly Recorded[] =>
      existsSync(file)
        ? readFileSync(file, "utf8")
            .split("\n")
            .flatMap((line) => (line === "" ? [] : [spanSchema.parse(JSON.parse(line))]))
        : [];
    await use({
      env: {
        OPENPO_DATA_DIR: directory,
        OPENPO_ADMIN_TOKEN: adminToken,
        OPENPO_DEMO: "0",
        OPENPO_LOG_LEVEL: "debug",
        OPENPO_WEBHOOK_ALLOW: "127.0.0.0/8",
        OPENPO_WEBHOOK_HTTP: "1",
        OPENPO_TEST_SPANS: file,
        NODE_OPTIONS: `--import=${preload} --disable-warning=ExperimentalWarning`,
      },
      spans,
      async until(wanted, waitMs = 30_000) {
        return until(
          spans,
          () => {
            const found = spans();
            return wanted(found) && found;
          },
          waitMs,
        );
      },
    });
  });
}

/** A shop with an order of ten pieces that is In Progress. */
async function makeOrder(program: RunningProgram, more: object = {}): Promise<string> {
  const done = async (method: string, target: string, body: object | string): Promise<unknown> => {
    const answered = await program.ask(method, target, adminToken, body);
    assert.ok(answered.status < 300, answered.text);
    return answered.at("data", "apiKey");
  };
  await done("PUT", shop, { name: "Shop", currencyCode: "EUR" });
  const records = [
    { type: "location", locationId: "warehouse", name: "Warehouse" },
    { type: "supplier", supplierId: "mill", name: "Canary Mill", currencyCode: "EUR" },
    { type: "variant", variantId: "red", productId: "p", productName: "Shirt", unitCost: 1 },
    { type: "supplierVariant", supplierId: "mill", variantId: "red", unitCost: 1, unitCostCurrencyCode: "EUR" },
    {
      type: "purchaseOrder",
      purchaseOrderId: "po_1",
      status: "In Progress",
      supplierId: "mill",
      locationId: "warehouse",
      lineItems: [{ poLineItemId: "a", variantId: "red", quantityOrdered: 10, unitCost: 4 }],
      ...more,
    },
  ];
  await done("POST", `${shop}/import`, records.map((record) => `${JSON.stringify(record)}\n`).join(""));
  return String(await done("POST", `${shop}/keys`, { name: "bot", scope: "write" }));
}

const received = (quantityReceived: number) => ({ lines: [{ lineItemId: "a", quantityReceived }] });

test("a tracer is told of six kinds of steps, each under the one that it belongs to", () =>
  withTracer(async ({ env, until }) => {
    const receiver = await startReceiver();
    const program = await serveProgram(env);
    try {
      const key = await makeOrder(program);
      const endpoint = { url: receiver.url, eventTypes: ["purchase_order.*"] };
      assert.equal((await program.ask("POST", `${shop}/webhook-endpoints`, adminToken, endpoint)).status, 201);
      const headers = { traceparent: `00-${traceId}-${callerSpan}-01`, "Idempotency-Key": "k1" };
      const answered = await program.ask("POST", `${order}/receive`, key, received(3), headers);
      assert.equal(answered.status, 200, answered.text);
      const inTrace = (all: readonly Recorded[]): readonly Recorded[] => all.filter((span) => span.traceId === traceId);
      const isPush = ({ attributes }: Recorded): boolean => attributes["openpo.effect.kind"] === "push-stock";
      await until((all) => inTrace(all).some(isPush) && inTrace(all).some(({ name }) => name === "webhook.attempt"));
      assert.equal((await program.ask("POST", `${order}/receive`, key, received(3), headers)).status, 200);
      const spans = inTrace(await until((all) => all.some(({ attributes }) => attributes["openpo.replayed"] === true)));

      const named = (name: string): readonly Recorded[] => spans.filter((span) => span.name === name);
      const [request, replay] = named("openpo.request");
      assert.deepEqual(request?.attributes, {
        "http.request.method": "POST",
        "http.response.status_code": 200,
        "openpo.operation": "purchase_order_receive",
        "openpo.request.id": answered.headers.get("x-request-id"),
        "openpo.shop.id": "shop",
        "openpo.replayed": false,
      });
      assert.equal(replay?.attributes["openpo.replayed"], true);
      const push = named("effect.attempt").find(isPush);
      assert.deepEqual(push?.attributes, {
        "openpo.shop.id": "shop",
        "openpo.effect.kind": "push-stock",
        "openpo.effect.count": 1,
        "openpo.effect.attempt": 1,
        "openpo.effect.outcome": "applied",
      });
      const parents = (name: string): readonly (string | null)[] => [
        ...new Set(named(name).map(({ parentSpanId }) => parentSpanId)),
      ];
      assert.deepEqual(parents("openpo.request"), [callerSpan]);
      for (const name of ["queue.wait", "shop.commit", "storefront.checkVariants", "effect.attempt", "webhook.attempt"])
        assert.deepEqual(parents(name), [request?.spanId], name);
      assert.deepEqual(parents("storefront.changeOnHand"), [push?.spanId]);
      const kinds = new Set(spans.map(({ name }) => name.replace(/^storefront\..*/, "storefront.*")));
      assert.deepEqual([...kinds].toSorted(), [
        "effect.attempt",
        "openpo.request",
        "queue.wait",
        "shop.commit",
        "storefront.*",
        "webhook.attempt",
      ]);
      const [sent] = named("webhook.attempt");
      assert.equal(sent?.attributes["http.response.status_code"], 204);
      assert.equal(receiver.received[0]?.headers["traceparent"], `00-${traceId}-${sent?.spanId}-01`);
      const audit = await program.ask("GET", `${shop}/audit-log`, adminToken);
      assert.equal(audit.at("data", "auditLog", 1, "spanId"), request?.spanId, "the audit log has the span's id");
      assert.ok(
        spans.every(({ status }) => status === null),
        "nothing has failed",
      );
    } finally {
      await program.end("SIGTERM");
      await receiver.close();
    }
  }));

test("an attempt after a crash is in the trace of the request, and a refusal is no failure", () =>
  withTracer(async ({ env, until }) => {
    let program = await serveProgram(env);
    const key = await makeOrder(program);
    const strike = async (faults: readonly object[]): Promise<void> => {
      const answered = await program.ask("PUT", `${shop}/sandbox/faults`, adminToken, { faults });
      assert.equal(answered.status, 200, answered.text);
    };
    await strike([{ call: "changeOnHand", outcome: "error" }]);
    const headers = { traceparent: `00-${traceId}-${callerSpan}-01` };
    assert.equal((await program.ask("POST", `${order}/receive`, key, received(3), headers)).status, 200);
    const refused = await program.ask("POST", `${order}/receive`, key, received(99), headers);
    assert.equal(refused.status, 400, refused.text);
    const isFailed = ({ name, status }: Recorded): boolean => name === "storefront.changeOnHand" && status !== null;
    const isRefusal = ({ attributes }: Recorded): boolean => attributes["openpo.refusal"] === "INVALID_INPUT";
    await until((all) => all.some(isFailed) && all.some(isRefusal));
    await program.end("SIGKILL");
    program = await serveProgram(env);
    await strike([]);
    const pushes = (all: readonly Recorded[]): readonly Recorded[] =>
      all.filter(({ attributes }) => attributes["openpo.effect.kind"] === "push-stock");
    // Should the crash have met an attempt, a node among others waits for the end of its lease.
    const spans = await until(
      (all) => pushes(all).some(({ attributes }) => attributes["openpo.effect.outcome"] === "applied"),
      45_000,
    );
    const request = spans.find(({ attributes }) => attributes["openpo.operation"] === "purchase_order_receive");
    for (const push of pushes(spans)) {
      assert.deepEqual([push.traceId, push.parentSpanId], [traceId, request?.spanId]);
      assert.equal(push.status === null, push.attributes["openpo.effect.outcome"] === "applied");
    }
    const failed = spans.find(isFailed);
    assert.equal(failed?.attributes["error.type"], "error");
    const refusal = spans.find(isRefusal);
    assert.deepEqual([refusal?.name, refusal?.status], ["openpo.request", null]);
    await program.end("SIGTERM");
  }));

test("no secret, body, name or address reaches a span, a log line or the audit log", () =>
  withTracer(async ({ env, spans, until }) => {
    const receiver = await startReceiver();
    const program = await serveProgram(env);
    const address = { address1: "7 Canary Row", city: "Canaryville", countryCode: "DE" };
    const key = await makeOrder(program, { note: "canary note", shippingAddress: address });
    const ask = async (
      method: string,
      target: string,
      token: string,
      body?: unknown,
      headers = {},
    ): Promise<string> => {
      const answered = await program.ask(method, target, token, body, headers);
      return answered.text;
    };
    receiver.answer = (response) => void response.writeHead(500).end("canary answer");
    const hook = { url: `${receiver.url}?token=canary-url`, eventTypes: ["*"], description: "canary description" };
    const endpoint = await program.ask("POST", `${shop}/webhook-endpoints`, adminToken, hook);
    assert.equal(endpoint.status, 201, endpoint.text);
    const wrongKey = `opo_shop_${"c4n4ry".repeat(5)}123456`;
    await ask("POST", "/api/v1/purchase-orders", key, {
      supplierId: "mill",
      note: "canary body",
      billingAddress: address,
    });
    await ask("POST", `${order}/receive`, key, received(4));
    await ask("POST", `${order}/receive`, key, '{"canary": "broken');
    await ask("PATCH", order, key, { canary: "unknown member", note: "canary note" });
    await ask("GET", "/api/v1/purchase-orders?search=canary-query", key);
    await ask("GET", `/api/v1/purchase-orders/${key}`, key);
    await ask("GET", "/api/v1/purchase-orders", wrongKey);
    await ask("GET", `/admin/v1/shops`, `${adminToken}-wrong`);
    await ask("POST", `${shop}/import`, adminToken, '{"type":"supplier","supplierId":"x","canary":"line"}\n');
    await ask("POST", `${shop}/invitations`, adminToken, { name: "Canary Person", role: "viewer" });
    const call = {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "canary", arguments: { note: "canary" } },
    };
    await ask("POST", "/mcp", key, call, { Accept: "application/json, text/event-stream" });
    // What an assistant connects with, right or wrong.
    const secretOf = (kind: string): string => `${kind}_shop_${"c4n4ry".repeat(5)}1234`;
    await ask("POST", "/mcp", secretOf("opt"), call, { Accept: "application/json, text/event-stream" });
    const asForm = { "Content-Type": "application/x-www-form-urlencoded" };
    for (const form of [
      {
        grant_type: "authorization_code",
        code: secretOf("opg"),
        code_verifier: "canary-verifier",
        client_id: "canary",
      },
      { grant_type: "refresh_token", refresh_token: secretOf("opr"), client_id: "canary" },
    ])
      await ask("POST", "/oauth/token", key, new URLSearchParams(form).toString(), asForm);
    await ask("POST", "/oauth/revoke", key, `token=${secretOf("opr")}&client_id=canary`, asForm);
    await ask("GET", `/oauth/authorize?client_id=canary&state=canary-state&code_challenge=canary`, key);
    await ask("POST", "/oauth/register", key, { client_name: "Canary", redirect_uris: ["https://canary.example/cb"] });
    await ask("GET", `/oauth/${secretOf("opt")}/${secretOf("opr")}`, key);
    await until((all) => all.some(({ name, status }) => name === "webhook.attempt" && status !== null));
    const audit = await ask("GET", `${shop}/audit-log?limit=50`, adminToken);
    const { stderr } = await program.end("SIGTERM");
    await receiver.close();
    const secret = String(endpoint.at("data", "secret"));
    const told = { spans: JSON.stringify(spans()), log: stderr, audit };
    assert.match(told.log, /"operation":"purchase_order_receive"/, "the log was on");
    assert.match(told.audit, /purchase_order_receive/);
    for (const [where, text] of Object.entries(told)) {
      for (const hidden of [/canary/i, /c4n4ry/]) assert.doesNotMatch(text, hidden, where);
      for (const hidden of [key, adminToken, secret]) assert.ok(!text.includes(hidden), where);
    }
  }));
