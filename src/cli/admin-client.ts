/**
 * The operator's operations behind a server's admin API.
 *
 * Owns: how an operation is sent and its answer read. Does not own: which server (operator.ts), what operations do
 * (admin).
 */
import { memberOf, jsonOrNull } from "../base/json.ts";
import { type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import { type Answer, type Ask, operationNamed } from "../admin/ask.ts";
import { bindingOf, spellRequest } from "../http/routes.ts";
import { CommandError, exitCodes } from "./errors.ts";
import { adminPrefix } from "../http/routes.ts";

/** @throws CommandError when the text is no http or https URL. */
export function serverUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new CommandError(exitCodes.usage, `--url: ${text} is not an address like http://127.0.0.1:8080.`);
  return url;
}

/** Longest wait for a server that is asked who it is. */
const healthMsMax = 5_000;

/** A server that answers at an address. */
interface Answering {
  /** Null: a server of a version that does not tell it. */
  readonly identity: string | null;
}

/** Asks who answers at this address. @returns null when no OpenPO server does. */
export async function whoAnswers(url: URL): Promise<Answering | null> {
  try {
    const response = await send(url, "GET", "/healthz", {}, null, AbortSignal.timeout(healthMsMax));
    const body = jsonOrNull(await bodyText(response));
    if (response.statusCode !== 200 || memberOf(body, "status") !== "ok") return null;
    const identity = memberOf(body, "identity");
    return { identity: typeof identity === "string" ? identity : null };
  } catch {
    return null;
  }
}

/** Calls operations through the admin API of the server at this address. */
export function askServer(url: URL, adminToken: string): Ask {
  return async (name, input, body = null, idempotencyKey = null) => {
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
        ...(idempotencyKey === null ? {} : { "Idempotency-Key": idempotencyKey }),
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
 * Sends a request. The answer may come before the whole body is sent: a file is refused at its first bad line.
 *
 * @throws CommandError when no server answers.
 */
async function send(
  url: URL,
  method: string,
  target: string,
  headers: Readonly<Record<string, string>>,
  body: AsyncIterable<Uint8Array> | null,
  signal?: AbortSignal,
): Promise<IncomingMessage> {
  const base = url.pathname.replace(/\/$/, "");
  const request = url.protocol === "https:" ? (await import("node:https")).request : httpRequest;
  const outgoing = request(new URL(base + target, url), {
    method,
    headers,
    ...(signal === undefined ? {} : { signal }),
  });
  // After an answer has come, what went wrong is in the answer.
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

/** Sends the body as fast as it is read, until it ends, an answer comes or the connection closes. */
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
    action: "Start one with openpo serve, or correct its address (--url).",
  });
}

async function bodyText(response: IncomingMessage): Promise<string> {
  response.setEncoding("utf8");
  let text = "";
  for await (const piece of response) text += String(piece);
  return text;
}

async function answerOf(url: URL, response: IncomingMessage): Promise<Answer> {
  const status = response.statusCode ?? 0;
  if (status < 400 && response.headers["content-type"] !== "application/json") return { file: response };
  const body = jsonOrNull(await bodyText(response));
  if (status < 400) return { data: memberOf(body, "data") };
  const error = memberOf(body, "error");
  if (typeof error !== "object" || error === null)
    throw new CommandError(exitCodes.failed, `the server at ${url.origin} answered ${status} without an error body.`, {
      action: "Check that it is an OpenPO server: --url names it.",
    });
  const action = memberOf(error, "action");
  const message = memberOf(error, "message");
  throw new CommandError(
    status === 401 ? exitCodes.unauthorized : exitCodes.failed,
    typeof message === "string" ? message : `the server answered ${status}.`,
    { action: typeof action === "string" ? action : null, body: error },
  );
}

const describe = (error: unknown): string => (error instanceof Error ? error.message : "");
