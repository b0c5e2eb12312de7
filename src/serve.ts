/**
 * The running service: every room wired to the next, on one data directory or as a node on a database.
 *
 * Owns: what is opened, in which order, and closed in the reverse one. Does not own: where everything is kept (data-directory.ts,
 * database.ts), arguments, signals and what a person is shown (cli.ts).
 */
import { pino } from "pino";
import { createAdmin } from "./admin/app.ts";
import { askHere } from "./admin/ask.ts";
import { type DemoShop, makeDemoShop } from "./demo/demo-shop.ts";
import { recoverImports } from "./exchange/import.ts";
import { importContext } from "./admin/exchange.ts";
import { type Config, ConfigError } from "./config.ts";
import { keptAdminToken, makeAdminToken, openDataDirectory } from "./data-directory.ts";
import { openDatabase } from "./database.ts";
import { createApp } from "./http/app.ts";
import { createDocs } from "./http/docs.ts";
import { createMetrics } from "./http/metrics.ts";
import { loadReferenceBundle } from "./http/node/reference-bundle.ts";
import { startHttpServer } from "./http/node/server.ts";
import { createMcp } from "./mcp/app.ts";
import { createPerform } from "./operations/perform.ts";
import { operations } from "./operations/registry.ts";
import { createOutbox } from "./outbox/runner.ts";

export interface Service {
  readonly host: string;
  readonly port: number;
  /** Where everything is kept, as a person knows it. */
  readonly place: string;
  /** `isNew`: it was made here, and no start before this one has shown it. */
  readonly adminToken: { readonly token: string; readonly isNew: boolean };
  /** What was made on this first start; null on any other. */
  readonly demo: DemoShop | null;
  /** Stops accepting, lets what runs finish, and closes everything. */
  close(): Promise<void>;
}

/**
 * The operator's token: the configured one, else the one in the data directory, made when there is none.
 *
 * @throws ConfigError when it must be configured.
 */
function adminTokenOf({ adminToken, dataDir, database }: Config, isFirstStart: boolean): Service["adminToken"] {
  if (adminToken !== null) return { token: adminToken, isNew: false };
  if (database !== null)
    throw new ConfigError(
      "OPENPO_ADMIN_TOKEN: is needed with OPENPO_DATABASE_URL. Nodes are identical and keep nothing of their own: give each of them the same token.",
    );
  const kept = keptAdminToken(dataDir);
  return kept === null ? { token: makeAdminToken(dataDir), isNew: true } : { token: kept, isNew: isFirstStart };
}

/** The names by which the service is reached, as they stand in a Host header; an address that means "any" is none. */
const hostsOf = ({ host, allowedHosts }: Config): readonly string[] =>
  host === "0.0.0.0" || host === "::" ? allowedHosts : [...allowedHosts, host.includes(":") ? `[${host}]` : host];

const listenMessages: Readonly<Record<string, string>> = {
  EADDRINUSE: "is in use. Stop what uses it, or set PORT to another",
  EACCES: "may not be opened by this user. Set PORT to one above 1023",
  EADDRNOTAVAIL: "is not an address of this machine. Set OPENPO_HOST to one that is",
  ENOTFOUND: "is not an address of this machine. Set OPENPO_HOST to one that is",
};

/**
 * Opens the data directory or the database and serves.
 *
 * @throws ConfigError when it or the address cannot be used.
 */
export async function openService(config: Config): Promise<Service> {
  const destination = pino.destination({ fd: 2, sync: false });
  const log = pino({ level: config.logLevel }, destination);
  // Told before anything is made.
  if (config.database !== null) adminTokenOf(config, false);
  const store =
    config.database === null ? await openDataDirectory(config.dataDir, log) : await openDatabase(config.database, log);
  const closers: (() => Promise<void> | void)[] = [() => store.close()];
  const close = async (): Promise<void> => {
    for (let closer = closers.pop(); closer !== undefined; closer = closers.pop()) await closer();
    log.flush();
  };
  try {
    const adminToken = adminTokenOf(config, store.isNew);
    const { engine, coordination, clock, ids, alone } = store;
    const storefrontOf = (shopId: string) => Promise.resolve(store.sandboxOf(shopId));
    const outbox = createOutbox({
      engine,
      storefrontOf,
      clock,
      ids,
      log,
      alone,
      random: Math.random,
      recover: (shopId, signal) => recoverImports(importContext(admin), shopId, { alone, signal }),
    });
    closers.push(() => outbox.close());
    const admin = store.adminContext((shopId) => {
      outbox.settle(shopId, [], 0).catch((error: unknown) => {
        log.error({ err: error, shopId }, "follow-on work could not be started");
      });
    });
    const demo = store.isNew && config.demo ? await makeDemoShop(askHere(admin), clock.now()) : null;

    const perform = createPerform({
      engine,
      coordination,
      clock,
      ids,
      outbox,
      storefrontOf,
      log,
    });
    const app = createApp({
      operations,
      perform,
      clock,
      ids,
      log,
      metrics: createMetrics(store.gauges),
      ready: () => engine.ready(),
      surfaces: [
        createAdmin(admin, adminToken.token),
        createDocs(loadReferenceBundle),
        createMcp({ operations, perform, engine, log, allowedHosts: hostsOf(config) }),
      ],
    });
    const server = await startHttpServer({ app, host: config.host, port: config.port, ids, log }).catch(
      (error: unknown) => {
        const code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
        const message = listenMessages[code];
        if (message === undefined) throw error;
        throw new ConfigError(`Port ${config.port} on ${config.host} ${message}.`, { cause: error });
      },
    );
    closers.push(() => server.stop());
    // Last: a start that failed on the way has shown nobody the keys it made, and the next one is a first start again.
    await store.settle();
    outbox.start().catch((error: unknown) => log.error({ err: error }, "follow-on work could not be resumed"));
    return { host: server.host, port: server.port, place: store.place, adminToken, demo, close };
  } catch (error) {
    await close();
    throw error;
  }
}
