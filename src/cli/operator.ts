/**
 * Where a command's work is done: behind the admin API of a server, or in this process on a data directory or a
 * database.
 *
 * Owns: which of them, and the admin token. Does not own: the way to a server (admin-client.ts), what operations do
 * (admin).
 *
 * With `--url` it is that server; else, with `OPENPO_DATABASE_URL`, that database. Else the data directory decides.
 * While a server has its lock, it is that server, at the address that it has recorded there. Otherwise it is the
 * directory itself, which is locked for as long as the command runs. A directory without data is only made by commands
 * that bring some.
 *
 * Before a server is asked, its identity is compared with the one that the directory or the database has, wherever one
 * of them is named. A kept admin token is sent to no other server. Settings that contradict each other are refused.
 */
import { memberOf } from "../base/json.ts";
import { SecretBox } from "../base/secret-box.ts";
import { type Ask, askHere } from "../admin/ask.ts";
import { Documents } from "../documents/documents.ts";
import { openStorefronts } from "../service/storefronts.ts";
import { type Config, localUrl, nameOfDatabase } from "../service/config.ts";
import type { DatabaseConfig } from "../service/option-values.ts";
import { holdsData, isClaimed, keptAdminToken, openDataDirectory, recordedServer } from "../service/data-directory.ts";
import type { OpenStore } from "../service/open-store.ts";
import type { Log } from "../store/store.ts";
import { askServer, serverUrl, whoAnswers } from "./admin-client.ts";
import { CommandError, exitCodes } from "./errors.ts";
import type { Output } from "./output.ts";

export interface Operator {
  readonly ask: Ask;
  /** True if links that are made here begin with an address that others reach. */
  readonly linksLeadHere: boolean;
  close(): Promise<void>;
}

/** Places that were named explicitly, and are therefore not overruled in silence. */
export interface Named {
  /** `PORT` is set, to a port. */
  readonly port: boolean;
  /** Source of the data directory: `--data-dir` or `OPENPO_DATA_DIR`; null when it is the default. */
  readonly dataDir: "option" | "environment" | null;
}

interface OperatorOptions {
  readonly config: Config;
  /** The server to ask, whatever the data directory says. */
  readonly url: string | null;
  readonly named: Named;
  /** True if the command may make the first data of a data directory or a database. */
  readonly mayBegin: boolean;
  readonly output: Output;
}

/**
 * Opens the operator's side.
 *
 * @throws CommandError when no server answers and no directory or database with data is there, or another server
 *   answers than the named one.
 */
export async function openOperator(options: OperatorOptions): Promise<Operator> {
  const { config, url } = options;
  if (url !== null) return await atNamedServer(serverUrl(url), options);
  return config.database === null ? await onDirectory(options) : await onDatabase(config.database, options);
}

/** In this process on a database, beside its nodes. */
async function onDatabase(database: DatabaseConfig, { config, mayBegin, output }: OperatorOptions): Promise<Operator> {
  const { openDatabase } = await import("../service/database.ts");
  const log = errorsTo(output);
  const store = await openDatabase(database, log);
  if (store.isNew && !mayBegin) {
    await store.close();
    throw new CommandError(exitCodes.unreachable, `there is no data in ${store.place}.`, {
      action: "Start a node with openpo serve, or make a shop with openpo shop create.",
    });
  }
  output.message(`Working directly on ${store.place}, beside the nodes that run on it.`);
  // Effects in the outbox are found by the nodes.
  return await inStore(store, config, log);
}

/** Behind the server that runs on the data directory, or in this process on the directory itself. */
async function onDirectory(options: OperatorOptions): Promise<Operator> {
  const { config, mayBegin, output } = options;
  const { dataDir } = config;
  if (isClaimed(dataDir)) return await atHolder(options);
  const isNew = !holdsData(dataDir);
  await refuseOtherServer(options, isNew);
  if (isNew && !mayBegin)
    throw new CommandError(exitCodes.unreachable, `there is no data in ${dataDir}, and no server runs on it.`, {
      action: "Start one with openpo serve, or name the right directory or server: --data-dir, --url.",
    });
  const log = errorsTo(output);
  const store = await openDataDirectory(dataDir, log);
  output.message(`Working directly on ${dataDir}${isNew ? ", which is new" : ""}; no server runs on it.`);
  // Effects stay in the outbox until a server runs.
  return await inStore(store, config, log);
}

/**
 * No server runs on the directory, so one at `PORT` runs on another. With `PORT` set, or with a new directory that
 * nobody named, that server may be the one that is meant.
 *
 * @throws CommandError when there is one.
 */
async function refuseOtherServer({ config, named }: OperatorOptions, isNew: boolean): Promise<void> {
  const mayBeMeant = named.port ? named.dataDir !== "option" : isNew && named.dataDir === null;
  if (!mayBeMeant || config.port === 0) return;
  const url = serverUrl(localUrl(config));
  if ((await whoAnswers(url)) === null) return;
  throw new CommandError(
    exitCodes.usage,
    `the server at ${url.origin} does not run on ${config.dataDir}; no server does.`,
    { action: `To ask that server: --url ${url.origin}. To work on the directory: --data-dir ${config.dataDir}.` },
  );
}

/** Behind the server that has claimed the data directory. */
async function atHolder(options: OperatorOptions): Promise<Operator> {
  const { config, named, output } = options;
  const { dataDir } = config;
  const recorded = recordedServer(dataDir);
  if (recorded === null)
    throw new CommandError(exitCodes.failed, `${dataDir} is in use, but no server has recorded its address there.`, {
      action:
        "Another openpo command works on it, or a server starts or stops: try again in a moment. For a server of an older version give its address: --url.",
    });
  const url = serverUrl(recorded.url);
  if (named.port && named.dataDir !== "option" && Number(url.port) !== config.port)
    throw new CommandError(
      exitCodes.usage,
      `PORT is ${config.port}, but the server that runs on ${dataDir} is at ${url.origin}.`,
      {
        action: `To ask the one that runs on the directory: --data-dir ${dataDir}. To ask the other one: --url ${localUrl(config)}.`,
      },
    );
  const found = await whoAnswers(url);
  if (found === null)
    throw new CommandError(
      exitCodes.unreachable,
      `a server runs on ${dataDir}, but does not answer at ${url.origin}, the address that it has recorded.`,
      {
        action: "If it runs in a container or on another machine, give the address at which it is reached: --url.",
      },
    );
  if (found.identity !== recorded.identity)
    throw new CommandError(
      exitCodes.failed,
      `the server at ${url.origin} is not the one that runs on ${dataDir}, although it was recorded there.`,
      { action: "Give the address at which the one that runs on it is reached: --url." },
    );
  output.message(`Asking the server at ${url.origin}, which runs on ${dataDir}.`);
  const server = atServer(url, config.adminToken ?? keptAdminToken(dataDir));
  return { ...server, linksLeadHere: recorded.publicUrl !== null };
}

/** Behind the server that `--url` names. */
async function atNamedServer(url: URL, options: OperatorOptions): Promise<Operator> {
  const { config, named, output } = options;
  const { dataDir, database, adminToken } = config;
  if (database !== null) await requireNodeOf(database, url);
  const kept = keptAdminToken(dataDir);
  // Without need the server is not asked who it is: a proxy may not let that through.
  const mustRunOnDirectory = database === null && named.dataDir === "option";
  const runsOnDirectory =
    (mustRunOnDirectory || (adminToken === null && kept !== null)) && (await runsOn(dataDir, url));
  if (mustRunOnDirectory && !runsOnDirectory)
    throw new CommandError(exitCodes.usage, `the server at ${url.origin} does not run on ${dataDir}.`, {
      action: "Leave out --data-dir to ask that server, or --url to work on the directory.",
    });
  if (adminToken === null && kept !== null && !runsOnDirectory)
    throw unknownToken(url, `The one in ${dataDir} is for another server. `);
  output.message(`Asking the server at ${url.origin}.`);
  return atServer(url, adminToken ?? kept);
}

/** @throws CommandError unless the server is a node of the database. */
async function requireNodeOf(database: DatabaseConfig, url: URL): Promise<void> {
  const found = await requireAnswer(url);
  const { identityOfDatabase } = await import("../service/database.ts");
  const expected = await identityOfDatabase(database);
  if (expected !== null && found === expected) return;
  throw new CommandError(
    exitCodes.usage,
    `the server at ${url.origin} does not run on ${nameOfDatabase(database)}, which OPENPO_DATABASE_URL names.`,
    {
      action: "Unset OPENPO_DATABASE_URL to ask that server. Without --url the command works on the database.",
    },
  );
}

/**
 * Resolves to true if the server at this address is the one that runs on the data directory. @throws CommandError when
 * none answers.
 */
async function runsOn(dataDir: string, url: URL): Promise<boolean> {
  const found = await requireAnswer(url);
  return found !== null && isClaimed(dataDir) && found === recordedServer(dataDir)?.identity;
}

/** The identity of the server at this address. @throws CommandError when none answers. */
async function requireAnswer(url: URL): Promise<string | null> {
  const found = await whoAnswers(url);
  if (found !== null) return found.identity;
  throw new CommandError(exitCodes.unreachable, `no server answers at ${url.origin}.`, {
    action: "Start one with openpo serve, or correct its address (--url).",
  });
}

async function inStore(
  store: OpenStore,
  { webhooks: policy, documentFont, storefronts, publicUrl }: Config,
  log: Log,
): Promise<Operator> {
  await store.completeFirstStart();
  const documents = new Documents({ ...store, log, fontFile: documentFont });
  const webhooks = { policy, secrets: new SecretBox(storefronts.secretKey), changed: () => {} };
  return {
    ask: askHere(
      store.adminContext({
        wakeOutbox: () => {},
        storefronts: openStorefronts(storefronts, store, log),
        webhooks,
        documents,
        mailIsOn: false,
        publicUrl,
      }),
    ),
    linksLeadHere: publicUrl !== null,
    async close() {
      await documents.close();
      await store.close();
    },
  };
}

const unknownToken = (url: URL, reason = ""): CommandError =>
  new CommandError(exitCodes.unauthorized, `the admin token of ${url.origin} is not known.`, {
    action: `${reason}Give it with OPENPO_ADMIN_TOKEN or --token; it is in the server's data directory, in admin-token.`,
  });

/**
 * Whoever names a server names the address that others reach, unless the server has another. @throws CommandError
 * without a token.
 */
function atServer(url: URL, adminToken: string | null): Operator {
  if (adminToken === null) throw unknownToken(url);
  const ask = askServer(url, adminToken);
  return { ask, linksLeadHere: true, close: () => Promise.resolve() };
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
