/**
 * Where a command's work is done: behind the admin API of a server, or in this process on a data directory or a database.
 *
 * Owns: which of them, and the admin token. Does not own: the way to a server (admin-client.ts), what operations do (admin).
 *
 * With `--url` (or `OPENPO_URL`) it is that server; else, with `OPENPO_DATABASE_URL`, that database. Else the data directory decides:
 * while a server has its lock, it is that server, expected at `OPENPO_HOST` and `PORT`; otherwise the directory itself, which is locked
 * for as long as the command runs. A directory without data is only made by commands that bring some, and only if no server answers
 * there either.
 */
import { type Ask, askHere } from "../admin/ask.ts";
import type { Config } from "../config.ts";
import { holdsData, isClaimed, keptAdminToken, openDataDirectory } from "../data-directory.ts";
import { openDatabase } from "../database.ts";
import type { OpenStore } from "../open-store.ts";
import type { Log } from "../store/store.ts";
import { answers, askServer, localUrl, serverUrl } from "./admin-client.ts";
import { CommandError, exitCodes } from "./errors.ts";
import { memberOf, type Output } from "./output.ts";

export interface Operator {
  readonly ask: Ask;
  /** The admin token that the data directory keeps; null when it keeps none or there is no directory. */
  readonly keptAdminToken: string | null;
  close(): Promise<void>;
}

interface OperatorOptions {
  readonly config: Config;
  /** The server to ask, whatever the data directory says. */
  readonly url: string | null;
  /** Whether the command may make the first data of a data directory or a database. */
  readonly mayBegin: boolean;
  readonly output: Output;
}

/**
 * Opens the operator's side.
 *
 * @throws CommandError when no server answers and no data directory or database with data is there.
 */
export async function openOperator(options: OperatorOptions): Promise<Operator> {
  const { config, url, output } = options;
  if (url !== null) return { ...atServer(serverUrl(url), config, output), keptAdminToken: null };
  return config.database === null ? await onDirectory(options) : await onDatabase(config.database, options);
}

/** In this process on a database, beside its nodes. */
async function onDatabase(
  database: NonNullable<Config["database"]>,
  { mayBegin, output }: OperatorOptions,
): Promise<Operator> {
  const store = await openDatabase(database, errorsTo(output));
  if (store.isNew && !mayBegin) {
    await store.close();
    throw new CommandError(exitCodes.unreachable, `there is no data in ${store.place}.`, {
      action: "Start a node with openpo serve, or make a shop with openpo shop create.",
    });
  }
  output.message(`Working directly on ${store.place}, beside the nodes that run on it.`);
  // Effects in the outbox are found by the nodes.
  return { ...(await inStore(store)), keptAdminToken: null };
}

/** Behind the server that runs on the data directory, or in this process on the directory itself. */
async function onDirectory({ config, mayBegin, output }: OperatorOptions): Promise<Operator> {
  const { dataDir } = config;
  const local = serverUrl(localUrl(config));
  if (isClaimed(dataDir)) return atServer(local, config, output);
  if (!holdsData(dataDir)) {
    if (await answers(local)) return atServer(local, config, output);
    if (!mayBegin)
      throw new CommandError(
        exitCodes.unreachable,
        `there is no data in ${dataDir}, and no server answers at ${local.origin}.`,
        { action: "Start one with openpo serve, or say where it is: --url, --data-dir." },
      );
  }
  const store = await openDataDirectory(dataDir, errorsTo(output));
  output.message(`Working directly on ${dataDir}; no server runs on it.`);
  // Effects stay in the outbox until a server runs.
  return { ...(await inStore(store)), keptAdminToken: keptAdminToken(dataDir) };
}

async function inStore(store: OpenStore): Promise<Pick<Operator, "ask" | "close">> {
  await store.completeFirstStart();
  return { ask: askHere(store.adminContext(() => {})), close: () => store.close() };
}

function atServer(url: URL, config: Config, output: Output): Operator {
  const kept = keptAdminToken(config.dataDir);
  const adminToken = config.adminToken ?? kept;
  if (adminToken === null)
    throw new CommandError(exitCodes.unauthorized, `the admin token of ${url.origin} is not known.`, {
      action: "Give it with OPENPO_ADMIN_TOKEN or --token; it is in the server's data directory, in admin-token.",
    });
  output.message(`Asking the server at ${url.origin}.`);
  return { ask: askServer(url, adminToken), keptAdminToken: kept, close: () => Promise.resolve() };
}

/** A log of which a command shows only the errors. */
const errorsTo = (output: Output): Log => ({
  info: () => {},
  warn: () => {},
  error: (details, message) => {
    const error = memberOf(details, "err");
    output.message(`openpo: ${message}${error instanceof Error ? ` ${error.message}` : ""}`);
  },
});
