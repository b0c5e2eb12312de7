/** Single requests to served programs over HTTP, and the shops and keys that tests make there. world/client.ts repeats what failed. */
import assert from "node:assert/strict";
import { Agent, type IncomingHttpHeaders, request as httpRequest } from "node:http";
import { z } from "zod";

export const adminToken = "an-admin-token-for-nodes";
/** The client's default timeout: longer than the slowest operation takes. */
const patientMs = 45_000;

export interface Asked {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** Null: nobody's. */
  readonly token: string | null;
  readonly idempotencyKey?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text is sent as it is, anything else as JSON. */
  readonly body?: unknown;
  /** The client's timeout. Default: `patientMs`. */
  readonly waitMsMax?: number;
}

export interface Answered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

const agent = new Agent({ keepAlive: true });

/** Closes the idle keep-alive connections. */
export const hangUp = (): void => agent.destroy();

/** Sends one request to a node, without retries. @throws Error when no complete answer comes. */
export function ask(url: string, asked: Asked): Promise<Answered> {
  const { method, target, token, idempotencyKey, headers, body, waitMsMax = patientMs } = asked;
  const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      url + target,
      {
        agent,
        method,
        headers: {
          ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
          ...(idempotencyKey === undefined ? {} : { "Idempotency-Key": idempotencyKey }),
          ...(text === undefined
            ? {}
            : { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(text) }),
          ...headers,
        },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: Buffer.concat(chunks).toString("utf8"),
          }),
        );
      },
    );
    const timer = setTimeout(() => request.destroy(new Error("the client timed out")), waitMsMax);
    request.on("close", () => clearTimeout(timer));
    request.on("error", reject);
    request.end(text);
  });
}

/** Calls an operation of the admin API, which must succeed. Returns the JSON of its answer. */
export async function operate(url: string, method: string, below: string, body?: unknown): Promise<unknown> {
  const target = `/admin/v1${below}`;
  const answer = await ask(url, { method, target, token: adminToken, ...(body === undefined ? {} : { body }) });
  assert.ok(answer.status < 300, `${method} ${target}: ${answer.status} ${answer.text}`);
  return JSON.parse(answer.text);
}

const madeKey = z.object({ data: z.object({ keyId: z.string(), apiKey: z.string() }) });

/** Creates a key of the shop. */
export const makeKey = async (
  url: string,
  shopId: string,
  scope: "write" | "propose" = "write",
): Promise<{ readonly keyId: string; readonly apiKey: string }> =>
  madeKey.parse(await operate(url, "POST", `/shops/${shopId}/keys`, { name: "a client", scope })).data;

/** Creates a shop with these records, and with a very high rate limit unless the settings have one. Returns its write key. */
export async function makeShop(
  url: string,
  shopId: string,
  settings: object,
  records: readonly object[],
): Promise<string> {
  await operate(url, "PUT", `/shops/${shopId}`, {
    name: shopId,
    currencyCode: "EUR",
    plan: { restApi: true },
    settings: { rateLimit: { capacity: 1_000_000, refillPerSecond: 1_000_000 }, ...settings },
  });
  if (records.length > 0)
    await operate(url, "POST", `/shops/${shopId}/import`, records.map((record) => JSON.stringify(record)).join("\n"));
  return (await makeKey(url, shopId)).apiKey;
}

const invited = z.object({ data: z.object({ url: z.string() }) });
const begun = z.object({ data: z.object({ session: z.object({ personId: z.string() }) }) });
const given = z.object({ data: z.object({ token: z.string() }) });

/** Invites an owner of the shop and signs them in. Their bearer stands where others have an API key. */
export async function signInOwner(
  url: string,
  shopId: string,
): Promise<{ readonly keyId: string; readonly apiKey: string }> {
  const person = { name: "Anna", role: "owner" };
  const { data } = invited.parse(await operate(url, "POST", `/shops/${shopId}/invitations`, person));
  const asPage = (target: string, headers: Asked["headers"], body: unknown): Promise<Answered> =>
    ask(url, { method: "POST", target, token: null, headers: { "Sec-Fetch-Site": "same-origin", ...headers }, body });
  const session = await asPage("/console/session", {}, { invitation: new URL(data.url).hash.slice(1) });
  assert.equal(session.status, 201, session.text);
  const [cookie = ""] = session.headers["set-cookie"] ?? [];
  const bearer = await asPage("/console/token", { Cookie: cookie.split(";")[0] ?? "" }, {});
  assert.equal(bearer.status, 200, bearer.text);
  const { personId } = begun.parse(JSON.parse(session.text)).data.session;
  return { keyId: personId, apiKey: given.parse(JSON.parse(bearer.text)).data.token };
}
