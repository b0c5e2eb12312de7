/**
 * Where a command's work is done: behind the admin API of a server, or in this process on a data directory that no server has or on a
 * database that any number of nodes may have.
 *
 * Owns: which of the two, the admin token, and the translation to HTTP. Does not own: what operations do (admin).
 *
 * With `--url` (or `OPENPO_URL`) it is that server; else, with `OPENPO_DATABASE_URL`, that database. Else it follows the data directory: while a server has its lock, that server,
 * expected at `OPENPO_HOST` and `PORT`; otherwise the directory itself, which is locked for as long as the command runs. A
 * directory that holds no data yet is only made by commands that bring some, and only if no server answers there either.
 */
import { type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { adminPrefix } from "../admin/app.ts";
import { type Answer, type Ask, askHere, operationNamed } from "../admin/ask.ts";
import { type Config, ConfigError } from "../config.ts";
import { Fault } from "../core/fault.ts";
import { holdsData, isClaimed, keptAdminToken, openDataDirectory } from "../data-directory.ts";
import { bindingOf, spellRequest } from "../http/routes.ts";
import type { OpenStore } from "../open-store.ts";
import { openDatabase } from "../database.ts";
import type { Log } from "../store/store.ts";
import { CommandError, exitCodes } from "./arguments.ts";
import { memberOf, type Output } from "./output.ts";

export interface Operator {
  readonly ask: Ask;
  /** The admin token that the data directory keeps; null when it keeps none or is not at hand. */
  readonly keptAdminToken: string | null;
  close(): Promise<void>;
}

export interface OperatorOptions {
  readonly config: Config;
  /** The server to ask, whatever the data directory says. */
  readonly url: string | null;
  /** Whether the command may begin a data directory or a database. */
  readonly mayBegin: boolean;
  readonly output: Output;
}

/** @throws CommandError when there is neither a server, nor a data directory or database that holds data, to work with. */
export async function openOperator({ config, url, mayBegin, output }: OperatorOptions): Promise<Operator> {
  const { dataDir } = config;
  if (url !== null) return { ...atServer(serverUrl(url), config, output), keptAdminToken: null };
  const log: Log = {
    info: () => {},
    warn: () => {},
    error: (details, message) => output.say(`openpo: ${message} ${describe(memberOf(details, "err"))}`),
  };
  if (config.database !== null) {
    const store = await openDatabase(config.database, log);
    if (store.isNew && !mayBegin) {
      await store.close();
      throw new CommandError(exitCodes.unreachable, `there is no data in ${store.place}.`, {
        action: "Start a node with openpo serve, or make a shop with openpo shop create.",
      });
    }
    output.say(`Working directly on ${store.place}, beside the nodes that run on it.`);
    // Its nodes look for what comes into the outbox.
    return { ...(await atStore(store)), keptAdminToken: null };
  }
  const local = serverUrl(`http://${hostInUrl(config.host)}:${config.port}`);
  if (isClaimed(dataDir)) return atServer(local, config, output);
  if (!holdsData(dataDir)) {
    if (await answers(local)) return atServer(local, config, output);
    if (!mayBegin)
      throw new CommandError(
        exitCodes.unreachable,
        `there is no data in ${dataDir}, and no server answers at ${local.origin}.`,
        { action: "Start one with openpo serve, or say where: --url, --data-dir." },
      );
  }
  const store = await openDataDirectory(dataDir, log);
  output.say(`Working directly on ${dataDir}; no server runs on it.`);
  // What the storefront is to follow in stays in the outbox until a server runs.
  return { ...(await atStore(store)), keptAdminToken: keptAdminToken(dataDir) };
}

/** Asks in this process. */
async function atStore(store: OpenStore): Promise<Pick<Operator, "ask" | "close">> {
  await store.settle();
  return { ask: askHere(store.adminContext(() => {})), close: () => store.close() };
}

const describe = (error: unknown): string => (error instanceof Error ? error.message : "");

/** A server that listens everywhere is reached on this machine. */
function hostInUrl(host: string): string {
  const name = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return name.includes(":") ? `[${name}]` : name;
}

function serverUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new CommandError(exitCodes.usage, `--url: ${text} is not an address like http://127.0.0.1:8080.`);
  return url;
}

async function answers(url: URL): Promise<boolean> {
  try {
    const response = await send(url, "GET", "/healthz", {}, null);
    response.resume();
    return response.statusCode === 200;
  } catch {
    return false;
  }
}

function atServer(url: URL, config: Config, output: Output): Operator {
  const adminToken = config.adminToken ?? keptAdminToken(config.dataDir);
  if (adminToken === null)
    throw new CommandError(exitCodes.unauthorized, `the admin token of ${url.origin} is not known.`, {
      action: "Give it with OPENPO_ADMIN_TOKEN or --token; it is in the server's data directory, in admin-token.",
    });
  output.say(`Asking the server at ${url.origin}.`);
  return {
    ask: askServer(url, adminToken),
    keptAdminToken: keptAdminToken(config.dataDir),
    close: () => Promise.resolve(),
  };
}

/** Asks through the admin API. */
function askServer(url: URL, adminToken: string): Ask {
  return async (name, input, body) => {
    const operation = operationNamed(name);
    const binding = bindingOf(operation);
    const request = spellRequest(binding, input);
    const query = new URLSearchParams(
      request.query.map(([parameter, value]): [string, string] => [parameter, value]),
    ).toString();
    const isJson = binding.body.length > 0;
    const response = await send(
      url,
      operation.route.method,
      `${adminPrefix}${request.path}${query === "" ? "" : `?${query}`}`,
      {
        Authorization: `Bearer ${adminToken}`,
        "Content-Type": isJson ? "application/json" : "application/octet-stream",
      },
      body ?? (isJson ? one(JSON.stringify(request.body)) : null),
    );
    return await answerOf(url, response);
  };
}

async function* one(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

/**
 * Sends a request. The answer may come before the whole body has gone out: a file is refused at its first bad line.
 *
 * @throws CommandError when nobody answers.
 */
async function send(
  url: URL,
  method: string,
  target: string,
  headers: Readonly<Record<string, string>>,
  body: AsyncIterable<Uint8Array> | null,
): Promise<IncomingMessage> {
  const base = url.pathname.replace(/\/$/, "");
  const request = url.protocol === "https:" ? httpsRequest : httpRequest;
  const outgoing = request(new URL(base + target, url), { method, headers });
  // Whatever goes wrong once an answer has come is told by the answer.
  outgoing.on("error", () => {});
  const responded = new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once("response", resolve).once("error", reject);
  });
  const sent = body === null ? Promise.resolve(outgoing.end()) : sendBody(outgoing, body);
  try {
    const response = await Promise.race([responded, sent.then(() => responded)]);
    response.once("end", () => outgoing.destroy());
    return response;
  } catch (error) {
    if (memberOf(error, "syscall") === "connect" || ["ECONNRESET", "EPIPE"].includes(String(memberOf(error, "code"))))
      throw unreachable(url, error);
    throw error;
  }
}

/** Sends the body at the pace at which it is taken, until it ends or nobody takes it any more. */
async function sendBody(outgoing: ClientRequest, body: AsyncIterable<Uint8Array>): Promise<void> {
  let isAnswered = false;
  outgoing.once("response", () => (isAnswered = true));
  const closed = new Promise<void>((resolve) => void outgoing.once("close", resolve));
  try {
    for await (const piece of body) {
      if (isAnswered || outgoing.destroyed) return;
      if (outgoing.write(piece)) continue;
      await Promise.race([new Promise<void>((resolve) => void outgoing.once("drain", resolve)), closed]);
    }
    outgoing.end();
  } catch (error) {
    outgoing.destroy();
    throw error;
  }
}

function unreachable(url: URL, error: unknown): CommandError {
  return new CommandError(exitCodes.unreachable, `no server answers at ${url.origin}: ${describe(error)}`, {
    action: "Start one with openpo serve, or say where it is: --url, or PORT and OPENPO_HOST.",
  });
}

async function textOf(response: IncomingMessage): Promise<string> {
  response.setEncoding("utf8");
  let text = "";
  for await (const piece of response) text += String(piece);
  return text;
}

async function answerOf(url: URL, response: IncomingMessage): Promise<Answer> {
  const status = response.statusCode ?? 0;
  if (status < 400 && response.headers["content-type"] !== "application/json") return { file: response };
  const body = parsed(await textOf(response));
  if (status < 400) return { data: memberOf(body, "data") };
  const error = memberOf(body, "error");
  if (typeof error !== "object" || error === null)
    throw new CommandError(exitCodes.failed, `the server at ${url.origin} answered ${status} without saying why.`, {
      action: "Is it OpenPO? See --url.",
    });
  const action = memberOf(error, "action");
  const message = memberOf(error, "message");
  throw new CommandError(
    status === 401 ? exitCodes.unauthorized : exitCodes.failed,
    typeof message === "string" ? message : `the server answered ${status}.`,
    { action: typeof action === "string" ? action : null, body: error },
  );
}

function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return null;
  }
}

/** What ends a command, as it is shown; null for what is a bug. */
export function commandErrorOf(error: unknown): CommandError | null {
  if (error instanceof CommandError) return error;
  if (error instanceof ConfigError) return new CommandError(exitCodes.failed, error.message);
  if (error instanceof Fault) {
    const { code, message, reason, action, details, retryable } = error;
    return new CommandError(exitCodes.failed, message, {
      action,
      body: {
        code,
        message,
        retryable,
        ...(reason === null ? {} : { reason }),
        ...(action === null ? {} : { action }),
        ...(details === null ? {} : { details }),
      },
    });
  }
  return null;
}
