/**
 * A real server for tests, with its own store (store.ts decides the engine) and port, and one shop with a read key and a write key.
 *
 * `request` checks every answer against the OpenAPI document (openapi/contract.ts). An undocumented status, property, fault or header fails
 * the test that sent the request.
 */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { Agent, type IncomingHttpHeaders, request as httpRequest } from "node:http";
import { DueSearch } from "../../src/jobs/due-search.ts";
import { createAdmin } from "../../src/admin/app.ts";
import type { AdminContext } from "../../src/admin/operation.ts";
import { adminTokenCheck } from "../../src/core/access/admin-token.ts";
import { apiKeyRandomBytes, makeApiKey } from "../../src/core/access/api-key.ts";
import type { ConnectedShop } from "../../src/core/storefront/storefront-config.ts";
import { brotli, gzip } from "../../src/service/compression.ts";
import { isJsonArray, isJsonObject, type Json, type JsonObject } from "../../src/base/json.ts";
import { Documents } from "../../src/documents/documents.ts";
import { createApp } from "../../src/http/app.ts";
import { type ConsolePages, createConsolePages } from "../../src/http/console-pages.ts";
import { loadConsoleFiles } from "../../src/http/node/console-files.ts";
import type { BodyBudget } from "../../src/http/body.ts";
import type { ConnectionLimits } from "../../src/http/node/connections.ts";
import { descriptions } from "../../src/http/node/carried-files.ts";
import type { Surface } from "../../src/http/surface.ts";
import { createMetricsPage } from "../../src/http/health.ts";
import { createMetrics } from "../../src/http/metrics.ts";
import { type ArrivalLimits, startHttpServer, type WaitLimits } from "../../src/http/node/server.ts";
import type { Readers } from "../../src/requests/broad-read.ts";
import type { Operation } from "../../src/requests/operation.ts";
import { StoreCounts } from "../../src/requests/store-counts.ts";
import { loadIdsByNumber } from "../../src/shop/order/order-numbers.ts";
import { createPerform, type PerformDependencies } from "../../src/requests/perform.ts";
import { operations as registry } from "../../src/operations/registry.ts";
import type { AnswerThreads } from "../../src/mcp/large-answers.ts";
import { createMcp } from "../../src/mcp/app.ts";
import { createSupplierPages } from "../../src/suppliers/app.ts";
import { createConsole } from "../../src/people/app.ts";
import { type ApiKey, insertApiKey, saveShop, type Shop } from "../../src/shop/access/accounts.ts";
import { type AuditEntry, listAudit } from "../../src/shop/audit/audit.ts";
import type { OutboxLimits } from "../../src/jobs/outbox/limits.ts";
import { createOutbox } from "../../src/jobs/outbox/runner.ts";
import type { ReaderStore } from "../../src/threads/reader-pool.ts";
import { exportQueue } from "../../src/exchange/export.ts";
import type { FairQueue } from "../../src/store/fair-queue.ts";
import type { LoopShare } from "../../src/store/loop-share.ts";
import type { QueueLimits } from "../../src/store/queue.ts";
import type { Clock, Ids } from "../../src/base/time/clock.ts";
import type { Engine } from "../../src/store/store.ts";
import { systemClock, timeOrderedIds } from "../../src/base/time/system.ts";
import type { SandboxControl } from "../../src/storefront/sandbox/control.ts";
import { openSandbox } from "../../src/storefront/sandbox/sandbox.ts";
import { SecretBox } from "../../src/base/secret-box.ts";
import type { Storefront } from "../../src/storefront/storefront.ts";
import { createStorefronts } from "../../src/service/storefronts.ts";
import { type ConnectPolicy, onlyGlobal } from "../../src/webhooks/addresses.ts";
import { createConnect, resourceMetadataOf } from "../../src/connect/app.ts";
import { Clients } from "../../src/connect/clients.ts";
import { connectOrigin } from "../../src/core/access/redirects.ts";
import { createResolve } from "../../src/webhooks/names.ts";
import { contractOf } from "./openapi/contract.ts";
import { makePlace, openStore } from "./store.ts";
import { assertWorded } from "./openapi/wording.ts";
import { patienceMs } from "./until.ts";
import { plainShop } from "./shops/plain-shop.ts";

/** The operator's token. */
export const adminToken = "the-admin-token-of-a-test-server";

export interface TestServerOptions {
  /** Default: the registry's. */
  readonly operations?: readonly Operation[];
  /** Settings that differ from the defaults. The rate limit is very high unless it is set here. */
  readonly shop?: Partial<Shop>;
  /** The clock moves by `advance` alone, however slow the machine is. */
  readonly isClockStill?: boolean;
  readonly outboxLimits?: Partial<OutboxLimits>;
  readonly queue?: QueueLimits;
  readonly loop?: LoopShare;
  /** The turns of its exports. Default: as usual. */
  readonly exports?: FairQueue;
  readonly surfaces?: readonly Surface[];
  /** Serves the admin API and the console's sign-in too, with the built pages or these. */
  readonly console?: true | ConsolePages;
  readonly responseBytesMax?: number;
  readonly waitLimits?: WaitLimits;
  readonly arrivalLimits?: ArrivalLimits;
  readonly connectionLimits?: ConnectionLimits;
  readonly bodies?: BodyBudget;
  /** Makes the new server another node on that server's shops, with the same keys. Stop the new one first. PostgreSQL only. */
  readonly beside?: TestServer;
  /** Default: as `engineVariable` says. */
  readonly postgres?: boolean;
  /** Makes the reader threads. Default: none, every read runs on the event loop. */
  readonly readers?: (store: ReaderStore) => Readers & AnswerThreads & { close(): Promise<void> };
  /** Where documents of assistants may be fetched from. Default: global addresses. */
  readonly connect?: ConnectPolicy;
  /** Where it says that it is reached. Default: where it listens. */
  readonly publicUrl?: string;
  /** The sender that is told of links to sign in. Default: none are mailed. */
  readonly signInMails?: { wake(shopId: string): void };
  /** What secrets are sealed with at rest. Default: nothing is. */
  readonly secretKey?: Uint8Array;
  /** Replaces some dependencies of the requests. */
  readonly perform?: (deps: PerformDependencies) => Partial<PerformDependencies>;
}

export interface RequestOptions {
  /** Default: the write key. Null: no key. */
  readonly key?: string | null;
  /** Sent as JSON; a string or bytes are sent unchanged. */
  readonly body?: unknown;
  /** An array sends the header once per entry. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Sends the body in chunks, without a Content-Length. */
  readonly chunked?: boolean;
  /** Does not check the answer; for paths that are not in the document, such as `/healthz`. */
  readonly undocumented?: boolean;
}

export interface TestResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Returns the member of the JSON body at this path, `length` of an array included, or undefined. */
  at(...steps: readonly (string | number)[]): Json | undefined;
  /** Like `at`, but fails unless it is a string. */
  textAt(...steps: readonly (string | number)[]): string;
}

/** The objects of a list in the answer. Fails if there is no list. */
export function objectsAt(answered: TestResponse, ...path: readonly (string | number)[]): readonly JsonObject[] {
  const found = answered.at(...path);
  assert.ok(found !== undefined && isJsonArray(found), answered.text);
  return found.filter(isJsonObject);
}

/** Fails unless it is this refusal. */
export function assertFault(answered: TestResponse, status: number, code: string, reason?: string): void {
  assert.equal(answered.status, status, answered.text);
  assert.equal(answered.at("error", "code"), code);
  if (reason !== undefined) assert.equal(answered.at("error", "reason"), reason, answered.text);
}

export interface TestServer {
  readonly url: string;
  readonly port: number;
  /** The location of its store. */
  readonly directory: string;
  readonly engine: Engine;
  readonly ids: Ids;
  /** Real time plus what `advance` has added. */
  readonly clock: Clock & { advance(ms: number): void };
  readonly shopId: string;
  readonly readKey: string;
  readonly writeKey: string;
  readonly sandbox: Storefront & SandboxControl;
  /** The log, one line of JSON per entry. */
  readonly logged: readonly string[];
  /** Sends a request; `target` is path and query, sent unchanged. */
  request(method: string, target: string, options?: RequestOptions): Promise<TestResponse>;
  get(target: string, options?: RequestOptions): Promise<TestResponse>;
  post(target: string, body?: unknown, options?: RequestOptions): Promise<TestResponse>;
  patch(target: string, body?: unknown, options?: RequestOptions): Promise<TestResponse>;
  delete(target: string, options?: RequestOptions): Promise<TestResponse>;
  /** Audit rows of the shop, newest first. */
  audit(): Promise<readonly AuditEntry[]>;
  /** Creates another key of the shop. */
  addKey(scope: ApiKey["scope"]): Promise<{ readonly keyId: string; readonly apiKey: string }>;
  /** Changes the shop's row. */
  changeShop(changes: Partial<Shop>): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a server. `await using` or `stop` ends it and removes its files. */
export async function startServer(options: TestServerOptions = {}): Promise<TestServer & AsyncDisposable> {
  let aheadMs = 0;
  const startedAtMs = systemClock.now();
  const clock = {
    now: () => (options.isClockStill === true ? startedAtMs : systemClock.now()) + aheadMs,
    advance: (ms: number) => {
      aheadMs += ms;
    },
  };
  const ids = timeOrderedIds(clock);
  const logged: string[] = [];
  const write = (level: string) => (fields: object, message: string) => {
    const err = "err" in fields && fields.err instanceof Error ? { err: fields.err.stack } : {};
    logged.push(JSON.stringify({ level, message, ...fields, ...err }));
  };
  const log = { info: write("info"), warn: write("warn"), error: write("error") };

  const { beside } = options;
  const place = beside === undefined ? await makePlace(options.postgres) : null;
  const directory = place?.directory ?? beside?.directory ?? "";
  const store = await openStore(directory, {
    clock,
    ...(options.queue === undefined ? {} : { queue: options.queue }),
    ...(options.loop === undefined ? {} : { loop: options.loop }),
  });
  const { engine, sandboxEngine, coordination, loop } = store;
  const storefronts = createStorefronts({
    engine,
    clock,
    ids,
    log,
    secrets: new SecretBox(null),
    allowed: new Map(),
    sandboxOf: (shopId) => openSandbox({ engine: sandboxEngine, clock, shopId, timeoutMs: 100 }),
  });
  const storefrontOf = (shop: ConnectedShop) => Promise.resolve(storefronts.open(shop));
  const outbox = createOutbox({
    engine,
    storefrontOf,
    clock,
    ids,
    log,
    search: store.alone ? null : new DueSearch({ engine, clock, log, random: Math.random }),
    random: Math.random,
    ...(options.outboxLimits === undefined ? {} : { limits: options.outboxLimits }),
  });

  const shopId = "test-shop";
  const shop = plainShop(shopId, {
    name: "Test shop",
    rateLimit: { capacity: 100_000, refillPerSecond: 100_000 },
    // An answer has the end of its follow-on work, however slow the machine is.
    followOnWaitMs: patienceMs,
    createdAtMs: clock.now(),
    updatedAtMs: clock.now(),
    ...options.shop,
  });
  if (beside === undefined) {
    await engine.create(shopId);
    await engine.write(shopId, (tx) => saveShop(tx, shop));
  }
  const addKey: TestServer["addKey"] = async (scope) => {
    const made = makeApiKey(shopId, randomBytes(apiKeyRandomBytes));
    const key: ApiKey = {
      keyId: ids.next("key"),
      name: `the ${scope} key`,
      scope,
      lastFour: made.lastFour,
      createdAtMs: clock.now(),
      revokedAtMs: null,
      pausedAtMs: null,
      signIn: true,
      limits: null,
    };
    await engine.write(shopId, (tx) => insertApiKey(tx, shopId, key, made.secretHash));
    return { keyId: key.keyId, apiKey: made.apiKey };
  };
  const readKey = beside?.readKey ?? (await addKey("read")).apiKey;
  const writeKey = beside?.writeKey ?? (await addKey("write")).apiKey;

  const operations = options.operations ?? registry;
  const readers = options.readers?.(store.readerStore) ?? null;
  const deps: PerformDependencies = {
    engine,
    coordination,
    clock,
    ids,
    loop,
    auditJournal: store.auditJournal,
    outbox,
    storefrontOf,
    log,
    readers,
    compression: brotli,
    ...(options.responseBytesMax === undefined ? {} : { responseBytesMax: options.responseBytesMax }),
  };
  let port = 0;
  const consoleOrigin = (): string | null => connectOrigin(options.publicUrl ?? null, { host: "127.0.0.1", port });
  const perform = createPerform({ ...deps, consoleOrigin, ...options.perform?.(deps) });
  const isAdminToken = adminTokenCheck(adminToken);
  // A document's wait for its thread lasts as long as a test says, however slow the machine is.
  const documents = new Documents({ engine, clock, log, elapsedMs: () => aheadMs });
  const connecting = {
    clients: new Clients({ clock, policy: options.connect ?? onlyGlobal, resolve: createResolve() }),
    addresses: () => {
      const origin = consoleOrigin();
      return origin === null ? null : { origin, resource: `${origin}/mcp` };
    },
  };
  const admin: AdminContext = {
    engine,
    clock,
    ids,
    loop,
    sandboxOf: (shopId) => openSandbox({ engine: sandboxEngine, clock, shopId }),
    snapshotOf: () => assert.fail("tests of a server take no snapshots"),
    restoreShop: () => assert.fail("tests of a server restore nothing"),
    calls: { outbox, storefrontOf, log },
    wakeOutbox: () => {},
    storefronts,
    documents,
    exports: options.exports ?? exportQueue(),
    mailIsOn: false,
    publicUrl: options.publicUrl ?? null,
    connecting,
    webhooks: { policy: onlyGlobal, secrets: new SecretBox(options.secretKey ?? null), changed: () => {} },
  };
  const stopping = new AbortController();
  const mcp = createMcp({
    operations,
    perform,
    engine,
    coordination,
    clock,
    log,
    threads: readers,
    orders: {
      idsByNumber: (shopId, numbers) => engine.read(shopId, (tx) => loadIdsByNumber(tx, shopId, numbers)),
      pdf: async (shopId, orderId) => (await documents.of(shopId, orderId, "pdf")).bytes,
    },
    allowedHosts: options.publicUrl === undefined ? [] : [new URL(options.publicUrl).hostname],
    resourceMetadata: () => resourceMetadataOf(connecting.addresses()),
  });
  const metrics = createMetrics();
  const app = createApp({
    operations,
    perform,
    gzip,
    clock,
    ids,
    log,
    metrics,
    ready: () => engine.ready(),
    loop,
    identity: "srv_of_a_test",
    surfaces: [
      createMetricsPage(metrics),
      ...descriptions,
      mcp,
      ...createConnect({ engine, clock, ids, log, connecting }),
      ...(options.console !== undefined
        ? [
            ...createAdmin({
              admin,
              coordination,
              perform,
              isAdminToken,
              readers,
              log,
              counts: new StoreCounts(),
              stopping: stopping.signal,
            }),
            createSupplierPages({ engine, clock, ids, documents: admin.documents, log }),
            createConsole({
              engine,
              coordination,
              clock,
              ids,
              isAdminToken,
              log,
              counts: new StoreCounts(),
              pages: options.console === true ? createConsolePages(loadConsoleFiles) : options.console,
              mails: options.signInMails ?? null,
              origin: () => options.publicUrl ?? `http://127.0.0.1:${port}`,
              stopping: stopping.signal,
            }),
          ]
        : []),
      ...(options.surfaces ?? []),
    ],
    ...(options.bodies === undefined ? {} : { bodies: options.bodies }),
  });
  const { waitLimits, arrivalLimits, connectionLimits } = options;
  const server = await startHttpServer({
    app,
    host: "127.0.0.1",
    port: 0,
    ids,
    log,
    ...(waitLimits === undefined ? {} : { waitLimits }),
    ...(arrivalLimits === undefined ? {} : { arrivalLimits }),
    ...(connectionLimits === undefined ? {} : { connectionLimits }),
  });
  port = server.port;
  const agent = new Agent({ keepAlive: true });
  const check = contractOf(operations);

  const request: TestServer["request"] = async (method, target, options = {}) => {
    const observed = await send({ agent, port: server.port, method, target, key: writeKey, ...options });
    // The script of the reference page has escapes of its own.
    if (observed.headers["content-type"] === "application/json") assertWorded(observed.text);
    if (options.undocumented !== true) check({ method, target, ...observed, body: observed.text });
    return observed;
  };

  const stop = async (): Promise<void> => {
    stopping.abort();
    await server.stop();
    await readers?.close();
    await documents.close();
    await outbox.close();
    await store.close();
    await place?.remove();
  };

  return {
    url: `http://127.0.0.1:${server.port}`,
    port: server.port,
    directory,
    engine,
    ids,
    clock,
    shopId,
    readKey,
    writeKey,
    sandbox: openSandbox({ engine: sandboxEngine, clock, shopId }),
    logged,
    request,
    get: (target, options) => request("GET", target, options),
    post: (target, body, options) => request("POST", target, { body, ...options }),
    patch: (target, body, options) => request("PATCH", target, { body, ...options }),
    delete: (target, options) => request("DELETE", target, options),
    audit: async () => {
      // An answer may leave before its row is written (D112). Writes of a shop run in order, so the row is there after this one.
      await engine.write(shopId, () => Promise.resolve());
      const log = await engine.read(shopId, (tx) =>
        listAudit(
          tx,
          shopId,
          { keyId: null, personId: null, operation: null, surfaces: null, outcomes: null, status: null },
          null,
          500,
        ),
      );
      return log.entries;
    },
    addKey,
    changeShop: (changes) => engine.write(shopId, (tx) => saveShop(tx, { ...shop, ...changes })),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

interface Outgoing extends RequestOptions {
  readonly agent: Agent;
  readonly port: number;
  readonly method: string;
  readonly target: string;
  readonly key: string | null;
}

function send({
  agent,
  port,
  method,
  target,
  key,
  body,
  headers = {},
  chunked = false,
}: Outgoing): Promise<TestResponse> {
  return new Promise((resolve, reject) => {
    const bytes =
      body === undefined
        ? null
        : typeof body === "string" || body instanceof Uint8Array
          ? Buffer.from(body)
          : Buffer.from(JSON.stringify(body));
    const request = httpRequest(
      {
        agent,
        host: "127.0.0.1",
        port,
        method,
        path: target,
        headers: {
          ...(key === null ? {} : { Authorization: `Bearer ${key}` }),
          ...(bytes === null ? {} : { "Content-Type": "application/json" }),
          ...(bytes === null ? {} : chunked ? { "Transfer-Encoding": "chunked" } : { "Content-Length": bytes.length }),
          ...Object.fromEntries(
            // Node does not accept an array for Host.
            Object.entries(headers).map(([name, value]) => [name, typeof value === "string" ? value : [...value]]),
          ),
        },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () =>
          resolve(answerOf(response.statusCode ?? 0, response.headers, Buffer.concat(chunks).toString())),
        );
      },
    );
    request.on("error", reject);
    request.end(bytes ?? undefined);
  });
}

function answerOf(status: number, headers: IncomingHttpHeaders, text: string): TestResponse {
  let parsed: unknown;
  const at: TestResponse["at"] = (...steps) => {
    let value = (parsed ??= JSON.parse(text));
    for (const step of steps)
      value =
        typeof value === "object" && value !== null && Object.hasOwn(value, step)
          ? Reflect.get(value, step)
          : undefined;
    return value as Json | undefined;
  };
  return {
    status,
    headers,
    text,
    at,
    textAt: (...steps) => {
      const value = at(...steps);
      assert.ok(typeof value === "string", `no text at ${steps.join(".")}: ${text}`);
      return value;
    },
  };
}
