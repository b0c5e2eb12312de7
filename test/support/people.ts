/** People of a test server's shop: invited, signed in, asking with the bearer of a page, and what is mailed to them. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { adminOperations } from "../../src/admin/registry.ts";
import { z } from "zod";
import { approvalRequestSchema } from "../../src/requests/approvals/request-json.ts";
import { Fault } from "../../src/base/fault.ts";
import type { Role } from "../../src/core/access/role.ts";
import { secretRandomBytes } from "../../src/base/secret.ts";
import type { RecipientResult } from "../../src/core/supplier/mail.ts";
import { createMailSender } from "../../src/mail/sender.ts";
import type { OutgoingMail } from "../../src/mail/smtp.ts";
import { bindingFor, createRoutes } from "../../src/http/routes.ts";
import { until } from "./until.ts";
import { adminToken, type RequestOptions, type TestResponse, type TestServer } from "./server.ts";

const match = createRoutes("", adminOperations);

/** Asks the admin API; as the operator unless `key` is given. What the operation describes of its answer must hold. */
export async function askAdmin(
  server: TestServer,
  method: string,
  path: string,
  body?: unknown,
  options: RequestOptions = {},
): Promise<TestResponse> {
  const answered = await server.request(method, `/admin/v1${path}`, {
    key: adminToken,
    body,
    undocumented: true,
    ...options,
  });
  const found = match(path.split("?")[0] ?? "");
  const binding = found === null ? null : bindingFor(found, method);
  if (answered.status < 300 && method !== "HEAD" && binding !== null && !(binding instanceof Fault)) {
    const { describes, performs } = binding.operation;
    const output =
      performs !== undefined && answered.status === 202
        ? z.strictObject({ approvalRequest: approvalRequestSchema })
        : describes.output;
    if ("parse" in output) output.parse(answered.at("data"));
  }
  return answered;
}

/** A request as a page of the console sends it. */
export const fromPage = (
  server: TestServer,
  method: string,
  path: string,
  {
    cookie,
    body,
    headers = {},
  }: { readonly cookie?: string; readonly body?: unknown; readonly headers?: RequestOptions["headers"] },
): Promise<TestResponse> =>
  server.request(method, `/console${path}`, {
    key: null,
    body,
    undocumented: true,
    headers: { "Sec-Fetch-Site": "same-origin", ...(cookie === undefined ? {} : { Cookie: cookie }), ...headers },
  });

/** The cookie that an answer sets, as it is sent back. */
export function cookieOf(answered: TestResponse): string {
  const [cookie = ""] = answered.headers["set-cookie"] ?? [];
  return cookie.split(";")[0] ?? "";
}

/** Invites somebody and returns the secret of the link. */
export async function invite(server: TestServer, role: Role, name = `A ${role}`): Promise<string> {
  const made = await askAdmin(server, "POST", `/shops/${server.shopId}/invitations`, { name, role });
  assert.equal(made.status, 201, made.text);
  return new URL(made.textAt("data", "url")).hash.slice(1);
}

export interface SignedInPerson {
  readonly cookie: string;
  readonly personId: string;
  /** A new bearer of the session. */
  bearer(): Promise<string>;
}

export async function signInWith(server: TestServer, credential: object): Promise<SignedInPerson> {
  const begun = await fromPage(server, "POST", "/session", { body: credential });
  assert.equal(begun.status, 201, begun.text);
  const cookie = cookieOf(begun);
  const bearer = async (): Promise<string> => {
    const given = await fromPage(server, "POST", "/token", { cookie });
    assert.equal(given.status, 200, given.text);
    return given.textAt("data", "token");
  };
  const personId = begun.at("data", "session", "personId");
  return { cookie, personId: typeof personId === "string" ? personId : "", bearer };
}

/** Invites a person of this role and signs them in. */
export const signInAs = async (server: TestServer, role: Role, name?: string): Promise<SignedInPerson> =>
  await signInWith(server, { invitation: await invite(server, role, name) });

/** A mail server that takes everything, or answers as it is told. */
export function sendingFrom(server: TestServer) {
  const taken: OutgoingMail[] = [];
  const answers = { outcome: "sent", detail: null } as RecipientResult;
  const state = { answer: answers };
  const sender = createMailSender({
    ...server,
    log: { info: () => {}, warn: () => {}, error: () => {} },
    search: null,
    from: { name: null, address: "po@service.example" },
    random: () => 0.5,
    secretBytes: () => randomBytes(secretRandomBytes),
    server: {
      send(mail) {
        taken.push(mail);
        return Promise.resolve(new Map(mail.recipients.map((address) => [address, state.answer])));
      },
      close: () => Promise.resolve(),
    },
  });
  /** Sends what is due now. */
  const send = async (): Promise<readonly OutgoingMail[]> => {
    const before = taken.length;
    sender.wake(server.shopId);
    const isDue = async (): Promise<boolean> => {
      const sql = "select 1 as found from mail where shop_id = ? and (due_at <= ? or lease_owner is not null)";
      const rows = await server.engine.read(server.shopId, (tx) => tx.all(sql, [server.shopId, server.clock.now()]));
      return rows.length > 0;
    };
    await until("nothing is due", async () => !(await isDue()));
    return taken.slice(before);
  };
  return { send, state, close: () => sender.close() };
}
