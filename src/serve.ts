/**
 * The running service: every room wired to the next, on one data directory.
 *
 * Owns: what is opened, in which order, and closed in the reverse one. Does not own: the data directory (data-directory.ts), arguments,
 * signals and what a person is shown (cli.ts).
 */
import { pino } from "pino";
import { createAdmin } from "./admin/app.ts";
import { askHere, type DemoShop, makeDemoShop } from "./admin/ask.ts";
import { type Config, ConfigError } from "./config.ts";
import { keptAdminToken, makeAdminToken, openDataDirectory } from "./data-directory.ts";
import { createApp } from "./http/app.ts";
import { createDocs } from "./http/docs.ts";
import { createMetrics } from "./http/metrics.ts";
import { loadReferenceBundle } from "./http/reference-bundle.ts";
import { startHttpServer } from "./http/server.ts";
import { createMcp } from "./mcp/app.ts";
import { createPerform } from "./operations/perform.ts";
import { operations } from "./operations/registry.ts";
import { memoryCoordination } from "./shop/coordination.ts";
import { createOutbox } from "./shop/outbox.ts";

export interface Service {
  readonly host: string;
  readonly port: number;
  /** `isNew`: it was made here, and no start before this one has shown it. */
  readonly adminToken: { readonly token: string; readonly isNew: boolean };
  /** What was made on this first start; null on any other. */
  readonly demo: DemoShop | null;
  /** Stops accepting, lets what runs finish, and closes everything. */
  close(): Promise<void>;
}

/** The operator's token: the configured one, else the one in the data directory, made when there is none. */
function adminTokenOf({ adminToken, dataDir }: Config, isFirstStart: boolean): Service["adminToken"] {
  if (adminToken !== null) return { token: adminToken, isNew: false };
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
 * Opens the data directory and serves.
 *
 * @throws ConfigError when the directory or the address cannot be used.
 */
export async function openService(config: Config): Promise<Service> {
  const { dataDir } = config;
  const destination = pino.destination({ fd: 2, sync: false });
  const log = pino({ level: config.logLevel }, destination);
  const directory = await openDataDirectory(dataDir, log);
  const closers: (() => Promise<void> | void)[] = [() => directory.close()];
  const close = async (): Promise<void> => {
    for (let closer = closers.pop(); closer !== undefined; closer = closers.pop()) await closer();
    log.flush();
  };
  try {
    const adminToken = adminTokenOf(config, directory.isNew);
    const { engine, clock, ids } = directory;
    const storefrontOf = (shopId: string) => Promise.resolve(directory.sandboxOf(shopId));
    const outbox = createOutbox({ engine, storefrontOf, clock, ids, log, alone: true, random: Math.random });
    closers.push(() => outbox.close());
    const admin = directory.adminContext((shopId) => {
      outbox.settle(shopId, [], 0).catch((error: unknown) => {
        log.error({ err: error, shopId }, "follow-on work could not be started");
      });
    });
    const demo = directory.isNew && config.demo ? await makeDemoShop(askHere(admin), clock.now()) : null;

    const perform = createPerform({
      engine,
      coordination: memoryCoordination(),
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
      metrics: createMetrics(),
      ready: () => engine.ready(),
      mounts: [
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
    directory.settle();
    outbox.start().catch((error: unknown) => log.error({ err: error }, "follow-on work could not be resumed"));
    return { host: server.host, port: server.port, adminToken, demo, close };
  } catch (error) {
    await close();
    throw error;
  }
}
