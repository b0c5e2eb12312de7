/**
 * The running service: all parts connected, on one data directory or as a node on a database.
 *
 * Owns: what is opened in which order, and closed in the reverse order. Does not own: where data is stored
 * (service/data-directory.ts, service/database.ts), arguments, signals and messages for people (cli/cli.ts,
 * cli/serve.ts).
 */
import { SecretBox } from "../base/secret-box.ts";
import { randomBytes } from "node:crypto";
import { pino } from "pino";
import { createAdmin } from "../admin/app.ts";
import { askHere } from "../admin/ask.ts";
import type { AdminContext } from "../admin/operation.ts";
import { loadIdsByNumber } from "../shop/order/order-numbers.ts";
import type { openDatabase } from "./database.ts";
import type { DemoShop } from "../demo/demo-shop.ts";
import { Documents, type OrderDocuments } from "../documents/documents.ts";
import { dueImports } from "../exchange/import-run.ts";
import { recoverImports } from "../exchange/import.ts";
import { importContext } from "../admin/exchange.ts";
import { brotli, gzip } from "./compression.ts";
import { adminTokenCheck } from "../core/access/admin-token.ts";
import { type Config, ConfigError, localUrl } from "./config.ts";
import { forgetServer, keptAdminToken, makeAdminToken, openDataDirectory, recordServer } from "./data-directory.ts";
import { appOf, createApp } from "../http/app.ts";
import { BodyBudget } from "../http/body.ts";
import { createConsolePages } from "../http/console-pages.ts";
import { createDocs } from "../http/docs.ts";
import { neutralisedJson } from "../base/text/plain-text.ts";
import { secretRandomBytes } from "../base/secret.ts";
import type { Spans } from "../base/spans.ts";
import { createMetricsPage } from "../http/health.ts";
import { createMetrics, type Gauge, type Metrics } from "../http/metrics.ts";
import { createStorefrontHints } from "../admin/storefront/shopify-hints.ts";
import { loadConsoleFiles } from "../http/node/console-files.ts";
import { descriptions, loadCarried } from "../http/node/carried-files.ts";
import { loadReferenceBundle } from "../http/node/reference-bundle.ts";
import { type RunningServer, startHttpServer, unreadBytesMax } from "../http/node/server.ts";
import { createStartPage } from "../http/start-page.ts";
import type { WebSurface } from "../http/surface.ts";
import type { createMcp } from "../mcp/app.ts";
import { mcpPath } from "../mcp/names.ts";
import { StoreCounts } from "../requests/store-counts.ts";
import { type Perform, type PerformDependencies, createPerform } from "../requests/perform.ts";
import { apiVersion } from "../requests/envelope.ts";
import type { Mailing } from "../requests/operation.ts";
import { operations } from "../operations/registry.ts";
import type { OpenStore } from "./open-store.ts";
import { DueSearch } from "../jobs/due-search.ts";
import { type Outbox, createOutbox } from "../jobs/outbox/runner.ts";
import { createPuller, type Puller } from "../jobs/puller.ts";
import { createConnect, resourceMetadataOf } from "../connect/app.ts";
import { Clients } from "../connect/clients.ts";
import type { Connecting } from "../connect/consent.ts";
import { connectOrigin } from "../core/access/redirects.ts";
import { createConsole } from "../people/app.ts";
import { limitsWith, ReaderPool } from "../threads/reader-pool.ts";
import { createReminders, type Reminders } from "../jobs/reminders.ts";
import type { Log } from "../store/store.ts";
import { createSupplierPages } from "../suppliers/app.ts";
import { createResolve } from "../webhooks/names.ts";
import { createSender, type Sender } from "../webhooks/sender.ts";
import { workGauges } from "./work-gauges.ts";
import type { StorefrontOf } from "../storefront/storefront.ts";
import type { StorefrontConnections } from "../storefront/connections.ts";
import { withTracedCalls } from "../storefront/traced-calls.ts";
import { memoryLimits } from "./memory-limits.ts";
import { openStorefronts } from "./storefronts.ts";
import { openSpans } from "./trace.ts";
import { createMailSender, type MailSender } from "../mail/sender.ts";
import { openMailServer } from "../mail/smtp.ts";

/** Connections to a port of its own for `/metrics`: a few scrapers. */
export const scrapersMax = 20;

export interface Service {
  readonly host: string;
  readonly port: number;
  /** The directory or database with all data, as it is shown to people. */
  readonly place: string;
  /** Where others reach it (`OPENPO_PUBLIC_URL`); null where that is not known. */
  readonly publicUrl: string | null;
  /** `isNew`: this start has made it, or an earlier one that failed before showing it. */
  readonly adminToken: { readonly token: string; readonly isNew: boolean };
  /** The demo shop that this first start has made; null on any other start. */
  readonly demo: DemoShop | null;
  /** Accepts nothing more, lets running requests finish, and closes everything. */
  close(): Promise<void>;
}

/**
 * The operator's token: the configured one, or else the one in the data directory, which is made if there is none.
 *
 * @throws ConfigError when it must be configured.
 */
function adminTokenOf({ adminToken, dataDir, database }: Config, isFirstStart: boolean): Service["adminToken"] {
  if (adminToken !== null) return { token: adminToken, isNew: false };
  if (database !== null)
    throw new ConfigError(
      "OPENPO_ADMIN_TOKEN: is needed with OPENPO_DATABASE_URL. Nodes store nothing of their own: give each of them the same token.",
    );
  const kept = keptAdminToken(dataDir);
  return kept === null ? { token: makeAdminToken(dataDir), isNew: true } : { token: kept, isNew: isFirstStart };
}

/** @throws ConfigError when documents cannot be written in the operator's font. */
async function checkFont(file: string): Promise<void> {
  // Loaded only where there is one: fonts are otherwise read on threads.
  const { fontFault } = await import("../documents/fonts.ts");
  const fault = fontFault(file);
  if (fault !== null) throw new ConfigError(`OPENPO_DOCUMENT_FONT: ${file} ${fault}.`);
}

// What not every start needs is loaded when it is needed: each took some 20 to 40 ms of every start (D249).

async function openDatabaseOf(...given: Parameters<typeof openDatabase>): ReturnType<typeof openDatabase> {
  const database = await import("./database.ts");
  return await database.openDatabase(...given);
}

async function makeDemoShopOf(admin: AdminContext, { clock }: OpenStore): Promise<DemoShop> {
  const { makeDemoShop } = await import("../demo/demo-shop.ts");
  return await makeDemoShop(askHere(admin), clock.now());
}

/** The agent surface, loaded with the first message. */
function mcpWhenNeeded(deps: Parameters<typeof createMcp>[0]): WebSurface {
  let loading: Promise<WebSurface> | null = null;
  const load = async (): Promise<WebSurface> => {
    const { createMcp } = await import("../mcp/app.ts");
    return createMcp(deps);
  };
  return {
    path: mcpPath,
    handle: async (context) => await (await (loading ??= load())).handle(context),
  };
}

/** Names by which the service is reached, as in a Host header. An address that means "any address" is not one. */
const hostsOf = ({ host, publicUrl }: Config): readonly string[] => [
  ...(publicUrl === null ? [] : [new URL(publicUrl).hostname]),
  ...(host === "0.0.0.0" || host === "::" ? [] : [host.includes(":") ? `[${host}]` : host]),
];

/** Connecting to this service, which listens where `listening` says once it does. */
interface OpenConnecting extends Connecting {
  listening: { readonly host: string; readonly port: number };
}

function openConnecting(config: Config, { clock }: OpenStore): OpenConnecting {
  const opened: OpenConnecting = {
    clients: new Clients({ clock, policy: config.connect, resolve: createResolve() }),
    listening: config,
    addresses: () => {
      const origin = connectOrigin(config.publicUrl, opened.listening);
      return origin === null ? null : { origin, resource: `${origin}${mcpPath}` };
    },
  };
  return opened;
}

/** Parts of the agent surface: names that it answers to, where a client learns how to sign in, orders' documents. */
const agentNeeds = (config: Config, connecting: OpenConnecting, { engine, documents }: AdminContext) => ({
  orders: {
    idsByNumber: (shopId: string, numbers: readonly string[]) =>
      engine.read(shopId, (tx) => loadIdsByNumber(tx, shopId, numbers)),
    pdf: async (shopId: string, orderId: string) => (await documents.of(shopId, orderId, "pdf")).bytes,
  },
  allowedHosts: hostsOf(config),
  resourceMetadata: () => resourceMetadataOf(connecting.addresses()),
});

const listenMessages: Readonly<Record<string, string>> = {
  EADDRINUSE: "is in use. Stop what uses it, or set PORT to another",
  EACCES: "may not be opened by this user. Set PORT to one above 1023",
  EADDRNOTAVAIL: "is not an address of this machine. Set OPENPO_HOST to one that is",
  ENOTFOUND: "is not an address of this machine. Set OPENPO_HOST to one that is",
};

/** Returns the message for the operator when the server cannot listen; the error itself for one that is a bug. */
function notListening(
  { host, port, variable = "PORT" }: { readonly host: string; readonly port: number; readonly variable?: string },
  error: unknown,
): unknown {
  const code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
  const message = listenMessages[code];
  return message === undefined
    ? error
    : new ConfigError(`Port ${port} on ${host} ${message.replace("PORT", variable)}.`, { cause: error });
}

function letCommandsFind(
  server: Parameters<typeof localUrl>[0],
  { dataDir, publicUrl }: Config,
  store: OpenStore,
  log: Log,
): void {
  try {
    recordServer(dataDir, { url: localUrl(server), identity: store.identity, publicUrl });
  } catch (error) {
    // On a full disk what is stored can be read.
    log.warn({ err: error }, "commands do not find this server by its data directory");
  }
}

/**
 * Opens the data directory or the database and serves.
 *
 * @throws ConfigError when the store or the address cannot be used.
 */
export async function openService(config: Config): Promise<Service> {
  await using opening = new AsyncDisposableStack();
  const destination = pino.destination({ fd: 2, sync: false });
  const log = pino({ level: config.logLevel, hooks: { streamWrite: neutralisedJson } }, destination);
  opening.defer(() => log.flush());
  if (config.documentFont !== null) await checkFont(config.documentFont);
  // A missing token is reported before anything is made.
  if (config.database !== null) adminTokenOf(config, false);
  const store =
    config.database === null
      ? await openDataDirectory(config.dataDir, log, memoryLimits(config.memoryMegabytes))
      : await openDatabaseOf(config.database, log);
  opening.defer(() => store.close());
  const adminToken = adminTokenOf(config, store.isNew);
  const spans = openSpans(apiVersion);
  const documents = new Documents({ ...store, log, fontFile: config.documentFont });
  opening.defer(() => documents.close());
  const common = commonOf(store, log);
  const parts: WorkDependencies = { common, spans, documents, connecting: openConnecting(config, store) };
  const { outbox, sender, puller, admin, storefrontOf } = openWork(config, store, log, parts);
  const mails = openMails(config, store, common, spans);
  const reminders = openReminders(store, common);
  for (const work of [outbox, sender, puller, mails, reminders]) opening.defer(() => work?.close());
  const { readerThreads } = memoryLimits(config.memoryMegabytes);
  const readers = new ReaderPool({ store: store.readerStore, log, limits: limitsWith(readerThreads) });
  opening.defer(() => readers.close());
  const demo = store.isNew && config.demo ? await makeDemoShopOf(admin, store) : null;
  const stopping = new AbortController();
  const counts = new StoreCounts();
  const work = workGauges(outbox, sender, mails, puller, () => store.clock.now());
  const metrics = createMetrics([...gaugesOf(store), ...readers.gauges, ...work, ...storeGauges(counts)]);
  const server = await listen(config, store, log, {
    stopping: stopping.signal,
    followOn: { outbox, mails, mailing: mailingWith(config, documents) },
    readers,
    admin,
    ...parts,
    storefrontOf,
    adminToken: adminToken.token,
    counts,
    metrics,
  });
  opening.defer(() => {
    stopping.abort();
    return server.stop();
  });
  if (config.metricsPort !== null) {
    const metricsServer = await listenForMetrics({ ...config, port: config.metricsPort }, store, log, metrics);
    opening.defer(() => metricsServer.stop());
  }
  // Last: nobody has seen the keys of a start that fails before this, so the next start is a first one again.
  await store.completeFirstStart();
  if (config.database === null) {
    letCommandsFind(server, config, store, log);
    opening.defer(() => forgetServer(config.dataDir));
  }
  const begun = { "follow-on work": outbox, webhooks: sender, pulls: puller, mails, reminders };
  for (const [what, work] of Object.entries(begun))
    work?.start().catch((error: unknown) => log.error({ err: error }, `${what} could not be resumed`));
  const opened = opening.move();
  return {
    host: server.host,
    port: server.port,
    place: store.place,
    publicUrl: config.publicUrl,
    adminToken,
    demo,
    close: () => opened.disposeAsync(),
  };
}

/** Dependencies of every kind of work on this store. */
function commonOf({ engine, clock, ids, alone }: OpenStore, log: Log) {
  const searching = { engine, clock, log, random: Math.random };
  return { ...searching, ids, search: alone ? null : new DueSearch(searching) };
}

interface WorkDependencies {
  readonly common: ReturnType<typeof commonOf>;
  readonly spans: Spans;
  readonly documents: Documents;
  readonly connecting: OpenConnecting;
}

/**
 * The store's outbox, the sender of its webhooks, the pulls of its storefronts, and the operator's operations, which
 * wake both.
 */
function openWork(
  config: Config,
  store: OpenStore,
  log: Log,
  { common, spans, documents, connecting }: WorkDependencies,
): {
  readonly outbox: Outbox;
  readonly sender: Sender;
  readonly puller: Puller;
  readonly admin: AdminContext;
  readonly storefrontOf: StorefrontOf;
} {
  const storefronts = openStorefronts(config.storefronts, store, log);
  const storefrontOf = tracedStorefronts(storefronts, spans);
  const webhooks = { policy: config.webhooks, secrets: new SecretBox(config.storefronts.secretKey) };
  const sender = createSender({
    ...common,
    spans,
    shopsToResume: (signal) => store.shopsWith("endpoints", signal),
    ...webhooks,
    resolve: createResolve(),
  });
  store.onEvents((shopId) => sender.wake(shopId));
  const outbox = createOutbox({
    ...common,
    storefrontOf,
    spans,
    shopsToResume: (signal) => store.shopsWith("effects", signal),
    recover: {
      table: dueImports.table,
      finish: (shopId, signal) => recoverImports(importContext(admin), shopId, { alone: store.alone, signal }),
    },
  });
  const puller = createPuller({
    ...common,
    storefrontOf,
    shopsToResume: (signal) => store.shopsWith("pulls", signal),
  });
  const admin = store.adminContext({
    calls: { outbox, storefrontOf, log, spans },
    storefronts,
    wakeOutbox(shopId) {
      outbox.settle(shopId, [], 0).catch((error: unknown) => {
        log.error({ err: error, shopId }, "follow-on work could not be started");
      });
    },
    wakePull: (shopId) => puller.wake(shopId),
    documents,
    mailIsOn: config.mail !== null,
    publicUrl: config.publicUrl,
    connecting,
    webhooks: { ...webhooks, changed: (shopId) => sender.endpointsChanged(shopId) },
  });
  return { outbox, sender, puller, admin, storefrontOf };
}

/** The sender of mails; null: no mail server is configured. */
function openMails(
  { mail }: Config,
  store: OpenStore,
  common: WorkDependencies["common"],
  spans: Spans,
): MailSender | null {
  if (mail === null) return null;
  return createMailSender({
    ...common,
    spans,
    server: openMailServer(mail.server, common.log),
    from: mail.from,
    shopsToResume: (signal) => store.shopsWith("mails", signal),
    secretBytes: () => randomBytes(secretRandomBytes),
  });
}

/** Opens the reminders of orders with which suppliers are late. */
function openReminders(store: OpenStore, common: WorkDependencies["common"]): Reminders {
  const reminders = createReminders({ ...common, shopsToResume: (signal) => store.shopsWithReminders(signal) });
  store.onReminders((reminder) => reminders.note(reminder));
  return reminders;
}

/** Returns the mailing of orders, with documents as they are downloaded. */
const mailingWith = ({ mail, publicUrl }: Config, documents: OrderDocuments): Mailing => ({
  perHourMax: mail?.perHourMax ?? null,
  publicUrl,
  documentOf: (shopId, purchaseOrderId, kind, next) => documents.of(shopId, purchaseOrderId, kind, next),
});

/** The storefront of each shop, by its kind (C47), with a span for each call. */
const tracedStorefronts =
  (storefronts: StorefrontConnections, spans: Spans): StorefrontOf =>
  (shop, parent = null) =>
    Promise.resolve(withTracedCalls(storefronts.open(shop), spans, shop.shopId, parent));

const gaugesOf = ({ gauges, loop }: OpenStore): readonly Gauge[] => [
  ...gauges,
  {
    name: "paced_steps_total",
    help: "Steps of shops that had held the event loop for long and gave way to others.",
    type: "counter",
    value: () => loop.waitedTotal,
  },
  {
    name: "resident_memory_bytes",
    help: "Memory of the process.",
    type: "gauge",
    value: () => process.memoryUsage.rss(),
  },
];

const storeGauges = (counts: StoreCounts): readonly Gauge[] => [
  { name: "audit_rows_total", help: "Rows added to audit logs.", type: "counter", value: () => counts.auditRows },
  {
    name: "audit_rows_missing_total",
    help: "Requests answered without an audit row, because the store could not be written.",
    type: "counter",
    value: () => counts.auditRowsMissing,
  },
  {
    name: "audit_rows_swept_total",
    help: "Old rows deleted from audit logs.",
    type: "counter",
    value: () => counts.sweptAuditRows,
  },
  {
    name: "stored_answer_bytes_total",
    help: "Bytes of answers stored for replays.",
    type: "counter",
    value: () => counts.storedAnswerBytes,
  },
  {
    name: "stored_answer_bytes_swept_total",
    help: "Bytes of expired answers deleted.",
    type: "counter",
    value: () => counts.sweptAnswerBytes,
  },
  {
    name: "stored_answers_swept_total",
    help: "Expired answers deleted.",
    type: "counter",
    value: () => counts.sweptAnswers,
  },
];

const openPerform = (
  { memoryMegabytes }: Config,
  store: OpenStore,
  rest: Pick<PerformDependencies, "log" | "outbox" | "mails" | "mailing" | "readers" | "counts" | "storefrontOf"> & {
    readonly spans: Spans;
    readonly consoleOrigin: () => string | null;
  },
): Perform => {
  const { engine, coordination, clock, ids, loop, auditJournal } = store;
  const own = { engine, coordination, clock, ids, loop, auditJournal, compression: brotli };
  const { answersRememberedBytesMax, answersPackedBytesMax } = memoryLimits(memoryMegabytes);
  return createPerform({ ...own, answersRememberedBytesMax, answersPackedBytesMax, ...rest });
};

/** Serves `/metrics` alone on a port of its own. @throws ConfigError when the address cannot be used. */
async function listenForMetrics(
  { host, port }: { readonly host: string; readonly port: number },
  store: OpenStore,
  log: Log,
  metrics: Metrics,
): Promise<RunningServer> {
  const { clock, ids } = store;
  const app = appOf([createMetricsPage(metrics, () => store.measure())], { clock, ids, log, metrics });
  const connectionLimits = { connectionsMax: scrapersMax, unreadBytesMax };
  try {
    return await startHttpServer({ app, host, port, ids, log, connectionLimits });
  } catch (error) {
    throw notListening({ host, port, variable: "OPENPO_METRICS_PORT" }, error);
  }
}

/** Dependencies of every surface. */
interface ServedDependencies {
  readonly stopping: AbortSignal;
  readonly spans: Spans;
  readonly storefrontOf: StorefrontOf;
  readonly counts: StoreCounts;
  readonly metrics: Metrics;
  readonly followOn: Pick<PerformDependencies, "outbox" | "mails" | "mailing">;
  readonly readers: ReaderPool;
  readonly admin: AdminContext;
  readonly connecting: OpenConnecting;
  readonly adminToken: string;
}

/** The pages of the console, and how links to sign in are mailed. */
const consoleNeedsOf = (
  { publicUrl }: Config,
  { followOn, connecting, stopping }: Pick<ServedDependencies, "followOn" | "connecting" | "stopping">,
) => ({
  pages: createConsolePages(loadConsoleFiles),
  mails: followOn.mails ?? null,
  origin: () => publicUrl ?? connectOrigin(null, connecting.listening),
  stopping,
});

/** Serves every surface. @throws ConfigError when the address cannot be used. */
async function listen(
  config: Config,
  store: OpenStore,
  log: Log,
  {
    followOn,
    readers,
    admin,
    connecting,
    adminToken,
    spans,
    storefrontOf,
    stopping,
    counts,
    metrics,
  }: ServedDependencies,
): Promise<RunningServer> {
  const { engine, coordination, clock, ids, loop } = store;
  const consoleNeeds = consoleNeedsOf(config, { followOn, connecting, stopping });
  const told = { log, counts, spans, consoleOrigin: consoleNeeds.origin };
  const perform = openPerform(config, store, { ...told, ...followOn, readers, storefrontOf });
  const isAdminToken = adminTokenCheck(adminToken);
  const app = createApp({
    operations,
    perform,
    gzip,
    clock,
    ids,
    log,
    metrics,
    spans,
    bodies: new BodyBudget({ bytesMax: memoryLimits(config.memoryMegabytes).bodiesBytesMax }),
    ready: () => engine.ready(),
    loop,
    identity: store.identity,
    surfaces: [
      ...(config.metricsPort === null ? [createMetricsPage(metrics, () => store.measure())] : []),
      ...descriptions,
      ...createAdmin({ admin, coordination, perform, isAdminToken, readers, log, counts, stopping }),
      createConsole({ ...store, isAdminToken, log, counts, ...consoleNeeds }),
      createStorefrontHints({
        engine,
        clock,
        storefronts: admin.storefronts,
        wakePull: (shopId) => admin.wakePull?.(shopId),
      }),
      createSupplierPages({ engine, clock, ids, documents: admin.documents, log }),
      createDocs(loadReferenceBundle),
      ...createStartPage(() => loadCarried("README.md")),
      ...createConnect({ engine, clock, ids, log, connecting }),
      mcpWhenNeeded({ ...store, ...agentNeeds(config, connecting, admin), operations, perform, log, threads: readers }),
    ],
  });
  try {
    const server = await startHttpServer({
      app,
      host: config.host,
      port: config.port,
      ids,
      log,
      connectionLimits: memoryLimits(config.memoryMegabytes),
    });
    connecting.listening = server;
    metrics.add(server.gauges);
    return server;
  } catch (error) {
    throw notListening(config, error);
  }
}
