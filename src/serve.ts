/**
 * The running service: every room wired to the next, on one data directory.
 *
 * Owns: what is opened, in which order, and closed in the reverse one. Does not own: arguments, signals and what a person is shown
 * (main.ts).
 *
 *     data/  lock.db · format · admin-token (mode 0600) · shops/<shopId>… · sandbox/<shopId>…
 */
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pino } from "pino";
import { createAdmin } from "./admin/app.ts";
import { demoRecords, demoShop, demoShopId } from "./admin/demo.ts";
import { importRecords, recoverImports } from "./admin/import.ts";
import { type AdminContext, adminOperations, importContext } from "./admin/operations.ts";
import { type Config, ConfigError } from "./config.ts";
import { Fault } from "./core/fault.ts";
import { createApp } from "./http/app.ts";
import { createMetrics } from "./http/metrics.ts";
import { startHttpServer } from "./http/server.ts";
import { createPerform } from "./operations/perform.ts";
import { operations } from "./operations/registry.ts";
import { loadShop } from "./shop/account.ts";
import { memoryCoordination } from "./shop/coordination.ts";
import { createOutbox } from "./shop/outbox.ts";
import { lockDirectory, openSqliteEngine } from "./shop/sqlite.ts";
import { systemClock, timeOrderedIds } from "./shop/system.ts";
import { openSandbox } from "./storefront/sandbox.ts";

/** Files of shops that are kept open. */
const shopsOpenMax = 256;
/** What this version writes into `format`; it can read no other. */
const dataFormat = "1";
const adminTokenBytes = 32;
/** The token's own beginning, so that one that leaks is recognised. */
const adminTokenPrefix = "opa_";

export interface Service {
  readonly host: string;
  readonly port: number;
  readonly adminToken: { readonly token: string; readonly isNew: boolean };
  /** What was made on this first start; null on any other. */
  readonly demo: { readonly shopId: string; readonly readKey: string; readonly writeKey: string } | null;
  /** Stops accepting, lets what runs finish, and closes everything. */
  close(): Promise<void>;
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Claims the directory. @throws ConfigError when it cannot be used, saying why. */
function claim(dataDir: string): { release(): void } {
  try {
    return lockDirectory(dataDir);
  } catch (error) {
    const systemCode = error instanceof Error && "code" in error && "syscall" in error;
    if (!systemCode) throw new ConfigError(reasonOf(error), { cause: error });
    throw new ConfigError(
      `OPENPO_DATA_DIR: the data directory ${dataDir} cannot be created or opened: ${reasonOf(error)}`,
      { cause: error },
    );
  }
}

/** @returns whether nothing was ever kept here. */
function isFirstStart(dataDir: string): boolean {
  const file = path.join(dataDir, "format");
  if (!existsSync(file)) return true;
  const format = readFileSync(file, "utf8").trim();
  if (format !== dataFormat)
    throw new ConfigError(
      `OPENPO_DATA_DIR: ${dataDir} is in format ${JSON.stringify(format)}, and this version reads format ${dataFormat} only. Use the version that wrote it, or a newer one.`,
    );
  return false;
}

/** The operator's token: the configured one, else the one in the data directory, made when there is none. */
function adminTokenOf({ adminToken, dataDir }: Config): { readonly token: string; readonly isNew: boolean } {
  if (adminToken !== null) return { token: adminToken, isNew: false };
  const file = path.join(dataDir, "admin-token");
  if (existsSync(file)) {
    const kept = readFileSync(file, "utf8").trim();
    if (kept !== "") return { token: kept, isNew: false };
  }
  const made = adminTokenPrefix + randomBytes(adminTokenBytes).toString("base64url");
  writeFileSync(file, `${made}\n`, { mode: 0o600 });
  return { token: made, isNew: true };
}

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
  const lock = claim(dataDir);
  const closers: (() => Promise<void> | void)[] = [() => lock.release()];
  const close = async (): Promise<void> => {
    for (let closer = closers.pop(); closer !== undefined; closer = closers.pop()) await closer();
    log.flush();
  };
  try {
    const firstStart = isFirstStart(dataDir);
    const adminToken = adminTokenOf(config);
    const clock = systemClock;
    const ids = timeOrderedIds(clock);
    const openEngine = async (name: string, schemaDirectory: string) => {
      const directory = path.join(dataDir, name);
      mkdirSync(directory, { recursive: true });
      const engine = await openSqliteEngine({
        directory,
        schemaDirectory: path.join(import.meta.dirname, schemaDirectory),
        shopsOpenMax,
        clock,
        log,
      });
      closers.push(() => engine.close());
      return engine;
    };
    const sandboxEngine = await openEngine("sandbox", "storefront/schema");
    const engine = await openEngine("shops", "shop/schema");
    const sandboxOf = (shopId: string) => openSandbox({ engine: sandboxEngine, clock, shopId });
    const storefrontOf = (shopId: string) => Promise.resolve(sandboxOf(shopId));
    const outbox = createOutbox({ engine, storefrontOf, clock, ids, log, alone: true, random: Math.random });
    closers.push(() => outbox.close());

    const admin: AdminContext = {
      engine,
      clock,
      ids,
      sandboxOf,
      wakeOutbox(shopId) {
        outbox.settle(shopId, [], 0).catch((error: unknown) => {
          log.error({ err: error, shopId }, "follow-on work could not be started");
        });
      },
    };
    for (const shopId of await engine.list()) {
      try {
        await recoverImports(importContext(admin), shopId);
      } catch (error) {
        // That shop answers 503 itself; the others are served.
        log.error({ err: error, shopId }, "shop cannot be opened");
      }
    }
    const demo = firstStart && config.demo ? await makeDemo(admin) : null;
    if (firstStart) writeFileSync(path.join(dataDir, "format"), `${dataFormat}\n`);

    const app = createApp({
      operations,
      perform: createPerform({
        engine,
        coordination: memoryCoordination(),
        clock,
        ids,
        outbox,
        storefrontOf,
        log,
      }),
      clock,
      ids,
      log,
      metrics: createMetrics(),
      ready: () => engine.ready(),
      mounts: [createAdmin(admin, adminToken.token)],
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
    outbox.start().catch((error: unknown) => log.error({ err: error }, "follow-on work could not be resumed"));
    return { host: server.host, port: server.port, adminToken, demo, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Makes the demo shop as an operator would: create, import, two keys. Repeatable, should the first start be cut off. */
async function makeDemo(admin: AdminContext): Promise<NonNullable<Service["demo"]>> {
  const call = { requestId: admin.ids.next("req"), body: (async function* () {})() };
  const ask = async (name: string, raw: object): Promise<unknown> => {
    const operation = adminOperations.find((each) => each.name === name);
    if (operation === undefined) throw new Error(`there is no operation ${name}`);
    const answer = await operation.perform(admin, raw, [], call);
    return "data" in answer ? answer.data : null;
  };
  const keyOf = (data: unknown): string => {
    if (typeof data !== "object" || data === null || !("apiKey" in data) || typeof data.apiKey !== "string")
      throw new Error("no key was made");
    return data.apiKey;
  };
  const shopId = demoShopId;
  await ask("shop_put", { shopId, ...demoShop });
  const shop = await admin.engine.read(shopId, (tx) => loadShop(tx, shopId));
  if (shop === null) throw new Fault("NOT_FOUND", `There is no shop ${shopId}.`);
  const lines = [...demoRecords(admin.clock.now())].map((record) => JSON.stringify(record)).join("\n");
  await importRecords(importContext(admin), shop, bytesOf(lines), call.requestId);
  const readKey = keyOf(await ask("key_create", { shopId, name: "demo read key", scope: "read" }));
  const writeKey = keyOf(await ask("key_create", { shopId, name: "demo write key", scope: "write" }));
  return { shopId, readKey, writeKey };
}

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
